"""The Python files of this repository, and the texts in them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGES = {file.parent.name for file in ROOT.glob("genaipa*/__init__.py")}
"""The core and the packages beside it."""


def python_files(tracked: tuple[Path, ...]) -> list[Path]:
    """The Python files among the tracked ones."""
    return [path for path in tracked if path.suffix == ".py"]


@cache
def tree(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a file's syntax tree."""
    return list(ast.walk(tree(path)))


def texts(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """`file:line` and text of every string that is no docstring."""
    for path in paths:
        alone = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
        pieces = {id(piece) for node in nodes(path) if isinstance(node, ast.JoinedStr) for piece in node.values}
        for node in nodes(path):
            values = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(getattr(value, "value", "")) for value in values if isinstance(value, ast.Constant))
            if isinstance(node, ast.expr) and text and id(node) not in pieces and id(node) not in alone:
                yield f"{path}:{node.lineno}", text
