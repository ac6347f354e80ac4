"""Two systems, or two runs, side by side: how far their scores are apart, and how sure that is.

Pairs (`matches`) of one question are alike, so that differences are averaged for each question first: over
documents, then over experiments. How sure their average is depends on whom it is to speak of: these documents, or
policies like these (`crossed`). Where the two have no pair at all, their questions are compared as two independent
sets, about these documents only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.answers.tidy import metric_display_names, plain_texts
from genaipa.errors import UnscoredError, UsageError, clip
from genaipa.files.html import format_one_line_repr
from genaipa.reports import render, significance
from genaipa.reports.analysts import analyst_count_or_not_known, note_confounded_analysts
from genaipa.reports.answered import count_answered_by_system, note_systems_with_unanswered_questions
from genaipa.reports.chapters import collect_system_notes
from genaipa.reports.evidence import ENDED
from genaipa.reports.figures.differences import (
    ComparedSides,
    comparison_title,
    describe_winner_or_why_none,
    label_question_groups_in_full,
    list_comparison_facts_as_phrases,
    measure_differences_figure,
    question_group_differences_figure,
)
from genaipa.reports.figures.figure import ALONE, FigureScope
from genaipa.reports.figures.style import format_signed_tenths
from genaipa.reports.judged.alone import (
    NO_ESTIMATE,
    advise_judge_comparison_if_possible,
    group_passes_by_judge,
    let_only_judge_passes_count,
    note_systems_of_judge_family,
    resolve_judge_name_or_raise,
)
from genaipa.reports.judged.estimate import estimate_sides_with_one_lambda
from genaipa.reports.matches import (
    HEADINGS,
    PRINTED,
    comparison_evidence_level,
    compute_difference_rows,
    group_questions_by_source_and_category,
    match_systems_by_measure,
    select_compared_rows,
)
from genaipa.reports.part import is_scored_throughout
from genaipa.reports.sides import (
    ComparisonSide,
    build_comparison_side,
    merge_sources_of_same_run,
    note_differences_and_common_questions,
    note_sides_with_unknown_prompts,
    restrict_side_to_questions,
    select_rows_of_single_system_or_raise,
)
from genaipa.reports.significance import OVERALL
from genaipa.reports.table import Table
from genaipa.runs.run import resolve_workspace_and_run_names
from genaipa.runs.selection import find_runs_by_system_or_run_name
from genaipa.stats.looks import SIGNIFICANT
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.judged.estimate import JudgeAssistedEstimate
    from genaipa.reports.matches import MatchedScores
    from genaipa.runs.run import Run
    from genaipa.workspace import WorkspaceLike


FORMS = (*render.FORMS, ".json")
"""Suffixes of the files of a comparison."""
MAIN = ("measure", "mean_a", "mean_b", "difference", "low", "high", "policies_low", "policies_high", "meaning")
"""The columns of the table to print in a column of a paper."""
_SIDE = 28
"""Characters of a side's name in a line."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """The differences, and in words: what differed beforehand, what was found, how, and what could not be read.

    `frame` are the differences for pandas, `table` the same ready to be shown. `documents` are the pairs' documents;
    none if means over documents are compared. `evidence` is what a difference has to show before it counts.
    """

    first: str
    second: str
    table: Table
    differing: list[str]
    finding: list[str]
    method: str
    problems: list[str] = field(default_factory=list)
    documents: tuple[str, ...] = ()
    answered: str = ""
    """A sentence where not all that a side was asked came back."""
    evidence: EvidenceLevel = ENDED
    systems: tuple[str, str] = ("A", "B")
    """The systems of both sides."""
    scope: FigureScope = ALONE
    """That of a report on the same runs: its systems, which have the same colours, and the names of categories."""
    judge: str = ""
    """The judge whose verdicts alone these are; empty where people scored."""
    scored_throughout: bool = False
    """Whether people scored every answer of both."""
    favoured: str = ""
    """A sentence where a side is of the judge's own family."""
    sides: tuple[ComparisonSide, ...] = ()
    """Both sides, as they are compared."""
    system_notes: tuple[str, ...] = ()
    """The sentences that stand with the numbers of either system (`ChapterMaker.system_notes`)."""

    @property
    def frame(self) -> pd.DataFrame:
        """A row per measure and group of questions: both averages, their difference and its intervals."""
        return self.table.data

    @property
    def verdict(self) -> str:
        """The main result in a sentence: who is higher, by how much, and how sure that is; a judge's is named so."""
        row = self.frame.iloc[0].to_dict()
        if row["test"] == "none" or not self.table.format_cell("difference", row["difference"]):
            return _explain_missing_verdict(self)
        return _describe_verdict_by_judge(self, row) if self.judge else _describe_verdict_by_people(self, row)

    @property
    def compared_sides(self) -> ComparedSides:
        """What figures and printed tables say of the two."""
        return ComparedSides(
            (self.first, self.second), self.systems, self.documents, self.scope, self.judge, self.favoured
        )

    @property
    def figure(self) -> Figure | None:
        """One panel of all measures over all questions; None if there is nothing to compare."""
        return measure_differences_figure(self.table, self.compared_sides)

    @property
    def figures(self) -> list[Figure]:
        """The figure, and that of the groups of questions, as far as there are any."""
        return [
            figure
            for figure in (self.figure, question_group_differences_figure(self.table, self.compared_sides))
            if figure
        ]

    @property
    def main_table(self) -> Table:
        """The table to print: a row for each measure over all questions, as narrow as a column of a paper."""
        data = self.frame[self.frame["questions"] == "all"].reset_index(drop=True)
        rows, (first, second) = data.to_dict("records"), self.compared_sides.shorten_names(16)
        interval = f"{significance.format_confidence(rows[0]['level'])} interval"
        low = interval if data["policies_low"].isna().all() else HEADINGS["low"]
        headings = {**HEADINGS, "mean_a": first, "mean_b": second, "difference": "difference", "low": low}
        note = f"{'; '.join(list_comparison_facts_as_phrases(self.table, self.compared_sides))}. {self.table.note}"
        data = data[list(MAIN)].assign(
            meaning=[describe_winner_or_why_none(row, ("better", "worse"), self.compared_sides.judge) for row in rows]
        )
        headings["meaning"] = f"{first} is"
        return replace(
            self.table, title=comparison_title(self.table, self.compared_sides), note=note, data=data, headings=headings
        )

    @property
    def groups_table(self) -> Table:
        """The table of the groups of questions to print, each with its name in full."""
        data = self.frame.loc[self.frame["questions"] != "all", list(PRINTED)].reset_index(drop=True)
        names = label_question_groups_in_full([*data["questions"].unique()], self.scope.categories)
        title = f"{self.table.title}: groups of questions"
        return replace(
            self.table, name=f"{self.table.name}-groups", title=title, data=data.replace({"questions": names})
        )

    def __repr__(self) -> str:
        sides = (clip(name, _SIDE) for name in (self.first, self.second))
        return format_one_line_repr("Comparison", " and ".join(sides), f"{len(self.frame)} differences")

    def _repr_html_(self) -> str:
        main = self.frame["questions"] == "all"
        return replace(self.table, data=self.frame.loc[main, list(PRINTED)])._repr_html_()

    def as_json(self) -> dict[str, Any]:
        """Return the comparison for machines; a number that can't be had is null."""
        fields = {
            name: getattr(self, name)
            for name in ("first", "second", "judge", "documents", "differing", "finding", "answered", "method")
        }
        return {**fields, "rows": render.as_json_rows(self.table)}

    def as_file_text(self, suffix: str) -> str:
        """Return the text of a file of the comparison, by its suffix: one of `FORMS`."""
        if suffix == ".json":
            return msgspec.json.format(msgspec.json.encode(self.as_json()), indent=2).decode() + "\n"
        return render.FORMS[suffix](self.main_table if suffix == ".tex" else self.table)


