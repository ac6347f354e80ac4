"""The overall quality: systems ranked by M_all, and by where the questions come from (paper, sections 6 and 7).

The report's first picture has each system's average with its intervals, and beside it categories of questions. It is
read with the table of differences: two intervals that overlap don't say that two systems are alike.
"""

from __future__ import annotations

import functools
import textwrap
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from genaipa.reports import averages, matches, part
from genaipa.reports.answered import add_answered_column_if_any_unanswered
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters import documents, prompting
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_figures, nonempty_tables
from genaipa.reports.figures import forest, heatmap, style
from genaipa.reports.figures.figure import Figure, FigureScope
from genaipa.reports.judged.beside import (
    map_measures_to_display_names,
    people_judge_and_combined_means_table,
    scores_needed_forecast_table,
)
from genaipa.reports.judged.estimate import estimate_scores_with_judge_if_possible
from genaipa.reports.part import (
    drop_sparsely_scored_experiments,
    find_sparsely_scored_experiments,
    note_blank_leaderboard_cells,
    note_sparsely_scored_experiments,
    tabulate_average_bounds_with_unscored,
)
from genaipa.reports.table import Table, make_table
from genaipa.runs.experiments import EXPERIMENTS, StudyExperiment
from genaipa.stats.intervals import LEVEL
from genaipa.words import format_count, join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.scoring.rubric import BandBounds


_EXPERIMENTS = [name for name in get_args(StudyExperiment) if EXPERIMENTS[name].kind != "regulation"]
_BY = ["system", "experiment"]


def leaderboard_table(frame: pd.DataFrame) -> Table:
    """Rank systems by the mean over questions of their means over experiments, the best first.

    Experiments with too few scores and no finished wave are left blank, and don't count: a handful
    that shares its texts with answers scored elsewhere is not a sample. Where averages rest on a part of the answers,
    people see the column `scored`, which says on which part.
    """
    thin_counts, needed = find_sparsely_scored_experiments(frame), part.leaderboard_evidence_level(frame)
    frame = drop_sparsely_scored_experiments(frame)
    mean_of = functools.partial(averages.estimate_column_mean, column="m_all", confidence=needed.confidence)
    policies, estimate = averages.select_policy_rows(frame), estimate_scores_with_judge_if_possible(frame)
    averaged_frame = estimate.frame
    question_means = averages.average_policy_questions(averaged_frame).dropna(subset="m_all")
    cells = averages.select_and_weigh_averaged_cells(averaged_frame, "m_all")
    data = averages.summarize_each_group(cells, ["system"], mean_of)
    other_experiments = [
        name for name in question_means["experiment"].cat.categories if name in set(question_means["experiment"])
    ]
    columns = ["rank", "system", "m_all", *BOTH, *dict.fromkeys((*_EXPERIMENTS, *other_experiments))]
    judged = {name: estimate.describe_scored_answers(name) for name in estimate.estimated_groups["system"].unique()}
    partial = part.is_partly_scored(policies) or bool(judged)
    columns += ["answers", *(["scored"] if partial else []), "scored_by"]
    if len(data):
        means = question_means.pivot_table(index="system", columns="experiment", values="m_all", observed=True)
        data = data.rename(columns={"mean": "m_all"}).merge(means.reset_index(), on="system")
        data = data.merge(_answer_count_and_scorers_by_system(frame), on="system")
        data["scored"] = data["system"].map(part.describe_scored_part_by_system(policies) | judged)
        experiment_means = averages.summarize_each_group(cells, _BY, mean_of)
        for name, rows in experiment_means.groupby("experiment", observed=True):
            sure = rows[["system", *BOTH[:-1]]].rename(columns={end: f"{name}_{end}" for end in BOTH[:-1]})
            data = data.merge(sure, on="system", how="left")
        data = data.sort_values("m_all", ascending=False, kind="stable")
        data["rank"] = averages.rank_means(data["m_all"])
    leaderboard = make_table(
        "leaderboard",
        "Leaderboard",
        f"{needed.prefix_or_empty}Systems by M_all (10 to 100): each question's mean over the experiments that it is "
        "scored in, each a mean over documents, averaged over questions. An experiment's own column averages its "
        "questions. `answers` is the number of answers, or published scores, behind an average. The intervals are for "
        "one system; `genaipa compare` tests whether two systems differ (paper, sections 6 and 7), using "
        "only what both "
        "have, so its averages may differ from these. The intervals of single experiments are in CSV and JSON. "
        f"{averages.explain_both_intervals(needed.confidence)}{averages.note_few_documents(data)}"
        f"{note_blank_leaderboard_cells(thin_counts)}"
        f"{averages.note_differing_scored_questions(averaged_frame, question_means)}"
        f"{part.describe_scored_parts_if_partial(policies)}{estimate.note_estimates_if_any()}",
        data,
        columns,
        formats=dict.fromkeys((*_EXPERIMENTS, *other_experiments), ".1f"),
        aside=[
            *([] if partial else ["scored"]),
            *(f"{name}_{end}" for name in dict.fromkeys((*_EXPERIMENTS, *other_experiments)) for end in BOTH[:-1]),
        ],
    )
    return prompting.add_prompts_column_and_note(
        add_answered_column_if_any_unanswered(leaderboard, frame), averages.select_policy_rows(frame[frame["counted"]])
    )


