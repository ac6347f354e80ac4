"""The judge's task: answers shown one by one, each in a conversation that begins with rubric and document."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from genaipa.errors import RunError
from genaipa.files.text import digest, read_text
from genaipa.judging import quarantine, verdict
from genaipa.judging.answers import excerpt
from genaipa.judging.keeping import Keeper
from genaipa.judging.kind import NAME
from genaipa.judging.material import FILE, read_material
from genaipa.policies.document import About, Document
from genaipa.runs.records import Digests, key_of
from genaipa.scoring.rubric import shown
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, Reading, Task
from genaipa.tasks.prompts import Prompts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from genaipa.judging.material import Judged, JudgedMaterial
    from genaipa.policies.document import DocumentKind
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import DocumentFacts, Record, RunSpec
    from genaipa.systems.base import Reply
    from genaipa.tasks.base import Dialogue, Target
    from genaipa.workspace import Workspace


@dataclass(frozen=True)
class JudgeInputs:
    """The inputs of a judge's requests: the material, the documents' texts and facts by name, the templates."""

    material: JudgedMaterial
    documents: Mapping[str, Document]
    facts: Mapping[str, DocumentFacts]
    templates: Prompts

    @classmethod
    def read(cls, folder: RunFolder) -> JudgeInputs:
        """The plan of a run that was begun, from its folder alone; a DataError for one that is damaged."""
        manifest = folder.manifest()
        documents = {}
        for name, facts in manifest.documents.items():
            kind: DocumentKind = "regulation" if facts.kind == "regulation" else "policy"
            text = read_text(folder.path / "documents" / f"{facts.digest}.txt")
            about = About(company=facts.company, kind=kind, title=facts.title, license=facts.license)
            documents[name] = Document(name=name, text=text, about=about)
        paths = {name: folder.path / "prompts" / f"{name}.jinja" for name in manifest.digests.prompts}
        files = {name.removeprefix(f"{NAME}/"): (folder.name, path) for name, path in paths.items()}
        originals = {
            name.removeprefix("shipped/"): path for name, (_, path) in files.items() if name.startswith("shipped/")
        }
        kept = {name: file for name, file in files.items() if not name.startswith("shipped/")}
        return cls(read_material(folder), documents, manifest.documents, Prompts(NAME, kept, originals))


class JudgeTask(Task):
    """Judge each answer of the material, in each pass that is wanted of it.

    A new run is made of `inputs`, one that goes on of its `folder`.
    """

    def __init__(self, spec: RunSpec, workspace: Workspace, inputs: JudgeInputs | None = None) -> None:
        super().__init__(spec, workspace)
        self._inputs = inputs

    @cached_property
    def inputs(self) -> JudgeInputs:
        """The inputs of the requests."""
        if self._inputs is not None:
            return self._inputs
        if self.folder is None:
            raise RunError(f"the task '{NAME}' is asked by: genaipa judge RUN --judge NAME")
        return JudgeInputs.read(self.folder)

    @property
    def material(self) -> JudgedMaterial:
        """The answers to be judged, and the rubric."""
        return self.inputs.material

    @property
    def digests(self) -> Digests:
        """SHA-256 of every template and document, and of the material."""
        sources = self.inputs.templates.sources
        return Digests(
            prompts={f"{NAME}/{name}": digest(text) for name, text in sources.items()},
            documents={name: document.digest for name, document in self.inputs.documents.items()},
            questions={},
            annotations={},
            task={FILE: digest(self.material.text())},
        )

    @property
    def facts(self) -> Mapping[str, DocumentFacts]:
        """The documents that the answers are about."""
        return self.inputs.facts

    @property
    def sources(self) -> Mapping[str, str]:
        """The material, the documents and the templates."""
        sources = {f"documents/{document.digest}.txt": document.text for document in self.inputs.documents.values()}
        sources |= {f"prompts/{NAME}/{name}.jinja": text for name, text in self.inputs.templates.sources.items()}
        return sources | {FILE: self.material.text()}

    @property
    def texts(self) -> Mapping[str, str]:
        """The documents' texts."""
        return {name: document.text for name, document in self.inputs.documents.items()}

    def planned(self) -> int:
        """The number of verdicts wanted of each judge."""
        return sum(len(judged.passes) for judged in self.material.answers)

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """A dialogue for each answer and pass, in the order of the material: those about one document in a row."""
        return (self._judge(*one) for one in self._each_opened(target))

    def _each_opened(self, target: Target) -> Iterator[tuple[Judged, int, str, tuple[Message, ...]]]:
        """Each answer and pass, with the conversation and the messages that come first, made once for all alike."""
        for _, alike in groupby(self.material.answers, key=lambda judged: (judged.document, judged.passages)):
            answers = list(alike)
            opening = self._opening(answers[0])
            conversation = f"{target.name}|{NAME}|{answers[0].document}|{digest(opening[0].content)[:12]}"
            for judged in answers:
                for passed in judged.passes:
                    yield judged, passed, conversation, opening

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Missing verdicts, in one dialogue where they begin alike: there is seen what repeats a document."""
        kept = self.folder.seen()[0].kept if self.folder else target.kept
        missing = (
            one
            for one in self._each_opened(target)
            if not kept(key_of(target.name, NAME, self._coordinates(one[0], one[1])))
        )
        each = groupby(missing, key=itemgetter(2))
        return (self._beside([self._judge(*one) for one in those]) for _, those in each), 1

    def _beside(self, dialogues: list[Dialogue]) -> Dialogue:
        yield tuple(dialogues)

    def _judge(self, judged: Judged, passed: int, conversation: str, opening: tuple[Message, ...]) -> Dialogue:
        annotated, rubric = bool(judged.annotated), self.material.rubric
        yield Call(
            self._coordinates(judged, passed),
            (*opening, Message("user", self._asked(judged, passed))),
            conversation=conversation,
            digest=self.inputs.documents[judged.document].digest,
            settings={"json_schema": self._schemas[annotated]},
            placeholder_reply=verdict.sample(rubric, annotated=annotated),
        )

    def _coordinates(self, judged: Judged, passed: int) -> dict[str, str]:
        return {
            "document": judged.document,
            "question": judged.question,
            "answer": judged.digest,
            "prompt": self.material.prompt,
            "pass": str(passed),
        }

    @cached_property
    def _schemas(self) -> dict[bool, dict[str, Any]]:
        return {annotated: verdict.schema(self.material.rubric, annotated=annotated) for annotated in (True, False)}

    def _opening(self, judged: Judged) -> tuple[Message, ...]:
        """The rubric and the document, byte for byte the same for all answers that are shown the same of it."""
        document, rubric = self.inputs.documents[judged.document], self.material.rubric
        text = excerpt(document, judged.passages) if judged.passages else document.text
        metrics = [{"name": rubric.names[name], "question": metric.question} for name, metric in rubric.metrics.items()]
        said = self.inputs.templates.render(
            "document",
            company=document.company,
            subject=_subject(document),
            metrics=metrics,
            text=text,
            excerpt=bool(judged.passages),
        )
        return (
            Message("user", said, "introduction", carries=text, breakpoint=True),
            Message("assistant", self.inputs.templates.render("ready"), "acknowledgement"),
        )

    def _asked(self, judged: Judged, passed: int) -> str:
        rubric, mark = self.material.rubric, quarantine.mark(self.material.secret, judged.digest, passed)
        begin, end = quarantine.lines(mark)
        return self.inputs.templates.render(
            "answer",
            question=judged.asked,
            original=judged.original,
            annotated=judged.annotated,
            aside=judged.aside,
            note=judged.note,
            silent_rule=rubric.silent_rule if judged.silent else "",
            named=excerpt(self.inputs.documents[judged.document], judged.named) if judged.named else "",
            parts=judged.parts,
            mark=mark,
            begin=begin,
            end=end,
            answer=quarantine.enclosed(judged.reply, mark),
            evidence=judged.evidence,
            metrics=[
                {"id": name, "name": rubric.names[name], "question": rubric.metrics[name].question, "options": options}
                for name, options in verdict.order(rubric, judged.digest, passed).items()
            ],
        )

    def flaw(self, call: Call, reply: Reply) -> str:
        """The reason that a reply is no verdict."""
        return verdict.flaw(self.material.rubric, reply, annotated=self._is_annotated(call.coordinates["answer"]))

    def read(self, call: Call, reply: str) -> Reading:
        """The verdict's values, metric by metric."""
        annotated = self._is_annotated(call.coordinates["answer"])
        found = verdict.read(self.material.rubric, reply, annotated=annotated)
        return Reading(", ".join(f"{metric} {shown(value)}" for metric, value in found.values.items()))

    def _is_annotated(self, answer: str) -> bool:
        return self._annotated[answer]

    @cached_property
    def _annotated(self) -> dict[str, bool]:
        return {judged.digest: bool(judged.annotated) for judged in self.material.answers}

    @contextmanager
    def keeping(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """Put each verdict into the store of scores soon after it is on disk, earlier sittings' first."""
        with Keeper(self.workspace, folder, self.material) as keeper:
            yield keeper.keep


def _subject(document: Document) -> str:
    if document.kind == "regulation":
        return f"the {document.about.title or document.company}"
    return f"the privacy policy of {document.company}"