_NAMED_DOCUMENTS = 3
"""Documents that a verdict names, at most."""


def _explain_missing_verdict(comparison: Comparison) -> str:
    who = f"According to the judge {comparison.judge} alone, " if comparison.judge else ""
    return f"{who}{comparison.first} and {comparison.second} have too few questions in common for a verdict on M_all."


def _describe_verdict_by_people(comparison: Comparison, row: Mapping[Any, Any]) -> str:
    """Return who is higher by people's scores, or by their estimates, with p and the interval that belongs to it."""
    written, ends = comparison.table.format_cell, [row["low"], row["high"]]
    first, second = (
        (name, written(mean, row[mean])) for name, mean in ((comparison.first, "mean_a"), (comparison.second, "mean_b"))
    )
    if row["difference"] < 0:
        first, second = second, first
        ends = [-end for end in reversed(ends)]
    by = written("difference", row["difference"]).lstrip("+-\u2212")
    low, high = (written(name, end) for name, end in zip(("low", "high"), ends, strict=True))
    interval = f"{significance.format_confidence(row['level'])}: {low} to {high}, " if low else ""
    sure = f"{interval}{significance.format_p_value(row['p_holm'])}"
    about = f"on {_name_or_count_documents(comparison.documents)}: {first[1]} against {second[1]} ({sure})."
    if row["p_holm"] < row["level"]:
        return f"{first[0]} beats {second[0]} by {by} points of M_all {about}"
    return f"{first[0]} and {second[0]} do not clearly differ in M_all {about}"


