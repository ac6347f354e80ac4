"""Measure genaipa beside what it can be compared to, and print tables.

    python -m benchmarks [W2] [W3] [judge] [memory] [start] [resume] [batches] [desk] [results] [report] [view] [all]

W2 is 1,920 independent questions about five documents of 8,000 words over 64 connections, W3 the same questions in 60
shared conversations of 32 turns. Every figure is measured in a process of its own; those that are compared alternate,
and the median of three rounds is shown (of one with --quick). See README.md beside this file.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.batch_runs import by_batches
from benchmarks.measure import Measured, measure, serving
from benchmarks.workload import JUDGE, JUDGED, WORDS, Workload

LATENCY = 0.05
SERVER = (sys.executable, "-m", "benchmarks.mock_server", "--latency", str(LATENCY))
WHOLE = 100_000
"""Tokens of a part, when a document is to stay in one message."""


@dataclass(frozen=True)
class Scale:
    """How large everything is."""

    rounds: int = 3
    starts: int = 9
    repetitions: int = 12
    limit: int = 32
    words: int = WORDS
    finished: int = 625
    """Repetitions of the finished run: times 5 documents and 32 questions."""
    analysts: int = 20
    each: int = 10
    """Answers that each analyst scores at the desk."""
    pause: float = 10.0
    """Seconds that an analyst takes over an answer, on average."""
    cells: int = 10
    """Cells of the heat map that are chosen on the Results page."""


@dataclass(frozen=True)
class Asked:
    """One measured way of asking: the process, and the seconds from the first question to the last answer kept."""

    process: Measured
    asking: float


class Bench:
    """The workspace, the server and the environment of all measurements."""

    def __init__(self, workspace: Path, url: str, scale: Scale) -> None:
        self.workspace = workspace
        self.scale = scale
        # Nothing of the caller's settings; byte code is kept for the later processes, as after any installation.
        keep = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
        keep = {name: value for name, value in keep.items() if not name.startswith(("GENAIPA_", "OPENAI_"))}
        if keep.pop("PYTHONDONTWRITEBYTECODE", None):
            keep["PYTHONPYCACHEPREFIX"] = str(workspace / "bytecode")
        server = {"MOCK_BASE_URL": url, "MOCK_API_KEY": "none", "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        self.environment = {**keep, **server}

    def python(self, *arguments: str, terminal: bool = False) -> Measured:
        """Return a Python process."""
        return measure([sys.executable, *arguments], self.environment, terminal=terminal)

    def genaipa(self, *arguments: str, terminal: bool = False) -> Measured:
        """Return the command line in this workspace."""
        return self.python("-m", "genaipa", *arguments, "--workspace", str(self.workspace), terminal=terminal)

    def make(self, module: str, workload: Workload, *arguments: str) -> str:
        """Run a module of this folder for a workload, and return what it prints."""
        options = ["--repetitions", str(workload.repetitions), "--limit", str(workload.limit)]
        return self.python("-m", f"benchmarks.{module}", str(self.workspace), *options, *arguments).out.strip()

    def prepare(self, workload: Workload) -> Workload:
        """Write the workspace and the messages of a workload, unless they are there."""
        if not workload.messages(self.workspace).exists():
            parts = ["--part-tokens", str(workload.part_tokens)] if workload.part_tokens else []
            self.make("workload", workload, "--words", str(self.scale.words), *parts)
        return workload

    def run(self, workload: Workload, *, terminal: bool = False) -> Asked:
        """`genaipa run` with everything on."""
        return self.asked(self.genaipa(*workload.arguments(), terminal=terminal))

    def judge(self, run: str, connections: int) -> Asked:
        """`genaipa judge` of a run that nobody has judged."""
        for kept in (*self.workspace.glob("runs/*judge*"), *self.workspace.glob("scores.db*")):
            shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        return self.asked(self.genaipa("judge", run, "--judge", JUDGE, "--max-connections", str(connections)))

    def last_run(self) -> Path:
        """Return the folder of the last run."""
        return max((self.workspace / "runs").glob("*/"), key=lambda path: path.stat().st_mtime)

    def asked(self, process: Measured) -> Asked:
        """Read the last run's own records of this process."""
        folder = self.last_run()
        with (folder / "answers.jsonl").open(encoding="utf-8") as file:
            begun = min(json.loads(line)["started"] for line in file)
        ended = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["updated"]
        return Asked(process, (dt.datetime.fromisoformat(ended) - dt.datetime.fromisoformat(begun)).total_seconds())

    def loop(self, workload: Workload, messages: Path | None = None) -> Asked:
        """Return the bare loop over the official client."""
        file = str(messages or workload.messages(self.workspace))
        arguments = (file, workload.conversation, str(workload.connections))
        process = self.python("-m", "benchmarks.bare_loop", *arguments)
        said = json.loads(process.out)
        if said["answers"] != workload.requests:
            raise RuntimeError(f"the bare loop had {said['answers']} answers of {workload.requests}")
        return Asked(process, said["asking"])

    def workload(self, conversation: str, part_tokens: int | None = WHOLE) -> Workload:
        """W2 or W3 at this scale, with the documents in one message unless told otherwise."""
        connections = 64 if conversation == "independent" else 5 * self.scale.repetitions
        workload = Workload(conversation, self.scale.repetitions, connections, part_tokens, self.scale.limit)
        return self.prepare(workload)


