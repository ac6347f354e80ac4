"""Points of annotated answers: what each score ticked of them, recall and harm rate by system, and who agrees.

Ticks count as values do: people's, of answers that no audit excludes; of an adjudicated answer the adjudication's
alone, else the mean over analysts. Ticks of points that were edited since count nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.answers.tidy import with_facts
from genaipa.judging.name import Judge
from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.crossed import SHARES
from genaipa.reports.judged.verdicts import LEAST, not_meaningful, without_value
from genaipa.reports.table import Table, table
from genaipa.scoring.agreement import describe_agreement
from genaipa.scoring.current import in_effect, independent_scores
from genaipa.stats.agreement import measure_agreement, measure_agreement_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.questions.points import Ticks
    from genaipa.reports.judged.verdicts import Verdicts
    from genaipa.scoring.events import Event
    from genaipa.stats.agreement import ScaleAgreement

    _Ticked = dict[tuple[str, int], NDArray[np.int64]]
    """(answer, number of its point) → how many found it contradicted, not said and said."""


RECALL, HARM = "vital points said", "harm"
_MEASURES = {RECALL: "recall", HARM: "hurts"}
"""Measure → its column of `_answers`."""
_BY = ["system", "experiment"]
_RATE = ["rate", *BOTH[:-1], "questions", "documents"]
_PLACE = ["document", "question"]
_KEPT = ["run", "key"]


def rates(frame: pd.DataFrame) -> Table:
    """Recall of vital points and the harm rate of each system in each experiment, by people's ticks."""
    columns = [*_BY, "measure", "answers", *_RATE]
    data = _peoples(frame)
    return table(
        "points",
        "Vital points, and harm",
        "Of the vital points of an annotated answer, the share that an answer says; and of the answers to questions "
        "with a point whose contradiction would hurt a reader, the share that contradicts one (harm). People's ticks: "
        "an adjudication's if there is one, else the mean over analysts. Each question weighs the same, however many "
        f"documents and answers it has. {INTERVALS}",
        data.reindex(columns=columns),
        columns,
        formats=dict.fromkeys(_RATE[:5], ".0%"),
    )


@averages.kept
def _peoples(frame: pd.DataFrame) -> pd.DataFrame:
    return _rates(frame[frame["counted"]])


def judged_rates(study: Study, given: Verdicts) -> Table:
    """The same by each judge's ticks alone, systems in the order of their names: no estimate of what people say."""
    columns = ["judge", *_BY, "measure", "answers", "rate"]
    frame, names = with_facts(study.table, ["points"]), _names(given)
    rows = frame[(frame["scorer"] == "machine") & frame["points"].notna() & (frame["excluded"] == "")]
    judges = rows["analyst"].astype("str").map(lambda analyst: names.get(_judge(analyst), ""))
    each = [_rates(own).assign(judge=judge) for judge, own in rows.groupby(judges, sort=True) if judge]
    return table(
        "points-judged",
        "Judges alone: no estimate",
        "By each judge's ticks, averaged over its passes. Nobody knows how far they are off, but for how far judges "
        "agree with people.",
        pd.concat(each) if each else pd.DataFrame(columns=columns),
        columns,
        formats={"rate": ".0%"},
        faint=("rate",),
    )


def _names(given: Verdicts) -> dict[tuple[str, str], str]:
    """Model and prompt → the judge's name."""
    return {(given.models[name], given.prompts[name]): name for name in given.judges}


def _judge(analyst: str) -> tuple[str, str]:
    judge = Judge.parse(analyst)
    return (judge.model, judge.prompt) if judge else ("", "")


