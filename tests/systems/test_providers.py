"""What every provider's adapter promises, through its real SDK against a real server: one contract, run over all.

What only one of them does is in its own file (test_openai, test_anthropic, test_google, test_vllm).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from asking import ALL_SETTINGS, QUESTION, ask, count
from running import TEXT, make_workspace
from servers import (
    AnthropicServer,
    Behaviour,
    GoogleServer,
    LoopbackServer,
    OpenAIServer,
    drop,
    failure,
    malformed,
    overloaded,
    rate_limited,
    reply,
    stall,
)

from genaipa.errors import NoReplyError, NotReadyError, PermanentError, TransientError
from genaipa.runs.selection import find_run, list_run_folders_oldest_first
from genaipa.systems.base import UNSUPPORTED_SCHEMA, Message, Readiness, Settings, System
from genaipa.systems.catalog import resolve_system
from genaipa.systems.provider import list_builtin_systems, list_providers, load_adapter_class
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Cli
    from servers import Script

SCHEMA = {
    "type": "object",
    "properties": {"clarity": {"type": "integer"}},
    "required": ["clarity"],
    "additionalProperties": False,
}
PAGE = Behaviour(body=b"<html>Welcome!</html>", headers={"content-type": "text/html"})
NO_ROUTE = Behaviour(status=404, body=b'{"detail": "Not Found"}')


@dataclass(frozen=True)
class Vendor:
    """A provider, one of its models, and the server that speaks its protocol; `key` looks like one of its keys."""

    name: str
    model: str
    server: type[LoopbackServer]
    address: str
    variable: str
    key: str

    def __str__(self) -> str:
        return self.name

    @property
    def system(self) -> str:
        """The system's full name."""
        return f"{self.name}/{'my-server/' if self.name == 'openai-api' else ''}{self.model}"

    def make(self, model: str = "") -> System:
        """The system under test, asked for another of its models if one is named."""
        name = self.system.removesuffix(self.model) + (model or self.model)
        made: System = load_adapter_class(self.name)(name=name, model=model or self.model, accepts=ALL_SETTINGS)
        return made

    @contextlib.contextmanager
    def serving(self, script: Script = (), **more: Any) -> Iterator[LoopbackServer]:
        """A server that follows the script, and the environment that leads to it with the key."""
        more = {"models": (self.model, "another-model")} | more
        with self.server(script, **more) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv(self.address, server.url)
            patch.setenv(self.variable, self.key)
            yield server


