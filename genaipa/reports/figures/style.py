"""Style of the figures: sizes for print, colours that the colour-blind tell apart, the bands, and names that fit.

Nothing is shown by colour alone: systems have a marker as well, bands have a name and a mark, and values are written.
Names come from files of other people: what is drawn of them is plain text without line breaks, control characters and
signs that the font lacks, and is shortened.
"""

from __future__ import annotations

import io
import re
import textwrap
import threading
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.figures.fonts import has_glyph, list_installed_figure_fonts
from genaipa.runs.experiments import find_experiment
from genaipa.scoring.rubric import Band, BandBounds
from genaipa.systems.provider import shorten_system_names

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    Entry = tuple[Artist | tuple[Artist, ...], str]
    """An entry of a legend: its marks (one over the other), and its name."""

WIDTH = 7.0
"""Inches across both columns of a paper."""
HEIGHT = 8.8
"""Inches down a page, above a caption."""
COLUMN = 3.35
"""Inches across one column."""

TEXT, SMALL, TINY = 9.0, 8.0, 7.0
"""Points of what is read first, of ticks and cells, and of the n beside a mark."""

INK, FAINT = "#222222", "#8c8c8c"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of systems (Okabe and Ito's), far apart in print too for the first three."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BANDS: tuple[Band, ...] = ("Red", "Yellow", "Green")
BAND_TINTS: dict[Band, str] = {"Red": "#f6d9c9", "Yellow": "#f8edb3", "Green": "#d3ece3"}
SOURCE_POINTS: dict[str, dict[str, Any]] = {
    "faq": {"marker": "o", "color": "#005a8e"},
    "user": {"marker": "D", "color": "#a84300"},
}
"""Source of a question → its points, in every figure."""
SOURCE_SIGNS = {"faq": "\u25cf", "user": "\u25c6"}
"""The same, in a text."""
GROUPS = {"all": "all questions", "faq": "from FAQs", "user": "from users"}
"""Group of questions → its name."""
SOURCES_IN_WORDS = f"{SOURCE_SIGNS['faq']} from FAQs, {SOURCE_SIGNS['user']} from users."
ABSENT: dict[str, Any] = {"color": "#6b6b6b", "style": "italic", "fontsize": TINY}
"""Text of a cell that has nothing to draw."""

QUALITY = "Overall score (M_all)"
"""Label of an axis of M_all."""

_SETTINGS: Any = {
    "font.size": SMALL,
    "text.color": INK,
    "text.parse_math": False,  # "$" in a name is a dollar sign
    "axes.titlesize": TEXT,
    "axes.titleweight": "bold",
    "axes.labelsize": TEXT,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "hatch.linewidth": 0.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
SCREEN_DPI = 100
"""Dots per inch in a notebook."""
_DRAWING = threading.RLock()


@contextmanager
def apply_house_style(svg_id_seed: str) -> Iterator[None]:
    """Draw and save in the house style; `svg_id_seed` seeds the ids in an SVG file.

    matplotlib keeps its settings for the whole process: one figure is drawn at a time.
    """
    import matplotlib as mpl

    with _DRAWING, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {**_SETTINGS, "font.family": list(list_installed_figure_fonts()), "svg.hashsalt": svg_id_seed}
        )
        yield


@cache
def _notebook_figure_class() -> type[Canvas]:
    """Return the class of figures that a notebook shows without pyplot; made late, as matplotlib imports slowly."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            written = io.BytesIO()
            with apply_house_style(""):
                self.savefig(written, format="png", dpi=SCREEN_DPI)
            return written.getvalue()

    return ShownFigure


def make_canvas(width_inches: float, height_inches: float) -> Canvas:
    """Return an empty figure of this many inches; what is put on it finds its place by itself."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return _notebook_figure_class()(
        figsize=(width_inches, height_inches),
        layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0.03, hspace=0.03),
    )


