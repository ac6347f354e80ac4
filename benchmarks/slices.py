"""A study of many documents in slices: begun, asked, listed, and gone on with when it is finished.

    python -m benchmarks.slices [1000 100000 …]

For each number of documents a corpus is made up, and asked one question about each of them in slices of 2,000, or four
smaller ones, of the baseline that quotes. 100,000 documents take some minutes, nearly all of them for asking.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Measured, measure

EACH = 2_000
LEAST = 4
"""Slices of a smaller corpus."""
NUMBERS = (1_000, 100_000)
_PLAN = ("-s", "extractive", "-i", "company-name", "--limit", "1", "--documents")
_WRITE = """
import sys
from pathlib import Path
from benchmarks.made_up import write_policies
write_policies(Path(sys.argv[1]), int(sys.argv[2]))
"""
_BEGIN = """
import sys
from genaipa.execution.prepare import prepare_run
from genaipa.tasks.request import RunRequest
from genaipa.workspace import find_workspace
request = RunRequest(
    ("extractive",), corpus=sys.argv[1], slice=(int(sys.argv[2]), int(sys.argv[3])), name="many",
    plan={"initializations": ("company-name",), "limit": "1"},
)
print(prepare_run(find_workspace(sys.argv[4]), request).open_or_create_folder().name)
"""


def measure_study(documents: int, slices: int) -> list[tuple[str, Measured]]:
    """Return what each step of a study of so many documents took."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GENAIPA_")}
    with tempfile.TemporaryDirectory(prefix="genaipa-benchmark-") as made:
        (Path(made) / "genaipa.toml").touch()
        corpus = str(Path(made) / "corpus.jsonl")

        def python(*words: str) -> Measured:
            return measure([sys.executable, *words, made], environment)

        # By a process of its own: the peak of a child's memory begins at that of its parent.
        python("-c", _WRITE, corpus, str(documents))

        def genaipa(*words: str) -> Measured:
            return python("-m", "genaipa", *words, "--workspace")

        ask = ("run", *_PLAN, corpus, "--slices", str(slices), "--on", "local:2", "--name", "many")
        steps = [
            ("begin a slice: read the corpus", python("-c", _BEGIN, corpus, "1", str(slices))),
            ("begin another", python("-c", _BEGIN, corpus, "2", str(slices))),
            ("ask all", genaipa(*ask)),
            ("runs", genaipa("runs")),
            ("run --resume of the finished study", genaipa("run", "--resume", "many")),
        ]
        assert f"{slices} slices complete" in steps[-1][1].out, steps[-1][1].out
        return steps


def main() -> None:
    """Print a table for each number of documents."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load}")
    for documents in map(int, sys.argv[1:] or NUMBERS):
        slices = max(LEAST, -(-documents // EACH))
        steps = measure_study(documents, slices)
        print(f"\n| {documents:,} documents in {slices} slices | command, s | processor, s | MiB |")
        print("| --- | ---: | ---: | ---: |")
        for name, step in steps:
            print(f"| {name} | {step.wall:.2f} | {step.cpu:.2f} | {step.rss:.0f} |", flush=True)


if __name__ == "__main__":
    main()
