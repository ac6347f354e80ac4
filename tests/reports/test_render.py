"""A table as text, CSV, LaTeX and HTML: the same cells, numbers to the right, and nothing in them a command."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from jinja2 import Environment
from markupsafe import Markup

from genaipa.files.html import replace_control_characters
from genaipa.files.spreadsheets import unescape_formula
from genaipa.reports import render
from genaipa.reports.table import Table

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(1)",
    r"\input{/etc/passwd} & 5% $x$ #1 _a ^b ~c {d} [e]",
    "two\nlines\x1b[31m",
    "{{ 7 * 7 }}",
)


def table_of(data, *, title="A title", note="A note.", **details):
    """A table with this data."""
    return Table("made-up", title, note, pd.DataFrame(data), **details)


class Reader(HTMLParser):
    """The elements of a piece of HTML: (tag, attributes, text right inside it)."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """An element begins."""
        self.found.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        """Text in it."""
        if self.found:
            self.found[-1][2] += data

    def all(self, *tags):
        """The elements of these tags."""
        return [element for element in self.found if element[0] in tags]


SMALL = table_of(
    {"system": ["one", "two"], "n": [3, 12], "drop": [-1.25, float("nan")]},
    headings={"drop": "drop (x10)"},
    formats={"drop": "+.1f"},
)


def test_as_lines():
    """Lines of text have aligned columns with numbers to the right, and blanks for what is absent."""
    assert render.as_text_lines_without_title_or_note(SMALL) == [
        "system   n  drop (x10)",
        "------  --  ----------",
        "one      3        -1.2",
        "two     12",
    ]


def test_an_interval_is_one_cell():
    """Both ends of an interval are read in one cell, blank where there is none; CSV has a column for each."""
    ends = {"cost_low": [1.0, float("nan")], "cost_high": [2.5, float("nan")], "low": [3, 4]}
    table = table_of(ends, headings={"cost_low": "for these documents"}, formats=dict.fromkeys(ends, ".1f"))
    assert render.visible_headings(table) == ["for these documents", "low"]
    assert table.cells == [("1.0 to 2.5", "3.0"), ("", "4.0")]
    assert render.numeric_column_indices(table) == [0, 1]
    assert render.as_csv(table).splitlines()[0] == "\ufeffcost_low,cost_high,low"


def test_as_csv():
    """CSV has a mark, the data's columns, whole numbers as such, fractions to ten digits, empty cells for absent."""
    table = table_of({"system": ["one", None], "n": [3, 12], "share": [1 / 3, float("nan")]}, formats={"share": ".0%"})
    assert render.as_csv(table) == "\ufeffsystem,n,share\none,3,0.3333333333\n,12,\n"


def test_as_latex():
    """LaTeX is a floating booktabs table with caption and label, numbers right-aligned and with a real minus."""
    made = render.as_latex(SMALL)
    for line in (
        r"\caption{A title}\label{tab:made-up}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"system & n & drop (x10) \\",
        r"\midrule",
        r"one & 3 & $-$1.2 \\",
        r"two & 12 &  \\",
        r"\bottomrule",
    ):
        assert line in made.splitlines()
    assert "A note." in made


def test_as_html():
    """HTML has a caption, headings with their scope, the first column as heading of the row, numbers marked as such."""
    written = render.as_html(SMALL)
    page = Reader(written)
    assert "<caption><span>A title</span></caption>" in written
    assert [(a["scope"], "number" in a.get("class", "")) for _, a, _ in page.all("th")] == [
        ("col", False),
        ("col", True),
        ("col", True),
        ("row", False),
        ("row", False),
    ]
    assert [(a.get("class"), text.strip()) for _, a, text in page.all("td")] == [
        ("number", "3"),
        ("number", "-1.2"),
        ("number", "12"),
        ("number", ""),
    ]


