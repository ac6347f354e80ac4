"""Judges' verdicts by themselves: something to look at, and no estimate of what people would say."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from genaipa.judging.name import Judge
from genaipa.scoring.current import in_effect
from genaipa.scoring.rubric import load_rubric, shipped_rubric
from genaipa.scoring.store import existing_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.judging.answers import Answers
    from genaipa.workspace import Workspace

SCALE = 10
"""M_all is shown from 10 to 100."""


@dataclass(frozen=True)
class Alone:
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


def alone(workspace: Workspace, answers: Answers) -> list[Alone]:
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
    return [Alone(judge, {place: fmean(of) for place, of in found[judge].items()}) for judge in sorted(found)]
