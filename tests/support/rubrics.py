"""The shipped rubric, by which the tests score."""

from __future__ import annotations

from genaipa.scoring.rubric import shipped_rubric

PAPER = shipped_rubric()
METRICS, VALUES, KEYS = tuple(PAPER.metrics), PAPER.values, PAPER.value_by_digit
typed, keys_of = PAPER.parse_digits, PAPER.format_as_digits
