"""How much replies to the same questions changed between two days, with an interval and a p value."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_flags, as_labels, as_values, rank_labels
from genaipa.stats.intervals import estimate_mean
from genaipa.stats.permutation import exact_p, permute_reply_texts, permute_reply_values
from genaipa.stats.shares import difference_interval
from genaipa.stats.tests import wilcoxon_signed_rank_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.stats.arrays import Flags, Floats, Labels
    from genaipa.stats.permutation import Deals


class Change(NamedTuple):
    """The change of a mean over questions from the first day to the later; NaN where there is none.

    `first` and `later` are the means on the days, of the cells that were asked on both.
    """

    questions: int
    first: float = np.nan
    later: float = np.nan
    difference: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan


def estimate_change(
    values: Any, cells: Any, later: Any, questions: Any, documents: Any, *, share: bool = False, words: Any = None
) -> Change:
    """Estimate the change of replies, each with its cell: what was asked in the same way of the same document.

    All columns have one length, and the labels are whole numbers from 0; `later` tells which replies are of the later
    day. A `share` has values from 0 to 1: its replies are what varies, and p is by every deal of a cell's replies to
    the days (`permutation`). With `words`, labels of replies that are alike, the deals are of these, as the values are
    the share of replies that are equal to others of the first day. Any other mean varies by question: p is that of its
    interval, or Wilcoxon's where all questions changed alike.

    >>> cells = [0, 0, 1, 1, 2, 2]
    >>> change = estimate_change([0, 1, 0, 1, 0, 1], cells, [0, 1] * 3, cells, [0] * 6, share=True)
    >>> change.first, change.later, change.difference, change.p
    (0.0, 1.0, 1.0, 0.25)
    """
    value, size = as_values(values), len(values)
    cell, question, document = (as_labels(labels, size) for labels in (cells, questions, documents))
    late = as_flags(later, size)
    number = int(cell.max(initial=-1)) + 1
    on_both = (np.bincount(cell[~late], minlength=number) > 0) & (np.bincount(cell[late], minlength=number) > 0)
    order = np.flatnonzero(on_both[cell] & ~np.isnan(value))
    if not len(order):
        return Change(0)
    order = order[np.argsort(cell[order], kind="stable")]
    value, late, cell = value[order], late[order], rank_labels(cell[order])
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    question, document = rank_labels(question[order][begins]), document[order][begins]
    before, after = (_average_questions(value[side], cell[side]) for side in (~late, late))
    first, second = _average_questions(before, question), _average_questions(after, question)
    change = Change(len(first), float(first.mean()), float(second.mean()))
    if share:
        # As in the test, it is the replies that vary, cell by cell.
        unit_weights = np.ones(len(before))
        low, high = difference_interval((after, unit_weights), (before, unit_weights))
        p = exact_p(_deal_replies_of_cells(value, late, begins, None if words is None else np.asarray(words)[order]))
        return change._replace(difference=float((second - first).mean()), low=low, high=high, p=p)
    mean = estimate_mean(after - before, question, document)
    # Where all questions moved alike there is no spread for a t test.
    p = wilcoxon_signed_rank_test(second - first).p if isnan(mean.p) else mean.p
    return change._replace(difference=mean.mean, low=mean.low, high=mean.high, p=p)


def _average_questions(values: Floats, groups: Labels) -> Floats:
    means: Floats = np.bincount(groups, values) / np.bincount(groups)
    return means


def _deal_replies_of_cells(values: Floats, late: Flags, begins: Labels, words: Any) -> Iterator[Deals]:
    """Deal each cell's replies to the days, but for those that are all alike."""
    replies, deal = (values, permute_reply_values) if words is None else (words, permute_reply_texts)
    for replies_before, after in zip(*(np.split(column, begins[1:]) for column in (replies, late)), strict=True):
        if (replies_before != replies_before[0]).any():
            yield deal(list(replies_before[~after]), list(replies_before[after]))
