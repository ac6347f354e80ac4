"""The tables of a suite: its figures, what they mean, its groups of items, and pairs of systems."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.table import Table, table
from genaipa_suites.material import FAULTS
from genaipa_suites.report.merit import LEVEL, Merit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_suites.measure import Measure
    from genaipa_suites.report.scored import Row, Scored

MAIN = 2
"""Measures that break-downs and comparisons have."""
_SPENT = ("cost", "tokens_in", "tokens_cached", "tokens_out", "runs", "dates")
_ACROSS = 6
"""Measures that fit a suite's table; the others have a table of their own."""
_PAIRED = 5
"""Systems up to which every pair is compared; of more, each with the best."""
KINDS = (
    "`kind`: a system was asked in a run; a baseline is a rule or was trained on the train split; a floor takes no "
    "reading (no answer, the whole text, the most frequent label), a ceiling its gold label, both worked out on the "
    "same items; people are scored by several references; published rows are printed in papers for this split, under "
    "the very same definition; imported ones are worked out from the predictions of fine-tuned encoders."
)
FAULTY = (
    "A faulty reply is scored 0 and counted: unparsable (not the JSON that was asked for), refused, cut off, failed "
    "(no reply came), out of range (a number that nothing has), not in the text (a span that the text lacks). What "
    "was never asked is missing, and not scored. Of a reply with words around its JSON the last object that fits is "
    "scored; the strict figure takes it for unparsable."
)


def percent(merit: Merit, name: str) -> dict[str, float]:
    """The columns of a figure as percentages: its value, the ends of its interval, its spread."""
    ends = {f"{name}_low": merit.low, f"{name}_high": merit.high, f"{name}_sd": merit.spread}
    return {column: 100 * value for column, value in {name: merit.value, **ends}.items()}


def main_table(scored: Scored) -> Table:
    """The figures of every row of a board, with faults and what was spent."""
    rows = [_figures(row, scored) for row in scored.rows]
    names = [measure.name for measure in scored.measures]
    main = names[0]
    counted = [*FAULTS, "missing"]
    said = [name for name in counted if any(row.get(name) for row in rows)]
    repeated = any(row.get("repetitions", 1) > 1 for row in rows)
    sure = [f"{main}_low", f"{main}_high", *([f"{main}_sd"] if repeated else [])]
    form = ["in_words"] if any(row.get("in_words", 0) > 0 for row in rows) else []
    form += ["in_prose", "strict"] if any(row.get("in_prose", 0) > 0 for row in rows) else []
    columns = ["system", "kind", main, *sure, *names[1:_ACROSS]]
    columns += ["items", *(["repetitions"] if repeated else []), *said, *form, "how"]
    ends = [f"{name}_{end}" for name in names for end in ("low", "high", "sd")]
    aside = [
        *names,
        *ends,
        *counted,
        "in_words",
        "in_prose",
        "strict",
        "repetitions",
        "policies",
        "cost",
        "tokens_in",
        "tokens_cached",
        "tokens_out",
    ]
    spread = " `±` is the population's standard deviation over repetitions." if repeated else ""
    return table(
        scored.board.stem,
        scored.board.title,
        "Percentages; the table on what the columns mean defines each measure. "
        f"{scored.units.population}{spread} {KINDS} {FAULTY} "
        "Further intervals, tokens and costs are in CSV and JSON.",
        pd.DataFrame(rows),
        columns,
        headings={
            **{measure.name: measure.heading for measure in scored.measures},
            **{f"{name}_low": f"{LEVEL} % interval" for name in names},
            **{f"{name}_sd": "±" for name in names},
            "in_words": "form in words",
            "in_prose": "found in prose",
            "strict": f"strict {scored.measures[0].heading}",
            "how": "how",
            "cost": "cost ($)",
        },
        formats={
            **dict.fromkeys(names, ".2f"),
            **{f"{name}_{end}": ".1f" for name in names for end in ("low", "high")},
            **{f"{name}_sd": ".2f" for name in names},
            **dict.fromkeys((*counted, "items", "repetitions"), ".0f"),
            "in_words": ".0%",
            "in_prose": ".0%",
            "strict": ".2f",
            "cost": ".4f",
        },
        aside=[name for name in dict.fromkeys(aside) if name not in columns],
    )


