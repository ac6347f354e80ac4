"""Intervals drawn in rows, averages under the name of their system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.reports.figures import style

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


ROW, HEAD, FOOT = 0.2, 0.24, 0.95
"""Inches of a row, of a system's name, and of the axes with the legend."""
_APART = 1.3
"""Rows that the single row of a system takes."""
READING = (
    "Thick lines: intervals for these documents; thin lines: for policies like these, where there are enough documents."
)


@dataclass(frozen=True)
class ForestRows:
    """Layout of the rows: (system, key) → its place down the axes, with the name beside it."""

    heads: Mapping[float, str]
    places: Mapping[tuple[Hashable, Hashable], float]
    names: Mapping[float, str]
    end: float

    @classmethod
    def lay_out_rows(
        cls,
        label_by_system: Mapping[Any, str],
        rows: Iterable[tuple[Hashable, Hashable, str]],
        *,
        with_system_headings: bool = True,
    ) -> ForestRows:
        """Lay out rows (system, key, name) under `label_by_system` (name → what is drawn for it).

        Without `with_system_headings`, and where all systems have the same single row, it has the system's name, and no
        other.
        """
        named, places, names, at = {}, {}, {}, 0.0
        every = list(rows)
        if not with_system_headings and len(every) == len(label_by_system) and len({key for _, key, _ in every}) == 1:
            alone = {(system, every[0][1]): number * _APART for number, system in enumerate(label_by_system)}
            return cls(
                {},
                alone,
                dict(zip(alone.values(), label_by_system.values(), strict=True)),
                len(label_by_system) * _APART,
            )
        for system, label in label_by_system.items():
            named[at] = label
            for _, key, name in (row for row in every if row[0] == system):
                at += 1.0
                places[system, key] = at
                names[at] = name
            at += HEAD / ROW
        return cls(named, places, names, at)

    def make_canvas_with_panels(
        self, panel_width_ratios: Sequence[float], *, foot_inches: float = FOOT
    ) -> tuple[Canvas, list[Axes]]:
        """Make a canvas with panels of these widths side by side, the rows named.

        `foot_inches` is for what is below them.
        """
        drawing = style.make_canvas(style.WIDTH, ROW * self.end + foot_inches)
        panels = list(
            drawing.subplots(
                1, len(panel_width_ratios), sharey=True, width_ratios=list(panel_width_ratios), squeeze=False
            )[0]
        )
        for axes in panels:
            axes.tick_params(axis="y", length=0)
        for height, label in self.heads.items():
            text = panels[0].annotate(
                label, (0, height), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points"
            )
            # No line of the panel goes through a name.
            text.set(weight="bold", va="center", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
        panels[0].set_yticks(list(self.names), list(self.names.values()))
        panels[0].set_ylim(self.end - 0.5, -0.7)
        return drawing, panels

    def draw_zero_lines(self, axes: Axes, **look: Any) -> None:
        """Draw zero beside each system's rows, and through no name."""
        for system in dict.fromkeys(system for system, _ in self.places):
            places = [height for (of, _), height in self.places.items() if of == system]
            axes.vlines(0, min(places) - 0.5, max(places) + 0.5, **look)

    def draw_benchmark_lines(
        self, axes: Axes, value_by_system_and_key: Mapping[Any, float], benchmark_systems: frozenset[str]
    ) -> None:
        """Draw the values of benchmarks, by system and key, as a dashed line through the rows of the same key."""
        for (system, key), value in value_by_system_and_key.items():
            for (_, of), height in self.places.items() if system in benchmark_systems else ():
                if of == key:
                    axes.vlines(value, height - 0.5, height + 0.5, **style.BENCHMARK)


def count_systems_per_page(rows_per_system: int) -> int:
    """Count the systems with this many rows that fit a page."""
    return max(int((style.HEIGHT - FOOT) / (ROW * rows_per_system + HEAD)), 1)


def draw_mean_with_intervals(axes: Axes, row: Mapping[Any, Any], height: float, look: Mapping[str, Any]) -> None:
    """Draw a mean with both of its intervals, where it has them."""
    for ends, width in ((("policies_low", "policies_high"), 0.7), (("low", "high"), 2.0)):
        axes.plot([row[end] for end in ends], [height] * 2, color=look["color"], linewidth=width, zorder=2)
    axes.plot([row["mean"]], [height], **look, markersize=4.5, linestyle="none", zorder=3)
