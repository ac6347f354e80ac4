"""Find citations in an answer: numbers with their word, title and part, and headings.

"(Part 2, Section 2.3: "Retention")" is one citation, "Articles 12-14" another; "Sections 3.1 and 3.2" are two.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from genaipa.scoring.evidence.quotations import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.policies.document import Document


Span = tuple[int, int]

_MOST = 1000  # numbers of one answer that are looked at

# --- Numbers -------------------------------------------------------------------------------------------------------

_ROMAN = r"(?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{0,3}|I{1,3})"
# 12, 2.3, 12a, 5E, 1798.105; IV, IV.B, "IV. B"; B, B.2; and what is below it: (1)(a).
_NUMBER = (
    r"(?:(?:\d{1,6}(?:\.\d{1,6}){0,6}(?:\.?[A-Z]|[a-z])?"
    rf"|{_ROMAN}(?:\.(?:\d{{1,3}}|[A-Z])|\. [A-Z](?=[,;)\]])){{0,3}}"
    r"|[A-Z](?:\.\d{1,3}){0,3})(?![\w'\u2019]|-[A-Za-z]{2}|\.\d))"
    r"(?:\s?\((?:\d{1,2}|[a-z]|[ivx]{1,4}|[A-Z])\))*"
)
_WORD = (
    r"(?:(?i:sub-?sections?|sections?|sec\.|sect\.|parts?|articles?|arts?\.|recitals?)|Sec|Art"
    r"|(?:[Cc]hapter|[Cc]lause)s?|Schedule|Appendix|Annex|Title|[Ss]ummary(?:[ \t]+[Pp]oints?)?|\u00a7{1,2})"
)
# A body of the EU goes by the article that it was founded on.
_BODY = r"(?![ \t]+(?:Data[ \t]+Protection[ \t]+)?Working[ \t]+(?:Party|Group)\b)"
_CITED = re.compile(rf"(?<![\w/-])(?P<word>{_WORD})[ \t\u00a0*_]{{0,4}}(?P<number>{_NUMBER}){_BODY}")
# Behind "ChatGPT:" or in brackets: "(ChatGPT: P6)".
_SHORT = re.compile(r"(?<=[(\[:,;])\s{0,3}(?P<part>P(?P<number>\d{1,2}))(?=\s*[)\],;])")
# "(IV. Choice and transparency, A. Privacy settings)": numbers without a word, where a bracket begins or goes on.
_BARE = re.compile(
    rf"(?:(?<=[(\[])|(?<=, )|(?<=; ))(?P<number>{_ROMAN}|[A-Z])\.[ \t]+(?P<title>[A-Z][^\n,;()\[\]]{{2,80}})(?=[,;)\]])"
)
# "(9.2)", "[^9.2^]", "(see 9.2, 9.3)": a number alone, of several steps, which counts only where the document has it.
_BRACKETED = re.compile(
    r"(?<=[(\[])\^?(?:(?:see|cf\.?|in)[ \t]+)?(?P<number>\d{1,3}(?:\.\d{1,3}){1,5})(?=\^?[ \t]*[,;:)\]])"
)
# How a list goes on: "Parts 3 & 4", "Articles 12-14", "[Part 1: 1.1, 1.2]".
_MORE = re.compile(
    r"(?P<joint>[ \t]*(?:,[ \t]*(?:(?:and|or|&)[ \t])?|;[ \t]*|&[ \t]*|:[ \t](?=\d+(?:\.\d+)*[,;)\]]|\d+\.\d)"
    rf"|\b(?:and|or|to|through|until)[ \t]+|[-\u2013\u2014][ \t]*))(?P<number>{_NUMBER})"
)
_RANGE = re.compile(r"[-\u2013\u2014]|\bto\b|\bthrough\b|\buntil\b")
# Behind a number that goes on from a comma: else "in Part 3, 30 days" would name a Part 30.
_LISTED = re.compile(r"[ \t]*(?:$|[\n.,;:)\]}&*_\"\u201d\u2020^-]|(?:and|or)\b)", re.MULTILINE)
# Behind a number that goes on from "and".
_UNIT = re.compile(
    r"[ \t]+(?:other|more|million|percent|hours?|days?|weeks?|months?|years?|users?|people)\b|[ \t]?%", re.IGNORECASE
)

_WORDLESS = re.compile(_NUMBER)
_LIST = re.compile(r"[ \t]*(?:[,;&\u2013-]|(?:,[ \t]*)?\b(?:and|or)\b)[ \t]*")

# Between "Part 2" and "Section 2.3", between two sections in one part, between "Section 2.3" and "Part 2".
_OF_POLICY = r"(?:[ \t]+of[ \t]+(?:the|this|its|your|my)[ \t]+[\w' \u2019-]{1,50}?)?"
_INTO = re.compile(rf"{_OF_POLICY}[ \t]*[,:(\u2013-]?[ \t]*(?:(?:in|under|at|the|specifically)[ \t]+)*")
_ALSO = re.compile(r"[ \t]*(?:,|and|&|,[ \t]*and)[ \t]*")
_FROM = re.compile(r"[\"\u201d]?[ \t]*(?:sections?[ \t]+)?(?:of|in|from|within)[ \t]+(?:the[ \t]+)?")
_HIGHER = re.compile(r"parts?$|chapters?$", re.IGNORECASE)

# --- Titles --------------------------------------------------------------------------------------------------------

# A title behind a number: quoted, or plain up to the end of the line or bracket.
_TITLED = re.compile(
    rf"{_OF_POLICY}[ \t]*[,:(\u2013.-]*[ \t]*"
    r"(?:(?:is[ \t]+)?(?:titled|called|named|entitled|headed|on|under|section)[ \t]+)?"
    r"(?:[\"\u201c](?P<quoted>[^\"\u201c\u201d\n]{2,150})[\"\u201d]|'(?P<single>[A-Z][^'\n]{2,100})')"
)
_PLAIN = re.compile(
    r"[ \t]*[:.,\u2013-][ \t]+(?!(?:(?:Sub-?)?[Ss]ection|Part|Article|Paragraph|Chapter|Point|Clause|Page)s?\b)"
    r"(?P<plain>[A-Z][^\n()\[\].;:\"\u201c\u201d]{2,90}?)[ \t,]*(?=$|[\n)\];]|\*\*)"
)
_PLAIN_WORDS = 12  # more are a sentence

# Headings that are named without a number: "X" section, section titled "X", the Data Retention section.
_QUOTED = (
    r"(?:[\"\u201c][^\"\u201c\u201d\n]{3,120}[\"\u201d]|\*\*[^*\n]{3,120}\*\*"
    r"|(?<!\w)['\u2018][A-Z](?:[^'\u2018\u2019\n]|(?<=\w)['\u2019](?=\w)){2,120}['\u2019](?!\w))"
)
_KIND = r"(?i:sub-?section|section|chapter|article|heading)"
_HEADED = re.compile(
    rf"(?P<before>{_QUOTED}(?:(?:,|,?[ \t]+and|[ \t]*&)[ \t]+{_QUOTED}){{0,9}})[ \t]+(?:{_KIND}|[Pp]art)s?\b"
    rf"|\b{_KIND}s?[ \t]+(?:(?i:titled|called|named|entitled|headed|on|about)[ \t]+)?(?P<after>{_QUOTED})"
    r"|\bthe[ \t]+(?P<plain>[A-Z][\w'\u2019-]*(?:[ \t]+(?:[A-Z][\w'\u2019-]*|and|of|to|for|the|in|with|&)){0,9})"
    r"[ \t]+(?:sub)?(?P<several>sections?)\b"
)
# What an app has sections of, and what a document has.
_ELSEWHERE = re.compile(
    r"[ \t]+(?:of|in|on|under|within)[ \t]+(?:your|their|the|our|its)[ \t]+(?:\w+[ \t]+){0,3}"
    r"(?:settings?|account|app|website|site|page|menu|profile|platform|dashboard|help)",
    re.IGNORECASE,
)
_HERE_BEFORE = re.compile(
    r"\b(?:polic(?:y|ies)|notice|statement|references?|source|see)(?:['\u2019]s)?[\s,:*(\[]*$", re.IGNORECASE
)


@dataclass(frozen=True)
class Citation:
    """A citation at `reply[start:end]`: a number with its word, or a title, or both.

    `last` is the end of a range, `within` the number of the part that is named with it. `outside` is the external text
    that it refers to, if any; `loose` marks a heading that may be the app's rather than the document's.
    """

    start: int
    end: int
    word: str = ""
    number: str = ""
    last: str = ""
    title: str = ""
    within: str = ""
    outside: Outside = ""
    loose: bool = field(default=False, compare=False)

    @property
    def label(self) -> str:
        """Citation in the singular: "Section 3" for "Sections 3" and for a number alone."""
        word = re.sub(r"(?i)^((?:sub-?)?section|article|chapter|clause|recital)s$", r"\1", self.word) or "Section"
        return f"{word[0].upper()}{word[1:]} {self.number}"


def find_citations(reply: str, document: Document) -> list[Citation]:
    """Find all citations of a reply in order, each with its title and part."""
    citations = _judged(reply, _placed(reply, _numbered(reply)), document)
    following = [*(citation.start for citation in citations[1:]), -1]
    numbered = [_with_title(reply, citation, after) for citation, after in zip(citations, following, strict=False)]
    taken = [(citation.start, citation.end) for citation in numbered]
    headed = [citation for citation in _headed(reply) if not _overlaps(taken, citation)]
    return sorted([*numbered, *headed], key=lambda citation: citation.start)


def _overlaps(taken: list[Span], citation: Citation) -> bool:
    """Whether one of these passages, which are in order, overlaps it."""
    place = bisect_left(taken, (citation.end, 0))
    return place > 0 and taken[place - 1][1] > citation.start


def _numbered(reply: str) -> list[Citation]:
    """Find citations by number, each item of a list, a range as one; the longer of two at one place."""
    found: list[Citation] = []
    for match in _CITED.finditer(reply):
        word, number = match.group("word"), match.group("number").replace(" ", "")
        if _is_number(word, number, reply[match.end() : match.end() + 2]):
            found += _listed(reply, Citation(match.start(), match.end(), word, number), _MOST - len(found))
        if len(found) >= _MOST:
            break
    for match in islice(_BRACKETED.finditer(reply), _MOST):
        first = Citation(*match.span("number"), number=match.group("number"), loose=True)
        found += _listed(reply, first, max(1, _MOST - len(found)))
    found += [
        Citation(*match.span("part"), word="Part", number=match.group("number")) for match in _SHORT.finditer(reply)
    ]
    found += [
        Citation(*match.span(), number=match.group("number"), title=match.group("title").strip())
        for match in _BARE.finditer(reply)
    ]
    return sorted(found, key=lambda citation: (citation.start, -citation.end))


def _listed(reply: str, first: Citation, most: int) -> list[Citation]:
    """Continue a list from its first citation."""
    found = [first]
    while len(found) < most and (more := _MORE.match(reply, found[-1].end)):
        joint, number = more.group("joint"), more.group("number").replace(" ", "")
        if not _goes_on(reply, more, found[-1]):
            break
        if _RANGE.search(joint):
            found[-1] = replace(found[-1], end=more.end(), last=number)
            continue
        # "Part 1, 1.2.2", "Part 4, 4" and "Part 5, E" go on with what is in the part, "Part 5A & 5E" doesn't.
        another = re.fullmatch(r"\d+[A-Za-z]?", number) and number != found[-1].number and ":" not in joint
        # So does "Part 5, 6. With partners": a number with a title of its own.
        titled = re.match(r"\.[ \t]+[A-Z]", reply[more.end() : more.end() + 4])
        word = first.word if (another and not titled) or not _HIGHER.match(first.word) else ""
        found.append(Citation(*more.span("number"), word=word, number=number, loose=first.loose))
    return found


def _is_number(word: str, number: str, behind: str) -> bool:
    """Whether letters behind a word are a number: not in "the part I read" or "as part A says"."""
    if number[0].isdigit():
        return True
    if number == "I" and re.match(r"\s[a-z]", behind):
        return False
    return len(number) > 1 or word[0].isupper() or word[0] == "\u00a7"


def _goes_on(reply: str, more: re.Match[str], before: Citation) -> bool:
    number, joint = more.group("number"), more.group("joint")
    if number[0].isalpha() and (before.number[-1].isdigit() and not before.word.lower().startswith("part")):
        return False
    if _RANGE.search(joint):
        return number[0].isdigit() == before.number[0].isdigit() and not before.last
    if number[0].isdigit() and joint.strip() in {"and", "&", "or"} and not _UNIT.match(reply, more.end()):
        return True
    return bool(_LISTED.match(reply, more.end()))


def _placed(reply: str, citations: list[Citation]) -> list[Citation]:
    """Join "Part 2, Section 2.3" and "Section 2.3 of Part 2" to one citation each."""
    found = citations[:1]
    for citation in citations[1:]:
        before = found[-1]
        gap = before.end, citation.start
        if citation.start < before.end:
            continue
        if _higher(citation) and not (_higher(before) or before.within) and _FROM.fullmatch(reply, *gap):
            found[-1] = replace(_within(before, citation), end=citation.end)
        elif not _higher(citation) and _higher(before) and not before.last and _INTO.fullmatch(reply, *gap):
            found[-1] = replace(_within(citation, before), start=before.start)
        elif not _higher(citation) and before.within and _ALSO.fullmatch(reply, *gap):
            found.append(replace(citation, within=before.within))
        elif _under(citation, before) and _ALSO.fullmatch(reply, *gap):
            found.append(replace(citation, number=f"{before.number.partition('.')[0]}.{citation.number}"))
        else:
            found.append(citation)
    return found


def _higher(citation: Citation) -> bool:
    """Whether it is a part or chapter, in which sections can lie."""
    return bool(_HIGHER.match(citation.word)) and citation.number.isalnum()


def _within(citation: Citation, higher: Citation) -> Citation:
    """Place a citation in a part or chapter; a chapter becomes part of its label."""
    if higher.word.lower().startswith("part"):
        return replace(citation, within=higher.number)
    return replace(citation, word=f"{higher.word} {higher.number}, {citation.word or 'Section'}")


def _under(citation: Citation, before: Citation) -> bool:
    """Whether "A. …" follows "III. …", or another letter under it, neither with a word."""
    if citation.word or before.word or not re.fullmatch("[A-Z]", citation.number):
        return False
    return bool(re.fullmatch(rf"{_ROMAN}(?:\.[A-Z])?", before.number))


def _with_title(reply: str, citation: Citation, following: int) -> Citation:
    if citation.title or citation.last:
        return citation
    quoted = _TITLED.match(reply, citation.end)
    if quoted and (following < 0 or quoted.end() <= following):
        return replace(citation, end=quoted.end(), title=quoted.group("quoted") or quoted.group("single"))
    plain = _PLAIN.match(reply, citation.end, following if following >= 0 else len(reply))
    if plain and len(plain.group("plain").split()) <= _PLAIN_WORDS:
        return replace(citation, end=plain.end("plain"), title=plain.group("plain"))
    return citation


def _judged(reply: str, citations: list[Citation], document: Document) -> list[Citation]:
    """Mark the citations of another text; "Articles 13 and 14 of the GDPR" both are."""
    whose = [outside(reply, m.start, m.end, "Part" if m.within else m.word, document) for m in citations]
    pairs = [(n - 1, n) for n in range(1, len(citations)) if _is_listed(reply, citations[n - 1], citations[n])]
    for to, by in [*reversed(pairs), *((later, earlier) for earlier, later in pairs)]:
        if whose[by] in {"another law", "a summary"}:
            whose[to] = whose[by]
    return [replace(citation, outside=why) for citation, why in zip(citations, whose, strict=True)]


def _is_listed(reply: str, before: Citation, citation: Citation) -> bool:
    """Whether a citation continues the one before, as a number without a word."""
    return bool(_LIST.fullmatch(reply, before.end, citation.start) and _WORDLESS.match(reply, citation.start))


def _headed(reply: str) -> Iterator[Citation]:
    """Find citations by heading alone; loose, unless the reply says that the heading is the document's."""
    for match in _HEADED.finditer(reply):
        if _ELSEWHERE.match(reply, match.end()):
            continue
        before = reply[max(0, match.start() - 40) : match.start()]
        loose = not (HERE.match(reply, match.end()) or _HERE_BEFORE.search(before))
        kind = next(kind for kind in ("before", "after", "plain") if match.group(kind))
        several = (match.group("several") or "").endswith("s")
        each = _QUOTED if kind != "plain" else r"(?<!\S)(?!and\b)\S+(?:[ \t]+(?!and\b)\S+)*" if several else r".+"
        for one in re.finditer(each, match.group(kind)):
            counted = re.match(rf"[\"\u201c'\u2018*]*({_NUMBER})\.?[ \t]+(?=[A-Z])", one.group())
            title = one.group()[counted.end() if counted else 0 :].strip(" ,.*\"\u201c\u201d'\u2018\u2019")
            start, end = match.start(kind) + one.start(), match.start(kind) + one.end()
            yield Citation(start, end, number=counted.group(1) if counted else "", title=title, loose=loose)


