"""Anthropic's models."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import PermanentError, TransientError
from genaipa.systems.base import (
    EFFORTS,
    NEVER_REFUSED,
    UNDONE,
    BatchState,
    Citation,
    Finish,
    Reply,
    Usage,
    mark_submission_errors_unclear,
    strip_max_length_and_items,
    token_limit_with_thoughts,
    unsupported_schema_error,
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
from genaipa.systems.endpoint import STATUS_BY_WORD, Endpoint, extract_error_message, parse_token_count_or_zero
from genaipa.systems.provider import Provider
from genaipa.systems.streams import StreamedAnswer, append_or_replace_field

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence

    from genaipa.systems.base import Message, Readiness, Settings

_FINISH: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_MAX_TOKENS = 4096
"""Default reply length, required by the protocol, beside room for thoughts; every model allows it."""
_THOUGHTS_UNASKED = "high"
"""Effort of models that think though no level is asked for, by Anthropic's documentation; `medium` for some."""
_MOST_BREAKPOINTS = 4
_SWITCHES = ("disabled", "between_tools")
"""Types of thinking that turn it off; of the models that refuse the first, some take the second."""


_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Type of a delta → its field, and the block's."""


class StreamedMessage(StreamedAnswer):
    """A message of which events come: its head, its blocks with their deltas, its end."""

    def add_event(self, event: Any) -> None:
        """Add an event to the message, or to the block that it names."""
        fields = event if isinstance(event, dict) else {}
        kind, content = fields.get("type"), self.answer.setdefault("content", [])
        if kind == "message_start":
            self.answer |= inner_object_or_empty(fields, "message") | {"content": content}
        elif kind == "content_block_start":
            content.append(dict(inner_object_or_empty(fields, "content_block")))
            self._note_piece_length_and_time(content[-1])
        elif kind == "content_block_delta" and content:
            delta, index = inner_object_or_empty(fields, "delta"), fields.get("index")
            block = content[index if type(index) is int and 0 <= index < len(content) else -1]
            if name := _PIECES.get(str(delta.get("type"))):
                append_or_replace_field(block, name, delta.get(name))
                self._note_piece_length_and_time({name: delta.get(name)})
            elif delta.get("type") == "citations_delta":
                append_or_replace_field(block, "citations", [delta.get("citation")])
        elif kind == "message_delta":
            usage = inner_object_or_empty(self.answer, "usage") | inner_object_or_empty(fields, "usage")
            self.answer |= inner_object_or_empty(fields, "delta") | {"usage": usage}
            self.is_complete = bool(self.answer.get("stop_reason"))

    def _note_piece_length_and_time(self, piece: dict[str, Any]) -> None:
        """Note a piece of text, or of thoughts, which may be nothing but a signature or a secret."""
        self.note_text_length_and_time(piece.get("text"))
        for name in ("thinking", "signature", "data"):
            self.note_time_of_first_output(piece.get(name))


