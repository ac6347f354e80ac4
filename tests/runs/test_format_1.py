"""Run folders that commit 379387a wrote (format 1) are read, resumed, collected, scored and reported."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from running import SYSTEM, latest, lines_of

from genaipa.reports.gather import gather
from genaipa.runs.finding import run_folders
from genaipa.runs.folder import RunFolder
from genaipa.runs.records import PROCEDURE
from genaipa.runs.selection import select
from genaipa.scoring.answers import Pool
from genaipa.tasks.prompts import labels
from genaipa.workspace import Workspace, find_workspace

FOLDERS = Path(__file__).with_name("format_1.tar.gz")
"""A workspace with six runs of one policy and three questions: `finished` and `partial` (with acknowledgements, one
question always failed) have all four initializations, `independent` two wordings, of `nosummary` both summaries failed,
`killed` was killed after six records, and of `byhand` two answers and a summary are in."""


@pytest.fixture
def workspace() -> Workspace:
    """The workspace as it was left."""
    with tarfile.open(FOLDERS) as archive:
        archive.extractall(filter="data")
    return find_workspace()


def folder(name: str) -> RunFolder:
    """A run by the end of its name."""
    (path,) = Path("runs").glob(f"*-{name}")
    return RunFolder(path)


def test_every_line_is_read_and_written_alike(workspace):
    """Records, conversations and manifests keep their bytes: nothing is added to what the older version wrote."""
    import msgspec

    for run in run_folders(workspace):
        assert b"".join(msgspec.json.encode(r) + b"\n" for r in run.records()) == run.answers.read_bytes()
        begun = b"".join(msgspec.json.encode(c) + b"\n" for c in run.conversations())
        assert begun == run.conversations_file.read_bytes()
        manifest = run.manifest()
        assert manifest.spec.task == PROCEDURE
        # There was one set of prompts, and its templates are those of today's guided ones.
        assert labels(manifest) == {"": "guided"}
        # A field that the older version did not know is left out as long as it says nothing.
        assert msgspec.json.decode(msgspec.json.encode(manifest)) == json.loads(
            (run.path / "manifest.json").read_text()
        )


@pytest.mark.parametrize("name", ["partial", "nosummary", "killed"])
def test_what_lacks_is_asked_and_nothing_else(genaipa, workspace, server, name):
    """A resumed run asks what is not in, with the messages with which its conversations began, and is complete."""
    before, run = latest(folder(name)), folder(name)
    begun = {c.id: c.introduction for c in run.conversations()}
    kept = {key for key, record in before.items() if record.status != "failed"}
    done = genaipa("run", "--resume", name)
    assert done.code == 0, done.err
    after = latest(run)
    asked = list(run.records())[len(lines_of(run.answers)) - len(server.requests) :]
    assert not kept & {record.key for record in asked}
    assert len({record.key for record in asked}) == len(asked) == len(server.requests)
    assert all(after[key] == before[key] for key in kept)
    assert {c.id: c.introduction for c in run.conversations()}.items() >= begun.items()
    assert Counter(r.kind for r in after.values())["answer"] == run.manifest().totals.planned
    assert run.manifest().status == "complete"


def test_a_resumed_conversation_repeats_what_was_said(genaipa, workspace, server):
    """The question that is asked at last follows on the replies that the older version kept."""
    run = folder("partial")
    before = latest(run)
    genaipa("run", "--resume", "partial")
    replies = {record.reply for record in before.values() if record.reply}
    continued = [
        [m["content"] for m in request.body["messages"] if m["role"] == "assistant"] for request in server.requests
    ]
    assert sum(bool(said) and said[0] in replies for said in continued) >= 2


def test_a_finished_run_asks_nothing(genaipa, workspace, server):
    """A complete run of either kind of conversation stays as it is."""
    for name in ("finished", "independent"):
        before = folder(name).answers.read_bytes()
        done = genaipa("run", "--resume", name)
        assert done.code == 0, done.err
        assert "nothing was asked" in done.out
        assert folder(name).answers.read_bytes() == before
    assert not server.requests


def test_the_same_command_finds_the_same_run(genaipa, workspace, server):
    """The plan of an older run is recognised as this very plan, and named where today's usual prompts are others."""
    asked = genaipa("run", "-s", SYSTEM, "-p", "acme", "--part-tokens", "60", "--name", "killed", "--estimate")
    assert "20261122-000000-killed asks the same with the guided prompts" in asked.err
    done = genaipa("run", "-s", SYSTEM, "-p", "acme", "--part-tokens", "60", "--name", "killed", "--prompts", "guided")
    assert done.code == 0, done.err
    assert "this plan was begun before: going on with 20261122-000000-killed" in done.err


def test_replies_by_hand_are_collected(genaipa, workspace):
    """Sheets that the older version wrote are filled in and taken back; the run is complete."""
    run = folder("byhand")
    assert len(lines_of(run.answers)) == 3
    for sheet in sorted((run.path / "sheets").glob("*.replies.txt")):
        lines = sheet.read_text().split("\n")
        filled = [
            line
            for n, line in enumerate(lines)
            for line in (
                [line, "It is so."] if line.startswith("@@@@@ message") and not any(lines[n + 1 : n + 3]) else [line]
            )
        ]
        sheet.write_text("\n".join(filled))
    done = genaipa("collect", "byhand")
    assert done.code == 0, done.out + done.err
    assert "4 replies taken; in already: 3" in done.out
    assert run.manifest().status == "complete"


def test_they_are_whole_and_can_be_scored_and_reported(genaipa, workspace):
    """Nothing in them is damaged, each answer is up for scoring, and a report counts it."""
    checked = genaipa("validate", "--data")
    assert checked.code == 0, checked.out + checked.err
    answers = sum(
        r.kind == "answer" and r.reply is not None for run in run_folders(workspace) for r in latest(run).values()
    )
    pool = Pool(workspace, run_folders(workspace))
    assert sum(len(answer.occurrences) for answer in pool.answers.values()) == answers
    assert not pool.problems
    found = gather(workspace, select(workspace, ()), None)
    rows = found.frame[found.frame["unit"] == "answer"]
    assert (rows["status"] == "answered").sum() == answers
    done = genaipa("report", "--formats", "svg", "-o", "report")
    assert done.code == 0, done.err
