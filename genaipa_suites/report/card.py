"""The card: for each system its scores in all suites beside people's scores of its answers, and what it took.

Does a cheap automatic score predict what people say of a system's answers? The card puts both side by side, with their
rank correlation over systems, and says of how many systems that is. One breakdown is for all suites: by the categories
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
from genaipa.reports.judged.estimate import estimate_scores_with_judge_if_possible
from genaipa.reports.table import Table, make_table
from genaipa.stats.ranks import FEW_RANKED, correlate_ranks_with_interval
from genaipa.words import format_count
from genaipa_suites.data import load_crosswalk_and_category_names
from genaipa_suites.material import FAULTS, UNPARSABLE
from genaipa_suites.plan import SAMPLE
from genaipa_suites.report.merit import LEVEL
from genaipa_suites.report.tables import percent_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa_suites.report.drawings import Marks
    from genaipa_suites.report.results import ScoredBoard, SuiteTableRow, SystemSuiteResult

NAME = "card"
_SPENDING_COLUMNS = ("cost", "cached", "unparsable", "faulty")


def choose_card_boards(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    """Choose a board of each suite for the card: no probe, published rather than made up, whole, of most systems."""
    boards_by_suite: dict[str, ScoredBoard] = {}
    for scored in sorted(boards, key=_board_sort_key):
        if not scored.board.plan.probe:
            boards_by_suite.setdefault(scored.board.suite_name, scored)
    order = {scored.board.suite_name: index for index, scored in reversed(list(enumerate(boards)))}
    return sorted(boards_by_suite.values(), key=lambda scored: order[scored.board.suite_name])


def note_omitted_systems_or_empty(boards: Sequence[ScoredBoard], chosen: Sequence[ScoredBoard]) -> str:
    """Describe the systems that were asked other items of a suite than those in its column; empty without any."""
    present = {
        (scored.board.suite_name, system) for scored in chosen for system in plainest_asked_row_by_system(scored)
    }
    omitted: dict[str, list[str]] = {}
    for scored in boards:
        if scored.board.plan.probe or scored in chosen:
            continue
        names = [name for name, row in plainest_asked_row_by_system(scored).items() if row.kind == "system"]
        if names_elsewhere := [name for name in names if (scored.board.suite_name, name) not in present]:
            omitted[scored.board.title] = names_elsewhere
    listing = "; ".join(f"{title} ({', '.join(names)})" for title, names in omitted.items())
    return f" Each column covers a single set of items, without these systems: {listing}." if listing else ""


def _board_sort_key(scored: ScoredBoard) -> tuple[bool, bool, int, int]:
    plan, results = scored.board.plan, scored.board.results
    systems = {result.system for result in results if not result.kind_if_baseline_or_empty}
    return plan.split == SAMPLE, plan.limit is not None, -len(systems), -len(results)


def plainest_asked_row_by_system(scored: ScoredBoard) -> dict[str, SuiteTableRow]:
    """Return system → its row as it was asked most plainly: with the fewest examples, in the first wording."""
    rows_by_system: dict[str, SuiteTableRow] = {}
    for row in sorted(scored.system_rows, key=lambda row: _shots_and_wording_sort_key(row.result)):
        rows_by_system.setdefault(row.system, row)
    return rows_by_system


def _shots_and_wording_sort_key(result: SystemSuiteResult | None) -> tuple[int, int, str]:
    assert result is not None, "a system that was asked has a result"
    return result.plan.shots, result.plan.wording, result.asking_text


def make_card_table(study: Study, chosen_boards: Sequence[ScoredBoard], all_boards: Sequence[ScoredBoard]) -> Table:
    """Make a row for each system, a column for each suite, M_all and spending; then floors, ceilings and people.

    `chosen_boards` are the columns; systems of `all_boards` that are in none of them are named in the note.
    """
    plain_rows = {scored.board.suite_name: plainest_asked_row_by_system(scored) for scored in chosen_boards}
    quality = _m_all_by_system(study)
    kinds = {name: row.kind for rows in plain_rows.values() for name, row in rows.items()}
    systems = [name for name, kind in kinds.items() if kind == "system"] or list(kinds)
    rows: list[dict[str, Any]] = []
    for system in dict.fromkeys([*systems, *quality]):
        row: dict[str, Any] = {"system": system, "kind": kinds.get(system, "system"), **quality.get(system, {})}
        system_rows = [plain_rows[scored.board.suite_name].get(system) for scored in chosen_boards]
        for scored, suite_row in zip(chosen_boards, system_rows, strict=True):
            if suite_row is not None and suite_row.counts is not None:
                row |= percent_columns(suite_row.counts.estimate_measure(scored.measures[0]), scored.board.suite_name)
        rows.append(
            row
            | _total_cost_and_reply_fractions(
                [
                    suite_row.result
                    for suite_row in system_rows
                    if suite_row is not None and suite_row.result is not None
                ]
            )
        )
    rows += _floor_ceiling_and_people_rows(chosen_boards)
    spending_columns = [name for name in _SPENDING_COLUMNS if any(row.get(name, nan) >= 0 for row in rows)]
    names = [scored.board.suite_name for scored in chosen_boards]
    figure_names = [*names, *(["m_all"] if quality else [])]
    ends = [f"{name}_{end}" for name in figure_names for end in ("low", "high")]
    columns = f"{'; '.join(f'{scored.board.title}: {scored.measures[0].heading}' for scored in chosen_boards)}"
    return make_table(
        NAME,
        "All suites, and what people say",
        f"Each suite's main measure in per cent ({columns}) in the simplest setting in which a system was asked "
        "(fewest examples, first wording), and M_all (10 to 100): people's scores of its answers, or estimates of "
        "these scores. The measures differ, so only systems in one column are comparable. Cost and shares are over "
        "these suites: `cached` is a share of the tokens sent; `unparsable` and `faulty` (unparsable, refused, cut "
        "off, failed, out of range, not in the text) are shares of the replies. Intervals are in CSV and JSON. The "
        "last rows show the best floor (an answer that needs no reading), the ceiling and people, computed on the "
        "same items." + note_omitted_systems_or_empty(all_boards, chosen_boards),
        pd.DataFrame(rows),
        ["system", "kind", *figure_names, *spending_columns],
        headings={scored.board.suite_name: _suite_title_with_sample_size(scored) for scored in chosen_boards}
        | {"cost": "cost ($)"},
        formats={
            **dict.fromkeys((*figure_names, *ends), ".1f"),
            **dict.fromkeys(("cached", "unparsable", "faulty"), ".1%"),
            "cost": ".2f",
        },
        aside=[*ends, *(name for name in _SPENDING_COLUMNS if name not in spending_columns)],
    )


def _suite_title_with_sample_size(scored: ScoredBoard) -> str:
    """Return the suite's title, and the number of items of a sample."""
    board = scored.board
    return f"{board.suite.title} ({len(board.suite.material.items):,} items)" if board.plan.limit else board.suite.title


