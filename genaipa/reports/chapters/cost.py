"""Cost: the time and money that answers take, beside their quality."""

from __future__ import annotations

from dataclasses import replace
from math import floor, log10
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_figures, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, Scope
from genaipa.reports.table import Table, make_table
from genaipa.reports.throughput import first_token_table, study_throughput_table
from genaipa.stats.intervals import LEAST_DRAWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

Effort = Literal["cost", "seconds"]
_NAMES: dict[Effort, str] = {"cost": "effort-cost", "seconds": "effort-time"}
_TITLES: dict[Effort, str] = {"cost": "Overall score against cost", "seconds": "Overall score against time"}
_AXES: dict[Effort, str] = {"cost": "US dollars per 1,000 answers (mean)", "seconds": "Seconds per answer (median)"}
_PER: dict[Effort, int] = {"cost": 1000, "seconds": 1}
"""Answers to which the axis refers."""
_LACK: dict[Effort, str] = {"cost": "a known cost or a score", "seconds": "a known time or a score"}
_INSTANT = 0.1
"""Seconds below which a time says nothing of a system: it answers from this machine's memory."""
_FEW = 4
"""More points than these have no n each: they would cover each other."""
_COSTS = {end: f"cost_{end}" for end in BOTH[:-1]}
"""End of an interval → its column for the cost."""
_SECONDS = {end: f"seconds_{end}" for end in BOTH[:-1]}
"""The same for the seconds."""
_TARGETS = {"low": "for these documents", "policies_low": "for policies like these"}
_LINES: dict[str, dict[str, Any]] = {
    "low": {"linestyle": "-", "linewidth": 2.4, "marker": ""},
    "policies_low": {"linestyle": "-", "linewidth": 0.8, "marker": "_", "markersize": 5.0},
}
"""Lower end of an interval → its line."""
_WIDE = 20
"""From this ratio of the largest to the smallest effort on, the axis is logarithmic."""


def time_and_cost_table(study: Study) -> Table:
    """Seconds and money of the answers to each experiment's questions, beside their M_all."""
    answers = averages.select_policy_rows(study.rows_once_per_answer("spending"))
    answers = answers[answers["status"] != "missing"]
    by = ["system", "experiment"]
    # Where no answer took any time, none was measured: they were imported.
    longest = answers.groupby(by, observed=True)["seconds"].transform("max")
    answers = answers.assign(seconds=answers["seconds"].where(longest > 0)).dropna(
        subset=["seconds", "cost"], how="all"
    )
    spent = averages.summarize_each_group(answers, by, _summarize_time_and_cost)
    quality = _average_by_system_and_experiment(study)
    columns = [*by, "answers", "m_all", *BOTH, "seconds", "cost", *_COSTS.values(), "cost_total"]
    data = pd.DataFrame(columns=columns)
    if len(spent):
        data = spent.merge(quality, on=by, how="left")
        data = data.rename(columns={"mean": "m_all"})
    effort = make_table(
        "effort", "Time and money", _describe_time_and_cost_columns(data), data, columns, aside=list(_SECONDS.values())
    )
    empty = {column for column in columns if effort.data[column].isna().all()} if effort else set()
    return replace(effort, aside=effort.aside | empty)


def _average_by_system_and_experiment(study: Study) -> pd.DataFrame:
    """Return the `mean` of M_all of each system and experiment, with its intervals."""
    scored = averages.weigh_cells_in_average(study.table, "m_all")
    quality = averages.summarize_each_group(
        scored, ["system", "experiment"], lambda rows: averages.estimate_column_mean(rows, "m_all")
    )
    return quality.reindex(columns=["system", "experiment", "mean", *BOTH])


