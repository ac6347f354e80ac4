"""The questions of HEDS 3.0 and how records answer them, a row each: all sections but the fourth.

A row without a function is a question that no record answers: recruitment, payment, ethics, expertise. A function
returns None where the records of this study prove nothing.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from genaipa.languages.catalog import language_name
from genaipa.questions.sets import id_without_follow_up_suffix
from genaipa.runs.procedure import INITIALIZATIONS, get_plan_if_procedure_run
from genaipa.scoring.aids import load_built_in_and_plugin_aids
from genaipa.tasks.prompts import PUBLISHED
from genaipa.words import format_count, join_names, join_some
from genaipa_artifact.heds import HedsAnswer, HedsQuestion
from genaipa_artifact.heds_power import (
    describe_detectable_differences,
    describe_method_of_power_analysis,
    name_code_of_power_analysis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def _format_part_of_whole(part_count: int, whole_count: int, noun: str) -> str:
    return f"{part_count:,} of {format_count(whole_count, noun)}"


# -- 1 and 2: the experiment, and what was evaluated --


def describe_what_people_scored(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what people scored, and by which criteria; None where they scored nothing."""
    scored = records.answers_scored_by_people
    if scored.empty:
        return None
    documents = sorted({*map(str, scored["document"].unique())} - {""})
    systems = sorted(map(str, scored["system"].unique()))
    criteria = (
        f", by {join_names([*records.rubric.display_names.values()])}"
        if records.are_all_scored_by_current_rubric
        else ""
    )
    questions = scored["question"].astype(str).map(id_without_follow_up_suffix)
    wording_count = scored.loc[~scored["is_follow_up"], "wording"].nunique()
    wordings = f" in {wording_count} wordings" if wording_count > 1 else ""
    follow_ups = " and to follow-ups" if scored["is_follow_up"].any() else ""
    return HedsAnswer(
        join_sentences(
            f"Scores recorded as people's exist for {format_count(len(scored), 'answer')} of "
            f"{join_some(systems, _LISTED)} to {format_count(questions.nunique(), 'question')}{wordings}{follow_ups} "
            f"about {join_some(documents, _LISTED)}{criteria}.",
            _describe_non_model_systems_if_any(records),
        ),
        f"{SCORES}; {_ANSWERS}",
        authors_part="its place in the main reference",
    )


def _describe_non_model_systems_if_any(records: HumanEvaluationRecords) -> str:
    """Say which systems are no models but rules, scripts or people; empty where none is known to be."""
    names_by_description: dict[str, list[str]] = {}
    for name, about in records.descriptions_of_non_model_systems.items():
        names_by_description.setdefault(about, []).append(name)
    described = [f"{join_some(names, _LISTED)} ({about})" for about, names in names_by_description.items()]
    if not described:
        return ""
    return (
        f"Not {'a model' if len(records.descriptions_of_non_model_systems) == 1 else 'models'}: {'; '.join(described)}."
    )


_INPUTS = {
    "company-name": "the question, with the name of the company or regulation and no document",
    "document": "the question, after the text of the document",
    "summary-by-name": "the question, after a summary that the system wrote from the name alone",
    "summary-of-document": "the question, after a summary that the system wrote of the document",
}


def describe_inputs_to_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what the systems were given, by initialization; None for tasks of other kinds."""
    if not records.are_questions_about_documents:
        return None
    used = set(map(str, records.scorable_answers["initialization"].unique()))
    inputs = [_INPUTS[name] for name in INITIALIZATIONS if name in used]
    if not inputs:
        return None
    shared = "shared" in set(map(str, records.scorable_answers["conversation"].unique()))
    prompt_sets = {*map(str, records.scorable_answers["prompts"].unique())}
    known_sets = sorted(prompt_sets - {"", PUBLISHED})
    return HedsAnswer(
        join_sentences(
            f"Text: {'; '.join(inputs)}.",
            "In shared conversations, the questions and replies before it came along." if shared else "",
            "A follow-up came after a question and the reply to it, in a branch of the conversation that no other "
            "question saw."
            if records.scorable_answers["is_follow_up"].any()
            else "",
            f"Prompts: {join_names(known_sets)} (runs/*/prompts)." if known_sets else "",
            "Of imported runs, what was said around the questions is not recorded." if PUBLISHED in prompt_sets else "",
            _describe_runs_with_system_prompt(records),
        ),
        f"{_MANIFESTS} (spec.plan)",
        authors_part="the form's types of text that fit",
    )


def _describe_runs_with_system_prompt(records: HumanEvaluationRecords) -> str:
    """Say in which runs a system prompt came first; empty where in none."""
    sources = records.study.sources
    runs = [source.folder.name for source in sources if source.manifest.spec.system_prompt]
    if not runs:
        return ""
    where = "" if len(runs) == len(sources) else f" in {join_some(runs, _LISTED)}"
    return f"A system prompt came first{where}."


def describe_replies_of_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Describe what came back; None without an answer."""
    if records.scorable_answers.empty:
        return None
    return HedsAnswer(
        join_sentences(
            f"Text: {format_count(len(records.scorable_answers), 'reply', 'replies')}.",
            _describe_non_model_systems_if_any(records),
        ),
        "study.zip: runs/*/answers.jsonl",
        authors_part="the form's types of text that fit",
    )


