"""PolicyQA's measures: SQuAD's figures of the answer as said and on each rung of finding it, and the rungs' shares."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa_suites.measure import Measure
from genaipa_suites.policyqa.score import best
from genaipa_suites.policyqa.span import ABSENT, EMPTY, FOLDED, FUZZY, VERBATIM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_suites.material import Outcome

_EM, _F1 = 0, 1


def _as_said(outcome: Outcome, which: int) -> tuple[float, float]:
    """(score, 1) of an answer as it was said, in the segment or not; (0, 1) without one."""
    said = outcome.given.prediction
    return best(said["answer"], outcome.item.gold)[which] if said is not None else 0.0, 1.0


def _found(outcome: Outcome, which: int, rungs: Sequence[str]) -> tuple[float, float]:
    """(score, 1) of the stretch of the segment that an answer was found to be on one of the rungs, (0, 1) of others."""
    said = outcome.given.prediction
    right = said is not None and said["found"] in rungs
    return best(said["span"], outcome.item.gold)[which] if right else 0.0, 1.0


def _share(outcome: Outcome, rung: str) -> tuple[float, float]:
    said = outcome.given.prediction
    return float(said is not None and said["found"] == rung), 1.0


def _pair(
    ending: str, heading: str, counts: Callable[..., Sequence[float]], definition: str
) -> tuple[Measure, Measure]:
    return (
        Measure(f"f1_{ending}", f"F1 {heading}", f"SQuAD v1.1 F1 {definition}", partial(counts, which=_F1)),
        Measure(f"em_{ending}", f"EM {heading}", f"SQuAD v1.1 exact match {definition}", partial(counts, which=_EM)),
    )


_OFFICIAL = "of the answer as it was said: maximum over the references, mean over the examples."
_VERBATIM = "of answers that are in the segment word for word; any other scores 0."
_FOLDED = "also of the stretch of the segment that an answer is but for case, blanks and typography."
_FUZZY = "also of the stretch that an answer is but for punctuation, articles and one word in five."
MEASURES = (
    Measure("f1_squad", "F1 (SQuAD)", f"SQuAD v1.1 F1 {_OFFICIAL}", partial(_as_said, which=_F1)),
    Measure("em", "EM (SQuAD)", f"SQuAD v1.1 exact match {_OFFICIAL}", partial(_as_said, which=_EM)),
    *_pair("verbatim", "verbatim", partial(_found, rungs=(VERBATIM,)), _VERBATIM),
    *_pair("folded", "folded", partial(_found, rungs=(VERBATIM, FOLDED)), _FOLDED),
    *_pair("fuzzy", "fuzzy", partial(_found, rungs=(VERBATIM, FOLDED, FUZZY)), _FUZZY),
    *(
        Measure(f"share_{rung}", heading, definition, partial(_share, rung=rung))
        for rung, heading, definition in (
            (VERBATIM, "verbatim", "Share of replies whose answer is in the segment word for word."),
            (FOLDED, "folded", "Share of replies whose answer is in the segment but for case, blanks and typography."),
            (FUZZY, "fuzzy", "Share of replies whose answer is nearly in it: punctuation, articles, one word in five."),
            (ABSENT, "not in the text", "Share of replies whose answer is not in the segment."),
            (EMPTY, "empty", "Share of replies whose answer has no word."),
        )
    ),
)
