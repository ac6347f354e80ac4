"""`genaipa scores`: who has scored what, out of the store and into it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest
from running import carry_out, make_workspace, spec

from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

VALUES = (1, 1, 0.5, 0.5, -1)


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


@pytest.fixture
def run() -> Path:
    """A run with three answers in the working folder."""
    make_workspace(questions=3)
    folder, _ = carry_out(spec(systems=("extractive",)))
    return folder.path


def records(run: Path) -> list[dict]:
    """The answers of a run."""
    return [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]


def fill(path: Path, *rows: int, values: tuple[float, ...] = VALUES, note: str = "") -> None:
    """Write values into rows of a sheet, as an analyst does."""
    workbook = openpyxl.load_workbook(path)
    sheet = workbook["scores"]
    names = [cell.value for cell in sheet[1]]
    for row in rows:
        for name, value in zip((*METRICS, "note"), (*values, note), strict=True):
            sheet.cell(row, names.index(name) + 1, value)
    workbook.save(path)


def test_a_sheet_goes_out_and_comes_back(genaipa: Cli, run: Path) -> None:
    """An analyst's round: sheet, fill, import, list, export; a second import adds nothing."""
    assert "3 answers to score" in done(genaipa("scores", "sheet", "latest", "-o", "ann.xlsx", "--analyst", "Ann"))
    fill(Path("ann.xlsx"), 2, 4, note="+1 for this")
    for new in (2, 0):
        told = done(genaipa("scores", "import", "ann.xlsx"))
        assert re.findall(r"\d+", told) == ["2", f"{new}", "1"]
        assert ("genaipa report latest" in told) is bool(new)
    rows = list(csv.DictReader(io.StringIO(done(genaipa("scores", "export")), newline="")))
    by_digest = {record["digest"]: record for record in records(run)}
    assert len(rows) == 2
    for row in rows:
        record = by_digest[row["digest"]]
        assert [row[metric] for metric in METRICS] == ["1", "1", "0.5", "0.5", "-1"]
        assert (row["analyst"], row["note"], row["m_all"]) == ("Ann", "'+1 for this", "73.0")
        assert (row["run"], row["system"]) == (run.name, "extractive")
        assert row["question"] == record["coordinates"]["question"]


def test_scores_lists_analysts(genaipa: Cli, run: Path) -> None:
    """Each analyst with scores and adjudications, and how many answers are scored and shared; as JSON too."""
    nothing = done(genaipa("scores"))
    assert str(Path.cwd()) in nothing
    assert nothing.endswith("genaipa score\n")
    assert not Path("scores.db").exists()
    one, two, _ = (record["digest"] for record in records(run))
    head = ["digest", "analyst", *METRICS, "seconds", "kind"]
    lines = [
        (one, "Ann", *VALUES, 10, "score"),
        (two, "Ann", *VALUES, 20, "score"),
        (one, "Bo", *VALUES, "", "score"),
        (one, "Cy", *VALUES, "", "adjudication"),
    ]
    Path("s.csv").write_text("\n".join(",".join(map(str, line)) for line in [head, *lines]))
    assert done(genaipa("scores", "import", "s.csv")).startswith("4 scores read, 4 new")
    out = done(genaipa("scores"))
    ann, bo, cy = (line.split()[:5] for line in out.splitlines() if " human " in line)
    assert (ann, bo[:4], cy[:4]) == (
        ["Ann", "human", "2", "0", "15"],
        ["Bo", "human", "1", "0"],
        ["Cy", "human", "0", "1"],
    )
    assert re.findall(r"\d+", out.splitlines()[-1]) == ["2", "1", "1"]
    listed = json.loads(done(genaipa("scores", "--json")))
    assert listed["answers"] == {"scored": 2, "shared": 1, "adjudicated": 1}
    assert [(row["analyst"], row["scores"], row["seconds"]) for row in listed["analysts"]] == [
        ("Ann", 2, 15.0),
        ("Bo", 1, None),
        ("Cy", 0, None),
    ]
    # Whoever is left out is listed with the reason, and counts nowhere.
    Path("desk.yaml").write_text('left_out: {bo: "took notes for answers"}')
    out = done(genaipa("scores"))
    assert [line.split()[0] for line in out.splitlines() if "took notes for answers" in line] == ["Bo"]
    assert re.findall(r"\d+", out.splitlines()[-1]) == ["2", "0", "1"]


def test_the_log_moves_to_another_workspace_unchanged(genaipa: Cli, run: Path) -> None:
    """Exported, imported where the runs are not, exported again: the same bytes; --standing leaves history out."""
    digests = [record["digest"] for record in records(run)]
    for name, first in {"a.csv": "1,1,0.5,1,1", "b.csv": "1,1,1,1,1"}.items():
        rows = [f"digest,{','.join(METRICS)},analyst", f"{digests[0]},{first},Ann", f"{digests[1]},1,1,0.5,1,1,Ann"]
        Path(name).write_text("\n".join(rows))
    done(genaipa("scores", "import", "a.csv", "b.csv"))
    assert done(genaipa("scores", "export", "-o", "all.jsonl")).startswith("all.jsonl: 3 ")
    Path("elsewhere").mkdir()
    refused = genaipa("scores", "import", "all.jsonl", "-w", "elsewhere")
    assert refused.code == 2
    assert refused.err.count("--unknown-answers imports it") == 3
    assert "3 problems" in refused.err.splitlines()[-1]
    done(genaipa("scores", "-w", "elsewhere", "import", "all.jsonl", "--unknown-answers"))
    done(genaipa("scores", "export", "-w", "elsewhere", "-o", "again.jsonl"))
    assert Path("again.jsonl").read_bytes() == Path("all.jsonl").read_bytes()
    done(genaipa("scores", "export", "-o", "standing.jsonl", "--standing"))
    assert [json.loads(line)["values"]["clarity"] for line in Path("standing.jsonl").read_text().splitlines()] == [
        0.5,
        1.0,
    ]


