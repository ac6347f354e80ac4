"""Levels of effort of one model: their differences, what these cost, and their line in the figures."""

from __future__ import annotations

import pytest
from framing import QUESTIONS, answer_rows, score_rows, study_of, tidy_of

from genaipa.reports.chapters.cost import CostChapter
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.levels import effort_level_differences_table
from genaipa.reports.matches import m_all_differences_of_all_system_pairs

TOLD = {"none": (None, 1.5, 0.002), "low": (200.0, 3.0, 0.004), "high": (1_000.0, 12.0, 0.016)}
"""Level → tokens of thoughts, seconds and dollars of an answer."""


def levels_study(*systems, scored=12, **changed):
    """A study of a model at levels, the last of which people scored for so many questions only."""
    answers = answer_rows(systems=systems, documents=("uber", "spotify", "acme"), questions=QUESTIONS[:12])
    for row in answers:
        thoughts, seconds, dollars = TOLD.get(row["system"].partition("@")[2], (None, 1.0, 0.001))
        row |= {"seconds": seconds, "cost": dollars, "tokens_out": 90.0, "thought_tokens": thoughts, **changed}
    some = [row for row in answers if row["system"] != systems[-1] or row["question"] in QUESTIONS[:scored]]
    return study_of(tidy_of(answers, score_rows(some)))


def test_a_model_is_compared_with_itself_at_each_level() -> None:
    """Highest minus lowest comes first; money, time and thoughts are those of the same questions and documents."""
    study = levels_study("a/m@low", "a/m@high", "b/two", "a/m@none")
    chapter = CostChapter().make(study, FigureScope())
    table = chapter.tables[0]
    assert [*table.data["levels"]] == ["high minus none", "high minus low", "low minus none"]
    assert {*table.data["system"]} == {"a/m"}
    assert [*table.data["money"]] == pytest.approx([8, 4, 2])
    assert [*table.data["time"]] == pytest.approx([8, 4, 2])
    # Who reports thoughts of some answers had none before the others.
    assert [*zip(table.data["thoughts"], table.data["thoughts_less"], strict=True)] == [
        (1000, 0),
        (1000, 200),
        (200, 0),
    ]
    widest = table.data.iloc[0]
    assert f"a/m, high minus none: {widest['difference']:+.1f} (".replace("-", "\u2212") in chapter.lead
    assert "for policies like these) for 8.0 \u00d7 the money and 8.0 \u00d7 the time. " in chapter.lead
    assert "no ratio" not in table.note
    assert not chapter.absent


def test_the_difference_of_two_levels_is_that_of_two_systems() -> None:
    """With a single pair nothing is adjusted, so that both tables say the same, but for who comes first."""
    study = levels_study("b/m@high", "b/m@max")
    (ours,) = effort_level_differences_table(study).data.to_dict("records")
    (theirs,) = m_all_differences_of_all_system_pairs(study.table).to_dict("records")
    sign = 1 if theirs["first"] == "b/m@max" else -1
    assert ours["difference"] == pytest.approx(sign * theirs["difference"])
    ends = [theirs["policies_low"], theirs["policies_high"]][::sign]
    assert [ours["policies_low"], ours["policies_high"]] == pytest.approx([sign * end for end in ends])
    assert ours["policies_p_holm"] == pytest.approx(theirs["policies_p_holm"])


def test_what_is_unknown_of_levels_is_said_once() -> None:
    """Without prices there is no ratio of money; a level of few scores is named; a model without levels has none."""
    chapter = CostChapter().make(levels_study("a/m@none", "a/m@high", scored=9, cost=None), FigureScope())
    table = chapter.tables[0]
    assert table.note.count("There is no ratio of money where a price is unknown") == 1
    assert table.data["money"].isna().all()
    assert "money" not in chapter.lead
    assert chapter.absent == ["a/m@high: people scored answers to 9 questions, too few to compare its level."]
    free = CostChapter().make(levels_study("a/m@none", "a/m@high", cost=0.0, seconds=0.01), FigureScope())
    assert "no ratio of money" in free.tables[0].note
    assert "no ratio of time where no time was measured" in free.tables[0].note
    plain = CostChapter().make(levels_study("a/m@high", "b/two"), FigureScope())
    assert [table.name for table in plain.tables] == ["effort"]
    assert plain.lead.endswith("their cost.")


def test_a_line_joins_the_levels_of_a_model() -> None:
    """From the least level to the highest, in one look and named at each point; another system is a point alone."""
    study = levels_study("a/m@high", "b/two", "a/m@none", "a/m@low")
    money, time = CostChapter().make(study, FigureScope()).figures
    for figure, wanted in ((money, [0.002, 0.004, 0.016]), (time, [1.5, 3.0, 12.0])):
        canvas = figure.plot()
        (axes,), (legend,) = canvas.axes, canvas.legends
        (line,) = (line for line in axes.lines if len(line.get_xdata()) == len(wanted))
        assert [*line.get_xdata()] == pytest.approx(wanted)
        points = [line for line in axes.lines if line.get_marker() not in {"None", "", "_"}]
        assert len({(point.get_color(), point.get_marker()) for point in points}) == 2
        assert {text.get_text() for text in axes.texts} >= {"none", "low", "high", "n=36 each"}
        assert axes.get_xscale() == "log"
        assert [text.get_text().strip() for text in legend.texts][:2] == ["a/m", "b/two"]
