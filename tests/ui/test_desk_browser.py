"""The desk in a real browser: analysts score by keyboard and by mouse, are interrupted, compared and settled."""

from __future__ import annotations

import contextlib
import csv
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from analysts import Analyst, arrive, kept_drafts, kept_events, make_answers, open_to
from desk import sign_in
from running import TEXT, answers, carry_out, spec, write
from size import size
from stores import opened, score

from genaipa.scoring.current import in_effect
from rubrics import METRICS, PAPER, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from playwright.sync_api import BrowserContext, Page

SECTIONS = 40
SAID = "This is what we\u2019ll say about matter {n}. " * 15
QUOTED = "This is what we\u2019ll say about matter 5."
LONG = "# ACME Privacy Policy\n\n" + "".join(
    f"## {n}. Matter {n}\n\n{SAID.format(n=n)}{'Backups are destroyed. ' if n == 33 else ''}\n\n"
    for n in range(1, SECTIONS + 1)
)
NOTE = '"first"; 10 % é, <b>1</b>\n-the second line'
ANSWERS = size(small=3, soak=5)
FIRST = ("11111", "12321", "33333")[2 - ANSWERS :]
OTHERS = ("33221", "11111", "12121", "22222", "11333")[:ANSWERS]
SETTLED = ("22222", "13131", "11223", "33111", "21212")[:ANSWERS]
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


def chosen(analyst: str, keys: str, note: str, reply: str) -> tuple[str, str, str, str]:
    """A score or an adjudication, as it is compared."""
    return analyst, reply, keys, note


def exported(genaipa: Callable[..., Finished], replies: dict[str, str]) -> list[tuple[str, str, str, str]]:
    """The rows of the exported table, and who gave them; `replies` are the answers by their digests."""
    assert genaipa("scores", "export", "--output", "scores.csv").code == 0
    with Path("scores.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        chosen(
            f"{row['analyst']} {row['kind']}",
            keys_of({metric: float(row[metric]) for metric in METRICS}),
            # An apostrophe keeps a spreadsheet from taking the text behind it for a formula.
            re.sub("(?m)^'(?=-)", "", row["note"].replace("\r\n", "\n")),
            replies[row["digest"]],
        )
        for row in rows
    ]


@pytest.mark.full
def test_a_study_from_the_first_name_to_the_export(genaipa: Callable[..., Finished]) -> None:
    """Two analysts score by keyboard, one undone and interrupted; a third settles; the export is what was typed."""
    run = make_answers(
        *(f"Answer {n}: {' '.join(f'See section {m}.' for m in range(n))}" for n in (1, 3, 5, 2, 4)[:ANSWERS])
    )
    feet = set()
    replies = {record.digest: record.reply or "" for record in answers(run)}
    typed = []
    with open_to("--per-answer", "2") as (desk, browser):
        machine = browser.machine()
        anna = Analyst("Anna", browser.visit(desk, machine=machine))
        sign_in(anna.page, "Anna")
        for keys in FIRST:
            reply = anna.wait().reply
            typed.append(chosen("Anna score", keys, "", reply))
            anna.score(keys)
        undone = anna.go("u")
        assert undone is not None
        assert (undone.reply, undone.typed) == (reply, "33333")
        typed[-1] = chosen("Anna score", "21213", "", reply)
        fourth = anna.score("21213")
        assert fourth is not None
        anna.keys("12")
        anna.write(NOTE)
        anna.page.close()
        anna = arrive(browser, desk, "Anna", machine=machine, known=True)
        again = anna.wait()
        assert (again.reply, again.typed, again.note) == (fourth.reply, "12...", NOTE)
        typed.append(chosen("Anna score", "12333", NOTE, again.reply))
        last = anna.score("333")
        assert last is not None
        typed.append(chosen("Anna score", "31213", "", last.reply))
        assert anna.score("31213") is None

        bo = arrive(browser, desk, "Bo")
        for number, keys in enumerate(OTHERS):
            note = f"Bo's note {number}"
            typed.append(chosen("Bo score", keys, note, bo.wait().reply))
            feet.add(str(bo.page.locator(".foot").bounding_box()))
            bo.score(keys, note)
        assert len(feet) == 1, "no button moves, however much evidence there is"

        cy = browser.visit(desk, "Cy")
        cy.get_by_role("link", name="Adjudicate").click()
        cy.locator(".verdict .save").wait_for()
        cy.keyboard.press("Enter")
        cy.locator(".verdict .message", has_text="has no value yet.").wait_for()
        for keys in SETTLED:
            reply, notes = settled(cy, keys, f"Cy's note on {keys}")
            assert notes[:2] == [note or "-" for _, about, _, note in typed if about == reply]
            typed.append(chosen("Cy adjudication", keys, f"Cy's note on {keys}", reply))
        assert len({reply for analyst, reply, _, _ in typed if analyst.startswith("Cy")}) == len(SETTLED)
        assert sorted(exported(genaipa, replies)) == sorted(typed)


