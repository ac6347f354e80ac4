"""PrivacyQA's scores of a set of sentences against the sets of several annotators (Ravichander et al. 2019, 4.2).

Precision, recall and F1 of two sets: all 1 where both are empty, all 0 where one is or they share nothing. A reply
without a prediction scores 0 everywhere, where nothing would be right, too: it is no empty list.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from genaipa_suites.measure import Measure, f1_of_means, macro_f1
from genaipa_suites.privacyqa.table import answerability

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from genaipa_suites.material import Item, Outcome

    Scorer = Callable[[Collection[int], Sequence[Collection[int]]], "Scores"]


class Scores(NamedTuple):
    """Precision, recall and F1, from 0 to 1."""

    precision: float
    recall: float
    f1: float


NOTHING = Scores(0.0, 0.0, 0.0)


def overlap(predicted: Collection[int], reference: Collection[int]) -> Scores:
    """Scores of a set of sentences against one reference.

    >>> overlap([1, 2, 3, 4], [1, 9])
    Scores(precision=0.25, recall=0.5, f1=0.3333333333333333)
    >>> overlap([], [])
    Scores(precision=1.0, recall=1.0, f1=1.0)
    """
    if not predicted and not reference:
        return Scores(1.0, 1.0, 1.0)
    common = len(set(predicted) & set(reference))
    if not common:
        return NOTHING
    precision, recall = common / len(set(predicted)), common / len(set(reference))
    return Scores(precision, recall, 2 * precision * recall / (precision + recall))


def each_best(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The best precision, the best recall and the best F1, each over all references, which may be different ones."""
    every = [overlap(predicted, reference) for reference in references]
    return Scores(*map(max, zip(*every, strict=True)))


def best(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The scores against the reference with the best F1, as PLUE has them; of equals the first."""
    return max((overlap(predicted, reference) for reference in references), key=lambda scores: scores.f1)


def leave_one_out(predicted: Collection[int], references: Sequence[Collection[int]]) -> Scores:
    """The mean of `each_best` over all ways to leave out one of the references: the paper's, of two or more."""
    return _mean([each_best(predicted, others) for others in _others(references)])


def between_people(references: Sequence[Collection[int]]) -> Scores:
    """The mean over annotators of each one's scores against the others, the paper's human row; of two or more."""
    return _mean([each_best(own, others) for own, others in zip(references, _others(references), strict=True)])


def agreed(references: Sequence[Collection[int]]) -> Collection[int]:
    """The reference that agrees best with all: highest mean F1; of equals the first."""
    return max(references, key=lambda own: sum(overlap(own, other).f1 for other in references))


def _others(references: Sequence[Collection[int]]) -> list[list[Collection[int]]]:
    return [[*references[:place], *references[place + 1 :]] for place in range(len(references))]


def _mean(every: Sequence[Scores]) -> Scores:
    return Scores(*(sum(values) / len(every) for values in zip(*every, strict=True)))


def references(item: Item) -> list[list[int]]:
    """The annotators' sets of sentences."""
    return list(item.gold["references"].values())


def _scores(outcome: Outcome, scorer: Scorer, least: int) -> Scores | None:
    known = references(outcome.item)
    if len(known) < least:
        return None
    said = outcome.given.prediction
    return NOTHING if said is None or outcome.given.fault else scorer(said, known)


def _one(outcome: Outcome, scorer: Scorer, least: int, which: str) -> tuple[float, float]:
    scores = _scores(outcome, scorer, least)
    return (0.0, 0.0) if scores is None else (getattr(scores, which), 1.0)


def _both(outcome: Outcome, scorer: Scorer, least: int) -> tuple[float, float, float]:
    scores = _scores(outcome, scorer, least)
    return (0.0, 0.0, 0.0) if scores is None else (scores.precision, scores.recall, 1.0)


def _harmonic(counts: Sequence[float]) -> float:
    return f1_of_means(counts) if counts[2] else math.nan


def _scored(name: str, heading: str, definition: str, scorer: Scorer, least: int = 1) -> tuple[Measure, ...]:
    """F1 of means, mean F1, P and R by one scorer, over items with at least N references."""
    one = partial(_one, scorer=scorer, least=least)
    return (
        Measure(
            f"{name}_f1_of_means",
            f"F1 of means, {heading}",
            f"Harmonic mean of mean precision and mean recall. {definition}",
            partial(_both, scorer=scorer, least=least),
            _harmonic,
        ),
        Measure(
            f"{name}_f1_mean",
            f"Mean F1, {heading}",
            f"Mean of the questions' F1. {definition}",
            partial(one, which="f1"),
        ),
        Measure(f"{name}_p", f"P, {heading}", f"Mean precision. {definition}", partial(one, which="precision")),
        Measure(f"{name}_r", f"R, {heading}", f"Mean recall. {definition}", partial(one, which="recall")),
    )


def _pairs(outcome: Outcome) -> tuple[float, ...]:
    """(right, predicted, gold) of Relevant and of Irrelevant, over all sentences; without a prediction gold alone."""
    gold, number = set(outcome.item.gold["relevant"]), outcome.item.gold["sentences"]
    if outcome.given.prediction is None or outcome.given.fault:
        return 0.0, 0.0, len(gold), 0.0, 0.0, number - len(gold)
    said = set(outcome.given.prediction)
    neither = number - len(gold | said)
    return len(gold & said), len(said), len(gold), neither, number - len(said), number - len(gold)


def _pairs_right(outcome: Outcome) -> tuple[float, float]:
    counts = _pairs(outcome)
    return counts[0] + counts[3], outcome.item.gold["sentences"]


_LEFT_OUT = (
    "Each annotator left out in turn, the best precision, recall and F1 over the others, mean over the annotators: the "
    "paper's; questions with one annotator are not in it."
)
_PAPER = _scored("leave_one_out", "n - 1", _LEFT_OUT, leave_one_out, 2)
_BEST = _scored(
    "best_of_n", "best of n", "Best precision, recall and F1 over all annotators, each by itself.", each_best
)
# Its F1 is the best one over all annotators as well, so that its mean is a measure already.
_PLUE = tuple(
    measure
    for measure in _scored("best_of_n_plue", "PLUE", "Against the annotator with the best F1, as PLUE has it.", best)
    if not measure.name.endswith("_f1_mean")
)
_ANY = "Every sentence of a question is a pair, relevant if any annotator marked it."
_PAIRS = (
    Measure("any_relevant_macro_f1", "Macro F1, pairs", f"Mean of both labels' F1. {_ANY}", _pairs, macro_f1),
    Measure(
        "any_relevant_micro_f1", "Micro F1, pairs", f"Share of right labels, which is micro F1. {_ANY}", _pairs_right
    ),
)
_CONSENSUS = "Against the one reference: the sentences that at least half of the annotators marked."
MEASURES = (*_PAPER, *_BEST, *_PLUE, *_PAIRS, *answerability("silence_"))
SINGLE = (*_BEST, *_PAIRS, *answerability("silence_"))
"""Measures of the train split, which has one label of each pair."""
OF_SUBSET = (
    *_scored("consensus", "consensus", _CONSENSUS, each_best),
    *(one for one in answerability("silence_") if one.name == "silence_false_silence_rate"),
)
"""Measures of the subset, in which every question has evidence."""
