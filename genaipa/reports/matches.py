"""Pairs of two systems' scores, and the differences between these: how far apart, for whom, and whether by chance.

A pair is a cell that both have: a question about a document in an experiment, or, where one of them is known by means
over documents only, a question in an experiment.

All systems of a report are set against each other by paired differences of M_all, and the ranks that these leave open.
Every pair is compared over what both have (`match_systems_by_measure`), as the leaderboard counts it: estimates where
there are any, and no experiment with too few scores. p is adjusted by Holm's method for the number of pairs. A system's
rank is known as far as others are higher or lower than it for policies like these, as rankings of chat models give it:
2 to 4 of 5 if one is higher and one is lower (Chiang and others, 2024, arXiv:2403.04132; Miller, 2024,
arXiv:2411.00640, on paired differences).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics, metric_display_names
from genaipa.reports import averages, part, significance
from genaipa.reports.analysts import note_confounded_analysts
from genaipa.reports.averages import average_policy_questions, select_policy_rows
from genaipa.reports.crossed import (
    estimate_crossed_mean,
    explain_missing_interval_or_empty,
    number_labels_and_list_distinct,
    rough_policy_interval_warning_or_empty,
)
from genaipa.reports.evidence import ENDED, EvidenceLevel, choose_evidence_level, measure_plan_share
from genaipa.reports.judged.estimate import estimate_sides_with_one_lambda
from genaipa.reports.part import drop_sparsely_scored_experiments
from genaipa.reports.significance import OTHER_PEOPLE, OVERALL
from genaipa.reports.table import Table, make_table
from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.stats.intervals import LEVEL, estimate_difference_of_independent_means, join_document_and_policy_estimates
from genaipa.stats.looks import SIGNIFICANT
from genaipa.stats.ranks import find_rank_bounds
from genaipa.stats.tests import (
    RankTest,
    adjust_p_by_holm,
    find_holm_factors,
    mann_whitney_test,
    wilcoxon_signed_rank_test,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from genaipa.stats.intervals import CrossedMean


_CELL = ["experiment", "document", "question"]
_QUESTION = ["experiment", "question"]
_SIDES = ("_ours", "_theirs")


class MatchedScores(NamedTuple):
    """One measure of both sides, averaged by question (the index).

    `pairs` has the columns `ours`, `theirs` and `pairs` (how many cells they average), `ours` and `theirs` are all
    that each side has, paired or not. `apart` has a row for each pair: `experiment`, `question`, `document` (empty
    where the pair is a question), the difference `apart`, its `weight`, by which an experiment with many documents
    counts like one with few, and whether it is `known`: whether people scored answers to its question on both sides,
    where the values are estimates with a judge. `by_question` are the experiments whose pairs are questions.
    """

    pairs: pd.DataFrame
    apart: pd.DataFrame
    ours: pd.Series[float]
    theirs: pd.Series[float]
    experiments: list[str]
    by_question: list[str]

    def select_questions(self, questions: set[str]) -> MatchedScores:
        """Return the compared values of a group of questions: its pairs, or all of each side if the two have none."""
        pairs = self.pairs[self.pairs.index.isin(questions)]
        apart = self.apart[self.apart["question"].isin(questions)]
        if len(self.pairs):
            ours, theirs = pairs["ours"], pairs["theirs"]
        else:
            ours, theirs = (side[side.index.isin(questions)] for side in (self.ours, self.theirs))
        return self._replace(pairs=pairs, apart=apart, ours=ours, theirs=theirs)


class _Averages(NamedTuple):
    """One side's cells with a document of their own, and its averages of questions over documents."""

    cells: pd.DataFrame
    questions: pd.DataFrame


def match_systems_by_measure(
    first_scores: pd.DataFrame, second_scores: pd.DataFrame, wanted_measures: Collection[str] = ()
) -> Mapping[str, MatchedScores]:
    """Measure → its match, of two tidy tables: M_all from 10 to 100, and the metrics of both from -1 to 1.

    `wanted_measures` are the measures that are wanted; by default all.
    """
    ours, theirs = _average_cells_and_questions(first_scores), _average_cells_and_questions(second_scores)
    measures = [
        name
        for name in (OVERALL, *metric_display_names(first_scores))
        if name == OVERALL or name in list_metrics(second_scores)
    ]
    measures = [name for name in measures if not wanted_measures or name in wanted_measures]
    cells = _join_sides(ours.cells, theirs.cells, measures, _CELL)
    questions = _join_sides(ours.questions, theirs.questions, measures, _QUESTION)
    return {
        measure: _match_cells_or_questions(
            _select_pairs_with_measure(cells, measure, _CELL),
            _select_pairs_with_measure(questions, measure, _QUESTION),
            *(side.questions.dropna(subset=measure).groupby("question")[measure].mean() for side in (ours, theirs)),
        )
        for measure in measures
    }


