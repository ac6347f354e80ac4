"""What audits of imported data found, as tables and in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.runs.audit import Finding

_LISTED = (
    "kind",
    "system",
    "experiment",
    "document",
    "question",
    "wording",
    "repetition",
    "excludes",
    "file",
    "sheet",
    "cell",
    "reason",
)


def by_kind(findings: Sequence[Finding]) -> Table:
    """How often each kind of finding was made, and how many answers and scores are left out because of it."""
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
    note = "File, sheet and cell are those of the published data."
    return Table(
        "audit", "Everything that the audit found", note, data, {"excludes": "leaves out"}, {"repetition": ".0f"}
    )


def in_words(findings: Sequence[Finding], frame: pd.DataFrame) -> list[str]:
    """How much of the tidy table the audit leaves out, or would have left out, and for what."""
    touched = frame[frame["excluded"] != ""]
    if touched.empty:
        return []
    answers = len(touched.loc[touched["unit"] == "answer", ["run", "key"]].drop_duplicates())
    scores = int((touched["unit"] == "table").sum())
    kinds = Counter(finding.kind for finding in findings if finding.excludes)
    why = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
    counted = bool(touched["counted"].any())
    told = (
        "Counted all the same, as asked, though the audit would leave them out" if counted else "Left out by the audit"
    )
    return [f"{told}: {_number(answers, 'answer')} and {_number(scores, 'published score')} (findings: {why})."]


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
