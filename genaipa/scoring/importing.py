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

from genaipa.errors import DataError, UsageError, name_suggestion
from genaipa.files.html import format_one_line_repr
from genaipa.files.limits import SCORES
from genaipa.files.strict_yaml import convert_to_type
from genaipa.files.text import DAMAGE, clip_error_message, read_lines
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import (
    JUDGING,
    LASTING,
    Event,
    find_event_problem,
    find_problem_of_referenced_event,
    make_event_decoder,
)
from genaipa.scoring.tables import (
    DIGEST,
    SHEET_COLUMNS,
    ReadTable,
    has_any_metric_value,
    parse_score_event_and_problems,
    read_table,
    require_utc_time,
    score_column_names,
    simplify_column_name,
)
from genaipa.words import format_count, join_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from genaipa.runs.authors import AnswerAuthors
    from genaipa.scoring.people import People
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import ScoreStore


_NAMED = 5
"""Rows that a message names."""
_DIGEST = re.compile("[0-9a-f]{64}")


class ImportOutcome(msgspec.Struct):
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
        wrong = f", {format_count(len(self.problems), 'problem')}" if self.problems else ""
        counts = f"{self.known:,} known, {self.unscored:,} unscored, {len(self.replaced):,} replaced{wrong}"
        return format_one_line_repr("Imported", format_count(self.added, "score"), counts)


def import_scores_or_return_problems(
    store: ScoreStore,
    sources: Iterable[Path | ReadTable],
    known_answer_digests: Collection[str],
    people: People,
    authors: AnswerAuthors,
    *,
    analyst: str = "",
    unknown_answers: bool = False,
) -> ImportOutcome:
    """Put the contents of files and tables into the store, in one transaction; nothing if anything is wrong.

    `known_answer_digests` are the digests of the answers that are here; `unknown_answers` lets events of others in as
    well. Nobody's score of an answer that they wrote is taken, by the `authors` of the workspace's runs. `analyst` is
    who filled the rows that name nobody. A DataError or UsageError where a file can't be read at all.
    """
    scorers = {event.analyst for _, event in store.read_numbered_events()}
    reader = ScoresReader(functools.cache(lambda name: people.resolve_name(name, scorers)), store.rubric, analyst)
    for source in sources:
        reader.read_file_or_table(source)
    remedy = "" if unknown_answers else "; --unknown-answers imports it anyway"
    result = store_events_or_return_problems(
        store,
        reader.events,
        known_answer_digests,
        authors,
        reader.problems,
        allow_unknown_answers=unknown_answers,
        remedy_for_unknown_answer=remedy,
    )
    result.unscored = reader.unscored
    return result


def store_events_or_return_problems(
    store: ScoreStore,
    read_events: Iterable[ReadEvent],
    known_answer_digests: Collection[str],
    authors: AnswerAuthors,
    earlier_problems: Sequence[str] = (),
    *,
    allow_unknown_answers: bool = False,
    remedy_for_unknown_answer: str = "",
) -> ImportOutcome:
    """Put events that were found in files into the store.

    Nothing if one doesn't fit it, or there are `earlier_problems`.

    `remedy_for_unknown_answer` follows the sentence on an event of an answer that no run here holds.
    """
    sorter = _EventSorter(
        [event for _, event in store.read_numbered_events()],
        known_answer_digests,
        authors,
        remedy_for_unknown_answer,
        unknown_answers=allow_unknown_answers,
    )
    for read_event in read_events:
        sorter.sort_event_or_note_problem(read_event)
    all_problems = [*earlier_problems, *sorter.problems]
    added = store.append_new_events(sorter.new) if sorter.new and not all_problems else 0
    return ImportOutcome(added, sorter.known, 0, sorter.replaced, all_problems)


