"""Objections to annotated answers: kept and settled in the log, listed, exported as corrections, and counted."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analysts import make_answers
from framing import answer_rows, study_of, tidy_of
from running import TEXT, answers, make_workspace, write
from stores import kept, opened, score, undo

from genaipa.answers.study import AnswerEventLog
from genaipa.errors import DataError, UsageError
from genaipa.files.stamps import now
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import sha256_of
from genaipa.policies.document import About, Document
from genaipa.questions.annotations import Correction, Corrections
from genaipa.reports.figures.figure import FigureScope
from genaipa.runs.authors import AnswerAuthors
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.events import Event, Objection, Ruling, new_event_id, verify_log_and_list_breaks
from genaipa.scoring.importing import import_scores_or_return_problems
from genaipa.scoring.objections import (
    collect_objections_even_withdrawn,
    find_unwithdrawn_objection_of_analyst,
    make_correction,
)
from genaipa.scoring.people import People
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.tables import write_scores
from genaipa.validation import validate
from genaipa.workspace import find_workspace, shipped_folder
from genaipa_objections.chapter import ObjectionsChapter
from genaipa_objections.settling import collect_accepted_corrections_and_notes, make_objection_ruling_event

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.scoring.store import ScoreStore

    Cli = Callable[..., Finished]

DOCUMENT = Document("acme", TEXT, About(company="ACME"))
SENTENCE = "We never sell what we know about you."
AT = (TEXT.index(SENTENCE), TEXT.index(SENTENCE) + len(SENTENCE))
RIGHT = Correction(
    silent="no", answer="It never sells it.", at=AT, sha256=sha256_of(SENTENCE), why="Section 2 says so."
)


def objection(
    analyst: str, answer: str = "a1", question: str = "Q1", correction: Correction = RIGHT, **more: Any
) -> Event:
    """An objection to the annotated answer to a question, made beside an answer."""
    said = {"annotation": Objection("acme", sha256_of(TEXT), "policy", question, correction), **more}
    return Event(id=new_event_id(), time=now(), kind="objection", analyst=analyst, answer=answer, **said)


def statuses(store: ScoreStore) -> list[tuple[str, str]]:
    """Each objection's analyst and status, in the order of the log."""
    current = CurrentScores(store.read_numbered_events)
    current.read_new_events()
    found = collect_objections_even_withdrawn(current.list_objections_undos_and_rulings())
    assert found == collect_objections_even_withdrawn(kept(store)), (
        "a view of the whole log has what concerns objections, and nothing else"
    )
    return [(one.event.analyst, one.status) for one in found]


def test_objections_are_kept_withdrawn_and_settled(store: ScoreStore) -> None:
    """All in the chained log: the latest of an analyst counts, the latest ruling too, even after a withdrawal."""
    ana, bob = objection("ana"), objection("bob")
    given = score("ana", "a1")
    store.append_new_events([given, ana, bob, objection("cem", question="Q2")])
    again = objection("ana", "a2")
    store.append_new_events([again, undo(bob)])
    assert statuses(store) == [("ana", "withdrawn"), ("bob", "withdrawn"), ("cem", "open"), ("ana", "open")]
    found = collect_objections_even_withdrawn(kept(store))
    assert find_unwithdrawn_objection_of_analyst(found, "ana", (sha256_of(TEXT), "policy", "Q1")) == found[3]
    assert find_unwithdrawn_objection_of_analyst(found, "bob", (sha256_of(TEXT), "policy", "Q1")) is None
    edited = Correction(silent="partly", at=AT, sha256=sha256_of(SENTENCE))
    store.append_new_events(
        [
            make_objection_ruling_event(found[2], "lee", None, reason="It is right."),
            make_objection_ruling_event(found[3], "lee", RIGHT),
        ]
    )
    store.append_new_events([make_objection_ruling_event(found[2], "lee", edited), undo(again), undo(given)])
    assert statuses(store)[2:] == [("cem", "accepted"), ("ana", "accepted")]
    assert [one.accepted_or_proposed_correction for one in collect_objections_even_withdrawn(kept(store))[2:]] == [
        edited,
        RIGHT,
    ]
    assert [one.ruling_order for one in collect_objections_even_withdrawn(kept(store))] == [-1, -1, 1, 0]
    assert verify_log_and_list_breaks(store).breaks == []
    current = CurrentScores(store.read_numbered_events)
    current.read_new_events()
    assert current.list_analysts_with_current_scores() == [], "undoing a score is as ever"


