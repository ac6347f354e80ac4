"""Whether an answer is in the random part of its answers that people are asked to score, and by what chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genaipa.answers.fact import Column, StudyFact
from genaipa.scoring.waves import compute_wave_inclusion_and_chance

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.answers.fact import StudyInputs


class WaveMembership(StudyFact):
    """The wave of an answer's system and experiment (`scoring.waves`), as far as people finished it."""

    name = "wave"
    columns = {
        "in_wave": Column(
            "category",
            "yes or no: whether it is in the random part that people are asked to score; empty if no part was "
            "drawn from its group",
            values=("yes", "no"),
        ),
        "pi": Column("float64", "the probability that it was drawn into the random part"),
        "planned": Column(
            "category",
            "first, later or no: whether the first random part includes it, only a later and larger one does, or "
            "none does, regardless of how much is scored; empty if no part was drawn from its group",
            values=("first", "later", "no"),
        ),
    }
    reads_scores = True

    def compute_answer_columns(self, study: StudyInputs, answers: pd.DataFrame) -> Mapping[str, Any] | None:
        """Look the answers up in the waves, as they are finished, were drawn first and are asked for."""
        if not study.waves:
            return None
        included = compute_wave_inclusion_and_chance(answers, study.waves)
        is_drawn, in_wave = included["pi"].notna(), included["in_wave"]
        first, whole = (
            in_wave if waves == study.waves else compute_wave_inclusion_and_chance(answers, waves)["in_wave"]
            for waves in study.waves.waves_at_first_and_latest_sizes
        )
        return {
            "pi": included["pi"].to_numpy(),
            "in_wave": np.where(is_drawn, np.where(in_wave, "yes", "no"), ""),
            "planned": np.where(is_drawn, np.select([first, whole], ["first", "later"], "no"), ""),
        }
