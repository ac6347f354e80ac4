"""The desk behind its pages: one for the whole server, shared by all sessions; and the work of a study's analysts.

Their work is the time so far, what is left, what both cost, and the line on it above the pad.
"""

from __future__ import annotations

import gc
import math
import sys
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from genaipa.runs.selection import (
    list_run_folders_oldest_first,
    map_repeated_runs_to_days,
    select_runs_and_apply_filters,
)
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.people import People, load_desk_people_and_plan
from genaipa.scoring.queue import ScoringQueue
from genaipa.scoring.rubric import load_guidelines
from genaipa.scoring.store import ScoreStore, open_or_create_store
from genaipa.scoring.waves import (
    Waves,
    describe_wave_sizes,
    digest_prefix_used_in_waves,
    draw_and_save_waves,
    measure_standings_of_wave_groups,
)
from genaipa.words import format_count
from genaipa.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.errors import GenaipaError
    from genaipa.runs.authors import AnswerAuthors
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.people import User
    from genaipa.scoring.queue import ScoringProgress
    from genaipa.scoring.rubric import Guidelines, Rubric
    from genaipa.ui.settings import DeskSettings


@dataclass(frozen=True)
class Desk:
    """Everything that the pages show and change."""

    settings: DeskSettings
    workspace: Workspace
    people: People
    pool: AnswerPool
    store: ScoreStore
    current: CurrentScores
    queue: ScoringQueue
    waves: Waves
    guidelines: Guidelines | None = None

    @property
    def sample_note_or_empty(self) -> str:
        """A note on the random part of the answers that is to be scored; empty where all are."""
        if not self.waves:
            return ""
        groups = measure_standings_of_wave_groups(
            self.waves, self.pool.answers.values(), self.current.refresh_and_list_all_scored_answers()
        )
        late = sum(group.late for group in groups)
        sentence = (
            f"Only a random part of the answers is to be scored: {describe_wave_sizes(groups)}; --sample all "
            "includes all."
            if groups
            else ""
        )
        return (
            f"{sentence} {format_count(late, 'answer')} came later; to sample from later answers, open the desk again."
            if late
            else sentence
        )

    @property
    def scores_given_and_wanted_sentence(self) -> str:
        """The scores that are wanted and given, in a sentence: what all pages count."""
        progress = self.queue.measure_scoring_progress("")
        reference_scores = sum(len(self.queue.current_scores_and_pace(name).scores) for name in self.people.reference)
        reference = (
            f" (plus {format_count(reference_scores, 'score')} by reference analysts)" if reference_scores else ""
        )
        return (
            f"{format_count(progress.wanted, 'score')} {'is' if progress.wanted == 1 else 'are'} wanted, "
            f"{progress.given:,} {'is' if progress.given == 1 else 'are'} given{reference}."
        )

    @property
    def rubric(self) -> Rubric:
        """The rubric that answers are scored by."""
        return self.store.rubric

    def list_pool_problems_user_may_read(self, user: User) -> list[str]:
        """List the pool's problems, in words that this user may read."""
        return self.pool.problems_without_run_details if user.scores and self.queue.plan.blind else self.pool.problems

    def drop_and_report_unreadable_answer(self, answer_digest: str, error: GenaipaError) -> None:
        """Take an unreadable answer out of the pool, and say so to everyone.

        The reason goes to the terminal: its path and key would tell on a page whose answer it is.
        """
        sys.stderr.write(f"{error}\n")
        answer = self.pool.answers.get(answer_digest)
        if answer is not None:
            subject = f"An answer to {answer.question} about {answer.document}"
            self.pool.drop_unreadable_answer(
                answer_digest, f"{subject} can't be read and is left out; the desk's terminal shows why."
            )


