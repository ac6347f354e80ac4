"""English."""

from __future__ import annotations

import re
from functools import lru_cache

from genaipa.languages.language import QUOTED, CitationRules, Language, LawRules, Readability, Search, SilenceRules


def _policy(company: str) -> str:
    return f"the privacy policy of {company}"


def _regulation(title: str, name: str) -> str:
    return f"the {title} ({name})" if title else f"the {name}"


# Cut off where four letters are left before it, a plural's "s" where three are.
_ENDING = re.compile(
    r"(?<=\w{4})(?:i[sz](?:ations?|ed?|es|ing)|ations?|ements?|iances?|iant|ions?|ings?|it(?:y|ies)"
    r"|ous(?:ly)?|i?ally|al"
    r"|ely|(?<!p)ly|ers?|ie[ds]|e[ds]?|y)$"
    r"|(?<=\w\w[^su])s$"
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
_CITATIONS = CitationRules(
    words=(
        r"(?:(?i:sub-?sections?|sections?|sec\.|sect\.|parts?|articles?|arts?\.|recitals?)|Sec|Art"
        r"|(?:[Cc]hapter|[Cc]lause)s?|Schedule|Appendix|Annex|Title|[Ss]ummary(?:[ \t]+[Pp]oints?)?|\u00a7{1,2})"
    ),
    # A body of the EU goes by the article that it was founded on.
    not_behind=r"[ \t]+(?:Data[ \t]+Protection[ \t]+)?Working[ \t]+(?:Party|Group)\b",
    also="and",
    either="or",
    to="to|through|until",
    see=r"see|cf\.?|in",
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
_TOLD = (
    r"(?:covered|provided|included|given|found|listed|available|disclosed|defined|present|contained|clear|evident|"
    r"answered|documented)"
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
    # It says nothing, never mentions it, gives no period; none of its sections covers it; nothing in it says so.
    rf"\b{_PLACE}\s+{_OWN}(?:{_SAYS}|gives|offers|contains|provides|includes|has)\s+nothing\b{_NOT_TO_OTHERS}",
    rf"\b{_PLACE}\s+{_OWN}never\s+{_HOW}(?:{_SAYS}|addresses|defines|{_TREATS})\b{_NOT_TO_OTHERS}",
    (
        rf"\b{_TEXT}\s+{_OWN}(?:gives?|states?|names?|specif(?:y|ies)|sets?(?:\s+out)?|offers?"
        rf"|contains?|provides?|lists?)"
        rf"\s+no\s+(?!longer\b|more\b|one\b)(?:[\w'-]+\s+){{0,3}}?[\w'-]+{_NOT_TO_OTHERS}"
    ),
    (
        rf"\b(?:none\s+of\s+(?:the|its|these)|no|neither)\s+(?:[\w-]+\s+){{0,2}}?{_TEXT}\s+{_OWN}(?:{_SAYS}"
        rf"|{_TREATS}|addresses)\b"
    ),
    (
        rf"\bneither\b[^.;!?\n]{{2,120}}?\bnor\b[^.;!?\n]{{2,80}}?\b(?:{_SAYS}|say|mention|address"
        rf"|{_BE}\s+{_HOW}{_SAID})\b"
    ),
    rf"\bnothing\s+(?:{_IN_PLACE}\s+)?(?:{_SAYS}|suggests|addresses|{_TREATS})\b",
    (
        r"\bthere(?:\s+is|'s|\s+was)\s+nothing\s+(?:(?:here|there|in\s+(?:it|there))\s+)?(?:about|on"
        r"|regarding|concerning|that\s+says)\b"
    ),
    rf"\bnowhere\b[^.;!?\n]{{0,60}}?\b(?:{_SAY}|{_SAID}|{_SAYS})\b",
    # The policy leaves it open, omits or skips the topic; it remains unspecified; it is absent from the notice.
    rf"\b{_PLACE}\s+{_OWN}leaves?\s+(?:(?:it|this|that|the\s+\w+)\s+)?(?:open|unclear|unsaid|unanswered|undefined)\b",
    rf"\b{_PLACE}\s+{_OWN}(?:omits?|skips?|overlooks?|ignores?|is\s+vague|remains?\s+vague)\b",
    (
        rf"\b(?:{_BE}|remains?|left)\s+{_HOW}(?:un(?:specified|stated|mentioned|addressed|disclosed"
        rf"|defined)|left\s+open)\b"
    ),
    rf"\b(?:absent|missing)\s+(?:from|in)\s+(?:[\w'-]+\s+){{0,3}}?{_TEXT}\b",
    # "That isn't something the policy covers"; "whether they do is not disclosed".
    (
        rf"\b(?:{_BE}\s+not|{_BE}n't)\s+(?:something|a\s+(?:topic|point|subject))\b[^.;!?\n]{{0,40}}?"
        rf"\b(?:{_SAYS}|{_TREATS}|addresses)\b"
    ),
    rf"^\W*(?:whether|how|which|who|what|when|where|why)\b[^.;!?\n]{{3,160}}?\b{_BE}\s+not\s+{_HOW}(?:{_TOLD}|known)\b",
    rf"\b(?:we|readers?|one)\s+(?:{_BE}\s+not|{_BE}n't)\s+told\s+(?:whether|if|how|what|who|when|where|which|why)\b",
    # "Can't be answered from the text", "no way to tell from it", and a line that is nothing but "Not stated".
    (
        rf"\b(?:can(?:not|'t)|could(?:\s+not|n't))\s+be\s+(?:answered|determined|established|told"
        rf"|inferred|known|confirmed)"
        rf"\s+(?:[\w'-]+\s+){{0,2}}?(?:from|with|by|based\s+on|using|on)\s+(?:[\w'-]+\s+){{0,4}}?{_TEXT}\b"
    ),
    (
        rf"(?:^|:)\W*(?:not\s+{_HOW}(?:{_SAID}|{_TOLD})|un(?:specified|stated|clear|known))\b(?=\W*(?:$"
        rf"|[.:;\u2013\u2014-]))"
    ),
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
        rf"(?:(?:provided|given|available)(?!\s+to\s+(?!th(?:is|at)\b))|about(?!\s+you\b)|on|regarding"
        rf"|concerning|as to|whether|{_SAID}|{_IN_PLACE})"
    ),
    (
        r"\bno\s+(?:specific|relevant|particular|explicit|direct|dedicated)\s+"
        r"(?:part|section|article|clause|provision)s?\b"
    ),
    (
        r"(?:\bno|n't\s+any|\bnot\s+any)\s+(?:explicit|specific|direct|clear|particular)\s+"
        rf"(?:[\w'-]+\s+){{1,10}}?(?:{_BE}\s+)?{_HOW}{_SAID}\b"
    ),
    (
        rf"\b(?:none|nothing)\s+(?:{_BE}\s+)?(?:(?:{_SAID}|provided|given|found)\s+)?{_IN_PLACE}"
        r"(?=\W*$|[.,;:)]|\s+(?:about|on|regarding|concerning|as|for|to)\b)"
    ),
    # It is silent on this; I could not find it in the policy; there is not enough information.
    r"(?<!not )\bsilent\s+(?:on|about|regarding|as to|with respect to|in this)\b",
    (
        r"(?<!they )(?<!others )(?<!partners )(?<!advertisers )(?<!parties )"
        r"\b(?:can(?:not|'t)|(?:could|did|do)(?:\s+not|n't)|unable\s+to|not\s+able\s+to)\s+"
        r"(?:find|locate|see|determine|tell|answer|confirm|say)\b[^.\n]{0,80}?"
        rf"\b(?:{_IN_PLACE}|{_NEWS}\s+(?:about|on|regarding))"
    ),
    r"\b(?:not\s+enough|insufficient)\s+(?:information|details?)\b",
    (
        r"\bnot\s+(?:part\s+of|within\s+the\s+scope\s+of)\s+(?:the|this)\s+(?:\w+\s+){0,2}(?:policy"
        r"|document|notice|text)\b"
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
    rf"|\b{_SEARCH}\s+{_NOT}\s+{_HOW}(?:answer|address|bring|contain|cover|give|include|return|reveal"
    rf"|say|show|tell|turn)\b"
)
_SILENCE = SilenceRules(
    silent="(?m)" + "|".join(_WAYS),
    unknown=_UNKNOWN,
    searched=r"\bmy\s+(?:web\s+)?search|\bsearch\s+results?\b|\bsearch(?:ed|ing)\b",
    denial=(
        r"\b(?:not|no|nor|never|none|neither|nothing|nowhere|without|silent|un(?:clear|specified"
        r"|stated|mentioned|addressed"
        r"|disclosed|defined|said|answered|known)|unable|cannot|insufficient|lack|fail|leaves?|omits?|skips?|overlooks?"
        r"|ignores?|vague|absent|missing)"
        r"|n't\b|\b(?:does|do|did)nt\b"
    ),
    speaker=r"\b(?:you|users?|we|who|customers?|people|consumers?|individuals?)\s+$",
    passive=rf"\W*(?:{_BE}|'s|not|never)\b",
    condition=r"\b(?:if|unless|when|whenever|where)\s+(?:[\w'-]+\s+){0,4}$",
    answered=r"\b(?:yes|no|yeah|correct|indeed|absolutely|certainly)\b",
    no=r"\W*no\b",
    contrast=r"\b(?:but|though|although|while|whereas|however|yet|except)\b",
    sorry=r"\b(?:sorry|apologi[sz]e|unfortunately|afraid)\b[^.]*$",
    but_that=r"\W*that\b",
    # "No further details", "does not elaborate on how", "does not describe any other means".
    caveat=r"\b(?:further|additional|more|elaborat\w+|in\s+detail)\b",
    other=r"\s+(?:(?:any\s+|of\s+(?:any\s+)?)?(?:further|additional|other)|in\s+detail)\b",
    # "Reference: None", but not "Reference from Part 1: they collect names".
    source=r"\W*(?:references?|sources?)\W*(?::|$)",
    not_applicable=r"\bN/?A\b|\bnone\b\W*$|\bnot applicable\b",
    turns=(
        r"\d|n't\b|\b(?:not|no|nor|never|none|nothing|without|only|all|any|some|always|may|might|must|can|cannot"
        r"|except)\b"
    ),
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


def syllables(word: str) -> int:
    """Count the syllables of an English word from its spelling.

    Each group of vowels is one; a silent e is none, and some adjacent vowels are two. A part joined by a
    hyphen counts on its own, and a word without letters (a number) as one syllable.
    """
    return max(
        1, sum(_syllables(part) for part in re.findall(r"[a-z]+", word.lower().replace("'", "").replace("\u2019", "")))
    )


@lru_cache(maxsize=50_000)  # a text says most of its words many times
def _syllables(part: str) -> int:
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
    policy=_policy,
    regulation=_regulation,
    no_answer="(no answer)",
    search=Search(
        stop_words="STOPWORDS_EN_PLUS",
        asking=re.compile(
            r"also|company|could|document|even|ever|kinds?|may|might|must|polic(?:y|ies)|sections?"
            r"|shall|sorts?|types?|us"
            r"|use[ds]?|users?|using|well|whether|would"
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
    readability=Readability(
        formula="Flesch-Kincaid",
        base=-15.59,
        sentence=0.39,
        syllable=11.8,
        syllables=syllables,
        connective="and",
        grades=True,
        cited="Kincaid et al., 1975",
        published="J. P. Kincaid, R. P. Fishburne, R. L. Rogers, B. S. Chissom: Derivation of New Readability "
        "Formulas\nfor Navy Enlisted Personnel. Naval Technical Training Command, Research Branch Report 8-75, 1975.",
        abbreviations=r"e\.g|i\.e|etc|vs|Inc|Ltd|Corp|Art|Sec|No|U\.S|U\.K|B\.V",
    ),
)
