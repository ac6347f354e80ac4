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
from source import ROOT, nodes, python_files, texts

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = {"genaipa", "genaipa_ray", "genaipa_study", "genaipa_suites"}
MAX_LINES = {"file": 600, "file of tests": 800, "function": 80}

# The patterns are written so that this file doesn't match them itself.
STRAY = {
    "a path of one machine": re.compile(r"(?<![\w.~])/(?:root|work|(?:home|Users)/\w+)/\w|\b[A-Z]:\\Users\\"),
    "a package registry's host": re.compile(r"\b(?:pypi|pythonhosted|npmjs|anaconda)\.(?:org|com)\b"),
}
PROMISE = re.compile(r"\b(?:TOD[O]|FIXM[E])\b")
HIDDEN_NOUN = re.compile(
    r"\b(?:stands? (?:in|beside|before|behind|under|above|there|twice|again|where)|[Ww]hat(?:ever)? (?:stands|lies))\b"
)
NO_NOUN = re.compile(r"(?:What(?:ever)?|Where|Which|Whose|Who(?:ever)?|How (?:far|long|many|much))\b")
FLAG = re.compile(r"[ `(]--[a-z]")
COMMAND = re.compile(r"\bgenaipa (?:[^;,()]|$)*")
VAGUE = re.compile(r"(?:^|_)(?:utils?|helpers?|common|misc|manager)(?:$|_)")


def _lines_with(pattern: re.Pattern[str], paths: list[Path] | tuple[Path, ...]) -> list[str]:
    """`file:line: match` for every match, so that a failure says where to look."""
    found = []
    for path in paths:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8", errors="ignore").splitlines(), start=1):
            hit = pattern.search(line)
            if hit:
                found.append(f"{path}:{number}: {hit.group()}")
    return found


@pytest.mark.parametrize("what", STRAY)
def test_nothing_stray(tracked: tuple[Path, ...], what: str) -> None:
    """No file names a folder of the machine it was written on, or where that machine got its packages."""
    assert _lines_with(STRAY[what], tracked) == []


def test_no_promises(tracked: tuple[Path, ...]) -> None:
    """Code that lands is finished; what is left to do belongs into an issue."""
    assert _lines_with(PROMISE, python_files(tracked)) == []


def test_docstrings_name_their_thing(tracked: tuple[Path, ...]) -> None:
    """A docstring of the package begins with a verb or a noun, not with a clause that hides it."""
    paths = [path for path in python_files(tracked) if path.parts[0] in PACKAGES]
    assert [(place, text) for place, text in texts(paths, docstrings=True) if NO_NOUN.match(text)] == []


def test_nothing_stands_in_a_file(tracked: tuple[Path, ...]) -> None:
    """Code and documentation say where a thing is, and name it."""
    ours = [path for path in tracked if path.parts[0] in PACKAGES and path.suffix != ".jsonl"]
    read = [*ours, *(path for path in tracked if path.suffix == ".md")]
    # That page quotes what was noted about the paper's numbers.
    assert _lines_with(HIDDEN_NOUN, [path for path in read if path.name != "reproduction.md"]) == []


def test_messages_of_the_library_name_no_flag(tracked: tuple[Path, ...]) -> None:
    """Errors of `genaipa.run` are read in notebooks, which have no flags; a whole command may have some."""
    rooms = {"execution", "questions", "reports", "runs", "tasks"}
    paths = [path for path in python_files(tracked) if path.parts[0] in PACKAGES and path.parts[1] in rooms]
    found = ((place, COMMAND.sub("", text)) for place, text in texts(paths, docstrings=False))
    assert [(place, text) for place, text in found if FLAG.search(text)] == []


def test_every_test_says_what_it_shows(tracked: tuple[Path, ...]) -> None:
    """Every test function has a docstring."""
    silent = []
    for path in python_files(tracked):
        if path.parts[0] == "tests":
            for node in nodes(path):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                    silent += [] if ast.get_docstring(node) else [f"{path}: {node.name}"]
    assert silent == []


def test_files_stay_short(tracked: tuple[Path, ...]) -> None:
    """A Python file that no longer fits in a head holds more than one concept."""
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in python_files(tracked)}
    most = {path: MAX_LINES["file of tests" if path.parts[0] == "tests" else "file"] for path in lengths}
    assert {str(path): lines for path, lines in lengths.items() if lines > most[path]} == {}


def test_functions_stay_short(tracked: tuple[Path, ...]) -> None:
    """A function that no longer fits on a screen does more than one thing."""
    lengths = {
        f"{path}:{node.lineno}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in python_files(tracked)
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


@pytest.mark.parametrize("host", ["example.com", "192.0.2.1"])
def test_network_is_closed(host: str) -> None:
    """A test that would reach another machine is refused, in this process and in those it starts."""
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
