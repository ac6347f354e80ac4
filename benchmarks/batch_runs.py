"""Hand in 100,000 short questions as batches, and collect them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.measure import measure, serving
from benchmarks.workload import DOCUMENTS, Workload


def by_batches(bench) -> tuple[Sequence[str], list[Sequence[object]]]:
    """Head and rows of the table: a process that hands in and leaves, and one that collects."""
    with serving([sys.executable, "-m", "benchmarks.batch_server"]) as url:
        place = type(bench)(bench.workspace, url, bench.scale)
        workload = Workload("independent", bench.scale.finished, 1, None, bench.scale.limit)
        place.prepare(replace(workload, repetitions=1))
        options = ["--system", "openai/gpt-4o", "--policy", ",".join(DOCUMENTS), "--initialization", "company-name"]
        options += ["--conversation", "independent", "--repetitions", str(workload.repetitions)]
        options += ["--limit", str(workload.limit), "--batch", "--no-wait", "--new"]
        options += ["--workspace", str(place.workspace)]
        left = measure([sys.executable, "-m", "genaipa", "run", *options], place.environment, code=3)
        collected = place.genaipa("run", "--resume", "latest")
    rows = [
        (name, f"{workload.requests:,}", f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.rss:.0f}")
        for name, one in (("handed in", left), ("collected", collected))
    ]
    return ("batches", "questions", "command, s", "processor, s", "MiB"), rows
