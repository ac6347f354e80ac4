"""The store of scores, on SQLite and on a real PostgreSQL: nothing lost, nothing twice, whoever dies or races."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import sqlalchemy.event
from size import size
from stores import GOOD, POOR, kept, opened, score, skip, undo, until_the_next_moment

from genaipa.errors import DataError, StoreError
from genaipa.files.stamps import now
from genaipa.scoring.events import VALUED, Draft, Event, new_event_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from genaipa.scoring.store import ScoreStore

THREADS = 20


# --- The log ---------------------------------------------------------------------------------------------------------


def test_events_come_back_as_they_were(each_store: ScoreStore) -> None:
    """Every field of an event comes back, whatever characters are in it."""
    note = 'مرحبا <script>alert("1")</script> \0 \N{PARROT} ' + "long " * 40_000
    full = score(
        "Ana Ünal", "a1", POOR, note=note, seconds=61.25, suggested={"reference": -1.0}, preselected=True, blind=False
    )
    machine = score("judge", "a1", scorer="machine", calibration=True)
    events = [full, machine, undo(full), skip("Ana Ünal", "a2")]
    assert each_store.append_new_events(events) == 4
    assert kept(each_store) == events
    assert each_store.load_answer_events("a1") == events[:3]
    assert each_store.load_answer_events("a3") == []


def test_an_event_sent_twice_is_kept_once(each_store: ScoreStore) -> None:
    """The same event again adds nothing: in one batch, later, and with the times at which it was sent again."""
    first, second = score("ana", "a1"), score("ana", "a2")
    assert each_store.append_new_events([first, first]) == 1
    again = Event(first.id, "2031-01-01T00:00:00.000Z", "score", "ana", "a1", GOOD, seconds=99.0)
    assert each_store.append_new_events([again, second]) == 1
    assert kept(each_store) == [first, second]


def test_an_id_belongs_to_one_event(each_store: ScoreStore) -> None:
    """Another score under an id that is there is refused, and nothing of what came with it is kept."""
    first = score("ana", "a1")
    each_store.append_new_events([first])
    other = Event(first.id, first.time, "score", "ana", "a1", POOR)
    with pytest.raises(DataError, match=f"event {first.id}: its id already belongs to a different event"):
        each_store.append_new_events([score("ana", "a2"), other])
    with pytest.raises(DataError, match="belongs to a different event"):
        each_store.append_new_events(
            [second := score("ana", "a2"), Event(second.id, second.time, "score", "bob", "a2", GOOD)]
        )
    assert kept(each_store) == [first]


def test_nothing_can_be_changed_or_taken_out(store: ScoreStore) -> None:
    """A correction and an undo are added to the log; what was there before them stays."""
    first, correction = score("ana", "a1", POOR), score("ana", "a1", GOOD)
    withdrawn = undo(correction)
    for event in (first, correction, withdrawn):
        store.append_new_events([event])
    assert kept(store) == [first, correction, withdrawn]


def test_events_that_make_no_sense_are_refused(store: ScoreStore) -> None:
    """A score needs values, a skip has none, and an undo names an earlier event of its analyst and answer."""
    first = score("ana", "a1")
    withdrawn = undo(first)
    store.append_new_events([first, withdrawn])
    later, look = score("ana", "a1"), Event(new_event_id(), now(), "look", "ana", "a1", blind=False)
    store.append_new_events([look])
    refused = {
        "the score must have values": [Event(new_event_id(), now(), "score", "ana", "a1")],
        "the skip must not have values": [Event(new_event_id(), now(), "skip", "ana", "a1", GOOD)],
        "no other event, must name the event": [score("ana", "a1", undoes=first.id)],
        "a person can't be the scorer of the event 'anchor'": [
            Event(new_event_id(), now(), "anchor", "ana", "a1", GOOD)
        ],
        "a machine can't be the scorer of the event 'adjudication'": [
            Event(new_event_id(), now(), "adjudication", "judge", "a1", GOOD, scorer="machine")
        ],
        "bob has no event": [undo(first, analyst="bob")],
        f"has no event '{first.id}' on this answer": [undo(first, answer="a2")],
        "has no event 'nowhere' on this answer": [undo(first, undoes="nowhere")],
        f"has no event '{withdrawn.id}' on this answer": [undo(withdrawn)],
        f"has no event '{look.id}' on this answer": [undo(look)],
        f"has no event '{later.id}' on this answer": [undo(later), later],
    }
    for sentence, events in refused.items():
        with pytest.raises(DataError, match=sentence):
            store.append_new_events([score("cem", "a9"), *events])
    assert kept(store) == [first, withdrawn, look]
    assert store.append_new_events([later, undo(later)]) == 2


def test_reading_goes_on_after_a_number(each_store: ScoreStore) -> None:
    """Numbers grow in the order of the log, and reading goes on after any of them, from one page to the next."""
    events = [score("ana", f"a{n}") for n in range(10_002)]
    assert each_store.append_new_events(events) == len(events)
    numbered = list(each_store.read_numbered_events())
    assert [event for _, event in numbered] == events
    numbers = [number for number, _ in numbered]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0
    assert list(each_store.read_numbered_events(after_number=numbers[9_998])) == numbered[9_999:]
    assert list(each_store.read_numbered_events(after_number=numbers[-1])) == []


# --- Drafts ----------------------------------------------------------------------------------------------------------


def test_a_draft_grows_and_comes_back(url: str) -> None:
    """A draft is overwritten as it grows, and is there for the next process with everything in it."""
    newest = Draft("ana", "a1", "score", "112..", "hm", 12.5, turn="t", revision=3)
    with opened(url) as store:
        store.save_draft(Draft("ana", "a1", "score", "1...."))
        store.save_draft(newest)
        until_the_next_moment()
        other = Draft("ana", "a2", "score", "3....")
        store.save_draft(other)
    with opened(url) as store:
        assert untimed(store.load_draft("ana", "a1", "score")) == newest
        assert store.load_draft("ana", "a1", "adjudication") is None
        assert store.load_draft("bob", "a1", "score") is None
        assert list(map(untimed, store.load_drafts_of_analyst("ana"))) == [other, newest]
        assert store.load_drafts_of_analyst("bob") == []
        store.discard_draft("ana", "a2", "score")
        assert list(map(untimed, store.load_drafts_of_analyst("ana"))) == [newest]


def test_drafts_of_before_are_read(tmp_path: Path) -> None:
    """A draft that was begun at a desk that could fill values in comes back without that word."""
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        store.save_draft(Draft("ana", "a1", "score", "1...."))
    with contextlib.closing(sqlite3.connect(tmp_path / "scores.db")) as file, file:
        file.execute("UPDATE score_drafts SET draft = json_set(draft, '$.preselected', json('true'))")
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        assert untimed(store.load_draft("ana", "a1")) == Draft("ana", "a1", "score", "1....")


def untimed(draft: Draft | None) -> Draft:
    """A draft as it was before the store got it."""
    assert draft is not None
    return msgspec.structs.replace(draft, updated="")


def test_the_last_draft_to_arrive_stands(store: ScoreStore) -> None:
    """The store's own clock says when a draft came: no other clock makes an earlier one stand."""
    before = now()
    store.save_draft(Draft("ana", "a1", "score", "1....", updated="2099-01-01T00:00:00.000Z"))
    store.save_draft(Draft("ana", "a1", "score", "12...", updated="1999-01-01T00:00:00.000Z"))
    draft = store.load_draft("ana", "a1")
    assert draft is not None
    assert draft.typed == "12..."
    assert before <= draft.updated <= now()


