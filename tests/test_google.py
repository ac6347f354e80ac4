"""Google's adapter, through the real SDK against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, DOCUMENT, FIRST, QUESTION, SECOND, ask, count
from servers import (
    Behaviour,
    GoogleServer,
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
from genaipa.systems.base import Readiness, Reply, Settings, Usage
from genaipa.systems.google import GoogleSystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Script

KEY = "AIzaSyA1b2C3d4E5f6G7h8I9j0"
PAGE = Behaviour(body=b"<html>Welcome!</html>", headers={"content-type": "text/html"})
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}


def google(model: str = "gemini-2.5-pro", accepts: frozenset[str] = ALL_SETTINGS) -> GoogleSystem:
    """The system under test."""
    return GoogleSystem(name=f"google/{model}", model=model, accepts=accepts)


@contextlib.contextmanager
def serving(
    monkeypatch: pytest.MonkeyPatch, script: Script = (), key: str = KEY, **more: Any
) -> Iterator[GoogleServer]:
    """A server that follows the script, and the environment that leads to it with that key."""
    with GoogleServer(script, **more) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GEMINI_API_KEY", key)
        yield server


def test_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, the model as served and the settings as sent come back."""
    settings = Settings(temperature=0.0, sampling_seed=7, max_tokens=200)
    with serving(monkeypatch, [reply("Yes, in transit.")], only=KEY) as server:
        _, replies = ask(google(), QUESTION, settings=settings)
    assert replies[0] == Reply(
        text="Yes, in transit.",
        usage=Usage(input=6, output=4),
        model="gemini-2.5-pro-001",
        sent={"temperature": 0.0, "seed": 7, "max_tokens": 200},
        finish_detail="STOP",
    )
    assert server.requests[0].path == "/v1/models/gemini-2.5-pro:generateContent"
    assert server.requests[0].body["generationConfig"] == {"temperature": 0.0, "seed": 7, "maxOutputTokens": 200}


def test_the_request_is_what_the_sdk_would_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conversation that goes around the SDK's types arrives as the one that is made of them."""
    with serving(monkeypatch) as server:
        ask(google(), SECOND, settings=Settings(max_tokens=9))
        asyncio.run(_plain_call(server.url))
    ours, theirs = server.requests
    assert ours.body == theirs.body
    assert [content["role"] for content in ours.body["contents"]] == ["user", "user", "model", "user"]


async def _plain_call(url: str) -> None:
    from google import genai
    from google.genai import types

    roles = {"user": "user", "assistant": "model"}
    client = genai.Client(vertexai=False, api_key=KEY, http_options=types.HttpOptions(base_url=url))
    await client.aio.models.generate_content(
        model="gemini-2.5-pro",
        contents=[
            types.Content(role=roles[message.role], parts=[types.Part(text=message.content)]) for message in SECOND
        ],
        config=types.GenerateContentConfig(max_output_tokens=9),
    )
    await client.aio.aclose()
    client.close()


def test_only_what_the_model_accepts_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that the model doesn't take is neither sent nor recorded as sent."""
    with serving(monkeypatch) as server:
        _, replies = ask(
            google(accepts=frozenset({"max_tokens"})),
            QUESTION,
            settings=Settings(temperature=0.0, sampling_seed=1, max_tokens=9),
        )
    assert replies[0].sent == {"max_tokens": 9}
    assert server.requests[0].body["generationConfig"] == {"maxOutputTokens": 9}


def test_a_shared_prefix_is_reported_as_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens of a document that were read from the cache are in the usage."""
    with serving(monkeypatch):
        _, replies = ask(google(), FIRST, (DOCUMENT, *QUESTION))
    assert [found.usage for found in replies] == [
        Usage(input=354, output=7),
        Usage(input=356, cached=350, output=8),
    ]


def test_cut_and_refused_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply cut by the token limit, a prompt that is blocked and a reply that is stopped say so."""
    unsafe = malformed(b'{"candidates": [{"content": {"parts": [{"text": "Well"}]}, "finishReason": "SAFETY"}]}')
    silent = malformed(b'{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}')
    with serving(monkeypatch, [cut("The policy"), refusal(), unsafe, silent]):
        _, replies = ask(google(), *[QUESTION] * 4)
    assert [(found.text, found.finish, found.finish_detail) for found in replies] == [
        ("The policy", "length", "MAX_TOKENS"),
        ("", "refusal", "SAFETY"),
        ("Well", "refusal", "SAFETY"),
        ("", "refusal", "PROHIBITED_CONTENT"),
    ]


