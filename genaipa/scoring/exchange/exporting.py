"""Export scores: the log of events, or a table of the scores in effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import msgspec

from genaipa.errors import UsageError
from genaipa.scoring.answers import occurring
from genaipa.scoring.current import in_effect
from genaipa.scoring.exchange.rows import columns, row_of
from genaipa.scoring.exchange.tables import write_csv, write_xlsx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from genaipa.scoring.answers import Answer
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric

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
    answers: Mapping[str, Answer],
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
    if per_run:
        placed = ((event, [place] if place else []) for place, event in occurring(events, answers))
    else:
        placed = ((event, answers[event.answer].occurrences if event.answer in answers else []) for event in events)
    rows = (row_of(event, places, rubric) for event, places in placed)
    if suffix == ".csv":
        write_csv(file, columns(rubric), rows)
    else:
        write_xlsx(file, "scores", columns(rubric), rows)
