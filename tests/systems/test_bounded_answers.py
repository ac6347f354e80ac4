"""Answers that drip without an end, or grow without one: every call ends in its time, and takes little memory."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, QUESTION
from hostile import ENDLESS, bombs
from running import make_workspace, write
from servers import Behaviour
from test_hostile_servers import ADDRESSES, KEY, KEYS, MODELS, SERVERS, SYSTEMS

from genaipa.errors import NoReplyError, NotReadyError
from genaipa.systems.base import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commandline import Cli
    from hostile import Mode

TIME = 0.3
"""Time limit of a call in seconds."""
HANGS = 30.0
"""Seconds until a call counts as hanging."""
OVER = 12
"""Megabytes of a body that is just too large."""
PEAK = 300
"""Megabytes of memory that a process may take at most."""


@contextlib.contextmanager
def led_to(monkeypatch: pytest.MonkeyPatch, vendor: str, **options: Any) -> Iterator[Any]:
    """Make the vendor's system, led to a server that behaves like this."""
    with SERVERS[vendor](**options) as server:
        monkeypatch.setenv(ADDRESSES[vendor], server.url)
        monkeypatch.setenv(KEYS[vendor], KEY)
        name = MODELS[vendor]
        yield SYSTEMS[vendor](name=f"{vendor}/{name}", model=name, accepts=ALL_SETTINGS)


def hasten_after_the_first_lookup(system: Any) -> None:
    """Give a system's lookups little time, but the first, of its list of models."""
    limits = itertools.chain([type(system).look_up_seconds], itertools.repeat(TIME))
    adapter = type(system)
    system.__class__ = type(adapter.__name__, (adapter,), {"look_up_seconds": property(lambda _: next(limits))})


