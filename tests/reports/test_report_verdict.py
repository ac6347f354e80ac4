"""What a report says of two systems that a comparison alone tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framing import study

from genaipa.reports.comparison import compare
from genaipa.reports.matches import m_all_differences_of_all_system_pairs, m_all_differences_of_given_pairs
from genaipa.reports.report_verdict import describe_pair_if_unclear, describe_report_verdict_if_different
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from commandline import Finished


def test_a_difference_that_many_pairs_make_unclear_is_told() -> None:
    """Two systems differ by themselves and not among all; where both verdicts are the same, nothing is said."""
    frame = study(systems=("a/one", "b/two", "b/three", "b/four", "b/five"), documents=("uber",))
    pairs = m_all_differences_of_all_system_pairs(frame)
    told = 0
    for row in pairs.to_dict("records"):
        systems = row["first"], row["second"]
        alone = m_all_differences_of_given_pairs(frame, [systems]).iloc[0]
        if alone["p_holm"] < 0.05 <= row["p_holm"]:
            told += 1
            assert describe_pair_if_unclear(pairs, systems).startswith(f"A report tests {len(pairs)} pairs at once")
        elif row["p_holm"] < 0.05:
            assert describe_pair_if_unclear(pairs, systems) == ""
    assert told


def test_one_verdict_is_told_once(demo: tuple[Path, Finished]) -> None:
    """Of systems that differ either way, of those that do not by themselves, and of runs, nothing more is said."""
    workspace = find_workspace(demo[0])
    for names in (("careful", "breezy"), ("extractive", "breezy"), ("demo:careful", "demo:breezy")):
        assert describe_report_verdict_if_different(workspace, compare(*names, workspace=workspace)) == ""
