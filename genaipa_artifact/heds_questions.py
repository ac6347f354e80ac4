"""HEDS 3.0's questions on evaluators and design (3.2 and 3.3), and how records answer them.

A function returns None where the records of this study prove nothing.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from genaipa.scoring.aids import load_built_in_and_plugin_aids
from genaipa.words import format_count, join_names
from genaipa_artifact.heds import HedsAnswer

if TYPE_CHECKING:
    from genaipa_artifact.evaluation import HumanEvaluationRecords

SCORES = "study.zip: scores.jsonl"
"""The events of scoring, as a source."""
_DESK = "study.zip: desk.yaml"
_SEVERAL = 2
"""People whose scores of an answer can be compared."""


def join_sentences(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(filter(None, sentences))


def _join_nonempty_sources(*sources: str) -> str:
    return "; ".join(filter(None, sources))


def _format_part_of_whole(part_count: int, whole_count: int, noun: str) -> str:
    return f"{part_count:,} of {format_count(whole_count, noun)}"


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
            # Who is told to look again knows that others scored it differently.
            f"{sum(score.independent for score in scores):,} where neither it nor a sending back had told of others' "
            "scores.",
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
    scores_without_desk = [score for score in records.scores if not score.order]
    count = sum(not score.blind for score in scores_without_desk)
    part = _format_part_of_whole(count, len(scores_without_desk), "score")
    names = "names" if len(scores_without_desk) == 1 else "name"
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
