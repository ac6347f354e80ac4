"""A fact about an answer beside its scores: its columns, how they are read, and which texts that takes.

A fact is a class, found by an entry point of the group `genaipa.facts`; the core's own are in `OWN`. It is read while
the answer's record is in memory, so that no report holds a million replies. Where a pack withholds a text that a fact
reads, the pack keeps the fact's row in its place (`WithheldTextFacts.facts`), and nothing is read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from genaipa.errors import DataError, GenaipaError
from genaipa.languages.catalog import ENGLISH
from genaipa.plugins import list_class_targets, make_plugins_and_problems
from genaipa.scoring.columns import CORE
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    import pandas as pd

    from genaipa.policies.document import Document
    from genaipa.policies.statistics import TextStatistics
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.runs.inputs import RunDocumentsAndQuestions
    from genaipa.runs.records import MeasuredRecordHead
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.waves import Waves

T = TypeVar("T")
OWN = {
    "annotation": "genaipa.answers.annotation:AnnotatedSilence",
    "silence": "genaipa.answers.silence:ClaimedSilence",
    "citations": "genaipa.answers.citations:ExistingCitationShare",
    "prompt-cut": "genaipa.answers.spending:PromptCut",
    "spending": "genaipa.answers.spending:Spending",
    "first-token": "genaipa.answers.spending:FirstToken",
    "thoughts": "genaipa.answers.thoughts:Thoughts",
    "exclusions": "genaipa.answers.exclusions:Exclusions",
    "wave": "genaipa.answers.wave:WaveMembership",
}
"""The core's own facts, in the order of their columns."""
Text = Literal["reply", "document", "passages", "annotation"]
"""A text that a pack may withhold."""
Row = Mapping[str, Any]
"""Column → value, of one answer; a column that is left out is unknown."""
Place = tuple[str, str, str]
"""The place of an annotated answer: run, document and question."""
UNASKED = ("failed", "missing", "")
"""The statuses of rows without a reply: of failures, of questions not asked, and of published scores."""


class Column(NamedTuple):
    """The type and meaning of a column, with its unit, and the values of a category where these are few."""

    kind: Literal["category", "float64"]
    """Both have a value for "unknown", which every column of a fact needs."""
    meaning: str
    unit: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunInputs:
    """The run whose facts are read."""

    inputs: RunDocumentsAndQuestions
    documents: Mapping[str, Document | TextStatistics] = field(default_factory=dict)
    """The documents that could be read, or the statistics that a pack kept of them."""
    repeated: Collection[str] = ()
    """The systems that were asked the same on several days."""
    withheld: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)
    """Fact → key of an answer → the row that a pack kept."""
    corrected: bool = False
    """Whether annotated answers are those with their corrections."""
    _shared: dict[Any, Any] = field(default_factory=dict)

    def compute_once(self, compute: Callable[[RunInputs], T]) -> T:
        """Make something of this run once, such as an index of its documents."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        result: T = self._shared[compute]
        return result

    def language_code_of_document(self, document_name: str) -> str:
        """Return the code of a document's language; English where nothing is known of its text."""
        document_facts = self.documents.get(document_name)
        return ENGLISH.code if document_facts is None else document_facts.language

    def document_or_none_if_lost(self, document_name: str) -> Document | None:
        """Return a document; None where its text is lost, which is reported elsewhere."""
        try:
            document: Document = self.inputs.document(document_name)
        except GenaipaError:
            return None
        return document


class Fact:
    """Base of facts about one answer; a subclass states `name` and `columns`, and overrides what it has."""

    name: ClassVar[str]
    columns: ClassVar[Mapping[str, Column]]
    texts: ClassVar[frozenset[Text]] = frozenset()
    """The texts that `read` and `complete` need."""
    of_failures: ClassVar[bool] = False
    """Whether failures are read as well."""

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:  # noqa: ARG002 - a fact may be about questions alone
        """Read the fact of one answer."""
        return {}

    def read_row_of_question(self, run: RunInputs, document: str, question: str) -> Row:  # noqa: ARG002 - as above
        """Read what is known of every answer to a question about a document, also where nothing was asked."""
        return {}

    def compute_across_answers(self, run: RunInputs, answers: pd.DataFrame) -> pd.DataFrame | None:  # noqa: ARG002 - as above
        """Return values for some rows of a run's answers, by their index, where a fact is about several of them.

        Of a slice, `answers` are those of its whole study, and the values those of its own rows. It is asked where
        `read_row_of_answer` knew something of any answer.
        """
        return None

    def cache_key_beside_answer_digest(self, run: RunInputs, record: MeasuredRecordHead) -> Hashable | None:  # noqa: ARG002 - as above
        """Return what the row depends on beside the answer's digest; None to read it for each answer."""
        return None

    def redact(self, row: Row) -> Row:
        """Return what a pack keeps of a row where one of `texts` is withheld."""
        return row


