"""A document is searched, quoted, measured and compared as it reads, and every word leads back to the source."""

from __future__ import annotations

import re

import pytest

from genaipa.policies.document import About, Document
from genaipa.policies.reading import PlainReading, markdown_line_text
from genaipa.policies.search import rank_text_indices
from genaipa.policies.sections import find_sections
from genaipa.policies.statistics import measure_text
from genaipa.scoring.evidence.passages import load_passage_finder
from genaipa.scoring.evidence.quotations import find_quotations
from genaipa.scoring.evidence.support import sentence_spans_without_headings
from genaipa.scoring.objections import make_correction
from genaipa.systems.extractive import quote_answer_from_document
from genaipa.systems.rag import RagSystem
from genaipa_watch.changes import DocumentChanges

READS = {
    'Ask [our *desk*](<https://a.example/x y> "it\'s (open)") now.': "Ask our desk now.",
    "Ask [our desk][1], [us][] or [staff].\n\n[1]: https://a.example\n[us]: /us 'x'\n[staff]: <#st>": (
        "Ask our desk, us or staff.\n\n"
    ),
    "See [the][desk] [list](now).\n\nThe [desk]: is open.": "See [the][desk] list.\n\nThe [desk]: is open.",
    "[a](b) c [d\\]](e) [![a map](m.png) of it](f) ![](g)(h)": "a c d] a map of it (h)",
    "Five\\* &lt;stamps&gt;&nbsp;&#8212; &notone; **fe**w, snake_case, 2 * 3 * 4": (
        "Five* <stamps>\xa0\u2014 &notone; few, snake_case, 2 * 3 * 4"
    ),
    "`a[b](c)` and `` d`e ``": "a[b](c) and d`e",
    "a  \nb\\\nc\n   d": "a\nb\nc\nd",
    "Kept[^1] long[^2b].\n\n[^1]: By *law*.\n[^2b]: https://a.example": "Kept long.\n\nBy law.\nhttps://a.example",
    "## Desk {#desk}\n\nOpen{: .x title='y' }\n{: datetime=\"2020\" }\n": "## Desk \n\nOpen\n\n",
    "Dear {{ name }}, {who}, {% if x %}": "Dear {{ name }}, {who}, {% if x %}",
    "<p>One<br/>two <b>th</b>ree</p><!-- four\n - -->five <you@a.example> <Your Name> 3 < 4": (
        " One two three five you@a.example <Your Name> 3 < 4"
    ),
    "pri\u00advacy\ufeff": "privacy",
    "> quoted *words\n> go* on\n\n| a *b* | [c](d) |\n|---|---|": "> quoted words\n> go on\n\n| a b | c |\n|---|---|",
}


@pytest.mark.parametrize("source", READS)
def test_what_a_source_reads_as(source: str) -> None:
    """Marks are gone, words are not, and each word's place is where the source has it."""
    reading = PlainReading(source)
    assert re.sub(" {2,}", " ", reading.text) == READS[source]
    for word in re.finditer(r"[^\W_]+", reading.text):
        start, end = reading.source_span(*word.span())
        assert re.sub(r"<[^>]*>|\*\*|[\u00ad\ufeff]", "", source[start:end]) == word[0]
        assert reading.plain_text_of_source_span(start, end) == word[0]
    words = [word.span() for word in re.finditer(r"[^\W_]+", reading.text)]
    assert reading.source_spans_in_order(words) == [reading.source_span(*word) for word in words]


@pytest.mark.parametrize("source", ["", "plain", "*", "[", "[]", "](", "![", "`", "&", "<", "\\", "\r[a](b)\r\n\0*c*"])
def test_any_text_is_read(source: str) -> None:
    """Marks that are none stay; nothing fails."""
    reading = PlainReading(source)
    assert reading.plain_text_of_source_span(0, len(source)) == reading.text
    assert [*filter(str.isalnum, reading.text)] == [c for c in source if c.isalnum() and c != "b"]


def test_references_of_a_line() -> None:
    """A line alone is read by definitions that stand elsewhere."""
    assert markdown_line_text("[Data][d] {#x}", {"D": {"href": "/d", "title": ""}}) == "Data"
    (one, other) = find_sections("# [Data][d] {: #data }\n\nx\n\n# Rights[\u00b6](#rights) {.big}\n\n[d]: /d")
    assert (one.title, other.title) == ("Data", "Rights")


