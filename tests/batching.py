"""OpenAI's server with its batches: files, batches, lists, and whatever may go wrong with them."""

from __future__ import annotations

import dataclasses
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from servers import OpenAIServer, Request, drop, failure

Answer = tuple[int, dict[str, str], bytes] | None


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
    lines: list[dict[str, Any]]
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


class BatchServer(OpenAIServer):
    """The server; `fates(number from 1)` says what becomes of each batch that is handed in."""

    def __init__(self, fates: Callable[[int], Fate] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.fates = fates or (lambda _number: Fate())
        self.files: dict[str, bytes] = {}
        self.batches: list[Held] = []
        self.tried = 0
        self.deleted: list[str] = []
        self.broken = Broken()
        self.lists = 0
        self.at: Callable[[str], None] = lambda _moment: None
        """Told of each moment: upload, create, accepted, look, download, delete."""

    async def _answer(self, request: Request) -> Answer:
        place = request.path.removeprefix("/v1/").split("/")
        if place[0] not in ("files", "batches"):
            return await super()._answer(request)
        if self.only is not None and self.sent_key(request.headers) != self.only:
            return self._failed(self.wrong_key(self.sent_key(request.headers)))
        return await (self._file(request, place) if place[0] == "files" else self._batch(request, place))

    async def _file(self, request: Request, place: list[str]) -> Answer:
        self.at({"POST": "upload", "DELETE": "delete"}.get(request.method, "download"))
        if request.method == "POST":
            boundary = request.headers["content-type"].partition("boundary=")[2].encode()
            parts = request.body["form"].split(b"--" + boundary)
            content = next(part for part in parts if b'filename="' in part).partition(b"\r\n\r\n")[2][:-2]
            name = f"file-{len(self.files) + 1}"
            self.files[name] = content
            return self._said({"id": name, "object": "file", "bytes": len(content), "purpose": "batch"})
        if request.method == "DELETE":
            self.deleted.append(place[1])
            return self._said({"id": place[1], "deleted": True})
        if self.broken.downloads:
            self.broken.downloads -= 1
            return self._failed(failure(404, f"No such File object: {place[1]}"))
        return 200, {"content-type": "application/jsonl"}, self.files[place[1]]

    async def _batch(self, request: Request, place: list[str]) -> Answer:
        if request.method == "POST" and len(place) == 1:
            return await self._create(request)
        if len(place) == 1:
            self.lists += 1
            if self.broken.lists:
                self.broken.lists -= 1
                return self._failed(failure(500))
            data = [self._shown(one) for one in reversed(self.batches)]
            return self._said({"object": "list", "data": data, "has_more": False})
        held = next(one for one in self.batches if one.id == place[1])
        if place[2:] == ["cancel"]:
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
        lines = [json.loads(line) for line in self.files[request.body["input_file_id"]].splitlines()]
        number = len(self.batches) + 1
        mark = request.body["metadata"]["genaipa"]
        created = int(time.time())
        names = [line["custom_id"] for line in lines]
        held = Held(f"batch_{number}", mark, request.body["input_file_id"], fate, created, names, lines)
        assert len(set(held.names)) == len(lines), "equal names swap answers"
        assert len({line["body"]["model"] for line in lines}) == 1
        self.batches.append(held)
        self.at("accepted")
        return None if fate.unanswered else self._said(self._shown(held))

    async def _go_on(self, held: Held) -> None:
        held.looks += 1
        if held.output or held.errors or held.looks <= held.fate.looks:
            held.status = held.status if held.output or held.errors else "in_progress"
            return
        held.status = held.fate.state
        if held.fate.state == "failed":
            return
        done = round(held.fate.share * len(held.lines))
        good, bad = [], []
        for line in held.lines[:done]:
            request = Request("POST", "/v1/chat/completions", {}, line["body"])
            self.requests.append(request)
            answer = await self._called(request, self._behaviour(len(self.requests), line["body"]))
            assert answer is not None
            status, _, body = answer
            response = {"status_code": status, "request_id": "r", "body": json.loads(body)}
            (good if status == 200 else bad).append({"custom_id": line["custom_id"], "response": response})
        word = {"expired": "batch_expired"}.get(held.fate.state, "batch_cancelled")
        error = {"code": word, "message": "This request could not be executed."}
        undone = held.lines[done : len(held.lines) - held.fate.lost]
        bad += [{"custom_id": line["custom_id"], "response": None, "error": error} for line in undone]
        held.output, held.errors = self._stored(held, good), self._stored(held, bad)

    def _stored(self, held: Held, lines: list[dict[str, Any]]) -> str | None:
        if not lines:
            return None
        if held.fate.shuffled:
            random.Random(1).shuffle(lines)
        if held.fate.doubled:
            lines = [*lines, *({**line, "response": {"status_code": 200, "body": {}}} for line in lines)]
        if held.fate.foreign:
            lines = [{**lines[0], "custom_id": "somebody-elses"}, *lines]
        name = f"file-{len(self.files) + 1}"
        self.files[name] = b"".join(json.dumps({"error": None} | line).encode() + b"\n" for line in lines)
        return name

    def _shown(self, held: Held) -> dict[str, Any]:
        failed = held.status == "failed"
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
            "errors": errors if failed else None,
            "request_counts": {"total": len(held.lines), "completed": 0, "failed": 0},
        }

    @staticmethod
    def _said(content: dict[str, Any]) -> Answer:
        return 200, {}, json.dumps(content).encode()
