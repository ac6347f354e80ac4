"""A Word document (.docx) as a web page, which becomes Markdown like any other."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from genaipa.errors import DataError

MOST_BYTES = 20_000_000
"""Unpacked text and markup of a file at most; pictures are not read."""

MOST_ELEMENTS = 100_000
"""Elements of a page at most: a long policy has some thousand."""
MOST_IN_WORD = 200_000
"""Elements of a Word document at most, which takes several for a few words."""
# Whatever they are called: the prefix of a name is the file's own.
_ELEMENTS = re.compile(rb"<[^/?!]")

TEXT = "word/document.xml"
# Word's title of a whole document is a paragraph style, which is no heading to the library.
_STYLES = "p[style-name='Title'] => h1:fresh"


def is_word(raw: bytes) -> bool:
    """Whether these bytes are a Word document, by their list of files."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return TEXT in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False


def as_page(raw: bytes, source: str, mammoth: Any) -> tuple[str, int]:
    """Convert to HTML with the library `mammoth`, and count the headings whose numbers only Word generates.

    A DataError for anything that can't be read.
    """
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(source, "is an old Word document or one with a password; save it as .docx without a password.")
    if not is_word(raw):
        raise DataError(source, "is not a Word document that can be read.")
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        read = [member for member in archive.infolist() if member.filename.endswith((".xml", ".rels"))]
        if sum(member.file_size for member in read) > MOST_BYTES:
            raise DataError(source, f"holds more than {MOST_BYTES // 1_000_000} MB of text; save it as a .txt file.")
        # The library needs minutes and gigabytes for a few kilobytes of packed paragraphs.
        if sum(len(_ELEMENTS.findall(archive.read(member))) for member in read) > MOST_IN_WORD:
            raise DataError(source, f"has more than {MOST_IN_WORD:,} elements; save it as a .txt file.")
    numbered: list[Any] = []

    def note(paragraph: Any) -> Any:
        heading = re.match(r"heading \d", paragraph.style_name or "", re.IGNORECASE)
        if heading and paragraph.numbering is not None and paragraph.numbering.is_ordered:
            numbered.append(paragraph)
        return paragraph

    try:
        found = mammoth.convert_to_html(
            io.BytesIO(raw),
            style_map=_STYLES,
            convert_image=lambda _image: [],
            transform_document=mammoth.transforms.paragraph(note),
            include_embedded_style_map=False,
        )
    except Exception as error:
        # A broken file can make the library and its parser raise anything.
        raise DataError(source, f"is not a Word document that can be read ({type(error).__name__}).") from error
    return f"<html><body>{found.value}</body></html>", len(numbered)
