"""Take the pictures of the desk in docs/screenshots/ from the real pages: `python docs/take_screenshots.py`.

It makes the demo's study in a temporary workspace, with a run of a suite beside it, the verdicts of a judge and the
scores of two made-up analysts, opens the desk, and drives Debian's chromium through the pages that the docs show.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from genaipa.ui.settings import load_or_create_desk_key_in_user_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

DOCS = Path(__file__).parent
SCREENSHOTS = DOCS / "screenshots"
REFERENCE = DOCS.parent / "genaipa" / "cli" / "commands" / "demo_scores" / "brindlecart.jsonl"
NEXT_WORSE = {1.0: 0.5, 0.5: -1.0, -1.0: 0.5}
FEW_POINTS = 5
NOTES = ("The limits are missing.", "Hard to tell what 'this section' is.", "")


def genaipa(workspace: Path, *arguments: str) -> None:
    """Run a command; its complaints are seen. A web chat that waits for replies (3) is as it should be."""
    command = [sys.executable, "-m", "genaipa", *arguments, "--workspace", str(workspace)]
    code = subprocess.run(command, cwd=workspace, stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 3):
        sys.exit(f"genaipa {' '.join(arguments)} ended with {code}")


def made_up_scores(file: Path) -> None:
    """Two analysts who mostly agree with the reference analyst: the kind of study that the pages are for."""
    chance = random.Random(11)  # noqa: S311
    lines = []
    for minute, line in enumerate(REFERENCE.read_text(encoding="utf-8").splitlines()):
        score = json.loads(line)
        for analyst, slips in (("Grace", 0.12), ("Katherine", 0.25)):
            values = {m: NEXT_WORSE[v] if chance.random() < slips else v for m, v in score["values"].items()}
            event = {
                "id": uuid.UUID(int=chance.getrandbits(128)).hex,
                "time": f"2026-11-21T{8 + minute // 12:02}:{minute % 12 * 5:02}:00.000Z",
                "kind": "score",
                "analyst": analyst,
                "answer": score["answer"],
                "values": values,
                "note": chance.choice(NOTES) if values != score["values"] else "",
                "seconds": round(chance.uniform(60, 240), 1),
            }
            lines.append(json.dumps(event))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextlib.contextmanager
def desk(workspace: Path, *more: str) -> Iterator[str]:
    """Return the desk's address, while it is open."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    flags = ("--no-browser", "--port", str(port), "--per-answer", "2", "--workspace", str(workspace), *more)
    command = [sys.executable, "-m", "genaipa", "score", *flags]
    with subprocess.Popen(command, cwd=workspace, stdout=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            while process.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                    break
                time.sleep(0.2)
            yield f"{url}/?key={load_or_create_desk_key_in_user_state(workspace)}"
        finally:
            process.terminate()


def settle(page: Page) -> None:
    """Wait until the page has drawn what it shows."""
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")
    page.wait_for_timeout(700)


def picture(page: Page, name: str) -> None:
    """Keep what is on screen."""
    settle(page)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
    print(f"{name}.png")


def take(page: Page, url: str) -> None:
    """Go through the pages as an analyst does."""
    page.goto(url)
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    page.locator(".asked").wait_for()
    for _ in range(10):
        page.keyboard.type("12231")
        page.keyboard.press("Enter")
        page.locator(".comparison").wait_for()
        page.keyboard.press("Enter")
        page.locator(".comparison").wait_for(state="hidden")
        # An answer that cites and quotes what the annotated answer rests on has most to show.
        if page.locator(".reply mark.reference.good").count() > 1:
            break
    page.keyboard.type("122")
    page.keyboard.press("n")
    page.keyboard.insert_text("True as far as it goes; the limits are not there.")
    page.keyboard.press("Escape")
    picture(page, "score")
    page.get_by_role("link", name="Adjudicate").click()
    page.locator(".verdict").wait_for()
    page.keyboard.type("12")
    picture(page, "adjudicate")
    page.get_by_role("link", name="Results").click()
    page.locator("path[aria-label*=', accuracy, ']").first.click(force=True)
    page.get_by_text("Behind the cell").wait_for()
    page.locator("tr.choice").first.click()
    page.get_by_text("Annotated answer").wait_for()
    page.set_viewport_size({"width": 1440, "height": 1500})
    page.get_by_text("By question and metric").evaluate("(part) => part.scrollIntoView()")
    picture(page, "results")


def take_points(page: Page, url: str) -> None:
    """Return an answer beside its points, half of them ticked."""
    page.goto(url)
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    page.locator(".asked").wait_for()
    while page.locator(".points li").count() < FEW_POINTS:
        before = page.locator(".reply").inner_text()
        page.keyboard.press("s")
        page.wait_for_function(
            "(before) => [...document.querySelectorAll('*')].map((n) => n.shadowRoot?.querySelector('.reply'))"
            ".find(Boolean)?.innerText !== before",
            arg=before,
        )
    page.keyboard.type("ce")
    page.keyboard.press("Shift+f")
    page.keyboard.type("111")
    picture(page, "points")


def take_more(page: Page, url: str) -> None:
    """Return the pages of whoever leads the study and scores nothing."""
    page.goto(url)
    page.get_by_label("Your name").fill("Edsger")
    page.keyboard.press("Enter")
    page.get_by_text("When may we stop?").wait_for()
    picture(page, "study")
    page.get_by_role("link", name="Judges", exact=True).click()
    page.locator("table").first.wait_for()
    picture(page, "judges")
    page.get_by_role("link", name="Suites").click()
    page.set_viewport_size({"width": 1440, "height": 2100})
    page.locator("tr.choice", has_text="sample-01").click()
    page.locator("section", has_text="prediction").last.wait_for()
    picture(page, "suites")


READ = (
    ("h1", 0.0),
    (".limits", 0.0),
    ("#figure-overview img", 0.0),
    ("#figure-overview img", 0.56),
    (".matrix", 0.0),
    (".bullets", 0.0),
    ("nav", 0.0),
)
"""What the page on reading a report explains, in the order of its numbers: an element, and how far right in it."""
_NUMBER = (
    "width: 26px; height: 26px; border-radius: 13px; background: #8a1c5c; color: #fff; font: 700 16px/26px sans-serif; "
    "text-align: center; position: absolute; z-index: 9;"
)


def take_numbered(page: Page, report: Path) -> None:
    """Return the first screen of a report with a number on each of its parts."""
    page.goto(report.as_uri())
    page.add_style_tag(content="body { padding-left: 30px; }")
    for number, (selector, right) in enumerate(READ, 1):
        page.locator(selector).first.evaluate(
            """(part, [number, right, style]) => {
                const box = part.getBoundingClientRect();
                const mark = Object.assign(document.createElement("div"), { textContent: number, style });
                mark.style.left = `${box.left + right * box.width - 30}px`;
                mark.style.top = `${box.top + 6}px`;
                document.body.append(mark);
            }""",
            [number, right, _NUMBER],
        )
    picture(page, "reading")


def main() -> None:
    """Make the study, take the pictures."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for old in SCREENSHOTS.glob("*.png"):
        old.unlink()
    os.environ["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory(prefix="genaipa-screenshots-") as folder:
        workspace = Path(folder)
        (workspace / "genaipa.toml").touch()
        shutil.copy(DOCS / "example_judge.py", workspace)
        genaipa(workspace, "demo")
        made_up_scores(workspace / "scores.jsonl")
        genaipa(workspace, "scores", "import", str(workspace / "scores.jsonl"))
        genaipa(workspace, "judge", "demo", "--judge", "example_judge:RulesOfThumb")
        asked = ("-s", "baseline/best-overlap", "-s", "baseline/empty")
        genaipa(workspace, "run", "--suite", "policyqa", "--split", "sample", *asked)
        people = "analysts: [Ada, Grace, Katherine]\nadjudicators: [Ada, Edsger]\nreference: [reference]\n"
        (workspace / "desk.yaml").write_text(people, encoding="utf-8")
        with desk(workspace) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-background-networking"]
            )
            take(browser.new_page(viewport={"width": 1440, "height": 900}), url)
            take_more(browser.new_context(viewport={"width": 1440, "height": 1200}).new_page(), url)
            for name, scheme in (("report", "light"), ("report-dark", "dark")):
                report = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
                report.goto((workspace / "reports" / "demo" / "index.html").as_uri())
                picture(report, name)
            take_numbered(
                browser.new_page(viewport={"width": 1440, "height": 1100}),
                workspace / "reports" / "demo" / "index.html",
            )
            with desk(workspace, "--points", "--calibration", "0") as pointed:
                take_points(browser.new_page(viewport={"width": 1440, "height": 900}), pointed)
            browser.close()


if __name__ == "__main__":
    main()
