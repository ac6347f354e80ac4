"""Replies that people bring in: the messages to paste into web chats, or to answer themselves, and what comes back.

Each conversation gets two files in the run's `sheets/`: `NN-….messages.txt` to paste from and `NN-….replies.txt` to
fill in, any number of replies at a time and in any order. The conversation that starts from a summary gets its files
once the summary is in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace as replace_fields

from genaipa.errors import DataError, OptionError, UnknownNameError, clip, format_shell_command
from genaipa.execution import calls
from genaipa.files.stamps import now
from genaipa.files.text import read_text
from genaipa.runs.authors import Authorship, append_authorship
from genaipa.runs.records import answer_digest
from genaipa.runs.writer import RunWriter
from genaipa.systems.thoughts import split_thoughts
from genaipa.tasks.base import walk_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.execution.ready import ReadySystem
    from genaipa.runs.folder import RunFolder
    from genaipa.systems.base import Message
    from genaipa.tasks.base import Call, Target, Task

_MARK = "@@@@@"
"""Begins genaipa's own lines in a fill-in file: nothing that a chat replies begins so."""
_REPLY_LINE = re.compile(rf"^{_MARK} message (\d+) · (\S+|\([^)]*\)) · .*$")
_CONVERSATION_LINE = re.compile(rf"^{_MARK} conversation: (.+)$")
_PASTE, _WRITE = f"{_MARK} Paste each reply", f"{_MARK} Write each answer"


@dataclass(frozen=True)
class ChatSheet:
    """One fresh chat: the messages that introduce it, then the calls whose replies are wanted, by key."""

    number: int
    name: str
    system: str
    introduction: tuple[Message, ...]
    calls: dict[str, Call]
    follows: Call | None = None
    """The call whose reply decided what is asked here, in the same chat; None for a fresh one."""

    @property
    def needs_chat_per_question(self) -> bool:
        """Whether every question wants a new chat of its own, begun with the introduction."""
        return next(iter(self.calls.values())).mode == "independent"


@dataclass
class ReplyCollectionOutcome:
    """The result of collecting replies by hand."""

    taken: int = 0
    known: int = 0
    conflicts: tuple[str, ...] = ()
    """Keys of answers for which another reply is kept already; `replace` lets the new one take its place."""
    final: tuple[str, ...] = ()
    """Keys of summaries for which another reply is kept already, which stays."""


