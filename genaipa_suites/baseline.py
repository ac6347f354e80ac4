"""Baselines of a suite: systems of the catalog that need no model, no key and no network (`baseline/NAME`).

A baseline knows more than a message says (all items, a train split, for a ceiling the gold labels), so that its suite
puts its reply into the message that asks for it. No other system is ever sent such a message.

Linear ones are support vector machines on words (scikit-learn, extra `baselines`), and a tagger of our own: an averaged
perceptron that tags from left to right, in the seconds that numpy takes, for suites whose spans are layers of tags. A
support vector machine for each of up to 97 tags took three minutes, and found no more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from genaipa.errors import MissingPackageError, PermanentError
from genaipa.systems.base import BuiltinSystem, Reply

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from genaipa.systems.base import Message, Settings
    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

BaselineKind = Literal["floor", "ceiling", "rule", "trained"]
PREFIX = "baseline/"


@dataclass(frozen=True)
class Baseline:
    """A baseline: `make` is given the suite, and gives the function from an item to the text of a reply.

    A floor uses nothing of the item, a ceiling its gold label, a rule the text alone; a trained one learns from the
    suite's own train split (`Suite.training`). Floors and ceilings are computed beside the systems in every report.
    """

    name: str
    kind: BaselineKind
    about: str
    make: Callable[[Suite], Callable[[Item], str]]


def adapt_item_function_to_baseline(answer_item: Callable[[Item], str]) -> Callable[[Suite], Callable[[Item], str]]:
    """Make a baseline of a function that needs nothing but the item."""
    return lambda _suite: answer_item


class CarriedReplySystem(BuiltinSystem):
    """A system that repeats what a message carries: its suite works the reply out."""

    def __init__(self, *, name: str) -> None:
        super().__init__(name=name)
        self.model = name

    async def reply_to_last_message(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - it has none
        """Repeat the reply; a PermanentError where no suite has put one into the message."""
        if messages[-1].purpose != "answer":
            problem = f"{self.name} answers only the items of a suite; ask it with: genaipa run --suite"
            raise PermanentError(problem, fatal=True)
        return Reply(messages[-1].carries, model=self.model)


def require_sklearn() -> None:
    """Raise a MissingPackageError that names the extra where scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise MissingPackageError("trained baselines need the package 'scikit-learn': pip install 'genaipa[baselines]'")


def word_tfidf_vectorizer(min_texts: int = 1) -> Any:
    """Return the logarithmic TF-IDF of words and pairs of words that are in at least `min_texts` texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=min_texts)


def word_and_character_tfidf_vectorizer() -> Any:
    """Return the TF-IDF of words and of two to five characters within words, of all that two texts have."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union

    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2)
    return make_union(word_tfidf_vectorizer(min_texts=2), characters)


def train_label_set_predictor(
    texts: Sequence[str],
    gold_label_sets: Sequence[Collection[str]],
    make_vectorizer: Callable[[], Any] = word_tfidf_vectorizer,
    *,
    balanced: bool = False,
) -> Callable[[str], list[str]]:
    """Learn which labels a text has, each against all others; return a function from a text to its sorted labels.

    `balanced` weighs a label's texts and all others alike. A label that no text has is never given, one that all have
    always. A MissingPackageError without scikit-learn.
    """
    require_sklearn()
    import numpy as np
    from sklearn.svm import LinearSVC

    vectorizer = make_vectorizer()
    matrix = vectorizer.fit_transform(texts)
    labels = sorted({label for text_labels in gold_label_sets for label in text_labels})
    weights, biases = np.zeros((matrix.shape[1], len(labels))), np.ones(len(labels))
    for column, label in enumerate(labels):
        has = np.array([label in text_labels for text_labels in gold_label_sets])
        if not has.all():
            machine = LinearSVC(C=1, class_weight="balanced" if balanced else None, random_state=0).fit(matrix, has)
            weights[:, column], biases[column] = machine.coef_[0], machine.intercept_[0]

    def predict_labels(text: str) -> list[str]:
        (scores,) = vectorizer.transform([text]) @ weights + biases
        return [label for label, value in zip(labels, scores, strict=True) if value > 0]

    return predict_labels


