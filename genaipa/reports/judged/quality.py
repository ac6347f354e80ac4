"""Quality of judges: agreement, the values that they confuse, drift, leniency, and the alternative annotator test.

All but leniency compares verdicts with people's independent scores, as alpha among people does: given before seeing
others', without adjudications. Below `LEAST` answers scored by both sides nothing is said. Leniency is by how much a
judge's values are above what averages take. `findings.py` says what each judge is worth in sentences.

The alternative annotator test (`stats.annotators`) grants a judge an advantage of `EPSILON` for what it saves; it
passes where it wins against half of the people or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.judging.name import are_of_same_family
from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS, note_few_documents
from genaipa.reports.crossed import estimate_crossed_mean, explain_missing_interval_or_empty
from genaipa.reports.judged.verdicts import LEAST, OVERALL, empty_columns, explain_too_few_answers_or_empty
from genaipa.reports.table import Table, make_table
from genaipa.scoring.agreement import alpha_ac2_and_reason_columns, explain_missing_alpha_or_empty
from genaipa.scoring.rubric import M_ALL_WIDTH, format_signed_value
from genaipa.stats.agreement import compute_confusion_matrix
from genaipa.stats.annotators import FEWEST_PEOPLE, run_alternative_annotator_test
from genaipa.stats.correlation import correlate_clustered_values
from genaipa.stats.intervals import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from genaipa.answers.study import Study
    from genaipa.reports.judged.verdicts import GivenScores, Mask, Places, Verdicts
    from genaipa.stats.agreement import AlphaDifference, ScaleAgreement

    Row = dict[Any, Any]


PEOPLE, EACH_OTHER, ITSELF, OTHERS = "people", "each other", "itself", "other judges"
_MOST_PARTS = 3
"""Parts of the time in which people scored."""
_ALPHA = ("alpha", "low", "high", "ac2", "commonest", "agreement")
_R = ("r", "r_low", "r_high")
BLANK = f"Left blank, as not meaningful, where both scored fewer than {LEAST} answers."
_HEADINGS = {
    "low": "interval",
    "ac2": "AC2",
    "commonest": "commonest value",
    "agreement": "same value",
    "reason": "why blank",
}


def judge_agreement_table(verdicts: Verdicts) -> Table:
    """Tabulate alpha of each judge with people, with itself and with other judges, and of people with each other."""
    columns = ["measure", "judge", "with", "answers", *_ALPHA, *_R, "reason"]
    measures = enumerate(verdicts.measure_names.values())
    rows = [{"measure": name, **row} for measure, name in measures for row in _judge_agreement_rows(verdicts, measure)]
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys((*_ALPHA, *_R), "float64"))
    aside = empty_columns(data, "reason")
    return make_table(
        "judges-agreement",
        "How far judges agree with people",
        "Krippendorff's alpha for ordinal values (1 is perfect agreement, 0 agreement by chance) with its interval "
        f"({LEVEL:.0%} confidence, for other answers of this kind); Gwet's AC2, which stays high where nearly all "
        "values are equal and alpha falls; the shares of the commonest value and of pairs with the same value. The "
        "agreement of people with each other is the level that a judge has to reach. A judge is compared with people "
        "over the answers that both scored, each person and each pass counting equally; with itself over its passes; "
        "and with all other judges. r is the correlation over answers between the judge's mean over passes and "
        "people's mean, with an interval for other questions of this kind. People's scores are those that they gave "
        f"before they saw anyone else's, without adjudications. {BLANK}",
        data,
        [column for column in columns if column not in aside],
        headings={**_HEADINGS, "r_low": "interval of r"},
        formats=dict.fromkeys(("low", "high", *_R), ".2f"),
        aside=aside,
    )


def _judge_agreement_rows(verdicts: Verdicts, measure_index: int) -> Iterator[dict[str, object]]:
    people = verdicts.people
    if len(people.answer):
        yield {"judge": PEOPLE, "with": EACH_OTHER, **_agreement_columns_among_scorers(verdicts, people, measure_index)}
    for judge, side in verdicts.judges.items():
        r = _correlation_columns_of_judge(verdicts, judge, measure_index)
        yield {
            "judge": judge,
            "with": PEOPLE,
            **_agreement_columns_between_sides(verdicts, side, people, measure_index),
            **r,
        }
        if len(side.scorers) > 1:
            yield {"judge": judge, "with": ITSELF, **_agreement_columns_among_scorers(verdicts, side, measure_index)}
        other_judges = [verdicts.judges[name] for name in verdicts.judges if name != judge]
        if other_judges:
            yield {
                "judge": judge,
                "with": OTHERS,
                **_agreement_columns_between_sides(
                    verdicts, side, other_judges[0].join_scores(other_judges[1:]), measure_index
                ),
            }


def _agreement_columns_among_scorers(
    verdicts: Verdicts, given_scores: GivenScores, measure_index: int
) -> dict[str, object]:
    """Agreement of scorers with each other, on the answers that two or more of them scored."""
    selected = given_scores.score_count_of_each_answer > 1
    return _agreement_columns_or_reason(
        int(selected.sum()), verdicts.measure_agreement_of_scorers(given_scores, selected, measure_index)
    )


def _agreement_columns_between_sides(
    verdicts: Verdicts, first: GivenScores, second: GivenScores, measure_index: int
) -> dict[str, object]:
    """Agreement of two sides, on the answers that both scored."""
    selected = (first.score_count_of_each_answer > 0) & (second.score_count_of_each_answer > 0)
    return _agreement_columns_or_reason(
        int(selected.sum()), verdicts.measure_agreement_of_sides(first, second, selected, measure_index)
    )


def _agreement_columns_or_reason(answer_count: int, agreement: ScaleAgreement) -> dict[str, object]:
    if answer_count < LEAST:
        return {"answers": answer_count, "reason": explain_too_few_answers_or_empty(answer_count)}
    return {"answers": answer_count, **alpha_ac2_and_reason_columns(agreement)}


MARGIN = 0.1
"""Difference of two alphas up to which a judge agrees with people as much as people do with each other."""
AS_MUCH, LESS, MORE, NOT_KNOWN = "as much", "less", "more", "not known"


def judge_minus_people_alpha_table(verdicts: Verdicts) -> Table:
    """Tabulate alpha of each judge with people less people's with each other, on the same answers."""
    columns = ["judge", "measure", "answers", "alpha", "people", "difference", "low", "high", "verdict", "reason"]
    rows = [
        {
            "judge": judge,
            "measure": name,
            **_alpha_difference_columns(*verdicts.count_answers_and_compare_alphas(judge, measure)),
        }
        for judge in verdicts.judges
        for measure, name in enumerate(verdicts.measure_names.values())
    ]
    ends = ("low", "high")
    numbers = ("alpha", "people", "difference", *ends)
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, "float64"))
    aside = empty_columns(data, "reason")
    return make_table(
        "judges-against-people",
        "A judge with people, and people with each other",
        "Krippendorff's alpha of the judge with people, and that of the same people with each other, on the same "
        "answers: those that the judge and two people or more scored. The difference has its interval (a jackknife "
        f"over these answers, {LEVEL:.0%} confidence). The judge agrees as much as people do only if all of the "
        f"interval is within the margin, {MARGIN:g} either way; less or more if the interval excludes 0 and is not "
        "within the margin; else the result is not known. Finding no difference does not show equality: too few "
        f"answers show neither. Left blank, as not meaningful, for fewer than {LEAST} such answers.",
        data,
        [column for column in columns if column not in aside],
        headings={"alpha": "with people", "people": "people", "low": "interval", "reason": "why blank"},
        formats={"people": ".2f", **dict.fromkeys(("difference", *ends), "+.2f")},
        aside=aside,
    )


