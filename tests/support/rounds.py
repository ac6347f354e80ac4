"""Rounds of killing what carries out a study's slices: processes, nodes, drivers. Nothing is lost, doubled or repeated.

A server counts what it is asked. After so many requests a round ends with a kill; then the books are compared.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from running import SYSTEM, TEXT, make_workspace, write
from servers import Behaviour, OpenAIServer

from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DOCUMENTS = tuple(f"{first}{second}" for first in ("acme", "brook", "cedar") for second in ("north", "south", "west"))
SLICES = 4
PRICED = "systems:\n  loop: {system: openai-api/loop/m, price: {input: 1000, output: 1000, as_of: '2026-11-21'}}\n"
PLAN = ("-s", SYSTEM, "--documents", "shops.jsonl", "-i", "document", "--name", "shops", "--slices", str(SLICES))


@dataclass
class Rounds:
    """The requests of all rounds, and the moment of the next kill."""

    questions: int = 6
    patient: bool = True
    """Whether the server goes on at its pace during a kill."""
    hold: float = 5.0
    """Seconds that each request takes otherwise, once a kill is due."""
    seed: int = field(default_factory=lambda: random.randrange(10**9))
    asked: list[tuple[str, str]] = field(default_factory=list)
    left: int = 0
    now: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        print(f"seed {self.seed}")  # noqa: T201 - shown when the test fails

    def behave(self, _number: int, body: dict[str, Any]) -> Behaviour:
        """Answer with the question, so that each answer shows whose it is."""
        last = body["messages"][-1]["content"]
        with self.lock:
            self.asked.append((next(name for name in DOCUMENTS if name.upper() in str(body)), last))
            self.left -= 1
            if self.left <= 0:
                self.now.set()
            # What comes while somebody is being killed is answered late, so that enough is left for the other rounds.
            delay = 0.03 if self.left > 0 or self.patient else self.hold
        return Behaviour(text=f"Reply to: {last[:40]}", delay=delay)

    def count(self, _number: int, _body: dict[str, Any]) -> Behaviour:
        """Answer in a word, and count it."""
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.now.set()
        return Behaviour(text="Yes.")

    def serve(self) -> OpenAIServer:
        """The server, and the workspace in the working folder, with the corpus."""
        make_workspace(questions=self.questions, documents=())
        write_corpus(DOCUMENTS)
        return OpenAIServer(self.behave, models=("m",))

    def until(self, requests: int, process: subprocess.Popen[bytes], seconds: float = 60.0) -> bool:
        """Wait for so many requests, or for the process's end; whether it still runs."""
        self.now.clear()
        self.left, end = requests, time.monotonic() + seconds
        while not self.now.wait(0.05) and process.poll() is None:
            assert time.monotonic() < end, "nobody asks"
        return process.poll() is None


def write_corpus(names: Sequence[str], file: str = "shops.jsonl") -> Path:
    """A corpus in the working folder: a document of the usual text for each name."""
    entries = ({"name": name, "company": name.upper(), "text": TEXT.replace("ACME", name.upper())} for name in names)
    return write(file, "".join(f"{json.dumps(entry)}\n" for entry in entries))


def begin(*more: str, plan: tuple[str, ...] = PLAN) -> subprocess.Popen[bytes]:
    """A driver: the same command each time. What it says is in the file `said`."""
    command = [sys.executable, "-m", "genaipa", "run", *plan, *more]
    with Path("said").open("ab") as said:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)


def kept() -> list[dict[str, Any]]:
    """Every record on disk."""
    return [
        json.loads(line)
        for run in list_run_folders_oldest_first(find_workspace())
        for _, line in run.read_answer_lines_with_offsets()
    ]


def processes(matches: Callable[[str], bool], parent: int | None = None) -> Iterator[int]:
    """Processes of this machine whose command line matches, of any parent or of this one."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            its_parent = int(path.with_name("stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if matches(command) and parent in (None, its_parent):
            yield int(path.parent.name)


def is_slice(command: str) -> bool:
    """Whether a command line is that of a slice in the working folder."""
    return " --slice " in command and f"--workspace={Path.cwd()} " in command


def kill_one(chance: random.Random, matches: Callable[[str], bool], parent: int | None = None) -> None:
    """Kill one of them, if there is any at this moment."""
    found = sorted(processes(matches, parent))
    if found:
        try:
            os.kill(chance.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            return


def check_books(rounds: Rounds, kills: int, in_flight: int) -> None:
    """Each planned answer is there once; only calls that a kill cut off were asked again."""
    records = kept()
    keys = Counter(record["key"] for record in records)
    lost = len(DOCUMENTS) * rounds.questions - len(keys)
    assert lost == 0, f"{lost} answers are lost"
    assert set(keys.values()) == {1}, "an answer is there twice"
    assert all(record["reply"] == f"Reply to: {record['asked'][:40]}" for record in records)
    repeats = sum(count - 1 for count in Counter(rounds.asked).values())
    assert repeats <= kills * in_flight, f"{repeats} calls were repeated in {kills} rounds"
