"""The card: for each system its scores in all suites beside people's scores of its answers, and what it took.

Does a cheap automatic score predict what people say of a system's answers? The card puts both side by side, with their
rank correlation over systems, and says of how many systems that is. One break-down is for all suites: by the categories
of the paper's questions, through a cross-walk (a data file).
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports import averages
from genaipa.reports.chapters.overall import leaderboard_table as leaderboard
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa.reports.judged.estimate import estimate_averages
from genaipa.reports.table import Table, make_table
from genaipa.stats.ranks import FEW_RANKED, correlate_ranks
from genaipa.words import number
from genaipa_suites.data import load_crosswalk
from genaipa_suites.material import FAULTS, UNPARSABLE
from genaipa_suites.plan import SAMPLE
from genaipa_suites.report.merit import LEVEL
from genaipa_suites.report.tables import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa_suites.report.drawings import Marks
    from genaipa_suites.report.results import Result, Row, Scored

NAME = "card"
_SPENT = ("cost", "cached", "unparsable", "faulty")


def shown(boards: Sequence[Scored]) -> list[Scored]:
    """One board of each suite for the card: without a probe, published rather than made up, whole, of most systems."""
    found: dict[str, Scored] = {}
    for scored in sorted(boards, key=_rank):
        if not scored.board.plan.probe:
            found.setdefault(scored.board.name, scored)
    order = {scored.board.name: place for place, scored in reversed(list(enumerate(boards)))}
    return sorted(found.values(), key=lambda scored: order[scored.board.name])


def left_out(boards: Sequence[Scored], chosen: Sequence[Scored]) -> str:
    """The sentence on systems that were asked other items of a suite than those in its column; empty without any."""
    here = {(scored.board.name, system) for scored in chosen for system in plainest(scored)}
    there: dict[str, list[str]] = {}
    for scored in boards:
        if scored.board.plan.probe or scored in chosen:
            continue
        names = [name for name, row in plainest(scored).items() if row.kind == "system"]
        if others := [name for name in names if (scored.board.name, name) not in here]:
            there[scored.board.title] = others
    said = "; ".join(f"{title} ({', '.join(names)})" for title, names in there.items())
    return f" A column is of one set of items: not in it are {said}." if said else ""


def _rank(scored: Scored) -> tuple[bool, bool, int, int]:
    plan, asked = scored.board.plan, scored.board.results
    systems = {result.system for result in asked if not result.baseline}
    return plan.split == SAMPLE, plan.limit is not None, -len(systems), -len(asked)


def plainest(scored: Scored) -> dict[str, Row]:
    """System → its row as it was asked most plainly: with the fewest examples, in the first wording."""
    found: dict[str, Row] = {}
    for row in sorted(scored.asked, key=lambda row: _plain(row.result)):
        found.setdefault(row.system, row)
    return found


def _plain(result: Result | None) -> tuple[int, int, str]:
    assert result is not None, "a system that was asked has a result"
    return result.plan.shots, result.plan.wording, result.asked


def card(study: Study, boards: Sequence[Scored], every: Sequence[Scored]) -> Table:
    """A row for each system, a column for each suite, M_all, and what was spent; then floors, ceilings and people.

    `boards` are the columns; what of `every` board is in none is said.
    """
    each = {scored.board.name: plainest(scored) for scored in boards}
    quality = _quality(study)
    kinds = {name: row.kind for rows in each.values() for name, row in rows.items()}
    systems = [name for name, kind in kinds.items() if kind == "system"] or list(kinds)
    rows: list[dict[str, Any]] = []
    for system in dict.fromkeys([*systems, *quality]):
        row: dict[str, Any] = {"system": system, "kind": kinds.get(system, "system"), **quality.get(system, {})}
        own = [each[scored.board.name].get(system) for scored in boards]
        for scored, one in zip(boards, own, strict=True):
            if one is not None and one.counts is not None:
                row |= percent(one.counts.merit(scored.measures[0]), scored.board.name)
        rows.append(row | _spent([one.result for one in own if one is not None and one.result is not None]))
    rows += _references(boards)
    spent = [name for name in _SPENT if any(row.get(name, nan) >= 0 for row in rows)]
    names = [scored.board.name for scored in boards]
    measured = [*names, *(["m_all"] if quality else [])]
    ends = [f"{name}_{end}" for name in measured for end in ("low", "high")]
    columns = f"{'; '.join(f'{scored.board.title}: {scored.measures[0].heading}' for scored in boards)}"
    return make_table(
        NAME,
        "All suites, and what people say",
        f"Each suite's main measure in per cent ({columns}) in the plainest way in which a system was asked (fewest "
        "examples, first wording), and M_all (10 to 100): people's scores of its answers, or their estimates. "
        "The measures differ: only systems in one column are comparable. Cost and shares are over these suites: "
        "`cached` of the tokens sent, `unparsable` and `faulty` (unparsable, refused, cut off, failed, out of range, "
        "not in the text) of the replies. Intervals are in CSV and JSON. The last rows: the best floor (an answer that "
        "takes no reading), the ceiling and people, worked out on the same items." + left_out(every, boards),
        pd.DataFrame(rows),
        ["system", "kind", *measured, *spent],
        headings={scored.board.name: _heading(scored) for scored in boards} | {"cost": "cost ($)"},
        formats={
            **dict.fromkeys((*measured, *ends), ".1f"),
            **dict.fromkeys(("cached", "unparsable", "faulty"), ".1%"),
            "cost": ".2f",
        },
        aside=[*ends, *(name for name in _SPENT if name not in spent)],
    )


def _heading(scored: Scored) -> str:
    """The suite's title, and the number of items of a sample."""
    board = scored.board
    return f"{board.suite.title} ({len(board.suite.material.items):,} items)" if board.plan.limit else board.suite.title


