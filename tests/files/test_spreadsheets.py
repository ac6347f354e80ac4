"""Spreadsheets that somebody sent: whatever is in them, reading ends soon, in rows or in a sentence."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest
from size import size

from genaipa.errors import DataError
from genaipa.scoring.tables import read_table
from genaipa_study.sheets import read_workbook

if TYPE_CHECKING:
    from collections.abc import Callable

SHEET = "xl/worksheets/sheet1.xml"
SENT = Path("sent.xlsx")


def good() -> dict[str, bytes]:
    """What is in the archive of a small spreadsheet."""
    made = openpyxl.Workbook()
    made.active.append(["digest", "note"])
    made.active.append(["a", "b"])
    made.save("good.xlsx")
    with zipfile.ZipFile("good.xlsx") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _entry: None) -> Path:
    """The same as a file, with something changed in what the archive says of each."""
    with zipfile.ZipFile(SENT, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for entry in archive.infolist():
            change(entry)
    return SENT


def encrypted(entry: zipfile.ZipInfo) -> None:
    """Say that a password is needed."""
    entry.flag_bits |= 1


def of_no_version(entry: zipfile.ZipInfo) -> None:
    """Say that it takes a later version of the format to read it."""
    entry.extract_version = 99


def of_no_method(entry: zipfile.ZipInfo) -> None:
    """Say that it is compressed in a way that nobody knows."""
    entry.compress_type = 99


def with_sheet(xml: str) -> dict[str, bytes]:
    """A spreadsheet whose sheet holds this."""
    begun = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return good() | {SHEET: f"{begun}{xml}</sheetData></worksheet>".encode()}


def sentence(path: Path) -> str:
    """What every reader of spreadsheets says of a file; it is the same."""
    said = set()
    for read in (lambda: read_table(path, "digest"), lambda: list(read_workbook(path))):
        with pytest.raises(DataError) as refused:
            read()
        said.add(str(refused.value))
    (one,) = said
    return one


def test_a_good_one_is_read() -> None:
    """The same archive, packed anew, has its rows."""
    packed(good())
    assert read_table(SENT, "digest").rows == [(2, ("a", "b"))]
    assert list(read_workbook(SENT)) == [("Sheet", [("digest", "note"), ("a", "b")])]


@pytest.mark.full
def test_what_is_no_spreadsheet_is_refused_in_a_sentence() -> None:
    """Encrypted and odd members, too many sheets, XML too deep, too many rows or columns, bytes that are nothing."""
    assert "is encrypted" in sentence(packed(good(), encrypted))
    for change in (of_no_version, of_no_method):
        assert "can't be read as a spreadsheet" in sentence(packed(good(), change))
    many = {f"xl/worksheets/sheet{n}.xml": b"<a/>" for n in range(2, 10_000)}
    assert "holds more than 1,000 files" in sentence(packed(good() | many))
    for deep in ("<a>" * 50_000, "<row>" * 5_000):
        assert "nested too deep" in sentence(packed(with_sheet(deep)))
    assert "has more than" in sentence(packed(with_sheet('<row r="1000000000"><c r="A1000000000"/></row>')))
    wide = "".join(f'<row r="{n}"><c r="XFD{n}"/></row>' for n in range(1, 1300))
    assert "has more than" in sentence(packed(with_sheet(wide)))
    for content in (b"", b"PK\3\4" + b"\xff" * 100, packed(good()).read_bytes()[:-40], b"digest,note\n"):
        SENT.write_bytes(content)
        assert "can't be read as a spreadsheet" in sentence(SENT)
    whole = packed(good()).read_bytes()
    for at in range(0, len(whole), size(small=2003, soak=509)):
        SENT.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        for read in (lambda: read_table(SENT, "digest"), lambda: list(read_workbook(SENT))):
            try:
                read()
            except DataError as error:
                assert "sent.xlsx" in str(error)  # noqa: PT017 - some changes do no harm
