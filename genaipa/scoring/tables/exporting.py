"""Export scores: the log of events, or a table of the scores in effect."""

from __future__ import annotations

import contextlib
import re
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import msgspec

from genaipa.errors import UsageError
from genaipa.files.spreadsheets import parse_number
from genaipa.files.stamps import now
from genaipa.questions.points import Ticks
from genaipa.scoring.answers import occurring
from genaipa.scoring.current import in_effect
from genaipa.scoring.events import ORDERS, Event, Scorer, new_id
from genaipa.scoring.rubric import shown
from genaipa.scoring.tables.sheet import write_csv, write_xlsx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.scoring.answers import Occurrence, PooledAnswer
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.tables.sheet import TableCell


SUFFIXES = (".csv", ".jsonl", ".xlsx")


def suffix_of(path: Path) -> str:
    """The format that a file's name asks for; a UsageError for one that scores can't be written in."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: scores can be written as {', '.join(SUFFIXES)}.")
    return suffix


def given(events: Iterable[Event], *, machines: bool) -> list[Event]:
    """The scores and adjudications in effect; machines' only where they are wanted."""
    return [event for event in in_effect(events) if machines or event.scorer == "human"]


def write_scores(
    file: BinaryIO,
    suffix: str,
    events: Iterable[Event],
    answers: Mapping[str, PooledAnswer],
    rubric: Rubric,
    *,
    per_run: bool = False,
) -> None:
    """Write events in the format of a suffix; a table takes scores and adjudications only.

    `answers` (by digest) are the ones on which a table can say more than the digest. With `per_run`, a table has a row
    for each place where an answer was given, and not one that names them all.
    """
    if suffix == ".jsonl":
        file.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        return
    events = list(events)
    ticked = any(event.ticks for event in events)
    if per_run:
        placed = ((event, [place] if place else []) for place, event in occurring(events, answers))
    else:
        placed = ((event, answers[event.answer].occurrences if event.answer in answers else []) for event in events)
    rows = (row_of(event, places, rubric, ticked=ticked) for event, places in placed)
    if suffix == ".csv":
        write_csv(file, columns(rubric, ticked=ticked), rows)
    else:
        write_xlsx(file, "scores", columns(rubric, ticked=ticked), rows)