def alternated(rounds: int, *ways: Callable[[], Asked]) -> list[Asked]:
    """Each way in every round, the order turned round from one to the next; the medians."""
    found: list[list[Asked]] = [[] for _ in ways]
    for number in range(rounds):
        order = list(enumerate(ways))
        for index, way in order if number % 2 == 0 else reversed(order):
            found[index].append(way())
    return [_middle(measured) for measured in found]


def _middle(measured: Sequence[Asked]) -> Asked:
    processes = [one.process for one in measured]
    process = Measured(
        wall=median(p.wall for p in processes),
        cpu=median(p.cpu for p in processes),
        rss=median(p.rss for p in processes),
        out="",
    )
    return Asked(process, median(one.asking for one in measured))


def compare(bench: Bench, name: str, conversation: str) -> None:
    """W2 or W3: genaipa beside the bare loop, with the documents whole and in genaipa's usual parts."""
    rows: list[Sequence[object]] = []
    for label, part_tokens in (("whole", WHOLE), ("parts", None)):
        workload = bench.workload(conversation, part_tokens)
        bare, run = alternated(bench.scale.rounds, lambda w=workload: bench.loop(w), lambda w=workload: bench.run(w))
        rows += beside(f"{name} {label}", workload, bare, "genaipa run", run)
    if name == "W2":
        workload = bench.workload(conversation)
        rows.append(
            _row("W2 whole", "genaipa on a terminal", bench.run(workload, terminal=True), workload.ideal(LATENCY))
        )
    print_table((name, "", "asking, s", "x ideal", "command, s", "processor, s", "MiB"), rows)


def judge(bench: Bench) -> None:
    """Judges beside the bare loop that sends the same bodies; then the shares of the cache, and the estimates."""
    rows, caches = list[Sequence[object]](), list[Sequence[object]]()
    for label, words in (("whole", 6000), ("sections", WORDS)):
        place = Bench(bench.workspace / f"judge-{label}", "", replace(bench.scale, words=min(words, bench.scale.words)))
        workload = place.workload("independent")
        run = place.make("finished_run", workload)
        with serving([*SERVER, "--verdicts"]) as url:
            place = Bench(place.workspace, url, place.scale)
            place.judge(run, workload.connections)
            place.python("-m", "benchmarks.workload", str(place.workspace), "--judged", str(place.last_run()))
            bare, judged = alternated(
                bench.scale.rounds,
                lambda b=place, w=workload: b.loop(w, b.workspace / JUDGED),
                lambda b=place, w=workload, r=run: b.judge(r, w.connections),
            )
        rows += beside(f"judge {label}", workload, bare, "genaipa judge", judged)
        said = place.python("-m", "benchmarks.caches", str(place.workspace), "judge", run, "--judge").out
        caches += [(f"{label}, {row[0]}", *row[1:]) for row in map(json.loads, said.splitlines())]
    print_table(("judge", "", "asking, s", "x ideal", "command, s", "processor, s", "MiB"), rows)
    print_table(("documents", "judgements", "from the cache", "estimate: input", "output", "cost"), caches)


