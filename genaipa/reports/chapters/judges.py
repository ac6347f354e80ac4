"""Quality of the judges: their agreement with people, their leniency, and whether one may take a person's place.

Before people have scored there are heat maps of a judge's own values, in grey: something to look at, and no estimate.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_figures, nonempty_tables
from genaipa.reports.figures import forest, heatmap, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.judged import quality
from genaipa.reports.judged.alone import NO_ESTIMATE
from genaipa.reports.judged.beside import people_judge_and_combined_means_table
from genaipa.reports.judged.findings import judge_findings_table
from genaipa.reports.judged.quality import (
    ALL,
    EACH_OTHER,
    PEOPLE,
    alternative_annotator_test_table,
    group_answers_by_silence_and_language,
    judge_agreement_by_group_table,
    judge_leniency_table,
)
from genaipa.reports.judged.verdicts import LEAST, Verdicts
from genaipa.reports.ratings import tabulate_judge_rating_agreement, tabulate_ratings_of_packages
from genaipa.reports.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.reports.judged.verdicts import Floats


_METHOD = """A judge&rsquo;s agreement with people is measured by Krippendorff&rsquo;s alpha, like that of analysts,
between two sides: the judge&rsquo;s passes, and the people who scored an answer. The alternative annotator test
<a href="#calderon-2025">[Calderon, Reichart and Dror, 2025]</a> asks whether a judge may take a
person&rsquo;s place."""
_REFERENCES = {
    "calderon-2025": "N. Calderon, R. Reichart and R. Dror: The Alternative Annotator Test for LLM-as-a-Judge: How to "
    "Statistically Justify Replacing Human Annotators with LLMs. ACL 2025."
}


class JudgesChapter(ChapterMaker):
    """The judges beside people; nothing where no judge has scored an answer."""

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        verdicts = Verdicts.from_study(study) if any(event.scorer == "machine" for event in study.log.counted) else None
        if not verdicts:
            return Chapter("judges", "How good the judges are", "")
        agreed, lenient, tested = (
            quality.judge_agreement_table(verdicts),
            judge_leniency_table(verdicts, study.table),
            alternative_annotator_test_table(verdicts),
        )
        against = quality.judge_minus_people_alpha_table(verdicts)
        findings = judge_findings_table(verdicts, agreed, against, lenient, tested)
        enough = [
            judge for judge, both_scored in verdicts.scored_by_judge_and_people.items() if both_scored.sum() >= LEAST
        ]
        apart = judge_agreement_by_group_table(verdicts, group_answers_by_silence_and_language(study))
        rated = tabulate_ratings_of_packages(lambda ratings: tabulate_judge_rating_agreement(ratings, study, verdicts))
        rated_alone = tabulate_ratings_of_packages(
            lambda ratings: ratings.tabulate_judge_ratings_by_system(study, verdicts)
        )
        tables = (
            [
                agreed,
                against,
                apart,
                *rated.tables,
                lenient,
                quality.judge_confusion_table(verdicts),
                quality.judge_agreement_drift_table(verdicts),
                tested,
            ]
            if enough
            else []
        )
        if not study.table["counted"].any():
            # Else it is beside people's averages.
            tables.append(people_judge_and_combined_means_table(study.table))
        points = {
            judge: [
                side.answer_means[verdicts.scored_by_judge_and_people[judge], 0]
                for side in (verdicts.people, verdicts.judges[judge])
            ]
            for judge in enough
        }
        return Chapter(
            "judges",
            "How good the judges are",
            "A judge is a model that scores answers. How far its verdicts agree with people's scores, and how far "
            f"people agree with each other; the tables are blank below {LEAST} answers scored by both.",
            nonempty_tables(findings, *tables, *rated_alone.tables),
            [
                *score_maps_of_uncompared_judges(verdicts, study.table, scope),
                *nonempty_figures(judge_agreement_figure(agreed)),
                *judge_leniency_figures(lenient, scope),
                *nonempty_figures(people_judge_scatter_figure(points, _label_correlations_by_judge(agreed))),
            ],
            [*_list_reasons_for_missing_drift(verdicts), *dict.fromkeys([*rated.problems, *rated_alone.problems])],
            method=_METHOD,
            references=_REFERENCES,
            first=(findings.name,),
        )


def _label_correlations_by_judge(agreement_table: Table) -> dict[str, str]:
    """Judge → r of its M_all with people's, as it is written into a figure."""
    data = agreement_table.data[(agreement_table.data["measure"] == "M_all") & agreement_table.data["r"].notna()]
    return {row["judge"]: f"r = {row['r']:.2f}, n = {row['answers']}" for row in data.to_dict("records")}


