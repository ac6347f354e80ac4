"""The notebook in docs/ runs from top to bottom, in an empty folder and without a key."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import genaipa

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "two-models.ipynb"


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """What a notebook would show beneath the cell: the value of its last expression; None without one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, PAGE.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), PAGE.name, "eval"), names) if isinstance(last, ast.Expr) else None


def test_the_notebook_runs() -> None:
    """Every cell works in turn, and shows a run, frames and in the end a heat map of both models and five metrics."""
    cells = json.loads(PAGE.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code), "outputs are not committed"
    names: dict[str, Any] = {}
    shown = [found for cell in code if (found := run_cell("".join(cell["source"]), names)) is not None]
    (run,) = (found for found in shown if isinstance(found, genaipa.Run))
    assert (run.status, len(run.answers()), run.failures()) == ("complete", 24, [])
    assert [len(found) for found in shown if isinstance(found, pd.DataFrame)] == [5, 2, 5]
    assert names["scores"]["m_all"].notna().all()
    assert isinstance(shown[-1], Figure)
    assert shown[-1]._repr_png_().startswith(b"\x89PNG"), "a picture (image/png), without pyplot"
    labels = {label.get_text() for axes in shown[-1].axes for label in axes.get_xticklabels()}
    assert {"relevance", "reference"} <= {label.lower() for label in labels}
    assert Path("heat-map.png").stat().st_size > 10_000
