"""The databases that scores are kept in: made, brought forward, refused with a sentence; and their passwords."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import postgres
import pytest
from stores import kept, opened, score

from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.scoring.databases import SCHEMA_STEPS, apply_missing_schema_steps, schema_version
from genaipa.scoring.events import verify_log_and_list_breaks
from genaipa.scoring.store import ScoreStore, database_url
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS = 20


# --- Making and bringing forward -------------------------------------------------------------------------------------


def test_a_database_is_made_anew_once(url: str) -> None:
    """Twenty who open an empty database at once make its tables together."""
    start = threading.Barrier(THREADS)

    def open_with_the_others(_number: int) -> ScoreStore:
        start.wait(60)
        return ScoreStore.open_or_create(url)

    with ThreadPoolExecutor(THREADS) as threads:
        stores = list(threads.map(open_with_the_others, range(THREADS)))
    try:
        assert sum(store.append_new_events([score("ana", f"a{n}")]) for n, store in enumerate(stores)) == THREADS
        assert len(kept(stores[0])) == THREADS
    finally:
        for store in stores:
            store.close()


def forward(store: ScoreStore, *further: tuple[str, ...]) -> int:
    """Bring a database forward by steps that a later genaipa may have; the version it has then."""
    with store._open_transaction() as connection:
        apply_missing_schema_steps(connection, (*SCHEMA_STEPS, *further))
        return schema_version(connection)


def test_an_older_database_is_brought_forward(each_store: ScoreStore) -> None:
    """A further step is taken once, from the version that is there, and the scores are still there."""
    event = score("ana", "a1")
    each_store.append_new_events([event])
    today = len(SCHEMA_STEPS)
    more = ("ALTER TABLE score_reservations ADD COLUMN place TEXT", "CREATE TABLE score_places (place TEXT)")
    assert forward(each_store) == today
    assert forward(each_store, more) == today + 1
    assert forward(each_store, more) == today + 1, "a second time would fail on the table that is there"
    assert kept(each_store) == [event]


def test_who_began_an_answer_is_found_without_reading_every_draft(each_store: ScoreStore) -> None:
    """The drafts of an answer are looked up in an index, whichever analysts they are of."""
    question = "SELECT draft FROM score_drafts WHERE answer = 'a1'"
    with each_store._open_connection() as connection:
        if each_store._engine.dialect.name == "sqlite":
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {question}")
        else:
            # It would read a table as small as this one as a whole.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = connection.exec_driver_sql(f"EXPLAIN {question}")
        assert "score_drafts_answer" in " ".join(str(step) for step in plan)


def test_a_step_that_fails_is_not_taken(each_store: ScoreStore) -> None:
    """Where a statement of a step fails, what the step did before it is undone, and the version stays."""
    each_store.append_new_events([score("ana", "a1")])
    step = ("CREATE TABLE score_places (place TEXT)", "ALTER TABLE no_such_table ADD COLUMN place TEXT")
    with pytest.raises(GenaipaError, match="no_such_table"):
        forward(each_store, step)
    assert forward(each_store) == len(SCHEMA_STEPS)
    assert forward(each_store, step[:1]) == len(SCHEMA_STEPS) + 1, "the table is not there yet"
    assert len(kept(each_store)) == 1


def test_another_genaipa_s_database_is_refused(url: str) -> None:
    """A database that a later genaipa has brought forward is refused with a sentence, and left as it is."""
    today = len(SCHEMA_STEPS)
    with opened(url) as store:
        forward(store, ("CREATE TABLE score_places (place TEXT)",))
    for _ in range(2):
        with pytest.raises(
            DataError,
            match=rf"a newer version of genaipa \(format {today + 1}; this version reads {today}\); upgrade genaipa",
        ):
            ScoreStore.open_or_create(url)


def test_a_sqlite_file_is_private_and_durable(tmp_path: Path) -> None:
    """The file and what SQLite puts beside it are its owner's alone; every commit waits for the disk."""
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.append_new_events([score("ana", "a1")])
        files = sorted(tmp_path.glob("scores.db*"))
        assert [path.name for path in files] == ["scores.db", "scores.db-shm", "scores.db-wal"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        with store._open_connection() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_file_that_another_makes_is_waited_for(tmp_path: Path) -> None:
    """Who opens a file while another process is about to make its tables waits until that is done."""
    with opened(f"sqlite:///{tmp_path / 'other.db'}"):
        pass  # what is imported on use is imported now, which may take longer than the other process does
    path = tmp_path / "scores.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE others (what TEXT)")
        other.execute("BEGIN IMMEDIATE")
        ready = threading.Timer(0.3, other.execute, ["COMMIT"])
        ready.start()
        with opened(f"sqlite:///{path}") as store:
            assert store.append_new_events([score("ana", "a1")]) == 1
        ready.join()


