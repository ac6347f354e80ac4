"""Overview page: the progress of runs and scoring, and any answer with its conversation."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import DataError, GenaipaError
from genaipa.runs import selection
from genaipa.runs.folder import RunFolder
from genaipa.runs.inputs import load_conversation_through_reply
from genaipa.scoring.assignment import is_in_wave_if_plan_has_one
from genaipa.ui.answer_view import (
    annotated_answer_with_warning_if_wrong,
    load_case_or_rerun_page,
    show_scores_recording_exposure,
)
from genaipa.ui.desk import (
    describe_total_time_and_cost,
    format_hours_and_minutes,
    format_time_cost,
    list_analyst_workloads,
)
from genaipa.ui.download import offer_scores_download_recording_exposure
from genaipa.ui.scoring_session import read_question_and_reply_beginning
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    TitledText,
    cache_in_session,
    format_duration,
    format_utc_minute,
    log_error_and_describe_for_desk,
    number_column_heads,
    show_first_problems,
    show_heading,
    show_notice,
    show_page_header,
    show_table,
    show_table_in_pages,
    show_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from genaipa.files.stamps import Stamp
    from genaipa.runs.records import Record
    from genaipa.runs.status import AnswerTally
    from genaipa.scoring.answers import AnswerPool, Occurrence, PooledAnswer, ScoringCase
    from genaipa.scoring.people import User
    from genaipa.systems.base import Message
    from genaipa.ui.desk import AnalystWorkload, Desk

ANSWER = "overview answer"
"""Key of the chosen answer in the session's state."""
HIDDEN = ListCell("hidden", tone="quiet")


@dataclass(frozen=True)
class AnswerVisibility:
    """A user's visibility: every answer in full, unless it is `ahead` of them, still to be scored, and blind."""

    user: User
    ahead: AbstractSet[str]
    blind: bool

    @classmethod
    def from_desk(cls, desk: Desk, user: User) -> AnswerVisibility:
        """Return the visibility for this user now."""
        ahead = desk.queue.answers_analyst_may_still_score(user.name) if user.scores else frozenset()
        return cls(user, ahead, desk.queue.plan.blind)

    def can_see_system(self, answer_digest: str) -> bool:
        """Tell whether they may see which system gave it."""
        return not self.blind or self.can_see_scores(answer_digest)

    def can_see_scores(self, answer_digest: str) -> bool:
        """Tell whether they may see the scores of others."""
        return answer_digest not in self.ahead


def show_page(desk: Desk, user: User) -> None:
    """Show the progress of the study, its runs and analysts, and the answers."""
    desk.pool.read_new_answers()
    desk.current.read_new_events()
    show_page_header("Overview")
    show_first_problems("overview problems", desk.list_pool_problems_user_may_read(user))
    if desk.pool.sentence_on_exclusions_or_empty:
        st.caption(desk.pool.sentence_on_exclusions_or_empty)
    _show_scoring_counts(desk, user)
    runs = _show_runs_and_map_them_by_name(desk)
    if not runs:
        show_notice(
            "overview none", "There is no run yet. Begin with: genaipa run --system extractive --policy brindlecart"
        )
        return
    _show_analyst_workloads_and_run_costs(desk, runs)
    offer_scores_download_recording_exposure(desk, user)
    _show_answers_recording_exposure(desk, AnswerVisibility.from_desk(desk, user), runs)


# -- progress --


def _show_scoring_counts(desk: Desk, user: User) -> None:
    progress = desk.queue.measure_scoring_progress(user.name)
    # Of all answers, to count them: which they are is not said here.
    disputes = cache_in_session(
        "overview disputes",
        (desk.current.event_count, desk.pool.generation),
        lambda: desk.queue.visible_open_and_settled_disputes(user.name, gives_scores=False),
    )
    settled = sum(1 for dispute in disputes if dispute.adjudication_or_mean_acceptance)
    counts = {
        "Answers": progress.answers,
        "Scores wanted": progress.wanted,
        "Given": progress.given,
        "Remaining": progress.wanted - progress.given,
        "Disputed": len(disputes),
        "Settled": settled,
    }
    for column, (label, number) in zip(st.columns(len(counts)), counts.items(), strict=True):
        column.metric(label, f"{number:,}")
    if progress.wanted:
        st.progress(min(progress.given / progress.wanted, 1.0))
    if part_asked := cache_in_session(
        "overview part", (len(desk.pool.arrivals), desk.pool.generation), lambda: desk.sample_note_or_empty
    ):
        st.caption(part_asked)
    if any(len(answer.occurrences) > 1 for answer in desk.pool.answers.values()):
        st.caption("Identical answers to a question about a document are counted and scored once.")


