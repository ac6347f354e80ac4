"""Concurrency, retries, the breaker and the spending cap, with a system that does what a test says."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from size import size

from genaipa.errors import NoReplyError, PermanentError, SpendingCapError, TransientError
from genaipa.execution.limits import (
    LONGEST_RETRY_AFTER,
    Attempt,
    BreakerOpenError,
    Budget,
    CircuitBreaker,
    SystemLimits,
    Throttle,
    ask_with_retries_or_raise,
)
from genaipa.systems.base import Message, Readiness, Reply, Settings, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTION = (Message("user", "Is my data encrypted?"),)
BROKEN = TransientError("broken", kind="server", status=500)


class Own:
    """A system that takes a list of what happens, one thing for each call; the last one goes on for ever."""

    def __init__(self, *happens: object) -> None:
        self.name = "own"
        self.happens = happens
        self.calls: list[float] = []
        self.busy = self.peak = 0

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """The next thing that happens: an error is raised, a number is a delay, anything else is returned."""
        self.calls.append(time.monotonic())
        self.busy += 1
        self.peak = max(self.peak, self.busy)
        try:
            happens = self.happens[min(len(self.calls), len(self.happens)) - 1]
            await asyncio.sleep(happens if isinstance(happens, float) else 0)
            if isinstance(happens, Exception):
                raise happens
            return Reply("yes") if isinstance(happens, float) else happens  # type: ignore[return-value]
        finally:
            self.busy -= 1

    async def start(self) -> Readiness:
        """Nothing to do."""
        return Readiness()

    async def count_tokens(self, text: str) -> int | None:
        """None."""

    async def close(self) -> None:
        """Nothing to do."""


def asked(system: Own, limits: SystemLimits | None = None, timeout: float = 10.0) -> Attempt:
    """One question put to a system."""

    async def all_of_it() -> Attempt:
        return await ask_with_retries_or_raise(
            system, QUESTION, Settings(timeout=timeout), limits or SystemLimits(Throttle(2))
        )

    return asyncio.run(all_of_it())


def error_of(system: Own, limits: SystemLimits | None = None, timeout: float = 10.0) -> NoReplyError:
    """What one question fails with."""
    with pytest.raises(NoReplyError) as failure:
        asked(system, limits, timeout)
    return failure.value


# -- asking again --


def test_a_passing_failure_is_tried_again() -> None:
    """Two different failures, then a reply: three tries, and each wait is told."""
    told: list[str] = []
    limits = SystemLimits(Throttle(2), waiting=told.append)
    system = Own(TransientError("first", kind="server"), TransientError("second", kind="server"), Reply("yes"))
    attempt = asked(system, limits)
    assert (attempt.reply.text, attempt.attempts, len(system.calls)) == ("yes", 3, 3)
    assert [text.partition(";")[0] for text in told] == ["first", "second"]
    assert "(1 of 5)" in told[0]


def test_the_same_failure_twice_is_enough() -> None:
    """A server that fails with the same words again would go on so: it is not asked a third time."""
    system = Own(BROKEN)
    assert error_of(system).attempts == 2
    assert len(system.calls) == 2


@pytest.mark.parametrize("retries", [0, 1])
def test_retries_are_bounded(retries: int) -> None:
    """So many further tries and no more; 0 means none, even for a failure that comes and goes."""
    system = Own(TransientError("busy", kind="overload", overload=True))
    assert error_of(system, SystemLimits(Throttle(1), retries=retries)).attempts == retries + 1
    assert len(system.calls) == retries + 1


def test_a_permanent_failure_is_not_tried_again() -> None:
    """The same request would fail again."""
    system = Own(PermanentError("no", kind="bad-request", status=400))
    assert error_of(system).attempts == 1
    assert len(system.calls) == 1


@pytest.mark.parametrize("overload", [True, False])
def test_the_wait_that_a_server_asks_for_is_kept(*, overload: bool) -> None:
    """The second try comes no earlier than the server said."""
    system = Own(TransientError("busy", retry_after=0.3, overload=overload), Reply("yes"))
    asked(system)
    assert system.calls[1] - system.calls[0] >= 0.3


def test_a_wait_that_is_too_long_ends_the_question() -> None:
    """A server that asks for hours gets no second try now, and nobody else is held up by it."""

    async def all_of_it() -> float:
        begun = time.monotonic()
        limits = SystemLimits(Throttle(1))
        patient = TransientError("tomorrow", retry_after=LONGEST_RETRY_AFTER + 1, overload=True)
        with pytest.raises(TransientError) as failure:
            await ask_with_retries_or_raise(Own(patient), QUESTION, Settings(), limits)
        assert failure.value.attempts == 1
        async with asyncio.timeout(60):
            await ask_with_retries_or_raise(Own(Reply("yes")), QUESTION, Settings(), limits)
        return time.monotonic() - begun

    assert asyncio.run(all_of_it()) < 60


def test_a_system_that_never_answers() -> None:
    """An adapter that forgets its own time-out is cut off shortly after it should have given up."""
    error = error_of(Own(3600.0), SystemLimits(Throttle(1), retries=0), timeout=-4.9)
    assert (error.kind, isinstance(error, TransientError)) == ("timeout", True)


def test_an_assistant_of_ones_own_that_raises() -> None:
    """Any exception is a failure of the system, named by its type and words; it is not tried again."""
    system = Own(ZeroDivisionError("division by zero"))
    error = error_of(system)
    assert str(error).startswith("ZeroDivisionError: division by zero")
    assert (error.kind, len(system.calls)) == ("exception", 1)


def test_an_exception_tells_no_key() -> None:
    """What an assistant of one's own raises may hold its key."""
    assert "sk-proj" not in str(error_of(Own(RuntimeError("Bearer sk-proj-Ab3dEf9hIjKlMnOp"))))


