"""OpenAI's models, through its chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.systems.base import Finish, Reply, Usage
from genaipa.systems.chat import ChatSystem, Listing, part, prefix_ends
from genaipa.systems.endpoint import as_count, error_text
from genaipa.systems.provider import Provider
from genaipa.systems.tokens import tiktoken_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.systems.base import Message, Settings

_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_MOST_BREAKPOINTS = 3
"""Limit of explicit breakpoints in a request, beside the implicit one."""


class OpenAISystem(ChatSystem):
    """`openai/MODEL`. With `explicit_cache` the shared prefix is marked, as the newest models require."""

    provider: ClassVar[Provider] = Provider(
        name="openai",
        form="openai/MODEL",
        about="any model of OpenAI's",
        options=("explicit_cache",),
        sdk="openai",
        extra="openai",
        packages=("openai", "tiktoken"),
        keys=("OPENAI_API_KEY",),
        key_needed="elsewhere",
        address="OPENAI_BASE_URL",
        default_address="https://api.openai.com/v1",
        ends="/v1",
        hosted=True,
        betrayed_by=r"gpt|openai|davinci|codex|\bo[1-9]\b",
        known_as="ChatGPT, Chat GPT, GPT, InstructGPT, OpenAI, Open AI",
        counter=tiktoken_counter,
    )
    client = "AsyncOpenAI"
    path = "/chat/completions"
    fields: ClassVar[dict[str, str]] = {
        "temperature": "temperature",
        "seed": "seed",
        "max_tokens": "max_completion_tokens",
    }
    mark = b'"prompt_cache_breakpoint":{"mode":"explicit"}'
    sends_cache_key: ClassVar[bool] = True
    listing = Listing(
        path="/models",
        # OpenAI doesn't tell; vLLM, OpenRouter and Groq do.
        context=("max_model_len", "context_length", "context_window"),
        shutdown="shutdown_date",
        unknown=lambda error: error.code == "model_not_found" or "model" in error_text(error.body).lower(),
    )

    def __init__(self, *, name: str, model: str, accepts: frozenset[str], explicit_cache: bool = False) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self.explicit_cache = explicit_cache

    def _more_fields(self, messages: Sequence[Message], settings: Settings) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self.sends_cache_key and settings.cache_key is not None:
            fields["prompt_cache_key"] = settings.cache_key
        if self.explicit_cache:
            ends, goes_on = prefix_ends(messages)
            if ends and not goes_on:
                # Nothing after the document is shared: the implicit breakpoint would pay for a write on every question.
                fields["prompt_cache_options"] = {"mode": "explicit"}
        return fields

    def _marked(self, messages: Sequence[Message]) -> Iterable[int]:
        return prefix_ends(messages)[0][-_MOST_BREAKPOINTS:] if self.explicit_cache else ()

    def _structured(self, schema: dict[str, Any]) -> dict[str, Any]:
        form = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}

    def _out_of_quota(self, error: Any) -> bool:
        return "insufficient_quota" in (error.code, error.type)

    def _read(self, answer: dict[str, Any], sent: dict[str, Any]) -> Reply:
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            raise self._endpoint.malformed("an answer without a reply in it")
        finish_detail = str(choice.get("finish_reason") or "")
        finish = _FINISH.get(finish_detail, "stop")
        text = choice["message"].get("content") or ""
        refusal = choice["message"].get("refusal")
        if refusal:
            text, finish = text or refusal, "refusal"
        if not isinstance(text, str):
            raise self._endpoint.malformed("a reply that is not text")
        return Reply(
            text=text,
            finish=finish,
            usage=_usage(answer.get("usage")),
            model=answer.get("model"),
            sent=sent,
            finish_detail=finish_detail,
        )

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - the protocol's
        """None: `provider.counter` counts without a call."""
        return None


def _usage(stated: object) -> Usage | None:
    """Read the usage; None for another form, since the reply is paid for all the same."""
    if not isinstance(stated, dict):
        return None
    prompt = part(stated, "prompt_tokens_details")
    return Usage(
        input=as_count(stated.get("prompt_tokens")),
        cached=as_count(prompt.get("cached_tokens")),
        cache_write=as_count(prompt.get("cache_write_tokens")),
        output=as_count(stated.get("completion_tokens")),
        reasoning=as_count(part(stated, "completion_tokens_details").get("reasoning_tokens")),
    )
