"""The core's own kinds of tasks: the paper's procedure, and any task of a package or of a user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.kinds import Plan, TaskKind
from genaipa.runs.procedure import ProcedurePlan

if TYPE_CHECKING:
    from genaipa.runs.records import RunSpec
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import Resources, RunRequest
    from genaipa.workspace import Workspace


class _ProcedureKind(TaskKind[ProcedurePlan]):
    """Algorithm 1 of the paper."""

    plan = ProcedurePlan
    people = True
    documents = True

    def make_task_for_spec(self, spec: RunSpec, workspace: Workspace) -> Task:
        """Make the procedure on the documents, questions and prompts in effect."""
        from genaipa.tasks.procedure import Procedure

        return Procedure(spec, workspace)

    def make_plan(self, request: RunRequest, workspace: Workspace, resources: Resources) -> ProcedurePlan:
        """Check the names, fetch what is published, and spell out presets."""
        from genaipa.tasks.planning import plan_procedure_and_fetch_documents

        return plan_procedure_and_fetch_documents(request, workspace, resources)


class _PlainTaskKind(TaskKind[Plan]):
    """A task of a package, by an entry point `genaipa.tasks`, or of the user's own, by `module:Class`."""

    def make_task_for_spec(self, spec: RunSpec, workspace: Workspace) -> Task:
        """Make the task; a UsageError where there is none."""
        from genaipa.tasks.catalog import make_entry_point_or_user_task

        return make_entry_point_or_user_task(spec, workspace)

    def task_names(self) -> list[str]:
        """Return the tasks that packages bring."""
        from genaipa.tasks.catalog import list_entry_point_task_names

        return list_entry_point_task_names()


PROCEDURE = _ProcedureKind()
PLAIN = _PlainTaskKind()
