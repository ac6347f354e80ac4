"""Audit of the published answers and of the annotated answers that they are compared with."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from genaipa.runs.audit import Finding
from genaipa_study.documents import DOCUMENTS
from genaipa_study.files import csv_rows
from genaipa_study.layout import labelled
from genaipa_study.repeats import FUNCTION_WORDS, audit_repeats
from genaipa_study.sheets import column_letter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.datasets.study import Answer
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa_study.files import Tree

# Names by which an answer mentions a company, beside the companies that go by their own name.
_NAMES = {"facebook": "Facebook|Meta|Instagram", "twitter": "Twitter|[Tt]weets?|X Corp"}
_ENOUGH = 3
"""Answers of a block that have to name another company before the block is taken to be about it."""

_PHRASE = 3
_FITS = 3
"""Factor by which another part has to hold more of an annotated answer's phrases than the part that it cites."""
_PHRASES = 6
"""That the other part has to hold at least."""


def audit_answers(answers: list[Answer], questions: QuestionSet) -> list[Finding]:
    """Answers about another company, answers to another question, repeats, and texts that lost their first letter."""
    return [
        *_other_company(answers),
        *audit_repeats(answers, questions),
        *(
            answer.finding("lost-first-letter", "The text begins in the middle of a word; the rest is as published.")
            for answer in answers
            if answer.text and answer.text.lstrip()[:1].islower()
        ),
    ]


def _blocks(answers: Iterable[Answer]) -> dict[tuple[object, ...], list[Answer]]:
    """The answers by block: one sheet, one experiment, one run."""
    blocks: dict[tuple[object, ...], list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.text is not None:
            blocks[answer.file, answer.sheet, answer.experiment, answer.repetition].append(answer)
    return blocks


def _other_company(answers: list[Answer]) -> Iterator[Finding]:
    """Every answer of a block that is about another company, whether it names one or not."""
    companies = [name for name, document in DOCUMENTS.items() if document.kind == "policy"]
    patterns = {name: re.compile(rf"\b(?:{_NAMES.get(name, DOCUMENTS[name].company)})\b") for name in companies}
    for block in _blocks(answers).values():
        named = Counter(
            name for answer in block for name, pattern in patterns.items() if pattern.search(answer.text or "")
        )
        own = named.pop(block[0].document, 0)
        other, count = max(named.items(), key=lambda item: item[1], default=("", 0))
        # Half of a block may name its own company as well: a system that was asked about it says so.
        if count >= min(_ENOUGH, len(block)) and count >= 2 * own:
            said = (
                f"{count} of the {len(block)} answers of this run name {DOCUMENTS[other].company}, and {own} "
                f"{DOCUMENTS[block[0].document].company}: the run is about another company."
            )
            for answer in block:
                yield answer.finding("other-company", said, excludes=True)


def audit_annotations(tree: Tree, document: Document, annotations: Annotations) -> Iterator[Finding]:
    """Annotated answers that cite the wrong part, and copies of another answer."""
    held = [_phrases(document.text[start:end]) for start, end in document.parts(annotations.part_set)]
    path = f"Annotated Answers/Privacy Policy Answers/annotated_answers_{document.company}.csv"
    cells = _cells(tree, path)
    for question, answer in annotations.answers.items():
        place = (path, "", cells.get(question, ""))
        if "is a copy of" in answer.note:
            yield Finding("annotation-copied", *place, answer.note, document=document.name, question=question)
        cited = [int(label.split()[1]) for label in answer.sections if re.fullmatch(r"Part \d+", label)]
        missing = [number for number in cited if not 1 <= number <= len(held)]
        if missing:
            said = f"It cites Part {missing[0]}, and the document has {len(held)} parts."
            yield Finding("annotation-wrong-part", *place, said, document=document.name, question=question)
        if not cited or missing:
            continue
        phrases = _phrases(re.sub(r"\bP(?:art\s*)?\d+\b", "", answer.answer))
        shared = [len(phrases & part) for part in held]
        best = max(range(len(held)), key=lambda part: shared[part])
        there = max(shared[number - 1] for number in cited)
        if shared[best] >= _PHRASES and shared[best] > _FITS * there:
            said = (
                f"It cites {' and '.join(f'Part {number}' for number in cited)}, which shares {there} of its phrases "
                f"of {_PHRASE} words; Part {best + 1} shares {shared[best]}."
            )
            yield Finding("annotation-wrong-part", *place, said, document=document.name, question=question)


def _phrases(text: str) -> set[tuple[str, ...]]:
    """The runs of three words in which at least two mean something."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    runs = (tuple(words[start : start + _PHRASE]) for start in range(len(words) - _PHRASE + 1))
    return {run for run in runs if sum(word not in FUNCTION_WORDS for word in run) > 1}


def _cells(tree: Tree, path: str) -> dict[str, str]:
    """Question id → the cell of its annotated answer."""
    first, *rows = csv_rows(tree.folder / path) or [[]]
    header = [name.strip().lower().replace("_", " ") for name in first]
    letter = column_letter(header.index("annotated answer") + 1) if "annotated answer" in header else ""
    cells = {}
    for number, row in enumerate(rows, start=2):
        label = next((found for cell in row if (found := labelled(cell))), None)
        if label:
            cells[label[0]] = f"{letter}{number}"
    return cells
