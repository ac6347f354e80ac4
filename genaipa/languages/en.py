"""English."""

from __future__ import annotations

from genaipa.languages.language import Language


def _policy(company: str) -> str:
    return f"the privacy policy of {company}"


def _regulation(title: str, name: str) -> str:
    return f"the {title} ({name})" if title else f"the {name}"


LANGUAGE = Language(
    code="en",
    name="English",
    also=("eng",),
    function_words=frozenset(
        ("the", "and", "of", "to", "that", "your", "you", "our", "with", "this", "are", "we", "not", "may", "by", "or")
    ),
    policy=_policy,
    regulation=_regulation,
    no_answer="(no answer)",
)
