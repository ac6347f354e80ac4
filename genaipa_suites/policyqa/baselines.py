"""PolicyQA's baselines: parts of the segment, nothing, and the best that an answer to equal questions can be."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from genaipa_suites.baseline import Baseline
from genaipa_suites.policyqa.score import best, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+")


def sentences(segment: str) -> list[str]:
    """Sentences of a segment: parted after one of `.!?;:` and a blank, or at newlines.

    >>> sentences("We collect: your name. See below")
    ['We collect:', 'your name.', 'See below']
    """
    return [sentence for sentence in _BETWEEN_SENTENCES.split(segment) if sentence.strip()]


def reply(answer: str) -> str:
    """A reply with this answer."""
    return json.dumps({"answer": answer}, ensure_ascii=False)


def _whole(item: Item) -> str:
    return str(item.shown["text"])


def _first(item: Item) -> str:
    return next(iter(sentences(item.shown["text"])), "")


def _longest(item: Item) -> str:
    return max(sentences(item.shown["text"]), key=len, default="")


def _overlap(item: Item) -> str:
    asked = Counter(words_of(item.shown["question"]))

    def common(sentence: str) -> int:
        return sum((Counter(words_of(sentence)) & asked).values())

    return max(sentences(item.shown["text"]), key=common, default="")


def _nothing(item: Item) -> str:  # noqa: ARG001 - that is the point
    return ""


def _always(answer: Callable[[Item], str]) -> Callable[[Suite], Callable[[Item], str]]:
    return lambda _suite: lambda item: reply(answer(item))


def _ceiling(suite: Suite) -> Callable[[Item], str]:
    """For items that show the same, the one reference of all of theirs with the highest F1 on average."""
    alike: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in suite.material.items:
        alike[item.shown["text"], item.shown["question"]].append(item)
    answers: dict[str, str] = {}
    for items in alike.values():
        references = list(dict.fromkeys(reference for item in items for reference in item.gold))
        answer = max(references, key=lambda one: sum(best(one, item.gold)[1] for item in items))
        answers |= dict.fromkeys((item.id for item in items), answer)
    return lambda item: reply(answers[item.id])


BASELINES = (
    Baseline("empty", "floor", "no answer", _always(_nothing)),
    Baseline("whole-segment", "floor", "the whole segment", _always(_whole)),
    Baseline("first-sentence", "floor", "the segment's first sentence", _always(_first)),
    Baseline("longest-sentence", "floor", "the segment's longest sentence, by characters", _always(_longest)),
    Baseline("best-overlap", "rule", "the first sentence that shares most words with the question", _always(_overlap)),
    Baseline("ceiling", "ceiling", "a right answer, the same wherever segment and question are", _ceiling),
)
