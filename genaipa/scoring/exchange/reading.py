"""Find the events in a file: each with its place, and every problem of the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, UsageError, nearest
from genaipa.files.json_text import DAMAGE, why
from genaipa.files.strict_yaml import convert, read_text
from genaipa.scoring.events import Event, complaint, event_decoder
from genaipa.scoring.exchange.rows import DIGEST, columns, event_of, is_scored, time_of
from genaipa.scoring.exchange.sheet import SHOWN
from genaipa.scoring.exchange.tables import Table, read_table, simplified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from genaipa.scoring.rubric import Rubric


class _Valued(msgspec.Struct):
    """The values of an event as a file has them, before they are checked."""

    values: dict[str, float]


@dataclass(frozen=True)
class Found:
    """An event in a file, and where; `itself` if it has an id of its own there."""

    event: Event
    path: Path
    entry: str
    itself: bool = True


@dataclass
class Reading:
    """Events found in files so far, the problems of their entries, and the number of rows without any value.

    `spell` gives the name under which the scores of a person are kept, and raises a UsageError for an impossible name;
    `analyst` is who filled the rows that name nobody. Values and columns are the `rubric`'s.
    """

    spell: Callable[[str], str]
    rubric: Rubric
    analyst: str = ""
    found: list[Found] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unscored: int = 0

    def __post_init__(self) -> None:
        # Column as people may write it → column.
        self._known = {simplified(name): name for name in (*columns(self.rubric), *SHOWN)}
        self._needed = (DIGEST, *self.rubric.metrics)

    def read(self, source: Path | Table) -> None:
        """Take in a file, or a table of scores; a DataError or UsageError if it can't be read at all."""
        if isinstance(source, Table):
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
        ids, text, decode = set(), read_text(path), event_decoder().decode
        if not text.strip():
            raise DataError(path, "is empty.")
        # Not splitlines: a note may hold a line separator of Unicode.
        for count, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            entry = f"line {count}"
            try:
                event = decode(line)
                if event.values is not None:
                    event = msgspec.structs.replace(event, values=self.rubric.given(event.values))
            except (*DAMAGE, ValueError):
                inner, problem = _why_undecodable(line, self.rubric)
                self._tell(path, f"{entry}, {inner}" if inner else entry, problem)
                continue
            told = f"the event '{event.id}' appears twice." if event.id in ids else self._complaint(event)
            if told:
                self._tell(path, entry, told)
            else:
                ids.add(event.id)
                self.found.append(Found(event, path, entry))

    def _read_rows(self, table: Table) -> None:
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
                self.found.append(Found(event, table.path, f"row {row}", itself=itself))
        if nameless:
            told = f"nobody is named in row {_few(nameless)}; say who filled the file with --analyst NAME."
            self._tell(table.path, "analyst", told)

    def _columns(self, table: Table) -> Iterator[tuple[str, int]]:
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
                told = f"column {place + 1} has no name in the first row, and something in row {_few(filled)}."
                self._tell(table.path, "row 1", told)
        for name in self._needed:
            if name not in seen:
                self._tell(table.path, "row 1", f"the column '{name}' is missing.")

    def _name(self, path: Path, row: int, cells: dict[str, str]) -> str:
        """The scorer of a row; empty if nobody is named."""
        given = cells.get("analyst", "").strip() or self.analyst
        if not given or cells.get("id", "").strip():
            return given
        try:
            return self.spell(given)
        except UsageError as error:
            self._tell(path, f"row {row}, analyst", str(error))
            return given

    def _complaint(self, event: Event) -> str:
        """The problem of an event of a log by itself; empty if none."""
        if not (event.id and event.analyst.strip() and event.answer):
            return "id, analyst and answer must not be empty."
        try:
            time_of(event.time)
        except ValueError as error:
            return f"{error}."
        return complaint(event, self.rubric)


def _why_undecodable(line: str, rubric: Rubric) -> tuple[str, str]:
    """The problem of a line that is no event (entry, problem), in the words of the other data files."""
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


def _few(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")  # noqa: PLR2004
