"""`genaipa scores objections`: annotated answers that analysts found wrong, settled, and exported as corrections."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, print_to_stderr, show, show_facts
from genaipa.cli.terminal.options import (
    ForceOption,
    JsonOption,
    check_no_overwrite,
    current_workspace,
    open_output_file,
    option,
)
from genaipa.errors import UsageError, format_shell_command
from genaipa.words import format_count
from genaipa.workspace import shipped_folder

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Correction
    from genaipa.scoring.objections import FiledObjection
    from genaipa.workspace import Workspace

_SHORT = 8
"""Characters of an id that are shown."""

_IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The objection's id, or its first characters.")]
_ByOption = Annotated[str, option("--by", metavar="NAME", help="Who decides: an adjudicator, if desk.yaml names any.")]

app = typer.Typer()


@app.callback(invoke_without_command=True)
def objections(
    context: typer.Context,
    status: Annotated[
        Literal["open", "accepted", "rejected", "withdrawn"] | None,
        option(
            "--status", metavar="STATUS", help="List only objections that are open, accepted, rejected or withdrawn."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Settle objections to annotated answers.

    At the desk, whoever scores can say that an annotated answer is wrong, with the passage that proves it. Without a
    command, all objections are listed.
    """
    if context.invoked_subcommand is not None:
        return
    workspace = current_workspace()
    objections_shown = [
        objection for objection in _list_filed_objections(workspace) if status in (None, objection.status)
    ]
    rows = [_collect_objection_facts(workspace, objection) for objection in objections_shown]
    if json:
        print_json(rows)
        return
    for row in rows:
        show_facts((label, value) for label, value in row.items() if label != "time")
        show()
    kinds = ("open", "accepted", "rejected", "withdrawn")
    counts = [
        f"{count} {kind}"
        for kind in kinds
        if (count := sum(objection.status == kind for objection in objections_shown))
    ]
    show(f"{format_count(len(objections_shown), 'objection')}{': ' if counts else ''}{', '.join(counts)}.")
    if any(objection.status == "open" for objection in objections_shown):
        accept = format_shell_command("genaipa", "scores", "objections", "accept", rows[0]["id"], "--by", "NAME")
        show(f"To settle an objection: {accept}, or reject.")


@app.command()
def accept(
    objection_id: _IdArgument,
    by: _ByOption,
    silent: Annotated[
        Literal["yes", "partly", "no"] | None,
        option(
            "--silent",
            metavar="VALUE",
            help="Whether the document is silent, if the objection is wrong about that: yes, partly or no.",
        ),
    ] = None,
    answer: Annotated[
        str | None,
        option("--answer", metavar="TEXT", help="The right answer, if it differs from the one proposed."),
    ] = None,
    passage: Annotated[
        str | None,
        option(
            "--passage", metavar="TEXT", help="The proof in the document's words, if it differs from the one proposed."
        ),
    ] = None,
    why: Annotated[
        str | None,
        option(
            "--why",
            metavar="TEXT",
            help="Why the annotated answer is wrong, if the reason differs from the one proposed.",
        ),
    ] = None,
    reason: Annotated[str, option("--reason", metavar="TEXT", help="Why you accept the objection, for the log.")] = "",
) -> None:
    """Accept an objection, as it is or edited.

    An earlier decision on it no longer counts.
    """
    from genaipa.scoring.objections import check_correction_ends_silence, make_correction
    from genaipa_objections.settling import (
        find_annotated_silence,
        find_objected_document,
        format_corrections_export_command,
    )

    workspace = current_workspace()
    objection = _find_objection_by_id_prefix_or_raise(workspace, objection_id)
    correction: Correction = objection.objection.correction
    if not (silent is answer is passage is why is None):
        document = find_objected_document(workspace, objection.objection)
        if document is None:
            raise UsageError(
                f"the text of '{objection.objection.document}' is missing, so the correction can't be edited."
            )
        correction = make_correction(
            document,
            correction.find_proving_sentence_or_empty(document.text) if passage is None else passage,
            silent=silent or correction.silent,
            answer=correction.answer if answer is None else answer,
            why=correction.why if why is None else why,
        )
    check_correction_ends_silence(correction.silent, find_annotated_silence(workspace, objection.objection))
    _store_ruling_in_place_of_earlier(workspace, objection, by, correction, reason)
    show(f"{objection.objection.document} {objection.objection.question}: accepted. To write a file of corrections:")
    show(format_corrections_export_command(workspace, objection.objection.document), no_wrap=True)


@app.command()
def reject(
    objection_id: _IdArgument,
    by: _ByOption,
    reason: Annotated[str, option("--reason", metavar="TEXT", help="Why the annotated answer is right.")],
) -> None:
    """Reject an objection.

    An earlier decision on it no longer counts.
    """
    workspace = current_workspace()
    objection = _find_objection_by_id_prefix_or_raise(workspace, objection_id)
    _store_ruling_in_place_of_earlier(workspace, objection, by, None, reason)
    show(f"{objection.objection.document} {objection.objection.question}: rejected.")


