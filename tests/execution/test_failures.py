"""Servers that misbehave: a run ends complete or resumable, and every failure is a record that can be asked again."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from running import (
    KEY,
    SYSTEM,
    answers,
    carry_out,
    last_messages,
    latest,
    make_workspace,
    procedure,
    spec,
    texts_below,
    write,
)
from servers import (
    Behaviour,
    OpenAIServer,
    cut,
    drop,
    empty,
    failure,
    malformed,
    overloaded,
    rate_limited,
    refusal,
    reply,
    stall,
)
from size import size

from genaipa.errors import NotReadyError
from genaipa.execution.limits import RunLimits
from genaipa.execution.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

LEAKY = f"The key {KEY} is not to be seen"
"""What a careless server may say."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that takes one key; tests give it a script."""
    with OpenAIServer(models=("m",), only=KEY) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        yield running


class Heard(Observer):
    """Keeps what an observer is told."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.ends: dict[str, str] = {}

    def on_wait(self, system: str, reason: str) -> None:
        """A call will be tried again."""
        self.reasons.append(reason)

    def on_system_stopped(self, system: str, reason: str) -> None:
        """A system is asked no more."""
        self.ends[system] = reason


@pytest.mark.parametrize(
    ("behaviour", "kind", "status"),
    [
        (rate_limited(), "rate-limit", 429),
        (rate_limited(0.05), "rate-limit", 429),
        (failure(500, LEAKY), "server", 500),
        (overloaded(), "overload", 529),
        (failure(503, LEAKY), "overload", 503),
        (failure(400, LEAKY), "bad-request", 400),
        (failure(400, "This model's maximum context length is 10", "context_length_exceeded"), "context-length", 400),
        (failure(404, LEAKY), "not-found", 404),
        (failure(402, LEAKY), "quota", 402),
        (failure(429, LEAKY, "insufficient_quota"), "quota", 429),
        (malformed(), "malformed-reply", None),
        (malformed(b"[]"), "malformed-reply", None),
        (empty(), "empty-reply", None),
        (drop(), "connection", None),
        (stall(), "timeout", None),
        (reply("late", delay=5.0), "timeout", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_failure_is_a_record(server: OpenAIServer, behaviour: Behaviour, kind: str, status: int | None) -> None:
    """The failed question is kept with what happened, the others are answered, and resuming asks the failed one alone.

    Without retries there is exactly one request per question.
    """
    asked_badly = "Question 2 on Acme?"
    server.script = lambda _number, body: (
        behaviour if body["messages"][-1]["content"] == asked_badly else Behaviour(text="Yes.")
    )
    make_workspace(questions=4)
    plan = spec(conversation="independent")
    patience = 1.0 if kind == "timeout" else 60.0
    folder, outcome = carry_out(plan, limits=RunLimits(max_connections=1, max_retries=0, timeout=patience))
    failed = {key: record for key, record in latest(folder).items() if record.status == "failed"}
    assert list(failed) == [f"{SYSTEM}|acme|document|original|1|Q2"]
    (record,) = failed.values()
    assert record.error is not None
    assert (record.error.kind, record.error.status, record.attempts, record.reply) == (kind, status, 1, None)
    assert SYSTEM in record.error.message
    assert KEY not in texts_below(folder.path)
    assert outcome.status == folder.manifest().status == "partial"
    assert max(Counter(last_messages(server)).values()) == 1

    answered = {record.asked for record in answers(folder)}
    server.requests.clear()
    server.script = ()
    _, outcome = carry_out(plan, folder)
    assert outcome.status == "complete"
    assert asked_badly in last_messages(server)
    assert sorted([*answered, *last_messages(server)]) == [f"Question {n} on Acme?" for n in range(1, 5)]
    assert Counter(r.status for r in latest(folder).values()) == {"answered": 4}


@pytest.mark.parametrize(("behaviour", "status"), [(cut("It says"), "truncated"), (refusal("No."), "refused")])
def test_cut_and_refused_are_answers(server: OpenAIServer, behaviour: Behaviour, status: str) -> None:
    """A reply that the token limit cut or that declines is kept with that status, and is not asked again."""
    server.script = [behaviour]
    make_workspace(questions=3)
    plan = spec()
    folder, outcome = carry_out(plan)
    assert outcome.status == "complete"
    assert Counter(r.status for r in folder.read_records()) == {status: 1, "answered": 2}
    server.requests.clear()
    carry_out(plan, folder)
    assert server.requests == []


@pytest.mark.parametrize(
    "behaviour",
    [failure(500, "a fault"), malformed(), empty(), failure(400, "odd"), failure(501)],
    ids=["500", "malformed", "empty", "400", "501"],
)
def test_the_same_failure_is_not_asked_a_third_time(server: OpenAIServer, behaviour: Behaviour) -> None:
    """However many retries are allowed, a question that fails twice with the same words is given up."""
    server.script = lambda _number, _body: behaviour
    make_workspace(questions=1)
    folder, outcome = carry_out(spec(), limits=RunLimits(max_retries=9))
    assert outcome.status == "partial"
    assert len(server.requests) == next(folder.read_records()).attempts <= 2


@pytest.mark.parametrize("retries", [0, 2])
def test_retries_are_bounded(server: OpenAIServer, retries: int) -> None:
    """A server that is always busy is asked so many times more, and each wait is told."""
    server.script = lambda _number, _body: rate_limited(0.01)
    make_workspace(questions=1)
    heard = Heard()
    folder, outcome = carry_out(spec(), limits=RunLimits(max_retries=retries), observer=heard)
    assert len(server.requests) == retries + 1
    assert next(folder.read_records()).attempts == retries + 1
    assert len(heard.reasons) == retries
    assert outcome.status == "partial"


def test_failures_that_pass(server: OpenAIServer) -> None:
    """Every kind of passing trouble in a row, and the run is complete in the end."""
    soon = {"retry-after": "0.01"}
    trouble = (drop(), malformed(), stall(), *(Behaviour(status=status, headers=soon) for status in (429, 500, 529)))
    server.script = [*trouble, reply("Yes.")]
    make_workspace(questions=1)
    folder, outcome = carry_out(spec(), limits=RunLimits(max_retries=len(trouble), timeout=1.0))
    assert outcome.status == "complete"
    (record,) = folder.read_records()
    assert (record.status, record.attempts, len(server.requests)) == ("answered", 7, 7)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_the_wait_that_a_server_asks_for_is_kept(server: OpenAIServer, status: int) -> None:
    """After Retry-After the next request comes no earlier than that."""
    arrived: list[float] = []

    def behave(number: int, _body: object) -> Behaviour:
        arrived.append(time.monotonic())
        wait = Behaviour(status=status, error="wait", headers={"retry-after": "0.4"})
        return wait if number == 1 else Behaviour()

    server.script = behave
    make_workspace(questions=1)
    _, outcome = carry_out(spec())
    assert outcome.status == "complete"
    assert arrived[1] - arrived[0] >= 0.4


def test_a_pause_holds_for_all_calls(server: OpenAIServer) -> None:
    """While the server wants a rest, no other question goes out either."""
    arrived: list[float] = []

    def behave(number: int, _body: object) -> Behaviour:
        arrived.append(time.monotonic())
        return rate_limited(0.4) if number == 2 else Behaviour()

    server.script = behave
    make_workspace(questions=6)
    carry_out(spec(conversation="independent"), limits=RunLimits(max_connections=1))
    assert min(arrived[2:]) - arrived[1] >= 0.4


def test_calls_at_once_shrink_under_overload(server: OpenAIServer) -> None:
    """After a burst of refusals, fewer calls are under way at once; the run completes."""
    under_way: list[int] = []
    # All eight are there before the first of them is refused, however slowly they come.
    busy = Behaviour(status=429, error="busy", until=lambda: server.peak == 8, headers={"retry-after": "0.05"})

    def behave(number: int, _body: object) -> Behaviour:
        under_way.append(server._under_way)
        return busy if 2 <= number <= 9 else Behaviour(delay=0.05)

    server.script = behave
    make_workspace(questions=12)
    _, outcome = carry_out(spec(conversation="independent"), limits=RunLimits(max_connections=8))
    assert outcome.status == "complete"
    assert server.peak == 8
    assert max(under_way[9:13]) <= 4


def test_a_server_that_wants_hours_stops_its_system(server: OpenAIServer) -> None:
    """A daily quota is not waited for: the run ends resumable after few requests, and says why."""
    server.script = lambda _number, _body: rate_limited(86400)
    make_workspace(questions=32)
    heard = Heard()
    _, outcome = carry_out(procedure(conversation="independent"), observer=heard)
    assert outcome.status == "partial"
    assert "86400 s" in heard.ends[SYSTEM]
    assert len(server.requests) <= 20


@pytest.mark.parametrize(
    ("status", "mode"),
    size(
        # 400 may be one question's fault, 401 never is; that 402 to 404 are as fatal is found by
        # `test_lasting_failures` in test_providers.py.
        small=[(400, "independent"), (401, "shared")],
        soak=[(status, mode) for status in (400, 401, 402, 403, 404) for mode in ("shared", "independent")],
    ),
)
def test_an_error_that_every_call_meets_stops_its_system(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, status: int, mode: str
) -> None:
    """The same permanent error for everything is learnt from few of 32 questions; another system goes on."""
    server.script = lambda _number, _body: failure(status, LEAKY)
    make_workspace(questions=8)
    heard = Heard()
    with OpenAIServer(models=("m",)) as good:
        monkeypatch.setenv("GOOD_BASE_URL", good.url)
        plan = procedure(systems=(SYSTEM, "openai-api/good/m"), conversation=mode)
        folder, outcome = carry_out(plan, observer=heard)
        assert len(good.requests) == 4 * 8 + 2
        # As many as are out at once, and those that take the places of the first.
        assert len(server.requests) <= 12
        assert list(outcome.stopped) == list(heard.ends) == [SYSTEM]
        assert outcome.status == "partial"
        assert outcome.tally.get_or_add_row("openai-api/good/m", "document").missing_count == 0
        assert KEY not in texts_below(folder.path)
        assert KEY not in str(heard.ends)

        server.requests.clear()
        server.script = ()
        _, outcome = carry_out(plan, folder)
        assert outcome.status == "complete"
        assert len(server.requests) == len(good.requests) == 4 * 8 + 2


def test_a_wrong_key_asks_nothing(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the server refuses is found out before the first question."""
    monkeypatch.setenv("LOOP_API_KEY", "sk-proj-AnotherKey1234567")
    make_workspace()
    with pytest.raises(NotReadyError, match="refuses the key in LOOP_API_KEY") as refused:
        carry_out(spec())
    assert "AnotherKey" not in str(refused.value)
    assert server.requests == []


