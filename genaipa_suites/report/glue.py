"""PrivacyGLUE as a view over the results of suites: each system's rows by repetition, and its examples.

A suite that was asked by itself counts as well, where it was asked in the same way. Its chapter of a report has tables
of fourteen rows, three means, the test of the best system in each row, and the agreement of pairs, which is drawn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, nonempty_figures, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table, make_table
from genaipa_suites.privacyglue import (
    BY_NAME,
    METRICS,
    ROWS,
    TASKS,
    GlueRow,
    GlueTask,
    Means,
    Pair,
    PrivacyGLUE,
    Spread,
    agreement,
    beaten,
    encoders,
    means,
    shares,
    spread,
    stars,
)
from genaipa_suites.privacyglue.examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.runs.selection import Source
    from genaipa_suites.material import Outcome
    from genaipa_suites.report.results import Result, Scored

GLUE = "privacyglue"
TEST = "test"
_REFERENCES = {"floor": "floors", "ceiling": "ceilings"}


@dataclass(frozen=True)
class ComparedExamples:
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

    `kind` is that of a row of a suite's table.
    """

    system: str
    kind: str
    how: str
    samples: Mapping[GlueRow, tuple[float, ...]]
    results: Mapping[str, Result] = field(default_factory=dict)
    """Task → the result that its rows are of; none for what was not asked here."""

    @cached_property
    def spreads(self) -> dict[GlueRow, Spread]:
        """Row → mean and spread in percent."""
        return {row: spread([100 * one for one in each]) for row, each in self.samples.items()}

    @property
    def means(self) -> Means:
        """The means over its rows that are the paper's measures, in percent.

        A tagger's are not: words are scored here, and the word pieces of encoders there.
        """
        return means({row: one.mean for row, one in self.spreads.items() if not BY_NAME[row.task].layers})

    @property
    def tasks(self) -> list[GlueTask]:
        """Its tasks whose examples are known one by one."""
        return [task for task in TASKS if task.name in self.results]

    @cached_property
    def _sides(self) -> dict[str, ComparedExamples]:
        return {}

    def sides(self, task: str) -> ComparedExamples:
        """The examples of a task."""
        if task not in self._sides:
            self._sides[task] = _sides(task, self.results[task])
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


def views(sources: Sequence[Source], every: Sequence[Scored]) -> list[View]:
    """The views that are asked for by a run of all tasks, the whole test split first."""
    wanted: dict[tuple[str, int | None, bool], None] = {}
    boards = [one.board for one in every if not one.board.plan.probe]
    for run in dict.fromkeys(source.folder.name for source in sources if source.manifest.spec.task == GLUE):
        asked = [board for board in boards if any(run in result.runs for result in board.results)]
        if asked:
            plan = asked[0].plan
            wanted[plan.split, plan.limit, any(board.own for board in asked)] = None
    found = []
    for split, limit, own in sorted(wanted, key=lambda one: (one[0] != TEST, one[1] or -math.inf, one[2])):
        here = _here(every, split, limit, own=own)
        found.append(View(split, limit, own, tuple(_standings(here)), tuple(_references(here))))
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
    samples: dict[GlueRow, tuple[float, ...]] = {}
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


def _sides(task: str, result: Result) -> ComparedExamples:
    each = [examples(task, result.suite, outcomes) for outcomes in _repetitions(result)]
    right = [{one.key: one.right for one in some} for some in each]
    # A repetition that lacks examples is compared on those that all have.
    kept = [one for one in each[0] if all(one.key in some for some in right)]
    sides = tuple(tuple(some[one.key] for one in kept) for some in right)
    return ComparedExamples(tuple(one.key for one in kept), tuple(one.name for one in kept), sides)


def _references(here: Sequence[Scored]) -> list[Standing]:
    """The best floor of each suite as one, and its ceiling: worked out on the same items."""
    found = []
    for kind, name in _REFERENCES.items():
        samples: dict[GlueRow, tuple[float, ...]] = {}
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


_PANELS = 6
"""Pairs that a figure has room for."""
_NAME = 32
"""Characters of a system's name above a panel."""
_METHOD = (
    "PrivacyGLUE's rows are measures of its suites, and its means run over all 14 of them, two for each task (with the "
    "14 all means printed in the paper come out, with one row for each task they do not). Repetitions are what seeds "
    "are to the paper's encoders."
)


