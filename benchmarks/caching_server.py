"""A model behind three vendors' protocols that keeps each one's rule for its cache, and counts.

    python -m benchmarks.caching_server openai|compatible|anthropic|anthropic-4096|google|google-4096 [--latency 0.2]

It prints its address. Its reply is a judge's verdict, or what `--says` gives. Tokens are four characters each. A prefix
can be read once the reply to a request that began with it is there; by the rules that the vendors state:

- openai: up to a marked block from 1,024 tokens on, by requests with the same `prompt_cache_key`;
- compatible: 16 tokens by 16, whatever is marked, as vLLM does;
- anthropic: up to a marked block from 1,024 tokens on, or from 4,096 as with its largest models;
- google: from 1,024 tokens on, or from 4,096 as with its larger models, up to the end of a message.

GET /totals says how many requests there were, and the tokens of all: in, out, of documents, and read from the cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from itertools import accumulate

from benchmarks.mock_server import verdict

LEAST = {"openai": 1024, "compatible": 16}
LEAST |= {"anthropic": 1024, "anthropic-4096": 4096, "google": 1024, "google-4096": 4096}
_STEP = 64
"""Characters of a block that is cached whole or not at all, where nothing has to be marked."""


def tokens(text: str) -> int:
    """Return a server's own count."""
    return (len(text) + 3) // 4


class Vendor:
    """One vendor's server: its cache, and what it has counted."""

    def __init__(self, name: str, latency: float, said: str) -> None:
        self.name = name.partition("-")[0]
        self.least = LEAST[name]
        self.latency = latency
        self.said = said
        self.totals = dict.fromkeys(("requests", "input", "output", "document", "cached"), 0)
        self._known: set[int] = set()

    async def answer(self, method: str, path: str, body):
        """Return the body of an answer; the path is in small letters."""
        if path == "/totals":
            return self.totals
        if path.endswith(("count_tokens", ":counttokens")):
            count = sum(tokens(text) for text, _ in _turns(body))
            return {"input_tokens": count, "totalTokens": count}
        if method == "get":
            return _MODEL
        form = body.get("response_format") or body.get("output_config") or body["generationConfig"]
        turns = [(json.dumps(form), False), *_turns(body)]
        prefixes = dict(self._prefixes(turns, body.get("prompt_cache_key", "")))
        cached = max((size for prefix, size in prefixes.items() if prefix in self._known), default=0)
        await asyncio.sleep(self.latency)
        self._known.update(prefixes)
        counts = (sum(tokens(text) for text, _ in turns), tokens(self.said), cached)
        document = tokens(turns[1][0])
        added = (1, counts[0], counts[1], document, max(0, min(cached - tokens(turns[0][0]), document)))
        self.totals = {name: self.totals[name] + more for name, more in zip(self.totals, added, strict=True)}
        model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
        return {"model": model, "modelVersion": model} | _reply(self.name, self.said, *counts)

    def _prefixes(self, turns, key: str) -> Iterator[tuple[int, int]]:
        """Return what can be cached of a request: each prefix, and its tokens."""
        if self.name == "compatible":
            text = "".join(text for text, _ in turns)
            pieces = [text[start : start + _STEP] for start in range(0, len(text) - _STEP + 1, _STEP)]
            marked = [True] * len(pieces)
        else:
            pieces = [text for text, _ in turns]
            # Google has no marks. What comes last is another text for every answer.
            marked = [self.name == "google" or mark for _, mark in turns]
        sizes = accumulate(map(tokens, pieces))
        prefixes = accumulate(pieces, lambda before, piece: hash((before, piece)), initial=hash(key))
        next(prefixes)
        for prefix, size, mark in zip(prefixes, sizes, marked, strict=True):
            if mark and size >= self.least:
                yield prefix, size


_MODEL = {"id": "m", "name": "models/m", "object": "model", "type": "model", "data": [], "models": []}


def _turns(body) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a request's messages, and whether each ends with a mark."""
    for message in body.get("messages") or body["contents"]:
        blocks = message.get("content") or message["parts"]
        blocks = [{"text": blocks}] if isinstance(blocks, str) else blocks
        marked = any({"cache_control", "prompt_cache_breakpoint"} & block.keys() for block in blocks)
        yield "".join(block["text"] for block in blocks), marked


def _reply(vendor: str, said: str, came: int, went: int, cached: int):
    """Return a reply in the vendor's form."""
    if vendor == "anthropic":
        usage = {"input_tokens": came - cached, "cache_read_input_tokens": cached, "output_tokens": went}
        content = [{"type": "text", "text": said}]
        return {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage}
    if vendor == "google":
        usage = {"promptTokenCount": came, "cachedContentTokenCount": cached, "candidatesTokenCount": went}
        candidate = {"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP"}
        return {"candidates": [candidate], "usageMetadata": usage}
    details = {"cached_tokens": cached}
    usage = {"prompt_tokens": came, "completion_tokens": went, "prompt_tokens_details": details}
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}


async def serve(vendor: Vendor) -> None:
    """Print the address, then answer until cancelled."""

    async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n"):
            length = next((int(line.split(":")[1]) for line in head if line.startswith("content-length:")), 0)
            body = json.loads(await reader.readexactly(length) or "{}")
            method, path = head[0].split()[:2]
            said = json.dumps(await vendor.answer(method, path.partition("?")[0], body)).encode()
            start = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
            writer.write(start.encode() + said)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await exchange(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vendor", choices=LEAST)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds until an answer")
    parser.add_argument("--says", default=verdict(), help="its reply")
    asked = parser.parse_args()
    asyncio.run(serve(Vendor(asked.vendor, asked.latency, asked.says)))
