"""The desk's page of objections to annotated answers, over a real run and a real store of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import EDSGER, Shown, digests, make_desk, open_app, score

from genaipa.scoring.events import Objection
from genaipa.scoring.objections import collect_objections_even_withdrawn, make_correction
from genaipa.scoring.people import User
from genaipa_objections.entries import has_objections_page

if TYPE_CHECKING:
    from genaipa.ui.desk import Desk

HOSTILE = "<script>alert(1)</script> ![beacon](http://192.0.2.1/x.png) [link](http://192.0.2.1) :red[**loud**] $x$"


@pytest.fixture
def desk() -> Desk:
    """A desk with the four answers of one system, none of them scored."""
    return make_desk()


SENTENCE = "We never sell what we know about you."


def object_to(desk: Desk, analyst: str, answer: str, reply: str) -> str:
    """Somebody says beside an answer that the annotated one is wrong; the objection's id."""
    case = desk.pool.load_case(answer)
    right = make_correction(case.document, SENTENCE, silent="no", answer=reply, why="Section 2.")
    said = Objection(case.document.name, case.document.digest, case.questions, case.answer.question, right)
    desk.queue.file_objection_replacing_earlier(analyst, answer, said)
    return desk.current.list_objections_undos_and_rulings()[-1].id


def show_objections(desk: Desk, user: User) -> Shown:
    """The page in front of a user."""
    return Shown("genaipa_objections.page", desk, user)


def test_objections_are_settled_by_whoever_adjudicates(desk):
    """Both that are about an annotated answer side by side, with the passage; one is accepted, edited, one rejected."""
    lead, first = User("lee", scores=False, adjudicates=True), digests(desk)[0]
    ada, grace = object_to(desk, "ada", first, "No."), object_to(desk, "grace", first, HOSTILE)
    page = show_objections(desk, lead)
    assert [(row[2], row[4]) for row in page.rows("objections")] == [("ada", "open"), ("grace", "open")]
    assert page.text().count(f"Passage: “{SENTENCE}”") == 2
    page.test.text_area[1].input("We sell it.")
    press(page, "Accept")
    assert "does not contain this passage" in page.test.text[-1].value
    page.test.text_area[1].input(SENTENCE.replace(" ", "  "))
    page.test.text_area[0].input("It never does.")
    press(page, "Accept")
    assert [row[2] for row in page.rows("objections")] == ["grace"]
    assert "is accepted. To write a file of corrections: genaipa scores objections export acme -o" in page.text()
    press(page, "Reject")
    assert "a rejection needs a reason" in page.test.text[-1].value
    page.test.text_input[0].input("It says so.")
    press(page, "Reject")
    assert "There are no such objections." in page.text()
    found = {
        one.event.id: one for one in collect_objections_even_withdrawn(desk.current.list_objections_undos_and_rulings())
    }
    assert (found[ada].status, found[ada].accepted_or_proposed_correction.answer, found[ada].ruling.analyst) == (
        "accepted",
        "It never does.",
        "lee",
    )
    assert (found[grace].status, found[grace].ruling.note) == ("rejected", "It says so.")


def press(page: Shown, label: str) -> None:
    """Press a button of a form."""
    next(button for button in page.test.button if button.label == label).click()
    page.run()


def test_objections_wait_until_ones_own_scores_are_in(desk):
    """Whoever can still be asked to score beside the same annotated answer sees none of it; then that is recorded."""
    first = digests(desk)[0]
    object_to(desk, "ada", first, "Sold to nobody.")
    for name in ("scoring", "overview"):
        assert "Sold to nobody." not in Shown(name, desk).text(), name
    page = show_objections(desk, EDSGER)
    assert "Sold to nobody." not in page.text()
    assert "1 more is hidden, because you may still be asked to score answers to these questions" in page.text()
    assert "genaipa scores objections accept ID --by NAME" in page.text()
    for analyst in ("ada", "edsger"):
        score(desk, analyst, first, "11111")
    page = show_objections(desk, EDSGER)
    assert "Sold to nobody." in page.text()
    score(desk, "edsger", first, "11113")
    assert [event.independent for event in desk.store.load_answer_events(first) if event.kind == "score"] == [
        True,
        True,
        False,
    ]


def test_the_page_is_listed_where_somebody_objects(desk):
    """It comes after Adjudicate for whoever adjudicates, once there is an objection, and opens by its address."""
    assert not has_objections_page(desk, EDSGER)
    object_to(desk, "ada", digests(desk)[0], "No.")
    opened = open_app("Lee", "objections")
    assert opened.pages[opened.pages.index("adjudicate") + 1] == "objections"
    assert "Annotated answers that somebody found wrong: none · 1 more" in opened.text
