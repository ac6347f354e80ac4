"""An encoder in a run of a suite: fine-tuned once for each repetition, its predictions kept in the run folder.

The seed of a repetition is its number less one. A seed is trained when its first item is asked for; once it is done,
`encoders/MODEL/SUITE/seed-N/predictions.json` has the reply to every item, so that a run that was stopped goes on with
the next seed. Torch and transformers are imported when the first seed is trained. Settings of training are those of
`suites/encoders/training.yaml`, the workspace's over the shipped one.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from genaipa.errors import DataError, RunError, UsageError, clipped
from genaipa.files.atomic import replacing
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import DAMAGE, digest, read_text, why
from genaipa.systems.catalog import resolve_system
from genaipa_suites.data import FOLDER, folders
from genaipa_suites.encoders.system import EncoderSystem
from genaipa_suites.material import Material, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from genaipa_suites.encoders.kinds import EncoderHead, EncoderModel, Example
    from genaipa_suites.encoders.training import Trained
    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite


_FILE = "encoders/training.yaml"
SETTINGS = f"{FOLDER}/{_FILE}"
"""Its place in a workspace, and in a run folder."""
Positive = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class TrainingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters; the shipped file says what each means and where its value is from."""

    epochs: Positive
    batch_size: Positive
    learning_rate: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    warmup: Share
    weight_decay: Annotated[float, msgspec.Meta(ge=0)]
    half_precision: bool
    patience: Positive
    validation_share: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    max_length: Annotated[int, msgspec.Meta(ge=16)]
    stride: Annotated[int, msgspec.Meta(ge=0)]
    longest_answer: Positive


def settings_text(suite: Suite) -> str:
    """Text of the settings of a run: the run folder's, else the nearest file's; a DataError where it is wrong."""
    if suite.folder is not None:
        return read_text(suite.folder.path / SETTINGS)
    nearest = next(place for folder in folders(suite.workspace) if (place := folder / _FILE).is_file())
    read_settings(nearest)
    return read_text(nearest)


def read_settings(path: Path) -> TrainingSettings:
    """The settings of a file; a DataError for a field that is missing, unknown or out of its range."""
    return read_yaml(path, TrainingSettings)


VALIDATION = ("validation", "valid", "dev")
"""Names of splits that a training may look at to stop in time; a test split never is one."""
_PREDICTIONS = "predictions.json"
FEWEST = 4
"""Items that a training needs at least, one of them to stop by."""


@dataclass(frozen=True)
class Asking:
    """A run while it is asked: its folder, and whether it is over."""

    folder: Path
    over: threading.Event = field(default_factory=threading.Event)


class Kept(msgspec.Struct, frozen=True):
    """The file of a seed that is done: how it was trained, and its reply to each item."""

    model: str
    revision: str
    seed: int
    device: str
    trained_on: str
    epochs: dict[str, float]
    figures: dict[str, float]
    """The best one of each part on the validation items, 0 to 1."""
    replies: dict[str, str]


class _Trained(msgspec.Struct, frozen=True):
    trained_on: str


def encoder_of(suite: Suite, system: str) -> Encoder | None:
    """The encoder that a system of a run is; None for any other. A UsageError for a suite that has none."""
    model = _model(suite, system)
    if model is None:
        return None
    if suite.head is None:
        raise UsageError(f"{system} can't be fine-tuned for {suite.name}, which has no head; leave one of them out.")
    return Encoder(suite, system, model, suite.head)


def _model(suite: Suite, system: str) -> str | None:
    if system not in suite.spec.systems:
        return None
    try:
        resolved = resolve_system(system, suite.workspace)
    except UsageError:
        return None  # a report may be of a system that this workspace does not know
    return resolved.model if resolved.provider == EncoderSystem.provider.name else None


def notes(suite: Suite) -> list[str]:
    """Sentences on a suite's fine-tuned systems; a UsageError for a way of asking that is for prompts alone."""
    found = [encoder for name in suite.spec.systems if (encoder := encoder_of(suite, name))]
    for option, chosen in (("probe", suite.plan.probe), ("shots", suite.plan.shots)):
        if found and chosen:
            raise UsageError(
                f"'{option}' is for systems that are prompted; ask {found[0].name}, which is fine-tuned, without."
            )
    # A run that goes on has said it, and needs the train split for the seeds that are missing alone.
    return [f"{suite.title}: {encoder.name} is {encoder.about}" for encoder in found] if suite.folder is None else []


