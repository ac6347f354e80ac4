"""Points of annotated answers: what each score ticked of them, recall and harm rate by system.

Ticks count as values do: people's, of answers that no audit excludes; of an adjudicated answer the adjudication's
alone, else the mean over analysts. Ticks of points that were edited since count nowhere.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.answers.tidy import add_missing_fact_columns
from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.crossed import SHARES
from genaipa.reports.table import Table, make_table
from genaipa.runs.manifest import LEFT_OUT
from genaipa.runs.permission import SharingPermission
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.words import format_count
from genaipa_points.counts import find_points_by_run_document_question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.answers.study import Study
    from genaipa.reports.judged.verdicts import Verdicts


RECALL, HARM = "vital points said", "harm"
_MEASURES = {RECALL: "recall", HARM: "hurts"}
"""Measure → its column of `_answers`."""
_BY = ["system", "experiment"]
_RATE = ["rate", *BOTH[:-1], "questions", "documents"]
_PLACE = ["document", "question"]
_ANSWER = ["run", "key"]


def tabulate_point_recall_and_harm_rates(frame: pd.DataFrame) -> Table:
    """Tabulate recall of vital points and the harm rate of each system in each experiment, by people's ticks."""
    columns = [*_BY, "measure", "answers", *_RATE]
    data = _compute_recall_and_harm_by_people(frame)
    return make_table(
        "points",
        "Vital points, and harm",
        "Of the vital points of an annotated answer, the share that an answer says; and of the answers to "
        "questions with a point whose contradiction would hurt a reader, the share that contradicts such a point "
        "(harm). The ticks are people's: the adjudicator's if there are any, else the mean over analysts. Each "
        f"question has the same weight, regardless of how many documents and answers it has. {INTERVALS}",
        data.reindex(columns=columns),
        columns,
        formats=dict.fromkeys(_RATE[:5], ".0%"),
    )


@averages.cache_per_frame
def _compute_recall_and_harm_by_people(frame: pd.DataFrame) -> pd.DataFrame:
    return _compute_recall_and_harm_by_system(frame[frame["counted"]])


def tabulate_point_recall_and_harm_by_judge(study: Study, verdicts: Verdicts) -> Table:
    """Tabulate the same by each judge's ticks alone, in the order of systems' names: no estimate of what people say."""
    columns = ["judge", *_BY, "measure", "answers", "rate"]
    frame = add_missing_fact_columns(study.table, ["points"])
    rows = frame[(frame["scorer"] == "machine") & frame["points"].notna() & (frame["excluded"] == "")]
    judges = rows["analyst"].astype("str").map(verdicts.find_judge_name_or_empty)
    rates = [
        _compute_recall_and_harm_by_system(ticked).assign(judge=judge)
        for judge, ticked in rows.groupby(judges, sort=True)
        if judge
    ]
    return make_table(
        "points-judged",
        "Judges' ticks alone, not an estimate",
        "According to each judge's ticks, averaged over its passes. How far these ticks are off is unknown, "
        "except for what "
        "the agreement of judges with people shows.",
        pd.concat(rates) if rates else pd.DataFrame(columns=columns),
        columns,
        formats={"rate": ".0%"},
        faint=("rate",),
    )