def test_scores_of_machines_are_left_out_unless_asked_for(genaipa: Cli, run: Path) -> None:
    """They are labelled in the list, don't count as people's, and are in a table only with --machines."""
    digest = records(run)[0]["digest"]
    line = f"{digest},judge," + ",".join(map(str, VALUES)) + ",machine\n"
    Path("m.csv").write_text(f"digest,analyst,{','.join(METRICS)},scorer\n{line}")
    done(genaipa("scores", "import", "m.csv"))
    assert len(done(genaipa("scores", "export")).splitlines()) == 1
    assert "judge" in done(genaipa("scores", "export", "--machines"))
    listed = json.loads(done(genaipa("scores", "--json")))
    assert [(row["analyst"], row["scorer"], row["scores"]) for row in listed["analysts"]] == [("judge", "machine", 1)]
    assert listed["answers"]["scored"] == 0


def test_per_run_is_one_row_for_each_place(genaipa: Cli, run: Path) -> None:
    """An answer that a second run gave alike is one row that names both runs, or with --per-run one for each."""
    again, _ = carry_out(spec(systems=("extractive",), part_tokens=80))
    digest = records(run)[0]["digest"]
    Path("s.csv").write_text(f"digest,analyst,{','.join(METRICS)}\n{digest},Ann,{','.join(map(str, VALUES))}\n")
    done(genaipa("scores", "import", "s.csv"))

    def runs(*flags: str) -> list[str]:
        return [
            row["run"] for row in csv.DictReader(io.StringIO(done(genaipa("scores", "export", *flags)), newline=""))
        ]

    assert runs() == [f"{run.name}; {again.name}"]
    assert runs("--per-run") == [run.name, again.name]
    assert done(genaipa("scores", "export", "--per-run", "-o", "s.xlsx")).startswith("s.xlsx: 1 ")


def test_problems_are_told_and_nothing_is_taken(genaipa: Cli, run: Path) -> None:
    """Exit code 2 with every problem on its line; with --json they are in the JSON."""
    done(genaipa("scores", "sheet", "latest", "-o", "s.xlsx"))
    fill(Path("s.xlsx"), 2)
    fill(Path("s.xlsx"), 3, values=(1, 1, 1, 1, 7))
    refused = genaipa("scores", "import", "s.xlsx")
    assert (refused.code, refused.out) == (2, "")
    value, nobody, number = refused.err.splitlines()
    assert value.startswith("s.xlsx: row 3, reference: '7'")
    assert re.match(r"s\.xlsx: analyst: .* row 2, 3; .* --analyst NAME", nobody)
    assert "2 problems" in number
    as_json = genaipa("scores", "import", "s.xlsx", "--analyst", "Ann", "--json")
    assert as_json.code == 2
    assert json.loads(as_json.out)["problems"] == [value]
    assert "No scores" in done(genaipa("scores"))


def test_a_sheet_never_takes_the_place_of_one_that_may_be_filled(genaipa: Cli, run: Path) -> None:
    """A file that is there is left alone, unless it is to be overwritten; anything wrong is one sentence."""
    done(genaipa("scores", "sheet", "latest", "-o", "s.xlsx"))
    before = Path("s.xlsx").read_bytes()
    Path("empty.jsonl").touch()
    for arguments, sentence in {
        ("sheet", "latest", "-o", "s.xlsx"): "s.xlsx already exists; choose another file, or add --force",
        ("sheet", "latest", "-o", "s.csv"): "s.csv: a sheet is written as .xlsx",
        ("sheet", "lates", "-o", "t.xlsx"): "no system or run 'lates'",
        ("export", "-o", "s.ods"): "s.ods: scores can be written only as .csv, .jsonl, .xlsx",
        ("export", "-o", "s.xlsx"): "s.xlsx already exists; choose another file, or add --force",
        ("export", "-o", "s.xlsx/s.csv"): "s.xlsx/s.csv can't be written",
        ("import", "empty.jsonl"): "empty.jsonl: is empty.",
        ("import", "s.ods"): "s.ods: scores can be read only from",
    }.items():
        refused = genaipa("scores", *arguments)
        assert refused.code == 2
        assert refused.err.startswith(f"genaipa: {sentence}")
    assert Path("s.xlsx").read_bytes() == before
    done(genaipa("scores", "export", "-o", "s.xlsx", "--force"))
    done(genaipa("scores", "export", "-o", "new/folder/s.csv"))
    assert not list(Path().glob("**/.*.tmp"))


def test_an_export_that_fails_leaves_the_one_before(genaipa: Cli, run: Path) -> None:
    """A file is replaced when the new one is whole, never half-way."""
    digest = records(run)[0]["digest"]
    head, line = f"digest,analyst,note,{','.join(METRICS)}", ",".join(map(str, VALUES))
    Path("s.csv").write_text(f"{head}\n{digest},Ann,{'n' * 40_000},{line}\n")
    done(genaipa("scores", "import", "s.csv"))
    Path("old.xlsx").write_text("what was there")
    refused = genaipa("scores", "export", "-o", "old.xlsx", "--force")
    assert refused.code == 2
    assert "holds at most 32,767 characters" in refused.err
    assert Path("old.xlsx").read_text() == "what was there"
    assert not list(Path().glob(".*.tmp"))