def _list_reasons_for_missing_drift(verdicts: Verdicts) -> list[str]:
    """Sentences on what is not shown."""
    answers = max(int(both_scored.sum()) for both_scored in verdicts.scored_by_judge_and_people.values())
    if LEAST <= answers < 2 * LEAST:
        return [
            f"Drift is not shown: it needs {2 * LEAST} answers scored by both people and a judge, not only {answers}."
        ]
    return []


_ACROSS = 3
"""Panels beside each other."""
_MOST = 9
"""Panels on a page."""
_JITTER = 1.2
"""Points of M_all by which a mark may be moved so that others are seen."""

_SPARSE = 200
"""Points of a panel up to which each is drawn large."""


def judge_agreement_figure(agreement: Table) -> Figure | None:
    """Draw metrics down, each judge's alpha with people across, people's own as the line to reach; None without any."""
    data = agreement.data[agreement.data["with"].isin((PEOPLE, EACH_OTHER)) & agreement.data["alpha"].notna()]
    judges = list(dict.fromkeys(data.loc[data["judge"] != PEOPLE, "judge"]))
    if not judges:
        return None
    names = style.unique_labels(judges, 38)
    title = "How far judges agree with people"
    note = (
        "Krippendorff's alpha of each judge with people, with its interval; the dark bar is people's agreement with "
        "each other, which a judge should reach, and the tint around it is its interval. A measure has no dark bar "
        f"where too few answers were scored by two people.{style.note_full_names(names)} {agreement.note}"
    )
    figure_table = Table(
        "judges-alpha", title, note, data.reset_index(drop=True), agreement.headings, agreement.formats, agreement.aside
    )
    caption = (
        "Krippendorff's alpha of each judge with people, with its interval. Dark: people's agreement with each "
        "other, which a judge should reach."
    )
    return Figure(
        "judges-alpha", title, note, figure_table, lambda: _draw_judge_agreement(data, names), caption=caption
    )


def _draw_judge_agreement(data: pd.DataFrame, label_by_judge: Mapping[Any, str]) -> Canvas:
    measures, marks = (
        list(dict.fromkeys(data["measure"])),
        style.assign_system_colours_and_markers(list(label_by_judge)),
    )
    high = max(0.3, 0.13 * len(label_by_judge) + 0.12)
    drawing = style.make_canvas(style.COLUMN, high * len(measures) + 0.65 + 0.17 * (len(label_by_judge) + 1))
    axes = drawing.subplots()
    axes.axvline(0, color=style.FAINT, linewidth=0.7, zorder=0)
    for row in data.to_dict("records"):
        height = measures.index(row["measure"])
        if row["judge"] == PEOPLE:
            if not np.isnan(row["low"]):
                axes.fill_betweenx([height - 0.42, height + 0.42], row["low"], row["high"], color="#dddddd", zorder=1)
            axes.plot([row["alpha"]] * 2, [height - 0.42, height + 0.42], color=style.INK, linewidth=1.8, zorder=2)
        else:
            step = 0.7 / len(label_by_judge)
            at = height + (list(label_by_judge).index(row["judge"]) - (len(label_by_judge) - 1) / 2) * step
            look = marks[row["judge"]]
            axes.plot([row["low"], row["high"]], [at, at], color=look["color"], linewidth=1.2, zorder=3)
            axes.plot([row["alpha"]], [at], **look, markersize=4.5, linestyle="none", zorder=4)
    style.write_row_labels(axes, {name: style.shorten_drawn_name(name) for name in measures}, {})
    set_up_alpha_axes(axes, data, len(measures), 1.05)
    people = [style.make_patch_legend_entry("people with each other", facecolor="#dddddd", edgecolor=style.INK)]
    has_people = (data["judge"] == PEOPLE).any()
    style.draw_legend(
        drawing,
        [
            *(style.make_marker_legend_entry(label_by_judge[name], **marks[name]) for name in label_by_judge),
            *(people if has_people else []),
        ],
    )
    return drawing


