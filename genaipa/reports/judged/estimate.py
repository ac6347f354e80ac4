"""Estimates: averages of what people would have given to all answers, from a judge's scores of all and theirs of some.

An estimate is a tidy table. Where a group (a system in an experiment) has one, its rows are one for each question about
a document, whose values are the means of z; all others are as they were. So every table and comparison takes it
through the same functions, and with the same intervals, as people's averages.

People's own average is the wave's. Where they scored other answers beside a finished wave, chance had no part in these:
answers that the wave could have drawn count nowhere, earlier answers as themselves alone (z without a judge).

Each answer of a group gets the value z, in which λ is the slope of people's scores on the judge's (`stats.rectified`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics
from genaipa.judging.name import Judge, are_of_same_family
from genaipa.reports.averages import cache_per_frame
from genaipa.scoring.waves import SIZE
from genaipa.stats.looks import UNFINISHED
from genaipa.stats.reason import Reason
from genaipa.stats.rectified import ScoredSample, fill_missing_scores_with_group_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]
    Flags = NDArray[np.bool_]


LEAST = 30
"""Scored answers of the waves below which there is no estimate."""
LEAST_IN_GROUP = 12
"""Scored answers of a group's wave below which it has none (docs/method/estimates.md)."""
_GROUP = ["side", "system", "experiment"]
_OF = [*_GROUP, "question", "document"]
_ABOUT = (*_GROUP[1:], "measure", "answers", "scored", "judged", "own", "slope", "residual", "half", "why")


@dataclass(frozen=True, eq=False)
class JudgeAssistedEstimate:
    """The tidy table that averages are taken of, and what its estimates rest on, if it has any.

    `frame` has the estimates, `people` is without a judge, and `judge` the judge's scores alone, which are no estimate.
    All three are the table itself where no judge scored an answer, nor people one beside a wave. `is_z` says whether a
    group's values in `frame` are z, `has_others` whether one's in `people` are.

    `groups` has a row for each system, experiment and measure (a metric, or `m_all`): how many `answers` there are, how
    many of these people `scored` and the judge scored (`judged`), whether a judge is of the system's `own` family, λ
    (`slope`), the variance of `y - λf` within questions (`residual`), half the interval for these very answers
    (`half`), and `why` there is no
    estimate (else empty). `judges` are the models that scored.
    """

    frame: pd.DataFrame
    people: pd.DataFrame
    judge: pd.DataFrame
    is_z: bool
    has_others: bool
    groups: pd.DataFrame
    judges: tuple[str, ...]

    @classmethod
    def from_people_scores_alone(cls, frame: pd.DataFrame) -> JudgeAssistedEstimate:
        """Return the tidy table as it is, whose averages are people's."""
        none = pd.DataFrame(columns=list(_ABOUT))
        return cls(frame, frame, frame, is_z=False, has_others=False, groups=none, judges=())

    @cached_property
    def estimated_groups(self) -> pd.DataFrame:
        """The groups that have an estimate."""
        return self.groups[self.groups["why"] == ""]

    def describe_scored_answers(self, *group: str, measure: str = "m_all") -> str:
        """Return the answers behind a system's estimates, or behind one experiment's; empty without an estimate.

        As in "people 64 of 160, judge all (own family)".
        """
        rows = self.estimated_groups[self.estimated_groups["measure"] == measure]
        for column, name in zip(_GROUP[1:], group, strict=False):
            rows = rows[rows[column] == name]
        if rows.empty:
            return ""
        answers, scored, judged = (int(rows[name].sum()) for name in ("answers", "scored", "judged"))
        family_note = " (own family)" if rows["own"].any() else ""
        return f"people {scored:,} of {answers:,}, judge {'all' if judged == answers else f'{judged:,}'}{family_note}"

    def note_estimates_if_any(self) -> str:
        """Return a sentence for the notes of tables that hold estimates; empty where none does."""
        if self.estimated_groups.empty:
            return ""
        return (
            f" Where people scored a random part of the answers and a judge ({', '.join(self.judges)}) all of them, an "
            "average is an estimate from both: see the table `people-and-judge`."
        )


