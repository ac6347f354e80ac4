"""The house rules that no linter knows."""

from __future__ import annotations

import ast
import re
import socket
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from source import PACKAGES, ROOT, nodes, python_files, texts

if TYPE_CHECKING:
    from pathlib import Path

MAX_LINES = {"file": 600, "file of tests": 800, "function": 80}

# The patterns are written so that this file doesn't match them itself.
STRAY = {
    "a path of one machine": re.compile(r"(?<![\w.~])/(?:root|work|(?:home|Users)/\w+)/\w|\b[A-Z]:\\Users\\"),
    "a package registry's host": re.compile(r"\b(?:pypi|pythonhosted|npmjs|anaconda)\.(?:org|com)\b"),
}
FLAG = re.compile(r"[ `(]--[a-z]")
COMMAND = re.compile(r"\bgenaipa (?:[^;,()]|$)*")
VAGUE = re.compile(r"(?:^|_)(?:utils?|helpers?|common|misc|manager)(?:$|_)")


def test_nothing_stray(tracked: tuple[Path, ...]) -> None:
    """No file names a folder of the machine it was written on, or where that machine got its packages."""
    assert [
        f"{path}: {what}: {hit.group()}"
        for path in tracked
        for text in [(ROOT / path).read_text(encoding="utf-8", errors="ignore")]
        for what, pattern in STRAY.items()
        for hit in pattern.finditer(text)
    ] == []


def test_messages_of_the_library_name_no_flag(tracked: tuple[Path, ...]) -> None:
    """Errors of `genaipa.run` are read in notebooks, which have no flags; a whole command may have some."""
    rooms = {"execution", "questions", "reports", "runs", "tasks"}
    paths = [path for path in python_files(tracked) if path.parts[0] in PACKAGES and path.parts[1] in rooms]
    found = ((place, COMMAND.sub("", text)) for place, text in texts(paths))
    assert [(place, text) for place, text in found if FLAG.search(text)] == []


def test_files_stay_short(tracked: tuple[Path, ...]) -> None:
    """A Python file that no longer fits in a head holds more than one concept."""
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in python_files(tracked)}
    most = {path: MAX_LINES["file of tests" if path.parts[0] == "tests" else "file"] for path in lengths}
    assert {str(path): lines for path, lines in lengths.items() if lines > most[path]} == {}


def test_functions_stay_short(tracked: tuple[Path, ...]) -> None:
    """A function that no longer fits on a screen does more than one thing; ruff counts those of tests (PLR0915)."""
    lengths = {
        f"{path}:{node.lineno}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in python_files(tracked)
        if path.parts[0] in PACKAGES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {place: lines for place, lines in lengths.items() if lines > MAX_LINES["function"]} == {}


def test_names_say_something(tracked: tuple[Path, ...]) -> None:
    """A module that wants to be called utils lacks its noun."""
    assert [
        str(path) for path in python_files(tracked) if any(VAGUE.search(part) for part in path.with_suffix("").parts)
    ] == []


def test_every_dependency_is_pinned() -> None:
    """constraints.txt is sorted, holds plain pins only, and pins everything that `make` installs by name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[\w.]+", line)] == []
    assert lines == sorted(set(lines))
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = pyproject["project"]["optional-dependencies"]
    wanted = [*pyproject["build-system"]["requires"], *pyproject["project"]["dependencies"]]
    wanted += [
        *(name for group in (extras, pyproject["dependency-groups"]) for names in group.values() for name in names)
    ]
    names = {re.split(r"[<>=\[]", requirement)[0] for requirement in wanted}
    # vLLM, torch, Inspect and Ray are large; CI has steps with all but vLLM, and pins for them. `all` means genaipa.
    files = (ROOT / ".ci" / f"{name}.txt" for name in ("encoders", "inspect", "ray"))
    apart = [line for file in files for line in file.read_text().splitlines()]
    pinned = {line.partition("==")[0] for line in (*lines, *apart)}
    assert names - {"vllm", "genaipa"} - pinned == set()
    assert "torch" not in extras["all"][0]
    assert "ray" not in extras["all"][0]


def test_floor_plan_is_whole() -> None:
    """Every room of the import contract stands in CONTRIBUTING.md's table, in the contract's order."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [layer.rpartition(".")[2] for row in layers for layer in row.split(" | ")]
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    shown = [name.strip("`/").rpartition("/")[2] for row in rows for name in row.split(", ")]
    assert shown == rooms


def test_network_is_closed() -> None:
    """A test that would reach another machine is refused, in this process and in those it starts."""
    for host in ("example.com", "192.0.2.1"):
        with pytest.raises(OSError, match=f"this one tried {host}"):
            socket.create_connection((host, 80), timeout=5)
    probe = f"import socket; socket.create_connection(({host!r}, 80), timeout=5)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    assert f"this one tried {host}" in done.stderr


def test_loopback_is_open() -> None:
    """A server on this machine can be reached by name and by address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        for host in ("localhost", "127.0.0.1"):
            socket.create_connection((host, server.getsockname()[1]), timeout=5).close()
