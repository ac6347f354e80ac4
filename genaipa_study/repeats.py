"""Answers that say the same: under two questions, or to one question in several runs, word for word or nearly."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from genaipa.scoring.evidence.settled import NEAR, likeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.datasets.study import Answer
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.audit import Finding

_GENERIC = 8
"""Words below which one text can well answer two questions."""
_PAIR = 2
"""Questions between which a copy is sought; a text under more of them is a stock reply."""
_NAMED = 5
"""Places that a finding names."""
_STEM = 5
"""Letters by which two forms of a word are the same word: "secured" and "security"."""

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "the a an of to and or in for on with is are be by as that this it its their they them you your we our us from "
        "at not any may can will has have such which if when other also more how who what do does about all",
    )
)
"""Words that say nothing about what a text is about."""

_Text = tuple[str, ...]


def audit_repeats(answers: Iterable[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """Equal and nearly equal answers of a system about a document, in all experiments and runs.

    Left out is only an answer whose text was also given to one other question, which it fits better.
    """
    about: defaultdict[tuple[str, str], defaultdict[_Text, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        text = tuple((answer.text or "").lower().split())
        if len(text) >= _GENERIC:
            about[answer.system, answer.document][text].append(answer)
    for same in about.values():
        for text, sharing in same.items():
            if len({answer.question for answer in sharing}) > 1:
                yield from _under_several(text, sharing, questions)
            elif len(sharing) > 1:
                yield _mentioned("repeated-answer", sharing, "The same text, word for word, is")
        for one, other, alike in _near(same):
            both = [*same[one], *same[other]]
            kind = "repeated-answer" if len({answer.question for answer in both}) == 1 else "near-copy"
            yield _mentioned(kind, both, f"Nearly the same text ({alike:.1%} of the words) is")


def _under_several(text: _Text, sharing: list[Answer], questions: QuestionSet) -> Iterator[Finding]:
    """A text under several questions: left out under the one of two that it fits less, else mentioned."""
    said = _stems(" ".join(text))
    fits: Counter[str] = Counter()
    for answer in sharing:
        shared = len(_stems(questions[answer.question].wording(answer.wording)) & said)
        fits[answer.question] = max(fits[answer.question], shared)
    (rightful, most), (_, least) = fits.most_common()[0], fits.most_common()[-1]
    if len(fits) > _PAIR or most == least:
        yield _mentioned("same-answer", sharing, "Which question it answers is unknown; the same text is")
        return
    for answer in sharing:
        if answer.question != rightful:
            reason = f"The text is the answer to {rightful}, word for word."
            yield answer.finding("other-question", reason, excludes=True)


def _mentioned(kind: str, alike: list[Answer], said: str) -> Finding:
    """A finding on the first of these answers that names the places of the others."""
    first, *others = alike
    places = [f"{one.cell} ({one.question}, {one.experiment}, {one.wording}, run {one.repetition})" for one in others]
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return first.finding(kind, f"{said} in {', '.join(places[:_NAMED])}{more}.")


def _near(texts: Iterable[_Text]) -> Iterator[tuple[_Text, _Text, float]]:
    """Pairs of texts that are nearly the same, and how much they have in common."""
    known: dict[tuple[str, int], int] = {}
    counted = [(text, _bits(text, known)) for text in sorted(texts, key=len)]
    for place, (one, words) in enumerate(counted):
        for other, further in counted[place + 1 :]:
            both = len(one) + len(other)
            if 2 * len(one) < NEAR * both:
                break  # this one and all behind it are too much longer
            if 2 * (words & further).bit_count() >= NEAR * both:
                alike = likeness(one, other)
                if alike >= NEAR:
                    yield one, other, alike


def _bits(text: _Text, known: dict[tuple[str, int], int]) -> int:
    """A number with a bit for every word of a text and time that it comes: texts have as many words in common as bits.

    `known` maps these to their bits, and grows.
    """
    times: Counter[str] = Counter()
    bits = 0
    for word in text:
        times[word] += 1
        bits |= 1 << known.setdefault((word, times[word]), len(known))
    return bits


def _stems(text: str) -> set[str]:
    """The beginnings of the words that mean something."""
    return {word[:_STEM] for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS}
