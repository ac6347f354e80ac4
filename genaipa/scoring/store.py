"""The store of scores: an append-only log of events, drafts, and who has which answer on their screen.

A SQLite file in the workspace, or a PostgreSQL server that many desks share. A change whose method has returned is
on disk. Writers take turns, in this process and across processes, so that the numbers of events become visible in
their order: whoever reads on after the last number they saw misses nothing.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import threading
import time
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Self

import msgspec

from genaipa.errors import DataError, GenaipaError, OtherFormatError
from genaipa.files.stamps import now
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.databases import (
    SCHEMA_STEPS,
    VARIABLE,
    apply_missing_schema_steps,
    connect_and_name_database,
    convert_database_error,
    find_damaged_guard_triggers,
    is_writable,
    schema_version,
    sqlite_path_or_none_for_server,
)
from genaipa.scoring.events import (
    CHECKED_TAIL,
    VALUED,
    Draft,
    DraftKind,
    Event,
    LogRow,
    LogState,
    chain_digest,
    find_event_problem,
    find_log_tail_problems,
    find_problem_of_referenced_event,
    make_event_decoder,
)
from genaipa.scoring.rubric import Rubric, load_rubric, shipped_rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection, CursorResult, Engine

    from genaipa.workspace import Workspace

_LOCK = int.from_bytes(b"genaipa")
"""Advisory-lock key that serialises writers in PostgreSQL."""
_PAGE = 10_000
"""Events read at once: a reader keeps no transaction open while it works on them."""
_BATCH = 500
"""Events written at once."""
_BEFORE_ALL = -(1 << 63)
"""Less than the number of any event, one that somebody numbered below the first included."""

_EVENTS = "SELECT seq, event FROM score_events WHERE seq > :after ORDER BY seq LIMIT :page"
_LINKS = "SELECT seq, id, answer, event, digest FROM score_events WHERE seq > :after ORDER BY seq LIMIT :page"
# One statement for the last events and the state: others may be writing meanwhile.
_LATEST = """SELECT latest.*, head FROM score_chain LEFT JOIN (
    SELECT seq, id, answer, event, digest FROM score_events ORDER BY seq DESC LIMIT :most
) AS latest ON TRUE ORDER BY seq"""

_DRAFT = "SELECT draft FROM score_drafts WHERE analyst = :analyst AND answer = :answer AND kind = :kind"

_decode_draft = msgspec.json.Decoder(Draft).decode


def database_url(workspace: Workspace) -> str:
    """Return the value of `GENAIPA_DATABASE_URL`, else the file scores.db of the workspace."""
    return os.environ.get(VARIABLE, "").strip() or f"sqlite:///{workspace.home / 'scores.db'}"


@contextlib.contextmanager
def open_existing_store(workspace: Workspace, *, allow_changed_events: bool = False) -> Iterator[ScoreStore | None]:
    """Open the workspace's scores for reading; None, and no file is made, where there are none yet.

    A log whose events were changed is a DataError, unless `allow_changed_events`.
    """
    url = database_url(workspace)
    file = sqlite_path_or_none_for_server(url)
    if file is not None and not file.exists():
        yield None
        return
    with contextlib.closing(
        ScoreStore.open_or_create(
            url, load_rubric(workspace), read_only=True, allow_changed_events=allow_changed_events
        )
    ) as store:
        yield store


def open_or_create_store(workspace: Workspace) -> ScoreStore:
    """Open the workspace's scores, by its rubric, for writing; made where there are none yet."""
    return ScoreStore.open_or_create(database_url(workspace), load_rubric(workspace))


