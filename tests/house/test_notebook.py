"""The notebook in docs/ runs from top to bottom, in an empty folder and without a key, and shows what it ships with."""

from __future__ import annotations

import copy
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

import genaipa

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "guide" / "two-models.ipynb"
MOST_BYTES = 400_000
STAMP = re.compile(r"\d{8}-\d{6}(-\d+)?")


def outputs(notebook: dict[str, Any], kind: str) -> list[str]:
    """What the cells show of one kind, without the time of the run."""
    data = [output["data"] for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [STAMP.sub("STAMP", "".join(one[kind])) for one in data if kind in one]


@pytest.mark.full
def test_the_notebook_runs_and_shows_what_it_ships_with() -> None:
    """Every cell works in turn, and shows a run, frames and in the end a heat map of both models and five metrics."""
    shipped = json.loads(PAGE.read_text(encoding="utf-8"))
    again = copy.deepcopy(shipped)
    shown = [
        found for found in runpy.run_path(str(DOCS / "generate_notebook.py"))["executed"](again) if found is not None
    ]
    (run,) = (found for found in shown if isinstance(found, genaipa.Run))
    assert (run.status, len(run.answers()), run.failures()) == ("complete", 24, [])
    frames = [found for found in shown if isinstance(found, pd.DataFrame)]
    assert [len(found) for found in frames] == [5, 2, 5]
    assert genaipa.scores(run)["m_all"].notna().all()
    assert isinstance(shown[-1], Figure)
    labels = {label.get_text() for axes in shown[-1].axes for label in axes.get_xticklabels()}
    assert {"relevance", "reference"} <= {label.lower() for label in labels}
    assert Path("heat-map.png").stat().st_size > 10_000
    kind = "text/plain"
    assert outputs(again, kind) == outputs(shipped, kind), "run: python docs/generate_notebook.py"


def test_the_notebook_ships_with_its_outputs() -> None:
    """A heat map and a leaderboard are in the file, for whoever only reads it; nothing of the machine is."""
    text = PAGE.read_text(encoding="utf-8")
    shipped = json.loads(text)
    (picture,) = outputs(shipped, "image/png")
    assert picture.startswith("iVBOR")
    assert len(picture) > 10_000
    assert any("<table" in html and "M_all" in html for html in outputs(shipped, "text/html"))
    code = [cell for cell in shipped["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not re.search(r"(?:^|[\s\"'(>])(?:/(?:home|Users|root|tmp|work|var)/|[A-Z]:\\\\)", text)
    assert "seconds" not in "".join(outputs(shipped, "text/plain"))
    assert len(text.encode()) < MOST_BYTES
