"""The syntax trees of all files, kept as long as the house's tests run: a million objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from source import nodes, tree

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package", autouse=True)
def _trees() -> Iterator[None]:
    """Forget the trees at the end."""
    yield
    for kept in (nodes, tree):
        kept.cache_clear()
