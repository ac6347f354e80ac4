"""Spread over wordings: how far a system's score moves when the same items are asked in other words."""

from __future__ import annotations

from collections import defaultdict
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports.table import Table, table
from genaipa_suites.plan import WORDINGS

if TYPE_CHECKING:
    from genaipa_suites.report.scored import Row, Scored


def wordings(scored: Scored) -> Table:
    """The main measure of each system in each wording, and its spread; empty where none was asked in several."""
    asked: defaultdict[tuple[str, object, object], dict[int, Row]] = defaultdict(dict)
    for row in scored.asked:
        if row.result is not None and row.kind == "system":
            asked[row.system, row.result.plan.shots, row.result.sampling][row.result.plan.wording] = row
    main, rows = scored.measures[0], []
    for (system, shots, _), each in asked.items():
        merits = {wording: row.counts.merit(main) for wording, row in each.items() if row.counts}
        if len(merits) < 2:  # noqa: PLR2004 - one wording has no spread
            continue
        found: dict[str, Any] = {"system": system, "shots": shots}
        found |= {f"wording_{wording}": 100 * merit.value for wording, merit in merits.items()}
        repeated = [merit.spread for merit in merits.values() if merit.spread >= 0]
        found["over_wordings"] = 100 * float(np.std([merit.value for merit in merits.values()]))
        found["over_repetitions"] = 100 * float(np.mean(repeated)) if repeated else nan
        rows.append(found)
    names = [f"wording_{wording}" for wording in WORDINGS]
    return table(
        f"{scored.board.stem}-wordings",
        f"{scored.board.title}: wordings of the prompt",
        f"{main.heading} in per cent, in each of the prompt's wordings, and its population standard deviation over "
        "wordings, beside that over repetitions of one wording: the mean of them, blank where nothing was repeated.",
        pd.DataFrame(rows),
        ["system", "shots", *names, "over_wordings", "over_repetitions"],
        headings={name: name.replace("_", " ") for name in (*names, "over_wordings", "over_repetitions")},
        formats=dict.fromkeys((*names, "over_wordings", "over_repetitions"), ".2f"),
    )
