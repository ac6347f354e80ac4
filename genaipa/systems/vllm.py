"""Models served by vLLM: attach to a server, or start one here and stop it at the end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.errors import NotReadyError, PermanentError, TransientError, UsageError
from genaipa.systems.compatible import CompatibleSystem
from genaipa.systems.endpoint import (
    LOOK_UP_SECONDS,
    Endpoint,
    as_count,
    find_endpoint,
    need_sdk,
    read_variable,
    read_words,
)
from genaipa.systems.provider import Provider
from genaipa.systems.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.systems.base import Message, Readiness, Reply, Settings

_START_SECONDS = 600.0
"""How long a server may take to load its model, unless GENAIPA_VLLM_START_TIMEOUT says otherwise."""
_STOP_SECONDS = 15.0
"""How long a server may take to end when it is asked to, before it is killed."""
_POLL_SECONDS = 0.25
_LOG_LINES = 20


class VllmServer:
    """A server process of our own, with a free port on loopback and its log in a file."""

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
        # For a run that ends without close().
        atexit.register(self._signal, signal.SIGKILL)

    @property
    def address(self) -> str:
        """Where it will answer."""
        return f"http://127.0.0.1:{self.port}/v1"

    def ended(self, wait: float = 0.0) -> bool:
        """Whether the process is gone, or goes within `wait` seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(wait)
        return self._process.returncode is not None

    def log_tail(self) -> str:
        """The end of the log, for a message."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - 400 * _LOG_LINES))
            lines = log.read().decode(errors="replace").splitlines()[-_LOG_LINES:]
        last = "\n".join(f"    {redact(line)}" for line in lines)
        return f"the whole log is {self.log}" + (f", its end:\n{last}" if last else " (empty)")

    async def wait_until_healthy(self, seconds: float) -> None:
        """Return once /health answers; NotReadyError with the log's end if the process ends or the time is over."""
        import httpx2

        deadline = asyncio.get_running_loop().time() + seconds
        async with httpx2.AsyncClient(timeout=LOOK_UP_SECONDS, trust_env=False) as client:
            while True:
                if self.ended():
                    raise NotReadyError(
                        f"vLLM ended before it was ready (exit code {self._process.returncode}); {self.log_tail()}",
                        kind="server-ended",
                    )
                with contextlib.suppress(httpx2.HTTPError):
                    health = await client.get(f"http://127.0.0.1:{self.port}/health")
                    if health.is_success:
                        return
                if asyncio.get_running_loop().time() > deadline:
                    raise NotReadyError(
                        f"vLLM was not ready within {seconds:g} s (GENAIPA_VLLM_START_TIMEOUT); {self.log_tail()}",
                        kind="timeout",
                    )
                await asyncio.sleep(_POLL_SECONDS)

    async def stop(self, *, keep_log: bool) -> None:
        """End the process and its workers: asked first, then killed."""
        self._signal(signal.SIGTERM)
        await asyncio.to_thread(self.ended, _STOP_SECONDS)
        # Also where it ended by itself: a worker may be left that holds the accelerator's memory.
        self._signal(signal.SIGKILL)
        self._process.wait()
        atexit.unregister(self._signal)
        if not keep_log:
            self.log.unlink(missing_ok=True)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


