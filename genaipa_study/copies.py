"""Copies among the published score tables of one system: which parts are equal, and which of two is the copy.

All tables are compared with each other: M_all by document and the averaged metrics of every experiment, and the ones
with the others by the means of their questions. They are compared whole, by the FAQ and the users' questions, by column
and by row; what was found to be a copy is not compared again.

Equal values prove little where everybody has them. A cell tells something unless both tables hold the lowest or the
highest value there is, or one that more than half of the part holds. Parts are copies if at least `_SHARE` of `_ENOUGH`
or more telling cells are equal. (In the published tables that were looked at, copies agree in every such cell, and no
other two parts of that size in half of them.) With fewer telling cells, all have to be equal, at least `_FEW` of them,
and the counterparts (see `find_table_copies`) have to contradict one of the two more than the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, Literal

from genaipa.scoring.rubric import M_ALL_RANGE, shipped_rubric
from genaipa_study.layout import M_ALL_IN_TABLES, STUDY_EXPERIMENTS, faq_or_user_origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.runs.experiments import StudyExperiment
    from genaipa.runs.imported import PublishedScore

ROUNDING = 0.006
"""Two accounts of one value may differ by this: the tables are rounded to two digits."""
M_ALL_ROUNDING = ROUNDING * M_ALL_IN_TABLES
"""The same of M_all."""
_SHARE = 0.9
"""Share of the telling cells that two nearly whole copies have in common."""
_HALF = 0.75
"""Share of the questions of each half, the FAQ and the users' questions, that it needs for that."""
_ENOUGH = 10
"""Telling cells that prove a copy by themselves."""
_FEW = 4
"""Telling cells that prove one where the counterparts say so, too."""
_VALUES = 3
"""Different values among the equal telling cells below which they prove nothing."""
_MEAN = ""
"""The column of a table's means over its documents, by which tables of both kinds are compared."""

TableKind = Literal["m_all", "metrics"]
Cell = tuple[str, str]
"""(question, column); a column is a document, a metric, or `_MEAN`."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One published table: M_all by question and document of an experiment, or its metrics averaged over documents."""

    kind: TableKind
    experiment: StudyExperiment
    rows: dict[str, dict[str, PublishedScore]]
    """Question → document → score; the document is empty where it is averaged over."""

    def __str__(self) -> str:
        return f"the {'M_all' if self.kind == 'm_all' else 'metrics'} table of {self.experiment}"

    @cached_property
    def values_and_means_by_cell(self) -> dict[Cell, float]:
        """Every number in the table, and the mean M_all of each question that has a number in every column."""
        values: dict[Cell, float] = {}
        for question, row in self.rows.items():
            if self.kind == "metrics":
                values |= {(question, metric): row[""][metric] or 0.0 for metric in shipped_rubric().metrics}
                values[question, _MEAN] = implied_m_all(row[""])
            else:
                values |= {(question, document): score.m_all or 0.0 for document, score in row.items()}
                if len(row) == len(self.document_or_metric_columns):
                    values[question, _MEAN] = sum(score.m_all or 0.0 for score in row.values()) / len(row)
        return values

    @cached_property
    def document_or_metric_columns(self) -> list[str]:
        """Its documents, or the metrics."""
        if self.kind == "metrics":
            return list(shipped_rubric().metrics)
        return list(dict.fromkeys(document for row in self.rows.values() for document in row))

    def scores_of_cells(self, cells: Iterable[Cell]) -> list[PublishedScore]:
        """Return the scores that hold these cells, in the table's order; a row of metrics is one score."""
        rows_of_cells = {(question, "" if self.kind == "metrics" else column) for question, column in cells}
        questions = {question for question, column in rows_of_cells if column == _MEAN}
        return [
            score
            for question, row in self.rows.items()
            for document, score in row.items()
            if question in questions or (question, document) in rows_of_cells
        ]


