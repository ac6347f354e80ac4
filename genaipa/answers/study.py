"""A study: the answers of some runs, what is known of them, and their scores; read once, changed never."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genaipa.answers.fact import (
    StudyInputs,
    answer_facts,
    check_and_return_fact_row,
    describe_fact_failure_or_raise,
    fact_columns,
    list_fact_columns,
    score_facts,
    study_facts,
)
from genaipa.answers.frames import build_score_table
from genaipa.answers.tidy import (
    add_missing_fact_columns,
    column_types_and_meanings,
    convert_to_category,
    has_any_value,
    keep_first_row_per_planned_answer,
    list_metrics,
    plain_texts,
)
from genaipa.files.html import format_one_line_repr
from genaipa.policies.document import Document
from genaipa.policies.statistics import measure_text
from genaipa.scoring.current import effective_scores_and_adjudications, independent_human_scores
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.waves import Waves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.answers.fact import Place, Row
    from genaipa.policies.statistics import TextStatistics
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.selection import DocumentGrouping, SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace


class AskedQuestions(NamedTuple):
    """The questions that were asked: `texts` (id → text, with its placeholder) in the order of their sets.

    `categories` (id → name) are in that order, too. `reworded` are the ids under which runs asked different words.
    `worded` has the text by translation (empty for an original) and id; `translations` are the sets that are some.
    """

    texts: Mapping[str, str] = {}
    categories: Mapping[str, str] = {}
    reworded: frozenset[str] = frozenset()
    worded: Mapping[tuple[str, str], str] = {}
    translations: Mapping[str, QuestionSet] = {}


class AnnotatedAnswers(NamedTuple):
    """The annotated `answers` to the questions, by run, document and question.

    `corrections` are the document and question of those with a known correction; `corrected` says whether these are
    applied.
    """

    answers: Mapping[Place, AnnotatedAnswer] = {}
    corrections: frozenset[tuple[str, str]] = frozenset()
    corrected: bool = False


class AnswerEventLog(NamedTuple):
    """What happened at the desk to the answers, in order: `every` event, and those `counted`.

    Events of an analyst in `left_out` (name → reason) don't count. `head` is the last digest of the whole log, by
    which `genaipa scores verify --head` knows it again.
    """

    counted: Sequence[Event] = ()
    every: Sequence[Event] = ()
    head: str = ""
    left_out: Mapping[str, str] = {}


@dataclass(frozen=True, repr=False)
class Study:
    """Answers with what is known of them, and the narrow table that joins them with their scores.

    `answers` has a row for each answer, failure, and question that was planned and not asked, with the facts of which
    anything is known. `table` has the columns that averages need, for each answer and score, and published scores
    beneath (`genaipa.scoring.columns`). `documents` are what the runs asked about, by name; of one whose text is
    withheld, its statistics. `groups` are the documents' groups that are looked at apart, `problems` sentences on
    unreadable files. Without a `workspace` no answer can be read again.
    """

    answers: pd.DataFrame
    table: pd.DataFrame
    sources: Sequence[SelectedRun] = ()
    rubric: Rubric = field(default_factory=shipped_rubric)
    documents: Mapping[str, Document | TextStatistics] = field(default_factory=dict)
    questions: AskedQuestions = field(default_factory=AskedQuestions)
    annotated: AnnotatedAnswers = field(default_factory=AnnotatedAnswers)
    log: AnswerEventLog = field(default_factory=AnswerEventLog)
    waves: Waves = field(default_factory=Waves)
    """The random parts of their answers that people were asked to score, as far as people finished them."""
    problems: Sequence[str] = ()
    lost: Sequence[str] = ()
    """Sentences on slices that are lost, or foreign: without them nothing may pass as the whole study."""
    groups: DocumentGrouping | None = None
    workspace: Workspace | None = None

    @cached_property
    def document_statistics(self) -> dict[str, TextStatistics]:
        """The statistics of the documents, by name."""
        return {
            name: measure_text(document.text, document.about.language) if isinstance(document, Document) else document
            for name, document in self.documents.items()
        }

    @cached_property
    def document_languages(self) -> dict[str, str]:
        """The language of each document, as its metadata state it, else as it is recognised; by name."""
        stated = {name: facts.language for source in self.sources for name, facts in source.manifest.documents.items()}
        return {name: stated.get(name) or document.language for name, document in self.documents.items()}

    @property
    def _study_inputs(self) -> StudyInputs:
        return StudyInputs(self.sources, self.annotated.answers, self.waves)

    @cached_property
    def independent_scores(self) -> list[Event]:
        """The scores of people who had not seen how others scored the answer."""
        return independent_human_scores(self.log.counted)

    @cached_property
    def _distinct_answers(self) -> pd.DataFrame:
        once = keep_first_row_per_planned_answer(self.table)
        answers = self.answers.take(once["row"].to_numpy())
        return answers.assign(counted=once["counted"].to_numpy(), left_out=once["left_out"].to_numpy())

    def rows_once_per_answer(self, *fact_names: str) -> pd.DataFrame:
        """Return each answer once, however many scores it has, with what is known of it.

        `counted` says whether any of its scores counts, `left_out` whether it is excluded. The columns of these
        `fact_names` are there also where nothing is known.
        """
        return add_missing_fact_columns(self._distinct_answers, fact_names)

    def has_any_value_of_each_fact(self, *fact_names: str) -> bool:
        """Tell whether something is known of each of these facts, of any answer or score."""
        columns = [list_fact_columns(name) for name in fact_names]
        return all(has_any_value(self.answers, names) or has_any_value(self.table, names) for names in columns)

    @plain_texts
    def make_tidy_table(self) -> pd.DataFrame:
        """Return the table with all facts about its answers, also those of which nothing is known."""
        every = add_missing_fact_columns(
            self.answers, [*(fact.name for fact in answer_facts()), *(fact.name for fact in study_facts())]
        )
        rows = self.table["row"].to_numpy()
        frame = self.table.copy(deep=False)
        for name in every.columns.difference(self.table.columns, sort=False):
            # Published scores have no facts.
            frame[name] = every[name].array.take(rows, allow_fill=True)
            if isinstance(frame[name].dtype, pd.CategoricalDtype):
                frame[name] = convert_to_category(_prepend_empty_category_if_any_missing(frame[name]), ())
        complete_frame = add_missing_fact_columns(frame, [fact.name for fact in score_facts()])
        return complete_frame[list(column_types_and_meanings(list_metrics(self.table)))]

    def collect_rows_by_fact_and_answer_key(self, run_name: str) -> dict[str, dict[str, Row]]:
        """Return the known values of a run's answers: fact → key of an answer → column → value."""
        rows = self.answers[self.answers["run"] == run_name]
        values_by_fact: dict[str, dict[str, Row]] = {}
        for fact in answer_facts():
            names = [name for name in fact.columns if name in rows]
            values = rows[names].astype(object).to_dict("records") if names else ()
            values_by_fact[fact.name] = {
                str(key): row
                for key, value in zip(rows["key"], values, strict=bool(names))
                if (
                    row := {
                        str(name): cell_value
                        for name, cell_value in value.items()
                        if pd.notna(cell_value) and cell_value != ""
                    }
                )
            }
        return values_by_fact

    def replace_table_and_drop_other_answers(self, table: pd.DataFrame) -> Study:
        """Return the study with this table, some rows of its own or other values; answers without a row go."""
        rows = table["row"].to_numpy()
        used = np.unique(rows[rows >= 0])
        if len(used) == len(self.answers):
            return replace(self, table=table)
        table = table.assign(row=np.where(rows >= 0, np.searchsorted(used, rows), -1).astype("int32"))
        return replace(self, table=table, answers=self.answers.take(used).reset_index(drop=True))

    def select_rows(self, row_mask: pd.Series[bool]) -> Study:
        """Return the study of these rows of its table; the same one where that is all."""
        return self if row_mask.all() else self.replace_table_and_drop_other_answers(self.table[row_mask])

    def reorder_categories(self, column: str, categories: Sequence[str]) -> Study:
        """Return the study with the values of a column of its answers in another order."""
        if list(self.table[column].cat.categories) == list(categories):
            return self
        answers, table = (
            frame.assign(**{column: frame[column].cat.set_categories(categories)})
            for frame in (self.answers, self.table)
        )
        return replace(self, answers=answers, table=table)

    @plain_texts
    def replace_scores_from_events(self, events: Iterable[Event], *, count_excluded: bool = False) -> Study:
        """Return the study with the scores in effect after these events in place of its own: no run is read again."""
        digests = {*self.answers["answer"].cat.categories} - {""}
        answer_events = [event for event in events if event.answer in digests]
        effective, inputs = effective_scores_and_adjudications(answer_events), self._study_inputs
        finished = shrink_waves_to_finished_parts(self.waves, self.answers, effective)
        failures: dict[str, str] = {}
        answers = add_study_facts(self.answers, replace(inputs, waves=finished), failures, only_from_scores=True)
        published = self.table[self.table["unit"] == "table"]
        table = build_score_table(
            answers,
            published,
            read_score_columns(effective, self.rubric, inputs, answers, failures),
            self.rubric,
            flag_excluded_as_counted=count_excluded,
        )
        log = self.log._replace(counted=answer_events)
        problems = list(dict.fromkeys([*self.problems, *failures.values()]))
        return replace(self, answers=answers, table=table, log=log, waves=finished, problems=problems)

    def __repr__(self) -> str:
        return format_one_line_repr(
            "Study", "answers and scores", f"{len(self.table):,} rows of {len(self.sources):,} runs"
        )


