"""Whether a difference may be chance: tests of pairs and of independent sets, effect sizes, the verdict, and power.

What is handed over are questions, which are independent of each other, and not the scores behind them. The verdict in
words has what holds beside it, and what is too little.

To find a difference means that the verdict of `genaipa compare` on M_all tells the two apart, for these documents or
for policies like these. The share of studies that find one is that of made-up studies: normal differences of known
variance, each with the intervals of `reports.crossed`.
"""

from __future__ import annotations

import math
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from genaipa.reports.crossed import crossed
from genaipa.stats.bisection import find_root
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from genaipa.reports.matches import Match

    Floats = NDArray[np.float64]
    Row = Mapping[Any, Any]

OVERALL = "M_all"
"""The name of M_all, from 10 to 100, as a measure beside the metrics."""
SIGNIFICANT = 0.05
"""An adjusted p below this is taken for more than chance, once all that was planned is scored (`reports.evidence`)."""
_LEAST_WRITTEN = 0.001
_LEAST_WAYS = 40
"""Below this many ways for chance to deal out signs or sides, no two-sided p gets below 0.05, which is 2 of 40."""
_EXACT = 50
"""Up to this many values, all the ways are counted; from there on, the normal approximation is as good."""
_DIGITS = 9
"""Decimals to which averages are the same: sums of halves, divided by threes and fives, are not so exactly."""


def written(p: float) -> str:
    """A p as sentences have it: to two digits, or as below the smallest one that is written."""
    return f"p < {_LEAST_WRITTEN}" if p < _LEAST_WRITTEN else f"p = {p:.2g}"


def percent(level: float) -> str:
    """Write the confidence that belongs to a level, as sentences have it: `95%` of 0.05, `99.9%` of 0.001."""
    return f"{100 * (1 - level):g}%"


class Tested(NamedTuple):
    """A test's name, its two-sided p (NaN without a test), and the effect size, from -1 to 1: above 0 is higher."""

    test: Literal["Wilcoxon", "Mann-Whitney", "t", "none"]
    p: float
    effect: float


def paired(differences: Floats) -> Tested:
    """Wilcoxon's signed-rank test, with the matched-pairs rank-biserial correlation; zeros are left out of both.

    No test is made of fewer than six differences: none could be significant. If all of six or more are zero, p
    is 1. The effect of zeros alone is 0.
    """
    rounded = differences.round(_DIGITS)
    moved = rounded[rounded != 0]
    ranks = _ranks(np.abs(moved))
    effect = float((ranks * np.sign(moved)).sum() / ranks.sum()) if len(moved) else 0.0
    if 2 ** len(rounded) < _LEAST_WAYS:
        return Tested("none", math.nan, effect)
    if len(moved) > _EXACT:
        from scipy import stats

        # "asymptotic" by its name before SciPy 1.15, which later ones know, too.
        return Tested("Wilcoxon", float(stats.wilcoxon(moved, method="approx").pvalue), effect)
    # Ranks of ties end in .5. The ways to a sum of positive ranks: each rank is added, or it is not.
    twice = (2 * ranks).astype(int)
    ways = np.zeros(twice.sum() + 1)
    ways[0] = 1
    for rank in twice:
        ways[rank:] += ways[:-rank].copy()
    return Tested("Wilcoxon", _two_sided(ways, twice[moved > 0].sum()), effect)


def unpaired(first: Floats, second: Floats) -> Tested:
    """The Mann-Whitney U test of two independent sets, with Cliff's delta.

    No test is made of so few values that no difference could be significant. If all are equal, p is 1.
    """
    ours, theirs = first.round(_DIGITS), second.round(_DIGITS)
    effect = float(np.sign(ours[:, None] - theirs).mean())
    ways = math.comb(len(ours) + len(theirs), len(ours))
    if ways < _LEAST_WAYS:
        return Tested("none", math.nan, effect)
    if np.ptp(np.concatenate([ours, theirs])) == 0:
        return Tested("Mann-Whitney", 1.0, effect)
    if len(ours) + len(theirs) > _EXACT:
        from scipy import stats

        return Tested("Mann-Whitney", float(stats.mannwhitneyu(ours, theirs, method="asymptotic").pvalue), effect)
    # As above, by how many of the ranks are ours.
    twice = (2 * _ranks(np.concatenate([ours, theirs]))).astype(int)
    dealt = np.zeros((len(ours) + 1, twice.sum() + 1))
    dealt[0, 0] = 1
    for rank in twice:
        dealt[1:, rank:] += dealt[:-1, :-rank].copy()
    return Tested("Mann-Whitney", _two_sided(dealt[-1], twice[: len(ours)].sum()), effect)


