"""The databases that scores are kept in: a SQLite file, or a PostgreSQL server; how each is opened, and how it fails.

A file of a workspace that can't be written, such as an archive's, is opened for reading alone.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, GenaipaError, MissingPackageError, StoreError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

VARIABLE = "GENAIPA_DATABASE_URL"

_SQLITE = "sqlite:///"
_SUFFIXES = (".db", ".sqlite", ".sqlite3")
"""Of an empty file with one of these SQLite makes a database; of any other it would, too."""
_WAIT_SECONDS = 30
"""Seconds that a writer waits for its turn."""
_REMEDIES = {
    "not a database": "it is not a file of scores; move it away, or name another in GENAIPA_DATABASE_URL.",
    "readonly": "the file and its folder have to be writable.",
    "unable to open": "the file and its folder have to be writable; a copy of the folder elsewhere may be.",
    "locked": "another program is writing to it; close that and try again.",
    "full": "make room and try again.",
}
"""Part of an SQLite error → remedy."""
_WHY = {"locked": "another program is writing to them", "full": "the disk that they are on is full"}
"""Part of an error → the message for analysts."""


def connect(url: str, *, reading: bool = False) -> tuple[Engine, str]:
    """An engine for the database at a URL, and a name that tells people which one it is.

    A file that is not there is made; with `reading` one that can't be written is opened all the same. A UsageError or
    DataError if the URL can't be used.
    """
    try:
        import sqlalchemy  # noqa: F401 - only to see that it is there
    except ImportError:
        raise MissingPackageError("scores need the package 'sqlalchemy': pip install 'genaipa[desk]'") from None
    path = file_of(url)
    if path is None:
        return _postgresql(url)
    if path.is_file() and path.stat().st_size == 0 and path.suffix not in _SUFFIXES:
        raise DataError(path, f"is empty and no database; name one that ends in {' or '.join(_SUFFIXES)}.")
    if reading and _is_archived(path):
        return _archived(path), str(path)
    return _sqlite(path), str(path)


def file_of(url: str) -> Path | None:
    """The SQLite file that a URL names; None for a server. A UsageError for a URL that names no file."""
    if not url.startswith(_SQLITE):
        return None
    named = url.removeprefix(_SQLITE)
    if named in {"", ":memory:"}:
        raise UsageError(f"{VARIABLE} names no file; write sqlite:///scores.db or the like.")
    return Path(named).expanduser().absolute()


def is_writable(engine: Engine) -> bool:
    """Whether the database was opened for writing."""
    return "mode" not in engine.url.query


def _is_archived(path: Path) -> bool:
    """Whether a file is there that can be read and not written, or beside which SQLite can't put its own files."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK))


def _archived(path: Path) -> Engine:
    """An engine that reads a file and leaves everything beside it alone."""
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


def _sqlite(path: Path) -> Engine:
    """An engine for a file, which is made where there is none: readable by its owner alone."""
    import sqlalchemy

    if not path.exists():
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            # Another process was first. To open and close the file now would take that one's locks away.
            pass
        except OSError as error:
            raise DataError(path, f"can't be made ({error.strerror}).") from None
    engine = sqlalchemy.create_engine(
        sqlalchemy.URL.create("sqlite", database=str(path)),
        # Transactions begin where `_writing` says so; a statement outside one is its own.
        connect_args={"timeout": _WAIT_SECONDS, "isolation_level": None},
        hide_parameters=True,
    )

    @sqlalchemy.event.listens_for(engine, "connect")
    def _(connection: Any, _record: Any) -> None:
        _write_ahead(connection)
        # A commit is on disk when it returns, even if the power fails then.
        connection.execute("PRAGMA synchronous = FULL")

    return engine


def _write_ahead(connection: sqlite3.Connection) -> None:
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


def _postgresql(url: str) -> tuple[Engine, str]:
    """An engine for a PostgreSQL server; a UsageError for a URL that can't be read."""
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
            f"{VARIABLE} can't be read; it is sqlite:///FILE, or postgresql://USER:PASSWORD@HOST/DATABASE with "
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


def failure(error: Exception, engine: Engine, name: str) -> GenaipaError:
    """A driver's error as ours, with the remedy where it is known, and never with the password."""
    reason = " ".join(str(getattr(error, "orig", None) or error).split()).rstrip(".")
    secrets = [engine.url.password, *(value for key, value in engine.url.query.items() if "pass" in key)]
    if any(str(secret) in reason for secret in secrets if secret):
        reason = "the server refused it"
    remedy = f"see {VARIABLE}."
    if engine.dialect.name == "sqlite":
        remedy = next((remedy for phrase, remedy in _REMEDIES.items() if phrase in reason), "")
    why = next((f": {why}" for phrase, why in _WHY.items() if phrase in reason), "")
    told = f"the scores can't be reached{why}. The desk's terminal shows more."
    return StoreError(f"{name} can't be used ({reason}){'; ' + remedy if remedy else '.'}", told)
