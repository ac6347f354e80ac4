"""The suites' part of reports: chapters, sentences, and the comparison of two systems or runs on common items."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.errors import GenaipaError, UsageError
from genaipa.reports.chapters.chapter import Against, Chapter, nonempty_figures, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.table import Table, make_table
from genaipa.runs.selection import sources_of
from genaipa.words import some
from genaipa_suites.encoders import encoder
from genaipa_suites.material import FAULTS
from genaipa_suites.plan import SAMPLE
from genaipa_suites.report import card, drawings, glue, tables
from genaipa_suites.report.merit import Counts, Units
from genaipa_suites.report.results import Scored, boards, results
from genaipa_suites.report.tables import MAIN, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Figure
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace
    from genaipa_suites.report.results import Board, Result


def _notable(results: Iterable[Result]) -> list[str]:
    """Sentences on the suites' runs; none if everything was asked and could be read."""
    said, asked = [], boards(results)
    if samples := dict.fromkeys(board.suite.title for board in asked if board.plan.split == SAMPLE):
        said.append(f"The items of a sample are made up, and measure nothing: {', '.join(samples)}.")
    for board in asked:
        if names := board.suite.material.own:
            said.append(
                f"{board.title}: not the published items, but those of files of your own ({some(names, 1)}), so that "
                f"there are no published rows. For these: genaipa get {board.suite.data[0].name}"
            )
        said += [f"{board.title}: {why}" for one in board.results if (why := encoder.warning(one.suite, one.system))]
        if faulty := list(_faults(board)):
            said.append(f"{board.title}: replies with a fault are scored 0: {'; '.join(faulty)}.")
        if unfinished := [f"{one.system} {one.unfinished:,}" for one in board.results if one.unfinished]:
            said.append(f"{board.title}: answers left out, of repetitions that are not whole: {', '.join(unfinished)}.")
        if missing := sum(result.missing for result in board.results):
            wanted = sum(result.planned for result in board.results)
            said.append(f"{board.title}: not asked, and not scored: {missing:,} of {wanted:,}.")
    return said


def _faults(board: Board) -> Iterator[str]:
    """The number of faulty replies of each system that has any, with their kinds, the most frequent first."""
    for result in board.results:
        counted = Counter({fault: result.faults[fault] for fault in FAULTS if result.faults[fault]})
        if counted:
            kinds = ", ".join(f"{fault} {number:,}" for fault, number in counted.most_common())
            yield f"{result.system} {counted.total():,} of {len(result.outcomes):,} ({kinds})"


_METHOD = (
    "Suites are scored without a person: each reply is read by a rule, and compared with the gold label. The intervals "
    "of a suite leave out each of its policies in turn (a jackknife, widened by Student's t). A share has Clopper and "
    "Pearson's for as many items as that says they are worth (Korn and Graubard, 1998), by edit where there are edits; "
    "other figures are bent at 0 and 100 %; a difference of shares in few policies, or of edits, has Newcombe's."
)


def _chapters(study: Study, found: Sequence[Result], problems: list[str]) -> list[Chapter]:
    """The suites' chapters, the joint one first; what can't be worked out is said among the problems."""
    every = [Scored(board) for board in boards(found)]
    if not every:
        return []
    seven = glue.chapter(study.sources, every)
    marks = style.system_marks(_systems(every, study))
    own = [list(some) for _, some in groupby(every, key=lambda scored: scored.board.name)]
    joined = _joined(study, every, marks)
    made = [*filter(None, [joined, seven]), *(_suite(some, marks, alone=joined is None) for some in own)]
    for scored in every:
        problems += [problem for problem in scored.problems if problem not in problems]
    return [replace(made[0], method=" ".join(filter(None, (_METHOD, made[0].method)))), *made[1:]]


