"""Fetch the published files, and convert documents, questions and annotated answers into genaipa's own.

Documents have both published segmentations of each policy; annotated answers come in five spellings of one table, and
with references written in a dozen ways.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import yaml

from genaipa.datasets.snapshot import digest_inputs, write_cache_file
from genaipa.errors import DataError
from genaipa.files.text import read_text, sha256_of
from genaipa.policies.document import About
from genaipa.questions.annotations import AnnotatedAnswer, Annotations, Silent
from genaipa.questions.sets import Question, QuestionSet
from genaipa.scoring.evidence.abstention import mentions_document_silence
from genaipa.workspace import pulled_folder
from genaipa_study.layout import (
    DOCUMENTS,
    LICENSE,
    POLICY_IDS,
    POLICY_SET,
    REGULATION_IDS,
    REGULATION_SET,
    PublishedTree,
    make_published_file_url,
    published_tree,
    read_rows_by_question,
)

if TYPE_CHECKING:
    from genaipa.datasets.base import Progress, Pulled

PART_SETS = ("GPT-4", "BingAI&Bard")


# "Part 3:" at the head of a segment; one segment has none, one lacks the colon.
_HEADER = re.compile(r"\s*Part\s*\d+\s*:?")
_WINDOW = 40
"""Characters (white space aside) that place a segment which differs from the document."""


def read_published_document_text(tree: PublishedTree, document_name: str) -> str:
    """Return the text as published, with the line ends that genaipa uses."""
    return read_text(tree.folder / DOCUMENTS[document_name].path).replace("\r\n", "\n")


def read_document_and_note_inexact_segments(tree: PublishedTree, document_name: str) -> tuple[str, About, list[str]]:
    """Return the text, its metadata, and sentences about segments that differ from it."""
    published, text = DOCUMENTS[document_name], read_published_document_text(tree, document_name)
    part_sets, notes = {}, []
    for part_set in PART_SETS:
        segments = _read_segments(tree, document_name, part_set)
        if segments:
            part_sets[part_set], inexact = locate_segments_and_list_notes(
                text, segments, f"{document_name}, {part_set}"
            )
            notes += inexact
    about = About(
        company=published.company,
        kind=published.kind,
        title=published.title,
        source=make_published_file_url(published.path),
        date=published.date,
        license=LICENSE,
        extraction="text as published by GenAIPABench; only line ends were changed",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        part_sets=part_sets,
    )
    return text, about, notes


def locate_segments_and_list_notes(
    text: str, segments: list[str], segmentation_name: str
) -> tuple[tuple[int, ...], list[str]]:
    """Return the offsets at which the segments begin in the text, found in order and up to white space.

    A segment that the text doesn't hold word for word is placed by its first words that it does hold, and a sentence
    about it is returned beside the offsets; a DataError if there are no such words.
    """
    indices = [index for index, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text.split())
    offsets, notes, search_start = [], [], 0
    for number, segment in enumerate(segments, start=1):
        squeezed_segment = "".join(segment.split())
        start = squeezed.find(squeezed_segment, search_start)
        if start >= 0:
            search_start = start + len(squeezed_segment)
        else:
            start, search_start = _locate_segment_and_next_search_start(
                squeezed, squeezed_segment, search_start, f"{segmentation_name}, Part {number}"
            )
            notes.append(
                f"{segmentation_name}, Part {number}: differs from the document, and is placed by its first "
                "matching words."
            )
        offsets.append(indices[start])
    return tuple(offsets), notes


def _locate_segment_and_next_search_start(
    squeezed: str, segment: str, search_start: int, segment_name: str
) -> tuple[int, int]:
    """Return the start of a segment, and where to look for the next, by its first characters found in the text."""
    for skipped in range(max(1, len(segment) - _WINDOW + 1)):
        start = squeezed.find(segment[skipped : skipped + _WINDOW], search_start)
        if start >= 0:
            return max(start - skipped, search_start), start + 1
    raise DataError(segment_name, "the segment is not in its document.")


def _read_segments(tree: PublishedTree, document_name: str, part_set: str) -> list[str]:
    """Return the texts of a published segmentation in order, without their headers."""
    folder = f"Privacy Documents/Privacy Policy Segments/{part_set}/{document_name}-policy-text-segments/"
    segment_texts = {}
    for path in tree.blobs:
        number = re.search(r"\d+", PurePosixPath(path).stem)
        if path.startswith(folder) and number:
            segment_texts[int(number.group())] = _HEADER.sub("", read_text(tree.folder / path), count=1)
    return [segment_texts[number] for number in sorted(segment_texts)]


# Stands at the head of the converted file, for who opens it.
DEFECTS = """\
# As published with GenAIPABench. Some paraphrases ask something other than their original: all of T_f1, UC_u1 and
# PD_f3, the first of AEE_u1 and RC_u1, the second and third of SE_f1, the third of DM_f3 and SE_u1. The first two of
# SE_u1 are identical.
"""

_POLICY_FOLDER = "Questions/Privacy Policy Questions/"
# The table of the regulation questions themselves is a workbook; the annotated answers repeat them word for word.
_REGULATION_QUESTIONS = "Annotated Answers/Regulation Answers/annotated_answers_GDPR.csv"


def convert_policy_questions(tree: PublishedTree) -> QuestionSet:
    """Return the 32 questions about a policy with three paraphrases each; a DataError names file, row and column."""
    path = _POLICY_FOLDER + "Questions.csv"
    question_columns = {"id": ("id_question",), "category": ("category",), "text": ("question",)}
    rows = read_rows_by_question(tree.folder / path, question_columns, POLICY_IDS)
    columns = {f"question_set_{n}": (f"question_set_{n}",) for n in (1, 2, 3)}
    paraphrased = tree.folder / _POLICY_FOLDER / "Questions (Paraphrased).csv"
    paraphrases = read_rows_by_question(paraphrased, {"id": ("id_paraphrased",), **columns}, POLICY_IDS)
    questions = tuple(
        Question(
            id=question,
            category=question.split("_")[0],
            origin="user" if question.endswith("u1") else "faq",
            text=row["text"],
            paraphrases=tuple(paraphrases[question][column] for column in columns),
        )
        for question, row in rows.items()
    )
    return QuestionSet(
        name=POLICY_SET,
        title="Questions about a privacy policy, as published with GenAIPABench",
        kind="policy",
        placeholder="the company",
        source=make_published_file_url(path),
        license=LICENSE,
        categories={question.split("_")[0]: row["category"] for question, row in rows.items()},
        questions=questions,
    )


def convert_regulation_questions(tree: PublishedTree) -> QuestionSet:
    """Return the six questions about a regulation, which have no published paraphrases.

    They are published for the GDPR and, word for word but for its name, for the CCPA: the name is the placeholder.
    """
    columns = {"id": ("question id",), "text": ("questions",)}
    rows = read_rows_by_question(tree.folder / _REGULATION_QUESTIONS, columns, REGULATION_IDS)
    return QuestionSet(
        name=REGULATION_SET,
        title="Questions about a regulation, as published with GenAIPABench",
        kind="regulation",
        placeholder="GDPR",
        source=make_published_file_url(_REGULATION_QUESTIONS),
        license=LICENSE,
        categories={"PR": "Privacy Regulations"},
        questions=tuple(
            Question(id=question, category="PR", origin="faq", text=row["text"]) for question, row in rows.items()
        ),
    )


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


def convert_annotations(tree: PublishedTree, document_name: str) -> Annotations:
    """Return the annotated answers of one of the seven documents; a DataError names file, row and column."""
    document = DOCUMENTS[document_name]
    policy = document.kind == "policy"
    folder = "Privacy Policy Answers" if policy else "Regulation Answers"
    path = f"Annotated Answers/{folder}/annotated_answers_{document.company}.csv"
    ids, question_set = (POLICY_IDS, POLICY_SET) if policy else (REGULATION_IDS, REGULATION_SET)
    text = read_published_document_text(tree, document_name)
    # The numbers of a regulation's articles or sections, in order.
    numbers = set() if policy else {article or section for article, section in _NUMBERED.findall(text)}
    law = tuple(sorted(numbers, key=lambda number: [int(step) for step in number.split(".")]))
    rows = read_rows_by_question(tree.folder / path, _COLUMNS, ids)
    answers = {question: _make_annotated_answer(cells["answer"], law) for question, cells in rows.items()}
    _add_notes_to_copied_answers(answers, {question: cells["question"] for question, cells in rows.items()})
    return Annotations(
        document=document_name,
        questions=question_set,
        annotators=("the GenAIPABench authors",),
        answers=answers,
        source=make_published_file_url(path),
        license=LICENSE,
        digest=sha256_of(text),
        part_set="GPT-4" if policy else "",
    )


def _make_annotated_answer(text: str, article_numbers_in_order: tuple[str, ...]) -> AnnotatedAnswer:
    """Return one answer with what its text says about sections, silence and its own defects."""
    notes = []
    # The study has two values; what an answer says in its words about gaps in the document makes the third.
    silent: Silent = "yes" if _SILENT.search(text) else "partly" if mentions_document_silence(text) else "no"
    if text[0].islower():
        notes.append("The beginning of the published text is missing.")
    sections = (
        find_cited_article_labels(text, article_numbers_in_order)
        if article_numbers_in_order
        else find_cited_part_labels(text)
    )
    return AnnotatedAnswer(
        silent=silent, answer=text, sections=() if silent == "yes" else sections, note=" ".join(notes)
    )


def find_cited_part_labels(text: str) -> tuple[str, ...]:
    """Return the parts of the policy that an answer refers to, as "Part 3"."""
    return tuple(dict.fromkeys(f"Part {number}" for number in _PART.findall(text)))


def find_cited_article_labels(text: str, article_numbers_in_order: tuple[str, ...]) -> tuple[str, ...]:
    """Return the articles or sections of a regulation that an answer refers to, as "Article 32" or "Section 1798.155".

    `article_numbers_in_order` holds the numbers in the order of the regulation: "12-23" means all of them in between. A
    subdivision, "1798.140(c)(1)", counts as its section.
    """
    labels: list[str] = []
    for sign, numbers in _CITED.findall(text):
        word = "Section" if sign.startswith("§") else "Article"
        for first, last in _NUMBERS.findall(numbers):
            between = (
                article_numbers_in_order[
                    article_numbers_in_order.index(first) : article_numbers_in_order.index(last) + 1
                ]
                if first in article_numbers_in_order and last in article_numbers_in_order
                else (first,)
            )
            labels += [f"{word} {number}" for number in between]
    return tuple(dict.fromkeys(labels))


def _add_notes_to_copied_answers(answers: dict[str, AnnotatedAnswer], question_texts: dict[str, str]) -> None:
    """Note copied answers: of questions with the same text, all but the best match."""
    questions_by_answer: defaultdict[str, list[str]] = defaultdict(list)
    for question, answer in answers.items():
        if answer.silent != "yes":
            questions_by_answer[answer.answer].append(question)
    for text, sharing in questions_by_answer.items():
        rightful = max(sharing, key=lambda question: len(_split_words(question_texts[question]) & _split_words(text)))
        for question in sharing:
            if question != rightful:
                note = f"{answers[question].note} The published text is a copy of the answer to {rightful}.".strip()
                answers[question] = msgspec.structs.replace(answers[question], note=note)


def _split_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


VERSION = 3
"""Raise it when the conversion changes, so that earlier conversions are done again."""

OUTPUTS = (
    *(f"policies/{name}{suffix}" for name in DOCUMENTS for suffix in (".txt", ".yaml")),
    *(f"annotations/{name}.yaml" for name in DOCUMENTS),
    f"questions/{POLICY_SET}.yaml",
    f"questions/{REGULATION_SET}.yaml",
)


def is_converted_data_available(tree: PublishedTree | None = None) -> bool:
    """Tell whether the seven documents, their annotated answers and the published questions can be used now."""
    return _load_notes_if_conversion_complete(tree or published_tree()) is not None


def pull(
    *,
    origin: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
    tree: PublishedTree | None = None,
) -> Pulled:
    """Fetch missing files (`Snapshot.fetch`) and convert them; the notes are about defects of the data."""
    tree = tree or published_tree()
    pulled_files = tree.fetch(origin=origin, offline=offline, progress=progress)
    return replace(pulled_files, notes=(*_write_converted_files_and_list_notes(tree), *pulled_files.notes))


def _load_notes_if_conversion_complete(tree: PublishedTree) -> list[str] | None:
    """Return the notes of this version's conversion of this commit; None unless all of its files are there."""
    mark = tree.load_conversion_step_results("converted", _conversion_key(tree))
    return mark["notes"] if mark and all((pulled_folder() / output).is_file() for output in OUTPUTS) else None


