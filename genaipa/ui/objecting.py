"""Objections on the Score page: an analyst's own word on the annotated answer on screen, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError
from genaipa.questions.annotations import SAID
from genaipa.scoring.events import Objection
from genaipa.scoring.objections import filed, own, proved
from genaipa.ui.widgets import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.answers import Case
    from genaipa.scoring.objections import Filed
    from genaipa.ui.desk import Desk


def on_screen(desk: Desk, analyst: str, case: Case, trouble: str) -> dict[str, Any] | None:
    """The analyst's objection to the annotated answer, if any, for the pad; None if there is no annotated answer."""
    if case.annotated is None:
        return None
    mine = _mine(desk, analyst, case)
    right = mine.said.correction if mine else None
    return {
        "mine": right
        and {
            "passage": right.proof(case.document.text),
            "silent": right.silent or case.annotated.silent,
            "answer": right.answer,
            "why": right.why,
        },
        "trouble": trouble,
    }


def take(desk: Desk, analyst: str, case: Case, said: Mapping[str, Any] | None) -> str:
    """Keep an objection, or withdraw it (None); the sentence that says why it is not kept, empty if it is."""
    mine = _mine(desk, analyst, case)
    try:
        if said is not None:
            _keep(desk, analyst, case, said, mine)
        elif mine is not None:
            desk.queue.withdraw(mine.event)
    except GenaipaError as error:
        return f"Not kept: {told(error)}"
    return ""


def _keep(desk: Desk, analyst: str, case: Case, said: Mapping[str, Any], mine: Filed | None) -> None:
    chosen = next((value for value in SAID if value == said["silent"]), None)
    changed = case.annotated is not None and chosen != case.annotated.silent
    passage, answer, why = (str(said[name]) for name in ("passage", "answer", "why"))
    right = proved(case.document, passage, silent=chosen if changed else None, answer=answer, why=why)
    if mine is None or mine.said.correction != right:
        about = (case.document.name, case.document.digest, case.questions, case.answer.question)
        desk.queue.object(analyst, case.answer.digest, Objection(*about, right))


def _mine(desk: Desk, analyst: str, case: Case) -> Filed | None:
    about = (case.document.digest, case.questions, case.answer.question)
    return own(filed(desk.current.objections()), analyst, about)
