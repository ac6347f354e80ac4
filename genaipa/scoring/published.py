"""Scores that a study published as a table, without its analysts' single scores: `published-scores.csv` of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa.files.csv_records import as_csv, read_csv
from genaipa.runs.experiments import StudyExperiment

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from genaipa.runs.folder import RunFolder

PUBLISHED_SCORES = "published-scores.csv"


Average = Annotated[float, msgspec.Meta(ge=-1, le=1)]
Overall = Annotated[float, msgspec.Meta(ge=0, le=11)]
"""From 1 to 10, and a little around, so that an impossible value of a source can be kept and found by its audit."""


class PublishedScore(msgspec.Struct, frozen=True):
    """One cell (or row of metrics) of a published table.

    `document` is empty where the source gives a mean over all documents of the study. `m_all` is None where the source
    has the five metrics only, and these are None where it has M_all only. `averaged` is how many scores the value is
    a mean of, 0 where that is not known. `excluded` is why analyses leave the value out by default; empty if they
    don't.
    """

    system: str
    experiment: StudyExperiment
    document: str
    question: str
    m_all: Overall | None
    relevance: Average | None = None
    accuracy: Average | None = None
    clarity: Average | None = None
    completeness: Average | None = None
    reference: Average | None = None
    averaged: int = 0
    file: str = ""
    sheet: str = ""
    cell: str = ""
    excluded: str = ""

    def __getitem__(self, metric: str) -> float | None:
        value: float | None = getattr(self, metric)
        return value


def write_published(scores: Iterable[PublishedScore]) -> bytes:
    """The scores as the content of a CSV file, one row each."""
    return as_csv(PublishedScore, scores)


def read_published(path: Path) -> list[PublishedScore]:
    """The scores in such a file; none if there is no file. A DataError names the row that can't be read."""
    return read_csv(path, PublishedScore) if path.is_file() else []


def published_scores(folder: RunFolder) -> list[PublishedScore]:
    """The published scores of this run; empty for a run that has none."""
    return read_published(folder.path / PUBLISHED_SCORES)
