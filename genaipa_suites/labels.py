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

from genaipa_suites.baseline import Baseline, label_sets, single_label, words
from genaipa_suites.encoders.kinds import EncoderHead, EncoderModel, Example
from genaipa_suites.material import Given
from genaipa_suites.measure import Measure, by_part, f1, macro_f1, mean_recall, micro_f1
from genaipa_suites.spans import counted
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Item, Material, Outcome


def always(label: Any) -> Callable[[Any], Callable[[Item], str]]:
    """Make a baseline that gives every item this label."""
    return lambda suite: lambda _item: str(suite.reply([label]))


def majority(suite: Any) -> Callable[[Item], str]:
    """Make the baseline that gives every item the most frequent label of the train split."""
    counts = Counter(label for item in suite.training.items for label in suite.gold_labels(item))
    return always(counts.most_common(1)[0][0])(suite)


def trained(name: str, about: str, features: Callable[[], Any] = words, *, balanced: bool = False) -> Baseline:
    """Give a baseline that learns the train split by linear support vector machines on features of the text."""

    def make(suite: Any) -> Callable[[Item], str]:
        values = {label: value for value, label in suite.labels.items()}
        texts = [item.shown["text"] for item in suite.training.items]
        gold = [[suite.labels[value] for value in suite.gold_labels(item)] for item in suite.training.items]
        labels_of = (label_sets if suite.many else single_label)(texts, gold, features, balanced=balanced)
        return lambda item: str(suite.reply([values[label] for label in labels_of(item.shown["text"])]))

    return Baseline(name, "trained", about, make)


MAJORITY = Baseline("majority", "floor", "the most frequent label of the train split, everywhere", majority)
# Of one item alone the first is the F1 of its labels, and whether its label is right.
OF_SETS = ("micro_f1", "macro_f1", "f1_samples", "exact")
OF_ONE = ("accuracy", "macro_f1", "balanced_accuracy")
_TFIDF = "TF-IDF of words and pairs of words, a linear SVM"


