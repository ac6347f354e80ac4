"""Web chats driven by hand: the messages to paste, in order, and the replies that come back.

Each conversation gets two files in the run's `sheets/`: `NN-….messages.txt` to paste from and `NN-….replies.txt` to
fill in, any number of replies at a time and in any order. The conversation that starts from a summary gets its files
once the summary is in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.errors import DataError, UnknownNameError
from genaipa.files.strict_yaml import read_text
from genaipa.runs.folder import now
from genaipa.runs.records import ConversationRecord, Record, answer_digest
from genaipa.tasks.procedure import SUMMARY, Conversation, opening, orders, plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.execution.prepare import Material, Ready
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Kind, RunSpec
    from genaipa.systems.base import Message

_MARK = "@@@@@"
"""Begins genaipa's own lines in a fill-in file: nothing that a chat replies begins so."""
_REPLY_LINE = re.compile(rf"^{_MARK} message (\d+) · (\S+|\([^)]*\)) · .*$")
_CONVERSATION_LINE = re.compile(rf"^{_MARK} conversation: (.+)$")
_ADVICE = f"{_MARK} Paste each reply"


@dataclass(frozen=True)
class Turn:
    """A message to paste whose reply is wanted."""

    key: str
    question: str
    kind: Kind
    number: int
    message: Message


@dataclass(frozen=True)
class Sheet:
    """One fresh chat: the messages that introduce the document, then the turns whose replies are wanted."""

    number: int
    name: str
    conversation: Conversation
    introduction: tuple[Message, ...]
    turns: tuple[Turn, ...]


@dataclass
class Collected:
    """What a collection brought."""

    taken: int = 0
    known: int = 0
    conflicts: tuple[str, ...] = ()


