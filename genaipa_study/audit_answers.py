"""Audit of the published answers, their repeats among them, and of the annotated answers that they are compared with.

Repeats are answers that say the same, word for word or nearly: under two questions, or to one question in several runs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from genaipa.runs.audit import Finding
from genaipa.scoring.evidence.settled import NEAR, likeness
from genaipa.words import some
from genaipa_study.files import csv_rows
from genaipa_study.layout import DOCUMENTS, labelled
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


_GENERIC = 8
"""Words below which one text can well answer two questions."""
_PAIR = 2
"""Questions between which a copy is sought; a text under more of them is a stock reply."""
_NAMED = 5
"""Places that a finding names."""
_STEM = 5
"""Letters by which two forms of a word are the same word: "secured" and "security"."""

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and or in for on with is are be by as that this it its their they them you your we our us from "
        "at not any may can will has have such which if when other also more how who what do does about all",
    )
)
"""Words that say nothing about what a text is about."""

_Text = tuple[str, ...]


def audit_repeats(answers: Iterable[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """Equal and nearly equal answers of a system about a document, in all experiments and runs.

    Left out is only an answer whose text was also given to one other question, which it fits better.
    """
    about: defaultdict[tuple[str, str], defaultdict[_Text, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        text = tuple((answer.text or "").lower().split())
        if len(text) >= _GENERIC:
            about[answer.system, answer.document][text].append(answer)
    for same in about.values():
        for text, sharing in same.items():
            if len({answer.question for answer in sharing}) > 1:
                yield from _under_several(text, sharing, questions)
            elif len(sharing) > 1:
                yield _mentioned("repeated-answer", sharing, "The same text, word for word, is")
        for one, other, alike in _near(same):
            both = [*same[one], *same[other]]
            kind = "repeated-answer" if len({answer.question for answer in both}) == 1 else "near-copy"
            yield _mentioned(kind, both, f"Nearly the same text ({alike:.1%} of the words) is")


def _under_several(text: _Text, sharing: list[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """A text under several questions: left out under the one of two that it fits less, else mentioned."""
    said = _stems(" ".join(text))
    fits: Counter[str] = Counter()
    for answer in sharing:
        shared = len(_stems(questions[answer.question].wording(answer.wording)) & said)
        fits[answer.question] = max(fits[answer.question], shared)
    (rightful, most), (_, least) = fits.most_common()[0], fits.most_common()[-1]
    if len(fits) > _PAIR or most == least:
        yield _mentioned("same-answer", sharing, "Which question it answers is unknown; the same text is")
        return
    for answer in sharing:
        if answer.question != rightful:
            reason = f"The text is the answer to {rightful}, word for word."
            yield answer.finding("other-question", reason, excludes=True)


def _mentioned(kind: str, alike: list[Answer], said: str) -> Finding:
    """A finding on the first of these answers that names the places of the others."""
    first, *others = alike
    places = [f"{one.cell} ({one.question}, {one.experiment}, {one.wording}, run {one.repetition})" for one in others]
    return first.finding(kind, f"{said} in {some(places, _NAMED)}.")


def _near(texts: Iterable[_Text]) -> Iterator[tuple[_Text, _Text, float]]:
    """Pairs of texts that are nearly the same, and how much they have in common."""
    known: dict[tuple[str, int], int] = {}
    counted = [(text, _bits(text, known)) for text in sorted(texts, key=len)]
    for place, (one, words) in enumerate(counted):
        for other, further in counted[place + 1 :]:
            both = len(one) + len(other)
            if 2 * len(one) < NEAR * both:
                break  # this one and all behind it are too much longer
            if 2 * (words & further).bit_count() >= NEAR * both:
                alike = likeness(one, other)
                if alike >= NEAR:
                    yield one, other, alike


def _bits(text: _Text, known: dict[tuple[str, int], int]) -> int:
    """A number with a bit for every word of a text and time that it comes: texts have as many words in common as bits.

    `known` maps these to their bits, and grows.
    """
    times: Counter[str] = Counter()
    bits = 0
    for word in text:
        times[word] += 1
        bits |= 1 << known.setdefault((word, times[word]), len(known))
    return bits


def _stems(text: str) -> set[str]:
    """The beginnings of the words that mean something."""
    return {word[:_STEM] for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS}
