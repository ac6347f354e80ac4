"""Printed output: tables and sentences, fitted and styled on a terminal, plain everywhere else.

On a terminal everything fits its width (`COLUMNS` where that is set). In a pipe or a file a sentence is one line and
a table is as wide as it needs to be, one line for each row; `COLUMNS` fits tables there too.

Beside its result a command names each once: a line that changes how it is read, the next step, an explanation. What
of them is shown is decided here, by `--explain` and `--quiet`, which every command has.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

import typer

from genaipa.errors import UsageError
from genaipa.words import escape_unprintable, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from genaipa.reports.table import Table


_LEAST = 40
"""Columns below which nothing is fitted any more."""
_UNBOUNDED = 100_000
"""Columns of a pipe, where nothing is fitted."""
_STATES = {
    **dict.fromkeys(("error", "broken", "failed"), "bold red"),
    **dict.fromkeys(("warning", "missing", "interrupted", "partial", "capped", "truncated"), "yellow"),
    **dict.fromkeys(("ok", "complete"), "green"),
}
"""Words for a state → how they are shown on a terminal."""


@cache
def out() -> Console:
    """The console for results."""
    from rich.console import Console

    return Console(highlight=False, width=_width(sys.stdout) or _UNBOUNDED)


@cache
def err() -> Console:
    """The console for progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=_width(sys.stderr))


def width() -> int | None:
    """Columns into which results are to fit; None if they may be as wide as they need to be."""
    return _width(sys.stdout)


def _width(stream: TextIO) -> int | None:
    """Columns of the terminal, or COLUMNS; None for a pipe or a file that it says nothing of."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return max(_LEAST, int(asked))
    if not stream.isatty():
        return None
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        found = 0
    return max(_LEAST, found or shutil.get_terminal_size().columns)


def say(text: str, *, exact: bool = False) -> None:
    """Print a note beside the result, on stderr, options as flags: nothing in it is markup or steers a terminal.

    On a terminal it is broken between words, unless it is `exact`: to be copied and pasted.
    """
    _print(err(), sys.stderr, printable(write_flags(text)), exact=exact)


def complain(error: object) -> None:
    """An error as its one sentence, on stderr."""
    _print(err(), sys.stderr, printable(f"genaipa: {write_flags(str(error))}"), lead="genaipa:")


def write_flags(sentence: str) -> str:
    """Return a sentence of the library with its options as the command line writes them: `--own-family`."""
    return re.sub(r"[Tt]he option `(\w+)`", lambda named: f"--{named[1].replace('_', '-')}", sentence)


def show(text: str = "", *, exact: bool = False) -> None:
    """Sentences of the result, on stdout; on a terminal broken between words, unless they are `exact`.

    Nothing in them is markup or steers a terminal.
    """
    _print(out(), sys.stdout, printable(text), exact=exact)


def show_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print facts, a label and its value in each line; empty ones are left out."""
    from genaipa.cli.terminal.fitting import wrapped

    listed = [(label, printable(str(value))) for label, value in facts if value not in (None, "")]
    broad = max([10, *(len(label) for label, _ in listed)]) + 2
    room = width() if sys.stdout.isatty() else None
    for label, value in listed:
        line = f"{label:{broad}}{value}"
        _print(out(), sys.stdout, "\n".join(wrapped(line, room, hanging=broad)) if room else line, exact=True)


def _print(console: Console, stream: TextIO, text: str, *, exact: bool = False, lead: str = "") -> None:
    """The text, broken between words on a terminal only: what reads a pipe wants a sentence in one line."""
    from rich.text import Text

    from genaipa.cli.terminal.fitting import unmarked, wrapped

    room = _width(stream) if stream.isatty() and not exact else None
    made = Text(unmarked("\n".join(wrapped(text, room)) if room else text))
    if lead:
        made.stylize("bold red", 0, len(lead))
    console.print(made, soft_wrap=True)


