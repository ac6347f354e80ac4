"""Servers that mean harm, or are badly broken: no answer hangs a run, ends it, or gets a key into a file."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, QUESTION
from running import KEY, SYSTEM, carry_out, latest, make_workspace, spec, texts_below
from servers import AnthropicServer, Behaviour, GoogleServer, OpenAIServer

from genaipa.errors import NoReplyError, PermanentError
from genaipa.execution.limits import Attempt, SystemLimits, Throttle, ask_with_retries_or_raise
from genaipa.systems.anthropic import AnthropicSystem
from genaipa.systems.base import Reply, Settings, Usage
from genaipa.systems.google import GoogleSystem
from genaipa.systems.openai import OpenAISystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import LoopbackServer

    from genaipa.systems.base import System

LONG = 200_000
"""Characters of a body: one that is searched again from each of its places takes hours."""
SECONDS = 120
"""Until a test counts as hanging: many times what it takes."""
MODELS = {"openai": "gpt-4o", "anthropic": "claude-opus-4-8", "google": "gemini-2.5-pro"}
SYSTEMS = {"openai": OpenAISystem, "anthropic": AnthropicSystem, "google": GoogleSystem}
SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer, "google": GoogleServer}
ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "google": "GOOGLE_GEMINI_BASE_URL"}
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


@contextlib.contextmanager
def no_hang() -> Iterator[None]:
    """The end of this process, with where it was, if this takes too long: no signal stops a search."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def crafted() -> Iterator[bytes]:
    """Bodies of error answers that make a careless search begin again at every place."""
    pieces = (
        "sk-",
        "a",
        "a-",
        "a.",
        "<title>",
        "Bearer ",
        "?key=",
        "://",
        "req_",
        " ",
        "*",
        "**",
        "AIza",
        "1",
        "é",
        KEY,
    )
    for piece in pieces:
        text = piece * (LONG // len(piece))
        yield json.dumps({"error": {"message": text, "code": text[:9], "status": text[:9]}, "message": text}).encode()
        yield f"<html>{text}".encode()
    yield b'{"error":' * LONG
    yield b"[" * LONG
    yield b'{"error":{"message":["a"],"type":[1],"code":{"a":1},"details":7}}'
    yield b'{"error":' * 500 + b"1" + b"}" * 500
    yield b"\xff\xfe" * LONG
    yield json.dumps({"error": {"message": " " * 3990 + KEY}}).encode()


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, vendor: str, script: list[Behaviour]) -> Iterator[System]:
    """The vendor's system, led to a server that follows the script."""
    server: LoopbackServer
    with SERVERS[vendor](script) as server:
        monkeypatch.setenv(ADDRESSES[vendor], server.url)
        monkeypatch.setenv(KEYS[vendor], KEY)
        name = MODELS[vendor]
        yield SYSTEMS[vendor](name=f"{vendor}/{name}", model=name, accepts=ALL_SETTINGS)


def put(system: System, times: int) -> list[Attempt | NoReplyError]:
    """Put the question so often, each time once; what came of it."""

    async def all_of_it() -> list[Attempt | NoReplyError]:
        await system.start()
        came: list[Attempt | NoReplyError] = []
        for _ in range(times):
            try:
                came.append(
                    await ask_with_retries_or_raise(system, QUESTION, Settings(), SystemLimits(Throttle(1), retries=0))
                )
            except NoReplyError as error:
                came.append(error)
        await system.close()
        return came

    with no_hang():
        return asyncio.run(all_of_it())


@pytest.mark.full
@pytest.mark.parametrize("vendor", SYSTEMS)
def test_no_error_answer_hangs(monkeypatch: pytest.MonkeyPatch, vendor: str) -> None:
    """Whatever a server says with an error, the call ends, in one short line without the key."""
    statuses = (400, 429, 500)
    script = [Behaviour(status=statuses[n % 3], body=body) for n, body in enumerate(crafted())]
    with serving(monkeypatch, vendor, script) as system:
        for came in put(system, len(script)):
            assert isinstance(came, NoReplyError)
            assert len(str(came)) <= 400
            assert KEY[:20] not in str(came)


BAD_COUNTS: tuple[Any, ...] = (10**30, 2**63, -5, "many", [1], {"a": 1}, 1.5, None, True)


def completion(vendor: str, model: Any, tokens: Any) -> bytes:
    """A good reply with facts about it that are none."""
    openai = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
        "model": model,
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": tokens,
            "prompt_tokens_details": {"cached_tokens": tokens},
        },
    }
    anthropic = {
        "content": [{"type": "text", "text": "Yes."}],
        "model": model,
        "stop_reason": model,
        "usage": {"input_tokens": tokens, "output_tokens": tokens, "cache_read_input_tokens": tokens},
    }
    google = {
        "candidates": [{"content": {"parts": [{"text": "Yes."}], "role": "model"}, "finishReason": "STOP"}],
        "modelVersion": model,
        "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": tokens, "thoughtsTokenCount": tokens},
    }
    return json.dumps({"openai": openai, "anthropic": anthropic, "google": google}[vendor]).encode()


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_unusable_facts_end_nothing(monkeypatch: pytest.MonkeyPatch, vendor: str) -> None:
    """A reply whose model or tokens are nonsense is a reply without them."""
    bodies = [completion(vendor, "m", count) for count in BAD_COUNTS]
    bodies += [completion(vendor, model, 1) for model in (["m"], 7, {"a": 1}, None, "x" * 100_000)]
    with serving(monkeypatch, vendor, [Behaviour(body=body) for body in bodies]) as system:
        came = put(system, len(bodies))
    for attempt in came:
        assert isinstance(attempt, Attempt)
        assert attempt.reply.text == "Yes."
        assert attempt.reply.model is None or (isinstance(attempt.reply.model, str) and len(attempt.reply.model) <= 200)
        if attempt.usage is not None:
            assert all(0 <= getattr(attempt.usage, name) <= 10**12 for name in Usage.__struct_fields__)