def _joined(study: Study, every: Sequence[Scored], marks: drawings.Marks) -> Chapter | None:
    """The chapter that joins the suites with each other, and with people's scores; None for one suite alone."""
    side_by_side = card.shown(every)
    scored = bool(study.table["counted"].any()) if len(study.table) else False
    if not side_by_side or (len(side_by_side) < 2 and not scored):  # noqa: PLR2004
        return None
    made, absent = card.card(study, side_by_side, every), []
    try:
        categories = [card.by_category(study, side_by_side)]
    except GenaipaError as error:
        categories, absent = [], [f"There is no break-down by category: {error}"]
    return Chapter(
        "suites",
        "All suites",
        "The scores of all suites beside each other and, where there are any, beside people's scores of answers.",
        nonempty_tables(made, card.ranks(made, side_by_side), *categories),
        nonempty_figures(
            drawings.scores(side_by_side, "suites-scores", "Scores by suite", marks),
            *(card.category_figure(one, marks) for one in categories),
        ),
        absent,
        first=(made.name,),
    )


def _systems(every: Sequence[Scored], study: Study) -> list[str]:
    """Every system of a figure: the procedure's as its figures have them, then the suites'."""
    known = list(map(str, style.distinct_values(study.table["system"]))) if len(study.table) else []
    asked = [name for scored in every for row in scored.asked for name in (row.system, row.label)]
    references = [row.system for scored in every for row in scored.references]
    return list(dict.fromkeys([*known, *asked, *references]))


def _suite(some: Sequence[Scored], marks: drawings.Marks, *, alone: bool) -> Chapter:
    """The chapter of one suite: its boards, one after another; its scores are drawn where it is `alone`."""
    suite, name = some[0].board.suite, some[0].board.name
    made: list[Table] = []
    figures = [drawings.beside_by_system(scored, marks) for scored in some]
    if alone and not any(figures):
        figures = [drawings.scores(some, f"{name}-scores", f"{suite.title}: scores", marks)]
    for scored in some:
        made += [tables.main_table(scored), tables.further(scored)]
        made += [tables.definitions(some)] if scored is some[0] else []
        made.append(tables.paired(scored, tables.pairs(scored.asked), scored.measures[:MAIN]))
        made.append(tables.wordings(scored))
        if not scored.board.plan.probe:
            own, more = _breakdowns(scored, marks)
            made, figures = [*made, *own], [*figures, *more]
    made += [tables.by_heart(some), tables.gaps(some)]
    return Chapter(
        f"suite-{name}",
        suite.title,
        f"{suite.about[:1].upper()}{suite.about[1:].rstrip('.')}.",
        nonempty_tables(*made),
        nonempty_figures(*figures),
        references={f"reference-{name}": escape(suite.citation)} if suite.citation else {},
        first=() if any(figures) and suite.beside else tuple(scored.board.stem for scored in some),
        is_key=True,
    )


def _breakdowns(scored: Scored, marks: drawings.Marks) -> tuple[list[Table], list[Figure | None]]:
    """The tables and figures of a board by groups, parts and types of errors."""
    names = tables.groupings(scored)
    groups = [tables.by_group(scored, grouping) for grouping in names]
    along = [
        drawings.along(scored, grouping, made, marks)
        if drawings.ordered(made)
        else drawings.beside_by_group(scored, grouping, made, marks)
        for grouping, made in zip(names, groups, strict=True)
    ]
    parts = [tables.by_part(scored, breakdown) for breakdown in scored.board.suite.parts]
    errors = tables.errors(scored)
    return [*groups, *parts, errors], [*along, drawings.stacked(errors, scored)]


