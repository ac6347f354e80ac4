"""The questions of HEDS 3.0's fourth section, on each criterion (a metric of the rubric), and how records answer them.

Rows are as in `heds_form`.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from genaipa.scoring.rubric import format_signed_value
from genaipa.words import format_count
from genaipa_artifact.heds import HedsAnswer, HedsCriterionQuestion
from genaipa_artifact.heds_questions import SCORES, join_sentences

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.scoring.rubric import Rubric
    from genaipa_artifact.evaluation import HumanEvaluationRecords


def _make_rubric_answerer(
    format_answer: Callable[[HumanEvaluationRecords, str], str],
    *,
    authors_part: str = "",
    is_in_digest: bool = True,
    is_shown_at_desk_alone: bool = False,
) -> Callable[[HumanEvaluationRecords, str], HedsAnswer | None]:
    """Return the function that answers from the rubric, unless scores are by another, published, or out of question.

    What is not in the digest of the rubric, which scores name, may have been another while people scored. A sheet lacks
    what the desk alone shows.
    """

    def answer_from_rubric(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:
        if records.scorable_answers.empty or not records.are_all_scored_by_current_rubric:
            return None
        if records.runs_with_published_scores and not records.scores:
            return None
        if is_shown_at_desk_alone and records.scores and not records.desk_scores:
            return None
        source = f"{records.rubric_path} as it is now"
        parts = [authors_part]
        if not records.scores and not records.adjudications:
            source += "; no score names it"
        else:
            parts.append("" if is_in_digest else "whether it was so throughout")
            # A score names the rubric that it was taken in by; what people had before them elsewhere, nobody knows.
            parts.append("" if records.has_only_desk_scores else "how scores from elsewhere were given")
        return HedsAnswer(format_answer(records, metric), source, authors_part="; ".join(filter(None, parts)))

    return answer_from_rubric


def name_metric_for_evaluators(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:
    """Give the metric's name as the desk shows it; None where people had sheets alone, and these have its key."""
    name = records.rubric.display_names[metric]
    answer = _make_rubric_answerer(lambda *_: name, is_in_digest=False, is_shown_at_desk_alone=name != metric)
    return answer(records, metric)


def _format_metric_definition(records: HumanEvaluationRecords, metric: str) -> str:
    rubric = records.rubric
    words = zip(rubric.values, rubric.metrics[metric].words, strict=True)
    meanings = "; ".join(f"{format_signed_value(value)}: {meaning}" for value, meaning in words)
    section = records.guidelines and records.guidelines.sections.get(metric)
    return join_sentences(
        f"The meanings of its values: {meanings}.",
        f"Where the document does not answer, the rubric says: “{rubric.silent_rule}”" if rubric.silent_rule else "",
        _describe_rule_of_points(rubric)
        if metric == rubric.points_metric and any(score.ticks is not None for score in records.scores)
        else "",
        "guidelines.md has a section on it." if section else "",
    )


def _describe_rule_of_points(rubric: Rubric) -> str:
    """Say which value follows from ticked points."""
    needs = "; ".join(
        f"{format_signed_value(value)} from {100 * needed.vital:g} % of the vital "
        f"and {100 * needed.okay:g} % of the other points"
        for value, needed in zip(rubric.values, rubric.metrics[rubric.points_metric].points, strict=False)
    )
    return (
        f"From ticked points of an annotated answer a value follows as a suggestion: {needs}; else "
        f"{format_signed_value(rubric.values[-1])}."
    )


def _format_metric_question(records: HumanEvaluationRecords, metric: str) -> str:
    return records.rubric.metrics[metric].question or "The rubric has no question for it, only the meanings."


