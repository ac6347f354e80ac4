"""English."""

from __future__ import annotations

import re
from functools import lru_cache

from genaipa.languages import sides
from genaipa.languages.language import QUOTED, CitationRules, Language, LawRules, Readability, SearchRules, SilenceRules
from genaipa.languages.refusals import ENGLISH


def _policy_phrase(company: str) -> str:
    return f"the privacy policy of {company}"


def _regulation_phrase(title: str, short_name: str) -> str:
    return f"the {title} ({short_name})" if title else f"the {short_name}"


# Cut off where four letters are left before it, a plural's "s" where three are.
_ENDING = re.compile(
    r"(?<=\w{4})(?:i[sz](?:ations?|ed?|es|ing)|ations?|ements?|iances?|iant|ions?|ings?|it(?:y|ies)"
    r"|ous(?:ly)?|i?ally|al|ely|(?<!p)ly|ers?|ie[ds]|e[ds]?|y)$|(?<=\w\w[^su])s$"
)


# --- Citations ----------------------------------------------------------------------------------------------------

_KIND = r"(?i:sub-?section|section|chapter|article|heading)"
_LAWS = LawRules(
    short=(
        r"(?:(?:UK|EU)[ -])?(?:GDPR|DSGVO|RGPD|CCPA|CPRA|LGPD|HIPAA|COPPA|PIPEDA|FERPA|GLBA|VCDPA|PDPA|PIPL|APPI|POPIA"
        r"|DPA|ECPA|TCPA|FCRA|DMCA|U\.?S\.?C\b\.?)"
    ),
    # "the Communications Decency Act", "Directive 95/46/EC", "the law"; not "Law Enforcement" or "a Code of Conduct".
    named=(
        r"(?:(?:Regulation|Directive)[ \t]+(?:\([A-Z]{2,3}\)[ \t]+)?(?:No\.?[ \t]+)?\d+/\d+"
        r"|(?:(?:(?!Polic|Notice|Statement)[A-Z][\w.'\u2019&-]*|and|of|on|for|&)[ \t]+){0,9}?"
        r"(?:Act|Law|Regulation|Directive|Code|Charter|Convention|Constitution|Treaty|Statute|Ordinance"
        r"|(?<=[Tt]he )(?:act|law|regulation|directive|statute)))\b"
    ),
    # A section about a law is not of the law.
    not_law=r"[ \t]+(?i:enforcement|of[ \t]+conduct|(?:\w+[ \t]+)?(?:section|part|notice|polic|addendum|heading))",
    # What is below an article, as in "Art. 6 para. 1 lit. f GDPR".
    below=r"(?:para(?:graph)?s?|subparagraph|points?|lit|letter|sentence|no)\b\.?[ \t]*\(?[a-z\d]{1,3}\b\)?",
    of=r"(?:of|in|under)[ \t]+(?:(?:the|this|that)[ \t]+)?",
    before=r"(?:in|under|see)[ \t]+",
    this=frozenset(("act", "law", "regulation", "directive", "statute", "code")),
    same=(
        r"gdpr|dsgvo|rgpd|general data protection regulation|2016/679",
        r"ccpa|cpra|california consumer privacy act|california privacy rights act|civ(?:il|\.) code",
    ),
    # "See" isn't among these, as it points anywhere.
    here_before=(
        r"\b(?:(?:polic(?:y|ies)|notice|statement|references?|source)(?:['\u2019]s)?[\s,:*(\[]*"
        r"|(?:polic(?:y|ies)|notice|statement)[ \t]+(?:\w+[ \t]+){0,2}in[ \t]+)$"
    ),
)
_NUMERALS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    )
    for number, word in enumerate(words.split(), start=1)
}
_ORDINAL = "|".join(word for word in _NUMERALS if word[-2:] in {"st", "nd", "rd", "th"})
_CITATIONS = CitationRules(
    words=(
        r"(?:(?i:sub-?sections?|sections?|secs?\.|sects?\.|parts?|articles?|arts?\.|recitals?)|Sec|Art|Cl\."
        # Not "Section 6, paragraph 2", which goes on below it, nor "at this point 3 users".
        r"|(?:Points?|(?:(?<=under )|(?<=in )|(?<=see )|(?<=and )|(?<=of ))points?"
        r"|(?<![\d)][ \t])(?<![\d)],[ \t])(?i:paragraphs?|paras?\.))"
        r"(?![ \t]+[\d.]+[ \t]+(?:of|in|under)[ \t]+(?:the[ \t]+)?(?i:section|article|part|clause|chapter|point|annex))"
        r"|(?:[Cc]hapter|[Cc]lause)s?|Schedule|Appendix|Annex|Title|[Ss]ummary(?:[ \t]+[Pp]oints?)?|\u00a7{1,2})"
    ),
    names={"Section": r"(?i:sub-?sections?|sections?|points?|paragraphs?|paras?\.)", "Clause": r"[Cc]lauses?|Cl\."},
    numerals=_NUMERALS,
    ordinal=(
        rf"\b(?P<number>{_ORDINAL}|\d{{1,2}}(?=st|nd|rd|th))(?:st|nd|rd|th)?"
        rf"(?=(?:(?:,|,?[ \t]+and)[ \t]+(?:the[ \t]+)?(?:{_ORDINAL}|\d{{1,2}}(?:st|nd|rd|th)))*"
        r"[ \t]+(?P<word>(?:(?:sub-?)?section|chapter|clause)s?)\b)(?:[ \t]+(?P=word))?"
    ),
    # A body of the EU goes by the article that it was founded on.
    not_behind=(
        r"[ \t]?%|[ \t]?(?:percent|per[ \t]+cent|million|billion|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
        r"|[KMGT]B|k[mg]|miles?|EUR|USD|dollars?|euros?|pounds?|stars?|points|inches|met(?:er|re)s?"
        r"|(?:or|and)[ \t]+(?:later|newer|above|higher|up))\b"
        r"|[ \t]+(?:Data[ \t]+Protection[ \t]+)?Working[ \t]+(?:Party|Group)\b"
    ),
    counting=r"(?i:parts?|points?)\b",
    also="and",
    either="or",
    to="to|through|until",
    see=r"see(?:[ \t]+also)?|cf\.?|in|s{1,2}\.",
    at=(
        r"(?:(?:sources?|references?|refs?\.?|basis)[ \t]*:|per|under|in|see(?:[ \t]+also)?|cf\.?|according[ \t]+to"
        r"|(?:in[ \t]+)?particular(?:ly)?|especially|specifically)"
    ),
    pointer=r"(?:sources?|references?|refs?\.?)[ \t]*:\**|cf\.",
    unit=r"[ \t]+(?:other|more|million|percent|hours?|days?|weeks?|months?|years?|users?|people)\b",
    of_this=r"of[ \t]+(?:the|this|its|your|my)",
    into="in|under|at|the|specifically",
    out_of=r"(?:sections?[ \t]+)?(?:of|in|from|within)[ \t]+(?:the[ \t]+)?",
    called=r"(?:is[ \t]+)?(?:titled|called|named|entitled|headed|on|under|section)",
    no_title=r"(?:(?:Sub-?)?[Ss]ection|Part|Article|Paragraph|Chapter|Point|Clause|Page)s?\b",
    headed=(
        rf"(?P<before>{QUOTED}(?:(?:,|,?[ \t]+and|[ \t]*&)[ \t]+{QUOTED}){{0,9}})[ \t]+(?:{_KIND}|[Pp]art)s?\b"
        rf"|\b{_KIND}s?[ \t]+(?:(?i:titled|called|named|entitled|headed|on|about)[ \t]+)?(?P<after>{QUOTED})"
        r"|\bthe[ \t]+(?P<plain>[A-Z][\w'\u2019-]*(?:[ \t]+(?:[A-Z][\w'\u2019-]*|and|of|to|for|the|in|with|&)){0,9})"
        r"[ \t]+(?:sub)?(?P<several>sections?)\b"
    ),
    elsewhere=(
        r"[ \t]+(?:of|in|on|under|within)[ \t]+(?:your|their|the|our|its)[ \t]+(?:\w+[ \t]+){0,3}"
        r"(?:settings?|account|app|website|site|page|menu|profile|platform|dashboard|help)"
    ),
    here=(
        r"[ \t]*,?[ \t]*(?:of|in|from|within)[ \t]+(?:the|this|its|their)?[ \t]*[\w' \u2019-]{0,40}?"
        r"\b(?:polic(?:y|ies)|notice|document|statement|text|part|regulation)\b"
    ),
    here_before=r"\b(?:polic(?:y|ies)|notice|statement|references?|source|see)(?:['\u2019]s)?[\s,:*(\[]*$",
    laws=_LAWS,
    summary="summary",
    summary_before=r"summary(?:[ \t]*[,:]?[ \t]*|[ \t]+of[ \t]+)$",
    summary_behind=r"[ \t]+(?:(?:of|in|from)[ \t]+(?:the|my|your|this|its|our)[ \t]+(?:\w+[ \t]+){0,2})?summary\b",
    # "The following section:", "Reference: Security". Bounded, since a reply that goes on repeating dots or breaking
    # lines would take minutes.
    pointing=(
        r"\b(?:(?:sub-?)?section|heading|paragraph)s?\b"
        r"|(?:^|[.!?(\[])\W{0,40}(?:references?|sources?)\W{0,40}:\s{0,40}"
        r"(?!\W{0,40}(?:none|no|not|n/?a|https?|www|(?:references?|sources?))\b)\w"
    ),
)

