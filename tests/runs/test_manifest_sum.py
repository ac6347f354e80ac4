"""A manifest and the facts of a corpus's documents, changed one field at a time: each change is found."""

from __future__ import annotations

import copy
import hashlib
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from running import carry_out, make_workspace, spec

from benchmarks.made_up import made_up
from genaipa.archive.study_pack import read_checked_pack
from genaipa.errors import DataError
from genaipa.policies.corpus import encode_corpus_line
from genaipa.runs.folder import RunFolder
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.permission import SharingPermission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    Cli = Callable[..., Finished]


@pytest.fixture
def folder(tmp_path: Path, genaipa: Cli) -> RunFolder:
    """A run about a corpus whose documents have all facts."""
    (tmp_path / "genaipa.toml").touch()
    facts = {"license": "CC0", "country": "US", "date": "2024-01-31", "title": "Privacy", "source": "a book"}
    lines = [json.loads(encode_corpus_line(document)) | facts for document in made_up(3)]
    Path("shops.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = genaipa("run", "-s", "extractive", "-e", "quality", "--limit", "1", "--documents", "shops.jsonl")
    assert done.code == 0, done.err
    return RunFolder(next(Path("runs").resolve().glob("[!.]*")))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values that hold no others, and those of empty ones."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner:
        yield path
    for key, below in inner:
        yield from leaves(below, (*path, key))


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool | None):
        return not value
    return f"{value}x" if isinstance(value, str) else value + 1 if isinstance(value, int | float) else type(value)([0])


def changes(content: bytes) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """(path of a field, content) with each field changed, and with it left out, one at a time."""
    fields = json.loads(content)
    for path in leaves(fields):
        for lost in (False, True):
            changed = copy.deepcopy(fields)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if lost:
                del holder[path[-1]]
            else:
                holder[path[-1]] = other(holder[path[-1]]) if holder[path[-1]] != {} else {"x": ""}
            yield path, json.dumps(changed).encode()


def test_each_field_of_a_manifest_is_under_its_sum(folder: RunFolder) -> None:
    """Every field of a run's manifest and of its copy, changed or lost, is told of that file."""
    assert not list(find_damage_in_run_folder(folder))
    unseen, number = [], 0
    for name in ("manifest.json", ".manifest.json"):
        path = folder.path / name
        whole = path.read_bytes()
        for place, content in changes(whole):
            number += 1
            path.write_bytes(content)
            # A copy may lack its sum: an earlier genaipa that was killed between the two has written it.
            if not (folder.describe_manifest_changed_since_written() or (name, place) == (".manifest.json", ("sum",))):
                unseen.append((path, place))
        path.write_bytes(whole)
    assert unseen == []
    assert number > 200


def test_each_fact_of_a_line_is_as_the_run_notes_it(folder: RunFolder) -> None:
    """Company, license, sector, country, date and all others of a document's line are held against the manifest."""
    path = folder.path / "documents.jsonl"
    first, *others = path.read_bytes().splitlines(keepends=True)
    assert {"license", "sector", "country", "date"} <= json.loads(first).keys()
    for place, content in changes(first):
        path.write_bytes(content + b"\n" + b"".join(others))
        assert any(found.path == path for found in find_damage_in_run_folder(folder)), place
    for broken in ({"text": 5}, {"also": 5}, {"also": [5]}, {"company": [5]}):
        path.write_bytes(json.dumps(json.loads(first) | broken).encode() + b"\n" + b"".join(others))
        assert any(found.path == path for found in find_damage_in_run_folder(folder)), broken


def test_no_word_of_a_manifest_frees_what_is_held_back(genaipa: Cli) -> None:
    """A changed author of replies, or license, is refused by a pack and by whatever asks what may be passed on."""
    make_workspace(questions=1)
    folder, _ = carry_out(spec(systems=("extractive",)))
    path = folder.path / "manifest.json"
    whole = path.read_bytes()
    for before, after in ((b'"words": "document"', b'"words": "own"'), (b'"kind": "policy"', b'"license": "CC0"')):
        assert before in whole
        path.write_bytes(whole.replace(before, after))
        refused = genaipa("pack", "latest", "-o", "study.zip")
        assert (refused.code, Path("study.zip").exists()) == (2, False)
        assert "manifest.json: was changed after the run wrote it; restore the file" in refused.err.replace("\n", " ")
        with pytest.raises(DataError, match="was changed"):
            SharingPermission(folder, folder.manifest())
    # With sum and copy out of the way, what the system stands for still decides.
    (folder.path / ".manifest.json").unlink()
    fields = json.loads(whole.replace(b'"words": "document"', b'"words": "own"'))
    del fields["sum"]
    path.write_text(json.dumps(fields))
    assert not SharingPermission(folder, folder.manifest()).may_share_reply("extractive", "acme")


def test_a_pack_of_a_changed_manifest_is_refused(genaipa: Cli) -> None:
    """A pack whose digests are right for a manifest that was changed before is not unpacked."""
    make_workspace(questions=1)
    carry_out(spec(systems=("extractive",)))
    assert genaipa("pack", "latest", "-o", "study.zip").code == 0
    with zipfile.ZipFile("study.zip") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (name for name in contents if name.endswith("/manifest.json") and name.startswith("runs/"))
    fields = json.loads(contents[name])
    fields["systems"]["extractive"]["words"] = "own"
    contents[name] = json.dumps(fields).encode()
    listing = json.loads(contents["pack.json"])
    listing["files"][name] = hashlib.sha256(contents[name]).hexdigest()
    with zipfile.ZipFile("other.zip", "w") as archive:
        for path, content in (contents | {"pack.json": json.dumps(listing).encode()}).items():
            archive.writestr(path, content)
    with pytest.raises(DataError, match=r"manifest\.json: was changed before it was packed"):
        read_checked_pack(Path("other.zip"))
