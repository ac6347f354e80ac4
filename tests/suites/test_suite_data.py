"""Data of the suites: pulled from whatever folder has them, checked, and told apart from pointers and other files."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from genaipa.datasets.base import find_dataset
from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.files.text import git_blob_hash
from genaipa.workspace import find_workspace
from genaipa_suites.data import SuiteSource
from genaipa_suites.datasets import JoinedData, SuiteData

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:f84c\nsize 12\n"
TEXTS = {"data/a/dev.json": "{}", "data/b/dev.json": "[]", "data/a/test.json": "1", "notes/legend.csv": "x,y"}
LARGE, LOOSE = "data/large.csv.xz", "data/corpus/policies/Inkwell.txt"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def data(title: str = "Inkpots") -> SuiteData:
    """A data set of made-up files: four pinned by git, one by the SHA-256 of a Git-LFS pointer, one by nothing."""
    blobs = {path: git_blob_hash(text.encode()) for path, text in TEXTS.items()}
    blobs |= {LARGE: hashlib.sha256(b"large").hexdigest(), LOOSE: ""}
    return SuiteData(SuiteSource("inkpots", title, "made/up", "c0ffee" * 6, blobs, "Ours.", "Look in the attic."))


def put(folder: str, **files: str) -> str:
    """A folder with these files: path with `__` for `/` → content."""
    for name, text in files.items():
        path = Path(folder, name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def pulled(folder: str) -> list[str]:
    """The files that a pull from a folder leaves here."""
    inkpots = data()
    inkpots.pull(origin=folder, offline=True)
    assert all(
        (inkpots.source.pulled_folder / path).read_text() == text
        for path, text in TEXTS.items()
        if path in inkpots.pulled_files
    )
    return inkpots.pulled_files


def everything(folder: str, *, begin: int = 0) -> str:
    """A folder with all files, under the ends of their paths from this part on."""
    for path, text in (TEXTS | {LARGE: "large", LOOSE: "Ink."}).items():
        put(folder, **{"__".join(path.split("/")[begin:]): text})
    return folder


@pytest.mark.parametrize("begin", [0, 1])
def test_files_are_found_by_their_path_or_a_shorter_end_of_it(begin: int) -> None:
    """A clone and a folder inside it do equally; the same name in two folders is never mixed up."""
    assert pulled(everything("from", begin=begin)) == [*TEXTS, LARGE, LOOSE]


def test_files_are_found_anywhere_in_a_folder_by_their_content() -> None:
    """Two files of one name in odd places are told apart by their hashes; one that is not pinned goes by its name."""
    put(
        "from",
        odd__1__dev="no",
        **{"odd__1__dev.json": "[]", "odd__2__dev.json": "{}", "elsewhere__Inkwell.txt": "Ink."},
    )
    assert pulled("from") == ["data/a/dev.json", "data/b/dev.json", LOOSE]


def test_a_file_known_by_no_hash_is_told_by_its_folder() -> None:
    """Two files of one name without hashes never pass for each other, however deep their folders are."""
    blobs = {f"data/{folder}/gold.txt": "" for folder in ("a", "b")}
    inkpots = SuiteData(SuiteSource("inkpots", "Inkpots", "made/up", "c0ffee" * 6, blobs, "Ours."))
    inkpots.pull(origin=put("from", odd__b__gold="no", **{"odd__b__gold.txt": "B"}), offline=True)
    assert inkpots.pulled_files == ["data/b/gold.txt"]
    inkpots.pull(origin=put("from", **{"odd__a__gold.txt": "A"}), offline=True)
    assert [(inkpots.source.pulled_folder / path).read_text() for path in inkpots.pulled_files] == ["A", "B"]


def test_a_pull_takes_what_there_is_and_names_the_rest() -> None:
    """Missing files are told with the remedy, and come with a later pull from where they are."""
    first = data().pull(origin=put("one", **{"a__dev.json": "{}"}), offline=True)
    assert (first.fetched, first.absent) == (1, 5)
    assert first.notes[0].startswith(
        "data/a/dev.json fetched; not available from this source: data/ (1), data/a/ (1), data/b/ (1)"
    )
    assert first.notes[0].endswith("Look in the attic.")
    later = data().pull(origin=everything("all"), offline=True)
    assert (later.fetched, later.kept, later.absent) == (5, 1, 0)
    assert "Inkwell.txt: no hash is published" in later.notes[0]


def test_a_folder_without_any_of_them_is_refused() -> None:
    """The sentence names the folder, the files and the remedy; offline without a folder it names the command."""
    Path("empty").mkdir()
    with pytest.raises(
        UsageError, match=r"^empty has none of the files of Inkpots \(dev.json, test.json, .*\); check made/up out"
    ):
        data().pull(origin="empty", offline=False)
    assert not data().is_pulled()
    with pytest.raises(
        UsageError, match=r"Inkpots are missing \('data/a/dev.json' and 5 more\); .*genaipa get inkpots"
    ):
        data().pull(origin=None, offline=True)


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("a__test.json", git_blob_hash(b"2"), git_blob_hash(b"1")),
        ("large.csv.xz", hashlib.sha256(b"2").hexdigest(), hashlib.sha256(b"large").hexdigest()),
    ],
)
def test_another_content_is_refused(name: str, found: str, expected: str) -> None:
    """Both hashes are named, where to get the file, and where a file of one's own belongs."""
    with pytest.raises(DataError) as refused:
        data().pull(origin=put("from", **{name: "2"}), offline=True)
    said = str(refused.value)
    assert found in said
    assert expected in said
    assert "check made/up out at commit c0ffeec0ff" in said
    assert said.endswith("your own data, in the same layout, goes into suites/inkpots/ of a workspace.")


