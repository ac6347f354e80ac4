"""Retrieved passages are placed in their document by rule, and the right sections that they show are counted."""

from __future__ import annotations

import random
import textwrap
from functools import cache

import pytest
from evidence_cases import POLICY
from size import size

from genaipa.policies.document import About, Document, load_document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.questions.points import Point
from genaipa.scoring.evidence.examine import locate_annotated_sections
from genaipa.scoring.evidence.passages import OtherDocuments, PassageFinder
from genaipa.scoring.evidence.support import find_supporting_sentence_spans, sentence_spans_without_headings
from genaipa.systems.base import Passage
from genaipa.workspace import find_workspace
from genaipa_retrieval.counts import RightSections, count_passages_and_right_sections

CHUNKS = size(small=300, soak=5000)
SHIPPED = ("brindlecart", "vpda")
FIRST, WINTER, SUMMER, LEAVING = sentence_spans_without_headings(POLICY.text)[:4]
NONE = OtherDocuments({})


@cache
def shipped(name: str) -> Document:
    """A document that ships."""
    return load_document(name, find_workspace())


def of(*spans: tuple[int, int]) -> list[Passage]:
    """These places of the document as passages."""
    return [Passage(POLICY.text[slice(*span)]) for span in spans]


@pytest.mark.parametrize("name", SHIPPED)
def test_chunks_are_placed(name: str) -> None:
    """Of chunks of 200 to 2,000 characters 99 of 100 are placed where they are; wrapped anew, 95 of 100."""
    text, draw = shipped(name).text, random.Random(1)
    finder = PassageFinder(text)
    right = {"as they are": 0, "wrapped anew": 0}
    for _ in range(CHUNKS):
        length = draw.randint(200, 2000)
        start = draw.randrange(len(text) - length)
        chunk = text[start : start + length]
        wrapped = textwrap.fill(" ".join(chunk.replace("#", " ").replace("*", " ").split()), draw.randint(30, 100))
        for how, passage in (("as they are", chunk), ("wrapped anew", wrapped)):
            span = finder.place(passage).span
            right[how] += span is not None and abs(span[0] - start) < 60 and abs(span[1] - start - length) < 60
    assert right["as they are"] >= 0.99 * CHUNKS
    assert right["wrapped anew"] >= 0.95 * CHUNKS


def test_matches() -> None:
    """A passage is there word for word, up to typography, nearly, or not at all."""
    finder = PassageFinder(POLICY.text)
    for passage, match, found in (
        (" We collect your burrow's address, your \u201csnack list\u201d ", "exact", FIRST[0]),
        ('we collect your\nburrows address, your "snack list" and', "normalised", FIRST[0]),
        ("ollect your burrow's address, your 'snack list' and your chil", "normalised", FIRST[0] + 3),
        ("You may leave the hedge \u2026 forget the way", "normalised", LEAVING[0]),
        ("We collect your burrow's address, your \u201csnack list\u201d and your child's names.", "near", FIRST[0]),
        ("You may leave the hedge whenever you like; the way to you is then forgotten by us.", "none", None),
        ("Wir sammeln die Adresse des Baus und die Namen der Kinder.", "none", None),
        ("", "none", None),
        ("...", "none", None),
        ("(left out of the pack; see its source)", "none", None),
    ):
        placed = finder.place(passage)
        assert placed.match == match, passage
        assert (placed.span and abs(placed.span[0] - (found or 0)) <= 8) in {None, True}, (passage, placed)
        assert (placed.span is None) == (found is None), passage


