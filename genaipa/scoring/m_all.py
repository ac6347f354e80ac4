"""M_all and the bands of an average (paper, section 5 and Appendix A)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Band = Literal["Green", "Yellow", "Red"]


class Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the bands: Green from `green` up, Red below `red`, Yellow between; a ValueError if they cross.

    The bounds are on the scale of a metric, from -1 to 1. Figures and tables with bands name their bounds (`in_words`).
    """

    green: float = 0.5
    red: float = 0.0

    def __post_init__(self) -> None:
        if not self.red <= self.green:
            raise ValueError(f"Red ends at {self.red:g}, which must not be above {self.green:g}, where Green begins")

    @property
    def overall(self) -> Bounds:
        """The same bounds on the scale of M_all: its value where every metric is at the bound."""
        return Bounds(m_all(self.green, 1.0), m_all(self.red, 1.0))

    @property
    def in_words(self) -> str:
        """The bands, as readers see them."""
        m_all = self.overall
        return (
            f"Green from {self.green:g} (M_all {m_all.green * 10:g}) up, "
            f"Red below {self.red:g} (M_all {m_all.red * 10:g}), Yellow between"
        )


def m_all(points: Any, most: float) -> Any:
    """M_all, from 1 to 10, of points from -`most` to `most`: a number, or a column of them."""
    return (points + most) / (2 * most) * 9 + 1


def band(value: float, bounds: Bounds) -> Band:
    """The band of a metric's average by `bounds`, and that of M_all by `bounds.overall`."""
    # The mean of means may miss a bound by its last binary digit.
    value = round(value, 9)
    if value >= bounds.green:
        return "Green"
    return "Red" if value < bounds.red else "Yellow"
