"""The closing table of a run, and the next step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from genaipa.cli.progress import cached_share, dollars, on_run, tokens
from genaipa.cli.screen import number, print_json, printable, show, table

if TYPE_CHECKING:
    from genaipa.cli.planning import Job
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.tally import Count, Tally
    from genaipa.study import Outcome


def already_complete(job: Job, *, json: bool) -> int:
    """Say that there is nothing left to ask; the exit code."""
    assert job.folder is not None, "only a run that exists is complete"
    _, tally = job.folder.state()
    if json:
        print_json(_summary(job.folder, "complete", tally))
    else:
        print_tally(tally)
        show(f"{job.folder.name} is complete; nothing was asked. Look at it with: {on_run(job.folder, 'show')}")
    return 0


def print_closing(folder: RunFolder, outcome: Outcome, *, json: bool) -> None:
    """What came of a run, where it lies and what to do next."""
    if json:
        print_json({**_summary(folder, outcome.status, outcome.tally), "stopped": outcome.stopped})
        return
    print_tally(outcome.tally)
    show(f"Run folder: {folder.path}")
    for system, reason in outcome.stopped.items():
        show(f"{system} was asked no more: {printable(reason)}")
    if outcome.capped:
        show(f"Stopped by --max-cost: {outcome.capped}.")
    show(next_step(folder, outcome))


def next_step(folder: RunFolder, outcome: Outcome) -> str:
    """The sentence that a run ends with."""
    if outcome.status == "complete":
        return f"Complete. Read the answers: {on_run(folder, 'show')}"
    missing = sum(row.missing for row in outcome.tally.rows.values())
    lack = f"{number(missing, 'answer')} {'is' if missing == 1 else 'are'} missing."
    if outcome.status == "waiting":
        sheets = folder.path / "sheets"
        return f"{lack} Paste the messages in {sheets}, fill in the replies, then: {on_run(folder, 'collect')}"
    steps = sum(row.failed_steps for row in outcome.tally.rows.values())
    if steps:
        lack += f" {number(steps, 'summary or acknowledgement', 'summaries or acknowledgements')} failed before them."
    go_on = on_run(folder, "run", "--resume")
    if outcome.status == "capped":
        enough = _enough(outcome)
        return f"{lack} Go on with a higher cap (${enough:g} is a guess): {go_on} --max-cost {enough:g}"
    return f"{lack} Ask again: {go_on}"


def _enough(outcome: Outcome) -> float:
    """Dollars, to two figures, for which the whole run might be had: at the price of its answers so far, and more."""
    totals = outcome.tally.totals()
    kept = totals.answered + totals.refused + totals.truncated
    # The later questions of a growing conversation cost more, and money is set aside for the calls under way.
    expected = max(1.5 * (totals.cost or 0.0) * totals.planned / max(1, kept), 2 * outcome.needed)
    size = 10.0 ** (math.floor(math.log10(expected)) - 1)
    return math.ceil(expected / size) * size


def print_tally(tally: Tally) -> None:
    """One row for each system and initialization."""
    headers = ("system", "initialization", "planned", "answered", "refused", "cut off", "failed", "not asked")
    extra = ("tokens in", "cached", "out", "cost", "seconds")
    metered = any(row.usage.input for row in tally.rows.values())
    table(
        (*headers, *extra) if metered else (*headers, "seconds"),
        [_row(key, row, metered=metered) for key, row in tally.rows.items()],
        right=range(2, len(headers) + len(extra)),
    )


def _row(key: tuple[str, str], row: Count, *, metered: bool) -> tuple[object, ...]:
    counts = (row.planned, *(row.status[s] for s in ("answered", "refused", "truncated", "failed")))
    counts = (*counts, max(0, row.missing - row.status["failed"]))
    spent = (tokens(row.usage.input), cached_share(row), tokens(row.usage.output), dollars(row)) if metered else ()
    return (*key, *counts, *spent, f"{row.seconds:.1f}")


def _summary(folder: RunFolder, status: str, tally: Tally) -> dict[str, object]:
    rows = [
        {
            "system": system,
            "initialization": initialization,
            "planned": row.planned,
            **row.status,
            "missing": row.missing,
            "failed_steps": row.failed_steps,
            "usage": row.usage,
            "cost": row.cost if row.priced else None,
        }
        for (system, initialization), row in tally.rows.items()
    ]
    return {"run": folder.name, "folder": str(folder.path), "status": status, "rows": rows}
