"""A workspace that can't be written, such as an archive's: what is read needs no place to write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import carry_out, make_workspace, spec
from stores import kept, opened, score

from genaipa.errors import GenaipaError
from genaipa.scoring.store import ScoreStore, open_existing_store
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished


def scored() -> list[str]:
    """Make a workspace here with a run whose answers Anna has scored; what the store has then."""
    make_workspace(questions=2)
    folder, _ = carry_out(spec(systems=("extractive",)))
    with opened(f"sqlite:///{Path('scores.db').absolute()}") as store:
        store.append_new_events([score("Anna", record.digest) for record in folder.read_records()])
        return [event.id for event in kept(store)]


@pytest.fixture
def archived(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Makes the working folder one that can't be written; gives the path under which it is so."""
    shown = tmp_path.with_name(f"{tmp_path.name}-archived")
    mounts = []

    def archive() -> Path:
        if os.geteuid() != 0:  # root may write wherever the file system lets it
            tmp_path.chmod(0o555)
            return tmp_path
        shown.mkdir()
        mounted = subprocess.run(["mount", "-o", "bind,ro", tmp_path, shown], check=False, capture_output=True)
        if mounted.returncode:
            pytest.skip("no read-only folder can be had here")
        mounts.append(shown)
        return shown

    yield archive
    tmp_path.chmod(0o755)
    for mount in mounts:
        subprocess.run(["umount", "--lazy", mount], check=True)


def test_what_only_reads_works(genaipa: Callable[..., Finished], archived: Callable[[], Path]) -> None:
    """Scores and the leaderboard come out of an archive, and leave it as it was."""
    scored()
    place = archived()
    before = sorted(path.name for path in place.iterdir())
    for command in (
        ("scores",),
        ("scores", "export"),
        ("leaderboard",),
    ):
        done = genaipa(command[0], *command[1:], "--workspace", place)
        assert done.code == 0, (command, done.err)
    assert "Anna" in genaipa("scores", "--workspace", place).out
    assert sorted(path.name for path in place.iterdir()) == before


def test_what_writes_says_what_it_wants(archived: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that can't be written is read with everything in it, and refuses a score in a sentence."""
    ids = scored()
    place = archived()
    with open_existing_store(find_workspace(place)) as store:
        assert store is not None
        assert [event.id for event in kept(store)] == ids
        with pytest.raises(GenaipaError, match="folder writable"):
            store.append_new_events([score("Ben", "x")])
    with pytest.raises(GenaipaError, match="folder writable"):
        ScoreStore.open_or_create(f"sqlite:///{place / 'scores.db'}")


def test_scores_that_a_desk_left_beside_the_file_count(archived: Callable[[], Path]) -> None:
    """What a killed desk had kept in SQLite's log, and not yet in the file, is read too, or missed in a sentence."""
    ids = scored()
    killed = (
        "import os, sys; from genaipa.scoring.store import ScoreStore; from stores import score\n"
        "store = ScoreStore.open_or_create(sys.argv[1]); store.append_new_events([score('Ben', 'x')]); os._exit(0)"
    )
    url = f"sqlite:///{Path('scores.db').absolute()}"
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    subprocess.run([sys.executable, "-c", killed, url], check=True, env=here)
    assert Path("scores.db-wal").stat().st_size
    place = archived()
    with open_existing_store(find_workspace(place)) as store:
        assert store is not None
        assert [event.id for event in kept(store)][: len(ids)] == ids
        assert len(kept(store)) == len(ids) + 1
