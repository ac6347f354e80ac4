"""Figures: the numbers drawn are those of the tables, whatever the names and the sizes, in the same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from drawn import names_of, written
from framing import EXPERIMENTS, QUESTIONS, answer_rows, score_rows, study, study_of, tidy_of
from matplotlib.colors import to_hex
from matplotlib.image import imread
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from size import size

from genaipa.answers import tidy as tidy_table
from genaipa.reports.chapters import (
    agreement,
    closed_book,
    consistency,
    cost,
    documents,
    metrics,
    order,
    regulation,
    robustness,
)
from genaipa.reports.figures import figure, style
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.table import Table
from genaipa.scoring.rubric import BandBounds
from rubrics import METRICS

HOSTILE = (
    "openai-api/foo/" + "very-long-" * 20 + "model",
    "openai-api/bar/" + "very-long-" * 20 + "model",
    r"a/$\frac{1}{0}$ _x_ 100% <script>alert(1)</script>",
    "_b/\u202eright\u2066\x00\x1b[31m\nto left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "=HYPERLINK(1)",
    "\u6f22\u5b57 \U0001f600 \U0010fffd",
)
MINUS = "\u2212"
DRAWN = size(small=("quality",), soak=tuple(tidy_table.ORDERED["experiment"]))
"""The experiments whose figures are drawn: the code is the same for all."""
KINDS = len(set(DRAWN) & set(EXPERIMENTS)) * 3 + 6
"""How many figures `everything` draws of a whole study about one document; about several, the order's is one more."""


def everything(frame):
    """Every figure of a tidy table, in which each experiment's are."""
    points, five = (
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
    )
    questions, categories = metrics.metrics_by_question_table(frame), metrics.metrics_by_category_table(frame)
    found = [
        cost.score_against_cost_or_time_figure(cost.time_and_cost_table(study_of(frame)), what)
        for what in ("cost", "seconds")
    ]
    found += [
        robustness.paraphrase_drops_by_group_figure(robustness.paraphrase_drops_by_group_table(frame)),
        consistency.answer_consistency_figure(
            consistency.answer_consistency_by_system_table(consistency.measure_consistency_by_way_of_asking(frame))
        ),
        order.question_order_effects_figure(
            order.shared_and_separate_conversations_table(frame), order.question_position_trend_table(frame)
        ),
        closed_book.gains_from_document_figure(closed_book.gains_from_document_by_question_table(frame)),
    ]
    found.append(regulation.regulation_metrics_map(regulation.regulation_scores_table(frame)))
    for experiment in DRAWN:
        found.append(documents.document_box_plots_figure(points, five, experiment))
        found.append(metrics.metrics_by_question_map(questions, experiment))
        found.append(metrics.metrics_by_category_map(categories, experiment))
    return [one for one in found if one is not None]


def whole_study(**shape):
    """All experiments of some systems, about some documents and two regulations."""
    answers = answer_rows(experiments=tuple(EXPERIMENTS), **shape)
    asked = [f"PR_{number}" for number in range(1, 7)]
    about_law = answer_rows(**{**shape, "documents": ("gdpr", "ccpa"), "questions": asked})
    for row in about_law:
        row.update(kind="regulation", experiment="regulation")
    for number, row in enumerate(answers):
        row.update(cost=0.001 * number, seconds=1 + number % 50)
    return tidy_of(answers + about_law, score_rows(answers + about_law))


def alphas():
    """A table of agreement, one metric of which has no alpha."""
    values = [0.82, 0.7, 0.4, None, -0.1]
    data = pd.DataFrame({"metric": METRICS, "alpha": values, "answers": [40, 41, 42, 43, 44], "analysts": 3})
    data[["low", "high"]] = data[["alpha"]].to_numpy(dtype=float) + np.array([-0.1, 0.1])
    return Table("agreement", "Agreement", "How far they agree.", data.astype({"alpha": "float64"}))


def panels(of):
    """The axes of a figure as it is drawn, by their titles."""
    return {axes.get_title(): axes for axes in of.plot().axes}


