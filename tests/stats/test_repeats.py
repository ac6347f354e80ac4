"""Values of the same thing beside one another, and slopes, compared with loops and least squares."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.stats.intervals import estimate_mean
from genaipa.stats.repeats import compare_first_to_second_side_per_group, compare_repeats_within_groups
from genaipa.stats.trend import estimate_slope_on_places

rows = st.lists(st.tuples(st.integers(10, 100), st.integers(0, 2), st.booleans()), max_size=14)


def band_of(value: int) -> int:
    """Which third of the scale a value is in."""
    return int(value > 40) + int(value > 70)


@given(rows)
def test_repeats_are_pairs(values: list[tuple[int, int, bool]]) -> None:
    """In loops over the pairs of each group, and over those between its two sides."""
    value, group, second = (np.array(column) for column in zip(*values, strict=True)) if values else ([], [], [])
    bands = [band_of(one) for one in value]
    repeats = compare_repeats_within_groups(value, np.array(bands, int), np.array(group, int))
    sides = compare_first_to_second_side_per_group(value, np.array(bands, int), np.array(group, int), second)
    for place in range(len(repeats.pairs)):
        own = [(v, s) for v, g, s in values if g == place]
        within = list(itertools.combinations([v for v, _ in own], 2))
        between = [(a, b) for (a, s), (b, t) in itertools.product(own, own) if not s and t]
        for found, pairs in ((repeats, within), (sides, between)):
            assert found.pairs[place] == len(pairs)
            apart = np.mean([abs(a - b) for a, b in pairs]) if pairs else np.nan
            other = np.mean([band_of(a) != band_of(b) for a, b in pairs]) if pairs else np.nan
            assert (found.change[place], found.bands[place]) == pytest.approx((apart, other), nan_ok=True)
        assert repeats.spread[place] == pytest.approx(
            np.std([v for v, _ in own], ddof=1) if within else np.nan, nan_ok=True
        )
        drop = np.mean([a - b for a, b in between]) if between else np.nan
        assert sides.drop[place] == pytest.approx(drop, nan_ok=True)


def test_a_slope_is_that_of_least_squares() -> None:
    """With as many values of each question it is numpy's, and its interval is that of what each value adds."""
    random = np.random.default_rng(1)
    questions, documents = np.repeat(np.arange(8), 6), np.tile(np.arange(6), 8)
    places = np.tile(np.linspace(-0.5, 0.5, 6), 8)
    values = 3 * places + random.normal(size=48)
    slope = estimate_slope_on_places(values, places, questions, documents)
    expected = np.linalg.lstsq(places[:, None], values, rcond=None)[0][0]
    assert slope.mean == pytest.approx(expected)
    added = expected + places * (values - expected * places) / np.mean(places**2)
    assert slope[4:10] == pytest.approx(estimate_mean(added, questions, documents)[4:10])
    assert np.isnan(estimate_slope_on_places(values, places * 0, questions, documents).mean)
    with pytest.raises(ValueError, match="places"):
        estimate_slope_on_places(values, places[1:], questions, documents)
