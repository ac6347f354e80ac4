"""Gaps that probes for contamination open: the same items, asked plainly and asked under the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.table import Table, table
from genaipa_suites.probes import COMPANY_SWAP, CONTINUATION, NO_CONTEXT
from genaipa_suites.report.merit import LEVEL, Counts
from genaipa_suites.report.tables import MAIN, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.report.scored import Row, Scored

_ABOUT = {
    NO_CONTEXT: "no-context asks without the text: a score above an empty answer's is memory, or a good guess.",
    COMPANY_SWAP: "company-swap gives the company another name: a lower score leans on the name that is known.",
}
"""Probe → how its gap is read."""


def gaps(some: Sequence[Scored]) -> Table:
    """The main measures under each probe minus the plain run's, of each system that was asked both."""
    rows: list[dict[str, Any]] = []
    probed = [one for one in some if one.board.plan.probe not in ("", CONTINUATION)]
    for scored in probed:
        split = (scored.board.plan.split, scored.board.own)
        plain = [one for one in some if not one.board.plan.probe and (one.board.plan.split, one.board.own) == split]
        for row in scored.asked:
            rows += _gap(scored, row, plain)
    there = dict.fromkeys(row["probe"] for row in rows)
    board = some[0].board
    return table(
        f"{board.name}-gaps",
        f"{board.suite.title}: gaps under probes",
        "Percentages on the items that were asked both plainly and under the probe, and their difference in percentage "
        f"points, with the same policies drawn for both. {' '.join(_ABOUT[name] for name in there)} A gap is no "
        "verdict: whatever else the probe changes is in it as well.",
        pd.DataFrame(rows),
        ["probe", "split", "system", "how", "measure", "items", "plain", "probed", "gap", "gap_low", "gap_high"],
        headings={"gap_low": f"{LEVEL} % interval", "probed": "under the probe"},
        formats={**dict.fromkeys(("plain", "probed"), ".2f"), "gap": "+.2f", "gap_low": "+.1f", "gap_high": "+.1f"},
    )


def _gap(scored: Scored, row: Row, plain: Sequence[Scored]) -> list[dict[str, Any]]:
    """The rows of a system under a probe, against the plain run that has the most of the same items."""
    best: tuple[int, Scored, Row] | None = None
    ids = {*row.counts.ids} if row.counts else set()
    for one in plain:
        for other in one.asked:
            shared = len(ids & {*other.counts.ids}) if other.counts else 0
            if (other.system, other.how) == (row.system, row.how) and shared > (best[0] if best else 0):
                best = (shared, one, other)
    if best is None or row.result is None:
        return []
    _, board, other = best
    assert other.counts is not None, "it has items of its own"
    ours = Counts([one for one in row.result.outcomes if one.item.id in board.units.of], board.units)
    found = []
    for measure in scored.measures[:MAIN]:
        both = ours.minus(other.counts, measure)
        probed, plainly = (100 * mean for mean in both.means)
        gap = percent(both, "gap")
        del gap["gap_sd"]
        about = {"probe": scored.board.plan.probe, "split": scored.board.plan.split, "system": row.system}
        figures = {"items": both.items, "plain": plainly, "probed": probed, **gap}
        found.append({**about, "how": row.how, "measure": measure.heading, **figures})
    return found
