"""Answers that two analysts score before all others: how soon there are thirty of them, and which."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from queues import make_run, open_queue, save, work
from running import answers, repeat_record
from size import size

from genaipa.runs import journal
from genaipa.runs.records import answer_digest
from genaipa.scoring.assignment import EARLY, ScoringPlan

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.queue import ScoringQueue

ANALYSTS = ("Anna", "Bo", "Cy", "Dee", "Eve", "Fay")


@pytest.fixture
def run() -> RunFolder:
    """A run of two systems on three documents, with 480 answers (at full size 960)."""
    run = make_run("See section 1.", "See section 2.")
    with (run.path / "answers.jsonl").open("ab") as file:
        for record in list(answers(run)):
            for number in range(2, size(small=21, soak=41)):
                reply = f"{record.reply} {number}"
                digest = answer_digest(run.manifest().documents[record.document].digest, record.asked, reply)
                file.write(journal.encode_record_line(repeat_record(record, number, reply, digest)))
    return run


def doubly(queue: ScoringQueue) -> int:
    """The number of answers that two analysts have scored."""
    given = Counter(event.answer for event in queue.current.list_all_current_scores() if event.analyst in ANALYSTS)
    return sum(number > 1 for number in given.values())


@pytest.mark.parametrize("order", size(small=["question"], soak=["question", "document", "random"]))
def test_thirty_are_doubly_scored_by_about_a_tenth(run, store, order):
    """Six analysts, each with an answer on screen, have thirty of them after 60 of 572 scores (before: 360)."""
    queue = open_queue(run, store, ScoringPlan(order=order))
    wanted, scored = queue.measure_scoring_progress("Anna").wanted, 0
    while doubly(queue) < EARLY:
        on_screen = [queue.reserve_next_answer(analyst) for analyst in ANALYSTS]
        for analyst, digest in zip(ANALYSTS, on_screen, strict=True):
            save(queue, analyst, digest)
            scored += 1
    assert scored <= 2 * EARLY + len(ANALYSTS)
    assert scored <= 0.13 * wanted
    # Then each goes on in their order, and their scores say so.
    later = work(queue, "Anna", answers=5)
    assert later == [digest for digest in queue.requested_answers_in_order_even_scored("Anna") if digest in set(later)]
    orders = [event.order for event in queue.current.scores_of_analyst("Anna")]
    assert set(orders[:8]) == {"random"}
    assert orders[-1] == order


def test_they_are_spread(run, store):
    """Each system and each document has its part of them, in rows of a question, the same for whoever comes first."""
    queue = open_queue(run, store, ScoringPlan(seed=3))
    places = [queue.pool.answers[digest].occurrences[0] for digest in work(queue, "Anna", answers=EARLY)]
    assert set(Counter(place.system for place in places).values()) == {EARLY // 2}
    assert set(Counter(place.document for place in places).values()) == {EARLY // 3}
    rows = [(place.document, place.question) for place in places]
    alike = sum(one == other for one, other in itertools.pairwise(rows))
    assert alike == EARLY // 2, "both systems' answers to a question come in a row"
    assert len([*itertools.groupby(rows, key=lambda row: row[0])]) == 3, "one document after the other"
    assert {event.answer for event in queue.current.scores_of_analyst("Anna")} == set(work(queue, "Bo", answers=EARLY))
    assert doubly(queue) == EARLY


def test_one_analyst_alone_goes_on_in_their_order(run, store):
    """Nobody begins more than thirty of them; those that one has begun come first for the next, but for skips."""
    queue = open_queue(run, store, ScoringPlan(calibration=2))
    calibration = work(queue, "reference", answers=2)
    assert work(queue, "Anna", answers=2) == calibration
    early = work(queue, "Anna", answers=EARLY)
    assert all(queue.count_wanted_scores(digest) > 1 for digest in early)
    assert work(queue, "Anna", answers=1)[0] == next(
        d for d in queue.requested_answers_in_order_even_scored("Anna") if d not in {*early, *calibration}
    )
    assert work(queue, "Bo", answers=2) == calibration
    assert queue.reserve_next_answer("Bo") == early[0]
    queue.skip_answer("Bo", early[0])
    assert work(queue, "Bo", answers=EARLY - 1) == early[1:]
    # In place of the one that was skipped comes no new one: Anna's waits for somebody else.
    assert doubly(queue) >= EARLY - 1
    assert queue.reserve_next_answer("Cy") == calibration[0]


def test_beginners_read_document_by_document(run, store):
    """Three who begin together, after calibration in a mixed order, change documents no more often than they must."""
    queue = open_queue(run, store, ScoringPlan(calibration=6))
    by_question = sorted(queue.pool.answers, key=lambda digest: queue.pool.answers[digest].question)
    for digest in by_question[:6]:
        save(queue, "reference", digest)
    read: dict[str, list[str]] = {name: [] for name in ANALYSTS[:3]}
    for _ in range(16):
        on_screen = [queue.reserve_next_answer(analyst) for analyst in read]
        for analyst, digest in zip(read, on_screen, strict=True):
            read[analyst].append(queue.pool.answers[digest].document)
            save(queue, analyst, digest)
    for analyst, documents in read.items():
        assert len([*itertools.groupby(documents[:6])]) == len(set(documents[:6])), analyst
        assert len([*itertools.groupby(documents[6:])]) <= 3, (analyst, documents)


def test_a_wave_and_a_plan_without_second_scores_have_their_own(run, store):
    """Within a wave they are the wave's own, and where one score is wanted of each there are none."""
    queue = open_queue(run, store)
    assert work(queue, "Anna", answers=2) == queue.requested_answers_in_order_even_scored("Anna")[:2]
    wave = frozenset(digest[:16] for digest in queue.requested_answers_in_order_even_scored("Bo")[:40])
    queue = open_queue(run, store, ScoringPlan(per_answer=2, wave=wave))
    assert {digest[:16] for digest in work(queue, "Bo")} == wave