def rank_systems_unscored_last(frame: pd.DataFrame) -> list[str]:
    """Return the systems, the best first, as the leaderboard has them, and those without an average last."""
    cells = averages.select_and_weigh_averaged_cells(
        estimate_scores_with_judge_if_possible(drop_sparsely_scored_experiments(frame)).frame, "m_all"
    ).dropna(subset="m_all")
    means = cells["m_all"].mul(cells["weight"]).groupby(cells["system"], observed=True).sum()
    means /= cells.groupby("system", observed=True)["weight"].sum()
    ranked = [str(name) for name in means.round(9).sort_values(ascending=False, kind="stable").index]
    return [*ranked, *(name for name in frame["system"].cat.categories if name not in set(ranked))]


_NAMED = 5
"""Systems without a place that a sentence names."""


def note_unranked_systems(frame: pd.DataFrame) -> str:
    """Name the systems that were asked about policies and have no place in the leaderboard, each with the reason.

    Empty where all have one, or none.
    """
    averaged_frame = estimate_scores_with_judge_if_possible(drop_sparsely_scored_experiments(frame)).frame
    means = averages.average_policy_questions(averaged_frame).dropna(subset="m_all")
    ranked, policies = set(means["system"].astype(str)), averages.select_policy_rows(frame)
    unranked = [name for name in map(str, policies["system"].unique()) if name not in ranked]
    if not ranked or not unranked:
        return ""
    answered = set(policies.loc[policies["answer"] != "", "system"].astype(str))
    sparse_counts = find_sparsely_scored_experiments(frame)
    reasons = []
    for system in unranked:
        counts = [numbers for (name, _), numbers in sparse_counts.items() if name == system]
        scored, question_count = (sum(numbers) for numbers in zip(*counts, strict=True)) if counts else (0, 0)
        reason = f"{scored:,} of {format_count(question_count, 'question')} scored" if counts else "not scored"
        reasons.append(f"{system} ({reason if counts or system in answered else 'no answer'})")
    sparse = f"; less than {part.LEAST_SCORED:.0%} scored is no sample" if sparse_counts else ""
    return f"Not in the leaderboard: {join_some(reasons, _NAMED)}{sparse}."


