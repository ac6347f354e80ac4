"""What every function of the room takes: values, weights and labels, as arrays of one length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int64]
    Flags = NDArray[np.bool_]


def as_values(values: Any) -> Floats:
    """Return the values as one row of floats; a `ValueError` for a table of them."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"values have {array.ndim} dimensions, not one")
    return array


def as_weights_or_ones(weights: Any, expected_length: int) -> Floats:
    """Return the weights of `expected_length` values, 1 where none are given; a `ValueError` where one is below 0."""
    array = np.ones(expected_length) if weights is None else as_values(weights)
    _check_array_length("weights", array, expected_length)
    if (array < 0).any():
        raise ValueError("a weight is below 0")
    return array


def as_labels(labels: Any, expected_length: int, least_label: int = 0) -> Labels:
    """Return the labels of `expected_length` values.

    A `ValueError` unless they are whole numbers from `least_label`.
    """
    array = np.asarray(labels)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"labels are whole numbers, not {array.dtype}")
    _check_array_length("labels", array, expected_length)
    if array.size and array.min() < least_label:
        raise ValueError(f"label {array.min()} is below {least_label}")
    return array.astype(np.int64)


def as_flags_or_all_true(flags: Any, expected_length: int) -> Flags:
    """Return the flags of `expected_length` values, all true where none are given."""
    array = np.ones(expected_length, dtype=bool) if flags is None else np.asarray(flags, dtype=bool)
    _check_array_length("flags", array, expected_length)
    return array


def renumber_labels(labels: Labels) -> Labels:
    """Return each label's place, from 0, among the different ones that are there."""
    return (np.cumsum(np.bincount(labels) > 0) - 1)[labels]


def _check_array_length(content_name: str, array: NDArray[Any], expected_length: int) -> None:
    if array.shape != (expected_length,):
        raise ValueError(f"{expected_length} values have {content_name} of shape {array.shape}")


def as_table_of_counts(counts: Any) -> Labels:
    """Return a table of counts (units, values) as whole numbers; a `ValueError` where one is below 0."""
    array = np.asarray(counts)
    if array.ndim != 2:  # noqa: PLR2004 - units and values
        raise ValueError(f"counts have {array.ndim} dimensions, not two")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"counts are whole numbers, not {array.dtype}")
    if array.size and array.min() < 0:
        raise ValueError(f"a count is {array.min()}, below 0")
    return array.astype(np.int64, copy=False)