def _m_all_by_system(study: Study) -> dict[str, dict[str, float]]:
    """Return system → its M_all with the interval for policies like these, as in the leaderboard."""
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


def _total_cost_and_reply_fractions(results: Sequence[SystemSuiteResult]) -> dict[str, float]:
    """Return the cost of these results, and shares of their tokens and replies."""
    costs = [result.cost for result in results if result.cost is not None]
    sent = sum(result.usage.input for result in results)
    replies = sum(len(result.outcomes) for result in results)
    faulty = sum(result.fault_and_missing_counts[fault] for result in results for fault in FAULTS)
    return {
        "cost": sum(costs) if costs else nan,
        "cached": sum(result.usage.cached for result in results) / sent if sent else nan,
        "unparsable": sum(result.fault_and_missing_counts[UNPARSABLE] for result in results) / replies
        if replies
        else nan,
        "faulty": faulty / replies if replies else nan,
    }


def _floor_ceiling_and_people_rows(boards: Sequence[ScoredBoard]) -> list[dict[str, Any]]:
    """Return the best floor, the ceiling and people of each suite."""
    rows = []
    for kind, name in (("floor", "best floor"), ("ceiling", "ceiling"), ("people", "people")):
        values: dict[str, float] = {}
        for scored in boards:
            main = scored.measures[0]
            kind_rows = [
                row for row in scored.rows if row.kind == kind and (kind != "ceiling" or row is scored.ceiling)
            ]
            figures = [row.figures[main.name] for row in kind_rows if main.name in row.figures]
            figures += [
                row.counts.estimate_measure(main).value for row in kind_rows if row.counts and row.counts.outcomes
            ]
            if figures:
                values[scored.board.suite_name] = 100 * max(figures)
        if values:
            rows.append({"system": name, "kind": kind, **values})
    return rows


