"""`genaipa policies`: the documents that can be asked about, how to add one, and how hard they are to read."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_json,
    print_table,
    print_to_stderr,
    queue_next_steps,
    show,
    show_facts,
    stderr_console,
)
from genaipa.cli.terminal.options import (
    ForceOption,
    JsonOption,
    current_workspace,
    open_output_file,
    option,
    pass_json_to_subcommands,
    split_names,
)
from genaipa.errors import DataError, UnknownNameError, UsageError, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from genaipa.policies.corpus import Corpus
    from genaipa.policies.document import Document, DocumentKind
    from genaipa.policies.statistics import DocumentGroup
    from genaipa.workspace import Workspace

_HEADERS = {
    "words": "words",
    "sections": "sections",
    "unique_words": "unique words",
    "reading_time": "reading time",
    "grade": "grade",
    "ease": "ease",
    "connective_words": "connective words",
}
_NOTE = "unique and connective words: shares of all words; reading time: at 265 words of 5 characters per minute."

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_documents_unless_subcommand(context: typer.Context, json: JsonOption = False) -> None:
    """List, show, add and measure documents.

    Without a command, the documents are listed.
    """
    if context.invoked_subcommand is not None:
        pass_json_to_subcommands(context, json=json)
        return

    _print_document_list(current_workspace(), json=json)


@app.command("list")
def list_policies(json: JsonOption = False) -> None:
    """List documents, including those still to fetch."""
    _print_document_list(current_workspace(), json=json)


def _print_document_list(workspace: Workspace, *, json: bool) -> None:
    from genaipa.datasets.base import iterate_loadable_datasets
    from genaipa.policies.document import document_layers_and_paths_by_name, load_document

    rows = []
    for name in (documents := document_layers_and_paths_by_name(workspace)):
        try:
            rows.append(_document_facts(workspace, load_document(name, workspace)))
        except DataError as error:
            print_to_stderr(f"left out: {error}")
    missing = {
        data_set.name: sorted(set(data_set.documents) - set(documents))
        for data_set in iterate_loadable_datasets()
        if not data_set.is_pulled()
    }
    if json:
        print_json(
            {
                "documents": rows,
                "pullable": sorted({name for missing_names in missing.values() for name in missing_names}),
            }
        )
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
    print_table(("name", "kind", "words", "answers", "written for", "from"), cells, right_aligned_columns=(2, 3))
    show("answers: annotated answers; in parentheses, how many of them say that the document is silent.")
    show("written for: the question set of these answers; other sets with the same questions use them, too.")
    for row in rows:
        if row["unused"]:
            print_to_stderr(f"{row['name']}: {row['unused']}")
    for dataset, missing_names in missing.items():
        if missing_names:
            show(f"More come with 'genaipa get {dataset}': {', '.join(missing_names)}")
    show("To show a document: genaipa policies show brindlecart. To add your own: genaipa policies add FILE-OR-URL")


def _document_facts(workspace: Workspace, document: Document) -> dict[str, Any]:
    """Return a row of the list. `answers` and `silent` are None if nobody annotated answers about this text.

    `answers_to` is the question set that they were written for, `answers_to_default` how many of them are for the
    questions that are asked about such a document by default, `answers_digest` the digest of the text that they name,
    and `unused` why the ones of that name are not used.
    """
    from genaipa.policies.statistics import measure_text
    from genaipa.questions.annotations import (
        explain_unused_annotations,
        find_annotation_file,
        load_question_set_or_none,
    )
    from genaipa.questions.sets import default_question_set_name

    match = find_annotation_file(workspace, document)
    held = match if match and match.of_this_text else None
    question_set = load_question_set_or_none(workspace, default_question_set_name(document, workspace))
    usable = held.usable_annotations(question_set, document.company) if held and question_set else None
    return {
        "name": document.name,
        "company": document.company,
        "kind": document.kind,
        "title": document.about.title,
        "words": measure_text(document.text).words,
        "sections": len(document.sections),
        "answers": len(held.annotations.answers) if held else None,
        "silent": len(held.annotations.silent_questions) if held else None,
        "answers_to": held.annotations.questions if held else "",
        "answers_to_default": len(usable.answers) if usable else None,
        "answers_digest": held.annotations.digest if held else "",
        "unused": explain_unused_annotations(match.annotations, match.path, match.layer) if match and not held else "",
        "from": document.layer,
    }


@app.command("show")
def show_policy(
    name: Annotated[str, typer.Argument(autocompletion=completion.documents, help="Name of the document.")],
    section: Annotated[str | None, option("--section", help="Print the section with this number or title.")] = None,
    text: Annotated[bool, option("--text", help="Print the whole text.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a document's facts and sections.

    With --section, print that section with its subsections; with --text, the whole text.
    """
    from genaipa.datasets.base import load_named_document

    if text and section is not None:
        raise UsageError("--text prints the whole text and --section a part of it; use one of them.")
    workspace = current_workspace()
    document = load_named_document(workspace, name)
    if text and json:
        print_json({"document": document.name, "digest": document.digest, "text": document.text})
    elif text:
        show(document.text.rstrip("\n"), no_wrap=True)
    elif section is None:
        _print_document_facts_and_outline(workspace, document, json=json)
    else:
        _print_section(document, section, json=json)


