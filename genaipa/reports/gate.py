"""The gate of a job: whether a new release lost points of M_all for sure, by the same rule over time and side by side.

A loss is sure where its interval leaves out 0, at the level that a comparison has to show: of equal pairs at most one
in 40 seems to have lost, since a gain fails nothing. What can't be told is no loss, and passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from genaipa.reports.figures.style import format_signed_tenths
from genaipa.reports.significance import OTHER_PEOPLE
from genaipa.stats.looks import SIGNIFICANT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.reports.comparison import Comparison

_MINUS = "\u2212"
LOST = 5
"""The exit code of a loss that the gate does not let pass."""


def significant_loss_in_points(change: float, p: float, significance_level: float = SIGNIFICANT) -> float:
    """Return the points that a change, of this p, took away for sure; 0 where it may be chance, or is a gain."""
    return max(-change, 0.0) if p < significance_level else 0.0


class SignificantLoss(NamedTuple):
    """The points of M_all that were lost for sure by `day`, 0 for none, `by` people's scores or a judge's.

    Over time, `day` is the latest occasion with enough scores for a test; both are empty where there is none.
    """

    points: float = 0.0
    by: str = ""
    day: str = ""

    def fails_gate(self, gate_points: float | None) -> bool:
        """Tell whether it is as large as a gate does not let pass; nothing is without a gate."""
        return gate_points is not None and self.points > 0 and self.points >= gate_points


def significant_loss_of_new_release(difference_row: Mapping[Any, Any], measure_label: str = "M_all") -> SignificantLoss:
    """Return what the second system of a comparison, the new release, lost against the first, by the row of M_all."""
    if difference_row["test"] == "none" or difference_row["meaning"] == OTHER_PEOPLE:
        return SignificantLoss()
    return SignificantLoss(
        significant_loss_in_points(
            -float(difference_row["difference"]), float(difference_row["p_holm"]), float(difference_row["level"])
        ),
        measure_label,
    )


@dataclass(frozen=True)
class ReleaseGate:
    """A comparison held against so many points that the second system, the new release, may not lose for sure."""

    comparison: Comparison
    points: float

    @property
    def loss(self) -> SignificantLoss:
        """What the new release lost for sure."""
        return significant_loss_of_new_release(
            self.comparison.frame.iloc[0].to_dict(), "M_all (judge)" if self.comparison.judge else "M_all"
        )

    @property
    def is_failing(self) -> bool:
        """Whether the job is to fail."""
        return self.loss.fails_gate(self.points)

    def __str__(self) -> str:
        """Say what the new release lost, how sure that is, and whether it passes."""
        new, old, lost = f"{self.comparison.second}, the new release", self.comparison.first, self.loss
        end = f"the gate of {self.points:g} points {'fails' if self.is_failing else 'passes'}"
        if not lost.by:
            return f"There is no result for {new}, against {old}: {end}."
        change = format_b_minus_a_with_interval(self.comparison.frame.iloc[0].to_dict())
        if lost.points:
            return f"{new}, lost {change.removeprefix(_MINUS)} points of M_all to {old}: {end}."
        return f"{new}, shows no clear loss against {old}: {change} points of M_all; {end}."

    def as_json(self) -> dict[str, Any]:
        """Return it for machines, in the words of `drift`."""
        lost = self.loss
        return {"gate": self.points, "lost": lost.points, "by": lost.by, "failed": self.is_failing}


def format_b_minus_a_with_interval(row: Mapping[Any, Any]) -> str:
    """Write a row's change from the first system to the second, B minus A, with its interval."""
    write = format_signed_tenths if row["family"] == "primary endpoint" else _format_signed_hundredths
    interval = "" if isnan(row["low"]) else f" ({write(-row['high'])} to {write(-row['low'])})"
    return f"{write(-row['difference'])}{interval}"


def _format_signed_hundredths(number: float) -> str:
    written = f"{number:+.2f}"
    return "0.00" if written in {"+0.00", "-0.00"} else written.replace("-", _MINUS)
