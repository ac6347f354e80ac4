"""Predictions of fine-tuned encoders, as PrivacyGLUE's code writes them: kept as a run, scored as they are.

A run folder has one record for each task and seed, whose reply is the JSON list of all predictions, and the examples
once. Nothing is placed on words: a tagger's labels run over its own word pieces, in gold and prediction alike.

An imported prediction has the key that the same example has in outcomes of the suites, so that any two systems can be
laid side by side.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa.errors import UsageError
from genaipa.tasks.base import Task
from genaipa_suites.measure import f1, micro_f1
from genaipa_suites.opp115 import LABELS
from genaipa_suites.privacyglue.rows import BY_NAME, GlueTask
from genaipa_suites.spans import Span, chunks, counted_by_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Digests
    from genaipa.tasks.base import Dialogue, Target
    from genaipa_suites.material import Outcome
    from genaipa_suites.suite import Suite

    Found = Iterator["Example"]


EXAMPLES = "suites/privacyglue/examples.json"
"""The file of the examples in such a run's folder."""
PREFIX = "privacyglue/"
"""Before the model's folder in the name of a system whose predictions were imported."""
OTHER_FIGURE = "other-figure"
"""The kind of a finding about a stated figure that is not the one computed from the predictions."""
KIND = "privacyglue-predictions"
NOT_ASKED = f"the task '{KIND}' is asked of nobody; it is written by: genaipa get privacyglue --runs --from FOLDER"


class Examples(msgspec.Struct, frozen=True, omit_defaults=True):
    """The examples of a task, in the order of its predictions.

    `names` are their ids there; `keys` tell an example by its content, so that runs of other kinds can be laid beside
    it; `gold` are labels, lists of labels or tags, or the texts of right answers; `layers` are the sub-tasks of a
    tagger, one for each example.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    gold: tuple[Any, ...]
    layers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """A model's predictions for one task: seed → one for each example, in the examples' order."""

    task: GlueTask
    examples: Examples
    by_seed: Mapping[int, Sequence[Any]]

    def figures(self) -> dict[int, dict[str, float]]:
        """Seed → metric → its figure from 0 to 1, sub-tasks of a tagger (`COLLECT_macro_f1`) included."""
        return {seed: figures(self.task, self.examples, predicted) for seed, predicted in self.by_seed.items()}

    def right(self) -> list[list[bool]]:
        """For each seed, whether each example is right in full: the label, all labels, all tags, the very answer."""
        each = (zip(predicted, self.examples.gold, strict=True) for predicted in self.by_seed.values())
        if self.task.name == "policy_qa":
            return [[said in gold for said, gold in pairs] for pairs in each]
        if self.task.name == "opp_115":
            return [[sorted(said) == sorted(gold) for said, gold in pairs] for pairs in each]
        return [[said == gold for said, gold in pairs] for pairs in each]


def figures(task: GlueTask, examples: Examples, predicted: Sequence[Any]) -> dict[str, float]:
    """Metric → its figure from 0 to 1, by PrivacyGLUE's definitions (paper, section 4.2)."""
    if task.name == "policy_qa":
        return _answers(examples.gold, predicted)
    if task.layers:
        return _tags(task, examples, predicted)
    if task.name == "opp_115":
        said = Counter(label for labels in predicted for label in set(labels))
        gold = Counter(label for labels in examples.gold for label in set(labels))
        both = zip(predicted, examples.gold, strict=True)
        matched = Counter((label, label) for mine, right in both for label in {*mine} & {*right})
        # All twelve, whether they occur or not.
        labels: Sequence[str] = LABELS
    else:
        said, gold = Counter(predicted), Counter(examples.gold)
        matched = Counter(zip(examples.gold, predicted, strict=True))
        # As scikit-learn has it: a label that occurs in neither does not count.
        labels = sorted({*said, *gold})
    counts = [float(number) for one in labels for number in (matched[one, one], said[one], gold[one])]
    return {"macro_f1": _macro_f1(counts), "micro_f1": micro_f1(counts)}


def _macro_f1(counts: Sequence[float]) -> float:
    """Mean of the F1 of every label, one that is not gold included, as PrivacyGLUE's code takes it."""
    return statistics.fmean(f1(counts[place : place + 3]) for place in range(0, len(counts), 3))


