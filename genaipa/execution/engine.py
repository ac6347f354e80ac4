"""Carry out a plan: ask what is missing, keep every reply and every failure, and stop in order.

Conversations run side by side, as do the questions of an independent one; the first call of each long prefix goes
ahead alone, so that the provider's cache is warm when the others follow. A record is on disk before the next question
of its conversation is asked.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import GenaipaError, NoReplyError, SpendingCapError
from genaipa.execution.limits import Attempt, BreakerOpenError, Budget, Gate, Limits, ask, writable
from genaipa.execution.observer import Observer
from genaipa.runs.conversation import NO_WORDS
from genaipa.runs.folder import now
from genaipa.runs.records import ConversationRecord, Record, Trouble, answer_digest
from genaipa.systems.base import Message, Settings, Usage
from genaipa.systems.redaction import known_keys, mask
from genaipa.tasks.procedure import SUMMARY, Conversation, Script, opening, orders, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.execution.prepare import Material, Ready
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Kind, RunSpec, Status
    from genaipa.systems.base import System
    from genaipa.tasks.procedure import Step

_STATUS: dict[str, Status] = {"stop": "answered", "length": "truncated", "refusal": "refused"}
_ASSUMED_REPLY = 1000
"""Tokens that a reply is assumed to come to, at most, when money is set aside and nothing limits it."""
_CHARACTERS_PER_TOKEN = 3
"""Fewer than prose has, so that what is set aside is rather too much."""


@dataclass(frozen=True)
class RunLimits:
    """What a run may use, other than what it asks: nothing here changes a message."""

    max_connections: int = 10
    max_retries: int = 5
    timeout: float = 120.0
    max_cost: float | None = None


class _ConversationEndsError(Exception):
    """A turn failed, so what would follow it in the same conversation can't be asked now."""


@dataclass
class _Asked:
    """One system during a run."""

    ready: Ready
    limits: Limits
    questions: asyncio.Semaphore
    """Independent questions at once: as many as there are connections. Those that would only wait aren't begun."""
    warm: dict[int, asyncio.Event] = field(default_factory=dict)
    capped: bool = False
    """Whether the spending cap leaves nothing for it; systems that cost nothing go on."""

    @property
    def system(self) -> System:
        assert self.ready.system is not None, "a system driven by hand is never asked"
        return self.ready.system