def set_up_alpha_axes(axes: Axes, data: pd.DataFrame, row_count: int, right_end: float) -> None:
    """Set up the axes of alphas (columns `alpha` and `low`): this many rows down, across to -1 at most."""
    axes.set_ylim(row_count - 0.4, -0.6)
    lowest: Any = data[["alpha", "low"]].min(axis=None)
    # Where nearly all scores are equal an interval goes far below: the numbers say how far.
    axes.set_xlim(max(min(-0.1, lowest - 0.05), -1.0), right_end)
    axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.5, 1) if tick >= axes.get_xlim()[0]])
    axes.xaxis.set_major_formatter(lambda tick, _: style.format_tick_labels(tick)[0])
    axes.set_xlabel("Krippendorff's alpha")
    axes.tick_params(axis="y", length=0)


def judge_leniency_figures(leniency: Table, scope: FigureScope = ALONE) -> list[Figure]:
    """Draw judges down, under each the systems: its M_all less people's, with both intervals; page by page."""
    data = leniency.data[
        (leniency.data["measure"] == "M_all")
        & leniency.data["by"].isin((ALL, "system"))
        & leniency.data["mean"].notna()
    ]
    order = {name: position for position, name in enumerate(("", *scope.systems))}
    data = data.assign(place=data["group"].map(order).fillna(len(order))).sort_values("place", kind="stable")
    data = data.drop(columns="place")
    judges = style.unique_labels(dict.fromkeys(leniency.data["judge"]), 40)
    shown_judges = [judge for judge in judges if (data["judge"] == judge).any()]
    fits = forest.count_systems_per_page(data.groupby("judge").size().max()) if shown_judges else 1
    pages = [shown_judges[first : first + fits] for first in range(0, len(shown_judges), fits)]
    return [
        _leniency_page_figure(leniency, data, judges, page, number, len(pages)) for number, page in enumerate(pages, 1)
    ]


def _leniency_page_figure(
    leniency: Table,
    data: pd.DataFrame,
    label_by_judge: Mapping[Any, str],
    page_judges: list[str],
    page_number: int,
    page_count: int,
) -> Figure:
    rows = data[data["judge"].isin(page_judges)].reset_index(drop=True)
    labels = {judge: label_by_judge[judge] for judge in page_judges}
    systems = style.unique_labels(dict.fromkeys(name for name in rows["group"] if name), 22)
    name, of = (
        ("judges-systems", "")
        if page_count == 1
        else (f"judges-systems-{page_number}", f" ({page_number} of {page_count})")
    )
    title = f"Leniency of the judges, by system{of}"
    note = (
        "M_all of a judge minus people's: right of the line the judge is more lenient. A square, and the star after "
        f"the name, mark a system of the judge's own family. {forest.READING}"
        f"{style.note_full_names({**labels, **systems})} {leniency.note}"
    )
    figure_table = Table(name, title, note, rows, leniency.headings, leniency.formats, leniency.aside)
    return Figure(name, title, note, figure_table, lambda: _draw_judge_leniency(figure_table.data, labels, systems))


def _draw_judge_leniency(
    data: pd.DataFrame, label_by_judge: Mapping[Any, str], label_by_system: Mapping[Any, str]
) -> Canvas:
    rows = data.to_dict("records")
    labels = {"": "all answers", **label_by_system}
    named = [(row["judge"], row["group"], f"{labels[row['group']]}{' *' if row['family'] else ''}") for row in rows]
    laid = forest.ForestRows.lay_out_rows(label_by_judge, named)
    drawing, (axes,) = laid.make_canvas_with_panels([1])
    laid.draw_zero_lines(axes, color=style.INK, linewidth=0.8, zorder=1)
    for row in rows:
        is_own_family, every = bool(row["family"]), not row["group"]
        look = {
            "marker": "s" if is_own_family else "o",
            "color": style.INK if every else style.COLOURS[1] if is_own_family else style.COLOURS[0],
        }
        forest.draw_mean_with_intervals(axes, row, laid.places[row["judge"], row["group"]], look)
        axes.annotate(
            f"n={row['answers']}", (1.01, laid.places[row["judge"], row["group"]]),
            xycoords=("axes fraction", "data"), fontsize=style.TINY, va="center",
        )  # fmt: skip
    axes.set_xlabel("Judge minus people (M_all)")
    axes.xaxis.set_major_formatter(lambda tick, _: style.format_tick_labels(round(tick, 6))[0])
    looks = [
        style.make_marker_legend_entry("all answers", marker="o", color=style.INK),
        style.make_marker_legend_entry("a system", marker="o", color=style.COLOURS[0]),
    ]
    if data["family"].any():
        looks.append(style.make_marker_legend_entry("own family", marker="s", color=style.COLOURS[1]))
    style.draw_legend(drawing, looks)
    return drawing


