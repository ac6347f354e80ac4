"""OpenAI's models, through its chat completions, and models behind any server that speaks its protocol."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import PermanentError, TransientError
from genaipa.systems.base import (
    EFFORTS,
    UNDONE,
    BatchState,
    Finish,
    Reply,
    Usage,
    find_passages_and_remark,
    mark_submission_errors_unclear,
    strip_max_length_and_items,
)
from genaipa.systems.chat import (
    BATCH_SECONDS,
    MAX_BATCH_BYTES,
    MAX_LISTED_BATCHES,
    ChatSystem,
    ModelList,
    cache_prefix_ends_and_has_more_turns,
    inner_object_or_empty,
    split_nonblank_lines,
)
from genaipa.systems.costs import make_tiktoken_counter_if_loadable
from genaipa.systems.endpoint import extract_error_message, parse_token_count_or_zero
from genaipa.systems.provider import Provider
from genaipa.systems.streams import StreamedAnswer, append_or_replace_field
from genaipa.systems.thoughts import extract_nested_text, join_distinct_thoughts, separate_text_and_thought_parts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message, Settings


_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Fields of thoughts beside the content: LiteLLM's and llama.cpp's; vLLM's, Ollama's and OpenRouter's; others'."""
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_UNDONE = frozenset({"batch_expired", "batch_cancelled"})
_TUNED = "ft:"
"""Beginning of the names of fine-tuned models."""
_MOST_BREAKPOINTS = 3
"""Limit of explicit breakpoints in a request, beside the implicit one."""


class StreamedCompletion(StreamedAnswer):
    """A completion of which chunks come; the last one has the usage alone."""

    def add_event(self, event: Any) -> None:
        """Add a chunk: the fields of its delta are pieces of the message's."""
        chunk = event if isinstance(event, dict) else {}
        choices = chunk.get("choices")
        self.answer |= {name: value for name, value in chunk.items() if name != "choices" and value is not None}
        piece = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(piece, dict):
            return
        (choice,) = self.answer.setdefault("choices", [{"message": {}}])
        choice |= {name: value for name, value in piece.items() if name != "delta" and value is not None}
        delta = inner_object_or_empty(piece, "delta")
        for name, value in delta.items():
            append_or_replace_field(choice["message"], name, value)
        for name in ("content", "refusal"):
            content = delta.get(name)
            self.note_text_length_and_time(
                separate_text_and_thought_parts(content).text if isinstance(content, list) else content
            )
            self.note_time_of_first_output(content)
        for name in _THOUGHTS:
            self.note_time_of_first_output(delta.get(name))
        self.is_complete = self.is_complete or bool(piece.get("finish_reason") or piece.get("error"))