@pytest.mark.parametrize("kind", ["score", "adjudication", "skip", "look"])
def test_a_finished_score_ends_its_draft(each_store: ScoreStore, kind: str) -> None:
    """A score and an adjudication end the draft and reservation that they grew from, and no other.

    A skip ends the reservation alone, and a look nothing.
    """
    for draft_kind in ("score", "adjudication"):
        for analyst, answer in (("ana", "a1"), ("ana", "a2"), ("bob", "a1")):
            each_store.save_draft(Draft(analyst, answer, draft_kind))
    each_store.reserve_answer("a1", "ana", wanted_scores=2)
    each_store.reserve_answer("a1", "bob", wanted_scores=2)
    each_store.append_new_events([Event(new_event_id(), now(), kind, "ana", "a1", GOOD if kind in VALUED else None)])
    left = {
        (draft.analyst, draft.answer, draft.kind)
        for name in ("ana", "bob")
        for draft in each_store.load_drafts_of_analyst(name)
    }
    assert left == {
        (analyst, answer, draft_kind)
        for draft_kind in ("score", "adjudication")
        for analyst, answer in (("ana", "a1"), ("ana", "a2"), ("bob", "a1"))
    } - {("ana", "a1", kind)}
    assert each_store.reservations_by_answer() == {"a1": ["ana", "bob"] if kind == "look" else ["bob"]}


