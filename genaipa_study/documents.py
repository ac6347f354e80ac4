"""The published policies and regulations as documents, with both published segmentations of each policy."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from genaipa.errors import DataError
from genaipa.files.strict_yaml import read_text
from genaipa.policies.document import About
from genaipa_study.files import LICENSE, Tree, source_url

if TYPE_CHECKING:
    from genaipa.policies.document import DocumentKind

PART_SETS = ("GPT-4", "BingAI&Bard")


@dataclass(frozen=True)
class Published:
    """One of the seven documents, with its date where its text states one."""

    company: str
    title: str
    kind: DocumentKind = "policy"
    date: str = ""

    @property
    def path(self) -> str:
        """The file of its text in the repository."""
        folder = "Privacy Policy" if self.kind == "policy" else "Regulations"
        return f"Privacy Documents/{folder}/{self.company}_document.txt"


DOCUMENTS: dict[str, Published] = {
    "uber": Published("Uber", "Uber Privacy Notice", date="2023-04-05"),
    "spotify": Published("Spotify", "Spotify Privacy Policy"),
    "airbnb": Published("Airbnb", "Airbnb Privacy Policy"),
    "facebook": Published("Facebook", "Facebook Data Policy", date="2022-01-04"),
    "twitter": Published("Twitter", "Twitter Privacy Policy"),
    "gdpr": Published("GDPR", "General Data Protection Regulation", kind="regulation"),
    "ccpa": Published("CCPA", "California Consumer Privacy Act of 2018", kind="regulation"),
}

# "Part 3:" at the head of a segment; one segment has none, one lacks the colon.
_HEADER = re.compile(r"\s*Part\s*\d+\s*:?")
_WINDOW = 40
"""Characters (white space aside) that place a segment which differs from the document."""


def document_text(tree: Tree, name: str) -> str:
    """The text as published, with the line ends that genaipa uses."""
    return read_text(tree.folder / DOCUMENTS[name].path).replace("\r\n", "\n")


def convert_document(tree: Tree, name: str) -> tuple[str, About, list[str]]:
    """The text, its metadata, and sentences about segments that differ from it."""
    published, text = DOCUMENTS[name], document_text(tree, name)
    part_sets, notes = {}, []
    for part_set in PART_SETS:
        segments = _segments(tree, name, part_set)
        if segments:
            part_sets[part_set], inexact = locate(text, segments, f"{name}, {part_set}")
            notes += inexact
    about = About(
        company=published.company,
        kind=published.kind,
        title=published.title,
        source=source_url(published.path),
        date=published.date,
        license=LICENSE,
        extraction="text as published by GenAIPABench; only line ends were changed",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        part_sets=part_sets,
    )
    return text, about, notes


def locate(text: str, segments: list[str], where: str) -> tuple[tuple[int, ...], list[str]]:
    """The offsets at which the segments begin in the text, found in order and up to white space.

    A segment that the text doesn't hold word for word is placed by its first words that it does hold, and a sentence
    about it is returned beside the offsets; a DataError if there are no such words.
    """
    places = [place for place, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text.split())
    offsets, notes, after = [], [], 0
    for number, segment in enumerate(segments, start=1):
        sought = "".join(segment.split())
        start = squeezed.find(sought, after)
        if start >= 0:
            after = start + len(sought)
        else:
            start, after = _nearest(squeezed, sought, after, f"{where}, Part {number}")
            notes.append(f"{where}, Part {number}: differs from the document; placed by the first words that agree.")
        offsets.append(places[start])
    return tuple(offsets), notes


def _nearest(squeezed: str, sought: str, after: int, where: str) -> tuple[int, int]:
    """Start of a segment, and where to look for the next, by its first characters found in the text."""
    for skipped in range(max(1, len(sought) - _WINDOW + 1)):
        found = squeezed.find(sought[skipped : skipped + _WINDOW], after)
        if found >= 0:
            return max(found - skipped, after), found + 1
    raise DataError(where, "the segment is not in its document.")


def _segments(tree: Tree, name: str, part_set: str) -> list[str]:
    """The texts of a published segmentation in order, without their headers."""
    folder = f"Privacy Documents/Privacy Policy Segments/{part_set}/{name}-policy-text-segments/"
    numbered = {}
    for path in tree.blobs:
        number = re.search(r"\d+", PurePosixPath(path).stem)
        if path.startswith(folder) and number:
            numbered[int(number.group())] = _HEADER.sub("", read_text(tree.folder / path), count=1)
    return [numbered[number] for number in sorted(numbered)]
