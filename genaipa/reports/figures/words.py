"""Many short texts as one artist: a heat map has hundreds, and as many of matplotlib's own took a third of a report.

This file imports matplotlib, and is imported when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.transforms import Transform

_LEADING = 1.1
"""Points from line to line, for each of the size."""
_BEFORE = {"left": 0.0, "center": 0.5, "right": 1.0}
"""Side → the part of a text that is left of its place."""


class DrawnTexts(Artist):
    """Texts of one size, each with the middle of its digits at the height of its place; a text may have lines.

    `at` are the places in the axes' data, or by another `transform`; the text is `pad` points to the right of there.
    `colours` are one for each text, or one for all.
    """

    def __init__(
        self,
        axes: Axes,
        words: Sequence[str],
        at: Sequence[tuple[float, float]],
        colours: Sequence[str] | str,
        *,
        size: float,
        side: Literal["left", "center", "right"] = "center",
        pad: float = 0.0,
        transform: Transform | None = None,
    ) -> None:
        super().__init__()
        self.words = list(words)
        """The texts, in the order of their places."""
        self._font = FontProperties(size=size)
        self._before, self._pad = _BEFORE[side], pad
        shades = [colours] * len(self.words) if isinstance(colours, str) else colours
        lines = [
            (line, point, shade, (text.count("\n") / 2 - number) * size * _LEADING)
            for text, point, shade in zip(self.words, at, shades, strict=True)
            for number, line in enumerate(text.split("\n"))
            if line
        ]
        self._lines, self._at, self._colours, self._rise = map(list, zip(*lines, strict=True)) if lines else ([],) * 4
        self._measured: tuple[RendererBase | None, Any] = None, np.array([])
        if transform is not None:
            self.set_transform(transform)
        axes.add_artist(self)
        self.set_clip_on(False)
        self.set_zorder(3)

    def _measure_line_widths(self, renderer: RendererBase) -> Any:
        """Return the width of each line, in pixels, measured once for a renderer."""
        if renderer is not self._measured[0]:
            sizes = {
                line: renderer.get_text_width_height_descent(line, self._font, False)[0] for line in set(self._lines)
            }
            self._measured = renderer, np.array([sizes[line] for line in self._lines])
        return self._measured[1]

    def _line_positions_and_digit_height(self, renderer: RendererBase) -> tuple[Any, float]:
        """Places where the lines begin on their baselines, and the height of a digit, in pixels."""
        _, height, descent = renderer.get_text_width_height_descent("0", self._font, False)
        pixels: Any = renderer.points_to_pixels(1.0)
        placed = np.array(self.get_transform().transform(np.array(self._at, dtype=float)))
        placed[:, 0] += pixels * self._pad - (
            self._before * self._measure_line_widths(renderer) if self._before else 0.0
        )
        placed[:, 1] += pixels * np.array(self._rise) - (height - descent) / 2
        return placed, height

    def draw(self, renderer: RendererBase) -> None:
        """Draw each line as text."""
        if not self.get_visible() or not self._lines:
            return
        high = renderer.get_canvas_width_height()[1]
        gc = renderer.new_gc()
        for line, colour, (x, y) in zip(
            self._lines, self._colours, self._line_positions_and_digit_height(renderer)[0], strict=True
        ):
            gc.set_foreground(colour)
            renderer.draw_text(gc, x, high - y if renderer.flipy() else y, line, self._font, 0)
        gc.restore()
        self.stale = False

    def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
        """Give the box around all of them, in pixels; none without a renderer, which alone can measure."""
        if not self._lines or renderer is None:
            return Bbox.null()
        placed, height = self._line_positions_and_digit_height(renderer)
        right = (placed[:, 0] + self._measure_line_widths(renderer)).max()
        return Bbox([placed.min(axis=0), [right, placed[:, 1].max() + height]])
