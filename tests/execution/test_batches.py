"""Runs asked by batches: the same answers as by single calls, at half the price, whatever happens on the way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from batching import AnthropicBatchServer, Batches, BatchServer, Fate, GoogleBatchServer
from running import answers, carry_out, latest, lines_of, make_workspace, spec
from servers import AnthropicServer, Behaviour, GoogleServer, OpenAIServer, failure
from size import size

from genaipa.errors import RunBusyError, RunError, UsageError
from genaipa.execution.batches.batched import BatchingOptions
from genaipa.execution.limits import RunLimits
from genaipa.execution.observer import Observer
from genaipa.runs.batches import read_batches_by_mark
from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import LoopbackServer


KEY = "sk-proj-Ab3dEf9hIjKlMnOpQr"
SYSTEM = "openai/gpt-4o"
CLAUDE = "anthropic/claude-opus-4-8"
GEMINI = "google/gemini-2.5-flash"
# In small, CASES asks the two others.
OTHERS = [pytest.param(kind, marks=pytest.mark.full) for kind in (AnthropicBatchServer, GoogleBatchServer)]
EVERY = pytest.mark.parametrize("kind", [BatchServer, *OTHERS])
FATES = (
    Fate(shuffled=True, doubled=True, foreign=True),
    Fate(state="expired", share=0.6),
    Fate(share=0.6, lost=2),
    Fate(state="expired", share=0.0),
    Fate(unanswered=True),
    Fate(unheard=True),
    Fate(refused=500),
    Fate(refused=429),
)
CASES = [
    *((fate, BatchServer) for fate in size(small=(*FATES[:2], *FATES[4:6]), soak=FATES)),
    *((fate, AnthropicBatchServer) for fate in size(small=FATES[2:4], soak=FATES)),
    *((fate, GoogleBatchServer) for fate in size(small=FATES[4:5], soak=FATES)),
]
PLAN: dict[str, Any] = {"systems": (SYSTEM,), "conversation": "independent", "initializations": ("company-name",)}
QUICK = BatchingOptions(full=0.05, first_look=0.02, longest_look=0.05, patience=0.5)
LEAVING = BatchingOptions(wait=False, patience=0.5)


@contextlib.contextmanager
def serving(server: LoopbackServer) -> Iterator[Any]:
    """The server, with the environment that leads to it."""
    with server, pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
            patch.setenv(f"{name}_GEMINI_BASE_URL" if name == "GOOGLE" else f"{name}_BASE_URL", server.url)
            patch.setenv(f"{name}_API_KEY", KEY)
        yield server


def batched(
    server: Batches, plan: BatchingOptions = QUICK, folder: RunFolder | None = None, retries: int = 3, **more: Any
) -> tuple[RunFolder, Any]:
    """A run by batches at this server."""
    with serving(server):
        return carry_out(
            spec(**PLAN | {"systems": (system_of(type(server)),)} | more),
            folder,
            RunLimits(max_retries=retries, batch=plan),
        )


def system_of(kind: type[LoopbackServer]) -> str:
    """The system that such a server is for."""
    if issubclass(kind, GoogleServer):
        return GEMINI
    return CLAUDE if issubclass(kind, AnthropicServer) else SYSTEM


def steps(folder: RunFolder) -> list[str]:
    """The steps of the run's journal, without those that only looked."""
    return [line["step"] for line in lines_of(folder.path / "batches.jsonl") if line["step"] != "looked"]


@EVERY
def test_a_run_by_batches_is_the_run_by_single_calls_for_half_the_money(kind: type[Batches]) -> None:
    """Equal keys, messages and requests; each record says how it was asked."""
    make_workspace(questions=5, documents=("acme", "brook"))
    both: dict[str, Any] = {
        "documents": ("acme", "brook"),
        "systems": (f"{system_of(kind)}@low".replace("4o@", "5.6@"),),
    }
    options = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 70, "sampling_seed": 4}
    options |= {"service_tier": "flex", "system_prompt": "Be brief, “please”."}
    with serving(kind.__mro__[2]()) as server:
        single, _ = carry_out(spec(**PLAN | both | options))
        bodies = sorted(json.dumps(request.body, sort_keys=True) for request in server.requests)
    server = kind()
    folder, outcome = batched(server, **both, **options)
    assert outcome.status == "complete"
    assert steps(folder) == ["intended", "submitted", "fetched", "kept"]
    assert sorted(json.dumps(request.body, sort_keys=True) for request in server.requests) == bodies
    before, after = latest(single), latest(folder)
    assert before.keys() == after.keys()
    for key, record in after.items():
        other = before[key]
        assert (record.asked, record.reply, record.conversation) == (other.asked, other.reply, other.conversation)
        assert record.sent == other.sent | {"batch": True}
        assert record.usage is not None
        assert other.usage is not None
        assert record.usage.input == other.usage.input
    assert not list(folder.path.glob("batches/*")), "what is in the answers is kept once"
    assert set(server.deleted) == {name for name in server.files if len(name) <= 40} or {server.batches[0].id}