def sources(suite: Suite) -> dict[str, str]:
    """The settings of training, under their name in the run folder; nothing where no encoder is asked."""
    asked = any(_model(suite, name) is not None for name in suite.spec.systems)
    return {SETTINGS: settings_text(suite)} if asked else {}


def way(suite: Suite, system: str) -> str:
    """The way in which a reported system was fine-tuned, in words; empty for one that is no encoder."""
    encoder = encoder_of(suite, system)
    if encoder is None:
        return ""
    assert suite.folder is not None, "a report is of a run"
    kept = next(encoder.folder(suite.folder.path).glob(f"seed-*/{_PREDICTIONS}"), None)
    # What it needs of the file is at its begin, and a run may have been packed without.
    on = f" on {msgspec.json.decode(kept.read_bytes(), type=_Trained).trained_on}" if kept else ""
    return f"fine-tuned{on}"


def warning(suite: Suite, system: str) -> str:
    """A sentence on a reported encoder that saw the policies that it was asked about; empty for any other system."""
    encoder = encoder_of(suite, system)
    return f"{system} is fine-tuned. {encoder.seen}" if encoder and encoder.seen else ""


class Encoder:
    """One model that is fine-tuned for a suite. Replies are asked for one after another."""

    def __init__(self, suite: Suite, name: str, model: str, head: EncoderHead) -> None:
        self.suite, self.name, self.model, self.head = suite, name, model, head
        self._replies: dict[int, dict[str, str]] = {}

    @property
    def about(self) -> str:
        """The split that it learns from, its seeds, and whether it saw the policies that it is asked about."""
        suite, seeds = self.suite, self.suite.spec.repetitions
        each = f"once for each of the seeds 0 to {seeds - 1}" if seeds > 1 else "with seed 0"
        said = f"fine-tuned here on {_named(suite)} ({len(suite.training.items):,} items with their labels), {each}"
        return f"{said}. {self.seen}" if self.seen else said

    @property
    def seen(self) -> str:
        """The sentence on what it saw of the published splits in training; empty for other items."""
        published = self.suite.plan.split in self.suite.splits and not self.suite.material.own
        return self.suite.seen if published else ""

    def folder(self, run: Path) -> Path:
        """The folder of its seeds in a run folder."""
        return run / "encoders" / folder_name(self.model) / self.suite.name

    def reply(self, item: Item, repetition: int, say: Callable[[str], None]) -> str:
        """The reply to an item in a repetition; the first one of a repetition may train for hours."""
        seed = repetition - 1
        if seed not in self._replies:
            self._replies[seed] = self._of(seed, lambda said: say(f"{self.name}, seed {seed}: {said}"))
        return self._replies[seed][item.id]

    def _of(self, seed: int, say: Callable[[str], None]) -> dict[str, str]:
        asking = self.suite.asking
        assert asking is not None, "replies are asked for in a run"
        folder = self.folder(asking.folder) / f"seed-{seed}"
        place = folder / _PREDICTIONS
        if place.is_file():
            return _read(place, self.suite.items)
        kept = self._trained(seed, folder / ".checkpoints", say)
        try:
            with replacing(place, durable=True) as file:
                file.write(msgspec.json.format(msgspec.json.encode(kept), indent=1))
        except OSError as error:
            raise RunError(f"{place} can't be written ({error.strerror}); make room and go on with the run.") from None
        return kept.replies

    def _trained(self, seed: int, scratch: Path, say: Callable[[str], None]) -> Kept:
        suite = self.suite
        assert suite.asking is not None, "replies are asked for in a run"
        settings = read_settings(suite.asking.folder / SETTINGS)
        learnt, valid = _divided(suite, settings)
        of = f"{_named(suite)}: {len(learnt.items):,} items, stopped by {len(valid.items):,}"
        done: dict[str, Trained] = {}
        predicted: dict[str, list[list[Any]]] = {}
        session = _Session(seed, settings, scratch, learnt, valid, say)
        for part in self.head.parts:
            said = f"{part.name}, " if part.name else ""
            say(f"{said}fine-tuning on {of}")
            done[part.name] = self._train(part, session)
            predicted[part.name] = _grouped(done[part.name].predictions, _examples(part, suite.material))
        last = done[self.head.parts[-1].name]
        return Kept(
            model=self.model,
            revision=last.revision,
            seed=seed,
            device=last.device,
            trained_on=of,
            epochs={name: one.epochs for name, one in done.items()},
            figures={name: one.figure for name, one in done.items()},
            replies={
                item.id: self.head.reply(item, {name: found[place] for name, found in predicted.items()})
                for place, item in enumerate(suite.material.items)
            },
        )

    def _train(self, part: EncoderModel, session: _Session) -> Trained:
        from genaipa_suites.encoders.training import Job, fine_tune

        suite, valid = self.suite, _examples(part, session.valid)
        assert suite.asking is not None, "replies are asked for in a run"

        def figure(found: Sequence[Any]) -> float:
            return self._figure(part, session.valid, _grouped(found, valid))

        def say(how_far: str) -> None:
            session.say(f"{part.name}, {how_far}" if part.name else how_far)

        job = Job(
            model=self.model,
            kind=part.kind,
            seed=session.seed,
            train=_flat(_examples(part, session.learnt)),
            valid=_flat(valid),
            asked=_flat(_examples(part, suite.material)),
            figure=figure,
            settings=session.settings,
            scratch=session.scratch,
            say=say,
            over=suite.asking.over,
        )
        try:
            return fine_tune(job)
        except (OSError, RuntimeError) as error:
            # Torch raises these: too little memory, a full disk, a driver.
            raise RunError(
                f"{self.name}: fine-tuning with seed {session.seed} failed "
                f"({clipped(' '.join(str(error).split()), 300)}); seeds that were done are kept. Mend it and go on "
                "with the run."
            ) from error

    def _figure(self, part: EncoderModel, valid: Material, found: Sequence[list[Any]]) -> float:
        """The suite's own figure of a part's predictions for the validation items, the other parts being right."""
        suite = self.suite
        measure = next((one for one in suite.measures if one.name == part.figure), suite.measures[0])
        outcomes = []
        for item, mine in zip(valid.items, found, strict=True):
            others = {one.name: [each.target for each in one.examples(item, valid)] for one in self.head.parts}
            reply = self.head.reply(item, {**others, part.name: mine})
            outcomes.append(Outcome(item, suite.given(item, reply)))
        return measure.of(outcomes)


