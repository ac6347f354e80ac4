"""Write a run folder as a finished run leaves it, without asking anything.

    python -m benchmarks.finished_run WORKSPACE --repetitions 625 [--missing 1]

makes one with 100,000 answers (5 documents, 32 questions, 625 repetitions), the last of them left out if wished, and
prints the run's name. The records go through genaipa's own writing code and are as long as real ones.
"""

from __future__ import annotations

import argparse
import asyncio
from itertools import islice
from pathlib import Path

from benchmarks.mock_server import MODEL
from benchmarks.workload import QUESTIONS, SYSTEM, Workload
from genaipa.execution.prepare import PreparedRun
from genaipa.execution.run import store_missing_input_files
from genaipa.files.stamps import now
from genaipa.runs.procedure import assert_procedure_run_and_get_plan
from genaipa.runs.records import ConversationRecord, Record, RunSpec, answer_digest
from genaipa.runs.status import AnswerTally
from genaipa.runs.writer import RunWriter
from genaipa.systems.base import Message, Usage
from genaipa.tasks.procedure import Procedure, iterate_conversations, map_document_repetitions_to_orders
from genaipa.workspace import find_workspace

_AT_ONCE = 2000
_REPLY = "The policy says in section 4.2 that data is kept for as long as the account exists. " * 8


def _records(spec: RunSpec, material, tally: AnswerTally):
    """Every answer of the plan, counted as it is made."""
    for conversation in iterate_conversations(spec, material.questions, SYSTEM):
        document = conversation.document
        for turn, question in enumerate(conversation.order, 1):
            asked = material.questions[document].question_text(question, conversation.wording, document)
            key = conversation.answer_key(question)
            # No two answers are the same text: they would be one answer to score.
            reply = f"{_REPLY}({key})"
            record = Record(
                key=key,
                status="answered",
                conversation=conversation.id,
                kind="answer",
                system=SYSTEM,
                coordinates=conversation.coordinates_without_system(question),
                turn=turn,
                asked=asked,
                reply=reply,
                started=now(),
                seconds=1.5,
                finish="stop",
                model=MODEL,
                usage=Usage(input=11000, cached=10880, output=160),
                digest=answer_digest(material.digests.documents[document], asked, reply),
            )
            tally.add_record(record)
            yield record


async def write_run(workspace: Path, workload: Workload, missing: int) -> str:
    """Return the name of the run folder, written now."""
    here, spec, tally = find_workspace(workspace), workload.spec(), AnswerTally()
    material = Procedure(spec, here)
    folder = PreparedRun(material, f"finished-{workload.requests}-{missing}").open_or_create_folder()
    store_missing_input_files(folder, material)
    tally.set_planned_answers(spec, map_document_repetitions_to_orders(spec, material.questions))
    manifest = folder.manifest()
    with folder.hold_for_writing_and_list_repairs():
        writer = RunWriter(folder)
        introduction = writer.store_introduction_and_get_digest([Message("user", "What follows is a policy.")])
        for conversation in iterate_conversations(spec, material.questions, SYSTEM):
            await writer.record_conversation_opening_once(
                ConversationRecord(
                    id=conversation.id,
                    system=SYSTEM,
                    document=conversation.document,
                    mode=assert_procedure_run_and_get_plan(spec).conversation,
                    introduction=introduction,
                    order=conversation.order,
                )
            )
        records = islice(_records(spec, material, tally), workload.requests - missing)
        while batch := list(islice(records, _AT_ONCE)):
            await asyncio.gather(*(writer.append_and_get_offset(record) for record in batch))
        await writer.close()
        manifest.status = "interrupted" if missing else "complete"
        manifest.totals = tally.totals()
        folder.write_manifest(manifest)
    return folder.name


def main() -> None:
    """Write the run and print its name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--repetitions", type=int, required=True)
    parser.add_argument("--limit", type=int, default=QUESTIONS)
    parser.add_argument("--missing", type=int, default=0)
    wanted = parser.parse_args()
    workload = Workload("independent", wanted.repetitions, 64, None, wanted.limit)
    print(asyncio.run(write_run(wanted.workspace, workload, wanted.missing)))


if __name__ == "__main__":
    main()