def _prepend_empty_category_if_any_missing(column: pd.Series) -> pd.Series:
    """Return categories with an empty text before the others where a value is absent."""
    if not isinstance(column.dtype, pd.CategoricalDtype) or "" in column.cat.categories or not column.isna().any():
        return column
    return column.cat.set_categories(["", *column.cat.categories])


def shrink_waves_to_finished_parts(waves: Waves, answers: pd.DataFrame, effective_events: Iterable[Event]) -> Waves:
    """Return the waves as far as people finished them."""
    if not waves:
        return waves
    scored = {event.answer for event in effective_events if event.kind == "score" and event.scorer == "human"}
    return waves.fall_back_to_last_finished_sizes(set(answers["answer"].unique()), scored)


def add_study_facts(
    answers: pd.DataFrame,
    study: StudyInputs,
    failure_sentences_by_fact: dict[str, str],
    *,
    only_from_scores: bool = False,
) -> pd.DataFrame:
    """Add facts about answers among all of a study; where `only_from_scores`, those alone that follow from scores.

    A package's that fails is left out, with a sentence in `failure_sentences_by_fact`.
    """
    columns = fact_columns()
    for fact in study_facts():
        if only_from_scores and not fact.reads_scores:
            continue
        try:
            values = fact.compute_answer_columns(study, answers)
            if values is None:
                continue
            answers = answers.assign(
                **{
                    name: convert_to_category(pd.Series(value, answers.index, dtype=object), ())
                    if columns[name].kind == "category"
                    else pd.Series(value, answers.index, dtype="float64")
                    for name, value in values.items()
                }
            )
        except Exception as error:  # noqa: BLE001 - a package's
            failure_sentences_by_fact[fact.name] = describe_fact_failure_or_raise(fact, error)
    return answers


