"""The sentences on suites that no reader may miss: replies with faults, items not asked, items that measure nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from genaipa.words import some
from genaipa_suites.encoders import encoder
from genaipa_suites.material import FAULTS
from genaipa_suites.plan import SAMPLE
from genaipa_suites.report.results import boards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa_suites.report.results import Board, Result


def of_suites(results: Iterable[Result]) -> list[str]:
    """Sentences on the suites' runs; none if everything was asked and could be read."""
    said, asked = [], boards(results)
    if samples := dict.fromkeys(board.suite.title for board in asked if board.plan.split == SAMPLE):
        said.append(f"The items of a sample are made up, and measure nothing: {', '.join(samples)}.")
    for board in asked:
        if names := board.suite.material.own:
            said.append(
                f"{board.title}: not the published items, but those of files of your own ({some(names, 1)}), so that "
                f"there are no published rows. For these: genaipa get {board.suite.data[0].name}"
            )
        said += [f"{board.title}: {why}" for one in board.results if (why := encoder.warning(one.suite, one.system))]
        if faulty := list(_faults(board)):
            said.append(f"{board.title}: replies with a fault are scored 0: {'; '.join(faulty)}.")
        if unfinished := [f"{one.system} {one.unfinished:,}" for one in board.results if one.unfinished]:
            said.append(f"{board.title}: answers left out, of repetitions that are not whole: {', '.join(unfinished)}.")
        if missing := sum(result.missing for result in board.results):
            wanted = sum(result.planned for result in board.results)
            said.append(f"{board.title}: not asked, and not scored: {missing:,} of {wanted:,}.")
    return said


def _faults(board: Board) -> Iterator[str]:
    """The number of faulty replies of each system that has any, with their kinds, the most frequent first."""
    for result in board.results:
        counted = Counter({fault: result.faults[fault] for fault in FAULTS if result.faults[fault]})
        if counted:
            kinds = ", ".join(f"{fault} {number:,}" for fault, number in counted.most_common())
            yield f"{result.system} {counted.total():,} of {len(result.outcomes):,} ({kinds})"
