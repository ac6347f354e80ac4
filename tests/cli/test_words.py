"""Words that commands print: how many beside their tables, which facts `--explain` has instead, and texts."""

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

from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from commandline import Finished

HERE = Path(__file__).parent
COMMANDS: list[dict[str, Any]] = yaml.safe_load((HERE / "words.yaml").read_text(encoding="utf-8"))
RULE = re.compile(r"^ ?─+$")
KEEP = os.environ.get("GENAIPA_SAID") == "write"
DEMO_WORDS = 70
_BUDGETS: dict[str, int] = {row["command"]: row["words"] for row in COMMANDS}


@pytest.fixture(scope="module")
def printed(demo: tuple[Path, Finished], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A copy of the demo's workspace, and what each command printed there, one after the other."""
    folder = tmp_path_factory.mktemp("words") / "study"
    shutil.copytree(demo[0], folder, ignore=shutil.ignore_patterns("reports"))
    (folder / "genaipa.toml").touch()
    texts = {}
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.setenv("COLUMNS", "100")
        patch.setenv("NO_COLOR", "1")
        patch.chdir(folder)
        for row in COMMANDS:
            done = call(*row["command"].split())
            assert done.code == 0, (row["command"], done.err)
            texts[row["command"]] = done.out
    return folder, texts


def beside(text: str) -> int:
    """The words of a text that are in no table: a table is what is above and below a rule, to the next blank line."""
    lines = text.splitlines()
    tables: set[int] = set()
    for place, line in enumerate(lines):
        if RULE.match(line):
            end = next((n for n in range(place, len(lines)) if not lines[n]), len(lines))
            tables |= {place - 1, *range(place, end)}
    return sum(len(line.split()) for place, line in enumerate(lines) if place not in tables)


def plain(text: str, workspace: Path) -> str:
    """The text without what is another at every call: folders, times, sizes, versions."""
    text = text.replace(str(workspace), "DIR").replace(platform.python_version(), "3.N")
    text = re.sub(r"\d{8}-\d{6}", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[:.\dZ]*", "TIME", text)
    text = re.sub(r"\d+ of \d+ extras", "N of N extras", text)
    text = re.sub(r"\b[\d.]+ (s|kB|MB|min)\b", r"N \1", text)
    # A call that takes no time that can be told has none in the table.
    text = re.sub(r"( answered) +call time|(\d/\d) +N s", r"\1\2", text)
    return "\n".join(re.sub(r" +|─+", lambda run: run[0][0], line).rstrip() for line in text.splitlines()) + "\n"


def is_as_kept(name: str, text: str) -> None:
    """Compare a text with the one that is kept, or keep it."""
    kept = HERE / "said" / f"{name}.txt"
    if KEEP:
        kept.write_text(text, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == text, "if it is meant: GENAIPA_SAID=write pytest tests/cli/test_words.py"


def test_commands_print_few_words(printed: tuple[Path, dict[str, str]]) -> None:
    """Each prints something, and beside its tables no more words than it may."""
    _, texts = printed
    assert all(texts.values())
    words = {row["command"]: beside(texts[row["command"]]) for row in COMMANDS}
    assert {command: number for command, number in words.items() if number > _BUDGETS[command]} == {}


@pytest.mark.parametrize("row", [row for row in COMMANDS if "as" in row], ids=lambda row: row["as"])
def test_the_commonest_print_what_is_kept(row: dict[str, Any], printed: tuple[Path, dict[str, str]]) -> None:
    """Their output is the very text that is kept."""
    folder, texts = printed
    is_as_kept(row["as"], plain(texts[row["command"]], folder))


@pytest.mark.full
@pytest.mark.parametrize("row", [row for row in COMMANDS if "explained" in row], ids=lambda row: row["command"])
def test_what_left_the_screen_is_explained(
    row: dict[str, Any], printed: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts that a command does not print are in its `--explain`, and `--quiet` says no more than it does."""
    folder, texts = printed
    monkeypatch.chdir(folder)
    words, done = row["command"].split(), texts[row["command"]]
    explained, quiet = (call(*words, *more).out for more in (("--explain",), ("--quiet",)))
    assert [fact for fact in row["explained"] if fact in done or fact not in explained] == []
    assert beside(quiet) <= beside(done)


def test_words_of_the_demo(demo: tuple[Path, Finished]) -> None:
    """It ends with a ranking and few words: the first that anybody sees."""
    folder, done = demo
    assert beside(done.out) <= DEMO_WORDS
    is_as_kept("demo", plain(done.out, folder))


def test_a_narrow_pipe_without_unicode_is_readable(
    printed: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 40 columns no line of a table is wider, and each number is there."""
    monkeypatch.chdir(printed[0])
    monkeypatch.setenv("COLUMNS", "40")
    narrow = call("compare", "careful", "breezy").out
    rule = next(place for place, line in enumerate(narrow.splitlines()) if RULE.match(line))
    assert max(len(line) for line in narrow.splitlines()[rule - 1 :] if "--" not in line) <= 40
    assert "5.2e-08" in narrow