def _show_runs_and_map_them_by_name(desk: Desk) -> dict[str, RunFolder]:
    folders = selection.select_run_folders(desk.workspace, desk.settings.runs, desk.settings.only)
    if folders:
        show_heading("Runs")
        heads = ["run", "state", "systems", "documents", *number_column_heads("answered", "planned", "failed")]
        show_table_in_pages("overview runs", "Runs", heads, folders[::-1], _make_run_row)
    return {folder.name: folder for folder in folders}


def _make_run_row(folder: RunFolder) -> ListRow:
    try:
        manifest = folder.manifest()
        tally, _ = _read_tally_and_offsets(folder)
    except GenaipaError as error:
        return ListRow((folder.name, ListCell(log_error_and_describe_for_desk(error), tone="bad"), "", "", "", "", ""))
    totals = tally.totals()
    state = folder.status(manifest, answers_missing=totals.answer_count < totals.planned)
    share = totals.answer_count / totals.planned if totals.planned else 1.0
    failed = ListCell(f"{totals.failed:,}", tone="bad" if totals.failed else "quiet")
    about = (folder.name, state, ", ".join(manifest.spec.systems), manifest.documents_description)
    return ListRow((*about, ListCell(f"{totals.answer_count:,}", share=share), f"{totals.planned:,}", failed))


def _read_tally_and_offsets(folder: RunFolder) -> tuple[AnswerTally, dict[str, int]]:
    """Read a run's counts and the byte offset of each key's record, read again only when its answers have grown."""
    return _read_tally_and_offsets_cached(folder.path, folder.answers_file_stamp())


@lru_cache(maxsize=64)
def _read_tally_and_offsets_cached(path: Path, _stamp: Stamp | None) -> tuple[AnswerTally, dict[str, int]]:
    return RunFolder(path).tally_records_and_map_offsets()


def _show_analyst_workloads_and_run_costs(desk: Desk, runs: dict[str, RunFolder]) -> None:
    stamp = (desk.current.event_count, len(desk.pool.arrivals), desk.pool.generation)
    works = cache_in_session("overview work", stamp, lambda: list_analyst_workloads(desk))
    if not works:
        return
    show_heading("Analysts")
    costs = number_column_heads("cost so far", "cost to come") if desk.people.rate is not None else ()
    times = number_column_heads("scored", "median time per answer", "time so far", "answers left", "time left")
    heads = ["analyst", *times, *costs, *number_column_heads("last seen (UTC)")]
    show_table_in_pages("overview analysts", "Analysts", heads, works, lambda work: _make_analyst_row(desk, work))
    st.caption(f"{describe_total_time_and_cost(desk, works)} {_describe_total_run_cost(runs)}")


def _make_analyst_row(desk: Desk, workload: AnalystWorkload) -> ListRow:
    latest = max((event.time for event in desk.current.scores_of_analyst(workload.analyst)), default="-")
    left_cells = (f"{workload.answers_left:,}", format_hours_and_minutes(workload.seconds_left))
    rate = desk.people.rate
    costs = (
        ()
        if rate is None
        else (format_time_cost(workload.seconds_spent, rate), format_time_cost(workload.seconds_left, rate))
    )
    times = (format_duration(workload.median_seconds), format_hours_and_minutes(workload.seconds_spent), *left_cells)
    return ListRow((workload.analyst, f"{workload.scored:,}", *times, *costs, format_utc_minute(latest)))


def _describe_total_run_cost(runs: dict[str, RunFolder]) -> str:
    """Describe what the runs' own requests cost; some runs have no price."""
    costs = []
    for folder in runs.values():
        with contextlib.suppress(GenaipaError):
            costs.append(_read_tally_and_offsets(folder)[0].totals().cost)
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return "The price of the runs' own requests is not known."
    without = f" ({len(runs) - len(priced):,} of {len(runs):,} runs have no price)" if len(priced) < len(runs) else ""
    return f"The runs' own requests cost {sum(priced):,.2f} US dollars{without}."