def _print_document_facts_and_outline(workspace: Workspace, document: Document, *, json: bool) -> None:
    from genaipa.languages.catalog import describe_stated_or_likely_language
    from genaipa.policies.document import document_layers_and_paths_by_name
    from genaipa.questions.sets import default_question_set_name

    facts, about = _document_facts(workspace, document), document.about
    outline = [{"number": s.number, "title": s.title, "level": s.level, "label": s.label} for s in document.sections]
    if json:
        extra = {"source": about.source, "date": about.date, "license": about.license, "digest": document.digest}
        print_json({**facts, **extra, "part_sets": about.part_sets, "outline": outline})
        return
    show_facts(
        (
            ("title", about.title),
            ("kind", document.kind),
            ("company" if document.kind == "policy" else "name", document.company),
            (
                "language",
                "" if document.english else describe_stated_or_likely_language(document.text, document.language),
            ),
            ("date", about.date),
            ("source", about.source),
            ("license", about.license),
            ("text", about.extraction),
            ("size", f"{format_count(facts['words'], 'word')}, {format_count(facts['sections'], 'section')}"),
            ("answers", _describe_annotated_answer_count(facts, default_question_set_name(document, workspace))),
            ("parts", ", ".join(f"{name}: {len(starts)}" for name, starts in about.part_sets.items())),
            ("file", str(document_layers_and_paths_by_name(workspace)[document.name][1])),
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
            "\nTo print a section: "
            + format_shell_command(
                "genaipa", "policies", "show", document.name, "--section", document.sections[-1].label
            )
        )
    else:
        show("No sections were found in the text, so answers can cite only the parts in which it is sent.")


def _describe_annotated_answer_count(facts: dict[str, Any], question_set_name: str) -> str:
    """Say how many annotated answers there are, and to which questions."""
    if facts["answers"] is None:
        return str(facts["unused"])
    to = facts["answers_to"]
    text = f"{facts['answers']} annotated (the document is silent on {facts['silent']}), written for the set {to}"
    return (
        text
        if to == question_set_name
        else f"{text}; {facts['answers_to_default']} of them also fit the set {question_set_name}"
    )


def _print_section(document: Document, section_label: str, *, json: bool) -> None:
    from genaipa.policies.sections import find_innermost_cited_section

    cited = find_innermost_cited_section(document.citable_sections, section_label)
    if cited is None:
        labels = [section.number or section.title for section in document.sections]
        raise UnknownNameError(f"section in {document.name}", section_label, labels)
    # A section ends where the next one begins, and here its subsections belong to it.
    after = (s.start for s in document.citable_sections if s.start > cited.start and s.level <= cited.level)
    text = document.text[cited.start : next(after, len(document.text))].strip()
    if json:
        print_json({"document": document.name, "label": cited.label, "title": cited.title, "text": text})
    else:
        show(text, no_wrap=True)


@app.command()
def add(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="The document: a file or a URL.")],
    name: Annotated[str, option("--name", help="Name of the document: a short lower-case word.")],
    company: Annotated[
        str, option("--company", help="The company's name in questions (for a regulation, its short name).")
    ],
    kind: Annotated[str, option("--kind", help="Kind of document: policy or regulation.")] = "policy",
    title: Annotated[str, option("--title", help="Full title; by default, the title in the text.")] = "",
    license_: Annotated[str, option("--license", help="The license of the text.")] = "",
    replace: Annotated[bool, option("--force", help="Replace an existing document of that name.")] = False,
    json: JsonOption = False,
) -> None:
    """Add a document to the workspace.

    The source is a file (text, Markdown, HTML, PDF or Word) or a URL.
    """
    from genaipa.policies.adding import add_document

    workspace, held = current_workspace(), list[str]()
    document = add_document(
        source,
        name=name,
        company=company,
        kind=cast("DocumentKind", kind),  # it is checked there
        title=title,
        license=license_,
        force=replace,
        workspace=workspace,
        tell=held.append,
    )
    facts = _document_facts(workspace, document)
    if json:
        print_json({**facts, "held": "; ".join(held)})
        return
    _print_document_facts_and_outline(workspace, document, json=False)
    if hidden := [layer for layer, _ in workspace.files_in_all_layers("policies")[name] if layer != document.layer]:
        show(f"It hides the {hidden[0]} document '{name}'; choose another --name to use both.")
    if facts["answers"] and not facts["answers_digest"]:
        show(
            "Its annotated answers don't state which text they are about: check them, and add the text's "
            "sha256 as 'digest'."
        )
    for sentence in held:
        show(f"{sentence}.")
    show(f"Check that the text is complete. To correct it, first delete the line 'digest' from {name}.yaml.")
    queue_next_steps(
        f"Next: {format_shell_command('genaipa', 'run', '--system', 'extractive', '--policy', name)}",
        ""
        if facts["answers"]
        else f"The right answers, which people and judges need: "
        f"{format_shell_command('genaipa', 'policies', 'annotate', name)}",
    )