def _describe_verdict_by_judge(comparison: Comparison, row: Mapping[Any, Any]) -> str:
    """Return who is better by a judge alone, and that this is no estimate."""
    sure, sign = row["p_holm"] < row["level"], -1 if row["difference"] < 0 else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    interval = "" if isnan(low) else f" ({format_signed_tenths(low)} to {format_signed_tenths(high)})"
    better, worse = (comparison.first, comparison.second)[::sign]
    result = (
        f"{better} is better: M_all"
        if sure
        else f"{comparison.first} and {comparison.second} do not clearly differ: M_all of {better} minus {worse}"
    )
    questions, documents = format_count(row["n"], "question"), format_count(len(comparison.documents), "document")
    about = f"{questions} about {documents}" if comparison.documents else questions
    return (
        f"According to the judge {comparison.judge} alone, {result} "
        f"{format_signed_tenths(sign * row['difference'])}{interval}, "
        f"{about}. This is {NO_ESTIMATE}."
    )


def _name_or_count_documents(documents: Sequence[str]) -> str:
    """Return the documents by name, or their number where they are many."""
    if not documents:
        return "these documents"
    return ", ".join(documents) if len(documents) <= _NAMED_DOCUMENTS else f"these {len(documents):,} documents"


def compare(
    first: str | Run,
    second: str | Run,
    *,
    experiments: Sequence[str] = (),
    excluded: bool = False,
    anyway: bool = False,
    judge: str = "",
    workspace: WorkspaceLike = None,
) -> Comparison:
    """Compare two systems, or two runs, each named as a system, a run, or RUN:SYSTEM.

    Only in these experiments; if none is named, in all but that on regulations. `excluded` counts what is left
    out as well, and `anyway` compares what both have where documents, questions, prompts or rubric differ, which is
    a UsageError otherwise. With a `judge`, named as tables call it or as it was asked for, its verdicts alone are
    compared, and no score of people's: that is no estimate of what people would say.

    >>> found = genaipa.compare("careful", "extractive", experiments=["quality"])
    >>> found.finding[0]
    'The comparison covers 32 questions: 32 pairs in quality, each about the same document.'
    >>> figure = found.figure.plot()
    """
    resolved_workspace, names = resolve_workspace_and_run_names((first, second), workspace)
    if len(names) == 1:
        names *= 2
    sides = [find_runs_by_system_or_run_name(resolved_workspace, name) for name in names]
    if len({frozenset((source.folder.name, source.systems) for source in sources) for sources in sides}) == 1:
        beginning = f"'{names[0]}' and '{names[1]}' both mean" if names[0] != names[1] else f"'{names[0]}' means"
        systems = join_names(sorted({system for source in sides[0] for system in source.systems}))
        runs = join_names([source.folder.name for source in sides[0]])
        raise UsageError(f"{beginning} {systems} in {runs}; name two systems, two runs, or RUN:SYSTEM.")
    study = gather_study_with_stored_scores(
        resolved_workspace,
        merge_sources_of_same_run([*sides[0], *sides[1]]),
        count_excluded=excluded,
        without_reading_texts=True,
    )
    frame, judges = study.table, group_passes_by_judge(study.table, study.rubric.digest)
    if judge:
        judge = resolve_judge_name_or_raise(judge, judges, resolved_workspace)
        frame = let_only_judge_passes_count(frame, judges[judge], count_excluded=excluded)
    try:
        ours, theirs = (
            build_comparison_side(resolved_workspace, name, sources, frame, experiments, judge=judge)
            for name, sources in zip(names, sides, strict=True)
        )
    except UnscoredError as error:
        scored = [
            {*select_rows_of_single_system_or_raise(name, side_sources, frame)["analyst"]}
            for name, side_sources in zip(names, sides, strict=True)
        ]
        raise UnscoredError(
            f"{error}{'' if judge else advise_judge_comparison_if_possible(judges, scored, names)}"
        ) from None
    systems_asked = {system for source in (*sides[0], *sides[1]) for system in source.manifest.systems}
    scope = FigureScope(tuple(sorted(systems_asked)), categories=study.questions.categories)
    compared = compare_sides(ours, theirs, anyway=anyway, judge=judge)
    notes = collect_system_notes(study)
    of_systems = tuple(notes[system] for system in dict.fromkeys(compared.systems) if system in notes)
    compared = replace(compared, finding=[*compared.finding, *of_systems], system_notes=of_systems)
    throughout = is_scored_throughout(study.table)
    return replace(compared, problems=[*study.lost, *study.problems], scope=scope, scored_throughout=throughout)


