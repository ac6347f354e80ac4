"""The kinds of tasks that an encoder is fine-tuned for: examples in, inputs of a model; its outputs in, predictions.

A suite's `EncoderHead` says which kinds it needs, makes examples of items, and replies of predictions.
Each is a thin layer over the class of transformers that has the same head: one linear layer over the encoder.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.encoders.encoder import TrainingSettings
    from genaipa_suites.material import Item, Material

KindName = Literal["sequence", "multi-label", "pair", "token", "span"]
IGNORED = -100
"""The label of a token that the loss leaves out."""
_BEST = 20
"""Starts and ends of a span that are combined."""


@dataclass(frozen=True)
class EncoderExample:
    """One input of an encoder, and what is to be predicted.

    `first` is the text, the question, or the words to be tagged; `second` the other text of a pair, or the text that a
    span is looked for in. `target` is, by kind: a label; a list of labels; a list of layers, each with a tag (B-x, I-x
    or O) for every word; the characters (start, end) of the span in `second`. Predictions have the same form, except
    that a predicted span is its text.
    """

    first: str | tuple[str, ...]
    second: str = ""
    target: Any = None


@dataclass(frozen=True)
class EncoderInput:
    """An input of the model, made of an example: all of it, or a window of a long text.

    `fields` are the model's own; `example` is the number of the example; `origins` says for every token which word of
    `first` it begins, or which characters of `second` it is (None for any other token).
    """

    fields: dict[str, Any]
    example: int
    origins: list[Any]


Predicted = Mapping[str, list[Any]]
"""Name of a part → the prediction for each of an item's examples."""


@dataclass(frozen=True)
class EncoderModel:
    """One model of a suite: its kind, the suite's measure that it is stopped by, and the examples of an item.

    `name` tells it from the other models of the suite; it is empty where there is one alone.
    """

    kind: KindName
    figure: str
    examples: Callable[[Item, Material], list[EncoderExample]]
    name: str = ""


@dataclass(frozen=True)
class EncoderHead:
    """An encoder for a suite: its models, and the reply to an item that is made of what they predict."""

    parts: tuple[EncoderModel, ...]
    reply: Callable[[Item, Predicted], str]


class EncoderTask(ABC):
    """A kind of task. It learns its labels from the examples of the train split."""

    auto: ClassVar[str]
    """The class of transformers."""

    def __init__(self, examples: Sequence[EncoderExample], settings: TrainingSettings) -> None:
        self.settings = settings
        self._learn_labels(examples)

    def _learn_labels(self, examples: Sequence[EncoderExample]) -> None:  # noqa: B027 - spans have no labels
        pass

    @property
    def label_model_options(self) -> dict[str, Any]:
        """The model's options that depend on the labels."""
        return {}

    @abstractmethod
    def inputs(self, tokenizer: Any, examples: Sequence[EncoderExample], *, with_targets: bool) -> list[EncoderInput]:
        """Return the inputs of the model, with or without the targets."""

    @abstractmethod
    def predictions(
        self, outputs: Any, inputs: Sequence[EncoderInput], examples: Sequence[EncoderExample]
    ) -> list[Any]:
        """Return the prediction for each example from the model's outputs for each input."""

    loss: Callable[..., Any] | None = None
    """A loss in place of the model's own, of its outputs, the labels and the number of items in the batch."""

    def reduce_logits(self, logits: Any, labels: Any) -> Any:  # noqa: ARG002 - the Trainer's form
        """Return the outputs that are kept of a batch."""
        return logits[0] if isinstance(logits, tuple) else logits


class Classification(EncoderTask):
    """One label of a text (sequence) or of two (pair)."""

    auto = "AutoModelForSequenceClassification"
    problem: ClassVar[str] = "single_label_classification"

    def _learn_labels(self, examples: Sequence[EncoderExample]) -> None:
        self.labels = sorted({label for example in examples for label in self._target_labels(example)})

    def _target_labels(self, example: EncoderExample) -> list[str]:
        return [example.target]

    @property
    def label_model_options(self) -> dict[str, Any]:
        """The number of labels, and whether they exclude each other."""
        # Even one label alone is a class among two: a single output would be a regression.
        return {"num_labels": max(2, len(self.labels)), "problem_type": self.problem}

    def inputs(self, tokenizer: Any, examples: Sequence[EncoderExample], *, with_targets: bool) -> list[EncoderInput]:
        """Return one input for each example, truncated to the maximum length."""
        seconds = [example.second for example in examples]
        encoding = tokenizer(
            [example.first for example in examples],
            seconds if any(seconds) else None,
            truncation=True,
            max_length=self.settings.max_length,
        )
        fields = [{name: encoding[name][index] for name in encoding} for index in range(len(examples))]
        if with_targets:
            for example, field in zip(examples, fields, strict=True):
                field["labels"] = self._encode_target(example)
        return [EncoderInput(field, index, []) for index, field in enumerate(fields)]

    def _encode_target(self, example: EncoderExample) -> Any:
        # A label that the train split lacks can't be predicted; in a validation split it counts as the first.
        return self.labels.index(example.target) if example.target in self.labels else 0

    def predictions(
        self,
        outputs: Any,
        inputs: Sequence[EncoderInput],  # noqa: ARG002
        examples: Sequence[EncoderExample],  # noqa: ARG002
    ) -> list[Any]:
        """Return the likeliest label."""
        return [self.labels[index] for index in outputs[:, : len(self.labels)].argmax(-1).tolist()]


