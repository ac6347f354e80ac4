"""`genaipa score` as a person starts and ends it, and as a visitor finds it."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import postgres
import pytest
from analysts import make_answers
from commandline import heeding
from desk import browsing, fork_desk, free_port, greeting, open_desk, sign_in
from provider import Provider
from running import make_workspace, write
from size import size

from genaipa.errors import MissingPackageError
from genaipa.ui.launch import NEEDED, check_desk_packages

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from desk import RunningDesk

    Run = Callable[..., Finished]

PASSWORD = "Recognise7this8anywhere"


def test_starts_keeps_strangers_out_and_ends() -> None:
    """The desk answers on this machine's own address only, says what it scores and where, and ends at SIGTERM."""
    make_answers("See section 1.", "See section 2.")
    with open_desk() as desk:
        with socket.create_connection(("127.0.0.1", desk.port), timeout=5):
            pass
        # All of 127.0.0.0/8 is this machine; a server that listens at every address would answer there too.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", desk.port), timeout=5)
        check_other_pages(desk)
        check_other_users(desk)
        assert desk.stop() == 0
        assert desk.is_gone()
    run = next(Path("runs").iterdir()).name
    for fact in (f"2 answers to score of {run} (2)", str(Path("scores.db").resolve()), desk.address):
        assert fact in desk.printed
    assert "Traceback" not in desk.printed
    # Streamlit's warning where it looked for this machine's address on the internet, and failed.
    assert "external IP" not in desk.printed


def check_other_pages(desk: RunningDesk) -> None:
    """No page of another site can talk to the desk from a visitor's browser, and none makes the desk call out."""
    own = f"127.0.0.1:{desk.port}"
    assert greeting(desk.port, own, f"http://{own}", desk.cookie) == "101"
    assert greeting(desk.port, f"localhost:{desk.port}", f"http://localhost:{desk.port}", desk.cookie) == "101"
    for other in ("http://elsewhere.example", "http://127.0.0.1:9", f"http://localhost:{desk.port}", "null"):
        assert greeting(desk.port, own, other, desk.cookie) == "403", other
    # A name that its owner has turned to 127.0.0.1 after the page was loaded (DNS rebinding).
    turned = f"elsewhere.example:{desk.port}"
    assert greeting(desk.port, turned, f"http://{turned}", desk.cookie) == "403"
    with urllib.request.urlopen(urllib.request.Request(desk.url, headers={"Cookie": desk.cookie})) as page:
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        policy = page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{desk.url}/_stcore/metrics", timeout=30)


def check_other_users(desk: RunningDesk) -> None:
    """Without the key in the address there is no page and no websocket; with it, it moves into a cookie."""
    with httpx2.Client(base_url=desk.url) as stranger, httpx2.Client() as analyst:
        own = f"127.0.0.1:{desk.port}"
        for cookie in ("genaipa_name=Ada", desk.cookie[:-1], desk.cookie.replace("=", "x=")):
            assert greeting(desk.port, own, f"http://{own}", cookie) == "403", cookie
        for path in ("/", "/?key=", f"{desk.address[:-1]}", "/overview", "/_stcore/host-config", "/static/index.html"):
            refused = stranger.get(path)
            assert refused.status_code == 403, path
            assert "the full address that 'genaipa score' printed" in refused.text
        assert stranger.get("/_stcore/health").text == "ok"
        moved = analyst.get(f"{desk.url}//elsewhere.example/a?key={desk.address.partition('=')[2]}")
        assert (moved.status_code, moved.headers["location"]) == (303, "./a")
        # A path that a proxy has taken off comes before it: nothing but the page's own name is said.
        for path in ("", "overview"):
            moved = httpx2.get(f"{desk.url}/{path}?key={desk.address.partition('=')[2]}")
            assert (moved.status_code, moved.headers["location"]) == (303, f"./{path}")
        assert "httponly" in moved.headers["set-cookie"].lower()
        assert analyst.get(desk.url).status_code == 200
    (kept,) = (Path.home() / ".local" / "state" / "genaipa" / "desks").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.full
def test_ends_when_its_terminal_is_gone() -> None:
    """Signals end a desk whose terminal was closed, although nothing can be printed there any more."""
    make_answers("See section 1.")
    for number in size(small=[signal.SIGHUP], soak=[signal.SIGHUP, signal.SIGTERM]):
        master, slave = pty.openpty()
        with open_desk(terminal=slave) as desk:
            os.close(slave)
            os.close(master)
            assert desk.stop(number) == 0


