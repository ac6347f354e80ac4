"""Crafts for workers: they write a line into a file for each job, and do what the job says."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from genaipa.errors import NotReadyError, RunBusyError
from genaipa.workers.base import LostServerError


@dataclass
class Noting:
    """Notes what happens to it; a job is (number, what to do the first times, how often)."""

    folder: Path
    entered: str = ""
    """`refused` where nobody can enter; `first` where the first one can't."""

    def note(self, word: str) -> int:
        """Write a line, and count those of this word."""
        with (self.folder / "notes").open("a") as notes:
            notes.write(f"{word} {os.getpid()}\n")
        return sum(line.startswith(f"{word} ") for line in (self.folder / "notes").read_text().splitlines())

    def first(self) -> bool:
        """Whether nobody asked before."""
        try:
            (self.folder / "first").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    async def __aenter__(self) -> Self:
        if self.entered == "refused" or (self.entered == "first" and self.first()):
            raise NotReadyError("vllm/x needs a vLLM server.")
        self.note("enter")
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.note("leave")

    async def carry_out(self, job: Any, report: Any) -> Any:
        """Do as the job says."""
        number, what, times = job
        count = self.note(f"job-{number}")
        report(f"begun {number}")
        if count <= times:
            await self._do(what)
        return number * number

    async def _do(self, what: str) -> None:
        match what:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "leave":
                os.write(2, b"Fatal: a-key\n")
                os._exit(7)
            case "busy":
                raise RunBusyError("another process writes to it.")
            case "raise":
                raise ValueError("no such thing")
            case "server":
                raise LostServerError("the vLLM server ended.")
            case "sleep":
                try:
                    while not (self.folder / "woken").exists():  # noqa: ASYNC110 - another process makes it
                        await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    self.note("cancelled")
                    raise