class OfSuites:
    """The suites that were asked in some runs."""

    name = "suites"

    def __init__(self, workspace: Workspace, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.results, self.problems = results(workspace, sources)

    @property
    def notable(self) -> list[str]:
        """Sentences that no reader may miss."""
        return _notable(self.results)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The suites with their numbers of items; nothing where none was asked."""
        asked = {board.title: len(board.suite.material.items) for board in boards(self.results)}
        said = "; ".join(f"{title} ({number:,} items)" for title, number in asked.items())
        return [("Suites", said)] if asked else []

    def chapters(self, study: Study) -> list[Chapter]:
        """A chapter for each suite, and chapters that join several."""
        return _chapters(study, self.results, self.problems)

    def leaderboard(self, study: Study) -> Table | None:
        """The card of the suites; None if none was asked."""
        every = [Scored(one) for one in boards(self.results)]
        chosen = card.shown(every)
        return card.card(study, chosen, every) if chosen else None

    @classmethod
    def against(cls, workspace: Workspace, first: str, second: str) -> Against:
        """Compare two sides on the items that both were asked; of each suite the main measures first."""
        table, problems = against(first, second, workspace)
        main = replace(table, data=table.data.groupby("suite", sort=False).head(MAIN)) if table else table
        return Against(table, main, problems)


def against(first: str, second: str, workspace: Workspace) -> tuple[Table, list[str]]:
    """Compare two systems or runs, each named as a system, a run, or RUN:SYSTEM, on the items that both were asked.

    The table is empty where no suite was asked of both alike; beside it are sentences on what can't be read.
    """
    sides = [sources_of(workspace, name) for name in (first, second)]
    read = [results(workspace, sources) for sources in sides]
    ours, theirs = (_by_suite(name, found) for name, (found, _) in zip((first, second), read, strict=True))
    rows: list[dict[str, Any]] = []
    said, drawn = dict[str, None](), dict[str, None]()
    for key in ours:
        if key in theirs and ours[key] is not theirs[key]:
            some, units = _rows(ours[key], theirs[key])
            rows += some
            drawn[units.clusters] = None
            said |= {f"{ours[key].suite.title}: {units.population}": None} if some else {}
    clusters = " or ".join(drawn) or "policies"
    note = (
        f"A is {first}, B {second}; A minus B in percentage points, on the items that both were asked, with the same "
        f"{clusters} drawn for both. {' '.join(said)} Each row is a test of its own: of many, some are apart by chance."
    )
    columns = ["suite", "measure", "items", "policies", "a", "b", "difference", "difference_low", "difference_high"]
    made = make_table(
        "comparison-suites",
        f"{first} against {second}: suites",
        note,
        pd.DataFrame(rows),
        [*columns, "meaning"],
        headings=tables.sides(clusters),
        formats={**written(["difference"], "+"), "a": ".2f", "b": ".2f"},
        aside=["name", "how_a", "how_b"],
    )
    return made, sorted({problem for _, problems in read for problem in problems})


def _by_suite(name: str, found: Sequence[Result]) -> dict[tuple[str, str, str, bool], Result]:
    """Suite, split, probe, and whether of files of one's own → the result asked most plainly, on the most items."""
    systems = sorted({result.system for result in found})
    if len(systems) > 1:
        one = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {one}")
    chosen: dict[tuple[str, str, str, bool], Result] = {}
    for result in sorted(found, key=lambda one: (one.plan.shots, one.plan.wording, -len(one.suite.material.items))):
        own = bool(result.suite.material.own)
        chosen.setdefault((result.name, result.plan.split, result.plan.probe, own), result)
    return chosen


def _rows(first: Result, second: Result) -> tuple[list[dict[str, Any]], Units]:
    """A row for each measure that both have; none without a common item."""
    asked = {outcome.item.id: outcome.item for outcome in first.outcomes}
    both_asked = asked.keys() & {outcome.item.id for outcome in second.outcomes}
    # Of the common items alone: a policy of none of them would be drawn in vain, and be counted in the note.
    units = Units((item for name, item in asked.items() if name in both_asked), first.suite.clusters)
    ours, theirs = (
        Counts([outcome for outcome in result.outcomes if outcome.item.id in both_asked], units)
        for result in (first, second)
    )
    rows = []
    for measure in first.suite.measures:
        both = ours.minus(theirs, measure)
        if both.items:
            means = {"a": 100 * both.means[0], "b": 100 * both.means[1]}
            ways = {"how_a": first.asked, "how_b": second.asked}
            probe = f", probe {first.plan.probe}" if first.plan.probe else ""
            suite = f"{first.suite.title}, {first.plan.split}{probe}"
            rows.append({"suite": suite, **ways, **means, **tables.difference(both, measure)})
    return rows, units
