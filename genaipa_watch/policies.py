"""`genaipa policies history`, `diff` and `carry`: the versions of a document, and what a new one changes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, print_table, queue_next_steps, show
from genaipa.cli.terminal.options import ForceOption, JsonOption, current_workspace, open_output_file, option
from genaipa.errors import UsageError, clip, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.workspace import Workspace
    from genaipa_watch.changes import DocumentChanges
    from genaipa_watch.history import Version
    from genaipa_watch.versions import CarriedAnswers

_SHOWN = 12
"""Sections that the table of `diff` shows; the page has all."""


def history(
    repository: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A git repository, such as a clone of a collection.")
    ],
    path: Annotated[str, option("--path", metavar="FILE", help="The document's path in the repository.")],
    name: Annotated[str, option("--name", help="The name that all versions share.")],
    company: Annotated[
        str, option("--company", help="The company named in questions; default: the file's folder.")
    ] = "",
    replace: Annotated[bool, option("--force", help="Replace existing versions whose text differs.")] = False,
    json: JsonOption = False,
) -> None:
    """Add all versions of a document.

    The versions are those of a file in a git repository, such as Open Terms Archive's collections. Each version that
    differs becomes a document NAME.DATE. The companies keep the rights to their texts.
    """
    from genaipa.policies.adding import check_document_and_company_name
    from genaipa.policies.companies import is_generic_name, name_as_company_or_placeholder
    from genaipa_watch.history import REASONS, read_version_history

    workspace = current_workspace()
    if "workspace" not in dict(workspace.layers):
        raise UsageError("there is no workspace here for the versions; create one with: genaipa init DIR")
    folder = PurePosixPath(path).parent.name
    company = company or (name_as_company_or_placeholder(name) if is_generic_name(folder) else folder)
    check_document_and_company_name(name, company)
    versions = read_version_history(repository, path)
    added = _write_new_versions_and_list_names(
        workspace, versions.versions, name=name, company=company, source=path, replace=replace
    )
    if json:
        print_json(
            {
                "versions": [f"{name}.{version.date}" for version in versions.versions],
                "added": added,
                "left_out": versions.left_out,
            }
        )
        return
    show(
        f"{format_count(versions.version_count_with_left_out, 'version')} of {path}: {len(versions.versions)} differ, "
        f"{len(added)} added."
    )
    for reason, count in versions.left_out.items():
        show(f"  {count:>4} {REASONS[reason]}")
    names = [f"{name}.{version.date}" for version in versions.versions]
    if len(names) > 1:
        queue_next_steps(f"Next: {format_shell_command('genaipa', 'policies', 'diff', names[0], names[-1])}")


def _write_new_versions_and_list_names(
    workspace: Workspace, versions: tuple[Version, ...], *, name: str, company: str, source: str, replace: bool
) -> list[str]:
    """Write the versions that are not there yet, and return their names."""
    from genaipa.policies.adding import write_document_with_metadata
    from genaipa.policies.document import document_layers_and_paths_by_name, load_document
    from genaipa.policies.formats import ExtractedDocument

    names, fresh = document_layers_and_paths_by_name(workspace), []
    for version in versions:
        called = f"{name}.{version.date}"
        if called in names and load_document(called, workspace).text == version.text:
            continue
        origin = f"{source} at {version.commit[:12]}"
        extracted = ExtractedDocument(version.text, "", "", origin, version.date, markdown=source.endswith(".md"))
        write_document_with_metadata(
            workspace.home / "policies",
            extracted,
            name=called,
            company=company,
            kind="policy",
            version_of=name,
            replace=replace,
        )
        fresh.append(called)
    return fresh


def diff(
    before: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The earlier version.")],
    after: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The later version.")],
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE.html", help="Write a page with every changed word.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show what a new version changes.

    Sections are aligned by number, title and sentences; annotated answers of the earlier version hold if no sentence
    of their sections changed.
    """
    from genaipa.datasets.base import load_named_document

    workspace = current_workspace()
    changes = compare_versions(load_named_document(workspace, before), load_named_document(workspace, after))
    carried = carry_annotated_answers(workspace, changes)
    if output is not None:
        from genaipa_watch.page import render_changes_page_html

        with open_output_file(output, force=force) as file:
            file.write(render_changes_page_html(changes, carried).encode())
    if json:
        print_json(_changes_for_json(changes, carried))
        return
    show("sections: " + ", ".join(f"{count} {state}" for state, count in changes.section_counts_by_state.items()))
    rows = [
        (change.state, clip(change.heading_or_both_if_renamed, 70))
        for change in changes.changes_of_all_sections
        if change.state != "unchanged"
    ]
    print_table(("", "section"), rows[:_SHOWN])
    if len(rows) > _SHOWN:
        show(f"and {format_count(len(rows) - _SHOWN, 'more section')}")
    if carried:
        _print_which_annotations_hold(carried)
    if output is not None:
        show(f"Written: {output}")
    elif carried and not changes.has_same_words:
        queue_next_steps("Next: " + format_shell_command("genaipa", "policies", "carry", before, after))
    elif rows:
        queue_next_steps(
            "Every changed word: "
            + format_shell_command("genaipa", "policies", "diff", before, after, "-o", "diff.html")
        )


