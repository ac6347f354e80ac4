"""How much replies to the same questions changed between two days, with an interval and a p value."""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genaipa.stats.arrays import as_flags_or_all_true, as_labels, as_values, renumber_labels
from genaipa.stats.intervals import estimate_mean
from genaipa.stats.permutation import exact_p_value, permute_reply_values, permute_texts_to_test_likeness_loss
from genaipa.stats.shares import share_difference_interval
from genaipa.stats.tests import wilcoxon_signed_rank_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.stats.arrays import Flags, Floats, Labels
    from genaipa.stats.permutation import PermutationDistribution


class ReplyChange(NamedTuple):
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


def estimate_reply_change(
    reply_values: Any,
    cell_labels: Any,
    is_later: Any,
    question_labels: Any,
    document_labels: Any,
    *,
    is_share: bool = False,
    text_labels: Any = None,
    largest_change: float = inf,
) -> ReplyChange:
    """Estimate the change of replies, each with its cell: what was asked in the same way of the same document.

    All columns have one length, and the labels are whole numbers from 0; `is_later` tells which replies are of the
    later day. A share (`is_share`) has values from 0 to 1: its replies are what varies, and p is by every deal of a
    cell's replies to the days. With `text_labels`, labels of replies that are alike, the deals are of these, as the
    values are the share of replies that are equal to others of the first day. Any other mean varies by question: p is
    that of its interval, or Wilcoxon's where all questions changed alike. `largest_change` is the largest change on its
    scale.

    >>> cells = [0, 0, 1, 1, 2, 2]
    >>> change = estimate_reply_change([0, 1, 0, 1, 0, 1], cells, [0, 1] * 3, cells, [0] * 6, is_share=True)
    >>> change.first, change.later, change.difference, change.p
    (0.0, 1.0, 1.0, 0.25)
    """
    value, size = as_values(reply_values), len(reply_values)
    cell, question, document = (as_labels(labels, size) for labels in (cell_labels, question_labels, document_labels))
    late = as_flags_or_all_true(is_later, size)
    number = int(cell.max(initial=-1)) + 1
    on_both = (np.bincount(cell[~late], minlength=number) > 0) & (np.bincount(cell[late], minlength=number) > 0)
    order = np.flatnonzero(on_both[cell] & ~np.isnan(value))
    if not len(order):
        return ReplyChange(0)
    order = order[np.argsort(cell[order], kind="stable")]
    value, late, cell = value[order], late[order], renumber_labels(cell[order])
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    question, document = renumber_labels(question[order][begins]), document[order][begins]
    before, after = (_average_by_group(value[side], cell[side]) for side in (~late, late))
    first, second = _average_by_group(before, question), _average_by_group(after, question)
    change = ReplyChange(len(first), float(first.mean()), float(second.mean()))
    if is_share:
        # As in the test, it is the replies that vary, cell by cell.
        unit_weights = np.ones(len(before))
        low, high = share_difference_interval((after, unit_weights), (before, unit_weights))
        p = exact_p_value(
            _permute_replies_within_cells(
                value, late, begins, None if text_labels is None else np.asarray(text_labels)[order]
            )
        )
        return change._replace(difference=float((second - first).mean()), low=low, high=high, p=p)
    mean = estimate_mean(after - before, question, document, limits=(-largest_change, largest_change))
    # Where all questions moved alike there is no spread for a t test.
    p = wilcoxon_signed_rank_test(second - first).p if isnan(mean.p) else mean.p
    return change._replace(difference=mean.mean, low=mean.low, high=mean.high, p=p)


def _average_by_group(values: Floats, group_labels: Labels) -> Floats:
    means: Floats = np.bincount(group_labels, values) / np.bincount(group_labels)
    return means


def _permute_replies_within_cells(
    values: Floats, is_late: Flags, cell_starts: Labels, text_labels: Any
) -> Iterator[PermutationDistribution]:
    """Deal each cell's replies to the days, but for those that are all alike."""
    replies, deal = (
        (values, permute_reply_values) if text_labels is None else (text_labels, permute_texts_to_test_likeness_loss)
    )
    for replies_before, after in zip(
        *(np.split(column, cell_starts[1:]) for column in (replies, is_late)), strict=True
    ):
        if (replies_before != replies_before[0]).any():
            yield deal(list(replies_before[~after]), list(replies_before[after]))
