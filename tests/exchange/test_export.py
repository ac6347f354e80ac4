"""What goes out in any form: each answer that may be passed on, with its scores; what stays here is counted."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from analysts import make_answers
from commandline import call
from exchanged import SENTENCE, study_with_scores
from running import write

from genaipa_exchange.forms import FORMS

if TYPE_CHECKING:
    from commandline import Finished


def done(*words: str) -> Finished:
    """A command that worked."""
    finished = call(*words)
    assert finished.code == 0, finished.err
    return finished


def everything(folder: Path) -> str:
    """The content of all files of a folder, as text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    packed = [pd.read_parquet(path).to_csv() for path in files if path.suffix == ".parquet"]  # it is compressed
    return "".join([*packed, *(path.read_text(errors="replace") for path in files)])


@pytest.mark.parametrize("form", [form.name for form in FORMS if form.write])
def test_what_may_not_be_passed_on_stays(form: str) -> None:
    """No sentence of a document without permission, nor of its annotated answers, is in any file; all is counted."""
    needs = {"inspect": "inspect_ai"}.get(form)
    if needs and find_spec(needs) is None:
        pytest.skip(f"needs {needs} (.ci/{form}.txt)")
    study_with_scores("not redistributable")
    done("run", "--system", "extractive", "--policy", "acme", "--experiment", "quality", "--questions", "policy")
    finished = done("export", form, "-o", "out")
    assert "1 annotated answer" in finished.err
    assert "2 answers" in finished.err  # they quote it
    assert "that may not be passed on; --with-texts" in finished.err
    assert SENTENCE not in everything(Path("out"))
    assert "nobody else's" not in everything(Path("out"))


def test_a_score_in_effect_goes_along() -> None:
    """Of an analyst's two scores the later one goes out, and judges' verdicts only where they are asked for."""
    study_with_scores()
    finished = done("export", "label-studio", "-o", "out")
    assert "2 verdicts of judges; --with-judge" in finished.err
    assert "out: 2 files, 2 answers, 3 scores." in finished.out
    (task,) = (task for task in json.loads(Path("out/tasks.json").read_bytes()) if task["annotations"])
    ticked = [one["result"][0]["value"]["choices"] for one in task["annotations"]]
    assert ticked == [["-1 not relevant"], ["+1 relevant"], ["+1 relevant"]]
    assert SENTENCE in task["data"]["text"]
    assert not task["predictions"]
    done("export", "label-studio", "-o", "judged", "--with-judge")
    tasks = json.loads(Path("judged/tasks.json").read_bytes())
    assert [one["model_version"] for task in tasks for one in task["predictions"]] == ["robot1", "robot2"]


def test_what_can_not_be_written_is_refused() -> None:
    """An unknown form, no folder, and one that is not empty: a sentence each, and nothing is touched."""
    study_with_scores()
    write("full/kept.txt", "mine")
    for words, told in (
        (("export", "lable-studio", "-o", "out"), "no format 'lable-studio': did you mean 'label-studio'?"),
        (("export", "label-studio"), "genaipa export label-studio -o FOLDER"),
        (("export", "label-studio", "-o", "full"), "full already exists and is not empty; name a new folder."),
    ):
        finished = call(*words)
        assert finished.code == 2, words
        assert told in finished.err
    assert [path.name for path in Path("full").iterdir()] == ["kept.txt"]
    assert not list(Path().glob(".*-*"))


@pytest.mark.parametrize("form", [form.name for form in FORMS if form.write])
def test_a_follow_up_goes_out_with_what_it_follows(form: str) -> None:
    """Nobody can score "Are you sure?" alone: the question and the reply before it are beside it in every form."""
    needs = {"inspect": "inspect_ai"}.get(form)
    if needs and find_spec(needs) is None:
        pytest.skip(f"needs {needs} (.ci/{form}.txt)")
    make_answers("Section 1 does.", follow_up="Are you sure?")
    done("export", form, "-o", "out", "--with-texts")
    if form == "label-studio":
        shown = [task["data"]["question"] for task in json.loads(Path("out/tasks.json").read_bytes())]
    elif form == "huggingface":
        rows = pd.read_parquet("out/answers.parquet")[["asked", "asked_before", "reply_before"]].fillna("")
        shown = [" ".join(row) for row in rows.itertuples(index=False)]
    else:
        logs = [json.loads(path.read_bytes()) for path in Path("out").glob("*.json")]
        samples = [sample for log in logs for sample in log["samples"]]
        shown = [" ".join(message["content"] for message in sample["messages"]) for sample in samples]
    (follow_up,) = (text for text in shown if "Are you sure?" in text)
    assert "Question 1 on Acme?" in follow_up
    assert "Section 1 does." in follow_up
