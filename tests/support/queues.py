"""A small study for tests of the queue, and analysts who score what comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from running import carry_out, make_workspace, spec, write

from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.queue import ScoringQueue
from genaipa.workspace import find_workspace
from rubrics import typed

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.store import ScoreStore

ONCE = ScoringPlan(per_answer=1)
DOCUMENTS = ("acme", "bolt", "cask")
QUESTIONS = 4


def make_run(*replies: str, questions: int = QUESTIONS) -> RunFolder:
    """A run in the working folder: so many questions about each of three documents, each answered by all replies."""
    make_workspace(questions=questions, documents=DOCUMENTS)
    says = {f"say{n or ''}.yaml": reply for n, reply in enumerate(replies or ("See section 2.",))}
    for name, reply in says.items():
        write(name, f"default: {reply}\n")
    return carry_out(spec(systems=tuple(f"scripted/{name}" for name in says), documents=DOCUMENTS))[0]


def open_queue(run: RunFolder, store: ScoreStore, plan: ScoringPlan = ONCE) -> ScoringQueue:
    """A desk on this run, as if its server had just been started."""
    return ScoringQueue(AnswerPool(find_workspace(), [run]), store, CurrentScores(store.read_numbered_events), plan)


def save(queue: ScoringQueue, analyst: str, digest: str, keys: str = "11111", **more: Any) -> Event:
    """Score an answer by five digits."""
    given: dict[str, Any] = {"note": "", "seconds": 60.0, "suggested": {}, "id": new_event_id()} | more
    return queue.save_score(analyst, digest, typed(keys), **given)


def work(queue: ScoringQueue, analyst: str, answers: int = 1000, keys: str = "11111") -> list[str]:
    """Score what comes until nothing does, or so many answers."""
    done: list[str] = []
    while len(done) < answers and (digest := queue.reserve_next_answer(analyst)) is not None:
        save(queue, analyst, digest, keys)
        done.append(digest)
    return done
