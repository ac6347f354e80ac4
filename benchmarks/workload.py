"""What is asked: synthetic documents, and the very messages that `genaipa run` sends about them.

    python -m benchmarks.workload WORKSPACE --repetitions 12

makes a workspace with five documents of 8,000 words (unless they are there) and writes the messages of the run into a
file of it, for the bare loop. The texts are made here, from a small vocabulary.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = tuple(f"bench-{number}" for number in range(1, 6))
WORDS = 8000
QUESTIONS = 32
SYSTEM = "openai-api/mock/mock-model"
JUDGE = "openai-api/mock/mock-judge"
JUDGED = "messages-judged.json"

_VOCABULARY = (
    "we you they personal data information account service device browser cookie location contact payment address "
    "collect use share store keep delete process transfer protect encrypt disclose receive provide request limit "
    "when where because unless although before after under with without from for about between within "
    "the a this that any each our your their partner provider authority purpose consent right interest law retention "
    "period security breach notice child parent advertising analytics preference setting application website"
)
_WORDS = _VOCABULARY.split()


def document_text(number: int, words: int = WORDS) -> str:
    """Return a document with headings, paragraphs and sentences; the same one for the same number."""
    random_ = random.Random(number)  # not a secret: a text that is always the same
    lines, written, section = [f"# Privacy policy {number}", ""], 0, 0
    while written < words:
        section += 1
        lines += [f"## {section}. {' '.join(random_.choices(_WORDS, k=4)).capitalize()}", ""]
        for _ in range(4):
            sentences = [" ".join(random_.choices(_WORDS, k=random_.randint(8, 30))) for _ in range(5)]
            paragraph = " ".join(f"{sentence.capitalize()}." for sentence in sentences)
            written += len(paragraph.split())
            lines += [paragraph, ""]
    return "\n".join(lines)


def make_workspace(folder: Path, words: int = WORDS) -> None:
    """Return a genaipa workspace with the documents."""
    (folder / "policies").mkdir(parents=True, exist_ok=True)
    (folder / "genaipa.toml").write_text("", encoding="utf-8")
    for number, name in enumerate(DOCUMENTS, 1):
        (folder / "policies" / f"{name}.md").write_text(document_text(number, words), encoding="utf-8")


@dataclass(frozen=True)
class Workload:
    """Questions about the five documents: `repetitions` times `limit` of the 32 each, in parts of `part_tokens`."""

    conversation: str
    repetitions: int
    connections: int
    part_tokens: int | None = None
    limit: int = QUESTIONS

    @property
    def requests(self) -> int:
        """How many questions are asked."""
        return len(DOCUMENTS) * self.repetitions * self.limit

    def ideal(self, latency: float) -> float:
        """Seconds that nothing could undercut."""
        return self.requests / self.connections * latency

    def messages(self, workspace: Path) -> Path:
        """Return the file with the messages, for the bare loop."""
        return workspace / f"messages-{self.repetitions}-{self.part_tokens}-{self.limit}.json"

    def arguments(self) -> list[str]:
        """Return the options of `genaipa run`."""
        parts = ["--part-tokens", str(self.part_tokens)] if self.part_tokens else []
        return [
            *("run", "--system", SYSTEM, "--policy", ",".join(DOCUMENTS), "--experiment", "quality"),
            *("--conversation", self.conversation, "--repetitions", str(self.repetitions)),
            *("--max-connections", str(self.connections), "--limit", str(self.limit), *parts, "--new"),
        ]

    def spec(self):
        """Return the spec that the options lead to."""
        from genaipa.runs.procedure import ProcedurePlan
        from genaipa.runs.records import RunSpec

        plan = ProcedurePlan(
            documents=DOCUMENTS,
            questions=dict.fromkeys(DOCUMENTS, "policy"),
            initializations=("document",),
            conversation="shared" if self.conversation == "shared" else "independent",
            part_tokens=self.part_tokens,
            limit=(1, self.limit),
            experiment="quality",
            prompts=("neutral",),
        )
        return RunSpec((SYSTEM,), plan=plan, repetitions=self.repetitions)


async def write_messages(workload: Workload, workspace: Path) -> None:
    """Write each document's introduction, and for every conversation its document and its questions in order."""
    from genaipa.execution.ready import make_system_ready
    from genaipa.systems.catalog import resolve_system
    from genaipa.tasks.procedure import Procedure, iterate_conversations
    from genaipa.tasks.prompts import list_messages_and_acknowledgements
    from genaipa.workspace import find_workspace

    here, spec = find_workspace(workspace), workload.spec()
    material = Procedure(spec, here)
    ready = await make_system_ready(resolve_system(SYSTEM, here), material, offline=True, say=lambda _text: None)
    scripts = material.make_scripts_by_document_and_prompts(ready.target)
    made = {
        "introductions": {
            name.partition("|")[0]: [
                {"role": m.role, "content": m.content}
                for m in list_messages_and_acknowledgements(script.introduction_steps("document"))
            ]
            for name, script in scripts.items()
        },
        "conversations": [
            [
                c.document,
                [
                    scripts[f"{c.document}|neutral"].question_message(question, c.wording).content
                    for question in c.order
                ],
            ]
            for c in iterate_conversations(spec, material.questions, SYSTEM)
        ],
    }
    workload.messages(workspace).write_text(json.dumps(made), encoding="utf-8")


def write_judged(folder: Path, file: Path) -> None:
    """Write the messages that a judge was sent, from the folder of its run, and the form of its replies."""
    from genaipa.judging.answers import read_judged_material
    from genaipa.judging.verdict import make_verdict_schema
    from genaipa.runs.folder import RunFolder

    run = RunFolder(folder)
    begun = {conversation.id: conversation.introduction for conversation in run.read_conversations()}
    asked: dict[str, list[str]] = {}
    for record in run.read_records():
        asked.setdefault(begun[record.conversation], []).append(record.asked)
    introductions = {
        name: [{"role": m.role, "content": m.content} for m in run.read_introduction(name)] for name in asked
    }
    form = {
        "name": "reply",
        "schema": make_verdict_schema(read_judged_material(run).rubric, has_annotated_answer=False),
        "strict": True,
    }
    fields = {"response_format": {"type": "json_schema", "json_schema": form}}
    made = {"introductions": introductions, "conversations": list(asked.items()), "fields": fields}
    file.write_text(json.dumps(made), encoding="utf-8")


def main() -> None:
    """Make the workspace and the messages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--part-tokens", type=int)
    parser.add_argument("--limit", type=int, default=QUESTIONS)
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--judged", type=Path, help="a judge's run, whose messages are written into this workspace")
    wanted = parser.parse_args()
    if wanted.judged:
        write_judged(wanted.judged, wanted.workspace / JUDGED)
        return
    if not (wanted.workspace / "genaipa.toml").exists():
        make_workspace(wanted.workspace, wanted.words)
    workload = Workload("independent", wanted.repetitions, 1, wanted.part_tokens, wanted.limit)
    asyncio.run(write_messages(workload, wanted.workspace))


if __name__ == "__main__":
    main()
