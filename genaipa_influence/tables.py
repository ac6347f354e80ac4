"""What each aid of the desk did to values and to seconds, as tables and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import expm1, isnan, log
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.table import Table, make_table
from genaipa.scoring.aids import SUGGESTIONS, load_built_in_and_plugin_aids
from genaipa.stats.tests import adjust_p_by_holm
from genaipa.words import format_count
from genaipa_influence.effects import LEAST_ANALYSTS, LEAST_SCORES, LEVEL, AidEffect, estimate_aid_effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.answers.study import Study
    from genaipa.scoring.events import Event

ALL_SYSTEMS = "all systems"
SEVERAL = "; "
"""Between the systems that gave an answer in the same words."""
_SIGNIFICANT = 0.05
_POINTS, _SECONDS = "points", "seconds"
_ENDS = ("difference", "low", "high", "others_low", "others_high")
_PERCENT_OF_SECONDS = ("seconds", "seconds_low", "seconds_high")


@dataclass(frozen=True)
class ScoresRecordingAids:
    """The independent scores that record which aids were withheld, as a frame, and how many record nothing.

    The frame has a row for each score: `answer`, `analyst`, `system`, `points` (M_all), `seconds` (their logarithm),
    the metrics, `aids` (name → whether it was shown) and `suggested` (metric → the value, shown or not).
    """

    frame: pd.DataFrame
    unrecorded: int

    @property
    def aid_names(self) -> list[str]:
        """The aids that any score records, in the order in which the desk lists them."""
        recorded = {name for aids in self.frame["aids"] for name in aids}
        return [name for name in load_built_in_and_plugin_aids() if name in recorded] + sorted(
            recorded.difference(load_built_in_and_plugin_aids())
        )

    def select_scores_and_mark_aid_shown(self, aid: str) -> pd.DataFrame:
        """Return the scores at which the aid had something to show, with `shown`: whether it did."""
        rows = self.frame[[aid in aids for aids in self.frame["aids"]]]
        return rows.assign(shown=[aids[aid] for aids in rows["aids"]])


def collect_scores_recording_aids(study: Study) -> ScoresRecordingAids:
    """Collect the people's independent scores of a study's answers, but for excluded ones."""
    answers = study.table[(study.table["unit"] == "answer") & (study.table["excluded"].astype("str") == "")]
    pairs = answers[["answer", "system"]].astype("str").drop_duplicates()
    # Equal words of several systems are one answer.
    systems = pairs.groupby("answer")["system"].agg(SEVERAL.join).to_dict()
    scores = [score for score in study.independent_scores if score.answer in systems]
    recorded = [score for score in scores if score.shown and score.shown.aids and score.values is not None]
    rows = [_make_score_row(score, systems[score.answer], study) for score in recorded]
    columns = ["answer", "analyst", "system", _POINTS, _SECONDS, *study.rubric.metrics, "aids", "suggested"]
    return ScoresRecordingAids(pd.DataFrame(rows, columns=columns), len(scores) - len(recorded))


def _make_score_row(score: Event, system: str, study: Study) -> dict[str, Any]:
    assert score.shown is not None, "what was shown is recorded"
    assert score.values is not None, "a score has values"
    suggested = {metric: value for metric, value in score.suggested.items() if metric in score.shown.suggestion}
    return {
        "answer": score.answer,
        "analyst": score.analyst,
        "system": system,
        _POINTS: study.rubric.m_all(score.values),
        _SECONDS: log(score.seconds) if score.seconds else None,
        **{metric: score.values[metric] for metric in study.rubric.metrics},
        "aids": score.shown.aids,
        "suggested": suggested | score.shown.withheld,
    }


def _estimate_effect_on_column(rows: pd.DataFrame, column: str) -> AidEffect:
    rows = rows[rows[column].notna()]
    names = (list(rows[name]) for name in ("answer", "analyst", "system"))
    return estimate_aid_effect(list(rows[column]), list(rows["shown"]), *names)


def _select_suggested_and_mark_equal(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the scores with a value of the metric suggested, or withheld, with `same`: whether it was given."""
    rows = rows[[metric in suggested for suggested in rows["suggested"]]]
    values = [suggested[metric] for suggested in rows["suggested"]]
    return rows.assign(same=(rows[metric] == values).astype("float64"))


