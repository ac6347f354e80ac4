"""Numbers and names in sentences."""

from __future__ import annotations

from genaipa.words import number, some


def test_a_noun_stands_in_the_number_of_its_count() -> None:
    """One is singular; nothing and many are plural, with a plural of their own where it is no s."""
    assert [number(count, "answer") for count in (0, 1, 2_000)] == ["0 answers", "1 answer", "2,000 answers"]
    assert number(2, "reply", "replies") == "2 replies"


def test_names_beyond_the_first_are_counted() -> None:
    """As many as are wanted are named, all where they are no more."""
    assert some("ABCDE", 2) == "A, B and 3 more"
    assert some((row for row in (1, 2)), 2) == "1, 2"
