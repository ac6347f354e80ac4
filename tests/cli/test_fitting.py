"""Tables and sentences at widths from 60 to 200: words whole, nothing left out."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

from genaipa.cli.terminal import console
from genaipa.cli.terminal.fitting import count_terminal_columns, mark_unbreakable, remove_unbreakable_marks, wrap_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIDTHS = (60, 80, 100, 120, 200)
HEADERS = ("run", "status", "systems", "documents", "experiment", "answers", "cost at most", "remark")
LONG = "not asked any more: the server is 文書 tired "
ROWS = [
    ["20261122-073211-a", "complete", "extractive, gpt-4.1", "brindlecart, uber", "quality", "51/128", "$12.50", ""],
    ["20261122-073212-a-rather-long-name", "partial", "scripted/re.yaml, gpt-4.1", "uber", "", "9/128", "$12.50", LONG],
    ["20261122-073213-a-rather", "failed", "extractive", "brindlecart", "robustness", "153/128", "$12.50", LONG * 2],
]
NUMBERS = (5, 6)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., list[str]]]:
    """Print a table at a width, and give its lines without the blank ones around it."""

    def print_table(headers: tuple[str, ...], rows: list[list[str] | str], width: int | None) -> list[str]:
        console.stdout_console.cache_clear()
        monkeypatch.setenv("COLUMNS", str(width or ""))
        console.print_table(headers, rows, right_aligned_columns=NUMBERS)
        return capsys.readouterr().out.strip("\n").split("\n")

    yield print_table
    console.stdout_console.cache_clear()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_fits_and_keeps_every_word(width: int, printed: Callable[..., list[str]]) -> None:
    """No line is too long, each word and number of each cell is there in one piece, none is lost."""
    lines = printed(HEADERS, ["a heading of its own", *ROWS], width)
    assert max(map(count_terminal_columns, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)
    words = " ".join(lines).replace(";", " ").replace(",", " ").split()
    for cell in (cell for row in ROWS for cell in row):
        assert set(cell.replace(",", " ").split()) <= set(words), cell
    assert [word for word in words if word == "$12.50"] == ["$12.50"] * 3
    assert "a heading of its own" in lines


def test_columns_without_room_are_below_their_row_by_name(printed: Callable[..., list[str]]) -> None:
    """As many of the first columns as fit stay side by side; an empty cell is not named."""
    lines = printed(HEADERS, list(ROWS), 60)
    assert lines[0].split() == ["run", "status"]
    assert lines[2].split() == ["20261122-073211-a", "complete"]
    assert " ".join(" ".join(lines[3:6]).split()) == (
        "systems: extractive, gpt-4.1; documents: brindlecart, uber; experiment: quality; answers: 51/128; "
        "cost at most: $12.50"
    )


def test_a_word_wider_than_the_terminal_stays_in_one_piece(printed: Callable[..., list[str]]) -> None:
    """As does a command in a cell, and an indented cell with its indentation."""
    command = "genaipa show 20261122-073212-a-rather-long-name AEE_f1"
    lines = printed(("name", "next"), [["x" * 70, command], ["  indented", "a word " * 9]], 60)
    assert " " + "x" * 70 in lines
    assert any(command in line for line in lines)
    assert "   indented" in lines


def test_a_table_without_a_width_has_one_line_for_each_row(printed: Callable[..., list[str]]) -> None:
    """In a pipe nothing is broken, so that what reads it finds a row in a line."""
    rows = [*ROWS, ["a-run", "complete", "x " * 500, *("" for _ in HEADERS[3:])]]
    assert len(printed(HEADERS, rows, None)) == 2 + len(rows)


def test_sentences_break_between_words_and_commands_stay_whole() -> None:
    """Prose is broken at blanks; a command, with its quoted words, and a path with blanks stay in one piece."""
    command = "genaipa show 20261121-144903-demo --workspace '/tmp/my study'"
    for width in WIDTHS:
        folder = mark_unbreakable("/tmp/my other study/runs")
        text = f"There are 32 answers in {folder}, all kept. Read them with: {command}"
        lines = list(map(remove_unbreakable_marks, wrap_text(text, width)))
        assert [line for line in lines if count_terminal_columns(line) > width] == [
            line for line in lines if line == command
        ][: count_terminal_columns(command) > width]
        assert sum(command in line for line in lines) == 1
        assert sum("/tmp/my other study/runs," in line for line in lines) == 1
        assert " ".join(" ".join(lines).split()) == remove_unbreakable_marks(text)
    assert wrap_text("- one two three four", 12) == ["- one two", "  three four"]
    assert wrap_text("More: 'genaipa get genaipabench': uber", 32) == ["More:", "'genaipa get genaipabench': uber"]


def test_a_pipe_gets_whole_sentences_and_tables_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the output is no terminal a sentence is one line, and COLUMNS alone narrows a table."""
    console.stdout_console.cache_clear()
    monkeypatch.setenv("COLUMNS", "60")
    console.show("word " * 40)
    console.print_table(("a", "b"), [("word " * 10, "word " * 10)])
    shown = capsys.readouterr().out.splitlines()
    assert len(shown[0].split()) == 40
    assert len([line for line in shown[1:] if "word" in line]) == 2
    assert max(map(len, shown[1:])) <= 60
    monkeypatch.delenv("COLUMNS")
    console.print_table(("a", "b"), [("word " * 30, "word " * 30)])
    assert sum("word" in line for line in capsys.readouterr().out.splitlines()) == 1
    console.stdout_console.cache_clear()


@pytest.mark.parametrize("term", ["xterm-256color", pytest.param("dumb", marks=pytest.mark.full)])
def test_a_terminal_is_obeyed(term: str) -> None:
    """In a real terminal of 60 columns, also one that can do nothing, and in ASCII, no line is longer, no word cut."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {**os.environ, "TERM": term, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment.pop("COLUMNS")
    command = [sys.executable, "-m", "genaipa", "policies"]
    with subprocess.Popen(command, env=environment, stdin=slave, stdout=slave, stderr=slave):
        os.close(slave)
        text = b""
        while True:
            try:
                text += os.read(master, 65536)
            except OSError:  # the terminal ends with its last process
                break
    os.close(master)
    lines = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in text.decode("ascii").splitlines()]
    assert max(map(len, lines)) <= 60
    assert any(line.replace("|", " ").split()[:2] == ["brindlecart", "policy"] for line in lines)
    assert "regulation" in " ".join(lines)
