"""What only Google's batches do: their states, their errors, files with long names, and the price of cached tokens."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from batching import Fate, GoogleBatchServer
from running import answers, make_workspace
from servers import Behaviour, failure
from test_batches import GEMINI, batched, serving

from genaipa.errors import PermanentError, TransientError
from genaipa.systems.base import Message, Settings, Usage
from genaipa.systems.catalog import resolve_system
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

_STATES = ("validating", "queued", "pending", "running", "paused", "updating", "cancelling", "unspecified")


def _with_system(server: GoogleBatchServer, work: Any) -> Any:
    """What becomes of `work` with a started system."""

    async def do() -> Any:
        system: Any = resolve_system(GEMINI, find_workspace()).make_system()
        await system.start()
        try:
            return await work(system)
        finally:
            await system.close()

    with serving(server):
        return asyncio.run(do())


def test_every_state_is_waited_for_or_collected() -> None:
    """A batch that is paused goes on; one that succeeded in part is asked again for the rest."""
    make_workspace(questions=5)
    part = Fate(state="partially_succeeded", before=_STATES, share=0.6)
    server = GoogleBatchServer(lambda number: part if number == 1 else Fate())
    folder, outcome = batched(server)
    assert (outcome.status, len(answers(folder)), len(server.requests)) == ("complete", 5, 5)
    assert sum(len(held.names) for held in server.batches) == 7


def test_errors_of_lines_are_those_of_single_calls() -> None:
    """Too many requests pass; what is refused is a failure, in the server's words."""
    make_workspace(questions=3)
    said = {1: failure(429, "Too many.", "RESOURCE_EXHAUSTED"), 2: failure(400, "No such thing.", "INVALID_ARGUMENT")}
    server = GoogleBatchServer(script=lambda number, _body: said.get(number, Behaviour()))
    folder, outcome = batched(server)
    assert (outcome.status, [len(held.names) for held in server.batches]) == ("partial", [3, 1])
    (failed,) = [record.error for record in folder.read_records() if record.error]
    assert (failed.kind, failed.status, "No such thing." in failed.message) == ("bad-request", 400, True)


def test_why_a_batch_failed_is_told() -> None:
    """The SDK leaves it out; for want of room in the queue it is handed in again later, otherwise never."""
    make_workspace(questions=1)

    async def fail(system: Any) -> Any:
        body, _ = system.encode_batch_request_and_sent_settings([Message("user", "Why?")], Settings())
        batch = await system.submit([("a", body)], "m")
        return [(await system.status(batch)).failure, (await system.status(batch)).failure]

    def server(code: str) -> GoogleBatchServer:
        return GoogleBatchServer(lambda _number: Fate(state="failed", code=code))

    waiting, refused = _with_system(server("nonsense"), fail)
    assert waiting is None
    assert isinstance(refused, PermanentError)
    assert refused.fatal
    assert "It failed. nonsense" in str(refused)
    _, full = _with_system(server("token_limit_exceeded"), fail)
    assert isinstance(full, TransientError)
    assert full.overload


def test_a_long_file_goes_up_in_pieces_and_what_comes_back_is_found_by_its_long_name() -> None:
    """The name of a file of results is too long to be looked up, or to be deleted by."""
    make_workspace(questions=1)

    async def there_and_back(system: Any) -> Any:
        body, sent = system.encode_batch_request_and_sent_settings([Message("user", "x" * 9_000_000)], Settings())
        batch = await system.submit([("a", body)], "m")
        await system.status(batch)
        state = await system.status(batch)
        (line,) = [line async for line in system.results(state)]
        await system.delete_batch_data(state)
        return state, system.parse_result_line(json.loads(line), sent), await system.list_batches_since(0)

    server = GoogleBatchServer()
    state, reply, listed = _with_system(server, there_and_back)
    assert all(len(name) > 46 for name in state.results)
    assert reply.text.startswith("You asked: xxx")
    assert server.deleted == ["genaipa-m", state.id]
    assert listed == [state]


def test_what_was_called_off_is_collected_and_the_rest_asked(genaipa: Cli) -> None:
    """Lines that were called off have an error of their own, with details over which the SDK would stumble."""
    make_workspace(questions=4)
    plan = ("run", "-s", GEMINI, "-p", "acme", "-i", "company-name", "--conversation", "independent")
    with serving(GoogleBatchServer()) as server:
        assert genaipa(*plan, "--batch", "--no-wait").code == 3
        assert "1 batch cancelled" in genaipa("runs", "batches", "cancel", "latest").out
        assert genaipa("run", "--resume", "latest").code == 0
    assert [len(held.names) for held in server.batches] == [4, 2]


def test_what_comes_from_a_cache_costs_as_much_in_a_batch() -> None:
    """Google halves the rest alone; OpenAI's cached tokens are halved, too."""
    make_workspace(questions=1)
    usage = Usage(input=4000, cached=3000, output=100)
    found = {name: resolve_system(name, find_workspace()) for name in (GEMINI, "openai/gpt-4o")}
    whole = {name: one.tariff.cost(usage) for name, one in found.items() if one.tariff}
    cached = {name: one.tariff.cost(Usage(input=3000, cached=3000)) for name, one in found.items() if one.tariff}
    in_batch = {name: one.batch_tariff.cost(usage) for name, one in found.items() if one.batch_tariff}
    assert in_batch[GEMINI] == pytest.approx(cached[GEMINI] + (whole[GEMINI] - cached[GEMINI]) / 2)
    assert in_batch["openai/gpt-4o"] == pytest.approx(whole["openai/gpt-4o"] / 2)