@dataclass(frozen=True)
class PresumedCopy:
    """A part of a table that equals one of another table, and is taken for its copy.

    `part` says in words what is equal, `why` which of the two is taken for the copy and for which reason. `sure` is
    false where nothing shows it, and the choice is only a rule. The cells of both are in the same order.
    """

    copy: PublishedTable
    original: PublishedTable
    cells: list[Cell]
    original_cells: list[Cell]
    part: str
    why: str
    sure: bool

    @property
    def copied_cells_and_dependent_means(self) -> set[Cell]:
        """The cells of the copy and the means that include them; for copied means, all cells behind them."""
        table_cells = {
            (q, column)
            for q, column_name in self.cells
            if column_name == _MEAN
            for column in self.copy.document_or_metric_columns
        }
        return {*self.cells, *table_cells, *((question, _MEAN) for question, _ in self.cells)}


Tables = dict[tuple[TableKind, "StudyExperiment"], PublishedTable]
"""The tables of one system."""


def implied_m_all(metric_means: PublishedScore) -> float:
    """Compute M_all of five averaged metrics: it is linear in them, so that it is the mean of M_all."""
    overall: float = shipped_rubric().m_all(
        {metric: metric_means[metric] or 0.0 for metric in shipped_rubric().metrics}
    )
    return overall


def same_experiment_table_of_other_kind(tables: Tables, table: PublishedTable) -> PublishedTable | None:
    """Return the table of the other kind about the same experiment."""
    return tables.get(("metrics" if table.kind == "m_all" else "m_all", table.experiment))


def has_mean_in_both_kinds(tables: Tables, table: PublishedTable, question: str) -> bool:
    """Tell whether this table and its counterpart both have the question's mean over all documents."""
    other_table = same_experiment_table_of_other_kind(tables, table)
    return (
        other_table is not None
        and (question, _MEAN) in table.values_and_means_by_cell
        and (question, _MEAN) in other_table.values_and_means_by_cell
    )


def two_means_if_they_differ(tables: Tables, table: PublishedTable, question: str) -> tuple[float, float] | None:
    """Return the mean M_all of the question in this table and in its counterpart, where they differ; else None."""
    other_table = same_experiment_table_of_other_kind(tables, table)
    if other_table is None or not has_mean_in_both_kinds(tables, table, question):
        return None
    means = table.values_and_means_by_cell[question, _MEAN], other_table.values_and_means_by_cell[question, _MEAN]
    return means if abs(means[0] - means[1]) > M_ALL_ROUNDING else None


def find_table_copies(tables: Tables) -> list[PresumedCopy]:
    """Find the copies among the tables of one system.

    Of two equal parts the copy is the one the other kind of table of its experiment contradicts on more questions,
    or else confirms on fewer; a table that is itself equal to another one has no say, unless nothing else has. Where
    that shows nothing, the more complete table is taken for the original, and of two that are as complete the one whose
    experiment the study has first (quality, robustness, recall, summary).
    """
    copies: list[PresumedCopy] = []
    lost: set[tuple[PublishedTable, Cell]] = set()
    for level in (_pair_whole_tables, _pair_means, _pair_columns, _pair_rows):
        pairs = combinations_with_replacement(tables.values(), 2)
        equal = [
            pair
            for table, other_table in pairs
            for pair in _find_nearly_equal_uncopied_parts(level(table, other_table), table, other_table, lost)
        ]
        suspects = {(source, q) for pair in equal for source in (pair.table, pair.other_table) for q in pair.questions}
        for ignored in (suspects, set[tuple[PublishedTable, str]](), None):
            for pair in equal:
                if lost.isdisjoint(pair.cells_of_both_tables):
                    lost_questions = {(source, question) for source, (question, _) in lost}
                    copy = (
                        _choose_less_complete_or_later_copy(pair)
                        if ignored is None
                        else _choose_copy_by_votes(tables, ignored | lost_questions, pair)
                    )
                    if copy:
                        copies.append(copy)
                        lost.update((copy.copy, cell) for cell in copy.copied_cells_and_dependent_means)
    return copies


@dataclass(frozen=True)
class _EqualParts:
    """Two parts of tables that hold the same, or nearly so; `telling` is how many telling cells are equal."""

    table: PublishedTable
    other_table: PublishedTable
    cells: list[Cell]
    other_cells: list[Cell]
    part: str
    telling: int

    @property
    def questions(self) -> list[str]:
        return list(dict.fromkeys(question for question, _ in self.cells))

    @property
    def cells_of_both_tables(self) -> Iterator[tuple[PublishedTable, Cell]]:
        """The cells of both tables."""
        yield from ((self.table, cell) for cell in self.cells)
        yield from ((self.other_table, cell) for cell in self.other_cells)

    def make_presumed_copy(self, *, first_is_copy: bool, why: str, sure: bool) -> PresumedCopy:
        """Make the finding that one of them is the copy: the first, or the other."""
        if first_is_copy:
            return PresumedCopy(self.table, self.other_table, self.cells, self.other_cells, self.part, why, sure)
        return PresumedCopy(self.other_table, self.table, self.other_cells, self.cells, self.part, why, sure)