def _ranks(values: Floats) -> Floats:
    """The rank of each value, ties at their average: as `scipy.stats` does it, which takes long to import."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (often.cumsum() - (often - 1) / 2)[place]
    return ranks


def _two_sided(ways: Floats, at: int) -> float:
    """The chance of what was found at a place, or more extreme, in either direction."""
    return float(min(1.0, 2 * min(ways[: at + 1].sum(), ways[at:].sum()) / ways.sum()))


def holm(p: Sequence[float]) -> list[float]:
    """The p-values adjusted for their number by Holm's method; NaN is no test, and stays."""
    return [value if math.isnan(value) else min(1.0, value) for value in _step_down(p)]


def factors(p: Sequence[float]) -> list[float]:
    """Return by how much Holm's method multiplies each p; 1 for no test.

    The interval that belongs to an adjusted p is that of 1 - level / factor: it excludes 0 exactly where the adjusted p
    is below the level. By itself it holds the truth at least as often as that of 1 - level.
    """
    return [more / value if value > 0 else 1.0 for value, more in zip(p, _step_down(p), strict=True)]


def _step_down(p: Sequence[float]) -> list[float]:
    """Multiply each p by the number of those that are not below it, and at least as one before it."""
    tests = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    adjusted, least = [math.nan] * len(p), 0.0
    for before, (value, place) in enumerate(tests):
        least = max(least, value * (len(tests) - before))
        adjusted[place] = least
    return adjusted


FEW = 10
"""Below this many questions, what is found is said to rest on few."""
OTHER_PEOPLE = "other analysts"
"""The meaning of a difference where other people scored the one side than the other."""
PRIMARY = "primary endpoint"
FAMILIES = (PRIMARY, "single metrics", "M_all by group", "metrics by group")
"""The families of tests: within each, p-values are adjusted for their number. The first is one test: M_all overall."""
IN_FAMILIES = (
    f"Families of tests: {OVERALL} on all questions is the primary endpoint, and its p is not adjusted. By Holm's "
    "method p is adjusted for the number of tests within each of the others: single metrics on all questions; M_all by "
    "group of questions; metrics by group. Groups too small to test (pairs: under six questions) have an interval and "
    "an effect size, and no p."
)
"""The families, for the method and every caption."""


def meaning(row: Row) -> str:
    """The meaning of a row, for somebody who does not read p-values: for policies like these, else these documents."""
    if row["test"] == "none":
        return "too few questions to test"
    here = row["p_holm"] < row["level"]
    higher = "A higher" if row["difference"] > 0 else "B higher"
    if here:
        wider = "" if math.isnan(row["policies_p"]) else " only"
        said = higher if holds_widely(row) else f"{higher} for these documents{wider}"
        said += "; not by ranks" if not by_ranks(row) else ""
    elif row["p"] < row["level"] or row["policies_p"] < row["level"]:
        said = "may be chance, among so many tests"
    else:
        said = "may be chance" if row["effect"] or row["difference"] else "no difference"
    return f"{said}; few questions" if row["n"] < FEW else said


def holds_widely(row: Row) -> bool:
    """Whether a difference holds for policies like these: never where it does not for these documents."""
    return bool(row["p_holm"] < row["level"] and row["policies_p_holm"] < row["level"])


def by_ranks(row: Row) -> bool:
    """Whether a difference of means is one of ranks, too; also where ranks are not known."""
    return math.isnan(row["ranks_p"]) or (row["ranks_p"] < row["level"] and row["effect"] * row["difference"] > 0)


def scope(matched: Mapping[str, Match], differing: Sequence[str]) -> Iterator[str]:
    """Sentences on the systems, documents and questions compared."""
    if differing:
        yield f"Only what both have in common is compared: {'; '.join(differing)}."
    match = matched[OVERALL]
    if not len(match.pairs):
        yield (
            f"The two have no scored cell in common: {len(match.ours)} questions of A are compared with "
            f"{len(match.theirs)} of B, as independent sets; that the questions and documents are others is part of "
            "the difference."
        )
        return
    questions, pairs = len(match.pairs), int(match.pairs["pairs"].sum())
    yield (
        f"Compared {'is' if questions == 1 else 'are'} {number(questions, 'question')}: {number(pairs, 'pair')} in "
        f"{', '.join(match.experiments)}{'' if match.by_question else ', each about the same document'}."
    )
    known = {measure: ", ".join(match.by_question) for measure, match in matched.items() if match.by_question}
    if known:
        where = "; ".join(
            f"{', '.join(measure for measure in known if known[measure] == experiments)} in {experiments}"
            for experiments in dict.fromkeys(known.values())
        )
        yield (
            "Where one side is known by means over documents only, a pair is a question, and the documents may differ; "
            f"these pairs say nothing of policies like these, unless there are no others: {where}."
        )


