"""Label Studio: its own reader takes the labels and the tasks, and the scores come back as they were."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commandline import call
from exchanged import everything_in, study_with_scores
from running import write

SDK = pytest.mark.skipif(find_spec("label_studio_sdk") is None, reason="needs label_studio_sdk (.ci/label-studio.txt)")


def tasks(folder: str = "out") -> list[dict[str, Any]]:
    """The tasks that were written."""
    found: list[dict[str, Any]] = json.loads(Path(folder, "tasks.json").read_bytes())
    return found


def labelled(change: Any, *options: str) -> Any:
    """Import the export after a change to its tasks."""
    changed = tasks()
    change(changed)
    write("export.json", json.dumps(changed))
    return call("import", "label-studio", "export.json", *options)


@SDK
def test_its_own_reader_takes_all() -> None:
    """The labels are a valid configuration, and each annotation and prediction fits it."""
    from label_studio_sdk.label_interface import LabelInterface

    study_with_scores()
    assert call("export", "label-studio", "-o", "out", "--with-judge").code == 0
    interface = LabelInterface(Path("out/config.xml").read_text())
    interface.validate()
    checked = 0
    for task in tasks():
        for one in (*task["annotations"], *task["predictions"]):
            said = {"model_version": "any", "score": 0.5, "result": one["result"]}
            assert interface.validate_prediction(said, return_errors=True) == []
            checked += 1
    assert checked == 5


def test_scores_come_back_as_they_were() -> None:
    """Into a store that has lost them: the same events, adjudication and verdict among them; and once only."""
    before = study_with_scores()
    assert call("export", "label-studio", "-o", "out", "--with-judge").code == 0
    Path("scores.db").unlink()
    said = call("import", "label-studio", "out/tasks.json")
    assert said.out.startswith("5 scores read, 5 new; 1 task not scored."), said.out + said.err
    assert everything_in() == before
    assert call("import", "label-studio", "out/tasks.json").out.startswith("5 scores read, 0 new")


def test_what_was_labelled_there_is_somebodys_score() -> None:
    """A changed annotation is a correction, one by a person there is theirs, and one that was skipped is counted."""
    study_with_scores()
    assert call("export", "label-studio", "-o", "out").code == 0

    def change(changed: list[dict[str, Any]]) -> None:
        whole = next(task for task in changed if task["annotations"])
        own = json.loads(json.dumps(whole["annotations"][0]))
        whole["annotations"][0]["result"][0]["meta"]["event"]["order"] = "question"
        whole["annotations"][0]["result"][1]["value"]["choices"] = ["+0.5 partially correct"]
        for one in own["result"]:
            one.pop("meta", None)
        own |= {"completed_by": {"id": 4, "email": "cy@example.org"}, "lead_time": 12.5}
        own["updated_at"] = "2026-11-26T10:00:00.000000Z"
        early = own | {"completed_by": "  BO ", "updated_at": "0001-01-01T00:00:00+14:00"}
        whole["annotations"] += [own, early, {"was_cancelled": True, "result": [], "completed_by": 4}]

    assert labelled(change).out.startswith("5 scores read, 3 new; 1 task not scored.")
    by = {one.analyst: one for one in everything_in() if one.values and one.kind == "score"}
    assert (by["ada"].values["accuracy"], by["ada"].blind, by["ada"].order) == (0.5, True, ""), "not at the desk"
    assert (by["bo"].time[:2], "BO" in by) == ("20", False)
    cy = by["cy@example.org"]
    assert (cy.values["accuracy"], cy.seconds, cy.blind, cy.independent) == (-1.0, 12.5, False, False)
    assert cy.time == "2026-11-26T10:00:00.000Z"


def test_what_can_not_be_used_is_told() -> None:
    """Other labels, no digest, another shape, an answer that is not here: a sentence with the place, nothing taken."""
    before = study_with_scores()
    assert call("export", "label-studio", "-o", "out").code == 0
    place = next(n for n, task in enumerate(tasks()) if task["annotations"])

    def result(changed: list[dict[str, Any]]) -> Any:
        return changed[place]["annotations"][0]["result"]

    def another(changed: list[dict[str, Any]]) -> None:
        changed[place]["data"]["digest"] = "0" * 64
        result(changed)[0].pop("meta")

    def event(**changes: Any) -> Any:
        return lambda changed: result(changed)[0]["meta"]["event"].update(changes)

    def by(name: str) -> Any:
        def change(changed: list[dict[str, Any]]) -> None:
            changed[place]["annotations"][0]["completed_by"] = name
            result(changed)[0].pop("meta")

        return change

    cases: list[tuple[Any, str]] = [
        (
            event(id="new", scorer="machine", kind="adjudication"),
            "a machine can't be the scorer of the event 'adjudication'",
        ),
        (event(id="new", time="yesterday"), "'yesterday' is not a time in UTC"),
        (event(id="new", analyst=" "), "id, analyst and answer must not be empty."),
        (by("\x1b[31mcy"), "annotation 1: a name must be one line of at most"),
        (lambda ts: ts[place]["annotations"][0].update(lead_time=-1), "is not a JSON export from Label Studio"),
        (
            lambda ts: result(ts)[0]["value"].update(choices=["excellent"]),
            "'excellent' is not one of the labels of relevance",
        ),
        (lambda ts: result(ts)[0].update(from_name="style"), "'style' is not a metric of this rubric; known:"),
        (lambda ts: result(ts).pop(1), "has no choice for accuracy; a score needs all metrics."),
        (lambda ts: ts[0]["data"].pop("digest"), "task 1: has no digest, so its answer can't be found"),
        (lambda ts: ts[0].pop("annotations"), 'task 1: has no annotations; export the project as "JSON"'),
        (lambda ts: ts.append(3), "is not a JSON export from Label Studio"),
        (another, "belongs to another answer."),
    ]
    for change, told in cases:
        finished = labelled(change)
        assert finished.code == 2, told
        assert told in finished.err
    write("cut.json", Path("out/tasks.json").read_text()[:-100])
    assert (
        "cut.json: is not a JSON export from Label Studio, or is cut" in call("import", "label-studio", "cut.json").err
    )
    assert everything_in() == before


def numbered(number: int, accuracy: str = "-1 incorrect") -> Any:
    """Change an export so that somebody with this number alone labelled its first task with scores."""

    def change(changed: list[dict[str, Any]]) -> None:
        whole = next(task for task in changed if task["annotations"])
        own = json.loads(json.dumps(whole["annotations"][0]))
        for one in own["result"]:
            one.pop("meta", None)
        own["result"][1]["value"]["choices"] = [accuracy]
        whole["annotations"].append(own | {"completed_by": number, "updated_at": "2026-11-26T10:00:00Z"})

    return change


def test_people_with_a_number_alone_are_nobody_elses() -> None:
    """The number is told, two servers' first users stay apart, and a name puts neither together nor twice."""
    study_with_scores()
    assert call("export", "label-studio", "-o", "out").code == 0
    told = labelled(numbered(1))
    assert (
        "annotators only by number; they are called annotator 1 (1 score). To name them: --annotators 1=NAME"
        in told.err
    )
    assert labelled(numbered(1)).out.startswith("4 scores read, 0 new"), "the same file"
    other = labelled(numbered(1, "+1 entirely correct"))
    assert other.code == 2
    assert "scores of annotator 1 are already here; only you know whether this is the same person" in other.err
    named = labelled(numbered(1, "+1 entirely correct"), "--annotators", "1=Ada@Example.org")
    assert (named.code, named.err) == (0, "")
    assert "Ada@Example.org" in {one.analyst for one in everything_in()}
    twice = labelled(numbered(1), "--annotators", "1=Cy")
    assert "are already here under the name annotator 1 and would count twice" in twice.err
    write("desk.yaml", "left_out: {annotator 1: is Cy}\n")
    assert labelled(numbered(1), "--annotators", "1=Cy").out.startswith("4 scores read, 1 new")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("1:ada", "--annotators must have the form 1=ada@example.org,2=NAME, not '1:ada'"),
        ("1=", "not '1='"),
        ("1=a,1=b", "names annotator 1 twice"),
        ("2=ada", "export.json has no annotator 2: its annotators are numbered 1."),
    ],
)
def test_names_of_numbers_that_can_not_be_used(given: str, words: str) -> None:
    """A slip in --annotators is told in a sentence, and nothing is taken in."""
    before = study_with_scores()
    assert call("export", "label-studio", "-o", "out").code == 0
    assert words in labelled(numbered(1), "--annotators", given).err
    assert everything_in() == before
