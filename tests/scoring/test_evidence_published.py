"""Evidence on the published answers: which forms of reference are recognised, and that it agrees with what people read.

None of the published text is kept here: answers are named by their cells, passages by where they begin.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest
from evidence_cases import Published, published_answers
from size import FULL

from genaipa.policies.document import Document, load_document
from genaipa.scoring.evidence.examine import Evidence, collect_reply_evidence
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_N = r"\d+(?:\.\d+)*"
_QUOTED = r"[\"\u201c][^\"\u201d\n]{1,150}[\"\u201d]"

# Form → (pattern of what has to be covered by references, how often it occurs, how many of them are covered).
FORMS = {
    "Part 3": (r"\b[Pp]art ?\d+\b(?!\.\d|[A-Z])", 2312, 2312),
    "Parts 3 & 4": (r"\b[Pp]arts \d+(?: ?(?:,|and|&|-) ?\d+)*", 10, 10),
    "Part 2, Section 2.3": (rf"\bPart \d+,? [Ss]ections? {_N}", 356, 356),
    "Part 5, Section E": (r"\bPart \d+, Sections? [A-Z]\b", 87, 87),
    "Part 4.8": (r"\b[Pp]arts? \d+\.\d[\d.]*\b", 165, 165),
    "Part 1, 1.2.2": (r"\bPart \d+, \d+\.\d[\d.]*\b", 187, 187),
    "Part 5E": (r"\bPart \d+[A-Z]\b", 26, 26),
    "Part 5, E. Title": (r"Part \d+, (?:[IVX]+|[A-Z])\. [A-Z]\w+", 37, 37),
    'Part 3: "Title"': (rf"Part \d+[,:] {_QUOTED}", 136, 136),
    "Part 7: Title": (r"\bPart \d+: [A-Z]\w+[^\n.:()]{0,70}(?=\)|\n|$)", 146, 146),
    "(Part 1, Title)": (r"\bPart \d+, (?!Section)(?![IVX]+\.)[A-Z][a-z]\w+[^\n,()]{0,60}(?=\))", 32, 32),
    "Part 1 of the … policy, Section 1.1": (rf"Part \d+ of the [^,\n]{{5,40}}, Section {_N}", 24, 24),
    "[Part 3]": (r"(?<=\[)Part ?\d+(?=\])", 37, 37),
    "Section 3": (rf"\b[Ss]ection {_N}", 577, 577),
    'Section 3: "Title"': (rf"\bSection {_N}[,:] {_QUOTED}", 100, 100),
    "Section 3, paragraph 1": (r"\bSection \d+(?=, paragraph)", 10, 10),
    "https://…, Section 3": (r"(?<=/, )Section \d+", 22, 22),
    "(IV. Title": (r"(?<=\()[IVX]+\. [A-Z]\w+", 27, 27),
    "Section 5 of my summary": (rf"Section {_N}(?= of my summary)", 24, 24),
    "Part 1 summary": (r"Part \d+(?= [Ss]ummary)", 46, 46),
    "Part 3 of the summary": (r"Part \d+(?= of the summary)", 33, 33),
    "Summary, Part 3": (r"(?<=[Ss]ummary )[Pp]art \d+|(?<=[Ss]ummary, )[Pp]art \d+", 63, 63),
    "Summary Point 1": (r"Summary Point \d+", 15, 15),
    "Summary IV": (r"Summary [IVX]+\b", 8, 8),
    # An app's "Privacy" section is no section of the policy.
    'the "Title" section': (rf"{_QUOTED}(?= (?:sub)?sections?\b)", 76, 66),
    "the Title section": (r"(?<=\bthe )(?:[A-Z]\w+ )+(?=section\b)", 4, 4),
    # What names no section is not recognised.
    "(Summary)": (r"(?<=\()Summary(?=\))", 1, 0),
    "All four parts": (r"All four parts", 1, 0),
    "Reference: Summary, Title": (r"(?<=Reference: )Summary, (?![Pp]art)[A-Z]\w+", 6, 0),
    "https://…": (r"https?://\S+(?<!,)", 196, 0),
    "Reference: None": (r"(?<=Reference: )(?:No|None)\b", 31, 0),
}


class Read(NamedTuple):
    """What a person found in an answer: where the references to what exists begin, those to what doesn't, quotations.

    A reference that names an existing section but puts it in a wrong part exists.
    """

    book: str
    document: str
    cell: str
    there: str
    missing: str
    quoted: str


READ = (
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "airbnb", "D48", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "airbnb", "E17", "288 298", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "airbnb", "C33", "141", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "airbnb", "D87", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "airbnb", "C130", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "facebook", "D45", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "facebook", "C29", "0 9", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "facebook", "C33", "347", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "facebook", "E85", "", "176", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "facebook", "C136", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "spotify", "G8", "232", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "spotify", "C53", "275", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "spotify", "C33", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "spotify", "C87", "", "184", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "spotify", "C139", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "twitter", "C41", "397", "", "214"),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "twitter", "D30", "193", "", "114"),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "twitter", "C28", "193", "", "114"),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "twitter", "C93", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "twitter", "C126", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "uber", "C27", "340", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "uber", "C29", "198 213", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "uber", "D40", "173", "", ""),
    Read("ChatGPT-4/ChatGPT-4_user-generated.xlsx", "uber", "D87", "", "", ""),
    Read("ChatGPT-4/ChatGPT-4_FAQ.xlsx", "uber", "C116", "", "", ""),
    Read("Bard/Bard_FAQ.xlsx", "airbnb", "C26", "231", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "airbnb", "E29", "88 99", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "airbnb", "D41", "285", "116 190", ""),
    Read("Bard/Bard_FAQ.xlsx", "airbnb", "C75", "", "415 447 484", ""),
    Read("Bard/Bard_FAQ.xlsx", "airbnb", "C128", "", "655", ""),
    Read("Bard/Bard_FAQ.xlsx", "facebook", "C65", "", "", ""),
    Read("Bard/Bard_FAQ.xlsx", "facebook", "C53", "", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "facebook", "D9", "306 510", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "facebook", "E89", "", "113 161 215", ""),
    Read("Bard/Bard_FAQ.xlsx", "facebook", "C118", "", "311", ""),
    Read("Bard/Bard_user_generated.xlsx", "spotify", "C7", "376 488", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "spotify", "E41", "328 474 614", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "spotify", "C19", "244 444 662 878 991 1175 1184 1294", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "spotify", "E89", "", "217 323 407 508 630 777 905 1070", ""),
    Read("Bard/Bard_user_generated.xlsx", "spotify", "D67", "", "938 958", ""),
    Read("Bard/Bard_user_generated.xlsx", "twitter", "C44", "211", "", ""),
    Read("Bard/Bard_FAQ.xlsx", "twitter", "C50", "", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "twitter", "C19", "209", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "twitter", "C87", "148", "", ""),
    Read("Bard/Bard_FAQ.xlsx", "twitter", "C127", "", "238", ""),
    Read("Bard/Bard_user_generated.xlsx", "uber", "D52", "164", "", ""),
    Read("Bard/Bard_FAQ.xlsx", "uber", "C49", "336 356", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "uber", "C38", "183 240 362", "", ""),
    Read("Bard/Bard_user_generated.xlsx", "uber", "D89", "", "169 270 374", ""),
    Read("Bard/Bard_user_generated.xlsx", "uber", "C69", "", "", ""),
)


@pytest.fixture(scope="module")
def examined(pulled_cache: Path) -> Iterator[list[tuple[Published, Evidence]]]:
    """Every published answer with its evidence; in small, those that people read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENAIPA_CACHE", str(pulled_cache))
        workspace = find_workspace()
        documents = {
            name: load_document(name, workspace) for name in ("airbnb", "facebook", "spotify", "twitter", "uber")
        }
        read = {read[:3] for read in READ}
        yield [
            (answer, _evidence(answer, documents[answer.document]))
            for answer in published_answers()
            if FULL or (answer.book, answer.document, answer.cell) in read
        ]