def chapter(sources: Sequence[Source], every: Sequence[Scored]) -> Chapter | None:
    """The chapter on PrivacyGLUE; None if no run asked all its tasks."""
    made: list[Table] = []
    first: list[str] = []
    figures: list[Figure | None] = []
    for view in views(sources, every):
        found = compared(view)
        agreed = pairs(found, view)
        fourteen = rows(view)
        first += [fourteen.name] if fourteen else []
        made += [fourteen, averages(view), tests(view), agreed, shown(found, view)]
        figures.append(_figure(agreed))
    if not nonempty_tables(*made):
        return None
    return Chapter(
        GLUE,
        PrivacyGLUE.title,
        PrivacyGLUE.about,
        nonempty_tables(*made),
        nonempty_figures(*figures),
        method=_METHOD,
        references={f"reference-{GLUE}": escape(PrivacyGLUE.citation)},
        first=tuple(first) or (nonempty_tables(*made)[0].name,),
    )


def _figure(agreed: Table) -> Figure | None:
    """The examples that only one of two systems has right, by task."""
    if not agreed:
        return None
    number = len(agreed.data[["a", "b"]].drop_duplicates())
    first = f" The first {_PANELS} of {number} pairs; the table has all." if number > _PANELS else ""
    about = (
        "Per cent of a task's examples that only the first system has right (to the right), and only the second (to "
        f"the left); examples that both or neither have right are left out.{first}"
    )
    return Figure(agreed.name, agreed.title, about, agreed, lambda: _draw(agreed))


def _draw(agreed: Table) -> Canvas:
    data = agreed.data
    pairs = list(dict.fromkeys(zip(data["a"], data["b"], strict=True)))[:_PANELS]
    tasks = list(dict.fromkeys(data["task"]))
    down, across = style.panel_grid(len(pairs), 2)
    canvas = style.make_canvas(style.WIDTH, down * (0.24 * len(tasks) + 0.8) + 0.3)
    panels = canvas.subplots(down, across, sharex=True, squeeze=False)
    widest = max(1.0, float(data[["only_a", "only_b"]].max().max()))
    for axes, (first, second) in zip(panels.flat, pairs, strict=False):
        own = data[(data["a"] == first) & (data["b"] == second)].set_index("task")
        heads = (f"only {style.shorten(first, _NAME)} \u2192", f"\u2190 only {style.shorten(second, _NAME)}")
        axes.set_title("\n".join(heads), fontsize=style.SMALL)
        for place, task in enumerate(tasks):
            if task not in own.index:
                axes.annotate("not both", (0, place), ha="center", va="center", **style.ABSENT)
                continue
            for column, sign, colour in (("only_a", 1, style.COLOURS[0]), ("only_b", -1, style.COLOURS[1])):
                share = float(own.loc[task, column])
                axes.barh(place, sign * share, height=0.66, color=colour)
                axes.annotate(
                    f"{share:.1f}",
                    (sign * share, place),
                    xytext=(3 * sign, 0),
                    textcoords="offset points",
                    ha="left" if sign > 0 else "right",
                    va="center",
                    fontsize=style.TINY,
                )
        axes.axvline(0, color=style.INK, linewidth=0.6)
        axes.set_yticks(range(len(tasks)), tasks)
        axes.set_ylim(len(tasks) - 0.5, -0.5)
        axes.set_xlim(-1.4 * widest, 1.4 * widest)
        axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        axes.tick_params(axis="y", length=0)
    for axes in style.bottom_axes(panels, len(pairs)):
        axes.set_xlabel("per cent of examples")
        axes.tick_params(axis="x", labelbottom=True)
    return canvas


_PAIRED = 4
"""Systems up to which every pair is compared; of more, each with the best."""
_SHOWN = 3
"""Examples of each kind that are shown of a pair and task."""
PAIRS = {Pair.BOTH: "both", Pair.FIRST: "only_a", Pair.SECOND: "only_b", Pair.NEITHER: "neither"}


def rows(view: View) -> Table:
    """The fourteen rows, a column for each system, with floors, ceilings and the paper's encoders."""
    kept = [*view.standings, *view.references]
    lines = []
    for row in ROWS:
        there = {one.system: one.spreads[row] for one in kept if row in one.spreads}
        if not there:
            continue
        line: dict[str, Any] = {"task": _titles()[row.task], "metric": METRICS[row.metric]}
        line |= {system: _written(one) for system, one in there.items()}
        for system, one in there.items():
            line |= {f"{system}_mean": one.mean, f"{system}_sd": one.population, f"{system}_sample_sd": one.sample}
            line[f"{system}_repetitions"] = one.number
        for encoder in encoders() if view.whole else ():
            line[_paper(encoder.system)] = f"{encoder.values[row.name]:.1f} ± {encoder.deviations[row.name]:.1f}"
        lines.append(line)
    names = [one.system for one in kept]
    published = [_paper(encoder.system) for encoder in encoders()] if view.whole else []
    aside = [f"{name}_{what}" for name in names for what in ("mean", "sd", "sample_sd", "repetitions")]
    return make_table(
        f"{view.stem}-rows",
        f"{view.title}: the rows",
        "Percentages: the mean over repetitions and, of several, ± the population's standard deviation, as in the "
        f"paper. Each row is a measure of the task's suite{_lacking(view)}.{_sources(view)} The tagging tasks of "
        "encoders are scored on their word pieces, those of systems on the words of the data. The sample's standard "
        "deviation is in CSV and JSON.",
        pd.DataFrame(lines),
        ["task", "metric", *names, *published],
        formats=dict.fromkeys(aside, ".4f"),
        aside=aside,
    )


