"""Which answers their runs exclude from averages, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.answers.fact import Column, StudyFact
from genaipa.runs.exclusions import read_exclusions

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.answers.fact import StudyInputs


class Exclusions(StudyFact):
    """The reasons of the study's runs (`runs.exclusions`)."""

    name = "exclusions"
    columns = {
        "excluded": Column("category", "why averages exclude the row (`other-company: …`); empty if they include it")
    }

    def compute_answer_columns(self, study: StudyInputs, answers: pd.DataFrame) -> Mapping[str, Any] | None:
        """Look up the reason of each answer."""
        reasons = {
            (source.folder.name, key): str(exclusion)
            for source in study.sources
            for key, exclusion in read_exclusions(source.folder, "answer").items()
        }
        if not reasons:
            return None
        return {
            "excluded": [reasons.get(answer_key, "") for answer_key in zip(answers["run"], answers["key"], strict=True)]
        }
