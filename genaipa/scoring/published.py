"""Scores that a study published as a table, without its analysts' single scores: `published-scores.csv` of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.csvfiles import as_csv, read_csv

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.rubric import Metric

PUBLISHED_SCORES = "published-scores.csv"

StudyExperiment = Literal["quality", "robustness", "recall", "summary", "regulation"]


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
    m_all: float | None
    relevance: float | None = None
    accuracy: float | None = None
    clarity: float | None = None
    completeness: float | None = None
    reference: float | None = None
    averaged: int = 0
    file: str = ""
    sheet: str = ""
    cell: str = ""
    excluded: str = ""

    def __getitem__(self, metric: Metric) -> float | None:
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
