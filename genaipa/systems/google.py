"""Google's Gemini models."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
import tempfile
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NoReplyError, NotReadyError, PermanentError, TransientError
from genaipa.systems.base import (
    EFFORTS,
    UNDONE,
    BatchState,
    Finish,
    Readiness,
    Reply,
    Settings,
    Usage,
    mark_submission_errors_unclear,
    strip_max_length_and_items,
)
from genaipa.systems.chat import (
    BATCH_SECONDS,
    MAX_BATCH_BYTES,
    MAX_LINE_BYTES,
    MAX_LISTED_BATCHES,
    HostedSystem,
    inner_object_or_empty,
)
from genaipa.systems.endpoint import UNREADABLE, extract_error_message, parse_token_count_or_zero, read_retry_delay
from genaipa.systems.provider import Provider
from genaipa.systems.streams import StreamedAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence

    import httpx2
    from google.genai import errors, types

    from genaipa.systems.base import Message

_ROLES = {"user": "user", "assistant": "model"}
_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"})
_FINISH: dict[str, Finish] = {"MAX_TOKENS": "length", **dict.fromkeys(_REFUSALS, "refusal")}
# Raised inside the SDK by an answer of unexpected shape.
_STUMBLES = (ValueError, TypeError, AttributeError, KeyError, RecursionError)
_STATUSES = {1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""HTTP statuses of the codes by which batches tell errors."""
_UNDONE = frozenset({499, 504})
"""Statuses of lines that were called off, or whose time was over."""
_ENDED = frozenset({"succeeded", "partially_succeeded", "failed", "cancelled", "expired"})
_BUDGETED = "gemini-2.5"
"""Beginning of the names of models that take a budget of thoughts in place of a level."""
_BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
"""Level of effort → tokens, as Google translates them for OpenAI's protocol."""
_ABOUT_BATCHES = Settings(timeout=BATCH_SECONDS)


class StreamedContent(StreamedAnswer):
    """A reply of which chunks come, each in the form of a whole answer."""

    def add_event(self, event: Any) -> None:
        """Add a chunk: its parts follow those that came before."""
        chunk = event if isinstance(event, dict) else {}
        self.answer |= {name: value for name, value in chunk.items() if name != "candidates"}
        candidates = chunk.get("candidates")
        piece = candidates[0] if isinstance(candidates, list) and candidates else None
        if isinstance(piece, dict):
            (candidate,) = self.answer.setdefault("candidates", [{"content": {"parts": []}}])
            candidate |= {name: value for name, value in piece.items() if name != "content"}
            for part in inner_object_or_empty(piece, "content").get("parts") or []:
                candidate["content"]["parts"].append(part)
                self.note_time_of_first_output(part.get("text") or part.get("thoughtSignature"))
                self.note_text_length_and_time(part.get("text") if part.get("thought") is not True else "")
            self.is_complete = self.is_complete or bool(piece.get("finishReason"))
        self.is_complete = self.is_complete or bool(inner_object_or_empty(chunk, "promptFeedback").get("blockReason"))


