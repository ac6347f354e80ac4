"""Two systems, or two runs, side by side: how far their scores are apart, and how sure that is.

Pairs (`matches`) of one question are alike, so that differences are averaged for each question first: over
documents, then over experiments. How sure their average is depends on whom it is to speak of: these documents, or
policies like these (`crossed`). Where the two have no pair at all, their questions are compared as two independent
sets, about these documents only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.answers.gather import gather_scored
from genaipa.answers.tidy import ORDERED, names_of, plain_texts
from genaipa.errors import UnknownNameError, UnscoredError, UsageError, clipped
from genaipa.files.html import short_repr
from genaipa.questions.sets import WORDINGS
from genaipa.reports import render, significance
from genaipa.reports.analysts import number_of, other_people
from genaipa.reports.answered import answered, lacking_answers
from genaipa.reports.chapters.prompting import in_order
from genaipa.reports.evidence import ENDED
from genaipa.reports.figures.differences import (
    ComparedSides,
    by_group,
    differences,
    finding_title,
    group_names,
    limits,
    row_verdict,
)
from genaipa.reports.figures.figure import ALONE, Scope
from genaipa.reports.figures.style import signed
from genaipa.reports.judged.alone import (
    NO_ESTIMATE,
    advise_judge,
    count_verdicts,
    find_judge,
    find_judges,
    own_family,
)
from genaipa.reports.judged.estimate import estimates
from genaipa.reports.matches import HEADINGS, PRINTED, groups, in_common, level_between, matches, rows
from genaipa.reports.part import is_scored_throughout
from genaipa.reports.significance import OVERALL
from genaipa.reports.table import Table
from genaipa.runs.inputs import Inputs
from genaipa.runs.procedure import procedure_plan
from genaipa.runs.run import chosen
from genaipa.runs.selection import Source, sources_of
from genaipa.stats.looks import SIGNIFICANT
from genaipa.tasks.prompts import PUBLISHED
from genaipa.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from genaipa.questions.sets import Wording
    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.judged.estimate import Estimate
    from genaipa.reports.matches import Match
    from genaipa.runs.run import Run
    from genaipa.workspace import Workspace, WorkspaceLike


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
    scope: Scope = ALONE
    """That of a report on the same runs: its systems, which have the same colours, and the names of categories."""
    judge: str = ""
    """The judge whose verdicts alone these are; empty where people scored."""
    scored_throughout: bool = False
    """Whether people scored every answer of both."""
    favoured: str = ""
    """A sentence where a side is of the judge's own family."""
    sides: tuple[Side, ...] = ()
    """Both sides, as they are compared."""

    @property
    def frame(self) -> pd.DataFrame:
        """A row per measure and group of questions: both averages, their difference and its intervals."""
        return self.table.data

    @property
    def verdict(self) -> str:
        """The main result in a sentence: who is higher, by how much, and how sure that is; a judge's is named so."""
        row = self.frame.iloc[0].to_dict()
        if row["test"] == "none" or not self.table.written("difference", row["difference"]):
            return _few_questions(self)
        return _judge_verdict(self, row) if self.judge else _people_verdict(self, row)

    @property
    def pair(self) -> ComparedSides:
        """What figures and printed tables say of the two."""
        return ComparedSides(
            (self.first, self.second), self.systems, self.documents, self.scope, self.judge, self.favoured
        )

    @property
    def figure(self) -> Figure | None:
        """One panel of all measures over all questions; None if there is nothing to compare."""
        return differences(self.table, self.pair)

    @property
    def figures(self) -> list[Figure]:
        """The figure, and that of the groups of questions, as far as there are any."""
        return [figure for figure in (self.figure, by_group(self.table, self.pair)) if figure]

    @property
    def main(self) -> Table:
        """The table to print: a row for each measure over all questions, as narrow as a column of a paper."""
        data = self.frame[self.frame["questions"] == "all"].reset_index(drop=True)
        rows, (first, second) = data.to_dict("records"), self.pair.short(16)
        interval = f"{significance.percent(rows[0]['level'])} interval"
        low = interval if data["policies_low"].isna().all() else HEADINGS["low"]
        headings = {**HEADINGS, "mean_a": first, "mean_b": second, "difference": "difference", "low": low}
        note = f"{'; '.join(limits(self.table, self.pair))}. {self.table.note}"
        data = data[list(MAIN)].assign(meaning=[row_verdict(row, ("better", "worse"), self.pair.judge) for row in rows])
        headings["meaning"] = f"{first} is"
        return replace(self.table, title=finding_title(self.table, self.pair), note=note, data=data, headings=headings)

    @property
    def groups(self) -> Table:
        """The table of the groups of questions to print, each with its name in full."""
        data = self.frame.loc[self.frame["questions"] != "all", list(PRINTED)].reset_index(drop=True)
        names = group_names([*data["questions"].unique()], self.scope.categories)
        title = f"{self.table.title}: groups of questions"
        return replace(
            self.table, name=f"{self.table.name}-groups", title=title, data=data.replace({"questions": names})
        )

    def __repr__(self) -> str:
        sides = (clipped(name, _SIDE) for name in (self.first, self.second))
        return short_repr("Comparison", " and ".join(sides), f"{len(self.frame)} differences")

    def _repr_html_(self) -> str:
        main = self.frame["questions"] == "all"
        return replace(self.table, data=self.frame.loc[main, list(PRINTED)])._repr_html_()

    def as_json(self) -> dict[str, Any]:
        """The comparison for machines; a number that can't be had is null."""
        said = {
            name: getattr(self, name)
            for name in ("first", "second", "judge", "documents", "differing", "finding", "answered", "method")
        }
        return {**said, "rows": render.as_rows(self.table)}

    def as_text(self, form: str) -> str:
        """The text of a file of the comparison, by its suffix: one of `FORMS`."""
        if form == ".json":
            return msgspec.json.format(msgspec.json.encode(self.as_json()), indent=2).decode() + "\n"
        return render.FORMS[form](self.main if form == ".tex" else self.table)


