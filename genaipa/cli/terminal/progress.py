"""The progress of a run: bars that rich draws on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from genaipa.cli.terminal.console import print_to_stderr, rewrite_options_as_flags, stderr_console
from genaipa.errors import format_shell_command
from genaipa.execution.observer import Observer
from genaipa.kinds import describe_task_and_plan_or_empty
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.runs.status import AnswerCounts, AnswerTally
from genaipa.systems.base import Usage
from genaipa.systems.provider import shorten_system_names
from genaipa.words import format_count, replace_unprintable_characters
from genaipa.workspace import workspace_option_if_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.progress import Progress, TaskID

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import ReadySystem
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.procedure import ProcedurePlan
    from genaipa.runs.records import Record


def format_tokens(count: int) -> str:
    """Format a count of tokens in at most five characters."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size * 10:
            return f"{count / size:.0f}{unit}"
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def format_dollars(dollars: float) -> str:
    """Format an amount in US dollars, to the cent, or finer where it is less than a dollar."""
    return f"${dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"


def format_duration_as_m_ss_or_h_mm_ss(seconds: float) -> str:
    """Format a time as minutes and seconds, `1:12`, or with hours, `1:02:12`."""
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"


ASK_FROM = 1.0
"""Dollars from which a person at a terminal is asked first."""
LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_LONGEST_REASON = 300
_MOST_NOTES = 6
_PACE = 600.0
"""Seconds back to which a system's pace is taken from."""
_LINES_OF_FILES = 5
"""Lines on the files of a pull where there is no terminal."""


@dataclass(eq=False)
class RunProgress(Observer):
    """Progress that every display shows: counts, money, elapsed time, and an estimate of the rest."""

    systems: Sequence[str]
    cap: float | None = None
    now: Callable[[], float] = time.monotonic
    _since: float = field(default=0.0, init=False)
    _tally: AnswerTally = field(default_factory=AnswerTally, init=False)
    _stopped: set[str] = field(default_factory=set, init=False)
    _batches: dict[str, tuple[int, int]] = field(default_factory=dict, init=False)
    _bars: Progress = field(init=False)
    _tasks: dict[str, TaskID] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._since, self._bars = self.now(), _make_progress_bars(self.now)

    def on_run_started(self, tally: AnswerTally) -> None:
        """Start the clock, with a bar for each system."""
        self._since, self._tally = self.now(), tally
        names = shorten_system_names(self.systems)
        for system in self.systems:
            count = self._sum_system_counts(system)
            self._tasks[system] = self._bars.add_task(
                replace_unprintable_characters(names[system]),
                total=count.planned,
                completed=count.answer_count,
                failed="",
            )
            self._update_bar(system)

    def on_record_saved(self, record: Record, tally: AnswerTally) -> None:
        """Show these counts from now on."""
        self._tally = tally
        self._update_bar(record.system)

    def on_counts_updated(self, tally: AnswerTally) -> None:
        """Show these counts from now on."""
        self._tally = tally
        for system in self._tasks:
            self._update_bar(system)

    def on_note(self, sentence: str) -> None:
        """Say it."""
        print_to_stderr(sentence)

    def on_system_stopped(self, system: str, reason: str) -> None:  # noqa: ARG002 - what the displays show
        """Expect no more of it."""
        self._stopped.add(system)

    def on_batch_progress(self, system: str, asked: int, done: int) -> None:
        """Show what is out in batches."""
        self._batches[system] = asked, done
        self._update_bar(system)

    def _update_bar(self, system: str) -> None:
        """Move the bar of a system to where it is now; what its provider has done counts."""
        if system in self._tasks:
            count, (_, done) = self._sum_system_counts(system), self._batches.get(system, (0, 0))
            failed = count.status["failed"]
            self._bars.update(
                self._tasks[system],
                total=count.planned,
                completed=count.answer_count + done,
                failed=f"{failed:,} failed" if failed else "",
            )

    def _sum_system_counts(self, system: str) -> AnswerCounts:
        total = AnswerCounts()
        for (name, _), row in self._tally.rows.items():
            if name == system:
                total.add_counts(row)
        return total

    def list_state_facts(self) -> list[str]:
        """Describe the whole run in a few words each: answers, batches, failures, money, time."""
        rows = [row for (system, _), row in self._tally.rows.items() if system in self.systems]
        usage = sum((row.usage for row in self._tally.rows.values()), Usage())
        counted = {status: sum(row.status[status] for row in rows) for status in ("refused", "truncated", "failed")}
        facts = [f"{sum(row.answer_count for row in rows):,} of {sum(row.planned for row in rows):,} done"]
        facts += [
            f"{count:,} {word}"
            for word, count in zip(("refused", "cut off", "failed"), counted.values(), strict=True)
            if count
        ]
        facts[1:1] = self._list_batch_state_facts(sum(row.missing_count - row.status["failed"] for row in rows))
        cost = self._tally.cost
        if cost or self.cap is not None:
            facts.append(format_dollars(cost) + (f" of {_format_cap(self.cap)}" if self.cap is not None else ""))
        if usage.input:
            facts.append(
                f"{format_tokens(usage.input + usage.output)} tokens, {100 * usage.cached / usage.input:.0f} % cached"
            )
        elapsed, remaining = self.now() - self._since, self._estimate_remaining_seconds()
        return [
            *facts,
            format_duration_as_m_ss_or_h_mm_ss(elapsed)
            + (f", about {format_duration_as_m_ss_or_h_mm_ss(remaining)} left" if remaining else ""),
        ]

    def _list_batch_state_facts(self, missing_answer_count: int) -> list[str]:
        """Describe the batches that are out, and on what waits beside them."""
        requests, done = (
            (sum(counts) for counts in zip(*self._batches.values(), strict=True)) if self._batches else (0, 0)
        )
        if not requests:
            return []
        waiting = max(0, missing_answer_count - requests)
        running = f"{requests:,} in batches" + (f" ({done:,} done there)" if done else "")
        return [running, *([f"{waiting:,} waiting"] if waiting else [])]

    def _estimate_remaining_seconds(self) -> float | None:
        """Return the seconds that the slowest system needs at its pace so far; None while there is no telling."""
        open_tasks = [
            task
            for system, task_id in self._tasks.items()
            if system not in self._stopped and not (task := self._bars.tasks[task_id]).finished
        ]
        times = [task.time_remaining for task in open_tasks]
        return None if None in times else max(filter(None, times), default=None)


