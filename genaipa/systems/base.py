"""Interface between genaipa and the systems under test: all that is needed to write an adapter.

An adapter turns messages into one reply, or raises one of `errors.TransientError`, `PermanentError`,
`NotReadyError`. Retries, waiting, cost and files are left to `execution/`. A key never appears in anything that it
returns or raises.

Passages that a system gives with its reply are found in a server's response, and checked, whoever gives them. A reply
is never lost for its passages: what can't be used is left out, and a remark says so.
"""

from __future__ import annotations

import abc
import contextlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict

import msgspec

from genaipa.errors import PermanentError, TransientError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from genaipa.errors import NoReplyError

Role = Literal["user", "assistant"]
Finish = Literal["stop", "length", "refusal"]
Purpose = Literal["introduction", "part", "acknowledgement", "summary-request", "question", "answer"]
Words = Literal["own", "document", "recording", ""]
"""Origin of the replies' words: the model, the document, a recording of a study; empty if unknown."""

MAX_TOKENS = 10**12
"""Upper bound of a call's token count; larger values are ignored as wrong."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    A chat model sees `content` alone; a baseline or a retrieval assistant can use `purpose`, the message's role in the
    protocol, and `carries`, the document, part or summary quoted in it. `breakpoint` marks the end of a prefix shared
    by many requests (the document's end), for providers with explicit caching. `key` is the record's key of a question
    or a request for a summary (system|document|initialization|wording|repetition|question), by which a recording is
    looked up, and the digest of a kept reply.
    """

    role: Role
    content: str
    purpose: Purpose = "question"
    carries: str = ""
    breakpoint: bool = False
    key: str = ""

    @cached_property
    def content_json(self) -> bytes:
        """The content as a JSON string, encoded once for all questions about a long document."""
        return json.dumps(self.content, ensure_ascii=False).encode()

    @cached_property
    def json_of_carried_text(self) -> bytes:
        """The text that it carries as a JSON string."""
        return json.dumps(self.carries, ensure_ascii=False).encode()


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling options; None leaves the choice to the system.

    A run's spec is one of these, and so are the settings of a call. A new option is a field here and in
    `SamplingOptions`, an entry in `SAMPLING_OPTIONS` of the command line, and one in each adapter's table of the
    provider's names for options.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Longest reply in tokens, thoughts included."""
    sampling_seed: int | None = None
    service_tier: str | None = None
    """The vendor's own word, such as `flex`."""
    system_prompt: str | None = None
    citations: str | None = None
    """`vendor` to have the model cite the document by its vendor's own feature; the document is then sent as one."""

    # A spec has a seed for its shuffles too, so that this one's field has a prefix.
    def to_options(self) -> dict[str, Any]:
        """Return the options that are not None, under the names of `OPTIONS`."""
        values = {name: getattr(self, name) for name in Sampling.__struct_fields__}
        return {name.removeprefix("sampling_"): value for name, value in values.items() if value is not None}


class SamplingOptions(TypedDict, total=False):
    """The fields of `Sampling` as the arguments of a function."""

    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    sampling_seed: int | None
    service_tier: str | None
    system_prompt: str | None
    citations: str | None


OPTIONS = tuple(name.removeprefix("sampling_") for name in Sampling.__struct_fields__)
"""The sampling options as the catalog's `settings` and the records' `sent` name them."""

NEVER_REFUSED = frozenset({"service_tier", "system_prompt", "citations"})
"""Options that a catalog entry's `settings` need not list: every model takes them, or the run is refused."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of effort, as a system's name ends with one: `gpt-6-luna@high`."""
ASSUMED_THOUGHTS = {
    "none": 0, "minimal": 128, "low": 512, "medium": 2_048, "high": 8_192, "xhigh": 16_384, "max": 32_768,
}  # fmt: skip
"""Level of effort → tokens of thoughts that are reckoned with; the limit of a reply leaves room for twice as many."""


def token_limit_with_thoughts(reply_tokens: int, effort: str) -> int:
    """Return the limit of a reply of so many tokens that leaves room for the thoughts of this effort."""
    return reply_tokens + 2 * ASSUMED_THOUGHTS.get(effort, 0)


