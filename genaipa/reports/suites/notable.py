"""The sentences on suites that no reader may miss: replies with faults, items not asked, items that measure nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from genaipa.reports.suites.results import boards
from genaipa.suites.material import FAULTS
from genaipa.suites.suite import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.suites.results import Board, Result


def of_suites(results: Iterable[Result]) -> list[str]:
    """Sentences on the suites' runs; none where everything was asked and could be read."""
    said = []
    for board in boards(results):
        if board.plan.split == SAMPLE:
            said.append(f"{board.title}: the items of a sample are made up, and measure nothing.")
        said += _faults(board)
        if missing := sum(result.missing for result in board.results):
            wanted = sum(result.planned for result in board.results)
            said.append(f"{board.title}: not asked, and not scored: {missing:,} of {wanted:,}.")
    return said


def _faults(board: Board) -> list[str]:
    """A sentence on the faulty replies of each system, which are scored 0."""
    found = []
    for result in board.results:
        counted = Counter({fault: result.faults[fault] for fault in FAULTS if result.faults[fault]})
        if counted:
            kinds = ", ".join(f"{fault} {number:,}" for fault, number in counted.most_common())
            asked = len(result.outcomes)
            found.append(
                f"{board.title}: {counted.total():,} of {asked:,} replies of {result.system} are scored 0: {kinds}."
            )
    return found
