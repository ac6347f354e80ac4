"""Start the desk's server in this process: for this machine alone by default, without usage statistics.

Settings are given as flags, which override Streamlit's configuration files and variables.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import os
import socket
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast
from urllib.parse import urlsplit

from genaipa.errors import MissingPackageError, UsageError
from genaipa.systems.endpoint import is_loopback_url
from genaipa.ui.settings import LoginSettings, load_or_create_desk_key_in_user_state, possible_secrets_files, read_login

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.ui.desk import Desk
    from genaipa.ui.settings import DeskSettings

SCRIPT = Path(__file__).parent / "script" / "app.py"
NEEDED = ("streamlit", "sqlalchemy", "rapidfuzz", "numpy", "authlib")
FOR_RESULTS = ("matplotlib", "pandas", "scipy")
BLUE = "#2f6feb"
"""Colour of the primary buttons; white text on it has a contrast of 4.6."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


def check_desk_packages() -> None:
    """Raise a MissingPackageError naming the extra if a package that the desk needs is not installed."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingPackageError(f"the desk needs the package '{name}': pip install 'genaipa[desk]'")


def explain_missing_results_packages_if_any() -> str:
    """Explain why the Results page is closed, with the extra to install; empty if it is open."""
    for name in FOR_RESULTS:
        if importlib.util.find_spec(name) is None:
            return f"The Results page needs the package '{name}': pip install 'genaipa[desk,reports]'"
    return ""


@cache
def open_desk_and_login_once(settings: DeskSettings) -> tuple[Desk, LoginSettings | None]:
    """Open the desk and its login, once for the command and every page of this process.

    So a change of the secrets while the desk is open can't turn the login off.
    """
    from genaipa.ui.desk import open_desk

    desk = open_desk(settings)
    login = read_login(desk.workspace)
    if login is not None:
        desk.people.check_someone_is_listed()
    return desk, login


def check_address_can_be_bound(host: str, port: int) -> None:
    """Raise a UsageError if the server can't listen at this address; for a taken port it names a free one."""
    error = _try_binding_address(host, port)
    if error is None:
        return
    if error.errno == errno.EADDRINUSE:
        free = next(
            (
                candidate
                for candidate in range(port + 1, min(port + 100, 65536))
                if _try_binding_address(host, candidate) is None
            ),
            None,
        )
        another = f", for example --port {free}" if free else ""
        raise UsageError(f"port {port} is in use, perhaps by another desk; choose one with --port{another}.")
    raise UsageError(f"the desk can't listen on port {port} of {host} ({error.strerror}); see --host and --port.")


def make_desk_url_with_key_unless_login(host: str, port: int, login: LoginSettings | None, desk: Desk) -> str:
    """Return the address at which people open the desk; without a login it has the desk's key in it."""
    if login is not None:
        return login.desk_url(port)
    host_name = "localhost" if host in _EVERY_ADDRESS else f"[{host}]" if ":" in host else host
    return f"http://{host_name}:{port}/?key={load_or_create_desk_key_in_user_state(desk.workspace.home)}"


def is_reachable_from_this_machine_only(host: str) -> bool:
    """Tell whether a server at this address is reached from this machine only."""
    return host in _THIS_MACHINE or is_loopback_url(f"//{host}")


def import_first_page_modules() -> None:
    """Import what the first analyst would wait for."""
    from streamlit.logger import set_log_level

    # Streamlit warns that it keeps what it caches in memory, because nothing is served yet; `serve_desk` sets its own.
    set_log_level("error")
    # Streamlit imports pandas for its first component.
    for name in ("genaipa.ui.signin", "genaipa.ui.pages.scoring", "pandas", "streamlit.web.cli"):
        import_module(name)


def serve_desk(desk: Desk, login: LoginSettings | None, *, host: str, port: int, open_browser_at_start: bool) -> None:
    """Serve the desk until Ctrl-C, SIGTERM, or the end of the terminal that it was started in."""
    # Streamlit says that it stops before it stops: it never would on a terminal that is gone.
    sys.stdout, sys.stderr = map(_make_stream_closable, (sys.stdout, sys.stderr))
    import click
    from streamlit import cli_util, net_util
    from streamlit.web import cli

    from genaipa.ui.gate import install_gate_in_streamlit

    install_gate_in_streamlit(
        login.desk_url(port) if login else "",
        "" if login else load_or_create_desk_key_in_user_state(desk.workspace.home),
    )
    url, open_browser = make_desk_url_with_key_unless_login(host, port, login, desk), cli_util.open_browser
    # Streamlit would open the address without the key.
    vars(cli_util)["open_browser"] = lambda _: open_browser(url)
    os.environ.update(desk.settings.to_environment())
    # Streamlit asks a server on the internet for this machine's address before it refuses a foreign origin.
    net_util._external_ip = "127.0.0.1"  # noqa: SLF001
    flags = [
        f"--{name}={value}"
        for name, value in _list_streamlit_flags(desk, login, host, port, open_browser_at_start=open_browser_at_start)
    ]
    try:
        cli.main(["run", str(SCRIPT), *flags], prog_name="streamlit", standalone_mode=False)
    except click.Abort:  # Ctrl-C before the server listened for it
        raise KeyboardInterrupt from None


class _ClosableStream(io.TextIOWrapper):
    """A stream to a terminal or a pipe that may close: later writes are dropped."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(stream.buffer, stream.encoding, "replace", line_buffering=True)
        # Once nobody holds it, it would close what both write to.
        self._before = stream

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            self._discard_output()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            self._discard_output()

    def _discard_output(self) -> None:
        # The buffered text goes there too: it would fail once more when the process ends.
        with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())


def _make_stream_closable(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return cast("TextIO", _ClosableStream(stream))


def _list_streamlit_flags(
    desk: Desk, login: LoginSettings | None, host: str, port: int, *, open_browser_at_start: bool
) -> Iterator[tuple[str, str]]:
    yield from {
        "server.address": host,
        "server.port": str(port),
        "server.showEmailPrompt": "false",
        "server.fileWatcherType": "none",
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.enableStaticServing": "false",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "theme.light.primaryColor": BLUE,
        "theme.dark.primaryColor": BLUE,
        "client.showErrorDetails": "none",
        "client.showErrorLinks": "false",
        "logger.hideWelcomeMessage": "true",
        "runner.magicEnabled": "false",
        # Collecting all garbage after every run of a page takes longer than the page; Python does it when it is due.
        "runner.postScriptGC": "false",
        # A part of a page that the browser has is named by its digest, from this size on, and for so many runs.
        "global.minCachedMessageSize": "500",
        "global.maxCachedMessageAge": "12",
        "logger.level": "warning",
    }.items()
    # Without the flag Streamlit opens a browser where there is a screen. People who log in come by their own address.
    if login or not open_browser_at_start:
        yield "server.headless", "true"
    for path in possible_secrets_files(desk.workspace):
        yield "secrets.files", str(path)
    hosts = {*_THIS_MACHINE, host}
    if login:
        origin = login.desk_url(port)
        hosts.add(urlsplit(origin).hostname or "")
        yield "server.corsAllowedOrigins", origin
    # Other sites' pages in the same browser must not reach the desk under a name of theirs (DNS rebinding).
    if login or host not in _EVERY_ADDRESS:
        for name in sorted(hosts):
            yield "server.allowedHosts", name


def _try_binding_address(host: str, port: int) -> OSError | None:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
            if os.name != "nt":
                # As the server will: a port whose last connection has just ended is free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error
    return None