def _alpha_difference_columns(answer_count: int, difference: AlphaDifference | None) -> dict[str, object]:
    if difference is None:
        return {"answers": answer_count, "verdict": NOT_KNOWN, "reason": explain_too_few_answers_or_empty(answer_count)}
    return {
        "answers": answer_count,
        "alpha": difference.side,
        "people": difference.people,
        "difference": difference.side - difference.people,
        "low": difference.low,
        "high": difference.high,
        "verdict": _classify_alpha_difference_by_margin(difference.low, difference.high),
        "reason": explain_missing_alpha_or_empty(difference.why),
    }


def _classify_alpha_difference_by_margin(low: float, high: float) -> str:
    if np.isnan(low):
        return NOT_KNOWN
    if low >= -MARGIN and high <= MARGIN:
        return AS_MUCH
    return LESS if high < 0 else MORE if low > 0 else NOT_KNOWN


def group_answers_by_silence_and_language(study: Study) -> dict[str, dict[str, str]]:
    """Group answers by whether the document is `silent` and by its `language`: answer's digest → its group.

    A grouping that puts all answers into one group is left out, except a column that was asked for (`groups`).
    """
    answer_rows = study.table.loc[study.table["answer"] != "", ["answer", "document", "silent"]]
    answer_rows = answer_rows.drop_duplicates("answer").astype("str")
    group_values = {
        "silent": [_SILENT.get(value, "") for value in answer_rows["silent"]],
        "language": [study.document_languages.get(document, "") for document in answer_rows["document"]],
    }
    requested = study.groups
    if requested:
        group_values[requested.by] = [
            requested.group_by_document.get(document, "") for document in answer_rows["document"]
        ]
    groups = {by: dict(zip(answer_rows["answer"], group, strict=True)) for by, group in group_values.items()}
    wanted = requested.by if requested else ""
    return {by: group for by, group in groups.items() if by == wanted or len({*group.values()} - {""}) > 1}