# -- the answers --


def _show_answers_recording_exposure(desk: Desk, visibility: AnswerVisibility, runs: dict[str, RunFolder]) -> None:
    show_heading("Answers")
    if not desk.pool.answers:
        show_notice("overview no answers", "There are no answers yet.")
        return
    answers = _filter_answers_by_select_boxes(desk, visibility, list(runs))
    if not answers:
        show_notice("overview no match", "No answer matches. Choose another run, document or question.")
        return
    state = st.session_state

    def remember_chosen_answer_in_session(digest: str) -> None:
        state[ANSWER] = digest

    def record_systems_of_page_as_seen(page: Sequence[PooledAnswer]) -> None:
        shown_of = [answer.digest for answer in page if visibility.can_see_system(answer.digest)]
        desk.queue.record_exposures(visibility.user.name, shown_of, sees_system=True)

    show_table_in_pages(
        "overview answers",
        "Answers",
        ["question", "answer begins", "wording", "document", "state", "scores", "system", "initialization", "run"],
        answers,
        lambda answer: _make_answer_row(desk, visibility, answer),
        chosen_row_id=state.get(ANSWER, ""),
        on_row_chosen=remember_chosen_answer_in_session,
        before_showing_page=record_systems_of_page_as_seen,
    )
    answer = desk.pool.answers.get(state.get(ANSWER, ""))
    if answer is None:
        st.caption("Choose an answer to read it with its question.")
        return
    try:
        _show_answer_recording_exposure(desk, visibility, answer, runs)
    except GenaipaError as error:
        show_notice("overview trouble", log_error_and_describe_for_desk(error), "bad")


@lru_cache(maxsize=1)
def _sort_answers_independently_of_runs(pool: AnswerPool, _arrived: int, _generation: int) -> list[PooledAnswer]:
    """Sort a pool's answers, not in the order of the runs, which would tell whose an answer is."""
    return sorted(pool.answers.values(), key=lambda a: (a.document, a.question, a.wording, a.digest))


def _filter_answers_by_select_boxes(
    desk: Desk, visibility: AnswerVisibility, run_names: list[str]
) -> list[PooledAnswer]:
    """Return the answers of the run, document and question chosen in the boxes."""
    pool = desk.pool
    order = _sort_answers_independently_of_runs(pool, len(pool.arrivals), pool.generation)
    boxes = st.columns(3)
    run = boxes[0].selectbox("Run", [ANY, *reversed(run_names)], key="overview run")
    document = boxes[1].selectbox("Document", [ANY, *sorted({a.document for a in order})], key="overview document")
    questions = sorted({a.question for a in order if document in (ANY, a.document)})
    question = boxes[2].selectbox("Question", [ANY, *questions], key="overview question")
    answers = [a for a in order if document in (ANY, a.document) and question in (ANY, a.question)]
    if run == ANY:
        return answers
    of_run = [answer for answer in answers if any(where.run == run for where in answer.occurrences)]
    listed = [answer for answer in of_run if visibility.can_see_system(answer.digest)]
    if len(listed) < len(of_run):
        left_out = len(of_run) - len(listed)
        st.caption(
            f"{left_out:,} answers of this run are left out, because you can still be asked to score them blind."
        )
    return listed


def _make_answer_row(desk: Desk, visibility: AnswerVisibility, answer: PooledAnswer) -> ListRow:
    source_cells: tuple[str | ListCell, ...] = (HIDDEN, HIDDEN, HIDDEN)
    if visibility.can_see_system(answer.digest):
        places = answer.occurrences
        source_cells = (
            _join_distinct_names(where.system for where in places),
            _join_distinct_names(where.initialization for where in places),
            _join_distinct_names(where.run for where in places),
        )
    score_count = len(desk.current.scores_by_analyst(answer.digest))
    is_wanted = is_in_wave_if_plan_has_one(desk.queue.plan, answer.digest)
    scores = (
        f"{score_count} of {desk.queue.count_wanted_scores(answer.digest)}"
        if is_wanted
        else f"{score_count}, not in the random part"
    )
    about = (
        answer.question,
        read_question_and_reply_beginning(desk, answer.digest)[1],
        answer.wording,
        answer.document,
        answer.status,
    )
    return ListRow((*about, scores, *source_cells), id=answer.digest)