def _quality(study: Study) -> dict[str, dict[str, float]]:
    """System → its M_all with the interval for policies like these, as in the leaderboard."""
    if study.table.empty or not study.table["counted"].any():
        return {}
    data = leaderboard(study.table).data
    return {
        str(row["system"]): {
            "m_all": row["m_all"],
            "m_all_low": row["policies_low"],
            "m_all_high": row["policies_high"],
        }
        for row in data.to_dict("records")
    }


def _spent(results: Sequence[Result]) -> dict[str, float]:
    """Cost of these results, and shares of their tokens and replies."""
    costs = [result.cost for result in results if result.cost is not None]
    sent = sum(result.usage.input for result in results)
    replies = sum(len(result.outcomes) for result in results)
    faulty = sum(result.faults[fault] for result in results for fault in FAULTS)
    return {
        "cost": sum(costs) if costs else nan,
        "cached": sum(result.usage.cached for result in results) / sent if sent else nan,
        "unparsable": sum(result.faults[UNPARSABLE] for result in results) / replies if replies else nan,
        "faulty": faulty / replies if replies else nan,
    }


def _references(boards: Sequence[Scored]) -> list[dict[str, Any]]:
    """The best floor, the ceiling and people of each suite."""
    rows = []
    for kind, name in (("floor", "best floor"), ("ceiling", "ceiling"), ("people", "people")):
        values: dict[str, float] = {}
        for scored in boards:
            main = scored.measures[0]
            own = [row for row in scored.rows if row.kind == kind and (kind != "ceiling" or row is scored.ceiling)]
            known = [row.figures[main.name] for row in own if main.name in row.figures]
            known += [row.counts.merit(main).value for row in own if row.counts and row.counts.outcomes]
            if known:
                values[scored.board.name] = 100 * max(known)
        if values:
            rows.append({"system": name, "kind": kind, **values})
    return rows


def ranks(made: Table, boards: Sequence[Scored]) -> Table:
    """Spearman's rank correlation over systems between each suite and M_all; empty where no system has both."""
    rows = []
    systems = made.data[made.data["kind"] == "system"]
    for scored in boards if "m_all" in systems else []:
        both = systems[[scored.board.name, "m_all"]].dropna()
        if len(both):
            rho, low, high = correlate_ranks(both[scored.board.name], both["m_all"])
            said = {"suite": scored.board.title, "measure": scored.measures[0].heading, "systems": len(both)}
            rows.append({**said, "rho": rho, "low": low, "high": high, "meaning": _meaning(len(both), low, high)})
    return make_table(
        "card-ranks",
        "Do suites predict what people say?",
        "Spearman's rank correlation between a suite's main measure and M_all, over the systems that have both: 1 "
        "where they rank systems alike, \u22121 where they rank them in reverse. The interval is Bonett and Wright's "
        "(2000); of ranks that agree throughout, its inner end is that of the next lower correlation there can be. "
        "With three systems a rank correlation says nothing: one ranking in six agrees by chance.",
        pd.DataFrame(rows),
        ["suite", "measure", "systems", "rho", "low", "high", "meaning"],
        headings={"rho": "rank correlation", "low": f"{LEVEL} % interval"},
        formats=dict.fromkeys(("rho", "low", "high"), "+.2f"),
    )


