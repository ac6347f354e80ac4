"""The scoring desk with 20 analysts at it, each in a browser of their own, over one large run.

    python -m benchmarks.desk WORKSPACE RUN --analysts 20 --scored 30000 --answers 10 --pause 10

expects a workspace with a run, as `finished_run` writes it; gives the analysts so many scores already, opens the desk,
and lets each analyst score some answers by the keyboard, with a pause between them as short as no reader's. Prints, as
JSON, the seconds until the desk could be asked, until the first answer was on screen, and from each Enter until the
next answer was on screen, as the page itself measured it; and the milliseconds of processor for an answer, of the desk
and of the browsers, which what else runs on the machine changes little.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from benchmarks.measure import ROOT
from genaipa.files.stamps import now
from genaipa.runs.selection import find_run
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.store import ScoreStore, database_url
from genaipa.ui.settings import load_or_create_desk_key_in_user_state
from genaipa.workspace import find_workspace

_RUBRIC = shipped_rubric()
_PATIENCE = 120
_FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")
# From the key that saves until the browser has painted another answer.
_CLOCK = """() => {
  const pad = [...document.querySelectorAll('*')].map((e) => e.shadowRoot?.querySelector('.pad')).find(Boolean);
  window.waits = [];
  document.addEventListener('keydown', (e) => { if (e.key === 'Enter') window.begun = performance.now(); }, true);
  new MutationObserver(() => {
    if (!window.begun) return;
    const begun = window.begun;
    window.begun = null;
    requestAnimationFrame(() => setTimeout(() => window.waits.push(performance.now() - begun)));
  }).observe(pad.querySelector('.reply'), { childList: true });
}"""


def score_already(workspace: Path, run: str, analysts: list[str], scores: int, seed: int = 7) -> int:
    """Give the analysts some scores, each answer to one of them; how many answers there are."""
    here = find_workspace(workspace)
    answers = list(AnswerPool(here, [find_run(here, run)]).answers)
    chance = random.Random(seed)
    store = ScoreStore.open_or_create(database_url(here))
    events = [
        Event(
            id=new_event_id(),
            time=now(),
            kind="score",
            analyst=chance.choice(analysts),
            answer=answer,
            values=_RUBRIC.parse_digits("".join(chance.choices(list(_RUBRIC.value_by_digit), k=len(_RUBRIC.metrics)))),
            seconds=chance.uniform(60, 300),
        )
        for answer in chance.sample(answers, min(scores, len(answers)))
    ]
    store.append_new_events(events)
    store.close()
    return len(answers)


@contextlib.contextmanager
def open_desk(workspace: Path, run: str):
    """Return the desk's address and the seconds until it could be asked, while it runs."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    # Every answer may be asked for: a wave is less work for the desk, and too little for these analysts.
    flags = ("--no-browser", "--sample", "all", "--port", str(port), "--workspace", str(workspace))
    command = [sys.executable, "-m", "genaipa", "score", run, *flags]
    begun = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            while True:
                if process.poll() is not None or time.perf_counter() - begun > _PATIENCE:
                    raise RuntimeError("the desk did not open")
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                    break
                time.sleep(0.05)
            yield (
                f"{url}/?key={load_or_create_desk_key_in_user_state(workspace)}",
                time.perf_counter() - begun,
                process.pid,
            )
        finally:
            process.send_signal(signal.SIGTERM)


def processor(process: int) -> float:
    """Return the seconds of processor that a process and all that it started have used; 0 where there is no /proc."""
    used, started = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            used[int(stat.parent.name)] = (int(state[11]) + int(state[12])) / os.sysconf("SC_CLK_TCK")
            started.setdefault(int(state[1]), []).append(int(stat.parent.name))
    family = [process]
    for member in family:
        family += started.get(member, [])
    return sum(used.get(member, 0) for member in family)


async def sit_down(browser, url: str, name: str):
    """Return a page of one's own at the desk, and the seconds until its first answer was on screen."""
    page = await (await browser.new_context(viewport={"width": 1400, "height": 900})).new_page()
    page.set_default_timeout(_PATIENCE * 1000)
    await page.goto(url)
    await page.get_by_label("Your name").fill(name)
    begun = time.perf_counter()
    await page.get_by_role("button", name="Go to the desk").click()
    await page.locator(".asked").wait_for()
    seconds = time.perf_counter() - begun
    # The page may be put together once more after one has signed in; the clock is set on the one that stays.
    await page.wait_for_timeout(2000)
    await page.evaluate(_CLOCK)
    return page, seconds


async def work(page, answers: int, pause: float, chance: random.Random, *, done: int = 0) -> list[float]:
    """Score some answers by the keyboard; the milliseconds from each Enter to the next answer.

    `done` is the number of answers that were scored before.
    """
    for scored in range(done, done + answers):
        await asyncio.sleep(chance.expovariate(1 / pause) if pause else 0)
        await page.keyboard.type(
            "".join(chance.choices(list(_RUBRIC.value_by_digit), k=len(_RUBRIC.metrics))), delay=80
        )
        await page.keyboard.press("Enter")
        await page.wait_for_function("(done) => window.waits.length > done", arg=scored, polling=50)
    return await page.evaluate("window.waits")


async def measure(url: str, desk: int, analysts: list[str], answers: int, pause: float) -> dict[str, list[float]]:
    """Return seconds to each first answer, milliseconds of all later answers, and the processor's for one."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(_FLAGS))
        seated = [await sit_down(browser, url, name) for name in analysts]
        before = processor(desk), processor(os.getpid())
        waits = await asyncio.gather(
            *(work(page, answers, pause, random.Random(n)) for n, (page, _) in enumerate(seated))
        )
        of_desk, of_all = processor(desk) - before[0], processor(os.getpid()) - before[1]
        await browser.close()
    every = [wait for one in waits for wait in one]
    used = [1000 * seconds / len(every) for seconds in (of_desk, of_all - of_desk)]
    return {"first": [seconds for _, seconds in seated], "waits": every, "processor": used}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("run")
    parser.add_argument("--analysts", type=int, default=20)
    parser.add_argument("--scored", type=int, default=30_000)
    parser.add_argument("--answers", type=int, default=10)
    parser.add_argument("--pause", type=float, default=10.0)
    wanted = parser.parse_args()
    analysts = [f"Analyst {n}" for n in range(1, wanted.analysts + 1)]
    pool = score_already(wanted.workspace, wanted.run, analysts, wanted.scored)
    with open_desk(wanted.workspace, wanted.run) as (url, ready, process):
        found = asyncio.run(measure(url, process, analysts, wanted.answers, wanted.pause))
        used = Path(f"/proc/{process}/status").read_text(encoding="utf-8") if Path("/proc").exists() else ""
    memory = next((int(line.split()[1]) / 1024 for line in used.splitlines() if line.startswith("VmHWM")), 0)
    print(json.dumps({"pool": pool, "ready": ready, "memory": memory} | found))


if __name__ == "__main__":
    main()
