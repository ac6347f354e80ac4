"""Carry out a task: ask the missing questions, keep every reply and every failure, and stop in order.

Dialogues run side by side, as do the branches of one; the first call of each long prefix goes ahead alone, so that the
provider's cache is warm when the others follow. A record is on disk before the next call of its dialogue is asked.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from genaipa.errors import GenaipaError, NoReplyError, PermanentError, SpendingCapError
from genaipa.execution import calls
from genaipa.execution.limits import Attempt, BreakerOpenError, Budget, LeftOutError, max_call_usage, replace_surrogates
from genaipa.execution.truncation import PromptCounts, estimate_least_tokens
from genaipa.runs.records import FailureInfo, answer_digest
from genaipa.runs.writer import RunWriter
from genaipa.systems.base import UNSUPPORTED_SCHEMA, Message, Settings, token_limit_with_thoughts
from genaipa.systems.citations import place_citations_and_count_unplaced
from genaipa.systems.provider import list_api_keys_in_environment, mask_api_keys
from genaipa.tasks.json_reply import extract_json_or_reply_and_flaw
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from genaipa.execution.limits import CircuitBreaker, RunLimits, Transport
    from genaipa.execution.observer import Observer
    from genaipa.execution.ready import ReadySystem
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, Status
    from genaipa.systems.base import Passage, Reply, Usage
    from genaipa.tasks.base import Call, Dialogue, Task


_STATUS: dict[str, Status] = {"stop": "answered", "length": "truncated", "refusal": "refused"}
_FURTHER_TRIES = 2
"""Times that a reply that the task can't use is asked for again, at most."""
_AGAIN = "Reply with nothing but the JSON object that was asked for."
_UNUSABLE = 10
"""Calls in a row without a reply that the task can use, after which a system is asked no more."""
_SHORTEST = 0.001
"""Seconds that a call takes at least."""


class _ConversationEndsError(Exception):
    """A turn failed, so the next ones in the same conversation can't be asked now."""


@dataclass
class _AskedSystem:
    """One system during a run."""

    ready: ReadySystem
    transport: Transport
    questions: asyncio.Semaphore
    """Independent questions at once: as many as the transport takes. The rest is not begun."""
    in_words: bool = False
    """Whether it can't promise a reply by a JSON schema, so that JSON is asked for in words."""
    counts: PromptCounts = field(default_factory=PromptCounts)
    cut: bool = False
    """Whether it was said that its server cuts prompts."""
    remarks: set[str] = field(default_factory=set)
    """Remarks on its replies that were said."""
    unusable: int = 0
    """Calls since the last reply that the task could use."""
    capped: bool = False
    """Whether the spending cap leaves nothing for it; systems that cost nothing go on."""
    citations: int = 0
    """Passages that its replies cite by its vendor's feature."""
    unplaced_citations: int = 0
    """Those of them that the document lacks."""
    failed: set[str] = field(default_factory=set)
    """Keys of calls that came to nothing in this process, and are not sent again with those still to come."""

    @property
    def breaker(self) -> CircuitBreaker:
        """The breaker that stops it where every call fails the same way."""
        return self.transport.limits.breaker