@pytest.mark.parametrize("name", ["large.csv.xz", "Inkwell.txt"])
def test_a_pointer_is_told_to_be_one(name: str) -> None:
    """What git keeps in place of a large file is refused with the remedy, pinned or not."""
    with pytest.raises(GenaipaError, match=r"is a Git-LFS pointer, not the file itself; run 'git lfs pull'"):
        data().pull(origin=put("from", **{name: POINTER}), offline=True)


def test_a_file_known_by_no_hash_is_taken_anew() -> None:
    """A better copy of it replaces an earlier one, which nothing else can tell from it."""
    data().pull(origin=put("from", **{"Inkwell.txt": "Ink"}), offline=True)
    data().pull(origin=put("from", **{"Inkwell.txt": "Ink."}), offline=True)
    assert (data().source.pulled_folder / LOOSE).read_text() == "Ink."


def test_it_has_no_study_to_import() -> None:
    """The sentence says what to do instead."""
    with pytest.raises(UsageError, match=r"^Inkpots has no runs to import: .*genaipa get inkpots$"):
        data().import_study(find_workspace())


def test_one_name_brings_the_data_of_all_suites() -> None:
    """Of PrivacyGLUE's six data sets each brings what the folder has, and a sentence says what of the others lacks."""
    glue = find_dataset("privacyglue")
    assert isinstance(glue, JoinedData)
    sought = ["policyqa", "opp115", "privacyqa", "piextract", "policyie", "policy-detection"]
    assert [one.name for one in glue.parts] == sought
    path = next(path for path, blob in glue.parts[-1].source.blobs.items() if not blob)
    made = glue.pull(origin=put("from", **{path.replace("/", "__"): "Ink."}), offline=True)
    assert (made.fetched, glue.pulled_files) == (1, [path])
    assert sum("has none of the files of" in note for note in made.notes) == len(sought) - 1


def test_a_mirror_gives_what_it_has() -> None:
    """Files that a server lacks are told as a folder's are; one that has none of them is refused by name."""
    put("mirror", **{"data__a__dev.json": "{}", LOOSE.replace("/", "__"): "Ink."})
    handler = partial(Quiet, directory="mirror")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        found = data().pull(origin=url, offline=False)
        with pytest.raises(UsageError, match=r"refuses '.*' \(status 404\)"):
            SuiteData(replace(data().source, name="others")).pull(origin=f"{url}/nowhere", offline=False)
        server.shutdown()
    assert (found.fetched, found.absent, data().pulled_files) == (2, 4, ["data/a/dev.json", LOOSE])


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""