class Runner:
    """One run being carried out. `run` may be called once."""

    def __init__(
        self,
        folder: RunFolder,
        spec: RunSpec,
        material: Material,
        limits: RunLimits,
        observer: Observer | None = None,
    ) -> None:
        self.folder = folder
        self.spec = spec
        self.material = material
        self.limits = limits
        self.observer = observer or Observer()
        self.tally, self._offsets = folder.seen()
        self.budget = Budget(limits.max_cost, spent=self.tally.cost)
        self.capped, self.needed = "", 0.0
        # A server may repeat the key that it was sent, in any of its words: none of it is kept.
        self._keys = known_keys()
        self.stopped: dict[str, str] = {}
        self.served: dict[str, set[str]] = {}
        self.sent: dict[str, dict[str, object]] = {}

    async def run(self, systems: Sequence[Ready]) -> None:
        """Ask everything that is missing. Failures are in the records; only what stops the whole run is raised."""
        self.tally.plan(self.spec, orders(self.spec, self.material.questions))
        self.folder.open_journals()
        self.observer.begun(self.tally)
        try:
            async with asyncio.TaskGroup() as group:
                for ready in systems:
                    group.create_task(self._system(ready))
        except* GenaipaError as errors:
            raise _first(errors) from None
        finally:
            await self.folder.close_journals()

    async def _system(self, ready: Ready) -> None:
        name = ready.resolved.asked
        limits = Limits(
            gate=Gate(self.limits.max_connections),
            retries=self.limits.max_retries,
            waiting=lambda reason: self.observer.waiting(name, reason),
        )
        asked = _Asked(ready, limits, asyncio.Semaphore(self.limits.max_connections))
        # As many conversations at once as there are connections: enough to use them all, and no more in memory.
        places = asyncio.Semaphore(self.limits.max_connections)
        async with asyncio.TaskGroup() as group:
            for conversation in plan(self.spec, self.material.questions, name):
                if all(self.tally.kept(conversation.key(question)) for question in conversation.order):
                    continue
                await places.acquire()
                if limits.breaker.open or asked.capped:
                    break
                task = group.create_task(self._converse(asked, conversation))
                task.add_done_callback(lambda _task: places.release())
        if limits.breaker.open:
            self.stopped[name] = limits.breaker.reason
            self.observer.stopped(name, limits.breaker.reason)

    async def _converse(self, asked: _Asked, conversation: Conversation) -> None:
        """One conversation from its introduction to its last question, or to its first failure."""
        if asked.capped or asked.limits.breaker.open:
            return
        script = asked.ready.scripts[conversation.document]
        # What was begun goes on as it began, even if tokens are counted, and parts cut, in another way by now.
        messages = self.folder.begun(conversation.id)
        if messages is None:
            try:
                summary = await self._summary(asked, conversation, script) if conversation.summarizes else ""
                steps = script.introduction(conversation.initialization, summary)
                messages = await self._introduce(asked, conversation, steps)
            except _ConversationEndsError:
                return
            await self._begin(conversation, conversation.id, messages)
        if self.spec.conversation == "independent":
            async with asyncio.TaskGroup() as group:
                for turn, question in enumerate(conversation.order, 1):
                    if self.tally.kept(conversation.key(question)):
                        continue
                    await asked.questions.acquire()
                    work = self._independent(asked, conversation, script, messages, question, turn)
                    group.create_task(work).add_done_callback(lambda _task: asked.questions.release())
            return
        await self._shared(asked, conversation, script, messages)

    async def _begin(self, conversation: Conversation, name: str, messages: Sequence[Message]) -> None:
        """Keep how a conversation began, before anything of it is asked."""
        await self.folder.begin(
            ConversationRecord(
                id=name,
                system=conversation.system,
                document=conversation.document,
                document_digest=self.material.digests.documents[conversation.document],
                initialization=conversation.initialization,
                wording=conversation.wording,
                repetition=conversation.repetition,
                mode=self.spec.conversation,
                introduction=self.folder.keep_introduction(messages),
                order=conversation.order,
            )
        )

    async def _summary(self, asked: _Asked, conversation: Conversation, script: Script) -> str:
        """The summary that this conversation starts from, written in a conversation of its own."""
        key = conversation.key(SUMMARY)
        if self.tally.kept(key):
            return self._kept_reply(key) or NO_WORDS
        messages = self.folder.begun(key)
        if messages is None:
            steps = script.summary_introduction(conversation.initialization)
            messages = await self._introduce(asked, conversation, steps, "summary ")
            await self._begin(conversation, key, messages)
        request = script.summary_request(conversation.initialization)
        turn = sum(message.role == "user" for message in messages) + 1
        return await self._turn(asked, conversation, [*messages, request], SUMMARY, "summary", turn) or NO_WORDS

    async def _introduce(
        self, asked: _Asked, conversation: Conversation, steps: Sequence[Step], prefix: str = ""
    ) -> list[Message]:
        """The messages of an introduction; with `acknowledge`, each acknowledgement is the system's own."""
        if not self.spec.acknowledge:
            return opening(steps)
        messages: list[Message] = []
        for turn, step in enumerate(steps, 1):
            messages.append(step.message)
            name = f"({prefix}{step.name.strip('()')})"
            key = conversation.key(name)
            if self.tally.kept(key):
                said = self._kept_reply(key)
            else:
                said = await self._turn(asked, conversation, messages, name, "acknowledgement", turn)
            messages.append(Message("assistant", said or NO_WORDS, "acknowledgement"))
        return messages

    async def _shared(self, asked: _Asked, conversation: Conversation, script: Script, messages: list[Message]) -> None:
        """Questions one after another in one growing history."""
        for turn, question in enumerate(conversation.order, 1):
            messages.append(script.question(question, conversation.wording))
            key = conversation.key(question)
            if self.tally.kept(key):
                said = self._kept_reply(key)
            else:
                try:
                    said = await self._turn(asked, conversation, messages, question, "answer", turn)
                except _ConversationEndsError:
                    return
            messages.append(Message("assistant", said or NO_WORDS, "answer"))

    async def _independent(
        self,
        asked: _Asked,
        conversation: Conversation,
        script: Script,
        messages: list[Message],
        question: str,
        turn: int,
    ) -> None:
        """One question that branches from the introduced conversation on its own."""
        branch = [*messages, script.question(question, conversation.wording)]
        try:
            await self._turn(asked, conversation, branch, question, "answer", turn)
        except _ConversationEndsError:
            return

    def _kept_reply(self, key: str) -> str:
        return self.folder.records_at([self._offsets[key]])[0].reply or ""

    async def _turn(
        self,
        asked: _Asked,
        conversation: Conversation,
        messages: Sequence[Message],
        question: str,
        kind: Kind,
        turn: int,
    ) -> str:
        """Ask, keep what came of it, and give the reply; _ConversationEndsError after a failure."""
        if asked.limits.breaker.open or asked.capped:
            raise _ConversationEndsError
        key = conversation.key(question)
        if kind != "acknowledgement":
            messages = [*messages[:-1], dataclasses.replace(messages[-1], key=key)]
        estimate = await self._set_aside(asked, messages)
        record = Record(
            key=key,
            status="failed",
            conversation=conversation.holding(question),
            kind=kind,
            system=conversation.system,
            document=conversation.document,
            initialization=conversation.initialization,
            wording=conversation.wording,
            repetition=conversation.repetition,
            question=question,
            turn=turn,
            asked=messages[-1].content,
            reply=None,
            started=now(),
            seconds=0.0,
        )
        clock, spent = time.perf_counter(), 0.0
        try:
            attempt = await self._warmly(asked, messages, self._settings(conversation))
        except BreakerOpenError:
            raise _ConversationEndsError from None
        except NoReplyError as error:
            asked.limits.breaker.failed(error)
            cost = self._cost(asked, error.usage)
            spent = cost or 0.0
            trouble = Trouble(error.kind, mask(writable(str(error)), self._keys), error.status)
            record = replace(record, attempts=error.attempts, error=trouble, usage=error.usage, cost=cost)
        else:
            # A server that counts no tokens must not slip under the cap, in this process or a later one.
            cost = self._cost(asked, attempt.usage) if attempt.usage else estimate or None
            spent = cost or 0.0
            record = self._answered(record, attempt, cost)
        finally:
            await self.budget.settle(estimate, spent)
        record = replace(record, seconds=round(time.perf_counter() - clock, 3))
        await self.folder.append(record)
        self.tally.add(record)
        self.observer.recorded(record, self.tally)
        if record.reply is None:
            raise _ConversationEndsError
        return record.reply

    def _settings(self, conversation: Conversation) -> Settings:
        digest = self.material.digests.documents[conversation.document]
        return Settings.of(self.spec, timeout=self.limits.timeout, cache_key=f"genaipa-{digest[:16]}")

    def _answered(self, record: Record, attempt: Attempt, cost: float | None) -> Record:
        reply = attempt.reply
        said, text = writable(reply.text), mask(writable(reply.text), self._keys)
        model = mask(writable(reply.model or ""), self._keys) or None
        if model:
            self.served.setdefault(record.system, set()).add(model)
        sent = {
            name: mask(value, self._keys) if isinstance(value, str) else value for name, value in reply.sent.items()
        }
        self.sent[record.system] = sent
        document = self.material.digests.documents[record.document]
        return replace(
            record,
            status=_STATUS[reply.finish],
            reply=text,
            attempts=attempt.attempts,
            finish=mask(writable(reply.finish_detail), self._keys) or reply.finish,
            model=model,
            usage=attempt.usage,
            cost=cost,
            sent=sent,
            digest=answer_digest(document, record.asked, text),
            key_masked=text != said,
        )

    async def _warmly(self, asked: _Asked, messages: Sequence[Message], settings: Settings) -> Attempt:
        """Ask; the first call with a long prefix goes alone, and the others wait for it to end, well or not."""
        prefix = next((m for m in reversed(messages) if m.breakpoint), None)
        warm = asked.warm.get(id(prefix))
        if prefix is None or warm is not None:
            if warm is not None:
                await warm.wait()
            return await ask(asked.system, messages, settings, asked.limits)
        warm = asked.warm[id(prefix)] = asyncio.Event()
        try:
            return await ask(asked.system, messages, settings, asked.limits)
        finally:
            warm.set()

    async def _set_aside(self, asked: _Asked, messages: Sequence[Message]) -> float:
        """Money for a call, at the full price of its input; _ConversationEndsError once the cap leaves none."""
        tariff = asked.ready.tariff
        if self.budget.cap is None or tariff is None:
            return 0.0
        characters = sum(len(message.content) for message in messages)
        tokens = characters // _CHARACTERS_PER_TOKEN
        estimate = tariff.cost(Usage(input=tokens, output=self.spec.max_tokens or _ASSUMED_REPLY))
        if not estimate:
            return 0.0
        try:
            await self.budget.reserve(estimate)
        except SpendingCapError as error:
            # What is under way goes on and is kept: it is paid for.
            self.capped, self.needed, asked.capped = str(error), error.needed, True
            raise _ConversationEndsError from None
        return estimate

    @staticmethod
    def _cost(asked: _Asked, usage: Usage | None) -> float | None:
        if asked.ready.tariff is None or usage is None:
            return None
        return round(asked.ready.tariff.cost(usage), 8)


def _first(errors: BaseExceptionGroup[GenaipaError]) -> GenaipaError:
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, GenaipaError)
    return first
