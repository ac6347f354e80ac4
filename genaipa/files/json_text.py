"""JSON as it comes from a disk or from other people: everything that may be wrong with it, told in a few words."""

from __future__ import annotations

import msgspec

DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""What decoding raises for what is no JSON, no text, nested too deep, too large a number, or of another shape."""
_LONGEST = 200


def why(error: Exception) -> str:
    """What one of these says, short enough for a sentence."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    said = str(error)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
