"""Decode a document's bytes: by byte-order mark, declared encoding, UTF-8, or a confident guess."""

from __future__ import annotations

import importlib
import re
from typing import Any

from genaipa.errors import DataError, MissingPackageError


def library(name: str, what: str) -> Any:
    """Import an optional module; a MissingPackageError names the extra if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackageError(
            f"reading {what} needs the package '{name}': pip install 'genaipa[documents]'"
        ) from None


def declared(raw: bytes) -> str:
    """Encoding that an HTML page declares; never UTF-16, in which the declaration could not be read."""
    found = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", raw[:4096], re.IGNORECASE)
    named = found.group(1).decode("ascii", "ignore").lower() if found else ""
    return "" if named.startswith("utf-16") else named


# The web calls Latin-1 what has Windows' quotation marks in it.
_MEANT = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252"}
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def decoded(raw: bytes, source: str, charset: str) -> str:
    """Decode bytes; `charset` is the declared encoding or empty. A DataError if no encoding is certain enough."""
    marked = next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), "")
    for encoding in [marked] if marked else [_MEANT.get(charset.lower(), charset), "utf-8"]:
        try:
            text = raw.decode(encoding) if encoding else "\0"
        except (UnicodeError, LookupError):
            continue
        if "\0" not in text:
            return text
    if b"\0" in raw or marked:
        raise DataError(source, "is a binary file; a document is HTML, PDF, Word (.docx), Markdown or plain text.")
    guesses = list(library("charset_normalizer", "text that is not UTF-8").from_bytes(raw))
    if not guesses or not _confident(guesses):
        raise DataError(source, "has an unknown encoding; save it as UTF-8.")
    return str(guesses[0])


def _confident(guesses: list[Any]) -> bool:
    """Whether the best guess gives words of a language (coherence) with fewer odd characters (chaos) than others."""
    best, *others = guesses
    return (
        best.chaos <= 0.05  # noqa: PLR2004 - shares from 0 to 1, measured on policies in six languages
        and best.coherence >= 0.4  # noqa: PLR2004
        and not any(other.chaos <= best.chaos and other.coherence >= best.coherence for other in others)
    )
