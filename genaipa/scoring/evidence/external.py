"""Decide whether a citation refers to an external text: another law, or a summary.

"Article 33 of the GDPR" isn't missing from a policy. Where the document itself is that law, its articles are inside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from genaipa.scoring.evidence.text_index import fold

if TYPE_CHECKING:
    from genaipa.policies.document import Document

Outside = Literal["", "another law", "a summary", "perhaps another text"]
"""External text of a reference; "" for the document itself."""

_NEAR = 120  # characters before a reference that are looked at

# --- Summaries -----------------------------------------------------------------------------------------------------

_SUMMARY_BEFORE = re.compile(r"summary(?:[ \t]*[,:]?[ \t]*|[ \t]+of[ \t]+)$", re.IGNORECASE)
_SUMMARY_BEHIND = re.compile(
    r"[ \t]+(?:(?:of|in|from)[ \t]+(?:the|my|your|this|its|our)[ \t]+(?:\w+[ \t]+){0,2})?summary\b", re.IGNORECASE
)

# --- Laws ----------------------------------------------------------------------------------------------------------

_SHORT = (
    r"(?:(?:UK|EU)[ -])?(?:GDPR|DSGVO|RGPD|CCPA|CPRA|LGPD|HIPAA|COPPA|PIPEDA|FERPA|GLBA|VCDPA|PDPA|PIPL|APPI|POPIA|DPA"
    r"|ECPA|TCPA|FCRA|DMCA|U\.?S\.?C\b\.?)"
)
# "the Communications Decency Act", "Directive 95/46/EC", "the law"; not "Law Enforcement" or "a Code of Conduct".
_NAMED = (
    r"(?:(?:Regulation|Directive)[ \t]+(?:\([A-Z]{2,3}\)[ \t]+)?(?:No\.?[ \t]+)?\d+/\d+"
    r"|(?:(?:(?!Polic|Notice|Statement)[A-Z][\w.'\u2019&-]*|and|of|on|for|&)[ \t]+){0,9}?"
    r"(?:Act|Law|Regulation|Directive|Code|Charter|Convention|Constitution|Treaty|Statute|Ordinance"
    r"|(?<=[Tt]he )(?:act|law|regulation|directive|statute)))\b"
)
# A section about a law is not of the law.
_LAW = (
    rf"(?P<law>{_SHORT}|{_NAMED})(?![\w-])"
    r"(?![ \t]+(?i:enforcement|of[ \t]+conduct|(?:\w+[ \t]+)?(?:section|part|notice|polic|addendum|heading)))"
)
# What is below an article, as in "Art. 6 para. 1 lit. f GDPR".
_BELOW = (
    r"(?:,?[ \t]+(?:para(?:graph)?s?|subparagraph|points?|lit|letter|sentence|no)\b\.?[ \t]*\(?[a-z\d]{1,3}\b\)?){0,4}"
)
_OF_LAW = re.compile(rf"{_BELOW},?[ \t]+(?:of|in|under)[ \t]+(?:(?:the|this|that)[ \t]+)?{_LAW}")
_LAW_NEXT = re.compile(rf"{_BELOW},?[ \t]+(?P<law>{_SHORT})(?!\w)")
_LAW_BEFORE = re.compile(
    rf"(?<![\w-]){_LAW}(?:['\u2019]s)?(?:[ \t]*\([^()\n]{{1,40}}\))?"
    r"(?P<apart>[,:]?[ \t]+\(|[,:])?[ \t]*(?:(?:in|under|see)[ \t]+)?$"
)
# By which names one law goes.
_SAME = (
    r"gdpr|dsgvo|rgpd|general data protection regulation|2016/679",
    r"ccpa|cpra|california consumer privacy act|california privacy rights act|civ(?:il|\.) code",
)

# --- Words for a document's parts ----------------------------------------------------------------------------------

# Words for sections of any document.
_ANY = re.compile(r"(?:sub-?)?sect?(?:ion)?s?\.?$|parts?$|$", re.IGNORECASE)
HERE = re.compile(
    r"[ \t]*,?[ \t]*(?:of|in|from|within)[ \t]+(?:the|this|its|their)?[ \t]*[\w' \u2019-]{0,40}?"
    r"\b(?:polic(?:y|ies)|notice|document|statement|text|part|regulation)\b",
    re.IGNORECASE,
)
"""Follows a section that is said to be the document's."""
# "See" isn't among these, as it points anywhere.
_HERE_BEFORE = re.compile(
    r"\b(?:(?:polic(?:y|ies)|notice|statement|references?|source)(?:['\u2019]s)?[\s,:*(\[]*"
    r"|(?:polic(?:y|ies)|notice|statement)[ \t]+(?:\w+[ \t]+){0,2}in[ \t]+)$",
    re.IGNORECASE,
)


def outside(reply: str, start: int, end: int, word: str, document: Document) -> Outside:
    """The external text, if any, that the citation at `reply[start:end]`, by `word` and a number, refers to.

    "perhaps another text" is external unless the document has the section.
    """
    before = reply[max(0, start - _NEAR) : start]
    summary = _SUMMARY_BEFORE.search(before) or _SUMMARY_BEHIND.match(reply, end)
    if summary or word.lower().startswith("summary"):
        return "a summary"
    part = word.lower().startswith("part")
    behind = _OF_LAW.match(reply, end) or (None if part else _LAW_NEXT.match(reply, end))
    law = behind or (None if part else _LAW_BEFORE.search(before))
    usual = _is_used(word, document)
    if law:
        # "It complies with the GDPR (Section 7)" may go on with the policy.
        apart = not behind and law.group("apart") and usual
        return "" if _is_this(law.group("law"), document) else "perhaps another text" if apart else "another law"
    ours = usual or HERE.match(reply, end) or _HERE_BEFORE.search(before)
    return "" if ours else "perhaps another text"


def _is_this(law: str, document: Document) -> bool:
    """Whether the document is the law of that name; "the Act" is, in an answer about one."""
    if document.kind != "regulation":
        return False
    said, known = fold(law), fold(f"{document.company} {document.about.title} {document.name}")
    if said in {"act", "law", "regulation", "directive", "statute", "code"}:
        return True
    return any(re.search(rf"\b(?:{name})", said) and re.search(name, known) for name in (*_SAME, re.escape(said)))


def _is_used(word: str, document: Document) -> bool:
    """Whether a section of the document may be called so; a "Schedule" only if it has one."""
    inner = word.rpartition(" ")[2]
    if _ANY.match(inner):
        return True
    if inner.startswith("\u00a7"):
        return "\u00a7" in document.text
    stem = inner.lower().rstrip(".").removesuffix("s")
    return any(section.number.lower().startswith(stem) for section in document.sections)
