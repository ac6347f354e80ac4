"""The tables of a suite: its figures, what they mean, pairs of systems, and breakdowns of the figures.

Break-downs are by groups and parts of items, types of errors, wordings, and probes.

Probes for contamination open gaps: the same items, asked plainly and asked under the probe.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.reports.table import Table, make_table
from genaipa_suites.material import FAULTS
from genaipa_suites.plan import WORDINGS
from genaipa_suites.probes import COMPANY_SWAP, NO_CONTEXT
from genaipa_suites.report.merit import LEVEL, MeasureEstimate, OutcomeCounts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa_suites.material import Outcome
    from genaipa_suites.measure import Measure
    from genaipa_suites.report.results import ScoredBoard, SuiteTableRow

MAIN = 2
"""Measures that breakdowns and comparisons have."""
_MAX_COLUMNS = 6
"""Measures that fit a suite's table; the others have a table of their own."""
_MAX_ALL_PAIRS = 5
"""Systems up to which every pair is compared; of more, each with the best."""
KINDS = (
    "`kind`: a system was asked in a run; a baseline is a rule, or was trained on the train split; a floor needs no "
    "reading (no answer, the whole text, the most frequent label) and a ceiling uses the gold label, both computed "
    "on the same items; people are scored against several references; published rows are printed in papers for "
    "this split, under exactly the same definition."
)
FAULTY = (
    "A faulty reply is scored 0 and counted: unparsable (not the JSON that was asked for), refused, cut off, "
    "failed (no reply came), out of range (a number that does not exist), not in the text (a span that the text "
    "lacks). An item that was never asked is missing and not scored. In a reply with text around its JSON, the "
    "last valid object is scored; the strict figure counts the reply as unparsable."
)


def percent_columns(estimate: MeasureEstimate, column_name: str) -> dict[str, float]:
    """Return the columns of a figure as percentages: its value, the ends of its interval, its spread."""
    ends = {
        f"{column_name}_low": estimate.low,
        f"{column_name}_high": estimate.high,
        f"{column_name}_sd": estimate.spread,
    }
    return {column: 100 * value for column, value in {column_name: estimate.value, **ends}.items()}


def main_scores_table(scored: ScoredBoard) -> Table:
    """Return the figures of every row of a board, with faults and what was spent."""
    rows = [_table_row_values(row, scored) for row in scored.rows]
    names = [measure.name for measure in scored.measures]
    main = names[0]
    counted = [*FAULTS, "missing"]
    used_counts = [name for name in counted if any(row.get(name) for row in rows)]
    repeated = any(row.get("repetitions", 1) > 1 for row in rows)
    sure = [f"{main}_low", f"{main}_high", *([f"{main}_sd"] if repeated else [])]
    form = ["in_words"] if any(row.get("in_words", 0) > 0 for row in rows) else []
    form += ["in_prose", "strict"] if any(row.get("in_prose", 0) > 0 for row in rows) else []
    columns = ["system", "kind", main, *sure, *names[1:_MAX_COLUMNS]]
    columns += ["items", *(["repetitions"] if repeated else []), *used_counts, *form, "how"]
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
    spread = " `±` is the population standard deviation over repetitions." if repeated else ""
    return make_table(
        scored.board.table_name_prefix,
        scored.board.title,
        "Percentages; the table of column meanings defines each measure. "
        f"{scored.units.population_note}{spread} {KINDS} {FAULTY} Further intervals, tokens and costs are in "
        "CSV and JSON.",
        pd.DataFrame(rows),
        columns,
        headings={
            **measure_headings(scored.measures),
            "in_words": "form in words",
            "in_prose": "found in prose",
            "strict": f"strict {scored.measures[0].heading}",
            "cost": "cost ($)",
        },
        formats={
            **number_formats(names),
            **dict.fromkeys((*counted, "items", "repetitions"), ".0f"),
            "in_words": ".0%",
            "in_prose": ".0%",
            "strict": ".2f",
            "cost": ".4f",
        },
        aside=[name for name in dict.fromkeys(aside) if name not in columns],
    )