def rank_correlations_with_m_all_table(card: Table, boards: Sequence[ScoredBoard]) -> Table:
    """Correlate the ranks of systems in each suite with those by M_all; empty where no system has both."""
    rows = []
    systems = card.data[card.data["kind"] == "system"]
    for scored in boards if "m_all" in systems else []:
        ranked = systems[[scored.board.suite_name, "m_all"]].dropna()
        if len(ranked):
            rho, low, high = correlate_ranks_with_interval(ranked[scored.board.suite_name], ranked["m_all"])
            row = {"suite": scored.board.title, "measure": scored.measures[0].heading, "systems": len(ranked)}
            rows.append(
                {**row, "rho": rho, "low": low, "high": high, "meaning": _describe_correlation(len(ranked), low, high)}
            )
    return make_table(
        "card-ranks",
        "Do suites predict what people say?",
        "Spearman's rank correlation between a suite's main measure and M_all, over the systems that have both: 1 "
        "if the two rank the systems alike, \u22121 if they rank them in reverse. The interval is Bonett and "
        "Wright's (2000); if the ranks agree throughout, its inner end is that of the next lower correlation that "
        "is possible. With three systems a rank correlation says nothing: one ranking in six agrees by chance.",
        pd.DataFrame(rows),
        ["suite", "measure", "systems", "rho", "low", "high", "meaning"],
        headings={"rho": "rank correlation", "low": f"{LEVEL} % interval"},
        formats=dict.fromkeys(("rho", "low", "high"), "+.2f"),
    )


def _describe_correlation(system_count: int, interval_low: float, interval_high: float) -> str:
    if system_count < FEW_RANKED:
        return f"says nothing: {format_count(system_count, 'system')}"
    return "systems rank alike" if interval_low > 0 else "systems rank in reverse" if interval_high < 0 else "undecided"


BY_CATEGORY = "suites-by-category"
M_ALL = "M_all"


def scores_by_question_category_table(study: Study, boards: Sequence[ScoredBoard]) -> Table:
    """Return each system's main measure in every suite, and its M_all, by category of questions."""
    crosswalk, names = load_crosswalk_and_category_names(boards[0].board.suite.workspace)
    question_categories = crosswalk.question_categories_by_practice
    rows: list[dict[str, Any]] = []
    for scored in boards:
        plain_rows = plainest_asked_row_by_system(scored).values()
        for row in [row for row in plain_rows if row.kind == "system"] or plain_rows:
            for code, figures in (
                _measure_values_by_item_category(scored, row, question_categories, names)
                or _measure_values_by_part_category(scored, row, question_categories)
            ).items():
                about = {"category": code, "name": names[code], "system": row.system, "kind": row.kind}
                rows.append({**about, "suite": scored.board.suite.title, **figures})
    if rows:
        rows += _m_all_rows_by_category(study, names)
    order = {code: index for index, code in enumerate(names)}
    rows.sort(key=lambda row: order[row["category"]])
    return make_table(
        BY_CATEGORY,
        "All suites by category",
        "Each suite's main measure in per cent, and M_all, by category of the paper's questions; n is the number "
        f"of items, or of questions. {crosswalk.about} An item counts in each category that its practice leads to; "
        "an item whose practice leads to no category is left out. If a suite has practices as parts of items, such "
        "as several intents of a sentence, the figure is the mean of these parts' figures.",
        pd.DataFrame(rows),
        ["category", "name", "suite", "measure", "system", "kind", "n", "value", "low", "high"],
        headings={"name": "", "low": "95 % interval"},
        formats={**dict.fromkeys(("value", "low", "high"), ".1f"), "n": ".0f"},
    )


