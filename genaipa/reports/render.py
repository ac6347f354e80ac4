"""A table as people and programs want it: CSV and LaTeX as files, HTML in pages, lines of text.

What a table holds may come from a model, a file or a person, so that every cell is escaped where it is written. CSV
has the numbers as they are, under the columns' own names; the other forms have them as people read them, and the two
ends of an interval (`low` and `high`) in one cell under the heading of the lower one.

In LaTeX a table fits a page, in classes of one column and of two. It is laid out for a width of 455 pt (`article` with
margins of an inch); where the page is narrower it is scaled down. In two columns a narrow one takes one of them,
another the width of both, and one that breaks over pages begins a page of its own. Where it is too wide, its headings
are broken into lines or turned upright, its texts broken, and its letters get smaller; one that is too high is a
`longtable`. Widths are Computer Modern's, roughly. M_all and p-values are set as formulas. Under a table is its note's
first sentence; the others are a comment.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.answers.tidy import list_metrics
from genaipa.files.html import escape_html
from genaipa.files.spreadsheets import MARK, escape_formula
from genaipa.words import first_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.table import Table

    Cells = Sequence[Sequence[str]]


_FITS = 28
"""Characters of a text up to which its cell in HTML is never broken into lines."""
_BROAD = 9
"""Columns above which a table is set closer."""
_LINKED = ("question", "m_all")
"""Columns whose cells lead to the answers behind them, beside the metrics'."""


def visible_headings(table: Table) -> list[str]:
    """Return the columns as people read them."""
    return [table.headings.get(name, name) for name in table.visible_columns]


def numeric_column_indices(table: Table) -> list[int]:
    """Return the places of the columns that hold numbers, and are written to the right."""
    kinds = table.data.dtypes
    return [
        index
        for index, name in enumerate(table.visible_columns)
        if pd.api.types.is_numeric_dtype(kinds[name]) and not pd.api.types.is_bool_dtype(kinds[name])
    ]


