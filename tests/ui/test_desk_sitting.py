"""A long sitting at the desk: hundreds of answers, one after the other, as fast as keys go."""

from __future__ import annotations

import random

import pytest
from analysts import arrive, kept_drafts, kept_events, make_answers, open_to
from running import answers

from rubrics import keys_of

ANSWERS = 300


@pytest.mark.soak  # the first test in test_desk_browser.py does the same with a few answers
def test_three_hundred_answers_in_one_sitting() -> None:
    """What was typed is what is stored, in order; no draft is left, in the store or in the browser."""
    run = make_answers(*(f"Answer {n}: see section {n % 3 + 1}." for n in range(ANSWERS + 1)))
    digests = {record.reply: record.digest for record in answers(run)}
    chance = random.Random(14)
    typed = []
    with open_to("--per-answer", "1", "--sample", "all") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        for _ in range(ANSWERS):
            keys = "".join(chance.choices("123", k=5))
            typed.append((digests[anna.wait().reply], keys))
            anna.score(keys)
        kept = anna.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('genaipa '))")
    assert kept == []
    assert [(event.answer, keys_of(event.values)) for event in kept_events() if event.kind == "score"] == typed
    assert len({answer for answer, _ in typed}) == ANSWERS
    assert kept_drafts("Anna") == []