def estimate_scores_with_judge_if_possible(frame: pd.DataFrame) -> JudgeAssistedEstimate:
    """Return the tidy table that averages are taken of: with estimates where there are any, else as it is."""
    return _estimate_human_scores_or_none(frame) or JudgeAssistedEstimate.from_people_scores_alone(frame)


@cache_per_frame
def _estimate_human_scores_or_none(frame: pd.DataFrame) -> JudgeAssistedEstimate | None:
    """Return the estimates, if there are any; the cache must not hold a frame that is its own key."""
    (estimate,) = estimate_sides_with_one_lambda([frame])
    return None if estimate.frame is frame else estimate


def estimate_sides_with_one_lambda(
    side_frames: Sequence[pd.DataFrame], *, all_sides_or_none: bool = False
) -> list[JudgeAssistedEstimate]:
    """Estimate several tidy tables of one workspace, the sides of a comparison, with one λ for all of them.

    What is to be compared in pairs has to be z `all_sides_or_none`, since a single z means nothing but in its sum.
    """
    rows = pd.concat(
        [_select_averageable_answer_rows(frame).assign(side=side) for side, frame in enumerate(side_frames)],
        ignore_index=True,
    )
    judges = _parse_judge_by_analyst_name(rows)
    waves = rows["in_wave"].astype(str)
    if not judges and not ((waves == "yes").any() and (rows["counted"] & (waves != "yes")).any()):
        return list(map(JudgeAssistedEstimate.from_people_scores_alone, side_frames))
    answers = _collect_answers_with_scores(rows, judges)
    sides = answers.table["side"].to_numpy()
    beside = _flag_answers_averaged_by_wave_alone(answers, all_sides_or_none=all_sides_or_none)
    return [_estimate_side(frame, answers, sides == side, judges, beside) for side, frame in enumerate(side_frames)]


