"""Files of chats: a download as it is, a folder, or single files, each recognised by the keys of its items."""

from __future__ import annotations

import re
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, clip
from genaipa.files.limits import CHAT_SIZE, CHATS, ReadingAllowance, limit_reading
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa_exchange.assistant_exports import ASSISTANTS
from genaipa_exchange.chats import ChatFileLayout, ExportFile, decode_lenient_json
from genaipa_exchange.evaluation_files import EVALUATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYOUTS: tuple[ChatFileLayout, ...] = (*ASSISTANTS, *EVALUATIONS)
_WANTED = re.compile(
    r"(^|/)conversations(-\d+)?\.json$|/conversations/[^/]+\.json$|(^|/)conversation_\d+\.txt$|\.jsonl$", re.IGNORECASE
)
_GEMINI = re.compile(r"(gemini|bard).*\.json$|my ?activity\.json$", re.IGNORECASE)
"""Google calls its files in the language of the account, but not its products."""
_READABLE = (
    "genaipa can read exports from ChatGPT, Claude and Gemini (as JSON), results of promptfoo and lm-eval, and lines "
    'such as {"question": "…", "answer": "…"}'
)
_LOOKED_AT = 10
"""Entries by which a file is recognised."""
Items = list[tuple[str, msgspec.Raw]]


def read_chat_files(path: Path) -> Iterator[tuple[ChatFileLayout, ExportFile]]:
    """Yield the files of an export, with their layouts; a DataError where there is none that can be read."""
    is_export = False
    for source, name, raw, allowance in _read_possible_chat_files(path):
        items = _split_file_into_items(raw, allowance, name)
        layout = _recognize_layout(items)
        if layout is not None:
            is_export = True
            yield layout, ExportFile(source, name, items)
        elif not (name or path.is_dir()):
            _raise_unreadable_file_error(source, raw, items)
    if not is_export:
        raise DataError(path, f"holds no chats; {_READABLE}.")


def _read_possible_chat_files(path: Path) -> Iterator[tuple[Path, str, bytes, ReadingAllowance]]:
    """Yield the content of a file, or of the files in a folder or an archive that may hold chats."""
    if path.is_dir():
        for inner in sorted(path.rglob("*")):
            if inner.is_file() and _may_hold_chats(f"{path.name}/{inner.relative_to(path).as_posix()}"):
                yield from _read_possible_chat_files(inner)
        return
    with limit_reading(CHATS, path) as allowance:
        allowance.check_size(path.stat().st_size)
        if not zipfile.is_zipfile(path):
            yield path, "", path.read_bytes(), allowance
            return
        with allowance.open_zip_archive(path, _may_hold_chats) as archive:
            for name in sorted(filter(_may_hold_chats, archive.namelist())):
                yield path, name, archive.read(name), allowance


def _may_hold_chats(file_name: str) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(file_name).parts)
    return not hidden and bool(_WANTED.search(file_name) or _GEMINI.search(file_name))


def _split_file_into_items(raw: bytes, allowance: ReadingAllowance, member_name: str) -> Items:
    """List the entries of a file, each with its place."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    head = raw[:1000].lstrip()
    if not head.startswith((b"{", b"[")):
        return []
    try:
        items = _list_items_if_json_lines(raw) or _list_labelled_entries_of_json_value(raw)
    except DAMAGE as error:
        wrong = f"is damaged, or was cut off ({clip_error_message(error)}); download or copy it again."
        raise DataError(allowance.source, wrong, clip(member_name)) from None
    allowance.add_elements_within_limit(len(items), member_name)
    for entry, item in items:
        if len(memoryview(item)) > CHAT_SIZE:
            raise allowance.refusal_error(
                f"is larger than {CHAT_SIZE // 1_000_000} MB", f"{member_name} {entry}".strip()
            )
    return items


def _list_items_if_json_lines(raw: bytes) -> Items:
    """List the lines of a file that is a JSON object a line; none of any other file."""
    first, _, next_lines = raw.strip().partition(b"\n")
    try:
        decode_lenient_json(first, dict[str, msgspec.Raw])
    except DAMAGE:
        return []
    lines = enumerate(raw.split(b"\n"), 1) if next_lines else ()
    return [(f"line {n}", msgspec.Raw(line)) for n, line in lines if line.strip()]


def _list_labelled_entries_of_json_value(raw: bytes) -> Items:
    """List the entries of a file that is one JSON value; those of promptfoo stand one or two levels deep."""
    if raw.lstrip().startswith(b"["):
        return [(f"entry {n}", entry) for n, entry in enumerate(decode_lenient_json(raw, list[msgspec.Raw]), 1)]
    fields = decode_lenient_json(raw, dict[str, msgspec.Raw])
    if "results" not in fields:
        return [("entry 1", msgspec.Raw(raw))]
    results = fields["results"]
    if bytes(memoryview(results)[:1]) == b"{":
        results = decode_lenient_json(results, dict[str, msgspec.Raw]).get("results", msgspec.Raw(b"[]"))
    return [(f"result {n}", entry) for n, entry in enumerate(decode_lenient_json(results, list[msgspec.Raw]), 1)]


def _recognize_layout(items: Items) -> ChatFileLayout | None:
    """Return the layout whose keys one of the first entries has."""
    for _, item in items[:_LOOKED_AT]:
        try:
            keys = decode_lenient_json(item, dict[str, msgspec.Raw]).keys()
        except DAMAGE:
            continue
        if layout := next((layout for layout in LAYOUTS if layout.marks <= keys), None):
            return layout
    return None


def _raise_unreadable_file_error(path: Path, raw: bytes, items: Items) -> None:
    """Raise the DataError of a single file that is no export that can be read."""
    head = raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if head == b"<":
        raise DataError(path, "is not JSON; ask for the export as JSON (in Google's Takeout: My Activity, JSON).")
    if head not in (b"", b"{", b"["):
        raise DataError(path, f"is not JSON; {_READABLE}.")
    if not items:
        raise DataError(path, "is empty and holds no chats.")
    raise DataError(path, f"is not in the format of an export that genaipa knows; {_READABLE}.", items[0][0])
