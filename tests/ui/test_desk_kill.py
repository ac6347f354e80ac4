"""The desk is killed while analysts score: what they saw confirmed is kept, once, and drafts come back."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysts import Analyst, arrive, kept_drafts, kept_events, make_answers
from desk import PATIENCE, RunningDesk, browsing, free_port
from forking import fork
from running import answers

from rubrics import keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analysts import Screen
    from forking import Forked

KILLS = 30
ANSWERS = 300
LOOK = 25
"""Milliseconds between two looks of somebody who waits: looking takes the time of the desk that is to be opened."""
IMPATIENCE = 40
"""Looks at the same answer after which Enter is pressed once more, whether or not the desk is still busy with it."""
NAMES = ("Anna", "Bo")
MOMENT = 0.5
"""Seconds within which a kill comes after the scores that it waits for: about what one score takes."""


@dataclass
class MortalDesk(RunningDesk):
    """A desk that can be killed and opened again at the same address."""

    def open(self) -> None:
        """Start it, and wait until it is up."""
        self.process = _started(self.port, self.log)
        self.await_start()

    def kill(self) -> None:
        """End it between two of its instructions; returns when it is gone."""
        self.process.kill()
        assert self.process.wait(PATIENCE) == -signal.SIGKILL


def _started(port: int, log: Path) -> Forked:
    return fork("score", "--no-browser", "--port", str(port), "--per-answer", "1", "--sample", "all", log=log)


@contextlib.contextmanager
def mortal_desk() -> Iterator[MortalDesk]:
    """A desk that is open; killed in the end."""
    port, log = free_port(), Path("desk.log")
    desk = MortalDesk(_started(port, log), port, log)
    try:
        desk.await_start()
        yield desk
    finally:
        desk.kill()


@dataclass
class Tireless:
    """An analyst who scores as fast as the desk lets them, and believes only what is on screen."""

    analyst: Analyst
    chance: random.Random
    scored: threading.Semaphore
    """Released with each score that was confirmed, whoever gave it."""
    confirmed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Answer → the digits and the note with which another answer came on screen in its place."""
    answer: str = ""
    keys: str = ""
    note: str = ""
    typed: str = ""
    written: str = ""
    sent: bool = False
    looks: int = 0

    def step(self) -> None:
        """Look at the screen, and press the next key. Whatever a kill took away, nothing that was typed is gone."""
        screen = self.analyst.look()
        self.looks += 1
        if screen is None or screen.saving:
            return
        if screen.reply != self.answer:
            self._turn_to(screen)
            return
        assert (screen.typed, screen.note) == (self.typed.ljust(5, "."), self.written)
        if len(self.typed) < len(self.keys):
            key = self.keys[len(self.typed)]
            self.analyst.keys(key)
            self.typed += key
        elif self.written != self.note:
            self.analyst.write(self.note)
            self.written = self.note
        elif screen.can_save or self.looks % IMPATIENCE == 0:
            self.analyst.page.keyboard.press("Enter")
            self.sent = True
        else:
            self.analyst.page.wait_for_timeout(LOOK)

    def _turn_to(self, screen: Screen) -> None:
        """Another answer is there: the one before it is confirmed."""
        if self.answer:
            assert self.sent, f"{self.answer} went away unsaved"
            self.confirmed[self.answer] = (self.keys, self.note)
            self.scored.release()
        assert screen.reply not in self.confirmed, f"{screen.reply} is to be scored again"
        assert (screen.typed, screen.note) == (".....", "")
        self.answer = screen.reply
        self.keys = "".join(self.chance.choices("123", k=5))
        self.note = f"of {self.answer}" if self.chance.random() < 0.3 else ""
        self.typed = self.written = ""
        self.sent = False


