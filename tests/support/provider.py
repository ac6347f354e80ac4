"""A login on loopback: an OpenID Connect provider that vouches for whoever the test says sits before the browser.

with Provider() as provider:
Path(".streamlit/secrets.toml").write_text(provider.secrets(port))
provider.person = {"email": "anna@example.org"}
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

if TYPE_CHECKING:
    from types import TracebackType

CLIENT = "desk"
SECRET = "Recognise7this8client9secret"
COOKIE_SECRET = "Recognise7this8cookie9secret"


class Provider:
    """The provider: signs in `person` (the claims about them) without a question asked."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "test"}, auto_kid=False)
        self.codes: dict[str, dict[str, str]] = {}
        self.refused: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def secrets(self, port: int | str = "{port}") -> str:
        """What .streamlit/secrets.toml says so that people log in here at a desk on that port."""
        return (
            f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{COOKIE_SECRET}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{self.url}/.well-known/openid-configuration"\n'
        )

    def metadata(self) -> dict[str, Any]:
        """Where everything is."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to, with a code for whoever sits before it."""
        code = uuid.uuid4().hex
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, asked: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """The signed statement about a person, for a code; None for whoever may not have it."""
        begun = self.codes.pop(asked["code"], None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_client = authorization == f"Basic {basic}" or asked.get("client_secret") == SECRET
        if begun is None or not is_client or not _is_proof(asked.get("code_verifier"), begun):
            self.refused.append(asked["code"])
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 600, "nonce": begun["nonce"]}
        signed = jwt.encode({"alg": "RS256", "kid": "test"}, claims | self.person, self.key)
        return {"access_token": uuid.uuid4().hex, "token_type": "Bearer", "expires_in": 600, "id_token": signed}


def _is_proof(verifier: str | None, begun: dict[str, str]) -> bool:
    """Whether whoever redeems the code is who asked for it, where they left a challenge (PKCE)."""
    if "code_challenge" not in begun:
        return True
    digest = hashlib.sha256((verifier or "").encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == begun["code_challenge"]


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(_single(parts.query)))
                self.end_headers()
            elif parts.path == "/jwks":
                self._answer({"keys": [provider.key.as_dict(private=False)]})
            else:
                self._answer(provider.metadata())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            token = provider.token(_single(body), self.headers.get("Authorization", ""))
            self._answer(token or {"error": "invalid_grant"}, 200 if token else 400)

        def _answer(self, value: dict[str, Any], status: int = 200) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the tests' output clean."""

    return Handler


def _single(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