class Engine:
    """One run being carried out. `ask_systems` may be called once."""

    def __init__(
        self,
        folder: RunFolder,
        task: Task,
        limits: RunLimits,
        observer: Observer,
        keep: Callable[[Record], None],
    ) -> None:
        self.folder = folder
        self.keep = keep
        self.task = task
        self.limits = limits
        self.observer = observer
        self.tally, self._offsets = folder.tally_records_and_map_offsets()
        self.budget = Budget(limits.max_cost, spent=self.tally.cost)
        self.capped, self.needed = "", 0.0
        # A server may repeat the key that it was sent, in any of its words: none of it is kept.
        self._keys = list_api_keys_in_environment()
        self.stopped: dict[str, str] = {}
        self.served: dict[str, set[str]] = {}
        self.sent: dict[str, dict[str, object]] = {}
        # Not the loop's own threads: those write records, of which none may wait for a training.
        self._worker = ThreadPoolExecutor(1)
        self._beginning: dict[str, asyncio.Future[None]] = {}
        self._writer: RunWriter

    async def ask_systems(self, systems: Sequence[ReadySystem]) -> None:
        """Ask everything that is missing. Failures are in the records; only an error that stops the run is raised."""
        self._writer = RunWriter(self.folder)
        self.observer.on_run_started(self.tally)
        try:
            async with asyncio.TaskGroup() as group:
                for ready in systems:
                    group.create_task(self._ask_system(ready))
        except* GenaipaError as errors:
            raise _extract_first_error(errors) from None
        finally:
            self._worker.shutdown(wait=False, cancel_futures=True)
            await self._writer.close()

    async def _ask_system(self, ready: ReadySystem) -> None:
        name = ready.resolved.requested_name
        assert ready.system is not None, "a system driven by hand is never called"
        limits, waiting = self.limits, partial(self.observer.on_wait, name)
        transport = ready.transport(ready.system, limits.max_connections, limits.max_retries, waiting)
        asked_system = _AskedSystem(ready, transport, asyncio.Semaphore(transport.at_once))
        await self._ask_unrecorded_calls(asked_system)
        while not asked_system.breaker.is_open and await transport.wait_and_tell_whether_to_resend():
            await self._ask_unrecorded_calls(asked_system)
        await self.budget.count_pending_reservations_as_spent(name)
        if asked_system.unplaced_citations:
            of_all = format_count(asked_system.citations, "citation")
            self.observer.on_note(
                f"{name}: {asked_system.unplaced_citations:,} of {of_all} cite words that are not in the document; "
                "they are kept without a place."
            )
        if asked_system.breaker.is_open:
            self.stopped[name] = asked_system.breaker.reason
            self.observer.on_system_stopped(name, asked_system.breaker.reason)

    async def _ask_unrecorded_calls(self, asked: _AskedSystem) -> None:
        """Ask what has no record yet, and keep what came of it by now."""
        # As many dialogues at once as the transport takes calls: enough to use it, and no more in memory.
        places = asyncio.Semaphore(asked.transport.at_once)
        target = dataclasses.replace(
            asked.ready.target, is_done=self.tally.has_reply, opening_messages=self._writer.opening_messages
        )
        async with asyncio.TaskGroup() as group:
            for dialogue in self.task.dialogues_raising_task_error(target):
                step = next(dialogue, None)
                if step is None:
                    continue
                await places.acquire()
                if asked.breaker.is_open or asked.capped:
                    break
                task = group.create_task(self._run_dialogue(asked, dialogue, step))
                task.add_done_callback(lambda _task: places.release())

    async def _run_dialogue(self, asked: _AskedSystem, dialogue: Dialogue, step: Call | tuple[Dialogue, ...]) -> None:
        """Run a dialogue from its first step to its end, or to its first failure."""
        try:
            while True:
                reply_text = "" if isinstance(step, tuple) else await self._read_or_ask_and_record_reply(asked, step)
                if isinstance(step, tuple):
                    await self._run_branches_concurrently(asked, step)
                step = dialogue.send(reply_text)
        except StopIteration:
            return
        except _ConversationEndsError:
            dialogue.close()

    async def _run_branches_concurrently(self, asked: _AskedSystem, branches: Sequence[Dialogue]) -> None:
        async with asyncio.TaskGroup() as group:
            for branch in branches:
                step = next(branch, None)
                if step is None:
                    continue
                await asked.questions.acquire()
                task = group.create_task(self._run_dialogue(asked, branch, step))
                task.add_done_callback(lambda _task: asked.questions.release())

    async def _read_or_ask_and_record_reply(self, asked: _AskedSystem, call: Call) -> str:
        """Return the reply of a call from the records, or ask for it and keep it; or a _ConversationEndsError."""
        name = asked.ready.resolved.requested_name
        key = calls.call_record_key(self.task, name, call)
        if self.tally.has_reply(key):
            return self.folder.read_records_at([self._offsets[key]])[0].reply or ""
        if asked.breaker.is_open or asked.capped or key in asked.failed:
            raise _ConversationEndsError
        messages = await self._record_opening_and_prepare_messages(name, call, key)
        settings = self._make_call_settings(call, asked.ready.resolved.effort)
        aside = [await self._reserve_call_cost(asked, messages, settings, key)]
        record = calls.make_record_without_reply(self.task, name, call)
        clock, spent = time.perf_counter(), 0.0
        try:
            attempt = await self._send_call_or_ask_for_json_in_words(asked, call, messages, settings)
            attempt = await self._ask_until_usable_or_raise(asked, call, messages, settings, attempt, aside)
        except LeftOutError:
            # It will be paid for; and it is sent again for its reply.
            if sum(aside):
                self.budget.left[key] = sum(aside)
                aside.clear()
            raise _ConversationEndsError from None
        except BreakerOpenError:
            raise _ConversationEndsError from None
        except NoReplyError as error:
            asked.breaker.count_failure_and_open_if_hopeless(error)
            cost = self._calculate_usage_cost(asked, error.usage)
            spent = cost or 0.0
            failure = FailureInfo(error.kind, mask_api_keys(replace_surrogates(str(error)), self._keys), error.status)
            record = replace(record, attempts=error.attempts, error=failure, usage=error.usage, cost=cost)
            record = replace(record, thoughts=mask_api_keys(replace_surrogates(error.thoughts), self._keys))
        else:
            # A server that counts no tokens must not slip under the cap, in this process or a later one.
            cost = self._calculate_usage_cost(asked, attempt.usage) if attempt.usage else sum(aside) or None
            spent = cost or 0.0
            cut = self._detect_cut_prompt_and_report_once(asked, record, messages, attempt.reply, settings)
            record = replace(self._make_answered_record(record, attempt, cost, call), prompt_cut=cut)
            record = self._add_cited_passages(asked, record, attempt.reply, messages)
            self._report_remark_once(asked, attempt.reply.remark)
        finally:
            await self.budget.settle_reservation(sum(aside), spent)
        # Reports take 0 for a time that nobody measured, as of imported answers: a script's may come within no time.
        record = replace(record, seconds=record.seconds or max(round(time.perf_counter() - clock, 3), _SHORTEST))
        offset = await self._writer.append_and_get_offset(record)
        if asked.transport.again:
            self._offsets[key] = offset
        self.tally.add_record(record)
        self.keep(record)
        self.observer.on_record_saved(record, self.tally)
        if record.reply is None:
            asked.failed.add(key)
            raise _ConversationEndsError
        return record.reply

    async def _record_opening_and_prepare_messages(self, system: str, call: Call, record_key: str) -> Sequence[Message]:
        """Return the messages of a call, whose conversation's beginning is kept."""
        messages = call.messages
        if call.kind != "acknowledgement":
            await self._record_conversation_opening_once(system, call)
            messages = [*messages[:-1], dataclasses.replace(messages[-1], key=record_key)]
        if call.compute is not None:
            carries = await self._compute_message_text_in_thread(system, call)
            messages = [*messages[:-1], dataclasses.replace(messages[-1], carries=carries)]
        return messages

    async def _compute_message_text_in_thread(self, system: str, call: Call) -> str:
        """Work a message's text out in a thread, one at a time: other systems are asked meanwhile."""
        loop = asyncio.get_running_loop()

        def report_progress(how_far: str) -> None:
            loop.call_soon_threadsafe(self.observer.on_wait, system, how_far)

        return await loop.run_in_executor(
            self._worker, self.task.compute_text_raising_task_error, call, report_progress
        )

    async def _record_conversation_opening_once(self, system: str, call: Call) -> None:
        """Keep how a conversation began, before anything of it is asked; calls side by side wait for the first."""
        conversation = calls.call_conversation_id(self.task, system, call)
        if conversation in self._beginning:
            await self._beginning[conversation]
        elif not self._writer.has_begun(conversation):
            beginning = asyncio.ensure_future(calls.record_conversation_opening(self._writer, self.task, system, call))
            self._beginning[conversation] = beginning
            try:
                await beginning
            finally:
                del self._beginning[conversation]

    def _make_call_settings(self, call: Call, effort: str) -> Settings:
        cache_key = f"genaipa-{call.digest[:16]}" if call.digest else None
        spec = self.task.spec
        settings = Settings.from_sampling(
            spec, effort=effort or None, timeout=self.limits.timeout, cache_key=cache_key, stream=self.limits.stream
        )
        call_settings = dict(call.settings)
        if spec.max_tokens is None and (limit := call_settings.get("max_tokens")):
            call_settings["max_tokens"] = token_limit_with_thoughts(limit, effort)  # the task knows nothing of thoughts
        return replace(settings, **call_settings) if call_settings else settings

    def _make_answered_record(self, record: Record, attempt: Attempt, cost: float | None, call: Call) -> Record:
        reply = attempt.reply
        unmasked_text, text = replace_surrogates(reply.text), mask_api_keys(replace_surrogates(reply.text), self._keys)
        model = mask_api_keys(replace_surrogates(reply.model or ""), self._keys) or None
        if model:
            self.served.setdefault(record.system, set()).add(model)
        sent = {
            name: mask_api_keys(value, self._keys) if isinstance(value, str) else value
            for name, value in reply.sent.items()
        }
        served = {name: mask_api_keys(replace_surrogates(value), self._keys) for name, value in reply.served.items()}
        self.sent[record.system] = sent
        reading = self.task.read_reply_raising_task_error(call, text, _STATUS[reply.finish])
        return replace(
            record,
            status=_STATUS[reply.finish],
            reply=text,
            attempts=attempt.attempts,
            finish=mask_api_keys(replace_surrogates(reply.finish_detail), self._keys) or reply.finish,
            model=model,
            usage=attempt.usage,
            cost=cost,
            seconds=reply.seconds or 0.0,
            sent=sent,
            served=served,
            first_token=reply.first_token,
            first_text=reply.first_text,
            digest=answer_digest(call.digest, record.asked, text, call.after),
            key_masked=text != unmasked_text,
            prediction=reading.prediction,
            score=reading.score,
            passages=tuple(self._mask_api_keys_in_passage(passage) for passage in reply.passages),
            thoughts=mask_api_keys(replace_surrogates(reply.thoughts), self._keys),
        )

    def _add_cited_passages(
        self, asked: _AskedSystem, record: Record, reply: Reply, messages: Sequence[Message]
    ) -> Record:
        """Return the record with the passages that the reply cites by its vendor's feature."""
        if not reply.citations:
            return record
        cited = place_citations_and_count_unplaced(reply.citations, messages)
        asked.citations += len(cited.passages)
        asked.unplaced_citations += cited.unplaced
        passages = map(self._mask_api_keys_in_passage, cited.passages)
        return replace(record, passages=(*record.passages, *passages))

    def _mask_api_keys_in_passage(self, passage: Passage) -> Passage:
        """Return the passage as it can be kept: a key in it is masked, as in the reply."""
        text, source = (
            mask_api_keys(replace_surrogates(unmasked_text), self._keys)
            for unmasked_text in (passage.text, passage.source)
        )
        return replace(passage, text=text, source=source)

    def _report_remark_once(self, asked: _AskedSystem, remark: str) -> None:
        """Say once what is odd about replies of a system."""
        if remark and remark not in asked.remarks:
            asked.remarks.add(remark)
            self.observer.on_note(
                f"{asked.ready.target.name}: {mask_api_keys(replace_surrogates(remark), self._keys)}."
            )

    def _detect_cut_prompt_and_report_once(
        self, asked: _AskedSystem, record: Record, messages: Sequence[Message], reply: Reply, settings: Settings
    ) -> bool:
        """Whether the server cut the prompt; said once."""
        target, name = asked.ready.target, record.document
        # Who retrieves sends what it retrieved, not the document.
        if reply.usage is None or reply.passages:
            return False
        counted, counter = reply.usage.input, target.counter_for_text(name)
        # Some servers count a schema as well.
        language = "" if settings.json_schema else self.task.find_text_language(name)
        still = asked.counts.has_count_stopped_growing(record.conversation, messages, counted)
        cut = asked.counts.is_prompt_cut(messages, counted, counter, language) or still
        if cut and not asked.cut:
            asked.cut = True
            sent = round(estimate_least_tokens(messages, counter.rate))
            self.observer.on_note(
                f"{target.name}: the server counts {counted:,} of about {sent:,} tokens sent: it truncates prompts "
                "without an error. Give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH)."
            )
        return cut

    async def _ask_until_usable_or_raise(
        self,
        asked: _AskedSystem,
        call: Call,
        messages: Sequence[Message],
        settings: Settings,
        attempt: Attempt,
        reserved_dollars: list[float],
    ) -> Attempt:
        """Ask on until the task can use the reply: a few times at most, and while the cap allows to reserve money."""
        for tried in range(min(self.limits.max_retries, _FURTHER_TRIES)):
            # A reply that was cut off would go on as long again, and whoever only thinks would think again.
            if (
                attempt.reply.finish == "length"
                or attempt.has_only_thoughts
                or not (flaw := self._explain_unusable_reply_or_empty(call, attempt))
            ):
                break
            before, again = attempt, messages
            if self.task.reads_json and not tried and attempt.reply.finish == "stop" and attempt.reply.text.strip():
                again = append_correction_request(messages, attempt.reply.text, f"{flaw}. {_AGAIN}")
            try:
                reserved_dollars.append(await self._reserve_call_cost(asked, again, settings))
                attempt = (
                    await self._send_call_or_ask_for_json_in_words(asked, call, again, settings)
                ).add_earlier_attempt(before)
            except LeftOutError:
                raise
            except (_ConversationEndsError, BreakerOpenError):
                break  # what came is paid for, and kept as a failure
            except NoReplyError as error:
                error.attempts, error.usage = before.attempts + error.attempts, before.total_usage_with(error.usage)
                raise
        flaw = self._explain_unusable_reply_or_empty(call, attempt)
        asked.unusable = asked.unusable + 1 if flaw else 0
        if not flaw:
            return attempt
        if asked.unusable >= _UNUSABLE:
            asked.breaker.reason = f"{asked.unusable} unusable replies in a row ({flaw})"
        raise attempt.make_unusable_error(flaw)

    def _explain_unusable_reply_or_empty(self, call: Call, attempt: Attempt) -> str:
        """Return why a reply is of no use, in words; empty where the task can use it."""
        if attempt.has_only_thoughts:
            return "it has reasoning but no answer; a reasoning parser meant for another model also causes this"
        return self.task.find_flaw_raising_task_error(call, attempt.reply)

    async def _send_call_or_ask_for_json_in_words(
        self, asked: _AskedSystem, call: Call, messages: Sequence[Message], settings: Settings
    ) -> Attempt:
        """Ask; of a system that can't promise a reply by a schema, ask for it in words."""
        schema = settings.json_schema
        if schema is None:
            return await asked.transport.send(messages, settings)
        if not asked.in_words:
            try:
                return await asked.transport.send(messages, settings)
            except PermanentError as error:
                if error.kind != UNSUPPORTED_SCHEMA:
                    raise
                asked.in_words = True
        plain = replace(settings, json_schema=None)
        flaw = partial(self.task.find_flaw_raising_task_error, call) if self.task.reads_json else None
        return await ask_for_json_in_words(lambda said: asked.transport.send(said, plain), messages, schema, flaw)

    async def _reserve_call_cost(
        self, asked: _AskedSystem, messages: Sequence[Message], settings: Settings, record_key: str = ""
    ) -> float:
        """Money for a call, at the full price of its input; _ConversationEndsError once the cap leaves none."""
        tariff = asked.ready.tariff
        if self.budget.cap is None or tariff is None:
            return 0.0
        if record_key in self.budget.left:
            return self.budget.left.pop(record_key)
        estimate = tariff.cost(max_call_usage(asked.ready.resolved.messages_sent_to_model(messages), settings))
        if not estimate:
            return 0.0
        try:
            await asked.transport.reserve_dollars_or_raise(self.budget, estimate)
        except LeftOutError:
            raise _ConversationEndsError from None
        except SpendingCapError as error:
            # What is under way goes on and is kept: it is paid for.
            self.capped, self.needed, asked.capped = str(error), error.needed, True
            raise _ConversationEndsError from None
        return estimate

    @staticmethod
    def _calculate_usage_cost(asked: _AskedSystem, usage: Usage | None) -> float | None:
        if asked.ready.tariff is None or usage is None:
            return None
        return round(asked.ready.tariff.cost(usage), 8)


def _extract_first_error(errors: BaseExceptionGroup[GenaipaError]) -> GenaipaError:
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, GenaipaError)
    return first


def append_correction_request(messages: Sequence[Message], unusable_reply: str, reason: str) -> list[Message]:
    """Return messages that ask once more, after a reply that is of no use, and say why."""
    # What it carries is the question still, for a system that reads no words about form.
    last = messages[-1]
    again = Message("user", f"That does not fit: {reason}", carries=last.carries, key=last.key)
    return [*messages, Message("assistant", unusable_reply, "answer"), again]


async def ask_for_json_in_words(
    ask: Callable[[Sequence[Message]], Awaitable[Attempt]],
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    find_flaw: Callable[[Reply], str] | None = None,
) -> Attempt:
    """Ask for JSON of this schema in words, and once more if the reply is none; the second reply is kept as it is.

    A `find_flaw` decides whether it is, where the task reads JSON itself; its replies are kept as they are.
    """
    wanted = f"Reply with nothing but a JSON object that fits this JSON Schema:\n{json.dumps(schema)}"
    messages_with_schema = [
        *messages[:-1],
        dataclasses.replace(messages[-1], content=f"{messages[-1].content}\n\n{wanted}"),
    ]

    def read_json_text_and_flaw(reply: Reply) -> tuple[str, str]:
        if find_flaw:
            return reply.text, find_flaw(reply) if reply.finish == "stop" else ""
        return extract_json_or_reply_and_flaw(reply.text, schema)

    first = attempt = await ask(messages_with_schema)
    if first.has_only_thoughts:
        return first
    text, problem = read_json_text_and_flaw(first.reply)
    if problem:
        attempt = (
            await ask(append_correction_request(messages_with_schema, first.reply.text, f"{problem}. {wanted}"))
        ).add_earlier_attempt(first)
        text = read_json_text_and_flaw(attempt.reply)[0]
    sent = {**attempt.reply.sent, "json_schema": "in words"}
    return dataclasses.replace(attempt, reply=dataclasses.replace(attempt.reply, text=text, sent=sent))
