"""PrivacyQA's answerability as a suite (Ravichander et al. 2019, 4.1): the question alone, answerable or not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.data import DataFiles
from genaipa_suites.material import Given, Item, Material
from genaipa_suites.privacyqa.data import load
from genaipa_suites.privacyqa.silence import FALSE_ANSWER, FALSE_SILENCE, answerability, rule_note
from genaipa_suites.privacyqa.sources import OFFICIAL
from genaipa_suites.privacyqa.task import CITATION
from genaipa_suites.privacyqa_answerability.baselines import BASELINES, reply
from genaipa_suites.probes import CONTINUATION
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa_suites.material import Outcome


class Answerability(Suite):
    """Say by a question alone whether a privacy policy can be expected to answer it."""

    title = "PrivacyQA answerability"
    about = "a question alone, answerable by a privacy policy or not; F1 of the unanswerable"
    citation = CITATION
    data = (OFFICIAL,)
    splits = ("test", "train")
    measures = answerability()
    baselines = BASELINES
    error_kinds = (FALSE_ANSWER, FALSE_SILENCE)
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"answerable": {"type": "boolean"}},
        "required": ["answerable"],
        "additionalProperties": False,
    }

    @cached_property
    def files(self) -> DataFiles:
        """PrivacyQA's files; this reads the questions."""
        return DataFiles(OFFICIAL.name, self.data, self.workspace)

    def load(self, split: str) -> Material:
        """The questions of a split."""
        return load(self.files, split, sentences=False)

    def parse(self, item: Item, found: Any) -> Given:  # noqa: ARG002 - the same for all
        """Whether the reply says answerable."""
        return Given(found["answerable"])

    def gold_reply(self, item: Item) -> str:
        """Whether it is."""
        return reply(answerable=not item.gold["unanswerable"])

    def gold_shown(self, item: Item) -> Any:
        """Whether it is answerable, and how many annotators marked nothing."""
        gold = item.gold
        if not isinstance(gold, dict):
            return gold
        said = "unanswerable" if gold["unanswerable"] else "answerable"
        return f"{said} ({gold['empty']} of {gold['annotators']} annotators marked no sentence)"

    def errors(self, outcome: Outcome) -> Mapping[str, int]:
        """The one of both errors that it is."""
        why = self.why(outcome)
        return {why: 1} if why in self.error_kinds else {}

    def why(self, outcome: Outcome) -> str:
        """A fault, or which of both errors it is."""
        given = outcome.given
        if given.fault or given.prediction is None:
            return given.fault
        if given.prediction is not bool(outcome.item.gold["unanswerable"]):
            return ""
        return FALSE_ANSWER if given.prediction else FALSE_SILENCE

    @property
    def notes(self) -> tuple[str, ...]:
        """Every suite's notes, and by which rule questions are unanswerable."""
        if self.plan.probe == CONTINUATION:
            return super().notes
        return (*super().notes, f"{self.title}: {rule_note(self.material.items)}")
