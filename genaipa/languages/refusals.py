"""How an assistant refuses to answer in English, and what it adds without answering."""

from __future__ import annotations

from genaipa.languages.language import RefusalRules

_HOW = (
    r"(?:(?:unfortunately|really|simply|just|actually|currently|regrettably|also|directly|respectfully|politely)\s+)?"
)
_MAY_NOT = (
    r"(?:can(?:not|'t|\s+not)|(?:could|would|should)(?:n't|\s+not)|won't|will\s+not|may\s+not|must\s+not"
    r"|(?:(?:am|'m|are|'re|will\s+be|'ll\s+be)\s+)?(?:unable"
    r"|not\s+(?:able|allowed|permitted|authori[sz]ed|designed|programmed|trained|equipped|qualified|going|willing"
    r"|supposed|meant|intended|here|in\s+a\s+position))\s+to|(?:am|'m)\s+not\s+comfortable(?:\s+with)?"
    r"|do(?:n't|\s+not)\s+(?:feel\s+comfortable(?:\s+with)?"
    r"|(?:wish|want|have\s+the\s+(?:ability|permission|authority))\s+to)|(?:prefer|choose)\s+not\s+to)"
)
_AID = (
    r"(?:help(?:ing)?(?!\s+but)|assist(?:ing)?|aid|answer(?:ing)?|respond(?:ing)?|reply|comply|continue|proceed|engage"
    r"|participate)\b"
)
_THIS = r"(?:this|that|it|such|you|anything|any|your|the|these|those|about|on|for|here|so|whether|what|how)\b"
_SPEAK = (
    rf"(?:(?:discuss(?:ing)?|comment|speak|talk(?:ing)?|advise|opine|do|fulfil?l?|accommodate|process|complete|perform"
    rf"|address|tell|say|speculate|interpret)(?:\W*$|\s+(?:[\w-]+\s+)?{_THIS})"
    r"|(?:provid|giv|offer|shar|supply|generat)(?:e|ing)?\b(?:\s+out\b)?(?!\s+(?:(?:an?|any|the|you)\s+)?(?:more|further|additional"
    r"|exact|definit\w+|complete|full|precise|specific)\b)\s+(?:[\w-]+\s+){0,4}?(?:this|that|it|info\w*|answers?"
    r"|response|reply|advice|opinions?|interpretations?|details?|help|assistance|guidance|content|support)\b)"
)
_IS_NO_SUBJECT = (
    r"(?:(?:something|a\s+(?:topic|subject|question)|one)\s+(?:that\s+)?I(?:\s+am|'m)?\s+(?:can|could"
    rf"|will|able\s+to|allowed\s+to|permitted\s+to|willing\s+to)\s+(?:{_AID}|discuss|address|speak|talk|comment|do)"
    r"|be\s+(?:appropriate|responsible|right|proper|ethical)\s+(?:for\s+me\b|of\s+me\b))"
)
ENGLISH = RefusalRules(
    # What begins with a word comes behind one \b, so that it is looked for at the beginnings of words alone.
    refuses=(
        r"\b(?:"
        rf"I\s*{_HOW}{_MAY_NOT}\s+{_HOW}(?:be\s+able\s+to\s+)?(?:{_AID}|{_SPEAK})"
        r"|I(?:\s+would|\s+had|'d)\s+(?:rather|prefer)\s+not\b"
        r"|I(?:'ll|\s+will)?\s*(?:(?:must|have\s+to|(?:am|'m)\s+going\s+to(?:\s+have\s+to)?|need\s+to)\s+)?(?:respectfully\s+"
        r"|politely\s+)?(?:decline|refuse|pass)\b(?!\s+(?:on|it|them)\s+to\b)"
        rf"|we\s+{_MAY_NOT}\s+(?:process|complete|fulfil?l?|answer)\s+(?:your|this|that)\s+(?:request|prompt|question)\b"
        r"|my\s+(?:[\w-]+\s+){0,2}(?:guidelines?|polic(?:y|ies)|programming|instructions|rules|principles)\s+(?:[\w-]+\s+)?"
        r"(?:not|don't|doesn't|prevents?|prohibits?|forbids?)\b"
        r"|(?:against|violat\w+|contrary\s+to|in\s+conflict\s+with|in\s+breach\s+of|outside(?:\s+of)?|beyond)\s+(?:the\s+"
        r"scope\s+of\s+)?(?:my\b|what\s+I\b)"
        r"|(?:response|output|completion|prompt|request|content|message|answer)\s+(?:(?:was|has\s+been|is|got)\s+)?(?:blocked"
        r"|filtered|flagged|withheld|stopped|rejected|removed|refused)\b.{0,60}\b(?:filter\w*|moderation|safety|(?:content"
        r"|usage)\s+(?:management\s+)?polic\w+)"
        r"|let's\s+(?:talk\s+about\s+something\s+else|change\s+the\s+(?:topic|subject))"
        rf"|not\s+{_IS_NO_SUBJECT})|n't\s+{_IS_NO_SUBJECT}"
        r"|^\W*(?:"
        rf"{_HOW}(?:can(?:not|'t|\s+not)|unable\s+to|not\s+able\s+to|won't)\s+{_AID}"
        r"|(?:sorry\W+)?I\s+(?:can(?:not|'t)|won't)\W*$"
        r"|(?:(?:the|this|your)\s+)?(?:content|response|output|request|prompt|reply|answer)\s+(?:(?:was|has\s+been|is)\s+)?"
        r"(?:blocked|filtered|refused|rejected|declined|withheld|flagged|removed)\W*$"
        r"|(?:no\s+comment|no\s+response|blocked|filtered|refused|declined|redacted)\W*$)"
    ),
    aside=(
        r"^\W*(?:(?:(?:and|so|instead|for\s+[^,]{1,60},)\s+)?(?:please\b|feel\s+free|(?:consult|contact|ask|try|check|review"
        r"|read|visit|see|refer\s+to|reach\s+out|let\s+me)\b)"
        r"|you(?:'re|\s+are|\s+have|'ve)?\s+ask|(?:thank|sorry|apologies|good\s+luck)\b)"
        r"|\b(?:I(?:'d|\s+would|\s+do|'m|\s+am)?\s+(?:\w+\s+)?(?:recommend"
        r"|suggest|advise|encourage|urge|happy\s+to|glad\s+to|here\s+to|understand|appreciate|reali[sz]e|know\s+that)\b"
        r"|I\s+(?:can|could|may)\s+(?:only\s+)?(?:help|assist)\b"
        r"|you\s+(?:may|might|should|could|can|will|would)\s+(?:(?:want|wish|like|need|have|be\s+able|be\s+better\s+off)\s+"
        r"(?:to\s+)?)?(?:consult|contact|ask|check|review|read|visit|refer|reach|speak\s+(?:to|with)|talk\s+to|seek)"
        r"|if\s+you(?:\s+have|'ve|\s+need|'d\s+like|\s+would\s+like|\s+want)\b"
        r"|(?:something|anything|topic|subject)\s+else\b|(?:other|another|different)\s+(?:questions?|topics?|requests?)\b)"
    ),
    breaks=r"\b(?:but|though|although|while|whereas|however|yet|except|because|since|as|given\s+that)\b",
    grounded=(
        r"\b(?:from|based\s+on|using|according\s+to|going\s+by|with(?:out)?)\s+(?:[\w'-]+\s+){0,4}?(?:polic(?:y|ies)|documents?"
        r"|notice|texts?|excerpts?|passages?|sections?|context|information)\b"
    ),
    oneself=r"\b(?:I|me|my|myself)\b",
    text=(
        r"\b(?:polic(?:y|ies)|documents?|notice|statement|texts?|sections?|they|their|them|compan\w+|firm|provider|service"
        r"|users?|customers?|data|we|our|us)\b"
    ),
)