@pytest.mark.parametrize("returned", ["yes", None])
def test_an_assistant_of_ones_own_that_returns_something_else(returned: object) -> None:
    """What is no Reply is a failure that says so."""
    error = error_of(Own(returned))
    assert (error.kind, str(error)) == ("exception", f"it returned a {type(returned).__name__} instead of a Reply")


@pytest.mark.parametrize("reply", [Reply(text=None), Reply(text="Yes.", finish="tool_calls")])
def test_a_reply_that_cannot_be_kept_is_a_failure(reply: Reply) -> None:
    """A Reply without a text, or with a finish that nobody knows, is a failure of the system that made it."""
    assert error_of(Own(reply)).kind == "exception"


def test_half_a_character_in_an_exception_can_be_written() -> None:
    """What an assistant says when it fails can be kept, whatever it holds."""
    str(error_of(Own(RuntimeError("\ud800")))).encode()


def test_an_empty_reply_is_tried_again_and_paid_for() -> None:
    """The tokens of an empty reply count with those of the good one that follows it, or with the failure."""
    empty, good = Reply(text=" ", usage=Usage(input=10, output=1)), Reply(text="Yes.", usage=Usage(input=20, output=2))
    attempt = asyncio.run(
        ask_with_retries_or_raise(Own(empty, good), QUESTION, Settings(), SystemLimits(Throttle(1), retries=2))
    )
    assert (attempt.attempts, attempt.usage) == (2, Usage(input=30, output=3))
    error = error_of(Own(empty, empty))
    assert (error.kind, error.usage) == ("empty-reply", Usage(input=20, output=2))


def test_exception_after_a_try_counts_both() -> None:
    """The attempts of a failure include the tries before it, whatever ended them."""
    assert error_of(Own(TransientError("busy", retry_after=0.0), ValueError("x"))).attempts == 2


# -- the gate --


