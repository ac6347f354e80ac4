"""Suites of labels: each item has one of several labels, or with `many` any number of them.

    class Tone(LabelSuite, labels=("friendly", "legal")):
        title, about, citation, data, splits = …

        def load(self, split): …

A reply names the label, or the labels, in one field of a JSON object. Measures, each label's F1, baselines and the head
of an encoder follow from the labels, unless the suite sets its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa_suites.baseline import (
    Baseline,
    train_label_set_predictor,
    train_single_label_predictor,
    word_tfidf_vectorizer,
)
from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
from genaipa_suites.material import ParsedReply
from genaipa_suites.measure import Measure, f1, macro_f1, make_f1_precision_recall_measures, mean_recall, micro_f1
from genaipa_suites.spans import count_right_predicted_and_gold
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Item, Material, Outcome


def make_constant_label_baseline(label: Any) -> Callable[[Any], Callable[[Item], str]]:
    """Make a baseline that gives every item this label."""
    return lambda suite: lambda _item: str(suite.format_labels_reply([label]))


def make_majority_label_replier(suite: Any) -> Callable[[Item], str]:
    """Make the baseline that gives every item the most frequent label of the train split."""
    counts = Counter(label for item in suite.training.items for label in suite.gold_labels(item))
    return make_constant_label_baseline(counts.most_common(1)[0][0])(suite)


def make_trained_baseline(
    name: str, description: str, make_vectorizer: Callable[[], Any] = word_tfidf_vectorizer, *, balanced: bool = False
) -> Baseline:
    """Make a baseline that learns the train split by linear support vector machines on features of the text."""

    def train_label_replier(suite: Any) -> Callable[[Item], str]:
        values = {label: value for value, label in suite.labels.items()}
        texts = [item.shown["text"] for item in suite.training.items]
        gold = [[suite.labels[value] for value in suite.gold_labels(item)] for item in suite.training.items]
        labels_of = (train_label_set_predictor if suite.many else train_single_label_predictor)(
            texts, gold, make_vectorizer, balanced=balanced
        )
        return lambda item: str(suite.format_labels_reply([values[label] for label in labels_of(item.shown["text"])]))

    return Baseline(name, "trained", description, train_label_replier)


MAJORITY = Baseline(
    "majority", "floor", "the most frequent label of the train split, for every item", make_majority_label_replier
)
# Of one item alone the first is the F1 of its labels, and whether its label is right.
SET_MEASURES = ("micro_f1", "macro_f1", "f1_samples", "exact")
SINGLE_MEASURES = ("accuracy", "macro_f1", "balanced_accuracy")
_TFIDF = "TF-IDF of words and pairs of words, a linear SVM"


class LabelSuite(Suite):
    """A suite of labels, which come with the class.

    `labels` are the values in replies and in `Item.gold`; for true and false a mapping says the label's name. Gold is
    one of them, or with `many` a list in order of name. `noun` is the word for items in definitions.
    """

    labels: ClassVar[Mapping[Any, str]]
    """Value → name."""
    many: ClassVar[bool]
    field: ClassVar[str]
    """The one field of a reply."""
    figures: ClassVar[tuple[str, ...]] = ()
    """Names of its measures, first that of single items; empty for the usual ones."""
    mistakes: ClassVar[Mapping[Any, str]] = {}
    """Value → the type of error that it is where it is wrong."""

    def __init_subclass__(
        cls,
        *,
        labels: Mapping[Any, str] | Sequence[str] = (),
        many: bool = False,
        field: str = "",
        noun: str = "items",
    ) -> None:
        super().__init_subclass__()
        if not labels:
            return  # another form of a suite that has them
        cls.labels = labels if isinstance(labels, Mapping) else {label: label for label in labels}
        cls.many, cls.field = many, field or ("labels" if many else "label")
        cls.error_kinds = tuple(cls.mistakes.values())
        values: list[Any] = list(cls.labels)
        texts = isinstance(values[0], str)
        label_schema = {"type": "string", "enum": values} if texts else {"type": "boolean"}
        cls.schema = {
            "type": "object",
            "properties": {cls.field: {"type": "array", "items": label_schema} if many else label_schema},
            "required": [cls.field],
            "additionalProperties": False,
        }
        attributes = vars(cls)
        if "measures" not in attributes:
            measures = {measure.name: measure for measure in cls._make_measures(noun)}
            cls.measures = tuple(measures[name] for name in cls.figures or (SET_MEASURES if many else SINGLE_MEASURES))
        if "parts" not in attributes and texts:
            cls.parts = {
                "label": {
                    label_schema: make_f1_precision_recall_measures(
                        partial(cls.count_right_predicted_gold_per_label, labels=(label_schema,)), "labels"
                    )
                    for label_schema in values
                }
            }
        if "baselines" not in attributes:
            cls.baselines = (MAJORITY, make_trained_baseline("tfidf", f"{_TFIDF} for each label" if many else _TFIDF))
        if "head" not in attributes:
            names = [measure.name for measure in cls.measures]
            figure = "macro_f1" if "macro_f1" in names else names[0]
            cls.head = EncoderHead(
                (EncoderModel("multi-label" if many else "sequence", figure, cls._make_encoder_examples),),
                cls._format_encoder_reply,
            )

    # What a suite may do in another way.

    @classmethod
    def gold_labels(cls, item: Item) -> list[Any]:
        """Return the right labels of an item."""
        return list(item.gold) if cls.many else [item.gold]

    @classmethod
    def labels_counted_as_predicted(cls, outcome: Outcome) -> list[Any]:
        """Return the values that an outcome counts as; none of a faulty reply."""
        prediction = outcome.parsed.prediction
        return [] if prediction is None else list(prediction) if cls.many else [prediction]

    # All that follows from the labels.

    @classmethod
    def format_labels_reply(cls, labels: Sequence[Any]) -> str:
        """Return the reply with these values, or with the first if the suite has one label an item."""
        return json.dumps({cls.field: list(labels) if cls.many else labels[0]}, ensure_ascii=False)

    def gold_reply(self, item: Item) -> str:
        """Return the reply with the right label, or all of them."""
        return self.format_labels_reply(self.gold_labels(item))

    def parse(self, item: Item, answer: Any) -> ParsedReply:  # noqa: ARG002 - of the seam
        """Read the label, or the labels, each once and sorted."""
        labels = answer[self.field]
        return ParsedReply(sorted(set(labels)) if self.many else labels)

    def readable_gold(self, item: Item) -> Any:
        """Return the label's name, or the list of names."""
        return item.gold if self.many else self.labels.get(item.gold, item.gold)

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return the fault, or the type of error."""
        parsed = outcome.parsed
        if parsed.fault or not self.error_kinds or parsed.prediction in self.gold_labels(outcome.item):
            return parsed.fault
        return self.mistakes[parsed.prediction]

    @property
    def measures_for_item_groups(self) -> tuple[Measure, ...]:
        """The first two measures, without means over labels and items: items with one label lack the others."""
        return tuple(measure for measure in self.measures if measure.name not in ("macro_f1", "f1_samples"))[:2]

    @classmethod
    def count_right_predicted_gold_per_label(cls, outcome: Outcome, labels: Sequence[Any] = ()) -> list[float]:
        """Count (true positives, predicted, gold) of one value after another."""
        predicted, gold = cls.labels_counted_as_predicted(outcome), cls.gold_labels(outcome.item)
        counts_by_label = (
            (value in predicted and value in gold, value in predicted, value in gold) for value in labels or cls.labels
        )
        return [float(count) for counts in counts_by_label for count in counts]

    @classmethod
    def _item_f1_and_one(cls, outcome: Outcome) -> tuple[float, float]:
        """Return (F1 of an item's labels, 1)."""
        return f1(
            count_right_predicted_and_gold(cls.labels_counted_as_predicted(outcome), cls.gold_labels(outcome.item))
        ), 1.0

    @classmethod
    def _exactly_right_and_one(cls, outcome: Outcome) -> tuple[float, float]:
        prediction = outcome.parsed.prediction
        return float(
            prediction is not None and cls.labels_counted_as_predicted(outcome) == cls.gold_labels(outcome.item)
        ), 1.0

    @classmethod
    def _make_measures(cls, item_noun: str) -> tuple[Measure, ...]:
        macro = f"Mean F1 of the labels that occur, each over all {item_noun}."
        balanced = f"Mean recall over the labels: for each label, the share of its {item_noun} that receive it."
        return (
            Measure(
                "micro_f1",
                "micro F1",
                f"F1 over the labels of all {item_noun}, pooled.",
                cls.count_right_predicted_gold_per_label,
                micro_f1,
            ),
            Measure("macro_f1", "macro F1", macro, cls.count_right_predicted_gold_per_label, macro_f1),
            Measure(
                "f1_samples",
                "F1 by item",
                f"F1 of the predicted labels, computed for each of the {item_noun} and averaged.",
                cls._item_f1_and_one,
            ),
            Measure(
                "exact",
                "exact",
                f"Share of {item_noun} with exactly the right labels.",
                cls._exactly_right_and_one,
            ),
            Measure("accuracy", "accuracy", f"Share of {item_noun} with the right label.", cls._exactly_right_and_one),
            Measure(
                "balanced_accuracy",
                "balanced accuracy",
                balanced,
                cls.count_right_predicted_gold_per_label,
                mean_recall,
            ),
        )

    @classmethod
    def _make_encoder_examples(cls, item: Item, _material: Material) -> list[EncoderExample]:
        names = [cls.labels[value] for value in cls.gold_labels(item)]
        texts = [item.shown[name] for name in ("question", "text") if name in item.shown]
        return [EncoderExample(texts[0], "".join(texts[1:]), names if cls.many else names[0])]

    @classmethod
    def _format_encoder_reply(cls, _item: Item, predictions: Predicted) -> str:
        (prediction,) = predictions[""]
        values = {name: value for value, name in cls.labels.items()}
        return cls.format_labels_reply([values[name] for name in (prediction if cls.many else [prediction])])
