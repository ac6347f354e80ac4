"""English."""

from __future__ import annotations

import re

from genaipa.languages.language import Language, Search


def _policy(company: str) -> str:
    return f"the privacy policy of {company}"


def _regulation(title: str, name: str) -> str:
    return f"the {title} ({name})" if title else f"the {name}"


# Cut off where four letters are left before it, a plural's "s" where three are.
_ENDING = re.compile(
    r"(?<=\w{4})(?:i[sz](?:ations?|ed?|es|ing)|ations?|ements?|iances?|iant|ions?|ings?|it(?:y|ies)|ous(?:ly)?|i?ally|al"
    r"|ely|(?<!p)ly|ers?|ie[ds]|e[ds]?|y)$"
    r"|(?<=\w\w[^su])s$"
)

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
    search=Search(
        stop_words="STOPWORDS_EN_PLUS",
        asking=re.compile(
            r"also|company|could|document|even|ever|kinds?|may|might|must|polic(?:y|ies)|sections?|shall|sorts?|types?|us"
            r"|use[ds]?|users?|using|well|whether|would"
        ),
        ending=_ENDING,
        # Policies use these for one another all the time: without them "my data" would miss "information about you".
        same={
            "inform": "data",
            "disclos": "shar",
            "stor": "keep",
            "storag": "keep",
            "retain": "keep",
            "retent": "keep",
            "kept": "keep",
            "eras": "delet",
            "erasur": "delet",
        },
    ),
)
