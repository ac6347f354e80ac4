"""A small study of one's own to run in tests, and how to run it in this process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from genaipa.execution import run as runner
from genaipa.execution.prepare import PreparedRun
from genaipa.runs.folder import RunFolder
from genaipa.runs.procedure import INITIALIZATIONS, ProcedurePlan
from genaipa.runs.records import RunSpec
from genaipa.tasks.catalog import make_task
from genaipa.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from servers import LoopbackServer, Request

    from genaipa.execution.limits import RunLimits
    from genaipa.execution.observer import Observer
    from genaipa.runs.records import Record

KEY = "sk-proj-Recognise7this8key9anywhere"
SYSTEM = "openai-api/loop/m"
TEXT = """# ACME Privacy Policy

## 1. What we collect

We collect your name and your address. We collect nothing else from you.

## 2. What we do with it

We deliver your order. We never sell what we know about you. Our couriers see your address on the day of delivery.

## 3. How long we keep it

We keep your address for one year; then we delete it.
"""
_QUESTIONS = """name: policy
title: Questions about a privacy policy
kind: policy
placeholder: "[the company]"
source: tests
license: Apache-2.0
categories: {{T: Transparency}}
questions:
{questions}
"""


def make_workspace(questions: int = 4, documents: tuple[str, ...] = ("acme",), text: str = TEXT) -> Workspace:
    """The working folder as a workspace with documents and so many questions (Q1, Q2, …), each with paraphrases."""
    Path("genaipa.toml").touch()
    for name in documents:
        write(f"policies/{name}.md", text.replace("ACME", name.upper()))
    lines = [
        f"- {{id: Q{n}, category: T, origin: faq, text: 'Question {n} on [the company]?', "
        f"paraphrases: ['P{n}a?', 'P{n}b?', 'P{n}c?']}}"
        for n in range(1, questions + 1)
    ]
    write("questions/policy.yaml", _QUESTIONS.format(questions="\n".join(lines)))
    return find_workspace()


def write(path: str, text: str) -> Path:
    """A file in the working folder."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def spec(**changes: Any) -> RunSpec:
    """A plan for that workspace: one system, one document, introduced by the document."""
    documents = changes.get("documents", ("acme",))
    fields: dict[str, Any] = {
        "documents": documents,
        "questions": dict.fromkeys(documents, "policy"),
        "initializations": ("document",),
        "prompts": ("guided",),
        "part_tokens": 60,
    }
    others = {name: changes.pop(name) for name in RunSpec.__struct_fields__ if name in changes}
    return RunSpec(**{"systems": (SYSTEM,), "plan": ProcedurePlan(**fields | changes)} | others)


def procedure(**changes: Any) -> RunSpec:
    """The same with all four initializations."""
    return spec(initializations=INITIALIZATIONS, **changes)


def carry_out(
    plan: RunSpec, folder: RunFolder | None = None, limits: RunLimits | None = None, observer: Observer | None = None
) -> tuple[RunFolder, runner.RunOutcome]:
    """Ask what is missing in a run; in a new one if no folder is given."""
    run = PreparedRun(make_task(plan, find_workspace()), "test", folder, offline=True)
    outcome = asyncio.run(runner.carry_out_run(run, limits, observer))
    return run.open_or_create_folder(), outcome


def latest(folder: RunFolder) -> dict[str, Record]:
    """Key → the last record of it."""
    return {record.key: record for record in folder.read_records()}


def answers(folder: RunFolder) -> list[Record]:
    """The answers that are kept, in the order in which they came."""
    return [record for record in latest(folder).values() if record.kind == "answer" and record.status != "failed"]


def messages(request: Request) -> list[dict[str, str]]:
    """The conversation of a request to an OpenAI server, as role and content."""
    return [{"role": m["role"], "content": m["content"]} for m in request.body["messages"]]


def last_messages(server: LoopbackServer) -> list[str]:
    """What each request asked, in the order in which they came in."""
    return [request.body["messages"][-1]["content"] for request in server.requests]


def texts_below(folder: Path) -> str:
    """Everything in the files of a folder, as one text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of JSON lines."""
    whole = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in whole]


def dated(folder: RunFolder, day: str) -> RunFolder:
    """A run as if it had been carried out on that day."""
    path = folder.path.rename(folder.path.with_name(f"{day}-{folder.name}"))
    run = RunFolder(path)
    manifest = run.manifest()
    manifest.name, manifest.created = path.name, f"{day}T10:00:00Z"
    run.write_manifest(manifest)
    return run


def repeat_record(record: Record, repetition: int, reply: str, digest: str) -> Record:
    """Return the record of another repetition of the same question, with this reply."""
    key = record.key.replace("|original|1|", f"|original|{repetition}|")
    coordinates = record.coordinates | {"repetition": str(repetition)}
    return replace(record, key=key, coordinates=coordinates, reply=reply, digest=digest)
