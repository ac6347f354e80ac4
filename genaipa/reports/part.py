"""The part of their answers that averages of people's scores rest on, and whether chance chose it.

Answers scored in the order of documents are whole documents, and say little of the others; a finished wave
(`scoring.waves`) is a random part, which speaks for all. Experiments with too few scores
(`find_sparsely_scored_experiments`) don't count in the leaderboard, and sentences say so elsewhere.

A finished wave may lack a few scores (`tabulate_average_bounds_with_unscored`). Whoever skips an answer may do so
because it is hard, so that the average of the others may be too good. How far is bounded by giving what is lacking the
lowest value, and the highest; a judge's scores say where they may lie.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.evidence import measure_evidence_level
from genaipa.reports.judged.estimate import estimate_scores_with_judge_if_possible
from genaipa.reports.table import Table, make_table
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.stats.looks import UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.figures.figure import Figure


LATE = 0.05
"""The share of a group's answers that may have come after the draw."""
EVEN = 2 / 3
"""The chance of one document's answers to a question over another's, below which documents are not drawn alike."""
_BY = ["system", "experiment"]


class ScoredPart(NamedTuple):
    """The number of `answers` of a system in an experiment, of those `scored`, and of these `scored_in_wave`.

    `reason` says in words why they are no sample; it is empty where all are scored, or what the wave drew. Of the wave,
    `lacking` have no score.
    """

    answers: int
    scored: int
    scored_in_wave: int
    reason: str
    lacking: int = 0

    @property
    def is_representative(self) -> bool:
        """Whether all are scored, or a random part."""
        return self.scored == self.answers or (self.scored_in_wave > 0 and not self.reason)

    def __str__(self) -> str:
        if self.answers == self.scored:
            return f"all {self.answers:,}"
        sampling = self.reason or (
            ", at random" if self.scored_in_wave == self.scored else f", {self.scored_in_wave:,} of them at random"
        )
        lacking = f"; {self.lacking:,} of the random part not scored" if self.lacking and not self.reason else ""
        return f"{self.scored:,} of {self.answers:,}{sampling}{lacking}"


def measure_scored_part(rows: pd.DataFrame) -> ScoredPart:
    """Return the scored part of the answers of one system in one experiment; these are its rows."""
    rows = _select_scorable_rows(rows)
    answers_by_key = rows.groupby(["run", "key"], observed=True, sort=False)
    scored, wave = answers_by_key["counted"].any(), answers_by_key["in_wave"].first().astype(str)
    wave_size, scored_in_wave = int((wave == "yes").sum()), int(((wave == "yes") & scored).sum())
    late = int(((wave == "") & ~scored).sum())
    reason = ""
    if not wave_size:
        reason = _describe_scoring_order(rows)
    elif wave_size - scored_in_wave > UNFINISHED * wave_size:
        reason = f", but the random part of {wave_size:,} is not finished: not a sample"
    elif late > LATE * len(scored):
        reason = f", but {late:,} came after the draw: not a sample"
    elif _is_wave_sampling_uneven_by_document(rows):
        reason = ", some documents more often than others: not a sample"
    return ScoredPart(len(scored), int(scored.sum()), scored_in_wave, reason, wave_size - scored_in_wave)


def _is_wave_sampling_uneven_by_document(rows: pd.DataFrame) -> bool:
    """Tell whether chance favours documents: one run's draw took all of its answers, later ones a part."""
    answers = rows.drop_duplicates(["run", "key"]).dropna(subset="pi")
    chances = answers.groupby(["question", "document"], observed=True)["pi"].sum().clip(upper=1)
    cells = chances.groupby(level=0, observed=True)
    return bool((cells.min() < cells.max() * EVEN).mean() > UNFINISHED)


