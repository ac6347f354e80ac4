"""The gate before Streamlit's server: what a browser may load here, who may frame it, and which pages may open it.

Streamlit sets no such headers, and compares the origin of a page with this machine's names alone, without the port.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from streamlit.web.server.starlette import starlette_app

from genaipa.files.text import split_url_or_empty
from genaipa.ui.settings import desk_key_cookie_name

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSED = "/_stcore/metrics"
"""Figures on the server's memory and visitors, which Streamlit shows to anybody."""
_OPEN = "/_stcore/health"
"""Whether the server is up, which anybody may ask."""
_YEAR = 31_536_000


def install_gate_in_streamlit(public_address: str = "", required_key: str = "") -> None:
    """Have every request of a server started after this pass the gate.

    With a `required_key` only those pass that have it in their address or, from then on, in a cookie.

    At an `public_address` that begins with https the server is behind a proxy: cookies are for https alone, and so are
    the pages that may open it. Elsewhere it is whatever address the browser asked for.
    """
    make_streamlit_middleware = starlette_app.create_streamlit_middleware
    gate = Middleware(DeskGate, address=public_address, headers=_build_security_headers(), key=required_key)
    # Only an application that one builds oneself has a parameter for it, and that is served in another way.
    vars(starlette_app)["create_streamlit_middleware"] = lambda: [gate, *make_streamlit_middleware()]


class DeskGate:
    """Refuses whoever lacks the key, and a websocket of another site's page; gives every response its headers."""

    def __init__(self, app: ASGIApp, address: str, headers: dict[str, str], key: str = "") -> None:
        self.app = app
        self.key = key
        self.origin = _make_origin(address)
        self.behind_tls = address.startswith("https://")
        self.headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket" and not (
            self._has_own_or_no_origin(Headers(scope=scope)) and self._has_key_cookie_or_needs_none(scope)
        ):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            target = (
                Response(status_code=404)
                if scope["path"].endswith(_CLOSED)
                else self._refuse_or_move_key_into_cookie(scope) or self.app
            )
            await target(scope, receive, self._wrap_send_with_headers(send))
        else:
            await self.app(scope, receive, send)

    def _has_key_cookie_or_needs_none(self, scope: Scope) -> bool:
        cookies = HTTPConnection(scope).cookies
        return not self.key or secrets.compare_digest(
            cookies.get(desk_key_cookie_name(self.key), "").encode(), self.key.encode()
        )

    def _refuse_or_move_key_into_cookie(self, scope: Scope) -> Response | None:
        """Refuse a request without the key, or move the key into a cookie; None if the request may pass."""
        if scope["path"] == _OPEN or self._has_key_cookie_or_needs_none(scope):
            return None
        sent_key = HTTPConnection(scope).query_params.get("key", "")
        if not secrets.compare_digest(sent_key.encode(), self.key.encode()):
            refusal = "Open the desk at the full address that 'genaipa score' printed; it ends in ?key=…"
            return PlainTextResponse(f"{refusal}\n", status_code=403)
        # The same page without the key, which a screen or a history would show.
        # By its last part alone, since a proxy may have the desk under a path of its own, which is not in the scope's.
        response = RedirectResponse("./" + quote(scope["path"].rpartition("/")[2]), status_code=303)
        response.set_cookie(desk_key_cookie_name(self.key), self.key, max_age=_YEAR, httponly=True, samesite="lax")
        return response

    def _has_own_or_no_origin(self, headers: Headers) -> bool:
        """Tell whether a page of this server opens the websocket; programs that are no browsers name no origin."""
        origin = headers.get("origin")
        if origin is None or origin == self.origin:
            return True
        return not self.behind_tls and split_url_or_empty(origin).netloc == headers.get("host")

    def _wrap_send_with_headers(self, send: Send) -> Send:
        async def send_with_headers_and_secure_cookies(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
                if self.behind_tls:
                    message["headers"] = [
                        _add_secure_to_cookie_header(name, value) for name, value in message["headers"]
                    ]
            await send(message)

        return send_with_headers_and_secure_cookies


def _make_origin(address: str) -> str:
    """Make the origin of an address as browsers name it: without a path, and without its scheme's own port."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.removesuffix({'https': ':443', 'http': ':80'}.get(parts.scheme, ''))}"


def _add_secure_to_cookie_header(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return a header, whose cookie no browser sends without TLS."""
    plain = name.lower() == b"set-cookie" and b"secure" not in [
        attribute.strip().lower() for attribute in value.split(b";")
    ]
    return name, value + b"; Secure" if plain else value


def _build_security_headers() -> dict[str, str]:
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
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }
