"""The evidence on an answer as a whole, and the reference score that it suggests."""

from __future__ import annotations

import pytest
from evidence_cases import HALF, PARTS, POLICY

from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.evidence.examine import collect_reply_evidence, locate_annotated_sections

SILENT = AnnotatedAnswer(silent="yes", answer="The policy does not say.")
WINTER = AnnotatedAnswer(silent="no", answer="Only the date.", sections=("1.1",))


def test_all_at_once() -> None:
    """References, quotations and silence are told apart in one answer."""
    reply = 'Section 1.1: "Winter records" says "we keep nothing but the date"; it does not mention foxes.'
    found = collect_reply_evidence(reply, POLICY, annotated=WINTER)
    assert [(reference.text, reference.expected) for reference in found.references] == [
        ('Section 1.1: "Winter records"', (0,))
    ]
    assert [quotation.text for quotation in found.quotations] == ["we keep nothing but the date"]
    assert (found.silence.claimed, found.silence.annotated) == (False, False)


@pytest.mark.parametrize(
    ("reply", "annotated", "suggested"),
    [
        ("The policy does not mention it.", SILENT, 1.0),
        ("The policy does not mention it (Part 2).", SILENT, -1.0),
        ("Yes, see Section 9.", SILENT, -1.0),
        ("The policy does not say. Under Article 33 of the GDPR a company must notify.", SILENT, None),
        ("The policy does not say. Schedule A call.", SILENT, None),
        ("The policy does not say. The Article 29 Working Party did.", SILENT, 1.0),
        ("The summary does not say (Summary Part 2).", SILENT, None),
        ("Not by Section 2, though Article 33 GDPR asks for it.", SILENT, -1.0),
        ("Yes, it does.", SILENT, None),
        ("Only the date (Section 1.1).", WINTER, 1.0),
        ("Only the date (Part 1).", WINTER, 1.0),
        ("Only the date (Section 12).", WINTER, -1.0),
        ("Only the date (Section 12 of the summary).", WINTER, None),
        ("Only the date (Section 1.1, Section 12).", WINTER, None),
        ("As required by Article 13 GDPR, only the date.", WINTER, None),
        ("Under Section 230 of the Communications Decency Act, only the date.", WINTER, None),
        ("Only the date (Section 1.1), as required by Article 13 GDPR.", WINTER, 1.0),
        ("Only the date (Section 12), as required by Article 13 GDPR.", WINTER, -1.0),
        ("Only the date (Section 1.1, Schedule 3).", WINTER, None),
        ("Only the date (Section 12, Schedule 3).", WINTER, None),
        ("Only the date, by the policy's Schedule 3.", WINTER, -1.0),
        ("Only the date (Section 3).", WINTER, None),
        ("Only the date.", WINTER, None),
        ("Only the date (Section 1.1).", None, None),
    ],
)
def test_suggestion(reply: str, annotated: AnnotatedAnswer | None, suggested: float | None) -> None:
    """A value for references is suggested where the rubric leaves no choice, with its reason, and else none."""
    found = collect_reply_evidence(reply, POLICY, part_spans_given=PARTS, annotated=annotated)
    assert found.suggestion == suggested
    assert bool(found.reason) == (suggested is not None)


def test_nothing_is_missing_from_a_document_without_sections() -> None:
    """Where no outline is recognised, a section that isn't found is no ground for a suggestion."""
    plain = Document("plain", "We keep nothing. Ask us.", About(company="Plain"))
    annotated = AnnotatedAnswer(silent="no", answer="Nothing.")
    assert collect_reply_evidence("Nothing (Section 4).", plain, annotated=annotated).suggestion is None


def test_what_the_document_refers_to_is_not_what_the_answer_cites() -> None:
    """A section that is named in words quoted from the document is the document's; brackets in a quotation aren't."""
    quoted = "We dig by night, see section 2 below."
    mole = Document("mole", f"1. Noise\n\n{quoted}\n\n2. Tools\n\nPaws.\n", About(company="Mole"))
    found = collect_reply_evidence(f'"{quoted}" (Section 1)', mole)
    assert [reference.text for reference in found.references] == ["Section 1"]
    found = collect_reply_evidence('"We dig by night [Section 1]"', mole)
    assert [reference.text for reference in found.references] == ["Section 1"]


@pytest.mark.parametrize(
    "reply",
    [
        'Only the date (Part 1: "How we feed foxes").',
        "Only the date (Part 1, Section 2).",
        'Only the date (Section 2: "Fox trade").',
        "Only the date, says the summary (Part 1).",
    ],
)
def test_nothing_is_suggested_on_a_citation_in_doubt(reply: str) -> None:
    """A citation whose title or place does not fit is for an analyst to judge."""
    assert collect_reply_evidence(reply, POLICY, part_spans_given=PARTS, annotated=WINTER).suggestion is None


def test_a_section_that_was_not_recognised_is_no_silence() -> None:
    """An answer that seems to point at a section is not taken for one that cites nothing."""
    assert (
        collect_reply_evidence("The policy does not say. Source: Winter", POLICY, annotated=SILENT).suggestion is None
    )
    assert (
        collect_reply_evidence('The policy does not say, under "Winter records".', POLICY, annotated=SILENT).suggestion
        is None
    )
    assert collect_reply_evidence("The policy does not say. 1.1 does.", POLICY, annotated=SILENT).suggestion is None
    assert (
        collect_reply_evidence("The policy does not say. Reference: None", POLICY, annotated=SILENT).suggestion == 1.0
    )


def test_annotated_targets() -> None:
    """An annotated answer's sections lead to passages: of the document, or of the segmentation it refers to."""
    document = Document("parted", POLICY.text, About(company="Hedgehog", part_sets={"halves": (0, HALF)}))
    annotated = AnnotatedAnswer(silent="no", answer="So.", sections=("Part 2", "1.1", "Part 8", "Section 77"))
    winter = document.sections[2]
    assert locate_annotated_sections(annotated, document, "halves") == (
        ("the annotators' Part 2", (HALF, len(document.text))),
        ("1.1", (winter.start, winter.end)),
        ("Part 8", None),
        ("Section 77", None),
    )
    found = collect_reply_evidence(
        "(Part 2)", document, part_spans_given=PARTS, annotated=annotated, annotated_part_set="halves"
    )
    assert [reference.expected for reference in found.references] == [(0,)]


def test_nothing_in_nothing() -> None:
    """An empty answer has no evidence."""
    found = collect_reply_evidence("", POLICY, part_spans_given=PARTS, annotated=WINTER)
    assert (found.references, found.quotations, found.silence.phrases, found.suggestion) == ((), (), (), None)


@pytest.mark.parametrize("repeated", ["[", "... "])
def test_a_reply_that_repeats_itself_takes_no_hours(repeated: str) -> None:
    """A model that goes on repeating a sign names no section, which is found in a moment."""
    found = collect_reply_evidence((repeated * 100_000)[:100_000], POLICY, annotated=WINTER)
    assert (found.references, found.quotations, found.points) == ((), (), False)
