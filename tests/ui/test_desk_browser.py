"""The desk in a real browser: analysts score by keyboard and by mouse, are interrupted, compared and settled."""

from __future__ import annotations

import contextlib
import csv
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysts import Analyst, arrive, kept_drafts, kept_events, make_answers, open_to
from desk import sign_in
from running import answers, write
from size import size
from stores import opened, score

from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import ScreenContents
from rubrics import METRICS, PAPER, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from playwright.sync_api import BrowserContext, Page

NOTE = '"first"; 10 % é, <b>1</b>\n-the second line'
ANSWERS = size(small=3, soak=5)
FIRST = ("11111", "12321", "33333")[2 - ANSWERS :]
OTHERS = ("33221", "11111", "12121", "22222", "11333")[:ANSWERS]
SETTLED = ("22222", "13131", "11223", "33111", "21212")[:ANSWERS]


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
        cy.get_by_role("link", name="Adjudicate", exact=True).click()
        cy.locator(".verdict .save").wait_for()
        cy.get_by_text("Show who gave which score").click()
        cy.locator(".verdict th", has_text="Anna").wait_for()
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
    page.locator(".verdict .message", has_text="Saved.").or_(page.get_by_text("No more answers match")).wait_for()
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
        anna.page.get_by_role("link", name="Overview", exact=True).click()
        anna.page.locator(".rows").first.wait_for()
        anna.keys("123")
        anna.page.get_by_role("link", name="Score", exact=True).click()
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
        assert corrected.progress[0] == "Correcting your score"
        assert anna.score("21312").reply == skipped
        assert anna.score("22222") is None
        anna.page.get_by_text(
            "Only a random part of the answers is to be scored: 3 of 5 answers from each system and experiment;"
        ).wait_for()
        events = kept_events()
    assert [keys_of(event.values) for event in events if event.values] == ["11111", "33333", "21312", "22222"]
    assert [keys_of(event.values) for event in effective_scores_and_adjudications(events)] == [
        "11111",
        "21312",
        "22222",
    ]
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
        assert (again.typed, "withdrawn" in again.message) == ("12312", True)
        page.get_by_label("Note").click()
        page.keyboard.insert_text("by mouse")
        choose("21212")
        click("Save")
        events = kept_events()
    assert [event.kind for event in events] == ["skip", "score", "score", "undo", "score"]
    assert [(keys_of(event.values), event.note) for event in effective_scores_and_adjudications(events)] == [
        ("21212", "by mouse")
    ]


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
        assert PAPER.meaning("clarity", 1.0) in table
        assert PAPER.meaning("clarity", -1.0) in table
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
        anna.wait("screen?.message.startsWith('Not saved yet')")
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
        anna.page.get_by_text("This page reloads by itself").wait_for()
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
        store.append_new_events([score("reference", answers(run)[0].digest)])
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
        anna.page.get_by_role("button", name="Back to the last answer").click()
        anna.wait("screen?.typed === '11111'")
        machine.clock.fast_forward("01:00")
        anna.score("11113")
        seconds = [event.seconds or 0 for event in kept_events() if event.kind == "score" and event.analyst == "Anna"]
    assert 120 <= seconds[0] < 180
    assert seconds[1] < 60, "what the comparison took is not the next answer's"
    assert seconds[2] >= 60 + seconds[1]


# In small, test_pages has when suggestions are shown.
@pytest.mark.full
def test_suggestions_are_shown_and_never_filled_in() -> None:
    """A suggestion is shown at its metric alone, and not chosen; what was on screen is in the record."""
    annotations = '  Q1: {silent: false, answer: "So.", sections: ["1"]}\n'
    make_answers("So says section 1.", annotations=annotations)
    with open_to("--per-answer", "1", "--suggestions") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        hint = anna.page.locator(".metric[data-metric=reference] .key1 small")
        assert hint.count() == 0, "nobody has read yet"
        anna.keys("1111")
        assert hint.text_content() == "suggested"
        assert anna.wait().typed == "1111."
        assert anna.score("2") is None
        (event,) = kept_events()
    assert (keys_of(event.values), event.preselected, event.suggested) == ("11112", False, {"reference": 1.0})
    assert event.shown == ScreenContents(
        evidence=("relevance", "clarity", "reference"),
        suggestion=("reference",),
        aids={"nearest": True, "evidence": True, "suggestions": True},
    )


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
