"""The seam between genaipa and every system under test. Whoever opens this file can write an adapter.

An adapter turns messages into one reply, or raises one of `errors.TransientError`, `PermanentError`,
`NotReadyError`. It does not retry, wait, count money or write files: `execution/` does that for
all of them. A key never appears in anything that it returns or raises.
"""

from __future__ import annotations

import abc
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

import msgspec

from genaipa.errors import PermanentError

if TYPE_CHECKING:
    from collections.abc import Sequence

Role = Literal["user", "assistant"]
Finish = Literal["stop", "length", "refusal"]
Purpose = Literal["introduction", "part", "acknowledgement", "summary-request", "question", "answer"]
Words = Literal["own", "document", "recording", ""]
"""Whose words replies are: the system's own, the document's, those that a study recorded; empty if nobody says."""


MOST_TOKENS = 10**12
"""More than any call uses: who states more tokens states nonsense."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    `purpose` is its place in the protocol, and `carries` the text of the document, part or summary inside it without
    the words around: a baseline or a retrieval assistant can work from them, a chat model sees `content` alone.
    `breakpoint` marks the end of a prefix that many requests share (the document's end): a provider that wants to be
    told what to cache is told here. `key` names, for a question or a request for a summary, the record that the reply
    will stand in (system, document, initialization, wording, repetition and question, with `|` between them): a system
    that repeats a recording finds its place by it.
    """

    role: Role
    content: str
    purpose: Purpose = "question"
    carries: str = ""
    breakpoint: bool = False
    key: str = ""

    @cached_property
    def content_json(self) -> bytes:
        """The content as a JSON string. Made once, so that a long document isn't encoded again for every question."""
        return json.dumps(self.content, ensure_ascii=False).encode()


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling options; None leaves the choice to the system.

    A run's spec is one of these, and so are the settings of a call. A new option is a field here and in
    `SamplingOptions`, a parameter of `genaipa run` with the same name, and an entry in each adapter's table of the
    provider's names for options.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    """Longest reply in tokens."""
    sampling_seed: int | None = None

    # A spec has a seed for its shuffles too, so that this one's field has a prefix.
    def chosen(self) -> dict[str, Any]:
        """The options that are not None, under the names of `OPTIONS`."""
        values = {name: getattr(self, name) for name in Sampling.__struct_fields__}
        return {name.removeprefix("sampling_"): value for name, value in values.items() if value is not None}


class SamplingOptions(TypedDict, total=False):
    """The fields of `Sampling` as the arguments of a function."""

    temperature: float | None
    max_tokens: int | None
    sampling_seed: int | None


OPTIONS = tuple(name.removeprefix("sampling_") for name in Sampling.__struct_fields__)
"""The sampling options as the catalog's `settings` and the records' `sent` name them."""


class Settings(Sampling, frozen=True, kw_only=True):
    """What a reply is asked with."""

    timeout: float = 120.0
    """Seconds until a call without an answer counts as stalled."""
    cache_key: str | None = None
    """Equal for requests that share a prefix: some providers route by it."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema of an object that the reply has to be; a system that can't promise it raises `unsupported_schema`.

    Every provider takes one in which `additionalProperties` is false and all properties are `required`.
    """

    @classmethod
    def of(cls, sampling: Sampling, **others: Any) -> Settings:
        """These sampling options (those of a run's spec, say), with other settings beside them."""
        return cls(**{name: getattr(sampling, name) for name in Sampling.__struct_fields__}, **others)

    @property
    def seed(self) -> int | None:
        """The sampling seed."""
        return self.sampling_seed


UNSUPPORTED_SCHEMA = "unsupported-schema"
"""`kind` of the PermanentError of a system that can't keep to a schema: the caller may ask again without one."""


def unsupported_schema(
    system: str, why: str = "it has no structured output", status: int | None = None
) -> PermanentError:
    """The error of a system that can't promise a reply by `Settings.json_schema`."""
    said = f"{system} can't reply by a JSON schema: {why.removesuffix('.')}."
    return PermanentError(said, kind=UNSUPPORTED_SCHEMA, status=status)


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


@dataclass(frozen=True)
class Reply:
    """What a system said, and the facts about how."""

    text: str
    finish: Finish = "stop"
    usage: Usage | None = None
    model: str | None = None
    """The model as served, which may be more precise than the one that was asked for."""
    sent: dict[str, Any] = field(default_factory=dict)
    """The settings as sent, which may be fewer than were asked for."""
    finish_detail: str = ""
    """The provider's own word for why it stopped."""


class BuiltinSystem(abc.ABC):
    """A system without a model: nothing is started, counted or held, and no JSON schema is kept to."""

    def __init__(self, *, name: str) -> None:
        self.name = name

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """What `answer` says; a PermanentError where a JSON schema is asked for."""
        if settings.json_schema is not None:
            raise unsupported_schema(self.name)
        return await self.answer(messages, settings)

    @abc.abstractmethod
    async def answer(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Reply to the last message."""

    async def start(self) -> Readiness:
        """Nothing is needed."""
        return Readiness()

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - it has none
        """None: it has no tokens."""
        return None

    async def close(self) -> None:  # noqa: B027 - most hold nothing
        """Nothing is held."""


class System(Protocol):
    """A system under test.

    One whose replies are not its own words says so by an attribute `words`, "document" or "recording". A class of the
    user's own that lacks it is taken for one that may quote the document; `words = "own"` says that it is none.
    """

    name: str
    """As the user wrote it after the catalog was consulted: `openai/gpt-4o`, `vllm/…`, `extractive`."""

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """One reply to the conversation so far; the last message is the user's.

        A complete reply without text counts as a failure that is worth another try.
        """
        ...

    async def start(self) -> Readiness:
        """Find the key, import the SDK, reach or start the server; a NotReadyError says what is missing."""
        ...

    async def count_tokens(self, text: str) -> int | None:
        """The system's own count for a text, None where it can't be had. May cost a (free) call."""
        ...

    async def close(self) -> None:
        """Let go of connections and stop what `start` started."""
        ...


@dataclass(frozen=True)
class Readiness:
    """What is known about a system once it is ready."""

    context: int | None = None
    """Tokens that fit in one request, messages and reply together, if the server tells."""
    models: tuple[str, ...] | None = None
    """The models that the server lists; None where it lists none."""
    shutdown: str | None = None
    """The day on which the provider ends this model, if the server tells."""
    notes: tuple[str, ...] = ()
    """Sentences that the user should see before the run."""
