"""Aids in a browser: what chance withholds is nowhere on the pad and is named, and no value is filled in by itself."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import msgspec
import pytest
from analysts import arrive, kept_events, make_answers, open_to

from genaipa.questions.points import Point
from genaipa.scoring.aids import draw_withheld_aids, load_built_in_and_plugin_aids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

POINTS = msgspec.json.encode([Point("kept", "It is kept for a year.", ("3",))]).decode()
ANNOTATIONS = f'  Q1: {{silent: no, answer: "For a year.", sections: ["3"], points: {POINTS}}}\n'
REPLY = "Section 3 says that they keep it for a year."


def find_names(answer: str) -> Iterator[tuple[str, str]]:
    """Each aid with the name of somebody from whom it alone is withheld at the answer."""
    for aid in load_built_in_and_plugin_aids():
        yield (
            aid,
            next(
                name
                for name in (f"Anna {n}" for n in count())
                if draw_withheld_aids(load_built_in_and_plugin_aids(), seed=0, answer_digest=answer, analyst=name)
                == {aid}
            ),
        )


def list_parts_on_screen(page: Page) -> set[str]:
    """The aids of which there is something on screen, at the metric reference."""
    parts = {
        "points": ".points li",
        "nearest": ".reply .claim",
        "evidence": ".evidence li.good, .reply mark.reference, .document mark.cited",
        "suggestions": ".metric[data-metric=reference] .unseen >> text=suggested",
    }
    return {aid for aid, place in parts.items() if page.locator(f".pad {place}").count()}


@pytest.mark.full
def test_what_is_withheld_is_nowhere_on_the_pad() -> None:
    """One aid each from four people: theirs is missing and named, but for a suggestion; their scores record it."""
    run = make_answers(REPLY, annotations=ANNOTATIONS)
    (answer,) = (record.digest for record in run.read_records())
    people = dict(find_names(answer))
    with open_to("--per-answer", "5", "--points", "--suggestions") as (desk, browser):
        for aid, name in people.items():
            anna = arrive(browser, desk, name)
            anna.keys("1111")
            assert anna.wait().typed == "1111."
            assert list_parts_on_screen(anna.page) == {*load_built_in_and_plugin_aids()} - {aid}
            held = anna.page.locator(".evidence li.held").all_inner_texts()
            title = load_built_in_and_plugin_aids()[aid].title
            assert held == ([] if aid == "suggestions" else [f"Held back at this answer, by chance: {title}"])
            anna.keys("1")
            if aid != "points":
                anna.keys("c")
            assert anna.go("Enter") is None
            anna.page.close()
    for event, aid in zip(kept_events(), people, strict=True):
        assert event.shown is not None
        assert event.shown.aids == {name: name != aid for name in load_built_in_and_plugin_aids()}
        assert (event.ticks is None) == (aid == "points")
        assert event.preselected is False


@pytest.mark.full
def test_an_enter_too_many_gives_no_value() -> None:
    """Enter pressed twice saves the one answer; the next, with points ticked before, gets no value by that."""
    run = make_answers(REPLY, f"{REPLY} So.", annotations=ANNOTATIONS + ANNOTATIONS.replace("Q1", "Q2"))
    digests = [record.digest for record in run.read_records()]
    name = next(
        name
        for name in (f"Anna {n}" for n in count())
        if not any(draw_withheld_aids(["points"], seed=0, answer_digest=digest, analyst=name) for digest in digests)
    )
    with open_to("--per-answer", "1", "--points") as (desk, browser):
        anna = arrive(browser, desk, name)
        first = anna.wait().reply
        anna.keys("c111")
        anna.go("s")
        anna.keys("c1111")
        anna.keys("1")
        before = anna.wait()
        anna.page.keyboard.press("Enter")
        anna.page.keyboard.press("Enter")
        back = anna.leave(before)
        assert back is not None
        assert (back.reply, back.typed) == (first, "111..")
        # The one says what has no value yet, the other takes what is suggested.
        anna.page.keyboard.press("Enter")
        anna.page.keyboard.press("Enter")
        assert anna.wait().typed == "1111."
