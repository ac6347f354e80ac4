"""Section numbers: 4.2, IV.B, 12a, "Article 12", as headings and citations write them."""

from __future__ import annotations

import re
from itertools import pairwise

WORD = (
    r"(?i:§{1,2}|(?:Chapter|Part|Title|Book|Division|Section|Sect?|Article|Art|Clause|Schedule|Annex|Appendix)s?\b\.?)"
)
_SHORT = {"sec": "Section", "sect": "Section", "art": "Article"}
ROMAN = r"(?=[IVXLC])(?:X[LC]|L?X{0,3})(?:I[XV]|V?I{0,3})"
# Behind such a word: 12, 4.2, 12a, IV, IV.B, B, B.2.
NUMBER = rf"(?:\d+[a-z]?|{ROMAN}|[A-Z])(?:\.(?:\d+|[A-Z]))*(?!\w)"
GAP = 2
"""Largest step between neighbours of an outline: a heading in between may be lost."""


def split_number(heading: str) -> tuple[str, str]:
    """Split "4.2 Title" into "4.2" and "Title", "Article 12: Title" into "Article 12" and "Title"; "" for no number."""
    worded = re.match(rf"({WORD})\s*({NUMBER})(?:\.(?=\s|$)|\s*[:\u2013—-])?\s*", heading)
    counted = re.match(
        rf"(\d+(?:\.\d+)+|\d+(?=[.):\s])|(?:{ROMAN}|[A-Z])(?=[.)]))[.):]*(?:\s+[\u2013—-])?\s+(?=\S)", heading
    )
    if worded:
        return cite(worded.group(1), worded.group(2)), strip_act(heading[worded.end() :])
    # A year at the beginning counts nothing.
    if counted and not re.match(r"(?:19|20)\d\d\s", heading):
        return counted.group(1), heading[counted.end() :]
    return "", heading


def cite(word: str, number: str) -> str:
    """Cite `Art.` and `5` as "Article 5"; a section by its number alone."""
    stem = word.rstrip(".").lower().removesuffix("s")
    name = "Section" if word.startswith("§") else _SHORT.get(stem, stem.capitalize())
    return number if name == "Section" else f"{name} {number}"


def strip_act(title: str) -> str:
    """Remove the name of an act that is glued to a title ("GDPRSubject-matter")."""
    return re.sub(r"^(?:[A-Z]{3,}(?=[A-Z][a-z])|GDPR\s+(?:[\u2013—-]\s+)?)", "", title)


def as_numbers(number: str) -> tuple[int, ...]:
    """Make a number comparable: "4.2" is (4, 2), "IV.B" is (4, 2), "12a" is (12, 1)."""
    return tuple(
        int(part) if part.isdigit() else (not place and from_roman(part)) or ord(part.upper()[0]) - ord("A") + 1
        for place, part in enumerate(re.findall(r"\d+|[A-Z]+|[a-z]", number))
    )


def from_roman(number: str) -> int:
    """Value of a Roman number up to 89; 0 for anything else."""
    if not re.fullmatch(ROMAN, number):
        return 0
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def follows(earlier: tuple[int, ...], later: tuple[int, ...]) -> bool:
    """Whether an outline can go on from one number to the other: 4.2 to 4.3, 4.2.1, 5 or 5.1, but not to 13."""
    if later <= earlier:
        return False
    same = next((i for i, (a, b) in enumerate(zip(earlier, later, strict=False)) if a != b), len(earlier))
    step = later[same] - (earlier[same] if same < len(earlier) else 0)
    return step <= GAP and all(number <= GAP for number in later[same + 1 :])