@dataclass(frozen=True)
class AdjustedAidEffect:
    """An effect of an aid that is tested: on M_all, or on the share of a metric's values that are as suggested.

    `metric` is empty for M_all; `p` is adjusted for all movements that are tested (Holm).
    """

    aid: str
    effect: AidEffect
    metric: str = ""
    same_shown: float = float("nan")
    same_withheld: float = float("nan")
    p: float = float("nan")

    @property
    def is_significant(self) -> bool:
        """Whether the aid moves values by more than chance does."""
        return self.p < _SIGNIFICANT


def estimate_and_adjust_aid_effects_on_m_all(
    scores: ScoresRecordingAids, metrics_to_compare_with_suggestions: Iterable[str]
) -> list[AdjustedAidEffect]:
    """Return what each aid does to M_all, and suggestions to how many values are as suggested."""
    movements: list[AdjustedAidEffect] = []
    for aid in scores.aid_names:
        rows = scores.select_scores_and_mark_aid_shown(aid)
        movements.append(AdjustedAidEffect(aid, _estimate_effect_on_column(rows, _POINTS)))
        for metric in metrics_to_compare_with_suggestions if aid == SUGGESTIONS else ():
            compared = _select_suggested_and_mark_equal(rows, metric)
            if len(compared):
                sides = compared.groupby("shown")["same"].mean()
                shares = [float(sides.get(side, float("nan"))) for side in (True, False)]
                movements.append(AdjustedAidEffect(aid, _estimate_effect_on_column(compared, "same"), metric, *shares))
    adjusted = adjust_p_by_holm([movement.effect.p for movement in movements])
    return [replace(movement, p=p) for movement, p in zip(movements, adjusted, strict=True)]


def describe_significant_aid_effects(
    scores: ScoresRecordingAids, adjusted_effects: list[AdjustedAidEffect], study: Study
) -> Iterator[str]:
    """Yield a sentence for each effect that is more than chance, with what turns the aid off."""
    aids = load_built_in_and_plugin_aids()
    analysts = format_count(scores.frame["analyst"].nunique(), "analyst")
    for movement in adjusted_effects:
        if not movement.is_significant:
            continue
        aid, effect = aids.get(movement.aid), movement.effect
        title = (aid.title if aid else movement.aid).capitalize()
        remedy = f" Turn them off: {aid.switch}." if aid else ""
        if movement.metric:
            scale, name = 100, study.rubric.display_names[movement.metric]
            shares = f"{movement.same_shown:.0%} are as suggested, {movement.same_withheld:.0%} where it was withheld"
            moved = f"values of {name}: {shares}"
        else:
            scale, moved = 1, f"M_all by {effect.difference:+.1f} points"
        interval = f"{effect.low * scale:.1f} to {effect.high * scale:.1f}"
        yield f"{title} move {moved} ({LEVEL:.0%} interval of the effect {interval}, {analysts}).{remedy}"


def tabulate_aid_effects_by_system(scores: ScoresRecordingAids, adjusted_effects: list[AdjustedAidEffect]) -> Table:
    """Tabulate what each aid did to M_all and to seconds, for all systems together and for each."""
    moving = {movement.aid for movement in adjusted_effects if movement.is_significant}
    rows = []
    for aid in scores.aid_names:
        of_aid = scores.select_scores_and_mark_aid_shown(aid)
        # What several systems said in the same words is of none of them.
        systems = sorted(system for system in of_aid["system"].unique() if SEVERAL not in system)
        for system in [ALL_SYSTEMS, *(systems if len(systems) > 1 else ())]:
            selected = of_aid if system == ALL_SYSTEMS else of_aid[of_aid["system"] == system]
            effect = _estimate_effect_on_column(selected, _POINTS)
            if effect.has_too_few_scores:
                continue
            meaning = "moves values" if system == ALL_SYSTEMS and aid in moving else ""
            rows.append(
                {
                    "aid": _aid_title_or_name(aid),
                    "system": system,
                    **{name: getattr(effect, name) for name in _ENDS},
                    **_convert_log_seconds_to_percent(_estimate_effect_on_column(selected, _SECONDS)),
                    "answers_with": effect.shown,
                    "answers_without": effect.withheld,
                    "meaning": meaning,
                }
            )
    numbers = [*_ENDS, *_PERCENT_OF_SECONDS]
    columns = ["aid", "system", *numbers, "answers_with", "answers_without", "meaning"]
    return make_table(
        "influence",
        "Influence of the desk",
        "What each aid of the desk did to M_all (in points) and to the seconds that a score took (in %): with it less "
        "without. Chance withheld each aid from one score in five, so nothing else tells these scores apart. "
        f"{_describe_recorded_score_counts(scores)} The effects are adjusted for analyst and system; "
        f"intervals ({LEVEL:.0%}) are "
        "clustered by answer and hold for these analysts, on answers of this kind; for analysts like these they are "
        f"clustered by analyst as well, from {LEAST_ANALYSTS} analysts on. Below {LEAST_SCORES} scores on a side it is "
        f"too early to say. An aid moves values where its p, adjusted for all aids (Holm), is below {_SIGNIFICANT:g}: "
        "on M_all, or on how many values are as suggested.",
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64")),
        columns,
        headings={
            "low": "for these analysts",
            "others_low": "for analysts like these",
            "seconds": "seconds, %",
            "seconds_low": "for these analysts",
            "answers_with": "scores with",
            "answers_without": "scores without",
        },
        formats={**dict.fromkeys(_ENDS, "+.1f"), **dict.fromkeys(_PERCENT_OF_SECONDS, "+.0f")},
    )


