"""A conversation as a system had it: its introduction, the questions and replies before this one, and its reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.systems.base import Message, Purpose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, RecordKind

NO_WORDS = "(no answer)"
"""Stands in the history for a reply without text: providers refuse an empty message."""

_PURPOSES: dict[RecordKind, tuple[Purpose, Purpose]] = {
    "answer": ("question", "answer"),
    "summary": ("summary-request", "answer"),
    "acknowledgement": ("introduction", "acknowledgement"),
}
"""The roles of the question and the reply of each kind of record."""


def conversation(folder: RunFolder, record: Record, offsets: Mapping[str, int]) -> list[Message]:
    """The messages up to and with this record: introduction, turns before it, its question, the reply if any.

    `offsets` are the byte offsets of the latest record of each key (`folder.seen`): only the texts of this
    conversation are read.
    """
    near = folder.near(record.document)
    begun = next((c for c in near.conversations() if c.id == record.conversation), None)
    messages = []
    # Acknowledgements are asked for while an introduction is made: what came before them are others of theirs.
    making = record.kind == "acknowledgement"
    if begun is not None and not making:
        messages = near.introduction(begun.introduction)
    if making or (begun is not None and begun.mode == "shared"):
        for earlier in _before(folder, record, offsets):
            messages += _turn(earlier, earlier.reply or NO_WORDS)
    return messages + _turn(record, record.reply)


def _before(folder: RunFolder, record: Record, offsets: Mapping[str, int]) -> list[Record]:
    """The replies of the same kind that the same conversation had before this one, in their order."""
    start = record.key.removesuffix(record.question) if record.initialization else f"{record.system}|{record.task}|"
    near = folder.records_at([offset for key, offset in offsets.items() if key.startswith(start)])
    same = (r for r in near if (r.conversation, r.kind) == (record.conversation, record.kind))
    return sorted((r for r in same if r.turn < record.turn and r.reply is not None), key=lambda r: r.turn)


def _turn(record: Record, reply: str | None) -> list[Message]:
    asking, replying = _PURPOSES[record.kind]
    asked = Message("user", record.asked, asking)
    return [asked] if reply is None else [asked, Message("assistant", reply, replying)]
