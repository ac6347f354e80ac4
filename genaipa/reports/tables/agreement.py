"""How far the analysts of the scores agree (paper, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.tables.columns import table
from genaipa.scoring.agreement import CONFIDENCE, RESAMPLES, measure
from genaipa.scoring.current import independent_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.table import Table
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric


def alphas(events: Iterable[Event], rubric: Rubric) -> Table:
    """Krippendorff's alpha of people's independent scores, by metric; nothing where no answer has two of them."""
    found = measure(independent_scores(events), rubric)
    analysts = {leaning.analyst for leaning in found.leanings}
    rows = []
    for metric, agreed in found.metrics.items() if found.answers else ():
        low, high = agreed.alpha.interval or (None, None)
        rows.append(
            {
                "metric": rubric.names[metric],
                "alpha": agreed.alpha.value,
                "low": low,
                "high": high,
                "agreement": agreed.agreement,
                "apart": agreed.difference,
                "answers": found.answers,
                "analysts": len(analysts),
                "reason": agreed.alpha.reason,
            }
        )
    columns = ["metric", "alpha", "low", "high", "agreement", "apart", "answers", "analysts", "reason"]
    numbers = dict.fromkeys(("alpha", "low", "high", "agreement", "apart"), "float64")
    return table(
        "agreement",
        "How far analysts agree",
        "Krippendorff's alpha for ordinal values (1 is perfect agreement, 0 what chance alone would give) over the "
        "answers that two or more people scored without seeing each other's scores, with its interval "
        f"({CONFIDENCE:.0%} confidence by bootstrap over answers, {RESAMPLES:,} resamples, percentiles); the share of "
        "pairs of scores with the same value, and how far the two values of a pair are apart on average (0 to 2).",
        pd.DataFrame(rows, columns=columns).astype(numbers),
        columns,
        headings={"agreement": "same value"},
        formats=dict.fromkeys(("low", "high", "apart"), ".2f"),
    )