def further_measures_table(scored: ScoredBoard) -> Table:
    """Return the measures for which a suite's table has no room."""
    names = [measure.name for measure in scored.measures[_MAX_COLUMNS:]]
    measured_rows = [row for row in scored.rows if row.counts or {*names} & {*row.figures}]
    rows = [_table_row_values(row, scored) | {"system": row.label} for row in measured_rows]
    return make_table(
        f"{scored.board.table_name_prefix}-further",
        f"{scored.board.title}: further measures",
        "Percentages over the same outcomes as above. Their intervals are in CSV and JSON.",
        pd.DataFrame(rows if names else []),
        ["system", "kind", *names],
        headings={measure.name: measure.heading for measure in scored.measures},
        formats=number_formats(names),
        aside=[f"{name}_{end}" for name in names for end in ("low", "high", "sd")],
    )


def _table_row_values(row: SuiteTableRow, scored: ScoredBoard) -> dict[str, Any]:
    figures: dict[str, Any] = {"system": row.system, "kind": row.kind, "how": row.description}
    figures |= {name: 100 * value for name, value in row.figures.items()}
    if row.counts is not None:
        for measure in scored.measures:
            merit = row.counts.estimate_measure(measure)
            figures |= percent_columns(merit, measure.name)
        figures |= {"items": len({*row.counts.ids}), "policies": scored.units.policies}
    if row.result is not None:
        result = row.result
        figures |= {
            **result.fault_and_missing_counts,
            "repetitions": result.repetition_count,
            "in_words": result.share_asked_for_json_without_schema,
        }
        figures |= {
            "in_prose": result.share_with_json_in_prose,
            "strict": 100 * result.value_counting_prose_as_unparsable(scored.measures[0]),
        }
        figures |= {"cost": result.cost, "runs": ", ".join(result.runs), "dates": ", ".join(result.dates)}
        usage = result.usage
        figures |= {"tokens_in": usage.input, "tokens_cached": usage.cached, "tokens_out": usage.output}
    return figures


def measure_definitions_table(scored_boards: Sequence[ScoredBoard]) -> Table:
    """Return the measures of all boards of a suite, each defined: a split or a probe may have some of its own."""
    measures = {measure.name: measure for scored in scored_boards for measure in scored.measures}.values()
    rows = [
        {"column": measure.heading, "measure": measure.name, "definition": measure.definition} for measure in measures
    ]
    board = scored_boards[0].board
    return make_table(
        f"{board.suite_name}-measures",
        f"What the columns of {board.suite.title} mean",
        "`measure` is the column's name in CSV and JSON. Each measure scores a faulty reply 0. The suite's "
        f"prompts and scorer have version {board.suite.version}.",
        pd.DataFrame(rows),
        ["column", "measure", "definition"],
    )


def measure_headings(measures: Sequence[Measure]) -> dict[str, str]:
    """Return the headings of these measures' columns."""
    return {
        **{measure.name: measure.heading for measure in measures},
        **{f"{measure.name}_low": f"{LEVEL} % interval" for measure in measures},
        **{f"{measure.name}_sd": "±" for measure in measures},
    }


def number_formats(column_names: Sequence[str], sign: str = "") -> dict[str, str]:
    """Return the number formats of these figures' columns."""
    digits = {"": 2, "_low": 1, "_high": 1, "_sd": 2}
    return {f"{name}{end}": f"{sign}.{decimals}f" for name in column_names for end, decimals in digits.items()}


def choose_pairs_of_systems(rows: Sequence[SuiteTableRow]) -> list[tuple[SuiteTableRow, SuiteTableRow]]:
    """Choose the pairs of systems to compare: all of a few; else each with the best."""
    return list(combinations(rows, 2)) if len(rows) <= _MAX_ALL_PAIRS else [(rows[0], row) for row in rows[1:]]


def differences_table(
    scored: ScoredBoard, pairs_of_rows: Sequence[tuple[SuiteTableRow, SuiteTableRow]], measures: Sequence[Measure]
) -> Table:
    """Return the differences between systems on the items that both were asked."""
    rows: list[dict[str, Any]] = []
    policies = ["policies"] if scored.units.policies else []
    for first, second in pairs_of_rows:
        assert first.counts is not None, "a system has outcomes"
        assert second.counts is not None, "a system has outcomes"
        for measure in measures:
            merit = (
                MeasureEstimate()
                if not len(first.counts.ids)
                else first.counts.estimate_excess_over(second.counts, measure)
            )
            rows.append({"a": first.label, "b": second.label, **difference_columns(merit, measure)})
    return make_table(
        f"{scored.board.table_name_prefix}-pairs",
        f"{scored.board.title}: systems against each other",
        "A minus B in percentage points, on the items that both were asked, with the same "
        f"{scored.units.clusters} drawn for both. {scored.units.population_note} Each interval is for a "
        "single pair and is not corrected for the number of pairs.",
        pd.DataFrame(rows),
        ["a", "b", "measure", "items", *policies, "difference", "difference_low", "difference_high", "meaning"],
        headings=difference_headings(scored.units.clusters),
        formats=number_formats(["difference"], "+"),
        aside=["name"],
    )


