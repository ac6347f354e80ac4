"""How the columns of the tables are headed and written, the same in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.table import Table
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

SCALE = 10
"""Figures and tables of scores show M_all times this: from 10 to 100 (paper, figures 2 to 6)."""

_TENFOLD = "M_all*10"
HEADINGS = {
    "m_all": "M_all",
    "m_all10": _TENFOLD,
    "low": "from",
    "high": "to",
    "q1": "1st quartile",
    "q3": "3rd quartile",
    "unique_words": "unique words",
    "reading_minutes": "reading time (min)",
    "grade": "reading level (grade)",
    "connective_words": "connective words",
    "document_shown": "document shown",
    "name_only": "name only",
    "seconds": "seconds (median)",
    "cost": "cost per answer ($)",
    "cost_total": "cost ($)",
    "silent": "silent documents",
    "silent_n": "answers where silent",
    "asserts": "asserts",
    "asserts_share": "asserts (share)",
    "silent_m_all10": f"{_TENFOLD} where silent",
    "silent_low": "from",
    "silent_high": "to",
    "other_n": "other answers",
    "claims": "claims silence",
    "claims_share": "claims silence (share)",
    "other_m_all10": f"{_TENFOLD} elsewhere",
    "other_low": "from",
    "other_high": "to",
    "scored_by": "scored by",
    "published": "published scores",
    "score_left_out": "score left out",
}
"""Column → what people read above it; the others are headed by their own names."""

_TENTHS = (
    *("m_all10", "minimum", "q1", "median", "q3", "maximum", "mean", "low", "high", "original", "paraphrased"),
    *("silent_m_all10", "silent_low", "silent_high", "other_m_all10", "other_low", "other_high"),
    *("document_shown", "name_only", "spread", "grade"),
)
FORMATS = {
    **dict.fromkeys(_TENTHS, ".1f"),
    **dict.fromkeys(("drop", "difference"), "+.1f"),
    **dict.fromkeys(METRICS, "+.2f"),
    **dict.fromkeys(("m_all", "unique_words", "connective_words", "alpha"), ".2f"),
    **dict.fromkeys(("asserts_share", "claims_share", "same", "agreement"), ".0%"),
    "seconds": ".2f",
    "cost": ".4f",
    "cost_total": ".2f",
    "words": ",d",
}
"""Column → how its numbers are written."""


def table(
    name: str,
    title: str,
    note: str,
    data: pd.DataFrame,
    columns: Sequence[str],
    *,
    headings: dict[str, str] | None = None,
    formats: dict[str, str] | None = None,
) -> Table:
    """A table of these columns, headed and written as everywhere but for what `headings` and `formats` say.

    Categories become text. A column that the data lacks is there without values, so that an empty table has all.
    """
    plain = data.reindex(columns=list(columns)).reset_index(drop=True)
    for column in columns:
        if isinstance(plain[column].dtype, pd.CategoricalDtype):
            plain[column] = plain[column].astype("str")
    there = set(columns)
    return Table(
        name=name,
        title=title,
        note=note,
        data=plain,
        headings={column: text for column, text in {**HEADINGS, **(headings or {})}.items() if column in there},
        formats={column: form for column, form in {**FORMATS, **(formats or {})}.items() if column in there},
    )