def test_a_draft_stays_where_the_score_is_refused(store: ScoreStore) -> None:
    """Draft and reservation end in the transaction that keeps the score: if it fails, they stay."""
    store.save_draft(Draft("ana", "a1", "score", "112.."))
    store.reserve_answer("a1", "ana", wanted_scores=1)
    with pytest.raises(DataError):
        store.append_new_events([score("ana", "a1"), undo(score("bob", "a9"))])
    assert [draft.typed for draft in store.load_drafts_of_analyst("ana")] == ["112.."]
    assert store.reservations_by_answer() == {"a1": ["ana"]}


def test_an_event_sent_again_ends_nothing(store: ScoreStore) -> None:
    """A score that arrives a second time leaves a draft alone that was begun since."""
    event = score("ana", "a1")
    store.append_new_events([event])
    store.save_draft(Draft("ana", "a1", "score", "3...."))
    assert store.append_new_events([event]) == 0
    assert [draft.typed for draft in store.load_drafts_of_analyst("ana")] == ["3...."]


# --- Reservations ----------------------------------------------------------------------------------------------------


def test_an_answer_is_reserved_for_as_many_as_are_wanted(store: ScoreStore) -> None:
    """Reservations and scores that stand count together, each analyst once; one's own never stands in the way."""
    assert store.reserve_answer("a1", "ana", wanted_scores=2)
    assert store.reserve_answer("a1", "ana", wanted_scores=2), "renewed"
    assert store.reserve_answer("a1", "bob", wanted_scores=2)
    assert not store.reserve_answer("a1", "cem", wanted_scores=2)
    assert store.reserve_answer("a1", "cem", wanted_scores=3)
    store.release_reservation("cem")
    first = score("ana", "a1")
    store.append_new_events([first])
    assert not store.reserve_answer("a1", "cem", wanted_scores=2), "a score counts as the reservation did"
    assert store.reserve_answer("a1", "ana", wanted_scores=2), "to correct it"
    assert not store.reserve_answer("a1", "cem", wanted_scores=2), "who scored and reserved counts once"
    assert store.reserve_answer("a1", "cem", wanted_scores=3)
    store.release_reservation("cem")
    store.release_reservation("ana")
    store.append_new_events([undo(first)])
    assert store.reserve_answer("a1", "cem", wanted_scores=2), "a score that was undone counts no more"


def test_who_is_apart_takes_no_place(store: ScoreStore) -> None:
    """Scores and reservations of reference analysts take nobody's place, nor do scores of machines, nor skips."""
    reference = score("reference", "a1")
    store.append_new_events([reference, score("judge", "a1", scorer="machine"), skip("dan", "a1")])
    apart = ("reference", "second").__contains__
    assert store.reserve_answer("a1", "second", wanted_scores=5)
    assert store.reserve_answer("a1", "ana", wanted_scores=1, is_uncounted_analyst=apart)
    assert not store.reserve_answer("a1", "bob", wanted_scores=1, is_uncounted_analyst=apart)
    assert not store.reserve_answer("a1", "bob", wanted_scores=2, is_uncounted_analyst=("second",).__contains__), (
        "the reference analyst counts if not apart"
    )


