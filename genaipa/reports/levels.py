"""Levels of effort of one model against each other: how much better more of it is, for how much more money and time."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports import averages, part
from genaipa.reports.figures.style import format_signed_tenths
from genaipa.reports.matches import PAIRS, explain_holm_adjustment, m_all_differences_of_given_pairs
from genaipa.reports.significance import FEW, OTHER_PEOPLE, format_confidence
from genaipa.reports.table import Table, make_table
from genaipa.stats.looks import SIGNIFICANT
from genaipa.systems.base import EFFORTS
from genaipa.systems.provider import shorten_system_names, split_system_name_and_effort
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.answers.study import Study

INSTANT = 0.1
"""Seconds below which a time says nothing of a system: it answers from this machine's memory."""
_CELL = ["experiment", "document", "question"]
_RATIOS = {"money": "cost", "time": "seconds"}
"""Column of the table → what it is the ratio of."""
_DIFFERENCE = PAIRS[2:]
_COLUMNS = ["system", "levels", *_DIFFERENCE, *_RATIOS, "thoughts", "thoughts_less"]
_MOST_FINDINGS = 3


def group_effort_levels_by_model(systems: Iterable[str]) -> dict[str, list[str]]:
    """Model → its systems at levels of effort, from the least; models at one level alone are left out."""
    by_model: dict[str, list[str]] = {}
    for system in sorted(
        map(str, systems), key=lambda name: EFFORTS.index(split_system_name_and_effort(name)[1] or EFFORTS[0])
    ):
        model, level = split_system_name_and_effort(system)
        if level:
            by_model.setdefault(model, []).append(system)
    return {model: levels for model, levels in by_model.items() if len(levels) > 1}


def effort_level_differences_table(study: Study) -> Table:
    """Return the differences between the levels of each model in M_all, on the same questions about the same documents.

    The widest pair of a model comes first. It is empty where no model has two levels with scores in common.
    """
    pairs = [
        pair
        for levels in group_effort_levels_by_model(study.table["system"].unique()).values()
        for pair in sorted(
            combinations(levels[::-1], 2), key=lambda pair: levels.index(pair[1]) - levels.index(pair[0])
        )
    ]
    data = m_all_differences_of_given_pairs(study.table, pairs) if pairs else pd.DataFrame(columns=PAIRS)
    spent = _average_spending_by_system_and_cell(study) if len(data) else {}
    rows = [
        {
            "system": split_system_name_and_effort(row["first"])[0],
            "levels": " minus ".join(split_system_name_and_effort(row[name])[1] for name in ("first", "second")),
            **{name: row[name] for name in _DIFFERENCE},
            **_spending_ratios_and_thought_tokens(spent[row["first"]], spent[row["second"]]),
        }
        for row in data.to_dict("records")
    ]
    evidence, early = part.leaderboard_evidence_level(study.table), any(row["level"] != SIGNIFICANT for row in rows)
    return make_table(
        "levels",
        "Levels of effort against each other",
        f"{evidence.prefix_or_empty}M_all (10 to 100) at one level of a model minus that at another, over the "
        "questions about documents that people scored at both. Money (by mean cost) and time (by median seconds) are "
        "ratios, and thinking tokens are means per answer at the first and at the second level, over what both were "
        "asked. Among all pairs of systems intervals are wider. "
        f"{explain_holm_adjustment(data)}{_note_missing_cost_and_time_ratios(rows)}",
        pd.DataFrame(rows, columns=_COLUMNS),
        [name for name in _COLUMNS if name not in ("documents", "meaning", "tests") and (early or name != "level")],
        aside=["documents", "meaning", "tests", *([] if early else ["level"])],
        headings={
            "p_holm": "p (Holm)",
            "policies_p_holm": "policies p (Holm)",
            "level": "counts below",
            "money": "\u00d7 money",
            "time": "\u00d7 time",
            "thoughts": "thinking tokens",
            "thoughts_less": "at the second level",
        },
        formats={
            "level": "g",
            **dict.fromkeys(("low", "high", "policies_low", "policies_high"), "+.1f"),
            **dict.fromkeys(("p_holm", "policies_p_holm"), ".2g"),
            **dict.fromkeys(_RATIOS, ".1f"),
            **dict.fromkeys(("thoughts", "thoughts_less"), ",.0f"),
        },
    )