def test_one_bad_question_stops_nothing(server: OpenAIServer) -> None:
    """A question that the server can't take fails alone, in every repetition, if good replies lie between."""
    server.script = lambda _number, body: (
        failure(400, "odd") if body["messages"][-1]["content"].startswith("Question 3") else Behaviour()
    )
    make_workspace(questions=6)
    limits = RunLimits(max_connections=1)
    folder, outcome = carry_out(spec(conversation="independent", repetitions=3), limits=limits)
    assert outcome.stopped == {}
    assert Counter((r.question == "Q3", r.status) for r in folder.read_records()) == {
        (True, "failed"): 3,
        (False, "answered"): 15,
    }


OWN = """
from genaipa.systems.base import Readiness, Reply


class Base:
    name = "own"

    async def start(self):
        return Readiness()

    async def reply(self, messages, settings):
        return Reply(f"I heard: {messages[-1].content}")

    async def count_tokens(self, text):
        return len(text.split())

    async def close(self):
        pass


class Good(Base):
    pass


class Raises(Base):
    async def reply(self, messages, settings):
        if "Question 2" in messages[-1].content:
            raise ValueError("my fault, not yours")
        return await super().reply(messages, settings)


class Returns(Base):
    async def reply(self, messages, settings):
        return "just text"


class Unready(Base):
    async def start(self):
        raise OSError("the weights are not there")


class Lacks:
    name = "lacks"


class Picky(Base):
    def __init__(self, needed):
        pass
"""


