"""Documents and introductions as a run keeps them: each in a file, or, of a corpus, each in a line of one file.

A run that goes on asks about its own copies, whatever has become of a corpus meanwhile.

`documents.jsonl` has a document a line, in the form of a corpus, in place of `documents/DIGEST.txt`;
`introductions.jsonl` the messages before a conversation's first question, in place of `introductions/DIGEST.json`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from genaipa.errors import DataError, GenaipaError, RunError
from genaipa.files.text import read_text
from genaipa.policies.corpus import (
    encode_corpus_line,
    make_document_from_cells,
    read_and_check_corpus,
    read_unchecked_corpus_documents,
)
from genaipa.policies.corpus_file import file_digest
from genaipa.policies.corpus_index import INDICES, find_indexed_corpus_digest
from genaipa.policies.document import GIVEN, About, Document
from genaipa.runs import journal
from genaipa.runs.records import DOCUMENTS
from genaipa.systems.base import Message, Purpose, Role
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import DocumentFacts, Manifest
    from genaipa.workspace import Workspace


class _Name(msgspec.Struct):
    name: str


class KeptDocuments(Mapping[str, Document]):
    """The documents that a run folder keeps in one file, by name; none if it keeps a file for each.

    Only where each line begins is kept in memory.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / DOCUMENTS
        self._offsets: dict[str, int] | None = None

    def _load_document_offsets(self) -> dict[str, int]:
        if self._offsets is None:
            self._offsets = {line.name: offset for offset, line in journal.read_records_with_offsets(self.path, _Name)}
        return self._offsets

    def __getitem__(self, name: str) -> Document:
        cells = journal.read_records_at(self.path, [self._load_document_offsets()[name]], dict[str, Any])[0]
        if not isinstance(cells["text"], str) or not isinstance(cells.get("also", []), list):
            raise DataError(self.path, "is not a document; restore the file.", name)
        return make_document_from_cells(cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._load_document_offsets())

    def __len__(self) -> int:
        return len(self._load_document_offsets())

    def load_all_documents_or_raise(self, facts_by_name: Mapping[str, DocumentFacts]) -> dict[str, Document]:
        """Return the documents of these facts; a DataError for one that is not there, or has another text."""
        documents = {name: self[name] for name in facts_by_name if name in self}
        for name, facts in facts_by_name.items():
            if name not in documents or documents[name].digest != facts.digest:
                lacks = f"lacks '{name}', which the run started with"
                wrong = (
                    lacks if name not in documents else f"has a different text for '{name}' than the run started with"
                )
                raise DataError(self.path, f"{wrong}; restore the file.")
        return documents


def load_verified_document_copy(path: Path, name: str, facts: DocumentFacts, layer: str) -> Document:
    """Return the document whose text a run keeps in a file of its own; a DataError for a lost or another text."""
    about = About(
        company=facts.company,
        kind="regulation" if facts.kind == "regulation" else "policy",
        title=facts.title,
        source=facts.source,
        date=facts.date,
        license=facts.license,
        language=facts.language,
    )
    document = Document(name=name, text=read_text(path), about=about, layer=layer)
    if document.digest != facts.digest:
        raise DataError(path, "is not the text that the run asked about; restore the file.")
    return document


def document_text_path(run_path: Path, facts: DocumentFacts) -> Path:
    """Return the file in which a run keeps a document's text."""
    return run_path / "documents" / f"{facts.digest}.txt"


def encode_documents_as_corpus_lines(documents: Iterable[Document]) -> str:
    """Return the content of the file that keeps these documents."""
    return b"".join(map(encode_corpus_line, documents)).decode()


class _StoredMessage(msgspec.Struct, omit_defaults=True):
    """A message, in which the text that it carries is stored once.

    `carries` is the position of that text in the content, `margins` the blanks around it, which the content may lack.
    """

    role: Role
    content: str
    purpose: Purpose = "question"
    carries: tuple[int, int] | None = None
    margins: tuple[str, str] = ("", "")
    breakpoint: bool = False

    @classmethod
    def from_message(cls, message: Message) -> Self:
        """Return a message as it is stored."""
        bare = message.carries.strip()
        start = message.content.find(bare) if bare else -1
        span = (start, start + len(bare)) if start >= 0 else None
        before, _, after = message.carries.partition(bare) if span else ("", "", "")
        return cls(message.role, message.content, message.purpose, span, (before, after), message.breakpoint)

    def to_message(self) -> Message:
        """Return the message that was stored."""
        before, after = self.margins
        carries = f"{before}{self.content[slice(*self.carries)]}{after}" if self.carries else ""
        return Message(self.role, self.content, self.purpose, carries=carries, breakpoint=self.breakpoint)


def encode_introduction(messages: Sequence[Message]) -> bytes:
    """Return the messages before the first question as `introductions/` holds them, by the SHA-256 of this content."""
    stored = [_StoredMessage.from_message(message) for message in messages]
    return msgspec.json.format(msgspec.json.encode(stored), indent=1) + b"\n"


def decode_introduction(content: bytes) -> list[Message]:
    """Return the messages of such a file; msgspec's errors if it holds none."""
    return [stored.to_message() for stored in msgspec.json.decode(content, type=list[_StoredMessage])]