def _evidence(answer: Published, document: Document) -> Evidence:
    starts = document.about.part_sets[answer.part_set] if answer.in_parts else ()
    parts = [document.part(answer.part_set, number) for number in range(1, len(starts) + 1)]
    return collect_reply_evidence(answer.text, document, part_spans_given=[part for part in parts if part])


@pytest.mark.full
def test_forms_of_reference(examined: list[tuple[Published, Evidence]]) -> None:
    """Every form of reference that occurs in the published answers is recognised as often as it was counted."""
    occur, recognised = Counter[str](), Counter[str]()
    for answer, evidence in examined:
        covered = {place for r in evidence.references for place in range(r.start, r.end)}
        for form, (pattern, _, _) in FORMS.items():
            for match in re.finditer(pattern, answer.text):
                named = [m.start() for m in re.finditer(r"[\dA-Z]", match.group())]
                occur[form] += 1
                recognised[form] += bool(named) and all(match.start() + place in covered for place in named)
    assert {form: (occur[form], recognised[form]) for form in FORMS} == {
        form: (total, good) for form, (_, total, good) in FORMS.items()
    }


@pytest.mark.full
def test_references_as_people_read_them(examined: list[tuple[Published, Evidence]]) -> None:
    """On fifty answers that were read by a person, all references are found, no others, and one is misjudged."""
    found = {(answer.book, answer.document, answer.cell): evidence for answer, evidence in examined}
    missed, surplus, misjudged = 0, 0, 0
    for read in READ:
        references = found[read[:3]].references
        marked = {int(place): True for place in read.there.split()} | {
            int(place): False for place in read.missing.split()
        }
        for place, exists in marked.items():
            hits = [reference for reference in references if reference.start <= place < reference.end]
            missed += not hits
            misjudged += bool(hits) and bool(hits[0].target) != exists
        surplus += sum(not any(r.start <= place < r.end for place in marked) for r in references)
    assert (missed, surplus) == (0, 0)
    assert misjudged <= 1


@pytest.mark.full
def test_quotations_as_people_read_them(examined: list[tuple[Published, Evidence]]) -> None:
    """On the same answers, every quotation is found, no other, and each in the document, as it is there."""
    found = {(answer.book, answer.document, answer.cell): evidence for answer, evidence in examined}
    for read in READ:
        quotations = found[read[:3]].quotations
        assert [str(quotation.start) for quotation in quotations] == read.quoted.split()
        assert all(quotation.target for quotation in quotations)