def test_the_price_is_half() -> None:
    """Of the very same tokens."""
    make_workspace(questions=1)
    with serving(OpenAIServer()):
        single, _ = carry_out(spec(**PLAN))
    folder, _ = batched(BatchServer())
    (one,), (other,) = answers(single), answers(folder)
    assert one.usage == other.usage
    assert other.cost == pytest.approx((one.cost or 0) / 2)
    assert other.cost


@EVERY
def test_shared_conversations_take_a_batch_a_turn(kind: type[Batches]) -> None:
    """Each turn needs the reply to the one before it."""
    make_workspace(questions=3, documents=("acme", "brook"))
    server = kind()
    folder, outcome = batched(server, conversation="shared", documents=("acme", "brook"))
    assert outcome.status == "complete"
    assert [len(one.lines) for one in server.batches] == [2, 2, 2]
    assert [record.turn for record in answers(folder)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("fate", "kind"), CASES)
def test_what_did_not_come_is_asked_again_and_what_came_is_not(fate: Fate, kind: type[Batches]) -> None:
    """Whatever a batch ends with, and whether or not anybody heard that it was accepted."""
    make_workspace(questions=5)
    server = kind(lambda number: fate if number == 1 else Fate())
    folder, outcome = batched(server)
    assert outcome.status == "complete"
    assert len(answers(folder)) == len(server.requests) == 5
    assert all(record.reply for record in answers(folder))
    assert len({one.mark for one in server.batches}) == len(server.batches)


def test_rounds_for_what_expires_are_bounded() -> None:
    """By the further tries of a call."""
    make_workspace(questions=2)
    server = BatchServer(lambda _number: Fate(state="expired", share=0.5))
    folder, outcome = batched(server, retries=1, questions={"acme": "policy"})
    assert [len(one.lines) for one in server.batches] == [2, 1]
    assert (outcome.status, len(answers(folder))) == ("partial", 1)


def test_a_queue_without_room_is_waited_for_within_bounds() -> None:
    """OpenAI takes a batch first, and says only later that its queue has no room for so many tokens."""
    make_workspace(questions=3)
    full = Fate(state="failed", code="token_limit_exceeded")
    server = BatchServer(lambda number: full if number <= 2 else Fate())
    folder, outcome = batched(server)
    assert (outcome.status, len(answers(folder)), len(server.requests)) == ("complete", 3, 3)
    assert steps(folder) == [*("intended", "submitted", "given up") * 2, "intended", "submitted", "fetched", "kept"]
    server = BatchServer(lambda _number: full)
    folder, outcome = batched(server, retries=2)
    assert (outcome.status, server.tried, answers(folder)) == ("partial", 3, [])
    assert "token_limit_exceeded" in outcome.stopped[SYSTEM]
    assert len(list(folder.read_records())) == 1, "thousands are told by one"


def test_results_that_cannot_be_had_are_not_paid_for_twice() -> None:
    """The batch stays out, and is collected when the run goes on."""
    make_workspace(questions=2)
    server = BatchServer()
    server.broken.downloads = 8
    with serving(server):
        folder, outcome = carry_out(spec(**PLAN), None, RunLimits(batch=replace(QUICK, first_look=0.001)))
        assert (outcome.status, server.tried, list(folder.read_records())) == ("waiting", 1, [])
        folder, outcome = carry_out(spec(**PLAN), folder, RunLimits(batch=QUICK))
    assert (outcome.status, server.tried, len(answers(folder))) == ("complete", 1, 2)


def test_an_account_without_credit_is_learnt_once() -> None:
    """Not by thousands of failures; and nothing of it is handed in again."""
    make_workspace(questions=6)
    for fate in (Fate(refused=402), Fate(state="failed", code="insufficient_quota")):
        server = BatchServer(lambda _number, fate=fate: fate)
        folder, outcome = batched(server)
        assert (outcome.status, list(outcome.stopped)) == ("partial", [SYSTEM])
        assert (server.tried, len(list(folder.read_records()))) == (1, 1)
    server = BatchServer(script=lambda _number, _body: failure(429, "You exceeded your quota", "insufficient_quota"))
    folder, outcome = batched(server)
    assert (outcome.status, server.tried) == ("partial", 1)
    assert "quota" in outcome.stopped[SYSTEM]


