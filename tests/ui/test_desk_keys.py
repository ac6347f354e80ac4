"""What keys do at the desk beyond scoring: earlier answers, earlier notes, and keys that a study changes."""

from __future__ import annotations

import pytest
from analysts import arrive, kept_events, make_answers, open_to
from running import write


@pytest.mark.full
def test_earlier_answers_and_notes() -> None:
    """A list leads back to any of the last answers, a half-typed one is kept, and Tab writes an earlier note again."""
    make_answers(*(f"Answer {n}." for n in range(1, 5)))
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page = anna.page
        anna.keys("l")
        page.get_by_text("You have not scored any answer yet.").wait_for()
        anna.keys("1")
        page.keyboard.press("Escape")
        assert anna.wait().typed == ".....", "no value is given behind the list"
        first = anna.wait().reply
        anna.score("11111", "The limits are missing.")
        anna.score("12321")
        anna.keys("13nlim")
        assert anna.wait().message == "Tab: The limits are missing."
        page.keyboard.press("Tab")
        page.keyboard.insert_text("\nNo")
        page.keyboard.press("Escape")
        half = anna.wait()
        assert half.note == "The limits are missing.\nNo"
        anna.keys("l")
        rows = page.locator(".list .row")
        assert rows.count() == 2
        assert "+1 +0.5 -1 +0.5 +1" in (rows.nth(0).text_content() or "")
        assert "The limits are missing." in (rows.nth(1).text_content() or "")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        again = anna.leave(half)
        assert again is not None
        assert (again.reply, again.typed) == (first, "11111")
        anna.keys("l1")
        assert anna.leave(again).typed == "12321"
        anna.page.reload()
        kept = anna.wait()
        assert (kept.reply, kept.typed, kept.note) == (half.reply, half.typed, half.note)
        anna.keys("nmi")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.shadowRoot?.activeElement?.className") != "note"
    assert [event.kind for event in kept_events()] == ["score", "score"]


# In small, test_people.py has the keys that a file may give.
@pytest.mark.full
def test_keys_of_the_study() -> None:
    """A desk.yaml gives acts other keys: these act, the old ones don't, and buttons and the list of keys name them."""
    make_answers("Answer 1.", "Answer 2.")
    write("desk.yaml", 'keys: {skip: b, back: x, undo: ";", note: "+"}\n')
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page = anna.page
        first = anna.go("b")
        anna.keys("sn?")
        said = {}
        for row in page.locator(".list tr").all():
            said[row.locator("td").text_content()] = row.locator("th").text_content()
        page.keyboard.press("Escape")
        assert (
            said["back to the answer that you scored before"],
            said["to the note"],
            said["gives the current metric a value"],
        ) == (
            "x",
            "+",
            "1 2 3",
        )
        assert page.locator(".buttons button", has_text="Undo").text_content() == "Undo ;"
        assert anna.wait().reply == first.reply
        page.keyboard.press("+")
        page.keyboard.insert_text("noted")
        page.keyboard.press("Escape")
        second = anna.score("11111")
        assert anna.go("x").note == "noted"
        anna.keys("2")
        assert anna.go("b").reply == second.reply
        assert anna.go(";").note == "noted"
    assert [event.kind for event in kept_events()] == ["skip", "score", "undo"]
