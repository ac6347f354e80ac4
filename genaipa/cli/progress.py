"""What a run looks like while it runs: a live table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from genaipa.cli.screen import err, number, printable, say
from genaipa.errors import command
from genaipa.runner import Observer
from genaipa.workspace import elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import ConsoleRenderable

    from genaipa.preflight import Ready
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, RunSpec
    from genaipa.runs.tally import Count, Tally

LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_LONGEST_REASON = 300


def tokens(count: int) -> str:
    """A count of tokens in at most five characters."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size * 10:
            return f"{count / size:.0f}{unit}"
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def cached_share(row: Count) -> str:
    """How much of the input came from a cache."""
    return f"{100 * row.usage.cached / row.usage.input:.0f} %" if row.usage.input else ""


def dollars(row: Count) -> str:
    """Money spent, empty where no price is known."""
    if not row.priced:
        return ""
    return f"${row.cost:.2f}" if row.cost >= 1 or row.cost == 0 else f"${row.cost:.4f}"


class Lines(Observer):
    """Plain lines on stderr: at the start, every few seconds, and for whatever wants attention."""

    def __init__(self, asked: Sequence[str]) -> None:
        self._asked = asked
        self._next = 0.0
        self._said: set[str] = set()

    def begun(self, tally: Tally) -> None:
        """Say how much there is to do."""
        rows = [row for (system, _), row in tally.rows.items() if system in self._asked]
        kept = sum(row.kept for row in rows)
        say(
            f"asking {number(sum(row.missing for row in rows), 'question')}"
            + (f"; answered already: {kept}" if kept else "")
        )
        self._next = time.monotonic() + LINE_EVERY

    def recorded(self, record: Record, tally: Tally) -> None:
        """Say each new kind of failure once, and the state every few seconds."""
        if record.error is not None:
            self._once(f"{record.system}: {record.error.message}")
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            say(state(tally))

    def waiting(self, system: str, reason: str) -> None:
        """Say it once."""
        self._once(f"{system}: {reason}", key=f"{system}{reason.partition(';')[0]}")

    def stopped(self, system: str, reason: str) -> None:
        """Say why."""
        say(f"{system} is asked no more: {printable(reason)}")

    def _once(self, text: str, key: str = "") -> None:
        if (key or text) not in self._said:
            self._said.add(key or text)
            say(printable(text)[:_LONGEST_REASON])


def state(tally: Tally) -> str:
    """The whole run in a line."""
    totals = tally.totals()
    kept = totals.answered + totals.refused + totals.truncated
    parts = [f"{kept} of {totals.planned} answered"]
    if totals.failed:
        parts.append(f"{totals.failed} failed")
    if totals.usage and totals.usage.input:
        share = 100 * totals.usage.cached / totals.usage.input
        parts.append(
            f"{tokens(totals.usage.input)} tokens in ({share:.0f} % cached), {tokens(totals.usage.output)} out"
        )
    if totals.cost:
        parts.append(f"${totals.cost:.2f}")
    return ", ".join(parts)


class Table(Observer):
    """A live table: a row for each system and initialization, and what the run waits for."""

    def __init__(self) -> None:
        self._tally: Tally | None = None
        self._waiting: dict[str, str] = {}
        self._failed: dict[str, str] = {}

    def begun(self, tally: Tally) -> None:
        """Show the counts."""
        self._tally = tally

    def recorded(self, record: Record, tally: Tally) -> None:
        """Show the last failure of a system."""
        self._tally = tally
        if record.error is not None:
            self._failed[record.system] = record.error.message
        else:
            self._waiting.pop(record.system, None)

    def waiting(self, system: str, reason: str) -> None:
        """Show what a call waits for."""
        self._waiting[system] = reason

    def stopped(self, system: str, reason: str) -> None:
        """Show why."""
        self._failed[system] = f"asked no more: {reason}"

    def __rich__(self) -> ConsoleRenderable:
        from rich import box
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table as RichTable
        from rich.text import Text

        rows = self._tally.rows if self._tally else {}
        cells = {
            "failed": [str(row.status["failed"] or "") for row in rows.values()],
            "tokens in": [tokens(row.usage.input) if row.usage.input else "" for row in rows.values()],
            "cached": [cached_share(row) for row in rows.values()],
            "out": [tokens(row.usage.output) if row.usage.output else "" for row in rows.values()],
            "cost": [dollars(row) for row in rows.values()],
        }
        # A column that has nothing to say yet would only take room.
        extra = {header: column for header, column in cells.items() if any(column)}
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for header in ("system", "initialization", ""):
            shown.add_column(header)
        for header in ("answers", *extra):
            shown.add_column(header, justify="right", no_wrap=True)
        for index, ((system, initialization), row) in enumerate(rows.items()):
            bar = ProgressBar(total=max(1, row.planned), completed=row.kept, width=20)
            more = (column[index] for column in extra.values())
            shown.add_row(Text(system), initialization, bar, f"{row.kept}/{row.planned}", *more)
        notes = [f"{system}: {reason}" for system, reason in self._waiting.items()]
        notes += [f"{system}: {reason}" for system, reason in self._failed.items()]
        return Group(shown, *(Text(printable(note)[:_LONGEST_REASON], style="yellow") for note in notes[:6]))


@contextlib.contextmanager
def watch(spec: RunSpec, systems: Sequence[Ready], folder: RunFolder, cap: float | None = None) -> Iterator[Observer]:
    """An observer that suits where stderr goes."""
    asked = [ready.resolved.asked for ready in systems if not ready.resolved.manual]
    if not asked:
        yield Observer()
        return
    capped = "" if cap is None else f", for ${cap:.2f} at most"
    say(
        f"run {folder.name}: {', '.join(asked)} on {', '.join(spec.documents)}, "
        f"{spec.conversation} conversations{capped}"
    )
    if not err().is_terminal:
        yield Lines(asked)
        return
    from rich.live import Live

    table = Table()
    with Live(table, console=err(), refresh_per_second=4, transient=True):
        yield table


def on_run(folder: RunFolder, *words: str) -> str:
    """A command about this run, to be printed: these words, then the run's name and where it is."""
    return command("genaipa", *words, folder.name, *elsewhere(folder.path.parents[1]))


def interrupted(folder: RunFolder | None) -> None:
    """The last words after Ctrl-C."""
    if folder is None:
        say("interrupted; nothing was asked yet.")
    else:
        totals = folder.manifest().totals
        kept = totals.answered + totals.refused + totals.truncated
        say(f"interrupted; {number(kept, 'answer')} of {totals.planned} in, all kept.")
        say(f"Go on with: {on_run(folder, 'run', '--resume')}")