def beside(name: str, workload: Workload, bare: Asked, who: str, own: Asked) -> list[Sequence[object]]:
    """Return the rows of two ways and of their ratio."""
    ideal, mine, theirs = workload.ideal(LATENCY), own.process, bare.process
    ratios = (own.asking / bare.asking, mine.wall / theirs.wall, mine.cpu / theirs.cpu, mine.rss / theirs.rss)
    ratio = ("", "ratio", f"{ratios[0]:.2f}", "", *(f"{ratio:.2f}" for ratio in ratios[1:]))
    return [_row(name, "bare loop", bare, ideal), _row("", who, own, ideal), ratio]


def _row(name: str, who: str, asked: Asked, ideal: float) -> tuple[object, ...]:
    process = asked.process
    figures = (f"{asked.asking:.2f}", f"{asked.asking / ideal:.2f}", f"{process.wall:.2f}", f"{process.cpu:.2f}")
    return (name, who, *figures, f"{process.rss:.0f}")


def memory(bench: Bench) -> None:
    """Peak memory on W2, and with ten times the questions."""
    workload = bench.workload("independent")
    bare, run = alternated(1, lambda: bench.loop(workload), lambda: bench.run(workload))
    tenfold = bench.run(replace(workload, repetitions=10 * workload.repetitions))
    peaks = [asked.process.rss for asked in (bare, run, tenfold)]
    rows = [
        (f"bare loop, {workload.requests:,} questions", f"{peaks[0]:.0f}", ""),
        (f"genaipa run, {workload.requests:,} questions", f"{peaks[1]:.0f}", f"{peaks[1] / peaks[0]:.2f} x bare"),
        (
            f"genaipa run, {10 * workload.requests:,} questions",
            f"{peaks[2]:.0f}",
            f"{peaks[2] / peaks[1]:.2f} x that",
        ),
    ]
    print_table(("memory", "peak, MiB", "ratio"), rows)


def start(bench: Bench) -> None:
    """How long it takes to say anything: --help, and a run that asks one question of each document."""
    few = bench.prepare(Workload("independent", 1, 64, WHOLE, 1))

    def python(code: str) -> Callable[[], Asked]:
        return lambda: Asked(bench.python("-c", code), 0)

    nothing, front_door, imports, help_ = alternated(
        bench.scale.starts,
        python("pass"),
        python("import genaipa"),
        python("import typer, rich"),
        lambda: Asked(bench.python("-m", "genaipa", "--help"), 0),
    )
    bare, run = alternated(bench.scale.rounds, lambda: bench.loop(few), lambda: bench.run(few))
    rows = [
        ('python -c "pass"', f"{nothing.process.wall:.3f}", f"{nothing.process.cpu:.3f}", ""),
        (
            'python -c "import genaipa"',
            f"{front_door.process.wall:.3f}",
            f"{front_door.process.cpu:.3f}",
            f"{front_door.process.wall / nothing.process.wall:.2f}",
        ),
        ('python -c "import typer, rich"', f"{imports.process.wall:.3f}", f"{imports.process.cpu:.3f}", ""),
        (
            "genaipa --help",
            f"{help_.process.wall:.3f}",
            f"{help_.process.cpu:.3f}",
            f"{help_.process.wall / imports.process.wall:.2f}",
        ),
        (f"bare loop, {few.requests} questions", f"{bare.process.wall:.2f}", f"{bare.process.cpu:.2f}", ""),
        (
            f"genaipa run, {few.requests} questions",
            f"{run.process.wall:.2f}",
            f"{run.process.cpu:.2f}",
            f"{run.process.wall / bare.process.wall:.2f}",
        ),
    ]
    print_table(("start", "command, s", "processor, s", "ratio"), rows)


