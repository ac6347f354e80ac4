"""Whom the queue asks, from whom it keeps the scores of others, and what it notes of who has seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from queues import make_run, open_queue, save, work
from stores import GOOD, POOR, kept, score, undo

from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.events import new_event_id
from rubrics import keys_of

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.queue import ScoringQueue


@pytest.fixture
def run() -> RunFolder:
    """A run with twelve answers: four to each of three documents."""
    return make_run()


# -- who could be asked --


def test_what_is_ahead(run, store):
    """All that wants a score, on whosever screen it is, until one has scored it, or has seen its scores."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2))
    everything = set(queue.pool.answers)
    for analyst in ("Anna", "Bo"):
        assert queue.reserve_next_answer(analyst) is not None
    assert queue.answers_analyst_may_still_score("Cy") == queue.answers_analyst_may_still_score("Anna") == everything
    first, second, third = queue.requested_answers_in_order_even_scored("Anna")[:3]
    for digest in (first, second):
        save(queue, "Anna", digest)
    save(queue, "Bo", first)
    assert queue.answers_analyst_may_still_score("Anna") == everything - {first, second}
    assert queue.answers_analyst_may_still_score("Cy") == everything - {first}
    queue.record_exposures("Cy", [third], sees_scores=True)
    assert queue.answers_analyst_may_still_score("Cy") == everything - {first, third}
    queue.undo_last_score_or_skip("Bo")
    assert queue.answers_analyst_may_still_score("Cy") == everything - {third}
    assert queue.answers_analyst_may_still_score("reference") == everything


def test_calibration_is_ahead(run, store):
    """Of the answers that have all their scores, just those are ahead that a new analyst is to calibrate on."""
    queue, referenced = calibrated(run, store)
    work(queue, "Anna")
    assert queue.answers_analyst_may_still_score("Bo") == set(referenced[:3])
    save(queue, "Bo", referenced[0])
    assert queue.answers_analyst_may_still_score("Bo") == set(referenced[1:3])
    assert queue.answers_analyst_may_still_score("reference") == set(queue.pool.answers) - set(referenced)


# -- calibration --


def calibrated(run, store, per_answer: float = 1, calibration: int = 3) -> tuple[ScoringQueue, list[str]]:
    """A desk at which the reference analyst has scored five answers, and those."""
    queue = open_queue(run, store, ScoringPlan(per_answer=per_answer, calibration=calibration))
    return queue, work(queue, "reference", answers=5, keys="22222")


def test_a_new_analyst_begins_with_calibration(run, store):
    """The first answers are ones that the reference analyst has scored, the same for all; then come the others."""
    queue, referenced = calibrated(run, store)
    for analyst in ("Anna", "Bo"):
        done = []
        for number in range(4):
            digest = queue.reserve_next_answer(analyst)
            assert queue.would_score_count_as_calibration(digest, analyst) == (number < 3)
            done.append(save(queue, analyst, digest))
        assert [event.answer for event in done[:3]] == referenced[:3]
        assert [event.calibration for event in done] == [True, True, True, False]
    assert not any(event.calibration for event in queue.current.scores_of_analyst("reference"))


def test_the_reference_is_shown_after_ones_own_score_only(run, store):
    """Before their own score an analyst can't have the reference's, after it they can."""
    queue, _ = calibrated(run, store)
    digest = queue.reserve_next_answer("Anna")
    assert queue.reference_score_after_own_score(digest, "Anna") is None
    save(queue, "Anna", digest)
    assert keys_of(queue.reference_score_after_own_score(digest, "Anna").values) == "22222"
    assert queue.reference_score_after_own_score(digest, "reference") is None
    queue.undo_last_score_or_skip("Anna")
    assert queue.would_score_count_as_calibration(digest, "Anna")
    assert queue.reference_score_after_own_score(digest, "Anna") is None


def test_a_correction_of_a_calibration_score_stays_one(run, store):
    """What was a calibration score is one after a correction, when calibration is long over."""
    queue, referenced = calibrated(run, store)
    work(queue, "Anna", answers=6)
    assert save(queue, "Anna", referenced[0], "33333").calibration


def test_calibration_goes_on_with_another_answer(run, store):
    """Where the scores of a calibration answer were seen, the next one takes its place."""
    queue, referenced = calibrated(run, store)
    queue.record_exposures("Bo", [referenced[1]], sees_scores=True)
    assert not queue.would_score_count_as_calibration(referenced[1], "Bo")
    assert work(queue, "Bo", answers=3) == [referenced[0], referenced[2], referenced[3]]


def test_reference_scores_fill_nothing(run, store):
    """What the reference analyst has scored is still asked of the others, and counts in no progress."""
    queue, referenced = calibrated(run, store, calibration=0)
    assert queue.measure_scoring_progress("Anna").given == 0
    assert set(referenced) <= set(work(queue, "Anna"))
    assert queue.measure_scoring_progress("Anna").given == 12
    # The reference analyst goes on, although every answer has the score that is wanted.
    assert len(work(queue, "reference")) == 7


