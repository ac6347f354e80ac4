"""Text from a disk or from other people: read strictly, its digests, faults of JSON, and its form in Markdown."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import SplitResult, urlsplit

import msgspec

from genaipa.errors import DataError, clip
from genaipa.files.limits import TEXT, Limits, limit_reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHA256 = 64
"""Digits of a SHA-256."""
DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""Exceptions raised for text that is not JSON, not UTF-8, nested too deep, of another shape, or with a huge number."""


def read_text(path: Path, limits: Limits = TEXT) -> str:
    """Read a UTF-8 file or pipe, without its byte-order mark; a DataError for anything else."""
    with limit_reading(limits, path) as allowance, _open_regular_file_or_pipe(path) as file:
        raw = file.read(limits.size + 1)
        allowance.check_size(len(raw))
        return _decode_utf8_text(path, raw.removeprefix(_MARK))


def read_lines(path: Path, limits: Limits) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, without their ends, one in memory at a time; a DataError as of `read_text`."""
    with limit_reading(limits, path) as allowance, _open_regular_file_or_pipe(path) as file:
        start = 0
        while line := file.readline(TEXT.size):
            yield _decode_utf8_text(
                path, line.removesuffix(b"\n") if start else line.removesuffix(b"\n").removeprefix(_MARK), start
            )
            start += len(line)
            allowance.check_size(start)
            allowance.add_elements_within_limit(1)


_MARK = b"\xef\xbb\xbf"


@contextlib.contextmanager
def _open_regular_file_or_pipe(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        kind = os.fstat(file.fileno()).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
            raise DataError(path, "is a device, not a file.")
        yield file


def _decode_utf8_text(path_for_errors: Path, raw: bytes, start_offset: int = 0) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        byte, position = raw[error.start], start_offset + error.start
        raise DataError(
            path_for_errors, f"is not UTF-8 text (byte {position} is 0x{byte:02x}); save it as UTF-8 first."
        ) from None
    if "\0" in text:
        raise DataError(path_for_errors, "is a binary file, not text.")
    return text


def split_url_or_empty(address: str) -> SplitResult:
    """Return the parts of an address, all empty if it can't be one."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def sha256_of(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def clip_error_message(error: Exception) -> str:
    """Describe one of them, short enough for a sentence."""
    return "it is nested too deeply" if isinstance(error, RecursionError) else clip(str(error), 200)


def git_blob_hash(content: bytes) -> str:
    """Return the hash by which git names a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def hash_like_pinned_hash(pinned_hash: str, content: bytes) -> str:
    """Return the hash of a content, of the same kind and length as the hash that pins it (it may be abbreviated)."""
    return (
        hashlib.sha256(content).hexdigest()
        if len(pinned_hash) == SHA256
        else git_blob_hash(content)[: len(pinned_hash)]
    )


def format_inline_code(text: str) -> str:
    """Return the text as code on one line, in which nothing is markup."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"
