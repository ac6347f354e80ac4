"""The counts of a run as a table that fits where it is shown: by system, with a total, no name like another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import printable
from genaipa.runs.status import Count
from genaipa.systems.provider import short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from genaipa.runs.status import Tally

_GAP = 2
_NARROWEST = 12
"""Characters that names are cut to at least."""
_INDENT = "  "
_NARROWEST_BAR, _WIDEST_BAR = 8, 20


@dataclass(frozen=True)
class _Column:
    """A column; where there is no room for all, those with the highest `leaves` are left out first."""

    header: str
    cell: Callable[[Count], str]
    leaves: int = 0


def tokens(count: int) -> str:
    """A count of tokens in at most five characters."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size * 10:
            return f"{count / size:.0f}{unit}"
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def money(dollars: float) -> str:
    """An amount in US dollars, to the cent, or finer where it is less than a dollar."""
    return f"${dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"


def clock(seconds: float) -> str:
    """A time as minutes and seconds, `1:12`, or with hours, `1:02:12`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _share(row: Count) -> str:
    return f"{100 * row.usage.cached / row.usage.input:.0f} %" if row.usage.input else ""


# Of a run that was taken in from elsewhere nothing was planned.
_ANSWERED = _Column("answered", lambda row: f"{row.status['answered']}/{row.planned or row.kept}")
_FEWER = (
    _Column("refused", lambda row: str(row.status["refused"] or "")),
    _Column("cut off", lambda row: str(row.status["truncated"] or "")),
    _Column("prompt cut", lambda row: str(row.prompt_cut or "")),
    _Column("failed", lambda row: str(row.status["failed"] or "")),
)
_NOT_ASKED = _Column("not asked", lambda row: str(max(0, row.missing - row.status["failed"]) or ""))
_SPENT = (
    _Column("tokens in", lambda row: tokens(row.usage.input) if row.usage.input else "", leaves=3),
    _Column("cached", _share, leaves=5),
    _Column("out", lambda row: tokens(row.usage.output) if row.usage.output else "", leaves=4),
    _Column("cost", lambda row: money(row.cost) if row.cost else "", leaves=1),
)
_CALL_TIME = _Column("call time", lambda row: f"{row.seconds:,.1f} s" if row.seconds else "", leaves=2)

RUNNING = (_ANSWERED, *_FEWER, *_SPENT)
"""The columns while a run goes on."""
ENDED = (_ANSWERED, *_FEWER, _NOT_ASKED, *_SPENT, _CALL_TIME)
"""The columns once it has ended."""


@dataclass(frozen=True)
class Fitted:
    """A table, the headers that there was no room for, and the systems that there were no lines for."""

    table: Table
    dropped: tuple[str, ...]
    hidden: int


def fit(
    tally: Tally, columns: Sequence[_Column], width: int | None, height: int | None = None, *, bars: bool = False
) -> Fitted:
    """The table within this many columns and lines (None for as many as it takes), with `bars` where they have room.

    Columns that are empty, or that there is no room for, are left out. Too many lines lose the
    initializations first; then systems are left out, complete ones first.
    """
    names, rows, hidden = _lines(tally, height)
    total = _sum(tally.rows.values()) if len({system for system, _ in tally.rows}) > 1 else None
    counted = [*rows, *([total] if total else [])]
    cells = {c: [c.cell(row) for row in counted] for c in columns}
    shown = [c for c in columns if any(cells[c])]
    dropped = []
    labels = [*names, _header(tally), *(["all"] if total else [])]
    room = max(map(len, labels))

    def broad() -> int:
        return sum(_GAP + max(len(c.header), *map(len, cells[c])) for c in shown)

    while width is not None and broad() + min(room, max(_NARROWEST, width // 3)) > width:
        least = max(shown, key=lambda c: c.leaves)
        if not least.leaves:
            break
        shown.remove(least)
        dropped.append(least)
    if width is not None:
        room = min(room, max(_NARROWEST, width - broad()))
    made = _table(shown, _header(tally), total=bool(total))
    drawn = [_bar(row, width - broad() - room - _GAP) for row in counted] if bars and width is not None else []
    if drawn and drawn[0] is not None:
        made.add_column("")
    for index, name in enumerate(told_apart(names, room)):
        made.add_row(name, *(cells[c][index] for c in shown), *(bar for bar in drawn[index : index + 1] if bar))
    if total:
        for column, text in zip(made.columns, ("all", *(cells[c][-1] for c in shown), *drawn[-1:]), strict=False):
            column.footer = text or ""
    return Fitted(made, tuple(c.header for c in columns if c in dropped), hidden)


def _bar(row: Count, room: int) -> ProgressBar | None:
    """A progress bar of at most this many characters; None if that is too few."""
    from rich.progress_bar import ProgressBar

    wide = min(_WIDEST_BAR, room)
    return ProgressBar(max(1, row.planned), row.kept, width=wide) if wide >= _NARROWEST_BAR else None


def _table(columns: Sequence[_Column], header: str, *, total: bool) -> Table:
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, padding=(0, _GAP - 1, 0, 0), pad_edge=False, show_edge=False, show_footer=total)
    made.add_column(header, no_wrap=True)
    for column in columns:
        made.add_column(column.header, justify="right", no_wrap=True)
    return made


def _header(tally: Tally) -> str:
    """The header of the column of names, with the initialization if it is the same for all."""
    used = {initialization for _, initialization in tally.rows}
    return f"system ({used.pop()})" if len(used) == 1 else "system"


def _lines(tally: Tally, height: int | None) -> tuple[list[str], list[Count], int]:
    """The names and counts of the lines, and how many systems there was no line for."""
    systems: dict[str, list[tuple[str, Count]]] = {}
    names = short_names(system for system, _ in tally.rows)
    for (system, initialization), row in tally.rows.items():
        systems.setdefault(printable(names[system]), []).append((_INDENT + initialization, row))
    each = {system: _sum(row for _, row in below) for system, below in systems.items()}
    if any(len(below) > 1 for below in systems.values()):
        lines = [pair for system, below in systems.items() for pair in ((system, each[system]), *below)]
        if height is None or len(lines) <= height:
            return [name for name, _ in lines], [row for _, row in lines], 0
    kept = sorted(each, key=lambda system: not each[system].missing)[: None if height is None else max(1, height)]
    lines = [(system, row) for system, row in each.items() if system in kept]
    return [name for name, _ in lines], [row for _, row in lines], len(each) - len(lines)


def _sum(rows: Iterable[Count]) -> Count:
    total = Count()
    for row in rows:
        total.add(row)
        total.planned += row.planned
    return total


def told_apart(names: Sequence[str], room: int) -> list[str]:
    """The names in at most this many characters, cut where they stay as different as they were.

    The middle goes first, since a model's name says most at its two ends; a number follows names not kept
    apart by any one cut.
    """
    if all(len(name) <= room for name in names):
        return list(names)
    wanted = len(set(names))
    for head in sorted(range(room), key=lambda head: abs(2 * head - room + 1)):
        cut = [_cut(name, head, room) for name in names]
        if len(set(cut)) == wanted:
            return cut
    numbers = {name: f"~{number}" for number, name in enumerate(dict.fromkeys(names), 1)}
    room -= max(map(len, numbers.values()))
    return [_cut(name, room // 2, room) + numbers[name] for name in names]


def _cut(name: str, head: int, room: int) -> str:
    if len(name) <= room:
        return name
    tail = room - 1 - head
    return f"{name[:head]}…{name[-tail:] if tail else ''}"
