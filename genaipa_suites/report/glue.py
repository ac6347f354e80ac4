"""PrivacyGLUE as a view over the results of suites: each system's rows by repetition, and its examples.

A suite that was asked by itself counts as well, where it was asked in the same way. Imported predictions of encoders
are systems of their own, each seed a repetition.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import GenaipaError
from genaipa.runs.audit import audit_of
from genaipa_suites.privacyglue import BY_NAME, TASKS, GlueTask, Means, Row, Spread, means, spread
from genaipa_suites.privacyglue.predictions import KIND, OTHER_FIGURE, PREFIX, examples, read_predictions
from genaipa_suites.report.results import Row as RowOfSuite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.runs.selection import Source
    from genaipa_suites.material import Outcome
    from genaipa_suites.report.results import Board, Result, Scored

GLUE = "privacyglue"
TEST = "test"
_REFERENCES = {"floor": "floors", "ceiling": "ceilings"}


@dataclass(frozen=True)
class Sides:
    """Examples of a task by their keys, with their names, and for each repetition whether each is right."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    right: tuple[tuple[bool, ...], ...]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {key: at for at, key in enumerate(self.keys)}

    def of(self, keys: Sequence[str]) -> list[list[bool]]:
        """The outcomes of these examples, in this order."""
        chosen = [self._place[key] for key in keys]
        return [[one[at] for at in chosen] for one in self.right]

    def name(self, key: str) -> str:
        """The name of an example."""
        return self.names[self._place[key]]


@dataclass(frozen=True)
class Standing:
    """A system in PrivacyGLUE: its figures (0 to 1) of each row that it has, one for each repetition.

    `kind` is that of a row of a suite's table, or "encoder" for imported predictions.
    """

    system: str
    kind: str
    how: str
    samples: Mapping[Row, tuple[float, ...]]
    results: Mapping[str, Result] = field(default_factory=dict)
    """Task → the result that its rows are of; none for what was not asked here."""
    imported: Mapping[str, Sides] = field(default_factory=dict)
    """Task → examples of imported predictions."""

    @cached_property
    def spreads(self) -> dict[Row, Spread]:
        """Row → mean and spread in percent."""
        return {row: spread([100 * one for one in each]) for row, each in self.samples.items()}

    @property
    def means(self) -> Means:
        """The means over its rows, in percent: of a system that was asked over the rows that are the paper's measure.

        A tagger's are not: words are scored here, and the word pieces of encoders there.
        """
        alike = {row: one.mean for row, one in self.spreads.items() if self.imported or not BY_NAME[row.task].layers}
        return means(alike)

    @property
    def tasks(self) -> list[GlueTask]:
        """Its tasks whose examples are known one by one."""
        return [task for task in TASKS if task.name in self.results or task.name in self.imported]

    @cached_property
    def _sides(self) -> dict[str, Sides]:
        return {}

    def sides(self, task: str) -> Sides:
        """The examples of a task."""
        if task not in self._sides:
            self._sides[task] = self.imported.get(task) or _sides(task, self.results[task])
        return self._sides[task]


@dataclass(frozen=True)
class View:
    """PrivacyGLUE on one split, or on a sample of it of N items of each suite."""

    split: str
    limit: int | None
    own: bool
    """Whether a suite's items are of files of the user's own."""
    standings: tuple[Standing, ...]
    references: tuple[Standing, ...]
    """Floors and ceilings of the suites, each joined to one."""

    @property
    def whole(self) -> bool:
        """Whether printed figures are of the same items."""
        return self.split == TEST and self.limit is None and not self.own

    @property
    def title(self) -> str:
        """PrivacyGLUE, and the items it is of."""
        sample = f", {self.limit:,} items of each suite" if self.limit else ""
        own = ", own files" if self.own else ""
        return f"PrivacyGLUE, {self.split}{own}{sample}"

    @property
    def stem(self) -> str:
        """Beginning of the names of its tables."""
        own = "own" if self.own else ""
        return "-".join(filter(None, (GLUE, self.split, own, str(self.limit or ""))))


