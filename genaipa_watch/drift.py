"""`genaipa drift`: whether a system that is asked the same on several days answers otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_json,
    queue_explanation,
    queue_next_steps,
    show,
    show_table_and_queue_note,
)
from genaipa.cli.terminal.options import (
    ForceOption,
    GateOption,
    JsonOption,
    current_workspace,
    open_output_file,
    option,
)
from genaipa.cli.terminal.selection import print_study_slice_problems
from genaipa.errors import UsageError, clip, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.reports.gate import SignificantLoss
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Occasion

_SHOWN = ["measure", "n", "first", "now", "difference", "low", "high", "p_holm", "meaning"]
"""Columns on the terminal, of each measure's latest occasion; files have all."""


def drift(
    system: Annotated[str, typer.Argument(autocompletion=completion.runs_and_systems, help="The system.")],
    gate: GateOption = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="Write all changes to a .csv or .tex file.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show what changed since the first day.

    An occasion is a complete run of the same plan on another day: the same documents, questions and prompts. The tests
    of all measures and occasions are one family; the gate depends on M_all alone.
    """
    from genaipa.answers.gather import gather_study_with_stored_scores
    from genaipa.reports import render
    from genaipa.reports.gate import LOST
    from genaipa.runs.selection import find_runs_by_system_or_run_name, most_repeated_plan_occasions_by_system
    from genaipa_watch.over_time import (
        find_answers_judged_again,
        find_loss_on_latest_scored_occasion,
        tabulate_changes_since_first_occasion,
    )

    if output is not None and output.suffix not in render.FORMS:
        raise UsageError(f"'{clip(output.name)}' must end in {', '.join(render.FORMS)}.")
    workspace = current_workspace()
    sources = find_runs_by_system_or_run_name(workspace, system)
    print_study_slice_problems(workspace, [source.folder for source in sources])
    occasions_by_system = most_repeated_plan_occasions_by_system(sources)
    if not occasions_by_system:
        # No fault: the first of many days, on which a job that is to go on asks as well.
        if json:
            print_json({"system": system, "occasions": [], "lost": 0.0, "failed": False, "rows": []})
            return
        show(f"{clip(system)} has not yet been asked the same questions on two days, so there is nothing to compare.")
        queue_next_steps("Next: on another day, repeat the run with --new")
        return
    if len(occasions_by_system) > 1:
        raise UsageError(
            f"'{clip(system)}' matches several systems: {', '.join(sorted(occasions_by_system))}; name one of them."
        )
    ((name, days),) = occasions_by_system.items()
    study = gather_study_with_stored_scores(workspace, [source for source in sources if name in source.systems])
    changes = tabulate_changes_since_first_occasion(
        study.make_tidy_table(), occasions_by_system, find_answers_judged_again(study), study.document_languages
    )
    lost = find_loss_on_latest_scored_occasion(changes)
    failed = lost.fails_gate(gate)
    if output is not None:
        with open_output_file(output, force=force) as file:
            file.write(render.FORMS[output.suffix](changes).encode())
    if json:
        facts = {"system": name, "occasions": [source.day for source in days], "lost": lost.points, "failed": failed}
        print_json(
            {**facts, "by": lost.by, "scored": lost.day, "note": changes.note, "rows": render.as_json_rows(changes)}
        )
    else:
        _print_latest_changes(name, days, changes, lost, gated=gate is not None)
        queue_explanation(*study.problems)
        if output is not None:
            show(f"Every occasion: {output}")
        else:
            queue_next_steps(f"Next: {format_shell_command('genaipa', 'report' if lost.by else 'score', name)}")
    if failed:
        raise typer.Exit(LOST)


def _print_latest_changes(
    system: str, occasions: list[Occasion], changes: Table, latest_loss: SignificantLoss, *, gated: bool
) -> None:
    """Print each measure's latest change, and what is lacking to tell quality."""
    from dataclasses import replace

    from genaipa.reports.significance import OTHER_PEOPLE

    served = " then ".join(dict.fromkeys(model for model in changes.data["served"] if model))
    changed = f", served by {served}" if " then " in served else ""
    show(
        f"{system}: {occasions[-1].day} compared with {occasions[0].day}, "
        f"{format_count(len(occasions), 'occasion')}{changed}"
    )
    latest = changes.data.groupby("measure", sort=False).tail(1).reset_index(drop=True)
    dated = ["occasion"] if latest["occasion"].nunique() > 1 else []
    show_table_and_queue_note(replace(changes, data=latest[[*_SHOWN[:1], *dated, *_SHOWN[1:]]]))
    by_other_people = {*changes.data.loc[changes.data["meaning"] == OTHER_PEOPLE, "occasion"]}
    if not latest_loss.by:
        too_few = {"M_all", "M_all (judge)"} & {*changes.data["measure"]}
        why = "Too few questions were scored on two days" if too_few else "Nobody scored answers from two days"
        why = "Different people scored the first day and the later days" if by_other_people else why
        print_caveat_unless_quiet(f"{why}, so quality is not compared{', and the gate passes' if gated else ''}.")
    elif latest_loss.day != occasions[-1].day:
        reason = (
            "was scored by people other than those who scored the first day"
            if occasions[-1].day in by_other_people
            else "has too few"
        )
        print_caveat_unless_quiet(
            f"Quality is from {latest_loss.day}, the latest occasion with comparable scores; "
            f"{occasions[-1].day} {reason}."
        )
    watched = latest[(latest["measure"] == latest_loss.by) & (latest["meaning"] != "lower")]
    if latest_loss.points and len(watched):
        print_caveat_unless_quiet(
            f"{latest_loss.by}, which alone decides the gate, is lower by {latest_loss.points:.1f} points: "
            "not significant among all "
            f"of these tests, but significant among the tests of {latest_loss.by} alone."
        )
    moved = latest[(latest["measure"] == "judge again") & latest["meaning"].isin(["higher", "lower"])]
    for row in moved.to_dict("records"):
        print_caveat_unless_quiet(
            f"The judge itself scores {abs(row['difference']):.1f} points {row['meaning']} than on the first day."
        )
