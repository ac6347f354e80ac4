"""How much the tests try, in three tiers; each has all that the one before it has.

`make test` has every promise once, in small. `make test-all` adds what needs a browser, a server's program, PostgreSQL,
LaTeX or published data, and tests of whole commands that a smaller test covers. `make soak` adds rates and endurance:
what is drawn, killed or changed many times.

KILLS = size(small=3, soak=200)     # how often, how many, how long
@pytest.mark.full                   # a test that `make test` leaves out
@pytest.mark.soak                   # a test that `make soak` alone runs
"""

from __future__ import annotations

import os
from typing import TypeVar

_T = TypeVar("_T")

TIERS = ("small", "full", "soak")
TIER = os.environ.get("GENAIPA_TESTS", TIERS[0])
"""The tier of this session, by GENAIPA_TESTS; the Makefile sets it."""
FULL = TIER != "small"
SOAK = TIER == "soak"


def size(*, small: _T, soak: _T) -> _T:
    """Return the size for this session's tier."""
    return soak if SOAK else small
