"""Events of the scoring desk, appended to a log and never changed: a correction is a new score, an undo an event too.

Which of them are in effect is derived from the log (see `scoring.current`). It can't be altered unseen: each event
has a digest of its content and of the digest before it. Whoever changes an event, takes one out or puts one in would
have to make every digest after it again, and the last one is easily noted elsewhere.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import msgspec

from genaipa.questions.annotations import Correction, correction_flaws
from genaipa.questions.points import Ticks
from genaipa.scoring.rubric import Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.scoring.rubric import Rubric
    from genaipa.scoring.store import ScoreStore


EventKind = Literal[
    "score", "adjudication", "undo", "skip", "look", "objection", "ruling", "pin", "again", "mean", "anchor"
]
Scorer = Literal["human", "machine"]
Order = Literal["question", "document", "random"]
"""The order in which the desk brings up answers: see `assignment.ScoringPlan`."""
ORDERS: dict[str, Order] = {order: order for order in get_args(Order)}
VALUED: tuple[EventKind, ...] = ("score", "adjudication")
"""The kinds of events that give values."""
EXPOSURE: EventKind = "look"
"""The kind of event, by its word in the log, that says that an analyst saw an answer's system or others' scores."""
SEND_BACK: EventKind = "again"
"""The kind of event by which an adjudicator sends an answer back to those who have scored it, with a word (`note`)."""
MEAN: EventKind = "mean"
"""The kind of event by which an adjudicator lets scores stand that hardly differ: their mean counts, as before."""
ANCHOR: EventKind = "anchor"
"""The kind of event that has a judge's values of an answer that it judged on an earlier day: it is in no average."""
JUDGING: tuple[EventKind, ...] = (*VALUED, SEND_BACK, MEAN)
"""The kinds of events by which an analyst or adjudicator decides what an answer is worth: never its author."""
LASTING: tuple[EventKind, ...] = ("undo", EXPOSURE, "ruling", "pin", ANCHOR)
"""The kinds of events that can't be undone; a ruling or a pin is replaced by a later one."""


class Objection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="objection"):
    """An analyst's word that an annotated answer is wrong, with what is right in its place.

    The annotated answer is that to `question` of the set `questions` about `document`, whose text has the SHA-256
    `digest`. The correction's proof is a place in this text, so that no log of scores quotes a document.
    """

    document: str
    digest: str
    questions: str
    question: str
    correction: Correction


class Ruling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="ruling"):
    """The decision on the `objection` with this id: the correction that is accepted, or None if it is rejected."""

    objection: str
    correction: Correction | None = None


class Pin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="pin"):
    """The passage of a document at which whoever scores later answers to the question begins to read.

    Document and question are as in an objection. The passage is its place in the text `at` (first character, and the
    one after the last) and the SHA-256 of these characters; without a place, none is pinned any more.
    """

    document: str
    digest: str
    questions: str
    question: str
    at: tuple[int, int] | None = None
    sha256: str = ""

    @property
    def digest_question_set_and_question(self) -> tuple[str, str, str]:
        """The digest of the text, the question set and the question, for which the latest pin counts."""
        return self.digest, self.questions, self.question