def _select_averageable_answer_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of answers that averages may take, whoever scored them."""
    excluded = frame["excluded"] != ""
    allowed = ~excluded | bool((frame["counted"] & excluded).any())
    names = ["run", "key", *_OF[1:], "in_wave", "pi", "analyst", "scorer", "rubric", "counted", *_list_measures(frame)]
    selected: pd.DataFrame = frame.loc[(frame["unit"] == "answer") & (frame["answer"] != "") & allowed, names]
    return selected.assign(row=selected.index)


def _list_measures(frame: pd.DataFrame) -> list[str]:
    return [*list_metrics(frame), "m_all"]


def _parse_judge_by_analyst_name(rows: pd.DataFrame) -> dict[str, Judge]:
    """Return the analysts that are judges, as the store names them."""
    named = rows.loc[rows["scorer"] == "machine", "analyst"].astype(str).unique()
    return {name: judge for name in sorted(named) if (judge := Judge.parse(name)) is not None}


class _AnswersWithScores(NamedTuple):
    """A row for each answer, with what is known of it: people's scores, the judge's, and whether it was drawn.

    `table` has `_OF`, and `row`, the first of the answer in its tidy table; scores are by measure, NaN for none.
    `asked` are answers that people are asked to score, `sample` says which of them correct the judge, and out of which.
    `rubrics` are the ones by which people scored.
    """

    table: pd.DataFrame
    people: pd.DataFrame
    judge: pd.DataFrame
    asked: Flags
    late: Flags
    sample: ScoredSample
    rubrics: frozenset[str]

    @property
    def has_counted_people_score(self) -> Flags:
        """Whether an answer's score by people counts: the wave's, and those from before the draw."""
        flags: Flags = self.people["m_all"].notna().to_numpy() & (self.sample.scored | ~self.sample.eligible)
        return flags


def _collect_answers_with_scores(rows: pd.DataFrame, judge_by_analyst: dict[str, Judge]) -> _AnswersWithScores:
    answer_numbers = rows.groupby(["side", "run", "key"], observed=True, sort=False).ngroup()
    table = rows[~answer_numbers.duplicated()].reset_index(drop=True)
    measures, by_people = _list_measures(rows), rows["counted"] & (rows["scorer"] != "machine")
    rubrics = frozenset(rows.loc[by_people, "rubric"].astype(str))
    people = rows.loc[by_people, measures].groupby(answer_numbers[by_people]).mean().reindex(table.index)
    analysts = rows["analyst"].astype(str)
    verdicts = (rows["scorer"] == "machine") & analysts.isin(list(judge_by_analyst))
    # Without a score of people's, there is only the rubric of the verdicts, if they have one and the same.
    of_verdicts = frozenset(rows.loc[verdicts, "rubric"].astype(str))
    verdicts &= rows["rubric"].astype(str).isin(list(rubrics or (of_verdicts if len(of_verdicts) == 1 else ())))
    # Passes first, so that no judge counts for more because it was asked more often.
    names = analysts[verdicts].map({name: f"{judge.model}@{judge.prompt}" for name, judge in judge_by_analyst.items()})
    judge = rows.loc[verdicts, measures].groupby([answer_numbers[verdicts], names]).mean().groupby(level=0).mean()
    in_wave, pi = (table["in_wave"].astype(str) == "yes").to_numpy(), table["pi"].to_numpy()
    scored = people["m_all"].notna().to_numpy()
    # What was scored before the draw counts as itself. What the wave could have drawn, and did not, counts as if it had
    # no score: who scores answers beside a wave may have chosen the worst.
    eligible = pi < 1
    cell, question, group = (
        np.asarray(table.groupby(_OF[:size], observed=True, sort=False).ngroup(), np.int64) for size in (5, 4, 3)
    )
    sample = ScoredSample(eligible & in_wave & scored, eligible, cell, question, group)
    late = np.isnan(pi) & ~scored
    return _AnswersWithScores(table, people, judge.reindex(table.index), in_wave, late, sample, rubrics)


def _flag_answers_averaged_by_wave_alone(answers: _AnswersWithScores, *, all_sides_or_none: bool) -> Flags:
    """Return the answers of the groups whose average is a finished wave's, apart from what else people scored there.

    Where groups are to be `all_sides_or_none`, it is all of an experiment, or none if people's scores of one are no
    sample.
    """
    sample, unscored = answers.sample, answers.people["m_all"].isna().to_numpy()
    experiment = answers.table["experiment"].astype(str).to_numpy()
    groups = [sample.group == number for number in np.unique(sample.group)]
    finished = [_is_wave_finished(answers, group) and bool((group & unscored).any()) for group in groups]
    others_scored = [bool((group & ~unscored & ~sample.scored).any()) for group in groups]
    wave_answers = np.zeros(len(experiment), bool)
    for group, done, has_others in zip(groups, finished, others_scored, strict=True):
        near = (
            [n for n, other_group in enumerate(groups) if experiment[other_group][0] == experiment[group][0]]
            if all_sides_or_none
            else []
        )
        samples = all(finished[n] or not (groups[n] & unscored).any() for n in near)
        wanted = has_others or any(
            (finished[n] and others_scored[n]) or not _explain_missing_estimate_or_empty(answers, groups[n])
            for n in near
        )
        wave_answers |= group & (done and samples and wanted)
    return wave_answers


def _is_wave_finished(answers: _AnswersWithScores, in_group: Flags) -> bool:
    """Tell whether people finished a group's wave, which is a sample of its answers."""
    unscored = answers.people["m_all"].isna().to_numpy()
    size, wave_size = int(in_group.sum()), int((answers.asked & in_group).sum())
    missing, late = (int((of & in_group).sum()) for of in (answers.asked & unscored, answers.late))
    return wave_size > 0 and missing <= UNFINISHED * wave_size and late <= UNFINISHED * size