def test_an_analyst_holds_one_reservation(each_store: ScoreStore) -> None:
    """The next answer's reservation gives the one before back; where it is refused, the one before stays."""
    each_store.reserve_answer("a1", "ana", wanted_scores=1)
    each_store.reserve_answer("a2", "bob", wanted_scores=1)
    assert not each_store.reserve_answer("a2", "ana", wanted_scores=1)
    assert each_store.reservations_by_answer() == {"a1": ["ana"], "a2": ["bob"]}
    assert each_store.reserve_answer("a3", "ana", wanted_scores=1)
    assert each_store.reservations_by_answer() == {"a2": ["bob"], "a3": ["ana"]}
    each_store.release_reservation("bob")
    assert each_store.reservations_by_answer() == {"a3": ["ana"]}


def test_a_reservation_runs_out(store: ScoreStore) -> None:
    """A reservation whose time is over is none."""
    assert store.reserve_answer("a1", "ana", wanted_scores=1, minutes=0)
    assert store.reservations_by_answer() == {}
    assert store.reserve_answer("a1", "bob", wanted_scores=1)
    assert not store.reserve_answer("a1", "ana", wanted_scores=1, minutes=0)


def test_a_draft_holds_an_answer_as_a_reservation_does(store: ScoreStore) -> None:
    """Whoever went on with a score in the last minutes is at it, though another answer is the one they reserved."""
    store.save_draft(Draft("ana", "a1", "score", "12..."))
    store.save_draft(Draft("dan", "a1", "adjudication", "1...."))
    assert store.reserve_answer("a2", "ana", wanted_scores=1)
    assert not store.reserve_answer("a1", "bob", wanted_scores=1)
    assert store.reserve_answer("a1", "bob", wanted_scores=1, is_uncounted_analyst=("ana",).__contains__)
    store.release_reservation("bob")
    assert store.reserve_answer("a1", "ana", wanted_scores=1), "their own"
    assert store.reserve_answer("a1", "bob", wanted_scores=2), (
        "who began and reserved counts once, who settles it not at all"
    )
    store.release_reservation("ana")
    store.release_reservation("bob")
    store.discard_draft("ana", "a1")
    store.save_draft(Draft("ana", "a1", "score", "12..."))
    assert store.reserve_answer("a1", "bob", wanted_scores=1, minutes=0), "one that was left long ago holds nothing"


# --- Many at once ----------------------------------------------------------------------------------------------------


def at_once(stores: list[ScoreStore], work: Any) -> list[Any]:
    """What `work(store, number)` gives in THREADS threads that begin together, the stores dealt out among them."""
    start = threading.Barrier(THREADS)

    def one(number: int) -> Any:
        start.wait(60)
        return work(stores[number % len(stores)], number)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(one, range(THREADS)))


@pytest.mark.parametrize("desks", size(small=[5], soak=[1, 5]))
def test_no_answer_is_given_out_too_often(url: str, desks: int) -> None:
    """Twenty analysts at one desk or at several take answers at once: each is scored by as many as are wanted."""
    wanted, answers = 3, [f"a{n}" for n in range(12)]

    def take_them_all(store: ScoreStore, number: int) -> int:
        mine = f"analyst {number}"
        given = [answer for answer in answers if store.reserve_answer(answer, mine, wanted_scores=wanted)]
        # Only the last is still reserved: an analyst has one reservation.
        return sum(store.append_new_events([score(mine, answer)]) for answer in given[-1:])

    def score_what_is_left(store: ScoreStore, number: int) -> int:
        mine = f"analyst {number}"
        return sum(
            store.append_new_events([score(mine, answer)])
            for answer in answers
            if all(event.analyst != mine for event in store.load_answer_events(answer))
            and store.reserve_answer(answer, mine, wanted_scores=wanted)
        )

    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(opened(url)) for _ in range(desks)]
        total = sum(at_once(stores, take_them_all)) + sum(at_once(stores, score_what_is_left))
        scored = {answer: {event.analyst for event in stores[0].load_answer_events(answer)} for answer in answers}
        assert {answer: len(analysts) for answer, analysts in scored.items()} == dict.fromkeys(answers, wanted)
        assert total == wanted * len(answers) == len(kept(stores[0]))


