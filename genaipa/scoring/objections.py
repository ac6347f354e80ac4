"""Objections to annotated answers, with the rulings on them: whoever scores finds the annotators' mistakes, too.

An objection is about an annotated answer, that is, a question about one text; of an analyst's objections to the same
annotated answer the latest counts. Accepted ones are exported as corrections, in the form of a workspace's
`corrections/`.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.errors import GenaipaError, UsageError, clipped, command
from genaipa.files.stamps import now
from genaipa.files.text import digest
from genaipa.policies.document import load_document
from genaipa.policies.reading import read
from genaipa.questions.annotations import Correction, Corrections, find_annotations, question_set, same_questions
from genaipa.runs.inputs import Inputs
from genaipa.runs.permission import may_be_passed_on
from genaipa.runs.selection import run_folders
from genaipa.scoring.events import Event, Objection, Ruling, new_id
from genaipa.workspace import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Silent
    from genaipa.workspace import Workspace


Status = Literal["open", "accepted", "rejected", "withdrawn"]


@dataclass(frozen=True)
class Filed:
    """An objection (`said`, in its `event`) with the ruling in effect, if there is one.

    `withdrawn`: its analyst has taken it back, or replaced it by a later one. `ruled` is the ruling's place among all.
    """

    event: Event
    said: Objection
    ruling: Event | None
    ruled: int
    withdrawn: bool

    @property
    def status(self) -> Status:
        """Its state: a ruling holds even if the objection is withdrawn after it."""
        if self.ruling is not None:
            return "accepted" if _settled(self.ruling) else "rejected"
        return "withdrawn" if self.withdrawn else "open"

    @property
    def correction(self) -> Correction:
        """The right values: as they were accepted, else as the analyst gave them."""
        return (_settled(self.ruling) if self.ruling else None) or self.said.correction


def _settled(ruling: Event) -> Correction | None:
    return ruling.annotation.correction if isinstance(ruling.annotation, Ruling) else None


def filed(events: Iterable[Event]) -> list[Filed]:
    """Every objection among events of a log, in its order; the other events may be left out, but for undos."""
    objections: dict[str, tuple[Event, Objection]] = {}
    rulings: dict[str, Event] = {}
    latest: dict[tuple[str, ...], str] = {}
    gone = set()
    for event in events:
        said = event.annotation
        if isinstance(said, Objection):
            objections[event.id] = event, said
            place = (event.analyst, *annotated(said))
            gone.add(latest.get(place))
            latest[place] = event.id
        elif isinstance(said, Ruling):
            # Taken out first, so that the order is that of the rulings in effect.
            rulings.pop(said.objection, None)
            rulings[said.objection] = event
        elif event.undoes:
            gone.add(event.undoes)
    order = {name: place for place, name in enumerate(rulings)}
    return [
        Filed(event, said, rulings.get(name), order.get(name, -1), name in gone)
        for name, (event, said) in objections.items()
    ]


def annotated(said: Objection) -> tuple[str, str, str]:
    """The annotated answer that an objection is about: the digest of the text, the question set, the question."""
    return said.digest, said.questions, said.question


def own(found: Iterable[Filed], analyst: str, about: tuple[str, str, str]) -> Filed | None:
    """An analyst's objection to an annotated answer, which they have not withdrawn."""
    theirs = (one for one in found if one.event.analyst == analyst and annotated(one.said) == about)
    return next((one for one in theirs if not one.withdrawn), None)


def check_silence(silent: Silent | None, annotated: Silent | None) -> None:
    """Raise a UsageError for a correction by which the document stays silent, though a passage of it proves it.

    `silent` is what the correction says, None for nothing, and `annotated` what the annotated answer says.
    """
    if annotated == "yes" and silent in (None, "yes"):
        raise UsageError(
            "by the annotated answer the document is silent, and this passage is to show that it is not: say whether "
            "the document answers the question (no) or only some of it (partly)."
        )


def silence_of(workspace: Workspace, said: Objection) -> Silent | None:
    """Tell whether an objection's annotated answer says that the document is silent; None if it is not here."""
    document = find_document(workspace, said)
    held = find_annotations(workspace, document) if document else None
    if document is None or held is None or not held.of_this_text:
        return None
    answer = held.annotations.answers.get(_id_in(workspace, said, held.annotations.questions, document))
    return answer.silent if answer else None