def _titles() -> dict[str, str]:
    return {task.name: task.title for task in TASKS}


def _paper(system: str) -> str:
    return f"{system} (paper)"


def _written(one: Spread) -> str:
    if one.mean != one.mean:
        return ""
    return f"{one.mean:.1f} ± {one.population:.1f}" if one.number > 1 else f"{one.mean:.1f}"


def _lacking(view: View) -> str:
    """The tasks that nobody was asked, in words."""
    there = {row.task for one in view.standings for row in one.samples}
    absent = [task.title for task in TASKS if task.name not in there]
    return f"; not asked: {', '.join(absent)}" if absent else ""


def _sources(view: View) -> str:
    said = ""
    if view.references:
        said += " `floors` and `ceilings` are the best of each suite in a row, worked out on the same items."
    if view.whole:
        said += " (paper): PrivacyGLUE's encoders, fine-tuned, mean of ten seeds (Table A3)."
    return said


def averages(view: View) -> Table:
    """The three means of each system, over the rows that it has, beside the paper's encoders over the same rows."""
    lines: list[dict[str, Any]] = []
    for over in dict.fromkeys(one.means.rows for one in view.standings):
        if not over:
            continue
        for one in (*view.standings, *view.references):
            if (one.means.rows == over) if one in view.standings else {*over} <= {*one.samples}:
                chosen = {row: one.spreads[row] for row in over}
                figures = means({row: each.mean for row, each in chosen.items()})
                spreads = means({row: each.population for row, each in chosen.items()})
                repeated = all(each.number > 1 for each in chosen.values())
                lines.append(_averaged(one.system, one.kind, figures, spreads if repeated else None))
        for encoder in encoders() if view.whole else ():
            deviations = means({row: encoder.deviations[row.name] for row in over})
            lines.append(_averaged(_paper(encoder.system), "published", encoder.over(over), deviations))
    spread = [f"sd_{name}" for name in ("arithmetic", "geometric", "harmonic")]
    return make_table(
        f"{view.stem}-means",
        f"{view.title}: means of rows",
        "Percentages, means of the rows above. Only that over all 14 rows is PrivacyGLUE's own figure. Systems that "
        "were asked have none of PI-Extract and PolicyIE-B in theirs, which score words here and word pieces there; "
        "the paper's encoders are averaged over the same rows again. A row that is 0 leaves no geometric and no "
        "harmonic mean. The same means of the standard deviations are in CSV and JSON (those of the paper from its "
        "rounded ones).",
        pd.DataFrame(lines),
        ["figure", "system", "kind", "arithmetic", "geometric", "harmonic", "rows", "note"],
        formats=dict.fromkeys(("arithmetic", "geometric", "harmonic", *spread), ".1f"),
        aside=spread,
    )


def _averaged(system: str, kind: str, over: Means, deviations: Means | None) -> dict[str, Any]:
    names = ("arithmetic", "geometric", "harmonic")
    line: dict[str, Any] = {"figure": over.name, "system": system, "kind": kind}
    line |= {name: getattr(over, name) for name in names}
    line |= {f"sd_{name}": getattr(deviations, name) if deviations else float("nan") for name in names}
    return {**line, "rows": "all" if over.whole else _of(over.rows), "note": over.note}


def _of(over: Iterable[GlueRow]) -> str:
    """Rows in words, both of a task by its title alone."""
    metrics: dict[str, list[str]] = {}
    for row in over:
        metrics.setdefault(row.task, []).append(METRICS[row.metric])
    return ", ".join(_titles()[task] + (f" ({of[0]})" if len(of) == 1 else "") for task, of in metrics.items())


