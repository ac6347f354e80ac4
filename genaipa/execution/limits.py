"""The seam under the engine: on which way a call reaches a system, how often, at what pace and for which money.

Here it is one call for each reply (`Transport`); `batches/` has the other way. Adapters ask once and classify what went
wrong; everything about asking again is here, for all systems alike, bounded and visible.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import random
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from genaipa.errors import (
    NOT_RECORDED,
    NoReplyError,
    PermanentError,
    RunError,
    SpendingCapError,
    TransientError,
    clip,
)
from genaipa.systems.base import (
    ASSUMED_THOUGHTS,
    MAX_TOKENS,
    UNDONE,
    Citation,
    Finish,
    Reply,
    Usage,
    select_usable_passages_and_remark,
)
from genaipa.systems.provider import redact_keys
from genaipa.systems.thoughts import join_distinct_thoughts, split_thoughts, strip_blank_lines_and_end_mark
from genaipa.words import replace_unprintable_characters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from genaipa.execution.batches.batched import BatchingOptions
    from genaipa.systems.base import Message, Settings, System

FIRST_WAIT = 0.5
"""Seconds (before jitter) until the second try; doubled each time."""
LONGEST_WAIT = 60.0
"""Seconds at most between two tries when the server names no time."""
LONGEST_RETRY_AFTER = 600.0
"""Seconds at most that a server may ask us to wait; a longer wish ends the question for now."""

_LONGEST_ERROR = 2000
"""Characters kept of the error message of an assistant of one's own."""
_LONGEST_WORD = 200
"""Characters that are kept of a model's name and of the word for why a reply stopped."""

_ROUNDING = 1e-9

THOUGHTS_ALONE = "thoughts-alone"
"""`kind` of the failure of a model that thought, and ended without an answer."""

# Causes that come and go with load or the network, however equal they look. Any other failure that repeats word for
# word would go on repeating.
_PASSING = frozenset({"overload", "timeout", "connection", UNDONE})


_ASSUMED_REPLY = 1000
"""Tokens that a reply is assumed to come to, at most, when money is set aside and nothing limits it."""
_BYTES_PER_TOKEN = 3
"""Fewer than prose has in any language, so that a reservation is rather too high."""


@dataclass(frozen=True)
class RunLimits:
    """Limits on a run's connections, retries, seconds and US dollars, and ways of asking that change no message."""

    max_connections: int = 10
    max_retries: int = 5
    timeout: float = 120.0
    max_cost: float | None = None
    batch: BatchingOptions | bool | None = None
    """Whether hosted systems are asked by batches; None for as the run was begun."""
    server_flags: tuple[str, ...] = ()
    """Further flags of a server that is started here."""
    stream: bool = False
    """Whether replies come in pieces, so that the time until the first is known."""


class BreakerOpenError(Exception):
    """The system was stopped while a call waited for its turn; nothing came of it."""


