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
from genaipa.files.text import digest
from genaipa.policies.reading import read
from genaipa.questions.annotations import Correction
from genaipa.scoring.events import Event, Objection, Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.policies.document import Document
    from genaipa.questions.annotations import Silent


Status = Literal["open", "accepted", "rejected", "withdrawn"]


@dataclass(frozen=True)
class Filed:
    """An objection (`said`, in its `event`) with the ruling in effect, if there is one.

    `withdrawn`: its analyst has taken it back, or replaced it by a later one. `ruled` is the ruling's place among all.
    """

    event: Event
    said: Objection
    ruling: Event | None
    ruled: int
    withdrawn: bool

    @property
    def status(self) -> Status:
        """Its state: a ruling holds even if the objection is withdrawn after it."""
        if self.ruling is not None:
            return "accepted" if _settled(self.ruling) else "rejected"
        return "withdrawn" if self.withdrawn else "open"

    @property
    def correction(self) -> Correction:
        """The right values: as they were accepted, else as the analyst gave them."""
        return (_settled(self.ruling) if self.ruling else None) or self.said.correction


def _settled(ruling: Event) -> Correction | None:
    return ruling.annotation.correction if isinstance(ruling.annotation, Ruling) else None


def filed(events: Iterable[Event]) -> list[Filed]:
    """Every objection among events of a log, in its order; the other events may be left out, but for undos."""
    objections: dict[str, tuple[Event, Objection]] = {}
    rulings: dict[str, Event] = {}
    latest: dict[tuple[str, ...], str] = {}
    gone = set()
    for event in events:
        said = event.annotation
        if isinstance(said, Objection):
            objections[event.id] = event, said
            place = (event.analyst, *annotated(said))
            gone.add(latest.get(place))
            latest[place] = event.id
        elif isinstance(said, Ruling):
            # Taken out first, so that the order is that of the rulings in effect.
            rulings.pop(said.objection, None)
            rulings[said.objection] = event
        elif event.undoes:
            gone.add(event.undoes)
    order = {name: place for place, name in enumerate(rulings)}
    return [
        Filed(event, said, rulings.get(name), order.get(name, -1), name in gone)
        for name, (event, said) in objections.items()
    ]


def annotated(said: Objection) -> tuple[str, str, str]:
    """The annotated answer that an objection is about: the digest of the text, the question set, the question."""
    return said.digest, said.questions, said.question


def own(found: Iterable[Filed], analyst: str, about: tuple[str, str, str]) -> Filed | None:
    """An analyst's objection to an annotated answer, which they have not withdrawn."""
    theirs = (one for one in found if one.event.analyst == analyst and annotated(one.said) == about)
    return next((one for one in theirs if not one.withdrawn), None)


def check_silence(silent: Silent | None, annotated: Silent | None) -> None:
    """Raise a UsageError for a correction by which the document stays silent, though a passage of it proves it.

    `silent` is what the correction says, None for nothing, and `annotated` what the annotated answer says.
    """
    if annotated == "yes" and silent in (None, "yes"):
        raise UsageError(
            "by the annotated answer the document is silent, and this passage is to show that it is not: say whether "
            "the document answers the question (no) or only some of it (partly)."
        )


def proved(
    document: Document,
    passage: str,
    *,
    silent: Silent | None,
    answer: str,
    why: str,
    annotated: Silent | None = None,
) -> Correction:
    """A correction with the place of the passage that proves it; a UsageError says what it lacks.

    The passage has to be in the text, however it is spaced; of several places the first is taken. `annotated` is what
    the annotated answer says of the document's silence.
    """
    check_silence(silent, annotated)
    words = passage.split()
    if not words:
        raise UsageError("which passage of the document proves it? Select it in the document, or paste it.")
    sought, reading = re.compile(r"\s+".join(map(re.escape, words))), read(document.text)
    span = (found := sought.search(document.text)) and found.span()
    # What is pasted from the company's own page has no marks of links and emphasis.
    span = span or ((found := sought.search(reading.text)) and reading.span(*found.span()))
    if span is None:
        raise UsageError(f"the document does not have these words in a row: '{clip(' '.join(words))}'.")
    if silent is None and not answer.strip():
        raise UsageError("what should the annotated answer say? Write it, or say whether the document is silent.")
    if not why.strip():
        raise UsageError("why is it wrong? A short sentence will do.")
    return Correction(
        silent=silent, answer=answer.strip(), at=span, sha256=digest(document.text[slice(*span)]), why=why.strip()
    )
