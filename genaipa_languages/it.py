"""Italian: recognised, and its outlines read; there are no rules for answers about its documents."""

from __future__ import annotations

from genaipa.languages.language import Language

_WORDS = """
alla anche che con dei del della delle di gli il nel nella nostra nostri nostro per possiamo sono suoi
"""

LANGUAGE = Language(
    code="it",
    name="Italian",
    also=("ita",),
    function_words=frozenset(_WORDS.split()),
    policy=lambda company: f"l'informativa sulla privacy di {company}",
    regulation=lambda title, name: f"{title} ({name})" if title else name,
    no_answer="(nessuna risposta)",
    not_said="Il documento non lo dice.",
    sections={
        "Article": "Articol[oi]",
        "Section": "Sezion[ei]",
        "Chapter": "Cap(?:o|itolo)",
        "Part": "Parte",
        "Title": "Titolo",
        "Annex": "Allegato",
    },
)