def group_questions_by_source_and_category(
    first_scores: pd.DataFrame, second_scores: pd.DataFrame
) -> dict[str, set[str]]:
    """Group of questions → their ids: all, by source, by category."""
    about = pd.concat(
        [frame[["question", "category", "source"]].astype("str") for frame in (first_scores, second_scores)]
    )
    questions_by_group = {"all": set(about["question"])}
    for column in ("source", "category"):
        group_names = set(about[column])
        for name in (*first_scores[column].cat.categories, *second_scores[column].cat.categories):
            if name and name in group_names:
                questions_by_group[name] = set(about.loc[about[column] == name, "question"])
    return questions_by_group


def select_compared_rows(frame: pd.DataFrame, match: MatchedScores) -> pd.DataFrame:
    """Return the rows of a tidy table behind the pairs; those behind what is compared where there is no pair."""
    pairs, plain = match.apart, frame[_CELL].astype(str)
    if not len(pairs):
        return frame[plain["question"].isin([*match.ours.index, *match.theirs.index])]
    named = pairs["document"] != ""
    is_paired = pd.MultiIndex.from_frame(plain).isin(pd.MultiIndex.from_frame(pairs.loc[named, _CELL]))
    if not named.all():
        whole = pd.MultiIndex.from_frame(pairs.loc[~named, _QUESTION])
        is_paired |= pd.MultiIndex.from_frame(plain[_QUESTION]).isin(whole)
    return frame[is_paired]


@averages.cache_per_frame
def _average_cells_and_questions(frame: pd.DataFrame) -> _Averages:
    cells = averages.average_scores_by_question_and_document(frame)
    return _Averages(
        _average_measures(cells[cells["document"] != ""], _CELL),
        _average_measures(averages.average_questions_over_documents(cells), _QUESTION),
    )


