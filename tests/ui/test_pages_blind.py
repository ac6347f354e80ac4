"""What the desk's pages keep from whom, and what they note of who has seen what."""

from __future__ import annotations

import json

import pytest
import streamlit as st
from pages import EDSGER, Shown, desk_here, digests, dispute, make_desk, score

from genaipa.scoring.events import Draft
from genaipa.scoring.people import User
from genaipa.ui.desk import Desk


@pytest.fixture
def desk() -> Desk:
    """A desk with the four answers of one system, none of them scored."""
    return make_desk()


@pytest.fixture
def disputed(desk: Desk) -> Desk:
    """The same, with two answers on which ada and grace differ (the first more), one alike and one scored once."""
    return dispute(desk)


# -- what is hidden --


def test_an_answer_stays_blind_while_one_can_be_asked_to_score_it(desk):
    """System, run, initialization, conversation and others' scores are hidden until the user's own score is in."""
    first = digests(desk)[0]
    score(desk, "ada", first, "12312", note="ada's own note")
    page = Shown("overview", desk)
    page.tell("overview answers", "chosen", first)
    (run,) = desk.workspace.runs.iterdir()
    assert "You can still be asked to score this answer" in page.text()
    assert "Question 1 on Acme?" in page.text()
    about = {key: data for key, data in page.components().items() if key not in ("overview runs", "overview analysts")}
    assert "overview facts" not in about
    secrets = (run.name, "extractive", "company-name", "ada", "+0.5")
    assert [secret for secret in secrets if secret in json.dumps(about)] == []
    score(desk, EDSGER.name, first, "11111")
    page.run()
    assert ["run", run.name] in page.rows("overview facts")
    assert ["ada", "+1", "+0.5", "-1", "+1", "+0.5", "73.0", "ada's own note"] in page.rows("overview scores")
    assert page.components()["overview before"]["texts"]


def test_what_cannot_be_used_is_told_blind_without_paths(desk):
    """Whoever scores blind hears how much can't be read, not where: a path would say of which system's run it is."""
    (run,) = desk.workspace.runs.iterdir()
    log = run / "answers.jsonl"
    log.write_bytes(log.read_bytes() + b"#\n")
    desk.pool.read_new_answers()
    said = [
        Shown("overview", desk, user).components()["overview problems"]["texts"][0]["text"]
        for user in (EDSGER, User("lead", scores=False, adjudicates=True))
    ]
    assert "The runs have 1 problem" in said[0]
    assert "genaipa validate --data" in said[0]
    assert str(log.parent.parent) not in said[0]
    assert str(log) in said[1]


def test_an_answer_stays_blind_while_one_is_at_it(desk):
    """Others may have given all the scores that are wanted: who is in the middle of theirs sees nothing yet."""
    first, second, *_ = digests(desk)
    desk.store.save_draft(Draft(EDSGER.name, first, "score", typed="12..."))
    for answer in (first, second):
        score(desk, "ada", answer, "12312")
        score(desk, "grace", answer, "12313")
    page = Shown("overview", desk)
    page.tell("overview answers", "chosen", first)
    assert "overview scores" not in page.components()
    assert [row[0] for row in Shown("agreement", desk).rows("agreement answers")] == ["Question 2 on Acme? (Q2)"]
    page.tell("overview answers", "chosen", second)
    assert "overview scores" in page.components()
    desk.store.discard_draft(EDSGER.name, first)
    page.tell("overview answers", "chosen", first)
    assert "overview scores" in page.components()


def test_a_conversation_hides_what_is_still_to_be_scored(desk):
    """What was said before a scored answer does not give away whose the unscored ones in it are."""
    last = max(desk.pool.answers, key=lambda digest: desk.pool.answers[digest].occurrences[0].offset)
    score(desk, EDSGER.name, last, "11111")
    page = Shown("overview", desk)
    page.tell("overview answers", "chosen", last)
    before = page.components()["overview before"]["texts"]
    hidden = [text for text in before if text["text"].startswith("Hidden")]
    assert len(hidden) == 3
    for digest in set(desk.pool.answers) - {last}:
        assert desk.pool.load_case(digest).reply not in [text["text"] for text in before]
        score(desk, EDSGER.name, digest, "11111")
    page.run()
    assert "Hidden" not in json.dumps(page.components()["overview before"])


def test_whoever_does_not_score_sees_everything(desk):
    """An adjudicator who is not an analyst is asked for no score, so nothing is hidden from them."""
    page = Shown("overview", desk, User("edsger", scores=False, adjudicates=True))
    page.tell("overview answers", "chosen", digests(desk)[0])
    assert "hidden" not in json.dumps(page.components()["overview answers"])
    assert "overview facts" in page.components()


def test_choosing_a_run_lists_no_blind_answer(desk):
    """A list of one run's answers would say whose they are: those that can still be asked for are left out."""
    first = digests(desk)[0]
    score(desk, EDSGER.name, first, "11111")
    page = Shown("overview", desk)
    (run,) = desk.workspace.runs.iterdir()
    assert len(page.rows("overview answers")) == 4
    page.test.selectbox(key="overview run").select(run.name)
    page.run()
    assert [row["id"] for row in page.components()["overview answers"]["rows"]] == [first]
    assert "3 answers of this run are left out" in page.text()


def test_whoever_was_shown_scores_is_not_asked_again(desk):
    """Should a score be withdrawn after one has looked, the answer goes to another analyst."""
    first = digests(desk)[0]
    score(desk, "ada", first, "11111")
    score(desk, "grace", first, "11112")
    page = Shown("overview", desk)
    page.tell("overview answers", "chosen", first)
    assert "overview scores" in page.components()
    desk.queue.undo_last_score_or_skip("grace")
    asked = set()
    while (digest := desk.queue.reserve_next_answer(EDSGER.name)) is not None:
        asked.add(digest)
        score(desk, EDSGER.name, digest, "11111")
    assert asked == set(desk.pool.answers) - {first}


