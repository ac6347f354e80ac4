"""Keep keys out of every message and every file: what a provider says about a refused key often repeats it.

Everything here takes time in proportion to the text, whoever wrote it: no pattern goes back over what it has passed.
"""

from __future__ import annotations

import os
import re

from genaipa.systems.provider import providers

HIDDEN = "[key]"

_WORD = re.compile(r"[\w.*-]+")
_PREFIX = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|nvapi|pplx)[-_]")
"""What providers begin their keys with."""
_GOOGLE = re.compile(r"\bAIza[\w*-]{8,}")
_LONG = re.compile(r"\w{32,}")
_ANNOUNCED = re.compile(r"(?<=\bBearer )\S+|(?<=[?&]key=)[^&\s'\"]+")
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")
_MASKS = ("*", "...", "…", "xxx")
_SHORTEST_SECRET = 8
_SHORTEST_KEY = 16
"""Characters from which on a known key is masked wherever it stands; `none` or `not-needed` may be any word."""
_SHOWN_BY_MASKS = 3
"""Fewest characters of a key that a masked form of it begins or ends with."""
_AFTER_PREFIX = 8
"""Fewest characters of a key behind its prefix."""


def redact(text: str, secret: str | None = None) -> str:
    """The text without anything that is, or looks like, a key; `secret` is a key that is known, of any shape."""
    if secret and len(secret) < _SHORTEST_SECRET:
        # So short a key may be part of any word; as a word of its own it is the key.
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    elif secret:
        text = text.replace(secret, HIDDEN)
        text = re.sub(r"[^\s'\"(),:]+", lambda word: _unless_masked(word[0], secret), text)
    text = _ANNOUNCED.sub(HIDDEN, _USER_IN_ADDRESS.sub("", text))
    return _WORD.sub(lambda word: _unless_key(word[0]), text)


def known_keys() -> tuple[str, ...]:
    """The keys in the environment that are long enough to be nothing else, the longest first.

    They are those in variables called `…_API_KEY`, and whatever else the providers name.
    """
    named = {key for provider in providers() for key in provider.keys}
    values = {v.strip() for name, v in os.environ.items() if name.upper().endswith("_API_KEY") or name in named}
    return tuple(sorted((value for value in values if len(value) >= _SHORTEST_KEY), key=len, reverse=True))


def mask(text: str, keys: tuple[str, ...]) -> str:
    """The text with every one of these keys hidden, and otherwise as it is."""
    for key in keys:
        text = text.replace(key, HIDDEN)
    return text


def _unless_masked(word: str, secret: str) -> str:
    """The word, or nothing of it where it is a masked form of the key, such as `abcd...wxyz`."""
    if not any(mask in word.lower() for mask in _MASKS):
        return word
    shows = word.startswith(secret[:_SHOWN_BY_MASKS]) or word.rstrip(".").endswith(secret[-_SHOWN_BY_MASKS:])
    return HIDDEN if shows else word


def _unless_key(word: str) -> str:
    """The word without what has the shape of a key: letters, digits and `_ . * -` that stand together."""
    if "***" in word:  # masked
        return HIDDEN
    found = _PREFIX.search(word)
    if found is not None:
        rest = word[found.end() :]
        if len(rest) >= _AFTER_PREFIX and any(c.isdigit() or c == "*" for c in rest):
            return word[: found.start()] + HIDDEN
    return _LONG.sub(lambda run: _unless_mixed(run[0]), _GOOGLE.sub(HIDDEN, word))


def _unless_mixed(run: str) -> str:
    """A long run without a hyphen, unless it mixes letters and digits, which no word does."""
    return HIDDEN if any(c.isdigit() for c in run) and any(c.isascii() and c.isalpha() for c in run) else run