ODD: tuple[Any, ...] = (None, 7, True, "", "odd", ["x"], {"a": 1}, [], {}, [[1]])
FIELDS = {
    "openai": "choices.0.finish_reason choices.0.index choices.0.message.role choices.0.message.tool_calls usage "
    "choices.0.message.reasoning usage.completion_tokens_details id created",
    "anthropic": "stop_reason usage usage.output_tokens_details id role type stop_sequence",
    "google": "candidates.0.finishReason candidates.0.index candidates.0.content.role candidates.1 usageMetadata "
    "candidates.0.content.parts.1 candidates.0.safetyRatings promptFeedback promptFeedback.blockReason",
}
"""Vendor → fields of a reply that may be anything, beside its model and its counts."""


def with_field(body: bytes, field: str, value: object) -> bytes:
    """Put a value into a field of a body; the next place of a list gets it as well."""
    whole = json.loads(body)
    *path, last = field.split(".")
    within: Any = whole
    for name in path:
        within = within[int(name)] if isinstance(within, list) else within.setdefault(name, {})
    if isinstance(within, list):
        within.append(value)
    else:
        within[last] = value
    return json.dumps(whole).encode()


@pytest.mark.parametrize("vendor", SYSTEMS)
def test_odd_fields_lose_no_reply(monkeypatch: pytest.MonkeyPatch, vendor: str) -> None:
    """A field that is nothing of the reply's text may be of any type, and JSON may be called anything."""
    good = completion(vendor, "m", 1)
    fields = [(field, value) for field in FIELDS[vendor].split() for value in ODD]
    kinds = ("text/plain", "application/x; charset=punycode", "")
    script = [Behaviour(body=with_field(good, field, value)) for field, value in fields]
    script += [Behaviour(body=good, headers={"content-type": kind}) for kind in kinds]
    script += [Behaviour(body=b"\xef\xbb\xbf" + good), Behaviour(body=b"\n\n" + good)]
    with serving(monkeypatch, vendor, script) as system:
        for mode, attempt in zip([*fields, *kinds, "mark", "lines"], put(system, len(script)), strict=True):
            assert isinstance(attempt, Attempt), (mode, attempt)
            assert attempt.reply.text.removesuffix("odd") == "Yes.", mode


class Own:
    """An assistant of one's own that returns this."""

    name = "own"

    def __init__(self, reply: Reply) -> None:
        self.said = reply

    async def reply(self, *_: object) -> Reply:
        """What it was made with."""
        return self.said


def test_an_own_assistant_may_state_nonsense() -> None:
    """What can't be counted or written of an own assistant's reply is dropped; the reply is kept."""
    for usage, model, sent in (
        (Usage(input=-1), 7, {"a": object()}),
        (Usage(output=10**40), ["m"], {"a": 10**400}),
        ("many", None, [1]),
        (Usage(input=1.5), "m" * 500, {1: 2}),  # type: ignore[arg-type]
    ):
        nonsense = Reply("Yes.", usage=usage, model=model, sent=sent)  # type: ignore[arg-type]
        attempt = asyncio.run(ask_with_retries_or_raise(Own(nonsense), QUESTION, Settings(), SystemLimits(Throttle(1))))  # type: ignore[arg-type]
        assert (attempt.reply.text, attempt.usage) == ("Yes.", None)
        assert attempt.reply.model in (None, "m" * 200)
        json.dumps(attempt.reply.sent)
    own = Own(Reply("Yes.", finish=["stop"]))  # type: ignore[arg-type]
    with pytest.raises(PermanentError):
        asyncio.run(ask_with_retries_or_raise(own, QUESTION, Settings(), SystemLimits(Throttle(1))))  # type: ignore[arg-type]


def test_a_key_that_a_server_repeats_is_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a reply, a model's name, the word for its end or an error, the key is masked, and the record says so."""
    body = {
        "choices": [{"index": 0, "finish_reason": f"stop {KEY}", "message": {"content": f"Your key is {KEY}!"}}],
        "model": f"m-{KEY}",
    }
    script = [Behaviour(body=json.dumps(body).encode()), Behaviour(status=400, error=f"bad: {KEY}")]
    with OpenAIServer(script, models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        make_workspace(questions=3)
        folder, _ = carry_out(spec())
    assert KEY not in texts_below(folder.path)
    first, *others = latest(folder).values()
    assert (first.reply, first.model, first.key_masked) == ("Your key is [key]!", "m-[key]", True)
    assert not any(record.key_masked for record in others)
    assert folder.manifest().systems[SYSTEM].served[0] == "m-[key]"
