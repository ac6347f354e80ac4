"""A figure of a report: its drawing, its caption and its numbers; and its files, the same bytes for the same numbers.

A figure is drawn again for each format, in the house style, without any state of pyplot: several threads may draw at
once.

All figures of a report share a scope: a system has one colour and marker, and questions have one order. A figure that
would not fit a page is drawn as several.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from genaipa.files.html import format_one_line_repr
from genaipa.reports.figures import style
from genaipa.reports.render import as_csv
from genaipa.reports.table import Table
from genaipa.scoring.rubric import BandBounds
from genaipa.words import join_some

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


Format = Literal["png", "svg", "pdf", "slide", "column"]

FORMATS: tuple[Format, ...] = ("png", "svg", "pdf")
"""The formats of a figure as it is."""
KNOWN: tuple[Format, ...] = get_args(Format)
"""All formats: `slide` is a PNG of 16:9 with the title, `column` a PDF for one column of a paper."""
_ENDS: dict[Format, str] = {"slide": "-slide.png", "column": "-column.pdf"}
"""Format → the end of its file's name; others have theirs as a suffix."""
PNG_DPI = 200
"""Dots per inch of a PNG file."""

_BESIDE = 2.0
"""Points left and right of the names of rows."""
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
    fit a page. `draw` draws it; call `plot` to have it in the house style. `layouts` draw it for a format that is not
    drawn as the others are.
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
    layouts: Mapping[str, Callable[[], Canvas]] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """The whole caption."""
        return " ".join(filter(None, (self.about.strip(), self.reading.strip())))

    def plot(self) -> Canvas:
        """Draw the figure with matplotlib, in the house style."""
        with style.apply_house_style(self.name):
            return self.draw()

    def __repr__(self) -> str:
        return format_one_line_repr("Figure", self.name, self.title)

    def _repr_png_(self) -> bytes:
        return render_png(self, dpi=style.SCREEN_DPI)


