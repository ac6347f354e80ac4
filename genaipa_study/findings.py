"""Findings of the audit of the published study, as its own record: `audit.csv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.spreadsheets import format_csv_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.datasets.study import PublishedAnswer

AUDIT = "audit.csv"


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, or odd, in one place of the source.

    `kind` is a word with hyphens (`other-company`), `reason` a sentence for a person. `sheet` and `cell` are empty
    where the finding is about a whole file, and the fields from `system` on where it concerns more than one of them
    (`repetition` is then 0). `key` is the record's key in its run folder, where the finding is about one answer.
    `excludes` are the answers or scores that analyses leave out by default.
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
    excludes: Literal["", "answer", "score"] = ""


def make_finding_about_answer(answer: PublishedAnswer, kind: str, reason: str, *, excludes: bool = False) -> Finding:
    """Return a finding about an answer."""
    about = {name: getattr(answer, name) for name in Finding.__struct_fields__ if hasattr(answer, name)}
    return Finding(kind=kind, reason=reason, excludes="answer" if excludes else "", **about)


def format_audit_csv(findings: Iterable[Finding]) -> bytes:
    """Return the findings as the content of a CSV file, one row each."""
    return format_csv_records(Finding, findings)
