"""Keep keys out of every message: what a provider says about a refused key often repeats it, whole or masked."""

from __future__ import annotations

import re

HIDDEN = "[key]"

_SHAPES = re.compile(
    r"""
      \b(?:sk|pk|rk|gsk|hf|xai|nvapi|pplx)[-_](?=[\w.*-]*[\d*])[\w.*-]{8,}  # prefixes that providers give their keys
    | \bAIza[\w*-]{8,}                                                     # Google's
    | (?<=\bBearer\ )\S+
    | (?<=[?&]key=)[^&\s'"]+
    | [\w.-]*\*{3,}[\w.*-]*                                                # masked with asterisks
    | \b(?=\w*\d)(?=\w*[A-Za-z])\w{32,}\b                                  # long letters and digits without a hyphen
    """,
    re.VERBOSE,
)
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")
_MASKS = ("*", "...", "…", "xxx")
_SHORTEST_SECRET = 8
_SHOWN_BY_MASKS = 3
"""Fewest characters of a key that a masked form of it begins or ends with."""


def redact(text: str, secret: str | None = None) -> str:
    """The text without anything that is, or looks like, a key; `secret` is a key that is known, of any shape."""
    if secret and len(secret) < _SHORTEST_SECRET:
        # So short a key may be part of any word; as a word of its own it is the key.
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    elif secret:
        text = text.replace(secret, HIDDEN)
        text = re.sub(r"[^\s'\"(),:]+", lambda word: _unless_masked(word[0], secret), text)
    return _SHAPES.sub(HIDDEN, _USER_IN_ADDRESS.sub("", text))


def _unless_masked(word: str, secret: str) -> str:
    """The word, or nothing of it where it is a masked form of the key, such as `abcd...wxyz`."""
    if not any(mask in word.lower() for mask in _MASKS):
        return word
    shows = word.startswith(secret[:_SHOWN_BY_MASKS]) or word.rstrip(".").endswith(secret[-_SHOWN_BY_MASKS:])
    return HIDDEN if shows else word
