"""Conduct: the pace at which answers and tokens came while the runs were asked."""

from __future__ import annotations

import datetime as dt
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.table import Table, table
from genaipa.runs.batches import was_batched
from genaipa.runs.records import MeasuredHead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Scope

NAME = "throughput"
RATES = {"answers_per_minute": "Answers per minute", "tokens_per_minute": "Tokens per minute"}
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_WIDTHS = [
    *(0.5, 1, 2, 5, 10, 15, 30),
    *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12, 24, 48, 168, 720)),
]
"""Seconds that an interval of time may have, so that its ends are round."""
_MOST, _FEWEST = 60, 4
"""Largest and smallest number of intervals of a figure."""
_INSTANT = 0.005
"""Median seconds below which a system's answers come from this machine's memory."""
_SHORTEST = 0.001
"""Seconds, as exactly as records have them."""
_PAUSE = (5.0, 3600.0)
"""Seconds of nothing out that are a pause at least, and in a run of weeks."""
_NAMED = 6
"""Pauses that a figure has room to name."""
_FITS = 7


class _Call(MeasuredHead, kw_only=True):
    started: str


@dataclass(frozen=True)
class Calls:
    """All calls of a system: seconds since 1970 of each one's `begin` and `end`, its tokens, and whether it answers."""

    begin: np.ndarray
    end: np.ndarray
    answers: np.ndarray
    tokens: np.ndarray


class Sitting(NamedTuple):
    """A time during which something was out: its seconds since 1970, and where it begins on the axis without pauses."""

    begin: float
    end: float
    at: float


def calls_of(study: Study) -> dict[str, Calls]:
    """System → its calls that took time; a system that recordings, this machine or people by hand gave is left out."""
    found: dict[str, list[array[float]]] = {}
    for source in study.sources:
        facts = source.manifest.systems
        asked = {name for name in source.systems if not (name in facts and facts[name].words == "recording")}
        for _, call in source.folder.read(_Call):
            if call.system in asked:
                tokens = float(call.usage.input + call.usage.output) if call.usage else np.nan
                answered = call.kind == "answer" and call.status != "failed"
                begin = dt.datetime.fromisoformat(call.started).timestamp()
                # Plain numbers: there may be millions.
                columns = found.setdefault(call.system, [array("d") for _ in range(4)])
                for column, value in zip(columns, (begin, call.seconds, answered, tokens), strict=True):
                    column.append(value)
    calls = {}
    for system, columns in found.items():
        begins, seconds, answers, known = map(np.array, columns)
        if np.median(seconds) >= _INSTANT:
            calls[system] = Calls(begins, begins + np.maximum(seconds, _SHORTEST), answers, known)
    return calls


def sittings(calls: Sequence[Calls]) -> list[Sitting]:
    """The times during which anything was out, without the pauses between them, in order."""
    if not calls:
        return []
    begin = np.concatenate([one.begin for one in calls])
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.concatenate([one.end for one in calls])[order]
    latest = np.maximum.accumulate(end)
    idle = np.maximum(begin[1:] - latest[:-1], 0)
    asked = float(latest[-1] - begin[0] - idle.sum())
    # What is long for a run of a minute is nothing in one of a week.
    least = min(max(asked / 20, _PAUSE[0]), _PAUSE[1])
    cuts = np.flatnonzero(idle > least)
    begins, ends = begin[np.concatenate([[0], cuts + 1])], latest[np.concatenate([cuts, [len(latest) - 1]])]
    at = np.concatenate([[0.0], np.cumsum(ends - begins)[:-1]])
    return [Sitting(*map(float, one)) for one in zip(begins, ends, at, strict=True)]