_NAMED_DOCUMENTS = 3
"""Documents that a verdict names, at most."""


def _few_questions(found: Comparison) -> str:
    who = f"By the judge {found.judge} alone, " if found.judge else ""
    return f"{who}{found.first} and {found.second} have too few questions in common for a verdict on M_all."


def _people_verdict(found: Comparison, row: Mapping[Any, Any]) -> str:
    """Return who is higher by people's scores, or by their estimates, with p and the interval that belongs to it."""
    written, ends = found.table.written, [row["low"], row["high"]]
    first, second = (
        (name, written(mean, row[mean])) for name, mean in ((found.first, "mean_a"), (found.second, "mean_b"))
    )
    if row["difference"] < 0:
        first, second = second, first
        ends = [-end for end in reversed(ends)]
    by = written("difference", row["difference"]).lstrip("+-\u2212")
    low, high = (written(name, end) for name, end in zip(("low", "high"), ends, strict=True))
    interval = f"{significance.percent(row['level'])}: {low} to {high}, " if low else ""
    sure = f"{interval}{significance.written(row['p_holm'])}"
    about = f"on {_about(found.documents)}: {first[1]} against {second[1]} ({sure})."
    if row["p_holm"] < row["level"]:
        return f"{first[0]} beats {second[0]} by {by} points of M_all {about}"
    return f"{first[0]} and {second[0]} may be alike in M_all {about}"


def _judge_verdict(found: Comparison, row: Mapping[Any, Any]) -> str:
    """Return who is better by a judge alone, and that this is no estimate."""
    sure, sign = row["p_holm"] < row["level"], -1 if row["difference"] < 0 else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    interval = "" if isnan(low) else f" ({signed(low)} to {signed(high)})"
    better, other = (found.first, found.second)[::sign]
    which = (
        f"{better} is better: M_all"
        if sure
        else f"{found.first} and {found.second} may be alike: M_all of {better} less {other}"
    )
    questions, documents = number(row["n"], "question"), number(len(found.documents), "document")
    about = f"{questions} about {documents}" if found.documents else questions
    return (
        f"By the judge {found.judge} alone, {which} {signed(sign * row['difference'])}{interval}, {about}. "
        f"This is {NO_ESTIMATE}."
    )


