"""The log of scores can't be altered unseen: the database refuses it, and whoever gets around that is found out."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from stores import KINDS, empty_database, kept, opened, score, undo

from genaipa.errors import DataError, GenaipaError
from genaipa.scoring.events import CHAIN_START, chain_digest, verify_log_and_list_breaks
from genaipa.scoring.store import ScoreStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

GUARDS = {
    "sqlite": (
        *("DROP TRIGGER IF EXISTS score_events_not_changed", "DROP TRIGGER IF EXISTS score_events_not_deleted"),
        *("DROP TRIGGER IF EXISTS score_events_not_replaced", "DROP TRIGGER IF EXISTS score_chain_grows"),
        *("DROP TRIGGER IF EXISTS score_chain_not_deleted", "DROP TRIGGER IF EXISTS score_chain_is_one"),
    ),
    "postgresql": (
        "DROP TRIGGER IF EXISTS score_events_kept ON score_events",
        "DROP TRIGGER IF EXISTS score_chain_grows ON score_chain",
        "DROP TRIGGER IF EXISTS score_chain_not_emptied ON score_chain",
    ),
}


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    return empty_database(request.param, tmp_path, request.config)


def tampered(store: ScoreStore, *statements: str) -> None:
    """Carry statements out as somebody who knows how to get around the database's refusal."""
    with store._open_transaction() as connection:
        for statement in (*GUARDS[connection.dialect.name], *statements):
            connection.exec_driver_sql(statement)


def test_the_database_refuses_to_change_events(url: str) -> None:
    """No event can be changed or deleted, by whatever program; everything else of the store goes on."""
    with opened(url) as store:
        first = score("ana", "a1")
        store.append_new_events([first, undo(first)])
        replace = "REPLACE INTO score_events SELECT * FROM score_events"
        postgresql = url.startswith("postgresql")
        for statement in (
            *("UPDATE score_events SET event = '{}'", "DELETE FROM score_events WHERE seq = 1"),
            *(() if postgresql else (replace,)),
        ):
            with pytest.raises(GenaipaError, match="only ever added"), store._open_transaction() as connection:
                connection.exec_driver_sql(statement)
        store.append_new_events([score("ana", "a1")])
        assert len(kept(store)) == 3
        assert verify_log_and_list_breaks(store).breaks == []


def test_what_was_altered_is_found(url: str) -> None:
    """A changed, a deleted, an added and a misfiled event, and a shortened log, are each told with their place."""
    told = {
        "UPDATE score_events SET event = replace(event, '\"ana\"', '\"eva\"') WHERE seq = 2": "event 2",
        "UPDATE score_events SET answer = 'a9' WHERE seq = 3": "event 3 .* stored under",
        "UPDATE score_events SET event = '{' WHERE seq = 2": "event 2 .* can't be read",
        "DELETE FROM score_events WHERE seq = 2": "event 3",
        "DELETE FROM score_events WHERE seq = 4": "1 of 4 events is missing",
        "UPDATE score_chain SET events = 3, head = (SELECT digest FROM score_events WHERE seq = 3)": "was added",
        "INSERT INTO score_events (id, answer, event) SELECT 'x', answer, event FROM score_events WHERE seq = 1": "x",
    }
    events = [score("ana", f"a{n}") for n in range(1, 5)]
    for statement, where in told.items():
        with (
            closing(ScoreStore.open_or_create(url, allow_changed_events=True)) as store,
            store._open_transaction() as connection,
        ):
            for table in ("score_chain", "score_events", "score_schema", "score_drafts", "score_reservations"):
                connection.exec_driver_sql(f"DROP TABLE {table}")
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("DROP FUNCTION score_events_kept, score_chain_kept")
        with opened(url) as store:
            store.append_new_events(events)
            assert verify_log_and_list_breaks(store).breaks == []
            tampered(store, statement)
            breaks = verify_log_and_list_breaks(store).breaks
            assert all(any(part in found for found in breaks) for part in where.split(" .* ")), (statement, breaks)
        with pytest.raises(DataError, match="a program other than genaipa changed"):
            ScoreStore.open_or_create(url)
        ScoreStore.open_or_create(url, allow_changed_events=True).close()


def test_a_database_that_lost_its_triggers_is_told(url: str) -> None:
    """Where nothing was altered yet, but can be since the triggers were dropped, `verify` says which."""
    with opened(url) as store:
        store.append_new_events([score("ana", "a1")])
        assert verify_log_and_list_breaks(store).breaks == []
        tampered(store)
        (told,) = verify_log_and_list_breaks(store).breaks
        assert "no longer prevents changes to events" in told
        with store._open_connection() as connection:
            dropped = GUARDS[connection.dialect.name]
        assert all(statement.split()[4] in told for statement in dropped)


def test_the_state_of_the_log_only_grows(url: str) -> None:
    """The digest of the last event can't be replaced, taken away or doubled, by whatever program."""
    with opened(url) as store:
        store.append_new_events([score("ana", "a1")])
        for statement in (
            "UPDATE score_chain SET head = 'x'",
            "UPDATE score_chain SET events = events - 1",
            "DELETE FROM score_chain",
            "INSERT INTO score_chain SELECT * FROM score_chain",
            *(("TRUNCATE score_chain",) if url.startswith("postgresql") else ()),
        ):
            with pytest.raises(GenaipaError, match="only ever grows"), store._open_transaction() as connection:
                connection.exec_driver_sql(statement)
        assert verify_log_and_list_breaks(store).breaks == []


