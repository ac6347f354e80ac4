"""Goldens: every column of the joined table and every table of the report, value by value, of studies of all kinds.

They guard a restructuring: whatever is moved, values stay. So a golden may be written anew only by a change that means
to change a figure (a mended fault, a new rule), in a commit of its own, whose body lists each figure that changed and
why:

    GENAIPA_GOLDENS=write GENAIPA_TESTS=full pytest tests/goldens

A column or table that comes or goes is no reason: it is named in `reading.py`, until goldens are written anew. What a
golden holds of sentences are the numbers in them, in their order.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import keeping
import numpy as np
import pandas as pd
import pytest
from cases import make_corpus, make_days, make_points, make_wave, name_run, settle
from commandline import call
from judged import GPT, KIND
from keeping import FRAME, content_of, differences, load, summary_of, write
from reading import Reading, read_comparison, read_frame, read_study
from tabling import at_the_edges

from genaipa.runs.selection import find_run
from genaipa.workspace import find_workspace
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from keeping import Kept

WRITE = os.environ.get("GENAIPA_GOLDENS") == "write"


def check(case: str, content: Kept, *, keep: bool = True) -> None:
    """Compare with the golden of the case; or write it, where it is the case that is kept."""
    if WRITE and keep:
        write(case, content)
    told = differences(case, load(case), content)
    assert not told, "\n".join(told)


def _made(factory: pytest.TempPathFactory, make: Callable[[], None]) -> Path:
    """Make a study in a folder of its own, for all tests of this file; none changes it."""
    folder = factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.setenv("GENAIPA_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        make()
    return folder


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two occasions."""
    return _made(tmp_path_factory, make_days)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Points by two people and a judge."""
    return _made(tmp_path_factory, make_points)


def read_in(folder: Path, **options: bool) -> Reading:
    """Read the study in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return read_study(**options)