class ScreenContents(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was on an analyst's screen that could lead them: beneath the answer, in its words, and at metrics.

    `nearest` are the document's sentences beneath the answer's, `grey` words that the answer before had, too.
    `evidence` and `suggestion` are the metrics at which there was some, `withheld` the values that would have been
    suggested, by metric. `aids` are the desk's aids for this answer (`aids.load_built_in_and_plugin_aids`), each with
    whether it was shown, or withheld by chance; it is empty in scores of before this was drawn.
    """

    nearest: bool = False
    grey: bool = False
    evidence: tuple[str, ...] = ()
    suggestion: tuple[str, ...] = ()
    withheld: dict[str, float] = {}
    aids: dict[str, bool] = {}


_ABOUT: dict[type, EventKind] = {Objection: "objection", Ruling: "ruling", Pin: "pin"}
"""The kinds of events that are about a question and its annotated answer, by what they say of it."""


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One line of the log of scores.

    `id` is made once where the event is made, so that the same event sent twice is kept once. `answer` is the answer's
    digest (`Record.digest`), so that a score can't slide onto another text. Scores, adjudications and anchors have
    `values`, undos have `undoes` (the id of an earlier event of the same analyst). `seconds` is how long the answer was
    on the analyst's screen. `suggested` are the values suggested on screen, metric by metric; `preselected` that they
    were filled in before the analyst chose, as desks once did. `blind` says that the analyst had not seen whose answer
    it was, and `independent` that they had not seen how others scored it; an exposure records either. `calibration`
    says that the score was given to be compared with a reference analyst's. `rubric` names the rubric by which values
    were given; it is empty in scores of before it was kept, which were given by the paper's. `order` is the one in
    which the desk brought the answer up; it is empty for scores of before it was kept, and from elsewhere. `pinned`
    says that a pinned passage was on screen, `shown` what else was; it is None for scores of before it was kept, and
    from elsewhere. `ticks` are the points that the answer says or contradicts, None unless they were asked for.
    `annotation` is what an objection says of the annotated answer beside this answer, a ruling of an objection, or a
    pin of the question's passage.
    """

    id: str
    time: str
    kind: EventKind
    analyst: str
    answer: str
    values: Values | None = None
    note: str = ""
    seconds: float | None = None
    scorer: Scorer = "human"
    undoes: str = ""
    suggested: dict[str, float] = {}
    preselected: bool = False
    blind: bool = True
    independent: bool = True
    calibration: bool = False
    rubric: str = ""
    order: Order | Literal[""] = ""
    pinned: bool = False
    shown: ScreenContents | None = None
    ticks: Ticks | None = None
    annotation: Objection | Ruling | Pin | None = None

    @property
    def is_score_adjudication_or_undo(self) -> bool:
        """Whether it gives or withdraws values (an undo perhaps a skip or an objection only)."""
        return self.kind in (*VALUED, "undo")

    @property
    def undone_or_ruled_event_id(self) -> str:
        """The id of the earlier event that an undo or a ruling is about; empty for others."""
        return self.annotation.objection if isinstance(self.annotation, Ruling) else self.undoes


DraftKind = Literal["score", "adjudication", "reply"]


class Draft(msgspec.Struct, frozen=True):
    """A score that is not finished: it is overwritten as it grows, and gone once the score is in.

    A draft of a `reply` has its text as the note, and for its answer the run and the key of what is to be answered.

    `typed` has one character for each metric: the digit that was typed, or a dot; it is empty before the first.
    `updated` is when the store got it, and `after` the number of the last event that it held then, which no clock that
    is set back can confuse. `turn` and `revision` tell the browser whether it kept a later state of the same draft;
    `ticks` and `shown` are as in the score that it will be. Drafts of before may have a field that there is no longer.
    """

    analyst: str
    answer: str
    kind: DraftKind
    typed: str = ""
    note: str = ""
    seconds: float = 0.0
    updated: str = ""
    after: int = 0
    turn: str = ""
    revision: int = 0
    ticks: Ticks | msgspec.UnsetType = msgspec.UNSET
    shown: ScreenContents | msgspec.UnsetType = msgspec.UNSET


def make_event_decoder(rubric: Rubric | None = None) -> msgspec.json.Decoder[Event]:
    """Return a decoder of events whose values are the rubric's; without one, values of any metrics."""

    def decode_values(_: object, raw: dict[str, float]) -> Values:
        if not isinstance(raw, dict) or not {bool, str}.isdisjoint(map(type, raw.values())):
            raise TypeError("values must map metrics to numbers")
        return Values(raw)

    if rubric is None:
        return msgspec.json.Decoder(Event, dec_hook=decode_values)
    shared_values: dict[tuple[float, ...], Values] = {}

    def decode_shared_values(_: object, raw: dict[str, float]) -> Values:
        # Scores come by the hundred thousand, and with a few hundred different values.
        numbers = tuple(raw.values()) if isinstance(raw, dict) else ()
        values = shared_values.get(numbers)
        if values is None or values != raw:
            values = shared_values[numbers] = rubric.make_values(decode_values(_, raw))
        return values

    return msgspec.json.Decoder(Event, dec_hook=decode_shared_values)


def new_event_id() -> str:
    """Return an id that no other event has."""
    return uuid.uuid4().hex


_OTHERS: dict[Scorer, tuple[str, str]] = {"machine": ("a machine", "people"), "human": ("a person", "judges")}


def find_event_problem(event: Event, rubric: Rubric) -> str:
    """Return what is wrong with an event by itself, as a sentence; empty if nothing. Values must be the rubric's."""
    valued = event.kind in (*VALUED, ANCHOR)
    if valued != (event.values is not None):
        return f"the {event.kind} must {'' if valued else 'not '}have values."
    if event.values is not None:
        try:
            rubric.make_values(event.values)
        except ValueError as error:
            return f"{error}."
    if event.ticks and (not valued or not set(event.ticks.said).isdisjoint(event.ticks.contradicted)):
        return "only a score or an adjudication can tick points, and no point can be both said and contradicted."
    if (event.kind == "undo") != bool(event.undoes):
        return "an undo, and no other event, must name the event that it undoes."
    if event.kind not in (("score", "undo", ANCHOR) if event.scorer == "machine" else get_args(EventKind)[:-1]):
        who, other_scorers = _OTHERS[event.scorer]
        return f"{who} can't be the scorer of the event '{event.kind}'; only {other_scorers} can."
    return _find_annotation_problem(event)


def _find_annotation_problem(event: Event) -> str:
    """Return the problem of an event's word on a question, which objections, rulings and pins have, and no others.

    Whoever sends an answer back has a word for those who are to look again, which is the note.
    """
    annotation = event.annotation
    if event.kind == SEND_BACK and not event.note.strip():
        return "an answer that is sent back needs a note that says what to check."
    if _ABOUT.get(type(annotation)) != (event.kind if event.kind in _ABOUT.values() else None):
        if event.kind in _ABOUT.values():
            return f"the {event.kind} needs an 'annotation' of the type '{event.kind}'."
        return f"the {event.kind} must not have an 'annotation'."
    if isinstance(annotation, Pin):
        placed = annotation.at is not None and 0 <= annotation.at[0] < annotation.at[1] and bool(annotation.sha256)
        none = annotation.at is None and not annotation.sha256
        return (
            ""
            if placed or none
            else "its passage needs both a position in the text (at) and the sha256 of its characters."
        )
    flaw = next(correction_flaws(annotation.correction), "") if annotation and annotation.correction else ""
    return f"its correction {flaw}" if flaw else ""


def find_problem_of_referenced_event(event: Event, earlier_event: Event | None) -> str:
    """Return the problem of an undo or a ruling with the event it refers to (None: there is none); empty if it fits."""
    if event.kind == "ruling":
        has_objection = earlier_event is not None and earlier_event.kind == "objection"
        return "" if has_objection else f"there is no objection '{event.undone_or_ruled_event_id}' to settle."
    if (
        earlier_event
        and earlier_event.kind not in LASTING
        and (earlier_event.analyst, earlier_event.answer) == (event.analyst, event.answer)
    ):
        return ""
    return f"{event.analyst} has no event '{event.undoes}' on this answer that can be undone."


CHAIN_START = ""
"""Digest before the first event."""
_decode = make_event_decoder().decode
CHECKED_TAIL = 100
"""Events whose digests are checked whenever a log is opened."""


class LogRow(NamedTuple):
    """An event as its row holds it: its number, its columns, its JSON, and its digest."""

    number: int
    id: str
    answer: str
    event: str
    digest: str


class LogState(NamedTuple):
    """The state of a database's log: its number of events, and the digest of the last one."""

    events: int
    head: str


class VerifiedLog(msgspec.Struct, frozen=True):
    """The result of reading a whole log: `breaks` has a sentence for each event that is not as it was written.

    One more says that the database itself no longer refuses to change events, where its triggers were dropped.

    `events` are the present ones, `head` is the digest of the last one.
    """

    events: int
    head: str
    breaks: list[str]


def chain_digest(previous_digest: str, event_json: str) -> str:
    """Return the digest of an event, given its JSON and the digest of the event before it."""
    return hashlib.sha256(f"{previous_digest}\n{event_json}".encode()).hexdigest()


def verify_log_and_list_breaks(store: ScoreStore, noted_head: str = "") -> VerifiedLog:
    """Check every event of a log against its digest; `noted_head` is the last digest as it was noted at some time.

    A GenaipaError where the log can't be read.
    """
    state = store.log_state()
    breaks: list[str] = []
    count, before, noted = 0, CHAIN_START, not noted_head
    for link in store.read_log_rows():
        breaks += _find_log_row_problems(link, before)
        count, before = count + 1, link.digest
        noted = noted or link.digest == noted_head
        if count == state.events and link.digest != state.head:
            breaks.append(
                f"event {link.number} is not the last event that genaipa wrote: events were removed or added."
            )
    last = store.log_state()
    if count > last.events:
        extra = count - last.events
        breaks.append(f"{extra:,} of {count:,} events {'was' if extra == 1 else 'were'} added by another program.")
    if count < state.events:
        missing = state.events - count
        breaks.append(f"{missing:,} of {state.events:,} events {'is' if missing == 1 else 'are'} missing.")
    if not noted:
        breaks.append(f"the log does not contain the given head ({noted_head[:12]}…), so it was rebuilt since.")
    if lost := store.list_damaged_guard_triggers():
        gone = " and ".join(lost)
        breaks.append(f"the database no longer prevents changes to events: somebody changed or dropped {gone}.")
    return VerifiedLog(count, before, breaks)


def find_log_tail_problems(last_rows_with_head: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the problems of the last events of a log.

    `last_rows_with_head` are the last `CHECKED_TAIL` events and the one before them, each a `LogRow` and the head of
    the log; where there is no event, one row of the head alone.
    """
    if not last_rows_with_head:
        yield "the digest of its last event is missing."
    links = [LogRow(*row[:-1]) for row in last_rows_with_head if row[0] is not None]
    before = links.pop(0).digest if len(links) > CHECKED_TAIL else CHAIN_START
    for link in links:
        yield from _find_log_row_problems(link, before)
        before = link.digest
    if before != (last_rows_with_head[0][-1] if last_rows_with_head else CHAIN_START):
        yield "its last event is not the last event that genaipa wrote."


def _find_log_row_problems(row: LogRow, previous_digest: str) -> Iterator[str]:
    named = f"event {row.number} ({row.id})"
    if row.number < 1:
        yield f"{named} has a number below 1, so genaipa never reads it."
    if not row.digest:
        yield f"{named} has no digest, so genaipa did not write it."
    elif row.digest != chain_digest(previous_digest, row.event):
        yield f"{named} or the event before it was changed after it was written."
    try:
        event = _decode(row.event)
    except msgspec.DecodeError:
        yield f"{named} can't be read."
        return
    if (event.id, event.answer) != (row.id, row.answer):
        yield f"{named} is stored under an id or answer that differs from its own."
