"""The view of the log says event by event what the whole log says, to every session that shares it."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from stores import GOOD, POOR, kept, opened, score, skip, undo

from genaipa.files.stamps import now
from genaipa.scoring.current import CurrentScores, effective_scores_and_adjudications, independent_human_scores
from genaipa.scoring.events import LASTING, Event, new_event_id
from genaipa.scoring.rubric import Values

if TYPE_CHECKING:
    from genaipa.scoring.store import ScoreStore


def adjudication(analyst: str, answer: str, values: Values = GOOD) -> Event:
    """A score that settles a difference."""
    return Event(id=new_event_id(), time=now(), kind="adjudication", analyst=analyst, answer=answer, values=values)


def look(analyst: str, answer: str, **what: bool) -> Event:
    """What shows that an analyst has seen something about an answer."""
    return Event(id=new_event_id(), time=now(), kind="look", analyst=analyst, answer=answer, **what)


def told(store: ScoreStore, *events: Event) -> CurrentScores:
    """A current of a store with these events in it."""
    store.append_new_events(events)
    current = CurrentScores(store.read_numbered_events)
    assert current.read_new_events() is bool(events)
    return current


def test_an_empty_store_has_nothing(store: ScoreStore) -> None:
    """Where nobody scored, everything is empty."""
    current = told(store)
    assert current.find_score("a1", "ana") is None
    assert current.scores_by_analyst("a1") == {}
    assert current.find_latest_adjudication("a1") is None
    assert current.scores_of_analyst("ana") == []
    assert current.last_skip_event_number_by_answer("ana") == {}
    assert current.list_analysts_with_current_scores() == []
    assert current.list_all_current_scores() == []


def test_a_correction_takes_the_place_and_an_undo_gives_it_back(store: ScoreStore) -> None:
    """A later score stands in the earlier one's place; undone, the earlier one stands again, at its own place."""
    first, other, correction = score("ana", "a1", POOR), score("ana", "a2"), score("ana", "a1", GOOD)
    current = told(store, first, other)
    assert current.scores_of_analyst("ana") == [first, other]
    store.append_new_events([correction])
    assert current.find_score("a1", "ana") == first, "not taken in yet"
    before = current.event_count
    assert current.read_new_events()
    assert current.list_logged_events(before) == [correction], "the log is there from any point on, read once"
    assert current.find_score("a1", "ana") == correction
    assert current.scores_of_analyst("ana") == [other, correction]
    store.append_new_events([undo(correction)])
    assert current.read_new_events()
    assert not current.read_new_events()
    assert current.scores_by_analyst("a1") == {"ana": first}
    assert current.scores_of_analyst("ana") == [first, other]
    store.append_new_events([undo(first)])
    assert current.read_new_events()
    assert current.find_score("a1", "ana") is None
    assert current.list_all_current_scores() == [other]


def test_a_score_that_was_corrected_can_be_undone(store: ScoreStore) -> None:
    """The undo of an earlier score leaves the correction alone, and nothing comes back when that is undone too."""
    first, correction = score("ana", "a1", POOR), score("ana", "a1", GOOD)
    current = told(store, first, correction, undo(first))
    assert current.scores_by_analyst("a1") == {"ana": correction}
    store.append_new_events([undo(correction)])
    current.read_new_events()
    assert current.scores_by_analyst("a1") == {}
    assert current.list_analysts_with_current_scores() == []


def test_analysts_are_kept_apart(store: ScoreStore) -> None:
    """Each analyst has their own score of an answer, and their own history."""
    ana, bob, more = score("ana", "a1", GOOD), score("bob", "a1", POOR), score("bob", "a2", POOR)
    current = told(store, bob, ana, more)
    assert current.scores_by_analyst("a1") == {"ana": ana, "bob": bob}
    assert current.list_analysts_with_current_scores() == ["ana", "bob"]
    assert current.list_all_current_scores() == [ana, bob, more]


