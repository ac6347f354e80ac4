"""PolicyQA as a suite (Ahmad et al. 2020)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.suites.material import NOT_IN_THE_TEXT, Given, Item, Material
from genaipa.suites.policyqa import data
from genaipa.suites.policyqa.baselines import BASELINES, reply
from genaipa.suites.policyqa.measures import MEASURES
from genaipa.suites.policyqa.score import best, between_people
from genaipa.suites.policyqa.span import ABSENT, EMPTY, VERBATIM, find
from genaipa.suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.suites.material import Outcome


class PolicyQA(Suite):
    """Answer each question with one span of its segment."""

    title: ClassVar[str] = "PolicyQA"
    about: ClassVar[str] = "a question about a segment of a privacy policy, answered by a span of it; SQuAD's EM and F1"
    citation: ClassVar[str] = (
        "Ahmad, Chi, Tian, Chang: PolicyQA: A Reading Comprehension Dataset for Privacy Policies. "
        "Findings of EMNLP 2020."
    )
    data = (data.SOURCE,)
    splits = ("test", "dev", "train")
    measures = MEASURES
    baselines = BASELINES
    people_about: ClassVar[str] = (
        "Each reference of an example against its others, on the examples that have two references or more."
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

    @cached_property
    def training(self) -> Material:
        """The train split, or for test the dev split where no train split is here."""
        if self.plan.split == "test" and self.files.find("data/train.json") is None:
            return self.load("dev")
        return super().training

    def parse(self, item: Item, found: Any) -> Given:
        """The answer as it was said, the span of the segment that it is, and how that was found."""
        span = find(found["answer"], item.shown["text"])
        prediction = {"answer": found["answer"], "span": span.text, "found": span.found}
        return Given(prediction, NOT_IN_THE_TEXT if span.found == ABSENT else "")

    def gold_reply(self, item: Item) -> str:
        """The first reference."""
        return reply(item.gold[0])

    def people(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """F1 and EM of one reference against the others, over items with two references or more (1,583 of dev's)."""
        several = {one.item.id: one.item.gold for one in outcomes if len(one.item.gold) > 1}
        each = [between_people(references) for references in several.values()]
        if not each:
            return {}
        return {"f1_squad": sum(f1 for _, f1 in each) / len(each), "em": sum(match for match, _ in each) / len(each)}

    def why(self, outcome: Outcome) -> str:
        """A fault; the rung of an answer that is not verbatim; else how the span and the nearest reference lie."""
        given = outcome.given
        if given.prediction is None or given.fault:
            return given.fault
        if given.prediction["found"] != VERBATIM:
            return "empty answer" if given.prediction["found"] == EMPTY else f"found {given.prediction['found']} only"
        match, f1 = best(given.prediction["span"], outcome.item.gold)
        return "" if match else "overlaps" if f1 else "elsewhere"
