"""PrivacyQA as a suite (Ravichander et al. 2019): which of a policy's numbered sentences answer a question."""

from __future__ import annotations

import json
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.systems.base import Message
from genaipa_suites.baseline import Baseline, of_item
from genaipa_suites.encoders.kinds import Example, Head, Part
from genaipa_suites.material import OUT_OF_RANGE, UNPARSABLE, Given, Item, Material
from genaipa_suites.measure import f1_of_means
from genaipa_suites.privacyqa.data import SUBSET, load
from genaipa_suites.privacyqa.score import MEASURES, OF_SUBSET, SINGLE, agreed, between_people, each_best, references
from genaipa_suites.privacyqa.table import (
    FALSE_ANSWER,
    FALSE_SILENCE,
    OFFICIAL,
    PART,
    SENTENCES,
    SUBSET_QUESTIONS,
    rule_note,
)
from genaipa_suites.probes import CONTINUATION
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace
    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Outcome
    from genaipa_suites.measure import Measure

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by can could did do does for from had has have how i if in is it its me my of on "
        "or our that the their them they this to up was we what when where which who why will with would you your",
    )
)


def words(text: str) -> set[str]:
    """The different words of a text, in lower case: runs of letters a to z and digits."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def reply(sentences: Collection[int]) -> str:
    """A reply with the numbers of these sentences."""
    return json.dumps({"sentences": sorted(sentences)})


def _word_count(suite: Suite, *, top: int, without: frozenset[str]) -> Callable[[Item], str]:
    """The sentences with most different words of the question; of equals the earlier ones, of those without any too."""
    policies = {key: [words(sentence) for sentence in sentences] for key, sentences in suite.material.documents.items()}

    def answer(item: Item) -> str:
        asked = words(item.shown["text"]) - without
        common = [len(asked & sentence) for sentence in policies[item.document]]
        return reply(sorted(range(1, len(common) + 1), key=lambda number: -common[number - 1])[:top])

    return answer


def _counting(top: int, *, stop_words: bool) -> Baseline:
    return Baseline(
        f"word-count-{top}" if stop_words else f"word-count-{top}-no-stop-words",
        "rule",
        f"the {top} sentences with most words of the question" + ("" if stop_words else ", stop words left out"),
        partial(_word_count, top=top, without=frozenset() if stop_words else STOP_WORDS),
    )


def _everything(suite: Suite) -> Callable[[Item], str]:
    sizes = {key: len(sentences) for key, sentences in suite.material.documents.items()}
    return lambda item: reply(range(1, sizes[item.document] + 1))


def _agreed(item: Item) -> str:
    return reply(agreed(references(item)))


BASELINES = (
    Baseline("no-answer", "floor", "no sentence: every question is unanswerable", of_item(lambda _item: reply(()))),
    Baseline("everything", "floor", "all sentences of the policy", _everything),
    *(_counting(top, stop_words=stop_words) for stop_words in (True, False) for top in (2, 3, 5)),
    Baseline(
        "best-annotator", "ceiling", "of each question's references the one that agrees best with all", of_item(_agreed)
    ),
)


CITATION = (
    "Ravichander, Black, Wilson, Norton, Sadeh: Question Answering for Privacy Policies: Combining Computational and "
    "Legal Perspectives. EMNLP 2019."
)


_NONE, _PART, _MORE = "none of the evidence", "part of the evidence", "more than the evidence"
ERRORS = (FALSE_ANSWER, FALSE_SILENCE, _NONE, _PART, _MORE)
_RELEVANCE = {False: "Irrelevant", True: "Relevant"}


def _sentences(item: Item, material: Material) -> list[Example]:
    """The question with each sentence of its policy, which is relevant if any annotator says so."""
    relevant, sentences = set(item.gold["relevant"]), material.documents[item.document]
    numbered = enumerate(sentences, start=1)
    return [Example(item.shown["text"], sentence, _RELEVANCE[number in relevant]) for number, sentence in numbered]


def _evidence(_item: Item, found: Predicted) -> str:
    return reply([number for number, label in enumerate(found[""], start=1) if label == _RELEVANCE[True]])


class PrivacyQA(Suite):
    """Choose the sentences of a policy that are evidence for a question, or none."""

    title = "PrivacyQA"
    about = "a question and a policy's numbered sentences, answered by the numbers of the evidence; sentence-level F1"
    citation = CITATION
    data = (OFFICIAL, PART)
    splits = ("test", "train", SUBSET)
    measures = MEASURES
    baselines = BASELINES
    head = Head((Part("pair", "any_relevant_macro_f1", _sentences),), _evidence)
    error_kinds = ERRORS
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": {"type": "integer"}}},
        "required": ["sentences"],
        "additionalProperties": False,
    }

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        if self.plan.probe == CONTINUATION:
            return
        self.measures = {SUBSET: OF_SUBSET, "train": SINGLE}.get(self.plan.split, MEASURES)

    @property
    def single(self) -> Measure:
        """A question's F1: the first measure is the mean of no question's own."""
        return next((one for one in self.measures if one.name.endswith("_f1_mean")), self.measures[0])

    def load(self, split: str) -> Material:
        """The questions of a split, with the sentences of their policies."""
        return load(self.files, split)

    def messages(self, item: Item) -> list[Message]:
        """The policy, the very same for all its questions, and the question."""
        return [*self._openings(item), Message("user", self.render("", **item.shown))]

    def _openings(self, item: Item) -> tuple[Message, Message]:
        if item.document not in self._opened:
            sentences = self.material.documents[item.document]
            said = self.render("policy", company=item.shown["company"], sentences=sentences)
            self._opened[item.document] = (
                Message("user", said, "introduction", carries="\n".join(sentences), breakpoint=True),
                Message("assistant", self.render("ready", company=item.shown["company"]), "acknowledgement"),
            )
        return self._opened[item.document]

    @cached_property
    def _opened(self) -> dict[str, tuple[Message, Message]]:
        return {}

    def parse(self, item: Item, found: Any) -> Given:
        """The numbers in order, each once; a fault where one is that of no sentence."""
        numbers = found["sentences"]
        if any(isinstance(number, bool) for number in numbers):
            return Given(fault=UNPARSABLE)
        chosen = sorted(set(numbers))
        outside = chosen and not 1 <= chosen[0] <= chosen[-1] <= item.gold["sentences"]
        return Given(chosen, OUT_OF_RANGE if outside else "")

    def gold_reply(self, item: Item) -> str:
        """The reference that agrees best with all."""
        return _agreed(item)

    def asked_about(self, item: Item) -> dict[str, Any]:
        """The question, and the policy's sentences with their numbers."""
        numbered = enumerate(self.material.documents.get(item.document, ()), 1)
        return {**item.shown, "policy": [f"[{number}] {sentence}" for number, sentence in numbered]}

    def gold_shown(self, item: Item) -> Any:
        """Each annotator's sentences, in a line."""
        if not isinstance(item.gold, dict):
            return item.gold
        known = item.gold["references"].items()
        return {name: ", ".join(map(str, marked)) or "none" for name, marked in known}

    def people_about(self, outcomes: Sequence[Outcome]) -> str:  # noqa: ARG002 - the same of all
        """Annotators against each other."""
        return (
            "Each annotator against the others of a question, as a mean over them, on the questions with two or more."
        )

    def people(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """The paper's human row, over questions with two annotators or more."""
        known = {one.item.id: references(one.item) for one in outcomes}
        each = [between_people(several) for several in known.values() if len(several) > 1]
        if not each:
            return {}
        p, r, f1 = (sum(values) / len(each) for values in zip(*each, strict=True))
        figures = {"f1_of_means": f1_of_means((p, r, 1)), "f1_mean": f1, "p": p, "r": r}
        return {f"leave_one_out_{name}": value for name, value in figures.items()}

    def why(self, outcome: Outcome) -> str:
        """A fault; an answer or a silence that is wrong; else which of the evidence is missing or not evidence."""
        given, known = outcome.given, references(outcome.item)
        if given.fault or given.prediction is None:
            return given.fault
        said, marked = set(given.prediction), {number for reference in known for number in reference}
        if each_best(said, known).f1 == 1:
            return ""
        if not said:
            return FALSE_SILENCE
        if not marked:
            return FALSE_ANSWER
        if not said & marked:
            return _NONE
        return _PART if said <= marked else _MORE

    @property
    def notes(self) -> tuple[str, ...]:
        """Every suite's notes; what the subset is; by which rule questions are unanswerable."""
        items, documents = self.material.items, self.material.documents
        said = tuple(note for note in super().notes if self.plan.split == SUBSET or not note.startswith(PART.title))
        if self.plan.probe == CONTINUATION:
            return said
        if self.plan.split != SUBSET:
            return (*said, f"{self.title}: {rule_note(items)}")
        policies = {item.document for item in items}
        sentences = sum(len(documents[policy]) for policy in policies)
        part = (
            f"{PART.title}: {len(items)} questions about {len(policies)} policies of {sentences:,} sentences, of "
            f"{SUBSET_QUESTIONS} about {len(SENTENCES)} that are published; the reference is the annotators' consensus"
        )
        return (*said, part)
