"""Downloads by URL: bounded in time and size, and told where a redirect leads."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest
from hostile import ENDLESS, bombs

from genaipa.errors import DataError
from genaipa.files.download import Downloads
from genaipa.files.responses import TooLargeError
from genaipa.policies.formats import extract_document

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME = 0.2
"""Time limit of a download in seconds."""
MODES = {**ENDLESS, **bombs(12)}


class Hostile(BaseHTTPRequestHandler):
    """A site with a page for each mode, by its number, and redirects to elsewhere."""

    def do_GET(self) -> None:
        """Send what the path names."""
        name = self.path.removeprefix("/")
        if name.isdecimal():
            with contextlib.suppress(OSError):
                for piece in list(MODES.values())[int(name)]():
                    if isinstance(piece, float):
                        threading.Event().wait(piece)
                    else:
                        self.wfile.write(piece)
            self.close_connection = True
            return
        target = {"host": f"http://localhost:{self.server.server_port}/policy", "bad": "http://a\x1b[31m/"}.get(name)  # type: ignore[attr-defined]
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        body = b"# Notice\n\nWe keep your orders for ten years, and nothing else.\n"
        self.send_header("Content-Type", "text/markdown")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def site() -> Iterator[str]:
    """The site's URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_download_ends_in_its_time_and_size(site: str) -> None:
    """A head, a body or interim answers that drip are over in time; what grows is broken off; what comes is read."""
    with Downloads() as downloads:
        for number, mode in enumerate(MODES):
            error = httpx2.TimeoutException if mode in ENDLESS else httpx2.HTTPError
            with contextlib.suppress(error):
                found = downloads.get(f"{site}/{number}", seconds=TIME if mode in ENDLESS else 20, max_bytes=9_900_000)
                assert len(found.content) <= 9_900_000, mode
                assert mode not in ENDLESS, mode
        with pytest.raises(TooLargeError, match="more than 9 MB"):
            downloads.get(f"{site}/{list(MODES).index('gzip')}", seconds=20, max_bytes=9_900_000)
        assert downloads.get(f"{site}/policy", seconds=20, max_bytes=1000).status == 200


def test_a_redirect_to_another_host_is_said(site: str) -> None:
    """The document's notes say whose text it is; a redirect that leads nowhere is a sentence."""
    port = site.rpartition(":")[2]
    assert extract_document(f"{site}/policy").notes == ()
    said = f"127.0.0.1:{port} redirects to localhost:{port}; the text comes from there"
    assert said in extract_document(f"{site}/host").notes
    with pytest.raises(DataError, match=r"the server answered 302 Found\."):
        extract_document(f"{site}/bad")


def test_a_redirect_from_outside_into_this_machine_is_refused(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of the web can't have this machine's own servers read; its proxy stands for the web here."""
    inside = f"http://127.0.0.1:{site.rpartition(':')[2]}/policy"

    class Proxy(Hostile):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", inside)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.server_port}")
        with (
            Downloads() as downloads,
            pytest.raises(httpx2.HTTPError, match=r"redirects to 127\.0\.0\.1, which is on this"),
        ):
            downloads.get("http://policies.example/a", seconds=20, max_bytes=1000)
        proxy.shutdown()