# --- Silence ------------------------------------------------------------------------------------------------------

# Pieces of the phrases.

_HOW = (
    r"(?:(?:also|even|further|currently|appear to|seem to|actually|always|generally|really|itself|in detail|"
    r"(?:explicit|specifical|direct|clear|express|precise|exact|particular|separate|necessari|full|thorough|sufficient|"
    r"adequate|definitive|exhaustive|comprehensive)ly)\s+)*"
)
_WHAT = (
    r"(?:(?:any|an?|the|this|that|these|much|enough|sufficient|such|further|additional|more|detailed"
    r"|relevant|precise|definitive|"
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
    r"indicated|spelled out|referenced|touched\s+(?:up)?on)"
    # "Not specified in advance, but set by law" denies how it is said.
    r"(?!\s+(?:in\s+advance|in\s+one\s+place|up\s?front|as\s+such|by\s+name|individually|separately)"
    r"\b[^.!?\n]{0,40}?\bbut\b)"
)
_NOT = r"(?:do|does|did)(?:\s+not|n't|nt)"
_SAYS = (
    r"(?:mentions|specifies|states|says|discusses|outlines|details|describes|explains|clarifies|indicates|spells\s+out"
    r"|refers|comments|touches\s+(?:up)?on|talks\s+about)"
)
_TREAT = r"(?:cover|deal\s+with|go\s+into|talk\s+about|speak\s+(?:of|about)|treat)"
_TREATS = r"(?:covers?|deals?\s+with|goes\s+into|talks?\s+about|speaks?\s+(?:of|about)|treats?)"
_BE = r"(?:is|are|was|were|be|been|being)"

