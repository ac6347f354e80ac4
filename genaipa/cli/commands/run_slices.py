"""`genaipa run --slices 16 --on local:4`: a driver over the slices of a study, each an ordinary `genaipa run`."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.cli.commands.run_options import BESIDE_RESUME
from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_json,
    print_to_stderr,
    rewrite_options_as_flags,
    show,
)
from genaipa.cli.terminal.process import end_process_when_stdin_closes
from genaipa.cli.terminal.progress import show_progress
from genaipa.errors import ManyDocumentsError, OptionError, format_shell_command
from genaipa.execution.launch import (
    CAPPED,
    COMPLETE,
    FAILED,
    INTERRUPTED,
    LAUNCHED,
    LOCAL,
    PARTIAL,
    USAGE,
    Launch,
    StudyTally,
    carry_out_slices_resuming_capped,
    parse_launcher_and_slices_at_once,
)
from genaipa.runs.manifest import ANSWERS
from genaipa.runs.selection import find_run_or_study, find_sliced_study
from genaipa.runs.slices import SlicedStudy, parse_slice
from genaipa.words import format_count as count_words
from genaipa.words import replace_unprintable_characters
from genaipa.workspace import workspace_option_if_needed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import typer

    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.limits import RunLimits
    from genaipa.execution.prepare import PreparedRun
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import StudySlice
    from genaipa.runs.status import AnswerTally
    from genaipa.tasks.request import RunRequest
    from genaipa.workspace import Workspace

ONE = f"{LOCAL}:1"
"""Where slices are carried out if nobody says it: one after another, here."""
_OF_THE_DRIVER = frozenset(
    {
        *("slices", "slice_", "on", "name", "resume", "max_cost", "max_connections", "new"),
        *("data_parallel_size", "tensor_parallel_size"),
        *("yes", "quiet", "explain", "json", "workspace", "config", "dry_run", "estimate"),
    }
)
"""Parameters that each slice has from the driver, or not at all."""


@dataclass
class StudyDriver:
    """The carrying out of a study; `run` is one of its slices, which stands for all."""

    workspace: Workspace
    run: PreparedRun
    limits: RunLimits
    on: str = ONE
    json: bool = False
    _begun: dict[int, RunFolder] = field(default_factory=dict)
    _looked: int = 0
    """When the folder of runs had changed last, when slices were looked for."""

    @property
    def representative_slice(self) -> StudySlice:
        """The slice that stands for all."""
        assert self.run.slice is not None, "a study has slices"
        return self.run.slice

    def find_begun_slices(self) -> dict[int, RunFolder]:
        """Return the slices that were begun."""
        self._looked = self._read_runs_folder_mtime()
        study = find_sliced_study(self.workspace, self.representative_slice.study)
        self._begun = study.slices if study else {}
        return self._begun

    def measure_answer_bytes(self, slice_index: int) -> int:
        """Return the bytes of a slice's answers."""
        if slice_index not in self._begun and self._read_runs_folder_mtime() != self._looked:
            self.find_begun_slices()
        folder = self._begun.get(slice_index)
        with contextlib.suppress(OSError):
            return (folder.path / ANSWERS).stat().st_size if folder else 0
        return 0

    def _read_runs_folder_mtime(self) -> int:
        """Return when a run was last begun, as a number that only grows."""
        with contextlib.suppress(OSError):
            return self.workspace.runs.stat().st_mtime_ns
        return 0

    def find_unfinished_slice_indices(self) -> list[int]:
        """Return the slices that lack something, or were never begun."""
        begun = self.find_begun_slices()
        return [
            index
            for index in range(1, self.representative_slice.number + 1)
            if index not in begun or not begun[index].is_complete()
        ]

    def run_study(self, context: typer.Context, observer: TerminalObserver) -> int:
        """Carry out what is unfinished, print the outcome and return the exit code."""
        import asyncio

        from genaipa.execution.run import check_batching_and_spending_cap, make_systems_ready
        from genaipa.execution.serving import find_systems_needing_local_server, serve_model_and_yield_variables

        launcher, at_once = parse_launcher_and_slices_at_once(self.on)
        cap = self.run.resolve_spending_cap(self.limits.max_cost)
        check_batching_and_spending_cap(self.run, replace(self.limits, max_cost=cap))
        tally, todo = StudyTally(self.find_begun_slices, self.run), self.find_unfinished_slice_indices()
        if not todo:
            return self._print_study_outcome(tally.tally_answers_of_all_slices(), "complete", {})
        systems = asyncio.run(make_systems_ready(self.run, lambda _sentence: None))
        observer.on_systems_ready(self.run, systems, cap)
        served, flags = find_systems_needing_local_server(self.run.systems), self.limits.server_flags
        is_here = launcher.is_here
        launch = Launch(
            self._make_slice_command_words(context, [] if is_here else flags, resuming=bool(self._begun)),
            self._make_slice_command_words(context, [] if is_here else flags, resuming=True),
            self.representative_slice.number,
            print_to_stderr,
            measure=self.measure_answer_bytes,
            connections=self.limits.max_connections,
            shares_servers=is_here or len(served) < len(self.run.systems),
            gpus=math.prod(map(int, flags[1::2])) if served and not is_here else 0,
            sentences={
                replace_unprintable_characters(rewrite_options_as_flags(sentence)) for sentence in observer.sentences
            },
        )
        serving = (
            serve_model_and_yield_variables(self.run.systems, flags, print_to_stderr)
            if is_here
            else contextlib.nullcontext(dict[str, str]())
        )
        subject = (
            f"{len(todo):,} of {count_words(self.representative_slice.number, 'slice')} of "
            f"{self.representative_slice.study}, {launcher.about}"
        )
        with serving as launch.environment, show_progress(self.run.spec.systems, cap, subject) as display:
            display.on_run_started(tally.tally_answers_of_all_slices())
            launch.watch = lambda: display.on_counts_updated(tally.tally_answers_of_all_slices())
            try:
                carry_out_slices_resuming_capped(launch, launcher, todo, at_once)
            except KeyboardInterrupt:
                status = "interrupted"
            else:
                status = self._determine_study_status(launch.codes)
        return self._print_study_outcome(tally.tally_answers_of_all_slices(), status, launch.codes)

    def _make_slice_command_words(self, context: typer.Context, flags: Sequence[str], *, resuming: bool) -> list[str]:
        """Return the words of `genaipa run` that all slices share, or those that go on `resuming`."""
        words = select_shared_option_words(context, BESIDE_RESUME if resuming else None)
        words += [f"{'--resume' if resuming else '--name'}={self.representative_slice.study}", *flags]
        if (cap := self.limits.max_cost) is not None:
            words.append(f"--max-cost={'none' if math.isinf(cap) else repr(cap)}")
        return [*words, f"--workspace={self.workspace.home}", "--yes", "--quiet"]

    def _determine_study_status(self, exit_codes: Mapping[int, int]) -> str:
        if not self.find_unfinished_slice_indices():
            return "complete"
        return "capped" if CAPPED in exit_codes.values() else "partial"

    def _print_study_outcome(self, tally: AnswerTally, status: str, exit_codes: Mapping[int, int]) -> int:
        """Print the outcome of the study and the next step; return the exit code."""
        from genaipa.cli.commands.run_summary import print_tally, tally_rows

        begun = self.find_begun_slices()
        unfinished = self.find_unfinished_slice_indices()
        if self.json:
            facts = {
                "study": self.representative_slice.study,
                "slices": self.representative_slice.number,
                "status": status,
                "unfinished": unfinished,
            }
            print_json({**facts, "runs": [folder.name for folder in begun.values()], "rows": tally_rows(tally)})
        elif USAGE not in exit_codes.values():
            print_tally(tally)
            complete = self.representative_slice.number - len(unfinished)
            show(
                f"{self.representative_slice.study}: {complete:,} of "
                f"{count_words(self.representative_slice.number, 'slice')} complete."
            )
            print_caveat_unless_quiet(self._describe_next_step(tally, status))
        if status == "partial":
            if USAGE in exit_codes.values():
                return USAGE
            return (
                FAILED
                if {*exit_codes.values()} == {FAILED} and not any(map(self.measure_answer_bytes, begun))
                else PARTIAL
            )
        return {"complete": COMPLETE, "capped": CAPPED, "interrupted": INTERRUPTED}[status]

    def _describe_next_step(self, tally: AnswerTally, status: str) -> str:
        """Return the sentence that the driver ends with."""
        home = workspace_option_if_needed(self.workspace.home)
        if status == "complete":
            return (
                "Complete. All figures: "
                f"{format_shell_command('genaipa', 'report', self.representative_slice.study, *home)}"
            )
        words = ["--on", self.on] if self.on != ONE else []
        go_on = format_shell_command("genaipa", "run", "--resume", self.representative_slice.study, *words, *home)
        if status == "capped":
            cap = self.run.resolve_spending_cap(self.limits.max_cost)
            return f"Stopped by --max-cost: ${tally.cost:.4f} of ${cap:g} is spent. Continue with a higher cap: {go_on}"
        state = "Interrupted; all answers are kept." if status == "interrupted" else "Not complete."
        return f"{state} Continue with: {go_on}"