def _describe_time_and_cost_columns(data: pd.DataFrame) -> str:
    """Describe the columns of `time_and_cost_table` that have values: few, of a baseline that nobody scored."""
    note = (
        "All answers of an experiment, scored or not, failures and refusals included: the median of the seconds from a "
        "question to its complete reply, the mean cost of an answer whose price is known and the total of these, in US "
        "dollars. Summaries and acknowledgements of a document's parts are not included."
    )
    if data["m_all"].notna().any():
        note += " The table also has M_all (10 to 100) over the questions that were scored, each a mean over documents."
    if data[["low", *_COSTS.values()]].notna().to_numpy().any():
        note += f" {INTERVALS} The intervals of the cost are for a question's mean over documents."
    return note + (
        f" The intervals of the median (in CSV and JSON) end at measured seconds, and are blank for fewer than "
        f"{LEAST_DRAWS} questions (or {LEAST_DRAWS} documents, for policies like these)."
    )


def _summarize_time_and_cost(rows: pd.DataFrame) -> dict[str, object]:
    over_questions, middle = (
        averages.estimate_column_mean(rows, "cost"),
        averages.estimate_column_median(rows, "seconds"),
    )
    return {
        "answers": len(rows),
        "seconds": middle["median"],
        **{name: middle[end] for end, name in _SECONDS.items()},
        "cost": rows["cost"].mean(),
        **{name: over_questions[end] for end, name in _COSTS.items()},
        "cost_total": rows["cost"].sum(min_count=1),
    }


def score_against_effort_figure(
    table: Table, effort: Effort, scope: Scope = ALONE, lines: pd.DataFrame | None = None
) -> Figure | None:
    """Draw a panel per experiment: a point per system, M_all and its intervals against the effort; None without one.

    `lines` have the `mean` of systems and experiments, at which benchmarks' lines are: people have no cost.
    """
    data = table.data.dropna(subset=["m_all", effort])
    if data.empty or (effort == "seconds" and data[effort].max() < _INSTANT):
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]), 34)
    note = (
        "Average of M_all over questions against the time or cost of an answer. The thick line is its interval for "
        "these documents, the thin line with end caps that for policies like these (absent where it is unknown). n is "
        f"the number of answers. {style.describe_bands(scope.bounds)}"
        f"{scope.note_missing_systems(data['system'], _LACK[effort])}"
        f"{'' if lines is None else scope.note_benchmarks(lines['system'])}{style.note_full_names(systems)} "
        f"{table.note}"
    )
    name, title = _NAMES[effort], _TITLES[effort]
    figure_table = Table(name, title, note, data.reset_index(drop=True), table.headings, table.formats, table.aside)
    # The panels of money and of time come in the same order, whichever of the two a row lacks.
    experiments = [
        experiment
        for experiment in style.distinct_values(table.data["experiment"])
        if (data["experiment"] == experiment).any()
    ]
    return Figure(
        name,
        title,
        note,
        figure_table,
        lambda: _draw_score_against_effort(data, effort, experiments, systems, scope, lines),
    )


def _draw_score_against_effort(
    data: pd.DataFrame,
    effort: Effort,
    experiments: list[Any],
    systems: Mapping[Any, str],
    scope: Scope,
    lines: pd.DataFrame | None,
) -> Canvas:
    down, across = style.panel_rows_and_columns(len(experiments), 2)
    foot = 0.35 + 0.1 * (len(systems) + len(_LINES))
    drawing = style.make_canvas(style.WIDTH if across > 1 else style.COLUMN, down * 2.3 + foot)
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    marks = scope.system_markers(list(systems))
    for axes, experiment in zip(panels.flat, experiments, strict=False):
        style.draw_quality_axis(axes, scope.bounds, along="y")
        axes.set_title(style.shorten_drawn_name(str(experiment).capitalize(), 30))
        if lines is not None:
            panel_lines = lines[lines["experiment"] == experiment]
            scope.draw_benchmark_lines(axes, panel_lines.set_index("system")["mean"], "y")
        rows = data[data["experiment"] == experiment].sort_values(effort)
        for index, (_, row) in enumerate(rows.iterrows()):
            _draw_system_point(axes, row, effort, marks[row["system"]])
            if len(rows) <= _FEW:
                _write_answer_count(axes, row, effort, above=bool(index % 2))
        if len(rows) > _FEW:
            lowest, highest = int(rows["answers"].min()), int(rows["answers"].max())
            count_note = f"n={highest} each" if lowest == highest else f"n={lowest}\u2013{highest}"
            axes.text(0.02, 0.02, count_note, fontsize=style.TINY, transform=axes.transAxes)
    _scale_effort_axis(panels[0, 0], data[effort], _PER[effort])
    for axes in panels[:, 0]:
        axes.set_ylabel(style.QUALITY)
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(experiments)):
        axes.set_xlabel(_AXES[effort])
        axes.tick_params(axis="x", labelbottom=True)
    lines = [style.make_marker_legend_entry(label, color=style.INK, **_LINES[end]) for end, label in _TARGETS.items()]
    style.draw_legend(
        drawing,
        [*(style.make_marker_legend_entry(label, **marks[system]) for system, label in systems.items()), *lines],
    )
    return drawing


