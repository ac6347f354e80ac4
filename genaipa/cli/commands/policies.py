"""`genaipa policies`: the documents that can be asked about, and how to add one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from genaipa.cli.commands import corpora
from genaipa.cli.commands.documents import named_document
from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, say, show, show_facts, table
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import DataError, UnknownNameError, UsageError, command
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.policies.document import Document, DocumentKind
    from genaipa.workspace import Workspace

_COMMANDS = ("list", "show", "add", "annotate", "stats", "generate")

app = typer.Typer()


@app.callback(invoke_without_command=True)
def policies(context: typer.Context, json: JsonOption = False) -> None:
    """List, show, add and measure documents.

    Without a command, they are listed.
    """
    if context.invoked_subcommand is not None:
        # An option before the sub-command holds for it too.
        context.default_map = {name: {"json": json or None} for name in _COMMANDS}
        return

    _print_list(current_workspace(), json=json)


@app.command("list")
def list_policies(json: JsonOption = False) -> None:
    """List documents, also those to be fetched."""
    _print_list(current_workspace(), json=json)


def _print_list(workspace: Workspace, *, json: bool) -> None:
    from genaipa.datasets.base import datasets
    from genaipa.policies.document import document_names, load_document

    rows = []
    for name in (here := document_names(workspace)):
        try:
            rows.append(_facts(workspace, load_document(name, workspace)))
        except DataError as error:
            say(f"left out: {error}")
    missing = {known.name: sorted(set(known.documents) - set(here)) for known in datasets() if not known.available()}
    if json:
        print_json({"documents": rows, "pullable": sorted({name for more in missing.values() for name in more})})
        return
    # As few columns as fit a terminal of 80; `show` has everything.
    cells = [
        (
            row["name"],
            row["kind"],
            f"{row['words']:,}",
            "" if row["answers"] is None else f"{row['answers']} ({row['silent']})",
            row["answers_to"],
            row["from"],
        )
        for row in rows
    ]
    table(("name", "kind", "words", "answers", "written for", "from"), cells, right=(2, 3))
    show("answers: annotated answers, in parentheses the number that say the document is silent.")
    show("written for: their question set; they are used for the same questions of other sets, too.")
    for row in rows:
        if row["unused"]:
            say(f"{row['name']}: {row['unused']}")
    for dataset, more in missing.items():
        if more:
            show(f"More come with 'genaipa get {dataset}': {', '.join(more)}")
    show("One of them: genaipa policies show brindlecart. Your own: genaipa policies add FILE-OR-URL")


def _facts(workspace: Workspace, document: Document) -> dict[str, Any]:
    """A row of the list. `answers` and `silent` are None if nobody annotated answers about this text.

    `answers_to` is the question set that they were written for, `answers_to_default` how many of them are for the
    questions that are asked about such a document by default, `answers_digest` the digest of the text that they name,
    and `unused` why the ones of that name are not used.
    """
    from genaipa.policies.statistics import measure
    from genaipa.questions.annotations import find_annotations, question_set, why_unused

    found = find_annotations(workspace, document)
    held = found if found and found.of_this_text else None
    asked = question_set(workspace, document.kind)
    usable = held.usable(asked, document.company) if held and asked else None
    return {
        "name": document.name,
        "company": document.company,
        "kind": document.kind,
        "title": document.about.title,
        "words": measure(document.text).words,
        "sections": len(document.sections),
        "answers": len(held.annotations.answers) if held else None,
        "silent": len(held.annotations.silent) if held else None,
        "answers_to": held.annotations.questions if held else "",
        "answers_to_default": len(usable.answers) if usable else None,
        "answers_digest": held.annotations.digest if held else "",
        "unused": why_unused(found.annotations, found.path, found.layer) if found and not held else "",
        "from": document.layer,
    }


@app.command("show")
def show_policy(
    name: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The document.")],
    section: Annotated[
        str | None, option("--section", help="Print the text of this section: a number or title.")
    ] = None,
    text: Annotated[bool, option("--text", help="Print the whole text.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a document's facts and sections.

    With --section, the text of that section and its subsections; with --text, all of it.
    """
    if text and section is not None:
        raise UsageError("--text prints the whole text and --section a part of it; name one of them.")
    here = current_workspace()
    document = named_document(here, name)
    if text and json:
        print_json({"document": document.name, "digest": document.digest, "text": document.text})
    elif text:
        show(document.text.rstrip("\n"), exact=True)
    elif section is None:
        _print_document(here, document, json=json)
    else:
        _print_section(document, section, json=json)


