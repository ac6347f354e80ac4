"""Numbered clauses: paragraphs inside a section that begin with a number of their own, as "2.2 Instructions."."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

from genaipa.policies.numbering import iterate_leading_number_readings, split_number_word_and_steps
from genaipa.policies.reading import read_markdown
from genaipa.policies.sections import Section

_LINE = re.compile(r"^[^\w\n]*(?=(?:\w{1,12}\s)?[(\u00a7\w]{1,8}[.\uff0e])", re.MULTILINE)
_TITLE_WORDS = 6


@lru_cache(maxsize=8)
def find_numbered_clauses(text: str, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Find the numbered clauses of a text that are no sections, each as a section of the level below.

    A clause's number has several steps, goes on from its section's if that has one, and comes once.
    """
    reading = read_markdown(text)
    starts = [section.start for section in sections]
    numbers = {split_number_word_and_steps(section.number)[1] for section in sections}
    clauses: list[Section] = []
    for line in _LINE.finditer(reading.text):
        first = next(iterate_leading_number_readings(reading.text[line.end() :].partition("\n")[0]), None)
        if first is None or first.word or not first.number[0].isdigit() or "." not in first.number:
            continue
        start = reading.source_span(line.end(), line.end() + 1)[0]
        index = bisect_right(starts, start) - 1
        number = split_number_word_and_steps(first.number)[1]
        if (
            index < 0
            or number in numbers
            or not _is_clause_number_in_section(sections[index], number)
            or not _begins_like_clause_text(first.rest)
        ):
            continue
        numbers.add(number)
        # Article 2.1, where the section is Article 2; a chapter's clauses are not called so.
        word = re.match(r"(?:Article|Clause) ", sections[index].number)
        level = sections[index].level + max(1, first.number.count(".") - sections[index].number.count("."))
        cited = f"{word[0] if word else ''}{first.number}"
        clauses.append(Section(cited, _clause_title(first.rest), level, start, sections[index].end))
    ends = [min(clause.end, following.start) for clause, following in pairwise(clauses)] + [
        clause.end for clause in clauses[-1:]
    ]
    return tuple(
        Section(clause.number, clause.title, clause.level, clause.start, end)
        for clause, end in zip(clauses, ends, strict=True)
    )


def _is_clause_number_in_section(section: Section, clause_steps: tuple[str, ...]) -> bool:
    """Tell whether a clause's number is beneath its section's; of a section without a number anything is."""
    above = split_number_word_and_steps(section.number)[1]
    return clause_steps[: len(above)] == above and len(clause_steps) > len(above)


def _begins_like_clause_text(text_after_number: str) -> bool:
    """Tell whether a clause's text follows its number: "2.5 million people" is none."""
    first = re.search(r"[^\W_]", text_after_number[:3])
    return first is not None and not (first[0].islower() or first[0].isdigit())


def _clause_title(clause_text: str) -> str:
    """Return the first words of a clause; its heading, if that is short and ends like a sentence."""
    heading = re.match(r"([^.:\n]{2,60})[.:](?:\s|$)", clause_text)
    if heading and len(heading[1].split()) <= _TITLE_WORDS:
        return heading[1]
    words = clause_text.split()
    return " ".join(words[:_TITLE_WORDS]) + (" …" if len(words) > _TITLE_WORDS else "")
