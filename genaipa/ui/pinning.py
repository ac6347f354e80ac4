"""The passage that is pinned for a question on the Score page: there one begins to read for later answers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import UsageError
from genaipa.files.strict_yaml import digest
from genaipa.scoring.events import Pin
from genaipa.ui.answer_view import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.answers import Case
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


def on_screen(desk: Desk, user: User, case: Case) -> dict[str, int] | None:
    """The place of the pinned passage as JavaScript counts characters, if there is one; none while one calibrates."""
    if desk.queue.is_calibration(case.answer.digest, user.name):
        return None
    event = desk.current.pin(_of(case).about)
    text, pin = case.document.text, event and event.annotation
    if not isinstance(pin, Pin) or pin.at is None or digest(text[slice(*pin.at)]) != pin.sha256:
        return None
    return {"at": units(text[: pin.at[0]]), "length": units(text[slice(*pin.at)])}


def take(desk: Desk, user: User, case: Case, said: Mapping[str, Any]) -> None:
    """Pin a passage in the place of an earlier one, or take it away; a UsageError where this user may not."""
    if desk.queue.is_calibration(case.answer.digest, user.name):
        raise UsageError("no passage is pinned while your scores are compared with the reference analyst's.")
    text, none = case.document.text, _of(case)
    start, end = (_characters(text, int(said["at"]) + more) for more in (0, int(said["length"])))
    if not text[start:end].strip():
        raise UsageError("the document has no such passage.")
    pin = Pin(none.document, *none.about, (start, end), digest(text[start:end]))
    before = desk.current.pin(none.about)
    same = before is not None and before.annotation == pin
    if before is not None and same and said["remove"]:
        if user.name != before.analyst and not user.adjudicates:
            raise UsageError("whoever pinned it, or an adjudicator, can take it away; you can pin another passage.")
        desk.queue.pin(user.name, case.answer.digest, none)
    elif not same and not said["remove"]:
        desk.queue.pin(user.name, case.answer.digest, pin)


def _of(case: Case) -> Pin:
    """A pin of nothing for a case's question."""
    return Pin(case.document.name, case.document.digest, case.questions, case.answer.question)


def _characters(text: str, counted: int) -> int:
    """An offset that JavaScript counted, in characters."""
    return len(text.encode("utf-16-le")[: 2 * max(counted, 0)].decode("utf-16-le", "ignore"))
