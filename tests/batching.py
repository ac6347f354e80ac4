"""OpenAI's and Anthropic's servers with their batches, and whatever may go wrong with them."""

from __future__ import annotations

import abc
import dataclasses
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from servers import AnthropicServer, LoopbackServer, OpenAIServer, Request, drop, failure

Answer = tuple[int, dict[str, str], bytes] | None
Line = tuple[str, dict[str, Any]]
"""Name and request of a line of a batch."""
Result = tuple[str, int, dict[str, Any]]
"""Name, HTTP status and answer."""


@dataclass(frozen=True)
class Fate:
    """What becomes of a batch that is handed in. The default completes it at the second look."""

    state: str = "completed"
    looks: int = 1
    """Looks at which it is not done yet."""
    share: float = 1.0
    """Part of the lines that are done before it ends."""
    code: str = ""
    """Why it failed as a whole."""
    shuffled: bool = False
    doubled: bool = False
    foreign: bool = False
    lost: int = 0
    """Lines of which nothing is in the results, at the end."""
    refused: int = 0
    """HTTP status with which it is refused."""
    unanswered: bool = False
    """It is accepted, and the connection breaks before that is told."""
    unheard: bool = False
    """The connection breaks before it is accepted."""


@dataclass
class Held:
    """A batch at the server."""

    id: str
    mark: str
    input: str
    fate: Fate
    created: int
    names: list[str]
    lines: list[Line]
    ended: bool = False
    looks: int = 0
    status: str = "validating"
    output: str | None = None
    errors: str | None = None


@dataclass
class Broken:
    """How many calls of a kind fail with 500 before one is answered."""

    looks: int = 0
    lists: int = 0
    downloads: int = 0


