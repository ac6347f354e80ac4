"""The desk's settings, handed from the command to the pages through the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from genaipa.errors import UsageError
from genaipa.scoring.assignment import ScoringPlan

VARIABLE = "GENAIPA_DESK"


class DeskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a study's scoring at the desk: the `plan`, and what is to be scored.

    `runs` names the runs to score, as `runs.selection.select` takes names; empty means every run of the workspace. With
    `excluded`, answers that an audit excludes from analyses are scored too. `sample` is the size of the wave in each
    group, or all for everything; by default (None) it is that of the workspace's wave, which is drawn where a group has
    more than `waves.SIZE` answers.
    """

    workspace: Path
    runs: tuple[str, ...] = ()
    excluded: bool = False
    sample: int | Literal["all"] | None = None
    suggestions: bool = True
    plan: ScoringPlan = ScoringPlan()

    def handed_on(self) -> dict[str, str]:
        """The environment variable by which the desk's server gets these settings."""
        return {VARIABLE: msgspec.json.encode(self, enc_hook=str).decode()}


def handed_settings() -> DeskSettings:
    """The settings that `genaipa score` handed on; a UsageError where the pages were started in another way."""
    text = os.environ.get(VARIABLE)
    if text is None:
        raise UsageError("the desk's pages are opened with: genaipa score")
    return msgspec.json.decode(text, type=DeskSettings, dec_hook=lambda kind, value: kind(value))
