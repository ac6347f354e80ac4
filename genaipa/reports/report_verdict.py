"""A report's verdict on two systems, beside that of their comparison alone: a report tests all pairs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.reports.matches import m_all_differences_of_all_system_pairs
from genaipa.reports.significance import PRIMARY, format_p_value
from genaipa.runs.selection import resolve_system_or_run_name, select_runs_and_apply_filters

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from genaipa.reports.comparison import Comparison
    from genaipa.workspace import Workspace


def describe_report_verdict_if_different(workspace: Workspace, comparison: Comparison) -> str:
    """Say that a report of all runs finds no clear difference where the comparison finds one; else empty.

    Also of runs, and of runs' systems: of these a report has no row.
    """
    compared = comparison.frame[comparison.frame["family"] == PRIMARY].to_dict("records")
    if not compared or not compared[0]["p_holm"] < compared[0]["level"]:
        return ""
    names = {resolve_system_or_run_name(workspace, name).name for name in (comparison.first, comparison.second)}
    if names != set(comparison.systems):
        return ""
    sources = select_runs_and_apply_filters(workspace, ())
    systems = len({system for source in sources for system in source.systems})
    if compared[0]["p_holm"] * systems * (systems - 1) / 2 < compared[0]["level"]:
        return ""  # Holm's p is never larger
    study = gather_study_with_stored_scores(workspace, sources, without_reading_texts=True)
    return describe_pair_if_unclear(m_all_differences_of_all_system_pairs(study.table), comparison.systems)


def describe_pair_if_unclear(pairs: pd.DataFrame, systems: Collection[str]) -> str:
    """Say that two systems do not clearly differ among all pairs of a report's table; empty where they do."""
    for row in pairs.to_dict("records"):
        if {row["first"], row["second"]} == set(systems) and not row["p_holm"] < row["level"]:
            return (
                f"A report tests {row['tests']} pairs at once, and finds no clear difference between these two "
                f"({format_p_value(row['p_holm'])})."
            )
    return ""
