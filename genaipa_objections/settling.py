"""Rulings on objections to annotated answers, and the accepted ones as a file of corrections."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import GenaipaError, UsageError, format_shell_command
from genaipa.files.stamps import now
from genaipa.policies.document import load_document
from genaipa.questions.annotations import (
    Correction,
    Corrections,
    find_annotation_file,
    load_question_set_or_none,
    map_questions_to_annotated_question,
)
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.permission import license_allows_redistribution
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.events import Event, Objection, Ruling, new_event_id
from genaipa.workspace import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Silent
    from genaipa.scoring.objections import FiledObjection
    from genaipa.workspace import Workspace


def find_annotated_silence(workspace: Workspace, objection: Objection) -> Silent | None:
    """Tell whether an objection's annotated answer says that the document is silent; None if it is not here."""
    document = find_objected_document(workspace, objection)
    held = find_annotation_file(workspace, document) if document else None
    if document is None or held is None or not held.of_this_text:
        return None
    answer = held.annotations.answers.get(
        _question_id_in_set_or_empty(workspace, objection, held.annotations.questions, document)
    )
    return answer.silent if answer else None


def make_objection_ruling_event(
    objection: FiledObjection, adjudicator: str, correction: Correction | None, *, reason: str = ""
) -> Event:
    """Return the event that accepts an objection with a correction or, with None, rejects it; that needs a reason."""
    if correction is None and not reason.strip():
        raise UsageError("a rejection needs a reason, which goes into the log.")
    return Event(
        id=new_event_id(),
        time=now(),
        kind="ruling",
        analyst=adjudicator,
        answer=objection.event.answer,
        note=reason.strip(),
        independent=False,
        annotation=Ruling(objection.event.id, correction),
    )


def format_corrections_export_command(workspace: Workspace, document: str) -> str:
    """Return the command that writes a document's accepted objections where the workspace keeps corrections.

    In a checkout that is no workspace those are the shipped ones: there it writes beside them.
    """
    name = f"{document}.yaml"
    file = name if workspace.home == shipped_folder() else workspace.home / "corrections" / name
    return format_shell_command("genaipa", "scores", "objections", "export", document, "-o", file)


def find_objected_document(workspace: Workspace, objection: Objection) -> Document | None:
    """Return the very text that an objection is about, of the workspace or kept by one of its runs, or None."""
    with contextlib.suppress(GenaipaError):
        document = load_document(objection.document, workspace)
        if document.digest == objection.digest:
            return document
    for folder in list_run_folders_oldest_first(workspace):
        with contextlib.suppress(GenaipaError):
            if (folder.path / "documents" / f"{objection.digest}.txt").is_file():
                return RunDocumentsAndQuestions(workspace, folder).document(objection.document)
    return None


def collect_accepted_corrections_and_notes(
    workspace: Workspace, document_name: str, objections: Iterable[FiledObjection]
) -> tuple[Corrections, list[str]]:
    """Return the accepted corrections about the document of that name, and sentences on any left out.

    They are of one text (the workspace's, where one is about that) and by the ids of one question set, that of the
    annotated answers. Of several corrections of one annotated answer the one accepted last counts. A UsageError if
    there is none, or if the text is not here.
    """
    accepted = [
        filed_objection
        for filed_objection in objections
        if filed_objection.status == "accepted" and filed_objection.objection.document == document_name
    ]
    if not accepted:
        raise UsageError(f"no objection to an annotated answer about '{document_name}' has been accepted.")
    accepted.sort(key=lambda filed_objection: filed_objection.ruling_order)
    text = _prefer_workspace_text_digest(workspace, document_name, accepted)
    document = find_objected_document(
        workspace,
        next(filed_objection.objection for filed_objection in accepted if filed_objection.objection.digest == text),
    )
    if document is None:
        raise UsageError(
            f"the text of '{document_name}' that the objections are about is neither in the workspace nor in a run."
        )
    held = find_annotation_file(workspace, document)
    questions = held.annotations.questions if held and held.of_this_text else accepted[-1].objection.questions
    chosen: dict[str, FiledObjection] = {}
    left_out = []
    for filed_objection in accepted:
        objection = filed_objection.objection
        question = (
            _question_id_in_set_or_empty(workspace, objection, questions, document) if objection.digest == text else ""
        )
        if question:
            chosen[question] = filed_objection
        else:
            subject = "question set" if objection.digest == text else "text"
            left_out.append(
                f"left out: {objection.question} of {objection.questions}, which is about another {subject}."
            )
    lead = sorted({filed_objection.ruling.analyst for filed_objection in chosen.values() if filed_objection.ruling})
    return Corrections(
        document=document_name,
        questions=questions,
        annotators=tuple(sorted({filed_objection.event.analyst for filed_objection in chosen.values()})),
        digest=text,
        corrections={
            question: _quote_proof_if_redistributable(chosen[question].accepted_or_proposed_correction, document)
            for question in sorted(chosen)
        },
        date=max(filed_objection.ruling.time[:10] for filed_objection in chosen.values() if filed_objection.ruling),
        source=f"Objections at the scoring desk, accepted by {', '.join(lead)}.",
    ), left_out


def _prefer_workspace_text_digest(
    workspace: Workspace, document_name: str, accepted_objections: list[FiledObjection]
) -> str:
    """Return the digest of the text that the file is about."""
    texts = [objection.objection.digest for objection in accepted_objections]
    try:
        digest = load_document(document_name, workspace).digest
    except GenaipaError:
        digest = ""
    return digest if digest in texts else texts[-1]


def _question_id_in_set_or_empty(
    workspace: Workspace, objection: Objection, question_set_name: str, document: Document
) -> str:
    """Return the id of an objection's question in the set `question_set_name`; empty if that does not ask it."""
    if objection.questions == question_set_name:
        return objection.question
    source_set, target_set = (
        load_question_set_or_none(workspace, objection.questions),
        load_question_set_or_none(workspace, question_set_name),
    )
    if source_set is None or target_set is None:
        return ""
    return next(
        iter(map_questions_to_annotated_question([objection.question], source_set, target_set, document.company)), ""
    )


def _quote_proof_if_redistributable(correction: Correction, document: Document) -> Correction:
    """Return the correction with its proof in words, where the document's words may be passed on."""
    if not license_allows_redistribution(document.about.license):
        return correction
    return msgspec.structs.replace(
        correction,
        sentence=" ".join(correction.find_proving_sentence_or_empty(document.text).split()),
        at=None,
        sha256="",
    )
