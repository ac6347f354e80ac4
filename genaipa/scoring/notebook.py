"""Scores from a notebook or a script: a table of them goes into the store as a file of scores does."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.runs.finding import run_folders
from genaipa.scoring.answers import Pool
from genaipa.scoring.exchange.importing import Imported, import_from
from genaipa.scoring.exchange.tables import Table
from genaipa.scoring.people import load_people
from genaipa.scoring.store import open_store
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.workspace import WorkspaceLike


def import_scores(
    scores: pd.DataFrame | str | os.PathLike[str],
    *,
    analyst: str = "",
    unknown_answers: bool = False,
    workspace: WorkspaceLike = None,
) -> Imported:
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


def _table(frame: pd.DataFrame) -> Table:
    """The rows of a frame as of a file, counted as a spreadsheet counts them; what is missing is blank."""
    blank = frame.isna().to_numpy()
    rows = [
        tuple("" if empty else str(cell) for cell, empty in zip(row, gaps, strict=True))
        for row, gaps in zip(frame.itertuples(index=False, name=None), blank, strict=True)
    ]
    return Table(Path("frame"), tuple(map(str, frame.columns)), list(enumerate(rows, start=2)))
