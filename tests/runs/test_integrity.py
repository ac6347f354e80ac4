"""Damage to a run folder: whatever computes something from it finds it, says so in a sentence, and goes no further."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from running import TEXT, answers, carry_out, latest, make_workspace, procedure
from size import size
from stores import opened, score

from genaipa.answers.gather import gather_study
from genaipa.archive.study_pack import iterate_packed_run_files
from genaipa.errors import DataError, GenaipaError, RunError
from genaipa.runs.folder import RunFolder
from genaipa.runs.inputs import load_conversation_through_reply
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.validation import validate
from genaipa.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    Cli = Callable[..., Finished]

SCRIPT = "rules:\n- {match: '', reply: 'Yes: section 1 says so, and section 2 as well.'}\n"
WORD = b"section 1 says"


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a complete run, with all four initializations; never changed by a test."""
    with contextlib.chdir(tmp_path_factory.mktemp("complete")):
        make_workspace(questions=3)
        Path("said.yaml").write_text(SCRIPT)
        carry_out(procedure(systems=("scripted/said.yaml",)))
        return Path.cwd()


@pytest.fixture
def here(complete: Path) -> Workspace:
    """The working folder as that workspace, without its run."""
    shutil.copytree(complete, ".", dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs"))
    return find_workspace()


@pytest.fixture
def folder(here: Workspace, complete: Path) -> RunFolder:
    """The run in the working folder, of a system that says the same words to everything."""
    shutil.copytree(complete / "runs", here.runs)
    return RunFolder(next(here.runs.iterdir()))


def change(path: Path, before: bytes, after: bytes, times: int = 1) -> None:
    """Put other bytes into a file, the first times that these stand in it."""
    content = path.read_bytes()
    assert before in content
    path.write_bytes(content.replace(before, after, times))


def readers(folder: RunFolder) -> Iterator[Callable[[], object]]:
    """Everything that computes something from a run."""
    here = find_workspace()
    yield folder.tally_records_and_map_offsets
    yield folder.read_manifest_and_tally
    yield lambda: list(folder.read_records())
    yield lambda: gather_study(here, select_runs_and_apply_filters(here, [folder.name]), None)
    yield lambda: list(
        iterate_packed_run_files(select_runs_and_apply_filters(here, [folder.name])[0], include_withheld_texts=True)
    )


def found(*, data: bool = True) -> list[tuple[str, str]]:
    """What validate finds: the file in the run folder, and the place in it."""
    (run,) = Path("runs").resolve().iterdir()
    return [
        (str(Path(f.path).relative_to(run)), f.entry) for f in validate(find_workspace(), with_digests=data).findings
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WORD, b"section 7 says"),
        (b'"question":"Q1"', b'"question":"Q2"'),
        (b'"asked":"', b'"asked":"?'),
        (b'"status":"answered"', b'"status":"failed"'),
        (b'"document":"acme"', b'"document":"acmf"'),
        (b'"digest":"', b'"digest":"0'),
    ],
)
def test_no_reader_takes_a_changed_record(folder: RunFolder, before: bytes, after: bytes) -> None:
    """One changed letter of a record is named with its line by every reader, and by validate --data."""
    assert found() == []
    lines = folder.answers_path.read_bytes().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines, 1) if before in line)
    change(folder.answers_path, before, after)
    for reader in readers(folder):
        with pytest.raises(GenaipaError, match=rf"answers\.jsonl: line {number}:? was changed"):
            reader()
    assert ("answers.jsonl", f"line {number}") in found()


def test_a_reply_that_is_gone_is_no_answer(folder: RunFolder) -> None:
    """A record that is answered and holds no reply is damage, not an answer that nobody can score."""
    (first, *rest) = folder.answers_path.read_bytes().splitlines(keepends=True)
    record = json.loads(first)
    folder.answers_path.write_bytes(json.dumps(record | {"reply": None}).encode() + b"\n" + b"".join(rest))
    for reader in readers(folder):
        with pytest.raises(GenaipaError, match=r"line 1:? was changed"):
            reader()
    with pytest.raises(GenaipaError, match="holds no reply"):
        list(folder.read_records())


def test_a_conversation_that_is_gone_is_told(folder: RunFolder) -> None:
    """An answer's conversation is looked for: a line that another one replaced is missed, though it is whole itself."""
    lines = folder.conversations_path.read_bytes().splitlines(keepends=True)
    folder.conversations_path.write_bytes(b"".join([*lines[:-1], lines[0]]))
    (told,) = [one.problem for one in validate(find_workspace(), with_digests=True).findings]
    assert "lacks 1 conversation" in told


def test_score_and_answer_do_not_meet_when_the_text_changed(folder: RunFolder) -> None:
    """An answer whose text was changed is not offered with the score of what it was; the others are."""
    record = next(iter(answers(folder)))
    before = set(AnswerPool(find_workspace(), [folder]).answers)
    with opened(f"sqlite:///{Path('scores.db').absolute()}") as store:
        store.append_new_events([score("Anna", record.digest)])
    assert record.digest in before
    change(folder.answers_path, WORD, b"section 7 says", times=10**6)
    pool = AnswerPool(find_workspace(), [folder])
    assert not pool.answers
    assert "line 1 was changed" in pool.problems[0]