def describe_presentation_of_scale(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:  # noqa: ARG001 - the same for each
    """Say how the desk presents the scale; None without scores of the desk."""
    if not records.desk_scores:
        return None
    whole = records.has_only_desk_scores
    return HedsAnswer(
        "At the desk, one button for each value, with its meaning.",
        f"{SCORES} (order); genaipa's desk",
        option=1 if whole else None,
        authors_part="" if whole else "how scores from elsewhere were given",
    )


def state_scores_are_absolute(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:  # noqa: ARG001 - the same for each
    """Say that each score is of one answer; None where nobody scored."""
    if not records.scores:
        return None
    whole = records.has_only_desk_scores
    return HedsAnswer(
        "Each score has values of one answer.",
        f"{SCORES} (answer)",
        option=1 if whole else None,
        authors_part="" if whole else "how scores from elsewhere were given",
    )


def describe_form_of_response(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:
    """Name the form of response; None where nobody scored."""
    if not records.scores:
        return None
    ticked = sum(score.ticks is not None for score in records.scores)
    points = (
        f"With {ticked:,} of them, as recorded, analysts were shown the points of an annotated answer to tick, from "
        "which the desk derives a value of this criterion as a suggestion."
        if ticked and metric == records.rubric.points_metric
        else ""
    )
    suggested = [
        score
        for score in records.scores
        if metric in score.suggested
        and (score.shown is None or metric in score.shown.suggestion)
        # What follows from ticks is in the place of what was suggested before.
        and not (score.ticks is not None and metric == records.rubric.points_metric)
    ]
    equal = sum(score.values is not None and score.values[metric] == score.suggested[metric] for score in suggested)
    suggestions = (
        f"With {len(suggested):,} of them, as recorded, a value was suggested on screen; {equal:,} of these "
        f"{'has' if equal == 1 else 'have'} that value."
        if suggested
        else ""
    )
    count, whole = format_count(len(records.scores), "score"), records.has_only_desk_scores
    return HedsAnswer(
        join_sentences(f"A value of the scale for each answer, in {count}.", suggestions, points),
        f"{SCORES} (values{', suggested' if suggested else ''}{', ticks' if points else ''})",
        option=2 if whole else None,
        authors_part="" if whole else "how scores from elsewhere were given",
    )


def _describe_m_all_formula(rubric: Rubric) -> str:
    weights = ", ".join(f"{rubric.display_names[name]} x {weight:g}" for name, weight in rubric.weights.items())
    weighted = f" ({weights})" if set(rubric.weights.values()) != {1.0} else ""
    return f"Over all criteria: {rubric.m_all_formula}, of the sum of an answer's values{weighted}."


def describe_aggregation_of_scores(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:  # noqa: ARG001 - the same for each
    """Describe how scores become averages of the report; None where nobody scored."""
    if not records.scores and not records.adjudications:
        return None
    return HedsAnswer(
        join_sentences(
            # With a judge, averages may rest on its scores, too; a package's own average the other way round.
            "In the packed report, as each table's note says."
            if records.judge_scores or "averages" not in records.tables
            else "In the packed report's table of averages: the mean of an answer's scores, then of a question's "
            "answers about a document, then as its note says.",
            "Where an answer was adjudicated, the adjudication alone counts." if records.adjudications else "",
            _describe_m_all_formula(records.rubric) if records.are_all_scored_by_current_rubric else "",
        ),
        "study.zip: report/tables",
        authors_part="what the main reference does beside this",
    )


def name_intervals_and_tests_of_report(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:  # noqa: ARG001 - the same for each
    """Name the report's intervals and tests; None where it has none."""
    if not records.scores:
        return None
    methods = {
        "averages": "Averages have intervals where they rest on enough, as the note of their table says.",
        "system-differences": "Differences of M_all between systems are tested where there is enough; p is "
        f"adjusted by Holm's method{_phrase_significance_levels_of_tests(records)}.",
    }
    present = [name for name in methods if name in records.tables]
    # Beside published scores, the tests may be of these alone.
    if "system-differences" in present and (not records.tested_system_pairs or records.runs_with_published_scores):
        present.remove("system-differences")
    if not present:
        return None
    return HedsAnswer(
        " ".join(methods[name] for name in present),
        f"study.zip: {', '.join(f'report/tables/{name}.csv' for name in present)}",
        authors_part="tests of this criterion in the main reference",
    )


def _phrase_significance_levels_of_tests(records: HumanEvaluationRecords) -> str:
    """Say below which p the report's differences count; empty where its table does not."""
    table = records.tables.get("system-differences")
    if table is None:
        return ""
    levels = sorted({float(level) for level in table.data["level"].dropna()})
    return f", and a difference counts at p < {' or '.join(f'{level:g}' for level in levels)}" if levels else ""


_NOT_ASSESSED = (
    "InterAA not assessed in the packed report: no answer has scores under two names that are recorded as independent."
)


def _state_agreement_not_assessed(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Say that no two people scored an answer independently; None where they did, and the report has no table of it."""
    if records.has_independent_scores_of_two:
        return None
    return HedsAnswer(_NOT_ASSESSED, f"{SCORES} (analyst, independent)")


def name_measures_of_evaluator_agreement(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:
    """Name the measures of agreement between people, and what they rest on; None where nobody scored."""
    if not records.scores:
        return None
    row = records.agreement_table_row_of_metric(metric)
    if row is None:
        return _state_agreement_not_assessed(records)
    interval = "" if isnan(float(str(row["low"]))) else ", with an interval by the jackknife over answers"
    return HedsAnswer(
        f"Krippendorff's alpha for ordinal values{interval}, and Gwet's AC2, over "
        f"{format_count(_int_or_raise(row['answers']), 'answer')} with scores under two names or more "
        f"({format_count(_int_or_raise(row['analysts']), 'name')} in all), as they were before their analysts saw "
        "others', as recorded.",
        "study.zip: report/tables/agreement.csv",
        authors_part="" if records.has_only_desk_scores else "whether scores from elsewhere were independent",
    )


def describe_evaluator_agreement(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:
    """Give the agreement between people with its interval; None where nobody scored."""
    if not records.scores:
        return None
    row = records.agreement_table_row_of_metric(metric)
    if row is None:
        return _state_agreement_not_assessed(records)
    alpha, low, high, ac2 = (float(str(row[name])) for name in ("alpha", "low", "high", "ac2"))
    reason = str(row["reason"] or "")
    parts = [
        *([] if isnan(alpha) else [f"alpha {alpha:z.2f}{'' if isnan(low) else f' ({low:z.2f} to {high:z.2f})'}"]),
        *([] if isnan(ac2) else [f"AC2 {ac2:z.2f}"]),
        *([reason] if reason else []),
    ]
    return HedsAnswer(f"{'; '.join(parts)}.", "study.zip: report/tables/agreement.csv")


def state_self_agreement_not_assessed_if_any_scores(records: HumanEvaluationRecords, metric: str) -> HedsAnswer | None:  # noqa: ARG001 - the same for each
    """Say that agreement of people with themselves is not measured; None where nobody scored."""
    if not records.scores:
        return None
    return HedsAnswer("IntraAA not assessed in the packed report.", "study.zip: report/tables")


def _int_or_raise(value: object) -> int:
    return int(float(str(value)))


CRITERION_QUESTIONS = (
    HedsCriterionQuestion("4.1.1", "Type of quality"),
    HedsCriterionQuestion("4.1.2", "Aspect of the output"),
    HedsCriterionQuestion("4.1.3", "Frame of reference"),
    HedsCriterionQuestion("4.2.1", "Objective or subjective"),
    HedsCriterionQuestion("4.2.2", "Absolute or relative", state_scores_are_absolute),
    HedsCriterionQuestion("4.2.3", "Intrinsic or extrinsic"),
    HedsCriterionQuestion("4.3.1.1", "Name for evaluators", name_metric_for_evaluators),
    HedsCriterionQuestion("4.3.1.2", "Standardised name"),
    HedsCriterionQuestion(
        "4.3.2",
        "Definition for evaluators",
        _make_rubric_answerer(_format_metric_definition, is_in_digest=False),
    ),
    HedsCriterionQuestion(
        "4.3.3", "Size of the scale", _make_rubric_answerer(lambda records, _: str(len(records.rubric.values)))
    ),
    HedsCriterionQuestion(
        "4.3.4",
        "Values of the scale",
        _make_rubric_answerer(lambda records, _: ", ".join(map(format_signed_value, records.rubric.values))),
    ),
    HedsCriterionQuestion("4.3.5", "How the scale is presented", describe_presentation_of_scale),
    HedsCriterionQuestion(
        "4.3.6", "Task without a rating instrument", _make_rubric_answerer(lambda _records, _metric: "N/A")
    ),
    HedsCriterionQuestion(
        "4.3.7",
        "Question in its words",
        _make_rubric_answerer(
            _format_metric_question,
            authors_part="whether it was in sight",
            is_in_digest=False,
            is_shown_at_desk_alone=True,
        ),
    ),
    HedsCriterionQuestion("4.3.8", "Form of response", describe_form_of_response),
    HedsCriterionQuestion("4.3.9", "Aggregation", describe_aggregation_of_scores),
    HedsCriterionQuestion("4.3.10", "Effect sizes and significance", name_intervals_and_tests_of_report),
    HedsCriterionQuestion("4.3.11.1", "Agreement between evaluators: method", name_measures_of_evaluator_agreement),
    HedsCriterionQuestion("4.3.11.2", "Agreement between evaluators: score", describe_evaluator_agreement),
    HedsCriterionQuestion(
        "4.3.12.1", "Agreement with oneself: method", state_self_agreement_not_assessed_if_any_scores
    ),
    HedsCriterionQuestion("4.3.12.2", "Agreement with oneself: score", state_self_agreement_not_assessed_if_any_scores),
)
