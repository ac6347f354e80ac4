"""HEDS 3.0's questions on power: what a study like this one would find, by how its differences vary.

Nobody records a power analysis before a study; this one comes after it, as `genaipa compare` gives it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from genaipa import __version__
from genaipa.questions.sets import is_follow_up
from genaipa.reports.analysts import note_confounded_analysts
from genaipa.reports.averages import select_policy_rows
from genaipa.reports.matches import comparison_evidence_level, match_systems_by_measure, select_compared_rows
from genaipa.reports.part import drop_sparsely_scored_experiments
from genaipa.reports.significance import OVERALL, describe_detectable_difference
from genaipa.words import format_count
from genaipa_artifact.heds import HedsAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.matches import MatchedScores
    from genaipa_artifact.evaluation import HumanEvaluationRecords

_PAIRS_COMPUTED = 3
"""Pairs of systems of which the detectable difference is given: each is a simulation of studies."""
_BEFORE = "the power analysis before the study"
_SOURCE = "study.zip: scores.jsonl; study.zip: report/tables/system-differences.csv (pairs)"


class ComparedPair(NamedTuple):
    """The sentence on the detectable difference between two systems, and how many documents it is of."""

    sentence: str
    document_count: int


def describe_method_of_power_analysis(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe how detectable differences are found; None where none is."""
    pairs = records.pairs_with_detectable_differences
    if not pairs:
        return None
    variance = "the variance of the differences found between two systems"
    # Of one document, the rest can't be separated from what other questions change.
    split = (
        f"{variance} is split into questions, documents and the rest (analysis of variance)"
        if all(pair.document_count > 1 for pair in pairs)
        else f"{variance} is estimated"
    )
    return HedsAnswer(
        f"From the scores themselves: {split}, and studies that are the same in which question is compared about which "
        "document are simulated from it.",
        _SOURCE,
        authors_part=_BEFORE,
    )


def describe_detectable_differences(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Give the smallest difference that studies like this find, for some pairs of systems; None where none is known."""
    sentences = [pair.sentence for pair in records.pairs_with_detectable_differences]
    if not sentences:
        return None
    pair_count = len(records.tested_system_pairs)
    # Beside published scores, some of the tests may be of these alone.
    if len(sentences) < pair_count and not records.runs_with_published_scores:
        sentences.append(f"The report tests {format_count(pair_count, 'pair')} of systems.")
    return HedsAnswer(" ".join(sentences), _SOURCE, authors_part=_BEFORE)


def name_code_of_power_analysis(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the module that finds detectable differences; None where none is known."""
    if not records.pairs_with_detectable_differences:
        return None
    return HedsAnswer(f"genaipa.stats.power, of genaipa {__version__}.", _SOURCE, authors_part=_BEFORE)


def find_pairs_with_detectable_differences(records: HumanEvaluationRecords) -> list[ComparedPair]:
    """Find the first pairs of systems, by the order of the report, whose detectable difference is known."""
    return list(islice(_iterate_pairs_with_detectable_differences(records), _PAIRS_COMPUTED))


def _iterate_pairs_with_detectable_differences(records: HumanEvaluationRecords) -> Iterator[ComparedPair]:
    if not records.scores:
        return
    table = records.study.table
    # Published scores are none of this evaluation. A judge's count nowhere, but may be an unscored answer's only row.
    answers = table[table["unit"] == "answer"]
    rows = select_policy_rows(drop_sparsely_scored_experiments(answers))
    for first, second in records.tested_system_pairs:
        first_rows, second_rows = rows[rows["system"] == first], rows[rows["system"] == second]
        match = match_systems_by_measure(first_rows, second_rows, (OVERALL,))[OVERALL]
        if match.apart.empty:
            continue
        # As `genaipa compare` has it: while scores are missing, a difference has to show more.
        evidence = comparison_evidence_level((first_rows, second_rows), match)
        # Where different people scored the two, nothing is found.
        if note_confounded_analysts(*(select_compared_rows(side, match) for side in (first_rows, second_rows))):
            continue
        for sentence in describe_detectable_difference(match, evidence):
            parts = [
                f"{first} and {second}: {sentence.removeprefix('Power: ')}",
                f"Found means at p < {evidence.p:g}, not adjusted for other pairs.",
                *describe_follow_ups_of_match(match),
            ]
            documents = set(match.apart["document"]) - {""}
            yield ComparedPair(" ".join(parts), len(documents))


def describe_follow_ups_of_match(match: MatchedScores) -> Iterator[str]:
    """Yield how many of a match's questions are follow-ups."""
    named = match.apart[match.apart["document"] != ""]
    follow_ups = sum(map(is_follow_up, set(named["question"].astype(str))))
    if follow_ups:
        yield f"Of these questions, {follow_ups:,} {'is a follow-up' if follow_ups == 1 else 'are follow-ups'}."
