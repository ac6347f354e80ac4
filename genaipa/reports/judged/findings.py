"""What each judge is worth, in sentences that follow from the tables of its quality."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.judged.quality import (
    ALL,
    AS_MUCH,
    FAMILY,
    ITSELF,
    LESS,
    MARGIN,
    MORE,
    NOT_KNOWN,
    OTHER,
    OWN,
    PEOPLE,
)
from genaipa.reports.judged.verdicts import LEAST
from genaipa.reports.table import Table, make_table
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.judged.verdicts import Verdicts

    Row = dict[Any, Any]

_OVERALL = "M_all"
LENIENCY_MARGIN = 5.0
"""Points of M_all (10 to 100) up to which a judge is as lenient as people: a step of one metric of five is 4.5."""


def judge_findings_table(
    verdicts: Verdicts, agreement: Table, alpha_differences: Table, leniency: Table, alternative_tests: Table
) -> Table:
    """Make a row for each judge: its passes, how much it judged, and what follows from the other tables."""
    columns = ["judge", "passes", "judged", "answers", "finding"]
    rows = []
    for judge, both_scored in verdicts.scored_by_judge_and_people.items():
        tables = (agreement.data, alpha_differences.data, leniency.data, alternative_tests.data)
        sentences = _yield_findings_on_judge(judge, int(both_scored.sum()), *tables)
        passes = verdicts.judges[judge]
        counts = (len(passes.scorers), int((passes.score_count_of_each_answer > 0).sum()), int(both_scored.sum()))
        rows.append(dict(zip(columns, (judge, *counts, " ".join(sentences)), strict=True)))
    return make_table(
        "judges",
        "What the judges are worth",
        "A judge is a model, named as its provider served it, with the prompt whose digest begins as shown; another "
        "model or prompt is another judge. Its verdicts are not part of any average, nor of people's agreement. The "
        "findings rest on the answers that people scored as well; they hold for the other answers if these are a "
        f"random part.{_note_same_prompt_judges_without_overlap(verdicts)}{_note_scores_by_other_rubrics(verdicts)}",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"judged": "answers judged", "answers": "also scored by people"},
    )


def _note_same_prompt_judges_without_overlap(verdicts: Verdicts) -> str:
    """Name judges with one prompt that have no answer in common, as if a model had changed midway."""
    names = list(verdicts.judges)
    apart = [
        f"{first} and {second}"
        for position, first in enumerate(names)
        for second in names[position + 1 :]
        if verdicts.prompts[first] == verdicts.prompts[second]
        and not (
            verdicts.judges[first].score_count_of_each_answer * verdicts.judges[second].score_count_of_each_answer
        ).any()
    ]
    if not apart:
        return ""
    return (
        f" These judges have the same prompt and no answer in common: {'; '.join(apart)}. If a model changed while it "
        "judged, these are two judges, each measured on its own answers."
    )


def _note_scores_by_other_rubrics(verdicts: Verdicts) -> str:
    if not verdicts.left_out:
        return ""
    scores = "1 score is" if verdicts.left_out == 1 else f"{verdicts.left_out:,} scores are"
    return f" {scores} by a different rubric and not compared here."


def _yield_findings_on_judge(
    judge: str,
    shared_answers: int,
    agreement: pd.DataFrame,
    alpha_differences: pd.DataFrame,
    leniency: pd.DataFrame,
    alternative_tests: pd.DataFrame,
) -> Iterator[str]:
    if shared_answers < LEAST:
        yield (
            f"Not meaningful: people scored {shared_answers or 'none'} of the answers that it judged, and {LEAST} are "
            "needed. Its worth is not known."
        )
        return
    judge_rows = agreement[agreement["judge"] == judge]
    with_people = judge_rows[judge_rows["with"] == PEOPLE].to_dict("records")
    yield from describe_agreement_with_people(
        with_people, alpha_differences[alpha_differences["judge"] == judge].to_dict("records")
    )
    overall = next(row for row in with_people if row["measure"] == _OVERALL)
    if not isnan(overall["r"]):
        interval = _format_interval_or_empty(overall, "r_low", "r_high")
        yield f"Over answers, its M_all correlates with people's at r = {overall['r']:.2f}{interval}."
    yield from _describe_judge_leniency(leniency[(leniency["judge"] == judge) & (leniency["measure"] == _OVERALL)])
    again = judge_rows[
        (judge_rows["with"] == ITSELF) & (judge_rows["measure"] == _OVERALL) & judge_rows["alpha"].notna()
    ]
    yield from (
        f"When asked again, it agrees with itself at an alpha of {alpha:.2f} on M_all." for alpha in again["alpha"]
    )
    tested = alternative_tests[(alternative_tests["judge"] == judge) & (alternative_tests["measure"] == _OVERALL)]
    yield from map(_describe_alternative_test, tested.to_dict("records"))


_HOW = {
    AS_MUCH: f"as much as people agree with each other, within {MARGIN:g}",
    LESS: "less than people agree with each other",
    MORE: "more than people agree with each other",
}


def describe_agreement_with_people(
    judge_with_people_rows: list[Row], alpha_difference_rows: list[Row]
) -> Iterator[str]:
    """Say on which measures the judge agrees with people as much as they do with each other, less, or more.

    In brackets are both alphas, on the same answers, and the interval of their difference.
    """
    answers = alpha_difference_rows[0]["answers"]
    if answers < LEAST:
        alphas = [f"{row['measure']} ({row['alpha']:.2f})" for row in judge_with_people_rows if not isnan(row["alpha"])]
        if alphas:
            yield (
                f"Its alpha with people: {join_names(alphas)}. How far people agree with each other is not known: "
                f"{format_count(int(answers), 'answer')} {'was' if answers == 1 else 'were'} scored by two of them, "
                f"and {LEAST} are needed."
            )
        return
    groups: dict[str, list[str]] = {}
    for row in alpha_difference_rows:
        groups.setdefault(row["verdict"], []).append(f"{row['measure']}{_format_alphas_and_interval(row)}")
    for level, words in _HOW.items():
        if level in groups:
            yield f"On {join_names(groups[level])} the judge agrees with people {words}."
    if NOT_KNOWN in groups:
        yield (
            f"On {join_names(groups[NOT_KNOWN])} it is not known whether it agrees with people as much as they do with "
            "each other."
        )


def _format_alphas_and_interval(row: Row) -> str:
    if isnan(row["difference"]):
        return f" ({row['reason']})"
    sure = "no interval" if isnan(row["low"]) else f"{row['low']:+.2f} to {row['high']:+.2f}"
    return f" ({row['alpha']:.2f} against {row['people']:.2f}; {sure})"


def _describe_judge_leniency(rows: pd.DataFrame) -> Iterator[str]:
    """Sentences on the judge's leniency on M_all, over all answers and towards its own family."""
    overall = rows[rows["by"] == ALL].to_dict("records")[0]
    mean, sure = overall["mean"], _format_interval_or_empty(overall, "low", "high", " for these documents")
    if not isnan(mean):
        statement = classify_leniency_in_words(mean, overall["low"], overall["high"])
        yield f"{statement}: its M_all minus theirs is {mean:+z.2f} on average{sure}."
    family = rows[rows["by"] == FAMILY].set_index("group")
    if {OWN, OTHER} <= {*family.index[family["mean"].notna()]}:
        family_row, others_row = (family.loc[group].to_dict() for group in (OWN, OTHER))
        yield (
            f"For systems of its own family the difference is {family_row['mean']:+z.2f}"
            f"{_format_interval_or_empty(family_row, 'low', 'high')}, for others {others_row['mean']:+z.2f}"
            f"{_format_interval_or_empty(others_row, 'low', 'high')}."
        )


def classify_leniency_in_words(mean: float, low: float, high: float) -> str:
    """Say whether a judge is more lenient than people; alike only if all of the interval is within the margin."""
    if low >= -LENIENCY_MARGIN and high <= LENIENCY_MARGIN:
        return f"It is as lenient as people, within {LENIENCY_MARGIN:g}"
    if low <= 0 <= high:
        return "Whether it is as lenient as people is not known"
    return f"It is {'more lenient than' if mean > 0 else 'harsher than' if mean < 0 else 'as lenient as'} people"


def _describe_alternative_test(row: Row) -> str:
    if isnan(row["winning"]):
        return f"The alternative annotator test can't be done: {row['reason'][0].lower()}{row['reason'][1:]}"
    result = "passes" if row["passes"] == "yes" else "fails"
    caveat = " (with two people only, which says little)" if row["reason"] else ""
    return f"It {result} the alternative annotator test on M_all{caveat}: winning rate {row['winning']:.2f}."


def _format_interval_or_empty(row: Row, low_column: str, high_column: str, suffix: str = "") -> str:
    return "" if isnan(row[low_column]) else f" ({row[low_column]:.2f} to {row[high_column]:.2f}{suffix})"
