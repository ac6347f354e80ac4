"""Copies among the published score tables of one system: which parts are equal, and which of two is the copy.

All tables are compared with each other: M_all by document and the averaged metrics of every experiment, and the ones
with the others by the means of their questions. They are compared whole, by the FAQ and the users' questions, by column
and by row; what was found to be a copy is not compared again.

Equal values prove little where everybody has them. A cell tells something unless both tables hold the lowest or the
highest value there is, or one that more than half of the part holds. Parts are copies if at least `_SHARE` of `_ENOUGH`
or more telling cells are equal. (In the published tables that were looked at, copies agree in every such cell, and no
other two parts of that size in half of them.) With fewer telling cells, all have to be equal, at least `_FEW` of them,
and the counterparts (see `find_copies`) have to contradict one of the two more than the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING, Literal

from genaipa.scoring.rubric import M_ALL_RANGE, shipped_rubric
from genaipa_study.layout import M_ALL_IN_TABLES, STUDY_EXPERIMENTS, origin_of

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
    def values(self) -> dict[Cell, float]:
        """Every number in it, and the mean M_all of every question that has a number in each column."""
        found: dict[Cell, float] = {}
        for question, row in self.rows.items():
            if self.kind == "metrics":
                found |= {(question, metric): row[""][metric] or 0.0 for metric in shipped_rubric().metrics}
                found[question, _MEAN] = implied_m_all(row[""])
            else:
                found |= {(question, document): score.m_all or 0.0 for document, score in row.items()}
                if len(row) == len(self.columns):
                    found[question, _MEAN] = sum(score.m_all or 0.0 for score in row.values()) / len(row)
        return found

    @cached_property
    def columns(self) -> list[str]:
        """Its documents, or the metrics."""
        if self.kind == "metrics":
            return list(shipped_rubric().metrics)
        return list(dict.fromkeys(document for row in self.rows.values() for document in row))

    def scores(self, cells: Iterable[Cell]) -> list[PublishedScore]:
        """The scores that hold these cells, in the table's order; a row of metrics is one score."""
        named = {(question, "" if self.kind == "metrics" else column) for question, column in cells}
        questions = {question for question, column in named if column == _MEAN}
        return [
            score
            for question, row in self.rows.items()
            for document, score in row.items()
            if question in questions or (question, document) in named
        ]


@dataclass(frozen=True)
class Copy:
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
    def touched(self) -> set[Cell]:
        """The cells of the copy, and the means that they are in; of means, all cells behind them."""
        behind = {(q, column) for q, one in self.cells if one == _MEAN for column in self.copy.columns}
        return {*self.cells, *behind, *((question, _MEAN) for question, _ in self.cells)}


Tables = dict[tuple[TableKind, "StudyExperiment"], PublishedTable]
"""The tables of one system."""


def implied_m_all(means: PublishedScore) -> float:
    """M_all of five averaged metrics: it is linear in them, so that it is the mean of M_all."""
    overall: float = shipped_rubric().m_all({metric: means[metric] or 0.0 for metric in shipped_rubric().metrics})
    return overall


def counterpart(tables: Tables, source: PublishedTable) -> PublishedTable | None:
    """The table of the other kind about the same experiment."""
    return tables.get(("metrics" if source.kind == "m_all" else "m_all", source.experiment))


def comparable(tables: Tables, source: PublishedTable, question: str) -> bool:
    """Whether this table and its counterpart both have the question's mean over all documents."""
    other = counterpart(tables, source)
    return other is not None and (question, _MEAN) in source.values and (question, _MEAN) in other.values


def contradicted(tables: Tables, source: PublishedTable, question: str) -> tuple[float, float] | None:
    """The mean M_all of the question in this table and in its counterpart, where they differ; None if they don't."""
    other = counterpart(tables, source)
    if other is None or not comparable(tables, source, question):
        return None
    means = source.values[question, _MEAN], other.values[question, _MEAN]
    return means if abs(means[0] - means[1]) > M_ALL_ROUNDING else None


