"""A row of a corpus: checked, as a document, and as a line of JSON."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec

from genaipa.errors import clipped
from genaipa.policies.adding import LONGEST_NAME
from genaipa.policies.document import LONGEST, About, Document, DocumentKind, too_long

NEEDED = ("name", "company", "text")
KNOWN = frozenset((*NEEDED, "date", "source", "language", "title", "license", "kind", "also"))
"""Columns with a meaning of their own; all others are groups."""
_SAID = ("date", "source", "language", "title", "license")
FACTS = ("language", "date", "source", "license", "kind")
"""Columns with a meaning of their own by which documents can be grouped as well."""
LAYER = "corpus"
"""The origin of a document of a corpus, in place of a layer of the workspace."""
_NAME = re.compile(r"[^\W_][\w.-]*")
_LONGEST_CELL = 2000
"""Characters of a cell beside the text."""


def document(cells: Mapping[str, Any]) -> Document:
    """The document of a row that was checked."""
    said: dict[str, Any] = {name: text_of(cells[name]) or "" for name in _SAID if name in cells}
    about = About(
        company=text_of(cells["company"]) or "",
        kind="regulation" if cells.get("kind") == "regulation" else "policy",
        groups={name: text_of(cells[name]) or "" for name in cells if name not in KNOWN},
        also=tuple(cells.get("also") or ()),
        **said,
    )
    return Document(text_of(cells["name"]) or "", cells["text"], about, LAYER)


def json_line(document: Document) -> bytes:
    """A document as a line of a corpus, with its end."""
    about = document.about
    known = {"kind": "" if document.kind == "policy" else document.kind, "also": about.also}
    known |= {name: getattr(about, name) for name in _SAID}
    said = {"name": document.name, "company": document.company, "text": document.text}
    given = {name: value for name, value in known.items() if value}
    return msgspec.json.encode(said | given | about.groups) + b"\n"


def group_of(document: Document, by: str) -> str:
    """The group of a document in a column: one of its groups, or of its facts (language, date, …); empty for none."""
    about = document.about
    if not by:
        return ""
    return about.groups.get(by, "") if by not in FACTS else str(getattr(about, by))


def text_of(value: object) -> str | None:
    """A cell in words; None for one that has none (a list, a mapping, bytes)."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, int | float | dt.date):
        return str(value)
    return None


def is_plain(cells: Mapping[str, Any]) -> bool:
    """Whether a row has nothing but texts, and they are as they should be: most are, and a million take a while."""
    for value in cells.values():
        if type(value) is not str:
            return False
    name, company, text = cells.get("name", ""), cells.get("company", ""), cells.get("text", "")
    return (
        len(name) <= LONGEST_NAME
        and _NAME.fullmatch(name) is not None
        and 0 < len(company) <= LONGEST_NAME
        and company.isprintable()
        and not company.isspace()
        and 0 < len(text) <= LONGEST
        and not text.isspace()
        and "\0" not in text
        and "kind" not in cells
        and sum(map(len, cells.values())) - len(text) <= _LONGEST_CELL
    )


def flaws(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every problem of a row by itself: the kind, and the words that are its own."""
    for name in NEEDED:
        if name not in cells:
            yield f"the column '{name}' is missing", ""
        elif cells[name] is None or (isinstance(cells[name], str) and not cells[name].strip()):
            yield f"the {name} is empty", ""
    for name, value in cells.items():
        if name == "also":
            if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
                yield "the column 'also' is no list of names", ""
        elif text_of(value) is None or (name == "text" and not isinstance(value, str | None)):
            yield f"the column '{clipped(name)}' holds no text", type(value).__name__
        elif name != "text" and len(str(value)) > _LONGEST_CELL:
            yield f"the column '{clipped(name)}' holds more than {_LONGEST_CELL:,} characters", ""
    yield from _unusable(cells)


def _unusable(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, company, text = (text_of(cells.get(one)) or "" for one in NEEDED)
    if name.strip() and not (_NAME.fullmatch(name) and len(name) <= LONGEST_NAME):
        rule = f"letters, digits, '.', '_' and '-', a letter or digit first, {LONGEST_NAME} at most"
        yield f"the name can be no document's ({rule})", repr(clipped(name))
    if len(company) > LONGEST_NAME or not company.isprintable():
        yield f"the company's name is not one line of at most {LONGEST_NAME} characters", ""
    if len(text) > LONGEST:
        yield "the text is too long", too_long(text).partition(";")[0]
    if "\0" in text:
        yield "the text is binary", ""
    if (text_of(cells.get("kind")) or "policy") not in get_args(DocumentKind):
        yield "the kind is neither policy nor regulation", ""
