"""The seam between a run and whoever watches it: a terminal, a notebook, nobody."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import ReadySystem
    from genaipa.runs.records import Record
    from genaipa.runs.status import AnswerTally


class Observer:
    """Called at the events before and during a run; does nothing by default. An exception of it ends the run in order.

    >>> class Refusals(genaipa.Observer):
    ...     def on_record_saved(self, record, tally):
    ...         if record.status == "refused":
    ...             print(record.key, record.reply)
    >>> run = genaipa.run("extractive", "brindlecart", experiment="quality", limit=1, observer=Refusals())
    """

    def on_note(self, sentence: str) -> None:
        """Something worth knowing about the request, the data or a system."""

    @contextlib.contextmanager
    def show_download(self, title: str) -> Iterator[Callable[[int, int], None] | None]:  # noqa: ARG002 - for whoever overrides it
        """Show that a data set is being fetched; the callable that it yields takes (files done, files to fetch)."""
        yield None

    def on_systems_ready(self, run: PreparedRun, systems: Sequence[ReadySystem], cap: float | None) -> None:
        """Hear that the systems are ready, before anything is asked; `cap` is in US dollars, None without one."""

    @contextlib.contextmanager
    def observer_while_asking(  # for whoever overrides it
        self,
        run: PreparedRun,  # noqa: ARG002
        systems: Sequence[ReadySystem],  # noqa: ARG002
        cap: float | None,  # noqa: ARG002
    ) -> Iterator[Observer]:
        """Give the observer that hears the rest, while the systems are asked."""
        yield self

    def on_run_started(self, tally: AnswerTally) -> None:
        """Hear that the run starts with these counts."""

    def on_record_saved(self, record: Record, tally: AnswerTally) -> None:
        """Hear that a record was kept."""

    def on_counts_updated(self, tally: AnswerTally) -> None:
        """Hear the counts as they are now, where other processes keep the records."""

    def on_wait(self, system: str, reason: str) -> None:
        """Hear that a call will be tried again, for this reason."""

    def on_batch_progress(self, system: str, asked: int, done: int) -> None:
        """`asked` requests of a system are out in batches; its provider has `done` some, if it says so."""

    def on_system_stopped(self, system: str, reason: str) -> None:
        """Hear that a system is asked no more in this run."""
