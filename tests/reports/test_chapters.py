"""Chapters of a report: a package brings one with a fact, what can't be made is told, and each has its own names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from framing import QUESTIONS, answer_rows, score_rows, study_of, tidy_of
from running import carry_out, make_workspace, spec, write

import genaipa
from genaipa.reports.chapters import OWN, make_chapters
from genaipa.reports.notable import notable_sentences
from genaipa.reports.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.answers.study import Study

ASIDES = """
from genaipa.answers.fact import Column, Fact
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker
from genaipa.reports.table import make_table

class Asides(Fact):
    name, columns = "asides", {"asides": Column("float64", "brackets in the reply")}
    texts = frozenset({"reply"})

    def read_row_of_answer(self, run, record):
        return {"asides": record.reply.count("(")}

class AsidesChapter(ChapterMaker):
    needs, after = frozenset({"asides"}), "outcomes"

    def make(self, study, scope):
        means = study.rows_once_per_answer().groupby("system", observed=True)["asides"].mean().reset_index()
        means = make_table("asides", "Asides", "Means.", means, ("system", "asides"))
        return Chapter("asides", "Asides", "How often answers digress.", [means])
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a package with a file of its name and entry points, as a package installer lays one out."""

    def install(name: str, code: str, **points: str) -> None:
        folder = tmp_path / "packages" / f"{name}-1.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        groups = (f"[genaipa.{group}]\n{lines}\n" for group, lines in points.items())
        (folder / "entry_points.txt").write_text("".join(groups))
        (folder.parent / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(folder.parent)

    return install


def test_a_package_brings_a_column_and_a_chapter(install: Callable[..., None]) -> None:
    """Seventeen lines: on the page where it belongs, in its contents, in the tables and in the frame of answers."""
    assert len([line for line in ASIDES.splitlines() if line]) <= 17
    install("asides", ASIDES, facts="asides = asides:Asides", chapters="asides = asides:AsidesChapter")
    make_workspace()
    write("policies/acme.yaml", "company: ACME\nlicense: CC0\n")
    write("say.yaml", "default: Yes (mostly, see section 1).\n")
    carry_out(spec(systems=("scripted/say.yaml",)))

    made = genaipa.report(folder="out")
    assert [chapter.name for chapter in made.chapters][:2] == ["asked", "asides"]
    assert not made.problems
    page = Path("out/index.html").read_text()
    assert '<li><a href="#asides">Asides</a></li>' in page
    assert "How often answers digress." in page
    assert Path("out/tables/asides.csv").read_text(encoding="utf-8-sig") == "system,asides\nscripted/say.yaml,1\n"
    assert genaipa.load_answers()["asides"].tolist() == [1.0] * 4


TORN = """
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker


def __getattr__(name):
    raise AttributeError(f"no {name}")


class Plain:
    pass


class Torn(ChapterMaker):
    def make(self, study, scope):
        return 1 / 0

    def notable(self, study):
        yield "This is so."
        raise KeyError("that")


class Twin(ChapterMaker):
    def make(self, study, scope):
        return Chapter("overall", "Twin", "The same name.", absent=["Nothing."])


class Needy(ChapterMaker):
    needs = frozenset({"gone"})
    make = notable = None


class Last(ChapterMaker):
    after = "nowhere"

    def make(self, study, scope):
        return Chapter("last", "Last", "At the end.", absent=["Nothing."])


class Behind(Last):
    after = "last"

    def make(self, study, scope):
        return Chapter("behind", "Behind", "At the end.", absent=["Nothing."])
"""


def study() -> Study:
    """Make a study with scores."""
    rows = answer_rows(systems=("a/one", "b/two"), experiments=("quality", "robustness"), questions=QUESTIONS[:12])
    return study_of(tidy_of(rows, score_rows(rows)))


def test_a_chapter_that_cant_be_made_is_a_sentence(install: Callable[..., None]) -> None:
    """A package that fails on import or while it makes, or takes a name, ends no report; the core's chapters stay."""
    whole = [chapter.name for chapter in make_chapters(study(), study().rubric.bands).chapters]
    names = ("Torn", "Twin", "Needy", "Last", "Behind")
    points = "\n".join(f"{name.lower()} = torn:{name}" for name in names)
    install("torn", TORN, chapters=f"{points}\ngone = torn:Gone\nplain = torn:Plain")
    made = Report.build(study())
    assert [chapter.name for chapter in made.chapters] == [*whole, "behind", "last"]
    assert [sentence for sentence in made.problems if sentence.startswith("The chapter")] == [
        "The chapter gone is left out: torn:Gone can't be loaded (AttributeError: no Gone).",
        "The chapter plain is left out: torn:Plain can't be loaded (TypeError: it is not a chapter).",
        "The chapter torn is left out: it can't be instantiated (ZeroDivisionError: division by zero).",
        "The chapter twin is left out because other chapters, tables or figures already have its names: overall.",
    ]
    assert "The notes of the chapter torn can't be made (KeyError: 'that')." in notable_sentences(study())


def test_chapters_have_a_file_each_and_their_parts_names_of_their_own() -> None:
    """Every file of the folder is in the table, and no two chapters write a file of the same name."""
    folder = Path(genaipa.__file__).parent / "reports" / "chapters"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "chapter"} == set(OWN)
    made = Report.build(study())
    tables = [table.name for chapter in made.chapters for table in chapter.tables]
    assert len(made.tables) == len(tables) > 10
    assert len(made.figures) == len([figure for chapter in made.chapters for figure in chapter.figures]) > 5
