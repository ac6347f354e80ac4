"""The passage that is pinned for a question: in the log of scores, and at the desk from the key to the next answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from analysts import Analyst, arrive, kept_events, make_answers, open_to
from running import TEXT, carry_out, spec, write
from stores import kept, opened, score, undo

from genaipa.errors import DataError
from genaipa.files.stamps import now
from genaipa.files.text import sha256_of
from genaipa.runs.authors import AnswerAuthors
from genaipa.scoring.current import CurrentScores, effective_scores_and_adjudications, independent_human_scores
from genaipa.scoring.events import Event, Pin, new_event_id, verify_log_and_list_breaks
from genaipa.scoring.importing import import_scores_or_return_problems
from genaipa.scoring.objections import collect_objections_even_withdrawn
from genaipa.scoring.people import People
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.tables import select_effective_scores, write_scores

if TYPE_CHECKING:
    from genaipa.scoring.store import ScoreStore

SOLD = "We never sell what we know about you."
KEPT = "We keep your address for one year; then we delete it."
ABOUT = (sha256_of(TEXT), "policy", "Q1")
_NOTHING = "\U0001f512 This is about nothing in particular.\n\n" * 80
PADDED = TEXT.replace("## 1.", f"{_NOTHING}## 1.") + _NOTHING
"""The same far down in a longer one, after characters that JavaScript counts as two."""


def pin(analyst: str, passage: str = "", *, question: str = "Q1", answer: str = "a1", **more: Any) -> Event:
    """A pin of a passage; of none where it is empty."""
    at = (TEXT.index(passage), TEXT.index(passage) + len(passage)) if passage else None
    said = Pin("acme", sha256_of(TEXT), "policy", question, at, sha256_of(passage) if passage else "")
    return Event(
        **{"id": new_event_id(), "time": now(), "kind": "pin", "annotation": said, **more},
        analyst=analyst,
        answer=answer,
    )


def pinned(store: ScoreStore) -> Event | None:
    """The pin in effect for the first question."""
    current = CurrentScores(store.read_numbered_events)
    current.read_new_events()
    assert collect_objections_even_withdrawn(current.list_objections_undos_and_rulings()) == [], "a pin is no objection"
    return current.find_pin(ABOUT)


def test_the_latest_pin_counts_and_no_average_sees_it(store: ScoreStore, tmp_path: Path) -> None:
    """Replaced by anybody's later one, taken away by an empty one, and taken out of the log into another store."""
    scored = score("ana", "a1", pinned=True)
    first, second = pin("ana", SOLD), pin("bob", KEPT)
    store.append_new_events([scored, first, pin("bob", SOLD, question="Q2")])
    assert pinned(store) == first
    store.append_new_events([second])
    assert pinned(store) == second
    before = kept(store)
    store.append_new_events([pin("lee")])
    assert pinned(store) is None
    assert verify_log_and_list_breaks(store).breaks == []
    everything = kept(store)
    assert [
        effective_scores_and_adjudications(everything),
        select_effective_scores(everything, include_machines=True),
        independent_human_scores(everything),
    ] == [[scored]] * 3
    for events, there in ((before, second), (everything, None)):
        log = tmp_path / f"{len(events)}.jsonl"
        with log.open("wb") as file:
            write_scores(file, ".jsonl", events, {}, shipped_rubric())
        with opened(f"sqlite:///{tmp_path / f'{len(events)}.db'}") as other:
            assert import_scores_or_return_problems(other, [log], {"a1"}, People(), AnswerAuthors(())).added == len(
                events
            )
            assert import_scores_or_return_problems(other, [log], {"a1"}, People(), AnswerAuthors(())).known == len(
                events
            )
            assert kept(other) == events
            assert pinned(other) == there


