"""Make a system ready: resolve its name, start it, choose how its tokens are counted, refuse what does not fit."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError, NotReadyError, UsageError
from genaipa.execution.estimate import REPLY_TOKENS, Measured, measure
from genaipa.execution.transport import Transport
from genaipa.systems import costs
from genaipa.systems.base import BuiltinSystem, Readiness
from genaipa.systems.catalog import Resolved, resolve
from genaipa.systems.provider import redact
from genaipa.tasks.base import Target
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.systems.base import System
    from genaipa.systems.costs import Tariff
    from genaipa.tasks.base import Task

PART_TOKENS = 2000
"""Default size of a part: about what the paper's segments of the same policies came to."""


@dataclass
class Ready:
    """A system that can be asked, with its target and limits for each document."""

    resolved: Resolved
    system: System | None
    """None for a web chat driven by hand, and where nothing will be asked (`--dry-run`, `--estimate`)."""
    readiness: Readiness
    tariff: Tariff | None
    context: int | None
    target: Target
    notes: list[str] = field(default_factory=list)
    transport: type[Transport] = Transport

    @property
    def guesses(self) -> bool:
        """Whether tokens are estimated for a system that will count them when it is asked."""
        record = self.resolved.record
        builtin = isinstance(self.system, BuiltinSystem) or bool(record and record.builtin)
        wanted = self.system is not None and not builtin
        return wanted and any(counter.guess for counter in self.target.counters.values())


def uncounted(systems: Sequence[str]) -> str:
    """A note that these systems' tokens are estimated."""
    whose = "its" if len(systems) == 1 else "their"
    return f"{', '.join(systems)}: {whose} tokens can't be counted here ({costs.estimated().label})."


class Started:
    """Systems that were started and serve run after run, until they are closed together.

    Of a model whose servers are started here, `replicas` are their number.
    """

    def __init__(self, replicas: int | None = None) -> None:
        self._replicas = replicas
        self._known: dict[str, tuple[System, Readiness]] = {}

    async def system(self, resolved: Resolved) -> tuple[System, Readiness]:
        """A system, started unless it was before."""
        if resolved.asked not in self._known:
            system = resolved.make(self._replicas)
            self._known[resolved.asked] = system, await start(system, resolved)
        return self._known[resolved.asked]

    def lost(self) -> str:
        """The name of a system whose own server ended; empty if none did."""
        return next((name for name, (system, _) in self._known.items() if getattr(system, "server_ended", False)), "")

    async def close(self) -> None:
        """Let go of them."""
        await asyncio.gather(*(system.close() for system, _ in self._known.values()), return_exceptions=True)
        self._known.clear()


async def make_ready(
    name: str,
    task: Task,
    *,
    offline: bool,
    say: Callable[[str], None],
    started: Started | None = None,
) -> Ready:
    """One system, resolved, with its tokens counted and its limits checked; to be asked, it is one of the `started`."""
    resolved = resolve(name, task.workspace)
    if resolved.name != resolved.asked:
        say(f"{resolved.asked} is {resolved.name}")
    for note in _known_notes(resolved):
        say(note)
    system, readiness = None, Readiness()
    if started is not None and not resolved.manual:
        system, readiness = await started.system(resolved)
    ready = Ready(
        resolved=resolved,
        system=system,
        readiness=readiness,
        tariff=resolved.tariff,
        context=resolved.entry.context or readiness.context or resolved.context,
        target=Target(name),
    )
    told = _told_notes(ready)
    for note in told:
        say(note)
    ready.target = await _target(ready, task, offline=offline)
    if ready.guesses:
        told.append(uncounted([resolved.asked]))
    ready.notes = [*_known_notes(resolved), *told]
    check_fit(ready, task)
    return ready