@dataclass(frozen=True)
class StudyInputs:
    """The study whose facts are read, apart from its answers."""

    sources: Sequence[SelectedRun]
    annotated: Mapping[Place, AnnotatedAnswer]
    waves: Waves
    """The random parts of their answers that people were asked to score, as far as people finished them."""


class StudyFact:
    """Base of facts about an answer among all answers of a study; they see the columns of those that come before."""

    name: ClassVar[str]
    columns: ClassVar[Mapping[str, Column]]
    reads_scores: ClassVar[bool] = False
    """Whether it has to be read again when scores have come in."""

    def compute_answer_columns(self, study: StudyInputs, answers: pd.DataFrame) -> Mapping[str, Any] | None:
        """Return its columns, in the order of the answers; None if nothing is known of any."""
        raise NotImplementedError


class ScoreFact:
    """Base of facts about a score beside its values, from its event."""

    name: ClassVar[str]
    columns: ClassVar[Mapping[str, Column]]

    def make_event_reader(self, study: StudyInputs, answers: pd.DataFrame) -> Callable[[Event], Row] | None:
        """Return what reads an event; None where nothing can be known, so that no event is read."""
        raise NotImplementedError


AnyFact = Fact | StudyFact | ScoreFact


class _Facts(NamedTuple):
    answers: tuple[Fact, ...]
    study: tuple[StudyFact, ...]
    scores: tuple[ScoreFact, ...]
    problems: tuple[str, ...]
    columns: dict[str, Column]


@functools.cache
def _load_usable_facts(class_targets: tuple[tuple[str, str], ...]) -> _Facts:  # noqa: ARG001 - what there was to load
    kind: Any = AnyFact
    loaded, unloaded = make_plugins_and_problems("fact", OWN, kind)
    usable: dict[str, AnyFact] = {}
    problems = [*unloaded]
    columns: dict[str, tuple[str, Column]] = {}
    for name, fact in loaded.items():
        if (called := getattr(fact, "name", "")) != name:
            problems.append(f"The fact {name} is left out: its class names it '{called}'.")
        elif duplicates := [column for column in fact.columns if column in columns or column in CORE]:
            whose = columns[duplicates[0]][0] if duplicates[0] in columns else "every table"
            problems.append(
                f"The fact {name} is left out: it has columns that {whose} already has: {join_some(duplicates, 3)}."
            )
        else:
            usable[name] = fact
            columns |= {column_name: (name, column) for column_name, column in fact.columns.items()}
    return _Facts(
        tuple(fact for fact in usable.values() if isinstance(fact, Fact)),
        tuple(fact for fact in usable.values() if isinstance(fact, StudyFact)),
        tuple(fact for fact in usable.values() if isinstance(fact, ScoreFact)),
        tuple(problems),
        {column_name: column for column_name, (_, column) in columns.items()},
    )


def _installed_facts() -> _Facts:
    return _load_usable_facts(list_class_targets("fact", OWN))


def answer_facts() -> tuple[Fact, ...]:
    """Return all facts about one answer, the core's own first."""
    return _installed_facts().answers


def study_facts() -> tuple[StudyFact, ...]:
    """Return all facts about an answer among all answers of a study."""
    return _installed_facts().study


def score_facts() -> tuple[ScoreFact, ...]:
    """Return all facts about one score."""
    return _installed_facts().scores


def unusable_fact_sentences() -> tuple[str, ...]:
    """Return sentences on facts of installed packages that can't be used."""
    return _installed_facts().problems


def fact_columns() -> dict[str, Column]:
    """Return the columns of all facts."""
    return _installed_facts().columns


def list_fact_columns(*fact_names: str) -> list[str]:
    """Return the columns of the facts with these names; a fact that no package brings has none."""
    every: tuple[AnyFact, ...] = (*answer_facts(), *study_facts(), *score_facts())
    return [column for fact in every if fact.name in fact_names for column in fact.columns]


def find_metrics_named_like_facts(path: Path, rubric: Rubric) -> Iterator[DataError]:
    """Yield a problem for each metric of a rubric's file that has the name of a fact's column."""
    every: tuple[AnyFact, ...] = (*answer_facts(), *study_facts(), *score_facts())
    for fact in every:
        for name in rubric.metrics.keys() & fact.columns.keys():
            entry = f"metrics.{name}"
            yield DataError(
                path,
                f"is a column of the fact {fact.name}; choose another key, and keep this one as the `name`.",
                entry,
            )


_OUTSIDE = frozenset[Text](("reply", "document", "passages"))


def list_facts_reading_no_reply_or_document() -> tuple[Fact, ...]:
    """Return the facts that need no reply, document or passage to be read."""
    return tuple(fact for fact in answer_facts() if fact.texts.isdisjoint(_OUTSIDE))