def open_desk(settings: DeskSettings) -> Desk:
    """Open the store and the runs; the errors of both."""
    workspace = find_workspace(settings.workspace)
    people = load_desk_people_and_plan(workspace)
    is_narrowed = bool(settings.runs or settings.only)
    sources = select_runs_and_apply_filters(workspace, settings.runs, settings.only) if is_narrowed else []
    folders = [source.folder for source in sources] if is_narrowed else list_run_folders_oldest_first(workspace)
    pool = AnswerPool(workspace, folders, sources=sources, excluded=settings.excluded)
    store = open_or_create_store(workspace)
    current = CurrentScores(lambda seen: _read_counted_events(store, people, pool.authors, seen))
    wave_pool, wave_sources = pool, sources
    if settings.excluded or settings.only:
        # A wave is drawn from all that it is a part of, whatever part of it one looks at.
        wave_sources = select_runs_and_apply_filters(workspace, settings.runs) if settings.runs else []
        runs = [source.folder for source in wave_sources] if settings.runs else list_run_folders_oldest_first(workspace)
        wave_pool = AnswerPool(workspace, runs, sources=wave_sources, excluded=False)
    waves, wanted_answers = _draw_waves_and_wanted_digest_prefixes(
        workspace, wave_pool, current, settings, wave_sources
    )
    # Whoever wants answers that no wave is drawn from gets them beside it.
    wanted_answers = wanted_answers and wanted_answers.union(
        map(digest_prefix_used_in_waves, pool.answers.keys() - wave_pool.answers.keys())
    )
    plan = msgspec.structs.replace(
        settings.plan,
        reference=people.reference,
        left_out=tuple(people.left_out),
        wave=wanted_answers,
        assign=tuple(people.assign.items()),
    )
    queue = ScoringQueue(pool, store, current, plan)
    queue.warm_up_orders_and_early_answers()
    # A large study stays in memory as long as the desk is open: collecting garbage in it would make analysts wait.
    gc.collect()
    gc.freeze()
    guidelines = load_guidelines(workspace, store.rubric)
    return Desk(settings, workspace, people, pool, store, current, queue, waves, guidelines)


def _read_counted_events(
    store: ScoreStore, people: People, authors: AnswerAuthors, after_event_number: int
) -> Iterator[tuple[int, Event]]:
    """Read the events after a number, without those of analysts who are left out, or who wrote what they scored."""
    return (
        (number, event)
        for number, event in store.read_numbered_events(after_event_number)
        if [*people.drop_scores_of_excluded_and_authors([event], authors)]
    )


def _draw_waves_and_wanted_digest_prefixes(
    workspace: Workspace,
    pool: AnswerPool,
    current: CurrentScores,
    settings: DeskSettings,
    sources: Sequence[SelectedRun],
) -> tuple[Waves, frozenset[str] | None]:
    """Draw or grow the workspace's waves if the settings want that; return them and the answers wanted."""
    if settings.sample == "all":
        return Waves(), None
    answers = pool.answers.values()
    size, seed, days = (
        settings.sample,
        settings.plan.seed,
        map_repeated_runs_to_days(sources or select_runs_and_apply_filters(workspace, [])),
    )
    waves = draw_and_save_waves(
        workspace,
        answers,
        current.refresh_and_list_all_scored_answers(),
        size_of_each_group=size,
        seed=seed,
        day_by_run=days,
    )
    return waves, waves.all_wave_digest_prefixes if waves else None


_HOUR = 3600


@dataclass(frozen=True)
class AnalystWorkload:
    """An analyst's work: answers scored and left, and the seconds they took and will take (None: unknown).

    Whoever has no time of their own yet is expected to need the median of the others.
    """

    analyst: str
    scored: int
    median_seconds: float | None
    seconds_spent: float
    answers_left: int
    seconds_left: float | None


def estimate_answers_left_for_analyst(desk: Desk, progress: ScoringProgress) -> int:
    """Count the answers left for an analyst.

    The scores still wanted are shared by the analysts of desk.yaml, or else by those who have scored.
    """
    team = {*(desk.people.analysts or desk.current.list_analysts_with_current_scores()), progress.analyst}.difference(
        desk.people.reference
    )
    if progress.analyst not in team:
        return progress.remaining
    return min(progress.remaining, math.ceil((progress.wanted - progress.given) / len(team)))


def list_analyst_workloads(desk: Desk) -> list[AnalystWorkload]:
    """List the work of all who have scored or are listed in desk.yaml; reference analysts have nothing left."""
    histories = desk.queue.histories_by_analyst()
    medians = {name: history.seconds for name, history in histories.items() if history.seconds is not None}
    usual_pace = median(medians.values()) if medians else None
    result = []
    for name in sorted({*histories, *(desk.people.analysts or ())}):
        history = histories.get(name)
        answers_left = (
            0
            if name in desk.people.reference
            else estimate_answers_left_for_analyst(desk, desk.queue.measure_scoring_progress(name))
        )
        pace = medians.get(name, usual_pace)
        seconds_left = None if pace is None else answers_left * pace
        scored = len(history.scores) if history else 0
        seconds = sum(score.seconds or 0 for score in history.scores) if history else 0.0
        result.append(AnalystWorkload(name, scored, medians.get(name), seconds, answers_left, seconds_left))
    return result


