"""Readability statistics (paper, section 6, table 1): of a document, and their distribution over many by group."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from genaipa.policies.corpus import group_of
from genaipa.policies.document import is_english

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.policies.document import Document


# The paper's reading time: a word is five characters, and a person reads 265 words in a minute.
CHARACTERS_PER_MINUTE = 5 * 265
CONNECTIVE = "and"


@dataclass(frozen=True)
class Statistics:
    """Counts of a text without its Markdown markers.

    `unique_words` and `connective_words` are shares of the words (0 to 1), `reading_time` is in whole minutes, and
    `grade` is the Flesch-Kincaid grade level: the years of school in the United States that reading it takes. Grade and
    connective words are None for a text that is not `english`.
    """

    characters: int
    words: int
    sentences: int
    unique_words: float
    reading_time: int
    grade: float | None
    connective_words: float | None
    english: bool = True


def measure(text: str, language: str = "") -> Statistics:
    """Compute the statistics of a text in a language, by default found from it; all zero if it has no word.

    A word is split at blanks, in lower case and without the punctuation around it. The grade is
    0.39 * words / sentences + 11.8 * syllables / words - 15.59, with the syllables of `syllables`. Over the five
    policies of the paper these agree with the CMU pronouncing dictionary on 99 % of the words, while
    counting the places where a word may be hyphenated, as several libraries do, finds 0.1 fewer, which is a grade
    lower. The grades printed in the paper are lower by 1.8 to 2.7 than the ones computed here, and its article doesn't
    say how they were counted. No combination of rules that was tried gives all five; sentences that end at ":" and
    ";", too, bring these here down by 1.2 to 2.0. Compare grades only with grades counted in the same way.
    """
    blocks = _blocks(text)
    words = [word for block in blocks for word in _words(block)]
    if not words:
        return Statistics(0, 0, 0, 0.0, 0, 0.0, 0.0)
    sentences = [sentence for block in blocks for sentence in _SENTENCE_END.split(block) if _words(sentence)]
    characters = sum(len(block) for block in blocks) + len(blocks) - 1
    spoken = sum(often * syllables(word) for word, often in Counter(words).items())
    english = is_english(text, language)
    return Statistics(
        characters=characters,
        words=len(words),
        sentences=len(sentences),
        unique_words=len(set(words)) / len(words),
        reading_time=math.ceil(characters / CHARACTERS_PER_MINUTE),
        grade=0.39 * len(words) / len(sentences) + 11.8 * spoken / len(words) - 15.59 if english else None,
        connective_words=words.count(CONNECTIVE) / len(words) if english else None,
        english=english,
    )


# End in a full stop that doesn't end a sentence.
_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "Inc.", "Ltd.", "Corp.", "Art.", "Sec.", "No.", "U.S.", "U.K.", "B.V.")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])" + "".join(rf"(?<!\b{re.escape(short)})" for short in _ABBREVIATIONS) + r"[\"'”\u2019)\]]*\s+"
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# CommonMark (sections.py) would drop list numbers and indentation, and change the counts of plain text. Line starts:
# headings, quotations, list items, rows of a table.
_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•]\s+|\|)", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_RULE = re.compile(r"^[\s|:=*_-]+$", re.MULTILINE)


def _blocks(text: str) -> list[str]:
    """Split into headings, paragraphs, list items and rows, without markers; no sentence crosses them."""
    plain = _RULE.sub("", _LINK.sub(r"\1", text.replace("\r\n", "\n")))
    plain = re.sub(r"^(\s*#{1,6}\s.*)$", r"\1\n", plain, flags=re.MULTILINE)
    plain = _EMPHASIS.sub("", _MARKER.sub("\n", plain)).replace("|", " ")
    return [stripped for block in re.split(r"\n\s*\n", plain) if (stripped := block.strip())]


def _words(text: str) -> list[str]:
    found = (word if word.isalnum() else _EDGES.sub("", word) for word in text.lower().split())
    return [word for word in found if word]


_SILENT = [
    r"(?<=[^aeiouy])e(?=(?:ments?|ful|less|ness|ly|ty|guards?|where|how)(?:$|al|s))",  # statement, safely, safeguard
    r"(?<=som)e(?=\w)|(?<=guid)e(?=l)|(?<=hous)e(?=h)|(?<=fac)e(?=b)|(?<=bus)i(?=ness)",  # something, guideline, …
    r"(?<=[^tdl])ed$|(?<=[aeiouyl]l)ed$",  # used, filled; but wanted, handled
    r"(?<=[^lcgszx])(?<![cs]h)es$|(?<=[aeiouyl]l)es$",  # stores, rules; but pages, tables
    r"(?<=[^aeiouyl])e$|(?<=[aeiouyl]l)e$|(?<=q)ue$|(?<=u)e$",  # use, while, unique; but table
]
_SPLIT = [
    r"i(?=a)(?<![cgst]i)",  # social has two, media three
    r"(?<=[^aeiouyt][cst])i(?=at)|(?<=[aeiouy]c)i(?=at)",  # associate
    r"i(?=en[ct])(?<![cgst]i)|(?<=[cp])i(?=ent$|ents$)(?<=pi)",  # client, experience
    r"(?<=[^cgstln])i(?=o)|i(?=u)|y(?=ing|i)",  # period, medium, complying
    r"e(?=o(?!p|us))|(?<=cr)e(?=at)|e(?=ing)|u(?=[ai]t|al|ou)(?<![qg]u)",  # video, create, being, actual
]


def syllables(word: str) -> int:
    """Count the syllables of an English word from its spelling.

    Each group of vowels is one; a silent e is none, and some adjacent vowels are two. A part joined by a
    hyphen counts on its own, and a word without letters (a number) as one syllable.
    """
    return max(
        1, sum(_syllables(part) for part in re.findall(r"[a-z]+", word.lower().replace("'", "").replace("\u2019", "")))
    )


@lru_cache(maxsize=50_000)  # a text says most of its words many times
def _syllables(part: str) -> int:
    spoken = part
    for silent in _SILENT:
        spoken = re.sub(silent, "", spoken)
    groups = len(re.findall(r"[aeiouy]+", spoken))
    return max(1, groups + sum(len(re.findall(split, part)) for split in _SPLIT))


MEASURES = ("words", "sections", "unique_words", "reading_time", "grade", "connective_words")
"""The columns of table 1, in its units: shares are 0 to 1, reading time is in minutes."""


class Quartiles(NamedTuple):
    """The distribution of a measure over documents: a quarter is below `lower`, a quarter above `upper`."""

    least: float
    lower: float
    median: float
    upper: float
    most: float


class DocumentGroup(NamedTuple):
    """A group of documents, how many they are, and the distribution of each measure."""

    name: str
    documents: int
    spreads: dict[str, Quartiles]


def measured(document: Document) -> tuple[float, ...]:
    """The statistics of one document, in the order of `MEASURES`; NaN for measures that only English has."""
    found = measure(document.text, document.about.language)
    return (
        found.words,
        len(document.sections),
        found.unique_words,
        found.reading_time,
        math.nan if found.grade is None else found.grade,
        math.nan if found.connective_words is None else found.connective_words,
    )


def distributions(documents: Iterable[Document], by: str = "") -> list[DocumentGroup]:
    """Measure documents in a stream, 48 bytes kept of each; the groups of the column `by`, by name, or all as one."""
    found: dict[str, list[array[float]]] = {}
    for document in documents:
        columns = found.setdefault(group_of(document, by), [array("d") for _ in MEASURES])
        for column, value in zip(columns, measured(document), strict=True):
            column.append(value)
    return [DocumentGroup(name, len(found[name][0]), dict(_spreads(found[name]))) for name in sorted(found)]


def _spreads(columns: list[array[float]]) -> Iterator[tuple[str, Quartiles]]:
    import numpy as np

    for name, column in zip(MEASURES, columns, strict=True):
        known = np.frombuffer(column)[~np.isnan(np.frombuffer(column))]
        if known.size:
            yield name, Quartiles(*map(float, np.quantile(known, (0, 0.25, 0.5, 0.75, 1))))
