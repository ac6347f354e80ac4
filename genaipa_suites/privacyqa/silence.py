"""Answerability: which questions are unanswerable, and the measures of who says so (Ravichander et al. 2019, 4.1).

The positive class is *unanswerable*. No file says which questions are; the paper says how many of the test split.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa_suites.measure import Measure, f1, precision, recall
from genaipa_suites.privacyqa.table import COUNTS, UNANSWERABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from genaipa_suites.material import Item, Outcome
    from genaipa_suites.privacyqa.table import Question

RULES: Mapping[str, Callable[[int, int], bool]] = {
    "any": lambda empty, _of: empty > 0,
    "most": lambda empty, of: 2 * empty > of,
    "all": lambda empty, of: empty == of,
}
"""Name → whether a question is unanswerable if this many of all its annotators marked no sentence."""


FALSE_ANSWER, FALSE_SILENCE = "false answer", "false silence"
"""Both errors: an unanswerable question is answered, an answerable one is not."""


def empty(question: Question) -> int:
    """The number of its annotators who marked no sentence."""
    return sum(not marked for marked in question.references.values())


def rule_for(questions: Sequence[Question], split: str) -> str:
    """The rule by which as many test questions are unanswerable as the paper says; `any` where none gives that."""
    if split == "test" and len(questions) == COUNTS[split]["questions"]:
        for name, holds in RULES.items():
            if sum(holds(empty(one), len(one.references)) for one in questions) == UNANSWERABLE:
                return name
    return "any"


def rule_note(items: Sequence[Item]) -> str:
    """A sentence on how many items are unanswerable, and how many would be by each rule."""
    gold = [item.gold for item in items]
    counts = ", ".join(
        f"{sum(holds(one['empty'], one['annotators']) for one in gold)} {name}" for name, holds in RULES.items()
    )
    chosen = sum(one["unanswerable"] for one in gold)
    return f"unanswerable are {chosen} of {len(gold)} questions; where annotators marked no sentence: {counts} of them"


def _said(outcome: Outcome) -> bool | None:
    """Whether the reply says that there is no answer: an empty list, or false; None without a prediction."""
    given = outcome.given
    return None if given.prediction is None or given.fault else not given.prediction


def _positives(outcome: Outcome) -> tuple[float, float, float]:
    gold, said = bool(outcome.item.gold["unanswerable"]), _said(outcome)
    return float(gold and said is True), float(said is True), float(gold)


def _right(outcome: Outcome) -> tuple[float, float]:
    return float(_said(outcome) is bool(outcome.item.gold["unanswerable"])), 1.0


def _wrong(outcome: Outcome, *, unanswerable: bool) -> tuple[float, float]:
    if bool(outcome.item.gold["unanswerable"]) is not unanswerable:
        return 0.0, 0.0
    return float(_said(outcome) is not unanswerable), 1.0


def answerability(prefix: str = "") -> tuple[Measure, ...]:
    """F1, precision, recall of *unanswerable*, accuracy, and both rates of error."""
    about = "Unanswerable is the positive class" + (", said by an empty list." if prefix else ".")
    heading = ", silence" if prefix else ""
    return (
        Measure(f"{prefix}unanswerable_f1", f"F1{heading}", f"F1. {about}", _positives, f1),
        Measure(
            f"{prefix}unanswerable_p", f"P{heading}", f"Precision, 0 where never said. {about}", _positives, precision
        ),
        Measure(f"{prefix}unanswerable_r", f"R{heading}", f"Recall. {about}", _positives, recall),
        Measure(
            f"{prefix}accuracy", f"Accuracy{heading}", "Share of questions rightly labelled answerable or not.", _right
        ),
        Measure(
            f"{prefix}false_answer_rate",
            "False answers",
            "Share of unanswerable questions not labelled so; a fault is one. Lower is better.",
            partial(_wrong, unanswerable=True),
        ),
        Measure(
            f"{prefix}false_silence_rate",
            "False silence",
            "Share of answerable questions labelled unanswerable; a fault is one. Lower is better.",
            partial(_wrong, unanswerable=False),
        ),
    )