def people_judge_scatter_figure(
    score_pairs_by_judge: Mapping[str, Sequence[Floats]], correlation_label_by_judge: Mapping[str, str]
) -> Figure | None:
    """Draw a panel for each judge: people's M_all across, its own up, a point an answer; None without a judge."""
    shown_of = dict(list(score_pairs_by_judge.items())[:_MOST])
    if not shown_of:
        return None
    title = "Judges against people, answer by answer"
    omitted = (
        f" Only the first {_MOST} of {len(score_pairs_by_judge)} judges are shown."
        if len(score_pairs_by_judge) > _MOST
        else ""
    )
    note = (
        "M_all of each answer: people's mean on the horizontal axis, the judge's mean over its passes on the "
        "vertical; on the line they are equal, above it the judge is more lenient. Points are jittered so that equal "
        f"ones stay visible; the numbers behind the figure are exact.{omitted}"
    )
    data = pd.concat(
        [
            pd.DataFrame({"judge": judge, "people": people, "verdict": judge_means})
            for judge, (people, judge_means) in shown_of.items()
        ],
        ignore_index=True,
    )
    table = Table("judges-scatter", title, note, data, {"verdict": "judge's M_all", "people": "people's M_all"},
                  dict.fromkeys(("people", "verdict"), ".1f"))  # fmt: skip
    caption = (
        "M_all of each answer: people's mean on the horizontal axis, the judge's on the vertical; above the line the "
        "judge is more lenient."
    )
    return Figure(
        "judges-scatter",
        title,
        note,
        table,
        lambda: _draw_people_judge_scatter(data, correlation_label_by_judge),
        caption=caption,
    )


def _draw_people_judge_scatter(data: pd.DataFrame, correlation_label_by_judge: Mapping[str, str]) -> Canvas:
    judges = list(dict.fromkeys(data["judge"]))
    down, across = style.panel_rows_and_columns(len(judges), _ACROSS)
    width = style.COLUMN if len(judges) == 1 else style.WIDTH
    drawing = style.make_canvas(width, down * (width / across * 0.92 + 0.4))
    panels = drawing.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    names = style.unique_labels(judges, 44)
    random = np.random.default_rng(0)
    for axes, judge in zip(panels.flat, judges, strict=False):
        rows = data[data["judge"] == judge]
        _draw_jittered_answer_points(axes, rows, random)
        title_lines = [*textwrap.wrap(names[judge], 26), *filter(None, [correlation_label_by_judge.get(judge)])]
        axes.set_title("\n".join(title_lines), fontsize=style.SMALL)
    for axes in style.remove_unused_and_list_lowest_axes(panels, len(judges)):
        axes.set_xlabel("People's M_all")
        axes.tick_params(labelbottom=True)
    for axes in panels[:, 0]:
        axes.set_ylabel("Judge's M_all")
    return drawing


def _draw_jittered_answer_points(axes: Axes, rows: pd.DataFrame, random: np.random.Generator) -> None:
    axes.plot([10, 100], [10, 100], color=style.FAINT, linewidth=0.8, zorder=1)
    moved = random.uniform(-_JITTER, _JITTER, (2, len(rows)))
    axes.plot(
        rows["people"] + moved[0], rows["verdict"] + moved[1], "o", color=style.COLOURS[0],
        markersize=4.5 if len(rows) <= _SPARSE else 2.6, alpha=0.45, markeredgewidth=0, zorder=2,
    )  # fmt: skip
    axes.set_xlim(7, 103)
    axes.set_ylim(7, 103)
    axes.set_aspect("equal")
    axes.set_xticks([10, 40, 70, 100])
    axes.set_yticks([10, 40, 70, 100])


NAME = "judge-alone"
SAID = "judge alone: not an estimate"
"""The heading of its values."""
_ROW, _LIGHTEST, _DARKEST = 0.185, 0.97, 0.55
"""Inches of a row; the greys of the lowest and the highest value."""
_ROOMY = 5
"""Columns for which the narrowest figure has room."""
_LETTERS = 14
"""Letters of the line above it to an inch."""


