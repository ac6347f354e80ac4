"""Analysts as a third factor: what a mean says of other analysts, and how far it depends on each."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from genaipa.stats.intervals import estimate_mean
from genaipa.stats.panel import AnalystPanel, estimate_analyst_panel
from genaipa.stats.reason import Reason

TRUTH = 55.0


class Scores(NamedTuple):
    """Values with their labels."""

    value: np.ndarray
    analyst: np.ndarray
    question: np.ndarray
    document: np.ndarray

    def estimate(self) -> AnalystPanel:
        """The panel behind these."""
        return estimate_analyst_panel(*self)


def draw(random: np.random.Generator, analysts: int, leniency: float, *, by: str = "") -> Scores:
    """Scores of 32 questions about five documents, each by one analyst, with the published study's variances.

    `by` deals whole questions, or documents, to an analyst.
    """
    asked, about = np.repeat(np.arange(32), 5), np.tile(np.arange(5), 32)
    who = {"": random.integers(analysts, size=160), "question": asked, "document": about}[by] % analysts
    value = TRUTH + random.normal(0, 82**0.5, 32)[asked] + random.normal(0, 9, 5)[about]
    value += random.normal(0, 508**0.5, 160) + random.normal(0, leniency, analysts)[who]
    return Scores(value, who, asked, about)


@pytest.mark.soak
def test_an_interval_holds_the_truth_for_other_analysts() -> None:
    """With three analysts and with five, of any leniency, in 95 of 100 studies; without their part in far fewer."""
    random, studies = np.random.default_rng(5), 600
    for leniency, analysts in ((9.0, 3), (4.0, 5)):
        held = np.zeros(2)
        for _ in range(studies):
            scores = draw(random, analysts, leniency)
            panel = scores.estimate()
            found = estimate_mean(scores.value, scores.question, scores.document, limits=(10, 100), panel=panel)
            assert found.analysts_low <= found.policies_low <= found.policies_high <= found.analysts_high
            ends = ((found.policies_low, found.policies_high), (found.analysts_low, found.analysts_high))
            held += [low <= TRUTH <= high for low, high in ends]
        assert held[1] / studies >= 0.93
        assert leniency < 9 or held[0] / studies < 0.92


@pytest.mark.parametrize(
    ("analysts", "by", "reason"),
    [
        (1, "", Reason.FEW_ANALYSTS),
        (2, "", Reason.FEW_ANALYSTS),
        (3, "", Reason.NONE),
        (5, "document", Reason.CONFOUNDED),
        (4, "question", Reason.CONFOUNDED),
    ],
)
def test_nothing_is_said_of_others_without_knowing_it(analysts: int, by: str, reason: Reason) -> None:
    """Two analysts can't speak for others, nor can those whose work was dealt out by document or by question."""
    found = draw(np.random.default_rng(1), analysts, 4.0, by=by).estimate()
    assert (found.number, found.reason) == (analysts, reason)
    assert math.isnan(found.variance) == (reason is not Reason.NONE)


def test_the_variance_is_that_of_least_squares() -> None:
    """Of a regression on questions, documents and analysts: squares of the leniencies, less those of their errors."""
    scores = draw(np.random.default_rng(2), 5, 20.0)
    columns = [np.equal.outer(label, np.unique(label)) for label in scores[1:]]
    design = np.hstack(columns).astype(float)
    inverse = np.linalg.pinv(design.T @ design)
    fitted = inverse @ design.T @ scores.value
    free = len(scores.value) - np.linalg.matrix_rank(design)
    residual = float(((scores.value - design @ fitted) ** 2).sum()) / free
    centred = np.eye(5) - 0.2
    squares = float(((centred @ fitted[:5]) ** 2).sum())
    between = (squares - residual * np.trace(centred @ inverse[:5, :5] @ centred)) / 4
    share = np.bincount(scores.analyst) / 160
    assert scores.estimate().variance == pytest.approx(between * float((share**2).sum()))


def test_leniency_is_found_and_left_out_one_by_one() -> None:
    """The variance is that of who gives more; each mean without one of them is that of the others' scores."""
    scores = draw(np.random.default_rng(2), 4, 0.0)
    found = scores._replace(value=TRUTH + np.array([30.0, 0.0, 0.0, -30.0])[scores.analyst]).estimate()
    share = np.bincount(scores.analyst) / 160
    assert found.variance == pytest.approx(600 * float((share**2).sum()))
    # Nobody else scored what 0 did: the others would have given what they give beside questions and documents.
    assert found.without[0] == pytest.approx(TRUTH - 30 * share[3] / share[1:].sum(), abs=0.01)


def share_answers(leniency: float, *, also: int, easier: float = 0.0) -> Scores:
    """Forty answers that 0 scored; to the first ones, which are `easier`, 1 gives as much more."""
    value = TRUTH + np.random.default_rng(3).normal(0, 9, 40) + np.where(np.arange(40) < also, easier, 0.0)
    question = np.append(np.arange(40), np.arange(also))
    who = np.append(np.zeros(40, int), np.ones(also, int))
    return Scores(np.append(value, value[:also] + leniency), who, question, question * 0)


@pytest.mark.parametrize("easier", [-25.0, 0.0, 25.0])
@pytest.mark.parametrize("leniency", [-6.0, 4.0])
def test_who_is_left_out_moves_the_mean_by_their_leniency(leniency: float, easier: float) -> None:
    """Whatever kind of answers both scored: without the lenient one the mean is lower, without the strict higher."""
    scores = share_answers(leniency, also=10, easier=easier)
    alone = scores.value[:40].mean()
    assert scores.estimate().without == pytest.approx([alone + leniency, alone])
    assert math.isnan(Scores(*(column[:40] for column in scores)).estimate().without[0])


def test_of_people_who_share_nothing_nobody_knows() -> None:
    """Two who scored other questions about one document: their leniency is in no number, and no mean is without."""
    scores = share_answers(4.0, also=0)
    assert np.isnan(scores._replace(analyst=(scores.question < 20).astype(int)).estimate().without).all()


def test_what_is_missing_is_left_out_and_what_is_wrong_refused() -> None:
    """NaN values count as no score, gaps in labels as nothing; lengths that differ are an error."""
    scores = draw(np.random.default_rng(4), 3, 4.0)
    more = Scores(np.append(scores.value, np.nan), *(np.append(label * 2, 1) for label in scores[1:]))
    found, same = more.estimate(), scores.estimate()
    assert (found.number, found.variance) == (same.number, pytest.approx(same.variance))
    assert estimate_analyst_panel([np.nan], [0], [0], [0]).number == 0
    with pytest.raises(ValueError, match="shape"):
        estimate_analyst_panel([1.0, 2.0], [0], [0, 1], [0, 0])
