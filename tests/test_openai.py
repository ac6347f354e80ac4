"""OpenAI's adapter and that for compatible servers, through the real SDK against a real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, DOCUMENT, FIRST, QUESTION, SECOND, ask
from servers import (
    Behaviour,
    OpenAIServer,
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
from genaipa.systems.compatible import CompatibleSystem
from genaipa.systems.openai import OpenAISystem

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
        (malformed(b'{"choices": [{"finish_reason": "stop"}]}'), "malformed-reply", None, None, False),
        (malformed(b'{"choices": [{"message": {"content": [1]}}]}'), "malformed-reply", None, None, False),
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
        ask(openai(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.retry_after, error.overload) == (kind, status, wait, overload)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "kind", "fatal"),
    [
        (failure(400, "That won't do."), "bad-request", False),
        (failure(400, "This model's maximum context length is 8192 tokens."), "context-length", False),
        (failure(401, "That won't do."), "authentication", True),
        (failure(402, "That won't do."), "quota", True),
        (failure(403, "That won't do."), "authentication", True),
        (failure(404, "That won't do."), "not-found", True),
        (failure(422, "That won't do."), "bad-request", False),
        (failure(429, "You exceeded your quota.", "insufficient_quota"), "quota", True),
        (failure(501, "That won't do."), "bad-request", False),
    ],
)
def test_what_would_fail_again(
    monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, kind: str, *, fatal: bool
) -> None:
    """Each lasting failure is a PermanentError with the provider's sentence, fatal if it concerns every request."""
    with serving(monkeypatch, [behaviour]), pytest.raises(PermanentError) as caught:
        ask(openai(), QUESTION)
    error = caught.value
    assert (error.kind, error.status, error.fatal) == (kind, behaviour.status, fatal)
    assert behaviour.error in str(error)


def test_a_stalled_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that reads the request and says nothing is given up after the time-out."""
    late = r"openai/gpt-4o gave no answer within 0\.2 s"
    with serving(monkeypatch, [stall()]), pytest.raises(TransientError, match=late) as caught:
        ask(openai(), QUESTION, settings=Settings(timeout=0.2))
    assert caught.value.kind == "timeout"


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the extra to install is named."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(NotReadyError, match=r"pip install 'genaipa\[openai\]'"):
        asyncio.run(openai().start())


def test_no_key() -> None:
    """Without a key its variable is named, before anything is sent."""
    with pytest.raises(NotReadyError, match="OPENAI_API_KEY"):
        asyncio.run(openai().start())


@pytest.mark.parametrize("key", [KEY, "my-very-own-secret", "d41d8cd98f00b204e9800998ecf8427e"])
def test_a_wrong_key_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """The message about a refused key names the variable, and no part of the key, though the provider repeats it."""
    with (
        serving(monkeypatch, key=key, only="sk-another"),
        pytest.raises(NotReadyError, match="OPENAI_API_KEY") as caught,
    ):
        ask(openai())
    assert caught.value.status == 401
    assert "Incorrect API key" in str(caught.value)
    assert key[:6] not in str(caught.value)
    assert key[-4:] not in str(caught.value)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nothing listens is named with its variable."""
    with serving(monkeypatch) as server:
        pass
    with pytest.raises(NotReadyError, match=rf"{server.url} .*OPENAI_BASE_URL"):
        ask(openai())


def test_the_server_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is refused in the middle of a run is worth another try; the address is named."""
    system = openai()

    async def outlive() -> None:
        with serving(monkeypatch):
            await system.start()
        try:
            await system.reply(QUESTION, Settings())
        finally:
            await system.close()

    with pytest.raises(TransientError, match=r"the connection to http://127\.0\.0\.1:\d+/v1 failed") as caught:
        asyncio.run(outlive())
    assert caught.value.kind == "connection"


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


def test_an_unknown_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that the server says it doesn't have ends the start with the nearest name."""
    with (
        serving(monkeypatch),
        pytest.raises(NotReadyError, match="no model 'gpt-4oo': did you mean 'gpt-4o'"),
    ):
        ask(openai("gpt-4oo"))


@pytest.mark.parametrize("status", [403, 404, 405, 501])
def test_a_server_without_a_list(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """A server that lists no models can be used, and nothing is said."""
    with serving(monkeypatch, listing=failure(status)):
        readiness, replies = ask(openai(), QUESTION)
    assert readiness == Readiness()
    assert len(replies) == 1


@pytest.mark.parametrize("listing", [failure(500), rate_limited(), malformed(), malformed(b"[]"), PAGE])
def test_a_list_that_fails(monkeypatch: pytest.MonkeyPatch, listing: Behaviour) -> None:
    """A list that can't be had or read for another reason is noted, and doesn't keep the run from starting."""
    with serving(monkeypatch, listing=listing):
        readiness, replies = ask(openai(), QUESTION)
    assert readiness.models is None
    assert "does not list its models" in readiness.notes[0]
    assert len(replies) == 1


def test_an_unlisted_model_at_a_server_that_tells_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a single model can't be asked for, a model that isn't listed is only noted."""
    no_route = Behaviour(status=404, body=b'{"detail": "Not Found"}')
    with serving(monkeypatch, models=["org/tiny-2"], entry=no_route) as server:
        readiness, _ = ask(compatible())
    assert readiness.notes == (f"{server.url} does not list the model 'org/tiny': did you mean 'org/tiny-2'?",)


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


def test_an_entry_that_is_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers a question for one model with a web page tells nothing about it."""
    with serving(monkeypatch, models=["org/tiny-2"], entry=PAGE):
        readiness, _ = ask(compatible())
    assert "does not list the model 'org/tiny'" in readiness.notes[0]


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


def test_no_proxy_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is asked directly, whatever proxy leads to others."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(monkeypatch) as server:
        ask(openai(), QUESTION)
    assert len(server.requests) == 1


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


def test_compatible_server_elsewhere_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that isn't on this machine needs the key that carries its name."""
    monkeypatch.setenv("MY_SERVER_BASE_URL", "https://models.example/v1")
    with pytest.raises(NotReadyError, match="MY_SERVER_API_KEY"):
        asyncio.run(compatible().start())


def test_compatible_server_without_an_address() -> None:
    """Without an address its variable is named."""
    with pytest.raises(NotReadyError, match="MY_SERVER_BASE_URL"):
        asyncio.run(compatible().start())


def test_compatible_server_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was tried and its variable are named."""
    with serving(monkeypatch) as server:
        pass
    with pytest.raises(NotReadyError, match=rf"{server.url} .*MY_SERVER_BASE_URL"):
        ask(compatible())