def difference_columns(estimate: MeasureEstimate, measure: Measure) -> dict[str, Any]:
    """Return the columns of a difference between two sides, but for their names."""
    columns = {"measure": measure.heading, "name": measure.name, "items": estimate.items, "policies": estimate.policies}
    return {
        **columns,
        **percent_columns(estimate, "difference"),
        "meaning": _describe_higher_side_or_undecided(estimate),
    }


def difference_headings(clusters: str) -> dict[str, str]:
    """Return the headings of a table of differences."""
    ends = {"difference": "A \u2212 B", "difference_low": f"{LEVEL} % interval"}
    return {"a": "A", "b": "B", "policies": clusters, **ends}


def _describe_higher_side_or_undecided(estimate: MeasureEstimate) -> str:
    """Name the higher side of a difference; empty where there is no interval."""
    if estimate.low > 0:
        return "A is higher"
    if estimate.high < 0:
        return "B is higher"
    return "undecided" if estimate.low == estimate.low else ""


_ABOUT = ("group", "system", "kind")


def list_groupings(scored: ScoredBoard) -> list[str]:
    """List the breakdowns that its items have, where there is more than one group."""
    groups: dict[str, set[str]] = {}
    for item in scored.board.suite.material.items:
        for name, item_groups in item.groups.items():
            groups.setdefault(name, set()).update(item_groups)
    return [name for name, item_groups in groups.items() if len(item_groups) > 1]


def order_groups(groups_and_sizes: Iterable[tuple[str, int]]) -> list[str]:
    """Order groups (with their numbers of items) by the first number in their names, or else the largest first."""
    sizes = list(groups_and_sizes)
    numbers = {name: re.search(r"\d+", name) for name, _ in sizes}
    if all(numbers.values()):
        # "up to 3" comes before "3 to 5", and "over 30" after "11 to 30".
        return sorted(numbers, key=lambda name: (int(re.findall(r"\d+", name)[-1]), _is_open_ended_range_name(name)))
    return [name for name, _ in sorted(sizes, key=lambda group: (-group[1], group[0]))]


def _is_open_ended_range_name(name: str) -> bool:
    return bool(re.match(r"\s*(?:>|over|above|more)|.*\+\s*$", name, re.IGNORECASE))


def breakdown_table_name(scored: ScoredBoard, breakdown: str) -> str:
    """Return the name of a breakdown's table."""
    return f"{scored.board.table_name_prefix}-by-{re.sub(r'[^a-z0-9]+', '-', breakdown.lower())}"


def measures_by_item_group_table(scored: ScoredBoard, grouping: str) -> Table:
    """Return the main measures of every system in each group of items."""
    items, measures = scored.board.suite.material.items, scored.board.suite.measures_for_item_groups
    sizes: Counter[str] = Counter()
    for item in items:
        sizes.update(item.groups.get(grouping, ()))
    ids_by_group = {group: {item.id for item in items if group in item.groups.get(grouping, ())} for group in sizes}
    parts = [(group, measures, ids_by_group[group]) for group in order_groups(sizes.items())]
    counted = ["items", *(["policies"] if scored.units.policies else [])]
    return _breakdown_table(scored, grouping, parts, "An item may be in several groups.", counted)


def measures_by_item_part_table(scored: ScoredBoard, breakdown: str) -> Table:
    """Return the measures of parts of items, such as spans of one kind, for every system."""
    parts = [(group, measures, None) for group, measures in scored.board.suite.parts[breakdown].items()]
    measures_by_name = {measure.name: measure for _, measures, _ in parts for measure in measures}
    meanings = " ".join(f"{measure.heading}: {measure.definition}" for measure in measures_by_name.values())
    return _breakdown_table(scored, breakdown, parts, meanings)


