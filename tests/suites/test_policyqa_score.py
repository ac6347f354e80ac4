"""PolicyQA's scorer: SQuAD's metric, and the stretch of a segment that an answer is."""

from __future__ import annotations

import random
import re
import string
from collections import Counter

import pytest
from size import size

from genaipa_suites.policyqa import (
    ABSENT,
    EMPTY,
    FOLDED,
    FUZZY,
    VERBATIM,
    find_answer_in_segment,
    squad_exact_match_and_f1,
)

SEGMENT = """We sell nothing. If you don\u2019t opt-out,  “partners” see
your e-mail \u2013 never your card, or the pulse of your heart."""


def stated(answer: str, reference: str) -> tuple[float, float]:
    """SQuAD v1.1's metric, stated once more in other words."""

    def tokens(text: str) -> list[str]:
        kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return [word for word in re.split(r"\s+", re.sub(r"\b(the|an|a)\b", " ", kept)) if word]

    one, other = tokens(answer), tokens(reference)
    rest, hits = list(other), 0
    for word in one:
        if word in rest:
            rest.remove(word)
            hits += 1
    match = float(" ".join(one) == " ".join(other))
    if not hits:
        return match, 0.0
    precision, recall = hits / len(one), hits / len(other)
    return match, 2 * precision * recall / (precision + recall)


def test_the_metric_is_squads() -> None:
    """Exact match and F1 are those of a second statement of the metric, on random texts full of its traps."""
    draw = random.Random(13)
    words = ["the", "a", "An", "data", "Data", "opt-out", "optout", "your", "your,", "“we”", "we", "-", "e.g.", "\n"]
    words += ["a.m.", "am", "the/data", "thedata"]

    def text() -> str:
        return " ".join(draw.choices(words, k=draw.randrange(9)))

    for _ in range(3_000):
        one, other = text(), text()
        assert squad_exact_match_and_f1(one, other) == pytest.approx(stated(one, other)), (one, other)


@pytest.mark.parametrize(
    ("answer", "found", "text"),
    [
        (" your e-mail\n", VERBATIM, "your e-mail"),
        ('IF YOU DON\'T OPT-OUT, "PARTNERS" SEE YOUR', FOLDED, "If you don\u2019t opt-out,  “partners” see\nyour"),
        ("your e\u2011mail - never", FOLDED, "your e-mail \u2013 never"),
        ("We sell nothing!", FUZZY, "We sell nothing."),
        ("never your card, or pulse of heart", FUZZY, "never your card, or the pulse of your heart."),
        ("never your card or the pulse of your lungs", FUZZY, "never your card, or the pulse of your"),
        ("partners see full e-mail, never your card", FUZZY, "“partners” see\nyour e-mail \u2013 never your card,"),
        ("see your heart and the pulse of your lungs", ABSENT, ""),
        ("see your mail", ABSENT, ""),
        ("your card. We sell nothing", ABSENT, ""),
        ("The “policy” says nothing about hearts", ABSENT, ""),
        ("””", ABSENT, ""),
        (" - ", EMPTY, ""),
        ("", EMPTY, ""),
    ],
)
def test_a_span_is_found_in_its_segment(answer: str, found: str, text: str) -> None:
    """Word for word, but for case and typography, but for one word in five, or nowhere: as the segment has it."""
    assert find_answer_in_segment(answer, SEGMENT) == (found, text)


def edits(one: list[str], other: list[str]) -> int:
    """Words to put in, leave out or change that make one text of the other."""
    row = list(range(len(other) + 1))
    for place, word in enumerate(one, start=1):
        above, row = row, [place]
        for at, against in enumerate(other):
            row.append(min(above[at] + (word != against), above[at + 1] + 1, row[at] + 1))
    return row[-1]


def test_the_nearest_stretch_is_found_exactly_where_one_is_near_enough() -> None:
    """On random words it is the stretch with the fewest edits of all, and there is one where these are one in five."""
    draw = random.Random(5)
    rungs = Counter[str]()
    for _ in range(size(small=300, soak=1_500)):
        segment = draw.choices("bcdefghi", k=draw.randrange(8, 18))
        begin = draw.randrange(len(segment) - 5)
        answer = [draw.choice([word] * 9 + ["x"]) for word in segment[begin : begin + draw.randrange(5, 12)]]
        stretches = [segment[at:end] for at in range(len(segment)) for end in range(at + 1, len(segment) + 1)]
        fewest = min(edits(answer, stretch) for stretch in stretches)
        found, text = find_answer_in_segment(" ".join(answer), " ".join(segment))
        rungs[found] += 1
        assert (found == ABSENT) == (fewest > len(answer) // 5), (answer, segment)
        assert found == ABSENT or edits(answer, text.split()) == fewest, (answer, segment, text)
    assert len(rungs) == 3, rungs