def resume(bench: Bench) -> None:
    """Coming back to a large run: one that is finished, and one that lacks its last answer."""
    large = Workload("independent", bench.scale.finished, 64, None, bench.scale.limit)
    bench.prepare(Workload("independent", 1, 64, None, bench.scale.limit))
    rows = []
    for label, missing in (("finished", 0), ("one answer missing", 1)):
        name = bench.make("finished_run", large, "--missing", str(missing))
        answers = bench.workspace / "runs" / name / "answers.jsonl"
        size = answers.stat().st_size / 2**20
        # A run that is gone on with is finished after the first round.
        rounds = 1 if missing else bench.scale.rounds
        [back] = alternated(rounds, lambda n=name: Asked(bench.genaipa("run", "--resume", n), 0))
        figures = (f"{back.process.wall:.2f}", f"{back.process.cpu:.2f}", f"{back.process.rss:.0f}")
        rows.append((f"{large.requests:,} answers ({size:.0f} MiB), {label}", *figures))
    print_table(("resume", "command, s", "processor, s", "MiB"), rows)


def desk(bench: Bench) -> None:
    """Measure the desk over 100,000 answers with 20 analysts in browsers: from Enter to the next answer on screen."""
    if shutil.which("chromium") is None:
        print("\ndesk: left out, it needs Debian's chromium")
        return
    large = Workload("independent", bench.scale.finished, 64, None, bench.scale.limit)
    bench.prepare(Workload("independent", 1, 64, None, bench.scale.limit))
    run = bench.make("finished_run", large)
    analysts, scored = bench.scale.analysts, large.requests * 3 // 10
    options = {"analysts": analysts, "answers": bench.scale.each, "pause": bench.scale.pause, "scored": scored}
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    said = json.loads(bench.python("-m", "benchmarks.desk", str(bench.workspace), run, *arguments).out)
    waits, first = sorted(said["waits"]), said["first"]
    rows = [
        ("the desk can be asked", f"{said['ready']:.1f} s"),
        ("its first answer is on screen, after that", f"{first[0]:.1f} s"),
        ("Enter to the next answer: median", f"{median(waits):.0f} ms"),
        ("95th percentile", f"{waits[min(len(waits) - 1, int(len(waits) * 0.95))]:.0f} ms"),
        ("slowest", f"{waits[-1]:.0f} ms"),
        ("processor for an answer: the desk, the browsers", "{:.0f} ms, {:.0f} ms".format(*said["processor"])),
        ("peak memory of the desk", f"{said['memory']:.0f} MiB"),
    ]
    print_table((f"desk: {said['pool']:,} answers, {analysts} analysts, {len(waits)} measured", "figure"), rows)


