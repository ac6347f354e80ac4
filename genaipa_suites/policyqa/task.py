"""PolicyQA as a suite (Ahmad et al. 2020)."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.baseline import Baseline, of_item
from genaipa_suites.encoders.kinds import Example, Head, Part
from genaipa_suites.material import NOT_IN_THE_TEXT, Given, Item, Material
from genaipa_suites.policyqa import data
from genaipa_suites.policyqa.score import (
    ABSENT,
    EMPTY,
    FOLDED,
    FUZZY,
    MEASURES,
    MISPLACED,
    best,
    between_people,
    find,
    misplaced,
    words_of,
)
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from genaipa_suites.material import Outcome

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


def _first(item: Item) -> str:
    return reply(next(iter(sentences(item.shown["text"])), ""))


def _overlap(item: Item) -> str:
    asked = Counter(words_of(item.shown["question"]))

    def common(sentence: str) -> int:
        return sum((Counter(words_of(sentence)) & asked).values())

    return reply(max(sentences(item.shown["text"]), key=common, default=""))


def _longest(item: Item) -> str:
    return reply(max(sentences(item.shown["text"]), key=len, default=""))


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
    Baseline("empty", "floor", "no answer", of_item(lambda _item: reply(""))),
    Baseline("whole-segment", "floor", "the whole segment", of_item(lambda item: reply(item.shown["text"]))),
    Baseline("first-sentence", "floor", "the segment's first sentence", of_item(_first)),
    Baseline("longest-sentence", "floor", "the segment's longest sentence, by characters", of_item(_longest)),
    Baseline("best-overlap", "rule", "the first sentence that shares most words with the question", of_item(_overlap)),
    Baseline("ceiling", "ceiling", "a right answer, the same wherever segment and question are", _ceiling),
)


EMPTY_ANSWER, NOT_VERBATIM = "empty answer", "not word for word"
_BY_RUNG = {EMPTY: EMPTY_ANSWER, ABSENT: NOT_IN_THE_TEXT, FOLDED: NOT_VERBATIM, FUZZY: NOT_VERBATIM}


def _answer(item: Item, _material: Material) -> list[Example]:
    # The first reference, at its first place in the text.
    text, answer = item.shown["text"], item.gold[0]
    start = text.find(answer)
    return [Example(item.shown["question"], text, (start, start + len(answer)))]


class PolicyQA(Suite):
    """Answer each question with one span of its segment."""

    title: ClassVar[str] = "PolicyQA"
    version: ClassVar[int] = 2  # since 2 the head column is of answers as they were said
    about: ClassVar[str] = "a question about a segment of a privacy policy, answered by a span of it; SQuAD's EM and F1"
    citation: ClassVar[str] = (
        "Ahmad, Chi, Tian, Chang: PolicyQA: A Reading Comprehension Dataset for Privacy Policies. "
        "Findings of EMNLP 2020."
    )
    data = (data.SOURCE,)
    splits = ("test", "dev", "train")
    measures = MEASURES
    baselines = BASELINES
    head = Head((Part("span", "f1_squad", _answer),), lambda _item, found: reply(found[""][0]))
    error_kinds = (EMPTY_ANSWER, NOT_IN_THE_TEXT, NOT_VERBATIM, *MISPLACED)
    about_errors = (
        "Too long: the nearest reference is in the answer; too short: the answer is in it; overlapping: they share "
        "words; elsewhere: it shares none with any reference."
    )
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }

    def load(self, split: str) -> Material:
        """The examples of a split; DataError and UsageError as `data.load`."""
        return data.load(self.files, split)

    @property
    def learns_from(self) -> str:
        """The train split, or for test the dev split where no train split is here."""
        without = self.plan.split == "test" and self.files.find("data/train.json") is None
        return "dev" if without else super().learns_from

    def parse(self, item: Item, found: Any) -> Given:
        """The answer as it was said, the span of the segment that it is, and how that was found.

        One that is not in the segment is no fault: the official figures score it as it was said.
        """
        span = find(found["answer"], item.shown["text"])
        return Given({"answer": found["answer"], "span": span.text, "found": span.found})

    def gold_reply(self, item: Item) -> str:
        """The first reference."""
        return reply(item.gold[0])

    def people_about(self, outcomes: Sequence[Outcome]) -> str:
        """The number of these examples that have several references."""
        several = sum(len(one.item.gold) > 1 for one in outcomes)
        return (
            "each reference against the others of its example, where it has several "
            f"({several:,} of {len(outcomes):,} examples)"
        )

    def people(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """F1 and EM of one reference against the others, over items with two references or more."""
        several = {one.item.id: one.item.gold for one in outcomes if len(one.item.gold) > 1}
        each = [between_people(references) for references in several.values()]
        if not each:
            return {}
        return {"f1_squad": sum(f1 for _, f1 in each) / len(each), "em": sum(match for match, _ in each) / len(each)}

    def errors(self, outcome: Outcome) -> Mapping[str, int]:
        """The error of an answer that is no reference as SQuAD compares: its rung, or how it lies to the nearest."""
        said = outcome.given.prediction
        if outcome.given.fault or said is None or best(said["answer"], outcome.item.gold)[0]:
            return {}
        error = _BY_RUNG.get(said["found"]) or misplaced(said["span"], outcome.item.gold)
        return {error: 1} if error else {}

    def why(self, outcome: Outcome) -> str:
        """A fault, or the type of error; empty for a reference."""
        return outcome.given.fault or next(iter(self.errors(outcome)), "")
