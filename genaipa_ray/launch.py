"""Slices as tasks of a Ray cluster: the one this process runs in, or a small one on this machine.

Runs and the corpus are on a disk that all nodes see. Ray starts a task again after the death of its worker or node;
what the slice had answered is in its folder. When the driver dies Ray ends its tasks, and the slices stop in order.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError, MissingPackageError, NotReadyError, clip
from genaipa.execution.launch import INTERRUPTED, LAUNCHED, Launch, Launcher, slice_environment
from genaipa.systems.endpoint import read_environment_variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

RETRIES = 3
_PASSED_ON = ("GENAIPA_", LAUNCHED), ("_BASE_URL",)
"""Beginnings and ends of the variables that slices are sent. Keys are not: those are the nodes' own."""
_REACHED = 5.0
"""Seconds that a cluster's head has to answer."""
_STOPPING = 60.0
"""Seconds that slices have to stop in order."""
_LOOK_EVERY = 1.0
_POLL_EVERY = 0.1
_LONGEST = 300


class RayLauncher(Launcher):
    """Tasks of a Ray cluster: `--on ray`, or `--on ray:16`."""

    about = "as tasks of a Ray cluster"

    def check_installed(self) -> None:
        """Raise a MissingPackageError, which names the extra, if Ray is not here; it is not imported yet."""
        if importlib.util.find_spec("ray") is None:
            raise MissingPackageError("a Ray cluster needs Ray; install it with: pip install 'genaipa[ray]'")

    def default_slices_at_once(self, launch: Launch) -> int:
        """Return the number of slices that the cluster has processors and accelerators for, at least one."""
        resources = join_or_start_ray_cluster().cluster_resources()
        room = resources.get("CPU", 0.0)
        if launch.gpus:
            room = min(room, resources.get("GPU", 0.0) / launch.gpus)
        if room < 1:
            launch.say("The cluster has no room for a slice yet; waiting for room.")
        return max(1, int(room))

    def carry_out(self, launch: Launch, slice_indexes: Sequence[int], slices_at_once: int) -> None:
        """Carry out these slices as tasks, so many submitted at a time: later ones have what the earlier ones left."""
        ray = join_or_start_ray_cluster()
        task = ray.remote(num_cpus=1, num_gpus=launch.gpus, max_retries=RETRIES, retry_exceptions=[ChildProcessError])(
            run_slice_and_capture_errors
        )
        environment = select_environment_for_slices(slice_environment(launch))
        todo, running = list(slice_indexes), dict[Any, int]()
        try:
            while todo or running:
                while todo and len(running) < slices_at_once:
                    index = todo.pop(0)
                    command = launch.slice_command(index, slices_at_once)[1:]
                    running[task.remote(command, str(Path.cwd()), environment)] = index
                ended, _ = ray.wait(list(running), timeout=_LOOK_EVERY)
                launch.watch()
                for reference in ended:
                    index = running.pop(reference)
                    if not launch.record_exit_and_check_continue(
                        index, _read_exit_code_and_relay_lines(ray, launch, index, reference)
                    ):
                        todo.clear()
                        _cancel_tasks_gently_and_wait(ray, running)
        except BaseException:
            _cancel_tasks_gently_and_wait(ray, running)
            raise
        finally:
            ray.shutdown()

    def doctor_rows(self) -> Iterator[tuple[str, Any, str, str]]:
        """Report whether the cluster that RAY_ADDRESS names can be joined, and what it has."""
        address = read_environment_variable("RAY_ADDRESS")
        if address is None or importlib.util.find_spec("ray") is None:
            return
        try:
            ray = join_or_start_ray_cluster()
        except GenaipaError as error:
            yield "RAY_ADDRESS", "missing", f"{address} can't be joined", str(error).removesuffix(".")
            return
        try:
            nodes = sum(bool(node["Alive"]) for node in ray.nodes())
            resources = ray.cluster_resources()
            cards = f"{resources.get('CPU', 0):g} processors, {resources.get('GPU', 0):g} GPUs"
            yield (
                "RAY_ADDRESS",
                "ok",
                f"{address} runs Ray {ray.__version__}, as this machine does; {nodes} nodes, {cards}",
                "",
            )
        finally:
            ray.shutdown()


