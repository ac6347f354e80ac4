"""What the GenAIPABench paper prints, figure by figure, and what its released data gives for each.

`paper_numbers.yaml` says what is printed and how it follows from the data. Here each figure is looked up in the
tables that `genaipa report` writes, or computed from their rows.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
import pandas as pd

from genaipa.answers.gather import gather_study
from genaipa.files.spreadsheets import read_csv_records
from genaipa.files.strict_yaml import read_yaml
from genaipa.reports.chapters import documents, metrics, overall, regulation, texts
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from genaipa_study.audit import COPIED_TABLE
from genaipa_study.findings import AUDIT, Finding

if TYPE_CHECKING:
    from genaipa.answers.study import Study

NUMBERS = Path(__file__).with_name("paper_numbers.yaml")
SYSTEMS = ("chatgpt-4", "bard", "bingai")
FIVE_NUMBERS = ("minimum", "q1", "median", "q3", "maximum")
DOCUMENT_COLUMNS = {
    "unique-words": "unique_words",
    "reading-time": "reading_minutes",
    "grade": "grade",
    "connective-words": "connective_words",
}
NEAR = 0.1
"""How far from the printed value a metric that "mostly lies" there may be."""
HALF = (0.4, 0.6)
"""From which share to which one says "about half"."""
ONE_DIGIT = Decimal("0.0")
"""A figure printed without digits after the point has to be met to one: a 6 is not 6.3, nor a 0 0.1."""
DIGITS = 9
"""Sums of floats are good to so many digits after the point: what differs later is noise."""

Verdict = Literal["match", "differs", "absent"]


class PrintedNumber(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A figure that the paper prints; the head of `paper_numbers.yaml` says what the fields mean."""

    id: str
    section: str
    system: Literal["chatgpt-4", "bard", "bingai", "all", "documents"]
    what: str
    printed: str
    metric: Literal[
        "m_all",
        "relevance",
        "accuracy",
        "clarity",
        "completeness",
        "reference",
        "silent",
        "unique-words",
        "reading-time",
        "grade",
        "connective-words",
    ]
    statistic: Literal[
        "value",
        "minimum",
        "q1",
        "median",
        "q3",
        "maximum",
        "mean",
        "most-near",
        "most-at-least",
        "half-below",
        "share-below-zero",
        "medians-at-least",
        "mean-over-experiments",
        "mean-over-systems",
        "rank-of-document",
        "count",
        "share",
        "documents",
    ]
    scale: Literal["x10", "score", "metric", "share", "percent", "minutes", "grade", "count", "rank", "text"]
    expect: Verdict
    experiment: Literal["", "quality", "robustness", "recall", "summary", "regulation", "quality+robustness", "all"] = (
        ""
    )
    document: Literal["all", "mean", "spotify", "uber", "twitter", "facebook", "airbnb", "gdpr", "ccpa"] = "all"
    questions: Literal["all", "faq", "user", "one"] = "all"
    question: str = ""
    why: str = ""


class PaperNumbers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The content of `paper_numbers.yaml`."""

    source: str
    numbers: tuple[PrintedNumber, ...]


def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Return the figures of the paper in its order; a DataError says what is wrong with the file."""
    return read_yaml(NUMBERS, PaperNumbers).numbers


def import_study(origin: str | None, workspace: Path) -> None:
    """Import the study into `workspace`.

    `origin` is where `genaipa get` finds the released data; without it, it is pulled from its own place, or taken
    from where it was pulled before.
    """
    workspace.mkdir(exist_ok=True)
    _genaipa("get", "genaipabench", *(["--from", origin] if origin else []))
    _genaipa("get", "genaipabench", "--runs", "--workspace", str(workspace))


def imported_study(workspace: Path) -> Study:
    """Return the study that was imported into `workspace`, with everything that its audit leaves out put back in."""
    place = find_workspace(workspace)
    return gather_study(place, select_runs_and_apply_filters(place, ()), None, count_excluded=True)


