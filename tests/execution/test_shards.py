"""A run of shards: the same as one of a single folder, carried out a shard at a time."""

from __future__ import annotations

import errno
import fcntl
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from disks import fill, may_mount, small_disk
from sharding import content, lay_documents, priced_run, unseal

from benchmarks.made_up import write_policies
from genaipa.files.locks import hold_lock, native_lock
from genaipa.runs.records import RecordHead, Totals
from genaipa.runs.selection import find_run, run_folders
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

PLAN = ("-s", "extractive", "-i", "company-name,document,summary-of-document", "--limit", "2", "-r", "2")


def test_shards_together_are_the_run(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Keys, messages, orders and digests of all shards are those of the same run in one folder."""
    names = lay_documents(5)
    assert genaipa("run", *PLAN, "-p", names, "--name", "whole").code == 0
    done = genaipa("run", *PLAN, "-p", names, "--name", "cut", "--shard", "2")
    assert done.code == 0, done.err
    here = find_workspace(tmp_path)
    whole, cut = find_run(here, "whole"), find_run(here, "cut")
    assert [len(cut.plan(index).documents) for index in range(cut.number)] == [2, 2, 1]
    assert content(cut) == content(whole)


def test_beside_another_process(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A shard that another process holds is left out, and the closing words say that it is at work, and what to do."""
    plan = ("run", *PLAN[:2], "-i", "document", "--limit", "1", "-p", lay_documents(2), "--shard", "1", "--name", "cut")
    assert genaipa(*plan).code == 0
    cut = find_run(find_workspace(tmp_path), "cut")
    for index in range(2):
        unseal(cut.shard(index), 0)
    with cut.shard(0).writing():
        done = genaipa("run", "--resume", "cut")
        assert done.code == 3, done.err
        assert "another process is working on" in done.err
        said = " ".join(done.out.split())
        assert "1 answer is missing. Another process is at work on this run" in said
        assert f"if answers are missing then: genaipa run --resume {cut.name}" in said
    assert genaipa("run", "--resume", "cut").code == 0


def test_all_shards_are_estimated(genaipa: Callable[..., Finished]) -> None:
    """The calls and the power of a run in shards are those of the same run in one folder, and it says from what."""
    plan = (*PLAN, "-p", lay_documents(5), "--estimate", "--json")
    whole, cut = genaipa("run", *plan), genaipa("run", *plan, "--shard", "2")
    assert "reckoned by the first shard's 2 documents, of 5 documents in 3 shards" in cut.err
    one, other = json.loads(whole.out), json.loads(cut.out)
    assert [row["calls"] for row in one["rows"]] == [row["calls"] for row in other["rows"]]
    assert one["power"] == other["power"]
    shown = genaipa("run", *plan[:-2], "--shard", "2", "--dry-run")
    assert "shown by the first shard's 2 documents, of 5 documents in 3 shards" in shown.err


def test_shards_of_several_kinds(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A policy and a law are asked their own questions in shards of their own."""
    done = genaipa("run", *PLAN[:2], "--limit", "1", "-i", "document", "-p", "brindlecart,vpda", "--shard", "1")
    assert done.code == 0, done.err
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.manifest().spec.plan.questions == {"brindlecart": "policy", "vpda": "regulation"}
    assert "nothing was asked" in genaipa("run", "--resume", "latest").out


def test_shards_of_a_corpus(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A corpus in shards is asked as it is in one folder, and goes on from its own copies without the corpus."""
    write_policies(Path("made.jsonl"), 5)
    (tmp_path / "genaipa.toml").touch()
    command = ("run", *PLAN[:2], "-e", "quality", "--limit", "2", "--documents", "made.jsonl")
    assert genaipa(*command, "--name", "whole").code == 0
    assert genaipa(*command, "--name", "cut", "--shard", "2").code == 0
    here = find_workspace(tmp_path)
    whole, cut = find_run(here, "whole"), find_run(here, "cut")
    assert content(cut) == content(whole)
    assert not list(cut.path.rglob("documents/*.txt"))
    name = next(iter(cut.manifest().documents))
    assert cut.kept_documents[name] == whole.kept_documents[name]
    (tmp_path / "made.jsonl").unlink()
    unseal(cut.shard(1), 0)
    assert genaipa("run", "--resume", "cut").code == 0
    assert content(cut)["counts"] == content(whole)["counts"]


def test_the_last_part_to_end_decides(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A process that waits to write how far the run is counts what others completed meanwhile."""
    assert genaipa("run", *PLAN[:2], "-i", "company-name", "-p", lay_documents(2), "--shard", "1").code == 0
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.plans is not None
    other, aside = run.shard(1).path, tmp_path / "aside"
    other.rename(aside)
    settling = threading.Thread(target=run.settle, args=(None,))
    with hold_lock(native_lock(run.path / ".lock"), run.path):
        settling.start()
        time.sleep(0.3)
        aside.rename(other)
    settling.join()
    assert run.outline().status == "complete"


def test_killed_before_the_seal(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A shard that was answered and not sealed, or sealed and not cleared, is put right without asking."""
    command = ("run", *PLAN[:2], "-i", "company-name", "-p", lay_documents(2), "--shard", "1")
    assert genaipa(*command).code == 0
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.plans is not None
    lines = unseal(run.shard(0))
    (run.shard(1).path / "answers.jsonl").write_bytes(b"".join(line for _, line in run.shard(1).lines()))
    (run.shard(1).path / ".answers.parquet.half.tmp").write_bytes(b"PAR1")
    done = genaipa(*command)
    assert done.code == 0, done.err
    assert b"".join(line for _, line in run.shard(0).lines()) == lines
    assert [path.name for path in sorted(run.path.glob("shards/*/*answers.*"))] == ["answers.parquet"] * 2


def test_cap_holds_over_shards(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """All shards together spend no more than the cap, a part of them its share of it; a higher one goes on."""
    with priced_run(monkeypatch, genaipa, questions=3) as (plan, cost):
        for more, share in ((("--shards", "1/2"), 4), ((), 2)):
            done = genaipa(*plan, "--name", "cut", "--shard", "1", "-j", "2", "--max-cost", f"{cost / 2:.2f}", *more)
            assert done.code == 4, done.err
            cut = find_run(find_workspace(), "cut")
            assert 0 < cut.progress()[1].cost <= cost / share + 0.01
            assert cut.outline().status == "capped"
        assert genaipa("run", "--resume", "cut").code == 4
        done = genaipa("run", "--resume", "cut", "--max-cost", f"{2 * cost:.2f}")
        assert done.code == 0, done.err
        assert cut.progress()[1].cost == pytest.approx(cost, rel=0.01)


def test_cap_counts_what_a_killed_process_spent(
    monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]
) -> None:
    """A process that was killed left its answers, and a manifest that knows of none of them."""
    with priced_run(monkeypatch, genaipa, questions=3) as (plan, cost):
        part = genaipa(*plan, "--name", "cut", "--shard", "1", "--shards", "4/4")
        assert part.code == 0
        assert "asking 3 questions\n" in part.err
        cut = find_run(find_workspace(), "cut")
        unseal(shard := cut.shard(3), 2)
        manifest = shard.outline()
        manifest.status, manifest.totals = "running", Totals()
        shard.write_manifest(manifest)
        assert genaipa("run", "--resume", "cut", "-j", "1", "--max-cost", f"{cost / 2:.2f}").code == 4
        assert cost / 4 < cut.progress()[1].cost <= cost / 2 + 0.01


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("-p", "brindlecart", "--shards", "1/2"), "this one has none; begin one with --shard DOCUMENTS"),
        (("-p", "brindlecart", "--shard", "1", "--shards", "3/2"), "is no part of the shards, such as 3/16"),
        (("-p", "brindlecart", "--shard", "1", "--shards", "1/2", "--new"), "would begin a run for each part"),
        (("--suite", "policyqa", "--split", "sample", "--shard", "1"), "shards are of documents"),
        (("-p", "brindlecart", "--shard", "1", "-s", "manual/bard"), "driven by hand"),
    ],
)
def test_refused(genaipa: Callable[..., Finished], options: tuple[str, ...], complaint: str) -> None:
    """What can't be is a sentence, and nothing is made."""
    done = genaipa("run", *(() if "-s" in options else PLAN[:2]), *options)
    assert done.code == 2
    assert complaint in " ".join(done.err.replace("│", " ").split())
    assert not list(Path.cwd().glob("runs/2*"))