def describe_aids_with_too_few_scores(adjusted_effects: Iterable[AdjustedAidEffect]) -> str:
    """Say which aids have too few scores with or without them, how many there are and are needed; empty for none."""
    counts = [
        f"{_aid_title_or_name(movement.aid)} {movement.effect.shown:,} and {movement.effect.withheld:,}"
        for movement in adjusted_effects
        if not movement.metric and movement.effect.has_too_few_scores
    ]
    if not counts:
        return ""
    return (
        f"The influence of some aids of the desk is not shown: an aid needs {LEAST_SCORES} scores with it and "
        f"{LEAST_SCORES} from which chance withheld it, and so far there are: {'; '.join(counts)}."
    )


def _aid_title_or_name(aid_name: str) -> str:
    aid = load_built_in_and_plugin_aids().get(aid_name)
    return aid.title if aid else aid_name


def _convert_log_seconds_to_percent(effect_on_log_seconds: AidEffect) -> dict[str, float]:
    ends = (effect_on_log_seconds.difference, effect_on_log_seconds.low, effect_on_log_seconds.high)
    return dict(zip(_PERCENT_OF_SECONDS, (100 * expm1(end) for end in ends), strict=True))


def _describe_recorded_score_counts(scores: ScoresRecordingAids) -> str:
    analysts = format_count(scores.frame["analyst"].nunique(), "analyst")
    left_out = format_count(scores.unrecorded, "score")
    return (
        f"From {format_count(len(scores.frame), 'independent score')} by {analysts}; {left_out} that "
        f"{'does' if scores.unrecorded == 1 else 'do'} not record what was withheld are left out."
    )


def tabulate_aid_effects_by_metric(
    scores: ScoresRecordingAids, adjusted_effects: list[AdjustedAidEffect], study: Study
) -> Table:
    """Tabulate what each aid did to the values of each metric, and how many of them are as suggested."""
    rows = []
    compared = {(movement.aid, movement.metric): movement for movement in adjusted_effects if movement.metric}
    for aid in scores.aid_names:
        of_aid = scores.select_scores_and_mark_aid_shown(aid)
        for metric, name in study.rubric.display_names.items():
            effect = _estimate_effect_on_column(of_aid, metric)
            if isnan(effect.difference):
                continue
            row: dict[str, Any] = {"aid": _aid_title_or_name(aid), "metric": name}
            row |= {column: getattr(effect, column) for column in ("difference", "low", "high")}
            if movement := compared.get((aid, metric)):
                effect_on_shares = movement.effect
                row |= {"same_with": movement.same_shown, "same_without": movement.same_withheld}
                row |= {
                    "moved": effect_on_shares.difference,
                    "moved_low": effect_on_shares.low,
                    "moved_high": effect_on_shares.high,
                }
            rows.append(row)
    values, shares = ["difference", "low", "high"], ["same_with", "same_without", "moved", "moved_low", "moved_high"]
    columns = ["aid", "metric", *values, *shares]
    return make_table(
        "influence-metrics",
        "Influence by metric",
        "The same for the values of each metric (-1 to 1). For suggestions also the share of scores that equal what "
        "was suggested, or would have been where it was withheld, and the difference of these shares, adjusted, with "
        "its interval.",
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys([*values, *shares], "float64")),
        columns,
        headings={
            "low": "for these analysts",
            "same_with": "as suggested",
            "same_without": "as withheld",
            "moved": "moved",
            "moved_low": "for these analysts",
        },
        formats={**dict.fromkeys(values, "+.2f"), **dict.fromkeys(shares, ".0%"), "moved": "+.0%"},
    )