def carry(
    before: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The earlier version.")],
    after: Annotated[str, typer.Argument(autocompletion=completion.documents, help="The later version.")],
) -> None:
    """Carry annotated answers over to a later version.

    In the file of annotated answers for the later version, answers that hold are filled in, and others are comments.
    """
    from genaipa.cli.commands.policies import CHECK, require_own_workspace, write_new_annotations_file
    from genaipa.datasets.base import load_named_document
    from genaipa.files.stamps import local_today
    from genaipa.questions.annotations import format_annotation_template

    workspace = current_workspace()
    require_own_workspace(workspace)
    carried = carry_annotated_answers(
        workspace, compare_versions(load_named_document(workspace, before), load_named_document(workspace, after))
    )
    if carried is None:
        raise UsageError(f"there are no annotated answers for the text of '{before}' to carry over.")
    day = local_today()
    text = format_annotation_template(
        carried.changes.after,
        carried.question_set,
        day,
        carried.make_annotations_of_later_version(day),
        carried.format_earlier_answers_with_changes(),
    )
    path = write_new_annotations_file(workspace, after, text)
    holding = len(carried.list_question_ids_in_state("holds"))
    remaining = format_count(len(carried.question_set.questions) - holding, "question")
    show(f"{path} keeps {format_count(holding, 'answer')} and leaves {remaining} to answer. {CHECK}")


def compare_versions(before: Document, after: Document) -> DocumentChanges:
    """Return the changes between two versions; a UsageError for one version, or where they are in two languages."""
    from genaipa.languages.catalog import language_name
    from genaipa_watch.changes import DocumentChanges

    if before.name == after.name:
        raise UsageError(f"'{before.name}' can't be compared with itself; name a different version.")
    if "" not in (before.language, after.language) and before.language != after.language:
        languages = f"in {language_name(before.language)}, and '{after.name}' is in {language_name(after.language)}"
        raise UsageError(f"'{before.name}' is {languages}; name two versions in the same language.")
    return DocumentChanges(before, after)


def carry_annotated_answers(workspace: Workspace, changes: DocumentChanges) -> CarriedAnswers | None:
    """Return the annotated answers of the earlier version, held against the later; None if it has none."""
    from genaipa.questions.annotations import (
        find_annotation_file,
        load_question_set_or_none,
        map_annotated_digests_to_names,
    )
    from genaipa_watch.versions import CarriedAnswers

    annotations = find_annotation_file(workspace, changes.before)
    if annotations is None or not annotations.of_this_text:
        # The same text may be annotated under another name: a version that was the present one.
        annotations = find_annotation_file(workspace, changes.before, map_annotated_digests_to_names(workspace))
    if annotations is None or not annotations.of_this_text:
        return None
    questions = load_question_set_or_none(workspace, annotations.annotations.questions, annotations.layer)
    return CarriedAnswers(changes, annotations.annotations, questions) if questions else None


def _print_which_annotations_hold(carried: CarriedAnswers) -> None:
    every = len(carried.annotations.answers)
    look, perhaps = carried.list_question_ids_in_state("look"), carried.list_question_ids_in_state("perhaps")
    parts = [f"{every - len(look) - len(perhaps)} of {format_count(every, 'annotated answer')} hold"]
    if look:
        parts.append(f"{len(look)} to check again: {', '.join(look)}")
    if perhaps:
        parts.append(f"{len(perhaps)} may now be answered: {', '.join(perhaps)}")
    show("; ".join(parts))


def _changes_for_json(changes: DocumentChanges, carried: CarriedAnswers | None) -> dict[str, Any]:
    sections = [
        {
            "state": part.state,
            "before": part.before and part.before.label,
            "after": part.after and part.after.label,
            "heading": part.heading_or_both_if_renamed,
        }
        for part in changes.changes_of_all_sections
    ]
    answers = {
        part.question: {
            "state": part.state,
            "sections": list(dict.fromkeys(change.heading_or_both_if_renamed for change in part.touched)),
            "points": part.points,
        }
        for part in (carried.answers if carried else ())
    }
    return {
        "before": changes.before.name,
        "after": changes.after.name,
        "counts": changes.section_counts_by_state,
        "sections": sections,
        "answers": answers,
    }
