"""Models served by vLLM: attach to a server, or start one here and stop it at the end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NotReadyError, PermanentError, TransientError, UsageError
from genaipa.systems.base import EFFORTS
from genaipa.systems.chat_template import find_reasoning_parser_or_empty
from genaipa.systems.endpoint import (
    LOOK_UP_SECONDS,
    Endpoint,
    parse_token_count_or_zero,
    read_endpoint_from_environment,
    read_environment_variable,
    read_environment_variable_words,
    require_sdk,
)
from genaipa.systems.openai import CompatibleSystem
from genaipa.systems.provider import Provider, redact_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Readiness, Reply, Settings

_START_SECONDS = 600.0
"""Default of GENAIPA_VLLM_START_TIMEOUT, the time limit for loading the model."""
_STOP_SECONDS = 15.0
"""Grace period between SIGTERM and SIGKILL."""
_POLL_SECONDS = 0.25
_LOG_LINES = 20
_SERVED_NAME = "--served-model-name"
_OWN_FLAGS = {
    _SERVED_NAME: "the server must serve the model under the name in vllm/MODEL",
    "--host": "genaipa starts the server on this machine only",
    "--port": "genaipa finds a free port for the server",
    "--model": "the model is the one in vllm/MODEL",
    "--model-tag": "the model is the one in vllm/MODEL",
}
"""Flags of `vllm serve` that are genaipa's, with the reason."""
_SHORTEST = len("--se")


