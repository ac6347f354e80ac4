"""A scripted analyst at the scoring desk: what an answer costs in keys, scrolls, and ways of the eye.

    python -m benchmarks.analyst [--answers 120] [--window 1440x900] [--before CHECKOUT] [--published FOLDER]

makes a workspace with the published quality runs of two systems (`genaipa get genaipabench`, from a folder where one
is given; the demo's study with `--demo`), opens the desk there as it is today, and as it was in
another checkout (or else in random order and without nearest words), lets a scripted analyst (`reader.py`) score in a
real browser, and prints a table.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from benchmarks.__main__ import print_table
from benchmarks.measure import ROOT
from benchmarks.reader import EYE, Analyst, Spent
from genaipa.ui.settings import load_or_create_desk_key_in_user_state

RUNS = tuple(f"published-{system}-quality-{kind}" for system in ("bard", "chatgpt-4") for kind in ("faq", "user"))
_PATIENCE = 120
_FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")


@contextlib.contextmanager
def desk(workspace: Path, runs: list[str], checkout: Path, flags: list[str]):
    """Return the address of a desk of that checkout while it is open, on scores of its own."""
    for kept in workspace.glob("scores.db*"):
        kept.unlink()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "genaipa",
        "score",
        *runs,
        "--no-browser",
        "--port",
        str(port),
        "--workspace",
        str(workspace),
    ]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    with subprocess.Popen([*command, *flags], cwd=checkout, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + _PATIENCE
            while True:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("the desk did not open")
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                    break
                time.sleep(0.05)
            yield f"{url}/?key={load_or_create_desk_key_in_user_state(workspace)}"
        finally:
            process.send_signal(signal.SIGTERM)


def sit_down(url: str, window: str, answers: int, *, leads: bool) -> Spent:
    """Score so many answers at a desk, with nearest words or without."""
    from playwright.sync_api import sync_playwright

    width, height = map(int, window.split("x"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(_FLAGS))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.add_init_script(EYE)
        page.set_default_timeout(_PATIENCE * 1000)
        page.goto(url)
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Go to the desk").click()
        page.locator(".asked").wait_for()
        # The page may be put together once more after one has signed in.
        page.wait_for_timeout(2000)
        spent = Analyst(page, leads=leads).work(answers)
        browser.close()
        return spent


def study(workspace: Path, checkout: Path, published: Path | None, *, demo: bool) -> list[str]:
    """Make the study by that checkout's own commands; its runs."""

    def genaipa(*arguments: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        command = [sys.executable, "-m", "genaipa", *arguments, "--workspace", str(workspace)]
        subprocess.run(command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL, check=True)

    workspace.mkdir()
    (workspace / "genaipa.toml").touch()
    if demo:
        genaipa("demo")
        # Nobody has scored anything yet, and so nobody is to be compared with a reference analyst.
        return ["demo"]
    genaipa("get", "genaipabench", *(["--from", str(published.resolve())] if published else []))
    genaipa("get", "genaipabench", "--runs")
    return list(RUNS)


def rows(found: list[Spent]) -> list[list[str]]:
    """Return a table's rows: figures for each answer."""
    counts = {
        "keys": "keys",
        "scrolls": "scrolls",
        "hands to the mouse": "focus",
        "pixels between what is read": "pixels",
        "words read": "read",
        "words skimmed": "skimmed",
    }
    table = [
        [
            label,
            *(
                f"{getattr(one, name) / one.answers:,.{0 if name in ('pixels', 'read', 'skimmed') else 2}f}"
                for one in found
            ),
        ]
        for label, name in counts.items()
    ]
    parts = dict.fromkeys(part for one in found for part in one.seconds)
    table += [
        [f"seconds: {part}", *(f"{one.seconds.get(part, 0) / one.answers:.1f}" for one in found)] for part in parts
    ]
    table.append(["seconds in all", *(f"{sum(one.seconds.values()) / one.answers:.1f}" for one in found)])
    table.append(["question of the answer before", *(f"{one.known / one.answers:.0%}" for one in found)])
    table.append(["led by nearest words", *(f"{one.led} of {one.asked}" for one in found)])
    table.append(["passage not known, and so free", *(f"{one.free / one.answers:.0%}" for one in found)])
    return table


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, default=120)
    parser.add_argument("--window", default="1440x900")
    parser.add_argument("--before", type=Path, help="an earlier checkout")
    parser.add_argument("--published", type=Path, help="a folder with the published data")
    parser.add_argument("--demo", action="store_true", help="the demo's study")
    wanted = parser.parse_args()
    now = ["--per-answer", "1", "--sample", "all", "--calibration", "0"]
    earlier = (wanted.before.resolve(), [*now[:2], *now[4:]]) if wanted.before else (ROOT, [*now, "--order", "random"])
    ways = [
        ("before" if wanted.before else "random order", *earlier),
        ("today", ROOT, now),
    ]
    found = []
    with tempfile.TemporaryDirectory(prefix="genaipa-analyst-") as folder:
        for label, checkout, flags in ways:
            workspace = Path(folder) / label.replace(" ", "-")
            runs = study(workspace, checkout, wanted.published, demo=wanted.demo)
            with desk(workspace, runs, checkout, flags) as url:
                found.append(sit_down(url, wanted.window, wanted.answers, leads=label != "random order"))
    print_table((f"an answer, of {wanted.answers}, {wanted.window}", *(label for label, _, _ in ways)), rows(found))


if __name__ == "__main__":
    main()
