"""Models behind OpenAI's chat completions: OpenAI's own, and any server that speaks the same protocol."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NotReadyError
from genaipa.systems.base import Finish, Readiness, Reply, Usage
from genaipa.systems.endpoint import (
    Endpoint,
    as_count,
    is_loopback,
    missing_key,
    need_sdk,
    read_address,
    read_key,
    retry_after,
    sent_settings,
    words_of,
)
from genaipa.systems.listing import Listing, look_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2
    import openai
    from openai.types.chat import ChatCompletion

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message, Settings

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_MOST_BREAKPOINTS = 3
"""Explicit ones that a request may write beside the implicit one."""


class OpenAISystem:
    """`openai/MODEL`: key in OPENAI_API_KEY, another address in OPENAI_BASE_URL.

    `accepts` are the settings (temperature, seed, max_tokens) that the model takes; others are not sent. With
    `explicit_cache` the end of the shared prefix is marked for the cache, as the newest models want it.
    """

    max_tokens_field: ClassVar[str] = "max_completion_tokens"
    sends_cache_key: ClassVar[bool] = True
    listing: ClassVar[Listing] = Listing(
        path="/models",
        # OpenAI doesn't tell; vLLM, OpenRouter and Groq do.
        context=("max_model_len", "context_length", "context_window"),
        shutdown="shutdown_date",
        unknown=lambda error: error.code == "model_not_found" or "model" in words_of(error.body).lower(),
    )

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
        key = read_key(self.name, key_variable)
        if key is None and not is_loopback(address):
            raise missing_key(self.name, key_variable)
        return Endpoint(self.name, address, address_variable, key_variable, key, ends="/v1")

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
            http_client=self._connections(),
        )
        try:
            return await look_up(self._client, openai, self._endpoint, self.model, self.listing)
        except BaseException:
            await self.close()
            raise

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
        lane = client.with_options(http_client=self._connections())
        self._lanes.append(lane)
        return lane

    def _connections(self) -> httpx2.AsyncClient:
        import openai

        return openai.DefaultAsyncHttpxClient(verify=self._tls, trust_env=self._endpoint.by_proxy)

    def _body(self, messages: Sequence[Message], settings: Settings) -> tuple[bytes, dict[str, Any]]:
        """The request as JSON, and the settings in it under the names of `Settings`."""
        sent = sent_settings(self.name, settings, self.accepts)
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
            if "insufficient_quota" in (error.code, error.type):
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
            usage=_usage(getattr(completion, "usage", None)),
            model=getattr(completion, "model", None),
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


def _usage(stated: object) -> Usage | None:
    """The tokens as stated; None where that isn't in OpenAI's form, for the reply is paid for all the same."""
    from openai.types import CompletionUsage

    if not isinstance(stated, CompletionUsage):
        return None

    def count(part: object, name: str) -> int:
        return as_count(getattr(part, name, None))

    prompt = getattr(stated, "prompt_tokens_details", None)
    return Usage(
        input=count(stated, "prompt_tokens"),
        cached=count(prompt, "cached_tokens"),
        cache_write=count(prompt, "cache_write_tokens"),
        output=count(stated, "completion_tokens"),
        reasoning=count(getattr(stated, "completion_tokens_details", None), "reasoning_tokens"),
    )
