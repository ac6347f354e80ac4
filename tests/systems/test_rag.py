"""Retrieval before a reader: what the reader is sent, what is kept, and whose facts are the system's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import KEY, TEXT, answers, carry_out, lines_of, make_workspace, procedure, write
from servers import AnthropicServer, GoogleServer, OpenAIServer, reply

from genaipa.errors import PermanentError, UsageError
from genaipa.policies.document import load_document
from genaipa.reports.report import report
from genaipa.systems.base import Message, Passage
from genaipa.systems.catalog import resolve_system
from genaipa.systems.provider import shorten_system_names
from genaipa.systems.rag import GAP, PASSAGES, RagSystem
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from servers import LoopbackServer

KEPT = "We keep your address for one year; then we delete it."
MORE = "".join(
    f"\n## {number}. {title}\n\n{text}\n"
    for number, (title, text) in enumerate(
        (
            ("Cookies", "Our pages set cookies for your basket."),
            ("Letters", "We write to you at Christmas. " + "Each letter has a stamp and a bow. " * 60),
            ("Children", "Nobody under sixteen may order here."),
            ("Changes", "We announce another policy two weeks ahead."),
        ),
        4,
    )
)
SENTENCES = ("Our pages set cookies for your basket.", "Nobody under sixteen may order here.", "We write to you at")
VENDORS = (
    ("openai/gpt-4o", OpenAIServer, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
)


def make_study(question: str = "How long do they keep an address?") -> None:
    """A workspace with a policy of seven sections, and one question about it."""
    make_workspace(questions=1, text=TEXT + MORE)
    file = Path("questions/policy.yaml")
    file.write_text(file.read_text().replace("Question 1 on [the company]?", question))


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor[0].partition("/")[0])
def test_what_a_reader_is_sent(
    vendor: tuple[str, type[LoopbackServer], str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all introductions a question's shows the passages alone; those the record has, in their order."""
    name, server, address, key = vendor
    make_study()
    monkeypatch.setenv(key, KEY)
    with server(lambda *_: reply("For one year."), models=(name.partition("/")[2],)) as here:
        monkeypatch.setenv(address, here.url)
        folder, outcome = carry_out(procedure(systems=(f"rag/{name}",)))
    assert outcome.status == "complete"
    kept = {record.coordinates["initialization"]: record for record in answers(folder)}
    asked = [here.turns(request.body) for request in here.requests if here.is_call(request)]
    passages = kept["document"].passages
    assert len(passages) == PASSAGES
    assert (passages[0].source, KEPT in passages[0].text) == ("Section 3", True)
    # One part is left of several, with all passages: announcement and acknowledgement, the part and its own, question.
    (of_document,) = (turns for turns in asked if len(turns) == 5 and KEPT in turns[2].text)
    assert of_document[2].text.endswith(GAP.join(passage.text for passage in passages))
    left_out = [text for text in SENTENCES if not any(text in passage.text for passage in passages)]
    assert left_out
    assert not any(text in turn.text for text in left_out for turn in of_document)
    assert not any(turn.marked for turn in of_document)
    assert not any(record.prompt_cut for record in kept.values()), "the server counts what it was sent"
    # A summary is written of the whole; of that, too, a question's passages are shown.
    assert any(all(text in "".join(turn.text for turn in turns) for text in SENTENCES) for turns in asked)
    assert [passage.text for passage in kept["summary-of-document"].passages] == ["For one year."]
    assert not kept["company-name"].passages
    keys = ["prompt_cache_key" in request.body for request in here.requests if here.is_call(request)]
    assert not all(keys)