def test_machines_are_kept_apart(store: ScoreStore) -> None:
    """Scores of machines are had by asking for them, even under the name of a person, and can be undone."""
    person, machine = score("ana", "a1", GOOD), score("ana", "a1", POOR, scorer="machine")
    other = score("judge", "a2", POOR, scorer="machine")
    current = told(store, person, machine, other)
    assert current.scores_by_analyst("a1") == {"ana": person}
    assert current.scores_by_analyst("a1", "machine") == {"ana": machine}
    assert current.find_score("a1", "ana", "machine") == machine
    assert current.scores_of_analyst("judge") == []
    assert current.scores_of_analyst("judge", "machine") == [other]
    assert current.list_analysts_with_current_scores() == ["ana"]
    assert current.list_analysts_with_current_scores("machine") == ["ana", "judge"]
    assert current.list_all_current_scores() == [person]
    store.append_new_events([undo(machine)])
    current.read_new_events()
    assert current.scores_by_analyst("a1") == {"ana": person}
    assert current.list_all_current_scores("machine") == [other]


def test_the_latest_adjudication_stands(store: ScoreStore) -> None:
    """Of several adjudicators the latest has the last word, until it is undone; the scores stay as they are."""
    scores = [score("ana", "a1", GOOD), score("bob", "a1", POOR)]
    first, second = adjudication("cem", "a1", POOR), adjudication("dan", "a1", GOOD)
    current = told(store, *scores, first, second)
    assert current.find_latest_adjudication("a1") == second
    again = adjudication("cem", "a1", GOOD)
    store.append_new_events([again])
    current.read_new_events()
    assert current.find_latest_adjudication("a1") == again
    store.append_new_events([undo(again), undo(second)])
    current.read_new_events()
    assert current.find_latest_adjudication("a1") == first
    assert current.find_latest_adjudication("a2") is None
    assert current.answers_with_seen_scores("dan") == {"a1"}, "undone, and yet they have seen the scores"
    assert current.answers_with_seen_scores("ana") == set()
    assert list(current.scores_by_analyst("a1").values()) == scores
    assert current.list_analysts_with_current_scores() == ["ana", "bob"], "to adjudicate is not to score"


def test_what_was_shown_stays_known(store: ScoreStore) -> None:
    """Whatever says that its analyst had seen whose an answer is, or others' scores, counts for good, per analyst."""
    scored = score("ana", "a1", blind=False)
    current = told(store, scored, undo(scored), look("ana", "a2", independent=False), look("bob", "a1", blind=False))
    assert (current.answers_with_seen_system("ana"), current.answers_with_seen_scores("ana")) == ({"a1"}, {"a2"})
    assert (current.answers_with_seen_system("bob"), current.answers_with_seen_scores("bob")) == ({"a1"}, set())
    assert current.list_all_current_scores() == []


def test_a_score_stays_independent_whatever_comes_after_a_look(store: ScoreStore) -> None:
    """Corrected or withdrawn by one who has seen others' scores, it still counts; withdrawn before that, it doesn't."""
    slip, first = score("ana", "a1", POOR), score("ana", "a1", GOOD)
    correction = score("ana", "a1", POOR, independent=False)
    other = score("bob", "a1")
    log = [slip, undo(slip), first, look("ana", "a1", independent=False), correction, other, undo(other)]
    current = told(store, *log)
    assert current.scores_by_analyst("a1") == {"ana": correction}
    assert current.independent_human_scores() == independent_human_scores(log) == [first]
    log += [undo(first, independent=False), undo(correction, independent=False)]
    store.append_new_events(log[-2:])
    current.read_new_events()
    assert current.scores_by_analyst("a1") == {}
    assert current.independent_human_scores() == independent_human_scores(log) == [first]


def test_what_is_skipped_waits(store: ScoreStore) -> None:
    """A skip stands until it is undone or followed by a score of the same analyst; its number is the last one's."""
    early = Event(new_event_id(), "2031-01-01T00:00:00.000Z", "skip", "ana", "a1")
    late = Event(new_event_id(), "2031-01-02T00:00:00.000Z", "skip", "ana", "a1")
    current = told(store, early, late, skip("bob", "a2"), score("bob", "a1"))
    assert current.last_skip_event_number_by_answer("ana") == {"a1": 2}
    store.append_new_events([undo(late)])
    current.read_new_events()
    assert current.last_skip_event_number_by_answer("ana") == {"a1": 1}
    scored = score("ana", "a1")
    store.append_new_events([scored])
    current.read_new_events()
    assert current.last_skip_event_number_by_answer("ana") == {}
    store.append_new_events([undo(scored)])
    current.read_new_events()
    assert current.last_skip_event_number_by_answer("ana") == {}
    store.append_new_events([undo(early), once := skip("ana", "a3"), undo(once)])
    current.read_new_events()
    assert current.last_skip_event_number_by_answer("ana") == {}