def find_copies(tables: Tables) -> list[Copy]:
    """The copies among the tables of one system.

    Of two equal parts the copy is the one the other kind of table of its experiment contradicts on more questions,
    or else confirms on fewer; a table that is itself equal to another one has no say, unless nothing else has. Where
    that shows nothing, the more complete table is taken for the original, and of two that are as complete the one whose
    experiment the study has first (quality, robustness, recall, summary).
    """
    found: list[Copy] = []
    lost: set[tuple[PublishedTable, Cell]] = set()
    for level in (_tables, _means, _columns, _rows):
        pairs = combinations_with_replacement(tables.values(), 2)
        equal = [pair for one, other in pairs for pair in _equal_parts(level(one, other), one, other, lost)]
        suspects = {(source, q) for pair in equal for source in (pair.one, pair.other) for q in pair.questions}
        for ignored in (suspects, set[tuple[PublishedTable, str]](), None):
            for pair in equal:
                if lost.isdisjoint(pair.parts):
                    gone = {(source, question) for source, (question, _) in lost}
                    copy = _by_rule(pair) if ignored is None else _by_votes(tables, ignored | gone, pair)
                    if copy:
                        found.append(copy)
                        lost.update((copy.copy, cell) for cell in copy.touched)
    return found


@dataclass(frozen=True)
class _Equal:
    """Two parts of tables that hold the same, or nearly so; `telling` is how many telling cells are equal."""

    one: PublishedTable
    other: PublishedTable
    cells: list[Cell]
    other_cells: list[Cell]
    part: str
    telling: int

    @property
    def questions(self) -> list[str]:
        return list(dict.fromkeys(question for question, _ in self.cells))

    @property
    def parts(self) -> Iterator[tuple[PublishedTable, Cell]]:
        """The cells of both."""
        yield from ((self.one, cell) for cell in self.cells)
        yield from ((self.other, cell) for cell in self.other_cells)

    def copy(self, *, first: bool, why: str, sure: bool) -> Copy:
        """The finding that one of them is the copy: the first, or the other."""
        if first:
            return Copy(self.one, self.other, self.cells, self.other_cells, self.part, why, sure)
        return Copy(self.other, self.one, self.other_cells, self.cells, self.part, why, sure)


_Part = tuple[str, list[Cell], list[Cell]]
"""Words for the part, and its cells in both tables."""


def _blocks(one: PublishedTable, other: PublishedTable) -> Iterator[tuple[str, list[str]]]:
    """All questions, FAQs' and users' that both tables have."""
    both = [question for question in one.rows if question in other.rows]
    yield "scores", both
    yield "FAQ scores", [question for question in both if origin_of(question) == "faq"]
    yield "scores of users' questions", [question for question in both if origin_of(question) == "user"]


def _tables(one: PublishedTable, other: PublishedTable) -> Iterator[_Part]:
    """Whole tables of one kind in two experiments, and their two halves."""
    if one.kind == other.kind and one is not other:
        columns = [name for name in one.columns if name in other.columns]
        for what, questions in _blocks(one, other):
            cells = list(product(questions, columns))
            yield what, cells, cells


def _means(one: PublishedTable, other: PublishedTable) -> Iterator[_Part]:
    """The means in tables of two kinds and two experiments."""
    if one.kind != other.kind and one.experiment != other.experiment:
        for what, questions in _blocks(one, other):
            cells = [(question, _MEAN) for question in questions]
            yield f"means of the {what}", cells, cells


def _columns(one: PublishedTable, other: PublishedTable) -> Iterator[_Part]:
    """Each column of one table and each of the other; of metrics the same one, for two metrics may well agree."""
    if one.kind != other.kind:
        return
    pairs = combinations(one.columns, 2) if one is other else product(one.columns, other.columns)
    for column, further in pairs:
        if one.kind == "m_all" or column == further:
            name = column if column == further else f"{column} and {further}"
            for what, questions in _blocks(one, other):
                yield f"{what} about {name}", [(q, column) for q in questions], [(q, further) for q in questions]


def _rows(one: PublishedTable, other: PublishedTable) -> Iterator[_Part]:
    """The row of each question in two tables of the same kind."""
    if one.kind != other.kind or one is other:
        return
    columns = [name for name in one.columns if name in other.columns]
    for question in one.rows:
        if question in other.rows:
            cells = [(question, column) for column in columns]
            yield f"scores of {question}", cells, cells


