"""Goldens as files: JSON with a line for each column; and how what the program makes now differs from one.

Of a study of ours a golden has each value, equal neighbours written once: `[["no", 24], "yes"]`. Of a published study
it has digests and sums alone, from which no row can be had back.
"""

from __future__ import annotations

import hashlib
import json
import math
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from reading import LOST_COLUMNS, LOST_TABLES, NEW_COLUMNS, NEW_TABLES, SCALES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reading import Reading

    Kept = dict[str, dict[str, Any]]
    """Table, with the frame under `frame` and the numbers in sentences under `numbers` → column → its content."""

FOLDER = Path(__file__).with_name("kept")
FRAME = "frame"
NUMBERS = "numbers"
_NEAR = 1e-12
_DIGEST = 10
_MANY = 40
"""Different texts longer than a digest from which on a column has their digests."""
_LONG = 200
"""Characters of a column that is written once."""
_SHOWN = 12
"""Differences that a failure shows, at most."""


def content_of(reading: Reading) -> Kept:
    """Return each value of a study."""
    frames = reading.tables if reading.frame is None else {FRAME: reading.frame, **reading.tables}
    kept = {name: {str(column): _column(frame[column]) for column in frame} for name, frame in frames.items()}
    numbers = {name: {"values": list(texts)} for name, texts in reading.numbers.items() if texts}
    return {**kept, NUMBERS: numbers} if numbers else kept


