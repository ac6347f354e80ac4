"""PrivacyGLUE's chapter of a report.

Its tables have fourteen rows, three means, the test of the best system in each row, and the agreement of pairs, which
is drawn.
"""

from __future__ import annotations

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
    METRICS,
    ROWS,
    TASKS,
    GlueRow,
    GlueTask,
    MeanAndDeviations,
    PairCategory,
    PrivacyGLUE,
    RowMeans,
    compare_systems_in_row,
    compute_means,
    most_frequent_agreement_of_each_example,
    pair_category_shares,
    published_encoders,
    stars_for_beating_every_rival_or_empty,
)
from genaipa_suites.report.glue_views import GLUE, GlueSystemScores, GlueView, collect_glue_views

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.runs.selection import SelectedRun
    from genaipa_suites.report.results import ScoredBoard

_PANELS = 6
"""Pairs that a figure has room for."""
_NAME = 32
"""Characters of a system's name above a panel."""
_METHOD = (
    "PrivacyGLUE's rows are measures of its suites, and its means run over all 14 rows, two for each task (14 rows "
    "reproduce all means printed in the paper; one row for each task does not). Repetitions correspond to the "
    "seeds of the paper's encoders."
)


def make_glue_chapter(sources: Sequence[SelectedRun], scored_boards: Sequence[ScoredBoard]) -> Chapter | None:
    """Make the chapter on PrivacyGLUE; None if no run asked all its tasks."""
    tables: list[Table] = []
    first: list[str] = []
    figures: list[Figure | None] = []
    for view in collect_glue_views(sources, scored_boards):
        compared = classify_examples_of_system_pairs(view)
        agreement = agreement_table(compared, view)
        fourteen = glue_rows_table(view)
        first += [fourteen.name] if fourteen else []
        tables += [
            fourteen,
            means_table(view),
            best_systems_significance_table(view),
            agreement,
            disputed_examples_table(compared, view),
        ]
        figures.append(_disagreement_figure(agreement))
    if not nonempty_tables(*tables):
        return None
    return Chapter(
        GLUE,
        PrivacyGLUE.title,
        PrivacyGLUE.about,
        nonempty_tables(*tables),
        nonempty_figures(*figures),
        method=_METHOD,
        references={f"reference-{GLUE}": escape(PrivacyGLUE.citation)},
        first=tuple(first) or (nonempty_tables(*tables)[0].name,),
    )


def _disagreement_figure(agreement: Table) -> Figure | None:
    """Draw the examples that only one of two systems has right, by task."""
    if not agreement:
        return None
    number = len(agreement.data[["a", "b"]].drop_duplicates())
    first = (
        f" The figure shows the first {_PANELS} of {number} pairs; the table has all pairs." if number > _PANELS else ""
    )
    about = (
        "Per cent of a task's examples that only the first system gets right (bars to the right), and that only "
        f"the second gets right (bars to the left). Examples that both or neither get right are left out.{first}"
    )
    return Figure(agreement.name, agreement.title, about, agreement, lambda: _draw_disagreement(agreement))


def _draw_disagreement(agreement: Table) -> Canvas:
    data = agreement.data
    pairs = list(dict.fromkeys(zip(data["a"], data["b"], strict=True)))[:_PANELS]
    tasks = list(dict.fromkeys(data["task"]))
    down, across = style.panel_rows_and_columns(len(pairs), 2)
    canvas = style.make_canvas(style.WIDTH, down * (0.24 * len(tasks) + 0.8) + 0.3)
    panels = canvas.subplots(down, across, sharex=True, squeeze=False)
    widest = max(1.0, float(data[["only_a", "only_b"]].max().max()))
    for axes, (first, second) in zip(panels.flat, pairs, strict=False):
        pair_data = data[(data["a"] == first) & (data["b"] == second)].set_index("task")
        heads = (
            f"only {style.shorten_drawn_name(first, _NAME)} \u2192",
            f"\u2190 only {style.shorten_drawn_name(second, _NAME)}",
        )
        axes.set_title("\n".join(heads), fontsize=style.SMALL)
        for index, task in enumerate(tasks):
            if task not in pair_data.index:
                axes.annotate("not asked of both", (0, index), ha="center", va="center", **style.ABSENT)
                continue
            for column, sign, colour in (("only_a", 1, style.COLOURS[0]), ("only_b", -1, style.COLOURS[1])):
                share = float(pair_data.loc[task, column])
                axes.barh(index, sign * share, height=0.66, color=colour)
                axes.annotate(
                    f"{share:.1f}",
                    (sign * share, index),
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
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(pairs)):
        axes.set_xlabel("per cent of examples")
        axes.tick_params(axis="x", labelbottom=True)
    return canvas


