"""Take scores from files into the store: all of them, or none and everything that is wrong with them.

Three kinds of file come in: the log of events (.jsonl), a table of events as it was exported (.csv, .xlsx), and a
sheet that an analyst has filled (.xlsx, or saved as .csv). A row of a table that has an id is that event; a row
without one is an analyst's score, which is new only where they have not given the same before.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.html import short_repr
from genaipa.scoring.current import in_effect
from genaipa.scoring.events import LASTING, Event, misfit
from genaipa.scoring.exchange.reading import Found, Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from genaipa.scoring.exchange.tables import Table
    from genaipa.scoring.people import People
    from genaipa.scoring.store import Store

_DIGEST = re.compile("[0-9a-f]{64}")


class Imported(msgspec.Struct):
    """The result of an import. With any `problems`, nothing was taken.

    `added` are new events, `known` events that the store had already, `unscored` rows of a sheet without any value.
    `replaced` tells of rows that were taken once and that their analyst has replaced or withdrawn since: they are
    left out, so that an old sheet never wins over a newer correction.
    """

    added: int
    known: int
    unscored: int
    replaced: list[str]
    problems: list[str]

    def __repr__(self) -> str:
        wrong = f", {len(self.problems):,} problems" if self.problems else ""
        counts = f"{self.known:,} known, {self.unscored:,} unscored, {len(self.replaced):,} replaced{wrong}"
        return short_repr("Imported", f"{self.added:,} scores", counts)


def import_from(
    store: Store,
    sources: Iterable[Path | Table],
    answers: Collection[str],
    people: People,
    *,
    analyst: str = "",
    unknown_answers: bool = False,
) -> Imported:
    """Put the contents of files and tables into the store, in one transaction; nothing if anything is wrong.

    `answers` are the digests of the answers that are here; `unknown_answers` lets events of others in as well.
    `analyst` is who filled the rows that name nobody. A DataError or UsageError where a file can't be read at all.
    """
    history = [event for _, event in store.events()]
    known = {event.analyst for event in history}
    reading = Reading(functools.cache(lambda name: people.who(name, known)), store.rubric, analyst)
    for source in sources:
        reading.read(source)
    sifting = _Sifting(history, answers, unknown_answers=unknown_answers)
    for found in reading.found:
        sifting.sift(found)
    problems = reading.problems + sifting.problems
    added = store.append(sifting.new) if sifting.new and not problems else 0
    return Imported(added, sifting.known, reading.unscored, sifting.replaced, problems)


class _Sifting:
    """Sorts events: new, in the store already, or not fitting it."""

    def __init__(self, history: Sequence[Event], answers: Collection[str], *, unknown_answers: bool) -> None:
        self.new: list[Event] = []
        self.known = 0
        self.replaced: list[str] = []
        self.problems: list[str] = []
        self._events = {event.id: event for event in history}
        self._standing = {event.id for event in in_effect(history)}
        self._said = {_saying(event): event for event in history}
        self._answers = answers
        self._unknown_answers = unknown_answers

    def sift(self, found: Found) -> None:
        """Put an event where it belongs."""
        event = found.event
        same = self._events.get(event.id) if found.itself else self._said.get(_saying(event))
        if same is not None and _saying(same) == _saying(event):
            if found.itself or same.id in self._standing:
                self.known += 1
            else:
                self.replaced.append(
                    f"{found.path}: {found.entry}: {event.analyst} gave this score before and has replaced it or taken "
                    "it back since; to give it again, score the answer at the desk."
                )
        elif complaint := self._of_another_content(found) or self._of_its_answer(found) or self._of_its_undo(event):
            self.problems.append(str(DataError(found.path, complaint, found.entry)))
        else:
            self.new.append(event)
            self._events[event.id] = event
            self._standing.add(event.id)
            self._said[_saying(event)] = event

    def _of_another_content(self, found: Found) -> str:
        if found.event.id not in self._events:
            return ""
        hint = "; to correct a score, clear the cell with the id" if found.entry.startswith("row") else ""
        return f"the event '{found.event.id}' is here already and says something else{hint}."

    def _of_its_answer(self, found: Found) -> str:
        answer = found.event.answer
        if answer in self._answers:
            return ""
        if found.itself and self._unknown_answers:
            return "" if _DIGEST.fullmatch(answer) else f"'{answer}' is no answer's digest (64 characters 0-9, a-f)."
        remedy = "; --unknown-answers lets it in all the same" if found.itself else ""
        return f"unknown answer '{answer}': no run of this workspace holds it{remedy}."

    def _of_its_undo(self, event: Event) -> str:
        if event.kind == "ruling":
            return misfit(event, self._events.get(event.refers_to))
        if not event.undoes:
            return ""
        undone = self._events.get(event.undoes)
        if undone is None:
            return f"undoes the event '{event.undoes}', which is neither here nor earlier in the files."
        if (undone.analyst, undone.answer) != (event.analyst, event.answer):
            return f"undoes the event '{event.undoes}', which is another analyst's or about another answer."
        if undone.kind in LASTING:
            return f"undoes the event '{event.undoes}', a {undone.kind}, which can't be undone."
        return ""


def _saying(event: Event) -> tuple[object, ...]:
    """An event's content without its time. Blanks in a note don't count: spreadsheets change line ends."""
    about = (event.kind, event.scorer, event.analyst, event.answer, event.undoes, event.annotation)
    return (*about, event.values, " ".join(event.note.split()))
