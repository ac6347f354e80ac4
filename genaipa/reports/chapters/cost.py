"""Cost: the time and money that answers take, beside their quality."""

from __future__ import annotations

from dataclasses import replace
from math import floor, log10
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_figures, nonempty_tables
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.levels import (
    INSTANT,
    describe_effort_level_differences,
    effort_level_differences_table,
    group_effort_levels_by_model,
    list_warnings_on_sparse_effort_levels,
)
from genaipa.reports.table import Table, make_table
from genaipa.reports.throughput import first_token_wait_table, study_throughput_table
from genaipa.stats.intervals import LEAST_DRAWS
from genaipa.systems.provider import split_system_name_and_effort

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

CostOrSeconds = Literal["cost", "seconds"]
_NAMES: dict[CostOrSeconds, str] = {"cost": "effort-cost", "seconds": "effort-time"}
_TITLES: dict[CostOrSeconds, str] = {"cost": "Overall score against cost", "seconds": "Overall score against time"}
_AXES: dict[CostOrSeconds, str] = {
    "cost": "US dollars per 1,000 answers (mean)",
    "seconds": "Seconds per answer (median)",
}
_PER: dict[CostOrSeconds, int] = {"cost": 1000, "seconds": 1}
"""Answers to which the axis refers."""
_LACK: dict[CostOrSeconds, str] = {"cost": "a known cost or a score", "seconds": "a measured time or a score"}
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
_WIDE_LEVELS = 4
"""The same where models have levels, each of which takes some times as much as the one before."""


def time_and_cost_table(study: Study) -> Table:
    """Seconds and money of the answers to each experiment's questions, beside their M_all."""
    answers = averages.select_policy_rows(study.rows_once_per_answer("spending"))
    answers = answers[answers["status"] != "missing"]
    by = ["system", "experiment"]
    # Where no answer of a run took any time, none was measured: they were imported.
    longest = answers.groupby(["run", "system"], observed=True)["seconds"].transform("max")
    answers = answers.assign(seconds=answers["seconds"].where(longest > 0)).dropna(
        subset=["seconds", "cost"], how="all"
    )
    spent = averages.summarize_each_group(answers, by, _summarize_time_and_cost)
    quality = _estimate_m_all_by_system_and_experiment(study)
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


def _estimate_m_all_by_system_and_experiment(study: Study) -> pd.DataFrame:
    """Return the `mean` of M_all of each system and experiment, with its intervals."""
    scored = averages.select_and_weigh_averaged_cells(study.table, "m_all")
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


def score_against_cost_or_time_figure(
    time_and_cost: Table,
    cost_or_seconds: CostOrSeconds,
    scope: FigureScope = ALONE,
    benchmark_means: pd.DataFrame | None = None,
) -> Figure | None:
    """Draw a panel per experiment: a point per system, M_all and its intervals against the effort; None without one.

    The levels of one model have its look, their names and a line from each to the next. `benchmark_means` have the
    `mean` of systems and experiments, at which benchmarks' lines are: people have no cost.
    """
    data = time_and_cost.data.dropna(subset=["m_all", cost_or_seconds])
    data = data[data[cost_or_seconds] >= INSTANT] if cost_or_seconds == "seconds" else data
    if data.empty:
        return None
    models = group_effort_levels_by_model(data["system"].unique())
    model_of = {system: model for model, levels in models.items() for system in levels}
    systems = style.unique_labels(dict.fromkeys(model_of.get(name, name) for name in data["system"]), 34)
    note = (
        "Average of M_all over questions against the time or cost of an answer, with its intervals. "
        f"{'A line joins the levels of effort of one model. ' if models else ''}Here n is the number of answers. An "
        f"interval for policies like these is absent where it is unknown. {style.describe_m_all_bands(scope.bounds)}"
        f"{scope.note_missing_systems(data['system'], _LACK[cost_or_seconds])}"
        f"{'' if benchmark_means is None else scope.explain_benchmarks(benchmark_means['system'])}"
        f"{style.note_full_names(systems)} {time_and_cost.note}"
    )
    name, title = _NAMES[cost_or_seconds], _TITLES[cost_or_seconds]
    figure_table = Table(
        name,
        title,
        note,
        data.reset_index(drop=True),
        time_and_cost.headings,
        time_and_cost.formats,
        time_and_cost.aside,
    )
    # The panels of money and of time come in the same order, whichever of the two a row lacks.
    experiments = [
        experiment
        for experiment in style.distinct_values(time_and_cost.data["experiment"])
        if (data["experiment"] == experiment).any()
    ]
    # A model has the look that its least level has in the other figures.
    looks = scope.system_colours_and_markers(list(dict.fromkeys(data["system"])))
    marks = {system: looks[models[model_of[system]][0] if system in model_of else system] for system in looks}
    legend = [
        style.make_marker_legend_entry(label, **marks[models[name][0] if name in models else name])
        for name, label in systems.items()
    ]
    return Figure(
        name,
        title,
        note,
        figure_table,
        lambda: _draw_score_against_cost_or_time(
            data, cost_or_seconds, experiments, _SystemLooks(marks, legend, models, benchmark_means), scope
        ),
    )


