"""Responses of servers: the one bound on their time and size, for every connection that genaipa makes.

httpx2's own time-outs are from one byte to the next, and its decoders unpack a piece whole. Here a request's time-out
holds from its first byte to the last of its response, however that drips; a body is unpacked in small pieces, and is
broken off once it is too large, whatever its status and however it is packed.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

LARGEST_BODY = 10_000_000
"""Bytes of a body that is read whole, unpacked: as text and as JSON it takes a multiple of that."""
MOST_VALUES = 500_000
"""Objects, lists and further values of them in a body of JSON: each takes a hundred bytes once it is read."""
LARGEST_STREAM = 2**30
"""Bytes of a body that is read in pieces, such as a batch's results."""
SECONDS = 600.0
"""Time limit of a request that has none of its own."""
_PIECE = 65_536
LARGEST = "largest"
"""Extension of a request: the bytes that its body may have."""
_JSON = "json"
"""Extension of a request whose answer is read as JSON."""
_GZIP = 16 + zlib.MAX_WBITS


class TooLargeError(httpx2.DecodingError):
    """A body that is not read to its end."""


class BoundedHttpClient(httpx2.AsyncClient):
    """A client whose responses are bounded in time and size, over the transports of the class beside it."""

    of_json = False
    """Whether its bodies that are read whole are JSON."""

    def _init_transport(self, *arguments: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return _BoundedTransport(super()._init_transport(*arguments, **options))

    def _init_proxy_transport(self, *arguments: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return _BoundedTransport(super()._init_proxy_transport(*arguments, **options))

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; what is streamed may be larger."""
        whole = not options.get("stream")
        limits = {LARGEST: LARGEST_BODY if whole else LARGEST_STREAM, _JSON: self.of_json and whole}
        request.extensions = limits | request.extensions
        return await super().send(request, **options)


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """A transport whose responses come unpacked, in time, and no larger than they may be."""

    def __init__(self, within: httpx2.AsyncBaseTransport) -> None:
        self._within = within

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = (request.extensions.get("timeout") or {}).get("read") or SECONDS
        clock = _RequestDeadline(seconds)
        request.headers["Accept-Encoding"] = "gzip"
        response = await clock.wait_within_time(self._within.handle_async_request(request))
        try:
            body = _BoundedBody(response, clock, request.extensions)
        except httpx2.DecodingError:
            await response.aclose()
            raise
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _DROPPED]
        answer = httpx2.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)
        if request.extensions[_JSON]:
            # JSON is UTF-8, whatever a server calls what it sends; a codec that it names may take hours.
            page = "html" in answer.headers.get("content-type", "").lower()
            answer.headers["content-type"] = "text/html" if page else "application/json"
        return answer

    async def aclose(self) -> None:
        await self._within.aclose()


_DROPPED = frozenset({b"content-encoding", b"content-length"})
"""Headers that are no longer true of an unpacked body."""


class _RequestDeadline:
    """The time that a request has, from its beginning."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds

    async def wait_within_time(self, step: Any) -> Any:
        """Wait for a step of the request; a ReadTimeout once the time is over."""
        try:
            async with asyncio.timeout_at(self._end) as limit:
                return await step
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise httpx2.ReadTimeout(f"no complete response within {self._seconds:g} s") from error


class _BoundedBody(httpx2.AsyncByteStream):
    """A body in small pieces; a DecodingError, which says why, for one that is too large or can't be unpacked."""

    def __init__(self, response: httpx2.Response, clock: _RequestDeadline, limits: Mapping[str, Any]) -> None:
        self._stream: Any = response.stream
        self._clock, self._most, self._json = clock, limits[LARGEST], limits[_JSON]
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip"):
            raise httpx2.DecodingError(f"a response in an encoding that genaipa did not request ({packing[:40]})")
        self._packed = "gzip" in packing
        stated = response.headers.get("content-length", "")
        if stated.isdecimal() and len(stated) < len(str(2**63)) and int(stated) > self._most:
            raise self._too_large_error()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._stream)
        unpack = _make_gzip_unpacking_function() if self._packed else None
        packed = unpacked = values = 0
        while (chunk := await self._clock.wait_within_time(anext(chunks, None))) is not None:
            packed += len(chunk)
            for piece in unpack(chunk) if unpack else (chunk,):
                unpacked += len(piece)
                if max(packed, unpacked) > self._most:
                    raise self._too_large_error()
                values += sum(map(piece.count, b"[{,")) if self._json else 0
                if values > MOST_VALUES:
                    raise TooLargeError(f"a response with more than {MOST_VALUES:,} values")
                yield piece
            if packed > self._most:
                raise self._too_large_error()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _too_large_error(self) -> TooLargeError:
        return TooLargeError(f"a response of more than {self._most // 1_000_000:,} MB")


def _make_gzip_unpacking_function() -> Any:
    """Make what unpacks the chunks of a body, each in small pieces."""
    packed = zlib.decompressobj(_GZIP)

    def unpack_chunk(chunk: bytes) -> Iterator[bytes]:
        try:
            while not packed.eof:
                piece = packed.decompress(chunk, _PIECE)
                chunk = packed.unconsumed_tail
                if piece:
                    yield piece
                elif not chunk:
                    return
        except zlib.error:
            raise httpx2.DecodingError("a response that is not in its declared encoding") from None

    return unpack_chunk
