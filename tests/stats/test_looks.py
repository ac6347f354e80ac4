"""The level of looking early: its steps, and how often alike systems differ when somebody looks all the time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from genaipa.stats.looks import EARLY, ENLARGED, NEARLY, SIGNIFICANT, interim_significance_level


@pytest.mark.parametrize(
    ("sides", "level"),
    [
        ([], SIGNIFICANT),
        ([(0, 0, False)], SIGNIFICANT),
        ([(100, 94, False)], EARLY),
        ([(100, 95, False)], NEARLY),
        ([(100, 100, False), (100, 94, False)], EARLY),
        ([(100, 100, False), (100, 100, True)], ENLARGED),
        ([(100, 99, True)], ENLARGED),
    ],
)
def test_the_side_that_lacks_most_decides(sides: list[tuple[int, int, bool]], level: float) -> None:
    """Of several sides it is the one whose plan is least complete; an enlarged plan has no last steps."""
    assert interim_significance_level(*([side[place] for side in sides] for place in range(3))) == level


def test_more_answers_than_planned_are_refused() -> None:
    """A side of which more was scored than planned, or less than nothing, is wrong; so are lists of unlike lengths."""
    for wrong in (([1], [2], [False]), ([1], [-1], [False]), ([1], [1], []), ([1, 1], [1], [False])):
        with pytest.raises(ValueError, match=r"."):
            interim_significance_level(*wrong)


def test_looking_after_every_answer_adds_less_than_one_false_alarm_in_100() -> None:
    """Sums of 160 normal values without any difference, looked at each time, seem to differ in at most 6 of 100."""
    size, studies = 160, 4000
    scored = np.arange(16, size + 1)
    z = np.random.default_rng(4).standard_normal((studies, size)).cumsum(axis=1)[:, scored - 1] / np.sqrt(scored)
    bounds = np.array([-ndtri(interim_significance_level([size], [count], [False]) / 2) for count in scored.tolist()])
    alarms = (np.abs(z) > bounds).any(axis=1).mean()
    assert 0.05 <= alarms <= 0.06 + 2 * (0.06 / studies) ** 0.5
    assert (np.abs(z) > -ndtri(SIGNIFICANT / 2)).any(axis=1).mean() > 0.2
