"""Worth of estimates: beside people alone and the judge alone, and how many more scores would make them so sure.

The numbers are those of `stats.rectified` and `stats.forecast`.
"""

from __future__ import annotations

from math import isinf
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics, metric_display_names
from genaipa.reports import averages
from genaipa.reports.averages import INTERVALS
from genaipa.reports.judged.estimate import LEAST, LEAST_IN_GROUP, estimate_scores_with_judge_if_possible
from genaipa.reports.table import Table, make_table
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.stats.forecast import make_score_forecast
from genaipa.stats.rectified import count_equivalent_people_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from genaipa.reports.judged.estimate import JudgeAssistedEstimate
    from genaipa.scoring.events import Event
    from genaipa.stats.forecast import Forecast

    Floats = NDArray[np.float64]


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


def map_measures_to_display_names(frame: pd.DataFrame) -> dict[str, str]:
    """Map M_all and the metrics of a tidy table to their names."""
    return {"m_all": "M_all"} | {
        metric: metric_display_names(frame).get(metric, metric) for metric in list_metrics(frame)
    }


def people_judge_and_combined_means_table(frame: pd.DataFrame, events: Iterable[Event] = ()) -> Table:
    """Return a row for each system, experiment and measure that a judge scored; none in a study without a judge.

    `n_eff` is how many scores from people alone would give intervals as narrow, and `hours` what the further ones
    would take at the median of the seconds that the desk measured (of the `events`).
    """
    estimate = estimate_scores_with_judge_if_possible(frame)
    rows = _people_judge_and_combined_mean_rows(frame, estimate, events) if estimate.judges else []
    judges = f" Judges: {', '.join(estimate.judges)}." if estimate.judges else ""
    return make_table(
        "people-and-judge",
        "People alone, people and judge",
        "M_all (10 to 100) and the metrics (-1 to 1). Where people scored a random part of the answers and the judge "
        "all of them, the estimate corrects the judge's average by how people differ from the judge "
        "(docs/method/estimates.md). Its third interval is for these very answers: what people would have given if "
        "they had scored all of them. `worth` is how many scores from people alone would give intervals as narrow, for "
        "policies like these and for these documents, and `hours saved` the time that the scores saved would take at "
        f"the desk's median. The judge alone is not an estimate. There is no estimate below {LEAST} scored answers, or "
        f"{LEAST_IN_GROUP} of a system in an experiment.{judges} {INTERVALS}",
        pd.DataFrame(rows, columns=list(_COLUMNS)),
        _COLUMNS,
        headings=_HEADINGS,
        formats={
            **dict.fromkeys(("people", "people_low", "people_high", "mean", *_ENDS, *_ANSWERS, "judge"), ".2f"),
            "n_eff": ".0f",
            "hours": ".1f",
        },
        faint=("judge",),
    )


def _people_judge_and_combined_mean_rows(
    frame: pd.DataFrame, estimate: JudgeAssistedEstimate, events: Iterable[Event]
) -> Iterable[dict[str, object]]:
    seconds = [
        event.seconds
        for event in effective_scores_and_adjudications(events)
        if event.scorer == "human" and event.seconds
    ]
    pace = median(seconds) if seconds else np.nan
    names = map_measures_to_display_names(frame)
    cells = {
        (kind, measure): averages.select_and_weigh_averaged_cells(of, measure)
        for kind, of in (("people", estimate.people), ("both", estimate.frame), ("judge", estimate.judge))
        for measure in names
    }
    order = {measure: position for position, measure in enumerate(names)}
    groups = estimate.groups.astype({"system": frame["system"].dtype}).assign(
        place=estimate.groups["measure"].map(order)
    )
    groups = groups.sort_values([*_BY, "place"], kind="stable")
    for row in groups[groups["judged"] > 0].to_dict("records"):
        system, experiment, measure, why = (row[name] for name in (*_BY, "measure", "why"))
        limits = M_ALL_RANGE if measure == "m_all" else (-1.0, 1.0)
        people, combined, judge = (
            averages.estimate_column_mean(
                rows[(rows["system"] == system) & (rows["experiment"] == experiment)], measure, limits
            )
            for rows in (cells[kind, measure] for kind in ("people", "both", "judge"))
        )
        if judge["n"]:  # else it is about a regulation
            yield {
                "system": system,
                "experiment": experiment,
                "measure": names[measure],
                "why": why,
                "scored": estimate.describe_scored_answers(system, experiment, measure=measure)
                or f"people {row['scored']:,} of {row['answers']:,}",
                "people": people["mean"],
                "people_low": people["low"],
                "people_high": people["high"],
                **({} if why else {name: combined[name] for name in ("mean", *_ENDS)}),
                **({} if why else _clip_interval_to_scale(combined["mean"], row["half"], limits)),
                **({} if why else _equivalent_scores_and_hours_saved(row["scored"], people, combined, pace)),
                "judge": judge["mean"],
            }


def _clip_interval_to_scale(mean: Any, half_width: float, scale_ends: tuple[float, float]) -> dict[str, float]:
    """Return the interval for these very answers, within the scale."""
    ends = (min(max(end, scale_ends[0]), scale_ends[1]) for end in (mean - half_width, mean + half_width))
    return dict(zip(_ANSWERS, ends, strict=True))


