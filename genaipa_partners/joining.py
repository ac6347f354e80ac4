"""Partners' scores as scores of the one study: of its answers, by analysts of a partner.

An event's id says whose it is, so that what was joined is known again. New events come in the order of their times,
each partner's in their own, whatever the order of the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.scoring.events import Ruling
from genaipa.scoring.importing import ReadEvent, event_content, find_imported_event_problem, store_read_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from genaipa.scoring.events import Event
    from genaipa.scoring.store import Store
    from genaipa_partners.returning import ReturnedLog
    from genaipa_partners.split import PartnerShare, StudySplit

_MARK = "partner:"


def read_partner(event: Event) -> str:
    """Return the partner from whom an event came; empty for one of the coordinator's own."""
    return event.id.removeprefix(_MARK).partition(":")[0] if event.id.startswith(_MARK) else ""


@dataclass(frozen=True)
class JoinedPartner:
    """What came in from one partner: `added` events, and `known` ones that were joined before."""

    partner: str
    added: int
    known: int


class JoinedStudy(msgspec.Struct, frozen=True):
    """The result of a join. With any `problems`, nothing was taken."""

    partners: list[JoinedPartner]
    problems: list[str]


def join_logs(store: Store, split: StudySplit, logs: Iterable[ReturnedLog]) -> JoinedStudy:
    """Put the partners' events into the store, all or none; each log was checked, and is the longest of its partner.

    A DataError for a log in which an event that was joined before is another or gone.
    """
    history: dict[str, list[Event]] = {}
    for _, event in store.events():
        if partner := read_partner(event):
            history.setdefault(partner, []).append(event)
    incoming: list[tuple[tuple[str, str, int], ReadEvent]] = []
    counts = []
    problems = []
    for log in logs:
        share = split.find_partner(log.head.partner)
        assert share is not None, "it was checked"
        known = history.get(share.name, [])
        read = [ReadEvent(event, log.path, entry) for entry, event in iterate_study_events(log, share)]
        _check_goes_on(log.path, share.name, known, read)
        latest = ""
        for place, one in enumerate(read[len(known) :]):
            if problem := find_imported_event_problem(one.event, store.rubric):
                problems.append(str(DataError(one.path, problem, one.entry)))
            latest = max(latest, one.event.time)
            incoming.append(((latest, share.name, place), one))
        counts.append(JoinedPartner(share.name, max(len(read) - len(known), 0), min(len(known), len(read))))
    new = [one for _, one in sorted(incoming, key=lambda pair: pair[0])]
    answers = {answer for share in split.partners for stands in share.answers.values() for answer in stands}
    done = store_read_events(store, new, answers, problems)
    return JoinedStudy(counts, done.problems)


def _check_goes_on(path: Path, partner: str, known: Sequence[Event], read: Sequence[ReadEvent]) -> None:
    """Raise a DataError where a log does not begin with what was joined of this partner before; it may be shorter."""
    for earlier, one in zip(known, read, strict=False):
        if earlier.id != one.event.id or event_content(earlier) != event_content(one.event):
            problem = f"differs from the one that was joined before; ask {partner} for the file that continues it."
            raise DataError(path, problem, one.entry)


def iterate_study_events(log: ReturnedLog, share: PartnerShare) -> Iterator[tuple[str, Event]]:
    """Yield (place in the file, event) of a partner's events as the study's, without those that their pack came with.

    One about an answer that stands for several is one about each.
    """
    training = set(share.training)
    for number, event in enumerate(log.events, 1):
        if event.id in training:
            continue
        for turn, answer in enumerate(share.answers[event.answer]):
            yield f"event {number}", _convert_to_study_event(event, share.name, answer, f":{turn + 1}" if turn else "")


def _convert_to_study_event(event: Event, partner: str, answer: str, suffix: str) -> Event:
    def rename(event_id: str) -> str:
        return f"{_MARK}{partner}:{event_id}{suffix}" if event_id else ""

    annotation = event.annotation
    if isinstance(annotation, Ruling):
        annotation = msgspec.structs.replace(annotation, objection=rename(annotation.objection))
    analyst = f"{event.analyst} ({partner})" if event.scorer == "human" else event.analyst
    return msgspec.structs.replace(
        event,
        id=rename(event.id),
        answer=answer,
        analyst=analyst,
        undoes=rename(event.undoes),
        annotation=annotation,
    )
