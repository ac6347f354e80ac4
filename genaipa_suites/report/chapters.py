"""The chapters that suites have in a report: one for each, with its tables and figures, and one that joins them."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError
from genaipa.reports.chapters.chapter import Chapter, drawn, present
from genaipa.reports.figures import style
from genaipa_suites.report import beside, breakdowns, card, crosswalk, drawings, glue, glue_chapter, tables
from genaipa_suites.report.results import boards
from genaipa_suites.report.scored import Scored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table
    from genaipa_suites.report.results import Result

_METHOD = (
    "Suites are scored without a person: each reply is read by a rule, and compared with the gold label. The intervals "
    "of a suite leave out each of its policies in turn (a jackknife, widened by Student's t); those of shares of edits "
    "are Wilson's, by edit; a difference of shares has Newcombe's for pairs."
)


def chapters(gathered: Gathered, found: Sequence[Result]) -> list[Chapter]:
    """The suites' chapters, the joint one first; what can't be worked out is said among the problems."""
    encoders = glue.encoders(gathered.sources, gathered.problems)
    every = [Scored(board, imported=glue.beside(board, encoders)) for board in boards(found)]
    seven = glue_chapter.chapter(gathered.sources, every, encoders)
    if not every:
        return [seven] if seven else []
    marks = style.system_marks(_systems(every, gathered))
    own = [list(some) for _, some in groupby(every, key=lambda scored: scored.board.name)]
    joined = _joined(gathered, every, marks)
    made = [*filter(None, [joined, seven]), *(_suite(some, marks, alone=joined is None) for some in own)]
    for scored in every:
        gathered.problems += [problem for problem in scored.problems if problem not in gathered.problems]
    return [replace(made[0], method=" ".join(filter(None, (_METHOD, made[0].method)))), *made[1:]]


def _joined(gathered: Gathered, every: Sequence[Scored], marks: drawings.Marks) -> Chapter | None:
    """The chapter that joins the suites with each other, and with people's scores; None for one suite alone."""
    side_by_side = card.shown(every)
    scored = bool(gathered.frame["counted"].any()) if len(gathered.frame) else False
    if not side_by_side or (len(side_by_side) < 2 and not scored):  # noqa: PLR2004
        return None
    made, absent = card.card(gathered, side_by_side, every), []
    try:
        categories = [crosswalk.by_category(gathered, side_by_side)]
    except GenaipaError as error:
        categories, absent = [], [f"There is no break-down by category: {error}"]
    return Chapter(
        "suites",
        "All suites",
        "The scores of all suites beside each other and, where there are any, beside people's scores of answers.",
        present(made, card.ranks(made, side_by_side), *categories),
        drawn(
            drawings.scores(side_by_side, "suites-scores", "Scores by suite", marks),
            *(crosswalk.figure(one, marks) for one in categories),
        ),
        absent,
        first=(made.name,),
    )


def _systems(every: Sequence[Scored], gathered: Gathered) -> list[str]:
    """Every system of a figure: the procedure's as its figures have them, then the suites'."""
    known = list(map(str, style.ordered(gathered.frame["system"]))) if len(gathered.frame) else []
    asked = [name for scored in every for row in scored.asked for name in (row.system, row.label)]
    references = [row.system for scored in every for row in scored.references]
    return list(dict.fromkeys([*known, *asked, *references]))


def _suite(some: Sequence[Scored], marks: drawings.Marks, *, alone: bool) -> Chapter:
    """The chapter of one suite: its boards, one after another; its scores are drawn where it is `alone`."""
    suite, name = some[0].board.suite, some[0].board.name
    made: list[Table] = []
    figures = [beside.by_system(scored, marks) for scored in some]
    if alone and not any(figures):
        figures = [drawings.scores(some, f"{name}-scores", f"{suite.title}: scores", marks)]
    for scored in some:
        made += [tables.main_table(scored), tables.further(scored)]
        made += [tables.definitions(some)] if scored is some[0] else []
        made.append(tables.paired(scored, tables.pairs(scored.asked), scored.measures[: tables.MAIN]))
        made.append(breakdowns.wordings(scored))
        if not scored.board.plan.probe:
            own, more = _breakdowns(scored, marks)
            made, figures = [*made, *own], [*figures, *more]
    made += [breakdowns.by_heart(some), breakdowns.gaps(some)]
    return Chapter(
        f"suite-{name}",
        suite.title,
        f"{suite.about[:1].upper()}{suite.about[1:].rstrip('.')}.",
        present(*made),
        drawn(*figures),
        references={f"reference-{name}": escape(suite.citation)} if suite.citation else {},
        first=() if any(figures) and suite.beside else tuple(scored.board.stem for scored in some),
        is_key=True,
    )


def _breakdowns(scored: Scored, marks: drawings.Marks) -> tuple[list[Table], list[Figure | None]]:
    """The tables and figures of a board by groups, parts and types of errors."""
    names = breakdowns.groupings(scored)
    groups = [breakdowns.by_group(scored, grouping) for grouping in names]
    along = [
        drawings.along(scored, grouping, made, marks)
        if drawings.ordered(made)
        else beside.by_group(scored, grouping, made, marks)
        for grouping, made in zip(names, groups, strict=True)
    ]
    parts = [breakdowns.by_part(scored, breakdown) for breakdown in scored.board.suite.parts]
    errors = breakdowns.errors(scored)
    return [*groups, *parts, errors], [*along, drawings.stacked(errors, scored)]
