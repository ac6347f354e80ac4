"""Judges for tests: verdicts in the form that a judge is asked for, and scripts that give them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml
from running import make_workspace, write

from genaipa.judging.name import NAME
from genaipa.runs.folder import RunFolder
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.store import open_or_create_store
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandline import Finished

    from genaipa.scoring.events import Event

RUBRIC = shipped_rubric()
ANSWERS = "rules: [{match: Question 1, reply: Yes. (Section 1)}, {match: Question 2, reply: No.}]\ndefault: Perhaps.\n"


def verdict(place: int = 0, **other: Any) -> str:
    """A reply with the value at that place of every metric, 0 the best; `other` replaces fields of the whole."""
    entries = [
        {"metric": name, "evidence": f"Seen for {name}.", "value": metric.words[place]}
        for name, metric in RUBRIC.metrics.items()
    ]
    return json.dumps({"right_answer": "The document says so.", "verdicts": entries} | other)


def annotated(place: int = 0) -> str:
    """The same where there is an annotated answer."""
    found = json.loads(verdict(place))
    del found["right_answer"]
    return json.dumps(found)


def pointed(said: Mapping[str, str], place: int = 0) -> str:
    """The same where that has points: point → what is said of it."""
    found = json.loads(annotated(place))
    ticks = [{"point": point, "evidence": f"Seen for {point}.", "said": word} for point, word in said.items()]
    asked = [entry for entry in found["verdicts"] if entry["metric"] != RUBRIC.points_metric]
    return json.dumps({"points": ticks, "verdicts": asked})


def script(file: str, *rules: dict[str, Any], default: str | None = None, model: str = "kind") -> str:
    """The name of a scripted judge with these rules, and this verdict for everything else."""
    content = {"rules": list(rules), "default": verdict() if default is None else default, "model": model}
    write(file, yaml.safe_dump(content))
    return f"scripted/{file}"


def study(genaipa: Any, questions: int = 4, answers: str = ANSWERS, text: str = "", system: str = "say") -> None:
    """A workspace in which a scripted system was asked so many questions about one short document."""
    make_workspace(questions, **({"text": text} if text else {}))
    write(f"{system}.yaml", answers)
    done: Finished = genaipa(
        "run", "-s", f"scripted/{system}.yaml", "-p", "acme", "-i", "document", "--name", "answers"
    )
    assert done.code == 0, done.err


def judge_runs() -> list[RunFolder]:
    """The runs in which judges were asked, oldest first."""
    return [folder for folder in list_run_folders_oldest_first(find_workspace()) if folder.manifest().spec.task == NAME]


def events() -> list[Event]:
    """Every event in the store."""
    store = open_or_create_store(find_workspace())
    try:
        return [event for _, event in store.read_numbered_events()]
    finally:
        store.close()
