"""The verdicts of judges beside people's independent scores of the same answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.judging.name import Judge
from genaipa.scoring.current import effective_scores_and_adjudications, independent_human_scores
from genaipa.scoring.rubric import shipped_rubric
from genaipa.stats.agreement import (
    compare_side_alpha_with_people_alpha,
    measure_agreement,
    measure_agreement_between_two_sides,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.stats.agreement import AlphaDifference, ScaleAgreement

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    Mask = NDArray[np.bool_]

LEAST = 30
"""Answers scored by both below which a comparison is not meaningful."""
OVERALL = "m_all"
_SHORTEST = 6
"""Characters of a prompt's digest that are shown at least."""


@dataclass(frozen=True, eq=False)
class GivenScores:
    """The scores that people, or the passes of a judge, gave to `size` answers.

    Of each score: the place of its `answer`, its `scorer` (the analyst, or the pass), its `time`, and `values`: a
    column for each measure.
    """

    size: int
    answer: Places
    scorer: NDArray[np.str_]
    time: NDArray[np.str_]
    values: Floats

    @cached_property
    def score_count_of_each_answer(self) -> Places:
        """Number of scores of each answer."""
        return np.bincount(self.answer, minlength=self.size)

    @cached_property
    def answer_means(self) -> Floats:
        """Mean of each answer's scores by measure; NaN where it has none."""
        sums = [np.bincount(self.answer, column, self.size) for column in self.values.T]
        often = np.where(self.score_count_of_each_answer, self.score_count_of_each_answer, np.nan)
        means: Floats = np.array(sums).T / often[:, None]
        return means

    @cached_property
    def scorers(self) -> list[str]:
        """Those who scored, sorted."""
        return sorted(set(self.scorer.tolist()))

    def scorer_values(self, scorer: str, measure_index: int) -> Floats:
        """Return one scorer's value for each answer; NaN where they gave none."""
        is_own, scores = self.scorer == scorer, np.full(self.size, np.nan)
        scores[self.answer[is_own]] = self.values[is_own, measure_index]
        return scores

    def join_scores(self, other_scores: Iterable[GivenScores]) -> GivenScores:
        """Join these scores and others into one side."""
        sides = (self, *other_scores)
        answer, scorer, time, values = (
            np.concatenate([getattr(side, name) for side in sides]) for name in ("answer", "scorer", "time", "values")
        )
        return GivenScores(self.size, answer, scorer, time, values)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of judges (name → side), and people's independent scores.

    A judge is a model with a prompt; its passes are scorers of its own side. `answers` are the digests in their places,
    `questions` what each was asked, `models` and `prompts` the judges' by name, and `left_out` the number of scores by
    another rubric.
    """

    rubric: Rubric
    answers: pd.Index
    questions: NDArray[np.str_]
    people: GivenScores
    judges: Mapping[str, GivenScores]
    models: Mapping[str, str]
    prompts: Mapping[str, str]
    left_out: int

    @classmethod
    def from_study(cls, study: Study) -> Verdicts:
        """All verdicts on the answers of a report, and the scores to compare them with."""
        rubric, digests = study.rubric, {*study.table["answer"].unique()}
        events = [event for event in study.log.counted if event.answer in digests]
        events_by_judge: defaultdict[tuple[str, str], list[tuple[Event, str]]] = defaultdict(list)
        left_out = 0
        for event in effective_scores_and_adjudications(
            event for event in events if event.scorer == "machine" or event.kind == "undo"
        ):
            judge = Judge.parse(event.analyst)
            if judge is not None and _rubric_digest_or_shipped_one(event) == rubric.digest:
                events_by_judge[judge.model, judge.prompt].append((event, str(judge.passed)))
            left_out += judge is not None and _rubric_digest_or_shipped_one(event) != rubric.digest
        people = [(event, event.analyst) for event in independent_human_scores(events)]
        same_rubric = [
            (event, analyst) for event, analyst in people if _rubric_digest_or_shipped_one(event) == rubric.digest
        ]
        answer_rows = study.table.loc[study.table["answer"] != "", ["answer", "question"]].drop_duplicates("answer")
        answers = pd.Index(answer_rows["answer"].astype("str"))
        names = name_judges_by_model_and_prompt(events_by_judge)
        return cls(
            rubric,
            answers,
            answer_rows["question"].astype("str").to_numpy(dtype=np.str_),
            _collect_given_scores(same_rubric, rubric, answers),
            {
                names[key]: _collect_given_scores(events_by_judge[key], rubric, answers)
                for key in sorted(events_by_judge)
            },
            {names[model, prompt]: model for model, prompt in events_by_judge},
            {names[model, prompt]: prompt for model, prompt in events_by_judge},
            left_out + (len(people) - len(same_rubric) if events_by_judge else 0),
        )

    def __bool__(self) -> bool:
        """Tell whether any judge has scored an answer."""
        return bool(self.judges)

    @cached_property
    def _name_by_model_and_prompt(self) -> dict[tuple[str, str], str]:
        return {(self.models[name], self.prompts[name]): name for name in self.judges}

    def find_judge_name_or_empty(self, analyst: str) -> str:
        """Return the name of the judge who scores as this analyst; empty for anybody else."""
        judge = Judge.parse(analyst)
        return self._name_by_model_and_prompt.get((judge.model, judge.prompt), "") if judge else ""

    @cached_property
    def measure_names(self) -> dict[str, str]:
        """M_all and the metrics → their names; in the order of the sides' columns."""
        return {OVERALL: "M_all", **self.rubric.display_names}

    @cached_property
    def scored_by_judge_and_people(self) -> dict[str, Mask]:
        """Judge → which answers it and people have scored."""
        return {
            name: (side.score_count_of_each_answer > 0) & (self.people.score_count_of_each_answer > 0)
            for name, side in self.judges.items()
        }

    @cached_property
    def _value_scale_of_each_measure(self) -> list[Floats]:
        values = np.array(sorted(self.rubric.values))
        overall = np.concatenate([side.values[:, 0] for side in (self.people, *self.judges.values())])
        return [np.unique(overall), *(values for _ in self.rubric.metrics)]

    def count_values_of_each_answer(self, given_scores: GivenScores, selected: Mask, measure_index: int) -> Places:
        """Count a side's scores with each value on the selected answers: answers down, values across."""
        scale = self._value_scale_of_each_measure[measure_index]
        ranks = np.searchsorted(scale, given_scores.values[:, measure_index])
        counted = np.bincount(given_scores.answer * len(scale) + ranks, minlength=given_scores.size * len(scale))
        return counted.reshape(given_scores.size, len(scale))[selected]

    def measure_agreement_of_sides(
        self, first: GivenScores, second: GivenScores, selected: Mask, measure_index: int
    ) -> ScaleAgreement:
        """Return the agreement of two sides on some answers, which both scored."""
        ours, theirs = (self.count_values_of_each_answer(side, selected, measure_index) for side in (first, second))
        return measure_agreement_between_two_sides(ours, theirs, self._value_scale_of_each_measure[measure_index])

    def count_answers_and_compare_alphas(self, judge: str, measure_index: int) -> tuple[int, AlphaDifference | None]:
        """Compare a judge's agreement with people with theirs, on the answers that it and two of them scored.

        Returns their number, and None below `LEAST` of them.
        """
        side = self.judges[judge]
        selected = (side.score_count_of_each_answer > 0) & (self.people.score_count_of_each_answer > 1)
        answers = int(selected.sum())
        if answers < LEAST:
            return answers, None
        ours, theirs = (
            self.count_values_of_each_answer(scores, selected, measure_index) for scores in (side, self.people)
        )
        return answers, compare_side_alpha_with_people_alpha(ours, theirs)

    def measure_agreement_of_scorers(
        self, given_scores: GivenScores, selected: Mask, measure_index: int
    ) -> ScaleAgreement:
        """Measure the agreement of a side's scorers on selected answers, which two or more of them scored."""
        return measure_agreement(
            self.count_values_of_each_answer(given_scores, selected, measure_index),
            self._value_scale_of_each_measure[measure_index],
        )