SOURCE = (
    "# Otterby\n\n## 1. Sharing\n\nBefore you give pens to *one* of [our partners](https://p.example/zeppelin), read"
    " [their **rules**][r].\n\n## 2. Keeping\n\nThe identi\ufb01er of your o\ufb03ce is kept&nbsp;for\u00ad ever."
    "\n\n[r]: /rules"
)
POLICY = Document("otterby", SOURCE, About(company="Otterby"))
SENTENCE = "Before you give pens to one of our partners, read their rules"


@pytest.mark.parametrize(
    ("quoted", "match"),
    [
        (f"{SENTENCE}.", "exact"),
        (SENTENCE.upper(), "normalised"),
        ("Before you give pens \u2026 read their rules", "normalised"),
        ("before you give **pens** to one of [our partners](https://elsewhere.example), read", "normalised"),
        ("give pens to *one* of [our partners](https://p.example/zeppelin), read", "exact"),
        ("the identifier of your office is kept for ever", "normalised"),
    ],
)
def test_quotations_through_marks(quoted: str, match: str) -> None:
    """What is quoted as it reads is found; what is highlighted is the source's."""
    (found,) = find_quotations(f"It says \u201c{quoted}\u201d.", POLICY)
    assert (found.match, found.similarity) == (match, 100)
    assert found.target
    first, last = re.findall(r"[a-z]+", quoted.lower())[0], quoted.rstrip(".")[-4:].lower()
    source = POLICY.text[slice(*found.target)].lower()
    assert source.startswith(first)
    assert source.endswith(last) or last == "read"


def test_nearly_quoted_through_marks() -> None:
    """A near match is measured by words, not by addresses."""
    (found,) = find_quotations("\u201cBefore you give pens to some of our partners, read their rules\u201d", POLICY)
    assert found.match == "near"
    assert found.similarity > 95


def test_passages_and_sentences_have_places_in_the_source() -> None:
    """A passage that a retriever made plain is placed, and sentences are stretches of the source."""
    span = load_passage_finder(SOURCE).place(SENTENCE).span
    assert span
    assert SOURCE[slice(*span)].endswith("[their **rules")
    assert (
        SOURCE[slice(*sentence_spans_without_headings(SOURCE)[0])]
        == SOURCE[SOURCE.index("Before") : SOURCE.index("\n\n## 2")]
    )


def test_search_and_answers_are_of_what_reads() -> None:
    """Addresses are no words to search, ligatures are letters, and what is quoted has no marks."""
    assert f'"{SENTENCE}." (Section 1)' in quote_answer_from_document(
        SOURCE, "Which rules do partners have, and who gives pens?"
    )
    assert "say" in quote_answer_from_document(SOURCE, "Who flies a zeppelin?")
    assert "(Section 2)" in quote_answer_from_document(SOURCE, "Is an identifier of an office kept?")
    assert RagSystem.search(SOURCE, "Is the identifier kept?")[0].source == "Section 2"
    assert RagSystem.search(SOURCE, "zeppelin")[0].source != "Section 1"
    assert rank_text_indices(("nothing here", "the \uff50\uff45\uff4e of your o\ufb03ce"), "the pen in an office") == [
        1,
        0,
    ]


def test_addresses_change_and_measure_nothing() -> None:
    """Another address, a definition, an entity or a footnote's mark are no change, and are not counted."""
    other = SOURCE.replace("p.example/zeppelin", "q.example").replace("[r]: /rules", "[r]: /other 'title'")
    other = other.replace("[their **rules**][r]", "their rules[^1]").replace("identi\ufb01er", "identifier")
    assert DocumentChanges(POLICY, Document("later", other, About(company="Otterby"))).has_same_words
    assert measure_text(SOURCE).words == measure_text(PlainReading(SOURCE).text).words == 26


def test_a_proof_is_pasted_from_a_page() -> None:
    """A passage that proves a correction is found as it reads; its place is the source's."""
    found = make_correction(POLICY, f"{SENTENCE}.", silent="no", answer="", why="It is there.")
    assert found.find_proving_sentence_or_empty(SOURCE).startswith("Before you give pens to *one* of [our")