def test_a_reader_misses_nothing(url: str) -> None:
    """Who reads on after the last number seen, while twenty desks write, sees every event once and in its order."""
    batches, each = size(small=2, soak=12), 4
    done = threading.Event()

    def write(store: ScoreStore, number: int) -> list[str]:
        ids = []
        for batch in range(batches):
            events = [score(f"analyst {number}", f"a{batch}-{n}") for n in range(each)]
            store.append_new_events(events)
            ids += [event.id for event in events]
        return ids

    def tail(store: ScoreStore) -> list[tuple[int, str]]:
        seen: list[tuple[int, str]] = []
        while True:
            last_look = done.is_set()
            seen += [(number, event.id) for number, event in store.read_numbered_events(seen[-1][0] if seen else 0)]
            if last_look:
                return seen

    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1) as thread:
        stores = [stack.enter_context(opened(url)) for _ in range(THREADS)]
        reader = thread.submit(tail, stack.enter_context(opened(url)))
        try:
            written = at_once(stores, write)
        finally:
            done.set()
        seen = reader.result(60)
        assert seen == [(number, event.id) for number, event in stores[0].read_numbered_events()]
    ids = [event_id for _, event_id in seen]
    assert len(ids) == len(set(ids)) == THREADS * batches * each
    place = {event_id: n for n, event_id in enumerate(ids)}
    assert all([place[event_id] for event_id in own] == sorted(place[event_id] for event_id in own) for own in written)


def test_a_score_sent_by_all_at_once_is_one(url: str) -> None:
    """The same score, sent twenty times at the same moment, is new once."""
    event = score("ana", "a1")
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(opened(url)) for _ in range(5)]
        assert sum(at_once(stores, lambda store, _: store.append_new_events([event]))) == 1
        assert kept(stores[0]) == [event]


# --- Whoever dies ----------------------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[ScoreStore], object]] = {
    "append": lambda store: store.append_new_events([SENT, score("ana", "a2"), undo(SENT), skip("ana", "a3")]),
    "save_draft": lambda store: store.save_draft(Draft("ana", "a1", "score", "112..")),
    "discard_draft": lambda store: store.discard_draft("ana", "a1"),
    "reserve": lambda store: store.reserve_answer("a2", "ana", wanted_scores=1),
    "release": lambda store: store.release_reservation("ana"),
}
SENT = score("ana", "a1")


class StoppedError(Exception):
    """The end of a transaction."""


def state(url: str) -> Any:
    """Everything that is in a database."""
    with opened(url) as store:
        drafts = [untimed(draft) for draft in store.load_drafts_of_analyst("ana")]
        return list(store.read_numbered_events()), store.log_state(), drafts, store.reservations_by_answer()


def begun(url: str) -> Any:
    """Its state with a score, a draft and a reservation in it."""
    with opened(url) as store:
        store.append_new_events([score("bob", "a1")])
        store.save_draft(Draft("ana", "a1", "score", "1...."))
        assert store.reserve_answer("a1", "ana", wanted_scores=2)
    return state(url)


