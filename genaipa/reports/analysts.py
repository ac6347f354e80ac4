"""Analysts as a third factor: how far an average depends on who scored, and whether two sides had the same people.

One analyst gives more than another to the very same answers. How much more is found beside questions and documents, by
least squares, and adds a part of its own to the interval of an average: for analysts like these as well
(generalisability theory: Cronbach and others, 1972; Brennan, 2001). Two analysts say nothing about others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_ANALYSTS = 3
"""Below this many analysts nothing is said about others."""
MOST_APART = 0.25
"""Share of two sides' scores by other analysts above which analysts can't be separated from the systems."""
_ROUNDS = 50
_SETTLED = 1e-9
_TOLD = 0.1
"""Share of an analyst's scores that questions and documents must leave over for their leniency to be found."""
_PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Panel:
    """The analysts behind an average: how many they are, and their part of its variance (NaN where it is unknown).

    `without` is the average of the same answers with each of them left out; NaN where nobody knows what others would
    have given.
    """

    number: int
    variance: float
    without: Mapping[str, float]


def scores_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a tidy table that are a person's score of an answer, as averages count them."""
    known = frame[frame["counted"] & (frame["unit"] == "answer") & (frame["scorer"] == "human")]
    return known[known["analyst"].astype(str) != _PUBLISHED]


def panel(scores: pd.DataFrame, column: str) -> Panel:
    """Find the analysts behind the average of a column: over questions of means over experiments and documents.

    `scores` has a row per score of one system's answers: `experiment`, `question`, `document`, `analyst`, the column.
    """
    known = scores[scores[column].notna()]
    names, who = np.unique(known["analyst"].astype(str), return_inverse=True)
    if not len(names):
        return Panel(0, np.nan, {})
    value = known[column].to_numpy(float)
    plain = known[["experiment", "question", "document"]].astype(str)
    weight = _weights(plain)
    share = np.bincount(who, weight, minlength=len(names))
    asked, about = (
        plain.groupby(["experiment", name], sort=False).ngroup().to_numpy() for name in ("question", "document")
    )
    leniencies = _leniencies(value, who, asked, about) if len(names) > 1 else None
    answer = (known["answer"] if "answer" in known else plain.agg("|".join, axis=1)).astype(str).to_numpy()
    extra = _extra(value, weight, who, answer, leniencies.effects if leniencies else np.full(len(names), np.nan))
    average = float(weight @ value)
    without = {str(name): average - float(extra[who == n].sum()) for n, name in enumerate(names)}
    variance = leniencies.variance if leniencies and len(names) >= LEAST_ANALYSTS else np.nan
    return Panel(len(names), variance * float((share**2).sum()), without)


def refused(found: Panel) -> str:
    """Why nothing is said for analysts like these; or nothing."""
    if found.number < LEAST_ANALYSTS:
        return f"{number(found.number, 'analyst')}: below {LEAST_ANALYSTS}, none for others."
    return "Who scored depends on the question or the document." if np.isnan(found.variance) else ""


def _weights(plain: pd.DataFrame) -> Floats:
    """Each score's weight in the average; they add up to 1."""
    within = [["experiment", "question", "document"], ["experiment", "question"], ["question"]]
    inner = [*within[1:], []]
    weight = 1 / plain.groupby(within[0], sort=False)["question"].transform("size").to_numpy(float)
    for outer, name in zip(inner, ("document", "experiment", "question"), strict=True):
        number = plain.groupby(outer, sort=False)[name].transform("nunique") if outer else plain[name].nunique()
        weight = weight / np.asarray(number, float)
    return weight