@pytest.mark.full  # test_parts_side_by_side shows that parts make one run
@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_recipe_for_a_plain_shell(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """The recipe of docs/guide/scale.md, as it stands but for the system and the size, completes a run."""
    text = (Path(__file__).parents[2] / "docs" / "guide" / "scale.md").read_text(encoding="utf-8")
    recipe = text.split("In a plain shell")[1].split("```bash\n")[1].split("```")[0]
    recipe = recipe.replace("--system gpt-6-luna", "--system extractive -e recall --limit 1")
    recipe = recipe.replace("--shard 100", "--shard 2").replace("genaipa ", f"{sys.executable} -m genaipa ")
    (tmp_path / "genaipa.toml").touch()
    write_policies(Path("shops.jsonl"), 9)
    done = subprocess.run(["bash", "-ec", recipe], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "nothing was asked" in done.stdout
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.progress()[0].status == "complete"


@pytest.mark.parametrize("more", [(), ("--shard", "1")])
def test_a_file_system_without_locks(
    monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished], more: tuple[str, ...]
) -> None:
    """Where nothing can be held, nothing is asked, and a sentence says where runs can be kept."""

    def flock(_file: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    done = genaipa("run", *PLAN[:2], "-p", lay_documents(2), *more)
    assert done.code == 1
    assert "is on a file system that keeps no locks; keep runs on one that does: a local disk" in done.err
    assert not list(Path.cwd().glob("runs/**/answers.*"))


def test_what_a_killed_process_was_making_goes(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A run of shards that was never whole is taken away when the next one is made."""
    left = tmp_path / "runs" / ".making-1" / "shards" / "00000"
    left.mkdir(parents=True)
    (left / "documents.jsonl").touch()
    assert genaipa("run", *PLAN[:2], "-p", lay_documents(1), "-i", "company-name", "--shard", "1").code == 0
    assert not left.exists()


def test_same_command_goes_on(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """The command again, or --resume, asks what is missing in the shards that lack something, and nothing else."""
    command = ("run", *PLAN, "-p", lay_documents(4), "--shard", "2")
    assert genaipa(*command).code == 0
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.plans is not None
    before = content(run)
    kept = [b"".join(line for _, line in run.shard(0).lines()), unseal(run.shard(1), 5)]
    assert "are gone" in genaipa("runs").err
    again = genaipa(*command)
    assert again.code == 0, again.err
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.plans is not None
    now = [b"".join(line for _, line in shard.lines()) for _, shard in run.parts()]
    assert [lines[: len(before)] for lines, before in zip(now, kept, strict=True)] == kept
    assert now[0] == kept[0]
    after = content(run)
    assert after["counts"] == before["counts"]
    answers = {key for key in before["records"] if "(" not in key}
    assert {key: after["records"][key] for key in answers} == {key: before["records"][key] for key in answers}
    assert "nothing was asked" in genaipa("run", "--resume", "latest").out


# -- no room --


@may_mount
@pytest.mark.parametrize("room", [90_000, pytest.param(200_000, marks=pytest.mark.full)], ids=["making", "asking"])
def test_full_disk_of_shards(genaipa: Callable[..., Finished], tmp_path: Path, room: int) -> None:
    """A run in shards leaves nothing half-made and says one sentence, too; with room made, it completes."""
    with small_disk(tmp_path, "2m") as small:
        Path("genaipa.toml").touch()
        write_policies(Path("made.jsonl"), 12)
        filler = fill(small, room)
        run = ("run", "-s", "extractive", "--documents", "made.jsonl", "-e", "quality", "--shard", "2")
        done = genaipa(*run)
        assert done.code == 1
        assert "(No space left on device)" in done.err.splitlines()[-1]
        assert "No space" not in "".join(done.err.splitlines()[:-1])
        assert not list(Path("runs").glob(".making-*"))
        filler.unlink()
        done = genaipa(*run)
        assert done.code == 0, done.err
        (folder,) = run_folders(find_workspace())
        keys = [record.key for _, record in folder.read(RecordHead)]
        assert len(keys) == len(set(keys)) == folder.progress()[1].totals().planned
