"""`genaipa report` and `genaipa leaderboard` as a person meets them."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score

from genaipa.answers import tidy as frame
from genaipa.answers.fact import list_fact_columns
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

ROOT = Path(__file__).parents[2]


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def unscored() -> Path:
    """The working folder as a workspace with a run of two answers that nobody has scored."""
    make_workspace(questions=2)
    folder, _ = carry_out(spec(systems=("extractive",)))
    return folder.path


def test_the_demo_ends_with_a_picture(demo):
    """The demo prints its table and where the page lies, and the page holds figures."""
    folder, printed = demo[0], demo[1].out
    assert re.search(r"^ +2 +careful ", printed, re.MULTILINE)
    report, step, *_ = printed.splitlines()[-1].split("     ")
    assert report == f"Report: {folder.resolve() / 'reports/demo/index.html'}"
    assert step.startswith("Next: genaipa score demo")
    page = (folder / "reports/demo/index.html").read_text()
    assert page.count("<img ") > 2
    assert "careful beats pensive@low (+7.9)" in " ".join(printed.split())
    assert "for other questions about the same documents, p = 0.31)" in page


@pytest.mark.full
def test_two_processes_write_the_same_bytes(demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same runs and scores give the same files, figures and page included, whatever the hashes and settings."""
    folder, _ = demo
    write("matplotlibrc", "lines.linewidth: 15\nfont.size: 14\n")
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    command = ("report", "demo", "--formats", "svg", "-o", "out", "--workspace", str(folder))
    subprocess.run([sys.executable, "-m", "genaipa", *command], check=True, capture_output=True)
    first, second = files(folder / "reports/demo"), files(Path("out"))
    assert {name for name in first if first[name] != second.get(name)} == set()
    assert first.keys() == second.keys()
    assert not [name for name, content in first.items() if str(folder).encode() in content]


def test_a_tidy_table_that_is_there_is_kept(genaipa: Cli, demo):
    """--frame overwrites no file unless --force is given: it is refused before anything is read."""
    mine = write("tidy.csv", "mine")
    refused = genaipa("report", "demo", "--frame", "tidy.csv", "--workspace", demo[0])
    assert (refused.code, mine.read_text()) == (2, "mine")
    assert "tidy.csv already exists" in refused.err
    assert "--force" in refused.err


def test_tables_for_machines_and_the_tidy_table(genaipa: Cli, tmp_path: Path):
    """--json prints every table with null for what is absent; --frame writes the tidy table where it is wanted."""
    folder = tmp_path
    make_workspace(questions=4)
    write("say.yaml", "default: See section 1.\n")
    run, _ = carry_out(spec(systems=("scripted/say.yaml", "extractive")))
    with opened("sqlite:///scores.db") as store:
        store.append_new_events(
            [score("ada", one.digest, GOOD if one.system == "extractive" else POOR) for one in answers(run)]
        )
    options = ("--formats", "svg", "-o", "out", "--frame", "tidy.csv", "--json")
    printed = json.loads(done(genaipa("report", "latest", *options)))
    board = printed["tables"]["leaderboard"]["rows"]
    assert [row["system"] for row in board] == ["extractive", "scripted/say.yaml"]
    assert board[0]["robustness"] is None
    assert printed["folder"] == "out"
    assert set(printed["tables"]) == {path.stem for path in (folder / "out/tables").glob("*.csv")}
    assert {path.suffix for path in (folder / "out/figures").iterdir()} == {".svg", ".csv"}
    with (folder / "tidy.csv").open(encoding="utf-8-sig", newline="") as file:
        # Nothing was annotated, retrieved or thought; no prompt was cut, no point ticked, and no other day asked on.
        unknown = (
            *("annotation", "passages", "thoughts", "first-token", "prompt-cut", "citations", "vendor-citations"),
            *("exclusions", "wave", "points", "authors", "partner", "aids"),
        )
        left_out = list_fact_columns(*unknown)
        assert next(csv.reader(file)) == [
            name for name in frame.column_types_and_meanings(METRICS) if name not in left_out
        ]


def test_leaderboard(genaipa: Cli, demo):
    """All systems of the workspace, as JSON, and as a file; test_words has what is on the terminal."""
    folder, _ = demo
    printed = json.loads(done(genaipa("leaderboard", "--json", "--workspace", folder)))
    assert [row["rank"] for row in printed["rows"]] == [1, 2, 3, 4, 5, 6]
    done(genaipa("leaderboard", "-o", "board.tex", "--workspace", folder))
    assert r"\begin{tabular}" in Path("board.tex").read_text()


def test_an_unscored_run(genaipa: Cli, unscored: Path):
    """Without a score there is a report, in the workspace's own folder, and both commands say what is missing."""
    printed = done(genaipa("report", "latest", "--formats", "svg"))
    assert printed.startswith("2 of 2 answers received, none scored")
    assert len(printed.split()) <= 40
    assert "\n2 answers withheld from the page; see --with-texts.\n" in printed
    assert "withheld" not in done(genaipa("report", "latest", "--formats", "svg", "--with-texts"))
    assert f"{Path.cwd() / 'reports' / unscored.name / 'index.html'}  " in printed.splitlines()[-1]
    board = done(genaipa("leaderboard", "latest")).splitlines()
    assert board[1].startswith("Next: genaipa score latest ")
    assert len(board) == 2


def test_a_report_of_a_system_is_named_after_it(genaipa: Cli, unscored: Path):
    """A system stands for all of its runs, and its name becomes that of the folder; `all` where nothing is named."""
    done(genaipa("report", "extractive", "--formats", "svg"))
    shutil.copytree(unscored, unscored.with_name("another"))
    done(genaipa("report", "--formats", "svg"))
    assert sorted(path.name for path in Path("reports").iterdir()) == ["all", "extractive"]
    both = json.loads(Path("reports/all/manifest.json").read_text())["runs"]
    assert {run["run"] for run in both} == {unscored.name, "another"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("latest", "--green", "0", "--red", "0.5"), "red (0.5) must not be above green (0)"),
        (("latest", "--formats", "pgn"), "There is no format 'pgn': did you mean 'png'?"),
        (("latest", "--frame", "tidy.xlsx"), "'tidy.xlsx' must end in .csv or .parquet"),
        (("latest", "--frame", "genaipa.toml/tidy.csv"), "tidy.csv can't be written"),
        (("latest", "-o", "genaipa.toml"), "genaipa.toml is a file; name a folder for the report."),
        (("extractiv",), "no system or run 'extractiv': did you mean 'extractive'?"),
    ],
)
def test_what_can_not_be_done(genaipa: Cli, unscored: Path, arguments: tuple[str, ...], said: str):
    """What was asked wrongly is one sentence and exit code 2."""
    assert unscored.is_dir()
    finished = genaipa("report", *arguments)
    *before, sentence = finished.err.splitlines()
    assert (finished.code, said in sentence) == (2, True)
    assert before in ([], ["computing tables and figures; this takes a few seconds"])


def test_no_run(genaipa: Cli):
    """A workspace without a run has nothing to report on, and the sentence says how to make one."""
    for command in ("report", "leaderboard"):
        finished = genaipa(command)
        assert finished.code == 2
        assert "there is no run to report on; make one with: genaipa run" in finished.err
