"""Estimates beside what they are made of: people alone, people and judge, and the judge alone, which is no estimate."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import INTERVALS
from genaipa.reports.judged.estimate import LEAST, LEAST_IN_GROUP, estimated
from genaipa.reports.table import Table, table
from genaipa.reports.tidy import metrics_of, names_of
from genaipa.scoring.current import in_effect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.judged.estimate import Estimate
    from genaipa.scoring.events import Event

_BY = ["system", "experiment"]
_ENDS = ("low", "high", "policies_low", "policies_high")
_ANSWERS = ("answers_low", "answers_high")
_COLUMNS = (
    *(*_BY, "measure", "scored", "people", "people_low", "people_high"),
    *("mean", *_ENDS, *_ANSWERS, "n_eff", "hours", "judge", "why"),
)
_HEADINGS = {
    "scored": "scored by",
    "people": "people alone",
    "people_low": "for these documents",
    "mean": "people and judge",
    "answers_low": "for these very answers",
    "answers_high": "to",
    "n_eff": "worth (scores)",
    "hours": "hours saved",
    "judge": "judge alone: not an estimate",
    "why": "no estimate because",
}


def measures_of(frame: pd.DataFrame) -> dict[str, str]:
    """M_all and the metrics of a tidy table → their names."""
    return {"m_all": "M_all"} | {metric: names_of(frame).get(metric, metric) for metric in metrics_of(frame)}


def beside(frame: pd.DataFrame, events: Iterable[Event] = ()) -> Table:
    """A row for each system, experiment and measure that a judge scored; none in a study without a judge.

    `n_eff` is how many scores of people alone would be as sure, and `hours` what the ones more would take at the
    median of the seconds that the desk measured (of the `events`).
    """
    found = estimated(frame)
    rows = [] if found is None else _rows(frame, found, events)
    judges = "" if found is None else f" Judges: {', '.join(found.judges)}."
    return table(
        "people-and-judge",
        "People alone, people and judge",
        "M_all (10 to 100) and the metrics (-1 to 1). People scored a random part of the answers, the judge all of "
        "them; the estimate adds to the judge's average what people would add to it (docs/method/estimates.md). Its "
        "third interval is for these very answers: what people would have given, had they scored all. `worth` is how "
        "many scores of people alone would be as sure, for policies like these and for these documents, and `hours "
        "saved` what those "
        "not given would take at the desk's median. The judge alone is not an estimate. There is none below "
        f"{LEAST} scored answers, or {LEAST_IN_GROUP} of a system in an experiment.{judges} "
        f"{INTERVALS}",
        pd.DataFrame(rows, columns=list(_COLUMNS)),
        _COLUMNS,
        headings=_HEADINGS,
        formats={
            **dict.fromkeys(("people", "people_low", "people_high", "mean", *_ENDS, *_ANSWERS, "judge"), ".2f"),
            "n_eff": ".0f",
            "hours": ".1f",
        },
        faint=("judge",),
        tenfold=("people", "people_low", "people_high", "mean", *_ENDS, *_ANSWERS, "judge"),
    )


def _rows(frame: pd.DataFrame, found: Estimate, events: Iterable[Event]) -> Iterable[dict[str, object]]:
    seconds = [event.seconds for event in in_effect(events) if event.scorer == "human" and event.seconds]
    pace = median(seconds) if seconds else np.nan
    names = measures_of(frame)
    cells = {
        (kind, measure): averages.weighted(of, measure)
        for kind, of in (("people", found.people), ("both", found.frame), ("judge", found.judge))
        for measure in names
    }
    order = {measure: place for place, measure in enumerate(names)}
    groups = found.groups.assign(place=found.groups["measure"].map(order)).sort_values([*_BY, "place"], kind="stable")
    for row in groups[groups["judged"] > 0].to_dict("records"):
        system, experiment, measure, why = (row[name] for name in (*_BY, "measure", "why"))
        limits = (1.0, 10.0) if measure == "m_all" else (-1.0, 1.0)
        people, both, judge = (
            averages.mean_of(rows[(rows["system"] == system) & (rows["experiment"] == experiment)], measure, limits)
            for rows in (cells[kind, measure] for kind in ("people", "both", "judge"))
        )
        if judge["n"]:  # else it is about a regulation
            yield {
                "system": system,
                "experiment": experiment,
                "measure": names[measure],
                "why": why,
                "scored": found.basis(system, experiment, measure=measure)
                or f"people {row['scored']:,} of {row['answers']:,}",
                "people": people["mean"],
                "people_low": people["low"],
                "people_high": people["high"],
                **({} if why else {name: both[name] for name in ("mean", *_ENDS)}),
                **({} if why else _of_answers(both["mean"], row["half"], limits)),
                **({} if why else _worth(row["scored"], people, both, pace)),
                "judge": judge["mean"],
            }


def _of_answers(mean: Any, half: float, limits: tuple[float, float]) -> dict[str, float]:
    """The interval for these very answers, within the scale."""
    ends = (min(max(end, limits[0]), limits[1]) for end in (mean - half, mean + half))
    return dict(zip(_ANSWERS, ends, strict=True))


def _worth(scored: int, people: dict[str, Any], both: dict[str, Any], pace: float) -> dict[str, float]:
    """The number of scores of people alone that would be as sure, and the hours that those not given would take.

    As sure for policies like these, which verdicts are about. Few documents say roughly how they differ, so that it is
    no more than what would be as sure for these documents, and no less than what people scored.
    """
    ratios = [
        ((people[f"{target}high"] - people[f"{target}low"]) / (both[f"{target}high"] - both[f"{target}low"])) ** 2
        for target in ("", "policies_")
        if both[f"{target}high"] > both[f"{target}low"]
    ]
    worth = scored * max(min(ratios), 1.0) if ratios else np.nan
    return {"n_eff": worth, "hours": (worth - scored) * pace / 3600}