class MultiLabelClassification(Classification):
    """Any number of labels of a text: those whose probability is at least a half."""

    problem: ClassVar[str] = "multi_label_classification"

    def _target_labels(self, example: EncoderExample) -> list[str]:
        return list(example.target)

    def _encode_target(self, example: EncoderExample) -> Any:
        labels = self.labels if len(self.labels) > 1 else [*self.labels, ""]
        return [float(label in example.target) for label in labels]

    def predictions(
        self,
        outputs: Any,
        inputs: Sequence[EncoderInput],  # noqa: ARG002
        examples: Sequence[EncoderExample],  # noqa: ARG002
    ) -> list[Any]:
        """Return the labels of each example, sorted."""
        return [
            [label for label, score in zip(self.labels, row, strict=False) if score >= 0] for row in outputs.tolist()
        ]


class LayeredTagging(EncoderTask):
    """A tag for each word in every layer: independent classifiers over one encoder, trained together."""

    auto = "AutoModelForTokenClassification"

    def _learn_labels(self, examples: Sequence[EncoderExample]) -> None:
        layers = [
            {tag for tags in layer for tag in tags}
            for layer in zip(*(example.target for example in examples), strict=True)
        ]
        # What begins goes on: a word may have several tokens, and every one but the first has I-.
        self.layers = [sorted({"O", *tags, *(f"I-{tag[2:]}" for tag in tags if tag != "O")}) for tags in layers]

    @property
    def label_model_options(self) -> dict[str, Any]:
        """The number of labels of all layers: their classifiers are side by side in one."""
        return {"num_labels": sum(map(len, self.layers))}

    def inputs(self, tokenizer: Any, examples: Sequence[EncoderExample], *, with_targets: bool) -> list[EncoderInput]:
        """Return one input for each example; words after the end of a truncated sentence are never tagged."""
        encoding = tokenizer(
            [list(example.first) for example in examples],
            is_split_into_words=True,
            truncation=True,
            max_length=self.settings.max_length,
        )
        inputs = []
        for index, example in enumerate(examples):
            words = encoding.word_ids(index)
            begins = [word if word != before else None for before, word in zip([None, *words], words, strict=False)]
            fields = {name: encoding[name][index] for name in encoding}
            if with_targets:
                fields["labels"] = [
                    [
                        self._encode_begin_or_inside_tag(example, layer, word, is_first_token=begin is not None)
                        for layer in range(len(self.layers))
                    ]
                    for word, begin in zip(words, begins, strict=True)
                ]
            inputs.append(EncoderInput(fields, index, begins))
        return inputs

    def _encode_begin_or_inside_tag(
        self, example: EncoderExample, layer_index: int, word_index: int | None, *, is_first_token: bool
    ) -> int:
        if word_index is None:
            return IGNORED
        tag, tags = example.target[layer_index][word_index], self.layers[layer_index]
        if tag != "O" and not is_first_token:
            tag = f"I-{tag[2:]}"
        return tags.index(tag) if tag in tags else IGNORED

    def loss(self, outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:  # noqa: ARG002 - the Trainer's form
        """Return the mean over layers of the cross-entropy of their tokens."""
        from torch.nn.functional import cross_entropy

        parts = outputs.logits.split([len(layer) for layer in self.layers], dim=-1)
        losses = [
            cross_entropy(part.flatten(0, 1), labels[..., index].flatten(), ignore_index=IGNORED)
            for index, part in enumerate(parts)
        ]
        return sum(losses) / len(losses)

    def reduce_logits(self, logits: Any, labels: Any) -> Any:
        """Return the likeliest tag of each layer: all their probabilities would not fit memory."""
        import torch

        parts = super().reduce_logits(logits, labels).split([len(layer) for layer in self.layers], dim=-1)
        return torch.stack([part.argmax(-1) for part in parts], dim=-1)

    def predictions(
        self, outputs: Any, inputs: Sequence[EncoderInput], examples: Sequence[EncoderExample]
    ) -> list[Any]:
        """Return the tag of each word's first token; O for words that were cut off."""
        predictions = []
        for model_input, row in zip(inputs, outputs, strict=True):
            tags = [["O"] * len(examples[model_input.example].first) for _ in self.layers]
            for token, word in enumerate(model_input.origins):
                if word is not None:
                    for layer, layer_tags in enumerate(self.layers):
                        tags[layer][word] = layer_tags[int(row[token][layer])]
            predictions.append(tags)
        return predictions


class SpanExtraction(EncoderTask):
    """The span of a text that answers a question; a long text is read in windows that overlap."""

    auto = "AutoModelForQuestionAnswering"

    def inputs(self, tokenizer: Any, examples: Sequence[EncoderExample], *, with_targets: bool) -> list[EncoderInput]:
        """Return one input for each window."""
        longest = self.settings.max_length
        encoding = tokenizer(
            [_truncate_question(tokenizer, str(example.first), longest // 2) for example in examples],
            [example.second for example in examples],
            truncation="only_second",
            max_length=longest,
            stride=min(self.settings.stride, longest // 8),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        example_numbers, offsets = encoding.pop("overflow_to_sample_mapping"), encoding.pop("offset_mapping")
        inputs = []
        for index, number in enumerate(example_numbers):
            origins = [
                span if part == 1 else None
                for part, span in zip(encoding.sequence_ids(index), offsets[index], strict=True)
            ]
            fields = {name: encoding[name][index] for name in encoding}
            if with_targets:
                fields["start_positions"], fields["end_positions"] = _find_token_range_or_zeros(
                    origins, examples[number].target
                )
            inputs.append(EncoderInput(fields, number, origins))
        _check_windows_reach_end(tokenizer, examples, inputs)
        return inputs

    def reduce_logits(self, logits: Any, labels: Any) -> Any:  # noqa: ARG002 - the Trainer's form
        """Return the scores of every token as start and as end."""
        return tuple(logits[:2])

    def predictions(
        self, outputs: Any, inputs: Sequence[EncoderInput], examples: Sequence[EncoderExample]
    ) -> list[Any]:
        """Return the text between the best pair of a start and an end, in the best window."""
        best: dict[int, tuple[float, str]] = {}
        for window, starts, ends in zip(inputs, *outputs, strict=True):
            for start in _highest_scoring_text_token_indexes(starts, window.origins):
                for end in _highest_scoring_text_token_indexes(ends, window.origins):
                    score = float(starts[start] + ends[end])
                    if (
                        0 <= end - start < self.settings.longest_answer
                        and score > best.get(window.example, (-math.inf,))[0]
                    ):
                        text = examples[window.example].second[window.origins[start][0] : window.origins[end][1]]
                        best[window.example] = (score, text.strip())
        return [best.get(number, (0.0, ""))[1] for number in range(len(examples))]


def _check_windows_reach_end(
    tokenizer: Any, examples: Sequence[EncoderExample], inputs: Sequence[EncoderInput]
) -> None:
    """Raise a UsageError if the longest text's windows end before it does, as with some versions of the tokenizers."""
    longest = max(range(len(examples)), key=lambda number: len(examples[number].second), default=None)
    if longest is None:
        return
    tokens = tokenizer(examples[longest].second, add_special_tokens=False, return_offsets_mapping=True)
    end = max((end for _, end in tokens["offset_mapping"]), default=0)
    if all(span[1] < end for window in inputs if window.example == longest for span in window.origins if span):
        raise UsageError(
            f"tokenizers {version('tokenizers')} loses the end of long texts; install another version: "
            "pip install 'genaipa[encoders]'."
        )


def _truncate_question(tokenizer: Any, question: str, max_tokens: int) -> str:
    """Return the question's first tokens, few enough to leave room for the text."""
    tokens = tokenizer(question, add_special_tokens=False)["input_ids"]
    return question if len(tokens) <= max_tokens else str(tokenizer.decode(tokens[:max_tokens]))


def _find_token_range_or_zeros(token_spans: Sequence[Any], character_span: tuple[int, int]) -> tuple[int, int]:
    """Return the first and last token of a span of characters; the first token twice if the window lacks any of it."""
    inside = [
        token
        for token, characters in enumerate(token_spans)
        if characters and characters[0] < character_span[1] and characters[1] > character_span[0]
    ]
    whole = (
        inside and token_spans[inside[0]][0] <= character_span[0] and token_spans[inside[-1]][1] >= character_span[1]
    )
    return (inside[0], inside[-1]) if whole else (0, 0)


def _highest_scoring_text_token_indexes(scores: Any, origins: Sequence[Any]) -> list[int]:
    inside = [token for token, characters in enumerate(origins) if characters is not None]
    return sorted(inside, key=lambda token: -scores[token])[:_BEST]


KINDS: dict[KindName, type[EncoderTask]] = {
    "sequence": Classification,
    "multi-label": MultiLabelClassification,
    "pair": Classification,
    "token": LayeredTagging,
    "span": SpanExtraction,
}
