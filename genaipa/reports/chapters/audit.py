"""Findings of the audits of imported data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.figures.figure import Scope
from genaipa.reports.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.answers.study import Study
    from genaipa.runs.imported import Finding

_LISTED = (
    "kind",
    "system",
    "experiment",
    "document",
    "question",
    "wording",
    "repetition",
    "excludes",
    "doubts",
    "file",
    "sheet",
    "cell",
    "reason",
)


def by_kind(findings: Sequence[Finding]) -> Table:
    """Counts of each kind of finding, and of the answers and scores left out because of it."""
    kinds = sorted({finding.kind for finding in findings})
    left_out = Counter((finding.kind, finding.excludes) for finding in findings)
    data = pd.DataFrame(
        {
            "kind": kinds,
            "findings": [sum(left_out[kind, excludes] for excludes in ("", "answer", "score")) for kind in kinds],
            "answers": [left_out[kind, "answer"] for kind in kinds],
            "scores": [left_out[kind, "score"] for kind in kinds],
        }
    )
    note = (
        "Findings by which an answer or a published score is left out of averages by default, and findings that are "
        "only noted. An answer or score can be left out for several reasons."
    )
    headings = {"answers": "leave out an answer", "scores": "leave out a score"}
    return Table("audit-kinds", "What the audit found, by kind", note, data, headings)


def listed(findings: Sequence[Finding]) -> Table:
    """Every finding with its place and reason."""
    rows = sorted(findings, key=lambda finding: tuple(str(getattr(finding, name)) for name in _LISTED))
    data = pd.DataFrame({name: [getattr(finding, name) for finding in rows] for name in _LISTED})
    # 0 is no repetition.
    data["repetition"] = data["repetition"].astype("float64").replace(0, float("nan"))
    note = "File, sheet and cell refer to the published data."
    return Table(
        "audit",
        "Everything that the audit found",
        note,
        data,
        {"excludes": "leaves out", "doubts": "by a rule alone"},
        {"repetition": ".0f"},
    )


def chapter(study: Study, _scope: Scope) -> Chapter:
    """The chapter on the audits' findings, by kind and one by one."""
    return Chapter(
        "audit",
        "What the audit found",
        "Some runs were made of data that others published. The import compared these data with themselves and with "
        "the documents; each thing that it found is listed with its place.",
        present(by_kind(study.findings), listed(study.findings)),
    )