def score_maps_of_uncompared_judges(
    verdicts: Verdicts, frame: pd.DataFrame, scope: FigureScope = ALONE
) -> list[Figure]:
    """Draw a grey map for each judge that people can't be compared with yet: questions down, systems across."""
    columns = ["system", "answer", "question", "category", "source"]
    scorable = (frame["unit"] == "answer") & (frame["answer"] != "") & (frame["excluded"] == "")
    answers = frame.loc[scorable, ["run", "key", *columns]]
    places = answers.drop_duplicates(["run", "key"])[columns].astype("str")
    figures = []
    judges = {
        name: side for name, side in verdicts.judges.items() if verdicts.scored_by_judge_and_people[name].sum() < LEAST
    }
    for number, (judge, side) in enumerate(judges.items(), 1):
        values = pd.Series(side.answer_means[:, 0], verdicts.answers, name="m_all")
        rows = places.join(values, "answer").dropna(subset="m_all")
        by = ["system", "question", "category", "source"]
        data = rows.groupby(by, as_index=False).agg(m_all=("m_all", "mean"), answers=("answer", "size"))
        if not data.empty:
            name = NAME if len(judges) == 1 else f"{NAME}-{number}"
            figures += scope.make_paged_figures([partial(_judge_score_map_figure, name, judge, data)])
    return figures


def _judge_score_map_figure(figure_name: str, judge: str, data: pd.DataFrame, scope: FigureScope) -> Figure:
    data = (
        scope.select_rows_of_shown_systems(data)
        .sort_values(["system", "question"], kind="stable")
        .reset_index(drop=True)
    )
    groups, _ = style.map_questions_to_category_and_source(data, scope.sort_questions(dict.fromkeys(data["question"])))
    means = data.groupby("system")["m_all"].mean().to_dict()
    short = style.last_part_labels(sorted(map(str, means)), 26)
    labels, systems = (
        style.unique_labels(groups, 12),
        {system: f"{short[system]}  {means[system]:.0f}" for system in short},
    )
    title = f"{style.clean_name_on_one_line(judge)}: {SAID}"
    whose = f"According to the judge {style.clean_name_on_one_line(judge)} alone: {NO_ESTIMATE}"
    about = (
        f"{whose}. M_all (10 to 100), averaged over documents and passes. Systems are sorted by name, each with the "
        "mean over its questions. How far the judge is off is unknown until people "
        f"score.{style.note_full_names(short)}"
    )
    table = Table(
        figure_name,
        title,
        about,
        data,
        {"m_all": SAID},
        {"m_all": ".1f"},
        faint=frozenset({"m_all"}),
    )
    fits = int((style.WIDTH - 1.0) / heatmap.COLUMN)
    return Figure(
        figure_name,
        title,
        about,
        table,
        lambda: _draw_judge_score_map(data, groups, labels, systems, scope.texts, whose),
        fits=fits,
    )


def _draw_judge_score_map(
    data: pd.DataFrame,
    category_by_question: Mapping[Any, Any],
    label_by_question: Mapping[Any, str],
    label_by_system: Mapping[Any, str],
    text_by_question: Mapping[str, str],
    heading: str,
) -> Canvas:
    from genaipa.reports.figures.words import DrawnTexts

    tall = 0.06 * max(map(len, label_by_system.values()))
    wide, letters = heatmap.heat_map_width_and_letters_per_line(label_by_question, label_by_system, text_by_question)
    drawing = style.make_canvas(wide, len(label_by_question) * (style.TALL if text_by_question else _ROW) + tall + 0.6)
    axes = drawing.subplots()
    values = data.pivot_table(index="question", columns="system", values="m_all")
    values = values.reindex(index=list(label_by_question), columns=list(label_by_system))
    shades = np.ma.masked_invalid(_LIGHTEST - (values.to_numpy() - 10) / 90 * (_LIGHTEST - _DARKEST))
    axes.pcolormesh(shades, cmap="gray", vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    cell_texts = {
        (at[1] + 0.5, at[0] + 0.5): f"{value:.0f}" for at, value in np.ndenumerate(values) if not np.isnan(value)
    }
    DrawnTexts(axes, list(cell_texts.values()), list(cell_texts), style.INK, size=7.5).set_in_layout(False)
    axes.xaxis.tick_top()
    names = list(label_by_system.values())
    axes.set_xticks(np.arange(len(names)) + 0.5, names, rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0, pad=1)
    axes.set_xlim(0, len(names) if text_by_question else max(len(names), _ROOMY))
    axes.set_ylim(len(label_by_question), 0)
    axes.spines[:].set_visible(False)
    style.draw_lines_between_groups(axes, list(category_by_question.values()), (0, len(names)))
    style.write_row_labels(
        axes, label_by_question, {}, middle_offset=0.5, text_by_row=text_by_question, max_letters=letters
    )
    lines = textwrap.wrap(heading, int(wide * _LETTERS))
    drawing.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=style.SMALL, color="#555555")
    return drawing