def found(data: pd.DataFrame, first: str, second: str, refused: str = "", judge: str = "") -> Iterator[str]:
    """The overall difference and the verdict on it, then what holds in each family of secondary tests.

    `refused` says why there is no verdict, `judge` whose verdicts alone are compared.
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
        intervals = f" ({percent(row['level'])} intervals: {', '.join(sure)})" if sure else ""
        yield (
            f"{OVERALL}: {first} {row['mean_a']:.1f}, {second} {row['mean_b']:.1f}, "
            f"difference {row['difference']:+.1f}{intervals}."
        )
        said = f"Verdict: none. {refused}" if refused else verdict(row, first, second)
        yield said.replace("Verdict", f"Verdict of the judge {judge} alone", 1) if judge else said
        if row["warning"]:
            yield row["warning"]
    if refused:
        return
    for family in FAMILIES[1:]:
        tested = data[(data["family"] == family) & (data["test"] != "none")]
        if len(tested):
            tests = "1 test" if len(tested) == 1 else f"{len(tested)} tests, adjusted by Holm's method"
            yield f"{family[0].upper()}{family[1:]} ({tests}): {_holding(tested, first, second)}."


def verdict(row: Row, first: str, second: str) -> str:
    """The conclusion from the primary endpoint for policies like these, and the one from these documents alone."""
    if row["test"] == "none":
        return f"Verdict: none, for {row['n']} questions are too few to test."
    higher = f"{first if row['difference'] > 0 else second} is higher"
    here = row["p"] < row["level"]
    alone = f"{higher if here else 'the difference may be chance'} ({written(row['p'])})"
    ranks = f" By ranks it may be chance ({written(row['ranks_p'])})." if here and not by_ranks(row) else ""
    if here and row["effect"] * row["difference"] < 0:
        ranks = " By ranks the other is higher."
    if math.isnan(row["policies_p"]):
        return f"Verdict, of these documents only: {alone}.{ranks} {row['why']}"
    said = higher if row["policies_p"] < row["level"] else "the difference may be chance"
    return (
        f"Verdict: for policies like these, {said} ({written(row['policies_p'])}). "
        f"For these documents alone it would be: {alone}.{ranks}"
    )


def power(match: Match, level: float = SIGNIFICANT) -> Iterator[str]:
    """The size of a difference that a study like this one would find, by how the differences found here vary."""
    named = match.apart[match.apart["document"] != ""]
    pairs = named if len(named) else match.apart
    table = pairs.pivot_table(index="question", columns="document", values="apart")
    found = detectable(*table.shape, components(table.to_numpy()), level=level)
    if said := found.in_words(len(table), table.shape[1] if len(named) else 0):
        yield f"{said}, as the differences found here vary."


def _holding(tested: pd.DataFrame, first: str, second: str) -> str:
    """The tests of a family that hold, and for whom."""
    others = tested["meaning"] == OTHER_PEOPLE
    here = ~others & (tested["p_holm"] < tested["level"])
    general = here & (tested["policies_p_holm"] < tested["level"])
    only = here & ~general
    unknown, up = tested["policies_p"].isna(), tested["difference"] > 0
    no_word = "for these documents (nothing can be said for policies like these)"
    said = [
        f"{words} {_places(rows)}"
        for words, rows in (
            (f"{first} is higher in", tested[general & up]),
            (f"{second} is higher in", tested[general & ~up]),
            (f"for these documents only, {first} is higher in", tested[only & ~unknown & up]),
            (f"for these documents only, {second} is higher in", tested[only & ~unknown & ~up]),
            (f"{no_word}, {first} is higher in", tested[only & unknown & up]),
            (f"{no_word}, {second} is higher in", tested[only & unknown & ~up]),
            ("no verdict, since other people scored each side, in", tested[others]),
        )
        if len(rows)
    ]
    return "; ".join(said) or "no difference holds"


def _places(rows: pd.DataFrame) -> str:
    """`accuracy, clarity`; of groups `accuracy (faq, user)`."""
    return ", ".join(
        str(measure) + ("" if set(some["questions"]) == {"all"} else f" ({', '.join(some['questions'])})")
        for measure, some in rows.groupby("measure", sort=False)
    )


def small(data: pd.DataFrame) -> Iterator[str]:
    """A warning where little is known."""
    few, untested = int((data["n"] < FEW).sum()), int((data["test"] == "none").sum())
    if few:
        yield (
            f"Small n: {few} of {len(data)} comparisons rest on fewer than {FEW} questions"
            + (", too few for any test" if untested == few else f", {untested} of them on too few for any test")
            + "; there, only large differences can show."
        )


POWER = 0.8
STUDIES = 100
"""Studies that are made up; with them, `POWER` is met to about 0.03."""
_LARGEST = 200_000
"""Cells that are made up at most."""


class Components(NamedTuple):
    """The variance, in squared points of M_all, of the difference between two systems in one cell.

    A cell is one question about one document, asked once of both. `questions` is what other questions change in the
    difference, `documents` what other documents change, and `rest` what neither explains.
    """

    questions: float
    documents: float
    rest: float


PUBLISHED = Components(questions=262.0, documents=49.0, rest=886.0)
"""ChatGPT-4 and Bard in the GenAIPABench study: the means over its tables of M_all by document for robustness,
recall and summary, as `components` finds them."""


def components(values: Floats) -> Components:
    """Estimate the components from differences, questions x documents, NaN where there is none.

    By a two-way analysis of variance without interaction; with one document or one question `rest` is 0, for it can't
    be separated from the other. An estimate may be below 0, where there is less variance than chance makes.
    """
    row, column = np.nonzero(~np.isnan(values))
    value, shape = values[row, column], values.shape
    design = np.hstack([np.eye(shape[0])[row], np.eye(shape[1])[column]])
    effects, _, rank, _ = np.linalg.lstsq(design, value, rcond=None)
    free = len(value) - int(rank)
    rest = float(((value - design @ effects) ** 2).sum()) / free if free else 0.0
    found = []
    for places, own in ((row, effects[: shape[0]]), (column, effects[shape[0] :])):
        each = np.bincount(places, minlength=len(own))
        known = each > 0
        found.append(float(own[known].var(ddof=1) - rest * (1 / each[known]).mean()) if known.sum() > 1 else 0.0)
    return Components(found[0], found[1], rest)


class Detectable(NamedTuple):
    """The smallest difference, in points of M_all, that 80 % of studies find, for each target; NaN for none."""

    these_documents: float
    policies: float

    def in_words(self, questions: int, documents: int = 0) -> str:
        """The beginning of a sentence, with these numbers (0 for documents that are not known); empty for no size."""
        sizes = [
            f"of {size:.1f} {target}"
            for size, target in (
                (self.policies, "for policies like these"),
                (self.these_documents, "for these documents"),
            )
            if size == size  # noqa: PLR0124 - only NaN differs from itself
        ]
        if not sizes:
            return ""
        about = f" and {number(documents, 'document')}" if documents else ""
        return (
            f"Power: with these {questions} questions{about} a difference in M_all {' and one '.join(sizes)} "
            f"would be found in {POWER:.0%} of studies"
        )


def detectable(
    questions: int,
    documents: int,
    variance: Components = PUBLISHED,
    *,
    studies: int = STUDIES,
    level: float = SIGNIFICANT,
) -> Detectable:
    """Return the smallest differences that studies of this size find: each question about each document, once for both.

    They are found at p below the `level`.
    """
    if questions < 2 or not documents or max(variance) <= 0:  # noqa: PLR2004 - one question does not vary
        return Detectable(np.nan, np.nan)
    of_questions, of_documents, rest = (max(component, 0.0) for component in variance)
    random = np.random.default_rng(0)
    asked, about = np.repeat(np.arange(questions), documents), np.tile(np.arange(documents), questions)
    reaches = []
    for _ in range(max(10, min(studies, _LARGEST // len(asked)))):
        drawn = random.normal(0, sqrt(of_questions), questions)[asked] + random.normal(0, sqrt(rest), len(asked))
        values = drawn + random.normal(0, sqrt(of_documents), documents)[about]
        found = crossed(values, asked, about, confidence=1 - level)
        reaches.append((found.mean - found.low, found.mean - found.policies_low))
    here = of_questions / questions + rest / len(asked)
    errors = sqrt(here), sqrt(here + of_documents / documents)
    return Detectable(*(_found(reach, error) for reach, error in zip(np.array(reaches).T, errors, strict=True)))


def _found(reach: Floats, error: float) -> float:
    """The difference found with probability `POWER`: its mean, of this standard error, lies beyond half an interval.

    The mean of a normal sample does not depend on how its values vary, nor then on the interval's half.
    """
    if np.isnan(reach).any():
        return float("nan")
    return find_root(lambda size: POWER - ndtr((size - reach) / error).mean(), 0.0, reach.max() + 5 * error)
