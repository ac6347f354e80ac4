"""What the figures of one report have in common: order, marks, what is left out, and the size of a page."""

from __future__ import annotations

import itertools

import pytest
from drawn import names_of
from framing import CATEGORIES, answer_rows, score_rows, study, study_of, tidy_of
from size import size

from genaipa.answers.study import AskedQuestions
from genaipa.reports.chapters import cost, metrics
from genaipa.reports.chapters.overall import rank_systems_unscored_last
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.report import Report
from genaipa.reports.table import Table

NINE = tuple(f"host/model-{number}" for number in range(9))


def rows_of(axes):
    """What the rows of a panel are called."""
    return [name.split()[0] for name in names_of(axes)[0]]


def test_rows_have_the_report_s_order_whatever_a_system_lacks() -> None:
    """A first system that has users' questions only does not move these to the front."""
    answers = answer_rows(questions=("T_f1", "T_u1", "UC_f1"))
    answers = [row for row in answers if row["system"] == "b/two" or row["question"] == "T_u1"]
    frame = tidy_of(answers, score_rows(answers))
    figure = metrics.metrics_by_question_map(
        metrics.metrics_by_question_table(frame), "quality", scope=FigureScope.from_scores_table(frame)
    )
    assert figure is not None
    assert rows_of(figure.plot().axes[0]) == ["T_f1", "T_u1", "UC_f1"]


@pytest.mark.full
def test_what_a_figure_leaves_out_is_said() -> None:
    """A system and questions that have an M_all and no metrics are named in the caption of the heat map."""
    answers = answer_rows(systems=("a/one",), questions=("T_u1",))
    published = [
        {
            **row,
            "unit": "table",
            "answer": "",
            "analyst": "published",
            "role": "published",
            "scorer": "human",
            "m_all": 55.0,
            "averaged": 1,
        }
        for row in answer_rows(systems=("b/two",), questions=("T_f1", "T_u1"))
    ]
    frame = tidy_of([*answers, *published], score_rows(answers))
    figure = Report.build(study_of(frame)).figures["quality-metrics"]
    assert ": b/two." in figure.note
    assert "Questions left out because no system has metrics for them: T_f1, of 2." in figure.note
    overall = Report.build(study_of(frame)).figures["quality-overall"]
    assert rows_of(overall.plot().axes[0]) == ["T_f1", "T_u1"]
    assert "not here" not in overall.note


# In small, test_figures draws every size.
@pytest.mark.full
def test_nine_systems_fit_pages() -> None:
    """Figures of nine systems are split so that each fits a page, and none of the systems is lost or said to be."""
    frame = study(systems=NINE, documents=("uber",), experiments=("quality", "robustness", "recall"))
    names = dict.fromkeys(CATEGORIES, "Name")
    found = list(Report.build(study_of(frame, questions=AskedQuestions(categories=names))).figures.values())
    assert [f.name for f in found if f.name.startswith("quality-metrics")] == [
        f"quality-metrics-{n}" for n in (1, 2, 3)
    ]
    for figure in found[:: size(small=4, soak=1)]:
        width, height = figure.plot().get_size_inches()
        assert width <= style.WIDTH, figure.name
        assert height <= style.HEIGHT, figure.name
        assert "not here" not in figure.note
    for kind in ("quality-metrics", "quality-overall", "memory", "robustness", "quality-by-document"):
        pages = [f for f in found if f.name.removesuffix(f.name[-2:]) == kind or f.name == kind]
        shown = [system for page in pages for system in dict.fromkeys(page.table.data["system"])]
        assert shown == rank_systems_unscored_last(frame), kind
    assert "T Name" in next(f for f in found if f.name.startswith("quality-categories")).note


def test_a_system_looks_the_same_in_every_figure_of_a_report() -> None:
    """A figure that lacks the first system gives the second the colour and marker that it has elsewhere."""
    data = {"system": ["a/one", "b/two"], "experiment": "quality", "answers": 10, "m_all": 70.0}
    data |= {
        "low": 60.0,
        "high": 80.0,
        "policies_low": 50.0,
        "policies_high": 90.0,
        "cost": [None, 0.0011],
        "seconds": [2.0, 0.5],
    }
    table = Table("effort", "Effort", "Note.", style.pd.DataFrame(data))
    looks = []
    for what in ("cost", "seconds"):
        figure = cost.score_against_cost_or_time_figure(table, what, scope=FigureScope(("a/one", "b/two")))
        assert figure is not None
        (legend,) = figure.plot().legends
        marks = {text.get_text().strip(): line for text, line in zip(legend.texts, legend.legend_handles, strict=True)}
        looks.append((marks["b/two"].get_color(), marks["b/two"].get_marker()))
    assert looks[0] == looks[1] == (style.COLOURS[1], style.MARKERS[1])
    assert (
        ": a/one" in cost.score_against_cost_or_time_figure(table, "cost", scope=FigureScope(("a/one", "b/two"))).note
    )


def test_money_and_time_have_their_panels_in_one_order() -> None:
    """An experiment whose first row lacks a cost keeps its place among the panels."""
    data = {"system": ["a/one", "a/one", "b/two"], "experiment": ["quality", "recall", "quality"], "answers": 10}
    data |= {
        "m_all": 70.0,
        "low": 60.0,
        "high": 80.0,
        "policies_low": 50.0,
        "policies_high": 90.0,
        "cost": [None, 0.002, 0.0011],
        "seconds": [2.0, 0.5, 1.0],
    }
    table = Table("effort", "Effort", "Note.", style.pd.DataFrame(data))
    titles = []
    for what in ("cost", "seconds"):
        figure = cost.score_against_cost_or_time_figure(table, what)
        assert figure is not None
        titles.append([axes.get_title() for axes in figure.plot().axes if axes.get_title()])
    assert titles == [["Quality", "Recall"]] * 2


def test_a_small_cost_is_told_per_thousand_answers() -> None:
    """Ticks of a price of a tenth of a cent are short numbers that keep clear of each other, and 0 is off the axis."""
    data = {
        "system": ["a/one"],
        "experiment": "quality",
        "answers": 10,
        "m_all": 70.0,
        "low": 60.0,
        "high": 80.0,
        "policies_low": 50.0,
        "policies_high": 90.0,
    }
    table = Table("effort", "Effort", "Note.", style.pd.DataFrame({**data, "cost": [0.0011], "seconds": [0.2]}))
    figure = cost.score_against_cost_or_time_figure(table, "cost")
    assert figure is not None
    drawn = figure.plot()
    drawn.draw_without_rendering()
    labels = [label for label in drawn.axes[0].get_xticklabels() if label.get_text()]
    assert {"0", "0.5", "1"} <= {label.get_text() for label in labels}
    assert drawn.axes[0].get_xlim()[0] < 0
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    assert all(before.x1 < after.x0 for before, after in itertools.pairwise(boxes))
