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

from genaipa.errors import DataError, RunError, UsageError, clip
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import DAMAGE, clip_error_message, read_text, sha256_of
from genaipa.systems.catalog import resolve_system
from genaipa_suites.data import FOLDER, workspace_and_shipped_data_folders
from genaipa_suites.encoders.system import EncoderSystem
from genaipa_suites.material import Material, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
    from genaipa_suites.encoders.training import TrainingResult
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


def read_training_settings_text(suite: Suite) -> str:
    """Return the text of a run's settings: the run folder's, else the nearest file's; a DataError where it is wrong."""
    if suite.folder is not None:
        return read_text(suite.folder.path / SETTINGS)
    nearest = next(
        path for folder in workspace_and_shipped_data_folders(suite.workspace) if (path := folder / _FILE).is_file()
    )
    read_training_settings(nearest)
    return read_text(nearest)


def read_training_settings(path: Path) -> TrainingSettings:
    """Read the settings of a file; a DataError for a field that is missing, unknown or out of its range."""
    return read_yaml(path, TrainingSettings)


VALIDATION = ("validation", "valid", "dev")
"""Names of splits that a training may look at to stop in time; a test split never is one."""
_PREDICTIONS = "predictions.json"
FEWEST = 4
"""Items that a training needs at least, one of them to stop by."""


@dataclass(frozen=True)
class EncoderRun:
    """A run while it is asked: its folder, and whether it is over."""

    folder: Path
    ended: threading.Event = field(default_factory=threading.Event)


class SeedResult(msgspec.Struct, frozen=True):
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


class _SeedOrigin(msgspec.Struct, frozen=True):
    trained_on: str


def find_encoder(suite: Suite, system: str) -> Encoder | None:
    """Return the encoder that a system of a run is, None for any other; a UsageError for a suite that has none."""
    model = _model_of_encoder_system(suite, system)
    if model is None:
        return None
    if suite.head is None:
        raise UsageError(
            f"{system} can't be fine-tuned for {suite.name}, which has no classification head; leave out the system "
            "or the suite."
        )
    return Encoder(suite, system, model, suite.head)


def _model_of_encoder_system(suite: Suite, system: str) -> str | None:
    if system not in suite.spec.systems:
        return None
    try:
        resolved = resolve_system(system, suite.workspace)
    except UsageError:
        return None  # a report may be of a system that this workspace does not know
    return resolved.model if resolved.provider == EncoderSystem.provider.name else None


def check_options_and_list_training_notes(suite: Suite) -> list[str]:
    """Return sentences on a suite's fine-tuned systems; a UsageError for options that are for prompts alone."""
    encoders = [encoder for name in suite.spec.systems if (encoder := find_encoder(suite, name))]
    for option, chosen in (("probe", suite.plan.probe), ("shots", suite.plan.shots)):
        if encoders and chosen:
            raise UsageError(
                f"'{option}' applies only to prompted systems; {encoders[0].name} is fine-tuned, so leave "
                f"the option out."
            )
    # A run that goes on has said it, and needs the train split for the seeds that are missing alone.
    return (
        [f"{suite.title}: {encoder.name} is {encoder.training_split_and_seeds_sentence}" for encoder in encoders]
        if suite.folder is None
        else []
    )


def training_settings_for_run_folder(suite: Suite) -> dict[str, str]:
    """Return the settings of training, under their name in the run folder; nothing where no encoder is asked."""
    has_encoder = any(_model_of_encoder_system(suite, name) is not None for name in suite.spec.systems)
    return {SETTINGS: read_training_settings_text(suite)} if has_encoder else {}


def training_note_or_empty(suite: Suite, system: str) -> str:
    """Describe how a reported system was fine-tuned; empty for one that is no encoder."""
    encoder = find_encoder(suite, system)
    if encoder is None:
        return ""
    assert suite.folder is not None, "a report covers a run"
    predictions_path = next(encoder.seeds_folder(suite.folder.path).glob(f"seed-*/{_PREDICTIONS}"), None)
    # What it needs of the file is at its begin, and a run may have been packed without.
    training_text = (
        f" on {msgspec.json.decode(predictions_path.read_bytes(), type=_SeedOrigin).trained_on}"
        if predictions_path
        else ""
    )
    return f"fine-tuned{training_text}"


def leakage_warning_or_empty(suite: Suite, system: str) -> str:
    """Return a sentence on an encoder that saw the policies that it was asked about; empty for any other system."""
    encoder = find_encoder(suite, system)
    return f"{system} is fine-tuned. {encoder.leakage_note}" if encoder and encoder.leakage_note else ""


