"""What stands in one cell of a table: text that no spreadsheet takes for a formula, and numbers as people write them.

A cell that a spreadsheet would take for a formula is given an apostrophe in front, and loses it when it is read back.
In a CSV file the same is done behind each semicolon, tab and line break of a text, because a spreadsheet that expects
another separator than the comma begins a cell there.
"""

from __future__ import annotations

import re

# What a spreadsheet takes for the beginning of a formula, also in the full-width forms; before it may stand blanks,
# which some spreadsheets drop, and the apostrophes of a text that has them itself. No separator is among the blanks,
# so that each stretch of a text is looked at once.
_FORMULA = r"(?=(?:'|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r])"
_BEGINNINGS = {True: r"(?:\A|(?<=[;\t\r\n]))", False: r"\A"}
_LIVE = {csv: re.compile(beginning + _FORMULA) for csv, beginning in _BEGINNINGS.items()}
_GUARDED = {csv: re.compile(f"{beginning}'{_FORMULA}") for csv, beginning in _BEGINNINGS.items()}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2012\ufe63\uff0d", "-") | {",": "."})


def harmless(text: str, *, csv: bool) -> str:
    """The text as a cell that no spreadsheet takes for a formula; `plain` gives the text back."""
    return _LIVE[csv].sub("'", text)


def plain(cell: str, *, csv: bool) -> str:
    """The text that `harmless` made this cell of; any other cell as it is."""
    return _GUARDED[csv].sub("", cell)


def number(cell: str) -> float:
    """The number in a cell: "+1", "0,5" and a typographic minus too; a ValueError for anything else."""
    text = "".join(cell.split()).translate(_MINUS)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{cell}' is not a number")
    return float(text)