def _about(documents: Sequence[str]) -> str:
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
    'Compared are 32 questions: 32 pairs in quality, each about the same document.'
    >>> figure = found.figure.plot()
    """
    here, names = chosen((first, second), workspace)
    if len(names) == 1:
        names *= 2
    sides = [sources_of(here, name) for name in names]
    if len({frozenset((source.folder.name, source.systems) for source in sources) for sources in sides}) == 1:
        said = f"'{names[0]}' and '{names[1]}' both mean" if names[0] != names[1] else f"'{names[0]}' means"
        systems = listed(sorted({system for source in sides[0] for system in source.systems}))
        runs = listed([source.folder.name for source in sides[0]])
        raise UsageError(f"{said} {systems} in {runs}; name two systems, two runs, or RUN:SYSTEM.")
    study = gather_scored(here, merged([*sides[0], *sides[1]]), excluded=excluded, scores_alone=True)
    frame, judges = study.table, find_judges(study.table, study.rubric.digest)
    if judge:
        judge = find_judge(judge, judges, here)
        frame = count_verdicts(frame, judges[judge], excluded=excluded)
    try:
        ours, theirs = (
            side(here, name, sources, frame, experiments, judge=judge)
            for name, sources in zip(names, sides, strict=True)
        )
    except UnscoredError as error:
        scored = [{*_rows_of(name, each, frame)["analyst"]} for name, each in zip(names, sides, strict=True)]
        raise UnscoredError(f"{error}{'' if judge else advise_judge(judges, scored, names)}") from None
    asked = {system for source in (*sides[0], *sides[1]) for system in source.manifest.systems}
    scope = Scope(tuple(sorted(asked)), categories=study.questions.categories)
    compared = compare_sides(ours, theirs, anyway=anyway, judge=judge)
    throughout = is_scored_throughout(study.table)
    return replace(compared, problems=[*study.lost, *study.problems], scope=scope, scored_throughout=throughout)


@plain_texts
def compare_sides(first: Side, second: Side, *, anyway: bool = False, judge: str = "") -> Comparison:
    """The differences, the first minus the second; where a `judge` is named, the sides count its verdicts alone.

    A UsageError names what differs in documents, questions, prompts or rubric; `anyway` compares what both have.
    """
    apart, common = differing(first, second)
    if apart:
        shared = restricted(first, common), restricted(second, common)
        if not all(one.frame["counted"].any() for one in shared):
            raise UnscoredError(
                f"{first.name} and {second.name} have no scored question in common: {'; '.join(apart)}. "
                f"Ask both about the same documents, and {'have the judge score' if judge else 'score'} them."
            )
        if not anyway:
            raise UsageError(
                f"{first.name} and {second.name} were not asked or scored alike: {'; '.join(apart)}. "
                "The option `anyway` compares the common part."
            )
        first, second = shared
    frames = [first.frame, second.frame]
    asked = groups(*frames)
    judged = estimates(frames, alike=True)
    estimated = any(not one.given.empty for one in judged)
    matched = matches(judged[0].frame, judged[1].frame)
    favoured = own_family(judge, *frames) if judge else ""
    evidence = level_between(frames, matched[OVERALL])
    data = rows(matched, asked, judged=any(one.is_z for one in judged), evidence=evidence)
    data = data.replace({"measure": names_of(first.frame)})
    others = _others(first, second, matched[OVERALL], asked)
    told = data["questions"].map(others).astype(bool)
    data.loc[told & (data["test"] != "none"), "meaning"] = significance.OTHER_PEOPLE
    came = lacking_answers({side.name: own for side in (first, second) for own in answered(side.frame).values()})
    finding = [
        *significance.scope(matched, apart),
        *filter(None, [came]),
        *significance.found(data, first.name, second.name, refused=others["all"], judge=judge),
        *([f"All scores are the judge {judge}'s alone: {NO_ESTIMATE}."] if judge else []),
        *filter(None, [favoured]),
        *filter(None, [str(evidence)]),
        *(_judged(first, second, judged, evidence) if estimated else []),
        *studied(first, second),
        *significance.power(matched[OVERALL], evidence.p),
        *significance.small(data),
    ]
    method = _method(first.name, second.name, [number_of(frame) for frame in frames], judge)
    method += _JUDGED if estimated else ""
    title = f"{first.name} against {second.name}{f', by the judge {judge} alone' if judge else ''}"
    table = _table(data[list(HEADINGS)], title, " ".join([*finding, method]))
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
        answered=came,
        evidence=evidence,
        systems=(_system(first), _system(second)),
        judge=judge,
        favoured=favoured,
        sides=(first, second),
    )


def _system(side: Side) -> str:
    """The system whose scores a side is."""
    return str(side.frame["system"].iloc[0])


def _others(first: Side, second: Side, match: Match, asked: Mapping[str, set[str]]) -> dict[str, str]:
    """Group of questions → the sentence on who scored which side of it, where that is confounded; else empty.

    People who share out the whole alike may still part its groups between them; what is so of all is so of each.
    """
    found: dict[str, str] = {}
    behind = [in_common(side.frame, match) for side in (first, second)]
    for group, questions in asked.items():
        some = (rows[rows["question"].isin(questions)] for rows in behind)
        found[group] = found.get("all") or other_people(*some)
    return found


_JUDGED = " Averages are estimates from people and judge (docs/method/estimates.md), which have no ranks."


def _judged(first: Side, second: Side, judged: Sequence[Estimate], evidence: EvidenceLevel) -> Iterator[str]:
    """Sentences on the basis of the estimates, and on the difference that people alone would find."""
    models = dict.fromkeys(model for one in judged for model in one.judges)
    basis = (
        f"of {side.name}: {one.basis() or 'people alone'}" for side, one in zip((first, second), judged, strict=True)
    )
    yield f"Estimates from people and judge ({', '.join(models)}): {'; '.join(basis)}."
    alone = matches(judged[0].people, judged[1].people)[OVERALL]
    asked = {"all": {*alone.ours.index, *alone.theirs.index}}
    data = rows({OVERALL: alone}, asked, judged=any(one.has_others for one in judged), evidence=evidence)
    for row in data.to_dict("records"):
        sure = "" if isnan(row["low"]) else f" (for these documents {row['low']:+.1f} to {row['high']:+.1f})"
        yield f"People alone: {OVERALL}, difference {row['difference']:+.1f}{sure}."


def _method(first: str, second: str, scorers: Sequence[str], judge: str) -> str:
    """How the numbers of the table came about."""
    whose = (
        f"All scores are the judge {judge}'s: intervals are for its verdicts, and say nothing of people's."
        if judge
        else "Intervals are for the analysts who scored, whose leniency is in none of them "
        f"(analysts of A: {scorers[0]}, of B: {scorers[1]})."
    )
    return (
        f"A is {first}, B {second}. {OVERALL} is from 10 to 100, a metric from -1 to 1. n is how many questions there "
        "are, each averaged over its documents and experiments; where there are pairs, only they count, so that "
        "averages may be others than the leaderboard's, which has all of a system's cells. Pairs are the scored cells "
        "behind them, and documents is 0 where only means over them are known. "
        "Intervals have two targets, for these documents (other questions) and for policies like these (other "
        "questions and other documents), and each belongs to its p (Holm): it leaves out 0 where this p is below the "
        f"level at which a difference counts, {SIGNIFICANT:g} at the end of a study. What holds for the "
        "second holds for the first. p of ranks, a check on outliers, is Wilcoxon's, with the matched-pairs "
        "rank-biserial correlation as effect size; without pairs Mann-Whitney's, with Cliff's delta, and the interval "
        "is Student's t with each "
        f"side's own variance. What a row means goes by the second target. {significance.IN_FAMILIES} "
        "Several comparisons are in no family of their own: of all pairs of systems, a report's `system-differences` "
        f"has p adjusted. {whose}"
    )


def _table(data: pd.DataFrame, title: str, note: str) -> Table:
    signed = ("difference", "low", "high", "policies_low", "policies_high", "effect")
    formats = {**dict.fromkeys(signed, "+.2f"), **dict.fromkeys(("mean_a", "mean_b"), ".2f")}
    tests = dict.fromkeys(("p", "p_holm", "ranks_p", "policies_p", "policies_p_holm"), ".2g")
    return Table("comparison", title, note, data, HEADINGS, {**formats, **tests, "level": "g"})


REGULATION = "regulation"
_NAMED = 5
"""As many things that differ are named."""


@dataclass(frozen=True)
class Side:
    """One system's scores, its questions and its prompts.

    `texts` are the digests of the texts that went by a document's name: one, unless runs disagree. `asked` are the
    texts of a wording of a question about a document.
    """

    name: str
    frame: pd.DataFrame
    texts: dict[str, set[str]]
    asked: dict[tuple[str, str, Wording], set[str]]

    @property
    def prompts(self) -> set[str]:
        """The sets of prompts that its scored answers were given to."""
        return {*self.frame.loc[self.frame["counted"], "prompts"]} - {""}

    @property
    def questions(self) -> set[tuple[str, str]]:
        """Pairs of a document and a question about it."""
        return {(document, question) for document, question, _ in self.asked}


def merged(sources: Iterable[Source]) -> list[Source]:
    """Each run once, with all systems that are meant of it."""
    runs: dict[str, Source] = {}
    for source in sources:
        before = runs.get(source.folder.name, source)
        runs[source.folder.name] = replace(source, systems=tuple(sorted({*before.systems, *source.systems})))
    return list(runs.values())


def side(
    workspace: Workspace,
    name: str,
    sources: Sequence[Source],
    frame: pd.DataFrame,
    experiments: Collection[str] = (),
    *,
    judge: str = "",
) -> Side:
    """The side that these runs are, from a tidy table that holds them, in which a `judge` alone may count.

    It is limited to these experiments; if none is named, to all but that on regulations. A UsageError if it has
    several systems, or no score there.
    """
    frame = _rows_of(name, sources, frame)
    found = Side(name, _chosen(name, frame, experiments, judge), defaultdict(set), defaultdict(set))
    documents, runs = set(found.frame["document"]), set(found.frame["run"])
    loaded: dict[str, dict[str, tuple[str, ...]]] = {}
    for source in sources:
        if source.folder.name in runs:
            manifest, plan = source.manifest, procedure_plan(source.manifest.spec)
            for document in documents & manifest.documents.keys():
                found.texts[document].add(manifest.documents[document].digest)
                digest = manifest.digests.questions.get(plan.questions.get(document, ""), "")
                if digest not in loaded:
                    loaded[digest] = _wordings(Inputs(workspace, source.folder), document)
                for question, texts in loaded[digest].items():
                    for wording, text in zip(WORDINGS, texts, strict=False):
                        if wording in plan.wordings:
                            found.asked[document, question, wording].add(text)
    return found


def _rows_of(name: str, sources: Sequence[Source], frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the one system that these runs are of; a UsageError for several."""
    systems = sorted({system for source in sources for system in source.systems})
    if len(systems) > 1:
        one = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {one}")
    return frame[(frame["system"] == systems[0]) & frame["run"].isin([source.folder.name for source in sources])]


