"""Adjudicate sends an answer back, and lets a mean stand; the desk of each analyst says what to look at."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pages import EDSGER, Shown, digests, dispute, make_desk, score

from genaipa.scoring.people import User
from genaipa.ui.desk import Desk
from genaipa.ui.download import make_effective_human_scores_csv

ADA, GRACE = (User(name, scores=True, adjudicates=False) for name in ("ada", "grace"))
WORD = "Read section 2 once more."


@pytest.fixture
def disputed() -> Desk:
    """Two answers on which ada and grace differ, one alike and one scored once."""
    return dispute(make_desk())


def decide(page: Shown, what: str, typed: str = ".....", note: str = "") -> None:
    """Tell the page what the browser does when the adjudicator decides."""
    data = page.components()["verdict"]
    told = {"what": what, "id": data["id"], "typed": typed, "note": note, "seconds": 5}
    page.tell("verdict", "did", told)


def turn(page: Shown) -> dict[str, Any]:
    """The analyst's turn on the Score page."""
    return dict(page.components()["turn"])


def act(page: Shown, what: str, keys: str, note: str = "") -> None:
    """Tell the page of an act of the analyst."""
    here = turn(page)
    told = {"act": what, "id": here["id"], "number": here["answered"] + 1, "typed": keys, "note": note, "seconds": 3}
    page.tell("turn", "act", told | {"ticks": None})


def test_sent_back_it_comes_up_with_the_word_and_the_values(disputed: Desk) -> None:
    """Each analyst has their own values and the word, and nobody's name; the lead has the thread once both looked."""
    first, second, *_ = digests(disputed)
    page = Shown("adjudication", disputed, EDSGER)
    decide(page, "again")
    assert "what should the analysts check?" in page.components()["verdict"]["message"]
    decide(page, "again", note=WORD)
    assert page.components()["verdict"]["answer"] == second
    for user, keys in ((ADA, "12111"), (GRACE, "12111")):
        desk = Shown("scoring", disputed, user)
        here = turn(desk)
        assert (here["of"], here["mode"]) == (first, "correction")
        assert f"Please look again: “{WORD}”" in here["progress"]
        assert "." not in here["draft"]["typed"]
        other = {"ada", "grace", "edsger"} - {user.name}
        # Digests are hexadecimal, and may hold a name within.
        assert not [name for name in other if re.search(rf"\b{name}\b", json.dumps(desk.components()))]
        act(desk, "save", keys, note=f"{user.name} looked.")
    assert "verdict" in Shown("adjudication", disputed, EDSGER).components()
    given = {name: event.independent for name, event in disputed.current.scores_by_analyst(first).items()}
    assert given == {"ada": False, "grace": False}


def test_the_thread_is_there_once_both_have_scored(disputed: Desk) -> None:
    """While one is to look again, the other sees no more of it than before; then both, and the lead, read all of it."""
    first = digests(disputed)[0]
    page = Shown("adjudication", disputed, EDSGER)
    decide(page, "again", note=WORD)
    page.test.selectbox(key="adjudication state").select("sent back")
    page.run()
    assert page.components()["verdict"]["thread"] == [f"edsger sent the answer back: {WORD}"]
    score(disputed, "ada", first, "12111", note="So be it.")
    assert first in disputed.queue.answers_analyst_may_still_score("ada")
    score(disputed, "grace", first, "13111")
    page = Shown("adjudication", disputed, EDSGER)
    assert page.components()["verdict"]["answer"] == first, "it differs still"
    thread = page.components()["verdict"]["thread"]
    assert len(thread) == 3
    assert not re.search(r"\bada\b", json.dumps(thread))
    told = Shown("agreement", disputed, ADA)
    told.tell("agreement answers", "chosen", first)
    assert f"edsger sent the answer back: {WORD}" in told.text()
    assert "ada gave +1 +0.5 +1 +1 +1: So be it." in told.text()


def test_the_mean_stands_in_one_key(disputed: Desk) -> None:
    """It can where scores are half a point apart, counts as settled by the mean, and can be undone."""
    _, second, *_ = digests(disputed)
    page = Shown("adjudication", disputed, EDSGER)
    assert page.components()["verdict"]["can"]["mean"] is False, "two points apart"
    decide(page, "skip")
    assert page.components()["verdict"]["can"]["mean"] is True
    decide(page, "mean")
    assert "Answers with differing scores: 2, 1 of them settled (1 by the mean)" in page.text()
    assert disputed.current.list_adjudications_of_every_adjudicator() == []
    decide(page, "undo")
    assert page.components()["verdict"]["answer"] == second
    assert "Answers with differing scores: 2, 0 of them settled" in page.text()


def test_rows_of_one_question_can_be_told_apart(disputed: Desk) -> None:
    """Agreement and Overview say how each answer begins."""
    replies = {disputed.pool.load_case(answer).mask_names_in_reply()[:20] for answer in digests(disputed)[:2]}
    assert {row[1][:20] for row in Shown("agreement", disputed, EDSGER).rows("agreement answers")} == replies


def test_the_scores_can_be_downloaded_by_whoever_scores_no_more(disputed: Desk) -> None:
    """The table is that of `scores export`; whoever could still be asked to score, or does not lead, gets none."""
    label = "Download the scores (CSV)"
    lead = User("lead", scores=False, adjudicates=True)
    for name in ("study", "overview", "agreement"):
        assert [one.proto.label for one in Shown(name, disputed, lead).test.get("download_button")] == [label]
    table = make_effective_human_scores_csv(disputed).decode("utf-8-sig").splitlines()
    assert len(table) == 1 + 7
    assert table[0].startswith("digest,analyst,time,relevance")
    assert "extractive" in table[1]
    ahead = Shown("agreement", disputed, User("cy", scores=True, adjudicates=True))
    assert not ahead.test.get("download_button")
    assert "genaipa scores export" in ahead.text()
    assert not Shown("agreement", disputed, ADA).test.get("download_button")
