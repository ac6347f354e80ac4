"""Pulling GenAIPABench: what is fetched, checked, kept and said when something is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from genaipabench_tree import COMMIT, TreeServer, git_hash, repository, tree_of

from genaipa.datasets.base import find_unpulled_dataset_with_document
from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.policies.document import load_document
from genaipa_study.layout import COMMIT as PINNED
from genaipa_study.layout import published_tree
from genaipa_study.pull import is_converted_data_available, pull

FILES = repository()
TREE = tree_of(FILES)
QUESTIONS = "Questions/Privacy Policy Questions/Questions.csv"
PULL = """
import json, sys
from genaipa_study.layout import PublishedTree
from genaipa_study.pull import pull
origin, commit, blobs = json.load(sys.stdin)
pull(origin=origin, tree=PublishedTree(commit, blobs))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def checkout(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    """The files in a folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def start_pull(origin: str) -> subprocess.Popen[str]:
    """A process that pulls."""
    process = subprocess.Popen([sys.executable, "-c", PULL], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps([origin, COMMIT, dict(TREE.blobs)]))
    process.stdin.close()
    process.stdin = None
    return process


def kept() -> set[str]:
    """The files that are in the cache; fails if one is there under its name with something else in it."""
    here = {path for path in TREE.blobs if (TREE.folder / path).exists()}
    assert all((TREE.folder / path).read_bytes() == FILES[path] for path in here)
    return here


def test_the_pinned_tree_has_every_published_file() -> None:
    """The list that ships names all 111 files of the pinned commit: 86 to be found, 25 of the study itself."""
    tree = published_tree()
    assert tree.commit == PINNED
    assert len(tree.blobs) == 111
    assert all(len(blob) == 40 and int(blob, 16) for blob in tree.blobs.values())
    folders = Counter(path.partition("/")[0] for path in tree.required_files)
    assert folders == {"Privacy Documents": 20 + 49 + 7, "Annotated Answers": 7, "Questions": 3}
    assert Counter(path.partition("/")[0] for path in tree.optional_files) == {"Generated Answers": 7, "Results": 18}


def test_pulls_from_a_mirror_and_converts(cache: Path) -> None:
    """Every file arrives, spaces and '&' in its path included, and the documents can be loaded."""
    with TreeServer(FILES) as server:
        result = pull(origin=server.url + "/", tree=TREE)
    assert (result.fetched, result.kept) == (len(FILES), 0)
    assert not any(character in target for target in server.targets for character in " &")
    assert kept() == set(FILES)
    assert load_document("uber").company == "Uber"
    assert is_converted_data_available(TREE)
    assert not list(cache.rglob("*.tmp"))


def test_a_second_pull_asks_for_nothing() -> None:
    """What is here and right is never fetched again."""
    with TreeServer(FILES) as server:
        pull(origin=server.url, tree=TREE)
        again = pull(origin=server.url, tree=TREE)
    assert (again.fetched, again.kept) == (0, len(FILES))
    assert server.asked.total() == len(FILES)


def test_the_environment_names_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """GENAIPA_MIRROR stands in for the repository, and an explicit origin for both."""
    with TreeServer(FILES) as server, TreeServer(FILES) as other:
        monkeypatch.setenv("GENAIPA_MIRROR", server.url)
        pull(tree=TREE)
        (TREE.folder / QUESTIONS).unlink()
        pull(origin=other.url, tree=TREE)
    assert set(server.asked) == set(FILES)
    assert set(other.asked) == {QUESTIONS}


@pytest.mark.soak
def test_goes_on_after_a_kill() -> None:
    """A pull that is killed leaves whole files only, and the next one doesn't ask for them again."""
    with TreeServer(FILES, stall_after=20) as server:
        process = start_pull(server.url)
        assert server.stalling.wait(60)
        process.kill()
        process.communicate()
        before = kept()
        assert 0 < len(before) <= 20
        asked = server.asked.copy()
        server.release.set()
        result = pull(origin=server.url, tree=TREE)
    assert result.kept == len(before)
    assert all(server.asked[path] == asked[path] for path in before)
    assert kept() == set(FILES)


def test_a_damaged_file_is_refused() -> None:
    """The error names file, both hashes and the remedy; good files stay and the damaged one is not among them."""
    damaged = FILES[QUESTIONS] + b"?"
    with TreeServer(FILES | {QUESTIONS: damaged}) as server:
        with pytest.raises(DataError) as error:
            pull(origin=server.url, tree=TREE)
        here = kept()
        assert QUESTIONS not in here
        server.files[QUESTIONS] = FILES[QUESTIONS]
        assert pull(origin=server.url, tree=TREE).kept == len(here)
    for part in (QUESTIONS, git_hash(damaged), git_hash(FILES[QUESTIONS]), "127.0.0.1", "another source"):
        assert part in str(error.value)


def test_a_file_damaged_in_the_cache_is_fetched_again() -> None:
    """The cache is believed by its hashes, not by its names."""
    with TreeServer(FILES) as server:
        pull(origin=server.url, tree=TREE)
        (TREE.folder / QUESTIONS).write_bytes(b"half a fi")
        assert pull(origin=server.url, tree=TREE).fetched == 1
    assert kept() == set(FILES)


def test_a_file_that_the_mirror_lacks_is_named_at_once() -> None:
    """404 is not tried again."""
    with TreeServer(FILES) as server:
        del server.files[QUESTIONS]
        with pytest.raises(UsageError, match=r"^GenAIPABench can't be fetched: .*Questions\.csv' \(status 404\)"):
            pull(origin=server.url, tree=TREE)
    assert server.asked[QUESTIONS] == 1


def test_trouble_that_passes_is_waited_out() -> None:
    """A server that is busy once is asked again."""
    with TreeServer(FILES) as server:
        server.statuses[QUESTIONS] = [503]
        pull(origin=server.url, tree=TREE)
    assert server.asked[QUESTIONS] == 2
    assert QUESTIONS in kept()


@pytest.mark.full
def test_trouble_that_stays_ends_after_three_attempts() -> None:
    """Attempts are bounded; the sentence names host, file and how to go on."""
    with TreeServer(FILES) as server:
        server.statuses[QUESTIONS] = [503] * 9
        with pytest.raises(GenaipaError) as error:
            pull(origin=server.url, tree=TREE)
    assert server.asked[QUESTIONS] == 3
    assert error.value.exit_code == 1
    for part in (
        "127.0.0.1",
        QUESTIONS,
        "status 503",
        "genaipa get genaipabench again",
        "--from FOLDER",
        "brindlecart",
    ):
        assert part in str(error.value)


def test_a_server_that_is_not_there() -> None:
    """The sentence names the host, and not the password in the mirror's URL."""
    with TreeServer(FILES) as server:
        origin = server.url.replace("http://", "http://reader:hunter2@")
    with pytest.raises(GenaipaError, match=r"^GenAIPABench can't be fetched: 127\.0\.0\.1 did not") as error:
        pull(origin=origin, tree=TREE)
    assert "hunter2" not in str(error.value)


def test_offline_names_what_is_missing() -> None:
    """Nothing is asked for; the sentence names the command to run with a network."""
    more = len(FILES) - 1
    with TreeServer(FILES) as server:
        with pytest.raises(UsageError, match=rf"_document\.txt.*and {more} more.*genaipa get genaipabench"):
            pull(origin=server.url, offline=True, tree=TREE)
        assert not server.asked
        pull(origin=server.url, tree=TREE)
    assert pull(offline=True, tree=TREE).kept == len(FILES)


def test_pulls_from_a_folder(tmp_path: Path) -> None:
    """A checkout is an origin, offline too."""
    result = pull(origin=str(checkout(tmp_path / "checkout")), offline=True, tree=TREE)
    assert result.fetched == len(FILES)
    assert is_converted_data_available(TREE)


def test_a_folder_without_a_file(tmp_path: Path) -> None:
    """The missing file is named with its folder and the commit to check out."""
    folder = checkout(tmp_path / "checkout")
    (folder / QUESTIONS).unlink()
    with pytest.raises(DataError, match=rf"checkout/{QUESTIONS}: can't be read \(No such file.*{COMMIT[:10]}"):
        pull(origin=str(folder), tree=TREE)


def test_a_folder_that_holds_the_checkout(tmp_path: Path) -> None:
    """The folder to name is named."""
    folder = checkout(tmp_path / "data" / "checkout")
    with pytest.raises(
        UsageError, match=f"data has GenAIPABench in a subfolder; give that folder instead: {re.escape(str(folder))}$"
    ):
        pull(origin=str(folder.parent), tree=TREE)


def test_a_checkout_with_other_line_ends(tmp_path: Path) -> None:
    """Bytes are compared as they are, and the remedy names git's setting."""
    folder = checkout(tmp_path / "checkout")
    (folder / QUESTIONS).write_bytes(FILES[QUESTIONS].replace(b"\r\n", b"\n"))
    with pytest.raises(DataError, match=r"Questions\.csv: is not the published file.*autocrlf=false"):
        pull(origin=str(folder), tree=TREE)


@pytest.mark.parametrize("origin", ["nowhere", "https://", "ftp://127.0.0.1/tree"])
def test_an_origin_that_is_none(origin: str) -> None:
    """What is neither a folder nor a URL is a mistake of the command line."""
    with pytest.raises(UsageError, match="GenAIPABench can't be pulled from it"):
        pull(origin=origin, tree=TREE)


def test_a_cache_that_cannot_be_written(cache: Path, tmp_path: Path) -> None:
    """The sentence names the variable that moves the cache."""
    cache.write_text("a file where the folder should be")
    with pytest.raises(UsageError, match=r"can't be written.*GENAIPA_CACHE"):
        pull(origin=str(checkout(tmp_path / "checkout")), tree=TREE)


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    """What was written beside it until then is removed."""
    (TREE.folder / QUESTIONS / "in the way").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"Questions\.csv can't be written"):
        pull(origin=str(checkout(tmp_path / "checkout")), tree=TREE)
    assert not list(cache.rglob("*.tmp"))


