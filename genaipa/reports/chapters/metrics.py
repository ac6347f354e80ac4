"""The metrics by question and by category, and the hardest questions (paper, section 7, figures 2b, 3b, 4b, 6b)."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics, metric_display_names
from genaipa.questions.annotations import SAID
from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS, LIKE_THESE
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, list_experiments_in_table, nonempty_tables
from genaipa.reports.figures import heatmap, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.figures.heatmap import HeatMapRows
from genaipa.reports.table import Table, make_table, metric_formats
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.stats.intervals import interval_of_mean_over_documents

if TYPE_CHECKING:
    from genaipa.answers.study import Study

_ASKED = ["system", "experiment", "question"]
_ENDS = ("policies_low", "policies_high")


def metrics_by_question_table(frame: pd.DataFrame) -> Table:
    """Return the metrics and M_all of every question, as means over documents."""
    means = averages.average_policy_questions(frame)
    means = means.merge(_intervals_of_question_metrics(frame, means), on=_ASKED, how="left")
    return make_table(
        "metrics-by-question",
        "The metrics by question",
        "Each metric (-1 to 1) and M_all (10 to 100) of a question: means over documents of the means over its answers "
        "and their scores. n is the number of documents, for the metrics (the fewest where they differ) and for M_all; "
        "0 where a study published only the mean over all of its documents: such a mean includes documents whose M_all "
        f"is excluded. A metric that was never scored is blank (paper, figures 2b, 3b, 4b and 6b). {LIKE_THESE} The "
        "interval is in CSV and JSON.",
        means.rename(columns={"metric_documents": "documents", "documents": "m_all_documents"}),
        (
            *("system", "experiment", "question", "category", "source"),
            *list_metrics(frame),
            *("m_all", "documents", "m_all_documents"),
        ),
        headings=metric_display_names(frame) | {"documents": "n of the metrics", "m_all_documents": "n of M_all"},
        formats=metric_formats(frame),
        aside=[*_ENDS, *(f"{metric}_{end}" for metric in list_metrics(frame) for end in _ENDS)],
    )


def _intervals_of_question_metrics(frame: pd.DataFrame, question_means: pd.DataFrame) -> pd.DataFrame:
    """Return the intervals of each question's metrics and M_all, where its mean is one over documents."""
    cells = averages.average_policy_questions_by_document(frame)
    single = cells[cells["document"] != ""]
    scales = {**{metric: (f"{metric}_", (-1.0, 1.0)) for metric in list_metrics(frame)}, "m_all": ("", M_ALL_RANGE)}
    values = {measure: single[measure].to_numpy(dtype="float64") for measure in scales}
    scored = (single["scores"] > 0).to_numpy()
    means_by_key = question_means.set_index(_ASKED)[list(scales)].to_dict("index")
    rows = []
    groups: Any = single.groupby(_ASKED, observed=True).indices
    for key, places in groups.items():
        intervals: dict[str, object] = dict(zip(_ASKED, key, strict=True))
        for measure, (before, limits) in scales.items():
            known_values = values[measure][places]
            known_values = known_values[~np.isnan(known_values)]
            # A published mean over documents is not that of the documents there are; and where nobody scored, a judge's
            # estimates don't say how far they are off.
            if (
                len(known_values)
                and np.isclose(known_values.mean(), means_by_key[key][measure])
                and scored[places].all()
            ):
                low, high = interval_of_mean_over_documents(known_values, limits)
                intervals |= {f"{before}policies_low": low, f"{before}policies_high": high}
        rows.append(intervals)
    columns = [*_ASKED, *(f"{before}{end}" for before, _ in scales.values() for end in _ENDS)]
    return pd.DataFrame(rows, columns=columns).astype({column: question_means[column].dtype for column in _ASKED})