def _equal_parts(
    parts: Iterable[_Part], one: PublishedTable, other: PublishedTable, lost: set[tuple[PublishedTable, Cell]]
) -> Iterator[_Equal]:
    """The equal parts among these, without what is known to be a copy and what is within a larger one."""
    covered: set[tuple[Cell, Cell]] = set()
    for what, cells, others in parts:
        pairs = [
            (cell, another)
            for cell, another in zip(cells, others, strict=True)
            if cell in one.values and another in other.values
        ]
        if covered.issuperset(pairs) or any((one, c) in lost or (other, d) in lost for c, d in pairs):
            continue
        same, telling = _telling(one, other, pairs)
        if same < _SHARE * telling or same < (_ENOUGH if telling >= _ENOUGH else max(_FEW, telling)):
            continue
        # A copied half is not to take the other one with it.
        halves = ([pair for pair in pairs if origin_of(pair[0][0]) == origin] for origin in ("faq", "user"))
        if any(same < _HALF * telling for same, telling in (_telling(one, other, half, 0) for half in halves)):
            continue
        covered.update(pairs)
        near, _ = _precision(one, other, pairs)
        equal = sum(abs(one.values[c] - other.values[d]) <= near for c, d in pairs)
        part = f"All {len(pairs)} {what}" if equal == len(pairs) else f"{equal} of the {len(pairs)} {what}"
        yield _Equal(one, other, [c for c, _ in pairs], [d for _, d in pairs], part, same)


def _telling(
    one: PublishedTable, other: PublishedTable, pairs: list[tuple[Cell, Cell]], least: int = _VALUES
) -> tuple[int, int]:
    """Number of telling cells that are equal, and of all; equal ones with too few values count as none."""
    near, digits = _precision(one, other, pairs)
    ends = shipped_rubric().values if near == ROUNDING else M_ALL_RANGE
    values = [(one.values[cell], other.values[another]) for cell, another in pairs]
    usual = [value for value, times in Counter(first for first, _ in values).items() if times > len(values) / 2]
    dull = [min(ends), max(ends), *usual]
    telling = [
        (first, second)
        for first, second in values
        if not any(max(abs(first - value), abs(second - value)) <= near for value in dull)
    ]
    same = [first for first, second in telling if abs(first - second) <= near]
    return (len(same) if len({round(value, digits) for value in same}) >= least else 0), len(telling)


def _precision(one: PublishedTable, other: PublishedTable, pairs: list[tuple[Cell, Cell]]) -> tuple[float, int]:
    """Return by how much two accounts of such a cell may differ, and the digits of its values."""
    metrics = one.kind == other.kind == "metrics" and all(column for (_, column), _ in pairs)
    return (ROUNDING, 2) if metrics else (M_ALL_ROUNDING, 1)


def _by_votes(tables: Tables, ignored: set[tuple[PublishedTable, str]], pair: _Equal) -> Copy | None:
    """The copy is the part that its counterpart contradicts more, or else confirms less; None if neither differs."""
    votes, said = [], []
    for source in (pair.one, pair.other):
        voter = counterpart(tables, source)
        voting = [q for q in pair.questions if comparable(tables, source, q) and (voter, q) not in ignored]
        against = sum(contradicted(tables, source, question) is not None for question in voting)
        votes.append((against, against - len(voting)))
        number = f"{against} of {len(voting)} questions"
        said.append(f"{voter} contradicts {{}} on {number}" if voting else "nothing can be held against {}")
    if votes[0] == votes[1] or (pair.telling < _ENOUGH and votes[0][0] == votes[1][0]):
        return None
    first = votes[0] > votes[1]
    one, other = said if first else said[::-1]
    return pair.copy(first=first, why=f"{one.format('this one')}, {other.format('the other')}", sure=True)


def _by_rule(pair: _Equal) -> Copy | None:
    """The less complete table is the copy, then the one of the later experiment, then the later column."""
    if pair.telling < _ENOUGH:
        return None
    sizes = (len(pair.one.values), len(pair.other.values))
    order = tuple(STUDY_EXPERIMENTS.index(source.experiment) for source in (pair.one, pair.other))
    first = sizes[0] < sizes[1] if sizes[0] != sizes[1] else order[0] > order[1]
    reason = "less complete table" if sizes[0] != sizes[1] else "later one"
    return pair.copy(first=first, why=f"nothing shows which is the copy, and by rule the {reason} is", sure=False)