def test_hostile_passages() -> None:
    """A long passage of any kind, and one of nothing but blanks and dots, is placed or not; a million in the soak."""
    text, many = shipped("brindlecart").text, size(small=50_000, soak=500_000)
    finder, sentence = PassageFinder(text), text[2000:2200]
    for passage in (
        text * size(small=3, soak=30),
        "x" * many * 2,
        f"{sentence}{' ' * many}{sentence}x",
        f"{sentence}{'.' * many}x",
        f"{sentence} {'[' * many}",
        "the data of the user " * (many // 10),
    ):
        span = finder.place(passage).span
        assert span is None or 0 <= span[0] < span[1] <= len(text), passage[:80]


def test_a_chunk_over_two_sections_counts_for_both() -> None:
    """It is annotated by either section, and shows each of which it has half of the sentences."""
    both = RightSections(POLICY, [(POLICY.text.index("### 1.1"), SUMMER[0]), (SUMMER[0], SUMMER[1])])
    chunk = (WINTER[0] + 10, SUMMER[1] - 10)
    found = count_passages_and_right_sections(of(chunk), PassageFinder(POLICY.text), both, NONE)
    assert (found.passages_annotated, found.sections, found.sections_shown, found.shown_at) == (1, 2, 2, 1)


def test_a_section_is_shown_by_half_of_its_sentences() -> None:
    """Half of them do, in one passage or several; a section of which only the heading was given is not shown."""
    section = (POLICY.text.index("## 1."), POLICY.text.index("## 2."))
    right = RightSections(POLICY, [section])
    (sentences,) = right.sections
    assert len(sentences) == 3
    for spans, shown in (
        ([FIRST], False),
        ([FIRST, WINTER], True),
        ([(FIRST[0], WINTER[1])], True),
        ([FIRST, FIRST], False),
        ([FIRST, (WINTER[0], WINTER[0] + 20)], False),
        ([FIRST, (WINTER[0], WINTER[0] + 30), (WINTER[0] + 30, WINTER[1])], True),
        ([(section[0], section[0] + 20)], False),
    ):
        assert (right.count_shown_sections(spans) == 1) == shown, spans


LODGE = Document(
    "lodge",
    """# Lodge

## 1. Guests

We welcome guests from all over the country. Our rooms look upon the lake. Passports are copied at the desk and the
copies are burnt after forty days. Breakfast is served until ten. We are fond of otters.

## 2. Boats

Boats may be hired by the hour. Names of those who hire a boat are written into the harbour book.
""",
    About(company="Lodge"),
)


def shown_by(sentence: str, annotated: AnnotatedAnswer) -> int:
    """How many right sections a passage of this sentence shows."""
    targets = [span for _, span in locate_annotated_sections(annotated, LODGE, "") if span]
    right = RightSections(LODGE, targets, find_supporting_sentence_spans(LODGE, annotated))
    return count_passages_and_right_sections([Passage(sentence)], PassageFinder(LODGE.text), right, NONE).sections_shown


@pytest.mark.parametrize("by", ["points", "answer"])
def test_a_section_is_shown_by_the_sentence_that_the_annotation_rests_on(by: str) -> None:
    """One of five sentences is enough, if a point or the answer rests on it, and no other one is."""
    said = "Copies of passports are burnt after forty days, and hirers of boats are in the harbour book."
    points = tuple(
        Point(id=name, text=text, sections=(section,))
        for name, text, section in (
            ("copy", "Copies of passports are kept for forty days.", "1"),
            ("book", "Whoever hires a boat is named in the harbour book.", "2"),
        )
    )
    annotated = AnnotatedAnswer(
        silent="no",
        answer=said if by == "answer" else "Yes.",
        sections=("1", "2"),
        points=points if by == "points" else (),
    )
    assert shown_by("Passports are copied at the desk and the\ncopies are burnt after forty days.", annotated) == 1
    assert shown_by("Names of those who hire a boat are written into the harbour book.", annotated) == 1
    for other in ("We are fond of otters.", "Our rooms look upon the lake.", "Boats may be hired by the hour."):
        assert shown_by(other, annotated) == 0, other


def test_where_no_sentence_is_known_half_of_them_show_a_section() -> None:
    """An annotated answer in words of its own leaves it open which sentence it rests on."""
    annotated = AnnotatedAnswer(silent="no", answer="Certainly not.", sections=("1",))
    assert find_supporting_sentence_spans(LODGE, annotated) == frozenset()
    assert shown_by("Breakfast is served until ten.", annotated) == 0
    begin = LODGE.text.index("We welcome")
    assert shown_by(LODGE.text[begin : LODGE.text.index("Breakfast")], annotated) == 1


def test_a_reply_that_is_made_of_its_passages_quotes() -> None:
    """Half of its words in runs that the passages have; a word or two in common are none."""
    right, finder = RightSections(POLICY, [WINTER]), PassageFinder(POLICY.text)
    sentence = POLICY.text[slice(*LEAVING)]

    def quotes(reply: str) -> int:
        return count_passages_and_right_sections(of(LEAVING), finder, right, NONE, reply=reply).quotes

    assert quotes(f'"{sentence}" (Section 2)') == 1
    assert quotes("You may leave the hedge, says the policy in a section that I remember from elsewhere.") == 0
    assert quotes("") == 0
    assert count_passages_and_right_sections([], finder, right, NONE, reply=sentence).quotes == 0


def test_counts_of_an_answer() -> None:
    """The rank at which a right section is first shown, and passages elsewhere, of another document apart."""
    right = RightSections(POLICY, [WINTER, LEAVING])
    others = OtherDocuments({"vpda": shipped("vpda").text})
    foreign = shipped("vpda").text[3000:3400]
    passages = [
        *of(SUMMER),
        Passage(foreign),
        Passage("A summary of it all in words of its own."),
        *of(LEAVING, LEAVING),
    ]
    found = count_passages_and_right_sections(passages, PassageFinder(POLICY.text), right, others)
    assert (found.passages, found.passages_annotated, found.passages_elsewhere, found.passages_other) == (5, 2, 2, 1)
    assert (found.sections, found.sections_shown, found.shown_at) == (2, 1, 4)
    assert count_passages_and_right_sections([], PassageFinder(POLICY.text), right, others).shown_at == 0


def test_annotated_sections_of_a_shipped_document_have_sentences() -> None:
    """A section of the annotated answers is shown by its own text, and by no other's."""
    document, workspace = shipped("brindlecart"), find_workspace()
    from genaipa.questions.annotations import find_annotation_file

    annotations = find_annotation_file(workspace, document)
    assert annotations is not None
    finder = PassageFinder(document.text)
    for answer in annotations.annotations.answers.values():
        spans = [span for _, span in locate_annotated_sections(answer, document, "") if span]
        right = RightSections(document, spans)
        found = count_passages_and_right_sections(
            [Passage(document.text[slice(*span)]) for span in spans], finder, right, NONE
        )
        assert (found.sections_shown, found.passages_annotated) == (len(spans), len(spans))
        assert found.shown_at == (1 if spans else 0)