def _rates(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each system, experiment and measure of these rows of a tidy table."""
    rows = with_facts(rows, ["points"])
    known = averages.about_policies(rows[rows["points"].notna()])
    values = known.assign(
        recall=known["points_vital_said"] / known["points_vital"],
        hurts=known["harm"].astype("str").map({"yes": 1.0, "no": 0.0}).astype("float64"),
    )
    each = values.groupby([*_BY, *_PLACE, *_KEPT], observed=True)[[*_MEASURES.values()]].mean().reset_index()
    found = [averages.summed_up(each, _BY, partial(_rate, measure=measure)) for measure in _MEASURES]
    every = pd.concat([one for one in found if not one.empty]) if not each.empty else pd.DataFrame(columns=_BY)
    return every[every["answers"] > 0].sort_values(_BY, kind="stable") if len(every) else every


def _rate(rows: pd.DataFrame, measure: str) -> dict[str, object]:
    column = _MEASURES[measure]
    found = averages.mean_of(rows, column, SHARES[0])
    sure = {"rate": found["mean"], "questions": found["n"], **{name: found[name] for name in BOTH}}
    return {"measure": measure, "answers": int(rows[column].notna().sum()), **sure}


# -- point by point --


def by_point(study: Study) -> pd.DataFrame:
    """A row for each system, experiment and point: the shares of its answers that say and that contradict it.

    Columns: `system`, `experiment`, `document`, `question`, `point` (its id), `weight`, `harm`, `said`, `contradicted`,
    `answers`, `text` and `why` (empty where these may not be shown).
    """
    frame = with_facts(study.table, ["points"])
    rows = averages.about_policies(frame[frame["counted"] & frame["points"].notna()])
    ticks = {(one.answer, one.analyst, one.kind): one.ticks for one in in_effect(study.log.counted) if one.ticks}
    given, about = [], ["answer", "analyst", "role", *_BY, *_PLACE, *_KEPT]
    for answer, analyst, role, *place in rows[about].astype("str").itertuples(index=False, name=None):
        system, experiment, document, question, run, key = place
        of, own = study.annotated.points[run, document, question], ticks[answer, analyst, role]
        for number, point in enumerate(of.points):
            words = (point.text, point.why) if of.has_words else ("", "")
            states = (point.id in own.said, point.id in own.contradicted)
            mark = "yes" if point.if_wrong else ""
            which = (number, point.id, point.weight, mark, *words)
            given.append((system, experiment, document, question, *which, run, key, *states))
    columns = ["number", "point", "weight", "harm", "text", "why"]
    data = pd.DataFrame(given, columns=[*_BY, *_PLACE, *columns, *_KEPT, "said", "contradicted"])
    if data.empty:
        return data.assign(answers=[])
    for column in (*_BY, *_PLACE):
        data[column] = pd.Categorical(data[column], frame[column].cat.categories)
    groups = [*_BY, *_PLACE, *columns]
    each = data.groupby([*groups, *_KEPT], observed=True)[["said", "contradicted"]].mean().reset_index()
    found = each.groupby(groups, observed=True).agg(
        said=("said", "mean"), contradicted=("contradicted", "mean"), answers=("said", "size")
    )
    return found.reset_index()


def missed(points: pd.DataFrame) -> Table:
    """A row for each experiment and point of `by_point`, the most missed first; averaged over systems."""
    by = ["experiment", *_PLACE, "number", "point", "weight", "harm", "text"]
    each = points.groupby(by, observed=True)
    data = each.agg(said=("said", "mean"), contradicted=("contradicted", "mean"), systems=("system", "nunique"))
    columns = ["experiment", *_PLACE, "point", "weight", "harm", "said", "contradicted", "systems", "text"]
    return table(
        "points-missed",
        "Points missed most",
        "How often the answers of a system say each point of an annotated answer, and how often they contradict it, "
        f"averaged over systems. By system: the CSV beside the heat map.{_wordless(points)}",
        worst_first(data.reset_index()).sort_values("experiment", kind="stable"),
        columns,
        formats=dict.fromkeys(("said", "contradicted"), ".0%"),
    )


def worst_first(points: pd.DataFrame) -> pd.DataFrame:
    """The points in the order of how often they are missed; of those alike, vital and contradicted ones first."""
    vital = points["weight"] == "vital"
    order = ["said", "_vital", "contradicted"]
    return points.assign(_vital=vital).sort_values(order, ascending=[True, False, False], kind="stable")


def contradicted(points: pd.DataFrame) -> Table:
    """The points of `by_point` whose contradiction would hurt and that a system contradicts, with the reason."""
    columns = [*_BY, *_PLACE, "point", "contradicted", "answers", "text", "why"]
    rows = points[(points["harm"] == "yes") & (points["contradicted"] > 0)]
    return table(
        "points-harm",
        "Harmful contradictions",
        "Each point marked as harm that a system contradicts, and in what share of its answers to the question; why "
        f"that would hurt, by the annotated answer.{_wordless(rows)}",
        rows,
        columns,
        formats={"contradicted": ".0%"},
    )


def _wordless(points: pd.DataFrame) -> str:
    left_out = (points["text"] == "").any()
    return " Words of points that may not be passed on are left out." if left_out else ""


# -- agreement --

_SCALE = np.array([-1.0, 0.0, 1.0])
"""Contradicted, not said, said."""
_ALPHA = ("alpha", "low", "high", "ac2", "commonest", "agreement")
_HEADINGS = {
    "low": "interval",
    "ac2": "AC2",
    "commonest": "commonest value",
    "agreement": "same value",
    "reason": "why blank",
}
_MEASURED = (
    "Krippendorff's alpha over answers and points (said, not said, contradicted, in this order), with its interval for "
    "other answers; Gwet's AC2, and the shares of the commonest value and of equal ones."
)


def agreement(study: Study) -> Table:
    """Agreement of people with each other on points; empty until two have ticked the same."""
    people = _ticked(study, independent_scores(study.log.counted))
    units = [unit for unit, counts in people.items() if counts.sum() > 1]
    return _as_table(
        "points-agreement",
        "Agreement on points",
        f"{_MEASURED} Over the points that two or more people ticked before they saw any other's.",
        [_row(units, measure_agreement(_block(people, units), _SCALE, _answers(units)))] if units else [],
    )


def judges_agreement(study: Study, given: Verdicts) -> Table:
    """Agreement of each judge that ticked points with people."""
    people = _ticked(study, independent_scores(study.log.counted))
    rows = []
    for judge, events in _verdicts(study, given).items():
        own = _ticked(study, events)
        units = [unit for unit in own if unit in people]
        if own:
            found = measure_agreement_between(_block(own, units), _block(people, units), _SCALE, _answers(units))
            rows.append({"judge": judge, **_row(units, found, least=LEAST)})
    return _as_table(
        "judges-points",
        "How far judges agree with people on points",
        f"{_MEASURED} Each person and each pass counts alike. Not meaningful, and blank, below {LEAST} answers with "
        "points that both ticked.",
        rows,
        "judge",
    )


def _ticked(study: Study, events: Iterable[Event]) -> _Ticked:
    known = study.points
    found: defaultdict[tuple[str, int], NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(_SCALE), np.int64))
    for event in events:
        of, ticks = known.get(event.answer), event.ticks
        if of is not None and of.are_in(ticks):
            for number, point in enumerate(of.points):
                found[event.answer, number][_place(ticks, point.id)] += 1
    return dict(found)


def _place(ticks: Ticks, point: str) -> int:
    """The place of what was ticked of a point in `_SCALE`."""
    return 2 if point in ticks.said else 0 if point in ticks.contradicted else 1


def _verdicts(study: Study, given: Verdicts) -> dict[str, list[Event]]:
    """The verdicts in effect of each judge."""
    names = _names(given)
    found: dict[str, list[Event]] = {name: [] for name in given.judges}
    for event in in_effect(one for one in study.log.counted if one.scorer == "machine" or one.kind == "undo"):
        if name := names.get(_judge(event.analyst)):
            found[name].append(event)
    return found


def _block(ticked: _Ticked, units: Sequence[tuple[str, int]]) -> NDArray[np.int64]:
    return np.array([ticked[unit] for unit in units], dtype=np.int64).reshape(-1, len(_SCALE))


def _answers(units: Sequence[tuple[str, int]]) -> NDArray[np.int64]:
    """The number of each point's answer."""
    places = {answer: place for place, answer in enumerate(dict.fromkeys(answer for answer, _ in units))}
    return np.array([places[answer] for answer, _ in units], dtype=np.int64)


def _row(units: Sequence[tuple[str, int]], found: ScaleAgreement, least: int = 0) -> dict[str, object]:
    answers = len({answer for answer, _ in units})
    about: dict[str, object] = {"answers": answers, "points": len(units)}
    if answers < least:
        return {**about, "reason": not_meaningful(answers)}
    row = {**about, **describe_agreement(found)}
    return {**row, "reason": "all points were found alike"} if isnan(found.alpha) else row


def _as_table(name: str, title: str, note: str, rows: list[dict[str, object]], *about: str) -> Table:
    columns = [*about, "answers", "points", *_ALPHA, "reason"]
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_ALPHA, "float64"))
    aside = without_value(data, "reason")
    return table(
        name,
        title,
        note,
        data,
        [column for column in columns if column not in aside],
        headings=_HEADINGS,
        formats=dict.fromkeys(("low", "high"), ".2f"),
        aside=aside,
    )


