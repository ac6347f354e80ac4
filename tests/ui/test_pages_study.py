"""The desk's page for whoever leads: five questions, and what is said where there is too little to say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pages import Shown, desk_here, digests, dispute, make_desk, score
from running import carry_out, make_workspace, spec, write

from genaipa.errors import DataError, StoreError
from genaipa.scoring.people import User
from genaipa.ui.desk import Desk, list_progress_line_pieces
from genaipa.ui.signin import describe_time_left_per_analyst
from genaipa.ui.widgets import log_error_and_describe_for_desk
from rubrics import typed

LEAD = User("lead", scores=False, adjudicates=True)
STOP = "When may we stop?"


def said(desk: Desk, user: User = LEAD) -> dict[str, str]:
    """Question → the sentence below it."""
    data = Shown("study", desk, user).components()
    return {one["title"]: one["text"] for part in data.values() for one in part.get("texts", ()) if "title" in one}


def test_five_questions_have_an_answer() -> None:
    """Each is said from what the runs and the store hold, and a blank where that is too little."""
    found = said(dispute(make_desk()))
    assert found["How far along are we?"].startswith("7 of 8 scores are given (88%). About 1 min of")
    assert found["How far along are we?"].endswith("\ngrace: 3 of 4 (75%).\nada: 4 of 4 (100%).")
    assert "are too few for a forecast" in found["How far along are we?"]
    assert found["Who disagrees?"].startswith(
        "ada and grace disagree most: on 3 answers (fewer than 30: this may change)"
    )
    assert found["What to discuss?"].startswith(
        "Scores of 2 answers differ and are not settled. Start with the largest difference, 2 on a metric: 1 answer."
    )
    assert found["Is the judge good?"] == "No judge has scored an answer here."
    assert found[STOP].startswith("Too few scores")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("11111", "Now: the average of M_all is known to ±"),
        ("13333", " more scored answers of that system, but all systems together have only 0 unscored answers: add q"),
    ],
    ids=["alike", "far apart"],
)
def test_when_to_stop_is_told_from_people_alone(keys: str, words: str) -> None:
    """Where scores are alike one may stop; where they are not, so many more answers are needed."""
    make_workspace(12)
    carry_out(spec(systems=("extractive",), initializations=("company-name",)))
    desk = desk_here()
    for place, answer in enumerate(digests(desk)):
        score(desk, "ada", answer, "11112" if place == 0 else "11111" if place % 2 else keys)
    assert words in said(desk)[STOP]


def test_the_study_is_for_those_who_lead() -> None:
    """An analyst is told whose page it is, and nothing else."""
    page = Shown("study", dispute(make_desk()), User("ada", scores=True, adjudicates=False))
    assert page.components() == {}
    assert "This page is for those who adjudicate." in page.test.text[0].value


def test_what_is_told_at_the_desk_has_no_path(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever scores reads what is wrong; where the files are is for the terminal of the desk."""
    wrong = DataError(Path("/srv/study/answers.jsonl"), "is not readable.", "line 3")
    assert log_error_and_describe_for_desk(wrong) == "answers.jsonl: line 3: is not readable."
    assert log_error_and_describe_for_desk(
        StoreError("/srv/study/scores.db can't be used", "the scores can't be reached.")
    ) == ("the scores can't be reached.")
    assert capsys.readouterr().err == f"{wrong}\n/srv/study/scores.db can't be used\n"


def test_the_study_names_everyone_and_keeps_to_its_plan() -> None:
    """All analysts, whoever has not begun first, with the day; a reference analyst is not among who disagrees."""
    names = [f"analyst-{number}" for number in range(6)]
    # So many scores are left for four days, and for the three that are left if midnight comes meanwhile.
    due = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d")
    write("desk.yaml", f"analysts: [{', '.join(names)}]\nplan: {{target: 2, due: {due}}}\n")
    desk = make_desk()
    for name, keys in (("reference", "11111"), (names[1], "33333")):
        for answer in digests(desk)[:3]:
            score(desk, name, answer, keys)
    told = said(desk)
    first, *others = told["How far along are we?"].splitlines()
    assert f"3 of 8 scores are given (38%), due on {datetime.fromisoformat(due):%A}" in first
    assert ": that is 2 scores a day." in first
    assert [line.partition(":")[0] for line in others] == [name for name in names if name != names[1]] + [names[1]]
    assert others[-1] == "analyst-1: 3 of 4 (75%)."
    assert told["Who disagrees?"] == "No answer has been scored by two analysts beside reference yet."


def test_all_pages_count_scores() -> None:
    """Sign-in counts what the pad and Study count, and does not say that nobody has scored where somebody has."""
    desk = make_desk()
    assert desk.scores_given_and_wanted_sentence == "8 scores are wanted, 0 are given."
    assert describe_time_left_per_analyst(desk) == "The time per answer is not known yet: nobody has scored an answer."
    first, *others = digests(desk)
    for name, answer in (("reference", first), ("ada", others[0])):
        values = typed("11111")
        more = {"note": "", "suggested": {}, "id": f"{name} 1"}
        desk.queue.save_score(name, answer, values, seconds=None, **more)
    assert (
        desk.scores_given_and_wanted_sentence == "8 scores are wanted, 1 is given (plus 1 score by reference analysts)."
    )
    assert describe_time_left_per_analyst(desk).endswith("the scores so far have no times.")
    line = list_progress_line_pieces(desk, User("ada", scores=True, adjudicates=False), others[1], is_correction=False)
    assert "study: 1 of 8 scores, 7 left" in line
