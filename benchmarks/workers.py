"""Throughput of one process, of worker processes and of actors on a Ray cluster of this machine, on the same questions.

    python -m benchmarks.workers [--quick] [--latency 0.05] [--connections 16] [--repetitions 12]

Twenty documents of 8,000 words in ten shards; 25,600 of W2's independent questions about them, and as many in shared
conversations as W3's, over 64 connections in all. The server answers after a millisecond, so that the asking side is
the limit; it takes its own part of the processors. The ideal is every connection waiting for the server all the time.
Ways alternate, and the median of three rounds is shown (of one with --quick). Where Ray is not installed, its rows are
left out.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.measure import measure, serving
from benchmarks.workload import SYSTEM, document_text
from genaipa.runs.folder import RunFolder

SERVER = (sys.executable, "-m", "benchmarks.mock_server", "--latency")
DOCUMENTS = tuple(f"shop-{number:02}" for number in range(20))
WORKERS = 2
EACH = "2"
"""Documents of a shard: 2,560 questions. Fewer and larger ones leave a worker idle while another ends."""
WAYS = {
    "one process": (),
    "one process, shards": ("--shard", EACH),
    f"{WORKERS} processes": ("--shard", EACH, "--on", f"processes:{WORKERS}"),
    f"{WORKERS} actors of Ray": ("--shard", EACH, "--on", f"ray:{WORKERS}"),
}


def lay_workspace(folder: Path, words: int) -> None:
    """Write the documents."""
    (folder / "policies").mkdir()
    (folder / "genaipa.toml").touch()
    for number, name in enumerate(DOCUMENTS):
        (folder / "policies" / f"{name}.md").write_text(document_text(number, words), encoding="utf-8")


def ask(folder: Path, environment: dict[str, str], plan: Sequence[str], way: str) -> tuple[int, float, float, float]:
    """Ask once: questions, seconds from the first question to the last answer, of the command, of processor."""
    more = ("--name", "measured", "--new", "--workspace", str(folder))
    process = measure([sys.executable, "-m", "genaipa", "run", *plan, *WAYS[way], *more], environment)
    run = max((folder / "runs").glob("*/"), key=lambda path: path.stat().st_mtime)
    # Sealed shards have no lines in a file: the run knows where its answers are.
    records = [json.loads(line) for _, line in RunFolder(run).lines()]
    begun = [dt.datetime.fromisoformat(record["started"]).timestamp() for record in records]
    times = [*begun, *(since + record["seconds"] for since, record in zip(begun, records, strict=True))]
    return len(records), max(times) - min(times), process.wall, process.cpu


def main() -> None:
    """Measure all ways, and print a table for each kind of conversation."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--latency", type=float, default=0.001, help="seconds until the server answers")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=40, help="of each document's 32 questions")
    parser.add_argument("--tiny", action="store_true", help="a few questions, to see that it works")
    wanted = parser.parse_args()
    ways = [way for way in WAYS if "Ray" not in way or find_spec("ray")]
    repetitions, words = (1, 300) if wanted.tiny else (wanted.repetitions, 8000)
    rounds = 1 if wanted.quick or wanted.tiny else 3
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {rounds} round(s)")
    server = (*SERVER, str(wanted.latency))
    with tempfile.TemporaryDirectory(prefix="genaipa-benchmark-") as place, serving(server) as url:
        folder = Path(place)
        lay_workspace(folder, words)
        environment = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
        environment |= {"MOCK_BASE_URL": url, "MOCK_API_KEY": "none"}
        for name, conversation in (("W2", "independent"), ("W3", "shared")):
            plan = ("-s", SYSTEM, "-p", ",".join(DOCUMENTS), "-i", "document", "--conversation", conversation)
            plan += ("-j", str(wanted.connections))
            plan += ("--repetitions", str(repetitions), *(("--limit", "2") if wanted.tiny else ()))
            found: dict[str, list[tuple[int, float, float, float]]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way in ways:
                    found[way].append(ask(folder, environment, plan, way))
            print_rows(name, found, wanted.latency / wanted.connections)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


def print_rows(name: str, found: dict[str, list[tuple[int, float, float, float]]], each: float) -> None:
    """Print the medians of each way, and its throughput against the first one's; `each` is a question's ideal time."""
    heads = ("questions", "asking, s", "a second", "ratio", "x ideal", "command, s", "processor, s", "ms a question")
    print(f"\n| {name} | {' | '.join(heads)} |\n| --- |{' ---: |' * len(heads)}")
    first = 0.0
    for way, rows in found.items():
        questions = rows[0][0]
        asking, wall, cpu = (median(row[place] for row in rows) for place in (1, 2, 3))
        pace = questions / asking
        first = first or pace
        ideal = asking / (each * questions)
        figures = f"{asking:.2f} | {pace:,.0f} | {pace / first:.2f} | {ideal:.2f} | {wall:.2f} | {cpu:.2f}"
        figures += f" | {1000 * cpu / questions:.2f}"
        print(f"| {way} | {questions:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
