"""Readability statistics (paper, section 6, table 1): of a document, and their distribution over many by group."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from genaipa.languages.catalog import ENGLISH, LANGUAGES, detect_language_code_or_empty, is_mark_end_of_sentence
from genaipa.languages.language import ENDS, NEVER, STOPS, UNSPACED
from genaipa.policies.corpus import document_group_or_empty
from genaipa.policies.reading import read_markdown
from genaipa.policies.search import is_in_script_without_blanks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.languages.language import Language, Readability
    from genaipa.policies.document import Document


# The paper's reading time: a word is five characters, and a person reads 265 words in a minute.
CHARACTERS_PER_MINUTE = 5 * 265


@dataclass(frozen=True)
class TextStatistics:
    """Counts of a text without its Markdown markers.

    `unique_words` and `connective_words` are shares of the words (0 to 1), `reading_time` is in whole minutes, and
    `grade` is the Flesch-Kincaid grade level: the years of school in the United States that reading it takes. `ease`,
    of a text in a language that has a formula of it, is from about 0 (hard) to 100. What the rules of a text's
    `language` (its code) don't give is None.
    """

    characters: int
    words: int
    sentences: int
    unique_words: float
    reading_time: int
    grade: float | None
    connective_words: float | None
    ease: float | None = None
    language: str = ENGLISH.code


def measure_text(text: str, stated_language: str = "") -> TextStatistics:
    """Compute the statistics of a text in a language, by default found from it; all zero if it has no word.

    A word is split at blanks, in lower case and without the punctuation around it; in a script without blanks each
    character is one. An English grade is 0.39 * words / sentences + 11.8 * syllables / words - 15.59, with the
    syllables of `languages/en.py`. Over the five
    policies of the paper these agree with the CMU pronouncing dictionary on 99 % of the words, while
    counting the places where a word may be hyphenated, as several libraries do, finds 0.1 fewer, which is a grade
    lower. The grades printed in the paper are lower by 1.8 to 2.7 than the ones computed here, and its article doesn't
    say how they were counted. No combination of rules that was tried gives all five; sentences that end at ":" and
    ";", too, bring these here down by 1.2 to 2.0. Compare grades only with grades counted in the same way.
    """
    blocks, unspaced = _split_blocks(text), is_in_script_without_blanks(text)
    characters = sum(len(block) for block in blocks) + len(blocks) - 1
    if unspaced:
        blocks = [_UNSPACED.sub(r" \1 ", block) for block in blocks]
    words = [word for block in blocks for word in _split_words(block)]
    if not words:
        return TextStatistics(0, 0, 0, 0.0, 0, 0.0, 0.0)
    code = detect_language_code_or_empty(text, stated_language)
    rules = LANGUAGES.get(code)
    formula = rules.readability if rules else None
    sentences = [sentence for block in blocks for sentence in _split_sentences(block, rules) if _split_words(sentence)]
    score = _readability_score(formula, words, len(sentences)) if formula else None
    return TextStatistics(
        characters=characters,
        words=len(words),
        sentences=len(sentences),
        unique_words=len(set(words)) / len(words),
        reading_time=math.ceil((5 * len(words) if unspaced else characters) / CHARACTERS_PER_MINUTE),
        grade=score if formula and formula.grades else None,
        connective_words=words.count(formula.connective) / len(words) if formula else None,
        ease=None if formula and formula.grades else score,
        language=code,
    )


def _readability_score(formula: Readability, words: list[str], sentence_count: int) -> float:
    syllables = sum(count * formula.syllables(word) for word, count in Counter(words).items())
    return formula.sentence * len(words) / sentence_count + formula.syllable * syllables / len(words) + formula.base


_SENTENCE_END = re.compile(rf"(?<=[{ENDS}])[\"'”\u2019)\]]*\s+|(?<=[{STOPS}])[\u201d\u300d\u300f\uff09]*\s*")


def _split_sentences(block: str, language: Language | None) -> Iterator[str]:
    """Yield the sentences of a block; the full stop of an abbreviation ends none."""
    formula = language.readability if language else None
    short = (formula and formula.abbreviations) or (language and language.abbreviations) or NEVER
    start = 0
    for end in _SENTENCE_END.finditer(block):
        if not is_mark_end_of_sentence(block, end.start() - 1, short, language):
            continue
        yield block[start : end.start()]
        start = end.end()
    yield block[start:]


# Line starts: headings, quotations, list items, rows of a table.
_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•]\s+|\|)", re.MULTILINE)
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_RULE = re.compile(r"^[\s|:=*_-]+$", re.MULTILINE)


def _split_blocks(text: str) -> list[str]:
    """Split into headings, paragraphs, list items and rows, without markers; no sentence crosses them."""
    plain = _RULE.sub("", read_markdown(text.replace("\r\n", "\n")).text)
    plain = re.sub(r"^(\s*#{1,6}\s.*)$", r"\1\n", plain, flags=re.MULTILINE)
    plain = _MARKER.sub("\n", plain).replace("|", " ")
    return [stripped for block in re.split(r"\n\s*\n", plain) if (stripped := block.strip())]


_UNSPACED = re.compile(rf"([{UNSPACED}])")


def _split_words(text: str) -> list[str]:
    words = (word if word.isalnum() else _EDGES.sub("", word) for word in text.lower().split())
    return [word for word in words if word]


MEASURES = ("words", "sections", "unique_words", "reading_time", "grade", "ease", "connective_words")
"""The columns of table 1, in its units (shares are 0 to 1, reading time is in minutes), and reading ease."""


_OF_ONE = ("ease", "connective_words")
"""Measures that are shown of documents in one language alone."""


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
    quartiles: dict[str, Quartiles]


def measure_document(document: Document) -> tuple[float, ...]:
    """Measure a document in the order of `MEASURES`; NaN for measures that its language lacks."""
    statistics = measure_text(document.text, document.about.language)
    return (
        statistics.words,
        len(document.sections),
        statistics.unique_words,
        statistics.reading_time,
        math.nan if statistics.grade is None else statistics.grade,
        math.nan if statistics.ease is None else statistics.ease,
        math.nan if statistics.connective_words is None else statistics.connective_words,
    )


def measure_distributions_by_group(documents: Iterable[Document], group_column: str = "") -> list[DocumentGroup]:
    """Measure documents in a stream, 56 bytes kept of each.

    The groups of the column `group_column`, by name, or all as one.

    A group of several languages has no reading level: these are not to be compared between languages.
    """
    columns_by_group: dict[str, list[array[float]]] = {}
    languages: dict[str, set[str]] = {}
    for document in documents:
        name = document_group_or_empty(document, group_column)
        columns = columns_by_group.setdefault(name, [array("d") for _ in MEASURES])
        languages.setdefault(name, set()).add(document.language)
        for column, value in zip(columns, measure_document(document), strict=True):
            column.append(value)
    return [
        DocumentGroup(
            name,
            len(columns_by_group[name][0]),
            dict(_iterate_measure_quartiles(columns_by_group[name], several_languages=len(languages[name]) > 1)),
        )
        for name in sorted(columns_by_group)
    ]


def _iterate_measure_quartiles(
    measure_columns: list[array[float]], *, several_languages: bool
) -> Iterator[tuple[str, Quartiles]]:
    import numpy as np

    for name, column in zip(MEASURES, measure_columns, strict=True):
        values = np.frombuffer(column)[~np.isnan(np.frombuffer(column))]
        if values.size and not (several_languages and name in _OF_ONE):
            yield name, Quartiles(*map(float, np.quantile(values, (0, 0.25, 0.5, 0.75, 1))))