def test_a_score_that_was_changed_is_found(folder: RunFolder) -> None:
    """Validate --data reads the log of scores too, and names the event that is not as it was written."""
    with opened(f"sqlite:///{Path('scores.db').absolute()}") as store:
        store.append_new_events([score("Anna", record.digest) for record in answers(folder)])
    assert found() == []
    with sqlite3.connect("scores.db") as database:
        database.execute("DROP TRIGGER score_events_not_changed")
        database.execute("UPDATE score_events SET event = replace(event, 'Anna', 'Ben') WHERE seq = 1")
    database.close()
    wrong = [
        one.problem for one in validate(find_workspace(), with_digests=True).findings if one.path.endswith("scores.db")
    ]
    assert len(wrong) == 2
    assert "event 1" in wrong[0]
    assert "no longer prevents" in wrong[1]


@pytest.mark.full
def test_texts_beside_the_answers_are_checked(folder: RunFolder) -> None:
    """A changed document, introduction, prompt or question set of the run folder is found, and not worked with."""
    record = next(r for r in folder.read_records() if r.coordinates["initialization"] == "document")
    introduction = next(c.introduction for c in folder.read_conversations() if c.id == record.conversation)
    (document,) = (folder.path / "documents").iterdir()
    changed = (document, folder.path / f"introductions/{introduction}.json", folder.path / "questions/policy.yaml")
    for path in (*changed, folder.path / "prompts/question.jinja"):
        whole = path.read_bytes()
        path.write_bytes(whole[:-9] + b"x" + whole[-8:])
        assert found() == [(str(path.relative_to(folder.path)), "")]
        assert found(data=False) == []
        with pytest.raises(DataError, match=path.name):
            list(
                iterate_packed_run_files(
                    select_runs_and_apply_filters(find_workspace(), [folder.name])[0], include_withheld_texts=True
                )
            )
        path.write_bytes(whole)
    change(changed[1], b"your name", b"your mane")
    with pytest.raises(DataError, match="was changed since the conversation began"):
        load_conversation_through_reply(folder, record, folder.tally_records_and_map_offsets()[1])
    # What the workspace holds no longer comes from the run's own copy.
    Path("policies/acme.md").write_text(f"{TEXT}\nAnd more.")
    change(document, b"your name", b"your mane")
    gathered = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), [folder.name]), None)
    assert any("is not the text that the run asked about" in problem for problem in gathered.problems)


def test_a_file_that_lost_its_end_is_noticed(folder: RunFolder, genaipa: Cli) -> None:
    """Wherever the end of the answers is cut off, it is said by whoever reads on, and asked again by the same run."""
    whole = folder.answers_path.read_bytes()
    ends = [0]
    for line in whole.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    # Within a line, after one, in the middle of the file, and all of it.
    for length in (len(whole) - 1, ends[3], 0, *size(small=(), soak=(ends[-2], ends[-2] - 5))):
        folder.answers_path.write_bytes(whole[:length])
        assert not folder.is_complete()
        assert "lost after the run stopped" in folder.describe_lost_answers_or_empty(folder.manifest())
        gathered = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), [folder.name]), None)
        assert any("lost after the run stopped" in problem for problem in gathered.problems)
        assert ("answers.jsonl", "") in found(data=False)
    for command in (("runs",), ("show", "latest")):
        assert "lost after the run stopped" in genaipa(*command).err
    _, outcome = carry_out(procedure(systems=("scripted/said.yaml",)), folder)
    assert outcome.status == "complete"
    assert folder.is_complete()
    assert len(answers(folder)) == 12
    assert found() == []


def test_a_shorter_file_that_lost_no_answer_is_told_as_such(folder: RunFolder) -> None:
    """An answers file of another day may be shorter and lack nothing: no answers are said to be gone."""
    manifest = folder.manifest()
    manifest.totals = msgspec.structs.replace(manifest.totals, bytes=folder.answers_path.stat().st_size + 1)
    assert "shorter than when the run stopped" in folder.describe_lost_answers_or_empty(
        manifest, manifest.totals.answer_count
    )
    assert "1 of 12 answers were lost" in folder.describe_lost_answers_or_empty(
        manifest, manifest.totals.answer_count - 1
    )


def test_the_same_command_asks_again_what_was_lost(here: Workspace, genaipa: Cli) -> None:
    """A complete run whose file lost its end is said to lack answers, and gone on with."""
    del here
    command = ("run", "-s", "scripted/said.yaml", "-p", "acme", "-e", "quality")
    assert genaipa(*command).code == 0
    (run,) = Path("runs").iterdir()
    path = run / "answers.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    again = genaipa(*command)
    assert again.code == 0
    assert "lost after the run stopped" in again.err.replace("\n", " ")
    assert "nothing was asked" not in again.out
    assert len(latest(RunFolder(run))) == 3


