"""The gate before Streamlit's server: what a browser may load here, who may frame it, and which pages may open it.

Streamlit sets no such headers, and compares the origin of a page with this machine's names alone, without the port.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import Response
from streamlit.web.server.starlette import starlette_app

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSED = "/_stcore/metrics"
"""Figures on the server's memory and visitors, which Streamlit shows to anybody."""


def put_before_streamlit(origins: frozenset[str]) -> None:
    """Have every request of a server started after this pass the gate; `origins` may open it beside its own pages."""
    streamlits = starlette_app.create_streamlit_middleware
    before = Middleware(Gate, origins=origins, headers=_headers())
    # Only an application that one builds oneself has a parameter for it, and that is served in another way.
    vars(starlette_app)["create_streamlit_middleware"] = lambda: [before, *streamlits()]


class Gate:
    """Refuses a websocket that another site's page opens, and gives every response its headers."""

    def __init__(self, app: ASGIApp, origins: frozenset[str], headers: dict[str, str]) -> None:
        self.app = app
        self.origins = origins
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket" and not self._is_ours(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            to = Response(status_code=404) if scope["path"].endswith(_CLOSED) else self.app
            await to(scope, receive, self._with_headers(send))
        else:
            await self.app(scope, receive, send)

    def _is_ours(self, headers: Headers) -> bool:
        """Whether a page of this server opens the websocket; programs that are no browsers name no origin."""
        origin = headers.get("origin")
        return origin is None or origin in self.origins or urlsplit(origin).netloc == headers.get("host")

    def _with_headers(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        return sent


def _headers() -> dict[str, str]:
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    # The desk's own parts of a page come as blobs; Streamlit writes its styles into the page.
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {hashes}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}".strip() for name, value in policy.items()),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }
