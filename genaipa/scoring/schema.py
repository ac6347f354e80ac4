"""The tables that scores are kept in, and how a database of an older genaipa is brought forward.

A database's version is the number of steps that it has taken; an empty one has taken none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

STEPS: tuple[tuple[str, ...], ...] = (
    # 1: an event is kept whole, as the JSON of `events.Event`; beside it stand only the columns that it is found by.
    (
        "CREATE TABLE score_events (seq {number}, id TEXT NOT NULL UNIQUE, answer TEXT NOT NULL, event TEXT NOT NULL)",
        "CREATE INDEX score_events_answer ON score_events (answer)",
        """CREATE TABLE score_drafts (
            analyst TEXT NOT NULL, answer TEXT NOT NULL, kind TEXT NOT NULL, draft TEXT NOT NULL,
            PRIMARY KEY (analyst, answer, kind)
        )""",
        "CREATE INDEX score_drafts_answer ON score_drafts (answer)",
        # `until` is in seconds since 1970.
        "CREATE TABLE score_reservations (analyst TEXT PRIMARY KEY, answer TEXT NOT NULL, until {seconds} NOT NULL)",
    ),
)
"""Step by step, the statements from an empty database to today's. A step that was released is never changed.

Whatever an older genaipa could not read takes a step, even one without a statement, such as a new field of an event.
"""
_TYPES = {
    "sqlite": {"number": "INTEGER PRIMARY KEY", "seconds": "REAL"},
    "postgresql": {"number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "seconds": "DOUBLE PRECISION"},
}
"""What the databases call differently: a number that counts rows up, and a time."""


def version(connection: Connection) -> int:
    """How many steps the database has taken."""
    import sqlalchemy

    if not sqlalchemy.inspect(connection).has_table("score_schema"):
        return 0
    return int(connection.exec_driver_sql("SELECT version FROM score_schema").scalar_one())


def bring_forward(connection: Connection, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Take the steps that the database has not taken yet, in the caller's transaction: all of them or none."""
    import sqlalchemy

    taken = version(connection)
    if not taken:
        connection.exec_driver_sql("CREATE TABLE score_schema (version INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO score_schema VALUES (0)")
    for statements in steps[taken:]:
        for statement in statements:
            connection.exec_driver_sql(statement.format(**_TYPES[connection.dialect.name]))
    reached = {"reached": max(taken, len(steps))}
    connection.execute(sqlalchemy.text("UPDATE score_schema SET version = :reached"), reached)
