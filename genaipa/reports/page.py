"""A report as HTML that needs nothing but itself: no script, no font, no picture from anywhere else.

The page shows first and says little: the finding in words (how sure it is, what changes the reading), a picture, and
chapters of figures with folded tables. What explains a number in full is in `notes.html`, answers for which there is no
room are in `answers.html`, both beside it. Whatever a system, a document or a person has said is text here, never
markup: the templates escape all they are given, figures are embedded in the page as images, and a policy in its head
forbids whatever would load or run something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
import pandas as pd
from markupsafe import Markup

import genaipa
from genaipa.files.html import replace_control_characters
from genaipa.policies.search import HALF, count_words
from genaipa.reports import answers as beside
from genaipa.reports import matches, notable, part
from genaipa.reports.answered import count_answered_by_system, note_systems_with_unanswered_questions
from genaipa.reports.answers import ReadableAnswers, collect_readable_answers
from genaipa.reports.averages import INTERVALS
from genaipa.reports.chapters import overall
from genaipa.reports.chapters.judges import NAME as ALONE
from genaipa.reports.figures.data_url import make_svg_data_url
from genaipa.reports.figures.figure import render_figure
from genaipa.reports.figures.style import clean_name_on_one_line, format_signed_tenths, last_part_labels
from genaipa.reports.judged.alone import describe_averages_by_judge, group_passes_by_judge, note_unfinished_judges
from genaipa.reports.part import extract_sparse_scores_warning
from genaipa.reports.render import as_html, render_note_html_with_code
from genaipa.reports.significance import OTHER_PEOPLE, format_confidence, format_p_value
from genaipa.stats.intervals import LEAST_DOCUMENTS, ROUGH_DOCUMENTS
from genaipa.stats.looks import SIGNIFICANT
from genaipa.words import first_sentences, format_count, format_percent_by_item_count, join_names, join_some

if TYPE_CHECKING:
    from genaipa.answers.study import Study
    from genaipa.reports.answered import AnsweredCount
    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.figures.figure import Figure
    from genaipa.reports.report import Report
    from genaipa.reports.table import Table
    from genaipa.runs.selection import SelectedRun

_MOST = 8
"""Systems in the matrix, the best first."""
_NAMED = 3
"""Systems that a title names beside the best."""
_BULLETS = 5
_SILENT = 5
"""Things named that a study says nothing about."""
_DETAILS = re.compile(r" \(reasons: [^)]*\)")
_ABSENT = re.compile(r"(.*?) (?:is|are) not shown")


@dataclass(frozen=True)
class MatrixCell:
    """A system less another: what is written, and how it holds: `sure`, `here` (for these documents), `chance`."""

    text: str
    holds: str


@dataclass(frozen=True)
class MatrixLine:
    """A system in the matrix: its rank as far as it is known, its average, and its differences from the others."""

    system: str
    label: str
    rank: str
    mean: str
    cells: list[MatrixCell | None]


@dataclass(frozen=True)
class FirstScreen:
    """The first screen: the finding, its limits, the matrix (without a line for fewer than two systems), bullets."""

    title: str
    limits: str
    lines: list[MatrixLine]
    more_systems: int
    bullets: list[str]
    further: list[str]
    wide: bool
    """Whether ranks and intervals in the matrix are for policies like these."""
    has_policies: bool
    """Whether the picture has intervals for policies like these."""
    confidence: str
    """Of the intervals in the picture, and of those of differences before they are adjusted for their number."""


def build_first_screen(report: Report) -> FirstScreen:
    """Put the finding of a report into words."""
    board, pairs = _find_table_data(report, "leaderboard"), _find_table_data(report, "system-differences")
    means = dict(zip(board["system"], board["m_all"], strict=True)) if len(board) else {}
    names = last_part_labels(means, 40)
    sentences = list(dict.fromkeys([*(_list_warnings_on_averages(report) if means else []), *report.notable]))
    # They stand above everything else.
    sentences = [sentence for sentence in sentences if sentence not in report.study.lost]
    needed = part.leaderboard_evidence_level(report.frame)
    if means:  # said above them
        sentences = [sentence for sentence in sentences if sentence != str(needed)]
    if silence := _note_unmeasured_topics(report.absent):
        sentences.insert(_BULLETS - 1, silence)
    lines = _make_matrix_lines(pairs, means, names, count_answered_by_system(report.frame)) if len(pairs) else []
    wide = matches.is_policies_p_known(pairs) if len(pairs) else False
    return FirstScreen(
        _make_report_title(report, pairs, means, names),
        _describe_lead_and_its_limits(report, board, pairs, means, names),
        lines[:_MOST],
        max(len(means) - _MOST, 0) if lines else 0,
        [_DETAILS.sub("", sentence) for sentence in sentences[:_BULLETS]],
        sentences[_BULLETS:],
        wide,
        bool(len(board)) and bool(board["policies_low"].notna().any()),
        format_confidence(needed.p if means else SIGNIFICANT),
    )


def _find_table_data(report: Report, name: str) -> pd.DataFrame:
    return report.tables[name].data if name in report.tables else pd.DataFrame()


# -- the finding --


def _make_report_title(
    report: Report, pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str]
) -> str:
    if not means:
        return _make_title_without_averages(report)
    best, *rivals = means
    if not rivals:
        return f"{names[best]} scores {means[best]:.0f} on a scale from 10 to 100"
    against = {rival: _find_pair_row_as_first_minus_second(pairs, best, rival) for rival in rivals}
    rival_list = _describe_other_averages(rivals, means, names)
    if not any(against.values()):
        return f"{names[best]} {means[best]:.0f}, {rival_list}: no question in common was scored"
    if any(row is not None and row["meaning"] == OTHER_PEOPLE for row in against.values()):
        return f"No verdict, since different people scored: {names[best]} {means[best]:.0f}, {rival_list}"
    return _make_title_on_ranking(
        pairs, {rival: _classify_certainty_of_lead(row, best) for rival, row in against.items()}, means, names
    )


def _make_title_on_ranking(
    pairs: pd.DataFrame, certainties: Mapping[str, str], means: Mapping[str, float], names: Mapping[Any, str]
) -> str:
    """Return who answers best, as far as `certainties` (system → how sure it is that it is lower) tell them apart."""
    best, *rivals = means
    rival_list = _describe_other_averages(rivals, means, names)
    if all(certainties.values()):
        where = "" if {*certainties.values()} == {"sure"} else f" {_phrase_about_documents(pairs)}"
        return f"{names[best]} answers best{where}: {means[best]:.0f}; {rival_list}"
    alike = [best, *(rival for rival in rivals if not certainties[rival])]
    if len(alike) == len(means):
        return f"No clear difference: {names[best]} {means[best]:.0f}, {rival_list}"
    ahead = f"{', '.join(names[leader] for leader in alike[:-1])} and {names[alike[-1]]}"
    scores = ", ".join(f"{means[leader]:.0f}" for leader in alike)
    behind = _describe_other_averages([rival for rival in rivals if rival not in alike], means, names)
    return f"{ahead} lead, too close to call: {scores}; {behind}"


def _describe_first_measure_by_system(table: Table) -> str:
    """Return the first measure of each system in the main table of a task that no person scores."""
    rows = table.data[table.data["kind"] == "system"] if "kind" in table.data else table.data
    measure = next((str(name) for name in table.data if table.data[name].dtype == "float64"), None)
    if measure is None or rows.empty or "system" not in table.data:
        return table.title
    names = last_part_labels(rows["system"], 40)
    ranked = rows.sort_values(measure, ascending=False, kind="stable")
    shares = "items" in rows
    items = rows["items"].max() if shares else 0
    system_values = [
        f"{names[system]} {format_percent_by_item_count(value, items) if shares else table.format_cell(measure, value)}"
        for system, value in zip(ranked["system"], ranked[measure], strict=True)
    ]
    first, heading = names[ranked["system"].iloc[0]], table.headings.get(measure, measure)
    best = f"{first} {heading}{system_values[0].removeprefix(first)}"
    return f"{table.title}: {join_some([best, *system_values[1:]], _NAMED)}"


def _make_title_without_averages(report: Report) -> str:
    frame = report.frame
    answers = frame[frame["unit"] == "answer"].drop_duplicates(["run", "key"]) if len(frame) else frame
    if not len(answers):
        return _describe_first_measure_by_system(report.main_table) if report.main_table else "Nothing was asked"
    if alone := describe_averages_by_judge(report.study):
        return alone
    if scored := len(frame[frame["counted"] & (frame["unit"] == "answer")].drop_duplicates(["run", "key"])):
        too_few = ", too few for averages" if part.find_sparsely_scored_experiments(frame) else ""
        return f"{scored:,} of {len(answers):,} answers scored{too_few}"
    answered = int((answers["answer"] != "").sum())
    return f"{answered:,} of {len(answers):,} questions answered, none scored yet"


def _describe_other_averages(rivals: Sequence[str], means: Mapping[str, float], names: Mapping[Any, str]) -> str:
    """Return the other systems with their averages; of many the first, and how many more."""
    named = ", ".join(f"{names[rival]} {means[rival]:.0f}" for rival in rivals[:_NAMED])
    unnamed = rivals[_NAMED:]
    return f"{named}, {len(unnamed)} more at {means[unnamed[0]]:.0f} or below" if unnamed else named


def _find_pair_row_as_first_minus_second(pairs: pd.DataFrame, first: str, second: str) -> dict[str, Any] | None:
    """Return the row of two systems, as the first less the second; None if they have nothing in common."""
    for row in pairs.to_dict("records"):
        if (row["first"], row["second"]) == (first, second):
            return {str(name): value for name, value in row.items()}
        if (row["first"], row["second"]) == (second, first):
            turned = {str(name): value for name, value in row.items()}
            turned |= {"first": first, "second": second, "difference": -row["difference"]}
            for ends in (("low", "high"), ("policies_low", "policies_high")):
                turned |= dict(zip(ends, (-row[ends[1]], -row[ends[0]]), strict=True))
            return turned
    return None


def _classify_certainty_of_lead(row: Mapping[str, Any] | None, system: str) -> str:
    """Return the confidence that the system is the higher one: `sure`, `here`, or none (empty)."""
    if row is None or row["difference"] <= 0 or not str(row["meaning"]).startswith(f"{system} higher"):
        return ""
    return _classify_certainty_of_difference(row)


def _classify_certainty_of_difference(row: Mapping[str, Any]) -> str:
    if row["meaning"] == OTHER_PEOPLE or not row["p_holm"] < row["level"]:
        return "chance"
    return "sure" if row["policies_p_holm"] < row["level"] else "here"


def _phrase_about_documents(pairs: pd.DataFrame) -> str:
    documents = int(pairs["documents"].max())
    return "about this document" if documents == 1 else f"about these {documents} documents"


# -- its limits --


def _describe_lead_and_its_limits(
    report: Report, board: pd.DataFrame, pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str]
) -> str:
    if not means and len(report.frame):
        judges = group_passes_by_judge(report.frame, report.study.rubric.digest)
        below = "Answers, times and costs are below; averages need scores: genaipa score"
        return f"{note_unfinished_judges(report.frame, judges)} {below}".strip()
    if not means:
        return ""
    best, *rivals = means
    row = next((pair for rival in rivals if (pair := _find_pair_row_as_first_minus_second(pairs, best, rival))), None)
    sentences = []
    if row is not None:
        wide = pd.notna(row["policies_low"])
        low, high = (row["policies_low"], row["policies_high"]) if wide else (row["low"], row["high"])
        target = "policies like these" if wide else "other questions about the same documents"
        p = row["policies_p_holm"] if wide else row["p_holm"]
        tests = int(pairs["p_holm"].notna().sum())
        among = f", adjusted for {tests} pairs" if tests > 1 and pd.notna(p) else ""
        tested = f", {format_p_value(p)}" if pd.notna(p) else ""
        ends = f"{format_signed_tenths(low)} to {format_signed_tenths(high)} for {target}{tested}"
        sure = f" ({format_confidence(row['level'])}{among}: {ends})" if pd.notna(low) else ""
        sentences.append(
            f"{names[best]} minus {names[row['second']]}: {format_signed_tenths(row['difference'])} points of "
            f"M_all{sure}, over the {format_count(int(row['n']), 'question')} scored for both."
        )
    sentences += [
        str(part.leaderboard_evidence_level(report.frame)),
        note_systems_with_unanswered_questions(count_answered_by_system(report.frame)),
        _note_reach_beyond_documents(board, pairs),
        _note_scorers(board),
    ]
    return " ".join(filter(None, sentences))


def _note_reach_beyond_documents(board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    number = int((pairs if len(pairs) else board)["documents"].max())
    if number < LEAST_DOCUMENTS:
        documents = {0: "Means over documents say", 1: "One document says"}.get(number, f"{number} documents say")
        return f"{documents} nothing about other policies."
    return f"{number} documents{', so results for other policies are rough' if number < ROUGH_DOCUMENTS else ''}."


def _note_scorers(board: pd.DataFrame) -> str:
    who = list(dict.fromkeys(board["scored_by"]))
    if len(who) > _NAMED:
        return ""
    named = " or ".join("the study that published them" if scorer == "published" else scorer for scorer in who)
    return f"Scored by {named}: other people might score differently."


def _list_warnings_on_averages(report: Report) -> list[str]:
    """Sentences that change the reading most: on what isn't a sample, isn't alike, or was chosen."""
    apart = overall.note_unlike_scored_questions(report.frame) if "system-differences" in report.tables else ""
    return [
        *notable.urgent_sentences(report.study),
        *filter(None, [part.describe_scored_parts_if_partial(report.frame).strip(), apart]),
        *notable.warnings_on_averages(report.study),
    ]


def _note_unmeasured_topics(absence_sentences: Sequence[str]) -> str:
    """Return a sentence on what the study says nothing of."""
    topics = [match[1] for sentence in absence_sentences if (match := _ABSENT.match(sentence))]
    named = "; ".join(f"{topic[:1].lower()}{topic[1:]}" for topic in topics[:_SILENT])
    remainder = f"; and {len(topics) - _SILENT} more" if len(topics) > _SILENT else ""
    return f"Not measured: {named}{remainder}." if topics else ""


# -- the matrix --


def _make_matrix_lines(
    pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str], answered: Mapping[str, AnsweredCount]
) -> list[MatrixLine]:
    systems = list(means)[:_MOST]
    ranks = {
        name: _format_rank_range(lowest, highest)
        for name, lowest, highest, _ in matches.possible_rank_ranges(pairs).itertuples(index=False)
    }
    lines = []
    for system in systems:
        rank = ranks.get(system, "unknown")
        cells = [
            None if rival == system else _make_matrix_cell(_find_pair_row_as_first_minus_second(pairs, system, rival))
            for rival in systems
        ]
        lacks = f" ({part})" if (part := answered.get(system)) and not part.has_answered_all else ""
        lines.append(MatrixLine(system, names[system], rank, f"{means[system]:.0f}{lacks}", cells))
    return lines


def _format_rank_range(lowest: int, highest: int) -> str:
    """Write from which rank to which a system may be."""
    return f"{lowest}" if lowest == highest else f"{lowest} to {highest}"


def _make_matrix_cell(row: Mapping[str, Any] | None) -> MatrixCell:
    if row is None:
        return MatrixCell("nothing in common", "chance")
    wide = pd.notna(row["policies_low"])
    low, high = (row["policies_low"], row["policies_high"]) if wide else (row["low"], row["high"])
    # Its ends stay in one line, below the difference where many systems take the breadth.
    sure = f" ({format_signed_tenths(low)}\u00a0to\u00a0{format_signed_tenths(high)})" if pd.notna(low) else ""
    return MatrixCell(f"{format_signed_tenths(row['difference'])}{sure}", _classify_certainty_of_difference(row))


PAGE, NOTES = "index.html", "notes.html"
MOST = 100
"""Rows of a table that is in the page; a longer one is a file."""
_BRIEF = 60
"""Words up to which a table with a chapter's findings is not folded."""
_WIDTH = 882
"""Pixels of a figure across both columns of a paper, whose letters are sized for print."""
_POINTS = 504.0
"""Its points."""
_MISSING = re.compile(r"Left out for lack of [^:]*: .*?\.(?=\s|$)")
"""The sentence on the systems that a figure lacks."""
_MOST_DOCUMENTS = 24
"""Documents that are named."""


