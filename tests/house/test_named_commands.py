"""Commands that messages name: each exists, with the flags that stand behind it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from source import PACKAGES, ROOT

from genaipa.cli import root_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMED = re.compile(r"(?:['`:(] ?|\A|with |\n)genaipa ([a-z][a-z-]*)((?: [\w./-]+| \{\})*)")
"""A command in quotes, behind a colon or "with", or at the beginning: prose says what genaipa does, not so."""
PROSE = {
    "or",
    "works",
    "ignores",
    "stopped",
    "reads",
    "separated",
    "wrote",
    "is",
    "needs",
    "ships",
    "itself",
    "starts",
    "finds",
    "desk",
    "can",
    "has",
    "and",
    "for",
}


def words_of(node: ast.AST) -> str:
    """The text of a literal or f-string, with {} for each value; of `command("genaipa", …)`, its words."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "command":
        return " ".join(words_of(argument) or "{}" for argument in node.args)
    return ""


def named(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(command, what stands behind it) of each that a file names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for found in NAMED.finditer(words_of(node)):
            if found[1] not in PROSE:
                yield found[1], found[2].split()


def flags_of(words: list[str]) -> set[str] | None:
    """The flags of the command that these words begin with; None if there is none."""
    command: Any = root_command()
    flags: set[str] = set()
    for place, word in enumerate(words):
        inner = command.get_command(None, word) if hasattr(command, "commands") else None
        if inner is None:
            # The words of a group that has a default belong to that.
            default = "list" if hasattr(command, "commands") and command.get_command(None, "list") else ""
            return None if place == 0 else flags | (flags_of([*words[:place], default]) or set() if default else set())
        command = inner
        flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    return flags


def test_every_command_that_is_named_exists() -> None:
    """A hint can be pasted: the command is there, with its subcommand and each flag."""
    seen, wrong = set(), []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for name, words in named(path):
                seen.add((name, *words))
                known = flags_of([name, *words])
                if known is None or not {word for word in words if word.startswith("--")} <= known:
                    wrong.append((path.relative_to(ROOT).as_posix(), name, words))
    assert wrong == []
    assert len(seen) > 50
