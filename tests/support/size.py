"""How much the tests try: everything in small for `make test`, at full size for `make test-all`.

KILLS = size(small=3, full=25)      # how often, how many, how long
@pytest.mark.full                   # a whole test that only `make test-all` runs
"""

from __future__ import annotations

import os
from typing import TypeVar

_T = TypeVar("_T")

FULL = os.environ.get("GENAIPA_TESTS", "small") == "full"
"""Whether the tests run at full size; `make test-all` sets GENAIPA_TESTS=full."""


def size(*, small: _T, full: _T) -> _T:
    """The one of the two that this session takes."""
    return full if FULL else small