def figure_file_paths(figure: Figure, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Return the files that `save_figure_and_data` writes.

    One column of a paper has those figures alone that are laid out for it.
    """
    available = [form for form in formats if form != "column" or form in figure.layouts]
    return [
        *(folder / f"{figure.name}{_ENDS.get(form, f'.{form}')}" for form in available),
        folder / f"{figure.name}.csv",
    ]


def save_figure_and_data(figure: Figure, folder: Path, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Write NAME.png, .svg, .pdf (as `formats` says) and NAME.csv into the folder; gives the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = [form for form in formats if form not in _ENDS]
    if plain:
        with style.apply_house_style(figure.name):
            drawing = _lay_out_drawing_once(figure.draw())
            for form in plain:
                (folder / f"{figure.name}.{form}").write_bytes(_render_drawing(drawing, figure.title, form, PNG_DPI))
    for form in formats:
        if form == "slide" or (form == "column" and form in figure.layouts):
            (folder / f"{figure.name}{_ENDS[form]}").write_bytes(render_figure(figure, form))
    paths = figure_file_paths(figure, folder, formats)
    paths[-1].write_text(as_csv(figure.table), encoding="utf-8", newline="")
    return paths


def render_figure(figure: Figure, file_format: Format, dpi: int = PNG_DPI) -> bytes:
    """Return the figure as a file of this format; the text of SVG is drawn, that of PDF has its font embedded."""
    with style.apply_house_style(figure.name):
        drawing = _lay_out_drawing_once(figure.layouts.get(file_format, figure.draw)())
        if file_format == "slide":
            return _render_slide_png(drawing, figure.title)
        return _render_drawing(drawing, figure.title, "pdf" if file_format == "column" else file_format, dpi)


_SLIDE = (12.8, 7.2)
"""Inches of a slide, 16:9."""
_MARGIN, _HEADING = 0.45, 24.0
"""Inches around what is on a slide, and points of its title."""


def _render_slide_png(drawing: Canvas, title: str) -> bytes:
    """Return a slide as PNG: the drawing under its title, as large as it can be; the house style must still hold."""
    from matplotlib.image import imread

    wide, high = drawing.get_size_inches()
    slide = style.make_canvas(*_SLIDE)
    slide.set_layout_engine(None)
    lines = style.wrap_and_cut_to_two_lines(title, 62).split("\n")
    above = 2 * _MARGIN + len(lines) * _HEADING * 1.2 / 72
    room = (_SLIDE[0] - 2 * _MARGIN, _SLIDE[1] - above - _MARGIN)
    times = min(room[0] / wide, room[1] / high)
    picture = io.BytesIO()
    drawing.savefig(picture, format="png", dpi=PNG_DPI * times)
    picture.seek(0)
    pixels = imread(picture)
    margin_left = _MARGIN + (room[0] - wide * times) / 2
    slide.figimage(pixels, margin_left * PNG_DPI, (_MARGIN + (room[1] - high * times) / 2) * PNG_DPI, origin="upper")
    look: Any = {"va": "top", "fontsize": _HEADING, "weight": "bold", "linespacing": 1.2}
    slide.text(_MARGIN / _SLIDE[0], 1 - _MARGIN / _SLIDE[1], "\n".join(lines), **look)
    return _render_drawing(slide, title, "png", PNG_DPI)


def _lay_out_drawing_once(drawing: Canvas) -> Canvas:
    """Lay out the drawing's parts once; savefig would draw all of it for that, for each format."""
    engine = drawing.get_layout_engine()
    if engine is not None:
        engine.execute(drawing)
        # None and not "none", whose placeholder savefig takes for an engine; the house style sets no other.
        drawing.set_layout_engine(None)
    return drawing


def _render_drawing(drawing: Canvas, title: str, file_format: Format, dpi: int) -> bytes:
    """Return the drawing as a file of this format; the house style must still hold."""
    metadata = _UNSAID[file_format] | ({} if file_format == "png" else {"Title": title})
    if file_format == "svg":
        return _render_svg(drawing, metadata)
    buffer = io.BytesIO()
    drawing.savefig(buffer, format=file_format, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def _render_svg(drawing: Canvas, metadata: dict[str, Any]) -> bytes:
    """Return the drawing as SVG, in which a text that is at several places is outlined once.

    `data-names` has the points from its left at which the names of rows begin and end, where it has any.
    """
    from matplotlib.backends import backend_svg

    written, dpi = io.StringIO(), drawing.dpi
    drawing.dpi = 72
    width, height = 72 * drawing.get_size_inches()
    untyped: Any = backend_svg
    renderer = untyped.RendererSVG(width, height, written, image_dpi=dpi, metadata=metadata)
    outline = renderer.draw_text
    outlines: dict[tuple[object, ...], tuple[str, float, float]] = {}

    def draw_text_reusing_outlines(
        gc: Any, x: float, y: float, text: str, font: Any, angle: float, **more: Any
    ) -> None:
        look = (text, font, angle, gc.get_rgb(), gc.get_alpha(), gc.get_clip_rectangle(), gc.get_clip_path())
        if look not in outlines:
            outlines[look] = (name := f"text-{len(outlines)}", x, y)
            renderer.writer.start("g", id=name)
            outline(gc, x, y, text, font, angle, **more)
            renderer.writer.end("g")
            return
        name, first_x, first_y = outlines[look]
        renderer.writer.comment(text)
        renderer.writer.element(
            "use", x=f"{x - first_x:.2f}", y=f"{y - first_y:.2f}", attrib={"xlink:href": f"#{name}"}
        )

    renderer.draw_text = draw_text_reusing_outlines
    drawing.draw(renderer)
    renderer.finalize()
    names = [
        label.get_window_extent(renderer) for label in drawing.findobj(lambda artist: artist.get_gid() == style.NAMES)
    ]
    drawing.dpi = dpi
    if not names:
        return written.getvalue().encode()
    ends = f"{max(min(box.x0 for box in names) - _BESIDE, 0):.1f} {max(box.x1 for box in names) + _BESIDE:.1f}"
    return written.getvalue().replace("<svg ", f'<svg data-names="{ends}" ', 1).encode()


def render_png(figure: Figure, dpi: int = PNG_DPI) -> bytes:
    """Return the figure as a PNG file."""
    return render_figure(figure, "png", dpi)


BOUNDS = BandBounds()
"""Default lower ends of the bands."""
_NAMED = 5
"""As many things that are left out are named."""


@dataclass(frozen=True)
class FigureScope:
    """A report's systems and questions in their order, the names of its categories, and the bounds of its bands.

    `texts` are the words of the questions. `shown` are the systems that a figure is to show, None for all that it has.
    `benchmarks` are systems that others are held against, people who wrote answers: their averages are drawn as lines.
    A figure without a report has an empty scope.
    """

    systems: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    shown: frozenset[str] | None = None
    bounds: BandBounds = BOUNDS
    texts: Mapping[str, str] = field(default_factory=dict)
    benchmarks: frozenset[str] = frozenset()

    @classmethod
    def from_scores_table(
        cls,
        scores: pd.DataFrame,
        category_names: Mapping[str, str] | None = None,
        bounds: BandBounds = BOUNDS,
        question_texts: Mapping[str, str] | None = None,
        benchmark_systems: frozenset[str] = frozenset(),
    ) -> FigureScope:
        """Return the scope of a tidy table's figures; `category_names` is id → name, `question_texts` id → question."""
        systems, questions = (style.distinct_values(scores[column]) for column in ("system", "question"))
        return cls(
            tuple(map(str, systems)),
            tuple(map(str, questions)),
            dict(category_names or {}),
            bounds=bounds,
            texts=dict(question_texts or {}),
            benchmarks=benchmark_systems,
        )

    def draw_benchmark_lines(
        self, axes: Axes, average_by_system: pd.Series[Any], value_axis: str = "x", *, labelled: bool = True
    ) -> None:
        """Draw a dashed line at the average of each benchmark among these (system → average), with its name."""
        for label, average in self._benchmark_averages_by_label(average_by_system).items():
            style.draw_benchmark_line(axes, average, label if labelled else "", value_axis)

    def list_benchmark_legend_entries(self, average_by_system: pd.Series[Any]) -> list[tuple[Artist, str]]:
        """List the entries of a legend for lines that have no room for their names."""
        labels = self._benchmark_averages_by_label(average_by_system)
        return [style.make_marker_legend_entry(label, marker="", **style.BENCHMARK) for label in labels]

    def _benchmark_averages_by_label(self, average_by_system: pd.Series[Any]) -> dict[str, float]:
        """Return the benchmarks among these by their labels: `lawyers 81`."""
        labels = style.unique_labels(sorted({*self.systems, *map(str, average_by_system.index)}), 20)
        benchmark_averages = average_by_system[average_by_system.index.isin(self.benchmarks)].dropna()
        return {f"{labels[system]} {average:.0f}": float(average) for system, average in benchmark_averages.items()}

    def explain_benchmarks(self, systems: Iterable[Any]) -> str:
        """Return a sentence on the dashed lines of a figure with these systems; empty where it has none."""
        names = [style.clean_name_on_one_line(system) for system in dict.fromkeys(systems) if system in self.benchmarks]
        ends = style.last_part_labels(names)
        return f" Dashed: the average of {join_some([ends[name] for name in names], _NAMED)}." if names else ""

    def select_rows_of_shown_systems(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the systems that are to be shown."""
        return data if self.shown is None else data[data["system"].isin(self.shown)]

    def sort_questions(self, questions: Iterable[Any]) -> list[Any]:
        """Return these questions in the report's order; unknown ones come last."""
        position = {question: number for number, question in enumerate(self.questions)}
        return sorted(questions, key=lambda question: position.get(question, len(position)))

    def system_colours_and_markers(self, systems: Sequence[Any]) -> dict[Any, dict[str, Any]]:
        """System → its colour and marker, the same in every figure of the report, in whatever order they are."""
        return style.assign_system_colours_and_markers(sorted({*self.systems, *systems}))

    def note_missing_systems(self, drawn_systems: Iterable[Any], what_they_lack: str) -> str:
        """Name the report's systems that a figure lacks because something is `what_they_lack`; empty without one."""
        listed_systems = {*map(str, drawn_systems), *(() if self.shown is None else set(self.systems) - self.shown)}
        absent = [style.clean_name_on_one_line(system) for system in self.systems if system not in listed_systems]
        return f" Left out for lack of {what_they_lack}: {', '.join(absent)}." if absent else ""

    def note_missing_questions(
        self, drawn_questions: Iterable[Any], asked_questions: Iterable[Any], what_they_lack: str
    ) -> str:
        """Name the questions asked in an experiment that a figure lacks; empty without one."""
        every, present_set = self.sort_questions(dict.fromkeys(asked_questions)), set(drawn_questions)
        absent = [style.clean_name_on_one_line(question) for question in every if question not in present_set]
        if not absent:
            return ""
        return (
            f" Questions left out because no system has {what_they_lack} for them: {join_some(absent, _NAMED)}, of "
            f"{len(every)}."
        )

    def note_category_names(self, drawn_categories: Iterable[Any]) -> str:
        """Return a sentence that gives the names of categories; empty where they have none."""
        named = [
            f"{style.clean_name_on_one_line(short)} {style.clean_name_on_one_line(self.categories[short])}"
            for short in drawn_categories
            if self.categories.get(short, short) != short
        ]
        return f" Categories: {'; '.join(named)}." if named else ""

    def make_paged_figures(self, figure_makers: Iterable[Callable[[FigureScope], Figure | None]]) -> list[Figure]:
        """Return the figures that there are; many systems take several pages."""
        return [figure for draw_page in figure_makers for figure in _make_figure_split_over_pages(draw_page, self)]


ALONE = FigureScope()
"""The scope of a figure that belongs to no report."""


def _make_figure_split_over_pages(
    make_figure: Callable[[FigureScope], Figure | None], scope: FigureScope
) -> list[Figure]:
    """Return the figure, or, where it has more systems than fit a page, several that have as few of them as can be."""
    whole = make_figure(scope)
    if whole is None:
        return []
    systems = list(dict.fromkeys(whole.table.data["system"]))
    if len(systems) <= whole.fits:
        return [whole]
    pages = -(-len(systems) // whole.fits)
    absent = frozenset(scope.systems) - frozenset(systems)
    figures = []
    for page in range(pages):
        page_systems = systems[page * len(systems) // pages : (page + 1) * len(systems) // pages]
        figure = make_figure(replace(scope, shown=absent | frozenset(page_systems)))
        if figure is not None:
            name = f"{figure.name}-{page + 1}"
            title = f"{figure.title} ({page + 1} of {pages})"
            figures.append(replace(figure, name=name, title=title, table=replace(figure.table, name=name, title=title)))
    return figures
