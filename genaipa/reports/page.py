"""A report as HTML that needs nothing but itself: no script, no font, no picture from anywhere else.

The page shows first and says little: the finding, a picture, and chapters of figures with folded tables. What explains
a number in full is in `notes.html`, answers for which there is no room are in `answers.html`, both beside it.
Whatever a system, a document or a person has said is text here, never markup: the templates escape all they are given,
figures are embedded in the page as images, and a policy in its head forbids whatever would load or run something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
import pandas as pd
from markupsafe import Markup

import genaipa
from genaipa.reports import answers as beside
from genaipa.reports.answers import Answers, find_answers
from genaipa.reports.averages import INTERVALS
from genaipa.reports.figures import overview
from genaipa.reports.figures.figure import as_bytes
from genaipa.reports.figures.judged import NAME as ALONE
from genaipa.reports.front import front
from genaipa.reports.part import warning
from genaipa.reports.render import as_html, prose
from genaipa.reports.table import first_sentences
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.gather import Gathered
    from genaipa.reports.report import Report
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source

PAGE, NOTES = "index.html", "notes.html"
MOST = 100
"""Rows of a table that is in the page; a longer one is a file."""
_BRIEF = 60
"""Words up to which a table with a chapter's findings is not folded."""
_WIDTH = 882
"""Pixels of a figure across both columns of a paper, whose letters are sized for print."""
_POINTS = 504.0
"""Its points."""
_MISSING = re.compile(r"Without [^:]*, and so not here: .*?\.(?=\s|$)")
"""The sentence on the systems that a figure lacks."""
_MOST_DOCUMENTS = 24
"""Documents that are named."""


@dataclass(frozen=True)
class _Shown:
    """A table or figure on its way into the template."""

    name: str
    title: str
    caption: Markup
    html: str = ""
    picture: Markup | str = ""
    width: int = 0
    brief: bool = True
    """Whether a table has few words."""

    @property
    def is_broad(self) -> bool:
        """Whether a figure is wider than a column of a paper."""
        return self.width > _WIDTH / 2


def pages(report: Report, pictures: Mapping[str, bytes] | None = None, *, whole: bool = False) -> dict[str, str]:
    """The page and those beside it, by their file names. `pictures` are the figures drawn already, as SVG by name.

    `whole` shows answers whose text may not be passed on as well.
    """
    answers, words = find_answers(report.gathered, whole=whole), _words(report)
    found = {PAGE: _page(report, pictures or {}, answers, words)}
    found[NOTES] = _template("notes.html.jinja").render(**words, title="Notes on the report")
    if answers.apart:
        found[beside.PAGE] = _template("answers.html.jinja").render(**words, title="Answers", answers=answers)
    return found


def _page(report: Report, pictures: Mapping[str, bytes], answers: Answers, words: Mapping[str, Any]) -> str:
    gathered, said = report.gathered, front(report)
    full = [chapter for chapter in report.chapters if chapter.tables or chapter.figures]
    first = _first(report)
    return _template("report.html.jinja").render(
        **words,
        title=said.title,
        front=said,
        first=_figure(first, pictures) if first else None,
        key=_table(report.key, answers) if report.key and overview.NAME not in report.figures else None,
        chapters=[_chapter(chapter, pictures, answers, first) for chapter in full],
        answers=answers,
        absent=report.absent,
        number_absent=len({sentence.partition(":")[0] for sentence in report.absent}),
        inputs={table.name: len(table.data) for table in report.inputs},
        runs=[source.folder.name for source in gathered.sources],
    )


def _first(report: Report) -> Figure | None:
    """The picture of the first screen: systems and categories; before people scored, what a judge alone gave."""
    alone = (figure for name, figure in report.figures.items() if name.startswith(ALONE))
    return report.figures.get(overview.NAME) or next(alone, None)


def _words(report: Report) -> dict[str, Any]:
    """The words that all pages of a report share: versions, method, and the notes in full."""
    gathered = report.gathered
    sources = sorted(gathered.sources, key=lambda source: source.folder.name)
    return {
        "version": genaipa.__version__,
        "procedure": not gathered.frame.empty or not gathered.by_rule,
        "facts": _facts(gathered, sources),
        "notable": report.notable,
        "bands": report.bounds.in_words,
        "scale": gathered.rubric.in_words,
        "intervals": INTERVALS,
        "problems": report.problems,
        "parts": report.chapters,
        "every_absent": report.absent,
    }


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genaipa.reports", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = lambda text: Markup(prose(text))  # noqa: S704 - escaped
    return environment


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)


def _systems(sources: Sequence[Source]) -> list[str]:
    return sorted({system for source in sources for system in source.systems})