def _named(suite: Suite) -> str:
    return "the very items asked" if suite.learns_from == suite.plan.split else f"the {suite.learns_from} split"


class _Session(NamedTuple):
    """One seed being trained."""

    seed: int
    settings: TrainingSettings
    scratch: Path
    learnt: Material
    valid: Material
    say: Callable[[str], None]


def folder_name(model: str) -> str:
    """A model's name as that of a folder: two models never share one."""
    plain = re.sub(r"[^\w.-]+", "_", model).strip("._")
    return plain if plain == model else f"{plain[-60:]}-{digest(model)[:8]}"


def _read(place: Path, items: Mapping[str, Item]) -> dict[str, str]:
    try:
        kept = msgspec.json.decode(place.read_bytes(), type=Kept)
    except (OSError, *DAMAGE) as error:
        raise DataError(place, f"can't be read ({why(error)}); delete it, to have its seed trained again.") from None
    if lacking := next((name for name in items if name not in kept.replies), None):
        raise DataError(place, "has no reply to this item; delete it, to have its seed trained again.", lacking)
    return kept.replies


def _divided(suite: Suite, settings: TrainingSettings) -> tuple[Material, Material]:
    """Items to learn from, and items to stop by: a validation split, or a share of the train split."""
    learnt = suite.training
    known = {item.id for item in learnt.items}
    for split in suite.splits:
        if split in VALIDATION and suite.plan.split not in (split, suite.learns_from):
            try:
                valid = suite.load(split)
            except DataError:
                raise
            except UsageError:
                break  # it is not here
            if known.isdisjoint(item.id for item in valid.items):
                return learnt, valid
    if len(learnt.items) < FEWEST:
        raise UsageError(f"{suite.title}: {len(learnt.items)} items are too few to be fine-tuned on.")
    from genaipa_suites.material import split_off

    kept, aside = split_off(len(learnt.items), settings.validation_share)
    parts = (tuple(learnt.items[place] for place in sorted(places)) for places in (kept, aside))
    return Material(next(parts), learnt.documents), Material(next(parts), learnt.documents)


def _examples(part: EncoderModel, material: Material) -> list[list[Example]]:
    return [part.examples(item, material) for item in material.items]


def _flat(examples: Sequence[list[Example]]) -> list[Example]:
    return [one for each in examples for one in each]


def _grouped(found: Sequence[Any], examples: Sequence[list[Example]]) -> list[list[Any]]:
    """Predictions by item, one for each example of it."""
    rest = iter(found)
    return [[next(rest) for _ in each] for each in examples]
