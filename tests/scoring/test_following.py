"""The answer after the one on screen, which a browser gets before it is wanted: one's own, and not for ever."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from queues import ONCE, make_run, open_queue, save, work

from genaipa.scoring.assignment import ScoringPlan

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder

SKIPPED = 3
FIVE = ("Anna", "Bo", "Cy", "Dee", "Edsger")


@pytest.fixture
def run() -> RunFolder:
    """A run with twelve answers."""
    return make_run()


@pytest.mark.parametrize("per_answer", [1, 2])
def test_what_follows_comes(run, store, per_answer):
    """It is what comes once the answer on screen is scored, or skipped; asking for it reserves nothing."""
    queue = open_queue(run, store, ScoringPlan(per_answer=per_answer))
    digest = queue.reserve_next_answer("Anna")
    for number in range(11):
        before = store.reservations_by_answer()
        following = queue.promise_following_answer("Anna", digest)
        assert following not in (None, digest)
        assert store.reservations_by_answer() == before
        if number == SKIPPED:
            queue.skip_answer("Anna", digest)
        else:
            save(queue, "Anna", digest)
        digest = queue.reserve_next_answer("Anna", following)
        assert digest == following
    save(queue, "Anna", digest)
    assert queue.promise_following_answer("Anna", queue.reserve_next_answer("Anna")) is None, (
        "the skipped one is the last"
    )


def test_five_at_once_never_have_the_same_next(run, store):
    """Each has an answer and another that follows; all are different, each follows, and every answer is scored once."""
    queue, done = open_queue(run, store), Counter[str]()
    now = {name: queue.reserve_next_answer(name) for name in FIVE}
    while any(now.values()):
        here = [name for name in FIVE if now[name]]
        later = {name: queue.promise_following_answer(name, now[name]) for name in here}
        if len(done) <= 2:
            assert len({*now.values(), *later.values()}) == 2 * len(FIVE)
        for name in here:
            save(queue, name, now[name])
            done[now[name]] += 1
            now[name] = queue.reserve_next_answer(name, later[name] or "")
            if sum(done.values()) <= len(FIVE):
                assert now[name] == later[name]
    assert done == Counter(list(queue.pool.answers))


def test_what_is_kept_for_somebody_is_given_where_nothing_else_is_left(run, store):
    """Nobody waits for an answer that is on nobody's screen; whoever had it next gets another, or none."""
    queue = open_queue(run, store)
    scored = work(queue, "Cy", answers=10)
    first, second = queue.pool.answers.keys() - set(scored)
    now = queue.reserve_next_answer("Anna")
    following = queue.promise_following_answer("Anna", now)
    assert {now, following} == {first, second}
    assert queue.reserve_next_answer("Bo") == following
    save(queue, "Anna", now)
    assert queue.reserve_next_answer("Anna", following) is None


def test_it_is_kept_for_some_minutes(run, store):
    """Whoever leaves keeps nothing from the others."""
    queue = open_queue(run, store, replace(ONCE, minutes=0))
    work(queue, "Cy", answers=11)
    following = queue.promise_following_answer("Anna", "")
    assert following is not None
    assert queue.promise_following_answer("Bo", "") == following


def test_what_somebody_has_scored_meanwhile_does_not_come(run, store):
    """An answer scored in another way, or seen with its scores, is nobody's next."""
    queue = open_queue(run, store)
    now = queue.reserve_next_answer("Anna")
    following = queue.promise_following_answer("Anna", now)
    save(queue, "Bo", following)
    save(queue, "Anna", now)
    assert queue.reserve_next_answer("Anna", following) not in (None, following)
    following = queue.promise_following_answer("Anna", queue.reserve_next_answer("Anna"))
    save(queue, "Anna", queue.reserve_next_answer("Anna"))
    queue.record_exposures("Anna", [following], sees_scores=True)
    assert queue.reserve_next_answer("Anna", following) not in (None, following)