@dataclass(frozen=True)
class _TableOrFigureOnPage:
    """A table or figure on its way into the template."""

    name: str
    title: str
    caption: Markup
    html: str = ""
    picture: Markup | str = ""
    width: int = 0
    names: tuple[float, float] | None = None
    """Shares of a broad figure's width between which the names of its rows are, which stay in sight."""
    ratio: float = 1.0
    """Width of a figure by its height."""
    brief: bool = True
    """Whether a table has few words."""

    @property
    def is_broad(self) -> bool:
        """Whether a figure is wider than a column of a paper."""
        return self.width > _WIDTH / 2


def render_pages(
    report: Report, pictures: Mapping[str, bytes] | None = None, *, with_restricted_texts: bool = False
) -> dict[str, str]:
    """Render the page and those beside it, by file name; `pictures` are figures already drawn, as SVG by name.

    `with_restricted_texts` shows answers whose text may not be passed on as well.
    """
    answers, words = (
        collect_readable_answers(report.study, with_restricted_texts=with_restricted_texts),
        _shared_template_values(report),
    )
    html_by_name = {PAGE: _render_main_page(report, pictures or {}, answers, words)}
    html_by_name[NOTES] = load_template("notes.html.jinja").render(**words, title="Notes on the report")
    if answers.all_questions_when_page_lacks_some:
        html_by_name[beside.PAGE] = load_template("answers.html.jinja").render(
            **words, title="Answers", answers=answers
        )
    return html_by_name


