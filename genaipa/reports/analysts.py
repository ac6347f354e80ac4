"""Analysts behind an average: their part in its variance, and whether two sides had the same people."""

from __future__ import annotations

import pandas as pd

from genaipa.reports.crossed import number_labels_and_list_distinct
from genaipa.stats.panel import LEAST_ANALYSTS, AnalystPanel, estimate_analyst_panel
from genaipa.stats.reason import Reason
from genaipa.words import format_count

MOST_APART = 0.25
"""Share of two sides' scores by other analysts above which analysts can't be separated from the systems."""
_PUBLISHED = "published"


def select_human_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a tidy table that are a person's score of an answer, as averages count them."""
    human_scores = frame[frame["counted"] & (frame["unit"] == "answer") & (frame["scorer"] == "human")]
    return human_scores[human_scores["analyst"].astype(str) != _PUBLISHED]


def estimate_analyst_panel_of_column(scores: pd.DataFrame, column: str) -> AnalystPanel:
    """Estimate the panel behind the average of a column over one system's scores, a row each."""
    names = ("analyst", "question", "document", "experiment", "answer")
    return estimate_analyst_panel(scores[column], *(number_labels_and_list_distinct(scores[name])[0] for name in names))


def explain_no_analyst_interval_or_empty(panel: AnalystPanel) -> str:
    """Return why nothing is said for analysts like these; or nothing."""
    if panel.reason is Reason.FEW_ANALYSTS:
        return f"{format_count(panel.number, 'analyst')} scored; an interval for other analysts needs {LEAST_ANALYSTS}."
    return "Which analyst scored depends on the question or the document." if panel.reason is Reason.CONFOUNDED else ""


def analyst_count_or_not_known(frame: pd.DataFrame) -> str:
    """Return the number of people behind the counted scores of a tidy table, in words."""
    number = select_human_scores(frame)["analyst"].nunique()
    return str(number) if number else "not known"


def note_confounded_analysts(scores_a: pd.DataFrame, scores_b: pd.DataFrame) -> str:
    """Return a sentence on who scored which side, where that is confounded with the systems; else empty.

    Both are tidy tables; compared are the analysts' shares of each side's counted scores.
    """
    shares = [
        frame.loc[frame["counted"] & (frame["scorer"] == "human"), "analyst"].astype(str).value_counts(normalize=True)
        for frame in (scores_a, scores_b)
    ]
    if not all(len(analyst_shares) for analyst_shares in shares):
        return ""
    apart = float(shares[0].sub(shares[1], fill_value=0.0).abs().sum()) / 2
    if apart <= MOST_APART:
        return ""
    sides = [
        ", ".join(f"{name} {share:.0%}" for name, share in analyst_shares.head(3).items()) for analyst_shares in shares
    ]
    return (
        f"Different people scored A ({sides[0]}) and B ({sides[1]}), so a difference between the systems may be a "
        "difference in leniency. Have the same analysts score both."
    )
