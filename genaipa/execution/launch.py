"""Carry out the slices of a study: the same command for each, given to a launcher, and again while money is left.

A launcher is a `Launcher`, found by the entry-point group `genaipa.launchers`. It starts `genaipa run … --slice 3/16`
for one slice after another, so many at once, waits for them, and starts a slice again whose process was killed. All
that a slice knows is in its run folder, so that nothing is lost with a process, a node, or the launcher itself.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.errors import DataError, MissingPackageError, OptionError, SpendingCapError, UsageError, clip
from genaipa.plugins import list_class_targets, make_plugins_and_problems
from genaipa.runs import journal
from genaipa.runs.manifest import ANSWERS
from genaipa.runs.status import AnswerTally, CountedRecord
from genaipa.systems.provider import list_api_keys_in_environment, mask_api_keys
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.runs.folder import RunFolder

LAUNCHED = "_GENAIPA_LAUNCHED"
"""Variable of a slice's process, for nobody to set: it ends when its standard input does, and shows no progress."""
COMPLETE, FAILED, USAGE, PARTIAL, CAPPED, INTERRUPTED = 0, 1, UsageError.exit_code, 3, SpendingCapError.exit_code, 130
TRIES = 3
"""Deaths of a slice's process without a further answer, after which the slice is given up."""
_ALIKE = 3
"""Slices that end with an error before any answer, after which the rest is not tried."""
_OF_THE_STUDY = ("ON", "SLICES", "SLICE", "RESUME", "NAME", "MAX_CONNECTIONS", "NEW", "JSON", "DRY_RUN", "ESTIMATE")
"""Options that `GENAIPA_…` variables may set for the study, and not for each slice."""