async def kinds_of_failures(system: Any, modes: Mapping[str, Mode], seconds: float) -> dict[str, str]:
    """Ask once for each mode, all at once; the kind of each failure, in the order in which the server behaves so."""

    async def ask() -> str:
        try:
            return str((await system.reply(QUESTION, Settings(timeout=seconds))).text)
        except NoReplyError as failure:
            return failure.kind

    await system.start()
    async with asyncio.timeout(HANGS):
        kinds = await asyncio.gather(*(ask() for _ in modes))
    await system.close()
    return dict(zip(modes, kinds, strict=True))


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_question_ends_in_its_time(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However an answer drips, in its head or in its body, packed or not."""
    with led_to(monkeypatch, vendor, script=[Behaviour(wire=mode) for mode in ENDLESS.values()]) as system:
        kinds = asyncio.run(kinds_of_failures(system, ENDLESS, TIME))
    assert kinds == dict.fromkeys(ENDLESS, "timeout")


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_lookup_ends_in_its_time(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of models that drips is said before the run; an entry or a count that does is done without.

    What is answered has all the time that a busy machine takes for it.
    """

    async def start(part: str, system: Any) -> int | None:
        async with asyncio.timeout(HANGS):
            if part == "listing":
                system.look_up_seconds = TIME
            elif part == "entry":
                hasten_after_the_first_lookup(system)
            await system.start()
            if part == "counting":
                system.look_up_seconds = TIME
            counted: int | None = await system.count_tokens("hello")
            await system.close()
            return counted

    async def all_modes(part: str, modes: list[Any]) -> list[Any]:
        return await asyncio.gather(*(start(part, system) for system in modes), return_exceptions=True)

    for part in ("listing", "entry", "counting"):
        with contextlib.ExitStack() as stack:
            systems = []
            for mode in ENDLESS.values():
                # A model that isn't listed is looked up by itself.
                options: dict[str, Any] = {part: Behaviour(wire=mode)} | ({"models": ["x"]} if part == "entry" else {})
                systems.append(stack.enter_context(led_to(monkeypatch, vendor, **options)))
                # The variable leads to the next server by the time that this one is started.
                systems[-1].resolve_endpoint = functools.partial(replace, systems[-1].resolve_endpoint())
            for mode, came in zip(ENDLESS, asyncio.run(all_modes(part, systems)), strict=True):
                if part == "listing":
                    assert isinstance(came, NotReadyError), (part, mode, came)
                else:
                    assert came is None or came > 0, (part, mode, came)


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_body_that_is_too_large_is_broken_off(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed once, twice or not at all, of a success and of an error: a failure that may pass."""
    modes = bombs(OVER)
    with led_to(monkeypatch, vendor, script=[Behaviour(wire=mode) for mode in modes.values()]) as system:
        kinds = asyncio.run(kinds_of_failures(system, modes, HANGS))
    expected = dict.fromkeys(modes, "malformed-reply") | {"headers": "connection"}
    # What is read to its end may be cut off by the server's closing, which passes, too.
    for mode, kind in {"wide text": "malformed-reply", "wide text of an error": "bad-request"}.items():
        assert kinds.pop(mode) in (kind, "connection")
        del expected[mode]
    assert kinds == expected


@pytest.mark.parametrize("part", ["listing", "counting"])
@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_list_that_is_too_large_is_unreadable(vendor: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said that the model was not checked, and the run goes on."""

    async def start(system: Any) -> Any:
        readiness = await system.start()
        counted = await system.count_tokens("hello")
        await system.close()
        return readiness, counted

    with led_to(monkeypatch, vendor, **{part: Behaviour(wire=bombs(OVER)["gzip"])}) as system:
        readiness, counted = asyncio.run(start(system))
    if part == "listing":
        assert "the list can't be read" in readiness.notes[0]
    else:
        assert counted is None


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_list_is_json_whatever_it_is_called(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing of its body, or another kind, is checked all the same."""
    listing = {"data": [{"id": MODELS[vendor]}], "models": [{"name": f"models/{MODELS[vendor]}"}], "has_more": False}
    for kind in ("", "text/plain; charset=punycode"):
        behaviour = Behaviour(body=json.dumps(listing).encode(), headers={"content-type": kind})
        with led_to(monkeypatch, vendor, listing=behaviour) as system:
            assert asyncio.run(start(system)).models == (MODELS[vendor],)


async def start(system: Any) -> Any:
    """Start it and let go of it again."""
    readiness = await system.start()
    await system.close()
    return readiness


NEVER_COUNTS = """import asyncio
from pathlib import Path

from genaipa.systems.base import BuiltinSystem, Reply


class Slow(BuiltinSystem):
    words = "own"

    def __init__(self):
        super().__init__(name="slow")

    async def reply_to_last_message(self, messages, settings):
        return Reply("See section 1.")

    async def count_tokens(self, text):
        with Path("counted").open("a") as counted:
            counted.write("once\\n")
        await asyncio.sleep(5.1)
"""


@pytest.mark.full
def test_a_system_that_never_counts_is_asked_once(genaipa: Cli) -> None:
    """A run of many documents doesn't wait for each count."""
    make_workspace(documents=("acme", "bolt", "crux"))
    write("mine.py", NEVER_COUNTS)
    done = genaipa("run", "-s", "mine:Slow", "-p", "acme,bolt,crux", "-e", "quality", "--limit", "1")
    assert done.code == 0, done.err
    assert Path("counted").read_text(encoding="utf-8") == "once\n"


MEASURE = """
import asyncio, json, os, resource, sys
from genaipa.errors import NoReplyError
from genaipa.systems.base import Message, Settings
from genaipa.systems.{vendor} import {adapter}
async def ask():
    system = {adapter}(name="{vendor}/m", model="{model}", accepts=frozenset())
    await system.start()
    for _ in range({number}):
        try:
            await system.reply([Message("user", "Why?")], Settings(timeout=60))
        except NoReplyError:
            pass
    await system.close()
asyncio.run(ask())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.soak
@pytest.mark.parametrize("vendor", SYSTEMS)
def test_the_memory_that_bombs_take(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies of 1.5 GB leave a process of its own below 300 MB."""
    modes = bombs(1500)
    with led_to(monkeypatch, vendor, script=[Behaviour(wire=mode) for mode in modes.values()]) as system:
        code = MEASURE.format(vendor=vendor, adapter=type(system).__name__, model=MODELS[vendor], number=len(modes))
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ, cwd=Path.cwd()
        )
    assert int(done.stdout) < PEAK