class LabelSuite(Suite):
    """A suite of labels, which come with the class.

    `labels` are the values in replies and in `Item.gold`; for true and false a mapping says the label's name. Gold is
    one of them, or with `many` a list in order of name. `things` are the items in a definition's words.
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
        things: str = "items",
    ) -> None:
        super().__init_subclass__()
        if not labels:
            return  # another form of a suite that has them
        cls.labels = labels if isinstance(labels, Mapping) else {label: label for label in labels}
        cls.many, cls.field = many, field or ("labels" if many else "label")
        cls.error_kinds = tuple(cls.mistakes.values())
        values: list[Any] = list(cls.labels)
        texts = isinstance(values[0], str)
        one = {"type": "string", "enum": values} if texts else {"type": "boolean"}
        cls.schema = {
            "type": "object",
            "properties": {cls.field: {"type": "array", "items": one} if many else one},
            "required": [cls.field],
            "additionalProperties": False,
        }
        own = vars(cls)
        if "measures" not in own:
            known = {measure.name: measure for measure in cls._measures(things)}
            cls.measures = tuple(known[name] for name in cls.figures or (OF_SETS if many else OF_ONE))
        if "parts" not in own and texts:
            cls.parts = {"label": {one: by_part(partial(cls.counts, values=(one,)), "labels") for one in values}}
        if "baselines" not in own:
            cls.baselines = (MAJORITY, trained("tfidf", f"{_TFIDF} for each label" if many else _TFIDF))
        if "head" not in own:
            names = [measure.name for measure in cls.measures]
            figure = "macro_f1" if "macro_f1" in names else names[0]
            cls.head = EncoderHead(
                (EncoderModel("multi-label" if many else "sequence", figure, cls._examples),), cls._of_encoder
            )

    # What a suite may do in another way.

    @classmethod
    def gold_labels(cls, item: Item) -> list[Any]:
        """The right values."""
        return list(item.gold) if cls.many else [item.gold]

    @classmethod
    def given_labels(cls, outcome: Outcome) -> list[Any]:
        """The values that an outcome counts as; none of a faulty reply."""
        said = outcome.given.prediction
        return [] if said is None else list(said) if cls.many else [said]

    # All that follows from the labels.

    @classmethod
    def reply(cls, values: Sequence[Any]) -> str:
        """The reply with these values; of one label with the first."""
        return json.dumps({cls.field: list(values) if cls.many else values[0]}, ensure_ascii=False)

    def gold_reply(self, item: Item) -> str:
        """The right label, or all of them."""
        return self.reply(self.gold_labels(item))

    def parse(self, item: Item, found: Any) -> Given:  # noqa: ARG002 - of the seam
        """The label, or the labels, each once, in order of name."""
        said = found[self.field]
        return Given(sorted(set(said)) if self.many else said)

    def gold_shown(self, item: Item) -> Any:
        """The label's name, or the list of names."""
        return item.gold if self.many else self.labels.get(item.gold, item.gold)

    def why(self, outcome: Outcome) -> str:
        """A fault, or the type of error."""
        given = outcome.given
        if given.fault or not self.error_kinds or given.prediction in self.gold_labels(outcome.item):
            return given.fault
        return self.mistakes[given.prediction]

    @property
    def grouped(self) -> tuple[Measure, ...]:
        """The first two but for means over labels, and over items: items with one label lack the others."""
        return tuple(one for one in self.measures if one.name not in ("macro_f1", "f1_samples"))[:2]

    @classmethod
    def counts(cls, outcome: Outcome, values: Sequence[Any] = ()) -> list[float]:
        """(true positives, predicted, gold) of one value after another."""
        given, gold = cls.given_labels(outcome), cls.gold_labels(outcome.item)
        each = ((one in given and one in gold, one in given, one in gold) for one in values or cls.labels)
        return [float(count) for counts in each for count in counts]

    @classmethod
    def _overlap(cls, outcome: Outcome) -> tuple[float, float]:
        """(F1 of an item's labels, 1)."""
        return f1(counted(cls.given_labels(outcome), cls.gold_labels(outcome.item))), 1.0

    @classmethod
    def _right(cls, outcome: Outcome) -> tuple[float, float]:
        said = outcome.given.prediction
        return float(said is not None and cls.given_labels(outcome) == cls.gold_labels(outcome.item)), 1.0

    @classmethod
    def _measures(cls, things: str) -> tuple[Measure, ...]:
        macro = f"Mean of the labels' F1, each over all {things}, of the labels that one of them has."
        balanced = f"Mean over the labels of the share of their {things} that are given them."
        return (
            Measure("micro_f1", "micro F1", f"F1 over all labels of all {things} together.", cls.counts, micro_f1),
            Measure("macro_f1", "macro F1", macro, cls.counts, macro_f1),
            Measure("f1_samples", "F1 by item", f"Mean over {things} of the F1 of the labels of each.", cls._overlap),
            Measure("exact", "exact", f"Share of {things} with all labels right, and no other label.", cls._right),
            Measure("accuracy", "accuracy", f"Share of {things} with the right label.", cls._right),
            Measure("balanced_accuracy", "balanced accuracy", balanced, cls.counts, mean_recall),
        )

    @classmethod
    def _examples(cls, item: Item, _material: Material) -> list[Example]:
        names = [cls.labels[value] for value in cls.gold_labels(item)]
        texts = [item.shown[name] for name in ("question", "text") if name in item.shown]
        return [Example(texts[0], "".join(texts[1:]), names if cls.many else names[0])]

    @classmethod
    def _of_encoder(cls, _item: Item, found: Predicted) -> str:
        (said,) = found[""]
        values = {name: value for value, name in cls.labels.items()}
        return cls.reply([values[name] for name in (said if cls.many else [said])])