class _EventSorter:
    """Sorts events: new, in the store already, or not fitting it."""

    def __init__(
        self,
        history: Sequence[Event],
        answers: Collection[str],
        authors: AnswerAuthors,
        remedy: str,
        *,
        unknown_answers: bool,
    ) -> None:
        self.new: list[Event] = []
        self.known = 0
        self.replaced: list[str] = []
        self.problems: list[str] = []
        self._events = {event.id: event for event in history}
        self._effective_ids = {event.id for event in effective_scores_and_adjudications(history)}
        self._events_by_content = {event_content_without_time_and_ticks(event): event for event in history}
        self._answers, self._authors, self._remedy = answers, authors, remedy
        self._unknown_answers = unknown_answers

    def sort_event_or_note_problem(self, read_event: ReadEvent) -> None:
        """Add an event to the new, the known or the replaced ones, or its problem to the problems."""
        event = read_event.event
        content = event_content_without_time_and_ticks(event)
        existing = self._events.get(event.id) if read_event.has_id else self._events_by_content.get(content)
        if (
            existing
            and event_content_without_time_and_ticks(existing) == content
            and event.ticks in (None, existing.ticks)
        ):
            if read_event.has_id or existing.id in self._effective_ids:
                self.known += 1
            else:
                self.replaced.append(
                    f"{read_event.path}: {read_event.entry}: {event.analyst} gave this score earlier and has since "
                    "replaced or withdrawn it; to give it again, score the answer at the desk."
                )
        elif (
            problem := self._find_id_conflict(read_event)
            or self._find_answer_problem(read_event)
            or self._find_self_scoring_problem(event)
            or self._find_undo_problem(event)
        ):
            self.problems.append(str(DataError(read_event.path, problem, read_event.entry)))
        else:
            self.new.append(event)
            self._events[event.id] = event
            self._effective_ids.add(event.id)
            self._events_by_content[content] = event

    def _find_id_conflict(self, read_event: ReadEvent) -> str:
        if read_event.event.id not in self._events:
            return ""
        hint = "; to correct a score, clear the cell that has the id" if read_event.entry.startswith("row") else ""
        return f"the event '{read_event.event.id}' already exists with different content{hint}."

    def _find_answer_problem(self, read_event: ReadEvent) -> str:
        answer = read_event.event.answer
        if answer in self._answers:
            return ""
        if read_event.has_id and self._unknown_answers:
            return (
                ""
                if _DIGEST.fullmatch(answer)
                else f"'{answer}' is not the digest of an answer (64 characters from 0-9 and a-f)."
            )
        remedy = self._remedy if read_event.has_id else ""
        return f"no run in this workspace has the answer '{answer}'{remedy}."

    def _find_self_scoring_problem(self, event: Event) -> str:
        if event.kind not in JUDGING or not self._authors.is_author(event.analyst, event.answer):
            return ""
        return f"{event.analyst} wrote this answer, and nobody may score an answer that they wrote; remove this score."

    def _find_undo_problem(self, event: Event) -> str:
        if event.kind == "ruling":
            return find_problem_of_referenced_event(event, self._events.get(event.undone_or_ruled_event_id))
        if not event.undoes:
            return ""
        undone = self._events.get(event.undoes)
        if undone is None:
            return (
                f"undoes the event '{event.undoes}', which is neither in the store nor earlier in the imported files."
            )
        if (undone.analyst, undone.answer) != (event.analyst, event.answer):
            return f"undoes the event '{event.undoes}', which belongs to another analyst or another answer."
        if undone.kind in LASTING:
            return f"undoes the event '{event.undoes}', a {undone.kind}, which can't be undone."
        return ""


def event_content_without_time_and_ticks(event: Event) -> tuple[object, ...]:
    """Return an event's content without its time, and without its ticks, which not every file has.

    Blanks in a note don't count: spreadsheets change line ends.
    """
    about = (event.kind, event.scorer, event.analyst, event.answer, event.undoes, event.annotation)
    return (*about, event.values, " ".join(event.note.split()))


class _Valued(msgspec.Struct):
    """The values of an event as a file has them, before they are checked."""

    values: dict[str, float]


@dataclass(frozen=True)
class ReadEvent:
    """An event in a file, and where; `has_id` if it has an id of its own there."""

    event: Event
    path: Path
    entry: str
    has_id: bool = True