def test_no_page_has_what_steers_a_terminal():
    """Neither in a table nor in a template's texts, markup among them; joiners and marks that scripts need stay."""
    steering, needed = "a\x1b[31m\x07\x9b\u202e\u2066", "\u0645\u06cc\u200c\u062e\n\t\U0001f468\u200d\U0001f469"
    shown = Environment(autoescape=True, finalize=replace_control_characters).from_string(
        "{{ a }}{{ b }}{{ c }}{{ d }}"
    )
    for page in (
        render.as_html(table_of({"system": [steering + needed], "n": [1]}, title=steering, note=steering)),
        shown.render(a=steering, b=Markup(f"<i>{steering}</i>"), c=7, d=needed),
    ):
        assert not set("\x1b\x07\x9b\u202e\u2066") & set(page)
        assert needed in page
    assert "<i>a�[31m����</i>7" in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_html(hostile):
    """What a system, a document or a person has said adds no element to the page, wherever it stands."""
    made = table_of({"system": [hostile], "n": [1]}, title=hostile, note=hostile, headings={"n": hostile})
    x = "x" * len(hostile)
    calm = table_of({"system": [x], "n": [1]}, title=x, note=x, headings={"n": x})
    found, wanted = Reader(render.as_html(made)).found, Reader(render.as_html(calm)).found
    assert [(tag, attributes) for tag, attributes, _ in found] == [(tag, attributes) for tag, attributes, _ in wanted]
    assert [text for _, attributes, text in found if attributes.get("scope") == "row"] == [hostile.replace("\x1b", "�")]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_csv(hostile):
    """A cell is text that a spreadsheet does not run, and reads back as it was."""
    rows = list(csv.reader(io.StringIO(render.as_csv(table_of({"system": [hostile], "n": [-1]})), newline="")))
    assert rows[1][0][0] not in "=+-@\t\r"
    assert [unescape_formula(rows[1][0], in_csv=True), rows[1][1]] == [hostile, "-1"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_latex(hostile):
    """Only commands of our own are in the table; every character that LaTeX would act on is written as text."""
    made = render.as_latex(table_of({"system": [hostile], "n": [1]}, title=hostile, note=hostile))
    calm = render.as_latex(table_of({"system": ["x"], "n": [1]}, title="x", note="x"))
    commands = set(re.findall(r"\\[A-Za-z]+", made)) - set(re.findall(r"\\[A-Za-z]+", calm))
    fitting = {"\\allowbreak", "\\raggedright", "\\arraybackslash", "\\scriptsize"}
    assert {name for name in commands - fitting if not name.startswith("\\text")} == set()
    assert made.count("\n") == calm.count("\n")
    assert not re.search(r"(?<!\\)[#$%^~_]", made.replace("% needs", "").replace("{!}{%\n", ""))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text(hostile):
    """A name can't break the rows or steer a terminal."""
    lines = render.as_text_lines_without_title_or_note(table_of({"system": [hostile], "n": [1]}))
    assert len(lines) == 3
    assert not any("\n" in line or "\x1b" in line for line in lines)


def test_long_tables():
    """In LaTeX a table that fits no page breaks over pages; in HTML one is cut where asked, and says so."""
    table = table_of({"n": list(range(100))})
    assert r"\begin{longtable}{r}" in render.as_latex(table)
    cut = render.as_html(table, max_rows=10)
    assert cut.count("<td") == 10
    assert "the first 10 of 100 rows" in cut
    assert "rows" not in render.as_html(table, max_rows=100)


def test_rows_for_machines():
    """As rows, numbers are numbers under the columns' own names, and what is absent is None."""
    assert render.as_json_rows(SMALL) == [
        {"system": "one", "n": 3, "drop": -1.25},
        {"system": "two", "n": 12, "drop": None},
    ]


@pytest.mark.parametrize(
    "form", [render.as_text_lines_without_title_or_note, render.as_csv, render.as_latex, render.as_html]
)
def test_empty(form):
    """A table without rows is its headings in every form."""
    assert "system" in "".join(form(table_of({"system": [], "n": []})))


def test_code_in_a_note_is_set_as_code() -> None:
    """What stands between backticks is a word of the table's own in LaTeX and HTML; a single one is only a sign."""
    table = Table("t", "T", "The `answers` are 100%.", pd.DataFrame({"n": [1]}))
    assert r"The \texttt{answers} are 100\%." in render.as_latex(table)
    assert "<code>answers</code>" in render.as_html(table)
    assert r"\textasciigrave{}" in render.as_latex(Table("t", "T", "A ` alone.", pd.DataFrame({"n": [1]})))
