"""Standard output and standard error, made fit for any text."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_SIMILAR = str.maketrans(
    "\u2500\u2212\u2013\u2014\u2026\u2192\u00d7\u00b7\u2022\u2018\u2019\u201c\u201d\u03b1\u2265\u2264",
    "----.>x-*''\"\"a><",
)
"""Lines, dashes, quotation marks and signs of mathematics, as ASCII has them in one column."""


def prepare() -> None:
    """Make any text printable, in any encoding; end the process where nothing can be printed."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stderr.write("genaipa: standard output is closed; send it to a file or to /dev/null.\n")
        sys.exit(1)
    codecs.register_error("genaipa", _similar)
    if not sys.stdout.isatty():
        with contextlib.suppress(io.UnsupportedOperation):  # a stream in memory, which never fills up
            file = io.BufferedWriter(_Output(sys.stdout.fileno(), "w", closefd=False))
            sys.stdout = io.TextIOWrapper(file, encoding=sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A reply may hold any character; a terminal that can't show it must not end the run.
            stream.reconfigure(errors="genaipa")


class _Output(io.FileIO):
    """A file or pipe as standard output, which fails once, in a sentence, and then takes everything in silence."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or raise a GenaipaError; a BrokenPipeError where nobody reads any more, which is no fault."""
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if error.errno == errno.EPIPE:
                raise
            raise GenaipaError(
                f"the output could not be written ({error.strerror}); make room, or send it elsewhere."
            ) from None


def _similar(error: UnicodeError) -> tuple[str, int]:
    """For characters that the terminal's encoding lacks, similar ones that are as wide; `?` for the others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SIMILAR)
    return "".join(c if c.isascii() else "?" for c in text), error.end