def _chosen(name: str, frame: pd.DataFrame, experiments: Collection[str], judge: str = "") -> pd.DataFrame:
    """The rows that are compared; a UsageError if none has a score."""
    known = {*ORDERED["experiment"], *frame["experiment"]}
    for experiment in experiments:
        if experiment not in known:
            raise UnknownNameError("experiment", experiment, known)
    chosen = frame[frame["experiment"].isin(list(experiments)) if experiments else frame["kind"] != REGULATION]
    if chosen["counted"].any():
        return chosen
    where = f" in {', '.join(experiments)}" if experiments else ""
    if not experiments and frame["counted"].any():
        raise UnscoredError(f"'{name}' has scores on regulations only; compare them in the experiment '{REGULATION}'.")
    if judge:
        raise UnscoredError(
            f"the judge '{judge}' has no verdicts on '{name}'{where} to compare; ask it for them: genaipa judge"
        )
    raise UnscoredError(f"'{name}' has no score{where} to compare yet; give some with: genaipa score")


def _wordings(inputs: Inputs, document: str) -> dict[str, tuple[str, ...]]:
    """Every question that could be asked about a document: id → its original and its paraphrases."""
    known = inputs.questions(document)
    return {question.id: (question.text, *question.paraphrases) for question in known.questions} if known else {}