@dataclass(eq=False)
class LineProgress(RunProgress):
    """Plain lines on stderr: at the start, every few seconds, and for each warning."""

    _next: float = field(default=0.0, init=False)
    _sentences: set[str] = field(default_factory=set, init=False)

    def on_run_started(self, tally: AnswerTally) -> None:
        """Say how much there is to do."""
        super().on_run_started(tally)
        counts = [self._sum_system_counts(system) for system in self.systems]
        answered = sum(count.answer_count for count in counts)
        missing = sum(count.missing_count for count in counts)
        print_to_stderr(
            f"asking {format_count(missing, 'question')}" + (f"; answered already: {answered:,}" if answered else "")
        )
        self._next = self.now() + LINE_EVERY

    def on_record_saved(self, record: Record, tally: AnswerTally) -> None:
        """Say each new kind of failure once, and the state every few seconds."""
        super().on_record_saved(record, tally)
        if record.error is not None:
            self._say_once(_format_system_note(record.system, record.error.message))
        self._say_state_unless_said_recently()

    def on_counts_updated(self, tally: AnswerTally) -> None:
        """Say the state every few seconds."""
        super().on_counts_updated(tally)
        self._say_state_unless_said_recently()

    def _say_state_unless_said_recently(self) -> None:
        if self.now() >= self._next:
            self._next = self.now() + LINE_EVERY
            print_to_stderr(" · ".join(self.list_state_facts()))

    def on_batch_progress(self, system: str, asked: int, done: int) -> None:
        """Say the state when it has changed, every few seconds."""
        before = self._batches.get(system)
        super().on_batch_progress(system, asked, done)
        if before not in (None, (asked, done)):
            self._say_state_unless_said_recently()

    def on_wait(self, system: str, reason: str) -> None:
        """Say it once."""
        self._say_once(_format_system_note(system, reason), deduplication_key=f"{system}{reason.partition(';')[0]}")

    def on_system_stopped(self, system: str, reason: str) -> None:
        """Say why."""
        super().on_system_stopped(system, reason)
        print_to_stderr(f"genaipa stopped asking {system}: {reason}")

    def _say_once(self, text: str, deduplication_key: str = "") -> None:
        if (deduplication_key or text) not in self._sentences:
            self._sentences.add(deduplication_key or text)
            print_to_stderr(text[:_LONGEST_REASON])


