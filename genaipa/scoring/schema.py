"""The tables that scores are kept in, and how a database of an older genaipa is brought forward.

A database's version is the number of steps that it has taken; an empty one has taken none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.scoring import chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    Step = Sequence[str | Callable[[Connection], None]]

_ONLY_ADDED = "events of scores are only ever added"
_GROWS = "the log of scores only ever grows"
_GUARDS = {
    "sqlite": (
        f"""CREATE TRIGGER score_events_not_changed BEFORE UPDATE ON score_events
            BEGIN SELECT RAISE(ABORT, '{_ONLY_ADDED}'); END""",
        f"""CREATE TRIGGER score_events_not_deleted BEFORE DELETE ON score_events
            BEGIN SELECT RAISE(ABORT, '{_ONLY_ADDED}'); END""",
        # A REPLACE deletes, of which SQLite tells no trigger.
        f"""CREATE TRIGGER score_events_not_replaced BEFORE INSERT ON score_events
            WHEN EXISTS (SELECT 1 FROM score_events WHERE id = NEW.id OR seq = NEW.seq)
            BEGIN SELECT RAISE(ABORT, '{_ONLY_ADDED}'); END""",  # noqa: S608 - of our own words
        f"""CREATE TRIGGER score_chain_grows BEFORE UPDATE ON score_chain
            WHEN NEW.events <= OLD.events
            BEGIN SELECT RAISE(ABORT, '{_GROWS}'); END""",
        f"""CREATE TRIGGER score_chain_not_deleted BEFORE DELETE ON score_chain
            BEGIN SELECT RAISE(ABORT, '{_GROWS}'); END""",
        f"""CREATE TRIGGER score_chain_is_one BEFORE INSERT ON score_chain
            WHEN EXISTS (SELECT 1 FROM score_chain)
            BEGIN SELECT RAISE(ABORT, '{_GROWS}'); END""",  # noqa: S608 - of our own words
    ),
    "postgresql": (
        f"""CREATE FUNCTION score_events_kept() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION '{_ONLY_ADDED}'; END $$""",
        """CREATE TRIGGER score_events_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON score_events
            FOR EACH STATEMENT EXECUTE FUNCTION score_events_kept()""",
        f"""CREATE FUNCTION score_chain_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF TG_OP = 'UPDATE' AND NEW.events > OLD.events THEN RETURN NEW; END IF;
            RAISE EXCEPTION '{_GROWS}'; END $$""",
        """CREATE TRIGGER score_chain_grows BEFORE INSERT OR UPDATE OR DELETE ON score_chain
            FOR EACH ROW EXECUTE FUNCTION score_chain_kept()""",
        """CREATE TRIGGER score_chain_not_emptied BEFORE TRUNCATE ON score_chain
            FOR EACH STATEMENT EXECUTE FUNCTION score_chain_kept()""",
    ),
}
"""By which the database itself refuses to change or replace an event, and lets the state of the chain grow alone."""


_GUARDING = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    # As the server writes it, with the text of what it runs; one that holds for replicas alone guards nothing.
    "postgresql": """SELECT tgname, pg_get_triggerdef(pg_trigger.oid) || prosrc FROM pg_trigger
        JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE tgrelid IN ('score_events'::regclass, 'score_chain'::regclass) AND tgenabled IN ('O', 'A')""",
}
_TRIGGER = re.compile(r"CREATE TRIGGER (\w+)")
_FUNCTION = re.compile(r"CREATE FUNCTION (\w+).*\$\$(.*)\$\$", re.DOTALL)


def unguarded(connection: Connection) -> list[str]:
    """Names of the triggers by which the database refused to change the log, and that it has no more as they were."""
    dialect = connection.dialect.name
    there = {name: _plain(text) for name, text in connection.exec_driver_sql(_GUARDING[dialect])}
    statements = _GUARDS[dialect]
    runs = dict(found[0] for statement in statements if (found := _FUNCTION.findall(statement)))
    lost = []
    for statement in statements:
        for name in _TRIGGER.findall(statement):
            body = next((text for function, text in runs.items() if f"{function}()" in statement), "")
            if there.get(name) != _plain(statement + body):
                lost.append(name)
    return lost


def _plain(statement: str) -> str:
    """A statement without what databases write in their own way: spaces, schemas, and the order of events."""
    words = re.sub(r"\s+", "", statement.replace("public.", "")).casefold()
    return re.sub(r"(?<=before)(.*?)(?=on)", lambda found: "".join(sorted(found[1].split("or"))), words, count=1)


def _guard(connection: Connection) -> None:
    for statement in _GUARDS[connection.dialect.name]:
        connection.exec_driver_sql(statement)


STEPS: tuple[Step, ...] = (
    (
        # An event is kept whole, as the JSON of `events.Event`; the other columns are for finding it. An event that
        # something else puts in has an empty digest.
        """CREATE TABLE score_events (
            seq {number}, id TEXT NOT NULL UNIQUE, answer TEXT NOT NULL, event TEXT NOT NULL,
            digest TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX score_events_answer ON score_events (answer)",
        "CREATE TABLE score_chain (events BIGINT NOT NULL, head TEXT NOT NULL)",
        f"INSERT INTO score_chain VALUES (0, '{chain.START}')",  # noqa: S608 - of our own words
        """CREATE TABLE score_drafts (
            analyst TEXT NOT NULL, answer TEXT NOT NULL, kind TEXT NOT NULL, draft TEXT NOT NULL,
            PRIMARY KEY (analyst, answer, kind)
        )""",
        "CREATE INDEX score_drafts_answer ON score_drafts (answer)",
        # `until` is in seconds since 1970.
        "CREATE TABLE score_reservations (analyst TEXT PRIMARY KEY, answer TEXT NOT NULL, until {seconds} NOT NULL)",
        _guard,
    ),
)
"""Step by step, the statements from an empty database to today's. A step that was released is never changed.

A change that an older genaipa could not read takes a step, even one without a statement, such as an event's new field.
"""
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