def _rubric_digest_or_shipped_one(event: Event) -> str:
    return event.rubric or shipped_rubric().digest


def name_judges_by_model_and_prompt(model_prompt_pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Name each judge (model, prompt) by its model, with as much of the prompt's digest as tells them apart."""
    judge_list = list(model_prompt_pairs)
    names: dict[tuple[str, str], str] = {}
    for length in range(_SHORTEST, 13):
        names = {(model, prompt): f"{model} @{prompt[:length]}" for model, prompt in judge_list}
        if len(set(names.values())) == len(judge_list):
            break
    return names


def _collect_given_scores(
    events_with_scorers: Sequence[tuple[Event, str]], rubric: Rubric, answer_digests: pd.Index
) -> GivenScores:
    metrics = list(rubric.metrics)
    scores = [event.values for event, _ in events_with_scorers if event.values is not None]
    values = np.array([[score[metric] for metric in metrics] for score in scores]).reshape(-1, len(metrics))
    # Sums of floating-point numbers may differ in their last digit by their order.
    overall = np.round(rubric.m_all(dict(zip(metrics, values.T, strict=True))), 9)
    return GivenScores(
        len(answer_digests),
        answer_digests.get_indexer(
            pd.Index([event.answer for event, _ in events_with_scorers], dtype=answer_digests.dtype)
        ).astype(np.int64),
        np.array([scorer for _, scorer in events_with_scorers], dtype=np.str_),
        np.array([event.time for event, _ in events_with_scorers], dtype=np.str_),
        np.column_stack([overall, values]),
    )


def empty_columns(data: pd.DataFrame, *columns: str) -> list[str]:
    """Return the empty columns: on paper they would only take room."""
    return [name for name in columns if (data[name].isna() | (data[name] == "")).all()]


def explain_too_few_answers_or_empty(answer_count: int) -> str:
    """Return the reason for a blank below `LEAST`; empty from there on."""
    return (
        ""
        if answer_count >= LEAST
        else f"not meaningful: {answer_count} answer{'s'[: answer_count != 1]}, and {LEAST} are needed"
    )