def metrics_by_category_table(frame: pd.DataFrame) -> Table:
    """Return the metrics and M_all of every category, as means over its questions."""
    by = ["system", "experiment", "category"]
    means = averages.average_policy_questions(frame)
    data = averages.summarize_each_group(means, by, _average_metrics_and_count_questions)
    overall = averages.summarize_each_group(
        averages.select_and_weigh_averaged_cells(frame, "m_all"),
        by,
        lambda rows: averages.estimate_column_mean(rows, "m_all"),
    )
    columns = [*by, *list_metrics(frame), "m_all", *BOTH, "questions", "m_all_questions"]
    if len(data):
        overall = overall.reindex(columns=[*by, "n", "mean", *BOTH])
        data = data.merge(overall.rename(columns={"mean": "m_all", "n": "m_all_questions"}), on=by, how="left")
        data["m_all_questions"] = data["m_all_questions"].fillna(0).astype("int64")
    data = data.reindex(columns=columns)
    return make_table(
        "metrics-by-category",
        "The metrics by category of question",
        "Each metric (-1 to 1) and M_all (10 to 100, with its intervals): means over the questions of a category of "
        "their means over documents. n is the number of questions, for the metrics (the fewest where they differ) "
        "and for M_all: a question can have one without the other (paper, section 6). "
        f"{INTERVALS}{averages.note_few_questions(pd.concat([data['questions'], data['m_all_questions']]))}"
        f"{averages.note_few_documents(data)}",
        data,
        columns,
        headings=metric_display_names(frame) | {"questions": "n of the metrics", "m_all_questions": "n of M_all"},
        formats=metric_formats(frame),
    )


def _average_metrics_and_count_questions(rows: pd.DataFrame) -> dict[str, object]:
    return {
        **{metric: rows[metric].mean() for metric in list_metrics(rows)},
        "questions": min((n for n in map(int, rows[list_metrics(rows)].count()) if n), default=0),
    }