def further(scored: Scored) -> Table:
    """The measures for which a suite's table has no room."""
    names = [measure.name for measure in scored.measures[_ACROSS:]]
    some = [row for row in scored.rows if row.counts or {*names} & {*row.figures}]
    rows = [_figures(row, scored) | {"system": row.label} for row in some]
    return table(
        f"{scored.board.stem}-further",
        f"{scored.board.title}: further measures",
        "Percentages, of the same outcomes as above. Their intervals are in CSV and JSON.",
        pd.DataFrame(rows if names else []),
        ["system", "kind", *names],
        headings={measure.name: measure.heading for measure in scored.measures},
        formats=written(names),
        aside=[f"{name}_{end}" for name in names for end in ("low", "high", "sd")],
    )


def _figures(row: Row, scored: Scored) -> dict[str, Any]:
    found: dict[str, Any] = {"system": row.system, "kind": row.kind, "how": row.how}
    found |= {name: 100 * value for name, value in row.figures.items()}
    if row.counts is not None:
        for measure in scored.measures:
            merit = row.counts.merit(measure)
            found |= percent(merit, measure.name)
        found |= {"items": len({*row.counts.ids}), "policies": scored.units.policies}
    if row.result is not None:
        result = row.result
        found |= {**result.faults, "repetitions": result.repetitions, "in_words": result.in_words}
        found |= {"in_prose": result.in_prose, "strict": 100 * result.strict(scored.measures[0])}
        found |= {"cost": result.cost, "runs": ", ".join(result.runs), "dates": ", ".join(result.dates)}
        usage = result.usage
        found |= {"tokens_in": usage.input, "tokens_cached": usage.cached, "tokens_out": usage.output}
    return found


def definitions(some: Sequence[Scored]) -> Table:
    """The measures of all boards of a suite, each with its definition: a split or a probe may have some of its own."""
    every = {one.name: one for scored in some for one in scored.measures}.values()
    rows = [{"column": one.heading, "measure": one.name, "definition": one.definition} for one in every]
    board = some[0].board
    return table(
        f"{board.name}-measures",
        f"What the columns of {board.suite.title} mean",
        "`measure` is the column's name in CSV and JSON. A fault is scored 0 under each of them. Prompts and scorer "
        f"are version {board.suite.version} of the suite's.",
        pd.DataFrame(rows),
        ["column", "measure", "definition"],
    )


def headed(measures: Sequence[Measure]) -> dict[str, str]:
    """The headings of these measures' columns."""
    return {
        **{measure.name: measure.heading for measure in measures},
        **{f"{measure.name}_low": f"{LEVEL} % interval" for measure in measures},
    }


def written(names: Sequence[str], sign: str = "") -> dict[str, str]:
    """The number formats of these figures' columns."""
    return {f"{name}{end}": f"{sign}.{2 if not end else 1}f" for name in names for end in ("", "_low", "_high")}


def pairs(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Pairs of systems to compare: all of a few; else each with the best."""
    return list(combinations(rows, 2)) if len(rows) <= _PAIRED else [(rows[0], other) for other in rows[1:]]


def paired(scored: Scored, chosen: Sequence[tuple[Row, Row]], measures: Sequence[Measure]) -> Table:
    """Differences between systems on the items that both were asked."""
    rows: list[dict[str, Any]] = []
    policies = ["policies"] if scored.units.policies else []
    for first, second in chosen:
        assert first.counts is not None, "a system has outcomes"
        assert second.counts is not None, "a system has outcomes"
        for measure in measures:
            both = Merit() if not len(first.counts.ids) else first.counts.minus(second.counts, measure)
            found = {"a": first.label, "b": second.label, "measure": measure.heading, "name": measure.name}
            ends = percent(both, "difference")
            del ends["difference_sd"]
            rows.append({**found, "items": both.items, "policies": both.policies, **ends, "meaning": meaning(both)})
    return table(
        f"{scored.board.stem}-pairs",
        f"{scored.board.title}: systems against each other",
        "A minus B in percentage points, on the items that both were asked, with the same "
        f"{scored.units.clusters} drawn for both. {scored.units.population} They are those of one pair each, and not "
        "corrected for how many pairs there are.",
        pd.DataFrame(rows),
        ["a", "b", "measure", "items", *policies, "difference", "difference_low", "difference_high", "meaning"],
        headings={
            "a": "A",
            "b": "B",
            "policies": scored.units.clusters,
            "difference": "A \u2212 B",
            "difference_low": f"{LEVEL} % interval",
        },
        formats=written(["difference"], "+"),
        aside=["name"],
    )


def meaning(both: Merit) -> str:
    """The higher side of a difference, in words; empty where there is no interval."""
    if both.low > 0:
        return "A is higher"
    if both.high < 0:
        return "B is higher"
    return "undecided" if both.low == both.low else ""
