"""The log of scores can't be altered unseen: each event has a digest of its content and of the digest before it.

Whoever changes an event, takes one out or puts one in would have to make every digest after it again, and the last one
is easily noted elsewhere.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa.scoring.events import event_decoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.scoring.store import Store

START = ""
"""Digest before the first event."""
_decode = event_decoder().decode
TAIL = 100
"""Events whose digests are checked whenever a log is opened."""


class Link(NamedTuple):
    """An event as its row holds it: its number, its columns, its JSON, and its digest."""

    number: int
    id: str
    answer: str
    event: str
    digest: str


class State(NamedTuple):
    """The state of a database's log: its number of events, and the digest of the last one."""

    events: int
    head: str


class Verified(msgspec.Struct, frozen=True):
    """The result of reading a whole log: `breaks` has a sentence for each event that is not as it was written.

    One more says that the database itself no longer refuses to change events, where its triggers were dropped.

    `events` are the present ones, `head` is the digest of the last one.
    """

    events: int
    head: str
    breaks: list[str]


def link(before: str, event: str) -> str:
    """The digest of an event, given its JSON and the digest of the event before it."""
    return hashlib.sha256(f"{before}\n{event}".encode()).hexdigest()


def verify(store: Store, head: str = "") -> Verified:
    """Hold every event of a log against its digest; `head` is the last digest as it was noted at some time.

    A GenaipaError where the log can't be read.
    """
    state = store.chained()
    breaks: list[str] = []
    count, before, noted = 0, START, not head
    for here in store.links():
        breaks += _breaks(here, before)
        count, before = count + 1, here.digest
        noted = noted or here.digest == head
        if count == state.events and here.digest != state.head:
            breaks.append(f"event {here.number} is not the one that was written last: some were taken out or put in.")
    last = store.chained()
    if count > last.events:
        more = count - last.events
        breaks.append(f"{more:,} of {count:,} events {'was' if more == 1 else 'were'} put in by something else.")
    if count < state.events:
        missing = state.events - count
        breaks.append(f"{missing:,} of {state.events:,} events {'is' if missing == 1 else 'are'} missing.")
    if not noted:
        breaks.append(f"the head that was noted ({head[:12]}…) is none of the log's: it was made again since.")
    if lost := store.unguarded():
        gone = " and ".join(lost)
        breaks.append(f"the database no longer refuses to change or delete an event: somebody changed {gone}.")
    return Verified(count, before, breaks)


def tail_breaks(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Problems of the last events of a log.

    `rows` are the last `TAIL` events and the one before them, each a `Link` and the head of the log; where there is no
    event, one row of the head alone.
    """
    if not rows:
        yield "the digest of its last event is gone."
    links = [Link(*row[:-1]) for row in rows if row[0] is not None]
    before = links.pop(0).digest if len(links) > TAIL else START
    for here in links:
        yield from _breaks(here, before)
        before = here.digest
    if before != (rows[0][-1] if rows else START):
        yield "the last event is not the one that was written last."


def _breaks(here: Link, before: str) -> Iterator[str]:
    named = f"event {here.number} ({here.id})"
    if here.number < 1:
        yield f"{named} has a number below the first, by which nobody reads it."
    if not here.digest:
        yield f"{named} was written by something else than this genaipa: it has no digest."
    elif here.digest != link(before, here.event):
        yield f"{named} or the one before it is not as it was written."
    try:
        event = _decode(here.event)
    except msgspec.DecodeError:
        yield f"{named} can't be read."
        return
    if (event.id, event.answer) != (here.id, here.answer):
        yield f"{named} is filed under another id or answer than its own."