VENDORS = (
    Vendor("openai", "gpt-4o", OpenAIServer, "OPENAI_BASE_URL", "OPENAI_API_KEY", "sk-proj-Ab3dEf9hIjKlMnOpQr"),
    Vendor("openai-api", "org/tiny", OpenAIServer, "MY_SERVER_BASE_URL", "MY_SERVER_API_KEY", "my-very-own-secret"),
    Vendor("vllm", "org/tiny", OpenAIServer, "VLLM_BASE_URL", "VLLM_API_KEY", "d41d8cd98f00b204e9800998ecf8427e"),
    Vendor("anthropic", "claude-opus-4-8", AnthropicServer, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "sk-ant-Zz9Yy8"),
    Vendor("google", "gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "AIzaSyA1b2C3d4E5f6"),
)
every = pytest.mark.parametrize("vendor", VENDORS, ids=str)


def failures(system: System, calls: int, settings: Settings | None = None) -> list[NoReplyError]:
    """The errors of so many calls in turn."""

    async def all_of_them() -> list[NoReplyError]:
        await system.start()
        found = []
        try:
            for _ in range(calls):
                with pytest.raises(NoReplyError) as caught:
                    await system.reply(QUESTION, settings or Settings())
                found.append(caught.value)
        finally:
            await system.close()
        return found

    return asyncio.run(all_of_them())


def test_every_provider_is_here() -> None:
    """A provider with a server that is added to the table is added to the contract too."""
    asked = {provider.name for provider in list_providers() if provider.keys}
    assert {vendor.name for vendor in VENDORS} == asked


@every
def test_passing_failures(vendor: Vendor) -> None:
    """Each failure that may pass is a TransientError of its kind, after a single request."""
    expected = [
        (rate_limited(), ("rate-limit", 429, None, True)),
        (rate_limited(7), ("rate-limit", 429, 7.0, True)),
        (rate_limited(f"Fri, 31 Dec {'9' * 30} 23:59:59 GMT"), ("rate-limit", 429, None, True)),
        (failure(408), ("server", 408, None, False)),
        (failure(409), ("server", 409, None, False)),
        (failure(500), ("server", 500, None, False)),
        (failure(502), ("server", 502, None, False)),
        (failure(503), ("overload", 503, None, True)),
        (failure(504), ("server", 504, None, False)),
        (overloaded(), ("overload", 529, None, True)),
        (drop(), ("connection", None, None, False)),
        (malformed(), ("malformed-reply", None, None, False)),
        (malformed(b"{}"), ("malformed-reply", None, None, False)),
        (malformed(b"[]"), ("malformed-reply", None, None, False)),
        (malformed(b'{"x":' * 200_000), ("malformed-reply", None, None, False)),
        (PAGE, ("malformed-reply", None, None, False)),
    ]
    with vendor.serving([behaviour for behaviour, _ in expected]) as server:
        found = failures(vendor.make(), len(expected))
    for error, (behaviour, told) in zip(found, expected, strict=True):
        assert isinstance(error, TransientError), behaviour
        assert (error.kind, error.status, error.retry_after, error.overload) == told, behaviour
    assert len(server.requests) == len(expected)


@every
def test_lasting_failures(vendor: Vendor) -> None:
    """Each lasting failure is a PermanentError with the server's sentence, fatal if it concerns every request."""
    expected = [
        (failure(400, "That won't do."), "bad-request", False),
        (failure(400, "This model's maximum context length is 8192 tokens."), "context-length", False),
        (failure(400, "prompt is too long: 210000 tokens"), "context-length", False),
        (failure(400, "request (16677 tokens) exceeds the available context size"), "context-length", False),
        (failure(400, "The input token count exceeds the maximum number of tokens."), "context-length", False),
        (failure(401, "That won't do."), "authentication", True),
        (failure(402, "That won't do."), "quota", True),
        (failure(403, "That won't do."), "authentication", True),
        (failure(404, "That won't do."), "not-found", True),
        (failure(422, "That won't do."), "bad-request", False),
        (failure(501, "That won't do."), "bad-request", False),
    ]
    with vendor.serving([behaviour for behaviour, _, _ in expected]):
        found = failures(vendor.make(), len(expected))
    for error, (behaviour, kind, fatal) in zip(found, expected, strict=True):
        assert isinstance(error, PermanentError), behaviour
        assert (error.kind, error.status, error.fatal) == (kind, behaviour.status, fatal), behaviour
        assert behaviour.error in str(error)


@every
def test_an_error_inside_a_success(vendor: Vendor) -> None:
    """Its code, or its word, is the status, with the wait that is asked for; without either it may pass."""
    expected = [
        ({"code": 429, "message": "Upstream is busy."}, {"retry-after": "7"}, ("rate-limit", 429, 7.0)),
        ({"code": "503", "message": "Upstream is busy."}, {}, ("overload", 503, None)),
        ({"type": "overloaded_error", "message": "Upstream is busy."}, {}, ("overload", 529, None)),
        ({"status": "RESOURCE_EXHAUSTED", "message": "Upstream is busy."}, {}, ("rate-limit", 429, None)),
        ({"message": "Upstream is busy."}, {}, ("server", None, None)),
        ("Upstream is busy.", {}, ("server", None, None)),
        ({"code": 401, "message": "Upstream is busy."}, {}, ("authentication", 401, None)),
        ({"code": 402, "message": "Upstream is busy."}, {}, ("quota", 402, None)),
        ({"message": "Upstream is busy: the prompt is too long."}, {}, ("context-length", 400, None)),
    ]
    bodies = [Behaviour(body=json.dumps({"choices": None, "error": e}).encode(), headers=h) for e, h, _ in expected]
    with vendor.serving(bodies):
        found = failures(vendor.make(), len(expected))
    for error, (body, _, told) in zip(found, expected, strict=True):
        assert (error.kind, error.status, getattr(error, "retry_after", None)) == told, body
        assert "Upstream is busy" in str(error), body
    assert getattr(found[6], "fatal", False)


@every
def test_a_stalled_call_ends(vendor: Vendor) -> None:
    """A server that reads the request and says nothing is given up after the time-out."""
    with vendor.serving([stall()]):
        (error,) = failures(vendor.make(), 1, Settings(timeout=0.2))
    assert isinstance(error, TransientError)
    assert (str(error), error.kind) == (
        f"{vendor.system} gave no answer within 0.2 s; for a slow server, raise --timeout.",
        "timeout",
    )


@every
def test_no_redirect_is_followed(vendor: Vendor) -> None:
    """Neither a document nor a key goes to where a redirect leads; the run ends with a sentence that names it."""
    with vendor.server() as stranger:
        to = f"{stranger.url}/elsewhere"
        moved = [
            Behaviour(status=code, body=b"", headers={"location": f"{to}?sig=5ecret"}) for code in (302, 303, 307, 308)
        ]
        with vendor.serving(moved):
            for error in failures(vendor.make(), len(moved)):
                assert isinstance(error, PermanentError)
                assert (error.kind, error.fatal) == ("bad-request", True)
                assert f" redirects to {to}, to which genaipa sends no key" in str(error)
                assert vendor.address in str(error)
        with vendor.serving(listing=moved[2]), pytest.raises(NotReadyError, match=" answered 307: "):
            asyncio.run(vendor.make().start())
        assert (stranger.requests, stranger.lookups) == ([], [])


@every
def test_the_server_goes_away(vendor: Vendor) -> None:
    """A connection that is refused in the middle of a run is worth another try; the address is named."""
    system = vendor.make()

    async def outlive() -> None:
        with vendor.serving():
            await system.start()
        try:
            await system.reply(QUESTION, Settings())
        finally:
            await system.close()

    with pytest.raises(TransientError, match=r"the connection to http://127\.0\.0\.1:\d+(/v1)? failed") as caught:
        asyncio.run(outlive())
    assert caught.value.kind == "connection"


@every
def test_what_is_missing(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent, the extra to install, the variable of a key and that of an address are named."""
    provider = load_adapter_class(vendor.name).provider
    if provider.key_needed != "optional":
        monkeypatch.setenv(vendor.address, "https://models.example/v1")
        with pytest.raises(NotReadyError, match=f"needs a key: set .*{vendor.variable}"):
            ask(vendor.make())
    with vendor.serving() as server:
        pass
    monkeypatch.setenv(vendor.address, server.url)
    monkeypatch.setenv(vendor.variable, vendor.key)
    with pytest.raises(NotReadyError, match=rf"{server.url} .*{vendor.address}"):
        ask(vendor.make())
    monkeypatch.setitem(sys.modules, provider.sdk, None)
    with pytest.raises(NotReadyError, match=rf"pip install 'genaipa\[{provider.extra}\]'"):
        ask(vendor.make())


@every
def test_a_wrong_key_is_named_and_not_shown(vendor: Vendor) -> None:
    """The message about a refused key names the variable, and no part of the key, though the provider repeats it."""
    with vendor.serving(only="another"), pytest.raises(NotReadyError, match=vendor.variable) as caught:
        ask(vendor.make())
    assert "key not valid" in str(caught.value) or "Incorrect API key" in str(caught.value)
    assert vendor.key[:6] not in str(caught.value)
    assert vendor.key[-4:] not in str(caught.value)


@every
def test_the_model_is_looked_up(vendor: Vendor) -> None:
    """The context and the models that are listed are known after the start; a wrong name gets the nearest."""
    with vendor.serving(context=65536):
        readiness, _ = ask(vendor.make())
        with pytest.raises(NotReadyError, match=rf"no model '{vendor.model}x': did you mean '{vendor.model}'"):
            ask(vendor.make(f"{vendor.model}x"))
    assert (readiness.context, readiness.models) == (65536, tuple(sorted((vendor.model, "another-model"))))


@every
def test_a_server_without_a_list(vendor: Vendor) -> None:
    """A server that lists no models can be used; one whose list can't be had or read is noted, and used as well."""
    for status in (403, 404, 405, 501):
        with vendor.serving(listing=failure(status)):
            assert ask(vendor.make())[0] == Readiness(checked=False), status
    for listing in (failure(500), rate_limited(), malformed(), malformed(b'{"data": 1, "models": 1}'), PAGE):
        with vendor.serving(listing=listing):
            readiness, replies = ask(vendor.make(), QUESTION)
        assert "does not list its models" in readiness.notes[0], listing
        assert len(replies) == 1
    # What one proxy says to a wrong key.
    with vendor.serving(listing=failure(400, "No connected db.")):
        assert "(400: No connected db.)" in ask(vendor.make())[0].notes[0]


@every
def test_an_unlisted_model_at_a_server_that_tells_no_more(vendor: Vendor) -> None:
    """Where a single model can't be asked for, one that isn't listed is only noted; vLLM's list is complete."""
    for entry in (NO_ROUTE, PAGE):
        with vendor.serving(models=[f"{vendor.model}-2"], entry=entry):
            if vendor.name == "vllm":
                with pytest.raises(NotReadyError, match="has no model"):
                    ask(vendor.make())
                continue
            readiness, _ = ask(vendor.make())
        assert f"does not list the model '{vendor.model}': did you mean" in readiness.notes[0], entry


@every
def test_no_proxy_before_this_machine(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is asked directly, whatever proxy leads to others."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with vendor.serving() as server:
        ask(vendor.make(), QUESTION)
    assert len(server.requests) == 1


@every
def test_tokens_are_counted_by_the_provider(vendor: Vendor) -> None:
    """The provider counts where its protocol has a call for that; where it can't, nobody does."""
    counts = vendor.name in {"vllm", "anthropic", "google"}
    with vendor.serving():
        assert count(vendor.make(), "a" * 40) == (10 if counts else None)
    with vendor.serving(counting=failure(500)):
        assert count(vendor.make(), "a" * 40) is None


# --- structured output ---------------------------------------------------------------------------------------------


async def _plain_openai(url: str, vendor: Vendor) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key=vendor.key, base_url=url) as client:
        await client.chat.completions.create(
            model=vendor.model,
            messages=[{"role": "user", "content": QUESTION[0].content}],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
            },
        )


async def _plain_anthropic(url: str, vendor: Vendor) -> None:
    from anthropic import AsyncAnthropic

    async with AsyncAnthropic(api_key=vendor.key, base_url=url) as client:
        await client.messages.create(
            model=vendor.model,
            max_tokens=4096,
            messages=[{"role": "user", "content": QUESTION[0].content}],
            output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
        )


async def _plain_google(url: str, vendor: Vendor) -> None:
    from google import genai
    from google.genai import types

    own = httpx2.AsyncClient()
    options = types.HttpOptions(base_url=url, httpx_async_client=own)
    client = genai.Client(vertexai=False, api_key=vendor.key, http_options=options)
    await client.aio.models.generate_content(
        model=vendor.model,
        contents=QUESTION[0].content,
        config=types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=SCHEMA),
    )
    await client.aio.aclose()
    client.close()
    await own.aclose()