def lines(axes, **look):
    """The x values of the lines that look so, in the order in which they were drawn."""
    drawn = [line for line in axes.lines if all(getattr(line, f"get_{name}")() == look[name] for name in look)]
    return [list(line.get_xdata()) for line in drawn]


def plain_number(text):
    """A number as it is written in a figure."""
    return float(text.replace(MINUS, "-"))


def test_boxes_and_points_are_those_of_the_tables() -> None:
    """Each box has its median and quartiles at the table's, its n beside it, and every question's point over it."""
    frame = study(documents=("uber", "spotify"))
    points, five = (
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
    )
    drawn = documents.document_box_plots_figure(points, five, "quality")
    assert drawn is not None
    assert drawn.name == "quality-by-document"
    for system, axes in panels(drawn).items():
        rows = five.data[five.data["system"] == system]
        assert all([median, median] in lines(axes) for median in rows["median"])
        quartiles = [
            sorted({x for x, _ in patch.get_path().vertices[:4]}) for patch in axes.patches if patch.get_zorder() == 2
        ]
        assert quartiles == rows[["q1", "q3"]].to_numpy().tolist()
        assert [text for text in written(axes) if "=" in text] == [f"n={n}" for n in rows["n"]]
        own = points.data[points.data["system"] == system]
        for source, marker in (("faq", "o"), ("user", "D")):
            seen = [*chain.from_iterable(lines(axes, marker=marker))]
            assert sorted(seen) == sorted(own.loc[own["source"] == source, "m_all"])


def test_the_file_beside_has_every_number_drawn() -> None:
    """The table of the box plots holds the boxes and the points, and no other experiment's."""
    frame = study(experiments=("quality", "recall"))
    points, five = (
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
    )
    drawn = documents.document_box_plots_figure(points, five, "recall")
    assert drawn is not None
    data = drawn.table.data
    assert (
        data[data["mark"] == "box"]["median"].tolist() == five.data.query("experiment == 'recall'")["median"].tolist()
    )
    assert (
        data[data["mark"] == "point"]["m_all"].tolist() == points.data.query("experiment == 'recall'")["m_all"].tolist()
    )


@pytest.mark.parametrize(
    ("table", "draw", "key", "count"),
    [
        (metrics.metrics_by_question_table, metrics.metrics_by_question_map, "question", "documents"),
        (metrics.metrics_by_category_table, metrics.metrics_by_category_map, "category", "questions"),
    ],
)
def test_heat_maps_write_every_value_and_n(table, draw, key, count) -> None:
    """Each cell holds its value to one decimal, each system its panel, and each row its n where these differ."""
    found = table(study(documents=("uber", "spotify", "twitter")))
    found = replace(found, data=found.data.copy())
    assert not found.data.empty
    (same,) = set(found.data[count])
    assert draw(found, "quality").plot()._suptitle.get_text().endswith(f", n = {same} {count}")
    assert " n is " not in draw(found, "quality").caption
    found.data.loc[0, count] = 1
    drawn = draw(found, "quality")
    assert drawn.caption.endswith(f" n is the number of {count}.")
    for system, axes in panels(drawn).items():
        rows = found.data[found.data["system"] == system]
        texts = written(axes)
        values = rows[list(METRICS)].to_numpy().ravel()
        assert [plain_number(text) for text in texts[: len(values)]] == pytest.approx(values, abs=0.0501)
        assert texts[len(values) :] == [*(str(n) for n in rows[count]), "n"]
    first = drawn.plot().axes[0]
    labels = [name.split()[0] for name in names_of(first)[0]]
    assert labels == list(dict.fromkeys(found.data[key]))


def test_heat_maps_show_where_questions_come_from() -> None:
    """A question of a user has another sign than one from an FAQ."""
    drawn = metrics.metrics_by_question_map(metrics.metrics_by_question_table(study()), "quality")
    assert drawn is not None
    (labels,) = names_of(drawn.plot().axes[0])
    assert labels[:4] == ["T_f1 \u25cf", "T_f2 \u25cf", "T_f3 \u25cf", "T_u1 \u25c6"]


