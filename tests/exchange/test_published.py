"""The published study through both forms that come back: 3,840 scores of its answers, none lost, doubled or changed."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path

import pytest
from commandline import call
from exchanged import everything_in
from running import write
from stores import opened, score

from genaipa.files.text import sha256_of
from genaipa.runs.folder import RunFolder
from genaipa.runs.imported import load_all_published_scores
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.answers import AnswerPool
from genaipa.workspace import find_workspace
from rubrics import typed

SCORES = 3840


def keys_of(answer: str, analyst: str) -> str:
    """Values that differ from answer to answer, as digits typed at the desk."""
    return "".join("123"[int(letter, 16) % 3] for letter in sha256_of(f"{answer}{analyst}")[:5])


def study(home: str) -> tuple[list[object], list[object]]:
    """The recorded answers and the published averages of a workspace."""
    folders = [RunFolder(path) for path in sorted(Path(home, "runs").iterdir())]
    records = [record for folder in folders for record in folder.read_records() if record.reply is not None]
    return records, [row for folder in folders for row in load_all_published_scores(folder)]


@pytest.mark.soak  # the same is shown of a study of two answers by test_inspect.py and test_label_studio.py
@pytest.mark.parametrize("form", ["inspect", "label-studio"])
def test_scores_of_the_published_study_come_back(form: str, pulled: Path) -> None:
    """Out with the texts, into an empty store: the same events; by Inspect the answers and averages as well."""
    assert pulled.is_dir()
    if form == "inspect" and find_spec("inspect_ai") is None:
        pytest.skip("needs inspect_ai (.ci/inspect.txt)")
    write("genaipa.toml", "")
    assert call("get", "genaipabench", "--runs").code == 0
    here = find_workspace()
    answers = AnswerPool(here, list_run_folders_oldest_first(here), excluded=False).arrivals
    given = islice(product(("ann", "bo", "cy"), answers), SCORES)
    with opened("sqlite:///scores.db") as store:
        assert store.append_new_events([score(who, one, typed(keys_of(one, who))) for who, one in given]) == SCORES
    before, written = everything_in(), study(".")
    assert call("export", form, "-o", "out", "--with-texts").code == 0
    write("other/genaipa.toml", "")
    if form == "inspect":
        back = call("import", form, "out", "-w", "other")
    else:
        assert call("get", "genaipabench", "--runs", "-w", "other").code == 0
        back = call("import", form, "out/tasks.json", "-w", "other")
    assert f"{SCORES:,} scores read, {SCORES:,} new" in back.out, back.err
    assert everything_in("other") == before
    assert study("other") == written
