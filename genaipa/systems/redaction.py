"""Keep keys out of messages and files: a provider's error about a refused key often repeats it.

Every pattern runs in linear time, since providers and servers choose the text.
"""

from __future__ import annotations

import os
import re

from genaipa.systems.provider import providers

HIDDEN = "[key]"

_WORD = re.compile(r"[\w.*-]+")
_PREFIX = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|nvapi|pplx)[-_]")
"""Prefixes of providers' keys."""
_GOOGLE = re.compile(r"\bAIza[\w*-]{8,}")
_LONG = re.compile(r"\w{32,}")
_ANNOUNCED = re.compile(r"(?<=\bBearer )\S+|(?<=[?&]key=)[^&\s'\"]+")
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")
_MASKS = ("*", "...", "…", "xxx")
_SHORTEST_SECRET = 8
_SHORTEST_KEY = 16
"""Length from which a known key is masked anywhere; `none` or `not-needed` may be ordinary words."""
_SHOWN_BY_MASKS = 3
"""Characters of a key shown at either end of its masked form."""
_AFTER_PREFIX = 8
"""Minimum length of a key after its prefix."""


def redact(text: str, secret: str | None = None) -> str:
    """Remove everything that is or looks like a key; `secret` is a known key of any shape."""
    if secret and len(secret) < _SHORTEST_SECRET:
        # So short a key may be part of any word; as a word of its own it is the key.
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    elif secret:
        text = text.replace(secret, HIDDEN)
        text = re.sub(r"[^\s'\"(),:]+", lambda word: _unless_masked(word[0], secret), text)
    text = _ANNOUNCED.sub(HIDDEN, _USER_IN_ADDRESS.sub("", text))
    return _WORD.sub(lambda word: _unless_key(word[0]), text)


def known_keys() -> tuple[str, ...]:
    """Keys in the environment, longest first: variables named `…_API_KEY` or by a provider's record.

    Shorter values than a key's are left out, as they may be ordinary words.
    """
    named = {key for provider in providers() for key in provider.keys}
    values = {v.strip() for name, v in os.environ.items() if name.upper().endswith("_API_KEY") or name in named}
    return tuple(sorted((value for value in values if len(value) >= _SHORTEST_KEY), key=len, reverse=True))


def mask(text: str, keys: tuple[str, ...]) -> str:
    """Hide these keys in a text."""
    for key in keys:
        text = text.replace(key, HIDDEN)
    return text


def _unless_masked(word: str, secret: str) -> str:
    """Hide a masked form of the key, such as `abcd...wxyz`."""
    if not any(mask in word.lower() for mask in _MASKS):
        return word
    shows = word.startswith(secret[:_SHOWN_BY_MASKS]) or word.rstrip(".").endswith(secret[-_SHOWN_BY_MASKS:])
    return HIDDEN if shows else word


def _unless_key(word: str) -> str:
    """Hide a run of letters, digits and `_ . * -` with the shape of a key."""
    if "***" in word:  # masked
        return HIDDEN
    found = _PREFIX.search(word)
    if found is not None:
        rest = word[found.end() :]
        if len(rest) >= _AFTER_PREFIX and any(c.isdigit() or c == "*" for c in rest):
            return word[: found.start()] + HIDDEN
    return _LONG.sub(lambda run: _unless_mixed(run[0]), _GOOGLE.sub(HIDDEN, word))


def _unless_mixed(run: str) -> str:
    """Hide a long run without a hyphen that mixes letters and digits, as no word does."""
    return HIDDEN if any(c.isdigit() for c in run) and any(c.isascii() and c.isalpha() for c in run) else run
