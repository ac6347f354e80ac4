"""Whatever reads a run reads one of shards alike."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from commandline import call
from pyarrow import parquet
from sharding import TIMES, lay_documents, unseal
from stores import score

from genaipa.answers.gather import gather_scored
from genaipa.archive import run_files
from genaipa.judging.answers import JudgedAnswers
from genaipa.runs.folder import RunFolder
from genaipa.runs.selection import find_run, select
from genaipa.scoring.answers import Pool
from genaipa.scoring.store import open_store
from genaipa.workspace import Workspace, find_workspace
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two workspaces with the same study: its run in one folder, and in shards; never changed by a test."""
    found = []
    for name, more in (("whole", ()), ("cut", ("--shard", "2"))):
        folder = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            forget_personal_settings(patch)
            patch.chdir(folder)
            names = f"{lay_documents(4)},brindlecart"
            done = call("run", "-s", "extractive", "-e", "quality", "--limit", "3", "-p", names, "--name", "it", *more)
            assert done.code == 0, done.err
            here = find_workspace(folder)
            answers = sorted(record.digest for record in find_run(here, "it").records())
            store = open_store(here)
            store.append([score("Ada", digest) for digest in answers[::2]])
            store.close()
        found.append(folder)
    return found[0], found[1]


def here(folder: Path) -> Workspace:
    """The workspace in a folder."""
    return find_workspace(folder)


def test_reports_have_the_same_table(both: tuple[Path, Path]) -> None:
    """The tidy table, statistics and questions of a report are those of the run in one folder."""
    frames = []
    for folder in both:
        gathered = gather_scored(here(folder), select(here(folder), ()))
        assert gathered.problems == []
        frame = (
            gathered.join_facts()
            .drop(columns=["run", "seconds", "row"])
            .sort_values(["key", "analyst"], ignore_index=True)
        )
        frames.append((frame, gathered.statistics, gathered.questions.texts, len(gathered.annotated.answers)))
    assert frames[0][0].to_csv() == frames[1][0].to_csv()
    assert frames[0][1:] == frames[1][1:]


def test_desk_and_judges_get_the_same_answers(both: tuple[Path, Path]) -> None:
    """The pool has the same answers with the same cases; it goes on as a shard grows, and a judge gets all of them."""
    pools = [Pool(here(folder), [find_run(here(folder), "it")]) for folder in both]
    assert [pool.problems for pool in pools] == [[], []]
    whole, cut = pools
    assert set(whole.answers) == set(cut.answers)
    for digest in whole.answers:
        ours, theirs = whole.case(digest), cut.case(digest)
        assert (ours.reply, ours.parts, ours.annotated, ours.names) == (
            theirs.reply,
            theirs.parts,
            theirs.annotated,
            theirs.names,
        )
        assert ours.document.digest == theirs.document.digest
    assert set(JudgedAnswers(here(both[1]), ("it",)).digests) == set(whole.answers)
    # A run may have more shards than a process may have files.
    held = [path.readlink() for path in Path("/proc/self/fd").glob("*") if path.is_symlink()]
    assert [path for path in held if path.name == "answers.parquet"] == []


def test_packs_have_the_same_files(both: tuple[Path, Path]) -> None:
    """A pack has a run of shards in one folder: each file is that of the same run in one."""
    packs = []
    for folder in both:
        (source,) = select(here(folder), ())
        packs.append(dict(run_files(source, whole=False)))
    whole, cut = packs
    assert whole.keys() == cut.keys()
    other = {name for name in whole if whole[name] != cut[name]}
    assert other <= {"manifest.json", "answers.jsonl", "conversations.jsonl", "withheld.json"}
    assert _sorted(json.loads(whole["withheld.json"])) == _sorted(json.loads(cut["withheld.json"]))
    assert _lines(whole["answers.jsonl"]) == _lines(cut["answers.jsonl"])
    assert _lines(whole["conversations.jsonl"]) == _lines(cut["conversations.jsonl"])
    manifests = [json.loads(pack["manifest.json"]) for pack in packs]
    for name in ("spec", "digests", "documents", "orders"):
        assert manifests[0][name] == manifests[1][name]
    assert "shards" not in manifests[1]


def _sorted(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: sorted(value) if isinstance(value, list) else value for name, value in facts.items()}


def _lines(content: bytes) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in content.splitlines()]
    return sorted(({k: v for k, v in line.items() if k not in (*TIMES, "sum")} for line in lines), key=str)


