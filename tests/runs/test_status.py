"""A run has one status, whoever tells it: the commands, the desk, Python and a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from pages import Shown, desk_here
from running import carry_out, make_workspace, spec

import genaipa as front
from genaipa.reports import provenance
from genaipa.runs.batches import BATCHES, BatchEvent
from genaipa.runs.selection import find_run
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


def killed(folder: Path) -> None:
    """Leave the manifest as a process leaves it that is killed."""
    for name in ("manifest.json", ".manifest.json"):
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8").replace('"complete"', '"running"', 1), encoding="utf-8")


def killed_with_a_batch_out(folder: Path) -> None:
    """The same, while a provider works on a batch."""
    event = BatchEvent(step="intended", mark="m", at=1.0, lines=("one",))
    (folder / BATCHES).write_bytes(msgspec.json.encode(event) + b"\n")
    killed(folder)


def answers_gone(folder: Path) -> None:
    """Lose the last answer of a complete run."""
    path = folder / "answers.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("harm", "status"),
    [
        (lambda _folder: None, "complete"),
        (killed, "interrupted"),
        (killed_with_a_batch_out, "waiting"),
        (answers_gone, "partial"),
    ],
)
def test_a_run_has_one_status(harm: Callable[[Path], None], status: str, genaipa: Cli) -> None:
    """`runs`, `show`, the desk's Overview, Python and the report's list of runs say the same word."""
    make_workspace()
    carry_out(spec(systems=("extractive",)))
    folder = find_run(find_workspace(), "latest")
    harm(folder.path)
    (listed,) = json.loads(genaipa("runs", "--json").out)
    shown = genaipa("show", "latest")
    (row,) = Shown("overview", desk_here()).rows("overview runs")
    told = {
        "runs": listed["status"],
        "show": shown.out.partition(": ")[2].partition(",")[0],
        "show --json": json.loads(genaipa("show", "latest", "--json").out)["manifest"]["status"],
        "overview": row[1],
        "Python": front.load_run("latest").status,
        "report": provenance.tabulate_runs(front.report("latest").study).data["status"].item(),
    }
    assert told == dict.fromkeys(told, status)