def test_agreement_lists_no_answer_that_one_can_be_asked_for(disputed):
    """An answer that wants a third score is listed for those who gave theirs, and not for others."""
    wanting = desk_here(per_answer=3)
    assert "agreement answers" not in Shown("agreement", wanting).components()
    ada = Shown("agreement", wanting, User("ada", scores=True, adjudicates=False))
    assert len(ada.rows("agreement answers")) == 2


# -- what was seen --


def test_whoever_is_shown_whose_an_answer_is_scores_it_blind_no_more(desk):
    """The list and the conversation say whose answers are; a score corrected after that says that it is not blind."""
    first, second, *_ = digests(desk)
    ada = User("ada", scores=True, adjudicates=False)
    score(desk, "ada", first, "11111")
    for _ in range(2):
        Shown("overview", desk, ada)
    again = score(desk, "ada", first, "33333")
    assert (again.blind, again.independent) == (False, True)
    assert [event.kind for event in desk.store.load_answer_events(first)] == ["score", "look", "score"]
    other = score(desk, "ada", second, "11111")
    assert (other.blind, other.independent) == (True, True)


def test_what_was_said_before_shows_whose_it_was(desk):
    """To read a conversation is to see whose the answers in it are, those that are not in the list too."""
    *others, last = sorted(desk.pool.answers, key=lambda digest: desk.pool.answers[digest].occurrences[0].offset)
    score(desk, EDSGER.name, last, "11111")
    page = Shown("overview", desk)
    page.test.selectbox(key="overview question").select(desk.pool.answers[last].question)
    page.run()
    page.tell("overview answers", "chosen", last)
    score(desk, EDSGER.name, others[0], "11111")
    page.run()
    assert not score(desk, EDSGER.name, others[0], "33333").blind
    assert score(desk, EDSGER.name, others[1], "33333").blind


def test_whoever_has_seen_the_comparison_gives_no_independent_score(desk):
    """Undone and saved anew after the reference's values were shown, a calibration score says that it was swayed."""
    first = digests(desk)[0]
    score(desk, "reference", first, "22222")
    calibrating = desk_here(calibration=1)
    page = Shown("scoring", calibrating)

    def act(what, typed="....."):
        data = page.components()["turn"]
        sent = {"act": what, "id": data["id"], "number": 1, "typed": typed, "note": "", "seconds": 5.0}
        page.tell("turn", "act", sent | {"revision": 1})

    act("save", "33333")
    assert page.components()["turn"]["comparison"]["by"] == "reference"
    act("compared")
    act("undo")
    act("save", "11111")
    scores = [event for event in calibrating.store.load_answer_events(first) if event.analyst == EDSGER.name]
    assert [(event.kind, event.independent) for event in scores] == [
        ("score", True),
        ("look", False),
        ("undo", False),
        ("score", False),
    ]


def test_agreement_leaves_out_what_was_changed_after_a_look(disputed):
    """A correction by one who has seen the other's score changes no number, and that it is left out is said."""
    first = digests(disputed)[0]
    grace = User("grace", scores=True, adjudicates=False)
    before = Shown("agreement", disputed)
    assert "left out because the analyst" not in before.text()
    overview = Shown("overview", disputed, grace)
    overview.tell("overview answers", "chosen", first)
    changed = score(disputed, "grace", first, "11111")
    assert (changed.blind, changed.independent) == (False, False)
    page = Shown("agreement", disputed)
    assert page.rows("agreement metrics") == before.rows("agreement metrics")
    assert "One score is left out because the analyst" in page.text()
    assert not score(disputed, "grace", first, "33333").independent


def test_whoever_is_shown_how_far_scores_are_apart_has_seen_them(disputed):
    """The list of answers that differ is a look at the scores of those that are on screen."""
    ada = User("ada", scores=True, adjudicates=False)
    first, second, third, _ = digests(disputed)
    Shown("agreement", disputed, ada)
    given = {answer: score(disputed, "ada", answer, "33333") for answer in (first, second, third)}
    assert [given[answer].independent for answer in (first, second, third)] == [False, False, True]
    assert {event.blind for event in given.values()} == {True}


# -- what can't be read --


@pytest.mark.parametrize("name", ["scoring", "overview", "adjudication"])
def test_a_damaged_answer_is_set_aside(disputed, name, capsys):
    """What can't be read is asked for no more; only where the desk was started it is said what and whose it is."""
    first = digests(disputed)[0]
    where = disputed.pool.answers[first].occurrences[0]
    if name == "scoring":
        for _ in range(3):
            disputed.queue.undo_last_score_or_skip("grace")
        assert disputed.queue.reserve_next_answer("grace") == first
    # Another test of this process may have had the same answer on screen.
    st.cache_resource.clear()
    log = disputed.workspace.runs / where.run / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(b"#" * (len(line) - 1) + b"\n" if where.key.encode() in line else line for line in lines))
    capsys.readouterr()
    page = Shown(name, disputed, User("grace", scores=True, adjudicates=True))
    if name == "overview":
        page.tell("overview answers", "chosen", first)
    assert first not in disputed.pool.answers
    assert str(log) in capsys.readouterr().err
    (said,) = disputed.pool.problems
    assert "Q1 about acme" in said
    assert str(log) not in said
    shown = {"scoring": "answer", "adjudication": "verdict"}.get(name)
    if shown:
        assert page.components()[shown]["answer"] in disputed.pool.answers