def test_progress_is_told_after_each_file(tmp_path: Path) -> None:
    """Counts rise by one to the number of files that were missing."""
    told: list[tuple[int, int]] = []
    checkout(TREE.folder, {QUESTIONS: FILES[QUESTIONS]})
    origin = str(checkout(tmp_path / "checkout"))
    pull(origin=origin, progress=lambda done, total: told.append((done, total)), tree=TREE)
    missing = len(FILES) - 1
    assert told == [(count, missing) for count in range(1, missing + 1)]


@pytest.mark.full  # in small, test_two_threads_pull_at_once
def test_two_processes_pull_at_once(cache: Path) -> None:
    """Both end well, and every file is whole."""
    with TreeServer(FILES) as server:
        processes = [start_pull(server.url) for _ in range(2)]
        errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert kept() == set(FILES)
    assert is_converted_data_available(TREE)
    assert not list(cache.rglob("*.tmp"))


@pytest.mark.full
def test_two_threads_pull_at_once() -> None:
    """Both end well, and every file is whole."""
    with TreeServer(FILES) as server, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: pull(origin=server.url, tree=TREE), range(2)))
    assert all(result.fetched + result.kept == len(FILES) for result in results)
    assert kept() == set(FILES)


def test_a_data_set_offers_what_is_not_here_yet(shared: Path) -> None:
    """The seven documents are on offer until they are here; other names never are."""
    offered = {name: find_unpulled_dataset_with_document(name) for name in ("uber", "ccpa")}
    assert {name: dataset.name for name, dataset in offered.items() if dataset} == dict.fromkeys(
        offered, "genaipabench"
    )
    assert find_unpulled_dataset_with_document("brindlecart") is None
    pull(origin=str(shared / "data" / "genaipabench"))
    assert find_unpulled_dataset_with_document("uber") is None


