"""Sentences on the worth of each judge: the first table of the chapter on judges."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.judged.quality import ALL, FAMILY, ITSELF, OTHER, OWN, PEOPLE
from genaipa.reports.judged.verdicts import LEAST
from genaipa.reports.table import Table, table
from genaipa.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.judged.verdicts import Verdicts

    Row = dict[Any, Any]

_OVERALL = "M_all"


def findings(given: Verdicts, agreement: Table, leniency: Table, alternative: Table) -> Table:
    """A row for each judge: its passes, how much it judged, and what follows from the other tables."""
    columns = ["judge", "passes", "judged", "answers", "finding"]
    rows = []
    for judge, both in given.both.items():
        said = _words(judge, int(both.sum()), agreement.data, leniency.readable, alternative.data)
        own = given.judges[judge]
        counts = (len(own.scorers), int((own.often > 0).sum()), int(both.sum()))
        rows.append(dict(zip(columns, (judge, *counts, " ".join(said)), strict=True)))
    return table(
        "judges",
        "What the judges are worth",
        "A judge is a model, as its provider says that it was served, with the prompt whose digest begins as shown; "
        "another model or prompt is another judge. Its verdicts are in no average and in no agreement of people. This "
        "is about the answers that people scored, too; it holds for the others where these are a random part (a wave)."
        f"{_changed(given)}{_left_out(given)}",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"judged": "answers judged", "answers": "scored by people too"},
    )


def _changed(given: Verdicts) -> str:
    """A sentence on judges with one prompt that have no answer in common, as if a model had changed midway."""
    names = list(given.judges)
    apart = [
        f"{one} and {other}"
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if given.prompts[one] == given.prompts[other]
        and not (given.judges[one].often * given.judges[other].often).any()
    ]
    if not apart:
        return ""
    return (
        f" With the same prompt, and no answer in common: {'; '.join(apart)}. If a model changed while it judged, "
        "these are two judges, each measured on its own answers."
    )


def _left_out(given: Verdicts) -> str:
    if not given.left_out:
        return ""
    scores = "1 score is" if given.left_out == 1 else f"{given.left_out:,} scores are"
    return f" {scores} by another rubric than this one, and compared with nothing here."


def _words(
    judge: str, both: int, agreement: pd.DataFrame, leniency: pd.DataFrame, alternative: pd.DataFrame
) -> Iterator[str]:
    if both < LEAST:
        yield (
            f"Not meaningful: people scored {both or 'none'} of the answers that it judged, and it takes {LEAST}."
            " What it is worth is not known."
        )
        return
    own = agreement[agreement["judge"] == judge]
    people = agreement[agreement["judge"] == PEOPLE].set_index("measure")
    with_people = own[own["with"] == PEOPLE].to_dict("records")
    yield from _agrees(with_people, people)
    overall = next(row for row in with_people if row["measure"] == _OVERALL)
    if not isnan(overall["r"]):
        yield f"Over answers, its M_all follows people's at r = {overall['r']:.2f}{_range(overall, 'r_low', 'r_high')}."
    yield from _lenient(leniency[(leniency["judge"] == judge) & (leniency["measure"] == _OVERALL)])
    again = own[(own["with"] == ITSELF) & (own["measure"] == _OVERALL) & own["alpha"].notna()]
    yield from (f"Asked again, it agrees with itself at {alpha:.2f} on M_all." for alpha in again["alpha"])
    tested = alternative[(alternative["judge"] == judge) & (alternative["measure"] == _OVERALL)]
    yield from map(_replaces, tested.to_dict("records"))


def _agrees(rows: list[Row], people: pd.DataFrame) -> Iterator[str]:
    """Whether the judge agrees with people less than they do with each other, by measure; with both alphas."""
    lines: dict[Any, Row] = people[people["alpha"].notna()].to_dict("index")
    there = people["answers"].max() if len(people) else 0
    groups: dict[str, list[str]] = {}
    for row in rows:
        alpha, line = float(row["alpha"]), lines.get(row["measure"])
        if not isnan(alpha):
            how, other = (_against(row, line), f" against {line['alpha']:.2f}") if line else ("alone", "")
            groups.setdefault(how, []).append(f"{row['measure']} ({alpha:.2f}{other})")
    for how in ("less than", "as much as", "more than"):
        if how in groups:
            told = ", as far as can be told" if how == "as much as" else ""
            yield f"On {listed(groups[how])} the judge agrees with people {how} people agree with each other{told}."
    if "alone" in groups:
        yield (
            f"Its alpha with people: {listed(groups['alone'])}. How far people agree with each other is not known: "
            f"{there:.0f} answers were scored by two of them, and it takes {LEAST}."
        )


def _against(row: Row, line: Row) -> str:
    """Compare an alpha with the line that it has to reach: apart where neither is within the other's interval."""
    ours, theirs = (
        (each["alpha"], *([each["alpha"]] * 2 if isnan(each["low"]) else [each["low"], each["high"]]))
        for each in (row, line)
    )
    if ours[2] < theirs[0] and ours[0] < theirs[1]:
        return "less than"
    return "more than" if ours[1] > theirs[0] and ours[0] > theirs[2] else "as much as"


def _lenient(rows: pd.DataFrame) -> Iterator[str]:
    """Sentences on the judge's leniency on M_all, over all answers and towards its own family."""
    overall = rows[rows["by"] == ALL].to_dict("records")[0]
    mean, sure = overall["mean"], _range(overall, "low", "high", " for these documents")
    if not isnan(mean):
        said = f"its M_all less theirs is {mean:+z.2f} on average{sure}"
        chance = not isnan(overall["low"]) and overall["low"] <= 0 <= overall["high"]
        how = "as lenient as" if chance or not mean else "more lenient than" if mean > 0 else "harsher than"
        yield f"It is {how} people{', as far as can be told' if chance else ''}: {said}."
    family = rows[rows["by"] == FAMILY].set_index("group")
    if {OWN, OTHER} <= {*family.index[family["mean"].notna()]}:
        own, other = (family.loc[group].to_dict() for group in (OWN, OTHER))
        yield (
            f"For systems of its own family that is {own['mean']:+z.2f}{_range(own, 'low', 'high')}, for others "
            f"{other['mean']:+z.2f}{_range(other, 'low', 'high')}."
        )


def _replaces(row: Row) -> str:
    if isnan(row["winning"]):
        return f"The alternative annotator test can't be done: {row['reason'][0].lower()}{row['reason'][1:]}"
    how = "passes" if row["passes"] == "yes" else "fails"
    few = " (with two people only, which says little)" if row["reason"] else ""
    return f"It {how} the alternative annotator test on M_all{few}: winning rate {row['winning']:.2f}."


def _range(row: Row, low: str, high: str, after: str = "") -> str:
    return "" if isnan(row[low]) else f" ({row[low]:.2f} to {row[high]:.2f}{after})"