def differing(first: Side, second: Side) -> tuple[list[str], set[tuple[str, str]]]:
    """Sentences on what the two don't share, and the documents and questions that they do."""
    said = _only(first.name, second.name, "document", first.texts.keys(), second.texts.keys())
    documents = first.texts.keys() & second.texts.keys()
    changed = {document for document in documents if first.texts[document] != second.texts[document]}
    said += [f"the text of {_listed(changed, 'document')} is not the same"] if changed else []
    same = documents - changed
    ours, theirs = ({pair for pair in one.questions if pair[0] in same} for one in (first, second))
    said += _only(first.name, second.name, "question", {q for _, q in ours - theirs}, {q for _, q in theirs - ours})
    both = first.asked.keys() & second.asked.keys()
    reworded = {
        (document, question)
        for document, question, wording in both
        if document in same and first.asked[document, question, wording] != second.asked[document, question, wording]
    }
    said += [f"the text of {_listed({q for _, q in reworded}, 'question')} is not the same"] if reworded else []
    rubrics = [set(one.frame.loc[one.frame["counted"], "rubric"]) for one in (first, second)]
    if rubrics[0] != rubrics[1]:
        said.append(f"the rubric is not the same ({_listed(rubrics[0], 'digest')} and {_listed(rubrics[1], 'digest')})")
    # Those of a study are not known: that they are others is said, and can't be helped (`studied`).
    prompts = [one.prompts - {PUBLISHED} for one in (first, second)]
    if all(prompts) and prompts[0] != prompts[1]:
        said.append(f"the prompts are not the same ({' and '.join(', '.join(in_order(known)) for known in prompts)})")
    return said, (ours & theirs) - reworded


