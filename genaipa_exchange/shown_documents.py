"""Which document a conversation shows: pasted into a message, or attached as a file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from genaipa.errors import GenaipaError
from genaipa.files.names import clean_folder_name
from genaipa_exchange.question_matching import normalize_words

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa_exchange.incoming import Incoming

_LEAST_PASTED = 300
"""Characters of a message from which on it may hold a document."""
_SENTENCE_END = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\\n+")
_RUN, _SAMPLED = 8, 4
"""Words of a run by which texts are compared, wherever their lines end; and of how many runs one is looked at."""
_AROUND = 10
"""Runs of a message that may be other words than the document's."""
_ANOTHER = 0.05
"""Share of its runs from which on it is another version of a document, or another text."""


class PastedDocument(NamedTuple):
    """A document found in a message: its name, or those of several that fit alike, and what stands around it.

    `questions` are the words around it that may be a question: all, or the last sentence behind an introduction.
    """

    names: tuple[str, ...]
    questions: tuple[str, ...]


class DocumentFinder:
    """The documents of a workspace, and of the folder that was given, to be found in conversations."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming
        self._loaded: dict[str, Document | None] = {}

    def load_document_if_known(self, name: str) -> Document | None:
        """Return the document of this name; None without one."""
        if name not in self._loaded:
            self._loaded[name] = self._incoming.make_or_load_document(name)
        return self._loaded[name]

    def document_name_of_file_or_empty(self, file_name: str) -> str:
        """Return the name of the document that an attached file has; empty where none is called so."""
        stem = PurePath(file_name.replace("\\", "/")).stem
        return self._names_by_file_name.get(clean_folder_name(stem).casefold(), "")

    def find_pasted_document(self, text: str) -> PastedDocument | None:
        """Find the document that a text holds, whole or in part, with few other words; None where it holds none."""
        if len(text) < _LEAST_PASTED:
            return None
        runs = _sample_hashes_of_word_runs(text)
        counts = Counter(name for run in runs for name in self._names_by_hash_of_word_run.get(run, ()))
        count = max(counts.values(), default=0)
        if 2 * count < len(runs) or len(runs) - count > max(_AROUND, _ANOTHER * len(runs)) or not count:
            return None
        names = tuple(sorted(name for name in counts if counts[name] == count))
        words = f" {normalize_words(self._texts_by_document_name[names[0]])} "
        around = [piece for piece in _SENTENCE_END.split(text) if f" {normalize_words(piece)} " not in words]
        questions = [" ".join(around).strip()]
        if around and not any("?" in piece for piece in around[:-1]):
            questions.append(around[-1])
        return PastedDocument(names, tuple(filter(None, questions)))

    @cached_property
    def _names_by_file_name(self) -> dict[str, str]:
        return {clean_folder_name(name).casefold(): name for name in self._incoming.given_and_workspace_document_names}

    @cached_property
    def _texts_by_document_name(self) -> dict[str, str]:
        texts = {}
        for name in self._incoming.given_and_workspace_document_names:
            try:
                document = self.load_document_if_known(name)
            except GenaipaError:
                continue  # `genaipa validate` names it
            if document is not None:
                texts[name] = document.text
        return texts

    @cached_property
    def _names_by_hash_of_word_run(self) -> dict[int, list[str]]:
        """Run of words → the names of the documents that have it."""
        names: defaultdict[int, list[str]] = defaultdict(list)
        for name, text in self._texts_by_document_name.items():
            for run in _sample_hashes_of_word_runs(text):
                names[run].append(name)
        return names


def _sample_hashes_of_word_runs(text: str) -> set[int]:
    """Return some of a text's runs of words, as numbers: those alike in two texts are taken of both."""
    words = normalize_words(text).split()
    runs = (crc32(" ".join(words[start : start + _RUN]).encode()) for start in range(max(1, len(words) - _RUN + 1)))
    return {run for run in runs if not run % _SAMPLED}