_WAYS = (
    # The policy does not mention, does not provide any information, does not address; nor does it describe.
    rf"\b{_NOT}\s+{_HOW}{_SAY}\b{_NOT_TO_OTHERS}",
    # "I don't have information" is about who says so.
    (
        rf"(?<!\bI )\b{_NOT}\s+{_HOW}{_GIVE}\s+{_WHAT}{_NEWS}\b"
        rf"(?!\s+(?:to|with|you|we|that\s+(?:you|can|could))\b){_NOT_OF_YOU}"
    ),
    rf"\b{_PLACE}\s+{_OWN}{_NOT}\s+{_HOW}(?:address|define|speak to|{_TREAT})\b",
    # It says nothing; there is nothing about it.
    rf"\b{_PLACE}\s+{_OWN}(?:{_SAYS}|gives|offers|contains|provides|includes|has)\s+nothing\b{_NOT_TO_OTHERS}",
    (
        r"\bthere(?:\s+is|'s|\s+was)\s+nothing\s+(?:(?:here|there|in\s+(?:it|there))\s+)?(?:about|on"
        r"|regarding|concerning|that\s+says)\b"
    ),
    # "That isn't something the policy covers"; "we are not told whether they do".
    (
        rf"\b(?:{_BE}\s+not|{_BE}n't)\s+(?:something|a\s+(?:topic|point|subject))\b[^.;!?\n]{{0,40}}?"
        rf"\b(?:{_SAYS}|{_TREATS}|addresses)\b"
    ),
    rf"\b(?:we|readers?|one)\s+(?:{_BE}\s+not|{_BE}n't)\s+told\s+(?:whether|if|how|what|who|when|where|which|why)\b",
    # "Can't be answered from the text".
    (
        rf"\b(?:can(?:not|'t)|could(?:\s+not|n't))\s+be\s+(?:answered|determined|established|told"
        rf"|inferred|known|confirmed)"
        rf"\s+(?:[\w'-]+\s+){{0,2}}?(?:from|with|by|based\s+on|using|on)\s+(?:[\w'-]+\s+){{0,4}}?{_TEXT}\b"
    ),
    # What the company may not do either: "it does not disclose your address".
    rf"\b{_TEXT}\s+{_OWN}{_NOT}\s+{_HOW}(?:disclose|answer|list)\b",
    rf"\bnor\s+(?:do|does|did)\s+(?:it|they|the\s+\w+)\s+{_HOW}{_SAY}\b{_NOT_TO_OTHERS}",
    rf"\bfail(?:s|ed)?\s+to\s+{_HOW}(?:{_SAY}|address|provide|define)\b",
    rf"\black(?:s|ing)?\s+{_WHAT}{_NEWS}\b",
    # It isn't stated; it is unclear whether.
    rf"(?<!\w that )\b{_BE}n't\s+{_HOW}{_SAID}\b{_NOT_TO_OTHERS}",
    rf"\b(?:unclear|not\s+{_HOW}clear)\s+(?:whether|if|how|what|from)\b",
    # No mention of, no information is given, no specific steps mentioned.
    (
        rf"\b(?:no|without(?:\s+any)?)\s+{_WHAT}(?:mentions?|indications?|references?)\b"
        r"(?=\s+(?:of|to|is|are|in|about|on|regarding|whether|that|as|made|given|provided)\b|\W*$|[.,;)])"
    ),
    (
        rf"\bno\s+{_WHAT}(?:information|details?|specifics|statements?|provisions?|guidance|discussion|answer)"
        rf"{_NOT_OF_YOU}\s+(?:(?:{_BE}|has been)\s+)?{_HOW}"
        rf"(?:(?:provided|given|available)(?!\s+to\s+(?!th(?:is|at)\b))|about(?!\s+you\b)|on|regarding"
        rf"|concerning|as to|whether|{_SAID}|{_IN_PLACE})"
    ),
    (
        r"(?:\bno|n't\s+any|\bnot\s+any)\s+(?:explicit|specific|direct|clear|particular)\s+"
        rf"(?:[\w'-]+\s+){{1,10}}?(?:{_BE}\s+)?{_HOW}{_SAID}\b"
    ),
    # It is silent on this; I could not find it in the policy.
    r"(?<!not )\bsilent\s+(?:on|about|regarding|as to|with respect to|in this)\b",
    (
        r"(?<!they )(?<!others )(?<!partners )(?<!advertisers )(?<!parties )"
        r"\b(?:can(?:not|'t)|(?:could|did|do)(?:\s+not|n't)|unable\s+to|not\s+able\s+to)\s+"
        r"(?:find|locate|see|determine|tell|answer|confirm|say)\b[^.\n]{0,80}?"
        rf"\b(?:{_IN_PLACE}|{_NEWS}\s+(?:about|on|regarding))"
    ),
)
_KNOWLEDGE = r"(?:access|knowledge|information|info|details|specifics|memory|records?|copy|text|familiarity|idea)"
_SEARCH = r"(?:my|the|these|any)\s+(?:[\w-]+\s+)?search(?:es|\s+results?)?\b"
_UNKNOWN = (
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
    rf"|\bmy\s+(?:training(?:\s+data)?|knowledge)\s+{_NOT}\s+{_HOW}(?:include|cover|contain|extend)\b"
    # I couldn't find it in my search results, I searched and found nothing, the search did not bring it up.
    r"|\bI(?:\s+can(?:not|'t)|\s+(?:could|did)(?:\s+not|n't)|(?:\s+am|'m|\s+was)\s+(?:unable|not\s+able)\s+to)\s+"
    rf"{_HOW}(?:find|locate|see)\b[^.,;!?\n]{{0,120}}?\b(?:in|from|among|within|through)\s+{_SEARCH}"
    r"|\bI(?:\s+have|'ve)?\s+searched\b[^.;!?\n]{0,120}?\bfound\s+(?:nothing|none|no)\b"
    rf"|\b{_SEARCH}\s+{_NOT}\s+{_HOW}(?:answer|address|bring|contain|cover|give|include|mention|return|reveal"
    rf"|say|show|tell|turn)\b"
)
# Classes of words, for constructions whose words come in many orders.
_CLASSES = {
    "Z": r"nowhere",
    "N": r"(?:is|are|was|were)n't",
    "n": (
        r"not|no|never|nothing|none|neither|nor|hardly|barely|cannot|\w+n't|(?:does|do|did|is)nt|fail(?:s|ed|ing)?"
        r"|unable|impossible|insufficient|zero|refrains?|declines?"
    ),
    # The document, and whatever stands for it.
    "t": (
        r"(?:polic(?:y|ies)|documents?|notices?|statements?|texts?|summar(?:y|ies)|excerpts?|passages?|sections?"
        r"|paragraphs?|clauses?|materials?|wording|authors?|drafters?|writers?|terms|regulation|gdpr|ccpa|lgpd"
        r"|context|articles?|provisions?|agreement)(?:'s)?"
    ),
    "S": r"parts?",
    "D": r"without",
    "H": r"lack(?:s|ed|ing)?",
    "h": r"here|there(?:in)?|there's|anywhere",
    "j": r"its?",
    "k": r"this|these|those|such",
    "K": r"that",
    "w": r"whether|how|what|which|who|whom|whose|when|where|why",
    "A": r"do|does|did",
    "E": r"covers?|govern",
    "G": r"all|every|each|only|fewer|less|more|later|longer|sooner|doubt|exceptions?",
    "X": r"clear|informative|explicit|specific|forthcoming|conclusive|definitive|helpful",
    "C": r"comes?|arises?",
    "U": r"we",
    "r": r"i|one|readers?|i've",
    "y": r"you|you'd|you'll|us",
    # Whose deeds are told, and other texts than the document.
    "c": (
        r"they|he|she|nobody|anyone|compan(?:y|ies)|firm|provider|service|users?|customers?|staff|employees?|agents?"
        r"|support|team|partners?|advertisers?|brokers?|moderators?|people|visitors?|members?|invoices?|receipts?"
        r"|reports?|e-?mails?|letters?|forms?|labels?|surveys?|profiles?|messages?|app|sites?|websites?|third-party"
        r"|third|platform|logs?|records?|statistics"
    ),
    "q": r"promise[sd]|assures?|assured|guarantees?|claims?|requires?|prohibits?|forbids?|allows?",
    # What is said, as a noun or a verb; what may be set without being said; ways to know.
    "m": r"mentions?|answers?|comments?|references?|account",
    "i": (
        r"information|info|details|specifics|guidance|explanations?|descriptions?|clarity|indications?|discussion"
        r"|definitions?|words?|clues?|hints?|traces?|signs?|evidence|figures?|language|clarification|insight|light"
        r"|treatment|coverage|specification|pointers?|commitments?|confirmation|promise|anything|something"
    ),
    "L": (
        r"periods?|timeframes?|rules?|limits?|deadlines?|dates?|conditions?|criteria|criterion|procedures?|steps?"
        r"|names?|lists?"
    ),
    "W": r"way|telling|knowing",
    "M": r"must|need|needs|should|can|could|may|might|will|would|has|have|had",
    "v": (
        r"(?:state|say|discuss|outline|detail|describe|explain|clarify|elaborate|indicate|specify|refer|address|define"
        r"|treat|touch|speak|talk|suggest|spell|delve|dwell|allude|hint|acknowledge|broach|contemplate|raise|settle"
        r"|resolve|deal|go|get|confirm|deny|help|reveal|tell|name|note|disclose|list|establish|set|lay|identify"
        r"|commit|engage|consider|envisage|anticipate|foresee|enumerate|itemi[sz]e|quantify|quote|cite|provide"
        r"|regulate|expand|enlighten|tackle|handle|pin|learn|commit|dealt|shed|account)(?:s|es|ting|ing)?"
        r"|(?:specif|clarif|identif|den)ies|(?:stat|outlin|describ|explain|elaborat|indicat|defin|nam|disclos"
        r"|mention|consider|cit)ing"
    ),
    "g": (
        r"(?:provid|contain|includ|giv|offer|mak|present|suppl|hold|carr|furnish|leav)(?:e|es|y|ies|s|ing)?|gave"
        r"|left|remain(?:s|ed)?|stay(?:s|ed)?"
    ),
    "p": (
        r"mentioned|said|specified|stated|discussed|outlined|detailed|described|explained|clarified|addressed|indicated"
        r"|referenced|spel(?:led|t)|elaborated|touched|treated|raised|dealt|covered|considered|contemplated"
        r"|envisaged|foreseen|anticipated|enumerated|quantified|cited|tackled|regulated"
    ),
    "f": (
        r"find|locate|see|tell|know|determine|establish|infer|deduce|conclude|discern|ascertain|glean|spot|found|seen"
        r"|say|answer|derive"
    ),
    "P": (
        r"defined|given|provided|included|available|evident|contained|disclosed|present|answered|documented"
        r"|listed|named|set|laid|known|determined|established|inferred|confirmed|deduced|derived|drawn|gleaned|noted"
        r"|identified|apparent|ascertained|located|revealed"
    ),
    # Silent; unspecified; absent; omits; open.
    "s": r"silent|mute|mum|quiet|vague|uninformative|unhelpful|evasive|noncommittal|tight-lipped|coy|blank|short",
    "u": (
        r"un(?:specified|stated|mentioned|addressed|disclosed|defined|answered|said|known|explained|resolved|settled"
        r"|clear|touched|covered|documented|certain)|opaque|omitted"
    ),
    "a": r"absent|missing",
    "o": r"(?:omit|skip|overlook|ignore|sidestep|skirt|neglect|bypass|dodge)(?:s|ting|ping|ing|es)?",
    "O": r"guessing|dark|open|out",
    "V": r"vain|fruitless(?:ly)?",
    "B": r"beyond|outside",
    "e": r"is|are|was|were|be|been|being|seems?|falls?|l(?:ies?|ying)?|appears?",
    "T": r"to|with",
    "b": r"about|on|of|regarding|concerning|for|in|from|by|based|throughout|as|after",
}
_GAP = "[^wqcdvmpo,:]"
_TEXTS = "t(?:,[^,:]{1,40},)?"
_CLAIMS = (
    # The policy never says; it does not state; none of its sections covers; nowhere does the company explain.
    rf"{_TEXTS}{_GAP}{{0,6}}[nN][^wqcnN,:]{{0,5}}(?:[vmf]|E(?![^,:]{{0,1}}c))",
    r"n[^wqc,:]{0,3}t[^wqc,:n]{0,4}[vmE]",
    r"t[^:]{0,14}Dv",
    r"Z[^,:]{0,6}[vmpPf]|[pPf][^,:]{0,3}Z|[iP][^,:c]{0,5}[eg]x?Z",
    # The text gives no indication, does not give any, lacks any.
    (
        rf"{_TEXTS}{_GAP}{{0,6}}(?:[nN][^wqc,:]{{0,2}}g[^wqc,:]{{0,4}}[imWL]|g[^wqc,:]{{0,2}}n[^wqce,:]{{0,4}}[imWL]"
        r"|H[^wqcev,:]{0,4}[imWL])"
    ),
    r"(?<!q)jx?(?:n[^wqc,:]{0,2}g[^wqc,:]{0,4}[imW]|gx?n[^wqce,:]{0,4}[imW])(?!T)",
    # There is no word of it; no mention.
    (
        r"(?:(?:^|[,:])x?n|(?:h[eN]?|y?Mx?)x?n|hNx?)x{0,3}[im](?=$|[,:]|[bw](?![^,:w]*e(?!x{0,2}[pP]))"
        r"|e?x{0,2}[pP](?!T)|Z|h|t)"
    ),
    # No answer can be drawn from the policy; it cannot be determined from it.
    r"nx{0,3}[im][^wc:,]{0,4}P[^c:,]{0,4}t",
    r"(?:^|[,:x])e?nx?e?x{0,2}[Pf](?:b|T)[^c:,]{0,4}t",
    # It is not specified; no period is given.
    r"(?<![Kw]e)(?<![Kw])(?:(?:e|^|[,:])x{0,2}n|N)x{0,3}p(?!T)",
    r"(?<![wK])(?:(?:e|^)x{0,2}n|N)[xp]{0,3}P(?=[bh][^c,:]{0,6}[th]|$)",
    r"(?:^|[,:])n[xL]{0,4}[ip]?[^c,:wqgTM]{0,2}ex{0,2}p(?!T)(?=$|[,:bhw])",
    r"(?:^|[,:])nx{0,3}[iL]ex{0,2}P(?!T)(?=$|[,:bhw])",
    # The answer is not in here.
    r"[imkK][^,:wc]{0,6}(?:en|N)x{0,2}b?[xhj]?[ht]$",
    # Silent, unspecified, absent; omits it, leaves it open.
    rf"{_TEXTS}[^cw,:n]{{0,8}}s|[eg]x{{0,3}}u(?=$|[,:bTwthjx])|(?:^|[,:])x?u(?=$|[,:bw])|u[^c,:]{{0,4}}t",
    rf"{_TEXTS}[^cw,:nN]{{0,5}}o|a[^c,:]{{0,4}}t|gx{{0,2}}O(?=$|[,:bTw])|[jt][^cw,:]{{0,5}}g[^c:]{{0,8}}[Ou]",
    # One looks in vain; it goes beyond the policy.
    r"[yrc][^,:]{0,4}bV|[ev]x?B[^c,:]{0,5}t",
    # I don't see any; impossible to tell from the text.
    r"r[^wq:]{0,4}n[^:w]{0,4}[fv][^:]*[timb]|r[^:nc]{0,6}[fv]n[^,:]{0,3}[imhbt]",
    r"t[^:]*[jr]?[eN][^c,:]{0,2}nx{0,2}T[fv]",
    r"(?<!c)(?<!cx)nx{0,2}T?[fv][^:]*t",
    # We can't tell from the document; it isn't something that I can answer from it; it never comes up.
    r"Un[^,:]{0,2}f[^:]*bx{0,2}t|[Nn][^,:c]{0,2}rM?x?[fmv][^:]*t|[jtkKm][^,:c]{0,5}n[^,:c]{0,3}C(?!T)",
    r"^[rx]?M?nx?[fv]$|en(?:TeT?)?[Pf](?=w)|[eNn]?nTe[Pf]b[^,:c]{0,3}t|UNx?Px?i|jA?nvX|[jkK]ne?P(?=$)",
    # No such clause exists; is missing any; is not explicit.
    rf"(?:he|^)n[^,:]{{0,2}}t(?=x?$|x?b|v|p)(?![^:]*M)|te?a[^,:]{{0,2}}[imL]|{_TEXTS}{_GAP}{{0,5}}(?:en|N)x{{0,2}}X",
    # I don't think that they tell you that in the policy.
    r"rnx{0,2}[kK]?c[vf][^:]*t",
)
_DENIED = (
    # The label doesn't say.
    r"(?<!w)c[^tkKrw,:]{0,8}(?:n|N)[^t,:]{0,4}[vgmpfi](?![^:]*t)|^n?[^jtkKrhwn,:iUAS]{2,6}A?[nN]x?[vm](?![^:]*t)"
    # The policy says that it does not.
    r"|^[^nN]*t[^nN,:]{0,4}[vq](?:K|j|c|nx{0,3}e)|[vq][^,:nN]{0,4}tK"
    # No information about your health is collected; no mention of your name is made to bidders.
    r"|nx{0,2}[im][^wkK,:]{1,8}ex{0,2}[^npPtuahoswW,:]"
    r"|nx{0,2}[im][^wkK,:]{1,8}egT|nG|^[^jthrKkynNUX,:]{1,5}g[^t,:]{0,2}n[^t,:]{0,2}[im](?![^:]*t)"
    r"|^U[^fpP]{0,3}n[^f:]{0,3}[vg]|nx{0,2}[im][^wkK,:]{1,8}[eP]{1,2}Tx?[cx]|cx?fx?n"
)
_SILENCE = SilenceRules(
    classes=_CLASSES,
    vague=r"\w+ly|points?|topics?|subjects?|matters?|questions?|issues?|aspects?|regards?|respects?|things?|cases?|kind|service|provider",
    oneself=(
        r"(?<!far as )\b(?:I|me|my)\b(?! (?:think|see|fear|found|(?:do not|don't|can't|cannot|couldn't|could not)"
        r" (?:see|find))| am afraid|'m afraid)"
    ),
    claims="|".join(_CLAIMS),
    denied=_DENIED,
    source_of=r"(?:qTx?t)",
    silent="(?m)" + "|".join(_WAYS),
    unknown=_UNKNOWN,
    searched=r"\bmy\s+(?:web\s+)?search|\bsearch\s+results?\b|\bsearch(?:ed|ing)\b",
    denial=(
        r"\b(?:not|no|nor|never|none|neither|nothing|nowhere|without|silent|un(?:clear|specified"
        r"|stated|mentioned|addressed"
        r"|disclosed|defined|said|answered|known)|unable|cannot|insufficient|lack|fail|leaves?|left|omit|skip"
        r"|overlook|ignore|sidestep|skirt|neglect"
        r"|dodge|bypass|short|open|vague|absent|missing|mute|mum|quiet|evasive|coy|uninformative|unhelpful|vain"
        r"|beyond|outside|impossible|hardly|barely|opaque|declines?|refrains?|zero)|n't\b|\b(?:does|do|did)nt\b"
    ),
    speaker=r"\b(?:you|users?|we|who|customers?|people|consumers?|individuals?)\s+$",
    passive=rf"\W*(?:{_BE}|'s|not|never)\b",
    condition=r"\b(?:if|unless|when|whenever|where)\s+(?:[\w'-]+\s+){0,4}$",
    answered=r"\b(?:yes|no|yeah|correct|indeed|absolutely|certainly)\b",
    no=r"\W*no\b",
    contrast=r"\b(?:but|though|although|while|whereas|however|yet|except)\b",
    concession=(
        r"\b(?:because|since|as|for)\s*$|\b(?:in\s+(?:general|passing|broad\s+terms)|generally|broadly|only|at\s+length"
        r"|admittedly)\b"
    ),
    # What comes before an answer and isn't one.
    preface=(
        r"\W*(?:(?:good|great|interesting)\s+question|thank\w*\b.*|sorry\b.*|let\s+me\b.*|sure\b"
        r"|here(?:'s|\s+is)\s+(?:what|the\s+answer)\b.*"
        r"|(?:it|this|that)(?:'s|\s+(?:is|may\s+be|might\s+be|would\s+be))\s+(?:quite\s+|certainly\s+|entirely\s+)?"
        r"(?:possible|conceivable|plausible|likely|hard\s+to\s+say)|[^.,]{1,60}\b(?:may|might)\s+or\s+may\s+not\b.*"
        r"|(?:perhaps|possibly|maybe)(?:\s+so|\s+not)?"
        r"|I(?:'ve|\s+have)?\s+(?:\w+ly\s+)?(?:looked|searched|checked|read|went|gone|reviewed|scanned)\b.*"
        r"|you(?:'d|\s+would|\s+will|'ll)?\s+(?:have|need)\s+to\s+ask\b.*)\W*$"
    ),
    sorry=r"\b(?:sorry|apologi[sz]e|unfortunately|afraid)\b[^.]*$",
    but_that=r"\W*that\b",
    # "No further details", "does not elaborate on how", "does not describe any other means".
    caveat=r"\b(?:further|additional|more|elaborat\w+|in\s+detail)\b",
    other=r"\s+(?:(?:any\s+|of\s+(?:any\s+)?)?(?:further|additional|other)|in\s+detail)\b",
    # "Reference: None", but not "Reference from Part 1: they collect names".
    source=r"\W*(?:references?|sources?)\W*(?::|$)",
    not_applicable=r"\bN/?A\b|\bnone\b\W*$|\bnot applicable\b",
)

