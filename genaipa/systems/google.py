"""Google's Gemini models."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NotReadyError
from genaipa.systems.base import Finish, Readiness, Reply, Usage
from genaipa.systems.chat import HostedSystem
from genaipa.systems.endpoint import (
    LOOK_UP_SECONDS,
    as_count,
    error_text,
    retry_after,
)
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import httpx2
    from google.genai import errors, types

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message, Settings

_ROLES = {"user": "user", "assistant": "model"}
_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"})
_FINISH: dict[str, Finish] = {"MAX_TOKENS": "length", **dict.fromkeys(_REFUSALS, "refusal")}
# Raised inside the SDK by an answer of unexpected shape.
_STUMBLES = (ValueError, TypeError, AttributeError)


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

    _connections: httpx2.AsyncClient

    def _connect(self) -> None:
        import httpx2
        from google import genai

        # With connections of its own the SDK doesn't use aiohttp where that is installed, with which it would wait
        # up to ten seconds and ask again without a word.
        self._connections = httpx2.AsyncClient(
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
            follow_redirects=True,
            trust_env=self._endpoint.by_proxy,
        )
        self._client = genai.Client(
            vertexai=False,
            api_key=self._endpoint.key,
            http_options=genai.types.HttpOptions(base_url=self._endpoint.address, httpx_async_client=self._connections),
        )

    async def _list_models(self) -> dict[str, dict[str, Any]] | int | None:
        import httpx2
        from google.genai import errors

        options: Any = {"page_size": 1000, "http_options": {"timeout": int(LOOK_UP_SECONDS * 1000)}}
        try:
            listed = (await self._client.aio.models.list(config=options)).page
        except httpx2.TransportError as error:
            raise self._endpoint.unreachable(error or type(error).__name__) from None
        except errors.APIError as error:
            if error.code == 401 or _key_invalid(error):  # noqa: PLR2004 - Unauthorized
                raise self._endpoint.unauthorised(error.code, error.details) from None
            return error.code
        except _STUMBLES:
            return None
        return {(entry.name or "").removeprefix("models/"): entry.model_dump() for entry in listed}

    async def _retrieve_model(self, models: Iterable[str]) -> dict[str, Any] | None:
        import httpx2
        from google.genai import errors

        options: Any = {"http_options": {"timeout": int(LOOK_UP_SECONDS * 1000)}}
        try:
            found: dict[str, Any] = (await self._client.aio.models.get(model=self.model, config=options)).model_dump()
        except errors.APIError as error:
            if error.status == "NOT_FOUND":
                raise self._endpoint.unknown_model(self.model, models) from None
            return None
        except (httpx2.TransportError, *_STUMBLES):
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
                response = await self._client.aio.models.generate_content(model=self.model, contents="-", config=config)
        return self._read(response, sent)

    def _structured(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {"response_mime_type": "application/json", "response_json_schema": schema}

    def _config(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[types.GenerateContentConfig, dict[str, Any]]:
        """Make the SDK's configuration; also the settings as sent."""
        from google.genai import types

        options, sent = self._options(settings)
        contents = [{"role": _ROLES[message.role], "parts": [{"text": message.content}]} for message in messages]
        config = types.GenerateContentConfig(
            **options,
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
        return self._endpoint.refused(error.code, error.details, _retry_after(error), structured=structured)

    def _read(self, response: types.GenerateContentResponse, sent: dict[str, Any]) -> Reply:
        feedback = response.prompt_feedback
        blocked = _word(feedback.block_reason) if feedback is not None else ""
        candidate = response.candidates[0] if response.candidates else None
        if candidate is None and not blocked:
            raise self._endpoint.malformed("an answer without a reply in it")
        finish_detail = _word(candidate.finish_reason) if candidate is not None else blocked
        finish: Finish = _FINISH.get(finish_detail, "stop") if candidate is not None else "refusal"
        parts = (candidate.content.parts if candidate is not None and candidate.content is not None else None) or []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        return Reply(
            text=text,
            finish=finish,
            usage=_usage(response.usage_metadata),
            model=response.model_version,
            sent=sent,
            finish_detail=finish_detail,
        )

    async def count_tokens(self, text: str) -> int | None:
        """Count with Google's free call."""
        import httpx2
        from google.genai import errors

        if self._client is None:
            return None
        options: Any = {"http_options": {"timeout": int(LOOK_UP_SECONDS * 1000)}}
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
            await self._connections.aclose()
            self._client = None


def _word(value: Any) -> str:
    """Value of an enumeration, also one unknown to the SDK."""
    return str(getattr(value, "value", value) or "")


def _details(error: errors.APIError) -> list[dict[str, Any]]:
    body: Any = error.details
    inner: Any = body.get("error", body) if isinstance(body, dict) else {}
    details: Any = inner.get("details") if isinstance(inner, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _key_invalid(error: errors.APIError) -> bool:
    """Whether the key is wrong, which Google reports as a bad request."""
    reasons = {detail.get("reason") for detail in _details(error)}
    return "API_KEY_INVALID" in reasons or "API key not valid" in error_text(error.details)


def _retry_after(error: errors.APIError) -> float | None:
    """Seconds to wait, from the headers or from `RetryInfo` ("17.5s") in the details."""
    headers: Any = getattr(error.response, "headers", None) or {}
    seconds = retry_after(headers)
    if seconds is not None:
        return seconds
    for detail in _details(error):
        if str(detail.get("@type", "")).endswith("RetryInfo"):
            with contextlib.suppress(ValueError):
                return float(str(detail.get("retryDelay", "")).removesuffix("s"))
    return None


def _usage(usage: types.GenerateContentResponseUsageMetadata | None) -> Usage | None:
    if usage is None:
        return None
    reasoning = as_count(usage.thoughts_token_count)
    return Usage(
        input=as_count(usage.prompt_token_count),
        cached=as_count(usage.cached_content_token_count),
        output=as_count(usage.candidates_token_count) + reasoning,
        reasoning=reasoning,
    )