def describe_total_time_and_cost(desk: Desk, workloads: Sequence[AnalystWorkload]) -> str:
    """Describe all analysts' time, so far and left, and what it costs where desk.yaml gives a rate."""
    settling = sum(
        event.seconds or 0
        for event in desk.current.list_adjudications_of_every_adjudicator()
        if event.answer in desk.pool.answers
    )
    spent = sum(work.seconds_spent for work in workloads) + settling
    ahead = sum(work.seconds_left or 0 for work in workloads)
    adjudication_note = f", {format_hours_and_minutes(settling)} of it for adjudication" if settling else ""
    left_note = f"about {format_hours_and_minutes(ahead)} left" if ahead else "none left"
    sentence = f"Total: {format_hours_and_minutes(spent)} of analysts' time so far{adjudication_note}, and {left_note}."
    if (rate := desk.people.rate) is None:
        return sentence
    costs = f"{format_time_cost(spent, rate)} so far, and {format_time_cost(ahead, rate)} more"
    return f"{sentence} At {rate:g} an hour, that is {costs}."


def format_time_cost(seconds: float | None, hourly_rate: float) -> str:
    """Format the cost of this many seconds at an hourly rate, in the currency of the rate; a dash for None."""
    return "-" if seconds is None else f"{seconds / _HOUR * hourly_rate:,.2f}"


def format_hours_and_minutes(seconds: float | None) -> str:
    """Seconds in words, to the minute: "3 h 20 min"; a dash for None."""
    if seconds is None:
        return "-"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"


_PACE = 10
"""Answers from which an analyst's own pace is shown."""


def list_progress_line_pieces(
    desk: Desk, user: User, answer_digest: str, *, is_correction: bool, later_score_count: int = 0
) -> list[str]:
    """Return the pieces of the line while that answer is on screen, once this analyst has scored so many more."""
    current = desk.queue.measure_scoring_progress(user.name)
    scored, answers_left, scores_given = (
        current.scored + later_score_count,
        max(current.remaining - later_score_count, 1),
        current.given + later_score_count,
    )
    progress = replace(current, scored=scored, remaining=answers_left, given=scores_given)
    calibrating = desk.queue.would_score_count_as_calibration(answer_digest, user.name)
    pieces = [
        _describe_correction_or_rescore_request(desk, user, answer_digest)
        if is_correction
        else f"Answer {progress.scored + 1}",
        "calibration: compared with the reference score once saved" if calibrating else "",
        _describe_answers_and_time_left(desk, progress),
        f"study: {progress.given:,} of {progress.wanted:,} scores, {progress.wanted - progress.given:,} left",
        f"{progress.seconds // 60:.0f}:{int(progress.seconds % 60):02} per answer"
        if progress.seconds is not None and _has_scored_enough_for_pace(progress)
        else "",
        *([] if desk.queue.plan.blind else _describe_first_occurrences_of_answer(desk, answer_digest)),
    ]
    return [piece for piece in pieces if piece]


def _describe_correction_or_rescore_request(desk: Desk, user: User, answer_digest: str) -> str:
    """Explain why a scored answer is on screen again; whoever sent it back is not named, only their note."""
    returned = desk.queue.answers_to_rescore(user.name)
    word = desk.current.latest_send_back(answer_digest) if answer_digest in returned else None
    if word is None:
        return "Correcting your score"
    more_note = f" ({len(returned) - 1:,} more to look at again)" if len(returned) > 1 else ""
    return f"Please look again: “{word.note}”{more_note}"


def _describe_first_occurrences_of_answer(desk: Desk, answer_digest: str) -> list[str]:
    answer = desk.pool.answers[answer_digest]
    return [f"{where.system} · {where.initialization} · {where.run}" for where in answer.occurrences[:3]]


def _describe_answers_and_time_left(desk: Desk, progress: ScoringProgress) -> str:
    """Describe this analyst's remaining answers, and the time for them at the analyst's median."""
    share = estimate_answers_left_for_analyst(desk, progress)
    about = "" if share == progress.remaining else "about "
    ahead = share * (progress.seconds or 0) if _has_scored_enough_for_pace(progress) else 0
    lasts = f", about {format_hours_and_minutes(ahead)}" if ahead else ""
    return f"{about}{share:,} left for you{lasts}"


def _has_scored_enough_for_pace(progress: ScoringProgress) -> bool:
    """Tell whether this analyst's median time says how long the rest takes: a beginner's first answers don't."""
    return progress.scored >= _PACE
