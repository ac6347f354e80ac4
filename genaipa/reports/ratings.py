"""What packages have people and judges rate in an answer beside its metrics, part by part, and who agrees on it.

Ratings are read by a class of a package, found by an entry point of the group `genaipa.agreements`. What is made of
them is the same for all: a table of the people's agreement with each other, and one of each judge's with people.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from genaipa.plugins import make_plugins_and_problems
from genaipa.reports.judged.verdicts import LEAST, empty_columns, explain_too_few_answers_or_empty
from genaipa.reports.table import make_table
from genaipa.scoring.agreement import alpha_ac2_and_reason_columns
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.stats.agreement import measure_agreement, measure_agreement_between_two_sides

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.reports.judged.verdicts import Verdicts
    from genaipa.reports.table import Table
    from genaipa.scoring.events import Event
    from genaipa.stats.agreement import ScaleAgreement

    Part = tuple[str, Hashable]
    """An answer's digest, and which part of it."""
    Counts = Mapping[Part, NDArray[np.int64]]
    """Part → how often each value was given."""

_MEASURES = ("alpha", "low", "high", "ac2", "commonest", "agreement")
_HEADINGS = {
    "low": "interval",
    "ac2": "AC2",
    "commonest": "commonest value",
    "agreement": "same value",
    "reason": "why blank",
}


class AnswerPartRatings:
    """Base of what a package has rated in answers, part by part."""

    noun: ClassVar[str]
    """The parts of an answer in words; part of the names of tables, and a column of them."""
    values: ClassVar[dict[str, float]]
    """What may be said of a part → its place on a scale, which rises."""

    def count_ratings(self, study: Study, events: Iterable[Event]) -> Counts:
        """Count what these events say of each part of the study's answers; a part of which none says anything lacks."""
        raise NotImplementedError

    def tabulate_judge_ratings_by_system(self, study: Study, judge_verdicts: Verdicts) -> Table | None:  # noqa: ARG002 - may be left out
        """Tabulate what judges alone say of systems, which is no estimate of what people would say."""
        return None


class RatedTables(NamedTuple):
    """Tables of ratings, and sentences on ratings of packages of which none can be made."""

    tables: list[Table]
    problems: list[str]


def tabulate_ratings_of_packages(make_table_of_ratings: Callable[[AnswerPartRatings], Table | None]) -> RatedTables:
    """Make a table of the ratings of each installed package."""
    ratings, unloaded = make_plugins_and_problems("agreement", {}, AnswerPartRatings)
    tables: list[Table] = []
    problems = list(unloaded)
    for name, package_ratings in ratings.items():
        try:
            tables += filter(None, [make_table_of_ratings(package_ratings)])
        except Exception as error:  # noqa: BLE001 - a stranger's code may fail in any way, and ends no report
            problems.append(
                f"The agreement {name} is left out: it can't be instantiated ({type(error).__name__}: {error})."
            )
    return RatedTables(tables, problems)


def tabulate_people_rating_agreement(ratings: AnswerPartRatings, study: Study) -> Table:
    """Tabulate the agreement of people with each other; nothing until two have rated the same part."""
    people = ratings.count_ratings(study, study.independent_scores)
    parts = [part for part, counts in people.items() if counts.sum() > 1]
    agreement = measure_agreement(
        _stack_counts_of_parts(ratings, people, parts),
        _rating_scale_values(ratings),
        _answer_number_of_each_part(parts),
    )
    return _make_rating_agreement_table(
        ratings,
        f"{ratings.noun}-agreement",
        f"Agreement on {ratings.noun}",
        f"{_describe_agreement_measures(ratings)} Over the {ratings.noun} that two or more people rated "
        "before they saw each "
        f"other's ratings.",
        [_make_rating_agreement_row(ratings, parts, agreement)] if parts else [],
    )