class Throttle:
    """Bound on the concurrent calls to one system: at most `most`, halved on overload, regrown one by one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = most
        self.busy = 0
        self._open_at = 0.0
        self._successes = 0
        self._epoch = 0
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def hold_slot_and_get_epoch(self) -> AsyncIterator[int]:
        """Hold one of the places; gives the epoch to report an overload with."""
        async with self._changed:
            while self.busy >= self.limit:
                await self._changed.wait()
            self.busy += 1
        try:
            # A pause that the server asked for holds for everyone, also for whoever already has a place.
            await self._wait_out_pause()
            yield self._epoch
        finally:
            self.busy -= 1
            async with self._changed:
                self._changed.notify()

    async def _wait_out_pause(self) -> None:
        loop_time = asyncio.get_running_loop().time
        while loop_time() < self._open_at:  # noqa: ASYNC110 - the pause may have grown meanwhile; there is no event
            await asyncio.sleep(self._open_at - loop_time())

    def halve_limit_once_and_pause(self, epoch: int, retry_after: float | None) -> None:
        """Halve, once for all the calls that were under way together; pause as long as the server asks."""
        if epoch == self._epoch:
            self._epoch += 1
            self.limit = max(1, self.limit // 2)
            self._successes = 0
        if retry_after:
            self._open_at = max(self._open_at, asyncio.get_running_loop().time() + retry_after)

    async def count_success_and_regrow_limit(self) -> None:
        """After as many good calls as there are places, allow one more."""
        self._successes += 1
        if self.limit < self.most and self._successes >= self.limit:
            self._successes = 0
            self.limit += 1
            async with self._changed:
                self._changed.notify()


class Budget:
    """The spending cap in US dollars over a whole run; without a cap it only adds up."""

    def __init__(self, cap: float | None = None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent
        self.reserved = 0.0
        self.left: dict[str, float] = {}
        """Record's key → the part of `reserved` that is set aside for it while its reply is still to come."""
        self._settled = asyncio.Condition()

    async def reserve_dollars_or_raise(self, max_dollars: float, *, wait_for_pending_batches: bool = True) -> None:
        """Set money aside for a call that may cost this much; a SpendingCapError if it can't come free any more.

        Without `wait_for_pending_batches` it does not wait for what is `left` to come free.
        """
        async with self._settled:
            # Calls under way mostly cost less than was set aside for them: wait for the rest before giving up.
            while not self._fits_under_cap(max_dollars) and self._may_release_dollars(
                wait_for_pending_batches=wait_for_pending_batches
            ):
                await self._settled.wait()
            if not self._fits_under_cap(max_dollars):
                raise SpendingCapError(
                    f"the next call may cost ${max_dollars:.4f}; ${self.spent:.4f} of the ${self.cap:.2f} cap is spent",
                    self.spent + max_dollars,
                )
            self.reserved += max_dollars

    def _may_release_dollars(self, *, wait_for_pending_batches: bool) -> bool:
        """Whether a call is under way whose reservation may not be needed."""
        return self.reserved - (0 if wait_for_pending_batches else sum(self.left.values())) > _ROUNDING

    def _fits_under_cap(self, max_dollars: float) -> bool:
        return self.cap is None or self.spent + self.reserved + max_dollars <= self.cap

    async def count_pending_reservations_as_spent(self, system: str) -> None:
        """Take for spent what is set aside for a system's batches that nobody waits for."""
        for key in [key for key in self.left if key.startswith(f"{system}|")]:
            pending_dollars = self.left.pop(key)
            await self.settle_reservation(pending_dollars, pending_dollars)

    async def settle_reservation(self, reserved_dollars: float, cost_dollars: float) -> None:
        """Replace the reservation of a call by its cost."""
        async with self._settled:
            # Rounding must not leave a trace that looks like a call under way.
            self.reserved = (
                max(0.0, self.reserved - reserved_dollars) if self.reserved - reserved_dollars > _ROUNDING else 0.0
            )
            self.spent += cost_dollars
            self._settled.notify_all()