def _average_spending_by_system_and_cell(study: Study) -> dict[str, pd.DataFrame]:
    """System → the mean cost, seconds and tokens of thoughts of its answers to a question about a document.

    Who tells tokens, and of some answer of the model those of thoughts, spent none on the others.
    """
    answers = averages.select_policy_rows(study.rows_once_per_answer("spending", "thoughts"))
    answers = answers[answers["status"] != "missing"].astype({"system": str})
    models = answers["system"].map(lambda name: split_system_name_and_effort(name)[0])
    tells = answers["thought_tokens"].notna().groupby(models).transform("any") & answers["tokens_out"].notna()
    answers["thought_tokens"] = answers["thought_tokens"].mask(tells & answers["thought_tokens"].isna(), 0.0)
    columns = [*_RATIOS.values(), "thought_tokens"]
    return {
        str(system): rows.groupby(_CELL, observed=True)[columns].mean() for system, rows in answers.groupby("system")
    }


def _spending_ratios_and_thought_tokens(
    higher_level_spending: pd.DataFrame, lower_level_spending: pd.DataFrame
) -> dict[str, float]:
    """Return the ratios of money and time over the cells of both, and the mean tokens of thoughts of each."""
    paired_cells = higher_level_spending.merge(
        lower_level_spending, left_index=True, right_index=True, suffixes=("_more", "_less")
    )
    costs, seconds = (paired_cells[[f"{name}_more", f"{name}_less"]].dropna() for name in _RATIOS.values())
    mean_costs, median_seconds = costs.mean().tolist(), seconds.median().tolist()
    measured = min(median_seconds) >= INSTANT
    return {
        "money": mean_costs[0] / mean_costs[1] if mean_costs[1] > 0 else float("nan"),
        "time": median_seconds[0] / median_seconds[1] if measured else float("nan"),
        "thoughts": paired_cells["thought_tokens_more"].mean(),
        "thoughts_less": paired_cells["thought_tokens_less"].mean(),
    }


def _note_missing_cost_and_time_ratios(rows: Sequence[dict[str, Any]]) -> str:
    missing = [name for name in _RATIOS if any(pd.isna(row[name]) for row in rows)]
    reasons = {"money": "a price is unknown or nothing was paid", "time": "no time was measured"}
    return "".join(f" There is no ratio of {name} where {reasons[name]}." for name in missing)


def describe_effort_level_differences(table: Table) -> str:
    """Say in a sentence what each model's highest level brings over its lowest; empty without levels."""
    widest = table.data.drop_duplicates("system").head(_MOST_FINDINGS)
    names = shorten_system_names(table.data["system"].unique())
    gains = "; ".join(
        f"{names[row['system']]}, {_describe_effort_level_difference(row)}" for row in widest.to_dict("records")
    )
    tests = int(table.data["tests"].max()) if gains else 0
    return gains and f"Levels of effort, by M_all{f' (adjusted for {tests} pairs)' if tests > 1 else ''}: {gains}."


def _describe_effort_level_difference(row: dict[Any, Any]) -> str:
    """Write the difference with the interval that says most, and what is paid for it in money and time."""
    target, low, high = "these documents", row["low"], row["high"]
    if not pd.isna(row["policies_low"]):
        target, low, high = "policies like these", row["policies_low"], row["policies_high"]
    sure = f"{format_signed_tenths(low)} to {format_signed_tenths(high)} for {target}"
    if row["meaning"] == OTHER_PEOPLE:
        sure = "other people scored each level"
    elif pd.isna(low):
        sure = "too few questions for an interval"
    elif row["level"] != SIGNIFICANT:
        sure = f"{format_confidence(row['level'])} interval: {sure}"
    price = " and ".join(f"{_format_ratio(row[name])} \u00d7 the {name}" for name in _RATIOS if not pd.isna(row[name]))
    return f"{row['levels']}: {format_signed_tenths(row['difference'])} ({sure}){f' for {price}' if price else ''}"


def _format_ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"  # noqa: PLR2004 - three digits say nothing


def list_warnings_on_sparse_effort_levels(study: Study) -> list[str]:
    """Return a sentence on each level of effort that too few questions are scored of to conclude anything."""
    means = averages.average_policy_questions(study.table).dropna(subset="m_all")
    scored = means.groupby(means["system"].astype(str))["question"].nunique()
    by_model = group_effort_levels_by_model(study.table["system"].unique())
    return [
        f"{system}: people scored answers to {format_count(questions, 'question')}, too few to compare its level."
        for levels in by_model.values()
        for system in levels
        for questions in [int(scored.get(system, 0))]
        if questions < FEW and any(scored.get(level, 0) for level in levels)
    ]
