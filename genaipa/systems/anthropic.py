"""Anthropic's models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.systems.base import Finish, Reply, Usage
from genaipa.systems.chat import ChatSystem, Listing, part, prefix_ends
from genaipa.systems.endpoint import LOOK_UP_SECONDS, Endpoint, as_count, error_text
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.systems.base import Message

_FINISH: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_MAX_TOKENS = 4096
"""Default reply length, required by the protocol; every model allows it."""
_MOST_BREAKPOINTS = 4


class AnthropicSystem(ChatSystem):
    """`anthropic/MODEL`."""

    provider: ClassVar[Provider] = Provider(
        name="anthropic",
        form="anthropic/MODEL",
        about="any model of Anthropic's",
        sdk="anthropic",
        extra="anthropic",
        packages=("anthropic",),
        keys=("ANTHROPIC_API_KEY",),
        address="ANTHROPIC_BASE_URL",
        default_address="https://api.anthropic.com",
        hosted=True,
        betrayed_by="claude|anthropic",
        known_as="Claude, Sonnet, Opus, Haiku, Anthropic",
    )
    client = "AsyncAnthropic"
    path = "/v1/messages"
    fields: ClassVar[dict[str, str]] = {"max_tokens": "max_tokens", "temperature": "temperature"}
    defaults: ClassVar[dict[str, Any]] = {"max_tokens": _MAX_TOKENS}
    mark = b'"cache_control":{"type":"ephemeral"}'
    listing = Listing(
        path="/v1/models",
        parameters={"limit": 1000},
        context=("max_input_tokens",),
        shutdown="retires_at",
        # A gateway without this route says 404 too, but not in Anthropic's form.
        unknown=lambda error: error.type == "not_found_error",
    )

    def find_endpoint(self) -> Endpoint:
        """Drop the version from the address: the SDK adds it, but other tools want it in the variable."""
        found = super().find_endpoint()
        return replace(found, address=found.address.removesuffix("/v1"))

    def _marked(self, messages: Sequence[Message]) -> Iterable[int]:
        """Mark the shared prefixes, and the last message if the next turn will read it.

        A breakpoint at a question that no other request continues would be written and never read.
        """
        ends, goes_on = prefix_ends(messages)
        return [*ends, *([len(messages) - 1] if goes_on else [])][-_MOST_BREAKPOINTS:]

    def _structured(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def _out_of_quota(self, error: Any) -> bool:
        """Anthropic reports an account without credit as a bad request."""
        return "credit balance" in error_text(error.body)

    def _read(self, answer: dict[str, Any], sent: dict[str, Any]) -> Reply:
        content = answer.get("content")
        if not isinstance(content, list):
            raise self._endpoint.malformed("an answer without a reply in it")
        texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
        finish_detail = str(answer.get("stop_reason") or "")
        return Reply(
            text="".join(text for text in texts if isinstance(text, str)),
            finish=_FINISH.get(finish_detail, "stop"),
            usage=_usage(answer.get("usage")),
            model=answer.get("model"),
            sent=sent,
            finish_detail=finish_detail,
        )

    async def count_tokens(self, text: str) -> int | None:
        """Count with Anthropic's free call."""
        if self._client is None:
            return None
        try:
            counted = await self._client.messages.count_tokens(
                model=self.model, messages=[{"role": "user", "content": text}], timeout=LOOK_UP_SECONDS
            )
        except (self._sdk.APIError, ValueError):
            return None
        return as_count(getattr(counted, "input_tokens", None)) or None


def _usage(stated: object) -> Usage | None:
    """Read the usage, with cached tokens inside the input; None for another form, as the reply is paid for."""
    if not isinstance(stated, dict):
        return None
    cached = as_count(stated.get("cache_read_input_tokens"))
    written = as_count(stated.get("cache_creation_input_tokens"))
    return Usage(
        input=as_count(stated.get("input_tokens")) + cached + written,
        cached=cached,
        cache_write=written,
        output=as_count(stated.get("output_tokens")),
        reasoning=as_count(part(stated, "output_tokens_details").get("thinking_tokens")),
    )