def by_question_of(values, **columns):
    """A table of one system's metrics by question."""
    data = pd.DataFrame(values, columns=list(METRICS)).assign(
        m_all=50.0, system="a/one", experiment="quality", category="T", source="faq", documents=3
    )
    data["question"] = [f"T_f{number}" for number in range(1, len(data) + 1)]
    return Table("metrics-by-question", "Metrics", "Note.", data.assign(**columns))


def test_bands_change_exactly_at_their_bounds() -> None:
    """A value on a bound belongs to the band above it; Yellow has an open corner and Red a filled one."""
    values = [[0.5, 0.4999999, 0.0, -0.0000001, -1.0], [0.1 + 0.2 - 0.3, 0.3, 0.25, 0.25 - 1e-16, -0.25]]
    for bounds, filled, opened in (
        (BandBounds(), 3, 6),
        (BandBounds(0.25, 0.25), 5, 0),
        (BandBounds(1.0, -1.0), 0, 10),
    ):
        drawn = metrics.metrics_by_question_map(by_question_of(values), "quality", FigureScope(bounds=bounds))
        assert drawn is not None
        axes = drawn.plot().axes[0]
        cells, *marks = axes.collections
        numbers = {to_hex(some.get_facecolors()[0]): len(some.get_paths()) for some in marks}
        assert numbers == {style.INK: filled, "#ffffff": opened}
        colours = cells.get_facecolors()
        corners = {tuple(path.vertices[0] // 1) for some in marks for path in some.get_paths()}
        green = [colours[place] for place in range(10) if (place % 5, place // 5) not in corners]
        assert all(colour[1] > colour[0] and colour[1] > colour[2] for colour in green)
        assert bounds.description in drawn.note


def test_a_value_that_is_not_there_is_hatched_and_not_zero() -> None:
    """A metric that was never scored, and a question that one system was not asked, leave hatched cells."""
    one = by_question_of([[1, 0.5, -1, None, None], [0, 0, 0, 0, None]])
    other = by_question_of([[1, 1, 1, 1, None]], system="b/two", documents=0)
    both = Table("m", "M", "", pd.concat([one.data, other.data], ignore_index=True))
    drawn = metrics.metrics_by_question_map(both, "quality")
    assert drawn is not None
    first, second = drawn.plot().axes
    hatched = [[patch for patch in axes.patches if isinstance(patch, Rectangle)] for axes in (first, second)]
    assert [len(patches) for patches in hatched] == [3, 6]
    assert written(first) == ["1", "0.5", f"{MINUS}1", *["0"] * 4, "3", "3", "n"]
    assert written(second) == [*["1"] * 4, "mean", "n"]


def test_regulations_have_a_row_for_each_question() -> None:
    """Questions stand under their regulation with their values and the number of answers."""
    table = regulation.regulation_scores_table(
        whole_study(systems=("a/one",), documents=("uber",), questions=("T_f1",))
    )
    drawn = regulation.regulation_metrics_map(table)
    assert drawn is not None
    axes = drawn.plot().axes[0]
    labels = [name.split() for name in names_of(axes)[0]]
    assert labels == table.data[["document", "question"]].to_numpy().tolist()
    values = table.data[list(METRICS)].to_numpy().ravel()
    assert [plain_number(text) for text in written(axes)[: len(values)]] == values.tolist()
    scope = FigureScope(texts={"PR_1": "Who must comply with the [regulation]?"})
    named = regulation.regulation_metrics_map(table, scope)
    assert named is not None
    _, (first, *_) = names_of(named.plot().axes[0])
    assert first.split()[:3] == ["Who", "must", "comply"]


def test_consistency_and_order_draw_both_intervals() -> None:
    """The mean drop is beside the mean change, and a shared conversation beside an independent one, each in its row."""
    frame = study(experiments=("quality", "robustness"), documents=("uber", "spotify", "x"), questions=QUESTIONS[:4])
    table = consistency.answer_consistency_by_system_table(consistency.measure_consistency_by_way_of_asking(frame))
    drawn = consistency.answer_consistency_figure(table)
    left, right = drawn.plot().axes
    # Of two systems: the mean change and the mean drop, each with two intervals; one measure at the right.
    assert [len(axes.lines) for axes in (left, right)] == [2 * 2 * 3 + 1, 2 * 3]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["other words"] * 2
    frame = frame.assign(conversation=frame["conversation"].cat.add_categories("independent"))
    half = frame["system"] == "b/two"
    both = pd.concat([frame, frame[half].assign(conversation="independent", run="another")], ignore_index=True)
    both["conversation"] = both["conversation"].astype("category")
    drawn = order.question_order_effects_figure(
        order.shared_and_separate_conversations_table(both), order.question_position_trend_table(both)
    )
    assert drawn.table.data.groupby(["system", "effect"]).size().to_dict() == {
        ("a/one", order.SLOPE): 2,
        ("b/two", order.APART): 2,
        ("b/two", order.SLOPE): 4,
    }
    assert len(drawn.plot().axes) == 2


def test_robustness_draws_both_ends_and_writes_the_drop() -> None:
    """Each group's line ends at its two averages; the drop, its interval and n stand behind it."""
    table = robustness.paraphrase_drops_by_group_table(study(experiments=("quality", "robustness")))
    drawn = robustness.paraphrase_drops_by_group_figure(table)
    assert drawn is not None
    for system, axes in panels(drawn).items():
        rows = table.data[table.data["system"] == system]
        assert [*chain.from_iterable(lines(axes, marker="o"))] == rows["original"].tolist()
        assert [*chain.from_iterable(lines(axes, marker="s"))] == rows["paraphrased"].tolist()
        said = [text for text in written(axes) if "[" in text][1:]
        numbers = [[plain_number(part.strip("[],")) for part in text.split()] for text in said]
        assert np.array(numbers) == pytest.approx(rows[["drop", "low", "high"]].to_numpy(), abs=0.0501)
        assert [text for text in written(axes) if text.isdigit()] == [str(n) for n in rows["n"]]


def test_memory_draws_the_difference_of_each_question() -> None:
    """Each question's mark stands at its difference, with its n; a question without a pair is said to have none."""
    table = closed_book.gains_from_document_by_question_table(
        study(experiments=("quality", "recall"), documents=("uber", "spotify", "twitter"))
    )
    data = table.data.drop(index=0).reset_index(drop=True)
    drawn = closed_book.gains_from_document_figure(Table("memory", "Memory", "", data))
    assert drawn is not None
    for system, axes in panels(drawn).items():
        rows = data[data["system"] == system]
        marks = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in {"o", "D"}]
        assert sorted(marks) == sorted(rows["difference"])
        assert written(axes).count("3") == len(rows)
        assert written(axes).count("no pair") == 32 - len(rows)


def effort_of(efforts, **columns):
    """A table of what systems took."""
    systems = [f"s/{number}" for number in range(len(efforts))]
    data = pd.DataFrame(
        {"system": systems, "experiment": "quality", "answers": 10, "cost": efforts, "seconds": efforts}
    )
    ends = {"low": 60.0, "high": 80.0, "policies_low": 50.0, "policies_high": 90.0}
    found = data.assign(m_all=70.0, **ends).assign(**columns)
    return Table("effort", "Effort", "Note.", found)


@pytest.mark.parametrize(
    ("efforts", "scale"),
    [
        ([0.01], "linear"),
        ([0.0], "linear"),
        ([0.01, 0.02], "linear"),
        ([0.001, 0.5], "log"),
        ([0.0, 0.001, 0.5], "symlog"),
    ],
)
def test_effort_draws_every_system_on_a_scale_that_fits(efforts, scale) -> None:
    """Systems of very different cost share a logarithmic axis, on which what costs nothing still has a place."""
    drawn = cost.score_against_cost_or_time_figure(effort_of(efforts, m_all=np.linspace(60, 80, len(efforts))), "cost")
    assert drawn is not None
    assert drawn.name == "effort-cost"
    axes = drawn.plot().axes[0]
    assert [line.get_xdata()[0] for line in axes.lines if line.get_marker() in style.MARKERS] == efforts
    assert axes.get_xscale() == scale
    left, right = axes.get_xlim()
    assert all(left <= value <= right for value in efforts)
    assert written(axes).count("n=10") == len(efforts)
    spans = [list(line.get_ydata()) for line in axes.lines if len(line.get_ydata()) > 1]
    assert spans.count([60.0, 80.0]) == spans.count([50.0, 90.0]) == len(efforts)
    (legend,) = drawn.plot().legends
    assert {"for these documents", "for policies like these"} <= {text.get_text().strip() for text in legend.texts}


def test_effort_leaves_out_what_is_not_known() -> None:
    """A system without a score or a price has no point; nothing is drawn where there is none."""
    drawn = cost.score_against_cost_or_time_figure(effort_of([0.1, None, 0.2], m_all=[70.0, 70.0, None]), "cost")
    assert drawn is not None
    assert drawn.table.data["system"].tolist() == ["s/0"]
    assert cost.score_against_cost_or_time_figure(effort_of([None, 1.0], m_all=[50.0, None]), "seconds") is None


def test_times_of_no_time_are_not_drawn() -> None:
    """Systems that answer from this machine's memory have no time worth a figure; one that takes its time has."""
    assert cost.score_against_cost_or_time_figure(effort_of([0.0, 0.01], m_all=[50.0, 60.0]), "seconds") is None
    assert cost.score_against_cost_or_time_figure(effort_of([0.0, 2.0], m_all=[50.0, 60.0]), "seconds") is not None


def test_who_has_no_box_is_named() -> None:
    """A system that was scored in other experiments only is said to be missing, and n speaks of this figure alone."""
    both = answer_rows(experiments=("quality", "recall"))
    answers = [row for row in both if row["experiment"] == "recall" or row["system"] == "a/one"]
    frame = tidy_of(answers, score_rows(answers))
    drawn = documents.document_box_plots_figure(
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
        "quality",
    )
    assert drawn is not None
    assert ": b/two." in drawn.note
    everyone = documents.document_box_plots_figure(
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
        "recall",
    )
    assert everyone is not None
    assert "not here" not in everyone.note


def test_agreement_draws_alpha_with_its_interval() -> None:
    """Each metric has its alpha, interval and n; one without alpha is said to have no value."""
    table = alphas()
    drawn = agreement.analyst_alpha_figure(table)
    assert drawn is not None
    axes = drawn.plot().axes[0]
    known = table.data.dropna(subset=["alpha"])
    assert [*chain.from_iterable(lines(axes, marker="o"))] == known["alpha"].tolist()
    assert all(interval in lines(axes) for interval in known[["low", "high"]].to_numpy().tolist())
    assert [text for text in written(axes) if "=" in text] == [f"n={n}" for n in table.data["answers"]]
    assert written(axes).count("no value") == 1
    unknown = Table("agreement", "", "", table.data.assign(alpha=float("nan")))
    assert agreement.analyst_alpha_figure(unknown) is None


def test_nothing_is_drawn_of_nothing() -> None:
    """Tables without rows, an experiment that was not run, and a study that nobody scored give no figure."""
    answers = answer_rows(experiments=tuple(EXPERIMENTS))
    assert everything(tidy_of([])) == []
    assert everything(tidy_of(answers)) == []
    assert agreement.analyst_alpha_figure(Table("agreement", "", "", alphas().data.iloc[:0])) is None
    assert (
        documents.document_box_plots_figure(
            *(
                table(study())
                for table in (
                    documents.scores_by_question_and_document_table,
                    documents.five_number_summary_by_document_table,
                )
            ),
            "recall",
        )
        is None
    )


def test_bounds_move_the_bands_of_every_axis() -> None:
    """The bounds asked for are on the axes of M_all x 10 and in the note."""
    frame = study(documents=("uber",))
    drawn = documents.document_box_plots_figure(
        documents.scores_by_question_and_document_table(frame),
        documents.five_number_summary_by_document_table(frame),
        "quality",
        FigureScope(bounds=BandBounds(0.9, 0.5)),
    )
    assert drawn is not None
    ticks = [text.get_text() for text in drawn.plot().axes[0].get_xticklabels()]
    assert {"77.5", "95.5"} <= set(ticks)
    assert "Green from 95.5" in drawn.note
    assert "Red below 77.5" in drawn.note


@pytest.mark.full
@pytest.mark.parametrize(
    ("systems", "documents", "questions"),
    size(
        small=[(2, 3, ("T_f1", "CA_u1"))],
        soak=[(1, 1, ("T_f1",)), (2, 20, ("T_f1", "CA_u1")), (8, 2, ("T_f1", "T_u1"))],
    ),
)
def test_every_size_is_drawn(systems, documents, questions) -> None:
    """From one point to many panels, every figure of a study is drawn, and without a warning.

    In small one point is that of `test_values_that_are_all_equal_are_drawn`.
    """
    frame = whole_study(
        systems=tuple(f"system/{number}" for number in range(systems)),
        documents=tuple(f"document-{number}" for number in range(documents)),
        questions=questions,
    )
    found = everything(frame)
    assert len(found) == KINDS + (documents > 1)
    for one in found:
        assert len(figure.render_png(one, dpi=40)) > 1000


@pytest.mark.full
def test_values_that_are_all_equal_are_drawn() -> None:
    """Boxes without a width, differences of nothing and drops of nothing are no error."""
    questions = size(small=("T_f1",), soak=QUESTIONS)
    answers = answer_rows(experiments=tuple(EXPERIMENTS), systems=("a/one",), documents=("uber",), questions=questions)
    given = [{**row, **dict.fromkeys(METRICS, 1.0)} for row in score_rows(answers)]
    for one in everything(tidy_of(answers, given)):
        assert figure.render_png(one, dpi=40)


def test_hostile_names_are_drawn_as_text() -> None:
    """Mathematics, markup, control characters, other scripts and endless names harm no figure and no page."""
    frame = whole_study(systems=HOSTILE, documents=("$x$ " * 30, "<b>_u"), questions=("T_f1", "T_u1"))
    found = everything(frame)
    assert len(found) == KINDS + 1
    for one in found[:: size(small=8, soak=1)]:
        page = figure.render_figure(one, "svg").decode()
        ET.fromstring(page)
        assert "<script" not in page
        assert "\x1b" not in page
        assert HOSTILE[0] in one.note
        assert "\x00" not in one.note


def test_shortened_names_stay_apart() -> None:
    """Two names that shorten to the same have two labels, which the note explains."""
    drawn = style.unique_labels(HOSTILE[:2], 24)
    assert len(set(drawn.values())) == 2
    assert all(len(label) <= 24 for label in drawn.values())
    assert all(f"{label} is {name}" in style.note_full_names(drawn) for name, label in drawn.items())
    assert style.shorten_drawn_name("openai-api/foo/very-long-model-name", 24) == "\u2026/very-long-model-name"


def test_files_are_written_beside_their_numbers(tmp_path) -> None:
    """PNG, SVG, PDF and CSV of a figure; no cell of the CSV is a formula."""
    frame = study(systems=("=1+1",), documents=("uber",), questions=("T_f1", "T_u1"))
    drawn = metrics.metrics_by_question_map(metrics.metrics_by_question_table(frame), "quality")
    assert drawn is not None
    paths = figure.save_figure_and_data(drawn, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [f"quality-metrics.{end}" for end in ("png", "svg", "pdf", "csv")]
    assert imread(paths[0]).shape[1] == pytest.approx(figure.PNG_DPI * drawn.plot().get_figwidth(), abs=1)
    assert "<text" not in paths[1].read_text(encoding="utf-8")
    assert b"/FontFile2" in paths[2].read_bytes()
    csv = pd.read_csv(paths[3])
    assert set(csv["system"]) == {"'=1+1"}
    assert csv["relevance"].tolist() == pytest.approx(drawn.table.data["relevance"].tolist())
    assert [path.suffix for path in figure.save_figure_and_data(drawn, tmp_path, ["svg"])] == [".svg", ".csv"]


def test_every_label_has_its_place() -> None:
    """As a figure is written, its labels are within it, and its axes where drawing it would have put them."""
    frame = study(documents=("uber",))
    drawn = metrics.metrics_by_question_map(metrics.metrics_by_question_table(frame), "quality")
    assert drawn is not None
    with style.apply_house_style(drawn.name):
        written, other = figure._lay_out_drawing_once(drawn.draw()), drawn.draw()
        other.draw_without_rendering()
    page = written.bbox.padded(1)
    for axes, wanted in zip(written.axes, other.axes, strict=True):
        box = axes.get_tightbbox()
        assert box is not None
        assert page.x0 < box.x0 < box.x1 < page.x1
        assert page.y0 < box.y0 < box.y1 < page.y1
        assert axes.get_position().bounds == pytest.approx(wanted.get_position().bounds, abs=0.002)


def test_a_name_of_an_experiment_leads_to_no_other_folder(tmp_path) -> None:
    """An experiment may be called anything; its files stay in their folder."""
    table = by_question_of([[1.0] * 5], experiment="../../etc/x y")
    drawn = metrics.metrics_by_question_map(table, "../../etc/x y")
    assert drawn is not None
    assert drawn.name == "etc-x-y-metrics"
    assert {path.parent for path in figure.save_figure_and_data(drawn, tmp_path, ["svg"])} == {tmp_path}


def draw_some(folder) -> None:
    """Figures in all formats."""
    frame = whole_study(documents=("uber",), questions=("T_f1", "T_u1"))
    figure.save_figure_and_data(agreement.analyst_alpha_figure(alphas()), folder)
    for one in everything(frame)[:7]:
        figure.save_figure_and_data(one, folder)


def digests(folder):
    """File name → digest of its content."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


# In `make test-all`, test_cli_report compares what two processes write.
@pytest.mark.soak
def test_the_same_numbers_give_the_same_bytes(tmp_path) -> None:
    """Another process on another day, with other hashes and a configuration of its own, writes the same files."""
    draw_some(tmp_path / "here")
    root = Path(__file__).parents[2]
    home = tmp_path / "home"
    home.mkdir()
    (home / "matplotlibrc").write_text("lines.linewidth: 15\nfont.size: 14\n")
    given = {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1000000", "MATPLOTLIBRC": str(home)}
    path = os.pathsep.join(str(root / "tests" / folder) for folder in ("reports", "support"))
    environment = {**os.environ, **given, "PYTHONPATH": path, "GENAIPA_TESTS": "soak"}
    probe = "import sys, pathlib; from test_figures import draw_some; draw_some(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", probe, str(tmp_path / "there")]
    done = subprocess.run(command, cwd=root, env=environment, check=False)
    assert done.returncode == 0
    assert len(digests(tmp_path / "here")) == 8 * 4
    assert digests(tmp_path / "here") == digests(tmp_path / "there")
    document = next((tmp_path / "there").glob("*.pdf")).read_bytes()
    assert not any(b"20" in line for line in document.split(b"\n") if b"Date" in line)


@pytest.mark.full
def test_threads_draw_without_disturbing_each_other() -> None:
    """Threads that draw at once draw what one alone does; matplotlib's settings are left as they were."""
    found = everything(whole_study(documents=("uber",), questions=("T_f1", "T_u1")))[: size(small=3, soak=6)]
    before = dict(mpl.rcParams)
    alone = [figure.render_figure(one, "svg") for one in found]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda one: figure.render_figure(one, "svg"), found))
    assert together == alone
    assert dict(mpl.rcParams) == before


def test_a_figure_is_drawn_once_for_each_format(tmp_path) -> None:
    """Where everything goes is found out once, and savefig doesn't draw it all for that again."""
    times = []

    class Counted(Text):
        def draw(self, renderer):
            times.append(1)
            super().draw(renderer)

    def draw():
        page = style.make_canvas(2, 2)
        page.subplots().add_artist(Counted(0.5, 0.5, "here"))
        return page

    found = figure.Figure("one", "One", "", Table("one", "One", "", pd.DataFrame({"n": [1]}), {}), draw)
    figure.save_figure_and_data(found, tmp_path, ("svg", "png"))
    assert len(times) == 2