def _compute_recall_and_harm_by_system(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each system, experiment and measure of these rows of a tidy table."""
    rows = add_missing_fact_columns(rows, ["points"])
    ticked = averages.select_policy_rows(rows[rows["points"].notna()])
    values = ticked.assign(
        recall=ticked["points_vital_said"] / ticked["points_vital"],
        hurts=ticked["harm"].astype("str").map({"yes": 1.0, "no": 0.0}).astype("float64"),
    )
    answers = values.groupby([*_BY, *_PLACE, *_ANSWER], observed=True)[[*_MEASURES.values()]].mean().reset_index()
    if answers.empty:
        return pd.DataFrame(columns=_BY)
    parts = [
        averages.summarize_each_group(answers, _BY, partial(_compute_recall_or_harm_rate, measure=measure))
        for measure in _MEASURES
    ]
    rates = pd.concat([rates for rates in parts if not rates.empty])
    return rates[rates["answers"] > 0].sort_values(_BY, kind="stable")


def _compute_recall_or_harm_rate(rows: pd.DataFrame, measure: str) -> dict[str, object]:
    column = _MEASURES[measure]
    mean = averages.estimate_column_mean(rows, column, SHARES[0])
    ends = {name: mean[name] for name in BOTH}
    answers = int(rows[column].notna().sum())
    return {"measure": measure, "answers": answers, "rate": mean["mean"], "questions": mean["n"], **ends}


# -- point by point --


def compute_said_and_contradicted_shares(study: Study) -> pd.DataFrame:
    """Return a row for each system, experiment and point: the shares of answers that say and that contradict it.

    Columns: `system`, `experiment`, `document`, `question`, `point` (its id), `weight`, `harm`, `said`, `contradicted`,
    `answers`, `text` and `why` (empty where these may not be shown).
    """
    frame = add_missing_fact_columns(study.table, ["points"])
    rows = averages.select_policy_rows(frame[frame["counted"] & frame["points"].notna()])
    ticks = {
        (score.answer, score.analyst, score.kind): score.ticks
        for score in effective_scores_and_adjudications(study.log.counted)
        if score.ticks
    }
    points_by_answer, quotable = (
        find_points_by_run_document_question(study.sources, study.annotated.answers),
        _find_quotable_runs_and_documents(study, rows),
    )
    states, about = [], ["answer", "analyst", "role", *_BY, *_PLACE, *_ANSWER]
    for answer, analyst, role, *coordinates in rows[about].astype("str").itertuples(index=False, name=None):
        system, experiment, document, question, run, key = coordinates
        ticked = ticks[answer, analyst, role]
        for number, point in enumerate(points_by_answer[run, document, question].points):
            is_shown = (run, document) in quotable and point.text != LEFT_OUT
            words = (point.text, point.why) if is_shown else ("", "")
            state = (point.id in ticked.said, point.id in ticked.contradicted)
            about_point = (number, point.id, point.weight, "yes" if point.if_wrong else "", *words)
            states.append((system, experiment, document, question, *about_point, run, key, *state))
    columns = ["number", "point", "weight", "harm", "text", "why"]
    data = pd.DataFrame(states, columns=[*_BY, *_PLACE, *columns, *_ANSWER, "said", "contradicted"])
    if data.empty:
        return data.assign(answers=[])
    for column in (*_BY, *_PLACE):
        data[column] = pd.Categorical(data[column], frame[column].cat.categories)
    groups = [*_BY, *_PLACE, *columns]
    answers = data.groupby([*groups, *_ANSWER], observed=True)[["said", "contradicted"]].mean().reset_index()
    shares = answers.groupby(groups, observed=True).agg(
        said=("said", "mean"), contradicted=("contradicted", "mean"), answers=("said", "size")
    )
    return shares.reset_index()


def _find_quotable_runs_and_documents(study: Study, rows: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the runs and documents of these rows whose annotated answers may be passed on in words."""
    places = {*rows[["run", "document"]].astype("str").itertuples(index=False, name=None)}
    runs = {run for run, _ in places}
    sources = [source for source in study.sources if source.folder.name in runs]
    permissions = {source.folder.name: SharingPermission(source.folder, source.manifest) for source in sources}
    return {(run, document) for run, document in places if permissions[run].may_share_annotations(document)}


def tabulate_missed_points(point_shares: pd.DataFrame) -> Table:
    """Tabulate the points of `compute_said_and_contradicted_shares` in each experiment, most missed first.

    Averaged over systems.
    """
    by = ["experiment", *_PLACE, "number", "point", "weight", "harm", "text"]
    data = point_shares.groupby(by, observed=True).agg(
        said=("said", "mean"), contradicted=("contradicted", "mean"), systems=("system", "nunique")
    )
    columns = ["experiment", *_PLACE, "point", "weight", "harm", "said", "contradicted", "systems", "text"]
    return make_table(
        "points-missed",
        "Points missed most",
        "How often the answers of a system say each point of an annotated answer, and how often they contradict "
        "it, averaged over systems. The CSV beside the heat map has the shares of each "
        f"system.{_note_left_out_point_texts_if_any(point_shares)}",
        sort_points_most_missed_first(data.reset_index()).sort_values("experiment", kind="stable"),
        columns,
        formats=dict.fromkeys(("said", "contradicted"), ".0%"),
    )


def sort_points_most_missed_first(point_shares: pd.DataFrame) -> pd.DataFrame:
    """Sort points by how often they are missed; of those alike, vital and contradicted ones come first."""
    vital = point_shares["weight"] == "vital"
    order = ["said", "_vital", "contradicted"]
    return point_shares.assign(_vital=vital).sort_values(order, ascending=[True, False, False], kind="stable")


def tabulate_harmful_contradictions(point_shares: pd.DataFrame) -> Table:
    """Tabulate the points that a system contradicts and it would hurt, and the sentences that contradict them."""
    columns = [*_BY, *_PLACE, "point", "contradicted", "answers", "text", "why"]
    rows = point_shares[(point_shares["harm"] == "yes") & (point_shares["contradicted"] > 0)]
    return make_table(
        "points-harm",
        "Harmful contradictions",
        "Each point marked as harmful that a system contradicts, the share of the system's answers to the question "
        "that contradict the point, and why a contradiction would hurt a reader, according to the annotated "
        f"answer.{_note_left_out_point_texts_if_any(rows)}",
        rows,
        columns,
        formats={"contradicted": ".0%"},
    )


def _note_left_out_point_texts_if_any(point_rows: pd.DataFrame) -> str:
    left_out = (point_rows["text"] == "").any()
    return " The words of points that may not be passed on are left out." if left_out else ""


# -- in words --

_NAMED = 3
"""Systems that the sentence names, the most harmful first."""


def describe_harm_rates_in_a_sentence_if_any(frame: pd.DataFrame) -> list[str]:
    """Name the systems that contradict a point whose contradiction would hurt, in a sentence; none without one."""
    rates = _compute_recall_and_harm_by_people(frame)
    rows = rates[rates["measure"] == HARM] if len(rates) else rates
    if not len(rows) or not rows["rate"].gt(0).any():
        return []
    wide = bool(rows["policies_low"].notna().all())
    several = len(rows["experiment"].unique()) > 1
    ordered = rows.sort_values("rate", ascending=False, kind="stable").to_dict("records")
    named = [_describe_harm_rate_of_system(row, use_policies_interval=wide, name_experiment=several) for row in ordered]
    more_note = f" and {format_count(len(named) - _NAMED, 'more system')}" if len(named) > _NAMED else ""
    target = "policies like these" if wide else "these documents"
    head = f"Harmful answers, by the points that they contradict (95 % intervals for {target})"
    return [f"{head}: {', '.join(named[:_NAMED])}{more_note}."]


def _describe_harm_rate_of_system(row: Mapping[Any, Any], *, use_policies_interval: bool, name_experiment: bool) -> str:
    low, high = (row["policies_low"], row["policies_high"]) if use_policies_interval else (row["low"], row["high"])
    where = f" in {row['experiment']}" if name_experiment else ""
    interval = f" ({low * 100:.0f} to {high * 100:.0f})" if pd.notna(low) else ""
    return f"{row['system']} {row['rate'] * 100:.0f} %{interval} of {format_count(row['answers'], 'answer')}{where}"
