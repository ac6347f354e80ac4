"""The data sheet of a human evaluation in the order of HEDS 3.0 (Belz and Thomson, arXiv:2412.07940).

    heds.json   each question's number, our answer, and the records that it follows from
    heds.tex    the same as a table

Records answer what they prove; what only the authors know is left blank and counted. The questions' numbers are those
of https://nlp-heds.github.io; their titles here are ours, and `option` is the number of the form's option.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa import __version__
from genaipa.reports.render import as_latex
from genaipa.reports.table import make_table
from genaipa.words import format_count, join_some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa_artifact.evaluation import HumanEvaluationRecords

HEDS_JSON, HEDS_LATEX = "heds.json", "heds.tex"
_BLANK = "[yours]"


@dataclass(frozen=True)
class HedsAnswer:
    """The answer that the records `source` give to a question; `option` is the number of the form's option, if any.

    `authors_part` is what the authors have to add; empty for an answer that is whole.
    """

    text: str
    source: str
    option: int | None = None
    authors_part: str = ""


@dataclass(frozen=True)
class HedsQuestion:
    """A question about the whole evaluation; without `answer` it is one that only the authors can answer."""

    number: str
    title: str
    answer: Callable[[HumanEvaluationRecords], HedsAnswer | None] | None = None


@dataclass(frozen=True)
class HedsCriterionQuestion:
    """A question that is asked of each criterion, which is a metric of the rubric."""

    number: str
    title: str
    answer: Callable[[HumanEvaluationRecords, str], HedsAnswer | None] | None = None


@dataclass(frozen=True)
class HedsEntry:
    """A question with its answer, of one `criterion` or of the whole evaluation (empty)."""

    number: str
    title: str
    criterion: str
    answer: HedsAnswer | None

    def as_json(self) -> dict[str, Any]:
        """Return the entry for machines; its answer is null where it is the authors'."""
        answer = self.answer
        if answer is None:
            return {"title": self.title, "answer": None}
        option = {"option": answer.option} if answer.option else {}
        addition = {"add": answer.authors_part} if answer.authors_part else {}
        return {"title": self.title, **option, "answer": answer.text, "source": answer.source, **addition}

    @property
    def answer_for_readers(self) -> str:
        """The answer as people read it, with what is left to the authors in brackets."""
        answer = self.answer
        if answer is None:
            return _BLANK
        option = f"Option {answer.option}. " if answer.option else ""
        return f"{option}{answer.text}{f' [{answer.authors_part}]' if answer.authors_part else ''}"


@dataclass(frozen=True)
class HedsDataSheet:
    """A filled data sheet: its entries in the order of the form, and sentences on what it does not describe."""

    entries: Sequence[HedsEntry]
    notes: Sequence[str]

    @cached_property
    def summary_of_answered_questions(self) -> str:
        """How many questions the records answer, and how many are the authors'."""
        answered = [entry.answer for entry in self.entries if entry.answer]
        partial = sum(bool(answer.authors_part) for answer in answered)
        return (
            f"{len(answered)} of {format_count(len(self.entries), 'question')} answered from the records, "
            f"{partial} of them in part; {len(self.entries) - len(answered)} are yours"
        )

    def as_json(self) -> str:
        """Return the sheet for machines: number → entry, and those of criteria by metric."""
        criteria: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            if entry.criterion:
                criteria.setdefault(entry.criterion, {})[entry.number] = entry.as_json()
        content = {
            "sheet": "HEDS 3.0",
            "reference": "arXiv:2412.07940",
            "genaipa": __version__,
            "summary": f"{self.summary_of_answered_questions}.",
            "notes": list(self.notes),
            "questions": {entry.number: entry.as_json() for entry in self.entries if not entry.criterion},
            "criteria": criteria,
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def as_latex(self) -> str:
        """Return the sheet as a table of LaTeX."""
        columns = ["question", "criterion", "about", "answer"]
        rows = [(entry.number, entry.criterion, entry.title, entry.answer_for_readers) for entry in self.entries]
        note = f"{' '.join(self.notes)} Fill in what is in brackets: {self.summary_of_answered_questions}."
        title = "Data sheet of the human evaluation (HEDS 3.0)"
        return as_latex(make_table("heds", title, note, pd.DataFrame(rows, columns=columns), columns))


def fill_data_sheet(
    records: HumanEvaluationRecords,
    questions: Sequence[HedsQuestion],
    criterion_questions: Sequence[HedsCriterionQuestion],
) -> HedsDataSheet:
    """Answer the questions from records; those of criteria come for each metric, before the last section."""
    whole = [
        HedsEntry(
            question.number,
            question.title,
            "",
            _add_sentences_of_packages(question.answer(records) if question.answer else None, question.number, records),
        )
        for question in questions
    ]
    by_criterion = [
        HedsEntry(
            question.number, question.title, metric, question.answer(records, metric) if question.answer else None
        )
        for metric in records.rubric.metrics
        for question in criterion_questions
    ]
    before = [entry for entry in whole if not entry.number.startswith("5.")]
    return HedsDataSheet([*before, *by_criterion, *whole[len(before) :]], describe_omissions_of_sheet(records))


def _add_sentences_of_packages(
    answer: HedsAnswer | None, number: str, records: HumanEvaluationRecords
) -> HedsAnswer | None:
    """Return an answer with what packages add to it; what only they answer, the authors may have to complete."""
    for addition in records.additions:
        if addition.number == number:
            answer = (
                HedsAnswer(addition.sentence, addition.source, authors_part="what is beside this")
                if answer is None
                else replace(
                    answer,
                    text=f"{answer.text} {addition.sentence}",
                    source="; ".join(dict.fromkeys((*answer.source.split("; "), addition.source))),
                )
            )
    return answer


def describe_omissions_of_sheet(records: HumanEvaluationRecords) -> list[str]:
    """Return sentences on what of the study the sheet does not describe, and on what its answers rest."""
    sentences = ["Answers are as genaipa recorded the evaluation; what was done beside its records is not in them."]
    if not records.scores and not records.adjudications:
        sentences.append("No score by a person counts.")
    if records.runs_with_published_scores:
        sentences.append(
            f"The published scores of {join_some(records.runs_with_published_scores, 5)} name nobody: who gave them, "
            "and how, is not recorded, and this sheet is not about them."
        )
    if records.judge_scores:
        judges = sorted({event.analyst for event in records.judge_scores})
        sentences.append(
            f"{format_count(len(records.judge_scores), 'score')} by {format_count(len(judges), 'judge')} "
            f"({join_some(judges, 5)}) are no human evaluation, and this sheet is not about them."
        )
    if records.scores or records.adjudications:
        sentences.append(
            "Scored means: with a score or adjudication in effect, which nobody withdrew or replaced, and which is by "
            "none whom desk.yaml leaves out and by no author of the answer."
        )
    sentences += records.study.lost
    if not records.are_all_scored_by_current_rubric:
        sentences.append(
            "Some scores are by another rubric than the workspace's, so what criteria mean is left to you."
        )
    return sentences
