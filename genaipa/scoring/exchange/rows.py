"""An event as a row of a table: what was given, and which answer it was given for."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, get_args

from genaipa.files.formulas import parse_number
from genaipa.scoring.events import Event, Scorer, new_id, now
from genaipa.scoring.rubric import METRICS, RUBRIC_DIGEST, VALUES, Values, shipped_rubric, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from genaipa.scoring.answers import Occurrence
    from genaipa.scoring.exchange.tables import Cell

DIGEST = "digest"
"""The column with the answer's digest: a table without it is none of ours."""
GIVEN = (
    *(DIGEST, "analyst", "time", *METRICS, "note"),
    *("seconds", "kind", "scorer", "blind", "independent", "calibration", "suggested", "preselected"),
    *("rubric", "id"),
)
"""The columns that say what was given; they are read back. Only the digest and the five metrics have to be there."""
ABOUT = ("run", "system", "document", "question", "wording", "initialization", "repetition", "m_all")
"""The columns that say which answer it was, for people and statistics; they are not read back."""
COLUMNS = (*GIVEN, *ABOUT)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


# -- out --


def row_of(event: Event, places: Sequence[Occurrence]) -> tuple[Cell, ...]:
    """A score or adjudication as a row of `COLUMNS`; there are no `places` where the answer's run is not here.

    Of an answer that was given in several places, each run, system, … is named once.
    """
    values = event.values
    assert values is not None, "scores and adjudications have values"
    suggested = " ".join(f"{metric}={shown(value)}" for metric, value in event.suggested.items())
    metrics: list[Cell] = [_whole(values[metric]) for metric in METRICS]
    return (
        *(event.answer, event.analyst, event.time, *metrics, event.note),
        *(event.seconds, event.kind, event.scorer, _word(event.blind), _word(event.independent)),
        *(_word(event.calibration), suggested, _word(event.preselected), event.rubric, event.id),
        *_about(places),
        round(shipped_rubric().m_all(values), 2),
    )


def _about(places: Sequence[Occurrence]) -> Iterator[Cell]:
    for column in ABOUT[:-1]:  # all but M_all
        named = list(dict.fromkeys(getattr(place, column) for place in places))
        yield named[0] if len(named) == 1 else "; ".join(map(str, named)) or None


def _word(flag: bool) -> str:
    # Not TRUE and FALSE, which spreadsheets translate.
    return "yes" if flag else "no"


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


# -- in --


def event_of(cells: Mapping[str, str], analyst: str) -> tuple[Event | None, list[tuple[str, str]]]:
    """The event in a row (column → text), given by `analyst`, and what is wrong with it (column, problem).

    A row without an id or a time is a new event of this moment, by today's rubric. There is no event where anything is
    wrong.
    """
    problems: list[tuple[str, str]] = []
    fields: dict[str, Any] = {"id": new_id(), "time": now(), "kind": "score"}
    if not cells.get("id", "").strip():
        fields["rubric"] = RUBRIC_DIGEST
    for column, read in _READERS.items():
        text = cells.get(column, "").strip()
        if text:
            try:
                fields[column] = read(text)
            except ValueError as error:
                problems.append((column, f"{error}."))
    digest = cells[DIGEST].strip()
    if not digest:
        problems.append((DIGEST, "is empty, so that nobody can say which answer this is."))
    values = []
    for metric in METRICS:
        try:
            values.append(_value(cells[metric].strip()))
        except ValueError as error:
            problems.append((metric, f"{error}."))
    if problems:
        return None, problems
    return Event(**fields, analyst=analyst, answer=digest, values=Values(*values), note=cells.get("note", "")), []


def is_scored(cells: Mapping[str, str]) -> bool:
    """Whether any of the five values is there."""
    return any(cells[metric].strip() for metric in METRICS)


def _value(text: str) -> float:
    if not text:
        raise ValueError("has no value, and other metrics of the row have")
    with contextlib.suppress(ValueError):
        if (value := parse_number(text)) in VALUES:
            return value
    raise ValueError(f"'{text}' is not one of {', '.join(map(shown, VALUES))}")


def time_of(text: str) -> str:
    """The text if it is a time in UTC as events have it; a ValueError otherwise."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"'{text}' is not a time in UTC such as 2026-05-04T12:30:00.000Z")
    return text


def _seconds(text: str) -> float:
    seconds = parse_number(text)
    if seconds < 0:
        raise ValueError(f"'{text}' is less than no time")
    return seconds


def _flag(text: str) -> bool:
    return _choice("yes", "no")(text) == "yes"


def _choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.casefold() not in words:
            raise ValueError(f"'{text}' is not one of {', '.join(words)}")
        return text.casefold()

    return read


def _suggested(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split():
        metric, _, value = part.partition("=")
        if metric not in METRICS or parse_number(value) not in VALUES:
            raise ValueError(f"'{part}' is not a metric and its value, such as reference=-1")
        found[metric] = parse_number(value)
    return found


_READERS: dict[str, Callable[[str], Any]] = {
    "id": str,
    "time": time_of,
    "seconds": _seconds,
    "kind": _choice("score", "adjudication"),
    "scorer": _choice(*get_args(Scorer)),
    "blind": _flag,
    "independent": _flag,
    "calibration": _flag,
    "suggested": _suggested,
    "preselected": _flag,
    "rubric": str,
}
