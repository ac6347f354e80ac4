"""`genaipa sample`: the random part of the answers that people are asked to score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from genaipa.cli.terminal.closing import follow
from genaipa.cli.terminal.console import number, print_json, say, show, table
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, several
from genaipa.cli.terminal.selection import RunsArgument, filtered
from genaipa.errors import UsageError
from genaipa.runs.filters import EVERYTHING, Filters

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from genaipa.runs.selection import Source
    from genaipa.scoring.waves import Standing, Waves
    from genaipa.workspace import Workspace


@filtered
def sample(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    size: Annotated[
        int | None,
        option("--size", help="Answers of each system in each experiment; 64, or as many as before.", min=1),
    ] = None,
    seed: Annotated[int, option("--seed", help="Seed of the first draw; later ones go on with it.")] = 0,
    stratify: Annotated[
        str | None,
        option("--stratify", metavar="COLUMN", help="Each group of documents in this column has its share."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the random part that people score.

    The size is that of each system in each experiment: its questions have equal shares of it, about different
    documents. Without --size, nothing is drawn where none has more than 64 answers: all are asked for. What was drawn
    stays: a larger size adds to it, and answers that came later are drawn from beside it.
    The workspace keeps it in waves.jsonl; the desk asks for it, and reports say which averages rest on it.
    """
    from genaipa.runs import selection
    from genaipa.scoring.answers import Pool
    from genaipa.scoring.wave_file import draw_waves
    from genaipa.scoring.waves import gone, standings

    here = current_workspace()
    meant = selection.select(here, several(run), only)
    pool = Pool(here, [source.folder for source in meant], sources=meant, excluded=False)
    for problem in pool.problems:
        say(problem)
    if not pool.answers:
        raise UsageError(f"there is no answer to draw from in {here.runs} yet; see: genaipa runs")
    scored = _scored(here)
    strata = _strata(meant, stratify, size) if stratify else None
    waves = draw_waves(here, pool.answers.values(), scored, size=size, seed=seed, strata=strata)
    found = standings(waves, pool.answers.values(), scored)
    if json:
        print_json([group._asdict() for group in found])
    else:
        _print(found, waves, size, scored)
        if strata and any(group.wave > waves.wanted(group[:2]) for group in found):
            show(f"Each group by {stratify} has its share rounded up, so that waves are larger than was asked for.")
        if strata and waves and not all(draw.stratum for draw in waves.draws):
            show(f"What was drawn before stays as it is: only answers drawn from now on have shares by {stratify}.")
        lost = 0 if several(run) or only else gone(waves, pool.answers)
        if lost:
            show(
                f"{number(lost, 'answer')} of the draws can't be scored any more: other records took their place, or "
                "an audit leaves them out. The rest of the wave is as random as before."
            )


def _strata(sources: Sequence[Source], by: str, size: int | None) -> dict[str, str]:
    """Document → its group in a column; a UsageError for a column without any, or with more than a wave has answers."""
    from genaipa.reports.groups import groups_of
    from genaipa.scoring.waves import SIZE

    found = groups_of(sources, by).of
    if (groups := len(set(found.values()))) > (size or SIZE):
        raise UsageError(
            f"the column '{by}' has {groups:,} groups, and a wave of {size or SIZE:,} can't have an answer of each; "
            "name another column, or a larger --size."
        )
    return found


def _scored(here: Workspace) -> set[str]:
    """The digests of the answers that people have scored."""
    from genaipa.scoring.current import CurrentScores
    from genaipa.scoring.store import existing_store

    with existing_store(here) as store:
        return set() if store is None else CurrentScores(store.events).scored()


def _print(found: Sequence[Standing], waves: Waves, size: int | None, scored: Collection[str]) -> None:
    from genaipa.scoring.waves import SIZE, short

    heads = ("system", "experiment", "answers", "in the wave", "of these scored", "others scored")
    cells = [(g.system, g.experiment, g.answers, g.wave, g.scored, g.outside) for g in found]
    table(heads, cells, right=(2, 3, 4, 5))
    if not waves:
        show(f"Nothing was drawn: no system has more than {SIZE} answers in an experiment, so all of them are scored.")
        follow("Next: genaipa score", "A part: genaipa sample --size N")
        return
    larger = sum(size is not None and waves.wanted(g[:2]) > size for g in found)
    if larger:
        show(f"A wave never gets smaller: {larger} of {len(found)} keep the size that they had.")
    groups = [(group.system, group.experiment) for group in found]
    asked = set().union(*(waves.taken.get(group, set()) for group in groups))
    once = ", equal texts counted once" if len(asked) < sum(group.wave for group in found) else ""
    left = len(asked - set(map(short, scored)))
    show(f"{number(len(asked), 'answer')} in the random part{once}, {left:,} of them to be scored.")
    follow("Next: genaipa score" if left else "Next: genaipa report")
