"""The Score page beside its pad: the session's state, and what an analyst has there for the answer on screen.

That is the passage that is pinned for the question, where one begins to read for later answers to it; the analyst's
own objection to the annotated answer, and nobody else's; their last answers, to go back to, and their notes, to be
written again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import streamlit as st
from msgspec import UNSET

from genaipa.errors import GenaipaError, UsageError
from genaipa.files.text import sha256_of
from genaipa.questions.annotations import SAID
from genaipa.scoring.aids import draw_withheld_aids, list_built_in_aids_in_plan, load_built_in_and_plugin_aids
from genaipa.scoring.events import Draft, Objection, Pin, ScreenContents, new_event_id
from genaipa.scoring.evidence.nearest import load_sentence_index
from genaipa.scoring.objections import (
    collect_objections_even_withdrawn,
    find_unwithdrawn_objection_of_analyst,
    make_correction,
)
from genaipa.scoring.rubric import format_signed_value
from genaipa.ui.answer_view import PreparedAnswer, count_utf16_units, prepare_answer
from genaipa.ui.panel import load_panels_enabled_by_plan
from genaipa.ui.widgets import log_error_and_describe_for_desk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.answers import ScoringCase
    from genaipa.scoring.events import Event
    from genaipa.scoring.objections import FiledObjection
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


@dataclass
class OpenAnswer:
    """An answer on an analyst's screen. `id` becomes the id of its score, so that Enter pressed twice is one score."""

    analyst: str
    answer: str
    mode: Literal["score", "correction"]
    id: str
    draft: Draft
    shown: Draft
    """The draft that the browser was sent; what it has typed since, it knows."""
    trouble: str = ""
    objection: str = ""
    """A sentence on why the last objection to its annotated answer was not kept."""
    pinned: bool = False
    """Whether a pinned passage was on screen."""


@dataclass
class ScoringSession:
    """The state of this page in one browser session.

    Streamlit may interrupt a callback wherever it accesses the session's state, if the browser has sent something else
    meanwhile. So a callback fetches this object once, before it does anything, and changes that.
    """

    opened: OpenAnswer | None = None
    settled: str = ""
    """The id of the answer that was finished last."""
    answered: int = 0
    """The number of the last act that was carried out."""
    message: str = ""
    comparison: dict[str, Any] | None = None
    """This answer's score beside the reference analyst's, while that is on screen."""
    begun: bool = False
    """Whether an answer was on screen before."""
    shown: dict[str, dict[str, Any]] | None = None
    """The pad's parts when it was last on screen: the document, the answer, and this analyst's turn at it."""
    following: OpenAnswer | None = None
    """The answer after it, which the browser has already."""
    next_shown: dict[str, dict[str, Any]] | None = None
    """The parts of that; None until they are made."""
    documents: list[str] = field(default_factory=lambda: ["", ""])
    """The digests of the documents that the browser has, by their places there."""
    stays: bool = False
    """Whether nothing but drafts came since: then it is on screen as it should be."""


def get_or_create_scoring_session() -> ScoringSession:
    """Return this browser session's state, made when it is first asked for."""
    session: ScoringSession = st.session_state.setdefault("scoring session", ScoringSession())
    return session


