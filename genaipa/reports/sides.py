"""The two sides of a comparison: their scores, what they were asked, and what they don't share."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.answers.tidy import ORDERED
from genaipa.errors import UnknownNameError, UnscoredError, UsageError
from genaipa.questions.sets import FOLLOW_UP, WORDINGS, is_follow_up
from genaipa.reports.chapters.prompting import sort_prompt_sets_shipped_first
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.procedure import assert_procedure_run_and_get_plan
from genaipa.tasks.prompts import NOT_KNOWN
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import pandas as pd

    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace

REGULATION = "regulation"
_NAMED = 5
"""As many things that differ are named."""


@dataclass(frozen=True)
class ComparisonSide:
    """One system's scores, its questions and its prompts.

    `texts` are the digests of the texts that went by a document's name: one, unless runs disagree. `asked` are the
    texts of a wording of a question about a document.
    """

    name: str
    frame: pd.DataFrame
    texts: dict[str, set[str]]
    asked: dict[tuple[str, str, Wording], set[str]]

    @property
    def prompt_sets(self) -> set[str]:
        """The sets of prompts that its scored answers were given to."""
        return {*self.frame.loc[self.frame["counted"], "prompts"]} - {""}

    @property
    def asked_document_questions(self) -> set[tuple[str, str]]:
        """Pairs of a document and a question about it."""
        return {(document, question) for document, question, _ in self.asked}


def merge_sources_of_same_run(sources: Iterable[SelectedRun]) -> list[SelectedRun]:
    """Return each run once, with all systems that are meant of it."""
    runs: dict[str, SelectedRun] = {}
    for source in sources:
        before = runs.get(source.folder.name, source)
        runs[source.folder.name] = replace(source, systems=tuple(sorted({*before.systems, *source.systems})))
    return list(runs.values())


def build_comparison_side(
    workspace: Workspace,
    name: str,
    sources: Sequence[SelectedRun],
    frame: pd.DataFrame,
    experiments: Collection[str] = (),
    *,
    judge: str = "",
) -> ComparisonSide:
    """Return the side that these runs are, from a tidy table that holds them, in which a `judge` alone may count.

    It is limited to these experiments; if none is named, to all but that on regulations. A UsageError if it has
    several systems, or no score there.
    """
    _check_experiments_are_known(experiments, frame)
    frame = select_rows_of_single_system_or_raise(name, sources, frame)
    new_side = ComparisonSide(
        name,
        _select_experiments_or_raise_if_unscored(name, frame, experiments, judge),
        defaultdict(set),
        defaultdict(set),
    )
    asked_by_run = _list_questions_by_run_and_document(new_side.frame)
    documents = set(new_side.frame["document"])
    sets: dict[str, QuestionSet | None] = {}
    for source in sources:
        if source.folder.name in asked_by_run:
            questions_by_document = asked_by_run[source.folder.name]
            manifest, plan = source.manifest, assert_procedure_run_and_get_plan(source.manifest.spec)
            for document in documents & manifest.documents.keys():
                new_side.texts[document].add(manifest.documents[document].digest)
                digest = manifest.digests.questions.get(plan.questions.get(document, ""), "")
                if digest not in sets:
                    sets[digest] = RunDocumentsAndQuestions(workspace, source.folder).questions(document)
                if (question_set := sets[digest]) is not None:
                    asked_questions = (*questions_by_document.get(document, ()), *questions_by_document.get("", ()))
                    _add_asked_texts(new_side, document, asked_questions, question_set, plan.wordings)
    return new_side


def _check_experiments_are_known(experiments: Collection[str], frame: pd.DataFrame) -> None:
    """Raise an UnknownNameError for an experiment that there is none of, in whichever system's rows."""
    known_experiments = {*ORDERED["experiment"], *frame["experiment"]}
    for experiment in experiments:
        if experiment not in known_experiments:
            raise UnknownNameError("experiment", experiment, known_experiments)


