"""Averages that rest on a choice between published tables: both ways in the report, and marked on its figures."""

from __future__ import annotations

import pytest
from framing import study_of, tidy_of
from matplotlib.figure import Figure as Canvas
from tabling import published

from genaipa.reports.chapters import documents, metrics, sensitivity
from genaipa.reports.chapters.chapter import Chapter
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Scope

SYSTEM = "published/one"
CONTRADICTS = "tables-contradict: The row's scores average 7.30; the metrics imply 5.50."
REPEATS = "duplicate-scores: Nothing shows which is the copy."


def frame(*, excluded=False):
    """T_f1 contradicts its metrics; recall's column about uber stands in summary as well; T_u1 is in no doubt."""
    quality = [published(SYSTEM, "quality", name, "T_f1", m_all=7.3, doubt=CONTRADICTS) for name in ("uber", "airbnb")]
    quality += [published(SYSTEM, "quality", "", "T_f1", metrics=0.0, doubt=CONTRADICTS)]
    quality += [published(SYSTEM, "quality", name, "T_u1", m_all=8.2) for name in ("uber", "airbnb")]
    recall = [published(SYSTEM, "recall", "uber", "T_f1", m_all=1.0, doubt=REPEATS)]
    recall += [published(SYSTEM, "recall", "airbnb", "T_f1", m_all=3.7)]
    summary = [published(SYSTEM, "summary", "uber", "T_f1", m_all=1.0, doubt=REPEATS, excluded=REPEATS)]
    summary += [published(SYSTEM, "summary", "airbnb", "T_f1", m_all=10.0)]
    summary += [published(SYSTEM, "summary", "airbnb", "T_u1", m_all=10.0, excluded="It is about another company.")]
    other = [published("published/two", "quality", "uber", "T_f1", m_all=10.0)]
    return tidy_of([*quality, *recall, *summary, *other], excluded=excluded)


@pytest.mark.parametrize("included", [False, True])
def test_averages_by_both_sources(included: bool) -> None:
    """Each affected average by the choice, by the other source and with everything; others are not there.

    The table is the same in a report that includes what was left out.
    """
    found = sensitivity.sensitivity(frame(excluded=included)).data
    rows = {
        (row.experiment, row.questions): (row.chosen, row.other, row.everything) for row in found.round(4).itertuples()
    }
    assert set(found["system"]) == {SYSTEM}
    assert rows == {
        ("quality", "all"): (77.5, 68.5, 77.5),
        ("quality", "faq"): (73.0, 55.0, 73.0),
        ("recall", "all"): (23.5, 37.0, 23.5),
        ("recall", "faq"): (23.5, 37.0, 23.5),
        ("summary", "all"): (100.0, 55.0, 77.5),
        ("summary", "faq"): (100.0, 55.0, 55.0),
        ("all", "all"): (73.75, 65.5, 70.75),
        ("all", "faq"): (65.5, 49.0, 50.5),
    }
    numbers = found.set_index(["experiment", "questions"])[["chosen_n", "other_n", "everything_n"]]
    assert numbers.loc[("summary", "all")].tolist() == [1, 1, 2]
    clarity = found.set_index(["experiment", "questions"]).loc[("quality", "faq")]
    assert clarity[["clarity_chosen", "clarity_other", "clarity_everything"]].tolist() == [0.0, 0.0, 0.0]


def test_nothing_rests_on_a_choice() -> None:
    """Without a doubt there is no chapter, no column in a table and no mark on a figure."""
    plain = tidy_of([published(SYSTEM, "quality", "uber", q, m_all=8.2, metrics=0.6) for q in ("T_f1", "T_u1")])
    assert not sensitivity.chapter(study_of(plain), Scope.of(plain))
    for chapter in (documents, metrics):
        made = chapter.chapter(study_of(plain), Scope.of(plain))
        assert made.figures
        assert not any("doubtful" in column for table in made.tables for column in table.data)
        assert not any("doubt" in f"{legend(figure.plot())} {figure.note}" for figure in made.figures)


def legend(drawn: Canvas) -> str:
    """The words of a figure's legend."""
    return " ".join(text.get_text() for key in drawn.legends for text in key.get_texts())


def marks(drawn: Canvas, **look: object) -> int:
    """How many points of a figure look like this."""
    lines = [line for axes in drawn.axes for line in axes.lines]
    alike = [line for line in lines if all(getattr(line, f"get_{name}")() == value for name, value in look.items())]
    return sum(len(line.get_xdata()) for line in alike)


def figures(chapter: object) -> dict[str, tuple[Canvas, str]]:
    """The figures of a chapter and their captions, by name."""
    made: Chapter = chapter.chapter(study_of(frame()), Scope.of(frame()))  # type: ignore[attr-defined]
    return {figure.name: (figure.plot(), figure.note) for figure in made.figures}


@pytest.mark.full
def test_box_plots_mark_doubtful_sources() -> None:
    """Their points are hollow, their boxes have a dot behind n, and the legend and the caption say why."""
    made = figures(documents)
    quality, note = made["quality-by-document"]
    assert marks(quality, markerfacecolor="white", linestyle="None") == 2
    written = [text.get_text() for axes in quality.axes for text in axes.texts]
    assert {text for text in written if text.startswith("n=")} == {"n=2 •", "n=1 •", "n=1"}
    assert style.DOUBT in legend(quality)
    assert "hollow" in note
    summary, note = made["summary-by-document"]
    assert marks(summary, markerfacecolor="white", linestyle="None") == 0
    assert style.DOUBT not in f"{legend(summary)} {note}"


def test_heat_maps_mark_doubtful_sources() -> None:
    """A dot in each cell of the five metrics, and in that of M_all; not where the value is in no doubt."""
    made = figures(metrics)
    for name, cells in (("quality-metrics", 5), ("quality-categories", 5), ("quality-overall", 1)):
        drawn, note = made[name]
        assert marks(drawn, marker="o", markersize=2.0) == cells, name
        assert style.DOUBT in legend(drawn), name
        assert style.DOUBT in note, name
    summary, note = made["summary-overall"]
    assert style.DOUBT not in f"{legend(summary)} {note}"
