"""Scripted replies from a file, for trying genaipa without a key and for tests.

`scripted` alone repeats the first words that it is asked. `scripted/PATH.yaml` (from the working folder, or absolute)
follows a file; `scripted/careful` and `scripted/breezy` follow the demo's files, which come with genaipa:

    rules:                       # the first that matches is used; where none does, `default`
      - match: (?i)encrypt       # a regular expression, searched in the last message
        reply: Yes, in transit (Section 10.2).
        finish: stop             # or length, refusal
        delay: 0.2               # seconds until the reply (or the failure); over the time-out it is one
        usage: {input: 900, cached: 800, output: 12, reasoning: 8}
        effort: [low, medium]    # used at these levels alone (scripted/FILE.yaml@low); without it, at any and at none
        model: tester-2          # the model as served; else the script's own `model`, else scripted
      - match: government
        fail: overload           # instead of a reply: transient, permanent or overload
        times: 2                 # used twice, then passed over; without it, for ever
      - match: ""                # matches everything
        reply: "no"
    default: I have no line for that.
    model: tester-1
    levels:                      # what replies take at a level of effort, more or less, without waiting; `none` where
      low: {seconds: 4, reasoning: 500}     # no level is asked for. By it replies have usage of their own.

Calls are counted as they arrive, before any delay: the same calls in the same order get the same replies, however many
are under way at once. A transient failure with `times` says which of them it is, so it passes for one that comes
and goes; without, it is the same each time, as that of a server with a fault.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec

from genaipa.errors import DataError, NoReplyError, PermanentError, TransientError
from genaipa.files.strict_yaml import read_yaml
from genaipa.systems.base import EFFORTS, BuiltinSystem, Finish, Reply, Usage
from genaipa.systems.costs import estimate_token_count
from genaipa.systems.provider import Provider, split_system_name_and_effort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Settings

MODEL = "scripted"
_SHIPPED = Path(__file__).with_name("scripts")
ECHOED = 8
"""Words of the question repeated by the default reply."""

Seconds = Annotated[float, msgspec.Meta(ge=0)]
Tokens = Annotated[int, msgspec.Meta(ge=0)]
Times = Annotated[int, msgspec.Meta(ge=1)]


class ReportedTokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Token usage reported for a reply; `input` includes `cached`, and `output` includes `reasoning`."""

    input: Tokens = 0
    cached: Tokens = 0
    output: Tokens = 0
    reasoning: Tokens = 0


class ReplyRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `reply` to messages that match, or a way to `fail`."""

    match: str
    reply: str | None = None
    finish: Finish = "stop"
    delay: Seconds = 0.0
    fail: Literal["transient", "permanent", "overload"] | None = None
    times: Times | None = None
    usage: ReportedTokens | None = None
    model: str | None = None
    effort: tuple[Literal[EFFORTS], ...] = ()  # type: ignore[valid-type]


class EffortTimeAndTokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seconds and the tokens of thoughts that replies take at a level of effort, on average."""

    seconds: Seconds
    reasoning: Tokens = 0

    def add_time_and_usage_to_reply(self, reply: Reply, messages: Sequence[Message]) -> Reply:
        """Return the reply with its time and usage: by chance, but for a question always the same."""
        share = 0.5 + zlib.crc32(messages[-1].content.encode()) % 1000 / 1000
        reasoning = round(self.reasoning * share)
        sent = sum(estimate_token_count(message.content) for message in messages)
        usage = Usage(input=sent, output=estimate_token_count(reply.text) + reasoning, reasoning=reasoning)
        return replace(
            reply, usage=reply.usage or usage, seconds=round(self.seconds * share, 3), served={"time": "made up"}
        )


class ReplyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """File contents."""

    rules: tuple[ReplyRule, ...] = ()
    default: str | None = None
    model: str = MODEL
    levels: dict[Literal[EFFORTS], EffortTimeAndTokens] = {}  # type: ignore[valid-type]