@dataclass(eq=False)
class WarningProgress(LineProgress):
    """Lines for warnings alone."""

    def on_run_started(self, tally: AnswerTally) -> None:
        """Know the counts."""
        RunProgress.on_run_started(self, tally)

    def _say_state_unless_said_recently(self) -> None:
        """Say no state."""


@dataclass(eq=False)
class LiveProgress(RunProgress):
    """A live display: the whole run first, then the reasons for waiting, and a bar for each system."""

    _notes: dict[str, str] = field(default_factory=dict, init=False)
    _failed: dict[str, str] = field(default_factory=dict, init=False)

    def on_record_saved(self, record: Record, tally: AnswerTally) -> None:
        """Show the last failure of a system."""
        super().on_record_saved(record, tally)
        if record.error is not None:
            self._failed[record.system] = record.error.message
        else:
            self._notes.pop(record.system, None)

    def on_wait(self, system: str, reason: str) -> None:
        """Show the reason that a call waits for."""
        self._notes[system] = reason

    def on_system_stopped(self, system: str, reason: str) -> None:
        """Show why."""
        super().on_system_stopped(system, reason)
        self._failed[system] = f"no longer asked: {reason}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        for line in join_facts_into_lines(self.list_state_facts(), options.max_width):
            yield Text(line, style="bold")
        for note in [_format_system_note(*pair) for notes in (self._notes, self._failed) for pair in notes.items()][
            :_MOST_NOTES
        ]:
            yield Text(replace_unprintable_characters(rewrite_options_as_flags(note))[:_LONGEST_REASON], style="yellow")
        yield self._bars.get_renderable()


def _make_progress_bars(get_time: Callable[[], float]) -> Progress:
    """Make the bars of the systems, which know their pace; a name is folded rather than cut."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
        BarColumn(12),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[failed]}", style="red", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        auto_refresh=False,
        get_time=get_time,
        speed_estimate_period=_PACE,
    )


def _count_parallel_conversations(plan: ProcedurePlan, document_count: int, repetitions: int) -> int:
    """Count the conversations of a system that can go on side by side; each asks a question at a time."""
    ways = len(plan.initializations) * len(plan.wordings) * max(1, len(plan.prompts))
    return document_count * ways * repetitions


def _format_cap(dollars: float) -> str:
    """Format a spending cap as somebody chose it, which is mostly in whole cents."""
    return f"${dollars:,.2f}" if round(dollars, 2) == dollars else format_dollars(dollars)


def _format_system_note(system: str, reason: str) -> str:
    """Format a note about a system, headed by its name unless it begins with it."""
    return reason if reason.startswith(system) else f"{system}: {reason}"


def join_facts_into_lines(facts: Sequence[str], width: int) -> list[str]:
    """Join the facts with dots between them, in as many lines as it takes, none of them broken."""
    lines: list[str] = []
    for word in facts:
        longer = f"{lines[-1]} · {word}" if lines else word
        lines[-1:] = [longer] if not lines or len(longer) <= width else [lines[-1], word]
    return lines


@contextlib.contextmanager
def show_count_of_pulled_files(dataset_title: str) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many files of a pull are done."""
    message, console = f"pulling {dataset_title}", stderr_console()
    if console.is_terminal:
        with console.status(message) as status:
            yield lambda done, total: status.update(f"{message}: {done} of {total} files checked")
        return

    def print_count_of_checked_files_sometimes(done: int, total: int) -> None:
        if done * _LINES_OF_FILES // total > (done - 1) * _LINES_OF_FILES // total:
            print_to_stderr(f"{message}: {done} of {total} files checked")

    yield print_count_of_checked_files_sometimes


