"""The partner from whom a score came: a fact about scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.answers.fact import Column, ScoreFact
from genaipa_partners.joining import read_partner_or_empty

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from genaipa.answers.fact import Row, StudyInputs
    from genaipa.scoring.events import Event


class Partner(ScoreFact):
    """The partner whose analyst gave a score."""

    name = "partner"
    columns: ClassVar = {
        "partner": Column("category", "the partner whose analyst gave the score; empty for the coordinator's own")
    }

    def make_event_reader(self, study: StudyInputs, answers: pd.DataFrame) -> Callable[[Event], Row] | None:  # noqa: ARG002 - an event tells it
        """Return what reads a score's partner."""

        def read_partner_of_score(event: Event) -> Row:
            partner = read_partner_or_empty(event)
            return {"partner": partner} if partner else {}

        return read_partner_of_score
