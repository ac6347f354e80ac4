"""German."""

from __future__ import annotations

import re

from genaipa.languages.language import Language, Search


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
    not_said="Das Dokument sagt dazu nichts.",
    search=Search(
        stop_words="STOPWORDS_GERMAN",
        asking=re.compile(
            r"abschnitte?n?|arten|auch|dokumente?s?|etwa|gibt|jemals|kann|könnte|(?:datenschutz)?(?:erklärung|richtlinien?)"
            r"|nutzt|nutze[nr]?[ns]?|nutzerinnen|nutzenden?|ob|sowie|unternehmens?|verwende[nt]|welche[nrs]?|wie|würde"
        ),
        ending=re.compile(r"(?<=\w{3})(?:ungen|ung|heiten|heit|keiten|keit|ern|en|em|er|es|e|s)$"),
        same={
            "information": "dat",
            "angab": "dat",
            "aufbewahr": "speicher",
            "weitergab": "weitergeb",
            "offenleg": "weitergeb",
        },
        compounds=True,
    ),
)