def select_shared_option_words(context: typer.Context, parameter_names: Collection[str] | None = None) -> list[str]:
    """Return the words of the options that were given to the driver, and that each slice takes as they are."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP")
        if is_given and name not in _OF_THE_DRIVER and (parameter_names is None or name in parameter_names):
            words += _format_option_words(parameter, context.params[name])
    return words


def _format_option_words(parameter: Any, value: Any) -> list[str]:
    """Return the words of an option with its value, or its values."""
    flag = max(parameter.opts, key=len)
    if isinstance(value, bool):
        return [flag if value else max(parameter.secondary_opts, key=len)] if value or parameter.secondary_opts else []
    values = value if isinstance(value, list | tuple) else [value]
    return [f"{flag}={word}" for word in values if word is not None]


def end_with_driver_if_launched() -> bool:
    """Tell whether a driver launched this process, and then see that it ends with it."""
    if os.environ.pop(LAUNCHED, None) is None:
        return False
    end_process_when_stdin_closes()
    return True


def parse_slice_option(slice_text: str | None, slice_count: int | None, resume: str | None) -> tuple[int, int] | None:
    """Return which slice is named, and of how many; None for all. An OptionError for options that don't go together."""
    if slice_count is not None and (slice_text is not None or resume is not None):
        raise OptionError("slices", " starts all slices of a study; leave it out, or leave out --slice and --resume.")
    return None if slice_text is None else parse_slice(slice_text)


