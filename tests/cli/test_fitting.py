"""Tables and sentences at widths from 60 to 200: words whole, nothing left out."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from genaipa.cli.terminal import console
from genaipa.cli.terminal.fitting import Fit, columns_of, laid_out, unmarked, whole, wrapped

WIDTHS = (60, 80, 100, 120, 200)
HEADERS = ("run", "status", "systems", "documents", "experiment", "answers", "cost at most", "remark")
LONG = "asked no more: the server is 文書 tired "
ROWS = [
    ["20261122-073211-a", "complete", "extractive, gpt-4.1", "brindlecart, uber", "quality", "51/128", "$12.50", ""],
    ["20261122-073212-a-rather-long-name", "partial", "scripted/re.yaml, gpt-4.1", "uber", "", "9/128", "$12.50", LONG],
    ["20261122-073213-a-rather", "failed", "extractive", "brindlecart", "robustness", "153/128", "$12.50", LONG * 2],
]
FIT = Fit(right=frozenset((5, 6)), flexible=7, under=(3, 2))


def printed(headers: tuple[str, ...], rows: list[list[str] | str], fit: Fit, width: int | None) -> list[str]:
    """The lines of a table, the sentence above it first."""
    layout = laid_out(headers, rows, fit, width)
    lines = ["".join(text for text, _ in line).rstrip() for line in layout.lines]
    return [*wrapped(layout.above, width or 10**6), *map(unmarked, lines)]


@pytest.mark.parametrize("same", [False, True], ids=["rows differ", "rows share"])
def test_a_table_fits_and_keeps_every_word(same: bool) -> None:
    """At each width no line is too long, each word and number of each cell is there in one piece, none is lost."""
    rows: list[list[str] | str] = [[*row[:1], "complete", *row[2:]] if same else row for row in ROWS]
    for width in WIDTHS:
        lines = printed(HEADERS, ["a heading of its own", *rows], FIT, width)
        assert max(map(columns_of, lines)) <= width
        words = " ".join(lines).replace(";", " ").replace(",", " ").split()
        for cell in (cell for row in rows for cell in row):
            assert set(cell.replace(",", " ").split()) <= set(words), (width, cell)
        assert [word for word in words if word == "$12.50"] == ["$12.50"] * 3
        assert "a heading of its own" in lines


def test_an_indented_cell_stays_in_one_line() -> None:
    """Where a table is narrow, a column leaves room for its longest word with the indentation before it."""
    rows: list[list[str] | str] = [["  published/chatgpt-4", "a model of some words " * 3], ["  b", "c"]]
    lines = printed(("name", "model"), rows, Fit(), 60)
    assert len({line.index(word) for line, word in zip((lines[1], lines[-1]), ("model", "c"), strict=True)}) == 1
    assert any(line.startswith("   published/chatgpt-4  a model") for line in lines)


def test_counts_are_never_said_once_for_all_rows() -> None:
    """What is said once stands "in each row", and a number never does: 32 in each row is easily read as 32 in all."""
    rows: list[list[str] | str] = [["extractive", name, "32", "32"] for name in ("company-name", "document")]
    layout = laid_out(("system", "initialization", "planned", "answered"), rows, Fit(frozenset((2, 3))), 44)
    assert layout.above == "system extractive"
    body = ["".join(text for text, _ in line) for line in layout.lines]
    assert sum(line.count("32") for line in body) == 4


def test_a_table_without_a_width_has_one_line_for_each_row() -> None:
    """In a pipe nothing is broken, so that what reads it finds a row in a line."""
    assert len(printed(HEADERS, list(ROWS), FIT, None)) == 1 + 2 + len(ROWS)


def test_sentences_break_between_words_and_commands_stay_whole() -> None:
    """Prose is broken at blanks; a command, with its quoted words, and a path with blanks stay in one piece."""
    command = "genaipa show 20261121-144903-demo --workspace '/tmp/my study'"
    for width in WIDTHS:
        text = f"There are 32 answers in {whole('/tmp/my other study/runs')}, all kept. Read them with: {command}"
        lines = list(map(unmarked, wrapped(text, width)))
        assert [line for line in lines if columns_of(line) > width] == [line for line in lines if line == command][
            : columns_of(command) > width
        ]
        assert sum(command in line for line in lines) == 1
        assert sum("/tmp/my other study/runs," in line for line in lines) == 1
        assert " ".join(" ".join(lines).split()) == unmarked(text)
    assert wrapped("- one two three four", 12) == ["- one two", "  three four"]
    assert wrapped("More: 'genaipa get genaipabench': uber", 32) == ["More:", "'genaipa get genaipabench': uber"]


def test_a_pipe_gets_whole_sentences_and_tables_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the output is no terminal a sentence is one line, and COLUMNS alone narrows a table."""
    console.out.cache_clear()
    monkeypatch.setenv("COLUMNS", "60")
    console.show("word " * 40)
    console.table(("a", "b"), [("word " * 10, "word " * 10)])
    shown = capsys.readouterr().out.splitlines()
    assert len(shown[0].split()) == 40
    assert len([line for line in shown[1:] if "word" in line]) == 2
    assert max(map(len, shown[1:])) <= 60
    monkeypatch.delenv("COLUMNS")
    console.table(("a", "b"), [("word " * 30, "word " * 30)])
    assert sum("word" in line for line in capsys.readouterr().out.splitlines()) == 1
    console.out.cache_clear()


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
    assert any(line.split()[:2] == ["brindlecart", "policy"] for line in lines)
    assert "regulation" in " ".join(lines)
