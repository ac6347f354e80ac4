"""`genaipa sample`: the random part of the answers that people are asked to score."""

from __future__ import annotations

from typing import Annotated

from genaipa.cli.terminal.console import add_next_steps, print_json, print_table, say, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, add_filters
from genaipa.runs.filters import EVERYTHING, Filters


@add_filters
def sample(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    size: Annotated[
        int | None,
        option(
            "--size", help="Answers of each system in each experiment; 64, as planned, or as many as before.", min=1
        ),
    ] = None,
    seed: Annotated[
        int | None, option("--seed", help="Seed of the first draw; later draws continue it.", show_default="0")
    ] = None,
    stratify: Annotated[
        str | None,
        option("--stratify", metavar="COLUMN", help="Give each group of documents in this column its share."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the random part that people score.

    The size is that of each system in each experiment: its questions have equal shares of it, about different
    documents. Without --size, nothing is drawn where none has more than 64 answers: all are asked for. What was drawn
    stays: a larger size adds to it, and answers that came later are drawn from beside it. The plan in desk.yaml may
    have a size (sample) and a seed; these options come before it.
    The workspace keeps it in waves.jsonl; the desk asks for it, and reports say which averages rest on it.
    """
    from genaipa.scoring.notebook import SAMPLE_HEAD
    from genaipa.scoring.notebook import sample as draw_sample

    result = draw_sample(
        split_names(run),
        size=size,
        seed=seed,
        stratify=stratify or "",
        only=only,
        workspace=current_workspace(),
        tell=say,
    )
    if json:
        print_json([group._asdict() for group in result.groups])
        return
    print_table(SAMPLE_HEAD, result.rows, right=(2, 3, 4, 5))
    for note in result.notes:
        show(note)
    all_scored = all(group.outside + group.scored == group.answers for group in result.groups)
    if all_scored or (result.waves and not result.unscored):
        add_next_steps("Next: genaipa report")
    elif result.waves:
        add_next_steps("Next: genaipa score")
    else:
        add_next_steps("Next: genaipa score", "A part: genaipa sample --size N")
