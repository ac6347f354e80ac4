"""Measure how well AI assistants answer people's questions about privacy policies and data-protection law.

In a notebook, from an answer to a figure:

    import genaipa

    run = genaipa.run(["extractive", "gpt-6-luna"], "brindlecart", experiment="quality")
    run.to_frame()                                  # the answers
    genaipa.scores(run)                             # people's scores, once `genaipa score` was used
    genaipa.report(run, "out").figures["quality-metrics"].plot()

Every function takes a `workspace` (its folder); without one, it is found as the command line finds it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing typing would take ten times as long as all of this
if TYPE_CHECKING:
    from typing import Any

    from genaipa.datasets.base import pull
    from genaipa.errors import GenaipaError
    from genaipa.execution.notebook import judge, run, run_async
    from genaipa.execution.observer import Observer
    from genaipa.policies.adding import add_document
    from genaipa.policies.document import list_documents, load_document
    from genaipa.questions.sets import list_question_sets, load_question_set
    from genaipa.reports.comparison import compare
    from genaipa.reports.report import load_answers, report, scores
    from genaipa.runs.run import Run, list_runs, load_run
    from genaipa.scoring.notebook import import_scores, sample
    from genaipa.tasks.catalog import list_suites
    from genaipa.workspace import Workspace, find_workspace

__version__ = "0.1.0"
__all__ = [
    "GenaipaError",
    "Observer",
    "Run",
    "Workspace",
    "add_document",
    "compare",
    "find_workspace",
    "import_scores",
    "judge",
    "list_documents",
    "list_question_sets",
    "list_runs",
    "list_suites",
    "load_answers",
    "load_document",
    "load_question_set",
    "load_run",
    "pull",
    "report",
    "run",
    "run_async",
    "sample",
    "scores",
]

_HOMES = {
    "GenaipaError": "errors",
    "Observer": "execution.observer",
    "Run": "runs.run",
    "Workspace": "workspace",
    "add_document": "policies.adding",
    "compare": "reports.comparison",
    "find_workspace": "workspace",
    "import_scores": "scoring.notebook",
    "judge": "execution.notebook",
    "list_documents": "policies.document",
    "list_question_sets": "questions.sets",
    "list_runs": "runs.run",
    "list_suites": "tasks.catalog",
    "load_answers": "reports.report",
    "load_document": "policies.document",
    "load_question_set": "questions.sets",
    "load_run": "runs.run",
    "pull": "datasets.base",
    "report": "reports.report",
    "run": "execution.notebook",
    "run_async": "execution.notebook",
    "sample": "scoring.notebook",
    "scores": "reports.report",
}
"""Public name → the module that has it, imported when the name is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'genaipa' has no attribute '{name}'")
    from importlib import import_module

    try:
        value = getattr(import_module(f"genaipa.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        from genaipa.errors import MissingPackageError

        raise MissingPackageError(
            f"genaipa.{name} needs the package '{error.name}': pip install 'genaipa[reports]'"
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
