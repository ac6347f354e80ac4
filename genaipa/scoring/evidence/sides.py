"""Tell which side an answer takes: yes, no, or that the document is silent.

An answer that begins by Yes or No, behind a source or an opening ("According to Part 2, yes"), takes that side. One to
a question that can be answered so takes the side that its first sentence repeats or denies ("It does not sell them").
All others take no side that can be told here.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Literal

from genaipa.languages.catalog import ENGLISH, language_to_read_reply
from genaipa.languages.language import STOPS, expression
from genaipa.policies.search import stem_content_words
from genaipa.scoring.evidence.abstention import classify_whether_silence_is_claimed

if TYPE_CHECKING:
    from genaipa.languages.language import Language, SideRules, SilenceRules

AnswerSide = Literal["yes", "no", "silent", "unknown", "nothing", "open"]
"""`silent`: the document does not say; `unknown`: it is not known to the system; `nothing`: refused or empty.

`open`: the answer says something, neither by yes nor by no.
"""

_SENTENCE = re.compile(rf"(?:[^.!?\n{STOPS}]|[.!?](?=\S))+")
_QUOTES = re.compile(r"[\s>*_-]*[\"\u201c\u201e\u00ab]")
_LINES = 3
"""Lines, headings and sources among them, in one of which an answer begins."""
_ENOUGH = 2
"""Words of a question, by which a sentence with a negation denies it; one suffices where it has two."""
_MARK = r"[\s*_\"\u201d)]*(?:[.,;:!\u2013\u2014\uff0c\u3002\uff1b\uff1a\uff01(-]|\n|$)"
"""What ends a word that is the whole answer."""


def find_answer_side(reply: str, question: str, language: str = ENGLISH.code, status: str = "answered") -> AnswerSide:
    """Return the side that a reply takes on the `question`; `language` is the document's code.

    >>> [find_answer_side(reply, "Are data sold?") for reply in ("No, it does not.", "They are never sold.")]
    ['no', 'no']
    """
    match classify_whether_silence_is_claimed(reply, language, status):
        case "yes":
            return "silent"
        case "abstains":
            return "unknown"
        case "none":
            return "nothing"
        case _:
            pass
    reply_language = language_to_read_reply(reply, language)
    if reply_language is None or reply_language.silence is None or reply_language.sides is None:
        return "open"
    plain = reply.replace("\u2019", "'")
    return _find_side_by_first_word(plain, reply_language.silence, reply_language.sides) or _find_side_by_polarity(
        plain, question, reply_language, reply_language.sides
    )


def _find_side_by_first_word(reply: str, rules: SilenceRules, sides: SideRules) -> AnswerSide | None:
    """Return the side of the word that an answer begins by; None where it begins by neither."""
    for line in islice(filter(str.strip, reply.splitlines()), _LINES):
        opening = rf"\W*(?:(?:{sides.opening})[^.!?,:\u2014]{{0,120}}[,:\u2014]\W*|(?:{sides.opening})\s+)?"
        match = expression(rf"{opening}(?P<word>{rules.answered}){_MARK}", re.IGNORECASE).match(line)
        if match:
            return "no" if expression(rules.no, re.IGNORECASE).match(match["word"]) else "yes"
        if not expression(rf"\W*(?:{sides.opening})", re.IGNORECASE).match(line):
            break
    return None


def _find_side_by_polarity(reply: str, question: str, language: Language, sides: SideRules) -> AnswerSide:
    """Find the side that the first sentence takes by repeating or denying the question; `open` if it does neither."""
    if expression(rf"\W*(?:{sides.open_question})", re.IGNORECASE).match(question):
        return "open"
    first = next(
        (sentence.group() for sentence in _SENTENCE.finditer(reply) if stem_content_words(sentence.group(), language)),
        "",
    )
    # What it quotes the document says of whatever it speaks of.
    if _QUOTES.match(first) or expression(sides.partly, re.IGNORECASE).search(first):
        return "open"
    wanted = set(stem_content_words(question, language))
    stated = set(stem_content_words(first, language))
    shared = len(wanted & stated)
    if expression(sides.negation, re.IGNORECASE).search(first):
        return "no" if shared >= min(_ENOUGH, -(-len(wanted) // 2)) > 0 else "open"
    return "yes" if shared == len(wanted) > 0 else "open"