def _select_scorable_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of answers that could be scored, and that no audit leaves out."""
    return frame[(frame["unit"] == "answer") & (frame["answer"] != "") & (frame["counted"] | (frame["excluded"] == ""))]


def _describe_scoring_order(rows: pd.DataFrame) -> str:
    """Say how answers were chosen that no wave asked for."""
    orders = set(rows.loc[rows["counted"], "desk_order"].astype(str))
    if orders == {"random"}:
        return ", in random order"
    return ", in the order of documents: not a sample" if orders & {"question", "document"} else ": not a sample"


@averages.cache_per_frame
def measure_scored_part_per_experiment(frame: pd.DataFrame) -> pd.DataFrame:
    """Return each system and experiment with answers that people scored, and of them the `part` (`ScoredPart`) scored.

    Studies' published scores are no part of their answers, and are left out.
    """
    tables = frame.loc[(frame["unit"] == "table") & frame["counted"], _BY]
    published = {*tables.drop_duplicates().itertuples(index=False, name=None)}
    rows = [
        {**dict(zip(_BY, key, strict=True)), "part": measure_scored_part(group)}
        for key, group in _select_scorable_rows(frame).groupby(_BY, observed=True, sort=True)
        if key not in published and group["counted"].any()
    ]
    return pd.DataFrame(rows, columns=[*_BY, "part"])


def is_scored_throughout(frame: pd.DataFrame) -> bool:
    """Tell whether people scored every answer of a tidy table that they could score."""
    return bool(_select_scorable_rows(frame).groupby(["run", "key"], observed=True)["counted"].any().all())


def is_partly_scored(frame: pd.DataFrame) -> bool:
    """Tell whether an average rests on a part of its answers."""
    return any(part.scored < part.answers for part in measure_scored_part_per_experiment(frame)["part"])


def describe_scored_part_by_system(frame: pd.DataFrame) -> dict[str, str]:
    """System → the part of its answers that is scored, over all experiments that have scores."""
    descriptions = {}
    for system, group in measure_scored_part_per_experiment(frame).groupby("system", observed=True, sort=True):
        system_parts = list(group["part"])
        answers, scored = sum(part.answers for part in system_parts), sum(part.scored for part in system_parts)
        scored_in_wave = sum(
            part.scored if part.scored == part.answers else part.scored_in_wave for part in system_parts
        )
        reasons = {part.reason for part in system_parts if not part.is_representative}
        reason = reasons.pop() if len(reasons) == 1 else ": not a sample" * bool(reasons)
        descriptions[str(system)] = str(
            ScoredPart(answers, scored, scored_in_wave, reason, sum(part.lacking for part in system_parts))
        )
    return descriptions


def describe_scored_parts_if_partial(frame: pd.DataFrame) -> str:
    """Return a sentence on the parts of answers that averages rest on; empty where all answers are scored."""
    if not is_partly_scored(frame):
        return ""
    groups: dict[str, list[str]] = {}
    for row in measure_scored_part_per_experiment(frame).itertuples():
        groups.setdefault(str(row.part), []).append(f"{row.system} {row.experiment}")
    descriptions = "; ".join(f"{part} ({', '.join(named)})" for part, named in groups.items())
    return f" Averages of people's scores rest on: {descriptions}."


LEAST_SCORED = 0.5
"""Share of an experiment's answers that has to be scored before a system's average in it means anything."""
_MEANS = ("m_all", "mean")
"""Columns of averages."""
_POOLED = {
    "faq-against-user": tuple(EXPERIMENTS),
    "documents-ranked": tuple(EXPERIMENTS),
    "easiest-and-hardest": ("quality", "robustness"),
}
"""Table → the experiments that its averages are over."""
_WARNED = re.compile(rf"Less than {LEAST_SCORED:.0%} scored and not a sample[^;]*(?:; [^;]*)*?\.(?= [A-Z]|$)")
SparseScoreCounts = dict[tuple[str, str], tuple[int, int]]
"""System and experiment → how many of its questions about a document are scored, and all, where that is too few."""


@averages.cache_per_frame
def find_sparsely_scored_experiments(frame: pd.DataFrame) -> SparseScoreCounts:
    """Return the experiments of a tidy table with too few scores.

    A published mean over documents scores its question about each of them.
    """
    rows = averages.select_policy_rows(frame)
    thin_counts: SparseScoreCounts = {}
    for (system, experiment), group in rows.groupby(_BY, observed=True, sort=True):
        planned_cells = group.loc[group["document"] != "", ["document", "question"]].drop_duplicates()
        scores = group[group["counted"] & group["m_all"].notna()]
        means = set(scores.loc[scores["document"] == "", "question"])
        single = set(zip(scores["document"], scores["question"], strict=True))
        cells = list(zip(planned_cells["document"], planned_cells["question"], strict=True))
        scored = sum(cell in single or cell[1] in means for cell in cells)
        if 0 < scored < LEAST_SCORED * len(cells) and not measure_scored_part(group).is_representative:
            thin_counts[str(system), str(experiment)] = (scored, len(cells))
    return thin_counts


def drop_sparsely_scored_experiments(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the experiments with enough scores to count."""
    thin_counts = find_sparsely_scored_experiments(frame)
    # The same object, where that is all, so that its results are found in the cache.
    return (
        frame.loc[~pd.MultiIndex.from_frame(frame[_BY].astype(str)).isin(list(thin_counts))] if thin_counts else frame
    )


