"""Take scores from files into the store: all of them, or none and everything that is wrong with them.

Three kinds of file come in: the log of events (.jsonl), a table of events as it was exported (.csv, .xlsx), and a
sheet that an analyst has filled (.xlsx, or saved as .csv). A row of a table that has an id is that event; a row
without one is an analyst's score, which is new only where they have not given the same before.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, UsageError, nearest
from genaipa.files.html import short_repr
from genaipa.files.limits import SCORES
from genaipa.files.strict_yaml import convert
from genaipa.files.text import DAMAGE, read_lines, why
from genaipa.scoring.current import in_effect
from genaipa.scoring.events import LASTING, Event, complaint, event_decoder, misfit
from genaipa.scoring.tables import (
    DIGEST,
    SHOWN,
    ReadTable,
    columns,
    event_of,
    is_scored,
    read_table,
    simplified,
    time_of,
)
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from genaipa.scoring.people import People
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import Store


_NAMED = 5
"""Rows that a message names."""
_DIGEST = re.compile("[0-9a-f]{64}")


class ImportedScores(msgspec.Struct):
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
    sources: Iterable[Path | ReadTable],
    answers: Collection[str],
    people: People,
    *,
    analyst: str = "",
    unknown_answers: bool = False,
) -> ImportedScores:
    """Put the contents of files and tables into the store, in one transaction; nothing if anything is wrong.

    `answers` are the digests of the answers that are here; `unknown_answers` lets events of others in as well.
    `analyst` is who filled the rows that name nobody. A DataError or UsageError where a file can't be read at all.
    """
    known = {event.analyst for _, event in store.events()}
    reading = ScoresReading(functools.cache(lambda name: people.who(name, known)), store.rubric, analyst)
    for source in sources:
        reading.read(source)
    remedy = "" if unknown_answers else "; --unknown-answers lets it in all the same"
    found = take_in(store, reading.found, answers, reading.problems, unknown_answers=unknown_answers, remedy=remedy)
    found.unscored = reading.unscored
    return found


def take_in(
    store: Store,
    found: Iterable[ReadEvents],
    answers: Collection[str],
    problems: Sequence[str] = (),
    *,
    unknown_answers: bool = False,
    remedy: str = "",
) -> ImportedScores:
    """Put events that were found in files into the store; nothing if one doesn't fit it, or there are `problems`.

    `remedy` follows the sentence on an event of an answer that no run here holds.
    """
    sifting = _Sifting([event for _, event in store.events()], answers, remedy, unknown_answers=unknown_answers)
    for one in found:
        sifting.sift(one)
    wrong = [*problems, *sifting.problems]
    added = store.append(sifting.new) if sifting.new and not wrong else 0
    return ImportedScores(added, sifting.known, 0, sifting.replaced, wrong)


class _Sifting:
    """Sorts events: new, in the store already, or not fitting it."""

    def __init__(
        self, history: Sequence[Event], answers: Collection[str], remedy: str, *, unknown_answers: bool
    ) -> None:
        self.new: list[Event] = []
        self.known = 0
        self.replaced: list[str] = []
        self.problems: list[str] = []
        self._events = {event.id: event for event in history}
        self._standing = {event.id for event in in_effect(history)}
        self._said = {saying(event): event for event in history}
        self._answers, self._remedy = answers, remedy
        self._unknown_answers = unknown_answers

    def sift(self, found: ReadEvents) -> None:
        """Put an event where it belongs."""
        event = found.event
        same = self._events.get(event.id) if found.itself else self._said.get(saying(event))
        if same is not None and saying(same) == saying(event) and event.ticks in (None, same.ticks):
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
            self._said[saying(event)] = event

    def _of_another_content(self, found: ReadEvents) -> str:
        if found.event.id not in self._events:
            return ""
        hint = "; to correct a score, clear the cell with the id" if found.entry.startswith("row") else ""
        return f"the event '{found.event.id}' is here already and says something else{hint}."

    def _of_its_answer(self, found: ReadEvents) -> str:
        answer = found.event.answer
        if answer in self._answers:
            return ""
        if found.itself and self._unknown_answers:
            return "" if _DIGEST.fullmatch(answer) else f"'{answer}' is no answer's digest (64 characters 0-9, a-f)."
        remedy = self._remedy if found.itself else ""
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


def saying(event: Event) -> tuple[object, ...]:
    """Return an event's content without its time, and without its ticks, which not every file has.

    Blanks in a note don't count: spreadsheets change line ends.
    """
    about = (event.kind, event.scorer, event.analyst, event.answer, event.undoes, event.annotation)
    return (*about, event.values, " ".join(event.note.split()))


class _Valued(msgspec.Struct):
    """The values of an event as a file has them, before they are checked."""

    values: dict[str, float]


@dataclass(frozen=True)
class ReadEvents:
    """An event in a file, and where; `itself` if it has an id of its own there."""

    event: Event
    path: Path
    entry: str
    itself: bool = True


@dataclass
class ScoresReading:
    """Events found in files so far, the problems of their entries, and the number of rows without any value.

    `spell` gives the name under which the scores of a person are kept, and raises a UsageError for an impossible name;
    `analyst` is who filled the rows that name nobody. Values and columns are the `rubric`'s.
    """

    spell: Callable[[str], str]
    rubric: Rubric
    analyst: str = ""
    found: list[ReadEvents] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unscored: int = 0

    def __post_init__(self) -> None:
        # Column as people may write it → column.
        self._known = {simplified(name): name for name in (*columns(self.rubric, ticked=True), *SHOWN)}
        self._needed = (DIGEST, *self.rubric.metrics)

    def read(self, source: Path | ReadTable) -> None:
        """Take in a file, or a table of scores; a DataError or UsageError if it can't be read at all."""
        if isinstance(source, ReadTable):
            self._read_rows(source)
            return
        path, suffix = source, source.suffix.lower()
        if suffix == ".jsonl":
            self._read_log(path)
        elif suffix in (".csv", ".xlsx"):
            self._read_rows(read_table(path, DIGEST))
        else:
            raise UsageError(f"{path}: scores are read from .csv, .jsonl and .xlsx files; save it as one of these.")

    def _tell(self, path: Path, entry: str, problem: str) -> None:
        self.problems.append(str(DataError(path, problem, entry)))

    def _read_log(self, path: Path) -> None:
        ids, is_empty, decode = set(), True, event_decoder().decode
        for count, line in enumerate(read_lines(path, SCORES), start=1):
            if not line.strip():
                continue
            is_empty = False
            entry = f"line {count}"
            try:
                event = decode(line)
                if event.values is not None:
                    event = msgspec.structs.replace(event, values=self.rubric.given(event.values))
            except (*DAMAGE, ValueError):
                inner, problem = _why_undecodable(line, self.rubric)
                self._tell(path, f"{entry}, {inner}" if inner else entry, problem)
                continue
            told = f"the event '{event.id}' appears twice." if event.id in ids else flaw(event, self.rubric)
            if told:
                self._tell(path, entry, told)
            else:
                ids.add(event.id)
                self.found.append(ReadEvents(event, path, entry))
        if is_empty:
            raise DataError(path, "is empty.")

    def _read_rows(self, table: ReadTable) -> None:
        columns = dict(self._columns(table))
        nameless, seen = [], dict[tuple[str, ...], tuple[int, Event]]()
        for row, texts in table.rows if columns.keys() >= set(self._needed) else ():
            cells = {column: texts[place] for column, place in columns.items() if place < len(texts)}
            cells = dict.fromkeys(self._needed, "") | cells
            if not is_scored(cells, self.rubric):
                self.unscored += 1
                continue
            who = self._name(table.path, row, cells)
            event, problems = event_of(cells, who, self.rubric)
            for column, problem in problems:
                self._tell(table.path, f"row {row}, {column}", problem)
            if not who:
                nameless.append(row)
            elif event is not None and (told := complaint(event, self.rubric)):
                self._tell(table.path, f"row {row}, scorer", told)
            elif event is not None:
                before, same = seen.setdefault((event.kind, event.scorer, who, event.answer), (row, event))
                if same == event and before != row:
                    continue  # of an answer that was given in several places, a row for each
                if before != row:
                    told = f"scores the same answer for {who} as row {before}; keep one of them."
                    self._tell(table.path, f"row {row}, {DIGEST}", told)
                itself = bool(cells.get("id", "").strip())
                self.found.append(ReadEvents(event, table.path, f"row {row}", itself=itself))
        if nameless:
            told = f"nobody is named in row {some(nameless, _NAMED)}; say who filled the file with --analyst NAME."
            self._tell(table.path, "analyst", told)

    def _columns(self, table: ReadTable) -> Iterator[tuple[str, int]]:
        seen: set[str] = set()
        for place, name in enumerate(table.names):
            column = self._known.get(simplified(name))
            if column in seen:
                self._tell(table.path, "row 1", f"the column '{column}' appears twice.")
            elif column is not None:
                seen.add(column)
                yield column, place
            elif name.strip():
                told = f"unknown column '{name.strip()}'{nearest(simplified(name), self._known)}"
                self._tell(table.path, "row 1", told)
            elif filled := [row for row, texts in table.rows if place < len(texts) and texts[place].strip()]:
                told = f"column {place + 1} has no name in the first row, and something in row {some(filled, _NAMED)}."
                self._tell(table.path, "row 1", told)
        for name in self._needed:
            if name not in seen:
                self._tell(table.path, "row 1", f"the column '{name}' is missing.")

    def _name(self, path: Path, row: int, cells: dict[str, str]) -> str:
        """Return the scorer of a row; empty if nobody is named."""
        given = cells.get("analyst", "").strip() or self.analyst
        if not given or cells.get("id", "").strip():
            return given
        try:
            return self.spell(given)
        except UsageError as error:
            self._tell(path, f"row {row}, analyst", str(error))
            return given


def flaw(event: Event, rubric: Rubric) -> str:
    """Return the problem of an event that a file has with its id, by itself; empty if none."""
    if not (event.id and event.analyst.strip() and event.answer):
        return "id, analyst and answer must not be empty."
    try:
        time_of(event.time)
    except ValueError as error:
        return f"{error}."
    return complaint(event, rubric)


def _why_undecodable(line: str, rubric: Rubric) -> tuple[str, str]:
    """Return the problem of a line that is no event (entry, problem), in the words of the other data files."""
    try:
        raw = msgspec.json.decode(line)
        values = {"values": raw.pop("values")} if isinstance(raw, dict) and "values" in raw else {}
        convert(raw, Event, "")
        rubric.given(convert(values, _Valued, "").values)
    except DataError as error:
        return error.entry, error.problem
    except DAMAGE as error:
        return "", f"is not JSON ({why(error)})."
    except ValueError as error:
        return "values", f"{error}."
    return "", "is no event, though each of its fields could be; is a key there twice?"
