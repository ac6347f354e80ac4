"""The published annotated answers: five spellings of one table, and references written in a dozen ways."""

from __future__ import annotations

import re
from collections import defaultdict

import msgspec

from genaipa.files.strict_yaml import digest
from genaipa.questions.annotations import AnnotatedAnswer, Annotations, Silent
from genaipa.scoring.evidence.abstention import leaves_open
from genaipa_study.documents import DOCUMENTS, document_text
from genaipa_study.files import LICENSE, Tree, read_table, source_url
from genaipa_study.questions import POLICY_IDS, POLICY_SET, REGULATION_IDS, REGULATION_SET

_COLUMNS = {
    "id": ("question id", "id_question"),
    "question": ("question", "questions"),
    "answer": ("annotated answer", "annotated_answer", "answer"),
}

# The reference of an answer where the document is silent.
_SILENT = re.compile(r"\bN/A\b")
# As in "Part 4", "policy.Part 4", "P3" and "ChatGPT: P6".
_PART = re.compile(r"\bP(?:art\s*)?(\d+)\b")
# As in "Article 4 & 9", "Articles 12-23", "§ 1798.140(c)(1)" and "§§ 1798.155 and 1798.150".
_CITED = re.compile(r"(Articles?|§+)\s*(\d[\d.]*(?:\(\w+\))*(?:\s*(?:[-\u2013&,]|and)\s*\d[\d.]*(?:\(\w+\))*)*)")
_NUMBERS = re.compile(r"(\d+(?:\.\d+)*)(?:\(\w+\))*(?:\s*[-\u2013]\s*(\d+(?:\.\d+)*))?")
# How the two regulations number their sections: "Art. 32 GDPR…", "1798.155. …"
_NUMBERED = re.compile(r"(?m)^(?:Art\. (\d+) |(1798\.\d+)\.\s)")


def convert_annotations(tree: Tree, name: str) -> Annotations:
    """The annotated answers of one of the seven documents; a DataError names file, row and column."""
    document = DOCUMENTS[name]
    policy = document.kind == "policy"
    folder = "Privacy Policy Answers" if policy else "Regulation Answers"
    path = f"Annotated Answers/{folder}/annotated_answers_{document.company}.csv"
    ids, question_set = (POLICY_IDS, POLICY_SET) if policy else (REGULATION_IDS, REGULATION_SET)
    text = document_text(tree, name)
    law = () if policy else _numbering(text)
    rows = read_table(tree.folder / path, _COLUMNS, ids)
    answers = {question: _answer(cells["answer"], law) for question, cells in rows.items()}
    _note_copies(answers, {question: cells["question"] for question, cells in rows.items()})
    return Annotations(
        document=name,
        questions=question_set,
        annotators=("the GenAIPABench authors",),
        answers=answers,
        source=source_url(path),
        license=LICENSE,
        digest=digest(text),
        part_set="GPT-4" if policy else "",
    )


def _answer(text: str, law: tuple[str, ...]) -> AnnotatedAnswer:
    """One answer with what its text says about sections, silence and its own defects."""
    notes = []
    # The study has two values; what an answer says in its words about gaps in the document makes the third.
    silent: Silent = "yes" if _SILENT.search(text) else "partly" if leaves_open(text) else "no"
    if text[0].islower():
        notes.append("The published text has lost its beginning.")
    sections = cited_articles(text, law) if law else cited_parts(text)
    return AnnotatedAnswer(
        silent=silent, answer=text, sections=() if silent == "yes" else sections, note=" ".join(notes)
    )


def cited_parts(text: str) -> tuple[str, ...]:
    """The parts of the policy that an answer refers to, as "Part 3"."""
    return tuple(dict.fromkeys(f"Part {number}" for number in _PART.findall(text)))


def cited_articles(text: str, law: tuple[str, ...]) -> tuple[str, ...]:
    """The articles or sections of a regulation that an answer refers to, as "Article 32" or "Section 1798.155".

    `law` holds the numbers in the order of the regulation: "12-23" means all of them in between. A subdivision,
    "1798.140(c)(1)", counts as its section.
    """
    labels: list[str] = []
    for sign, numbers in _CITED.findall(text):
        word = "Section" if sign.startswith("§") else "Article"
        for first, last in _NUMBERS.findall(numbers):
            between = law[law.index(first) : law.index(last) + 1] if first in law and last in law else (first,)
            labels += [f"{word} {number}" for number in between]
    return tuple(dict.fromkeys(labels))


def _numbering(text: str) -> tuple[str, ...]:
    """The numbers of a regulation's articles or sections, in order."""
    numbers = {article or section for article, section in _NUMBERED.findall(text)}
    return tuple(sorted(numbers, key=lambda number: [int(step) for step in number.split(".")]))


def _note_copies(answers: dict[str, AnnotatedAnswer], questions: dict[str, str]) -> None:
    """Note copied answers: of questions with the same text, all but the best match."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for question, answer in answers.items():
        if answer.silent != "yes":
            same[answer.answer].append(question)
    for text, sharing in same.items():
        rightful = max(sharing, key=lambda question: len(_words(questions[question]) & _words(text)))
        for question in sharing:
            if question != rightful:
                note = f"{answers[question].note} The published text is a copy of the answer to {rightful}.".strip()
                answers[question] = msgspec.structs.replace(answers[question], note=note)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
