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
from genaipa.runs.inputs import conversation
from genaipa.scoring.assignment import is_requested
from genaipa.ui.answer_view import annotated_of, case_of, scores_of
from genaipa.ui.desk import in_all, lasting, price, workloads
from genaipa.ui.download import scores_button
from genaipa.ui.scoring_session import words_of
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    Text,
    desk_message,
    duration,
    format_time,
    heading,
    long_table,
    notice,
    numbers,
    page_header,
    problems,
    session_cached,
    table,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from genaipa.files.stamps import Stamp
    from genaipa.runs.records import Record
    from genaipa.runs.status import Tally
    from genaipa.scoring.answers import Case, Occurrence, Pool, PooledAnswer
    from genaipa.scoring.people import User
    from genaipa.systems.base import Message
    from genaipa.ui.desk import Desk, Workload

ANSWER = "overview answer"
"""Key of the chosen answer in the session's state."""
HIDDEN = ListCell("hidden", tone="quiet")


@dataclass(frozen=True)
class Visibility:
    """A user's visibility: every answer in full, unless it is `ahead` of them, still to be scored, and blind."""

    user: User
    ahead: AbstractSet[str]
    blind: bool

    @classmethod
    def of(cls, desk: Desk, user: User) -> Visibility:
        """The visibility for this user now."""
        ahead = desk.queue.answers_ahead(user.name) if user.scores else frozenset()
        return cls(user, ahead, desk.queue.plan.blind)

    def system(self, digest: str) -> bool:
        """Whether they may see which system gave it."""
        return not self.blind or self.scores(digest)

    def scores(self, digest: str) -> bool:
        """Whether they may see the scores of others."""
        return digest not in self.ahead


def page(desk: Desk, user: User) -> None:
    """Show the progress of the study, its runs and analysts, and the answers."""
    desk.pool.refresh()
    desk.current.refresh()
    page_header("Overview")
    problems("overview problems", desk.problems(user))
    if desk.pool.exclusion_note:
        st.caption(desk.pool.exclusion_note)
    _numbers(desk, user)
    runs = _runs(desk)
    if not runs:
        notice("overview none", "There is no run yet. Begin with: genaipa run --system extractive --policy brindlecart")
        return
    _analysts(desk, runs)
    scores_button(desk, user)
    _answers(desk, Visibility.of(desk, user), runs)


# -- progress --


def _numbers(desk: Desk, user: User) -> None:
    progress = desk.queue.progress(user.name)
    # Of all answers, to count them: which they are is not said here.
    disputes = session_cached(
        "overview disputes",
        (desk.current.event_count, desk.pool.generation),
        lambda: desk.queue.disputes(user.name, scores=False),
    )
    settled = sum(1 for dispute in disputes if dispute.settlement)
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
    if part_asked := session_cached(
        "overview part", (len(desk.pool.arrivals), desk.pool.generation), lambda: desk.part
    ):
        st.caption(part_asked)
    if any(len(answer.occurrences) > 1 for answer in desk.pool.answers.values()):
        st.caption("Equal texts about a document and question are one answer here, and scored once.")


def _runs(desk: Desk) -> dict[str, RunFolder]:
    folders = selection.folders(desk.workspace, desk.settings.runs, desk.settings.only)
    if folders:
        heading("Runs")
        heads = ["run", "state", "systems", "documents", *numbers("answered", "planned", "failed")]
        long_table("overview runs", "Runs", heads, folders[::-1], _run)
    return {folder.name: folder for folder in folders}


def _run(folder: RunFolder) -> ListRow:
    try:
        manifest = folder.manifest()
        tally, _ = _seen(folder)
    except GenaipaError as error:
        return ListRow((folder.name, ListCell(desk_message(error), tone="bad"), "", "", "", "", ""))
    totals = tally.totals()
    state = folder.status(manifest, missing=totals.kept < totals.planned)
    share = totals.kept / totals.planned if totals.planned else 1.0
    failed = ListCell(f"{totals.failed:,}", tone="bad" if totals.failed else "quiet")
    about = (folder.name, state, ", ".join(manifest.spec.systems), manifest.documents_in_words)
    return ListRow((*about, ListCell(f"{totals.kept:,}", share=share), f"{totals.planned:,}", failed))


def _seen(folder: RunFolder) -> tuple[Tally, dict[str, int]]:
    """A run's counts and the byte offset of each key's record, read again only when its answers have grown."""
    return _read(folder.path, folder.stamp())


