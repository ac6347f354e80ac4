"""Occasions: the same plan asked of the same system on different days.

An occasion is every complete run of one plan on one day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from genaipa.files.text import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.runs.selection import Source


@dataclass(frozen=True)
class Occasion:
    """A day on which a system was asked a plan, and the runs of that day."""

    day: str
    runs: tuple[str, ...]


def occasions(sources: Iterable[Source]) -> dict[str, list[Occasion]]:
    """System → its occasions, the earliest first, of the plan that it was asked on most days; none with one day alone.

    A plan is the whole spec but for its systems and repetitions, and the digests of documents, questions and prompts.
    """
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for source in sources:
        manifest = source.manifest
        if manifest.status != "complete" or not manifest.created:
            continue
        spec = msgspec.to_builtins(msgspec.structs.replace(manifest.spec, systems=(), repetitions=1))
        digests = manifest.digests
        plan = digest(repr((spec, digests.prompts, digests.documents, digests.questions)))
        for system in source.systems:
            days = found.setdefault((system, plan), {})
            days.setdefault(manifest.created[:10], []).append(source.folder.name)
    chosen: dict[str, list[Occasion]] = {}
    for (system, _), days in found.items():
        if len(days) > max(1, len(chosen.get(system, ()))):
            chosen[system] = [Occasion(day, tuple(sorted(days[day]))) for day in sorted(days)]
    return chosen


def days_of(sources: Iterable[Source]) -> dict[str, str]:
    """Run → its day, of runs in which a system was asked the same on several days."""
    return {run: one.day for days in occasions(sources).values() for one in days for run in one.runs}