@dataclass
class ScoresReader:
    """Events found in files so far, the problems of their entries, and the number of rows without any value.

    `spell` gives the name under which the scores of a person are kept, and raises a UsageError for an impossible name;
    `analyst` is who filled the rows that name nobody. Values and columns are the `rubric`'s.
    """

    spell: Callable[[str], str]
    rubric: Rubric
    analyst: str = ""
    events: list[ReadEvent] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unscored: int = 0

    def __post_init__(self) -> None:
        # Column as people may write it → column.
        self._columns_by_name = {
            simplify_column_name(name): name
            for name in (*score_column_names(self.rubric, with_ticks=True), *SHEET_COLUMNS)
        }
        self._required_columns = (DIGEST, *self.rubric.metrics)

    def read_file_or_table(self, source: Path | ReadTable) -> None:
        """Read a file or a table of scores; a DataError or UsageError if it can't be read at all."""
        if isinstance(source, ReadTable):
            self._read_table_rows(source)
            return
        path, suffix = source, source.suffix.lower()
        if suffix == ".jsonl":
            self._read_event_log(path)
        elif suffix in (".csv", ".xlsx"):
            self._read_table_rows(read_table(path, DIGEST))
        else:
            raise UsageError(
                f"{path}: scores can be read only from .csv, .jsonl and .xlsx files; save it as one of these."
            )

    def _add_problem(self, path: Path, entry: str, problem: str) -> None:
        self.problems.append(str(DataError(path, problem, entry)))

    def _read_event_log(self, path: Path) -> None:
        ids, is_empty, decode = set(), True, make_event_decoder().decode
        for count, line in enumerate(read_lines(path, SCORES), start=1):
            if not line.strip():
                continue
            is_empty = False
            entry = f"line {count}"
            try:
                event = decode(line)
                if event.values is not None:
                    event = msgspec.structs.replace(event, values=self.rubric.make_values(event.values))
            except (*DAMAGE, ValueError):
                inner, problem = _find_entry_and_problem_of_event_line(line, self.rubric)
                self._add_problem(path, f"{entry}, {inner}" if inner else entry, problem)
                continue
            event_problem = (
                f"the event '{event.id}' appears twice."
                if event.id in ids
                else find_imported_event_problem(event, self.rubric)
            )
            if event_problem:
                self._add_problem(path, entry, event_problem)
            else:
                ids.add(event.id)
                self.events.append(ReadEvent(event, path, entry))
        if is_empty:
            raise DataError(path, "is empty.")

    def _read_table_rows(self, table: ReadTable) -> None:
        columns = dict(self._match_columns_and_note_problems(table))
        nameless, first_events = [], dict[tuple[str, ...], tuple[int, Event]]()
        for row, texts in table.rows if columns.keys() >= set(self._required_columns) else ():
            cells = {column: texts[index] for column, index in columns.items() if index < len(texts)}
            cells = dict.fromkeys(self._required_columns, "") | cells
            if not has_any_metric_value(cells, self.rubric):
                self.unscored += 1
                continue
            scorer = self._resolve_analyst_name_or_keep_as_written(table.path, row, cells)
            event, problems = parse_score_event_and_problems(cells, scorer, self.rubric)
            for column, problem in problems:
                self._add_problem(table.path, f"row {row}, {column}", problem)
            if not scorer:
                nameless.append(row)
            elif event is not None and (row_problem := find_event_problem(event, self.rubric)):
                self._add_problem(table.path, f"row {row}, scorer", row_problem)
            elif event is not None:
                first_row, first_event = first_events.setdefault(
                    (event.kind, event.scorer, scorer, event.answer), (row, event)
                )
                if first_event == event and first_row != row:
                    continue  # of an answer that was given in several places, a row for each
                if first_row != row:
                    row_problem = f"scores the same answer for {scorer} as row {first_row}; keep one of the two rows."
                    self._add_problem(table.path, f"row {row}, {DIGEST}", row_problem)
                has_id = bool(cells.get("id", "").strip())
                self.events.append(ReadEvent(event, table.path, f"row {row}", has_id=has_id))
        if nameless:
            rows = join_some(nameless, _NAMED)
            row_problem = f"no analyst is named in row {rows}; name the analyst with --analyst NAME."
            self._add_problem(table.path, "analyst", row_problem)

    def _match_columns_and_note_problems(self, table: ReadTable) -> Iterator[tuple[str, int]]:
        matched: set[str] = set()
        for index, name in enumerate(table.names):
            column = self._columns_by_name.get(simplify_column_name(name))
            if column in matched:
                self._add_problem(table.path, "row 1", f"the column '{column}' appears twice.")
            elif column is not None:
                matched.add(column)
                yield column, index
            elif name.strip():
                problem = (
                    "unknown column "
                    f"'{name.strip()}'{name_suggestion(simplify_column_name(name), self._columns_by_name)}"
                )
                self._add_problem(table.path, "row 1", problem)
            elif filled := [row for row, texts in table.rows if index < len(texts) and texts[index].strip()]:
                problem = (
                    f"column {index + 1} has content (row {join_some(filled, _NAMED)}) but no name in the first row."
                )
                self._add_problem(table.path, "row 1", problem)
        for name in self._required_columns:
            if name not in matched:
                self._add_problem(table.path, "row 1", f"the column '{name}' is missing.")

    def _resolve_analyst_name_or_keep_as_written(self, path: Path, row: int, cells: dict[str, str]) -> str:
        """Return the scorer of a row; empty if nobody is named."""
        name = cells.get("analyst", "").strip() or self.analyst
        if not name or cells.get("id", "").strip():
            return name
        try:
            return self.spell(name)
        except UsageError as error:
            self._add_problem(path, f"row {row}, analyst", str(error))
            return name


def find_imported_event_problem(event: Event, rubric: Rubric) -> str:
    """Return what is wrong with an event that has an id in its file; empty if nothing."""
    if not (event.id and event.analyst.strip() and event.answer):
        return "id, analyst and answer must not be empty."
    try:
        require_utc_time(event.time)
    except ValueError as error:
        return f"{error}."
    return find_event_problem(event, rubric)


def _find_entry_and_problem_of_event_line(line: str, rubric: Rubric) -> tuple[str, str]:
    """Return the problem of a line that is no event (entry, problem), in the words of the other data files."""
    try:
        raw = msgspec.json.decode(line)
        values = {"values": raw.pop("values")} if isinstance(raw, dict) and "values" in raw else {}
        convert_to_type(raw, Event, "")
        rubric.make_values(convert_to_type(values, _Valued, "").values)
    except DataError as error:
        return error.entry, error.problem
    except DAMAGE as error:
        return "", f"is not JSON ({clip_error_message(error)})."
    except ValueError as error:
        return "values", f"{error}."
    return "", "is not a valid event (duplicate key?)."
