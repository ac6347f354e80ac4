"""The words by which answers in English take a side: yes or no, and by repeating or denying a question."""

from __future__ import annotations

from genaipa.languages.language import SideRules

ENGLISH = SideRules(
    opening=(
        r"(?:according|with\s+(?:regard|respect)|in\s+(?:regard|response|short|general|summary|section|part)|under"
        r"|based|as\s+(?:stated|described|per|for)|per|from|by|in)\b|(?:short\s+|final\s+|direct\s+)?answer\b"
        r"|the\s+(?:short\s+)?answer\s+is\b|(?:reference|source|summary|section|part|chapter|article|question)s?\b"
    ),
    open_question=(
        r"(?:and\s+|so\s+)?(?:(?:in|to|for|by|under|with|from|on|at|about|of|through)\s+)?"
        r"(?:what(?:'s)?|how|which|whom?|whose|where|when|why|tell|explain|describe|list)\b"
    ),
    negation=(
        r"\b(?:do(?:es)?|did|is|are|was|were|can|could|will|would|ha(?:s|ve|d)|may|might|should|must)"
        r"(?:\s+(?:\w+\s+)?not\b|n't\b)|\b(?:cannot|never|neither|none|no(?!\s+(?:longer|later|more|matter|doubt)))\b"
    ),
    partly=(
        r"\b(?:while|although|though|but|however|whereas|except|unless|only|some|certain|limited|partly|partially"
        r"|typically|generally|usually|many\s+companies)\b"
    ),
)
