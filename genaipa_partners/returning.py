"""What a partner hands back: their log of scores in one file, with the digest of each event and of the last one.

The first line says whose it is and how far it goes; each other line is an event as the log has it. Whoever changes,
cuts or mixes lines leaves an event whose digest is another. A whole log that is made again is not told from a true one,
but by its last digest, which `send` prints and the partner can tell by another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from genaipa import __version__
from genaipa.archive.contents import read_pack_of_unpacked_folder
from genaipa.errors import DataError, OtherFormatError, UsageError
from genaipa.files.limits import SCORES
from genaipa.files.text import DAMAGE, clip_error_message, read_lines
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import CHAIN_START, Event, chain_digest, make_event_decoder, verify_log_and_list_breaks
from genaipa_partners.split import is_valid_partner_name, name_analyst_of_partner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from genaipa.scoring.people import People
    from genaipa.scoring.store import ScoreStore
    from genaipa.workspace import Workspace
    from genaipa_partners.split import PartnerShare, StudySplit

FORMAT = 1
ENDING = ".scores.jsonl"


class ReturnHead(msgspec.Struct, frozen=True):
    """The first line: the study and the partner, the number of `events`, and the digest of the last one."""

    format: int
    genaipa: str
    study: str
    partner: str
    events: int
    head: str


class _ReturnFormat(msgspec.Struct):
    format: int


class _ReturnedLine(msgspec.Struct):
    digest: str
    event: msgspec.Raw


@dataclass(frozen=True)
class ReturnedLog:
    """A file that came back, whose events are as they were written; `digests` are theirs, in order."""

    path: Path
    head: ReturnHead
    events: list[Event]
    digests: list[str]

    def extends(self, earlier: ReturnedLog) -> bool:
        """Tell whether this begins with all of an earlier file."""
        return self.digests[: len(earlier.digests)] == earlier.digests


def find_pack_notes_or_raise(workspace: Workspace) -> Mapping[str, str]:
    """Return what a partner's pack says of itself; a UsageError for a workspace that is none."""
    pack = read_pack_of_unpacked_folder(workspace.home)
    if pack is None or "study" not in pack.notes or not is_valid_partner_name(pack.notes.get("partner", "")):
        raise UsageError(f"{workspace.home} is not a partner's pack; open one with: genaipa score PACK.zip")
    return pack.notes


def write_returned_log(file: BinaryIO, store: ScoreStore, pack_notes: Mapping[str, str]) -> ReturnHead:
    """Write the log of a partner's scores, and return its head; a DataError where it is not as it was written."""
    log = verify_log_and_list_breaks(store)
    if log.breaks:
        raise DataError(store.name, f"{log.breaks[0]} For the full check: genaipa scores verify")
    head = ReturnHead(FORMAT, __version__, pack_notes["study"], pack_notes["partner"], log.events, log.head)
    file.write(msgspec.json.encode(head) + b"\n")
    for row in store.read_log_rows():
        line = _ReturnedLine(row.digest, msgspec.Raw(row.event.encode()))
        file.write(msgspec.json.encode(line) + b"\n")
    return head


def is_earlier_return(returned_path: Path, store: ScoreStore) -> bool:
    """Tell whether a file was sent from this very log earlier: nothing is lost where a later one replaces it."""
    try:
        earlier = read_returned_log(returned_path)
    except DataError:
        return False
    return earlier.digests == [row.digest for row in islice(store.read_log_rows(), len(earlier.digests))]


def read_returned_log(path: Path) -> ReturnedLog:
    """Read a file that came back; a DataError that names the first event that is not as it was written."""
    lines = (line for line in read_lines(path, SCORES) if line.strip())
    head = _parse_return_head_or_raise(path, next(lines, ""))
    events: list[Event] = []
    digests: list[str] = []
    decode_line, decode_event = msgspec.json.Decoder(_ReturnedLine).decode, make_event_decoder().decode
    digest = CHAIN_START
    for number, text in enumerate(lines, 1):
        try:
            line = decode_line(text)
            event = decode_event(line.event)
        except DAMAGE as error:
            raise DataError(
                path,
                f"can't be read ({clip_error_message(error)}); {_phrase_asking_for_file_again(head)}",
                f"event {number}",
            ) from None
        digest = chain_digest(digest, bytes(line.event).decode())
        if digest != line.digest:
            problem = (
                f"this event, or the one before it, was changed after {head.partner} wrote it; "
                f"{_phrase_asking_for_file_again(head)}"
            )
            raise DataError(path, problem, f"event {number} ({event.id})")
        events.append(event)
        digests.append(digest)
    if len(events) != head.events:
        raise DataError(
            path,
            f"has {len(events):,} of the {head.events:,} events that its first line announces; "
            f"{_phrase_asking_for_file_again(head)}",
        )
    if digest != head.head:
        problem = f"is not the last event that {head.partner} wrote; {_phrase_asking_for_file_again(head)}"
        raise DataError(path, problem, f"event {len(events)}")
    return ReturnedLog(path, head, events, digests)