@pytest.mark.full
def test_ends_while_it_starts() -> None:
    """Ctrl-C before the server is there ends the command just as quietly."""
    make_answers("See section 1.")
    command = [sys.executable, "-m", "genaipa", "score", "--no-browser", "--port", str(free_port())]
    with heeding(signal.SIGINT):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert any("The desk is open" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=180)
    assert process.returncode in (0, 130), errors
    assert "Traceback" not in errors


@pytest.mark.full
def test_opens_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a screen the desk opens in the person's browser, and nobody is asked for an e-mail address."""
    make_answers("See section 1.")
    opener = write("bin/xdg-open", f'#!/bin/sh\necho "$1" > {Path("opened").resolve()}\n')
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(opener.parent.resolve()), prepend=os.pathsep)
    monkeypatch.setenv("DISPLAY", ":99")
    with open_desk(browser=True) as desk:
        while not Path("opened").exists() or not Path("opened").read_text(encoding="utf-8").endswith("\n"):
            assert desk.process.poll() is None
            time.sleep(0.1)
        assert desk.stop() == 0
    assert Path("opened").read_text(encoding="utf-8") == f"{desk.address}\n"
    assert "mail" not in desk.printed


def _newer_scores() -> None:
    with sqlite3.connect("scores.db") as database:
        database.execute("CREATE TABLE score_schema (version INTEGER NOT NULL)")
        database.execute("INSERT INTO score_schema VALUES (1000)")
    database.close()


@pytest.mark.parametrize(
    ("prepare", "flags", "told"),
    [
        (lambda: None, ("nosuchrun",), "no system or run 'nosuchrun'"),
        (lambda: write("desk.yaml", "analyst: [Anna]\n"), (), "desk.yaml: unknown key 'analyst'"),
        (_newer_scores, (), "written by a newer version of genaipa"),
        (lambda: write(".streamlit/secrets.toml", "[auth]\n"), (), "the key 'redirect_uri' is missing"),
        (lambda: None, ("--host", "0.0.0.0"), "add --insecure"),
        (lambda: None, ("--host", "nowhere.example"), "add --insecure"),
        (lambda: None, ("--host", "nowhere.example", "--insecure"), "can't listen on port"),
        (lambda: None, ("--per-answer", "0.5"), "--per-answer"),
    ],
)
def test_what_is_wrong(genaipa: Run, prepare: Callable[[], None], flags: tuple[str, ...], told: str) -> None:
    """What keeps the desk from opening is a sentence and an exit code, before any server is there."""
    make_answers("See section 1.")
    prepare()
    done = genaipa("score", "--no-browser", "--port", str(free_port()), *flags)
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert "The desk is open" not in done.out


def test_nothing_to_score(genaipa: Run) -> None:
    """Where there is no run, or none with an answer, the sentence says what to run."""
    make_workspace()
    done = genaipa("score", "--no-browser")
    assert done.code == 2
    assert "genaipa demo" in done.err
    assert genaipa("run", "-s", "extractive", "-p", "acme", "--limit", "1").code == 0
    [answers] = Path("runs").glob("*/answers.jsonl")
    answers.write_text("", encoding="utf-8")
    done = genaipa("score", "--no-browser")
    assert done.code == 2
    assert f"genaipa run --resume {answers.parent.name}" in done.err


@pytest.mark.full
def test_replies_by_hand(genaipa: Run) -> None:
    """A run that waits for replies of a web chat opens the desk, where they are taken, without an answer."""
    make_workspace()
    genaipa("run", "-s", "manual/chat", "-p", "acme")
    with fork_desk() as desk:
        assert desk.stop() == 0
    assert "0 answers to score." in desk.printed


