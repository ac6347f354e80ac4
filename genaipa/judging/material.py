"""Everything that a judge is asked about, as its run folder keeps it: the folder is read and resumed by itself."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, why
from genaipa.scoring.rubric import Rubric

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder

FILE = "judged.json"
Passage = tuple[int, int]


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as an analyst sees it: the question, the annotated answer, and the reply without its system's names.

    `digest` is the answer's. `passages` are the spans of a long document that are shown for all answers to the
    question, `named` the spans that this answer names or quotes besides; a document without is shown whole. `parts` are
    the beginnings of parts in which the system was sent the document, where the answer speaks of parts. `passes` are
    the numbers of the passes that are wanted.
    """

    digest: str
    document: str
    question: str
    asked: str
    reply: str
    passes: tuple[int, ...]
    original: str = ""
    annotated: str = ""
    aside: str = ""
    note: str = ""
    silent: bool = False
    passages: tuple[Passage, ...] = ()
    named: tuple[Passage, ...] = ()
    parts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class JudgedMaterial(msgspec.Struct, frozen=True):
    """The content of `judged.json`.

    The marks around the answers are made of `secret`; `prompt` is the digest in the judge's name. `runs` have the
    answers, `own_family` names systems of a judge's family: judge → systems.
    """

    prompt: str
    secret: str
    runs: tuple[str, ...]
    evidence: bool
    own_family: dict[str, tuple[str, ...]]
    rubric: Rubric
    answers: tuple[Judged, ...]

    def text(self) -> str:
        """The content of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


def read_material(folder: RunFolder) -> JudgedMaterial:
    """The material of a judge's run; a DataError if it can't be read, or is not as it was written."""
    path = folder.path / FILE
    try:
        content = path.read_bytes()
        material = msgspec.json.decode(content, type=JudgedMaterial)
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}); restore the file.") from None
    except DAMAGE as error:
        raise DataError(path, f"is damaged ({why(error)}); restore the file.") from None
    if hashlib.sha256(content).hexdigest() != folder.manifest().digests.task.get(FILE):
        raise DataError(path, "has changed since the judge was asked; restore the file.")
    return material
