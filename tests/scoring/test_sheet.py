"""The spreadsheet that an analyst fills offline."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import openpyxl
from exchanging import ANSWERS, GOOD, digest, kept

from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.runs.authors import AnswerAuthors
from genaipa.scoring.answers import ScoringCase
from genaipa.scoring.importing import ImportOutcome, import_scores_or_return_problems
from genaipa.scoring.people import People
from genaipa.scoring.store import ScoreStore
from genaipa.scoring.tables import MOST_CHARACTERS, shuffle_answer_digests_for_analyst, write_scoring_sheet
from rubrics import METRICS, PAPER


def case(n: int = 1, reply: str = "As ChatGPT, I say: Uber.", **changes: object) -> ScoringCase:
    """What there is to know about the n-th answer."""
    document = Document("acme", "# Policy\n\n" + "word " * 1000 + "\n=1+1 is what Uber keeps.", About("Acme"))
    fields = {
        "answer": ANSWERS[digest(n)],
        "asked": f"What about {n}?",
        "reply": reply,
        "original": "",
        "document": document,
        "annotated": AnnotatedAnswer(silent="no", answer="Three years.", sections=("4.2", "5")),
        "part_set": "",
        "parts": (),
        "names": ("ChatGPT", "Uber"),
    }
    return ScoringCase(**fields | changes)


def sheet_of(*cases: ScoringCase, analyst: str = "") -> openpyxl.Workbook:
    """The spreadsheet for these answers, as it is opened."""
    with Path("sheet.xlsx").open("wb") as file:
        assert write_scoring_sheet(file, cases, PAPER, analyst) == len(cases)
    return openpyxl.load_workbook("sheet.xlsx")


def test_a_sheet_shows_what_is_needed_and_hides_whose_answer_it_is() -> None:
    """All texts are there; the system's name is masked, but no name that the document has itself."""
    silent = AnnotatedAnswer(silent="yes", answer="It does not say.")
    paraphrase = case(2, "- a list", asked="And 2?", original="What of 2?", annotated=silent)
    head, first, second = sheet_of(case(), paraphrase, case(3, annotated=None), analyst="Ann")["scores"].iter_rows(
        values_only=True, max_row=3
    )
    assert head == ("digest", "document", "asked", "answer", "annotated answer", *METRICS, "note", "analyst")
    assert first[:3] == (digest(1), "acme", "What about 1?")
    assert first[3:5] == ("As [the system], I say: Uber.", "Three years.\n\n(4.2, 5)")
    assert first[5:] == (None,) * 6 + ("Ann",)
    assert second[2:5] == (
        "And 2?\n\n(original: What of 2?)",
        "'- a list",
        "It does not say.\n\n(The document is silent.)",
    )


def test_a_sheet_offers_the_three_values_and_lets_nothing_else_be_changed() -> None:
    """A drop-down of numbers for the five metrics; only what the analyst fills is unlocked."""
    workbook = sheet_of(case(1), case(2))
    scores, rubric = workbook["scores"], workbook["rubric"]
    (validation,) = scores.data_validations.dataValidation
    assert (validation.type, validation.formula1, str(validation.sqref)) == ("list", "rubric!$B$1:$D$1", "F2:J3")
    assert [cell.value for cell in rubric["B1:D1"][0]] == [1, 0.5, -1]
    assert scores.protection.sheet
    assert {cell.column_letter for row in scores.iter_rows() for cell in row if not cell.protection.locked} == set(
        "FGHIJKL"
    )
    assert scores.freeze_panes == "A2"
    assert scores["D2"].alignment.wrap_text


def test_a_sheet_holds_the_rubric_and_the_document() -> None:
    """The rubric in its own words, and each document's text once, cut into pieces that a row can show."""
    workbook = sheet_of(case(1), case(2))
    assert workbook.sheetnames == ["scores", "rubric", "text acme"]
    rows = list(workbook["rubric"].iter_rows(values_only=True))
    assert rows[1:6] == [(metric, *PAPER.metrics[metric].words) for metric in METRICS]
    assert PAPER.silent_rule in [row[0] for row in rows]
    lines = [row[0] for row in workbook["text acme"].iter_rows(values_only=True)]
    assert lines[0] == "# Policy"
    assert max(len(line or "") for line in lines) <= 2000
    assert lines[-1] == "'=1+1 is what Uber keeps."


def test_an_answer_that_no_cell_can_hold_is_cut_with_a_mark() -> None:
    """The sheet can be made all the same, and says what is missing."""
    ((_, _, _, answer, *_),) = sheet_of(case(1, "=" + "a" * 200_000))["scores"].iter_rows(min_row=2, values_only=True)
    assert len(answer) <= MOST_CHARACTERS
    assert answer.startswith("'=a")
    assert answer.endswith("[cut here: the whole text has 200,001 characters, more than a cell can hold]")


def test_a_sheet_that_was_filled_comes_back() -> None:
    """The very file that was written, filled with what its drop-downs give, is taken in; the rest waits."""
    workbook = sheet_of(case(1), case(2), analyst="Ann")
    for place, value in zip("FGHIJK", (1, 1, 0.5, 0.5, -1, "said so"), strict=True):
        workbook["scores"][f"{place}3"] = value
    workbook["scores"].title = "done"
    workbook.save("filled.xlsx")
    with contextlib.closing(ScoreStore.open_or_create("sqlite:///scores.db")) as store:
        assert import_scores_or_return_problems(
            store, [Path("filled.xlsx")], ANSWERS, People(), AnswerAuthors(())
        ) == ImportOutcome(1, 0, 1, [], [])
        events = kept(store)
    assert [(e.answer, e.analyst, e.values, e.note) for e in events] == [(digest(2), "Ann", GOOD, "said so")]


def test_every_analyst_has_an_order_of_their_own() -> None:
    """Documents stay together, nothing is lost, and the same analyst gets the same order again."""
    answers = [replace(ANSWERS[digest(n)], document_digest=str(n % 3)) for n in range(1, 10)]
    ann, bo = shuffle_answer_digests_for_analyst(answers, "Ann"), shuffle_answer_digests_for_analyst(answers, "Bo")
    assert sorted(ann) == sorted(bo) == sorted(ANSWERS)
    assert ann != bo
    assert ann == shuffle_answer_digests_for_analyst(reversed(answers), "Ann")
    of = {answer.digest: answer.document_digest for answer in answers}
    assert len(list(groupby(ann, of.get))) == 3


def test_a_sheet_says_which_rows_are_in_the_random_part() -> None:
    """The column is there where a part was drawn, locked as what is to be read; the metrics come after it."""
    with Path("sheet.xlsx").open("wb") as file:
        write_scoring_sheet(file, [case(1), case(2)], PAPER, is_in_random_part={digest(2)}.__contains__)
    sheet = openpyxl.load_workbook("sheet.xlsx")["scores"]
    head, *rows = sheet.iter_rows(values_only=True)
    assert head[5:7] == ("random part", METRICS[0])
    assert [row[5] for row in rows] == ["no", "yes"]
    assert [cell.protection.locked for cell in sheet[2]][4:8] == [True, True, False, False]
    assert str(sheet.data_validations.dataValidation[0].sqref) == "G2:K3"