def _draw_system_point(axes: Axes, row: pd.Series[Any], effort: Effort, look: dict[str, Any]) -> None:
    at, mean = float(row[effort]), float(row["m_all"])
    for end, line in _LINES.items():
        low, high = row[end], row[end.replace("low", "high")]
        if not pd.isna(low):
            axes.plot([at, at], [low, high], color=look["color"], **line, zorder=2)
    axes.plot([at], [mean], **look, linestyle="none", markersize=5.5, markeredgecolor="white", zorder=3, clip_on=False)


def _write_answer_count(axes: Axes, row: pd.Series[Any], effort: Effort, *, above: bool) -> None:
    """Write one system's n, above or below its average so that neighbours do not meet."""
    at = float(row[effort])
    axes.annotate(
        f"n={row['answers']:.0f}",
        xy=(
            at,
            row[["m_all", "high", "policies_high"]].max() if above else row[["m_all", "low", "policies_low"]].min(),
        ),
        xytext=(0, 4 if above else -4),
        textcoords="offset points",
        va="bottom" if above else "top",
        ha="center",
        fontsize=style.TINY,
        # No line of a band goes through it, and it hides no mark.
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        zorder=1.5,
    )


def _scale_effort_axis(axes: Axes, values: pd.Series[Any], per: int) -> None:
    """Scale the effort's axis: from 0, or logarithmic where it reaches far (with a place for what costs nothing)."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    positive = values[values > 0]
    if len(positive) and positive.max() / positive.min() > _WIDE:
        free = len(positive) < len(values)
        axes.set_xscale("symlog" if free else "log", **({"linthresh": float(positive.min())} if free else {}))
        axes.set_xlim(-positive.min() * 0.3 if free else positive.min() / 2, positive.max() * 3)
        powers = range(floor(log10(positive.min() * per)) + free, floor(log10(positive.max() * per)) + 1)
        axes.set_xticks([0.0] * free + [10.0**power / per for power in powers])
    else:
        maximum = float(values.max()) or 1 / per
        # What is near 0 keeps its mark and its n clear of the axis.
        axes.set_xlim(-0.1 * maximum, maximum * 1.2)
        ticks = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, maximum * per)
        axes.set_xticks([tick / per for tick in ticks if 0 <= tick <= maximum * per * 1.15])
    axes.xaxis.set_major_formatter(lambda tick, _: f"{round(tick * per, 9):g}")
    axes.xaxis.set_minor_locator(NullLocator())


_UNKNOWN = "Time and cost are not shown: neither time nor cost is known for any answer."


class CostChapter(ChapterMaker):
    """The chapter on the time, tokens and cost of the answers."""

    def make(self, study: Study, scope: Scope) -> Chapter:
        """Make the chapter."""
        spent, pace, waits = time_and_cost_table(study), study_throughput_table(study), first_token_table(study)
        lines = _average_by_system_and_experiment(study) if scope.benchmarks else None
        return Chapter(
            "effort",
            "Time and cost",
            "The time that the answers took, the pace at which they came and, where prices are known, their cost.",
            nonempty_tables(spent, pace, waits),
            nonempty_figures(*(score_against_effort_figure(spent, effort, scope, lines) for effort in _PER)),
            [] if spent or study.table.empty else [_UNKNOWN],
        )
