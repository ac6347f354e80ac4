"""`genaipa runs` and `genaipa leaderboard`: which runs are meant, and how to be rid of one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pandas as pd
import pytest
from running import write

from genaipa.cli.terminal.selection import parse_day_or_days_ago_as_iso_day
from genaipa.errors import UsageError
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


def ran(genaipa: Cli, system: str, policy: str, experiment: str, *more: str) -> str:
    """A run of two questions; its name."""
    done = genaipa("run", "-s", system, "-p", policy, "-e", experiment, "--limit", "2", "--new", *more)
    return re.search(r"genaipa show (\S+)", done.out)[1]


def listed(genaipa: Cli, *filters: str) -> list[str]:
    """The runs that are listed."""
    done = genaipa("runs", *filters, "--json")
    assert done.code == 0, done.err
    return [row["run"] for row in json.loads(done.out)]


def test_runs_are_listed_as_asked(genaipa: Cli) -> None:
    """By name, part, system, document, experiment and day; left out by name; one's own before imported ones."""
    first = ran(genaipa, "extractive", "brindlecart", "quality", "--name", "first")
    second = ran(genaipa, "scripted", "brindlecart", "recall", "--name", "second")
    third = ran(genaipa, "extractive", "vpda", "regulation", "--name", "third")
    (Path("runs") / second).rename("runs/published-second")
    Path("runs/published-second/published-scores.csv").touch()
    every = [first, third, "published-second"]
    for filters, wanted in {
        (): every,
        ("list",): every,
        ("first", "latest"): [first, third],
        ("--system", "extractive"): [first, third],
        ("-s", "scripted", "-p", "brindlecart"): ["published-second"],
        ("-p", "vpda"): [third],
        ("-e", "recall,quality"): [first, "published-second"],
        ("--without", "extractive"): ["published-second"],
        ("--without", "published,third"): [first],
        ("--since", "1d"): every,
        ("--since", "2100-01-01"): [],
    }.items():
        assert listed(genaipa, *filters) == wanted, filters
    for wrong, said in {
        ("-s", "extractve"): "did you mean 'extractive'?",
        ("nothing",): "no system or run 'nothing'",
        ("-p", "uber"): "'uber' is not among the documents of these runs",
        ("-e", "summary"): "'summary' is not among the experiments of these runs",
        ("--without", "nothing"): "'nothing' is not among the systems or names of these runs",
    }.items():
        found = genaipa("runs", *wrong)
        assert (found.code, said in found.err) == (2, True), wrong
    assert "1 of 3 runs." in genaipa("runs", first).err


def test_leaving_out_what_is_published_is_no_mistake_where_nothing_is(genaipa: Cli) -> None:
    """`--without published` lists every run of a workspace into which nothing was imported."""
    own = ran(genaipa, "extractive", "brindlecart", "quality")
    assert listed(genaipa, "--without", "published") == [own]


def test_since_is_a_day_or_a_number_of_days() -> None:
    """Anything else is refused in a sentence."""
    assert parse_day_or_days_ago_as_iso_day("2026-01-31") == "2026-01-31"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", parse_day_or_days_ago_as_iso_day("7d"))
    for wrong in ("x", "2026-02-31", "99999d9", "999999d"):
        with pytest.raises(UsageError, match="give a date"):
            parse_day_or_days_ago_as_iso_day(wrong)


def test_a_damaged_run_is_named_and_nothing_else_is_said(genaipa: Cli) -> None:
    """A damaged manifest or a folder without one is a sentence and exit code 1, and never "no runs yet"."""
    Path("runs/20260101-000000-broken").mkdir(parents=True)
    Path("runs/20260101-000000-broken/manifest.json").write_text("{")
    Path("runs/empty").mkdir()
    found = genaipa("runs")
    assert (found.code, found.out) == (1, "")
    assert found.err.count("genaipa: ") == 2
    assert "20260101-000000-broken/manifest.json" in found.err
    assert "runs/empty has no manifest.json, so it is not a run" in found.err


def test_runs_rm_removes_run_folders_only(genaipa: Cli) -> None:
    """It wants --yes where nobody can be asked, removes what is named, nothing outside, and keeps the scores."""
    name = ran(genaipa, "extractive", "brindlecart", "quality")
    other = ran(genaipa, "extractive", "vpda", "regulation")
    Path("scores.db").write_text("scores")
    refused = genaipa("runs", "rm", name)
    assert (refused.code, "--yes" in refused.err, Path("runs", name).is_dir()) == (2, True, True)
    Path("elsewhere/runs").mkdir(parents=True)
    Path("runs", other).rename(f"elsewhere/runs/{other}")
    outside = genaipa("runs", "rm", f"elsewhere/runs/{other}", "--yes")
    assert (outside.code, "only runs of this workspace" in outside.err) == (2, True)
    done = genaipa("runs", "rm", name, "--yes")
    assert done.code == 0
    assert f"{name}: 2 of 2 answers" in done.err
    assert not Path("runs", name).exists()
    assert Path(f"elsewhere/runs/{other}/manifest.json").exists()
    assert Path("scores.db").read_text() == "scores"


