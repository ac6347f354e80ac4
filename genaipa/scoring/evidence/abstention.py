"""Find where an answer claims that the document is silent: mentions nothing, specifies nothing.

That the company does not do a thing ("the policy says that it does not share …") is no claim of silence. That the
assistant knows nothing of the document ("I don't have access to …") is none either, and asserts nothing (`stance`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.questions.annotations import AnnotatedAnswer

Span = tuple[int, int]

# --- Pieces of the patterns ------------------------------------------------------------------------------------------

_HOW = (
    r"(?:(?:also|even|further|currently|appear to|seem to|actually|always|generally|really|itself|in detail|"
    r"(?:explicit|specifical|direct|clear|express|precise|exact|particular|separate|necessari|full|thorough|sufficient|"
    r"adequate|definitive|exhaustive|comprehensive)ly)\s+)*"
)
_WHAT = (
    r"(?:(?:any|an?|the|much|enough|sufficient|such|further|additional|more|detailed|relevant|precise|definitive|"
    r"(?:specific|explicit|direct|clear|particular|exact)(?:\s+or\s+(?:detailed|explicit|specific))?)\s+)*"
)
_NEWS = (
    r"(?:information|info|details?|specifics|mentions?|references?|statements?|guidance|explanations?|descriptions?|"
    r"clarity|indications?|answers?|provisions?|clauses?|sections?|language|discussion|definitions?)"
)
_TEXT = (
    r"(?:polic(?:y|ies)|documents?|notices?|statement|texts?|summar(?:y|ies)|excerpts?|passages?|parts?|sections?|"
    r"materials?|contents?|regulation|law|act|GDPR|CCPA|LGPD|information|details|context|articles?)"
)
_PLACE = rf"(?:{_TEXT}|it)"
# Not "the policy says that it does not", which goes on with what somebody does not do.
_OWN = (
    r"(?:(?!(?:says?|said|states?|stated|notes?|explains?|mentions?|promises|indicates?|confirms?|specifies|"
    r"clarifies|we|they|it|but|and)\b)[\w'-]+\s+){0,5}?"
)
# Information may also be something that the company has and passes on.
_PASSED = r"(?:shared?|sold|sell|disclosed?|sent|send|passed|transferred|given|made\s+available)"
_OTHERS = (
    r"(?:to|with)\s+(?:[\w'-]+\s+){0,2}?(?:advertis|third|partner|any(?:one|body)|others?\b|other\s+(?:users|people|"
    r"compan)|outsid|marketers|brokers|compan(?:y|ies)|employers?|friends|strangers|governments?|authorit|insurers?)"
)
_IN_PLACE = (
    rf"(?:in|by|within|from|anywhere in|under|throughout)\s+(?:[\w'-]+\s+){{0,5}}?{_PLACE}\b"
    rf"(?!\s+(?:(?:that|which)\s+)?(?:(?:we|they|it|is|are)\s+)?{_PASSED}\s+{_OTHERS})"
)
# "Mention your name to advertisers" and "are mentioned to advertisers" tell of somebody's deeds.
_NOT_TO_OTHERS = rf"(?!\s+(?:(?:your|their|users'?|personal)\s+(?:[\w'-]+\s+){{1,2}}?|you\s+)?{_OTHERS})"
_NOT_OF_YOU = (
    rf"(?!\s+(?:about|on|of|regarding|concerning)\s+(?:you|your|users?)\b(?:\s+[\w'-]+){{0,3}}?\s+"
    rf"(?:(?:is|are|will\s+be)\s+(?:ever\s+)?{_PASSED}\b|{_OTHERS}))"
)
# Verbs of texts alone, verbs of texts with news as object, and the passives.
_SAY = (
    r"(?:mention|specify|state|say|discuss|outline|detail|describe|explain|clarify|elaborate|indicate|spell out|"
    r"refer|comment|touch\s+(?:up)?on)"
)
_GIVE = r"(?:provide|contain|include|give|offer|have|make|present|disclose|list)"
_SAID = (
    r"(?:mentioned|specified|stated|discussed|outlined|detailed|described|explained|clarified|elaborated|addressed|"
    r"indicated|spelled out|referenced)"
)
_TOLD = (
    r"(?:covered|provided|included|given|found|listed|available|disclosed|defined|present|contained|clear|evident|"
    r"answered|documented)"
)
_NOT = r"(?:do|does|did)(?:\s+not|n't|nt)"
_BE = r"(?:is|are|was|were|be|been|being)"

# --- Phrases ----------------------------------------------------------------------------------------------------------

_WAYS = (
    # The policy does not mention, does not provide any information, does not address; nor does it describe.
    rf"\b{_NOT}\s+{_HOW}{_SAY}\b{_NOT_TO_OTHERS}",
    # "I don't have information" is about who says so.
    (
        rf"(?<!\bI )\b{_NOT}\s+{_HOW}{_GIVE}\s+{_WHAT}{_NEWS}\b"
        rf"(?!\s+(?:to|with|you|we|that\s+(?:you|can|could))\b){_NOT_OF_YOU}"
    ),
    rf"\b{_PLACE}\s+{_OWN}{_NOT}\s+{_HOW}(?:address|define|speak to)\b",
    # What the company may not do either: "it does not disclose your address".
    rf"\b{_TEXT}\s+{_OWN}{_NOT}\s+{_HOW}(?:disclose|answer|list)\b",
    rf"\bnor\s+(?:do|does|did)\s+(?:it|they|the\s+\w+)\s+{_HOW}{_SAY}\b{_NOT_TO_OTHERS}",
    rf"\bfail(?:s|ed)?\s+to\s+{_HOW}(?:{_SAY}|address|provide|define)\b",
    rf"\bwithout\s+{_HOW}(?:mentioning|specifying|stating|detailing|describing|explaining|addressing|elaborating)\b",
    rf"\black(?:s|ing)?\s+{_WHAT}{_NEWS}\b",
    # It is not stated, (not addressed in the text), while not explicitly stated; not "a purpose that is not stated".
    (
        r"(?<!\w that )"
        rf"(?:\b{_BE}\s+|'s\s+|[(\u2014\u2013,;]\s*|^\W*|\bwhile\s+)(?:not|never)\s+{_HOW}{_SAID}\b{_NOT_TO_OTHERS}"
    ),
    rf"(?<!\w that )\b{_BE}n't\s+{_HOW}{_SAID}\b{_NOT_TO_OTHERS}",
    rf"(?<!\w that is )(?<!\w that are )\bnot\s+{_HOW}(?:{_SAID}|{_TOLD})\s+{_IN_PLACE}",
    rf"\b(?:unclear|not\s+{_HOW}clear)\s+(?:whether|if|how|what|from)\b",
    rf"\bunspecified\s+{_IN_PLACE}",
    # No mention of, no information is given, no section about, no specific steps mentioned, none in the text.
    (
        rf"\b(?:no|without(?:\s+any)?)\s+{_WHAT}(?:mentions?|indications?|references?)\b"
        r"(?=\s+(?:of|to|is|are|in|about|on|regarding|whether|that|as|made|given|provided)\b|\W*$|[.,;)])"
    ),
    (
        rf"\bno\s+{_WHAT}(?:information|details?|specifics|statements?|provisions?|guidance|discussion|answer)"
        rf"{_NOT_OF_YOU}\s+"
        rf"(?:(?:{_BE}|has been)\s+)?{_HOW}"
        rf"(?:provided|given|available|about(?!\s+you\b)|on|regarding|concerning|as to|whether|{_SAID}|{_IN_PLACE})"
    ),
    (
        r"\bno\s+(?:specific|relevant|particular|explicit|direct|dedicated)\s+"
        r"(?:part|section|article|clause|provision)s?\b"
    ),
    (
        r"(?:\bno|n't\s+any|\bnot\s+any)\s+(?:explicit|specific|direct|clear|particular)\s+"
        rf"(?:[\w'-]+\s+){{1,10}}?(?:{_BE}\s+)?{_HOW}{_SAID}\b"
    ),
    rf"\b(?:none|nothing)\s+(?:{_BE}\s+)?(?:(?:{_SAID}|provided|given|found)\s+)?{_IN_PLACE}",
    # It is silent on this; I could not find it in the policy; there is not enough information.
    r"(?<!not )\bsilent\s+(?:on|about|regarding|as to|with respect to|in this)\b",
    (
        r"(?<!they )(?<!others )(?<!partners )(?<!advertisers )(?<!parties )"
        r"\b(?:can(?:not|'t)|(?:could|did|do)(?:\s+not|n't)|unable\s+to|not\s+able\s+to)\s+"
        r"(?:find|locate|see|determine|tell|answer|confirm|say)\b[^.\n]{0,80}?"
        rf"\b(?:{_IN_PLACE}|{_NEWS}\s+(?:about|on|regarding))"
    ),
    r"\b(?:not\s+enough|insufficient)\s+(?:information|details?)\b",
    r"\bnot\s+(?:part\s+of|within\s+the\s+scope\s+of)\s+(?:the|this)\s+(?:\w+\s+){0,2}(?:policy|document|notice|text)\b",
)
_SILENT = re.compile("|".join(_WAYS), re.IGNORECASE | re.MULTILINE)
_KNOWLEDGE = r"(?:access|knowledge|information|info|details|specifics|memory|records?|copy|text|familiarity|idea)"
_UNKNOWN = re.compile(
    # I know nothing, I have no information, I don't know, I don't have access to, I can't open the policy.
    r"\bI\s+(?:know|recall|remember)\s+(?:nothing|none)\b"
    rf"|\bI\s+have\s+no\s+{_WHAT}(?:[\w'-]+\s+)?{_KNOWLEDGE}\b"
    rf"|\bI\s+{_NOT}\s+{_HOW}(?:know|recall|remember|have\s+{_WHAT}(?:[\w'-]+\s+)?{_KNOWLEDGE})\b"
    r"|\bI(?:\s+can(?:not|'t)|\s+could(?:\s+not|n't)|(?:\s+am|'m)\s+(?:unable|not\s+able)\s+to)\s+"
    rf"{_HOW}(?:access|see|read|open|view|browse|retrieve|recall)\s+(?:[\w'-]+\s+){{0,6}}?"
    rf"(?:{_TEXT}|websites?|pages?|links?|internet|web|files?)\b"
    # I'm not familiar with it, I haven't read it, I was not given it; no document was given; my training lacks it.
    rf"|\bI(?:\s+am|'m)\s+not\s+{_HOW}(?:familiar\s+with|aware\s+of)\b"
    r"|\bI(?:\s+have(?:\s+not|n't|\s+never)|\s+was(?:\s+not|n't))\s+(?:been\s+)?(?:given|seen|read|shown|provided)\b"
    r"|\bno\s+(?:polic(?:y|ies)|documents?|notice|texts?)\s+(?:was|were|has\s+been|is)\s+(?:given|provided|attached)\b"
    rf"|\bmy\s+(?:training(?:\s+data)?|knowledge)\s+{_NOT}\s+{_HOW}(?:include|cover|contain|extend)\b",
    re.IGNORECASE,
)
_SEARCHED = re.compile(r"\bmy\s+(?:web\s+)?search|\bsearch\s+results?\b|\bsearch(?:ed|ing)\b", re.IGNORECASE)
# A sentence, as far as it is searched, if it has a word that denies.
_SENTENCE = re.compile(r"[^.!?\n]{1,500}")
# A whole sentence: a full stop inside a number or abbreviation does not end it.
_WHOLE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+")
_NOT_APPLICABLE = re.compile(r"\bN/?A\b|\bnone\b\W*$|\bnot applicable\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|no|nor|never|none|nothing|without|silent|unclear|unspecified|unable|cannot|insufficient|lack|fail)"
    r"|n't\b|\b(?:does|do|did)nt\b",
    re.IGNORECASE,
)
# Before a phrase that is no claim: a condition, or somebody who does not say.
_SPEAKER = re.compile(r"\b(?:you|users?|we|who|customers?|people|consumers?|individuals?)\s+$", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|when|whenever|where)\s+(?:[\w'-]+\s+){0,4}$", re.IGNORECASE)
_PASSIVE = re.compile(rf"\W*(?:{_BE}|'s|not|never)\b", re.IGNORECASE)


# Openings that answer, and words that turn a sentence.
_ANSWERED = re.compile(r"\W*(?:yes|no|yeah|correct|indeed|absolutely|certainly)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"\b(?:but|though|although|while|whereas|however|yet|except)\b", re.IGNORECASE)
_SORRY = re.compile(r"\b(?:sorry|apologi[sz]e|unfortunately|afraid)\b[^.]*$", re.IGNORECASE)
# "Reference: None", but not "Reference from Part 1: they collect names".
_SOURCE = re.compile(r"\W*(?:references?|sources?)\W*(?::|$)", re.IGNORECASE)
# A part of what is asked: "no further details", "does not elaborate on how", "does not describe any other means".
_CAVEAT = re.compile(r"\b(?:further|additional|more|elaborat\w+|in\s+detail)\b", re.IGNORECASE)
_OTHER = re.compile(r"\s+(?:(?:any\s+|of\s+(?:any\s+)?)?(?:further|additional|other)|in\s+detail)\b", re.IGNORECASE)
_FEWEST = 3  # words of a sentence; less is a heading, a label or a courtesy


@dataclass(frozen=True)
class Silence:
    """Whether and where an answer says that the document is silent, and whether it is by the annotation.

    `claimed`: the answer begins so; an answer that adds what the document leaves open claims no silence. `alone`: it
    says nothing else. `phrases` are all places where something is said to be left open. `annotated` is None without an
    annotated answer, if the document is partly silent by it, or if it leaves something open in its words.
    """

    claimed: bool
    phrases: tuple[Span, ...]
    annotated: bool | None
    alone: bool = False


def find_silence(reply: str, annotated: AnnotatedAnswer | None, said: Sequence[Span] = ()) -> Silence:
    """Find the phrases by which a reply claims silence, outside its quotations (`said`)."""
    expected = _expected(annotated)
    phrases = _phrases(reply, said)
    if not phrases:
        return Silence(False, (), expected)
    saying = [match for match in _WHOLE.finditer(reply) if len(match.group().split()) >= _FEWEST]
    sentences = [match for match in saying if not _SOURCE.match(match.group())] or saying
    starts = [start for start, _ in phrases]
    denying = [bisect_left(starts, match.start()) < bisect_left(starts, match.end()) for match in sentences]
    # A caveat about more presupposes that the document says something.
    claims = [place for place in phrases if not (_CAVEAT.search(reply, *place) or _OTHER.match(reply, place[1]))]
    if not (
        denying
        and claims
        and sentences[0].start() <= claims[0][0] < sentences[0].end()
        and _leads(reply[sentences[0].start() : claims[0][0]])
    ):
        return Silence(False, phrases, expected)
    # "It does not say that they sell it" denies a deed rather than that it speaks of it.
    begin, end = claims[0]
    opening, rest = reply[sentences[0].start() : begin], reply[end : sentences[0].end()]
    more = _CONTRAST.match(opening) or _CONTRAST.search(rest) or re.match(r"\W*that\b", rest)
    # A later sentence that turns says something of its own, whatever it denies beside that.
    turned = any(_CONTRAST.match(match.group().lstrip()) for match in sentences[1:])
    return Silence(True, phrases, expected, alone=all(denying) and not more and not turned)


def stance(reply: str) -> Literal["yes", "no", "abstains"]:
    """Say whether a reply claims that the document is silent; "abstains" if it begins by not knowing the document.

    A reply that says more after a "but" or a "however" asserts that, and does not abstain.
    """
    plain = reply.replace("\u2019", "'")
    first = next((match for match in _WHOLE.finditer(plain) if len(match.group().split()) >= _FEWEST), None)
    if find_silence(reply, None).claimed:
        # What a search did not bring up may be in the document all the same.
        return "abstains" if first and _SEARCHED.search(first.group()) else "yes"
    unknown = first and _UNKNOWN.search(plain, *first.span())
    if not first or not unknown or not _leads(plain[first.start() : unknown.start()]):
        return "no"
    return "no" if _CONTRAST.search(plain, unknown.end()) else "abstains"


def _phrases(reply: str, said: Sequence[Span] = ()) -> tuple[Span, ...]:
    plain = reply.replace("\u2019", "'")
    if not _DENIAL.search(plain):
        # Most answers; a report looks at a hundred thousand of them.
        return ()
    return tuple(
        match.span()
        for sentence in _SENTENCE.finditer(plain)
        if _DENIAL.search(plain, *sentence.span())
        for match in _SILENT.finditer(plain, *sentence.span())
        if not _is_another(plain, match) and not any(start <= match.start() < end for start, end in said)
    )


def _is_another(plain: str, match: re.Match[str]) -> bool:
    """Whether a phrase is a condition or about somebody who does not say; not "what users get is not stated"."""
    around = plain, max(0, match.start() - 60), match.start()
    spoken = _SPEAKER.search(*around) and not _PASSIVE.match(match.group())
    return bool(spoken or _CONDITION.search(*around))


def _leads(before: str) -> bool:
    """Whether the words before a phrase in the first sentence answer nothing yet."""
    if _ANSWERED.match(before) and not re.match(r"\W*no\b", before, re.IGNORECASE):
        return False
    contrast = _CONTRAST.search(before)
    if contrast is None:
        return True
    first = before[: contrast.start()].strip()
    # "While it does not mention X, it says Y" answers; "While it says Y, it does not mention X" ends in silence.
    return "," in before[contrast.end() :] if not first else bool(_SORRY.search(first))


def _expected(annotated: AnnotatedAnswer | None) -> bool | None:
    """Whether an answer should claim silence; None if the annotated answer leaves that open."""
    if annotated is None or annotated.silent == "partly":
        return None
    if annotated.silent == "yes":
        return True
    return None if leaves_open(annotated.answer) else False


def leaves_open(text: str) -> bool:
    """Whether an annotated answer says, somewhere in its words, that the document does not say something."""
    return bool(_NOT_APPLICABLE.search(text) or _phrases(text))