class Settings(Sampling, frozen=True, kw_only=True):
    """Settings of one call."""

    effort: str | None = None
    """The level that the system's name ends with, one of `EFFORTS`."""
    timeout: float = 120.0
    """Seconds."""
    cache_key: str | None = None
    """Equal for requests that share a prefix: some providers route by it."""
    stream: bool = False
    """Whether the reply is to come in pieces, so that the time until the first is known; where the system can."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema of an object that the reply has to be; who can't promise it raises `unsupported_schema_error`.

    Every provider takes one in which `additionalProperties` is false and all properties are `required`. Not every one
    takes a `maxLength` or `maxItems`: an adapter whose provider refuses them leaves these out
    (`strip_max_length_and_items`).
    """

    @classmethod
    def from_sampling(cls, sampling: Sampling, **other_settings: Any) -> Settings:
        """Make settings with these sampling options, such as a run's spec."""
        return cls(**{name: getattr(sampling, name) for name in Sampling.__struct_fields__}, **other_settings)

    @property
    def seed(self) -> int | None:
        """The sampling seed, by its short name."""
        return self.sampling_seed


UNSUPPORTED_SCHEMA = "unsupported-schema"
"""`kind` of the PermanentError of a system that can't keep to a schema: the caller may ask again without one."""


def unsupported_schema_error(
    system: str, reason: str = "it has no structured output", status: int | None = None
) -> PermanentError:
    """Return the error of a system that can't promise a reply by `Settings.json_schema`."""
    message = f"{system} can't follow a JSON schema: {reason.removesuffix('.')}."
    return PermanentError(message, kind=UNSUPPORTED_SCHEMA, status=status)


def strip_max_length_and_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without `maxLength` and `maxItems`."""
    return {
        name: _strip_max_bounds_in_value(part)
        for name, part in schema.items()
        if name not in _BOUNDS or not isinstance(part, int)
    }


_BOUNDS = ("maxLength", "maxItems")


def _strip_max_bounds_in_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_strip_max_bounds_in_value(element) for element in value]
    return strip_max_length_and_items(value) if isinstance(value, dict) else value


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more calls, normalised over providers.

    `input` includes `cached` (read from a cache) and `cache_write` (written to one); `output` includes `reasoning`,
    which was spent on thinking, where the provider tells.
    """

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cached + other.cached,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage that a system retrieved for its answer: text, a title or address of its source, the retriever's score.

    One that was `cited` by the vendor's own feature has its place in the document, in characters, if it is there.

    >>> Passage("We keep orders for ten years.", source="12.2", score=7.1)
    Passage(text='We keep orders for ten years.', source='12.2', score=7.1, cited=False, start=None, end=None)
    """

    text: str
    source: str = ""
    score: float | None = None
    cited: bool = False
    start: int | None = None
    end: int | None = None


class Citation(NamedTuple):
    """A citation as a vendor gives it with a reply, to be checked against what was sent.

    `document` numbers the documents of the request from 0; `start` and `end` are its offsets there, if it gives any.
    """

    text: str
    document: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Reply:
    """A system's reply."""

    text: str
    finish: Finish = "stop"
    usage: Usage | None = None
    model: str | None = None
    """The model as served, often more precise than the one requested."""
    sent: dict[str, Any] = field(default_factory=dict)
    """The settings as sent: the requested ones that the model accepts."""
    served: dict[str, str] = field(default_factory=dict)
    """How it was served, where the server says: `system_fingerprint`, `service_tier`."""
    finish_detail: str = ""
    """The provider's own finish reason."""
    passages: tuple[Passage, ...] = ()
    """Passages that it retrieved before it answered, in its own order."""
    citations: tuple[Citation, ...] = ()
    """Citations by the vendor's own feature."""
    remark: str = ""
    """A sentence on what is odd about the reply, said once in a run."""
    thoughts: str = ""
    """The model's thoughts, where its server sends them beside the text; those in the text are found there."""
    seconds: float | None = None
    """Seconds that it took, where the system tells them and the clock doesn't."""
    first_token: float | None = None
    """Seconds until anything came, be it thoughts or a sign of them, where the reply was streamed."""
    first_text: float | None = None
    """Seconds until the first text of the answer, behind any thoughts."""


