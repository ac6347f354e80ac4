"""Measure answers on their way into other programs' files and back into an empty workspace.

    python -m benchmarks.exchange [--quick]

The run has 100,000 answers about five documents of 1,000 words, each scored by one analyst (1,600 with --quick). A form
whose package is not here is left out; what comes back is held against what went out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.__main__ import print_table
from benchmarks.measure import Measured, measure
from benchmarks.workload import make_workspace

WORDS = 1000


def python(*arguments: object):
    """Return a Python process, without the caller's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GENAIPA_")}
    return measure([sys.executable, *map(str, arguments)], kept)


def genaipa(here: Path, *arguments: object):
    """Return a command of genaipa in a workspace."""
    return python("-m", "genaipa", *arguments, "--workspace", here)


def main() -> None:
    """Print what each form takes, out and back."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    repetitions = 10 if parser.parse_args().quick else 625
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder, "here")
        make_workspace(here, WORDS)
        made = python("-m", "benchmarks.finished_run", here, "--repetitions", repetitions).out.strip()
        scores = int(python("-m", "benchmarks.scored_run", here, made, "--analysts", 1).out)
        files = Path(folder, "huggingface")  # doesn't come back
        figures = genaipa(here, "export", "huggingface", made, "-o", files, "--with-texts")
        rows.append((f"huggingface, {scores:,} answers, out", *_shown(figures, files), ""))
        for form, package in (("inspect", "inspect_ai"), ("label-studio", "")):
            if package and find_spec(package) is None:
                print(f"{form}: left out, it needs {package}")
                continue
            files = Path(folder, form)
            out = genaipa(here, "export", form, made, "-o", files, "--with-texts")
            empty = Path(folder, f"empty-{form}")
            make_workspace(empty, WORDS)
            if form == "label-studio":  # it brings scores alone
                shutil.copytree(here / "runs", empty / "runs")
            back = genaipa(empty, "import", form, files if form == "inspect" else files / "tasks.json")
            assert f"{scores:,} scores read, {scores:,} new" in back.out, back.out
            again = python("-c", _SAME, here, empty)
            for way, figures in (("out", out), ("back", back)):
                rows.append((f"{form}, {scores:,} answers, {way}", *_shown(figures, files), again.out.strip()))
    print_table(("form", "command, s", "processor, s", "MiB", "files, MiB", "scores that are not the same"), rows)


def _shown(figures: Measured, files: Path) -> tuple[str, ...]:
    size = sum(path.stat().st_size for path in files.rglob("*") if path.is_file()) / 2**20
    return f"{figures.wall:.1f}", f"{figures.cpu:.1f}", f"{figures.rss:.0f}", f"{size:.0f}"


_SAME = """
import sys
from genaipa.scoring.store import ScoreStore
def events(home):
    return {event.id: event for _, event in ScoreStore.open_or_create(f"sqlite:///{home}/scores.db").read_numbered_events()}
here, there = map(events, sys.argv[1:])
print(sum(there.get(name) != event for name, event in here.items()) + len(there.keys() - here.keys()))
"""


if __name__ == "__main__":
    main()