class OpenAISystem(ChatSystem):
    """`openai/MODEL`. With `explicit_cache` the shared prefix is marked, as the newest models require."""

    provider: ClassVar[Provider] = Provider(
        name="openai",
        form="openai/MODEL",
        about="any OpenAI model",
        options=("explicit_cache",),
        sdk="openai",
        extra="openai",
        packages=("openai", "tiktoken"),
        keys=("OPENAI_API_KEY",),
        key_needed="elsewhere",
        address="OPENAI_BASE_URL",
        default_address="https://api.openai.com/v1",
        url_suffix="/v1",
        hosted=True,
        model_pattern=r"gpt|openai|davinci|codex|\bo[1-9]\b",
        self_names="ChatGPT, Chat GPT, GPT, InstructGPT, OpenAI, Open AI",
        counter=make_tiktoken_counter_if_loadable,
        efforts=EFFORTS,
    )
    client = "AsyncOpenAI"
    path = "/chat/completions"
    fields: ClassVar[dict[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "seed": "seed",
        "max_tokens": "max_completion_tokens",
        "service_tier": "service_tier",
        "system_prompt": "system_prompt",
    }
    refused_when_thinking = frozenset({"temperature", "top_p"})
    system_role: ClassVar[str] = "developer"
    mark = b'"prompt_cache_breakpoint":{"mode":"explicit"}'
    sends_cache_key: ClassVar[bool] = True
    streamed = StreamedCompletion
    stream_fields: ClassVar[dict[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}
    listing = ModelList(
        path="/models",
        # OpenAI doesn't tell; vLLM, OpenRouter, Groq, LiteLLM and llama.cpp do.
        context=("max_model_len", "context_length", "context_window", "max_input_tokens", "meta.n_ctx"),
        shutdown="shutdown_date",
        unknown=lambda error: error.code == "model_not_found" or "model" in extract_error_message(error.body).lower(),
    )

    takes_batches = True
    most_lines = 50_000
    most_bytes = MAX_BATCH_BYTES

    def __init__(self, *, name: str, model: str, accepts: frozenset[str], explicit_cache: bool = False) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self.explicit_cache = explicit_cache

    def _extra_request_fields(self, messages: Sequence[Message], settings: Settings) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self.sends_cache_key and settings.cache_key is not None:
            fields["prompt_cache_key"] = settings.cache_key
        if self.explicit_cache:
            ends, goes_on = cache_prefix_ends_and_has_more_turns(messages)
            if ends and not goes_on:
                # Nothing after the document is shared: the implicit breakpoint would pay for a write on every question.
                fields["prompt_cache_options"] = {"mode": "explicit"}
        return fields

    def _cache_breakpoint_positions(self, messages: Sequence[Message]) -> Iterable[int]:
        return cache_prefix_ends_and_has_more_turns(messages)[0][-_MOST_BREAKPOINTS:] if self.explicit_cache else ()

    def _effort_fields(self, effort: str) -> dict[str, Any]:
        return {"reasoning_effort": effort}

    def _schema_fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        # A fine-tuned model takes no bounds.
        sent_schema = strip_max_length_and_items(schema) if self.model.startswith(_TUNED) else schema
        form = {"name": "reply", "schema": sent_schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}

    def _is_quota_error(self, error: Any) -> bool:
        return "insufficient_quota" in (error.code, error.type)

    def _parse_reply(self, body: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if error := self._endpoint.find_stated_error(
            choice, {}, schema_requested=bool(sent_settings.get("json_schema"))
        ):
            raise error
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            raise self._missing_reply_error(body)
        finish_detail = str(choice.get("finish_reason") or "")
        finish = _FINISH.get(finish_detail, "stop")
        message = choice["message"]
        text, thoughts, remark = (
            message.get("content") or "",
            [extract_nested_text(message.get(name)) for name in _THOUGHTS],
            "",
        )
        if isinstance(text, list | dict):
            parts, remark = self._read_content_parts_and_remark(text if isinstance(text, list) else [text])
            text, thoughts = parts.text, [parts.thoughts, *thoughts]
        if refusal := message.get("refusal"):
            text, finish = text or refusal, "refusal"
        if not isinstance(text, str):
            raise self._endpoint.protocol_error("a reply that is not text", text)
        return Reply(
            text=text,
            thoughts=join_distinct_thoughts(*thoughts),
            remark=remark,
            finish=finish,
            usage=_read_usage(body.get("usage")),
            model=body.get("model"),
            sent=sent_settings,
            served={name: body[name] for name in ("system_fingerprint", "service_tier") if body.get(name)},
            finish_detail=finish_detail,
        )

    # -- batches --

    async def submit(self, named_requests: Sequence[tuple[str, bytes]], batch_mark: str) -> str:
        """Hand in a batch: its file first, which is nothing yet, then the batch itself, once."""
        content = b"".join(
            b'{"custom_id":"%s","method":"POST","url":"/v1%s","body":%s}\n' % (name.encode(), self.path.encode(), body)
            for name, body in named_requests
        )
        with self._translate_errors(BATCH_SECONDS):
            file = await self._client.files.create(
                file=(f"{batch_mark}.jsonl", content, "application/jsonl"), purpose="batch", timeout=BATCH_SECONDS
            )
            file_id = str(file.id)
        with mark_submission_errors_unclear(), self._translate_errors(BATCH_SECONDS):
            batch = await self._client.batches.create(
                input_file_id=file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"genaipa": batch_mark},
                timeout=BATCH_SECONDS,
            )
            return str(batch.id)

    async def status(self, batch_id: str) -> BatchState:
        """Look how far a batch is."""
        with self._translate_errors(BATCH_SECONDS):
            return self._convert_sdk_batch_to_state(
                await self._client.batches.retrieve(batch_id, timeout=BATCH_SECONDS)
            )

    async def list_batches_since(self, epoch_seconds: float) -> list[BatchState]:
        """List the account's batches, newest first at the provider, back to then."""
        batches: list[BatchState] = []
        with self._translate_errors(BATCH_SECONDS):
            async with asyncio.timeout(BATCH_SECONDS):
                async for batch in self._client.batches.list(limit=100, timeout=BATCH_SECONDS):
                    if batch.created_at < epoch_seconds or len(batches) >= MAX_LISTED_BATCHES:
                        break
                    batches.append(self._convert_sdk_batch_to_state(batch))
        return batches

    async def results(self, state: BatchState) -> AsyncGenerator[bytes]:
        """Download the lines that came and the lines that failed; either file may be missing."""
        for name in state.results:
            with self._translate_errors(BATCH_SECONDS):
                streaming = self._client.files.with_streaming_response
                async with streaming.content(name, timeout=BATCH_SECONDS) as file:
                    async for line in split_nonblank_lines(file.iter_bytes()):
                        yield line

    def parse_result_line(self, result_line: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Read one line as `reply` reads an answer."""
        response, error = inner_object_or_empty(result_line, "response"), inner_object_or_empty(result_line, "error")
        status, body = response.get("status_code"), response.get("body")
        if not error and type(status) is int and 200 <= status < 300:  # noqa: PLR2004 - success
            return self._parse_reply_unless_error(body, sent_settings)
        if error.get("code") in _UNDONE or type(status) is not int or status < 100:  # noqa: PLR2004 - no HTTP status
            message = f"{self.name}: the batch ended without this answer: {extract_error_message(error or body)}"
            raise TransientError(self._endpoint.redact_and_clip_to_one_line(message), kind=UNDONE)
        if "insufficient_quota" in (
            inner_object_or_empty(body, "error").get("code"),
            inner_object_or_empty(body, "error").get("type"),
        ):
            raise self._endpoint.make_quota_used_up_error(status, body)
        raise self._endpoint.status_error(
            status, body or error, schema_requested=bool(sent_settings.get("json_schema"))
        )

    async def cancel(self, batch_id: str) -> None:
        """Call a batch off; what was done is kept."""
        with self._translate_errors(BATCH_SECONDS):
            await self._client.batches.cancel(batch_id, timeout=BATCH_SECONDS)

    async def delete_batch_data(self, state: BatchState) -> None:
        """Delete the batch's files at the provider."""
        for name in state.files:
            with self._translate_errors(BATCH_SECONDS):
                await self._client.files.delete(name, timeout=BATCH_SECONDS)

    def _convert_sdk_batch_to_state(self, sdk_batch: Any) -> BatchState:
        results = tuple(name for name in (sdk_batch.output_file_id, sdk_batch.error_file_id) if name)
        counts = sdk_batch.request_counts
        return BatchState(
            id=str(sdk_batch.id),
            state=str(sdk_batch.status),
            ended=sdk_batch.status in _ENDED,
            cancelled=sdk_batch.status == "cancelled",
            done=counts.completed + counts.failed if counts else 0,
            mark=str((sdk_batch.metadata or {}).get("genaipa", "")),
            files=(*((sdk_batch.input_file_id,) if sdk_batch.input_file_id else ()), *results),
            results=results,
            failure=self._batch_failure(sdk_batch) if sdk_batch.status == "failed" else None,
        )

    def _batch_failure(self, sdk_batch: Any) -> NoReplyError:
        """Return why a batch failed before any of it was done; too many tokens in the queue shows only now."""
        errors = (sdk_batch.errors and sdk_batch.errors.data) or []
        reason = "; ".join(f"{error.code}: {error.message}" for error in errors[:3]) or "no reason given"
        message = self._endpoint.redact_and_clip_to_one_line(f"{self.name}: a batch failed: {reason}")
        codes = {error.code for error in errors}
        if "token_limit_exceeded" in codes:
            return TransientError(message, kind="rate-limit", overload=True)
        if "insufficient_quota" in codes or "billing" in reason:
            return PermanentError(message, kind="quota", fatal=True)
        return PermanentError(message, kind="bad-request", fatal=True)

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - the protocol's
        """Return None: `provider.counter` counts without a call."""
        return None


def _read_usage(usage_fields: object) -> Usage | None:
    """Read the usage; None for another form, since the reply is paid for all the same."""
    if not isinstance(usage_fields, dict):
        return None
    prompt = inner_object_or_empty(usage_fields, "prompt_tokens_details")
    return Usage(
        input=parse_token_count_or_zero(usage_fields.get("prompt_tokens")),
        cached=parse_token_count_or_zero(prompt.get("cached_tokens")),
        cache_write=parse_token_count_or_zero(prompt.get("cache_write_tokens")),
        output=parse_token_count_or_zero(usage_fields.get("completion_tokens")),
        reasoning=parse_token_count_or_zero(
            inner_object_or_empty(usage_fields, "completion_tokens_details").get("reasoning_tokens")
        ),
    )


class CompatibleSystem(OpenAISystem):
    """`openai-api/NAME/MODEL`: NAME is ours for the server, and part of its variables.

    Such servers may refuse a field that they don't know, so only what was asked for is sent.
    """

    provider: ClassVar[Provider] = Provider(
        name="openai-api",
        form="openai-api/NAME/MODEL",
        about="any server that speaks OpenAI's protocol: NAME_BASE_URL, NAME_API_KEY",
        options=("passages",),
        sdk="openai",
        extra="openai",
        keys=("{SERVER}_API_KEY",),
        key_needed="elsewhere",
        address="{SERVER}_BASE_URL",
        url_suffix="/v1",
        efforts=EFFORTS,
    )
    # The older name, understood by all of them.
    fields: ClassVar[dict[str, str]] = OpenAISystem.fields | {"max_tokens": "max_tokens"}
    # What a server refuses, only its operator knows; the newer role, too, few know.
    refused_when_thinking = frozenset()
    system_role = "system"
    sends_cache_key = False
    takes_batches = False

    def __init__(self, *, name: str, model: str, accepts: frozenset[str], passages: str = "") -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self.passages = passages

    def _parse_reply(self, body: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Take what the server retrieved, where the catalog says in which field."""
        reply = super()._parse_reply(body, sent_settings)
        if not self.passages:
            return reply
        passages, remark = find_passages_and_remark(body, self.passages)
        return replace(reply, passages=passages, remark=remark or reply.remark)

    def _content_type_and_session_headers(self, settings: Settings) -> dict[str, str]:
        """Name the document: routers in front of several servers send equal sessions to one, whose cache has it."""
        session = {} if settings.cache_key is None else {"X-Session-ID": settings.cache_key}
        return super()._content_type_and_session_headers(settings) | session
