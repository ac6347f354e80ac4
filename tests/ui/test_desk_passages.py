"""What a system was shown, in the desk's document: the same mark for every system, and only beside its answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from analysts import arrive, open_to
from retrieving import COLLECT, KEEP, make_study
from test_view import as_cut, case, with_style

from genaipa.ui.answer_view import prepare_answer
from rubrics import PAPER

_SEEN = """(pane) => ({
  marked: [...pane.querySelectorAll("mark.shown")].map((mark) => mark.textContent).join(""),
  bars: [...pane.querySelectorAll(".along.shown")].map((bar) => getComputedStyle(bar).borderLeftStyle),
  legend: pane.getRootNode().querySelector(".legend mark.shown")?.textContent ?? null,
  title: pane.getRootNode().querySelector(".legend mark.shown")?.title ?? null,
})"""
WANTED = {
    "Answer 1.": (
        COLLECT,
        "system saw 1 of 2",
        "What the system was shown before it answered: 1 of its 2 passages is in this document.",
    ),
    "Answer 2.": (
        KEEP,
        "system saw 1 of 1",
        "What the system was shown before it answered: 1 of its 1 passages is in this document.",
    ),
    "Answer 3.": ("", None, None),
    "Answer 5.": (
        "",
        "system saw 0 of 1",
        "What the system was shown before it answered: 0 of its 1 passages are in this document.",
    ),
    "See section 1.": ("", None, None),
}


@pytest.mark.full
def test_what_the_system_was_shown_is_marked() -> None:
    """A dotted bar beside it and its count in the legend; nothing for an answer without passages, and no source."""
    make_study(systems=("bots:Bot", "scripted/say.yaml"), documents=("acme",))
    with open_to("--per-answer", "1") as (desk, browser):
        anna, seen = arrive(browser, desk, "Anna"), {}
        while len(seen) < len(WANTED):
            screen = anna.look()
            assert screen is not None
            if screen.reply in WANTED:
                seen[screen.reply] = anna.page.locator(".document").evaluate(_SEEN)
            markup = anna.markup()
            assert ("page 7" in markup, "0.8125" in markup) == (False, False)
            anna.score("11111")
    for reply, (marked, legend, title) in WANTED.items():
        found = seen[reply]
        assert (found["marked"], found["legend"], found["title"]) == (marked, legend, title), reply
        assert set(found["bars"]) == ({"dotted"} if marked else set()), reply


def test_a_passage_is_marked_beside_what_is_cited() -> None:
    """A passage over a section that the answer cites has both marks; one that is not in the document has none."""
    given = replace(case("See section 1."), passages=("We collect your name and your address.", "A summary of it."))
    found = prepare_answer(given, PAPER, mask_system_names=True)
    cut = as_cut(given.document.text, found.screen_data["pieces"])
    assert with_style(cut, "shown") == "We collect your name and your address."
    assert with_style(cut, "shown") in with_style(cut, "cited")
    assert found.screen_data["retrieved"] == "1 of 2"
    assert prepare_answer(case("So."), PAPER, mask_system_names=True).screen_data["retrieved"] == ""