def leaderboard_evidence_level(frame: pd.DataFrame) -> EvidenceLevel:
    """Return what a difference has to show before it counts, by what is scored of all that a leaderboard ranks."""
    return measure_evidence_level(averages.select_policy_rows(drop_sparsely_scored_experiments(frame)))


def note_sparsely_scored_experiments(frame: pd.DataFrame) -> str:
    """Return a sentence about the experiments that are left out because too little of them is scored; or nothing."""
    return note_blank_leaderboard_cells(find_sparsely_scored_experiments(frame)).strip()


def note_blank_leaderboard_cells(sparse_counts: SparseScoreCounts) -> str:
    """Return a sentence on the cells left blank, with how much of each is scored."""
    if not sparse_counts:
        return ""
    return (
        f" Left blank and not counted here, because less than {LEAST_SCORED:.0%} of an experiment's questions about a "
        f"document are scored: {_describe_sparsely_scored_experiments(sparse_counts)}."
    )


def add_sparse_scores_warning_to_table(report_table: Table, sparse_counts: SparseScoreCounts) -> Table:
    """Return the table with a sentence on these experiments, where it has averages of any."""
    return replace(
        report_table,
        note=f"{report_table.note}{_make_sparse_scores_warning(report_table.name, report_table, sparse_counts)}",
    )


def add_sparse_scores_warning_to_figure(figure: Figure, sparse_counts: SparseScoreCounts) -> Figure:
    """Return the figure with a sentence on these experiments, where it has averages of any."""
    return replace(
        figure, about=f"{figure.about}{_make_sparse_scores_warning(figure.name, figure.table, sparse_counts)}"
    )


def extract_sparse_scores_warning(note: str) -> str:
    """Return the warning that a note holds; or nothing."""
    return "".join(_WARNED.findall(note)[:1])


def _make_sparse_scores_warning(
    table_or_figure_name: str, report_table: Table, sparse_counts: SparseScoreCounts
) -> str:
    means = [column for column in _MEANS if column in report_table.data]
    data = report_table.data.dropna(subset=means, how="all")
    if not means or data.empty:
        return ""
    if {*_BY} <= {*data}:
        cells_shown = set(data[_BY].astype(str).itertuples(index=False, name=None))
    else:
        # A figure of one experiment has it in its name.
        systems = set(data["system"].astype(str)) if "system" in data else {system for system, _ in sparse_counts}
        pooled = _POOLED.get(
            table_or_figure_name,
            [experiment for _, experiment in sparse_counts if table_or_figure_name.startswith(f"{experiment}-")],
        )
        cells_shown = {(system, experiment) for system in systems for experiment in pooled}
    thin_shown = {key: numbers for key, numbers in sparse_counts.items() if key in cells_shown}
    if not thin_shown:
        return ""
    experiments = _describe_sparsely_scored_experiments(thin_shown)
    return f" Less than {LEAST_SCORED:.0%} scored and not a sample, so not in the leaderboard: {experiments}."


def _describe_sparsely_scored_experiments(sparse_counts: Mapping[tuple[str, str], tuple[int, int]]) -> str:
    return "; ".join(
        f"{system} {experiment} ({n} of {all_})" for (system, experiment), (n, all_) in sparse_counts.items()
    )


_ENDS = dict(zip(("least", "most"), M_ALL_RANGE, strict=True))
"""Column → the M_all that it gives to what is lacking."""


