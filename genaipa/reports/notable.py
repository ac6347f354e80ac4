"""The sentences that no reader of a report or a leaderboard may miss."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.answers.tidy import keep_first_row_per_planned_answer, plain_texts
from genaipa.reports import conduct, part
from genaipa.reports.averages import cache_per_frame
from genaipa.reports.chapters import notable_chapter_sentences, outcomes, overall, prompting
from genaipa.reports.figures.fonts import missing_glyphs_warning_or_empty
from genaipa.reports.table import Table
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.systems.provider import split_system_name_and_effort
from genaipa.words import format_count, join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.chapters.chapter import TaskKindResults

_LACKS = {
    "missing": "Questions that were planned but not asked",
    "failed": "Questions without a reply",
    "refused": "Questions that a system refused to answer",
    "truncated": "Answers that were cut off",
    "prompt_cut": "Answers to a prompt that the server cut, without an error",
    "unscored": "Answers that nobody has scored",
    "score_left_out": "Answers whose published score is excluded",
}
_NAMED = 5
"""Questions that a sentence names."""


@plain_texts
def notable_sentences(study: Study, results: Sequence[TaskKindResults] = ()) -> list[str]:
    """Return sentences that no reader may miss: on answers that failed, are missing, unscored or excluded."""
    result_sentences = [sentence for result in results for sentence in result.notable]
    if study.table.empty and results:
        return result_sentences
    return [
        *study.lost,
        *_note_filters(study),
        *_note_scripted_systems(study),
        *_note_missing_glyphs(study),
        *urgent_sentences(study),
        *_note_lacking_answers(outcomes.outcome_counts_by_system_table(study)),
        *_note_absence_of_averages(study.table),
        *filter(None, [overall.note_unranked_systems(study.table)]),
        *filter(
            None,
            [
                str(part.leaderboard_evidence_level(study.table)),
                part.describe_scored_parts_if_partial(study.table).strip(),
            ],
        ),
        *_note_left_out_analysts(study),
        *_note_averages_mixing_published_scores(study.table),
        *_note_systems_served_by_several_models(study.table),
        *_note_reworded_questions(study),
        *_note_translated_questions(study),
        *filter(None, [prompting.note_differing_prompts(study.table)]),
        *_note_known_corrections(study),
        *_note_exclusions(study.table),
        *dict.fromkeys(
            source.manifest.corpus.sentence_on_corpus_and_sample_size
            for source in study.sources
            if source.manifest.corpus
        ),
        *_note_documents_without_annotations(study),
        *notable_chapter_sentences(study, urgent=False),
        *result_sentences,
    ]


@cache_per_frame
def urgent_sentences(study: Study) -> list[str]:
    """Return the notable sentences that come first: of chapters that are urgent, and on how people scored."""
    return [*notable_chapter_sentences(study, urgent=True), *conduct.scoring_conduct_sentences(study)]


def _note_missing_glyphs(study: Study) -> list[str]:
    """Return a sentence on letters of names that figures can't show."""
    columns = ("system", "document", "question", "experiment")
    names = (str(name) for column in columns for name in study.table[column].unique())
    warning = missing_glyphs_warning_or_empty(
        [*names, *study.questions.categories.keys(), *study.questions.categories.values()]
    )
    return [warning] if warning else []


def _note_filters(study: Study) -> list[str]:
    """Return a sentence on each filter of the study's runs; none without filters."""
    filters = {source.only.describe_filters_or_empty() for source in study.sources} - {""}
    return [f"Filtered by: {words}." for words in sorted(filters)]


def _note_scripted_systems(study: Study) -> list[str]:
    """Return a sentence on systems whose replies come from a script."""
    models = {name: full for source in study.sources for name, full in source.manifest.digests.systems.items()}
    named = sorted(
        name for name, full in models.items() if split_system_name_and_effort(full)[0].partition("/")[0] == "scripted"
    )
    if not named:
        return []
    return [f"{join_names(named)} {'is a script, not a model' if len(named) == 1 else 'are scripts, not models'}."]


def warnings_on_averages(study: Study) -> list[str]:
    """Return the sentences that change how averages are read, without their details."""
    return [
        *_note_scripted_systems(study),
        *_note_missing_glyphs(study),
        *_note_averages_mixing_published_scores(study.table),
        *_note_systems_served_by_several_models(study.table),
        *_note_reworded_questions(study),
        *_note_exclusions(study.table),
    ]


@plain_texts
def sentences_on_missing_answers(study: Study) -> list[str]:
    """Sentences on answers that are not here: filtered out, failed, refused or cut off."""
    sentences = _note_lacking_answers(outcomes.outcome_counts_by_system_table(study))
    return [*_note_filters(study), *(sentence for sentence in sentences if not sentence.startswith(_LACKS["unscored"]))]


def _note_lacking_answers(status_counts: Table) -> list[str]:
    """Sentences on answers missing from averages: failed, not asked or not scored."""
    total = status_counts.data.select_dtypes("number").sum()
    sentences = []
    for status, meaning in _LACKS.items():
        count = int(total.get(status, 0))
        if count:
            sentences.append(f"{meaning}: {count:,} of {int(total['planned']):,}.")
    return sentences


def has_answers_but_no_people_scores(frame: pd.DataFrame) -> bool:
    """Tell whether there are answers, and no person has scored any."""
    return not frame.empty and not frame["counted"].any() and not _has_excluded_scores(frame)


def _has_excluded_scores(frame: pd.DataFrame) -> bool:
    return bool((frame["m_all"].notna() & (frame["excluded"] != "")).any())