def _print_document(workspace: Workspace, document: Document, *, json: bool) -> None:
    facts, about = _facts(workspace, document), document.about
    outline = [{"number": s.number, "title": s.title, "level": s.level, "label": s.label} for s in document.sections]
    if json:
        more = {"source": about.source, "date": about.date, "license": about.license, "digest": document.digest}
        print_json({**facts, **more, "part_sets": about.part_sets, "outline": outline})
        return
    show_facts(
        (
            ("title", about.title),
            ("kind", document.kind),
            ("company" if document.kind == "policy" else "name", document.company),
            ("date", about.date),
            ("source", about.source),
            ("license", about.license),
            ("text", about.extraction),
            ("size", f"{facts['words']:,} words, {facts['sections']} sections"),
            ("answers", _answers(facts)),
            ("parts", ", ".join(f"{name}: {len(starts)}" for name, starts in about.part_sets.items())),
            ("file", str(_path(workspace, document))),
            ("sha256", document.digest),
        )
    )
    show()
    width = max((len(s.number) + 2 * s.level for s in document.sections), default=0)
    for s in document.sections:
        number = "  " * (s.level - 1) + s.number
        show(f"{number:{width}}  {s.title}" if s.number else f"{number}{s.title}")
    if outline:
        show(
            "\nThe text of a section: "
            + command("genaipa", "policies", "show", document.name, "--section", document.sections[-1].label)
        )
    else:
        show("No sections were recognised in it, so answers can only cite the parts in which it is sent.")


def _answers(facts: dict[str, Any]) -> str:
    """The number of annotated answers, and the questions that they answer."""
    if facts["answers"] is None:
        return str(facts["unused"])
    to, asked = facts["answers_to"], facts["kind"]
    said = f"{facts['answers']} annotated ones ({facts['silent']}: the document does not say), written for the set {to}"
    return said if to == asked else f"{said}; {facts['answers_to_default']} of them are for the set {asked}, too"


def _path(workspace: Workspace, document: Document) -> Path:
    from genaipa.policies.document import document_names

    return document_names(workspace)[document.name][1]


def _print_section(document: Document, label: str, *, json: bool) -> None:
    from genaipa.policies.sections import resolve

    found = resolve(document.sections, label)
    if found is None:
        known = [section.number or section.title for section in document.sections]
        raise UnknownNameError(f"section in {document.name}", label, known)
    # A section ends where the next one begins, and here its subsections belong to it.
    after = (s.start for s in document.sections if s.start > found.start and s.level <= found.level)
    text = document.text[found.start : next(after, len(document.text))].strip()
    if json:
        print_json({"document": document.name, "label": found.label, "title": found.title, "text": text})
    else:
        show(text, exact=True)


@app.command()
def add(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="Where the text is: a file or an address.")],
    name: Annotated[str, option("--name", help="Its name: a short word in lower case.")],
    company: Annotated[str, option("--company", help="The company in questions (for a regulation, its short name).")],
    kind: Annotated[str, option("--kind", help="policy or regulation.")] = "policy",
    title: Annotated[str, option("--title", help="Its full title; else the one found in it.")] = "",
    license_: Annotated[str, option("--license", help="Under which license the text may be used.")] = "",
    replace: Annotated[bool, option("--force", help="Replace the document of that name.")] = False,
    json: JsonOption = False,
) -> None:
    """Add a document to the workspace.

    It is taken from a file (text, Markdown, HTML, PDF, Word) or an address.
    """
    from genaipa.policies.adding import add_document

    here, held = current_workspace(), list[str]()
    document = add_document(
        source,
        name=name,
        company=company,
        kind=cast("DocumentKind", kind),  # it is checked there
        title=title,
        license=license_,
        force=replace,
        workspace=here,
        tell=held.append,
    )
    facts = _facts(here, document)
    if json:
        print_json({**facts, "held": "".join(held)})
        return
    _print_document(here, document, json=False)
    if hidden := [layer for layer, _ in here.every("policies")[name] if layer != document.layer]:
        show(f"It takes the place of the {hidden[0]} document '{name}': another --name keeps both.")
    if facts["answers"] and not facts["answers_digest"]:
        show("Its annotated answers don't say which text they are about: check them, and add its sha256 as 'digest'.")
    for sentence in held:
        show(f"{sentence}.")
    show(f"Look whether the text is whole. To mend it, take the line 'digest' out of {name}.yaml beside it.")
    show(f"Next: genaipa run --system extractive --policy {name}")


@app.command()
def annotate(
    name: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The document.")],
    questions: Annotated[str, option("--questions", "-q", help="The question set; else the one of its kind.")] = "",
    documents: Annotated[
        Path | None, option("--documents", metavar="FILE", help="The document is of this corpus (.jsonl or .parquet).")
    ] = None,
) -> None:
    """Write a file for right answers.

    It has every question about the document, to be filled in, and is annotations/NAME.yaml in the workspace. Blank
    entries count as not annotated. Of a corpus, it serves every document with the very same text.
    """
    import datetime as dt

    from genaipa.policies.corpus import find_document
    from genaipa.questions.annotations import template
    from genaipa.questions.sets import load_question_set

    here = current_workspace()
    if "workspace" not in dict(here.layers):
        raise UsageError("there is no workspace here to keep annotated answers in; make one with: genaipa init DIR")
    document = named_document(here, name) if documents is None else find_document(documents, name)
    asked = load_question_set(questions or document.kind, here)
    path = here.home / "annotations" / f"{name}.yaml"
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(template(document, asked, dt.datetime.now().astimezone().date().isoformat()))
    except FileExistsError:
        raise UsageError(f"{path} exists already; add to it, or move it away first.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
    show(f"{path}: {number(len(asked.questions), 'question')} to answer. To check them at any time: genaipa validate")


app.command()(corpora.stats)
app.command()(corpora.generate)