def _join_distinct_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _show_answer_recording_exposure(
    desk: Desk, visibility: AnswerVisibility, answer: PooledAnswer, runs: dict[str, RunFolder]
) -> None:
    case = load_case_or_rerun_page(desk, answer.digest)
    show_heading("The answer with its question")
    if visibility.can_see_system(answer.digest):
        _show_conversation_recording_exposure(desk, visibility, answer, case, runs)
    else:
        show_notice(
            "overview blind",
            "You can still be asked to score this answer. Until you have scored it, its system, run and "
            "initialization, the messages before it, and the scores of others stay hidden, and the "
            "system's names are masked.",
        )
        _show_question_and_reply(case.asked_with_earlier_exchange, case.mask_names_in_reply())
    if annotated := annotated_answer_with_warning_if_wrong(case):
        show_texts("overview annotated", annotated)
    if visibility.can_see_scores(answer.digest):
        show_scores_recording_exposure(desk, visibility.user, answer, key_prefix="overview scores")


def _show_question_and_reply(question: str, reply: str) -> None:
    show_texts("overview reply", [TitledText(question, "Asked", tone="asked"), TitledText(reply, "Answer", fold=FOLD)])


def _show_conversation_recording_exposure(
    desk: Desk, visibility: AnswerVisibility, answer: PooledAnswer, case: ScoringCase, runs: dict[str, RunFolder]
) -> None:
    places = {f"{where.run}: {where.key}": where for where in answer.occurrences if where.run in runs}
    if len(places) > 1:
        where = places[st.selectbox("This answer was given in", list(places), key=f"overview place {answer.digest}")]
    else:
        where = next(iter(places.values()))
    folder = runs[where.run]
    record = _read_record_or_raise_if_moved(folder, where)
    messages = load_conversation_through_reply(folder, record, _read_tally_and_offsets(folder)[1])
    show_table("overview facts", "About this answer", ["", ""], _make_answer_fact_rows(where, record))
    before, digests = _list_earlier_texts_and_answer_digests(visibility, messages[:-2])
    desk.queue.record_exposures(visibility.user.name, [answer.digest, *digests], sees_system=True)
    if before:
        with st.expander(f"Earlier messages ({len(before)})"):
            show_texts("overview before", before)
    _show_question_and_reply(case.asked, case.reply)


def _read_record_or_raise_if_moved(folder: RunFolder, occurrence: Occurrence) -> Record:
    record = folder.read_records_at([occurrence.offset])[0]
    if record.key != occurrence.key:
        raise DataError(folder.answers_path, f"no longer has '{occurrence.key}' in the same place; reopen the desk.")
    return record


def _make_answer_fact_rows(occurrence: Occurrence, record: Record) -> list[ListRow]:
    usage = record.usage
    begun = f"{format_utc_minute(record.started)} UTC, " if record.started else ""
    facts = {
        "run": occurrence.run,
        "key": occurrence.key,
        "served by": record.model or "",
        "state": f"{record.status}{f' ({record.finish})' if record.finish else ''}",
        "time": f"{begun}{record.seconds:g} s, attempts: {record.attempts}",
        "tokens": f"{usage.input:,} in ({usage.cached:,} cached), {usage.output:,} out" if usage else "",
    }
    return [ListRow((ListCell(name, tone="quiet"), fact)) for name, fact in facts.items() if fact]


def _list_earlier_texts_and_answer_digests(
    visibility: AnswerVisibility, earlier_messages: Sequence[Message]
) -> tuple[list[TitledText], list[str]]:
    """List the messages before an answer, and the digests of the answers among them.

    Answers of the same system that are still to be scored blind are hidden.
    """
    shown_messages, digests = list[TitledText](), list[str]()
    for message in earlier_messages:
        if message.role == "user":
            shown_messages.append(
                TitledText(message.content, "Message to the system", message.purpose, "system", fold=FOLD)
            )
        elif not visibility.can_see_system(message.key):
            shown_messages.append(
                TitledText("Hidden: you can still be asked to score this answer.", "Reply", tone="note")
            )
        else:
            digests += filter(None, [message.key])
            shown_messages.append(TitledText(message.content, "Reply", message.purpose, fold=FOLD))
    return shown_messages, digests