def spread(calls: Calls, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The sum of weights between each two edges, each being spread evenly over its call; NaN if none is known."""
    known = ~np.isnan(weights)
    if not known.any():
        return np.full(len(edges) - 1, np.nan)
    rate = weights[known] / (calls.end - calls.begin)[known]
    times = np.concatenate([calls.begin[known], calls.end[known]]) - edges[0]
    order = np.argsort(times, kind="stable")
    times, slope = times[order], np.cumsum(np.concatenate([rate, -rate])[order])
    reached = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(times))])
    return np.diff(np.interp(edges - edges[0], times, reached))


def _edges(sitting: Sitting, width: float) -> np.ndarray:
    """Ends of the intervals of a sitting; one at its end that is less than half as long belongs to that before."""
    number = max(round((sitting.end - sitting.begin) / width), 1)
    return np.append(sitting.begin + width * np.arange(number), sitting.end)


def over_time(calls: Mapping[str, Calls]) -> Table:
    """The rates of each system in each interval of the time in which anything was out."""
    sat = sittings([*calls.values()])
    asked = sum(one.end - one.begin for one in sat)
    width = next((one for one in _WIDTHS if asked / one <= _MOST), _WIDTHS[-1])
    rows: list[dict[str, Any]] = []
    for number, sitting in enumerate(sat, 1):
        edges = _edges(sitting, width)
        minutes = np.diff(edges) / 60
        for system, one in calls.items():
            rates = [spread(one, each, edges) / minutes for each in (one.answers, one.tokens)]
            for place, (start, end) in enumerate(pairwise(edges)):
                at = {"sitting": number, "from": _moment(start), "begin": sitting.at + start - sitting.begin}
                figures = zip(RATES, (float(rate[place]) for rate in rates), strict=True)
                rows.append({**at, "seconds": end - start, "system": system, **dict(figures)})
    columns = ["sitting", "from", "begin", "seconds", "system", *RATES]
    note = (
        "Each answer, and each token sent or received, counts evenly over the time from its question to its whole "
        f"reply. A step is {_in_words(width)}; times in which nothing was out are left out."
    )
    headings = {"begin": "seconds asked before", "seconds": "seconds"}
    formats = {"begin": ".1f", "seconds": ".1f", "answers_per_minute": ".2f", "tokens_per_minute": ".0f"}
    return table(NAME, "Throughput over time", note, pd.DataFrame(rows), columns, headings=headings, formats=formats)


def by_system(calls: Mapping[str, Calls], rates: Table, *, batched: bool) -> Table:
    """Each system's answers, the time in which it was asked, and its rates over all of that."""
    rows = []
    for system, one in calls.items():
        own = sittings([one])
        minutes = sum(sitting.end - sitting.begin for sitting in own) / 60
        tokens = np.nan if np.isnan(one.tokens).all() else float(np.nansum(one.tokens))
        of = rates.data[rates.data["system"] == system]
        rows.append(
            {
                "system": system,
                "answers": int(one.answers.sum()),
                "minutes": minutes,
                "answers_per_minute": one.answers.sum() / minutes,
                "fastest": of["answers_per_minute"].max(),
                "tokens_per_minute": tokens / minutes,
                "at_once": float((one.end - one.begin).sum()) / 60 / minutes,
                "pauses": len(own) - 1,
                "from": _moment(one.begin.min()),
                "until": _moment(one.end.max()),
            }
        )
    columns = ["system", "answers", "minutes", "answers_per_minute", "fastest", "tokens_per_minute", "at_once"]
    columns += ["pauses", "from", "until"]
    said = " Of a batch, an answer's time is that until the batch was collected." if batched else ""
    return table(
        f"{NAME}-systems",
        "Throughput by system",
        "Answers (refused and cut off ones too) and tokens sent and received, of all calls, by the minutes in which "
        "any of the system's calls was out, tries and waiting included; `fastest` is the best interval of the figure, "
        f"`at once` how many calls were out on average. Times are UTC.{said}",
        pd.DataFrame(rows),
        columns,
        headings={**{name: heading.lower() for name, heading in RATES.items()}, "at_once": "at once"},
        formats={"minutes": ".2f", "answers_per_minute": ".1f", "fastest": ".1f"}
        | {"tokens_per_minute": ",.0f", "at_once": ".1f", "answers": ",d"},
    )


def figure(rates: Table, sat: Sequence[Sitting], scope: Scope) -> Figure | None:
    """A line for each system over the time of asking, for answers and for tokens; None for too short a time."""
    data = scope.only(rates.data)
    if data.empty or data["begin"].nunique() < _FEWEST:
        return None
    systems = style.labels(style.ordered(data["system"]), 34)
    pauses = [after.begin - before.end for before, after in pairwise(sat)]
    cut = (
        f" A dotted line is a pause that is cut out ({len(pauses)}, {_in_words(sum(pauses))} in all)." if pauses else ""
    )
    note = (
        f"From {_moment(sat[0].begin)} to {_moment(sat[-1].end)} UTC.{cut} {rates.note}"
        f"{scope.without(data['system'], 'a time that was measured')}{style.in_full(systems)}"
    )
    shown = Table(NAME, rates.title, note, data.reset_index(drop=True), rates.headings, rates.formats, rates.aside)
    return Figure(NAME, rates.title, note, shown, lambda: _draw(data, sat, systems, scope), fits=_FITS)


def _draw(data: pd.DataFrame, sat: Sequence[Sitting], systems: Mapping[Any, str], scope: Scope) -> Canvas:
    shown = [rate for rate in RATES if data[rate].notna().any()]
    drawn = style.canvas(style.WIDTH, 1.7 * len(shown) + 0.6)
    panels = drawn.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    marks, whole = scope.marks(list(systems)), sat[-1].at + sat[-1].end - sat[-1].begin
    unit = next((name for name in reversed(_UNITS) if whole >= 2 * _UNITS[name]), "second")
    for axes, rate in zip(panels, shown, strict=True):
        for (system, _), rows in data.groupby(["system", "sitting"], sort=False, observed=True):
            _draw_line(axes, rows, rate, _UNITS[unit], marks[system])
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, whole / _UNITS[unit])
        axes.set_ylabel(RATES[rate])
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
        for sitting in sat[1:]:
            axes.axvline(sitting.at / _UNITS[unit], color=style.INK, linestyle=":", linewidth=0.8)
    _name_pauses(panels[0], sat, _UNITS[unit])
    panels[-1].set_xlabel(f"{unit.capitalize()}s of asking" + (", without pauses" if len(sat) > 1 else ""))
    style.legend(drawn, [style.mark(label, **marks[system]) for system, label in systems.items()])
    return drawn


