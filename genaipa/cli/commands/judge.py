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
from genaipa.cli.terminal.console import explain, follow, print_json, say, show, width, write_flags
from genaipa.cli.terminal.options import SELDOM, JsonOption, OfflineOption, current_workspace, option, several
from genaipa.cli.terminal.selection import RunsArgument, filtered
from genaipa.errors import command
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution.judging import PreparedJudges
    from genaipa.execution.limits import RunLimits
    from genaipa.execution.run import RunOutcome
    from genaipa.judging.answers import JudgedAnswers
    from genaipa.runs.folder import RunFolder
    from genaipa.workspace import Workspace


_MOST_PASSES = 100

_Judge = Annotated[
    list[str] | None,
    option(
        "--judge", autocompletion=completion.systems, help="Judges: systems as for run; several by commas or repeats."
    ),
]
_Passes = Annotated[
    int, option("--passes", help="Times that each answer is judged, in other orders.", min=1, max=_MOST_PASSES)
]
_Evidence = Annotated[
    bool, option("--evidence", help="Show the judge what rules found: citations, quotations, silence.")
]
_OwnFamily = Annotated[
    bool, option("--own-family", help="Allow a judge of the family of a system that it judges.", panel=SELDOM)
]


@filtered
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
    """Have models score answers; judges measures how well.

    Each answer is judged once by each judge and pass. The same command again asks only the missing verdicts.
    """
    from genaipa.cli.commands.run import batching
    from genaipa.cli.terminal.progress import TerminalObserver
    from genaipa.execution import judging
    from genaipa.execution.limits import RunLimits
    from genaipa.judging.plan import JudgeRequest

    here, observer = current_workspace(), TerminalObserver(yes=yes)
    request = JudgeRequest(several(run), several(judge), passes, evidence, own_family, only, max_tokens)
    with judging.alone(here):
        judges = judging.prepare_judges(here, request, observer, offline=offline)
        if judges.had:
            say(f"{number(judges.had, 'judgement')} of {judges.wanted:,} are there already.")
        if not judges.runs:
            _nothing_to_do(here, judges, json=json)
        elif dry_run or estimate:
            _preview(judges, messages=dry_run, json=json, batch=bool(batch))
        else:
            how = batching(batch, *judges.runs, no_wait=no_wait)
            limits = RunLimits(max_connections, max_retries, timeout, max_cost, how)
            raise typer.Exit(_carry_out(here, judges, limits, observer, json=json))


def _nothing_to_do(here: Workspace, judges: PreparedJudges, *, json: bool) -> None:
    if json:
        print_json({"wanted": judges.wanted, "had": judges.had, "runs": []})
    else:
        lacking = judges.wanted - judges.had
        show(
            f"Nothing was asked: what is missing, {number(lacking, 'judgement')}, is of a run that was begun before."
            if lacking
            else "There is nothing to judge: every answer has its verdict."
        )
        _print_alone(here, judges.answers)


def _preview(judges: PreparedJudges, *, messages: bool, json: bool, batch: bool) -> None:
    from genaipa.cli.commands import run_summary

    run_summary.print_preview(*judges.runs, messages=messages, json=json, batch=batch)


def _carry_out(
    here: Workspace, judges: PreparedJudges, limits: RunLimits, observer: TerminalObserver, *, json: bool
) -> int:
    """Ask the judges and print the outcome; the exit code."""
    import asyncio

    from genaipa.cli.commands.run import CAPPED, INTERRUPTED, PARTIAL
    from genaipa.cli.terminal.env_file import print_origins

    print_origins(dict.fromkeys(system.name for run in judges.runs for system in run.systems))
    try:
        done = asyncio.run(_promptly(judges, limits, observer))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("interrupted; every verdict that came is kept. Go on with the same command.")
        return INTERRUPTED
    _print_closing(here, judges, done, json=json)
    statuses = {outcome.status for _, outcome in done}
    return CAPPED if "capped" in statuses else 0 if statuses == {"complete"} else PARTIAL


async def _promptly(
    judges: PreparedJudges, limits: RunLimits, observer: TerminalObserver
) -> list[tuple[RunFolder, RunOutcome]]:
    from genaipa.cli.terminal.process import promptly
    from genaipa.execution.judging import ask_judges

    with promptly():
        return await ask_judges(judges, limits, observer)


