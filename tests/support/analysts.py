"""Analysts in tests: what stands on their screen at the desk, and the keys that they press.

make_answers("See section 2.", "It does not say.")      # a workspace with a run that brought these answers
with open_to("--per-answer", "1") as (desk, browser):    # skips where chromium is missing
    anna = arrive(browser, desk, "Anna")
    anna.keys("11213")
    anna.go("Enter")                                     # returns when another answer is on screen
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from desk import PATIENCE, browsing, fork_desk
from running import TEXT, carry_out, make_workspace, spec, write

from genaipa.scoring.store import ScoreStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desk import RunningDesk, Visitors
    from playwright.sync_api import BrowserContext, Page

    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.events import Draft, Event

# What the pad shows, wherever on the page it is mounted; null while there is none.
_SCREEN = """(() => {
  const pad = [...document.querySelectorAll("*")].map((node) => node.shadowRoot?.querySelector(".pad")).find(Boolean);
  if (!pad?.querySelector(".asked")) return null;
  const text = (place) => pad.querySelector(place)?.textContent ?? "";
  return {
    asked: text(".asked"),
    reply: text(".reply"),
    typed: [...pad.querySelectorAll(".metric")].map((m) => m.querySelector(".chosen kbd")?.textContent ?? ".").join(""),
    note: pad.querySelector("textarea.note").value,
    progress: [...pad.querySelectorAll(".progress span")].map((span) => span.textContent),
    message: text(".message"),
    can_save: !pad.querySelector(".save").disabled,
    saving: Boolean(pad.querySelector(".screen.saving")),
    compared: [...pad.querySelectorAll(".comparison tr, .comparison p")].map((row) => row.innerText),
  };
})()"""
LOOK = 25
"""Milliseconds between two looks of somebody who waits: a look at every frame takes the time of what is waited for."""
_NOTHING_LEFT = "Nothing is left for you to score."
# Every element's own markup, in the page and in what is mounted on it.
_MARKUP = """() => {
  const all = (root) => {
    const mounted = [...root.querySelectorAll("*")].filter((node) => node.shadowRoot);
    return root.innerHTML + mounted.map((node) => all(node.shadowRoot)).join("");
  };
  return all(document.documentElement);
}"""


@dataclass(frozen=True)
class Screen:
    """What the pad shows: `typed` has a dot for each metric without a value, `compared` the rows of a calibration.

    `can_save` is whether all is typed, and no save is under way; `saving`, whether the desk has yet to say that it has
    kept the score before this one.
    """

    asked: str
    reply: str
    typed: str
    note: str
    progress: list[str]
    message: str
    can_save: bool
    saving: bool
    compared: list[str]


@dataclass
class Analyst:
    """Somebody at the desk, and the tab in front of them."""

    name: str
    page: Page

    def look(self) -> Screen | None:
        """What is on screen now; None while the pad is not."""
        found = self.page.evaluate(_SCREEN)
        return Screen(**found) if found else None

    def wait(self, condition: str = "screen", arg: Any = None) -> Screen:
        """What is on screen once a condition of JavaScript holds for it."""
        self.page.wait_for_function(
            f"(arg) => {{ const screen = {_SCREEN}; return Boolean({condition}); }}",
            arg=arg,
            timeout=PATIENCE * 1000,
            polling=LOOK,
        )
        screen = self.look()
        assert screen is not None
        return screen

    def keys(self, keys: str) -> None:
        """Press one key after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, key: str) -> Screen | None:
        """Press the key that leads to another answer, and wait for it; None when nothing is left."""
        before = self.look()
        assert before is not None
        self.page.keyboard.press(key)
        return self.leave(before)

    def leave(self, before: Screen) -> Screen | None:
        """What is on screen instead of that answer, once it is and that one is saved; None when nothing is left."""
        self.page.wait_for_function(
            f"""(before) => {{
              const screen = {_SCREEN};
              if (!screen) return document.body.innerText.includes("{_NOTHING_LEFT}");
              return screen.reply !== before && !screen.saving;
            }}""",
            arg=before.reply,
            timeout=PATIENCE * 1000,
            polling=LOOK,
        )
        return self.look()

    def score(self, keys: str, note: str = "") -> Screen | None:
        """Score the answer on screen by the keyboard alone; the answer after it."""
        self.keys(keys)
        if note:
            self.write(note)
        return self.go("Enter")

    def write(self, note: str) -> None:
        """Write a note, and leave the field."""
        self.keys("n")
        self.page.keyboard.insert_text(note)
        self.page.keyboard.press("Escape")

    def markup(self) -> str:
        """Everything that the page is made of."""
        return str(self.page.evaluate(_MARKUP))


@contextlib.contextmanager
def open_to(*flags: str) -> Iterator[tuple[RunningDesk, Visitors]]:
    """A desk and people before it; nothing breaks off there, and no browser asks another machine for anything."""
    with browsing() as browser, fork_desk(*flags) as desk:
        yield desk, browser
        assert browser.strangers == []
        assert browser.refused == []
        assert "Traceback" not in desk.printed


def arrive(
    browser: Visitors, desk: RunningDesk, name: str, *, machine: BrowserContext | None = None, known: bool = False
) -> Analyst:
    """Somebody who sits down at the desk and has an answer before them; `known` if this browser knows their name."""
    analyst = Analyst(name, browser.visit(desk, "" if known else name, machine=machine))
    analyst.wait()
    return analyst


def make_answers(*replies: str, text: str = TEXT, annotations: str = "", **plan: Any) -> RunFolder:
    """The working folder as a workspace, and a run in which the n-th question got the n-th of these replies."""
    make_workspace(questions=len(replies), text=text)
    if annotations:
        write("annotations/acme.yaml", f"document: acme\nquestions: policy\nannotators: [one]\nanswers:\n{annotations}")
    # A reply without a word is an answer where the system says that it refuses.
    finish = {True: "stop", False: "refusal"}
    rules = [
        {"match": f"Question {n} on", "reply": reply, "finish": finish[bool(reply)]}
        for n, reply in enumerate(replies, 1)
    ]
    write("say.yaml", yaml.safe_dump({"rules": rules}))
    return carry_out(spec(**{"systems": ("scripted/say.yaml",)} | plan))[0]


def kept_events() -> list[Event]:
    """Every event in the store of the working folder, as another process reads it."""
    with _store() as store:
        return [event for _, event in store.read_numbered_events()]


def kept_drafts(name: str) -> list[Draft]:
    """What somebody left unfinished, as another process reads it."""
    with _store() as store:
        return store.load_drafts_of_analyst(name)


@contextlib.contextmanager
def _store() -> Iterator[ScoreStore]:
    store = ScoreStore.open_or_create("sqlite:///scores.db")
    try:
        yield store
    finally:
        store.close()