@every
def test_a_schema_is_sent_as_the_sdk_would(vendor: Vendor) -> None:
    """A JSON schema goes into the request as the vendor's SDK puts it there, and is noted as sent."""
    plain = {"anthropic": _plain_anthropic, "google": _plain_google}.get(vendor.name, _plain_openai)
    with vendor.serving([reply('{"clarity": 3}')]) as server:
        _, replies = ask(vendor.make(), QUESTION, settings=Settings(json_schema=SCHEMA))
        asyncio.run(plain(server.url, vendor))
    ours, theirs = server.requests
    assert ours.body == theirs.body
    assert replies[0].text == '{"clarity": 3}'
    assert replies[0].sent["json_schema"] is True


@every
def test_a_schema_that_is_refused(vendor: Vendor) -> None:
    """A refusal of the schema is of a kind of its own; other refusals, and those without a schema, are not."""
    told = [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "output_config: Extra inputs are not permitted",
        "Invalid JSON payload received. Unknown name 'responseJsonSchema'",
        "INVALID_ARGUMENT: too many values of an enum",
    ]
    with vendor.serving([failure(status, said) for said in told for status in (400, 422)] * 2):
        refused = failures(vendor.make(), 8, Settings(json_schema=SCHEMA))
    with vendor.serving([failure(400, told[0])]):
        refused += failures(vendor.make(), 1)
    with vendor.serving([failure(400, "temperature is not supported.")]):
        refused += failures(vendor.make(), 1, Settings(json_schema=SCHEMA))
    assert [error.kind for error in refused] == [UNSUPPORTED_SCHEMA] * 8 + ["bad-request"] * 2
    assert str(refused[0]).startswith(f"{vendor.system} can't follow a JSON schema: Invalid parameter: 'response_")
    assert refused[0].status == 400


