"""Documents of a corpus as a run keeps them: `documents.jsonl`, each a line in the form of a corpus, in place of files.

Every other run has a file for each text, `documents/DIGEST.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import read_text
from genaipa.policies.corpus_rows import document, json_line
from genaipa.policies.document import About, Document
from genaipa.runs import journal
from genaipa.runs.corpus import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from genaipa.runs.records import DocumentFacts


class _Name(msgspec.Struct):
    name: str


class KeptDocuments(Mapping[str, Document]):
    """The documents that a run folder keeps in one file, by name; none if it keeps a file for each.

    Only where each line begins is kept in memory.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / DOCUMENTS
        self._places: dict[str, int] | None = None

    def _index(self) -> dict[str, int]:
        if self._places is None:
            self._places = {one.name: place for place, one in journal.read(self.path, _Name)}
        return self._places

    def __getitem__(self, name: str) -> Document:
        return document(journal.read_at(self.path, [self._index()[name]], dict[str, Any])[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index())

    def __len__(self) -> int:
        return len(self._index())

    def checked(self, wanted: Mapping[str, DocumentFacts]) -> dict[str, Document]:
        """The documents of these facts; a DataError for one that is not there, or has another text."""
        found = {name: self[name] for name in wanted if name in self}
        for name, facts in wanted.items():
            if name not in found or found[name].digest != facts.digest:
                what = "has no" if name not in found else "has another text of"
                raise DataError(self.path, f"{what} '{name}' than the run was begun with; restore the file.")
        return found


def kept_text(path: Path, name: str, facts: DocumentFacts, layer: str) -> Document:
    """The document whose text a run keeps in a file of its own; a DataError for a lost or another text."""
    about = About(
        company=facts.company,
        kind="regulation" if facts.kind == "regulation" else "policy",
        title=facts.title,
        source=facts.source,
        date=facts.date,
        license=facts.license,
    )
    found = Document(name=name, text=read_text(path), about=about, layer=layer)
    if found.digest != facts.digest:
        raise DataError(path, "is not the text that the run was asked about; restore the file.")
    return found


def text_file(folder: Path, facts: DocumentFacts) -> Path:
    """The file in which a run keeps a document's text."""
    return folder / "documents" / f"{facts.digest}.txt"


def kept_lines(documents: Iterable[Document]) -> str:
    """The content of the file that keeps these documents."""
    return b"".join(map(json_line, documents)).decode()