def settled(page: Page, keys: str, note: str) -> tuple[str, list[str]]:
    """Settle what is on the Adjudicate page by the keyboard alone; the answer that it was, and the notes beside it."""
    answer = page.locator("section.entry", has=page.get_by_text("Answer", exact=True)).locator(".text")
    reply = answer.text_content() or ""
    page.locator(".verdict tr.differs").first.wait_for()
    given = page.locator(".verdict td.note").all_text_contents()
    # What all gave is filled in, and passed over: each metric is gone to.
    for place, key in enumerate(keys):
        for move in ["ArrowUp"] * len(keys) + ["ArrowDown"] * place:
            page.keyboard.press(move)
        page.keyboard.press(key)
    page.keyboard.press("n")
    page.keyboard.insert_text(note)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.locator(".verdict .message", has_text="Saved.").or_(page.get_by_text("None of these is left")).wait_for()
    return reply, given


@pytest.mark.full
def test_keys_are_silent_while_one_types() -> None:
    """In the note and in the search field, digits and letters are text, and Enter alone saves nothing.

    On another page keys give no value to the answer that was on screen before. The guidelines are a key away: `g` shows
    the section of the metric one is at, once more the whole file.
    """
    make_answers("See section 1.", "See section 2.")
    write(
        "guidelines.md",
        "# Ours\n\nBe fair.\n\n## accuracy\n\n- +0.5: **half** <img src=x> of it\n\n## clarity\n\nShort.\n",
    )
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        anna.page.get_by_role("link", name="Overview").click()
        anna.page.locator(".rows").first.wait_for()
        anna.keys("123")
        anna.page.get_by_role("link", name="Score").click()
        first = anna.wait()
        assert first.typed == "....."
        assert kept_drafts("Anna") == []
        for key in ("n", "/"):
            anna.keys(f"{key}123bsuhn/")
            anna.page.keyboard.press("Enter")
            anna.page.keyboard.press("Backspace")
            assert anna.look().typed == "....."
            anna.page.keyboard.press("Escape")
        assert anna.look().note == "123bsuhn/"
        anna.keys("11213n")
        assert anna.look().typed == "11213"
        anna.go("Control+Enter")
        events = kept_events()
        assert [(event.kind, keys_of(event.values), event.note) for event in events] == [
            ("score", "11213", "123bsuhn/")
        ]
        assert anna.look().reply != first.reply
        finds_the_guidelines(anna)


def finds_the_guidelines(anna: Analyst) -> None:
    """What is typed on an answer stays while they are read."""
    shown = anna.page.locator(".guidelines")
    anna.keys("1g")
    assert shown.text_content() == "- +0.5: **half** <img src=x> of it"
    assert shown.locator(".strong").inner_text() == "half"
    anna.keys("2")
    anna.keys("g")
    assert "Be fair." in shown.inner_text()
    assert "Short." in shown.inner_text()
    anna.keys("g")
    shown.wait_for(state="hidden")
    assert anna.wait().typed == "1...."
    anna.keys("g")
    anna.page.keyboard.press("Escape")
    shown.wait_for(state="hidden")
    anna.keys("2")
    # A metric without a section of its own has the whole.
    anna.keys("3g")
    assert "Be fair." in shown.inner_text()
    anna.page.keyboard.press("Escape")
    anna.keys("11")
    assert anna.wait().typed == "12311"


