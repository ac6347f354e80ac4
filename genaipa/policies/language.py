"""Whether a text is in English, for which alone the rules on silence, citations and reading levels are made."""

from __future__ import annotations

import re

_LOOKED_AT = 20_000
"""Characters of a text that are looked at."""
_FEWEST = 30
"""Words below which a text tells nothing of its language."""
_SHARE = 0.08
"""Least share of English function words; English policies have about 0.25, other languages below 0.03."""
_FUNCTION_WORDS = frozenset(
    ("the", "and", "of", "to", "that", "your", "you", "our", "with", "this", "are", "we", "not", "may", "by", "or")
)
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str, stated: str = "") -> bool:
    """Say whether a text is in English: as its metadata state, else by its function words; short ones count as such."""
    if stated:
        return stated.casefold().split("-")[0] in ("en", "eng", "english")
    words = _WORD.findall(text[:_LOOKED_AT].casefold())
    return len(words) < _FEWEST or sum(word in _FUNCTION_WORDS for word in words) >= _SHARE * len(words)
