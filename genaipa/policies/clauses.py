"""Numbered clauses: paragraphs inside a section that begin with a number of their own, as "2.2 Instructions."."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

from genaipa.policies.numbering import beginnings, parsed
from genaipa.policies.reading import read
from genaipa.policies.sections import Section

_LINE = re.compile(r"^[^\w\n]*(?=(?:\w{1,12}\s)?[(\u00a7\w]{1,8}[.\uff0e])", re.MULTILINE)
_TITLE_WORDS = 6


@lru_cache(maxsize=8)
def find_clauses(text: str, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Find the numbered clauses of a text that are no sections, each as a section of the level below.

    A clause's number has several steps, goes on from its section's if that has one, and comes once.
    """
    reading = read(text)
    starts = [section.start for section in sections]
    known = {parsed(section.number)[1] for section in sections}
    found: list[Section] = []
    for line in _LINE.finditer(reading.text):
        first = next(beginnings(reading.text[line.end() :].partition("\n")[0]), None)
        if first is None or first.word or not first.number[0].isdigit() or "." not in first.number:
            continue
        start = reading.span(line.end(), line.end() + 1)[0]
        place = bisect_right(starts, start) - 1
        number = parsed(first.number)[1]
        if place < 0 or number in known or not _goes_on(sections[place], number) or not _begins(first.rest):
            continue
        known.add(number)
        # Article 2.1, where the section is Article 2; a chapter's clauses are not called so.
        word = re.match(r"(?:Article|Clause) ", sections[place].number)
        level = sections[place].level + max(1, first.number.count(".") - sections[place].number.count("."))
        cited = f"{word[0] if word else ''}{first.number}"
        found.append(Section(cited, _title(first.rest), level, start, sections[place].end))
    ends = [min(one.end, other.start) for one, other in pairwise(found)] + [one.end for one in found[-1:]]
    return tuple(
        Section(one.number, one.title, one.level, one.start, end) for one, end in zip(found, ends, strict=True)
    )


def _goes_on(section: Section, steps: tuple[str, ...]) -> bool:
    """Whether a clause's number is beneath its section's; of a section without a number anything is."""
    above = parsed(section.number)[1]
    return steps[: len(above)] == above and len(steps) > len(above)


def _begins(rest: str) -> bool:
    """Whether a clause's text follows its number: "2.5 million people" is none."""
    first = re.search(r"[^\W_]", rest[:3])
    return first is not None and not (first[0].islower() or first[0].isdigit())


def _title(rest: str) -> str:
    """The first words of a clause; its heading, if that is short and ends like a sentence."""
    headed = re.match(r"([^.:\n]{2,60})[.:](?:\s|$)", rest)
    if headed and len(headed[1].split()) <= _TITLE_WORDS:
        return headed[1]
    words = rest.split()
    return " ".join(words[:_TITLE_WORDS]) + (" …" if len(words) > _TITLE_WORDS else "")
