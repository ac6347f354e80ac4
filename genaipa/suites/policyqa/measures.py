"""PolicyQA's measures: SQuAD's figures on each rung of finding an answer in its segment, and the rungs' shares."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from genaipa.suites.measure import Measure
from genaipa.suites.policyqa.score import best
from genaipa.suites.policyqa.span import ABSENT, EMPTY, FOLDED, FUZZY, RUNGS, VERBATIM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.suites.material import Outcome

_EM, _F1 = 0, 1


def _counts(outcome: Outcome, which: int, rungs: Sequence[str], text: str) -> tuple[float, float]:
    """(score, 1) of a prediction found on one of the rungs, (0, 1) of any other; `text` names the text scored."""
    said = outcome.given.prediction
    right = said is not None and said["found"] in rungs
    return best(said[text], outcome.item.gold)[which] if right else 0.0, 1.0


def _share(outcome: Outcome, rung: str) -> tuple[float, float]:
    said = outcome.given.prediction
    return float(said is not None and said["found"] == rung), 1.0


def _pair(ending: str, heading: str, rungs: Sequence[str], text: str, definition: str) -> tuple[Measure, Measure]:
    name_em = "em" if ending == "squad" else f"em_{ending}"
    f1 = partial(_counts, which=_F1, rungs=rungs, text=text)
    em = partial(_counts, which=_EM, rungs=rungs, text=text)
    return (
        Measure(f"f1_{ending}", f"F1 {heading}", f"SQuAD v1.1 F1, {definition}", f1),
        Measure(name_em, f"EM {heading}", f"SQuAD v1.1 exact match, {definition}", em),
    )


_SQUAD = (
    "maximum over the references, mean over the examples; an answer that is not in the segment word for word scores 0."
)
_FOLDED = "also of the stretch of the segment that an answer is but for case, blanks and typography."
_FUZZY = "also of the stretch that an answer is but for punctuation, articles and one word in five."
MEASURES = (
    *_pair("squad", "(SQuAD)", (VERBATIM,), "span", _SQUAD),
    *_pair("folded", "folded", (VERBATIM, FOLDED), "span", _FOLDED),
    *_pair("fuzzy", "fuzzy", (VERBATIM, FOLDED, FUZZY), "span", _FUZZY),
    *_pair("any", "as said", RUNGS, "answer", "of the answer as it was said, in the segment or not."),
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