@dataclass
class Launch:
    """The slices to carry out, as a launcher is given them, and what became of each."""

    command: Sequence[str]
    """Words of `genaipa run` that all slices share."""
    resume_words: Sequence[str]
    """Words in their place for a slice that has answers."""
    number: int
    """Slices that the study has."""
    say: Callable[[str], None]
    watch: Callable[[], None] = lambda: None
    """Called about every second while slices are carried out."""
    measure: Callable[[int], int] = lambda _index: 0
    """Return the size of a slice's answers."""
    connections: int = 10
    """Calls under way at once, per system, of all slices."""
    shares_servers: bool = True
    """Whether the slices ask the same servers, so that connections are divided among those at once."""
    gpus: int = 0
    """Accelerators of each slice, which starts a server on them."""
    environment: dict[str, str] = field(default_factory=dict)
    begun_with: int = 0
    """Bytes of all answers before anything was asked."""
    codes: dict[int, int] = field(default_factory=dict)
    """Slice → the exit code of its last process; negative for a signal."""
    sentences: set[str] = field(default_factory=set)
    """Sentences that were passed on."""

    def slice_command(self, index: int, slices_at_once: int) -> list[str]:
        """Return the command of a slice, which has its share of the connections."""
        share = max(1, self.connections // slices_at_once) if self.shares_servers else self.connections
        # -P: a file in the working folder is not imported in place of a library of the same name.
        python = [sys.executable, "-P", "-m", "genaipa", "run"]
        words = self.resume_words if self.measure(index) else self.command
        return [*python, *words, "--slice", f"{index}/{self.number}", "--max-connections", str(share)]

    def relay_process_line_once(self, line: str) -> None:
        """Pass on what a slice's process says, once for all slices, and without keys: it may say anything."""
        sentence = mask_api_keys(line.strip(), list_api_keys_in_environment())
        if sentence and sentence not in self.sentences:
            self.sentences.add(sentence)
            self.say(sentence)

    def record_exit_and_check_continue(self, index: int, exit_code: int) -> bool:
        """Keep the exit code of a slice; whether others are still to be carried out.

        None are after a usage error, which is the same for all, or where the first ones fail before any answer.
        """
        self.codes[index] = exit_code
        failing = len(self.codes) >= _ALIKE and {*self.codes.values()} == {FAILED}
        return exit_code != USAGE and not (failing and self.total_answer_bytes() == self.begun_with)

    def total_answer_bytes(self) -> int:
        """Return the bytes of the answers of all slices."""
        return sum(map(self.measure, range(1, self.number + 1)))

    def slice_label_in_words(self, index: int) -> str:
        """Return the name of a slice in sentences."""
        return f"slice {index} of {self.number}"


class Launcher:
    """A place where the processes of slices can run; `genaipa run --on NAME:4` names it."""

    about: ClassVar[str]
    """How slices are carried out, after "4 slices of shops"."""
    is_here: ClassVar[bool] = False
    """Whether that is this machine, so that all of them can ask a server that is started here."""

    def check_installed(self) -> None:
        """Raise a MissingPackageError if a package is missing."""

    def default_slices_at_once(self, launch: Launch) -> int:
        """Return the number of slices at once, where nobody says it."""
        raise NotImplementedError

    def carry_out(self, launch: Launch, slice_indexes: Sequence[int], slices_at_once: int) -> None:
        """Carry out these slices, and tell `launch` how each ends; interrupted, have all stop in order first."""
        raise NotImplementedError

    def doctor_rows(self) -> Iterable[tuple[str, Any, str, str]]:
        """Return rows for `genaipa doctor`: what, state, finding, remedy."""
        return ()


LOCAL = "local"
OWN = {LOCAL: "genaipa.execution.local:LocalLauncher"}


def launcher_names() -> list[str]:
    """Return the names of all launchers, none of which is imported."""
    return [name for name, _ in list_class_targets("launcher", OWN)]


def load_launchers() -> dict[str, Launcher]:
    """Return name → launcher; a package's that can't be loaded is left out."""
    return make_plugins_and_problems("launcher", OWN, Launcher)[0]


def parse_launcher_and_slices_at_once(launcher_option: str) -> tuple[Launcher, int | None]:
    """Return the launcher that `NAME` or `NAME:4` means, and how many slices at once; an OptionError for none."""
    name, colon, number = launcher_option.partition(":")
    if name not in launcher_names() or (colon and not number.isdecimal()) or (number and not 1 <= int(number) <= _MOST):
        forms = [form for launcher_name in launcher_names() for form in (launcher_name, f"{launcher_name}:4")]
        raise OptionError("on", f" '{clip(launcher_option)}': must be {join_names(forms, 'or')}.")
    launcher = load_launchers().get(name)
    if launcher is None:
        raise MissingPackageError(f"the package that provides '{name}' is no longer installed; use {LOCAL}:4.")
    launcher.check_installed()
    return launcher, int(number) if number else None


_MOST = 10_000
"""More slices at once than any cluster has room for."""


def carry_out_slices_resuming_capped(
    launch: Launch, launcher: Launcher, slice_indexes: Sequence[int], slices_at_once: int | None
) -> None:
    """Carry out slices; those that the spending cap stopped go on while the study has money left for them."""
    slices, launch.begun_with = list(slice_indexes), launch.total_answer_bytes()
    while slices:
        room = min(slices_at_once or launcher.default_slices_at_once(launch), len(slices))
        if launch.shares_servers:
            room = min(room, launch.connections)
        before = launch.total_answer_bytes()
        launcher.carry_out(launch, slices, room)
        capped = [index for index in slices if launch.codes.get(index) == CAPPED]
        slices = (
            capped
            if launch.total_answer_bytes() > before and not {USAGE, INTERRUPTED} & {*launch.codes.values()}
            else []
        )


def slice_environment(launch: Launch, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a slice's process, without what is set for the whole study."""
    study = {f"GENAIPA_{name}" for name in _OF_THE_STUDY}
    slice_variables = {name: value for name, value in inherited.items() if name not in study}
    return slice_variables | launch.environment | {LAUNCHED: "1"}


@dataclass
class StudyTally:
    """The counts of a study's slices, from what is appended to their answers."""

    find_folders: Callable[[], Mapping[int, RunFolder]]
    """Return the slices that were begun."""
    example: PreparedRun
    """A slice by which the size of those that nobody has begun is told."""
    _folders: dict[int, RunFolder] = field(default_factory=dict)
    _tallies: dict[int, AnswerTally] = field(default_factory=dict)
    _documents: dict[int, int] = field(default_factory=dict)
    _read: dict[int, int] = field(default_factory=dict)
    _decoder: msgspec.json.Decoder[CountedRecord] = field(default_factory=lambda: msgspec.json.Decoder(CountedRecord))

    def tally_answers_of_all_slices(self) -> AnswerTally:
        """Return the counts of all slices; each document that nobody has begun counts as much as the others."""
        assert self.example.slice is not None, "it is a slice"
        assert self.example.corpus is not None, "only a corpus has slices"
        if len(self._folders) < self.example.slice.number:
            for index, folder in self.find_folders().items():
                self._folders.setdefault(index, folder)
        total = AnswerTally()
        for index, folder in self._folders.items():
            total.add_tally(self._update_slice_tally(index, folder))
        documents = sum(self._documents.values())
        if not documents:
            total.set_planned_answers(self.example.spec, self.example.task.question_orders)
            documents = len(self.example.task.facts)
        for row in total.rows.values():
            row.planned = round(row.planned * self.example.corpus.asked / max(1, documents))
        return total

    def _update_slice_tally(self, index: int, folder: RunFolder) -> AnswerTally:
        """Return the counts of a slice, with the answers that were appended since the last look."""
        if index not in self._tallies:
            try:
                manifest = folder.manifest()
            except DataError:  # told by whoever carries it out
                return AnswerTally()
            self._tallies[index], self._documents[index] = AnswerTally(), len(manifest.documents)
            self._tallies[index].set_planned_answers(manifest.spec, manifest.orders, manifest.planned)
        tally, start = self._tallies[index], self._read.get(index, 0)
        path = folder.path / ANSWERS
        try:
            if path.stat().st_size > start:
                for offset, line in journal.read_lines_with_offsets(path, start):
                    self._read[index] = offset + len(line)
                    tally.add_record(self._decoder.decode(line))
        except (OSError, msgspec.DecodeError):  # told by whoever carries it out
            pass
        return tally
