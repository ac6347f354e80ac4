"""Points of an annotated answer at the desk: ticked by key and by mouse, kept, suggested from, and settled."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import msgspec
import pytest
from analysts import arrive, kept_drafts, kept_events, make_answers, open_to
from pages import Shown, desk_here, digests
from running import answers
from stores import opened, score

from genaipa.questions.points import Point, Ticks, make_ticks
from genaipa_points.panel import (
    find_agreed_ticks_and_whether_all,
    list_tick_words_by_point,
    tabulate_digit_keys_by_points_said,
)
from rubrics import METRICS, PAPER, keys_of, typed

if TYPE_CHECKING:
    from playwright.sync_api import Page

THREE = (
    Point("kept", "It is kept for a year.", ("3",), if_wrong="harm", why="Who asks again would be refused."),
    Point("couriers", "Couriers see the <b>address</b>.", ("2",)),
    Point("sold", "It is never sold.", ("2",), weight="okay"),
)
ANNOTATION = f"""  Q1:
    silent: no
    answer: For a year, and couriers see it.
    sections: ["3"]
    points: {msgspec.json.encode(THREE).decode()}
  Q2: {{silent: yes, answer: It does not say.}}
"""
LIT = """() => {
  const pad = [...document.querySelectorAll("*")].map((n) => n.shadowRoot?.querySelector(".pad")).find(Boolean);
  return pad.querySelector("mark.lit")?.textContent;
}"""


def on(page: Page) -> list[tuple[str, str]]:
    """Each point on screen, and how it is ticked."""
    rows = page.locator(".points li").all()
    return [(row.locator(".text").inner_text(), row.get_attribute("class") or "") for row in rows]


def hows(page: Page) -> list[str]:
    """How each point on screen is ticked."""
    return [how for _, how in on(page)]


def suggested(page: Page) -> list[str]:
    """The keys of the choices at completeness with the sign of a suggestion."""
    at = page.locator(".metric[data-metric=completeness] .choice", has=page.locator("small.unseen"))
    return [choice.locator("kbd").inner_text() for choice in at.all()]


@pytest.mark.full
def test_from_a_tick_to_the_event() -> None:
    """Keys tick; the value that follows is suggested and confirmed by Enter; a reload, undo and correction keep all."""
    make_answers("It is kept for ever; couriers see it.", "It does not say.", annotations=ANNOTATION)
    with open_to("--per-answer", "1", "--points") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page = anna.page
        if anna.wait().reply == "It does not say.":
            assert on(page) == [], "nothing is ticked where the document is silent"
            anna.go("s")
        assert on(page) == [(point.text, "") for point in THREE], "as text"
        assert page.locator(".points small.harm").get_attribute("title") == THREE[0].why
        assert suggested(page) == [], "nothing before the first tick"
        page.locator(".points button", has_text="3").click()
        assert page.evaluate(LIT) == "## 3. How long we keep it"
        anna.keys("11111")
        page.keyboard.press("Enter")
        assert anna.wait().message.startswith("No point is ticked")
        for _ in METRICS:
            page.keyboard.press("Backspace")
        page.keyboard.press("Shift+c")
        anna.keys("ef")
        assert (hows(page), suggested(page)) == (["contradicted", "said", "said"], ["2"])
        anna.keys("f111")
        assert "1 of 2 vital and 0 of 1 okay" in page.locator(".evidence li").inner_text()
        assert anna.wait().typed == "111..", "no value by itself"
        page.keyboard.press("Enter")
        assert anna.wait().typed == "1112."
        page.keyboard.press("Backspace")
        page.keyboard.press("3")
        assert (anna.wait().typed, suggested(page)) == ("1113.", ["2"]), "another value may be given"
        page.wait_for_timeout(600)
        page.reload()
        assert (anna.wait().typed, hows(page)) == ("1113.", ["contradicted", "said", ""])
        assert kept_drafts("Anna")[0].ticks == make_ticks(THREE, ["couriers"], ["kept"])
        anna.score("2")
        back = anna.go("u")
        assert back is not None
        assert (back.typed, hows(page)) == ("11132", ["contradicted", "said", ""])
        page.locator(".points li .text").nth(2).click()
        page.get_by_role("button", name=f"contradicted: {THREE[0].text}").click()
        anna.go("Enter")
        anna.go("b")
        assert hows(page) == ["", "said", "said"], "a correction begins with what was ticked"
    kept = {event.id: event for event in kept_events() if event.kind == "score"}
    assert [event.ticks for event in kept.values()] == [
        make_ticks(THREE, ["couriers"], ["kept"]),
        make_ticks(THREE, ["couriers", "sold"]),
    ]
    assert [event.suggested["completeness"] for event in kept.values()] == [0.5, 0.5]


@pytest.mark.full
def test_ticks_side_by_side() -> None:
    """Adjudicate has both analysts' ticks and the adjudicator's own; Agreement counts the points that differ."""
    run = make_answers("It is kept for a year; couriers see it.", annotations=ANNOTATION)
    (answer,) = (record.digest for record in answers(run))
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("Ada", answer, ticks=make_ticks(THREE, ["kept", "couriers"]))])
        store.append_new_events([score("Bo", answer, typed("11131"), ticks=make_ticks(THREE, ["kept"], ["sold"]))])
    with open_to("--per-answer", "2", "--points") as (desk, browser):
        page = browser.visit(desk, "Cy")
        page.get_by_role("link", name="Adjudicate", exact=True).click()
        page.locator(".verdict .save").wait_for()
        rows = page.locator(".verdict tr.point")
        assert [row.locator(".given").all_inner_texts() for row in rows.all()] == [
            ["✓said", "✓said"],
            ["✓said", "-not said"],
            ["-not said", "✗contradicted"],
        ]
        assert page.locator(".verdict .tick[aria-pressed=true]").count() == 1, "what both ticked is filled in"
        assert page.locator(".verdict .unseen", has_text="suggested").count() == 0, "and nothing follows from a part"
        page.keyboard.press("Shift+f")
        page.locator(".verdict tr[data-metric=completeness] .choice", has=page.locator(".unseen")).get_by_text(
            "+0.5"
        ).wait_for()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.get_by_text("No more answers match").wait_for()
        page.get_by_role("link", name="Agreement", exact=True).click()
        table = page.get_by_role("table", name="Points with the most disagreement")
        table.wait_for()
        assert table.get_by_role("row").all_inner_texts()[1:] == [
            f"{point.text}\tQ1\tacme\t1\t1" for point in THREE[1:]
        ]
        page.get_by_role("row", name="Question 1").click()
        page.get_by_text("2 of 3 points are ticked differently.").wait_for()
    settled = kept_events()[-1]
    assert (settled.kind, keys_of(settled.values), settled.ticks) == (
        "adjudication",
        "11121",
        make_ticks(THREE, ["kept"], ["sold"]),
    )


def test_the_value_follows_as_by_the_rubric() -> None:
    """The browser's table of values has the rubric's for all ticks of all weights."""
    every = list(product(("said", "contradicted", ""), repeat=len(THREE)))
    values = tabulate_digit_keys_by_points_said(THREE, PAPER)
    for hows in every:
        said, contradicted = (
            [p.id for p, how in zip(THREE, hows, strict=True) if how == one] for one in ("said", "contradicted")
        )
        vital, okay = (sum(p.weight == weight and p.id in said for p in THREE) for weight in ("vital", "okay"))
        assert values[vital][okay] == PAPER.digit_for_value(
            PAPER.value_from_points(THREE, make_ticks(THREE, said, contradicted))
        ), hows


def test_ticks_of_other_points_are_of_no_use() -> None:
    """Ticks of points that were edited since, and scores without any, stand beside the others as blanks."""
    events = [
        score("Ada", "a", ticks=ticks) for ticks in (make_ticks(THREE, ["kept"]), Ticks("earlier", ("kept",)), None)
    ]
    assert list_tick_words_by_point(THREE, events)[:2] == [["said", "", ""], ["not said", "", ""]]
    assert find_agreed_ticks_and_whether_all(THREE, events) == (make_ticks(THREE, []), False)
    assert find_agreed_ticks_and_whether_all(THREE, events[:1] * 2) == (make_ticks(THREE, ["kept"]), True)


def test_without_points_nothing_is_new() -> None:
    """Where they are off, the pad gets and the store keeps what they did before there were any."""
    make_answers("It is kept for a year.", annotations=ANNOTATION)
    desk = desk_here()
    page = Shown("scoring", desk)
    parts = page.components()
    assert (parts["answer"]["panels"], "ticks" in parts["turn"]["draft"]) == ({}, False)
    sent = {key: parts["turn"][key] for key in ("id",)} | {"typed": "1....", "note": "", "seconds": 1, "revision": 1}
    page.tell("turn", "draft", sent)
    draft = desk.store.load_draft("edsger", digests(desk)[0])
    assert msgspec.json.encode(draft).endswith(b'"revision":1}')
