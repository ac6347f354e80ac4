"""Find the section of a document that a citation names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.policies.numbering import NUMBER, WORD, cite, from_roman, split_number

if TYPE_CHECKING:
    from genaipa.policies.sections import Section


def resolve(sections: tuple[Section, ...], label: str) -> Section | None:
    """Find the section that a citation names; None without any.

    A citation is a number with or without its word ("4.2", "§ 4.2", "Sec. IV.B", "Art. 12(3)"), or a title. A
    subdivision that is no section of its own means the section it is in; of several ("Chapter III, Section 2") the
    innermost is meant.
    """
    wanted = " ".join(label.split()).strip(" .,;:\"'\u201c\u201d\u2018\u2019[]*")
    called = re.sub(
        r"^(?:the )?(?:(?:section|chapter|part|article) (?:on |titled |called )?)?", "", wanted, flags=re.IGNORECASE
    )
    called = re.sub(r" (?:section|chapter|part|article)$", "", called, flags=re.IGNORECASE)
    titled = _titled(sections, wanted) or _titled(sections, called)
    if titled:
        return titled
    cited = _cited(wanted)
    found = [hits for number in cited if (hits := _numbered(sections, number))]
    if found:
        # Where numbering begins anew in each chapter, the chapter that is named beside it decides.
        begin = max((hits[0].start for hits in found if len(hits) == 1), default=0)
        named = [next((hit for hit in hits if hit.start >= begin), hits[0]) for hits in found]
        return max(named, key=lambda section: section.level)
    # "C. Cookies" is cited by its title; "5. Cookies" names a section that isn't there.
    lettered = all(re.fullmatch(r"[A-Z]", number) for number in cited)
    return _titled(sections, split_number(wanted)[1]) if cited and lettered else None


def _titled(sections: tuple[Section, ...], title: str) -> Section | None:
    wanted = title.strip(" \"'\u201c\u201d\u2018\u2019").casefold()
    same = (section for section in sections if wanted in (section.title.casefold(), section.label.casefold()))
    return next(same, None) if wanted else None


def _cited(wanted: str) -> list[str]:
    """Read the numbers of a citation, with their words; one without a word only at the beginning."""
    worded = [cite(*match.groups()) for match in re.finditer(rf"(?<!\w)({WORD})\s*({NUMBER})", wanted)]
    bare = re.match(rf"({NUMBER})(?=$|[.,:()]|\s[A-Z(\u2013—-])(?![A-Z]\s)", wanted)
    return worded or ([bare.group(1)] if bare else [])


def _numbered(sections: tuple[Section, ...], cited: str) -> list[Section]:
    """Find sections by number; else the one above, if that has no subsections."""
    wanted = _parsed(cited)
    numbers = [_parsed(section.number) for section in sections]
    words = {wanted[0]}
    if wanted[0] in _ALIKE and not any(word == wanted[0] for word, number in numbers if number):
        words = _ALIKE
    there = [(section, number) for section, (word, number) in zip(sections, numbers, strict=True) if word in words]
    hits = [section for section, number in there if number == wanted[1]]
    above = wanted[1][:-1]
    if hits or not above or any(number[:-1] == above for _, number in there):
        return hits
    return _numbered(sections, cited.rpartition(".")[0])


# What one document calls a section, an answer may call an article; a chapter is never meant by it.
_ALIKE = {"", "Article", "Clause"}


def _parsed(number: str) -> tuple[str, tuple[str, ...]]:
    """Split a number into word and steps, Roman ones made Arabic: "Chapter II" is ("Chapter", ("2",))."""
    word, _, counted = number.rpartition(" ")
    first, *rest = counted.split(".")
    return word, (str(from_roman(first) or first), *rest) if first else ()
