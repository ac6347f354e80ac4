"""Words that commands print: how many beside their tables, which facts `--explain` has instead, and the texts."""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from commandline import call

if TYPE_CHECKING:
    from commandline import Finished

HERE = Path(__file__).parent
COMMANDS: list[dict[str, Any]] = yaml.safe_load((HERE / "words.yaml").read_text(encoding="utf-8"))
RULE = re.compile(r"^ *─+( *─+)*$")
KEEP = os.environ.get("GENAIPA_SAID") == "write"
DEMO_WORDS = 70
_BY_NAME = {row["as"]: row["command"] for row in COMMANDS}
FIRST = {"two": _BY_NAME["run"], "kept": _BY_NAME["scores-export"], "exported": _BY_NAME["export"]}
"""Name of what a command comes after → the command that does it."""


@pytest.fixture
def workspace(demo: tuple[Path, Finished], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo's workspace, in which one is: the tests come in any order, each in a process of its own."""
    copy = tmp_path / "study"
    shutil.copytree(demo[0], copy)
    (copy / "genaipa.toml").touch()
    monkeypatch.chdir(copy)
    return copy


def beside(text: str) -> int:
    """The words of a text that are in no table: a table is what is above and below a rule, to the next blank line."""
    lines = text.splitlines()
    tables: set[int] = set()
    for place, line in enumerate(lines):
        if RULE.match(line):
            # rich's tables, whose rule begins at once, end without a blank line.
            row = re.compile(r"\S {2,}\S|^[ ─]") if line.startswith("─") else re.compile(r"\S")
            end = next((n for n in range(place, len(lines)) if not row.search(lines[n])), len(lines))
            tables |= {place - 1, *range(place, end)}
    return sum(len(line.split()) for place, line in enumerate(lines) if place not in tables)


def plain(text: str, workspace: Path) -> str:
    """The text without what is another at every call: folders, times, sizes, versions."""
    text = text.replace(str(workspace), "DIR").replace(platform.python_version(), "3.N")
    text = re.sub(r"\d{8}-\d{6}", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[:.\dZ]*", "TIME", text)
    text = re.sub(r"\d+ of \d+ extras", "N of N extras", text)
    text = re.sub(r"\b[\d.]+ (s|kB|MB|min)\b", r"N \1", text)
    return "\n".join(re.sub(r" +|─+", lambda run: run[0][0], line).rstrip() for line in text.splitlines()) + "\n"


def is_as_kept(name: str, text: str) -> None:
    """Compare a text with the one that is kept, or keep it."""
    kept = HERE / "said" / f"{name}.txt"
    if KEEP:
        kept.write_text(text, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == text, "if it is meant: GENAIPA_SAID=write pytest tests/cli/test_words.py"


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row["as"])
def test_words(row: dict[str, Any], workspace: Path) -> None:
    """A command prints no more words than it may, and the very ones that are kept."""
    if before := row.get("after"):
        assert call(*FIRST[before].split()).code == 0
    done = call(*row["command"].split())
    assert done.code == 0, done.err
    assert 0 < beside(done.out) <= row["words"]
    is_as_kept(row["as"], plain(done.out, workspace))


@pytest.mark.full
@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("row", [row for row in COMMANDS if "explained" in row], ids=lambda row: row["as"])
def test_what_left_the_screen_is_explained(row: dict[str, Any]) -> None:
    """Facts that a command does not print are in its `--explain`, and `--quiet` says no more than it does."""
    words = row["command"].split()
    done, explained, quiet = (call(*words, *more).out for more in ((), ("--explain",), ("--quiet",)))
    assert [fact for fact in row["explained"] if fact in done or fact not in explained] == []
    assert beside(quiet) <= beside(done)


def test_words_of_the_demo(demo: tuple[Path, Finished]) -> None:
    """It ends with a ranking and few words: the first that anybody sees."""
    folder, done = demo
    assert beside(done.out) <= DEMO_WORDS
    is_as_kept("demo", plain(done.out, folder))


@pytest.mark.usefixtures("workspace")
def test_a_narrow_pipe_without_unicode_is_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 40 columns no line of a table is wider, and each number is there."""
    monkeypatch.setenv("COLUMNS", "40")
    narrow = call("compare", "careful", "breezy").out
    rule = next(place for place, line in enumerate(narrow.splitlines()) if RULE.match(line))
    assert max(len(line) for line in narrow.splitlines()[rule - 1 :] if "--" not in line) <= 40
    assert "5.2e-08" in narrow
