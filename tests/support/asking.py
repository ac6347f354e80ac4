"""Conversations to put to a system, and how a test puts them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from genaipa.systems.base import Message, Readiness, Reply, Settings, System

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_SETTINGS = frozenset({"temperature", "seed", "max_tokens"})
QUESTION = (Message("user", "Is my data encrypted?"),)
DOCUMENT = Message("user", "The policy, “all” of it, é. " * 50, breakpoint=True)
FIRST = (DOCUMENT, Message("user", "Is my data sold?"))
SECOND = (*FIRST, Message("assistant", "No."), Message("user", "Is it encrypted?"))


def ask(
    system: System, *conversations: Sequence[Message], settings: Settings | None = None
) -> tuple[Readiness, list[Reply]]:
    """Start the system, put the conversations to it one after another, close it."""

    async def all_of_it() -> tuple[Readiness, list[Reply]]:
        readiness = await system.start()
        try:
            return readiness, [await system.reply(messages, settings or Settings()) for messages in conversations]
        finally:
            await system.close()

    return asyncio.run(all_of_it())


def count(system: System, text: str) -> int | None:
    """Start the system, let it count a text's tokens, close it."""

    async def all_of_it() -> int | None:
        await system.start()
        try:
            return await system.count_tokens(text)
        finally:
            await system.close()

    return asyncio.run(all_of_it())