async def start(system: System, resolved: Resolved) -> Readiness:
    """Start a system; a refusal of a model that is known to be retired says so, and names its successor."""
    try:
        readiness: object = await system.start()
    except NotReadyError as error:
        if error.kind != "not-found" or not resolved.entry.ended:
            raise
        raise NotReadyError(f"{error} It {resolved.entry.retirement}.") from None
    except GenaipaError:
        raise
    except Exception as error:
        # A user's own assistant may raise anything.
        said = redact(f"{type(error).__name__}: {error}")
        raise NotReadyError(f"{resolved.asked} can't be started ({said}).", kind="exception") from error
    if not isinstance(readiness, Readiness):
        raise NotReadyError(f"{resolved.asked}: its start returned no Readiness.", kind="exception")
    return readiness


def _known_notes(resolved: Resolved) -> list[str]:
    entry, notes = resolved.entry, []
    if entry.retired:
        notes.append(f"{resolved.asked} {entry.retirement}.")
    if entry.note:
        notes.append(f"{resolved.asked}: {entry.note}")
    return notes


def _told_notes(ready: Ready) -> list[str]:
    """The server's notes on a system; a NotReadyError if it no longer lists one that was to retire."""
    resolved, listed = ready.resolved, ready.readiness.models
    notes = list(ready.readiness.notes)
    if resolved.entry.ended and listed is not None:
        if resolved.model not in listed:
            raise NotReadyError(f"{resolved.asked} {resolved.entry.retirement}. The server no longer lists it.")
        notes.append(f"{resolved.asked}: the server still lists it, so the run goes on.")
    if ready.readiness.shutdown and ready.readiness.shutdown != resolved.entry.retired:
        notes.append(f"{resolved.asked}: the provider ends this model on {ready.readiness.shutdown}.")
    return notes


async def _target(ready: Ready, task: Task, *, offline: bool) -> Target:
    """The system as its task has to know it; what it counts of the task's texts, it counts now."""
    counters = {name: await _counter(ready, text, offline=offline) for name, text in task.texts.items()}
    if not counters:
        counters = {"": await _counter(ready, "", offline=offline)}
    part_tokens = task.part_tokens or ready.resolved.entry.part_tokens or PART_TOKENS
    return Target(ready.resolved.asked, counters, part_tokens)


async def _counter(ready: Ready, text: str, *, offline: bool) -> costs.TokenCounter:
    try:
        counted = await ready.system.count_tokens(text) if ready.system and text else None
    except Exception:  # noqa: BLE001 - a user's own assistant may raise anything; a count is not worth a run
        counted = None
    if counted is not None:
        return costs.measured(counted, len(text), f"{ready.resolved.provider}'s own count")
    record = ready.resolved.record
    counter = record.counter(ready.resolved.model, offline=offline) if record and record.counter else None
    return counter or costs.estimated()


def check_fit(ready: Ready, task: Task) -> None:
    """A UsageError, naming the numbers and the ways out, if a document with its questions exceeds the context."""
    if ready.context is None:
        return
    longest: dict[str, Measured] = {}
    least: dict[str, int] = {}
    for measured in measure(task, ready):
        call, need = measured.call, measured.input + (task.spec.max_tokens or REPLY_TOKENS)
        if call.kind == "acknowledgement" or not any(message.purpose == "part" for message in call.messages):
            continue
        name = call.coordinates.get("document", call.label)
        least[name] = min(need, least.get(name, need))
        if name not in longest or longest[name].input < measured.input:
            longest[name] = measured
    for name, measured in longest.items():
        need = measured.input + (task.spec.max_tokens or REPLY_TOKENS)
        if need > ready.context:
            parts = sum(message.purpose == "part" for message in measured.call.messages)
            ways = ["choose a system with a larger context"]
            if measured.call.mode == "shared" and least[name] <= ready.context:
                ways.insert(0, "ask each question in an independent conversation")
            raise UsageError(
                f"{name} does not fit {ready.resolved.asked}: with its questions and replies it needs about {need:,} "
                f"tokens ({number(parts, 'part')}; {ready.target.counter(name).label}), and the context "
                f"holds {ready.context:,}. {' or '.join(ways).capitalize()}, or leave the document out: "
                "the initialization company-name."
            )
