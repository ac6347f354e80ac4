"""Annotated answers: the expert reference for a (document, question), or the statement that the document is silent.

A file `annotations/NAME.yaml` belongs to the document of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.datafiles import read_yaml
from genaipa.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from genaipa.workspace import Workspace


class AnnotatedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The right answer to one question about one document.

    `sections` are the sections it rests on, as the document labels them ("4.2", "Article 3") or as parts of a
    published segmentation ("Part 3"); empty where the document is silent or the annotators named none.
    """

    silent: bool
    answer: str
    sections: tuple[str, ...] = ()
    note: str = ""


class Annotations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All annotated answers of one document. `part_set` names the segmentation that "Part n" refers to."""

    document: str
    questions: str
    annotators: tuple[str, ...]
    answers: dict[str, AnnotatedAnswer]
    date: str = ""
    source: str = ""
    license: str = ""
    part_set: str = ""

    @property
    def silent(self) -> tuple[str, ...]:
        """Ids of the questions on which the document is silent."""
        return tuple(question for question, answer in self.answers.items() if answer.silent)


def load_annotations(workspace: Workspace, document: str) -> Annotations:
    """The annotations of that document; a UsageError (none) or DataError (bad file)."""
    files = workspace.names("annotations")
    if document not in files:
        raise UnknownNameError("annotations for", document, files)
    path = files[document][1]
    annotations = read_yaml(path, Annotations)
    if annotations.document != document:
        raise DataError(path, f"belongs to '{annotations.document}'; name and file must agree.", "document")
    for question, answer in annotations.answers.items():
        if not answer.answer.strip():
            raise DataError(path, "the answer is empty.", f"answers.{question}")
        if answer.silent and answer.sections:
            raise DataError(path, "is marked silent, so it can't rest on sections.", f"answers.{question}")
    return annotations
