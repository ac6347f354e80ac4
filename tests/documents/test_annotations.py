"""To which questions about which text annotated answers belong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import TEXT, carry_out, make_workspace, spec, write

from genaipa.errors import DataError
from genaipa.files.strict_yaml import format_yaml
from genaipa.files.text import sha256_of
from genaipa.policies.document import load_document
from genaipa.questions.annotations import (
    annotation_problems,
    find_annotation_file,
    format_annotation_template,
    load_annotations,
    map_annotations_to_questions,
    read_annotations_without_blanks,
)
from genaipa.questions.sets import Question, QuestionSet, load_question_set
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.tasks.procedure import Procedure
from genaipa.validation import validate
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.policies.document import DocumentKind
    from genaipa.workspace import Workspace

HEAD = "document: acme\nquestions: {questions}\nannotators: [one]\n{more}answers:\n"
OTHERS = """name: others
title: The same in another hand
kind: policy
placeholder: the company
source: tests
license: Apache-2.0
categories: {T: Transparency}
questions:
- {id: Q1, category: T, origin: faq, text: Something else?}
- {id: Q9, category: T, origin: faq, text: "question 1  on the company?"}
- {id: Q2, category: T, origin: faq, text: Question 2 on the company?}
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is pulled."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def annotate(answers: dict[str, str], folder: str = "", questions: str = "policy", more: str = "") -> Path:
    """Annotated answers to ACME's policy, in the workspace or in another folder of data."""
    lines = [f"  {question}: {{silent: false, answer: {answer}}}\n" for question, answer in answers.items()]
    return write(f"{folder}annotations/acme.yaml", HEAD.format(questions=questions, more=more) + "".join(lines))


def asked(
    text: str, placeholder: str = "[the company]", kind: DocumentKind = "policy", name: str = "mine"
) -> QuestionSet:
    """A set of that one question, Q1."""
    question = Question(id="Q1", category="T", origin="faq", text=text)
    return QuestionSet(name, "", kind, placeholder, "", "", {"T": "T"}, (question,))


def shown(run: RunDocumentsAndQuestions) -> dict[str, str]:
    """Question → the annotated answer that its answers are shown with."""
    found = {f"Q{n}": run.annotated_answer_and_part_set_name("acme", f"Q{n}")[0] for n in (1, 2, 3)}
    return {question: answer.answer for question, answer in found.items() if answer}


def test_an_answer_holds_for_the_same_text_in_another_set() -> None:
    """Placeholder, company, letter case, spacing and quotation marks make no other question; every other word does."""
    annotate({"Q1": "Yes."})
    known = load_annotations(make_workspace(), "acme")
    plain, law = "[the company]", "[regulation]"
    for first, second, same in (
        ((f"Does {plain} sell data?", plain), ("Does the company sell data?", "the company"), True),
        ((f"Does {plain} sell data?", plain), ("Does Acme sell data?", "{name}"), True),
        (("Does the company sell data?", plain), ("Does <firm> sell data?", "<firm>"), True),
        ((f"What is {plain}'s stance?", plain), ("what is\n  the company\u2019s  stance?", "the company"), True),
        (("Is it \u201csold\u201d?", plain), ('Is it "sold"?', "X"), True),
        ((f"Does {plain} sell data?", plain), (f"Does {plain} share data?", plain), False),
        (("Does the policy say so?", plain), ("Does the policy clearly say so?", plain), False),
        ((f"Who must obey the {law}?", law, "regulation"), ("Who must obey the GDPR?", "GDPR", "regulation"), True),
        ((f"Does {law} fine?", law, "regulation"), ("Does the company fine?", law, "regulation"), False),
    ):
        carried = map_annotations_to_questions(known, asked(*first), asked(*second, name="other"), "ACME")
        assert set(carried.answers) == ({"Q1"} if same else set()), (first, second)
    assert map_annotations_to_questions(known, None, asked("Q?"), "ACME").answers == {}


def test_answers_are_taken_from_another_set_by_their_texts(genaipa: Callable[..., Finished]) -> None:
    """A run says which annotated answers are for its questions, keeps these, and everything that reads it sees them."""
    workspace = make_workspace(questions=3)
    write("questions/others.yaml", OTHERS)
    annotate({"Q1": "Of something else.", "Q9": "Of question one.", "Q2": "Of question two."}, questions="others")
    plan = spec(systems=("extractive",))
    note = "acme: 2 of its 3 annotated answers apply to these questions. They were written for the question set others"
    assert Procedure(plan, workspace).notes[0].startswith(note)
    run, _ = carry_out(plan)
    expected = {"Q1": "Of question one.", "Q2": "Of question two."}
    assert shown(RunDocumentsAndQuestions(workspace, run)) == expected
    kept = run.path / "annotations" / "acme.yaml"
    assert run.manifest().digests.annotations == {"acme": sha256_of(kept.read_text())}
    for path in ("annotations/acme.yaml", "questions/others.yaml"):
        Path(path).unlink()
    assert shown(RunDocumentsAndQuestions(workspace, run)) == expected
    assert genaipa("validate").code == 0