class GoogleSystem(HostedSystem):
    """`google/MODEL`."""

    provider: ClassVar[Provider] = Provider(
        name="google",
        form="google/MODEL",
        about="any Google model",
        sdk="google.genai",
        extra="google",
        packages=("google-genai",),
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        address="GOOGLE_GEMINI_BASE_URL",
        default_address="https://generativelanguage.googleapis.com",
        hosted=True,
        model_pattern=r"gemini|gemma|\bbard\b|google|\bpalm\b|lamda",
        self_names="Gemini, Gemma, Bard, Google Bard, PaLM, LaMDA, Google AI, Google DeepMind, DeepMind, Google",
        efforts=tuple(effort for effort in EFFORTS if effort != "max"),
    )
    fields: ClassVar[dict[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "seed": "seed",
        "max_tokens": "max_output_tokens",
        "service_tier": "service_tier",
        "system_prompt": "system_instruction",
    }
    takes_batches = True
    cached_in_batches = 1.0
    most_lines = 100_000
    most_bytes = MAX_BATCH_BYTES

    _transport: httpx2.AsyncClient

    def _set_sdk_client(self) -> None:
        from google import genai

        from genaipa.files.certificates import ssl_context

        # Of a reply's finish that it doesn't know yet, the SDK warns whoever looks at the terminal.
        warnings.filterwarnings("ignore", r".* is not a valid \w+$", module=r"google\.genai")
        # With an aiohttp session of its own making the SDK would wait up to ten seconds and ask again without a word.
        self._transport = self._make_http_client()
        # For clients of its own, which we don't use, the SDK would find out three times whom to trust.
        verify = ssl_context()
        options = genai.types.HttpOptions(
            base_url=self._endpoint.address,
            httpx_async_client=self._transport,
            client_args={"verify": verify},
            async_client_args={"verify": verify, "ssl": verify},
        )
        self._client = genai.Client(vertexai=False, api_key=self._endpoint.key, http_options=options)

    async def _fetch_models_or_failure_reason(self) -> dict[str, dict[str, Any]] | str:
        import httpx2
        from google.genai import errors

        options: Any = {"page_size": 1000, "http_options": {"timeout": int(self.look_up_seconds * 1000)}}
        try:
            listed = (await self._client.aio.models.list(config=options)).page
        except httpx2.TransportError as error:
            raise self._endpoint.unreachable_error(error or type(error).__name__) from None
        except errors.APIError as error:
            if error.code == 401 or _is_api_key_invalid(error):  # noqa: PLR2004 - Unauthorized
                raise self._endpoint.setup_authentication_error(error.code, error.details) from None
            if elsewhere := self._endpoint.redirect_error(error.code, _redirect_location(error)):
                raise elsewhere from None
            return self._endpoint.model_list_failure_unless_unsupported(error.code, error.details)
        except (httpx2.DecodingError, *_STUMBLES):
            return UNREADABLE
        return {(entry.name or "").removeprefix("models/"): entry.model_dump() for entry in listed}

    async def _fetch_unlisted_model_or_raise_unknown(self, listed_models: Iterable[str]) -> dict[str, Any] | None:
        import httpx2
        from google.genai import errors

        options: Any = {"http_options": {"timeout": int(self.look_up_seconds * 1000)}}
        try:
            entry: dict[str, Any] = (await self._client.aio.models.get(model=self.model, config=options)).model_dump()
        except errors.APIError as error:
            if error.status == "NOT_FOUND":
                raise self._endpoint.unknown_model_error(self.model, listed_models) from None
            return None
        except (httpx2.HTTPError, *_STUMBLES):
            return None
        return entry

    def _parse_model_entry(self, entry: dict[str, Any]) -> Readiness:
        efforts: tuple[str, ...] | None = () if entry.get("thinking") is False else None
        if efforts is None and self.model.startswith(_BUDGETED):
            efforts = tuple(effort for effort in _BUDGETS if effort != "none" or "-pro" not in self.model)
        return Readiness(context=parse_token_count_or_zero(entry.get("input_token_limit")) or None, efforts=efforts)

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Ask once, by generateContent.

        The conversation goes into the SDK's `extra_body`, which replaces `contents`: given as its own types, the SDK
        would validate, walk and copy the whole document again for every question.
        """
        if self._client is None:
            raise NotReadyError(f"{self.name} was asked before it was started.")
        config, sent = self._request_config_and_sent_settings(messages, settings)
        if settings.stream:
            return await self._stream_reply(config, sent, settings)
        with self._translate_errors(settings):
            async with asyncio.timeout(settings.timeout):
                answer = await self._client.aio.models.generate_content(model=self.model, contents="-", config=config)
            return self._parse_reply_unless_error(answer.sdk_http_response, sent)

    async def _stream_reply(
        self, config: types.GenerateContentConfig, sent_settings: dict[str, Any], settings: Settings
    ) -> Reply:
        """Reply in pieces, by streamGenerateContent, of which the SDK passes on its own types alone."""
        streamed, plain = StreamedContent(), config.model_copy(update={"should_return_http_response": None})
        with self._translate_errors(settings):
            async with asyncio.timeout(settings.timeout):
                chunks = await self._client.aio.models.generate_content_stream(
                    model=self.model, contents="-", config=plain
                )
                async for chunk in chunks:
                    streamed.time_and_add_event(chunk.model_dump(mode="json", by_alias=True, exclude_none=True))
        if not streamed.is_complete:
            raise self._endpoint.connection_error("the stream ended before the reply did")
        return streamed.add_first_output_times_to_reply(self._parse_reply(streamed.answer, sent_settings))

    def _parse_reply_unless_error(self, response: types.HttpResponse, sent_settings: dict[str, Any]) -> Reply:
        """Read an answer, unless it is an error, whatever its status."""
        try:
            answer = json.loads((response.body or "").lstrip("\ufeff"))
        except (ValueError, RecursionError):
            raise self._endpoint.protocol_error("an answer that is not JSON", response.body) from None
        wait = _retry_delay_seconds(response.headers or {}, answer)
        headers = {} if wait is None else {"retry-after": str(wait)}
        if "API key not valid" in extract_error_message(inner_object_or_empty(answer, "error")):
            raise self._endpoint.make_authentication_error(_STATUSES[16], answer)
        if error := self._endpoint.find_stated_error(
            answer, headers, schema_requested=bool(sent_settings.get("json_schema"))
        ):
            raise error
        return self._parse_reply(answer if isinstance(answer, dict) else {}, sent_settings)

    def _effort_fields(self, effort: str) -> dict[str, Any]:
        """Translate to a level, which models from Gemini 3 on take, or to a budget."""
        if effort in _BUDGETS and (effort == "none" or self.model.startswith(_BUDGETED)):
            return {"thinking_config": {"thinking_budget": _BUDGETS[effort]}}
        return {"thinking_config": {"thinking_level": effort.upper()}}

    def _schema_fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        # Gemini has no maxLength, and refuses a schema with several maxItems for its many states.
        return {"response_mime_type": "application/json", "response_json_schema": strip_max_length_and_items(schema)}

    def _request_config_and_sent_settings(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[types.GenerateContentConfig, dict[str, Any]]:
        """Make the SDK's configuration; also the settings as sent."""
        from google.genai import types

        options, sent = self._request_fields_and_sent_settings(settings)
        contents = [{"role": _ROLES[message.role], "parts": [{"text": message.content}]} for message in messages]
        config = types.GenerateContentConfig(
            **options,
            # As it came: the SDK's types lose what they don't know, errors and a reply's odd fields among it.
            should_return_http_response=True,
            # Each of these two may make further calls that nobody sees or counts.
            automatic_continuation=False,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            http_options=types.HttpOptions(
                timeout=max(1, int(settings.timeout * 1000)), extra_body={"contents": contents}
            ),
        )
        return config, sent

    @contextlib.contextmanager
    def _translate_errors(self, settings: Settings) -> Iterator[None]:
        """Translate Google's errors, and its transport's, which the SDK passes on."""
        import httpx2
        from google.genai import errors

        try:
            yield
        except (TimeoutError, httpx2.TimeoutException):
            raise self._endpoint.timeout_error(settings.timeout) from None
        except httpx2.DecodingError as error:
            raise self._endpoint.protocol_error(str(error)) from None
        except httpx2.TransportError as error:
            raise self._endpoint.connection_error(str(error) or type(error).__name__) from None
        except errors.APIError as error:
            raise self._translate_error(error, settings) from None
        except (httpx2.HTTPError, *_STUMBLES):
            raise self._endpoint.protocol_error("an answer that can't be read") from None

    def _translate_error(self, error: errors.APIError, settings: Settings) -> NoReplyError:
        if _is_api_key_invalid(error):
            return self._endpoint.make_authentication_error(error.code, error.details)
        structured = settings.json_schema is not None
        return self._endpoint.status_error(
            error.code,
            error.details,
            _retry_delay_seconds(getattr(error.response, "headers", None) or {}, error.details),
            schema_requested=structured,
            redirect_location=_redirect_location(error),
        )

    def _parse_reply(self, body: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        blocked = _enum_text(inner_object_or_empty(body, "promptFeedback").get("blockReason"))
        candidates = body.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict) and not blocked:
            raise self._endpoint.protocol_error("an answer that contains no reply", body)
        finish_detail = _enum_text(candidate.get("finishReason")) if isinstance(candidate, dict) else blocked
        finish: Finish = _FINISH.get(finish_detail, "stop") if isinstance(candidate, dict) else "refusal"
        pieces = inner_object_or_empty(candidate, "content").get("parts")
        texts = [
            (piece.get("thought") is True, piece["text"])
            for piece in (pieces if isinstance(pieces, list) else [pieces])
            if isinstance(piece, dict) and isinstance(piece.get("text"), str)
        ]
        tier = inner_object_or_empty(body, "usageMetadata").get("serviceTier")
        return Reply(
            text="".join(text for thought, text in texts if not thought),
            thoughts="".join(text for thought, text in texts if thought),
            finish=finish,
            usage=_read_usage(body.get("usageMetadata")),
            model=body.get("modelVersion"),
            sent=sent_settings,
            served={"service_tier": tier} if tier else {},
            finish_detail=finish_detail,
        )

    # -- batches: their lines in a file, since the SDK can't read all errors that inlined ones may end with --

    def encode_batch_request_and_sent_settings(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[bytes, dict[str, Any]]:
        """Encode the request as `reply` would send it; also the settings as sent."""
        options, sent = self._request_fields_and_sent_settings(settings)
        tier, system = options.pop("service_tier", None), options.pop("system_instruction", None)
        # Beside the configuration, where the SDK, too, puts them.
        beside = {"serviceTier": tier} if tier is not None else {}
        beside |= {"systemInstruction": {"role": "user", "parts": [{"text": system}]}} if system is not None else {}
        # What is inside a field stays as it is: so does the SDK, and Google reads both ways of writing.
        fields = {_to_camel_case(name): value for name, value in options.items()}
        turns = b",".join(
            b'{"role":"%s","parts":[{"text":%s}]}' % (_ROLES[message.role].encode(), message.content_json)
            for message in messages
        )
        head = json.dumps(beside | {"generationConfig": fields}).encode()
        return b'%s,"contents":[%s]}' % (head[:-1], turns), sent

    async def submit(self, named_requests: Sequence[tuple[str, bytes]], batch_mark: str) -> str:
        """Hand in a batch: its file first, which is nothing yet, then the batch itself, once."""
        content = b"".join(b'{"key":"%s","request":%s}\n' % (name.encode(), body) for name, body in named_requests)
        upload: Any = {
            "name": _batch_file_name(batch_mark),
            "mime_type": "application/jsonl",
        } | _sdk_config_with_batch_timeout()
        with self._translate_errors(_ABOUT_BATCHES):
            file = await self._client.aio.files.upload(file=io.BytesIO(content), config=upload)
            name = str(file.name)
        with mark_submission_errors_unclear(), self._translate_errors(_ABOUT_BATCHES):
            options = {"display_name": batch_mark} | _sdk_config_with_batch_timeout()
            batch = await self._client.aio.batches.create(model=self.model, src=name, config=options)
            return str(batch.name)

    async def status(self, batch_id: str) -> BatchState:
        """Look how far a batch is."""
        with self._translate_errors(_ABOUT_BATCHES):
            state = _convert_sdk_batch_to_state(
                await self._client.aio.batches.get(name=batch_id, config=_sdk_config_with_batch_timeout())
            )
        return replace(state, failure=await self._fetch_batch_failure(batch_id)) if state.state == "failed" else state

    async def _fetch_batch_failure(self, batch_id: str) -> NoReplyError:
        """Fetch why a batch failed, which the SDK leaves out of the answer."""
        with self._translate_errors(_ABOUT_BATCHES):
            answer = await self._transport.get(
                f"{self._endpoint.address}/v1beta/{batch_id}",
                headers={"x-goog-api-key": self._endpoint.key or ""},
                timeout=BATCH_SECONDS,
            )
            error = inner_object_or_empty(answer.raise_for_status().json(), "error")
        line_error = self._result_line_error(error, {})
        message = self._endpoint.redact_and_clip_to_one_line(
            f"{self.name}: a batch failed: {extract_error_message(error)}"
        )
        if isinstance(line_error, TransientError):
            return TransientError(message, kind=line_error.kind, overload=line_error.overload)
        return PermanentError(message, kind=line_error.kind, fatal=True)

    async def list_batches_since(self, epoch_seconds: float) -> list[BatchState]:
        """List the account's batches made since then; nobody promises their order."""
        batches: list[BatchState] = []
        with self._translate_errors(_ABOUT_BATCHES):
            async with asyncio.timeout(BATCH_SECONDS):
                async for batch in await self._client.aio.batches.list(
                    config={"page_size": 100} | _sdk_config_with_batch_timeout()
                ):
                    if batch.create_time is None or batch.create_time.timestamp() >= epoch_seconds:
                        batches.append(_convert_sdk_batch_to_state(batch))
                    if len(batches) >= MAX_LISTED_BATCHES:
                        break
        return batches

    async def results(self, state: BatchState) -> AsyncGenerator[bytes]:
        """Download the lines of an ended batch; there are none if it expired."""
        for name in state.results:
            with tempfile.TemporaryFile() as file:
                with self._translate_errors(_ABOUT_BATCHES):
                    # By its name alone: it is too long for `files.get`, which refuses it.
                    await self._client.aio.files.download(
                        file=name, destination=file, config=_sdk_config_with_batch_timeout()
                    )
                file.seek(0)
                while line := file.readline(MAX_LINE_BYTES + 1):
                    if len(line) > MAX_LINE_BYTES:
                        raise self._endpoint.protocol_error("a batch answer that is too long")
                    yield line.rstrip()

    def parse_result_line(self, result_line: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Read one line as `reply` reads an answer."""
        if response := inner_object_or_empty(result_line, "response"):
            with self._translate_errors(_ABOUT_BATCHES):
                return self._parse_reply(response, sent_settings)
        raise self._result_line_error(
            inner_object_or_empty(result_line, "error") or inner_object_or_empty(result_line, "status"), sent_settings
        )

    def _result_line_error(self, error_fields: dict[str, Any], sent_settings: dict[str, Any]) -> NoReplyError:
        """Return the error of a line, or of a whole batch."""
        code = error_fields.get("code")
        status = _STATUSES.get(code, code) if type(code) is int else None
        if status is None or status < 100 or status in _UNDONE:  # noqa: PLR2004 - no HTTP status
            message = f"{self.name}: the batch ended without this answer: {extract_error_message(error_fields)}"
            return TransientError(self._endpoint.redact_and_clip_to_one_line(message), kind=UNDONE)
        if "API key not valid" in extract_error_message(error_fields):
            return self._endpoint.make_authentication_error(status, error_fields)
        return self._endpoint.status_error(
            status, error_fields, schema_requested=bool(sent_settings.get("json_schema"))
        )

    async def cancel(self, batch_id: str) -> None:
        """Call a batch off; what was done is kept."""
        with self._translate_errors(_ABOUT_BATCHES):
            await self._client.aio.batches.cancel(name=batch_id, config=_sdk_config_with_batch_timeout())

    async def delete_batch_data(self, state: BatchState) -> None:
        """Delete the batch and its files; one that was deleted, or whose name is too long to delete it by, stays."""
        deletions = [(self._client.aio.files, name) for name in state.files]
        for client, name in [*deletions, (self._client.aio.batches, state.id)]:
            with contextlib.suppress(NoReplyError), self._translate_errors(_ABOUT_BATCHES):
                await client.delete(name=name, config=_sdk_config_with_batch_timeout())

    async def count_tokens(self, text: str) -> int | None:
        """Count with Google's free call."""
        import httpx2
        from google.genai import errors

        if self._client is None:
            return None
        options: Any = {"http_options": {"timeout": int(self.look_up_seconds * 1000)}}
        try:
            counted = await self._client.aio.models.count_tokens(model=self.model, contents=text, config=options)
        except (errors.APIError, httpx2.HTTPError, *_STUMBLES):
            return None
        return parse_token_count_or_zero(counted.total_tokens) or None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aio.aclose()
            self._client.close()
            await self._transport.aclose()
            self._client = None


def _to_camel_case(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def _sdk_config_with_batch_timeout() -> dict[str, Any]:
    """Return the options with the time limit of a call about a batch."""
    return {"http_options": {"timeout": int(BATCH_SECONDS * 1000)}}


def _batch_file_name(batch_mark: str) -> str:
    """Return the name of the file of a batch's lines, which the mark alone gives."""
    return f"files/genaipa-{batch_mark}"


def _convert_sdk_batch_to_state(sdk_batch: types.BatchJob) -> BatchState:
    """Read a batch, without counts: the SDK gives none."""
    state = _enum_text(sdk_batch.state).rpartition("_STATE_")[2].lower()
    mark = sdk_batch.display_name or ""
    results = (sdk_batch.dest.file_name,) if sdk_batch.dest is not None and sdk_batch.dest.file_name else ()
    return BatchState(
        id=str(sdk_batch.name),
        state=state,
        ended=state in _ENDED,
        cancelled=state == "cancelled",
        mark=mark,
        files=(_batch_file_name(mark), *results),
        results=results,
    )


def _enum_text(value: Any) -> str:
    """Return the value of an enumeration, also one unknown to the SDK."""
    return str(getattr(value, "value", value) or "")


def _error_details(body: Any) -> list[dict[str, Any]]:
    inner: Any = body.get("error", body) if isinstance(body, dict) else {}
    details: Any = inner.get("details") if isinstance(inner, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _is_api_key_invalid(error: errors.APIError) -> bool:
    """Tell whether the key is wrong, which Google reports as a bad request."""
    reasons = {detail.get("reason") for detail in _error_details(error.details)}
    return "API_KEY_INVALID" in reasons or "API key not valid" in extract_error_message(error.details)


def _redirect_location(error: errors.APIError) -> str | None:
    """Find the address that a redirect leads to."""
    headers: Mapping[str, str] = getattr(error.response, "headers", None) or {}
    return headers.get("location")


def _retry_delay_seconds(headers: Mapping[str, str], body: object) -> float | None:
    """Return the seconds to wait, from the headers or from `RetryInfo` ("17.5s") in the details."""
    seconds = read_retry_delay(headers)
    if seconds is not None:
        return seconds
    for detail in _error_details(body):
        if str(detail.get("@type", "")).endswith("RetryInfo"):
            with contextlib.suppress(ValueError):
                return float(str(detail.get("retryDelay", "")).removesuffix("s"))
    return None


def _read_usage(usage_fields: object) -> Usage | None:
    """Read the usage; None for another form, since the reply is paid for all the same."""
    if not isinstance(usage_fields, dict):
        return None
    reasoning = parse_token_count_or_zero(usage_fields.get("thoughtsTokenCount"))
    return Usage(
        input=parse_token_count_or_zero(usage_fields.get("promptTokenCount")),
        cached=parse_token_count_or_zero(usage_fields.get("cachedContentTokenCount")),
        output=parse_token_count_or_zero(usage_fields.get("candidatesTokenCount")) + reasoning,
        reasoning=reasoning,
    )
