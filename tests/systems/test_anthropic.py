"""Anthropic's adapter, through the real SDK against a real server."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from asking import DOCUMENT, FIRST, QUESTION, SECOND, ask
from servers import (
    AnthropicServer,
    Behaviour,
    cut,
    failure,
    malformed,
    refusal,
    reply,
)

from genaipa.errors import PermanentError
from genaipa.systems.anthropic import AnthropicSystem
from genaipa.systems.base import Message, Readiness, Reply, Settings, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Script

KEY = "sk-ant-api03-Zz9Yy8Xx7Ww6Vv5"
MARK = {"type": "ephemeral"}
PAGE = Behaviour(body=b"<html>Welcome!</html>", headers={"content-type": "text/html"})


def anthropic(model: str = "claude-opus-4-8", *accepts: str) -> AnthropicSystem:
    """The system under test."""
    return AnthropicSystem(name=f"anthropic/{model}", model=model, accepts=frozenset(accepts or {"max_tokens"}))


@contextlib.contextmanager
def serving(
    monkeypatch: pytest.MonkeyPatch, script: Script = (), key: str = KEY, **more: Any
) -> Iterator[AnthropicServer]:
    """A server that follows the script, and the environment that leads to it with that key."""
    with AnthropicServer(script, **more) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        yield server


def marked(body: dict[str, Any]) -> list[int]:
    """Where a request has its breakpoints."""
    return [
        index
        for index, message in enumerate(body["messages"])
        if isinstance(message["content"], list) and message["content"][0].get("cache_control") == MARK
    ]


def test_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, the model as served and the settings as sent come back; the limit on tokens is always sent."""
    with serving(monkeypatch, [reply("Yes, in transit.")], only=KEY) as server:
        _, replies = ask(anthropic(), QUESTION, settings=Settings(temperature=0.0, sampling_seed=7))
    assert replies[0] == Reply(
        text="Yes, in transit.",
        usage=Usage(input=6, output=4),
        model="claude-opus-4-8",
        sent={"max_tokens": 4096},
        finish_detail="end_turn",
    )
    assert server.requests[0].headers["anthropic-version"]
    assert server.requests[0].body == {
        "model": "claude-opus-4-8",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": QUESTION[0].content}],
    }


def test_settings_that_the_model_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temperature is sent to a model that takes one, though the SDK's own call has no such parameter."""
    settings = Settings(temperature=0.5, sampling_seed=7, max_tokens=99)
    with serving(monkeypatch) as server:
        _, replies = ask(anthropic("claude-opus-4-8", "temperature", "max_tokens"), QUESTION, settings=settings)
    assert replies[0].sent == {"max_tokens": 99, "temperature": 0.5}
    assert server.requests[0].body["temperature"] == 0.5
    assert "seed" not in server.requests[0].body


def test_the_document_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each question starts from the document, the document alone is marked, written once, then read."""
    other = (DOCUMENT, Message("user", "Is my data encrypted?"))
    with serving(monkeypatch) as server:
        _, replies = ask(anthropic(), FIRST, other)
    assert [marked(request.body) for request in server.requests] == [[0], [0]]
    assert [found.usage for found in replies] == [
        Usage(input=354, cache_write=350, output=7),
        Usage(input=356, cached=350, output=8),
    ]


def test_a_shared_conversation_is_cached_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the conversation grows, its last message is marked too, and the next turn reads up to there."""
    third = (*SECOND, Message("assistant", "Yes."), Message("user", "How?"))
    with serving(monkeypatch) as server:
        _, replies = ask(anthropic(), SECOND, third)
    assert [marked(request.body) for request in server.requests] == [[0, 3], [0, 5]]
    assert [found.usage for found in replies] == [
        Usage(input=359, cache_write=359, output=7),
        Usage(input=361, cached=359, cache_write=2, output=4),
    ]


def test_an_acknowledged_document_is_not_yet_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The acknowledgement behind the document's last part doesn't make the first question a shared turn."""
    acknowledged = (DOCUMENT, Message("assistant", "Understood."), Message("user", "Is my data sold?"))
    with serving(monkeypatch) as server:
        ask(anthropic(), acknowledged)
    assert marked(server.requests[0].body) == [0]


def test_at_most_four_breakpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more marks than Anthropic takes, the last four are sent, that of the last message among them."""
    parts = [Message("user", f"Part {number}", breakpoint=True) for number in range(5)]
    with serving(monkeypatch) as server:
        ask(anthropic(), [*parts, *SECOND[1:]])
    assert marked(server.requests[0].body) == [2, 3, 4, 7]


