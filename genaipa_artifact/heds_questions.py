"""The questions of HEDS 3.0 and how records answer them, a row each: all sections but the fourth.

A row without a function is a question that no record answers: recruitment, payment, ethics, expertise. A function
returns None where the records of this study prove nothing.
"""

from __future__ import annotations

from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from genaipa.languages.catalog import language_name
from genaipa.runs.procedure import INITIALIZATIONS, get_plan_if_procedure_run
from genaipa.scoring.aids import load_built_in_and_plugin_aids
from genaipa.words import format_count, join_names, join_some
from genaipa_artifact.heds import HedsAnswer, HedsQuestion
from genaipa_artifact.heds_power import (
    describe_detectable_differences,
    describe_method_of_power_analysis,
    name_code_of_power_analysis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.study import Study
    from genaipa.runs.records import CorpusFacts
    from genaipa_artifact.evaluation import HumanEvaluationRecords

SCORES = "study.zip: scores.jsonl"
"""The events of scoring, as a source."""
_ANSWERS, _MANIFESTS, _DESK = (
    f"study.zip: {name}" for name in ("report/answers.parquet", "runs/*/manifest.json", "desk.yaml")
)
_SEVERAL = 2
"""People whose scores of an answer can be compared."""
_LISTED = 20
"""Names that an answer lists."""


def join_sentences(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(filter(None, sentences))


def _join_nonempty_sources(*sources: str) -> str:
    return "; ".join(filter(None, sources))


def _format_part_of_whole(part_count: int, whole_count: int, noun: str, plural: str = "") -> str:
    return f"{part_count:,} of {format_count(whole_count, noun, plural)}"


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
    asked = records.study.questions
    ids = set(first["question"].astype(str))
    texts = {asked.texts.get(question, "") for question in ids}
    # Runs may have asked different words under one id, or the same under several.
    is_count_known = not ids & asked.reworded and len(texts - {""}) == len(ids)
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
    part = (
        f"of {_format_part_of_whole(len(sent), len(outputs), 'reply', 'replies')}, " if len(sent) < len(outputs) else ""
    )
    prompt_sets = sorted(map(str, sent["prompts"].unique()))
    return HedsAnswer(
        join_sentences(
            f"Text, {part}as genaipa sent it: {'; '.join(inputs)}.",
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
            "the form's types of text that fit", "and what the other replies are to" if part else ""
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
    runs_and_names = set(map(tuple, sent.loc[is_input, ["run", "document"]].astype(str).to_numpy()))
    documents = {_find_document_language_or_empty(study, name) for _, name in runs_and_names}
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
    if not drawn_count:
        part = _format_part_of_whole(len(scored), len(outputs), "answer")
        text = f"{part} {'is' if len(scored) == 1 else 'are'} scored."
        return HedsAnswer(join_sentences(text, about_inputs), source, authors_part=chosen_by_authors)
    systems = set(map(str, outputs.loc[planned != "", "system"].unique()))
    draws = [draw for draw in records.waves_asked_of_people.draws if draw.system in systems]
    seeds, beside = {draw.seed for draw in draws}, len(scored) - scored_count
    seed = f" (seed {seeds.pop()})" if len(seeds) == 1 else ""
    strata = ", within each stratum of the documents" if draws and all(draw.stratum for draw in draws) else ""
    others = f", and {beside:,} that chance did not draw" if beside else ""
    return HedsAnswer(
        join_sentences(
            f"Chance{seed} drew {_format_part_of_whole(drawn_count, population_count, 'answer')}, within each system "
            f"and experiment{strata}, by turns of the questions and, within these, of the documents. Scored are "
            f"{scored_count:,} of the {drawn_count:,}{others}.",
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
            *([_describe_question_limit(manifest.spec.seed, *plan.limit)] if plan and plan.limit else []),
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
    strata = f", a share of each {corpus.stratified}" if corpus.stratified else ""
    return (
        f"Of the {corpus.texts:,} different texts of {PurePath(corpus.file).name}, chance (seed {seed}) drew "
        f"{corpus.asked:,} to be asked about{strata}."
    )


def _describe_question_limit(seed: int, first_position: int, last_position: int) -> str:
    return (
        f"Of each set's questions, in an order that the seed {seed} decides for each document and repetition, those "
        f"from {first_position} to {last_position} were planned."
    )


# -- 3.2: evaluators --


def count_evaluators(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Count the people whose scores contribute to the averages; None where there are none."""
    if not records.evaluators:
        return None
    scoring = {score.analyst for score in records.scores} & records.evaluators
    settling = len(records.evaluators - scoring)
    excluded = len(records.study.log.left_out)
    return HedsAnswer(
        join_sentences(
            f"{len(records.evaluators):,}.",
            "Counted are the names under which scores or adjudications of answers that are not excluded are in effect; "
            "the records can't tell whether a name is a person, or two names are one.",
            f"{settling:,} of them gave adjudications alone." if settling else "",
            f"{format_count(excluded, 'name')} left out by desk.yaml {'is' if excluded == 1 else 'are'} not counted."
            if excluded
            else "",
        ),
        _join_nonempty_sources(f"{SCORES} (analyst), as recorded", _DESK if excluded else ""),
        authors_part="those behind the published scores" if records.runs_with_published_scores else "",
    )


def describe_training_of_evaluators(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe recorded calibration and the guidelines; None where there is neither, or nobody scored."""
    if not records.scores:
        return None
    calibrated = [score for score in records.scores if score.calibration]
    people = len({score.analyst for score in calibrated})
    sentences = []
    if calibrated:
        sentences.append(
            f"{format_count(len(calibrated), 'score')} by {people:,} of "
            f"{format_count(len({score.analyst for score in records.scores}), 'analyst')} "
            f"{'is' if len(calibrated) == 1 else 'are'} recorded as calibration: given to be compared with a reference "
            "analyst's."
        )
    if records.guidelines:
        sentences.append(
            "Written guidelines are in guidelines.md, of which pack.json has the digest; the records don't say who "
            "read them."
        )
    if not sentences:
        return None
    return HedsAnswer(
        " ".join(sentences),
        _join_nonempty_sources(
            f"{SCORES} (calibration)" if calibrated else "", "study.zip: guidelines.md" if records.guidelines else ""
        ),
        authors_part="introductions and practice beside these",
    )


# -- 3.3: design --


def describe_medium_of_scores(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Say through what scores came in, as far as events tell; None where none does."""
    if not records.desk_scores:
        return None
    desk = "genaipa's scoring desk, a page in the browser"
    if records.has_only_desk_scores:
        return HedsAnswer(f"As recorded, {desk}.", f"{SCORES} (order)")
    count = _format_part_of_whole(len(records.desk_scores), len(records.scores), "score")
    return HedsAnswer(
        f"{count} {'was' if len(records.desk_scores) == 1 else 'were'}, as recorded, given at {desk}; the others name "
        "no medium.",
        f"{SCORES} (order)",
        authors_part="the medium of the others: a sheet, another tool, an earlier desk",
    )


def name_kinds_of_quality_assurance(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the kinds of recorded quality assurance; None where none is recorded."""
    kinds = [kind for kind, sentence in _quality_assurance_sentences_by_kind(records).items() if sentence]
    if not kinds:
        return None
    manual = not {"adjudication", "sending back", "acceptance of means"}.isdisjoint(kinds)
    return HedsAnswer(
        f"Recorded: {join_names(kinds)}.",
        _join_nonempty_sources(
            f"{SCORES} (answer, analyst, kind, calibration)", _DESK if records.study.log.left_out else ""
        ),
        option=3 if manual else None,
        authors_part=f"the form's {'other ' if manual else ''}options that fit, and methods beside these",
    )


def describe_figures_of_quality_assurance(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Give the figures of recorded quality assurance; None where none is recorded."""
    sentences = [*filter(None, _quality_assurance_sentences_by_kind(records).values())]
    if not sentences:
        return None
    return HedsAnswer(
        " ".join(sentences),
        _join_nonempty_sources(
            f"{SCORES} (answer, analyst, kind, calibration)", _DESK if records.study.log.left_out else ""
        ),
        authors_part="methods beside these",
    )


def _quality_assurance_sentences_by_kind(records: HumanEvaluationRecords) -> dict[str, str]:
    """Return kind of measure → its figures in a sentence; empty where nothing of the kind is recorded."""
    scored = records.answers_scored_by_people
    if scored.empty:
        return {}
    people = scored.drop_duplicates("answer")["people"]
    several, texts = int((people >= _SEVERAL).sum()), len(people)
    adjudicated = len({event.answer for event in records.adjudications})
    calibrated = sum(score.calibration for score in records.scores)
    reasons = records.study.log.left_out
    sent, means = records.send_back_count, records.mean_acceptance_count
    return {
        "several scores of an answer": f"{several:,} of {texts:,} answer texts have several people's scores."
        if several
        else "",
        "calibration": f"{format_count(calibrated, 'score')} {'was' if calibrated == 1 else 'were'} calibration."
        if calibrated
        else "",
        "adjudication": f"{format_count(adjudicated, 'answer text')} {'was' if adjudicated == 1 else 'were'} "
        "adjudicated, which replaces the scores."
        if adjudicated
        else "",
        "sending back": f"Answers were sent back to their analysts {format_count(sent, 'time')}." if sent else "",
        "acceptance of means": f"An adjudicator let the mean of scores stand {format_count(means, 'time')}."
        if means
        else "",
        "leaving people out": f"The scores of {format_count(len(reasons), 'name')} count nowhere, for the reason: "
        f"{'; '.join(dict.fromkeys(reasons.values()))}."
        if reasons
        else "",
    }


def describe_screen_while_scoring(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what the desk showed beside the answer, and exposures; None without scores that tell."""
    scores, seeing = records.desk_scores, _count_other_scores_not_blind(records)
    if not scores and not seeing:
        return None
    if not scores:
        return HedsAnswer(seeing, f"{SCORES} (blind)", authors_part="what was on the screen")
    screens = [score.shown for score in scores if score.shown is not None]
    whole = len(scores)
    aids = {
        "evidence at a metric": sum(bool(screen.evidence) for screen in screens),
        "a suggested value": sum(bool(screen.suggestion) for screen in screens),
        "the document's nearest sentences": sum(screen.nearest for screen in screens),
        "words of the answer before in grey": sum(screen.grey for screen in screens),
        "a pinned passage": sum(score.pinned for score in scores),
        "values filled in before": sum(score.preselected for score in scores),
        "points to tick": sum(score.ticks is not None for score in scores),
    }
    known_aids = load_built_in_and_plugin_aids()
    withheld = {
        known_aids[name].title if name in known_aids else name: sum(
            screen.aids.get(name) is False for screen in screens
        )
        for name in sorted({name for screen in screens for name in screen.aids})
    }
    held_back = sum(bool(screen.withheld) and not screen.aids for screen in screens)
    follow_ups = set(records.scorable_answers.loc[records.scorable_answers["is_follow_up"], "answer"].astype(str))
    follow_up_count = sum(score.answer in follow_ups for score in scores)
    orders = {order: sum(score.order == order for score in scores) for order in ("question", "document", "random")}
    return HedsAnswer(
        join_sentences(
            f"As recorded with {format_count(whole, 'score')} of the desk:",
            f"{sum(score.blind for score in scores):,} without having seen whose answer it was, "
            f"{sum(score.independent for score in scores):,} without having seen how others scored it.",
            f"Order of the answers: {_format_nonzero_counts(orders)}.",
            f"On screen beside answer and rubric: {_format_nonzero_counts(aids) or 'nothing of what is recorded'}."
            if screens or any(aids.values())
            else "",
            f"Withheld by chance, so that their influence can be measured: {_format_nonzero_counts(withheld)}."
            if any(withheld.values())
            else "",
            f"At {held_back:,} a suggestion was held back." if held_back else "",
            f"{follow_up_count:,} are of answers to follow-ups, which the desk shows after the question and the answer "
            "before."
            if follow_up_count
            else "",
            f"{whole - len(screens):,} don't record the screen." if whole > len(screens) else "",
            seeing,
        ),
        f"{SCORES} (blind, independent, order, shown, pinned, preselected, ticks)",
        authors_part="the screen's other parts"
        if records.has_only_desk_scores
        else "the screen's other parts, and other scores'",
    )


def _count_other_scores_not_blind(records: HumanEvaluationRecords) -> str:
    """Say how many scores from outside the desk were given in sight of whose answer it was; empty for none."""
    others = [score for score in records.scores if not score.order]
    count = sum(not score.blind for score in others)
    part = _format_part_of_whole(count, len(others), "score")
    return f"{part} from outside the desk {'is' if count == 1 else 'are'} recorded as not blind." if count else ""


def _format_nonzero_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)


def describe_desk_score_dates_and_seconds(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Give the time in which the desk's scores came, and the median seconds; None without scores of the desk."""
    scores = records.desk_scores
    if not scores:
        return None
    first, *_, last = sorted(score.time[:10] for score in (*scores, *scores))
    seconds = [score.seconds for score in scores if score.seconds is not None]
    return HedsAnswer(
        join_sentences(
            f"{format_count(len(scores), 'score')} of the desk {'is' if len(scores) == 1 else 'are'} dated "
            f"{first if first == last else f'{first} to {last}'} (UTC).",
            f"An answer was on screen for a median of {median(seconds):.1f} seconds." if seconds else "",
        ),
        f"{SCORES} (time, seconds)",
        authors_part="what evaluators were asked to keep to",
    )


# -- the register --

QUESTIONS = (
    HedsQuestion("1.1.1", "Main reference"),
    HedsQuestion("1.1.2", "Which experiment", describe_what_people_scored),
    HedsQuestion("1.2", "Where its resources are"),
    HedsQuestion("1.3.1.1", "Who fills in this sheet: name"),
    HedsQuestion("1.3.1.2", "Who fills in this sheet: affiliation"),
    HedsQuestion("1.3.1.3", "Who fills in this sheet: e-mail"),
    HedsQuestion("1.3.2.1", "Contact author: name"),
    HedsQuestion("1.3.2.2", "Contact author: affiliation"),
    HedsQuestion("1.3.2.3", "Contact author: e-mail"),
    HedsQuestion("2.1", "Type of input", describe_inputs_to_systems),
    HedsQuestion("2.2", "Type of output", describe_replies_of_systems),
    HedsQuestion("2.3", "Task of the systems", name_task_of_systems),
    HedsQuestion("2.4", "Languages of the inputs", describe_input_languages),
    HedsQuestion("2.5", "Languages of the outputs"),
    HedsQuestion("3.1.1", "Outputs evaluated of each system", count_scored_answers_per_system),
    HedsQuestion("3.1.2", "How outputs were selected", describe_selection_of_scored_answers),
    HedsQuestion("3.1.3.1", "Power analysis: method", describe_method_of_power_analysis),
    HedsQuestion("3.1.3.2", "Power analysis: power", describe_detectable_differences),
    HedsQuestion("3.1.3.3", "Power analysis: code", name_code_of_power_analysis),
    HedsQuestion("3.2.1", "Number of evaluators", count_evaluators),
    HedsQuestion("3.2.2.1", "Evaluators: domain experts or not"),
    HedsQuestion("3.2.2.2", "Evaluators: payment"),
    HedsQuestion("3.2.2.3", "Evaluators: known to the authors"),
    HedsQuestion("3.2.2.4", "Evaluators: authors among them"),
    HedsQuestion("3.2.3", "Recruitment"),
    HedsQuestion("3.2.4", "Training and practice", describe_training_of_evaluators),
    HedsQuestion("3.2.5", "Evaluators: other characteristics"),
    HedsQuestion("3.3.1", "Preregistration"),
    HedsQuestion("3.3.2", "Medium of the responses", describe_medium_of_scores),
    HedsQuestion("3.3.3.1", "Quality assurance: kinds", name_kinds_of_quality_assurance),
    HedsQuestion("3.3.3.2", "Quality assurance: details", describe_figures_of_quality_assurance),
    HedsQuestion("3.3.4.1", "Where the interface can be seen"),
    HedsQuestion("3.3.4.2", "What evaluators are shown", describe_screen_while_scoring),
    HedsQuestion("3.3.5", "Freedom of when and how fast", describe_desk_score_dates_and_seconds),
    HedsQuestion("3.3.6", "Questions and feedback of evaluators"),
    HedsQuestion("3.3.7", "Place and conditions"),
    HedsQuestion("3.3.8", "How conditions vary"),
    HedsQuestion("5.1", "Ethics committee"),
    HedsQuestion("5.2", "Personal data"),
    HedsQuestion("5.3", "Special categories of data"),
    HedsQuestion("5.4", "Impact assessments"),
)
