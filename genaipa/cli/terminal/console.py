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
from genaipa.words import escape_unprintable, replace_unprintable_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

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
def stdout_console() -> Console:
    """Return the console for results."""
    from rich.console import Console

    return Console(highlight=False, width=_terminal_width(sys.stdout) or _UNBOUNDED)


@cache
def stderr_console() -> Console:
    """Return the console for progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=_terminal_width(sys.stderr))


def stdout_width() -> int | None:
    """Return the columns into which results are to fit; None if they may be as wide as they need to be."""
    return _terminal_width(sys.stdout)


def _terminal_width(stream: TextIO) -> int | None:
    """Return the columns of the terminal, or COLUMNS; None for a pipe or a file that it says nothing of."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return max(_LEAST, int(columns))
    if not stream.isatty():
        return None
    try:
        size = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        size = 0
    return max(_LEAST, size or shutil.get_terminal_size().columns)


def print_to_stderr(text: str, *, no_wrap: bool = False) -> None:
    """Print a note beside the result, on stderr, options as flags: nothing in it is markup or steers a terminal.

    On a terminal it is broken between words, unless it is `no_wrap`: to be copied and pasted.
    """
    _print_to_console(
        stderr_console(), sys.stderr, replace_unprintable_characters(rewrite_options_as_flags(text)), no_wrap=no_wrap
    )


def print_error_to_stderr(error: object) -> None:
    """Print an error as its one sentence, on stderr."""
    _print_to_console(
        stderr_console(),
        sys.stderr,
        replace_unprintable_characters(f"genaipa: {rewrite_options_as_flags(str(error))}"),
        leading_text_in_red="genaipa:",
    )


def rewrite_options_as_flags(sentence: str) -> str:
    """Return a sentence of the library with its options as the command line writes them: `--own-family`."""
    return re.sub(r"[Tt]he option `(\w+)`", lambda named: f"--{named[1].replace('_', '-')}", sentence)


def show(text: str = "", *, no_wrap: bool = False) -> None:
    """Print sentences of the result, on stdout; on a terminal broken between words, unless they are `no_wrap`.

    Nothing in them is markup or steers a terminal.
    """
    _print_to_console(stdout_console(), sys.stdout, replace_unprintable_characters(text), no_wrap=no_wrap)


