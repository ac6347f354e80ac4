"""M_all by document: points, box plots and ranks (paper, section 7, figures 2a, 3a, 4a and 6a)."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages, matches
from genaipa.reports.analysts import note_confounded_analysts
from genaipa.reports.averages import THESE
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, list_experiments_in_table, nonempty_tables
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.evidence import measure_evidence_level
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.significance import OTHER_PEOPLE
from genaipa.reports.table import Table, make_table
from genaipa.stats.tests import adjust_p_by_holm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study

_LOOKS: dict[str, dict[str, Any]] = {
    "all": {"facecolor": "#d9d9d9"},
    "faq": {"facecolor": "#b9d9ee"},
    "user": {"facecolor": "#f7cfb4", "hatch": "////"},
}
"""Group of questions → its boxes, from the top of a document's rows."""
_NUMBERS = ["minimum", "q1", "median", "q3", "maximum"]
_GAP = 0.7
"""Rows left between documents."""
_ABREAST = 3
"""Systems side by side."""
_FOOT = 0.95
"""Inches of the experiment's name, the axis and the legend."""
_MANY = 8
"""More documents than these are drawn closer together."""
_N_AT, _ROOM = 104.0, 17.0
"""Position of n on the axis of M_all, and its width."""
_COMPARED = 30
"""Most documents whose pairs are compared; of more, no rank would be known."""
_OTHERS = "Documents that different people scored are not compared. "
_SCORED = ("silent", "m_all", "answers", "scores")
_NO_PAIRS = f"Of more than {_COMPARED} documents no pairs are compared, and these two ranks are blank. "


def scores_by_question_and_document_table(frame: pd.DataFrame) -> Table:
    """Tabulate M_all of every question about every document: the points behind the box plots."""
    cells = averages.select_scored_rows_naming_a_document(averages.average_policy_questions_by_document(frame))
    return make_table(
        "scores-by-question",
        "M_all of every question about every document",
        "M_all (10 to 100), averaged over the answers to a question about a document, and over the scores of "
        "each; `answers` and `scores` say how many there are (a published score counts as one of each). Questions "
        "that nobody scored are left out (paper, section 5).",
        cells,
        ("system", "experiment", "document", "question", "category", "source", *_SCORED),
        headings={"silent": "document silent"},
    )


def five_number_summary_by_document_table(frame: pd.DataFrame) -> Table:
    """Tabulate minimum, quartiles, median, maximum and mean of M_all over questions, by document."""
    cells = averages.select_scored_rows_naming_a_document(averages.average_policy_questions_by_document(frame))
    by = ["system", "experiment", "document"]
    rows = [
        {
            **dict(zip(by, key, strict=True)),
            "questions": group,
            **_five_number_summary(group_rows["m_all"]),
            **mean,
        }
        for key, document_rows in cells.groupby(by, observed=True, sort=True)
        for group, group_rows in averages.iterate_overall_source_and_category_rows(document_rows)
        for mean in [averages.estimate_column_mean(group_rows, "m_all")]
    ]
    columns = [*by, "questions", "n", *_NUMBERS, "mean", "low", "high"]
    data = pd.DataFrame(rows, columns=columns)
    return make_table(
        "five-numbers",
        "Scores by document, in five numbers",
        "M_all (10 to 100) over the n questions asked about a document, and over those from FAQs and from users: "
        "minimum, quartiles (interpolated linearly), maximum, and the mean with its interval (paper, figures 2a, 3a, "
        f"4a and 6a). {THESE}{averages.note_few_questions(data['n'])}",
        data,
        columns,
        formats=dict.fromkeys(_NUMBERS, ".2f"),
    )