def _breakdown_table(
    scored: ScoredBoard,
    breakdown: str,
    groups_measures_and_item_ids: Sequence[tuple[str, Sequence[Measure], Collection[str] | None]],
    note_sentences: str,
    count_columns: Sequence[str] = (),
) -> Table:
    """Return the table of (group, its measures, ids of its items or None for all).

    `count_columns` are columns of numbers.
    """
    rows: list[dict[str, Any]] = []
    for group, measures, ids in groups_measures_and_item_ids:
        for row in (*scored.system_rows, *scored.computed_floor_and_ceiling_rows):
            assert row.counts is not None, "a system and a floor have outcomes"
            chosen = None if ids is None else np.array([item_id in ids for item_id in row.counts.ids], bool)
            merits = {measure.name: row.counts.estimate_measure(measure, chosen) for measure in measures}
            first = merits[measures[0].name]
            about = {"group": group, "system": row.label, "kind": row.kind}
            rows.append({**about, "items": first.items, "policies": first.policies})
            for name, merit in merits.items():
                rows[-1] |= percent_columns(merit, name)
        rows += _published_rows_of_group(scored, breakdown, group)
    measures_by_name = {
        measure.name: measure for _, measures, _ in groups_measures_and_item_ids for measure in measures
    }
    return make_table(
        breakdown_table_name(scored, breakdown),
        f"{scored.board.title}: by {breakdown}",
        f"Percentages. {note_sentences} {scored.units.population_note}",
        pd.DataFrame(rows),
        [
            *_ABOUT,
            *count_columns,
            *(column for name in measures_by_name for column in (name, f"{name}_low", f"{name}_high")),
        ],
        headings={
            "group": breakdown,
            "policies": scored.units.clusters,
            **measure_headings(list(measures_by_name.values())),
        },
        formats={**number_formats(list(measures_by_name)), "items": ".0f", "policies": ".0f"},
    )


def _published_rows_of_group(scored: ScoredBoard, breakdown: str, group: str) -> list[dict[str, Any]]:
    """Return the published rows that are about this group alone, of the whole split."""
    kind = "published, whole split" if scored.board.plan.limit else "published"
    return [
        {"group": group, "system": row.system, "kind": kind, **row.values}
        for row in scored.published_rows_of_groups
        if (row.breakdown, row.group) == (breakdown, group)
    ]


def error_kinds_table(scored: ScoredBoard) -> Table:
    """Count the types of errors of every system that a run asked; empty where the suite tells none apart."""
    suite, rows = scored.board.suite, []
    for row in scored.system_rows if suite.error_kinds else []:
        assert row.result is not None, "a system that was asked has a result"
        counts: Counter[str] = Counter()
        for outcome in row.result.outcomes:
            counts.update(suite.count_errors_by_kind(outcome))
        kinds = {kind: counts[kind] for kind in suite.error_kinds}
        rows.append({"system": row.label, "kind": row.kind, **kinds, "all": sum(kinds.values())})
    return make_table(
        f"{scored.board.table_name_prefix}-errors",
        f"{scored.board.title}: types of errors",
        f"Counts of errors over all items and repetitions. An item may have several. {suite.about_errors}".strip(),
        pd.DataFrame(rows),
        ["system", "kind", *suite.error_kinds, "all"],
        formats=dict.fromkeys((*suite.error_kinds, "all"), ",d"),
    )


def scores_by_wording_table(scored: ScoredBoard) -> Table:
    """Return the main measure of each system in each wording, and its spread; empty where none was asked in several."""
    rows_by_system: defaultdict[tuple[str, object, object], dict[int, SuiteTableRow]] = defaultdict(dict)
    for row in scored.system_rows:
        if row.result is not None and row.kind == "system":
            rows_by_system[row.system, row.result.plan.shots, row.result.sampling][row.result.plan.wording] = row
    main, rows = scored.measures[0], []
    for (system, shots, _), rows_by_wording in rows_by_system.items():
        merits = {wording: row.counts.estimate_measure(main) for wording, row in rows_by_wording.items() if row.counts}
        if len(merits) < 2:  # noqa: PLR2004 - one wording has no spread
            continue
        columns: dict[str, Any] = {"system": system, "shots": shots}
        columns |= {f"wording_{wording}": 100 * merit.value for wording, merit in merits.items()}
        repeated = [merit.spread for merit in merits.values() if merit.spread >= 0]
        columns["over_wordings"] = 100 * float(np.std([merit.value for merit in merits.values()]))
        columns["over_repetitions"] = 100 * float(np.mean(repeated)) if repeated else nan
        rows.append(columns)
    names = [f"wording_{wording}" for wording in WORDINGS]
    return make_table(
        f"{scored.board.table_name_prefix}-wordings",
        f"{scored.board.title}: wordings of the prompt",
        f"{main.heading} in per cent for each wording of the prompt, its population standard deviation over "
        "wordings, and the mean of its standard deviations over repetitions of a wording, blank if nothing "
        "was repeated.",
        pd.DataFrame(rows),
        ["system", "shots", *names, "over_wordings", "over_repetitions"],
        headings={name: name.replace("_", " ") for name in (*names, "over_wordings", "over_repetitions")},
        formats=dict.fromkeys((*names, "over_wordings", "over_repetitions"), ".2f"),
    )


