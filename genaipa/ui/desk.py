"""The desk behind its pages: one for the whole server, shared by all sessions."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.runs.selection import days_of, run_folders, select
from genaipa.scoring.answers import Pool
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.people import People, load_people
from genaipa.scoring.queue import Queue
from genaipa.scoring.rubric import load_guidelines
from genaipa.scoring.store import Store, open_store
from genaipa.scoring.waves import Waves, draw_waves, in_words, short_digest, standings
from genaipa.workspace import Workspace, find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.errors import GenaipaError
    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Guidelines, Rubric
    from genaipa.ui.settings import DeskSettings


@dataclass(frozen=True)
class Desk:
    """Everything that the pages show and change."""

    settings: DeskSettings
    workspace: Workspace
    people: People
    pool: Pool
    store: Store
    current: CurrentScores
    queue: Queue
    waves: Waves
    guidelines: Guidelines | None = None

    @property
    def part(self) -> str:
        """The part of the answers that is asked for, in sentences; empty where all are."""
        if not self.waves:
            return ""
        found = standings(self.waves, self.pool.answers.values(), self.current.scored())
        late = sum(group.late for group in found)
        said = f"Asked for is a random part: {in_words(found)}; --sample all for everything." if found else ""
        return f"{said} {late:,} came later; the desk draws from them when it is opened again." if late else said

    @property
    def rubric(self) -> Rubric:
        """The rubric that answers are scored by."""
        return self.store.rubric

    def problems(self, user: User) -> list[str]:
        """The pool's problems, in words that this user may read."""
        return self.pool.blind_problems if user.scores and self.queue.plan.blind else self.pool.problems

    def set_aside(self, digest: str, error: GenaipaError) -> None:
        """Take an unreadable answer out of the pool, and say so to everyone.

        The reason goes to the terminal: its path and key would tell on a page whose answer it is.
        """
        sys.stderr.write(f"{error}\n")
        answer = self.pool.answers.get(digest)
        if answer is not None:
            what = f"An answer to {answer.question} about {answer.document}"
            self.pool.set_aside(digest, f"{what} can't be read and is left out; the desk's terminal shows why.")


def open_desk(settings: DeskSettings) -> Desk:
    """Open the store and the runs; the errors of both."""
    workspace = find_workspace(settings.workspace)
    people = load_people(workspace)
    meant = select(workspace, settings.runs) if settings.runs else []
    folders = [source.folder for source in meant] if settings.runs else run_folders(workspace)
    pool = Pool(workspace, folders, sources=meant, excluded=settings.excluded)
    store = open_store(workspace)
    current = CurrentScores(lambda seen: _counted(store, people, seen))
    counted = pool if not settings.excluded else Pool(workspace, folders, sources=meant, excluded=False)
    waves, asked = _sampled(workspace, counted, current, settings, meant)
    # Whoever wants answers that no wave is drawn from gets them beside it.
    asked = asked and asked.union(map(short_digest, pool.answers.keys() - counted.answers.keys()))
    plan = msgspec.structs.replace(
        settings.plan, reference=people.reference, wave=asked, assign=tuple(people.assign.items())
    )
    queue = Queue(pool, store, current, plan)
    queue.get_ready()
    # A large study stays in memory as long as the desk is open: collecting garbage in it would make analysts wait.
    gc.collect()
    gc.freeze()
    guidelines = load_guidelines(workspace, store.rubric)
    return Desk(settings, workspace, people, pool, store, current, queue, waves, guidelines)


def _counted(store: Store, people: People, seen: int) -> Iterator[tuple[int, Event]]:
    """The log from a number on, without those whose scores are left out."""
    if not people.left_out:
        return iter(store.events(seen))
    return ((number, event) for number, event in store.events(seen) if [*people.counted([event])])


def _sampled(
    workspace: Workspace, pool: Pool, current: CurrentScores, settings: DeskSettings, meant: Sequence[Source]
) -> tuple[Waves, frozenset[str] | None]:
    """The workspace's waves, drawn or grown if the settings want that, and what is asked for (`ScoringPlan.wave`)."""
    if settings.sample == "all":
        return Waves(), None
    answers = pool.answers.values()
    size, seed, days = settings.sample, settings.plan.seed, days_of(meant or select(workspace, []))
    waves = draw_waves(workspace, answers, current.scored(), size=size, seed=seed, days=days)
    return waves, waves.asked if waves else None
