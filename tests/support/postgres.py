"""A real PostgreSQL server for tests: made in a folder of its own, gone with the session.

    url = postgres.database(request.config)      # of a fresh database, on a server that is started at the first call

It listens on a socket in its folder alone, so that no port can be taken, and asks for a password. It does not wait for
the disk (fsync is off): a test may kill those who write to it, and not the machine.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from size import FULL

USER, PASSWORD = "genaipa", "sl0w-turtle"
_STARTS_WITHIN = 60.0


@dataclass(frozen=True)
class Server:
    """A running server and the folder that it lives in."""

    folder: Path
    process: subprocess.Popen[bytes]

    def url(self, database: str, password: str = PASSWORD) -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}:{password}@/{database}?host={self.folder}"

    def run(self, statement: str) -> None:
        """Run a statement as the server's owner."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def pytest_sessionfinish(self) -> None:
        """End it and take its folder away, before the session says that it is finished."""
        # Not SIGTERM, at which it waits for whoever is connected.
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


def server(config: pytest.Config) -> Server:
    """The server of this session, started at the first call; skips where PostgreSQL is not installed."""
    assert FULL, "PostgreSQL belongs to `make test-all`: mark the test with pytest.mark.full"
    running = config.pluginmanager.get_plugin("postgresql")
    if running is None:
        running = _started()
        config.pluginmanager.register(running, "postgresql")
    assert isinstance(running, Server)
    return running


def database(config: pytest.Config) -> str:
    """The URL of a fresh, empty database."""
    running = server(config)
    name = f"scores_{uuid.uuid4().hex[:12]}"
    running.run(f"CREATE DATABASE {name}")
    return running.url(name)


def _started() -> Server:
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="genaipa-pg-"))
    # PostgreSQL refuses to run as root.
    owner: dict[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:
        owner["user"] = "postgres"
        shutil.chown(folder, "postgres")
    try:
        _make(programs, folder, owner)
        started = _start(programs, folder, owner)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return started


def _make(programs: Path, folder: Path, owner: dict[str, Any]) -> None:
    password = folder / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    command = [programs / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", password, "-A", "scram-sha-256"]
    command += ["-E", "UTF8", "--locale=C", "--no-sync"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, **owner)
    assert done.returncode == 0, done.stderr


def _start(programs: Path, folder: Path, owner: dict[str, Any]) -> Server:
    settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={folder}", "max_connections=200")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [programs / "postgres", "-D", folder / "data", *(w for setting in settings for w in ("-c", setting))],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            **owner,
        )
    started = Server(folder, process)
    try:
        _await(started)
    except BaseException:
        process.kill()
        process.wait(timeout=60)
        raise
    return started


def _await(started: Server) -> None:
    end = time.monotonic() + _STARTS_WITHIN
    while True:
        try:
            return started.run("SELECT 1")
        except psycopg.OperationalError as error:
            if started.process.poll() is not None or time.monotonic() > end:
                log = (started.folder / "log").read_text(encoding="utf-8")
                raise AssertionError(f"PostgreSQL did not start ({error}): {log}") from None
            time.sleep(0.05)


def _programs() -> Path:
    """The folder with initdb and postgres: on the path, or where Debian keeps them."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders or not (folders[-1] / "postgres").is_file():
        pytest.skip("needs a PostgreSQL server to start (initdb and postgres), which is not installed")
    if os.geteuid() == 0 and "postgres" not in {user.pw_name for user in pwd.getpwall()}:
        pytest.skip("needs a user named postgres to start PostgreSQL, which refuses to run as root")
    return folders[-1]