@contextlib.contextmanager
def watched(at: Callable[[], None]) -> Iterator[None]:
    """Call something before each statement, and after it."""
    hooks = [(name, lambda *_: at()) for name in ("before_cursor_execute", "after_cursor_execute")]
    for name, hook in hooks:
        sqlalchemy.event.listen(sqlalchemy.Engine, name, hook)
    try:
        yield
    finally:
        for name, hook in hooks:
            sqlalchemy.event.remove(sqlalchemy.Engine, name, hook)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_stops_anywhere_is_whole_or_not_there(url: str, change: str) -> None:
    """Whichever statement fails, nothing is kept, nobody's turn is left behind, and the same change works then."""
    before, calls = begun(url), 0
    with opened(url) as store:

        def fail() -> None:
            nonlocal calls
            calls -= 1
            if not calls:
                raise StoppedError

        for last in itertools.count(1):
            calls = last
            with watched(fail), contextlib.suppress(StoppedError):
                CHANGES[change](store)
            if calls > 0:
                break
            assert state(url) == before, last
        assert last > 4
    assert state(url) != before


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_write_without_room_keeps_nothing(tmp_path: Path) -> None:
    """However many bytes still fit, a change that doesn't is refused and not there; with room the same one is kept."""
    url = f"sqlite:///{tmp_path / 'scores.db'}"
    before, log = begun(url), tmp_path / "scores.db-wal"
    with opened(url) as store:
        store.release_reservation("nobody")
        refused = 0
        for room in itertools.count(0, size(small=4000, soak=50)):
            with at_most(log.stat().st_size + room), contextlib.suppress(StoreError):
                CHANGES["append"](store)
                break
            refused += 1
            assert state(url) == before, room
    assert refused > 2
    assert len(state(url)[0]) == len(before[0]) + 4


@contextlib.contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes."""
    import resource  # Windows has none

    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("change", CHANGES)
def test_a_process_that_dies_leaves_a_change_whole_or_not_there(tmp_path: Path, change: str) -> None:
    """The files as a kill leaves them at any statement, and at any length of what was being written, open as either."""
    url, files = f"sqlite:///{tmp_path / 'scores.db'}", ("scores.db", "scores.db-wal")
    before, moments = begun(url), list[dict[str, bytes]]()

    def look() -> None:
        moments.append({name: (tmp_path / name).read_bytes() for name in files if (tmp_path / name).exists()})

    with opened(url) as store:
        with watched(look):
            CHANGES[change](store)
        look()
    after = state(url)
    assert after != before
    log, kept_by_then = moments[-1][files[1]], len(moments[-2].get(files[1], b""))
    for length in range(kept_by_then, len(log), size(small=997, soak=1)):
        moments.insert(-1, moments[-1] | {files[1]: log[:length]})
    seen = []
    for number, moment in enumerate(moments):
        (folder := tmp_path / f"{number}").mkdir()
        for name, content in moment.items():
            (folder / name).write_bytes(content)
        seen.append(state(f"sqlite:///{folder / 'scores.db'}"))
    assert all(one in (before, after) for one in seen)
    assert seen[-1] == after, "what was confirmed is there"
    assert seen == sorted(seen, key=lambda one: one == after)


_WRITER = """
import sys
from genaipa.files.stamps import now
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import Values, shipped_rubric
from genaipa.scoring.store import ScoreStore

store, best = ScoreStore.open_or_create(sys.argv[1]), Values(dict.fromkeys(shipped_rubric().metrics, 1.0))
while True:
    events = [Event(new_event_id(), now(), "score", "ana", f"a{n}", best) for n in range(20)]
    store.append_new_events(events)
    print(*(event.id for event in events), flush=True)
"""


@pytest.mark.full
def test_a_killed_writer_loses_nothing(url: str) -> None:
    """Killed again and again while it writes: what was reported as kept is there, once, and no half of a batch."""
    reported: list[str] = []
    for kill in range(size(small=2, soak=4)):
        with subprocess.Popen([sys.executable, "-c", _WRITER, url], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(3 + 10 * kill)]
            assert all(lines), "it was killed while it wrote"
            writer.kill()
            lines += writer.stdout.readlines()
        with opened(url) as store:
            ids = [event.id for event in kept(store)]
            reported += " ".join(lines).split()
            assert ids[: len(reported)] == reported
            # The last batch may have been committed and not reported any more.
            assert len(ids) - len(reported) in {0, 20}
            assert len(set(ids)) == len(ids)
            reported = ids
            assert store.reserve_answer("a1", "bob", wanted_scores=2), "nobody's turn is left behind"
