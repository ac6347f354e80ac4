"""Give jobs to workers until all are done: each to one worker, again after its worker's death, within bounds."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from genaipa.errors import GenaipaError, NotReadyError, RunError
from genaipa.workers.base import Died, Ended, Failed, Idle, Reported, Stopped

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from genaipa.workers.base import News, Workers

State = Literal["coming", "idle", "busy", "away", "out"]
"""Whether a worker is being started, waits, works, was let go for want of jobs, or is given nothing more."""


_GO_ON = "what was done is kept, and the same command goes on"


class Jobs:
    """The jobs by their numbers, and who hears what becomes of them; a caller overrides what it needs."""

    noun = "jobs"
    """Their name in sentences."""

    def make(self, number: int, workers: int) -> Any | None:  # noqa: ARG002 - for whoever overrides it
        """Make the job that a worker is given, one of this many; None if it can't be begun now, but may be later."""
        return number

    def on_progress(self, number: int, what: Any) -> None:
        """A job under way reports something."""

    def on_done(self, number: int, what: Any) -> bool:  # noqa: ARG002 - for whoever overrides it
        """A job is done; whether it has to be given once more."""
        return False

    def on_requeue(self, number: int) -> None:
        """A job came back undone from a worker that is there; it is given again, or given up."""

    def on_lost(self, number: int, why: str) -> bool:  # noqa: ARG002 - for whoever overrides it
        """A job's worker died or can't go on; whether the job got further with it, so that it counts as no trial."""
        return False

    def said(self, sentence: str) -> None:
        """Something worth knowing about a worker."""

    def redact(self, words: str) -> str:
        """Words of a worker, which may be anybody's, as they may be shown."""
        return words


@dataclass(frozen=True)
class Patience:
    """Bounds on trying again."""

    tries: int = 3
    """Workers that may die over a job that gets no further, and deaths of a worker in a row without a job done."""
    busy: float = 600.0
    """Seconds that a job may be in the hands of another process."""
    again: float = 2.0
    """Seconds until such a job is tried again."""
    stopping: float = 10.0
    """Seconds that jobs have to stop in order, at Ctrl-C."""
    look: float = 0.5
    """Seconds at most between two looks at the clock."""


@dataclass
class _Job:
    """A job that isn't done."""

    number: int
    died: list[str] = field(default_factory=list)
    """Workers that died over it since it got further."""
    busy_since: float | None = None
    not_before: float = 0.0


@dataclass
class _Worker:
    """A worker as far as it was heard of."""

    state: State = "coming"
    job: _Job | None = None
    deaths: int = 0
    """Deaths since it last ended a job."""
    why: str = ""
    """Why it is out."""