class _SystemLooks(NamedTuple):
    """The colour and marker of each system, the entries of the legend, and the systems of each model by level.

    `benchmarks` have the averages at which lines are drawn.
    """

    marks: Mapping[Any, dict[str, Any]]
    legend: Sequence[style.Entry]
    models: Mapping[str, Sequence[str]]
    benchmarks: pd.DataFrame | None


def _draw_score_against_cost_or_time(
    data: pd.DataFrame, cost_or_seconds: CostOrSeconds, experiments: list[Any], looks: _SystemLooks, scope: FigureScope
) -> Canvas:
    down, across = style.panel_rows_and_columns(len(experiments), 2)
    foot = 0.35 + 0.1 * (len(looks.legend) + len(_LINES))
    drawing = style.make_canvas(style.WIDTH if across > 1 else style.COLUMN, down * 2.3 + foot)
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, experiment in zip(panels.flat, experiments, strict=False):
        style.draw_m_all_axis(axes, scope.bounds, value_axis="y")
        axes.set_title(style.shorten_drawn_name(str(experiment).capitalize(), 30))
        if looks.benchmarks is not None:
            in_panel = looks.benchmarks[looks.benchmarks["experiment"] == experiment]
            scope.draw_benchmark_lines(axes, in_panel.set_index("system")["mean"], "y")
        rows = data[data["experiment"] == experiment].sort_values(cost_or_seconds)
        for index, (_, row) in enumerate(rows.iterrows()):
            _draw_system_point(axes, row, cost_or_seconds, looks.marks[row["system"]])
            if len(rows) <= _FEW and not looks.models:
                _write_above_or_below_system_point(
                    axes, row, cost_or_seconds, f"n={row['answers']:.0f}", above=bool(index % 2)
                )
        for levels in looks.models.values():
            _draw_line_over_effort_levels(
                axes, rows.set_index("system").reindex(levels), cost_or_seconds, looks.marks[levels[0]]
            )
        if len(rows) > _FEW or looks.models:
            lowest, highest = int(rows["answers"].min()), int(rows["answers"].max())
            count_note = f"n={highest} each" if lowest == highest else f"n={lowest}\u2013{highest}"
            axes.text(0.02, 0.02, count_note, fontsize=style.TINY, transform=axes.transAxes)
    _scale_cost_or_time_axis(
        panels[0, 0],
        data[cost_or_seconds],
        _PER[cost_or_seconds],
        least_ratio_for_log_scale=_WIDE_LEVELS if looks.models else _WIDE,
    )
    for axes in panels[:, 0]:
        axes.set_ylabel(style.QUALITY)
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(experiments)):
        axes.set_xlabel(_AXES[cost_or_seconds])
        axes.tick_params(axis="x", labelbottom=True)
    ends = [style.make_marker_legend_entry(label, color=style.INK, **_LINES[end]) for end, label in _TARGETS.items()]
    style.draw_legend(
        drawing,
        [*looks.legend, *ends],
    )
    return drawing