def show_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print facts, a label and its value in each line; empty ones are left out."""
    from genaipa.cli.terminal.fitting import wrap_text

    listed = [(label, replace_unprintable_characters(str(value))) for label, value in facts if value not in (None, "")]
    broad = max([10, *(len(label) for label, _ in listed)]) + 2
    room = stdout_width() if sys.stdout.isatty() else None
    for label, value in listed:
        line = f"{label:{broad}}{value}"
        _print_to_console(
            stdout_console(),
            sys.stdout,
            "\n".join(wrap_text(line, room, hanging_indent=broad)) if room else line,
            no_wrap=True,
        )


def _print_to_console(
    console: Console, stream: TextIO, text: str, *, no_wrap: bool = False, leading_text_in_red: str = ""
) -> None:
    """Print a text, broken between words on a terminal only: what reads a pipe wants a sentence in one line."""
    from rich.text import Text

    from genaipa.cli.terminal.fitting import remove_unbreakable_marks, wrap_text

    room = _terminal_width(stream) if stream.isatty() and not no_wrap else None
    styled = Text(remove_unbreakable_marks("\n".join(wrap_text(text, room)) if room else text))
    if leading_text_in_red:
        styled.stylize("bold red", 0, len(leading_text_in_red))
    console.print(styled, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value (msgspec Structs included) as JSON on stdout."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    sys.stdout.write(escape_unprintable(text) + "\n")


def print_table(
    headers: Sequence[str],
    rows_and_headings: Iterable[Sequence[object] | str],
    *,
    right_aligned_columns: Iterable[int] = (),
) -> None:
    """Print a table on stdout, fitted to the terminal; a row that is a string is a heading.

    `right_aligned_columns` are the columns that hold numbers. Cells are plain text, never markup.
    """
    from rich.text import Text

    from genaipa.cli.terminal.fitting import lay_out_table_parts, remove_unbreakable_marks

    cells: list[list[str] | str] = [
        replace_unprintable_characters(row)
        if isinstance(row, str)
        else ["" if c is None else replace_unprintable_characters(str(c)) for c in row]
        for row in rows_and_headings
    ]
    rendered = Text("\n")
    options = stdout_console().options.update(width=_UNBOUNDED)
    for part in lay_out_table_parts(headers, cells, frozenset(right_aligned_columns), stdout_width(), _cell_style):
        for line in stdout_console().render_lines(part, options, pad=False):
            pieces = Text.assemble(*((remove_unbreakable_marks(piece.text), piece.style or "") for piece in line))
            pieces.rstrip()
            if pieces:  # the table's edges above and below are blank
                rendered.append_text(pieces).append("\n")
    stdout_console().print(rendered, soft_wrap=True)


def _cell_style(header: str, cell: str) -> str:
    """Return the style of a cell: by the word for a state, or for a count of failures."""
    if header in ("state", "status", "severity"):
        return _STATES.get(cell, "")
    return "bold red" if header == "failed" and cell not in ("", "0") else ""


_GAP = "     "
_WORDS = 30
"""Words of caveats up to which a further one is shown."""
_URGENT = 3
"""Urgent sentences that are shown whatever their length."""
HINT = "More: --explain"
NOTHING = "There is nothing more to explain here; --help lists the command's options."


@dataclass
class _CommandNotes:
    explains: bool = False
    quiet: bool = False
    complete_step: Callable[[str], str] = str
    explanations: list[str] = field(default_factory=list)
    steps: list[tuple[str, bool]] = field(default_factory=list)
    hint: str = HINT


_closing: ContextVar[_CommandNotes | None] = ContextVar("_closing", default=None)


def _current_command_notes() -> _CommandNotes:
    return _closing.get() or _CommandNotes()


def is_quiet() -> bool:
    """Tell whether the result alone is wanted."""
    return _current_command_notes().quiet


def is_explanation_wanted() -> bool:
    """Tell whether all is wanted that there is to say."""
    return _current_command_notes().explains


def print_caveat_unless_quiet(sentence: str) -> None:
    """Print a line that changes how the result is read; not where the result alone is wanted."""
    if sentence and not is_quiet():
        show(sentence)


def print_first_caveats_and_queue_rest(sentences: Iterable[str], urgent_sentences: Collection[str] = ()) -> None:
    """Print the first sentences that change how the result is read; what would be too many words is explained.

    The first `_URGENT` of the `urgent_sentences` among them are printed whatever their length.
    """
    room, printed_whole = _WORDS, [*urgent_sentences][:_URGENT]
    for index, sentence in enumerate(sentences):
        room -= len(sentence.split())
        if room >= 0 or not index or sentence in printed_whole:
            print_caveat_unless_quiet(sentence)
        else:
            queue_explanation(sentence)


def queue_explanation(*sentences: str, hint_if_hidden: str = "") -> None:
    """Keep sentences for `--explain`; the `hint_if_hidden` says what they tell, where they are not shown."""
    closing = _current_command_notes()
    closing.explanations += [sentence for sentence in sentences if sentence and sentence not in closing.explanations]
    closing.hint = hint_if_hidden or closing.hint


def queue_next_steps(*steps: str, even_if_quiet: bool = False) -> None:
    """Keep next steps, such as `Next: genaipa score demo`, for the last line.

    `even_if_quiet` for a part of the result.
    """
    _current_command_notes().steps.extend((step, even_if_quiet) for step in steps if step)


@contextlib.contextmanager
def print_queued_notes_at_end(
    fallback_explanation: str,
    *,
    name_workspace_in_step: Callable[[str], str],
    explains: bool,
    quiet: bool,
    json: bool,
) -> Iterator[None]:
    """Print what a command kept, once it is done.

    `fallback_explanation` explains it where it has no explanation of its own, and `name_workspace_in_step` makes a next
    step the command that works.
    """
    if explains and quiet:
        raise UsageError("--explain asks for more and --quiet for less; use only one of them.")
    notes = _CommandNotes(explains, quiet, name_workspace_in_step)
    token = _closing.set(notes)
    try:
        try:
            yield
        except typer.Exit:
            _print_queued_notes_unless_json(notes, fallback_explanation, json=json)
            raise
        _print_queued_notes_unless_json(notes, fallback_explanation, json=json)
    finally:
        _closing.reset(token)


def _print_queued_notes_unless_json(notes: _CommandNotes, fallback_explanation: str, *, json: bool) -> None:
    if json:
        return
    steps = [notes.complete_step(step) for step, always in notes.steps if always or not notes.quiet]
    if notes.explanations and not notes.explains and not notes.quiet:
        steps.append(notes.hint)
    room = 0
    if sys.stdout.isatty():
        room = stdout_width() or 0
    line = _GAP.join(steps)
    for text in [line] if not room or len(line) <= room else steps:
        if text:
            show(text, no_wrap=True)
    if notes.explains:
        show("\n" + "\n".join(notes.explanations or [fallback_explanation]))


def show_table_and_queue_note(table: Table) -> None:
    """Print the table with its title above, on stdout; its note is for `--explain`."""
    show_tables_and_queue_notes([table])


def show_tables_and_queue_notes(tables: Iterable[Table]) -> None:
    """Print each table with its title above, without empty columns; the notes are for `--explain`."""
    from genaipa.reports import render

    for index, table in enumerate(tables):
        show(("\n" if index else "") + table.title)
        print_table(
            render.visible_headings(table), table.cells, right_aligned_columns=render.numeric_column_indices(table)
        )
        queue_explanation(
            *re.split(r"(?<=\.) (?=[A-Z`“])", table.note), hint_if_hidden="What the numbers mean: --explain"
        )