def _draw_line(axes: Axes, rows: pd.DataFrame, rate: str, unit: int, look: Mapping[str, Any]) -> None:
    """One system in one sitting: a step for each interval from its first call to its last."""
    busy = np.flatnonzero(rows[rate] > 0)
    if not len(busy):
        return
    rows = rows.iloc[busy[0] : busy[-1] + 1]
    edges = [*rows["begin"], rows["begin"].iloc[-1] + rows["seconds"].iloc[-1]]
    axes.stairs(rows[rate], [edge / unit for edge in edges], color=look["color"], linewidth=1.1, baseline=None)
    some = rows.iloc[:: max(len(rows) // 6, 1)]
    middles = (some["begin"] + some["seconds"] / 2) / unit
    axes.plot(middles, some[rate], **look, linestyle="none", markersize=3.5, clip_on=False)


def _name_pauses(axes: Axes, sat: Sequence[Sitting], unit: int) -> None:
    if len(sat) - 1 > _NAMED:
        return
    for before, after in pairwise(sat):
        axes.annotate(
            _in_words(after.begin - before.end),
            (after.at / unit, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=style.TINY,
        )


def _in_words(seconds: float) -> str:
    """A length of time in its largest fitting unit: `0.2 s`, `5 min`, `3 h`, `2 d`."""
    short = {"second": "s", "minute": "min", "hour": "h", "day": "d"}
    name = next((name for name in reversed(_UNITS) if seconds >= _UNITS[name]), "second")
    return f"{float(f'{seconds / _UNITS[name]:.2g}'):g} {short[name]}"


def _moment(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s")).replace("T", " ")


def chapter(study: Study, scope: Scope) -> Chapter:
    """The chapter on how the runs went; empty where no system took a time that was measured."""
    calls = calls_of(study)
    if not calls:
        return Chapter("conduct", "How the runs went", "")
    rates, sat = over_time(calls), sittings([*calls.values()])
    batched = any(was_batched(source.folder.path) for source in study.sources)
    return Chapter(
        "conduct",
        "How the runs went",
        "The pace at which answers came, by system: what limits of rate, retries and pauses did to it.",
        present(by_system(calls, rates, batched=batched)),
        scope.pages([lambda some: figure(rates, sat, some)]),
    )