_MAX_ALL_PAIRS = 4
"""Systems up to which every pair is compared; of more, each with the best."""
_MAX_EXAMPLES = 3
"""Examples of each kind that are shown of a pair and task."""
PAIRS = {
    PairCategory.BOTH: "both",
    PairCategory.FIRST: "only_a",
    PairCategory.SECOND: "only_b",
    PairCategory.NEITHER: "neither",
}


def glue_rows_table(view: GlueView) -> Table:
    """Return the fourteen rows, a column for each system, with floors, ceilings and the paper's encoders."""
    standings = [*view.standings, *view.references]
    lines = []
    for row in ROWS:
        spreads = {
            standing.system: standing.spread_by_row_in_percent[row]
            for standing in standings
            if row in standing.spread_by_row_in_percent
        }
        if not spreads:
            continue
        line: dict[str, Any] = {"task": _glue_task_titles()[row.task], "metric": METRICS[row.metric]}
        line |= {system: _format_mean_and_deviation(standing) for system, standing in spreads.items()}
        for system, standing in spreads.items():
            line |= {
                f"{system}_mean": standing.mean,
                f"{system}_sd": standing.population,
                f"{system}_sample_sd": standing.sample,
            }
            line[f"{system}_repetitions"] = standing.number
        for encoder in published_encoders() if view.is_whole_published_test_split else ():
            line[_add_paper_suffix(encoder.system)] = (
                f"{encoder.values[row.name]:.1f} ± {encoder.deviations[row.name]:.1f}"
            )
        lines.append(line)
    names = [standing.system for standing in standings]
    published = (
        [_add_paper_suffix(encoder.system) for encoder in published_encoders()]
        if view.is_whole_published_test_split
        else []
    )
    aside = [f"{name}_{statistic}" for name in names for statistic in ("mean", "sd", "sample_sd", "repetitions")]
    return make_table(
        f"{view.table_name_prefix}-rows",
        f"{view.title}: the rows",
        "Percentages: the mean over repetitions and, if there are several, ± the population standard deviation, as "
        "in the paper. Each row is a measure of the task's "
        f"suite{_absent_tasks_phrase_or_empty(view)}.{_extra_columns_note_or_empty(view)} In the tagging tasks, the "
        "paper's encoders "
        "are scored on word pieces, and systems on the words of the data. The sample standard deviation is in CSV "
        "and JSON.",
        pd.DataFrame(lines),
        ["task", "metric", *names, *published],
        formats=dict.fromkeys(aside, ".4f"),
        aside=aside,
    )


def _glue_task_titles() -> dict[str, str]:
    return {task.name: task.title for task in TASKS}


def _add_paper_suffix(system: str) -> str:
    return f"{system} (paper)"


def _format_mean_and_deviation(row_spread: MeanAndDeviations) -> str:
    if row_spread.mean != row_spread.mean:
        return ""
    return f"{row_spread.mean:.1f} ± {row_spread.population:.1f}" if row_spread.number > 1 else f"{row_spread.mean:.1f}"


def _absent_tasks_phrase_or_empty(view: GlueView) -> str:
    """Name the tasks that nobody was asked."""
    present = {row.task for standing in view.standings for row in standing.samples}
    absent = [task.title for task in TASKS if task.name not in present]
    return f"; not asked: {', '.join(absent)}" if absent else ""


def _extra_columns_note_or_empty(view: GlueView) -> str:
    text = ""
    if view.references:
        text += " `floors` and `ceilings` are the best floor and the ceiling of a row's suite, on the same items."
    if view.is_whole_published_test_split:
        text += " Columns with (paper) are PrivacyGLUE's fine-tuned encoders, as means of ten seeds (Table A3)."
    return text


