"""The scoring desk as people meet it: `genaipa score` in a process of its own, and a real browser before it.

make_answers("See section 1.")                       # the working folder, with a run (`analysts.py`)
with open_desk() as desk, browsing() as browser:     # skips where chromium is missing; fork_desk() is up sooner
page = browser.visit(desk, "Anna")               # somebody at their own machine, signed in
...
assert browser.strangers == []                   # whatever the browser asked for came from this machine
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest
from commandline import heeding
from forking import fork
from size import FULL

from genaipa.ui.settings import desk_key_cookie_name, load_or_create_desk_key_in_user_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forking import Forked
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CHROMIUM = shutil.which("chromium")
COOKIE = "genaipa_name"
"""The cookie that keeps somebody's name (`genaipa.ui.signin`, which would import Streamlit)."""
KEEPER = "http://127.0.0.1/keeper"
"""The empty page that stays open on a machine; of one site with every desk, so that one process shows both."""
PATIENCE = 180.0
"""Seconds that a start, an end or an element on screen may take on a busy machine."""
# Whatever chromium would look up for itself, it finds nothing: it is as offline as the rest of the tests.
_CLOSED = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",)
# Below those that systems give to whoever asks for any port, above those that a browser refuses.
_LOW_PORTS = range(20_000, 32_000)
_PORTS: list[int] = []
"""Where the desks were that this process has forked; the last is that of the next, while nobody else has it."""
# A process in reserve for a page that nobody opens, and what Playwright leaves out itself: only one list counts.
_WITHOUT = (
    *("SpareRendererForSitePerProcess", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"),
    *("HttpsUpgrades", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding"),
)
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", *_CLOSED),
    *("--js-flags=--no-flush-bytecode", f"--disable-features={','.join(_WITHOUT)}"),
)


def free_port() -> int:
    """A port on which nobody listens, and which the system gives to none of the many who ask it for any port."""
    while True:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", secrets.choice(_LOW_PORTS))) as probe:
            return int(probe.getsockname()[1])


def _port_again() -> int:
    """The port of the last desk if it is free: what a browser has loaded from there it need not load again."""
    if _PORTS:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", _PORTS[-1])):
            return _PORTS[-1]
    _PORTS.append(free_port())
    return _PORTS[-1]


@dataclass
class RunningDesk:
    """`genaipa score` while it runs: its process, its address, and the file that takes what it prints."""

    process: subprocess.Popen[bytes] | Forked
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where the desk is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """Where a browser opens it the first time, as the command says."""
        return f"{self.url}/?key={load_or_create_desk_key_in_user_state(self.log.parent)}"

    @property
    def cookie(self) -> str:
        """What a browser sends from then on."""
        key = load_or_create_desk_key_in_user_state(self.log.parent)
        return f"{desk_key_cookie_name(key)}={key}"

    @property
    def printed(self) -> str:
        """Whatever the command has written to standard output and standard error."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def is_up(self) -> bool:
        """Whether the server says that it is well."""
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                return bool(answer.read() == b"ok")
        except (urllib.error.URLError, OSError):
            return False

    def await_start(self) -> None:
        """Return when it answers."""
        until = time.monotonic() + PATIENCE
        while not self.is_up():
            assert self.process.poll() is None, f"the desk ended: {self.printed}"
            assert time.monotonic() < until, f"the desk does not answer: {self.printed}"
            time.sleep(0.05)

    def is_gone(self) -> bool:
        """Whether nothing that it started is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit code with which the desk ends."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


@contextlib.contextmanager
def open_desk(
    *flags: str, port: int | None = None, browser: bool = False, terminal: int | None = None
) -> Iterator[RunningDesk]:
    """A desk that is ready for visitors, in the working folder; it is stopped at the end, if it still runs.

    With `browser` it may open one of its own, as it does for a person; with a `terminal` it prints there.
    """
    port = port or free_port()
    log = Path(f"desk-{port}.log").absolute()
    command = [sys.executable, "-m", "genaipa", "score", "--port", str(port), *flags]
    if not browser:
        command.append("--no-browser")
    with log.open("ab") as file, heeding(signal.SIGINT, signal.SIGHUP):
        process = subprocess.Popen(
            command,
            stdout=file if terminal is None else terminal,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    with _up(RunningDesk(process, port, log)) as desk:
        yield desk


@contextlib.contextmanager
def fork_desk(*flags: str) -> Iterator[RunningDesk]:
    """The same, up in a moment: for what happens at the desk, rather than at its start and end."""
    port = _port_again()
    log = Path(f"desk-{port}.log").absolute()
    with _up(RunningDesk(fork("score", "--port", str(port), "--no-browser", *flags, log=log), port, log)) as desk:
        yield desk


@contextlib.contextmanager
def _up(desk: RunningDesk) -> Iterator[RunningDesk]:
    """Wait until the desk answers; end it in the end."""
    try:
        desk.await_start()
        yield desk
    finally:
        if desk.process.poll() is None:
            desk.process.kill()
            desk.process.wait(PATIENCE)


@dataclass
class Visitors:
    """People in front of their browsers, each with cookies of their own, and whatever these have asked for."""

    browser: Browser
    warm: list[BrowserContext] = field(default_factory=list)
    """Machines that no visit has taken yet, and that earlier tests have used."""
    requests: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Whatever a browser would not load, or run, for the desk's security policy."""

    def machine(self) -> BrowserContext:
        """A browser nobody has used yet."""
        context = self.browser.new_context(viewport={"width": 1400, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        self.watch(context)
        return context

    def watch(self, context: BrowserContext) -> None:
        """Note what a machine asks for."""
        context.on("request", self._asked)
        context.on("page", self._opened)

    def leave(self, context: BrowserContext) -> None:
        """Close what was opened on a machine, and forget who was there; its first page stays (`_warm`)."""
        for page in context.pages[1:]:
            page.close()
        context.clear_cookies()
        storage = context.new_cdp_session(context.pages[0])
        for port in _PORTS:
            of = {"origin": f"http://127.0.0.1:{port}", "storageTypes": "local_storage"}
            storage.send("Storage.clearDataForOrigin", of)
        storage.detach()
        context.remove_listener("request", self._asked)
        context.remove_listener("page", self._opened)

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)

    def _opened(self, page: Page) -> None:
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("console", self._said)

    def _said(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.refused.append(message.text)

    def visit(self, desk: RunningDesk, name: str = "", *, machine: BrowserContext | None = None) -> Page:
        """A tab that shows the desk; with a name, of somebody who gave it there before (`sign_in` gives it now)."""
        if machine is None:
            machine = self.warm.pop() if self.warm else _warm(self.machine())
        if name:
            machine.add_cookies([{"name": COOKIE, "value": quote(name), "url": desk.url}])
        page = machine.new_page()
        page.goto(desk.address)
        if name:
            page.get_by_role("button", name="not you?").wait_for()
        return page

    @property
    def strangers(self) -> list[str]:
        """Whatever was asked of another machine than this one."""
        near = ("127.0.0.1", "localhost", None)
        return [url for url in self.requests if urlsplit(url).hostname not in near]


@contextlib.contextmanager
def browsing() -> Iterator[Visitors]:
    """Debian's chromium, with nobody before it; skips where it is missing."""
    assert FULL, "a browser belongs to `make test-all`: mark the test with pytest.mark.full"
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    pytest.importorskip("playwright.sync_api", reason="needs playwright to drive chromium")
    browser, loop = _chromium()
    # Playwright's event loop counts as running for good; between the tests that use it, others run their own.
    asyncio._set_running_loop(loop)
    try:
        visitors = Visitors(browser, browser.contexts)
        for context in visitors.warm:
            visitors.watch(context)
        yield visitors
    finally:
        for context in browser.contexts:
            if _is_warm(context):
                visitors.leave(context)
            else:
                context.close()
        asyncio._set_running_loop(None)


def _warm(context: BrowserContext) -> BrowserContext:
    """Keep the process that shows this machine's pages, and what it has compiled: half of the work of a visit."""
    page = context.new_page()
    page.route(KEEPER, lambda route: route.fulfill(body=""))
    page.goto(KEEPER)
    return context


def _is_warm(context: BrowserContext) -> bool:
    return bool(context.pages) and context.pages[0].url == KEEPER


@cache
def _chromium() -> tuple[Browser, asyncio.AbstractEventLoop]:
    """A browser started once for all tests of a process, and the event loop that drives it."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
    loop = asyncio.get_running_loop()

    def close() -> None:
        # A browser that doesn't end keeps nobody's session from ending.
        overdue = threading.Timer(PATIENCE, os._exit, (1,))
        overdue.daemon = True
        overdue.start()
        asyncio._set_running_loop(loop)
        browser.close()
        playwright.stop()
        overdue.cancel()

    atexit.register(close)
    return browser, loop


def sign_in(page: Page, name: str) -> None:
    """Give one's name at the desk, and wait until it is open."""
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Go to the desk").click()
    page.get_by_role("button", name="not you?").wait_for()


def greeting(port: int, host: str, origin: str, cookie: str = "") -> str:
    """The status with which the desk answers a page of this origin that opens a websocket to this host."""
    asked = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(asked.encode())
        return line.recv(100).decode(errors="replace").split()[1]