def easiest_and_hardest_questions_table(frame: pd.DataFrame, max_per_end: int = 5) -> Table:
    """Return the questions with the highest and the lowest M_all, and the documents that are silent on them.

    No question is among both, so that there are fewer of each where there are fewer than twice as many questions. A
    question that lacks a system or an experiment has no part, unless all do.
    """
    scored, lacking = _select_complete_questions_and_note_rest(
        _assign_published_means_to_documents(averages.average_policy_questions_by_document(frame))
    )
    means = averages.summarize_each_group(
        scored,
        ["question"],
        lambda rows: averages.estimate_column_mean_over_documents(rows, "m_all", ["system", "experiment"]),
    )
    columns = ["end", "rank", "question", "mean", "policies_low", "policies_high", "n", "silent"]
    data = pd.DataFrame(columns=columns)
    if len(means):
        silent = _name_silent_documents_by_question(frame)
        # A published mean over documents alone doesn't say over how many.
        if not scored["document"].ne("").any():
            means["n"] = 0
        means["silent"] = [silent.get(question, "") for question in means["question"]]
        easiest = means.sort_values("mean", ascending=False, kind="stable").head(min(max_per_end, ceil(len(means) / 2)))
        hardest = means.sort_values("mean", kind="stable").head(min(max_per_end, len(means) // 2))
        ends = (("easiest", 1, easiest), ("hardest", -1, hardest))
        data = pd.concat(
            [rows.assign(end=end, rank=averages.rank_means(sign * rows["mean"])) for end, sign, rows in ends]
        )
    return make_table(
        "easiest-and-hardest",
        "The easiest and the hardest questions",
        "M_all (10 to 100), averaged over the n documents, and then over systems and the original question and its "
        "paraphrases; where a study published only a mean over documents, that mean stands for each of them, and n is "
        "0 where nothing else is known. The table also lists the documents that are silent on the question, "
        f"according to their annotated answers (paper, section 7, table 2). Ties keep the order of the "
        f"questions. {lacking}{LIKE_THESE} "
        "That holds for a question chosen beforehand. These questions were chosen for their averages, so their true "
        "averages lie nearer to the middle, and more of them lie outside their "
        f"intervals.{averages.note_few_questions(data['n'], 'documents')}{averages.note_corrected_annotations(frame)}",
        data,
        columns,
    )


def _assign_published_means_to_documents(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of questions and paraphrases; each document gets a published mean over documents."""
    scored_cells = cells[cells["experiment"].isin(["quality", "robustness"]) & cells["m_all"].notna()]
    single = scored_cells[scored_cells["document"] != ""]
    keys = ["system", "experiment", "question"]
    whole = scored_cells[scored_cells["document"] == ""].merge(
        single[keys].drop_duplicates(), on=keys, how="left", indicator=True
    )
    whole = whole[whole["_merge"] == "left_only"].drop(columns="_merge")
    documents = [name for name in single["document"].unique() if name] or [""]
    return averages.stack_frames([single, *(whole.assign(document=name) for name in documents)])


def _select_complete_questions_and_note_rest(scored: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the cells of the questions that have a score of every system in every experiment that it has any in.

    And a sentence on the others. Where no question has them all, the cells of every question.
    """
    system_experiments = scored["system"].astype("str") + "\n" + scored["experiment"].astype("str")
    has = system_experiments.groupby(scored["question"], observed=True).nunique()
    complete = has[has == system_experiments.nunique()].index
    if len(complete) == len(has):
        return scored, ""
    if complete.empty:
        return scored, "No question has scores of every system in every experiment, which may affect the order. "
    lacking = len(has) - len(complete)
    sentence = f"Left out: {lacking} of {len(has)} questions, for which a system lacks scores in an experiment. "
    return scored[scored["question"].isin(complete)], sentence


def _name_silent_documents_by_question(frame: pd.DataFrame) -> dict[str, str]:
    """Question → the documents that are wholly silent on it: names, "none" or "all"; without those not known."""
    annotated_rows = averages.select_policy_rows(frame)
    annotated_rows = annotated_rows[annotated_rows["silent"].isin(SAID)].drop_duplicates(["question", "document"])
    silent = {}
    for question, rows in annotated_rows.groupby("question", observed=True, sort=True):
        names = sorted(rows.loc[rows["silent"] == "yes", "document"])
        silent[str(question)] = ("all" if len(names) == len(rows) else ", ".join(names)) if names else "none"
    return silent


_METRICS = "a score of the metrics in this experiment"


def metrics_by_question_map(metrics_by_question: Table, experiment: str, scope: FigureScope = ALONE) -> Figure | None:
    """Draw questions down, metrics across, a panel per system, for one experiment; None without a value."""
    data = _select_experiment_metric_rows(metrics_by_question, experiment, scope)
    if data.empty:
        return None
    groups, sources = style.map_questions_to_category_and_source(
        data, scope.sort_questions(style.distinct_values(data["question"]))
    )
    grid = HeatMapRows(
        data,
        ["question"],
        "documents",
        style.unique_labels(groups, 12),
        groups,
        sources,
        metrics_by_question.headings,
        scope.texts,
    )
    about = (
        f"Averages of the metrics by question, grouped by category. {style.SOURCES_IN_WORDS} n is the number of "
        "documents that the metrics are averaged over, the fewest where they differ, or 'mean' where the source "
        f"gives only the mean over its documents.{_note_missing_metrics(metrics_by_question, experiment, data, scope)}"
        f"{style.note_full_names(grid.labels)}"
    )
    return heatmap.metrics_heat_map_figure(
        style.make_figure_name(experiment, "metrics"), experiment, about, metrics_by_question, grid, scope.bounds
    )


def metrics_by_category_map(metrics_by_category: Table, experiment: str, scope: FigureScope = ALONE) -> Figure | None:
    """Draw categories down, metrics across, a panel per system, for one experiment; None without a value."""
    data = _select_experiment_metric_rows(metrics_by_category, experiment, scope)
    if data.empty:
        return None
    order = style.distinct_values(data["category"])
    labels = style.unique_labels(order, 18)
    grid = HeatMapRows(
        *(data, ["category"], "questions", labels, dict.fromkeys(order, "")),
        headings=metrics_by_category.headings,
        texts={name: scope.categories[name] for name in order if scope.categories.get(name, name) != name},
    )
    about = (
        "Averages of the metrics by category of questions. n is the number of questions that have these metrics, the "
        f"fewest where they differ.{scope.note_category_names(order)}"
        f"{scope.note_missing_systems(data['system'], _METRICS)}{style.note_full_names(grid.labels)}"
    )
    return heatmap.metrics_heat_map_figure(
        style.make_figure_name(experiment, "categories"), experiment, about, metrics_by_category, grid, scope.bounds
    )


def overall_score_map(metrics_by_question: Table, experiment: str, scope: FigureScope = ALONE) -> Figure | None:
    """Draw questions down, systems across, M_all in each cell, for one experiment; None without a value.

    `metrics_by_question` is that of the metrics by question.
    """
    name = style.make_figure_name(experiment, "overall")
    if not metrics_by_question:
        return None
    data = scope.select_rows_of_shown_systems(
        metrics_by_question.data[metrics_by_question.data["experiment"] == experiment].dropna(subset=["m_all"])
    )
    if data.empty:
        return None
    groups, sources = style.map_questions_to_category_and_source(
        data, scope.sort_questions(style.distinct_values(data["question"]))
    )
    make_labels = style.last_part_labels if scope.texts else style.unique_labels
    labels, systems = style.unique_labels(groups, 12), make_labels(style.distinct_values(data["system"]), 26)
    title = f"{style.experiment_heading(experiment)}: overall score by question and system"
    about = (
        f"M_all (10 to 100) of each question, by system. {style.SOURCES_IN_WORDS} n is the number of documents, or "
        "'mean' where the source gives only the mean over its "
        f"documents.{scope.note_missing_systems(data['system'], 'a score in this experiment')}"
        f"{style.note_full_names(labels)}{style.note_full_names(systems)}"
    )
    columns = ["system", "experiment", "question", "category", "source", "m_all", "documents"]
    map_data = data.assign(documents=data.get("m_all_documents", data["documents"]))
    figure_table = Table(
        name, title, about, map_data[columns].reset_index(drop=True), {"m_all": "M_all"}, {"m_all": ".1f"}
    )
    grid = HeatMapRows(map_data, ["question"], "documents", labels, groups, sources, texts=scope.texts)
    fits = int((style.WIDTH - 1.0) / heatmap.COLUMN)
    reading = f"{style.describe_m_all_bands(scope.bounds)} In a cell, {heatmap.SIGNS}"
    return Figure(
        name,
        title,
        about,
        figure_table,
        lambda: heatmap.draw_overall_score_map(grid, systems, scope.bounds, experiment),
        reading,
        fits,
        f"M_all of each question, by system: \u25cf from FAQs, \u25c6 from users.{grid.n_explanation_or_empty}",
        "overall",
    )


def _select_experiment_metric_rows(table: Table, experiment: str, scope: FigureScope) -> pd.DataFrame:
    if not table:
        return table.data
    return scope.select_rows_of_shown_systems(
        table.data[table.data["experiment"] == experiment].dropna(subset=list_metrics(table.data), how="all")
    )


def _note_missing_metrics(table: Table, experiment: str, drawn_rows: pd.DataFrame, scope: FigureScope) -> str:
    """Sentences on the systems and questions that have an M_all, and no metric."""
    experiment_questions = table.data[table.data["experiment"] == experiment]["question"]
    questions_note = (
        scope.note_missing_questions(drawn_rows["question"], experiment_questions, "metrics") if scope.systems else ""
    )
    return scope.note_missing_systems(drawn_rows["system"], _METRICS) + questions_note


class MetricsChapter(ChapterMaker):
    """Heat maps, one for each experiment."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        questions, categories = metrics_by_question_table(frame), metrics_by_category_table(frame)
        figures = scope.make_paged_figures(
            (
                *(
                    partial(overall_score_map, questions, experiment)
                    for experiment in _list_experiments_for_score_map(questions)
                ),
                *(
                    partial(metrics_by_question_map, questions, experiment)
                    for experiment in list_experiments_in_table(questions)
                ),
                *(
                    partial(metrics_by_category_map, categories, experiment)
                    for experiment in list_experiments_in_table(categories)
                ),
            ),
        )
        return Chapter(
            "metrics",
            "By metric and question",
            f"Strengths and weaknesses, averaged over documents. Bands: {scope.bounds.description}.",
            nonempty_tables(easiest_and_hardest_questions_table(frame), questions, categories),
            figures,
            [] if figures else ["There is no heat map: no counted score has values for single metrics."],
        )


def _list_experiments_for_score_map(metrics_by_question: Table) -> list[str]:
    """List the experiments with several systems, or questions without metrics, whose M_all can be compared."""
    experiments = []
    for experiment in list_experiments_in_table(metrics_by_question):
        rows = metrics_by_question.data[metrics_by_question.data["experiment"] == experiment].dropna(subset="m_all")
        if len(rows["system"].unique()) > 1 or rows[list_metrics(rows)].isna().any(axis=None):
            experiments.append(experiment)
    return experiments
