"""Join the lines of a PDF to paragraphs, and find its title."""

from __future__ import annotations

import re
from collections import Counter

HEADING = re.compile(
    r"(?i:Chapter|Part|Section|Article|Art\.|Annex|Appendix|§)\s*[\dIVXL]"
    r"|\d+(?:\.\d+)*[.)]?\s+[\"“(]?[A-Z]|(?:[IVXL]+|[A-Z])\.\s+[A-Z]"
)
_ITEM = re.compile(r"[-*•▪◦●\u2013—]\s|\(?(?:\d{1,2}|[a-z]|[ivx]+)[.)]\s")
_SHORT = 40  # characters that no full line has less of
_PAGE_NUMBER = re.compile(r"(?:page\s+)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_LONGEST_TITLE = 100  # characters
_FILE = re.compile(r"\.[A-Za-z]\w{1,4}$")


def paragraphs(pages: list[str]) -> str:
    """Join the lines of pages to paragraphs, without page numbers and running titles.

    A line continues the one before if that one is full, or if it begins in lower case.
    """
    lines = _without_furniture([[line.strip() for line in page.strip().split("\n")] for page in pages])
    lengths = sorted(len(line) for line in lines if line)
    # Most lines of running text are nearly as long as the longest ones.
    full = max(_SHORT, 0.75 * lengths[int(0.9 * (len(lengths) - 1))]) if lengths else _SHORT
    words = set(re.findall(r"\w+", " ".join(lines).lower()))
    found: list[str] = []
    last = ""
    for line in lines:
        if line and last and _goes_on(last, line, full):
            found[-1] = _joined(found[-1], line, words)
        elif line:
            found.append(line)
        last = line
    return "\n\n".join(found) + "\n" if found else ""


def _goes_on(last: str, line: str, full: float) -> bool:
    if _ITEM.match(line) or (HEADING.match(line) and not line.endswith((".", ",", ";")) and len(line) < full):
        return False
    ended = last.endswith((".", "!", "?", ":", ";"))
    heading = HEADING.match(last) is not None and len(last) < full and not ended
    if line[0].islower():
        return not heading or last.endswith(("-", ","))
    return len(last) >= full and not (ended and len(line) < full)


def _joined(before: str, line: str, words: set[str]) -> str:
    """Join two lines; a hyphenated word becomes one if the document has it so elsewhere."""
    broken = re.search(r"(\w+)[-\u00ad]$", before)
    if not broken or not line[0].islower():
        return f"{before} {line}"
    rest = re.match(r"\w+", line)
    whole = (broken.group(1) + rest.group()).lower() if rest else ""
    return (before[:-1] if before.endswith("\u00ad") or whole in words else before) + line


def _without_furniture(pages: list[list[str]]) -> list[str]:
    """Drop page numbers, and first and last lines that most pages share."""
    edges = Counter(_edge(line) for page in pages for line in {page[0], page[-1]} if line)
    often = max(3, len(pages) / 2)
    found: list[str] = []
    for page in pages:
        kept = list(page)
        for i in (-1, 0):
            if kept and (_PAGE_NUMBER.fullmatch(kept[i]) or edges[_edge(kept[i])] >= often):
                kept.pop(i)
        found += kept
    return found


def _edge(line: str) -> str:
    """A running title without the number of its page."""
    return re.sub(r"\d+", "0", line)


def pdf_title(stated: str, pages: list[str]) -> str:
    """Title in the metadata unless it is a file's name; else the first line, if it looks like a title."""
    stated = " ".join(stated.split())
    if stated and not re.match(r"untitled\b|Microsoft \w+ - ", stated, re.IGNORECASE) and not _FILE.search(stated):
        return stated
    first, second = ([line.strip() for page in pages for line in page.split("\n") if line.strip()] + ["", ""])[:2]
    looks_like_one = re.fullmatch(r"[A-Z][^\d]*[^\d.,:;!?-]", first) and len(first) <= _LONGEST_TITLE
    return first if looks_like_one and not HEADING.match(first) and not second[:1].islower() else ""
