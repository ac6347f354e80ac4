"""The run folder: what it holds, who may write to it, and what happens when it is damaged, busy or full."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from disks import fill, may_mount, small_disk
from msgspec.structs import replace
from running import (
    KEY,
    SYSTEM,
    TEXT,
    carry_out,
    latest,
    lines_of,
    make_workspace,
    procedure,
    spec,
    texts_below,
    write,
)
from servers import OpenAIServer

import genaipa as package
from genaipa.errors import DataError, RunBusyError, RunError, UnknownNameError, UsageError
from genaipa.execution.batches.ledger import BatchLedger
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import MANIFEST_COPY
from genaipa.runs.records import ConversationRecord
from genaipa.runs.selection import find_run, list_run_folders_oldest_first
from genaipa.runs.writer import RunWriter
from genaipa.systems.base import Message
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that answers everything."""
    with OpenAIServer(models=("m",)) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        yield running


@pytest.fixture
def folder(server: OpenAIServer) -> RunFolder:
    """A complete run with all four initializations."""
    make_workspace(questions=2)
    return carry_out(procedure(temperature=0.5))[0]


def test_manifest_holds_what_a_run_came_from(folder: RunFolder) -> None:
    """Spec, digests, orders, versions, settings as sent, model as served, tokens and status are all there."""
    manifest = folder.manifest()
    document = Path("policies/acme.md").read_text(encoding="utf-8")
    digest = hashlib.sha256(document.encode()).hexdigest()
    assert manifest.spec == procedure(temperature=0.5)
    assert manifest.status == "complete"
    assert manifest.digests.documents == {"acme": digest}
    assert manifest.digests.questions == {
        "policy": hashlib.sha256(Path("questions/policy.yaml").read_bytes()).hexdigest()
    }
    assert {"part", "question", "rules"} <= set(manifest.digests.prompts)
    assert sorted(manifest.orders["acme|1"]) == ["Q1", "Q2"]
    assert manifest.versions["genaipa"] == package.__version__
    assert {"python", "openai", "jinja2", "langchain-text-splitters"} <= set(manifest.versions)
    assert manifest.documents["acme"].digest == digest
    system = manifest.systems[SYSTEM]
    assert (system.model, system.served, system.sent) == (SYSTEM, ["m-2024-08-06"], {"temperature": 0.5})
    assert system.counter.startswith("estimate")
    assert (manifest.totals.planned, manifest.totals.answered) == (8, 8)
    assert manifest.totals.usage is not None


def test_everything_that_went_in_is_kept_once(folder: RunFolder) -> None:
    """Documents lie under their digests, prompts and questions under their names; no text is stored twice."""
    manifest = folder.manifest()
    (document,) = (folder.path / "documents").iterdir()
    assert document.name == f"{manifest.digests.documents['acme']}.txt"
    assert document.read_bytes() == Path("policies/acme.md").read_bytes()
    for name, digest in manifest.digests.prompts.items():
        assert hashlib.sha256((folder.path / f"prompts/{name}.jinja").read_bytes()).hexdigest() == digest
    assert (folder.path / "questions/policy.yaml").read_bytes() == Path("questions/policy.yaml").read_bytes()
    assert "We never sell" not in (folder.path / "answers.jsonl").read_text(encoding="utf-8")
    stored = [p for p in (folder.path / "introductions").iterdir() if "We never sell" in p.read_text(encoding="utf-8")]
    assert len(stored) == 1


def test_no_key_and_no_leftovers(folder: RunFolder) -> None:
    """The folder holds neither the key nor half-made files."""
    assert KEY not in texts_below(folder.path)
    assert list(folder.path.rglob("*.tmp")) == []


def test_introductions_come_back_as_they_were(folder: RunFolder) -> None:
    """Roles, texts, purposes, what is carried and the breakpoint survive being stored."""
    messages = [
        Message("user", "Part 1 of 1\n\nIt is “all”.", "part", carries="It is “all”.", breakpoint=True),
        Message("assistant", "Ready.", "acknowledgement"),
        Message("user", "Part 2 of 2\n\n## 2. More", "part", carries="\n## 2. More\n\n"),
    ]

    async def keep() -> str:
        writer = RunWriter(folder)
        digest = writer.store_introduction_and_get_digest(messages)
        assert writer.store_introduction_and_get_digest(messages) == digest
        await writer.close()
        return digest

    digest = asyncio.run(keep())
    assert folder.read_introduction(digest) == messages


def test_conversation_is_recorded_once(folder: RunFolder) -> None:
    """Begun again by a later process, it is not written again."""
    (first, *_) = folder.read_conversations()
    count = len(list(folder.read_conversations()))

    async def begin() -> None:
        writer = RunWriter(folder)
        await writer.record_conversation_opening_once(first)
        await writer.record_conversation_opening_once(
            ConversationRecord(**{f: getattr(first, f) for f in first.__struct_fields__} | {"id": "new"})
        )
        await writer.close()

    with folder.hold_for_writing_and_list_repairs():
        asyncio.run(begin())
    assert len(list(folder.read_conversations())) == count + 1


