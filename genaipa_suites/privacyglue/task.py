"""PrivacyGLUE as a task: the suites whose data are here, asked one after another in one run.

Each part is the suite itself, made of a spec of its own, so that its items, prompts and replies are as in a run of
that suite alone. One run's records differ in the coordinate `suite`.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.errors import UnknownNameError, UsageError
from genaipa.plugins import load
from genaipa.runs.records import Digests
from genaipa.tasks.base import Call, Reading, Target, Task
from genaipa_suites.baseline import PREFIX
from genaipa_suites.material import PART
from genaipa_suites.plan import SAMPLE, SUITES, SuitePlan
from genaipa_suites.privacyglue.rows import TASKS
from genaipa_suites.suite import MATERIAL, Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, Status
    from genaipa.systems.base import Reply
    from genaipa.tasks.base import Dialogue
    from genaipa_suites.baseline import Baseline
    from genaipa_suites.data import Source


class PrivacyGLUE(Task):
    """Seven tasks of six suites on their test splits, or on the made-up samples of all.

    Asked are the suites whose data are here; a run goes on with the ones it began with.
    """

    title: ClassVar[str] = "PrivacyGLUE"
    about: ClassVar[str] = "Seven tasks of six suites, on their test splits; two figures of each task, and their means."
    citation: ClassVar[str] = "Shankar et al. 2023, PrivacyGLUE (Applied Sciences 13(6), 3701)."
    splits: ClassVar[tuple[str, ...]] = ("test",)
    joins: ClassVar[tuple[str, ...]] = tuple(dict.fromkeys(task.suite for task in TASKS))
    """The names of the suites."""
    imports: ClassVar[str] = "genaipa_suites.privacyglue.importing:import_predictions"
    # Data and baselines are the parts' own.
    data: ClassVar[tuple[Source, ...]] = ()
    baselines: ClassVar[tuple[Baseline, ...]] = ()

    @cached_property
    def plan(self) -> SuitePlan:
        """The part of the spec that all parts share; a limit is of each of them."""
        assert isinstance(self.spec.plan, SuitePlan), "it is a suite's run"
        return self.spec.plan

    @cached_property
    def parts(self) -> dict[str, Suite]:
        """Name → suite of every part that is asked; a UsageError where none can be."""
        if not self._found[0]:
            why = " ".join(f"{reason.rstrip('.')}." for reason in self._found[1].values())
            raise UsageError(
                f"no suite of PrivacyGLUE can be asked. {why} Made-up items of all are in the split sample."
            )
        return self._found[0]

    @property
    def missing(self) -> dict[str, str]:
        """Name → what to do, of every suite that is left out for want of its data, or since it has no such probe."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[dict[str, Suite], dict[str, str]]:
        if self.plan.split not in (*self.splits, SAMPLE):
            raise UnknownNameError("split of privacyglue", self.plan.split, (*self.splits, SAMPLE))
        parts: dict[str, Suite] = {}
        missing: dict[str, str] = {}
        for name, kind in self._kinds().items():
            spec = msgspec.structs.replace(self.spec, task=name)
            if self.folder is not None:
                # As the run was begun, whatever data came since.
                if (self.folder.path / "suites" / name / MATERIAL).is_file():
                    parts[name] = kind(spec, self.workspace)
                    parts[name].folder = self.folder
                continue
            part = kind(spec, self.workspace)
            part.is_part = True
            try:
                _ = part.material
            except UsageError as error:
                if not self.plan.probe and _has_data(part):
                    raise
                missing[name] = str(error)
            else:
                parts[name] = part
        return parts, missing

    def _kinds(self) -> dict[str, type[Suite]]:
        """The suites whose baselines are asked; all, where other systems are."""
        kinds: dict[str, type[Suite]] = {name: load(SUITES[name]) for name in self.joins if name in SUITES}
        asked = {}
        for system in self.spec.systems:
            own = system.removeprefix(PREFIX) if system.startswith(PREFIX) else ""
            has = tuple(name for name, kind in kinds.items() if not own or own in [one.name for one in kind.baselines])
            if not has:
                known = dict.fromkeys(PREFIX + one.name for kind in kinds.values() for one in kind.baselines)
                raise UnknownNameError("baseline of privacyglue", system, known)
            asked[system] = has
        if len(set(asked.values())) > 1:
            system = min(asked, key=lambda name: len(asked[name]))
            raise UsageError(f"{system} is of {', '.join(asked[system])} alone; ask it in a run of its own.")
        return {name: kinds[name] for names in asked.values() for name in names}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parts, and which are missing."""
        said = [note for part in self.parts.values() for note in part.notes]
        if self.plan.limit:
            said.append(f"PrivacyGLUE: {self.plan.limit} items of each of its {len(self.parts)} suites")
        said += [f"PrivacyGLUE: without {name}: {remedy}" for name, remedy in self.missing.items()]
        return tuple(said)

    @property
    def digests(self) -> Digests:
        """Digests of all parts."""
        return Digests({}, {}, {}, {}, task=_united(part.digests.task for part in self.parts.values()))

    @property
    def sources(self) -> dict[str, str]:
        """Sources of all parts."""
        return _united(dict(part.sources) for part in self.parts.values())

    @property
    def texts(self) -> dict[str, str]:
        """Long texts of all parts."""
        return _united(dict(part.texts) for part in self.parts.values())

    def planned(self) -> int:
        """The answers wanted of each system, over all parts."""
        return sum(part.planned() for part in self.parts.values())

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """The dialogues of one part after another."""
        return chain.from_iterable(
            (_of_part(name, dialogue) for dialogue in part.dialogues(target)) for name, part in self.parts.items()
        )

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """The samples of all parts, where each is the whole of it; else everything."""
        samples = {name: part.sample(target) for name, part in self.parts.items()}
        if any(times != 1 for _, times in samples.values()):
            return super().sample(target)
        return chain.from_iterable(
            (_of_part(name, dialogue) for dialogue in dialogues) for name, (dialogues, _) in samples.items()
        ), 1

    @contextmanager
    def keeping(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """All parts are asked."""
        with ExitStack() as asked:
            for part in self.parts.values():
                asked.enter_context(part.keeping(folder))
            yield lambda _record: None

    def read_status(self, call: Call, reply: str, status: Status) -> Reading:
        """The reading of the call's part."""
        return self.parts[call.coordinates[PART]].read_status(call, reply, status)

    def flaw(self, call: Call, reply: Reply) -> str:
        """The flaw by the call's part."""
        return self.parts[call.coordinates[PART]].flaw(call, reply)


def _has_data(part: Suite) -> bool:
    """Whether the items of a part are here, so that it is something else that it lacks."""
    try:
        part.load(part.plan.split)
    except UsageError:
        return False
    return True


def _united(some: Any) -> dict[str, str]:
    return {name: text for one in some for name, text in one.items()}


def _of_part(name: str, dialogue: Dialogue) -> Dialogue:
    """A part's dialogue, its calls under the part's name."""
    try:
        step = next(dialogue)
        while True:
            if isinstance(step, tuple):
                said = yield tuple(_of_part(name, branch) for branch in step)
            else:
                said = yield replace(step, coordinates={PART: name, **step.coordinates})
            step = dialogue.send(said)
    except StopIteration:
        return
    finally:
        dialogue.close()