class ManualRun:
    """The web chats of a run.

    Hold the run by `hold_for_writing_and_list_repairs()` around `write_new_sheets` and `record_replies`.
    """

    def __init__(self, folder: RunFolder, task: Task, systems: Sequence[ReadySystem]) -> None:
        self.folder = folder
        self.task = task
        self.systems = [ready for ready in systems if ready.resolved.is_manual]
        self.tally, self._offsets = folder.tally_records_and_map_offsets()

    def chats_with_known_messages(self) -> Iterator[ChatSheet]:
        """Every chat whose messages are known by now, in the order of the plan."""
        number = 0
        for ready in self.systems:
            sheet, chat, before = None, "", None  # type: ChatSheet | None, str, Call | None
            for call, are_messages_known in self._manual_calls_and_are_messages_known(ready.target):
                key = calls.call_record_key(self.task, ready.resolved.requested_name, call)
                conversation = calls.call_conversation_id(self.task, ready.resolved.requested_name, call)
                if conversation != chat or before is not None:
                    number += 1
                    if sheet is not None:
                        yield sheet
                    follows = before if conversation == chat else None
                    introduction = () if follows else tuple(m for m in call.messages[:-1] if m.role == "user")
                    name = key if follows else conversation
                    sheet = (
                        ChatSheet(number, name, ready.resolved.requested_name, introduction, {}, follows)
                        if are_messages_known
                        else None
                    )
                    chat = conversation
                if sheet is not None:
                    sheet.calls[key] = call
                # What is asked after a reply that decides it is known, and gets files, once that reply is in.
                before = call if call.mode == "shared" and not call.independent_of_reply else None
            if sheet is not None:
                yield sheet

    def _manual_calls_and_are_messages_known(self, target: Target) -> Iterator[tuple[Call, bool]]:
        """Every call that a person carries, and whether all is in that its messages depend on."""
        are_messages_known = True

        def find_reply_and_track_known(call: Call) -> str:
            nonlocal are_messages_known
            if call.kind == "acknowledgement" or call.independent_of_reply:
                return call.placeholder_reply
            recorded_reply = self._recorded_reply(calls.call_record_key(self.task, target.name, call))
            are_messages_known = are_messages_known and bool(recorded_reply)
            return recorded_reply or ""

        for dialogue in self.task.dialogues_raising_task_error(target):
            are_messages_known = True
            for call in walk_calls(dialogue, find_reply_and_track_known):
                if call.kind != "acknowledgement":
                    yield call, are_messages_known

    def sheets_and_keys_missing_replies(self) -> Iterator[tuple[ChatSheet, str]]:
        """Return the chats and keys whose replies are still wanted."""
        for sheet in self.chats_with_known_messages():
            for key in sheet.calls:
                if not self.tally.has_reply(key):
                    yield sheet, key

    def last_answered_call(self, sheet: ChatSheet) -> Call | None:
        """Return the last call of a chat whose reply is in; None while it has none."""
        answered_calls = [call for key, call in sheet.calls.items() if self.tally.has_reply(key)]
        return answered_calls[-1] if answered_calls else sheet.follows

    def write_new_sheets(self) -> list[Path]:
        """Write the files of every chat that has replies missing and no files yet; the new ones."""
        written = []
        for sheet in self.chats_with_known_messages():
            named = re.sub(r"[^A-Za-z0-9.]+", "-", sheet.name).strip("-")
            stem = f"sheets/{sheet.number:02}-{named}"
            if all(map(self.tally.has_reply, sheet.calls)):
                continue
            for suffix, text in (
                ("messages", self._format_messages_file(sheet)),
                ("replies", self._format_blank_replies_file(sheet)),
            ):
                path = self.folder.path / f"{stem}.{suffix}.txt"
                # A fill-in file may hold replies that were not collected yet: it is never written twice.
                if not path.exists():
                    self.folder.write_file(f"{stem}.{suffix}.txt", text.encode())
                    written.append(path)
        return written

    def _format_messages_file(self, sheet: ChatSheet) -> str:
        if sheet.system in self.systems_whose_replies_people_write:
            instruction = (
                "Read the messages one after another, and write an answer to each one marked 'keep the reply'."
            )
        elif sheet.needs_chat_per_question and len(sheet.calls) > 1:
            first = (
                "open one, paste the introduction message by message,\nwait for the reply to each, then paste"
                if sheet.introduction
                else "open one, and paste"
            )
            instruction = f"Ask every question in a new chat: {first} that question. Leave out the dashed lines."
        elif sheet.follows is not None:
            instruction = (
                f"Continue in the chat in which you asked {sheet.follows.label}. Paste the messages below one after\n"
                "another, each without its dashed line, and wait for the reply before you paste the next."
            )
        else:
            instruction = (
                "Open one new chat. Paste the messages below one after another, each without its dashed line, and\n"
                "wait for the reply before you paste the next."
            )
        lines = [f"{sheet.system}: {sheet.name}", "", instruction]
        messages = [(message, "introduction; the reply to it is not kept") for message in sheet.introduction]
        messages += [(call.messages[-1], f"{call.label}, keep the reply") for call in sheet.calls.values()]
        for number, (message, message_label) in enumerate(messages, 1):
            title = f"message {number} of {len(messages)} · {message_label}"
            lines += ["", f"{'-' * 20} {title} {'-' * 20}", "", message.content]
        return "\n".join(lines) + "\n"

    def _format_blank_replies_file(self, sheet: ChatSheet) -> str:
        is_written = sheet.system in self.systems_whose_replies_people_write
        # Which takes all of a run's files, those that people write among them.
        author = ("--author", "NAME") if self.systems_whose_replies_people_write else ()
        collect = format_shell_command("genaipa", "collect", self.folder.name, *author)
        lines = [
            f"{_MARK} conversation: {sheet.name}",
            f"{_WRITE if is_written else _PASTE} under its line; leave empty what you don't have yet. Then: {collect}",
        ]
        for number, call in enumerate(sheet.calls.values(), len(sheet.introduction) + 1):
            question_text = " ".join(call.messages[-1].content.split())
            # People read the question here; who pastes it has all of it in the other file.
            printed_question = question_text if is_written else clip(question_text)
            lines += ["", f"{_MARK} message {number} · {call.label} · {printed_question}", ""]
        return "\n".join(lines) + "\n"

    def read_replies_by_record_key(self, path: Path) -> dict[str, str]:
        """Key → reply from a fill-in file; a DataError for one that isn't whole: no reply may slide under another."""
        lines = read_text(path).splitlines()
        head = _CONVERSATION_LINE.match(lines[0]) if lines else None
        if head is None:
            raise DataError(path, "is not a fill-in file: its first line, which names the conversation, is missing.")
        keys = {
            c.label: key
            for s in self.chats_with_known_messages()
            if s.name == head.group(1)
            for key, c in s.calls.items()
        }
        if not keys:
            raise DataError(
                path, f"the conversation '{head.group(1)}' does not belong to {self.folder.name}.", "line 1"
            )
        replies: dict[str, list[str]] = {}
        current: list[str] = []
        for number, line in enumerate(lines[1:], 2):
            mark = _REPLY_LINE.match(line)
            if mark is not None:
                if mark.group(2) not in keys:
                    raise DataError(path, str(UnknownNameError("question", mark.group(2), keys)), f"line {number}")
                current = replies.setdefault(keys[mark.group(2)], [])
            elif line.startswith(_MARK) and not line.startswith((_PASTE, _WRITE)):
                raise DataError(path, f"a line that begins with {_MARK} was changed; restore it.", f"line {number}")
            elif replies:
                current.append(line)
            elif line.strip() and not line.startswith((_PASTE, _WRITE)):
                raise DataError(
                    path,
                    "there is a reply above the first question's line; move it below its question's line.",
                    f"line {number}",
                )
        lost = [label for label, key in keys.items() if key not in replies]
        if lost:
            raise DataError(path, f"the line '{_MARK} … · {lost[0]} · …' is missing; restore it above its reply.")
        texts = {key: "\n".join(reply_lines).strip() for key, reply_lines in replies.items()}
        return {key: text for key, text in texts.items() if text}

    async def record_replies(
        self,
        replies_by_key: dict[str, str],
        *,
        replace: bool = False,
        author: str = "",
        seconds: Mapping[str, float] | None = None,
    ) -> ReplyCollectionOutcome:
        """Keep replies; one that is known already is left alone, another text for it is a conflict unless `replace`.

        A summary is never replaced: answers may rest on it. `author` is who wrote them, without whom no reply of a
        system is taken whose replies people write; `seconds` are the times that they took, by key.
        """
        result = ReplyCollectionOutcome()
        wanted = {
            key: (sheet.system, call) for sheet in self.chats_with_known_messages() for key, call in sheet.calls.items()
        }
        unknown = next((key for key in replies_by_key if key not in wanted), None)
        if unknown is not None:
            raise UnknownNameError("answer", unknown, wanted)
        self.check_author_is_named(author, (wanted[key][0] for key in replies_by_key))
        writer = RunWriter(self.folder)
        try:
            for key, text in replies_by_key.items():
                recorded_reply = self._recorded_reply(key)
                if recorded_reply == split_thoughts(text).answer:
                    result.known += 1
                elif recorded_reply is not None and wanted[key][1].kind == "summary":
                    # The chat that starts from a summary is prepared with it, so a summary stays.
                    result.final = (*result.final, key)
                elif recorded_reply is not None and not replace:
                    result.conflicts = (*result.conflicts, key)
                else:
                    system, call = wanted[key]
                    writes = author if system in self.systems_whose_replies_people_write else ""
                    await self._record_reply(
                        writer, system, call, text, author=writes, seconds=(seconds or {}).get(key, 0.0)
                    )
                    result.taken += 1
        finally:
            await writer.close()
        self.tally, self._offsets = self.folder.tally_records_and_map_offsets()
        return result

    def check_author_is_named(self, author: str, systems: Iterable[str]) -> None:
        """Raise an OptionError if one of these systems has replies that people write, and no `author` is named."""
        written = [system for system in systems if system in self.systems_whose_replies_people_write]
        if written and not author:
            raise OptionError("author", f": who wrote the answers of {written[0]}? Nobody may score what they wrote.")

    @property
    def systems_whose_replies_people_write(self) -> set[str]:
        """The names of the systems whose replies people write."""
        return {ready.resolved.requested_name for ready in self.systems if ready.resolved.are_replies_written_by_people}

    async def _record_reply(
        self, writer: RunWriter, system: str, call: Call, text: str, *, author: str, seconds: float
    ) -> None:
        if not writer.has_begun(calls.call_conversation_id(self.task, system, call)):
            await calls.record_conversation_opening(writer, self.task, system, call)
        thoughts, reply, _ = split_thoughts(text)
        reading = self.task.read_reply_raising_task_error(call, reply)
        digest = answer_digest(call.digest, call.messages[-1].content, reply)
        blank = calls.make_record_without_reply(self.task, system, call)
        if author:
            # First, so that no answer is ever without its author.
            await append_authorship(self.folder, Authorship(blank.key, digest, author, now()))
        await writer.append_and_get_offset(
            replace_fields(
                blank,
                status="answered" if reply else "truncated",
                reply=reply,
                thoughts=thoughts,
                finish="by hand",
                seconds=seconds,
                digest=digest,
                prediction=reading.prediction,
                score=reading.score,
            )
        )

    def _recorded_reply(self, record_key: str) -> str | None:
        if not self.tally.has_reply(record_key):
            return None
        return self.folder.read_records_at([self._offsets[record_key]])[0].reply