def test_second_process_is_refused(folder: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """Who comes second is told in a sentence that another process is at work, and changes nothing."""
    path = folder.path / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"status": "complete"', '"status": "partial"'))
    with folder.hold_for_writing_and_list_repairs():
        before = texts_below(folder.path)
        with (
            pytest.raises(RunBusyError, match="another process is using"),
            RunFolder(folder.path).hold_for_writing_and_list_repairs(),
        ):
            pass
        done = genaipa("run", "--resume", "latest")
        assert texts_below(folder.path) == before
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(f"genaipa: another process is using {folder.name}; wait")


def test_who_lost_a_run_writes_no_more_of_it(folder: RunFolder) -> None:
    """Answers, conversations, batches and manifest of a run that another process took over are all its own."""
    mine, record, (begun, *_) = RunFolder(folder.path), next(folder.read_records()), folder.read_conversations()
    other = replace(begun, id="another")

    async def lose() -> None:
        writer, ledger = RunWriter(mine), BatchLedger(mine)
        await writer.append_and_get_offset(record)
        # As when the lease of a lock on a shared file system ends.
        (folder.path / ".lock").unlink()
        with folder.hold_for_writing_and_list_repairs():
            before = texts_below(folder.path)
            await asyncio.sleep(0.11)
            for writing in (
                writer.append_and_get_offset(record),
                writer.record_conversation_opening_once(other),
                ledger.record_intended_batch(mark="m", lines=("one",)),
            ):
                with pytest.raises(RunBusyError, match="another process took over"):
                    await writing
            with pytest.raises(RunBusyError, match="another process took over"):
                mine.write_manifest(mine.manifest())
            assert texts_below(folder.path) == before
        await writer.close()

    with mine.hold_for_writing_and_list_repairs():
        asyncio.run(lose())


def test_a_file_system_without_locks(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]
) -> None:
    """Where nothing can be held, nothing is asked, and a sentence says where runs can be kept."""

    def flock(_file: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    before = len(lines_of(folder.path / "answers.jsonl"))
    monkeypatch.setattr(fcntl, "flock", flock)
    done = genaipa("run", "-s", "extractive", "-p", "acme", "-e", "quality")
    assert done.code == 1
    assert "is on a file system without file locks; keep runs on a local disk" in done.err
    assert sum(len(lines_of(path)) for path in Path("runs").glob("*/answers.jsonl")) == before


def test_cut_last_line_is_asked_again(
    folder: RunFolder, server: OpenAIServer, genaipa: Callable[..., Finished]
) -> None:
    """What a dying process left half-written is said, taken away and asked for again; nothing else is."""
    path = folder.path / "answers.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    manifest = folder.manifest()
    manifest.status = "running"
    folder.write_manifest(manifest)
    server.requests.clear()
    done = genaipa("run", "--resume", "latest")
    assert done.code == 0
    assert "answers.jsonl: the last line was cut off" in done.err
    assert len(server.requests) == 1
    assert len(latest(folder)) == len(lines_of(path)) == 8 + 2


def test_damaged_middle_line_is_named(folder: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """A line that is no record is named with its file; every command that reads the run says so."""
    path = folder.path / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], lines[3][:40] + b"\n", *lines[4:]]))
    manifest = folder.manifest()
    manifest.status = "partial"
    folder.write_manifest(manifest)
    for command in (("run", "--resume", "latest"), ("show", "latest")):
        done = genaipa(*command)
        assert done.code == 1
        assert "answers.jsonl: line 4 is not a record" in done.err
        assert "Traceback" not in done.err


def test_damaged_and_other_manifests(folder: RunFolder) -> None:
    """A manifest that can't be read, or that another release wrote, is an error that says so."""
    path = folder.path / "manifest.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert folder.outdated_writer_version == ""
    path.write_text(json.dumps(whole | {"format": 1, "versions": {"genaipa": "0.0.7"}}), encoding="utf-8")
    assert folder.outdated_writer_version.startswith("genaipa 0.0.7 (format 1")
    with pytest.raises(DataError, match="written by an earlier version of genaipa"):
        folder.manifest()
    path.write_text(json.dumps(whole | {"format": 99}), encoding="utf-8")
    with pytest.raises(DataError, match="written by a newer version of genaipa"):
        folder.manifest()
    path.write_text("{", encoding="utf-8")
    copy = folder.path / ".manifest.json"
    copy.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json: is damaged .* answers are still in answers"):
        folder.manifest()
    path.unlink()
    with pytest.raises(DataError, match="can't be read"):
        folder.manifest()


