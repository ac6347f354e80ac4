"""The journals of a run while it is asked."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from genaipa.errors import NoRoomError
from genaipa.runs.documents import encode_introduction
from genaipa.runs.journal import Journal
from genaipa.runs.manifest import ANSWERS, CONVERSATIONS
from genaipa.runs.records import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import ConversationRecord, Record
    from genaipa.systems.base import Message


class RunWriter:
    """The journals of a run that is held for writing. Use it from one event loop, and close it."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._introduction_digests = {
            conversation.id: conversation.introduction for conversation in folder.read_conversations()
        }
        self._read_introduction = lru_cache(maxsize=64)(folder.read_introduction)
        self._answers = Journal(folder.path / ANSWERS)
        self._conversations = Journal(folder.path / CONVERSATIONS)

    async def close(self) -> None:
        """Flush and close the files."""
        await self._answers.close()
        await self._conversations.close()

    async def append_and_get_offset(self, record: Record) -> int:
        """Keep a record, and return its byte offset; it is on disk by then. A RunBusyError for a run taken over."""
        self._folder.check_still_held()
        return await self._answers.append_and_get_offset(record)

    async def record_conversation_opening_once(self, conversation: ConversationRecord) -> None:
        """Keep how a conversation began, once."""
        if conversation.id not in self._introduction_digests:
            self._folder.check_still_held()
            self._introduction_digests[conversation.id] = conversation.introduction
            await self._conversations.append_and_get_offset(conversation)

    def has_begun(self, conversation_id: str) -> bool:
        """Tell whether a conversation has begun in this run."""
        return conversation_id in self._introduction_digests

    def opening_messages(self, conversation_id: str) -> list[Message] | None:
        """Return the messages with which a conversation began in this run; None if it has not begun yet."""
        digest = self._introduction_digests.get(conversation_id)
        return None if digest is None else list(self._read_introduction(digest))

    def store_introduction_and_get_digest(self, messages: Sequence[Message]) -> str:
        """Store the messages before the first question, and return their digest."""
        content = encode_introduction(messages)
        digest = hashlib.sha256(content).hexdigest()
        folder, lines = self._folder, self._folder.introductions
        if folder.has_file(DOCUMENTS):
            try:
                if digest not in lines:
                    lines.append_introduction(digest, content)
            except OSError as error:
                raise NoRoomError.from_os_error(lines.path, error) from None
        elif not folder.has_file(f"introductions/{digest}.json"):
            folder.write_file(f"introductions/{digest}.json", content)
        return digest
