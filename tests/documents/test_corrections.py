"""Corrections of annotated answers: proved by the document's text, applied where asked for, counted where shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from analysts import make_answers
from running import TEXT, answers, write
from stores import opened, score

from genaipa.answers.gather import gather_study
from genaipa.errors import DataError
from genaipa.files.text import sha256_of
from genaipa.policies.document import load_document
from genaipa.questions.annotations import find_corrections_with_layers
from genaipa.reports.report import Report
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.validation import validate
from genaipa.workspace import find_workspace

ANNOTATED = """
  Q1: {silent: yes, answer: It does not say.}
  Q2: {silent: no, answer: "For one year (3).", sections: ["3"]}
"""
SENTENCE = "We never sell what we know about you."
PLACE = [TEXT.index(SENTENCE), TEXT.index(SENTENCE) + len(SENTENCE)]
RIGHT = f"silent: no, answer: It never sells it., sections: ['2'], why: Section 2 says so., sentence: {SENTENCE}"


def corrections(*entries: str, folder: str = "", text: str = TEXT, questions: str = "policy") -> None:
    """A file of corrections of Q1, Q2, … about that text."""
    head = f"document: acme\nquestions: {questions}\nannotators: [two]\ndigest: {sha256_of(text)}\ncorrections:\n"
    lines = [f"  Q{n}: {{{entry}}}\n" for n, entry in enumerate(entries, 1)]
    write(f"{folder}corrections/acme.yaml", head + "".join(lines))


def findings() -> list[tuple[str, str]]:
    """Entry and severity of every finding on the workspace's corrections."""
    found = validate(find_workspace()).findings
    return [(one.entry, one.severity) for one in found if "corrections" in one.path]


def answered(*replies: str) -> None:
    """A run with these replies, all scored."""
    folder = make_answers(*replies, annotations=ANNOTATED)
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("ada", one.digest) for one in answers(folder)])


def reported(*, corrected: bool) -> Report:
    """The report on the only run."""
    here = find_workspace()
    with opened("sqlite:///scores.db") as store:
        return Report.build(
            gather_study(here, select_runs_and_apply_filters(here, ("latest",)), store, apply_corrections=corrected)
        )


def silence(report: Report) -> dict[str, str]:
    """Question → whether the document is silent on it."""
    return dict(report.frame.set_index("question")["silent"])


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is pulled."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def test_a_correction_is_applied_where_it_is_asked_for_and_counted() -> None:
    """Without it everything is as annotated, and the report names it; with it tables say how many there were."""
    answered("It never sells it.", "The policy does not say.")
    corrections(RIGHT)
    plain, right = reported(corrected=False), reported(corrected=True)
    assert silence(plain) == {"Q1": "yes", "Q2": "no"}
    assert silence(right) == {"Q1": "no", "Q2": "no"}
    assert {answer.answer for answer in right.study.annotated.answers.values()} == {
        "It never sells it.",
        "For one year (3).",
    }
    said = "Annotated answers with a known correction: 1, "
    assert f"{said}not applied (the option corrected applies them): acme Q1." in plain.notable
    assert f"{said}applied (to the annotated answers shown and to which documents are silent; scores stay" in str(
        right.notable
    )
    assert "objections" not in plain.tables, "nobody found an annotated answer wrong"
    for name in ("silent-questions", "documents"):
        assert "Corrected" not in plain.tables[name].note
        assert right.tables[name].note.endswith(" Corrected annotated answers: 1.")
    assert dict(right.frame.set_index("question")["corrected"]) == {"Q1": "yes", "Q2": ""}
    assert right.tables["documents"].data["silent"].tolist() == [0]


def test_the_desk_shows_a_known_correction_beside_the_annotated_answer() -> None:
    """The answer and its mark stay as annotated; the note says what is known to be right, and why."""
    make_answers("It never sells it.", "One year.", annotations=ANNOTATED)
    corrections(RIGHT)
    here = find_workspace()
    pool = AnswerPool(here, [source.folder for source in select_runs_and_apply_filters(here, ("latest",))])
    notes = {}
    for found, answer in pool.answers.items():
        case = pool.load_case(found)
        assert case.annotated is not None
        notes[answer.occurrences[0].question] = (case.annotated.silent, case.doubt)
    known = "A correction is known: silent: no. It never sells it. Corrected: Section 2 says so."
    assert notes == {"Q1": ("yes", known), "Q2": ("no", "")}


