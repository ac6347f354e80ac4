"""Audit of the published scores: tables compared with each other and with the possible values of a score."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.datasets.genaipabench.layout import origin_of
from genaipa.datasets.genaipabench.results import PARAPHRASES
from genaipa.runs.audit import Finding
from genaipa.scoring.rubric import shipped_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.datasets.study import Answer
    from genaipa.runs.experiments import StudyExperiment
    from genaipa.scoring.published import PublishedScore

ROUNDING = 0.006
"""Two accounts of one value may differ by this: the tables are rounded to two digits."""
_TELLING = 3
"""Different values without which equal rows prove nothing."""

Table = dict[tuple[str, str], "PublishedScore"]
"""(question, document) → score."""


@dataclass(frozen=True)
class _Tables:
    """The score tables of one system, and what its metrics imply: (experiment, question) → M_all."""

    overall: dict[StudyExperiment, Table]
    metrics: dict[tuple[StudyExperiment, str], PublishedScore]

    @property
    def keys(self) -> set[tuple[str, str]]:
        """(question, document) of all scores."""
        return {key for table in self.overall.values() for key in table}

    def row(self, experiment: StudyExperiment, question: str) -> dict[str, PublishedScore]:
        """Document → score of one question."""
        return {d: score for (q, d), score in self.overall[experiment].items() if q == question}

    def contradicts(self, experiment: StudyExperiment, question: str) -> tuple[float, float] | None:
        """Mean of the row, and M_all by the metrics, where they differ; None if they agree or one is lacking."""
        row, means = self.row(experiment, question), self.metrics.get((experiment, question))
        if not row or means is None:
            return None
        mean = sum(score.m_all or 0.0 for score in row.values()) / len(row)
        implied = implied_m_all(means)
        return (mean, implied) if abs(mean - implied) > ROUNDING else None

    def wrongs(self, experiment: StudyExperiment, questions: Iterable[str]) -> int:
        """Number of these questions' rows that the metrics contradict."""
        return sum(self.contradicts(experiment, question) is not None for question in questions)


def implied_m_all(means: PublishedScore) -> float:
    """M_all of five averaged metrics: it is linear in them, so that it is the mean of M_all."""
    overall: float = shipped_rubric().m_all({metric: means[metric] or 0.0 for metric in shipped_rubric().metrics})
    return overall


def audit_scores(scores: list[PublishedScore]) -> list[Finding]:
    """Duplicate tables, copied columns and rows, values that no score can have, and tables that contradict each other.

    `excludes` of a finding on a table, column or row holds for each cell that its `cell` names.
    """
    found: list[Finding] = []
    for tables in _by_system(scores):
        tables_twice = list(_duplicate_tables(tables))
        copied = {finding.experiment for finding in tables_twice}
        pairs = list(combinations([experiment for experiment in tables.overall if experiment not in copied], 2))
        rows_twice = [finding for pair in pairs for finding in _duplicate_rows(tables, *pair)]
        found += tables_twice
        found += [finding for pair in pairs for finding in _duplicate_columns(tables, *pair)]
        found += rows_twice
        found += _unreachable(tables)
        found += _contradictions(tables, [*tables_twice, *rows_twice])
    return found


def _by_system(scores: list[PublishedScore]) -> Iterator[_Tables]:
    systems: defaultdict[str, _Tables] = defaultdict(lambda: _Tables({}, {}))
    for score in scores:
        if score.experiment == "regulation":
            continue
        tables = systems[score.system]
        if score.document:
            tables.overall.setdefault(score.experiment, {})[score.question, score.document] = score
        else:
            tables.metrics[score.experiment, score.question] = score
    return iter(systems.values())


def _copies(
    tables: _Tables, one: StudyExperiment, other: StudyExperiment, asked: list[str]
) -> tuple[list[StudyExperiment], str]:
    """Of two experiments with equal scores: the likely copies, and why."""
    wrong = {experiment: tables.wrongs(experiment, asked) for experiment in (one, other)}
    if wrong[one] == wrong[other]:
        return [one, other], "the metrics don't show which of the two they belong to"
    copy, original = (one, other) if wrong[one] > wrong[other] else (other, one)
    if len(asked) == 1:
        return [copy], f"the metrics contradict {copy}, and not {original}"
    said = f"the metrics contradict {copy} on {wrong[copy]} of {len(asked)} questions, and {original} on"
    return [copy], f"{said} {wrong[original]}"


