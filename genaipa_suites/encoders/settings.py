"""How encoders are fine-tuned: the file `suites/encoders/training.yaml`, the workspace's over the shipped one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import read_text
from genaipa_suites.data import FOLDER, folders

if TYPE_CHECKING:
    from pathlib import Path

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