# --- Readability --------------------------------------------------------------------------------------------------

_MUTE = [
    r"(?<=[^aeiouy])e(?=(?:ments?|ful|less|ness|ly|ty|guards?|where|how)(?:$|al|s))",  # statement, safely, safeguard
    r"(?<=som)e(?=\w)|(?<=guid)e(?=l)|(?<=hous)e(?=h)|(?<=fac)e(?=b)|(?<=bus)i(?=ness)",  # something, guideline, …
    r"(?<=[^tdl])ed$|(?<=[aeiouyl]l)ed$",  # used, filled; but wanted, handled
    r"(?<=[^lcgszx])(?<![cs]h)es$|(?<=[aeiouyl]l)es$",  # stores, rules; but pages, tables
    r"(?<=[^aeiouyl])e$|(?<=[aeiouyl]l)e$|(?<=q)ue$|(?<=u)e$",  # use, while, unique; but table
]
_SPLIT = [
    r"i(?=a)(?<![cgst]i)",  # social has two, media three
    r"(?<=[^aeiouyt][cst])i(?=at)|(?<=[aeiouy]c)i(?=at)",  # associate
    r"i(?=en[ct])(?<![cgst]i)|(?<=[cp])i(?=ent$|ents$)(?<=pi)",  # client, experience
    r"(?<=[^cgstln])i(?=o)|i(?=u)|y(?=ing|i)",  # period, medium, complying
    r"e(?=o(?!p|us))|(?<=cr)e(?=at)|e(?=ing)|u(?=[ai]t|al|ou)(?<![qg]u)",  # video, create, being, actual
]


