"""`genaipa demo`: a whole small study on the shipped policy, made up where it would take a model; needs nothing."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_table,
    print_to_stderr,
    queue_explanation,
    queue_next_steps,
    show,
    stderr_console,
)
from genaipa.cli.terminal.fitting import mark_unbreakable
from genaipa.cli.terminal.options import current_workspace
from genaipa.errors import format_shell_command
from genaipa.workspace import workspace_option_if_needed

if TYPE_CHECKING:
    from genaipa.reports.report import Report
    from genaipa.runs.folder import RunFolder
    from genaipa.workspace import Workspace

POLICY = "brindlecart"
SYSTEMS = ("extractive", "careful", "breezy", "pensive@none", "pensive@low", "pensive@high")
SCORES = [Path(__file__).parent / "demo_scores" / f"{name}.jsonl" for name in (POLICY, "made-up")]
"""Of the reference analyst, and of a made-up analyst and judge."""
NAME = "demo"
REPORT = "reports/demo"
_MADE_UP = (
    "Made up: company and policy, the assistants careful, breezy and pensive with its cost, the judge "
    "made-up-judge and "
    "the analyst made-up."
)


def demo() -> None:
    """Run a whole study without an API key.

    The study has the policy of a fictional company, 32 questions, and six systems: the extractive baseline, two
    made-up assistants, and a third at three levels of effort. The reference analyst and a made-up judge scored all
    answers, a made-up analyst some of them.
    """
    workspace = current_workspace()
    with stderr_console().status("asking six systems, importing scores, drawing figures"):
        folder = _ask_demo_systems(workspace)
        _import_shipped_scores(workspace)
        report = _write_demo_report(workspace, folder.name)
    if report is not None:
        _print_leaderboard_and_sure_differences(report)
        _queue_demo_explanation(report)
        queue_next_steps(f"Report: {mark_unbreakable(workspace.home / REPORT / 'index.html')}", even_if_quiet=True)
    print_caveat_unless_quiet(_MADE_UP)
    queue_next_steps(
        f"Next: {format_shell_command('genaipa', 'score', NAME, *workspace_option_if_needed(workspace.home))}"
    )


def _ask_demo_systems(workspace: Workspace) -> RunFolder:
    """Ask the systems, or take the run that was made before."""
    import asyncio

    from genaipa.execution.limits import RunLimits
    from genaipa.execution.prepare import prepare_run
    from genaipa.execution.run import carry_out_run
    from genaipa.tasks.request import RunRequest

    request = RunRequest(SYSTEMS, (POLICY,), plan={"experiment": "quality"}, name=NAME, offline=True)
    prepared = prepare_run(workspace, request)
    if not prepared.is_complete:
        asyncio.run(carry_out_run(prepared, RunLimits()))
    return prepared.open_or_create_folder()


def _import_shipped_scores(workspace: Workspace) -> None:
    """Put the shipped scores into the workspace's store, once."""
    if importlib.util.find_spec("sqlalchemy") is None:
        print_to_stderr("To score answers in the browser: pip install 'genaipa[desk]', then run genaipa demo again.")
        return
    from genaipa.runs.authors import AnswerAuthors
    from genaipa.scoring.importing import import_scores_or_return_problems
    from genaipa.scoring.people import People
    from genaipa.scoring.store import ScoreStore, database_url

    store = ScoreStore.open_or_create(database_url(workspace))
    try:
        brought = import_scores_or_return_problems(store, SCORES, (), People(), AnswerAuthors(()), unknown_answers=True)
    finally:
        store.close()
    for problem in brought.problems:
        print_to_stderr(problem)


def _write_demo_report(workspace: Workspace, run_name: str) -> Report | None:
    """Write the report; None if packages for that are missing."""
    from genaipa.reports import PACKAGES

    if any(importlib.util.find_spec(name) is None for name in PACKAGES):
        print_to_stderr("For the figures and tables: pip install 'genaipa[reports]', then run genaipa demo again.")
        return None
    from genaipa.reports.report import report

    result = report(run_name, workspace=workspace)
    # A picture in each of the three formats takes three times as long.
    result.write(workspace.home / REPORT, formats=("svg",))
    return result


def _print_leaderboard_and_sure_differences(report: Report) -> None:
    """Print the leaderboard, and how sure the order of neighbours in it is."""
    ranked, pairs = (report.tables[name].data for name in ("leaderboard", "system-differences"))
    show("Leaderboard (M_all, 10 to 100; 95% interval for this document)")
    rows = [
        (f"{row.rank:.0f}", row.system, f"{row.m_all:.1f}", f"{row.low:.1f} to {row.high:.1f}", f"{row.answers}")
        for row in ranked.itertuples()
    ]
    print_table(("place", "system", "M_all", "interval", "scored"), rows, right_aligned_columns=(0, 2, 3, 4))
    order = list(ranked["system"])
    rows_by_pair = {(row["first"], row["second"]): row for row in pairs.to_dict("records")}
    neighbours = [rows_by_pair[pair] for pair in pairwise(order)]
    sure = [
        f"{row['first']} beats {row['second']} ({row['difference']:+.1f})"
        for row in neighbours
        if row["p_holm"] < row["level"]
    ]
    caveats = ["other neighbours may differ by chance"] if len(sure) < len(neighbours) else []
    show(f"One document says nothing about other policies. {'; '.join([*sure, *caveats])}.")


def _queue_demo_explanation(report: Report) -> None:
    """Keep the commands that do the same, and the leaderboard's note."""
    files = " ".join(map(str, SCORES))
    run = f"genaipa run --system {','.join(SYSTEMS)} --policy {POLICY} --experiment quality --name {NAME}"
    queue_explanation(
        f"The same as: {run}; genaipa scores import {files}; genaipa report {NAME} --formats svg -o {REPORT}",
        "The answers of extractive, which quotes the policy, and the scores of the reference analyst are real.",
        report.tables["leaderboard"].note,
        hint_if_hidden="What the numbers mean: --explain",
    )
