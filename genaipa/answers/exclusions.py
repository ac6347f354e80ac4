"""Which answers an audit leaves out of analyses, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.answers.fact import Column, StudyFact
from genaipa.runs.imported import audit_of, excluded_answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.answers.fact import StudyInputs


class Exclusions(StudyFact):
    """The reasons of the audits of the study's runs (`runs.imported`)."""

    name = "exclusions"
    columns = {"excluded": Column("category", "why an audit leaves the row out; empty if it does not")}

    def compute(self, study: StudyInputs, answers: pd.DataFrame) -> Mapping[str, Any] | None:
        """Look up the reason of each answer."""
        reasons = {
            (source.folder.name, key): finding.reason
            for source in study.sources
            for key, finding in excluded_answers(audit_of(source.folder)).items()
        }
        if not reasons:
            return None
        return {"excluded": [reasons.get(place, "") for place in zip(answers["run"], answers["key"], strict=True)]}