def judge_agreement_by_group_table(
    verdicts: Verdicts, answer_groups_by_trait: Mapping[str, Mapping[str, str]]
) -> Table:
    """Tabulate alpha of each judge with people, by group of answers (`group_answers_by_silence_and_language`)."""
    columns = ["judge", "by", "group", "measure", "answers", *_ALPHA, "reason"]
    rows: list[dict[str, object]] = []
    for judge, both_scored in verdicts.scored_by_judge_and_people.items():
        for by, group_by_answer in answer_groups_by_trait.items():
            of = np.array([group_by_answer.get(answer, "") for answer in verdicts.answers], dtype=np.str_)
            for group in sorted({*of[both_scored]} - {""}):
                selected = both_scored & (of == group)
                enough = selected.sum() >= LEAST
                for measure, name in list(enumerate(verdicts.measure_names.values()))[: None if enough else 1]:
                    measured = verdicts.measure_agreement_of_sides(
                        verdicts.judges[judge], verdicts.people, selected, measure
                    )
                    about = {"judge": judge, "by": by, "group": str(group), "measure": name}
                    rows.append({**about, **_agreement_columns_or_reason(int(selected.sum()), measured)})
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_ALPHA, "float64"))
    aside = empty_columns(data, "reason")
    return make_table(
        "judges-agreement-apart",
        "Agreement with people, by group",
        "A judge with people, measured as in the table of all answers, for questions on which the document is silent, "
        f"partly silent or not silent, by the document's language where there are several, and by a column that you "
        f"name. {BLANK}",
        data,
        [column for column in columns if column not in aside],
        headings=_HEADINGS,
        formats=dict.fromkeys(("low", "high"), ".2f"),
        aside=aside,
    )


# -- correlation --


def _correlation_columns_of_judge(verdicts: Verdicts, judge: str, measure_index: int) -> dict[str, object]:
    both_scored = verdicts.scored_by_judge_and_people[judge]
    if both_scored.sum() < LEAST:
        return {}
    ours, theirs = (side.answer_means[both_scored, measure_index] for side in (verdicts.judges[judge], verdicts.people))
    _, questions = np.unique(verdicts.questions[both_scored], return_inverse=True)
    correlation = correlate_clustered_values(ours, theirs, questions)
    return {"r": correlation.r, "r_low": correlation.low, "r_high": correlation.high}


# -- the values, and time --