def _measure_values_by_item_category(
    scored: ScoredBoard,
    row: SuiteTableRow,
    question_categories_by_practice: Mapping[str, Sequence[str]],
    category_names: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    """Return category → the main measure over the items whose groups lead to it; empty where groups lead nowhere."""
    assert row.counts is not None, "a system that was asked has outcomes"
    measure = scored.board.suite.measures_for_item_groups[0]
    categories_by_item = {
        item.id: {
            code
            for groups in item.groups.values()
            for name in groups
            for code in question_categories_by_practice.get(name, ())
        }
        for item in scored.board.suite.material.items
    }
    figures = {}
    for code in category_names:
        merit = row.counts.estimate_measure(
            measure, np.array([code in categories_by_item[item_id] for item_id in row.counts.ids], bool)
        )
        if merit.items:
            figure = {"value": 100 * merit.value, "low": 100 * merit.low, "high": 100 * merit.high}
            figures[code] = {"measure": measure.heading, "n": merit.items, **figure}
    return figures


def _measure_values_by_part_category(
    scored: ScoredBoard, row: SuiteTableRow, question_categories_by_practice: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """Return category → the mean of the measures of the parts of items that lead to it, such as intents."""
    assert row.counts is not None, "a system that was asked has outcomes"
    values_by_category: defaultdict[str, list[float]] = defaultdict(list)
    heading = ""
    for parts in scored.board.suite.parts.values():
        for name, measures in parts.items():
            value = row.counts.estimate_measure(measures[0]).value if question_categories_by_practice.get(name) else nan
            if not isnan(value):
                heading = heading or measures[0].heading
                for code in question_categories_by_practice[name]:
                    values_by_category[code].append(100 * value)
    return {
        code: {"measure": heading, "value": sum(values) / len(values)} for code, values in values_by_category.items()
    }


def _m_all_rows_by_category(study: Study, category_names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return M_all by category of questions, of each system that people scored."""
    if study.table.empty:
        return []
    averages_by_policy = averages.average_policy_questions(
        estimate_scores_with_judge_if_possible(study.table).frame
    ).dropna(subset="m_all")
    return [
        {
            "category": category,
            "name": category_names[str(category)],
            "system": str(system),
            "kind": "system",
            "suite": "GenAIPABench",
            "measure": M_ALL,
            "n": len(rows),
            "value": rows["m_all"].mean(),
        }
        for (system, category), rows in averages_by_policy.groupby(["system", "category"], observed=True, sort=True)
        if category in category_names
    ]


def question_category_figure(numbers: Table, marks: Marks) -> Figure | None:
    """Draw categories down, a panel for each suite; None if fewer than two have any."""
    suites = list(dict.fromkeys(numbers.data["suite"])) if numbers else []
    if len(suites) < 2:  # noqa: PLR2004 - one alone has its own breakdowns
        return None
    draw = partial(_draw_categories, numbers.data, suites, marks)
    return Figure(BY_CATEGORY, numbers.title, numbers.note, numbers, draw)


def _draw_categories(data: pd.DataFrame, suites: Sequence[str], marks: Marks) -> Canvas:
    codes = list(dict.fromkeys(data["category"]))
    names = dict(zip(data["category"], data["name"], strict=True))
    systems = list(dict.fromkeys(data["system"]))
    across = min(len(suites), 4)
    down, across = style.panel_rows_and_columns(len(suites), across)
    canvas = style.make_canvas(style.WIDTH, down * (0.24 * len(codes) + 0.7) + 0.4)
    panels = canvas.subplots(down, across, sharey=True, squeeze=False)
    for axes, suite in zip(panels.flat, suites, strict=False):
        rows = data[data["suite"] == suite]
        axes.set_title(style.shorten_drawn_name(suite, 20), fontsize=style.SMALL)
        axes.set_xlabel(style.shorten_drawn_name(rows["measure"].iloc[0], 24), fontsize=style.TINY)
        for index, system in enumerate(systems):
            shift = (index - (len(systems) - 1) / 2) * min(0.16, 0.7 / len(systems))
            for row in rows[rows["system"] == system].to_dict("records"):
                at, look = codes.index(row["category"]) + shift, marks[system]
                axes.plot([row["low"], row["high"]], [at, at], color=look["color"], linewidth=0.8, zorder=2)
                axes.plot([row["value"]], [at], **look, linestyle="none", markersize=4, zorder=3)
        axes.set_xlim(-3, 103)
        axes.set_xticks([0, 50, 100])
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
        axes.tick_params(axis="y", length=0)
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(codes)), [f"{style.shorten_drawn_name(names[code], 30)} ({code})" for code in codes])
        axes.set_ylim(len(codes) - 0.5, -0.5)
    style.remove_unused_and_list_lowest_axes(panels, len(suites))
    labels = style.unique_labels(systems)
    style.draw_legend(canvas, [style.make_marker_legend_entry(labels[system], **marks[system]) for system in systems])
    return canvas
