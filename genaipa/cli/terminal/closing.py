"""Words beside a command's result: a line that changes how it is read, the next step, an explanation if asked.

A command names each once; `--explain` and `--quiet`, which every command has, decide here what is shown.
"""

from __future__ import annotations

import contextlib
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from genaipa.cli.terminal.console import show, width
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