def gather(gate: Throttle, calls: int, system: Own, retries: int = 5) -> list[Attempt | BaseException]:
    """So many questions at once."""

    async def all_of_it() -> list[Attempt | BaseException]:
        limits = SystemLimits(gate, retries=retries)
        questions = [ask_with_retries_or_raise(system, QUESTION, Settings(), limits) for _ in range(calls)]
        return await asyncio.gather(*questions, return_exceptions=True)

    return asyncio.run(all_of_it())


def test_no_more_calls_at_once_than_allowed() -> None:
    """The gate is filled, and never over-filled."""
    system = Own(0.01)
    gather(Throttle(4), 20, system)
    assert system.peak == 4


def test_one_burst_halves_once() -> None:
    """Eight calls that fail together halve the limit once, not eight times."""
    gate = Throttle(8)
    gather(gate, 8, Own(TransientError("busy", overload=True)), retries=0)
    assert gate.limit == 4


def test_each_burst_halves_down_to_one() -> None:
    """Overload after overload halves to one place at the least."""
    gate = Throttle(8)
    for _ in range(5):
        gather(gate, 8, Own(TransientError("busy", overload=True)), retries=0)
    assert gate.limit == 1


def test_other_failures_halve_nothing() -> None:
    """Only an overload says that there are too many calls."""
    gate = Throttle(8)
    gather(gate, 8, Own(BROKEN), retries=0)
    assert gate.limit == 8


def test_good_calls_open_the_gate_again() -> None:
    """After as many good calls as there are places there is one more, up to the most and not beyond."""
    gate = Throttle(4)
    gather(gate, 4, Own(TransientError("busy", overload=True)), retries=0)
    assert gate.limit == 2
    gather(gate, 2, Own(Reply("yes")))
    assert gate.limit == 3
    gather(gate, 30, Own(Reply("yes")))
    assert gate.limit == 4


def test_a_pause_holds_for_everyone() -> None:
    """While a server wants a rest, no other call goes out, whoever heard of it."""
    happens = [TransientError("busy", retry_after=0.3, overload=True), Reply("yes")]
    system = Own(*happens)

    async def all_of_it() -> None:
        limits = SystemLimits(Throttle(1))
        await asyncio.gather(*(ask_with_retries_or_raise(system, QUESTION, Settings(), limits) for _ in range(3)))

    asyncio.run(all_of_it())
    assert min(system.calls[1:]) - system.calls[0] >= 0.3


def test_cancelled_calls_give_their_places_back() -> None:
    """A place is free again when its call is cancelled, under way or waiting."""
    gate, system = Throttle(1), Own(3600.0)

    async def all_of_it() -> None:
        calls = [
            asyncio.create_task(ask_with_retries_or_raise(system, QUESTION, Settings(), SystemLimits(gate)))
            for _ in range(3)
        ]
        await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(all_of_it())
    assert gate.busy == 0


# -- the breaker --


def test_breaker_opens_at_once_for_what_every_call_would_meet() -> None:
    """A refused key needs no second proof."""
    breaker = CircuitBreaker()
    breaker.count_failure_and_open_if_hopeless(PermanentError("wrong key", kind="authentication", fatal=True))
    assert breaker.reason == "wrong key"


def test_breaker_opens_when_the_same_answer_comes_again() -> None:
    """Twice the same permanent failure stops a system; two different ones don't, nor does one after a good call."""
    bad, other = PermanentError("bad", kind="bad-request"), PermanentError("worse", kind="bad-request")
    breaker = CircuitBreaker()
    for step in (bad, other, bad):
        breaker.count_failure_and_open_if_hopeless(step)
    breaker.forget_failures()
    breaker.count_failure_and_open_if_hopeless(bad)
    assert not breaker.is_open
    breaker.count_failure_and_open_if_hopeless(bad)
    assert breaker.reason == "bad (the same error 2 times)"


def test_breaker_stays_closed_for_what_passes() -> None:
    """A failure that may pass stops nothing, however often it comes."""
    breaker = CircuitBreaker()
    for _ in range(10):
        breaker.count_failure_and_open_if_hopeless(BROKEN)
    assert not breaker.is_open