def name_task_of_systems(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the systems' task; None for tasks of other kinds."""
    if not records.are_questions_about_documents:
        return None
    return HedsAnswer("Answering questions about documents.", f"{_MANIFESTS} (spec.kind)", option=12)


def describe_input_languages(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Name the languages of documents, and of questions that were translated; None where one is not known.

    A document that systems knew by name alone was no input.
    """
    if not records.are_questions_about_documents:
        return None
    study, outputs = records.study, records.scorable_answers
    is_input = outputs["initialization"].isin(("document", "summary-of-document"))
    document_names = set(map(str, outputs.loc[is_input, "document"].unique()))
    documents = {code for name, code in study.document_languages.items() if name in document_names}
    questions = {translated.language_code for translated in study.questions.translations.values()}
    original = any(not translation for translation, _ in study.questions.worded)
    if not documents or "" in documents | questions:
        return None
    unknown = [
        *(["questions"] if original else []),
        *(["follow-ups"] if outputs["is_follow_up"].any() else []),
    ]
    return HedsAnswer(
        join_sentences(
            f"Documents: {_join_language_names(documents)}.",
            f"Translated questions: {_join_language_names(questions)}." if questions else "",
        ),
        f"{_MANIFESTS} (documents), else recognised in the texts",
        authors_part=f"the language of the {join_names(unknown)}" if unknown else "",
    )


def _join_language_names(codes: Iterable[str]) -> str:
    return join_names(sorted(map(language_name, codes)))


# -- 3.1: the sample --


def count_scored_answers_per_system(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Count the answers of each system that people scored; None where they scored none."""
    scored = records.answers_scored_by_people
    if scored.empty:
        return None
    counts = {str(name): len(rows) for name, rows in scored.groupby("system", observed=True)}
    alike = len(set(counts.values())) == 1
    distinct, excluded = scored["answer"].nunique(), int(scored["left_out"].sum())
    follow_ups = int(scored["is_follow_up"].sum())
    per_system = (
        f"{next(iter(counts.values())):,}" if alike else "; ".join(f"{name}: {n:,}" for name, n in counts.items())
    )
    unscored = sorted({*map(str, records.scorable_answers["system"].unique())} - counts.keys())
    return HedsAnswer(
        join_sentences(
            f"{per_system}.",
            f"{format_count(follow_ups, 'answer')} of them, in all, {'is' if follow_ups == 1 else 'are'} to follow-ups."
            if follow_ups
            else "",
            f"No score that is recorded as a person's is of an answer of {join_some(unscored, _LISTED)}."
            if unscored
            else "",
            f"The same reply to the same question about a document is scored once for all, so that "
            f"{format_count(distinct, 'answer')} were scored."
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
    if not records.waves_asked_of_people:
        if len(scored) == len(outputs):
            text = f"Not selected: all {format_count(len(outputs), 'answer')} of this study were scored."
            return HedsAnswer(
                join_sentences(text, about_inputs), f"{SCORES}; {_MANIFESTS}", option=6, authors_part=_INPUTS_LEFT
            )
        part = _format_part_of_whole(len(scored), len(outputs), "answer")
        text = f"{part} were scored; no random part is recorded (waves.jsonl)."
        return HedsAnswer(
            join_sentences(text, about_inputs),
            f"{SCORES}; {_MANIFESTS}",
            authors_part="how these answers, the documents and the questions were chosen",
        )
    planned = outputs["planned"].astype(str)
    is_drawn, shuffled_count = planned.isin(("first", "later")), int(planned.isin(("first", "later", "no")).sum())
    drawn_count = int(is_drawn.sum())
    within, outside = int((is_drawn & outputs["scored"]).sum()), int((~is_drawn & outputs["scored"]).sum())
    if drawn_count == within == len(outputs):
        text = f"Not selected: all {format_count(len(outputs), 'answer')} were in the random part, and were scored."
        return HedsAnswer(
            join_sentences(text, about_inputs),
            f"study.zip: waves.jsonl; {SCORES}; {_MANIFESTS}",
            option=6,
            authors_part=_INPUTS_LEFT,
        )
    text = (
        f"{_format_part_of_whole(shuffled_count, len(outputs), 'answer')} were put into a random order by "
        "system and experiment "
        f"(seed {records.waves_asked_of_people.draws[0].seed}), which takes questions, and within them "
        "documents, by turns. Its "
        f"beginning is the random part: {format_count(drawn_count, 'answer')}, of which {within:,} "
        f"{'was' if within == 1 else 'were'} scored."
    )
    strata = (
        "Each stratum of the documents has its share."
        if any(draw.stratum for draw in records.waves_asked_of_people.draws)
        else ""
    )
    follow_ups = "Follow-ups are an experiment of their own." if outputs["is_follow_up"].any() else ""
    beside = f"{format_count(outside, 'answer')} outside of it {'was' if outside == 1 else 'were'} scored, too."
    return HedsAnswer(
        join_sentences(text, strata, beside if outside else "", follow_ups, about_inputs),
        f"study.zip: waves.jsonl; {SCORES}; {_MANIFESTS}",
        option=2 if within == drawn_count and not outside else None,
        authors_part=_phrase_choices_left_to_authors(
            is_random_part_fully_scored=within == drawn_count, are_others_scored=outside > 0
        ),
    )


def _phrase_choices_left_to_authors(*, is_random_part_fully_scored: bool, are_others_scored: bool) -> str:
    """Name what the records of a random part don't say: which answers were scored of it, or beside it."""
    answers = [
        *([] if is_random_part_fully_scored else ["those scored of it"]),
        *(["the answers outside of it"] if are_others_scored else []),
    ]
    return f"how {join_names([*answers, 'the documents', 'the questions'])} were chosen" if answers else _INPUTS_LEFT


_INPUTS_LEFT = "how documents and questions were chosen"


def _describe_sampling_of_inputs(records: HumanEvaluationRecords) -> str:
    """Say which documents of a corpus and which questions of a set the runs asked about, where not all."""
    runs_by_sentence: dict[str, list[str]] = {}
    for source in records.study.sources:
        manifest = source.manifest
        plan = get_plan_if_procedure_run(manifest.spec)
        sentences = [
            *([manifest.corpus.sentence_on_corpus_and_sample_size] if manifest.corpus else []),
            *([_describe_question_limit(manifest.spec.seed, *plan.limit)] if plan and plan.limit else []),
        ]
        for sentence in sentences:
            runs_by_sentence.setdefault(sentence, []).append(source.folder.name)
    every = len(records.study.sources)
    return " ".join(
        sentence if len(runs) == every else f"Of {join_some(runs, _LISTED)}: {sentence}"
        for sentence, runs in runs_by_sentence.items()
    )


def _describe_question_limit(seed: int, first_position: int, last_position: int) -> str:
    return (
        f"Of each set's questions, in an order that the seed {seed} decides for each document and repetition, those "
        f"from {first_position} to {last_position} were asked."
    )


# -- 3.2: evaluators --


def count_evaluators(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Count the people whose scores contribute to the averages; None where there are none."""
    if not records.evaluators:
        return None
    scoring = {score.analyst for score in records.scores} & records.evaluators
    settling = len(records.evaluators - scoring)
    excluded = len(records.left_out_scorers)
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
            "Written guidelines are in guidelines.md as it is now, of which pack.json has the digest; the records "
            "don't say who read them."
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
    settled = "; the medium of adjudications" if records.adjudications else ""
    if records.has_only_desk_scores:
        return HedsAnswer(f"As recorded, {desk}.", f"{SCORES} (order)", authors_part=settled.removeprefix("; "))
    count = _format_part_of_whole(len(records.desk_scores), len(records.scores), "score")
    return HedsAnswer(
        f"{count} {'was' if len(records.desk_scores) == 1 else 'were'}, as recorded, given at {desk}; the others name "
        "no medium.",
        f"{SCORES} (order)",
        authors_part=f"the medium of the others: a sheet, another tool, an earlier desk{settled}",
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
            f"{SCORES} (answer, analyst, kind, calibration)", _DESK if records.left_out_scorers else ""
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
            f"{SCORES} (answer, analyst, kind, calibration)", _DESK if records.left_out_scorers else ""
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
    reasons = records.left_out_scorers
    sent, means = records.send_back_count, records.mean_acceptance_count
    return {
        "several scores of an answer": f"{several:,} of {texts:,} answer texts have scores under several names."
        if several
        else "",
        "calibration": f"{format_count(calibrated, 'score')} {'is' if calibrated == 1 else 'are'} recorded as "
        "calibration."
        if calibrated
        else "",
        "adjudication": f"{format_count(adjudicated, 'answer text')} {'was' if adjudicated == 1 else 'were'} "
        "adjudicated; there the adjudication alone counts."
        if adjudicated
        else "",
        "sending back": f"Answers were sent back to their analysts {format_count(sent, 'time')}." if sent else "",
        "acceptance of means": f"The mean of an answer's scores was let stand {format_count(means, 'time')}."
        if means
        else "",
        "leaving people out": f"The scores of {format_count(len(reasons), 'name')} count nowhere. "
        f"As desk.yaml has it: {'; '.join(dict.fromkeys(reasons.values()))}."
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
    return HedsAnswer(
        join_sentences(
            f"As recorded with {format_count(whole, 'score')} of the desk:",
            f"{sum(score.blind for score in scores):,} where it had not shown whose answer it was, "
            f"{sum(score.independent for score in scores):,} where it had not shown how others scored it.",
            f"On screen beside answer and rubric: {_format_nonzero_counts(aids) or 'nothing of what is recorded'}."
            if screens or any(aids.values())
            else "",
            f"Withheld by chance, so that their influence can be measured: {_format_nonzero_counts(withheld)}."
            if any(withheld.values())
            else "",
            f"At {held_back:,} a suggestion was held back." if held_back else "",
            f"{whole - len(screens):,} don't record the whole screen." if whole > len(screens) else "",
            seeing,
        ),
        f"{SCORES} (blind, independent, shown, pinned, preselected, ticks)",
        authors_part="the screen's other parts"
        if records.has_only_desk_scores
        else "the screen's other parts, and other scores'",
    )


def _count_other_scores_not_blind(records: HumanEvaluationRecords) -> str:
    """Say how many scores that don't name the desk were given in sight of whose answer it was; empty for none."""
    others = [score for score in records.scores if not score.order]
    count = sum(not score.blind for score in others)
    part = _format_part_of_whole(count, len(others), "score")
    names = "names" if len(others) == 1 else "name"
    return f"{part} that {names} no desk {'is' if count == 1 else 'are'} recorded as not blind." if count else ""


def _format_nonzero_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count)


def describe_desk_score_dates_and_seconds(records: HumanEvaluationRecords) -> HedsAnswer | None:
    """Give the time in which the desk's scores came, and the median seconds; None without scores of the desk."""
    scores = records.desk_scores
    if not scores:
        return None
    first, *_, last = sorted(score.time[:10] for score in (*scores, *scores))
    seconds = [score.seconds for score in scores if score.seconds is not None]
    part, record = (
        _format_part_of_whole(len(seconds), len(scores), "score"),
        "records" if len(seconds) == 1 else "record",
    )
    return HedsAnswer(
        join_sentences(
            f"{format_count(len(scores), 'score')} of the desk {'is' if len(scores) == 1 else 'are'} dated "
            f"{first if first == last else f'{first} to {last}'} (UTC).",
            # A pause counts only in part (`values.js`), and a correction adds to the time of its score.
            f"{part} {record} seconds, {median(seconds):.1f} in the median." if seconds else "",
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
