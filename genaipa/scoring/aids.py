"""Aids of the desk: what it shows beside an answer that could lead an analyst, each withheld from one score in five.

Chance withholds them, each by itself, and the score records what it drew: so reports can tell what an aid does to
values and to seconds. A package's aid is an object, found by an entry point of the group `genaipa.aids`; it is withheld
with the panel of the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.files.text import sha256_of
from genaipa.plugins import load_entry_points_of_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.scoring.assignment import ScoringPlan

GROUP = "genaipa.aids"
NEAREST, EVIDENCE, SUGGESTIONS = "nearest", "evidence", "suggestions"
_WITHHELD = 5
"""An aid is withheld from one in so many scores."""


@dataclass(frozen=True)
class Aid:
    """Something that the desk shows beside an answer and that could lead an analyst.

    `title` names it in the plural; `switch` is what turns it off, in words that end a sentence.
    """

    title: str
    switch: str


OWN: dict[str, Aid] = {
    NEAREST: Aid("nearest sentences", "nearest: false in the plan of desk.yaml"),
    EVIDENCE: Aid("evidence lines", "evidence: false in the plan of desk.yaml"),
    SUGGESTIONS: Aid("suggested values", "suggestions: false in the plan of desk.yaml"),
}
"""The desk's own aids, by the names of their fields in `assignment.ScoringPlan`."""


def load_built_in_and_plugin_aids() -> dict[str, Aid]:
    """Return the aids of the desk and of the installed packages, by name."""
    return {**load_entry_points_of_type(GROUP, Aid), **OWN}


def list_built_in_aids_in_plan(plan: ScoringPlan) -> tuple[str, ...]:
    """Name the desk's own aids that a study's plan has on."""
    return tuple(name for name in OWN if getattr(plan, name))


def draw_withheld_aids(aid_names: Iterable[str], *, seed: int, answer_digest: str, analyst: str) -> frozenset[str]:
    """Draw the aids that are withheld from an analyst at an answer: always the same, and each by itself."""
    return frozenset(
        name
        for name in aid_names
        if int(sha256_of(f"{seed}\0{answer_digest}\0{analyst}\0{name}")[:8], 16) % _WITHHELD == 0
    )
