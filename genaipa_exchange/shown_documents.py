"""Which document a conversation shows: pasted into a message, or attached as a file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import GenaipaError
from genaipa.files.names import clean_folder_name
from genaipa_exchange.question_matching import normalize_words

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa_exchange.incoming import Incoming

_LEAST_PASTED = 300
"""Characters of a message from which on it may hold a document."""
_LEAST_SENTENCES = 2
_SENTENCE_END = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\\n+")
_SHORTEST = 20
"""Letters and digits of a sentence that tells documents apart."""
_HALF = 0.5


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

    def load(self, name: str) -> Document | None:
        """Return the document of this name; None without one."""
        if name not in self._loaded:
            self._loaded[name] = self._incoming.find_document(name)
        return self._loaded[name]

    def find_by_file_name(self, file_name: str) -> str:
        """Return the name of the document that an attached file has; empty where none is called so."""
        stem = PurePath(file_name.replace("\\", "/")).stem
        return self._names_by_file_name.get(clean_folder_name(stem).casefold(), "")

    def find_in_text(self, text: str) -> PastedDocument | None:
        """Find the document whose sentences are most of a text's; None where none has them."""
        if len(text) < _LEAST_PASTED:
            return None
        pieces = _SENTENCE_END.split(text)
        sentences = [normalize_words(piece) for piece in pieces]
        long_sentences = {sentence for sentence in sentences if len(sentence) >= _SHORTEST}
        counts = Counter(name for sentence in long_sentences for name in self._names_by_sentence.get(sentence, ()))
        if not counts:
            return None
        count = max(counts.values())
        if count < _LEAST_SENTENCES or count < _HALF * len(long_sentences):
            return None
        names = tuple(sorted(name for name in counts if counts[name] == count))
        words = f" {normalize_words(self._texts_by_name[names[0]])} "
        around = [piece for piece, sentence in zip(pieces, sentences, strict=True) if f" {sentence} " not in words]
        questions = [" ".join(around).strip()]
        if around and not any("?" in piece for piece in around[:-1]):
            questions.append(around[-1])
        return PastedDocument(names, tuple(filter(None, questions)))

    @cached_property
    def _names_by_file_name(self) -> dict[str, str]:
        return {clean_folder_name(name).casefold(): name for name in self._incoming.document_names}

    @cached_property
    def _texts_by_name(self) -> dict[str, str]:
        texts = {}
        for name in self._incoming.document_names:
            try:
                document = self.load(name)
            except GenaipaError:
                continue  # `genaipa validate` names it
            if document is not None:
                texts[name] = document.text
        return texts

    @cached_property
    def _names_by_sentence(self) -> dict[str, set[str]]:
        """Sentence → the names of the documents that have it."""
        names: defaultdict[str, set[str]] = defaultdict(set)
        for name, text in self._texts_by_name.items():
            for piece in _SENTENCE_END.split(text):
                if len(sentence := normalize_words(piece)) >= _SHORTEST:
                    names[sentence].add(name)
        return names