def test_thinking_is_not_part_of_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thoughts are left out of the text, and their tokens are part of the output."""
    body = (
        b'{"candidates": [{"finishReason": "STOP", "content": {"parts": '
        b'[{"text": "Hm.", "thought": true}, {"text": "Yes."}]}}], '
        b'"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 5}}'
    )
    with serving(monkeypatch, [malformed(body)]):
        _, replies = ask(google(), QUESTION)
    assert replies[0].text == "Yes."
    assert replies[0].usage == Usage(input=3, output=9, reasoning=5)


@pytest.mark.parametrize(
    ("behaviour", "kind", "status", "wait", "overload"),
    [
        (rate_limited(), "rate-limit", 429, None, True),
        (rate_limited(7), "rate-limit", 429, 7.0, True),
        (Behaviour(status=429, code="RESOURCE_EXHAUSTED", details=(RETRY_INFO,)), "rate-limit", 429, 17.5, True),
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
        (malformed(b'{"candidates": 1}'), "malformed-reply", None, None, False),
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
        ask(google(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.retry_after, error.overload) == (kind, status, wait, overload)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "kind", "fatal"),
    [
        (failure(400, "That won't do."), "bad-request", False),
        (failure(400, "The input token count exceeds the maximum number of tokens."), "context-length", False),
        (failure(400, "API key not valid.", "INVALID_ARGUMENT"), "authentication", True),
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
        ask(google(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.fatal) == (kind, behaviour.status, fatal)
    assert behaviour.error in str(error)


def test_a_stalled_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that reads the request and says nothing is given up after the time-out."""
    late = r"google/gemini-2\.5-pro gave no answer within 0\.2 s"
    with serving(monkeypatch, [stall()]), pytest.raises(TransientError, match=late) as caught:
        ask(google(), QUESTION, settings=Settings(timeout=0.2))
    assert caught.value.kind == "timeout"


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the extra to install is named."""
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(NotReadyError, match=r"pip install 'genaipa\[google\]'"):
        asyncio.run(google().start())


def test_no_key() -> None:
    """Without a key both its variables are named, before anything is sent."""
    with pytest.raises(NotReadyError, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        asyncio.run(google().start())


@pytest.mark.parametrize("variable", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
def test_either_variable(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """The key is found in each of its two variables."""
    with serving(monkeypatch, only="the-key-in-use"):
        monkeypatch.delenv("GEMINI_API_KEY")
        monkeypatch.setenv(variable, "the-key-in-use")
        assert ask(google())[0].models == GoogleServer.models


@pytest.mark.parametrize("key", [KEY, "my-very-own-secret"])
def test_a_wrong_key_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """The message about a refused key names the variables, and no part of the key, though the provider repeats it."""
    refused = pytest.raises(NotReadyError, match="GOOGLE_API_KEY or GEMINI_API_KEY")
    with serving(monkeypatch, key=key, only="another"), refused as caught:
        ask(google())
    assert "API key not valid" in str(caught.value)
    assert key not in str(caught.value)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nothing listens is named with its variable."""
    with serving(monkeypatch) as server:
        pass
    with pytest.raises(NotReadyError, match=rf"{server.url} .*GOOGLE_GEMINI_BASE_URL"):
        ask(google())


def test_readiness(monkeypatch: pytest.MonkeyPatch) -> None:
    """The context and the models that are listed are known after the start."""
    with serving(monkeypatch, context=65536):
        readiness, _ = ask(google())
    assert readiness == Readiness(context=65536, models=GoogleServer.models)


def test_no_proxy_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is asked directly, whatever proxy leads to others."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(monkeypatch) as server:
        ask(google(), QUESTION)
    assert len(server.requests) == 1


def test_an_unknown_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that the server says it doesn't have ends the start with the nearest name."""
    with serving(monkeypatch), pytest.raises(NotReadyError, match=r"did you mean 'gemini-2\.5-pro'"):
        ask(google("gemini-25-pro"))


def test_a_gateway_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that has neither the list nor a model's entry can be used."""
    no_route = Behaviour(status=404, body=b'{"detail": "Not Found"}')
    with serving(monkeypatch, listing=no_route):
        unlisting, _ = ask(google(), QUESTION)
    with serving(monkeypatch, models=["gemini-3-pro"], entry=no_route):
        listing, _ = ask(google(), QUESTION)
    assert unlisting == Readiness()
    assert "does not list the model 'gemini-2.5-pro'" in listing.notes[0]


@pytest.mark.parametrize("listing", [failure(500), rate_limited(), malformed(), malformed(b'{"models": 1}'), PAGE])
def test_a_list_that_fails(monkeypatch: pytest.MonkeyPatch, listing: Behaviour) -> None:
    """A list that can't be had or read for another reason is noted, and doesn't keep the run from starting."""
    with serving(monkeypatch, listing=listing):
        readiness, _ = ask(google(), QUESTION)
    assert "does not list its models" in readiness.notes[0]


def test_count_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider counts; where it can't, nobody does."""
    with serving(monkeypatch):
        assert count(google(), "a" * 40) == 10
    with serving(monkeypatch, counting=failure(500)):
        assert count(google(), "a" * 40) is None
