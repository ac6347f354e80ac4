"""A judge's kind of task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.judging.name import NAME
from genaipa.kinds import Plan, TaskKind

if TYPE_CHECKING:
    from genaipa.runs.records import RunSpec
    from genaipa.tasks.base import Task
    from genaipa.workspace import Workspace


class _JudgeKind(TaskKind[Plan]):
    on_answers = True
    keeps = True
    prompts = NAME

    def make_task_for_spec(self, spec: RunSpec, workspace: Workspace) -> Task:
        """Make the task of judges, whose questions are in the folder of their run."""
        from genaipa.judging.task import JudgeTask

        return JudgeTask(spec, workspace)


JUDGE = _JudgeKind()