class BuiltinSystem(abc.ABC):
    """Base of the systems without a model: nothing to start, count or close, and no structured output."""

    def __init__(self, *, name: str) -> None:
        self.name = name

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Return `reply_to_last_message`; raise a PermanentError where a JSON schema is asked for."""
        if settings.json_schema is not None:
            raise unsupported_schema_error(self.name)
        return await self.reply_to_last_message(messages, settings)

    @abc.abstractmethod
    async def reply_to_last_message(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Reply to the last message."""

    async def start(self) -> Readiness:
        """Return at once: nothing is needed."""
        return Readiness()

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - it has none
        """Return None: it has no tokens."""
        return None

    async def close(self) -> None:  # noqa: B027 - most hold nothing
        """Do nothing: nothing is held."""


class System(Protocol):
    """A system under test.

    An attribute `words` tells the origin of its replies: "own", "document" or "recording". A user's class without it is
    assumed to quote the document.
    """

    name: str
    """Full name: `openai/gpt-4o`, `vllm/…`, `extractive`."""

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Reply once to the conversation, whose last message is the user's; an empty complete reply is retried."""
        ...

    async def start(self) -> Readiness:
        """Find the key, import the SDK, reach or start the server; a NotReadyError names what is missing."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """Count a text's tokens, at most by a free call; None if the system can't."""
        ...

    async def close(self) -> None:
        """Close connections and stop what `start` started."""
        ...


UNCLEAR = "unclear"
"""`kind` of the TransientError of a batch that was handed in, or not: the answer got lost."""

UNDONE = "undone"
"""`kind` of the TransientError of a line that a batch ended without."""


@contextlib.contextmanager
def mark_submission_errors_unclear() -> Iterator[None]:
    """Mark an error of the call that submits a batch as `UNCLEAR`: the batch may have been accepted."""
    try:
        yield
    except TransientError as error:
        if error.kind == "rate-limit":
            raise
        raise TransientError(str(error), kind=UNCLEAR, status=error.status) from None


@dataclass(frozen=True)
class BatchState:
    """A batch at its provider."""

    id: str
    state: str
    """The provider's word."""
    ended: bool = False
    cancelled: bool = False
    """Whether somebody called it off."""
    done: int = 0
    """Lines done so far, if the provider tells."""
    mark: str = ""
    """Our mark, if its list shows it."""
    total: int = 0
    """Lines that it has, if the provider tells."""
    files: tuple[str, ...] = ()
    """Files at the provider that it is made of, in and out."""
    results: tuple[str, ...] = ()
    """Places of its results at the provider."""
    failure: NoReplyError | None = None
    """Why all of it failed, if it did."""


class BatchSystem(System, Protocol):
    """A system that also takes many requests as one batch, for half the price and within a day.

    Each method asks once, as `reply` does, and raises the same errors; a lost answer to `submit` is a TransientError of
    the kind `UNCLEAR`.
    """

    most_lines: int
    most_bytes: int

    @property
    def address_label_and_key(self) -> tuple[str, str]:
        """Provider with its address, and the key; batches are seen by the account that made them."""
        ...

    def encode_batch_request_and_sent_settings(
        self, messages: Sequence[Message], settings: Settings
    ) -> tuple[bytes, dict[str, Any]]:
        """Encode the request as `reply` would send it; also the settings as sent."""
        ...

    async def submit(self, named_requests: Sequence[tuple[str, bytes]], batch_mark: str) -> str:
        """Hand in a batch of (name, request) and return its id; `batch_mark` shows in the provider's list."""
        ...

    async def status(self, batch_id: str) -> BatchState:
        """Look how far a batch is."""
        ...

    def results(self, state: BatchState) -> AsyncGenerator[bytes]:
        """Download the lines of an ended batch, all of them, in any order, as JSON with `custom_id` or `key`."""
        ...

    def parse_result_line(self, result_line: dict[str, Any], sent_settings: dict[str, Any]) -> Reply:
        """Read one line as `reply` reads an answer; raises what `reply` would."""
        ...

    async def list_batches_since(self, epoch_seconds: float) -> list[BatchState]:
        """List the account's batches made since then (seconds since 1970), all of them."""
        ...

    async def cancel(self, batch_id: str) -> None:
        """Call a batch off; what was done is kept."""
        ...

    async def delete_batch_data(self, state: BatchState) -> None:
        """Delete what the provider holds of an ended batch."""
        ...