class Killer(threading.Thread):
    """Kills the desk, and each time looks at once whether everything that was confirmed before is there."""

    def __init__(self, desk: MortalDesk, pair: list[Tireless], replies: dict[str, str], chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.desk, self.pair, self.replies, self.chance = desk, pair, replies, chance
        self.scored = pair[0].scored
        self.kills = 0
        self.problem: BaseException | None = None

    def run(self) -> None:
        """Kill so often, or until something is wrong."""
        try:
            while self.kills < KILLS:
                self._kill()
        except BaseException as error:  # noqa: BLE001 - it is raised again in the test's own thread
            self.problem = error

    def _kill(self) -> None:
        while self.scored.acquire(blocking=False):
            """Only scores that were confirmed since the desk is open again count."""
        for _ in range(self.chance.randint(1, 2)):
            assert self.scored.acquire(timeout=PATIENCE), "nobody scores any more"
        time.sleep(self.chance.uniform(0, MOMENT))
        confirmed = [dict(tireless.confirmed) for tireless in self.pair]
        self.desk.kill()
        self.kills += 1
        kept = kept_scores(self.replies)
        for tireless, theirs in zip(self.pair, confirmed, strict=True):
            assert theirs.items() <= kept[tireless.analyst.name].items()
        self.desk.open()


def kept_scores(replies: dict[str, str]) -> dict[str, dict[str, tuple[str, str]]]:
    """Analyst → answer → the digits and the note that are in the store; nothing is there twice."""
    scores = [event for event in kept_events() if event.kind == "score"]
    assert len({event.answer for event in scores}) == len(scores), "an answer was scored twice"
    kept: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in NAMES}
    for event in scores:
        assert event.values is not None
        kept[event.analyst][replies[event.answer]] = (keys_of(event.values), event.note)
    return kept


@pytest.mark.soak
def test_killed_while_two_score() -> None:
    """No kill loses a score that was confirmed, doubles one or takes back a digit that was typed."""
    run = make_answers(*(f"Answer {n}." for n in range(1, ANSWERS + 1)))
    replies = {record.digest: record.reply or "" for record in answers(run)}
    chance = random.Random(7)
    scored = threading.Semaphore(0)
    with browsing() as browser, mortal_desk() as desk:
        pair = [Tireless(arrive(browser, desk, name), random.Random(name), scored) for name in NAMES]
        killer = Killer(desk, pair, replies, chance)
        killer.start()
        while killer.is_alive():
            for tireless in pair:
                tireless.step()
        if killer.problem:
            killer.problem.add_note(f"On screen: {[t.analyst.look() for t in pair]}. {desk.printed[-3000:]}")
            raise killer.problem
        assert killer.kills == KILLS
        # The desk still works for both.
        goals = [len(tireless.confirmed) + 1 for tireless in pair]
        while any(len(tireless.confirmed) < goal for tireless, goal in zip(pair, goals, strict=True)):
            for tireless in pair:
                tireless.step()
        assert browser.strangers == []
    kept = kept_scores(replies)
    for tireless in pair:
        theirs = kept[tireless.analyst.name]
        # What is kept and was not confirmed is at most the last one, on its way when the desk was killed.
        sent = {tireless.answer: (tireless.keys, tireless.note)} if tireless.sent else {}
        assert tireless.confirmed.items() <= theirs.items() <= (tireless.confirmed | sent).items()
    assert "Traceback" not in desk.printed


@pytest.mark.full
def test_a_draft_outlives_the_desk_and_the_browser() -> None:
    """What has reached the desk comes back after it was killed, on another machine too."""
    make_answers("Answer 1.", "Answer 2.", "Answer 3.")
    with browsing() as browser, mortal_desk() as desk:
        anna = arrive(browser, desk, "Anna")
        anna.score("11111")
        answer = anna.wait().reply
        anna.keys("312")
        anna.write("half a thought")
        until = time.monotonic() + PATIENCE
        while [(draft.typed, draft.note) for draft in kept_drafts("Anna")] != [("312..", "half a thought")]:
            assert time.monotonic() < until, kept_drafts("Anna")
            time.sleep(0.05)
        desk.kill()
        anna.page.context.close()
        desk.open()
        again = arrive(browser, desk, "Anna").wait()
        assert (again.reply, again.typed, again.note) == (answer, "312..", "half a thought")
        assert len(kept_events()) == 1


@pytest.mark.full
def test_a_page_goes_on_while_the_desk_is_started_again() -> None:
    """Whoever types nothing meanwhile is heard from the first key on; whoever is in a note stays in its field."""
    make_answers("Answer 1.")
    with browsing() as browser, mortal_desk() as desk:
        anna = arrive(browser, desk, "Anna")
        anna.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        desk.kill()
        desk.open()
        _type_until(anna, "1", lambda: bool(kept_drafts("Anna")))
        typed = anna.wait().typed
        anna.keys("n")
        desk.kill()
        anna.wait("screen.message.includes('be reached')")
        anna.keys("2")
        desk.open()
        # What is written reaches the desk again once the browser has found it.
        _type_until(anna, "2", lambda: any(len(draft.note) > 1 for draft in kept_drafts("Anna")))
        screen = anna.wait()
        assert screen.typed == typed, "no digit of the note became a value"
        assert set(screen.note) == {"2"}


def _type_until(analyst: Analyst, key: str, heard: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not heard():
        assert time.monotonic() < until, analyst.look()
        analyst.keys(key)
        analyst.page.wait_for_timeout(LOOK)
