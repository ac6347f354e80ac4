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
from genaipa.systems.base import UNDONE, BatchState, Finish, Readiness, Reply, Settings, Usage, unclear, without_bounds
from genaipa.systems.chat import BATCH_BYTES, BATCH_SECONDS, LARGEST_LINE, MOST_LISTED, HostedSystem, part
from genaipa.systems.endpoint import UNREADABLE, as_count, error_text, retry_after
from genaipa.systems.provider import Provider

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
_ABOUT_BATCHES = Settings(timeout=BATCH_SECONDS)


class GoogleSystem(HostedSystem):
    """`google/MODEL`."""

    provider: ClassVar[Provider] = Provider(
        name="google",
        form="google/MODEL",
        about="any model of Google's",
        sdk="google.genai",
        extra="google",
        packages=("google-genai",),
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        address="GOOGLE_GEMINI_BASE_URL",
        default_address="https://generativelanguage.googleapis.com",
        hosted=True,
        betrayed_by=r"gemini|gemma|\bbard\b|google|\bpalm\b|lamda",
        known_as="Gemini, Gemma, Bard, Google Bard, PaLM, LaMDA, Google AI, Google DeepMind, DeepMind, Google",
    )
    fields: ClassVar[dict[str, str]] = {"temperature": "temperature", "seed": "seed", "max_tokens": "max_output_tokens"}
    takes_batches = True
    cached_in_batches = 1.0
    most_lines = 100_000
    most_bytes = BATCH_BYTES

    _transport: httpx2.AsyncClient

    def _connect(self) -> None:
        from google import genai

        from genaipa.files.certificates import ssl_context

        # Of a reply's finish that it doesn't know yet, the SDK warns whoever looks at the terminal.
        warnings.filterwarnings("ignore", r".* is not a valid \w+$", module=r"google\.genai")
        # With an aiohttp session of its own making the SDK would wait up to ten seconds and ask again without a word.
        self._transport = self._connections()
        # For clients of its own, which we don't use, the SDK would find out three times whom to trust.
        verify = ssl_context()
        options = genai.types.HttpOptions(
            base_url=self._endpoint.address,
            httpx_async_client=self._transport,
            client_args={"verify": verify},
            async_client_args={"verify": verify, "ssl": verify},
        )
        self._client = genai.Client(vertexai=False, api_key=self._endpoint.key, http_options=options)

    async def _list_models(self) -> dict[str, dict[str, Any]] | str:
        import httpx2
        from google.genai import errors

        options: Any = {"page_size": 1000, "http_options": {"timeout": int(self.look_up_seconds * 1000)}}
        try:
            listed = (await self._client.aio.models.list(config=options)).page
        except httpx2.TransportError as error:
            raise self._endpoint.unreachable(error or type(error).__name__) from None
        except errors.APIError as error:
            if error.code == 401 or _key_invalid(error):  # noqa: PLR2004 - Unauthorized
                raise self._endpoint.unauthorised(error.code, error.details) from None
            if elsewhere := self._endpoint.redirected(error.code, _location(error)):
                raise elsewhere from None
            return self._endpoint.why_unlisted(error.code, error.details)
        except (httpx2.DecodingError, *_STUMBLES):
            return UNREADABLE
        return {(entry.name or "").removeprefix("models/"): entry.model_dump() for entry in listed}

    async def _retrieve_model(self, models: Iterable[str]) -> dict[str, Any] | None:
        import httpx2
        from google.genai import errors

        options: Any = {"http_options": {"timeout": int(self.look_up_seconds * 1000)}}
        try:
            found: dict[str, Any] = (await self._client.aio.models.get(model=self.model, config=options)).model_dump()
        except errors.APIError as error:
            if error.status == "NOT_FOUND":
                raise self._endpoint.unknown_model(self.model, models) from None
            return None
        except (httpx2.HTTPError, *_STUMBLES):
            return None
        return found

    def _read_entry(self, entry: dict[str, Any]) -> Readiness:
        return Readiness(context=as_count(entry.get("input_token_limit")) or None)

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """One generateContent.

        The conversation goes into the SDK's `extra_body`, which replaces `contents`: given as its own types, the SDK
        would validate, walk and copy the whole document again for every question.
        """
        if self._client is None:
            raise NotReadyError(f"{self.name} was asked before it was started.")
        config, sent = self._config(messages, settings)
        with self._translated(settings):
            async with asyncio.timeout(settings.timeout):
                answer = await self._client.aio.models.generate_content(model=self.model, contents="-", config=config)
            return self._read_answer(answer.sdk_http_response, sent)

    def _read_answer(self, response: types.HttpResponse, sent: dict[str, Any]) -> Reply:
        """Read an answer, unless it is an error, whatever its status."""
        try:
            answer = json.loads((response.body or "").lstrip("\ufeff"))
        except (ValueError, RecursionError):
            raise self._endpoint.malformed("an answer that is not JSON", response.body) from None
        wait = _wait(response.headers or {}, answer)
        headers = {} if wait is None else {"retry-after": str(wait)}
        if "API key not valid" in error_text(part(answer, "error")):
            raise self._endpoint.key_refused(_STATUSES[16], answer)
        if error := self._endpoint.find_error(answer, headers, structured=bool(sent.get("json_schema"))):
            raise error
        return self._read(answer if isinstance(answer, dict) else {}, sent)

    def _structured(self, schema: dict[str, Any]) -> dict[str, Any]:
        # Gemini has no maxLength, and refuses a schema with several maxItems for its many states.
        return {"response_mime_type": "application/json", "response_json_schema": without_bounds(schema)}

    def _config(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[types.GenerateContentConfig, dict[str, Any]]:
        """Make the SDK's configuration; also the settings as sent."""
        from google.genai import types

        options, sent = self._options(settings)
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
    def _translated(self, settings: Settings) -> Iterator[None]:
        """Translate Google's errors, and its transport's, which the SDK passes on."""
        import httpx2
        from google.genai import errors

        try:
            yield
        except (TimeoutError, httpx2.TimeoutException):
            raise self._endpoint.timed_out(settings.timeout) from None
        except httpx2.DecodingError as error:
            raise self._endpoint.malformed(str(error)) from None
        except httpx2.TransportError as error:
            raise self._endpoint.disconnected(str(error) or type(error).__name__) from None
        except errors.APIError as error:
            raise self._failure(error, settings) from None
        except (httpx2.HTTPError, *_STUMBLES):
            raise self._endpoint.malformed("an answer that can't be read") from None

    def _failure(self, error: errors.APIError, settings: Settings) -> NoReplyError:
        if _key_invalid(error):
            return self._endpoint.key_refused(error.code, error.details)
        structured = settings.json_schema is not None
        return self._endpoint.refused(
            error.code,
            error.details,
            _wait(getattr(error.response, "headers", None) or {}, error.details),
            structured=structured,
            location=_location(error),
        )

    def _read(self, answer: dict[str, Any], sent: dict[str, Any]) -> Reply:
        blocked = _word(part(answer, "promptFeedback").get("blockReason"))
        candidates = answer.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict) and not blocked:
            raise self._endpoint.malformed("an answer without a reply in it", answer)
        finish_detail = _word(candidate.get("finishReason")) if isinstance(candidate, dict) else blocked
        finish: Finish = _FINISH.get(finish_detail, "stop") if isinstance(candidate, dict) else "refusal"
        pieces = part(candidate, "content").get("parts")
        texts = [
            (piece.get("thought") is True, piece["text"])
            for piece in (pieces if isinstance(pieces, list) else [pieces])
            if isinstance(piece, dict) and isinstance(piece.get("text"), str)
        ]
        return Reply(
            text="".join(text for thought, text in texts if not thought),
            thoughts="".join(text for thought, text in texts if thought),
            finish=finish,
            usage=_usage(answer.get("usageMetadata")),
            model=answer.get("modelVersion"),
            sent=sent,
            finish_detail=finish_detail,
        )

    # -- batches: their lines in a file, since the SDK can't read all errors that inlined ones may end with --

    def line(self, messages: Sequence[Message], settings: Settings) -> tuple[bytes, dict[str, Any]]:
        """Encode the request as `reply` would send it; also the settings as sent."""
        options, sent = self._options(settings)
        fields = {_camel(name): value for name, value in options.items()}
        turns = b",".join(
            b'{"role":"%s","parts":[{"text":%s}]}' % (_ROLES[message.role].encode(), message.content_json)
            for message in messages
        )
        return b'{"contents":[%s],"generationConfig":%s}' % (turns, json.dumps(fields).encode()), sent

    async def submit(self, lines: Sequence[tuple[str, bytes]], mark: str) -> str:
        """Hand in a batch: its file first, which is nothing yet, then the batch itself, once."""
        content = b"".join(b'{"key":"%s","request":%s}\n' % (name.encode(), body) for name, body in lines)
        upload: Any = {"name": _file_of(mark), "mime_type": "application/jsonl"} | _limited()
        with self._translated(_ABOUT_BATCHES):
            file = await self._client.aio.files.upload(file=io.BytesIO(content), config=upload)
            name = str(file.name)
        with unclear(), self._translated(_ABOUT_BATCHES):
            options = {"display_name": mark} | _limited()
            batch = await self._client.aio.batches.create(model=self.model, src=name, config=options)
            return str(batch.name)

    async def status(self, batch: str) -> BatchState:
        """Look how far a batch is."""
        with self._translated(_ABOUT_BATCHES):
            state = _state(await self._client.aio.batches.get(name=batch, config=_limited()))
        return replace(state, failure=await self._whole_failure(batch)) if state.state == "failed" else state

    async def _whole_failure(self, batch: str) -> NoReplyError:
        """Why a batch failed, which the SDK leaves out of the answer."""
        with self._translated(_ABOUT_BATCHES):
            answer = await self._transport.get(
                f"{self._endpoint.address}/v1beta/{batch}",
                headers={"x-goog-api-key": self._endpoint.key or ""},
                timeout=BATCH_SECONDS,
            )
            error = part(answer.raise_for_status().json(), "error")
        found = self._refusal(error, {})
        said = self._endpoint.one_line(f"{self.name}: a batch failed: {error_text(error)}")
        if isinstance(found, TransientError):
            return TransientError(said, kind=found.kind, overload=found.overload)
        return PermanentError(said, kind=found.kind, fatal=True)

    async def list_since(self, since: float) -> list[BatchState]:
        """List the account's batches made since then; nobody promises their order."""
        found: list[BatchState] = []
        with self._translated(_ABOUT_BATCHES):
            async with asyncio.timeout(BATCH_SECONDS):
                async for batch in await self._client.aio.batches.list(config={"page_size": 100} | _limited()):
                    if batch.create_time is None or batch.create_time.timestamp() >= since:
                        found.append(_state(batch))
                    if len(found) >= MOST_LISTED:
                        break
        return found

    async def results(self, state: BatchState) -> AsyncGenerator[bytes]:
        """Download the lines of an ended batch; there are none if it expired."""
        for name in state.results:
            with tempfile.TemporaryFile() as file:
                with self._translated(_ABOUT_BATCHES):
                    # By its name alone: it is too long for `files.get`, which refuses it.
                    await self._client.aio.files.download(file=name, destination=file, config=_limited())
                file.seek(0)
                while line := file.readline(LARGEST_LINE + 1):
                    if len(line) > LARGEST_LINE:
                        raise self._endpoint.malformed("a batch's answer that is too long")
                    yield line.rstrip()

    def read_line(self, line: dict[str, Any], sent: dict[str, Any]) -> Reply:
        """Read one line as `reply` reads an answer."""
        if response := part(line, "response"):
            with self._translated(_ABOUT_BATCHES):
                return self._read(response, sent)
        raise self._refusal(part(line, "error") or part(line, "status"), sent)

    def _refusal(self, error: dict[str, Any], sent: dict[str, Any]) -> NoReplyError:
        """The error of a line, or of a whole batch."""
        code = error.get("code")
        status = _STATUSES.get(code, code) if type(code) is int else None
        if status is None or status < 100 or status in _UNDONE:  # noqa: PLR2004 - no HTTP status
            said = f"{self.name}: a batch ended without this answer: {error_text(error)}"
            return TransientError(self._endpoint.one_line(said), kind=UNDONE)
        if "API key not valid" in error_text(error):
            return self._endpoint.key_refused(status, error)
        return self._endpoint.refused(status, error, structured=bool(sent.get("json_schema")))

    async def cancel(self, batch: str) -> None:
        """Call a batch off; what was done is kept."""
        with self._translated(_ABOUT_BATCHES):
            await self._client.aio.batches.cancel(name=batch, config=_limited())

    async def delete(self, state: BatchState) -> None:
        """Delete the batch and its files; one that was deleted, or whose name is too long to delete it by, stays."""
        deletions = [(self._client.aio.files, name) for name in state.files]
        for place, name in [*deletions, (self._client.aio.batches, state.id)]:
            with contextlib.suppress(NoReplyError), self._translated(_ABOUT_BATCHES):
                await place.delete(name=name, config=_limited())

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
        return as_count(counted.total_tokens) or None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aio.aclose()
            self._client.close()
            await self._transport.aclose()
            self._client = None