def _facts(gathered: Gathered, sources: Sequence[Source]) -> list[tuple[str, str]]:
    frame, own = gathered.frame, [fact for one in gathered.by_rule for fact in one.facts]
    if frame.empty and gathered.by_rule:
        return [("Systems", ", ".join(_systems(sources))), *own, ("Runs", _runs(sources))]
    counted = frame[frame["counted"]]
    people = counted.loc[counted["unit"] == "answer", "analyst"].nunique()
    published = ["a published study"] if (counted["unit"] == "table").any() else []
    scorers = [number(people, "analyst")] if people or not published else []
    documents = sorted({name for source in sources for name in source.manifest.documents})
    asked = frame.loc[frame["unit"] == "answer", "key"]
    return [
        ("Systems", ", ".join(_systems(sources))),
        *own,
        ("Documents", ", ".join(documents) if len(documents) <= _MOST_DOCUMENTS else f"{len(documents):,}"),
        ("Runs", _runs(sources)),
        ("Questions asked", f"{asked.nunique():,}, of {len(gathered.questions):,} different questions"),
        ("Categories", "; ".join(f"{short} {name}" for short, name in gathered.categories.items() if short != name)),
        ("Scores in the averages", f"{len(counted):,}{_once_scored(counted)}"),
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


def _once_scored(counted: pd.DataFrame) -> str:
    """The number of texts that the scores are of, where equal ones were scored once and count for each answer."""
    answers = counted[counted["unit"] == "answer"].drop_duplicates(["run", "key"])
    texts = answers["answer"].nunique()
    return f", of {number(texts, 'different text')}" if texts < len(answers) else ""


def _chapter(chapter: Chapter, pictures: Mapping[str, bytes], answers: Answers, above: Figure | None) -> dict[str, Any]:
    """A chapter: the first figure of each kind, the others folded, tables folded, and the files of long tables.

    The figure that is `above`, on the first screen, is not shown twice.
    """
    first: dict[str, Figure] = {}
    further: list[Figure] = []
    for figure in chapter.figures:
        if figure is above:
            continue
        if first.setdefault(figure.kind or figure.name, figure) is not figure:
            further.append(figure)
    tables = [table for table in chapter.tables if table.name not in {figure.table.name for figure in first.values()}]
    titles = {table.title for table in tables}
    tables += [figure.table for figure in first.values() if not figure.kind and figure.table.title not in titles]
    shown = {table.name: _table(table, answers) for table in tables if len(table.data) <= MOST}
    return {
        "name": chapter.name,
        "title": chapter.title,
        "lead": first_sentences(chapter.lead, 1),
        "method": chapter.method,
        "references": chapter.references,
        "figures": [_figure(figure, pictures) for figure in first.values()],
        "further": [_figure(figure, pictures) for figure in further],
        "first": [shown[name] for name in chapter.first if name in shown],
        "tables": [one for name, one in shown.items() if name not in chapter.first],
        "files": [(table.name, table.title, len(table.data)) for table in tables if table.name not in shown],
    }


def _table(table: Table, answers: Answers) -> _Shown:
    lean = _lean(table)
    markup = Markup(as_html(lean, hrefs=answers.hrefs(lean.data), bare=True))  # noqa: S704 - escaped cell by cell
    brief = sum(len(cell.split()) for row in lean.cells for cell in row) <= _BRIEF
    return _Shown(table.name, table.title, _caption(table.caption, table.note), markup, brief=brief)


def _lean(table: Table) -> Table:
    """The table without rows that say what another one says, and without columns that say nothing."""
    data = table.data
    if "questions" in data and (data["questions"] == "all").any():
        others = [name for name in data.columns if name != "questions"]
        every = data.loc[data["questions"] == "all", others]
        # The only source there is has the values of all questions.
        same = pd.MultiIndex.from_frame(data[others].astype(str)).isin(pd.MultiIndex.from_frame(every.astype(str)))
        data = data[(data["questions"] == "all") | ~same].reset_index(drop=True)
    lean = table if data is table.data else replace(table, data=data)
    empty = [name for name in lean.printed if all(not lean.written(name, value) for value in data[name])]
    return replace(lean, aside=lean.aside | frozenset(empty)) if 0 < len(empty) < len(lean.printed) else lean


def _caption(caption: str, note: str) -> Markup:
    missing = next((found for found in _MISSING.findall(note) if found not in caption), "")
    return Markup(prose(" ".join(filter(None, (caption, missing, warning(note))))))  # noqa: S704 - escaped


def _figure(figure: Figure, pictures: Mapping[str, bytes]) -> _Shown:
    drawn = pictures.get(figure.name) or as_bytes(figure, "svg")
    points = re.search(rb'<svg[^>]* width="([\d.]+)pt"', drawn)
    width = round(float(points[1]) * _WIDTH / _POINTS) if points else 0
    caption = _caption(figure.caption or first_sentences(figure.note), figure.note)
    return _Shown(figure.name, figure.title, caption, picture=_embedded(drawn.decode()), width=width)


_PATH = re.compile(r'(?<= d=")[^"]*')
_FRACTION = re.compile(r"(\.\d\d)\d+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_QUOTED = re.compile(r'="[^"]*\'')


def _embedded(svg: str) -> Markup:
    """A picture as an address of itself: outlines to a hundredth of a point, short names, and little escaped."""
    svg = _COMMENT.sub("", svg[svg.index("<svg") :]).replace("xlink:href", "href").replace("DejaVuSans-", "g")
    svg = " ".join(_PATH.sub(lambda path: _FRACTION.sub(r"\1", path[0]), svg).split()).replace("> <", "><")
    svg = svg if _QUOTED.search(svg) else svg.replace('"', "'")
    written = quote(svg, safe=" /:=;,()-+*!?@[]{}|~&'<>").replace("&", "&amp;")
    return Markup("data:image/svg+xml," + written)  # noqa: S704 - what ends an attribute, a double quote, is escaped