@pytest.mark.full
def test_back_and_skip() -> None:
    """A score is corrected by going back to it; a skipped answer comes back when the others of its wave are done."""
    make_answers(*(f"See section {number}." for number in range(1, 6)))
    with open_to("--per-answer", "1", "--sample", "3") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        skipped = anna.wait().reply
        anna.go("s")
        anna.score("11111")
        second = anna.wait().reply
        assert anna.score("33333").reply == skipped
        corrected = anna.go("b")
        assert (corrected.reply, corrected.typed) == (second, "33333")
        assert corrected.progress[0] == "Correcting a score of yours"
        assert anna.score("21312").reply == skipped
        assert anna.score("22222") is None
        anna.page.get_by_text("Asked for is a random part: 3 of 5 answers of each system and experiment;").wait_for()
        events = kept_events()
    assert [keys_of(event.values) for event in events if event.values] == ["11111", "33333", "21312", "22222"]
    assert [keys_of(event.values) for event in in_effect(events)] == ["11111", "21312", "22222"]
    assert events[2].answer == events[3].answer
    assert events[0].kind == "skip"
    assert events[0].answer == events[-1].answer


@pytest.mark.full
def test_mouse_alone() -> None:
    """Whoever never touches the keyboard scores, notes, skips, goes back and undoes as well."""
    make_answers("See section 1.", "See section 2.")
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page, first = anna.page, anna.wait()

        def click(button: str) -> None:
            before = anna.wait()
            page.get_by_role("button", name=button).click()
            anna.leave(before)

        def choose(keys: str) -> None:
            for metric, key in zip(METRICS, keys, strict=True):
                page.locator(f".metric[data-metric={metric}] .choice.key{key}").click()

        click("Skip")
        choose("12312")
        click("Save")
        assert anna.wait().reply == first.reply
        click("Back")
        choose("33333")
        click("Save the correction")
        click("Undo")
        again = anna.wait()
        assert (again.typed, again.message) == (
            "12312",
            "Your correction is withdrawn: the score before it is in effect again.",
        )
        page.get_by_label("Note").click()
        page.keyboard.insert_text("by mouse")
        choose("21212")
        click("Save")
        events = kept_events()
    assert [event.kind for event in events] == ["skip", "score", "score", "undo", "score"]
    assert [(keys_of(event.values), event.note) for event in in_effect(events)] == [("21212", "by mouse")]


@pytest.mark.full
def test_finding_ones_way_in_the_document() -> None:
    """It is scrolled to what the annotated answer rests on; search, evidence and highlights lead elsewhere.

    Its right edge is within the window at any width of a screen.
    """
    write("policies/acme.yaml", f"company: ACME\ntitle: {'Privacy Policy ' * 8}\n")
    annotation = '  Q1: {silent: false, answer: "It says so.", sections: ["20"]}\n'
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
        for keys, sentence in (("j", "# ACME Privacy Policy"), ("..j", "Backups are destroyed.")):
            anna.keys(keys)
            assert page.locator(".found").text_content() == "nearest words 1 of 1"
            assert page.evaluate("String([...CSS.highlights.get('genaipa-near')][0])") == sentence
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
    page.get_by_text("the document does not have these words in a row: 'We always sell it.'").wait_for()
    place = page.locator(".document").evaluate(_PLACE, "We deliver your order.")
    page.mouse.click(place["x"] + 5, place["y"] + 5, click_count=3)
    page.wait_for_function("(node) => node.value.startsWith('We deliver your order.')", arg=passage.element_handle())
    page.get_by_role("button", name="Keep the objection").click()
    page.get_by_role("button", name="You objected").wait_for()
    assert (anna.look().typed, anna.look().message[:22]) == ("12...", "Your objection is kept")
    anna.keys("w")
    assert page.get_by_label("The right answer").input_value() == right
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Wrong here?").wait_for()
    assert anna.score("333") is None
    objection, withdrawn, given = kept_events()[-3:]
    assert objection.annotation.correction.answer == right
    assert objection.annotation.correction.proof(TEXT).startswith("We deliver your order. We never")
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
    assert pane.evaluate("pane => pane.scrollTop") == 3000


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


