"""A server that takes OpenAI's batches and costs little: a batch is done at the second look.

    python -m benchmarks.batch_server

It prints its address and serves until it is stopped. Of what is handed in it keeps the names of the lines alone.
"""

from __future__ import annotations

import asyncio
import json
import re

from benchmarks.mock_server import ANSWER

MODEL = "gpt-4o"
_NAME = re.compile(rb'"custom_id":"([^"]+)"')
_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.IGNORECASE)
_LONGEST_HEAD = 1 << 16
_USAGE = {"prompt_tokens": 60, "completion_tokens": 60, "total_tokens": 120}
_MESSAGE = {"role": "assistant", "content": ANSWER}
_BODY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": MODEL,
    "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
    "usage": _USAGE,
}
_LINE = json.dumps({"custom_id": "?", "response": {"status_code": 200, "body": _BODY}, "error": None}).encode() + b"\n"


class Server:
    """The files and batches that were handed in."""

    def __init__(self) -> None:
        self.files: list[list[bytes]] = []
        self.batches: list[dict[str, object]] = []
        self.looks: dict[str, int] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                method, path = head.split(b" ", 2)[:2]
                content = self._answer(method.decode(), path.decode().partition("?")[0].removeprefix("/v1/"), body)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, method: str, path: str, body: bytes) -> bytes:
        kind, _, name = path.partition("/")
        if kind == "models":
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "mock"}]}
            return json.dumps(listed).encode()
        if kind == "files" and method == "GET":
            names = self.files[int(name.partition("/")[0].removeprefix("file-"))]
            before, after = _LINE.split(b"?", 1)
            return b"".join(before + one + after for one in names)
        if kind == "files" and method == "POST":
            self.files.append(_NAME.findall(body))
            said = {"id": f"file-{len(self.files) - 1}", "object": "file", "bytes": len(body), "purpose": "batch"}
            return json.dumps(said).encode()
        if method == "POST":
            asked = json.loads(body)
            made = {"id": f"batch-{len(self.batches)}", "input_file_id": asked["input_file_id"]}
            self.batches.append({**made, "metadata": asked["metadata"]})
            return self._shown(self.batches[-1], "validating")
        if kind == "batches" and name:
            self.looks[name] = self.looks.get(name, 0) + 1
            state = "completed" if self.looks[name] > 1 else "in_progress"
            return self._shown(self.batches[int(name.removeprefix("batch-"))], state)
        return b"{}"

    def _shown(self, batch: dict[str, object], state: str) -> bytes:
        total = len(self.files[int(str(batch["input_file_id"]).removeprefix("file-"))])
        facts = {"object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h", "created_at": 1}
        counts = {"total": total, "completed": total if state == "completed" else 0, "failed": 0}
        output = batch["input_file_id"] if state == "completed" else None
        return json.dumps(
            {**batch, **facts, "status": state, "output_file_id": output, "request_counts": counts}
        ).encode()


async def main() -> None:
    """Print the address, then answer until cancelled."""
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 0, limit=_LONGEST_HEAD)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
