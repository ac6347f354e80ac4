"""`genaipa drift`: whether a system that is asked the same on several days answers otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import caveat, explain, print_json, show, show_table, suggest_next
from genaipa.cli.terminal.options import ForceOption, GateOption, JsonOption, current_workspace, open_output, option
from genaipa.cli.terminal.selection import tell_losses
from genaipa.errors import UsageError, clipped, command
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.reports.gate import Loss
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Occasion

_SHOWN = ["measure", "n", "first", "now", "difference", "low", "high", "p_holm", "meaning"]
"""Columns on the terminal, of each measure's latest occasion; files have all."""


def drift(
    system: Annotated[str, typer.Argument(autocompletion=completion.runs_and_systems, help="The system.")],
    gate: GateOption = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="Write all to a .csv or .tex file.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show what changed since the first day.

    An occasion is a complete run of the same plan on another day: the same documents, questions and prompts. The tests
    of all measures and occasions are one family; the gate goes by M_all alone.
    """
    from genaipa.answers.gather import gather_scored
    from genaipa.reports import render
    from genaipa.reports.gate import LOST
    from genaipa.runs.selection import occasions, sources_of
    from genaipa_watch.over_time import find_judged_again, find_loss, tabulate_changes

    if output is not None and output.suffix not in render.FORMS:
        raise UsageError(f"'{clipped(output.name)}' has to end in {', '.join(render.FORMS)}.")
    here = current_workspace()
    sources = sources_of(here, system)
    tell_losses(here, [source.folder for source in sources])
    found = occasions(sources)
    if not found:
        # No fault: the first of many days, on which a job that is to go on asks as well.
        if json:
            print_json({"system": system, "occasions": [], "lost": 0.0, "failed": False, "rows": []})
            return
        show(f"{clipped(system)} was not asked the same on two days yet: nothing to compare.")
        suggest_next("Next, on another day: the same run again, with --new")
        return
    if len(found) > 1:
        raise UsageError(f"'{clipped(system)}' is several systems: {', '.join(sorted(found))}; name one of them.")
    ((name, days),) = found.items()
    study = gather_scored(here, [one for one in sources if name in one.systems])
    every = tabulate_changes(study.join_facts(), found, find_judged_again(study), study.languages)
    lost = find_loss(every)
    failed = lost.fails(gate)
    if output is not None:
        with open_output(output, force=force) as file:
            file.write(render.FORMS[output.suffix](every).encode())
    if json:
        facts = {"system": name, "occasions": [one.day for one in days], "lost": lost.points, "failed": failed}
        print_json({**facts, "by": lost.by, "scored": lost.day, "note": every.note, "rows": render.as_rows(every)})
    else:
        _print(name, days, every, lost, gated=gate is not None)
        explain(*study.problems)
        if output is not None:
            show(f"{output}: every occasion")
        else:
            suggest_next(f"Next: {command('genaipa', 'report' if lost.by else 'score', name)}")
    if failed:
        raise typer.Exit(LOST)


def _print(system: str, days: list[Occasion], every: Table, lost: Loss, *, gated: bool) -> None:
    """Print each measure's latest change, and what is lacking to tell quality."""
    from dataclasses import replace

    from genaipa.reports.significance import OTHER_PEOPLE

    served = " then ".join(dict.fromkeys(one for one in every.data["served"] if one))
    changed = f", served by {served}" if " then " in served else ""
    show(f"{system}: {days[-1].day} against {days[0].day}, {number(len(days), 'occasion')}{changed}")
    latest = every.data.groupby("measure", sort=False).tail(1).reset_index(drop=True)
    dated = ["occasion"] if latest["occasion"].nunique() > 1 else []
    show_table(replace(every, data=latest[[*_SHOWN[:1], *dated, *_SHOWN[1:]]]))
    others = {*every.data.loc[every.data["meaning"] == OTHER_PEOPLE, "occasion"]}
    if not lost.by:
        few = {"M_all", "M_all (judge)"} & {*every.data["measure"]}
        why = "Too few questions are scored on two days" if few else "Nobody scored answers of two days"
        why = "Other people scored the first day than the later ones" if others else why
        caveat(f"{why}, so that quality is not compared{', and the gate lets it pass' if gated else ''}.")
    elif lost.day != days[-1].day:
        other = "was scored by other people than the first" if days[-1].day in others else "is not"
        caveat(f"Quality is of {lost.day}, the latest occasion that is scored: {days[-1].day} {other}.")
    watched = latest[(latest["measure"] == lost.by) & (latest["meaning"] != "lower")]
    if lost.points and len(watched):
        caveat(
            f"{lost.by} alone, which the gate goes by, is lower by {lost.points:.1f} points: chance among all of these "
            "tests, and more than chance among those of its own occasions."
        )
    moved = latest[(latest["measure"] == "judge again") & latest["meaning"].isin(["higher", "lower"])]
    for row in moved.to_dict("records"):
        caveat(f"The judge itself scores {abs(row['difference']):.1f} points {row['meaning']} than on the first day.")