# -- in words --

_NAMED = 3
"""Systems that the sentence names, the most harmful first."""


def harm_in_words(frame: pd.DataFrame) -> list[str]:
    """A sentence on the systems that contradict a point whose contradiction would hurt a reader; none without one."""
    found = _peoples(frame)
    rows = found[found["measure"] == HARM] if len(found) else found
    if not len(rows) or not rows["rate"].gt(0).any():
        return []
    wide = bool(rows["policies_low"].notna().all())
    several = len(rows["experiment"].unique()) > 1
    ordered = rows.sort_values("rate", ascending=False, kind="stable").to_dict("records")
    named = [_said(row, wide=wide, several=several) for row in ordered]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    target = "policies like these" if wide else "these documents"
    said = f"Harmful answers, by the points that they contradict (95 % for {target})"
    return [f"{said}: {', '.join(named[:_NAMED])}{more}."]


def _said(row: Mapping[Any, Any], *, wide: bool, several: bool) -> str:
    low, high = (row["policies_low"], row["policies_high"]) if wide else (row["low"], row["high"])
    where = f" in {row['experiment']}" if several else ""
    sure = f" ({low * 100:.0f} to {high * 100:.0f})" if pd.notna(low) else ""
    return f"{row['system']} {row['rate'] * 100:.0f} %{sure} of {row['answers']}{where}"