@pytest.mark.full
def test_calibration() -> None:
    """What a reference analyst gave is shown beside a new analyst's score once that is saved, and never before."""
    make_answers("See section 1.", "See section 2.", "See section 3.")
    write("desk.yaml", "reference: [reference]\n")
    with open_to("--per-answer", "1") as (desk, browser):
        reference = arrive(browser, desk, "reference")
        known = reference.wait().reply
        reference.score("11111", "what the reference thought")
        anna, frames = listened(browser.machine(), lambda machine: arrive(browser, desk, "Anna", machine=machine))
        shown = anna.wait()
        assert shown.reply == known
        assert any(line.startswith("calibration") for line in shown.progress)
        anna.keys("11311")
        assert anna.wait().compared == []
        assert not any("what the reference thought" in text for text in (anna.markup(), *frames))
        anna.page.keyboard.press("Enter")
        compared = anna.wait("screen?.compared.length")
        assert compared.reply == known, "the compared answer and its document are still there"
        anna.page.reload()
        assert anna.wait("screen?.compared.length").compared == compared.compared
        table = "\n".join(compared.compared)
        assert PAPER.words("clarity", 1.0) in table
        assert PAPER.words("clarity", -1.0) in table
        assert "what the reference thought" in table
        assert anna.page.locator(".comparison tr.differs th").all_text_contents() == ["clarity"]
        anna.keys("1")
        after = anna.go("Enter")
        assert (after.typed, after.compared) == (".....", [])
        assert not any(line.startswith("calibration") for line in after.progress)
        anna.page.reload()
        assert anna.wait().compared == []
        anna.score("22222")
        assert anna.wait().compared == []
    assert [event.calibration for event in kept_events() if event.kind == "score"] == [False, True, False]


def listened(machine: BrowserContext, sit_down: Callable[[BrowserContext], Analyst]) -> tuple[Analyst, list[str]]:
    """An analyst, and everything that the desk ever sends to their browser."""
    frames: list[str] = []

    def hear(frame: str | bytes) -> None:
        frames.append(frame if isinstance(frame, str) else frame.decode("utf-8", "replace"))

    machine.on("page", lambda page: page.on("websocket", lambda socket: socket.on("framereceived", hear)))
    return sit_down(machine), frames


@pytest.mark.full
def test_while_the_scores_are_away() -> None:
    """The page stays while they can't be reached, says so, keeps what is typed, and comes back by itself."""
    make_answers("See section 1.", "See section 2.")
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        first = anna.wait().reply
        anna.keys("12")
        rename("score_events", "away")
        anna.keys("3")
        anna.wait("screen?.message.startsWith('Not kept yet')")
        anna.keys("21")
        anna.page.keyboard.press("Enter")
        anna.wait("screen?.message.startsWith('Not saved')")
        rename("away", "score_events")
        back = anna.wait("screen && !screen.message")
        assert (back.reply, back.typed) == (first, "12321")
        second = anna.go("Enter")
        assert second is not None
        rename("score_events", "away")
        anna.page.reload()
        anna.page.get_by_text("This page comes back by itself").wait_for()
        rename("away", "score_events")
        assert anna.wait().reply == second.reply
    assert [keys_of(event.values) for event in kept_events() if event.values] == ["12321"]


def rename(table: str, name: str) -> None:
    """Take a table of the store away from the desk, or give it back."""
    with contextlib.closing(sqlite3.connect("scores.db", timeout=30)) as database:
        database.execute(f"ALTER TABLE {table} RENAME TO {name}")


