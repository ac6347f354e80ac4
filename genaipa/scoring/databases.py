"""The databases that scores are kept in: a SQLite file, or a PostgreSQL server; their tables, and how they fail.

A file of a workspace that can't be written, such as an archive's, is opened for reading alone. A database's version
is the number of steps that it has taken; an empty one has taken none.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, GenaipaError, MissingPackageError, StoreError, UsageError
from genaipa.scoring.events import CHAIN_START

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Engine

    Step = Sequence[str | Callable[[Connection], None]]

VARIABLE = "GENAIPA_DATABASE_URL"

_SQLITE = "sqlite:///"
_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""Of an empty file with one of these SQLite makes a database; of any other it would, too."""
_WAIT_SECONDS = 30
"""Seconds that a writer waits for its turn."""
_REMEDIES = {
    "not a database": "it is not a scores file; move it away, or name another file in GENAIPA_DATABASE_URL.",
    "readonly": "make the file and its folder writable.",
    "unable to open": "make the file and its folder writable, or work on a copy of the folder.",
    "locked": "another program is writing to it; close that program and try again.",
    "full": "free some disk space and try again.",
}
"""Part of an SQLite error → remedy."""
_WHY = {"locked": "another program is writing to them", "full": "their disk is full"}
"""Part of an error → the message for analysts."""


def connect_and_name_database(url: str, *, allow_read_only: bool = False) -> tuple[Engine, str]:
    """Return an engine for the database at a URL, and a name that tells people which one it is.

    A file that is not there is made; with `allow_read_only` one that can't be written is opened all the same. A UsageError or
    DataError if the URL can't be used.
    """
    try:
        import sqlalchemy  # noqa: F401 - only to see that it is there
    except ImportError:
        raise MissingPackageError("scores need the package 'sqlalchemy': pip install 'genaipa[desk]'") from None
    path = sqlite_path_or_none_for_server(url)
    if path is None:
        return _connect_and_name_postgresql(url)
    if path.is_file() and path.stat().st_size == 0 and path.suffix not in _SUFFIXES:
        raise DataError(path, f"is an empty file, not a database; name a file that ends in {' or '.join(_SUFFIXES)}.")
    if allow_read_only and _is_read_only(path):
        return _connect_sqlite_read_only(path), str(path)
    return _create_or_connect_sqlite(path), str(path)


def sqlite_path_or_none_for_server(url: str) -> Path | None:
    """Return the SQLite file that a URL names; None for a server. A UsageError for a URL that names no file."""
    if not url.startswith(_SQLITE):
        return None
    named = url.removeprefix(_SQLITE)
    if named in {"", ":memory:"}:
        raise UsageError(f"{VARIABLE} does not name a file; set it to a URL such as sqlite:///scores.db.")
    return Path(named).expanduser().absolute()


def is_writable(engine: Engine) -> bool:
    """Whether the database was opened for writing."""
    return "mode" not in engine.url.query


