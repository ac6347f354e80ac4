"""Citations by a vendor's own feature: how they are asked for, placed, kept and refused."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from asking import ask
from running import TEXT, make_workspace
from servers import AnthropicServer, Behaviour

from genaipa.errors import PermanentError
from genaipa.runs.selection import find_run
from genaipa.systems.base import Citation, Message, Passage, Settings
from genaipa.systems.catalog import resolve_system
from genaipa.systems.citations import place_citations_and_count_unplaced
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Cli

CLAUDE = "anthropic/claude-opus-4-8"
MARK = {"type": "ephemeral"}
DOCUMENT = """# Daten 🙂 & Privacy

## 1. Was wir sammeln

* **E-Mail**, _Name_ und `Adresse`; 保存期限は一年です。
* We keep logs for a year. We keep logs for a year.

> “Never sold” 👩‍👩‍👧 — café, naïve, e\u0301.

| a | b |
|---|---|
| 1 | §2 |
"""


def sent(*parts: str) -> list[Message]:
    """A request with these parts, as the procedure sends them."""
    messages = [Message("user", "I am going to send you a document.", "introduction")]
    for number, part in enumerate(parts, 1):
        content = f"Part {number} of {len(parts)}\n\n{part.strip()}"
        messages.append(Message("user", content, "part", carries=part, breakpoint=number == len(parts)))
        messages.append(Message("assistant", "Ready.", "acknowledgement"))
    return [*messages, Message("user", "How long are logs kept?", carries="How long are logs kept?")]


def drawn(number: int) -> Iterator[tuple[list[str], Citation, int, int]]:
    """Random parts of a document, a citation of one of them in either unit, and its place in the document."""
    draw = random.Random(20261128)
    for _ in range(number):
        text = DOCUMENT * draw.randint(1, 3)
        cuts = sorted(draw.sample(range(1, len(text)), draw.randint(0, 3)))
        parts = [text[first:last] for first, last in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        parts = [part for part in parts if part]
        index = draw.randrange(len(parts))
        part = parts[index]
        start = draw.randrange(len(part))
        end = min(len(part), start + draw.randint(1, 80))
        before, cited = part[:start], part[start:end]
        unit = draw.choice(("points", "utf-16"))
        offset, length = (
            (start, len(cited))
            if unit == "points"
            else (len(before.encode("utf-16-le")) // 2, len(cited.encode("utf-16-le")) // 2)
        )
        first = sum(map(len, parts[:index])) + start
        yield parts, Citation(cited, index, offset, offset + length), first, first + len(cited)


def test_every_offset_equals_its_text() -> None:
    """Of 1,000 drawn citations, in both units, in parts, with letters of several bytes and Markdown."""
    exact = 0
    for parts, citation, start, end in drawn(1000):
        if not any(part.strip() for part in parts) or not parts[citation.document or 0].strip():
            continue
        placed = place_citations_and_count_unplaced([citation], sent(*parts))
        text = "".join(parts)
        (passage,) = placed.passages
        assert passage.cited
        if passage.start is None:
            assert not passage.text.strip()
            continue
        assert text[passage.start : passage.end] == passage.text == citation.text
        exact += (passage.start, passage.end) == (start, end)
    assert exact > 950, "a place is that of its own offsets, but where another one has the same text there"


def test_citations_with_odd_places() -> None:
    """Offsets beyond the document, of another document, or none: the words are looked for, and nothing is lost."""
    messages = sent("We keep logs. ", "We sell nothing. We keep logs.")
    for citation, passage, unplaced in (
        (Citation("We sell nothing.", 1, 0, 16), Passage("We sell nothing.", cited=True, start=14, end=30), 0),
        (Citation("We sell nothing.", 1, 900, 916), Passage("We sell nothing.", cited=True, start=14, end=30), 0),
        (Citation("We sell nothing.", 0, 0, 16), Passage("We sell nothing.", cited=True, start=14, end=30), 0),
        (Citation("We sell nothing.", 7, 0, 16), Passage("We sell nothing.", cited=True, start=14, end=30), 0),
        (Citation("We sell nothing.\n"), Passage("We sell nothing.", cited=True, start=14, end=30), 0),
        (Citation("We keep logs.", 1, 16, 29), Passage("We keep logs.", cited=True, start=31, end=44), 0),
        (Citation("", 1, 0, 7), Passage("We sell", cited=True, start=14, end=21), 0),
        (Citation("We sell all.", 1, 0, 12), Passage("We sell all.", cited=True), 1),
        (Citation("We sell all.", 1, -4, 2**70), Passage("We sell all.", cited=True), 1),
    ):
        assert place_citations_and_count_unplaced([citation], messages) == ((passage,), unplaced), citation
    assert place_citations_and_count_unplaced([Citation("", 0, 5, 900), Citation(" ")], messages) == ((), 0)
    twice = [Citation("We sell", 1, 0, 7)] * 2
    assert len(place_citations_and_count_unplaced(twice, messages).passages) == 1
    assert place_citations_and_count_unplaced([Citation("We", 0, 0, 2)], [Message("user", "Hi")]).unplaced == 1


def cited(text: str, document: int, start: int, end: int) -> dict[str, Any]:
    """A citation in Anthropic's form."""
    place = {"document_index": document, "document_title": None, "start_char_index": start, "end_char_index": end}
    return {"type": "char_location", "cited_text": text, **place}