def encoders(sources: Sequence[Source], problems: list[str]) -> list[Standing]:
    """The encoders whose predictions were imported, the best first; `problems` gets a sentence on each damaged run."""
    found = []
    for source in (one for one in sources if one.manifest.spec.kind == KIND):
        try:
            found.append(_encoder(source))
        except GenaipaError as error:
            problems.append(f"{source.folder.name} is left out: {error}")
        except (OSError, msgspec.DecodeError, LookupError, ValueError):
            problems.append(f"{source.folder.name} is left out: its predictions are damaged; import it again.")
    return sorted(found, key=lambda one: (-len(one.samples), -one.means.arithmetic, one.system))


def beside(board: Board, imported: Sequence[Standing]) -> tuple[RowOfSuite, ...]:
    """The encoders as rows of a suite's own table, under those measures that are defined alike.

    A tagger's are not: it is scored on its word pieces.
    """
    if board.own or (board.plan.split, board.plan.limit, board.plan.probe) != (TEST, None, ""):
        return ()
    own = [task for task in TASKS if task.suite == board.name and not task.layers]
    rows = []
    for one in imported:
        pairs = [pair for task in own for pair in zip(task.rows, task.measures, strict=True)]
        figures = {name: one.spreads[row].mean / 100 for row, name in pairs if row in one.spreads}
        if figures:
            rows.append(RowOfSuite(one.system, "imported", f"{one.how}; PrivacyGLUE's code", figures=figures))
    return tuple(rows)


def views(sources: Sequence[Source], every: Sequence[Scored], imported: Sequence[Standing]) -> list[View]:
    """The views that are asked for: by a run of all tasks, or by imported predictions; the whole test split first."""
    whole = (TEST, None, False)
    wanted: dict[tuple[str, int | None, bool], None] = {whole: None} if imported else {}
    boards = [one.board for one in every if not one.board.plan.probe]
    for run in _runs_of(sources, GLUE):
        asked = [board for board in boards if any(run in result.runs for result in board.results)]
        if asked:
            plan = asked[0].plan
            wanted[plan.split, plan.limit, any(board.own for board in asked)] = None
    found = []
    for split, limit, own in sorted(wanted, key=lambda one: (one[0] != TEST, one[1] or -math.inf, one[2])):
        here = _here(every, split, limit, own=own)
        standings = [*_standings(here), *(imported if (split, limit, own) == whole else [])]
        found.append(View(split, limit, own, tuple(standings), tuple(_references(here))))
    return found


def _here(every: Sequence[Scored], split: str, limit: int | None, *, own: bool) -> list[Scored]:
    """The board of each suite that a view is made of: of several that of most results, since items are to be equal."""
    found: dict[str, Scored] = {}
    suites = {task.suite for task in TASKS}
    fitting = [one for one in every if (one.board.plan.split, one.board.plan.limit) == (split, limit)]
    fitting = [one for one in fitting if one.board.name in suites and not one.board.plan.probe]
    for one in sorted(fitting, key=lambda one: (own and not one.board.own, -len(one.board.results))):
        if own or not one.board.own:
            kept = found.setdefault(one.board.name, one)
            if kept is not one and kept.board.own == one.board.own:
                one.problems.append(f"{one.board.title}: another sample is in PrivacyGLUE's tables, and this is not.")
    return list(found.values())


def _runs_of(sources: Iterable[Source], task: str) -> set[str]:
    return {source.folder.name for source in sources if source.manifest.spec.task == task}