class ScoreStore:
    """One open database of scores; any number of threads may share it. `name` tells people which one it is.

    It holds the scores of one `rubric`: events with other metrics or values are neither read nor written.

    Every method raises a GenaipaError, and leaves everything as it was, if the database can't be reached or written.
    """

    def __init__(self, engine: Engine, name: str, rubric: Rubric, *, allow_changed_events: bool = False) -> None:
        self.name, self.rubric = name, rubric
        self._decoder = make_event_decoder(rubric)
        self._allow_damaged = allow_changed_events
        self._engine = engine
        # The first statement of a transaction that writes: it waits for its turn, and readers don't wait for it.
        sqlite = engine.dialect.name == "sqlite"
        self._begin = "BEGIN IMMEDIATE" if sqlite else f"SELECT pg_advisory_xact_lock({_LOCK})"
        # Threads queue up here rather than at the database, which lets waiting writers sleep too long.
        self._turn = threading.Lock()

    @classmethod
    def open_or_create(
        cls, url: str, rubric: Rubric | None = None, *, read_only: bool = False, allow_changed_events: bool = False
    ) -> Self:
        """Open the database at a URL (`sqlite:///FILE`, `postgresql://…`), made or migrated where needed.

        Its scores are by `rubric`, the shipped one if none is given.

        With `read_only`, it waits for no writer and is not migrated, so that an older genaipa goes on with it; a file
        that can't be written is opened all the same, and every method that writes fails then. A GenaipaError says why
        a database can't be used, without the password in the URL; that its last events were changed is one too,
        unless `allow_changed_events`.
        """
        engine, name = connect_and_name_database(url, allow_read_only=read_only)
        store = cls(engine, name, rubric or shipped_rubric(), allow_changed_events=allow_changed_events)
        try:
            store._migrate_and_check_last_events(read_only=read_only)
        except BaseException:
            store.close()
            raise
        return store

    def _migrate_and_check_last_events(self, *, read_only: bool) -> None:
        writable = is_writable(self._engine) and not (read_only and self._has_schema())
        with self._open_transaction() if writable else self._open_connection() as connection:
            version, newest = schema_version(connection), len(SCHEMA_STEPS)
            if not writable and not version:
                raise DataError(self.name, "has no scores and can't be written; put a file with scores there.")
            if version > newest:
                raise OtherFormatError(self.name, version, newest)
            if writable:
                apply_missing_schema_steps(connection)
            latest = _execute_sql(connection, _LATEST, {"most": CHECKED_TAIL + 1})
            if not self._allow_damaged and (log_break := next(find_log_tail_problems(latest.all()), "")):
                raise DataError(
                    self.name,
                    f"a program other than genaipa changed the log of scores: {log_break} For the full check: "
                    "genaipa scores verify",
                )

    def _has_schema(self) -> bool:
        with self._open_connection() as connection:
            return schema_version(connection) > 0

    def append_new_events(self, events: Sequence[Event]) -> int:
        """Append events, all or none; return how many were new.

        An event whose id is there already is left alone, even if it had become later and longer when it was sent
        again; a DataError if anything else in it differs, or if an event makes no sense. A score and an adjudication
        also end that analyst's draft and reservation of the answer, a skip the reservation.
        """
        with self._open_transaction() as connection:
            # In batches, so that a large import is neither one statement for each event nor one that is too long.
            return sum(
                self._append_batch_and_clear_drafts(connection, events[start : start + _BATCH])
                for start in range(0, len(events), _BATCH)
            )

    def _append_batch_and_clear_drafts(self, connection: Connection, events: Sequence[Event]) -> int:
        stored = self._select_events_by_id(connection, [event.id for event in events])
        new: dict[str, Event] = {}
        for event in events:
            existing = stored.get(event.id) or new.get(event.id)
            if existing is None:
                self._check_event(event, connection, new)
                new[event.id] = event
            elif msgspec.structs.replace(event, time=existing.time, seconds=existing.seconds) != existing:
                raise DataError(self.name, "its id already belongs to a different event.", f"event {event.id}")
        if new:
            self._write_events_with_digests(connection, list(new.values()))
        drafts = [(event.analyst, event.answer, event.kind) for event in new.values() if event.kind in VALUED]
        if drafts:
            _execute_sql_with_list(
                connection, "DELETE FROM score_drafts WHERE (analyst, answer, kind) IN :these", drafts
            )
        reserved = [(event.analyst, event.answer) for event in new.values() if event.kind in (*VALUED, "skip")]
        if reserved:
            _execute_sql_with_list(
                connection, "DELETE FROM score_reservations WHERE (analyst, answer) IN :these", reserved
            )
        return len(new)

    def _write_events_with_digests(self, connection: Connection, events: Sequence[Event]) -> None:
        """Write events at the end of the log, each with its digest."""
        head = connection.exec_driver_sql("SELECT head FROM score_chain").scalar_one()
        rows = []
        for event in events:
            text = _encode_json(event)
            head = chain_digest(head, text)
            rows.append({"id": event.id, "answer": event.answer, "event": text, "digest": head})
        insert = "INSERT INTO score_events (id, answer, event, digest) VALUES (:id, :answer, :event, :digest)"
        _execute_sql(connection, insert, rows)
        grown = {"new": len(rows), "head": head}
        _execute_sql(connection, "UPDATE score_chain SET events = events + :new, head = :head", grown)

    def log_state(self) -> LogState:
        """Return the state of the event log; a GenaipaError if the database has lost it."""
        with self._open_connection() as connection:
            return _select_log_state(connection)

    def list_damaged_guard_triggers(self) -> list[str]:
        """Return the names of triggers that protect the log and that the database has lost."""
        with self._open_connection() as connection:
            return find_damaged_guard_triggers(connection)

    def read_log_rows(self) -> Iterator[LogRow]:
        """Yield every event as its row holds it, in order."""
        return map(LogRow._make, self._read_rows_page_by_page(_LINKS, _BEFORE_ALL))

    def _read_rows_page_by_page(self, statement: str, after_number: int) -> Iterator[Sequence[Any]]:
        """Yield the rows of a statement, read page by page; its first column is the event's number."""
        while True:
            with self._open_connection() as connection:
                rows = _execute_sql(connection, statement, {"after": after_number, "page": _PAGE}).all()
            yield from rows
            if len(rows) < _PAGE:
                return
            after_number = rows[-1][0]

    def _check_event(self, event: Event, connection: Connection, new_events: Mapping[str, Event]) -> None:
        problem = find_event_problem(event, self.rubric)
        if not problem and event.undone_or_ruled_event_id:
            earlier = new_events.get(event.undone_or_ruled_event_id) or self._select_events_by_id(
                connection, [event.undone_or_ruled_event_id]
            ).get(event.undone_or_ruled_event_id)
            problem = find_problem_of_referenced_event(event, earlier)
        if problem:
            raise DataError(self.name, problem, f"event {event.id}")

    def read_numbered_events(self, after_number: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield (number, event) of everything after a number, in order. Numbers grow from 1 and may have gaps."""
        return (
            (number, self._decode_event(text)) for number, text in self._read_rows_page_by_page(_EVENTS, after_number)
        )

    def load_answer_events(self, answer_digest: str) -> list[Event]:
        """Load the events of one answer, in order."""
        with self._open_connection() as connection:
            return self._select_answer_events(connection, answer_digest)

    def save_draft(self, draft: Draft) -> None:
        """Keep an unfinished score in place of the one before; `updated` and `after` become this moment's."""
        with self._open_transaction() as connection:
            last = connection.exec_driver_sql("SELECT MAX(seq) FROM score_events").scalar()
            text = _encode_json(msgspec.structs.replace(draft, updated=now(), after=last or 0))
            _execute_sql(
                connection,
                "INSERT INTO score_drafts VALUES (:analyst, :answer, :kind, :draft) "
                "ON CONFLICT (analyst, answer, kind) DO UPDATE SET draft = excluded.draft",
                {"analyst": draft.analyst, "answer": draft.answer, "kind": draft.kind, "draft": text},
            )

    def load_draft(self, analyst: str, answer_digest: str, kind: DraftKind = "score") -> Draft | None:
        """Return this analyst's unfinished score of this answer."""
        only = {"analyst": analyst, "answer": answer_digest, "kind": kind}
        with self._open_connection() as connection:
            text = _execute_sql(connection, _DRAFT, only).scalar()
        return None if text is None else _decode_draft(text)

    def load_drafts_of_analyst(self, analyst: str) -> list[Draft]:
        """Return an analyst's drafts, the newest first."""
        with self._open_connection() as connection:
            rows = _execute_sql(
                connection, "SELECT draft FROM score_drafts WHERE analyst = :analyst", {"analyst": analyst}
            )
            drafts = map(_decode_draft, rows.scalars())
            return sorted(drafts, key=lambda draft: (draft.after, draft.updated), reverse=True)

    def discard_draft(self, analyst: str, answer_digest: str, kind: DraftKind = "score") -> None:
        """Delete this analyst's unfinished score of this answer."""
        with self._open_transaction() as connection:
            draft = [(analyst, answer_digest, kind)]
            _execute_sql_with_list(
                connection, "DELETE FROM score_drafts WHERE (analyst, answer, kind) IN :these", draft
            )

    def reserve_answer(
        self,
        answer_digest: str,
        analyst: str,
        *,
        wanted_scores: int,
        is_uncounted_analyst: Callable[[str], bool] | None = None,
        minutes: float = 15,
    ) -> bool:
        """Whether this analyst may score the answer now: it is then theirs for some minutes, or for some more.

        It is not where `wanted_scores` others have scored it, have it reserved, or have a draft of it from the last
        `minutes`; whoever `is_uncounted_analyst` does not count. An analyst has one reservation: the one before is
        given back. Where the reply is no, nothing changes.
        """
        with self._open_transaction() as connection:
            events = [
                event for event in self._select_answer_events(connection, answer_digest) if event.scorer == "human"
            ]
            scorers = {event.analyst for event in effective_scores_and_adjudications(events) if event.kind == "score"}
            scorers.update(
                _select_reservations_by_answer(connection).get(answer_digest, ()),
                _select_recent_drafters(connection, answer_digest, minutes),
            )
            scorers.discard(analyst)
            if is_uncounted_analyst is not None:
                scorers = {*filterfalse(is_uncounted_analyst, scorers)}
            if len(scorers) >= wanted_scores:
                return False
            _execute_sql(
                connection,
                "INSERT INTO score_reservations VALUES (:analyst, :answer, :until) "
                "ON CONFLICT (analyst) DO UPDATE SET answer = excluded.answer, until = excluded.until",
                {"analyst": analyst, "answer": answer_digest, "until": time.time() + minutes * 60},
            )
            return True

    def release_reservation(self, analyst: str) -> None:
        """Release an analyst's reservation."""
        with self._open_transaction() as connection:
            _execute_sql(connection, "DELETE FROM score_reservations WHERE analyst = :analyst", {"analyst": analyst})

    def reservations_by_answer(self) -> dict[str, list[str]]:
        """Answer → the analysts who have it reserved now."""
        with self._open_connection() as connection:
            return _select_reservations_by_answer(connection)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _select_events_by_id(self, connection: Connection, ids: Sequence[str]) -> dict[str, Event]:
        """Return those of the events with these ids that the log has."""
        rows = _execute_sql_with_list(connection, "SELECT event FROM score_events WHERE id IN :these", ids)
        return {event.id: event for event in map(self._decode_event, rows.scalars())}

    def _select_answer_events(self, connection: Connection, answer_digest: str) -> list[Event]:
        by_answer = "SELECT event FROM score_events WHERE answer = :answer ORDER BY seq"
        return [
            self._decode_event(text)
            for text in _execute_sql(connection, by_answer, {"answer": answer_digest}).scalars()
        ]

    def _decode_event(self, event_json: str) -> Event:
        try:
            return self._decoder.decode(event_json)
        except msgspec.DecodeError:
            pass
        try:
            event = make_event_decoder().decode(event_json)
        except msgspec.DecodeError:
            message = "the log of scores has an event that can't be read; to find it: genaipa scores verify"
            raise GenaipaError(message) from None
        if self._allow_damaged:
            return event
        raise DataError(
            self.name,
            f"{find_event_problem(event, self.rubric)} Name the rubric of these scores in genaipa.toml, or keep scores "
            f"by another rubric in a separate database ({VARIABLE}).",
            f"event {event.id}",
        )

    @contextlib.contextmanager
    def _open_transaction(self) -> Iterator[Connection]:
        """Open a transaction while nobody else writes; an error rolls it back."""
        with self._turn, self._open_connection() as connection:
            connection.exec_driver_sql(self._begin)
            yield connection
            connection.commit()

    @contextlib.contextmanager
    def _open_connection(self) -> Iterator[Connection]:
        import sqlalchemy.exc

        try:
            with self._engine.connect() as connection:
                yield connection
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise convert_database_error(error, self._engine, self.name) from None


def _execute_sql(
    connection: Connection, statement: str, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]]
) -> CursorResult[*tuple[Any, ...]]:
    import sqlalchemy

    return connection.execute(sqlalchemy.text(statement), parameters)


