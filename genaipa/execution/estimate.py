"""What a plan will come to before it is carried out: calls, tokens, money.

The lengths of replies are assumed, so all of it is an estimate; the input is counted from the real messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.execution.prepare import REPLY_TOKENS
from genaipa.systems.base import Usage
from genaipa.tasks.procedure import opening, order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.execution.prepare import Ready
    from genaipa.runs.records import Initialization, RunSpec
    from genaipa.systems.base import Message
    from genaipa.tasks.procedure import Script, Step

SMALLEST_CACHED = 1024
"""Shortest prefix, in tokens, that providers cache."""
TOKENS_PER_WORD = 1.4


@dataclass
class Estimate:
    """One row: a system and an initialization, over all documents, wordings and repetitions.

    `cost` is without any cache; `cached_cost` if each repeated prefix is read from it. None where no price is known.
    """

    system: str
    initialization: Initialization
    calls: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    cost: float | None = 0.0
    cached_cost: float | None = 0.0


def estimate(spec: RunSpec, ready: Ready) -> list[Estimate]:
    """The rows of one system."""
    rows = []
    for initialization in spec.initializations:
        row = Estimate(ready.resolved.asked, initialization)
        for document in spec.documents:
            _add_document(row, spec, ready, document)
        rows.append(row)
    return rows


def _add_document(row: Estimate, spec: RunSpec, ready: Ready, document: str) -> None:
    script, count = ready.scripts[document], ready.counters[document].count
    times = spec.repetitions * len(spec.wordings)
    summary_tokens = 0
    if row.initialization in ("summary-by-name", "summary-of-document"):
        steps = script.summary_introduction(row.initialization)
        prefix = _tokens(opening(steps), count) + count(script.summary_request(row.initialization).content)
        summary_tokens = min(round(spec.summary_words * TOKENS_PER_WORD), spec.max_tokens or spec.summary_words * 2)
        calls = [*_acknowledged(spec, steps, count), Usage(input=prefix, output=summary_tokens)]
        _add_calls(row, ready, calls, times)
    introduction = script.introduction(row.initialization, "x")
    prefix = _tokens(opening(introduction), count) + summary_tokens
    calls = [*_acknowledged(spec, introduction, count), *_questions(spec, script, count, prefix, document)]
    _add_calls(row, ready, calls, times)


def _tokens(messages: Sequence[Message], count: Callable[[str], int]) -> int:
    return sum(count(message.content) for message in messages)


def _acknowledged(spec: RunSpec, steps: Sequence[Step], count: Callable[[str], int]) -> list[Usage]:
    """The calls that `--acknowledge` adds: each repeats what was introduced before it."""
    if not spec.acknowledge:
        return []
    calls, so_far = [], 0
    for step in steps:
        before, so_far = so_far, so_far + count(step.message.content)
        calls.append(Usage(input=so_far, cached=before if before >= SMALLEST_CACHED else 0, output=20))
        so_far += count(step.acknowledgement.content)
    return calls


def _questions(spec: RunSpec, script: Script, count: Callable[[str], int], prefix: int, document: str) -> list[Usage]:
    """One call a question; in a shared conversation each carries all turns before it."""
    reply = min(spec.max_tokens or REPLY_TOKENS, REPLY_TOKENS)
    calls, history = [], prefix
    for number, question in enumerate(order_of(spec, document, 1, script.questions)):
        asked = count(script.question(question, spec.wordings[0]).content)
        cached = 0 if number == 0 else (history if spec.conversation == "shared" else prefix)
        calls.append(Usage(input=history + asked, cached=cached if cached >= SMALLEST_CACHED else 0, output=reply))
        if spec.conversation == "shared":
            history += asked + reply
    return calls


def _add_calls(row: Estimate, ready: Ready, calls: Sequence[Usage], times: int) -> None:
    row.calls += len(calls) * times
    for call in calls:
        row.usage += Usage(input=call.input * times, cached=call.cached * times, output=call.output * times)
        if ready.tariff is None or row.cost is None or row.cached_cost is None:
            row.cost = row.cached_cost = None
            continue
        row.cost += times * ready.tariff.cost(Usage(input=call.input, output=call.output))
        row.cached_cost += times * ready.tariff.cost(call)