def _standings(here: Sequence[Scored]) -> list[Standing]:
    """The systems that were asked, each in one way: the best first, then baselines that several suites have."""
    of: defaultdict[tuple[object, ...], list[Result]] = defaultdict(list)
    for scored in here:
        for result in scored.board.results:
            if result.outcomes:
                of[result.system, result.plan, result.sampling].append(result)
    several = {key: kept for key, kept in of.items() if not kept[0].baseline or len(kept) > 1}
    found = [_standing(kept) for kept in (several or of).values()]
    ways = [one.system for one in found]
    named = [
        Standing(f"{one.system} ({one.how})", one.kind, one.how, one.samples, one.results)
        if ways.count(one.system) > 1
        else one
        for one in found
    ]
    return sorted(named, key=lambda one: (one.kind != "system", -len(one.samples), -one.means.arithmetic, one.system))


def _standing(kept: Sequence[Result]) -> Standing:
    samples: dict[Row, tuple[float, ...]] = {}
    results: dict[str, Result] = {}
    for task in TASKS:
        result = next((one for one in kept if one.name == task.suite), None)
        if result is None:
            continue
        measures = {measure.name: measure for measure in result.suite.measures}
        for row, name in zip(task.rows, task.measures, strict=True):
            if name in measures:
                samples[row] = tuple(measures[name].of(outcomes) for outcomes in _repetitions(result))
                results[task.name] = result
    kind = "baseline" if kept[0].baseline else "system"
    return Standing(kept[0].system, kind, kept[0].asked, samples, results)


def _repetitions(result: Result) -> list[list[Outcome]]:
    found: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in result.outcomes:
        found[outcome.repetition].append(outcome)
    return [found[repetition] for repetition in sorted(found)]


def _sides(task: str, result: Result) -> Sides:
    each = [examples(task, result.suite, outcomes) for outcomes in _repetitions(result)]
    right = [{one.key: one.right for one in some} for some in each]
    # A repetition that lacks examples is compared on those that all have.
    kept = [one for one in each[0] if all(one.key in some for some in right)]
    sides = tuple(tuple(some[one.key] for one in kept) for some in right)
    return Sides(tuple(one.key for one in kept), tuple(one.name for one in kept), sides)


def _encoder(source: Source) -> Standing:
    """Imported predictions as a system."""
    samples: defaultdict[Row, list[float]] = defaultdict(list)
    imported: dict[str, Sides] = {}
    number = 0
    for name, predicted in read_predictions(source.folder).items():
        number = max(number, len(predicted.by_seed))
        for figures in predicted.figures().values():
            for row in BY_NAME[name].rows:
                samples[row].append(figures[row.metric])
        right = tuple(map(tuple, predicted.right()))
        imported[name] = Sides(predicted.examples.keys, predicted.examples.names, right)
    system = source.manifest.spec.systems[0]
    how = f"fine-tuned, mean of {number} seed{'s' if number > 1 else ''}"
    if differing := sum(finding.kind == OTHER_FIGURE for finding in audit_of(source.folder)):
        how += f"; {differing:,} of the figures stated with its predictions are others (audit.csv in its run)"
    return Standing(
        system.removeprefix(PREFIX), "encoder", how, {row: tuple(each) for row, each in samples.items()}, {}, imported
    )


def _references(here: Sequence[Scored]) -> list[Standing]:
    """The best floor of each suite as one, and its ceiling: worked out on the same items."""
    found = []
    for kind, name in _REFERENCES.items():
        samples: dict[Row, tuple[float, ...]] = {}
        for scored in here:
            measures = {measure.name: measure for measure in scored.measures}
            counted = [row for row in scored.rows if row.kind == kind and row.counts is not None]
            # Of several ceilings that one which any system could reach: not PolicyIE's gold intents of every row.
            rows = [row for row in counted if kind != "ceiling" or row is scored.ceiling]
            for task in (one for one in TASKS if one.suite == scored.board.name):
                for row, measure in zip(task.rows, task.measures, strict=True):
                    if rows and measure in measures:
                        values = [measures[measure].of(one.counts.outcomes) for one in rows if one.counts is not None]
                        samples[row] = (max(values),)
        if samples:
            found.append(Standing(name, kind, f"the best {kind} of each suite", samples))
    return found
