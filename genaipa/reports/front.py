"""The first screen of a report in words: what was found, how sure that is, and what changes the reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports import notable, part
from genaipa.reports.chapters import overall
from genaipa.reports.crossed import FEW_DOCUMENTS, LEAST_DOCUMENTS
from genaipa.reports.differences.significance import OTHER_PEOPLE, SIGNIFICANT, written
from genaipa.reports.figures.style import brief, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.reports.report import Report
    from genaipa.reports.table import Table

_MOST = 8
"""Systems in the matrix, the best first."""
_NAMED = 3
"""Systems that a title names beside the best."""
_BULLETS = 3
_SILENT = 5
"""Things named that a study says nothing about."""
_DETAILS = re.compile(r" \(findings: [^)]*\)")
_ABSENT = re.compile(r"(.*?) (?:is|are) not shown")


@dataclass(frozen=True)
class Cell:
    """A system less another: what is written, and how it holds: `sure`, `here` (for these documents), `chance`."""

    text: str
    holds: str


@dataclass(frozen=True)
class Line:
    """A system in the matrix: its rank as far as it is known, its average, and its differences from the others."""

    system: str
    label: str
    rank: str
    mean: str
    cells: list[Cell | None]


@dataclass(frozen=True)
class Front:
    """The first screen: the finding, its limits, the matrix (without a line for fewer than two systems), bullets."""

    title: str
    limits: str
    lines: list[Line]
    more_systems: int
    bullets: list[str]
    further: list[str]
    wide: bool
    """Whether ranks and intervals in the matrix are for policies like these."""


def front(report: Report) -> Front:
    """Put the finding of a report into words."""
    board, pairs = _table(report, "leaderboard"), _table(report, "system-differences")
    means = dict(zip(board["system"], board["m_all10"], strict=True)) if len(board) else {}
    names = brief(means, 40)
    said = list(dict.fromkeys([*(_changes(report) if means else []), *report.notable]))
    if silence := _silence(report.absent):
        said.insert(_BULLETS - 1, silence)
    lines = _lines(pairs, means, names) if len(pairs) else []
    wide = bool(len(pairs)) and bool(pairs["policies_p_holm"].notna().any())
    return Front(
        _title(report, pairs, means, names),
        _limits(report, board, pairs, means, names),
        lines[:_MOST],
        max(len(means) - _MOST, 0) if lines else 0,
        [_DETAILS.sub("", sentence) for sentence in said[:_BULLETS]],
        said[_BULLETS:],
        wide,
    )


def _table(report: Report, name: str) -> pd.DataFrame:
    return report.tables[name].data if name in report.tables else pd.DataFrame()


# -- the finding --


def _title(report: Report, pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str]) -> str:
    if not means:
        return _unscored(report)
    best, *others = means
    if not others:
        return f"{names[best]} scores {means[best]:.0f} on a scale from 10 to 100"
    against = {other: _between(pairs, best, other) for other in others}
    rest = _rest(others, means, names)
    if not any(against.values()):
        return f"{names[best]} {means[best]:.0f}, {rest}: nothing in common was scored"
    if any(known is not None and known["meaning"] == OTHER_PEOPLE for known in against.values()):
        return f"No verdict, since different people scored: {names[best]} {means[best]:.0f}, {rest}"
    return _verdict(pairs, {other: _higher(known, best) for other, known in against.items()}, means, names)


def _verdict(
    pairs: pd.DataFrame, higher: Mapping[str, str], means: Mapping[str, float], names: Mapping[Any, str]
) -> str:
    """Whether the system with the highest average is `higher` than each of the others."""
    best, *others = means
    rest = _rest(others, means, names)
    if all(higher.values()):
        where = "" if all(how == "sure" for how in higher.values()) else f" {_about(pairs)}"
        return f"{names[best]} answers best{where}: {means[best]:.0f}; {rest}"
    alike = [best, *(other for other in others if not higher[other])]
    if len(alike) == len(means):
        return f"No clear difference: {names[best]} {means[best]:.0f}, {rest}"
    ahead = f"{', '.join(names[one] for one in alike[:-1])} and {names[alike[-1]]}"
    scores = ", ".join(f"{means[one]:.0f}" for one in alike)
    behind = _rest([other for other in others if other not in alike], means, names)
    return f"{ahead} lead, too close to call: {scores}; {behind}"


def _first_figure(key: Table) -> str:
    """The first measure of each system in the main table of a task that no person scores."""
    rows = key.data[key.data["kind"] == "system"] if "kind" in key.data else key.data
    measure = next((str(name) for name in key.data if key.data[name].dtype == "float64"), None)
    if measure is None or rows.empty or "system" not in key.data:
        return key.title
    names = brief(rows["system"], 40)
    shown = rows.sort_values(measure, ascending=False, kind="stable").head(_NAMED)
    each = [f"{names[row['system']]} {key.written(measure, row[measure])}" for _, row in shown.iterrows()]
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"{key.title}, {key.headings.get(measure, measure)}: {', '.join(each)}{more}"


def _unscored(report: Report) -> str:
    frame = report.frame
    asked = frame[frame["unit"] == "answer"].drop_duplicates(["run", "key"]) if len(frame) else frame
    if not len(asked):
        return _first_figure(report.key) if report.key else "Nothing was asked"
    answered = int((asked["answer"] != "").sum())
    return f"{answered:,} of {len(asked):,} questions answered, none scored yet"


def _rest(others: Sequence[str], means: Mapping[str, float], names: Mapping[Any, str]) -> str:
    """The other systems with their averages; of many the first, and how many more."""
    named = ", ".join(f"{names[one]} {means[one]:.0f}" for one in others[:_NAMED])
    more = others[_NAMED:]
    return f"{named}, {len(more)} more from {means[more[0]]:.0f} down" if more else named


def _between(pairs: pd.DataFrame, first: str, second: str) -> dict[str, Any] | None:
    """The row of two systems, as the first less the second; None if they have nothing in common."""
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


def _higher(row: Mapping[str, Any] | None, system: str) -> str:
    """The confidence that the system is the higher one: `sure`, `here`, or none (empty)."""
    if row is None or row["difference"] <= 0 or not str(row["meaning"]).startswith(f"{system} higher"):
        return ""
    return _holds(row)


def _holds(row: Mapping[str, Any]) -> str:
    if row["meaning"] == OTHER_PEOPLE or not row["p_holm"] < SIGNIFICANT:
        return "chance"
    return "sure" if row["policies_p_holm"] < SIGNIFICANT else "here"


def _about(pairs: pd.DataFrame) -> str:
    documents = int(pairs["documents"].max())
    return "about this document" if documents == 1 else f"about these {documents} documents"


# -- its limits --


def _limits(
    report: Report, board: pd.DataFrame, pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str]
) -> str:
    if not means:
        return (
            "Answers, times and costs are below; averages come with scores: genaipa score" if len(report.frame) else ""
        )
    best, *others = means
    row = next((known for one in others if (known := _between(pairs, best, one))), None)
    said = []
    if row is not None:
        wide = pd.notna(row["policies_low"])
        low, high = (row["policies_low"], row["policies_high"]) if wide else (row["low"], row["high"])
        target = "policies like these" if wide else "other questions about the same documents"
        p = row["policies_p_holm"] if wide else row["p_holm"]
        sure = f" (95 %: {signed(low)} to {signed(high)} for {target}, {written(p)})" if pd.notna(low) else ""
        said.append(
            f"{names[best]} minus {names[row['second']]}: {signed(row['difference'])} points of M_all{sure}, over the "
            f"{int(row['n'])} questions scored of both."
        )
    said += [_documents(board, pairs), _scorers(board)]
    return " ".join(filter(None, said))


def _documents(board: pd.DataFrame, pairs: pd.DataFrame) -> str:
    number = int((pairs if len(pairs) else board)["documents"].max())
    if number < LEAST_DOCUMENTS:
        documents = {0: "Only means over documents are known", 1: "1 document"}.get(number, f"{number} documents")
        return f"{documents}: nothing can be said about {'policies like it' if number == 1 else 'other policies'}."
    return f"{number} documents{': rough for other policies' if number < FEW_DOCUMENTS else ''}."


def _scorers(board: pd.DataFrame) -> str:
    who = list(dict.fromkeys(board["scored_by"]))
    if len(who) > _NAMED:
        return ""
    named = " or ".join("the study that published them" if one == "published" else one for one in who)
    return f"Scored by {named}: other people might score otherwise."


def _changes(report: Report) -> list[str]:
    """Sentences that change the reading most: on what isn't a sample, isn't alike, or was chosen."""
    apart = overall.unlike(report.frame) if "system-differences" in report.tables else ""
    return [*filter(None, [part.in_words(report.frame).strip(), apart]), *notable.weighty(report.gathered)]


def _silence(absent: Sequence[str]) -> str:
    """A sentence on what the study says nothing of."""
    found = [match[1] for sentence in absent if (match := _ABSENT.match(sentence))]
    named = "; ".join(f"{what[:1].lower()}{what[1:]}" for what in found[:_SILENT])
    more = f"; and {len(found) - _SILENT} more" if len(found) > _SILENT else ""
    return f"It can\u2019t say, for want of data: {named}{more}." if found else ""


# -- the matrix --


def _lines(pairs: pd.DataFrame, means: Mapping[str, float], names: Mapping[Any, str]) -> list[Line]:
    systems = list(means)[:_MOST]
    lines = []
    for system in systems:
        known = {other: _between(pairs, system, other) for other in means if other != system}
        lower, higher = (
            sum(row is not None and _counts(pairs, row) and (row["difference"] > 0) is up for row in known.values())
            for up in (True, False)
        )
        rank = f"{1 + higher}" if 1 + higher == len(means) - lower else f"{1 + higher} to {len(means) - lower}"
        cells = [None if other == system else _cell(known[other]) for other in systems]
        lines.append(Line(system, names[system], rank, f"{means[system]:.0f}", cells))
    return lines


def _counts(pairs: pd.DataFrame, row: Mapping[str, Any]) -> bool:
    """Whether a difference orders two systems, for policies like these where anything can be said of them."""
    wide = pairs["policies_p_holm"].notna().any()
    return _holds(row) == "sure" or (not wide and _holds(row) == "here")


def _cell(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return Cell("nothing in common", "chance")
    wide = pd.notna(row["policies_low"])
    low, high = (row["policies_low"], row["policies_high"]) if wide else (row["low"], row["high"])
    sure = f" ({signed(low)} to {signed(high)})" if pd.notna(low) else ""
    return Cell(f"{signed(row['difference'])}{sure}", _holds(row))