HOLLOW = {
    "sqlite": (
        "DROP TRIGGER score_events_not_changed",
        "CREATE TRIGGER score_events_not_changed BEFORE UPDATE ON score_events WHEN 0 BEGIN SELECT 1; END",
    ),
    "postgresql": ("ALTER TABLE score_events ENABLE REPLICA TRIGGER score_events_kept",),
}


def test_a_guard_that_guards_nothing_is_told(url: str) -> None:
    """A trigger of the same name that does nothing, or only on replicas, is none."""
    with opened(url) as store:
        with store._open_transaction() as connection:
            hollow = HOLLOW[connection.dialect.name]
            for statement in hollow:
                connection.exec_driver_sql(statement)
        (told,) = verify_log_and_list_breaks(store).breaks
        assert "no longer prevents" in told
        assert hollow[0].split()[-1] in told


def test_an_event_that_no_reader_sees_is_found(tmp_path: Path) -> None:
    """An event moved below the first number keeps its digest, and is told all the same."""
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.append_new_events([score("ana", "a1"), score("ana", "a2")])
        tampered(store, "UPDATE score_events SET seq = -1 WHERE seq = 1")
        assert "event -1" in verify_log_and_list_breaks(store).breaks[0]
        assert "below 1" in verify_log_and_list_breaks(store).breaks[0]


def test_an_event_numbered_below_the_first_is_found(tmp_path: Path) -> None:
    """Numbers can be chosen in SQLite: an event before the first one is held against its digest too."""
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.append_new_events([score("ana", "a1")])
        tampered(
            store,
            "INSERT INTO score_events (seq, id, answer, event) SELECT -5, 'x', answer, event FROM score_events",
        )
        assert "event -5 (x)" in verify_log_and_list_breaks(store).breaks[0]


def test_a_log_that_lost_its_last_digest_is_refused(url: str) -> None:
    """Without the digest of the last event, or with two, nothing is computed, and `verify` says why."""
    for statement, rows in (
        ("INSERT INTO score_chain SELECT * FROM score_chain", 2),
        ("DELETE FROM score_chain", 0),
    ):
        with closing(ScoreStore.open_or_create(url, allow_changed_events=True)) as store:
            if rows == 2:
                store.append_new_events([score("ana", "a1")])
            tampered(store, statement)
            with pytest.raises(GenaipaError, match=f"score_chain has {rows} rows instead of one"):
                verify_log_and_list_breaks(store)
        with pytest.raises(DataError, match="a program other than genaipa changed"):
            ScoreStore.open_or_create(url)


def test_a_log_that_was_made_anew_is_told_by_a_noted_head(store: ScoreStore) -> None:
    """A whole log with digests of its own is in order; only the digest that was noted tells that it is another."""
    store.append_new_events([score("ana", "a1")])
    head = verify_log_and_list_breaks(store).head
    store.append_new_events([score("ana", "a2")])
    assert verify_log_and_list_breaks(store, head).breaks == []
    first, second = (link.event.replace('"ana"', '"eva"') for link in store.read_log_rows())
    made = [chain_digest(CHAIN_START, first), chain_digest(chain_digest(CHAIN_START, first), second)]
    tampered(
        store,
        "UPDATE score_events SET event = replace(event, '\"ana\"', '\"eva\"')",
        *(f"UPDATE score_events SET digest = '{digest}' WHERE seq = {seq}" for seq, digest in enumerate(made, 1)),
        f"UPDATE score_chain SET head = '{made[1]}'",
    )
    (told,) = verify_log_and_list_breaks(store).breaks
    assert "no longer prevents" in told
    assert "was rebuilt" in verify_log_and_list_breaks(store, head).breaks[0]


def test_the_command_says_where(genaipa: Callable[..., Finished], tmp_path: Path) -> None:
    """`scores verify` ends with 0 and the last digest, or with 1 and each place; the log still comes out whole."""
    (tmp_path / "genaipa.toml").touch()
    assert "nothing to verify" in genaipa("scores", "verify").out
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.append_new_events([score("ana", f"{n:064}") for n in range(3)])
        head = verify_log_and_list_breaks(store).head
        done = genaipa("scores", "verify", "--head", head)
        assert (done.code, head in done.out) == (0, True)
        tampered(store, "UPDATE score_events SET event = replace(event, '\"ana\"', '\"eva\"') WHERE seq = 2")
    done = genaipa("scores", "verify")
    assert done.code == 1
    assert "event 2" in done.err
    assert "genaipa scores verify" in genaipa("scores", "export").err
    assert genaipa("scores", "export", "-o", "out/log.jsonl").code == 0
    assert genaipa("scores", "export", "-o", "out/log.jsonl").code == 2
    (tmp_path / "scores.db").rename(tmp_path / "damaged.db")
    assert genaipa("scores", "import", "out/log.jsonl", "--unknown-answers").code == 0
    assert genaipa("scores", "verify").code == 0
