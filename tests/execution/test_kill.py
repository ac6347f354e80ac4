"""A run that is killed at any moment goes on where it was: each answer once, none lost, none asked twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from forking import fork
from running import SYSTEM, lines_of, make_workspace
from servers import Behaviour, OpenAIServer
from size import size

from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

KILLS = size(small=3, soak=25)
"""How often a run is killed, in each mode."""
EARLY = 0.2
"""Share of the kills that don't wait for a question."""
CONNECTIONS = 3
DOCUMENTS = ("acme", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty")
_PLAN = ("-s", SYSTEM, "-p", ",".join(DOCUMENTS), "--part-tokens", "60", "-e", "procedure")
_REPLY_SECONDS = 0.02
_UNTIL_KILLED = 30.0
Name = tuple[str, str, str]
"""Document, initialization and last message: no two requests of the plan share them."""


@dataclass
class Watch:
    """What the server was asked, and the moment of the next kill."""

    asked: list[Name] = field(default_factory=list)
    """What each request was for."""
    left: int = 0
    """Requests until the signal is given."""
    now: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def settle(self) -> None:
        """Wait until the server has read what a process sent before it died: it reads in turn, and this comes last."""
        for _ in range(2):
            httpx2.get(f"{self.url}/models").raise_for_status()

    def behave(self, _number: int, body: dict[str, Any]) -> Behaviour:
        """Answer, each time with another text; give the signal when it is time."""
        first, last = (body["messages"][place]["content"] for place in (0, -1))
        document = next(name for name in DOCUMENTS if name.title() in first)
        self.asked.append((document, introduced(first), last))
        self.left -= 1
        if self.left <= 0:
            self.now.set()
        # Those under way when the signal is given are answered; whatever comes later waits for the kill.
        delay = _REPLY_SECONDS if self.left > -CONNECTIONS else _UNTIL_KILLED
        return Behaviour(text=f"Reply {len(self.asked)} to: {last[:40]}", delay=delay)


def introduced(first: str) -> str:
    """The initialization, by the first message of a conversation; the reply that became a summary says which it was."""
    if first.startswith("I am going to send you"):
        return "document"
    if first.startswith("Write a summary of the privacy policy of") or "to: Write a summary of the privacy" in first:
        return "summary-by-name"
    return "summary-of-document" if "to: Write a summary of the document" in first else "company-name"


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """A server that counts down to a kill."""
    watching = Watch()
    with OpenAIServer(watching.behave, models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        watching.url = server.url
        yield watching


def run_folder() -> Path | None:
    """The one run of the working folder."""
    found = [manifest.parent for manifest in Path("runs").glob("*/manifest.json")]
    assert len(found) <= 1, "a run that was begun is gone on with"
    return found[0] if found else None


def durable(folder: Path | None) -> dict[str, dict[str, Any]]:
    """Key → record of everything that is on disk as a whole line."""
    return {record["key"]: record for record in lines_of(folder / "answers.jsonl")} if folder else {}


def name_of(record: dict[str, Any]) -> Name:
    """A record as the server sees its request. The summary of a document is asked for where the document was sent."""
    at = record["coordinates"]
    sent = record["kind"] == "summary" and at["initialization"] == "summary-of-document"
    return at["document"], "document" if sent else at["initialization"], record["asked"]


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.parametrize("mode", size(small=["shared"], soak=["shared", "independent"]))
def test_killed_again_and_again(watch: Watch, genaipa: Callable[..., Finished], mode: str) -> None:
    """Killed again and again at random moments, a run ends with each answer once, and asks for none that it has.

    Only what was under way when the process died may be asked for again.
    """
    seed = random.randrange(10**9)
    print(f"seed {seed}")  # noqa: T201 - shown when the test fails
    chance = random.Random(seed)
    make_workspace(questions=5, documents=DOCUMENTS)
    wanted, summaries = len(DOCUMENTS) * 4 * 5, len(DOCUMENTS) * 2
    kept: dict[str, dict[str, Any]] = {}
    for kill in range(KILLS):
        watch.now.clear()
        before = len(watch.asked)
        # Some die before their first question, most somewhere in their few, and some is left to do after the last.
        share = (wanted + summaries - len(kept)) // (KILLS - kill + 1)
        watch.left = chance.randint(1, max(1, share - CONNECTIONS - 1))
        folder = run_folder()
        args = ("--resume", folder.name) if folder else (*_PLAN, "--conversation", mode)
        process = fork("run", "-j", str(CONNECTIONS), *args, log=Path("log"))
        if chance.random() < EARLY:
            time.sleep(chance.uniform(0, 0.3))
        else:
            assert watch.now.wait(180)
            time.sleep(chance.uniform(0, 2 * _REPLY_SECONDS))
        process.kill()
        assert process.wait(180) == -signal.SIGKILL
        watch.settle()
        on_disk = durable(run_folder())
        assert kept.items() <= on_disk.items(), "what was kept stays as it was"
        asked = watch.asked[before:]
        check_asked(kept, on_disk, asked)
        # In a shared conversation a reply is on disk before the next question goes out.
        assert mode == "independent" or len(asked) - (len(on_disk) - len(kept)) <= CONNECTIONS
        kept = on_disk
    folder = run_folder()
    assert folder is not None
    assert len(kept) < wanted + summaries, "the last kill came before the end"
    before, watch.left = len(watch.asked), wanted + summaries + 1
    finished = genaipa("run", "-j", str(CONNECTIONS), "--resume", folder.name)
    assert finished.code == 0, finished.err
    done = durable(folder)
    check_asked(kept, done, watch.asked[before:])
    assert kept.items() <= done.items()
    check_complete(folder, wanted, summaries)


def check_asked(kept: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]], asked: list[Name]) -> None:
    """One process asked for nothing that was on disk before it began, for nothing twice, and kept what it says."""
    assert not {name_of(record) for record in kept.values()} & set(asked)
    assert set(Counter(asked).values()) <= {1}
    assert {name_of(record) for key, record in now.items() if key not in kept} <= set(asked)


def check_complete(folder: Path, wanted: int, summaries: int) -> None:
    """Each planned key is there exactly once, with the reply that answers its own question."""
    run = RunFolder(folder)
    records = list(run.read_records())
    keys = Counter(record.key for record in records)
    assert set(keys.values()) == {1}
    assert Counter(record.kind for record in records) == {"answer": wanted, "summary": summaries}
    manifest = run.manifest()
    planned = {
        f"{SYSTEM}|{place.partition('|')[0]}|{i}|{w}|{place.partition('|')[2]}|{question}"
        for place, order in manifest.orders.items()
        for i in manifest.spec.plan.initializations
        for w in manifest.spec.plan.wordings
        for question in order
    }
    assert {record.key for record in records if record.kind == "answer"} == planned
    assert all(record.status == "answered" for record in records)
    for record in records:
        assert (record.reply or "").endswith(record.asked[:40]), record.key
    assert manifest.status == "complete"
    assert manifest.totals.answered == wanted
