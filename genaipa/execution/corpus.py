"""Documents, of a corpus or given as they are, on their way into a new or a resumed run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.datasets.base import datasets
from genaipa.errors import GenaipaError, RunError, UsageError
from genaipa.policies.corpus import Corpus, documents_of, examine, file_digest
from genaipa.policies.document import document_names
from genaipa.policies.given import GIVEN, in_words, is_source, read_given
from genaipa.runs.documents import KeptDocuments, kept_text, text_file
from genaipa.runs.records import DOCUMENTS, CorpusFacts
from genaipa.runs.selection import run_folders
from genaipa.words import some

if TYPE_CHECKING:
    from genaipa.execution.observer import Observer
    from genaipa.execution.prepare import RunRequest
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


def brought(
    workspace: Workspace, request: RunRequest, observer: Observer
) -> tuple[Workspace, RunRequest, Corpus | None, CorpusFacts | None]:
    """A workspace that holds the documents that a request brings, and the request that names them.

    They are files, addresses or standard input, or a corpus, which is given back with what the run's manifest says of
    it. One that is too large for a folder stays as it is, to be cut into shards.
    """
    workspace, request = _given(workspace, request, observer)
    if request.corpus is None:
        return workspace, request, None, None
    corpus, facts = _open(request, request.corpus, observer)
    if request.shard is None and facts.asked > MOST_DOCUMENTS:
        observer.said(f"more than {MOST_DOCUMENTS:,} documents are asked about: the run is kept in shards of {EACH}.")
        request = replace(request, shard=EACH)
    elif request.shard is None:
        documents = {one.name: one for one in corpus.entries(corpus.chosen(request.limit_documents))}
        workspace = workspace.holding(documents)
        request = replace(request, documents=tuple(documents), corpus=None)
    return workspace, request, corpus, facts


def _open(request: RunRequest, file: str, observer: Observer) -> tuple[Corpus, CorpusFacts]:
    """The corpus of a request, checked, and its facts; says what is asked about."""
    if request.documents:
        raise UsageError("a corpus brings its documents; name documents or a corpus, not both.")
    if request.stratify and request.limit_documents is None:
        raise UsageError("only a sample is stratified; limit the documents to a number, such as 500.")
    path, by = Path(file), request.stratify or ""
    corpus = examine(path, seed=request.seed, by=by)
    asked = len(corpus.chosen(request.limit_documents))
    facts = CorpusFacts(str(path.resolve()), corpus.digest, corpus.documents, corpus.texts, asked, by)
    for sentence in (facts.sentence, *corpus.remarks):
        observer.said(sentence)
    return corpus, facts


def kept(workspace: Workspace, folder: RunFolder, manifest: Manifest, observer: Observer) -> Workspace:
    """A workspace that holds the documents of a run of a corpus as the run has them.

    Says if the corpus has changed or is gone. A run that was cut off before it had its own copies takes them from the
    corpus, if that is as it was.
    """
    if manifest.corpus is None:
        return _with_given(workspace, folder, manifest)
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
    return workspace.holding({one.name: one for one in documents_of(path) if one.name in manifest.documents})


def _with_given(workspace: Workspace, folder: RunFolder, manifest: Manifest) -> Workspace:
    """A workspace that holds the documents that a run was given, from the run's own copies."""
    given = {name: facts for name, facts in manifest.documents.items() if facts.layer == GIVEN}
    if lost := next((name for name, facts in given.items() if not text_file(folder.path, facts).is_file()), ""):
        raise RunError(
            f"{folder.name} can't go on: it was cut off before it had a copy of '{lost}'. Begin it with that document "
            "again, by the same command."
        )
    documents = {name: kept_text(text_file(folder.path, facts), name, facts, GIVEN) for name, facts in given.items()}
    return workspace.holding(documents) if documents else workspace


def _given(workspace: Workspace, request: RunRequest, observer: Observer) -> tuple[Workspace, RunRequest]:
    """A workspace that holds the documents that a request gives as files, addresses or standard input, and their names.

    Names of the workspace and of published documents come first. Says how each is called.
    """
    here = {*document_names(workspace)}
    sources = [name for name in request.documents if name not in here and is_source(name)]
    # A data set is asked only where a word may be its document's name: all of them take long to import.
    here |= {name for known in datasets() for name in known.documents} if sources else set()
    sources = [name for name in sources if name not in here]
    if request.company and len(sources) != 1:
        raise UsageError("a company is named for one document that is given as a file, an address or standard input.")
    if not sources:
        return workspace, request
    if request.shard is not None:
        raise UsageError(f"shards are of a corpus, or of documents by their names, and '{sources[0]}' is no name.")
    texts = _texts_of_runs(workspace)
    found: dict[str, Document] = {}

    def is_taken(name: str, digest: str) -> bool:
        others = {*texts.get(name, set()), *([found[name].digest] if name in found else [])}
        return name in here or bool(others - {digest})

    called = {}
    for source in sources:
        document = read_given(source, request.company, is_taken)
        called[source] = document.name
        found[document.name] = document
        observer.said(in_words(document))
    documents = tuple(dict.fromkeys(called.get(name, name) for name in request.documents))
    return workspace.holding(found), replace(request, documents=documents)


def _texts_of_runs(workspace: Workspace) -> dict[str, set[str]]:
    """Name → the digests of the texts that runs asked about by it."""
    texts: dict[str, set[str]] = {}
    for folder in run_folders(workspace):
        try:
            documents = folder.outline().documents
        except GenaipaError:
            continue  # `genaipa runs` names it
        for name, facts in documents.items():
            texts.setdefault(name, set()).add(facts.digest)
    return texts


def tell_of_changes(facts: CorpusFacts, observer: Observer) -> None:
    """Say that a corpus is gone, or another than the run was begun with, which has copies of all its documents."""
    path = Path(facts.file)
    if not path.is_file() or file_digest(path) != facts.digest:
        said = "has changed since the run was begun" if path.is_file() else _GONE
        observer.said(f"{path.name} {said}; the run goes on with its own copies.")


def _changes(path: Path, documents: dict[str, Document]) -> str:
    """The changes of a corpus since a run took its documents, in words."""
    try:
        examine(path)
        now = {one.name: one.digest for one in documents_of(path) if one.name in documents}
    except GenaipaError as error:
        return f"has changed since the run was begun, and can't be used any more ({str(error).partition(':')[0]})"
    gone = [name for name in documents if name not in now]
    other = [name for name, digest in now.items() if documents[name].digest != digest]
    said = [f"{what} {some(names, _NAMED)}" for what, names in (("another text of", other), ("no", gone)) if names]
    return "has changed since the run was begun: it has " + (" and ".join(said) or "the run's texts, among others")
