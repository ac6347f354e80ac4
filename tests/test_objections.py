"""Objections to annotated answers: kept and settled in the log, listed, exported as corrections, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running import TEXT
from stores import kept, opened, score, undo

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import digest
from genaipa.policies.document import About, Document
from genaipa.questions.corrections import Correction
from genaipa.runs.folder import now
from genaipa.scoring import chain
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.events import Event, Objection, Ruling, new_id
from genaipa.scoring.objections import filed, own, proved, ruling

if TYPE_CHECKING:
    from genaipa.scoring.store import Store

DOCUMENT = Document("acme", TEXT, About(company="ACME"))
SENTENCE = "We never sell what we know about you."
AT = (TEXT.index(SENTENCE), TEXT.index(SENTENCE) + len(SENTENCE))
RIGHT = Correction(silent="no", answer="It never sells it.", at=AT, sha256=digest(SENTENCE), why="Section 2 says so.")


def objection(analyst: str, answer: str = "a1", question: str = "Q1", correction: Correction = RIGHT) -> Event:
    """An objection to the annotated answer to a question, made beside an answer."""
    said = Objection("acme", digest(TEXT), "policy", question, correction)
    return Event(id=new_id(), time=now(), kind="objection", analyst=analyst, answer=answer, annotation=said)


def statuses(store: Store) -> list[tuple[str, str]]:
    """Each objection's analyst and status, in the order of the log."""
    current = CurrentScores(store.events)
    current.refresh()
    found = filed(current.objections())
    assert found == filed(kept(store)), "a view of the whole log has what concerns objections, and nothing else"
    return [(one.event.analyst, one.status) for one in found]


def test_objections_are_kept_withdrawn_and_settled(store: Store) -> None:
    """All in the chained log: the latest of an analyst counts, the latest ruling too, even after a withdrawal."""
    ana, bob = objection("ana"), objection("bob")
    given = score("ana", "a1")
    store.append([given, ana, bob, objection("cem", question="Q2")])
    again = objection("ana", "a2")
    store.append([again, undo(bob)])
    assert statuses(store) == [("ana", "withdrawn"), ("bob", "withdrawn"), ("cem", "open"), ("ana", "open")]
    found = filed(kept(store))
    assert own(found, "ana", (digest(TEXT), "policy", "Q1")) == found[3]
    assert own(found, "bob", (digest(TEXT), "policy", "Q1")) is None
    edited = Correction(silent="partly", at=AT, sha256=digest(SENTENCE))
    store.append([ruling(found[2], "lee", None, reason="It is right."), ruling(found[3], "lee", RIGHT)])
    store.append([ruling(found[2], "lee", edited), undo(again), undo(given)])
    assert statuses(store)[2:] == [("cem", "accepted"), ("ana", "accepted")]
    assert [one.correction for one in filed(kept(store))[2:]] == [edited, RIGHT]
    assert [one.ruled for one in filed(kept(store))] == [-1, -1, 1, 0]
    assert chain.verify(store).breaks == []
    current = CurrentScores(store.events)
    current.refresh()
    assert current.analysts() == [], "undoing a score is as ever"


def test_objections_that_make_no_sense_are_refused(store: Store) -> None:
    """One without its word, a word of a score, a correction of nothing, and a ruling or undo of what is not there."""
    ana = objection("ana")
    store.append([ana, settled := ruling(filed([ana])[0], "lee", RIGHT)])
    refused = {
        "the objection must say its own": Event(new_id(), now(), "objection", "ana", "a1"),
        "the score must say nothing": score("ana", "a1", annotation=ana.annotation),
        "the ruling must say its own": Event(new_id(), now(), "ruling", "lee", "a1", annotation=ana.annotation),
        "its correction corrects nothing": objection("ana", correction=Correction(sentence=SENTENCE)),
        "wants its proof": objection("ana", correction=Correction(silent="no")),
        "no objection 'nowhere'": Event(new_id(), now(), "ruling", "lee", "a1", annotation=Ruling("nowhere")),
        "nothing by bob": undo(ana, analyst="bob"),
        "nothing by lee": undo(settled),
        "a machine gives scores": Event(
            new_id(), now(), "objection", "judge", "a1", scorer="machine", annotation=ana.annotation
        ),
    }
    for sentence, event in refused.items():
        with pytest.raises(DataError, match=sentence):
            store.append([event])
    assert len(kept(store)) == 2


def test_a_passage_has_to_be_in_the_document() -> None:
    """However it is spaced; what else is missing is said in a sentence each, and a rejection needs its reason."""
    spaced = SENTENCE.replace(" ", " \n ")
    assert proved(DOCUMENT, spaced, silent="no", answer=" It never sells it.", why="Section 2 says so. ") == RIGHT
    assert RIGHT.proof(TEXT) == SENTENCE
    for said, problem in (
        ({"passage": " "}, "which passage"),
        ({"passage": SENTENCE.replace("never", "always")}, "does not have these words in a row: 'We always sell"),
        ({"silent": None, "answer": " "}, "what should the annotated answer say"),
        ({"why": ""}, "why is it wrong"),
    ):
        given = {"passage": SENTENCE, "silent": None, "answer": "It never sells it.", "why": "It says so."} | said
        with pytest.raises(UsageError, match=problem):
            proved(DOCUMENT, **given)
    with pytest.raises(UsageError, match="why is it rejected"):
        ruling(filed([objection("ana")])[0], "lee", None)