@EVERY
def test_passing_trouble_at_the_provider_is_waited_out(kind: type[Batches]) -> None:
    """Nothing is handed in again for it."""
    make_workspace(questions=3)
    server = kind(lambda number: Fate(unanswered=number == 1))
    server.broken.looks = server.broken.lists = server.broken.downloads = 2
    folder, outcome = batched(server)
    assert (outcome.status, len(server.batches), len(answers(folder))) == ("complete", 1, 3)


def test_nobody_waits_and_the_same_run_collects() -> None:
    """With the same account only, and not by single calls meanwhile."""
    make_workspace(questions=3)
    server = BatchServer()
    server.only = KEY
    with serving(server):
        limits = RunLimits(batch=LEAVING)
        folder, outcome = carry_out(spec(**PLAN), None, limits)
        assert (outcome.status, outcome.tally.totals().planned, len(answers(folder))) == ("waiting", 3, 0)
        assert folder.read_manifest_and_tally()[0].status == "waiting"
        # Single calls would ask again; another account would not find it.
        with pytest.raises(RunError, match="1 batch with 3 questions is pending"):
            carry_out(spec(**PLAN), folder, RunLimits(batch=False))
        server.only = os.environ["OPENAI_API_KEY"] = KEY + "other"
        with pytest.raises(RunError, match="pending at openai at"):
            carry_out(spec(**PLAN), folder)
        assert len(server.batches) == server.tried == 1
        server.only = os.environ["OPENAI_API_KEY"] = KEY
        folder, outcome = carry_out(spec(**PLAN), folder)
    assert (outcome.status, len(answers(folder)), len(server.batches)) == ("complete", 3, 1)
    assert steps(folder) == ["intended", "submitted", "fetched", "kept"]


def test_results_that_were_fetched_are_not_fetched_again() -> None:
    """As after a kill between the download and the last answer."""
    make_workspace(questions=3)
    server = BatchServer()
    folder, _ = batched(server)
    whole = latest(folder)
    log, kept = folder.path / "batches.jsonl", folder.answers_path.read_bytes()
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    folder.answers_path.write_bytes(kept[: kept.index(b"\n") + 1])
    (held,) = server.batches
    results = folder.path / "batches" / f"{held.mark}.results.jsonl"
    results.parent.mkdir()
    results.write_bytes(server.files[held.output or ""])
    with serving(BatchServer()) as later:
        folder, outcome = carry_out(spec(**PLAN), folder)
    assert (outcome.status, later.tried, len(list(folder.read_records()))) == ("complete", 0, 3)
    assert {key: record.reply for key, record in latest(folder).items()} == {
        key: record.reply for key, record in whole.items()
    }
    assert not results.exists()


def test_results_that_are_in_the_answers_go_also_after_a_kill() -> None:
    """A process that died before it took them away leaves them to the next one."""
    make_workspace(questions=2)
    server = BatchServer()
    folder, _ = batched(server)
    (held,) = server.batches
    results = folder.path / "batches" / f"{held.mark}.results.jsonl"
    results.parent.mkdir()
    results.write_bytes(server.files[held.output or ""])
    lines = folder.answers_path.read_bytes().splitlines(keepends=True)
    folder.answers_path.write_bytes(b"".join(lines[:-1]))
    _, outcome = batched(BatchServer(), folder=folder)
    assert outcome.status == "complete"
    assert not results.parent.exists()


def test_the_cap_sets_half_aside() -> None:
    """A batch that the cap does not allow is not handed in."""
    make_workspace(questions=3)
    with serving(OpenAIServer()):
        single, _ = carry_out(spec(**PLAN | {"max_tokens": 100}))
    cost = sum(record.cost or 0 for record in answers(single))
    server = BatchServer()
    with serving(server):
        limits = RunLimits(batch=QUICK, max_cost=cost / 100)
        folder, outcome = carry_out(spec(**PLAN | {"max_tokens": 100}), None, limits)
    assert (outcome.status, server.tried) == ("capped", 0)
    assert outcome.needed
    assert not read_batches_by_mark(folder.path)
    with serving(BatchServer()) as server:
        # Whoever leaves has the money out that the batch may cost.
        limits = RunLimits(batch=LEAVING, max_cost=2.5 * outcome.needed)
        _, left = carry_out(spec(**PLAN | {"max_tokens": 100}), None, limits)
    assert left.status == "waiting"
    assert sum(len(held.names) for held in server.batches) == 2


def test_who_takes_no_batches_is_told_before_anything_is_asked() -> None:
    """One sentence, and no run folder."""
    make_workspace(questions=1)
    with pytest.raises(UsageError, match="extractive can't be asked in batches"):
        carry_out(spec(**PLAN | {"systems": ("extractive",)}), None, RunLimits(batch=QUICK))


