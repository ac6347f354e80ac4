"""`batches.jsonl` of a run folder: what was handed in to a provider as batches, and what became of each.

One event a line, on disk before what it announces is done: a process may be killed at any moment, and a batch that was
accepted is paid for.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.runs import journal
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BATCHES = "batches.jsonl"
RESULTS = "batches"
"""Folder of the results that were downloaded and are not yet all in `answers.jsonl`."""

Step = Literal["intended", "submitted", "looked", "fetched", "kept", "given up"]


class BatchEvent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line: a step of the batch with this `mark`, which is ours, random, and shown by the provider's list.

    `intended` comes before the provider is asked to take it: the account, the lines' names, their digest and bytes.
    `submitted` has the provider's `id`, `looked` its word for the state and the lines `done` (only when they change).
    `fetched`: all results are on disk. `kept`: all of them are in `answers.jsonl`. `given up` says why.
    """

    step: Step
    mark: str
    at: float
    """Seconds since 1970."""
    system: str = ""
    account: str = ""
    """Provider, address and a digest of the key, which can't be turned back."""
    lines: tuple[str, ...] = ()
    digest: str = ""
    bytes: int = 0
    dollars: float = 0.0
    """The most that its lines may cost; 0 where no price is known."""
    id: str = ""
    state: str = ""
    done: int = 0
    why: str = ""


@dataclass
class Batch:
    """A batch as its events tell it."""

    intended: BatchEvent
    step: Step = "intended"
    id: str = ""
    state: str = ""
    done: int = 0
    why: str = ""

    @property
    def request_count(self) -> int:
        """Number of its lines."""
        return len(self.intended.lines)

    @property
    def request_names(self) -> list[str]:
        """Names of the lines at the provider, in order: equal lines get a number."""
        times: collections.Counter[str] = collections.Counter()
        names = []
        for line in self.intended.lines:
            times[line] += 1
            again = f"-{times[line]}" if times[line] > 1 else ""
            names.append(f"{self.mark[:8]}-{line}{again}")
        return names

    @property
    def mark(self) -> str:
        """Our name of it, which the provider's list shows."""
        return self.intended.mark

    @property
    def is_pending(self) -> bool:
        """Whether its results are still to come."""
        return self.step in ("intended", "submitted")

    def apply_event(self, event: BatchEvent) -> None:
        """Go on by an event."""
        if event.step != "looked":
            self.step = event.step
        self.id = event.id or self.id
        self.why = event.why or self.why
        if event.step == "looked":
            self.state, self.done = event.state, event.done


class _Named(msgspec.Struct):
    """A line of results; only its name is read, which Google calls a key."""

    custom_id: str = ""
    key: str = ""


_named = msgspec.json.Decoder(_Named)


def read_request_name_or_empty(result_line: bytes) -> str:
    """Return the name that a line of results has; empty for one without, or that is no line of results."""
    try:
        result = _named.decode(result_line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return result.custom_id or result.key


def read_batches_by_mark(run_path: Path) -> dict[str, Batch]:
    """Return mark → batch, oldest first; a RunError names a line that is no event."""
    batches: dict[str, Batch] = {}
    for _, event in journal.read_records_with_offsets(run_path / BATCHES, BatchEvent):
        if event.step == "intended":
            batches[event.mark] = Batch(event)
        elif event.mark in batches:
            batches[event.mark].apply_event(event)
    return batches


def find_pending_batches(run_path: Path) -> Iterator[Batch]:
    """Return the batches of a run whose results are still to come."""
    return (batch for batch in read_batches_by_mark(run_path).values() if batch.is_pending)


def max_unrecorded_batch_dollars(run_path: Path) -> float:
    """Return the US dollars at most of a run's batches whose results are not in its records yet."""
    batches = read_batches_by_mark(run_path).values()
    return sum(batch.intended.dollars for batch in batches if batch.is_pending or batch.step == "fetched")


def has_batches(run_path: Path) -> bool:
    """Tell whether a run was asked by batches before."""
    return (run_path / BATCHES).exists()


def count_pending_batches_in_words(batches: Sequence[Batch]) -> str:
    """Count the batches that are out, their questions, and how many are done."""
    questions = sum(len(batch.intended.lines) for batch in batches)
    done = sum(batch.done for batch in batches)
    out = f"{format_count(len(batches), 'batch', 'batches')} with {format_count(questions, 'question')}"
    return f"{out} {'is' if len(batches) == 1 else 'are'} pending; {done:,} done"
