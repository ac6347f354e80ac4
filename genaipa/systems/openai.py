"""Models behind OpenAI's chat completions: OpenAI's own, and any server that speaks the same protocol."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NotReadyError
from genaipa.systems.base import Finish, Readiness, Reply, Usage
from genaipa.systems.endpoint import (
    LISTS_NOTHING,
    LOOK_UP_SECONDS,
    Endpoint,
    is_loopback,
    missing_key,
    models_in,
    need_sdk,
    read_address,
    read_variable,
    retry_after,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import openai
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message, Settings

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
# What servers call the tokens that fit in one request: vLLM, OpenRouter, Groq.
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window")
_MOST_BREAKPOINTS = 3
"""Explicit ones that a request may write beside the implicit one."""


class OpenAISystem:
    """`openai/MODEL`: key in OPENAI_API_KEY, another address in OPENAI_BASE_URL.

    `accepts` are the settings (temperature, seed, max_tokens) that the model takes; others are not sent. With
    `explicit_cache` the end of the shared prefix is marked for the cache, as the newest models want it.
    """

    max_tokens_field: ClassVar[str] = "max_completion_tokens"
    sends_cache_key: ClassVar[bool] = True
    lists_all_models: ClassVar[bool] = False
    """Whether a model that the server doesn't list is sure not to exist. OpenAI's aliases aren't listed."""

    def __init__(self, *, name: str, model: str, accepts: frozenset[str], explicit_cache: bool = False) -> None:
        self.name = name
        self.model = model
        self.accepts = accepts
        self.explicit_cache = explicit_cache
        self._client: openai.AsyncOpenAI | None = None
        self._lanes: list[openai.AsyncOpenAI] = []
        self._free: list[openai.AsyncOpenAI] = []
        self._endpoint = Endpoint(name, "", "", "")

    def find_endpoint(self) -> Endpoint:
        """Address and key from the environment; NotReadyError names the variable that is missing."""
        address = read_address(self.name, "OPENAI_BASE_URL") or "https://api.openai.com/v1"
        return self._endpoint_with_key(address, "OPENAI_BASE_URL", "OPENAI_API_KEY")

    def _endpoint_with_key(self, address: str, address_variable: str, key_variable: str) -> Endpoint:
        key = read_variable(key_variable)
        if key is None and not is_loopback(address):
            raise missing_key(self.name, key_variable)
        return Endpoint(self.name, address, address_variable, key_variable, key)

    async def start(self) -> Readiness:
        """Import the SDK, find the key, ask the server which models it has."""
        need_sdk(self.name, "openai", "openai")
        import httpx2
        import openai

        self._endpoint = self.find_endpoint()
        self._tls = httpx2.create_ssl_context()
        self._client = openai.AsyncOpenAI(
            # A server on loopback needs no key, but the SDK does.
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.address,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=self._tls),
        )
        try:
            return await self._look_up_model(self._client)
        except BaseException:
            await self.close()
            raise

    async def _look_up_model(self, client: openai.AsyncOpenAI) -> Readiness:
        import openai

        try:
            listing = await client.get("/models", cast_to=object, options={"timeout": LOOK_UP_SECONDS})
        except openai.APIConnectionError as error:
            raise self._endpoint.unreachable(error.__cause__ or error) from None
        except openai.APIStatusError as error:
            if error.status_code == 401:  # noqa: PLR2004 - Unauthorized
                raise self._endpoint.unauthorised(401, error.body) from None
            notes = () if error.status_code in LISTS_NOTHING else (self._endpoint.unlisted(error.status_code),)
            return Readiness(notes=notes)
        except (openai.APIError, ValueError):
            listing = None
        models = models_in(listing)
        if models is None:
            return Readiness(notes=(self._endpoint.unlisted("the list can't be read"),))
        entry = models.get(self.model)
        if entry is None and models:
            if self.lists_all_models:
                raise self._endpoint.unknown_model(self.model, models)
            entry = await self._retrieve_model(client, models)
            if entry is None:
                note = self._endpoint.unlisted_model(self.model, models)
                return Readiness(models=tuple(sorted(models)), notes=(note,))
        return Readiness(
            context=_context(entry or {}),
            models=tuple(sorted(models)) or None,
            shutdown=(entry or {}).get("shutdown_date"),
        )

    async def _retrieve_model(self, client: openai.AsyncOpenAI, models: Iterable[str]) -> dict[str, Any] | None:
        """The model's own entry, for one that isn't listed; NotReadyError only if the server knows it doesn't exist."""
        import openai

        try:
            return (await client.models.retrieve(self.model, timeout=LOOK_UP_SECONDS)).to_dict()
        except openai.NotFoundError as error:
            # A server without this route says 404 too, but nothing about a model.
            if error.code == "model_not_found" or "model" in words_of(error.body).lower():
                raise self._endpoint.unknown_model(self.model, models) from None
            return None
        except (openai.APIError, ValueError):
            return None

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """One chat completion.

        The body is joined from what each message keeps encoded, and handed to the SDK as bytes: given as objects, the
        SDK would walk, copy and encode the whole document again for every question.
        """
        import openai
        from openai.types.chat import ChatCompletion

        if self._client is None:
            raise NotReadyError(f"{self.name} was asked before it was started.")
        body, sent = self._body(messages, settings)
        lane = self._free.pop() if self._free else self._lane(self._client)
        try:
            async with asyncio.timeout(settings.timeout):
                completion = await lane.post(
                    "/chat/completions",
                    cast_to=ChatCompletion,
                    content=body,
                    options={"headers": {"Content-Type": "application/json"}, "timeout": settings.timeout},
                )
        except (TimeoutError, openai.APITimeoutError):
            raise self._endpoint.timed_out(settings.timeout) from None
        except openai.APIError as error:
            raise self._failure(error) from None
        except ValueError:
            raise self._endpoint.malformed("an answer that is not JSON") from None
        finally:
            self._free.append(lane)
        return self._read(completion, sent)

    def _lane(self, client: openai.AsyncOpenAI) -> openai.AsyncOpenAI:
        """The client once more, for one call at a time: with a connection of its own.

        A pool for all calls looks at every connection that it holds, and asks the system about the idle ones, twice
        for each question.
        """
        import openai

        lane = client.with_options(http_client=openai.DefaultAsyncHttpxClient(verify=self._tls))
        self._lanes.append(lane)
        return lane

    def _body(self, messages: Sequence[Message], settings: Settings) -> tuple[bytes, dict[str, Any]]:
        """The request as JSON, and the settings in it under the names of `Settings`."""
        asked = {"temperature": settings.temperature, "seed": settings.seed, "max_tokens": settings.max_tokens}
        sent = {name: value for name, value in asked.items() if value is not None and name in self.accepts}
        fields: dict[str, Any] = {"model": self.model}
        fields |= {self.max_tokens_field if name == "max_tokens" else name: value for name, value in sent.items()}
        if self.sends_cache_key and settings.cache_key is not None:
            fields["prompt_cache_key"] = settings.cache_key
        marked: set[int] = set()
        if self.explicit_cache:
            ends = [index for index, message in enumerate(messages) if message.breakpoint]
            marked = set(ends[-_MOST_BREAKPOINTS:])
            if ends and sum(message.role == "user" for message in messages[ends[-1] + 1 :]) <= 1:
                # Nothing after the document is shared: the implicit breakpoint would pay for a write on every question.
                fields["prompt_cache_options"] = {"mode": "explicit"}
        turns = b",".join(_turn(message, marked=index in marked) for index, message in enumerate(messages))
        return b'%s,"messages":[%s]}' % (json.dumps(fields).encode()[:-1], turns), sent

    def _failure(self, error: openai.APIError) -> NoReplyError:
        """OpenAI's errors, translated."""
        import openai

        if isinstance(error, openai.APIStatusError):
            if "insufficient_quota" in {error.code, error.type}:
                return self._endpoint.out_of_quota(error.status_code, error.body)
            return self._endpoint.refused(error.status_code, error.body, retry_after(error.response.headers))
        if isinstance(error, openai.APIConnectionError):
            return self._endpoint.disconnected(error.__cause__ or error)
        return self._endpoint.malformed("an answer that can't be read")

    def _read(self, completion: ChatCompletion, sent: dict[str, Any]) -> Reply:
        # The SDK doesn't validate what it parses: anything may be missing, and a body of text comes as a string.
        choices: Any = getattr(completion, "choices", None)
        message: Any = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        if message is None:
            raise self._endpoint.malformed("an answer without a reply in it")
        finish_detail = str(getattr(choices[0], "finish_reason", None) or "")
        finish = _FINISH.get(finish_detail, "stop")
        text = getattr(message, "content", None) or ""
        refusal = getattr(message, "refusal", None)
        if refusal:
            text, finish = text or refusal, "refusal"
        if not isinstance(text, str):
            raise self._endpoint.malformed("a reply that is not text")
        return Reply(
            text=text,
            finish=finish,
            usage=_usage(completion.usage),
            model=completion.model,
            sent=sent,
            finish_detail=finish_detail,
        )

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - the protocol's
        """None: the count comes from tiktoken, which needs no call."""
        return None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await asyncio.gather(*(client.close() for client in (self._client, *self._lanes)))
            self._client = None
            self._lanes, self._free = [], []


