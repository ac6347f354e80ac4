"""Gather a study: runs and published scores, and the scores of the store."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

from msgspec.structs import force_setattr

from genaipa.answers.fact import (
    FactReader,
    RunInputs,
    StudyInputs,
    answer_facts,
    find_metrics_named_like_facts,
    list_fact_columns,
    list_facts_reading_no_reply_or_document,
    unusable_fact_sentences,
)
from genaipa.answers.frames import StudyFrameBuilder, build_score_table
from genaipa.answers.study import (
    AnnotatedAnswers,
    AnswerEventLog,
    AskedQuestions,
    Study,
    add_study_facts,
    read_score_columns,
    shrink_waves_to_finished_parts,
)
from genaipa.answers.tidy import plain_texts
from genaipa.errors import GenaipaError, UsageError
from genaipa.kinds import find_kind_or_placeholder
from genaipa.runs.authors import AnswerAuthors
from genaipa.runs.exclusions import EXCLUSIONS, read_exclusions
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.imported import load_all_published_scores
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.manifest import read_withheld_text_facts
from genaipa.runs.procedure import (
    RecordCoordinates,
    assert_procedure_run_and_get_plan,
    conversation_id,
    get_plan_if_procedure_run,
    read_coordinates,
)
from genaipa.runs.records import MeasuredRecordHead
from genaipa.runs.selection import (
    describe_study_problems,
    group_documents_by_column,
    list_run_folders_oldest_first,
    most_repeated_plan_occasions_by_system,
)
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.people import load_desk_people_and_plan
from genaipa.scoring.rubric import find_rubric_path, load_rubric, shipped_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.scoring.waves import Waves, load_waves
from genaipa.tasks.prompts import PUBLISHED, find_prompt_set_label, map_prompt_sets_to_labels
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

    import pandas as pd

    from genaipa.answers.fact import Place, Row
    from genaipa.policies.document import Document
    from genaipa.policies.statistics import TextStatistics
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.inputs import Shared
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import ScoreStore
    from genaipa.workspace import Workspace


@plain_texts
def gather_study(
    workspace: Workspace,
    sources: Sequence[SelectedRun],
    store: ScoreStore | None,
    *,
    count_excluded: bool = False,
    apply_corrections: bool = False,
    without_reading_texts: bool = False,
    document_group_column: str = "",
) -> Study:
    """Gather everything that a report about these runs needs.

    `count_excluded` counts excluded answers as well; `apply_corrections` applies the corrections of annotated answers.
    `without_reading_texts` reads no reply, document or passage: the facts that need one are left out.
    `document_group_column` is a column of the documents' groups that are looked at apart.
    """
    if not sources:
        raise UsageError(
            "there is no run to report on; make one with: genaipa run --system extractive --policy brindlecart"
        )
    rubric = load_rubric(workspace)
    for problem in find_metrics_named_like_facts(find_rubric_path(workspace), rubric):
        raise problem
    reading = _StudyReading(workspace, rubric, corrected=apply_corrections, scores_alone=without_reading_texts)
    again = {} if without_reading_texts else most_repeated_plan_occasions_by_system(sources)
    for group in _group_slices_by_study(
        source for source in sources if find_kind_or_placeholder(source.manifest.spec.kind).people
    ):
        runs, start = [], reading.gathering.answer_count
        for source in group:
            name = source.folder.name
            repeated = {system for system, days in again.items() if any(name in day.runs for day in days)}
            runs.append(_RunReading(reading, source, repeated))
            runs[-1].add_run_to_frames()
        answers_of_group = cache(partial(reading.gathering.build_answer_frame_from_row, start))
        for run in runs:
            run.add_facts_of_several_answers(answers_of_group)
    questions = reading.collect_questions()
    orders = {"question": list(questions.texts), "category": list(questions.categories)}
    answers, published = reading.gathering.build_answer_and_published_score_frames(rubric, orders)
    # What a million answers were made of would take as much memory as their scores.
    reading.gathering, reading.cache = StudyFrameBuilder(), {}
    answers = answers.drop(columns=list_fact_columns(*reading.failures), errors="ignore")
    people, log = (
        load_desk_people_and_plan(workspace),
        _read_events_about_answers(store, answers["answer"].cat.categories) if store is not None else [],
    )
    authors = AnswerAuthors([*list_run_folders_oldest_first(workspace), *(source.folder for source in sources)])
    counted = list(people.drop_scores_of_excluded_and_authors(log, authors))
    effective = effective_scores_and_adjudications(counted)
    try:
        waves = shrink_waves_to_finished_parts(load_waves(workspace), answers, effective)
    except GenaipaError as error:
        reading.problems.append(str(error))
        waves = Waves()
    inputs = StudyInputs(sources, reading.annotated, waves)
    answers = add_study_facts(answers, inputs, reading.failures)
    scores = read_score_columns(effective, rubric, inputs, answers, reading.failures)
    study = Study(
        answers,
        build_score_table(
            answers, published, scores, rubric, flag_excluded_as_counted=count_excluded, value_orders=orders
        ),
        list(sources),
        rubric,
        reading.documents,
        questions,
        AnnotatedAnswers(reading.annotated, frozenset(reading.corrections), apply_corrections),
        AnswerEventLog(counted, log, left_out=people.left_out),
        waves,
        [*unusable_fact_sentences(), *reading.failures.values(), *reading.problems],
        lost=describe_study_problems(workspace, (source.manifest.slice for source in sources)),
        workspace=workspace,
    )
    return (
        replace(study, groups=group_documents_by_column(sources, document_group_column, study.document_languages))
        if document_group_column
        else study
    )


def _group_slices_by_study(sources: Iterable[SelectedRun]) -> list[list[SelectedRun]]:
    """Return each run by itself, but all slices of a study together."""
    groups: dict[tuple[str, str], list[SelectedRun]] = {}
    for source in sources:
        part = source.manifest.slice
        groups.setdefault((part.study, part.plan) if part else ("", source.folder.name), []).append(source)
    return list(groups.values())


def gather_study_with_stored_scores(
    workspace: Workspace,
    sources: Sequence[SelectedRun],
    *,
    count_excluded: bool = False,
    apply_corrections: bool = False,
    without_reading_texts: bool = False,
    document_group_column: str = "",
) -> Study:
    """Gather, as `gather_study`, with the scores of the workspace's own store, where there is one."""
    with open_existing_store(workspace) as store:
        study = gather_study(
            workspace,
            sources,
            store,
            count_excluded=count_excluded,
            apply_corrections=apply_corrections,
            without_reading_texts=without_reading_texts,
            document_group_column=document_group_column,
        )
        return replace(study, log=study.log._replace(head=store.log_state().head)) if store else study


