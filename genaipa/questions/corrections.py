"""Corrections of annotated answers: what is right instead, and the sentence of the document that proves it.

A file `corrections/NAME.yaml` belongs to one text of the document NAME and to the question set of its annotated
answers. Annotated answers stay as they are: a correction is a layer above them, applied where somebody asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, clipped
from genaipa.files.strict_yaml import digest, read_yaml
from genaipa.questions.annotations import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer, Annotations
    from genaipa.workspace import Workspace

_ENDS = 2


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right values for one question: `silent`, `answer` and `sections`, as far as they are given.

    The proof is a `sentence` of the document, word for word; or, where its words may not be passed on, its place in the
    text `at` (first character, and the one after the last) and the SHA-256 of these characters.
    """

    silent: Silent | None = None
    answer: str = ""
    sections: tuple[str, ...] | None = None
    sentence: str = ""
    at: tuple[int, ...] | None = None
    sha256: str = ""
    why: str = ""

    def proof(self, text: str) -> str:
        """The sentence of the document's text that proves it, up to spacing; empty if it is not there."""
        if self.sentence:
            return self.sentence if _plain(self.sentence) in _plain(text) else ""
        found = text[slice(*self.at)] if self.at else ""
        return found if found and digest(found) == self.sha256 else ""

    def applied(self, answer: AnnotatedAnswer) -> AnnotatedAnswer:
        """The annotated answer with what is right in its place."""
        silent = self.silent or answer.silent
        sections = answer.sections if self.sections is None else self.sections
        return msgspec.structs.replace(
            answer,
            silent=silent,
            answer=self.answer or answer.answer,
            sections=() if silent == "yes" else sections,
            note=" ".join(filter(None, (answer.note, f"Corrected: {self.why}" if self.why else "Corrected."))),
        )


class Corrections(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All corrections of one document's annotated answers, by the ids of the question set `questions`.

    `digest` is the SHA-256 of the text that they are about.
    """

    document: str
    questions: str
    annotators: tuple[str, ...]
    digest: str
    corrections: dict[str, Correction]
    date: str = ""
    source: str = ""


def problems(path: Path, document: str, found: Corrections) -> Iterator[DataError]:
    """Yield every problem of a file of corrections that shows in the file alone."""
    if found.document != document:
        yield DataError(path, f"belongs to '{found.document}'; name and file must agree.", "document")
    for question, one in found.corrections.items():
        for flaw in flaws(one):
            yield DataError(path, flaw, f"corrections.{question}")


def flaws(one: Correction) -> Iterator[str]:
    """Yield every problem of a correction by itself."""
    if one.silent is None and not one.answer.strip() and one.sections is None:
        yield "corrects nothing: give silent, answer or sections."
    if one.silent == "yes" and one.sections:
        yield "is marked silent, so it can't rest on sections ('partly' can)."
    if bool(one.sentence.strip()) == bool(one.at or one.sha256):
        yield "wants its proof: a sentence of the document, or its place 'at' and sha256."
    elif not one.sentence.strip() and (one.at is None or len(one.at) != _ENDS or not one.sha256):
        yield "wants both: the place 'at', as [first, end] in characters, and sha256."


def unproved(path: Path, found: Corrections, text: str) -> Iterator[DataError]:
    """Yield every correction whose proof is not in the text that it is about."""
    for question, one in found.corrections.items():
        given = one.sentence.strip() or (one.at and len(one.at) == _ENDS and one.sha256)
        if given and not one.proof(text):
            said = f"'{clipped(one.sentence)}'" if one.sentence else f"the passage at {list(one.at or ())}"
            yield DataError(path, f"{said} is not in {found.document}'s text.", f"corrections.{question}")


def find_corrections(workspace: Workspace, document: Document) -> list[tuple[str, Corrections]]:
    """Find the corrections about this very text in every layer (with its name), the nearest last.

    A DataError for a bad file, and for a correction whose proof is not in the text.
    """
    known = []
    for layer, path in reversed(workspace.every("corrections").get(document.name, ())):
        found = read_yaml(path, Corrections)
        if found.digest == document.digest:
            for error in (*problems(path, document.name, found), *unproved(path, found, document.text)):
                raise error
            known.append((layer, found))
    return known


def correct(annotations: Annotations, corrections: dict[str, Correction]) -> Annotations:
    """Put what is right in the place of annotated answers that are corrected."""
    answers = {
        question: corrections[question].applied(answer) if question in corrections else answer
        for question, answer in annotations.answers.items()
    }
    return msgspec.structs.replace(annotations, answers=answers)


def noted(answer: AnnotatedAnswer, right: AnnotatedAnswer) -> AnnotatedAnswer:
    """The annotated answer as it is, with what a correction says of it as a note."""
    if answer == right:
        return answer
    said = right.answer if right.answer != answer.answer else ""
    silent = right.silent if right.silent != answer.silent else ""
    # The note of a corrected answer begins with that of the answer, and goes on with why.
    parts = (answer.note, "A correction is known:", silent and f"silent: {silent}.", said)
    why = right.note.removeprefix(answer.note).strip()
    return msgspec.structs.replace(answer, note=" ".join(filter(None, (*parts, why))))


def _plain(text: str) -> str:
    return " ".join(text.split())