def test_demo_and_a_comparison(demo: tuple[Path, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's frame and tables, and two of its systems compared."""
    shutil.copytree(demo[0], "demo", ignore=shutil.ignore_patterns("report*"))
    monkeypatch.chdir("demo")
    name_run(find_run(find_workspace(), "latest"), "2026-05-01", "demo")
    settle()
    check("demo", content_of(read_study()))
    check("comparison", content_of(read_comparison("careful", "breezy")))


FEW = ("published and scored", "adjudicated")
"""Frames at the edges whose tables `make test` compares."""


def test_frames_at_the_edges() -> None:
    """Frames made by hand: nothing scored, one answer, published scores of all kinds, everything excluded."""
    frames = {f"{name}: {FRAME}": frame for name, frame in at_the_edges().items()}
    check(
        "edges", {**content_of(Reading(None, frames)), **_tables_at_the_edges(name in FEW for name in at_the_edges())}
    )


@pytest.mark.full
def test_tables_at_the_edges() -> None:
    """The tables of the others of these frames."""
    check("edges-tables", _tables_at_the_edges(name not in FEW for name in at_the_edges()))


def _tables_at_the_edges(wanted: Iterable[bool]) -> Kept:
    return {
        f"{name}: {table}": columns
        for (name, frame), take in zip(at_the_edges().items(), wanted, strict=True)
        if take
        for table, columns in content_of(read_frame(frame)).items()
        if table != FRAME
    }


def test_two_days_with_repetitions(days: Path) -> None:
    """Occasions, repetitions, a system that searches, and answers that failed, were refused, cut off or empty."""
    check("days", content_of(read_in(days)))


def test_points(points: Path) -> None:
    """Points that two people and a judge ticked."""
    check("points", content_of(read_in(points)))


@pytest.mark.full
def test_a_wave_with_a_judge() -> None:
    """A wave that people scored, answers beside it, one settled, and judges of all."""
    make_wave()
    check("wave", content_of(read_study()))
    check("wave-comparison", content_of(read_comparison(KIND, GPT)))


@pytest.mark.full
def test_a_corpus_in_groups() -> None:
    """A corpus in two languages, by sector and by language."""
    make_corpus()
    check("corpus", content_of(read_study(by="sector")))
    by_language = content_of(read_study(by="language"))
    check("corpus-by-language", {name: table for name, table in by_language.items() if name.startswith("groups")})


@pytest.mark.full
@pytest.mark.parametrize("case", ["days", "points"])
def test_packed_and_unpacked(case: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A study that was packed and unpacked elsewhere has the very same golden."""
    folder: Path = request.getfixturevalue(case)
    check(case, content_of(read_in(repack(folder, tmp_path))), keep=False)


def repack(folder: Path, place: Path) -> Path:
    """Pack the study in a folder, and unpack it elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in (("pack", "-o", place / "study.zip"), ("unpack", place / "study.zip", place / "unpacked")):
            finished = call(*command, timeout=600)
            assert finished.code == 0, finished.err
    return place / "unpacked"


@pytest.fixture(scope="module")
def published(pulled_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published study as runs of a workspace."""
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.setenv("GENAIPA_CACHE", str(pulled_cache))
        patch.chdir(folder)
        Path("genaipa.toml").touch()
        imported = call("get", "genaipabench", "--runs")
        assert imported.code == 0, imported.err
    return folder


@pytest.mark.parametrize("mode", ["plain", "excluded", "corrected", "packed"])
def test_published_study(mode: str, published: Path, pulled: Path, tmp_path: Path) -> None:
    """The published study as it is, with what audits exclude, with corrections, and out of a pack: digests and sums.

    A pack leaves out what may not be passed on, so that it lacks the tables made of annotated answers.
    """
    folder = repack(published, tmp_path) if mode == "packed" else published
    options = {"excluded": {"count_excluded": True}, "corrected": {"apply_corrections": True}}.get(mode, {})
    check(f"published-{mode}", summary_of(content_of(read_in(folder, **options))))


def test_a_difference_names_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It says case, table, column, row and both values; rounding is none, nor is what came or went by name."""
    monkeypatch.setattr(keeping, "FOLDER", tmp_path)
    data = {"system": pd.Categorical(["b", "a", "a"], categories=["b", "a"]), "m_all": [1 / 3, np.nan, 7.0], "n": 1}
    before = content_of(Reading(None, {"board": pd.DataFrame(data), "again": pd.DataFrame({"m_all": [0.5] * 99})}))
    write("case", before)
    frame = pd.DataFrame(data | {"m_all": [(1 / 3) * (1 + 1e-14), np.nan, 7.0]})
    same = {"board": frame, "again": pd.DataFrame({"m_all": [0.5] * 99})}
    assert differences("case", load("case"), content_of(Reading(None, same))) == []
    frame = frame.assign(m_all=[1 / 3 + 1e-9, 0.0, 7.0], n=1.5)
    frame["system"] = frame["system"].cat.reorder_categories(["a", "b"])
    now = content_of(Reading(None, {"board": frame, "new": frame}))
    assert differences("case", load("case"), now) == [
        "case: board, column 'system', categories: ['b', 'a'] were, ['a', 'b'] are",
        "case: board, column 'm_all', row 0: 0.333333333333333 was, 0.333333334333333 is",
        "case: board, column 'm_all', row 1: None was, 0.0 is",
        *(f"case: board, column 'n', row {row}: 1 was, 1.5 is" for row in range(3)),
        "case: the table 'again' is gone",
        "case: the table 'new' is new",
    ]
    told = " ".join(differences("case", summary_of(load("case")), summary_of(now)))
    assert "column 'system', digest: " in told
    assert "column 'm_all', known: 2 was, 3 is" in told
    monkeypatch.setattr(keeping, "LOST_TABLES", {"again"})
    monkeypatch.setattr(keeping, "NEW_TABLES", {"new"})
    monkeypatch.setattr(keeping, "NEW_COLUMNS", {"board.extra"})
    monkeypatch.setattr(keeping, "LOST_COLUMNS", {"board.n"})
    monkeypatch.setattr(keeping, "SCALES", {"board.m_all": 10.0})
    tenfold = pd.DataFrame(data).assign(extra=0, m_all=[10 / 3, np.nan, 70.0]).drop(columns="n")
    assert differences("case", load("case"), content_of(Reading(None, {"board": tenfold, "new": frame}))) == []