def means_table(view: GlueView) -> Table:
    """Return the three means of each system over the rows that it has, and of the paper's encoders over the same."""
    lines: list[dict[str, Any]] = []
    for row_set in dict.fromkeys(standing.means_without_tagging_tasks.rows for standing in view.standings):
        if not row_set:
            continue
        for standing in (*view.standings, *view.references):
            if (
                (standing.means_without_tagging_tasks.rows == row_set)
                if standing in view.standings
                else {*row_set} <= {*standing.samples}
            ):
                chosen = {row: standing.spread_by_row_in_percent[row] for row in row_set}
                figures = compute_means({row: row_spread.mean for row, row_spread in chosen.items()})
                spreads = compute_means({row: row_spread.population for row, row_spread in chosen.items()})
                repeated = all(row_spread.number > 1 for row_spread in chosen.values())
                lines.append(_means_row(standing.system, standing.kind, figures, spreads if repeated else None))
        for encoder in published_encoders() if view.is_whole_published_test_split else ():
            deviations = compute_means({row: encoder.deviations[row.name] for row in row_set})
            lines.append(
                _means_row(_add_paper_suffix(encoder.system), "published", encoder.compute_means(row_set), deviations)
            )
    spread = [f"sd_{name}" for name in ("arithmetic", "geometric", "harmonic")]
    return make_table(
        f"{view.table_name_prefix}-means",
        f"{view.title}: means of rows",
        "Means of the rows above, in per cent. Only the mean over all 14 rows is PrivacyGLUE's figure. The means "
        "of systems that were asked leave out PI-Extract and PolicyIE-B, which are scored on words here and on "
        "word pieces in the paper; the paper's encoders are also averaged over the same rows. If a row is 0, the "
        "geometric and harmonic means are not defined. The same means of the standard deviations are in CSV and "
        "JSON (for the paper, computed from rounded values).",
        pd.DataFrame(lines),
        ["figure", "system", "kind", "arithmetic", "geometric", "harmonic", "rows", "note"],
        formats=dict.fromkeys(("arithmetic", "geometric", "harmonic", *spread), ".1f"),
        aside=spread,
    )


def _means_row(system: str, kind: str, row_means: RowMeans, means_of_deviations: RowMeans | None) -> dict[str, Any]:
    names = ("arithmetic", "geometric", "harmonic")
    line: dict[str, Any] = {"figure": row_means.name, "system": system, "kind": kind}
    line |= {name: getattr(row_means, name) for name in names}
    line |= {
        f"sd_{name}": getattr(means_of_deviations, name) if means_of_deviations else float("nan") for name in names
    }
    return {
        **line,
        "rows": "all" if row_means.covers_all_rows else _describe_glue_rows(row_means.rows),
        "note": row_means.note,
    }


def _describe_glue_rows(glue_rows: Iterable[GlueRow]) -> str:
    """Describe rows, both of a task by its title alone."""
    metrics: dict[str, list[str]] = {}
    for row in glue_rows:
        metrics.setdefault(row.task, []).append(METRICS[row.metric])
    return ", ".join(
        _glue_task_titles()[task] + (f" ({names[0]})" if len(names) == 1 else "") for task, names in metrics.items()
    )


def best_systems_significance_table(view: GlueView) -> Table:
    """Return for each row the best system, and whether it beats every other one over repetitions."""
    lines: list[dict[str, Any]] = []
    for row in ROWS:
        standings = [standing for standing in view.standings if row in standing.samples and standing.kind != "baseline"]
        standings = [standing for standing in standings if not isnan(standing.spread_by_row_in_percent[row].mean)]
        standings = sorted(standings, key=lambda standing: -standing.spread_by_row_in_percent[row].mean)
        if len(standings) < 2:  # noqa: PLR2004 - a pair
            continue
        best, rivals = standings[0], standings[1:]
        comparisons = [
            compare_systems_in_row(row, best.system, best.samples[row], standing.system, standing.samples[row])
            for standing in rivals
        ]
        hardest = max(comparisons, key=lambda standing: standing.p)
        reason = next((standing.meaningless for standing in comparisons if standing.meaningless), "")
        lines.append(
            {
                "row": row.heading,
                "system": best.system,
                "repetitions": min(len(standing.samples[row]) for standing in standings),
                "against": hardest.rival,
                "p": hardest.p,
                "smallest": max(standing.smallest for standing in comparisons),
                "stars": stars_for_beating_every_rival_or_empty(comparisons),
                "meaning": f"says nothing: {reason}"
                if reason
                else _significance_verdict(hardest.smallest, stars_for_beating_every_rival_or_empty(comparisons)),
            }
        )
    return make_table(
        f"{view.table_name_prefix}-tests",
        f"{view.title}: is the best system better than every other?",
        "One-sided Mann-Whitney test over repetitions, of the best system of a row against each other system; the "
        "largest p is shown. Stars (* .05, ** .01, *** .001), as in the paper, mean that the best system beats "
        "every other system at that level, with no correction for the number of tests. `smallest p` is the "
        "smallest value that so few repetitions can reach. The test is about further repetitions on the same "
        "items, not about other policies.",
        pd.DataFrame(lines),
        ["row", "system", "repetitions", "against", "p", "smallest", "stars", "meaning"],
        headings={"system": "best system", "against": "hardest to beat", "smallest": "smallest p"},
        formats=dict.fromkeys(("p", "smallest"), ".4f"),
    )