class TerminalObserver(Observer):
    """Reports on stderr, asks before money is spent, and shows progress as suits a terminal or a pipe."""

    def __init__(self, *, yes: bool = False, connections: int = 0, launched: bool = False) -> None:
        """Take the number of calls that may be under way at once, per system, as `connections`; 0 if it doesn't matter.

        Of a slice that a driver `launched`, the driver shows the progress.
        """
        self._yes, self._connections, self._launched = yes, connections, launched
        self.sentences: list[str] = []
        """What it said."""

    def on_note(self, sentence: str) -> None:
        """Say it once."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)
            print_to_stderr(sentence)

    @contextlib.contextmanager
    def show_download(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Show how many files are fetched."""
        with show_count_of_pulled_files(title) as report_files:
            yield report_files

    def on_systems_ready(self, run: PreparedRun, systems: Sequence[ReadySystem], cap: float | None) -> None:
        """Ask whoever sits at the terminal whether to spend the money."""
        _confirm_cost_if_on_terminal(run, systems, skip_question=self._yes or cap is not None)

    def _describe_conversations_or_parallelism(
        self, run: PreparedRun, plan: ProcedurePlan, systems: Sequence[ReadySystem]
    ) -> str:
        """Name the kind of conversations, or how few go on at once where a remote system could be asked faster."""
        at_once = _count_parallel_conversations(
            plan, run.corpus.asked if run.corpus else len(plan.documents), run.spec.repetitions
        )
        remote = any(
            system.resolved.provider_record and system.resolved.provider_record.has_key_or_address_variable
            for system in systems
        )
        if plan.conversation == "independent" or not remote or at_once >= self._connections:
            return f"{plan.conversation} conversations"
        return (
            f"{format_count(at_once, 'conversation')} at a time (--conversation independent asks {self._connections} "
            "questions at once)"
        )

    @contextlib.contextmanager
    def observer_while_asking(
        self, run: PreparedRun, systems: Sequence[ReadySystem], cap: float | None
    ) -> Iterator[Observer]:
        """Show the progress: a live table on a terminal, lines elsewhere."""
        names = [ready.resolved.requested_name for ready in systems if not ready.resolved.is_manual]
        if not names:
            yield self
            return
        if self._launched:
            yield WarningProgress(names, cap)
            return
        if plan := get_plan_if_procedure_run(run.spec):
            sets = ", ".join(dict.fromkeys(plan.questions.values()))
            subject = (
                f"{run.documents_label}, question set {sets}, "
                f"{self._describe_conversations_or_parallelism(run, plan, systems)}"
            )
        else:
            subject = (
                f"the {describe_task_and_plan_or_empty(run.spec)}"
                if run.spec.plan.label
                else f"the task '{run.spec.task}'"
            )
        heading = (
            f"run {run.open_or_create_folder().name}: {', '.join(shorten_system_names(names).values())} on {subject}"
        )
        with show_progress(names, cap, heading) as progress:
            yield progress


@contextlib.contextmanager
def show_progress(systems: Sequence[str], dollar_cap: float | None, heading: str) -> Iterator[RunProgress]:
    """Say what is asked, and show how far it is meanwhile: on a terminal live, elsewhere by lines."""
    capped = "" if dollar_cap is None else f", for at most {_format_cap(dollar_cap)}"
    print_to_stderr(f"{heading}{capped}")
    if not stderr_console().is_terminal:
        yield LineProgress(systems, dollar_cap)
        return
    from rich.live import Live

    progress = LiveProgress(systems, dollar_cap)
    with Live(progress, console=stderr_console(), refresh_per_second=4, transient=True):
        yield progress


def _confirm_cost_if_on_terminal(run: PreparedRun, systems: Sequence[ReadySystem], *, skip_question: bool) -> None:
    if skip_question or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from genaipa.execution.ready import estimate_costs_of_whole_run

    costs = [row.cost for ready in systems for row in estimate_costs_of_whole_run(run, ready)]
    expected = sum(cost for cost in costs if cost is not None)
    question = f"The whole run may cost up to ${expected:.2f}. Continue?"
    if expected >= ASK_FROM and not typer.confirm(question, default=False, err=True):
        raise typer.Exit(1)


def format_command_with_run_name(folder: RunFolder, *command_words: str) -> str:
    """Format a command about this run, to be printed: these words, then the run's name and where it is."""
    return format_shell_command(
        "genaipa", *command_words, folder.name, *workspace_option_if_needed(folder.path.parents[1])
    )


def print_interruption_and_next_command(folder: RunFolder | None, resume_options: Sequence[str] = ()) -> None:
    """Say the last words after Ctrl-C; the next command needs the `resume_options` of the stopped one."""
    from genaipa.runs.batches import count_pending_batches_in_words, find_pending_batches

    if folder is None:
        print_to_stderr("interrupted; nothing had been asked yet.")
    else:
        totals = folder.manifest().totals
        answered = totals.answered + totals.refused + totals.truncated
        print_to_stderr(f"interrupted; {format_count(answered, 'answer')} of {totals.planned:,} received, all kept.")
        if out := list(find_pending_batches(folder.path)):
            print_to_stderr(
                f"{count_pending_batches_in_words(out)}. They continue at the provider, and no result is lost."
            )
        print_to_stderr(f"Continue with: {format_command_with_run_name(folder, 'run', *resume_options, '--resume')}")
