"""`genaipa policies stats` and `generate`: how hard documents are to read, and a corpus of made-up ones."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.commands.documents import named_document
from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import err, print_json, say, show, table
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, several
from genaipa.cli.terminal.output import ForceOption, check_new, written
from genaipa.errors import UsageError, command
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.policies.corpus import Corpus
    from genaipa.policies.document import Document
    from genaipa.policies.statistics import DocumentGroup

_HEADERS = {
    "words": "words",
    "sections": "sections",
    "unique_words": "unique words",
    "reading_time": "reading time",
    "grade": "grade",
    "connective_words": "connective words",
}
_NOTES = (
    "unique and connective words: share of all words; reading time: 265 words of 5 characters a minute.",
    (
        "grade: Flesch-Kincaid, 0.39 words/sentences + 11.8 syllables/words - 15.59, syllables by spelling rules;"
        " compare it only with grades counted the same way."
    ),
)


def stats(
    names: Annotated[
        list[str] | None, typer.Argument(autocompletion=completion.documents, help="Only these documents.")
    ] = None,
    documents: Annotated[
        Path | None,
        option("--documents", metavar="FILE", help="Measure a corpus instead: a .jsonl or .parquet file."),
    ] = None,
    by: Annotated[str, option("--by", metavar="COLUMN", help="Of a corpus: each group of this column apart.")] = "",
    json: JsonOption = False,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE.csv", help="Write them to a file.")] = None,
    force: ForceOption = False,
) -> None:
    """Measure how hard documents are to read.

    The measures are the paper's (table 1).

    Of a corpus the measures are distributions: median, quartiles and range, over all documents or by group. It is read
    in a stream, and checked first: everything that is wrong with it is listed.
    """
    if documents is None and by:
        raise UsageError("--by is for a corpus; name one with --documents.")
    if documents is None:
        _print_documents(several(names), json=json, output=output, force=force)
        return
    if names:
        raise UsageError("a corpus is measured as a whole; leave out the names, or --documents.")
    from genaipa.policies.corpus import documents_of, examine
    from genaipa.policies.statistics import distributions

    with _counting("checking") as count:
        corpus = examine(documents, by=by, seen=count)
    for remark in corpus.remarks:
        say(remark)
    with _counting("measured", corpus.documents) as count:
        groups = distributions(_counted(documents_of(documents), count), by)
    if output is not None:
        _write_csv(output, [row for group in groups for row in _rows(group, by)], force=force)
        show(f"{output}: {number(corpus.documents, 'document')}")
    elif json:
        print_json(_as_json(corpus, groups, by))
    else:
        _print_distributions(corpus, groups, by)


def generate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="The file to write.")],
    count: Annotated[int, option("--number", "-n", help="How many policies.", min=1, max=100_000_000)] = 1000,
    seed: Annotated[int, option("--seed", help="Another seed makes others.")] = 0,
    force: ForceOption = False,
) -> None:
    """Write a corpus of made-up policies.

    Each says what an invented company does with data: other sections, other promises, another sector and country. One
    in twenty is a later snapshot with the very same text.
    """
    from genaipa.policies.corpus_rows import json_line
    from genaipa.policies.made_up import made_up

    if file.suffix != ".jsonl":
        raise UsageError(f"{file}: name a file that ends in .jsonl.")
    check_new(file, force=force)
    with _counting("made", count) as told, written(file, force=force) as lines:
        for document in _counted(made_up(count, seed), told):
            lines.write(json_line(document))
    show(f"{file}: {number(count, 'made-up policy', 'made-up policies')}, each a line.")
    show(f"Next: {command('genaipa', 'policies', 'stats', '--documents', file, '--by', 'sector')}")


@contextlib.contextmanager
def _counting(doing: str, most: int | None = None) -> Iterator[Any]:
    """Show on the terminal how many documents were dealt with: the function is called after each."""
    of = f" of {most:,}" if most is not None else ""
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if done % 1000 == 0:
            status.update(f"{doing} {done:,}{of} documents")

    with err().status(f"{doing} …") as status:
        yield one_more


def _counted(documents: Iterable[Document], count: Any) -> Iterator[Document]:
    for document in documents:
        count()
        yield document


def _print_documents(names: tuple[str, ...], *, json: bool, output: Path | None, force: bool) -> None:
    from genaipa.policies.document import document_names
    from genaipa.policies.statistics import MEASURES, measured

    here = current_workspace()
    rows: list[dict[str, Any]] = []
    for name in names or document_names(here):
        values = zip(MEASURES, measured(named_document(here, name)), strict=True)
        rows.append({"name": name} | {measure: _rounded(measure, value) for measure, value in values})
    if output is not None:
        _write_csv(output, rows, force=force)
        show(f"{output}: {number(len(rows), 'document')}")
    elif json:
        print_json(rows)
    else:
        cells = [(row["name"], *(_shown(name, row[name]) for name in MEASURES)) for row in rows]
        table(("name", *_HEADERS.values()), cells, right=range(1, 7))
        for note in _NOTES:
            show(note)


def _rounded(measure: str, value: float) -> float:
    if measure in ("words", "sections", "reading_time"):
        return int(value) if value == int(value) else round(value, 2)
    return round(value, 2 if measure == "grade" else 4)


def _shown(measure: str, value: float) -> str:
    """A value of a measure for people."""
    forms = {"reading_time": "{:,.0f} min", "grade": "{:.1f}", "unique_words": "{:.1%}", "connective_words": "{:.1%}"}
    return forms.get(measure, "{:,.0f}").format(value)


def _rows(group: DocumentGroup, by: str) -> Iterator[dict[str, Any]]:
    for measure, spread in group.spreads.items():
        values = {name: _rounded(measure, value) for name, value in spread._asdict().items()}
        yield {**({by: group.name} if by else {}), "documents": group.documents, "measure": measure, **values}


def _as_json(corpus: Corpus, groups: list[DocumentGroup], by: str) -> dict[str, Any]:
    return {
        "file": str(corpus.path),
        "digest": corpus.digest,
        "documents": corpus.documents,
        "texts": corpus.texts,
        "columns": corpus.groups,
        "by": by,
        "rows": [row for group in groups for row in _rows(group, by)],
    }


def _print_distributions(corpus: Corpus, groups: list[DocumentGroup], by: str) -> None:
    cells = []
    for group in groups:
        for measure, spread in group.spreads.items():
            least, lower, median, upper, most = (_shown(measure, value) for value in spread)
            lead = ((group.name or "(none)", f"{group.documents:,}") if measure == "words" else ("", "")) if by else ()
            cells.append((*lead, _HEADERS[measure], median, f"{lower} to {upper}", f"{least} to {most}"))
    head = ((by, "documents") if by else (), ("measure", "median", "quartiles", "range"))
    table((*head[0], *head[1]), cells, right=range(1 + len(head[0]), 4 + len(head[0])))
    show(f"{number(corpus.documents, 'document')}{_same(corpus)}.")
    for note in _NOTES:
        show(note)
    if corpus.groups and not by:
        show(f"By group: --by {' or '.join(corpus.groups)}")


def _same(corpus: Corpus) -> str:
    more = corpus.documents - corpus.texts
    return f", {more:,} of them with the very text of another of the same company" if more else ""


def _write_csv(path: Path, rows: list[dict[str, Any]], *, force: bool) -> None:
    import csv
    import io

    if path.suffix.lower() != ".csv":
        raise UsageError(f"{path}: the statistics can be written as .csv; or use --json.")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    with written(path, force=force) as file:
        file.write(text.getvalue().encode())
