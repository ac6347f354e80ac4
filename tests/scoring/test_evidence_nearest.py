"""The document's sentences beneath an answer's: only beneath what claims something, and as they read."""

from __future__ import annotations

import pytest

from genaipa.languages.catalog import LANGUAGES
from genaipa.policies.document import About, Document
from genaipa.scoring.evidence.examine import collect_reply_evidence
from genaipa.scoring.evidence.nearest import (
    MOST_CLAIMS,
    SentenceMatch,
    load_sentence_index,
    match_sentences_to_document,
    walk_sentence_and_title_bounds,
)

GARDEN = Document(
    "garden",
    "# Garden Policy\n\n## 1. What we plant\n\nOur gardeners plant **tulips** and roses beside the northern fence.\n\n"
    "- Visitors may photograph [every flower](https://example.org) before the gate closes.\n\n"
    "## 2. Water\n\nRain water is kept in barrels for thirty days, and then poured on the meadow.\n",
    About(company="Garden"),
)


def said(text: str, code: str = "en") -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end, _ in walk_sentence_and_title_bounds(text, LANGUAGES.get(code))]


def claims(reply: str, document: Document = GARDEN) -> dict[str, SentenceMatch]:
    """The sentences of an answer with what is said of them."""
    found = match_sentences_to_document(reply, document, collect_reply_evidence(reply, document))
    return {reply[one.start : one.end]: one for one in found}


@pytest.mark.parametrize(
    ("code", "text", "sentences"),
    [
        ("en", "See Part 6, E. Barrels and roses. We dig.", ["See Part 6, E. Barrels and roses.", "We dig."]),
        (
            "en",
            "They ask Dr. Reed, e.g. Mondays. Is it so? Yes!",
            ["They ask Dr. Reed, e.g. Mondays.", "Is it so?", "Yes!"],
        ),
        ("en", "It is in 4. Watering plants", ["It is in 4. Watering plants"]),
        ("en", "By Section 4. We water it.", ["By Section 4.", "We water it."]),
        ("en", "It began in 1999. Roses came.", ["It began in 1999.", "Roses came."]),
        ("en", "1. First we dig. 2. Then we sow.", ["First we dig.", "2. Then we sow."]),
        ("en", "So (see 3. Roses. And 4. Reeds) it is. Then?", ["So (see 3. Roses. And 4. Reeds) it is.", "Then?"]),
        ("en", "### 11.4 What grows\n- We dig. We sow.", ["11.4 What grows", "We dig.", "We sow."]),
        ("en", "Look:\n```\nrun. Now.\n```\nDone. Good.", ["Look:", "Done.", "Good."]),
        ("en", "Look:\n~~~~\nrun.\n~~~\nNow. Go.\n~~~~\nDone.", ["Look:", "Done."]),
        (
            "de",
            "Das gilt z. B. Rosen, bzw. Tulpen, ab dem 4. Mai. Wir gießen.",
            ["Das gilt z. B. Rosen, bzw. Tulpen, ab dem 4. Mai.", "Wir gießen."],
        ),
        ("de", "Siehe Abs. 2 Nr. 4. Beete (Teil B. Wasser).", ["Siehe Abs. 2 Nr. 4. Beete (Teil B. Wasser)."]),
        ("fr", "Voir M. Rosier, art. 4. Jardin. Nous arrosons.", ["Voir M. Rosier, art. 4. Jardin.", "Nous arrosons."]),
        ("zh", "我们保存雨水。玫瑰在哪里\uff1f在这里\uff01", ["我们保存雨水。", "玫瑰在哪里\uff1f", "在这里\uff01"]),
        ("", "花を植える。水をやる。", ["花を植える。", "水をやる。"]),
    ],
)
def test_where_a_sentence_ends(code: str, text: str, sentences: list[str]) -> None:
    """Not behind abbreviations, single capitals and numbers, nor inside brackets; lists' signs and code are none."""
    assert said(text, code) == sentences


