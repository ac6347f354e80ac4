"""Base classes for models behind a provider's endpoint."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import importlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from genaipa.errors import NotReadyError
from genaipa.files.text import sha256_of
from genaipa.systems.base import Readiness, Reply, Settings
from genaipa.systems.costs import BATCH_SHARE
from genaipa.systems.endpoint import (
    LOOK_UP_SECONDS,
    UNREADABLE,
    Endpoint,
    parse_token_count_or_zero,
    read_endpoint_from_environment,
    read_retry_delay,
    require_sdk,
    select_sendable_sampling_options,
)
from genaipa.systems.thoughts import separate_text_and_thought_parts
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence

    import httpx2

    from genaipa.errors import NoReplyError
    from genaipa.systems.base import Message
    from genaipa.systems.provider import Provider
    from genaipa.systems.streams import StreamedAnswer
    from genaipa.systems.thoughts import ReplyParts

BATCH_SECONDS = 600.0
"""Time limit of a call about a batch, whose files are long."""
MAX_LISTED_BATCHES = 10_000
"""Batches of an account that are looked through."""
MAX_LINE_BYTES = 4_000_000
"""Bytes of an answer in a batch's results."""
MAX_BATCH_BYTES = 30_000_000
"""Largest batch; providers take 200 MB and more, but it is held in memory, and one that gets lost costs less."""


@dataclass(frozen=True)
class ModelList:
    """A protocol's list of models: its path, and the fields of an entry; an inner object's after a dot.

    `unknown` tells whether an error 404 for a single model is about the model or about a missing route. In a
    `complete` list an absent model does not exist.
    """

    path: str
    context: tuple[str, ...]
    shutdown: str
    unknown: Callable[[Any], bool]
    parameters: Mapping[str, object] = field(default_factory=dict)
    complete: bool = False


