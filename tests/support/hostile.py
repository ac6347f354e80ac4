"""Answers of servers that mean harm: those that drip and never end, and those that grow.

    with OpenAIServer([Behaviour(wire=ENDLESS["a body that drips"])]) as server: ...

A mode is a function without arguments that makes the bytes to send, with seconds to wait between them.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Mode = Callable[[], Iterator[bytes | float]]

PAUSE = 0.02
"""Seconds between two pieces of a drip."""
HEAD = b"HTTP/1.1 %d Status\r\ncontent-type: application/json\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
_MEGABYTE = 1_000_000


def _drip(head: bytes, piece: bytes) -> Mode:
    def mode() -> Iterator[bytes | float]:
        yield head
        while True:
            yield piece
            yield PAUSE

    return mode


ENDLESS: dict[str, Mode] = {
    "a head that drips": _drip(HEAD % 200, b"x-a: b\r\n"),
    "a status that drips": _drip(b"HTTP/1.1 200 ", b"a"),
    "a body that drips": _drip(HEAD % 200 + b"content-length: 9000000\r\n\r\n", b" "),
    "chunks that drip": _drip(HEAD % 200 + CHUNKED, b"1\r\n \r\n"),
    "an error that drips": _drip(HEAD % 500 + CHUNKED, b"1\r\n \r\n"),
    "continue without an end": _drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "hints without an end": _drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "nothing after the head": lambda: iter([HEAD % 200 + b"content-length: 9\r\n\r\n", 60.0]),
    "blanks packed in blanks": _drip(
        HEAD % 200 + b"content-encoding: gzip\r\n" + CHUNKED + b"a\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03\r\n",
        b"5\r\n\0\0\0\xff\xff\r\n",
    ),
}
"""Answers that never end, a little at a time."""


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


def _repeat(head: bytes, piece: bytes, megabytes: int, first: bytes = b"") -> Mode:
    """Send a head, and a piece again and again, until there are so many megabytes."""

    def mode() -> Iterator[bytes | float]:
        yield head + CHUNKED + (_chunk(first) if first else b"")
        yield from itertools.repeat(_chunk(piece), megabytes * _MEGABYTE // len(piece))
        yield b"0\r\n\r\n"

    return mode


def _pack(megabytes: int, window: int, piece: bytes = b" " * 65536) -> bytes:
    """Pack so many megabytes of a piece."""
    packing = zlib.compressobj(9, zlib.DEFLATED, window)
    pieces = [packing.compress(piece) for _ in range(megabytes * _MEGABYTE // len(piece))]
    return b"".join([*pieces, packing.flush()])


@functools.cache
def _packed(megabytes: int, kind: str) -> bytes:
    if kind == "gzip, gzip":
        return gzip.compress(_pack(megabytes, 31))
    return _pack(megabytes, 15 if kind == "deflate" else 31)


def _bomb(megabytes: int, status: int, kind: str) -> Mode:
    def mode() -> Iterator[bytes | float]:
        body = _packed(megabytes, kind)
        yield HEAD % status + b"content-encoding: %s\r\ncontent-length: %d\r\n\r\n" % (kind.encode(), len(body))
        yield body

    return mode


def bombs(megabytes: int) -> dict[str, Mode]:
    """Bodies that come to so many megabytes, or would, whole as text or in what they are read into."""
    ok, refused = HEAD % 200, HEAD % 400
    text = b'{"error":{"message":"'
    return {
        "gzip": _bomb(megabytes, 200, "gzip"),
        "gzip of an error": _bomb(megabytes, 400, "gzip"),
        "gzip in gzip": _bomb(megabytes, 200, "gzip, gzip"),
        "gzip in gzip of an error": _bomb(megabytes, 500, "gzip, gzip"),
        "deflate": _bomb(megabytes, 200, "deflate"),
        "plain": _repeat(ok, b" " * 65536, megabytes),
        "plain error": _repeat(refused, b" " * 65536, megabytes),
        "a length alone": lambda: iter([ok + b"content-length: %d\r\n\r\n" % (megabytes * _MEGABYTE), 60.0]),
        "headers": _headers(megabytes),
        # Below any limit of size.
        "objects": _repeat(ok, b"{}," * 20000, 9, b'{"choices":['),
        "objects of an error": _repeat(refused, b"{}," * 20000, 9, b'{"error":['),
        "wide text": _repeat(ok, b"a" * 65536, 9, '{"choices":[{"message":{"content":"\U0001f600'.encode()),
        "wide text of an error": _repeat(refused, b"a" * 65536, 9, text + "\U0001f600".encode()),
    }


def _headers(megabytes: int) -> Mode:
    def mode() -> Iterator[bytes | float]:
        yield HEAD % 200
        yield from itertools.repeat(b"x-a: " + b"b" * 8000 + b"\r\n", megabytes * _MEGABYTE // 8000)
        yield b"content-length: 2\r\n\r\n{}"

    return mode
