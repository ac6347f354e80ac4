"""Errors of decoding JSON that comes from a disk or from other people."""

from __future__ import annotations

import msgspec

from genaipa.errors import clipped

DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""Exceptions raised for text that is not JSON, not UTF-8, nested too deep, of another shape, or with a huge number."""


def why(error: Exception) -> str:
    """Describe one of them, short enough for a sentence."""
    return "it is nested too deep" if isinstance(error, RecursionError) else clipped(str(error), 200)
