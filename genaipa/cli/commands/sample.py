"""`genaipa sample`: the random part of the answers that people are asked to score."""

from __future__ import annotations

from typing import Annotated

from genaipa.cli.terminal.console import print_json, print_table, print_to_stderr, queue_next_steps, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, add_filter_options
from genaipa.runs.filters import EVERYTHING, Filters


@add_filter_options
def sample(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    size: Annotated[
        int | None,
        option(
            "--size",
            help="Answers per system and experiment; by default, the number planned, else the last one used, else 64.",
            min=1,
        ),
    ] = None,
    seed: Annotated[
        int | None, option("--seed", help="Seed of the first draw; later draws continue it.", show_default="0")
    ] = None,
    stratify: Annotated[
        str | None,
        option(
            "--stratify", metavar="COLUMN", help="Give each group of documents in this column its share of the sample."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the random part that people score.

    The size is per system and experiment; each question gets an equal share, about different documents. Without --size,
    nothing is drawn if no system has more than 64 answers in an experiment: people then score all answers. Drawn
    answers stay in the sample: a larger size adds to them, and answers that came later are sampled separately. The plan
    in desk.yaml may set a size (sample) and a seed; these options override the plan.
    The workspace keeps the sample in waves.jsonl. The desk asks for its answers, and reports say which averages rest on
    it.
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
        tell=print_to_stderr,
    )
    if json:
        print_json([group._asdict() for group in result.groups])
        return
    print_table(SAMPLE_HEAD, result.rows_by_system_and_experiment, right_aligned_columns=(2, 3, 4, 5))
    for note in result.notes:
        show(note)
    all_scored = all(group.outside + group.scored == group.answers for group in result.groups)
    if all_scored or (result.waves and not result.unscored):
        queue_next_steps("Next: genaipa report")
    elif result.waves:
        queue_next_steps("Next: genaipa score")
    else:
        queue_next_steps("Next: genaipa score", "For a random part: genaipa sample --size N")