def train_single_label_predictor(
    texts: Sequence[str],
    gold_label_sets: Sequence[Collection[str]],
    make_vectorizer: Callable[[], Any] = word_tfidf_vectorizer,
    *,
    balanced: bool = False,
) -> Callable[[str], list[str]]:
    """Learn the one label that a text has, as `train_label_set_predictor` learns several."""
    require_sklearn()
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    labels = [label for (label,) in gold_label_sets]
    if len(set(labels)) == 1:
        return lambda _text: labels[:1]
    machine = LinearSVC(C=1, class_weight="balanced" if balanced else None, random_state=0)
    model = make_pipeline(make_vectorizer(), machine).fit(texts, labels)
    return lambda text: [str(model.predict([text])[0])]


_ROUNDS = 8
_AROUND = 3
"""Tokens to either side that a tag depends on."""
_RUNS = re.compile(r"(.)\1+")


def train_tagger(
    sentences: Sequence[Sequence[str]], gold_tags: Sequence[Sequence[str]]
) -> Callable[[Sequence[str]], list[str]]:
    """Learn tags from the tokens around each and the tag before it; return a function from a sentence to its tags."""
    import numpy as np

    known_tags = sorted({tag for sentence_tags in gold_tags for tag in sentence_tags} | {"O"})
    number = {tag: position for position, tag in enumerate(known_tags)}
    ids: dict[str, int] = {}
    material = [
        (
            [
                np.array([ids.setdefault(name, len(ids)) for name in token_features])
                for token_features in _token_features(tokens)
            ],
            [number[tag] for tag in sentence_tags],
        )
        for tokens, sentence_tags in zip(sentences, gold_tags, strict=True)
    ]
    # One row of weights for each feature, and after them one for each tag that may come before (the last: none).
    start = len(ids) + len(known_tags)
    weights = np.zeros((start + 1, len(known_tags)), np.float32)
    sums = np.zeros_like(weights)
    step, order = 1, random.Random(0)  # noqa: S311 - an order, not a secret
    for _ in range(_ROUNDS):
        order.shuffle(material)
        for features, gold in material:
            previous = start
            for token_features, right in zip(features, gold, strict=True):
                rows = np.append(token_features, previous)
                guess = int(weights[rows].sum(0).argmax())
                if guess != right:
                    weights[rows, right] += 1
                    weights[rows, guess] -= 1
                    sums[rows, right] += step
                    sums[rows, guess] -= step
                previous = len(ids) + guess
                step += 1
    weights -= sums / step

    def predict_tags(tokens: Sequence[str]) -> list[str]:
        predicted, previous = [], start
        for token_features in _token_features(tokens):
            rows = [*(ids[name] for name in token_features if name in ids), previous]
            guess = int(weights[rows].sum(0).argmax())
            predicted.append(known_tags[guess])
            previous = len(ids) + guess
        return predicted

    return predict_tags


def _token_features(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield the features of each token: words, pairs of words and forms, each with its distance."""
    edge = ["#"] * _AROUND
    lower = [*edge, *(token.lower() for token in tokens), *edge]
    for position, token in enumerate(tokens, _AROUND):
        word = lower[position]
        kinds = (
            "X" if sign.isupper() else "x" if sign.isalpha() else "0" if sign.isdigit() else sign for sign in token
        )
        yield [
            "every",
            f"form={_RUNS.sub(chr(92) + '1', ''.join(kinds))}",
            *(f"<{word[:size]}" for size in (2, 3)),
            *(f">{word[-size:]}" for size in (2, 3)),
            *(f"{at}={lower[position + at]}" for at in range(-_AROUND, _AROUND + 1)),
            *(f"{at}+={lower[position + at]} {lower[position + at + 1]}" for at in range(-2, 2)),
        ]