def _render_main_page(
    report: Report, pictures: Mapping[str, bytes], answers: ReadableAnswers, shared_values: Mapping[str, Any]
) -> str:
    study, finding = report.study, build_first_screen(report)
    full = [chapter for chapter in report.chapters if chapter.tables or chapter.figures]
    first = _choose_first_figure(report)
    return load_template("report.html.jinja").render(
        **shared_values,
        title=finding.title,
        front=finding,
        first=_render_figure_for_page(first, pictures) if first else None,
        by_judge=first is not None and first.name.startswith(ALONE),
        key=_render_table_for_page(report.main_table, answers)
        if report.main_table and overall.OVERVIEW not in report.figures
        else None,
        chapters=[_chapter_template_values(chapter, pictures, answers, first) for chapter in full],
        answers=answers,
        absent=report.absent,
        number_absent=len({sentence.partition(":")[0] for sentence in report.absent}),
        inputs={table.name: len(table.data) for table in report.input_tables},
        runs=[source.folder.name for source in study.sources],
    )


def _choose_first_figure(report: Report) -> Figure | None:
    """Return the picture of the first screen: systems and categories; before people scored, what a judge alone gave."""
    alone = (figure for name, figure in report.figures.items() if name.startswith(ALONE))
    return report.figures.get(overall.OVERVIEW) or next(alone, None)


