"""What is excluded, by its reason, and the averages without it and with it."""

from __future__ import annotations

import pytest
from framing import answer_rows, score_rows, study_of, tidy_of
from tabling import published

from genaipa.reports.chapters import exclusions, make_chapters
from genaipa.reports.figures.figure import ALONE, FigureScope
from genaipa.reports.notable import notable_sentences

ONE, TWO = "published/one", "published/two"


def frame(*, excluded=False):
    """Of one system a copied score in quality and a user's question in summary are excluded, of the other nothing."""
    rows = [published(ONE, "quality", name, "T_f1", m_all=73.0) for name in ("uber", "airbnb")]
    rows += [published(ONE, "quality", "spotify", "T_f1", m_all=10.0, excluded="duplicate-scores: Of recall.")]
    rows += [published(ONE, "quality", "uber", "T_u1", m_all=82.0)]
    rows += [published(ONE, "summary", "airbnb", "T_f1", m_all=100.0)]
    rows += [published(ONE, "summary", "airbnb", "T_u1", m_all=40.0, excluded="other-company: It is about another.")]
    rows += [published(ONE, "recall", "airbnb", "T_f1", m_all=100.0)]
    rows += [published(TWO, "quality", "uber", "T_f1", m_all=100.0)]
    return tidy_of(rows, excluded=excluded)


@pytest.mark.parametrize("included", [False, True])
def test_averages_without_and_with(included: bool) -> None:
    """Each average that loses something, without it and with it, whichever the report counts; others are not there."""
    data = exclusions.averages_with_and_without_excluded_table(frame(excluded=included)).data
    assert set(data["system"]) == {ONE}
    by = ["experiment", "questions", "without_excluded", "without_excluded_n", "with_excluded", "with_excluded_n"]
    assert data[by].round(4).fillna(0).to_numpy().tolist() == [
        ["all", "all", 86.5, 2, 72.5, 2],
        ["all", "faq", 91.0, 1, 84.0, 1],
        ["all", "user", 82.0, 1, 61.0, 1],
        ["quality", "all", 77.5, 2, 67.0, 2],
        ["quality", "faq", 73.0, 1, 52.0, 1],
        ["summary", "all", 100.0, 1, 70.0, 2],
        ["summary", "user", 0, 0, 40.0, 1],
    ]


def test_reasons_are_counted() -> None:
    """An answer that two people scored is one; a reason is listed once, with how many it leaves out."""
    rows = answer_rows(systems=("a/one",), documents=("uber",), questions=("T_f1", "T_f2", "T_u1"))
    rows = [{**row, "excluded": "other-company: It is about another."} for row in rows[:2]] + rows[2:]
    scored = tidy_of([*rows, published(ONE, "quality", "uber", "T_f1", m_all=10.0, excluded="copy: Twice.")],
                     score_rows(rows, analysts=("ada", "bo")))  # fmt: skip
    assert exclusions.exclusion_counts_table(scored).data.to_numpy().tolist() == [
        ["copy", ONE, "quality", 0, 1, "Twice."],
        ["other-company", "a/one", "quality", 2, 0, "It is about another."],
    ]
    told = "Excluded: 2 answers and 1 published score (reasons: other-company 2, copy 1)."
    assert told in notable_sentences(study_of(scored))
    made = exclusions.ExclusionsChapter().make(study_of(scored), FigureScope.from_scores_table(scored))
    assert [table.name for table in made.tables] == ["with-excluded", "excluded"]


def test_nothing_is_excluded() -> None:
    """Then there is no chapter."""
    plain = tidy_of([published(ONE, "quality", "uber", "T_f1", m_all=82.0)])
    assert "exclusions" not in {made.name for made in make_chapters(study_of(plain), ALONE.bounds).chapters}