@app.command()
def annotate(
    name: Annotated[str, typer.Argument(autocompletion=completion.documents, help="Name of the document.")],
    questions: Annotated[
        str, option("--questions", "-q", help="The question set; by default, the one for the document's kind.")
    ] = "",
    documents: Annotated[
        Path | None,
        option("--documents", metavar="FILE", help="The corpus that holds the document (.jsonl or .parquet)."),
    ] = None,
) -> None:
    """Write a template for annotated answers.

    The file annotations/NAME.yaml in the workspace lists every question about the document, for you to fill in the
    right answers. Blank entries count as not annotated. For a corpus, the answers apply to every document with the
    same text.
    """
    from genaipa.datasets.base import load_named_document
    from genaipa.files.stamps import local_today
    from genaipa.policies.corpus import read_corpus_document
    from genaipa.questions.annotations import format_annotation_template
    from genaipa.questions.sets import default_question_set_name, load_question_set

    workspace = current_workspace()
    require_own_workspace(workspace)
    document = load_named_document(workspace, name) if documents is None else read_corpus_document(documents, name)
    question_set = load_question_set(questions or default_question_set_name(document, workspace), workspace)
    path = write_new_annotations_file(
        workspace, name, format_annotation_template(document, question_set, local_today())
    )
    show(f"{path}: {format_count(len(question_set.questions), 'question')} to answer. {CHECK}")


CHECK = "To check the file at any time: genaipa validate"


def require_own_workspace(workspace: Workspace) -> None:
    """Raise a UsageError where there is no workspace of one's own to keep annotated answers in."""
    if "workspace" not in dict(workspace.layers):
        raise UsageError(
            "annotated answers are kept in a workspace, and this folder is not in one; create one with: "
            "genaipa init DIR"
        )