_Part = tuple[str, list[Cell], list[Cell]]
"""Words for the part, and its cells in both tables."""


def _common_question_groups(table: PublishedTable, other_table: PublishedTable) -> Iterator[tuple[str, list[str]]]:
    """Yield all questions, FAQs' and users' that both tables have."""
    common = [question for question in table.rows if question in other_table.rows]
    yield "scores", common
    yield "FAQ scores", [question for question in common if faq_or_user_origin(question) == "faq"]
    yield "scores of users' questions", [question for question in common if faq_or_user_origin(question) == "user"]


def _pair_whole_tables(table: PublishedTable, other_table: PublishedTable) -> Iterator[_Part]:
    """Yield whole tables of one kind in two experiments, and their two halves."""
    if table.kind == other_table.kind and table is not other_table:
        columns = [name for name in table.document_or_metric_columns if name in other_table.document_or_metric_columns]
        for words, questions in _common_question_groups(table, other_table):
            cells = list(product(questions, columns))
            yield words, cells, cells


def _pair_means(table: PublishedTable, other_table: PublishedTable) -> Iterator[_Part]:
    """Yield the means in tables of two kinds and two experiments."""
    if table.kind != other_table.kind and table.experiment != other_table.experiment:
        for words, questions in _common_question_groups(table, other_table):
            cells = [(question, _MEAN) for question in questions]
            yield f"means of the {words}", cells, cells


def _pair_columns(table: PublishedTable, other_table: PublishedTable) -> Iterator[_Part]:
    """Yield each column of one table and each of the other; of metrics the same one, for two metrics may well agree."""
    if table.kind != other_table.kind:
        return
    pairs = (
        combinations(table.document_or_metric_columns, 2)
        if table is other_table
        else product(table.document_or_metric_columns, other_table.document_or_metric_columns)
    )
    for column, other_column in pairs:
        if table.kind == "m_all" or column == other_column:
            name = column if column == other_column else f"{column} and {other_column}"
            for words, questions in _common_question_groups(table, other_table):
                yield f"{words} about {name}", [(q, column) for q in questions], [(q, other_column) for q in questions]


def _pair_rows(table: PublishedTable, other_table: PublishedTable) -> Iterator[_Part]:
    """Yield the row of each question in two tables of the same kind."""
    if table.kind != other_table.kind or table is other_table:
        return
    columns = [name for name in table.document_or_metric_columns if name in other_table.document_or_metric_columns]
    for question in table.rows:
        if question in other_table.rows:
            cells = [(question, column) for column in columns]
            yield f"scores of {question}", cells, cells


def _find_nearly_equal_uncopied_parts(
    parts: Iterable[_Part],
    table: PublishedTable,
    other_table: PublishedTable,
    copied_cells: set[tuple[PublishedTable, Cell]],
) -> Iterator[_EqualParts]:
    """Find the equal parts among these, without what is known to be a copy and what is within a larger one."""
    covered: set[tuple[Cell, Cell]] = set()
    for words, cells, other_cells in parts:
        pairs = [
            (cell, another)
            for cell, another in zip(cells, other_cells, strict=True)
            if cell in table.values_and_means_by_cell and another in other_table.values_and_means_by_cell
        ]
        if covered.issuperset(pairs) or any(
            (table, c) in copied_cells or (other_table, d) in copied_cells for c, d in pairs
        ):
            continue
        equal_telling, telling = _count_equal_and_all_informative_pairs(table, other_table, pairs)
        if equal_telling < _SHARE * telling or equal_telling < (_ENOUGH if telling >= _ENOUGH else max(_FEW, telling)):
            continue
        # A copied half is not to take the other one with it.
        halves = ([pair for pair in pairs if faq_or_user_origin(pair[0][0]) == origin] for origin in ("faq", "user"))
        if any(
            equal_telling < _HALF * telling
            for equal_telling, telling in (
                _count_equal_and_all_informative_pairs(table, other_table, half, 0) for half in halves
            )
        ):
            continue
        covered.update(pairs)
        tolerance, _ = _comparison_tolerance_and_digits(table, other_table, pairs)
        equal = sum(
            abs(table.values_and_means_by_cell[c] - other_table.values_and_means_by_cell[d]) <= tolerance
            for c, d in pairs
        )
        part = f"All {len(pairs)} {words}" if equal == len(pairs) else f"{equal} of the {len(pairs)} {words}"
        yield _EqualParts(table, other_table, [c for c, _ in pairs], [d for _, d in pairs], part, equal_telling)