class CompatibleSystem(OpenAISystem):
    """`openai-api/NAME/MODEL`: any server of the same protocol, at NAME_BASE_URL with its key in NAME_API_KEY.

    Such servers may refuse a field that they don't know, so only what was asked for is sent.
    """

    max_tokens_field = "max_tokens"  # older, and understood by all of them
    sends_cache_key = False

    def find_endpoint(self) -> Endpoint:
        """Address and key from the variables that carry the server's name; on loopback no key is needed."""
        prefix = self.name.split("/")[1].upper().replace("-", "_")
        address = read_address(self.name, f"{prefix}_BASE_URL")
        if address is None:
            raise NotReadyError(
                f"{self.name} needs an address: set {prefix}_BASE_URL, for example to http://localhost:8080/v1.",
                kind="missing-address",
            )
        return self._endpoint_with_key(address, f"{prefix}_BASE_URL", f"{prefix}_API_KEY")


def _turn(message: Message, *, marked: bool) -> bytes:
    """One message as JSON; `marked` makes its end a cache breakpoint."""
    content = message.content_json
    if marked:
        content = b'[{"type":"text","text":%s,"prompt_cache_breakpoint":{"mode":"explicit"}}]' % content
    return b'{"role":"%s","content":%s}' % (message.role.encode(), content)


def _context(entry: dict[str, Any]) -> int | None:
    """Tokens that fit in one request, from the fields that servers add to OpenAI's."""
    values = (entry.get(name) for name in _CONTEXT_FIELDS)
    return next((value for value in values if isinstance(value, int) and value > 0), None)


def _usage(usage: CompletionUsage | None) -> Usage | None:
    if usage is None:
        return None
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input=usage.prompt_tokens or 0,
        cached=(prompt and prompt.cached_tokens) or 0,
        cache_write=(prompt and prompt.cache_write_tokens) or 0,
        output=usage.completion_tokens or 0,
        reasoning=(completion and completion.reasoning_tokens) or 0,
    )
