"""The judge's task: answers shown one by one, each in a conversation that begins with rubric and document.

An answer stands between two lines that it can't write itself. Whoever wrote it, or the document that it quotes, may
want to speak to the judge. The mark in the lines is drawn after the answer was written; wherever the answer has it
nevertheless, or a line that looks like these, they are taken apart.

The messages are Jinja templates: `prompts/judge/`, the workspace's over the shipped. What a judge is asked decides who
it is: its name has the digest of all of this.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, RunError, UsageError
from genaipa.files.text import digest, read_text
from genaipa.judging import verdict, verdict_parsing
from genaipa.judging.answers import FILE, excerpt, read_material
from genaipa.judging.name import FIRST_DAY, NAME
from genaipa.judging.verdict import Keeper, schema
from genaipa.policies.document import About, Document
from genaipa.runs.records import Digests, record_key
from genaipa.scoring.rubric import shown
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, Reading, Task
from genaipa.tasks.prompts import Prompts
from genaipa.workspace import Workspace, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from genaipa.judging.answers import Judged, JudgedMaterial
    from genaipa.policies.document import DocumentKind
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import DocumentFacts, Record, RunSpec
    from genaipa.scoring.rubric import Rubric
    from genaipa.systems.base import Reply
    from genaipa.tasks.base import Dialogue, Target


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

    reads_json = True

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

    def count_planned(self) -> int:
        """The number of verdicts wanted of each judge."""
        return sum(len(judged.passes) for judged in self.material.answers)

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """A dialogue for each answer and pass, in the order of the material: those about one document in a row."""
        return (self._judge(*one) for one in self._each_opened(target))

    def _each_opened(self, target: Target) -> Iterator[tuple[Judged, int, str, tuple[Message, ...]]]:
        """Each answer and pass, with the conversation and the messages that come first, made once for all alike."""
        for _, alike in groupby(self.material.answers, key=_beginning):
            answers = list(alike)
            opening = self._opening(answers[0])
            conversation = f"{target.name}|{NAME}|{answers[0].document}|{digest(opening[0].content)[:12]}"
            for judged in answers:
                for passed in judged.passes:
                    yield judged, passed, conversation, opening

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Missing verdicts, in one dialogue where they begin alike: there is seen what repeats a document."""
        kept = self.folder.tally_records()[0].is_settled if self.folder else target.is_done
        missing = (
            one
            for one in self._each_opened(target)
            if not kept(record_key(target.name, NAME, self._coordinates(one[0], one[1])))
        )
        each = groupby(missing, key=itemgetter(2))
        return (self._beside([self._judge(*one) for one in those]) for _, those in each), 1

    def _beside(self, dialogues: list[Dialogue]) -> Dialogue:
        yield tuple(dialogues)

    def _judge(self, judged: Judged, passed: int, conversation: str, opening: tuple[Message, ...]) -> Dialogue:
        yield Call(
            self._coordinates(judged, passed),
            (*opening, Message("user", self._asked(judged, passed))),
            conversation=conversation,
            digest=self.inputs.documents[judged.document].digest,
            settings={"json_schema": self._schemas[bool(judged.annotated), bool(judged.points)]},
            placeholder_reply=verdict.sample(
                self.material.rubric, annotated=bool(judged.annotated), points=judged.points
            ),
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
    def _schemas(self) -> dict[tuple[bool, bool], dict[str, Any]]:
        """The forms of verdicts, with an annotated answer or none, and with points or none."""
        forms = {(bool(judged.annotated), bool(judged.points)) for judged in self.material.answers}
        return {form: verdict.schema(self.material.rubric, annotated=form[0], points=form[1]) for form in forms}

    def _opening(self, judged: Judged) -> tuple[Message, ...]:
        """The rubric and the document, byte for byte the same for all answers that are shown the same of it."""
        document, rubric = self.inputs.documents[judged.document], self.material.rubric
        text = excerpt(document, judged.passages) if judged.passages else document.text
        metrics = [{"name": rubric.names[name], "question": metric.question} for name, metric in rubric.metrics.items()]
        said = self.inputs.templates.render(
            "document",
            company=document.company,
            subject=f"the {document.about.title or document.company}"
            if document.kind == "regulation"
            else f"the privacy policy of {document.company}",
            metrics=metrics,
            text=text,
            excerpt=bool(judged.passages),
        )
        return (
            Message("user", said, "introduction", carries=text, breakpoint=True),
            Message("assistant", self.inputs.templates.render("ready"), "acknowledgement"),
        )

    def _asked(self, judged: Judged, passed: int) -> str:
        rubric, drawn = self.material.rubric, mark(self.material.secret, judged.digest, passed)
        begin, end = lines(drawn)
        # An anchor is asked in the words of its first pass.
        shuffled = passed if passed < FIRST_DAY else 1
        metrics = verdict_parsing.metrics_to_judge(rubric, points=bool(judged.points))
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
            mark=drawn,
            begin=begin,
            end=end,
            answer=enclosed(judged.reply, drawn),
            evidence=judged.evidence,
            points=verdict.order_of_points(judged.points, judged.digest, shuffled),
            metrics=[
                {"id": name, "name": rubric.names[name], "question": rubric.metrics[name].question, "options": options}
                for name, options in verdict.order(rubric, judged.digest, shuffled).items()
                if name in metrics
            ],
        )

    def flaw(self, call: Call, reply: Reply) -> str:
        """The reason that a reply is no verdict."""
        judged = self._judged_by_digest[call.coordinates["answer"]]
        return verdict.flaw(self.material.rubric, reply, annotated=bool(judged.annotated), points=judged.points)

    def read(self, call: Call, reply: str) -> Reading:
        """The verdict's values, metric by metric."""
        judged = self._judged_by_digest[call.coordinates["answer"]]
        found = verdict_parsing.read_verdict(
            self.material.rubric, reply, annotated=bool(judged.annotated), points=judged.points
        )
        return Reading(", ".join(f"{metric} {shown(value)}" for metric, value in found.values.items()))

    @cached_property
    def _judged_by_digest(self) -> dict[str, Judged]:
        return {judged.digest: judged for judged in self.material.answers}

    @contextmanager
    def keeping(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """Put each verdict into the store of scores soon after it is on disk, earlier sittings' first."""
        with Keeper(self.workspace, folder, self.material) as keeper:
            yield keeper.keep


def _beginning(judged: Judged) -> tuple[str, tuple[tuple[int, int], ...], bool, bool]:
    """The decisive parts for a request's beginning, which is the form of a verdict and then the document."""
    return judged.document, judged.passages, bool(judged.annotated), bool(judged.points)


LONGEST = 40_000
"""Characters of an answer that a judge is shown: more than any reply of a model has, less than fills a context."""
_TAIL = 8_000
_REPLACED = "[mark removed]"

# Letters that look like those of the mark and of the lines around an answer.
_LOOKS_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0501\u04bb\u0442\u043d\u0432\u03b1\u03b5\u03bf",
    "aeopcyxisdhthbaeo",
)
# A line around an answer: the rule that it begins with, some words at most, and what it says. Looked for apart, since
# in one pattern a long rule could be divided in so many ways that a table in an answer would take minutes.
_RULE = re.compile(r"[=\u2550\u2e40\u30a0-]{2,}")
_SAYS = re.compile(r"answer\s+(?:begins|ends)\W*")
_WORD = re.compile(r"\w+")
_MOST_WORDS = 6
_MOST_BETWEEN = 80