class Encoder:
    """One model that is fine-tuned for a suite. Replies are asked for one after another."""

    def __init__(self, suite: Suite, name: str, model: str, head: EncoderHead) -> None:
        self.suite, self.name, self.model, self.head = suite, name, model, head
        self._replies: dict[int, dict[str, str]] = {}

    @property
    def training_split_and_seeds_sentence(self) -> str:
        """A sentence on its training split, its seeds, and whether it saw the policies that it is asked about."""
        suite, seeds = self.suite, self.suite.spec.repetitions
        seeds_text = f"once for each of the seeds 0 to {seeds - 1}" if seeds > 1 else "with seed 0"
        size = f"{len(suite.training.items):,} items with their labels"
        sentence = f"fine-tuned here on {_describe_training_split(suite)} ({size}), {seeds_text}"
        return f"{sentence}. {self.leakage_note}" if self.leakage_note else sentence

    @property
    def leakage_note(self) -> str:
        """The sentence on what it saw of the published splits in training; empty for other items."""
        published = self.suite.plan.split in self.suite.splits and not self.suite.material.own
        return self.suite.leakage_note if published else ""

    def seeds_folder(self, run_folder: Path) -> Path:
        """Return the folder of its seeds in a run folder."""
        return run_folder / "encoders" / model_folder_name(self.model) / self.suite.name

    def load_or_train_reply(self, item: Item, repetition: int, report_progress: Callable[[str], None]) -> str:
        """Return the reply to an item in a repetition; the first one of a repetition may train for hours."""
        seed = repetition - 1
        if seed not in self._replies:
            self._replies[seed] = self._load_or_train_replies(
                seed, lambda progress: report_progress(f"{self.name}, seed {seed}: {progress}")
            )
        return self._replies[seed][item.id]

    def _load_or_train_replies(self, seed: int, report_progress: Callable[[str], None]) -> dict[str, str]:
        encoder_run = self.suite.encoder_run
        assert encoder_run is not None, "replies are requested in a run"
        folder = self.seeds_folder(encoder_run.folder) / f"seed-{seed}"
        path = folder / _PREDICTIONS
        if path.is_file():
            return _read_seed_replies(path, self.suite.items)
        result = self._train_and_predict_seed(seed, folder / ".checkpoints", report_progress)
        try:
            with open_for_atomic_write(path, durable=True) as file:
                file.write(msgspec.json.format(msgspec.json.encode(result), indent=1))
        except OSError as error:
            raise RunError(f"{path} can't be written ({error.strerror}); free some space and resume the run.") from None
        return result.replies

    def _train_and_predict_seed(
        self, seed: int, checkpoint_folder: Path, report_progress: Callable[[str], None]
    ) -> SeedResult:
        suite = self.suite
        assert suite.encoder_run is not None, "replies are requested in a run"
        settings = read_training_settings(suite.encoder_run.folder / SETTINGS)
        training, valid = _load_training_and_validation_items(suite, settings)
        description = (
            f"{_describe_training_split(suite)}: {len(training.items):,} items, with {len(valid.items):,} "
            "validation items for early stopping"
        )
        trainings: dict[str, TrainingResult] = {}
        predicted: dict[str, list[list[Any]]] = {}
        session = _SeedTraining(seed, settings, checkpoint_folder, training, valid, report_progress)
        for part in self.head.parts:
            prefix = f"{part.name}, " if part.name else ""
            report_progress(f"{prefix}fine-tuning on {description}")
            trainings[part.name] = self._train_encoder_model(part, session)
            predicted[part.name] = _group_predictions_by_item(
                trainings[part.name].predictions, _make_examples_of_each_item(part, suite.material)
            )
        last = trainings[self.head.parts[-1].name]
        return SeedResult(
            model=self.model,
            revision=last.revision,
            seed=seed,
            device=last.device,
            trained_on=description,
            epochs={name: result.epochs for name, result in trainings.items()},
            figures={name: result.figure for name, result in trainings.items()},
            replies={
                item.id: self.head.reply(
                    item, {name: item_predictions[index] for name, item_predictions in predicted.items()}
                )
                for index, item in enumerate(suite.material.items)
            },
        )

    def _train_encoder_model(self, encoder_model: EncoderModel, session: _SeedTraining) -> TrainingResult:
        from genaipa_suites.encoders.training import TrainingJob, fine_tune_and_predict

        suite, valid = self.suite, _make_examples_of_each_item(encoder_model, session.valid)
        assert suite.encoder_run is not None, "replies are requested in a run"

        def score_validation(predictions: Sequence[Any]) -> float:
            return self._score_validation(encoder_model, session.valid, _group_predictions_by_item(predictions, valid))

        def say_progress_of_model(how_far: str) -> None:
            session.say(f"{encoder_model.name}, {how_far}" if encoder_model.name else how_far)

        job = TrainingJob(
            model=self.model,
            kind=encoder_model.kind,
            seed=session.seed,
            train=_flatten_examples(_make_examples_of_each_item(encoder_model, session.training)),
            valid=_flatten_examples(valid),
            items=_flatten_examples(_make_examples_of_each_item(encoder_model, suite.material)),
            figure=score_validation,
            settings=session.settings,
            scratch=session.scratch,
            say=say_progress_of_model,
            run_ended=suite.encoder_run.ended,
        )
        try:
            return fine_tune_and_predict(job)
        except (OSError, RuntimeError) as error:
            # Torch raises these: too little memory, a full disk, a driver.
            raise RunError(
                f"{self.name}: fine-tuning with seed {session.seed} failed "
                f"({clip(' '.join(str(error).split()), 300)}); finished seeds are kept. Fix the cause and "
                "resume the run."
            ) from error

    def _score_validation(
        self, encoder_model: EncoderModel, validation: Material, predictions: Sequence[list[Any]]
    ) -> float:
        """Score a part's predictions for the validation items by the suite's measure, all other parts being right."""
        suite = self.suite
        measure = next(
            (candidate for candidate in suite.measures if candidate.name == encoder_model.figure), suite.measures[0]
        )
        outcomes = []
        for item, item_predictions in zip(validation.items, predictions, strict=True):
            gold = {
                candidate.name: [example.target for example in candidate.examples(item, validation)]
                for candidate in self.head.parts
            }
            reply = self.head.reply(item, {**gold, encoder_model.name: item_predictions})
            outcomes.append(Outcome(item, suite.parse_reply(item, reply)))
        return measure.compute(outcomes)


