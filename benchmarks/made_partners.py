"""A made-up study of several languages in run folders, for partners to score: nobody asked a system for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.policies.document import About, Document
from genaipa.runs.imported import RecordedRun, update_run_listing_its_name_if_changed
from genaipa.runs.procedure import ProcedurePlan, RecordCoordinates, conversation_id
from genaipa.runs.records import Record, RunSpec, answer_digest, record_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

_SET = """name: policy
title: Made-up questions
kind: policy
placeholder: "[the company]"
source: made up
license: CC0-1.0
categories: {{T: Transparency}}
questions:
{questions}
"""


def write_study(
    home: Path,
    systems: Iterable[str],
    language_by_document: Mapping[str, str],
    questions: int,
    reply: Callable[[str, str, str], str],
    text: str = "",
) -> None:
    """Write a run for each system into a workspace; `reply` is given system, document and question.

    Documents have this `text` behind their first sentence.
    """
    home.mkdir(parents=True, exist_ok=True)
    (home / "genaipa.toml").touch()
    documents = {
        name: Document(
            name,
            f"# {name}\n\n## 1. Data\n\nWe of {name} keep your address for a year.\n{text}",
            About(company=name, language=language, license="CC0-1.0"),
        )
        for name, language in language_by_document.items()
    }
    ids = [f"Q{number}" for number in range(1, questions + 1)]
    lines = (f"- {{id: {name}, category: T, origin: faq, text: '{name} of [the company]?'}}" for name in ids)
    sets = {"policy": _SET.format(questions="\n".join(lines))}
    for index, system in enumerate(systems):
        plan = ProcedurePlan(
            documents=tuple(documents), questions=dict.fromkeys(documents, "policy"), initializations=("document",)
        )
        records = [
            _make_record(system, document, name, reply(system, document.name, name))
            for document in documents.values()
            for name in ids
        ]
        name = f"run-{index + 1}"
        spec = RunSpec(systems=(system,), plan=plan)
        run = RecordedRun(name, spec, "a benchmark", "own", documents, sets, {}, records, {})
        update_run_listing_its_name_if_changed(home / "runs" / name, run.files)


def _make_record(system: str, document: Document, question: str, reply: str) -> Record:
    coordinates = RecordCoordinates(
        document.name, "document", "original", 1, "", question
    ).as_dict_without_empty_values()
    asked = f"{question} of {document.company}?"
    return Record(
        key=record_key(system, "procedure", coordinates),
        status="answered",
        kind="answer",
        system=system,
        coordinates=coordinates,
        asked=asked,
        reply=reply,
        digest=answer_digest(document.digest, asked, reply),
        conversation=conversation_id(system, document.name, "document", "original", 1),
        seconds=1.0 + len(system),
        cost=0.01,
        turn=1,
        started="2026-11-02T10:00:00.000Z",
        finish="stop",
    )
