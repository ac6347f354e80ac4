"""The counts of a run as a table that fits where it is shown: live on a terminal, now and then in a line elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from genaipa.cli.terminal.console import err, say, write_flags
from genaipa.errors import command
from genaipa.execution.observer import Observer
from genaipa.kinds import in_words
from genaipa.runs.procedure import find_procedure_plan
from genaipa.runs.status import Count, Tally
from genaipa.systems.base import Usage
from genaipa.systems.provider import short_names
from genaipa.words import number, printable
from genaipa.workspace import elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, ConsoleRenderable
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import Ready
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.procedure import ProcedurePlan
    from genaipa.runs.records import Record

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


ASK_FROM = 1.0
"""Dollars from which a person at a terminal is asked first."""
LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_LONGEST_REASON = 300
_MOST_NOTES = 6
_AROUND = 6
"""Lines around the table's rows: its head, its total, the count of hidden rows, and the cursor's line."""
_SETTLED = 2.0
"""Seconds before which nothing is said about the time left."""
_LINES_OF_FILES = 5
"""Lines on the files of a pull where there is no terminal."""


@dataclass(eq=False)
class Progress(Observer):
    """Progress that every display shows: elapsed time, replies so far, and an estimate of the rest."""

    asked: Sequence[str]
    cap: float | None = None
    now: Callable[[], float] = time.monotonic
    _since: float = field(default=0.0, init=False)
    _tally: Tally = field(default_factory=Tally, init=False)
    _before: dict[str, int] = field(default_factory=dict, init=False)
    _stopped: dict[str, str] = field(default_factory=dict, init=False)
    _out: dict[str, tuple[int, int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._since = self.now()

    def begun(self, tally: Tally) -> None:
        """Start the clock."""
        self._since, self._tally = self.now(), tally
        self._before = {system: kept for system, (kept, _) in self._counts().items()}

    def counted(self, tally: Tally) -> None:
        """Show these counts from now on."""
        self._tally = tally

    def said(self, sentence: str) -> None:
        """Say it."""
        say(sentence)

    def stopped(self, system: str, reason: str) -> None:
        """Expect no more of it."""
        self._stopped[system] = reason

    def out(self, system: str, asked: int, done: int) -> None:
        """Show what is out in batches."""
        if system not in self._out:
            # Another process may have handed it in: its pace is not this one's.
            self._before[system] = self._before.get(system, 0) + done
        self._out[system] = asked, done

    def _counts(self) -> dict[str, tuple[int, int]]:
        """System → answers in and answers missing, of the questions asked here and now."""
        counts = dict.fromkeys(self.asked, (0, 0))
        for (system, _), row in self._tally.rows.items():
            if system in counts:
                kept, missing = counts[system]
                counts[system] = (kept + row.kept, missing + row.missing)
        return counts

    def state(self) -> list[str]:
        """The whole run in a few words each: answers, batches, failures, money, time."""
        rows = [row for (system, _), row in self._tally.rows.items() if system in self.asked]
        counted = {status: sum(row.status[status] for row in rows) for status in ("refused", "truncated", "failed")}
        said = [f"{sum(row.kept for row in rows):,} of {sum(row.planned for row in rows):,} done"]
        said += [
            f"{count:,} {word}"
            for word, count in zip(("refused", "cut off", "failed"), counted.values(), strict=True)
            if count
        ]
        said[1:1] = self._in_batches(sum(row.missing - row.status["failed"] for row in rows))
        cost = self._tally.cost
        if cost or self.cap is not None:
            said.append(money(cost) + (f" of {_cap(self.cap)}" if self.cap is not None else ""))
        elapsed, left = self.now() - self._since, self._left()
        return [*said, clock(elapsed) + (f", about {clock(left)} left" if left else "")]

    def _in_batches(self, missing: int) -> list[str]:
        """Words on the batches that are out, and on what waits beside them."""
        asked, done = (sum(counts) for counts in zip(*self._out.values(), strict=True)) if self._out else (0, 0)
        if not asked:
            return []
        waiting = max(0, missing - asked)
        running = f"{asked:,} in batches" + (f" ({done:,} done there)" if done else "")
        return [running, *([f"{waiting:,} waiting"] if waiting else [])]

    def _left(self) -> float | None:
        """Seconds that the slowest system will need at its pace so far; None while there is no telling."""
        elapsed, longest = self.now() - self._since, 0.0
        for system, (kept, missing) in self._counts().items():
            there = self._out.get(system, (0, 0))[1]
            done, missing = kept + there - self._before.get(system, 0), missing - there  # noqa: PLW2901
            if not missing or system in self._stopped:
                continue
            if done <= 0 or elapsed < _SETTLED:
                return None
            longest = max(longest, elapsed * missing / done)
        return longest


@dataclass(eq=False)
class Lines(Progress):
    """Plain lines on stderr: at the start, every few seconds, and for each warning."""

    _next: float = field(default=0.0, init=False)
    _said: set[str] = field(default_factory=set, init=False)

    def begun(self, tally: Tally) -> None:
        """Say how much there is to do."""
        super().begun(tally)
        kept = sum(kept for kept, _ in self._counts().values())
        missing = sum(missing for _, missing in self._counts().values())
        say(f"asking {number(missing, 'question')}" + (f"; answered already: {kept:,}" if kept else ""))
        self._next = self.now() + LINE_EVERY

    def recorded(self, record: Record, tally: Tally) -> None:
        """Say each new kind of failure once, and the state every few seconds."""
        self._tally = tally
        if record.error is not None:
            self._once(_about(record.system, record.error.message))
        self._now_and_then()

    def counted(self, tally: Tally) -> None:
        """Say the state every few seconds."""
        super().counted(tally)
        self._now_and_then()

    def _now_and_then(self) -> None:
        if self.now() >= self._next:
            self._next = self.now() + LINE_EVERY
            say(" · ".join(self.state()))

    def out(self, system: str, asked: int, done: int) -> None:
        """Say the state when it has changed, every few seconds."""
        before = self._out.get(system)
        super().out(system, asked, done)
        if before not in (None, (asked, done)):
            self._now_and_then()

    def state(self) -> list[str]:
        """Add the tokens, which a table has in columns."""
        *said, when = super().state()
        usage = Usage()
        for row in self._tally.rows.values():
            usage += row.usage
        if usage.input:
            said.append(f"{tokens(usage.input + usage.output)} tokens, {100 * usage.cached / usage.input:.0f} % cached")
        return [*said, when]

    def waiting(self, system: str, reason: str) -> None:
        """Say it once."""
        self._once(_about(system, reason), key=f"{system}{reason.partition(';')[0]}")

    def stopped(self, system: str, reason: str) -> None:
        """Say why."""
        super().stopped(system, reason)
        say(f"{system} is asked no more: {reason}")

    def _once(self, text: str, key: str = "") -> None:
        if (key or text) not in self._said:
            self._said.add(key or text)
            say(text[:_LONGEST_REASON])


@dataclass(eq=False)
class ProgressTable(Progress):
    """A live table of systems and initializations, with the reasons for waiting, and the whole run in the last line."""

    _notes: dict[str, str] = field(default_factory=dict, init=False)
    _failed: dict[str, str] = field(default_factory=dict, init=False)

    def recorded(self, record: Record, tally: Tally) -> None:
        """Show the last failure of a system."""
        self._tally = tally
        if record.error is not None:
            self._failed[record.system] = record.error.message
        else:
            self._notes.pop(record.system, None)

    def waiting(self, system: str, reason: str) -> None:
        """Show the reason that a call waits for."""
        self._notes[system] = reason

    def stopped(self, system: str, reason: str) -> None:
        """Show why."""
        super().stopped(system, reason)
        self._failed[system] = f"asked no more: {reason}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[ConsoleRenderable]:
        from rich.text import Text

        width = options.max_width
        last = [Text(line, style="bold") for line in joined(self.state(), width)]
        room = console.size.height - len(last) - _AROUND
        shown: list[Text] = []
        notes = [_about(*found) for kind in (self._notes, self._failed) for found in kind.items()]
        for note in notes[:_MOST_NOTES]:
            text = Text(printable(write_flags(note))[:_LONGEST_REASON], style="yellow")
            taken = len(text.wrap(console, width))
            if taken < room:
                shown.append(text)
                room -= taken
        fitted = fit(self._tally, RUNNING, width, room, bars=True)
        yield fitted.table
        if fitted.hidden:
            yield Text(f"and {number(fitted.hidden, 'more system')}")
        yield from shown
        yield from last


def _at_once(plan: ProcedurePlan, documents: int, repetitions: int) -> int:
    """The conversations of a system that can go on side by side; each asks a question at a time."""
    ways = len(plan.initializations) * len(plan.wordings) * max(1, len(plan.prompts))
    return documents * ways * repetitions


def _cap(dollars: float) -> str:
    """A spending cap: as somebody chose it, which is mostly in whole cents."""
    return f"${dollars:,.2f}" if round(dollars, 2) == dollars else money(dollars)


def _about(system: str, reason: str) -> str:
    """A note about a system, headed by its name unless it begins with it."""
    return reason if reason.startswith(system) else f"{system}: {reason}"


def joined(words: Sequence[str], width: int) -> list[str]:
    """The words with dots between them, in as many lines as it takes, none of them broken."""
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} · {word}" if lines else word
        lines[-1:] = [longer] if not lines or len(longer) <= width else [lines[-1], word]
    return lines


@contextlib.contextmanager
def files_fetched(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many files of a pull are done."""
    said, console = f"pulling {title}", err()
    if console.is_terminal:
        with console.status(said) as status:
            yield lambda done, total: status.update(f"{said}: looked for {done} of {total} files")
        return

    def line(done: int, total: int) -> None:
        if done * _LINES_OF_FILES // total > (done - 1) * _LINES_OF_FILES // total:
            say(f"{said}: looked for {done} of {total} files")

    yield line