def test_what_a_server_repeats_of_the_key_is_kept_nowhere() -> None:
    """Neither in the results nor in the journal."""
    make_workspace(questions=2)
    server = BatchServer(script=lambda _number, _body: failure(400, f"bad request with {KEY}"))
    folder, _ = batched(server)
    assert KEY not in "".join(path.read_text() for path in folder.path.rglob("*") if path.is_file())


def test_a_batch_without_a_mark_is_found_by_its_lines() -> None:
    """Anthropic's list shows no mark: others of the same size, of the same hour, are not taken for it."""
    make_workspace(questions=3)
    plan = spec(**PLAN | {"systems": (CLAUDE,)})
    with serving(AnthropicBatchServer(lambda _number: Fate(unanswered=True))) as server:
        first, _ = carry_out(plan, None, RunLimits(batch=QUICK))
        second, outcome = carry_out(plan, None, RunLimits(batch=QUICK))
    assert (outcome.status, len(server.batches)) == ("complete", 2)
    assert {len(answers(folder)) for folder in (first, second)} == {3}
    assert set(server.deleted) == {held.id for held in server.batches}


def test_anthropics_refusals_within_a_batch_are_those_of_single_calls() -> None:
    """An account without credit is fatal, an overload passes."""
    make_workspace(questions=3)
    broke = "Your credit balance is too low to access the API."
    server = AnthropicBatchServer(script=lambda _number, _body: failure(400, broke, "invalid_request_error"))
    _, outcome = batched(server)
    assert (outcome.status, server.tried) == ("partial", 1)
    assert "credit balance" in outcome.stopped[CLAUDE]
    busy = failure(529, "Overloaded", "overloaded_error")
    server = AnthropicBatchServer(script=lambda number, _body: busy if number == 2 else Behaviour())
    folder, outcome = batched(server)
    assert (outcome.status, [len(held.names) for held in server.batches]) == ("complete", [3, 1])
    assert sorted(record.attempts for record in answers(folder)) == [1, 1, 2]


class Crowd(Observer):
    """Counts what waits in this process while batches are out."""

    def __init__(self) -> None:
        self.tasks = 0
        self.told: list[tuple[int, int]] = []

    def on_batch_progress(self, system: str, asked: int, done: int) -> None:
        """Keep the counts."""
        self.told.append((asked, done))

    def on_wait(self, system: str, reason: str) -> None:
        """Count the tasks."""
        self.tasks = max(self.tasks, len(asyncio.all_tasks()))


def test_what_is_out_needs_no_task() -> None:
    """So that a hundred thousand questions fit into memory; none of them is asked twice for it."""
    make_workspace(questions=40)
    crowd = Crowd()
    with serving(BatchServer()) as server:
        folder, _ = carry_out(spec(**PLAN), None, RunLimits(batch=QUICK), crowd)
    assert 0 < crowd.tasks < 10
    assert (crowd.told[0], crowd.told[-1]) == ((40, 0), (0, 0))
    assert len(answers(folder)) == len(server.requests) == 40


def test_money_that_is_out_is_set_aside_once() -> None:
    """Questions that the cap leaves no money for are asked once what is out has cost less."""
    make_workspace(questions=6)
    with serving(OpenAIServer()):
        single, _ = carry_out(spec(**PLAN | {"max_tokens": 3000}))
    cost = sum(record.cost or 0 for record in answers(single))
    with serving(BatchServer()) as server:
        folder, outcome = carry_out(
            spec(**PLAN | {"max_tokens": 3000}), None, RunLimits(batch=QUICK, max_cost=0.034 + cost)
        )
    assert (outcome.status, len(answers(folder))) == ("complete", 6)
    assert [len(held.names) for held in server.batches] == [2, 2, 2]


class Intruder(Observer):
    """Begins the same run in another thread while its batches are out."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def on_wait(self, system: str, reason: str) -> None:
        """Try once."""
        if self.refused:
            return
        (path,) = Path("runs").iterdir()

        def begin() -> None:
            with pytest.raises(RunBusyError) as refused:
                carry_out(spec(**PLAN), RunFolder(path), RunLimits(batch=QUICK))
            self.refused.append(str(refused.value))

        with ThreadPoolExecutor(1) as pool:
            pool.submit(begin).result()


def test_two_processes_at_one_run_hand_nothing_in_twice() -> None:
    """The second is refused."""
    make_workspace(questions=2)
    intruder = Intruder()
    with serving(BatchServer()) as server:
        _, outcome = carry_out(spec(**PLAN), None, RunLimits(batch=QUICK), intruder)
    assert "another process is using" in intruder.refused[0]
    assert (outcome.status, server.tried) == ("complete", 1)