def find_returning_partner_or_empty(path: Path) -> str:
    """Return the partner whom a file names as its sender; empty where even that can't be read."""
    try:
        return _parse_return_head_or_raise(path, next(read_lines(path, SCORES), "")).partner
    except DataError:
        return ""


def _parse_return_head_or_raise(path: Path, first_line: str) -> ReturnHead:
    try:
        written = msgspec.json.decode(first_line, type=_ReturnFormat).format
        if written != FORMAT:
            raise OtherFormatError(
                path, written, FORMAT, "ask for it again, written by this version with: genaipa study send"
            )
        return msgspec.json.decode(first_line, type=ReturnHead)
    except DAMAGE:
        raise DataError(path, "was not written by genaipa study send; ask the partner for a file that was.") from None


def _phrase_asking_for_file_again(head: ReturnHead) -> str:
    return f"ask {head.partner} for the file again."


def find_pack_share_of_return_or_raise(returned: ReturnedLog, split: StudySplit) -> PartnerShare:
    """Return the share that a file is of; a DataError for another study's, and for scores of what is in no pack."""
    head, path = returned.head, returned.path
    share = split.find_partner_share(head.partner)
    if head.study != split.study or share is None:
        raise DataError(
            path,
            f"belongs to another study (partner {head.partner}); join it in the workspace in which that "
            f"study was split.",
        )
    foreign = {
        event_id: partner.name for partner in split.partners if partner != share for event_id in partner.training
    }
    for number, event in enumerate(returned.events, 1):
        entry = f"event {number} ({event.id})"
        if event.id in foreign:
            raise DataError(path, f"came with the pack of {foreign[event.id]}, not of {share.name}.", entry)
        if event.answer not in share.answers:
            problem = (
                f"is about an answer that is not in the pack of {share.name}; {_phrase_asking_for_file_again(head)}"
            )
            raise DataError(path, problem, entry)
    return share


def choose_longest_log_by_partner(returned: Iterable[ReturnedLog]) -> dict[str, ReturnedLog]:
    """Return the longest file of each partner; a DataError where one does not go on from another."""
    longest: dict[str, ReturnedLog] = {}
    for log in sorted(returned, key=lambda log: (log.head.partner, len(log.events), str(log.path))):
        earlier = longest.get(log.head.partner)
        if earlier is not None and not log.extends(earlier):
            number = next(
                n for n, pair in enumerate(zip(earlier.digests, log.digests, strict=False), 1) if len({*pair}) > 1
            )
            problem = (
                f"differs from the one in {earlier.path}, which {log.head.partner} sent, too; ask "
                f"{log.head.partner} which "
                "of the two counts, and leave out the other."
            )
            raise DataError(log.path, problem, f"event {number} ({log.events[number - 1].id})")
        longest[log.head.partner] = log
    return longest


@dataclass(frozen=True)
class PartnerProgress:
    """How far a partner is: answers `scored` by anyone there, of those in the pack and of those that several have."""

    answers: int
    scored: int
    shared: int
    shared_scored: int
    analysts: tuple[str, ...]
    latest: str


def measure_partner_progress(
    share: PartnerShare, shared_answers: frozenset[str], events: Iterable[Event], study_people: People
) -> PartnerProgress:
    """Measure a partner's progress by the events that came back.

    Those that the pack came with don't count, nor those of people whom the study leaves out.
    """
    training = set(share.training)
    partner_events = [
        event
        for event in events
        if event.id not in training
        and not study_people.exclusion_reason_or_empty(name_analyst_of_partner(event.analyst, share.name))
    ]
    scores = [event for event in effective_scores_and_adjudications(partner_events) if event.scorer == "human"]
    scored = {score.answer for score in scores}.intersection(share.answers)
    return PartnerProgress(
        len(share.answers),
        len(scored),
        len(shared_answers.intersection(share.answers)),
        len(shared_answers & scored),
        tuple(sorted({score.analyst for score in scores})),
        max((event.time for event in partner_events), default=""),
    )
