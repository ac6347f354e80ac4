"""Cells that no spreadsheet takes for a formula, and numbers as people write them.

A cell that would be read as a formula gets an apostrophe in front, which is removed when the cell is read back. In CSV
files so does each part behind a semicolon, tab or line break, where some spreadsheets begin a new cell.
"""

from __future__ import annotations

import re

# The first character of a formula (full-width forms too), behind blanks, which some spreadsheets drop, and the text's
# own apostrophes. Separators are not among the blanks, so that each stretch of a text is scanned once.
_FORMULA = r"(?=(?:'|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r])"
_BEGINNINGS = {True: r"(?:\A|(?<=[;\t\r\n]))", False: r"\A"}
_LIVE = {csv: re.compile(beginning + _FORMULA) for csv, beginning in _BEGINNINGS.items()}
_GUARDED = {csv: re.compile(f"{beginning}'{_FORMULA}") for csv, beginning in _BEGINNINGS.items()}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2012\ufe63\uff0d", "-") | {",": "."})


def escape_formula(text: str, *, csv: bool) -> str:
    """Escape a text for a cell; `unescape_formula` gives the text back."""
    return _LIVE[csv].sub("'", text)


def unescape_formula(cell: str, *, csv: bool) -> str:
    """Undo `escape_formula`; any other cell stays as it is."""
    return _GUARDED[csv].sub("", cell)


def parse_number(cell: str) -> float:
    """Read a number, also "+1", "0,5" or one with a typographic minus; a ValueError for anything else."""
    text = "".join(cell.split()).translate(_MINUS)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{cell}' is not a number")
    return float(text)
