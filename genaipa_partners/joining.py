"""Partners' scores as scores of the one study: of its answers, by analysts of a partner.

An event's id says whose it is, so that what was joined is known again. New events come in the order of their times,
each partner's in their own, whatever the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.runs.authors import AnswerAuthors
from genaipa.scoring.events import Ruling
from genaipa.scoring.importing import (
    ReadEvent,
    event_content_without_time_and_ticks,
    find_imported_event_problem,
    store_events_or_return_problems,
)
from genaipa_partners.split import name_analyst_of_partner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from genaipa.scoring.events import Event
    from genaipa.scoring.store import ScoreStore
    from genaipa_partners.returning import ReturnedLog
    from genaipa_partners.split import PartnerShare, StudySplit

_MARK = "partner:"


def read_partner_or_empty(event: Event) -> str:
    """Return the partner from whom an event came; empty for one of the coordinator's own."""
    return event.id.removeprefix(_MARK).partition(":")[0] if event.id.startswith(_MARK) else ""


@dataclass(frozen=True)
class JoinedEventCounts:
    """What came in from one partner: `added` events, and `known` ones that were joined before."""

    partner: str
    added: int
    known: int


class JoinOutcome(msgspec.Struct, frozen=True):
    """The result of a join. With any `problems`, nothing was taken."""

    partners: list[JoinedEventCounts]
    problems: list[str]


def join_returned_logs_all_or_none(store: ScoreStore, split: StudySplit, logs: Iterable[ReturnedLog]) -> JoinOutcome:
    """Put the partners' events into the store, all or none; each log was checked, and is the longest of its partner.

    A DataError for a log in which an event that was joined before is another or gone.
    """
    history: dict[str, list[Event]] = {}
    for _, event in store.read_numbered_events():
        if partner := read_partner_or_empty(event):
            history.setdefault(partner, []).append(event)
    incoming: list[tuple[tuple[str, str, int], ReadEvent]] = []
    counts = []
    problems = []
    for log in logs:
        share = split.find_partner_share(log.head.partner)
        assert share is not None, "it was checked"
        joined = history.get(share.name, [])
        events = [
            ReadEvent(event, log.path, entry) for entry, event in iterate_file_places_and_study_events(log, share)
        ]
        _check_log_begins_with_joined_events(log.path, share.name, joined, events)
        latest = ""
        for index, read_event in enumerate(events[len(joined) :]):
            if problem := find_imported_event_problem(read_event.event, store.rubric):
                problems.append(str(DataError(read_event.path, problem, read_event.entry)))
            latest = max(latest, read_event.event.time)
            incoming.append(((latest, share.name, index), read_event))
        counts.append(JoinedEventCounts(share.name, max(len(events) - len(joined), 0), min(len(joined), len(events))))
    new_events = [read_event for _, read_event in sorted(incoming, key=lambda pair: pair[0])]
    # "Ada (bbc)" is nobody whom a run here names as an author.
    answers = {answer for share in split.partners for stands in share.answers.values() for answer in stands}
    imported = store_events_or_return_problems(store, new_events, answers, AnswerAuthors(()), problems)
    return JoinOutcome(counts, imported.problems)


def _check_log_begins_with_joined_events(
    path: Path, partner: str, joined_events: Sequence[Event], returned_events: Sequence[ReadEvent]
) -> None:
    """Raise a DataError where a log does not begin with what was joined of this partner before; it may be shorter."""
    for earlier, read_event in zip(joined_events, returned_events, strict=False):
        if earlier.id != read_event.event.id or event_content_without_time_and_ticks(
            earlier
        ) != event_content_without_time_and_ticks(read_event.event):
            problem = f"differs from the one that was joined before; ask {partner} for the file that continues it."
            raise DataError(path, problem, read_event.entry)


def iterate_file_places_and_study_events(log: ReturnedLog, share: PartnerShare) -> Iterator[tuple[str, Event]]:
    """Yield (place in the file, event) of a partner's events as the study's, without those that their pack came with.

    One about an answer that stands for several is one about each.
    """
    training = set(share.training)
    for number, event in enumerate(log.events, 1):
        if event.id in training:
            continue
        for turn, answer in enumerate(share.answers[event.answer]):
            yield f"event {number}", _convert_to_study_event(event, share.name, answer, f":{turn + 1}" if turn else "")


def _convert_to_study_event(event: Event, partner: str, answer: str, id_suffix: str) -> Event:
    def prefix_event_id_with_partner(event_id: str) -> str:
        return f"{_MARK}{partner}:{event_id}{id_suffix}" if event_id else ""

    annotation = event.annotation
    if isinstance(annotation, Ruling):
        annotation = msgspec.structs.replace(annotation, objection=prefix_event_id_with_partner(annotation.objection))
    analyst = name_analyst_of_partner(event.analyst, partner) if event.scorer == "human" else event.analyst
    return msgspec.structs.replace(
        event,
        id=prefix_event_id_with_partner(event.id),
        answer=answer,
        analyst=analyst,
        undoes=prefix_event_id_with_partner(event.undoes),
        annotation=annotation,
    )