def panel_rows_and_columns(panel_count: int, max_columns: int) -> tuple[int, int]:
    """Rows and columns of this many panels, as even as can be."""
    rows = -(-panel_count // max_columns)
    return rows, -(-panel_count // rows)


def remove_unused_and_list_lowest_axes(panels: Any, used_count: int) -> list[Axes]:
    """Return the lowest axes of each column of a grid; those after the first `used_count` ones are removed."""
    lowest = []
    for number, axes in enumerate(panels.flat):
        if number >= used_count:
            axes.remove()
        elif number + panels.shape[1] >= used_count:
            lowest.append(axes)
    return lowest


def distinct_values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column, each once: in the order of its categories, or as they come."""
    present = list(dict.fromkeys(column.dropna()))
    if isinstance(column.dtype, pd.CategoricalDtype):
        position = {value: number for number, value in enumerate(column.cat.categories)}
        present.sort(key=lambda value: position[value])
    return present


# Rows of questions


def map_questions_to_category_and_source(
    data: pd.DataFrame, ordered_questions: Sequence[Any]
) -> tuple[dict[Any, Any], dict[Any, str]]:
    """Question → its category, category by category in this order of the questions, and question → its source."""
    by_question = data.drop_duplicates("question").set_index("question")
    position = {
        category: number
        for number, category in enumerate(dict.fromkeys(by_question["category"][q] for q in ordered_questions))
    }
    arranged = sorted(ordered_questions, key=lambda question: position[by_question["category"][question]])
    return (
        {question: by_question["category"][question] for question in arranged},
        {question: str(by_question["source"][question]) for question in arranged},
    )


LETTER = 0.0475
"""Inches of a letter, on average, of a text beside a row."""
_LEAST = 10
"""Letters of a line below which a text says nothing."""
_LINES = 2
NAMES = "names"
"""Id of the artist that names the rows, which the page keeps in sight."""
TALL = 0.212
"""Inches of a row with its text."""


def row_labels_width_inches(label_by_row: Mapping[Any, str]) -> float:
    """Return the inches of the names of rows, with their signs."""
    return 0.25 + 0.066 * max(map(len, label_by_row.values()))


def write_row_labels(
    axes: Axes,
    label_by_row: Mapping[Any, str],
    source_by_row: Mapping[Any, str],
    *,
    middle_offset: float = 0.0,
    row_starts: Sequence[float] | None = None,
    text_by_row: Mapping[Any, str] | None = None,
    max_letters: int = 0,
    text_after_axes: bool = False,
) -> None:
    """Write what each row is, and behind it the sign of its source; `middle_offset` is where in a row its middle lies.

    `row_starts` are where the rows begin, by default at 0, 1, 2. Before it, or `text_after_axes` the axes, is its text,
    in two lines of at most `max_letters` letters, where there is room for any.
    """
    from genaipa.reports.figures.words import DrawnTexts

    colours = [SOURCE_POINTS["user"]["color"] if source_by_row.get(key) == "user" else INK for key in label_by_row]
    places = [(0.0, row + middle_offset) for row in row_starts or range(len(label_by_row))]
    beside: dict[str, Any] = {"transform": axes.get_yaxis_transform()}
    axes.set_yticks([])
    signed = [
        f"{name} {SOURCE_SIGNS.get(source_by_row.get(key, ''), '')}".strip() for key, name in label_by_row.items()
    ]
    with_texts = bool(text_by_row) and max_letters >= _LEAST
    artist = DrawnTexts(
        axes, signed, places, colours, size=TINY if with_texts else SMALL, side="right", pad=-3, **beside
    )
    artist.set_gid(NAMES)
    if text_by_row and with_texts:
        lines = [
            wrap_and_cut_to_two_lines(text_by_row[key], max_letters) if key in text_by_row else ""
            for key in label_by_row
        ]
        broad = max(len(line) for text in lines for line in text.split("\n"))
        pad = 5 if text_after_axes else -72 * (row_labels_width_inches(label_by_row) + broad * LETTER)
        places = [(float(text_after_axes), row) for _, row in places]
        DrawnTexts(axes, lines, places, colours, size=6.5, side="left", pad=pad, **beside)


def draw_lines_between_groups(
    axes: Axes, group_of_each_row: Sequence[Any], x_range: tuple[float, float], *, row_offset: float = 0.0
) -> None:
    """Draw a line between rows of different groups; `row_offset` is where a row begins."""
    for row in range(1, len(group_of_each_row)):
        if group_of_each_row[row] != group_of_each_row[row - 1]:
            axes.plot(x_range, [row + row_offset, row + row_offset], color=FAINT, linewidth=0.8, zorder=3)


def format_count_or_mean_for_zero(number: Any) -> str:
    """Return the n of a row: `mean` where only a published mean is known, nothing where nothing is."""
    if pd.isna(number):
        return ""
    return f"{number:.0f}" if number else "mean"


def format_signed_tenths(number: float) -> str:
    """Return a difference in M_all as it is written: with its sign, and none if it rounds to nothing."""
    written = f"{number:+.1f}"
    return "0.0" if written in {"+0.0", "-0.0"} else written.replace("-", "\u2212")


def format_tick_labels(*values: float) -> list[str]:
    """Return the labels of these values at an axis."""
    return [f"{value:g}".replace("-", "\u2212") for value in values]


# Names


def clean_name_on_one_line(text: object) -> str:
    """Return a name in one line, without control or unassigned characters."""
    signs = (" " if sign.isspace() else sign for sign in str(text))
    visible = "".join(sign for sign in signs if unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Co", "Cn"})
    return " ".join(visible.split()) or "(no name)"


def replace_undrawable_characters(name: object) -> str:
    """Return a name as it can be drawn: in one line, with a box for each sign that no installed font has."""
    return "".join(sign if has_glyph(sign) else "\u25a1" for sign in clean_name_on_one_line(name))


def shorten_drawn_name(text: object, max_chars: int = 24) -> str:
    """Return a name in at most this many signs: `openai-api/host/model` loses its front first, then its middle."""
    name = replace_undrawable_characters(text)
    if len(name) <= max_chars:
        return name
    last = "\u2026/" + name.rpartition("/")[2]
    if "/" in name and len(last) <= max_chars:
        return last
    room = max_chars - 1
    return f"{name[: room - room // 2]}\u2026{name[-(room // 2) :]}"


def wrap_and_cut_to_two_lines(text: object, max_chars: int) -> str:
    """Return a text, or its beginning, in two lines of at most this many signs."""
    lines = textwrap.wrap(
        replace_undrawable_characters(text), max_chars, max_lines=_LINES, placeholder="\u2026", break_on_hyphens=False
    )
    return "\n".join(lines)


def unique_labels(names: Iterable[Hashable], max_chars: int = 24) -> dict[Any, str]:
    """Name → its label in the drawing, no two alike."""
    label_by_name: dict[Any, str] = {}
    ends = shorten_system_names(map(str, names := list(names)))
    for name in names:
        label, number = shorten_drawn_name(ends[str(name)], max_chars), 2
        while label in label_by_name.values():
            ending = f" ({number})"
            label, number = shorten_drawn_name(name, max_chars - len(ending)) + ending, number + 1
        label_by_name[name] = label
    return label_by_name


def last_part_labels(names: Iterable[Hashable], max_chars: int = 24) -> dict[Any, str]:
    """Name → its label in the drawing: its last part where this tells all names apart (`host/model` is `model`)."""
    every = list(names)
    last = {name: replace_undrawable_characters(name).rpartition("/")[2] for name in every}
    apart = len(set(last.values())) == len(every) and all(last.values())
    return (
        unique_labels(every, max_chars)
        if not apart
        else {name: shorten_drawn_name(label, max_chars) for name, label in last.items()}
    )


def note_full_names(label_by_name: Mapping[Any, str]) -> str:
    """Return a sentence for the note that gives the full names of shortened ones; empty if none is."""
    changed = [
        f"{label} is {clean_name_on_one_line(name)}"
        for name, label in label_by_name.items()
        if label != clean_name_on_one_line(name)
    ]
    return f" Names: {'; '.join(changed)}." if changed else ""


_EXPERIMENT_CHARACTERS = 20
"""Of an experiment's name in a row."""


def experiment_heading(experiment: str) -> str:
    """Return the heading of an experiment's figure."""
    known_experiment = find_experiment(experiment)
    return (known_experiment.label if known_experiment else "") or replace_undrawable_characters(experiment)


def shorten_experiment_name(experiment: str) -> str:
    """Return an experiment's name in a word or two, for a row."""
    known_experiment = find_experiment(experiment)
    short = known_experiment.short.partition(":")[0] if known_experiment else ""
    return shorten_drawn_name(short or experiment, _EXPERIMENT_CHARACTERS)


def write_figure_heading(drawing: Canvas, experiment: str, added_text: str = "") -> None:
    """Write above a whole figure which experiment it shows, and what else holds for all of it."""
    known_experiment = find_experiment(experiment)
    short = known_experiment.short if known_experiment else ""
    text = f"{short or shorten_drawn_name(experiment_heading(experiment), 60)}{added_text}"
    lines = textwrap.wrap(text, int(drawing.get_figwidth() * 14))
    drawing.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=SMALL, color="#555555")


def make_figure_name(experiment: str, content: str) -> str:
    """Return the name of an experiment's figure: of a file in a folder, whatever the experiment is called."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', experiment).strip('-')}-{content}"


# Bands


def describe_m_all_bands(bounds: BandBounds) -> str:
    """Return the bands of an axis of M_all, for a note."""
    axis = bounds.m_all_bounds
    return (
        f"Bands: Green from {axis.green:g} up, Yellow from {axis.red:g} up, Red below {axis.red:g} (in every metric's "
        f"average: {bounds.green:g} and {bounds.red:g})."
    )


def draw_m_all_axis(axes: Axes, bounds: BandBounds, *, value_axis: str = "x", room_beyond_100: float = 0.0) -> None:
    """Draw an axis of M_all, from 10 to 100, with the bands tinted, bounded by lines and named.

    `room_beyond_100` is left behind 100 for what is written beside the marks.
    """
    at = bounds.m_all_bounds
    edges = (10.0, min(max(at.red, 10.0), 100.0), min(max(at.green, 10.0), 100.0), 100.0)
    span, line = (axes.axvspan, axes.axvline) if value_axis == "x" else (axes.axhspan, axes.axhline)
    for band, low, high in zip(BANDS, edges, edges[1:], strict=False):
        if low < high:
            span(low, high, facecolor=BAND_TINTS[band], edgecolor="none", zorder=0)
            _write_band_name(axes, band, (low + high) / 2, value_axis)
    for bound in edges[1:3]:
        line(bound, color=FAINT, linewidth=0.6, linestyle=(0, (4, 2)), zorder=0.5)
    ticks = sorted({10.0, 25.0, 40.0, *edges[1:3], 100.0})
    if value_axis == "x":
        axes.set_xlim(8, 102 + room_beyond_100)
        axes.set_xticks(_drop_crowded_ticks(ticks), [f"{tick:g}" for tick in _drop_crowded_ticks(ticks)])
    else:
        axes.set_ylim(8, 102 + room_beyond_100)
        axes.set_yticks(_drop_crowded_ticks(ticks), [f"{tick:g}" for tick in _drop_crowded_ticks(ticks)])


BENCHMARK: dict[str, Any] = {"color": INK, "linewidth": 1.1, "linestyle": (0, (5, 3)), "zorder": 1.4}
"""The line at the average of a system that others are held against."""


def draw_benchmark_line(axes: Axes, value: float, label: str, value_axis: str = "x") -> None:
    """Draw a dashed line through all of the axes, with its name, if any, at an end."""
    (axes.axvline if value_axis == "x" else axes.axhline)(value, **BENCHMARK)
    if not label:
        return
    axes.annotate(
        label,
        xy=(value, 0.0) if value_axis == "x" else (1.0, value),
        xycoords=("data", "axes fraction") if value_axis == "x" else ("axes fraction", "data"),
        xytext=(-3, 2) if value_axis == "x" else (-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=TINY,
        style="italic",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6},
        zorder=4,
    )


def _drop_crowded_ticks(ticks: Sequence[float], least_gap: float = 9.0) -> list[float]:
    """Return the ticks, without any that would touch the one before; the last one stays."""
    spread: list[float] = []
    for tick in ticks:
        if not spread or tick - spread[-1] >= least_gap:
            spread.append(tick)
    return spread


def _write_band_name(axes: Axes, band: Band, middle: float, value_axis: str) -> None:
    text = axes.annotate(
        band,
        xy=(middle, 1.0) if value_axis == "x" else (1.0, middle),
        xycoords=("data", "axes fraction") if value_axis == "x" else ("axes fraction", "data"),
        xytext=(0, 1.5) if value_axis == "x" else (2, 0),
        textcoords="offset points",
        fontsize=TINY,
    )
    if value_axis == "x":
        text.set(ha="center", va="bottom")
    else:
        text.set(ha="left", va="center", rotation=90)


# Legends


def assign_system_colours_and_markers(systems: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """System → its colour and marker, the same in every figure that has the same systems."""
    rounds = [
        (number % len(COLOURS), (number + number // len(COLOURS)) % len(MARKERS)) for number in range(len(systems))
    ]
    return {
        system: {"color": COLOURS[colour], "marker": MARKERS[marker]}
        for system, (colour, marker) in zip(systems, rounds, strict=True)
    }


def make_marker_legend_entry(label: str, **look: Any) -> tuple[Artist, str]:
    """Return an entry of a legend for a marker."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **{"linestyle": "none", "markersize": 4.5, **look}), label


def make_patch_legend_entry(label: str, **look: Any) -> tuple[Artist, str]:
    """Return an entry of a legend for an area."""
    from matplotlib.patches import Patch

    return Patch(**look), label


def draw_legend(drawing: Canvas, entries: Sequence[Entry]) -> None:
    """Draw a legend under the whole figure, in as many columns as its width allows; none without an entry."""
    if not entries:
        return
    longest = max(len(label) for _, label in entries)
    across = int(drawing.get_figwidth() / (0.45 + 0.075 * longest))
    rows = -(-len(entries) // max(across, 1))
    across = -(-len(entries) // rows)
    # matplotlib fills column by column; people read line by line.
    order = [index for first in range(across) for index in range(first, len(entries), across)]
    entries = [entries[index] for index in order]
    handles: Any = [artist for artist, _ in entries]
    drawing.legend(
        handles,
        [f" {label}" for _, label in entries],  # matplotlib leaves out what begins with "_"
        loc="outside lower center",
        ncols=across,
        handletextpad=0.2,
        columnspacing=1.2,
    )