def test_calibration_is_asked_of_everyone(run, store):
    """A calibration answer that has all its scores is asked of a new analyst all the same, and counted as left."""
    queue, referenced = calibrated(run, store)
    assert len(work(queue, "Anna")) == 12
    assert queue.measure_scoring_progress("Bo").remaining == 3
    assert work(queue, "Bo") == referenced[:3]
    assert queue.measure_scoring_progress("Bo").remaining == 0


# -- adjudication --


def disputed(run, store) -> ScoringQueue:
    """A desk at which Anna and Bo have scored everything, and differ on the first three of Anna's answers."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2))
    done = work(queue, "Anna")
    differing = dict(
        zip(queue.requested_answers_in_order_even_scored("Anna"), ("11112", "13111", "12111"), strict=False)
    )
    for digest in done:
        save(queue, "Bo", digest, differing.get(digest, "11111"))
    return queue


def test_what_differs_is_to_be_settled(run, store):
    """Disputes are found with how far apart the scores are, the largest difference first."""
    queue = disputed(run, store)
    order = queue.requested_answers_in_order_even_scored("Anna")
    assert [d.answer for d in queue.visible_open_and_settled_disputes("Cy")] == [
        order[1],
        *sorted((order[0], order[2])),
    ]
    dispute = queue.visible_open_and_settled_disputes("Cy")[0]
    assert dispute.differences == {
        "relevance": 0.0,
        "accuracy": 2.0,
        "clarity": 0.0,
        "completeness": 0.0,
        "reference": 0.0,
    }
    assert dispute.largest_difference == 2.0
    assert {name: keys_of(event.values) for name, event in dispute.scores.items()} == {"Anna": "11111", "Bo": "13111"}


def test_an_adjudication_is_a_third_record(run, store):
    """The adjudicated score stands beside the two, which stay; the dispute is then a settled one."""
    queue = disputed(run, store)
    digest = queue.requested_answers_in_order_even_scored("Anna")[1]
    event = queue.adjudicate("Cy", digest, GOOD, note="Bo missed 2.", seconds=20.0, id="settled")
    assert queue.adjudicate("Cy", digest, GOOD, note="Bo missed 2.", seconds=20.0, id="settled") == event
    assert queue.current.find_latest_adjudication(digest) == event
    assert set(queue.current.scores_by_analyst(digest)) == {"Anna", "Bo"}
    assert len(queue.visible_open_and_settled_disputes("Cy")) == 3
    assert {d.answer: d.adjudication for d in queue.visible_open_and_settled_disputes("Cy") if d.adjudication} == {
        digest: event
    }
    # A correction that agrees ends it.
    save(queue, "Bo", queue.requested_answers_in_order_even_scored("Anna")[0])
    assert len(queue.visible_open_and_settled_disputes("Cy")) == 2


def test_an_adjudication_can_be_withdrawn(run, store):
    """What was typed comes back, and whoever gave it is still not asked to score the answer."""
    queue = disputed(run, store)
    digest = queue.requested_answers_in_order_even_scored("Anna")[1]
    event = queue.adjudicate("Cy", digest, POOR, note="Hm.", seconds=20.0, id="settled")
    assert queue.current.find_latest_adjudication(digest) == event
    queue.withdraw_event_and_restore_draft(event)
    assert queue.current.find_latest_adjudication(digest) is None
    draft = store.load_draft("Cy", digest, "adjudication")
    assert (draft.typed, draft.note, draft.seconds) == (keys_of(POOR), "Hm.", 20.0)
    assert [d.adjudication for d in queue.visible_open_and_settled_disputes("Cy")] == [None] * 3
    store.append_new_events([undo(queue.current.find_score(digest, "Bo"))])
    assert digest not in queue.answers_analyst_may_still_score("Cy")


def test_no_dispute_is_shown_to_whom_it_could_be_asked(run, store):
    """While an answer wants a third score, its two are kept from those who could still give it."""
    queue = open_queue(run, store, ScoringPlan(per_answer=3))
    (digest,) = work(queue, "Anna", answers=1)
    save(queue, "Bo", digest, "33333")
    assert queue.visible_open_and_settled_disputes("Cy") == []
    assert [d.answer for d in queue.visible_open_and_settled_disputes("Anna")] == [digest]
    assert [
        d.answer
        for d in queue.visible_open_and_settled_disputes("an adjudicator who scores nothing", gives_scores=False)
    ] == [digest]
    save(queue, "Dee", digest)
    assert [d.answer for d in queue.visible_open_and_settled_disputes("Cy")] == [digest]


def test_no_dispute_spoils_calibration(run, store):
    """Answers that a new analyst is to calibrate on are kept from them, however many have scored them."""
    queue, referenced = calibrated(run, store)
    work(queue, "Anna", answers=3)
    for digest in referenced[:3]:
        save(queue, "Bo", digest, "33333")
    assert queue.visible_open_and_settled_disputes("Cy") == []
    assert len(queue.visible_open_and_settled_disputes("Anna")) == 3
    work(queue, "Cy", answers=3)
    assert len(queue.visible_open_and_settled_disputes("Cy")) == 3


@pytest.mark.parametrize("settles", [False, True])
def test_who_has_seen_the_scores_is_not_asked(run, store, settles):
    """An adjudicator who has looked, or has settled it and withdrawn that, is not asked to score the answer."""
    queue = disputed(run, store)
    digest = queue.requested_answers_in_order_even_scored("Anna")[1]
    queue.record_exposures("Cy", [digest], sees_scores=True)
    if settles:
        event = queue.adjudicate("Cy", digest, GOOD, note="", seconds=None, id="settled")
        store.append_new_events([undo(event)])
    # The answer wants a score again.
    store.append_new_events([undo(queue.current.find_score(digest, "Bo"))])
    assert queue.reserve_next_answer("Cy") is None
    assert queue.reserve_next_answer("Dee") == digest


def test_the_reference_analyst_is_not_asked_what_is_to_be_settled(run, store):
    """Whose scores may have been seen on the way is left out of the reference analyst's work."""
    queue = disputed(run, store)
    seen = {dispute.answer for dispute in queue.visible_open_and_settled_disputes("reference")}
    assert len(seen) == 3
    assert seen.isdisjoint(work(queue, "reference"))
    assert queue.measure_scoring_progress("reference").remaining == 0


