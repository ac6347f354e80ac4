"""Drift: how often chance is taken for a change, how often a loss is found, and how long many occasions take.

    python -m benchmarks.drift [--quick]

The series are 32 questions about five documents, scored with a standard deviation of 8 points of asking again, over
twelve looks a year. Times are of the tests and the figure alone (24 occasions, five systems, 160 answers each), and of
the command over runs on disk of one of the systems.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.__main__ import print_table
from benchmarks.finished_run import write_run
from benchmarks.measure import Measured, measure
from benchmarks.workload import SYSTEM, Workload, make_workspace
from genaipa.reports.chapters.over_time import changes, loss, over_time_figure
from genaipa.runs.selection import Occasion

QUESTIONS, DOCUMENTS = 32, 5
AGAIN = 8.0
"""Standard deviation, in points of M_all, of asking the same again."""
_LOOKS = 12


def series(
    seed: int, looks: int, lost: float = 0.0, systems: int = 1
) -> tuple[pd.DataFrame, dict[str, list[Occasion]]]:
    """The answers of scripted systems on 1 + `looks` days, scored; on the last day `lost` points worse."""
    random = np.random.default_rng(seed)
    cells = [(f"q{q}", f"d{d}") for q in range(QUESTIONS) for d in range(DOCUMENTS)]
    level = random.normal(65, 12, len(cells))
    frames, days = [], [f"2026-{1 + look // 28:02}-{1 + look % 28:02}" for look in range(looks + 1)]
    for system in range(systems):
        for look, day in enumerate(days):
            points = level + random.normal(0, AGAIN, len(cells)) - (lost if look == looks else 0)
            frames.append(
                pd.DataFrame(cells, columns=["question", "document"]).assign(
                    run=f"run {day}",
                    system=f"s{system}",
                    key=[f"s{system}|{d}|{q}" for q, d in cells],
                    m_all=points / 10,
                    answer=[f"{look}-{n}" for n in range(len(cells))],
                )
            )
    constant = dict.fromkeys(("status", "claims_silence", "cites_there", "tokens_out", "cost"), np.nan)
    same = ("unit", "scorer", "analyst", "wording", "initialization", "experiment", "prompts", "model")
    known = dict(zip(same, ("answer", "human", "ada", "original", "document", "quality", "neutral", "m"), strict=True))
    found = {f"s{system}": [Occasion(day, (f"run {day}",)) for day in days] for system in range(systems)}
    return pd.concat(frames, ignore_index=True).assign(**constant, **known, counted=True), found


def alarms(years: int) -> int:
    """In how many years of an unchanged system any look seems a change."""
    meanings = (set(changes(*series(seed, _LOOKS)).data["meaning"]) for seed in range(years))
    return sum(not {"higher", "lower"}.isdisjoint(found) for found in meanings)


def finds(years: int, lost: float) -> int:
    """In how many years the last look finds a loss."""
    return sum(loss(changes(*series(seed, _LOOKS, lost))).points > 0 for seed in range(years))


def on_disk(workspace: Path, occasions: int) -> Measured:
    """`genaipa drift` of a system that was asked 160 questions on each of so many days."""
    make_workspace(workspace, words=2000)
    for number in range(occasions):
        day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}"
        name = asyncio.run(write_run(workspace, Workload("independent", 1, 64), 0))
        folder = (workspace / "runs" / name).rename(workspace / "runs" / f"{day}-{name}")
        for path in folder.glob("manifest*.json"):
            facts = json.loads(path.read_text())
            path.write_text(json.dumps({**facts, "name": folder.name, "created": f"{day}T10:00:00Z"}))
    command = (sys.executable, "-m", "genaipa", "drift", SYSTEM, "--workspace", str(workspace))
    return measure(command, {**os.environ, "PYTHONDONTWRITEBYTECODE": ""})


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fifty years, and three occasions")
    quick = parser.parse_args().quick
    years, some, occasions = (50, 50, 3) if quick else (1000, 200, 24)
    with tempfile.TemporaryDirectory() as folder:
        command = on_disk(Path(folder), occasions)
    tested = series(1, occasions - 1, systems=5)
    begun = time.process_time()
    figure = over_time_figure(changes(*tested))
    assert figure is not None
    figure.plot()
    alone = time.process_time() - begun
    rows = [
        (f"years with a false alarm, of {years:,}", f"{alarms(years) / years:.1%}"),
        *((f"losses of {lost} points found, of {some}", f"{finds(some, lost) / some:.1%}") for lost in (3, 5)),
        (f"tests and figure, {occasions} occasions x 5 systems x 160 answers, CPU s", f"{alone:.1f}"),
        (f"genaipa drift, {occasions} occasions x 160 answers, CPU s", f"{command.cpu:.1f}"),
        ("genaipa drift, memory, MiB", f"{command.rss:,.0f}"),
    ]
    print_table(("drift", "figure"), rows)


if __name__ == "__main__":
    main()