def _is_read_only(path: Path) -> bool:
    """Whether a file is there that can be read and not written, or beside which SQLite can't put its own files."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK))


def _connect_sqlite_read_only(path: Path) -> Engine:
    """Return an engine that reads a file and leaves everything beside it alone."""
    import sqlalchemy

    # Without the log of what is not in the file yet, SQLite wants to begin one, unless nobody can change the file. A
    # log that is there may be a desk's that is open; what is in it counts.
    log = path.with_name(f"{path.name}-wal")
    alone = not (log.is_file() and log.stat().st_size)
    query = {"mode": "ro", "uri": "true", **({"immutable": "1"} if alone else {})}
    return sqlalchemy.create_engine(
        sqlalchemy.URL.create("sqlite", database=path.as_uri(), query=query),
        connect_args={"timeout": _WAIT_SECONDS, "isolation_level": None},
        hide_parameters=True,
    )


def _create_or_connect_sqlite(path: Path) -> Engine:
    """Return an engine for a file, which is made where there is none: readable by its owner alone."""
    import sqlalchemy

    if not path.exists():
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            # Another process was first. To open and close the file now would take that one's locks away.
            pass
        except OSError as error:
            raise DataError(path, f"can't be created ({error.strerror}).") from None
    engine = sqlalchemy.create_engine(
        sqlalchemy.URL.create("sqlite", database=str(path)),
        # Transactions begin where `ScoreStore` says so; a statement outside one is its own.
        connect_args={"timeout": _WAIT_SECONDS, "isolation_level": None},
        hide_parameters=True,
    )

    @sqlalchemy.event.listens_for(engine, "connect")
    def _(connection: Any, _record: Any) -> None:
        _enable_write_ahead_retrying_if_locked(connection)
        # A commit is on disk when it returns, even if the power fails then.
        connection.execute("PRAGMA synchronous = FULL")

    return engine


def _enable_write_ahead_retrying_if_locked(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work side by side.

    The first to open a new file changes it for good; SQLite does not wait with this change for others who open it.
    """
    end = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _connect_and_name_postgresql(url: str) -> tuple[Engine, str]:
    """Return an engine for a PostgreSQL server; a UsageError for a URL that can't be read."""
    import sqlalchemy.exc

    try:
        address = sqlalchemy.make_url(url)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        address = None
    # With a second @, a part of the password would be taken for the host, and be shown.
    if (
        address is None
        or address.drivername not in {"postgres", "postgresql", "postgresql+psycopg"}
        or url.partition("?")[0].count("@") > 1
    ):
        raise UsageError(
            f"{VARIABLE} must be sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE with "
            "%40 for an @ in the password."
        )
    # A server that doesn't answer is told within seconds.
    address = address.update_query_dict({"connect_timeout": "10", **address.query})
    try:
        # pre_ping: a connection that broke while nobody scored is replaced before it is used.
        engine = sqlalchemy.create_engine(
            address.set(drivername="postgresql+psycopg"), pool_pre_ping=True, hide_parameters=True
        )
    except ImportError:
        raise MissingPackageError(
            "scores in PostgreSQL need the package 'psycopg': pip install 'genaipa[postgresql]'"
        ) from None

    @sqlalchemy.event.listens_for(engine, "connect")
    def _(connection: Any, _record: Any) -> None:
        # A desk that vanishes in the middle of its turn gives it back.
        connection.execute(f"SET idle_in_transaction_session_timeout = '{_WAIT_SECONDS}s'")
        connection.execute(f"SET lock_timeout = '{_WAIT_SECONDS}s'")
        connection.commit()

    return engine, f"PostgreSQL database '{address.database or address.username or ''}'"


def convert_database_error(error: Exception, engine: Engine, database_name: str) -> GenaipaError:
    """Convert a driver's error to ours, with the remedy where it is known, and never with the password."""
    reason = " ".join(str(getattr(error, "orig", None) or error).split()).rstrip(".")
    secrets = [engine.url.password, *(value for key, value in engine.url.query.items() if "pass" in key)]
    if any(str(secret) in reason for secret in secrets if secret):
        reason = "the server refused the connection"
    remedy = f"check {VARIABLE}."
    if engine.dialect.name == "sqlite":
        remedy = next((remedy for phrase, remedy in _REMEDIES.items() if phrase in reason), "")
    why = next((f": {why}" for phrase, why in _WHY.items() if phrase in reason), "")
    for_analysts = f"the scores can't be reached{why}. The terminal in which the desk runs shows details."
    return StoreError(f"{database_name} can't be used ({reason}){'; ' + remedy if remedy else '.'}", for_analysts)


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