def _extra(value: Floats, weight: Floats, who: NDArray[Any], answer: NDArray[Any], effects: Floats) -> Floats:
    """Find what each score adds to the average beyond what others gave, or would have given, to the same answer.

    Where others scored the answer too, that is known. Where they did not, it is what its analyst gave beyond others on
    the answers that they share, and else their leniency beside questions and documents (`effects`).
    """
    _, place = np.unique(answer, return_inverse=True)
    of_both = place * (int(who.max()) + 1) + who
    _, pair = np.unique(of_both, return_inverse=True)
    number, total = np.bincount(place)[place], np.bincount(place, value)[place]
    own, given = np.bincount(pair)[pair], np.bincount(pair, value)[pair]
    shared = number > own
    beyond = np.where(shared, value - (total - given) / np.maximum(number - own, 1), np.nan)
    share = np.bincount(who, weight)
    for n in range(len(share)):
        mine = who == n
        if (mine & shared).any():
            alone = np.average(beyond[mine & shared], weights=weight[mine & shared])
        else:
            others = np.arange(len(share)) != n
            alone = effects[n] - np.average(effects[others], weights=share[others]) if others.any() else np.nan
        beyond[mine & ~shared] = alone
    return weight * beyond


@dataclass(frozen=True, slots=True)
class _Leniencies:
    """How much each analyst gives beside questions and documents, and the variance of that without its noise."""

    effects: Floats
    variance: float


def _leniencies(value: Floats, who: NDArray[Any], asked: NDArray[Any], about: NDArray[Any]) -> _Leniencies | None:
    """Find the analysts' leniencies; None where documents or questions tell who scored, or little is known."""
    number = int(who.max()) + 1
    dealt = np.zeros((len(who), number))
    dealt[np.arange(len(who)), who] = 1.0
    free = _beside(np.column_stack([value, dealt]), asked, about)
    left, own = free[:, 1:], free[:, 1:].T @ free[:, 1:]
    counts = dealt.sum(axis=0)
    # All leniencies together are the average's level: one direction is never known.
    if np.sort(np.linalg.eigvalsh(own / np.sqrt(np.outer(counts, counts))))[1] < _TOLD:
        return None
    solved, _, rank, _ = np.linalg.lstsq(own, left.T @ free[:, 0], rcond=1e-9)
    effects: Floats = np.asarray(solved, dtype=np.float64)
    rest = float(((free[:, 0] - left @ effects) ** 2).sum())
    degrees = len(value) - len(np.unique(asked)) - len(np.unique(about)) + 1 - int(rank)
    if degrees <= 0:
        return None
    apart = effects - effects.mean()
    centred = np.eye(number) - 1 / number
    noise = rest / degrees * float(np.trace(centred @ np.linalg.pinv(own) @ centred))
    return _Leniencies(effects, max(float((apart**2).sum()) - noise, 0.0) / (number - 1))


def _beside(columns: Floats, asked: NDArray[Any], about: NDArray[Any]) -> Floats:
    """Take questions and documents out of each column, by turns until it no longer changes."""
    found: Floats = columns - columns.mean(axis=0)
    for _ in range(_ROUNDS):
        before = found.copy()
        for groups in (asked, about):
            size = np.bincount(groups)
            sums = np.column_stack([np.bincount(groups, one) for one in found.T])
            found -= (sums / size[:, None])[groups]
        if np.abs(found - before).max() < _SETTLED:
            break
    return found


def number_of(frame: pd.DataFrame) -> str:
    """The number of people behind the counted scores of a tidy table, in words."""
    number = scores_of(frame)["analyst"].nunique()
    return str(number) if number else "not known"


def other_people(ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """A sentence on who scored which side, where that is confounded with the systems; else empty.

    Both are tidy tables; compared are the analysts' shares of each side's counted scores.
    """
    shares = [
        frame.loc[frame["counted"] & (frame["scorer"] == "human"), "analyst"].astype(str).value_counts(normalize=True)
        for frame in (ours, theirs)
    ]
    if not all(len(one) for one in shares):
        return ""
    apart = float(shares[0].sub(shares[1], fill_value=0.0).abs().sum()) / 2
    if apart <= MOST_APART:
        return ""
    sides = [", ".join(f"{name} {share:.0%}" for name, share in one.head(3).items()) for one in shares]
    return (
        f"Other people scored A ({sides[0]}) than B ({sides[1]}): leniency and systems can't be separated. "
        "Have the same analysts score both."
    )
