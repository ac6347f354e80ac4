"""The languages that genaipa knows, and which of them a text or a name is in."""

from __future__ import annotations

import functools
import re
from collections import Counter

from genaipa.languages import en
from genaipa.languages.detection import NAMES, detect_unsupported_language_code
from genaipa.languages.language import UNSPACED, Language, expression
from genaipa.plugins import load_entry_points_of_type

ENGLISH = en.LANGUAGE
ENTRY_POINTS = "genaipa.languages"
"""Entry points: code in ISO 639-1 of a language → its `Language`."""
LANGUAGES: dict[str, Language] = {ENGLISH.code: ENGLISH, **load_entry_points_of_type(ENTRY_POINTS, Language)}
"""By code."""

_LOOKED_AT = 20_000
"""Characters of a text that are looked at."""
_FEWEST = 30
"""Words below which a text tells nothing of its language."""
_SHARE = 0.08
"""Least share of function words: policies have about 0.25 in their own language, below 0.05 in any other."""
_LONGEST_SHORT = 12
"""Characters before a full stop that are looked at for an abbreviation."""
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+|[{UNSPACED}]")
_FIRST_BEHIND_LATIN = "\u0250"
_CODE = re.compile(r"(?!(?:und|mul|mis|zxx)$)[a-z]{2,3}")
"""Codes of ISO 639, but for the ones of no language."""


def language_code_or_empty(stated_language: str) -> str:
    """Return the code of a language that metadata or a page states, without its region (pt-BR is pt); else empty."""
    stated_code = stated_language.casefold().replace("_", "-").split("-")[0].strip()
    codes = (
        language.code
        for language in LANGUAGES.values()
        if stated_code in (language.code, language.name.casefold(), *language.also)
    )
    return next(codes, stated_code if _CODE.fullmatch(stated_code) else "")


@functools.lru_cache(maxsize=16)
def detect_language_code_or_empty(text: str, stated_language: str = "") -> str:
    """Return the code of a text's language, stated by its metadata or told by its function words; else empty.

    What is stated is taken by `language_code`. A text of fewer than 30 words in Latin script counts as English.
    """
    if code := language_code_or_empty(stated_language):
        return code
    often = Counter(_WORD.findall(text[:_LOOKED_AT].casefold()))
    if (words := often.total()) < _FEWEST:
        return ENGLISH.code if _is_in_latin_script(text) else ""
    shares = {
        code: sum(map(often.__getitem__, often.keys() & language.function_words)) / words
        for code, language in LANGUAGES.items()
    }
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _SHARE else ""


def _is_in_latin_script(text: str) -> bool:
    """Tell whether a text, or half of its letters, are in Latin script; it may have none."""
    if text.isascii():
        return True
    letters = [character for character in text[:_LOOKED_AT] if character.isalpha()]
    return 2 * sum(character < _FIRST_BEHIND_LATIN for character in letters) >= len(letters)


def language_to_read_reply(reply: str, document_language_code: str) -> Language | None:
    """Return the language by whose rules an answer about a document in a language is read; None if that is not known.

    It is the document's, or English for an answer that has more of its function words.
    """
    document_language = LANGUAGES.get(document_language_code)
    if document_language in (None, ENGLISH):
        return document_language
    words = _WORD.findall(reply.casefold())
    often = {
        language.code: sum(word in language.function_words for word in words)
        for language in (document_language, ENGLISH)
    }
    return ENGLISH if often[ENGLISH.code] > often[document_language.code] else document_language


def is_mark_end_of_sentence(
    text: str, mark_position: int, abbreviations_pattern: str, language: Language | None
) -> bool:
    """Tell whether the mark at a place ends a sentence: it belongs to no abbreviation and no ordinal number."""
    if text[mark_position] != ".":
        return True
    before = text[max(0, mark_position - _LONGEST_SHORT) : mark_position]
    if expression(rf"\b(?:{abbreviations_pattern})$").search(before):
        return False
    counts = language is not None and before[-1:].isdigit()
    return not (counts and language and expression(rf"\s+(?:{language.ordinal_of})\b").match(text, mark_position + 1))


def language_name(code: str) -> str:
    """Return a language for people: its name in English, its code where that is not known."""
    return LANGUAGES[code].name if code in LANGUAGES else NAMES.get(code, code)


def describe_stated_or_likely_language(text: str, code: str) -> str:
    """Return the language of a text by its code, which may be empty, in words for people: "seems to be Portuguese"."""
    if code:
        return language_name(code)
    seems = detect_unsupported_language_code(text)
    return f"seems to be {language_name(seems)}" if seems else "not recognised"


def variant_name_for_language(set_name: str, language_code: str) -> str:
    """Return the name of a variant of a question set, or of a set of prompts: policy-de; English has the name alone."""
    return set_name if language_code in ("", ENGLISH.code) else f"{set_name}-{language_code}"


def language_of_prompt_set_or_english(prompt_set_name: str) -> Language:
    """Return the language of a set of prompts by the end of its name; English for one that has none there."""
    return LANGUAGES.get(prompt_set_name.rpartition("-")[2], ENGLISH)