def test_a_report_counts_objections_by_document_and_state() -> None:
    """Withdrawn ones aside; where there is none there is no chapter."""
    ana, bob, cem = objection("ana"), objection("bob"), objection("cem", question="Q2")
    events = [
        ana,
        bob,
        cem,
        make_objection_ruling_event(collect_objections_even_withdrawn([ana])[0], "lee", RIGHT),
        undo(bob),
    ]
    study = study_of(tidy_of(answer_rows()[:1]), log=AnswerEventLog(events))
    chapter = ObjectionsChapter().make(study, FigureScope())
    assert [table.data.to_dict("records") for table in chapter.tables] == [
        [{"document": "acme", "open": 1, "accepted": 1, "rejected": 0}]
    ]
    assert ObjectionsChapter().make(study_of(tidy_of(answer_rows()[:1])), FigureScope()) is None


def test_objections_that_make_no_sense_are_refused(store: ScoreStore) -> None:
    """One without its word, a word of a score, a correction of nothing, and a ruling or undo of what is not there."""
    ana = objection("ana")
    store.append_new_events(
        [ana, settled := make_objection_ruling_event(collect_objections_even_withdrawn([ana])[0], "lee", RIGHT)]
    )
    refused = {
        "the objection needs an 'annotation'": Event(new_event_id(), now(), "objection", "ana", "a1"),
        "the score must not have an 'annotation'": score("ana", "a1", annotation=ana.annotation),
        "the ruling needs an 'annotation'": Event(
            new_event_id(), now(), "ruling", "lee", "a1", annotation=ana.annotation
        ),
        "its correction corrects nothing": objection("ana", correction=Correction(sentence=SENTENCE)),
        "needs evidence": objection("ana", correction=Correction(silent="no")),
        "no objection 'nowhere'": Event(new_event_id(), now(), "ruling", "lee", "a1", annotation=Ruling("nowhere")),
        "bob has no event": undo(ana, analyst="bob"),
        "lee has no event": undo(settled),
        "a machine can't be the scorer": Event(
            new_event_id(), now(), "objection", "judge", "a1", scorer="machine", annotation=ana.annotation
        ),
    }
    for sentence, event in refused.items():
        with pytest.raises(DataError, match=sentence):
            store.append_new_events([event])
    assert len(kept(store)) == 2


def test_the_log_with_objections_moves_to_another_store(tmp_path: Path) -> None:
    """Exported and imported it is the same file; a ruling on what is neither here nor in the file is a problem."""
    ana = objection("ana", "a" * 64)
    events = [ana, make_objection_ruling_event(collect_objections_even_withdrawn([ana])[0], "lee", RIGHT), undo(ana)]
    log, rest = tmp_path / "log.jsonl", tmp_path / "rest.jsonl"
    for path, some in ((log, events), (rest, events[1:2])):
        with path.open("wb") as file:
            write_scores(file, ".jsonl", some, {}, shipped_rubric())
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        (problem,) = import_scores_or_return_problems(store, [rest], {ana.answer}, People(), AnswerAuthors(())).problems
        assert f"there is no objection '{ana.id}' to settle" in problem
        assert import_scores_or_return_problems(store, [log], {ana.answer}, People(), AnswerAuthors(())).added == len(
            events
        )
        assert import_scores_or_return_problems(store, [rest], {ana.answer}, People(), AnswerAuthors(())).known == 1
        assert kept(store) == events
        assert statuses(store) == [("ana", "accepted")]


