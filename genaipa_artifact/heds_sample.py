"""HEDS 3.0's questions on the experiment, the systems and the sample (1, 2 and 3.1), and how records answer them.

A function returns None where the records of this study prove nothing.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from genaipa.languages.catalog import language_name
from genaipa.runs.procedure import INITIALIZATIONS, get_plan_if_procedure_run
from genaipa.words import format_count, join_names, join_some
from genaipa_artifact.heds import HedsAnswer
from genaipa_artifact.heds_questions import SCORES, join_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.study import Study
    from genaipa.runs.records import CorpusFacts, Manifest
    from genaipa_artifact.evaluation import HumanEvaluationRecords

_ANSWERS, _MANIFESTS = "study.zip: report/answers.parquet", "study.zip: runs/*/manifest.json"
_LISTED = 20
"""Names that an answer lists."""


# -- 1 and 2: the experiment, and what was evaluated --


def describe_what_people_scored(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what people scored, and by which criteria; None where they scored nothing."""
    scored = records.answers_scored_by_people
    if scored.empty:
        return None
    systems = sorted(map(str, scored["system"].unique()))
    criteria = (
        f", by {join_names([*records.rubric.display_names.values()])}"
        if records.are_all_scored_by_current_rubric
        else ""
    )
    return HedsAnswer(
        join_sentences(
            f"Scores recorded as people's are in effect for {format_count(len(scored), 'answer')} of "
            f"{join_some(systems, _LISTED)}{_phrase_scored_questions(records)}{criteria}.",
            _describe_stand_ins_if_any(records),
        ),
        f"{SCORES}; {_ANSWERS}",
        authors_part="its place in the main reference",
    )


def _phrase_scored_questions(records: HumanEvaluationRecords) -> str:
    """Say to which questions scored answers are, about which documents; empty for tasks of other kinds."""
    scored = records.answers_scored_by_people
    documents = sorted({*map(str, scored["document"].unique())} - {""})
    if not documents:
        return ""
    first = scored[~scored["is_follow_up"]]
    study_questions = records.study.questions
    ids = set(first["question"].astype(str))
    texts = {study_questions.texts.get(question, "") for question in ids}
    # Runs may have asked different words under one id, or the same under several.
    is_count_known = not ids & study_questions.reworded and len(texts - {""}) == len(ids)
    phrase = format_count(len(ids), "question") if is_count_known else "questions"
    paraphrases = int(first["wording"].astype(str).str.startswith("paraphrase").sum())
    if paraphrases:
        phrase += f" ({'in' if paraphrases == len(first) else 'some in'} paraphrases)"
    kinds = [*([phrase] if ids else []), *(["follow-ups"] if len(first) < len(scored) else [])]
    return f" to {' and to '.join(kinds)} about {join_some(documents, _LISTED)}"


def _describe_stand_ins_if_any(records: HumanEvaluationRecords) -> str:
    """Say which systems' replies come from rules, files or people; empty where none are known to."""
    names_by_description: dict[str, list[str]] = {}
    for name, about in records.descriptions_of_stand_ins.items():
        names_by_description.setdefault(about, []).append(name)
    described = [f"{join_some(names, _LISTED)} ({about})" for about, names in names_by_description.items()]
    return f"Kinds of systems: {'; '.join(described)}." if described else ""


_INPUTS = {
    "company-name": "the question, without the text of a document",
    "document": "the question, after the text of the document",
    "summary-by-name": "the question, after a summary that the system wrote without the text of a document",
    "summary-of-document": "the question, after a summary that the system wrote of the document",
}


def describe_inputs_to_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what genaipa sent to the systems, by initialization; None where it sent nothing, or other tasks.

    What people had who wrote or brought replies, and what imported replies are to, only the authors know.
    """
    if not records.are_questions_about_documents:
        return None
    sent, outputs = records.answers_to_sent_messages, records.scorable_answers
    used = set(map(str, sent["initialization"].unique()))
    inputs = [_INPUTS[name] for name in INITIALIZATIONS if name in used]
    if not inputs:
        return None
    is_part, whole = len(sent) < len(outputs), format_count(len(outputs), "reply", "replies")
    prompt_sets = sorted(map(str, sent["prompts"].unique()))
    return HedsAnswer(
        join_sentences(
            f"Text, as genaipa sent it{f' for {len(sent):,} of {whole}' if is_part else ''}: {'; '.join(inputs)}.",
            "In shared conversations, the questions and replies before it came along."
            if "shared" in set(map(str, sent["conversation"].unique()))
            else "",
            "A follow-up came after a question and the reply to it, in a branch of the conversation that no other "
            "question saw."
            if sent["is_follow_up"].any()
            else "",
            f"Prompts: {join_names(prompt_sets)} (runs/*/prompts).",
            _describe_runs_with_system_prompt(records),
        ),
        f"{_MANIFESTS} (spec.plan)",
        authors_part=join_sentences(
            "the form's types of text that fit", "and what the other replies are to" if is_part else ""
        ),
    )


def _describe_runs_with_system_prompt(records: HumanEvaluationRecords) -> str:
    """Say for which runs a system prompt was given; empty where for none. Rules and files take none."""
    sent_runs = set(map(str, records.answers_to_sent_messages["run"].unique()))
    sources = [source for source in records.study.sources if source.folder.name in sent_runs]
    runs = [source.folder.name for source in sources if source.manifest.spec.system_prompt]
    if not runs:
        return ""
    where = "" if len(runs) == len(sources) else f" in {join_some(runs, _LISTED)}"
    return f"Systems that take a system prompt had one{where}."


def describe_replies_of_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what came back; None without an answer."""
    if records.scorable_answers.empty:
        return None
    return HedsAnswer(
        join_sentences(
            f"Text: {format_count(len(records.scorable_answers), 'reply', 'replies')}.",
            _describe_stand_ins_if_any(records),
        ),
        "study.zip: runs/*/answers.jsonl",
        authors_part="the form's types of text that fit",
    )


