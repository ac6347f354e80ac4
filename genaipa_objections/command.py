"""`genaipa scores objections`: annotated answers that analysts found wrong, settled, and exported as corrections."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, say, show, show_facts
from genaipa.cli.terminal.options import ForceOption, JsonOption, check_new, current_workspace, open_output, option
from genaipa.errors import UsageError, command
from genaipa.words import number
from genaipa.workspace import shipped

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Correction
    from genaipa.scoring.objections import FiledObjection
    from genaipa.workspace import Workspace

_SHORT = 8
"""Characters of an id that are shown."""

_WhichArgument = Annotated[str, typer.Argument(metavar="ID", help="The objection's id, or its first characters.")]
_ByOption = Annotated[
    str, option("--by", metavar="NAME", help="Who decides: an adjudicator, where desk.yaml names any.")
]

app = typer.Typer()


@app.callback(invoke_without_command=True)
def objections(
    context: typer.Context,
    status: Annotated[
        Literal["open", "accepted", "rejected", "withdrawn"] | None,
        option("--status", metavar="STATUS", help="Only these: open, accepted, rejected or withdrawn."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Settle objections to annotated answers.

    At the desk, whoever scores can say that an annotated answer is wrong, with the passage that proves it. Without a
    command, all objections are listed.
    """
    if context.invoked_subcommand is not None:
        return
    here = current_workspace()
    found = [one for one in _list_filed(here) if status in (None, one.status)]
    rows = [_facts(here, one) for one in found]
    if json:
        print_json(rows)
        return
    for row in rows:
        show_facts((label, value) for label, value in row.items() if label != "time")
        show()
    kinds = ("open", "accepted", "rejected", "withdrawn")
    counts = [f"{count} {kind}" for kind in kinds if (count := sum(one.status == kind for one in found))]
    show(f"{number(len(found), 'objection')}{': ' if counts else ''}{', '.join(counts)}.")
    if any(one.status == "open" for one in found):
        accept = command("genaipa", "scores", "objections", "accept", rows[0]["id"], "--by", "NAME")
        show(f"To settle one: {accept}, or reject.")


@app.command()
def accept(
    which: _WhichArgument,
    by: _ByOption,
    silent: Annotated[
        Literal["yes", "partly", "no"] | None,
        option(
            "--silent", metavar="VALUE", help="Whether the document is silent, if not as proposed: yes, partly, no."
        ),
    ] = None,
    answer: Annotated[
        str | None, option("--answer", metavar="TEXT", help="The right answer, if not as proposed.")
    ] = None,
    passage: Annotated[
        str | None, option("--passage", metavar="TEXT", help="The proof in the document's words, if not as proposed.")
    ] = None,
    why: Annotated[
        str | None, option("--why", metavar="TEXT", help="Why the annotated answer is wrong, if not as proposed.")
    ] = None,
    reason: Annotated[str, option("--reason", metavar="TEXT", help="Why you accept it, for the log.")] = "",
) -> None:
    """Accept an objection, as it is or edited.

    An earlier decision on it no longer counts.
    """
    from genaipa.scoring.objections import check_silence, make_correction
    from genaipa_objections.settling import export_command, find_document, find_silence

    here = current_workspace()
    one = _find_objection(here, which)
    correction: Correction = one.objection.correction
    if not (silent is answer is passage is why is None):
        document = find_document(here, one.objection)
        if document is None:
            raise UsageError(f"the text of '{one.objection.document}' is not here, so that nothing can be edited.")
        correction = make_correction(
            document,
            correction.find_proof(document.text) if passage is None else passage,
            silent=silent or correction.silent,
            answer=correction.answer if answer is None else answer,
            why=correction.why if why is None else why,
        )
    check_silence(correction.silent, find_silence(here, one.objection))
    _settle(here, one, by, correction, reason)
    show(f"{one.objection.document} {one.objection.question}: accepted. Into a file of corrections:")
    show(export_command(here, one.objection.document), exact=True)


@app.command()
def reject(
    which: _WhichArgument,
    by: _ByOption,
    reason: Annotated[str, option("--reason", metavar="TEXT", help="Why the annotated answer is right.")],
) -> None:
    """Reject an objection.

    An earlier decision on it no longer counts.
    """
    here = current_workspace()
    one = _find_objection(here, which)
    _settle(here, one, by, None, reason)
    show(f"{one.objection.document} {one.objection.question}: rejected.")


