"""A busy browser or server: components are called and cleaned up late, and a page is broken off by what comes next."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from analysts import arrive, kept_events, make_answers, open_to
from desk import fork_desk
from size import size

from rubrics import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext, Page

# Streamlit imports a component's script anew for each change of its data, and calls it once the import is there. Here
# the call waits, while `hold` says so, as it does where the import is slow.
_HOLDING = """
  window.hold = false;
  window.held = [];
  const urlOf = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => {
    if (blob.type !== "text/javascript") return urlOf(blob);
    const late = `import now from "${urlOf(blob)}";
      export default async (component) => {
        if (window.hold) await new Promise((go) => window.held.push(go));
        return now(component);
      };`;
    return urlOf(new Blob([late], { type: "text/javascript" }));
  };
"""
_LET_GO = {
    # All calls come first, and the outdated ones' clean-ups after them.
    "together": "() => { window.hold = false; for (const go of window.held.splice(0)) go(); }",
    # Each outdated call is cleaned up before the next one comes.
    "one by one": """async () => {
      window.hold = false;
      for (const go of window.held.splice(0)) {
        go();
        await new Promise((done) => setTimeout(done));
      }
    }""",
}


def busy(machine: BrowserContext) -> BrowserContext:
    """A browser in which calls of components can be held back."""
    machine.add_init_script(_HOLDING)
    return machine


def type_late(page: Page, order: str, note: str) -> None:
    """Give two values and write half a note while every call is held back, let go, and go on with the other half."""
    half = len(note) // 2
    page.evaluate("window.hold = true")
    for calls, key in enumerate("12", 1):
        page.keyboard.press(key)
        page.wait_for_function("(calls) => window.held.length >= calls", arg=calls)
    if note:
        page.keyboard.press("n")
        page.keyboard.insert_text(note[:half])
    page.evaluate(_LET_GO[order])
    if note:
        page.keyboard.type(note[half:])
        page.keyboard.press("Escape")
    for key in "213":
        page.keyboard.press(key)


TOGETHER = ("together", "")
ONE_BY_ONE = ("one by one", "a note, 1 2 3 of it later")


# The pad's component is the same; there a key alone changes nothing that the desk tells it.
@pytest.mark.full
@pytest.mark.parametrize(("order", "note"), size(small=[ONE_BY_ONE], soak=[TOGETHER, ONE_BY_ONE]))
def test_late_calls_leave_the_adjudication_alive(order: str, note: str) -> None:
    """However late outdated calls come and are cleaned up, an adjudication takes each key, and keeps its note."""
    make_answers("See section 1.")
    with open_to("--per-answer", "2") as (desk, browser):
        for name, keys in (("Anna", "11111"), ("Bo", "33333")):
            arrive(browser, desk, name).score(keys)
        page = browser.visit(desk, "Cy", machine=busy(browser.machine()))
        page.get_by_role("link", name="Adjudicate", exact=True).click()
        page.locator(".verdict .save").wait_for()
        type_late(page, order, note)
        page.keyboard.press("Enter")
        page.get_by_text("No more answers match").wait_for()
        settled = kept_events()[-1]
        assert settled.values is not None
        assert (settled.kind, keys_of(settled.values), settled.note) == ("adjudication", "12213", note)


@contextlib.contextmanager
def slow_disk() -> Iterator[None]:
    """Nothing is written to the store meanwhile."""
    connection = sqlite3.connect("scores.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@pytest.mark.full
def test_what_comes_while_a_score_is_saved_breaks_nothing_off() -> None:
    """A score that takes long shows the next answer at once, on which one goes on; both are kept, each once.

    What is decided meanwhile waits. Where the score is not kept, its answer comes back as it was, and says so.
    """
    make_answers("See section 1.", "See section 2.", "See section 3.")
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        anna.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        first = anna.wait()
        anna.keys("12213")
        with slow_disk():
            anna.page.keyboard.press("Enter")
            second = anna.wait("screen.reply !== arg && screen.saving", first.reply)
            assert (second.typed, second.progress[0]) == (".....", "Answer 2")
            anna.keys("31")
            anna.page.keyboard.press("u")
            assert anna.look().message == "The previous score is being saved …"
            anna.page.keyboard.press("Enter")
            anna.keys("2")
            anna.wait("screen.message.startsWith('The previous score is not saved yet')")
        # Undo has waited; Enter, while values are open, decides nothing.
        back = anna.wait("!screen.saving && screen.reply === arg", first.reply)
        assert (back.typed, back.message) == ("12213", "Your last score is withdrawn: here is the answer again.")
        assert [event.kind for event in kept_events()] == ["score", "undo"]
        third = anna.score("")
        assert (third.reply, third.typed) == (second.reply, "312..")
        desk.process.kill()
        desk.process.wait()
        anna.keys("11")
        anna.page.keyboard.press("Enter")
        anna.wait("screen.saving")
        with fork_desk("--per-answer", "1"):
            again = anna.wait("!screen.saving && screen.reply === arg", second.reply)
            assert (again.typed, again.message) == ("31211", "Not saved yet: Enter saves it.")
            anna.go("Enter")
            assert [keys_of(event.values) for event in kept_events() if event.values] == ["12213", "12213", "31211"]
