"""A figure of a report: its drawing, its caption and its numbers; and its files, the same bytes for the same numbers.

A figure is drawn again for each format, in the house style, without any state of pyplot: several threads may draw at
once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from genaipa.files.html import short_repr
from genaipa.reports.figures import style
from genaipa.reports.render import as_csv
from genaipa.reports.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Format = Literal["png", "svg", "pdf"]

FORMATS: tuple[Format, ...] = get_args(Format)
PNG_DPI = 200
"""Dots per inch of a PNG file."""

_UNSAID = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}
"""Metadata that matplotlib would write into a file and that changes with the day or its version."""


@dataclass(frozen=True, repr=False)
class Figure:
    """Something drawn, and the table of the numbers that it shows.

    `name` is the stem of its files. `about` says in words what is to be seen and what is left out, `reading` how such
    a figure is read, which is the same for all of its kind. `caption` are at most two sentences for the page, by
    default the note's first; `kind` is what figures of several experiments have in common. `fits` is how many systems
    fit a page. `draw` draws it; call `plot` to have it in the house style.
    """

    name: str
    title: str
    about: str
    table: Table
    draw: Callable[[], Canvas]
    reading: str = ""
    fits: int = sys.maxsize
    caption: str = ""
    kind: str = ""

    @property
    def note(self) -> str:
        """The whole caption."""
        return " ".join(filter(None, (self.about.strip(), self.reading.strip())))

    def plot(self) -> Canvas:
        """The figure as matplotlib has it, in the house style."""
        with style.house(self.name):
            return self.draw()

    def __repr__(self) -> str:
        return short_repr("Figure", self.name, self.title)

    def _repr_png_(self) -> bytes:
        return as_png(self, dpi=style.SCREEN_DPI)


def save(figure: Figure, folder: Path, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Write NAME.png, .svg, .pdf (as `formats` says) and NAME.csv into the folder; gives the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with style.house(figure.name):
        drawn = _laid_out(figure.draw())
        for form in formats:
            paths.append(folder / f"{figure.name}.{form}")
            paths[-1].write_bytes(_written(drawn, figure.title, form, PNG_DPI))
    paths.append(folder / f"{figure.name}.csv")
    paths[-1].write_text(as_csv(figure.table), encoding="utf-8", newline="")
    return paths


def as_bytes(figure: Figure, form: Format, dpi: int = PNG_DPI) -> bytes:
    """The figure as a file of this format; the text of SVG is drawn, that of PDF has its font embedded."""
    with style.house(figure.name):
        return _written(_laid_out(figure.draw()), figure.title, form, dpi)


def _laid_out(drawn: Canvas) -> Canvas:
    """The same with its parts where they belong; savefig would draw all of it once for that, for each format."""
    engine = drawn.get_layout_engine()
    if engine is not None:
        engine.execute(drawn)
        # None and not "none", whose placeholder savefig takes for an engine; the house style sets no other.
        drawn.set_layout_engine(None)
    return drawn


def _written(drawn: Canvas, title: str, form: Format, dpi: int) -> bytes:
    """The drawing as a file of this format; the house style must still hold."""
    metadata = _UNSAID[form] | ({} if form == "png" else {"Title": title})
    if form == "svg":
        return _as_svg(drawn, metadata)
    written = io.BytesIO()
    drawn.savefig(written, format=form, dpi=dpi, metadata=metadata)
    return written.getvalue()


def _as_svg(drawn: Canvas, metadata: dict[str, Any]) -> bytes:
    """The drawing as SVG, in which a text that is at several places is outlined once."""
    from matplotlib.backends import backend_svg

    written, dpi = io.StringIO(), drawn.dpi
    drawn.dpi = 72
    width, height = 72 * drawn.get_size_inches()
    untyped: Any = backend_svg
    renderer = untyped.RendererSVG(width, height, written, image_dpi=dpi, metadata=metadata)
    outline = renderer.draw_text
    known: dict[tuple[object, ...], tuple[str, float, float]] = {}

    def draw_text(gc: Any, x: float, y: float, text: str, font: Any, angle: float, **more: Any) -> None:
        look = (text, font, angle, gc.get_rgb(), gc.get_alpha(), gc.get_clip_rectangle(), gc.get_clip_path())
        if look not in known:
            known[look] = (name := f"text-{len(known)}", x, y)
            renderer.writer.start("g", id=name)
            outline(gc, x, y, text, font, angle, **more)
            renderer.writer.end("g")
            return
        name, left, top = known[look]
        renderer.writer.comment(text)
        renderer.writer.element("use", x=f"{x - left:.2f}", y=f"{y - top:.2f}", attrib={"xlink:href": f"#{name}"})

    renderer.draw_text = draw_text
    drawn.draw(renderer)
    renderer.finalize()
    drawn.dpi = dpi
    return written.getvalue().encode()


def as_png(figure: Figure, dpi: int = PNG_DPI) -> bytes:
    """The figure as a PNG file."""
    return as_bytes(figure, "png", dpi)
