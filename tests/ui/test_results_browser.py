"""The Results page in a real browser: from a cell of the heat map to the answers behind it, and what the filters do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysts import make_answers, open_to
from judged import verdict
from running import answers, write

from genaipa.files.stamps import now
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.store import ScoreStore
from rubrics import typed

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

HOSTILE = (
    '<img src=x onerror="document.title=1"> <script>document.title=2</script> [link](javascript:document.title=3) '
    "![beacon](http://192.0.2.1/x.png) $x$ See section 1."
)
SCORES = {("Ada", "Q1"): "13111", ("Grace", "Q1"): "12111", ("Ada", "Q2"): "33333", ("Grace", "Q2"): "11111"}


def make_scored() -> None:
    """A workspace with two scored answers, one of them hostile as its notes are, and somebody who only adjudicates."""
    run = make_answers(HOSTILE, "See section 2.")
    write("desk.yaml", "analysts: [Ada, Grace]\nadjudicators: [Ruth]\n")
    digests = {record.question: record.digest for record in answers(run)}
    store = ScoreStore.open_or_create("sqlite:///scores.db")
    events = [
        Event(
            id=new_event_id(),
            time=now(),
            kind="score",
            analyst=analyst,
            answer=digests[question],
            values=typed(keys),
            note=f"{analyst}'s note on {question}: {HOSTILE}",
        )
        for (analyst, question), keys in SCORES.items()
    ]
    # A judge's verdicts are for who leads the study.
    events += [verdict("made-up", digest, (0, 0, 2, 0, 0)) for digest in digests.values()]
    store.append_new_events(events)
    store.close()


def cell(page: Page, row: str, column: str) -> Locator:
    """A cell of the heat map."""
    return page.locator(f'[data-testid=stVegaLiteChart] path[aria-label^="{row}, {column}, "]')


def says(page: Page, row: str, column: str) -> str:
    """What is heard at a cell of the heat map."""
    return cell(page, row, column).get_attribute("aria-label") or ""


def choose(page: Page, label: str, option: str) -> None:
    """Choose in a filter by the keyboard."""
    page.get_by_role("combobox", name=label, exact=True).click()
    page.keyboard.type(option)
    page.keyboard.press("Enter")


@pytest.mark.full
def test_from_a_cell_to_its_answers_and_back() -> None:
    """A click shows the answers behind a cell, and so do the boxes, by keys; what models and people wrote is text.

    Box plots are drawn. Who leads the study has a page on the judges, too, and an analyst none.
    """
    make_scored()
    with open_to("--per-answer", "2") as (desk, browser):
        page = browser.visit(desk, "Ruth")
        page.get_by_role("link", name="Results", exact=True).click()
        # The chart's script comes from the desk itself, as `open_to` sees of everything.
        page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first.wait_for()
        assert any("vega" in url.lower() for url in browser.requests)
        assert says(page, "Q1", "accuracy").endswith(": -0.25, Red")
        title = page.title()
        # Its number is above it.
        cell(page, "Q1", "accuracy").click(force=True)
        row = page.locator("tr.choice")
        row.wait_for()
        assert "Ada -1\nGrace +0.5" in row.inner_text()
        row.click()
        reply = page.locator("section.entry", has=page.get_by_text("Answer", exact=True)).locator(".text")
        assert reply.text_content() == HOSTILE
        note = page.get_by_role("cell", name="Ada's note on Q1")
        assert note.text_content() == f"Ada's note on Q1: {HOSTILE}"
        assert page.locator("img[src=x], a[href^=javascript]").count() == 0
        assert page.title() == title

        choose(page, "Question", "Q2")
        choose(page, "Metric", "clarity")
        page.get_by_text("Ada -1\nGrace +1").wait_for()
        page.locator('path[aria-label^="Q2, clarity, "][stroke-width="3"]').wait_for()

        choose(page, "Scores", "Grace")
        page.locator('path[aria-label^="Q1, accuracy, "][aria-label*="+0.50"]').wait_for()
        assert says(page, "Q2", "clarity").endswith(": +1.00, Green")
        choose(page, "Questions", "from users")
        page.get_by_text("No score counts in this selection").wait_for()

        page.get_by_role("link", name="Judges", exact=True).click()
        page.get_by_text("Not meaningful: people scored 2 of the answers that it judged").wait_for()
        assert browser.visit(desk, "Ada").get_by_role("link", name="Judges", exact=True).count() == 0
