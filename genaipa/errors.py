"""Every error that a user of genaipa can meet.

    GenaipaError                 exit code 1
    ├── UsageError               2   the command line, the environment or a file asks for the impossible
    │   ├── UnknownNameError     2   a name that doesn't exist, with the nearest one that does
    │   ├── OptionError          2   an option that can't be as it is
    │   ├── RefusedSystemError   2   a system that is gone, or too small for a document, and what to run instead
    │   └── DataError            2   a data file: names the file, the entry and the remedy
    ├── NoReplyError             1   a system gave no reply
    │   ├── TransientError       1   worth another try, perhaps after a while
    │   ├── PermanentError       1   the same request would fail again
    │   └── NotReadyError        1   no key, no SDK, no server: nothing was asked
    ├── StoreError               1   the database of scores can't be used
    ├── MissingPackageError      1   an optional package is not installed
    ├── RunError                 1   a run folder can't be used as it is
    │   ├── RunBusyError         1   another process writes to it
    │   └── NoRoomError          1   nothing more can be written to it
    ├── TaskError                1   the code of a user's own task failed
    └── SpendingCapError         4   the next call might cost more than the spending cap leaves

Each message is one sentence (two where the second is the remedy), written for the person at the keyboard.
The exit codes 0 (complete), 3 (partial and resumable) and 130 (interrupted) are outcomes, not errors: see
`cli/commands/run.py`.
"""

from __future__ import annotations

import difflib
import errno
import shlex
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from genaipa.systems.base import Usage


class GenaipaError(Exception):
    """Anything that genaipa explains to its user in a sentence instead of a traceback.

    >>> try:
    ...     genaipa.load_document("brindelcart")
    ... except genaipa.GenaipaError as error:
    ...     print(error)
    no policy 'brindelcart': did you mean 'brindlecart'?
    """

    exit_code = 1


class StoreError(GenaipaError):
    """The database of scores can't be used; `for_analysts` says so without its place."""

    def __init__(self, message: str, for_analysts: str) -> None:
        super().__init__(message)
        self.for_analysts = for_analysts


class UsageError(GenaipaError):
    """The request can't be done as it was made."""

    exit_code = 2


