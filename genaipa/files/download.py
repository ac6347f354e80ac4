"""Downloads: what is fetched from a URL, by calls that wait, in bounded time and size."""

from __future__ import annotations

import asyncio
import ipaddress
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx2

from genaipa import __version__
from genaipa.files.certificates import ssl_context
from genaipa.files.responses import LARGEST, BoundedHttpClient

if TYPE_CHECKING:
    from collections.abc import Coroutine

_MOST_REDIRECTS = 20


@dataclass(frozen=True)
class Download:
    """A server's answer, after redirects."""

    status: int
    reason: str
    url: str
    content_type: str
    content: bytes


class Downloads:
    """Connections that several threads may use at once; each call waits, `seconds` at most for all of it.

    They are of a loop in a thread of its own, since no other kind of connection can be broken off while it drips.
    """

    def __init__(self, *, by_proxy: bool = True) -> None:
        self._client = BoundedHttpClient(
            headers={"User-Agent": f"genaipa/{__version__}"}, verify=ssl_context(), trust_env=by_proxy
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, url: str, *, seconds: float, max_bytes: int, follow_redirects: bool = True) -> Download:
        """Fetch a URL, over redirects if it `follow_redirects` them.

        A TimeoutException once the time is over, a TooLargeError for more bytes, another HTTPError or an InvalidURL for
        what can't be had, and a redirect into this machine or its network that comes from outside.
        """
        download: Download = self._run_on_loop(
            self._get_within_time(url, seconds, max_bytes, follow_redirects=follow_redirects)
        )
        return download

    def close(self) -> None:
        """Close the connections, those of calls under way as well."""
        if self._loop.is_closed():
            return
        self._run_on_loop(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run_on_loop(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _get_within_time(self, url: str, seconds: float, max_bytes: int, *, follow_redirects: bool) -> Download:
        try:
            async with asyncio.timeout(seconds):
                return await self._fetch_following_redirects(url, seconds, max_bytes, follow_redirects=follow_redirects)
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no complete response within {seconds:g} s") from None

    async def _fetch_following_redirects(
        self, url: str, seconds: float, max_bytes: int, *, follow_redirects: bool
    ) -> Download:
        request = self._client.build_request("GET", url, timeout=seconds)
        inside = False
        for step in range(_MOST_REDIRECTS + 1):
            if step and not inside and await _is_private_host(request.url.host):
                raise httpx2.UnsupportedProtocol(
                    f"it redirects to {request.url.host}, which is on this machine or its network; if you want that "
                    "page, give its address"
                )
            request.extensions = {**request.extensions, LARGEST: max_bytes}
            response = await self._client.send(request)
            if response.next_request is None or not follow_redirects:
                kind = response.headers.get("content-type", "")
                return Download(response.status_code, response.reason_phrase, str(response.url), kind, response.content)
            inside = inside or await _is_private_host(request.url.host)
            request = response.next_request
        raise httpx2.TooManyRedirects("Exceeded maximum allowed redirects.")


async def _is_private_host(host: str) -> bool:
    """Tell whether a host is this machine, or one that only its own network reaches."""
    try:
        addresses = await asyncio.get_running_loop().getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return False
    return any(not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_, address in addresses)
