"""Recognise the sections of a document from its headings and numbering."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A section: `start` to `end` are characters of the document, from its heading to the next one of any level.

    `number` is how the document counts it ("4.2", "III.B", "Article 12", "1798.105"), empty if it doesn't; `level` is
    1 for the outermost.
    """

    number: str
    title: str
    level: int
    start: int
    end: int

    @property
    def label(self) -> str:
        """How one would cite it: "Section 4.2", "Article 12", or the title of an unnumbered section."""
        if not self.number:
            return self.title
        return self.number if self.number[0].isalpha() and " " in self.number else f"Section {self.number}"


def find_sections(text: str) -> tuple[Section, ...]:
    """The sections of a text in order; empty where nothing looks like a heading."""
    return ()