def _conversion_key(tree: PublishedTree) -> str:
    return digest_inputs(VERSION, tree.commit, sorted((path, tree.blobs[path]) for path in tree.required_files))


def _write_converted_files_and_list_notes(tree: PublishedTree) -> list[str]:
    """Write documents, annotated answers and question sets, unless they are there; notes on defects of the data.

    A DataError names what can't be read; nothing is written then.
    """
    earlier_notes = _load_notes_if_conversion_complete(tree)
    if earlier_notes is not None:
        return earlier_notes
    outputs: dict[str, str] = {}
    notes: list[str] = []
    for name in DOCUMENTS:
        text, about, inexact = read_document_and_note_inexact_segments(tree, name)
        annotations = convert_annotations(tree, name)
        outputs[f"policies/{name}.txt"] = text
        outputs[f"policies/{name}.yaml"] = _format_yaml(about)
        outputs[f"annotations/{name}.yaml"] = _format_yaml(annotations)
        notes += inexact
        notes += [
            f"{name}, {question}: {annotation.note}"
            for question, annotation in annotations.answers.items()
            if annotation.note
        ]
    outputs[f"questions/{POLICY_SET}.yaml"] = DEFECTS + _format_yaml(convert_policy_questions(tree))
    outputs[f"questions/{REGULATION_SET}.yaml"] = _format_yaml(convert_regulation_questions(tree))
    for output, content in outputs.items():
        write_cache_file(pulled_folder() / output, content.encode())
    tree.record_conversion_step("converted", _conversion_key(tree), notes=notes)
    return notes


def _format_yaml(record: msgspec.Struct) -> str:
    plain = msgspec.to_builtins(record)
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)
