"""A study's frames: each answer once, the table of answers and scores, filters, and scores put to it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from framing import answer_rows, columns, score_rows
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, score

from benchmarks.made_study import make_study
from genaipa.answers.gather import gather_study
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from rubrics import PAPER

if TYPE_CHECKING:
    from genaipa.answers.study import Study

ONE = {"systems": ("a/one",), "documents": ("uber",), "questions": ("T_f1", "T_f2", "T_f3", "T_u1")}


def study_of_scores(*analysts: int) -> Study:
    """Return a study in which that many people scored each answer, which took as many seconds as its place."""
    rows = [{**row, "seconds": place} for place, row in enumerate(answer_rows(**ONE))]
    people = ("ada", "bo", "cy")
    scores = [
        each for row, many in zip(rows, analysts, strict=True) for each in score_rows([row], analysts=people[:many])
    ]
    return make_study(rows, columns(scores), PAPER)


def test_an_average_of_a_fact_is_over_answers() -> None:
    """An answer with three scores is one answer; over the table it would count three times."""
    study = study_of_scores(3, 1, 0, 1)
    assert study.rows_once_per_answer("spending")["seconds"].mean() == 1.5
    assert study.make_tidy_table()["seconds"].mean() == pytest.approx((3 * 0 + 1 + 2 + 3) / 6)
    assert study.rows_once_per_answer()["counted"].tolist() == [True, True, False, True]
    assert "seconds" not in study.table, "no fact widens the table"
    assert study.table["row"].tolist() == [0, 0, 0, 1, 2, 3]


def test_the_answers_of_some_rows_are_numbered_anew() -> None:
    """Answers without a row go; the same study comes back where no row does."""
    study = study_of_scores(2, 1, 1, 1)
    assert study.select_rows(study.table["m_all"].notna()) is study
    some = study.select_rows(study.table["question"].isin(["T_f1", "T_u1"]))
    assert some.answers["question"].tolist() == ["T_f1", "T_u1"]
    assert some.table["row"].tolist() == [0, 0, 1]
    assert some.rows_once_per_answer("spending")["seconds"].tolist() == [0, 3]
    assert len(study.answers) == 4


def test_a_fact_is_known_where_anything_is() -> None:
    """What nobody knows is no column of answers; asked for by name, it is there and empty."""
    study = study_of_scores(1, 1, 1, 1)
    assert study.has_any_value_of_each_fact("spending", "silence")
    assert not study.has_any_value_of_each_fact("passages")
    assert not study.has_any_value_of_each_fact("no such fact")
    assert "passages" not in study.answers
    assert study.rows_once_per_answer("passages")["passages"].isna().all()
    assert not study.select_rows(study.table["question"] == "T_f1").has_any_value_of_each_fact("points")


def test_equal_answers_have_all_scores_of_their_words() -> None:
    """A score is of a text: each run's answer with it has the score."""
    rows = answer_rows(**ONE)
    for row in rows[1:3]:
        row["answer"] = rows[0]["answer"]
    study = make_study(rows, columns(score_rows(rows[:1], analysts=("ada", "bo"))), PAPER)
    assert study.table["row"].tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert study.table["analyst"].tolist() == ["ada", "bo"] * 3 + [""]


def test_new_scores_leave_the_study_before_as_it_was() -> None:
    """A study is changed never: what follows from scores is in another one, and goes when they are withdrawn."""
    make_workspace()
    write("say.yaml", "default: See section 1.\n")
    run, _ = carry_out(spec(systems=("scripted/say.yaml",)))
    study = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), None)
    first, second, *_ = answers(run)
    later = study.replace_scores_from_events([score("ada", first.digest, GOOD), score("ada", second.digest, POOR)])
    assert (study.table["counted"].sum(), later.table["counted"].sum()) == (0, 2)
    assert later.answers["key"].tolist() == study.answers["key"].tolist()
    again = later.replace_scores_from_events([])
    assert np.isnan(again.table["m_all"]).all()
    assert set(again.table["analyst"]) == {""}
