"""Runs as a form is given them to write: answer by answer, with their scores, without texts that may not be passed on.

`runs.permission` decides that, as for a pack; `Outgoing.held` counts what it keeps back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from genaipa.errors import DataError, UsageError
from genaipa.kinds import kind_of
from genaipa.questions.annotations import read_annotations
from genaipa.runs.audit import audit_of, excluded_answers
from genaipa.runs.experiments import experiment_of
from genaipa.runs.inputs import Inputs
from genaipa.runs.permission import Permission
from genaipa.runs.records import Record
from genaipa.scoring.current import in_effect
from genaipa.scoring.evidence.passages import OtherDocuments
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import existing_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer, Annotations
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.records import Manifest
    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OutgoingAnswer:
    """An answer that may be passed on, its annotated answer (None if there is none or it may not), and its scores.

    `scores` are the scores and adjudications in effect. `excluded` is why an audit leaves the answer out of analyses;
    empty if it does not.
    """

    record: Record
    experiment: str
    annotated: AnnotatedAnswer | None
    scores: Sequence[Event]
    excluded: str = ""


class OutgoingRun:
    """One run to be written: its answers, and what of its documents, questions and annotated answers may go along."""

    def __init__(self, outgoing: Outgoing, source: Source) -> None:
        self.source, self.name = source, source.folder.name
        self.manifest: Manifest = source.manifest
        self._outgoing = outgoing
        self._inputs = Inputs(outgoing.workspace, source.folder)
        self._permission = Permission(source.folder, self.manifest, whole=outgoing.whole)
        self._excluded = excluded_answers(audit_of(source.folder))
        # Caches of this run alone, which go when it goes.
        self.document = cache(self._document)
        self.annotations = cache(self._annotations)

    def _document(self, name: str) -> Document | None:
        """The document of that name; None if its text may not be passed on, or is not here."""
        if name in self._permission.documents:
            self._outgoing.held["document"] += 1
            return None
        return self._read(name)

    def _read(self, name: str) -> Document | None:
        try:
            document: Document = self._inputs.document(name)
        except DataError:  # of an unpacked study, which came without it
            return None
        return document

    def questions(self, document: str) -> QuestionSet | None:
        """The question set that was asked about a document; None if it may not be passed on."""
        return None if document in self._permission.unasked else self._inputs.questions(document)

    def _annotations(self, document: str) -> Annotations | None:
        """The annotated answers that the run has kept of a document; None if there are none, or they may not go."""
        path = self.source.folder.near(document).path / "annotations" / f"{document}.yaml"
        if not path.is_file():
            return None
        kept = read_annotations(path)
        if not self._permission.annotated(document):
            self._outgoing.held["annotated answer"] += len(kept.answers)
            return None
        return kept

    @cached_property
    def _others(self) -> OtherDocuments:
        texts = {name: self._read(name) for name in self._permission.documents}
        return OtherDocuments({name: document.text for name, document in texts.items() if document})

    def answers(self) -> Iterator[OutgoingAnswer]:
        """The latest answer of each key to a question about a document, in the order of the run's file."""
        _, latest = self.source.folder.seen()
        for place, record in self.source.folder.read(Record):
            answers = record.kind == "answer" and record.initialization and self.source.means(record)
            if not answers or latest[record.key] != place:
                continue
            if record.reply is None:
                self._outgoing.failures += record.status == "failed"
                continue
            permitted = self._permission.record(record, self._others.have)
            if permitted.reply is None:
                self._outgoing.held["answer"] += 1
                continue
            yield self._with_scores(permitted)

    def _with_scores(self, record: Record) -> OutgoingAnswer:
        facts, found = self.manifest.documents[record.document], self.annotations(record.document)
        excluded = self._excluded.get(record.key)
        return OutgoingAnswer(
            record,
            experiment_of(facts.kind, record.initialization, record.wording),
            found.answers.get(record.question) if found else None,
            self._outgoing.scores.get(record.digest, ()),
            excluded.reason if excluded else "",
        )


class Outgoing:
    """Runs to be written in a form, and the scores of their answers. A UsageError where none has any answers.

    `judges` takes along the verdicts of judges, `whole` what may not be passed on: for somebody who has it anyway.
    `held` counts what is kept back, by noun; `failures` are answers that were never given, and `verdicts` the verdicts
    that are left here.
    """

    def __init__(
        self, workspace: Workspace, sources: Sequence[Source], *, judges: bool = False, whole: bool = False
    ) -> None:
        self.workspace, self.whole = workspace, whole
        self.rubric = load_rubric(workspace)
        self.held: Counter[str] = Counter()
        self.failures = self.verdicts = 0
        kinds = {source.folder.name: kind_of(source.manifest.spec.kind) for source in sources}
        about = [source for source in sources if kinds[source.folder.name].people]
        if not about:
            raise UsageError("none of these runs asks about documents, which is what is exported; see: genaipa runs")
        self.scores: dict[str, list[Event]] = defaultdict(list)
        """Answer's digest → its scores and adjudications in effect."""
        with existing_store(workspace) as store:
            for event in in_effect(event for _, event in store.events()) if store else ():
                if event.scorer == "human" or judges:
                    self.scores[event.answer].append(event)
                else:
                    self.verdicts += 1
        self.runs = [OutgoingRun(self, source) for source in about]


@dataclass(frozen=True)
class Written:
    """Numbers of files, answers and scores that a form has written.

    `caveat` is a sentence on what the form can't carry, `follow` the command that goes on with the files.
    """

    files: int
    answers: int
    scores: int
    caveat: str = ""
    follow: str = ""