def _equivalent_scores_and_hours_saved(
    scored_answers: int, people_estimate: dict[str, Any], combined_estimate: dict[str, Any], seconds_per_score: float
) -> dict[str, float]:
    """Return the number of scores of people alone that would be as sure, and the hours that those not given would take.

    As sure for policies like these, which verdicts are about. Few documents say roughly how they differ, so that it is
    no more than what would be as sure for these documents, and no less than what people scored.
    """
    alone, judged = (
        [side[f"{target}high"] - side[f"{target}low"] for target in ("", "policies_")]
        for side in (people_estimate, combined_estimate)
    )
    worth = count_equivalent_people_scores(scored_answers, alone, judged)
    return {"n_eff": worth, "hours": (worth - scored_answers) * seconds_per_score / 3600}


TARGETS = (5.0, 3.0)
"""Halves of intervals of M_all that are asked for."""


def describe_scores_needed_for_target(forecast: Forecast, target_half_width: float) -> str:
    """Return the forecast for a target in words, as in "about 20 more (10 to 40)"."""
    if forecast.half <= target_half_width:
        return "reached"
    needed, lowest, highest = forecast.forecast_further_scores_needed(target_half_width)
    if isinf(lowest):
        return "not by scoring"
    if isinf(needed):
        return f"at least {max(round(lowest), 1)} more, and perhaps not by scoring alone"
    end = "more than there are" if isinf(highest) else str(round(highest))
    return f"about {max(round(needed), 1)} more ({round(lowest)} to {end})"


def forecast_scores_needed_or_none(frame: pd.DataFrame, system: str, experiment: str) -> Forecast | None:
    """Return the forecast of M_all of a system in an experiment; None without an estimate that has an interval."""
    estimate = estimate_scores_with_judge_if_possible(frame)
    usable = estimate.estimated_groups[estimate.estimated_groups["measure"] == "m_all"]
    row = usable[(usable["system"] == system) & (usable["experiment"] == experiment)]
    cells = averages.select_and_weigh_averaged_cells(estimate.frame, "m_all")
    cells = cells[(cells["system"] == system) & (cells["experiment"] == experiment)]
    mean = averages.estimate_column_mean(cells, "m_all")
    if row.empty or not float(mean["high"]) > float(mean["low"]):  # type: ignore[arg-type]
        return None
    means = cells.groupby("question", observed=True)["m_all"].mean()
    answers, scored, within = (row[name].iloc[0] for name in ("answers", "scored", "residual"))
    half = float(mean["high"] - mean["low"]) / 2  # type: ignore[operator]
    return make_score_forecast(means, int(answers), int(scored), float(within), half)


def scores_needed_forecast_table(frame: pd.DataFrame) -> Table:
    """Return a row for each system and experiment with an estimate of M_all: how many scores more each target takes."""
    groups = (
        estimate_scores_with_judge_if_possible(frame)
        .estimated_groups[_BY]
        .drop_duplicates()
        .itertuples(index=False, name=None)
    )
    forecast_groups = [
        (system, experiment, forecast)
        for system, experiment in groups
        if (forecast := forecast_scores_needed_or_none(frame, system, experiment))
    ]
    rows = [
        {
            "system": system,
            "experiment": experiment,
            "scored": forecast.scored,
            "half": forecast.half,
            "floor": forecast.half_interval_if_all_scored,
            **{f"to{target:g}": describe_scores_needed_for_target(forecast, target) for target in TARGETS},
        }
        for system, experiment, forecast in forecast_groups
    ]
    names = {f"to{target:g}": f"±{target:g}" for target in TARGETS}
    columns = ["system", "experiment", "scored", "half", *names, "floor"]
    return make_table(
        "forecast",
        "How many more scores would be enough",
        "For the interval of M_all (10 to 100) for these documents, from people and judge: its half-width now, how "
        "many more answers of the system in the experiment people would have to score to narrow it to each "
        "half-width, with the range that holds in 80 of 100 such studies, and its half-width if people scored every "
        "answer. A narrower interval needs more questions or documents.",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"half": "now ±", "floor": "all scored ±", **names},
        formats=dict.fromkeys(("half", "floor"), ".1f"),
    )


def describe_forecasts_of_scores_needed(frame: pd.DataFrame) -> list[str]:
    """Return the forecasts as sentences, one for each system and experiment."""
    sentences = []
    for system, experiment in (
        estimate_scores_with_judge_if_possible(frame).estimated_groups[_BY].drop_duplicates().itertuples(index=False)
    ):
        if forecast := forecast_scores_needed_or_none(frame, system, experiment):
            parts = [f"±{target:g}: {describe_scores_needed_for_target(forecast, target)}" for target in TARGETS]
            allow = f"these {forecast.questions} questions allow ±{forecast.half_interval_if_all_scored:.1f}"
            beyond = "; that needs more questions or documents" if any("not by" in part for part in parts) else ""
            sentences.append(f"{system}, {experiment}: ±{forecast.half:.1f} now; {'; '.join(parts)}; {allow}{beyond}.")
    return sentences