Outside = Literal["", "another law", "a summary", "perhaps another text"]
"""External text of a reference; "" for the document itself."""

_NEAR = 120  # characters before a reference that are looked at

# --- Summaries -----------------------------------------------------------------------------------------------------

_SUMMARY_BEFORE = re.compile(r"summary(?:[ \t]*[,:]?[ \t]*|[ \t]+of[ \t]+)$", re.IGNORECASE)
_SUMMARY_BEHIND = re.compile(
    r"[ \t]+(?:(?:of|in|from)[ \t]+(?:the|my|your|this|its|our)[ \t]+(?:\w+[ \t]+){0,2})?summary\b", re.IGNORECASE
)

# --- Laws ----------------------------------------------------------------------------------------------------------

_SHORT_LAW = (
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
    rf"(?P<law>{_SHORT_LAW}|{_NAMED})(?![\w-])"
    r"(?![ \t]+(?i:enforcement|of[ \t]+conduct|(?:\w+[ \t]+)?(?:section|part|notice|polic|addendum|heading)))"
)
# What is below an article, as in "Art. 6 para. 1 lit. f GDPR".
_BELOW = (
    r"(?:,?[ \t]+(?:para(?:graph)?s?|subparagraph|points?|lit|letter|sentence|no)\b\.?[ \t]*\(?[a-z\d]{1,3}\b\)?){0,4}"
)
_OF_LAW = re.compile(rf"{_BELOW},?[ \t]+(?:of|in|under)[ \t]+(?:(?:the|this|that)[ \t]+)?{_LAW}")
_LAW_NEXT = re.compile(rf"{_BELOW},?[ \t]+(?P<law>{_SHORT_LAW})(?!\w)")
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
_LAW_HERE_BEFORE = re.compile(
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
    ours = usual or HERE.match(reply, end) or _LAW_HERE_BEFORE.search(before)
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
