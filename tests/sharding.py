"""Documents for runs of shards, and what two runs of the same plan have to share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.shard import Shard

TEXT = """# Privacy policy of {name}

## What we collect
We collect your name, your address and the number {number} that you were given.

## Whom we share it with
We share what we collect with {number} carriers, and with nobody else.

## How long we keep it
We keep it for {number} months, and delete it then.
"""
TIMES = ("started", "seconds")


def lay_documents(number: int, folder: Path = Path()) -> str:
    """Write short policies into a workspace; their names, as `--policy` takes them."""
    (folder / "genaipa.toml").touch()
    (folder / "policies").mkdir(exist_ok=True)
    names = [f"shop-{n:03}" for n in range(number)]
    for n, name in enumerate(names, 3):
        (folder / "policies" / f"{name}.md").write_text(TEXT.format(name=name, number=n), encoding="utf-8")
    return ",".join(names)


def unseal(shard: Shard, lines: int | None = None) -> bytes:
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
