"""Settled cases: answers whose values follow from the rubric's rule, or from values that an analyst has just given.

They are proposed to the analyst, who accepts or changes them; nothing is scored without that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from genaipa.scoring.evidence.examine import Evidence
    from genaipa.scoring.rubric import Rubric, Values

NEAR = 0.95
"""Share of the words of two texts, in their order, from which on they are nearly the same."""
JUST = 10
"""An analyst's last scores, among which the original of a near repeat is sought."""
_LONGEST = 2000
"""Words above which texts are not compared: it would take seconds."""
_SHOWN = 3
"""Differences that a reason names."""
_BLANK = 5
"""Of this many settled cases one begins blank, so that what is filled in can be held against what is not."""
_RULED = frozenset(("citations", "quotations"))
"""Kinds of evidence of the metrics in the rule on silence."""
_CLIP = 40
"""Characters of a difference that a reason shows."""
# A word that answers before it is said that nothing can be.
_ANSWERS = re.compile(r"\W*(?:yes|yeah|no|correct|indeed|absolutely|certainly)\b\s*[.,;:!\u2013\u2014-]", re.IGNORECASE)
# Words by which an otherwise equal sentence says something else.
_TURNS = re.compile(
    r"\d|n't\b|\b(?:not|no|nor|never|none|nothing|without|only|all|any|some|always|may|might|must|can|cannot|except)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Proposal:
    """Values that an analyst may accept, of all metrics or of some, and the sentence that says why these."""

    values: Mapping[str, float]
    reason: str


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer that an analyst has scored: its text as they saw it, its evidence, and their values."""

    reply: str
    evidence: Evidence
    values: Values


def begins_blank(digest: str) -> bool:
    """Whether a settled case of this answer begins blank for everybody: one in five does."""
    return int(digest[:8], 16) % _BLANK == 0


def rightly_silent(reply: str, evidence: Evidence, rubric: Rubric) -> Proposal | None:
    """Propose the best values where the document is silent, and the answer says that alone and cites nothing.

    The rubric's rule says that this is the right answer; None for a rubric without one. It speaks of what is right and
    cited, and of no other metric.
    """
    silence = evidence.silence
    more = evidence.references or evidence.quotations or evidence.points or _ANSWERS.match(reply)
    if not (rubric.silent_rule and silence.annotated and silence.alone) or more:
        return None
    ruled = [name for name, metric in rubric.metrics.items() if _RULED.intersection(metric.evidence)]
    if not ruled:
        return None
    why = "The document is silent by the annotated answer; this answer says so, and cites nothing."
    return Proposal(dict.fromkeys(ruled, rubric.values[0]), why)


def near_repeat(reply: str, evidence: Evidence, before: Iterable[ScoredAnswer]) -> Proposal | None:
    """Propose the values of the first of these answers that the reply nearly repeats; None without one.

    It has nearly the same words and cites the same; no number, denial or qualification is among the words that differ.
    """
    for scored in before:
        one, other = scored.reply.split(), reply.split()
        if _cites(scored.evidence) != _cites(evidence) or not _alike(one, other):
            continue
        apart = list(_differences(one, other))
        if not any(_TURNS.search(words) for pair in apart for words in pair):
            return Proposal(scored.values, f"You have just scored nearly the same answer so. {_in_words(apart)}")
    return None


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of the words of two texts that they have in common in the same order, from 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _matched(one: Sequence[str], other: Sequence[str]) -> SequenceMatcher[str]:
    """The words of two texts held against each other, in upper and lower case alike."""
    return SequenceMatcher(None, [w.lower() for w in one], [w.lower() for w in other], autojunk=False)


def _alike(one: list[str], other: list[str]) -> bool:
    if not one or not other or max(len(one), len(other)) > _LONGEST:
        return False
    matched = _matched(one, other)
    # First an upper bound, which is quickly found.
    return matched.quick_ratio() >= NEAR and matched.ratio() >= NEAR


def _cites(evidence: Evidence) -> tuple[object, ...]:
    """Everything in the evidence that values could depend on: equal for answers that cite and claim the same."""
    references = [(one.resolved, one.target, one.problem, one.outside, one.expected) for one in evidence.references]
    quotations = [(one.match, one.target) for one in evidence.quotations]
    return references, quotations, evidence.silence.alone, evidence.silence.claimed, evidence.points


def _differences(one: list[str], other: list[str]) -> Iterator[tuple[str, str]]:
    """The words of two texts that differ, by more than upper and lower case, of each text."""
    for kind, begin, end, start, stop in _matched(one, other).get_opcodes():
        if kind != "equal":
            yield " ".join(one[begin:end]), " ".join(other[start:stop])


def _in_words(apart: list[tuple[str, str]]) -> str:
    if not apart:
        return "It has the same words."
    named = [f"{_quoted(new)} for {_quoted(old)}" if old and new else _added(old, new) for old, new in apart[:_SHOWN]]
    more = f", and in {len(apart) - _SHOWN} more places" if len(apart) > _SHOWN else ""
    return f"This one has {', '.join(named)}{more}."


def _added(old: str, new: str) -> str:
    return f"{_quoted(new)} added" if new else f"{_quoted(old)} left out"


def _quoted(words: str) -> str:
    return f"\u201c{words if len(words) <= _CLIP else f'{words[: _CLIP - 1]}…'}\u201d"