def write_new_annotations_file(workspace: Workspace, document_name: str, yaml_text: str) -> Path:
    """Write a new file of annotated answers about the document of that name, and return its path."""
    path = workspace.home / "annotations" / f"{document_name}.yaml"
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(yaml_text)
    except FileExistsError:
        raise UsageError(f"{path} exists already; add to it, or move it away first.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
    return path


@app.command()
def stats(
    names: Annotated[
        list[str] | None, typer.Argument(autocompletion=completion.documents, help="Measure only these documents.")
    ] = None,
    documents: Annotated[
        Path | None,
        option("--documents", metavar="FILE", help="Measure a corpus instead: a .jsonl or .parquet file."),
    ] = None,
    by: Annotated[
        str, option("--by", metavar="COLUMN", help="For a corpus: measure each group in this column separately.")
    ] = "",
    json: JsonOption = False,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE.csv", help="Write the measures to a file.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Measure how hard documents are to read.

    The measures are those of the paper's table 1.

    For a corpus, the output is the distribution of each measure (median, quartiles and range), over all documents or by
    group. The file is read in a stream and checked first; all of its errors are listed.
    """
    if documents is None and by:
        raise UsageError("--by is for a corpus; give one with --documents.")
    if documents is None:
        _write_or_print_document_statistics(split_names(names), json=json, output=output, force=force)
        return
    if names:
        raise UsageError("a corpus is measured as a whole; leave out the names, or --documents.")
    from genaipa.policies.corpus import read_and_check_corpus, read_unchecked_corpus_documents
    from genaipa.policies.statistics import measure_distributions_by_group

    with _show_document_progress("checking") as count:
        corpus = read_and_check_corpus(documents, stratum_column=by, on_row=count)
    for remark in corpus.remarks_on_groups:
        print_to_stderr(remark)
    with _show_document_progress("measured", corpus.document_count) as count:
        groups = measure_distributions_by_group(
            _yield_counted_documents(read_unchecked_corpus_documents(documents), count), by
        )
    if output is not None:
        _write_csv(output, [row for group in groups for row in _distribution_rows(group, by)], force=force)
        show(f"{output}: {format_count(corpus.document_count, 'document')}")
    elif json:
        print_json(_corpus_statistics_to_dict(corpus, groups, by))
    else:
        _print_distributions(corpus, groups, by)


@contextlib.contextmanager
def _show_document_progress(activity: str, total: int | None = None) -> Iterator[Any]:
    """Show on the terminal how many documents were dealt with: the function is called after each."""
    of = f" of {total:,}" if total is not None else ""
    done = 0

    def count_document() -> None:
        nonlocal done
        done += 1
        if done % 1000 == 0:
            status.update(f"{activity} {done:,}{of} documents")

    with stderr_console().status(f"{activity} …") as status:
        yield count_document


def _yield_counted_documents(documents: Iterable[Document], count_document: Any) -> Iterator[Document]:
    for document in documents:
        count_document()
        yield document


def _write_or_print_document_statistics(
    document_names: tuple[str, ...], *, json: bool, output: Path | None, force: bool
) -> None:
    from genaipa.datasets.base import load_named_document
    from genaipa.policies.document import document_layers_and_paths_by_name
    from genaipa.policies.statistics import MEASURES, measure_document

    workspace = current_workspace()
    rows: list[dict[str, Any]] = []
    for name in document_names or document_layers_and_paths_by_name(workspace):
        values = zip(MEASURES, measure_document(load_named_document(workspace, name)), strict=True)
        rows.append({"name": name} | {measure: _round_measure(measure, value) for measure, value in values})
    if output is not None:
        _write_csv(output, rows, force=force)
        show(f"{output}: {format_count(len(rows), 'document')}")
    elif json:
        print_json(rows)
    else:
        measures = [measure for measure in MEASURES if not all(math.isnan(row[measure]) for row in rows)]
        cells = [(row["name"], *(_format_measure(measure, row[measure]) for measure in measures)) for row in rows]
        print_table(
            ("name", *(_HEADERS[measure] for measure in measures)),
            cells,
            right_aligned_columns=range(1, 1 + len(measures)),
        )
        _print_measure_notes(measures)


def _print_measure_notes(measures: Collection[str]) -> None:
    """Print the notes on these measures, with each formula."""
    from genaipa.languages.catalog import LANGUAGES

    show(_NOTE)
    for measure in ("grade", "ease"):
        formulas = [
            f"{formula.formula}{'' if measure == 'grade' else f' ({language.name})'}, {formula.formula_in_words}"
            for language in LANGUAGES.values()
            if (formula := language.readability) and formula.grades == (measure == "grade")
        ]
        if measure in measures and formulas:
            limit = (
                "not comparable between languages"
                if measure == "ease"
                else "comparable only with grades of the same kind"
            )
            show(f"{measure}: {'; '.join(formulas)}, with syllables counted by spelling rules; {limit}.")


def _round_measure(measure: str, value: float) -> float:
    if measure in ("words", "sections", "reading_time"):
        return int(value) if value == int(value) else round(value, 2)
    return round(value, 2 if measure in ("grade", "ease") else 4)


def _format_measure(measure: str, value: float) -> str:
    if math.isnan(value):
        return ""
    forms = {"reading_time": "{:,.0f} min", "unique_words": "{:.1%}", "connective_words": "{:.1%}"}
    forms |= dict.fromkeys(("grade", "ease"), "{:.1f}")
    return forms.get(measure, "{:,.0f}").format(value)


def _distribution_rows(group: DocumentGroup, group_column: str) -> Iterator[dict[str, Any]]:
    for measure, spread in group.quartiles.items():
        values = {name: _round_measure(measure, value) for name, value in spread._asdict().items()}
        yield {
            **({group_column: group.name} if group_column else {}),
            "documents": group.documents,
            "measure": measure,
            **values,
        }


def _corpus_statistics_to_dict(corpus: Corpus, groups: list[DocumentGroup], group_column: str) -> dict[str, Any]:
    return {
        "file": str(corpus.path),
        "digest": corpus.digest,
        "documents": corpus.document_count,
        "texts": corpus.distinct_text_count,
        "columns": corpus.groups,
        "by": group_column,
        "rows": [row for group in groups for row in _distribution_rows(group, group_column)],
    }


def _print_distributions(corpus: Corpus, groups: list[DocumentGroup], group_column: str) -> None:
    cells = []
    for group in groups:
        for measure, spread in group.quartiles.items():
            minimum, lower, median, upper, maximum = (_format_measure(measure, value) for value in spread)
            lead = (
                ((group.name or "(none)", f"{group.documents:,}") if measure == "words" else ("", ""))
                if group_column
                else ()
            )
            cells.append((*lead, _HEADERS[measure], median, f"{lower} to {upper}", f"{minimum} to {maximum}"))
    head = ((group_column, "documents") if group_column else (), ("measure", "median", "quartiles", "range"))
    print_table((*head[0], *head[1]), cells, right_aligned_columns=range(1 + len(head[0]), 4 + len(head[0])))
    copies = corpus.document_count - corpus.distinct_text_count
    copies_note = f", {copies:,} of which have the same text as another document of the company" if copies else ""
    show(f"{format_count(corpus.document_count, 'document')}{copies_note}.")
    _print_measure_notes({measure for group in groups for measure in group.quartiles})
    if corpus.groups and not group_column:
        show(f"To measure groups: --by {' or '.join(corpus.groups)}")


def _write_csv(path: Path, rows: list[dict[str, Any]], *, force: bool) -> None:
    from genaipa.scoring.tables import write_csv

    if path.suffix.lower() != ".csv":
        raise UsageError(f"{path}: statistics are written as .csv; for JSON, use --json.")
    with open_output_file(path, force=force) as file:
        write_csv(file, list(rows[0]), ([row[name] for name in rows[0]] for row in rows))