def judge_confusion_table(verdicts: Verdicts) -> Table:
    """Count a judge's values where people give each: a row for each of people's values."""
    values = verdicts.rubric.values
    columns = ["judge", "metric", "people", *(f"judge {format_signed_value(value)}" for value in values)]
    rows = []
    for judge, both_scored in verdicts.scored_by_judge_and_people.items():
        for measure, name in list(enumerate(verdicts.measure_names.values()))[1:] if both_scored.sum() >= LEAST else ():
            ours, theirs = (
                verdicts.count_values_of_each_answer(side, both_scored, measure)
                for side in (verdicts.people, verdicts.judges[judge])
            )
            # The scale goes up, the rubric's values go down.
            crossed = compute_confusion_matrix(ours, theirs)[::-1, ::-1]
            for value, line in zip(values, crossed.tolist(), strict=True):
                rows.append(dict(zip(columns, (judge, name, format_signed_value(value), *line), strict=True)))
    data = pd.DataFrame(rows, columns=columns)
    whole = all((data[column] % 1 == 0).all() for column in columns[3:])
    return make_table(
        "judges-confusion",
        "A judge's values against people's",
        "Numbers of answers that people and the judge both scored. An answer that several people scored, or that the "
        "judge scored in several passes, is divided among their values.",
        data,
        columns,
        headings={"people": "people gave"},
        formats=dict.fromkeys(columns[3:], ".0f" if whole else ".1f"),
    )


def judge_agreement_drift_table(verdicts: Verdicts) -> Table:
    """Tabulate alpha of each judge with people, in parts by the order in which people scored the answers."""
    columns = ["judge", "measure", "part", "since", "answers", *_ALPHA, "reason"]
    rows = []
    for judge, both_scored in verdicts.scored_by_judge_and_people.items():
        order, first = _sort_answers_and_first_scoring_times(verdicts.people, both_scored)
        parts = min(_MOST_PARTS, len(order) // LEAST)
        for measure, name in enumerate(verdicts.measure_names.values()) if parts > 1 else ():
            for number, places in enumerate(np.array_split(np.arange(len(order)), parts), 1):
                selected = np.isin(np.arange(len(both_scored)), order[places])
                measured = verdicts.measure_agreement_of_sides(
                    verdicts.judges[judge], verdicts.people, selected, measure
                )
                about = {"judge": judge, "measure": name, "part": f"{number} of {parts}"}
                rows.append(
                    {**about, "since": first[places[0]][:10], **_agreement_columns_or_reason(len(places), measured)}
                )
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_ALPHA, "float64"))
    aside = empty_columns(data, "reason")
    return make_table(
        "judges-drift",
        "Agreement in the order in which people scored",
        "Krippendorff's alpha and Gwet's AC2 of a judge with people, and the shares of the commonest and of equal "
        "values, in halves or thirds of the answers that both scored, by the time at which people first scored "
        f"them. A judge's verdict does not depend on that time, so a change between parts is people's drift or comes "
        f"from different answers. Each part has at least {LEAST} answers, and there are at most three parts.",
        data,
        [column for column in columns if column not in aside],
        headings=_HEADINGS,
        formats=dict.fromkeys(("low", "high"), ".2f"),
        aside=aside,
    )


def _sort_answers_and_first_scoring_times(people: GivenScores, selected: Mask) -> tuple[Places, list[str]]:
    """Return the selected answers in the order in which people first scored them, and when that was."""
    by_time = np.argsort(people.time, kind="stable")
    answers, first = np.unique(people.answer[by_time], return_index=True)
    order = np.argsort(first, kind="stable")
    places = answers[order]
    times = people.time[by_time][first[order]]
    is_selected = selected[places]
    return places[is_selected], times[is_selected].tolist()


EPSILON = 0.15
"""Advantage of a judge over people who are trained for the task, as the authors advise (0.2 for experts)."""
PASSES = 0.5
"""Winning rate from which a judge passes."""
_Q = 0.05
"""Rate of false discoveries among the wins against people."""
_ADVISED = 3
"""People that the authors advise; with two, it only shows whom of them the judge is nearer to."""


