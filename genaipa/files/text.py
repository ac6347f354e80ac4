"""Text from a disk or from other people: read strictly, its digests, faults of JSON, and its form in Markdown."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import msgspec

from genaipa.errors import DataError, clipped

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 2**30
"""Bytes of a file that is read: a million scores take less."""
SHA256 = 64
"""Digits of a SHA-256."""
DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""Exceptions raised for text that is not JSON, not UTF-8, nested too deep, of another shape, or with a huge number."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file or pipe, without its byte-order mark; a DataError for anything else."""
    try:
        with path.open("rb") as file:
            kind = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
                raise DataError(path, "is a device, not a file.")
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    if len(raw) > LARGEST:
        raise DataError(path, f"is larger than {LARGEST // 2**30} GiB, the most that can be read.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            path, f"is not UTF-8 text (byte {error.start} is 0x{raw[error.start]:02x}); save it as UTF-8 first."
        ) from None
    if "\0" in text:
        raise DataError(path, "is a binary file, not text.")
    return text


def split_url(address: str) -> SplitResult:
    """Return the parts of an address, all empty if it can't be one."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def digest(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def why(error: Exception) -> str:
    """Describe one of them, short enough for a sentence."""
    return "it is nested too deep" if isinstance(error, RecursionError) else clipped(str(error), 200)


def blob_hash(content: bytes) -> str:
    """The hash by which git names a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def hash_like(pinned: str, content: bytes) -> str:
    """The hash of a content that is of the same kind and length as that which pins it, which may be abbreviated."""
    return hashlib.sha256(content).hexdigest() if len(pinned) == SHA256 else blob_hash(content)[: len(pinned)]


def as_code(text: str) -> str:
    """The text as code on one line, in which nothing is markup."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"
