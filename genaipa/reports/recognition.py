"""How well the rules of a language recognise what a rate counts, as a sentence beside the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

Rule = Literal["silence", "citations"]
_FOUND: dict[Rule, str] = {"silence": "claims of silence", "citations": "citations of sections"}


def document_language_codes_or_english(rows: pd.DataFrame, code_by_document: Mapping[str, str] | None) -> set[str]:
    """Return the codes of the languages of the documents of these rows, by `code_by_document` (name → code)."""
    return {(code_by_document or {}).get(name, ENGLISH.code) for name in rows["document"].unique()}


def describe_rule_accuracy(rule: Rule, language_codes: Iterable[str]) -> str:
    """Say how many of 100 the rules recognise in documents' languages (codes), and where nobody has measured that."""
    spoken = sorted(
        (language for code in set(language_codes) if (language := LANGUAGES.get(code))),
        key=lambda known_language: known_language.name,
    )
    measured = [
        (known_language.name, *known_language.measured[rule])
        for known_language in spoken
        if rule in known_language.measured
    ]
    unknown = [
        known_language.name
        for known_language in spoken
        if rule not in known_language.measured and getattr(known_language, rule)
    ]
    sentences = [
        f"The rules recognise {int(100 * recall + 1e-9)} of 100 newly written {_FOUND[rule]} in {name}; of 100 that "
        f"they find, {int(100 * precision + 1e-9)} are correct. "
        for name, precision, recall in measured
    ]
    if unknown:
        sentences.append(
            f"Rates about documents in {join_names(unknown)} are estimates: nobody has measured the rules for them. "
        )
    return "".join(sentences)
