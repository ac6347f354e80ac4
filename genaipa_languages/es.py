"""Spanish: recognised, and its outlines read; there are no rules for answers about its documents."""

from __future__ import annotations

from genaipa.languages.language import Language

_WORDS = """
al como con cuando del el ella esta este estos los más nuestra nuestro nuestros puede según su sus usted y
"""

LANGUAGE = Language(
    code="es",
    name="Spanish",
    also=("spa",),
    function_words=frozenset(_WORDS.split()),
    policy=lambda company: f"la política de privacidad de {company}",
    regulation=lambda title, name: f"{title} ({name})" if title else name,
    no_answer="(sin respuesta)",
    not_said="El documento no lo dice.",
    sections={
        "Article": "Artículo",
        "Section": "Sección",
        "Chapter": "Capítulo",
        "Title": "Título",
        "Annex": "Anexo",
    },
)
