"""Spans over tokens: texts placed on them, tags, and counts of slots, compared with nervaluate."""

import random

import pytest
from size import size

from genaipa_suites.spans import (
    Span,
    bio_tags_or_raise_if_spans_overlap,
    count_right_predicted_and_gold,
    count_right_predicted_gold_by_label,
    locate_texts_in_tokens,
    spans_from_tags,
)

CASES = size(small=300, soak=5000)
TAGS = ("O", "O", "B-x", "I-x", "B-y", "I-y", "B-data-z", "I-data-z")


def corpora(number):
    """Random corpora of a few sentences: (predicted tags, gold tags), stray I- and empty sentences among them."""
    draw = random.Random(7)
    for _ in range(number):
        lengths = [draw.randint(0, 9) for _ in range(draw.randint(1, 4))]
        predicted, gold = ([draw.choices(TAGS, k=length) for length in lengths] for _ in "pg")
        if draw.random() < 0.3:
            predicted = [[tag if draw.random() < 0.8 else "O" for tag in tags] for tags in gold]
        yield predicted, gold


def summed(pairs):
    """Sums over sentences, by label and in all, as a suite adds them up."""
    labels, whole = {}, (0, 0, 0)
    for predicted, gold in pairs:
        spans = spans_from_tags(predicted), spans_from_tags(gold)
        whole = tuple(map(sum, zip(whole, count_right_predicted_and_gold(*spans), strict=True)))
        for label, counts in count_right_predicted_gold_by_label(*spans).items():
            labels[label] = tuple(map(sum, zip(labels.get(label, (0, 0, 0)), counts, strict=True)))
    return whole, labels


def test_counts_are_those_of_nervaluate():
    """True positives, predicted and gold are nervaluate's of its strict way, on the same random tags."""
    nervaluate = pytest.importorskip("nervaluate", reason="needs nervaluate")
    for predicted, gold in corpora(CASES):
        theirs = nervaluate.Evaluator(gold, predicted, tags=["x", "y", "data-z"], loader="list")
        strict = theirs.evaluate()["overall"]["strict"]
        whole, _ = summed(zip(predicted, gold, strict=True))
        assert whole == (strict.correct, strict.actual, strict.possible), (predicted, gold)


def test_spans_come_back_from_their_tags():
    """Spans that share no token are found again in their tags, neighbours of one label too."""
    draw = random.Random(5)
    for _ in range(size(small=300, soak=3000)):
        cuts = sorted(draw.sample(range(20), draw.randint(0, 10) // 2 * 2))
        spans = [Span(*pair, draw.choice("xy")) for pair in zip(cuts[::2], cuts[1::2], strict=True)]
        spans = [span for one in spans for span in split(one, draw)]
        assert spans_from_tags(bio_tags_or_raise_if_spans_overlap(spans, 20)) == spans
    for wrong in ([Span(0, 2, "x"), Span(1, 3, "y")], [Span(2, 2, "x")], [Span(3, 5, "x")]):
        with pytest.raises(ValueError, match="the span"):
            bio_tags_or_raise_if_spans_overlap(wrong, 4)
    with pytest.raises(ValueError, match="'S-x' is not a BIO tag"):
        spans_from_tags(["O", "S-x"])


def split(span, draw):
    """A span, or two of its label that touch."""
    middle = draw.randint(span.start, span.end - 1)
    halves = [Span(span.start, middle, span.label), Span(middle, span.end, span.label)]
    return halves if middle > span.start else [span]


def test_texts_stand_on_tokens():
    """Each text stands on its own tokens: in order of appearance, each once, whatever blanks and quotes it has."""
    sentence = "we share your log - in name and “ your ” name with us and with them"
    tokens = sentence.split()
    texts = ["your", "log-in name", "your", "name", "with", "with", "with", "we", "log"]
    assert locate_texts_in_tokens(tokens, texts) == [
        (2, 3),
        (3, 7),
        (9, 10),
        (11, 12),
        (12, 13),
        (15, 16),
        None,
        (0, 1),
        None,
    ]
    assert locate_texts_in_tokens(tokens, ['"your" name', "share  your"]) == [(8, 12), (1, 3)]
    # After the text before it, unless its first token is known.
    assert locate_texts_in_tokens(["you", "tell", "you"], ["tell", "you"]) == [(1, 2), (2, 3)]
    assert locate_texts_in_tokens(["you", "tell", "you"], ["tell", "you", "tell"], [None, 0, 0]) == [
        (1, 2),
        (0, 1),
        None,
    ]
    # No part of a token, no other case, nothing, and nothing that is not there.
    assert locate_texts_in_tokens(tokens, ["ame", "We", "", " ", "share name", "we share you"]) == [None] * 6
    assert locate_texts_in_tokens([], ["we"]) == [None]


def test_random_parts_are_found():
    """Parts of a sentence, named from left to right, are placed on tokens of the same text, none of them twice."""
    draw = random.Random(3)
    for _ in range(size(small=300, soak=3000)):
        tokens = draw.choices(["a", "b", "ab", "’", "-"], k=12)  # noqa: RUF001 - a quotation mark to fold
        cuts = sorted(draw.sample(range(13), 6))
        parts = list(zip(cuts[::2], cuts[1::2], strict=True))
        texts = [draw.choice([" ", ""]).join(tokens[slice(*part)]) for part in parts]
        found = locate_texts_in_tokens(tokens, texts)
        used = [place for part in found if part for place in range(*part)]
        assert len(used) == len(set(used))
        for part, text in zip(found, texts, strict=True):
            assert part is None or "".join(tokens[slice(*part)]) == text.replace(" ", "")


def test_nothing_is_counted_twice():
    """A span that is named twice is right once: the second is a prediction without a reference."""
    span = Span(0, 2, "x")
    assert count_right_predicted_and_gold([span, span], [span]) == (1, 2, 1)
    assert count_right_predicted_gold_by_label([span, span, Span(3, 4, "y")], [span]) == {
        "x": (1, 2, 1),
        "y": (0, 1, 0),
    }
    assert count_right_predicted_and_gold([], []) == (0, 0, 0)
