"""`genaipa judge`: have systems score answers in the role of a judge.

Exit codes as of `genaipa run`: 0 complete; 1 error; 2 usage; 3 partial, and resumable by the same command; 4 stopped by
the spending cap; 130 interrupted (resumable as well).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.commands import run_options as options
from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_json,
    print_to_stderr,
    queue_explanation,
    queue_next_steps,
    rewrite_options_as_flags,
    show,
    stdout_width,
)
from genaipa.cli.terminal.options import SELDOM, JsonOption, OfflineOption, current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, add_filter_options
from genaipa.errors import format_shell_command
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.judging import PreparedJudgeRuns
    from genaipa.execution.limits import RunLimits
    from genaipa.execution.run import RunOutcome
    from genaipa.judging.answers import JudgedAnswers
    from genaipa.runs.folder import RunFolder
    from genaipa.workspace import Workspace


_MOST_PASSES = 100

_Judge = Annotated[
    list[str] | None,
    option(
        "--judge",
        autocompletion=completion.systems,
        help="Judges, named like the systems of a run; separate several with commas.",
    ),
]
_Passes = Annotated[
    int,
    option(
        "--passes",
        help="How many times each answer is judged, each time in a different order.",
        min=1,
        max=_MOST_PASSES,
    ),
]
_Evidence = Annotated[
    bool, option("--evidence", help="Show the judge the citations, quotations and silence that rules detected.")
]
_OwnFamily = Annotated[
    bool, option("--own-family", help="Allow a judge from the same family as a system it judges.", panel=SELDOM)
]


@add_filter_options
def judge(
    run: RunsArgument = None,
    judge: _Judge = None,
    only: Filters = EVERYTHING,
    passes: _Passes = 1,
    evidence: _Evidence = False,
    own_family: _OwnFamily = False,
    max_tokens: options.MaxTokens = None,
    max_connections: options.MaxConnections = 10,
    max_retries: options.MaxRetries = 5,
    timeout: options.Timeout = 120.0,
    max_cost: options.MaxCost = None,
    batch: options.Batch = None,
    no_wait: options.NoWait = False,
    dry_run: options.DryRun = False,
    estimate: options.Estimate = False,
    yes: options.Yes = False,
    offline: OfflineOption = False,
    json: JsonOption = False,
) -> None:
    """Have models score answers as judges.

    Each judge scores each answer once per pass. The same command again asks only for missing verdicts. To measure how
    well a judge agrees with people: genaipa judges.
    """
    from genaipa.cli.commands.run import combine_batch_and_no_wait_options
    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution import judging
    from genaipa.execution.limits import RunLimits
    from genaipa.judging.plan import JudgeRequest

    workspace, observer = current_workspace(), TerminalObserver(yes=yes)
    request = JudgeRequest(split_names(run), split_names(judge), passes, evidence, own_family, only, max_tokens)
    with judging.hold_judging_lock(workspace):
        judges = judging.prepare_judge_runs(workspace, request, observer, offline=offline)
        if judges.had:
            print_to_stderr(f"Judgements that already exist: {judges.had:,} of {judges.wanted:,}.")
        if not judges.runs:
            _print_nothing_to_judge_and_means(workspace, judges, json=json)
        elif dry_run or estimate:
            _print_judging_preview(judges, show_messages=dry_run, json=json, in_batches=bool(batch))
        else:
            mode = combine_batch_and_no_wait_options(batch, *judges.runs, no_wait=no_wait)
            limits = RunLimits(max_connections, max_retries, timeout, max_cost, mode)
            raise typer.Exit(_run_judges(workspace, judges, limits, observer, json=json))


def _print_nothing_to_judge_and_means(workspace: Workspace, judges: PreparedJudgeRuns, *, json: bool) -> None:
    if json:
        print_json({"wanted": judges.wanted, "had": judges.had, "runs": []})
    else:
        lacking = judges.wanted - judges.had
        show(
            f"Nothing was asked: the missing judgements ({lacking:,}) belong to a run that was started earlier."
            if lacking
            else "There is nothing to judge: every answer already has a verdict."
        )
        _print_means_get_people_scored_and_tips(workspace, judges.answers)


def _print_judging_preview(judges: PreparedJudgeRuns, *, show_messages: bool, json: bool, in_batches: bool) -> None:
    from genaipa.cli.commands import run_summary

    run_summary.print_messages_or_estimate(*judges.runs, show_messages=show_messages, json=json, in_batches=in_batches)


def _run_judges(
    workspace: Workspace, judges: PreparedJudgeRuns, limits: RunLimits, observer: TerminalObserver, *, json: bool
) -> int:
    """Ask the judges, print the outcome and return the exit code."""
    import asyncio

    from genaipa.cli.commands.run import CAPPED, INTERRUPTED, PARTIAL
    from genaipa.cli.terminal.env_file import print_which_keys_came_from_env_file

    print_which_keys_came_from_env_file(dict.fromkeys(system.name for run in judges.runs for system in run.systems))
    try:
        done = asyncio.run(_ask_judges_interruptibly(judges, limits, observer))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_to_stderr("interrupted; all verdicts so far are kept. Continue with the same command.")
        return INTERRUPTED
    _print_judging_outcome(workspace, judges, done, json=json)
    statuses = {outcome.status for _, outcome in done}
    return CAPPED if "capped" in statuses else 0 if statuses == {"complete"} else PARTIAL


async def _ask_judges_interruptibly(
    judges: PreparedJudgeRuns, limits: RunLimits, observer: TerminalObserver
) -> list[tuple[RunFolder, RunOutcome]]:
    from genaipa.cli.terminal.process import cancel_busy_task_soon_after_interrupt
    from genaipa.execution.judging import carry_out_judge_runs

    with cancel_busy_task_soon_after_interrupt():
        return await carry_out_judge_runs(judges, limits, observer)


def _print_judging_outcome(
    workspace: Workspace,
    judges: PreparedJudgeRuns,
    folders_and_outcomes: list[tuple[RunFolder, RunOutcome]],
    *,
    json: bool,
) -> None:
    from genaipa.cli.commands.run_summary import iterate_cut_prompt_and_reasoning_notes, print_tally, summarize_run
    from genaipa.execution.judging import judges_served_as_several_models

    changed = judges_served_as_several_models(folders_and_outcomes)
    if json:
        runs: list[dict[str, Any]] = [
            {**summarize_run(folder, outcome.status, outcome.tally), "stopped": outcome.stopped}
            for folder, outcome in folders_and_outcomes
        ]
        print_json({"wanted": judges.wanted, "had": judges.had, "runs": runs, "several_models": changed})
        return
    for folder, outcome in folders_and_outcomes:
        print_tally(outcome.tally)
        show(f"Judge's run: {folder.name}")
        for system, reason in outcome.stopped.items():
            show(f"genaipa stopped asking {system}: {rewrite_options_as_flags(reason)}")
        for sentence in iterate_cut_prompt_and_reasoning_notes(outcome.tally):
            show(sentence)
        if outcome.capped:
            show(f"Stopped by --max-cost: {outcome.capped}.")
    for name, models in changed.items():
        show(f"{name} was served as {', '.join(models)}: these count as {len(models)} judges.")
    people, better = _print_means_get_people_scored_and_tips(workspace, judges.answers)
    unasked_runs = len(judges.runs) - len(folders_and_outcomes)
    if missing := sum(row.missing_count for _, outcome in folders_and_outcomes for row in outcome.tally.rows.values()):
        lack = f"{format_count(missing, 'verdict')} {'is' if missing == 1 else 'are'} missing"
        also = f", and {format_count(unasked_runs, 'further run')} not started" if unasked_runs else ""
        higher = " and a higher --max-cost" if any(outcome.capped for _, outcome in folders_and_outcomes) else ""
        show(f"{lack}{also}. Continue with the same command{higher}.")
    elif people:
        queue_next_steps("Agreement with people: genaipa judges", "Figures: genaipa report")
    else:
        queue_next_steps(
            "To check the judge, score some answers yourself: genaipa score", "Figures: genaipa report", *better
        )


def _print_means_get_people_scored_and_tips(workspace: Workspace, answers: JudgedAnswers) -> tuple[bool, list[str]]:
    """Print a line of each judge's means, by names and never by value, and its heat map where the terminal can.

    Return whether people scored some of the same answers, and the command that compares the systems, where one judge
    scored two.
    """
    from genaipa.judging.verdict import average_verdicts_by_judge
    from genaipa.systems.provider import shorten_system_names

    queue_explanation(
        "A judge alone gives no estimate: its error is unknown until people have scored some of the answers. "
        "Its M_all (10 to 100) is averaged for each question over documents and passes, and then over questions.",
        "Verdicts are stored separately from people's scores and are not part of any average. Once people "
        "have scored 30 of "
        "the judged answers, genaipa judges shows how well the judge agrees with them.",
        hint_if_hidden="What the numbers mean: --explain",
    )
    results = average_verdicts_by_judge(workspace, answers)
    names = shorten_system_names(sorted({system for result in results for system in result.means}))
    for result in results:
        who = "Judge" if len(results) == 1 else f"Judge {result.judge}"
        means = ", ".join(f"{names[system]} {mean:.0f}" for system, mean in result.means.items())
        if result.scored_by_people:
            show(f"{who}: {means} (M_all); people also scored {result.scored_by_people:,} of these answers")
        else:
            show(f"{who} alone, no estimate: {means} (M_all)")
        for line in format_heat_map_lines_if_terminal(
            result.cells, answers.category_by_question, {system: names[system] for system in result.means}
        ):
            show(line, no_wrap=True)
    people = any(result.scored_by_people for result in results)
    match [list(result.means) for result in results]:
        case [[first, second]]:
            command = format_shell_command("genaipa", "compare", first, second, "--judge", results[0].judge)
            return people, [f"To compare the two: {command}"]
        case _:
            return people, []


_SHADES = "░▒▓█"
_NONE = "·"
_LONGEST_NAME = 24


def format_heat_map_lines_if_terminal(
    scores_by_system_and_question: Mapping[tuple[str, str], float],
    category_by_question: Mapping[str, str],
    short_name_by_system: Mapping[str, str],
) -> list[str]:
    """Draw the lines of a heat map of values from 10 to 100 by system and question; none if it can't be shown.

    `category_by_question` (question → category) has the questions in their order, `short_name_by_system` the systems'
    in that of the lines. A pipe, and a terminal that has no such signs, get nothing.
    """
    room = stdout_width() if sys.stdout.isatty() else None
    if room is None or not scores_by_system_and_question or not _can_print_shades():
        return []
    asked_questions = {question for _, question in scores_by_system_and_question}
    groups: dict[str, list[str]] = {}
    for question in (
        candidate
        for candidate in (*category_by_question, *sorted(asked_questions - category_by_question.keys()))
        if candidate in asked_questions
    ):
        groups.setdefault(category_by_question.get(question, ""), []).append(question)
    aside = min(_LONGEST_NAME, max(map(len, short_name_by_system.values())))
    lines: list[str] = []
    for row_categories in _split_categories_into_rows(groups, room - aside - 3):
        broad = [max(len(groups[name]), len(name)) for name in row_categories]
        lines.append(
            " " * (aside + 3) + " ".join(f"{name:{size}}" for name, size in zip(row_categories, broad, strict=True))
        )
        for system, name in short_name_by_system.items():
            blocks = (
                "".join(
                    _shade_character_for_score(scores_by_system_and_question.get((system, candidate)))
                    for candidate in groups[category]
                )
                for category in row_categories
            )
            row = " ".join(f"{block:{size}}" for block, size in zip(blocks, broad, strict=True))
            lines.append(f" {name[:aside]:{aside}}  {row}".rstrip())
    return [*lines, f" low {_SHADES} high; each column is a question"]


def _shade_character_for_score(score: float | None) -> str:
    if score is None:
        return _NONE
    from genaipa.scoring.rubric import M_ALL_RANGE, M_ALL_WIDTH

    index = int((score - M_ALL_RANGE[0]) / M_ALL_WIDTH * len(_SHADES))
    return _SHADES[max(0, min(index, len(_SHADES) - 1))]


def _split_categories_into_rows(
    questions_by_category: Mapping[str, Sequence[str]], max_width: int
) -> Iterator[list[str]]:
    """Split the categories into rows of at most that width."""
    row: list[str] = []
    used_width = 0
    for name, questions in questions_by_category.items():
        size = max(len(questions), len(name)) + 1
        if row and used_width + size > max_width:
            yield row
            row, used_width = [], 0
        row.append(name)
        used_width += size
    if row:
        yield row


def _can_print_shades() -> bool:
    try:
        (_SHADES + _NONE).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