@lru_cache(maxsize=64)
def _read(path: Path, _stamp: Stamp | None) -> tuple[Tally, dict[str, int]]:
    return RunFolder(path).seen()


def _analysts(desk: Desk, runs: dict[str, RunFolder]) -> None:
    stamp = (desk.current.event_count, len(desk.pool.arrivals), desk.pool.generation)
    works = session_cached("overview work", stamp, lambda: workloads(desk))
    if not works:
        return
    heading("Analysts")
    costs = numbers("cost so far", "cost to come") if desk.people.rate is not None else ()
    times = numbers("scored", "median time per answer", "time so far", "left", "time left")
    heads = ["analyst", *times, *costs, *numbers("last seen (UTC)")]
    long_table("overview analysts", "Analysts", heads, works, lambda work: _analyst(desk, work))
    st.caption(f"{in_all(desk, works)} {_cost_of_runs(runs)}")


def _analyst(desk: Desk, work: Workload) -> ListRow:
    latest = max((event.time for event in desk.current.history(work.analyst)), default="-")
    left = (f"{work.left:,}", lasting(work.ahead))
    rate = desk.people.rate
    costs = () if rate is None else (price(work.spent, rate), price(work.ahead, rate))
    times = (duration(work.each), lasting(work.spent), *left)
    return ListRow((work.analyst, f"{work.scored:,}", *times, *costs, format_time(latest)))


def _cost_of_runs(runs: dict[str, RunFolder]) -> str:
    """A sentence on what the runs' own requests cost; some runs have no price."""
    known = []
    for folder in runs.values():
        with contextlib.suppress(GenaipaError):
            known.append(_seen(folder)[0].totals().cost)
    priced = [cost for cost in known if cost is not None]
    if not priced:
        return "The price of the runs' own requests is not known."
    without = f" ({len(runs) - len(priced):,} of {len(runs):,} have no price)" if len(priced) < len(runs) else ""
    return f"The runs' own requests cost {sum(priced):,.2f} US dollars{without}."


# -- the answers --


def _answers(desk: Desk, visible: Visibility, runs: dict[str, RunFolder]) -> None:
    heading("Answers")
    if not desk.pool.answers:
        notice("overview no answers", "No answer is in yet.")
        return
    found = _found(desk, visible, list(runs))
    if not found:
        notice("overview no match", "No answer is listed here. Choose another run, document or question.")
        return
    state = st.session_state

    def choose(digest: str) -> None:
        state[ANSWER] = digest

    def expose(page: Sequence[PooledAnswer]) -> None:
        shown_of = [answer.digest for answer in page if visible.system(answer.digest)]
        desk.queue.record_exposures(visible.user.name, shown_of, system=True)

    long_table(
        "overview answers",
        "Answers",
        ["question", "answer begins", "wording", "document", "state", "scores", "system", "initialization", "run"],
        found,
        lambda answer: _answer(desk, visible, answer),
        chosen=state.get(ANSWER, ""),
        choose=choose,
        before=expose,
    )
    answer = desk.pool.answers.get(state.get(ANSWER, ""))
    if answer is None:
        st.caption("Choose an answer to read it as it was asked.")
        return
    try:
        _read_answer(desk, visible, answer, runs)
    except GenaipaError as error:
        notice("overview trouble", desk_message(error), "bad")


@lru_cache(maxsize=1)
def _ordered(pool: Pool, _arrived: int, _generation: int) -> list[PooledAnswer]:
    """A pool's answers, not in the order of the runs, which would tell whose an answer is."""
    return sorted(pool.answers.values(), key=lambda a: (a.document, a.question, a.wording, a.digest))


def _found(desk: Desk, visible: Visibility, runs: list[str]) -> list[PooledAnswer]:
    """The answers of the run, document and question that the boxes choose."""
    pool = desk.pool
    order = _ordered(pool, len(pool.arrivals), pool.generation)
    boxes = st.columns(3)
    run = boxes[0].selectbox("Run", [ANY, *reversed(runs)], key="overview run")
    document = boxes[1].selectbox("Document", [ANY, *sorted({a.document for a in order})], key="overview document")
    asked = sorted({a.question for a in order if document in (ANY, a.document)})
    question = boxes[2].selectbox("Question", [ANY, *asked], key="overview question")
    found = [a for a in order if document in (ANY, a.document) and question in (ANY, a.question)]
    if run == ANY:
        return found
    of_run = [answer for answer in found if any(where.run == run for where in answer.occurrences)]
    listed = [answer for answer in of_run if visible.system(answer.digest)]
    if len(listed) < len(of_run):
        left_out = len(of_run) - len(listed)
        st.caption(f"{left_out:,} answers of this run are left out: you can still be asked to score them, blind.")
    return listed


