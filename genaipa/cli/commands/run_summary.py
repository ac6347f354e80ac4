"""The closing table of a run, and the next step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import caveat, print_json, show, width
from genaipa.cli.terminal.fitting import whole
from genaipa.cli.terminal.progress import on_run
from genaipa.cli.terminal.tally import ENDED, clock, fit
from genaipa.errors import NOT_RECORDED, GenaipaError
from genaipa.kinds import Closing, kind_of
from genaipa.plugins import load
from genaipa.systems.provider import asked_by, find_provider, short_names
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.run import Outcome
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.tally import Tally
    from genaipa.workspace import Workspace

_WIDEST = 500
_MINUTE = 60.0


def already_complete(run: PreparedRun, *, json: bool) -> int:
    """Say that there is nothing left to ask; the exit code."""
    assert run.folder is not None, "only a run that exists is complete"
    _, tally = run.folder.progress()
    if json:
        print_json({**summary(run.folder, "complete", tally), **_own(run.workspace, run.folder).facts})
    else:
        print_tally(tally)
        _print_scores(run.workspace, run.folder, tally)
        missing = sum(row.missing for row in tally.rows.values())
        look = _others(missing) if missing else f"Look at it with: {on_run(run.folder, 'show')}"
        show(f"{'This part of ' if missing else ''}{run.folder.name} is complete; nothing was asked. {look}")
    return 0


def print_closing(run: PreparedRun, outcome: Outcome, *, json: bool, again: Sequence[str] = ()) -> None:
    """Print the outcome of a run, its folder and the next command, which needs `again` these options of it."""
    folder = run.open()
    if json:
        facts = {**summary(folder, outcome.status, outcome.tally), **_own(run.workspace, folder).facts}
        print_json({**facts, "stopped": outcome.stopped, "elapsed": outcome.elapsed})
        return
    print_tally(outcome.tally)
    _print_scores(run.workspace, folder, outcome.tally)
    if outcome.elapsed is not None:
        took = f"{outcome.elapsed:.1f} s" if outcome.elapsed < _MINUTE else clock(outcome.elapsed)
        caveat(f"Took {took}{_side_by_side(outcome)}.")
    show(f"Run folder: {whole(folder.path)}")
    for system, reason in outcome.stopped.items():
        show(f"{system} was asked no more: {reason}")
    for sentence in _served_otherwise(folder):
        show(sentence)
    if outcome.capped:
        show(f"Stopped by --max-cost: {outcome.capped}.")
    caveat(next_step(folder, outcome, again))


def _print_scores(workspace: Workspace, folder: RunFolder, tally: Tally) -> None:
    """The mean score of each system, or what its kind of task says."""
    if found := _own(workspace, folder).lines:
        for line in found:
            show(line)
        return
    for system, scores in tally.scores.items():
        mean = sum(scores.values()) / len(scores)
        show(f"{system}: scored {mean:.3f} on average over {number(len(scores), 'answer')}.")


def _own(workspace: Workspace, folder: RunFolder) -> Closing:
    """Lines and facts of the run's kind of task; none if its data can't be read."""
    closing = kind_of(folder.outline().spec.kind).closing
    try:
        return load(closing)(workspace, folder) if closing else Closing()
    except GenaipaError:
        return Closing()


def _side_by_side(outcome: Outcome) -> str:
    """Why the time of all calls is more than it took, where that is so: earlier sittings' calls are in it, too."""
    more = outcome.elapsed is not None and outcome.tally.totals().seconds > outcome.elapsed
    return "; call time is the sum of all calls, earlier ones and those side by side included" if more else ""


def _served_otherwise(folder: RunFolder) -> Iterator[str]:
    """A sentence on each system that was served by another model than it was asked for."""
    for name, facts in folder.outline().systems.items():
        record, model = find_provider(asked_by(facts.model)), facts.model.rpartition("/")[2]
        others = [one for one in facts.served if model not in one.rpartition("/")[2]]
        if record is not None and record.is_remote and others:
            yield f"{short_names([name])[name]} was served by {', '.join(others)}, which is not the model asked for."


