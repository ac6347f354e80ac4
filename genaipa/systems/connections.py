"""The connections below the vendors' SDKs: aiohttp's, which take half the processor of the SDKs' own, within bounds."""

from __future__ import annotations

from typing import Any

import aiohttp
import httpx2
from httpx_aiohttp.httpx2 import Httpx2AiohttpClient

from genaipa.files.certificates import ssl_context
from genaipa.files.responses import LARGEST, LARGEST_BODY, BoundedHttpClient

_LARGEST_REPLY = 10 * LARGEST_BODY
"""Bytes of a reply that is streamed: each piece of it comes with hundreds of its own."""
_MOST = 1000
"""Connections at once."""


class Connections(BoundedHttpClient, Httpx2AiohttpClient):
    """One pool of connections; the environment's proxies apply where `use_proxy`.

    No redirect is followed: it would take the document along, and with some vendors the key.
    """

    of_json = True

    def __init__(self, *, use_proxy: bool) -> None:
        super().__init__(
            verify=ssl_context(),
            limits=httpx2.Limits(max_connections=_MOST),
            follow_redirects=False,
            trust_env=use_proxy,
        )

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; whatever breaks is an error of httpx2's, and a time-out only where the time was over.

        A reply that is streamed is the answer to a POST; what else is streamed, such as a batch's results, is longer.
        """
        if options.get("stream") and request.method == "POST":
            request.extensions = {LARGEST: _LARGEST_REPLY} | request.extensions
        try:
            return await super().send(request, **options)
        except httpx2.ConnectTimeout as error:
            # Of a server that hangs up, too, the transport says this.
            if isinstance(error.__cause__, TimeoutError):
                raise
            raise httpx2.RemoteProtocolError(str(error) or "the server hung up") from error
        except aiohttp.ClientError as error:
            raise httpx2.RemoteProtocolError("the answer is not HTTP") from error