def alternative_annotator_test_table(verdicts: Verdicts) -> Table:
    """Tabulate the test of each judge on M_all and each metric, or why it can't be done."""
    columns = ["judge", "measure", "people", "answers", "winning", "advantage", "passes", "reason"]
    rows = [
        {"judge": judge, "measure": name, **_run_alternative_annotator_test(verdicts, judge, measure)}
        for judge in verdicts.judges
        for measure, name in enumerate(verdicts.measure_names.values())
    ]
    return make_table(
        "judges-alternative",
        "The alternative annotator test",
        "Whether a judge may take a person's place. Each person is left out in turn: is the judge as near to the "
        "others' values (root of the mean squared difference), answer by answer, as that person? The advantage is the "
        "share of answers in which it is, averaged over people. The winning rate is the share of people for whom a t "
        f"test shows that it is, with an advantage of {EPSILON:g} for the judge (trained people) and at a false "
        f"discovery rate of {_Q:g} over people (Benjamini and Yekutieli). A judge passes at {PASSES:g} or more. The "
        f"test needs two people who each scored {LEAST} answers or more that another person and the judge scored as "
        "well; the authors advise three, since two only show which of them the judge is nearer to. People's scores are "
        "those that they gave before they saw anyone else's.",
        pd.DataFrame(rows, columns=columns).astype({"winning": "float64", "advantage": "float64"}),
        columns,
        headings={"winning": "winning rate", "reason": "note"},
        formats=dict.fromkeys(("winning", "advantage"), ".2f"),
    )


def _run_alternative_annotator_test(verdicts: Verdicts, judge: str, measure_index: int) -> dict[str, object]:
    both_scored = verdicts.scored_by_judge_and_people[judge] & (
        verdicts.people.score_count_of_each_answer >= FEWEST_PEOPLE
    )
    people = np.array(
        [verdicts.people.scorer_values(person, measure_index)[both_scored] for person in verdicts.people.scorers]
    )
    judge_means = verdicts.judges[judge].answer_means[both_scored, measure_index]
    test = run_alternative_annotator_test(
        judge_means,
        people.reshape(len(verdicts.people.scorers), len(judge_means)),
        epsilon=EPSILON,
        false_discovery_rate=_Q,
        least_answers_per_person=LEAST,
    )
    about: dict[str, object] = {"people": test.people, "answers": int(both_scored.sum())}
    if np.isnan(test.winning):
        return {**about, "reason": f"It needs two people with {LEAST} answers that another person scored as well."}
    return {
        **about,
        "winning": test.winning,
        "advantage": test.advantage,
        "passes": "yes" if test.winning >= PASSES else "no",
        "reason": "" if test.people >= _ADVISED else "Only two people; three are advised.",
    }


ALL = "all"
FAMILY = "family"
"""Groups of systems: the judge's own family, and the others."""
OWN, OTHER = "its own", "others"
_GROUPS = ("system", "document", "category", "silent")
_EACH = (ALL, FAMILY, "system")
"""The groups with each metric; the others have M_all alone."""
_SILENT = {"yes": "silent", "partly": "partly silent", "no": "not silent"}
_LIMITS = {OVERALL: (-M_ALL_WIDTH, M_ALL_WIDTH)}
_METRIC = (-2.0, 2.0)


