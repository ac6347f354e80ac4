"""A run of many documents in shards: begun, listed, counted, and gone on with when it is finished.

    python -m benchmarks.shards [10000 100000 …]

For each number of documents a corpus is made up, and cut into shards of 500 by a process that asks nothing. Then each
shard is filled as a finished run leaves it, with an answer for each document, and sealed by genaipa's own code; only
what comes after is measured. `python -m benchmarks.shards fill RUN` does that part.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.made_up import write_policies
from benchmarks.measure import Measured, measure

EACH = 500
NUMBERS = (10_000, 100_000)
_PLAN = ("-s", "extractive", "-i", "company-name", "--limit", "1", "--documents", "corpus.jsonl", "--shard", str(EACH))
_BEGIN = """
import sys
from genaipa.execution.prepare import prepare
from genaipa.tasks.request import RunRequest
from genaipa.workspace import find_workspace
request = RunRequest(
    ("extractive",), corpus=sys.argv[1], shard=int(sys.argv[2]), name="many",
    plan={"initializations": ("company-name",), "limit": "1"},
)
print(prepare(find_workspace(sys.argv[3]), request).open().name)
"""
_REPLY = "The policy says in section 4.2 that data is kept for as long as the account exists. " * 8


def fill(path: Path) -> None:
    """Write the answers of every shard of a run that was begun, and seal it."""
    from genaipa.execution.prepare import PreparedRun, task_of
    from genaipa.files.stamps import now
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, answer_digest
    from genaipa.runs.status import Tally
    from genaipa.workspace import find_workspace

    run, here, encode = RunFolder(path), find_workspace(path.parents[1]), msgspec.json.Encoder().encode
    for index in range(run.number):
        shard, task, tally = RunFolder(run.shard(index).path), task_of(here, run, index), Tally()
        manifest, lines = PreparedRun(task, "many", shard).manifest(), []
        for place, order in manifest.orders.items():
            document, _, repetition = place.rpartition("|")
            conversation = f"extractive|{document}|company-name|original|{repetition}"
            for turn, question in enumerate(order, 1):
                key, asked = f"{conversation}|{question}", f"Is it so, {document}?"
                digest = answer_digest(manifest.documents[document].digest, asked, _REPLY)
                record = Record(
                    key, "answered", conversation, "answer", "extractive", document, "company-name", "original",
                    int(repetition), question, turn, asked, _REPLY, now(), 1.5, digest=digest,
                )  # fmt: skip
                tally.add(record)
                lines.append(encode(record) + b"\n")
        tally.plan(manifest.spec, manifest.orders)
        with shard.part.writing():
            (shard.path / "answers.jsonl").write_bytes(b"".join(lines))
            manifest.status, manifest.totals = "complete", tally.totals()
            shard.write_manifest(manifest)
            shard.part.seal()
    run.settle(None)


def figures(number: int) -> list[tuple[str, Measured]]:
    """What each command took over a run of so many documents."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GENAIPA_")}
    with tempfile.TemporaryDirectory(prefix="genaipa-benchmark-") as made:
        folder = Path(made)
        (folder / "genaipa.toml").touch()
        corpus = str(folder / "corpus.jsonl")

        def python(*words: str) -> Measured:
            return measure([sys.executable, *words], environment)

        write_policies(Path(corpus), number)
        begun = python("-c", _BEGIN, corpus, str(EACH), made)
        python("-m", "benchmarks.shards", "fill", str(folder / "runs" / begun.out.strip()))
        commands = {"runs": ("runs",), "show": ("show", "latest"), "run --resume": ("run", "--resume", "latest")}
        found = [(name, python("-m", "genaipa", *words, "--workspace", made)) for name, words in commands.items()]
        assert "complete; nothing was asked" in found[-1][1].out
        size = sum(path.stat().st_size for path in folder.glob("runs/*/shards/*/answers.parquet"))
        print(f"{number:,} documents: sealed answers {size / 2**20:,.0f} MiB", flush=True)
        shutil.rmtree(folder / "runs")
        return [("begin", begun), *found]


def main() -> None:
    """Print a table for each number of documents."""
    if sys.argv[1:2] == ["fill"]:
        fill(Path(sys.argv[2]))
        return
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load}")
    for number in map(int, sys.argv[1:] or NUMBERS):
        rows = figures(number)
        print(f"\n| {number:,} documents | command, s | processor, s | MiB |\n| --- | ---: | ---: | ---: |")
        for name, one in rows:
            print(f"| {name} | {one.wall:.2f} | {one.cpu:.2f} | {one.rss:.0f} |", flush=True)


if __name__ == "__main__":
    main()