def test_a_passage_has_to_be_in_the_document() -> None:
    """However it is spaced; what else is missing is said in a sentence each, and a rejection needs its reason."""
    spaced = SENTENCE.replace(" ", " \n ")
    assert (
        make_correction(DOCUMENT, spaced, silent="no", answer=" It never sells it.", why="Section 2 says so. ") == RIGHT
    )
    assert RIGHT.find_proving_sentence_or_empty(TEXT) == SENTENCE
    for said, problem in (
        ({"passage": " "}, "which passage"),
        ({"passage": SENTENCE.replace("never", "always")}, "does not contain this passage: 'We always sell"),
        ({"silent": None, "answer": " "}, "what should the annotated answer say"),
        ({"why": ""}, "why is the annotated answer wrong"),
    ):
        given: dict[str, Any] = {"passage": SENTENCE, "silent": None, "answer": "It sells none.", "why": "So."} | said
        with pytest.raises(UsageError, match=problem):
            make_correction(DOCUMENT, **given)
    for silent in (None, "yes"):
        with pytest.raises(UsageError, match="this passage shows that it is not"):
            make_correction(
                DOCUMENT, SENTENCE, silent=silent, answer="It sells none.", why="So.", annotated_silent="yes"
            )
    assert (
        make_correction(DOCUMENT, SENTENCE, silent="partly", answer="", why="So.", annotated_silent="yes").silent
        == "partly"
    )
    with pytest.raises(UsageError, match="a rejection needs a reason"):
        make_objection_ruling_event(collect_objections_even_withdrawn([objection("ana")])[0], "lee", None)


# --- From the desk to the report -------------------------------------------------------------------------------------

ANNOTATED = """
  Q1: {silent: yes, answer: It does not say.}
  Q2: {silent: no, answer: "For one year (3).", sections: ["3"]}
"""


