"""Whoever reads and scores at the desk in a benchmark: what is read in which order, and what that costs.

Reading is not waited for but modelled, at a fixed pace; keys, scrolls and pixels are counted as they happen. For each
answer the question, the answer and the annotated answer are read; those of the answer before are recognised. Then
comes the passage that bears on the question: the sentence, among those that the annotated answer rests on, with the
longest run of words in common with it. Where the desk has nearest words, the analyst goes by these, takes in what is
lit and what is around it, and gives up after three; otherwise, or then, the annotated passages are run through from
where the desk shows them. At each metric its evidence is read (skimmed, where all is well).
"""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

READ, SKIM, SCAN = 3.8, 12.0, 30.0
"""Words in a second: read, skimmed, and run through for a passage."""
KEY, SCROLL, REACH, JUMP, DECIDE, KNOWN = 0.4, 0.5, 1.1, 0.3, 12.0, 0.5
"""Seconds for a key, for a turn of the wheel, for a hand that goes to the mouse and comes back, for an eye that goes to
another place, for deciding on all values, and for seeing that a text is the one just read."""
FAR = 150
"""Pixels from which on the eye has to find its place anew."""
AROUND = 40
"""Words around what is lit that are taken in."""
TRIES = 3
"""How often nearest words are asked for."""
EYE = (Path(__file__).parent / "eye.js").read_text(encoding="utf-8")
"""What the page needs before it is opened."""


@dataclass
class Spent:
    """What answers have cost so far: counts, pixels, words, and modelled seconds by what they went into."""

    answers: int = 0
    known: int = 0
    """Answers to the question that the answer before was to, about the same document."""
    keys: int = 0
    scrolls: int = 0
    focus: int = 0
    """Ways of a hand to the mouse and back."""
    pixels: float = 0
    read: int = 0
    skimmed: int = 0
    asked: int = 0
    """Answers for which nearest words were asked for."""
    led: int = 0
    """Those of them for which these led to the passage."""
    free: int = 0
    """Answers whose passage nobody knows: the model looks for none, and so takes no second for it."""
    seconds: dict[str, float] = field(default_factory=dict)


def words(text: str) -> list[str]:
    """Return the words of a text, in small letters."""
    return re.findall(r"\w+(?:['\u2019]\w+)?", text.lower())


def sentences(text: str, passages: list[list[int]]) -> list[tuple[int, int]]:
    """Where the sentences of four words or more begin and end that touch one of these passages."""
    found = [
        (m.start(), m.start() + len(m[0].rstrip()))
        for m in re.finditer(r"[^\s.!?](?:[^.!?\n]|[.!?](?=\S))*[.!?]*", text)
    ]
    return [
        (start, end)
        for start, end in found
        if len(words(text[start:end])) > 3 and any(start < stop and begin < end for begin, stop in passages)
    ]


def bearing(text: str, passages: list[list[int]], annotated: str) -> tuple[int, int] | None:
    """Return the sentence that shares the longest run of words, three at least, with the annotated answer."""
    said = words(annotated)
    best, place = 2, None
    for start, end in sentences(text, passages):
        here = words(text[start:end])
        run = SequenceMatcher(None, said, here, autojunk=False).find_longest_match().size
        if run > best:
            best, place = run, (start, end)
    return place


