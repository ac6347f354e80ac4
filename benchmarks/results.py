"""The Results page of the desk over one large run: opening it, and going from a cell of the heat map to its answers.

    python -m benchmarks.results WORKSPACE RUN --scored 30000 --cells 10

expects a workspace with a run, as `finished_run` writes it; gives some analysts so many scores already, opens the desk
for somebody who only reads, and clicks one cell after another. Prints, as JSON, the seconds until the heat map was on
screen (at first, when the runs are read, and for the next visitor), and the milliseconds from each click until its
answers were painted, as the page itself measured them.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks.desk import open_desk, score_already

_PATIENCE = 300
_FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")
# From the click until the answers of the cell are there, and the browser has painted them.
_CLICK = """(cell) => new Promise((done) => {
  const all = (what) => [...document.querySelectorAll("*")]
    .flatMap((element) => [...(element.shadowRoot?.querySelectorAll(what) ?? [])]);
  const tile = document.querySelectorAll("[data-testid=stVegaLiteChart] path[aria-roledescription='rect mark']")[cell];
  const row = tile.getAttribute("aria-label").split(", ")[0];
  const before = all("tr.choice")[0];
  const begun = performance.now();
  const look = () => {
    const there = all(".entry.strong").some(({ textContent }) => textContent.includes(row));
    const answer = all("tr.choice")[0];
    if (!there || !answer || answer === before) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  };
  tile.dispatchEvent(new PointerEvent("click", { bubbles: true }));
  look();
})"""


def opened(browser, url: str, name: str):
    """Return a page with the heat map on screen, and the seconds until it was there."""
    page = browser.new_context(viewport={"width": 1400, "height": 1400}).new_page()
    page.set_default_timeout(_PATIENCE * 1000)
    page.goto(url)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Go to the desk").click()
    page.get_by_role("link", name="Results", exact=True).wait_for()
    begun = time.perf_counter()
    page.get_by_role("link", name="Results", exact=True).click()
    page.locator("[data-testid=stVegaLiteChart] path[aria-roledescription='rect mark']").first.wait_for()
    return page, time.perf_counter() - begun


def measure(url: str, cells: int) -> dict[str, object]:
    """Return the seconds of two visits, and the milliseconds of every click."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(_FLAGS))
        _, first = opened(browser, url, "Ruth")
        page, again = opened(browser, url, "Ruth")
        page.wait_for_timeout(3000)
        # A cell of another row each time: a row has six.
        clicks = [page.evaluate(_CLICK, 7 * number) for number in range(cells)]
        browser.close()
    return {"first": first, "again": again, "clicks": clicks}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("run")
    parser.add_argument("--scored", type=int, default=30_000)
    parser.add_argument("--cells", type=int, default=10)
    wanted = parser.parse_args()
    analysts = [f"Analyst {n}" for n in range(1, 21)]
    people = wanted.workspace / "desk.yaml"
    people.write_text(json.dumps({"analysts": analysts, "adjudicators": ["Ruth"]}), encoding="utf-8")
    pool = score_already(wanted.workspace, wanted.run, analysts, wanted.scored)
    with open_desk(wanted.workspace, wanted.run) as (url, _, _):
        print(json.dumps({"pool": pool, **measure(url, wanted.cells)}))
    people.unlink()


if __name__ == "__main__":
    main()