def load_prepared_answer(desk: Desk, analyst: str, answer_digest: str) -> PreparedAnswer:
    """Load an answer ready to be shown to an analyst; a GenaipaError if it can't be read."""
    return _prepare_answer_cached(
        desk, answer_digest, desk.rubric.digest, _list_withheld_aids(desk, analyst, answer_digest)
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def _prepare_answer_cached(
    _desk: Desk,
    digest: str,
    rubric_digest: str,  # noqa: ARG001 - part of the key
    withheld_aids: tuple[str, ...],
) -> PreparedAnswer:
    # The desk is one for the whole server. Its digest tells answers apart; the rubric is for tests with two of them.
    plan = _desk.queue.plan
    return prepare_answer(
        _desk.pool.load_case(digest),
        _desk.rubric,
        mask_system_names=plan.blind,
        built_in_aids=list_built_in_aids_in_plan(plan),
        withheld_aids=withheld_aids,
        panels=load_panels_enabled_by_plan(plan),
    )


def _list_withheld_aids(desk: Desk, analyst: str, answer_digest: str) -> tuple[str, ...]:
    """Name the aids that are withheld from an analyst at an answer; from a correction, those that were at the score."""
    score = desk.current.find_score(answer_digest, analyst)
    if score is not None:
        return tuple(name for name, is_shown in score.shown.aids.items() if not is_shown) if score.shown else ()
    withheld_aids = draw_withheld_aids(
        load_built_in_and_plugin_aids(), seed=desk.queue.plan.seed, answer_digest=answer_digest, analyst=analyst
    )
    return tuple(sorted(withheld_aids))


def open_answer_with_draft_or_score(desk: Desk, user: User, answer_digest: str) -> OpenAnswer:
    """Open an answer with its draft, else with the score to be corrected, else empty."""
    score = desk.current.find_score(answer_digest, user.name)
    draft = (
        desk.store.load_draft(user.name, answer_digest, "score")
        or _convert_score_to_draft(desk, score)
        or Draft(user.name, answer_digest, "score")
    )
    mode: Literal["score", "correction"] = "correction" if score else "score"
    return OpenAnswer(user.name, answer_digest, mode, new_event_id(), draft, draft)


def _convert_score_to_draft(desk: Desk, score: Event | None) -> Draft | None:
    if score is None or score.values is None:
        return None
    return Draft(
        score.analyst,
        score.answer,
        "score",
        typed=desk.rubric.format_as_digits(score.values),
        note=score.note,
        # A correction adds to the time that it took.
        seconds=score.seconds or 0.0,
        updated=score.time,
        ticks=score.ticks or UNSET,
        shown=score.shown or UNSET,
    )


def parse_screen_contents_from_browser(
    prepared: PreparedAnswer, browser_data: Mapping[str, Any], corrected_score: Event | None = None
) -> ScreenContents | None:
    """Read what the browser says that it showed of an answer, beside the score that the analyst corrects, if any.

    None where it says nothing, and a ValueError where it says anything else. A correction keeps what chance withheld at
    the score: its analyst has read the answer.
    """
    if "shown" not in browser_data:
        return None
    try:
        report = msgspec.convert(browser_data["shown"], ScreenContents)
    except msgspec.ValidationError as error:
        raise ValueError(f"what was shown can't be read ({error})") from None
    return ScreenContents(
        nearest=report.nearest,
        grey=report.grey,
        evidence=tuple(metric for metric in prepared.screen_data["evidence"] if metric in report.evidence),
        suggestion=tuple(metric for metric in prepared.suggested if metric in report.suggestion),
        withheld={metric: value for metric, value in prepared.withheld.items() if metric in report.suggestion},
        aids=prepared.aids if corrected_score is None else corrected_score.shown.aids if corrected_score.shown else {},
    )


def find_shared_pin_range_for_browser(desk: Desk, user: User, case: ScoringCase) -> dict[str, int] | None:
    """Find the place of the pinned passage as JavaScript counts characters; None without, and while calibrating."""
    if desk.queue.would_score_count_as_calibration(case.answer.digest, user.name):
        return None
    event = desk.current.find_pin(_make_empty_pin(case).digest_question_set_and_question)
    text, pin = case.document.text, event and event.annotation
    if not isinstance(pin, Pin) or pin.at is None or sha256_of(text[slice(*pin.at)]) != pin.sha256:
        return None
    return {"at": count_utf16_units(text[: pin.at[0]]), "length": count_utf16_units(text[slice(*pin.at)])}


def save_or_remove_passage_pin(desk: Desk, user: User, case: ScoringCase, request: Mapping[str, Any]) -> None:
    """Pin a passage in the place of an earlier one, or take it away; a UsageError where this user may not."""
    if desk.queue.would_score_count_as_calibration(case.answer.digest, user.name):
        raise UsageError("you can't pin a passage while your scores are compared with the reference analyst's.")
    text, no_pin = case.document.text, _make_empty_pin(case)
    start, end = (
        _convert_utf16_to_character_offset(text, int(request["at"]) + offset) for offset in (0, int(request["length"]))
    )
    if not text[start:end].strip():
        raise UsageError("the document has no such passage.")
    if request["word"]:
        # What is searched for is a word or two: pinned is the sentence that has it.
        around = (
            (sentence.start, sentence.end)
            for sentence in load_sentence_index(text).sentences
            if sentence.start <= start and end <= sentence.end
        )
        start, end = next(around, (start, end))
    pin = Pin(no_pin.document, *no_pin.digest_question_set_and_question, (start, end), sha256_of(text[start:end]))
    before = desk.current.find_pin(no_pin.digest_question_set_and_question)
    is_same_pin = before is not None and before.annotation == pin
    if before is not None and is_same_pin and request["remove"]:
        if user.name != before.analyst and not user.adjudicates:
            raise UsageError(
                "only the analyst who pinned this passage, or an adjudicator, can unpin it; you can pin another."
            )
        desk.queue.pin_passage(user.name, case.answer.digest, no_pin)
    elif not is_same_pin and not request["remove"]:
        desk.queue.pin_passage(user.name, case.answer.digest, pin)


def _make_empty_pin(case: ScoringCase) -> Pin:
    """Make a pin of no passage for a case's question."""
    return Pin(case.document.name, case.document.digest, case.questions, case.answer.question)


def _convert_utf16_to_character_offset(text: str, utf16_offset: int) -> int:
    """Convert an offset that JavaScript counted to characters."""
    return len(text.encode("utf-16-le")[: 2 * max(utf16_offset, 0)].decode("utf-16-le", "ignore"))


def make_own_objection_data(
    desk: Desk, analyst: str, case: ScoringCase, failure_sentence: str
) -> dict[str, Any] | None:
    """Describe the analyst's objection, if any, for the pad; None if there is no annotated answer."""
    if case.annotated is None:
        return None
    mine = _find_own_objection(desk, analyst, case)
    correction = mine.objection.correction if mine else None
    return {
        "mine": correction
        and {
            "passage": correction.find_proving_sentence_or_empty(case.document.text),
            "silent": correction.silent or case.annotated.silent,
            "answer": correction.answer,
            "why": correction.why,
        },
        "trouble": failure_sentence,
    }


def save_or_withdraw_objection_or_explain(
    desk: Desk, analyst: str, case: ScoringCase, request: Mapping[str, Any] | None
) -> str:
    """Keep an objection, or withdraw it (None); the sentence that says why it is not kept, empty if it is."""
    mine = _find_own_objection(desk, analyst, case)
    try:
        if request is not None:
            _file_objection_if_changed(desk, analyst, case, request, mine)
        elif mine is not None:
            desk.queue.withdraw_event_and_restore_draft(mine.event)
    except GenaipaError as error:
        return f"Not saved: {log_error_and_describe_for_desk(error)}"
    return ""


def _file_objection_if_changed(
    desk: Desk, analyst: str, case: ScoringCase, request: Mapping[str, Any], earlier_objection: FiledObjection | None
) -> None:
    chosen = next((value for value in SAID if value == request["silent"]), None)
    changed = case.annotated is not None and chosen != case.annotated.silent
    passage, answer, why = (str(request[name]) for name in ("passage", "answer", "why"))
    before = case.annotated.silent if case.annotated else None
    silent = chosen if changed else None
    correction = make_correction(case.document, passage, silent=silent, answer=answer, why=why, annotated_silent=before)
    if earlier_objection is None or earlier_objection.objection.correction != correction:
        about = (case.document.name, case.document.digest, case.questions, case.answer.question)
        desk.queue.file_objection_replacing_earlier(analyst, case.answer.digest, Objection(*about, correction))


def _find_own_objection(desk: Desk, analyst: str, case: ScoringCase) -> FiledObjection | None:
    about = (case.document.digest, case.questions, case.answer.question)
    return find_unwithdrawn_objection_of_analyst(
        collect_objections_even_withdrawn(desk.current.list_objections_undos_and_rulings()), analyst, about
    )


_LAST = 10
"""Answers that one can go back to from the list."""
_AMONG = 200
"""Last scores whose notes can be completed."""
_BEGINNING = 120
"""Characters of an answer by which it is known again."""
_NOTES = 20
_LONGEST = 200
"""Characters of a note that is worth repeating."""


def make_recent_scores_and_notes_data(desk: Desk, analyst: str) -> dict[str, Any]:
    """List this analyst's last answers and notes, the latest first, for the pad; nothing of anybody else's."""
    scores = desk.queue.current_scores_and_pace(analyst).scores
    notes = dict.fromkeys(" ".join(score.note.split()) for score in reversed(scores[-_AMONG:]))
    return {
        "answers": [_make_past_score_data(desk, score) for score in reversed(scores[-_LAST:])],
        "notes": [note for note in notes if 0 < len(note) <= _LONGEST][:_NOTES],
    }


def _make_past_score_data(desk: Desk, score: Event) -> dict[str, Any]:
    assert score.values is not None, "a score has values"
    question, begins = read_question_and_reply_beginning(desk, score.answer)
    return {
        "answer": score.answer,
        "question": question,
        "begins": begins,
        "document": desk.pool.answers[score.answer].document,
        "values": " ".join(map(format_signed_value, score.values.values())),
        "note": score.note,
        "time": score.time,
    }


@st.cache_data(max_entries=2048, show_spinner=False)
def read_question_and_reply_beginning(_desk: Desk, answer_digest: str) -> tuple[str, str]:
    """Read an answer's question, and how the answer on screen begins; the question's id where unreadable."""
    try:
        case = _desk.pool.load_case(answer_digest)
    except GenaipaError:
        return _desk.pool.answers[answer_digest].question, ""
    reply = case.mask_names_in_reply() if _desk.queue.plan.blind else case.reply
    return case.asked, " ".join(reply[: 2 * _BEGINNING].split())[:_BEGINNING]
