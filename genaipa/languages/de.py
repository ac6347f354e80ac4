"""German."""

from __future__ import annotations

from genaipa.languages.language import Language


def _policy(company: str) -> str:
    return f"die Datenschutzerklärung von {company}"


def _regulation(title: str, name: str) -> str:
    # Short names differ in gender (die DSGVO, das BDSG), and titles as well.
    return f"die Regelung {title} ({name})" if title else f"die Regelung {name}"


# Without words that are as frequent in Dutch or in the Scandinavian languages: in, is, den, der, die, en.
_WORDS = """
auf bei dass durch ein eine einer für haben ihre ihren ihrer im ist mit nach nicht oder sich sie sind soweit über und
uns unsere unserer vom von werden wir wird zu zum zur
"""

LANGUAGE = Language(
    code="de",
    name="German",
    also=("deu", "ger"),
    function_words=frozenset(_WORDS.split()),
    policy=_policy,
    regulation=_regulation,
    no_answer="(keine Antwort)",
)
