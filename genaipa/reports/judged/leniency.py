"""Leniency of judges: by how much their values are above what averages take, by measure and group of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.judging.name import akin
from genaipa.reports import aggregate
from genaipa.reports.averages import BOTH, INTERVALS, few_documents
from genaipa.reports.crossed import crossed
from genaipa.reports.judged.verdicts import LEAST, OVERALL, not_meaningful, without_value
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.judged.verdicts import Verdicts

ALL = "all"
FAMILY = "family"
"""Groups of systems: the judge's own family, and the others."""
OWN, OTHER = "its own", "others"
_GROUPS = ("system", "document", "category", "silent")
_EACH = (ALL, FAMILY, "system")
"""The groups with each metric; the others have M_all alone."""
_SILENT = {"yes": "silent", "partly": "partly silent", "no": "not silent"}
_LIMITS = {OVERALL: (-9.0, 9.0)}
_METRIC = (-2.0, 2.0)


def leniency(given: Verdicts, frame: pd.DataFrame) -> Table:
    """Mean of a judge's values less what averages take, with both intervals; `frame` is the tidy table."""
    columns = ["judge", "by", "group", "family", "measure", "answers", "mean", *BOTH[:-1], "reason"]
    people = aggregate.answers(frame)
    people = people[(people["answer"].astype("str") != "") & people["m_all"].notna()]
    rows = [row for judge in given.judges for row in _of(given, judge, _differences(given, judge, people, frame))]
    data = pd.DataFrame(rows, columns=[*columns, "documents"]).astype(dict.fromkeys(("mean", *BOTH[:-1]), "float64"))
    data["documents"] = data["documents"].astype("Int64")
    rough = few_documents(data[data["by"] == ALL])
    aside = without_value(data, "family", *BOTH[2:4], "reason")
    return table(
        "judges-leniency",
        "Leniency of the judges",
        "A judge's value less people's: above 0 it is more lenient than people. Of people, the value that averages "
        "take: the adjudication where there is one, else the mean of all scores. Each question weighs the same. M_all "
        f"goes from 10 to 100, the metrics from -1 to 1. {INTERVALS} Not meaningful, and blank, below {LEAST} "
        f"different answers scored by both. A system is of the judge's own family where the same "
        f"company made both.{rough}",
        data,
        [column for column in columns if column not in aside],
        headings={"mean": "leniency", "family": "own family", "reason": "why blank"},
        formats=dict.fromkeys(("mean", *BOTH[:-1]), "+.2f"),
        aside=aside,
        tenfold=("mean", *BOTH[:-1]),
    )


def _differences(given: Verdicts, judge: str, people: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The answers that a judge and `people` scored, with the judge's mean over passes less people's value by measure.

    A text that was given in several places is there as often.
    """
    places = given.answers.get_indexer(pd.Index(people["answer"].astype("str")))
    judged = given.judges[judge].means[places]
    there = ~np.isnan(judged[:, 0])
    found = people.loc[there, ["answer", "system", "document", "question", "category", "silent"]].astype("str")
    apart = judged[there] - people.loc[there, list(given.measures)].to_numpy()
    found[list(given.measures)] = apart.round(9)
    return found.assign(**{FAMILY: np.where(found["system"].isin(_own(frame, given.models[judge])), OWN, OTHER)})


def _own(frame: pd.DataFrame, model: str) -> set[str]:
    """The systems of a judge's own family, by their names or by the names of the models that answered."""
    named = frame[["system", "model"]].drop_duplicates().astype("str")
    both = named.itertuples(index=False, name=None)
    return {system for system, served in both if akin(system, model) or (served and akin(served, model))}


def _of(given: Verdicts, judge: str, rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for by, group, some in _groups(rows):
        answers = some["answer"].nunique()
        family = "yes" if by == "system" and (some[FAMILY] == OWN).any() else ""
        about = {"judge": judge, "by": by, "group": group, "family": family, "answers": answers}
        if answers < LEAST:
            yield {**about, "measure": given.measures[OVERALL], "reason": not_meaningful(answers)}
            continue
        for measure, name in given.measures.items() if by in _EACH else [(OVERALL, given.measures[OVERALL])]:
            found = crossed(some[measure], some["question"], some["document"], limits=_LIMITS.get(measure, _METRIC))
            sure = {column: getattr(found, column) for column in BOTH}
            # Why nothing is said for policies like these, the table's note says.
            why = found.why if np.isnan(found.low) else ""
            yield {**about, "measure": name, "mean": found.mean, **sure, "reason": why}


def _groups(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield ALL, "", rows
    by = [FAMILY] if (rows[FAMILY] == OWN).any() else []
    for column in (*by, *_GROUPS):
        for value, some in rows.groupby(column, sort=True):
            if value:
                yield column, _SILENT[str(value)] if column == "silent" else str(value), some