def results(bench: Bench) -> None:
    """Return the Results page over 10,000 and 100,000 answers: opening it, and from a cell to the answers behind it."""
    if shutil.which("chromium") is None:
        print("\nresults: left out, it needs Debian's chromium")
        return
    bench.prepare(Workload("independent", 1, 64, None, bench.scale.limit))
    found = []
    for repetitions in (max(1, bench.scale.finished // 10), bench.scale.finished):
        large = Workload("independent", repetitions, 64, None, bench.scale.limit)
        run = bench.make("finished_run", large)
        scored = ("--scored", str(large.requests * 3 // 10), "--cells", str(bench.scale.cells))
        found.append(json.loads(bench.python("-m", "benchmarks.results", str(bench.workspace), run, *scored).out))
    figures = [
        (said["pool"], said["first"] * 1000, said["again"] * 1000, median(said["clicks"]), max(said["clicks"]))
        for said in found
    ]
    rows = [(f"{number:,} answers", *(f"{figure:,.0f}" for figure in rest)) for number, *rest in figures]
    rows.append(("ratio", *(f"{large / small:.1f}" for small, large in list(zip(*figures, strict=True))[1:])))
    print_table(("results, ms", "first visit", "next visit", "a cell's answers: median", "slowest"), rows)


def report(bench: Bench) -> None:
    """`genaipa report` over scores of ten analysts, to 1,000,000, and over 1,000,000 answers with a score each."""
    figures, whole = [], bench.scale.finished
    for repetitions, analysts in ((max(1, whole // 100), 10), (max(1, whole // 10), 10), (whole, 10), (10 * whole, 1)):
        # A workspace of its own, so that the store holds no other scores.
        place = Bench(bench.workspace / f"report-{len(figures)}", "", bench.scale)
        place.prepare(Workload("independent", 1, 64, None, bench.scale.limit))
        large = Workload("independent", repetitions, 64, None, bench.scale.limit)
        run = place.make("finished_run", large)
        scored = ("--analysts", str(analysts))
        scores = int(place.python("-m", "benchmarks.scored_run", str(place.workspace), run, *scored).out)
        made = place.genaipa("report", run)
        figures.append((scores, large.requests, made.wall, made.cpu, made.rss))
    rows = [
        (f"{scores:,} scores of {answers:,} answers", f"{s:.1f}", f"{cpu:.1f}", f"{mib:.0f}")
        for scores, answers, s, cpu, mib in figures
    ]
    growth = [large / small for small, large in zip(figures[0], figures[2], strict=True)]
    rows.append((f"ratio, {growth[0]:.0f} times the scores", *(f"{ratio:.1f}" for ratio in growth[2:])))
    print_table(("report", "command, s", "processor, s", "MiB"), rows)


def view(bench: Bench) -> None:
    """`genaipa view` over 10,000 and 100,000 answers, 30 % scored: opening it, and a click on a filter."""
    bench.prepare(Workload("independent", 1, 64, None, bench.scale.limit))
    figures = []
    for repetitions in (max(1, bench.scale.finished // 10), bench.scale.finished):
        large = Workload("independent", repetitions, 64, None, bench.scale.limit)
        scored = ("--scored", str(large.requests * 3 // 10))
        run = bench.make("finished_run", large)
        said = json.loads(bench.python("-m", "benchmarks.view", str(bench.workspace), run, *scored).out)
        clicks = list(said["clicks"].values())
        figures.append((large.requests, said["opened"], said["processor"], median(clicks), max(clicks), said["memory"]))
    rows = [
        (f"{n:,} answers", f"{s:.1f}", f"{cpu:.1f}", f"{half * 1000:.0f}", f"{most * 1000:.0f}", f"{mib:.0f}")
        for n, s, cpu, half, most, mib in figures
    ]
    rows.append(("ratio", *(f"{large / small:.1f}" for small, large in list(zip(*figures, strict=True))[1:])))
    print_table(("view", "opened, s", "processor, s", "a filter, ms: median", "slowest", "MiB"), rows)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Return a table in Markdown, numbers to the right."""
    cells = [[str(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    # Words stand in the columns that have an empty header, and in the first.
    words = [column == 0 or not header for column, header in enumerate(headers)]
    lines = [[c.ljust(w) if t else c.rjust(w) for c, w, t in zip(row, widths, words, strict=True)] for row in cells]
    lines.insert(1, ["-" * w if t else "-" * (w - 1) + ":" for w, t in zip(widths, words, strict=True)])
    print("\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines), flush=True)


MEASURES: dict[str, Callable[[Bench], None]] = {
    "W2": lambda bench: compare(bench, "W2", "independent"),
    "W3": lambda bench: compare(bench, "W3", "shared"),
    "judge": judge,
    "memory": memory,
    "start": start,
    "resume": resume,
    "batches": lambda bench: print_table(*by_batches(bench)),
    "desk": desk,
    "results": results,
    "report": report,
    "view": view,
}


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", choices=[*MEASURES, "all"], default="all", metavar="WHAT")
    parser.add_argument("--quick", action="store_true", help="one round of everything")
    parser.add_argument("--tiny", action="store_true", help="a few questions, to see that it works")
    wanted = parser.parse_args()
    scale = Scale(rounds=1, starts=3) if wanted.quick else Scale()
    if wanted.tiny:
        scale = Scale(
            rounds=1, starts=1, repetitions=1, limit=2, words=300, finished=2, analysts=2, each=2, pause=0.0, cells=1
        )
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load}, {scale.rounds} round(s)")
    with tempfile.TemporaryDirectory(prefix="genaipa-benchmark-") as workspace, serving(SERVER) as url:
        bench = Bench(Path(workspace), url, scale)
        # The first process of each kind finds its files in no cache.
        bench.run(bench.prepare(Workload("independent", 1, 64, WHOLE, 1)))
        for name in MEASURES if "all" in wanted.what else wanted.what:
            MEASURES[name](bench)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\nload at the end {load}")


if __name__ == "__main__":
    main()
