"""Anthropic's models."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from genaipa.errors import NotReadyError
from genaipa.systems.base import Finish, Readiness, Reply, Usage
from genaipa.systems.endpoint import (
    LOOK_UP_SECONDS,
    Endpoint,
    as_count,
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

    import anthropic
    import httpx2
    from anthropic.types import Message as AnthropicMessage

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message, Settings

_FINISH: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_MAX_TOKENS = 4096
"""What a reply may take where nobody says: the protocol has no default, and 4096 is allowed by every model."""
_MOST_BREAKPOINTS = 4
_LISTING = Listing(
    path="/v1/models",
    limit=1000,
    context=("max_input_tokens",),
    shutdown="retires_at",
    # A gateway without this route says 404 too, but not in Anthropic's form.
    unknown=lambda error: error.type == "not_found_error",
)


class AnthropicSystem:
    """`anthropic/MODEL`: key in ANTHROPIC_API_KEY, another address in ANTHROPIC_BASE_URL.

    `accepts` are the settings (temperature, max_tokens) that the model takes; others are not sent.
    """

    def __init__(self, *, name: str, model: str, accepts: frozenset[str]) -> None:
        self.name = name
        self.model = model
        self.accepts = accepts
        self._client: anthropic.AsyncAnthropic | None = None
        self._endpoint = Endpoint(name, "", "", "")

    async def start(self) -> Readiness:
        """Import the SDK, find the key, ask which models there are."""
        need_sdk(self.name, "anthropic", "anthropic")
        import anthropic

        key = read_key(self.name, "ANTHROPIC_API_KEY")
        if key is None:
            raise missing_key(self.name, "ANTHROPIC_API_KEY")
        # The SDK adds the version itself, but other tools want it in the same variable.
        address = read_address(self.name, "ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
        address = address.removesuffix("/v1")
        self._endpoint = Endpoint(self.name, address, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", key)
        self._client = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=address,
            max_retries=0,
            http_client=None if self._endpoint.by_proxy else _direct(),
        )
        try:
            return await look_up(self._client, anthropic, self._endpoint, self.model, _LISTING)
        except BaseException:
            await self.close()
            raise

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """One message. Its body is joined from what each message keeps encoded, and handed to the SDK as bytes."""
        import anthropic
        from anthropic.types import Message as AnthropicMessage

        if self._client is None:
            raise NotReadyError(f"{self.name} was asked before it was started.")
        body, sent = self._body(messages, settings)
        try:
            async with asyncio.timeout(settings.timeout):
                message = await self._client.post(
                    "/v1/messages",
                    cast_to=AnthropicMessage,
                    content=body,
                    options={"headers": {"Content-Type": "application/json"}, "timeout": settings.timeout},
                )
        except (TimeoutError, anthropic.APITimeoutError):
            raise self._endpoint.timed_out(settings.timeout) from None
        except anthropic.APIError as error:
            raise self._failure(error) from None
        except ValueError:
            raise self._endpoint.malformed("an answer that is not JSON") from None
        return self._read(message, sent)

    def _body(self, messages: Sequence[Message], settings: Settings) -> tuple[bytes, dict[str, Any]]:
        """The request as JSON, and the settings in it under the names of `Settings`."""
        # The protocol has no seed.
        accepts = (self.accepts - {"seed"}) | {"max_tokens"}
        sent = {"max_tokens": _MAX_TOKENS} | sent_settings(self.name, settings, accepts)
        marked = set(_breakpoints(messages))
        turns = b",".join(_turn(message, marked=index in marked) for index, message in enumerate(messages))
        fields = json.dumps({"model": self.model, **sent}).encode()
        return b'%s,"messages":[%s]}' % (fields[:-1], turns), sent

    def _failure(self, error: anthropic.APIError) -> NoReplyError:
        """Anthropic's errors, translated."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            # An account without credit is told with the status of a bad request.
            if "credit balance" in words_of(error.body):
                return self._endpoint.out_of_quota(error.status_code, error.body)
            return self._endpoint.refused(error.status_code, error.body, retry_after(error.response.headers))
        if isinstance(error, anthropic.APIConnectionError):
            return self._endpoint.disconnected(error.__cause__ or error)
        return self._endpoint.malformed("an answer that can't be read")

    def _read(self, message: AnthropicMessage, sent: dict[str, Any]) -> Reply:
        # The SDK doesn't validate what it parses: anything may be missing, and a body of text comes as a string.
        content: Any = getattr(message, "content", None)
        if not isinstance(content, list):
            raise self._endpoint.malformed("an answer without a reply in it")
        texts = [getattr(block, "text", None) for block in content if getattr(block, "type", None) == "text"]
        text = "".join(text for text in texts if isinstance(text, str))
        finish_detail = str(getattr(message, "stop_reason", None) or "")
        finish = _FINISH.get(finish_detail, "stop")
        return Reply(
            text=text,
            finish=finish,
            usage=_usage(getattr(message, "usage", None)),
            model=getattr(message, "model", None),
            sent=sent,
            finish_detail=finish_detail,
        )

    async def count_tokens(self, text: str) -> int | None:
        """Anthropic's own count, from a call that costs nothing."""
        import anthropic

        if self._client is None:
            return None
        try:
            counted = await self._client.messages.count_tokens(
                model=self.model, messages=[{"role": "user", "content": text}], timeout=LOOK_UP_SECONDS
            )
        except (anthropic.APIError, ValueError):
            return None
        return as_count(getattr(counted, "input_tokens", None)) or None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _direct() -> httpx2.AsyncClient:
    """Connections like the SDK's own, without the environment's proxy, which it looks up whatever `trust_env` is."""
    import anthropic

    return anthropic.DefaultAsyncHttpxClient(mounts={"http://": None, "https://": None})


def _breakpoints(messages: Sequence[Message]) -> list[int]:
    """Where the cache is to end: at the messages that are marked, and at the last one if the next turn will read it.

    It will in a conversation that goes on after the shared prefix. Where every question starts from the prefix
    anew, a breakpoint at the question would be written each time and never read.
    """
    ends = [index for index, message in enumerate(messages) if message.breakpoint]
    if ends and sum(message.role == "user" for message in messages[ends[-1] + 1 :]) > 1:
        ends.append(len(messages) - 1)
    return ends[-_MOST_BREAKPOINTS:]


def _turn(message: Message, *, marked: bool) -> bytes:
    """One message as JSON; `marked` makes its end a cache breakpoint."""
    content = message.content_json
    if marked:
        content = b'[{"type":"text","text":%s,"cache_control":{"type":"ephemeral"}}]' % content
    return b'{"role":"%s","content":%s}' % (message.role.encode(), content)


def _usage(stated: object) -> Usage | None:
    """Anthropic counts cached tokens beside the input, we count them inside it.

    None where that isn't in Anthropic's form, for the reply is paid for all the same.
    """
    from anthropic.types import Usage as AnthropicUsage

    if not isinstance(stated, AnthropicUsage):
        return None

    def count(part: object, name: str) -> int:
        return as_count(getattr(part, name, None))

    cached, written = count(stated, "cache_read_input_tokens"), count(stated, "cache_creation_input_tokens")
    return Usage(
        input=count(stated, "input_tokens") + cached + written,
        cached=cached,
        cache_write=written,
        output=count(stated, "output_tokens"),
        reasoning=count(getattr(stated, "output_tokens_details", None), "thinking_tokens"),
    )