def mark(secret: str, digest: str, passed: int) -> str:
    """The mark around one answer in one pass: 16 hexadecimal digits that follow from the run's secret."""
    return hashlib.sha256(f"{secret}|{digest}|{passed}".encode()).hexdigest()[:16]


def lines(mark: str) -> tuple[str, str]:
    """The lines before and after an answer."""
    return f"===== {mark}: the answer begins =====", f"===== {mark}: the answer ends ====="


def enclosed(answer: str, mark: str) -> str:
    """The answer as it can be put between the lines: clipped, without the mark, and without lines like them."""
    return _without(_clipped(answer), mark)


def _clipped(answer: str) -> str:
    if len(answer) <= LONGEST:
        return answer
    left_out = len(answer) - LONGEST
    head, tail = answer[: LONGEST - _TAIL], answer[-_TAIL:]
    return f"{head}\n[{left_out:,} characters of the answer are left out here]\n{tail}"


def _without(text: str, mark: str) -> str:
    """The text with each place replaced that reads as the mark, or as one of the lines, however it is spelt."""
    folded, origins = _folded(text)
    kept, done = [], 0
    for start, end in sorted([*(found.span() for found in re.finditer(mark, folded)), *_like_lines(folded)]):
        if end > done:
            kept.append(text[origins[done - 1] + 1 if done else 0 : origins[max(start, done)]])
            done = end
    return _REPLACED.join([*kept, text[origins[done - 1] + 1 :]]) if done else text