_READ_AS = {
    NO_CONTEXT: "no-context asks without the text: a score above that of an empty answer shows memory or a good guess.",
    COMPANY_SWAP: "company-swap gives the company another name: a lower score means that the system relied on the "
    "real name.",
}
"""Probe → how its gap is read."""


def probe_gaps_table(scored_boards: Sequence[ScoredBoard]) -> Table:
    """Return the main measures under each probe minus the plain run's, of each system that was asked both."""
    rows: list[dict[str, Any]] = []
    probed = [scored for scored in scored_boards if scored.board.plan.probe in _READ_AS]
    for scored in probed:
        plain = _boards_of_split_without_probe(scored, scored_boards)
        for row in scored.system_rows:
            rows += _probe_gap_rows(scored, row, plain)
    probes = dict.fromkeys(row["probe"] for row in rows)
    board = scored_boards[0].board
    return make_table(
        f"{board.suite_name}-gaps",
        f"{board.suite.title}: gaps under probes",
        "Percentages on the items that were asked both without and with the probe, and their difference in "
        f"percentage points, with the same {scored_boards[0].units.clusters} drawn for both. "
        f"{' '.join(_READ_AS[name] for name in probes)} A gap alone proves nothing, because it includes everything "
        "else that the probe changes.",
        pd.DataFrame(rows),
        ["probe", "split", "system", "how", "measure", "items", "plain", "probed", "gap", "gap_low", "gap_high"],
        headings={"gap_low": f"{LEVEL} % interval", "probed": "under the probe"},
        formats={**dict.fromkeys(("plain", "probed"), ".2f"), "gap": "+.2f", "gap_low": "+.1f", "gap_high": "+.1f"},
    )


def memorized_and_other_clusters_table(scored_boards: Sequence[ScoredBoard]) -> Table:
    """Return the figure that memory may move, for what each system knows by heart, and for all else.

    Known is a cluster about which at least half of the replies without the text are right.
    """
    suite, rows = scored_boards[0].board.suite, list[dict[str, Any]]()
    measure = next(
        (
            candidate
            for scored in scored_boards
            for candidate in scored.measures
            if candidate.name == suite.memory_measure
        ),
        None,
    )
    for scored in scored_boards:
        for row in scored.system_rows if measure and scored.board.plan.probe == NO_CONTEXT else ():
            plain = _find_board_and_row_without_probe(row, _boards_of_split_without_probe(scored, scored_boards))
            if plain is not None and plain[1].counts and row.counts and measure:
                known_clusters, other_clusters = _split_mostly_right_and_other_clusters(
                    row.counts.outcomes, scored.board.suite.item_measure
                )
                about = {"split": scored.board.plan.split, "system": row.label, "how": row.description}
                rows.append(
                    about
                    | _known_and_other_values_with_counts(plain[1].counts, measure, known_clusters, other_clusters)
                )
    heading = measure.heading if measure else ""
    sentence = "".join(_known_and_other_shares_note_or_empty(row, heading, suite.clusters) for row in rows[:1])
    names = [f"{name}{end}" for name in ("known", "others") for end in ("", "_low", "_high", "_of")]
    return make_table(
        f"{scored_boards[0].board.suite_name}-by-heart",
        f"{suite.title}: {heading}, known by heart or not",
        f"{sentence}{heading.capitalize()}, in per cent, in the run without a probe: among the {suite.clusters} "
        "that the system gets right without the text (--probe no-context, in at least half of its replies), and "
        f"among the others. `of` is the number of {suite.clusters} that a figure is based on. "
        f"{scored_boards[0].units.population_note}",
        pd.DataFrame(rows),
        ["split", "system", "how", *names],
        headings={
            "known": f"{heading}, known",
            "others": f"{heading}, not known",
            **dict.fromkeys(("known_of", "others_of"), "of"),
            **dict.fromkeys(("known_low", "others_low"), f"{LEVEL} % interval"),
        },
        formats={name: ".0f" if name.endswith("_of") else ".1f" for name in names},
    )


