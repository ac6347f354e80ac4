"""Scores that a study published as averages, without single scores: `published-scores.csv` of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa.files.spreadsheets import as_csv, read_csv
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

    `document` is empty for a mean over all documents of the study. `m_all` is None if the source has the five
    metrics only, and these are None if it has M_all only. `averaged` is the number of scores in the mean, 0 if
    unknown. `excluded` is the reason why analyses leave the value out by default; empty if they don't.
    `doubt` is why another source could have been counted: the value was chosen by a rule, or (where it is `excluded`)
    it was not.
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
    doubt: str = ""

    def __getitem__(self, metric: str) -> float | None:
        value: float | None = getattr(self, metric)
        return value


def write_published(scores: Iterable[PublishedScore]) -> bytes:
    """A CSV file of the scores, one row each."""
    return as_csv(PublishedScore, scores)


def read_published(path: Path) -> list[PublishedScore]:
    """The scores in such a file, none if it does not exist; a DataError names a row that can't be read."""
    return read_csv(path, PublishedScore) if path.is_file() else []


def published_scores(folder: RunFolder) -> list[PublishedScore]:
    """The published scores of a run, if it has any."""
    return read_published(folder.path / PUBLISHED_SCORES)
