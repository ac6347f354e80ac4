"""An OpenAI-compatible server that answers every question after a fixed time and costs next to no processor time.

    python -m benchmarks.mock_server --latency 0.05

It prints its address and serves until it is stopped. A request's body is counted by its Content-Length and thrown
away unread, so that what is measured on the other side is the client.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re

MODEL = "mock-model"
_LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)", re.IGNORECASE)
# What arrives is read into here, whichever connection it belongs to: one thread handles one read after another.
_BUFFER = memoryview(bytearray(1 << 20))
ANSWER = (
    "Yes. The policy says that personal data is encrypted in transit and at rest, that access is limited to staff who "
    "need it for their work, and that people are told without delay when a breach puts their data at risk (section "
    "4.2, Security of your information). It does not say for how long backups are kept."
)


def _response(body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def reply(text: str) -> bytes:
    """Return the answer to every question."""
    message = {"role": "assistant", "content": text}
    details = {"cached_tokens": 10880}
    return _response(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": {
                "prompt_tokens": 11000,
                "completion_tokens": 60,
                "total_tokens": 11060,
                "prompt_tokens_details": details,
            },
        }
    )


MODELS = _response({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "mock"}]})


class Connection(asyncio.BufferedProtocol):
    """One client's connection: requests one after another, each answered once it has arrived whole."""

    def __init__(self, latency: float, answer: bytes) -> None:
        self.latency = latency
        self.answer = answer
        self._head = b""
        self._missing = 0
        self._asked = False

    def connection_made(self, transport) -> None:
        """Remember where answers go."""
        self._transport = transport

    def get_buffer(self, _sizehint: int) -> memoryview:
        """Where the next bytes are put."""
        return _BUFFER

    def buffer_updated(self, count: int) -> None:
        """Read a request's head; of its body only count what has come."""
        if self._missing:
            self._missing -= count
        else:
            self._head += bytes(_BUFFER[:count])
            head, end, rest = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            self._head = b""
            length = _LENGTH.search(head)
            self._missing = (int(length[1]) if length else 0) - len(rest)
            self._asked = head.startswith(b"POST")
        if self._missing == 0:
            self._answer()

    def _answer(self) -> None:
        if self._asked:
            asyncio.get_running_loop().call_later(self.latency, self._transport.write, self.answer)
        else:
            self._transport.write(MODELS)


def verdict() -> str:
    """Return the verdict of a judge, by the shipped rubric."""
    from genaipa.judging.verdict import make_sample_verdict_json
    from genaipa.scoring.rubric import shipped_rubric

    return make_sample_verdict_json(shipped_rubric(), has_annotated_answer=False)


async def serve(latency: float, text: str) -> None:
    """Print the address, then answer until cancelled."""
    loop, answer = asyncio.get_running_loop(), reply(text)
    server = await loop.create_server(lambda: Connection(latency, answer), "127.0.0.1", 0, backlog=1000)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--latency", type=float, default=0.05, help="seconds until an answer")
    parser.add_argument("--verdicts", action="store_true", help="answer as a judge does")
    parser.add_argument("--says", default=ANSWER, help="answer this")
    wanted = parser.parse_args()
    asyncio.run(serve(wanted.latency, verdict() if wanted.verdicts else wanted.says))