@app.command()
def export(
    document: Annotated[
        str,
        typer.Argument(
            metavar="POLICY", autocompletion=completion.documents, help="The document that the objections are about."
        ),
    ],
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            metavar="FILE.yaml",
            help="The file to write, named after the document; by default, it is printed.",
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write accepted objections as a file of corrections.

    'genaipa report --corrected' applies it from the workspace's folder corrections/. The document's words are quoted
    only where they may be passed on; otherwise the file has their position and digest.
    """
    from genaipa.files.strict_yaml import format_yaml
    from genaipa_objections.settling import collect_accepted_corrections_and_notes

    workspace = current_workspace()
    if output is not None:
        if output.name != f"{document}.yaml":
            raise UsageError(f"{output}: a file of corrections must be named after its document: {document}.yaml.")
        _refuse_output_in_shipped_folder(output)
        check_no_overwrite(output, force=force)
    corrections, left_out = collect_accepted_corrections_and_notes(
        workspace, document, _list_filed_objections(workspace)
    )
    for note in left_out:
        print_to_stderr(note)
    if output is None:
        sys.stdout.write(format_yaml(corrections))
        return
    with open_output_file(output, force=force) as file:
        file.write(format_yaml(corrections).encode())
    show(f"{output}: {format_count(len(corrections.corrections), 'correction')}")
    if output.resolve().parent != workspace.home / "corrections" or workspace.layers[0][0] != "workspace":
        print_to_stderr(
            "'genaipa report --corrected' applies the file once it is in the folder corrections/ of a workspace "
            "(genaipa init)."
        )


def _refuse_output_in_shipped_folder(output: Path) -> None:
    """Raise a UsageError for a file among the data of the installation, or of the checkout that a command is run in."""
    if output.expanduser().resolve().is_relative_to(shipped_folder("corrections")):
        raise UsageError(
            f"{output} is in the folder of corrections that genaipa ships for every study. Keep your corrections in "
            "a workspace (genaipa init my-study; move runs/ and scores.db there), or write to another folder: -o "
            f"{output.name}"
        )


def _list_filed_objections(workspace: Workspace) -> list[FiledObjection]:
    """List every objection; none, without making a store, where there is no store yet."""
    from genaipa.scoring.objections import collect_objections_even_withdrawn
    from genaipa.scoring.store import open_existing_store

    with open_existing_store(workspace) as store:
        return collect_objections_even_withdrawn(event for _, event in store.read_numbered_events()) if store else []


def _find_objection_by_id_prefix_or_raise(workspace: Workspace, id_prefix: str) -> FiledObjection:
    matches = [
        objection
        for objection in _list_filed_objections(workspace)
        if objection.event.id.startswith(id_prefix.strip() or "-")
    ]
    if len(matches) != 1:
        count = len(matches) or "no"
        raise UsageError(
            f"{count} objections have an id that begins with '{id_prefix}'; list all objections with: genaipa "
            "scores objections"
        )
    return matches[0]


def _store_ruling_in_place_of_earlier(
    workspace: Workspace, objection: FiledObjection, adjudicator_name: str, correction: Correction | None, reason: str
) -> None:
    """Keep a ruling; a UsageError for somebody who may not give any."""
    from genaipa.scoring.people import load_desk_people_and_plan
    from genaipa.scoring.store import open_or_create_store
    from genaipa_objections.settling import make_objection_ruling_event

    with contextlib.closing(open_or_create_store(workspace)) as store:
        user = load_desk_people_and_plan(workspace).admit_user(
            adjudicator_name, {event.analyst for _, event in store.read_numbered_events()}, requires_login=False
        )
        if user.reason_user_may_not_adjudicate_or_empty:
            raise UsageError(user.reason_user_may_not_adjudicate_or_empty)
        store.append_new_events([make_objection_ruling_event(objection, user.name, correction, reason=reason)])


def _collect_objection_facts(workspace: Workspace, objection: FiledObjection) -> dict[str, Any]:
    """Return an objection as it is listed; the passage is empty where the text is not here."""
    from genaipa_objections.settling import find_objected_document

    right, objected, ruling = objection.accepted_or_proposed_correction, objection.objection, objection.ruling
    document = find_objected_document(workspace, objected)
    return {
        "id": objection.event.id[:_SHORT],
        "document": objected.document,
        "question": objected.question,
        "analyst": objection.event.analyst,
        "time": objection.event.time,
        "annotated": _format_annotated_answer_or_empty(workspace, document, objection) if document else "",
        "silent": right.silent,
        "answer": right.answer,
        "passage": " ".join(right.find_proving_sentence_or_empty(document.text).split()) if document else "",
        "why": right.why,
        "status": objection.status,
        "by": ruling.analyst if ruling else "",
        "reason": ruling.note if ruling else "",
    }


def _format_annotated_answer_or_empty(workspace: Workspace, document: Document, objection: FiledObjection) -> str:
    """Return the annotated answer that an objection is about; empty where it is not in the workspace."""
    from genaipa.questions.annotations import find_annotation_file, load_question_set_or_none

    held, question_set = (
        find_annotation_file(workspace, document),
        load_question_set_or_none(workspace, objection.objection.questions),
    )
    answer = (
        held.usable_annotations(question_set, document.company).answers.get(objection.objection.question)
        if held and question_set
        else None
    )
    return f"silent: {answer.silent}. {answer.answer}" if answer else ""
