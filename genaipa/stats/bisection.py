"""Where a function is 0, by bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def find_root(falling_function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that falls from `low` to `high` is 0, to the last digit.

    A function that jumps there is served, too. `scipy.optimize` does it as well, and takes longer to import than a
    report takes for all its roots.
    """
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if falling_function(middle) > 0 else (low, middle)
    return float(middle)
