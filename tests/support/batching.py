"""OpenAI's, Anthropic's and Google's servers with their batches, and whatever may go wrong with them."""

from __future__ import annotations

import abc
import dataclasses
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from servers import AnthropicServer, GoogleServer, LoopbackServer, OpenAIServer, Request, drop, failure

_LONGEST_FILE = 40
"""Characters of a file's id at Google that it can be looked up by."""

Answer = tuple[int, dict[str, str], bytes] | None
Line = tuple[str, dict[str, Any]]
"""Name and request of a line of a batch."""
Result = tuple[str, int, dict[str, Any]]
"""Name, HTTP status and answer."""


@dataclass(frozen=True)
class Fate:
    """What becomes of a batch that is handed in. The default completes it at the second look."""

    state: str = "completed"
    """Its last state, in OpenAI's words, or in the provider's own."""
    before: tuple[str, ...] = ()
    """States at the first looks."""
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
    path: str = "/v1/model"
    """Where its requests would have gone by themselves."""


@dataclass
class Broken:
    """How many calls of a kind fail with 500 before one is answered."""

    looks: int = 0
    lists: int = 0
    downloads: int = 0


class Batches(LoopbackServer):
    """Batches of any provider; `fates(number from 1)` says what becomes of each that is handed in."""

    place = "/v1/batches"
    name_field = "custom_id"

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

    def _id(self) -> str:
        """The id of the next batch."""
        return f"batch_{len(self.batches) + 1}"

    def _path(self, _request: Request) -> str:
        """Where the requests of a batch would have gone by themselves."""
        return "/v1/model"

    @abc.abstractmethod
    def _done(self, held: Held, good: list[Result], bad: list[Result], undone: list[str]) -> None:
        """Keep the results of a batch."""

    def _listed(self) -> dict[str, Any]:
        """The list of all batches."""
        return {"object": "list", "data": list(map(self._shown, self.batches[::-1])), "has_more": False}

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
            return self._said(self._listed())
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
        held = Held(self._id(), mark, file, fate, int(time.time()), names, lines, path=self._path(request))
        assert len(set(names)) == len(lines), "equal names swap answers"
        assert len({body.get("model") for _, body in lines}) == 1
        self.batches.append(held)
        self.at("accepted")
        return None if fate.unanswered else self._said(self._shown(held))

    async def _go_on(self, held: Held) -> None:
        held.looks += 1
        if held.ended or held.looks <= max(held.fate.looks, len(held.fate.before)):
            before = held.fate.before[held.looks - 1 : held.looks]
            held.status = held.status if held.ended else before[0] if before else "in_progress"
            return
        held.status, held.ended = held.fate.state, True
        if held.fate.state == "failed":
            return
        done = round(held.fate.share * len(held.lines))
        good, bad = list[Result](), list[Result]()
        for name, body in held.lines[:done]:
            request = Request("POST", held.path, {}, body)
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
            lines = [{**lines[0], self.name_field: "somebody-elses"}, *lines]
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


