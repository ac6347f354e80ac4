"""The aids that the desk showed beside an answer while it was scored, and those that chance withheld: a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.answers.fact import Column, ScoreFact

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from genaipa.answers.fact import Row, StudyInputs
    from genaipa.scoring.events import Event


class AidsOnScreen(ScoreFact):
    """The aids of the desk at a score, by whether chance showed or withheld them."""

    name = "aids"
    columns: ClassVar = {
        "aids_shown": Column(
            "category",
            "aids that the desk showed, such as `evidence, nearest`; empty, like the next column, for a score that "
            "does not record them",
        ),
        "aids_withheld": Column("category", "aids that chance withheld, though they had something to show"),
    }

    def make_event_reader(self, study: StudyInputs, answers: pd.DataFrame) -> Callable[[Event], Row] | None:  # noqa: ARG002 - of each score alone
        """Return what reads the aids of a score."""
        return _join_names_of_shown_and_withheld_aids


def _join_names_of_shown_and_withheld_aids(event: Event) -> Row:
    aids = event.shown.aids if event.shown else {}
    if not aids:
        return {}
    listed = (", ".join(sorted(name for name, on in aids.items() if on is state)) for state in (True, False))
    return dict(zip(AidsOnScreen.columns, listed, strict=True))
