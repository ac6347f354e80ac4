"""Real HTTP servers on loopback that speak the providers' protocols, for tests with the providers' own SDKs.

    with OpenAIServer() as server:                       # answers everything, caches as a provider would
        os.environ["OPENAI_BASE_URL"] = server.url
    with AnthropicServer([rate_limited(2), reply("Yes.")]) as server: ...   # first two requests, then as above
    with GoogleServer(behave) as server: ...             # behave(number from 1, body) -> Behaviour, called in turn

`requests` are the model calls (a token count or a list of models is in `lookups`). A script is followed by model calls
only. Everything runs in one thread of its own, so a `behave` is never called twice at once.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self


@dataclass(frozen=True)
class Behaviour:
    """What a server does with one request. The default answers it."""

    text: str | None = None
    """The reply; None for one made from the last message."""
    finish: Literal["stop", "length", "refusal"] = "stop"
    cached: int | None = None
    """Tokens reported as read from the cache; None for those of a prefix that was seen before."""
    status: int = 200
    error: str = "something went wrong"
    code: str | None = None
    """The provider's word for the error: `insufficient_quota`, `RESOURCE_EXHAUSTED`, …"""
    details: tuple[dict[str, Any], ...] = ()
    """Google's error details."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is instead of JSON."""
    delay: float = 0.0
    """Seconds before the answer."""
    stall: bool = False
    """No answer ever."""
    drop: bool = False
    """The connection breaks instead of an answer."""
    answer: dict[str, Any] | None = None
    """The whole answer in the provider's form, in one piece or streamed."""
    events: Sequence[Any] = ()
    """Events that are streamed in place of the reply's own: objects, among them errors in the provider's form."""
    breaks: int | None = None
    """Events of a streamed reply after which the connection breaks; None for none."""
    until: Callable[[], bool] | None = None
    """What has to be so before it is answered; after 30 seconds it is answered all the same."""
    wire: Callable[[], Iterable[bytes | float]] | None = None
    """Bytes that are sent instead of an answer, with seconds to wait between them, until the client hangs up."""


def reply(text: str | None = None, *, delay: float = 0.0, cached: int | None = None) -> Behaviour:
    """A complete reply."""
    return Behaviour(text=text, delay=delay, cached=cached)


def cut(text: str = "The policy says that") -> Behaviour:
    """A reply that the token limit cut."""
    return Behaviour(text=text, finish="length")


def refusal(text: str = "I can't help with that.") -> Behaviour:
    """The system declines."""
    return Behaviour(text=text, finish="refusal")


def empty() -> Behaviour:
    """A complete reply without text."""
    return Behaviour(text="")


def malformed(body: bytes = b'{"id": "x", "choices": [{"mess') -> Behaviour:
    """A body that is not what the protocol promises."""
    return Behaviour(body=body)


def stall() -> Behaviour:
    """The request is read, and nothing is answered."""
    return Behaviour(stall=True)


def drop() -> Behaviour:
    """The connection breaks instead of an answer."""
    return Behaviour(drop=True)


def failure(status: int, error: str = "something went wrong", code: str | None = None) -> Behaviour:
    """An error in the provider's own form."""
    return Behaviour(status=status, error=error, code=code)


def rate_limited(retry_after: float | str | None = None) -> Behaviour:
    """429, with the wait that is asked for in seconds (or as a date)."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Behaviour(status=429, error="Rate limit reached.", code="rate_limit_exceeded", headers=headers)


def overloaded() -> Behaviour:
    """529, as Anthropic says it."""
    return Behaviour(status=529, error="Overloaded", code="overloaded_error")


Script = Sequence[Behaviour] | Callable[[int, dict[str, Any]], Behaviour]


@dataclass(frozen=True)
class Request:
    """One request as it came in; `headers` have lower-case names."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One message of a request, whatever the provider calls it; `marked` if it ends with a cache breakpoint."""

    role: str
    text: str
    marked: bool = False


@dataclass(frozen=True)
class Counts:
    """Tokens of one call: `input` holds all, `cached` and `written` are parts of it."""

    input: int
    cached: int
    written: int
    output: int


def tokens(text: str) -> int:
    """The servers' own count: four characters a token."""
    return (len(text) + 3) // 4


def pieces(text: str | None) -> list[str]:
    """A text in pieces, such as a server streams it: words with the blanks before them."""
    return re.findall(r"\s*\S+|\s+$", text or "")