def test_event_by_event_is_as_all_at_once(store: ScoreStore) -> None:
    """After every few of many random events, the current says what `in_effect` makes of the whole log."""
    seed = random.randrange(10**9)
    print(f"seed {seed}")  # noqa: T201 - shown when the test fails
    chance = random.Random(seed)
    current = CurrentScores(store.read_numbered_events)
    log: list[Event] = []
    for _ in range(60):
        new: list[Event] = []
        for _ in range(chance.randint(1, 8)):
            new.append(random_event(chance, log + new))
        store.append_new_events(new)
        log += new
        assert current.read_new_events()
        check(current, log)
    assert kept(store) == log
    late = CurrentScores(store.read_numbered_events)
    late.read_new_events()
    check(late, log)


def random_event(chance: random.Random, log: list[Event]) -> Event:
    """Any event that may follow the log; few analysts and answers, so that they meet."""
    undone = {event.undoes for event in log}
    open_ones = [event for event in log if event.kind not in LASTING and event.id not in undone]
    own = chance.random() < 0.7
    if open_ones and chance.random() < 0.4:
        return undo(chance.choice(open_ones), independent=own)
    analyst, answer = chance.choice(["ana", "bob"]), chance.choice(["a1", "a2", "a3"])
    kind = chance.choice(["score", "score", "machine", "adjudication", "skip", "look"])
    if kind == "look":
        return look(analyst, answer, independent=own)
    if kind == "machine":
        return score(analyst, answer, chance.choice([GOOD, POOR]), scorer="machine")
    if kind == "skip":
        return skip(analyst, answer)
    return adjudication(analyst, answer) if kind == "adjudication" else score(analyst, answer, independent=own)


def check(current: CurrentScores, log: list[Event]) -> None:
    """The current says about everything what the log says."""
    for scorer in ("human", "machine"):
        stands = effective_scores_and_adjudications(
            event for event in log if event.kind == "undo" or event.scorer == scorer
        )
        scores = [event for event in stands if event.kind == "score"]
        assert sorted_by_id(current.list_all_current_scores(scorer)) == sorted_by_id(scores)
        assert current.list_analysts_with_current_scores(scorer) == sorted({event.analyst for event in scores})
        for analyst in ("ana", "bob"):
            assert current.scores_of_analyst(analyst, scorer) == [event for event in scores if event.analyst == analyst]
        for answer in ("a1", "a2", "a3"):
            assert current.scores_by_analyst(answer, scorer) == {e.analyst: e for e in scores if e.answer == answer}
    stands = effective_scores_and_adjudications(log)
    for answer in ("a1", "a2", "a3"):
        given = [event for event in stands if event.kind == "adjudication" and event.answer == answer]
        assert current.find_latest_adjudication(answer) == (given[-1] if given else None)
    both = [event for scorer in ("human", "machine") for event in current.list_all_current_scores(scorer)]
    assert sorted_by_id(both) == sorted_by_id([event for event in stands if event.kind == "score"])
    own = independent_human_scores(log)
    assert sorted_by_id(current.independent_human_scores()) == sorted_by_id(own)


def sorted_by_id(events: list[Event]) -> list[Event]:
    """Events in an order that is the same for the same events."""
    return sorted(events, key=lambda event: event.id)


def test_sessions_share_a_ledger(url: str) -> None:
    """Where many threads refresh one current at once, each event of another process is taken in once."""
    sessions = 8
    start = threading.Barrier(sessions)

    def refresh(current: CurrentScores) -> bool:
        start.wait(60)
        return current.read_new_events()

    with opened(url) as ours, opened(url) as theirs, ThreadPoolExecutor(sessions) as threads:
        current = CurrentScores(ours.read_numbered_events)
        for batch in range(3):
            scores = [score("ana", f"a{batch}-{n}") for n in range(600)]
            theirs.append_new_events([*scores, *map(undo, scores[1:])])
            assert sorted(threads.map(refresh, [current] * sessions)) == [False] * (sessions - 1) + [True]
            assert current.scores_of_analyst("ana")[batch:] == scores[:1], (
                "taken in twice, a score would come back from its undo"
            )
        assert current.list_logged_events() == [event for _, event in ours.read_numbered_events()]