class ManyDocumentsError(UsageError):
    """More documents than a run folder takes; so many slices take them."""

    def __init__(self, documents: int, limit: int) -> None:
        self.slices = -(-documents // limit)
        super().__init__(
            f"{documents:,} documents are too many for one run (at most {limit:,}); use {self.slices:,} slices."
        )


class UnknownNameError(UsageError):
    """A name that doesn't exist; the message names the nearest one, or all that exist."""

    def __init__(self, kind: str, name: str, valid_names: Iterable[str], hint: str = "") -> None:
        super().__init__(f"no {kind} '{clip(name)}'{name_suggestion(name, valid_names)}{' ' + hint if hint else ''}")


class NotAmongError(UnknownNameError):
    """A name that is not among those of its kind that there are, such as the systems of some runs."""

    def __init__(self, among: str, name: str, valid_names: Iterable[str]) -> None:
        UsageError.__init__(self, f"'{clip(name)}' is not among the {among}{name_suggestion(name, valid_names)}")


class OptionError(UsageError):
    """An option that can't be as it is; the message begins with its name, which the command line writes as a flag."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}{problem}")
        self.flag = f"--{option.replace('_', '-')}"
        self.problem = problem


class AlternativeCommand(NamedTuple):
    """Another way to ask: a system in the place of the one `asked`, with these options, at an address of one's own."""

    asked: str
    system: str
    about: str
    options: tuple[str, ...] = ()
    """A flag and its value, or none."""
    address: str = ""
    """NAME=VALUE, to be set in the environment."""


class RefusedSystemError(UsageError):
    """Systems that can't be asked: the `problem`, and the ways to ask others, or these otherwise."""

    def __init__(self, problem: str, ways: Sequence[AlternativeCommand]) -> None:
        listed = "; ".join(f"{' '.join((way.system, *way.options))} ({way.about})" for way in ways)
        super().__init__(f"{problem} Instead: {listed}." if ways else problem)
        self.problem, self.ways = problem, tuple(ways)


class UnscoredError(UsageError):
    """No answer has the score that is needed; what a rule scores may be there all the same."""


class DataError(UsageError):
    """A data file that can't be used: file, entry, problem and remedy."""

    def __init__(self, path: Path | str, problem: str, entry: str = "") -> None:
        super().__init__(f"{path}{': ' + entry if entry else ''}: {problem}")
        self.path, self.entry, self.problem = str(path), entry, problem


class OtherFormatError(DataError):
    """A file that another version of genaipa wrote, in a format that this one does not read.

    The remedy for an earlier one is to do `again` what it was written by.
    """

    def __init__(self, path: Path | str, written: int, readable: int, again: str = "") -> None:
        age, remedy = ("a newer", "upgrade genaipa") if written > readable else ("an earlier", again)
        formats = f"format {written}; this version reads {readable}"
        super().__init__(path, f"was written by {age} version of genaipa ({formats}); {remedy}.")


class NoReplyError(GenaipaError):
    """A system gave no reply: `kind` in a word, the HTTP `status` if any, the number of `attempts`.

    `usage` are the tokens that were paid nevertheless, `thoughts` what a model thought and never said.
    """

    def __init__(self, message: str, *, kind: str = "error", status: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.attempts = 1
        self.usage: Usage | None = None
        self.thoughts = ""

    @property
    def comparison_key(self) -> tuple[str, int | None, str]:
        """Equal for failures that are the same; what is quoted of a body, in parentheses, differs each time."""
        message = str(self)
        return (self.kind, self.status, message.partition(" (")[0] if self.kind == "malformed-reply" else message)


class TransientError(NoReplyError):
    """Worth another try.

    `retry_after` is the wait in seconds that the server asked for; `overload` asks for fewer calls at once.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "error",
        status: int | None = None,
        retry_after: float | None = None,
        overload: bool = False,
    ) -> None:
        super().__init__(message, kind=kind, status=status)
        self.retry_after = retry_after
        self.overload = overload


NOT_RECORDED = "not-recorded"
"""The kind of failure of a recording that lacks this one answer: asking again can't help, asking for others can."""


class PermanentError(NoReplyError):
    """The same request would fail again; `fatal` when every request to this system would."""

    def __init__(self, message: str, *, kind: str = "error", status: int | None = None, fatal: bool = False) -> None:
        super().__init__(message, kind=kind, status=status)
        self.fatal = fatal


class NotReadyError(NoReplyError):
    """A key, an SDK or a server is missing; nothing was asked. The message says which and how to get it."""


class TaskError(GenaipaError):
    """The code of a user's own task failed; the message says where and with what."""


class MissingPackageError(GenaipaError):
    """An optional package is not installed; the message says what needs it and which extra brings it."""


class RunError(GenaipaError):
    """A run folder can't be used as it is."""


class RunBusyError(RunError):
    """Another process is writing to the run."""


NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of the system where the right to write is missing, and no room."""


class NoRoomError(RunError):
    """A file can't be written, for want of room or of the right to."""

    @classmethod
    def from_os_error(
        cls, path: Path | str, error: OSError, failed_action: str = "written", what_is_saved: str = ""
    ) -> Self:
        """Return the error of a file that can't be `failed_action`, with `what_is_saved` nevertheless."""
        remedy = f"{what_is_saved}. Make" if what_is_saved else "make"
        need = "it writable" if error.errno in NOT_ALLOWED else "room"
        return cls(
            f"{path} can't be {failed_action} ({error.strerror}); {remedy} {need} and run the same command again."
        )


class SpendingCapError(GenaipaError):
    """The spending cap is reached; `needed` US dollars in all would have paid for the next call too."""

    exit_code = 4

    def __init__(self, message: str, needed: float) -> None:
        super().__init__(message)
        self.needed = needed


def format_shell_command(*words: object) -> str:
    """Format a command to paste, its words quoted for the shell."""
    return shlex.join(map(str, words))


SHOWN = 60
"""Characters of a name that a message quotes at most."""


def clip(text: str, max_characters: int = SHOWN) -> str:
    """Cut a text with `…` if it is too long for a message."""
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


def closest_name_or_empty(name: str, valid_names: Iterable[str]) -> str:
    """Return the most similar of the valid names; empty if none is near."""
    names, name = sorted(set(valid_names)), name[: 2 * SHOWN]
    prefix = name[: name.rfind("/") + 1]
    if prefix and (alike := [valid_name.removeprefix(prefix) for valid_name in names if valid_name.startswith(prefix)]):
        # What all have in common says nothing on which is meant.
        similar = closest_name_or_empty(name.removeprefix(prefix), alike)
        return similar and prefix + similar
    case_variants = [valid_name for valid_name in names if valid_name.lower() == name.lower()]
    return (case_variants or difflib.get_close_matches(name, names, n=1, cutoff=0.6) or [""])[0]


def name_suggestion(name: str, valid_names: Iterable[str]) -> str:
    """Return `: did you mean 'uber'?` or `; known: …`, to follow an unknown name."""
    names = sorted(set(valid_names))
    if close := closest_name_or_empty(name, names):
        return f": did you mean '{close}'?"
    if not names:
        return "."
    listed_names = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")  # noqa: PLR2004 - as many as fit a line
    return f"; known: {listed_names}."
