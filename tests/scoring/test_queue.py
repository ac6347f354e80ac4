"""What is scored next, by whom, and what is kept of it: the desk without its pages."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace
from queues import ONCE, make_run, open_queue, save, work
from running import answers, repeat_record
from stores import KINDS, empty_database, kept, score, skip, undo, until_the_next_moment

from genaipa.errors import GenaipaError
from genaipa.runs import journal
from genaipa.runs.records import answer_digest
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.events import Draft
from genaipa.scoring.store import ScoreStore
from genaipa.workspace import find_workspace
from rubrics import keys_of

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder


@pytest.fixture
def run() -> RunFolder:
    """A run with twelve answers: four to each of three documents."""
    return make_run()


# -- order --


@pytest.mark.parametrize(
    ("order", "documents", "questions"), [("question", 3, 12), ("document", 3, 0), ("random", 0, 0)]
)
def test_what_is_alike_comes_in_a_row(store, order, documents, questions):
    """Answers to one question about one document are in a row, in each analyst's own order; or only by document."""
    run = make_run("See section 2.", "See section 1.", "The document does not say.")
    plan = replace(ONCE, order=order)
    queue = open_queue(run, store, plan)
    orders = {analyst: queue.requested_answers_in_order_even_scored(analyst) for analyst in ("Anna", "Bo", "Cy", "Dee")}
    for digests in orders.values():
        assert sorted(digests) == sorted(queue.pool.answers)
        places = [(queue.pool.answers[digest].document, queue.pool.answers[digest].question) for digest in digests]
        # How many rows there are: as many as can be, or many more.
        for rows, of in ((documents, [document for document, _ in places]), (questions, places)):
            found = 1 + sum(before != after for before, after in pairwise(of))
            assert found == rows if rows else found > len(set(of))
    assert len({tuple(digests) for digests in orders.values()}) == len(orders)
    assert queue.requested_answers_in_order_even_scored("Anna") == open_queue(
        run, store, plan
    ).requested_answers_in_order_even_scored("Anna")
    assert queue.requested_answers_in_order_even_scored("Anna") != open_queue(
        run, store, replace(plan, seed=1)
    ).requested_answers_in_order_even_scored("Anna")
    assert save(queue, "Anna", queue.reserve_next_answer("Anna")).order == order


def test_new_answers_move_no_others(run, store):
    """While a run grows, what was in the order stays in its order."""
    log = run.path / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:7]))
    queue = open_queue(run, store)
    before = list(queue.requested_answers_in_order_even_scored("Anna"))
    log.write_bytes(b"".join(lines))
    assert queue.pool.read_new_answers()
    assert [
        digest for digest in queue.requested_answers_in_order_even_scored("Anna") if digest in set(before)
    ] == before
    assert queue.requested_answers_in_order_even_scored("Anna") == open_queue(
        run, store
    ).requested_answers_in_order_even_scored("Anna")
    assert sorted(work(queue, "Anna")) == sorted(record.digest for record in answers(run))


def test_the_work_follows_the_order(run, store):
    """Without drafts, skips and others, the answers come in the analyst's order, each once."""
    queue = open_queue(run, store)
    assert work(queue, "Anna") == queue.requested_answers_in_order_even_scored("Anna")
    assert queue.reserve_next_answer("Anna") is None


def test_a_long_study_is_worked_in_order(run, store):
    """Among more answers than are sorted at once, each analyst still goes on where they are in their order."""
    record = next(iter(answers(run)))
    document = AnswerPool(find_workspace(), [run]).answers[record.digest].document_digest
    with (run.path / "answers.jsonl").open("ab") as file:
        for number in range(1200):
            reply = f"See section {number}."
            digest = answer_digest(document, record.asked, reply)
            file.write(journal.encode_record_line(repeat_record(record, number + 2, reply, digest)))
    queue = open_queue(run, store)
    assert len(queue.pool.answers) == 12 + 1199  # one is there already
    assert work(queue, "Anna", answers=3) == queue.requested_answers_in_order_even_scored("Anna")[:3]
    scored = set(queue.requested_answers_in_order_even_scored("Anna")[:3])
    first = [digest for digest in queue.requested_answers_in_order_even_scored("Bo") if digest not in scored]
    queue.skip_answer("Bo", first[0])
    assert queue.reserve_next_answer("Bo") == first[1]
    assert queue.measure_scoring_progress("Bo").remaining == len(queue.requested_answers_in_order_even_scored("Bo")) - 3


# -- from how many --


