"""Verdicts in the store of scores: put in from the records of a judge's run, and read out by themselves.

The run folder is the source. An event's id follows from its record, so that after a crash, or with a store that was
lost, the same events are made again: each verdict once, however often it is put. Verdicts by themselves are something
to look at, and no estimate of what people would say.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Self

from genaipa.judging import verdict
from genaipa.judging.name import Judge
from genaipa.scoring.current import in_effect
from genaipa.scoring.events import ANCHOR, Event
from genaipa.scoring.rubric import load_rubric, shipped_rubric
from genaipa.scoring.store import existing_store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from genaipa.judging.answers import JudgedAnswers, JudgedMaterial
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Record
    from genaipa.workspace import Workspace


_EVERY = 0.5
"""Seconds between two batches: a commit for each verdict would hold up hundreds of calls a second."""


def asked_models(manifest: Manifest) -> dict[str, str]:
    """Each system of a judge's run, as it was asked for, and its full name."""
    return {name: identity.partition(" sha256:")[0] for name, identity in manifest.digests.systems.items()}


class RunVerdicts:
    """The verdicts in the records of one judge's run."""

    def __init__(self, manifest: Manifest, material: JudgedMaterial) -> None:
        self.material = material
        self._models = asked_models(manifest)
        self._judged = {judged.digest: judged for judged in material.answers}

    def judge(self, record: Record) -> Judge:
        """The judge that gave a verdict: the model as served, else as it was asked for."""
        asked, known = self._models[record.system], record.coordinates
        # A script without a model of its own is served as "scripted", and would be one judge with every other.
        # A server may say anything: a name of several lines would be nobody's.
        served = " ".join((record.model or "").split())
        served = served if served != asked.partition("/")[0] else ""
        return Judge(served or asked, known["prompt"], int(known["pass"]))

    def event(self, record: Record) -> Event | None:
        """The machine's score that a record is; None for a failure."""
        answer = record.coordinates.get("answer", "")
        judged = self._judged.get(answer)
        if record.status != "answered" or record.reply is None or judged is None:
            return None
        rubric = self.material.rubric
        try:
            found = verdict.read(rubric, record.reply, annotated=bool(judged.annotated), points=judged.points)
        except ValueError:
            return None
        judge = self.judge(record)
        made_of = f"{record.key}|{record.started}|{record.digest}"
        return Event(
            id=hashlib.sha256(made_of.encode()).hexdigest()[:32],
            time=record.started,
            kind=ANCHOR if judge.day else "score",
            analyst=str(judge),
            answer=answer,
            values=found.values,
            note=found.note,
            scorer="machine",
            rubric=rubric.digest,
            ticks=found.ticks,
        )

    def events(self, records: Iterable[Record]) -> Iterator[Event]:
        """The scores that these records are."""
        return (event for record in records if (event := self.event(record)))


class Keeper:
    """Puts the verdicts of one judge's run into the workspace's store; a GenaipaError if that can't be written."""

    def __init__(self, workspace: Workspace, folder: RunFolder, material: JudgedMaterial) -> None:
        self._workspace, self._folder, self._material = workspace, folder, material
        self._waiting: list[Record] = []
        self._last = 0.0

    def __enter__(self) -> Self:
        self._store = open_store(self._workspace)
        # Those of a sitting that was killed between the record and the store, and of a store that was lost.
        self._verdicts = RunVerdicts(self._folder.manifest(), self._material)
        self._store.append(list(self._verdicts.events(self._folder.records())))
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._put()
        finally:
            self._store.close()

    def keep(self, record: Record) -> None:
        """Put a record's verdict into the store, with the verdicts of the last half second."""
        self._waiting.append(record)
        if time.monotonic() - self._last >= _EVERY:
            self._put()

    def _put(self) -> None:
        self._store.append(list(self._verdicts.events(self._waiting)))
        self._waiting.clear()
        self._last = time.monotonic()


def put_in(workspace: Workspace, runs: Iterable[tuple[RunFolder, Manifest, JudgedMaterial]]) -> None:
    """Put the verdicts of judges' runs that it lacks into the store."""
    with closing(open_store(workspace)) as store:
        for folder, manifest, material in runs:
            store.append(list(RunVerdicts(manifest, material).events(folder.records())))


SCALE = 10
"""M_all is shown from 10 to 100."""


@dataclass(frozen=True)
class AloneVerdicts:
    """The verdicts of one judge: M_all (10 to 100) by system and question, over documents, ways and passes."""

    judge: str
    cells: Mapping[tuple[str, str], float]
    means: Mapping[str, float] = field(init=False)
    """System → the mean over its questions, by name and never by value."""

    def __post_init__(self) -> None:
        of: defaultdict[str, list[float]] = defaultdict(list)
        for (system, _), value in self.cells.items():
            of[system].append(value)
        object.__setattr__(self, "means", {system: fmean(of[system]) for system in sorted(of)})


def alone(workspace: Workspace, answers: JudgedAnswers) -> list[AloneVerdicts]:
    """The verdicts of every judge on these answers, by the rubric in effect; judges by name."""
    rubric = load_rubric(workspace)
    places: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for digest, system, question in answers.places:
        places[digest].append((system, question))
    with existing_store(workspace) as store:
        events = [event for _, event in store.events() if event.answer in places] if store else []
    found: defaultdict[str, defaultdict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for event in in_effect(one for one in events if one.scorer == "machine" or one.kind == "undo"):
        judge = Judge.parse(event.analyst)
        if judge is None or event.values is None or (event.rubric or shipped_rubric().digest) != rubric.digest:
            continue
        for place in places[event.answer]:
            found[judge.model][place].append(SCALE * rubric.m_all(event.values))
    return [AloneVerdicts(judge, {place: fmean(of) for place, of in found[judge].items()}) for judge in sorted(found)]
