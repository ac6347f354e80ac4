"""Findings of an import about the data that a run was made of: `audit.csv` in the run folder.

A finding says where it was seen and why, and whether analyses leave something out because of it. The answers and
scores themselves stay as they were found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.spreadsheets import as_csv, read_csv

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from genaipa.runs.folder import RunFolder

AUDIT = "audit.csv"

Excludes = Literal["", "answer", "score"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, or odd, in one place of the source.

    `kind` is a word with hyphens (`other-company`), `reason` a sentence for a person. `sheet` and `cell` are empty
    where the finding is about a whole file, and the fields from `system` on where it concerns more than one of them
    (`repetition` is then 0). `key` is the record's key in its run folder, where the finding is about one answer.
    `excludes` are the answers or scores that analyses leave out by default. `doubts` is `score` where nothing shows
    which of two sources is wrong: what is counted was then chosen by a rule, and what is left out could have been
    counted in its place.
    """

    kind: str
    file: str
    sheet: str
    cell: str
    reason: str
    system: str = ""
    experiment: str = ""
    document: str = ""
    question: str = ""
    wording: str = ""
    repetition: int = 0
    key: str = ""
    excludes: Excludes = ""
    doubts: Literal["", "score"] = ""


def write_audit(findings: Iterable[Finding]) -> bytes:
    """The findings as the content of a CSV file, one row each."""
    return as_csv(Finding, findings)


def read_audit(path: Path) -> list[Finding]:
    """The findings in such a file; none if there is no file. A DataError names the row that can't be read."""
    return read_csv(path, Finding) if path.is_file() else []


def audit_of(folder: RunFolder) -> list[Finding]:
    """The findings about this run's data; empty for a run that was not imported."""
    return read_audit(folder.path / AUDIT)


def is_imported(folder: RunFolder) -> bool:
    """Whether a run was made of somebody else's data, and audited."""
    return (folder.path / AUDIT).is_file()


def excluded_answers(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Key of a record → the first finding for which its answer is left out of analyses."""
    excluded: dict[str, Finding] = {}
    for finding in findings:
        if finding.excludes == "answer" and finding.key:
            excluded.setdefault(finding.key, finding)
    return excluded
