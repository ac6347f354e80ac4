"""French."""

from __future__ import annotations

import re
import unicodedata

from genaipa.languages.language import Language, Search

# Names don't tell whether an h is mute; that of most companies is (d'Hermès, but de H&M).
_ELIDED = re.compile(r"h?[aeiou]")


def _policy(company: str) -> str:
    plain = unicodedata.normalize("NFKD", company[:2]).casefold()
    of = "d'" if _ELIDED.match(plain) else "de "
    return f"la politique de confidentialité {of}{company}"


def _regulation(title: str, name: str) -> str:
    return f"la réglementation {title} ({name})" if title else f"la réglementation {name}"


# Without words that are frequent in other languages, too: de, la, que, en, le, les, nos, ou, par, and Danish du.
_WORDS = """
afin au aux avec avons ces cette comme dans des est et leur lorsque mais notre nous ont pas peut pour pouvons qui sont
sur une vos votre vous être
"""

LANGUAGE = Language(
    code="fr",
    name="French",
    also=("fra", "fre"),
    function_words=frozenset(_WORDS.split()),
    policy=_policy,
    regulation=_regulation,
    no_answer="(pas de réponse)",
    not_said="Le document ne le dit pas.",
    search=Search(
        stop_words="STOPWORDS_FRENCH",
        asking=re.compile(
            r"aussi|comment|documents?|entreprises?|existe|genres?|jamais|peuvent|peut|politiques?|pourrait|quel(?:le)?s?"
            r"|sections?|sociétés?|sortes?|types?|utilisateurs?|utilisatrices?|utilise[rz]?|également"
        ),
        ending=re.compile(
            r"(?<=\w{4})(?:ations?|itions?|ions?|ements?|ment|ités?|ées?|és?|er|ez|ent|ants?|eurs?|ives?|ifs?|ales?|aux"
            r"|es|e|s)$"
        ),
        same={
            "inform": "donn",
            "données": "donn",
            "communiqu": "partag",
            "transm": "partag",
            "stock": "conserv",
            "supprim": "effac",
            "suppress": "effac",
        },
    ),
)
