"""Scope shared by a report's figures, so that each is read like the others, and the note on what one leaves out.

A system has one colour and marker, and questions have one order, in all figures of a report. A figure that would not
fit a page is drawn as several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from genaipa.reports.figures import style
from genaipa.scoring.rubric import Bounds
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from genaipa.reports.figures.figure import Figure

BOUNDS = Bounds()
"""Default lower ends of the bands."""
_NAMED = 5
"""As many things that are left out are named."""


@dataclass(frozen=True)
class Scope:
    """A report's systems and questions in their order, the names of its categories, and the bounds of its bands.

    `texts` are the words of the questions. `shown` are the systems that a figure is to show, None for all that it has.
    A figure without a report has an empty scope.
    """

    systems: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    shown: frozenset[str] | None = None
    bounds: Bounds = BOUNDS
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        categories: Mapping[str, str] | None = None,
        bounds: Bounds = BOUNDS,
        texts: Mapping[str, str] | None = None,
    ) -> Scope:
        """The scope of a tidy table's figures; `categories` is id → name, `texts` id → question."""
        systems, questions = (style.ordered(frame[column]) for column in ("system", "question"))
        return cls(
            tuple(map(str, systems)),
            tuple(map(str, questions)),
            dict(categories or {}),
            bounds=bounds,
            texts=dict(texts or {}),
        )

    def only(self, data: pd.DataFrame) -> pd.DataFrame:
        """The rows of the systems that are to be shown."""
        return data if self.shown is None else data[data["system"].isin(self.shown)]

    def in_order(self, questions: Iterable[Any]) -> list[Any]:
        """These questions in the report's order; unknown ones come last."""
        place = {question: number for number, question in enumerate(self.questions)}
        return sorted(questions, key=lambda question: place.get(question, len(place)))

    def marks(self, systems: Sequence[Any]) -> dict[Any, dict[str, Any]]:
        """System → its colour and marker, the same in every figure of the report."""
        return style.system_marks(list(dict.fromkeys((*self.systems, *systems))))

    def without(self, present: Iterable[Any], what: str) -> str:
        """A sentence that names the report's systems that a figure lacks for want of something; empty without one."""
        there = {*map(str, present), *(() if self.shown is None else set(self.systems) - self.shown)}
        absent = [style.one_line(system) for system in self.systems if system not in there]
        return f" Without {what}, and so not here: {', '.join(absent)}." if absent else ""

    def unasked(self, present: Iterable[Any], known: Iterable[Any], what: str) -> str:
        """A sentence on the questions that a figure lacks, of those `known` in its experiment; empty without one."""
        every, there = self.in_order(dict.fromkeys(known)), set(present)
        absent = [style.one_line(question) for question in every if question not in there]
        if not absent:
            return ""
        return f" Not here, since no system has {what} for them, of {len(every)} questions: {some(absent, _NAMED)}."

    def named_categories(self, present: Iterable[Any]) -> str:
        """A sentence that gives the names of categories; empty where they have none."""
        named = [
            f"{style.one_line(short)} {style.one_line(self.categories[short])}"
            for short in present
            if self.categories.get(short, short) != short
        ]
        return f" Categories: {'; '.join(named)}." if named else ""

    def pages(self, draw: Iterable[Callable[[Scope], Figure | None]]) -> list[Figure]:
        """The figures that there are; many systems take several pages."""
        return [figure for one in draw for figure in _paged(one, self)]


ALONE = Scope()
"""The scope of a figure that belongs to no report."""


def _paged(draw: Callable[[Scope], Figure | None], scope: Scope) -> list[Figure]:
    """The figure, or, where it has more systems than fit a page, several that have as few of them as can be."""
    whole = draw(scope)
    if whole is None:
        return []
    systems = list(dict.fromkeys(whole.table.data["system"]))
    if len(systems) <= whole.fits:
        return [whole]
    pages = -(-len(systems) // whole.fits)
    absent = frozenset(scope.systems) - frozenset(systems)
    figures = []
    for page in range(pages):
        some = systems[page * len(systems) // pages : (page + 1) * len(systems) // pages]
        figure = draw(replace(scope, shown=absent | frozenset(some)))
        if figure is not None:
            name = f"{figure.name}-{page + 1}"
            title = f"{figure.title} ({page + 1} of {pages})"
            figures.append(replace(figure, name=name, title=title, table=replace(figure.table, name=name, title=title)))
    return figures
