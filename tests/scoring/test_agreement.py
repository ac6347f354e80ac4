"""How far analysts agree, compared with the krippendorff package and with plain loops over the scores."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from statistics import mean
from typing import Any

import krippendorff
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from size import size

from genaipa.scoring.agreement import Alpha, MetricAgreement, measure
from genaipa.scoring.events import Event, new_id
from genaipa.scoring.rubric import Values
from rubrics import METRICS, PAPER, VALUES, typed

SCALE = sorted(VALUES)
Scores = dict[tuple[str, str], Values]
"""(answer, analyst) → the values given."""

# Many answers with equal values, so that some metric often doesn't vary at all.
some_values = st.tuples(*(st.sampled_from("123"[:n]) for n in (3, 3, 2, 2, 1))).map("".join).map(typed)
some_scores = st.dictionaries(
    st.tuples(st.sampled_from([f"answer {n}" for n in range(8)]), st.sampled_from("ABCDE")), some_values, max_size=30
)


def events(scores: Scores) -> list[Event]:
    """The scores as events, a minute apart, in the order in which they stand there."""
    return [
        Event(new_id(), f"2026-01-01T{n // 60:02}:{n % 60:02}:00.000Z", "score", analyst, answer, values)
        for n, ((answer, analyst), values) in enumerate(scores.items())
    ]


def columns_of(**columns: str) -> Scores:
    """One analyst per column, with a digit per answer (a blank for none) that is every metric's value."""
    rows = zip(*columns.values(), strict=True)
    return {
        (f"answer {row}", analyst): typed(digit * 5)
        for row, digits in enumerate(rows)
        for analyst, digit in zip(columns, digits, strict=True)
        if digit != " "
    }


def by_answer(scores: Scores, metric: str) -> dict[str, dict[str, float]]:
    """What was given to each answer that has two scores or more, analyst by analyst."""
    found: dict[str, dict[str, float]] = {}
    for (answer, analyst), values in scores.items():
        found.setdefault(answer, {})[analyst] = values[metric]
    return {answer: values for answer, values in found.items() if len(values) > 1}


def packages_alpha(given: dict[str, dict[str, float]]) -> float | None:
    """What the krippendorff package finds; None where it can't."""
    counts = [[list(values.values()).count(value) for value in SCALE] for values in given.values()]
    if not counts:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = krippendorff.alpha(value_counts=counts, value_domain=SCALE, level_of_measurement="ordinal")
    return None if math.isnan(alpha) else alpha


def pairs_of(given: dict[str, dict[str, float]]) -> list[list[tuple[float, float]]]:
    """Each answer's pairs of values."""
    return [list(itertools.combinations(values.values(), 2)) for values in given.values()]


def expect(found: MetricAgreement, given: dict[str, dict[str, float]]) -> None:
    """The agreement on a metric is what plain loops and the package find."""
    assert found.alpha.value == pytest.approx(packages_alpha(given), abs=1e-9)
    assert found.alpha.value is not None or found.alpha.reason
    if given:
        pairs = pairs_of(given)
        assert found.agreement == pytest.approx(mean(mean(a == b for a, b in answer) for answer in pairs))
        assert found.difference == pytest.approx(mean(mean(abs(a - b) for a, b in answer) for answer in pairs))
        share = {
            value: mean(list(values.values()).count(value) / len(values) for values in given.values())
            for value in SCALE
        }
        assert found.commonest == pytest.approx(max(share.values()))
        assert found.ac2 == pytest.approx(plain_ac2(pairs, share))
    else:
        assert (found.agreement, found.difference, found.ac2, found.commonest) == (None,) * 4


def plain_ac2(pairs: list[list[tuple[float, float]]], share: dict[float, float]) -> float:
    """Gwet's AC2 in loops: a pair weighs the less, the more pairs of values its two enclose."""
    enclosed = math.comb(len(SCALE), 2)
    weight = {
        (a, b): 1 - math.comb(abs(SCALE.index(a) - SCALE.index(b)) + 1, 2) / enclosed
        for a, b in itertools.product(SCALE, repeat=2)
    }
    observed = mean(mean(weight[pair] for pair in answer) for answer in pairs)
    spread = sum(one * (1 - one) for one in share.values())
    expected = sum(weight.values()) / (len(SCALE) * (len(SCALE) - 1)) * spread
    return (observed - expected) / (1 - expected)


