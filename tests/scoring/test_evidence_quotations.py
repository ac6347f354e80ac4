"""What an answer quotes is found as it stands, up to typography, nearly, or not at all."""

from __future__ import annotations

import pytest
from evidence_cases import POLICY

from genaipa.policies.document import About, Document
from genaipa.scoring.evidence.quotations import NEAR, find_quotations


@pytest.mark.parametrize(
    "reply",
    [
        'It says "Every burrow has a lock" there.',
        "It says \u201cEvery burrow has a lock.\u201d",
        "It says \u201eEvery burrow has a lock\u201c.",
        "It says \u00abEvery burrow has a lock\u00bb.",
        "It says 'Every burrow has a lock', the hedgehog's policy.",
        "It says \u2018Every burrow has a lock\u2019, the hedgehog\u2019s policy.",
        "> Every burrow has a lock",
    ],
)
def test_quotes_of_all_kinds(reply: str) -> None:
    """Typographic, straight, single, low and angled quotes and quoted lines hold quotations."""
    (found,) = find_quotations(reply, POLICY)
    assert found.text.rstrip(".") == "Every burrow has a lock"
    assert (found.match, found.similarity) == ("exact", 100)
    assert reply[found.start : found.end] == found.text
    assert POLICY.text[slice(*(found.target or ()))] == "Every burrow has a lock"


@pytest.mark.parametrize(
    ("quoted", "stands"),
    [
        ("we collect your burrows ADDRESS, your snack list", "We collect your burrow's address, your \u201csnack list"),
        ("we count  beetles - and we never sell", "we count beetles \u2014 and we never sell"),
        (
            "You may leave the hedge \u2026 forget the way",
            "You may leave the hedge at any time, and we then forget the way",
        ),
        (
            "You may leave ... and [they] then forget the way",
            "You may leave the hedge at any time, and we then forget the way",
        ),
        ("...[the date] on which you fell asleep", "on which you fell asleep"),
    ],
)
def test_up_to_typography(quoted: str, stands: str) -> None:
    """Case, blanks, quotes, dashes and lost apostrophes don't count, and an ellipsis or bracket leaves out."""
    (found,) = find_quotations(f'It says "{quoted}".', POLICY)
    assert (found.match, found.similarity) == ("normalised", 100)
    assert POLICY.text[slice(*(found.target or ()))] == stands


def test_what_the_published_policies_have_lost() -> None:
    """A quotation with apostrophes and dashes is found in a text from which they were deleted."""
    document = Document("lost", "In shortto the point we havent sold anybodys snacks.", About(company="Lost"))
    (found,) = find_quotations("\u201cwe haven\u2019t sold anybody\u2019s snacks\u201d", document)
    assert found.match == "normalised"


@pytest.mark.parametrize(
    ("reply", "quoted"),
    [
        ('"We collect your burrow\'s address, your "snack list" and more;"', []),
        (
            '"We collect your burrow\'s address, your "snack list" and your children\'s names;"',
            ["We collect your burrow's address, your \"snack list\" and your children's names;"],
        ),
        (
            'It says ("We collect your burrow\'s address, your "snack list"").',
            ['We collect your burrow\'s address, your "snack list"'],
        ),
        (
            '"your "snack list" and your children\'s names", then "Every burrow has a lock" there',
            ['your "snack list" and your children\'s names', "Every burrow has a lock"],
        ),
        (
            '"Every burrow has a lock" and "then forget the way to"',
            ["Every burrow has a lock", "then forget the way to"],
        ),
        ('> "your "snack list" and your children\'s names"', ['your "snack list" and your children\'s names']),
    ],
)
def test_quotes_within_quotes(reply: str, quoted: list[str]) -> None:
    """Straight quotes around others are one quotation, if what stands between them is in the document."""
    found = find_quotations(reply, POLICY)
    assert [quotation.text for quotation in found] == quoted
    assert [reply[quotation.start : quotation.end] for quotation in found] == quoted
    assert all(quotation.match in {"exact", "normalised"} for quotation in found)


def test_near_and_none() -> None:
    """A word amiss makes a near match with its passage; what the document doesn't say is not found."""
    near, none = find_quotations(
        '"Every burrow has a good lock with two keys" and "We sell your snack list to the highest bidder"', POLICY
    )
    assert near.match == "near"
    assert NEAR <= near.similarity < 100
    assert "Every burrow has a lock with two keys" in POLICY.text[slice(*(near.target or ()))]
    assert (none.match, none.target) == ("none", None)
    assert none.similarity < NEAR


def test_a_passage_at_the_edge_is_near() -> None:
    """The first and the last words of a document are found as the others are."""
    document = Document(
        "edge", "Hedges hide the hare well " + "and so on " * 300 + "until the fox goes home", About("E")
    )
    found = find_quotations('"Hedges hid the hare well" "until the fox went home"', document)
    assert [quotation.match for quotation in found] == ["near", "near"]
    assert [document.text[slice(*(q.target or ()))] for q in found] == [
        "Hedges hide the hare well",
        "until the fox goes home",
    ]


@pytest.mark.parametrize(
    "reply",
    [
        'The "snack list" is kept.',
        "The hedgehogs' burrow and the moles' hill aren't the foxes' home, 'tis said.",
        '5" of snow fell on the hedge and 3" more came in the night',
        "It's the policy's own word that it isn't sold.",
        '"Section of a line that\nis cut in two" here',
        "",
    ],
)
def test_what_quotes_nothing(reply: str) -> None:
    """Terms of a few words, apostrophes, inches and pairs across lines are no quotations."""
    assert find_quotations(reply, POLICY) == ()


def test_titles_are_no_quotations() -> None:
    """What was read as the title of a cited section isn't looked up as a quotation."""
    reply = 'Section 4: "How we dig and why" says "How we dig and why".'
    assert len(find_quotations(reply, POLICY)) == 2
    assert len(find_quotations(reply, POLICY, [(0, 31)])) == 1


def test_long_replies_end() -> None:
    """Two hundred thousand characters of quotations or of stray quotes come to an end, a thousand quotations kept."""
    for reply in (
        "> we dig by night here\n" * 9000,
        "'a " * 66_000,
        '"' * 200_000,
        '"We ... may ... leave ... it" ' * 7000,
        '"We "may" leave" ' * 12_000,
    ):
        assert len(find_quotations(reply, POLICY)) <= 1000