def count_english_syllables(word: str) -> int:
    """Count the syllables of an English word from its spelling.

    Each group of vowels is one; a silent e is none, and some adjacent vowels are two. A part joined by a
    hyphen counts on its own, and a word without letters (a number) as one syllable.
    """
    return max(
        1,
        sum(
            _count_word_part_syllables(part)
            for part in re.findall(r"[a-z]+", word.lower().replace("'", "").replace("\u2019", ""))
        ),
    )


@lru_cache(maxsize=50_000)  # a text says most of its words many times
def _count_word_part_syllables(part: str) -> int:
    spoken = part
    for mute in _MUTE:
        spoken = re.sub(mute, "", spoken)
    groups = len(re.findall(r"[aeiouy]+", spoken))
    return max(1, groups + sum(len(re.findall(split, part)) for split in _SPLIT))


LANGUAGE = Language(
    code="en",
    name="English",
    also=("eng",),
    function_words=frozenset(
        ("the", "and", "of", "to", "that", "your", "you", "our", "with", "this", "are", "we", "not", "may", "by", "or")
    ),
    policy=_policy_phrase,
    regulation=_regulation_phrase,
    no_answer="(no answer)",
    search=SearchRules(
        stop_words="STOPWORDS_EN_PLUS",
        asking=re.compile(
            r"also|company|could|document|even|ever|kinds?|may|might|must|polic(?:y|ies)|sections?"
            r"|shall|sorts?|types?|us|use[ds]?|users?|using|well|whether|would"
        ),
        ending=_ENDING,
        # Policies use these for one another all the time: without them "my data" would miss "information about you".
        same={
            "inform": "data",
            "disclos": "shar",
            "stor": "keep",
            "storag": "keep",
            "retain": "keep",
            "retent": "keep",
            "kept": "keep",
            "eras": "delet",
            "erasur": "delet",
        },
    ),
    sections={
        **{word: word for word in ("Chapter", "Part", "Title", "Book", "Division")},
        "Section": "Section|Sect?",
        "Article": "Article|Art",
        **{word: word for word in ("Clause", "Schedule", "Annex", "Appendix")},
    },
    starts="The|This|These|We|Our|You|Your|If|When|In|To|For|As|It|There|Most|After|Some|Any|All",
    abbreviations=(
        r"e\.g|i\.e|etc|vs|cf|approx|incl|Inc|Ltd|Corp|Co|Nos?|Arts?|Secs?|para|Mr|Mrs|Ms|Dr|St|[A-Z]"
        r"|(?:[A-Za-z]\.)+[A-Za-z]"
    ),
    citations=_CITATIONS,
    silence=_SILENCE,
    sides=sides.ENGLISH,
    refusals=ENGLISH,
    readability=Readability(
        formula="Flesch-Kincaid",
        base=-15.59,
        sentence=0.39,
        syllable=11.8,
        syllables=count_english_syllables,
        connective="and",
        grades=True,
        cited="Kincaid et al., 1975",
        published="J. P. Kincaid, R. P. Fishburne, R. L. Rogers, B. S. Chissom: Derivation of New Readability "
        "Formulas\nfor Navy Enlisted Personnel. Naval Technical Training Command, Research Branch Report 8-75, 1975.",
        abbreviations=r"e\.g|i\.e|etc|vs|Inc|Ltd|Corp|Art|Sec|No|U\.S|U\.K|B\.V",
    ),
    measured={"citations": (1.0, 1.0), "silence": (1.0, 0.67)},
)