@pytest.fixture
def objected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """A run with two answers, and in its store three objections to annotated answers about them."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    digests = [one.digest for one in answers(make_answers("It never sells it.", "One year.", annotations=ANNOTATED))]
    wrong = Correction(silent="yes", at=AT, sha256=sha256_of(SENTENCE), why="I think so.")
    events = [
        *(objection("ana", digests[0]), objection("bob", digests[0], correction=wrong)),
        objection("bob", digests[1], "Q2", wrong),
    ]
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([*(score("ana", answer) for answer in digests), *events])
    return events


@pytest.mark.full
def test_objections_become_corrections_that_the_report_applies(genaipa: Cli, objected: list[Event]) -> None:
    """Listed with their proofs, accepted, edited and rejected; `report --corrected` applies the exported file."""
    first, second, third = (event.id for event in objected)
    listed = json.loads(genaipa("scores", "objections", "--json").out)
    assert [(row["question"], row["analyst"], row["status"], row["passage"]) for row in listed] == [
        *(("Q1", "ana", "open", SENTENCE), ("Q1", "bob", "open", SENTENCE), ("Q2", "bob", "open", SENTENCE))
    ]
    assert listed[0]["annotated"] == "silent: yes. It does not say."
    assert (
        "no objection to an annotated answer about 'acme' has been accepted"
        in genaipa("scores", "objections", "export", "acme").err
    )
    done = genaipa("scores", "objections", "accept", first, "--by", "lee")
    assert f"export acme -o {Path.cwd() / 'corrections' / 'acme.yaml'}" in done.out
    edited = ("--silent", "partly", "--answer", "It does not sell.", "--reason", "Better so.")
    assert genaipa("scores", "objections", "accept", second, "--by", "lee", *edited).code == 0
    assert (
        "does not contain this passage"
        in genaipa("scores", "objections", "accept", third, "--by", "lee", "--passage", "No.").err
    )
    assert genaipa("scores", "objections", "reject", third, "--by", "Lee", "--reason", "Section 3 says so.").code == 0
    done = genaipa("scores", "objections", "--status", "rejected")
    assert "Section 3 says so." in done.out
    assert "1 objection: 1 rejected." in done.out

    assert genaipa("scores", "objections", "export", "acme", "-o", "corrections/other.yaml").code == 2
    into = shipped_folder("corrections") / "acme.yaml"
    assert (
        "in the folder of corrections that genaipa ships"
        in genaipa("scores", "objections", "export", "acme", "-o", str(into)).err
    )
    assert not into.exists()
    assert genaipa("scores", "objections", "export", "acme", "-o", "corrections/acme.yaml").code == 0
    found = read_yaml(Path("corrections/acme.yaml"), Corrections)
    assert found.annotators == ("bob",)
    assert found.source == "Objections at the scoring desk, accepted by lee."
    right = Correction(
        silent="partly", answer="It does not sell.", at=AT, sha256=sha256_of(SENTENCE), why="I think so."
    )
    assert found.corrections == {"Q1": right}, "the one accepted last; the text's license is not stated: not quoted"
    assert [one for one in validate(find_workspace()).findings if "corrections" in one.path] == []

    assert genaipa("report", "-o", "out", "--formats", "png", "--corrected").code == 0
    assert "scores stay as given): acme Q1." in Path("out/index.html").read_text(encoding="utf-8")
    with Path("out/tables/documents.csv").open(encoding="utf-8-sig") as file:
        assert [(row["document"], row["silent"]) for row in csv.DictReader(file)] == [("acme", "0")]
    with Path("out/tables/objections.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file))[1:] == [["acme", "0", "2", "1"]]


def test_the_words_are_quoted_where_they_may_be(genaipa: Cli, objected: list[Event]) -> None:
    """In a file about a text that may be passed on, the proof is its sentence; only adjudicators settle."""
    write("policies/acme.yaml", "company: ACME\nlicense: CC BY 4.0\n")
    write("desk.yaml", "adjudicators: [Lee]\n")
    assert ", not an adjudicator" in genaipa("scores", "objections", "accept", objected[0].id, "--by", "Moe").err
    assert genaipa("scores", "objections", "accept", objected[0].id[:6], "--by", "lee").code == 0
    assert f"sentence: {SENTENCE}" in genaipa("scores", "objections", "export", "acme").out
    assert json.loads(genaipa("scores", "objections", "--status", "accepted", "--json").out)[0]["by"] == "Lee"


def test_corrections_are_by_the_ids_of_the_annotated_answers() -> None:
    """An objection beside the same question of another set is one to the same annotated answer; others are left out."""
    here = make_workspace(2)
    write("annotations/acme.yaml", f"document: acme\nquestions: policy\nannotators: [one]\nanswers:{ANNOTATED}")
    policy = Path("questions/policy.yaml").read_text(encoding="utf-8").replace("name: policy", "name: other")
    write("questions/other.yaml", policy.replace("id: Q1", "id: Q9").replace("Question 2", "Something else"))
    places = [("other", "Q9", TEXT), ("other", "Q2", TEXT), ("policy", "Q2", "Another text.")]
    given = [
        objection("ana", annotation=Objection("acme", sha256_of(text), questions, question, RIGHT))
        for questions, question, text in places
    ]
    found, left_out = collect_accepted_corrections_and_notes(
        here,
        "acme",
        collect_objections_even_withdrawn(
            [
                *given,
                *(make_objection_ruling_event(one, "lee", RIGHT) for one in collect_objections_even_withdrawn(given)),
            ]
        ),
    )
    assert (found.questions, found.digest, [*found.corrections]) == ("policy", sha256_of(TEXT), ["Q1"])
    assert left_out == [
        "left out: Q2 of other, which is about another question set.",
        "left out: Q2 of policy, which is about another text.",
    ]