def _answers(gold: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    from genaipa_suites.policyqa import best

    each = [best(said, references) for said, references in zip(predicted, gold, strict=True)]
    number = len(each)
    return {
        "sample_f1": sum(overlap for _, overlap in each) / number,
        "exact_match": sum(match for match, _ in each) / number,
    }


def _tags(task: GlueTask, examples: Examples, predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Figures of each layer by seqeval's default mode, and their means."""
    sums: dict[str, Counter[tuple[str, int]]] = {layer: Counter() for layer in task.layers}
    for layer, gold, said in zip(examples.layers, examples.gold, predicted, strict=True):
        found = counted_by_label(_spans(said), _spans(gold))
        sums[layer].update({(label, place): n for label, counts in found.items() for place, n in enumerate(counts)})
    of_layers: dict[str, dict[str, float]] = {}
    for layer, counted in sums.items():
        counts = [float(counted[label, place]) for label in sorted({one for one, _ in counted}) for place in range(3)]
        of_layers[layer] = {
            "macro_f1": _macro_f1(counts) if counts else 0.0,
            "micro_f1": micro_f1(counts) if counts else 0.0,
        }
    single = {f"{layer}_{name}": value for layer, found in of_layers.items() for name, value in found.items()}
    means = {name: sum(one[name] for one in of_layers.values()) / len(of_layers) for name in ("macro_f1", "micro_f1")}
    return means | single


def _spans(tags: Sequence[str]) -> list[Span]:
    return chunks([tag.partition(".")[0] for tag in tags])


def read_predictions(folder: RunFolder) -> dict[str, Predicted]:
    """Task → predictions of a run that was imported."""
    kept = msgspec.json.decode((folder.path / EXAMPLES).read_bytes(), type=dict[str, Examples])
    by_task: dict[str, dict[int, Sequence[Any]]] = {name: {} for name in kept}
    for record in folder.records():
        seed = int(record.coordinates["repetition"])
        by_task[record.coordinates["task"]][seed] = msgspec.json.decode(record.reply or "[]")
    return {name: Predicted(BY_NAME[name], examples, by_task[name]) for name, examples in kept.items()}


class Predictions(Task):
    """The task of an imported run, which is never asked."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Raise a UsageError: there is nothing to ask."""
        raise UsageError(NOT_ASKED)

    @property
    def digests(self) -> Digests:
        """Raise a UsageError: there is nothing to go on with."""
        raise UsageError(NOT_ASKED)

    def dialogues(self, target: Target) -> Iterator[Dialogue]:  # noqa: ARG002 - of the contract
        """Raise a UsageError: there is nothing to ask."""
        raise UsageError(NOT_ASKED)


class Example(NamedTuple):
    """An example: the name by which a reader finds it, its key, and whether it is right in full."""

    name: str
    key: str
    right: bool


def key_of(*parts: str) -> str:
    """The key of an example: its sub-task, its question, its text, as far as it has them, blanks squeezed.

    PolicyIE-A's has the gold label in place of a sub-task: a sentence is there once for each of its labels.
    """
    return " | ".join(" ".join(part.split()) for part in parts if part)


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys, made distinct by a number where they come again."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(f"{key} ({seen[key]})" if seen[key] > 1 else key)
    return found


def examples(task: str, suite: Suite, outcomes: Iterable[Outcome]) -> list[Example]:
    """The examples of one repetition; right is what has the label, all labels, or all spans of a layer."""
    found = [example for outcome in outcomes for example in _OF[task](suite, outcome)]
    keys = numbered(example.key for example in found)
    return [example._replace(key=key) for key, example in zip(keys, found, strict=True)]


def _opp_115(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    right = said is not None and sorted(said) == sorted(outcome.item.gold)
    yield Example(outcome.item.id, key_of(outcome.item.shown["text"]), right)


def _label(_suite: Suite, outcome: Outcome) -> Found:
    right = outcome.given.prediction == outcome.item.gold
    yield Example(outcome.item.id, key_of(outcome.item.shown["text"]), right)


def _piextract(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.piextract import LAYERS, spans_of

    for layer in LAYERS:
        predicted, gold = spans_of(outcome, layer)
        right = outcome.given.prediction is not None and sorted(predicted) == sorted(gold)
        yield Example(f"{outcome.item.id}, {layer}", key_of(layer, outcome.item.shown["text"]), right)


def _policy_ie_a(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import answered

    # A sentence is there once for each of its gold rows, in no order that can be relied on.
    for intent, row in answered(outcome):
        right = intent == row["intent"]
        yield Example(outcome.item.id, key_of(row["intent"], outcome.item.shown["text"]), right)


def _policy_ie_b(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import role_spans

    for layer in ("type-I", "type-II"):
        said, gold = role_spans(outcome, layer)
        for row in gold:
            right = outcome.given.prediction is not None and sorted(said) == sorted(row)
            yield Example(f"{outcome.item.id}, {layer}", key_of(layer, outcome.item.shown["text"]), right)


def _policy_qa(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    right = said is not None and not outcome.given.fault and said["span"] in outcome.item.gold
    yield Example(outcome.item.id, outcome.item.id, right)


def _privacy_qa(suite: Suite, outcome: Outcome) -> Found:
    sentences = suite.material.documents[outcome.item.document]
    gold, said = {*outcome.item.gold["relevant"]}, outcome.given.prediction
    faulty = said is None or outcome.given.fault
    chosen = {*(said or ())}
    for number, sentence in enumerate(sentences, start=1):
        right = not faulty and (number in gold) == (number in chosen)
        yield Example(f"{outcome.item.id}, sentence {number}", key_of(outcome.item.shown["text"], sentence), right)


_OF: dict[str, Callable[[Suite, Outcome], Found]] = {
    "opp_115": _opp_115,
    "piextract": _piextract,
    "policy_detection": _label,
    "policy_ie_a": _policy_ie_a,
    "policy_ie_b": _policy_ie_b,
    "policy_qa": _policy_qa,
    "privacy_qa": _privacy_qa,
}