class FactReader:
    """Reads the facts of one run's answers; `cache` holds the rows of equal answers of all runs, by their digests.

    A package's fact that fails is left out from then on, and `failures` (fact → a sentence) says so.
    """

    def __init__(
        self,
        run: RunInputs,
        cache: dict[Hashable, dict[str, Row]],
        chosen: Iterable[Fact] | None = None,
        failures: dict[str, str] | None = None,
    ) -> None:
        self._run, self._cache = run, cache
        self._failures = {} if failures is None else failures
        self._set_unfailed_facts_to_read(answer_facts() if chosen is None else chosen)
        self._rows: dict[tuple[tuple[str, Any], ...], Row] = {}
        self._kept = {fact.name: run.withheld.get(fact.name, {}) for fact in self._chosen}

    def _set_unfailed_facts_to_read(self, chosen_facts: Iterable[Fact]) -> None:
        self._chosen = tuple(fact for fact in chosen_facts if fact.name not in self._failures)
        # Of a million answers, each call of a method that has nothing to say takes a tenth of a second.
        self._of_answers = tuple(
            fact for fact in self._chosen if type(fact).read_row_of_answer is not Fact.read_row_of_answer
        )
        self._of_failures = tuple(fact for fact in self._of_answers if fact.of_failures)

    def _drop_failed_fact_or_raise(self, fact: Fact, error: Exception) -> None:
        self._failures[fact.name] = describe_fact_failure_or_raise(fact, error)
        self._set_unfailed_facts_to_read(self._chosen)

    def read_question_row(self, document: str, question: str) -> dict[str, Any]:
        """Return the columns that every answer to a question about a document shares."""
        row: dict[str, Any] = {}
        for fact in self._chosen:
            try:
                row |= fact.read_row_of_question(self._run, document, question)
            except Exception as error:  # noqa: BLE001 - a package's
                self._drop_failed_fact_or_raise(fact, error)
        return row

    def read_answer_row(self, record: MeasuredRecordHead) -> dict[str, Any]:
        """Return the columns of all facts of an answer."""
        row: dict[str, Any] = {}
        for fact in self._of_answers if record.status != "failed" and record.digest else self._of_failures:
            try:
                row |= self.read_fact_row(fact, record)
            except Exception as error:  # noqa: BLE001 - a package's
                self._drop_failed_fact_or_raise(fact, error)
        return row

    def compute_across_answers_if_column_filled(
        self, filled_columns: AbstractSet[str], build_answer_frame: Callable[[], pd.DataFrame]
    ) -> Iterator[pd.DataFrame]:
        """Yield values for rows of a run's answers, by their index, of facts of which anything is known."""
        unfinished = [
            fact
            for fact in self._chosen
            if type(fact).compute_across_answers is not Fact.compute_across_answers
            and not filled_columns.isdisjoint(fact.columns)
        ]
        if not unfinished:
            return
        frame = build_answer_frame()
        for fact in unfinished:
            try:
                values = fact.compute_across_answers(self._run, frame)
            except Exception as error:  # noqa: BLE001 - a package's
                self._drop_failed_fact_or_raise(fact, error)
                continue
            if values is not None:
                yield values

    def read_fact_row(self, fact: Fact, record: MeasuredRecordHead) -> Row:
        """Return the columns of one fact: as a pack kept them, else read, once for equal answers."""
        if record.key in (withheld_rows := self._kept[fact.name]):
            return withheld_rows[record.key]
        if (
            type(fact).cache_key_beside_answer_digest is Fact.cache_key_beside_answer_digest
            or (basis := fact.cache_key_beside_answer_digest(self._run, record)) is None
        ):
            return check_and_return_fact_row(fact, fact.read_row_of_answer(self._run, record))
        rows = self._cache.setdefault((fact.name, basis), {})
        row = rows.get(record.digest)
        if row is None:
            row = check_and_return_fact_row(fact, fact.read_row_of_answer(self._run, record))
            # A million answers have few different rows.
            row = rows[record.digest] = self._rows.setdefault(tuple(row.items()), row)
        return row


def check_and_return_fact_row(fact: Fact | ScoreFact, row: Row) -> Row:
    """Return the row; a TypeError where a package's fact has other columns than it states, or values of other types."""
    if fact.name not in OWN:
        for name, value in row.items():
            if name not in fact.columns:
                raise TypeError(f"it returns a column '{name}' that it does not declare")
            kind = fact.columns[name].kind
            if value is not None and not isinstance(value, str if kind == "category" else Real):
                raise TypeError(f"a value of {name} is not a {'text' if kind == 'category' else 'number'}")
    return row


def describe_fact_failure_or_raise(fact: AnyFact, error: Exception) -> str:
    """Return a sentence on a package's fact that failed; the core's own end the report."""
    if fact.name in OWN:
        raise error
    return f"The fact {fact.name} is left out: it can't be read ({type(error).__name__}: {error})."