def _shared_template_values(report: Report) -> dict[str, Any]:
    """Return the words that all pages of a report share: versions, method, and the notes in full."""
    study = report.study
    sources = sorted(study.sources, key=lambda source: source.folder.name)
    return {
        "version": genaipa.__version__,
        "procedure": not study.table.empty or not report.results,
        "facts": _study_facts(report, sources),
        "notable": report.notable,
        "bands": report.bounds.description,
        "limits": report.bounds.m_all_bounds,
        "scale": study.rubric.scale_and_m_all_explanation,
        "intervals": INTERVALS,
        "problems": report.problems,
        "lost": study.lost,
        "parts": report.chapters,
        "every_absent": report.absent,
    }


@cache
def _template_environment(package: str) -> jinja2.Environment:
    packages = dict.fromkeys((package, "genaipa.reports"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name, "") for name in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Whatever a page shows, a model's name as served and a reply among it.
    environment.finalize = replace_control_characters
    environment.filters["format_count"] = format_count
    environment.filters["prose"] = lambda text: Markup(render_note_html_with_code(text))  # noqa: S704 - escaped
    return environment


def load_template(name: str, package: str = "genaipa.reports") -> jinja2.Template:
    """Return a template of a package's pages, in which every text is escaped; it may import those of reports."""
    return _template_environment(package).get_template(name)


def _list_source_systems(sources: Sequence[SelectedRun]) -> list[str]:
    return sorted({system for source in sources for system in source.systems})


def _study_facts(report: Report, sources: Sequence[SelectedRun]) -> list[tuple[str, str]]:
    study, frame, task_facts = report.study, report.frame, [fact for result in report.results for fact in result.facts]
    if frame.empty and report.results:
        runs = _describe_runs_and_dates(sources)
        return [("Systems", ", ".join(_list_source_systems(sources))), *task_facts, ("Runs", runs)]
    counted = frame[frame["counted"]]
    people = counted.loc[counted["unit"] == "answer", "analyst"].nunique()
    published = ["a published study"] if (counted["unit"] == "table").any() else []
    scorers = [format_count(people, "analyst")] if people or not published else []
    documents = sorted({name for source in sources for name in source.manifest.documents})
    rows = frame[frame["status"] != "missing"]
    answer_count, present = rows.loc[rows["unit"] == "answer", "key"].nunique(), set(rows["category"])
    categories = [(short, name) for short, name in study.questions.categories.items() if short in present]
    return [
        ("Systems", ", ".join(_list_source_systems(sources))),
        *task_facts,
        ("Documents", ", ".join(documents) if len(documents) <= _MOST_DOCUMENTS else f"{len(documents):,}"),
        ("Runs", _describe_runs_and_dates(sources)),
        ("Questions asked", f"{answer_count:,}, of {format_count(rows['question'].nunique(), 'different question')}"),
        ("Categories", "; ".join(f"{short} {name}" for short, name in categories if short != name)),
        ("Scores in the averages", f"{len(counted):,}{_note_count_of_different_answer_texts(counted)}"),
        ("Scored by", ", ".join([*published, *scorers]) if len(counted) else _name_judges_or_nobody(study)),
    ]


def _name_judges_or_nobody(study: Study) -> str:
    """Return whose scores there are where no person's is."""
    judges = group_passes_by_judge(study.table, study.rubric.digest)
    return (
        f"{join_names([clean_name_on_one_line(judge) for judge in judges])} alone, not in any average"
        if judges
        else "nobody"
    )


def _describe_runs_and_dates(sources: Sequence[SelectedRun]) -> str:
    """Count the runs, and name their days."""
    # What was imported has no times of its own.
    begun = sorted(source.manifest.created[:10] for source in sources if source.manifest.created)
    ended = sorted(source.manifest.updated[:10] for source in sources if source.manifest.updated)
    when = ""
    if begun and ended:
        when = f", on {begun[0]}" if begun[0] == ended[-1] else f", from {begun[0]} to {ended[-1]}"
    return f"{len(sources):,}{when}"


def _note_count_of_different_answer_texts(counted: pd.DataFrame) -> str:
    """Say how many different texts were scored, where equal ones were scored once and count for each answer."""
    answers = counted[counted["unit"] == "answer"].drop_duplicates(["run", "key"])
    texts = answers["answer"].nunique()
    return f", of {format_count(texts, 'different text')}" if texts < len(answers) else ""


def _chapter_template_values(
    chapter: Chapter, pictures: Mapping[str, bytes], answers: ReadableAnswers, first_screen_figure: Figure | None
) -> dict[str, Any]:
    """Return a chapter: the first figure of each kind, the others folded, tables folded, and the files of long tables.

    The figure that is `first_screen_figure`, on the first screen, is not shown twice.
    """
    first: dict[str, Figure] = {}
    folded: list[Figure] = []
    for figure in chapter.figures:
        if figure is first_screen_figure:
            continue
        if first.setdefault(figure.kind or figure.name, figure) is not figure:
            folded.append(figure)
    tables = [table for table in chapter.tables if table.name not in {figure.table.name for figure in first.values()}]
    titles = {table.title for table in tables}
    tables += [figure.table for figure in first.values() if not figure.kind and figure.table.title not in titles]
    views = {table.name: _render_table_for_page(table, answers) for table in tables if len(table.data) <= MOST}
    return {
        "name": chapter.name,
        "title": chapter.title,
        "lead": first_sentences(chapter.lead, 1),
        "method": chapter.method,
        "references": chapter.references,
        "figures": [_render_figure_for_page(figure, pictures) for figure in first.values()],
        "further": [_render_figure_for_page(figure, pictures) for figure in folded],
        "first": [views[name] for name in chapter.first if name in views],
        "tables": [view for name, view in views.items() if name not in chapter.first],
        "files": [(table.name, table.title, len(table.data)) for table in tables if table.name not in views],
    }


def _render_table_for_page(table: Table, answers: ReadableAnswers) -> _TableOrFigureOnPage:
    lean = table.copy_without_groups_equal_to_all
    markup = Markup(as_html(lean, row_hrefs=answers.answer_links(lean.data), without_title_and_note=True))  # noqa: S704 - escaped cell by cell
    brief = sum(count_words(cell, HALF) for row in lean.cells for cell in row) <= _BRIEF
    caption = _render_caption_and_warnings(table.first_sentences_of_note, table.note)
    return _TableOrFigureOnPage(table.name, table.title, caption, markup, brief=brief)


def _render_caption_and_warnings(caption: str, note: str) -> Markup:
    missing = next((sentence for sentence in _MISSING.findall(note) if sentence not in caption), "")
    sentences = filter(None, (caption, missing, extract_sparse_scores_warning(note)))
    return Markup(render_note_html_with_code(" ".join(sentences)))  # noqa: S704 - escaped


def _render_figure_for_page(figure: Figure, pictures: Mapping[str, bytes]) -> _TableOrFigureOnPage:
    svg = pictures.get(figure.name) or render_figure(figure, "svg")
    across, down = (re.search(rb'<svg[^>]* %s="([\d.]+)pt"' % side, svg) for side in (b"width", b"height"))
    points, ends = float(across[1]) if across else 0.0, re.search(rb'<svg data-names="([\d.]+) ([\d.]+)"', svg)
    return _TableOrFigureOnPage(
        figure.name,
        figure.title,
        _render_caption_and_warnings(figure.caption or first_sentences(figure.note), figure.note),
        picture=make_svg_data_url(svg.decode()),
        width=round(points * _WIDTH / _POINTS),
        names=(float(ends[1]) / points, float(ends[2]) / points) if ends and points else None,
        ratio=points / float(down[1]) if down else 1.0,
    )
