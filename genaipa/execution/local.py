"""Slices as processes on this machine, each an ordinary `genaipa run`.

Threads wait for them, and no ProcessPoolExecutor: that one fails all of its jobs when one process is killed. Each
process has a pipe as its standard input, which ends with this process however that ends; it then stops in order.
"""

from __future__ import annotations

import os
import subprocess
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from genaipa.execution.launch import INTERRUPTED, TRIES, Launch, Launcher, slice_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK_EVERY = 1.0
"""Seconds between two looks at how far the slices are."""


class LocalLauncher(Launcher):
    """Processes of this machine: `--on local:4`."""

    about = "as processes on this machine"
    is_here = True

    def default_slices_at_once(self, launch: Launch) -> int:  # noqa: ARG002 - the same for all
        """Return the number of this machine's processors."""
        return os.cpu_count() or 1

    def carry_out(self, launch: Launch, slice_indexes: Sequence[int], slices_at_once: int) -> None:
        """Carry out these slices; a usage error ends all, any other failure its own slice alone."""
        processes = _SliceProcesses(launch, slices_at_once)
        with ThreadPoolExecutor(slices_at_once) as threads:
            jobs = {threads.submit(processes.carry_out_slice, index) for index in slice_indexes}
            try:
                while jobs:
                    ended, _ = wait(jobs, _LOOK_EVERY, FIRST_COMPLETED)
                    launch.watch()
                    for job in ended:
                        jobs.remove(job)
                        job.result()
            except BaseException:
                processes.terminate_all_and_start_no_more()  # leaving `with` waits for them
                raise


class _SliceProcesses:
    """The processes that run now, one for each thread."""

    def __init__(self, launch: Launch, at_once: int) -> None:
        self._launch, self._at_once = launch, at_once
        self._lock, self._stopped = threading.Lock(), False
        self._running = set[subprocess.Popen[str]]()

    def carry_out_slice(self, index: int) -> None:
        """Run a slice to its end, and note it; have all stop if no other is to be begun."""
        code = self._run_slice_restarting_killed_process(index)
        with self._lock:
            goes_on = self._launch.record_exit_and_check_continue(index, code)
        if not goes_on:
            self.terminate_all_and_start_no_more()

    def _run_slice_restarting_killed_process(self, index: int) -> int:
        """Run a slice to its end, and again after a death as long as it gets further; return its last exit code."""
        deaths, size = 0, self._launch.measure(index)
        while True:
            with self._lock:
                if self._stopped:
                    return INTERRUPTED
                process = self._start_slice_process(index)
                self._running.add(process)
            with process:
                assert process.stderr is not None, "it is a pipe"
                for line in process.stderr:
                    if not self._stopped:
                        self._launch.relay_process_line_once(line)
                code = process.wait()
            with self._lock:
                self._running.discard(process)
                if code >= 0 or self._stopped:
                    return INTERRUPTED if self._stopped else code
            deaths = 0 if self._launch.measure(index) > size else deaths + 1
            size = self._launch.measure(index)
            name, cause = self._launch.slice_label_in_words(index), f"signal {-code} ended its process"
            if deaths == TRIES:
                self._launch.say(
                    f"{name} was abandoned after its process died {TRIES} times without a new answer: {cause}."
                )
                return code
            self._launch.say(f"{name} is restarted: {cause}.")

    def _start_slice_process(self, index: int) -> subprocess.Popen[str]:
        """Start the process of a slice, in a session of its own: Ctrl-C reaches it through this process, once."""
        return subprocess.Popen(  # noqa: S603 - this very Python
            self._launch.slice_command(index, self._at_once),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env=slice_environment(self._launch),
        )

    def terminate_all_and_start_no_more(self) -> None:
        """Have all stop in order, as at Ctrl-C, to which a shell's background jobs are deaf; begin no other."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.terminate()