@plain_texts
def compare_sides(
    first: ComparisonSide, second: ComparisonSide, *, anyway: bool = False, judge: str = ""
) -> Comparison:
    """Return the differences, the first minus the second; where a `judge` is named, the sides count its verdicts alone.

    A UsageError names what differs in documents, questions, prompts or rubric; `anyway` compares what both have.
    """
    apart, common = note_differences_and_common_questions(first, second)
    if apart:
        shared = restrict_side_to_questions(first, common), restrict_side_to_questions(second, common)
        if not all(part["counted"].any() for part in (side.frame for side in shared)):
            raise UnscoredError(
                f"{first.name} and {second.name} have no scored question in common: {'; '.join(apart)}. "
                f"Ask both about the same documents, and {'have the judge score' if judge else 'score'} them."
            )
        if not anyway:
            raise UsageError(
                f"{first.name} and {second.name} were not asked or scored in the same way: {'; '.join(apart)}. "
                "The option `anyway` compares the common part."
            )
        first, second = shared
    frames = [first.frame, second.frame]
    questions_by_group = group_questions_by_source_and_category(*frames)
    judged = estimate_sides_with_one_lambda(frames, all_sides_or_none=True)
    estimated = any(not estimate.estimated_groups.empty for estimate in judged)
    matched = match_systems_by_measure(judged[0].frame, judged[1].frame)
    favoured = note_systems_of_judge_family(judge, *frames) if judge else ""
    evidence = comparison_evidence_level(frames, matched[OVERALL])
    data = compute_difference_rows(
        matched, questions_by_group, has_estimates=any(estimate.is_z for estimate in judged), evidence=evidence
    )
    data = data.replace({"measure": metric_display_names(first.frame)})
    other_analysts = _note_confounded_analysts_by_group(first, second, matched[OVERALL], questions_by_group)
    is_confounded = data["questions"].map(other_analysts).astype(bool)
    data.loc[is_confounded & (data["test"] != "none"), "meaning"] = significance.OTHER_PEOPLE
    unanswered = note_systems_with_unanswered_questions(
        {
            side.name: answered_share
            for side in (first, second)
            for answered_share in count_answered_by_system(side.frame).values()
        }
    )
    finding = [
        *significance.describe_compared_questions(matched, apart),
        *filter(None, [unanswered]),
        *significance.describe_findings(
            data, first.name, second.name, refusal_reason=other_analysts["all"], judge=judge
        ),
        *([f"All scores are the judge {judge}'s alone: {NO_ESTIMATE}."] if judge else []),
        *filter(None, [favoured]),
        *filter(None, [str(evidence)]),
        *(_describe_estimates_and_people_alone(first, second, judged, evidence) if estimated else []),
        *note_sides_with_unknown_prompts(first, second),
        *_describe_detectable_difference(matched[OVERALL], evidence, unknown=estimated or bool(other_analysts["all"])),
        *significance.describe_lopsided_interval(matched[OVERALL], data.iloc[0].to_dict()),
        *significance.yield_warning_if_few_questions(data),
    ]
    method = _describe_method(first.name, second.name, [analyst_count_or_not_known(frame) for frame in frames], judge)
    method += _JUDGED if estimated else ""
    title = f"{first.name} against {second.name}{f', according to the judge {judge} alone' if judge else ''}"
    table = _make_comparison_table(data[list(HEADINGS)], title, " ".join([*finding, method]))
    # In grey, as everything that a judge alone says.
    table = replace(table, faint=frozenset({"mean_a", "mean_b", "difference"})) if judge else table
    documents = dict.fromkeys(matched[OVERALL].apart["document"])
    about = () if "" in documents else tuple(documents)
    return Comparison(
        first.name,
        second.name,
        table,
        apart,
        finding,
        method,
        documents=about,
        answered=unanswered,
        evidence=evidence,
        systems=(_system_name_of_side(first), _system_name_of_side(second)),
        judge=judge,
        favoured=favoured,
        sides=(first, second),
    )


def _describe_detectable_difference(match: MatchedScores, evidence: EvidenceLevel, *, unknown: bool) -> Iterator[str]:
    """Yield the sentence on the detectable difference, if it is not unknown.

    Estimates of one side depend on each other, and where other people scored each side there is no verdict.
    """
    if not unknown:
        yield from significance.describe_detectable_difference(match, evidence)