def test_a_run_of_an_older_genaipa(folder: RunFolder) -> None:
    """A manifest without a sum, which does not say how long the file was, is held against the number of answers."""
    (folder.path / ".manifest.json").unlink()
    path = folder.path / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["sum"]
    assert manifest["totals"].pop("bytes") == folder.answers_path.stat().st_size
    path.write_text(json.dumps(manifest))
    assert folder.is_complete()
    assert not found()
    lines = folder.answers_path.read_bytes().splitlines(keepends=True)
    folder.answers_path.write_bytes(b"".join(lines[:-1]))
    assert not folder.is_complete()
    gathered = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), [folder.name]), None)
    assert any("1 of 12 answers were lost" in problem for problem in gathered.problems)


def test_a_pack_of_what_may_not_be_passed_on_reads_as_before(folder: RunFolder) -> None:
    """Replies and questions that a pack leaves out are not taken for damage where it is unpacked."""
    packed = Path("elsewhere/runs/r")
    for name, content in iterate_packed_run_files(
        select_runs_and_apply_filters(find_workspace(), [folder.name])[0], include_withheld_texts=False
    ):
        (packed / name).parent.mkdir(parents=True, exist_ok=True)
        (packed / name).write_bytes(content)
    assert (packed / "withheld.json").is_file()
    other = RunFolder(packed)
    assert len(latest(other)) == len(latest(folder))
    assert other.is_complete()
    assert not [f for f in validate(find_workspace(Path("elsewhere")), with_digests=True).findings if "runs" in f.path]


def test_a_damaged_manifest_has_a_copy(folder: RunFolder, genaipa: Cli) -> None:
    """Cut at any place, the manifest is taken from its copy, validate says so, and going on with the run mends it."""
    path = folder.path / "manifest.json"
    whole, manifest = path.read_bytes(), folder.manifest()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        assert folder.manifest() == manifest
    assert ("manifest.json", "") in found(data=False)
    assert genaipa("show", "latest").code == 0
    with folder.hold_for_writing_and_list_repairs() as said:
        assert "its copy from" in said[0]
        folder.write_manifest(folder.manifest())
    assert not folder.describe_manifest_damage()


@pytest.mark.full
def test_manifests_that_can_not_be(folder: RunFolder, genaipa: Cli) -> None:
    """Absurd numbers, lost documents and bytes that are no text are one sentence with the file's name."""
    path = folder.path / "manifest.json"
    (folder.path / ".manifest.json").unlink()
    whole = json.loads(path.read_text())
    spoilt = [
        json.dumps(whole | {"documents": {}}),
        json.dumps(whole | {"spec": whole["spec"] | {"repetitions": 10**18}}),
        json.dumps(whole | {"spec": whole["spec"] | {"repetitions": 10**40}}),
        json.dumps(whole | {"spec": whole["spec"] | {"plan": whole["spec"]["plan"] | {"questions": {}}}}),
        json.dumps(whole | {"versions": {}}),
        json.dumps(whole | {"orders": {"acme|x": ["Q1"]}}),
        json.dumps(whole | {"totals": whole["totals"] | {"cost": 1e308, "seconds": 1e308}}),
        json.dumps(whole).replace("acme", "ac\udcffme"),
        "[" * 100_000,
    ]
    for text in spoilt:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        for command in (("show", "latest"), ("runs",), ("run", "--resume", "latest"), ("validate", "--data")):
            done = genaipa(*command)
            assert "Traceback" not in done.err
        if "1e+308" not in text:
            with pytest.raises(DataError, match=r"manifest\.json: is damaged"):
                folder.manifest()


def test_bytes_that_are_no_text(folder: RunFolder) -> None:
    """In answers, conversations and introductions they are a sentence with the file, and the line if it has lines."""
    for path in (folder.answers_path, folder.conversations_path, next((folder.path / "introductions").iterdir())):
        whole = path.read_bytes()
        for at in size(small=(b"acme", b"{"), soak=(b'"scripted', b"acme", b"ACME", b'"system"', b"{")):
            if at in whole:
                path.write_bytes(whole.replace(at, at[:1] + b"\xff" + at[1:], 1))
                named = {name for name, _ in found()}
                assert named == {str(path.relative_to(folder.path))}
        if path.name.endswith("jsonl"):
            path.write_bytes(whole.replace(b"acme", b"ac\xffme", 1))
            kind = "read_records" if path == folder.answers_path else "read_conversations"
            with pytest.raises(RunError, match=rf"{path.name}: line 1 is not a record"):
                list(getattr(folder, kind)())
            path.write_bytes(b'{"x":' + b"[" * 100_000 + b"\n" + whole)
            with pytest.raises(RunError, match="nested too deep"):
                list(getattr(folder, kind)())
        else:
            with pytest.raises(DataError, match=path.name):
                folder.read_introduction(path.stem)
        path.write_bytes(whole)
    assert found() == []
