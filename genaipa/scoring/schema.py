"""The tables that scores are kept in, and how a database of an older genaipa is brought forward.

A database's version is the number of steps that it has taken; an empty one has taken none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.runs.folder import now
from genaipa.scoring import chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    Step = Sequence[str | Callable[[Connection], None]]

_ONLY_ADDED = "events of scores are only ever added"
_GUARDS = {
    "sqlite": (
        f"""CREATE TRIGGER score_events_not_changed BEFORE UPDATE ON score_events
            BEGIN SELECT RAISE(ABORT, '{_ONLY_ADDED}'); END""",
        f"""CREATE TRIGGER score_events_not_deleted BEFORE DELETE ON score_events
            BEGIN SELECT RAISE(ABORT, '{_ONLY_ADDED}'); END""",
    ),
    "postgresql": (
        f"""CREATE FUNCTION score_events_kept() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION '{_ONLY_ADDED}'; END $$""",
        """CREATE TRIGGER score_events_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON score_events
            FOR EACH STATEMENT EXECUTE FUNCTION score_events_kept()""",
    ),
}
"""By which the database itself refuses to change an event."""


def _begin_chain(connection: Connection) -> None:
    """Give every event that is there a digest, and remember how many those are."""
    import sqlalchemy

    before, rows = chain.START, []
    for number, event in connection.exec_driver_sql("SELECT seq, event FROM score_events ORDER BY seq"):
        before = chain.link(before, event)
        rows.append({"number": number, "digest": before})
    if rows:
        connection.execute(sqlalchemy.text("UPDATE score_events SET digest = :digest WHERE seq = :number"), rows)
    state = chain.State(events=len(rows), head=before, begun=now(), before=len(rows))
    begin = "INSERT INTO score_chain (events, head, begun, before_it) VALUES (:events, :head, :begun, :before)"
    connection.execute(sqlalchemy.text(begin), state._asdict())


_GUARDING = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'score_events'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE tgrelid = 'score_events'::regclass AND tgenabled <> 'D'",
}
_TRIGGER = re.compile(r"CREATE TRIGGER (\w+)")


def unguarded(connection: Connection) -> list[str]:
    """Names of the triggers by which the database refused to change an event, and that it has no more."""
    dialect = connection.dialect.name
    there = set(connection.exec_driver_sql(_GUARDING[dialect]).scalars())
    named = (name for statement in _GUARDS[dialect] for name in _TRIGGER.findall(statement))
    return [name for name in named if name not in there]


def _guard(connection: Connection) -> None:
    for statement in _GUARDS[connection.dialect.name]:
        connection.exec_driver_sql(statement)


STEPS: tuple[Step, ...] = (
    # 1: an event is kept whole, as the JSON of `events.Event`; the other columns are for finding it.
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
    # 2: the chain of digests (see `chain.py`), and the refusal to change events. An event that an older genaipa
    # adds, which had the database open meanwhile, has an empty digest. A draft knows after which event it was kept.
    (
        "ALTER TABLE score_events ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE score_chain (
            events BIGINT NOT NULL, head TEXT NOT NULL, begun TEXT NOT NULL, before_it BIGINT NOT NULL
        )""",
        _begin_chain,
        _guard,
    ),
    # 3: an event says in which order of work its answer came up.
    (),
    # 4: events object to annotated answers, and settle objections.
    (),
)
"""Step by step, the statements from an empty database to today's. A step that was released is never changed.

A change that an older genaipa could not read takes a step, even one without a statement, such as an event's new field.
"""
CHAINED = 2
"""The version from which events have digests."""
_TYPES = {
    "sqlite": {"number": "INTEGER PRIMARY KEY", "seconds": "REAL"},
    "postgresql": {"number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "seconds": "DOUBLE PRECISION"},
}
"""Types that the databases name differently: a number that counts rows up, and a time."""


def version(connection: Connection) -> int:
    """The number of steps that the database has taken."""
    import sqlalchemy

    if not sqlalchemy.inspect(connection).has_table("score_schema"):
        return 0
    return int(connection.exec_driver_sql("SELECT version FROM score_schema").scalar_one())


def bring_forward(connection: Connection, steps: Sequence[Step] = STEPS) -> None:
    """Take the steps that the database has not taken yet, in the caller's transaction: all of them or none."""
    import sqlalchemy

    taken = version(connection)
    if not taken:
        connection.exec_driver_sql("CREATE TABLE score_schema (version INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO score_schema VALUES (0)")
    for statements in steps[taken:]:
        for statement in statements:
            if callable(statement):
                statement(connection)
            else:
                connection.exec_driver_sql(statement.format(**_TYPES[connection.dialect.name]))
    reached = {"reached": max(taken, len(steps))}
    connection.execute(sqlalchemy.text("UPDATE score_schema SET version = :reached"), reached)