def test_readers_do_not_wait_for_a_writer(each_store: ScoreStore) -> None:
    """While a transaction is under way, others read what was there before it."""
    event = score("ana", "a1")
    each_store.append_new_events([event])
    with each_store._open_transaction() as connection:
        each_store._append_batch_and_clear_drafts(connection, [score("ana", "a2")])
        assert kept(each_store) == [event]
        connection.rollback()


def test_a_reader_waits_for_nobody(tmp_path: Path) -> None:
    """A file is read while another program has it for writing."""
    url = f"sqlite:///{tmp_path / 'scores.db'}"
    with contextlib.closing(ScoreStore.open_or_create(url)) as store:
        store.append_new_events([score("Ada", "a")])
    with contextlib.closing(sqlite3.connect(tmp_path / "scores.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with contextlib.closing(ScoreStore.open_or_create(url, read_only=True)) as store:
            assert len(list(store.read_numbered_events())) == 1
            assert verify_log_and_list_breaks(store).breaks == []
        other.execute("ROLLBACK")


def test_a_file_keeps_the_mode_its_owner_gave_it(tmp_path: Path) -> None:
    """A file that is shared on purpose stays shared."""
    path = tmp_path / "scores.db"
    with opened(f"sqlite:///{path}"):
        path.chmod(0o660)
    with opened(f"sqlite:///{path}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """A path is taken as it is written, whatever a URL would make of its characters."""
    folder = tmp_path / "what? 100%41 #1 @home"
    folder.mkdir()
    with opened(f"sqlite:///{folder / 'scores.db'}") as store:
        assert store.name == str(folder / "scores.db")
    assert (folder / "scores.db").is_file()


def test_the_workspace_has_the_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are in the workspace, unless GENAIPA_DATABASE_URL names another place."""
    workspace = find_workspace(tmp_path)
    assert database_url(workspace) == f"sqlite:///{tmp_path / 'scores.db'}"
    monkeypatch.setenv("GENAIPA_DATABASE_URL", "sqlite:///elsewhere.db")
    with opened(database_url(workspace)) as store:
        assert store.name == str(tmp_path / "elsewhere.db")
    assert not (tmp_path / "scores.db").exists()


@pytest.mark.parametrize("content", [b"Dear diary, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file of something else is refused with its name, and left as it was."""
    path = tmp_path / "scores.db"
    path.write_bytes(content)
    with pytest.raises(GenaipaError, match=r"scores\.db can't be used \(.*not a scores file; move it away"):
        ScoreStore.open_or_create(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """The tables of other programs in the same database stay as they are."""
    path = tmp_path / "scores.db"
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE events (what TEXT)")
        other.execute("INSERT INTO events VALUES ('lunch')")
    with opened(f"sqlite:///{path}") as store:
        store.append_new_events([score("ana", "a1")])
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT * FROM events").fetchall() == [("lunch",)]


@contextlib.contextmanager
def as_a_guest() -> Iterator[None]:
    """Without root's right to write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder in which anybody may read and nobody may write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_folder_that_cant_be_written_is_said(locked_folder: Path, tmp_path: Path) -> None:
    """Where no file can be made, or the one that is there can't be written, a sentence names it."""
    path = locked_folder / "scores.db"
    with opened(f"sqlite:///{tmp_path / 'other.db'}"):
        pass  # what is imported on use is imported now, while everything can be read
    with as_a_guest(), pytest.raises(DataError, match=r"scores\.db: can't be created \(Permission denied\)"):
        ScoreStore.open_or_create(f"sqlite:///{path}")
    locked_folder.chmod(0o755)
    with opened(f"sqlite:///{path}") as store:
        store.append_new_events([score("ana", "a1")])
    path.chmod(0o444)
    locked_folder.chmod(0o555)
    with as_a_guest(), pytest.raises(GenaipaError, match="make the file and its folder writable"):
        ScoreStore.open_or_create(f"sqlite:///{path}")


def test_a_folder_that_isnt_there_is_said(tmp_path: Path) -> None:
    """A file in a folder that doesn't exist, a folder, and no name at all are each refused with a sentence."""
    with pytest.raises(DataError, match=r"scores\.db: can't be created \(No such file or directory\)"):
        ScoreStore.open_or_create(f"sqlite:///{tmp_path / 'missing' / 'scores.db'}")
    with pytest.raises(GenaipaError, match="can't be used"):
        ScoreStore.open_or_create(f"sqlite:///{tmp_path}")
    for url in ("sqlite:///", "sqlite:///:memory:", "sqlite://"):
        with pytest.raises(UsageError, match="GENAIPA_DATABASE_URL"):
            ScoreStore.open_or_create(url)


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_by_each_of_its_names(request: pytest.FixtureRequest, scheme: str) -> None:
    """The ways to write PostgreSQL's URL mean the same driver."""
    url = postgres.database(request.config)
    with opened(url.replace("postgresql", scheme, 1)) as store:
        assert store.append_new_events([score("ana", "a1")]) == 1


@pytest.mark.full
def test_a_server_that_closed_the_connection_is_asked_again(request: pytest.FixtureRequest) -> None:
    """Connections that the server has ended since the last score are made anew."""
    with opened(postgres.database(request.config)) as store:
        store.append_new_events([score("ana", "a1")])
        ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{store._engine.url.database}'"
        postgres.server(request.config).run(ended)
        assert store.append_new_events([score("ana", "a2")]) == 1
        assert len(kept(store)) == 2


@pytest.mark.full
def test_a_wrong_password_is_not_repeated(request: pytest.FixtureRequest) -> None:
    """A server that refuses the password is said to refuse it; the password is nowhere in what is said."""
    url = postgres.server(request.config).url("postgres", password="hunter2-hunter2")
    with pytest.raises(GenaipaError, match="password authentication failed for user") as caught:
        ScoreStore.open_or_create(url)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ana:hunter2@127.0.0.1:1/scores", "Connection refused"),
        ("postgresql://ana@127.0.0.1:1/scores?password=hunter2", "Connection refused"),
        ("postgresql://ana:127.0.0.1@127.0.0.1:1/scores", "the server refused the connection"),
        ("postgresql://ana:p@hunter2@127.0.0.1:1/scores", "%40 for an @"),
        ("postgresql://ana:p@hunter2/x@127.0.0.1:1/scores", "%40 for an @"),
        ("postgresql://ana:hunter2", "must be sqlite"),
        ("mysql://ana:hunter2@127.0.0.1:1/scores", "must be sqlite"),
        ("ana:hunter2", "must be sqlite"),
    ],
)
def test_a_password_is_never_told(url: str, says: str) -> None:
    """Whatever is wrong with a URL, its password is not in the error."""
    with pytest.raises(GenaipaError, match=says) as caught:
        ScoreStore.open_or_create(url)
    told = "".join(traceback.format_exception(caught.value))
    assert "GENAIPA_DATABASE_URL" in str(caught.value)
    assert "hunter2" not in told
    assert "ana:127.0.0.1" not in told


@pytest.mark.full
def test_what_a_transaction_holds_is_given_back(request: pytest.FixtureRequest) -> None:
    """Each connection asks the server to end its turn if it should vanish in the middle of one."""
    with opened(postgres.database(request.config)) as store, store._open_connection() as connection:
        shown = [
            connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("idle_in_transaction_session_timeout", "lock_timeout")
        ]
        assert shown == ["30s", "30s"]


# --- What is not installed -------------------------------------------------------------------------------------------

_WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from genaipa.errors import MissingPackageError
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.store import ScoreStore
try:
    ScoreStore.open_or_create(sys.argv[2])
except MissingPackageError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "url", "extra"),
    [
        ("sqlalchemy", "sqlite:///scores.db", "desk"),
        ("psycopg", "postgresql://127.0.0.1:1/scores", "postgresql"),
    ],
)
def test_a_missing_package_names_its_extra(package: str, url: str, extra: str) -> None:
    """Without SQLAlchemy, or without a driver for PostgreSQL, the error says what to install."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, package, url], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip().endswith(f"need the package '{package}': pip install 'genaipa[{extra}]'")
    assert not Path("scores.db").exists()


def test_an_empty_file_of_another_kind_stays_what_it_is() -> None:
    """An address with a slip makes no database of a settings file."""
    Path("genaipa.toml").touch()
    with pytest.raises(
        DataError, match=r"genaipa\.toml: is an empty file, not a database; name a file that ends in \.db"
    ):
        ScoreStore.open_or_create("sqlite:///genaipa.toml")
    assert Path("genaipa.toml").stat().st_size == 0
    Path("new.db").touch()
    ScoreStore.open_or_create("sqlite:///new.db").close()