def test_cut_and_refused_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply cut by the token limit or the context, and a refusal with or without words, say so."""
    full = malformed(b'{"model": "m", "content": [], "stop_reason": "model_context_window_exceeded"}')
    with serving(monkeypatch, [cut("The policy"), refusal("No."), refusal(""), full]):
        _, replies = ask(anthropic(), *[QUESTION] * 4)
    assert [(found.text, found.finish, found.finish_detail) for found in replies] == [
        ("The policy", "length", "max_tokens"),
        ("No.", "refusal", "refusal"),
        ("", "refusal", "refusal"),
        ("", "length", "model_context_window_exceeded"),
    ]


def test_thinking_is_not_part_of_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only blocks of text make the reply; the tokens spent on thinking are counted."""
    body = (
        b'{"model": "m", "stop_reason": "end_turn", "content": [{"type": "thinking", "thinking": "Hm."}, '
        b'{"type": "text", "text": "Yes, "}, {"type": "text", "text": "always."}], '
        b'"usage": {"input_tokens": 3, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}}}'
    )
    with serving(monkeypatch, [malformed(body)]):
        _, replies = ask(anthropic(), QUESTION)
    assert replies[0].text == "Yes, always."
    assert replies[0].usage == Usage(input=3, output=9, reasoning=5)


def test_an_address_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that ends in /v1, as other tools want it, leads to the same place."""
    with serving(monkeypatch) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/v1/")
        ask(anthropic(), QUESTION)
    assert [request.path for request in server.requests] == ["/v1/messages"]


def test_a_model_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The context and the day on which the model ends are known after the start."""
    with serving(monkeypatch, shutdown={"claude-opus-4-8": "2027-02-01"}, context=200000):
        readiness, _ = ask(anthropic())
    assert readiness == Readiness(context=200000, models=AnthropicServer.models, shutdown="2027-02-01")


def test_a_context_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a gateway states as the context is believed only if it is a number of tokens."""
    listing = Behaviour(body=b'{"data": [{"id": "claude-opus-4-8", "max_input_tokens": "200k"}]}')
    with serving(monkeypatch, listing=listing):
        readiness, _ = ask(anthropic())
    assert readiness == Readiness(models=("claude-opus-4-8",))


@pytest.mark.parametrize(
    ("stated", "usage"),
    [
        ("12 tokens", None),
        ({}, Usage()),
        ({"input_tokens": 12, "cache_read_input_tokens": -3, "output_tokens": "4"}, Usage(input=12)),
    ],
)
def test_odd_usage(monkeypatch: pytest.MonkeyPatch, stated: object, usage: Usage | None) -> None:
    """A reply that is paid for is kept, whatever a gateway states as its tokens, and if it names no model."""
    body = json.dumps({"content": [{"type": "text", "text": "Yes."}], "usage": stated}).encode()
    with serving(monkeypatch, [Behaviour(body=body)]):
        _, replies = ask(anthropic(), QUESTION)
    assert replies == [Reply(text="Yes.", usage=usage, sent={"max_tokens": 4096})]


def test_an_alias_that_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that the server knows by itself but doesn't list is good without a note."""
    with serving(monkeypatch, shutdown={"claude-sonnet-4-5": "2027-03-01"}):
        readiness, _ = ask(anthropic("claude-sonnet-4-5"))
    assert (readiness.notes, readiness.shutdown) == ((), "2027-03-01")


def test_a_used_up_credit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic tells an account without credit with the status of a bad request; it concerns every request."""
    with (
        serving(monkeypatch, [failure(400, "Your credit balance is too low.")]),
        pytest.raises(PermanentError, match="quota of the key in ANTHROPIC_API_KEY is used up: Your credit") as caught,
    ):
        ask(anthropic(), QUESTION)
    assert (caught.value.kind, caught.value.fatal) == ("quota", True)
