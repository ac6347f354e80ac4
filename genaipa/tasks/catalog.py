"""From a task's name to the task: a shipped one, one that a package brings, or a user's own `module:Class`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from genaipa.errors import UnknownNameError, UsageError
from genaipa.runs.records import JUDGE, PREDICTIONS, PROCEDURE
from genaipa.systems.plugins import make, plugins, source_file
from genaipa.tasks.base import Task

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace

ENTRY_POINTS = "genaipa.tasks"
SUITE_POINTS = "genaipa.suites"

# Name → class. A suite is a folder in genaipa/suites/ and a line here, or comes with a package.
SUITES: dict[str, str] = {
    "policyqa": "genaipa.suites.policyqa.task:PolicyQA",
    "opp115": "genaipa.suites.opp115.task:Opp115",
    "privacyqa": "genaipa.suites.privacyqa.task:PrivacyQA",
    "privacyqa-answerability": "genaipa.suites.privacyqa_answerability.task:Answerability",
    "privacyqa-pairs": "genaipa.suites.privacyqa_pairs.task:Pairs",
    "piextract": "genaipa.suites.piextract.task:PiExtract",
    "policyie": "genaipa.suites.policyie.task:PolicyIE",
    "policy-detection": "genaipa.suites.policy_detection.task:PolicyDetection",
    # Joins those before it.
    "privacyglue": "genaipa.suites.privacyglue.task:PrivacyGLUE",
}
# A task is a file and a line here.
TASKS: dict[str, str] = {
    PROCEDURE: "genaipa.tasks.procedure:Procedure",
    # Its questions are the answers of other runs: `genaipa judge` asks it.
    JUDGE: "genaipa.judging.task:JudgeTask",
    # Its answers are predictions of others: `genaipa get privacyglue --runs` writes it.
    PREDICTIONS: "genaipa.suites.privacyglue.predictions:Predictions",
    **SUITES,
}


def names() -> list[str]:
    """The tasks that can be asked for by name."""
    return [*TASKS, *_brought()]


def suite_targets() -> dict[str, str]:
    """Name → module:Class of every suite: those that ship, and those that packages bring."""
    return {**SUITES, **{name: target for name, target in plugins(SUITE_POINTS).items() if name not in TASKS}}


def _brought() -> dict[str, str]:
    return {**plugins(ENTRY_POINTS), **plugins(SUITE_POINTS)}


def make_task(spec: RunSpec, workspace: Workspace, folder: RunFolder | None = None) -> Task:
    """The task of a spec, or of a run that goes on; a UsageError for an unknown name, and any error of its data."""
    target = TASKS.get(spec.task) or _brought().get(spec.task, spec.task)
    if ":" not in target:
        raise UnknownNameError("task", spec.task, names())
    task: object = make(target, spec, workspace)
    if not isinstance(task, Task):
        raise UsageError(f"{target}: it is no Task; see genaipa/tasks/base.py for what a task is.")
    task.folder = folder
    return task


def identity(name: str) -> dict[str, str]:
    """Name → SHA-256 of the file of a task that is not shipped: a run of it goes on only with the same."""
    path = None if name in TASKS else source_file(_brought().get(name, name))
    return {} if path is None else {name: hashlib.sha256(path.read_bytes()).hexdigest()}
