"""Facts about the corpus that a run's documents are of, as its manifest has them."""

from __future__ import annotations

from pathlib import PurePath

import msgspec

from genaipa.words import number

DOCUMENTS = "documents.jsonl"
"""The documents of a run of a corpus, each a line, in place of a file for each text."""


class CorpusFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The corpus that a run's documents are of: its file and SHA-256, how many documents and different texts it has.

    `asked` is the number of documents that the run asks about, `stratified` the column of the strata of a sample.
    """

    file: str
    digest: str
    documents: int
    texts: int
    asked: int
    stratified: str = ""

    @property
    def in_words(self) -> str:
        """The number of documents that are asked about, and the file's name."""
        return f"{self.asked:,} of {PurePath(self.file).name}"

    @property
    def sentence(self) -> str:
        """The corpus's documents and texts, and how many of them are asked about, in a sentence."""
        said = f"{PurePath(self.file).name}: {number(self.documents, 'document')}"
        if same := self.documents - self.texts:
            said += f", {same:,} of them with the very text of another of the same company, which is asked about once"
        if self.asked < self.texts:
            by = f", from each {self.stratified} its share" if self.stratified else ""
            said += f"; a sample of {self.asked:,} texts is asked about{by}"
        return f"{said}."