def message(*blocks: dict[str, Any]) -> Behaviour:
    """A message of these blocks."""
    usage = {"input_tokens": 900, "output_tokens": 9}
    content = [{"type": "text", "citations": None, **block} for block in blocks]
    return Behaviour(answer={"model": "m", "stop_reason": "end_turn", "usage": usage, "content": content})


def send(
    behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch, messages: list[Message], **settings: Any
) -> tuple[Any, dict[str, Any]]:
    """Ask once for citations; return the reply and the body of the request."""
    with AnthropicServer([behaviour]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")
        system = resolve_system(CLAUDE, find_workspace()).make_system()
        _, (answer,) = ask(system, messages, settings=Settings(citations="vendor", **settings))
    return answer, server.requests[0].body


@pytest.mark.parametrize("stream", [False, True])
def test_documents_are_sent_to_be_cited(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part is a block of its own, the last one marked for the cache; several text blocks are one answer."""
    quotes = [cited("We keep logs.", 0, 0, 13), cited("We sell nothing.", 1, 0, 16)]
    blocks = [{"text": "A year, "}, {"text": "and never sold", "citations": quotes}, {"text": "."}]
    answer, body = send(message(*blocks), monkeypatch, sent("We keep logs. ", "We sell nothing."), stream=stream)
    assert answer.text == "A year, and never sold."
    assert answer.citations == (Citation("We keep logs.", 0, 0, 13), Citation("We sell nothing.", 1, 0, 16))
    assert answer.sent["citations"] == "vendor"
    contents = [turn["content"] for turn in body["messages"]]
    assert contents[0] == "I am going to send you a document."
    first, second = contents[1], contents[3]
    assert [block["type"] for block in first] == ["document", "text"]
    assert first[0] == {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "We keep logs. "},
        "citations": {"enabled": True},
    }
    assert first[1] == {"type": "text", "text": "Part 1 of 2"}
    assert second[1] == {"type": "text", "text": "Part 2 of 2", "cache_control": MARK}
    assert contents[5] == "How long are logs kept?"
    assert "citations" not in body


def test_odd_citations_are_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a server puts in their place, the answer is kept."""
    odd = ({"cited_text": 7}, 4, {"cited_text": "We keep", "start_char_index": "0", "end_char_index": None}, None)
    block = {"type": "content_block_location", "cited_text": "We keep", "start_block_index": 0, "end_block_index": 1}
    for citations in (None, 3, {"a": 1}, [*odd, block]):
        answer, _ = send(message({"text": "Yes.", "citations": citations}), monkeypatch, sent("We keep logs."))
        assert answer.text == "Yes."
        placed = place_citations_and_count_unplaced(answer.citations, sent("We keep logs."))
        assert placed.passages == (
            (Passage("We keep", cited=True, start=0, end=7),) if isinstance(citations, list) else ()
        )


def test_a_prompt_that_changes_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't be cited, which is said before anything is sent."""
    with pytest.raises(PermanentError, match="the prompt changes the document's words, so that it can't be cited"):
        send(message({"text": "x"}), monkeypatch, [Message("user", "PART", "part", carries="part")])
    with pytest.raises(PermanentError, match="can't follow a JSON schema: a reply with citations has no schema"):
        send(message({"text": "x"}), monkeypatch, sent("a"), json_schema={"type": "object"})


def test_a_run_with_citations(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages have the places of their texts in the document, however it was cut; what is nowhere is counted once."""
    text = TEXT.replace("ACME", "Acmé 🙂")
    make_workspace(2, text=text)
    fact = "We keep your address for one year; then we delete it."
    replies = {"sent": list[list[str]]()}

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        blocks = [block for turn in body["messages"] if isinstance(turn["content"], list) for block in turn["content"]]
        parts = [block["source"]["data"] for block in blocks if block["type"] == "document"]
        replies["sent"].append(parts)
        index = next(index for index, part in enumerate(parts) if fact in part)
        start = parts[index].index(fact)
        quotes = [cited(fact, index, start, start + len(fact)), cited("We sell it.", 0, 5, 9000)]
        return message({"text": "For one year", "citations": quotes}, {"text": "."})

    plan = ("run", "-s", CLAUDE, "-p", "acme", "-e", "quality", "--conversation", "independent", "--part-tokens", "50")
    with AnthropicServer(behave) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")
        done = genaipa(*plan, "--citations", "vendor")
        plain = genaipa(*plan, "--estimate")
    assert (done.code, plain.code) == (0, 0), done.err
    assert (
        done.err.count("2 of 4 citations cite words that are not in the document; they are kept without a place.") == 1
    )
    run = find_run(find_workspace(), "latest")
    assert run.manifest().spec.citations == "vendor"
    document = "".join(replies["sent"][0])
    assert len(replies["sent"][0]) > 1
    assert "Acmé 🙂" in document
    for record in (record for record in run.read_records() if record.kind == "answer"):
        assert record.reply == "For one year."
        placed, nowhere = record.passages
        assert document[placed.start : placed.end] == placed.text == fact
        assert nowhere == Passage("We sell it.", cited=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("-s", "gpt-4o"),
            "--citations: gpt-4o can't cite the documents that it is sent, and systems of anthropic/ can; ask it in",
        ),
        (("-s", f"rag/{CLAUDE}"), "can't cite the documents that it is sent"),
        (("-s", "extractive"), "can't cite the documents that it is sent"),
        (("-s", CLAUDE, "--suite", "policyqa"), "a reply in JSON can't cite; leave it out."),
        (("-s", CLAUDE, "-p", "acme", "-e", "recall"), "this run sends none; leave it out."),
    ],
)
def test_citations_that_cannot_be(options: tuple[str, ...], sentence: str, genaipa: Cli) -> None:
    """One sentence before the run, and no run."""
    make_workspace(1)
    about = ("-p", "acme", "-e", "quality") if len(options) == 2 else ()
    done = genaipa("run", *options, *about, "--citations", "vendor")
    assert (done.code, sentence in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
    assert not list(find_workspace().runs.glob("*/manifest.json"))


def test_a_model_without_citations(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own entry tells, before the run; and the kind must be one that there is."""
    make_workspace(1)
    entry = {"id": "old", "type": "model", "capabilities": {"citations": {"supported": False}}}
    listing = Behaviour(body=json.dumps({"data": [entry]}).encode())
    plan = ("run", "-s", "anthropic/old", "-p", "acme", "-e", "quality", "--citations")
    with AnthropicServer(listing=listing) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")
        refused, odd = genaipa(*plan, "vendor"), genaipa(*plan, "footnotes")
    assert "--citations: anthropic/old has none, according to its vendor's list of models; leave it out." in refused.err
    assert "--citations 'footnotes': the only kind is vendor." in odd.err
    assert (refused.code, odd.code, server.requests) == (2, 2, [])
