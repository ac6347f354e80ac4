"""What a new chapter of a report costs: one file in `reports/chapters` and one line in its table."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from framing import QUESTIONS, answer_rows, score_rows, study_of, tidy_of

from genaipa.reports.chapters import OWN
from genaipa.reports.report import Report

CHECKOUT = Path(__file__).parents[2]
CHAPTER = '''"""How many answers there are."""

from genaipa.reports.chapters.chapter import Chapter
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import table


def numbers(frame):
    """How many answers each system gave."""
    data = frame.groupby("system", observed=True).size().rename("answers").reset_index()
    return table("numbers", "How many answers there are", "Answers.", data, ("system", "answers"))


def _draw(data):
    canvas = style.canvas(style.COLUMN, 2)
    canvas.subplots().barh(data["system"], data["answers"])
    return canvas


def chapter(gathered, scope):
    """The numbers of answers."""
    found = numbers(gathered.table)
    figure = Figure("numbers", "How many answers there are", "Answers by system.", found, lambda: _draw(found.data))
    words = "More answers are surer."
    return Chapter("numbers", "Numbers", words, [found], [figure], method="What counts is the <em>last</em> answer.")
'''


@pytest.mark.full
def test_a_chapter_is_one_file_and_one_line(genaipa) -> None:
    """In a copy of the package: on the page, in the contents, in the files, in the manifest, and in the method."""
    Path("genaipa.toml").touch()
    assert genaipa("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "2").code == 0
    # With the bytecode, which holds for the files that the copy leaves as they are.
    shutil.copytree(CHECKOUT / "genaipa", "genaipa", ignore=shutil.ignore_patterns("_data"))
    for data in ("prompts", "questions", "policies", "annotations", "rubrics"):
        Path(data).symlink_to(CHECKOUT / data)
    table = Path("genaipa/reports/chapters/__init__.py")
    before = table.read_text()
    Path("genaipa/reports/chapters/numbers.py").write_text(CHAPTER)
    table.write_text(
        before.replace('    "audit": "answers",\n', '    "audit": "answers",\n    "numbers": "answers",\n')
    )
    assert len(table.read_text().splitlines()) == len(before.splitlines()) + 1
    command = [sys.executable, "-m", "genaipa", "report", "-o", "out", "--formats", "svg"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    page = Path("out/index.html").read_text()
    for part in (
        '<li><a href="#numbers">Numbers</a></li>',
        '<section id="numbers">',
        "More answers are surer.",
        '<figure id="figure-numbers">',
        "What counts is the <em>last</em> answer.",
    ):
        assert part in page
    assert Path("out/tables/numbers.csv").read_text(encoding="utf-8-sig") == "system,answers\nextractive,2\n"
    files = json.loads(Path("out/manifest.json").read_text())["files"]
    assert {f"tables/numbers.{form}" for form in ("csv", "html", "tex", "txt")} <= files.keys()
    assert {f"figures/numbers.{form}" for form in ("csv", "svg")} <= files.keys()


def test_chapters_have_a_file_each_and_their_parts_names_of_their_own() -> None:
    """Every file of the folder is in the table, and no two chapters write a file of the same name."""
    folder = CHECKOUT / "genaipa" / "reports" / "chapters"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "chapter"} == set(OWN)
    rows = answer_rows(systems=("a/one", "b/two"), experiments=("quality", "robustness"), questions=QUESTIONS[:12])
    made = Report.of(study_of(tidy_of(rows, score_rows(rows))))
    tables = [table.name for chapter in made.chapters for table in chapter.tables]
    assert len(made.tables) == len(tables) > 10
    assert len(made.figures) == len([figure for chapter in made.chapters for figure in chapter.figures]) > 5
