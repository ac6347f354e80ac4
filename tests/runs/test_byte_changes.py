"""Changes to the files of three kinds of run: each is found, or nothing that is computed changes."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import call
from stores import score

from benchmarks.made_up import write_policies
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.errors import GenaipaError
from genaipa.runs.selection import list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.scoring.store import open_or_create_store
from genaipa.validation import validate
from genaipa.workspace import find_workspace
from genaipa_suites.report.results import read_results_and_problems
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from genaipa.workspace import Workspace

CHANGES = 360
NOT_READ = (".lock", ".holder")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run, one of a corpus and one of a suite, and a few scores."""
    folder = tmp_path_factory.mktemp("changed")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        write_policies(Path("shops.jsonl"), 4)
        plain = ("run", "-s", "extractive", "-e", "quality", "--limit", "2")
        for arguments in (
            (*plain, "-p", "brindlecart", "--name", "plain"),
            (*plain, "--documents", "shops.jsonl", "--name", "corpus"),
            ("run", "-s", "baseline/empty", "--suite", "policyqa", "--split", "sample", "--name", "suite"),
        ):
            done = call(*arguments)
            assert done.code == 0, done.err
        here = find_workspace(folder)
        with closing(open_or_create_store(here)) as store:
            for run in list_run_folders_oldest_first(here)[:2]:
                store.append_new_events([score("Ada", record.digest) for record in run.read_records()])
    return folder


def told(here: Workspace) -> set[tuple[str, ...]]:
    """Everything that `genaipa validate --data` says."""
    found = validate(here, with_digests=True).findings
    return {(one.path, one.entry, one.problem) for one in found}


def computed(here: Workspace) -> Any:
    """Everything that commands compute: the tidy table, the records, and the suite's outcomes; or what they refuse."""
    try:
        sources = select_runs_and_apply_filters(here, ())
        gathered = gather_study_with_stored_scores(here, sources)
        table = sorted(gathered.table.drop(columns=["key"]).astype(str).itertuples(index=False), key=str)
        records = {
            run.name: sorted(run.read_records(), key=lambda one: one.key) for run in list_run_folders_oldest_first(here)
        }
        scored, problems = read_results_and_problems(here, sources)
        outcomes = [sorted((one.item.id, one.parsed) for one in result.outcomes) for result in scored]
    except GenaipaError as error:
        return str(error)
    return [tuple(row) for row in table], records, outcomes, sorted(map(str, [*problems, *gathered.problems]))


def changed(content: bytes, chance: random.Random) -> bytes:
    """The content with one change: a bit, a byte, a line lost, doubled or moved, a part cut off or added."""
    lines = content.splitlines(keepends=True)
    at = chance.randrange(max(1, len(content)))
    kind = chance.choice(("bit", "byte", "digit", "lost", "doubled", "moved", "cut", "added"))
    if kind == "bit":
        return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]
    if kind == "byte":
        return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]
    digits = [place for place, byte in enumerate(content) if 48 <= byte < 58]
    if kind == "digit" and digits:
        at = chance.choice(digits)
        return content[:at] + str((content[at] - 48 + 1) % 10).encode() + content[at + 1 :]
    if kind == "cut":
        return content[:at]
    if kind == "added" or len(lines) < 2:
        return content + chance.choice((b"{}\n", b"x", content[-50:]))
    first, second = chance.sample(range(len(lines)), 2)
    if kind == "lost":
        del lines[first]
    elif kind == "doubled":
        lines.insert(second, lines[first])
    else:
        lines.insert(second, lines.pop(first))
    return b"".join(lines)


@pytest.mark.soak
def test_each_change_is_found_or_changes_nothing(study: Path, tmp_path: Path) -> None:
    """Of changes to all files nothing is computed otherwise without a word."""
    shutil.copytree(study, tmp_path, dirs_exist_ok=True)
    here = find_workspace(tmp_path)
    said, before = told(here), computed(here)
    assert not isinstance(before, str), before
    files = sorted(path for path in (tmp_path / "runs").rglob("*") if path.is_file() and path.name not in NOT_READ)
    chance, silent, found = random.Random(7), [], 0
    for number in range(CHANGES):
        path = files[number % len(files)]
        content = path.read_bytes()
        after = changed(content, chance)
        if after == content:
            continue
        path.write_bytes(after)
        if told(here) - said:
            found += 1
        elif (now := computed(here)) != before and not isinstance(now, str):
            silent.append((path.relative_to(tmp_path), after))
        path.write_bytes(content)
    assert silent == []
    assert found > CHANGES / 2
