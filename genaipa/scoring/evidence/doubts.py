"""Say why an annotated answer seems to rest on another part of its document than it names.

Held against each other are phrases: runs of three words of which two at least mean something.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.scoring.evidence.examine import locate_annotated_sections
from genaipa.scoring.evidence.section_finder import find_outline
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer

Span = tuple[int, int]

_PHRASE = 3
_FITS = 3
"""Factor by which another part has to hold more of an annotated answer's phrases than the part that it cites."""
_PHRASES = 6
"""That the other part has to hold at least."""
_PART = re.compile(r"Part (\d+)")
_CITED = re.compile(r"\bP(?:art\s*)?\d+\b")

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and or in for on with is are be by as that this it its their they them you your we our us from "
        "at not any may can will has have such which if when other also more how who what do does about all",
    )
)
"""English words that say nothing about what a text is about."""


def describe_likely_wrong_cited_section(annotated: AnnotatedAnswer, document: Document, part_set: str) -> str:
    """Say where an annotated answer names a part that there is not, or shares far more with another; else ""."""
    parts = document.parts(part_set)
    numbers = [int(match[1]) for label in annotated.sections if (match := _PART.fullmatch(label))] if parts else []
    missing = [number for number in numbers if not 1 <= number <= len(parts)]
    if missing:
        return f"It cites Part {missing[0]}, but the document has only {format_count(len(parts), 'part')}."
    cited = [span for _, span in locate_annotated_sections(annotated, document, part_set) if span]
    if not cited:
        return ""
    alternatives = [(f"Part {number}", span) for number, span in enumerate(parts, start=1)] if numbers else []
    alternatives = alternatives or _list_sections_not_beneath_cited(document, cited)
    phrases = find_meaningful_three_word_phrases(_CITED.sub("", annotated.answer), document.language)
    within = (find_meaningful_three_word_phrases(document.text[slice(*span)], document.language) for span in cited)
    cited_count = max(len(phrases & held) for held in within)
    shared = {
        label: len(phrases & find_meaningful_three_word_phrases(document.text[slice(*span)], document.language))
        for label, span in alternatives
        if not any(span[0] < end and start < span[1] for start, end in cited)
    }
    best = max(shared, key=shared.__getitem__, default="")
    if not best or shared[best] < _PHRASES or shared[best] <= _FITS * cited_count:
        return ""
    return (
        f"It cites {join_names(annotated.sections)}, with which it shares {format_count(cited_count, 'phrase')} of "
        f"{_PHRASE} words; it shares {shared[best]} with {best}."
    )


def _list_sections_not_beneath_cited(document: Document, cited_spans: Sequence[Span]) -> list[tuple[str, Span]]:
    """List the sections of a document beside these passages and what is beneath them, with their labels."""
    sections = find_outline(document)
    above = {section.number for section in sections if (section.start, section.end) in cited_spans and section.number}
    return [
        (section.label, (section.start, section.end))
        for section in sections
        if not any(section.number.startswith(f"{number}.") for number in above)
    ]


@lru_cache(maxsize=512)
def find_meaningful_three_word_phrases(text: str, language: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of three words in which at least two mean something."""
    document_language = LANGUAGES.get(language, ENGLISH)
    empty = FUNCTION_WORDS if document_language is ENGLISH else document_language.function_words
    words = re.findall(r"[^\W_]+", text.lower())
    runs = (tuple(words[start : start + _PHRASE]) for start in range(len(words) - _PHRASE + 1))
    return frozenset(run for run in runs if sum(word not in empty for word in run) > 1)
