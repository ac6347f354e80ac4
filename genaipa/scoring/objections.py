"""Objections to annotated answers, with the rulings on them: whoever scores finds the annotators' mistakes, too.

An objection is about an annotated answer, that is, a question about one text; of an analyst's objections to the same
annotated answer the latest counts. Accepted ones are exported as corrections, in the form of a workspace's
`corrections/`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from genaipa.errors import UsageError, clip
from genaipa.files.text import sha256_of
from genaipa.policies.reading import read_markdown
from genaipa.questions.annotations import Correction
from genaipa.scoring.events import Event, Objection, Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Silent


Status = Literal["open", "accepted", "rejected", "withdrawn"]


@dataclass(frozen=True)
class FiledObjection:
    """An `objection`, the `event` that filed it, and the ruling in effect, if there is one.

    `withdrawn`: its analyst has taken it back, or replaced it by a later one. `ruling_order` is the ruling's place.
    """

    event: Event
    objection: Objection
    ruling: Event | None
    ruling_order: int
    withdrawn: bool

    @property
    def status(self) -> Status:
        """Its state: a ruling holds even if the objection is withdrawn after it."""
        if self.ruling is not None:
            return "accepted" if _find_correction(self.ruling) else "rejected"
        return "withdrawn" if self.withdrawn else "open"

    @property
    def accepted_or_proposed_correction(self) -> Correction:
        """The right values: as they were accepted, else as the analyst gave them."""
        return (_find_correction(self.ruling) if self.ruling else None) or self.objection.correction


def _find_correction(ruling: Event) -> Correction | None:
    return ruling.annotation.correction if isinstance(ruling.annotation, Ruling) else None


def collect_objections_even_withdrawn(events: Iterable[Event]) -> list[FiledObjection]:
    """Collect the objections among events of a log, in its order; other events than undos may be left out."""
    objections: dict[str, tuple[Event, Objection]] = {}
    rulings: dict[str, Event] = {}
    latest: dict[tuple[str, ...], str] = {}
    withdrawn_ids = set()
    for event in events:
        annotation = event.annotation
        if isinstance(annotation, Objection):
            objections[event.id] = event, annotation
            key = (event.analyst, *digest_question_set_and_question_id(annotation))
            withdrawn_ids.add(latest.get(key))
            latest[key] = event.id
        elif isinstance(annotation, Ruling):
            # Taken out first, so that the order is that of the rulings in effect.
            rulings.pop(annotation.objection, None)
            rulings[annotation.objection] = event
        elif event.undoes:
            withdrawn_ids.add(event.undoes)
    order = {name: index for index, name in enumerate(rulings)}
    return [
        FiledObjection(event, annotation, rulings.get(name), order.get(name, -1), name in withdrawn_ids)
        for name, (event, annotation) in objections.items()
    ]


def digest_question_set_and_question_id(objection: Objection) -> tuple[str, str, str]:
    """Return the text's digest, the question set and the question that an objection is about."""
    return objection.digest, objection.questions, objection.question


def find_unwithdrawn_objection_of_analyst(
    objections: Iterable[FiledObjection], analyst: str, about_key: tuple[str, str, str]
) -> FiledObjection | None:
    """Return an analyst's objection to an annotated answer, which they have not withdrawn."""
    theirs = (
        objection
        for objection in objections
        if objection.event.analyst == analyst and digest_question_set_and_question_id(objection.objection) == about_key
    )
    return next((objection for objection in theirs if not objection.withdrawn), None)


def check_correction_ends_silence(silent: Silent | None, annotated_silent: Silent | None) -> None:
    """Raise a UsageError for a correction by which the document stays silent, though a passage of it proves it.

    `silent` is what the correction says, None for nothing, and `annotated_silent` what the annotated answer says.
    """
    if annotated_silent == "yes" and silent in (None, "yes"):
        raise UsageError(
            "the annotated answer says that the document is silent, but this passage shows that it is not; say whether "
            "the document answers the whole question (no) or only part of it (partly)."
        )


def make_correction(
    document: Document,
    passage: str,
    *,
    silent: Silent | None,
    answer: str,
    why: str,
    annotated_silent: Silent | None = None,
) -> Correction:
    """Return a correction with the place of the passage that proves it; a UsageError says what it lacks.

    The passage has to be in the text, however it is spaced; of several places the first is taken. `annotated_silent` is
    what the annotated answer says of the document's silence.
    """
    check_correction_ends_silence(silent, annotated_silent)
    words = passage.split()
    if not words:
        raise UsageError("which passage proves the correction? Select it in the document, or paste it.")
    sought, reading = re.compile(r"\s+".join(map(re.escape, words))), read_markdown(document.text)
    span = (match := sought.search(document.text)) and match.span()
    # What is pasted from the company's own page has no marks of links and emphasis.
    span = span or ((match := sought.search(reading.text)) and reading.source_span(*match.span()))
    if span is None:
        raise UsageError(f"the document does not contain this passage: '{clip(' '.join(words))}'.")
    if silent is None and not answer.strip():
        raise UsageError("what should the annotated answer say? Write it, or say whether the document is silent.")
    if not why.strip():
        raise UsageError("why is the annotated answer wrong? A short sentence is enough.")
    return Correction(
        silent=silent, answer=answer.strip(), at=span, sha256=sha256_of(document.text[slice(*span)]), why=why.strip()
    )
