"""Files of a run as they go into an archive, without texts that may not be passed on.

Left out are documents whose license does not let them be passed on and what quotes them (introductions, sheets, replies
that do or may quote), annotated answers and questions of such a license, and the replies of a published study, under
whatever name its system was asked (`runs.permission`). A model's own words and analysts' notes go along, as do facts
about the texts left out (`runs.redactions`), so that the tables come out the same.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import as_yaml, read_yaml
from genaipa.kinds import in_words, kind_of
from genaipa.policies.corpus_rows import json_line
from genaipa.policies.statistics import measure
from genaipa.questions.annotations import read_annotations
from genaipa.questions.sets import QuestionSet
from genaipa.runs import journal
from genaipa.runs.batches import BATCHES, RESULTS
from genaipa.runs.corpus import DOCUMENTS
from genaipa.runs.folder import ANSWERS, MANIFEST
from genaipa.runs.integrity import damage
from genaipa.runs.introductions import INTRODUCTIONS, KeptIntroductions
from genaipa.runs.permission import Permission
from genaipa.runs.redactions import LEFT_OUT, WITHHELD, Withheld
from genaipa.scoring.evidence.abstention import stance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.runs.records import Record
    from genaipa.runs.selection import Source


def run_files(source: Source, *, whole: bool) -> Iterator[tuple[str, bytes]]:
    """(path in the run folder, content) of each file of a run that goes into a pack, in the order of the paths.

    `whole` leaves nothing out: for a colleague who has the texts anyway. A DataError for a damaged run, a UsageError
    for two kinds that go whole or not at all: a judge's, which repeats the texts of the runs that it is about, and a
    suite's, whose figures could not be made again from what is left.
    """
    if kind_of(source.manifest.spec.kind).on_answers and not whole:
        raise UsageError(
            f"{source.folder.name} repeats the answers and annotated answers of other runs; pack those, whose verdicts "
            "go along, or everything with its texts."
        )
    if not whole and not Permission(source.folder, source.manifest).items:
        spec = source.manifest.spec
        what = in_words(spec) or spec.task
        raise UsageError(
            f"{source.folder.name} is made of items of the {what}, and its "
            "replies quote them, which may not be passed on; pack the other runs by their names, or, for somebody "
            "who has them anyway, everything with its texts: --with-texts."
        )
    for found in damage(source.folder):
        raise DataError(found.path, found.problem, found.where)
    redacted = _Redacted(source, whole=whole)
    for name, paths in source.folder.members():
        if not any(part.startswith(".") for part in PurePosixPath(name).parts) and redacted.includes(name):
            yield name, redacted.content(name, paths)
    if redacted.withholds:
        yield WITHHELD, msgspec.json.format(msgspec.json.encode(redacted.facts()), indent=1) + b"\n"


class _Redacted:
    """One run, with the documents, questions and replies of it that may not be passed on."""

    def __init__(self, source: Source, *, whole: bool) -> None:
        self._source = source
        permission = Permission(source.folder, source.manifest)
        self._kept = source.folder.kept_documents
        self._documents = set() if whole else permission.documents
        self._unasked = set() if whole else permission.unasked
        self._worded = set() if whole else permission.worded
        self._replies = set() if whole else set(permission.held_back())
        self._left_out = {f"documents/{self._digest(name)}.txt" for name in self._documents} | {
            f"introductions/{begun.introduction}.json"
            for begun in source.folder.conversations()
            if begun.document in self._documents or (begun.system, begun.document) in self._replies
        }

    def _digest(self, document: str) -> str:
        return self._source.manifest.documents[document].digest

    def _language(self, document: str) -> str:
        return self._source.manifest.documents[document].language

    @property
    def withholds(self) -> bool:
        """Whether any text of the run is left out."""
        return bool(self._documents or self._worded or self._replies)

    def includes(self, name: str) -> bool:
        """Whether a file goes along at all: sheets hold documents and questions, and batches are an account's own."""
        if name == BATCHES or name.startswith(f"{RESULTS}/"):
            return False
        quotes = name.startswith("sheets/") and (self._documents or self._unasked)
        return not quotes and name not in self._left_out

    def content(self, name: str, paths: Sequence[Path]) -> bytes:
        """A file's content without withheld texts and without answers of systems that were not selected."""
        if name == ANSWERS:
            return self._answers
        if name == MANIFEST:
            return self._manifest()
        if name == DOCUMENTS:
            return b"".join(
                json_line(dataclasses.replace(document, text="") if name in self._documents else document)
                for name, document in self._kept.items()
            )
        if name == INTRODUCTIONS:
            left_out = {PurePosixPath(one).stem for one in self._left_out}
            parts = (part.path for _, part in self._source.folder.parts())
            return b"".join(json_line for path in parts for json_line in KeptIntroductions(path).without(left_out))
        if name not in self._worded:
            return b"".join(path.read_bytes() for path in paths)
        return _annotations(paths[0]) if name.startswith("annotations/") else _questions(paths[0])

    @cached_property
    def _answers(self) -> bytes:
        selected = (record for record in self._source.folder.records() if record.system in self._source.systems)
        return b"".join(journal.line(self._record(record)) for record in selected)

    def _manifest(self) -> bytes:
        """The manifest, with the length of the answers' file as it is in the pack."""
        manifest = self._source.folder.manifest()
        manifest.shards = None  # the pack has it in one folder
        manifest.totals = replace(manifest.totals, bytes=len(self._answers))
        return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"

    def _record(self, record: Record) -> Record:
        """A record without a question or introduction in others' words, and without a reply that quotes them."""
        introduces = record.kind != "answer" and record.document in self._documents
        if introduces or record.document in self._unasked:
            record = replace(record, asked=LEFT_OUT)
        return replace(record, reply=None) if self._quotes(record) else record

    def _quotes(self, record: Record) -> bool:
        """Whether the reply is somebody else's text: a study's, or sentences of the document put together."""
        return record.reply is not None and (record.system, record.document) in self._replies

    def _text(self, document: str) -> str:
        """A document's text, from the one file or its own."""
        if self._kept:
            return self._kept[document].text
        path = self._source.folder.near(document).path / "documents" / f"{self._digest(document)}.txt"
        return path.read_text(encoding="utf-8")

    def facts(self) -> Withheld:
        """The facts that the tables need about the texts left out."""
        stances = {r.key: stance(r.reply or "") for r in self._source.folder.records() if self._quotes(r)}
        return Withheld(
            statistics={name: measure(self._text(name), self._language(name)) for name in sorted(self._documents)},
            claims_silence=tuple(key for key, said in stances.items() if said == "yes"),
            abstains=tuple(key for key, said in stances.items() if said == "abstains"),
        )


def _annotations(path: Path) -> bytes:
    """Annotated answers without their words, but with silence and sections."""
    annotations = read_annotations(path)
    answers = {name: replace(answer, answer=LEFT_OUT, note="") for name, answer in annotations.answers.items()}
    return as_yaml(replace(annotations, answers=answers)).encode()


def _questions(path: Path) -> bytes:
    """A question set without its words, but with ids, categories and origins."""
    questions = read_yaml(path, QuestionSet)
    bare = (
        replace(question, text=LEFT_OUT, paraphrases=(LEFT_OUT,) * len(question.paraphrases))
        for question in questions.questions
    )
    return as_yaml(replace(questions, questions=tuple(bare))).encode()