def test_pins_that_make_no_sense_are_refused(store: ScoreStore) -> None:
    """One of half a place, one without its word, one by a machine; and none is undone, but replaced."""
    store.append_new_events([there := pin("ana", SOLD)])
    half = Pin("acme", *ABOUT, at=(3, 9))
    refused = {
        "needs both a position": pin("ana", annotation=half),
        "the pin needs an 'annotation'": pin("ana", annotation=None),
        "a machine can't be the scorer": pin("judge", SOLD, scorer="machine"),
        "can be undone": undo(there),
    }
    for sentence, event in refused.items():
        with pytest.raises(DataError, match=sentence):
            store.append_new_events([event])
    assert kept(store) == [there]


def _opens_at(analyst: Analyst) -> str:
    """The pinned passage that is lit in sight, with its bar and its word; empty where none of that is there."""
    bars, word = analyst.page.locator(".bars .pinned"), analyst.page.locator(".found")
    found = analyst.page.evaluate("() => [...(CSS.highlights.get('genaipa-pinned') ?? [])].map(String).join('|')")
    if not found:
        assert (bars.count(), word.text_content()) == (0, "")
        return ""
    pane, bar = analyst.page.locator(".document").bounding_box(), bars.bounding_box()
    assert pane["y"] < bar["y"] < pane["y"] + pane["height"] / 2
    assert word.text_content() == "pinned"
    return str(found)


@pytest.mark.full
def test_later_answers_open_at_what_was_pinned() -> None:
    """From the key to the next answer's pane; off for calibration; anybody pins another, an adjudicator none."""
    make_answers("It never sells it.", text=PADDED)
    write("more.yaml", yaml.safe_dump({"rules": [{"match": ".", "reply": "It keeps the address for one year."}]}))
    carry_out(spec(systems=("scripted/more.yaml",)))
    write("desk.yaml", "reference: [Ref]\nadjudicators: [Ref]\n")
    with open_to("--per-answer", "1", "--calibration", "1", "--sample", "all") as (desk, browser):
        ref = arrive(browser, desk, "Ref")
        assert _opens_at(ref) == ""
        ref.keys("p")
        assert ref.wait().message.startswith("Nothing to pin: highlight a passage with j or /")
        ref.keys("1/")
        ref.page.keyboard.insert_text("never sell")
        ref.page.keyboard.press("Escape")
        ref.keys("p")
        ref.wait("screen?.message.startsWith('Pinned')")
        ref.page.locator(".document").evaluate("pane => { pane.scrollTop = 0; }")
        ref.score("1111")
        assert _opens_at(ref) == SOLD

        anna = arrive(browser, desk, "Anna")
        assert _opens_at(anna) == "", "this is for calibration"
        anna.keys(".jp")
        anna.wait("screen?.message.includes('while your scores are compared with')")
        anna.keys("11311")
        anna.page.keyboard.press("Enter")
        compared = anna.wait("screen?.compared.length")
        anna.page.keyboard.press("Enter")
        anna.leave(compared)
        assert _opens_at(anna) == SOLD
        anna.keys("p")
        anna.wait("screen?.message.includes('only the analyst who pinned this passage')")
        anna.keys(".jp")
        anna.wait("screen?.message.startsWith('Pinned')")
        assert _opens_at(anna).startswith(KEPT[:34])
        anna.score("22222")

        ref.keys("p")
        ref.wait("screen?.message.startsWith('Pinned')")
        assert _opens_at(ref).startswith(KEPT[:34]), "nothing is taken away that one has not seen"
        ref.keys("p")
        ref.wait("screen?.message.startsWith('The passage is no longer')")
        assert _opens_at(ref) == ""
        ref.score("11111")
        events = kept_events()
    pins = [event.annotation for event in events if event.kind == "pin"]
    assert [event.analyst for event in events if event.kind == "pin"] == ["Ref", "Anna", "Ref"]
    text = Path("policies/acme.md").read_text(encoding="utf-8")
    assert text[slice(*pins[0].at)] == SOLD
    assert pins[2].at is None
    scores = [(event.analyst, event.calibration, event.pinned) for event in events if event.kind == "score"]
    assert scores == [("Ref", False, True), ("Anna", True, False), ("Anna", False, True), ("Ref", False, True)]
