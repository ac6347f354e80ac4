"""OpenAI's adapter and that for compatible servers, through the real SDK against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, DOCUMENT, FIRST, QUESTION, SECOND, ask
from servers import (
    Behaviour,
    OpenAIServer,
    cut,
    failure,
    malformed,
    refusal,
    reply,
)

from genaipa.errors import NotReadyError, PermanentError, TransientError
from genaipa.systems.base import Readiness, Reply, Settings, Usage
from genaipa.systems.openai import CompatibleSystem, OpenAISystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import Script

KEY = "sk-proj-Ab3dEf9hIjKlMnOpQr"
PAGE = Behaviour(body=b"<html>Welcome!</html>", headers={"content-type": "text/html"})


def openai(model: str = "gpt-4o", *, explicit_cache: bool = False) -> OpenAISystem:
    """The system under test."""
    return OpenAISystem(name=f"openai/{model}", model=model, accepts=ALL_SETTINGS, explicit_cache=explicit_cache)


def compatible(name: str = "my-server") -> CompatibleSystem:
    """A system at a server of one's own."""
    return CompatibleSystem(name=f"openai-api/{name}/org/tiny", model="org/tiny", accepts=ALL_SETTINGS)


@contextlib.contextmanager
def serving(
    monkeypatch: pytest.MonkeyPatch, script: Script = (), key: str = KEY, **more: Any
) -> Iterator[OpenAIServer]:
    """A server that follows the script, and the environment that leads to it with that key."""
    with OpenAIServer(script, **more) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", key)
        monkeypatch.setenv("MY_SERVER_BASE_URL", server.url)
        yield server


def test_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, the model as served and the settings as sent come back."""
    settings = Settings(temperature=0.0, sampling_seed=7, max_tokens=200)
    with serving(monkeypatch, [reply("Yes, in transit.")]):
        _, replies = ask(openai(), QUESTION, settings=settings)
    assert replies[0] == Reply(
        text="Yes, in transit.",
        usage=Usage(input=6, cache_write=6, output=4),
        model="gpt-4o-2024-08-06",
        sent={"temperature": 0.0, "seed": 7, "max_tokens": 200},
        finish_detail="stop",
    )


def test_the_request_is_what_the_sdk_would_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body that is joined from bytes equals the one that the SDK makes of objects, headers included."""
    settings = Settings(temperature=0.5, sampling_seed=7, max_tokens=200, cache_key="gdpr")
    with serving(monkeypatch) as server:
        ask(openai(), SECOND, settings=settings)
        asyncio.run(_plain_call(server.url))
    ours, theirs = server.requests
    assert ours.body == theirs.body
    assert ours.headers["content-type"] == theirs.headers["content-type"] == "application/json"
    assert ours.headers["authorization"] == theirs.headers["authorization"]


async def _plain_call(url: str) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key=KEY, base_url=url) as client:
        await client.chat.completions.create(
            model="gpt-4o",
            messages=[{"role": message.role, "content": message.content} for message in SECOND],  # type: ignore[misc]
            temperature=0.5,
            seed=7,
            max_completion_tokens=200,
            prompt_cache_key="gdpr",
        )


def test_only_what_the_model_accepts_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that the model doesn't take is neither sent nor recorded as sent."""
    system = OpenAISystem(name="openai/gpt-5.6", model="gpt-5.6", accepts=frozenset({"max_tokens"}))
    with serving(monkeypatch) as server:
        _, replies = ask(system, QUESTION, settings=Settings(temperature=0.0, sampling_seed=1, max_tokens=9))
    assert replies[0].sent == {"max_tokens": 9}
    assert set(server.requests[0].body) == {"model", "messages", "max_completion_tokens"}