def _meaning(systems: int, low: float, high: float) -> str:
    if systems < FEW_RANKED:
        return f"nothing: {number(systems, 'system')}"
    return "systems rank alike" if low > 0 else "systems rank in reverse" if high < 0 else "undecided"


BY_CATEGORY = "suites-by-category"
M_ALL = "M_all"


def by_category(study: Study, boards: Sequence[Scored]) -> Table:
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
        rows += _quality_by_category(study, names)
    order = {code: place for place, code in enumerate(names)}
    rows.sort(key=lambda row: order[row["category"]])
    return make_table(
        BY_CATEGORY,
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


def _quality_by_category(study: Study, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """M_all by category of questions, of each system that people scored."""
    if study.table.empty:
        return []
    found = averages.policy_questions(estimate_averages(study.table).frame).dropna(subset="m_all")
    return [
        {
            "category": category,
            "name": names[str(category)],
            "system": str(system),
            "kind": "system",
            "suite": "GenAIPABench",
            "measure": M_ALL,
            "n": len(rows),
            "value": rows["m_all"].mean(),
        }
        for (system, category), rows in found.groupby(["system", "category"], observed=True, sort=True)
        if category in names
    ]


def category_figure(numbers: Table, marks: Marks) -> Figure | None:
    """Categories down, a panel for each suite; None if fewer than two have any."""
    suites = list(dict.fromkeys(numbers.data["suite"])) if numbers else []
    if len(suites) < 2:  # noqa: PLR2004 - one alone has its own break-downs
        return None
    draw = partial(_draw_categories, numbers.data, suites, marks)
    return Figure(BY_CATEGORY, numbers.title, numbers.note, numbers, draw)


def _draw_categories(data: pd.DataFrame, suites: Sequence[str], marks: Marks) -> Canvas:
    codes = list(dict.fromkeys(data["category"]))
    names = dict(zip(data["category"], data["name"], strict=True))
    systems = list(dict.fromkeys(data["system"]))
    across = min(len(suites), 4)
    down, across = style.panel_grid(len(suites), across)
    drawn = style.make_canvas(style.WIDTH, down * (0.24 * len(codes) + 0.7) + 0.4)
    panels = drawn.subplots(down, across, sharey=True, squeeze=False)
    for axes, suite in zip(panels.flat, suites, strict=False):
        rows = data[data["suite"] == suite]
        axes.set_title(style.shorten(suite, 20), fontsize=style.SMALL)
        axes.set_xlabel(style.shorten(rows["measure"].iloc[0], 24), fontsize=style.TINY)
        for place, system in enumerate(systems):
            shift = (place - (len(systems) - 1) / 2) * min(0.16, 0.7 / len(systems))
            for row in rows[rows["system"] == system].to_dict("records"):
                at, look = codes.index(row["category"]) + shift, marks[system]
                axes.plot([row["low"], row["high"]], [at, at], color=look["color"], linewidth=0.8, zorder=2)
                axes.plot([row["value"]], [at], **look, linestyle="none", markersize=4, zorder=3)
        axes.set_xlim(-3, 103)
        axes.set_xticks([0, 50, 100])
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
        axes.tick_params(axis="y", length=0)
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(codes)), [f"{style.shorten(names[code], 30)} ({code})" for code in codes])
        axes.set_ylim(len(codes) - 0.5, -0.5)
    style.bottom_axes(panels, len(suites))
    labels = style.unique_labels(systems)
    style.draw_legend(drawn, [style.legend_mark(labels[system], **marks[system]) for system in systems])
    return drawn
