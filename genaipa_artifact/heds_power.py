"""HEDS 3.0's questions on power: what a study like this one would find, by how its differences vary.

Nobody records a power analysis before a study; this one comes after it, as `genaipa compare` gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.averages import select_policy_rows
from genaipa.reports.matches import match_systems_by_measure
from genaipa.reports.part import drop_sparsely_scored_experiments
from genaipa.reports.significance import OVERALL, describe_detectable_difference
from genaipa_artifact.heds import HedsAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa_artifact.evaluation import HumanEvaluationRecords

_PAIRS_COMPUTED = 3
"""Pairs of systems of which the detectable difference is given: each is a simulation of studies."""
_BEFORE = "the power analysis before the study"
_SOURCE = "study.zip: report/tables/system-differences.csv"


def describe_method_of_power_analysis(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe how detectable differences are found; None where no two systems are compared."""
    if not _compared_system_pairs(records):
        return None
    return HedsAnswer(
        "After the study: the variance of the differences found between two systems is split into questions, documents "
        "and the rest (analysis of variance), and studies of the same size are simulated from it.",
        _SOURCE,
        authors_part=_BEFORE,
    )


def describe_detectable_differences(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Give the smallest difference that studies like this find, for some pairs of systems; None where none is known."""
    sentences = list(_iterate_detectable_differences(records))
    return HedsAnswer(" ".join(sentences), _SOURCE, authors_part=_BEFORE) if sentences else None


def name_code_of_power_analysis(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the command that gives detectable differences; None where no two systems are compared."""
    pairs = _compared_system_pairs(records)
    if not pairs:
        return None
    return HedsAnswer(
        f"genaipa.stats.power, by the command: genaipa compare {' '.join(pairs[0])}.", _SOURCE, authors_part=_BEFORE
    )


def _compared_system_pairs(records: HumanEvaluationRecords) -> list[tuple[str, str]]:
    table = records.tables.get("system-differences")
    if table is None or not records.scores:
        return []
    return [(str(row["first"]), str(row["second"])) for row in table.data.to_dict("records")]


def _iterate_detectable_differences(records: HumanEvaluationRecords) -> Iterator[str]:
    by_people = records.study.table[records.study.table["scorer"] != "machine"]
    rows = select_policy_rows(drop_sparsely_scored_experiments(by_people))
    for first, second in _compared_system_pairs(records)[:_PAIRS_COMPUTED]:
        match = match_systems_by_measure(rows[rows["system"] == first], rows[rows["system"] == second], (OVERALL,))
        for sentence in describe_detectable_difference(match[OVERALL]):
            yield f"{first} and {second}: {sentence.removeprefix('Power: ')}"