def run_slice_and_capture_errors(
    command: Sequence[str], folder: str, environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run a slice's process on a node; return its exit code and what it said.

    A ChildProcessError for one that was killed has Ray try again.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - the node's own Python
            [sys.executable, *command],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        try:
            # What interrupts at ray.cancel is a flag alone, which is looked at between two lines of Python.
            while process.poll() is None:
                time.sleep(_POLL_EVERY)
        except KeyboardInterrupt:
            process.terminate()
        code = process.wait()
        if code < 0:
            raise ChildProcessError(f"signal {-code} ended its process")
        errors.seek(0)
        return code, errors.read().decode(errors="replace")


def select_environment_for_slices(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that slices are sent."""
    starts, ends = _PASSED_ON
    return {name: value for name, value in environment.items() if name.startswith(starts) or name.endswith(ends)}


def _read_exit_code_and_relay_lines(ray: ModuleType, launch: Launch, slice_index: int, task_reference: Any) -> int:
    """Return the exit code of a task that has ended, and pass on what its slice said."""
    try:
        code, errors = ray.get(task_reference)
    except ray.exceptions.TaskCancelledError:
        return INTERRUPTED
    except ray.exceptions.RayError as error:  # after its retries
        launch.say(
            f"{launch.slice_label_in_words(slice_index)} was abandoned after {RETRIES} retries: {_last_line_of_error(error)}."
        )
        return -1
    for line in errors.splitlines():
        launch.relay_process_line_once(line)
    return int(code)


def _cancel_tasks_gently_and_wait(ray: ModuleType, slice_index_by_task: Mapping[Any, int]) -> None:
    """Have these tasks stop in order, and wait for them."""
    with contextlib.suppress(ray.exceptions.RayError, RuntimeError):
        for reference in slice_index_by_task:
            ray.cancel(reference, force=False)
        if slice_index_by_task:
            ray.wait(list(slice_index_by_task), num_returns=len(slice_index_by_task), timeout=_STOPPING)


def join_or_start_ray_cluster() -> ModuleType:
    """Join the cluster at RAY_ADDRESS, else the one of this machine, else begin one; NotReadyError if it refuses.

    Within `ray job submit` that is the job's own cluster. A cluster that was joined before stays joined.
    """
    RayLauncher().check_installed()
    # Nothing is reported to anybody, and nothing is printed between our lines.
    for name, value in (("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")):
        os.environ.setdefault(name, value)
    ray = importlib.import_module("ray")
    if ray.is_initialized():
        return ray
    address = os.environ.get("RAY_ADDRESS", "")
    _check_cluster_responds(address)
    _silence_ray_death_messages()
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=None if address else False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        reason = " ".join(str(error).split())
        if "ersion mismatch" in reason:
            raise NotReadyError(
                f"the cluster's versions differ from those here (Ray {ray.__version__}, Python "
                f"{sys.version.split()[0]}); install the same on both: {clip(reason, _LONGEST)}",
                kind="versions",
            ) from None
        where = f"the Ray cluster at {address}" if address else "Ray's cluster on this machine"
        raise NotReadyError(
            f"{where} can't be joined: {clip(reason, _LONGEST).rstrip('.')}{_auth_token_hint_or_empty(address)}.",
            kind="cluster",
        ) from None
    return ray


def _auth_token_hint_or_empty(address: str) -> str:
    """Return how to give the token that newer clusters ask for: of the refusal itself Ray's error says nothing."""
    if not address or os.environ.get("RAY_AUTH_MODE") == "token":
        return ""
    return "; if it asks for a token, set RAY_AUTH_MODE=token and put the cluster's token into ~/.ray/auth_token"


def _silence_ray_death_messages() -> None:
    """Keep Ray from printing deaths between our lines, on standard output."""
    worker = importlib.import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):  # no option turns it off
        worker.print_to_stdstream = lambda *_what, **_how: None  # type: ignore[attr-defined]


def _check_cluster_responds(address: str) -> None:
    """Raise a NotReadyError if nothing answers at the address; Ray itself would try for a minute."""
    try:
        parts = urllib.parse.urlsplit(address if "://" in address else f"ray://{address}")
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), timeout=_REACHED).close()
    except (OSError, ValueError) as error:
        raise NotReadyError(
            f"no Ray cluster answers at {address} (RAY_ADDRESS; {error}); start it there with ray start --head, or "
            "unset the variable.",
            kind="cluster",
        ) from None


def _last_line_of_error(error: Exception) -> str:
    """Return the last line of Ray's words on a death."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return clip(lines[-1].removesuffix("."), _LONGEST) if lines else type(error).__name__