def test_own_assistant(genaipa: Callable[..., Finished]) -> None:
    """A class in the working folder is asked like any other system."""
    make_workspace(questions=2)
    write("mine.py", OWN)
    done = genaipa("run", "-s", "mine:Good", "-p", "acme", "-e", "quality")
    assert done.code == 0, done.err
    shown = genaipa("show", "latest", "Q1")
    assert "I heard: Question 1 on Acme?" in shown.out


def test_own_assistant_that_raises(genaipa: Callable[..., Finished]) -> None:
    """What it raises is the failure of that question; the others are answered, and no traceback is shown."""
    make_workspace(questions=4)
    write("mine.py", OWN)
    done = genaipa("run", "-s", "mine:Raises", "-p", "acme", "-e", "quality", "--conversation", "independent")
    assert done.code == 3
    assert "ValueError: my fault, not yours" in done.err
    assert "Traceback" not in done.err
    assert "1 answer is missing" in done.out


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [
        ("mine:Returns", 3, "it returned a str instead of a Reply"),
        ("mine:Unready", 1, "mine:Unready can't be started (OSError: the weights are not there)"),
        ("mine:Lacks", 2, "mine:Lacks: the class has no 'start'"),
        ("mine:Picky", 2, "mine:Picky can't be instantiated without arguments"),
        ("mine:Nobody", 2, "mine:Nobody: the module has no 'Nobody'"),
        ("yours:Good", 2, "yours:Good: the module 'yours' is neither in this folder nor installed"),
    ],
)
def test_own_assistant_that_is_none(genaipa: Callable[..., Finished], target: str, code: int, said: str) -> None:
    """Whatever is wrong with a class of one's own is said in a sentence."""
    make_workspace(questions=2)
    write("mine.py", OWN)
    done = genaipa("run", "-s", target, "-p", "acme", "-e", "quality")
    assert done.code == code, done.err
    assert said in done.err
    assert "Traceback" not in done.err