def _significance_verdict(smallest_p: float, stars: str) -> str:
    if smallest_p > 0.05:  # noqa: PLR2004 - the paper's first level
        return "undecided: too few repetitions for any level"
    return "beats every other system" if stars else "undecided"


def classify_examples_of_system_pairs(
    view: GlueView,
) -> list[tuple[GlueSystemScores, GlueSystemScores, GlueTask, tuple[str, ...], list[PairCategory]]]:
    """Pair systems, and categorize for each task that both have their common examples."""
    comparisons = []
    chosen = [standing for standing in view.standings if standing.tasks_with_examples]
    pairs = combinations(chosen, 2) if len(chosen) <= _MAX_ALL_PAIRS else ((chosen[0], rival) for rival in chosen[1:])
    for first, second in pairs:
        for task in (standing for standing in first.tasks_with_examples if standing in second.tasks_with_examples):
            first_examples, second_examples = first.examples(task.name), second.examples(task.name)
            second_keys = {*second_examples.keys}
            keys = tuple(key for key in first_examples.keys if key in second_keys)
            if keys:
                comparisons.append(
                    (
                        first,
                        second,
                        task,
                        keys,
                        most_frequent_agreement_of_each_example(
                            first_examples.right_by_repetition(keys), second_examples.right_by_repetition(keys)
                        ),
                    )
                )
    return comparisons


def agreement_table(
    comparisons: Sequence[tuple[GlueSystemScores, GlueSystemScores, GlueTask, tuple[str, ...], list[PairCategory]]],
    view: GlueView,
) -> Table:
    """Return shares of examples that both have right, one alone, or neither, for each pair and task."""
    lines = []
    for first, second, task, keys, categories in comparisons:
        line: dict[str, Any] = {"a": first.system, "b": second.system, "task": task.title, "examples": len(keys)}
        lines.append(line | {PAIRS[pair]: 100 * share for pair, share in pair_category_shares(categories).items()})
    return make_table(
        f"{view.table_name_prefix}-agreement",
        f"{view.title}: pairs of systems",
        "Per cent of the examples that both systems were asked: both right, only A, only B, neither. Right means "
        "entirely right: the label, all labels, all spans of a layer of a sentence, one of the answers word for "
        "word, or a pair of a question and a sentence. With several repetitions, an example is in the most "
        "frequent category among all pairs of repetitions; a tie goes to the category seen first.",
        pd.DataFrame(lines),
        ["a", "b", "task", "examples", *PAIRS.values()],
        headings={"a": "A", "b": "B", "only_a": "only A", "only_b": "only B"},
        formats={**dict.fromkeys(PAIRS.values(), ".1f"), "examples": ",d"},
    )


def disputed_examples_table(
    comparisons: Sequence[tuple[GlueSystemScores, GlueSystemScores, GlueTask, tuple[str, ...], list[PairCategory]]],
    view: GlueView,
) -> Table:
    """Return the first examples that only one of both has right."""
    lines = []
    for first, second, task, keys, categories in comparisons:
        for pair in (PairCategory.FIRST, PairCategory.SECOND):
            pair_keys = [key for key, category in zip(keys, categories, strict=True) if category is pair]
            lines += [
                {
                    "a": first.system,
                    "b": second.system,
                    "task": task.title,
                    "right": (first if pair is PairCategory.FIRST else second).system,
                    "example": first.examples(task.name).name_of_example(key),
                }
                for key in pair_keys[:_MAX_EXAMPLES]
            ]
    return make_table(
        f"{view.table_name_prefix}-examples",
        f"{view.title}: examples that only one system gets right",
        f"The first {_MAX_EXAMPLES} examples of each kind, in the order of the data. The desk shows the named "
        "items; the texts of the data sets are not repeated here, because they may not be passed on.",
        pd.DataFrame(lines),
        ["a", "b", "task", "right", "example"],
        headings={"a": "A", "b": "B", "right": "only right"},
    )
