"""Documents for runs of shards, and what two runs of the same plan have to share."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from running import make_workspace, write
from servers import Behaviour, OpenAIServer

from genaipa.runs.selection import find_run
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest
    from commandline import Finished

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.part import Part

TEXT = """# Privacy policy of {name}

## What we collect
We collect your name, your address and the number {number} that you were given.

## Whom we share it with
We share what we collect with {number} carriers, and with nobody else.

## How long we keep it
We keep it for {number} months, and delete it then.
"""
PRICED = "systems:\n  loop: {system: openai-api/loop/m, price: {input: 1000, output: 1000, as_of: '2026-11-21'}}\n"
TIMES = ("started", "seconds")


def lay_documents(number: int, folder: Path = Path()) -> str:
    """Write short policies into a workspace; their names, as `--policy` takes them."""
    (folder / "genaipa.toml").touch()
    (folder / "policies").mkdir(exist_ok=True)
    names = [f"shop-{n:03}" for n in range(number)]
    for n, name in enumerate(names, 3):
        (folder / "policies" / f"{name}.md").write_text(TEXT.format(name=name, number=n), encoding="utf-8")
    return ",".join(names)


@contextmanager
def priced_run(
    monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished], *, questions: int
) -> Iterator[tuple[tuple[str, ...], float]]:
    """A plan about four documents, and the dollars that it costs whole, while its server answers."""
    documents = ("acme", "brook", "cedar", "delta")
    make_workspace(questions=questions, documents=documents)
    write("systems.yaml", PRICED)
    plan = ("run", "-s", "loop", "-p", ",".join(documents), "-i", "company-name", "--max-tokens", "10")
    with OpenAIServer(lambda _number, _body: Behaviour(text="Yes."), models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        assert genaipa(*plan, "--name", "whole").code == 0
        cost = find_run(find_workspace(), "whole").manifest().totals.cost
        assert cost
        yield plan, cost


def unseal(shard: Part, lines: int | None = None) -> bytes:
    """Put a complete shard back to when it had only so many lines of answers; those lines."""
    kept = b"".join(line for _, line in list(shard.lines())[:lines])
    if shard.is_sealed:
        shard.answers.unlink()
    shard.answers.write_bytes(kept)
    return kept


def content(run: RunFolder) -> dict[str, Any]:
    """Everything of a run but its times: records by key, how conversations began, orders, documents, digests."""
    manifest = run.manifest()
    records = {record.key: msgspec.to_builtins(record) for record in run.records()}
    begun = {one.id: one for one in run.conversations()}
    return {
        "spec": manifest.spec,
        "records": {key: {k: v for k, v in one.items() if k not in TIMES} for key, one in records.items()},
        "conversations": begun,
        "messages": {name: run.near(one.document).introduction(one.introduction) for name, one in begun.items()},
        "orders": manifest.orders,
        "documents": manifest.documents,
        "digests": manifest.digests,
        "counts": {place: (row.planned, row.status) for place, row in run.state()[1].rows.items()},
    }