def _describe_training_split(suite: Suite) -> str:
    return (
        "the same items that are asked"
        if suite.training_split == suite.plan.split
        else f"the {suite.training_split} split"
    )


class _SeedTraining(NamedTuple):
    """One seed being trained."""

    seed: int
    settings: TrainingSettings
    scratch: Path
    training: Material
    valid: Material
    say: Callable[[str], None]


def model_folder_name(model: str) -> str:
    """Return a folder name for a model; two models never share one."""
    plain = re.sub(r"[^\w.-]+", "_", model).strip("._")
    return plain if plain == model else f"{plain[-60:]}-{sha256_of(model)[:8]}"


def _read_seed_replies(path: Path, items: Mapping[str, Item]) -> dict[str, str]:
    try:
        result = msgspec.json.decode(path.read_bytes(), type=SeedResult)
    except (OSError, *DAMAGE) as error:
        raise DataError(
            path, f"can't be read ({clip_error_message(error)}); delete it to train this seed again."
        ) from None
    if missing_item := next((name for name in items if name not in result.replies), None):
        raise DataError(path, "has no reply to this item; delete it to train this seed again.", missing_item)
    return result.replies


def _load_training_and_validation_items(suite: Suite, settings: TrainingSettings) -> tuple[Material, Material]:
    """Return the items to learn from, and the items to stop by: a validation split, or a share of the train split."""
    training = suite.training
    training_ids = {item.id for item in training.items}
    for split in suite.splits:
        if split in VALIDATION and suite.plan.split not in (split, suite.training_split):
            try:
                valid = suite.load(split)
            except DataError:
                raise
            except UsageError:
                break  # it is not here
            if training_ids.isdisjoint(item.id for item in valid.items):
                return training, valid
    if len(training.items) < FEWEST:
        raise UsageError(
            f"{suite.title}: fine-tuning needs at least {FEWEST} items, but there are only {len(training.items)}."
        )
    from genaipa_suites.material import split_rows_into_training_and_validation

    kept_rows, validation_rows = split_rows_into_training_and_validation(len(training.items), settings.validation_share)
    parts = (tuple(training.items[row] for row in sorted(rows)) for rows in (kept_rows, validation_rows))
    return Material(next(parts), training.documents), Material(next(parts), training.documents)


def _make_examples_of_each_item(encoder_model: EncoderModel, material: Material) -> list[list[EncoderExample]]:
    return [encoder_model.examples(item, material) for item in material.items]


def _flatten_examples(examples_of_each_item: Sequence[list[EncoderExample]]) -> list[EncoderExample]:
    return [example for item_examples in examples_of_each_item for example in item_examples]


def _group_predictions_by_item(
    predictions: Sequence[Any], examples_of_each_item: Sequence[list[EncoderExample]]
) -> list[list[Any]]:
    """Return the predictions by item, one for each example of it."""
    remaining = iter(predictions)
    return [[next(remaining) for _ in item_examples] for item_examples in examples_of_each_item]
