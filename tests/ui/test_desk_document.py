"""The document at the desk in a real browser: found, searched, scrolled, held against what is claimed, objected to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from analysts import Analyst, arrive, kept_events, make_answers, open_to
from running import TEXT, carry_out, spec, write

from rubrics import keys_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECTIONS = 40
SAID = "This is what we\u2019ll say about matter {n}. " * 15
QUOTED = "This is what we\u2019ll say about matter 5."
LONG = "# ACME Privacy Policy\n\n" + "".join(
    f"## {n}. Matter {n}\n\n{SAID.format(n=n)}{'Backups are destroyed. ' if n == 33 else ''}\n\n"
    for n in range(1, SECTIONS + 1)
)
# Whether what is found is within the document's window, and not above or below it.
_IN_SIGHT = """(found) => {
  const box = (node) => node.getBoundingClientRect();
  const pad = [...document.querySelectorAll("*")].map((n) => n.shadowRoot?.querySelector(".pad")).find(Boolean);
  const lit = CSS.highlights.get({ search: "genaipa-here", near: "genaipa-near" }[found]);
  const here = lit ? [...lit][0] : pad.querySelector(found);
  const window = box(pad.querySelector(".document"));
  return Boolean(here) && box(here).top >= window.top && box(here).top < window.bottom - 10;
}"""

_AT_THE_END = """() => {
  const pad = [...document.querySelectorAll("*")].map((n) => n.shadowRoot?.querySelector(".pad")).find(Boolean);
  const { scrollTop, clientHeight, scrollHeight } = pad.querySelector(".document");
  return scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2;
}"""

# The box of words of the document on screen.
_PLACE = """(pane, words) => {
  const node = [...pane.childNodes].find((child) => child.textContent.includes(words));
  const range = new Range();
  range.setStart(node, node.data.indexOf(words));
  range.setEnd(node, node.data.indexOf(words) + words.length);
  return range.getBoundingClientRect();
}"""


@pytest.mark.full
def test_finding_ones_way_in_the_document() -> None:
    """It is scrolled to what the annotated answer rests on; search, evidence and highlights lead elsewhere.

    Its right edge is within the window at any width of a screen.
    """
    write("policies/acme.yaml", f"company: ACME\ntitle: {'Privacy Policy ' * 8}\n")
    annotation = '  Q1: {silent: false, answer: "It says that backups are destroyed.", sections: ["20"]}\n'
    said = "Section 30 says so, and not Section 3. A backup is destroyed. " + "That is known. " * 400
    make_answers(said, text=LONG, annotations=annotation)
    write("more.yaml", yaml.safe_dump({"rules": [{"match": ".", "reply": f'{said}"{QUOTED}"'}]}))
    carry_out(spec(systems=("scripted/more.yaml",)))
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page = anna.page

        def comes_in_sight(what: str) -> None:
            page.wait_for_function(_IN_SIGHT, arg=what)

        comes_in_sight(".document .annotated")
        anna.keys("/")
        page.keyboard.insert_text("Matter 35")
        comes_in_sight("search")
        assert page.locator(".found").text_content() == "1 of 16"
        assert not page.evaluate(_IN_SIGHT, ".document .annotated")
        for words, hits in (
            ("we'll  SAY about matter 35", "1 of 15"),
            ("35 we'll", "1 of 30"),
            ("35 nowhere", "not found"),
        ):
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(words)
            assert page.locator(".found").text_content() == hits
        page.keyboard.press("Escape")
        assert page.locator(".found").text_content() == ""
        assert not page.evaluate("CSS.highlights.has('genaipa-found')")
        assert page.locator(".evidence button").count() == 0, "it is shown at its metric"
        page.locator(".metric[data-metric=reference] h2").click()
        page.locator(".evidence button", has_text="Section 30").click()
        comes_in_sight('.document mark[data-marks~="r0"]')
        page.locator(".reply mark", has_text="Section 3").last.click()
        comes_in_sight('.document mark[data-marks~="r1"]')
        page.locator(".expected button", has_text="20").click()
        comes_in_sight(".document .annotated")
        # The button that was clicked does not take the Enter that belongs to the page.
        page.keyboard.press("Enter")
        assert anna.wait("screen.message").message == "relevance has no value yet."
        for keys in ("j", "..j"):
            anna.keys(keys)
            assert page.locator(".found").text_content() == "nearest words 1 of 1"
            assert page.evaluate("String([...CSS.highlights.get('genaipa-near')][0])") == "Backups are destroyed."
            comes_in_sight("near")
        scrolled = "pane => pane.scrollTop"
        page.locator(".reply").click(position={"x": 60, "y": 262})
        assert page.evaluate("String([...CSS.highlights.get('genaipa-sentence')][0])") == "That is known."
        assert page.locator(".reply").evaluate(scrolled) == 0, "what is clicked stays under the mouse"
        anna.keys(".")
        assert page.locator(".reply").evaluate(scrolled) > 0
        scrolled_by_keys(page)
        assert anna.wait().typed == "....."
        stays_for_the_next_answer(anna)
        is_inside_the_window(anna)


@pytest.mark.full
def test_claims_beside_the_documents_words() -> None:
    """Beneath each sentence of an answer is the document's nearest one; what the answer before had is grey.

    The annotated answer is said to be wrong, with the passage as it is selected, beside a half-typed score that stays.
    """
    own, again = (
        "Zebras march through purple galaxies at night: section 99",
        "Your address is seen by the couriers on delivery day.",
    )
    first, second = f"We collect your name and your address. {again} {own}", f"We deliver your order, they say. {again}"
    make_answers(first, annotations="  Q1: {silent: true, answer: It does not say.}\n")
    write("more.yaml", yaml.safe_dump({"rules": [{"match": ".", "reply": second}]}))
    carry_out(spec(systems=("scripted/more.yaml",)))
    lit = "name => String([...(CSS.highlights.get(name) ?? [])][0] ?? '')"
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page, found = anna.page, anna.page.locator(".found")
        if anna.wait().reply == second:
            anna.go("s")
        near = page.locator(".claims .claim").evaluate_all("all => all.map(({ dataset }) => dataset.near)")
        couriers = "Our couriers see your address on the day of delivery."
        assert near == ["✓ word for word", couriers, "nothing near"]
        marks = page.locator(".reply mark")
        assert (marks.count(), marks.locator(".claim").count()) == (1, 0), "its line is under no word of the document"
        assert anna.wait().reply == first
        page.locator(".claim").nth(1).click()
        assert page.evaluate(lit, "genaipa-near") == couriers
        anna.keys("/")
        page.keyboard.insert_text("zebra")
        assert found.text_content() == "not found"
        page.keyboard.press("Escape")
        assert found.text_content() == ""
        anna.keys(",,j")
        assert found.text_content() == "nothing near: silent"
        anna.keys("t")
        assert page.locator(".claims").count() == 0
        assert page.evaluate(lit, "genaipa-known") == "", "the first to its question is new"
        anna.score("11111")
        assert page.locator(".claims").count() == 0, "as it was left"
        assert page.evaluate(lit, "genaipa-known") == again.rstrip(".")
        anna.keys("d")
        assert page.evaluate(lit, "genaipa-known") == ""
        objects(anna)


def objects(anna: Analyst) -> None:
    """Say that the annotated answer is wrong, look at it again, and withdraw it; then score the last answer."""
    page, right = anna.page, "It is sold to nobody."
    anna.keys("12w")
    passage = page.get_by_label("Passage")
    passage.fill("We always sell it.")
    page.get_by_label("The document", exact=True).select_option("no")
    page.get_by_label("The right answer").fill(right)
    page.get_by_label("Why").fill("Section 2 says so, 111.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("the document does not contain this passage: 'We always sell it.'").wait_for()
    place = page.locator(".document").evaluate(_PLACE, "We deliver your order.")
    page.mouse.click(place["x"] + 5, place["y"] + 5, click_count=3)
    page.wait_for_function("(node) => node.value.startsWith('We deliver your order.')", arg=passage.element_handle())
    page.get_by_role("button", name="Save the objection").click()
    page.get_by_role("button", name="You objected").wait_for()
    assert (anna.look().typed, anna.look().message[:22]) == ("12...", "Your objection is save")
    anna.keys("w")
    assert page.get_by_label("The right answer").input_value() == right
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Wrong here?").wait_for()
    assert anna.score("333") is None
    objection, withdrawn, given = kept_events()[-3:]
    assert objection.annotation.correction.answer == right
    assert objection.annotation.correction.find_proving_sentence_or_empty(TEXT).startswith(
        "We deliver your order. We never"
    )
    assert (objection.annotation.correction.silent, withdrawn.undoes) == ("no", objection.id)
    assert keys_of(given.values) == "12333"


@pytest.mark.full
def test_long_lines_and_wide_tables() -> None:
    """A policy of one line has paragraphs, and cited parts a bar; a table scrolls by itself, a huge one is text."""
    said = "We keep what you order for as long as the law says. " * 30
    line = "".join(f"{n}. Matter {n} {said}" for n in (1, 2, 3)).strip()
    table, huge = (
        "\n".join(f"|{fill * 20}" for fill in (" head |", "---|", *[said] * rows))
        for said, rows in ((" something long |", 2), (" x |", 60))
    )
    make_answers(f"See section 2.\n\n{table}\n\nAnd:\n\n{huge}\n", text=line)
    with open_to("--per-answer", "1") as (desk, browser):
        page = arrive(browser, desk, "Anna").page
        document, reply = page.locator(".document"), page.locator(".reply")
        assert document.text_content() == line
        assert document.locator(".paragraph").count() > 6
        copied = "pane => { getSelection().selectAllChildren(pane); return String(getSelection()).trim(); }"
        assert document.evaluate(copied) == line, "no line break gets into what is copied"
        decoration = "pane => getComputedStyle(pane.querySelector('mark.cited')).textDecorationLine"
        assert document.evaluate(decoration) == "none"
        bar, pane = (document.locator(".bars .cited").last.bounding_box(), document.bounding_box())
        assert bar is not None
        assert pane is not None
        assert (bar["height"] > 100, bar["width"], bar["x"] > pane["x"]) == (True, 4, True)
        scroller = reply.get_by_role("group", name="Table")
        assert scroller.count() == 1
        assert scroller.locator(".cell").count() == 3 * 20
        assert scroller.evaluate("table => table.scrollWidth > 2 * table.clientWidth")
        assert reply.evaluate("pane => pane.scrollWidth <= pane.clientWidth"), "the table alone is wider than its pane"
        assert reply.text_content().endswith(f"And:\n\n{huge}\n")
        assert reply.locator(".table").count() == 1


def stays_for_the_next_answer(anna: Analyst) -> None:
    """The next answer is to the same question: the document stays in place, with other marks in it."""
    pane = anna.page.locator(".document")
    pane.evaluate("pane => { pane.scrollTop = 3000; }")
    marks = pane.locator("mark.quoted").count()
    anna.score("11111")
    assert pane.locator("mark.quoted").count() != marks
    assert pane.evaluate("pane => pane.scrollTop") == pytest.approx(3000, abs=2), "screens round"


def scrolled_by_keys(page: Page) -> None:
    """Keys scroll the answer and the document while nothing has the focus, and what has it in the browser's own way."""
    page.locator(".reply").blur()
    for pane, key in ((".reply", "Space"), (".document", "PageDown"), (".document", "PageUp")):
        before = page.locator(pane).evaluate("pane => pane.scrollTop")
        page.keyboard.press(key)
        moved = page.locator(pane).evaluate("pane => pane.scrollTop") - before
        assert moved < 0 if key == "PageUp" else moved > 0, key
    page.locator(".document").focus()
    page.keyboard.press("End")
    page.wait_for_function(_AT_THE_END)


def is_inside_the_window(anna: Analyst) -> None:
    """The document is, with any title, before the nearest words are found and after; last on a telephone."""
    for width in (1440, 1366, 1280, 1152, 1024):
        anna.page.set_viewport_size({"width": width, "height": 900})
        for key in ("Escape", "j"):
            anna.page.keyboard.press(key)
            box = anna.page.locator(".document").bounding_box()
            assert box is not None
            assert 0.4 * width < box["x"] + box["width"] <= width, (width, key)
        anna.keys(".")
    anna.page.set_viewport_size({"width": 390, "height": 844})
    anna.page.locator(".metric").last.scroll_into_view_if_needed()
    reply, metric = (anna.page.locator(place).bounding_box() for place in (".reply", ".metric >> nth=4"))
    assert reply is not None
    assert metric is not None
    assert 0 < reply["y"] < metric["y"] < 844, "the answer is in sight at the metrics"
