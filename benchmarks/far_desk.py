"""The scoring desk far away: from Enter to the next answer painted, over a line with latency and little bandwidth.

    python -m benchmarks.far_desk WORKSPACE RUN... [--latency 400] [--rate 50] [--answers 12] [--pause 6]

opens the desk of a workspace for those runs behind a proxy that delays what goes through it (`latency`: milliseconds
from question to answer) and lets so many kB through in a second, one line for all. One analyst scores by the keyboard,
with a pause before each Enter as short as no reader's. Prints the median and the largest of the milliseconds
that the page itself measured. Scores in the workspace are removed first.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import threading
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from benchmarks.analyst import desk
from benchmarks.desk import sit_down, work
from benchmarks.measure import ROOT

_PIECE = 4096


class Line:
    """A line with latency in both directions and a bandwidth of its own for each, through which connections go."""

    def __init__(self, port: int, latency: float, rate: float) -> None:
        self.port, self.delay, self.rate = port, latency / 2000, rate * 1000
        self.free = {"up": 0.0, "down": 0.0}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one that has come with the desk."""
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(self.carry(reader, back, "up"), self.carry(there, writer, "down"))

    async def carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: str) -> None:
        """Carry bytes one way, each as late as the line has it."""
        clock = asyncio.get_running_loop()
        due: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def put() -> None:
            with contextlib.suppress(ConnectionError):
                while True:
                    at, data = await due.get()
                    await asyncio.sleep(at - clock.time())
                    if not data:
                        break
                    sink.write(data)
                    await sink.drain()

        putting = asyncio.create_task(put())
        with contextlib.suppress(ConnectionError):
            while data := await source.read(_PIECE):
                self.free[way] = max(self.free[way], clock.time()) + len(data) / self.rate
                due.put_nowait((self.free[way] + self.delay, data))
            due.put_nowait((self.free[way] + self.delay, b""))
            await putting
        sink.close()


def lay(line: Line) -> int:
    """Open a line in a thread of its own; the port at its end."""
    ready: list[int] = []
    opened = threading.Event()

    async def run() -> None:
        server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
        ready.append(server.sockets[0].getsockname()[1])
        opened.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    opened.wait()
    return ready[0]


async def measure(url: str, answers: int, pause: float) -> list[float]:
    """Return the milliseconds of each answer but the first two, before which a page is still being loaded."""
    from random import Random

    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page, _ = await sit_down(browser, url, "Ada")
        waits = []
        for number in range(answers):
            await page.wait_for_timeout(1000 * pause)
            waits = await work(page, 1, 0, Random(number), done=number)
        await browser.close()
    return waits[2:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--latency", type=float, default=400)
    parser.add_argument("--rate", type=float, default=50, help="kB in a second")
    parser.add_argument("--answers", type=int, default=12)
    parser.add_argument("--pause", type=float, default=6)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="an earlier checkout")
    wanted = parser.parse_args()
    flags = ["--per-answer", "1", "--sample", "all", "--calibration", "0"]
    with desk(wanted.workspace, wanted.runs, wanted.checkout.resolve(), flags) as url:
        here = urlsplit(url)
        port = lay(Line(here.port or 0, wanted.latency, wanted.rate))
        waits = asyncio.run(measure(url.replace(f":{here.port}", f":{port}"), wanted.answers, wanted.pause))
    print(f"{len(waits)} answers: median {median(waits):,.0f} ms, at most {max(waits):,.0f} ms")


if __name__ == "__main__":
    main()
