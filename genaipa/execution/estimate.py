"""Estimate of a run's calls, tokens and cost before it is carried out.

A task's dialogues are gone through with a length in place of each reply. The lengths of replies are assumed, so all of
it is an estimate; the input is counted from the real messages.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from genaipa.systems.base import MOST_TOKENS, Message, Usage
from genaipa.systems.costs import CHARACTERS_PER_TOKEN
from genaipa.tasks.base import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import Ready
    from genaipa.systems.costs import Tariff
    from genaipa.tasks.base import Call, Target, Task

REPLY_TOKENS = 300
"""Tokens of a reply that nothing limits."""
ACKNOWLEDGEMENT_TOKENS = 20
TOKENS_PER_WORD = 1.4
SMALLEST_CACHED = 1024
"""Shortest prefix, in tokens, that providers cache."""

_LEAST_JUDGED = 200
"""Tokens of the shortest prompt that is checked for being cut by a server."""
_CUT = 0.5
"""A server that counts less than this share of the tokens sent has cut the prompt: no estimate is so far off."""

_LENGTH = re.compile("\ue000(\\d+)\ue001")
"""Stands in a message for a reply of this many tokens."""


@dataclass
class Estimate:
    """One row: a system and an initialization (or another task's name), over all that is asked.

    `cost` is without any cache; `cached_cost` if each repeated prefix is read from it; batches' likewise. None
    if no price is known, or a system takes no batches.
    """

    system: str
    initialization: str
    calls: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    cost: float | None = 0.0
    cached_cost: float | None = 0.0
    batch_cost: float | None = 0.0
    batch_cached_cost: float | None = 0.0


class Measured(NamedTuple):
    """A call, its tokens in and out, and how many of those in the call before it has sent as well."""

    call: Call
    input: int
    output: int
    repeated: int


def estimate_run(run: PreparedRun, ready: Ready) -> list[Estimate]:
    """The rows of one system over a whole run; of one in shards, the first shard stands for all."""
    return [_of_all(row, run.times) for row in estimate(run.task, ready)]


def _of_all(row: Estimate, times: float) -> Estimate:
    def more(cost: float | None) -> float | None:
        return None if cost is None else cost * times

    usage = row.usage
    usage = Usage(round(usage.input * times), round(usage.cached * times), 0, round(usage.output * times))
    costs = more(row.cost), more(row.cached_cost), more(row.batch_cost), more(row.batch_cached_cost)
    return Estimate(row.system, row.initialization, round(row.calls * times), usage, *costs)


def estimate(task: Task, ready: Ready) -> list[Estimate]:
    """The rows of one system over a task."""
    rows: dict[str, Estimate] = {}
    times, batched = task.guarded_sample(ready.target)[1], ready.resolved.batch_tariff
    for call, tokens_in, tokens_out, repeated in measure(task, ready):
        name = call.coordinates.get("initialization", task.name)
        row = rows.setdefault(name, Estimate(ready.resolved.asked, name))
        cached = repeated if repeated >= SMALLEST_CACHED else 0
        row.calls += times
        row.usage += Usage(input=tokens_in * times, cached=cached * times, output=tokens_out * times)
        fresh, warm = Usage(tokens_in, 0, 0, tokens_out), Usage(tokens_in, cached, 0, tokens_out)
        row.cost = _more(row.cost, ready.tariff, fresh, times)
        row.cached_cost = _more(row.cached_cost, ready.tariff, warm, times)
        row.batch_cost = _more(row.batch_cost, batched, fresh, times)
        row.batch_cached_cost = _more(row.batch_cached_cost, batched, warm, times)
    return list(rows.values())


def _more(sum_: float | None, tariff: Tariff | None, usage: Usage, times: int) -> float | None:
    return None if sum_ is None or tariff is None else sum_ + times * tariff.cost(usage)


def measure(task: Task, ready: Ready) -> Iterator[Measured]:
    """The calls of the task's sample of its questions."""
    counted: dict[tuple[str, str], int] = {}
    target = ready.target

    def tokens(messages: Sequence[Message], document: str) -> int:
        total = 0
        for message in messages:
            known = (document, message.content)
            if known not in counted:
                bare = _LENGTH.sub("", message.content)
                replies = sum(map(int, _LENGTH.findall(message.content)))
                counted[known] = replies + (target.count(bare, document) if bare else 0)
            total += counted[known]
        return total

    for dialogue in task.guarded_sample(target)[0]:
        before: Sequence[Message] = ()
        for call in walk(
            dialogue, lambda call: call.placeholder_reply or f"\ue000{_reply_tokens(task, call, target)}\ue001"
        ):
            document = call.coordinates.get("document", "")
            shared, sent = 0, ready.resolved.sends(call.messages)
            for one, other in zip(before, sent, strict=False):
                if one is not other:
                    break
                shared += 1
            repeated = tokens(sent[:shared], document)
            rest = tokens(sent[shared:], document)
            if schema := call.settings.get("json_schema"):
                # Providers put it before the messages.
                form = tokens([Message("user", json.dumps(schema))], document)
                repeated, rest = (repeated + form, rest) if repeated else (0, rest + form)
            yield Measured(call, repeated + rest, _reply_tokens(task, call, target), repeated)
            before = sent


def is_cut(messages: Sequence[Message], rate: float, counted: int) -> bool:
    """Whether a server that `counted` this many tokens can't have read all that it was sent.

    `rate` is the characters of a token in the document. The estimate is by length, which no tokenizer falls short of
    by half; a server that counts nothing tells nothing.
    """
    usual = max(rate, CHARACTERS_PER_TOKEN)
    sent = sum(len(message.content) / (rate if message.purpose == "part" else usual) for message in messages)
    return 0 < counted < _CUT * sent and sent >= _LEAST_JUDGED


def _reply_tokens(task: Task, call: Call, target: Target) -> int:
    if call.kind == "acknowledgement":
        return ACKNOWLEDGEMENT_TOKENS
    limit = call.settings.get("max_tokens", task.spec.max_tokens)
    if call.words:
        return min(round(call.words * TOKENS_PER_WORD), limit or call.words * 2)
    if call.placeholder_reply:
        return min(limit or MOST_TOKENS, target.count(call.placeholder_reply))
    return min(limit or REPLY_TOKENS, REPLY_TOKENS)