def _column(column: pd.Series) -> dict[str, Any]:
    """Return a column's values; of categories, their order as well. Many long texts are digests."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return {"categories": _shortened([*map(str, column.cat.categories)]), "values": column.cat.codes.tolist()}
    return {"values": _shortened([_plain(value) for value in column.astype(object)])}


def _shortened(values: list[Any]) -> list[Any]:
    if len({value for value in values if isinstance(value, str) and len(value) > _DIGEST}) <= _MANY:
        return values
    return [
        hashlib.sha256(value.encode()).hexdigest()[:_DIGEST] if isinstance(value, str) else value for value in values
    ]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, a float with 15 digits; None for what is absent."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return float(f"{value:.15g}") if isinstance(value, float) else value


def summary_of(content: Kept) -> Kept:
    """Return digests and sums in place of values: what may be kept of published data."""
    return {table: {name: _summary(column) for name, column in columns.items()} for table, columns in content.items()}


def _summary(column: dict[str, Any]) -> dict[str, Any]:
    values = column["values"]
    known = [(place, value) for place, value in enumerate(values, 1) if value is not None]
    if "categories" in column or not any(isinstance(value, float) for _, value in known):
        text = json.dumps([column.get("categories"), values])
        return {"rows": len(values), "digest": hashlib.sha256(text.encode()).hexdigest()}
    numbers = [(place, float(value)) for place, value in known]
    places = hashlib.sha256(json.dumps([place for place, _ in numbers]).encode()).hexdigest()
    sums = math.fsum(value for _, value in numbers), math.fsum(place * value for place, value in numbers)
    squares = math.fsum(value * value for _, value in numbers)
    return {"rows": len(values), "known": len(numbers), "places": places, "sums": [*map(_plain, (*sums, squares))]}


def write(case: str, content: Kept) -> None:
    """Write a golden, with a line for each column; a long one that was there before is named by its table."""
    places: dict[str, str] = {}
    tables = []
    for table, columns in content.items():
        lines = {name: _line(column) for name, column in columns.items()}
        same = {name: places.setdefault(f"{name} {line}", table) for name, line in lines.items() if len(line) > _LONG}
        lines |= {name: json.dumps(place) for name, place in same.items() if place != table}
        tables.append(",\n".join(f"  {json.dumps(name)}: {line}" for name, line in lines.items()))
    whole = ",\n".join(f"{json.dumps(table)}: {{\n{lines}\n}}" for table, lines in zip(content, tables, strict=True))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{case}.json").write_text(f"{{{whole}}}\n", encoding="utf-8")


def _line(column: dict[str, Any]) -> str:
    if "values" in column:
        runs = ((value, len([*group])) for value, group in groupby(column["values"], key=_typed))
        column = column | {"values": [value[1] if count == 1 else [value[1], count] for value, count in runs]}
    return json.dumps(column, ensure_ascii=False, separators=(",", ":"))


def _typed(value: Any) -> tuple[type, Any]:
    """Tell 1, 1.0 and True apart."""
    return type(value), value


def load(case: str) -> Kept:
    """Read a golden."""
    content: Kept = json.loads((FOLDER / f"{case}.json").read_text(encoding="utf-8"))
    for columns in content.values():
        columns |= {name: content[place][name] for name, place in columns.items() if isinstance(place, str)}
    each = {id(column): column for columns in content.values() for column in columns.values() if "values" in column}
    for column in each.values():
        runs = (entry if isinstance(entry, list) else (entry, 1) for entry in column["values"])
        column["values"] = [value for value, count in runs for _ in range(count)]
    return content


def differences(case: str, kept: Kept, content: Kept) -> list[str]:
    """Return a sentence for each of the first differences: case, table, column, row, the golden's value, today's."""
    told = [f"{case}: {difference}" for difference in _differences(kept, content)]
    return [*told[:_SHOWN], *([f"and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else [])]


def _differences(kept: Kept, content: Kept) -> Iterator[str]:
    for table in _either(kept, content, LOST_TABLES, NEW_TABLES):
        if table not in content or table not in kept:
            yield f"the table '{table}' is {'gone' if table in kept else 'new'}"
            continue
        before, now = kept[table], content[table]
        short = table.rpartition(": ")[2]
        prefix = "" if short == FRAME else f"{short}."
        lost, new = ({name.removeprefix(prefix) for name in names} for names in (LOST_COLUMNS, NEW_COLUMNS))
        if short == NUMBERS:
            lost |= {f"note of {name}" for name in LOST_TABLES}
            new |= {f"note of {name}" for name in NEW_TABLES}
        for name in _either(before, now, lost, new):
            place = f"{table}, column '{name}'"
            if name not in now or name not in before:
                yield f"{place} is {'gone' if name in before else 'new'}"
            else:
                yield from (
                    f"{place}, {what}" for what in _of_column(before[name], now[name], SCALES.get(prefix + name, 1))
                )


def _either(before: Kept, now: Kept, lost: Iterable[str], new: Iterable[str]) -> list[str]:
    """Return the names of both sides, but for those that are known to have gone or come."""
    lost, new = set(lost), set(new)
    short = {name: name.rpartition(": ")[2] for name in dict.fromkeys((*before, *now))}
    gone = {name for name in before if short[name] in lost and name not in now}
    come = {name for name in now if short[name] in new and name not in before}
    return [name for name in short if name not in gone | come]


def _of_column(before: dict[str, Any], now: dict[str, Any], scale: float) -> Iterator[str]:
    if "values" not in before:
        names = ("rows", "digest", "known", "places")
        sums = zip(("sum", "weighted sum", "sum of squares"), before.get("sums", ()), now.get("sums", ()), strict=False)
        pairs = [(name, before.get(name), now.get(name), 1.0) for name in names]
        pairs += [(*each, factor) for each, factor in zip(sums, (scale, scale, scale * scale), strict=False)]
        yield from (f"{name}: {was!r} was, {value!r} is" for name, was, value, by in pairs if not _same(was, value, by))
        return
    if before.get("categories") != now.get("categories"):
        yield f"categories: {before.get('categories')} were, {now.get('categories')} are"
    if len(before["values"]) != len(now["values"]):
        yield f"{len(before['values'])} rows were, {len(now['values'])} are"
        return
    for row, (was, value) in enumerate(zip(_named(before), _named(now), strict=True)):
        if not _same(was, value, scale):
            yield f"row {row}: {was!r} was, {value!r} is"


def _named(column: dict[str, Any]) -> list[Any]:
    """Return the values, with categories in place of their codes."""
    if "categories" not in column:
        return list(column["values"])
    return [column["categories"][code] if code >= 0 else None for code in column["values"]]


def _same(was: Any, value: Any, scale: float) -> bool:
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (was, value))
    if not numbers:
        return type(was) is type(value) and was == value
    return math.isclose(was * scale, value, rel_tol=_NEAR, abs_tol=_NEAR)