def tabulate_judge_rating_agreement(ratings: AnswerPartRatings, study: Study, judge_verdicts: Verdicts) -> Table:
    """Tabulate the agreement of each judge with people; nothing where no judge rated a part."""
    people = ratings.count_ratings(study, study.independent_scores)
    rows = []
    for judge, events in _group_verdicts_by_judge(study, judge_verdicts).items():
        judge_counts = ratings.count_ratings(study, events)
        parts = [part for part in judge_counts if part in people]
        if judge_counts:
            judged, scored = (_stack_counts_of_parts(ratings, side, parts) for side in (judge_counts, people))
            agreement = measure_agreement_between_two_sides(
                judged, scored, _rating_scale_values(ratings), _answer_number_of_each_part(parts)
            )
            rows.append({"judge": judge, **_make_rating_agreement_row(ratings, parts, agreement, least_answers=LEAST)})
    return _make_rating_agreement_table(
        ratings,
        f"judges-{ratings.noun}",
        f"How far judges agree with people on {ratings.noun}",
        f"{_describe_agreement_measures(ratings)} Each person and each pass counts equally. Left blank, as not "
        f"meaningful, for fewer than {LEAST} answers with {ratings.noun} that both rated.",
        rows,
        "judge",
    )


def _group_verdicts_by_judge(study: Study, judge_verdicts: Verdicts) -> dict[str, list[Event]]:
    """Return the verdicts in effect of each judge."""
    verdicts: dict[str, list[Event]] = {name: [] for name in judge_verdicts.judges}
    for event in effective_scores_and_adjudications(
        event for event in study.log.counted if event.scorer == "machine" or event.kind == "undo"
    ):
        if name := judge_verdicts.find_judge_name_or_empty(event.analyst):
            verdicts[name].append(event)
    return verdicts


def _rating_scale_values(ratings: AnswerPartRatings) -> NDArray[np.float64]:
    return np.array([*ratings.values.values()])


def _stack_counts_of_parts(ratings: AnswerPartRatings, counts: Counts, parts: Sequence[Part]) -> NDArray[np.int64]:
    return np.array([counts[part] for part in parts], dtype=np.int64).reshape(-1, len(ratings.values))


def _answer_number_of_each_part(parts: Sequence[Part]) -> NDArray[np.int64]:
    """Return the number of each part's answer."""
    numbers = {answer: number for number, answer in enumerate(dict.fromkeys(answer for answer, _ in parts))}
    return np.array([numbers[answer] for answer, _ in parts], dtype=np.int64)


def _make_rating_agreement_row(
    ratings: AnswerPartRatings, parts: Sequence[Part], agreement: ScaleAgreement, least_answers: int = 0
) -> dict[str, object]:
    answers = len({answer for answer, _ in parts})
    about: dict[str, object] = {"answers": answers, ratings.noun: len(parts)}
    if answers < least_answers:
        return {**about, "reason": explain_too_few_answers_or_empty(answers)}
    row = {**about, **alpha_ac2_and_reason_columns(agreement)}
    return {**row, "reason": f"all {ratings.noun} have the same rating"} if isnan(agreement.alpha) else row


def _describe_agreement_measures(ratings: AnswerPartRatings) -> str:
    values = ", ".join(reversed(ratings.values))
    return (
        f"Krippendorff's alpha over answers and {ratings.noun} ({values}, in this order), with its interval for other "
        "answers; Gwet's AC2, and the shares of the commonest value and of pairs with the same value."
    )


def _make_rating_agreement_table(
    ratings: AnswerPartRatings, name: str, title: str, note: str, rows: list[dict[str, object]], *about: str
) -> Table:
    columns = [*about, "answers", ratings.noun, *_MEASURES, "reason"]
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_MEASURES, "float64"))
    aside = empty_columns(data, "reason")
    return make_table(
        name,
        title,
        note,
        data,
        [column for column in columns if column not in aside],
        headings=_HEADINGS,
        formats=dict.fromkeys(("low", "high"), ".2f"),
        aside=aside,
    )