def next_step(folder: RunFolder, outcome: Outcome, again: Sequence[str] = ()) -> str:
    """The sentence that a run ends with."""
    from genaipa.runs.batches import batches_out, out_sentence

    missing = sum(row.missing for row in outcome.tally.rows.values())
    if outcome.status == "complete":
        report = f"\nAll figures: {on_run(folder, 'report')}" if kind_of(folder.outline().spec.kind).results else ""
        whole_run = f"Complete. Read the answers: {on_run(folder, 'show')}{report}"
        return f"This part is complete. {_others(missing)}" if missing else whole_run
    lack = f"{number(missing, 'answer')} {'is' if missing == 1 else 'are'} missing."
    out = list(batches_out(folder.path))
    go_on = on_run(folder, "run", *again, "--resume")
    if out:
        return f"{lack} {out_sentence(out)}; collect with: {go_on}"
    if outcome.status == "waiting":
        sheets = whole(folder.path / "sheets")
        return f"{lack} Paste the messages in {sheets}, fill in the replies, then: {on_run(folder, 'collect')}"
    steps = sum(row.failed_steps for row in outcome.tally.rows.values())
    if steps:
        lack += f" {number(steps, 'summary or acknowledgement', 'summaries or acknowledgements')} failed before them."
    return f"{lack} {_ask_again(folder, outcome, go_on)}"


def _ask_again(folder: RunFolder, outcome: Outcome, go_on: str) -> str:
    """A sentence on how to come by answers that are missing; `go_on` is the command that asks for them."""
    if outcome.status == "capped":
        enough = _enough(outcome)
        return f"Go on with a higher cap (${enough:g} is a guess): {go_on} --max-cost {enough:g}"
    if not outcome.stopped and folder.is_held():
        return (
            "Another process is at work on this run, and has what was left out here; how far it is: genaipa runs. "
            f"Once it has ended, if answers are missing then: {go_on}"
        )
    if outcome.status == "partial" and not outcome.stopped and _never_recorded(folder):
        why = "Asking again can't help: the recording lacks them, or what leads to them."
        return f"{why} Why: {on_run(folder, 'show')}"
    return f"Ask again: {go_on}"


def _others(missing: int) -> str:
    """A sentence on the answers that other parts of the shards are to bring."""
    return f"Of the other parts of the shards {number(missing, 'answer')} are to come; how far they are: genaipa runs"


def _never_recorded(folder: RunFolder) -> bool:
    """Tell whether every failure is that a recording lacks the answer."""
    found = False
    # A shard at a time: all keys of a large run don't fit into memory.
    for _, part in folder.parts():
        if part.is_complete():
            continue
        tally, offsets = part.seen()
        failed = part.records_at([offsets[key] for key, status in tally.statuses.items() if status == "failed"])
        if not all(record.error and record.error.kind == NOT_RECORDED for record in failed):
            return False
        found = found or bool(failed)
    return found


def _enough(outcome: Outcome) -> float:
    """Dollars, to two figures, for which the whole run might be had: at the price of its answers so far, and more."""
    totals = outcome.tally.totals()
    kept = totals.answered + totals.refused + totals.truncated
    # The later questions of a growing conversation cost more, and money is set aside for the calls under way.
    expected = max(1.5 * (totals.cost or 0.0) * totals.planned / max(1, kept), 2 * outcome.needed)
    size = 10.0 ** (math.floor(math.log10(expected)) - 1)
    return math.ceil(expected / size) * size


def print_tally(tally: Tally) -> None:
    """A row for each system and initialization, and one for all; columns of zeros are left out."""
    from rich.console import Console

    fitted = fit(tally, ENDED, width())
    Console(highlight=False, width=_WIDEST).print(fitted.table)
    if fitted.dropped:
        show(f"No room for: {', '.join(fitted.dropped)}; a wider terminal and --json show them.")


def summary(folder: RunFolder, status: str, tally: Tally) -> dict[str, object]:
    """The outcome of a run for machines."""
    rows = [
        {
            "system": system,
            "initialization": initialization,
            "planned": row.planned,
            **row.status,
            "missing": row.missing,
            "failed_steps": row.failed_steps,
            "prompt_cut": row.prompt_cut,
            "usage": row.usage,
            "cost": row.cost if row.priced else None,
            "call_seconds": round(row.seconds, 3),
        }
        for (system, initialization), row in tally.rows.items()
    ]
    facts = {"run": folder.name, "folder": str(folder.path), "status": status, "rows": rows}
    scores = {system: round(sum(found.values()) / len(found), 6) for system, found in tally.scores.items()}
    return facts | ({"scores": scores} if scores else {})
