"""The parts of a report in reading order: the one place that lists them, for the HTML, the archive and the desk."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import audit
from genaipa.reports.figures import agreement as agreement_figures
from genaipa.reports.figures import box_plots as boxes
from genaipa.reports.figures import closed_book as memory_figures
from genaipa.reports.figures import cost as effort_figures
from genaipa.reports.figures import heatmap
from genaipa.reports.figures import regulation as regulation_figures
from genaipa.reports.figures import robustness as robustness_figures
from genaipa.reports.figures.scope import Scope, paged
from genaipa.reports.table import Table
from genaipa.reports.tables import (
    agreement,
    closed_book,
    cost,
    documents,
    leaderboard,
    metrics,
    outcomes,
    regulation,
    robustness,
    scores,
)
from genaipa.reports.tidy import ORDERED
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.gather import Gathered
    from genaipa.scoring.m_all import Bounds


@dataclass(frozen=True)
class Chapter:
    """A part of a report: what it shows, with sentences about what is missing from it and why.

    `lead` says in a sentence or two what a reader sees here.
    """

    name: str
    title: str
    lead: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.tables or self.figures or self.absent)


def chapters(gathered: Gathered, bounds: Bounds) -> list[Chapter]:
    """The chapters that a report of this has, in reading order; `bounds` are those of the bands."""
    frame = gathered.frame
    scope = Scope.of(frame, gathered.categories)
    found = [_asked(gathered)]
    if frame["counted"].any():
        found += [
            _overall(frame),
            _by_document(frame, bounds, scope),
            _by_metric(frame, bounds, scope),
            _silent(frame),
            _robustness(frame, bounds, scope),
            _memory(frame, scope),
            _regulation(frame, bounds, scope),
        ]
    found += [_effort(frame, bounds, scope), _agreement(gathered), _documents(gathered), _audit(gathered)]
    return [chapter for chapter in found if chapter]


def notable(gathered: Gathered) -> list[str]:
    """Sentences that no reader may miss: what failed, is missing, was not scored, or was left out."""
    return [
        *_conduct_in_words(outcomes.statuses(gathered.frame)),
        *_unscored_in_words(gathered.frame),
        *_mixed_in_words(gathered.frame),
        *_reworded_in_words(gathered),
        *audit.in_words(gathered.findings, gathered.frame),
    ]


_NAMED = 5
"""Questions that a sentence names."""


def _reworded_in_words(gathered: Gathered) -> list[str]:
    """A sentence where runs asked different words under the same id."""
    ids = [question for question in gathered.questions if question in gathered.reworded]
    if not ids:
        return []
    named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    return [f"The runs asked different words under the same ids, so that their averages mix them: {named}."]


def _asked(gathered: Gathered) -> Chapter:
    """What was asked, and what came back."""
    return Chapter(
        "asked",
        "What was asked, and what came back",
        "Every question that was planned is counted here once, whatever became of it. A question without an answer, "
        "and an answer without a score, is part of no average.",
        _there(outcomes.statuses(gathered.frame), _questions(gathered)),
    )


def _questions(gathered: Gathered) -> Table:
    """The questions that the ids stand for."""
    about = gathered.frame[["question", "category", "source"]].drop_duplicates("question").astype(str)
    about = about[about["question"].isin(gathered.questions)]
    order = {question: place for place, question in enumerate(gathered.questions)}
    about = about.sort_values("question", key=lambda ids: ids.map(order))
    data = pd.DataFrame(
        {
            "question": about["question"],
            "text": about["question"].map(gathered.questions),
            "category": about["category"].map(lambda category: gathered.categories.get(category, category)),
            "source": about["source"].map({"faq": "FAQ", "user": "user"}),
        }
    ).reset_index(drop=True)
    return Table(
        "questions",
        "The questions",
        "In the wording of the question set; the company's or regulation's name takes the place of the brackets. "
        "Source: from companies' FAQs, or asked by a lay user (paper, section 4.1).",
        data,
        {"question": "id", "text": "question"},
    )


def _overall(frame: pd.DataFrame) -> Chapter:
    board = leaderboard.board(frame)
    few = leaderboard.too_few(frame)
    return Chapter(
        "overall",
        "Overall quality",
        "M_all joins the five metrics of an answer into one number from 1 (worst) to 10 (best); shown ten times as "
        "large, as in the paper.",
        _there(board, scores.five_numbers(frame), scores.by_source(frame)),
        [],
        [] if board or not few else [f"There is no leaderboard. {few}"],
    )


def _by_document(frame: pd.DataFrame, bounds: Bounds, scope: Scope) -> Chapter:
    """Box plots, one for each experiment."""
    points, five = scores.points(frame), scores.five_numbers(frame)
    figures = _pages(
        scope, (partial(boxes.by_document, points, five, experiment, bounds) for experiment in _experiments(points))
    )
    return Chapter(
        "documents",
        "By document",
        "How the questions' scores spread for each document: a box holds the middle half of them.",
        _there(scores.documents_ranked(frame), points),
        figures,
        [] if figures else ["There is no box plot: no score that counts belongs to one question about one policy."],
    )


def _by_metric(frame: pd.DataFrame, bounds: Bounds, scope: Scope) -> Chapter:
    """Heat maps, one for each experiment."""
    questions, categories = metrics.by_question(frame), metrics.by_category(frame)
    figures = _pages(
        scope,
        (
            *(partial(heatmap.overall, questions, experiment, bounds) for experiment in _compared(questions)),
            *(partial(heatmap.by_question, questions, experiment, bounds) for experiment in _experiments(questions)),
            *(partial(heatmap.by_category, categories, experiment, bounds) for experiment in _experiments(categories)),
        ),
    )
    return Chapter(
        "metrics",
        "By metric and question",
        f"What is strong and what is weak, averaged over documents. Bands: {bounds.in_words}.",
        _there(scores.easiest_and_hardest(frame), questions, categories),
        figures,
        [] if figures else ["There is no heat map: no score that counts is known metric by metric."],
    )


def _silent(frame: pd.DataFrame) -> Chapter:
    """The questions on which a document is silent, apart."""
    table = outcomes.silent_questions(frame)
    known = (frame["silent"] == "yes").any()
    return Chapter(
        "silent",
        "Where the document is silent",
        "Where a document does not answer a question, the right answer is to say so. How often a system asserts "
        "something all the same, and how often it claims silence where the document is not silent.",
        _there(table),
        [],
        [] if table and known else ["No question that was asked is annotated as one on which its document is silent."],
    )


def _robustness(frame: pd.DataFrame, bounds: Bounds, scope: Scope) -> Chapter:
    drops = robustness.drops(frame)
    tables = _there(drops, robustness.by_question(frame), robustness.consistency(frame))
    why = "no pair of an original and a paraphrased question is scored" if _tried(frame, "robustness") else (
        "no question was asked in other wordings (genaipa run --experiment robustness)"
    )  # fmt: skip
    return Chapter(
        "robustness",
        "Robustness",
        "Whether the same question in other words is answered as well, and whether the same question asked again is.",
        tables,
        _pages(scope, [partial(robustness_figures.drops, drops, bounds)]),
        [] if drops else [f"Robustness to other wordings is not shown: {why}."],
    )


def _memory(frame: pd.DataFrame, scope: Scope) -> Chapter:
    by_question = closed_book.by_question(frame)
    asked = _tried(frame, "recall") and _tried(frame, "quality")
    why = "no question is scored both ways" if asked else (
        "it takes answers with the document shown and with the company's name alone "
        "(genaipa run --experiment quality and --experiment recall)"
    )  # fmt: skip
    return Chapter(
        "memory",
        "Memory",
        "What a system makes of the document that it is shown, against what it answers when only the company is named.",
        _there(closed_book.summary(frame), by_question),
        _pages(scope, [partial(memory_figures.by_question, by_question)]),
        [] if by_question else [f"Memory is not shown: {why}."],
    )


def _regulation(frame: pd.DataFrame, bounds: Bounds, scope: Scope) -> Chapter:
    table = regulation.scores(frame)
    why = "no answer about one is scored" if _tried(frame, "regulation") else (
        "none was asked about (genaipa run --experiment regulation)"
    )  # fmt: skip
    return Chapter(
        "regulation",
        "Regulations",
        "Questions about data-protection laws, put by the name of the law alone.",
        _there(table),
        _pages(scope, [partial(regulation_figures.scores, table, bounds)]),
        [] if table else [f"Regulations are not shown: {why}."],
    )


def _effort(frame: pd.DataFrame, bounds: Bounds, scope: Scope) -> Chapter:
    table = cost.by_system(frame)
    return Chapter(
        "effort",
        "Effort",
        "What the answers took: time and, where prices are known, money.",
        _there(table),
        _drawn(*(effort_figures.against(table, effort, bounds, scope) for effort in _EFFORTS)),
        [] if table else ["Effort is not shown: neither time nor cost is known of any answer."],
    )


_EFFORTS: tuple[effort_figures.Effort, ...] = ("cost", "seconds")


def _agreement(gathered: Gathered) -> Chapter:
    table = agreement.alphas(gathered.events, gathered.rubric)
    return Chapter(
        "agreement",
        "Agreement of the analysts",
        "Krippendorff's alpha: 1 is perfect agreement, 0 what chance alone would give.",
        _there(table),
        _drawn(agreement_figures.alphas(table)),
        [] if table else ["Agreement is not shown: no answer has scores of two analysts who had not seen the other's."],
    )


def _documents(gathered: Gathered) -> Chapter:
    table = documents.statistics(gathered.statistics, gathered.frame)
    return Chapter(
        "texts",
        "The documents",
        "How long and how hard to read the documents are.",
        _there(table),
        [],
        [] if table else ["The documents' statistics are not shown: none of their texts is here."],
    )


def _audit(gathered: Gathered) -> Chapter:
    return Chapter(
        "audit",
        "What the audit found",
        "Some runs were made of data that others published. The import compared these data with themselves and with "
        "the documents; each thing that it found is listed with its place.",
        _there(audit.by_kind(gathered.findings), audit.listed(gathered.findings)),
    )


def _conduct_in_words(statuses: Table) -> list[str]:
    """What is missing from averages because it was not answered or not scored."""
    total = statuses.data.select_dtypes("number").sum()
    sentences = []
    for status, meaning in _LACKS.items():
        count = int(total.get(status, 0))
        if count:
            sentences.append(f"{meaning}: {count:,} of {int(total['planned']):,}.")
    return sentences


_LACKS = {
    "missing": "Questions that were planned and not asked",
    "failed": "Questions to which no reply came",
    "refused": "Questions that a system refused to answer",
    "truncated": "Answers that were cut off",
    "unscored": "Answers that nobody has scored",
    "score_left_out": "Answers whose published score is left out by the audit",
}


def _unscored_in_words(frame: pd.DataFrame) -> list[str]:
    if frame["counted"].any():
        return []
    if (frame["m_all"].notna() & (frame["excluded"] != "")).any():
        return ["No score counts: all that there are were left out by the audit. (--include-excluded counts them.)"]
    return ["No answer has a score of a person yet, so that nothing can be averaged. To score: genaipa score"]


def _mixed_in_words(frame: pd.DataFrame) -> list[str]:
    """Where a published score and scores of analysts are averaged with each other."""
    counted = frame[frame["counted"]]
    units = counted.groupby(["system", "experiment", "document", "question"], observed=True)["unit"].nunique()
    mixed = units[units > 1].groupby("system", observed=True).size()
    if mixed.empty:
        return []
    where = ", ".join(f"{system} {number:,}" for system, number in mixed.items())
    said = "Some questions about a document have a published score and answers that analysts scored here; their average"
    return [f"{said} counts the published score as one more answer. How many, by system: {where}."]


def _experiments(table: Table) -> list[str]:
    """The experiments in a table: the paper's in its order, then others."""
    there = sorted({str(name) for name in table.data["experiment"]})
    return [
        *(name for name in ORDERED["experiment"] if name in there),
        *(n for n in there if n not in ORDERED["experiment"]),
    ]


def _compared(questions: Table) -> list[str]:
    """The experiments in which several systems, or questions without metrics, have an M_all to be seen side by side."""
    found = []
    for experiment in _experiments(questions):
        rows = questions.data[questions.data["experiment"] == experiment].dropna(subset="m_all")
        if len(rows["system"].unique()) > 1 or rows[list(METRICS)].isna().any(axis=None):
            found.append(experiment)
    return found


def _pages(scope: Scope, draw: Iterable[Callable[[Scope], Figure | None]]) -> list[Figure]:
    """The figures that there are, those of many systems in several pages."""
    return [figure for one in draw for figure in paged(one, scope)]


def _tried(frame: pd.DataFrame, experiment: str) -> bool:
    return bool((frame["experiment"] == experiment).any())


def _there(*tables: Table) -> list[Table]:
    return [table for table in tables if table]


def _drawn(*figures: Figure | None) -> list[Figure]:
    return [figure for figure in figures if figure is not None]