def name_task_of_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the systems' task; None for tasks of other kinds."""
    if not records.are_questions_about_documents:
        return None
    return HedsAnswer("Answering questions about documents.", f"{_MANIFESTS} (spec.kind)", option=12)


_FEWEST_WORDS = 30
"""Words of a document below which its language is not recognised but taken for English."""


def describe_input_languages(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the languages of documents that genaipa sent, and of translations; None where one is not known.

    A document that systems knew by name alone was no input.
    """
    if not records.are_questions_about_documents:
        return None
    study, sent = records.study, records.answers_to_sent_messages
    is_input = sent["initialization"].isin(("document", "summary-of-document"))
    names = map(str, sent.loc[is_input, "document"].unique())
    documents = {_find_document_language_or_empty(study, name) for name in names}
    questions = {translated.language for translated in study.questions.translations.values()}
    original = any(not translation for translation, _ in study.questions.worded)
    if not documents or "" in documents | questions:
        return None
    unknown = [
        *(["questions"] if original else []),
        *(["follow-ups"] if sent["is_follow_up"].any() else []),
        *(["other inputs"] if len(sent) < len(records.scorable_answers) else []),
    ]
    return HedsAnswer(
        join_sentences(
            f"Documents, as stated or else recognised in the texts: {_join_language_names(documents)}.",
            f"Translated questions, as stated: {_join_language_names(questions)}." if questions else "",
        ),
        f"{_MANIFESTS} (documents); study.zip: runs/*/questions",
        authors_part=f"the language of the {join_names(unknown)}" if unknown else "",
    )


def _find_document_language_or_empty(study: Study, document_name: str) -> str:
    """Return the code of a document's language; empty where runs had different texts by its name, or little text."""
    facts = [
        manifest_facts
        for source in study.sources
        if (manifest_facts := source.manifest.documents.get(document_name)) is not None
    ]
    if len({(manifest_facts.digest, manifest_facts.language) for manifest_facts in facts}) != 1:
        return ""
    if document_name not in study.documents:
        return ""
    has_text_enough = study.document_statistics[document_name].words >= _FEWEST_WORDS
    return facts[0].language or (study.document_languages[document_name] if has_text_enough else "")


def _join_language_names(codes: Iterable[str]) -> str:
    return join_names(sorted(map(language_name, codes)))


# -- 3.1: the sample --


def count_scored_answers_per_system(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Count the answers of each system that people scored; None where they scored none."""
    scored = records.answers_scored_by_people
    if scored.empty:
        return None
    counts = dict.fromkeys(sorted({*map(str, records.scorable_answers["system"].unique())}), 0)
    counts |= {str(name): len(rows) for name, rows in scored.groupby("system", observed=True)}
    alike = len(set(counts.values())) == 1
    distinct, excluded = scored["answer"].nunique(), int(scored["left_out"].sum())
    follow_ups = int(scored["is_follow_up"].sum())
    per_system = (
        f"{next(iter(counts.values())):,}" if alike else "; ".join(f"{name}: {n:,}" for name, n in counts.items())
    )
    return HedsAnswer(
        join_sentences(
            f"{per_system}{' of each system' if alike and len(counts) > 1 else ''}.",
            f"{format_count(follow_ups, 'answer')} of them, in all, {'is' if follow_ups == 1 else 'are'} to follow-ups."
            if follow_ups
            else "",
            f"The same reply to the same question about a document is scored once for all: {distinct:,} of them "
            f"{'is' if distinct == 1 else 'are'} different."
            if distinct < len(scored)
            else "",
            f"The averages leave out {excluded:,} of them (exclusions.csv)." if excluded else "",
        ),
        f"{SCORES}; {_ANSWERS}",
        authors_part="" if alike else "why the numbers differ",
    )


def describe_selection_of_scored_answers(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe how answers came to be scored: all, a random part, or neither; None where nobody scored."""
    outputs, scored = records.scorable_answers, records.answers_scored_by_people
    if scored.empty:
        return None
    about_inputs = _describe_sampling_of_inputs(records)
    source = f"{SCORES}; {_MANIFESTS}"
    planned = outputs["planned"].astype(str)
    is_drawn, population_count = planned.isin(("first", "later")), int((planned != "").sum())
    drawn_count, scored_count = int(is_drawn.sum()), int((is_drawn & outputs["scored"]).sum())
    groups = [outputs[column].astype(str) for column in ("system", "experiment")]
    whole_count = int((is_drawn & is_drawn.where(planned != "", True).groupby(groups).transform("all")).sum())
    chosen_by_authors = "how these answers, the documents and the questions were chosen"
    if len(scored) == len(outputs):
        # What is imported or was dealt to a partner, or lacks slices, may be a selection itself.
        is_whole = len(records.answers_with_known_prompts) == len(outputs) and not records.study.lost
        text = (
            f"all {format_count(len(outputs), 'answer')} of this study {'is' if len(outputs) == 1 else 'are'} scored."
        )
        return HedsAnswer(
            join_sentences(f"Not selected: {text}" if is_whole else text.capitalize(), about_inputs),
            source,
            option=6 if is_whole else None,
            authors_part=_INPUTS_LEFT if is_whole else chosen_by_authors,
        )
    if whole_count == drawn_count:
        text = f"Scored are {len(scored):,} of {format_count(len(outputs), 'answer')}."
        return HedsAnswer(join_sentences(text, about_inputs), source, authors_part=chosen_by_authors)
    systems = set(map(str, outputs.loc[planned != "", "system"].unique()))
    draws = [draw for draw in records.waves_asked_of_people.draws if draw.system in systems]
    seeds, beside = {draw.seed for draw in draws}, len(scored) - scored_count
    seed = f" (seed {seeds.pop()})" if len(seeds) == 1 else ""
    strata = ", within each stratum of the documents" if draws and all(draw.stratum for draw in draws) else ""
    undrawn_note = f", and {beside:,} that chance did not draw" if beside else ""
    return HedsAnswer(
        join_sentences(
            f"Chance{seed} drew {drawn_count:,} of {format_count(population_count, 'answer')}, within each system "
            f"and experiment{strata}, by turns of the questions and, within these, of the documents. Scored are "
            f"{scored_count:,} of the {drawn_count:,}{undrawn_note}.",
            f"Of some systems and experiments it drew all answers, {whole_count:,} in all." if whole_count else "",
            "Follow-ups are an experiment of their own." if outputs["is_follow_up"].any() else "",
            about_inputs,
        ),
        f"study.zip: waves.jsonl; {source}",
        option=2 if scored_count == drawn_count and not beside else None,
        authors_part=_phrase_choices_left_to_authors(
            is_random_part_fully_scored=scored_count == drawn_count, are_others_scored=beside > 0
        ),
    )


def _phrase_choices_left_to_authors(*, is_random_part_fully_scored: bool, are_others_scored: bool) -> str:
    """Name what the records of a random part don't say: which answers were scored of it, or beside it."""
    answers = [
        *([] if is_random_part_fully_scored else ["those scored of the drawn"]),
        *(["the others that are scored"] if are_others_scored else []),
    ]
    return f"how {join_names([*answers, 'the documents', 'the questions'])} were chosen" if answers else _INPUTS_LEFT


_INPUTS_LEFT = "how documents and questions were chosen"


def _describe_sampling_of_inputs(records: HumanEvaluationRecords) -> str:
    """Say how many documents of a corpus and which questions of a set the runs planned to ask about."""
    runs_by_sentence: dict[str, list[str]] = {}
    for source in records.study.sources:
        manifest = source.manifest
        plan = get_plan_if_procedure_run(manifest.spec)
        sentences = [
            *([_describe_corpus_sample(manifest.corpus, manifest.spec.seed)] if manifest.corpus else []),
            *([_describe_question_limit(manifest, *plan.limit)] if plan and plan.limit else []),
        ]
        for sentence in filter(None, sentences):
            runs_by_sentence.setdefault(sentence, []).append(source.folder.name)
    every = len(records.study.sources)
    return " ".join(
        sentence if len(runs) == every else f"Of {join_some(runs, _LISTED)}: {sentence}"
        for sentence, runs in runs_by_sentence.items()
    )


def _describe_corpus_sample(corpus: CorpusFacts, seed: int) -> str:
    """Say how many texts of a corpus chance drew to be asked about; empty where it is all of them."""
    if corpus.asked >= corpus.texts:
        return ""
    strata = f", stratified by {corpus.stratified}" if corpus.stratified else ""
    return (
        f"Of {corpus.texts:,} texts of {PurePath(corpus.file).name}, chance (seed {seed}) drew {corpus.asked:,} to be "
        f"asked about{strata}."
    )


def _describe_question_limit(manifest: Manifest, first_position: int, last_position: int) -> str:
    """Say which questions a run planned to ask; empty where a set has fewer, of which the limit may leave out none."""
    if any(len(order) <= last_position - first_position for order in manifest.orders.values()):
        return ""
    return (
        f"Of each set's questions, in an order that the seed {manifest.spec.seed} decides for each document and "
        f"repetition, those from {first_position} to {last_position} were planned."
    )
