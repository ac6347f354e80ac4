"""The documents of a corpus on their way into a run, and into one that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import GenaipaError, RunError, UsageError
from genaipa.policies.corpus import Corpus, documents_of, examine
from genaipa.policies.corpus_files import file_digest
from genaipa.runs.corpus import DOCUMENTS, CorpusFacts
from genaipa.runs.documents import KeptDocuments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.execution.observer import Observer
    from genaipa.execution.request import RunRequest
    from genaipa.policies.document import Document
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest
    from genaipa.workspace import Workspace

MOST_DOCUMENTS = 2000
"""Documents of a corpus that a run has in one folder: in memory with their texts, and in a manifest of 2 MB."""
EACH = 500
"""Documents of a shard where nobody says how many: 16,000 answers of a system, which are read in 0.1 seconds."""
_NAMED = 3
"""Documents that a sentence on changes names."""
_GONE = "was moved or removed since the run was begun"


def open_corpus(request: RunRequest, observer: Observer) -> tuple[Corpus, CorpusFacts]:
    """The corpus of a request, checked, and what the run's manifest says of it; says what is asked about."""
    assert request.corpus is not None, "the request names a corpus"
    if request.documents:
        raise UsageError("a corpus brings its documents; name documents or a corpus, not both.")
    if request.stratify and request.limit_documents is None:
        raise UsageError("only a sample is stratified; limit the documents to a number, such as 500.")
    path = Path(request.corpus)
    corpus = examine(path, seed=request.seed, by=request.stratify or "")
    asked = len(corpus.chosen(request.limit_documents))
    facts = CorpusFacts(
        str(path.resolve()), corpus.digest, corpus.documents, corpus.texts, asked, request.stratify or ""
    )
    for sentence in (facts.sentence, *corpus.remarks):
        observer.said(sentence)
    return corpus, facts


def in_shards(request: RunRequest, observer: Observer) -> RunRequest:
    """The request with a size of shards, for a corpus that is too large for one folder; says so."""
    observer.said(f"more than {MOST_DOCUMENTS:,} documents are asked about: the run is kept in shards of {EACH}.")
    return replace(request, shard=EACH)


def taken(
    workspace: Workspace, request: RunRequest, corpus: Corpus, facts: CorpusFacts
) -> tuple[Workspace, RunRequest, CorpusFacts]:
    """A workspace that holds the corpus's documents, a request that names them, and the corpus's facts."""
    documents = {one.name: one for one in corpus.entries(corpus.chosen(request.limit_documents))}
    name = request.name or "-".join((*request.systems, Path(facts.file).stem)).replace("/", "-")
    return workspace.holding(documents), replace(request, documents=tuple(documents), corpus=None, name=name), facts


def kept(workspace: Workspace, folder: RunFolder, manifest: Manifest, observer: Observer) -> Workspace:
    """A workspace that holds the documents of a run of a corpus as the run has them.

    Says if the corpus has changed or is gone. A run that was cut off before it had its own copies takes them from the
    corpus, if that is as it was.
    """
    if manifest.corpus is None:
        return workspace
    path, facts = Path(manifest.corpus.file), manifest.corpus
    unchanged = path.is_file() and file_digest(path) == facts.digest
    if (folder.path / DOCUMENTS).is_file():
        documents = KeptDocuments(folder.path).checked(manifest.documents)
        if not unchanged:
            said = _changes(path, documents) if path.is_file() else _GONE
            observer.said(f"{path.name} {said}; the run goes on with its own copies.")
        return workspace.holding(documents)
    if not unchanged:
        raise RunError(
            f"{folder.name} can't go on: it was cut off before it had copies of its documents, and {path} is not as it "
            "was. Put it back, or begin a new run."
        )
    return workspace.holding({one.name: one for one in _wanted(documents_of(path), manifest)})


def tell_of_changes(facts: CorpusFacts, observer: Observer) -> None:
    """Say that a corpus is gone, or another than the run was begun with, which has copies of all its documents."""
    path = Path(facts.file)
    if not path.is_file() or file_digest(path) != facts.digest:
        said = "has changed since the run was begun" if path.is_file() else _GONE
        observer.said(f"{path.name} {said}; the run goes on with its own copies.")


def _wanted(documents: Iterable[Document], manifest: Manifest) -> Iterable[Document]:
    return (one for one in documents if one.name in manifest.documents)


def _changes(path: Path, documents: dict[str, Document]) -> str:
    """The changes of a corpus since a run took its documents, in words."""
    try:
        examine(path)
        now = {one.name: one.digest for one in documents_of(path) if one.name in documents}
    except GenaipaError as error:
        return f"has changed since the run was begun, and can't be used any more ({str(error).partition(':')[0]})"
    gone = [name for name in documents if name not in now]
    other = [name for name, digest in now.items() if documents[name].digest != digest]
    said = [f"{what} {_names(names)}" for what, names in (("another text of", other), ("no", gone)) if names]
    return "has changed since the run was begun: it has " + (" and ".join(said) or "the run's texts, among others")


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