def test_the_facts_are_the_readers(genaipa: Callable[..., Finished]) -> None:
    """Price, context, key, retirement and file are the reader's; of the tokens only what it will be sent is counted."""
    make_workspace()
    write("bot.yaml", "default: 'No.'\n")
    bot = "system: openai-api/loop/m, context: 6000, price: {input: 1, output: 1, as_of: '2026-01-01'}"
    write("systems.yaml", f"systems: {{bot: {{{bot}}}, ours: {{system: rag/bot, note: Ours.}}}}\n")
    here = find_workspace()
    system, reader = resolve_system("rag/gpt-4.1", here), resolve_system("gpt-4.1", here)
    facts = [(one.tariff, one.context_tokens, one.entry.retired, one.provider_record) for one in (system, reader)]
    assert facts[0] == facts[1]
    assert list(shorten_system_names(["rag/openai-api/loop/m", "openai-api/loop/m"]).values()) == ["rag/m", "m"]
    assert (system.requested_name, system.name, system.takes_batches) == ("rag/gpt-4.1", "rag/openai/gpt-4.1", False)
    assert (
        resolve_system("rag/scripted/bot.yaml", here).name_with_file_digest
        == f"rag/{resolve_system('scripted/bot.yaml', here).name_with_file_digest}"
    )
    ours = resolve_system("ours", here)
    assert (ours.name, ours.entry.note, ours.context_tokens) == ("rag/openai-api/loop/m", "Ours.", 6000)
    assert genaipa("systems", "rag/gpt-4.1").out.count("rag/openai/gpt-4.1: set OPENAI_API_KEY") == 1
    options = ("run", "-p", "brindlecart", "-e", "quality", "--limit", "2", "--estimate", "--json", "-s")
    assert "does not fit bot" in genaipa(*options, "bot").err
    (row,) = json.loads(genaipa(*options, "ours").out)["rows"]
    assert 0 < row["usage"]["input"] < 6000
    assert row["cost"] == pytest.approx((row["usage"]["input"] + row["usage"]["output"]) / 1e6)


def test_a_name_that_is_no_reader() -> None:
    """Each is one sentence that names it."""
    make_workspace()
    said = "does not answer from the messages it is sent; name a model."
    expected = {
        "rag": "'rag' does not name a model; use the form rag/SYSTEM.",
        "rag/nope": "no system 'nope'",
        "rag/manual/chat": f"'rag/manual/chat': manual/chat {said}",
        "rag/baseline/gold": f"'rag/baseline/gold': baseline/gold {said}",
        "rag/encoder/bert": f"'rag/encoder/bert': encoder/bert {said}",
        "rag/rag/extractive": f"'rag/rag/extractive': rag/extractive {said}",
    }
    for name, sentence in expected.items():
        with pytest.raises(UsageError) as caught:
            resolve_system(name, find_workspace())
        assert sentence in str(caught.value), name


def test_a_suite_and_its_report(genaipa: Callable[..., Finished]) -> None:
    """Without a key: counterfactual edits are read from passages of the text that is shown, and reported."""
    make_workspace()
    options = ("--suite", "counterfactual", "--limit", "6", "--name", "edits")
    done = genaipa("run", "-s", "rag/extractive,extractive", *options)
    assert done.code == 0, done.err
    (file,) = Path("runs").glob("*edits/answers.jsonl")
    found = [line for line in lines_of(file) if line["system"] == "rag/extractive"]
    document = load_document("brindlecart", find_workspace()).text
    assert len(found) == 6
    for line in found:
        assert len(line["passages"]) == PASSAGES
        assert any(one["source"].startswith("Section ") for one in line["passages"])
        if line["coordinates"]["item"].endswith(".document"):
            assert all(one["text"] in document for one in line["passages"])
    assert any(name.startswith("counterfactual") for name in report().as_json()["tables"])


def test_what_is_found() -> None:
    """Nothing that matches means the first sections; a prompt that changes the document's text is refused."""
    text = TEXT + MORE
    first = RagSystem.search(text, "Who drives zeppelins?")
    assert [one.text.partition("\n")[0] for one in first[1:]] == [
        "## 1. What we collect", "## 2. What we do with it", "## 3. How long we keep it",
    ]  # fmt: skip
    asked = Message("user", "Is an address kept?")
    shown = Message("user", f"Read: {text}", "introduction", carries=text, breakpoint=True)
    (introduced, _), found = RagSystem.replace_document_with_passages((shown, asked))
    assert found[0] == Passage(text[text.index("## 3") : text.index("\n\n## 4")].strip(), "Section 3")
    assert introduced.content == f"Read: {introduced.carries}\n"
    with pytest.raises(PermanentError, match="changes the document's text"):
        RagSystem.replace_document_with_passages((Message("user", text.upper(), "introduction", carries=text), asked))
