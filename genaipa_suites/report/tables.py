"""The tables of a suite: its figures, what they mean, pairs of systems, and break-downs of the figures.

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
from genaipa_suites.report.merit import LEVEL, Counts, Merit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa_suites.material import Outcome
    from genaipa_suites.measure import Measure
    from genaipa_suites.report.results import Row, Scored

MAIN = 2
"""Measures that break-downs and comparisons have."""
_ACROSS = 6
"""Measures that fit a suite's table; the others have a table of their own."""
_PAIRED = 5
"""Systems up to which every pair is compared; of more, each with the best."""
KINDS = (
    "`kind`: a system was asked in a run; a baseline is a rule or was trained on the train split; a floor takes no "
    "reading (no answer, the whole text, the most frequent label), a ceiling its gold label, both worked out on the "
    "same items; people are scored by several references; published rows are printed in papers for this split, under "
    "the very same definition."
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
    return make_table(
        scored.board.stem,
        scored.board.title,
        "Percentages; the table on what the columns mean defines each measure. "
        f"{scored.units.population}{spread} {KINDS} {FAULTY} "
        "Further intervals, tokens and costs are in CSV and JSON.",
        pd.DataFrame(rows),
        columns,
        headings={
            **headed(scored.measures),
            "in_words": "form in words",
            "in_prose": "found in prose",
            "strict": f"strict {scored.measures[0].heading}",
            "cost": "cost ($)",
        },
        formats={
            **written(names),
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
    return make_table(
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
    return make_table(
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
        **{f"{measure.name}_sd": "±" for measure in measures},
    }


def written(names: Sequence[str], sign: str = "") -> dict[str, str]:
    """The number formats of these figures' columns."""
    digits = {"": 2, "_low": 1, "_high": 1, "_sd": 2}
    return {f"{name}{end}": f"{sign}.{most}f" for name in names for end, most in digits.items()}


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
            rows.append({"a": first.label, "b": second.label, **difference(both, measure)})
    return make_table(
        f"{scored.board.stem}-pairs",
        f"{scored.board.title}: systems against each other",
        "A minus B in percentage points, on the items that both were asked, with the same "
        f"{scored.units.clusters} drawn for both. {scored.units.population} They are those of one pair each, and not "
        "corrected for how many pairs there are.",
        pd.DataFrame(rows),
        ["a", "b", "measure", "items", *policies, "difference", "difference_low", "difference_high", "meaning"],
        headings=sides(scored.units.clusters),
        formats=written(["difference"], "+"),
        aside=["name"],
    )


def difference(both: Merit, measure: Measure) -> dict[str, Any]:
    """The columns of a difference between two sides, but for their names."""
    found = {"measure": measure.heading, "name": measure.name, "items": both.items, "policies": both.policies}
    return {**found, **percent(both, "difference"), "meaning": _meaning(both)}


def sides(clusters: str) -> dict[str, str]:
    """The headings of a table of differences."""
    ends = {"difference": "A \u2212 B", "difference_low": f"{LEVEL} % interval"}
    return {"a": "A", "b": "B", "policies": clusters, **ends}


def _meaning(both: Merit) -> str:
    """The higher side of a difference, in words; empty where there is no interval."""
    if both.low > 0:
        return "A is higher"
    if both.high < 0:
        return "B is higher"
    return "undecided" if both.low == both.low else ""


_ABOUT = ("group", "system", "kind")


def groupings(scored: Scored) -> list[str]:
    """The names of the break-downs that its items have, where there is more than one group."""
    groups: dict[str, set[str]] = {}
    for item in scored.board.suite.material.items:
        for name, own in item.groups.items():
            groups.setdefault(name, set()).update(own)
    return [name for name, own in groups.items() if len(own) > 1]


def in_order(groups: Iterable[tuple[str, int]]) -> list[str]:
    """Groups (with their numbers of items) by the first number in their names, or else the largest first."""
    known = list(groups)
    numbers = {name: re.search(r"\d+", name) for name, _ in known}
    if all(numbers.values()):
        # "up to 3" comes before "3 to 5", and "over 30" after "11 to 30".
        return sorted(numbers, key=lambda name: (int(re.findall(r"\d+", name)[-1]), _is_above(name)))
    return [name for name, _ in sorted(known, key=lambda one: (-one[1], one[0]))]


def _is_above(name: str) -> bool:
    return bool(re.match(r"\s*(?:>|over|above|more)|.*\+\s*$", name, re.IGNORECASE))


def stem_of(scored: Scored, breakdown: str) -> str:
    """The name of a break-down's table."""
    return f"{scored.board.stem}-by-{re.sub(r'[^a-z0-9]+', '-', breakdown.lower())}"


def by_group(scored: Scored, grouping: str) -> Table:
    """The main measures of every system in each group of items."""
    items, measures = scored.board.suite.material.items, scored.board.suite.grouped
    sizes: Counter[str] = Counter()
    for item in items:
        sizes.update(item.groups.get(grouping, ()))
    inside = {group: {one.id for one in items if group in one.groups.get(grouping, ())} for group in sizes}
    parts = [(group, measures, inside[group]) for group in in_order(sizes.items())]
    counted = ["items", *(["policies"] if scored.units.policies else [])]
    return _broken_down(scored, grouping, parts, "An item may be in several groups.", counted)


def by_part(scored: Scored, breakdown: str) -> Table:
    """The measures of parts of items, such as spans of one kind, for every system."""
    parts = [(group, measures, None) for group, measures in scored.board.suite.parts[breakdown].items()]
    every = {measure.name: measure for _, measures, _ in parts for measure in measures}
    meanings = " ".join(f"{one.heading}: {one.definition}" for one in every.values())
    return _broken_down(scored, breakdown, parts, meanings)


def _broken_down(
    scored: Scored,
    breakdown: str,
    parts: Sequence[tuple[str, Sequence[Measure], Collection[str] | None]],
    said: str,
    counted: Sequence[str] = (),
) -> Table:
    """The table of (group, its measures, the ids of its items or None for all); `counted` are columns of numbers."""
    rows: list[dict[str, Any]] = []
    for group, measures, inside in parts:
        for row in (*scored.asked, *scored.references):
            assert row.counts is not None, "a system and a floor have outcomes"
            chosen = None if inside is None else np.array([one in inside for one in row.counts.ids], bool)
            merits = {measure.name: row.counts.merit(measure, chosen) for measure in measures}
            first = merits[measures[0].name]
            about = {"group": group, "system": row.label, "kind": row.kind}
            rows.append({**about, "items": first.items, "policies": first.policies})
            for name, merit in merits.items():
                rows[-1] |= percent(merit, name)
        rows += _published(scored, breakdown, group)
    every = {measure.name: measure for _, measures, _ in parts for measure in measures}
    return make_table(
        stem_of(scored, breakdown),
        f"{scored.board.title}: by {breakdown}",
        f"Percentages. {said} {scored.units.population}",
        pd.DataFrame(rows),
        [*_ABOUT, *counted, *(column for name in every for column in (name, f"{name}_low", f"{name}_high"))],
        headings={"group": breakdown, "policies": scored.units.clusters, **headed(list(every.values()))},
        formats={**written(list(every)), "items": ".0f", "policies": ".0f"},
    )


def _published(scored: Scored, breakdown: str, group: str) -> list[dict[str, Any]]:
    """The published rows that are about this group alone, of the whole split."""
    kind = "published, whole split" if scored.board.plan.limit else "published"
    return [
        {"group": group, "system": row.system, "kind": kind, **row.values}
        for row in scored.published_parts
        if (row.breakdown, row.group) == (breakdown, group)
    ]


def errors(scored: Scored) -> Table:
    """The types of errors of every system that a run asked, counted; empty where the suite tells none apart."""
    suite, rows = scored.board.suite, []
    for row in scored.asked if suite.error_kinds else []:
        assert row.result is not None, "a system that was asked has a result"
        found: Counter[str] = Counter()
        for outcome in row.result.outcomes:
            found.update(suite.errors(outcome))
        kinds = {kind: found[kind] for kind in suite.error_kinds}
        rows.append({"system": row.label, "kind": row.kind, **kinds, "all": sum(kinds.values())})
    return make_table(
        f"{scored.board.stem}-errors",
        f"{scored.board.title}: types of errors",
        f"Numbers of errors over all items and repetitions. An item may have several. {suite.about_errors}".strip(),
        pd.DataFrame(rows),
        ["system", "kind", *suite.error_kinds, "all"],
        formats=dict.fromkeys((*suite.error_kinds, "all"), ",d"),
    )


def wordings(scored: Scored) -> Table:
    """The main measure of each system in each wording, and its spread; empty where none was asked in several."""
    asked: defaultdict[tuple[str, object, object], dict[int, Row]] = defaultdict(dict)
    for row in scored.asked:
        if row.result is not None and row.kind == "system":
            asked[row.system, row.result.plan.shots, row.result.sampling][row.result.plan.wording] = row
    main, rows = scored.measures[0], []
    for (system, shots, _), each in asked.items():
        merits = {wording: row.counts.merit(main) for wording, row in each.items() if row.counts}
        if len(merits) < 2:  # noqa: PLR2004 - one wording has no spread
            continue
        found: dict[str, Any] = {"system": system, "shots": shots}
        found |= {f"wording_{wording}": 100 * merit.value for wording, merit in merits.items()}
        repeated = [merit.spread for merit in merits.values() if merit.spread >= 0]
        found["over_wordings"] = 100 * float(np.std([merit.value for merit in merits.values()]))
        found["over_repetitions"] = 100 * float(np.mean(repeated)) if repeated else nan
        rows.append(found)
    names = [f"wording_{wording}" for wording in WORDINGS]
    return make_table(
        f"{scored.board.stem}-wordings",
        f"{scored.board.title}: wordings of the prompt",
        f"{main.heading} in per cent, in each of the prompt's wordings, and its population standard deviation over "
        "wordings, beside that over repetitions of one wording: the mean of them, blank where nothing was repeated.",
        pd.DataFrame(rows),
        ["system", "shots", *names, "over_wordings", "over_repetitions"],
        headings={name: name.replace("_", " ") for name in (*names, "over_wordings", "over_repetitions")},
        formats=dict.fromkeys((*names, "over_wordings", "over_repetitions"), ".2f"),
    )


_READ_AS = {
    NO_CONTEXT: "no-context asks without the text: a score above an empty answer's is memory, or a good guess.",
    COMPANY_SWAP: "company-swap gives the company another name: a lower score leans on the name that is known.",
}
"""Probe → how its gap is read."""


def gaps(some: Sequence[Scored]) -> Table:
    """The main measures under each probe minus the plain run's, of each system that was asked both."""
    rows: list[dict[str, Any]] = []
    probed = [one for one in some if one.board.plan.probe in _READ_AS]
    for scored in probed:
        plain = _plain(scored, some)
        for row in scored.asked:
            rows += _gap(scored, row, plain)
    there = dict.fromkeys(row["probe"] for row in rows)
    board = some[0].board
    return make_table(
        f"{board.name}-gaps",
        f"{board.suite.title}: gaps under probes",
        "Percentages on the items that were asked both plainly and under the probe, and their difference in percentage "
        f"points, with the same {some[0].units.clusters} drawn for both. "
        f"{' '.join(_READ_AS[name] for name in there)} A gap is no verdict: "
        "whatever else the probe changes is in it as well.",
        pd.DataFrame(rows),
        ["probe", "split", "system", "how", "measure", "items", "plain", "probed", "gap", "gap_low", "gap_high"],
        headings={"gap_low": f"{LEVEL} % interval", "probed": "under the probe"},
        formats={**dict.fromkeys(("plain", "probed"), ".2f"), "gap": "+.2f", "gap_low": "+.1f", "gap_high": "+.1f"},
    )


def by_heart(some: Sequence[Scored]) -> Table:
    """The figure that memory may move, for what each system knows by heart, and for all else; empty without both runs.

    Known is a cluster about which at least half of the replies without the text are right.
    """
    suite, rows = some[0].board.suite, list[dict[str, Any]]()
    measure = next((one for scored in some for one in scored.measures if one.name == suite.remembered), None)
    for scored in some:
        for row in scored.asked if measure and scored.board.plan.probe == NO_CONTEXT else ():
            plain = _plainly(row, _plain(scored, some))
            if plain is not None and plain[1].counts and row.counts and measure:
                known, others = _known(row.counts.outcomes, scored.board.suite.single)
                about = {"split": scored.board.plan.split, "system": row.label, "how": row.how}
                rows.append(about | _of_known(plain[1].counts, measure, known, others))
    heading = measure.heading if measure else ""
    said = "".join(_in_words(row, heading, suite.clusters) for row in rows[:1])
    names = [f"{name}{end}" for name in ("known", "others") for end in ("", "_low", "_high", "_of")]
    return make_table(
        f"{some[0].board.name}-by-heart",
        f"{suite.title}: {heading}, known by heart or not",
        f"{said}{heading.capitalize()}, in per cent of the plain run: among the {suite.clusters} that the system is "
        "right about without the text (--probe no-context, in at least half of its replies), and among the others. "
        f"`of` is how many of them a figure is of. {some[0].units.population}",
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


def _in_words(row: Mapping[str, Any], heading: str, clusters: str) -> str:
    """A row of that table as a sentence; empty where a side of it is of nothing."""
    if not row["known_of"] or not row["others_of"]:
        return ""
    known, others = (_share(row, name) for name in ("known", "others"))
    return (
        f"{row['system']}: {heading} in {known} of the {row['known_of']} {clusters} that it knows by heart, and in "
        f"{others} of the {row['others_of']} others. "
    )


def _share(row: Mapping[str, Any], name: str) -> str:
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    return f"{row[name]:.0f} %" + ("" if isnan(low) else f" ({low:.0f} to {high:.0f})")


def _known(outcomes: Iterable[Outcome], measure: Measure) -> tuple[set[str], set[str]]:
    """The clusters that at least half of these replies are right about, and the others."""
    right = defaultdict[str, list[float]](list)
    for outcome in outcomes:
        right[outcome.item.cluster].append(measure.of([outcome]))
    known = {cluster for cluster, each in right.items() if 2 * sum(each) >= len(each)}
    return known, right.keys() - known


def _of_known(counts: Counts, measure: Measure, known: Collection[str], others: Collection[str]) -> dict[str, float]:
    """The figure among the known clusters and among the others, and of how many of these it is."""
    found: dict[str, float] = {}
    clusters = np.array([outcome.item.cluster for outcome in counts.outcomes], object)
    there = counts.of(measure)[:, 1] > 0
    for name, some in (("known", known), ("others", others)):
        chosen = np.array([cluster in some for cluster in clusters], bool)
        ends = percent(counts.merit(measure, chosen), name)
        found |= ends | {f"{name}_of": len({*clusters[chosen & there]})}
    return found


def _plain(scored: Scored, some: Sequence[Scored]) -> list[Scored]:
    """The boards of the same split without a probe."""
    split = (scored.board.plan.split, scored.board.own)
    return [one for one in some if not one.board.plan.probe and (one.board.plan.split, one.board.own) == split]


def _plainly(row: Row, plain: Sequence[Scored]) -> tuple[Scored, Row] | None:
    """The same system, asked alike, on the plain board that has the most of its items; None if none has any."""
    best: tuple[int, Scored, Row] | None = None
    ids = {*row.counts.ids} if row.counts else set()
    for one in plain:
        for other in one.asked:
            shared = len(ids & {*other.counts.ids}) if other.counts else 0
            if (other.system, other.how) == (row.system, row.how) and shared > (best[0] if best else 0):
                best = (shared, one, other)
    return best[1:] if best else None


def _gap(scored: Scored, row: Row, plain: Sequence[Scored]) -> list[dict[str, Any]]:
    """The rows of a system under a probe, against the plain run that has the most of the same items."""
    best = _plainly(row, plain)
    if best is None or row.result is None:
        return []
    board, other = best
    assert other.counts is not None, "it has items of its own"
    ours = Counts([one for one in row.result.outcomes if one.item.id in board.units.of], board.units)
    found = []
    for measure in scored.measures[:MAIN]:
        both = ours.minus(other.counts, measure)
        probed, plainly = (100 * mean for mean in both.means)
        gap = percent(both, "gap")
        about = {"probe": scored.board.plan.probe, "split": scored.board.plan.split, "system": row.system}
        figures = {"items": both.items, "plain": plainly, "probed": probed, **gap}
        found.append({**about, "how": row.how, "measure": measure.heading, **figures})
    return found