def _five_number_summary(values: pd.Series) -> dict[str, float]:
    return dict(zip(_NUMBERS, values.quantile([0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))


def document_ranks_over_all_systems_table(frame: pd.DataFrame) -> Table:
    """Rank the documents by their M_all over all systems, experiments and questions."""
    scored = averages.select_scored_rows_naming_a_document(averages.average_policy_questions_by_document(frame))
    columns = ["rank", "document", "n", "mean", "low", "high", "from", "to"]
    means = averages.summarize_each_group(
        scored, ["document"], lambda rows: averages.estimate_column_mean(rows, "m_all")
    )
    data, has_others = pd.DataFrame(columns=columns), False
    if len(means):
        data = means.sort_values("mean", ascending=False, kind="stable")
        data["rank"] = averages.rank_means(data["mean"])
        places, has_others = _document_ranks_and_has_confounded_pair(scored, frame)
        data = data.merge(places, on="document", how="left")
    return make_table(
        "documents-ranked",
        "Documents, best answered first",
        "M_all (10 to 100) over all systems, experiments and questions; n is the number of questions (paper, section "
        "7). A document's rank lies between the two ranks shown: only differences between documents that hold for "
        "other questions (Holm, over all pairs) decide it. "
        f"{measure_evidence_level(averages.select_policy_rows(frame)).prefix_or_empty}{_OTHERS if has_others else ''}"
        f"{_NO_PAIRS if len(data) > _COMPARED else ''}"
        f"{_note_unequally_scored_documents(scored)}{THESE}{averages.note_few_questions(data['n'])}",
        data,
        columns,
        headings={"from": "rank from", "to": "to"},
    )


def _document_ranks_and_has_confounded_pair(
    scored_cells: pd.DataFrame, frame: pd.DataFrame
) -> tuple[pd.DataFrame, bool]:
    """Return the least and the greatest rank of each document, by what the same systems gave to the same questions.

    Beside it, whether a pair is left open because other people scored the one document than the other.
    """
    people = {str(name): rows for name, rows in frame[frame["counted"]].groupby("document", observed=True)}
    cells = scored_cells.astype({"document": "str"}).pivot_table(
        index=["system", "experiment", "question"], columns="document", values="m_all", observed=True
    )
    rows, needed = [], measure_evidence_level(averages.select_policy_rows(frame))
    for first, second in combinations(cells.columns, 2) if len(cells.columns) <= _COMPARED else ():
        apart = (cells[first] - cells[second]).dropna()
        estimate = estimate_crossed_mean(apart, apart.index.get_level_values("question"), [""] * len(apart))
        p = estimate.p if estimate.questions >= needed.least_questions else np.nan
        meaning = OTHER_PEOPLE if note_confounded_analysts(*(people[name] for name in (first, second))) else ""
        rows.append({"first": first, "second": second, "difference": estimate.mean, "p": p, "meaning": meaning})
    pairs = pd.DataFrame(rows, columns=["first", "second", "difference", "p", "meaning"])
    pairs["p_holm"] = pairs["policies_p_holm"] = adjust_p_by_holm(pairs["p"].tolist())
    pairs["level"] = needed.p
    found_ranks = matches.possible_rank_ranges(pairs).rename(columns={"system": "document", "rank": "from"})
    return found_ranks[["document", "from", "to"]], bool((pairs["meaning"] == OTHER_PEOPLE).any())


def _note_unequally_scored_documents(scored_cells: pd.DataFrame) -> str:
    """Return a sentence where documents differ in what was scored about them."""
    score_sets = {
        frozenset(zip(rows["system"], rows["experiment"], rows["question"], strict=True))
        for _, rows in scored_cells.groupby("document", observed=True)
    }
    if len(score_sets) < 2:  # noqa: PLR2004 - one and the same for all
        return ""
    return (
        "Not all documents have scores for the same systems, experiments and questions, which may affect their ranks. "
    )


def document_box_plots_figure(
    question_scores: Table, five_numbers: Table, experiment: str, scope: FigureScope = ALONE
) -> Figure | None:
    """Draw box plots of an experiment: a panel a system, documents down, boxes for all, FAQ and user questions.

    `question_scores` is the table of the scores by question, `five_numbers` that of the boxes; None without a box.
    """
    boxes = _select_experiment_rows_with_document(five_numbers, experiment).dropna(subset=_NUMBERS)
    boxes = scope.select_rows_of_shown_systems(boxes[boxes["questions"].isin(_LOOKS)])
    if boxes.empty:
        return None
    dots = scope.select_rows_of_shown_systems(
        _select_experiment_rows_with_document(question_scores, experiment).dropna(subset=["m_all"])
    )
    systems = style.unique_labels(style.distinct_values(boxes["system"]))
    documents = style.unique_labels(style.distinct_values(boxes["document"]), 16)
    reading = (
        "Overall quality (M_all) of each question, by document. Box: quartiles and median; whiskers: minimum and "
        f"maximum; each point is a question; n is the number of questions. {style.describe_m_all_bands(scope.bounds)}"
    )
    # By itself a figure knows the systems of its tables.
    among = scope if scope.systems else FigureScope(tuple(map(str, style.distinct_values(five_numbers.data["system"]))))
    absent = among.note_missing_systems(boxes["system"], "a score by document in this experiment")
    names = f"{scope.explain_benchmarks(systems)}{style.note_full_names(systems)}{style.note_full_names(documents)}"
    about = f"{averages.note_few_questions(boxes['n'])}{absent}{names}".strip()
    name, title = style.make_figure_name(experiment, "by-document"), style.experiment_heading(experiment)
    table = Table(name, title, reading, _stack_box_and_point_rows(boxes, dots))
    groups = [group for group in _LOOKS if group in set(boxes["questions"])]
    fits = _ABREAST * max(int((style.HEIGHT - _FOOT) / _box_panel_height_inches(groups, documents)), 1)
    return Figure(
        name,
        title,
        about,
        table,
        lambda: _draw_box_plots(boxes, dots, systems, documents, scope, experiment),
        reading,
        fits,
        "Each point is a question; a box holds the middle half of them, and its whiskers end at the lowest and the "
        "highest.",
        "by-document",
    )


def _box_panel_height_inches(groups: list[str], label_by_document: dict[Any, str]) -> float:
    pitch = 0.15 if len(label_by_document) <= _MANY else 0.115
    return pitch * (len(groups) + _GAP) * len(label_by_document) + 0.3


def _select_experiment_rows_with_document(table: Table, experiment: str) -> pd.DataFrame:
    if not table:
        return pd.DataFrame(columns=["system", "document", "questions", "source", "question", "m_all", *_NUMBERS])
    return table.data[(table.data["experiment"] == experiment) & (table.data["document"] != "")]


def _stack_box_and_point_rows(boxes: pd.DataFrame, dots: pd.DataFrame) -> pd.DataFrame:
    columns = ["mark", "system", "document", "questions", "question", "m_all", "n", *_NUMBERS]
    parts = [boxes.assign(mark="box"), dots.assign(mark="point", questions=dots["source"])]
    rows = [part.reindex(columns=columns).astype(dict.fromkeys(columns[:5], object)) for part in parts if len(part)]
    return pd.concat(rows, ignore_index=True)


def _draw_box_plots(
    boxes: pd.DataFrame,
    dots: pd.DataFrame,
    label_by_system: dict[Any, str],
    label_by_document: dict[Any, str],
    scope: FigureScope,
    experiment: str,
) -> Canvas:
    groups = [group for group in _LOOKS if group in set(boxes["questions"])]
    down, across = style.panel_rows_and_columns(len(label_by_system), _ABREAST)
    drawing = style.make_canvas(
        style.COLUMN if across == 1 else style.WIDTH, down * _box_panel_height_inches(groups, label_by_document) + _FOOT
    )
    style.write_figure_heading(drawing, experiment)
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    middle = (len(groups) - 1) / 2
    places = {document: position * (len(groups) + _GAP) for position, document in enumerate(label_by_document)}
    question_means = dots.groupby(["system", "question"], observed=True)["m_all"].mean()
    means = question_means.groupby("system", observed=True).mean()
    for axes, (system, label) in zip(panels.flat, label_by_system.items(), strict=False):
        style.draw_m_all_axis(axes, scope.bounds, room_beyond_100=_ROOM)
        scope.draw_benchmark_lines(axes, means, labelled=False)
        axes.set_title(label, pad=12)
        _draw_system_boxes(axes, boxes[boxes["system"] == system], dots[dots["system"] == system], places, groups)
        axes.tick_params(axis="y", length=0)
    panels.flat[0].set_ylim(max(places.values()) + len(groups) - 0.4, -0.6)
    for axes in panels[:, 0]:
        style.write_row_labels(
            axes, label_by_document, {}, row_starts=[position + middle for position in places.values()]
        )
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(label_by_system)):
        axes.set_xlabel(style.QUALITY)
        axes.tick_params(axis="x", labelbottom=True)
    style.draw_legend(drawing, [*_box_legend_entries(groups), *scope.list_benchmark_legend_entries(means)])
    return drawing


def _draw_system_boxes(
    axes: Axes, boxes: pd.DataFrame, dots: pd.DataFrame, height_by_document: dict[Any, float], groups: list[str]
) -> None:
    """Draw the boxes and points of one system, with n beside each box, and a word where there is nothing."""
    for document, top in height_by_document.items():
        document_boxes = boxes[boxes["document"] == document].set_index("questions")
        points = dots[dots["document"] == document]
        if document_boxes.empty:
            axes.text(12, top + (len(groups) - 1) / 2, "no scores", **style.ABSENT, va="center")
        for offset, group in enumerate(groups):
            if group in document_boxes.index:
                box = document_boxes.loc[group]
                _draw_box(axes, box, top + offset, _LOOKS[group])
                axes.text(_N_AT, top + offset, f"n={box['n']:.0f}", va="center", fontsize=style.TINY)
                _draw_question_points(
                    axes, points[points["source"] == group], top + offset, style.SOURCE_POINTS.get(group, {})
                )


def _draw_question_points(axes: Axes, points: pd.DataFrame, height: float, look: dict[str, Any]) -> None:
    """Draw the points of one box."""
    values = points["m_all"].to_numpy()
    fill = {"alpha": 0.75, "markeredgewidth": 0}
    axes.plot(
        values,
        height + _offsets_that_separate_equal_values(values),
        **{**look, **fill},
        linestyle="none",
        markersize=2.1,
        zorder=3,
    )


def _draw_box(axes: Axes, box: pd.Series[Any], height: float, look: dict[str, Any]) -> None:
    import matplotlib as mpl

    low, q1, median, q3, high = (float(box[name]) for name in _NUMBERS)
    across = {"orientation": "horizontal"} if mpl.__version_info__ >= (3, 10) else {"vert": False}
    line = {"color": style.INK, "linewidth": 0.7}
    artists = axes.bxp(
        [{"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high, "fliers": []}],
        positions=[height],
        widths=0.72,
        capwidths=0.4,
        **across,
        patch_artist=True,
        showfliers=False,
        manage_ticks=False,
        boxprops={"edgecolor": style.INK, "linewidth": 0.6, **look},
        medianprops={"color": style.INK, "linewidth": 1.8, "solid_capstyle": "butt"},
        whiskerprops=line,
        capprops=line,
        zorder=2,
    )
    artists["medians"][0].set_zorder(4)


def _offsets_that_separate_equal_values(values: Any) -> Any:
    """Offsets of the points from the middle of their row, so that equal values are seen as many."""
    offsets = np.zeros(len(values))
    for value in np.unique(values):
        equal = np.flatnonzero(values == value)
        step = min(0.12, 0.6 / len(equal))
        offsets[equal] = (np.arange(len(equal)) - (len(equal) - 1) / 2) * step
    return offsets


def _box_legend_entries(groups: list[str]) -> Iterator[Any]:
    """Yield the legend: each group's box with its points."""
    for group in groups:
        box, name = style.make_patch_legend_entry(
            style.GROUPS[group], edgecolor=style.INK, linewidth=0.6, **_LOOKS[group]
        )
        if group in style.SOURCE_POINTS:
            yield (box, style.make_marker_legend_entry(name, **style.SOURCE_POINTS[group])[0]), name
        else:
            yield box, name


class DocumentsChapter(ChapterMaker):
    """Box plots, one for each experiment."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        scores, five = scores_by_question_and_document_table(frame), five_number_summary_by_document_table(frame)
        figures = scope.make_paged_figures(
            partial(document_box_plots_figure, scores, five, experiment)
            for experiment in list_experiments_in_table(scores)
        )
        return Chapter(
            "documents",
            "By document",
            "How the questions' scores spread for each document: a box holds the middle half of them.",
            nonempty_tables(document_ranks_over_all_systems_table(frame), scores),
            figures,
            [] if figures else ["There is no box plot: no counted score belongs to a question about a policy."],
        )
