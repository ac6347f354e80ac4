"""How people scored: whether they could know whose answers they had, and whether they took the time to read them."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median
from typing import TYPE_CHECKING

from genaipa.policies.search import HALF, count_words
from genaipa.reports.answers import read_answer_records
from genaipa.reports.averages import cache_per_frame
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.words import format_count, join_some

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.study import Study
    from genaipa.scoring.events import Event

FAST_WORDS_A_MINUTE = 400
"""Words that a fast reader reads silently; most adults read 175 to 300 (Brysbaert, 2019)."""
_LEAST_TIMED = 10
"""Below this many timed scores nothing is said of an analyst's haste."""
_READ = 200
"""Answers of an analyst whose words are counted, spread evenly over their scores."""
_SLOW = 60.0
"""Seconds: whoever takes longer than this for most answers is not looked at."""
_LEAST_WORDS = 10
"""Shorter answers are left out: they are read at a glance."""
_NAMED = 3


@cache_per_frame
def scoring_conduct_sentences(study: Study) -> list[str]:
    """Return sentences on scores that were not blind, and on analysts who were too fast to have read the answers."""
    scores = [event for event in study.log.counted if event.scorer == "human" and event.kind == "score"]
    return [*filter(None, [describe_scores_not_blind(scores)]), *_note_hasty_analysts(study, scores)]


def describe_scores_not_blind(events: Iterable[Event]) -> str:
    """Count the scores in effect that were given by people who could see whose answers they were; empty for none."""
    events = list(events)
    if all(event.blind for event in events):
        return ""
    scores = [event for event in effective_scores_and_adjudications(events) if event.kind == "score"]
    seeing = Counter(event.analyst for event in scores if not event.blind)
    if not seeing:
        return ""
    count = seeing.total()
    names = join_some(sorted(seeing), _NAMED)
    return f"{count:,} of {format_count(len(scores), 'score')} {'was' if count == 1 else 'were'} not blind ({names})."


def _note_hasty_analysts(study: Study, scores: Iterable[Event]) -> list[str]:
    """Return a sentence on each analyst who took less time for most answers than reading them takes."""
    seconds_by_analyst: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for event in scores:
        if event.seconds:
            # Whoever corrects a score has read the answer before.
            timed = seconds_by_analyst[event.analyst]
            timed[event.answer] = max(event.seconds, timed.get(event.answer, 0.0))
    sampled = {
        analyst: [*timed][:: max(len(timed) // _READ, 1)]
        for analyst, timed in seconds_by_analyst.items()
        if len(timed) >= _LEAST_TIMED and median(timed.values()) < _SLOW
    }
    words = _count_words_by_answer(study, {answer for answers in sampled.values() for answer in answers})
    sentences = []
    for analyst, answers in sorted(sampled.items()):
        timed = seconds_by_analyst[analyst]
        reading = {
            answer: words[answer] * 60 / FAST_WORDS_A_MINUTE
            for answer in answers
            if words.get(answer, 0) >= _LEAST_WORDS
        }
        if len(reading) >= _LEAST_TIMED and median(timed[answer] / reading[answer] for answer in reading) < 1:
            sentences.append(
                f"{analyst} scored too fast to have read the answers: a median of "
                f"{median(timed[answer] for answer in reading):.1f} s for those of {_LEAST_WORDS} words or more, while "
                f"reading them takes {median(reading.values()):.1f} s at {FAST_WORDS_A_MINUTE} words a minute. These "
                "scores are counted."
            )
    return sentences


def _count_words_by_answer(study: Study, answer_digests: set[str]) -> dict[str, int]:
    """Count the words of answers whose texts can be read."""
    if not answer_digests:
        return {}
    rows = study.answers[study.answers["answer"].isin(answer_digests)].drop_duplicates("answer")
    records = read_answer_records(study, rows)
    return {
        str(answer): count_words(record.reply, HALF)
        for run, key, answer in rows[["run", "key", "answer"]].astype("str").itertuples(index=False, name=None)
        if (record := records.get((run, key))) and record.reply
    }