INTRODUCTIONS = "introductions.jsonl"


class _Digest(msgspec.Struct):
    digest: str


class _Introduction(_Digest):
    messages: msgspec.Raw


class KeptIntroductions:
    """The introductions of a run of a corpus: lines of `introductions.jsonl`, where a file for each would be millions.

    Only where each line begins is kept in memory.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / INTRODUCTIONS
        self._offsets: dict[str, int] = {}
        self._size = -1

    def _load_introduction_offsets(self) -> dict[str, int]:
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size != self._size:
            self._offsets = {
                line.digest: offset for offset, line in journal.read_records_with_offsets(self.path, _Digest)
            }
            self._size = size
        return self._offsets

    def __contains__(self, digest: str) -> bool:
        return digest in self._load_introduction_offsets()

    def __iter__(self) -> Iterator[str]:
        return iter(self._load_introduction_offsets())

    def read_unchecked_introduction_content(self, digest: str) -> bytes:
        """Return the content that a file of that introduction would have; a KeyError where there is none."""
        (introduction,) = journal.read_records_at(self.path, [self._load_introduction_offsets()[digest]], _Introduction)
        return msgspec.json.format(bytes(introduction.messages), indent=1) + b"\n"

    def append_introduction(self, digest: str, content: bytes) -> None:
        """Append an introduction; it is on disk when this returns. An OSError leaves the file as it was."""
        line = msgspec.json.encode(_Introduction(digest, msgspec.Raw(msgspec.json.format(content, indent=-1)))) + b"\n"
        index = self._load_introduction_offsets()
        with self.path.open("ab") as file:
            before = file.tell()
            try:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
        index[digest], self._size = before, before + len(line)

    def iterate_lines_except_digests(self, excluded_digests: set[str]) -> Iterator[bytes]:
        """Return the file's lines without those for some digests."""
        for _, introduction in journal.read_records_with_offsets(self.path, _Introduction):
            if introduction.digest not in excluded_digests:
                yield msgspec.json.encode(introduction) + b"\n"


_GONE = "was moved or removed after the run started"
_NAMED = 3
"""Documents that a sentence names."""


def make_workspace_with_run_documents(
    workspace: Workspace, folder: RunFolder, manifest: Manifest, notify: Callable[[str], None]
) -> Workspace:
    """Return a workspace that holds the documents of a corpus, or given by themselves, as a run has them.

    Says if the corpus has changed or is gone. A run that was cut off before it had its own copies takes them from the
    corpus, if that is as it was.
    """
    if manifest.corpus is None:
        return _make_workspace_with_given_documents(workspace, folder, manifest)
    path, facts = Path(manifest.corpus.file), manifest.corpus
    unchanged = path.is_file() and facts.digest == (
        find_indexed_corpus_digest(path, workspace.runs / INDICES) or file_digest(path)
    )
    if (folder.path / DOCUMENTS).is_file():
        documents = KeptDocuments(folder.path).load_all_documents_or_raise(manifest.documents)
        if not unchanged:
            change = _say_that_corpus_changed_and_how(path, documents) if path.is_file() else _GONE
            notify(f"{path.name} {change}; the run continues with its own copies.")
        return workspace.with_documents(documents)
    if not unchanged:
        raise RunError(
            f"{folder.name} can't continue: it was interrupted before it copied its documents, and {path} has changed "
            "since. Restore that file, or start a new run."
        )
    return workspace.with_documents(
        {
            document.name: document
            for document in read_unchecked_corpus_documents(path)
            if document.name in manifest.documents
        }
    )


def _make_workspace_with_given_documents(workspace: Workspace, folder: RunFolder, manifest: Manifest) -> Workspace:
    """Return a workspace that holds the documents that a run was given, from the run's own copies."""
    given_facts = {name: facts for name, facts in manifest.documents.items() if facts.layer == GIVEN}
    if lost := next(
        (name for name, facts in given_facts.items() if not document_text_path(folder.path, facts).is_file()), ""
    ):
        raise RunError(
            f"{folder.name} can't continue: it was interrupted before it copied '{lost}'. Repeat the command "
            "that started the run, with that document."
        )
    documents = {
        name: load_verified_document_copy(document_text_path(folder.path, facts), name, facts, GIVEN)
        for name, facts in given_facts.items()
    }
    return workspace.with_documents(documents) if documents else workspace


def _say_that_corpus_changed_and_how(corpus_path: Path, run_documents: dict[str, Document]) -> str:
    """Return the changes of a corpus since a run took its documents, in words."""
    try:
        read_and_check_corpus(corpus_path)
        current_digests = {
            document.name: document.digest
            for document in read_unchecked_corpus_documents(corpus_path)
            if document.name in run_documents
        }
    except GenaipaError as error:
        return f"has changed since the run started and can't be used any more ({str(error).partition(':')[0]})"
    gone = [name for name in run_documents if name not in current_digests]
    changed = [name for name, digest in current_digests.items() if run_documents[name].digest != digest]
    changes = [
        f"{label} {join_some(names, _NAMED)}"
        for label, names in (("has a different text for", changed), ("no longer has", gone))
        if names
    ]
    return "has changed since the run started: it " + (" and ".join(changes) or "still has the run's texts")
