"""The connections below the vendors' SDKs: servers that break HTTP itself, TLS, and proxies, for every vendor."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime as dt
import gzip
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Self

import pytest
from asking import ALL_SETTINGS, QUESTION
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from running import KEY
from test_hostile_servers import ADDRESSES, KEYS, MODELS, SYSTEMS, completion

from genaipa.errors import NoReplyError, NotReadyError, UsageError
from genaipa.files.certificates import explain_refused_certificate_or_empty
from genaipa.systems.base import Settings

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 5.0
"""Time limit of a call."""
PATHS = {"openai": "/v1"}
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
UNTIL_CLOSED = b"connection: close\r\n\r\n"


def sized(body: bytes, more: bytes = b"") -> bytes:
    """A whole answer."""
    return OK + more + b"content-length: %d\r\n\r\n" % len(body) + body


def modes(vendor: str, body: bytes) -> dict[str, tuple[bytes, str]]:
    """What is sent before the connection is closed, and the kind of failure; empty where it is a reply."""
    google = vendor == "google"
    half = body[: len(body) // 2]
    chunked = OK + b"transfer-encoding: chunked\r\n\r\n"
    packed = gzip.compress(body)
    return {
        "hangs up": (b"", "connection"),
        "garbage": (b"\x00\xff" * 5, "connection"),
        "no status": (b"HTTP/1.1 nonsense\r\n\r\n", "connection"),
        "half a head": (OK, "connection"),
        "a head of 1 MB": (OK + b"x-long: " + b"x" * 2**20 + b"\r\n" + UNTIL_CLOSED + body, "connection"),
        "half a body": (OK + b"content-length: %d\r\n\r\n" % len(body) + half, "connection"),
        "half in chunks": (chunked + b"%x\r\n" % len(half) + half + b"\r\n", "connection"),
        "chunks of no size": (chunked + b"many\r\n" + body + b"\r\n0\r\n\r\n", "connection"),
        "not packed": (sized(body, b"content-encoding: gzip\r\n"), "malformed-reply"),
        "packed": (sized(packed, b"content-encoding: gzip\r\n"), ""),
        "no length": (OK + UNTIL_CLOSED + body, ""),
        "in chunks": (chunked + b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n", ""),
        "two answers": (sized(body) + sized(body.replace(b"Yes.", b"No.")), ""),
        "early hints": (b"HTTP/1.1 103 Early Hints\r\n\r\n" + sized(body), ""),
        "nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", "bad-request" if google else "malformed-reply"),
    }


class RawServer:
    """A server, or a proxy to one behind TLS, that answers a question with these bytes, and hangs up after it."""

    def __init__(self, answer: bytes, tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.tls = tls
        self.heads: list[bytes] = []
        """First lines and headers of all requests."""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def serve(self) -> None:
        """Answer one connection after another."""
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.settimeout(SECONDS)
                with connection, contextlib.suppress(OSError):
                    self.exchange(connection)

    def exchange(self, connection: socket.socket) -> None:
        """Read one request, all of it, since the peer would else see a reset; answer it and hang up."""
        said = b""
        while b"\r\n\r\n" not in said:
            said += connection.recv(65536)
        head, _, rest = said.partition(b"\r\n\r\n")
        self.heads.append(head)
        if head.startswith(b"CONNECT "):
            assert self.tls is not None
            connection.sendall(b"HTTP/1.1 200 Established\r\n\r\n")
            with self.tls.wrap_socket(connection, server_side=True) as within:
                self.exchange(within)
            return
        lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
        length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
        while len(rest) < length:
            rest += connection.recv(65536)
        connection.sendall(sized(b"{}", b"connection: close\r\n") if head.startswith(b"GET ") else self.answer)
        connection.shutdown(socket.SHUT_WR)


def put(vendor: str) -> str:
    """Ask once: the kind of failure, or the reply."""

    async def once() -> str:
        name = MODELS[vendor]
        system = SYSTEMS[vendor](name=f"{vendor}/{name}", model=name, accepts=ALL_SETTINGS)
        await system.start()
        try:
            return (await system.reply(QUESTION, Settings(timeout=SECONDS))).text
        finally:
            await system.close()

    try:
        return asyncio.run(once())
    except NotReadyError:
        raise
    except NoReplyError as failure:
        return failure.kind


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_a_broken_answer_is_a_failure_of_its_kind(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No way of breaking off or of garbling HTTP is anything but a failure that may pass; whole answers are read."""
    monkeypatch.setenv(KEYS[vendor], KEY)
    found, expected = {}, {}
    for mode, (sent, kind) in modes(vendor, completion(vendor, "m", 1)).items():
        with RawServer(sent) as server:
            monkeypatch.setenv(ADDRESSES[vendor], f"http://{server.address}{PATHS.get(vendor, '')}")
            found[mode], expected[mode] = put(vendor), kind or "Yes."
    assert found == expected


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Write a certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(1))
        .not_valid_after(today + dt.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))
    return folder / "certificate.pem", folder / "key.pem"


def test_a_file_of_authorities_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An SSL_CERT_FILE that is not there, or holds no certificate, is one sentence that names both."""
    (tmp_path / "empty.pem").write_text("nothing")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name, wrong in (("nowhere.pem", "which does not exist"), ("empty.pem", "which has no readable certificate")):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        with pytest.raises(UsageError, match=rf"SSL_CERT_FILE names .*/{name}, {wrong}"):
            put("openai")


def test_why_a_certificate_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of an unknown authority names the variable and its file, any other only what is wrong."""
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/ours.pem")
    begun = "Cannot connect [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
    said = explain_refused_certificate_or_empty(
        f"{begun}unable to get local issuer certificate (_ssl.c:1000)", "llm.example"
    )
    assert said.startswith(
        "the certificate of llm.example is not trusted (unable to get local issuer certificate); if "
    )
    assert "SSL_CERT_FILE to a PEM" in said
    assert "/etc/ours.pem" in said
    other = explain_refused_certificate_or_empty(
        f"{begun}Hostname mismatch, certificate is not valid for 'a.example'. (_ssl.c:1)", "b"
    )
    assert "Hostname mismatch" in other
    assert "SSL_CERT_FILE" not in other
    assert explain_refused_certificate_or_empty("connection refused", "b") == ""
    wrapped = OSError("no")
    wrapped.__cause__ = ValueError(f"{begun}certificate has expired (_ssl.c:1)")
    assert "(certificate has expired)" in explain_refused_certificate_or_empty(wrapped, "b")


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_tls_by_a_proxy(vendor: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment's proxy is used, with its password, and its server's certificate is checked."""
    trusted, key = certificate(tmp_path, "model.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(trusted, key)
    monkeypatch.setenv(KEYS[vendor], KEY)
    monkeypatch.setenv(ADDRESSES[vendor], f"https://model.example{PATHS.get(vendor, '')}")
    body = completion(vendor, "m", 1)
    with RawServer(sized(body), tls) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{proxy.address}")
        with pytest.raises(NotReadyError, match=r"certificate of model.example is not trusted .*SSL_CERT_FILE to"):
            put(vendor)
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        assert put(vendor) == "Yes."
    to_proxy = [head for head in proxy.heads if head.startswith(b"CONNECT model.example:443 ")]
    password = base64.b64encode(b"me:secret")
    assert to_proxy
    assert all(b"Basic " + password in head for head in to_proxy)
    assert not any(KEY.encode() in head for head in to_proxy)
    assert any(head.startswith(b"POST /") and KEY.encode() in head for head in proxy.heads)