class AnthropicSystem(ChatSystem):
    """`anthropic/MODEL`."""

    provider: ClassVar[Provider] = Provider(
        name="anthropic",
        form="anthropic/MODEL",
        about="any Anthropic model",
        sdk="anthropic",
        extra="anthropic",
        packages=("anthropic",),
        keys=("ANTHROPIC_API_KEY",),
        address="ANTHROPIC_BASE_URL",
        default_address="https://api.anthropic.com",
        hosted=True,
        model_pattern="claude|anthropic",
        self_names="Claude, Sonnet, Opus, Haiku, Anthropic",
        efforts=tuple(effort for effort in EFFORTS if effort != "minimal"),
        cites=True,
        # Models after Opus 4.6 refuse a temperature; of an older one, its catalog entry says what it takes.
        accepts=frozenset({"max_tokens"}) | NEVER_REFUSED,
    )
    client = "AsyncAnthropic"
    path = "/v1/messages"
    fields: ClassVar[dict[str, str]] = {
        "max_tokens": "max_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "service_tier": "service_tier",
        "system_prompt": "system",
        "citations": "citations",
    }
    mark = b'"cache_control":{"type":"ephemeral"}'
    streamed = StreamedMessage
    takes_batches = True
    most_lines = 100_000
    most_bytes = MAX_BATCH_BYTES
    listing = ModelList(
        path="/v1/models",
        parameters={"limit": 1000},
        context=("max_input_tokens",),
        shutdown="retires_at",
        # A gateway without this route says 404 too, but not in Anthropic's form.
        unknown=lambda error: error.type == "not_found_error",
    )

    def __init__(self, *, name: str, model: str, accepts: frozenset[str]) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self._thinking_types: frozenset[str] = frozenset()
        self._longest_reply = 0

    def resolve_endpoint(self) -> Endpoint:
        """Drop the version from the address: the SDK adds it, but other tools want it in the variable."""
        endpoint = super().resolve_endpoint()
        return replace(endpoint, address=endpoint.address.removesuffix("/v1"))

    def _cache_breakpoint_positions(self, messages: Sequence[Message]) -> Iterable[int]:
        """Mark the shared prefixes, and the last message if the next turn will read it.

        A breakpoint at a question that no other request continues would be written and never read.
        """
        ends, goes_on = cache_prefix_ends_and_has_more_turns(messages)
        return [*ends, *([len(messages) - 1] if goes_on else [])][-_MOST_BREAKPOINTS:]

    def _parse_model_entry(self, entry: dict[str, Any]) -> Readiness:
        """Read the levels of effort and the ways of thinking, too; a gateway's entry may have neither."""
        readiness, capabilities = super()._parse_model_entry(entry), inner_object_or_empty(entry, "capabilities")
        self._longest_reply = parse_token_count_or_zero(entry.get("max_tokens"))
        self._thinking_types = _list_supported_capability_names(
            inner_object_or_empty(inner_object_or_empty(capabilities, "thinking"), "types")
        )
        if isinstance(cites := inner_object_or_empty(capabilities, "citations").get("supported"), bool):
            readiness = replace(readiness, cites=cites)
        if not (effort := inner_object_or_empty(capabilities, "effort")):
            return readiness
        levels = _list_supported_capability_names(effort) | (
            {"none"} if self._thinking_types.intersection(_SWITCHES) else set()
        )
        return replace(readiness, efforts=tuple(effort for effort in EFFORTS if effort in levels))

    def _request_fields_and_sent_settings(self, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
        """Translate the settings; a reply by a schema can't cite."""
        if settings.citations and settings.json_schema is not None:
            raise unsupported_schema_error(self.name, "a reply with citations has no schema")
        return super()._request_fields_and_sent_settings(settings)

    def _encode_citable_message(self, message: Message, cache_mark: bytes) -> bytes:
        """Encode a message with its document as a block of its own, which can be cited; or as it is without one."""
        if message.purpose != "part" or not message.carries.strip():
            return super()._encode_citable_message(message, cache_mark)
        before, document, after = message.content.partition(message.carries.strip())
        if not document:
            reason = "the prompt changes the document's words, so that it can't be cited; show `text` as it is."
            raise PermanentError(reason, fatal=True)
        blocks = [
            b'"type":"document","source":{"type":"text","media_type":"text/plain","data":%s},"citations":{"enabled":true}'
            % message.json_of_carried_text
        ]
        if words := "\n\n".join(filter(None, (before.strip(), after.strip()))):
            blocks.append(b'"type":"text","text":%s' % json.dumps(words).encode())
        blocks[-1] += b",%s" % cache_mark if cache_mark else b""
        content = b",".join(b"{%s}" % block for block in blocks)
        return b'{"role":"%s","content":[%s]}' % (message.role.encode(), content)

    def _list_required_sampling_options(self, settings: Settings) -> dict[str, Any]:
        """Return a limit of the reply; where the model may think, with room for it."""
        effort = settings.effort or (_THOUGHTS_UNASKED if "adaptive" in self._thinking_types else "none")
        limit = token_limit_with_thoughts(_MAX_TOKENS, effort)
        return {"max_tokens": min(limit, self._longest_reply or limit)}

    def _effort_fields(self, effort: str) -> dict[str, Any]:
        if effort == "none":
            switch = next((name for name in _SWITCHES if name in self._thinking_types), "disabled")
            return {"thinking": {"type": switch}}
        thinking = {"thinking": {"type": "adaptive"}} if "adaptive" in self._thinking_types else {}
        return {"output_config": {"effort": effort}} | thinking

    def _schema_fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        # Anthropic refuses a schema with bounds; its SDK would put them into words.
        return {"output_config": {"format": {"type": "json_schema", "schema": strip_max_length_and_items(schema)}}}

    def _is_quota_error(self, error: Any) -> bool:
        """Anthropic reports an account without credit as a bad request."""
        return "credit balance" in extract_error_message(error.body)

    def _parse_reply(self, body: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        content = body.get("content")
        if not isinstance(content, list):
            raise self._missing_reply_error(body)
        parts, remark = self._read_content_parts_and_remark(content)
        cited = [citation for block in content for citation in _read_citations(block)]
        finish_detail = str(body.get("stop_reason") or "")
        return Reply(
            text=parts.text,
            thoughts=parts.thoughts,
            remark=remark,
            citations=tuple(cited),
            finish=_FINISH.get(finish_detail, "stop"),
            usage=_read_usage(body.get("usage")),
            model=body.get("model"),
            sent=sent_settings,
            served={"service_tier": tier} if (tier := inner_object_or_empty(body, "usage").get("service_tier")) else {},
            finish_detail=finish_detail,
        )

    # -- batches --

    async def submit(self, named_requests: Sequence[tuple[str, bytes]], batch_mark: str) -> str:  # noqa: ARG002 - no place for it
        """Hand in a batch, once; its mark is in the names of its lines alone."""
        body = b",".join(b'{"custom_id":"%s","params":%s}' % (name.encode(), params) for name, params in named_requests)
        with mark_submission_errors_unclear(), self._translate_errors(BATCH_SECONDS):
            batch = await self._client.post(
                f"{self.path}/batches",
                cast_to=object,
                content=b'{"requests":[%s]}' % body,
                options={"headers": {"Content-Type": "application/json"}, "timeout": BATCH_SECONDS},
            )
            return str(batch["id"])

    async def status(self, batch_id: str) -> BatchState:
        """Look how far a batch is."""
        with self._translate_errors(BATCH_SECONDS):
            return _convert_sdk_batch_to_state(
                await self._client.messages.batches.retrieve(batch_id, timeout=BATCH_SECONDS)
            )

    async def list_batches_since(self, epoch_seconds: float) -> list[BatchState]:
        """List the account's batches, newest first at the provider, back to then."""
        batches: list[BatchState] = []
        with self._translate_errors(BATCH_SECONDS):
            async with asyncio.timeout(BATCH_SECONDS):
                async for batch in self._client.messages.batches.list(limit=1000, timeout=BATCH_SECONDS):
                    if batch.created_at.timestamp() < epoch_seconds or len(batches) >= MAX_LISTED_BATCHES:
                        break
                    batches.append(_convert_sdk_batch_to_state(batch))
        return batches

    async def results(self, state: BatchState) -> AsyncGenerator[bytes]:
        """Download the lines of an ended batch."""
        if not state.results:
            raise self._endpoint.protocol_error("no URL for the results of a batch")
        with self._translate_errors(BATCH_SECONDS):
            streaming = self._client.messages.batches.with_streaming_response
            async with streaming.results(state.id, timeout=BATCH_SECONDS) as body:
                async for line in split_nonblank_lines(body.iter_bytes()):
                    yield line

    def parse_result_line(self, result_line: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Read one line as a single call's answer is read; raises the same errors."""
        result = inner_object_or_empty(result_line, "result")
        if result.get("type") == "succeeded":
            return self._parse_reply_unless_error(inner_object_or_empty(result, "message"), sent_settings)
        body = inner_object_or_empty(result, "error")
        status = STATUS_BY_WORD.get(str(inner_object_or_empty(body, "error").get("type")))
        if result.get("type") != "errored" or status is None:
            message = (
                f"{self.name}: the batch ended without this answer ({result.get('type')}): "
                f"{extract_error_message(body)}"
            )
            raise TransientError(self._endpoint.redact_and_clip_to_one_line(message), kind=UNDONE)
        if "credit balance" in extract_error_message(body):
            raise self._endpoint.make_quota_used_up_error(status, body)
        raise self._endpoint.status_error(status, body, schema_requested=bool(sent_settings.get("json_schema")))

    async def cancel(self, batch_id: str) -> None:
        """Call a batch off; what was done is kept."""
        with self._translate_errors(BATCH_SECONDS):
            await self._client.messages.batches.cancel(batch_id, timeout=BATCH_SECONDS)

    async def delete_batch_data(self, state: BatchState) -> None:
        """Delete the batch."""
        with self._translate_errors(BATCH_SECONDS):
            await self._client.messages.batches.delete(state.id, timeout=BATCH_SECONDS)

    async def count_tokens(self, text: str) -> int | None:
        """Count with Anthropic's free call."""
        if self._client is None:
            return None
        try:
            counted = await self._client.messages.count_tokens(
                model=self.model, messages=[{"role": "user", "content": text}], timeout=self.look_up_seconds
            )
        except (self._sdk.APIError, ValueError):
            return None
        return parse_token_count_or_zero(getattr(counted, "input_tokens", None)) or None


def _read_citations(block: object) -> Iterator[Citation]:
    """Yield the citations of a block, whose offsets are of characters; of other places their text alone is of use."""
    listed = block.get("citations") if isinstance(block, dict) else None
    for fields in filter(lambda item: isinstance(item, dict), listed if isinstance(listed, list) else ()):
        text, document = fields.get("cited_text"), fields.get("document_index")
        offsets = [fields.get(name) for name in ("start_char_index", "end_char_index")]
        start, end = offsets if all(type(offset) is int for offset in offsets) else (None, None)
        words = text if isinstance(text, str) else ""
        yield Citation(words, document if type(document) is int else None, start, end)


def _list_supported_capability_names(capabilities: dict[str, Any]) -> frozenset[str]:
    return frozenset(
        name for name in capabilities if inner_object_or_empty(capabilities, name).get("supported") is True
    )


def _convert_sdk_batch_to_state(sdk_batch: Any) -> BatchState:
    """Read a batch, whose list shows no mark of ours."""
    counts = sdk_batch.request_counts
    done = counts.succeeded + counts.errored + counts.canceled + counts.expired
    return BatchState(
        id=str(sdk_batch.id),
        state=str(sdk_batch.processing_status),
        ended=sdk_batch.processing_status == "ended",
        cancelled=sdk_batch.cancel_initiated_at is not None,
        done=done,
        total=done + counts.processing,
        results=(str(sdk_batch.results_url),) if sdk_batch.results_url else (),
    )


def _read_usage(usage_fields: object) -> Usage | None:
    """Read the usage, with cached tokens inside the input; None for another form, as the reply is paid for."""
    if not isinstance(usage_fields, dict):
        return None
    cached = parse_token_count_or_zero(usage_fields.get("cache_read_input_tokens"))
    written = parse_token_count_or_zero(usage_fields.get("cache_creation_input_tokens"))
    return Usage(
        input=parse_token_count_or_zero(usage_fields.get("input_tokens")) + cached + written,
        cached=cached,
        cache_write=written,
        output=parse_token_count_or_zero(usage_fields.get("output_tokens")),
        reasoning=parse_token_count_or_zero(
            inner_object_or_empty(usage_fields, "output_tokens_details").get("thinking_tokens")
        ),
    )