class GoogleBatchServer(Batches, GoogleServer):
    """Google's: a file to be uploaded in pieces, operations as batches, and no counts that its SDK would show."""

    name_field = "key"
    _STATES: ClassVar = {"completed": "SUCCEEDED", "in_progress": "RUNNING", "validating": "PENDING"}
    _CODES: ClassVar = {400: 3, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}

    async def _answer(self, request: Request) -> Answer:
        kind, _, rest = request.path.removeprefix("/upload").removeprefix("/").partition("/")[2].partition("/")
        batch = request.path.endswith(":batchGenerateContent")
        if kind not in ("runs", "batches", "files") and not batch:
            return await super()._answer(request)
        if self.only is not None and self.sent_key(request.headers) != self.only:
            return self._failed(self.wrong_key(self.sent_key(request.headers)))
        if kind == "files":
            return await self._file(request)
        return await self._batch(request, [] if batch else rest.replace(":", "/").split("/") if rest else [])

    def _id(self) -> str:
        return f"batches/{super()._id()}"

    def _path(self, request: Request) -> str:
        return request.path.replace(":batchGenerateContent", ":generateContent")

    async def _batch(self, request: Request, place: list[str]) -> Answer:
        return await super()._batch(request, [f"batches/{place[0]}", *place[1:]] if place else [])

    def _listed(self) -> dict[str, Any]:
        # Oldest first: nobody promises an order.
        return {"operations": list(map(self._shown, self.batches))}

    async def _file(self, request: Request) -> Answer:
        name, _, verb = request.path.partition("/files")[2].removeprefix("/").partition(":")
        if request.method == "POST" and "x-goog-upload-offset" in request.headers:
            self.files[name] = self.files.get(name, b"") + request.body["form"]
            if "finalize" not in request.headers["x-goog-upload-command"]:
                return 200, {"x-goog-upload-status": "active"}, b"{}"
            said = {"file": {"name": f"files/{name}", "mimeType": "application/jsonl", "state": "ACTIVE"}}
            return 200, {"x-goog-upload-status": "final"}, json.dumps(said).encode()
        if request.method == "POST":
            self.at("upload")
            name = request.body["file"]["name"]
            assert len(name.removeprefix("files/")) <= _LONGEST_FILE
            return 200, {"x-goog-upload-url": f"{self.root}/upload/v1beta/{name}"}, b"{}"
        if verb == "download":
            return self._sent(name)
        if len(name) > _LONGEST_FILE or name not in self.files:
            return self._failed(failure(400, "File ID (name excluding 'files/') cannot be more than 40 characters."))
        self.at("delete")
        self.deleted.append(name)
        return self._said({})

    def _handed_in(self, request: Request) -> tuple[str, str, list[Line]]:
        batch = request.body["batch"]
        file = batch["inputConfig"]["fileName"].removeprefix("files/")
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        return batch["displayName"], file, [(line["key"], line["request"]) for line in lines]

    async def _go_on(self, held: Held) -> None:
        if held.fate.state == "expired":
            held.fate = dataclasses.replace(held.fate, share=0.0)  # there is nothing to retrieve
        await super()._go_on(held)

    def _done(self, held: Held, good: list[Result], bad: list[Result], undone: list[str]) -> None:
        errors = [(name, {**body["error"], "code": self._CODES[status]}) for name, status, body in bad]
        if held.fate.state == "cancelled":
            errors += [(name, {"code": 1, "message": "Cancelled.", "details": [{"@type": "x"}]}) for name in undone]
        lines: list[dict[str, Any]] = [
            *({"key": name, "response": body} for name, _, body in good),
            *({"key": name, "error": error} for name, error in errors),
        ]
        held.output = self._stored(held, lines, {"response": {}})

    def _stored(self, held: Held, lines: list[dict[str, Any]], second: dict[str, Any]) -> str | None:
        stored = super()._stored(held, lines, second)
        if stored is None:
            return None
        name = f"batch-{stored:0>40}"
        self.files[name] = self.files.pop(stored)
        return name

    def _shown(self, held: Held) -> dict[str, Any]:
        state = self._STATES.get(held.status, held.status.upper())
        known = {"PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"}
        metadata = {
            "displayName": held.mark,
            "state": f"{'BATCH' if state in known else 'JOB'}_STATE_{state}",
            "createTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(held.created)),
            "batchStats": {"requestCount": str(len(held.lines))},
        }
        if held.output:
            metadata["output"] = {"responsesFile": f"files/{held.output}"}
        shown = {"name": held.id, "metadata": metadata, "done": held.ended}
        if held.status == "failed":
            code, message = (
                (8, "Resource exhausted.") if held.fate.code == "token_limit_exceeded" else (9, "It failed.")
            )
            shown["error"] = {"code": code, "message": f"{message} {held.fate.code}"}
        return shown
