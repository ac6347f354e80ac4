"""The second half of a study from a notebook: a sample of answers for people to score, and scores from a table."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import OptionError, UsageError
from genaipa.files.html import format_one_line_repr, html_table, make_data_frame
from genaipa.runs.run import Runs, resolve_workspace_and_run_names
from genaipa.runs.selection import (
    group_documents_by_column,
    list_run_folders_oldest_first,
    map_repeated_runs_to_days,
    select_runs_and_apply_filters,
)
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.importing import ImportOutcome, import_scores_or_return_problems
from genaipa.scoring.people import load_desk_people_and_plan, read_counted_events
from genaipa.scoring.store import open_existing_store, open_or_create_store
from genaipa.scoring.tables import ReadTable
from genaipa.scoring.waves import (
    SIZE,
    WaveStanding,
    count_missing_population_answers,
    digest_prefix_used_in_waves,
    draw_and_save_waves,
    load_waves,
    measure_standings_of_wave_groups,
)
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from genaipa.runs.filters import Filters
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.waves import Waves
    from genaipa.workspace import WorkspaceLike


def import_scores(
    scores: pd.DataFrame | str | os.PathLike[str],
    *,
    analyst: str = "",
    unknown_answers: bool = False,
    workspace: WorkspaceLike = None,
) -> ImportOutcome:
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
    home = find_workspace(workspace)
    pool = AnswerPool(home, list_run_folders_oldest_first(home))
    with contextlib.closing(open_or_create_store(home)) as store:
        result = import_scores_or_return_problems(
            store,
            [Path(scores) if isinstance(scores, str | os.PathLike) else _convert_frame_to_table(scores)],
            pool.answers,
            load_desk_people_and_plan(home),
            pool.authors,
            analyst=analyst,
            unknown_answers=unknown_answers,
        )
    if result.problems:
        raise UsageError("nothing was imported. " + " ".join(result.problems))
    return result


def _convert_frame_to_table(frame: pd.DataFrame) -> ReadTable:
    """Convert a frame to a table with rows counted as in a spreadsheet; what is missing is blank."""
    blank = frame.isna().to_numpy()
    rows = [
        tuple("" if empty else str(cell) for cell, empty in zip(row, gaps, strict=True))
        for row, gaps in zip(frame.itertuples(index=False, name=None), blank, strict=True)
    ]
    return ReadTable(Path("frame"), tuple(map(str, frame.columns)), list(enumerate(rows, start=2)))


SAMPLE_HEAD = ("system", "experiment", "answers", "random part", "of these scored", "others scored")


@dataclass(frozen=True, repr=False)
class RandomPart:
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
        return make_data_frame((group._asdict() for group in self.groups), WaveStanding._fields)

    @property
    def rows_by_system_and_experiment(self) -> list[tuple[str, str, int, int, int, int]]:
        """The groups as people read them, under `SAMPLE_HEAD`."""
        return [
            (group.system, group.experiment, group.answers, group.wave, group.scored, group.outside)
            for group in self.groups
        ]

    def __repr__(self) -> str:
        return format_one_line_repr("Sample", f"{self.size:,} answers", f"{self.unscored:,} to be scored")

    def _repr_html_(self) -> str:
        return html_table(" ".join(self.notes), self.rows_by_system_and_experiment, SAMPLE_HEAD)


def sample(
    runs: Runs = (),
    *,
    size: int | None = None,
    seed: int | None = None,
    stratify: str = "",
    only: Filters | None = None,
    workspace: WorkspaceLike = None,
    tell: Callable[[str], object] = str,
) -> RandomPart:
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
    home, names = resolve_workspace_and_run_names(runs, workspace)
    sources = select_runs_and_apply_filters(home, names, only)
    pool = AnswerPool(home, [source.folder for source in sources], sources=sources, excluded=False)
    for problem in pool.problems:
        tell(problem)
    if not pool.answers:
        raise UsageError(f"there are no answers to draw from in {home.runs} yet; see: genaipa runs")
    with open_existing_store(home) as store:
        effective = effective_scores_and_adjudications(read_counted_events(home, store))
    scored = {event.answer for event in effective if event.kind == "score" and event.scorer == "human"}
    plan = load_desk_people_and_plan(home).plan
    planned = None if plan.sample_size == "all" else plan.sample_size
    draw_size = size or planned
    strata = _find_stratum_by_document(sources, stratify, draw_size) if stratify else None
    days, seed = map_repeated_runs_to_days(sources), plan.seed if seed is None else seed
    if plan.sample_size == "all" and size is None:
        waves = load_waves(home)
    else:
        waves = draw_and_save_waves(
            home,
            pool.answers.values(),
            scored,
            size_of_each_group=draw_size,
            seed=seed,
            stratum_by_document=strata,
            day_by_run=days,
        )
    groups = measure_standings_of_wave_groups(waves, pool.answers.values(), scored)
    requested = set().union(
        *(waves.wave_digest_prefixes_by_group.get((group.system, group.experiment), set()) for group in groups)
    )
    unscored = len(requested - set(map(digest_prefix_used_in_waves, scored)))
    missing = 0 if names or only else count_missing_population_answers(waves, pool.answers)
    draw_notes = [*_describe_draw_in_sentences(groups, waves, draw_size, len(requested), unscored)]
    if plan.sample_size == "all" and not waves:
        draw_notes = ["Nothing was drawn: the plan in desk.yaml (sample: all) asks people to score all answers."]
    notes = [*draw_notes, *_describe_deviations_from_request(groups, waves, stratify, missing)]
    if size and plan.sample_size and plan.sample_size != size:
        notes.append(
            f"The plan in desk.yaml says sample: {plan.sample_size}; the desk uses that size when it is next opened."
        )
    return RandomPart(groups, waves, len(requested), unscored, tuple(notes))


def _find_stratum_by_document(
    sources: Sequence[SelectedRun], column: str, random_part_size: int | None
) -> dict[str, str]:
    """Document → its group in a column; a UsageError for a column without any, or with more than a wave has answers."""
    strata = group_documents_by_column(sources, column).group_by_document
    if (groups := len(set(strata.values()))) > (random_part_size or SIZE):
        raise UsageError(
            f"the column '{column}' has {groups:,} groups, so a random part of {random_part_size or SIZE:,} "
            "answers can't include "
            "every group; name another column, or a larger --size."
        )
    return strata


def _describe_draw_in_sentences(
    groups: Sequence[WaveStanding],
    waves: Waves,
    wanted_size: int | None,
    drawn_answer_count: int,
    unscored_answer_count: int,
) -> Iterator[str]:
    """Yield sentences on the random part."""
    if not waves:
        yield _explain_no_draw(groups, wanted_size)
        return
    once = " (equal texts counted once)" if drawn_answer_count < sum(group.wave for group in groups) else ""
    yield (
        f"The random part has {drawn_answer_count:,} answer{'s' * (drawn_answer_count != 1)}{once}; "
        f"{unscored_answer_count:,} still to be scored."
    )
    if larger := sum(wanted_size is not None and waves.target_size(group[:2]) > wanted_size for group in groups):
        yield f"A random part never shrinks: {larger} of {len(groups)} systems and experiments keep a larger one."


def _explain_no_draw(groups: Sequence[WaveStanding], wanted_size: int | None) -> str:
    """Say why nothing was drawn: without a size no group is large enough; with one, there is nothing left to draw."""
    scored, answers = (sum(getattr(group, count) for group in groups) for count in ("outside", "answers"))
    if wanted_size is None:
        no_large_group = f"no system has more than {SIZE} answers in any experiment"
        consequence = (
            "and people have scored all answers" if scored == answers else "so people are asked to score all answers"
        )
        return f"Nothing was drawn: {no_large_group}, {consequence}."
    return (
        f"Nothing was drawn: people have already scored all {answers:,} answers, and only unscored answers can be "
        f"drawn at random. All of the scores count; for a larger study, ask for more answers: genaipa run"
    )


def _describe_deviations_from_request(
    groups: Sequence[WaveStanding], waves: Waves, stratum_column: str, missing_answer_count: int
) -> Iterator[str]:
    """Yield sentences on a wave that is not as it was asked for.

    `missing_answer_count` answers of its draws are gone.
    """
    if stratum_column and any(group.wave > waves.target_size(group[:2]) for group in groups):
        yield (
            f"The share of each {stratum_column} group is rounded up, so the random part is larger than you asked for."
        )
    if stratum_column and waves and not all(draw.stratum for draw in waves.draws):
        yield f"Earlier draws stay as they are; only new draws give each {stratum_column} group its share."
    if missing_answer_count:
        yield (
            f"{missing_answer_count:,} answer{'s' * (missing_answer_count != 1)} available to the draws can "
            "no longer be scored (replaced or "
            "excluded). The rest of the random part is as random as before."
        )