@dataclass(frozen=True)
class Readiness:
    """Facts about a system that is ready."""

    context: int | None = None
    """Context size in tokens, messages and reply together, if the server tells."""
    models: tuple[str, ...] | None = None
    """Models listed by the server; None without a list."""
    efforts: tuple[str, ...] | None = None
    """Levels of effort that the model takes, if the server tells."""
    shutdown: str | None = None
    """Retirement date of the model (ISO), if the server tells."""
    notes: tuple[str, ...] = ()
    """Sentences to show before the run."""
    cites: bool | None = None
    """Whether the model cites by the vendor's own feature, if the server tells."""
    checked: bool = True
    """Whether its server has confirmed anything, the key or the model."""


MAX_PASSAGE_LENGTH = 100_000
"""Characters from which a passage is remarked on: it is a document rather than a passage."""
_LARGEST = 1e300
"""Least score that is none: no retriever gives it."""
_TEXT = ("text", "content")
_SOURCE = ("source", "title", "url")
"""Fields of an item in which its text, or its source, may be, the first that has any."""


def find_passages_and_remark(response: object, dotted_path: str) -> tuple[tuple[Passage, ...], str]:
    """Return the passages at a path of a response (`choices.0.message.context.citations`), and any remark."""
    value: Any = response
    for step in dotted_path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            value = None
    if not isinstance(value, list):
        return (
            (),
            f"a response has no list at {dotted_path}, so its answer has no passages; check `passages` in systems.yaml",
        )
    if not value:
        return (), f"a response has an empty list at {dotted_path}: the server retrieved nothing"
    return select_usable_passages_and_remark([_make_passage_or_none(item) for item in value])


def _make_passage_or_none(item: object) -> object:
    """Turn an item into a passage: a text, or an object that has one; None for any other."""
    if isinstance(item, str):
        return Passage(item)
    if not isinstance(item, dict):
        return None
    return Passage(
        _first_text_field_value_or_empty(item, _TEXT),
        _first_text_field_value_or_empty(item, _SOURCE),
        item.get("score"),
    )


def _first_text_field_value_or_empty(item: dict[str, Any], field_names: tuple[str, ...]) -> str:
    return next((value for name in field_names if isinstance(value := item.get(name), str) and value.strip()), "")


def select_usable_passages_and_remark(passages: object) -> tuple[tuple[Passage, ...], str]:
    """Return the usable passages, and a remark on what is odd.

    One without text is left out; a source that is no text, or a score that is no number, is taken off.
    """
    if not isinstance(passages, list | tuple):
        return (), f"its passages are a {type(passages).__name__}, not a tuple of Passage, and are ignored"
    usable = tuple(_drop_invalid_source_and_score(passage) for passage in passages if _is_passage_with_text(passage))
    if len(usable) < len(passages):
        return usable, "some of its passages have no text and are ignored"
    if any(len(passage.text) > MAX_PASSAGE_LENGTH for passage in usable):
        return (
            usable,
            f"a passage has more than {MAX_PASSAGE_LENGTH:,} characters, which is a document rather than a passage",
        )
    return usable, ""


def _is_passage_with_text(value: object) -> bool:
    return isinstance(value, Passage) and isinstance(value.text, str) and bool(value.text.strip())


def _drop_invalid_source_and_score(passage: Passage) -> Passage:
    score: object = passage.score
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and -_LARGEST < score < _LARGEST
    source = passage.source if isinstance(passage.source, str) else ""
    return Passage(passage.text, source, passage.score if is_number else None)