def _script_path(system: str) -> Path | None:
    """Return the file of a system's replies, by its full name; None for the echo."""
    _, _, name = split_system_name_and_effort(system)[0].partition("/")
    shipped = {path.stem: path for path in _SHIPPED.glob("*.yaml")}
    return shipped.get(name, Path(name)) if name else None


class ScriptedSystem(BuiltinSystem):
    """`scripted[/FILE]`. A DataError if the file is unusable."""

    provider: ClassVar[Provider] = Provider(
        name="scripted",
        form="scripted[/FILE]",
        about="replies from a file, for trying things out; needs no setup",
        builtin=lambda: ("scripted",),
        free=True,
        efforts=EFFORTS,
        source=_script_path,
    )

    def __init__(self, *, name: str = "scripted") -> None:
        super().__init__(name=name)
        path = _script_path(name)
        self._script = _read_and_check_script(path) if path else ReplyFile()
        self._patterns = [re.compile(rule.match) for rule in self._script.rules]
        self._used = [0] * len(self._patterns)

    async def reply_to_last_message(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Follow the first unexhausted rule that matches the last message."""
        reply = await self._reply_by_rule_or_default(messages, settings)
        level = self._script.levels.get(settings.effort or EFFORTS[0])
        return level.add_time_and_usage_to_reply(reply, messages) if level else reply

    async def _reply_by_rule_or_default(self, messages: Sequence[Message], settings: Settings) -> Reply:
        question = messages[-1].content
        number = self._find_rule_index_and_count_use(question, settings.effort)
        sent = {"effort": settings.effort} if settings.effort else {}
        if number is None:
            words = question.split()
            echo = f'You said: "{" ".join(words[:ECHOED])}{" …" if len(words) > ECHOED else ""}"'
            default = self._script.default
            return Reply(echo if default is None else default, model=self._script.model, sent=sent)
        rule, used = self._script.rules[number], self._used[number]
        await asyncio.sleep(min(rule.delay, settings.timeout))
        if rule.delay > settings.timeout:
            raise TransientError(f"no reply within {settings.timeout:g} s (rules[{number}])", kind="timeout")
        if rule.reply is None:
            raise _make_scripted_error(rule, number, used)
        usage = Usage(**msgspec.structs.asdict(rule.usage)) if rule.usage else None
        return Reply(rule.reply, rule.finish, usage, rule.model or self._script.model, sent)

    def _find_rule_index_and_count_use(self, question: str, effort: str | None) -> int | None:
        """Find the rule and count its use; None for the default."""
        for number, (rule, pattern) in enumerate(zip(self._script.rules, self._patterns, strict=True)):
            applies = not rule.effort or effort in rule.effort
            if applies and (rule.times is None or self._used[number] < rule.times) and pattern.search(question):
                self._used[number] += 1
                return number
        return None


def _read_and_check_script(path: Path) -> ReplyFile:
    script = read_yaml(path, ReplyFile)
    for number, rule in enumerate(script.rules):
        entry = f"rules[{number}]"
        try:
            re.compile(rule.match)
        except re.error as error:
            raise DataError(path, f"'{rule.match}' is not a regular expression ({error}).", f"{entry}.match") from None
        if (rule.reply is None) == (rule.fail is None):
            raise DataError(path, "needs either 'reply' or 'fail'.", entry)
        if rule.usage and rule.usage.cached > rule.usage.input:
            raise DataError(path, "'cached' is part of 'input', so it can't be larger.", f"{entry}.usage")
        if rule.usage and rule.usage.reasoning > rule.usage.output:
            raise DataError(path, "'reasoning' is a part of 'output', so it can't be more.", f"{entry}.usage")
    return script


def _make_scripted_error(rule: ReplyRule, rule_index: int, times_used: int) -> NoReplyError:
    message = f"the script fails here (rules[{rule_index}]: {rule.fail})"
    if rule.fail == "permanent":
        return PermanentError(message, kind="scripted")
    if rule.times:
        message += f", {times_used} of {rule.times}"
    return TransientError(message, kind="scripted", overload=rule.fail == "overload")