def test_a_shared_prefix_is_reported_as_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens of a document that were read from the cache are in the usage."""
    with serving(monkeypatch):
        _, replies = ask(openai(), FIRST, SECOND)
    usages = [found.usage for found in replies]
    assert usages == [
        Usage(input=354, cached=0, cache_write=354, output=7),
        Usage(input=359, cached=354, cache_write=5, output=7),
    ]


def test_the_document_is_the_explicit_breakpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """For models that want it, the document's block is marked; the implicit write is off until turns are shared."""
    with serving(monkeypatch) as server:
        ask(openai("gpt-5.6", explicit_cache=True), QUESTION, FIRST, SECOND)
    alone, first, second = (request.body for request in server.requests)
    block = {"type": "text", "text": DOCUMENT.content, "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert "prompt_cache_options" not in alone
    assert first["messages"][0]["content"] == second["messages"][0]["content"] == [block]
    assert first["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_options" not in second
    assert all(isinstance(message["content"], str) for message in second["messages"][1:])


def test_cut_and_refused_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply cut by the token limit, a refusal and a filtered reply say so."""
    filtered = malformed(
        b'{"model": "m", "choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}'
    )
    with serving(monkeypatch, [cut("The policy"), refusal("No."), filtered, cut("")]):
        _, replies = ask(openai(), *[QUESTION] * 4)
    assert [(found.text, found.finish, found.finish_detail) for found in replies] == [
        ("The policy", "length", "length"),
        ("No.", "refusal", "stop"),
        ("", "refusal", "content_filter"),
        ("", "length", "length"),
    ]


def test_a_model_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models that the server lists and the day on which this one ends are known after the start."""
    with serving(monkeypatch, models=["gpt-4", "gpt-4o"], shutdown={"gpt-4": "2026-10-23"}):
        readiness, _ = ask(openai("gpt-4"))
    assert readiness == Readiness(models=("gpt-4", "gpt-4o"), shutdown="2026-10-23")


def test_an_alias_that_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that the server knows by itself but doesn't list is good without a note."""
    with serving(monkeypatch, shutdown={"ft:gpt-4o:me": "2027-01-01"}):
        readiness, _ = ask(openai("ft:gpt-4o:me"))
    assert (readiness.notes, readiness.shutdown) == ((), "2027-01-01")


def test_a_context_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server states as its context is believed only if it is a number of tokens, and a date only as a day."""
    odd = {
        "id": "gpt-4o",
        "max_model_len": "8k",
        "context_length": -1,
        "context_window": 4096,
        "shutdown_date": 20270201,
    }
    listing = Behaviour(body=json.dumps({"data": [odd]}).encode())
    with serving(monkeypatch, listing=listing):
        readiness, _ = ask(openai())
    assert (readiness.context, readiness.shutdown) == (4096, "20270201")


@pytest.mark.parametrize(
    "stated",
    [{"max_input_tokens": 4096}, {"meta": {"n_ctx": 4096, "n_ctx_train": 8192}}, {"meta": "?", "context_length": 4096}],
)
def test_a_context_as_other_servers_state_it(monkeypatch: pytest.MonkeyPatch, stated: dict[str, object]) -> None:
    """LiteLLM and llama.cpp name it in ways of their own."""
    listing = Behaviour(body=json.dumps({"data": [{"id": "gpt-4o"} | stated]}).encode())
    with serving(monkeypatch, listing=listing):
        readiness, _ = ask(openai())
    assert readiness.context == 4096


@pytest.mark.parametrize(
    ("stated", "usage"),
    [
        ("12 tokens", None),
        ([1], None),
        ({}, Usage()),
        ({"prompt_tokens": "12", "completion_tokens": -1, "prompt_tokens_details": "none"}, Usage()),
        ({"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 1.5}}, Usage(input=12)),
    ],
)
def test_odd_usage(monkeypatch: pytest.MonkeyPatch, stated: object, usage: Usage | None) -> None:
    """A reply that is paid for is kept, whatever the server states as its tokens, and if it names no model."""
    body = json.dumps({"choices": [{"message": {"content": "Yes."}}], "usage": stated}).encode()
    with serving(monkeypatch, [Behaviour(body=body)]):
        _, replies = ask(openai(), QUESTION)
    assert replies == [Reply(text="Yes.", usage=usage)]


def test_compatible_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compatible server is found by its own variables and gets the fields that were asked for, and no other."""
    monkeypatch.setenv("MY_SERVER_API_KEY", "its-own-key")
    with serving(monkeypatch, models=["org/tiny"], only="its-own-key", context=4096) as server:
        readiness, replies = ask(compatible(), QUESTION, settings=Settings(max_tokens=5, cache_key="gdpr"))
    assert readiness.context == 4096
    assert replies[0].sent == {"max_tokens": 5}
    assert set(server.requests[0].body) == {"model", "messages", "max_tokens"}


def test_compatible_server_on_loopback_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is needed on this machine, and OpenAI's is not sent there."""
    with serving(monkeypatch, models=["org/tiny"]) as server:
        _, replies = ask(compatible(), QUESTION)
    assert replies[0].text == "You asked: Is my data encrypted?"
    assert KEY not in str(server.requests + server.lookups)


def test_compatible_server_without_an_address() -> None:
    """Without an address its variable is named."""
    with pytest.raises(NotReadyError, match="MY_SERVER_BASE_URL"):
        asyncio.run(compatible().start())


def test_a_used_up_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI tells a used-up quota with the status of a rate limit; it concerns every request."""
    with (
        serving(monkeypatch, [failure(429, "You exceeded your quota.", "insufficient_quota")]),
        pytest.raises(PermanentError, match="the quota of the key in OPENAI_API_KEY is used up: You exceed") as caught,
    ):
        ask(openai(), QUESTION)
    assert (caught.value.kind, caught.value.fatal) == ("quota", True)


def test_an_answer_without_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice without a message, or with one that is no text, is worth another try."""
    for body in (b'{"choices": [{"finish_reason": "stop"}]}', b'{"choices": [{"message": {"content": [1]}}]}'):
        with serving(monkeypatch, [malformed(body)]), pytest.raises(TransientError) as caught:
            ask(openai(), QUESTION)
        assert caught.value.kind == "malformed-reply"
