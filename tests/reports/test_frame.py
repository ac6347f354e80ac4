"""The tidy table: one row per answer and score, and which of them count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pandas as pd
import pytest
from framing import QUESTIONS, answer_rows, score_rows, study, tidy_of

from genaipa.answers import tidy as tidy_table
from genaipa.answers.fact import answer_facts, list_fact_columns, score_facts, study_facts
from genaipa.errors import UsageError
from genaipa.files.spreadsheets import unescape_formula
from rubrics import METRICS, PAPER, typed

PANDAS_3 = pd.__version__.split(".")[0] > "2"
ONE = {"systems": ("a/one",), "documents": ("uber",), "questions": ("T_f1",)}


def scored(answer: str, analyst: str, keys: str, **more):
    """A score as a row, its values given by five digits."""
    values = typed(keys)
    given = {metric: values[metric] for metric in METRICS}
    return {"answer": answer, "analyst": analyst, "role": "score", "scorer": "human", **given, **more}


def published(question: str = "T_f1", document: str = "uber", **values):
    """A score that a study published, as a row."""
    return {
        **answer_rows(**{**ONE, "questions": (question,)})[0],
        "unit": "table",
        # As it is gathered: what a published score has nothing to say of is None.
        **dict.fromkeys(("run", "key", "answer", "status", "initialization", "wording", "repetition")),
        "document": document,
        "role": "published",
        "scorer": "human",
        **values,
    }


def test_an_answer_has_a_row_for_each_analyst():
    """Two analysts' scores of one answer are two rows with the same key; their M_all follows from their values."""
    answers = answer_rows(**ONE)
    digest = answers[0]["answer"]
    frame = tidy_of(answers, [scored(digest, "ada", "11111"), scored(digest, "bo", "11233")])
    assert len(set(frame["key"])) == 1
    assert frame.set_index("analyst")["m_all"].to_dict() == {
        "ada": 100.0,
        "bo": pytest.approx(PAPER.m_all(typed("11233"))),
    }
    assert frame.set_index("analyst").loc["bo", ["m_all_positive", "m_all_negative"]].tolist() == [2.5, -2.0]
    assert frame["counted"].all()


def test_what_nobody_scored_has_a_row_and_no_values():
    """An unscored answer, a failure and a question not asked are rows that no average takes."""
    answers = answer_rows(**{**ONE, "questions": ("T_f1", "T_f2", "T_f3")})
    for answer, status in zip(answers, ("answered", "failed", "missing"), strict=True):
        answer["status"] = status
    for answer in answers[1:]:
        answer["answer"] = ""
    frame = tidy_of(answers)
    assert frame["status"].tolist() == ["answered", "failed", "missing"]
    assert frame["m_all"].isna().all()
    assert frame["averaged"].tolist() == [0, 0, 0]
    assert not frame["counted"].any()


def test_a_failure_never_takes_the_score_of_another_answer():
    """Scores are joined by digest; rows without a digest get none, even where a score had none either."""
    answers = answer_rows(**{**ONE, "questions": ("T_f1", "T_f2")})
    answers[1].update(answer="", status="failed")
    frame = tidy_of(answers, [scored(answers[0]["answer"], "ada", "11111"), scored("", "ada", "33333")])
    assert frame.set_index("question")["counted"].to_dict() == {"T_f1": True, "T_f2": False}


def test_an_adjudication_alone_counts_for_its_answer():
    """Where an answer was adjudicated, its scores stay in the table and only the adjudication is averaged."""
    answers = answer_rows(**{**ONE, "questions": ("T_f1", "T_f2")})
    settled, other = (answer["answer"] for answer in answers)
    frame = tidy_of(
        answers,
        [
            scored(settled, "ada", "11111"),
            scored(settled, "bo", "33333"),
            scored(settled, "cy", "22222", role="adjudication"),
            scored(other, "ada", "11111"),
        ],
    )
    assert frame[frame["counted"]].set_index("question")["analyst"].to_dict() == {"T_f1": "cy", "T_f2": "ada"}
    assert len(frame) == 4


def test_a_machines_score_is_never_averaged():
    """A machine's score stays in the table, uncounted, and an unscored answer stays unscored."""
    answers = answer_rows(**ONE)
    frame = tidy_of(answers, [scored(answers[0]["answer"], "judge", "11111", scorer="machine")])
    assert frame["m_all"].tolist() == [100.0]
    assert not frame["counted"].any()


def test_what_an_audit_excluded_counts_only_when_asked():
    """An excluded answer's score is in the table, and counted only where exclusions are included."""
    answers = answer_rows(**ONE)
    answers[0]["excluded"] = "is about another company"
    given = score_rows(answers)
    assert not tidy_of(answers, given)["counted"].any()
    assert tidy_of(answers, given, excluded=True)["counted"].all()