def _execute_sql_with_list(
    connection: Connection, statement: str, values: Sequence[Any]
) -> CursorResult[*tuple[Any, ...]]:
    """Run a statement with a list in it: `IN :these`."""
    import sqlalchemy

    listed = sqlalchemy.text(statement).bindparams(sqlalchemy.bindparam("these", expanding=True))
    return connection.execute(listed, {"these": values})


def _select_log_state(connection: Connection) -> LogState:
    rows = connection.exec_driver_sql("SELECT events, head FROM score_chain").all()
    if len(rows) != 1:
        raise GenaipaError(
            f"a program other than genaipa changed the log of scores: score_chain has {len(rows)} rows instead of one; "
            "restore the database."
        )
    return LogState(*rows[0])


def _encode_json(record: Event | Draft) -> str:
    return msgspec.json.encode(record).decode()


def _select_reservations_by_answer(connection: Connection) -> dict[str, list[str]]:
    """Answer → the analysts whose reservation of it has not run out."""
    statement = "SELECT answer, analyst FROM score_reservations WHERE until > :now ORDER BY until"
    live: dict[str, list[str]] = {}
    for answer, analyst in _execute_sql(connection, statement, {"now": time.time()}):
        live.setdefault(answer, []).append(analyst)
    return live


def _select_recent_drafters(connection: Connection, answer_digest: str, minutes: float) -> list[str]:
    """Return the analysts whose draft of an answer was kept in the last minutes.

    Whoever withdraws scores, one after the other, has several under way and only one reserved.
    """
    statement = "SELECT draft FROM score_drafts WHERE answer = :answer AND kind IN ('score', 'reply')"
    rows = _execute_sql(connection, statement, {"answer": answer_digest})
    since = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=minutes)
    # As text, as `now` writes times.
    earliest = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return [draft.analyst for draft in map(_decode_draft, rows.scalars()) if draft.updated > earliest]