def test_a_run_in_shards_is_refused_in_a_sentence(folder: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """A run as an earlier genaipa kept it in shards is read by nothing here, and every command says what to do."""
    whole = json.loads((folder.path / "manifest.json").read_text(encoding="utf-8"))
    own = {"documents": {}, "orders": {}, "shards": {"documents_each": 2, "number": 3}, "commit": "0123456789"}
    for name in ("manifest.json", ".manifest.json"):
        (folder.path / name).write_text(json.dumps(whole | own, indent=2), encoding="utf-8")
    said = "was made in shards, which this version of genaipa no longer reads; read it with genaipa"
    remedy = f"{package.__version__} (format 5, commit 01234567), or run it again in slices."
    for code, words in (
        *((1, ("runs",)), (1, ("validate",)), (2, ("show", "latest")), (2, ("run", "--resume", "latest"))),
        *((2, ("report", "latest")), (2, ("pack", "latest", "-o", "study.zip"))),
    ):
        done = genaipa(*words)
        told = " ".join((done.out + done.err).split())
        assert (done.code, said in told, remedy in told) == (code, True, True), (words, told)
    assert f"1 run in an earlier format can be read only by genaipa {package.__version__}" in " ".join(
        genaipa("doctor").out.split()
    )
    assert genaipa("run", "-s", SYSTEM, "-p", "acme", "-e", "quality").code == 0


def test_a_lost_manifest_has_a_copy_and_leftovers_go(folder: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """A run without its manifest is read by the copy, as validate says; what a killed process was writing goes."""
    (folder.path / "manifest.json").unlink()
    (left := folder.path / ".manifest.json.0a.tmp").write_text("{", encoding="utf-8")
    assert [run.path for run in list_run_folders_oldest_first(find_workspace())] == [folder.path]
    assert find_run(find_workspace(), folder.name).manifest().name
    assert "its copy from" in genaipa("validate").out
    with folder.hold_for_writing_and_list_repairs() as said:
        assert any("its copy from" in sentence for sentence in said)
    assert not left.exists()


def test_runs_are_found_by_part_of_their_name(server: OpenAIServer) -> None:
    """By name, path, unambiguous part or `latest`; anything else names what there is."""
    workspace = make_workspace(questions=1)
    first, _ = carry_out(spec())
    second, _ = carry_out(spec(seed=1))
    assert {run.path for run in list_run_folders_oldest_first(workspace)} == {first.path, second.path}
    assert find_run(workspace, "latest").path == list_run_folders_oldest_first(workspace)[-1].path
    assert find_run(workspace, first.name).path == first.path
    assert find_run(workspace, f"runs/{first.name}").path == first.path
    with pytest.raises(UsageError, match=r"'test' matches 2 runs.*write more of the name"):
        find_run(workspace, "test")
    with pytest.raises(UnknownNameError, match="no run 'nothing'"):
        find_run(workspace, "nothing")


def test_two_runs_of_one_moment_have_folders_of_their_own(folder: RunFolder) -> None:
    """A name that is taken gets a number."""
    runs = {RunFolder.create_with_manifest(find_workspace().runs, folder.manifest()).name for _ in range(3)}
    assert len(runs) == 3


def test_folder_that_can_not_be_made(folder: RunFolder) -> None:
    """A file or a link to nowhere, where the folder of runs should be, is named."""
    write("elsewhere/runs", "a file")
    Path("elsewhere/link").symlink_to("nowhere")
    for name in ("elsewhere/runs", "elsewhere/link"):
        with pytest.raises(RunError, match=rf"{name} can't be created \(File exists\)"):
            RunFolder.create_with_manifest(Path(name), folder.manifest())


# -- no room --

_LIMITED = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv = ["genaipa", *sys.argv[2:]]
runpy.run_module("genaipa", run_name="__main__", alter_sys=True)
"""
_RUN = ("run", "-s", SYSTEM, "-p", "acme", "-e", "quality")


def limited(size: int, *args: str) -> subprocess.CompletedProcess[str]:
    """The command line where no file may grow beyond so many bytes."""
    # -B: Python would leave half-written byte code behind.
    command = [sys.executable, "-B", "-c", _LIMITED, str(size), *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.full
@pytest.mark.parametrize(("size", "length"), [(0, 1), (8000, 40), (4500, 1)], ids=["manifest", "documents", "answers"])
def test_no_room(server: OpenAIServer, genaipa: Callable[..., Finished], size: int, length: int) -> None:
    """When the room gives out, at whichever file, one sentence says so; with room again, the same command completes."""
    make_workspace(questions=12, text=TEXT * length)
    done = limited(size, *_RUN)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("genaipa: ")
    assert "can't be written (File too large)" in done.stderr.splitlines()[-1]
    for path in Path("runs").glob("*/*.json*"):
        assert path.read_bytes()[-1:] in (b"\n", b""), f"{path.name} holds something half-written"
    again = genaipa(*_RUN)
    assert again.code == 0, again.err
    (run,) = list_run_folders_oldest_first(find_workspace())
    assert len(lines_of(run.path / "answers.jsonl")) == len(latest(run)) == 12
    assert len(list((run.path / "documents").iterdir())) == 1
    assert (run.path / "questions/policy.yaml").is_file()


@may_mount
@pytest.mark.parametrize("room", [0, 24_576])
def test_full_disk(server: OpenAIServer, genaipa: Callable[..., Finished], tmp_path: Path, room: int) -> None:
    """A disk that is really full says so in one sentence; with room made, the same command completes."""
    with small_disk(tmp_path, "512k") as small:
        make_workspace(questions=3)
        filler = fill(small, room)
        done = genaipa(*_RUN)
        assert done.code == 1
        assert done.err.splitlines()[-1].startswith("genaipa: ")
        assert "No space left on device" in done.err.splitlines()[-1]
        assert "Traceback" not in done.err
        filler.unlink()
        done = genaipa(*_RUN)
        assert done.code == 0, done.err
        (run,) = list_run_folders_oldest_first(find_workspace())
        assert len(latest(run)) == 3
        assert len(list((run.path / "prompts").iterdir())) == 9


# -- going on --


def test_changed_data_is_refused_on_resume(folder: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """A document, question set or prompt that is no longer what the run began with is named."""
    policy, questions = Path("policies/acme.md"), Path("questions/policy.yaml")
    for path, said in (
        (policy, "document 'acme' has changed"),
        (questions, "question 'policy' has changed"),
        (Path("prompts/question.jinja"), "prompt 'question' has changed"),
    ):
        before = path.read_text(encoding="utf-8") if path.exists() else None
        write(str(path), f"{before or '{{ question }}'}\n# more\n")
        done = genaipa("run", "--resume", "latest")
        assert done.code == 1
        assert said in done.err
        assert folder.name in done.err
        if path == questions:  # as the run keeps it, which the message says
            assert f"the original is in {folder.path / 'questions'}" in done.err
            before = (folder.path / questions).read_text(encoding="utf-8")
        if before is None:
            path.unlink()
        else:
            write(str(path), before)
    assert genaipa("run", "--resume", "latest").code == 0


def test_system_of_another_model_is_refused(server: OpenAIServer, genaipa: Callable[..., Finished]) -> None:
    """A short name that came to mean another model can't go on with a run; with it put back, it can."""
    make_workspace(questions=1)
    mine = f"systems:\n  mine: {{system: {SYSTEM}}}\n"
    write("systems.yaml", mine)
    assert genaipa("run", "-s", "mine", "-p", "acme", "-e", "quality").code == 0
    write("systems.yaml", mine.replace(SYSTEM, "openai-api/loop/n"))
    done = genaipa("run", "--resume", "latest")
    assert done.code == 1
    assert "system 'mine' has changed since the run started" in done.err
    write("systems.yaml", mine)
    assert genaipa("run", "--resume", "latest").code == 0


def test_same_command_goes_on_and_new_begins_afresh(server: OpenAIServer, genaipa: Callable[..., Finished]) -> None:
    """The very plan is gone on with; another seed, changed data or --new is another run."""
    make_workspace(questions=2)
    assert genaipa(*_RUN).code == 0
    asked = len(server.requests)
    again = genaipa(*_RUN)
    assert (again.code, len(server.requests)) == (0, asked)
    assert "is complete; nothing was asked" in again.out
    for more in (("--new",), ("--seed", "5"), ("--name", "mine")):
        assert genaipa(*_RUN, *more).code == 0
    write("policies/acme.md", "It is all different now.")
    assert genaipa(*_RUN).code == 0
    assert len(list_run_folders_oldest_first(find_workspace())) == 5
    assert len(server.requests) == 5 * asked


def test_runs_of_one_second_are_in_the_order_of_their_beginnings() -> None:
    """`latest` is the last that was begun, whatever it is called; a damaged one is still listed, before the others."""
    make_workspace(questions=1)
    here = find_workspace()
    for place, slug in enumerate(("z", "b", "a", "a-2")):
        begun = carry_out(spec(systems=("scripted",)))[0].path
        told = json.loads((begun / "manifest.json").read_bytes()) | {"created": f"2026-01-01T00:00:00.{place:03}Z"}
        for name in ("manifest.json", MANIFEST_COPY):
            (begun / name).write_text(json.dumps(told), encoding="utf-8")
        begun.rename(here.runs / f"20260101-000000-{slug}")
    assert [folder.name[16:] for folder in list_run_folders_oldest_first(here)] == ["z", "b", "a", "a-2"]
    assert find_run(here, "latest").name.endswith("-a-2")
