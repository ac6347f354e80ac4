"""CSV files for people: Excel knows their encoding, everybody else reads them as before."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished


def test_every_csv_file_has_the_mark(genaipa: Callable[..., Finished], demo: tuple[Path, Finished]) -> None:
    """Tables, figures' data, frames, scores, leaderboards and statistics; what is printed goes on without it."""
    at = ("--workspace", str(demo[0]))
    out = Path("out")
    shutil.copytree(demo[0] / "reports" / "demo", out / "report")
    for command in (
        ("scores", "export", "-o", "out/scores.csv"),
        ("leaderboard", "-o", "out/board.csv"),
        ("compare", "careful", "breezy", "-o", "out/cmp"),
        ("policies", "stats", "brindlecart", "-o", "out/stats.csv"),
    ):
        done = genaipa(*command, *at)
        assert done.code == 0, (command, done.err)
    files = sorted(out.rglob("*.csv"))
    assert {"leaderboard.csv", "scores.csv", "board.csv", "comparison.csv", "stats.csv"} <= {
        file.name for file in files
    }
    assert any(f.parent.name == "figures" for f in files)
    for file in files:
        raw = file.read_bytes()
        assert (raw[:3], raw.count(b"\xef\xbb\xbf")) == (b"\xef\xbb\xbf", 1), file
        with file.open(encoding="utf-8-sig", newline="") as text:
            assert next(csv.reader(text)) == list(pd.read_csv(file).columns), file
    assert not genaipa("scores", "export", *at).out.startswith("\ufeff")
    assert "230 scores read, 0 new." in genaipa("scores", "import", str(out / "scores.csv"), *at).out