def _draw_system_point(axes: Axes, row: pd.Series[Any], cost_or_seconds: CostOrSeconds, look: dict[str, Any]) -> None:
    at, mean = float(row[cost_or_seconds]), float(row["m_all"])
    for end, line in _LINES.items():
        low, high = row[end], row[end.replace("low", "high")]
        if not pd.isna(low):
            axes.plot([at, at], [low, high], color=look["color"], **line, zorder=2)
    axes.plot([at], [mean], **look, linestyle="none", markersize=5.5, markeredgecolor="white", zorder=3, clip_on=False)


def _draw_line_over_effort_levels(
    axes: Axes, level_rows: pd.DataFrame, cost_or_seconds: CostOrSeconds, look: dict[str, Any]
) -> None:
    """Join the points of a model's levels, and write the level at each."""
    plotted_rows = level_rows.dropna(subset=["m_all", cost_or_seconds])
    axes.plot(plotted_rows[cost_or_seconds], plotted_rows["m_all"], color=look["color"], linewidth=1.2, zorder=2.5)
    for index, (system, row) in enumerate(plotted_rows.iterrows()):
        _write_above_or_below_system_point(
            axes, row, cost_or_seconds, split_system_name_and_effort(str(system))[1], above=bool(index % 2)
        )


def _write_above_or_below_system_point(
    axes: Axes, row: pd.Series[Any], cost_or_seconds: CostOrSeconds, text: str, *, above: bool
) -> None:
    """Write above or below a system's average and its intervals, so that neighbours do not meet."""
    at = float(row[cost_or_seconds])
    axes.annotate(
        text,
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


def _scale_cost_or_time_axis(
    axes: Axes, values: pd.Series[Any], answers_per_value: int, *, least_ratio_for_log_scale: float
) -> None:
    """Scale the effort's axis: from 0, or logarithmic where it reaches far (with a place for what costs nothing)."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    positive = values[values > 0]
    if len(positive) and positive.max() / positive.min() > least_ratio_for_log_scale:
        free = len(positive) < len(values)
        axes.set_xscale("symlog" if free else "log", **({"linthresh": float(positive.min())} if free else {}))
        limits = -positive.min() * 0.3 if free else positive.min() / 2, positive.max() * 3
        powers = range(
            floor(log10(positive.min() * answers_per_value)) + free,
            floor(log10(positive.max() * answers_per_value)) + 1,
        )
        # Within two powers of ten these alone would be too few.
        steps = (1, 2, 5) if len(powers) <= 2 else (1,)  # noqa: PLR2004
        axes.set_xticks([0.0] * free + [step * 10.0**power / answers_per_value for power in powers for step in steps])
        axes.set_xlim(*limits)
    else:
        maximum = float(values.max()) or 1 / answers_per_value
        # What is near 0 keeps its mark and its n clear of the axis.
        axes.set_xlim(-0.1 * maximum, maximum * 1.2)
        ticks = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, maximum * answers_per_value)
        axes.set_xticks([tick / answers_per_value for tick in ticks if 0 <= tick <= maximum * answers_per_value * 1.15])
    axes.xaxis.set_major_formatter(lambda tick, _: f"{round(tick * answers_per_value, 9):g}")
    axes.xaxis.set_minor_locator(NullLocator())


_UNKNOWN = "Time and cost are not shown: neither time nor cost is known for any answer."


class CostChapter(ChapterMaker):
    """The chapter on the time, tokens and cost of the answers."""

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        spent, pace, levels = (
            time_and_cost_table(study),
            study_throughput_table(study),
            effort_level_differences_table(study),
        )
        lines = _estimate_m_all_by_system_and_experiment(study) if scope.benchmarks else None
        lead = "The time that the answers took, the pace at which they came and, where prices are known, their cost."
        return Chapter(
            "effort",
            "Time and cost",
            f"{describe_effort_level_differences(levels)} {lead}".strip(),
            nonempty_tables(levels, spent, pace, first_token_wait_table(study)),
            nonempty_figures(*(score_against_cost_or_time_figure(spent, effort, scope, lines) for effort in _PER)),
            [*([] if spent or study.table.empty else [_UNKNOWN]), *list_warnings_on_sparse_effort_levels(study)],
            first=("levels",),
        )