def _note_absence_of_averages(frame: pd.DataFrame) -> list[str]:
    if frame["counted"].any():
        return []
    if _has_excluded_scores(frame):
        return ["No score is counted, because all are excluded. (The option include-excluded counts them.)"]
    return ["No averages yet: nobody has scored an answer. To score: genaipa score"]


def _note_left_out_analysts(study: Study) -> list[str]:
    """Sentences on analysts whose scores the study leaves out, and why."""
    counted_ids = {event.id for event in study.log.counted}
    dropped = Counter(
        event.analyst for event in effective_scores_and_adjudications(study.log.every) if event.id not in counted_ids
    )
    reasons = {name.casefold(): reason for name, reason in study.log.left_out.items()}
    return [
        f"Scores that are not counted anywhere: {scores:,} by {name} ({reasons[name.casefold()]})."
        for name, scores in sorted(dropped.items())
    ]


def _note_averages_mixing_published_scores(frame: pd.DataFrame) -> list[str]:
    """Sentences on averages that mix published scores with analysts' scores."""
    counted = frame[frame["counted"]]
    units = counted.groupby(["system", "experiment", "document", "question"], observed=True)["unit"].nunique()
    mixed = units[units > 1].groupby("system", observed=True).size()
    if mixed.empty:
        return []
    where = ", ".join(f"{system} {questions:,}" for system, questions in mixed.items())
    beginning = (
        "Some questions about a document have a published score and answers that analysts scored here; their average"
    )
    return [f"{beginning} counts the published score as one more answer. Number of such questions by system: {where}."]


def _note_systems_served_by_several_models(frame: pd.DataFrame) -> list[str]:
    """Return sentences on systems whose name stood for several models, by what their servers said."""
    if frame.empty:
        return []
    once = keep_first_row_per_planned_answer(frame)
    counts = Counter(zip(once["system"].astype("str"), once["model"].astype("str"), strict=True))
    served: dict[str, list[str]] = {}
    for (system, model), count in sorted(counts.items()):
        if model:
            served.setdefault(system, []).append(f"{model} ({format_count(count, 'answer')})")
    return [
        f"{system} was served by several models, and its averages mix them: {join_names(models)}."
        for system, models in served.items()
        if len(models) > 1
    ]


def _note_known_corrections(study: Study) -> list[str]:
    """Return a sentence on annotated answers with a known correction; where they are to be applied, also on none."""
    if not study.annotated.corrections:
        none = "No correction is known for these annotated answers (corrections/), so none was applied."
        return [none] if study.annotated.corrected else []
    named = sorted(f"{document} {question}" for document, question in study.annotated.corrections)
    applied = "not applied (the option corrected applies them)"
    if study.annotated.corrected:
        applied = "applied (to the annotated answers shown and to which documents are silent; scores stay as given)"
    return [f"Annotated answers with a known correction: {len(named)}, {applied}: {join_some(named, _NAMED)}."]


def _note_reworded_questions(study: Study) -> list[str]:
    """Return a sentence where runs asked different words under the same id."""
    ids = [question for question in study.questions.texts if question in study.questions.reworded]
    if not ids:
        return []
    beginning = "The runs asked different wordings under the same ids, and averages mix them"
    return [f"{beginning}: {join_some(ids, _NAMED)}."]


def _note_translated_questions(study: Study) -> list[str]:
    """Return a sentence on question sets that are translations, which a difference between languages holds as well."""
    sets = [
        f"{name}, {question_set.translation_credits}"
        for name, question_set in sorted(study.questions.translations.items())
    ]
    return [f"Translated questions: {'; '.join(sets)}."] if sets else []


def _note_exclusions(frame: pd.DataFrame) -> list[str]:
    """Return a sentence on the answers and scores that are excluded, or counted all the same, and why."""
    rows = frame[frame["excluded"] != ""]
    rows = rows[(rows["unit"] == "table") | ~rows.duplicated(["run", "key"])]
    if rows.empty:
        return []
    scores = int((rows["unit"] == "table").sum())
    kinds = Counter(str(excluded).partition(": ")[0] for excluded in rows["excluded"])
    why = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
    beginning = "Counted although excluded, as you asked" if rows["counted"].any() else "Excluded"
    return [
        (
            f"{beginning}: {format_count(len(rows) - scores, 'answer')} and "
            f"{format_count(scores, 'published score')} (reasons: {why})."
        )
    ]


_BY_READING, _BY_RULES, _BY_ANNOTATION = ("relevance", "clarity"), ("reference",), ("accuracy", "completeness")
"""The paper's metrics by what an analyst needs: the answer, the sections that it cites, or the right answer."""


def _note_documents_without_annotations(study: Study) -> list[str]:
    """Return a sentence on documents without annotated answers, and on the metrics that can be scored all the same."""
    document_rows = study.table[["document", "silent"]].drop_duplicates().astype(str)
    documents = set(document_rows["document"]) - {""}
    annotated = set(document_rows.loc[document_rows["silent"] != "", "document"]) & documents
    if not documents - annotated:
        return []
    sentence = f"Annotated answers are known for {len(annotated):,} of {format_count(len(documents), 'document')}."
    names = study.rubric.display_names
    reading, rules, needed = (
        " and ".join(names[metric] for metric in metrics if metric in names)
        for metrics in (_BY_READING, _BY_RULES, _BY_ANNOTATION)
    )
    if reading and rules and needed:
        sentence += (
            f" Without annotated answers, {reading} can be scored by reading, and {rules} by the sections that an "
            f"answer cites, which rules look up; {needed} need annotated answers (genaipa policies annotate)."
        )
    return [sentence]
