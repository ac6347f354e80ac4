"""A judge that is killed at any moment: no judgement lost, doubled, or asked for again once its reply was kept.

Two hundred kills in a run, some six minutes; tests/runs/test_journal.py and tests/scoring/test_store.py have each byte.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from forking import fork
from judges import RUBRIC, events, judge_runs, study, verdict
from running import lines_of
from servers import Behaviour, OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes"),
]
KILLS = 200
EARLY = 0.2
"""Share of the kills that don't wait for a question."""
CONNECTIONS = 3
BATCH = 0.6
"""Seconds after which a verdict is in the store as well, at the latest."""
JUDGE = ("judge", "--judge", "openai-api/loop/m", "-j", str(CONNECTIONS))
_REPLY_SECONDS = 0.02
_UNTIL_KILLED = 60.0


class Watch:
    """A server that judges each answer by the number of its question, and gives a signal after so many requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        """The question of each request."""
        self.left = 0
        self.now = threading.Event()
        self.server = OpenAIServer(self.behave, models=("m",))

    def behave(self, _number: int, body: dict[str, Any]) -> Behaviour:
        """Judge; those that come after the signal wait for the kill, but for what was under way."""
        asked = asked_about(body["messages"][-1]["content"])
        self.asked.append(asked)
        self.left -= 1
        if self.left <= 0:
            self.now.set()
        return Behaviour(text=said_of(asked), delay=_REPLY_SECONDS if self.left > -CONNECTIONS else _UNTIL_KILLED)

    def settle(self) -> None:
        """Wait until the server has read what a process sent before it died: it reads in turn, and this comes last."""
        for _ in range(2):
            httpx2.get(f"{self.server.url}/models").raise_for_status()


def asked_about(message: str) -> str:
    """The question of a request, by its id."""
    found = re.search(r"Question (\d+) on", message)
    assert found is not None
    return f"Q{found[1]}"


def said_of(question: str) -> str:
    """The verdict on the answer to a question: another value for each of three, with the question as its evidence."""
    return verdict(int(question[1:]) % 3).replace("Seen for", f"{question} seen for")


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """The server, as `openai-api/loop/m`."""
    watching = Watch()
    with watching.server as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        yield watching


def on_disk() -> dict[str, dict[str, Any]]:
    """Key → record of every verdict that is a whole line in a judge's run."""
    found = [record for folder in judge_runs() for record in lines_of(folder.answers_path)]
    assert {record["status"] for record in found} <= {"answered"}
    assert max(Counter(record["key"] for record in found).values(), default=0) <= 1
    return {record["key"]: record for record in found}


def stored() -> list[str]:
    """The answers of the verdicts in the store, read while a judge may be making or writing it."""
    if not Path("scores.db").exists():
        return []
    database = sqlite3.connect("file:scores.db?mode=ro", uri=True)
    try:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'score_events'").fetchall():
            return []
        return [json.loads(row[0])["answer"] for row in database.execute("SELECT event FROM score_events")]
    finally:
        database.close()


def test_killed_again_and_again(watch: Watch, genaipa: Callable[..., Finished]) -> None:
    """Killed at random moments, judges end with each verdict once on disk and once in the store.

    Each command asks for what is not kept, once; only what was under way when one died is asked for again.
    """
    seed = random.randrange(10**9)
    print(f"seed {seed}")  # noqa: T201 - shown when the test fails
    chance = random.Random(seed)
    questions = KILLS * 4
    study(genaipa, questions, json.dumps({"default": "It says so."}))
    kept: dict[str, dict[str, Any]] = {}
    lost = 0
    for kill in range(KILLS):
        watch.now.clear()
        before = len(watch.asked)
        watch.left = chance.randint(1, max(1, (questions - len(kept)) // (KILLS - kill + 1) - CONNECTIONS - 1))
        process = fork(*JUDGE, log=Path("log"))
        if chance.random() < EARLY:
            time.sleep(chance.uniform(0, 0.4))
        else:
            assert watch.now.wait(180)
            time.sleep(chance.uniform(0, BATCH))
        process.kill()
        assert process.wait(180) == -signal.SIGKILL
        watch.settle()
        now, asked = on_disk(), watch.asked[before:]
        assert kept.items() <= now.items(), "what was kept stays as it was"
        check_asked(kept, now, asked)
        in_store = Counter(stored())
        assert in_store.keys() <= {record["coordinates"]["answer"] for record in now.values()}
        assert set(in_store.values()) <= {1}
        lost += len(asked) - (len(now) - len(kept))
        kept = now
    assert len(kept) < questions, "the last kill came before the end"
    before, watch.left = len(watch.asked), questions
    finished = genaipa(*JUDGE)
    assert finished.code == 0, finished.err
    done = on_disk()
    check_asked(kept, done, watch.asked[before:])
    assert kept.items() <= done.items()
    assert len(watch.asked) == questions + lost
    check_complete(done, questions)


def check_asked(kept: dict[str, Any], now: dict[str, Any], asked: list[str]) -> None:
    """One process asked for nothing that was on disk before it began, for nothing twice, and kept what it says."""
    assert not kept.keys() & set(asked)
    assert set(Counter(asked).values()) <= {1}
    assert now.keys() - kept.keys() <= set(asked)
    assert len(asked) - (len(now) - len(kept)) <= CONNECTIONS


def check_complete(done: dict[str, dict[str, Any]], questions: int) -> None:
    """Every answer has its own verdict, once on disk and once in the store."""
    assert done.keys() == {f"Q{number}" for number in range(1, questions + 1)}
    about = {record["coordinates"]["answer"]: question for question, record in done.items()}
    given = events()
    assert Counter(about[event.answer] for event in given) == dict.fromkeys(done, 1)
    assert len({event.analyst for event in given}) == 1
    for event in given:
        question = about[event.answer]
        assert done[question]["reply"] == said_of(question)
        assert event.values == dict.fromkeys(RUBRIC.metrics, RUBRIC.values[int(question[1:]) % 3])
        assert f"{question} seen for" in event.note