def _camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def _limited() -> dict[str, Any]:
    """The time limit of a call about a batch, as the SDK takes it."""
    return {"http_options": {"timeout": int(BATCH_SECONDS * 1000)}}


def _file_of(mark: str) -> str:
    """The file of a batch's lines, which is found again by the mark alone."""
    return f"files/genaipa-{mark}"


def _state(batch: types.BatchJob) -> BatchState:
    """Read a batch, without counts: the SDK gives none."""
    state = _word(batch.state).rpartition("_STATE_")[2].lower()
    mark = batch.display_name or ""
    results = (batch.dest.file_name,) if batch.dest is not None and batch.dest.file_name else ()
    return BatchState(
        id=str(batch.name),
        state=state,
        ended=state in _ENDED,
        cancelled=state == "cancelled",
        mark=mark,
        files=(_file_of(mark), *results),
        results=results,
    )


def _word(value: Any) -> str:
    """Value of an enumeration, also one unknown to the SDK."""
    return str(getattr(value, "value", value) or "")


def _details(body: Any) -> list[dict[str, Any]]:
    inner: Any = body.get("error", body) if isinstance(body, dict) else {}
    details: Any = inner.get("details") if isinstance(inner, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _key_invalid(error: errors.APIError) -> bool:
    """Whether the key is wrong, which Google reports as a bad request."""
    reasons = {detail.get("reason") for detail in _details(error.details)}
    return "API_KEY_INVALID" in reasons or "API key not valid" in error_text(error.details)


def _location(error: errors.APIError) -> str | None:
    """Find the address that a redirect leads to."""
    headers: Mapping[str, str] = getattr(error.response, "headers", None) or {}
    return headers.get("location")


def _wait(headers: Mapping[str, str], body: object) -> float | None:
    """Seconds to wait, from the headers or from `RetryInfo` ("17.5s") in the details."""
    seconds = retry_after(headers)
    if seconds is not None:
        return seconds
    for detail in _details(body):
        if str(detail.get("@type", "")).endswith("RetryInfo"):
            with contextlib.suppress(ValueError):
                return float(str(detail.get("retryDelay", "")).removesuffix("s"))
    return None


def _usage(stated: object) -> Usage | None:
    """Read the usage; None for another form, since the reply is paid for all the same."""
    if not isinstance(stated, dict):
        return None
    reasoning = as_count(stated.get("thoughtsTokenCount"))
    return Usage(
        input=as_count(stated.get("promptTokenCount")),
        cached=as_count(stated.get("cachedContentTokenCount")),
        output=as_count(stated.get("candidatesTokenCount")) + reasoning,
        reasoning=reasoning,
    )
