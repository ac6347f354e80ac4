"""Copies of genaipa with changes of one's own, and a process that imports one and carries out what tests ask of it."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

from commandline import Finished, call
from source import PACKAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = ("prompts", "questions", "policies", "annotations", "rubrics")


def copy_genaipa(into: Path, *packages: str) -> Path:
    """Copy genaipa into a folder, with these packages beside it and links to its data."""
    # With the bytecode, which holds for the files that the copy leaves as they are.
    for package in ("genaipa", *packages):
        shutil.copytree(ROOT / package, into / package)
    for data in DATA:
        (into / data).symlink_to(ROOT / data)
    return into


def remove_packages(copy: Path) -> None:
    """Take all packages beside the core out of a copy, with their entry points."""
    installed = distribution("genaipa")
    information = copy / f"genaipa-{installed.version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(installed.read_text("METADATA") or "")
    (information / "entry_points.txt").write_text("")
    break_packages(copy)


def break_packages(copy: Path) -> None:
    """Let nobody import a package beside the core from a copy, as if its files were gone."""
    # The checkout is on the path too: there it would be found.
    for package in PACKAGES - {"genaipa"}:
        (copy / f"{package}.py").write_text("raise ModuleNotFoundError('it is gone')\n")


@dataclass
class Interpreter:
    """A process with other modules than this one's; it has the test's environment and working folder for each call."""

    process: subprocess.Popen[str]
    path: str

    def __call__(self, *args: str | Path) -> Finished:
        """`genaipa ARGS`."""
        return self._send({"args": [*map(str, args)]})

    def execute(self, code: str) -> str:
        """Execute code; what it printed."""
        done = self._send({"code": code})
        assert done.code == 0, done.err
        return done.out

    def _send(self, asked: dict[str, object]) -> Finished:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        environment = dict(os.environ) | {"PYTHONPATH": f"{self.path}{os.pathsep}{os.environ['PYTHONPATH']}"}
        print(json.dumps(asked | {"environment": environment, "folder": str(Path.cwd())}), file=self.process.stdin)
        self.process.stdin.flush()
        return Finished(*json.loads(self.process.stdout.readline()))


@contextmanager
def interpreter(path: Path) -> Iterator[Interpreter]:
    """Start a process that finds modules in a folder first."""
    support = str(Path(__file__).parent)
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join((str(path), support, os.environ["PYTHONPATH"]))}
    command = [sys.executable, "-c", "from copies import serve; serve()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=path
    ) as process:
        try:
            yield Interpreter(process, str(path))
        finally:
            process.kill()


def serve() -> None:
    """Carry out what comes in by standard input, line by line, as that process."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        importlib.invalidate_caches()
        done = _execute(asked["code"]) if "code" in asked else call(*asked["args"])
        print(json.dumps((done.code, done.out, done.err)), file=answers, flush=True)


def _execute(code: str) -> Finished:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(code, {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001 - the test fails with it
            return Finished(1, out.getvalue(), repr(error))
    return Finished(0, out.getvalue(), "")