def test_the_nearest_sentence_as_it_reads() -> None:
    """Markdown's signs are not shown, nor a heading; what has the document's words in a row says so."""
    found = claims(
        "They plant tulips and roses beside a fence. **Every visitor** may photograph a flower before the gate closes. "
        "Rain water is kept in barrels for thirty days, and then poured on the meadow (Section 2)."
    )
    assert [(one.line, one.literal) for one in found.values()] == [
        ("Our gardeners plant tulips and roses beside the northern fence.", False),
        ("Visitors may photograph every flower before the gate closes.", False),
        ("Rain water is kept in barrels for thirty days, and then poured on the meadow.", True),
    ]
    start, end = next(iter(found.values())).near[0]
    assert GARDEN.text[start:end].startswith("Our gardeners plant **tulips**")


@pytest.mark.parametrize(
    "reply",
    [
        "The policy does not state whether rain water is kept in barrels.",
        "Whether gardeners plant tulips beside the northern fence is not specified.",
        "Reference: no mention of tulips, roses or the northern fence.",
        "(Section 1: What we plant, Section 2: Water)",
        "I hope that this helps you with tulips and roses beside the northern fence.",
        "Would you like to know how rain water is kept in barrels?",
        "## Rain water in barrels for thirty days",
        "**Rain water kept in barrels for thirty days**",
        "Our gardeners plant tulips and roses beside the northern fence, for instance:",
    ],
)
def test_what_claims_nothing_has_no_line(reply: str) -> None:
    """Denials, citations, titles, questions, lead-ins and words of the assistant's own: not even "nothing near"."""
    assert {one.line for one in claims(reply).values()} == {None}


@pytest.mark.parametrize(
    ("code", "text", "denial", "claim"),
    [
        (
            "de",
            "Unsere Gärtner pflanzen Tulpen und Rosen am nördlichen Zaun.",
            "Ob die Gärtner Tulpen am Zaun pflanzen, geht aus dem Dokument nicht hervor.",
            "Am nördlichen Zaun pflanzen die Gärtner Rosen und Tulpen.",
        ),
        (
            "fr",
            "Nos jardiniers plantent des tulipes et des roses près de la clôture.",
            "Le document ne précise pas si les jardiniers plantent des tulipes près de la clôture.",
            "Près de la clôture, les jardiniers plantent des tulipes et des roses.",
        ),
    ],
)
def test_in_other_languages(code: str, text: str, denial: str, claim: str) -> None:
    """German and French denials have no line either, and claims have theirs."""
    document = Document("garten", f"{text}\n", About(company="Garten", language=code))
    found = claims(f"{claim} {denial}", document)
    assert [one.line for one in found.values()] == [text, None]


def test_a_sentence_that_claims_more_than_it_denies() -> None:
    """What is asserted beside a denial has its line, looked for by its own words."""
    reply = "They keep rain water in barrels for thirty days, and pour it on the meadow, but do not say why."
    assert [one.line for one in claims(reply).values()] == [
        "Rain water is kept in barrels for thirty days, and then poured on the meadow."
    ]
    more = (
        "Gardeners plant tulips and roses, but the policy does not state who waters the meadow or photographs the gate."
    )
    assert [one.line for one in claims(more).values()] == [None], "half of it and more denies"


def test_nothing_near() -> None:
    """It is said of what has words that the document lacks, and of nothing that it has in several places."""
    found = claims(
        "Zebras march through purple galaxies at midnight. Tulips, days, meadow, gate, flower and month stay."
    )
    assert [one.line for one in found.values()] == ["", None]


def test_a_reply_of_very_many_sentences() -> None:
    """Lines end after so many sentences; the sentences are all there."""
    sentence = "Rain water is kept in barrels for a month. "
    found = match_sentences_to_document(sentence * (MOST_CLAIMS + 5), GARDEN, collect_reply_evidence(sentence, GARDEN))
    assert len(found) == MOST_CLAIMS + 5
    assert [one.line is None for one in found[-6:]] == [False, *[True] * 5]


def test_nearest_to_a_question() -> None:
    """The likest sentence comes first; where no word is shared there is none."""
    near = load_sentence_index(GARDEN.text).find_sentences_nearest_to_question("For how many days is rain water kept?")
    assert near[0].text.startswith("Rain water is kept")
    assert load_sentence_index(GARDEN.text).find_sentences_nearest_to_question("Wer zahlt?") == []