def _duplicate_tables(tables: _Tables) -> Iterator[Finding]:
    """Two experiments with the same scores throughout."""
    for one, other in combinations(tables.overall, 2):
        said = "All {n} scores equal those of {original}; {why}."
        yield from _duplicates(tables, one, other, tables.keys, said, kind="duplicate-table")


def _duplicate_columns(tables: _Tables, one: StudyExperiment, other: StudyExperiment) -> Iterator[Finding]:
    """Two experiments with the same scores in all FAQ questions about one document."""
    for document in sorted({document for _, document in tables.overall[one]}):
        column = {(q, d) for q, d in tables.keys if d == document and origin_of(q) == "faq"}
        said = f"All {{n}} FAQ scores about {document} equal those of {{original}}; {{why}}."
        yield from _duplicates(tables, one, other, column, said)


def _duplicate_rows(tables: _Tables, one: StudyExperiment, other: StudyExperiment) -> Iterator[Finding]:
    """A question with the same scores in two experiments, where the metrics say that one is a copy."""
    for question in dict.fromkeys(question for question, _ in tables.overall[one]):
        row = {(q, d) for q, d in tables.keys if q == question}
        yield from _duplicates(tables, one, other, row, f"The row of {question} equals that of {{original}}; {{why}}.")


def _duplicates(
    tables: _Tables,
    one: StudyExperiment,
    other: StudyExperiment,
    keys: set[tuple[str, str]],
    said: str,
    kind: str = "duplicate-scores",
) -> Iterator[Finding]:
    """Findings on likely copies: these cells are equal in two experiments."""
    cells = {e: {key: score for key, score in tables.overall[e].items() if key in keys} for e in (one, other)}
    values, others = ({key: score.m_all for key, score in table.items()} for table in cells.values())
    telling = kind == "duplicate-table" or len(set(values.values())) >= _TELLING
    if len(values) <= 1 or values != others or not telling:
        return
    copies, why = _copies(tables, one, other, list(dict.fromkeys(question for question, _ in values)))
    for copy in copies:
        original = other if copy == one else one
        reason = said.format(n=len(values), original=original, why=why)
        yield _finding(kind, list(cells[copy].values()), reason)


def _unreachable(tables: _Tables) -> Iterator[Finding]:
    """Cells that no score, nor the mean of a user question's three, can come to."""
    for table in tables.overall.values():
        for (question, _), score in table.items():
            known = _of_three() if origin_of(question) == "user" else _single()
            value = score.m_all or 0.0
            nearest = min(known, key=lambda possible, value=value: abs(possible - value))  # type: ignore[misc]
            if abs(nearest - value) > ROUNDING:
                what = "a score" if known is _single() else f"one score or the mean of {PARAPHRASES}"
                said = f"{value:g} can't be {what}; the nearest that can is {nearest:.4g}."
                yield _finding("unreachable-score", [score], said)


@cache
def _single() -> tuple[float, ...]:
    """Every value of M_all that five metrics can come to."""
    paper = shipped_rubric()
    scores = map(paper.typed, map("".join, product(paper.keys, repeat=len(paper.metrics))))
    return tuple(sorted({round(paper.m_all(score), 6) for score in scores}))


@cache
def _of_three() -> tuple[float, ...]:
    """Every mean of three of them."""
    means = (sum(three) / PARAPHRASES for three in combinations_with_replacement(_single(), PARAPHRASES))
    return tuple(sorted(set(means)))


