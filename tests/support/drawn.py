"""What is written in a figure, as matplotlib holds it before it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.figures.words import DrawnTexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _words(axes: Axes, *, inside: bool) -> list[list[str]]:
    """The texts of each artist that has many, inside the axes or beside them."""
    return [one.words for one in axes.artists if isinstance(one, DrawnTexts) and one.get_in_layout() != inside]


def names_of(axes: Axes) -> list[list[str]]:
    """The names of the rows, and then the texts beside them, where there are any."""
    return _words(axes, inside=False)


def written(axes: Axes) -> list[str]:
    """What is written inside some axes: values first."""
    own = [text.get_text() for text in axes.texts if text.get_text()]
    return [*(text for words in _words(axes, inside=True) for text in words if text), *own]
