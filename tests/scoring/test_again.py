"""Answers that are sent back to their analysts to look again, and scores whose mean stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from queues import make_run, open_queue, save, work

from genaipa.errors import DataError, UsageError
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.events import SEND_BACK, Event, new_event_id, verify_log_and_list_breaks

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.queue import ScoringQueue
    from genaipa.scoring.store import ScoreStore

WORD = "Section 2 says more."


@pytest.fixture
def run() -> RunFolder:
    """A run with twelve answers."""
    return make_run()


def disputed(run: RunFolder, store: ScoreStore) -> tuple[ScoringQueue, str]:
    """A queue of which all is scored twice, and an answer whose two scores differ on two metrics."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2))
    first = queue.requested_answers_in_order_even_scored("Anna")[0]
    for analyst, keys in (("Anna", "11111"), ("Bo", "33111")):
        save(queue, analyst, first, keys)
        work(queue, analyst)
    return queue, first


def test_an_answer_comes_up_again_until_both_have_scored(run: RunFolder, each_store: ScoreStore) -> None:
    """It is next for both, hidden from both until the second has scored again; what they give is not independent."""
    queue, answer = disputed(run, each_store)
    assert queue.reserve_next_answer("Anna") is None
    assert answer not in queue.answers_analyst_may_still_score("Anna")
    queue.send_answer_back("Edsger", answer, WORD)
    assert (queue.reserve_next_answer("Anna"), queue.reserve_next_answer("Bo"), queue.reserve_next_answer("Cy")) == (
        answer,
        answer,
        None,
    )
    assert queue.measure_scoring_progress("Anna").remaining == 1
    given = save(queue, "Anna", answer, "11112")
    assert not given.independent
    assert queue.analysts_yet_to_rescore(answer) == ["Bo"]
    assert queue.reserve_next_answer("Anna") is None
    assert answer in queue.answers_analyst_may_still_score("Anna"), "Bo is still to look again"
    assert answer in queue.answers_analyst_may_still_score("Bo")
    save(queue, "Bo", answer, "33112")
    assert queue.analysts_yet_to_rescore(answer) == []
    assert answer not in queue.answers_analyst_may_still_score("Anna") | queue.answers_analyst_may_still_score("Bo")
    own = {score.analyst: score.values for score in queue.current.independent_human_scores() if score.answer == answer}
    assert own["Anna"] is not None
    assert own["Anna"]["reference"] == 1.0, "agreement is measured on what was given first"
    assert not verify_log_and_list_breaks(each_store).breaks


def test_whoever_looks_again_may_put_it_off_and_withdraw(run: RunFolder, store: ScoreStore) -> None:
    """A skip sends it to the end; what is withdrawn waits again; undone by the lead, nobody is asked any more."""
    queue, answer = disputed(run, store)
    other = queue.requested_answers_in_order_even_scored("Anna")[1]
    for digest in (answer, other):
        word = queue.send_answer_back("Edsger", digest, WORD)
    assert queue.reserve_next_answer("Anna") == answer
    queue.skip_answer("Anna", answer)
    assert queue.reserve_next_answer("Anna") == other
    save(queue, "Anna", other)
    assert queue.reserve_next_answer("Anna") == answer
    save(queue, "Anna", answer)
    queue.undo_last_score_or_skip("Anna")
    assert queue.answers_to_rescore("Anna") == [answer]
    queue.withdraw_event_and_restore_draft(word)
    assert queue.answers_to_rescore("Bo") == [answer]
    queue.adjudicate("Edsger", answer, save(queue, "Cy", other).values, note="", seconds=1, id=new_event_id())
    assert queue.answers_to_rescore("Bo") == [], "it is settled"


def test_what_can_be_sent_back(run: RunFolder, store: ScoreStore) -> None:
    """There is a word, it names none of those who are asked, and there is somebody to ask but the sender."""
    queue, answer = disputed(run, store)
    save(queue, "anna.b@example.org", answer)
    for word, told in (
        ("  ", "what should the analysts check"),
        ("Bo has a point.", "must not name Bo"),
        ("Not as Anna.B has it", "must not name Anna"),
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            queue.send_answer_back("Edsger", answer, word)
    assert queue.send_answer_back("Edsger", answer, "Bob's Boxes?  Both\nof them.").note == "Bob's Boxes? Both of them."
    queue.send_answer_back("Bo", answer, WORD)
    assert queue.analysts_yet_to_rescore(answer) == ["Anna", "anna.b@example.org"], "the sender knows the scores"
    lonely = open_queue(run, store, ScoringPlan(reference=("Anna", "Bo", "anna.b@example.org")))
    with pytest.raises(UsageError, match="nobody else has scored"):
        lonely.send_answer_back("Edsger", answer, WORD)
    with pytest.raises(DataError, match="says what to check"):
        store.append_new_events([Event(new_event_id(), "2026-01-01T00:00:00.000Z", SEND_BACK, "Edsger", answer)])


def test_the_mean_of_close_scores_stands(run: RunFolder, store: ScoreStore) -> None:
    """Scores half a point apart are settled without other values, until one of them changes; further ones are not."""
    queue, answer = disputed(run, store)
    with pytest.raises(UsageError, match=r"at most 0\.5 on every"):
        queue.accept_mean("Edsger", answer)
    save(queue, "Bo", answer, "22111")
    queue.accept_mean("Edsger", answer)
    (dispute,) = queue.visible_open_and_settled_disputes("Edsger", gives_scores=False)
    assert dispute.adjudication_or_mean_acceptance is dispute.mean_acceptance
    assert dispute.adjudication is None
    again = open_queue(run, store, ScoringPlan(per_answer=2))
    assert (
        again.visible_open_and_settled_disputes("Edsger", gives_scores=False)[0].adjudication_or_mean_acceptance
        == dispute.mean_acceptance
    ), "a desk that opens later knows it"
    save(queue, "Anna", answer, "11112")
    assert (
        queue.visible_open_and_settled_disputes("Edsger", gives_scores=False)[0].adjudication_or_mean_acceptance is None
    )
    assert not verify_log_and_list_breaks(store).breaks
