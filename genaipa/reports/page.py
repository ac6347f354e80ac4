"""A report as one HTML file that needs nothing but itself: no script, no font, no picture from anywhere else.

Whatever a system, a document or a person has said is text here, never markup: the template escapes all it is given,
figures are embedded in the page as images, and a policy in its head forbids whatever would load or run something.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import jinja2
import msgspec
from markupsafe import Markup

import genaipa
from genaipa.reports import provenance
from genaipa.reports.answers import Answers, find_answers
from genaipa.reports.averages import INTERVALS
from genaipa.reports.figures.figure import as_bytes
from genaipa.reports.render import as_html, prose
from genaipa.reports.suites.results import boards

if TYPE_CHECKING:
    import pandas as pd

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.gather import Gathered
    from genaipa.reports.report import Report
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source

TEMPLATE = "report.html.jinja"
LONG = 24
"""Rows above which a table is folded away on a screen."""
PRINTED = 100
"""Rows above which a table is not printed."""
MOST = 2000
"""Rows of a table shown in the page; its CSV file has all."""
_PIXELS = 1.75
"""Pixels of a screen for a point of a figure, whose letters are sized for print."""
_MOST_DOCUMENTS = 24
"""Documents that are named."""
_FEW = 3
"""Systems that fit into the title."""


@dataclass(frozen=True)
class _Shown:
    """A table or figure on its way into the template."""

    name: str
    title: str
    html: Markup
    folded: bool = False
    printed: bool = True
    note: str = ""
    picture: str = ""
    width: int = 0


def html(report: Report, pictures: Mapping[str, bytes] | None = None, *, whole: bool = False) -> str:
    """The whole page. `pictures` are the figures that were drawn already, as SVG by their name.

    `whole` shows answers whose text may not be passed on as well.
    """
    gathered, pictures = report.gathered, pictures or {}
    answers = find_answers(gathered, whole=whole)
    sources = sorted(gathered.sources, key=lambda source: source.folder.name)
    full = [chapter for chapter in report.chapters if chapter.tables or chapter.figures]
    inputs = (provenance.runs(gathered), provenance.systems(gathered), provenance.texts(gathered))
    return _template().render(
        version=genaipa.__version__,
        systems=_systems(sources),
        title=_title(_systems(sources)),
        procedure=not gathered.frame.empty or not gathered.is_of_suites,
        facts=_facts(gathered, sources),
        key=_table(report.key, fold=False) if report.key else None,
        notable=report.notable,
        chapters=[_chapter(chapter, report, pictures, answers) for chapter in full],
        answers=answers,
        questions=gathered.questions,
        not_shown=[why for chapter in report.chapters if chapter not in full for why in chapter.absent],
        bands=report.bounds.in_words,
        scale=gathered.rubric.in_words,
        intervals=INTERVALS,
        inputs=[_table(table) for table in inputs if table],
        manifests=[
            (source.folder.name, msgspec.json.format(msgspec.json.encode(source.manifest), indent=1).decode())
            for source in sources
        ],
        problems=report.problems,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genaipa.reports", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE)


def _systems(sources: Sequence[Source]) -> list[str]:
    return sorted({system for source in sources for system in source.systems})


def _title(systems: Sequence[str]) -> str:
    if len(systems) == 1:
        return f"How well does {systems[0]} answer questions about privacy?"
    named = f"{', '.join(systems[:-1])} and {systems[-1]}" if len(systems) <= _FEW else f"{len(systems)} systems"
    return f"How well do {named} answer questions about privacy?"


def _facts(gathered: Gathered, sources: Sequence[Source]) -> list[tuple[str, str]]:
    frame = gathered.frame
    if frame.empty and gathered.is_of_suites:
        return [("Systems", ", ".join(_systems(sources))), *_suites(gathered), ("Runs", _runs(sources))]
    counted = frame[frame["counted"]]
    people = counted.loc[counted["unit"] == "answer", "analyst"].nunique()
    published = ["a published study"] if (counted["unit"] == "table").any() else []
    scorers = [f"{people:,} analyst{'' if people == 1 else 's'}"] if people or not published else []
    documents = sorted({name for source in sources for name in source.manifest.documents})
    asked = frame.loc[frame["unit"] == "answer", "key"]
    return [
        ("Systems", ", ".join(_systems(sources))),
        *_suites(gathered),
        ("Documents", ", ".join(documents) if len(documents) <= _MOST_DOCUMENTS else f"{len(documents):,}"),
        ("Runs", _runs(sources)),
        ("Questions asked", f"{asked.nunique():,}, of {len(gathered.questions):,} different questions"),
        ("Categories", "; ".join(f"{short} {name}" for short, name in gathered.categories.items() if short != name)),
        ("Scores in the averages", f"{len(counted):,}{_once(counted)}"),
        ("Scored by", ", ".join([*published, *scorers])),
    ]


def _runs(sources: Sequence[Source]) -> str:
    """Number of the runs, and their days."""
    # What was imported has no times of its own.
    begun = sorted(source.manifest.created[:10] for source in sources if source.manifest.created)
    ended = sorted(source.manifest.updated[:10] for source in sources if source.manifest.updated)
    when = ""
    if begun and ended:
        when = f", on {begun[0]}" if begun[0] == ended[-1] else f", from {begun[0]} to {ended[-1]}"
    return f"{len(sources):,}{when}"


def _suites(gathered: Gathered) -> list[tuple[str, str]]:
    """The suites that were asked, with their numbers of items; nothing where none was."""
    asked = {board.title: len(board.suite.material.items) for board in boards(gathered.suites)}
    said = "; ".join(f"{title} ({number:,} items)" for title, number in asked.items())
    return [("Suites", said)] if asked else []


def _once(counted: pd.DataFrame) -> str:
    """The number of texts that the scores are of, where equal ones were scored once and count for each answer."""
    answers = counted[counted["unit"] == "answer"].drop_duplicates(["run", "key"])
    texts = answers["answer"].nunique()
    return f", of {texts:,} different text{'' if texts == 1 else 's'}" if texts < len(answers) else ""


def _chapter(chapter: Chapter, report: Report, pictures: Mapping[str, bytes], answers: Answers) -> dict[str, Any]:
    """A chapter; a table that is a figure's own, or is shown at the top, is not shown twice."""
    elsewhere = {figure.table.name for figure in chapter.figures} | ({report.key.name} if report.key else set())
    tables = [_table(table, answers=answers) for table in _once_explained(chapter.tables, elsewhere)]
    return {
        "name": chapter.name,
        "title": chapter.title,
        "lead": chapter.lead,
        "absent": chapter.absent,
        "method": chapter.method,
        "references": chapter.references,
        "figures": _figures(chapter.figures, pictures, answers),
        "first": [table for table in tables if table.name in chapter.first],
        "tables": [table for table in tables if table.name not in chapter.first],
    }


