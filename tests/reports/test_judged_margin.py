"""A judge agrees with people as much as they do with each other only if the data show it, within a margin."""

from __future__ import annotations

from math import isnan

import krippendorff
import numpy as np
import pandas as pd
import pytest

from genaipa.reports.judged.findings import classify_leniency_in_words, describe_agreement_with_people
from genaipa.reports.judged.quality import judge_agreement_table, judge_minus_people_alpha_table
from genaipa.reports.judged.verdicts import GivenScores, Verdicts
from rubrics import METRICS, PAPER, VALUES

JUDGE = "made-up @012345"
SCALE = np.array(sorted(VALUES))


def values_of(truth: np.ndarray, noise: float, random: np.random.Generator) -> np.ndarray:
    """Values of one scorer: the truth of each answer with errors, M_all before the metrics."""
    drawn = truth[:, None] + random.normal(0, noise, (len(truth), len(METRICS)))
    metrics = SCALE[np.searchsorted((-0.5, 0.5), drawn)]
    overall = np.round(PAPER.m_all(dict(zip(METRICS, metrics.T, strict=True))), 9)
    return np.column_stack([overall, metrics])


def side(scorers: dict[str, np.ndarray], size: int) -> GivenScores:
    """The scores of these scorers, each of the first answers."""
    answer = np.concatenate([np.arange(len(one)) for one in scorers.values()])
    names = np.concatenate([[name] * len(one) for name, one in scorers.items()])
    return GivenScores(size, answer, names, np.full(len(answer), "2026-05-01"), np.concatenate(list(scorers.values())))


def verdicts(answers: int, of_judge: float, of_people: float = 0.6, *, twice: int | None = None) -> Verdicts:
    """A judge and two people with errors of these sizes; the second person scored `twice` answers, or all."""
    random = np.random.default_rng(2)
    truth = random.normal(0, 1, answers)
    people = {name: values_of(truth, of_people, random) for name in ("ada", "bo")}
    people["bo"] = people["bo"][:twice]
    judge = {"1": values_of(truth, of_judge, random)}
    return Verdicts(
        PAPER,
        pd.Index([f"answer {n}" for n in range(answers)]),
        np.array([f"Q{n}" for n in range(answers)]),
        side(people, answers),
        {JUDGE: side(judge, answers)},
        {JUDGE: "made-up"},
        {JUDGE: "012345"},
        0,
    )


def first_row(given: Verdicts) -> dict[str, object]:
    """What is said of M_all."""
    return judge_minus_people_alpha_table(given).data.to_dict("records")[0]


@pytest.mark.parametrize(
    ("answers", "of_judge", "of_people", "verdict"),
    [(1500, 0.6, 0.6, "as much"), (42, 1.0, 1.0, "not known"), (42, 0.6, 0.6, "not known"), (300, 1.6, 0.6, "less")],
)
def test_equal_is_what_lies_within_the_margin(answers: int, of_judge: float, of_people: float, verdict: str) -> None:
    """Alike judges are equal to people on many answers; on few nobody knows, however near the two alphas are."""
    assert first_row(verdicts(answers, of_judge, of_people))["verdict"] == verdict


def test_who_repeats_a_person_agrees_more() -> None:
    """A judge that gives what ada gives agrees with people more than bo does."""
    given = verdicts(300, 0.6, 1.0)
    given.judges[JUDGE].values[:] = given.people.values[:300]
    assert first_row(given)["verdict"] == "more"


def test_the_difference_is_on_the_same_answers() -> None:
    """Both alphas are of the answers that two people scored; what one alone scored is in neither."""
    whole, part = verdicts(200, 0.6), verdicts(200, 0.6, twice=60)
    row = first_row(part)
    assert row["answers"] == 60
    own = [part.people.scorer_values(name, 0)[:60] for name in ("ada", "bo")]
    own_alpha = krippendorff.alpha(np.array(own), level_of_measurement="ordinal", value_domain=sorted({*np.ravel(own)}))
    assert row["people"] == pytest.approx(own_alpha)
    assert first_row(whole)["people"] != pytest.approx(own_alpha)


def test_below_thirty_answers_that_two_people_scored_nothing_is_known() -> None:
    """However many answers one person and the judge scored."""
    row = first_row(verdicts(200, 0.6, twice=29))
    assert (row["verdict"], isnan(row["alpha"])) == ("not known", True)  # type: ignore[arg-type]
    assert "29 answers" in str(row["reason"])


def test_the_sentence_says_on_which_metrics_it_is_what() -> None:
    """One judge may agree as much on one metric, and less on another."""
    given = verdicts(1500, 0.6)
    own = given.judges[JUDGE].values
    own[:, 2] = np.where(np.arange(1500) % 3 == 0, -1.0, own[:, 2])  # the second metric is often wrong
    with_people = judge_agreement_table(given).data
    with_people = with_people[with_people["with"] == "people"].to_dict("records")
    said = list(
        describe_agreement_with_people(with_people, judge_minus_people_alpha_table(given).data.to_dict("records"))
    )
    as_much, less = (next(one for one in said if words in one) for words in ("as much as people agree", "less than"))
    assert "within 0.1." in as_much
    assert PAPER.display_names[METRICS[1]] in less
    assert PAPER.display_names[METRICS[0]] in as_much


@pytest.mark.parametrize(
    ("mean", "low", "high", "said"),
    [
        (1.0, -1.5, 3.5, "It is as lenient as people, within 5"),
        (1.0, -4.0, 6.0, "Whether it is as lenient as people is not known"),
        (6.0, 1.0, 11.0, "It is more lenient than people"),
        (-6.0, -11.0, -1.0, "It is harsher than people"),
        (0.0, float("nan"), float("nan"), "It is as lenient as people"),
    ],
)
def test_as_lenient_is_what_lies_within_its_margin(mean: float, low: float, high: float, said: str) -> None:
    """An interval with 0 that is wide shows nothing."""
    assert classify_leniency_in_words(mean, low, high) == said