def _read_events_about_answers(store: ScoreStore, answer_digests: Iterable[str]) -> list[Event]:
    """Return every event about the answers with these digests, in order."""
    events = []
    answers = {digest: digest for digest in answer_digests if digest}
    texts: dict[str, str] = {}
    nothing: dict[str, float] = {}
    for _, event in store.read_numbered_events() if answers else ():
        if event.answer in answers:
            # A million events would hold the same few names and values a million times.
            force_setattr(event, "answer", answers[event.answer])
            force_setattr(event, "analyst", texts.setdefault(event.analyst, event.analyst))
            force_setattr(event, "rubric", texts.setdefault(event.rubric, event.rubric))
            if not event.suggested:
                force_setattr(event, "suggested", nothing)
            events.append(event)
    return events


class _StudyReading:
    """What is read of all runs of a study, one after the other."""

    def __init__(self, workspace: Workspace, rubric: Rubric, *, corrected: bool, scores_alone: bool) -> None:
        self.workspace, self.rubric, self.corrected = workspace, rubric, corrected
        self.facts = list_facts_reading_no_reply_or_document() if scores_alone else answer_facts()
        self.gathering = StudyFrameBuilder()
        self.shared: Shared = {}
        self.cache: dict[Hashable, dict[str, Row]] = {}
        self.failures: dict[str, str] = {}
        self.documents: dict[str, Document | TextStatistics] = {}
        self.order: dict[str, None] = {}
        """The questions of all sets, in their order."""
        self.questions: dict[str, str] = {}
        self.categories: dict[str, str] = {}
        self.reworded: set[str] = set()
        self.worded: dict[tuple[str, str], str] = {}
        self.translations: dict[str, QuestionSet] = {}
        self.annotated: dict[Place, AnnotatedAnswer] = {}
        self.corrections: set[tuple[str, str]] = set()
        self.problems: list[str] = []

    def collect_questions(self) -> AskedQuestions:
        """Return the questions that were asked in all runs, in the order of their sets."""
        texts = {question: self.questions[question] for question in self.order if question in self.questions}
        return AskedQuestions(texts, self.categories, frozenset(self.reworded), self.worded, self.translations)

    def keep_asked_questions_of_set(
        self, question_set: QuestionSet, asked_ids_or_none_for_all: Collection[str] | None
    ) -> None:
        """Keep the questions of a set that were asked about a document, in their order.

        All where `asked_ids_or_none_for_all` is None.
        """
        if question_set.translates:
            self.translations[question_set.name] = question_set
            self.categories = question_set.categories | self.categories
        else:
            self.categories.update(question_set.categories)
        for question in question_set.questions:
            self.order.setdefault(question.id)
            if asked_ids_or_none_for_all is not None and question.id not in asked_ids_or_none_for_all:
                continue
            # A published set writes one regulation's name in place of all, which are rows of one table here.
            named = question_set.kind == "regulation"
            text = question.text.replace(question_set.placeholder, "[regulation]") if named else question.text
            wording_key = (question_set.translates and question_set.name, question.id)
            # A translation asks the same in another language: it is shown where the original was not asked.
            if wording_key not in self.worded and (not wording_key[0] or question.id not in self.questions):
                self.questions[question.id] = text
            if self.worded.setdefault(wording_key, text) != text:
                self.reworded.add(question.id)


