"""A further data set is one folder (`teaset/`) and one line: everything else follows from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from genaipa.datasets.base import find_dataset, iterate_loadable_datasets
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

PUBLISHED = Path(__file__).parent / "teaset" / "published"
LINE = "teaset = teaset:Teaset"


def install(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an installed package have this line in the group genaipa.datasets."""
    about = folder / "site" / "added-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[genaipa.datasets]\n{line}\n")
    monkeypatch.syspath_prepend(folder / "site")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    Path("genaipa.toml").touch()


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


@pytest.mark.full
def test_a_folder_and_a_line_are_a_data_set(genaipa: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed, pulled from a local folder, imported, replayed, reported, packed and validated."""
    install(tmp_path, LINE, monkeypatch)
    system = {row["name"]: row for row in json.loads(done(genaipa("systems", "--json")))}["published/kettle"]
    assert (system["ready"], system["missing"]) == (False, ["genaipa get teaset"])
    assert "samovar" in json.loads(done(genaipa("policies", "--json")))["pullable"]
    both = genaipa("get", "teaset", "--from", PUBLISHED, "--runs", "--json")
    assert "Teaset: 2 files fetched, 0 already here, all identical to the published files." in both.err
    assert json.loads(done(both))["systems"] == {
        "published/kettle": {"runs": ["published-kettle-quality"], "answers": 2, "scores": 2}
    }
    out = done(genaipa("get", "teaset"))
    assert (
        "Teaset: 0 files fetched, 2 already here, all identical to the published files.\nThey may be passed on (" in out
    )
    assert "samovar" in out
    assert {row["name"]: row for row in json.loads(done(genaipa("systems", "--json")))}["published/kettle"]["ready"]
    done(genaipa("run", "--system", "published/kettle", "--policy", "samovar"))
    asked = next(Path("runs").glob("2*")) / "answers.jsonl"
    lines = map(json.loads, asked.read_text(encoding="utf-8").splitlines())
    replies = {line["coordinates"]["question"]: line["reply"] for line in lines}
    assert replies == {"Q1": "For a year, says section 1.", "Q2": "I would rather pour tea."}
    done(genaipa("report", "published/kettle", "-o", "report", "--formats", "svg"))
    assert "kettle" in Path("report/tables/leaderboard.csv").read_text(encoding="utf-8")
    done(genaipa("pack", "published/kettle", "-o", "tea.zip"))
    assert "identical to the packed ones" in done(genaipa("unpack", "tea.zip", "again"))
    assert "Everything is fine." in done(genaipa("validate", "--data"))


def test_a_document_of_a_data_set_is_pulled_when_it_is_asked_about(
    genaipa: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run names the data set that it pulls; offline it names the command."""
    install(tmp_path, LINE, monkeypatch)
    monkeypatch.setenv("GENAIPA_MIRROR", str(PUBLISHED))
    run = ("run", "--system", "extractive", "--policy", "samovar", "--questions", "teaset")
    refused = genaipa(*run, "--offline")
    assert refused.code == 2
    assert "run 'genaipa get teaset' once" in refused.err
    assert "fetching the published Teaset documents (once)" in (finished := genaipa(*run)).err
    assert finished.code == 0, finished.err


def test_a_file_that_is_not_the_pinned_one_is_refused(
    genaipa: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes are checked for every data set alike."""
    install(tmp_path, LINE, monkeypatch)
    Path("other").mkdir()
    for file in PUBLISHED.iterdir():
        Path("other", file.name).write_bytes(file.read_bytes() + b"\n")
    refused = genaipa("get", "teaset", "--from", "other")
    assert refused.code == 2
    assert "is not the published file" in refused.err
    assert "check example/teaset out at commit 7ea5e77ea5" in refused.err


def test_a_data_set_that_cannot_be_loaded_is_told_when_it_is_named(
    genaipa: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken package stops nothing else, and does not replace a shipped data set."""
    install(tmp_path, "broken = nowhere_at_all:Set\ngenaipabench = nowhere_at_all:Set", monkeypatch)
    assert [dataset.name for dataset in iterate_loadable_datasets() if dataset.documents] == ["genaipabench"]
    with pytest.raises(UsageError, match=r"^the data set broken can't be loaded \(ModuleNotFoundError"):
        find_dataset("broken")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "half_a_set.py").write_text("class Set:\n    name = 'broken'\n    title = 'Half'\n")
    install(tmp_path / "half", "half = half_a_set:Set", monkeypatch)
    assert [dataset.name for dataset in iterate_loadable_datasets() if dataset.documents] == ["genaipabench"]
    with pytest.raises(UsageError, match=r"^the data set half has no 'terms'"):
        find_dataset("half")
    refused = genaipa("get")
    assert (refused.code, refused.out) == (2, "")
    assert "genaipa get genaipabench or " in refused.err
    assert "did you mean 'genaipabench'?" in genaipa("get", "genaipabnch", "--runs").err