@given(some_scores)
def test_metrics_equal_the_package(scores: Scores) -> None:
    """Alpha is the krippendorff package's on any data with gaps; agreement and difference are what loops find."""
    measured = measure(events(scores), PAPER)
    assert measured.answers == len(by_answer(scores, "clarity"))
    for metric in METRICS:
        expect(measured.metrics[metric], by_answer(scores, metric))


@given(some_scores)
def test_pairs_equal_the_package(scores: Scores) -> None:
    """Every two analysts with an answer in common are compared as if they were the only ones, worst first."""
    measured = measure(events(scores), PAPER)
    compared = {}
    for pair in itertools.combinations(sorted({analyst for _, analyst in scores}), 2):
        own = {key: values for key, values in scores.items() if key[1] in pair}
        if by_answer(own, "clarity"):
            compared[pair] = own
    assert {pair.analysts for pair in measured.pairs} == set(compared)
    for pair in measured.pairs:
        own = compared[pair.analysts]
        assert pair.answers == len(by_answer(own, "clarity"))
        for metric in METRICS:
            expect(pair.metrics[metric], by_answer(own, metric))
        assert pair.difference == pytest.approx(mean(pair.metrics[metric].difference or 0 for metric in METRICS))
    differences = [pair.difference for pair in measured.pairs]
    assert differences == sorted(differences, reverse=True)


@given(some_scores)
def test_leanings_equal_plain_loops(scores: Scores) -> None:
    """A leaning is the mean of own value less the others' mean; its drift is the later half's less the earlier's."""
    leanings = {leaning.analyst: leaning for leaning in measure(events(scores), PAPER).leanings}
    grown = defaultdict[str, list[float]](list)
    for metric in METRICS:
        given = by_answer(scores, metric)
        for analyst in "ABCDE":
            # In the order of time, which is the order of `scores`.
            differences = [
                given[answer][analyst] - mean(v for other, v in given[answer].items() if other != analyst)
                for answer, scorer in scores
                if scorer == analyst and answer in given
            ]
            if not differences:
                continue
            found, half = leanings[analyst], len(differences) // 2
            assert found.answers == len(differences)
            assert found.lenient[metric] == pytest.approx(mean(differences), abs=1e-9)
            assert (found.drift is None) == (half == 0)
            grown[analyst].append(mean(differences[half:]) - mean(differences[:half]) if half else 0)
    assert set(leanings) == grown.keys()
    for analyst, by_metric in grown.items():
        assert (leanings[analyst].drift or 0) == pytest.approx(mean(by_metric), abs=1e-9)


@given(some_scores)
def test_nothing_is_nan(scores: Scores) -> None:
    """Whatever can't be computed is None with a reason: no number in the result is nan or infinite."""
    numbers: list[float] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict | list | tuple):
            for inner in value.values() if isinstance(value, dict) else value:
                collect(inner)
        elif isinstance(value, float):
            numbers.append(value)

    collect(msgspec.to_builtins(measure(events(scores), PAPER)))
    assert all(map(math.isfinite, numbers))


def test_alpha_by_hand() -> None:
    """A small table whose alpha is worked out on paper."""
    # Coincidences: 4 of (+1, +1), 1 of (+1, +0.5) each way, 2 of (-1, -1); so 5 of +1, 1 of +0.5, 2 of -1. Mean ranks
    # from below: -1 at 1, +0.5 at 2.5, +1 at 5.5. Disagreement: 2 * 9 = 18 observed, and
    # 2 * (5 * 1 * 9 + 5 * 2 * 20.25 + 1 * 2 * 2.25) / 7 = 72 expected.
    measured = measure(events(columns_of(A="1113", B="1123")), PAPER)
    assert measured.metrics["accuracy"].alpha.value == pytest.approx(1 - 18 / 72)
    assert measured.metrics["accuracy"].agreement == 0.75
    assert measured.metrics["accuracy"].difference == 0.125


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, "no answer has been scored by two analysts"),
        ({"A": "12 ", "B": "  3"}, "no answer has been scored by two analysts"),
        ({"A": "111", "B": "11 "}, "every value is +1, and alpha is not defined where nothing varies"),
        ({"A": "223", "B": "22 "}, "every value is +0.5, and alpha is not defined where nothing varies"),
    ],
)
def test_undefined_alpha_says_why(columns: dict[str, str], reason: str) -> None:
    """Alpha is None, with a reason, where no two scores meet and where nothing varies."""
    measured = measure(events(columns_of(**columns)), PAPER)
    for metric in METRICS:
        alpha = measured.metrics[metric].alpha
        assert (alpha.value, alpha.interval, alpha.reason) == (None, None, reason)
        for pair in measured.pairs:
            assert pair.metrics[metric].alpha == alpha


