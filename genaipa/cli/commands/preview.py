"""`--dry-run` and `--estimate`: the messages of a run, and its cost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import print_json, say, show, table
from genaipa.cli.terminal.tally import tokens
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.execution.estimate import Estimate
    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import Ready
    from genaipa.tasks.base import Task

_CENT = 0.01


def print_preview(*runs: PreparedRun, offline: bool, messages: bool, json: bool, batch: bool = False) -> None:
    """Print the messages, or else the estimate. Nothing is asked and no key is needed."""
    from genaipa.execution.run import ready_systems

    asked = [(run, ready) for run in runs for ready in asyncio.run(ready_systems(run.task, offline=offline, say=say))]
    if part := next((run for run in runs if run.times != 1), None):
        first = number(len(part.task.spec.plan.documents), "document")
        say(f"{'shown' if messages else 'reckoned'} by the first shard's {first}, of {part.subject}")
    if messages:
        _print_messages(asked, json=json)
    else:
        _print_estimate(asked, json=json, batch=batch)


def _print_messages(asked: list[tuple[PreparedRun, Ready]], *, json: bool) -> None:
    from genaipa.execution.calls import conversations

    shown = []
    for title, messages in (found for run, ready in asked for found in conversations(run.task, ready.target)):
        if json:
            listed = [{"role": m.role, "purpose": m.purpose, "content": m.content} for m in messages]
            shown.append({"conversation": title, "messages": listed})
            continue
        show(f"===== {title}")
        for message in messages:
            show(f"\n--- {message.role} ({message.purpose})\n{message.content}", exact=True)
        show()
    if json:
        print_json(shown)


def _print_estimate(asked: list[tuple[PreparedRun, Ready]], *, json: bool, batch: bool) -> None:
    from genaipa.execution.estimate import REPLY_TOKENS, estimate_run

    rows = [row for run, ready in asked for row in estimate_run(run, ready)]
    labels = {ready.resolved.asked: _how(ready) for _, ready in asked}
    halved = {r.resolved.asked for _, r in asked if r.resolved.takes_batches} if batch else set[str]()
    power = _power(asked[0][0].task, asked[0][0].times)
    if json:
        print_json({"rows": [_as_dict(row, halved) for row in rows], "systems": labels, "power": power})
        return
    procedure = bool(asked[0][0].spec.plan.initializations)
    table(
        (
            "system",
            "initialization" if procedure else "task",
            "calls",
            "tokens in",
            "repeated",
            "out",
            "cost at most",
            "with cache",
        ),
        [
            (
                row.system,
                row.initialization,
                row.calls,
                tokens(row.usage.input),
                tokens(row.usage.cached),
                tokens(row.usage.output),
                _money(row.cost),
                _money(row.cached_cost),
            )
            for row in rows
        ],
        right=range(2, 8),
    )
    for label in labels.values():
        show(label)
    each = (
        REPLY_TOKENS
        if procedure
        else round(sum(row.usage.output for row in rows) / max(1, sum(row.calls for row in rows)))
    )
    show(
        f"Replies are taken to come to {each} tokens each, without what a model thinks before them; 'repeated' is "
        "input that a cache may serve."
    )
    calls = f"Altogether {number(sum(row.calls for row in rows), 'call')}"
    priced = [(row.cost, row.cached_cost) for row in rows if row.cost is not None and row.cached_cost is not None]
    if len(priced) < len(rows):
        show(f"{calls}; the cost is not known for every system.")
    else:
        show(f"{calls}, {_money(sum(cached for _, cached in priced))} to {_money(sum(cost for cost, _ in priced))}.")
    if batch:
        show(_in_batches(rows, halved))
    if power:
        from genaipa.reports.crossed import LEAST_DOCUMENTS

        show(f"{power['said']}, if two systems vary as the published study's do.")
        if power["policies"] is None:
            show(f"Below {LEAST_DOCUMENTS} documents nothing can be said for policies like these.")


def _power(task: Task, times: float) -> dict[str, object]:
    """The smallest differences between two systems that a run on these policies would find; empty where none is known.

    `questions` are those about each document, the fewest; the run has `times` the documents of the task.
    """
    from genaipa.errors import MissingPackageError
    from genaipa.reports import check_packages
    from genaipa.tasks.procedure import Procedure

    if not isinstance(task, Procedure):
        return {}
    policies = {name for name, document in task.documents.items() if document.kind == "policy"}
    asked = [len(order) for name, order in task.orders.items() if name.partition("|")[0] in policies]
    try:
        check_packages()
    except MissingPackageError:
        return {}
    from genaipa.reports.power import detectable

    questions, documents = min(asked, default=0), round(len(policies) * times)
    found = detectable(questions, documents)
    sizes = {target: None if size != size else round(size, 1) for target, size in found._asdict().items()}  # noqa: PLR0124 - NaN
    said = found.in_words(questions, documents)
    return {"questions": questions, "documents": documents, **sizes, "said": said} if said else {}


def _how(ready: Ready) -> str:
    counted = "; ".join(sorted({counter.label for counter in ready.target.counters.values()}))
    price = ready.tariff.label if ready.tariff else "no price known (add one to systems.yaml)"
    return f"{ready.resolved.asked}: tokens by {counted}; prices: {price}."


def _in_batches(rows: list[Estimate], halved: set[str]) -> str:
    """Both prices of what is asked by batches: with a long document, a warm cache may be cheaper."""
    priced = [row for row in rows if row.system in halved and row.batch_cost is not None]
    if not priced:
        return "In batches: no system here takes them, or no price is known."
    batched = sum(row.batch_cost or 0.0 for row in priced)
    shared = sum(row.batch_cached_cost or 0.0 for row in priced)
    warm = sum(row.cached_cost or 0.0 for row in priced)
    cheaper = "single calls" if warm < batched else "batches"
    return (
        f"In batches, at half price: {_money(batched)} if nothing comes from a cache, which none promises there, and "
        f"{_money(shared)} if all that is repeated does; by single calls with a warm cache: {_money(warm)}. "
        f"{cheaper.capitalize()} are cheaper{' unless most comes from a cache' if shared < warm < batched else ''}."
    )


def _as_dict(row: Estimate, halved: set[str]) -> dict[str, object]:
    more = {"batch_cost": row.batch_cost, "batch_cached_cost": row.batch_cached_cost} if row.system in halved else {}
    return more | {
        "system": row.system,
        "initialization": row.initialization,
        "calls": row.calls,
        "usage": row.usage,
        "cost": row.cost,
        "cached_cost": row.cached_cost,
    }


def _money(value: float | None) -> str:
    return "?" if value is None else f"${value:.2f}" if value >= _CENT or value == 0 else f"${value:.4f}"
