"""Systems made ready, and the run estimated: what can be known before the first question.

A system's name is resolved, it is started, its way of counting tokens is chosen, and documents are measured by it.
Calls, tokens and cost are estimated by a task's dialogues, with a length in place of each reply. The lengths of replies
are assumed, so all of it is an estimate; the input is counted from the real messages.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import GenaipaError, NotReadyError, OptionError
from genaipa.execution.limits import Transport
from genaipa.runs.procedure import initialization_or_task_name
from genaipa.systems import costs
from genaipa.systems.base import ASSUMED_THOUGHTS, MAX_TOKENS, BuiltinSystem, Message, Readiness, Usage
from genaipa.systems.catalog import ResolvedSystem
from genaipa.systems.provider import redact_keys, split_system_name_and_effort
from genaipa.tasks.base import Target, walk_calls
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.systems.base import Sampling, System
    from genaipa.systems.costs import Tariff
    from genaipa.tasks.base import Call, Task

REPLY_TOKENS = 300
"""Tokens of a reply that nothing limits."""
ACKNOWLEDGEMENT_TOKENS = 20
TOKENS_PER_WORD = 1.4
SMALLEST_CACHED = 1024
"""Shortest prefix, in tokens, that providers cache."""

_SLOW_COUNT = 5.0
"""Seconds without a count after which a system is asked for no other one."""
_LENGTH = re.compile("\ue000(\\d+)\ue001")
"""Stands in a message for a reply of this many tokens."""


@dataclass
class CostEstimate:
    """One row: a system and an initialization (or another task's name), over all that is asked.

    `cost` is without any cache; `cached_cost` if each repeated prefix is read from it; `batch_cost` is without, since
    nothing in a batch is promised to come from one. None if no price is known, or a system takes no batches.
    """

    system: str
    initialization: str
    calls: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    cost: float | None = 0.0
    cached_cost: float | None = 0.0
    batch_cost: float | None = 0.0


class MeasuredCall(NamedTuple):
    """A call, and its tokens in and out.

    `repeated` of those in the call before it has sent as well, and `reasoning` of those out are thoughts, where a level
    of effort is asked for.
    """

    call: Call
    input: int
    output: int
    repeated: int
    reasoning: int


def estimate_costs_of_whole_run(run: PreparedRun, ready: ReadySystem) -> list[CostEstimate]:
    """Return the rows of one system over a whole run; a slice may stand for all of its study."""
    return [
        _scale_cost_estimate(row, run.study_size_factor)
        for row in estimate_task_costs_by_initialization(run.task, ready)
    ]


def _scale_cost_estimate(row: CostEstimate, factor: float) -> CostEstimate:
    def scale_cost(cost: float | None) -> float | None:
        return None if cost is None else cost * factor

    usage = row.usage
    usage = Usage(**{name: round(getattr(usage, name) * factor) for name in Usage.__struct_fields__})
    costs = scale_cost(row.cost), scale_cost(row.cached_cost), scale_cost(row.batch_cost)
    return CostEstimate(row.system, row.initialization, round(row.calls * factor), usage, *costs)


def estimate_task_costs_by_initialization(task: Task, ready: ReadySystem) -> list[CostEstimate]:
    """Return the rows of one system over a task."""
    rows: dict[str, CostEstimate] = {}
    times, batched = task.estimation_and_scale_raising_task_error(ready.target)[1], ready.resolved.batch_tariff
    for call, tokens_in, tokens_out, repeated, reasoning in measure_tokens_of_sampled_calls(task, ready):
        name = initialization_or_task_name(task.name, call.coordinates)
        row = rows.setdefault(name, CostEstimate(ready.resolved.requested_name, name))
        cached = repeated if repeated >= SMALLEST_CACHED else 0
        row.calls += times
        row.usage += Usage(tokens_in * times, cached * times, 0, tokens_out * times, reasoning * times)
        fresh, warm = Usage(tokens_in, 0, 0, tokens_out), Usage(tokens_in, cached, 0, tokens_out)
        row.cost = _add_usage_cost_or_none(row.cost, ready.tariff, fresh, times)
        row.cached_cost = _add_usage_cost_or_none(row.cached_cost, ready.tariff, warm, times)
        row.batch_cost = _add_usage_cost_or_none(row.batch_cost, batched, fresh, times)
    return list(rows.values())


def _add_usage_cost_or_none(
    total_dollars: float | None, tariff: Tariff | None, usage: Usage, call_count: int
) -> float | None:
    return None if total_dollars is None or tariff is None else total_dollars + call_count * tariff.cost(usage)


def measure_tokens_of_sampled_calls(task: Task, ready: ReadySystem) -> Iterator[MeasuredCall]:
    """Return the calls of the task's sample of its questions."""
    counted: dict[tuple[str, str], int] = {}
    target, effort = ready.target, ready.resolved.effort
    prompt = [Message("user", task.spec.system_prompt)] if task.spec.system_prompt else []

    def count_message_tokens(messages: Sequence[Message], document: str) -> int:
        total = 0
        for message in messages:
            count_key = (document, message.content)
            if count_key not in counted:
                bare = _LENGTH.sub("", message.content)
                replies = sum(map(int, _LENGTH.findall(message.content)))
                counted[count_key] = replies + (target.count_tokens(bare, document) if bare else 0)
            total += counted[count_key]
        return total

    for dialogue in task.estimation_and_scale_raising_task_error(target)[0]:
        before: Sequence[Message] = ()
        for call in walk_calls(
            dialogue,
            lambda call: call.placeholder_reply or f"\ue000{_assume_reply_token_count(task, call, target)}\ue001",
        ):
            document = call.coordinates.get("document", "")
            shared, sent = 0, ready.resolved.messages_sent_to_model(call.messages)
            for earlier_message, sent_message in zip(before, sent, strict=False):
                if earlier_message is not sent_message:
                    break
                shared += 1
            repeated = count_message_tokens(sent[:shared], document)
            fresh_tokens = count_message_tokens(sent[shared:], document)
            schema = call.settings.get("json_schema")
            # Providers put both before the messages.
            if head := [*prompt, *([Message("user", json.dumps(schema))] if schema else [])]:
                form = count_message_tokens(head, document)
                repeated, fresh_tokens = (repeated + form, fresh_tokens) if repeated else (0, fresh_tokens + form)
            reply = _assume_reply_token_count(task, call, target)
            thoughts = ASSUMED_THOUGHTS.get(effort, 0)
            if task.spec.max_tokens:
                thoughts = min(thoughts, max(0, task.spec.max_tokens - reply))
            yield MeasuredCall(call, repeated + fresh_tokens, reply + thoughts, repeated, thoughts)
            before = sent


def _assume_reply_token_count(task: Task, call: Call, target: Target) -> int:
    if call.kind == "acknowledgement":
        return ACKNOWLEDGEMENT_TOKENS
    limit = call.settings.get("max_tokens", task.spec.max_tokens)
    if call.words:
        return min(round(call.words * TOKENS_PER_WORD), limit or call.words * 2)
    if call.placeholder_reply:
        return min(limit or MAX_TOKENS, target.count_tokens(call.placeholder_reply))
    return min(limit or REPLY_TOKENS, REPLY_TOKENS)


PART_TOKENS = 2000
"""Default size of a part: about what the paper's segments of the same policies came to."""


@dataclass
class ReadySystem:
    """A system that can be asked, with its target and limits for each document."""

    resolved: ResolvedSystem
    system: System | None
    """None for a web chat driven by hand, and where nothing will be asked (`--dry-run`, `--estimate`)."""
    tariff: Tariff | None
    context: int | None
    target: Target
    notes: list[str]
    transport: type[Transport] = Transport

    @property
    def are_tokens_guessed(self) -> bool:
        """Whether tokens are estimated for a system that will count them when it is asked."""
        record = self.resolved.provider_record
        builtin = isinstance(self.system, BuiltinSystem) or bool(record and record.builtin)
        wanted = self.system is not None and not builtin
        return wanted and any(counter.guess for counter in self.target.counters.values())


def estimated_tokens_note(system_names: Sequence[str]) -> str:
    """Return a note that these systems' tokens are estimated."""
    return (
        f"{', '.join(system_names)}: no tokenizer; tokens are estimated at {costs.CHARACTERS_PER_TOKEN:g} "
        "characters each."
    )


class StartedSystems:
    """Systems that were started, until they are closed together; `flags` are further ones of servers started here."""

    def __init__(self, flags: tuple[str, ...] = ()) -> None:
        self._flags = flags
        self._known: dict[str, tuple[System, Readiness]] = {}

    async def start_system_once(self, resolved: ResolvedSystem) -> tuple[System, Readiness]:
        """Return a system, started unless it was before; levels of one model share a server that is started here.

        A UsageError where the model does not take its level of effort.
        """
        name = resolved.requested_name
        if resolved.provider_record is not None and resolved.provider_record.takes_flags:
            name = split_system_name_and_effort(name)[0]
        if name not in self._known:
            system = resolved.make_system(self._flags)
            self._known[name] = system, await start_system(system, resolved)
        resolved.refuse_unsupported_effort(self._known[name][1].efforts)
        return self._known[name]

    async def close_systems(self) -> None:
        """Let go of them."""
        await asyncio.gather(*(system.close() for system, _ in self._known.values()), return_exceptions=True)
        self._known.clear()


async def make_system_ready(
    resolved: ResolvedSystem,
    task: Task,
    *,
    offline: bool,
    say: Callable[[str], None],
    started_systems: StartedSystems | None = None,
) -> ReadySystem:
    """One system with its tokens counted; to be asked, it is one of the `started_systems`."""
    if resolved.name != resolved.requested_name:
        say(f"{resolved.requested_name} is {resolved.name}")
    notes = [*_catalog_notes(resolved), *_list_notes_on_options_not_sent(resolved, task.spec)]
    for note in notes:
        say(note)
    system, readiness = None, Readiness()
    if started_systems is not None and not resolved.is_manual:
        system, readiness = await started_systems.start_system_once(resolved)
        if task.spec.citations and readiness.cites is False:
            raise OptionError(
                "citations",
                f": {resolved.requested_name} has none, according to its vendor's list of models; leave it out.",
            )
    else:
        resolved.refuse_unsupported_effort()
    server_notes = _check_retirement_and_list_server_notes(resolved, readiness)
    for note in server_notes:
        say(note)
    context = resolved.entry.context or readiness.context or resolved.context_tokens
    target = await _make_target_with_token_counters(resolved, system, task, offline=offline)
    ready = ReadySystem(resolved, system, resolved.tariff, context, target, [*notes, *server_notes])
    if ready.are_tokens_guessed:
        ready.notes.append(estimated_tokens_note([resolved.requested_name]))
    return ready


async def start_system(system: System, resolved: ResolvedSystem) -> Readiness:
    """Start a system; a refusal of a model that is known to be retired says so, and names its successor."""
    try:
        readiness: object = await system.start()
    except NotReadyError as error:
        if error.kind != "not-found" or not resolved.entry.is_retired:
            raise
        raise NotReadyError(f"{error} It {resolved.entry.retirement_notice_or_empty}.") from None
    except GenaipaError:
        raise
    except Exception as error:
        # A user's own assistant may raise anything.
        error_text = redact_keys(f"{type(error).__name__}: {error}")
        raise NotReadyError(f"{resolved.requested_name} can't be started ({error_text}).", kind="exception") from error
    if not isinstance(readiness, Readiness):
        raise NotReadyError(f"{resolved.requested_name}: `start` returned no Readiness.", kind="exception")
    return readiness


def _catalog_notes(resolved: ResolvedSystem) -> list[str]:
    entry, notes = resolved.entry, []
    if entry.retired:
        notes.append(f"{resolved.requested_name} {entry.retirement_notice_or_empty}.")
    if entry.note:
        notes.append(f"{resolved.requested_name}: {entry.note}")
    return notes


def _list_notes_on_options_not_sent(resolved: ResolvedSystem, sampling: Sampling) -> list[str]:
    """Return a sentence on the options that were asked for and that the model does not take; none without any."""
    notes = []
    if refused := resolved.list_refused_options(sampling):
        notes.append(f"{resolved.requested_name} accepts no {join_names(refused, 'or')}, so none is sent.")
    if sampling.service_tier not in (None, "auto", "default", "standard", "standard_only") and resolved.tariff:
        notes.append(
            f"{resolved.requested_name}: costs are computed at standard prices, not those of the service tier."
        )
    return notes


def _check_retirement_and_list_server_notes(resolved: ResolvedSystem, readiness: Readiness) -> list[str]:
    """Return the server's notes on a system; a NotReadyError if it no longer lists one that was to retire."""
    notes, listed = list(readiness.notes), readiness.models
    if resolved.entry.is_retired and listed is not None:
        if resolved.model not in listed:
            raise NotReadyError(
                f"{resolved.requested_name} {resolved.entry.retirement_notice_or_empty}. The server no longer lists it."
            )
        notes.append(f"{resolved.requested_name}: the server still lists it, so the run continues.")
    if readiness.shutdown and readiness.shutdown != resolved.entry.retired:
        notes.append(f"{resolved.requested_name}: the provider will shut this model down on {readiness.shutdown}.")
    return notes


async def _make_target_with_token_counters(
    resolved: ResolvedSystem, system: System | None, task: Task, *, offline: bool
) -> Target:
    """Return the system as its task has to know it; what it counts of the task's texts, it counts now."""
    texts = task.long_request_texts_by_name or {"": ""}
    counters, loop = dict[str, costs.TokenCounter](), asyncio.get_running_loop()
    for name, text in texts.items():
        begun = loop.time()
        counters[name] = await _choose_token_counter_for_text(resolved, system, text, offline=offline)
        if loop.time() - begun > _SLOW_COUNT and counters[name].guess:
            system = None  # a server that never counts would have the run wait for each of its documents
    return Target(resolved.requested_name, counters, task.part_tokens or resolved.entry.part_tokens or PART_TOKENS)


async def _choose_token_counter_for_text(
    resolved: ResolvedSystem, system: System | None, text: str, *, offline: bool
) -> costs.TokenCounter:
    try:
        counted = await system.count_tokens(text) if system and text else None
    except Exception:  # noqa: BLE001 - a user's own assistant may raise anything; a count is not worth a run
        counted = None
    if counted is not None:
        return costs.make_counter_at_measured_rate(counted, len(text), f"{resolved.provider}'s own count")
    record = resolved.provider_record
    counter = record.counter(resolved.model, offline=offline) if record and record.counter else None
    return counter or costs.make_estimating_token_counter()


class OversizedDocument(NamedTuple):
    """A document that exceeds a system's context: the tokens that it needs with its questions and replies, and how."""

    document: str
    need: int
    context: int
    parts: int
    counted: str
    alone: bool
    """Whether its questions fit in independent conversations."""


def _tokens_reserved_for_reply(task: Task, measured: MeasuredCall) -> int:
    """Return the tokens that a reply and its thoughts need in the context."""
    return task.spec.max_tokens or REPLY_TOKENS + measured.reasoning


def find_oversized_documents(
    ready: ReadySystem, task: Task, *, guess_margin_factor: float = 1.0
) -> list[OversizedDocument]:
    """Return the documents that need more than the context, by `guess_margin_factor` where tokens are guessed."""
    if ready.context is None:
        return []
    longest: dict[str, MeasuredCall] = {}
    shortest: dict[str, int] = {}
    for measured in measure_tokens_of_sampled_calls(task, ready):
        call, need = measured.call, measured.input + _tokens_reserved_for_reply(task, measured)
        if call.kind == "acknowledgement" or not any(message.purpose == "part" for message in call.messages):
            continue
        name = call.coordinates.get("document", call.label)
        shortest[name] = min(need, shortest.get(name, need))
        if name not in longest or longest[name].input < measured.input:
            longest[name] = measured
    exceeding = []
    for name, measured in longest.items():
        need, counter = measured.input + _tokens_reserved_for_reply(task, measured), ready.target.counter_for_text(name)
        if need > ready.context * (guess_margin_factor if counter.guess else 1.0):
            parts = sum(message.purpose == "part" for message in measured.call.messages)
            alone = measured.call.mode == "shared" and shortest[name] <= ready.context
            exceeding.append(OversizedDocument(name, need, ready.context, parts, counter.label, alone))
    return exceeding