def _system_name_of_side(side: ComparisonSide) -> str:
    """Return the system whose scores a side is."""
    return str(side.frame["system"].iloc[0])


def _note_confounded_analysts_by_group(
    first: ComparisonSide, second: ComparisonSide, match: MatchedScores, questions_by_group: Mapping[str, set[str]]
) -> dict[str, str]:
    """Group of questions → the sentence on who scored which side of it, where that is confounded; else empty.

    People who share out the whole alike may still part its groups between them; what is so of all is so of each.
    """
    notes: dict[str, str] = {}
    compared_rows = [select_compared_rows(side.frame, match) for side in (first, second)]
    for group, questions in questions_by_group.items():
        group_rows = (rows[rows["question"].isin(questions)] for rows in compared_rows)
        notes[group] = notes.get("all") or note_confounded_analysts(*group_rows)
    return notes


_JUDGED = " Averages are estimates from people and judge (docs/method/estimates.md), which have no ranks."


def _describe_estimates_and_people_alone(
    first: ComparisonSide,
    second: ComparisonSide,
    side_estimates: Sequence[JudgeAssistedEstimate],
    evidence: EvidenceLevel,
) -> Iterator[str]:
    """Sentences on the basis of the estimates, and on the difference that people alone would find."""
    models = dict.fromkeys(model for estimate in side_estimates for model in estimate.judges)
    basis = (
        f"for {side.name}, {estimate.describe_scored_answers() or 'people alone'}"
        for side, estimate in zip((first, second), side_estimates, strict=True)
    )
    yield f"Estimates from people and judge ({', '.join(models)}): {'; '.join(basis)}."
    alone = match_systems_by_measure(side_estimates[0].people, side_estimates[1].people)[OVERALL]
    questions_by_group = {"all": {*alone.ours.index, *alone.theirs.index}}
    data = compute_difference_rows(
        {OVERALL: alone},
        questions_by_group,
        has_estimates=any(estimate.has_others for estimate in side_estimates),
        evidence=evidence,
    )
    for row in data.to_dict("records"):
        sure = "" if isnan(row["low"]) else f" (for these documents {row['low']:+.1f} to {row['high']:+.1f})"
        yield f"People alone: difference in {OVERALL} {row['difference']:+.1f}{sure}."


def _describe_method(first_name: str, second_name: str, analyst_counts: Sequence[str], judge: str) -> str:
    """Describe how the numbers of the table came about."""
    whose = (
        f"All scores are the judge {judge}'s: intervals are for its verdicts, and say nothing about people's scores."
        if judge
        else "Intervals are for the analysts who scored, and do not include their leniency "
        f"(analysts of A: {analyst_counts[0]}, of B: {analyst_counts[1]})."
    )
    return (
        f"A is {first_name}, B {second_name}. {OVERALL} goes from 10 to 100, a metric from -1 to 1. n is the number of "
        "questions, each averaged over its documents and experiments; where there are pairs, only they count, so "
        "averages may differ from the leaderboard's, which has all of a system's cells. Pairs are the scored cells "
        "behind the questions, and documents is 0 where only means over documents are known. Intervals have two "
        "targets, for these documents (other questions) and for policies like these (other questions and other "
        "documents), and each belongs to its p (Holm): it excludes 0 where this p is below the level at which a "
        f"difference counts, {SIGNIFICANT:g} at the end of a study. A difference that holds for the second target also "
        "holds for the first. The p of ranks, a check on outliers, is Wilcoxon's, with the matched-pairs rank-biserial "
        "correlation as effect size; without pairs it is Mann-Whitney's, with Cliff's delta, and the interval is "
        "Student's t with each side's own variance. A row's meaning follows the second target. "
        f"{significance.IN_FAMILIES} Separate comparisons are not adjusted together; a report's `system-differences` "
        f"adjusts p for all pairs of systems. {whose}"
    )


def _make_comparison_table(data: pd.DataFrame, title: str, note: str) -> Table:
    signed = ("difference", "low", "high", "policies_low", "policies_high", "effect")
    formats = {**dict.fromkeys(signed, "+.2f"), **dict.fromkeys(("mean_a", "mean_b"), ".2f")}
    tests = dict.fromkeys(("p", "p_holm", "ranks_p", "policies_p", "policies_p_holm"), ".2g")
    return Table("comparison", title, note, data, HEADINGS, {**formats, **tests, "level": "g"})
