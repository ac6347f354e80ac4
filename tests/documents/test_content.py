"""What ships is complete, and its annotated answers rest on exactly the sections that they cite."""

from __future__ import annotations

import re

import pytest

from genaipa.policies.document import DocumentKind, load_document
from genaipa.policies.sections import find_innermost_cited_section
from genaipa.questions.annotations import load_annotations
from genaipa.questions.sets import load_question_set
from genaipa.workspace import find_workspace

# Document → the questions that are annotated for it.
SHIPPED = {
    "brindlecart": "policy",
    "brindlecart-de": "policy-de",
    "brindlecart-fr": "policy-fr",
    "vpda": "regulation",
}

_NUMBER = r"\d+(?:\.\d+)?"
_TO = " (?:to|bis|à) "
_LIST = rf"{_NUMBER}(?:(?:, | (?:and|und|et|or|oder|ou|sowie|ainsi que) |{_TO}){_NUMBER})*"
# In a policy, 4.2 cites a section with or without the word, and 30 are days; in an act, 1.5 is a percentage.
CITATIONS: dict[DocumentKind, str] = {
    "policy": rf"\b(?:(?:[Ss]ections?|Abschnitt(?:e|en|s)?) {_LIST}|\d+\.\d+(?:{_TO}\d+\.\d+)?)",
    "regulation": rf"\b(?:Articles? {_LIST}|Chapters? [IVX]+)",
}


def cited(answer: str, kind: DocumentKind) -> set[str]:
    """The sections that a text cites, one by one: "Articles 5 to 7" are Article 5, Article 6 and Article 7."""
    found = set()
    for citation in re.findall(CITATIONS[kind], answer):
        if citation.startswith("Chapter"):
            found.add(citation)
        for first, last in re.findall(rf"({_NUMBER})(?:{_TO}({_NUMBER}))?", citation):
            above, dot, begin = first.rpartition(".")
            end = (last or first).rpartition(".")[2]
            numbers = {f"{above}{dot}{number}" for number in range(int(begin), int(end) + 1)}
            found |= {f"Article {number}" for number in numbers} if kind == "regulation" else numbers
    return found


def test_all_that_ships_is_looked_at() -> None:
    """No annotations ship for any other document."""
    assert set(find_workspace().nearest_files("annotations")) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_answers_cite_their_sections(name: str) -> None:
    """The sections of an annotated answer are those that its text cites, each once, and each is in the document."""
    document = load_document(name)
    for question, answer in load_annotations(find_workspace(), name).answers.items():
        assert sorted(answer.sections) == sorted(cited(answer.answer, document.kind)), question
        for label in answer.sections:
            section = find_innermost_cited_section(document.sections, label)
            assert section is not None, (question, label)
            assert section.number == label, question


@pytest.mark.parametrize("name", SHIPPED)
def test_answers_are_silent_or_cite(name: str) -> None:
    """An answer rests on no section if, and only if, the document is silent."""
    for question, answer in load_annotations(find_workspace(), name).answers.items():
        assert (answer.silent == "yes") == (not answer.sections), question


@pytest.mark.parametrize(("name", "count"), [(name, 6 if name == "vpda" else 32) for name in SHIPPED])
def test_every_question_has_an_answer(name: str, count: int) -> None:
    """Each question of the set is annotated, and no other, for the text that ships."""
    annotations = load_annotations(find_workspace(), name)
    questions = load_question_set(SHIPPED[name]).questions
    assert annotations.questions == SHIPPED[name]
    assert annotations.digest == load_document(name).digest
    assert list(annotations.answers) == [question.id for question in questions]
    assert len(questions) == count


@pytest.mark.parametrize("name", SHIPPED.values())
def test_every_question_has_three_paraphrases(name: str) -> None:
    """The paraphrases of a question are three, and differ from one another and from the original."""
    for question in load_question_set(name).questions:
        assert len(question.paraphrases) == 3, question.id
        assert len({text.casefold() for text in (question.text, *question.paraphrases)}) == 4, question.id


@pytest.mark.parametrize(("name", "words"), [(name, 2500 if name == "vpda" else 4000) for name in SHIPPED])
def test_documents_are_of_a_real_length(name: str, words: int) -> None:
    """The documents that ship are as long as real ones."""
    assert len(load_document(name).text.split()) >= words


@pytest.mark.parametrize("language", ["de", "fr"])
def test_translated_answers_are_parallel(language: str) -> None:
    """The same questions are left open, on the same sections, with the same points, as in English."""
    known, translated = (
        load_annotations(find_workspace(), f"brindlecart{end}").answers for end in ("", f"-{language}")
    )
    for question, answer in known.items():
        other = translated[question]
        assert (other.silent, sorted(other.sections)) == (answer.silent, sorted(answer.sections)), question
        marks = [[(p.id, p.sections, p.weight, p.if_wrong) for p in one.points] for one in (answer, other)]
        assert marks[0] == marks[1], question


def test_citations_are_recognised() -> None:
    """Lists, ranges and paragraphs are read as citations; days, percentages and amounts aren't."""
    found = cited("Sections 2.1 to 2.3 and 4, within 30 days (9.4, section 12).", "policy")
    assert found == {"2.1", "2.2", "2.3", "4", "9.4", "12"}
    found = cited("Article 4(1) and (3); Articles 5 to 7 and 20; Chapter II: 1.5 per cent, 300 crowns", "regulation")
    assert found == {*(f"Article {number}" for number in (4, 5, 6, 7, 20)), "Chapter II"}