def tests(view: View) -> Table:
    """For each row the best system, and whether it beats every other one over repetitions."""
    lines: list[dict[str, Any]] = []
    for row in ROWS:
        there = [one for one in view.standings if row in one.samples and one.kind != "baseline"]
        there = [one for one in there if not isnan(one.spreads[row].mean)]
        there = sorted(there, key=lambda one: -one.spreads[row].mean)
        if len(there) < 2:  # noqa: PLR2004 - a pair
            continue
        best, others = there[0], there[1:]
        every = [beaten(row, best.system, best.samples[row], one.system, one.samples[row]) for one in others]
        hardest = max(every, key=lambda one: one.p)
        why = next((one.meaningless for one in every if one.meaningless), "")
        lines.append(
            {
                "row": row.heading,
                "system": best.system,
                "repetitions": min(len(one.samples[row]) for one in there),
                "against": hardest.other,
                "p": hardest.p,
                "smallest": max(one.smallest for one in every),
                "stars": stars(every),
                "meaning": f"says nothing: {why}" if why else _meaning(hardest.smallest, stars(every)),
            }
        )
    return make_table(
        f"{view.stem}-tests",
        f"{view.title}: is the best system better than every other?",
        "One-sided Mann-Whitney test over repetitions, of the best system of a row against each other one; shown is "
        "the largest p. Stars (* .05, ** .01, *** .001) as in the paper: only where every other system is beaten at "
        "that level, with no correction for the number of tests. `smallest p` is what so few repetitions can reach at "
        "all. The test speaks for further repetitions on the same items, not for other policies.",
        pd.DataFrame(lines),
        ["row", "system", "repetitions", "against", "p", "smallest", "stars", "meaning"],
        headings={"system": "best system", "against": "hardest to beat", "smallest": "smallest p"},
        formats=dict.fromkeys(("p", "smallest"), ".4f"),
    )


def _meaning(smallest: float, mark: str) -> str:
    if smallest > 0.05:  # noqa: PLR2004 - the paper's first level
        return "undecided: too few repetitions for any level"
    return "every other is beaten" if mark else "undecided"


def compared(view: View) -> list[tuple[Standing, Standing, GlueTask, tuple[str, ...], list[Pair]]]:
    """Pairs of systems, and for each task that both have, their common examples with the category of each."""
    found = []
    chosen = [one for one in view.standings if one.tasks]
    pairs = combinations(chosen, 2) if len(chosen) <= _PAIRED else ((chosen[0], other) for other in chosen[1:])
    for first, second in pairs:
        for task in (one for one in first.tasks if one in second.tasks):
            mine, theirs = first.sides(task.name), second.sides(task.name)
            known = {*theirs.keys}
            keys = tuple(key for key in mine.keys if key in known)
            if keys:
                found.append((first, second, task, keys, agreement(mine.of(keys), theirs.of(keys))))
    return found


def pairs(found: Sequence[tuple[Standing, Standing, GlueTask, tuple[str, ...], list[Pair]]], view: View) -> Table:
    """Shares of examples that both have right, one alone, or neither, for each pair and task."""
    lines = []
    for first, second, task, keys, categories in found:
        line: dict[str, Any] = {"a": first.system, "b": second.system, "task": task.title, "examples": len(keys)}
        lines.append(line | {PAIRS[pair]: 100 * share for pair, share in shares(categories).items()})
    return make_table(
        f"{view.stem}-agreement",
        f"{view.title}: pairs of systems",
        "Per cent of the examples that both systems have: both right, only A, only B, neither. Right means right in "
        "full: the label, all labels, all spans of a layer of a sentence, word for word one of the answers, a pair of "
        "question and sentence. Over several repetitions an example is in the category most frequent among all pairs "
        "of repetitions, of equally frequent ones in the first seen.",
        pd.DataFrame(lines),
        ["a", "b", "task", "examples", *PAIRS.values()],
        headings={"a": "A", "b": "B", "only_a": "only A", "only_b": "only B"},
        formats={**dict.fromkeys(PAIRS.values(), ".1f"), "examples": ",d"},
    )


def shown(found: Sequence[tuple[Standing, Standing, GlueTask, tuple[str, ...], list[Pair]]], view: View) -> Table:
    """The first examples that only one of both has right."""
    lines = []
    for first, second, task, keys, categories in found:
        for pair in (Pair.FIRST, Pair.SECOND):
            those = [key for key, category in zip(keys, categories, strict=True) if category is pair]
            lines += [
                {
                    "a": first.system,
                    "b": second.system,
                    "task": task.title,
                    "right": (first if pair is Pair.FIRST else second).system,
                    "example": first.sides(task.name).name(key),
                }
                for key in those[:_SHOWN]
            ]
    return make_table(
        f"{view.stem}-examples",
        f"{view.title}: examples that one system alone has right",
        f"The first {_SHOWN} of each kind in the order of the data, by their items, which the desk shows. "
        "Texts of the data sets are not repeated here, since they may not be passed on.",
        pd.DataFrame(lines),
        ["a", "b", "task", "right", "example"],
        headings={"a": "A", "b": "B", "right": "only right"},
    )