@app.command()
def export(
    document: Annotated[
        str, typer.Argument(metavar="POLICY", autocompletion=completion.documents, help="The document they are about.")
    ],
    output: Annotated[
        Path | None,
        option(
            "--output", "-o", metavar="FILE.yaml", help="The file to write, named after the document; else printed."
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write accepted objections as a file of corrections.

    In the workspace's folder corrections/, 'genaipa report --corrected' applies it. The document's words are quoted
    only where they may be passed on; else the file has their place and digest.
    """
    from genaipa.files.strict_yaml import as_yaml
    from genaipa_objections.settling import collect_corrections

    here = current_workspace()
    if output is not None:
        if output.name != f"{document}.yaml":
            raise UsageError(f"{output}: a file of corrections is named after its document: {document}.yaml.")
        _refuse_shipped(output)
        check_new(output, force=force)
    found, left_out = collect_corrections(here, document, _list_filed(here))
    for told in left_out:
        say(told)
    if output is None:
        sys.stdout.write(as_yaml(found))
        return
    with open_output(output, force=force) as file:
        file.write(as_yaml(found).encode())
    show(f"{output}: {number(len(found.corrections), 'correction')}")
    if output.resolve().parent != here.home / "corrections" or here.layers[0][0] != "workspace":
        say("'genaipa report --corrected' applies it from the folder corrections/ of a workspace (genaipa init).")


def _refuse_shipped(output: Path) -> None:
    """Raise a UsageError for a file among the data of the installation, or of the checkout that a command is run in."""
    if output.expanduser().resolve().is_relative_to(shipped("corrections")):
        raise UsageError(
            f"{output} lies among the corrections that genaipa ships, for every study. Keep yours in a workspace ("
            f"genaipa init my-study; move runs/ and scores.db there), or write elsewhere: -o {output.name}"
        )


def _list_filed(workspace: Workspace) -> list[FiledObjection]:
    """Every objection; none, and no store is made, where there is no store yet."""
    from genaipa.scoring.objections import collect_objections
    from genaipa.scoring.store import open_existing_store

    with open_existing_store(workspace) as store:
        return collect_objections(event for _, event in store.events()) if store else []


def _find_objection(workspace: Workspace, which: str) -> FiledObjection:
    found = [one for one in _list_filed(workspace) if one.event.id.startswith(which.strip() or "-")]
    if len(found) != 1:
        many = len(found) or "no"
        raise UsageError(
            f"{many} objections have an id that begins with '{which}'; they are listed by: genaipa scores objections"
        )
    return found[0]


def _settle(workspace: Workspace, one: FiledObjection, by: str, correction: Correction | None, reason: str) -> None:
    """Keep a ruling; a UsageError for somebody who may not give any."""
    from genaipa.scoring.people import load_people
    from genaipa.scoring.store import open_store
    from genaipa_objections.settling import settle_objection

    with contextlib.closing(open_store(workspace)) as store:
        user = load_people(workspace).admit(by, {event.analyst for _, event in store.events()}, login=False)
        if user.why_no_adjudication:
            raise UsageError(user.why_no_adjudication)
        store.append([settle_objection(one, user.name, correction, reason=reason)])


def _facts(workspace: Workspace, one: FiledObjection) -> dict[str, Any]:
    """Return an objection as it is listed; the passage is empty where the text is not here."""
    from genaipa_objections.settling import find_document

    right, said, ruled = one.correction, one.objection, one.ruling
    document = find_document(workspace, said)
    return {
        "id": one.event.id[:_SHORT],
        "document": said.document,
        "question": said.question,
        "analyst": one.event.analyst,
        "time": one.event.time,
        "annotated": _find_annotated(workspace, document, one) if document else "",
        "silent": right.silent,
        "answer": right.answer,
        "passage": " ".join(right.find_proof(document.text).split()) if document else "",
        "why": right.why,
        "status": one.status,
        "by": ruled.analyst if ruled else "",
        "reason": ruled.note if ruled else "",
    }


def _find_annotated(workspace: Workspace, document: Document, one: FiledObjection) -> str:
    """Return the annotated answer that an objection is about; empty where it is not in the workspace."""
    from genaipa.questions.annotations import find_annotations, find_question_set

    held, asked = find_annotations(workspace, document), find_question_set(workspace, one.objection.questions)
    answer = (
        held.usable_answers(asked, document.company).answers.get(one.objection.question) if held and asked else None
    )
    return f"silent: {answer.silent}. {answer.answer}" if answer else ""