@pytest.mark.parametrize("package", NEEDED)
def test_missing_package(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Without the packages for the desk, the extra to install is named."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=re.escape(f"'{package}': pip install 'genaipa[desk]'")):
        check_desk_packages()


def test_taken_port(genaipa: Run) -> None:
    """A port that is in use is named with one that is free."""
    make_answers("See section 1.")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = genaipa("score", "--no-browser", "--port", str(port))
    assert done.code == 2
    named = re.search(rf"port {port} is in use.*--port (\d+)", done.err)
    # Other tests may hold the ports next to it.
    assert (named and port < int(named[1]) <= port + 100) or port > 65000


def test_login_without_lists(genaipa: Run) -> None:
    """People who log in have to be listed; a desk where nobody could do anything is not opened."""
    make_answers("See section 1.")
    with Provider() as provider:
        write(".streamlit/secrets.toml", provider.secrets())
        done = genaipa("score", "--no-browser", "--port", str(free_port()))
    assert done.code == 2
    assert "desk.yaml does not say who may score" in done.err


@pytest.mark.full
def test_open_to_the_network_on_purpose() -> None:
    """With --insecure the desk listens to everybody, and says what is missing."""
    make_answers("See section 1.")
    with fork_desk("--host", "0.0.0.0", "--insecure") as desk:
        with socket.create_connection(("127.0.0.2", desk.port), timeout=5):
            pass
        assert desk.stop() == 0
    assert "no TLS proxy" in desk.printed
    assert f"http://localhost:{desk.port}" in desk.printed


@pytest.mark.full
def test_password_is_never_shown(genaipa: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The scores' database may have a password; neither an error nor the announcement shows it."""
    make_answers("See section 1.")
    nobody = free_port()
    monkeypatch.setenv("GENAIPA_DATABASE_URL", f"postgresql://anna:{PASSWORD}@127.0.0.1:{nobody}/scores")
    done = genaipa("score", "--no-browser", "--port", str(free_port()))
    assert done.code in (1, 2)
    assert str(nobody) in done.err
    assert PASSWORD not in done.out + done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("GENAIPA_DATABASE_URL", postgres.database(request.config))
    with fork_desk() as desk:
        assert desk.stop() == 0
    assert re.search(r"^Scores are kept in .*PostgreSQL", desk.printed, re.MULTILINE)
    assert postgres.PASSWORD not in desk.printed


@pytest.mark.full
@pytest.mark.parametrize("number", size(small=[signal.SIGTERM], soak=[signal.SIGINT, signal.SIGTERM]))
def test_name_is_asked_for_once(number: signal.Signals) -> None:
    """A name is kept in the browser: for a new tab, for another page and for the next day, until one is not that.

    Whoever has the desk open does not keep it from ending.
    """
    make_answers("See section 1.")
    name = "Zoë *O'Neil*; ![x](http://elsewhere.example/x.png)"
    with browsing() as browser, fork_desk() as desk:
        page = browser.visit(desk)
        page.get_by_role("button", name="Go to the desk").click()
        page.get_by_text("Please give a name.").wait_for()
        sign_in(page, name)
        page.get_by_text(f"{name} ·", exact=True).wait_for()
        page.wait_for_function("document.cookie.includes('genaipa_name=Zo')")
        machine = page.context
        page.close()

        page = browser.visit(desk, machine=machine)
        page.get_by_text(f"{name} ·", exact=True).wait_for()
        page.get_by_role("button", name="not you?").click()
        page.get_by_label("Your name").wait_for()
        page.wait_for_function("!document.cookie.includes('genaipa_name')")

        page.goto(f"{desk.url}/agreement")
        sign_in(page, "Bo")
        page.get_by_text("Bo ·", exact=True).wait_for()
        assert page.url == f"{desk.url}/agreement"
        assert desk.stop(number) == 0
        assert desk.is_gone()
        assert browser.strangers == []
    assert "Traceback" not in desk.printed


@pytest.mark.full
def test_lists_hold_for_names() -> None:
    """Where desk.yaml lists people, a name that is not there opens nothing, and says why."""
    make_answers("See section 1.")
    write("desk.yaml", "analysts: [Anna]\nadjudicators: [Cy]\n")
    with browsing() as browser, fork_desk() as desk:
        page = browser.visit(desk)
        page.get_by_label("Your name").fill("Dee")
        page.keyboard.press("Enter")
        page.get_by_text("Dee is neither an analyst nor an adjudicator").wait_for()
        assert page.get_by_role("button", name="not you?").count() == 0
        sign_in(page, "cy")
        page.get_by_role("link", name="Go to Adjudicate").wait_for()
        page.get_by_role("link", name="Score", exact=True).click()
        page.get_by_text("Cy is an adjudicator of this study, not an analyst.").wait_for()
        page.goto(f"{desk.url}/adjudicate")
        page.get_by_text("Cy ·", exact=True).wait_for()
        assert page.get_by_text("of this study, not").count() == 0
        anna = browser.visit(desk, "Anna")
        anna.goto(f"{desk.url}/adjudicate")
        anna.get_by_text("Anna is an analyst of this study, not an adjudicator.").wait_for()