def _average_measures(averaged_rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the measures as a frame, one row for each of the keys."""
    # A question's mean is of people's scores, or published; a cell may be a judge's estimate.
    is_scored = averaged_rows["scores"] > 0 if "scores" in averaged_rows else True
    plain = averaged_rows.assign(**{OVERALL: averaged_rows["m_all"], "known": is_scored}).astype(
        dict.fromkeys(keys, "str")
    )
    groups = plain.groupby(keys)
    return groups[[OVERALL, *list_metrics(averaged_rows)]].mean().join(groups["known"].any()).reset_index()


def _match_cells_or_questions(
    cell_pairs: pd.DataFrame,
    question_pairs: pd.DataFrame,
    first_question_means: pd.Series[float],
    second_question_means: pd.Series[float],
) -> MatchedScores:
    """Return the pairs of one measure: cells where an experiment has any in common, else questions."""
    question_pairs = question_pairs[~question_pairs["experiment"].isin(cell_pairs["experiment"])]
    paired = (
        pd.concat([cell_pairs, question_pairs.assign(document="")], ignore_index=True)
        if len(question_pairs)
        else cell_pairs
    )
    question_groups = paired.groupby(_QUESTION)
    number = question_groups["ours"].transform("size")
    apart = paired.assign(apart=paired["ours"] - paired["theirs"], weight=1 / number)
    in_experiments = question_groups[["ours", "theirs"]].mean().assign(pairs=question_groups.size())
    by_question = in_experiments.groupby("question")
    pairs = by_question[["ours", "theirs"]].mean().assign(pairs=by_question["pairs"].sum())
    apart = apart[[*_CELL, "apart", "weight", "known"]]
    experiments = (sorted(set(rows["experiment"])) for rows in (paired, question_pairs))
    return MatchedScores(pairs, apart, first_question_means, second_question_means, *experiments)


def _join_sides(first: pd.DataFrame, second: pd.DataFrame, measures: list[str], keys: list[str]) -> pd.DataFrame:
    """Return the rows that both have, with their measures, and whether both are `known`."""
    columns = [*keys, *measures, "known"]
    joined = first[columns].merge(second[columns], on=keys, suffixes=_SIDES)
    return joined.assign(known=joined["known_ours"] & joined["known_theirs"])


def _select_pairs_with_measure(joined: pd.DataFrame, measure: str, keys: list[str]) -> pd.DataFrame:
    """Return the rows in which both have the measure, as `ours` and `theirs`."""
    columns = {f"{measure}{side}": side.removeprefix("_") for side in _SIDES}
    return joined[[*keys, *columns, "known"]].dropna().rename(columns=columns).reset_index(drop=True)


HEADINGS = {
    "measure": "measure",
    "questions": "questions",
    "family": "family",
    "n": "n",
    "documents": "documents",
    "pairs": "pairs",
    "mean_a": "A",
    "mean_b": "B",
    "difference": "A \u2212 B",
    "low": "for these documents",
    "high": "to",
    "test": "test",
    "p": "p",
    "p_holm": "p (Holm)",
    "ranks_p": "p of ranks",
    "policies_low": "for policies like these",
    "policies_high": "to",
    "policies_p": "policies p",
    "policies_p_holm": "policies p (Holm)",
    "tests": "adjusted for",
    "level": "counts below",
    "effect": "effect",
    "meaning": "meaning",
}
"""The columns of the table of differences, and what people read above them."""
PRINTED = (
    *("measure", "questions", "family", "n", "difference", "low", "high", "p_holm"),
    *("policies_low", "policies_high", "policies_p_holm", "effect", "meaning"),
)
"""The columns for which a printed page is wide enough."""
_LIMITS = ((-2.0, 2.0), (-M_ALL_WIDTH, M_ALL_WIDTH))
"""The largest differences there are, in a metric and in M_all."""
_NO_PAIR = "The two have no pairs, so nothing can be said about policies like these."
_UNTESTED = RankTest("none", math.nan, math.nan)


def compute_difference_rows(
    match_by_measure: Mapping[str, MatchedScores],
    questions_by_group: Mapping[str, set[str]],
    *,
    has_estimates: bool = False,
    evidence: EvidenceLevel = ENDED,
) -> pd.DataFrame:
    """Return a row for each measure and group of questions that both sides have.

    The columns are `HEADINGS`, and `why` and `warning`: why nothing is said for policies like these, or that it rests
    on few documents. With `has_estimates` the values are estimates from people and judge; `evidence` is what has to be
    shown. A group with the same questions as one before it says nothing new, and would only cost certainty.
    """
    row_values, compared_values = [], []
    for measure, match in match_by_measure.items():
        compared_before = set()
        for group, questions in questions_by_group.items():
            selection = match.select_questions(questions)
            compared = tuple(tuple(values.index) for values in (selection.ours, selection.theirs))
            if all(compared) and compared not in compared_before:
                compared_before.add(compared)
                family = significance.FAMILIES[2 * (group != "all") + (measure != OVERALL)]
                compared_values.append(_MeasureDifference(selection, _LIMITS[measure == OVERALL], has_estimates))
                row = compared_values[-1].as_row_without_intervals(evidence)
                row_values.append({"measure": measure, "questions": group, "family": family, **row})
    data = _tabulate_holm_adjusted_differences(row_values, compared_values, [*HEADINGS, "why", "warning"])
    data["meaning"] = [significance.describe_difference_meaning(row) for row in data.to_dict("records")]
    return data


def _tabulate_holm_adjusted_differences(
    row_values: Sequence[Mapping[str, Any]], differences: Sequence[_MeasureDifference], columns: list[str]
) -> pd.DataFrame:
    """Return the rows with p adjusted within their families by Holm's method, and the intervals that belong to it."""
    data = pd.DataFrame(row_values, columns=columns)
    factors = {}
    for p in ("p", "policies_p"):
        tests = data.groupby("family", sort=False)[p]
        data[f"{p}_holm"] = tests.transform(lambda own: adjust_p_by_holm(own.tolist()))
        factors[p] = tests.transform(lambda own: find_holm_factors(own.tolist()))
    data["tests"] = data.groupby("family", sort=False)["p"].transform("count").astype("int64")
    # A family of tests for policies may be the smaller one.
    data["policies_p_holm"] = data[["p_holm", "policies_p_holm"]].max(axis=1).where(data["policies_p"].notna())
    ends = [
        difference.interval_ends(level / factor, level / policies_factor)
        for difference, level, factor, policies_factor in zip(
            differences, data["level"], factors["p"], factors["policies_p"], strict=True
        )
    ]
    data[list(_ENDS)] = np.array(ends, dtype="float64").reshape(-1, len(_ENDS))
    return data


_ENDS = ("low", "high", "policies_low", "policies_high")
"""The columns of both intervals."""


class _MeasureDifference(NamedTuple):
    """The compared values of one measure on one group of questions; differences are within these limits.

    `judged` values are estimates from people and judge.
    """

    match: MatchedScores
    limits: tuple[float, float]
    judged: bool

    def as_row_without_intervals(self, evidence: EvidenceLevel) -> dict[str, Any]:
        """Return the comparison, but for its intervals and what other comparisons make of its p."""
        ours, theirs = np.asarray(self.match.ours), np.asarray(self.match.theirs)
        row = {"n": min(len(ours), len(theirs)), "mean_a": float(ours.mean()), "mean_b": float(theirs.mean())}
        row["level"] = evidence.p
        sure, wider = self.estimate_for_documents_and_policies(LEVEL)
        if not len(self.match.pairs):
            tested = mann_whitney_test(ours, theirs) if row["n"] >= evidence.least_questions else _UNTESTED
            outcome = {"difference": sure.mean, **_choose_p_values(tested, sure)}
            return {**row, "pairs": 0, "documents": 0, **outcome, "why": _NO_PAIR, "warning": ""}
        tested, pairs = wilcoxon_signed_rank_test(ours - theirs), self.match.apart
        if self.judged and tested.test != "none":  # questions without a score have a part in common: no signs to rank
            tested = RankTest("none" if math.isnan(sure.p) else "t", math.nan, tested.effect)
        scored = pairs["known"] if self.judged else slice(None)
        if pairs.loc[scored, "question"].nunique() < evidence.least_questions:
            tested = tested._replace(test="none", p=math.nan)
        return {
            **row,
            "pairs": int(self.match.pairs["pairs"].sum()),
            "documents": sure.documents,
            "difference": sure.mean if self.judged else float((ours - theirs).mean()),
            **_choose_p_values(tested, join_document_and_policy_estimates(sure, wider)),
            "why": explain_missing_interval_or_empty(wider),
            "warning": rough_policy_interval_warning_or_empty(wider),
        }

    def estimate_for_documents_and_policies(self, confidence: float) -> tuple[CrossedMean, CrossedMean]:
        """Say how sure the average difference is: of all pairs, and of those that say something of other documents."""
        pairs = self.match.apart
        if not len(self.match.pairs):
            sides = (
                (side, number_labels_and_list_distinct(side.index)[0]) for side in (self.match.ours, self.match.theirs)
            )
            return (estimate_difference_of_independent_means(*sides, limits=self.limits, confidence=confidence),) * 2
        # An experiment that is known by means only says nothing of how documents differ, nor where their average is.
        named = pairs[pairs["document"] != ""]
        sure = self._estimate_mean_difference_of_pairs(pairs, confidence)
        return sure, sure if len(named) in (0, len(pairs)) else self._estimate_mean_difference_of_pairs(
            named, confidence
        )

    def _estimate_mean_difference_of_pairs(self, pairs: pd.DataFrame, confidence: float) -> CrossedMean:
        return estimate_crossed_mean(
            pairs["apart"],
            pairs["question"],
            pairs["document"],
            weights=pairs["weight"],
            limits=self.limits,
            has_scores=pairs["known"] if self.judged else None,
            confidence=confidence,
        )

    def interval_ends(self, documents_level: float, policies_level: float) -> tuple[float, float, float, float]:
        """Return the ends of both intervals, each of 1 - its level; the second contains the first."""
        sure, wider = self.estimate_for_documents_and_policies(1 - documents_level)
        low, high = sure.low, sure.high
        if policies_level != documents_level:
            sure, wider = self.estimate_for_documents_and_policies(1 - policies_level)
        joined = join_document_and_policy_estimates(sure, wider)
        return low, high, float(np.minimum(low, joined.policies_low)), float(np.maximum(high, joined.policies_high))


def _choose_p_values(rank_test: RankTest, estimate: CrossedMean) -> dict[str, Any]:
    """Return the p values that belong to the intervals, and that of ranks; too few questions have none.

    Where all questions differ alike there is no interval, and p is the ranks'.
    """
    if rank_test.test == "none":
        alone = {"test": "none", "p": math.nan, "policies_p": math.nan}
    elif math.isnan(estimate.p):
        alone = {"test": rank_test.test, "p": rank_test.p, "policies_p": math.nan}
    else:
        alone = {"test": "t", "p": estimate.p, "policies_p": estimate.policies_p}
    return {**alone, "ranks_p": rank_test.p, "effect": rank_test.effect}


_MOST = 30
"""Systems that are compared; of more, the matrix is too large to be read."""
PAIRS = [
    *("first", "second", "n", "documents", "difference", "low", "high", "policies_low", "policies_high"),
    *("p_holm", "policies_p_holm", "tests", "level", "meaning"),
]
"""The columns of the table of pairs, as of a comparison: the first system minus the second.

`tests` is the number of pairs that p and the intervals are adjusted for.
"""
_MAY_BE_CHANCE = "may be chance"


def m_all_differences_of_all_system_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair of systems with questions in common (columns: `PAIRS`), the higher average first.

    `meaning` names the higher system, with whom it holds for, or says that the difference may be chance, and where only
    the number of pairs makes it that. Intervals belong to the adjusted p.
    """
    frame = drop_sparsely_scored_experiments(frame)
    policy_rows = select_policy_rows(estimate_sides_with_one_lambda([frame], all_sides_or_none=True)[0].frame)
    means = average_policy_questions(policy_rows).groupby(["system", "question"], observed=True)["m_all"].mean()
    means = means.groupby("system", observed=True).mean().dropna()
    ordered = sorted(map(str, means.index), key=lambda name: (-means[name], name))
    return m_all_differences_of_given_pairs(frame, list(combinations(ordered, 2)) if len(ordered) <= _MOST else [])


def m_all_differences_of_given_pairs(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return a row for each of these pairs of systems, with p adjusted for these alone."""
    frame = drop_sparsely_scored_experiments(frame)
    compared = [
        pair for first, second in pairs if (pair := _compare_m_all_of_two_systems(frame, first, second)) is not None
    ]
    data = _tabulate_holm_adjusted_differences(
        [row for row, _ in compared], [behind for _, behind in compared], [*PAIRS, "family", "p", "policies_p"]
    )
    data["meaning"] = [_describe_pair_meaning(row) for row in data.to_dict("records")]
    return data[PAIRS]


@averages.cache_per_frame
def _compare_m_all_of_two_systems(
    frame: pd.DataFrame, first: str, second: str
) -> tuple[dict[str, Any], _MeasureDifference] | None:
    """Compare two systems, over what averages take and what people scored; None if they have no pair."""
    sides, judged = _estimated_and_people_rows_by_system(frame)
    if not {first, second} <= sides.keys():
        return None
    match = match_systems_by_measure(sides[first][0], sides[second][0], (OVERALL,))[OVERALL]
    if not len(match.pairs):
        return None
    people = [sides[name][1] for name in (first, second)]
    other_analysts = note_confounded_analysts(*(select_compared_rows(rows, match) for rows in people))
    compared_values = _MeasureDifference(match.select_questions(set(match.pairs.index)), _LIMITS[True], judged)
    row = compared_values.as_row_without_intervals(comparison_evidence_level(people, match))
    about = {"first": first, "second": second, "meaning": OTHER_PEOPLE if other_analysts else ""}
    return {**row, **about, "family": significance.PRIMARY}, compared_values


@averages.cache_per_frame
def _estimated_and_people_rows_by_system(
    frame: pd.DataFrame,
) -> tuple[dict[str, tuple[pd.DataFrame, pd.DataFrame]], bool]:
    """System → what averages take of it and what people scored; and whether the former are estimates."""
    (estimate,) = estimate_sides_with_one_lambda([frame], all_sides_or_none=True)
    policy_rows, people = select_policy_rows(estimate.frame), select_policy_rows(frame)
    sides = {
        str(name): (rows, people[people["system"] == name])
        for name, rows in policy_rows.groupby("system", observed=True)
    }
    return sides, estimate.is_z


def comparison_evidence_level(side_frames: Sequence[pd.DataFrame], match: MatchedScores) -> EvidenceLevel:
    """Return what has to be shown of two sides, by how much of the experiments in which they are compared is scored."""
    return choose_evidence_level(
        measure_plan_share(_select_rows_of_experiments(rows, match.experiments) if len(match.pairs) else rows)
        for rows in side_frames
    )


def _select_rows_of_experiments(rows: pd.DataFrame, experiments: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these experiments: the same object, where that is all, so that it is found in the cache."""
    is_compared = rows["experiment"].isin(experiments)
    return rows if is_compared.all() else rows[is_compared]


def _describe_pair_meaning(row: dict[Any, Any]) -> str:
    if row["meaning"]:
        return str(row["meaning"])
    if not row["p_holm"] < row["level"]:
        if math.isnan(row["p_holm"]):
            return ""
        return f"{_MAY_BE_CHANCE}, as one of {row['tests']} pairs" if row["p"] < row["level"] else _MAY_BE_CHANCE
    higher = row["first"] if row["difference"] > 0 else row["second"]
    return f"{higher} higher" + ("" if row["policies_p_holm"] < row["level"] else " for these documents")


def is_policies_p_known(pairs: pd.DataFrame) -> bool:
    """Tell whether anything can be said of these pairs for policies like these."""
    return bool(pairs["policies_p_holm"].notna().any())


def possible_rank_ranges(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns `system`, `rank`, `to` and `of`: the least and the greatest rank that the differences leave.

    They hold for policies like these where anything can be said of those, else for these documents.
    """
    holding = pairs[(pairs["p_holm"] < pairs["level"]) & (pairs["meaning"] != OTHER_PEOPLE)]
    if is_policies_p_known(pairs):
        holding = holding[holding["policies_p_holm"] < holding["level"]]
    systems = pd.Index([*pairs["first"], *pairs["second"]]).unique()
    first, second = systems.get_indexer(holding["first"]), systems.get_indexer(holding["second"])
    up = (holding["difference"] > 0).to_numpy()
    lowest, greatest = find_rank_bounds(np.where(up, first, second), np.where(up, second, first), len(systems))
    return pd.DataFrame({"system": systems, "rank": lowest, "to": greatest, "of": len(systems)})


def explain_holm_adjustment(pairs: pd.DataFrame) -> str:
    """Say over how many pairs p and intervals are adjusted."""
    tests = int(pairs["tests"].max()) if len(pairs) else 0
    about = f"for the {tests} pairs that this table tests" if tests > 1 else "for one pair alone, which changes nothing"
    return (
        f"p is adjusted by Holm's method {about if tests else 'for the number of pairs'}. It decides what a row means, "
        "and each interval belongs to it: the interval excludes 0 where this p is below the level at which a "
        f"difference counts ({SIGNIFICANT:g} at the end of a study)."
    )


def explain_missing_pairs_if_too_many(system_count: int) -> str:
    """Say why systems are not compared with each other, where they are too many; else empty."""
    return (
        f"Systems are compared in pairs where there are at most {_MOST}, and here are {system_count:,}: name some."
        if system_count > _MOST
        else ""
    )


def system_difference_and_rank_tables(frame: pd.DataFrame) -> list[Table]:
    """Return the differences between all pairs of systems, and their ranks; none of fewer than two systems."""
    pairs = m_all_differences_of_all_system_pairs(frame)
    if pairs.empty:
        return []
    level, columns = part.leaderboard_evidence_level(frame), [name for name in PAIRS if name not in ("level", "tests")]
    early = bool((pairs["level"] != SIGNIFICANT).any())
    return [
        make_table(
            "system-differences",
            "Systems against each other",
            f"{level.prefix_or_empty}M_all (10 to 100), the first minus the second, over the questions about documents "
            f"that people scored for both. {explain_holm_adjustment(pairs)}",
            pairs,
            [*columns, "level"] if early else columns,
            aside=["tests"] if early else ["tests", "level"],
            headings={
                "low": "for these documents",
                "policies_low": "for policies like these",
                "p_holm": "p (Holm)",
                "policies_p_holm": "policies p (Holm)",
                "level": "counts below",
            },
            formats={
                "level": "g",
                **dict.fromkeys(("difference", "low", "high", "policies_low", "policies_high"), "+.1f"),
                **dict.fromkeys(("p_holm", "policies_p_holm"), ".2g"),
            },
        ),
        make_table(
            "system-ranks",
            "Ranks, as far as they are known",
            "The lowest and the highest rank of a system, according to the differences that hold for "
            f"{'policies like these' if is_policies_p_known(pairs) else 'these documents'}, as on the first screen.",
            possible_rank_ranges(pairs),
            ["system", "rank", "to", "of"],
            headings={"rank": "rank from"},
        ),
    ]