class HostedSystem(abc.ABC):
    """One model at an endpoint; only the sampling options in `accepts` are sent."""

    provider: ClassVar[Provider]
    fields: ClassVar[dict[str, str]]
    """Sampling option → field of the request; options without one are not sent."""
    refused_when_thinking: ClassVar[frozenset[str]] = frozenset()
    """Options that a model refuses while it thinks, by a level of effort above `none`."""
    takes_batches: ClassVar[bool] = False
    """Whether it is a `BatchSystem`."""
    cached_in_batches: ClassVar[float] = BATCH_SHARE
    """Part of the price of what came from a cache that is paid in a batch."""
    look_up_seconds: float = LOOK_UP_SECONDS
    """Time limit of a lookup before a run."""

    def __init__(self, *, name: str, model: str, accepts: frozenset[str]) -> None:
        self.name = name
        self.model = model
        self.accepts = accepts
        self._client: Any = None
        self._endpoint: Endpoint

    def resolve_endpoint(self) -> Endpoint:
        """Read address and key; a NotReadyError names a missing variable."""
        return read_endpoint_from_environment(self.provider, self.name)

    @property
    def address_label_and_key(self) -> tuple[str, str]:
        """Provider with its address, and the key."""
        return f"{self.provider.name} at {self._endpoint.address}", self._endpoint.key or ""

    async def start(self) -> Readiness:
        """Import the SDK, find the key, look up the model."""
        require_sdk(self.name, self.provider, "httpx_aiohttp")
        self._endpoint = self.resolve_endpoint()
        self._set_sdk_client()
        try:
            return await self._look_up_model()
        except BaseException:
            await self.close()
            raise

    def _make_http_client(self) -> httpx2.AsyncClient:
        """Make the connections for the SDK."""
        from genaipa.systems.connections import Connections

        return Connections(use_proxy=self._endpoint.may_use_proxy)

    async def _look_up_model(self) -> Readiness:
        """Look up the model; NotReadyError if the server is unreachable, refuses the key or denies the model."""
        models = await self._fetch_models_or_failure_reason()
        if isinstance(models, str):
            return Readiness(notes=(self._endpoint.missing_model_list_note(models),) if models else (), checked=False)
        # A list without any model says nothing.
        entry = (models.get(self.model) or await self._fetch_unlisted_model_or_raise_unknown(models)) if models else {}
        if entry is None:
            notes = (self._endpoint.unlisted_model_note(self.model, models),)
            return Readiness(models=tuple(sorted(models)), notes=notes)
        return replace(self._parse_model_entry(entry), models=tuple(sorted(models)) or None)

    def _request_fields_and_sent_settings(self, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
        """Translate the settings: the request's fields, and the settings as sent under their names in `OPTIONS`."""
        defaults, effort = self._list_required_sampling_options(settings), settings.effort
        accepts = self.accepts - (self.refused_when_thinking if effort not in (None, "none") else frozenset())
        sent = defaults | select_sendable_sampling_options(settings, accepts | defaults.keys(), self.fields)
        fields = {self.fields[name]: value for name, value in sent.items()}
        if settings.system_prompt is not None and "system_prompt" in sent:
            # A record has the prompt's digest; its text is in the run's spec.
            sent["system_prompt"] = f"sha256:{sha256_of(settings.system_prompt)}"
        if effort is not None:
            fields = _merge_fields_recursively(fields, self._effort_fields(effort))
            sent["effort"] = effort
        if settings.json_schema is not None:
            fields = _merge_fields_recursively(fields, self._schema_fields(settings.json_schema))
            sent["json_schema"] = True
        return fields, sent

    def _list_required_sampling_options(self, settings: Settings) -> dict[str, Any]:  # noqa: ARG002 - for whoever overrides it
        """Return the options that the protocol requires, by their names in `OPTIONS`."""
        return {}

    @abc.abstractmethod
    def _set_sdk_client(self) -> None:
        """Make the SDK's client."""

    @abc.abstractmethod
    async def _fetch_models_or_failure_reason(self) -> dict[str, dict[str, Any]] | str:
        """List the models, id → entry; or say why there is no list."""

    @abc.abstractmethod
    async def _fetch_unlisted_model_or_raise_unknown(self, listed_models: Iterable[str]) -> dict[str, Any] | None:
        """Fetch the entry of an unlisted model; NotReadyError only if it certainly does not exist."""

    @abc.abstractmethod
    def _parse_model_entry(self, entry: dict[str, Any]) -> Readiness:
        """Read a model's entry, in which anything may be missing or odd."""

    @abc.abstractmethod
    def _effort_fields(self, effort: str) -> dict[str, Any]:
        """Translate a level of effort to the request's fields."""

    @abc.abstractmethod
    def _schema_fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Translate a JSON schema to the request's fields."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Let go of the connections."""


class ChatSystem(HostedSystem):
    """A model behind an SDK like OpenAI's and Anthropic's, which have the same client and errors by the same names."""

    client: ClassVar[str]
    """Name of the SDK's asynchronous client."""
    path: ClassVar[str]
    """Path of the request."""
    system_role: ClassVar[str] = ""
    """Role of the message that a system prompt is; empty where the request has a field for it."""
    mark: ClassVar[bytes]
    """JSON field that marks a block of text as the end of a cached prefix."""
    listing: ClassVar[ModelList]
    streamed: ClassVar[type[StreamedAnswer]]
    """What puts together a reply that comes in pieces."""
    stream_fields: ClassVar[dict[str, Any]] = {"stream": True}
    """Fields of a request whose reply is to come in pieces."""

    def __init__(self, *, name: str, model: str, accepts: frozenset[str]) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self._sdk: Any = None

    def _set_sdk_client(self) -> None:
        self._sdk = importlib.import_module(self.provider.sdk)
        self._client = getattr(self._sdk, self.client)(
            # A server on loopback needs no key, but the SDK does.
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.address,
            max_retries=0,
            http_client=self._make_http_client(),
        )

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Reply once.

        The body is joined from what each message keeps encoded, and handed to the SDK as bytes: given as objects, the
        SDK would walk, copy and encode the whole document again for every question.
        """
        if self._client is None:
            raise NotReadyError(f"{self.name} was asked before it was started.")
        import httpx2

        sdk = self._sdk
        body, sent = self._encode_request_and_sent_settings(messages, settings)
        if settings.stream:
            return await self._stream_reply(body, sent, settings)
        try:
            async with asyncio.timeout(settings.timeout):
                response = await self._client.post(
                    self.path,
                    cast_to=httpx2.Response,
                    content=body,
                    options={"headers": self._content_type_and_session_headers(settings), "timeout": settings.timeout},
                )
        except (TimeoutError, sdk.APITimeoutError):
            raise self._endpoint.timeout_error(settings.timeout) from None
        except sdk.APIError as error:
            raise self._translate_error(error, settings) from None
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            raise self._endpoint.protocol_error("an answer that is not JSON", response.text) from None
        return self._parse_reply_unless_error(answer, sent, response.headers)

    async def _stream_reply(self, body: bytes, sent_settings: dict[str, Any], settings: Settings) -> Reply:
        """Reply in pieces, which come as plain objects, so that the SDK's types lose nothing of them."""
        streamed = self.streamed()
        with self._translate_errors(settings.timeout, settings):
            async with asyncio.timeout(settings.timeout):
                events = await self._client.post(
                    self.path,
                    cast_to=object,
                    content=body,
                    options={"headers": self._content_type_and_session_headers(settings), "timeout": settings.timeout},
                    stream=True,
                    stream_cls=self._sdk.AsyncStream[object],
                )
                async for event in events:
                    streamed.time_and_add_event(event)
        if not streamed.is_complete:
            raise self._endpoint.connection_error("the stream ended before the reply did")
        return streamed.add_first_output_times_to_reply(self._parse_reply_unless_error(streamed.answer, sent_settings))

    def _parse_reply_unless_error(
        self, body: object, sent_settings: dict[str, Any], headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Read an answer, unless it is an error, whatever its status."""
        if error := self._endpoint.find_stated_error(
            body, headers or {}, schema_requested=bool(sent_settings.get("json_schema"))
        ):
            raise error
        return self._parse_reply(body if isinstance(body, dict) else {}, sent_settings)

    def _missing_reply_error(self, body: object) -> NoReplyError:
        return self._endpoint.protocol_error("an answer that contains no reply", body)

    def _read_content_parts_and_remark(self, content: list[Any]) -> tuple[ReplyParts, str]:
        """Return a reply's parts, and a remark on any that are neither text nor thoughts; an error without a text."""
        parts = separate_text_and_thought_parts(content)
        types = join_some(parts.other_types, 3)
        if parts.other_types and not parts.text:
            raise self._endpoint.protocol_error(f"a reply without text, with parts of type {types}")
        return parts, f"reply parts that are not text are ignored: {types}" if types else ""

    def _content_type_and_session_headers(self, settings: Settings) -> dict[str, str]:  # noqa: ARG002 - for whoever overrides it
        return {"Content-Type": "application/json"}

    def encode_batch_request_and_sent_settings(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[bytes, dict[str, Any]]:
        """Encode the request as `reply` would send it; also the settings as sent."""
        return self._encode_request_and_sent_settings(messages, settings)

    @contextlib.contextmanager
    def _translate_errors(self, timeout_seconds: float, settings: Settings | None = None) -> Iterator[None]:
        """Translate the SDK's errors, its transport's, and any that it stumbles over."""
        import httpx2

        try:
            yield
        except self._sdk.APITimeoutError:
            raise self._endpoint.timeout_error(timeout_seconds) from None
        except self._sdk.APIError as error:
            raise self._translate_error(error, settings or Settings()) from None
        except TimeoutError:
            raise self._endpoint.timeout_error(timeout_seconds) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._connection_error(error) from None
        except (httpx2.HTTPError, ValueError, TypeError, AttributeError, RecursionError):
            raise self._endpoint.protocol_error("an answer that can't be read") from None

    def _encode_request_and_sent_settings(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[bytes, dict[str, Any]]:
        fields, sent = self._request_fields_and_sent_settings(settings)
        fields |= {"model": self.model} | self._extra_request_fields(messages, settings)
        fields |= self.stream_fields if settings.stream else {}
        marked = self._cache_breakpoint_positions(messages)
        encode = self._encode_citable_message if fields.pop("citations", None) else _encode_message
        turns = [encode(message, self.mark if index in marked else b"") for index, message in enumerate(messages)]
        if self.system_role and (prompt := fields.pop("system_prompt", None)) is not None:
            turns.insert(0, json.dumps({"role": self.system_role, "content": prompt}).encode())
        return b'%s,"messages":[%s]}' % (json.dumps(fields).encode()[:-1], b",".join(turns)), sent

    def _encode_citable_message(self, message: Message, cache_mark: bytes) -> bytes:
        """Encode a message whose document can be cited; of vendors without citations none is asked for."""
        return _encode_message(message, cache_mark)

    def _extra_request_fields(self, messages: Sequence[Message], settings: Settings) -> dict[str, Any]:  # noqa: ARG002 - a hook
        return {}

    def _translate_error(self, error: Any, settings: Settings) -> NoReplyError:
        """Translate an error of the SDK; one in the midst of a stream comes with its status, which was a success."""
        if (stated := self._find_streamed_error(error, settings)) is not None:
            return stated
        if isinstance(error, self._sdk.APIStatusError):
            if self._is_quota_error(error):
                return self._endpoint.make_quota_used_up_error(error.status_code, error.body)
            wait = read_retry_delay(error.response.headers)
            return self._endpoint.status_error(
                error.status_code,
                error.body,
                wait,
                schema_requested=settings.json_schema is not None,
                redirect_location=error.response.headers.get("location"),
            )
        if isinstance(error, self._sdk.APIConnectionError):
            return self._connection_error(error.__cause__ or error)
        return self._endpoint.protocol_error("an answer that can't be read")

    def _find_streamed_error(self, error: Any, settings: Settings) -> NoReplyError | None:
        """Return the error that an event of a stream stated; None for any other error of the SDK."""
        status = getattr(error, "status_code", None)
        if isinstance(error, self._sdk.APIConnectionError) or not error.body or (status or 200) >= 300:  # noqa: PLR2004
            return None
        body = error.body if inner_object_or_empty(error.body, "error") else {"error": error.body}
        return self._endpoint.find_stated_error(body, {}, schema_requested=settings.json_schema is not None)

    @abc.abstractmethod
    def _cache_breakpoint_positions(self, messages: Sequence[Message]) -> Iterable[int]:
        """Return the positions of the messages to mark as ends of cached prefixes."""

    @abc.abstractmethod
    def _is_quota_error(self, error: Any) -> bool:
        """Tell whether an error is about an account without credit."""

    @abc.abstractmethod
    def _parse_reply(self, body: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Read an answer, in which anything may be missing or odd."""

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connection_error(self, error: object) -> NoReplyError:
        """Return the error of an answer that broke off, or that is not read on."""
        import httpx2

        if isinstance(error, httpx2.DecodingError):
            return self._endpoint.protocol_error(str(error))
        return self._endpoint.connection_error(error)

    async def _fetch_models_or_failure_reason(self) -> dict[str, dict[str, Any]] | str:
        import httpx2

        options = {"timeout": self.look_up_seconds, "params": self.listing.parameters}
        try:
            listing = await self._client.get(self.listing.path, cast_to=object, options=options)
        except self._sdk.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.DecodingError):
                return UNREADABLE
            raise self._endpoint.unreachable_error(error.__cause__ or error) from None
        except self._sdk.APIStatusError as error:
            if error.status_code == 401:  # noqa: PLR2004 - Unauthorized
                raise self._endpoint.setup_authentication_error(401, error.body) from None
            if elsewhere := self._endpoint.redirect_error(error.status_code, error.response.headers.get("location")):
                raise elsewhere from None
            return self._endpoint.model_list_failure_unless_unsupported(error.status_code, error.body)
        except (self._sdk.APIError, ValueError, RecursionError):
            return UNREADABLE
        # A wrong address often answers with a web page, over which the SDKs' own lists stumble.
        entries = listing.get("data") if isinstance(listing, dict) else None
        if not isinstance(entries, list):
            return UNREADABLE
        return {str(entry["id"]): entry for entry in entries if isinstance(entry, dict) and entry.get("id")}

    async def _fetch_unlisted_model_or_raise_unknown(self, listed_models: Iterable[str]) -> dict[str, Any] | None:
        if self.listing.complete:
            raise self._endpoint.unknown_model_error(self.model, listed_models)
        path = f"{self.listing.path}/{quote(self.model, safe='')}"
        try:
            entry = await self._client.get(path, cast_to=object, options={"timeout": self.look_up_seconds})
        except self._sdk.NotFoundError as error:
            if self.listing.unknown(error):
                raise self._endpoint.unknown_model_error(self.model, listed_models) from None
            return None
        except (self._sdk.APIError, ValueError, RecursionError):
            return None
        return entry if isinstance(entry, dict) else None

    def _parse_model_entry(self, entry: dict[str, Any]) -> Readiness:
        return Readiness(
            context=next(
                (
                    size
                    for name in self.listing.context
                    if (size := parse_token_count_or_zero(_dotted_field_value(entry, name)))
                ),
                None,
            ),
            # The day alone, also of "2026-10-23T00:00:00Z".
            shutdown=str(entry.get(self.listing.shutdown) or "")[:10] or None,
        )


def _merge_fields_recursively(fields: dict[str, Any], overriding_fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of both; an object that both have gets the fields of both."""
    merged = fields | overriding_fields
    for name in fields.keys() & overriding_fields.keys():
        if isinstance(fields[name], dict) and isinstance(overriding_fields[name], dict):
            merged[name] = _merge_fields_recursively(fields[name], overriding_fields[name])
    return merged


def _encode_message(message: Message, cache_mark: bytes) -> bytes:
    """Encode one message; a `cache_mark` makes its end a cache breakpoint."""
    content = message.content_json
    if cache_mark:
        content = b'[{"type":"text","text":%s,%s}]' % (content, cache_mark)
    return b'{"role":"%s","content":%s}' % (message.role.encode(), content)


def cache_prefix_ends_and_has_more_turns(messages: Sequence[Message]) -> tuple[list[int], bool]:
    """Return the positions of the ends of shared prefixes, and whether the conversation goes on after the last one.

    It does not where every question starts from the document again.
    """
    ends = [index for index, message in enumerate(messages) if message.breakpoint]
    return ends, bool(ends) and sum(message.role == "user" for message in messages[ends[-1] + 1 :]) > 1


async def split_nonblank_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the lines of a file that comes in chunks, without empty ones; a ValueError for one that is no answer."""
    remainder = b""
    async for chunk in chunks:
        *lines, remainder = (remainder + chunk).split(b"\n")
        if len(remainder) > MAX_LINE_BYTES:
            raise ValueError("a line is too long")
        for line in lines:
            if line.strip():
                yield line
    if remainder.strip():
        yield remainder


def _dotted_field_value(entry: dict[str, Any], dotted_name: str) -> object:
    """Return the value of a field; in a name with dots, of a field of an inner object."""
    *within, last = dotted_name.split(".")
    for outer in within:
        entry = inner_object_or_empty(entry, outer)
    return entry.get(last)


def inner_object_or_empty(value: object, field_name: str) -> dict[str, Any]:
    """Return the object in a field of an object; empty for anything else."""
    inner = value.get(field_name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
