"""Open a run (new, or the unfinished one of the same plan), carry it out, and leave its manifest true."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from genaipa.errors import DataError, RunError, command
from genaipa.execution.engine import Bounds, Observer, Runner
from genaipa.execution.manual import ByHand
from genaipa.execution.prepare import Material, Ready, make_ready, uncounted
from genaipa.runs import provenance
from genaipa.runs.folder import RunFolder, list_runs, now
from genaipa.runs.records import FORMAT, Digests, DocumentFacts, Manifest, RunSpec, RunStatus, SystemFacts
from genaipa.systems.base import Words
from genaipa.systems.catalog import ADAPTERS, resolve
from genaipa.tasks.procedure import orders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.runs.tally import Tally
    from genaipa.workspace import Workspace

_BEGUN_WITH = ("systems", "documents", "questions", "prompts")
"""What the answers of a run depend on; annotations may change without touching them."""


@dataclass
class Outcome:
    """How a run ended."""

    status: RunStatus
    tally: Tally
    stopped: dict[str, str] = field(default_factory=dict)
    """System → why it was asked no more."""
    capped: str = ""
    """What the spending cap left no money for; empty if it left some."""
    needed: float = 0.0
    """US dollars that the run would have come to with the call that the cap stopped."""
    elapsed: float | None = None
    """Seconds that this process asked for; None where it asked nobody."""


def describe(spec: RunSpec, material: Material, name: str) -> Manifest:
    """The manifest of a new run, before anything is asked."""
    commit, dirty = provenance.commit()
    return Manifest(
        format=FORMAT,
        name=name,
        status="running",
        created=now(),
        updated=now(),
        spec=spec,
        digests=material.digests,
        documents={name: DocumentFacts.of(document) for name, document in material.documents.items()},
        systems={},
        orders=orders(spec, material.questions),
        versions=provenance.versions(),
        commit=commit,
        dirty=dirty,
    )


def same_plan(workspace: Workspace, spec: RunSpec, digests: Digests, name: str | None) -> RunFolder | None:
    """The newest run of this very plan and data (and name, if one is given); None if there is none."""
    for folder in reversed(list_runs(workspace)):
        try:
            manifest = folder.manifest()
        except DataError:
            # A damaged run is named by `genaipa runs` and `validate`; it must not stand in the way of another.
            continue
        same_data = all(getattr(manifest.digests, kind) == getattr(digests, kind) for kind in _BEGUN_WITH)
        if manifest.spec == spec and same_data and name in (None, manifest.name):
            return folder
    return None


def check_unchanged(folder: RunFolder, manifest: Manifest, material: Material) -> None:
    """A RunError naming what a run was begun with that has changed since: its answers would not be comparable."""
    for kind in _BEGUN_WITH:
        before, after = getattr(manifest.digests, kind), getattr(material.digests, kind)
        changed = sorted(name for name in before if before[name] != after.get(name))
        if changed:
            raise RunError(
                f"{folder.name} can't go on: {kind.removesuffix('s')} '{changed[0]}' has changed since it was begun. "
                f"Put it back, or start afresh with: genaipa run … --new"
            )


def store_inputs(folder: RunFolder, material: Material) -> None:
    """Keep in the run folder every text that its messages are made of, and the annotated answers beside them.

    What is there already stays: a run that was cut off while it began may lack some.
    """
    for name, text in material.sources.items():
        if not (folder.path / name).exists():
            folder.write_file(name, text.encode())


async def carry_out(
    folder: RunFolder,
    manifest: Manifest,
    material: Material,
    systems: list[Ready],
    bounds: Bounds,
    observer: Observer,
) -> Outcome:
    """Ask what is missing, and write into the manifest how far it came, however it ends. Hold `writing()` around it."""
    begun = time.monotonic()
    runner = Runner(folder, manifest.spec, material, bounds, observer)
    _note_systems(manifest, systems)
    manifest.status, manifest.max_cost = "running", bounds.max_cost
    folder.write_manifest(manifest)
    status: RunStatus = "interrupted"
    try:
        await runner.run([ready for ready in systems if not ready.resolved.manual])
        status = _status(runner.tally, systems, capped=bool(runner.capped))
    finally:
        for ready in systems:
            facts = manifest.systems[ready.resolved.asked]
            facts.served = sorted({*facts.served, *runner.served.get(ready.resolved.asked, ())})
            facts.sent = runner.sent.get(ready.resolved.asked, facts.sent)
        manifest.status = status
        manifest.totals = runner.tally.totals()
        folder.write_manifest(manifest)
    elapsed = None if all(ready.resolved.manual for ready in systems) else round(time.monotonic() - begun, 3)
    return Outcome(status, runner.tally, runner.stopped, runner.capped, runner.needed, elapsed)


def _status(tally: Tally, systems: Sequence[Ready], *, capped: bool = False) -> RunStatus:
    missing = {system for (system, _), row in tally.rows.items() if row.missing}
    if not missing:
        return "complete"
    if capped:
        return "capped"
    by_hand = {ready.resolved.asked for ready in systems if ready.resolved.manual}
    return "waiting" if missing <= by_hand else "partial"


async def by_hand(folder: RunFolder, spec: RunSpec, material: Material, workspace: Workspace) -> ByHand:
    """The by-hand side of a run; a RunError if it has none."""
    manual = tuple(name for name in spec.systems if resolve(name, workspace).manual)
    if not manual:
        go_on = command("genaipa", "run", "--resume", folder.name)
        raise RunError(f"{folder.name} has no system that is driven by hand; go on with: {go_on}")
    # The others, which may count tokens in another way without their server, have no part in it.
    alone = replace(spec, systems=manual)
    systems = await ready_systems(alone, material, workspace, offline=True, asking=False, say=lambda _text: None)
    return ByHand(folder, spec, material, systems)


def settle_by_hand(folder: RunFolder, byhand: ByHand) -> Outcome:
    """Write into the manifest how far a run by hand is."""
    manifest = folder.manifest()
    manifest.status = _status(byhand.tally, byhand.systems)
    manifest.totals = byhand.tally.totals()
    folder.write_manifest(manifest)
    return Outcome(manifest.status, byhand.tally)


def _note_systems(manifest: Manifest, systems: list[Ready]) -> None:
    for ready in systems:
        name = ready.resolved.asked
        known = manifest.systems.get(name)
        manifest.systems[name] = SystemFacts(
            model=ready.resolved.name,
            words=_words(ready, known),
            counter="; ".join(sorted({counter.label for counter in ready.counters.values()})),
            context=ready.context,
            part_tokens=ready.part_tokens,
            served=known.served if known else [],
            sent=known.sent if known else {},
            notes=ready.notes,
            price=ready.tariff.label if ready.tariff else "",
        )


def _words(ready: Ready, known: SystemFacts | None) -> Words:
    """Whose words a system's replies are, as its adapter says; one of ours that doesn't say it speaks for itself."""
    if ready.system is None:
        return "own" if ready.resolved.manual else known.words if known else ""
    said: Words = getattr(ready.system, "words", "own" if ready.resolved.provider in ADAPTERS else "")
    return said if said in get_args(Words) else ""


async def ready_systems(
    spec: RunSpec, material: Material, workspace: Workspace, *, offline: bool, asking: bool, say: Callable[[str], None]
) -> list[Ready]:
    """Every system of a spec, made ready; whatever was started is stopped again if one of them can't be."""
    ready: list[Ready] = []
    try:
        for name in spec.systems:
            ready.append(  # noqa: PERF401 - those before a failing one have to be closed
                await make_ready(name, spec, material, workspace, offline=offline, asking=asking, say=say)
            )
    except BaseException:
        await close_systems(ready)
        raise
    if guessed := [one.resolved.asked for one in ready if one.guesses]:
        say(uncounted(guessed))
    return ready


async def close_systems(systems: list[Ready]) -> None:
    """Let go of every system that was started."""
    await asyncio.gather(*(ready.system.close() for ready in systems if ready.system), return_exceptions=True)
