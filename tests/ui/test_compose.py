"""A team's desk as container/compose.yaml has it: Caddy, the desk and PostgreSQL, as processes of this machine.

They are started by the same files as in containers: the Caddyfile, the desk's command and variables, the database's
names, and the place of the login's secrets.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import ssl
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import postgres
import pytest
import yaml
from analysts import Analyst, make_answers
from desk import PATIENCE, browsing, fork_desk, free_port
from provider import Provider
from running import write
from size import size
from stores import kept, opened

from rubrics import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desk import RunningDesk, Visitors

CONTAINER = Path(__file__).parents[2] / "container"
COMPOSE = (CONTAINER / "compose.yaml").read_text(encoding="utf-8")
TEAM = {f"analyst{n}@example.org": f"1231{n % 3 + 1}" for n in range(size(small=4, soak=10))}
"""The analysts, and the keys that each gives to every answer."""
ANSWERS = 3
_VARIABLE = re.compile(r"\$\{(\w+)(:[?-])?[^}]*\}")
"""A variable of a compose file: `:?` and a sentence for whoever does not set it, or `:-` and its value then."""


def service(name: str, **given: str) -> dict[str, Any]:
    """A service of the compose file, with these variables."""
    filled = _VARIABLE.sub(lambda variable: given.get(variable[1], "unused"), COMPOSE)
    found: dict[str, Any] = yaml.safe_load(filled)["services"][name]
    return found


@contextlib.contextmanager
def caddy(desk: RunningDesk, port: int) -> Iterator[Path]:
    """Caddy before the desk, by the Caddyfile; gives the certificate of the authority that it made for this machine."""
    if shutil.which("caddy") is None:
        pytest.skip("needs Caddy")
    home = Path("caddy").absolute()
    own = f"admin off\nskip_install_trust\nhttp_port {free_port()}\nhttps_port {port}\nstorage file_system {home}"
    config = write("caddy/Caddyfile", f"{{\n{own}\n}}\nimport {CONTAINER / 'Caddyfile'}\n")
    variables = service("caddy", DESK_HOST="localhost")["environment"] | {"DESK": f"127.0.0.1:{desk.port}"}
    with Path("caddy.log").open("wb") as log:
        process = subprocess.Popen(
            ["caddy", "run", "--config", config, "--adapter", "caddyfile"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(home)} | variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    authority = home / "pki" / "authorities" / "local" / "root.crt"
    try:
        until = time.monotonic() + PATIENCE
        while not is_up(port, authority):
            said = Path("caddy.log").read_text(encoding="utf-8")
            assert process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.1)
        yield authority
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def is_up(port: int, authority: Path) -> bool:
    """Whether the desk says through Caddy that it is well."""
    try:
        return greeting(port, authority, "/_stcore/health").is_success
    except (OSError, httpx2.HTTPError):
        return False


def greeting(port: int, authority: Path, path: str = "/") -> httpx2.Response:
    """What somebody gets from Caddy who trusts this authority alone."""
    return httpx2.get(f"https://localhost:{port}{path}", verify=ssl.create_default_context(cafile=authority))


def log_in(browser: Visitors, port: int, provider: Provider, email: str) -> Analyst:
    """Somebody at a machine of their own, after the way to the provider and back, with an answer before them."""
    provider.person = {"email": email}
    machine = browser.browser.new_context(ignore_https_errors=True, viewport={"width": 1400, "height": 900})
    machine.set_default_timeout(PATIENCE * 1000)
    browser.watch(machine)
    analyst = Analyst(email, machine.new_page())
    analyst.page.goto(f"https://localhost:{port}/")
    analyst.page.get_by_role("button", name="Log in").click()
    analyst.wait()
    return analyst


def test_what_is_not_set_is_said() -> None:
    """Every variable of the compose file has a sentence for whoever does not set it, or a value then."""
    variables = dict(_VARIABLE.findall(COMPOSE))
    said = ("DATABASE_PASSWORD", "DESK_HOST", "LOGIN", "STUDY")
    assert variables == dict.fromkeys(said, ":?") | {"STUDY_OWNER": ":-"}


# In small, test_login has the login, and what TLS means for cookies and origins; test_store has PostgreSQL.
@pytest.mark.full
def test_a_team_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A team logs in over TLS and scores at once: each score is in PostgreSQL once, as it was typed."""
    make_answers(*(f"Answer {n}." for n in range(ANSWERS)))
    write("desk.yaml", f"analysts: [{', '.join(TEAM)}]\n")
    server = postgres.server(request.config)
    names = service("database")["environment"]
    server.run(f"CREATE DATABASE {names['POSTGRES_DB']} OWNER {names['POSTGRES_USER']}")
    made = service("desk", DATABASE_PASSWORD=postgres.PASSWORD)
    # In the network of the containers the database is found by its name, here by the folder of its socket.
    url = made["environment"]["GENAIPA_DATABASE_URL"].replace("@database/", "@/") + f"?host={server.folder}"
    for name, value in (made["environment"] | {"GENAIPA_DATABASE_URL": url}).items():
        monkeypatch.setenv(name, value)
    port = free_port()
    with Provider() as provider, browsing() as browser:
        secrets = made["secrets"][0]["target"].replace("/home/genaipa", str(Path.home()))
        write(secrets, provider.secrets().replace("http://127.0.0.1:{port}", f"https://localhost:{port}"))
        flags = [flag for flag in made["command"][1:] if flag != "--no-browser"]
        with fork_desk(*flags, "--per-answer", f"{len(TEAM)}") as desk, caddy(desk, port) as authority:
            headers = greeting(port, authority).headers
            team = [log_in(browser, port, provider, email) for email in TEAM]
            for _ in range(ANSWERS):
                before = [analyst.wait() for analyst in team]
                for analyst in team:
                    analyst.keys(TEAM[analyst.name])
                for analyst in team:
                    analyst.page.keyboard.press("Enter")
                left = [analyst.leave(screen) for analyst, screen in zip(team, before, strict=True)]
            assert left == [None] * len(TEAM)
            assert (browser.strangers, browser.refused, provider.refused) == ([], [], [])
            assert "Traceback" not in desk.printed
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    with opened(url) as store:
        events = kept(store)
    assert len({event.answer for event in events}) == ANSWERS
    scores = sorted((event.analyst, keys_of(event.values)) for event in events)
    assert scores == sorted(person for person in TEAM.items() for _ in range(ANSWERS))