def read_score_columns(
    events: Sequence[Event],
    rubric: Rubric,
    study: StudyInputs,
    answers: pd.DataFrame,
    failure_sentences_by_fact: dict[str, str],
) -> dict[str, Any]:
    """Return the columns of the scores that these events give, with what facts about scores read in them.

    A package's fact that fails is left out, with a sentence in `failure_sentences_by_fact`.
    """
    metrics = list(rubric.metrics)
    # A few hundred different values at most: looked up once, then only pointed to.
    distinct_values = {id(event.values): event.values for event in events if event.values is not None}
    row_by_id = {number: row for row, number in enumerate(distinct_values)}
    table = np.array([[values[metric] for metric in metrics] for values in distinct_values.values()]).reshape(
        -1, len(metrics)
    )
    values = table[[row_by_id[id(event.values)] for event in events]]
    columns: dict[str, Any] = {
        "answer": [event.answer for event in events],
        "analyst": [event.analyst for event in events],
        "role": [event.kind for event in events],
        "scorer": [event.scorer for event in events],
        "independent": ["yes" if event.independent else "no" for event in events],
        "desk_order": [event.order for event in events],
        "rubric": [event.rubric or shipped_rubric().digest for event in events],
        **{metric: values[:, number] for number, metric in enumerate(metrics)},
    }
    for fact in score_facts():
        try:
            read = fact.make_event_reader(study, answers)
            if read is not None:
                rows = [check_and_return_fact_row(fact, read(event)) for event in events]
                columns |= {name: [row.get(name) for row in rows] for name in fact.columns}
        except Exception as error:  # noqa: BLE001 - a package's
            failure_sentences_by_fact[fact.name] = describe_fact_failure_or_raise(fact, error)
    return columns
