"""`genaipa demo`: the whole procedure on the shipped policy with the built-in baseline; needs nothing."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import typer

from genaipa.cli.console import say
from genaipa.cli.options import current_workspace

if TYPE_CHECKING:
    from genaipa.workspace import Workspace

POLICY = "brindlecart"
SYSTEM = "extractive"
NAME = "demo"
REPORT = "reports/demo"


def demo() -> None:
    """Run a whole study in a minute, without a key or a network.

    A fictional company's policy, all four initializations, the extractive baseline; the reference analyst's scores of
    the answers from the document, so that the desk has something in it; and the report of these.
    """
    from genaipa.cli.progress import TerminalObserver
    from genaipa.cli.run import carry_out
    from genaipa.execution.engine import RunLimits
    from genaipa.execution.request import RunRequest, prepare

    here = current_workspace()
    say(f"The same as: genaipa run --system {SYSTEM} --policy {POLICY}")
    observer = TerminalObserver(yes=True)
    run = prepare(here, RunRequest((SYSTEM,), (POLICY,), name=NAME, offline=True), observer)
    code = carry_out(run, RunLimits(), observer, json=False)
    _bring_scores(here)
    if run.folder is not None:
        _report(here, run.folder.name)
    raise typer.Exit(code)


def _bring_scores(workspace: Workspace) -> None:
    """Put the reference analyst's scores of the demo's answers into the workspace's store, once."""
    from genaipa.workspace import shipped

    if importlib.util.find_spec("sqlalchemy") is None:
        say("To score the answers in the browser: pip install 'genaipa[desk]', then genaipa demo once more.")
        return
    from genaipa.scoring.exchange.importing import import_from
    from genaipa.scoring.people import People
    from genaipa.scoring.store import Store, database_url

    store = Store.open(database_url(workspace))
    file = shipped() / "scores" / f"{POLICY}.jsonl"
    try:
        brought = import_from(store, [file], (), People(), unknown_answers=True)
    finally:
        store.close()
    say(
        f"The reference analyst's {brought.added + brought.known} scores of the answers from the document are in "
        f"{store.name}. Open the desk and score some yourself: genaipa score {NAME}"
    )


def _report(workspace: Workspace, run: str) -> None:
    from genaipa.reports import PACKAGES

    if any(importlib.util.find_spec(name) is None for name in PACKAGES):
        say("For the figures and tables: pip install 'genaipa[reports]', then genaipa demo once more.")
        return
    from genaipa.cli.report import print_summary
    from genaipa.reports.report import report

    say(f"The same as: genaipa report {run} --formats svg -o {REPORT}")
    made = report(run, workspace=workspace)
    # A picture in each of the three formats takes three times as long.
    print_summary(made, made.write(workspace.home / REPORT, formats=("svg",)))