def test_a_correction_holds_for_the_same_question_in_another_set() -> None:
    """Corrections are carried to the questions asked as annotated answers are, by their texts."""
    run = make_answers("It never sells it.", "One year.", annotations=ANNOTATED)
    policy = Path("questions/policy.yaml").read_text()
    write("questions/other.yaml", policy.replace("name: policy", "name: other").replace("id: Q1", "id: Q9", 1))
    corrections("sentence: It., why: A question that nobody asked.", RIGHT, questions="other")
    path = Path("corrections/acme.yaml")
    path.write_text(path.read_text().replace("  Q1: {sentence: It., why: A question that nobody asked.}\n", ""))
    path.write_text(path.read_text().replace("  Q2:", "  Q9:"))
    right, _ = RunDocumentsAndQuestions(find_workspace(), run).annotated_answer_and_part_set_name(
        "acme", "Q1", corrected=True
    )
    assert right
    assert right.silent == "no"


def test_a_correction_needs_its_proof() -> None:
    """A sentence of the text, up to spacing, or a passage with its digest: any other is refused, and not applied."""
    run = make_answers("It never sells it.", annotations=ANNOTATED)
    here = find_workspace()
    document = load_document("acme", here)
    for proof, problem in (
        (f"sentence: {SENTENCE}", ""),
        ("sentence: We never   sell what we know   about you., why: 'It says: never.'", ""),
        (f"at: {PLACE}, sha256: {sha256_of(SENTENCE)}", ""),
        ("sentence: We sell what we know about you.", "is not in acme's text"),
        (f"at: {[PLACE[0] + 1, PLACE[1]]}, sha256: {sha256_of(SENTENCE)}", "is not in acme's text"),
        (f"sentence: {SENTENCE}, at: {PLACE}, sha256: {sha256_of(SENTENCE)}", "needs evidence"),
        ("why: I know.", "needs evidence"),
        (f"at: {PLACE}", "needs both"),
        (f"at: [{PLACE[0]}], sha256: {sha256_of(SENTENCE)}", "needs both"),
    ):
        corrections(f"silent: no, {proof}")
        inputs = RunDocumentsAndQuestions(here, run)
        found, _ = inputs.annotated_answer_and_part_set_name("acme", "Q1", corrected=True)
        assert (found and found.silent, bool(inputs.problems)) == ("yes" if problem else "no", bool(problem)), proof
        if problem:
            with pytest.raises(DataError, match=problem):
                find_corrections_with_layers(here, document)


def test_what_corrects_nothing_or_belongs_nowhere_is_told() -> None:
    """An empty correction, one that contradicts itself, one of no annotated answer, and one of another text."""
    make_answers("It never sells it.", "One year.", "So.", annotations=ANNOTATED)
    proof = f"sentence: {SENTENCE}"
    corrections(proof, f"silent: yes, sections: ['2'], {proof}", f"silent: yes, {proof}")
    assert findings() == [
        ("corrections.Q1", "error"),
        ("corrections.Q2", "error"),
        ("corrections.Q3", "warning"),
    ]
    corrections(RIGHT, text="Another text.")
    assert findings() == [("digest", "warning")]
    here = find_workspace()
    assert find_corrections_with_layers(here, load_document("acme", here)) == []
    corrections("silent: no, sentence: We sell it.")
    assert findings() == [("corrections.Q1", "error")]


@pytest.mark.usefixtures("pulled")
def test_what_ships_is_proved_by_the_published_texts() -> None:
    """Each shipped correction is of a published text, changes its annotated answer, and quotes none of the text."""
    here = find_workspace()
    changed: dict[str, Any] = {}
    for name in here.nearest_files("corrections"):
        document = load_document(name, here)
        ((layer, found),) = find_corrections_with_layers(here, document)
        assert layer == "shipped"
        for question, one in found.corrections.items():
            changed[name] = question
            assert not one.sentence
            words = one.answer.split()
            for start in range(len(words) - 7):
                assert " ".join(words[start : start + 8]) not in " ".join(document.text.split())
    assert changed == {"airbnb": "RC_f1", "spotify": "DM_f1", "uber": "AEE_f1"}