def tabulate_average_bounds_with_unscored(frame: pd.DataFrame) -> Table:
    """Tabulate the averages of systems whose finished wave lacks scores, and between which values each lies."""
    policies = averages.select_policy_rows(frame)
    lacking_parts = measure_scored_part_per_experiment(policies)
    lacking_parts = lacking_parts[
        [scored_part.is_representative and scored_part.lacking > 0 for scored_part in lacking_parts["part"]]
    ]
    columns = [*_BY, "lacking", "mean", *_ENDS, "judge_lacking", "judge_others"]
    rows = []
    if len(lacking_parts):
        bounds = {
            name: _average_m_all_by_system_and_experiment(
                estimate_scores_with_judge_if_possible(_add_scores_for_unscored_wave_answers(policies, value)).frame
            )
            for name, value in _ENDS.items()
        }
        experiment_means, judge_means = (
            _average_m_all_by_system_and_experiment(estimate_scores_with_judge_if_possible(policies).frame),
            _judge_means_of_waves_by_unscored_flag(policies),
        )
        for row in lacking_parts.to_dict("records"):
            group = (str(row["system"]), str(row["experiment"]))
            ends = {name: means.get(group) for name, means in bounds.items()}
            judge = {f"judge_{name}": judge_means.get((*group, name == "lacking")) for name in ("lacking", "others")}
            about = {"system": row["system"], "experiment": row["experiment"], "lacking": row["part"].lacking}
            rows.append({**about, "mean": experiment_means.get(group), **ends, **judge})
    return make_table(
        "waves-lacking",
        "Unscored answers in the random part",
        "M_all (10 to 100): the average without the answers in the random part that nobody scored, and what it would "
        "be if all of these had the lowest or the highest score. The last two columns are a judge's averages of "
        "these answers and of the others in the random part.",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={
            "least": "at least",
            "most": "at most",
            "judge_lacking": "judge: lacking",
            "judge_others": "judge: others",
        },
        formats=dict.fromkeys((*_ENDS, "judge_lacking", "judge_others"), ".1f"),
    )


def _is_unscored_wave_answer(frame: pd.DataFrame) -> pd.Series[bool]:
    """Tell whether a row is of an answer of a wave that people did not score, though they could."""
    answers = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    scored = answers.groupby(["run", "key"], observed=True, sort=False)["counted"].transform("any")
    unscored = answers[~scored & (answers["in_wave"] == "yes") & (answers["excluded"] == "")]
    return pd.Series(frame.index.isin(unscored.index), index=frame.index)


def _add_scores_for_unscored_wave_answers(frame: pd.DataFrame, m_all: float) -> pd.DataFrame:
    """Return the table as if people had given this value to what waves lack."""
    filled = frame[_is_unscored_wave_answer(frame)].drop_duplicates(["run", "key"])
    filled = filled.assign(m_all=m_all, averaged=1, counted=True)
    rubric = frame.loc[frame["counted"] & (frame["unit"] == "answer"), "rubric"].iloc[0]
    for name, text in {"role": "score", "scorer": "human", "rubric": rubric}.items():
        kinds = frame[name].cat.categories.union([text], sort=False)
        frame = frame.assign(**{name: frame[name].cat.set_categories(kinds)})
        filled[name] = pd.Categorical([text] * len(filled), categories=kinds)
    return pd.concat([frame, filled], ignore_index=True)


def _average_m_all_by_system_and_experiment(frame: pd.DataFrame) -> dict[Hashable, float]:
    question_means = averages.average_policy_questions(frame).dropna(subset="m_all").astype(dict.fromkeys(_BY, "str"))
    return dict(question_means.groupby(_BY)["m_all"].mean())


def _judge_means_of_waves_by_unscored_flag(frame: pd.DataFrame) -> dict[Hashable, float]:
    """Average judges' scores over a wave's answers, by system, experiment, and whether people scored them."""
    rows = frame.assign(lacks=_is_unscored_wave_answer(frame))
    rows = rows[(rows["scorer"] == "machine") & (rows["in_wave"] == "yes")].astype(dict.fromkeys(_BY, "str"))
    return dict(rows.groupby([*_BY, "lacks"])["m_all"].mean())