def test_a_published_score_brings_its_own_values():
    """M_all alone stays alone; five metrics imply M_all; a document may be empty."""
    frame = tidy_of(
        [
            published(m_all=77.5, averaged=1),
            published(document="", **dict.fromkeys(METRICS, 0.5), averaged=5),
        ]
    )
    alone, mean = (frame.iloc[place] for place in range(2))
    assert alone["m_all"] == 77.5
    assert pd.isna(alone["relevance"])
    assert mean["m_all"] == 77.5
    assert mean["document"] == ""
    assert frame["averaged"].tolist() == [1, 5]
    assert frame["key"].tolist() == ["", ""]
    assert frame["counted"].all()


def test_published_scores_and_scored_answers_stand_in_one_table():
    """Scores of the desk don't spill over to the rows of published tables, nor the other way round."""
    answers = answer_rows(**ONE)
    frame = tidy_of([*answers, published(m_all=10.0, averaged=1)], [scored(answers[0]["answer"], "ada", "11111")])
    assert frame.set_index("unit")["m_all"].to_dict() == {"answer": 100.0, "table": 10.0}


def test_columns_are_those_that_are_documented():
    """Every column has its documented type, in the documented order; questions keep the order of their set."""
    frame = study()
    assert list(frame.columns) == list(tidy_table.column_types_and_meanings(METRICS))
    assert dict(frame.dtypes.astype("str")) == {
        name: kind if PANDAS_3 or kind != "str" else "object"
        for name, (kind, _) in tidy_table.column_types_and_meanings(METRICS).items()
    }
    assert tuple(frame["question"].cat.categories) == QUESTIONS
    assert list(tidy_of([]).columns) == list(tidy_table.column_types_and_meanings(METRICS))


def values_of(frame):
    """Return the values of a frame, an absent number as an empty text."""
    return frame.astype(object).where(frame.notna(), "").to_dict("list")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_written_table_reads_back(tmp_path, suffix):
    """CSV and Parquet hold every value of which anything is known; Parquet the types and orders, too."""
    frame = study(analysts=("ada", "bo"))
    path = tmp_path / f"frame{suffix}"
    tidy_table.write_filled_columns_as_csv_or_parquet(frame, path)
    known = frame.drop(columns=[name for name in frame if name in list_fact_columns("passages", "wave", "points")])
    if suffix == ".parquet":
        again = pd.read_parquet(path)
        assert values_of(again) == values_of(known[list(again)])
    else:
        again = pd.read_csv(path, keep_default_na=False, dtype=str)
        assert again["system"].tolist() == frame["system"].tolist()
        assert again["m_all"].astype(float).tolist() == frame["m_all"].tolist()
    assert (
        not {*frame}
        - {*again}
        - {*list_fact_columns(*(each.name for each in (*answer_facts(), *study_facts(), *score_facts())))}
    )


def test_no_text_is_a_formula_in_a_spreadsheet(tmp_path):
    """What a model or a person is called is harmless in the CSV file, and itself again when it is read."""
    answers = answer_rows(**{**ONE, "systems": ("=HYPERLINK(1)",)})
    frame = tidy_of(answers, [scored(answers[0]["answer"], "@evil", "11111")])
    path = tmp_path / "frame.csv"
    tidy_table.write_filled_columns_as_csv_or_parquet(frame, path)
    cells = [cell for line in path.read_text().splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.lstrip('"').startswith(("=", "@", "+"))]
    again = pd.read_csv(path)
    assert [unescape_formula(again[name].item(), in_csv=True) for name in ("system", "analyst")] == [
        "=HYPERLINK(1)",
        "@evil",
    ]


def test_another_suffix_is_refused(tmp_path):
    """The two forms of the table are named."""
    with pytest.raises(UsageError, match=r"must end in \.csv or \.parquet"):
        tidy_table.write_filled_columns_as_csv_or_parquet(tidy_of([]), tmp_path / "frame.xlsx")


@pytest.mark.skipif(not PANDAS_3, reason="pandas 2 keeps texts as Python's own")
def test_texts_are_pythons_own_until_the_last_thread_has_left():
    """Tables are made with Python's texts; who leaves takes them from nobody, and Arrow's come back where they were."""

    def storage():
        return pd.Series(["a"]).dtype.storage

    with pd.option_context("mode.string_storage", "pyarrow"):
        assert tidy_of([])["key"].dtype.storage == "python"
        assert storage() == "pyarrow"
        first, others = ExitStack(), ThreadPoolExecutor(1)
        first.enter_context(tidy_table.plain_texts)
        others.submit(tidy_table.plain_texts.__enter__).result()
        first.close()
        assert storage() == "python"
        others.submit(tidy_table.plain_texts.__exit__).result()
        assert storage() == "pyarrow"
