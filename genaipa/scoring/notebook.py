"""The second half of a study from a notebook: a sample of answers for people to score, and scores from a table."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import OptionError, UsageError
from genaipa.files.html import figure_frame, html_table, short_repr
from genaipa.runs.run import Runs, resolve_runs
from genaipa.runs.selection import group_documents, map_run_days, run_folders, select_sources
from genaipa.scoring.answers import Pool
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.importing import ImportedScores, import_from
from genaipa.scoring.people import load_people
from genaipa.scoring.store import existing_store, open_store
from genaipa.scoring.tables import ReadTable
from genaipa.scoring.waves import SIZE, WaveStanding, draw_waves, gone, load_waves, short_digest, standings
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from genaipa.runs.filters import Filters
    from genaipa.runs.selection import Source
    from genaipa.scoring.waves import Waves
    from genaipa.workspace import WorkspaceLike


def import_scores(
    scores: pd.DataFrame | str | os.PathLike[str],
    *,
    analyst: str = "",
    unknown_answers: bool = False,
    workspace: WorkspaceLike = None,
) -> ImportedScores:
    """Take people's scores into the store, from a frame or from a .csv, .jsonl or .xlsx file: all of them, or none.

    A frame has the columns of an exported table: `digest`, the answer's own, and one for each metric of the rubric;
    `analyst` is who scored the rows that name nobody. Other values for the same answer by the same analyst are a
    correction. `unknown_answers` takes scores of answers that no run here holds, too. A UsageError that lists what is
    wrong, if anything is; nothing is taken then.

    >>> answers = genaipa.load_run("demo").to_frame().query("system == 'extractive'")
    >>> table = answers[["digest"]].drop_duplicates()
    >>> table = table.assign(relevance=1, accuracy=1, clarity=1, completeness=-1, reference=1)
    >>> genaipa.import_scores(table, analyst="Ada").added == len(table)
    True
    """
    here = find_workspace(workspace)
    answers = Pool(here, run_folders(here)).answers
    with contextlib.closing(open_store(here)) as store:
        found = import_from(
            store,
            [Path(scores) if isinstance(scores, str | os.PathLike) else _table(scores)],
            answers,
            load_people(here),
            analyst=analyst,
            unknown_answers=unknown_answers,
        )
    if found.problems:
        raise UsageError("nothing was imported. " + " ".join(found.problems))
    return found


def _table(frame: pd.DataFrame) -> ReadTable:
    """The rows of a frame as of a file, counted as a spreadsheet counts them; what is missing is blank."""
    blank = frame.isna().to_numpy()
    rows = [
        tuple("" if empty else str(cell) for cell, empty in zip(row, gaps, strict=True))
        for row, gaps in zip(frame.itertuples(index=False, name=None), blank, strict=True)
    ]
    return ReadTable(Path("frame"), tuple(map(str, frame.columns)), list(enumerate(rows, start=2)))


SAMPLE_HEAD = ("system", "experiment", "answers", "in the wave", "of these scored", "others scored")


@dataclass(frozen=True, repr=False)
class Sample:
    """The random part of answers, as it is now.

    `groups` are the systems in each experiment, `size` is the number of different answers in the random part of any;
    people have still to score those `unscored`, and `notes` say what was drawn in sentences.
    """

    groups: list[WaveStanding]
    waves: Waves
    size: int
    unscored: int
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """A row per system and experiment: its `answers`, those in the `wave`, how many are `scored`, and `outside`."""
        return figure_frame((group._asdict() for group in self.groups), WaveStanding._fields)

    @property
    def rows(self) -> list[tuple[str, str, int, int, int, int]]:
        """The groups as people read them, under `SAMPLE_HEAD`."""
        return [(one.system, one.experiment, one.answers, one.wave, one.scored, one.outside) for one in self.groups]

    def __repr__(self) -> str:
        return short_repr("Sample", f"{self.size:,} answers", f"{self.unscored:,} to be scored")

    def _repr_html_(self) -> str:
        return html_table(" ".join(self.notes), self.rows, SAMPLE_HEAD)


def sample(
    runs: Runs = (),
    *,
    size: int | None = None,
    seed: int | None = None,
    stratify: str = "",
    only: Filters | None = None,
    workspace: WorkspaceLike = None,
    tell: Callable[[str], object] = str,
) -> Sample:
    """Draw the random part of these runs' answers that people score; without a name, of every run.

    `size` is that of each system in each experiment; without one it is that of the plan in desk.yaml, and without
    either, nothing is drawn where none has more than 64 answers. What was drawn stays: a larger size adds to it, and
    answers that came later are drawn from beside it. `seed` is that of the first draw (the plan's by default), and each
    group of documents in the column `stratify` has its share. `tell` is called with files that can't be read. A
    UsageError where there is no answer, a name fits none, or a column has too many groups.

    >>> run = genaipa.run("extractive", "vpda", experiment="regulation")
    >>> genaipa.sample(run, size=4)
    <Sample 4 answers: 4 to be scored>
    """
    if size is not None and size < 1:
        raise OptionError("size", f" {size}: must be 1 or more.")
    here, names = resolve_runs(runs, workspace)
    meant = select_sources(here, names, only)
    pool = Pool(here, [source.folder for source in meant], sources=meant, excluded=False)
    for problem in pool.problems:
        tell(problem)
    if not pool.answers:
        raise UsageError(f"there is no answer to draw from in {here.runs} yet; see: genaipa runs")
    with existing_store(here) as store:
        scored = set() if store is None else CurrentScores(store.events).scored()
    plan = load_people(here).plan
    planned = None if plan.size == "all" else plan.size
    draw_size = size or planned
    strata = _strata(meant, stratify, draw_size) if stratify else None
    days, seed = map_run_days(meant), plan.seed if seed is None else seed
    if plan.size == "all" and size is None:
        waves = load_waves(here)
    else:
        waves = draw_waves(here, pool.answers.values(), scored, size=draw_size, seed=seed, strata=strata, days=days)
    groups = standings(waves, pool.answers.values(), scored)
    asked = set().union(*(waves.taken.get((group.system, group.experiment), set()) for group in groups))
    unscored = len(asked - set(map(short_digest, scored)))
    lost = 0 if names or only else gone(waves, pool.answers)
    drawn = [*_drawn(groups, waves, draw_size, len(asked), unscored)]
    if plan.size == "all" and not waves:
        drawn = ["Nothing was drawn: by the plan in desk.yaml (sample: all) people are asked for all answers."]
    notes = [*drawn, *_noted(groups, waves, stratify, lost)]
    if size and plan.size and plan.size != size:
        notes.append(f"The plan in desk.yaml says sample: {plan.size}, which the desk goes by when it is next opened.")
    return Sample(groups, waves, len(asked), unscored, tuple(notes))


def _strata(sources: Sequence[Source], by: str, size: int | None) -> dict[str, str]:
    """Document → its group in a column; a UsageError for a column without any, or with more than a wave has answers."""
    found = group_documents(sources, by).group_by_document
    if (groups := len(set(found.values()))) > (size or SIZE):
        raise UsageError(
            f"the column '{by}' has {groups:,} groups, and a wave of {size or SIZE:,} can't have an answer of each; "
            "name another column, or a larger --size."
        )
    return found


def _drawn(groups: Sequence[WaveStanding], waves: Waves, wanted: int | None, size: int, unscored: int) -> Iterator[str]:
    """Sentences on the random part."""
    if not waves:
        yield _nothing_drawn(groups, wanted)
        return
    once = ", equal texts counted once" if size < sum(group.wave for group in groups) else ""
    yield f"{size:,} answer{'s' * (size != 1)} in the random part{once}, {unscored:,} of them to be scored."
    if larger := sum(wanted is not None and waves.wanted(group[:2]) > wanted for group in groups):
        yield f"A wave never gets smaller: {larger} of {len(groups)} keep the size that they had."


def _nothing_drawn(groups: Sequence[WaveStanding], wanted: int | None) -> str:
    """Why nothing was drawn: without a size no group is large enough; with one, chance has nothing left to choose."""
    scored, answers = (sum(getattr(group, count) for group in groups) for count in ("outside", "answers"))
    if wanted is None:
        few = f"no system has more than {SIZE} answers in an experiment"
        every = "and all of them are scored" if scored == answers else "so people are asked for all of them"
        return f"Nothing was drawn: {few}, {every}."
    return (
        f"Nothing was drawn: people have scored all {answers:,} answers already, and chance can choose among others "
        "only. The scores count as they are; a larger study begins with more answers: genaipa run."
    )


def _noted(groups: Sequence[WaveStanding], waves: Waves, by: str, lost: int) -> Iterator[str]:
    """Sentences on a wave that is not as it was asked for; `lost` answers of its draws are gone."""
    if by and any(group.wave > waves.wanted(group[:2]) for group in groups):
        yield f"Each group by {by} has its share rounded up, so that waves are larger than was asked for."
    if by and waves and not all(draw.stratum for draw in waves.draws):
        yield f"What was drawn before stays as it is: only answers drawn from now on have shares by {by}."
    if lost:
        yield (
            f"{lost:,} answer{'s' * (lost != 1)} of the draws can't be scored any more: other records took their "
            "place, or they are excluded. The rest of the wave is as random as before."
        )