def test_how_many_scores_are_wanted(run, store):
    """1 is one from each answer, 2 two, and 1.2 two from a fifth of them, chosen by seed and digest alone."""
    queue = open_queue(run, store, ScoringPlan(per_answer=1.2))
    digests = [f"{number:064x}" for number in range(5000)]
    wanted = Counter(map(queue.count_wanted_scores, digests))
    assert set(wanted) == {1, 2}
    assert 900 < wanted[2] < 1100
    assert list(map(queue.count_wanted_scores, digests)) == list(
        map(open_queue(run, store, ScoringPlan()).count_wanted_scores, digests)
    )
    other = open_queue(run, store, ScoringPlan(seed=1))
    assert list(map(queue.count_wanted_scores, digests)) != list(map(other.count_wanted_scores, digests))
    assert {
        open_queue(run, store, ScoringPlan(per_answer=2)).count_wanted_scores(digest) for digest in digests[:50]
    } == {2}


def test_each_answer_gets_as_many_scores_as_wanted(run, store):
    """Three analysts in turns give two scores to each answer, never two by the same, and then nothing is left."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2))
    idle: set[str] = set()
    while len(idle) < 3:
        for analyst in ("Anna", "Bo", "Cy"):
            if not work(queue, analyst, answers=1):
                idle.add(analyst)
    given = Counter(event.answer for event in kept(store))
    assert set(given.values()) == {2}
    assert len(given) == len(queue.pool.answers)
    assert len({(event.answer, event.analyst) for event in kept(store)}) == 2 * len(given)
    progress = queue.measure_scoring_progress("Anna")
    assert (progress.given, progress.wanted, progress.remaining) == (24, 24, 0)


def test_scores_of_machines_fill_nothing(run, store):
    """An answer that a machine has scored is asked of people as if nothing had happened."""
    queue = open_queue(run, store)
    store.append_new_events([score("judge", digest, scorer="machine") for digest in queue.pool.answers])
    assert queue.measure_scoring_progress("Anna").given == 0
    assert len(work(queue, "Anna")) == len(queue.pool.answers)


# -- reservations --


def test_two_analysts_do_not_collide(run, store):
    """What is on one's screen is not given to another; the same analyst who asks again gets it again."""
    queue = open_queue(run, store)
    others = [queue.reserve_next_answer(f"analyst {number}") for number in range(12)]
    assert None not in others
    assert len(set(others)) == 12
    assert queue.reserve_next_answer("analyst 0") == others[0]
    assert queue.reserve_next_answer("late") is None
    # Someone gives theirs back.
    store.release_reservation("analyst 5")
    assert queue.reserve_next_answer("late") == others[5]