def test_commands_read_it(both: tuple[Path, Path], genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """`show`, `runs` and `validate` say of the run in shards what they say of the run in one folder."""
    said = []
    for folder in both:
        monkeypatch.chdir(folder)
        shown = json.loads(genaipa("show", "it", "--json").out)
        keys = sorted(answer["key"] for answer in shown["answers"])
        one = json.loads(genaipa("show", "it", keys[4], "--whole", "--json").out)
        (listed,) = json.loads(genaipa("runs", "-p", "shop-001", "--json").out)
        checked = genaipa("validate", "--data")
        assert checked.code == 0, checked.out + checked.err
        said.append((keys, len(one[0]["messages"]), listed["status"], listed["totals"]["answered"]))
        assert "15/15" in genaipa("runs").out
    assert said[0] == said[1]


def test_damage_is_told_of_the_shard(both: tuple[Path, Path], tmp_path: Path, genaipa: Cli) -> None:
    """A changed line and a lost document are found by `validate --data`, which names the shard's file."""
    shutil.copytree(both[1], tmp_path, dirs_exist_ok=True)
    run = find_run(here(tmp_path), "it")
    assert run.plans is not None
    unseal(run.shard(1))
    answers = run.shard(1).answers
    answers.write_bytes(answers.read_bytes().replace(b"We keep it", b"We lose it", 1))
    next(run.shard(0).path.glob("documents/*.txt")).unlink()
    found = genaipa("validate", "--data")
    assert found.code == 1
    assert "shards/00001/answers.jsonl" in found.out.replace("\n", "") + found.err
    assert "shards/00000/documents" in found.out.replace("\n", "") + found.err


def lose_a_line(run: RunFolder) -> None:
    """Lose a shard's documents."""
    plans = run.path / "shards.jsonl"
    plans.write_bytes(b"".join(plans.read_bytes().splitlines(keepends=True)[:-1]))


def change_a_line(run: RunFolder) -> None:
    """Have a question asked at another place."""
    plans = run.path / "shards.jsonl"
    first = run.plan(0)
    orders = {place: order[::-1] for place, order in first.orders.items()}
    lines = plans.read_bytes().splitlines(keepends=True)
    lines[0] = msgspec.json.encode(msgspec.structs.replace(first, orders=orders)) + b"\n"
    plans.write_bytes(b"".join(lines))


def lose_a_shard(run: RunFolder) -> None:
    """Lose a folder with answers."""
    shutil.rmtree(run.shard(1).path)


def lose_a_row(run: RunFolder) -> None:
    """Write a seal again without its last line, by a tool that keeps its footer."""
    table = parquet.read_table(run.shard(0).answers)
    parquet.write_table(table.slice(0, table.num_rows - 1), run.shard(0).answers)


def change_a_row(run: RunFolder) -> None:
    """Write a seal again with another status in a line, and everything else as it was."""
    table = parquet.read_table(run.shard(0).answers)
    lines = [line.replace(b'"answered"', b'"refused"') for line in table["line"].to_pylist()]
    known = parquet.read_metadata(run.shard(0).answers).metadata
    table = table.set_column(table.column_names.index("line"), "line", [lines])
    parquet.write_table(table.replace_schema_metadata(known), run.shard(0).answers)


def change_the_footer(run: RunFolder) -> None:
    """Flip a byte of the counts."""
    answers = run.shard(0).answers
    content = answers.read_bytes()
    answers.write_bytes(content.replace(b'"answered":', b'"bnswered":'))


@pytest.mark.parametrize(
    "harm", [lose_a_line, change_a_line, lose_a_shard, lose_a_row, change_a_row, change_the_footer]
)
def test_nothing_is_lost_in_silence(
    harm: Callable[[RunFolder], None], both: tuple[Path, Path], tmp_path: Path, genaipa: Cli
) -> None:
    """Whatever is lost or changed of a complete run in shards, each command says so, and none takes it for complete."""
    shutil.copytree(both[1], tmp_path, dirs_exist_ok=True)
    run = find_run(here(tmp_path), "it")
    assert run.plans is not None
    harm(run)
    found = genaipa("validate", "--data")
    assert found.code == 1, found.out + found.err
    for command in (("show", "it"), ("report", "it", "--json")):
        done = genaipa(*command)
        assert "restore" in done.out + done.err, (command, done.out, done.err)
    if harm not in (change_a_row, change_a_line):
        assert "15/15" not in genaipa("runs").out
    # Of a complete run nothing but the counts is read before it is found complete.
    if harm is not change_a_row:
        done = genaipa("run", "--resume", "it")
        assert "nothing was asked" not in done.out + done.err


@pytest.mark.full  # test_packs_have_the_same_files and test_reports_have_the_same_table show the parts of it
def test_a_pack_comes_out_the_same(both: tuple[Path, Path], tmp_path: Path, genaipa: Cli) -> None:
    """The report of an unpacked run of shards has every table as packed."""
    packed = genaipa("pack", "it", "-o", tmp_path / "study.zip", "--workspace", both[1])
    assert packed.code == 0, packed.err
    assert "each the same as packed" in genaipa("unpack", "study.zip", "check").out
