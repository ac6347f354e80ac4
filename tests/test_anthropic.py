"""Anthropic's adapter, through the real SDK against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from asking import DOCUMENT, FIRST, QUESTION, SECOND, ask, count
from servers import (
    AnthropicServer,
    Behaviour,
    cut,
    drop,
    failure,
    malformed,
    overloaded,
    rate_limited,
    refusal,
    reply,
    stall,
)

from genaipa.errors import NotReadyError, PermanentError, TransientError
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


@pytest.mark.parametrize(
    ("behaviour", "kind", "status", "wait", "overload"),
    [
        (rate_limited(), "rate-limit", 429, None, True),
        (rate_limited(7), "rate-limit", 429, 7.0, True),
        (failure(408), "server", 408, None, False),
        (failure(409), "server", 409, None, False),
        (failure(500), "server", 500, None, False),
        (failure(502), "server", 502, None, False),
        (failure(503), "overload", 503, None, True),
        (failure(504), "server", 504, None, False),
        (overloaded(), "overload", 529, None, True),
        (drop(), "connection", None, None, False),
        (malformed(), "malformed-reply", None, None, False),
        (malformed(b"{}"), "malformed-reply", None, None, False),
        (malformed(b"[]"), "malformed-reply", None, None, False),
        (PAGE, "malformed-reply", None, None, False),
    ],
)
def test_what_is_worth_another_try(
    monkeypatch: pytest.MonkeyPatch,
    behaviour: Behaviour,
    kind: str,
    status: int | None,
    wait: float | None,
    *,
    overload: bool,
) -> None:
    """Each passing failure is a TransientError of its kind, after a single request."""
    with serving(monkeypatch, [behaviour]) as server, pytest.raises(TransientError) as caught:
        ask(anthropic(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.retry_after, error.overload) == (kind, status, wait, overload)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "kind", "fatal"),
    [
        (failure(400, "temperature is not supported."), "bad-request", False),
        (failure(400, "prompt is too long: 210000 tokens"), "context-length", False),
        (failure(400, "Your credit balance is too low."), "quota", True),
        (failure(401, "That won't do."), "authentication", True),
        (failure(402, "That won't do."), "quota", True),
        (failure(403, "That won't do."), "authentication", True),
        (failure(404, "That won't do."), "not-found", True),
        (failure(422, "That won't do."), "bad-request", False),
    ],
)
def test_what_would_fail_again(
    monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, kind: str, *, fatal: bool
) -> None:
    """Each lasting failure is a PermanentError with the provider's sentence, fatal if it concerns every request."""
    with serving(monkeypatch, [behaviour]), pytest.raises(PermanentError) as caught:
        ask(anthropic(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.fatal) == (kind, behaviour.status, fatal)
    assert behaviour.error in str(error)


def test_a_stalled_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that reads the request and says nothing is given up after the time-out."""
    late = r"anthropic/claude-opus-4-8 gave no answer within 0\.2 s"
    with serving(monkeypatch, [stall()]), pytest.raises(TransientError, match=late) as caught:
        ask(anthropic(), QUESTION, settings=Settings(timeout=0.2))
    assert caught.value.kind == "timeout"


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the extra to install is named."""
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(NotReadyError, match=r"pip install 'genaipa\[anthropic\]'"):
        asyncio.run(anthropic().start())


def test_no_key() -> None:
    """Without a key its variable is named, before anything is sent."""
    with pytest.raises(NotReadyError, match="ANTHROPIC_API_KEY"):
        asyncio.run(anthropic().start())


def test_a_wrong_key_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message about a refused key names the variable, and no part of the key, though the provider repeats it."""
    with serving(monkeypatch, only="sk-ant-another"), pytest.raises(NotReadyError, match="ANTHROPIC_API_KEY") as caught:
        ask(anthropic())
    assert "Incorrect API key" in str(caught.value)
    assert KEY[:7] not in str(caught.value)
    assert KEY[-4:] not in str(caught.value)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nothing listens is named with its variable."""
    with serving(monkeypatch) as server:
        pass
    with pytest.raises(NotReadyError, match=rf"{server.url} .*ANTHROPIC_BASE_URL"):
        ask(anthropic())


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


def test_no_proxy_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is asked directly, whatever proxy leads to others."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(monkeypatch) as server:
        ask(anthropic(), QUESTION)
    assert len(server.requests) == 1


def test_an_alias_that_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that the server knows by itself but doesn't list is good without a note."""
    with serving(monkeypatch, shutdown={"claude-sonnet-4-5": "2027-03-01"}):
        readiness, _ = ask(anthropic("claude-sonnet-4-5"))
    assert (readiness.notes, readiness.shutdown) == ((), "2027-03-01")


def test_an_unknown_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that the server says it doesn't have ends the start with the nearest name."""
    with serving(monkeypatch), pytest.raises(NotReadyError, match="did you mean 'claude-opus-4-8'"):
        ask(anthropic("claude-opus-48"))


def test_a_gateway_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that has neither the list nor a model's entry can be used."""
    no_route = Behaviour(status=404, body=b'{"detail": "Not Found"}')
    with serving(monkeypatch, listing=no_route):
        unlisting, _ = ask(anthropic(), QUESTION)
    with serving(monkeypatch, models=["claude-opus-5"], entry=no_route):
        listing, _ = ask(anthropic(), QUESTION)
    assert unlisting == Readiness()
    assert "does not list the model 'claude-opus-4-8'" in listing.notes[0]


@pytest.mark.parametrize("listing", [failure(500), rate_limited(), malformed(), malformed(b"[]"), PAGE])
def test_a_list_that_fails(monkeypatch: pytest.MonkeyPatch, listing: Behaviour) -> None:
    """A list that can't be had or read for another reason is noted, and doesn't keep the run from starting."""
    with serving(monkeypatch, listing=listing):
        readiness, _ = ask(anthropic(), QUESTION)
    assert "does not list its models" in readiness.notes[0]


def test_count_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider counts; where it can't, nobody does."""
    with serving(monkeypatch):
        assert count(anthropic(), "a" * 40) == 10
    with serving(monkeypatch, counting=failure(500)):
        assert count(anthropic(), "a" * 40) is None