def proved(
    document: Document,
    passage: str,
    *,
    silent: Silent | None,
    answer: str,
    why: str,
    annotated: Silent | None = None,
) -> Correction:
    """A correction with the place of the passage that proves it; a UsageError says what it lacks.

    The passage has to be in the text, however it is spaced; of several places the first is taken. `annotated` is what
    the annotated answer says of the document's silence.
    """
    check_silence(silent, annotated)
    words = passage.split()
    if not words:
        raise UsageError("which passage of the document proves it? Select it in the document, or paste it.")
    sought, reading = re.compile(r"\s+".join(map(re.escape, words))), read(document.text)
    span = (found := sought.search(document.text)) and found.span()
    # What is pasted from the company's own page has no marks of links and emphasis.
    span = span or ((found := sought.search(reading.text)) and reading.span(*found.span()))
    if span is None:
        raise UsageError(f"the document does not have these words in a row: '{clipped(' '.join(words))}'.")
    if silent is None and not answer.strip():
        raise UsageError("what should the annotated answer say? Write it, or say whether the document is silent.")
    if not why.strip():
        raise UsageError("why is it wrong? A short sentence will do.")
    return Correction(
        silent=silent, answer=answer.strip(), at=span, sha256=digest(document.text[slice(*span)]), why=why.strip()
    )


def ruling(on: Filed, adjudicator: str, correction: Correction | None, *, reason: str = "") -> Event:
    """The event that accepts an objection with this correction or, with None, rejects it; that needs a reason."""
    if correction is None and not reason.strip():
        raise UsageError("why is it rejected? Whoever reads the log wants to know.")
    return Event(
        id=new_id(),
        time=now(),
        kind="ruling",
        analyst=adjudicator,
        answer=on.event.answer,
        note=reason.strip(),
        independent=False,
        annotation=Ruling(on.event.id, correction),
    )


def exporting(workspace: Workspace, document: str) -> str:
    """The command that writes a document's accepted objections where the workspace keeps corrections.

    In a checkout that is no workspace those are the shipped ones: there it writes beside them.
    """
    name = f"{document}.yaml"
    file = name if workspace.home == shipped() else workspace.home / "corrections" / name
    return command("genaipa", "scores", "objections", "export", document, "-o", file)


def find_document(workspace: Workspace, said: Objection) -> Document | None:
    """The very text that an objection is about, of the workspace or kept by one of its runs; None without any."""
    with contextlib.suppress(GenaipaError):
        document = load_document(said.document, workspace)
        if document.digest == said.digest:
            return document
    for folder in run_folders(workspace):
        with contextlib.suppress(GenaipaError):
            if (folder.near(said.document).path / "documents" / f"{said.digest}.txt").is_file():
                return Inputs(workspace, folder).document(said.document)
    return None


def accepted(workspace: Workspace, name: str, objections: Iterable[Filed]) -> tuple[Corrections, list[str]]:
    """The accepted corrections about the document of that name, and sentences on any left out.

    They are of one text (the workspace's, where one is about that) and by the ids of one question set, that of the
    annotated answers. Of several corrections of one annotated answer the one accepted last counts. A UsageError if
    there is none, or if the text is not here.
    """
    found = [one for one in objections if one.status == "accepted" and one.said.document == name]
    if not found:
        raise UsageError(f"no objection to an annotated answer about '{name}' is accepted.")
    found.sort(key=lambda one: one.ruled)
    text = _text(workspace, name, found)
    document = find_document(workspace, next(one.said for one in found if one.said.digest == text))
    if document is None:
        raise UsageError(f"the text of '{name}' that the objections are about is neither here nor in a run.")
    held = find_annotations(workspace, document)
    questions = held.annotations.questions if held and held.of_this_text else found[-1].said.questions
    chosen: dict[str, Filed] = {}
    left_out = []
    for one in found:
        said = one.said
        question = _id_in(workspace, said, questions, document) if said.digest == text else ""
        if question:
            chosen[question] = one
        else:
            other = "question set" if said.digest == text else "text"
            left_out.append(f"left out: {said.question} of {said.questions}, which is about another {other}.")
    lead = sorted({one.ruling.analyst for one in chosen.values() if one.ruling})
    return Corrections(
        document=name,
        questions=questions,
        annotators=tuple(sorted({one.event.analyst for one in chosen.values()})),
        digest=text,
        corrections={question: _worded(chosen[question].correction, document) for question in sorted(chosen)},
        date=max(one.ruling.time[:10] for one in chosen.values() if one.ruling),
        source=f"Objections at the scoring desk, accepted by {', '.join(lead)}.",
    ), left_out


def _text(workspace: Workspace, name: str, found: list[Filed]) -> str:
    """The digest of the text that the file is about."""
    texts = [one.said.digest for one in found]
    try:
        here = load_document(name, workspace).digest
    except GenaipaError:
        here = ""
    return here if here in texts else texts[-1]


def _id_in(workspace: Workspace, said: Objection, questions: str, document: Document) -> str:
    """The id of an objection's question in the set `questions`; empty if that does not ask it."""
    if said.questions == questions:
        return said.question
    asked, wanted = question_set(workspace, said.questions), question_set(workspace, questions)
    if asked is None or wanted is None:
        return ""
    return next(iter(same_questions([said.question], asked, wanted, document.company)), "")


def _worded(one: Correction, document: Document) -> Correction:
    """The correction with its proof in words, where the document's words may be passed on."""
    if not may_be_passed_on(document.about.license):
        return one
    return msgspec.structs.replace(one, sentence=" ".join(one.proof(document.text).split()), at=None, sha256="")