class _RunReading:
    """One run on its way into the frames."""

    def __init__(self, reading: _StudyReading, source: SelectedRun, repeated: Collection[str]) -> None:
        self._reading, self._source = reading, source
        self._inputs = RunDocumentsAndQuestions(reading.workspace, source.folder, reading.shared)
        manifest = source.manifest
        # Of a recording nobody knows in which order, and in which conversations, its questions were asked.
        self._recorded = {name for name, facts in manifest.systems.items() if facts.words == "recording"}
        self._asked: dict[tuple[str, str], int] = {}
        self._talks: dict[tuple[object, ...], int] = {}
        self._withheld = read_withheld_text_facts(source.folder)
        inputs = RunInputs(self._inputs, reading.documents, repeated, self._withheld.facts, reading.corrected)
        self._reader = FactReader(inputs, reading.cache, reading.facts, reading.failures)
        self._labels = map_prompt_sets_to_labels(manifest)

    def add_run_to_frames(self) -> None:
        """Add the run's answers, failures, questions not asked, and published scores."""
        only = self._source.only
        for name in self._source.manifest.documents:
            if not only.documents or name in only.documents:
                self._keep_document_and_questions(name)
        rows: dict[str, int] = {}
        unselected, failed = set[str](), set[str]()
        for _, line in self._source.folder.read_verified_answers_with_offsets(MeasuredRecordHead):
            if line.kind != "answer":
                continue
            (failed.add if line.status == "failed" else failed.discard)(line.key)
            if self._source.includes_record(line):
                self._add_answer_or_failure(rows, line)
            else:
                unselected.add(line.key)
        self._add_unasked_questions(rows)
        for row in self._read_published_score_rows():
            self._reading.gathering.published.add_row(row)
        excluded = read_exclusions(self._source.folder, "answer")
        if unknown := sorted(excluded.keys() - rows.keys() - unselected):
            self._reading.problems.append(
                f"{self._source.folder.path / EXCLUSIONS}: the run has no answer {join_some(unknown, 3)}; "
                "correct the key."
            )
        lack = self._source.folder.describe_lost_answers_or_empty(
            self._source.manifest, len(rows) + len(unselected) - len(failed)
        )
        self._reading.problems += [*self._inputs.problems, *([lack] if lack else [])]

    def add_facts_of_several_answers(self, build_answer_frame: Callable[[], pd.DataFrame]) -> None:
        """Add facts that are about several of these answers: the run's, and of a slice all of its study's."""
        gathering = self._reading.gathering
        for values in self._reader.compute_across_answers_if_column_filled(
            gathering.filled_columns_of_answers_alone, build_answer_frame
        ):
            gathering.update_answer_columns(values)

    def _keep_document_and_questions(self, document_name: str) -> None:
        """Keep a document, or its statistics, and the questions that were asked about it."""
        question_set = self._inputs.questions(document_name)
        if question_set is not None:
            # Published scores of a recording may be of questions whose answers it lacks.
            self._reading.keep_asked_questions_of_set(
                question_set, None if self._recorded else self._planned_questions_by_document.get(document_name)
            )
        documents = self._reading.documents
        if document_name in self._withheld.statistics:
            documents.setdefault(document_name, self._withheld.statistics[document_name])
        if document_name in documents:
            return
        try:
            documents[document_name] = self._inputs.document(document_name)
        except GenaipaError as error:
            self._reading.problems.append(str(error))

    @cached_property
    def _planned_questions_by_document(self) -> dict[str, frozenset[str]]:
        """Document → the questions that the run asks about it, which may be fewer than its set has."""
        manifest, plan = self._source.manifest, get_plan_if_procedure_run(self._source.manifest.spec)
        planned: dict[str, frozenset[str]] = {}
        if plan is None:
            return planned
        # Thousands of documents are mostly asked the same: one object for all of these.
        alike: dict[frozenset[str], frozenset[str]] = {}
        for order_key, order in manifest.orders.items():
            document = order_key.rpartition("|")[0]
            questions = {question for _, question in plan.pair_wordings_with_questions(order)}
            every = planned.get(document, frozenset()) | questions
            planned[document] = alike.setdefault(every, every)
        return planned

    def _add_answer_or_failure(self, rows_by_key: dict[str, int], record: MeasuredRecordHead) -> None:
        """Add an answer or a failure, in place of an earlier one to the same question."""
        at = read_coordinates(record)
        talk = self._find_or_add_conversation_row(record.system, at)
        values = {
            "model": record.model,
            "position": self._find_question_position_or_zero(record.system, at),
            "status": record.status,
            "answer": record.digest if record.status != "failed" else "",
            **self._reader.read_answer_row(record),
        }
        row = rows_by_key.get(record.key)
        if row is None:
            rows_by_key[record.key] = self._reading.gathering.append_answer_row(
                record.key, self._find_or_add_question_row(at.document, at.question), talk, values
            )
        else:
            self._reading.gathering.replace_answer(row, values)

    def _find_or_add_question_row(self, document: str, question: str) -> int:
        """Return the number of what every answer to a question about a document shares."""
        number = self._asked.get((document, question))
        if number is None:
            number = self._asked[document, question] = self._reading.gathering.add_question(
                self._read_question_and_keep_annotated_answer(document, question)
            )
        return number

    def _read_question_and_keep_annotated_answer(self, document: str, question: str) -> dict[str, Any]:
        """Look up what is known of a question about a document, and keep its annotated answer."""
        reading = self._reading
        asked_question = self._inputs.question(document, question)
        annotated, _ = self._inputs.annotated_answer_and_part_set_name(document, question)
        right, _ = self._inputs.annotated_answer_and_part_set_name(document, question, corrected=True)
        if right != annotated:
            reading.corrections.add((document, question))
        if reading.corrected:
            annotated = right
        if annotated:
            reading.annotated[self._source.folder.name, document, question] = annotated
        about = self._source.manifest.documents.get(document)
        return {
            "unit": "answer",
            "run": self._source.folder.name,
            "document": document,
            "kind": about.kind if about else "",
            "question": question,
            "category": asked_question.category if asked_question else "",
            "source": asked_question.origin if asked_question else "",
            **self._reader.read_question_row(document, question),
        }

    def _find_or_add_conversation_row(self, system: str, coordinates: RecordCoordinates) -> int:
        """Return the number of what every answer of a conversation shares."""
        conversation_key = system, *coordinates[:-1]
        number = self._talks.get(conversation_key)
        if number is None:
            mode = (
                ""
                if system in self._recorded
                else assert_procedure_run_and_get_plan(self._source.manifest.spec).conversation
            )
            number = self._talks[conversation_key] = self._reading.gathering.add_conversation(
                {
                    "system": system,
                    "experiment": self._find_experiment(
                        coordinates.document, coordinates.initialization, coordinates.wording
                    ),
                    "initialization": coordinates.initialization,
                    "wording": coordinates.wording,
                    "prompts": find_prompt_set_label(self._source.manifest, self._labels, system, coordinates.prompts),
                    "repetition": coordinates.repetition,
                    "conversation": mode,
                }
            )
        return number

    def _find_question_position_or_zero(self, system: str, coordinates: RecordCoordinates) -> int:
        """Return the question's place in the order of its conversation, 0 if that is unknown."""
        order = self._source.manifest.orders.get(f"{coordinates.document}|{coordinates.repetition}", ())
        return (
            order.index(coordinates.question) + 1
            if system not in self._recorded and coordinates.question in order
            else 0
        )

    def _find_experiment(self, document: str, initialization: str, wording: str) -> str:
        document_facts = self._source.manifest.documents.get(document)
        return classify_experiment(document_facts.kind if document_facts else None, initialization, wording)

    def _add_unasked_questions(self, present_keys: Collection[str]) -> None:
        """Add the questions that were planned and not asked."""
        manifest = self._source.manifest
        plan = get_plan_if_procedure_run(manifest.spec)
        if plan is None:
            return
        for order_key, order in manifest.orders.items():
            document, _, number = order_key.rpartition("|")
            worded = [*plan.pair_wordings_with_questions(order)]
            ways = product(self._source.systems, plan.initializations, self._labels, worded)
            for system, initialization, prompts, (wording, question) in ways:
                if not self._source.includes_answers(document, initialization, wording):
                    continue
                key = f"{conversation_id(system, document, initialization, wording, number, prompts)}|{question}"
                if key not in present_keys:
                    at = RecordCoordinates(document, initialization, wording, int(number), prompts, question)
                    self._reading.gathering.append_answer_row(
                        key,
                        self._find_or_add_question_row(document, question),
                        self._find_or_add_conversation_row(system, at),
                        {"position": self._find_question_position_or_zero(system, at), "status": "missing"},
                    )

    def _read_published_score_rows(self) -> Iterable[dict[str, Any]]:
        """Yield the scores that a published study gives for these systems."""
        any_document, paper = next(iter(self._source.manifest.documents), ""), shipped_rubric()
        published = load_all_published_scores(self._source.folder)
        if published and self._reading.rubric.metrics.keys() != paper.metrics.keys():
            problem = f"{self._source.folder.name}: its published scores are left out because they use other metrics."
            self._reading.problems.append(problem)
            return
        only, excluded = self._source.only, read_exclusions(self._source.folder, "score")
        for score in published:
            # A mean over documents is about no single one.
            if only.documents and score.document not in only.documents:
                continue
            if only.experiments and score.experiment not in only.experiments:
                continue
            if score.system in self._source.systems:
                about = self._read_question_and_keep_annotated_answer(score.document or any_document, score.question)
                yield {
                    **(about if score.document else {**about, "document": "", "silent": "", "corrected": ""}),
                    "unit": "table",
                    "system": score.system,
                    "prompts": PUBLISHED,
                    "experiment": score.experiment,
                    "status": "",
                    "analyst": "published",
                    "role": "published",
                    "scorer": "human",
                    "rubric": paper.digest,
                    **{metric: score[metric] for metric in paper.metrics},
                    "m_all": score.m_all,
                    "averaged": score.averaged,
                    "excluded": str(excluded.get(score.document_question_exclusion_key, "")),
                }
