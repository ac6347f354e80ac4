"""How far analysts agree, who is lenient, and which scores count; the measures have tests of their own (stats)."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from statistics import mean

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.scoring.agreement import explain_missing_alpha_or_empty, measure_analyst_agreement
from genaipa.scoring.events import Event, new_event_id
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
        Event(new_event_id(), f"2026-01-01T{n // 60:02}:{n % 60:02}:00.000Z", "score", analyst, answer, values)
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


@given(some_scores)
def test_every_two_analysts_are_compared(scores: Scores) -> None:
    """Those with an answer in common, as if they were the only ones; those who differ most come first."""
    measured = measure_analyst_agreement(events(scores), PAPER)
    assert measured.answers == len(by_answer(scores, "clarity"))
    compared = {}
    for pair in itertools.combinations(sorted({analyst for _, analyst in scores}), 2):
        own = {key: values for key, values in scores.items() if key[1] in pair}
        if by_answer(own, "clarity"):
            compared[pair] = measure_analyst_agreement(events(own), PAPER)
    assert {pair.analysts for pair in measured.pairs} == set(compared)
    for pair in measured.pairs:
        alone = compared[pair.analysts]
        assert pair.answers == alone.answers
        for metric in METRICS:
            for name in ("alpha", "ac2", "equal", "difference", "commonest"):
                same = getattr(alone.metrics[metric], name)
                assert getattr(pair.metrics[metric], name) == pytest.approx(same, abs=1e-9, nan_ok=True)
        assert pair.difference == pytest.approx(mean(pair.metrics[metric].difference for metric in METRICS))
    differences = [pair.difference for pair in measured.pairs]
    assert differences == sorted(differences, reverse=True)


@given(some_scores)
def test_leanings_equal_plain_loops(scores: Scores) -> None:
    """A leaning is the mean of own value less the others' mean; its drift is the later half's less the earlier's."""
    leanings = {leaning.analyst: leaning for leaning in measure_analyst_agreement(events(scores), PAPER).leanings}
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


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({}, "no answer has scores from two analysts"),
        ({"A": "12 ", "B": "  3"}, "no answer has scores from two analysts"),
        ({"A": "111", "B": "11 "}, "every value is +1, and alpha is undefined when the values do not vary"),
        ({"A": "223", "B": "22 "}, "every value is +0.5, and alpha is undefined when the values do not vary"),
    ],
)
def test_undefined_alpha_says_why(columns: dict[str, str], reason: str) -> None:
    """Alpha is NaN, with a reason, where no two scores meet and where nothing varies."""
    measured = measure_analyst_agreement(events(columns_of(**columns)), PAPER)
    for metric in METRICS:
        for found in (measured.metrics[metric], *(pair.metrics[metric] for pair in measured.pairs)):
            assert math.isnan(found.alpha)
            assert explain_missing_alpha_or_empty(found.why, found.value) == reason


def test_drift_follows_time_not_order() -> None:
    """An analyst who grows lenient has a positive drift, also when the events come in another order."""
    scores = events(columns_of(A="333311", B="222222"))
    random.Random(1).shuffle(scores)
    lenient = {leaning.analyst: leaning for leaning in measure_analyst_agreement(scores, PAPER).leanings}
    assert lenient["A"].drift == pytest.approx(4 / 3)
    assert lenient["A"].overall == pytest.approx(-5 / 6)
    assert [leaning.analyst for leaning in measure_analyst_agreement(scores, PAPER).leanings] == ["B", "A"]


def test_only_independent_scores_count() -> None:
    """Adjudications, skips, undos, looks, and scores by one who had seen the others', change nothing."""
    scores = events(columns_of(A="1123", B="1133"))
    last = scores[-1]
    others = [
        msgspec.structs.replace(last, id=new_event_id(), kind="adjudication", analyst="C", values=typed("11111")),
        msgspec.structs.replace(last, id=new_event_id(), kind="skip", analyst="C", values=None),
        msgspec.structs.replace(last, id=new_event_id(), kind="undo", values=None, undoes=last.id),
        msgspec.structs.replace(last, id=new_event_id(), kind="look", values=None, independent=False),
        msgspec.structs.replace(last, id=new_event_id(), analyst="C", independent=False),
    ]
    found, alone = (measure_analyst_agreement(given, PAPER) for given in ([*others, *scores, *others], scores))
    assert repr(found) == repr(alone)  # NaN is equal to none
