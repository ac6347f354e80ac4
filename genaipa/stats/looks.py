"""The p below which a difference counts, by how much of what was planned is scored (Haybittle, 1971; Peto, 1976).

Whoever looks at a study as often as they like, and stops when something shows, finds that alike systems differ: at
p < .05 after ten looks in 17 of 100 studies. So a difference counts at p < .001 until the planned answers are scored,
and at p < .05 then; between, while the last 5 % of them come in, at p < .02. Where the plan was enlarged, its smaller
size had an end of its own, and the last one is at .01. No look needs to be written down, and nothing is lost at the
end. A look after every answer adds less than one false alarm in 100 studies (`docs/method/coverage.md`).
Intervals of differences are those of the level, so that they agree with what is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNIFICANT = 0.05
"""An adjusted p below this is taken for more than chance, once all that was planned is scored."""
EARLY = 0.001
"""The same before the planned end."""
NEARLY = 0.02
"""The same while at most `UNFINISHED` of the planned answers wait."""
ENLARGED = 0.01
"""The same at the end of a plan that was enlarged."""
LEAST_QUESTIONS = 16
"""Before the end, nothing counts on fewer questions."""
UNFINISHED = 0.05
"""The share of the planned answers that may lack scores, shortly before the end."""


def interim_significance_level(
    planned_by_side: Sequence[int], scored_by_side: Sequence[int], was_enlarged_by_side: Sequence[bool]
) -> float:
    """Return the level for what is compared, of the answers planned and scored of each side.

    The planned end is there when each side's is. A side without a plan counts as complete, and so does a study of none.

    >>> interim_significance_level([160, 160], [160, 80], [False, False])
    0.001
    """
    sides = list(zip(planned_by_side, scored_by_side, strict=True))
    if any(scored_answers < 0 or scored_answers > planned_answers for planned_answers, scored_answers in sides) or len(
        was_enlarged_by_side
    ) != len(sides):
        raise ValueError(
            "each side needs its planned answers, how many of them are scored, and whether its plan was enlarged"
        )
    lack = max(
        (
            (planned_answers - scored_answers) / planned_answers
            for planned_answers, scored_answers in sides
            if planned_answers
        ),
        default=0.0,
    )
    if lack > UNFINISHED:
        return EARLY
    if any(was_enlarged_by_side):
        return ENLARGED
    return NEARLY if lack else SIGNIFICANT