class VllmServer:
    """A server process on a free loopback port, with its log in a file."""

    def __init__(self, command: list[str], flags: list[str], model: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        handle, name = tempfile.mkstemp(prefix="genaipa-vllm-", suffix=".log")
        self.log = Path(name)
        arguments = ["serve", model, "--host", "127.0.0.1", "--port", str(self.port)]
        # The first is vLLM's default today; without the second it doesn't report cached tokens.
        arguments += ["--enable-prefix-caching", "--enable-prompt-tokens-details", *flags]
        try:
            # In a process group of its own: it has workers, which must end with it, and not at the user's Ctrl-C, which
            # first lets the calls under way finish.
            self._process = subprocess.Popen(  # noqa: S603 - the user's own vllm
                [*command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self.log.unlink()
            raise NotReadyError(f"{command[0]} can't be started ({error.strerror}).", kind="missing-server") from None
        finally:
            os.close(handle)
        # For a run that ends without close(), and for one that is killed: its pipe to the shell ends with it.
        atexit.register(self._send_signal_to_process_group, signal.SIGKILL)
        self._guard = subprocess.Popen(  # noqa: S603 - a line of our own
            ["/bin/sh", "-c", 'read -r _ || kill -s KILL -- "-$0"', str(self._process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def address(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def has_ended(self, wait_seconds: float = 0.0) -> bool:
        """Whether the process ends within `wait_seconds` seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(wait_seconds)
        return self._process.returncode is not None

    def describe_log_path_and_end(self) -> str:
        """Path and end of the log, for a message."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - 400 * _LOG_LINES))
            lines = log.read().decode(errors="replace").splitlines()[-_LOG_LINES:]
        last = "".join(f"\n    {redact_keys(line)}" for line in lines)
        return f"the full log is {self.log}" + (f"; its last lines:{last}" if last else " (empty)")

    async def wait_until_healthy(self, timeout_seconds: float) -> None:
        """Wait until /health answers; NotReadyError with the log's end if the process ends or time runs out."""
        import httpx2

        from genaipa.files.responses import BoundedHttpClient

        deadline = asyncio.get_running_loop().time() + timeout_seconds
        # It is of this machine, without TLS.
        async with BoundedHttpClient(timeout=LOOK_UP_SECONDS, trust_env=False, verify=False) as client:
            while True:
                if self.has_ended():
                    reason = f"ended before it was ready (exit code {self._process.returncode})"
                    raise NotReadyError(f"vLLM {reason}; {self.describe_log_path_and_end()}", kind="server-ended")
                with contextlib.suppress(httpx2.HTTPError):
                    health = await client.get(f"http://127.0.0.1:{self.port}/health")
                    if health.is_success:
                        return
                if asyncio.get_running_loop().time() > deadline:
                    reason = f"was not ready within {timeout_seconds:g} s (GENAIPA_VLLM_START_TIMEOUT)"
                    raise NotReadyError(f"vLLM {reason}; {self.describe_log_path_and_end()}", kind="timeout")
                await asyncio.sleep(_POLL_SECONDS)

    async def stop(self, *, keep_log: bool) -> None:
        """Stop the process and its workers: SIGTERM, then SIGKILL."""
        self._send_signal_to_process_group(signal.SIGTERM)
        await asyncio.to_thread(self.has_ended, _STOP_SECONDS)
        # Also where it ended by itself: a worker may be left that holds the accelerator's memory.
        self._send_signal_to_process_group(signal.SIGKILL)
        self._process.wait()
        atexit.unregister(self._send_signal_to_process_group)
        with contextlib.suppress(OSError):
            self._guard.communicate(b"\n")
        if not keep_log:
            self.log.unlink(missing_ok=True)

    def _send_signal_to_process_group(self, signal_number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal_number)


class VllmSystem(CompatibleSystem):
    """`vllm/MODEL`: the server at VLLM_BASE_URL (its key, if it wants one, in VLLM_API_KEY), or one started here.

    GENAIPA_VLLM_COMMAND replaces `vllm` (a container, another environment), GENAIPA_VLLM_ARGS are added to
    `vllm serve`, which gets a reasoning parser where the model's chat template tells one, and
    GENAIPA_VLLM_START_TIMEOUT limits the seconds for loading the model.
    """

    provider: ClassVar[Provider] = Provider(
        name="vllm",
        form="vllm/MODEL",
        about="the server at VLLM_BASE_URL, or one that genaipa starts here",
        sdk="openai",
        extra="openai",
        packages=("vllm",),
        keys=("VLLM_API_KEY",),
        key_needed="optional",
        address="VLLM_BASE_URL",
        free=True,
        takes_flags=True,
        program=lambda: _find_vllm_program_command_and_flags()[0],
        efforts=EFFORTS,
    )
    listing = replace(CompatibleSystem.listing, complete=True)  # it serves what it was started with

    def __init__(self, *, name: str, model: str, accepts: frozenset[str], flags: tuple[str, ...] = ()) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self._server: VllmServer | None = None
        self._started, self._flags = False, flags

    def resolve_endpoint(self) -> Endpoint:
        """Return the server's address, with or without /v1 in the variable."""
        endpoint = read_endpoint_from_environment(
            self.provider, self.name, self._server.address if self._server is not None else None
        )
        return replace(endpoint, address=f"{endpoint.address.removesuffix('/v1')}/v1", url_suffix="")

    async def start(self) -> Readiness:
        """Attach to the server, or start one and wait until it has loaded the model."""
        self._started, parser = False, ""
        require_sdk(self.name, self.provider)
        if read_environment_variable("VLLM_BASE_URL") is None:
            program, words, flags = _find_vllm_program_command_and_flags()
            if program is None:
                raise NotReadyError(
                    f"{self.name} needs a vLLM server: set VLLM_BASE_URL to a running one, or install vLLM here "
                    f"(pip install 'genaipa[vllm]'; '{words[0]}' was not found).",
                    kind="missing-server",
                )
            _refuse_reserved_flags(self.name, self.model, flags)
            limit = _read_start_timeout_seconds()
            if parser := find_reasoning_parser_or_empty(self.model, flags):
                flags = ["--reasoning-parser", parser, *flags]
            flags += self._flags
            self._server = VllmServer([program, *words[1:]], flags, self.model)
            try:
                await self._server.wait_until_healthy(limit)
            except BaseException:
                await self.close()
                raise
        readiness = await super().start()
        self._started = True
        note = f"{self.name}: vLLM gets --reasoning-parser {parser}, which fits the model's chat template"
        return replace(readiness, notes=(*readiness.notes, note)) if parser else readiness

    def _effort_fields(self, effort: str) -> dict[str, Any]:
        # As vLLM sets it from 0.33 on by the effort; earlier ones, and templates, know the switch alone.
        return super()._effort_fields(effort) | {"chat_template_kwargs": {"enable_thinking": effort != "none"}}

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """Reply once; PermanentError with the log's end once a server started here is dead."""
        try:
            return await super().reply(messages, settings)
        except TransientError as error:
            # A dying server breaks its connections a moment before it is gone.
            moment = 1.0 if error.kind == "connection" else 0.0
            if self._server is None or not await asyncio.to_thread(self._server.has_ended, moment):
                raise
            message = f"{self.name}: the vLLM server ended during the run; {self._server.describe_log_path_and_end()}"
            raise PermanentError(message, kind="server-ended", fatal=True) from None

    async def count_tokens(self, text: str) -> int | None:
        """Count with the server's tokenizer, without a conversation's framing tokens."""
        if self._client is None:
            return None
        root = self._endpoint.address.removesuffix("/v1")
        try:
            counted: Any = await self._client.post(
                f"{root}/tokenize",
                cast_to=object,
                body={"model": self.model, "prompt": text, "add_special_tokens": False},
                options={"timeout": self.look_up_seconds},
            )
        except (self._sdk.APIError, ValueError):
            return None
        return parse_token_count_or_zero(counted.get("count")) or None if isinstance(counted, dict) else None

    async def close(self) -> None:
        """Close the connections and stop what was started here; the log of a server that failed is kept."""
        await super().close()
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop(keep_log=not self._started or server.has_ended())


def _find_vllm_program_command_and_flags() -> tuple[str | None, list[str], list[str]]:
    """Program that starts a server here (None if not installed), words before `serve`, flags after it.

    A UsageError for a malformed variable.
    """
    words = read_environment_variable_words("GENAIPA_VLLM_COMMAND") or ["vllm"]
    return shutil.which(words[0]), words, read_environment_variable_words("GENAIPA_VLLM_ARGS")


def _refuse_reserved_flags(system: str, model: str, flags: Sequence[str]) -> None:
    """Raise a UsageError for a flag that is genaipa's to set, before minutes go by until the model is loaded."""
    for index, flag in enumerate(flags):
        name = flag.partition("=")[0].replace("_", "-")
        # A beginning of a flag stands for it.
        reserved = next(
            (
                candidate
                for candidate in _OWN_FLAGS
                if name == candidate or (len(name) >= _SHORTEST and candidate.startswith(name))
            ),
            "",
        )
        values = {flag.partition("=")[2], *itertools.takewhile(lambda word: word[:1] != "-", flags[index + 1 :])}
        if reserved and not (reserved == _SERVED_NAME and model in values):
            raise UsageError(f"{system}: {_OWN_FLAGS[reserved]}; remove {reserved} from GENAIPA_VLLM_ARGS.")


def _read_start_timeout_seconds() -> float:
    value = read_environment_variable("GENAIPA_VLLM_START_TIMEOUT") or str(_START_SECONDS)
    with contextlib.suppress(ValueError):
        if (seconds := float(value)) > 0:
            return seconds
    raise UsageError(f"GENAIPA_VLLM_START_TIMEOUT is '{value}'; give a number of seconds above 0.")