def test_a_run_whose_lock_can_not_be_written_is_read_and_removed(genaipa: Cli) -> None:
    """Where the lock can't be opened, no process works on a run: one cut short is listed, and can be removed."""
    folder = Path("runs", ran(genaipa, "extractive", "brindlecart", "quality"))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    (folder / ".lock").unlink(missing_ok=True)
    (folder / ".lock").mkdir()  # A folder in its place can't be opened for writing, by root neither.
    listed = genaipa("runs")
    assert (listed.code, "interrupted" in listed.out) == (0, True), listed.err
    assert genaipa("runs", "rm", folder.name, "--yes").code == 0


def test_files_are_written_into_folders_that_are_made(genaipa: Cli) -> None:
    """-o into a folder that isn't there makes it, whichever the command."""
    ran(genaipa, "extractive", "vpda", "regulation")
    for command, file in {
        ("policies", "stats"): "a/b/stats.csv",
        ("leaderboard",): "c/d/board.csv",
        ("scores", "export"): "e/f/scores.csv",
    }.items():
        done = genaipa(*command, "-o", file)
        assert (done.code, Path(file).is_file()) == (0, True), done.err


@pytest.mark.full
def test_the_leaderboard_counts_what_is_asked_for(genaipa: Cli) -> None:
    """Runs, systems, documents and experiments alone or left out, told above all other notes; near misses as ever."""
    name = ran(genaipa, "extractive,scripted", "brindlecart", "quality")
    export = genaipa("scores", "sheet", name, "-o", "sheet.xlsx", "--analyst", "Ada")
    assert export.code == 0, export.err
    book = openpyxl.load_workbook("sheet.xlsx")
    rows = book.worksheets[0]
    header = next(row for row in rows.iter_rows() if any(cell.value == "relevance" for cell in row))
    places = [cell.column for cell in header if cell.value in METRICS]
    for row in range(header[0].row + 1, rows.max_row + 1):
        for place in places:
            rows.cell(row, place).value = 1
    book.save("sheet.xlsx")
    imported = genaipa("scores", "import", "sheet.xlsx", "--analyst", "Ada")
    assert imported.code == 0, imported.err

    def systems(*filters: str) -> list[str]:
        done = genaipa("leaderboard", "--json", *filters)
        assert done.code == 0, done.err
        board = json.loads(done.out)
        assert any("Filtered by" in told for told in board["notable"]) == bool(filters)
        return sorted(row["system"] for row in board["rows"])

    assert systems() == ["extractive", "scripted"]
    assert systems("--system", "extractive") == ["extractive"]
    assert systems("--without", "extractive") == ["scripted"]
    assert systems(name, "-e", "quality", "-p", "brindlecart") == ["extractive", "scripted"]
    for wrong, said in {
        ("-s", "extractve"): "did you mean 'extractive'?",
        ("extractve",): "no system or run 'extractve': did you mean 'extractive'?",
        ("-e", "recall"): "'recall' is not among the experiments of these runs",
        ("--since", "2100-01-01"): "no answer in these runs matches the filters",
    }.items():
        found = genaipa("leaderboard", *wrong)
        assert (found.code, said in found.err) == (2, True), (wrong, found.err)


def test_the_same_filters_narrow_whatever_reads_answers(genaipa: Cli) -> None:
    """Report, show, sample and judge are about the chosen systems, documents and experiments alone, and say which."""
    write("judge.yaml", "default: '{}'\n")
    ran(genaipa, "extractive,scripted", "brindlecart,vpda", "procedure")
    only = ("--system", "extractive", "--policy", "brindlecart", "-e", "quality")

    shown = genaipa("show", "latest", *only, "--json")
    answers = json.loads(shown.out)["answers"]
    places = [(one["system"], one["coordinates"]) for one in answers]
    assert {(system, at["document"], at["initialization"]) for system, at in places} == {
        ("extractive", "brindlecart", "document")
    }
    assert len(answers) == 2
    rows = json.loads(genaipa("sample", *only, "--json").out)
    assert [(row["system"], row["experiment"], row["answers"]) for row in rows] == [("extractive", "quality", 2)]
    judged = json.loads(genaipa("judge", "latest", "--judge", "scripted/judge.yaml", *only, "--estimate", "--json").out)
    assert sum(row["calls"] for row in judged["rows"]) == 2

    reported = genaipa("report", *only, "--formats", "svg")
    assert "Filtered by: systems extractive; documents brindlecart; experiments quality." in reported.out
    frame = pd.read_csv(next(Path("reports").glob("*/answers.csv")))
    assert set(frame["system"]) == {"extractive"}
    assert set(frame["experiment"]) == {"quality"}
    # A report on a part takes no other report's place.
    assert genaipa("report", "--formats", "svg").code == 0
    assert len(list(Path("reports").iterdir())) == 2

    for command in ("report", "show", "sample", "judge", "judges", "leaderboard", "runs"):
        more = ("latest", "--judge", "scripted/judge.yaml") if command == "judge" else ("latest",)
        wrong = genaipa(command, *more, "--system", "extractve")
        assert (wrong.code, "did you mean 'extractive'?" in wrong.err) == (2, True), (command, wrong.err)