# The study's own answers and scores

ANSWERS = {
    "Generated Answers/Bing/Bing_FAQ.xlsx": b"what it said",
    "Results/Results_Bing/Results_robust.csv": b"scores",
}
WITH_STUDY = tree_of(FILES | ANSWERS)


def test_what_a_source_lacks_of_the_study_is_a_note(tmp_path: Path) -> None:
    """A folder and a server without the study's files are sources all the same; one note names what they lack."""
    with TreeServer(FILES) as server:
        from_server = pull(origin=server.url, tree=WITH_STUDY)
        again = pull(origin=str(checkout(tmp_path / "checkout")), tree=WITH_STUDY)
    named = "2 of the 2 files .*: Generated Answers/Bing \\(1\\), Results/Results_Bing \\(1\\)"
    for result, fetched in ((from_server, len(FILES)), (again, 0)):
        assert len([note for note in result.notes if re.search(named, note)]) == 1
        assert result.fetched == fetched
    assert is_converted_data_available(WITH_STUDY)


def test_a_later_pull_brings_the_study(tmp_path: Path) -> None:
    """Only what was missing is asked for, and nothing is noted any more."""
    pull(origin=str(checkout(tmp_path / "checkout")), tree=WITH_STUDY)
    with TreeServer(FILES | ANSWERS) as server:
        result = pull(origin=server.url, tree=WITH_STUDY)
    assert set(server.asked) == set(ANSWERS)
    assert (result.fetched, result.kept) == (len(ANSWERS), len(FILES))
    assert not any("source did not serve" in note for note in result.notes)


@pytest.mark.full
def test_the_study_may_be_missing_offline_and_without_a_server(tmp_path: Path) -> None:
    """What nobody can fetch now doesn't stand in the way of what is here."""
    pull(origin=str(checkout(tmp_path / "checkout")), tree=WITH_STUDY)
    assert pull(offline=True, tree=WITH_STUDY).kept == len(FILES)
    with TreeServer(FILES) as server:
        gone = server.url
    without = pull(origin=gone, tree=WITH_STUDY)
    assert (without.fetched, without.kept, without.absent) == (0, len(FILES), len(ANSWERS))


def test_a_damaged_file_of_the_study_is_refused(tmp_path: Path) -> None:
    """A file that is there and is not the published one is an error, as any other."""
    folder = checkout(tmp_path / "checkout", FILES | ANSWERS)
    (folder / "Results/Results_Bing/Results_robust.csv").write_bytes(b"other scores")
    with pytest.raises(DataError, match=r"Results_robust\.csv: is not the published file"):
        pull(origin=str(folder), tree=WITH_STUDY)