def studied(first: Side, second: Side) -> list[str]:
    """A sentence where one of the two answered the prompts of a study, and the other did not."""
    return [
        f"{one.name} answered the prompts of its study, which are not known, and {other.name} other ones "
        f"({', '.join(in_order(other.prompts - {PUBLISHED}))}): a part of any difference may come from these."
        for one, other in ((first, second), (second, first))
        if PUBLISHED in one.prompts and other.prompts - {PUBLISHED}
    ]


def _only(first: str, second: str, noun: str, ours: Collection[str], theirs: Collection[str]) -> list[str]:
    return [
        f"only {name} has the {_listed(names, noun)}"
        for name, names in ((first, set(ours) - set(theirs)), (second, set(theirs) - set(ours)))
        if names
    ]


def _listed(names: Iterable[str], noun: str) -> str:
    """`document uber`; `questions T_f1, T_f2, … (32)`."""
    listed = sorted(names)
    if len(listed) == 1:
        return f"{noun} {listed[0]}"
    return f"{noun}s {', '.join(listed[:_NAMED])}" + (f", … ({len(listed)})" if len(listed) > _NAMED else "")


def restricted(one: Side, common: set[tuple[str, str]]) -> Side:
    """The side restricted to questions that the other has; a mean over documents stays where all of them are shared."""
    shared = {question for _, question in common}
    for document in one.texts:
        shared &= {question for about, question in common if about == document}
    whole = common | {("", question) for question in shared}
    about = zip(one.frame["document"], one.frame["question"], strict=True)
    return replace(one, frame=one.frame[[pair in whole for pair in about]])