def test_silent_has_three_values_and_is_read_as_it_was_before() -> None:
    """Files may say yes, partly and no, bare or in quotes, or true and false; what is written can be read again."""
    entries = {"Q1": "yes", "Q2": "'partly'", "Q3": "no", "Q4": "true", "Q5": "false", "Q6": "'yes'"}
    lines = [f"  {question}: {{silent: {said}, answer: So.}}\n" for question, said in entries.items()]
    path = write("annotations/acme.yaml", HEAD.format(questions="policy", more="") + "".join(lines))
    read = read_annotations_without_blanks(path)
    assert [answer.silent for answer in read.answers.values()] == ["yes", "partly", "no", "yes", "no", "yes"]
    assert read.silent_questions == ("Q1", "Q4", "Q6")
    assert read_annotations_without_blanks(write("again.yaml", format_yaml(read))) == read
    for wrong in ("maybe", "1", "''"):
        with pytest.raises(DataError, match=r"answers\.Q1\.silent"):
            read_annotations_without_blanks(
                write("wrong.yaml", path.read_text().replace("silent: yes", f"silent: {wrong}", 1))
            )
    resting = path.read_text().replace("answer: So.", "answer: So., sections: ['1']")
    assert [
        error.entry
        for error in annotation_problems(path, "acme", read_annotations_without_blanks(write("some.yaml", resting)))
    ] == [f"answers.{question}" for question in read.silent_questions]


def test_annotations_hold_for_the_set_that_their_author_saw() -> None:
    """A workspace's own questions under a shipped set's name and ids get no answers to the shipped ones."""
    make_workspace(questions=1)
    write("policies/brindlecart.md", load_document("brindlecart").text)
    other = load_question_set("policy").questions[0]
    path = Path("questions/policy.yaml")
    path.write_text(path.read_text().replace("Q1", "T_f1"))
    workspace = find_workspace()
    held = find_annotation_file(workspace, load_document("brindlecart", workspace))
    assert held is not None
    assert other.text.startswith("Question 1")
    assert held.usable_annotations(load_question_set("policy", workspace), "Brindlecart").answers == {}
    assert "0 of its 32 annotated answers apply to these questions" in held.unused_answers_notice_or_empty(
        load_question_set("policy", workspace), "Brindlecart"
    )
    assert not [finding for finding in validate(workspace).findings if "brindlecart" in finding.path]


def layered() -> Workspace:
    """A workspace above pulled data, which has ACME's policy with an answer to it."""
    write("cache/data/policies/acme.md", TEXT)
    annotate({"Q1": "Of 2023."}, folder="cache/data/")
    return make_workspace(questions=3, documents=())


def used(workspace: Workspace) -> str:
    """The answer that is used for ACME's policy; empty if none is."""
    held = find_annotation_file(workspace, load_document("acme", workspace))
    return held.annotations.answers["Q1"].answer if held and held.of_this_text else ""


def test_annotations_belong_to_a_text_and_not_to_its_name() -> None:
    """By their digest, and without one by their folder of data: no nearer document takes over another's answers."""
    workspace = layered()
    assert used(workspace) == "Of 2023."
    write("policies/acme.md", "# ACME\n\nWe keep it all.\n")
    assert used(workspace) == ""
    annotate({"Q1": "Of today."})
    assert used(workspace) == "Of today."
    annotate({"Q1": "Of 2023 again."}, more=f"digest: {sha256_of(TEXT)}\n")
    assert used(workspace) == ""
    Path("policies/acme.md").unlink()
    assert used(workspace) == "Of 2023 again."
    annotate({"Q1": "Of a text that is gone."}, more=f"digest: {sha256_of('gone')}\n")
    assert used(workspace) == "Of 2023."
    write("cache/data/annotations/acme.yaml", Path("annotations/acme.yaml").read_text().replace(sha256_of("gone"), "x"))
    assert used(workspace) == ""