def refuse_launcher_unless_all_slices(launcher: str | None, prepared: PreparedRun) -> None:
    """Raise a UsageError for a place of slices where there are none, or only one."""
    if launcher is not None and not prepared.stands_for_all:
        raise OptionError("on", " applies to all slices of a study; start one with: --documents FILE --slices 16")


def prepare_resumed_run_or_slice(
    workspace: Workspace,
    run_or_study_name: str,
    slice_position: tuple[int, int] | None,
    observer: TerminalObserver,
    *,
    offline: bool,
) -> PreparedRun:
    """Prepare the run of that name, or a slice of the study; without a `slice_position`, one that stands for all."""
    from genaipa.execution.prepare import prepare_resumed_run
    from genaipa.execution.siblings import resume_or_prepare_slice

    meant = find_run_or_study(workspace, run_or_study_name)
    if isinstance(meant, SlicedStudy):
        example = slice_position or (min(meant.slices), meant.number)
        run = resume_or_prepare_slice(workspace, meant, example, observer, offline=offline)
        run.stands_for_all = slice_position is None
        return run
    if slice_position is not None:
        raise OptionError(
            "slice", f" applies only to a study, but {meant.name} is a run; leave it out to continue the run."
        )
    return prepare_resumed_run(workspace, run_or_study_name, observer, offline=offline)


def prepare_run_or_first_slice(
    workspace: Workspace, request: RunRequest, observer: TerminalObserver, *, covers_all_slices: bool
) -> PreparedRun:
    """Prepare a run; of more documents than a run takes, the first of the slices that take them.

    A slice stands for all if the request `covers_all_slices`.
    """
    from genaipa.execution.prepare import prepare_run

    try:
        run = prepare_run(workspace, request, observer)
    except ManyDocumentsError as error:
        slices = count_words(error.slices, "slice")
        observer.on_note(
            f"The documents are processed in {slices}, one after another; --on {LOCAL}:4 runs four at once."
        )
        run = prepare_run(workspace, msgspec.structs.replace(request, slice=(1, error.slices)), observer)
    run.stands_for_all = covers_all_slices and run.slice is not None
    return run


def needs_study_driver(run: PreparedRun, launcher: str | None, *, json: bool) -> bool:
    """Tell whether a run is a study to drive; its only slice is carried out in this process, unless it is told where.

    As `json` a study of one slice has the form of any other.
    """
    return run.stands_for_all and run.slice is not None and (run.slice.number > 1 or launcher is not None or json)