def find_damaged_guard_triggers(connection: Connection) -> list[str]:
    """Return the names of triggers that protect the log and that the database has lost or that were changed."""
    dialect = connection.dialect.name
    triggers = {name: _normalize_trigger_sql(text) for name, text in connection.exec_driver_sql(_GUARDING[dialect])}
    statements = _GUARDS[dialect]
    function_bodies = dict(matches[0] for statement in statements if (matches := _FUNCTION.findall(statement)))
    lost = []
    for statement in statements:
        for name in _TRIGGER.findall(statement):
            body = next((text for function, text in function_bodies.items() if f"{function}()" in statement), "")
            if triggers.get(name) != _normalize_trigger_sql(statement + body):
                lost.append(name)
    return lost


def _normalize_trigger_sql(statement: str) -> str:
    """Drop what databases write in their own way from a statement: spaces, schemas, and the order of events."""
    words = re.sub(r"\s+", "", statement.replace("public.", "")).casefold()
    return re.sub(r"(?<=before)(.*?)(?=on)", lambda found: "".join(sorted(found[1].split("or"))), words, count=1)


def _create_log_guard_triggers(connection: Connection) -> None:
    for statement in _GUARDS[connection.dialect.name]:
        connection.exec_driver_sql(statement)


SCHEMA_STEPS: tuple[Step, ...] = (
    (
        # An event is kept whole, as the JSON of `events.Event`; the other columns are for finding it. An event that
        # something else puts in has an empty digest.
        """CREATE TABLE score_events (
            seq {number}, id TEXT NOT NULL UNIQUE, answer TEXT NOT NULL, event TEXT NOT NULL,
            digest TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX score_events_answer ON score_events (answer)",
        "CREATE TABLE score_chain (events BIGINT NOT NULL, head TEXT NOT NULL)",
        f"INSERT INTO score_chain VALUES (0, '{CHAIN_START}')",  # noqa: S608 - of our own words
        """CREATE TABLE score_drafts (
            analyst TEXT NOT NULL, answer TEXT NOT NULL, kind TEXT NOT NULL, draft TEXT NOT NULL,
            PRIMARY KEY (analyst, answer, kind)
        )""",
        "CREATE INDEX score_drafts_answer ON score_drafts (answer)",
        # `until` is in seconds since 1970.
        "CREATE TABLE score_reservations (analyst TEXT PRIMARY KEY, answer TEXT NOT NULL, until {seconds} NOT NULL)",
        _create_log_guard_triggers,
    ),
    # Events and drafts say what was on screen (`shown`).
    (),
    # They say which aids chance withheld (`shown.aids`).
    (),
)
"""Step by step, the statements from an empty database to today's. A step that was released is never changed.

A change that an older genaipa could not read takes a step, even one without a statement, such as an event's new field.
"""
_TYPES = {
    "sqlite": {"number": "INTEGER PRIMARY KEY", "seconds": "REAL"},
    "postgresql": {"number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "seconds": "DOUBLE PRECISION"},
}
"""Types that the databases name differently: a number that counts rows up, and a time."""


def schema_version(connection: Connection) -> int:
    """Return the number of steps that the database has taken."""
    import sqlalchemy

    if not sqlalchemy.inspect(connection).has_table("score_schema"):
        return 0
    return int(connection.exec_driver_sql("SELECT version FROM score_schema").scalar_one())


def apply_missing_schema_steps(connection: Connection, steps: Sequence[Step] = SCHEMA_STEPS) -> None:
    """Take the steps that the database has not taken yet, in the caller's transaction: all of them or none."""
    import sqlalchemy

    version = schema_version(connection)
    if not version:
        connection.exec_driver_sql("CREATE TABLE score_schema (version INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO score_schema VALUES (0)")
    for statements in steps[version:]:
        for statement in statements:
            if callable(statement):
                statement(connection)
            else:
                connection.exec_driver_sql(statement.format(**_TYPES[connection.dialect.name]))
    new_version = {"reached": max(version, len(steps))}
    connection.execute(sqlalchemy.text("UPDATE score_schema SET version = :reached"), new_version)
