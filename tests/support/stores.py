"""Stores of scores for tests, on SQLite and on a real PostgreSQL, and the events to put into them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import postgres

from genaipa.files.stamps import now
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import Values
from genaipa.scoring.store import ScoreStore
from rubrics import typed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

KINDS = ("sqlite", "postgresql")
GOOD = typed("11111")
POOR = typed("33233")


def empty_database(kind: str, folder: Path, config: pytest.Config) -> str:
    """The URL of an empty database of one of `KINDS`."""
    return f"sqlite:///{folder / 'scores.db'}" if kind == "sqlite" else postgres.database(config)


@contextlib.contextmanager
def opened(url: str) -> Iterator[ScoreStore]:
    """A store, closed in the end."""
    store = ScoreStore.open_or_create(url)
    try:
        yield store
    finally:
        store.close()


def score(analyst: str, answer: str, values: Values = GOOD, **more: Any) -> Event:
    """A finished score."""
    return Event(id=new_event_id(), time=now(), kind="score", analyst=analyst, answer=answer, values=values, **more)


def undo(event: Event, **other: Any) -> Event:
    """An undo of an event, by the same analyst, or with something `other` about it."""
    about = {"analyst": event.analyst, "answer": event.answer, "undoes": event.id, **other}
    return Event(id=new_event_id(), time=now(), kind="undo", **about)


def skip(analyst: str, answer: str) -> Event:
    """A skip."""
    return Event(id=new_event_id(), time=now(), kind="skip", analyst=analyst, answer=answer)


def kept(store: ScoreStore) -> list[Event]:
    """Every event, in order."""
    return [event for _, event in store.read_numbered_events()]


def until_the_next_moment() -> None:
    """Wait until the clock goes on that stamps events and drafts, which is true to the millisecond."""
    before = now()
    while now() == before:
        pass
