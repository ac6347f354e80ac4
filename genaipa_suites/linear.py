"""Linear baselines: TF-IDF features and linear support vector machines (C = 1), by scikit-learn (extra `baselines`)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from genaipa.errors import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


def need_sklearn() -> None:
    """Raise a MissingPackageError that names the extra where scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise MissingPackageError("trained baselines need the package 'scikit-learn': pip install 'genaipa[baselines]'")


def words(rarest: int = 1) -> Any:
    """Logarithmic TF-IDF of words and pairs of words that are in at least N texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=rarest)


def words_and_characters() -> Any:
    """Both the TF-IDF of words, and that of two to five characters within words, of all that two texts have."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union

    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2)
    return make_union(words(rarest=2), characters)


def frequent_words() -> Any:
    """Counts of the 200 most frequent words."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(max_features=200)


def frequent_words_and_length() -> Any:
    """The same, and the text's length in words."""
    from sklearn.pipeline import make_union
    from sklearn.preprocessing import FunctionTransformer

    return make_union(frequent_words(), FunctionTransformer(lambda texts: [[len(text.split())] for text in texts]))


def label_sets(
    texts: Sequence[str],
    gold: Sequence[Collection[str]],
    features: Callable[[], Any] = words,
    *,
    balanced: bool = False,
) -> Callable[[str], list[str]]:
    """Learn which labels a text has, each label against all others; gives the labels of a text, in order of name.

    `balanced` weighs a label's texts and all others alike. A label that no text has is never given, one that all have
    always. A MissingPackageError without scikit-learn.
    """
    need_sklearn()
    import numpy as np
    from sklearn.svm import LinearSVC

    made = features()
    matrix = made.fit_transform(texts)
    labels = sorted({label for each in gold for label in each})
    weights, biases = np.zeros((matrix.shape[1], len(labels))), np.ones(len(labels))
    for place, label in enumerate(labels):
        has = np.array([label in each for each in gold])
        if not has.all():
            machine = LinearSVC(C=1, class_weight="balanced" if balanced else None, random_state=0).fit(matrix, has)
            weights[:, place], biases[place] = machine.coef_[0], machine.intercept_[0]

    def labels_of(text: str) -> list[str]:
        (decided,) = made.transform([text]) @ weights + biases
        return [label for label, value in zip(labels, decided, strict=True) if value > 0]

    return labels_of


def single_label(
    texts: Sequence[str],
    gold: Sequence[Collection[str]],
    features: Callable[[], Any] = words,
    *,
    balanced: bool = False,
) -> Callable[[str], list[str]]:
    """Learn the one label that a text has, as `label_sets` learns several."""
    need_sklearn()
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    labels = [label for (label,) in gold]
    if len(set(labels)) == 1:
        return lambda _text: labels[:1]
    machine = LinearSVC(C=1, class_weight="balanced" if balanced else None, random_state=0)
    model = make_pipeline(features(), machine).fit(texts, labels)
    return lambda text: [str(model.predict([text])[0])]
