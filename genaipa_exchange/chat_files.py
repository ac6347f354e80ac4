"""Files of chats: a download as it is, a folder, or single files, each recognised by the keys of its items."""

from __future__ import annotations

import re
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, clip
from genaipa.files.limits import CHAT_SIZE, CHATS, Allowance, limit_reading
from genaipa.files.text import DAMAGE, why
from genaipa_exchange.assistant_exports import ASSISTANTS
from genaipa_exchange.chats import ExportFile, Layout, write_missing_numbers
from genaipa_exchange.evaluation_files import EVALUATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYOUTS: tuple[Layout, ...] = (*ASSISTANTS, *EVALUATIONS)
_WANTED = re.compile(
    r"(^|/)conversations(-\d+)?\.json$|/conversations/[^/]+\.json$|(^|/)conversation_\d+\.txt$|\.jsonl$", re.IGNORECASE
)
_GEMINI = re.compile(r"(gemini|bard).*\.json$|my ?activity\.json$", re.IGNORECASE)
"""Google calls its files in the language of the account, but not its products."""
_READABLE = (
    "what can be read are exports of ChatGPT, Claude and Gemini (as JSON), results of promptfoo and lm-eval, and lines "
    'such as {"question": "…", "answer": "…"}'
)
_LOOKED_AT = 10
"""Entries by which a file is recognised."""
Items = list[tuple[str, msgspec.Raw]]


def read_chat_files(path: Path) -> Iterator[tuple[Layout, ExportFile]]:
    """Yield the files of an export, with their layouts; a DataError where there is none that can be read."""
    is_export = False
    for source, name, raw, allowance in _open_files(path):
        items = _list_items(raw, allowance, name)
        layout = _recognize_layout(items)
        if layout is not None:
            is_export = True
            yield layout, ExportFile(source, name, items)
        elif not (name or path.is_dir()):
            _refuse_file(source, raw, items)
    if not is_export:
        raise DataError(path, f"holds no chats; {_READABLE}.")


def _open_files(path: Path) -> Iterator[tuple[Path, str, bytes, Allowance]]:
    """Yield the content of a file, or of the files in a folder or an archive that may hold chats."""
    if path.is_dir():
        for inner in sorted(path.rglob("*")):
            if inner.is_file() and _may_hold_chats(f"{path.name}/{inner.relative_to(path).as_posix()}"):
                yield from _open_files(inner)
        return
    with limit_reading(CHATS, path) as allowance:
        allowance.check_size(path.stat().st_size)
        if not zipfile.is_zipfile(path):
            yield path, "", path.read_bytes(), allowance
            return
        with allowance.archive(path, _may_hold_chats) as archive:
            for name in sorted(filter(_may_hold_chats, archive.namelist())):
                yield path, name, archive.read(name), allowance


def _may_hold_chats(name: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
    return not hidden and bool(_WANTED.search(name) or _GEMINI.search(name))


def _list_items(raw: bytes, allowance: Allowance, name: str) -> Items:
    """List the entries of a file, each with its place."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    head = raw[:1000].lstrip()
    if not head or head.startswith(b"<"):
        return []
    items: Items
    try:
        if head.startswith(b"["):
            items = [(f"entry {n}", one) for n, one in enumerate(msgspec.json.decode(raw, type=list[msgspec.Raw]), 1)]
        else:
            items = _list_results(raw)
    except DAMAGE as error:
        if not _has_lines(raw):
            wrong = f"is damaged, or was cut off ({why(error)}); download or copy it again."
            raise DataError(allowance.source, wrong, clip(name)) from None
        lines = ((n, line) for n, line in enumerate(raw.split(b"\n"), 1) if line.strip())
        items = [(f"line {n}", msgspec.Raw(write_missing_numbers(line))) for n, line in lines]
    allowance.count(len(items), name)
    for entry, item in items:
        if len(memoryview(item)) > CHAT_SIZE:
            raise allowance.refuse(f"is larger than {CHAT_SIZE // 1_000_000} MB", f"{name} {entry}".strip())
    return items


def _list_results(raw: bytes) -> Items:
    """List the results of promptfoo, which stand one or two levels deep; any other object is one entry."""
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    if "results" not in fields:
        return [("entry 1", msgspec.Raw(raw))]
    results = fields["results"]
    if bytes(memoryview(results)[:1]) == b"{":
        results = msgspec.json.decode(results, type=dict[str, msgspec.Raw]).get("results", msgspec.Raw(b"[]"))
    return [(f"result {n}", one) for n, one in enumerate(msgspec.json.decode(results, type=list[msgspec.Raw]), 1)]


def _has_lines(raw: bytes) -> bool:
    """Tell whether a file that is no JSON is a line of it after another, by the first one."""
    first, _, next_lines = raw.strip().partition(b"\n")
    try:
        msgspec.json.decode(write_missing_numbers(first), type=dict[str, msgspec.Raw])
    except DAMAGE:
        return False
    return bool(next_lines) or first != write_missing_numbers(first)


def _recognize_layout(items: Items) -> Layout | None:
    """Return the layout whose keys one of the first entries has."""
    for _, item in items[:_LOOKED_AT]:
        try:
            keys = msgspec.json.decode(item, type=dict[str, msgspec.Raw]).keys()
        except DAMAGE:
            continue
        if layout := next((layout for layout in LAYOUTS if layout.marks <= keys), None):
            return layout
    return None


def _refuse_file(path: Path, raw: bytes, items: Items) -> None:
    """Raise the DataError of a single file that is no export that can be read."""
    if raw.lstrip()[:1] == b"<":
        raise DataError(path, "is a web page; ask for the export as JSON (in Google's Takeout: My Activity, JSON).")
    if not items:
        raise DataError(path, "holds no chats: it is empty.")
    raise DataError(path, f"is laid out as no export that genaipa knows; {_READABLE}.", items[0][0])