def _contradictions(tables: _Tables, copies: Iterable[Finding]) -> Iterator[Finding]:
    """Rows whose mean isn't what the metrics imply: both are left out, because either may be wrong.

    Where the row is one of the `copies`, it is the wrong one, and the metrics stay.
    """
    copied = {(finding.experiment, finding.question) for finding in copies}
    for experiment, table in tables.overall.items():
        for question in dict.fromkeys(question for question, _ in table):
            differ = tables.contradicts(experiment, question)
            if differ is not None:
                row, means = list(tables.row(experiment, question).values()), tables.metrics[experiment, question]
                open_ = not copied & {(experiment, question), (experiment, "")}
                said = (
                    f"The row's scores average {differ[0]:.2f}; the metrics in {PurePosixPath(means.file).name}, sheet "
                    f"'{means.sheet}', row {means.cell[1:]}, imply {differ[1]:.2f}."
                )
                yield _finding("tables-contradict", row, said, excludes=open_)
                if open_:
                    said = (
                        f"The metrics imply {differ[1]:.2f}; the row's scores in {PurePosixPath(row[0].file).name}, "
                        f"row {row[0].cell[1:]}, average {differ[0]:.2f}."
                    )
                    yield _finding("tables-contradict", [means], said)


def _finding(kind: str, cells: list[PublishedScore], reason: str, *, excludes: bool = True) -> Finding:
    """A finding about these cells of one table."""
    first, last = cells[0], cells[-1]
    documents, questions = {score.document for score in cells}, {score.question for score in cells}
    return Finding(
        kind=kind,
        file=first.file,
        sheet=first.sheet,
        cell=first.cell if first is last else f"{first.cell}:{last.cell}",
        reason=reason,
        system=first.system,
        experiment=first.experiment,
        document=first.document if len(documents) == 1 else "",
        question=first.question if len(questions) == 1 else "",
        excludes="score" if excludes else "",
    )


def with_exclusions(
    scores: list[PublishedScore], findings: list[Finding], answers: list[Answer]
) -> list[PublishedScore]:
    """The scores, each with the reason for which analyses leave it out by default, if there is one.

    That is a finding about the score itself, or findings about all the answers that it was given to. A mean over
    documents is left out as well where one of them has answers to something else, or a copied column: it rests on them.
    """
    about_scores = [finding for finding in findings if finding.excludes == "score"]
    about_answers = {finding.key: finding for finding in findings if finding.excludes == "answer"}
    keys: defaultdict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for answer in answers:
        if answer.text is not None:
            keys[answer.system, answer.experiment, answer.document, answer.question].append(answer.key)
    reasons: list[str] = []
    wrong: dict[tuple[str, str, str], str] = {}
    for score in scores:
        found = [finding for finding in about_scores if _concerns(finding, score)]
        behind = keys.get((score.system, score.experiment, score.document, score.question), [])
        if behind and all(key in about_answers for key in behind):
            found.append(about_answers[behind[0]])
        reasons.append(f"{found[0].kind}: {found[0].reason}" if found else "")
        for finding in filter(_wrong_content, found):
            said = f"{finding.kind}: The mean includes {score.document}. {finding.reason}"
            wrong.setdefault((score.system, score.experiment, score.question), said)
    for place, score in enumerate(scores):
        if not score.document and not reasons[place]:
            reasons[place] = wrong.get((score.system, score.experiment, score.question), "")
    return [replace(score, excluded=why) if why else score for score, why in zip(scores, reasons, strict=True)]


def _wrong_content(finding: Finding) -> bool:
    """Whether the wrong answers were scored, and so are in the means over documents as well.

    Not so for a copied table or row, where the metrics show the right scores.
    """
    return finding.excludes == "answer" or (finding.kind == "duplicate-scores" and not finding.question)


def _concerns(finding: Finding, score: PublishedScore) -> bool:
    """Whether the score is in the cells of the finding."""
    if (finding.file, finding.sheet) != (score.file, score.sheet):
        return False
    if finding.document not in ("", score.document) or finding.question not in ("", score.question):
        return False
    lines = [int(line) for line in re.findall(r"\d+", finding.cell)]
    line = int(re.sub(r"\D", "", score.cell))
    # A column of FAQ scores has the user questions' rows in between.
    faq_only = finding.kind == "duplicate-scores" and not finding.question
    return min(lines) <= line <= max(lines) and not (faq_only and origin_of(score.question) != "faq")