class ByHand:
    """The by-hand side of one run. Hold the run's `writing()` around `write_sheets` and `take`."""

    def __init__(self, folder: RunFolder, spec: RunSpec, material: Material, systems: Sequence[Ready]) -> None:
        self.folder = folder
        self.spec = spec
        self.material = material
        self.systems = [ready for ready in systems if ready.resolved.manual]
        self.tally, self._offsets = folder.seen()
        self._orders = orders(spec, material.questions)
        self.tally.plan(spec, self._orders)

    def sheets(self) -> Iterator[Sheet]:
        """Every chat whose messages are known by now, in the order of the plan."""
        number = 0
        for ready in self.systems:
            for conversation in plan(self.spec, self.material.questions, ready.resolved.asked):
                script = ready.scripts[conversation.document]
                summary = ""
                if conversation.summarizes:
                    number += 1
                    key = conversation.key(SUMMARY)
                    steps = script.summary_introduction(conversation.initialization)
                    request = script.summary_request(conversation.initialization)
                    turn = Turn(key, SUMMARY, "summary", len(steps) + 1, request)
                    yield Sheet(number, key, conversation, tuple(step.message for step in steps), (turn,))
                    summary = self._reply(key) or ""
                number += 1
                if conversation.summarizes and not summary:
                    continue
                introduction = script.introduction(conversation.initialization, summary)
                turns = tuple(
                    Turn(conversation.key(q), q, "answer", n, script.question(q, conversation.wording))
                    for n, q in enumerate(conversation.order, 1)
                )
                yield Sheet(number, conversation.id, conversation, tuple(s.message for s in introduction), turns)

    def missing(self) -> Iterator[tuple[Sheet, Turn]]:
        """The turns whose replies are still wanted."""
        for sheet in self.sheets():
            for turn in sheet.turns:
                if not self.tally.kept(turn.key):
                    yield sheet, turn

    def last_kept(self, sheet: Sheet) -> Turn | None:
        """The last turn of a chat whose reply is in; None while it has none."""
        kept = [turn for turn in sheet.turns if self.tally.kept(turn.key)]
        return kept[-1] if kept else None

    def write_sheets(self) -> list[Path]:
        """Write the files of every chat that has replies missing and no files yet; the new ones."""
        written = []
        for sheet in self.sheets():
            stem = f"sheets/{sheet.number:02}-{_slug(sheet.name)}"
            if all(self.tally.kept(turn.key) for turn in sheet.turns):
                continue
            for suffix, text in (("messages", self._messages(sheet)), ("replies", self._replies(sheet))):
                path = self.folder.path / f"{stem}.{suffix}.txt"
                # A fill-in file may hold replies that were not collected yet: it is never written twice.
                if not path.exists():
                    self.folder.write_file(f"{stem}.{suffix}.txt", text.encode())
                    written.append(path)
        return written

    def _messages(self, sheet: Sheet) -> str:
        if self.spec.conversation == "independent" and len(sheet.turns) > 1:
            how = (
                "Every question wants a new chat of its own: open one, paste the introduction message by message,\n"
                "wait for the reply to each, then paste that one question. Leave the dashed lines out."
            )
        else:
            how = (
                "Open one new chat. Paste the messages below one after another, each without its dashed line, and\n"
                "wait for the reply before you paste the next."
            )
        lines = [f"{sheet.conversation.system}: {sheet.name}", "", how]
        messages = [(message, "introduction, its reply is not kept") for message in sheet.introduction]
        messages += [(turn.message, f"{turn.question}, keep the reply") for turn in sheet.turns]
        for number, (message, what) in enumerate(messages, 1):
            title = f"message {number} of {len(messages)} · {what}"
            lines += ["", f"{'-' * 20} {title} {'-' * 20}", "", message.content]
        return "\n".join(lines) + "\n"

    def _replies(self, sheet: Sheet) -> str:
        lines = [
            f"{_MARK} conversation: {sheet.name}",
            f"{_ADVICE} under its line; leave what you don't have yet empty. Then: genaipa collect {self.folder.name}",
        ]
        for number, turn in enumerate(sheet.turns, len(sheet.introduction) + 1):
            asked = " ".join(turn.message.content.split())
            lines += ["", f"{_MARK} message {number} · {turn.question} · {asked[:100]}", ""]
        return "\n".join(lines) + "\n"

    def filled(self, path: Path) -> dict[str, str]:
        """Key → reply from a fill-in file; a DataError for one that isn't whole: no reply may slide under another."""
        lines = read_text(path).splitlines()
        head = _CONVERSATION_LINE.match(lines[0]) if lines else None
        if head is None:
            raise DataError(path, "is not a fill-in file: its first line, which names the conversation, is missing.")
        turns = {t.question: t for sheet in self.sheets() if sheet.name == head.group(1) for t in sheet.turns}
        if not turns:
            raise DataError(path, f"the conversation '{head.group(1)}' is not one of {self.folder.name}.", "line 1")
        replies: dict[str, list[str]] = {}
        current: list[str] = []
        for number, line in enumerate(lines[1:], 2):
            mark = _REPLY_LINE.match(line)
            if mark is not None:
                if mark.group(2) not in turns:
                    raise DataError(path, str(UnknownNameError("question", mark.group(2), turns)), f"line {number}")
                current = replies.setdefault(turns[mark.group(2)].key, [])
            elif line.startswith(_MARK) and not line.startswith(_ADVICE):
                raise DataError(path, f"a line that begins with {_MARK} was changed; put it back.", f"line {number}")
            elif replies:
                current.append(line)
            elif line.strip() and not line.startswith(_ADVICE):
                raise DataError(path, "a reply stands above the first question's line.", f"line {number}")
        lost = [turn.question for turn in turns.values() if turn.key not in replies]
        if lost:
            raise DataError(path, f"the line '{_MARK} … · {lost[0]} · …' is missing; put it back above its reply.")
        texts = {key: "\n".join(found).strip() for key, found in replies.items()}
        return {key: text for key, text in texts.items() if text}

    async def take(self, replies: dict[str, str], *, replace: bool = False) -> Collected:
        """Keep replies; one that is known already is left alone, another text for it is a conflict unless `replace`.

        A summary is never replaced: answers may rest on it.
        """
        result = Collected()
        turns = {turn.key: (sheet, turn) for sheet in self.sheets() for turn in sheet.turns}
        self.folder.open_journals()
        try:
            for key, text in replies.items():
                if key not in turns:
                    raise UnknownNameError("answer", key, turns)
                known = self._reply(key)
                if known == text:
                    result.known += 1
                elif known is not None and (not replace or turns[key][1].kind == "summary"):
                    # The chat that starts from a summary is prepared with it, so a summary stays.
                    result.conflicts = (*result.conflicts, key)
                else:
                    await self._keep(*turns[key], text)
                    result.taken += 1
        finally:
            await self.folder.close_journals()
        self.tally, self._offsets = self.folder.seen()
        self.tally.plan(self.spec, self._orders)
        return result

    async def _keep(self, sheet: Sheet, turn: Turn, text: str) -> None:
        conversation = sheet.conversation
        document = self.material.digests.documents[conversation.document]
        script = next(r.scripts[conversation.document] for r in self.systems if r.resolved.asked == conversation.system)
        steps = (
            script.summary_introduction(conversation.initialization)
            if turn.kind == "summary"
            else script.introduction(conversation.initialization, self._reply(conversation.key(SUMMARY)) or "")
        )
        await self.folder.begin(
            ConversationRecord(
                id=sheet.name,
                system=conversation.system,
                document=conversation.document,
                document_digest=document,
                initialization=conversation.initialization,
                wording=conversation.wording,
                repetition=conversation.repetition,
                mode=self.spec.conversation,
                introduction=self.folder.keep_introduction(opening(steps)),
                order=conversation.order,
            )
        )
        await self.folder.append(
            Record(
                key=turn.key,
                status="answered",
                conversation=sheet.name,
                kind=turn.kind,
                system=conversation.system,
                document=conversation.document,
                initialization=conversation.initialization,
                wording=conversation.wording,
                repetition=conversation.repetition,
                question=turn.question,
                turn=turn.number,
                asked=turn.message.content,
                reply=text,
                started=now(),
                seconds=0.0,
                finish="by hand",
                digest=answer_digest(document, turn.message.content, text),
            )
        )

    def _reply(self, key: str) -> str | None:
        if not self.tally.kept(key):
            return None
        return self.folder.records_at([self._offsets[key]])[0].reply


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
