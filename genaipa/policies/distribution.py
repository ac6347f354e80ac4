"""Distributions of the statistics of many documents (paper, table 1, for a corpus): in all, and by group."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, NamedTuple

from genaipa.policies.corpus_rows import group_of
from genaipa.policies.statistics import measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.policies.document import Document

MEASURES = ("words", "sections", "unique_words", "reading_time", "grade", "connective_words")
"""The columns of table 1, in its units: shares are 0 to 1, reading time is in minutes."""


class Spread(NamedTuple):
    """The distribution of a measure over documents: a quarter is below `lower`, a quarter above `upper`."""

    least: float
    lower: float
    median: float
    upper: float
    most: float


class Group(NamedTuple):
    """A group of documents, how many they are, and the distribution of each measure."""

    name: str
    documents: int
    spreads: dict[str, Spread]


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


def distributions(documents: Iterable[Document], by: str = "") -> list[Group]:
    """Measure documents in a stream, 48 bytes kept of each; the groups of the column `by`, by name, or all as one."""
    found: dict[str, list[array[float]]] = {}
    for document in documents:
        columns = found.setdefault(group_of(document, by), [array("d") for _ in MEASURES])
        for column, value in zip(columns, measured(document), strict=True):
            column.append(value)
    return [Group(name, len(found[name][0]), dict(_spreads(found[name]))) for name in sorted(found)]


def _spreads(columns: list[array[float]]) -> Iterator[tuple[str, Spread]]:
    import numpy as np

    for name, column in zip(MEASURES, columns, strict=True):
        known = np.frombuffer(column)[~np.isnan(np.frombuffer(column))]
        if known.size:
            yield name, Spread(*map(float, np.quantile(known, (0, 0.25, 0.5, 0.75, 1))))