def note_unlike_scored_questions(frame: pd.DataFrame) -> str:
    """Return a sentence where systems of a leaderboard were scored on different questions or documents; else empty."""
    averaged_frame = estimate_scores_with_judge_if_possible(drop_sparsely_scored_experiments(frame)).frame
    means = averages.average_policy_questions(averaged_frame).dropna(subset="m_all")
    if not averages.has_differing_scored_questions(averaged_frame, means):
        return ""
    experiments = describe_differing_experiments(means)
    differing = f"in different experiments ({experiments})" if experiments else "on different questions and documents"
    advice = "compare them by their differences over what both have, not by their averages"
    return f"Systems were scored {differing}: {advice}."


def describe_differing_experiments(rows: pd.DataFrame) -> str:
    """Return which systems' averages hold which experiments; empty where all hold the same."""
    systems_by_experiments: dict[tuple[str, ...], list[str]] = {}
    for system, experiments in _map_systems_to_experiments(rows).items():
        systems_by_experiments.setdefault(experiments, []).append(system)
    if len(systems_by_experiments) <= 1:
        return ""
    return "; ".join(
        f"{join_names(experiments)}: {join_some(systems, _NAMED)}"
        for experiments, systems in systems_by_experiments.items()
    )


def _map_systems_to_experiments(rows: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Map each system to the experiments that its rows are of, in their order."""
    return {
        str(system): tuple(map(str, group["experiment"].cat.remove_unused_categories().cat.categories))
        for system, group in rows.groupby("system", observed=True, sort=True)
    }


def _answer_count_and_scorers_by_system(frame: pd.DataFrame) -> pd.DataFrame:
    """For each system, how many answers or published scores its averages rest on, and who gave the scores."""
    rows = averages.select_policy_rows(frame[frame["counted"]])
    return averages.summarize_each_group(
        rows,
        ["system"],
        lambda group: {"answers": _count_answers_and_published_scores(group), "scored_by": _describe_scorers(group)},
    )


def _count_answers_and_published_scores(rows: pd.DataFrame) -> int:
    """Count answers and published scores; a mean over documents counts only where its question has no other."""
    single = rows[rows["document"] != ""]
    keys = ["experiment", "question"]
    whole = rows.loc[rows["document"] == "", keys].drop_duplicates()
    alone = whole.merge(single[keys].drop_duplicates(), on=keys, how="left", indicator=True)["_merge"] == "left_only"
    published = int((single["unit"] == "table").sum())
    return len(single.loc[single["unit"] == "answer"].drop_duplicates(["run", "key"])) + published + int(alone.sum())


def _describe_scorers(rows: pd.DataFrame) -> str:
    analysts = rows.loc[rows["unit"] == "answer", "analyst"].nunique()
    people = format_count(analysts, "analyst")
    if (rows["unit"] == "table").any():
        return f"published, {people}" if analysts else "published"
    return people


def analyst_dependence_table(frame: pd.DataFrame) -> Table:
    """Show how far each system's average depends on who scored."""
    columns = ["system", "analysts", "mean", "policies_low", "policies_high", "analysts_low", "analysts_high"]
    columns += ["least", "most", "why"]
    return make_table(
        "who-scored",
        "How averages depend on who scored",
        "M_all (10 to 100). All other intervals are for the analysts who scored; \u201cfor analysts like these\u201d "
        "is for other policies and other analysts. The last two columns are the lowest and the highest average of the "
        "same answers with one analyst left out; where only that analyst scored, the amount by which they score above "
        "others is subtracted.",
        averages.summarize_dependence_on_analysts(frame).reindex(columns=columns),
        columns,
        headings={
            "analysts_low": "for analysts like these",
            "analysts_high": "to",
            "least": "with one left out",
            "most": "to",
        },
        formats=dict.fromkeys(("analysts_low", "analysts_high", "least", "most"), ".1f"),
    )


def scores_by_question_source_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all over questions from FAQs and over users' questions, by system."""
    estimate = estimate_scores_with_judge_if_possible(frame)
    frame = estimate.frame
    question_means = averages.average_policy_questions(frame).dropna(subset="m_all")
    rows = [
        {"system": system, "questions": group, **averages.estimate_column_mean(group_rows, "m_all")}
        for system, system_rows in averages.select_and_weigh_averaged_cells(frame, "m_all").groupby(
            "system", observed=True, sort=True
        )
        for group, group_rows in averages.iterate_overall_source_and_category_rows(system_rows)
        if group != "all"
    ]
    columns = ["system", "questions", "n", "mean", *BOTH]
    data = pd.DataFrame(rows, columns=columns)
    return make_table(
        "faq-against-user",
        "Questions from FAQs and from users",
        "M_all (10 to 100): each question's mean over the experiments that it is scored in, each a mean over "
        "documents, averaged over questions; n is the number of questions (paper, section 7). Experiments: "
        f"{_describe_averaged_experiments(question_means)}. {averages.explain_intervals_and_small_n(data)}"
        f"{averages.note_differing_scored_questions(frame, question_means)}{estimate.note_estimates_if_any()}",
        data,
        columns,
    )


def averages_of_each_metric_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all and each metric, by system, experiment and source of the questions, with their intervals."""
    policies, estimate = averages.select_policy_rows(frame), estimate_scores_with_judge_if_possible(frame)
    averaged_frame, note = estimate.frame, estimate.note_estimates_if_any()
    scored_parts = {
        (row.system, row.experiment): str(row.part)
        for row in part.measure_scored_part_per_experiment(policies).itertuples()
    }
    columns = ["system", "experiment", "measure", "questions", "n", "mean", *BOTH, "scored"]
    rows = [
        {"system": system, "experiment": experiment, "measure": name, "questions": group, **mean, "scored": scored}
        for measure, name in map_measures_to_display_names(frame).items()
        for (system, experiment), system_rows in averages.select_and_weigh_averaged_cells(
            averaged_frame, measure
        ).groupby(_BY, observed=True, sort=True)
        for basis in [estimate.describe_scored_answers(str(system), str(experiment), measure=measure)]
        for scored in [basis or scored_parts.get((str(system), str(experiment)), "")]
        for group, group_rows in averages.iterate_overall_source_and_category_rows(system_rows)
        for mean in [averages.estimate_column_mean(group_rows, measure, None if measure == "m_all" else (-1.0, 1.0))]
    ]
    data = pd.DataFrame(rows, columns=columns).astype({"system": frame["system"].dtype})
    printed = columns if part.is_partly_scored(policies) or note else columns[:-1]
    return make_table(
        "averages",
        "Averages of M_all and of each metric",
        "M_all (10 to 100) and the metrics (-1 to 1): means over n questions of their means over documents, for all "
        "questions and for those from FAQs and from users; `documents` is the number of documents, 0 where a study "
        f"published only means over them (paper, section 6). {averages.explain_intervals_and_small_n(data)}{note}",
        data.sort_values(["system", "experiment"], kind="stable"),
        printed,
        formats=dict.fromkeys(("mean", *BOTH[:-1]), ".2f"),
        aside=columns[len(printed) :],
    )


def _describe_averaged_experiments(question_means: pd.DataFrame) -> str:
    """Return the experiments that means over documents are of; by system, where these differ."""
    names = {name: ", ".join(experiments) for name, experiments in _map_systems_to_experiments(question_means).items()}
    if len(set(names.values())) <= 1:
        return next(iter(names.values()), "none")
    return "; ".join(f"{experiments} ({name})" for name, experiments in names.items())


class OverallChapter(ChapterMaker):
    """The first picture, the leaderboard, the differences, and M_all in five numbers and by source."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        ranked, thin_note = leaderboard_table(frame), note_sparsely_scored_experiments(frame)
        cells = averages.select_and_weigh_averaged_cells(
            estimate_scores_with_judge_if_possible(drop_sparsely_scored_experiments(frame)).frame, "m_all"
        )
        numbers = tabulate_systems_by_category(ranked, cells, part.leaderboard_evidence_level(frame).confidence)
        return Chapter(
            "overall",
            "Overall quality",
            "M_all combines the metrics of an answer into one number from 10 (worst) to 100 (best).",
            nonempty_tables(
                *(
                    ranked,
                    *matches.system_difference_and_rank_tables(frame),
                    analyst_dependence_table(frame),
                    tabulate_average_bounds_with_unscored(frame),
                ),
                *(people_judge_and_combined_means_table(frame, study.log.counted), scores_needed_forecast_table(frame)),
                *(
                    averages_of_each_metric_table(frame),
                    documents.five_number_summary_by_document_table(frame),
                    scores_by_question_source_table(frame),
                ),
            ),
            nonempty_figures(systems_by_category_figure(numbers, scope)),
            [
                *([] if ranked or not thin_note else [f"There is no leaderboard. {thin_note}"]),
                *filter(None, [matches.explain_missing_pairs_if_too_many(len(ranked.data))]),
            ],
        )


OVERVIEW = "overview"
_MOST = 8
"""Systems that are drawn, the best first."""
_ROW, _HEAD = 0.235, 0.62
"""Inches of a row, and of what is above and below the rows."""
_WRAPPED = 27
"""Characters of a category's name in a line."""
_ROOM = 12.0
"""Behind 100, for the number beside each interval."""


def tabulate_systems_by_category(leaderboard: Table, weighted_cells: pd.DataFrame, confidence: float = LEVEL) -> Table:
    """Averages of the systems of a leaderboard over all questions (category `all`), and over each category.

    `weighted_cells` are the weighted cells (`averages.select_and_weigh_averaged_cells`) that the leaderboard averages;
    `confidence` is that of its intervals.
    """
    systems = list(leaderboard.data["system"])[:_MOST]
    columns = ["system", "category", "mean", *BOTH]
    whole = leaderboard.data.head(_MOST).rename(columns={"m_all": "mean"}).assign(category="all")
    mean_of = functools.partial(averages.estimate_column_mean, column="m_all", confidence=confidence)
    rows = averages.summarize_each_group(weighted_cells, ["system", "category"], mean_of)
    rows = rows[rows["system"].isin(systems) & (rows["category"].astype(str) != "")]
    numbers = pd.concat([whole, rows.astype({"system": str, "category": str})])[columns]
    # One category says what the average says.
    numbers = numbers if len(set(rows["category"])) > 1 else numbers[numbers["category"] == "all"]
    omitted = len(leaderboard.data) - len(systems)
    experiments = describe_differing_experiments(weighted_cells[weighted_cells["system"].isin(systems)])
    return make_table(
        OVERVIEW,
        "Systems and their strengths",
        "M_all (10 to 100) of each system over all questions, and over each category of questions, with intervals of "
        f"{100 * confidence:g} %."
        f"{f' Averages hold different experiments ({experiments}).' if experiments else ''}"
        f"{f' Only the best {_MOST} are shown; {omitted:,} more are in the leaderboard.' if omitted > 0 else ''}",
        numbers,
        columns,
    )


def systems_by_category_figure(numbers: Table, scope: FigureScope) -> Figure | None:
    """Draw systems down with both intervals, and categories down with systems across; None without a system."""
    if not numbers:
        return None
    systems = style.last_part_labels(dict.fromkeys(numbers.data["system"]), 20)
    note = f"{numbers.note} {forest.READING} {style.describe_m_all_bands(scope.bounds)}"
    note += f"{scope.explain_benchmarks(systems)}{style.note_full_names(systems)}"
    data = numbers.data
    return Figure(
        OVERVIEW,
        numbers.title,
        note,
        numbers,
        lambda: _draw_systems_by_category(data, systems, scope),
        caption=numbers.note,
        layouts={"column": lambda: _draw_systems_by_category_in_column(data, systems, scope)},
    )


def _draw_systems_by_category_in_column(
    data: pd.DataFrame, label_by_system: Mapping[Any, str], scope: FigureScope
) -> Canvas:
    """Draw the systems over their categories, as wide as a column of a paper."""
    categories = [name for name in dict.fromkeys(data["category"]) if name != "all"]
    whole, heads = _ROW * len(label_by_system) * 1.2 + _HEAD, 0.3 + _ROW * len(categories)
    drawing = style.make_canvas(style.COLUMN, whole + (heads + 0.1 if categories else 0.0))
    if not categories:
        _draw_system_averages(drawing.subplots(), data, label_by_system, scope)
        return drawing
    above, below = drawing.subplots(2, 1, height_ratios=(whole, heads))
    _draw_system_averages(above, data[data["category"] == "all"], label_by_system, scope)
    names = {name: scope.categories.get(name, name) for name in categories}
    _draw_category_cells(below, data, label_by_system, names, scope.bounds)
    return drawing


def _draw_systems_by_category(data: pd.DataFrame, label_by_system: Mapping[Any, str], scope: FigureScope) -> Canvas:
    categories = [name for name in dict.fromkeys(data["category"]) if name != "all"]
    rows = max(len(label_by_system) * 1.3, len(categories))
    drawing = style.make_canvas(style.WIDTH, _ROW * rows + _HEAD + 0.25)
    if not categories:
        _draw_system_averages(drawing.subplots(), data, label_by_system, scope)
        return drawing
    # The names of the categories take about as much as five columns.
    across = (3.1, 0.55 * len(label_by_system))
    systems_axes, categories_axes = drawing.subplots(1, 2, width_ratios=across)
    _draw_system_averages(systems_axes, data[data["category"] == "all"], label_by_system, scope)
    _draw_category_cells(
        categories_axes,
        data,
        label_by_system,
        {name: scope.categories.get(name, name) for name in categories},
        scope.bounds,
    )
    return drawing


def _draw_system_averages(
    axes: Axes, data: pd.DataFrame, label_by_system: Mapping[Any, str], scope: FigureScope
) -> None:
    style.draw_m_all_axis(axes, scope.bounds, room_beyond_100=_ROOM)
    marks = scope.system_colours_and_markers(list(label_by_system))
    scope.draw_benchmark_lines(axes, data.set_index("system")["mean"])
    for index, row in enumerate(data.to_dict("records")):
        forest.draw_mean_with_intervals(axes, row, index, marks[row["system"]])
        axes.text(103, index, f"{row['mean']:.0f}", va="center", weight="bold", fontsize=style.TEXT)
    axes.set_yticks(range(len(label_by_system)), list(label_by_system.values()))
    axes.set_ylim(len(label_by_system) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("M_all, with its intervals")


def _draw_category_cells(
    axes: Axes,
    data: pd.DataFrame,
    label_by_system: Mapping[Any, str],
    name_by_category: Mapping[str, str],
    bounds: BandBounds,
) -> None:
    values = data.pivot_table(index="category", columns="system", values="mean", sort=False)
    values = values.reindex(index=list(name_by_category), columns=list(label_by_system)).astype("float64").round(9)
    heatmap.draw_overall_score_cells(axes, values, bounds)
    names = [
        "\n".join(textwrap.wrap(style.shorten_drawn_name(name, 2 * _WRAPPED), _WRAPPED))
        for name in name_by_category.values()
    ]
    small = style.TINY if any("\n" in name for name in names) else style.SMALL
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=small, linespacing=0.95)
    _label_system_columns(axes, list(label_by_system.values()))
    axes.set_ylim(len(names), 0)
    axes.set_xlim(0, len(label_by_system))
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)


def _label_system_columns(axes: Axes, names: Sequence[str]) -> None:
    """Write the systems above their columns: level where they are short, else slanted."""
    level = max(map(len, names)) <= 11 and len(names) <= 4  # noqa: PLR2004 - what fits
    look: dict[str, Any] = {} if level else {"rotation": 30, "ha": "left", "rotation_mode": "anchor"}
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(names)) + (0.5 if level else 0.3), list(names), **look)
