"""Agreement of judges with people, with themselves and with each other; the values that they confuse; drift.

Everything here compares verdicts with people's independent scores, as alpha among people does: those given before
seeing others', without adjudications. Below `LEAST` answers scored by both sides nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from genaipa.reports.crossed import LEVEL
from genaipa.reports.judged.verdicts import LEAST, not_meaningful, without_value
from genaipa.reports.table import Table, table
from genaipa.scoring.rubric import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.reports.judged.verdicts import Floats, Mask, Places, Side, Verdicts
    from genaipa.scoring.agreement import MetricAgreement

PEOPLE, EACH_OTHER, ITSELF, OTHERS = "people", "each other", "itself", "other judges"
_FEWEST = 5
"""Questions below which a correlation has no interval."""
_ROUNDING = 1e-9
"""Sums of squares up to this are errors of rounding."""
_MOST_PARTS = 3
"""Parts of the time in which people scored."""
_ALPHA = ("alpha", "low", "high", "agreement")
_R = ("r", "r_low", "r_high")


def agreement(given: Verdicts) -> Table:
    """Alpha of each judge with people, with itself and with other judges, and of people with each other."""
    columns = ["measure", "judge", "with", "answers", *_ALPHA, *_R, "reason"]
    measures = enumerate(given.measures.values())
    rows = [{"measure": name, **row} for measure, name in measures for row in _agreements(given, measure)]
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys((*_ALPHA, *_R), "float64"))
    aside = without_value(data, "reason")
    return table(
        "judges-agreement",
        "How far judges agree with people",
        "Krippendorff's alpha for ordinal values (1 is perfect agreement, 0 agreement by chance) with its interval "
        f"({LEVEL:.0%} confidence, for other answers of this kind), and the share of equal values. People with each "
        "other: the line that a judge has to reach. A judge with people: over the answers that both scored, each "
        "person and each pass counting alike; with itself: its passes; with other judges: all of them. r is the "
        "correlation over answers between the judge's mean over passes and people's mean, with an interval for other "
        "questions of this kind. Of people, scores that they gave before they saw any other's, without adjudications. "
        f"Not meaningful, and blank, below {LEAST} answers scored by both.",
        data,
        [column for column in columns if column not in aside],
        headings={"low": "interval", "agreement": "same value", "r_low": "interval of r", "reason": "why blank"},
        formats=dict.fromkeys(("low", "high", *_R), ".2f"),
        aside=aside,
    )


def _agreements(given: Verdicts, measure: int) -> Iterator[dict[str, object]]:
    people = given.people
    if len(people.answer):
        yield {"judge": PEOPLE, "with": EACH_OTHER, **_among(given, people, measure)}
    for judge, side in given.judges.items():
        r = _correlation(given, judge, measure)
        yield {"judge": judge, "with": PEOPLE, **_apart(given, side, people, measure), **r}
        if len(side.scorers) > 1:
            yield {"judge": judge, "with": ITSELF, **_among(given, side, measure)}
        others = [given.judges[name] for name in given.judges if name != judge]
        if others:
            yield {"judge": judge, "with": OTHERS, **_apart(given, side, others[0].with_(others[1:]), measure)}


def _among(given: Verdicts, side: Side, measure: int) -> dict[str, object]:
    """Agreement of scorers with each other, on the answers that two or more of them scored."""
    some = side.often > 1
    return _found(int(some.sum()), given.compare_within(side, some, measure))


def _apart(given: Verdicts, first: Side, second: Side, measure: int) -> dict[str, object]:
    """Agreement of two sides, on the answers that both scored."""
    some = (first.often > 0) & (second.often > 0)
    return _found(int(some.sum()), given.compare(first, second, some, measure))


def _found(answers: int, found: MetricAgreement) -> dict[str, object]:
    if answers < LEAST:
        return {"answers": answers, "reason": not_meaningful(answers)}
    low, high = found.alpha.interval or (None, None)
    return {
        "answers": answers,
        "alpha": found.alpha.value,
        "low": low,
        "high": high,
        "agreement": found.agreement,
        "reason": found.alpha.reason,
    }


# -- correlation --


def _correlation(given: Verdicts, judge: str, measure: int) -> dict[str, object]:
    both = given.both[judge]
    if both.sum() < LEAST:
        return {}
    ours, theirs = (side.means[both, measure] for side in (given.judges[judge], given.people))
    r, low, high = correlated(ours, theirs, given.questions[both])
    return {"r": r, "r_low": low, "r_high": high}


def correlated(first: Floats, second: Floats, questions: Any) -> tuple[float, float, float]:
    """Pearson's r with its interval for other questions; NaN where a side doesn't vary, or questions are few.

    The interval is a jackknife over questions on Fisher's scale, with Student's t.
    """
    _, place = np.unique(questions, return_inverse=True)
    first, second = first - first.mean(), second - second.mean()
    parts = (np.ones_like(first), first, second, first**2, second**2, first * second)
    sums = np.array([np.bincount(place, part) for part in parts])
    every = sums.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = float(_pearson(every)[0])
        without = _pearson(every - sums)
        n = len(without)
        if n < _FEWEST or not np.isfinite(z := np.arctanh(np.clip(without, -1, 1))).all() or abs(r) >= 1:
            return r, np.nan, np.nan
    error = np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    middle = np.arctanh(r)
    return r, float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums
    # What is left of values that are all equal is an error of rounding.
    first, second = (np.where(part > _ROUNDING, part, np.nan) for part in (n * xx - x * x, n * yy - y * y))
    found: Floats = (n * xy - x * y) / np.sqrt(first * second)
    return found


# -- the values, and time --


def confusion(given: Verdicts) -> Table:
    """Count a judge's values where people give each: a row for each of people's values."""
    values = given.rubric.values
    columns = ["judge", "metric", "people", *(f"judge {shown(value)}" for value in values)]
    rows = []
    for judge, both in given.both.items():
        for measure, name in list(enumerate(given.measures.values()))[1:] if both.sum() >= LEAST else ():
            ours, theirs = (
                given.counts(side, both, measure).astype(np.float64) for side in (given.people, given.judges[judge])
            )
            # Each answer counts once, however many scored it; the scale goes up, the rubric's values go down.
            each = (side / side.sum(axis=1, keepdims=True) for side in (ours, theirs))
            crossed = np.einsum("ap,aj->pj", *each)[::-1, ::-1]
            for value, line in zip(values, crossed.tolist(), strict=True):
                rows.append(dict(zip(columns, (judge, name, shown(value), *line), strict=True)))
    data = pd.DataFrame(rows, columns=columns)
    whole = all((data[column] % 1 == 0).all() for column in columns[3:])
    return table(
        "judges-confusion",
        "What a judge gives where people give a value",
        "Numbers of answers that both scored. An answer that several people scored, or that was judged in "
        "several passes, is divided among their values.",
        data,
        columns,
        headings={"people": "people gave"},
        formats=dict.fromkeys(columns[3:], ".0f" if whole else ".1f"),
    )


def drift(given: Verdicts) -> Table:
    """Alpha of each judge with people, in parts of the answers by the order in which people scored them."""
    columns = ["judge", "measure", "part", "since", "answers", *_ALPHA, "reason"]
    rows = []
    for judge, both in given.both.items():
        order, first = _in_time(given.people, both)
        parts = min(_MOST_PARTS, len(order) // LEAST)
        for measure, name in enumerate(given.measures.values()) if parts > 1 else ():
            for number, places in enumerate(np.array_split(np.arange(len(order)), parts), 1):
                some = np.isin(np.arange(len(both)), order[places])
                found = given.compare(given.judges[judge], given.people, some, measure)
                about = {"judge": judge, "measure": name, "part": f"{number} of {parts}"}
                rows.append({**about, "since": first[places[0]][:10], **_found(len(places), found)})
    data = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_ALPHA, "float64"))
    aside = without_value(data, "reason")
    return table(
        "judges-drift",
        "Agreement in the order in which people scored",
        "Krippendorff's alpha of a judge with people, and the share of equal values, in halves or thirds of the "
        "answers that both scored, by the time at which people first scored them. A judge's verdict does not depend on "
        "that time, so that a change from part to part is people's drift, or other answers. There are as many parts as "
        f"have {LEAST} answers each, three at most.",
        data,
        [column for column in columns if column not in aside],
        headings={"low": "interval", "agreement": "same value", "reason": "why blank"},
        formats=dict.fromkeys(("low", "high"), ".2f"),
        aside=aside,
    )


def _in_time(people: Side, some: Mask) -> tuple[Places, list[str]]:
    """Some answers in the order in which people first scored them, and when that was."""
    by_time = np.argsort(people.time, kind="stable")
    answers, first = np.unique(people.answer[by_time], return_index=True)
    order = np.argsort(first, kind="stable")
    places = answers[order]
    times = people.time[by_time][first[order]]
    there = some[places]
    return places[there], times[there].tolist()