def _once_explained(tables: Sequence[Table], elsewhere: Container[str]) -> Iterator[Table]:
    """The tables of a chapter that are not `elsewhere`; the intervals are explained below the first that has them."""
    explained = ""
    for table in tables:
        if table.name in elsewhere:
            continue
        if INTERVALS in table.note and explained:
            said = f"The two intervals of an average are explained below the table \u201c{explained}\u201d."
            yield replace(table, note=table.note.replace(INTERVALS, said))
            continue
        if INTERVALS in table.note and len(table.data) <= LONG:
            explained = table.title
        yield table


def _table(table: Table, *, fold: bool = True, answers: Answers | None = None) -> _Shown:
    hrefs = answers.hrefs(table.data.head(MOST)) if answers else []
    rows, markup = len(table.data), Markup(as_html(table, most=MOST, hrefs=hrefs))  # noqa: S704 - escaped cell by cell
    return _Shown(table.name, table.title, markup, fold and rows > LONG, printed=rows <= PRINTED)


def _figures(figures: Sequence[Figure], pictures: Mapping[str, bytes], answers: Answers) -> list[_Shown]:
    """Figures with their captions; how a kind of figure is read is said under the first of it."""
    shown = []
    first: dict[str, Figure] = {}
    for figure in figures:
        model = first.setdefault(figure.reading, figure)
        note = prose(figure.note)
        if model is not figure and figure.reading:
            link = f'<a href="#figure-{escape(model.name)}">{escape(model.title)}</a>'
            note = f"{prose(figure.about)} It is read as the figure {link}.".strip()
        shown.append(_figure(figure, pictures, answers, Markup(note)))  # noqa: S704 - escaped
    return shown


def _figure(figure: Figure, pictures: Mapping[str, bytes], answers: Answers, note: Markup) -> _Shown:
    drawn = pictures.get(figure.name) or as_bytes(figure, "svg")
    points = re.search(rb'<svg[^>]* width="([\d.]+)pt"', drawn)
    width = round(float(points[1]) * _PIXELS) if points else 0
    picture = "data:image/svg+xml;base64," + base64.b64encode(drawn).decode()
    bare = replace(figure.table, note="")  # the caption is just above
    hrefs = answers.hrefs(bare.data.head(MOST))
    numbers = Markup(as_html(bare, most=MOST, hrefs=hrefs))  # noqa: S704 - escaped cell by cell
    return _Shown(figure.name, figure.title, numbers, folded=True, note=note, picture=picture, width=width)