def max_call_usage(messages: Sequence[Message], settings: Settings) -> Usage:
    """Tokens that a call may come to, none of them from a cache."""
    texts = [settings.system_prompt or "", *(message.content for message in messages)]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Usage(input=size // _BYTES_PER_TOKEN, output=max_reply_tokens(settings.max_tokens, settings.effort))


def max_reply_tokens(max_tokens: int | None, effort: str | None) -> int:
    """Return the tokens that a reply, and the thoughts before it, may come to."""
    return max_tokens or _ASSUMED_REPLY + ASSUMED_THOUGHTS.get(effort or "", 0)


@dataclass
class CircuitBreaker:
    """Stops a system whose every call fails the same way, instead of learning it from each question again."""

    tolerance: int = 2
    reason: str = ""
    _last: object = None
    _count: int = 0

    def count_failure_and_open_if_hopeless(self, error: NoReplyError) -> None:
        """Take note of a failure that no retry mended."""
        self._count = self._count + 1 if error.comparison_key == self._last else 1
        self._last = error.comparison_key
        if isinstance(error, TransientError) and _is_wait_too_long(error.retry_after):
            self.reason = f"{error} (it asks to wait {error.retry_after:.0f} s)"
        if not isinstance(error, PermanentError) or error.kind == NOT_RECORDED:
            return
        if error.fatal:
            self.reason = str(error)
        elif self._count >= self.tolerance:
            self.reason = f"{error} (the same error {self._count} times)"

    def forget_failures(self) -> None:
        """Forget earlier failures."""
        self._last = None
        self._count = 0

    @property
    def is_open(self) -> bool:
        """Whether the system is to be asked no more."""
        return bool(self.reason)


@dataclass
class SystemLimits:
    """Limits on one system during a run."""

    gate: Throttle
    retries: int = 5
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    waiting: Callable[[str], None] = lambda _reason: None
    """Called with the reason, in a few words, that a call waits for before it is tried again."""
    patient: bool = True
    """Whether to wait between two tries, and to ask for less at once if a server says so; not of what is collected."""


@dataclass
class Attempt:
    """A reply, how many tries it took, and the tokens of all of them."""

    reply: Reply
    attempts: int
    usage: Usage | None

    def add_earlier_attempt(self, earlier: Attempt) -> Attempt:
        """Return this attempt with the tries and tokens of the one before it."""
        return Attempt(self.reply, earlier.attempts + self.attempts, earlier.total_usage_with(self.usage))

    def total_usage_with(self, further: Usage | None) -> Usage | None:
        """Return the tokens of this attempt and of a further one."""
        return _sum_usages(self.usage, further)

    @property
    def has_only_thoughts(self) -> bool:
        """Whether the model thought, and ended without an answer."""
        return is_empty_reply(self.reply) and self.reply.finish == "stop"

    def make_unusable_error(self, reason: str) -> TransientError:
        """Return the failure that a reply of no use is; its beginning is all that is kept of it."""
        excerpt = clip(replace_surrogates(self.reply.text), _LONGEST_WORD)
        begins = f"; it begins: {excerpt}" if excerpt.strip() else ""
        kind = THOUGHTS_ALONE if self.has_only_thoughts else "unusable"
        error = TransientError(f"the reply is unusable: {reason}{begins}", kind=kind)
        error.attempts, error.usage, error.thoughts = self.attempts, self.usage, self.reply.thoughts
        return error


async def ask_with_retries_or_raise(
    system: System, messages: Sequence[Message], settings: Settings, limits: SystemLimits
) -> Attempt:
    """Ask until there is a reply or no point in asking on.

    Raises the last NoReplyError, with `attempts` set on it, or a BreakerOpenError if the system was stopped before
    its turn came.
    """
    previous: object = None
    wasted: Usage | None = None
    for attempt in range(1, limits.retries + 2):
        try:
            async with limits.gate.hold_slot_and_get_epoch() as epoch:
                if limits.breaker.is_open:
                    raise BreakerOpenError
                try:
                    reply = await _ask_once_and_clean_reply(system, messages, settings)
                except TransientError as error:
                    if error.overload and limits.patient:
                        limits.gate.halve_limit_once_and_pause(
                            epoch, None if _is_wait_too_long(error.retry_after) else error.retry_after
                        )
                    raise
        except TransientError as error:
            wasted = error.usage = _sum_usages(wasted, error.usage)
            error.attempts = attempt
            repeated = error.kind not in _PASSING and not error.overload and error.comparison_key == previous
            previous = error.comparison_key
            if repeated or attempt > limits.retries or _is_wait_too_long(error.retry_after):
                raise
            if not limits.patient:
                continue
            wait = _seconds_before_retry(attempt, error.retry_after)
            limits.waiting(f"{str(error).rstrip('.')}; trying again in {wait:.1f} s ({attempt} of {limits.retries})")
            await asyncio.sleep(wait)
        except NoReplyError as error:
            error.usage = _sum_usages(wasted, error.usage)
            error.attempts = attempt
            raise
        else:
            await limits.gate.count_success_and_regrow_limit()
            limits.breaker.forget_failures()
            return Attempt(reply, attempt, _sum_usages(wasted, reply.usage))
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _ask_once_and_clean_reply(system: System, messages: Sequence[Message], settings: Settings) -> Reply:
    """One try; any failure is a NoReplyError.

    A user's own assistant may raise and return anything; that is a failure of the system, not of the run.
    """
    try:
        async with asyncio.timeout(None if math.isinf(settings.timeout) else settings.timeout + 5):
            reply: object = await system.reply(messages, settings)
    except (NoReplyError, BreakerOpenError, RunError):
        raise
    except TimeoutError:
        raise TransientError(f"no answer within {settings.timeout:g} s", kind="timeout") from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        code_location = f"{Path(frame.filename).name}, line {frame.lineno}"
        message = replace_surrogates(f"{type(error).__name__}: {str(error)[:_LONGEST_ERROR]} ({code_location})")
        raise PermanentError(redact_keys(message), kind="exception") from error
    if not isinstance(reply, Reply):
        raise PermanentError(f"it returned a {type(reply).__name__} instead of a Reply", kind="exception")
    if not isinstance(reply.text, str) or reply.finish not in get_args(Finish):
        raise PermanentError(f"its Reply has no text, or an unknown finish ({reply.finish})", kind="exception")
    reply, usage = _separate_thoughts(reply), _usage_if_valid(reply.usage)
    if is_empty_reply(reply) and reply.finish == "stop" and not (reply.thoughts or (usage and usage.reasoning)):
        empty = TransientError(f"{system.name} sent an empty reply.", kind="empty-reply")
        empty.usage = usage
        raise empty
    passages, odd = select_usable_passages_and_remark(reply.passages)
    citations = reply.citations if isinstance(reply.citations, tuple) else ()
    return dataclasses.replace(
        reply,
        passages=passages,
        citations=tuple(citation for citation in citations if isinstance(citation, Citation)),
        remark=_clip_to_one_printable_line(str(reply.remark or odd))[:_LONGEST_ERROR],
        usage=usage,
        model=_clip_to_one_printable_line(reply.model)[:_LONGEST_WORD] if isinstance(reply.model, str) else None,
        sent=_json_settings_or_empty(reply.sent),
        served=_clean_server_facts(reply.served),
        seconds=_valid_rounded_seconds_or_none(reply.seconds),
        first_token=_valid_rounded_seconds_or_none(reply.first_token),
        first_text=_valid_rounded_seconds_or_none(reply.first_text),
        finish_detail=_clip_to_one_printable_line(str(reply.finish_detail))[:_LONGEST_WORD],
    )


def _clip_to_one_printable_line(text: str) -> str:
    """Return a server's words, which may be of any length, on one line, without what would steer a terminal."""
    return replace_unprintable_characters(" ".join(text[:_LONGEST_ERROR].split()))


def _valid_rounded_seconds_or_none(seconds: object) -> float | None:
    """Return a time, in thousandths of a second, if it is one."""
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < math.inf
    return round(float(seconds), 3) if is_time else None  # type: ignore[arg-type]


def _clean_server_facts(server_facts: object) -> dict[str, str]:
    """Return what a server says of how it answered, where it is words."""
    facts = server_facts if isinstance(server_facts, dict) else {}
    return {
        str(name): _clip_to_one_printable_line(value)[:_LONGEST_WORD]
        for name, value in facts.items()
        if isinstance(value, str)
    }


def _separate_thoughts(reply: Reply) -> Reply:
    """Return the reply with its thoughts apart; one whose thoughts have no end was cut off."""
    thoughts, answer, unclosed = split_thoughts(reply.text)
    beside = reply.thoughts if isinstance(reply.thoughts, str) else ""
    finish: Finish = "length" if unclosed and reply.finish == "stop" else reply.finish
    return dataclasses.replace(
        reply,
        text=strip_blank_lines_and_end_mark(answer),
        thoughts=join_distinct_thoughts(thoughts, beside),
        finish=finish,
    )


def is_empty_reply(reply: Reply) -> bool:
    """Tell whether a reply has no words, whatever was thought before it."""
    return not reply.text.strip()


def _usage_if_valid(usage: object) -> Usage | None:
    """Return the tokens, where they can be counted and priced; None if a server or an assistant states nonsense."""
    if not isinstance(usage, Usage):
        return None
    counts: list[object] = [getattr(usage, name) for name in Usage.__struct_fields__]
    return usage if all(type(count) is int and 0 <= count <= MAX_TOKENS for count in counts) else None


def _json_settings_or_empty(sent_settings: object) -> dict[str, Any]:
    """Return the settings as sent, where they can be kept as JSON."""
    try:
        decoded_settings = msgspec.json.decode(msgspec.json.encode(sent_settings))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return {}
    return decoded_settings if isinstance(decoded_settings, dict) else {}


def replace_surrogates(text: str) -> str:
    """Return the text with a replacement for half a character.

    A cut reply may end in one that JSON escapes as two halves; it can't be written or sent again.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sum_usages(one: Usage | None, other: Usage | None) -> Usage | None:
    return one + other if one and other else one or other


def _is_wait_too_long(retry_after: float | None) -> bool:
    return retry_after is not None and retry_after > LONGEST_RETRY_AFTER


def _seconds_before_retry(attempt_number: int, retry_after: float | None) -> float:
    if retry_after is not None:
        # A little jitter, so that all who were told the same moment don't come back in it.
        return retry_after + random.uniform(0, 0.1)  # noqa: S311
    grown: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt_number - 1))
    return grown * random.uniform(0.5, 1.0)  # noqa: S311


class LeftOutError(BreakerOpenError):
    """The call is under way, or will be; nothing came of it yet, and it is sent again for its reply."""


class Transport:
    """Single calls: each holds one of the connections until its reply is there."""

    patient = True
    """Whether to wait between two tries, and to ask for less at once if a server says so."""
    again = False
    """Whether all that has no reply yet is sent again, as a reply may come later than its call."""

    def __init__(self, system: System, connections: int, retries: int, waiting: Callable[[str], None]) -> None:
        self.system, self.at_once = system, connections
        self.limits = SystemLimits(Throttle(connections), retries, waiting=waiting, patient=self.patient)
        self._warm: dict[int, asyncio.Event] = {}

    async def send(self, messages: Sequence[Message], settings: Settings) -> Attempt:
        """Ask; the first call with a long prefix goes alone, and the others wait for it to end, well or not.

        Raises a LeftOutError, and the errors of `ask_with_retries_or_raise`.
        """
        prefix = next((m for m in reversed(messages) if m.breakpoint), None)
        warm = self._warm.get(id(prefix))
        if prefix is None or warm is not None:
            if warm is not None:
                await warm.wait()
            return await ask_with_retries_or_raise(self.system, messages, settings, self.limits)
        warm = self._warm[id(prefix)] = asyncio.Event()
        try:
            return await ask_with_retries_or_raise(self.system, messages, settings, self.limits)
        finally:
            warm.set()

    async def reserve_dollars_or_raise(self, budget: Budget, max_dollars: float) -> None:
        """Set money aside for a call; a SpendingCapError if none is left, a LeftOutError if some may come free yet."""
        await budget.reserve_dollars_or_raise(max_dollars)

    async def wait_and_tell_whether_to_resend(self) -> bool:
        """Wait, once all was sent, for replies that are still to come; whether all is to be sent again."""
        return False
