"""A run of shards: the same as one of a single folder, carried out a shard at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.runs.finding import find_run, run_folders
from genaipa.runs.shards import ShardedFolder
from genaipa.workspace import find_workspace
from tests.sharding import content, lay_documents, unseal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commandline import Finished

PLAN = ("-s", "extractive", "-i", "company-name,document,summary-of-document", "--limit", "2", "-r", "2")


def test_shards_together_are_the_run(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Keys, messages, orders and digests of all shards are those of the same run in one folder."""
    names = lay_documents(5)
    assert genaipa("run", *PLAN, "-p", names, "--name", "whole").code == 0
    done = genaipa("run", *PLAN, "-p", names, "--name", "cut", "--shard", "2")
    assert done.code == 0, done.err
    here = find_workspace(tmp_path)
    whole, cut = find_run(here, "whole"), find_run(here, "cut")
    assert isinstance(cut, ShardedFolder)
    assert [len(cut.plan(index).documents) for index in range(cut.number)] == [2, 2, 1]
    assert content(cut) == content(whole)


def test_shards_of_several_kinds(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A policy and a law are asked their own questions in shards of their own."""
    done = genaipa("run", *PLAN[:2], "--limit", "1", "-i", "document", "-p", "brindlecart,vpda", "--shard", "1")
    assert done.code == 0, done.err
    (run,) = run_folders(find_workspace(tmp_path))
    assert run.manifest().spec.questions == {"brindlecart": "policy", "vpda": "regulation"}
    assert "nothing was asked" in genaipa("run", "--resume", "latest").out


def test_shards_of_a_corpus(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A corpus in shards is asked as it is in one folder, and goes on from its own copies without the corpus."""
    assert genaipa("policies", "generate", "made.jsonl", "-n", "5").code == 0
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
    assert isinstance(cut, ShardedFolder)
    unseal(cut.shard(1), 0)
    assert genaipa("run", "--resume", "cut").code == 0
    assert content(cut)["counts"] == content(whole)["counts"]


def test_same_command_goes_on(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """The command again, or --resume, asks what is missing in the shards that lack something, and nothing else."""
    command = ("run", *PLAN, "-p", lay_documents(4), "--shard", "2")
    assert genaipa(*command).code == 0
    (run,) = run_folders(find_workspace(tmp_path))
    assert isinstance(run, ShardedFolder)
    before = content(run)
    kept = [b"".join(line for _, line in run.shard(0).lines()), unseal(run.shard(1), 5)]
    assert "are gone" in genaipa("runs").err
    again = genaipa(*command)
    assert again.code == 0, again.err
    (run,) = run_folders(find_workspace(tmp_path))
    assert isinstance(run, ShardedFolder)
    now = [b"".join(line for _, line in shard.lines()) for _, shard in run.shards()]
    assert [lines[: len(before)] for lines, before in zip(now, kept, strict=True)] == kept
    assert now[0] == kept[0]
    after = content(run)
    assert after["counts"] == before["counts"]
    answers = {key for key in before["records"] if "(" not in key}
    assert {key: after["records"][key] for key in answers} == {key: before["records"][key] for key in answers}
    assert "nothing was asked" in genaipa("run", "--resume", "latest").out