def _genaipa(*arguments: str) -> None:
    """Run a command; what it has to say is only shown if it fails."""
    line = [sys.executable, "-m", "genaipa", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode:
        raise SystemExit(f"genaipa {' '.join(arguments)}: {done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Found:
    """What the released data gives for a printed figure.

    `number` is on the scale of what is printed, None where that is names of documents; `holds` is whether what is
    printed follows from it, and `shown` is how people read it: with the printed digits if it does, else with two.
    `remark` is said beside it: that digits are cut off, or what a mean or a place over systems is made of.
    """

    number: float | None
    holds: bool
    shown: str
    remark: str = ""


@dataclass(frozen=True)
class Compared:
    """A printed figure beside what the data gives, None where it gives nothing."""

    printed: PrintedNumber
    found: Found | None

    @property
    def verdict(self) -> Verdict:
        """What comes of it."""
        if self.found is None:
            return "absent"
        return "match" if self.found.holds else "differs"


def copied_tables(study: Study) -> list[str]:
    """Return the tables of which the audit found that they are copies, in words."""
    audits = (read_csv_records(source.folder.path / AUDIT, Finding) for source in study.sources)
    return [
        f"{finding.system}'s table of {finding.experiment} ({Path(finding.file).name}"
        f"{f', sheet {finding.sheet}' if finding.sheet else ''})"
        for finding in dict.fromkeys(itertools.chain.from_iterable(audits))
        if finding.kind == COPIED_TABLE and finding.excludes
    ]


def compare(study: Study, *, whole: bool = True, audited: bool = False) -> list[Compared]:
    """Every printed figure with what the study gives for it.

    A figure over all three systems is looked up only where the released data of all three is there; without `whole`,
    over those that are there. What the audit leaves out counts, but for tables that are copies of another experiment's;
    with `audited` nothing of it does, as in a report.
    """
    excluded = study.table["excluded"].astype(str)
    left_out = excluded != "" if audited else excluded.str.startswith(f"{COPIED_TABLE}:")
    data = ReleasedData(study.table[~left_out], study, whole=whole)
    return [Compared(number, data.find(number)) for number in printed_numbers()]


class ReleasedData:
    """The tables of a report about the published study, and how a printed figure is found in them."""

    def __init__(self, frame: pd.DataFrame, study: Study, *, whole: bool) -> None:
        self._frame, self._study, self._whole = frame, study, whole

    @cached_property
    def _points(self) -> pd.DataFrame:
        return documents.scores_by_question_and_document_table(self._frame).data

    @cached_property
    def _five_numbers(self) -> pd.DataFrame:
        return documents.five_number_summary_by_document_table(self._frame).data

    @cached_property
    def _by_source(self) -> pd.DataFrame:
        return overall.scores_by_question_source_table(self._frame).data

    @cached_property
    def _questions(self) -> pd.DataFrame:
        """Every question with its place, half of them the easiest, half the hardest; means as printed, a tenth."""
        found = metrics.easiest_and_hardest_questions_table(
            self._frame, max_per_end=len(self._study.questions.texts)
        ).data
        return found.assign(mean=found["mean"] / 10)

    @cached_property
    def _ranked(self) -> pd.DataFrame:
        return documents.document_ranks_over_all_systems_table(self._frame).data

    @cached_property
    def _metrics(self) -> pd.DataFrame:
        return metrics.metrics_by_question_table(self._frame).data

    @cached_property
    def _regulation(self) -> pd.DataFrame:
        return regulation.regulation_scores_table(self._frame).data

    @cached_property
    def _documents(self) -> pd.DataFrame:
        return texts.document_statistics_table(self._study.document_statistics, self._frame).data

    def find(self, number: PrintedNumber) -> Found | None:
        """Return what the data gives; None where it lacks what the figure was computed from."""
        if number.metric == "silent":
            return self._silent(number)
        if number.metric in DOCUMENT_COLUMNS:
            return _only(number, self._documents, DOCUMENT_COLUMNS[number.metric], document=number.document)
        if number.system == "all":
            return self._of_all_systems(number)
        return self._of_system(number, f"published/{number.system}")

    def _of_system(self, number: PrintedNumber, system: str) -> Found | None:
        """How one system scored."""
        if number.statistic == "mean-over-experiments":
            return _only(number, self._by_source, "mean", system=system, questions=number.questions)
        if number.experiment == "regulation":
            place = {"system": system, "document": number.document, "question": number.question}
            return _only(number, self._regulation, number.metric, **place)
        if number.metric == "m_all":
            return self._overall(number, system)
        return _of_metric(number, self._chosen(self._metrics, number)[number.metric].dropna())

    def _silent(self, number: PrintedNumber) -> Found | None:
        """On how many questions a document is silent, or which documents are silent on a question."""
        if number.statistic == "documents":
            said = self._questions.loc[self._questions["question"] == number.question, "silent"]
            return _same_documents(number, said.iloc[0]) if len(said) else None
        if number.statistic == "share":
            rows = self._documents.assign(share=self._documents["silent"] / self._documents["questions"] * 100)
            return _only(number, rows, "share", document=number.document)
        return _only(number, self._documents, "silent", document=number.document)

    def _of_all_systems(self, number: PrintedNumber) -> Found | None:
        """Return a mean or a place over the three systems."""
        if self._whole and not {f"published/{name}" for name in SYSTEMS} <= set(self._points["system"]):
            return None
        if number.statistic == "rank-of-document":
            found = _only(number, self._ranked, "rank", document=number.document)
            means = self._ranked.set_index("document")["mean"]
            return found and replace(found, remark=_listed(means))
        found = _only(number, self._questions, "mean", question=number.question)
        means = pd.Series({name: part.mean_of(number.question) for name, part in self._by_system.items()})
        return found and replace(found, remark=_listed(means))

    @cached_property
    def _by_system(self) -> dict[str, ReleasedData]:
        """The same of each system alone."""
        names = sorted({str(name) for name in self._points["system"]})
        own = {name: self._frame[self._frame["system"] == name] for name in names}
        return {name.partition("/")[2]: ReleasedData(rows, self._study, whole=False) for name, rows in own.items()}

    def mean_of(self, question: str) -> float:
        """Return the mean of one question over systems, policies and experiments; NaN without any."""
        return float(self._questions.loc[self._questions["question"] == question, "mean"].mean())

    def _overall(self, number: PrintedNumber, system: str) -> Found | None:
        """Return a statistic of M_all over questions and documents of one experiment."""
        one = {"system": system, "experiment": number.experiment, "document": number.document}
        tens = 10 if number.scale == "score" else 1
        if number.statistic == "medians-at-least":
            medians = _rows(self._five_numbers, **one)["median"]
            if medians.empty:
                return None
            return Found(medians.min(), medians.min() >= float(number.printed), f"none below {medians.min():g}")
        if number.statistic in FIVE_NUMBERS and number.document != "all" and not number.question:
            rows = _rows(self._five_numbers, **one, questions=number.questions)
            return _equal(number, rows[number.statistic].iloc[0] / tens) if len(rows) else None
        values = self._chosen(self._points, number)["m_all"] / tens
        if values.empty:
            return None
        if number.statistic == "mean":
            return _equal(number, float(values.mean()))
        quantile = FIVE_NUMBERS.index(number.statistic) / 4
        return _equal(number, float(values.quantile(quantile)))

    def _chosen(self, rows: pd.DataFrame, number: PrintedNumber) -> pd.DataFrame:
        """Return the rows of a table by question that the figure is about."""
        place = {"system": f"published/{number.system}", "experiment": number.experiment}
        if number.document not in ("all", "mean"):
            place["document"] = number.document
        if number.questions == "one":
            place["question"] = number.question
        elif number.questions != "all":
            place["source"] = number.questions
        return _rows(rows, **place)


def _rows(rows: pd.DataFrame, **place: str) -> pd.DataFrame:
    """Return the rows with these values."""
    for column, value in place.items():
        rows = rows[rows[column] == value]
    return rows


def _only(number: PrintedNumber, rows: pd.DataFrame, column: str, **place: str) -> Found | None:
    """Return the value in the one row with these values; None if there is no such row, or it is blank."""
    values = _rows(rows, **place)[column].dropna()
    return _equal(number, values.item()) if len(values) else None


def _of_metric(number: PrintedNumber, values: pd.Series) -> Found | None:
    """Return a statistic of one metric over questions, each the mean over documents."""
    if values.empty:
        return None
    values, printed = values.round(DIGITS), float(number.printed)
    if number.statistic in ("value", "minimum", "maximum"):
        return _equal(number, values.max() if number.statistic == "maximum" else values.min())
    if number.statistic == "share-below-zero":
        return _equal(number, (values < 0).mean() * 100)
    chosen, said = {
        "most-near": (((values - printed).abs().round(DIGITS) <= NEAR), f"within {NEAR} of it"),
        "most-at-least": (values >= printed, "at it or above"),
        "half-below": (values < printed, "below it"),
    }[number.statistic]
    share = float(chosen.mean())
    holds = HALF[0] <= share <= HALF[1] if number.statistic == "half-below" else share > 1 / 2
    return Found(share, holds, f"{chosen.sum()} of {len(values)} questions {said}")


def _equal(number: PrintedNumber, value: float) -> Found:
    """Compare a value, rounded or cut to as many digits, with what is printed."""
    exact, printed = Decimal(repr(round(float(value), DIGITS))), Decimal(number.printed)
    # To quantize by a number is to give it as many digits.
    fine = min(printed, ONE_DIGIT, key=lambda one: one.as_tuple().exponent)
    holds, cut = (exact.quantize(fine, mode) == printed for mode in (ROUND_HALF_UP, ROUND_DOWN))
    remark = f"{exact.normalize():f}, cut off and not rounded." if cut and not holds else ""
    shown = number.printed if holds or cut else f"{value:.2f}".rstrip("0").rstrip(".")
    return Found(float(value), holds or cut, shown, remark)


def _listed(means: pd.Series) -> str:
    """Return the means that another is made of, or a place follows from."""
    return f"{', '.join(f'{name} {mean:.2f}' for name, mean in means.items())}."


def _same_documents(number: PrintedNumber, said: str) -> Found:
    """Return the documents that are silent on a question have to be those that are printed."""
    return Found(None, set(said.replace(",", " ").split()) == set(number.printed.split()), said)