def print_json(value: Any) -> None:
    """A value (msgspec Structs included) as JSON on stdout."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    sys.stdout.write(escape_unprintable(text) + "\n")


def table(headers: Sequence[str], rows: Iterable[Sequence[object] | str], *, right: Iterable[int] = ()) -> None:
    """Print a table on stdout, fitted to the terminal; a row that is a string is a heading.

    `right` are the columns that hold numbers. Cells are plain text, never markup.
    """
    from rich.text import Text

    from genaipa.cli.terminal.fitting import lay_out, unmarked

    cells: list[list[str] | str] = [
        printable(row) if isinstance(row, str) else ["" if c is None else printable(str(c)) for c in row]
        for row in rows
    ]
    shown = Text("\n")
    options = out().options.update(width=_UNBOUNDED)
    for part in lay_out(headers, cells, frozenset(right), width(), _style):
        for line in out().render_lines(part, options, pad=False):
            pieces = Text.assemble(*((unmarked(piece.text), piece.style or "") for piece in line))
            pieces.rstrip()
            if pieces:  # the table's edges above and below are blank
                shown.append_text(pieces).append("\n")
    out().print(shown, soft_wrap=True)


def _style(header: str, cell: str) -> str:
    """Style of a cell: by the word for a state, or for a count of failures."""
    if header in ("state", "status", "severity"):
        return _STATES.get(cell, "")
    return "bold red" if header == "failed" and cell not in ("", "0") else ""


_GAP = "     "
_WORDS = 30
"""Words of caveats up to which a further one is shown."""
HINT = "More: --explain"
NOTHING = "There is nothing to explain here; what the command takes is on its page: --help"


@dataclass
class _Closing:
    explains: bool = False
    quiet: bool = False
    said: list[str] = field(default_factory=list)
    steps: list[tuple[str, bool]] = field(default_factory=list)
    hint: str = HINT


_closing: ContextVar[_Closing | None] = ContextVar("_closing", default=None)


def _now() -> _Closing:
    return _closing.get() or _Closing()


def is_quiet() -> bool:
    """Whether the result alone is wanted."""
    return _now().quiet


def is_explained() -> bool:
    """Whether all is wanted that there is to say."""
    return _now().explains


def caveat(sentence: str) -> None:
    """Print a line that changes how the result is read; not where the result alone is wanted."""
    if sentence and not is_quiet():
        show(sentence)


def caveats(sentences: Iterable[str]) -> None:
    """Print the first sentences that change how the result is read; what would be too many words is explained."""
    room = _WORDS
    for place, sentence in enumerate(sentences):
        room -= len(sentence.split())
        if room >= 0 or not place:
            caveat(sentence)
        else:
            explain(sentence)


def explain(*sentences: str, hint: str = "") -> None:
    """Keep sentences for `--explain`; the `hint` says what they tell, where they are not shown."""
    closing = _now()
    closing.said += [sentence for sentence in sentences if sentence and sentence not in closing.said]
    closing.hint = hint or closing.hint


def follow(*steps: str, always: bool = False) -> None:
    """Keep next steps, such as `Next: genaipa score demo`, for the last line; `always` for a part of the result."""
    _now().steps.extend((step, always) for step in steps if step)


@contextlib.contextmanager
def closing(general: str, *, explains: bool, quiet: bool, json: bool) -> Iterator[None]:
    """Print what a command kept, once it is done; `general` explains it where it has no explanation of its own."""
    if explains and quiet:
        raise UsageError("--explain asks for more and --quiet for less; leave out one of them.")
    kept = _Closing(explains, quiet)
    token = _closing.set(kept)
    try:
        try:
            yield
        except typer.Exit:
            _finish(kept, general, json=json)
            raise
        _finish(kept, general, json=json)
    finally:
        _closing.reset(token)


def _finish(kept: _Closing, general: str, *, json: bool) -> None:
    if json:
        return
    steps = [step for step, always in kept.steps if always or not kept.quiet]
    if kept.said and not kept.explains and not kept.quiet:
        steps.append(kept.hint)
    room = 0
    if sys.stdout.isatty():
        room = width() or 0
    line = _GAP.join(steps)
    for text in [line] if not room or len(line) <= room else steps:
        if text:
            show(text, exact=True)
    if kept.explains:
        show("\n" + "\n".join(kept.said or [general]))


def show_table(made: Table) -> None:
    """The table with its title above, on stdout; its note is for `--explain`."""
    show_tables([made])


def show_tables(several: Iterable[Table]) -> None:
    """Each table with its title above, without columns in which there is nothing; their notes are for `--explain`."""
    from genaipa.reports import render

    for place, made in enumerate(several):
        show(("\n" if place else "") + made.title)
        table(render.headings(made), made.cells, right=render.numeric_columns(made))
        explain(*re.split(r"(?<=\.) (?=[A-Z`“])", made.note), hint="What the numbers mean: --explain")