def _explain_missing_estimate_or_empty(answers: _AnswersWithScores, in_group: Flags) -> str:
    """Why a group has no estimate of any measure; or nothing."""
    unscored, sampled = answers.people["m_all"].isna().to_numpy(), answers.sample.scored
    size, wave_size, all_scored = int(in_group.sum()), int((answers.asked & in_group).sum()), int(sampled.sum())
    scored, missing, late = (int((of & in_group).sum()) for of in (sampled, answers.asked & unscored, answers.late))
    reasons = {
        "People scored all of its answers.": not (in_group & unscored).any(),
        "With so few answers no random part is drawn; people score all of them with: genaipa score": not wave_size
        and size <= SIZE,
        "No random part of its answers was drawn; draw one with: genaipa sample": not wave_size,
        f"People scored by {len(answers.rubrics)} rubrics, which can't be averaged.": len(answers.rubrics) > 1,
        f"{all_scored} answers in random parts are scored; an estimate needs {LEAST}.": all_scored < LEAST,
        f"{scored} answers in its random part are scored; an estimate needs {LEAST_IN_GROUP}.": scored < LEAST_IN_GROUP,
        f"{late} of its {size} answers came after the draw; draw again with: genaipa sample": late > UNFINISHED * size,
        f"{missing} of the {wave_size} answers in its random part lack a score; an estimate allows {UNFINISHED:.0%}.": (
            missing > UNFINISHED * wave_size
        ),
        "No judge scored its answers by the people's rubric.": answers.judge.loc[in_group, "m_all"].isna().all(),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _estimate_side(
    frame: pd.DataFrame,
    answers: _AnswersWithScores,
    in_side: Flags,
    judge_by_analyst: dict[str, Judge],
    by_wave_alone: Flags,
) -> JudgeAssistedEstimate:
    """Estimate the answers of one tidy table; `by_wave_alone` are answers of groups whose average is the wave's."""
    sample, measures = answers.sample, _list_measures(frame)
    judge = pd.DataFrame(
        {name: fill_missing_scores_with_group_means(answers.judge[name], sample.group) for name in measures}
    )
    slopes = {}
    values: dict[str, dict[str, Floats]] = {}
    for name in measures:
        people, verdicts = answers.people[name].to_numpy(), judge[name].to_numpy()
        slopes[name] = sample.fit_slope_or_zero_if_insignificant(people, verdicts)
        values[name] = {"z": sample.rectify_scores(people, verdicts, slopes[name]), "people": people, "judge": verdicts}
    rows, whole, judged_rows = [], np.zeros(len(in_side), bool), np.zeros(len(in_side), bool)
    means, models = (
        _explain_no_estimate_of_published_means(frame, measures),
        tuple(dict.fromkeys(judge.model for judge in judge_by_analyst.values())),
    )
    # Without a judge, z is what people say alone.
    nothing = np.zeros(len(in_side))
    alone = pd.DataFrame({name: sample.rectify_scores(values[name]["people"], nothing, 0.0) for name in measures})
    by_wave_alone = by_wave_alone & in_side
    z = answers.people.copy()
    z[by_wave_alone] = alone[by_wave_alone]
    for number in np.unique(sample.group[in_side]):
        group = sample.group == number
        about = answers.table.loc[group, _GROUP[1:]].iloc[0].to_dict()
        counts = {
            "answers": int(group.sum()),
            "scored": int((answers.has_counted_people_score & group).sum()),
            "judged": int(answers.judge.loc[group, "m_all"].notna().sum()),
            "own": _has_judge_of_own_family(frame, about["system"], models),
        }
        none = _explain_missing_estimate_or_empty(answers, group)
        judged_rows |= group & bool(counts["judged"])
        for name in measures:
            people, verdicts = values[name]["people"], values[name]["judge"]
            useless = _USELESS[sample.reason_for_no_estimate(people, verdicts, slopes[name], group)]
            why = none or means.get((*about.values(), name)) or useless
            residuals = people - slopes[name] * verdicts
            spread = {
                "residual": sample.residual_variance_within_questions(residuals, group),
                "half": sample.group_mean_half_width(residuals, group),
            }
            rows.append({**about, "measure": name, **counts, "slope": slopes[name], **spread, "why": why})
            if not why:
                z.loc[group, name] = values[name]["z"][group]
                whole |= group
    groups = pd.DataFrame(rows, columns=list(_ABOUT))
    both_table = _replace_cells_by_estimates(frame, answers, whole | by_wave_alone, z, sample.has_scored_question)
    has_others = bool(by_wave_alone.any())
    # Where the two are the same, so that cached results of one serve the other.
    by_wave = (
        _replace_cells_by_estimates(frame, answers, by_wave_alone, alone, sample.has_scored_question)
        if has_others or whole.any()
        else both_table
    )
    # The judge's average rests on nobody's scores but its own.
    by_judge = _replace_cells_by_estimates(frame, answers, judged_rows, judge, judged_rows)
    return JudgeAssistedEstimate(
        both_table, by_wave, by_judge, has_others or bool(whole.any()), has_others, groups, models
    )


def _has_judge_of_own_family(frame: pd.DataFrame, system: str, judge_models: Sequence[str]) -> bool:
    """Tell whether a judge is of the family of the system, or of a model that answered for it."""
    models = frame.loc[frame["system"] == system, "model"].unique()
    return any(are_of_same_family(judge, str(name)) for judge in judge_models for name in (system, *models) if name)


def _explain_no_estimate_of_published_means(frame: pd.DataFrame, measures: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Say where a study published means over documents alone: system, experiment and measure → why no estimate.

    No document's share of such a mean is known, so that none could be z.
    """
    rows = frame[(frame["unit"] == "table") & frame["counted"]]

    def list_measured_groups(subset: pd.DataFrame) -> set[tuple[str, ...]]:
        groups = subset[_GROUP[1:]].astype(str)
        return {
            (*group, name)
            for name in measures
            for group in groups[subset[name].notna()].drop_duplicates().itertuples(index=False, name=None)
        }

    only = list_measured_groups(rows[rows["document"] == ""]) - list_measured_groups(rows[rows["document"] != ""])
    return dict.fromkeys(only, "A study published only its means over documents; they are shown as they are.")


_USELESS = {
    Reason.NONE: "",
    Reason.NO_SLOPE: "The judge's scores predict people's no better than chance, so people's scores are used alone.",
    Reason.EQUAL_DIFFERENCES: (
        "People and judge differ by the same amount on every answer that both scored, so an interval would have no "
        "width and mislead."
    ),
}
"""Why a group has no estimate of a measure though it could have."""


def _replace_cells_by_estimates(
    frame: pd.DataFrame,
    answers: _AnswersWithScores,
    in_estimated_groups: Flags,
    estimated_values: pd.DataFrame,
    has_scored_question: Flags,
) -> pd.DataFrame:
    """Return the tidy table with a row for each cell of the groups that are estimated, with the mean of these values.

    `has_scored_question` are the answers to questions that have a score, by whose number the degrees of freedom go.
    """
    if not in_estimated_groups.any():
        return frame.copy(deep=False)
    sample = answers.sample
    means = estimated_values[in_estimated_groups].groupby(sample.cell[in_estimated_groups], sort=False).mean()
    first = ~pd.Series(sample.cell[in_estimated_groups]).duplicated().to_numpy()
    places = answers.table.loc[in_estimated_groups, "row"].to_numpy()
    roles = ["score", ""]
    plain = frame.assign(role=frame["role"].cat.set_categories(frame["role"].cat.categories.union(roles, sort=False)))
    has_scores = has_scored_question[in_estimated_groups][first]
    new: dict[str, Any] = {
        **{str(name): means[name].to_numpy() for name in means},
        **dict.fromkeys(("m_all_positive", "m_all_negative"), np.nan),
        "averaged": has_scores.astype("int32"),
        "role": pd.Categorical(np.where(has_scores, *roles), categories=plain["role"].cat.categories),
        "counted": True,
    }
    cells = plain.loc[places[first]].assign(**new)
    replaced = plain["unit"].eq("answer") & _is_of_same_system_and_experiment(plain, cells)
    return pd.concat([plain.assign(counted=plain["counted"] & ~replaced), cells], ignore_index=True)


def _is_of_same_system_and_experiment(frame: pd.DataFrame, cells: pd.DataFrame) -> pd.Series[bool]:
    """Tell whether a row is of a system and experiment that the cells are of."""
    groups = pd.MultiIndex.from_frame(cells[_GROUP[1:]].astype(str).drop_duplicates())
    is_member: Any = pd.MultiIndex.from_frame(frame[_GROUP[1:]].astype(str)).isin(groups)
    return pd.Series(is_member, index=frame.index)