@dataclass
class Dispatcher:
    """Jobs on their way to workers. `run` may be called once."""

    workers: Workers
    number: int
    """Workers at most."""
    jobs: Jobs
    patience: Patience = field(default_factory=Patience)
    stop: threading.Event | None = None
    """Set, it stops the jobs as Ctrl-C does, which only a process's main thread hears."""
    given_up: dict[int, str] = field(default_factory=dict)
    """Number of a job → why it was given up."""
    waiting: deque[_Job] = field(default_factory=deque)
    known: dict[str, _Worker] = field(default_factory=dict)
    failures: int = 0
    """Jobs given up in a row."""
    not_ready: bool = False

    def run(self, numbers: Iterable[int]) -> None:
        """Have all jobs done, or given up; in the order of their numbers, as far as workers are free.

        Raises NotReadyError or RunError once no worker is left; at Ctrl-C, jobs under way stop in order first.
        """
        self.waiting.extend(_Job(number) for number in numbers)
        try:
            for name in map(str, range(1, min(self.number, len(self.waiting)) + 1)):
                self._start(name)
            while self.waiting or self._busy():
                later = any(job.not_before > time.monotonic() for job in self.waiting)
                if not self._give() and not self._busy() and not self._coming() and not later:
                    break  # nothing that waits may be begun
                self._listen()
        except KeyboardInterrupt:
            self._stop()
            raise
        finally:
            self.workers.close()

    def _listen(self) -> None:
        if self.stop is not None and self.stop.is_set():
            raise KeyboardInterrupt
        for news in self.workers.hear(self.patience.look):
            self._heard(news)

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self.known.values() if worker.state == "busy"]

    def _coming(self) -> bool:
        return any(worker.state == "coming" for worker in self.known.values())

    def _start(self, name: str) -> None:
        worker = self.known.setdefault(name, _Worker())
        worker.state = "coming"
        self.workers.start(name)

    def _give(self) -> bool:
        """Give jobs to all that are idle; whether any was given."""
        given, now = False, time.monotonic()
        due = [job for job in self.waiting if job.not_before <= now]
        for name, worker in self.known.items():
            if worker.state != "idle":
                continue
            job = next((job for job in due if self._suits(job, name)), None)
            made = self._made(job) if job else None
            if job:
                due.remove(job)
            if job and made is not None:
                self.waiting.remove(job)
                worker.state, worker.job, given = "busy", job, True
                self.workers.give(name, made)
            elif not self.waiting:
                # It may hold an accelerator that others wait for.
                worker.state = "away"
                self.workers.end(name)
        # One that was let go is wanted again when another's job came back.
        idle = sum(worker.state in ("idle", "coming") for worker in self.known.values())
        for name, worker in self.known.items():
            if worker.state == "away" and idle < len(self.waiting):
                self._start(name)
                idle += 1
        return given

    def _made(self, job: _Job) -> Any | None:
        try:
            return self.jobs.make(job.number, self._usable())
        except GenaipaError as error:
            self.waiting.remove(job)
            self._give_up(job, str(error))
            return None

    def _suits(self, job: _Job, name: str) -> bool:
        """Whether a worker may have a job: one that died over it leaves it to another that is free."""
        free = {other for other, worker in self.known.items() if worker.state in ("idle", "coming")}
        return name not in job.died or free <= set(job.died)

    def _usable(self) -> int:
        return sum(worker.state not in ("out", "away") for worker in self.known.values())

    def _heard(self, news: News) -> None:
        worker = self.known[news.worker]
        if isinstance(news, Failed | Died):
            news = replace(news, why=self.jobs.redact(news.why))
        match news:
            case Idle():
                worker.state = "idle" if worker.state == "coming" else worker.state
            case Reported(what=what):
                if worker.job is not None:
                    self.jobs.on_progress(worker.job.number, what)
            case Ended(what=what):
                worker.deaths = self.failures = 0
                self._ended(worker, what)
            case Failed():
                self._failed(worker, news)
            case Stopped():
                if (job := self._free(worker)) is not None:
                    self._give_up(job, "it was broken off")
            case Died(why=why):
                self._died(news.worker, worker, why)

    def _ended(self, worker: _Worker, what: Any) -> None:
        job = self._free(worker)
        if job is None:
            return
        try:
            again = self.jobs.on_done(job.number, what)
        except GenaipaError as error:
            self._give_up(job, str(error))
        else:
            self.waiting.extend([job] if again else [])

    @staticmethod
    def _free(worker: _Worker) -> _Job | None:
        worker.state, job, worker.job = "idle", worker.job, None
        return job

    def _failed(self, worker: _Worker, news: Failed) -> None:
        job = self._free(worker)
        if job is None:
            return
        if news.fault != "server":
            self.jobs.on_requeue(job.number)
        if news.fault == "busy":
            job.busy_since = job.busy_since or time.monotonic()
            job.not_before = time.monotonic() + self.patience.again
            if time.monotonic() - job.busy_since > self.patience.busy:
                self._give_up(job, news.why)
            else:
                self.waiting.append(job)
        elif news.fault == "worker":
            self.waiting.appendleft(job)
            self.jobs.on_lost(job.number, news.why)
            self.not_ready = True
            self._out(news.worker, worker, news.why)
        elif news.fault == "server":
            self.workers.end(news.worker)
            worker.job = job
            self._died(news.worker, worker, news.why)
        else:
            self._give_up(job, news.why)

    def _give_up(self, job: _Job, why: str) -> None:
        self.given_up[job.number] = why
        self.failures += 1
        if self.failures >= self.patience.tries:
            raise RunError(
                f"{self.failures} {self.jobs.noun} one after another failed; {_GO_ON}. The last because: {why}"
            )

    def _died(self, name: str, worker: _Worker, why: str) -> None:
        job = self._free(worker)
        further = job is not None and self.jobs.on_lost(job.number, why)
        worker.deaths = 1 if further else worker.deaths + 1
        if job is not None:
            job.died = [name] if further else [*job.died, name]
            if len(job.died) >= self.patience.tries and (len(set(job.died)) > 1 or self._usable() == 1):
                self._acquit(job)
                self._give_up(job, f"its worker died {len(job.died)} times; the last because: {why}")
            else:
                self.waiting.appendleft(job)
        if worker.deaths >= self.patience.tries:
            self._out(name, worker, why)
        else:
            self._start(name)

    def _acquit(self, job: _Job) -> None:
        """Take deaths over a job from its workers, which were not to blame; one that was out for them is in again."""
        for other, worker in self.known.items():
            worker.deaths -= min(worker.deaths, job.died.count(other))
            if worker.state == "out" and other in job.died:
                self._start(other)

    def _out(self, name: str, worker: _Worker, why: str) -> None:
        """Give a worker nothing more; raise once none is left."""
        worker.state, worker.why = "out", why
        self.workers.end(name)
        if self._usable() or any(one.state == "away" for one in self.known.values()):
            self.jobs.said(f"worker {name} is given nothing more: {why}")
            return
        if self.not_ready:
            raise NotReadyError(f"no worker can go on: {why}", kind="workers")
        raise RunError(
            f"no worker is left, each died {worker.deaths} times in a row; {_GO_ON}. The last because: {why}"
        )

    def _stop(self) -> None:
        """Have the jobs under way stop in order, as far as they do in time."""
        self.workers.stop()
        until = time.monotonic() + self.patience.stopping
        while self._busy() and time.monotonic() < until:
            for news in self.workers.hear(self.patience.look):
                worker = self.known[news.worker]
                if isinstance(news, Ended | Failed | Stopped | Died):
                    self._free(worker)
