"""The kind of task that a suite is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.kinds import TaskKind
from genaipa_suites.plan import KIND, SAMPLE, SuiteOptions, suite_class_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.datasets.base import Dataset
    from genaipa.kinds import RunClosing
    from genaipa.reports.chapters.chapter import TaskKindResults
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import RunSpec
    from genaipa.scoring.people import User
    from genaipa.tasks.base import Task
    from genaipa.tasks.request import Resources, RunRequest
    from genaipa.ui.desk import Desk
    from genaipa.validation import KindFilesCheck
    from genaipa.workspace import Workspace


class _SuiteKind(TaskKind[SuiteOptions]):
    plan = SuiteOptions
    keeps = True
    option = KIND
    about = "A sister benchmark instead: policyqa, …, or your own module:Class (genaipa get fetches its data)."
    heading = "A sister benchmark"
    prompts = "suites"
    page = "Suites"

    def make_task_for_spec(self, spec: RunSpec, workspace: Workspace) -> Task:
        """Make the suite of a spec; an UnknownNameError or UsageError where there is none."""
        from genaipa_suites.catalog import make_suite

        return make_suite(spec, workspace)

    def make_plan(self, request: RunRequest, workspace: Workspace, resources: Resources) -> SuiteOptions:  # noqa: ARG002 - it needs none
        """Make the plan of the options given; an OptionError for one that can't be, a UsageError for no suite."""
        from genaipa_suites.catalog import parse_suite_options

        return parse_suite_options(request)

    def task_names(self) -> list[str]:
        """Return the suites by name."""
        return [*suite_class_paths()]

    def list_task_rows(self) -> Iterator[dict[str, str]]:
        """Return a row for each suite."""
        from genaipa_suites.catalog import iterate_suite_rows

        return iterate_suite_rows()

    def is_redistributable(self, plan: SuiteOptions) -> bool:
        """Tell whether the items are made up."""
        return plan.split == SAMPLE

    def load_results_class(self) -> type[TaskKindResults]:
        """Return the suites' part of a report."""
        from genaipa_suites.report.chapters import SuiteResults

        return SuiteResults

    def closing_lines_and_facts(self, workspace: Workspace, folder: RunFolder) -> RunClosing:
        """Return the first figures of a suite as lines, all of them for JSON."""
        from genaipa_suites.figures import closing_lines_and_measure_values

        return closing_lines_and_measure_values(workspace, folder)

    def show_page(self, desk: Desk, user: User) -> None:
        """Show the scores of the suites, and the items behind them."""
        from genaipa_suites.page import show_page

        show_page(desk, user)

    def check_workspace_files(self, workspace: Workspace) -> KindFilesCheck:
        """Read every file of a suite in the workspace as the suite would."""
        from genaipa_suites.checking import check_suite_files

        return check_suite_files(workspace)

    def data_sets(self) -> dict[str, Dataset]:
        """Return the data set of every suite."""
        from genaipa_suites.datasets import make_datasets_of_suites

        return make_datasets_of_suites()


SUITE = _SuiteKind()
