"""Run docs/guide/two-models.ipynb and keep what its cells show: `python docs/generate_notebook.py`."""

from __future__ import annotations

import ast
import base64
import contextlib
import json
import os
import pprint
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent / "guide" / "two-models.ipynb"


def values(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Run the cells of code in turn, in the working folder; yield each with its value, None where it has none."""
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, PAGE.name, "exec"), names)  # noqa: S102 - our own page
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), PAGE.name, "eval"), names)  # noqa: S307 - our own page
        yield cell, value


def shown(value: Any) -> dict[str, Any]:
    """Return a notebook's display of a value, by its kind."""
    # As in a notebook, which has no width; pandas asks the terminal for its own.
    with pd.option_context("display.max_columns", 20, "display.width", 80):
        data: dict[str, Any] = {"text/plain": pprint.pformat(value).splitlines(keepends=True)}
    if html := getattr(value, "_repr_html_", str)():
        data["text/html"] = html.splitlines(keepends=True)
    if png := getattr(value, "_repr_png_", str)():
        data["image/png"] = base64.b64encode(png).decode() + "\n"
    return data


def executed(notebook: dict[str, Any]) -> list[Any]:
    """Run the cells and keep in each what it shows; return their values."""
    found = []
    for number, (cell, value) in enumerate(values(notebook), start=1):
        output = {"output_type": "execute_result", "metadata": {}, "execution_count": number}
        cell["execution_count"] = number
        cell["outputs"] = [] if value is None else [{**output, "data": shown(value)}]
        found.append(value)
    return found


if __name__ == "__main__":
    page = json.loads(PAGE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["GENAIPA_CACHE"] = "cache"
        executed(page)
    PAGE.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {PAGE}: {PAGE.stat().st_size // 1000} kB")
