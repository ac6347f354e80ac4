"""The n beside the metrics is theirs, and not that of M_all."""

from __future__ import annotations

from drawn import written
from framing import answer_rows, score_rows, tidy_of

from genaipa.reports.chapters import metrics
from rubrics import METRICS, PAPER

TABLE = {
    "unit": "table",
    "analyst": "published",
    "role": "published",
    "scorer": "human",
    "rubric": PAPER.digest,
    "status": "",
    "averaged": 1,
    "answer": "",
}


def published(question, document, m_all=None, **values):
    """A score that a study gives without metrics, or a mean of its metrics over documents."""
    about = {"system": "a/one", "experiment": "quality", "document": document, "question": question, "kind": "policy"}
    return {**about, **TABLE, "category": "T", "source": "faq", "m_all": m_all, **values}


def test_a_category_whose_metrics_rest_on_one_question_says_one() -> None:
    """Four questions have an M_all, one of them metrics: the heat map and the table give n = 1 for the metrics."""
    answers = answer_rows(systems=("a/one",), documents=("uber",), questions=("T_u1",))
    bare = [published(question, "uber", 7.75) for question in ("T_f1", "T_f2", "T_f3")]
    table = metrics.metrics_by_category_table(tidy_of([*answers, *bare], score_rows(answers)))
    row = table.data.iloc[0]
    assert (row["questions"], row["m_all_questions"]) == (1, 4)
    figure = metrics.metrics_by_category_map(table, "quality")
    assert figure is not None
    assert figure.plot()._suptitle.get_text().endswith(", n = 1 question")
    assert "n = 1" in figure.note


def test_metrics_that_are_published_means_do_not_borrow_the_documents_of_m_all() -> None:
    """A question whose M_all is known of two documents and whose metrics only over all: n of the metrics is `mean`."""
    rows = [published("T_f1", document, 5.5) for document in ("uber", "spotify")]
    rows.append(published("T_f1", "", 5.5, **dict.fromkeys(METRICS, 0.5)))
    table = metrics.metrics_by_question_table(tidy_of(rows))
    row = table.data.iloc[0]
    assert (row["documents"], row["m_all_documents"], row["accuracy"]) == (0, 2, 0.5)
    figure = metrics.metrics_by_question_map(table, "quality")
    assert figure is not None
    assert "mean" in written(figure.plot().axes[0])
