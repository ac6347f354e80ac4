"""Documents of our own on which evidence is tried, and the published answers where they are at hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.policies.document import About, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.scoring.evidence.resolution import ResolvedCitation

SHARED = Path(__file__).parents[2].parent / "shared"
BOOKS = {
    "ChatGPT-4/ChatGPT-4_FAQ.xlsx": "GPT-4",
    "ChatGPT-4/ChatGPT-4_user-generated.xlsx": "GPT-4",
    "Bard/Bard_FAQ.xlsx": "BingAI&Bard",
    "Bard/Bard_user_generated.xlsx": "BingAI&Bard",
}

POLICY = Document(
    "hedgehog",
    "# Hedgehog Privacy Policy\n\n"
    "## 1. What we collect\n\n"
    "We collect your burrow's address, your \u201csnack list\u201d and your children's names.\n\n"
    "### 1.1 Winter records\n\nDuring winter we keep nothing but the date on which you fell asleep.\n\n"
    "### 1.2 Summer records\n\nDuring summer we count beetles \u2014 and we never sell the count.\n\n"
    "## 2. Your choices\n\nYou may leave the hedge at any time, and we then forget the way to your burrow.\n\n"
    "## 3. Keeping it safe\n\nEvery burrow has a lock with two keys.\n",
    About(company="Hedgehog"),
)
"""With headings; `PARTS` are its two halves."""
HALF = POLICY.text.index("## 2.")
PARTS = ((0, HALF), (HALF, len(POLICY.text)))

LINE = Document(
    "mole",
    "Mole Policy This is how we dig. 1. Digging We dig where you ask. 1.1 Tools We use our paws and nothing else. "
    "1.2 Noise We dig by night.1.3 Neighbours We tell them first. "
    "2. Your data It is buried as you wish, see 1.2 above. "
    "2.1 Deleting it You may dig it up. 3. Contact us Knock twice.",
    About(company="Mole"),
)
"""One line, numbered inside."""

NOTICE = Document(
    "newt",
    "I. Overview\n\nThe newt's notice.\n\nII. Data collections\n\nWhat there is.\n\n"
    "A. What we see\n\nPonds and reeds.\n\n"
    "B. What we hear\n\nFrogs, at night.\n\nIII. Choice\n\nYou choose.\n\nA. Settings\n\nA switch for each pond.\n",
    About(company="Newt"),
)
"""Roman numbers, with letters beneath."""

LAW = Document(
    "pond-act",
    "# Pond Act\n\n## Chapter I General\n\n### Article 1 Scope\n\nAll ponds.\n\n"
    "### Article 2 Terms\n\nA pond is wet.\n\n"
    "## Chapter II Duties\n\n### Article 3 Care\n\n1. Owners care for their ponds.\n\n"
    "### Article 4 Fines\n\nTen reeds.\n",
    About(company="GDPR", kind="regulation"),
)


def shown(references: tuple[ResolvedCitation, ...]) -> list[tuple[str, str]]:
    """What each reference is in the reply and in the document."""
    return [(r.text, ", ".join(filter(None, (r.resolved, r.problem))) if r.target else "") for r in references]


@dataclass(frozen=True)
class Published:
    """An answer as published: in which cell, about which document, and whether the system had the document in parts."""

    book: str
    document: str
    cell: str
    text: str
    in_parts: bool

    @property
    def part_set(self) -> str:
        """The segmentation in which this system was given its documents."""
        return BOOKS[self.book]


def published_answers() -> Iterator[Published]:
    """Every answer of the published transcripts."""
    from openpyxl import load_workbook

    for book in BOOKS:
        sheets = load_workbook(SHARED / "data/genaipabench/Generated Answers" / book, read_only=True)
        for sheet in sheets:
            name = sheet.title.strip().lower().replace("airbnd", "airbnb")
            for row in sheet.iter_rows(min_row=5, max_row=145, min_col=3, max_col=7):
                for cell in row:
                    if isinstance(cell.value, str) and len(cell.value.strip()) > 25:
                        in_parts = _has_document(book, name, cell.coordinate)
                        yield Published(book, name, cell.coordinate, cell.value, in_parts)


def _has_document(book: str, document: str, cell: str) -> bool:
    """Whether a row stands in the blocks (original and robustness) whose questions follow on the document."""
    row = int(re.sub(r"\D", "", cell))
    if "FAQ" in book:
        return row < 75
    moved = book.startswith("ChatGPT") and document == "spotify" and cell[0] in "FG"
    return row < (50 if moved else 57)