class VllmSystem(CompatibleSystem):
    """`vllm/MODEL`: the server at VLLM_BASE_URL (its key, if it wants one, in VLLM_API_KEY), or one started here.

    GENAIPA_VLLM_COMMAND stands for `vllm` (a container, another environment); GENAIPA_VLLM_ARGS are added to
    `vllm serve`; GENAIPA_VLLM_START_TIMEOUT is how many seconds it may take to load the model.
    """

    provider: ClassVar[Provider] = Provider(
        name="vllm",
        form="vllm/MODEL",
        about="the server at VLLM_BASE_URL, or one that is started here",
        sdk="openai",
        extra="openai",
        packages=("vllm",),
        keys=("VLLM_API_KEY",),
        key_needed="optional",
        address="VLLM_BASE_URL",
        free=True,
        program=lambda: vllm_command().program,
    )
    listing = replace(CompatibleSystem.listing, complete=True)  # it serves what it was started with

    def __init__(self, *, name: str, model: str, accepts: frozenset[str]) -> None:
        super().__init__(name=name, model=model, accepts=accepts)
        self._server: VllmServer | None = None
        self._started = False

    def find_endpoint(self) -> Endpoint:
        """The server's address, with or without /v1 in the variable."""
        found = find_endpoint(self.provider, self.name, self._server.address if self._server is not None else None)
        return replace(found, address=f"{found.address.removesuffix('/v1')}/v1", ends="")

    async def start(self) -> Readiness:
        """Attach to the server, or start one and wait until it has loaded the model."""
        self._started = False
        need_sdk(self.name, self.provider)
        if read_variable("VLLM_BASE_URL") is None:
            limit = _start_limit()
            self._server = VllmServer(*_command(self.name), self.model)
            try:
                await self._server.wait_until_healthy(limit)
            except BaseException:
                await self.close()
                raise
        readiness = await super().start()
        self._started = True
        return readiness

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:
        """One chat completion; PermanentError with the log's end once a server that was started here is dead."""
        try:
            return await super().reply(messages, settings)
        except TransientError as error:
            # A dying server breaks its connections a moment before it is gone.
            moment = 1.0 if error.kind == "connection" else 0.0
            if self._server is None or not await asyncio.to_thread(self._server.ended, moment):
                raise
            raise PermanentError(
                f"{self.name}: the vLLM server ended during the run; {self._server.log_tail()}",
                kind="server-ended",
                fatal=True,
            ) from None

    async def count_tokens(self, text: str) -> int | None:
        """The server's own count, without the tokens that frame a conversation."""
        if self._client is None:
            return None
        root = self._endpoint.address.removesuffix("/v1")
        try:
            counted: Any = await self._client.post(
                f"{root}/tokenize",
                cast_to=object,
                body={"model": self.model, "prompt": text, "add_special_tokens": False},
                options={"timeout": LOOK_UP_SECONDS},
            )
        except (self._sdk.APIError, ValueError):
            return None
        return as_count(counted.get("count")) or None if isinstance(counted, dict) else None

    async def close(self) -> None:
        """Let go of the connections and stop the server if it was started here; its log stays if it failed."""
        await super().close()
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop(keep_log=not self._started or server.ended())


@dataclass(frozen=True)
class VllmCommand:
    """How a vLLM server is started here: the words before `serve`, the flags after it.

    `program` is where the first word is found, None if it isn't installed.
    """

    words: list[str]
    flags: list[str]
    program: str | None


def vllm_command() -> VllmCommand:
    """The command as the environment has it; a UsageError for a variable that can't be read."""
    words = read_words("GENAIPA_VLLM_COMMAND") or ["vllm"]
    return VllmCommand(words, read_words("GENAIPA_VLLM_ARGS"), shutil.which(words[0]))


def _command(system: str) -> tuple[list[str], list[str]]:
    """How vLLM is called here, and the user's flags; NotReadyError naming both ways if it isn't installed."""
    command = vllm_command()
    if command.program is None:
        raise NotReadyError(
            f"{system} needs a vLLM server: set VLLM_BASE_URL to one that runs, or install vLLM here "
            f"(pip install 'genaipa[vllm]'; '{command.words[0]}' was not found).",
            kind="missing-server",
        )
    return [command.program, *command.words[1:]], command.flags


def _start_limit() -> float:
    given = read_variable("GENAIPA_VLLM_START_TIMEOUT")
    if given is None:
        return _START_SECONDS
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"GENAIPA_VLLM_START_TIMEOUT is '{given}'; give a number of seconds above 0.")
    return seconds