def test_interval_is_a_jackknife_over_answers() -> None:
    """The interval is the one found with the library, leaving out answers one by one; their order changes nothing."""
    draw = random.Random(3)
    digits = ["".join(draw.choices("123", (5, 3, 2), k=60)) for _ in range(2)]
    second = "".join(draw.choice([own, own, other]) for own, other in zip(*digits, strict=True))
    third = "".join(digit if draw.random() < 0.6 else " " for digit in second)
    scores = columns_of(A=digits[0], B=second, C=third)
    given = list(by_answer(scores, "clarity").values())
    counts = np.array([[list(values.values()).count(value) for value in SCALE] for values in given])

    def logarithm(of: np.ndarray) -> float:
        return float(np.log(1 - krippendorff.alpha(value_counts=of, level_of_measurement="ordinal")))

    whole, without = logarithm(counts), [logarithm(np.delete(counts, row, 0)) for row in range(60)]
    from scipy import stats

    half = stats.t.ppf(0.975, 59) * 61 / 60 * np.std(without) * np.sqrt(59)
    alpha = measure(events(scores), PAPER).metrics["clarity"].alpha
    assert alpha.interval == pytest.approx((1 - np.exp(whole + half), 1 - np.exp(whole - half)))
    assert measure(events(scores)[::-1], PAPER).metrics["clarity"].alpha.interval == pytest.approx(alpha.interval)


def test_the_interval_of_alpha_holds_the_truth() -> None:
    """At ten answers of three analysts, where a bootstrap held it in 85 of 100 studies, it does in 90 or more."""
    draw = np.random.default_rng(7)

    def study(answers: int) -> list[str]:
        of_answers = draw.normal(0, 1, answers)
        return [
            "".join("321"[np.searchsorted((-0.4, 0.4), value)] for value in of_answers + noise)
            for noise in draw.normal(0, 0.9, (3, answers))
        ]

    def alpha(columns: list[str]) -> Alpha:
        return measure(events(columns_of(**dict(zip("ABC", columns, strict=True)))), PAPER).metrics["clarity"].alpha

    truth = alpha(study(size(small=3000, soak=20_000))).value
    found = [alpha(study(10)).interval for _ in range(size(small=100, soak=1000))]
    held = [low <= truth <= high for low, high in filter(None, found)]
    assert len(held) > 0.9 * len(found)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize(("first", "second"), [("1", "3"), ("1" * 12, "1" * 11 + "3")])
def test_no_interval_where_too_little_varies(first: str, second: str) -> None:
    """One answer, or one that differs among many equal ones, gives an alpha but no interval, and says so."""
    alpha = measure(events(columns_of(A=first, B=second)), PAPER).metrics["clarity"].alpha
    assert alpha.value is not None
    assert alpha.interval is None
    assert "too few" in alpha.reason


def test_drift_follows_time_not_order() -> None:
    """An analyst who grows lenient has a positive drift, also when the events come in another order."""
    scores = events(columns_of(A="333311", B="222222"))
    random.Random(1).shuffle(scores)
    lenient = {leaning.analyst: leaning for leaning in measure(scores, PAPER).leanings}
    assert lenient["A"].drift == pytest.approx(4 / 3)
    assert lenient["A"].overall == pytest.approx(-5 / 6)
    assert [leaning.analyst for leaning in measure(scores, PAPER).leanings] == ["B", "A"]


def test_only_independent_scores_count() -> None:
    """Adjudications, skips, undos, looks, and scores by one who had seen the others', change nothing."""
    scores = events(columns_of(A="1123", B="1133"))
    last = scores[-1]
    others = [
        msgspec.structs.replace(last, id=new_id(), kind="adjudication", analyst="C", values=typed("11111")),
        msgspec.structs.replace(last, id=new_id(), kind="skip", analyst="C", values=None),
        msgspec.structs.replace(last, id=new_id(), kind="undo", values=None, undoes=last.id),
        msgspec.structs.replace(last, id=new_id(), kind="look", values=None, independent=False),
        msgspec.structs.replace(last, id=new_id(), analyst="C", independent=False),
    ]
    assert measure([*others, *scores, *others], PAPER) == measure(scores, PAPER)