class Batches(LoopbackServer):
    """Batches of any provider; `fates(number from 1)` says what becomes of each that is handed in."""

    place = "/v1/batches"

    def __init__(self, fates: Callable[[int], Fate] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.fates = fates or (lambda _number: Fate())
        self.files: dict[str, bytes] = {}
        self.batches: list[Held] = []
        self.tried = 0
        self.deleted: list[str] = []
        self.broken = Broken()
        self.at: Callable[[str], None] = lambda _moment: None
        """Told of each moment: upload, create, accepted, look, download, delete."""

    async def _answer(self, request: Request) -> Answer:
        if not request.path.startswith((self.place, "/v1/files")):
            return await super()._answer(request)
        if self.only is not None and self.sent_key(request.headers) != self.only:
            return self._failed(self.wrong_key(self.sent_key(request.headers)))
        if request.path.startswith("/v1/files"):
            return await self._file(request)
        return await self._batch(request, request.path.removeprefix(self.place).split("/")[1:])

    @abc.abstractmethod
    async def _file(self, request: Request) -> Answer:
        """What is asked about a file."""

    @abc.abstractmethod
    def _handed_in(self, request: Request) -> tuple[str, str, list[Line]]:
        """The mark and file of a batch, and its lines."""

    @abc.abstractmethod
    def _done(self, held: Held, good: list[Result], bad: list[Result], undone: list[str]) -> None:
        """Keep the results of a batch."""

    @abc.abstractmethod
    def _shown(self, held: Held) -> dict[str, Any]:
        """The batch as the provider tells of it."""

    async def _batch(self, request: Request, place: list[str]) -> Answer:
        if request.method == "POST" and not place:
            return await self._create(request)
        if not place:
            if self.broken.lists:
                self.broken.lists -= 1
                return self._failed(failure(500))
            for one in self.batches:
                # They go on whether or not anybody looks.
                await self._go_on(one)
            return self._said({"object": "list", "data": list(map(self._shown, self.batches[::-1])), "has_more": False})
        held = next(one for one in self.batches if one.id == place[0])
        if request.method == "DELETE":
            self.at("delete")
            self.deleted.append(held.id)
        elif place[1:] == ["cancel"]:
            held.fate = dataclasses.replace(held.fate, state="cancelled", looks=0, share=0.5)
        elif self.broken.looks:
            self.broken.looks -= 1
            return self._failed(failure(500))
        else:
            self.at("look")
            await self._go_on(held)
        return self._said(self._shown(held))

    async def _create(self, request: Request) -> Answer:
        self.tried += 1
        self.at("create")
        fate = self.fates(self.tried)
        if fate.unheard:
            return await self._called(request, drop())
        if fate.refused:
            return self._failed(failure(fate.refused, "no", fate.code or None))
        mark, file, lines = self._handed_in(request)
        names = [name for name, _ in lines]
        held = Held(f"batch_{len(self.batches) + 1}", mark, file, fate, int(time.time()), names, lines)
        assert len(set(names)) == len(lines), "equal names swap answers"
        assert len({body["model"] for _, body in lines}) == 1
        self.batches.append(held)
        self.at("accepted")
        return None if fate.unanswered else self._said(self._shown(held))

    async def _go_on(self, held: Held) -> None:
        held.looks += 1
        if held.ended or held.looks <= held.fate.looks:
            held.status = held.status if held.ended else "in_progress"
            return
        held.status, held.ended = held.fate.state, True
        if held.fate.state == "failed":
            return
        done = round(held.fate.share * len(held.lines))
        good, bad = list[Result](), list[Result]()
        for name, body in held.lines[:done]:
            request = Request("POST", "/v1/model", {}, body)
            self.requests.append(request)
            answer = await self._called(request, self._behaviour(len(self.requests), body))
            assert answer is not None
            (good if answer[0] == 200 else bad).append((name, answer[0], json.loads(answer[2])))
        self._done(held, good, bad, held.names[done : len(held.lines) - held.fate.lost])

    def _stored(self, held: Held, lines: list[dict[str, Any]], second: dict[str, Any]) -> str | None:
        """The name of a file of results; `second` is what a doubled line has the second time."""
        if not lines:
            return None
        if held.fate.shuffled:
            random.Random(1).shuffle(lines)
        if held.fate.doubled:
            lines = [*lines, *({**line, **second} for line in lines)]
        if held.fate.foreign:
            lines = [{**lines[0], "custom_id": "somebody-elses"}, *lines]
        name = f"file-{len(self.files) + 1}"
        self.files[name] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return name

    def _sent(self, name: str) -> Answer:
        self.at("download")
        if self.broken.downloads:
            self.broken.downloads -= 1
            return self._failed(failure(404, f"No such File object: {name}"))
        return 200, {"content-type": "application/jsonl"}, self.files[name]

    @staticmethod
    def _said(content: dict[str, Any]) -> Answer:
        return 200, {}, json.dumps(content).encode()


class BatchServer(Batches, OpenAIServer):
    """OpenAI's."""

    async def _file(self, request: Request) -> Answer:
        name = request.path.removeprefix("/v1/files").strip("/").partition("/")[0]
        if request.method == "POST":
            self.at("upload")
            boundary = request.headers["content-type"].partition("boundary=")[2].encode()
            parts = request.body["form"].split(b"--" + boundary)
            content = next(part for part in parts if b'filename="' in part).partition(b"\r\n\r\n")[2][:-2]
            name = f"file-{len(self.files) + 1}"
            self.files[name] = content
            return self._said({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"})
        if request.method == "DELETE":
            self.at("delete")
            self.deleted.append(name)
            return self._said({"id": name, "deleted": True})
        return self._sent(name)

    def _handed_in(self, request: Request) -> tuple[str, str, list[Line]]:
        file = request.body["input_file_id"]
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
        return request.body["metadata"]["genaipa"], file, [(line["custom_id"], line["body"]) for line in lines]

    def _done(self, held: Held, good: list[Result], bad: list[Result], undone: list[str]) -> None:
        came, failed = (
            [
                {"custom_id": name, "response": {"status_code": status, "request_id": "r", "body": body}, "error": None}
                for name, status, body in some
            ]
            for some in (good, bad)
        )
        word = {"expired": "batch_expired"}.get(held.fate.state, "batch_cancelled")
        error = {"code": word, "message": "This request could not be executed."}
        failed += [{"custom_id": name, "response": None, "error": error} for name in undone]
        second = {"response": {"status_code": 200, "body": {}}}
        held.output, held.errors = self._stored(held, came, second), self._stored(held, failed, second)

    def _shown(self, held: Held) -> dict[str, Any]:
        errors = {"object": "list", "data": [{"code": held.fate.code, "message": "It failed.", "line": None}]}
        return {
            "id": held.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": held.created,
            "input_file_id": held.input,
            "status": held.status,
            "metadata": {"genaipa": held.mark},
            "output_file_id": held.output,
            "error_file_id": held.errors,
            "errors": errors if held.status == "failed" else None,
            "request_counts": {"total": len(held.lines), "completed": 0, "failed": 0},
        }


class AnthropicBatchServer(Batches, AnthropicServer):
    """Anthropic's: no files, no marks, and counts that are 0 until the end."""

    place = "/v1/messages/batches"

    async def _file(self, request: Request) -> Answer:
        raise AssertionError(request.path)

    async def _batch(self, request: Request, place: list[str]) -> Answer:
        if place[1:] == ["results"]:
            held = next(one for one in self.batches if one.id == place[0])
            return self._sent(held.output or "")
        return await super()._batch(request, place)

    def _handed_in(self, request: Request) -> tuple[str, str, list[Line]]:
        lines = [(line["custom_id"], line["params"]) for line in request.body["requests"]]
        return lines[0][0].partition("-")[0], "", lines

    def _done(self, held: Held, good: list[Result], bad: list[Result], undone: list[str]) -> None:
        word = "expired" if held.fate.state == "expired" else "canceled"
        results: list[tuple[str, dict[str, Any]]] = [
            *((name, {"type": "succeeded", "message": body}) for name, _, body in good),
            *((name, {"type": "errored", "error": body}) for name, _, body in bad),
            *((name, {"type": word}) for name in undone),
        ]
        lines = [{"custom_id": name, "result": result} for name, result in results]
        held.output = self._stored(held, lines, {"result": {"type": "expired"}})
        if held.output is None:
            held.output = f"file-{len(self.files) + 1}"
            self.files[held.output] = b""

    def _shown(self, held: Held) -> dict[str, Any]:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(held.created))
        cancelled = held.fate.state == "cancelled"
        number = len(held.lines)
        counts = dict.fromkeys(("canceled", "errored", "expired", "succeeded"), 0)
        return {
            "id": held.id,
            "type": "message_batch",
            "processing_status": "ended" if held.ended else "in_progress",
            "created_at": moment,
            "expires_at": moment,
            "ended_at": moment if held.ended else None,
            "cancel_initiated_at": moment if cancelled else None,
            "request_counts": counts
            | ({"processing": 0, "succeeded": number} if held.ended else {"processing": number}),
            "results_url": f"{self.root}{self.place}/{held.id}/results" if held.ended else None,
        }
