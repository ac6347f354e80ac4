"""`genaipa view` over one large run, a part of it scored: opening it, and what a click on a filter takes.

    python -m benchmarks.view WORKSPACE RUN --scored 30000

expects a workspace with a run, as `finished_run` writes it; gives one analyst so many scores, starts the command, and
asks for pages as a browser does. Prints, as JSON, the seconds until the first page was there, the seconds of each
filter's page, the processor that the command has used until the first page, and its peak memory in MiB.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

from benchmarks.desk import processor, score_already
from benchmarks.measure import ROOT

CLICKS = (
    *("", "?question=T_f1", "?outcome=answered", "?outcome=refused", "?score=scored", "?score=red", "?score=apart"),
    *("?document=bench-2&score=green", "?page=2500", "?plain=1"),
)


def measure(workspace: Path, run: str) -> dict[str, object]:
    """Open the view, and ask for each page three times."""
    command = [sys.executable, "-u", "-m", "genaipa", "view", run, "--no-browser", "--workspace", str(workspace)]
    begun = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = re.search(r"http\S+", process.stdout.readline())
            if url is None:
                raise RuntimeError("the view did not open")
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            browser.open(url[0]).read()
            opened, used = time.perf_counter() - begun, processor(process.pid)
            base, clicks = url[0].partition("?")[0], {}
            for click in CLICKS:
                taken = []
                for _ in range(3):
                    since = time.perf_counter()
                    browser.open(base + click).read()
                    taken.append(time.perf_counter() - since)
                clicks[click] = sorted(taken)[1]
            memory = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8"))
        finally:
            process.terminate()
    return {"opened": opened, "processor": used, "clicks": clicks, "memory": int(memory[1]) / 1024 if memory else 0}


def main() -> None:
    """Score a part, open the view, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("run")
    parser.add_argument("--scored", type=int, default=0)
    wanted = parser.parse_args()
    if wanted.scored:
        score_already(wanted.workspace, wanted.run, ["Ada"], wanted.scored)
    print(json.dumps(measure(wanted.workspace, wanted.run)))


if __name__ == "__main__":
    main()
