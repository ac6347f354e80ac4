"""Google's adapter, through the real SDK against a real server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from asking import ALL_SETTINGS, DOCUMENT, FIRST, QUESTION, SECOND, ask
from servers import (
    Behaviour,
    GoogleServer,
    cut,
    failure,
    malformed,
    refusal,
    reply,
)

from genaipa.errors import PermanentError, TransientError
from genaipa.systems.base import Reply, Settings, Usage
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
    own = httpx2.AsyncClient()
    options = types.HttpOptions(base_url=url, httpx_async_client=own)
    client = genai.Client(vertexai=False, api_key=KEY, http_options=options)
    await client.aio.models.generate_content(
        model="gemini-2.5-pro",
        contents=[
            types.Content(role=roles[message.role], parts=[types.Part(text=message.content)]) for message in SECOND
        ],
        config=types.GenerateContentConfig(max_output_tokens=9),
    )
    await client.aio.aclose()
    client.close()
    await own.aclose()


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


def test_cut_and_refused_replies(monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder) -> None:
    """A reply cut by the token limit, a prompt that is blocked and a reply that is stopped say so."""
    unsafe = malformed(b'{"candidates": [{"content": {"parts": [{"text": "Well"}]}, "finishReason": "SAFETY"}]}')
    silent = malformed(b'{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}')
    novel = malformed(b'{"candidates": [{"finishReason": "WORN_OUT", "content": {"parts": [{"text": "Well"}]}}]}')
    with serving(monkeypatch, [cut("The policy"), refusal(), unsafe, silent, novel]):
        _, replies = ask(google(), *[QUESTION] * 5)
    assert [(found.text, found.finish, found.finish_detail) for found in replies] == [
        ("The policy", "length", "MAX_TOKENS"),
        ("", "refusal", "SAFETY"),
        ("Well", "refusal", "SAFETY"),
        ("", "refusal", "PROHIBITED_CONTENT"),
        ("Well", "stop", "WORN_OUT"),
    ]
    assert [str(warning.message) for warning in recwarn if "WORN_OUT" in str(warning.message)] == []


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


@pytest.mark.parametrize("variable", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
def test_either_variable(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """The key is found in each of its two variables."""
    with serving(monkeypatch, only="the-key-in-use"):
        monkeypatch.delenv("GEMINI_API_KEY")
        monkeypatch.setenv(variable, "the-key-in-use")
        assert ask(google())[0].models == GoogleServer.models


def test_the_wait_in_the_details(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google says in an error's details how long to wait."""
    busy = Behaviour(status=429, code="RESOURCE_EXHAUSTED", details=(RETRY_INFO,))
    with serving(monkeypatch, [busy]), pytest.raises(TransientError) as caught:
        ask(google(), QUESTION)
    assert (caught.value.kind, caught.value.retry_after) == ("rate-limit", 17.5)


def test_a_wrong_key_is_told_as_a_bad_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is refused in the middle of a run concerns every request."""
    refused = failure(400, "API key not valid.", "INVALID_ARGUMENT")
    with serving(monkeypatch, [refused]), pytest.raises(PermanentError) as caught:
        ask(google(), QUESTION)
    assert (caught.value.kind, caught.value.fatal) == ("authentication", True)


def test_candidates_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of another shape are worth another try."""
    with serving(monkeypatch, [malformed(b'{"candidates": 1}')]), pytest.raises(TransientError) as caught:
        ask(google(), QUESTION)
    assert caught.value.kind == "malformed-reply"
