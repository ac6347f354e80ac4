"""Points of an annotated answer: the statements that an answer must make, and what somebody ticked of them.

An answer that is judged point by point is judged alike by more people than one that is judged as a whole. A point whose
contradiction would hurt a reader ("your data are not sold", where they are) is marked `harm`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.files.text import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST = 12
"""Points of one answer at most: more could not be ticked from memory."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")
Weight = Literal["vital", "okay"]


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statement that a complete answer makes, and the `sections` that it rests on.

    An answer without a `vital` point misleads; an `okay` one may be left out. `why` gives the reason for a mark.
    """

    id: str
    text: str
    sections: tuple[str, ...] = ()
    weight: Weight = "vital"
    if_wrong: Literal["", "harm"] = ""
    why: str = ""

    @property
    def weight_and_sections_in_words(self) -> str:
        """The words beside a point: its weight, whether its contradiction hurts, and its sections."""
        return ", ".join((self.weight, *(["harm if wrong"] if self.if_wrong else []), *self.sections))


class Ticks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The points, by id, that an answer was found to say or to contradict; it is silent on the others.

    `digest` is the points' (`points_digest`): ticks of points that were edited since tell nothing about the new ones.
    """

    digest: str
    said: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()


def points_digest(points: Sequence[Point]) -> str:
    """Return the beginning of a SHA-256 of what the points say: their ids and texts."""
    return sha256_of(repr([(point.id, point.text) for point in points]))[:12]


def make_ticks(points: Sequence[Point], stated_ids: Sequence[str], contradicted_ids: Sequence[str] = ()) -> Ticks:
    """Ticks of these points, in their order; a ValueError for an id that is none of theirs, or in both lists."""
    ids = [point.id for point in points]
    if unknown_ids := [name for name in (*stated_ids, *contradicted_ids) if name not in ids]:
        raise ValueError(f"there is no point '{unknown_ids[0]}'")
    if in_both := set(stated_ids) & set(contradicted_ids):
        raise ValueError(f"the point '{min(in_both)}' can't be both stated and contradicted")
    return Ticks(
        points_digest(points),
        tuple(name for name in ids if name in stated_ids),
        tuple(name for name in ids if name in contradicted_ids),
    )


def point_flaws(points: Sequence[Point], *, is_document_silent: bool) -> Iterator[str]:
    """Yield every problem of the points of one answer; `is_document_silent`.

    Its document does not answer the question.
    """
    if not points:
        return
    if is_document_silent:
        yield "is marked silent, so an answer has nothing to state; remove its points."
    if len(points) > MOST:
        yield f"has {len(points)} points; at most {MOST} are allowed."
    if all(point.weight != "vital" for point in points):
        yield "has no vital point; mark at least one with weight: vital."
    seen_ids: set[str] = set()
    for point in points:
        subject = f"the point '{point.id}'"
        if not _ID.fullmatch(point.id):
            yield f"{subject} needs an id of at most 32 letters, digits, _ and -."
        if point.id in seen_ids:
            yield f"{subject} appears twice; give one of the two another id."
        seen_ids.add(point.id)
        if not point.text.strip():
            yield f"{subject} has no text."
        if not point.sections:
            yield f"{subject} cites no section; name at least one."