def _answer(desk: Desk, visible: Visibility, answer: PooledAnswer) -> ListRow:
    whose: tuple[str | ListCell, ...] = (HIDDEN, HIDDEN, HIDDEN)
    if visible.system(answer.digest):
        places = answer.occurrences
        whose = (
            _listed(where.system for where in places),
            _listed(where.initialization for where in places),
            _listed(where.run for where in places),
        )
    given = len(desk.current.scores(answer.digest))
    asked = is_requested(desk.queue.plan, answer.digest)
    scores = f"{given} of {desk.queue.count_wanted_scores(answer.digest)}" if asked else f"{given}, not in the wave"
    about = (answer.question, words_of(desk, answer.digest)[1], answer.wording, answer.document, answer.status)
    return ListRow((*about, scores, *whose), id=answer.digest)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _read_answer(desk: Desk, visible: Visibility, answer: PooledAnswer, runs: dict[str, RunFolder]) -> None:
    case = case_of(desk, answer.digest)
    heading("The answer as it was asked")
    if visible.system(answer.digest):
        _conversation(desk, visible, answer, case, runs)
    else:
        notice(
            "overview blind",
            "You can still be asked to score this answer. Until you have, its system, run and initialization, what "
            "was said before it, and the scores of others stay hidden, and the system's names are masked.",
        )
        _question_and_reply(case.asked, case.mask_reply())
    if annotated := annotated_of(case):
        texts("overview annotated", annotated)
    if visible.scores(answer.digest):
        scores_of(desk, visible.user, answer, key="overview scores")


def _question_and_reply(asked: str, reply: str) -> None:
    texts("overview reply", [Text(asked, "Asked", tone="asked"), Text(reply, "Answer", fold=FOLD)])


def _conversation(
    desk: Desk, visible: Visibility, answer: PooledAnswer, case: Case, runs: dict[str, RunFolder]
) -> None:
    places = {f"{where.run}: {where.key}": where for where in answer.occurrences if where.run in runs}
    if len(places) > 1:
        where = places[st.selectbox("This text was given in", list(places), key=f"overview place {answer.digest}")]
    else:
        where = next(iter(places.values()))
    folder = runs[where.run]
    record = _record(folder, where)
    messages = conversation(folder, record, _seen(folder)[1])
    table("overview facts", "About this answer", ["", ""], _facts(where, record))
    before, digests = _before(visible, messages[:-2])
    desk.queue.record_exposures(visible.user.name, [answer.digest, *digests], system=True)
    if before:
        with st.expander(f"Earlier messages ({len(before)})"):
            texts("overview before", before)
    _question_and_reply(case.asked, case.reply)


def _record(folder: RunFolder, where: Occurrence) -> Record:
    record = folder.records_at([where.offset])[0]
    if record.key != where.key:
        raise DataError(folder.answers, f"no longer holds '{where.key}' where it was; open the desk again.")
    return record


def _facts(where: Occurrence, record: Record) -> list[ListRow]:
    usage = record.usage
    facts = {
        "run": where.run,
        "key": where.key,
        "served by": record.model or "",
        "state": f"{record.status}{f' ({record.finish})' if record.finish else ''}",
        "time": f"{format_time(record.started)} UTC, {record.seconds:g} s, attempts: {record.attempts}",
        "tokens": f"{usage.input:,} in ({usage.cached:,} cached), {usage.output:,} out" if usage else "",
    }
    return [ListRow((ListCell(name, tone="quiet"), fact)) for name, fact in facts.items() if fact]


def _before(visible: Visibility, messages: Sequence[Message]) -> tuple[list[Text], list[str]]:
    """The messages before an answer, and the digests of the answers among them.

    Answers of the same system that are still to be scored blind are hidden.
    """
    shown_messages, digests = list[Text](), list[str]()
    for message in messages:
        if message.role == "user":
            shown_messages.append(Text(message.content, "Said to it", message.purpose, "system", fold=FOLD))
        elif not visible.system(message.key):
            shown_messages.append(Text("Hidden: you can still be asked to score this answer.", "Reply", tone="note"))
        else:
            digests += filter(None, [message.key])
            shown_messages.append(Text(message.content, "Reply", message.purpose, fold=FOLD))
    return shown_messages, digests