class Analyst:
    """Somebody at the desk, and what the answers cost."""

    def __init__(self, page: Any, *, leads: bool) -> None:
        self.page = page
        self.spent = Spent()
        self.at: list[float] | None = None
        self.hand = "keys"
        self.before: tuple[str, str] | None = None
        self.rules: set[str] = set()
        self.texts: dict[str, str] = {}
        self.leads = leads and page.locator(".reply.claims").count() > 0
        self.pages = self.keys_scroll()

    def eye(self, call: str) -> Any:
        """Return the text on screen."""
        return self.page.evaluate(f"eye.{call}")

    def keys_scroll(self) -> bool:
        """Whether a key scrolls the document without a pane being gone to first."""
        before = self.eye("scrolled('.document')")
        self.page.keyboard.press("PageDown")
        self.page.wait_for_timeout(300)
        moved = self.eye("scrolled('.document')") != before
        self.page.keyboard.press("PageUp")
        self.page.wait_for_timeout(300)
        return bool(moved)

    # --- what costs ---

    def takes(self, what: str, seconds: float) -> None:
        """Model so many seconds."""
        self.spent.seconds[what] = self.spent.seconds.get(what, 0) + seconds

    def press(self, key: str) -> None:
        """Press a key."""
        self.page.keyboard.press(key)
        self.spent.keys += 1
        self.takes("keys", KEY)
        self.hand = "keys"

    def go(self, place: list[float]) -> None:
        """Return the eye goes somewhere."""
        if self.at:
            far = math.dist(self.at, place)
            self.spent.pixels += far
            if far > FAR:
                self.takes("eye", JUMP)
        self.at = place

    def take_in(self, text: str, what: str, *, skim: bool = False) -> None:
        """Read a text, or skim it."""
        count = len(words(text))
        if skim:
            self.spent.skimmed += count
        else:
            self.spent.read += count
        self.takes(what, count / (SKIM if skim else READ))

    def scroll(self, place: str) -> None:
        """One page on in a pane: by a key where one does it, else by the wheel, for which a hand goes to the mouse."""
        self.spent.scrolls += 1
        if self.pages and place != ".evidence":
            self.press("PageDown" if place == ".document" else "Space")
        else:
            if self.hand != place:
                self.spent.focus += 1
                self.takes("scrolling", REACH)
                self.hand = place
            x, y, height = self.eye(f"box({json.dumps(place)})")
            self.page.mouse.move(x, y)
            self.page.mouse.wheel(0, 0.85 * height)
            self.takes("scrolling", SCROLL)
        self.page.wait_for_timeout(120)

    def read(self, place: str, what: str, n: int = 0, *, skim: bool = False, pane: str = "") -> str:
        """Read what is at a place, scrolling as far as it goes; its text."""
        seen = self.eye(f"look({json.dumps(place)}, {n})")
        if not seen:
            return ""
        self.go(seen["from"])
        text = str(seen["text"])
        self.take_in(text, what, skim=skim)
        while pane and seen["below"] > 4:
            before = seen["below"]
            self.scroll(pane)
            seen = self.eye(f"look({json.dumps(place)}, {n})")
            if seen["below"] >= before:
                break
        self.at = seen["to"]
        return text

    # --- an answer ---

    def passage(self, annotated: str, *, known: bool) -> None:
        """Look for the passage that bears on the question, and read it."""
        title = self.eye("look('.title')")["text"]
        if title not in self.texts:
            self.texts[title] = self.eye("text()")
        text, passages = self.texts[title], self.eye("passages()")
        wanted = bearing(text, passages, annotated) if annotated else None
        if wanted is None:
            self.spent.free += 1
            return
        seen = self.eye(f"place({wanted[0]}, {wanted[1]})")
        in_sight = seen["above"] <= 0 and seen["below"] <= 0
        if not (known and in_sight) and not (self.leads and self.led(text, wanted)):
            self.skim(text, passages, wanted, known=known)
        seen = self.eye(f"place({wanted[0]}, {wanted[1]})")
        self.go(seen["from"])
        self.take_in(text[wanted[0] : wanted[1]], "passage", skim=known)
        self.at = seen["to"]

    def led(self, text: str, wanted: tuple[int, int]) -> bool:
        """Whether nearest words lead to a passage."""
        self.spent.asked += 1
        for _ in range(TRIES):
            self.press("j")
            self.page.wait_for_timeout(30)
            lit = self.eye("lit()")
            if lit is None:
                break
            self.go(self.eye(f"place({lit[0]}, {lit[1]})")["from"])
            self.take_in(text[lit[0] : lit[1]], "passage", skim=True)
            away = text[min(lit[1], wanted[1]) : max(lit[0], wanted[0])]
            if (lit[0] < wanted[1] and wanted[0] < lit[1]) or len(words(away)) <= AROUND:
                self.take_in(away, "passage", skim=True)
                self.spent.led += 1
                return True
        return False

    def skim(self, text: str, passages: list[list[int]], wanted: tuple[int, int], *, known: bool) -> None:
        """Skim the annotated passages up to one, scrolling; whoever knows where it is scrolls alone."""
        before = " ".join(text[a:b] for a, b in passages if a < wanted[0])
        if not known:
            self.go(self.eye(f"place({passages[0][0]}, {wanted[1]})")["from"])
            self.spent.skimmed += len(words(before))
            self.takes("passage", len(words(before)) / SCAN)
        for _ in range(60):
            seen = self.eye(f"place({wanted[0]}, {wanted[1]})")
            if seen["below"] <= 0:
                break
            self.scroll(".document")

    def values(self, chance: random.Random) -> None:
        """Read what the evidence says of each metric, and give it a value."""
        for _ in range(self.eye("all('.metric')")):
            here = self.eye("look('.metric.current')")
            self.go(here["from"])
            for n in range(self.eye("all('.evidence li')")):
                good = "good" in self.eye(f"look('.evidence li', {n})")["tone"]
                self.read(".evidence li", "evidence", n, skim=good, pane=".evidence")
            self.press(chance.choice("123"))
        self.takes("deciding", DECIDE)

    def answer(self, chance: random.Random) -> None:
        """Score the answer on screen."""
        asked, title = self.eye("look('.asked')"), self.eye("look('.title')")["text"]
        known = self.before == (asked["text"], title)
        self.before = asked["text"], title
        self.spent.answers += 1
        self.spent.known += known
        self.go(asked["from"])
        if known:
            self.takes("question", KNOWN)
        else:
            self.read(".asked", "question")
        self.read(".reply", "answer", pane=".reply")
        annotated = self.eye("look('.expected .text')")
        if annotated:
            if known:
                self.go(annotated["from"])
                self.takes("annotated answer", KNOWN)
            else:
                self.read(".expected .text", "annotated answer", pane=".expected")
            rule = self.eye("look('.expected .rule')")
            if rule and rule["text"] not in self.rules:
                self.rules.add(rule["text"])
                self.read(".expected .rule", "annotated answer")
        self.passage(annotated["text"] if annotated else "", known=known)
        self.values(chance)
        self.press("Enter")

    def work(self, answers: int) -> Spent:
        """Score so many answers."""
        for number in range(answers):
            shown = self.page.locator(".progress .first").text_content()
            self.answer(random.Random(number))
            if number + 1 < answers:
                self.page.wait_for_function(
                    "(shown) => window.eye.pad().querySelector('.progress .first')?.textContent !== shown",
                    arg=shown,
                    polling=30,
                )
        return self.spent
