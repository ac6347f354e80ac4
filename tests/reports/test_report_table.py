"""A table of a report: how its cells are written."""

from __future__ import annotations

import pandas as pd
import pytest

from genaipa.reports.table import Table

TABLE = Table("t", "A title", "A note.", pd.DataFrame({"mean": [1.0]}), formats={"mean": "+.1f"})


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.25, "+1.2"), (-33.75, "-33.8"), (-0.04, "0.0"), (0.0, "0.0"), (float("nan"), ""), (None, "")],
)
def test_a_number_is_written_as_its_column_says(value: float | None, written: str) -> None:
    """Signs are kept, what rounds to nothing has none, and what is absent is blank."""
    assert TABLE.format_cell("mean", value) == written


def test_a_column_without_a_format_is_written_as_it_is() -> None:
    """Text stays text, and a count stays whole."""
    assert TABLE.format_cell("system", "a/one") == "a/one"
    assert TABLE.format_cell("n", 3) == "3"


def test_a_table_without_rows_is_nothing_to_show() -> None:
    """An empty table is false, so that a report can leave it out."""
    assert TABLE
    assert not Table("t", "", "", pd.DataFrame({"mean": []}))