class LoopbackServer(abc.ABC):
    """What the providers' servers have in common. `only` is the one key accepted, None accepts any and none."""

    models: tuple[str, ...] = ()
    only_marked = False
    """Whether a prefix is cached only up to a breakpoint."""

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] | None = None,
        only: str | None = None,
        latency: float = 0.0,
        listing: Behaviour | None = None,
        entry: Behaviour | None = None,
        counting: Behaviour | None = None,
        shutdown: dict[str, str] | None = None,
        context: int | None = None,
        reads: int | None = None,
    ) -> None:
        self.script = script
        self.models = tuple(models) if models is not None else self.models
        self.only = only
        self.latency = latency
        self.listing = listing
        """What happens to a request for the list of models, None to list them."""
        self.entry = entry
        """What happens to a request for one model, None to tell about it."""
        self.counting = counting
        """What happens to a request to count tokens, None to count."""
        self.shutdown = shutdown or {}
        """Model → the day on which it ends."""
        self.context = context
        self.reads = reads
        """Tokens of a prompt that it reads at most, without a word about the rest; None for all."""
        self.requests: list[Request] = []
        self.lookups: list[Request] = []
        self.peak = 0
        """Most model calls that were under way at once."""
        self.port = 0
        self._under_way = 0
        self._seen: set[int] = set()
        self._loop = asyncio.new_event_loop()
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._stopped: asyncio.Event | None = None

    # Life

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60), "the server does not start"
        return self

    def __exit__(self, *_: object) -> None:
        if self._stopped is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(60)
        self._loop.close()

    @property
    def root(self) -> str:
        """The server's address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The address as the provider's variable for it wants it."""
        return self.root

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stopped = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopped.wait()
        # A connection that is being accepted, in a task of asyncio's own, would be left open: it warns when it is
        # collected, in whatever test that is.
        while asyncio.all_tasks() - self._connections - {asyncio.current_task()}:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0)
        server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and answer it; False when the connection is over."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        path = urllib.parse.unquote(target.partition("?")[0])
        # The parts of a form and of a file are left as they came.
        plain = "multipart" in headers.get("content-type", "") or "x-goog-upload-offset" in headers
        body = {"form": raw} if plain else json.loads(raw or b"{}")
        answer = await self._answer(Request(method, path, headers, body))
        if answer is None:
            return False
        status, extra, body = answer
        if not isinstance(body, bytes):
            for piece in body:
                if isinstance(piece, float):
                    await asyncio.sleep(piece)
                else:
                    writer.write(piece)
                    await writer.drain()
            # A client asks again on a connection whose response is whole, so that closing it here would break a call.
            return status == 200
        lines = [f"HTTP/1.1 {status} Status", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in ({"content-type": "application/json"} | extra).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        return True

    # What is answered

    async def _answer(self, request: Request) -> tuple[int, dict[str, str], Any] | None:
        """Status (0 to break the connection after the body), headers, body; None to break it without an answer."""
        if self.only is not None and self.sent_key(request.headers) != self.only:
            return self._failed(self.wrong_key(self.sent_key(request.headers)))
        if not self.is_call(request):
            self.lookups.append(request)
            return await self._looked_up(request)
        self.requests.append(request)
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            return await self._called(request, self._behaviour(len(self.requests), request.body))
        finally:
            self._under_way -= 1

    def _behaviour(self, number: int, body: dict[str, Any]) -> Behaviour:
        if callable(self.script):
            return self.script(number, body)
        return self.script[number - 1] if number <= len(self.script) else Behaviour()

    async def _called(self, request: Request, behaviour: Behaviour) -> tuple[int, dict[str, str], Any] | None:
        if self.latency or behaviour.delay:
            await asyncio.sleep(self.latency + behaviour.delay)
        if behaviour.until is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(30):
                    while not behaviour.until():  # noqa: ASYNC110 - what a test waits for has no event
                        await asyncio.sleep(0.005)
        if behaviour.stall:
            await asyncio.Event().wait()
        if behaviour.drop:
            return None
        if behaviour.wire is not None:
            return 0, {}, behaviour.wire()
        if behaviour.body is not None:
            return behaviour.status, behaviour.headers, behaviour.body
        if behaviour.status != 200:
            return self._failed(behaviour)
        turns = self.turns(request.body)
        text = f"You asked: {turns[-1].text[:80]}" if behaviour.text is None else behaviour.text
        counts = self._count(turns, text, behaviour.cached)
        answer = behaviour.answer or self.completion(request, text, behaviour.finish, counts)
        if self.is_streamed(request):
            status = 200 if behaviour.breaks is None else 0
            return status, {}, self._stream(behaviour.events or self.events(answer), behaviour.breaks)
        return 200, behaviour.headers, json.dumps(answer).encode()

    def _stream(self, events: Sequence[Any], breaks: int | None) -> Iterable[bytes]:
        """The bytes of a response in pieces, a chunk for each event."""
        yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        for event in events[:breaks]:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
            yield b"%x\r\n%s\r\n" % (len(data), data)
        if breaks is None:
            yield b"0\r\n\r\n"

    async def _looked_up(self, request: Request) -> tuple[int, dict[str, str], Any] | None:
        behaviour = self.entry
        if request.path.endswith("/models"):
            behaviour = self.listing
        elif request.method == "POST":
            behaviour = self.counting
        if behaviour is not None:
            return await self._called(request, behaviour)
        found = self.look_up(request)
        if found is None:
            model = request.path.rsplit("/", 1)[-1]
            return self._failed(failure(404, f"The model '{model}' does not exist.", self.not_found))
        return 200, {}, json.dumps(found).encode()

    def _failed(self, behaviour: Behaviour) -> tuple[int, dict[str, str], bytes]:
        return behaviour.status, behaviour.headers, json.dumps(self.error(behaviour)).encode()

    def _count(self, turns: list[Turn], text: str, cached: int | None) -> Counts:
        """Tokens, with the longest prefix that an earlier request left in the cache."""
        total = known = written = prefix = 0
        for turn in turns:
            total += tokens(turn.text)
            prefix = hash((prefix, turn.role, turn.text))
            if prefix in self._seen:
                known = total
            elif turn.marked or not self.only_marked:
                self._seen.add(prefix)
                written = total - known
        if self.reads is not None:
            total, known, written = (min(count, self.reads) for count in (total, known, written))
        return Counts(input=total, cached=known if cached is None else cached, written=written, output=tokens(text))

    # What each provider says in its own way

    not_found = "model_not_found"

    def sent_key(self, headers: dict[str, str]) -> str:
        """The key in a request's headers."""
        return headers.get("authorization", "").removeprefix("Bearer ")

    def wrong_key(self, key: str) -> Behaviour:
        """The refusal, with the key masked in it as providers do."""
        return failure(401, f"Incorrect API key provided: {key[:7]}********{key[-4:]}.", "invalid_api_key")

    def is_streamed(self, request: Request) -> bool:
        """Whether the reply is asked for in pieces."""
        return bool(request.body.get("stream"))

    def events(self, answer: dict[str, Any]) -> list[Any]:
        """The events in which an answer is streamed."""
        raise NotImplementedError

    @abc.abstractmethod
    def is_call(self, request: Request) -> bool:
        """Whether a model is asked for a reply."""

    @abc.abstractmethod
    def look_up(self, request: Request) -> dict[str, Any] | None:
        """The answer to any other request, None if there is no such thing."""

    @abc.abstractmethod
    def turns(self, body: dict[str, Any]) -> list[Turn]:
        """The conversation in a request."""

    @abc.abstractmethod
    def completion(self, request: Request, text: str, finish: str, counts: Counts) -> dict[str, Any]:
        """A reply in the provider's form."""

    @abc.abstractmethod
    def error(self, behaviour: Behaviour) -> dict[str, Any]:
        """An error in the provider's form."""


class OpenAIServer(LoopbackServer):
    """OpenAI's chat completions, and vLLM's /health and /tokenize beside them."""

    models = ("gpt-4o", "gpt-4o-mini", "gpt-5.6")

    @property
    def url(self) -> str:
        """With the version in the path, as OPENAI_BASE_URL wants it."""
        return f"{self.root}/v1"

    def is_call(self, request: Request) -> bool:
        """A chat completion."""
        return request.path == "/v1/chat/completions"

    def look_up(self, request: Request) -> dict[str, Any] | None:
        """Health, tokens, models."""
        if request.path == "/health":
            return {}
        if request.path == "/tokenize":
            return {"count": tokens(request.body["prompt"]), "max_model_len": self.context, "tokens": []}
        if request.path == "/v1/models":
            return {"object": "list", "data": [self._model(model) for model in self.models]}
        model = request.path.removeprefix("/v1/models/")
        return self._model(model) if model in (*self.models, *self.shutdown) else None

    def _model(self, model: str) -> dict[str, Any]:
        entry = {"id": model, "object": "model", "created": 1700000000, "owned_by": "tests"}
        if model in self.shutdown:
            entry["shutdown_date"] = self.shutdown[model]
        return entry | ({"max_model_len": self.context} if self.context else {})

    def turns(self, body: dict[str, Any]) -> list[Turn]:
        """Content is a string, or blocks of text."""
        found = []
        for message in body["messages"]:
            blocks = message["content"]
            blocks = [{"text": blocks}] if isinstance(blocks, str) else blocks
            marked = any("prompt_cache_breakpoint" in block for block in blocks)
            found.append(Turn(message["role"], "".join(block["text"] for block in blocks), marked))
        return found

    def completion(self, request: Request, text: str, finish: str, counts: Counts) -> dict[str, Any]:
        """A refusal stands in a field of its own."""
        refused = finish == "refusal"
        message = {"role": "assistant", "content": None if refused else text, "refusal": text if refused else None}
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 1700000000,
            "model": f"{request.body['model']}-2024-08-06",
            "choices": [{"index": 0, "message": message, "finish_reason": "length" if finish == "length" else "stop"}],
            "usage": {
                "prompt_tokens": counts.input,
                "completion_tokens": counts.output,
                "total_tokens": counts.input + counts.output,
                "prompt_tokens_details": {"cached_tokens": counts.cached, "cache_write_tokens": counts.written},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def events(self, answer: dict[str, Any]) -> list[Any]:
        """A chunk with the role, one for each word, one with the end, one with the usage, and a word to end with."""
        (choice,) = answer["choices"]
        head = {name: answer[name] for name in answer if name not in ("choices", "usage")}
        head |= {"object": "chat.completion.chunk", "usage": None}
        message, deltas = choice["message"], [{"role": "assistant", "content": ""}]
        for name in message.keys() - {"role"}:
            deltas += [{name: piece} for piece in pieces(message[name])]
        ended = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas] + [ended]
        last = head | {"choices": [], "usage": answer["usage"]}
        return [*(head | {"choices": [chunk]} for chunk in chunks), last, "[DONE]"]

    def error(self, behaviour: Behaviour) -> dict[str, Any]:
        """Message, type and code."""
        return {"error": {"message": behaviour.error, "type": behaviour.code, "param": None, "code": behaviour.code}}


class AnthropicServer(LoopbackServer):
    """Anthropic's messages. A prefix is cached only up to a block with cache_control."""

    models = ("claude-opus-4-8", "claude-sonnet-4-5-20250929")
    only_marked = True
    not_found = "not_found_error"

    def sent_key(self, headers: dict[str, str]) -> str:
        """Older SDKs have a header of their own."""
        return headers.get("x-api-key") or super().sent_key(headers)

    def is_call(self, request: Request) -> bool:
        """A message."""
        return request.path == "/v1/messages"

    def look_up(self, request: Request) -> dict[str, Any] | None:
        """Tokens, models."""
        if request.path == "/v1/messages/count_tokens":
            return {"input_tokens": sum(tokens(turn.text) for turn in self.turns(request.body))}
        if request.path == "/v1/models":
            data = [self._model(model) for model in self.models]
            return {"data": data, "has_more": False, "first_id": None, "last_id": None}
        model = request.path.removeprefix("/v1/models/")
        return self._model(model) if model in (*self.models, *self.shutdown) else None

    def _model(self, model: str) -> dict[str, Any]:
        ends = self.shutdown.get(model)
        return {
            "id": model,
            "type": "model",
            "display_name": model,
            "created_at": "2025-01-01T00:00:00Z",
            "lifecycle": "deprecated" if ends else "active",
            "retires_at": f"{ends}T00:00:00Z" if ends else None,
            "max_input_tokens": self.context,
        }

    def turns(self, body: dict[str, Any]) -> list[Turn]:
        """Content is a string, or blocks of text."""
        found = []
        for message in body["messages"]:
            blocks = message["content"]
            blocks = [{"text": blocks}] if isinstance(blocks, str) else blocks
            marked = any("cache_control" in block for block in blocks)
            texts = [block.get("text") or block["source"]["data"] for block in blocks]
            found.append(Turn(message["role"], "".join(texts), marked))
        return found

    def completion(self, request: Request, text: str, finish: str, counts: Counts) -> dict[str, Any]:
        """Cached and written tokens are not among the input tokens."""
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": request.body["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}[finish],
            "stop_sequence": None,
            "usage": {
                "input_tokens": counts.input - counts.cached - counts.written,
                "cache_read_input_tokens": counts.cached,
                "cache_creation_input_tokens": counts.written,
                "output_tokens": counts.output,
            },
        }

    def events(self, answer: dict[str, Any]) -> list[Any]:
        """The message's head, each block with its deltas, the end with the usage."""
        head = answer | {"content": [], "stop_reason": None, "usage": answer["usage"] | {"output_tokens": 1}}
        events: list[Any] = [{"type": "message_start", "message": head}, {"type": "ping"}]
        for index, block in enumerate(answer["content"]):
            named = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}
            empty = (
                block
                | {name: "" for name in named if name in block}
                | ({"citations": []} if "citations" in block else {})
            )
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            for name in (name for name in named if name in block):
                deltas = [{"type": named[name], name: piece} for piece in pieces(block[name])]
                events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            for citation in block.get("citations") or ():
                delta = {"type": "citations_delta", "citation": citation}
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        delta = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        usage = {"output_tokens": answer["usage"]["output_tokens"]}
        return [*events, {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]

    def error(self, behaviour: Behaviour) -> dict[str, Any]:
        """Type and message, and the id of the request."""
        error = {"type": behaviour.code or "api_error", "message": behaviour.error}
        return {"type": "error", "error": error, "request_id": f"req_{len(self.requests):06}"}


class GoogleServer(LoopbackServer):
    """Gemini's generateContent."""

    models = ("gemini-2.5-flash", "gemini-2.5-pro")
    not_found = "NOT_FOUND"

    def sent_key(self, headers: dict[str, str]) -> str:
        """Google has a header of its own."""
        return headers.get("x-goog-api-key", "")

    def wrong_key(self, key: str) -> Behaviour:
        """400, unlike the others."""
        reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        error = f"API key not valid: {key}. Please pass a valid API key."
        return Behaviour(status=400, error=error, code="INVALID_ARGUMENT", details=(reason,))

    def is_call(self, request: Request) -> bool:
        """A generateContent, in one piece or several."""
        return request.path.endswith((":generateContent", ":streamGenerateContent"))

    def is_streamed(self, request: Request) -> bool:
        """The path says it."""
        return request.path.endswith(":streamGenerateContent")

    def events(self, answer: dict[str, Any]) -> list[Any]:
        """A whole answer for each piece of a part, the last one with the reason of its end."""
        head = {name: answer[name] for name in answer if name != "candidates"}
        if "candidates" not in answer:
            return [head]
        (candidate,) = answer["candidates"]
        parts = [part | {"text": piece} for part in candidate["content"]["parts"] for piece in pieces(part["text"])]
        contents = [{"content": {"role": "model", "parts": [part]}, "index": 0} for part in parts]
        contents.append(
            {"content": {"role": "model", "parts": []}, "index": 0} | {"finishReason": candidate["finishReason"]}
        )
        return [head | {"candidates": [content]} for content in contents]

    def look_up(self, request: Request) -> dict[str, Any] | None:
        """Tokens, models."""
        if request.path.endswith(":countTokens"):
            return {"totalTokens": sum(tokens(turn.text) for turn in self.turns(request.body))}
        if request.path.endswith("/models"):
            return {"models": [self._model(model) for model in self.models]}
        model = request.path.rsplit("/", 1)[-1]
        return self._model(model) if model in self.models else None

    def _model(self, model: str) -> dict[str, Any]:
        return {"name": f"models/{model}", "inputTokenLimit": self.context or 1048576, "outputTokenLimit": 65536}

    def turns(self, body: dict[str, Any]) -> list[Turn]:
        """Contents have parts."""
        return [
            Turn(content["role"], "".join(part["text"] for part in content["parts"])) for content in body["contents"]
        ]

    def completion(self, request: Request, text: str, finish: str, counts: Counts) -> dict[str, Any]:
        """A refused prompt has no candidate."""
        model = request.path.rsplit("/", 1)[-1].partition(":")[0]
        usage = {
            "promptTokenCount": counts.input,
            "cachedContentTokenCount": counts.cached,
            "candidatesTokenCount": counts.output,
            "totalTokenCount": counts.input + counts.output,
        }
        if finish == "refusal":
            return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage, "modelVersion": model}
        content = {"role": "model", "parts": [{"text": text}] if text else []}
        reason = "MAX_TOKENS" if finish == "length" else "STOP"
        candidate = {"content": content, "finishReason": reason, "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": f"{model}-001"}

    def error(self, behaviour: Behaviour) -> dict[str, Any]:
        """Code, message, status and details."""
        error = {"code": behaviour.status, "message": behaviour.error, "status": behaviour.code}
        return {"error": error | ({"details": list(behaviour.details)} if behaviour.details else {})}
