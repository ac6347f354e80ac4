"""Proposals on the Score page: the values of a settled case, for the analyst to accept or change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import GenaipaError
from genaipa.scoring.evidence.settled import JUST, ScoredAnswer, begins_blank, near_repeat, rightly_silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.scoring.evidence.settled import Proposal
    from genaipa.ui.answer_view import Prepared
    from genaipa.ui.desk import Desk


def proposed(desk: Desk, analyst: str, digest: str, prepared: Callable[[str], Prepared]) -> Proposal | None:
    """The values that an analyst may accept for this answer; None if they are to find them themselves.

    That is everybody for one settled case in five and for calibration, the reference analysts always, and whoever
    scores an answer that somebody has scored from a proposal: so their scores can be compared. Of others' scores
    nothing else is used.
    """
    queue = desk.queue
    if not queue.plan.settled or analyst in queue.plan.reference or queue.is_calibration(digest, analyst):
        return None
    if any(score.preselected for score in desk.current.scores(digest).values()):
        return None
    if begins_blank(digest):
        return None
    here = prepared(digest)
    found = rightly_silent(here.reply, here.evidence, desk.rubric)
    return found or near_repeat(here.reply, here.evidence, _just_scored(desk, analyst, digest, prepared))


def _just_scored(desk: Desk, analyst: str, digest: str, prepared: Callable[[str], Prepared]) -> Iterator[ScoredAnswer]:
    """This analyst's last answers to the same question about the same document, the last first.

    Only what they gave before they saw how others scored the answer.
    """
    here = desk.pool.answers[digest]
    for score in reversed(desk.queue.history(analyst).scores[-JUST:]):
        there = desk.pool.answers.get(score.answer)
        same = there and (there.document_digest, there.question) == (here.document_digest, here.question)
        if same and score.independent and score.values is not None and score.answer != digest:
            try:
                shown = prepared(score.answer)
            except GenaipaError:
                continue  # it can no longer be read
            yield ScoredAnswer(shown.reply, shown.evidence, score.values)