def _count_equal_and_all_informative_pairs(
    table: PublishedTable,
    other_table: PublishedTable,
    pairs: list[tuple[Cell, Cell]],
    min_distinct_values: int = _VALUES,
) -> tuple[int, int]:
    """Count the telling cells that are equal, and all of them; equal ones with too few values count as none."""
    tolerance, digits = _comparison_tolerance_and_digits(table, other_table, pairs)
    ends = shipped_rubric().values if tolerance == ROUNDING else M_ALL_RANGE
    values = [
        (table.values_and_means_by_cell[cell], other_table.values_and_means_by_cell[another]) for cell, another in pairs
    ]
    frequent = [value for value, times in Counter(first for first, _ in values).items() if times > len(values) / 2]
    common_values = [min(ends), max(ends), *frequent]
    telling = [
        (first, second)
        for first, second in values
        if not any(max(abs(first - value), abs(second - value)) <= tolerance for value in common_values)
    ]
    equal_values = [first for first, second in telling if abs(first - second) <= tolerance]
    return (
        len(equal_values) if len({round(value, digits) for value in equal_values}) >= min_distinct_values else 0
    ), len(telling)


def _comparison_tolerance_and_digits(
    table: PublishedTable, other_table: PublishedTable, pairs: list[tuple[Cell, Cell]]
) -> tuple[float, int]:
    """Return by how much two accounts of such a cell may differ, and the digits of its values."""
    metrics = table.kind == other_table.kind == "metrics" and all(column for (_, column), _ in pairs)
    return (ROUNDING, 2) if metrics else (M_ALL_ROUNDING, 1)


def _choose_copy_by_votes(
    tables: Tables, ignored_votes: set[tuple[PublishedTable, str]], pair: _EqualParts
) -> PresumedCopy | None:
    """Choose the part that its counterpart contradicts more, or else confirms less; None if neither differs."""
    votes, reasons = [], []
    for source in (pair.table, pair.other_table):
        voter = same_experiment_table_of_other_kind(tables, source)
        voting = [
            q for q in pair.questions if has_mean_in_both_kinds(tables, source, q) and (voter, q) not in ignored_votes
        ]
        against = sum(two_means_if_they_differ(tables, source, question) is not None for question in voting)
        votes.append((against, against - len(voting)))
        number = f"{against} of {len(voting)} questions"
        reasons.append(f"{voter} contradicts {{}} on {number}" if voting else "no mean can be compared with {}")
    if votes[0] == votes[1] or (pair.telling < _ENOUGH and votes[0][0] == votes[1][0]):
        return None
    first = votes[0] > votes[1]
    copy_reason, original_reason = reasons if first else reasons[::-1]
    return pair.make_presumed_copy(
        first_is_copy=first, why=f"{copy_reason.format('this one')}, {original_reason.format('the other')}", sure=True
    )


def _choose_less_complete_or_later_copy(pair: _EqualParts) -> PresumedCopy | None:
    """Choose the less complete table as the copy, then the one of the later experiment, then the later column."""
    if pair.telling < _ENOUGH:
        return None
    sizes = (len(pair.table.values_and_means_by_cell), len(pair.other_table.values_and_means_by_cell))
    order = tuple(STUDY_EXPERIMENTS.index(source.experiment) for source in (pair.table, pair.other_table))
    first = sizes[0] < sizes[1] if sizes[0] != sizes[1] else order[0] > order[1]
    reason = "less complete table" if sizes[0] != sizes[1] else "later one"
    return pair.make_presumed_copy(
        first_is_copy=first, why=f"nothing shows which one is the copy, so by rule it is the {reason}", sure=False
    )