def _print_closing(
    here: Workspace, judges: PreparedJudges, done: list[tuple[RunFolder, RunOutcome]], *, json: bool
) -> None:
    from genaipa.cli.commands.run_summary import about_servers, print_tally, summary
    from genaipa.execution.judging import changed_models

    changed = changed_models(done)
    if json:
        runs: list[dict[str, Any]] = [
            {**summary(folder, outcome.status, outcome.tally), "stopped": outcome.stopped} for folder, outcome in done
        ]
        print_json({"wanted": judges.wanted, "had": judges.had, "runs": runs, "several_models": changed})
        return
    for folder, outcome in done:
        print_tally(outcome.tally)
        show(f"Judge's run: {folder.name}")
        for system, reason in outcome.stopped.items():
            show(f"{system} was asked no more: {write_flags(reason)}")
        for sentence in about_servers(outcome.tally):
            show(sentence)
        if outcome.capped:
            show(f"Stopped by --max-cost: {outcome.capped}.")
    for name, models in changed.items():
        show(f"{name} was served as {', '.join(models)}: these count as {len(models)} judges.")
    people, better = _print_alone(here, judges.answers)
    rest = len(judges.runs) - len(done)
    if missing := sum(row.missing for _, outcome in done for row in outcome.tally.rows.values()):
        lack = f"{number(missing, 'verdict')} {'is' if missing == 1 else 'are'} missing"
        also = f", and {number(rest, 'further run')} not begun" if rest else ""
        higher = " and a higher --max-cost" if any(outcome.capped for _, outcome in done) else ""
        show(f"{lack}{also}. Go on with the same command{higher}.")
    elif people:
        follow("How far it agrees with them: genaipa judges", "Pictures: genaipa report")
    else:
        follow("To rely on it, score some yourself: genaipa score", "Pictures: genaipa report", *better)


def _print_alone(here: Workspace, answers: JudgedAnswers) -> tuple[bool, list[str]]:
    """Print a line of each judge's means, by names and never by value, and its heat map where the terminal can.

    Return whether people scored some of the same answers, and the command that compares the systems, where one judge
    scored two.
    """
    from genaipa.judging.verdict import alone
    from genaipa.systems.provider import shorten_names

    explain(
        "A judge alone is no estimate: nobody knows how far it is off before people have scored some of the answers. "
        "Its M_all (10 to 100) is averaged by question, over documents and passes, and then over questions.",
        "Verdicts are in the store, apart from people's scores, and in no average. What a judge is worth, once people "
        "have scored 30 of its answers: genaipa judges.",
        hint="What the numbers mean: --explain",
    )
    found = alone(here, answers)
    names = shorten_names(sorted({system for one in found for system in one.means}))
    for one in found:
        who = "Judge" if len(found) == 1 else f"Judge {one.judge}"
        means = ", ".join(f"{names[system]} {mean:.0f}" for system, mean in one.means.items())
        if one.scored_by_people:
            show(f"{who}: {means} (M_all); people scored {one.scored_by_people:,} of the same answers, too")
        else:
            show(f"{who} alone, no estimate: {means} (M_all)")
        for line in heat_map(one.cells, answers.categories, {system: names[system] for system in one.means}):
            show(line, exact=True)
    people = any(one.scored_by_people for one in found)
    match [list(one.means) for one in found]:
        case [[first, second]]:
            return people, [
                f"Which is better: {command('genaipa', 'compare', first, second, '--judge', found[0].judge)}"
            ]
        case _:
            return people, []


_SHADES = "░▒▓█"
_NONE = "·"
_LONGEST_NAME = 24


def heat_map(
    cells: Mapping[tuple[str, str], float], categories: Mapping[str, str], names: Mapping[str, str]
) -> list[str]:
    """The lines of a heat map of values from 10 to 100 by system and question; none if it can't be shown.

    `categories` (question → category) has the questions in their order, `names` the systems' in that of the lines. A
    pipe, and a terminal that has no such signs, get nothing.
    """
    room = width() if sys.stdout.isatty() else None
    if room is None or not cells or not _has_signs():
        return []
    asked = {question for _, question in cells}
    groups: dict[str, list[str]] = {}
    for question in (one for one in (*categories, *sorted(asked - categories.keys())) if one in asked):
        groups.setdefault(categories.get(question, ""), []).append(question)
    aside = min(_LONGEST_NAME, max(map(len, names.values())))
    lines: list[str] = []
    for some in _fitting(groups, room - aside - 3):
        broad = [max(len(groups[name]), len(name)) for name in some]
        lines.append(" " * (aside + 3) + " ".join(f"{name:{size}}" for name, size in zip(some, broad, strict=True)))
        for system, name in names.items():
            blocks = ("".join(_block(cells.get((system, one))) for one in groups[category]) for category in some)
            row = " ".join(f"{block:{size}}" for block, size in zip(blocks, broad, strict=True))
            lines.append(f" {name[:aside]:{aside}}  {row}".rstrip())
    return [*lines, f" low {_SHADES} high; a column is a question"]


def _block(value: float | None) -> str:
    if value is None:
        return _NONE
    from genaipa.scoring.rubric import M_ALL_RANGE, M_ALL_WIDTH

    place = int((value - M_ALL_RANGE[0]) / M_ALL_WIDTH * len(_SHADES))
    return _SHADES[max(0, min(place, len(_SHADES) - 1))]


def _fitting(groups: Mapping[str, Sequence[str]], room: int) -> Iterator[list[str]]:
    """The categories in rows of at most that width."""
    row: list[str] = []
    taken = 0
    for name, questions in groups.items():
        size = max(len(questions), len(name)) + 1
        if row and taken + size > room:
            yield row
            row, taken = [], 0
        row.append(name)
        taken += size
    if row:
        yield row


def _has_signs() -> bool:
    try:
        (_SHADES + _NONE).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