def select_rows_of_single_system_or_raise(
    name: str, sources: Sequence[SelectedRun], frame: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of the one system that these runs are of; a UsageError for several."""
    systems = sorted({system for source in sources for system in source.systems})
    if len(systems) > 1:
        choices = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {choices}")
    return frame[(frame["system"] == systems[0]) & frame["run"].isin([source.folder.name for source in sources])]


def _select_experiments_or_raise_if_unscored(
    name: str, frame: pd.DataFrame, experiments: Collection[str], judge: str = ""
) -> pd.DataFrame:
    """Return the rows that are compared; a UsageError if none has a score."""
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
    raise UnscoredError(f"'{name}' has no score{where} to compare yet; score some answers with: genaipa score")


def _list_questions_by_run_and_document(frame: pd.DataFrame) -> dict[str, dict[str, list[tuple[str, Wording]]]]:
    """Run → document → the questions of its rows and their wordings; a mean over documents has neither."""
    columns = ["run", "document", "question", "wording"]
    questions_by_run: defaultdict[str, dict[str, list[tuple[str, Wording]]]] = defaultdict(dict)
    places = frame[columns].astype(object).drop_duplicates().fillna("")
    for run, document, question, wording in places.itertuples(index=False, name=None):
        questions_by_run[run].setdefault(document, []).append((question, wording))
    return questions_by_run


def _add_asked_texts(
    side: ComparisonSide,
    document: str,
    asked_questions: Iterable[tuple[str, Wording]],
    question_set: QuestionSet,
    wordings: Iterable[Wording],
) -> None:
    """Add the texts that a side was asked about a document; those of its set that were not asked are none of its."""
    questions = {question.id: question for question in question_set.questions}
    for question_id, wording in asked_questions:
        question = questions.get(question_id)
        for asked_wording in (wording,) if wording else wordings:
            if question and (asked_wording == FOLLOW_UP or len(question.paraphrases) >= WORDINGS.index(asked_wording)):
                side.asked[document, question_id, asked_wording].add(question.text_in_wording(asked_wording))


def note_differences_and_common_questions(
    first: ComparisonSide, second: ComparisonSide
) -> tuple[list[str], set[tuple[str, str]]]:
    """Sentences on what the two don't share, and the documents and questions that they do."""
    sentences = _note_unshared_names(first.name, second.name, "document", first.texts.keys(), second.texts.keys())
    documents = first.texts.keys() & second.texts.keys()
    changed = {document for document in documents if first.texts[document] != second.texts[document]}
    sentences += [f"the text of {_join_noun_and_names(changed, 'document')} is not the same"] if changed else []
    same_documents = documents - changed
    ours, theirs = (
        {pair for pair in compared_side.asked_document_questions if pair[0] in same_documents}
        for compared_side in (first, second)
    )
    sentences += _note_unshared_questions([(first.name, ours - theirs), (second.name, theirs - ours)], same_documents)
    shared_wordings = first.asked.keys() & second.asked.keys()
    reworded = {
        (document, question)
        for document, question, wording in shared_wordings
        if document in same_documents
        and first.asked[document, question, wording] != second.asked[document, question, wording]
    }
    sentences += (
        [f"the text of {_join_noun_and_names(_name_questions(reworded, same_documents), 'question')} is not the same"]
        if reworded
        else []
    )
    rubrics = [
        set(compared_side.frame.loc[compared_side.frame["counted"], "rubric"]) for compared_side in (first, second)
    ]
    if rubrics[0] != rubrics[1]:
        sentences.append(
            f"the rubric is not the same ({_join_noun_and_names(rubrics[0], 'digest')} and "
            f"{_join_noun_and_names(rubrics[1], 'digest')})"
        )
    # Those of a published study are not known: that they are others is said, and can't be helped (`studied`).
    prompts = [compared_side.prompt_sets - NOT_KNOWN for compared_side in (first, second)]
    if all(prompts) and prompts[0] != prompts[1]:
        sentences.append(
            "the prompts are not the same "
            f"({' and '.join(', '.join(sort_prompt_sets_shipped_first(prompt_set)) for prompt_set in prompts)})"
        )
    return sentences, (ours & theirs) - reworded


def note_sides_with_unknown_prompts(first: ComparisonSide, second: ComparisonSide) -> list[str]:
    """Return a sentence where one of the two answered prompts that are not known, and the other did not."""
    return [
        f"{answered_side.name} answered prompts that are not known, and {other_side.name} answered "
        f"other prompts ({', '.join(sort_prompt_sets_shipped_first(other_side.prompt_sets - NOT_KNOWN))}): part of any "
        "difference may "
        "come from the prompts."
        for answered_side, other_side in ((first, second), (second, first))
        if answered_side.prompt_sets & NOT_KNOWN and other_side.prompt_sets - NOT_KNOWN
    ]


def _note_unshared_names(
    first_name: str, second_name: str, noun: str, first_items: Collection[str], second_items: Collection[str]
) -> list[str]:
    return [
        f"only {name} has the {_join_noun_and_names(names, noun)}"
        for name, names in (
            (first_name, set(first_items) - set(second_items)),
            (second_name, set(second_items) - set(first_items)),
        )
        if names
    ]


def _note_unshared_questions(
    names_and_document_questions: Iterable[tuple[str, set[tuple[str, str]]]], documents: Collection[str]
) -> list[str]:
    """Return sentences on what each side alone was asked about the documents of both: questions, then follow-ups."""
    sentences, follow_ups = [], []
    for name, document_questions in names_and_document_questions:
        questions = {pair for pair in document_questions if not is_follow_up(pair[1])}
        if questions:
            sentences.append(
                f"only {name} has the {_join_noun_and_names(_name_questions(questions, documents), 'question')}"
            )
        if count := len(document_questions) - len(questions):
            follow_ups.append(f"only {name} has {format_count(count, 'follow-up')}")
    return sentences + follow_ups


def _name_questions(document_questions: set[tuple[str, str]], documents: Collection[str]) -> set[str]:
    """Return the questions' ids, each with its document unless all are meant about all of the documents."""
    questions = {question for _, question in document_questions}
    if len(document_questions) == len(questions) * len(documents):
        return questions
    return {f"{question} about {document}" for document, question in document_questions}


def _join_noun_and_names(names: Iterable[str], noun: str) -> str:
    """Write `document uber`; `questions T_f1, T_f2, … (32)`."""
    listed = sorted(names)
    if len(listed) == 1:
        return f"{noun} {listed[0]}"
    return f"{noun}s {', '.join(listed[:_NAMED])}" + (f", … ({len(listed)})" if len(listed) > _NAMED else "")


def restrict_side_to_questions(compared_side: ComparisonSide, common_questions: set[tuple[str, str]]) -> ComparisonSide:
    """Restrict a side to the other's questions; a mean over documents stays where all of these are shared."""
    shared = {question for _, question in common_questions}
    for document in compared_side.texts:
        shared &= {question for about, question in common_questions if about == document}
    whole = common_questions | {("", question) for question in shared}
    about = zip(compared_side.frame["document"], compared_side.frame["question"], strict=True)
    return replace(compared_side, frame=compared_side.frame[[pair in whole for pair in about]])