def test_a_taken_name_is_told_wherever_it_matters(genaipa: Callable[..., Finished]) -> None:
    """Adding, showing, checking and asking another text of the name say that its annotated answers are not used."""
    layered()
    write("today.md", "# ACME\n\nWe keep it all, and sell it.\n")
    added = genaipa("policies", "add", "today.md", "--name", "acme", "--company", "ACME").out
    assert "It hides the pulled document 'acme'; choose another --name to use both." in added
    unused = "are about another text and are not used"
    assert unused in added
    for command in (("policies",), ("policies", "show", "acme"), ("validate",)):
        finished = genaipa(*command)
        assert unused in " ".join((finished.out + finished.err).split()), command
    run = genaipa("run", "-s", "extractive", "-p", "acme", "-e", "quality")
    assert unused in run.err
    folder = next(Path("runs").iterdir())
    assert not (folder / "annotations").exists()


def test_answers_that_name_no_text_are_told_when_theirs_changes(genaipa: Callable[..., Finished]) -> None:
    """Replacing a document leaves annotated answers without a digest in use, which `policies add` says."""
    make_workspace(questions=1)
    annotate({"Q1": "Yes."})
    write("today.md", "# ACME\n\nWe keep it all, and sell it.\n")
    add = ("policies", "add", "today.md", "--name", "acme", "--company", "ACME", "--replace")
    warned = "don't state which text they are about"
    assert warned in genaipa(*add).out
    annotate({"Q1": "Yes."}, more=f"digest: {sha256_of(Path('today.md').read_text())}\n")
    assert warned not in genaipa(*add).out


def test_an_edited_text_has_no_annotated_answers() -> None:
    """A text that was changed after its answers were written is named, with the way to keep them."""
    workspace = make_workspace(questions=1)
    path = annotate({"Q1": "Yes."}, more=f"digest: {sha256_of(Path('policies/acme.md').read_text())}\n")
    assert validate(workspace).findings == []
    write("policies/acme.md", TEXT + "\nMore.\n")
    (found,) = validate(workspace).findings
    assert (found.path, found.entry, found.severity) == (str(path.resolve()), "digest", "warning")
    assert "set 'digest' there to the SHA-256 of this text" in found.problem


def test_a_run_that_took_over_answers_by_name_is_not_shown_with_them() -> None:
    """In a folder written before annotations were bound, those that the workspace knows to be of another text."""
    workspace = layered()
    write("policies/acme.md", TEXT.replace("one year", "ten years"))
    run, _ = carry_out(spec(systems=("extractive",)))
    kept = annotate({"Q1": "Of 2023."}, folder=f"{run.path}/")
    assert shown(RunDocumentsAndQuestions(workspace, run)) == {}
    annotate({"Q1": "Of a colleague."}, more="")
    assert shown(RunDocumentsAndQuestions(workspace, run)) == {"Q1": "Of a colleague."}
    for path in ("annotations/acme.yaml", "cache/data/annotations/acme.yaml"):
        Path(path).unlink()
    assert kept.is_file()
    assert shown(RunDocumentsAndQuestions(workspace, run)) == {"Q1": "Of 2023."}


def test_a_template_is_filled_in_bit_by_bit(genaipa: Callable[..., Finished]) -> None:
    """It has every question, is valid from the start, and an entry counts once something is filled in."""
    make_workspace(questions=2)
    finished = genaipa("policies", "annotate", "acme")
    assert finished.code == 0, finished.err
    assert "2 questions to answer" in finished.out
    path = Path("annotations/acme.yaml")
    assert "Q1:  # Question 1 on Acme?" in path.read_text()
    told = json.loads(genaipa("validate", "--json").out)["findings"]
    assert [(f["severity"], f["problem"]) for f in told] == [("warning", "no annotated answer to Q1, Q2.")]
    path.write_text(path.read_text().replace('answer: ""', "answer: Yes.", 1))
    held = find_annotation_file(find_workspace(), load_document("acme"))
    assert held is not None
    assert held.of_this_text
    assert list(held.annotations.answers) == ["Q1"]
    again = genaipa("policies", "annotate", "acme")
    assert (again.code, "exists already" in again.err) == (2, True)


def test_a_template_quotes_ids_that_yaml_takes_for_something_else() -> None:
    """A question may be called 1 or yes."""
    workspace = make_workspace(questions=2)
    path = Path("questions/policy.yaml")
    path.write_text(path.read_text().replace("id: Q1", "id: '1'").replace("id: Q2", "id: 'yes'"))
    document = load_document("acme", workspace)
    write(
        "annotations/acme.yaml",
        format_annotation_template(document, load_question_set("policy", workspace), "2026-01-01"),
    )
    found = load_annotations(workspace, "acme")
    assert (found.answers, found.digest, found.date) == ({}, document.digest, "2026-01-01")
    assert [finding.problem for finding in validate(workspace).findings] == ["no annotated answer to 1, yes."]