def test_reference_and_poor_scores_are_no_dispute(run, store):
    """That an analyst differs from the reference is what calibration shows, and nothing to settle."""
    queue, referenced = calibrated(run, store)
    store.append_new_events([score("Anna", referenced[0], POOR)])
    assert queue.visible_open_and_settled_disputes("Bo", gives_scores=False) == []


# -- what an analyst has seen --


def test_a_score_says_what_its_analyst_had_seen(run, store):
    """Whoever was shown whose an answer is, or how others scored it, gives no blind or independent score of it."""
    queue = open_queue(run, store)
    first, second, third = work(queue, "Anna", answers=3)
    queue.record_exposures("Anna", [first, second], sees_system=True)
    queue.record_exposures("Anna", [second, third], sees_scores=True)
    given = {digest: save(queue, "Anna", digest, "33333") for digest in (first, second, third)}
    seen = {digest: (event.blind, event.independent) for digest, event in given.items()}
    assert seen == {first: (False, True), second: (False, False), third: (True, False)}
    assert [(e.blind, e.independent) for e in store.load_answer_events(first) if e.kind == "look"] == [(False, True)]
    # Nobody else has seen anything, and what was given before stays as it was.
    other = save(queue, "Bo", second)
    assert (other.blind, other.independent) == (True, True)
    assert store.load_answer_events(second)[0].independent


def test_an_exposure_is_recorded_once(run, store):
    """What an analyst has seen before is not written again; what is new about it, is."""
    queue = open_queue(run, store)
    first, second = queue.requested_answers_in_order_even_scored("Anna")[:2]
    for _ in range(2):
        queue.record_exposures("Anna", [first, first], sees_system=True)
    queue.record_exposures("Anna", [first, second], sees_system=True)
    queue.record_exposures("Anna", [first], sees_scores=True)
    queue.record_exposures("Anna", ["f" * 64], sees_scores=True)
    exposures = [(event.answer, event.blind, event.independent) for event in kept(store)]
    assert exposures == [(first, False, True), (second, False, True), (first, True, False)]
    open_queue(run, store).record_exposures("Anna", [first], sees_scores=True, sees_system=True)
    assert len(kept(store)) == 3


def test_a_score_that_was_changed_after_the_comparison(run, store):
    """Undone and given anew after a look at the reference's, a score is neither independent nor for calibration."""
    queue, referenced = calibrated(run, store)
    digest = queue.reserve_next_answer("Anna")
    first = save(queue, "Anna", digest, "33333")
    queue.record_exposures("Anna", [digest], sees_scores=True)
    queue.undo_last_score_or_skip("Anna")
    # It is still theirs, whatever they have seen: it comes back with what was typed, also after a reload.
    assert queue.reserve_next_answer("Anna") == digest
    assert digest in queue.answers_analyst_may_still_score("Anna")
    second = save(queue, "Anna", digest, "22222")
    assert (first.calibration, first.independent) == (True, True)
    assert (second.calibration, second.independent) == (False, False)
    assert queue.current.find_score(digest, "Anna") == second
    assert [score for score in queue.current.independent_human_scores() if score.analyst == "Anna"] == [first]
    # Another answer takes its place.
    assert work(queue, "Anna", answers=3) == referenced[1:4]
    assert sum(score.calibration for score in queue.current.scores_of_analyst("Anna")) == 3


def test_an_adjudication_is_never_independent(run, store):
    """Nor is what its analyst gives afterwards; it is blind where they could not see whose answer it was."""
    queue = disputed(run, store)
    first, second = queue.requested_answers_in_order_even_scored("Anna")[:2]
    queue.record_exposures("Cy", [second], sees_system=True)
    settled = [
        queue.adjudicate("Cy", digest, GOOD, note="", seconds=None, id=new_event_id()) for digest in (first, second)
    ]
    assert [(event.blind, event.independent) for event in settled] == [(True, False), (False, False)]
    assert not save(queue, "Cy", first).independent