def judge_leniency_table(verdicts: Verdicts, frame: pd.DataFrame) -> Table:
    """Tabulate the mean of a judge's values less what averages take, with both intervals; `frame` is the tidy table."""
    columns = ["judge", "by", "group", "family", "measure", "answers", "mean", *BOTH[:-1], "reason"]
    people = averages.average_answers(frame)
    people = people[(people["answer"].astype("str") != "") & people["m_all"].notna()]
    rows = [
        row
        for judge in verdicts.judges
        for row in _leniency_rows(verdicts, judge, _leniency_differences(verdicts, judge, people, frame))
    ]
    data = pd.DataFrame(rows, columns=[*columns, "documents"]).astype(dict.fromkeys(("mean", *BOTH[:-1]), "float64"))
    data["documents"] = data["documents"].astype("Int64")
    rough = note_few_documents(data[data["by"] == ALL])
    aside = empty_columns(data, "family", *BOTH[2:4], "reason")
    return make_table(
        "judges-leniency",
        "Leniency of the judges",
        "A judge's value minus people's: above 0 it is more lenient than people. People's value is the one that "
        "averages take: the adjudication where there is one, else the mean of all scores. Each question weighs the "
        f"same. M_all goes from 10 to 100, the metrics from -1 to 1. {INTERVALS} Left blank, as not meaningful, "
        f"where both scored fewer than {LEAST} different answers. A system is of the judge's own family "
        f"where the same company made "
        f"both.{rough}",
        data,
        [column for column in columns if column not in aside],
        headings={"mean": "leniency", "family": "own family", "reason": "why blank"},
        formats=dict.fromkeys(("mean", *BOTH[:-1]), "+.2f"),
        aside=aside,
    )


def _leniency_differences(
    verdicts: Verdicts, judge: str, people_averages: pd.DataFrame, frame: pd.DataFrame
) -> pd.DataFrame:
    """Return the answers that a judge and people scored, with the judge's mean less people's value by measure.

    A text that was given in several places is there as often.
    """
    places = verdicts.answers.get_indexer(pd.Index(people_averages["answer"].astype("str")))
    judged = verdicts.judges[judge].answer_means[places]
    is_judged = ~np.isnan(judged[:, 0])
    differences = people_averages.loc[
        is_judged, ["answer", "system", "document", "question", "category", "silent"]
    ].astype("str")
    apart = judged[is_judged] - people_averages.loc[is_judged, list(verdicts.measure_names)].to_numpy()
    differences[list(verdicts.measure_names)] = apart.round(9)
    return differences.assign(
        **{
            FAMILY: np.where(
                differences["system"].isin(_systems_of_model_family(frame, verdicts.models[judge])), OWN, OTHER
            )
        }
    )


def _systems_of_model_family(frame: pd.DataFrame, judge_model: str) -> set[str]:
    """Return the systems of a judge's own family, by their names or by the names of the models that answered."""
    named = frame[["system", "model"]].drop_duplicates().astype("str")
    name_pairs = named.itertuples(index=False, name=None)
    return {
        system
        for system, served in name_pairs
        if are_of_same_family(system, judge_model) or (served and are_of_same_family(served, judge_model))
    }


def _leniency_rows(verdicts: Verdicts, judge: str, differences: pd.DataFrame) -> Iterator[dict[str, object]]:
    for by, group, group_rows in _group_rows_for_leniency(differences):
        answers = group_rows["answer"].nunique()
        family = "yes" if by == "system" and (group_rows[FAMILY] == OWN).any() else ""
        about = {"judge": judge, "by": by, "group": group, "family": family, "answers": answers}
        if answers < LEAST:
            yield {
                **about,
                "measure": verdicts.measure_names[OVERALL],
                "reason": explain_too_few_answers_or_empty(answers),
            }
            continue
        for measure, name in (
            verdicts.measure_names.items() if by in _EACH else [(OVERALL, verdicts.measure_names[OVERALL])]
        ):
            estimate = estimate_crossed_mean(
                group_rows[measure],
                group_rows["question"],
                group_rows["document"],
                limits=_LIMITS.get(measure, _METRIC),
            )
            sure = {column: getattr(estimate, column) for column in BOTH}
            # Why nothing is said for policies like these, the table's note says.
            reason = explain_missing_interval_or_empty(estimate) if np.isnan(estimate.low) else ""
            yield {**about, "measure": name, "mean": estimate.mean, **sure, "reason": reason}


def _group_rows_for_leniency(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield ALL, "", rows
    by = [FAMILY] if (rows[FAMILY] == OWN).any() else []
    for column in (*by, *_GROUPS):
        for value, group_rows in rows.groupby(column, sort=True):
            if value:
                yield column, _SILENT[str(value)] if column == "silent" else str(value), group_rows