def test_builtin_systems_refuse_a_schema() -> None:
    """What has no model behind it says that it has no structured output."""
    workspace = find_workspace()
    for name in list_builtin_systems():
        system = resolve_system(name, workspace).make_system()
        with pytest.raises(PermanentError, match=f"^{name} can't follow a JSON schema: it has no struct") as caught:
            asyncio.run(system.reply([Message("user", "x")], Settings(json_schema=SCHEMA)))
        assert caught.value.kind == UNSUPPORTED_SCHEMA


# Who counts is the engine; that each adapter hands the provider's counts on is shown by tests of their own.
@pytest.mark.parametrize(
    "vendor", [VENDORS[0], *(pytest.param(vendor, marks=pytest.mark.full) for vendor in VENDORS[1:])], ids=str
)
def test_a_server_that_cuts_prompts_without_an_error(vendor: Vendor, genaipa: Cli) -> None:
    """Its own count gives it away: said once, marked in each record, counted; a true count, cached or not, never is."""
    workspace = make_workspace(questions=4, text=TEXT + "\nWe tell you of every change in good time." * 120)
    mode = "independent" if vendor.name in ("openai", "google") else "shared"
    plan = ("run", "-s", vendor.system, "-p", "acme", "-e", "quality", "--conversation", mode, "--new")
    with vendor.serving():
        done = genaipa(*plan)
        assert (done.code, "cuts prompts" in done.err, "prompt cut" in done.out) == (0, False, False), done.err
    with vendor.serving(reads=256):
        done = genaipa(*plan)
    assert done.code == 0, done.err
    assert done.err.count(f"{vendor.system}: the server counts 256 of about ") == 1
    assert "prompt cut" in done.out
    cut, whole = (
        find_run(workspace, run)
        for run in sorted((f.name for f in list_run_folders_oldest_first(workspace)), reverse=True)
    )
    assert [record.prompt_cut for record in cut.read_records()] == [True] * 4
    assert not any(record.prompt_cut for record in whole.read_records())
    assert "fewer tokens than were sent: the server cut the prompt" in genaipa("show", cut.name, "Q1").out
    if vendor.name == "openai":
        assert "Answers to a prompt that the server cut, without an error: 4 of 4." in genaipa("report", cut.name).out
