"""Averages: of an answer over its scores (Algorithm 2), and of a question about a document over its answers.

A cell is what one system scored on one question about one document in one experiment: the number behind a point of a
box plot. Where a published study gives the five metrics only as means over its documents, its cells have an empty
document.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from genaipa.reports.tidy import metrics_of, plain_texts

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_Made = TypeVar("_Made")


_CELL = ["system", "experiment", "document", "question"]
_ABOUT = ["kind", "category", "source", "silent"]
_ANSWER = [
    *("unit", "run", "key", "answer", "initialization", "wording", "prompts", "repetition", "conversation", "position")
]


def averaged(rows: pd.DataFrame) -> list[str]:
    """The averaged columns: the metrics, M_all, M_all+ and M_all-."""
    return [*metrics_of(rows), "m_all", "m_all_positive", "m_all_negative"]


def kept(
    make: Callable[Concatenate[pd.DataFrame, _P], _Made],
) -> Callable[Concatenate[pd.DataFrame, _P], _Made]:
    """Keep what is made of a frame for as long as it lives: the tables of a report ask for the same again and again.

    The frame must not be changed in place, and be no part of what is made.
    """
    found: dict[tuple[object, ...], _Made] = {}

    @functools.wraps(make)
    def of(frame: pd.DataFrame, /, *args: _P.args, **kwargs: _P.kwargs) -> _Made:
        key = (id(frame), *args, *kwargs.items())
        if key not in found:
            with plain_texts:
                found[key] = make(frame, *args, **kwargs)
            weakref.finalize(frame, found.pop, key, None)
        made = found[key]
        return made.copy(deep=False) if isinstance(made, pd.DataFrame) else made

    return of


@kept
def answers(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per answer (or published score) with its averages over scores; `scores` is how many there are.

    It is 0 for a judge's estimate (`judged.estimate`) about a question whose answers people didn't score.

    Columns: the cell's, what identifies the answer, `averaged`, `scores`, and `doubtful`: how many of them are in
    doubt.
    """
    counted = frame[frame["counted"]]
    # A published score has no key: its place in the table is its own.
    counts = {"scores": counted["role"] != "", "doubtful": counted["doubt"] != ""}
    return _averaged(counted, ["unit", "run", "key", *_CELL], _ANSWER, **counts)


@kept
def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per system, experiment, document and question with its averages over answers.

    Columns: `system`, `experiment`, `document`, `question`, `kind`, `category`, `source`, `silent`, `averaged`,
    `answers` and `scores` (how many it is a mean of) and `doubtful` (how many of these are in doubt). Sorted by the
    first four.
    """
    each = answers(frame)
    found = _averaged(each, _CELL, [], answers=1, scores=each["scores"], doubtful=each["doubtful"])
    return found.sort_values(_CELL, kind="stable", ignore_index=True)


def _averaged(rows: pd.DataFrame, by: list[str], also: list[str], **counts: Any) -> pd.DataFrame:
    """`averaged` and the sums of `counts` for each group of rows, with what its first row says about it."""
    # No row is lost for want of a key.
    places = rows.groupby(by, observed=True, sort=False, dropna=False).ngroup()
    once = ~places.duplicated()
    first = rows.loc[once, [*_CELL, *_ABOUT, *also]].set_axis(places[once])
    columns = averaged(rows)
    groups = rows[columns].assign(**counts).groupby(places.to_numpy(), sort=False)
    return first.join(groups[columns].mean()).join(groups[list(counts)].sum())


def by_document(found: pd.DataFrame) -> pd.DataFrame:
    """The cells that have a document and an M_all."""
    return found[(found["document"] != "") & found["m_all"].notna()]


def per_question(found: pd.DataFrame) -> pd.DataFrame:
    """One row per system, experiment and question: the means over documents.

    Columns: `system`, `experiment`, `question`, `kind`, `category`, `source`, `averaged`, `documents` (how many have
    an M_all of their own; 0 where only a published mean over documents is known) and `metric_documents` (the same of
    the metrics, the fewest where these differ), and `doubtful` and `metric_doubtful`: whether what these are means of
    holds scores in doubt. Each value comes from the cells of the documents; where any of these
    lacks it, from the published mean over documents, if there is one.
    """
    keys = ["system", "experiment", "question", "kind", "category", "source"]
    columns, metrics = averaged(found), metrics_of(found)
    alone = found["document"] != ""
    single = found[alone].groupby(keys, observed=True)
    means, known = single[columns].mean(), single[columns].count()
    doubts = single["doubtful"].sum() > 0
    if alone.all():  # as in every study of one's own
        merged, own = means.assign(documents=known["m_all"]), known[metrics]
        of_means: Any = False
    else:
        published = found[~alone].groupby(keys, observed=True)
        overall = published[columns].mean()
        of_all = means.where(known.eq(known["m_all"], axis=0))
        merged = of_all.combine_first(overall).combine_first(means)[columns]
        merged["documents"] = known["m_all"].reindex(merged.index, fill_value=0)
        # A value is a published mean where its documents don't have it, or not all of them.
        own = known.where(of_all.notna() | overall.reindex(known.index).isna()).reindex(merged.index)[metrics]
        doubts = doubts.reindex(merged.index, fill_value=False)
        of_means = (published["doubtful"].sum() > 0).reindex(merged.index, fill_value=False)
    own = own.fillna(0).where(merged[metrics].notna())
    merged["metric_documents"] = own.min(axis=1).fillna(0).astype("int64")
    for name, documents in (("doubtful", merged["documents"]), ("metric_doubtful", merged["metric_documents"])):
        merged[name] = doubts.where(documents > 0, of_means)
    return merged.reset_index()