@pytest.mark.full
def test_what_counts_as_time_spent() -> None:
    """A pause counts as two minutes at most, the comparison not at all, and a correction adds to the score's time."""
    run = make_answers("See section 1.", "See section 2.")
    write("desk.yaml", "reference: [reference]\n")
    with opened("sqlite:///scores.db") as store:
        store.append([score("reference", answers(run)[0].digest)])
    with open_to("--per-answer", "2") as (desk, browser):
        machine = browser.machine()
        machine.clock.install()
        anna = arrive(browser, desk, "Anna", machine=machine)
        machine.clock.fast_forward("10:00")
        anna.keys("11111")
        anna.page.keyboard.press("Enter")
        anna.wait("screen?.compared.length")
        for _ in range(3):
            anna.page.mouse.move(300, 300)
            machine.clock.fast_forward("01:00")
        anna.go("Enter")
        anna.score("11111")
        anna.page.get_by_role("button", name="Back to the last").click()
        anna.wait("screen?.typed === '11111'")
        machine.clock.fast_forward("01:00")
        anna.score("11113")
        seconds = [event.seconds or 0 for event in kept_events() if event.kind == "score" and event.analyst == "Anna"]
    assert 120 <= seconds[0] < 180
    assert seconds[1] < 60, "what the comparison took is not the next answer's"
    assert seconds[2] >= 60 + seconds[1]


# In small, test_desk_kill has two analysts at once, test_study twenty.
@pytest.mark.full
def test_two_at_once() -> None:
    """Where one score is wanted, two analysts never have the same answer before them, and none is scored twice."""
    make_answers(*(f"Answer {n}." for n in range(1, 8)))
    with open_to("--per-answer", "1") as (desk, browser):
        pair = [arrive(browser, desk, name) for name in ("Anna", "Bo")]
        turns = 0
        while None not in (screens := [analyst.look() for analyst in pair]):
            assert screens[0].reply != screens[1].reply
            pair[turns % 3 % 2].score("11111")
            turns += 1
        for analyst in pair:
            while analyst.look():
                analyst.score("11111")
        events = kept_events()
    assert {event.analyst for event in events} == {"Anna", "Bo"}
    assert len(events) == len({event.answer for event in events}) == 7


# In small, test_pages has when suggestions are shown.
@pytest.mark.full
def test_suggestions_are_filled_in_on_request_alone() -> None:
    """A suggestion is shown and not chosen; once an analyst has it filled in, their scores say so."""
    annotations = "".join(f'  Q{n}: {{silent: false, answer: "So.", sections: ["{n}"]}}\n' for n in (1, 2, 3))
    make_answers(*(f"So says section {n}." for n in (1, 2, 3)), annotations=annotations)
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        assert anna.page.locator(".metric[data-metric=reference] .key1 small").text_content() == "suggested"
        assert anna.wait().typed == "....."
        anna.score("11111")
        assert anna.wait().typed == "....."
        box = anna.page.get_by_label("fill suggestions in")
        assert not box.is_checked()
        box.check()
        assert anna.wait().typed == "....1", "on the answer before one, too"
        anna.page.locator(".preselect input:checked").wait_for()
        assert anna.score("2222").typed == "....1"
        assert anna.score("3333") is None
        events = kept_events()
    assert [(keys_of(event.values), event.preselected) for event in events] == [
        ("11111", False),
        ("22221", True),
        ("33331", True),
    ]
    assert [event.suggested for event in events] == [{"reference": 1.0}] * 3


@pytest.mark.full
@pytest.mark.parametrize(
    "flags", size(small=[()], soak=[(), ("--show-systems",)]), ids=lambda flags: "".join(flags) or "blind"
)
def test_whose_answer_it_is(flags: tuple[str, ...]) -> None:
    """Nothing that is sent or on screen betrays system, run or initialization, unless they are to be shown."""
    write("systems.yaml", "systems: {marvin: {system: scripted/say.yaml}}\n")
    replies = ("As Marvin I say: see section 1.", "MARVIN answers: see section 2.")
    run = make_answers(*replies, systems=("marvin",), initializations=("company-name",))
    with open_to("--per-answer", "1", *flags) as (desk, browser):
        anna, frames = listened(browser.machine(), lambda machine: arrive(browser, desk, "Anna", machine=machine))
        seen = [anna.markup()]
        anna.score("11111")
        seen.append(anna.markup())
        anna.go("b")
        seen.append(anna.markup())
    for place, texts in {"on screen": seen, "sent": frames}.items():
        everything = "\n".join(texts).lower()
        assert "answers: see" in everything, place
        betrayed = {word for word in ("marvin", "scripted", "say.yaml", run.name, "company-name") if word in everything}
        assert betrayed == (set() if not flags else {"marvin", run.name, "company-name"}), place
    assert [event.blind for event in kept_events()] == [not flags]
