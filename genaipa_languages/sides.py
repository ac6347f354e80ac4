"""The words by which answers take a side, in each language: yes or no, and by repeating or denying a question."""

from __future__ import annotations

from genaipa.languages.language import SideRules

GERMAN = SideRules(
    opening=(
        r"(?:laut|nach|gemäß|zufolge|auf\s+(?:grundlage|basis)|in\s+(?:abschnitt|teil|kapitel|kürze)|im|unter|kurz"
        r"|wie|aus)\b|(?:kurze\s+|die\s+)?antwort\b|(?:quelle|verweis|fundstelle|abschnitt|teil|kapitel|artikel)n?\b"
    ),
    open_question=(
        r"(?:und\s+)?(?:(?:in|an|zu|für|mit|von|bei|nach|auf|aus|unter|um|durch|seit|bis)\s+)?"
        r"(?:was|wie|welche[mnrs]?|wer|wem|wen|wessen|wo|wohin|woher|wann|warum|weshalb|wieso|wozu|wodurch|womit"
        r"|wofür|worauf|woran|inwie(?:weit|fern)|nenne|erkläre|beschreibe)\b"
    ),
    negation=r"\b(?:nicht|kein(?:e[mnrs]?)?|niemals|nie|weder|nirgends)\b",
    partly=(
        r"\b(?:aber|jedoch|doch|allerdings|obwohl|während|außer|nur|teilweise|zum\s+teil|manche[nrs]?|einige[nrs]?"
        r"|bestimmte[nrs]?|gewisse[nrs]?|eingeschränkt|in\s+der\s+regel|normalerweise|meist(?:ens)?|sofern)\b"
    ),
)

FRENCH = SideRules(
    opening=(
        r"(?:selon|d'après|conformément|en\s+(?:bref|résumé|vertu)|dans|sur\s+la\s+base|suivant|aux\s+termes)\b"
        r"|(?:la\s+)?réponse\b|(?:référence|source|section|partie|chapitre|article)s?\b"
    ),
    open_question=(
        r"(?:et\s+)?(?:(?:à|de|en|pour|par|avec|sur|dans|sous|depuis|jusqu'à)\s+)?"
        r"(?:quel(?:le)?s?|que(?!\s+la\b)|qu'(?!est-ce\s+qu)|quoi|comment|combien|qui|où|quand|pourquoi|lesquel(?:le)?s"
        r"|expliquez|décrivez)\b"
    ),
    negation=(
        r"(?:\bne\s|\bn')(?:[\w'-]+\s+){1,4}?(?:pas|jamais|plus|point|aucune?|rien|ni)\b|\bn(?:e\s|')(?:\w+\s+)?pas\b"
        r"|\baucune?\b"
    ),
    partly=(
        r"\b(?:mais|cependant|toutefois|néanmoins|bien\s+que|quoique|alors\s+que|tandis\s+que|sauf|seulement|uniquement"
        r"|certaine?s?|quelques|en\s+partie|partiellement|généralement|habituellement)\b|\bque\s+si\b"
    ),
)
