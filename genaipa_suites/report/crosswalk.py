"""One break-down for all suites: by the categories of the paper's questions, through a cross-walk (a data file)."""

from __future__ import annotations

from collections import defaultdict
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.judged.estimate import with_estimates
from genaipa.reports.table import Table, table
from genaipa_suites.crosswalk import load_crosswalk
from genaipa_suites.report.card import plainest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.gather import Gathered
    from genaipa_suites.report.drawings import Marks
    from genaipa_suites.report.scored import Row, Scored

NAME = "suites-by-category"
M_ALL = "M_all*10"


def by_category(gathered: Gathered, boards: Sequence[Scored]) -> Table:
    """Each system's main measure in every suite, and its M_all, by category of questions."""
    walk, names = load_crosswalk(boards[0].board.suite.workspace)
    places = walk.by_name
    rows: list[dict[str, Any]] = []
    for scored in boards:
        asked = plainest(scored).values()
        for row in [one for one in asked if one.kind == "system"] or asked:
            for code, figures in (_of_items(scored, row, places, names) or _of_parts(scored, row, places)).items():
                about = {"category": code, "name": names[code], "system": row.system, "kind": row.kind}
                rows.append({**about, "suite": scored.board.suite.title, **figures})
    if rows:
        rows += _quality(gathered, names)
    order = {code: place for place, code in enumerate(names)}
    rows.sort(key=lambda row: order[row["category"]])
    return table(
        NAME,
        "All suites by category",
        f"Each suite's main measure in per cent, and M_all, by category of the paper's questions; n is the "
        f"number of items, or of questions. {walk.about} An item counts in each category that its practice leads to; "
        "one of a practice without any is left out. Of a suite that has practices as parts of items, such as several "
        "intents of a sentence, it is the mean of these parts' figures.",
        pd.DataFrame(rows),
        ["category", "name", "suite", "measure", "system", "kind", "n", "value", "low", "high"],
        headings={"name": "", "low": "95 % interval"},
        formats={**dict.fromkeys(("value", "low", "high"), ".1f"), "n": ".0f"},
    )


def _of_items(
    scored: Scored, row: Row, places: Mapping[str, Sequence[str]], names: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Category → the main measure over the items whose groups lead to it; empty where a suite's groups lead nowhere."""
    assert row.counts is not None, "a system that was asked has outcomes"
    measured = scored.board.suite.grouped[0]
    inside = {
        item.id: {code for own in item.groups.values() for name in own for code in places.get(name, ())}
        for item in scored.board.suite.material.items
    }
    found = {}
    for code in names:
        merit = row.counts.merit(measured, np.array([code in inside[one] for one in row.counts.ids], bool))
        if merit.items:
            figure = {"value": 100 * merit.value, "low": 100 * merit.low, "high": 100 * merit.high}
            found[code] = {"measure": measured.heading, "n": merit.items, **figure}
    return found


def _of_parts(scored: Scored, row: Row, places: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Category → the mean of the measures of the parts of items that lead to it, such as intents."""
    assert row.counts is not None, "a system that was asked has outcomes"
    each: defaultdict[str, list[float]] = defaultdict(list)
    heading = ""
    for parts in scored.board.suite.parts.values():
        for name, measures in parts.items():
            value = row.counts.merit(measures[0]).value if places.get(name) else nan
            if not isnan(value):
                heading = heading or measures[0].heading
                for code in places[name]:
                    each[code].append(100 * value)
    return {code: {"measure": heading, "value": sum(values) / len(values)} for code, values in each.items()}


def _quality(gathered: Gathered, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """M_all by category of questions, of each system that people scored."""
    if gathered.frame.empty:
        return []
    frame, _ = with_estimates(gathered.frame)
    found = averages.policy_questions(frame).dropna(subset="m_all10")
    return [
        {
            "category": category,
            "name": names[str(category)],
            "system": str(system),
            "kind": "system",
            "suite": "GenAIPABench",
            "measure": M_ALL,
            "n": len(rows),
            "value": rows["m_all10"].mean(),
        }
        for (system, category), rows in found.groupby(["system", "category"], observed=True, sort=True)
        if category in names
    ]


def figure(numbers: Table, marks: Marks) -> Figure | None:
    """Categories down, a panel for each suite; None if fewer than two have any."""
    suites = list(dict.fromkeys(numbers.data["suite"])) if numbers else []
    if len(suites) < 2:  # noqa: PLR2004 - one alone has its own break-downs
        return None
    return Figure(NAME, numbers.title, numbers.note, numbers, lambda: _draw(numbers.data, suites, marks))


def _draw(data: pd.DataFrame, suites: Sequence[str], marks: Marks) -> Canvas:
    codes = list(dict.fromkeys(data["category"]))
    names = dict(zip(data["category"], data["name"], strict=True))
    systems = list(dict.fromkeys(data["system"]))
    across = min(len(suites), 4)
    down, across = style.panels(len(suites), across)
    drawn = style.canvas(style.WIDTH, down * (0.24 * len(codes) + 0.7) + 0.4)
    panels = drawn.subplots(down, across, sharey=True, squeeze=False)
    for axes, suite in zip(panels.flat, suites, strict=False):
        rows = data[data["suite"] == suite]
        axes.set_title(style.short(suite, 20), fontsize=style.SMALL)
        axes.set_xlabel(style.short(rows["measure"].iloc[0], 24), fontsize=style.TINY)
        for number, system in enumerate(systems):
            shift = (number - (len(systems) - 1) / 2) * min(0.16, 0.7 / len(systems))
            for row in rows[rows["system"] == system].to_dict("records"):
                place, look = codes.index(row["category"]) + shift, marks[system]
                axes.plot([row["low"], row["high"]], [place, place], color=look["color"], linewidth=0.8, zorder=2)
                axes.plot([row["value"]], [place], **look, linestyle="none", markersize=4, zorder=3)
        axes.set_xlim(-3, 103)
        axes.set_xticks([0, 50, 100])
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
        axes.tick_params(axis="y", length=0)
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(codes)), [f"{style.short(names[code], 30)} ({code})" for code in codes])
        axes.set_ylim(len(codes) - 0.5, -0.5)
    style.bottom(panels, len(suites))
    labels = style.labels(systems)
    style.legend(drawn, [style.mark(labels[system], **marks[system]) for system in systems])
    return drawn