class TerminalObserver(Observer):
    """Reports on stderr, asks before money is spent, and shows progress as suits a terminal or a pipe."""

    def __init__(self, *, yes: bool = False, connections: int = 0) -> None:
        """`connections` is the number of calls that may be under way at once, per system; 0 where it doesn't matter."""
        self._yes, self._connections = yes, connections

    def said(self, sentence: str) -> None:
        """Say it."""
        say(sentence)

    @contextlib.contextmanager
    def pulling(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Show how many files are fetched."""
        with files_fetched(title) as shown:
            yield shown

    def ready(self, run: PreparedRun, systems: Sequence[Ready], cap: float | None) -> None:
        """Ask whoever sits at the terminal whether to spend the money."""
        _confirm_cost(run, systems, yes=self._yes or cap is not None)

    def _lanes(self, run: PreparedRun, plan: ProcedurePlan, systems: Sequence[Ready]) -> str:
        """The kind of conversations, or how few of them go on at once where a remote system could be asked faster."""
        at_once = _at_once(plan, run.corpus.asked if run.corpus else len(plan.documents), run.spec.repetitions)
        remote = any(one.resolved.record and one.resolved.record.is_remote for one in systems)
        if plan.conversation == "independent" or not remote or at_once >= self._connections:
            return f"{plan.conversation} conversations"
        return (
            f"{number(at_once, 'conversation')} at a time (--conversation independent asks {self._connections} "
            "questions at once)"
        )

    @contextlib.contextmanager
    def watching(self, run: PreparedRun, systems: Sequence[Ready], cap: float | None) -> Iterator[Observer]:
        """Show the progress: a live table on a terminal, lines elsewhere."""
        asked = [ready.resolved.asked for ready in systems if not ready.resolved.manual]
        if not asked:
            yield self
            return
        capped = "" if cap is None else f", for {_cap(cap)} at most"
        if plan := find_procedure_plan(run.spec):
            sets = ", ".join(dict.fromkeys(plan.questions.values()))
            what = f"{run.subject}, question set {sets}, {self._lanes(run, plan, systems)}"
        else:
            what = f"the {in_words(run.spec)}" if run.spec.plan.label else f"the task '{run.spec.task}'"
        say(f"run {run.open().name}: {', '.join(short_names(asked).values())} on {what}{capped}")
        if not err().is_terminal:
            yield Lines(asked, cap)
            return
        from rich.live import Live

        table = ProgressTable(asked, cap)
        with Live(table, console=err(), refresh_per_second=4, transient=True):
            yield table


def _confirm_cost(run: PreparedRun, systems: Sequence[Ready], *, yes: bool) -> None:
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from genaipa.execution.ready import estimate_run

    costs = [row.cost for ready in systems for row in estimate_run(run, ready)]
    expected = sum(cost for cost in costs if cost is not None)
    asked = f"The whole run may cost up to ${expected:.2f}. Go on?"
    if expected >= ASK_FROM and not typer.confirm(asked, default=False, err=True):
        raise typer.Exit(1)


def on_run(folder: RunFolder, *words: str) -> str:
    """A command about this run, to be printed: these words, then the run's name and where it is."""
    return command("genaipa", *words, folder.name, *elsewhere(folder.path.parents[1]))


def interrupted(folder: RunFolder | None, again: Sequence[str] = ()) -> None:
    """The last words after Ctrl-C; the next command needs `again` these options of the stopped one."""
    from genaipa.runs.batches import batches_out, out_sentence

    if folder is None:
        say("interrupted; nothing was asked yet.")
    else:
        totals = folder.outline().totals
        kept = totals.answered + totals.refused + totals.truncated
        say(f"interrupted; {number(kept, 'answer')} of {totals.planned:,} in, all kept.")
        if out := list(batches_out(folder.path)):
            say(f"{out_sentence(out)}. They go on at the provider, and nothing of them is lost.")
        say(f"Go on with: {on_run(folder, 'run', *again, '--resume')}")