DIGEST = "digest"
"""The column with the answer's digest: a table without it is none of ours."""
ABOUT = ("run", "system", "document", "question", "wording", "initialization", "repetition", "m_all")
"""The columns that say which answer it was, for people and statistics; they are not read back."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


# -- out --


def columns(rubric: Rubric, *, ticked: bool = False) -> tuple[str, ...]:
    """The columns of a table of scores: the ones read back, and `ABOUT`; `ticked` is whether points were ticked."""
    return (
        *(DIGEST, "analyst", "time", *rubric.metrics, "note"),
        *("seconds", "kind", "scorer", "blind", "independent", "calibration", "suggested", "preselected", "pinned"),
        *("order", "rubric", "id", *(["ticks"] if ticked else [])),
        *ABOUT,
    )


def row_of(event: Event, places: Sequence[Occurrence], rubric: Rubric, *, ticked: bool) -> tuple[TableCell, ...]:
    """A score or adjudication as a row of `columns`; there are no `places` where the answer's run is not here.

    Of an answer that was given in several places, each run, system, … is named once.
    """
    values = event.values
    assert values is not None, "scores and adjudications have values"
    suggested = " ".join(f"{metric}={shown(value)}" for metric, value in event.suggested.items())
    metrics: list[TableCell] = [_whole(values[metric]) for metric in rubric.metrics]
    return (
        *(event.answer, event.analyst, event.time, *metrics, event.note),
        *(event.seconds, event.kind, event.scorer, _word(event.blind), _word(event.independent)),
        *(_word(event.calibration), suggested, _word(event.preselected), _word(event.pinned)),
        *(event.order, event.rubric, event.id, *([_ticks(event.ticks)] if ticked else [])),
        *_about(places),
        round(rubric.m_all(values), 2),
    )


def _about(places: Sequence[Occurrence]) -> Iterator[TableCell]:
    for column in ABOUT[:-1]:  # all but M_all
        named = list(dict.fromkeys(getattr(place, column) for place in places))
        yield named[0] if len(named) == 1 else "; ".join(map(str, named)) or None


def _ticks(ticks: Ticks | None) -> str:
    """Ticks as `points=DIGEST said=ID,ID contradicted=ID`; empty without any."""
    if ticks is None:
        return ""
    lists = {"said": ticks.said, "contradicted": ticks.contradicted}
    return " ".join([f"points={ticks.digest}", *(f"{name}={','.join(ids)}" for name, ids in lists.items() if ids)])


def _word(flag: bool) -> str:
    # Not TRUE and FALSE, which spreadsheets translate.
    return "yes" if flag else "no"


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


# -- in --


def event_of(cells: Mapping[str, str], analyst: str, rubric: Rubric) -> tuple[Event | None, list[tuple[str, str]]]:
    """The event in a row (column → text), given by `analyst`, and its problems (column, problem).

    A row without an id or a time is a new event of this moment, by this rubric. There is no event where anything is
    wrong.
    """
    problems: list[tuple[str, str]] = []
    fields: dict[str, Any] = {"id": new_id(), "time": now(), "kind": "score"}
    if not cells.get("id", "").strip():
        fields["rubric"] = rubric.digest
    for column, read in (_READERS | {"suggested": partial(_suggested, rubric=rubric)}).items():
        text = cells.get(column, "").strip()
        if text:
            try:
                fields[column] = read(text)
            except ValueError as error:
                problems.append((column, f"{error}."))
    digest = cells[DIGEST].strip()
    if not digest:
        problems.append((DIGEST, "is empty, so that nobody can say which answer this is."))
    values = {}
    for metric in rubric.metrics:
        try:
            values[metric] = _value(cells[metric].strip(), rubric)
        except ValueError as error:
            problems.append((metric, f"{error}."))
    if problems:
        return None, problems
    given = rubric.given(values)
    return Event(**fields, analyst=analyst, answer=digest, values=given, note=cells.get("note", "")), []


def is_scored(cells: Mapping[str, str], rubric: Rubric) -> bool:
    """Whether any of the values is there."""
    return any(cells[metric].strip() for metric in rubric.metrics)


def _value(text: str, rubric: Rubric) -> float:
    if not text:
        raise ValueError("has no value, and other metrics of the row have")
    with contextlib.suppress(ValueError):
        if (value := parse_number(text)) in rubric.values:
            return value
    raise ValueError(f"'{text}' is not one of {', '.join(map(shown, rubric.values))}")


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


def _suggested(text: str, rubric: Rubric) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split():
        metric, _, value = part.partition("=")
        if metric not in rubric.metrics or parse_number(value) not in rubric.values:
            raise ValueError(f"'{part}' is not a metric and its value, such as reference=-1")
        found[metric] = parse_number(value)
    return found


def _read_ticks(text: str) -> Ticks:
    found = dict(part.partition("=")[::2] for part in text.split())
    if not found.get("points") or not found.keys() <= {"points", "said", "contradicted"}:
        raise ValueError(f"'{text}' is not of the form points=DIGEST said=ID,ID contradicted=ID")
    said, contradicted = (tuple(filter(None, found.get(name, "").split(","))) for name in ("said", "contradicted"))
    if both := set(said).intersection(contradicted):
        raise ValueError(f"the point '{min(both)}' can't be both said and contradicted")
    return Ticks(found["points"], said, contradicted)


_READERS: dict[str, Callable[[str], Any]] = {
    "id": str,
    "time": time_of,
    "seconds": _seconds,
    "kind": _choice("score", "adjudication"),
    "scorer": _choice(*get_args(Scorer)),
    "blind": _flag,
    "independent": _flag,
    "calibration": _flag,
    "preselected": _flag,
    "pinned": _flag,
    "order": _choice(*ORDERS),
    "rubric": str,
    "ticks": _read_ticks,
}
