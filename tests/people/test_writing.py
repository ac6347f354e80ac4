"""The page By hand for people who write: what they see, what is kept of it, and who gets which question."""

from __future__ import annotations

import json

import pytest
from pages import Shown, desk_here, score
from running import TEXT, carry_out, latest, make_workspace, spec, write

from genaipa.runs.authors import AUTHORS, read_authorships
from genaipa.scoring.people import User

ADA, BO = (User(name, scores=True, adjudicates=False) for name in ("Ada", "Bo"))
FORM = "people form"


@pytest.fixture
def run():
    """A run in which three questions wait for people, and a machine has answered them."""
    make_workspace(questions=3)
    write("say.yaml", "default: The machine's own words.\n")
    return carry_out(spec(systems=("people/lawyers", "scripted/say.yaml")))[0]


def form(page: Shown) -> dict:
    """What the browser is sent for the form."""
    return page.components()[FORM]


def tell(page: Shown, event: str, text: str, seconds: float = 1.0) -> None:
    """Type, or keep what is typed."""
    page.tell(FORM, event, {"id": form(page)["id"], "text": text, "seconds": seconds})


def test_a_writer_sees_the_document_and_the_question_alone(run):
    """No other reply, no annotated answer, no evidence and no score is sent; what is kept is a record like others."""
    page = Shown("manual", desk_here(), ADA)
    data = form(page)
    assert set(data) == {"id", "question", "title", "source", "told", "text", "seconds", "left"}
    assert data["source"].strip() == TEXT.strip()
    assert "Part 1" not in data["told"]
    assert "3 questions left" in data["left"]
    for text in ("See Section 1.", "None.", "It is silent."):
        tell(page, "kept", text, 61.26)
    assert "The machine's own words" not in page.text()
    records = [record for record in latest(run).values() if record.system == "people/lawyers"]
    assert [record.reply for record in records] == ["See Section 1.", "None.", "It is silent."]
    assert {(record.seconds, record.status, record.cost) for record in records} == {(61.3, "answered", None)}
    assert {authorship.author for authorship in read_authorships(run)} == {"Ada"}
    assert run.manifest().status == "complete"


def test_what_is_begun_is_offered_again(run):
    """Whoever leaves finds text and clock again; an empty box is not kept; each writer has a question of their own."""
    desk = desk_here()
    page = Shown("manual", desk, ADA)
    tell(page, "draft", "Only the na", 12.5)
    tell(page, "kept", "  ", 13.0)
    assert "There is no reply in the box" in page.text()
    tell(page, "draft", "Only the name", 20.0)
    ids = {form(page)["id"]}
    ids.add(form(Shown("manual", desk, BO))["id"])
    assert len(ids) == 2
    again = form(Shown("manual", desk_here(), ADA))
    assert (again["text"], again["seconds"]) == ("Only the name", 20.0)
    assert again["id"] == form(page)["id"]
    third = Shown("manual", desk, User("Cy", scores=True, adjudicates=False))
    assert form(third)["id"] not in ids
    assert "others have them on screen" in Shown("manual", desk, User("Dee", scores=True, adjudicates=False)).text()


def test_the_second_at_a_question_loses_nothing(run):
    """Of two people at one question the first is kept; the second gets a sentence and their text, and goes on."""
    desk = desk_here(minutes=0.0)
    first, second = Shown("manual", desk, ADA), Shown("manual", desk, BO)
    assert form(first)["id"] == form(second)["id"], "the first one's hold has run out"
    begun = form(second)["id"]
    tell(first, "kept", "Ada's words.")
    second.tell(FORM, "kept", {"id": begun, "text": "Bo's words.", "seconds": 5.0})
    assert "another reply to" in second.text()
    assert second.components()["people lost"]["texts"][0]["text"] == "Bo's words."
    assert form(second)["id"] != begun
    assert [record.reply for record in latest(run).values() if record.system == "people/lawyers"] == ["Ada's words."]
    assert desk.store.load_draft("Bo", begun, "reply").note == "Bo's words."
    with run.hold_for_writing_and_list_repairs():
        tell(second, "kept", "While the run is held.", 7.0)
    assert "another process is using" in second.text()
    assert form(second)["text"] == "While the run is held."


def test_who_knows_the_annotated_answer_is_not_asked(run):
    """Whoever has scored an answer to a question has seen what was annotated, and gets other questions to write on."""
    desk = desk_here()
    for answer in desk.pool.answers.values():
        score(desk, "Ada", answer.digest, "11111")
    page = Shown("manual", desk, ADA)
    assert FORM not in page.components()
    assert "have seen the annotated answer" in page.text()
    assert FORM in Shown("manual", desk, BO).components()


def test_nothing_of_the_form_names_a_writer(run):
    """What one writer is sent names no other, nor anything of theirs; a lost line of the file costs no other."""
    desk = desk_here()
    tell(Shown("manual", desk, ADA), "kept", "Ada's answer stays hers.")
    text = Shown("manual", desk, BO).text()
    assert "Ada" not in text
    path = run.path / AUTHORS
    path.write_bytes(path.read_bytes() + b'{"key": "cut')
    tell(Shown("manual", desk, BO), "kept", "Bo's.")
    assert [authorship.author for authorship in read_authorships(run)] == ["Ada", "Bo"]
    assert json.loads(path.read_bytes().splitlines()[0])["author"] == "Ada"


def test_an_answer_on_screen_to_score_is_seen_for_good(run):
    """Whoever leaves the page Score without a key typed is not asked that question later, either."""
    desk = desk_here(per_answer=1.0)
    seen = desk.pool.answers[desk.queue.reserve_next_answer("Ada")].question
    page, asked = Shown("manual", desk, ADA), []
    while FORM in page.components():
        asked.append(form(page)["id"].rpartition("|")[2])
        tell(page, "kept", "An answer.")
    assert sorted([*asked, seen]) == ["Q1", "Q2", "Q3"]


def test_a_question_is_held_for_who_has_begun_it(run):
    """Whoever has typed something and goes to score meanwhile keeps the question; others get the next one."""
    desk = desk_here()
    page = Shown("manual", desk, ADA)
    tell(page, "draft", "Begun", 3.0)
    assert desk.queue.reserve_next_answer("Ada") is not None
    assert form(Shown("manual", desk, BO))["id"] != form(page)["id"]