def as_text_lines_without_title_or_note(table: Table) -> list[str]:
    """Return the table as lines of plain text with aligned columns, without its title and its note."""
    right = set(numeric_column_indices(table))
    cells = [tuple(visible_headings(table)), *(tuple(map(_put_text_on_one_line, row)) for row in table.cells)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head, *rows = (
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
    return [head, "  ".join("-" * width for width in widths), *rows]


def as_csv(table: Table) -> str:
    """Return CSV with a mark and a header: own columns, numbers to ten digits, an absent value left empty."""
    data = table.data.copy(deep=False)
    for name in data.columns:
        if not pd.api.types.is_numeric_dtype(data[name].dtype):
            data[name] = _escape_formulas(data[name])
    written: str = data.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    return MARK + written


def _escape_formulas(column: pd.Series[Any]) -> list[Any]:
    """Return the values, none of them one that a spreadsheet takes for a formula."""
    escaped: dict[str, str] = {}
    for value in column.unique():
        if isinstance(value, str):
            escaped[value] = escape_formula(value, in_csv=True)
    return [escaped.get(value, value) if isinstance(value, str) else value for value in column]


def as_json_rows(table: Table) -> list[dict[str, Any]]:
    """Return the data row by row for machines, under the columns' own names; an absent value is None."""
    data = table.data.astype(object).where(table.data.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in data.to_dict(orient="records")]


def as_latex(table: Table) -> str:
    """Return a table that fits a page of LaTeX, with booktabs' rules."""
    lean = table.copy_without_groups_equal_to_all
    return render_latex_table(
        lean.name, lean.title, lean.note, visible_headings(lean), lean.cells, set(numeric_column_indices(lean))
    )


def as_html(
    table: Table, *, max_rows: int | None = None, row_hrefs: Sequence[str] = (), without_title_and_note: bool = False
) -> str:
    """Return a `<table>` with its title as caption, and its note under it.

    Of `max_rows` rows at most, and then it says so.

    `row_hrefs` are the links, one for each row or empty, of its question, metrics and M_all. A `without_title_and_note`
    table has neither title nor note.
    """
    rows_in_all = len(table.data)
    if max_rows is not None and rows_in_all > max_rows:
        cut = f"Shown here are the first {max_rows:,} of {rows_in_all:,} rows."
        table = replace(table, note=f"{table.note} {cut}".strip(), data=table.data.head(max_rows))
    right = set(numeric_column_indices(table))
    head = "".join(
        f'<th scope="col"{_number_class_attribute(index, right)}>{escape_html(name)}</th>'
        for index, name in enumerate(visible_headings(table))
    )
    # The first column that holds no number says what the row is about.
    columns = table.visible_columns
    lead = next((index for index in range(len(columns)) if index not in right), None)
    linked_to = {*_LINKED, *list_metrics(table.data)}
    linked = {index for index, name in enumerate(columns) if name in linked_to}
    faint = {index for index, name in enumerate(columns) if name in table.faint}
    lines = (
        "".join(
            _render_html_cell(index, cell, right, lead, href if index in linked else "", faint=index in faint)
            for index, cell in enumerate(row)
        )
        for row, href in itertools.zip_longest(table.cells, row_hrefs[: len(table.data)], fillvalue="")
    )
    broad = ' class="broad"' if len(columns) > _BROAD else ""
    return "\n".join(
        (
            f"<table{broad}>",
            *(
                (f"<caption><span>{escape_html(table.title)}</span></caption>",)
                if table.title and not without_title_and_note
                else ()
            ),
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(f"<tr>{line}</tr>" for line in lines),
            "</tbody>",
            "</table>",
            *(
                (f'<p class="note">{render_note_html_with_code(table.note)}</p>',)
                if table.note and not without_title_and_note
                else ()
            ),
        )
    )


FORMS = {".csv": as_csv, ".tex": as_latex}
"""Suffix of a table's file → its text: all that writes such files goes by these."""


def render_note_html_with_code(text: str) -> str:
    """Return a note as HTML: escaped, and text between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape_html(text))


def _render_html_cell(
    column_index: int, cell: str, numeric_columns: set[int], header_index: int | None, href: str, *, faint: bool
) -> str:
    text = f'<a href="{escape_html(href)}">{escape_html(cell)}</a>' if href and cell else escape_html(cell)
    text = f'<span style="color: #767676">{text}</span>' if faint else text
    kind = (
        ' class="long"'
        if len(cell) > _FITS and column_index not in numeric_columns
        else _number_class_attribute(column_index, numeric_columns)
    )
    return f'<th scope="row"{kind}>{text}</th>' if column_index == header_index else f"<td{kind}>{text}</td>"


def _number_class_attribute(column_index: int, numeric_columns: set[int]) -> str:
    return ' class="number"' if column_index in numeric_columns else ""


def _put_text_on_one_line(text: str) -> str:
    """Return the text without line breaks and characters that steer a terminal."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else "�" for c in line)


_WIDE, _HIGH = 455.0, 560.0
"""Points across and down a page that a table may take, the caption aside."""
_NARROW, _CLOSE = 330.0, 3.0
"""Points across that fit one of two columns, scaled by an eighth at most, and those beside a column of such a table."""
_COMMENT = 100
"""Characters of a line of a comment."""
_SIZES = {"small": (9.25, 5.0), "footnotesize": (8.5, 4.0), "scriptsize": (8.0, 2.5)}
"""LaTeX's name of a size of letters → points of an em (small letters are wider), and those beside a column."""
_LEADING = 1.25
"""A line's height by the size of its letters."""
_NOTE = 9.5
"""Points of a line of the note."""
_LEAST = 9.0
"""Ems to which a column of text is narrowed at first, where its words are shorter."""
_TURNED = 1.3
"""Ems across a heading that is turned upright."""
_LONG = 45
"""Rows above which a table is a `longtable` in any case."""

_ONE_COLUMN = (
    "\\makeatletter\\let\\genaipaback\\relax\\if@twocolumn\\def\\genaipaback{\\twocolumn}\\onecolumn\\fi\\makeatother"
)
r"""A `longtable` stops in two columns."""

_ESCAPES = {
    **{character: f"\\{character}" for character in "#$%&_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    # A cell that begins with a bracket would be the option of the line break before it.
    "[": "{}[",
    "\u03b1": r"$\alpha$",
    "\u2265": r"$\geq$",
    "\u2264": r"$\leq$",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u2212": "$-$",
}
_SPECIAL = re.compile("[" + re.escape("".join(_ESCAPES)) + "]")
_MINUS = re.compile(r"^-(?=[\d.])")
_POWER = re.compile(r"^(-?[\d.]+)e([+-]?)0*(\d+)$")
_OVERALL = re.compile(r"\bM_all(?!\w)")
_BREAKS = re.compile(r"(?<=[/_:-])(?<!\bM_)(?=\w)")
_EMS = {**dict.fromkeys("fijlrtI.,:;!'|()[]-/ ", 0.33), **dict.fromkeys("mwMW%@", 0.85)}


@dataclass(frozen=True)
class _Layout:
    """Widths of the columns: None for one as wide as its cells, else points, broken into lines; `wide` is their sum."""

    size: str
    points: float
    gap: float
    widths: list[float | None]
    head: list[str]
    wide: float


def render_latex_table(
    name: str, title: str, note: str, headings: Sequence[str], body: Cells, numeric_columns: set[int]
) -> str:
    r"""Return a floating table labelled `tab:NAME`, or a `longtable`.

    `numeric_columns` are the columns that hold numbers.
    """
    layout, (note, comment) = (
        _fit_latex_layout(headings, body, numeric_columns),
        _split_note_into_text_and_latex_comment(note),
    )
    columns = "".join(
        ("r" if index in numeric_columns else "l")
        if width is None
        else f">{{\\raggedright\\arraybackslash}}p{{{width:.1f}pt}}"
        for index, width in enumerate(layout.widths)
    )
    heads = " & ".join(layout.head) + r" \\"
    lines = [_render_latex_row(row, numeric_columns, layout) for row in body]
    caption = f"\\caption{{{_render_latex_text_with_m_all(title)}}}\\label{{tab:{name}}}"
    size = f"\\{layout.size}\\setlength{{\\tabcolsep}}{{{layout.gap:g}pt}}"
    below = (
        f"\\begin{{minipage}}{{\\linewidth}}\\footnotesize\\sloppy\\emph{{Note.}} "
        f"{_render_latex_note_with_code(note)}\\end{{minipage}}"
        if note
        else ""
    )
    if len(body) > _LONG or _estimate_table_height_in_points(layout, body, note) > _HIGH:
        return _join_nonempty_lines(
            "% needs \\usepackage{array,booktabs,graphicx,longtable} and UTF-8",
            comment,
            _ONE_COLUMN,
            f"{{{size}",
            f"\\begin{{longtable}}{{{columns}}}",
            f"{caption}\\\\",
            *("\\toprule", heads, "\\midrule", "\\endfirsthead"),
            *("\\toprule", heads, "\\midrule", "\\endhead"),
            *("\\bottomrule", "\\endfoot"),
            *lines,
            "\\end{longtable}",
            f"\\noindent{below}" if below else "",
            "}",
            "\\genaipaback",
        )
    environment = "table" if layout.wide <= _NARROW else "table*"
    return _join_nonempty_lines(
        "% needs \\usepackage{array,booktabs,graphicx} and UTF-8",
        comment,
        f"\\begin{{{environment}}}[tbp]",
        f"\\centering{size}",
        caption,
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        heads,
        "\\midrule",
        *lines,
        "\\bottomrule",
        "\\end{tabular}}",
        f"\\par\\smallskip{below}" if below else "",
        f"\\end{{{environment}}}",
    )


def _split_note_into_text_and_latex_comment(note: str) -> tuple[str, str]:
    """Return the note's first sentence, and the others as lines of a comment."""
    line = _put_text_on_one_line(note)
    first = first_sentences(line, 1)
    return first, "\n".join(f"% {text}" for text in textwrap.wrap(line[len(first) :].strip(), _COMMENT))


# -- what fits --


_STEPS = (
    ("small", False, False, _LEAST, 0.85 * _NARROW),
    ("footnotesize", True, False, _LEAST, _NARROW),
    ("small", False, False, _LEAST, _WIDE),
    ("small", True, False, _LEAST, _WIDE),
    ("footnotesize", True, False, _LEAST, _WIDE),
    ("small", True, True, _LEAST, _WIDE),
    ("footnotesize", True, True, _LEAST, _WIDE),
    ("footnotesize", True, True, 0.0, _WIDE),
    ("scriptsize", True, True, 0.0, _WIDE),
)
"""Steps to make a table fit: the size; headings broken, and turned; how narrow texts may be; the room that there is."""


def _fit_latex_layout(headings: Sequence[str], body: Cells, numeric_columns: set[int]) -> _Layout:
    """Return the first of the steps by which the table is no wider than a column, else than a page."""
    indices = range(len(headings))
    cells = [
        max(
            ((_measure_number_ems if index in numeric_columns else _measure_text_ems)(row[index]) for row in body),
            default=0.0,
        )
        for index in indices
    ]
    chunks = [
        max((_measure_text_ems(part) for row in body for part in _split_where_latex_may_break(row[index])), default=0.0)
        for index in indices
    ]
    for size, broken, turned, floor, room in _STEPS:
        points, gap = _SIZES[size]
        gap = gap if room == _WIDE else _CLOSE
        # A text is broken in what takes the whole page alone.
        broad = [index in numeric_columns or room < _WIDE for index in indices]
        narrowest = [
            cells[index] if broad[index] else min(cells[index], max(floor, chunks[index])) for index in indices
        ]
        # A heading is as wide as its cells, or as its longest word.
        lines = [
            _break_heading(text, max(cells[index], 4.0)) if broken else [text] for index, text in enumerate(headings)
        ]
        upright = [
            turned
            and (index in numeric_columns or not floor)
            and max(map(_measure_text_ems, lines[index])) > max(narrowest[index], _TURNED)
            for index in indices
        ]
        heads = [_TURNED if upright[index] else max(map(_measure_text_ems, lines[index])) for index in indices]
        widths = _distribute_column_widths_or_none(cells, narrowest, heads, (room - 2 * gap * len(headings)) / points)
        if widths is not None:
            break
    final_widths = widths or narrowest
    narrowed = [
        final_widths[index] * points if index not in numeric_columns and final_widths[index] < cells[index] else None
        for index in indices
    ]
    heading_cells = [
        f"\\rotatebox{{90}}{{{_render_latex_text_with_m_all(headings[index])}}}"
        if upright[index]
        else _render_stacked_heading(lines[index], "r" if index in numeric_columns else "l")
        for index in indices
    ]
    wide = sum(max(pair) for pair in zip(final_widths, heads, strict=True)) * points + 2 * gap * len(headings)
    return _Layout(size, points, gap, narrowed, heading_cells, wide)


def _distribute_column_widths_or_none(
    cell_widths: list[float], least_widths: list[float], heading_widths: list[float], total_width: float
) -> list[float] | None:
    """Return the columns' widths in ems: what each needs, and its share of what is left; None without enough room."""
    whole = [max(pair) for pair in zip(cell_widths, heading_widths, strict=True)]
    narrow = [max(pair) for pair in zip(least_widths, heading_widths, strict=True)]
    spare = total_width - sum(narrow)
    lacking = sum(whole) - sum(narrow)
    if spare < 0:
        return None
    share = min(1.0, spare / lacking) if lacking > 0 else 1.0
    return [small + share * (large - small) for small, large in zip(narrow, whole, strict=True)]


def _break_heading(text: str, width_ems: float) -> list[str]:
    """Return the heading in lines of this many ems, or of a word."""
    lines: list[str] = []
    for word in text.split():
        if lines and _measure_text_ems(f"{lines[-1]} {word}") <= width_ems:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def _render_stacked_heading(lines: Sequence[str], alignment: str) -> str:
    if len(lines) == 1:
        return _render_latex_text_with_m_all(lines[0])
    inside = r" \\ ".join(map(_render_latex_text_with_m_all, lines))
    return f"\\shortstack[{alignment}]{{{inside}}}"


def _estimate_table_height_in_points(layout: _Layout, body: Cells, note: str) -> float:
    lines = 0
    for row in body:
        needed = (
            -(-_measure_text_ems(cell) * layout.points * 1.1 // width)
            for cell, width in zip(row, layout.widths, strict=True)
            if width is not None
        )
        lines += int(max(needed, default=1))
    return (lines + 3) * layout.points * _LEADING + (_measure_text_ems(note) * 8 / _WIDE + 1) * _NOTE


@lru_cache(10_000)
def _measure_text_ems(text: str) -> float:
    """Return the width of a text, by the size of its letters."""
    short = _OVERALL.sub("Mal", text)
    return sum(_EMS.get(sign, 0.72 if sign.isupper() else 0.52 if sign.isascii() else 0.8) for sign in short)


def _measure_number_ems(cell: str) -> float:
    """Return the width of a number: signs of a formula are wider than a text's."""
    power = _POWER.match(cell)
    return _measure_text_ems(cell) + 0.45 * sum(cell.count(sign) for sign in "+-\u2212") + (1.2 if power else 0.0)


def _split_where_latex_may_break(text: str) -> list[str]:
    return [part for word in text.split() for part in _BREAKS.split(word)]


# -- what is written --


def _render_latex_row(cells: Sequence[str], numeric_columns: set[int], layout: _Layout) -> str:
    """Write one row; in numbers a hyphen is a minus and an exponent a power, and long names may break behind a `/`."""
    written = []
    for index, cell in enumerate(cells):
        if index in numeric_columns:
            written.append(_render_latex_number(cell))
        elif layout.widths[index] is None:
            written.append(_render_latex_text_with_m_all(cell))
        else:
            written.append("\\allowbreak{}".join(map(_render_latex_text_with_m_all, _BREAKS.split(cell))))
    return " & ".join(written) + r" \\"


def _render_latex_number(cell: str) -> str:
    power = _POWER.match(cell)
    if power:
        return f"${power[1]}\\times10^{{{'-' if power[2] == '-' else ''}{power[3]}}}$"
    return _MINUS.sub("$-$", _render_latex_text_with_m_all(cell))


def _render_latex_text_with_m_all(text: str) -> str:
    """Text in which nothing is a command, and M_all is set as what it is."""
    pieces, end = [], 0
    line = _put_text_on_one_line(text)
    for match in _OVERALL.finditer(line):
        pieces += [_escape_latex(line[end : match.start()]), r"$M_{\mathrm{all}}$"]
        end = match.end()
    return "".join([*pieces, _escape_latex(line[end:])])


def _escape_latex(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def _render_latex_note_with_code(text: str) -> str:
    """Return a note in LaTeX, with text between backticks set as code."""
    return re.sub(
        r"\\textasciigrave\{\}(.*?)\\textasciigrave\{\}", r"\\texttt{\1}", _render_latex_text_with_m_all(text)
    )


def _join_nonempty_lines(*lines: str) -> str:
    return "\n".join(filter(None, lines)) + "\n"