def test_what_is_left_is_others_or_a_second_score(run, store):
    """Whoever has nothing left is told whether others have the rest, or it is scores that another has to give."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2, calibration=0))
    assert queue.is_any_open_answer_held_by_others("Anna")
    work(queue, "Anna")
    assert queue.measure_scoring_progress("Anna").remaining == 0
    assert not queue.is_any_open_answer_held_by_others("Anna")
    assert queue.is_any_open_answer_held_by_others("Bo")


def test_a_reservation_ends_after_a_while(run, store):
    """An answer that nobody comes back to is asked of others."""
    queue = open_queue(run, store, replace(ONCE, minutes=0))
    assert queue.reserve_next_answer("Anna") is not None
    assert sorted(work(queue, "Bo")) == sorted(queue.pool.answers)


def test_a_score_that_comes_late_is_kept(run, store):
    """Where the reservation was lost and another has scored the answer meanwhile, both scores are kept."""
    queue = open_queue(run, store, replace(ONCE, minutes=0))
    digest = queue.reserve_next_answer("Anna")
    save(queue, "Bo", digest)
    save(queue, "Anna", digest, "33333")
    assert set(queue.current.scores_by_analyst(digest)) == {"Anna", "Bo"}
    assert queue.measure_scoring_progress("Anna").given == 1


@pytest.mark.parametrize("kind", KINDS)
def test_many_at_once_lose_and_double_nothing(run, tmp_path, request, kind):
    """Eight analysts at two desks on one database, all at once: every answer is scored exactly as often as wanted."""
    url = empty_database(kind, tmp_path, request.config)
    stores = [ScoreStore.open_or_create(url) for _ in range(2)]
    try:
        desks = [open_queue(run, one, ScoringPlan(per_answer=2)) for one in stores]
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda n: work(desks[n % 2], f"analyst {n}"), range(8)))
        given = kept(stores[0])
        assert Counter(event.answer for event in given) == dict.fromkeys(desks[0].pool.answers, 2)
        assert len({(event.answer, event.analyst) for event in given}) == len(given) == sum(map(len, done))
        assert {desk.measure_scoring_progress("analyst 0").given for desk in desks} == {24}
    finally:
        for one in stores:
            one.close()


# -- drafts, skips, undo --


def test_a_draft_comes_back_first(run, store):
    """What an analyst had begun is the first thing they see, the newest first, whoever has scored it meanwhile."""
    queue = open_queue(run, store)
    early, late = (
        queue.requested_answers_in_order_even_scored("Anna")[-1],
        queue.requested_answers_in_order_even_scored("Anna")[-2],
    )
    store.save_draft(Draft("Anna", early, "score", typed="11..."))
    until_the_next_moment()
    store.save_draft(Draft("Anna", late, "score", typed="1...."))
    save(queue, "Bo", late)
    queue = open_queue(run, store)
    assert queue.reserve_next_answer("Anna") == late
    save(queue, "Anna", late)
    assert queue.reserve_next_answer("Anna") == early


def test_a_draft_of_an_answer_that_is_gone_waits(run, store):
    """A draft for an answer of a run that the desk is not open on is passed over, and not lost."""
    queue = open_queue(run, store)
    store.save_draft(Draft("Anna", "f" * 64, "score", typed="11..."))
    assert queue.reserve_next_answer("Anna") == queue.requested_answers_in_order_even_scored("Anna")[0]
    assert store.load_draft("Anna", "f" * 64, "score").typed == "11..."
    # Whatever was on screen can still be saved.
    assert save(queue, "Anna", "f" * 64).answer == "f" * 64
    assert queue.measure_scoring_progress("Anna").scored == 0


def test_an_unfinished_correction_holds_nobody_up(run, store):
    """A draft for an answer that has a score of theirs already does not come before new answers."""
    queue = open_queue(run, store)
    first, second = queue.requested_answers_in_order_even_scored("Anna")[:2]
    save(queue, "Anna", first)
    store.save_draft(Draft("Anna", first, "score", typed="3...."))
    assert queue.reserve_next_answer("Anna") == second


def test_a_skipped_answer_comes_last(run, store):
    """Skipped answers come after all others, the one skipped longest ago first."""
    queue = open_queue(run, store)
    first, second, *rest = queue.requested_answers_in_order_even_scored("Anna")
    for digest in (first, second):
        assert queue.reserve_next_answer("Anna") == digest
        queue.skip_answer("Anna", digest)
    assert work(queue, "Anna") == [*rest, first, second]


def test_a_skip_keeps_what_was_typed(run, store):
    """The draft of a skipped answer waits: it is there when the skip is undone, and when the answer comes round."""
    queue = open_queue(run, store)
    first, second, *rest = queue.requested_answers_in_order_even_scored("Anna")
    for digest in (first, second):
        store.save_draft(Draft("Anna", digest, "score", typed="12...", note="Half a thought"))
        queue.skip_answer("Anna", digest)
    assert queue.reserve_next_answer("Anna") == rest[0]
    assert queue.undo_last_score_or_skip("Anna").answer == second
    assert queue.reserve_next_answer("Anna") == second
    assert store.load_draft("Anna", second).typed == "12..."
    assert work(queue, "Anna", answers=11) == [second, *rest]
    assert queue.reserve_next_answer("Anna") == first
    assert store.load_draft("Anna", first).note == "Half a thought"


def test_a_skipped_answer_that_is_gone_on_with_comes_first(run, store):
    """Whoever types on an answer that they had skipped is in the middle of it again."""
    queue = open_queue(run, store)
    first, second = queue.requested_answers_in_order_even_scored("Anna")[:2]
    queue.skip_answer("Anna", first)
    assert queue.reserve_next_answer("Anna") == second
    store.save_draft(Draft("Anna", first, "score", typed="12..."))
    assert queue.reserve_next_answer("Anna") == first


def test_a_clock_that_is_set_back_changes_no_order(run, store):
    """Undo takes the last event of the log back, and a skip keeps its answer away, whatever the times say."""
    queue = open_queue(run, store)
    first, second, third = queue.requested_answers_in_order_even_scored("Anna")[:3]
    store.append_new_events([msgspec.structs.replace(score("Anna", first), time="2999-01-01T00:00:00.000Z")])
    store.save_draft(Draft("Anna", second, "score", typed="12..."))
    store.append_new_events([msgspec.structs.replace(skip("Anna", second), time="1999-01-01T00:00:00.000Z")])
    assert queue.reserve_next_answer("Anna") == third
    assert queue.last_score_or_skip("Anna").kind == "skip"
    assert queue.undo_last_score_or_skip("Anna").answer == second
    assert queue.reserve_next_answer("Anna") == second
    store.append_new_events([msgspec.structs.replace(skip("Anna", third), time="2999-01-01T00:00:00.000Z")])
    store.save_draft(Draft("Anna", third, "score", typed="1...."))
    assert queue.reserve_next_answer("Anna") == third, "what was gone on with comes first"


def test_undo_brings_the_score_back_as_a_draft(run, store):
    """The last score is withdrawn, and what was typed is the draft of the answer, which comes next."""
    queue = open_queue(run, store)
    first, second = work(queue, "Anna", answers=2, keys="12312")
    withdrawn = queue.undo_last_score_or_skip("Anna")
    assert (withdrawn.answer, keys_of(withdrawn.values)) == (second, "12312")
    assert queue.current.find_score(second, "Anna") is None
    draft = store.load_draft("Anna", second, "score")
    assert (draft.typed, draft.seconds) == ("12312", 60.0)
    assert queue.reserve_next_answer("Anna") == second
    assert queue.measure_scoring_progress("Anna").scored == 1
    # One more step back, then nothing.
    assert queue.undo_last_score_or_skip("Anna").answer == first
    assert queue.undo_last_score_or_skip("Anna") is None
    assert queue.measure_scoring_progress("Anna").scored == 0


def test_what_is_under_way_stays_ones_own(run, store):
    """Scores withdrawn one after the other, and what was begun before that, are asked of nobody else for a while."""
    queue = open_queue(run, store)
    done = work(queue, "Anna", answers=3)
    begun = queue.reserve_next_answer("Anna")
    store.save_draft(Draft("Anna", begun, "score", typed="12..."))
    theirs = {begun, queue.undo_last_score_or_skip("Anna").answer, queue.undo_last_score_or_skip("Anna").answer}
    assert theirs == {begun, *done[1:]}
    assert set(work(queue, "Bo")) == set(queue.pool.answers) - theirs - set(done)
    assert set(work(queue, "Anna")) == theirs
    assert set(Counter(score.answer for score in queue.current.list_all_current_scores()).values()) == {1}


def test_undo_of_a_correction_brings_the_first_score_back(run, store):
    """After a correction is withdrawn, what stood before it stands again."""
    queue = open_queue(run, store)
    (digest,) = work(queue, "Anna", answers=1)
    save(queue, "Anna", digest, "33333")
    assert keys_of(queue.current.find_score(digest, "Anna").values) == "33333"
    queue.undo_last_score_or_skip("Anna")
    assert keys_of(queue.current.find_score(digest, "Anna").values) == "11111"


def test_undo_of_a_skip(run, store):
    """An answer that was skipped by mistake comes back at once, and no score is touched."""
    queue = open_queue(run, store)
    first, second = queue.requested_answers_in_order_even_scored("Anna")[:2]
    save(queue, "Anna", first)
    queue.skip_answer("Anna", second)
    assert queue.reserve_next_answer("Anna") != second
    withdrawn = queue.undo_last_score_or_skip("Anna")
    assert (withdrawn.kind, withdrawn.answer, withdrawn.values) == ("skip", second, None)
    assert queue.reserve_next_answer("Anna") == second
    assert queue.current.find_score(first, "Anna") is not None


def test_a_skip_that_is_withdrawn_is_reserved(run, store):
    """What an undo puts on screen is given to no other, even before anything is typed."""
    queue = open_queue(run, store)
    first = queue.reserve_next_answer("Anna")
    queue.skip_answer("Anna", first)
    queue.reserve_next_answer("Anna")
    queue.undo_last_score_or_skip("Anna")
    assert set(work(queue, "Bo")) == set(queue.pool.answers) - {first}


def test_undo_stays_within_the_desk(run, store):
    """A score of a run that the desk is not open on is not withdrawn: nobody would see what they did."""
    store.append_new_events([score("Anna", "f" * 64)])
    queue = open_queue(run, store)
    assert queue.undo_last_score_or_skip("Anna") is None
    assert queue.previously_scored_answer("Anna", None) is None


def test_another_desks_undo_opens_an_answer_again(run, store):
    """An answer whose score was withdrawn elsewhere is asked of others again."""
    queue = open_queue(run, store)
    done = work(queue, "Anna")
    assert queue.reserve_next_answer("Bo") is None
    given = queue.current.find_score(done[3], "Anna")
    store.append_new_events([undo(given)])
    assert queue.reserve_next_answer("Bo") == done[3]


def test_back_goes_through_what_was_scored(run, store):
    """Back leads from the newest score to the oldest, and no further."""
    queue = open_queue(run, store)
    done = work(queue, "Anna", answers=3)
    assert queue.previously_scored_answer("Anna", queue.reserve_next_answer("Anna")) == done[2]
    assert queue.previously_scored_answer("Anna", None) == done[2]
    assert queue.previously_scored_answer("Anna", done[2]) == done[1]
    assert queue.previously_scored_answer("Anna", done[0]) is None
    assert queue.previously_scored_answer("Bo", None) is None


# -- what is kept --


def test_a_score_is_kept_as_it_was_given(run, store):
    """The event on disk says who, what, how long, what was suggested, and that it was given blind."""
    queue = open_queue(run, store)
    digest = queue.reserve_next_answer("Anna")
    event = save(queue, "Anna", digest, "12313", note="Hm.", seconds=301.5, suggested={"reference": -1.0})
    assert kept(store) == [event]
    assert (event.kind, event.analyst, event.answer, keys_of(event.values)) == ("score", "Anna", digest, "12313")
    assert (event.note, event.seconds, event.suggested) == ("Hm.", 301.5, {"reference": -1.0})
    assert (event.preselected, event.blind, event.calibration, event.scorer) == (False, True, False, "human")
    seen = open_queue(run, store, replace(ONCE, blind=False))
    assert not save(seen, "Bo", digest).blind


def test_enter_twice_is_one_score(run, store):
    """The same id sent again gives the event that is kept; with other values it is refused."""
    queue = open_queue(run, store)
    digest = queue.reserve_next_answer("Anna")
    first = save(queue, "Anna", digest, id="one")
    assert save(queue, "Anna", digest, id="one") == first
    assert len(kept(store)) == 1
    with pytest.raises(GenaipaError):
        save(queue, "Anna", digest, "33333", id="one")
    assert queue.current.find_score(digest, "Anna") == first


def test_progress_counts(run, store):
    """Scored, remaining and the median seconds of one; and what the study wants and has."""
    queue = open_queue(run, store)
    for seconds, digest in zip((30.0, 90.0, 45.0), queue.requested_answers_in_order_even_scored("Anna"), strict=False):
        save(queue, "Anna", digest, seconds=seconds)
    save(queue, "Bo", queue.reserve_next_answer("Bo"), seconds=None)
    progress = queue.measure_scoring_progress("Anna")
    assert (progress.scored, progress.remaining, progress.seconds) == (3, 8, 45.0)
    assert (progress.answers, progress.wanted, progress.given) == (12, 12, 4)
    assert queue.measure_scoring_progress("Cy").seconds is None
    paces = {name: (len(history.scores), history.seconds) for name, history in queue.histories_by_analyst().items()}
    assert paces == {"Anna": (3, 45.0), "Bo": (1, None)}


def test_what_is_begun_is_left(run, store):
    """An answer that one is in the middle of is still to be scored, and its scores hidden, whoever was faster."""
    queue = open_queue(run, store)
    digest = queue.reserve_next_answer("Anna")
    store.save_draft(Draft("Anna", digest, "score", typed="11..."))
    save(queue, "Bo", digest, "33333")
    save(queue, "Cy", digest)
    work(queue, "Bo")
    assert queue.answers_analyst_may_still_score("Anna") == {digest}
    assert queue.measure_scoring_progress("Anna").remaining == 1
    assert queue.visible_open_and_settled_disputes("Anna") == []
    assert [dispute.answer for dispute in queue.visible_open_and_settled_disputes("Dee")] == [digest]
    assert work(queue, "Anna") == [digest]
    assert queue.measure_scoring_progress("Anna").remaining == 0


def test_progress_follows_the_pool(run, store):
    """An answer that was replaced takes its score out of the counts, and the new one is asked for."""
    queue = open_queue(run, store)
    done = work(queue, "Anna")
    assert queue.requested_answers_in_order_even_scored("Anna") == done
    log = run.path / "answers.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    gone = msgspec.json.decode(lines[0])["digest"]
    log.write_bytes(b"".join(lines[1:]))
    assert queue.pool.read_new_answers()
    assert gone not in queue.requested_answers_in_order_even_scored("Anna")
    progress = queue.measure_scoring_progress("Anna")
    assert (progress.answers, progress.given, progress.scored, progress.remaining) == (11, 11, 11, 0)
    log.write_bytes(b"".join(lines))
    assert queue.pool.read_new_answers()
    assert queue.measure_scoring_progress("Anna").given == 12
    assert queue.requested_answers_in_order_even_scored("Anna") == done
