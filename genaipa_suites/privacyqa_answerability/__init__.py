"""PrivacyQA's answerability (2019, 4.1): whether a policy may answer a question, by the question alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.baseline import Baseline, frequent_words, frequent_words_and_length
from genaipa_suites.data import DataFiles
from genaipa_suites.labels import LabelSuite, always, trained
from genaipa_suites.material import Item, Material
from genaipa_suites.privacyqa import CITATION, load
from genaipa_suites.privacyqa.table import FALSE_ANSWER, FALSE_SILENCE, OFFICIAL, answerability, rule_note
from genaipa_suites.probes import CONTINUATION

if TYPE_CHECKING:
    from collections.abc import Mapping


_ALL = "every question is unanswerable, as the paper's row of that name has it"


class Answerability(LabelSuite, labels={True: "answerable", False: "unanswerable"}, field="answerable"):
    """Say by a question alone whether a privacy policy can be expected to answer it."""

    title = "PrivacyQA answerability"
    about = "a question alone, answerable by a privacy policy or not; F1 of the unanswerable"
    citation = CITATION
    data = (OFFICIAL,)
    splits = ("test", "train")
    measures = answerability()
    mistakes: ClassVar[Mapping[Any, str]] = {True: FALSE_ANSWER, False: FALSE_SILENCE}
    baselines = (
        Baseline("majority", "floor", _ALL, always(False)),
        # The paper does not say which 200 words its vectors have.
        trained("svm", "a linear SVM on the 200 most frequent words", frequent_words),
        trained("svm-length", "the same with the question's length in words", frequent_words_and_length),
    )

    @cached_property
    def files(self) -> DataFiles:
        """PrivacyQA's files; this reads the questions."""
        return DataFiles(OFFICIAL.name, self.data, self.workspace)

    def load(self, split: str) -> Material:
        """The questions of a split."""
        return load(self.files, split, sentences=False)

    @classmethod
    def gold_labels(cls, item: Item) -> list[Any]:
        """Whether it is answerable."""
        return [not item.gold["unanswerable"]]

    def gold_shown(self, item: Item) -> Any:
        """Whether it is answerable, and how many annotators marked nothing."""
        gold = item.gold
        if not isinstance(gold, dict):
            return gold
        (answerable,) = self.gold_labels(item)
        return f"{self.labels[answerable]} ({gold['empty']} of {gold['annotators']} annotators marked no sentence)"

    @property
    def notes(self) -> tuple[str, ...]:
        """Every suite's notes, and by which rule questions are unanswerable."""
        if self.plan.probe == CONTINUATION:
            return super().notes
        return (*super().notes, f"{self.title}: {rule_note(self.material.items)}")
