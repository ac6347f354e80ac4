"""Answerability's baselines: the paper's majority row, and linear support vector machines on words and length."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from genaipa_suites.baseline import Baseline
from genaipa_suites.linear import need_sklearn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

WORDS = 200
"""Length of the paper's vectors of words. It does not say which; here the most frequent ones of the train split."""


def reply(*, answerable: bool) -> str:
    """A reply that says so."""
    return json.dumps({"answerable": answerable})


def _unanswerable(_suite: Suite) -> Callable[[Item], str]:
    return lambda _item: reply(answerable=False)


def _machine(suite: Suite, *, length: bool) -> Callable[[Item], str]:
    need_sklearn()
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.svm import LinearSVC

    vectors = CountVectorizer(max_features=WORDS)

    def features(questions: Sequence[str], counted: Any) -> Any:
        lengths = [[len(question.split())] for question in questions]
        return np.hstack([counted.toarray(), lengths]) if length else counted

    train = [(str(item.shown["text"]), bool(item.gold["unanswerable"])) for item in suite.training.items]
    questions = [text for text, _ in train]
    gold = [unanswerable for _, unanswerable in train]
    machine = LinearSVC(C=1, random_state=0).fit(features(questions, vectors.fit_transform(questions)), gold)

    def answer(item: Item) -> str:
        asked = [item.shown["text"]]
        (unanswerable,) = machine.predict(features(asked, vectors.transform(asked)))
        return reply(answerable=not unanswerable)

    return answer


BASELINES = (
    Baseline(
        "majority", "floor", "every question is unanswerable, as the paper's row of that name has it", _unanswerable
    ),
    Baseline("svm", "trained", "a linear SVM on the 200 most frequent words", partial(_machine, length=False)),
    Baseline("svm-length", "trained", "the same with the question's length in words", partial(_machine, length=True)),
)
