"""What happens at the desk, as events that are only ever added: a correction is a new score, an undo an event too.

What stands is worked out from them: an analyst's score of an answer is their latest that was not undone.
"""

from __future__ import annotations

import datetime as dt
import uuid
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.scoring.rubric import Metric, Values

if TYPE_CHECKING:
    from collections.abc import Iterable

EventKind = Literal["score", "adjudication", "undo", "skip"]
Scorer = Literal["human", "machine"]


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One line of the log of scores.

    `id` is made once where the event is made, so that the same event sent twice is kept once. `answer` is the
    answer's digest (`Record.digest`), so that a score can't slide onto another text. `values` stand in scores and
    adjudications, `undoes` (the id of an earlier event of the same analyst) in undos. `seconds` is how long the
    answer was on the analyst's screen. `suggested` is what was suggested on screen, metric by metric, and
    `preselected` whether it was filled in before the analyst chose. `blind` says that the analyst could not see
    whose answer it was; `calibration` that the score was given to be compared with a reference analyst's.
    """

    id: str
    time: str
    kind: EventKind
    analyst: str
    answer: str
    values: Values | None = None
    note: str = ""
    seconds: float | None = None
    scorer: Scorer = "human"
    undoes: str = ""
    suggested: dict[Metric, float] = {}
    preselected: bool = False
    blind: bool = True
    calibration: bool = False


class Draft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A score that is not finished: it is overwritten as it grows, and gone once the score is in.

    `typed` has one character for each metric: the digit that was typed, or a dot.
    """

    analyst: str
    answer: str
    kind: Literal["score", "adjudication"]
    typed: str = "....."
    note: str = ""
    seconds: float = 0.0
    updated: str = ""


def new_id() -> str:
    """An id that no other event has."""
    return uuid.uuid4().hex


def now() -> str:
    """This moment in UTC, to the millisecond, ISO 8601."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def standing(events: Iterable[Event]) -> list[Event]:
    """The scores and adjudications that stand, in their order: of each analyst and answer the latest not undone."""
    undone: set[str] = set()
    given: list[Event] = []
    for event in events:
        if event.kind == "undo":
            undone.add(event.undoes)
        elif event.kind != "skip":
            given.append(event)
    latest: dict[tuple[str, str, str], Event] = {}
    for event in given:
        if event.id not in undone:
            # Taken out first, so that a correction stands at its own place in the order.
            latest.pop((event.kind, event.analyst, event.answer), None)
            latest[event.kind, event.analyst, event.answer] = event
    return list(latest.values())
