"""Whether a difference may be chance, in words: the verdict, what holds beside it, what is too little, and power.

`genaipa.stats` has the tests, the intervals and the power.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.stats.power import (
    POWER,
    VarianceComponents,
    estimate_variance_components,
    find_detectable_differences_of_cells,
)
from genaipa.stats.tests import wilcoxon_signed_rank_test
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.matches import MatchedScores
    from genaipa.stats.power import DetectableDifferences

    Row = Mapping[Any, Any]

OVERALL = "M_all"
"""The name of M_all, from 10 to 100, as a measure beside the metrics."""
_LEAST_WRITTEN = 0.001


def format_p_value(p: float) -> str:
    """Return a p as sentences have it: to two digits, or as below the smallest one that is written."""
    return f"p < {_LEAST_WRITTEN}" if p < _LEAST_WRITTEN else f"p = {p:.2g}"


def format_confidence(significance_level: float) -> str:
    """Write the confidence that belongs to a level, as sentences have it: `95%` of 0.05, `99.9%` of 0.001."""
    return f"{100 * (1 - significance_level):g}%"


FEW = 10
"""Below this many questions, what is found is said to rest on few."""
OTHER_PEOPLE = "other analysts"
"""The meaning of a difference where other people scored the one side than the other."""
PRIMARY = "primary endpoint"
FAMILIES = (PRIMARY, "single metrics", "M_all by group", "metrics by group")
"""The families of tests: within each, p-values are adjusted for their number. The first is one test: M_all overall."""
IN_FAMILIES = (
    f"Families of tests: {OVERALL} on all questions is the primary endpoint, and its p is not adjusted. By Holm's "
    "method p is adjusted for the number of tests within each of the other families: single metrics on all questions; "
    "M_all by group of questions; metrics by group. Groups too small to test (pairs: under six questions) have an "
    "interval and an effect size, but no p."
)
"""The families, for the method and every caption."""


def describe_difference_meaning(difference_row: Row) -> str:
    """Say what a row means without p-values: for policies like these, else for these documents."""
    if difference_row["test"] == "none":
        return "too few questions to test"
    holds = difference_row["p_holm"] < difference_row["level"]
    higher = "A higher" if difference_row["difference"] > 0 else "B higher"
    if holds:
        wider = "" if math.isnan(difference_row["policies_p"]) else " only"
        words = higher if holds_for_policies_like_these(difference_row) else f"{higher} for these documents{wider}"
        words += "; the rank test disagrees" if not rank_test_agrees_or_is_unknown(difference_row) else ""
    elif difference_row["p"] < difference_row["level"] or difference_row["policies_p"] < difference_row["level"]:
        words = "may be chance, among so many tests"
    else:
        words = "may be chance" if difference_row["effect"] or difference_row["difference"] else "no difference"
    return f"{words}; few questions" if difference_row["n"] < FEW else words


def holds_for_policies_like_these(difference_row: Row) -> bool:
    """Tell whether a difference holds for policies like these: never where it does not for these documents."""
    return bool(
        difference_row["p_holm"] < difference_row["level"]
        and difference_row["policies_p_holm"] < difference_row["level"]
    )


def rank_test_agrees_or_is_unknown(difference_row: Row) -> bool:
    """Tell whether a difference of means is one of ranks, too; also where ranks are not known."""
    return math.isnan(difference_row["ranks_p"]) or (
        difference_row["ranks_p"] < difference_row["level"]
        and difference_row["effect"] * difference_row["difference"] > 0
    )


def describe_compared_questions(
    match_by_measure: Mapping[str, MatchedScores], difference_phrases: Sequence[str]
) -> Iterator[str]:
    """Sentences on the systems, documents and questions compared."""
    if difference_phrases:
        yield f"Only what both have in common is compared: {'; '.join(difference_phrases)}."
    match = match_by_measure[OVERALL]
    if not len(match.pairs):
        yield (
            f"The two have no scored cell in common: {format_count(len(match.ours), 'question')} of A against "
            f"{len(match.theirs)} of B, as independent sets; their different questions and documents are part of "
            "the difference."
        )
        return
    questions, pairs = len(match.pairs), int(match.pairs["pairs"].sum())
    yield (
        f"The comparison covers {format_count(questions, 'question')}: {format_count(pairs, 'pair')} in "
        f"{', '.join(match.experiments)}{'' if match.by_question else ', each about the same document'}."
    )
    experiments_by_measure = {
        measure: ", ".join(match.by_question) for measure, match in match_by_measure.items() if match.by_question
    }
    if experiments_by_measure:
        where = "; ".join(
            f"{', '.join(measure for measure, named in experiments_by_measure.items() if named == experiments)} "
            f"in {experiments}"
            for experiments in dict.fromkeys(experiments_by_measure.values())
        )
        yield (
            f"Where one side has only means over documents, a pair is a question, and the documents may differ; "
            f"these pairs say nothing about policies like these, unless there are no other pairs: {where}."
        )


def describe_findings(
    data: pd.DataFrame, first: str, second: str, refusal_reason: str = "", judge: str = ""
) -> Iterator[str]:
    """Yield the overall difference and the verdict on it, then what holds in each family of secondary tests.

    `refusal_reason` says why there is no verdict, `judge` whose verdicts alone are compared.
    """
    for row in data[data["family"] == PRIMARY].to_dict("records"):
        sure = [
            f"{target} {row[low]:+.1f} to {row[high]:+.1f}"
            for target, low, high in (
                ("for these documents", "low", "high"),
                ("for policies like these", "policies_low", "policies_high"),
            )
            if not math.isnan(row[low])
        ]
        intervals = f" ({format_confidence(row['level'])} intervals: {', '.join(sure)})" if sure else ""
        yield (
            f"{OVERALL}: {first} {row['mean_a']:.1f}, {second} {row['mean_b']:.1f}, "
            f"difference {row['difference']:+.1f}{intervals}."
        )
        sentence = f"No verdict. {refusal_reason}" if refusal_reason else describe_primary_verdict(row, first, second)
        yield sentence.replace("Verdict", f"Verdict of the judge {judge} alone", 1) if judge else sentence
        if row["warning"]:
            yield row["warning"]
    if refusal_reason:
        return
    for family in FAMILIES[1:]:
        tested = data[(data["family"] == family) & (data["test"] != "none")]
        if len(tested):
            tests = "1 test" if len(tested) == 1 else f"{len(tested)} tests, adjusted by Holm's method"
            yield (
                f"{family[0].upper()}{family[1:]} ({tests}): {_describe_where_differences_hold(tested, first, second)}."
            )


def describe_primary_verdict(row: Row, first_name: str, second_name: str) -> str:
    """Write the conclusion from the primary endpoint for policies like these, and for these documents alone."""
    if row["test"] == "none":
        return f"No verdict: {format_count(row['n'], 'question')}, too few to test."
    higher = f"{first_name if row['difference'] > 0 else second_name} is higher"
    holds = row["p"] < row["level"]
    alone = f"{higher if holds else 'the difference may be due to chance'} ({format_p_value(row['p'])})"
    ranks = (
        f" By the rank test, it may be due to chance ({format_p_value(row['ranks_p'])})."
        if holds and not rank_test_agrees_or_is_unknown(row)
        else ""
    )
    if holds and row["effect"] * row["difference"] < 0:
        ranks = " By the rank test, the other is higher."
    if math.isnan(row["policies_p"]):
        return f"Verdict, for these documents only: {alone}.{ranks} {row['why']}"
    conclusion = higher if row["policies_p"] < row["level"] else "the difference may be due to chance"
    return (
        f"Verdict: for policies like these, {conclusion} ({format_p_value(row['policies_p'])}). For these "
        "documents alone: "
        f"{alone}.{ranks}"
    )


def describe_detectable_difference(match: MatchedScores, evidence: EvidenceLevel) -> Iterator[str]:
    """Yield the size of a difference that a study of these very pairs finds, by how the differences found here vary.

    Nothing for so few questions that none is tested. Where some pairs are of means over documents, the policies' pairs
    are not all that these documents' conclusion rests on, so that nothing is yielded of the latter.
    """
    tested = wilcoxon_signed_rank_test(match.pairs["ours"] - match.pairs["theirs"]).test != "none"
    if not tested or len(match.pairs) < evidence.least_questions:
        return
    named = match.apart[match.apart["document"] != ""]
    pairs = named if len(named) else match.apart
    table = pairs.pivot_table(index="question", columns="document", values="apart")
    weights = pairs.pivot_table(index="question", columns="document", values="weight", aggfunc="sum").to_numpy()
    has_pair = ~np.isnan(weights)
    question_labels, document_labels = np.nonzero(has_pair)
    sizes = find_detectable_differences_of_cells(
        question_labels,
        document_labels,
        estimate_variance_components(table.to_numpy()),
        weights=weights[has_pair],
        significance_level=evidence.p,
        largest_difference=M_ALL_WIDTH,
    )
    if len(pairs) < len(match.apart):
        sizes = sizes._replace(these_documents=math.nan)
    if sentence := begin_detectable_difference_sentence(sizes, len(table), table.shape[1] if len(named) else 0):
        cells = int(has_pair.sum())
        part = f", with {cells:,} of {has_pair.size:,} cells compared" if cells < has_pair.size else ""
        yield f"{sentence}{part}, given how the differences found here vary."


LOPSIDED = "The interval is lopsided"
"""The beginning of a sentence on an interval of which one side is much longer."""
_MUCH_LONGER = 2.0


def describe_lopsided_interval(match: MatchedScores, difference_row: Row) -> Iterator[str]:
    """Yield why one side of the interval for these documents is much longer: the question that bends it.

    The detectable difference has the same standard error, and is that of questions without such a one.
    """
    below = difference_row["difference"] - difference_row["low"]
    above = difference_row["high"] - difference_row["difference"]
    if not max(below, above) >= _MUCH_LONGER * min(below, above) or not len(match.pairs):
        return
    differences = match.pairs["ours"] - match.pairs["theirs"]
    question = str((-differences if below > above else differences).idxmax())
    yield (
        f"{LOPSIDED}, since {question} differs by {differences[question]:+.1f}, unlike most questions; the detectable "
        "difference supposes that none does."
    )


def _describe_where_differences_hold(tested: pd.DataFrame, first_name: str, second_name: str) -> str:
    """Return the tests of a family that hold, and for whom."""
    other_analysts = tested["meaning"] == OTHER_PEOPLE
    holds = ~other_analysts & (tested["p_holm"] < tested["level"])
    general = holds & (tested["policies_p_holm"] < tested["level"])
    only = holds & ~general
    unknown, up = tested["policies_p"].isna(), tested["difference"] > 0
    no_word = "for these documents (nothing can be said about policies like these)"
    phrases = [
        f"{words} {_join_measures_and_groups(rows)}"
        for words, rows in (
            (f"{first_name} is higher in", tested[general & up]),
            (f"{second_name} is higher in", tested[general & ~up]),
            (f"for these documents only, {first_name} is higher in", tested[only & ~unknown & up]),
            (f"for these documents only, {second_name} is higher in", tested[only & ~unknown & ~up]),
            (f"{no_word}, {first_name} is higher in", tested[only & unknown & up]),
            (f"{no_word}, {second_name} is higher in", tested[only & unknown & ~up]),
            ("no verdict, since different people scored each side, in", tested[other_analysts]),
        )
        if len(rows)
    ]
    return "; ".join(phrases) or "no difference holds"


def _join_measures_and_groups(rows: pd.DataFrame) -> str:
    """Write `accuracy, clarity`; of groups `accuracy (faq, user)`."""
    return ", ".join(
        str(measure) + ("" if set(group["questions"]) == {"all"} else f" ({', '.join(group['questions'])})")
        for measure, group in rows.groupby("measure", sort=False)
    )


def yield_warning_if_few_questions(data: pd.DataFrame) -> Iterator[str]:
    """Yield a warning where little is known."""
    is_few, untested = data["n"] < FEW, data["test"] == "none"
    if not (is_few | untested).any():
        return
    # Early in a study a test needs more questions than `FEW`, so that either of the two may be the greater number.
    sentence = f"{is_few.sum()} of {len(data)} comparisons rest on fewer than {FEW} questions"
    if not is_few.any():
        sentence = f"{untested.sum()} of {len(data)} comparisons rest on too few questions for any test"
    elif (is_few == untested).all():
        sentence += ", too few for any test"
    elif untested.any():
        sentence += f", {untested.sum()} on too few for any test"
    yield f"Small n: {sentence}; there, only large differences can show."


PUBLISHED = VarianceComponents(questions=262.0, documents=49.0, rest=886.0)
"""ChatGPT-4 and Bard in the GenAIPABench study, in squared points of M_all: the means over its tables of M_all by
document for robustness, recall and summary, as `estimate_variance_components` finds them."""


def begin_detectable_difference_sentence(
    sizes: DetectableDifferences, question_count: int, document_count: int = 0
) -> str:
    """Begin a sentence on the smallest differences that would be found; empty for no size.

    They are points of M_all, infinite where no difference on its scale would be; `document_count` is 0 where they are
    not known.
    """
    sizes_and_targets = [
        (size, target)
        for size, target in (
            (sizes.policies, "for policies like these"),
            (sizes.these_documents, "for these documents"),
        )
        if not math.isnan(size)
    ]
    if not sizes_and_targets:
        return ""
    detectable_sizes = " and one ".join(
        f"of {size:.1f} {target}" for size, target in sizes_and_targets if size <= M_ALL_WIDTH
    )
    missed = " or ".join(target for size, target in sizes_and_targets if size > M_ALL_WIDTH)
    none = f"no difference in {OVERALL} {missed} (not even of {M_ALL_WIDTH:g}, the whole scale)"
    of_size = f"a difference in {OVERALL} {detectable_sizes}"
    about = f" and {format_count(document_count, 'document')}" if document_count else ""
    return (
        f"Power: with these {question_count} questions{about} "
        f"{' and '.join(words for words, targets in ((of_size, detectable_sizes), (none, missed)) if targets)} "
        f"would be found in {POWER:.0%} of studies"
    )