def _known_and_other_shares_note_or_empty(row: Mapping[str, Any], heading: str, clusters: str) -> str:
    """Describe a row of that table; empty where a side of it is of nothing."""
    if not row["known_of"] or not row["others_of"]:
        return ""
    known_share, other_share = (_format_share_with_interval(row, name) for name in ("known", "others"))
    return (
        f"{row['system']}: {heading} in {known_share} of the {row['known_of']} {clusters} that it knows by "
        f"heart, and in {other_share} of the {row['others_of']} others. "
    )


def _format_share_with_interval(row: Mapping[str, Any], column_name: str) -> str:
    low, high = (row[f"{column_name}_{end}"] for end in ("low", "high"))
    return f"{row[column_name]:.0f} %" + ("" if isnan(low) else f" ({low:.0f} to {high:.0f})")


def _split_mostly_right_and_other_clusters(outcomes: Iterable[Outcome], measure: Measure) -> tuple[set[str], set[str]]:
    """Return the clusters that at least half of these replies are right about, and the others."""
    right = defaultdict[str, list[float]](list)
    for outcome in outcomes:
        right[outcome.item.cluster].append(measure.compute([outcome]))
    known_clusters = {cluster for cluster, scores in right.items() if 2 * sum(scores) >= len(scores)}
    return known_clusters, right.keys() - known_clusters


def _known_and_other_values_with_counts(
    counts: OutcomeCounts, measure: Measure, known_clusters: Collection[str], other_clusters: Collection[str]
) -> dict[str, float]:
    """Return the figure among the known clusters and among the others, and of how many of these it is."""
    figures: dict[str, float] = {}
    clusters = np.array([outcome.item.cluster for outcome in counts.outcomes], object)
    is_counted = counts.counts_by_outcome(measure)[:, 1] > 0
    for name, side_clusters in (("known", known_clusters), ("others", other_clusters)):
        chosen = np.array([cluster in side_clusters for cluster in clusters], bool)
        ends = percent_columns(counts.estimate_measure(measure, chosen), name)
        figures |= ends | {f"{name}_of": len({*clusters[chosen & is_counted]})}
    return figures


def _boards_of_split_without_probe(scored: ScoredBoard, scored_boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    """Return the boards of the same split without a probe."""
    split = (scored.board.plan.split, scored.board.has_own_files)
    return [
        candidate
        for candidate in scored_boards
        if not candidate.board.plan.probe and (candidate.board.plan.split, candidate.board.has_own_files) == split
    ]


def _find_board_and_row_without_probe(
    row: SuiteTableRow, boards_without_probe: Sequence[ScoredBoard]
) -> tuple[ScoredBoard, SuiteTableRow] | None:
    """Return the same system, asked alike, on the plain board that has the most of its items; None if none has any."""
    best: tuple[int, ScoredBoard, SuiteTableRow] | None = None
    ids = {*row.counts.ids} if row.counts else set()
    for board in boards_without_probe:
        for candidate in board.system_rows:
            shared = len(ids & {*candidate.counts.ids}) if candidate.counts else 0
            if (candidate.system, candidate.description) == (row.system, row.description) and shared > (
                best[0] if best else 0
            ):
                best = (shared, board, candidate)
    return best[1:] if best else None


def _probe_gap_rows(
    scored: ScoredBoard, row: SuiteTableRow, boards_without_probe: Sequence[ScoredBoard]
) -> list[dict[str, Any]]:
    """Return the rows of a system under a probe, against the plain run that has the most of the same items."""
    best = _find_board_and_row_without_probe(row, boards_without_probe)
    if best is None or row.result is None:
        return []
    board, plain_row = best
    assert plain_row.counts is not None, "it has items of its own"
    probed_counts = OutcomeCounts(
        [outcome for outcome in row.result.outcomes if outcome.item.id in board.units.number_by_item], board.units
    )
    gaps = []
    for measure in scored.measures[:MAIN]:
        merit = probed_counts.estimate_excess_over(plain_row.counts, measure)
        probed, plainly = (100 * mean for mean in merit.means)
        gap = percent_columns(merit, "gap")
        about = {"probe": scored.board.plan.probe, "split": scored.board.plan.split, "system": row.system}
        figures = {"items": merit.items, "plain": plainly, "probed": probed, **gap}
        gaps.append({**about, "how": row.description, "measure": measure.heading, **figures})
    return gaps