def test_breaker_opens_when_a_server_wants_hours() -> None:
    """A wait beyond our patience holds for every call, so the others needn't ask for it too."""
    breaker = CircuitBreaker()
    breaker.count_failure_and_open_if_hopeless(
        TransientError("tomorrow", retry_after=LONGEST_RETRY_AFTER + 1, overload=True)
    )
    assert breaker.is_open


def test_whoever_waits_at_the_gate_does_not_ask_a_stopped_system() -> None:
    """Calls that queue when a system is stopped are never sent."""
    system = Own(0.05)
    limits = SystemLimits(Throttle(1))

    async def all_of_it() -> list[Attempt | BaseException]:
        calls = [asyncio.create_task(ask_with_retries_or_raise(system, QUESTION, Settings(), limits)) for _ in range(5)]
        await asyncio.sleep(0.01)
        limits.breaker.count_failure_and_open_if_hopeless(PermanentError("wrong key", fatal=True))
        return await asyncio.gather(*calls, return_exceptions=True)

    first, *others = asyncio.run(all_of_it())
    assert isinstance(first, Attempt)
    assert {type(other) for other in others} == {BreakerOpenError}
    assert len(system.calls) == 1


# -- the budget --


@given(
    cap=st.floats(0, 1),
    calls=st.lists(st.tuples(st.floats(0.001, 0.2), st.floats(0, 1)), min_size=1, max_size=30),
)
@settings(max_examples=size(small=15, soak=60))
def test_the_cap_is_never_passed(cap: float, calls: list[tuple[float, float]]) -> None:
    """Whatever calls cost (no more than was set aside for each), together they never cost more than the cap."""
    budget = Budget(cap)

    async def call(estimate: float, share: float) -> bool:
        try:
            await budget.reserve_dollars_or_raise(estimate)
        except SpendingCapError:
            return False
        await asyncio.sleep(0)
        await budget.settle_reservation(estimate, estimate * share)
        return True

    async def all_of_it() -> list[bool]:
        return await asyncio.gather(*(call(*one) for one in calls))

    made = asyncio.run(all_of_it())
    assert budget.spent <= cap + 1e-9
    assert budget.reserved == 0
    # Whoever was turned away would not have fitted in beside what was spent in the end.
    for (estimate, _), was_made in zip(calls, made, strict=True):
        assert was_made or budget.spent + estimate > cap - 1e-9


def test_the_cap_waits_for_money_that_may_come_free() -> None:
    """A call that does not fit beside those under way waits for them to cost less than was set aside."""

    async def all_of_it() -> list[str]:
        budget, happened = Budget(1.0), list[str]()
        await budget.reserve_dollars_or_raise(0.8)

        async def second() -> None:
            await budget.reserve_dollars_or_raise(0.8)
            happened.append("second")

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.01)
        happened.append("first")
        await budget.settle_reservation(0.8, 0.1)
        await waiting
        return happened

    assert asyncio.run(all_of_it()) == ["first", "second"]


def test_the_cap_says_what_is_left() -> None:
    """The sentence names the call's price, what is spent and the cap; what an earlier process spent counts."""
    budget = Budget(1.0, spent=0.75)
    said = r"the next call may cost \$0\.5000; \$0\.7500 of the \$1\.00 cap is spent"
    with pytest.raises(SpendingCapError, match=said):
        asyncio.run(budget.reserve_dollars_or_raise(0.5))


def test_without_a_cap_everything_is_affordable() -> None:
    """It only adds up."""

    async def all_of_it(budget: Budget) -> None:
        await budget.reserve_dollars_or_raise(1e9)
        await budget.settle_reservation(1e9, 2.5)

    budget = Budget()
    asyncio.run(all_of_it(budget))
    assert (budget.spent, budget.reserved) == (2.5, 0)