def _like_lines(folded: str) -> Iterator[tuple[int, int]]:
    """The places that read as one of the lines."""
    rules = [found.span() for found in _RULE.finditer(folded)]
    ends = [end for _, end in rules]
    for said in _SAYS.finditer(folded):
        nearest = bisect_right(ends, said.start()) - 1
        if nearest >= 0 and said.start() - ends[nearest] <= _MOST_BETWEEN:
            words = _WORD.findall(folded, ends[nearest], said.start())
            if len(words) <= _MOST_WORDS:
                yield rules[nearest][0], said.end()


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in small plain letters, without invisible characters, and each letter's place in the text."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    folded, origins = [], []
    for place, character in enumerate(text):
        if unicodedata.category(character) in ("Cf", "Mn", "Me"):
            continue
        plain = unicodedata.normalize("NFKC", character).casefold().translate(_LOOKS_LIKE)
        folded.append(plain)
        origins += [place] * len(plain)
    return "".join(folded), origins


TEMPLATES: dict[str, tuple[str, ...]] = {
    "document": ("company", "subject", "metrics", "text", "excerpt"),
    "ready": (),
    "answer": (
        *("question", "original", "annotated", "aside", "note", "silent_rule", "named", "parts"),
        *("mark", "begin", "end", "answer", "evidence", "points", "metrics"),
    ),
}
"""Template → the variables that it sees; the entries of `metrics` have `name` and `question`, and at the answer `id`
and `options`, too; the entries of `points` have `id` and `text`."""
FORM = 2
"""Raised whenever the same templates and rubric make other messages than before."""
_NEEDED = {"document": ("text",), "answer": ("question", "annotated", "begin", "answer", "end", "points")}
"""Variables without whose content a message is of no use."""
_DIGITS = 12


def load_templates(workspace: Workspace) -> Prompts:
    """The templates in effect, checked: a DataError for one that can't be used."""
    files = workspace.names("prompts", NAME)
    basis = Workspace(home=shipped_folder(), layers=(("shipped", shipped_folder()),)).names("prompts", NAME)
    if missing := [name for name in TEMPLATES if name not in files]:
        raise UsageError(
            f"the prompt 'judge/{missing[0]}' is missing; genaipa is not installed whole, install it again."
        )
    loaded = Prompts(NAME, files, {name: path for name, (_, path) in basis.items()})
    for name, variables in TEMPLATES.items():
        said = loaded.render(name, **{key: _sample(key) for key in variables})
        if lost := [key for key in _NEEDED.get(name, ()) if f"<{key}>" not in said]:
            raise DataError(files[name][1], f"never says {{{{ {lost[0]} }}}}, which a judge has to see.")
    return loaded


def _sample(variable: str) -> object:
    if variable == "metrics":
        return [{"id": "clarity", "name": "clarity", "question": "Is it clear?", "options": ["clear", "not clear"]}]
    if variable == "points":
        return [{"id": "kept", "text": "<points>"}]
    return [f"<{variable}>"] if variable in ("evidence", "parts") else f"<{variable}>"


def prompt_digest(templates: Mapping[str, str], rubric: Rubric, *, evidence: bool) -> str:
    """The beginning of a SHA-256 of everything that decides a request's words, but the answer and its document."""
    schemas = [schema(rubric, annotated=annotated) for annotated in (True, False)]
    if rubric.pointed:
        schemas.append(schema(rubric, annotated=True, points=True))
    # The desk's line on the question decides no word, and came later than the names of judges.
    metrics = {
        name: msgspec.structs.replace(metric, evidence=tuple(kind for kind in metric.evidence if kind != "question"))
        for name, metric in rubric.metrics.items()
    }
    asked_by = msgspec.structs.replace(rubric, metrics=metrics)
    made_of = (FORM, dict(templates), rubric.digest, asked_by, schemas, evidence)
    return digest(msgspec.json.encode(made_of, order="sorted").decode())[:_DIGITS]
