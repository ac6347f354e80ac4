"""Values in a text, found by rule: "ninety days" and "90-day" are one, "no longer 90 days" is no claim.

What is compared are the words, numbers with their units and addresses of `quantities`. No model has a say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from genaipa_suites.counterfactual.quantities import BASE, MINUTES, NOT, Token, listed, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

YES, NO = "yes", "no"
Said = Literal["before", "after", "both", "neither", "silent"]


class FoundValue(NamedTuple):
    """A value where a text has it: the places of its first token and behind its last, whether it is denied.

    `doubtful` says that it may be what was, or what others do: no claim beside another value.
    """

    first: int
    behind: int
    value: tuple[Token, ...] = ()
    denied: bool = False
    doubtful: bool = False


# Where a text has a value, and whether it claims it.

_CLEAR = ("no longer", "instead of", "rather than", "as opposed to", "used to", "formerly", "previously", "unlike",
          "contrary to", "any indication", "confused with", "different from", "up from", "down from",
          "not any more", "in place of")  # fmt: skip
_DOUBTFUL = ("was", "were", "from", "usually", "normally", "typically", "often", "commonly", "originally", "old",
             "earlier", "many company", "other company", "most company", "common", "had been",
             "even though", "longer than", "shorter than", "expected", "you mention", "you read", "have read",
             "you saw", "ask to", "ask assistant", "tell assistant", "instruction")  # fmt: skip
_BETWEEN = frozenset(
    listed(
        "for of by to with in at just exactly be been being kept keep stored store retained retain held hold saved "
        "share shared sold confirm necessarily merely within about on under them it they these this that your data "
        "information"
    )
)
_LIMITS = frozenset(
    listed(
        "more longer later beyond exceed exceeding after over until before less fewer sooner earlier past than if "
        "unless when only"
    )
)
_AFTERWARDS = ("no longer", "is not", "do not", "does not", "is wrong", "is incorrect", "is outdated", "not apply")
_PASSIVE = re.compile(r" (?:is|are|be|been|being) used to ")
_REACH = 7
"""Words before a value among which one may deny it."""


def find(text: Sequence[Token], values: Iterable[str]) -> list[FoundValue]:
    """The places at which a text has one of these values, in order; of two that overlap the longer."""
    wanted = sorted(
        dict.fromkeys(filter(None, map(tokens, values))),
        key=lambda value: (-len(value), [token.word for token in value]),
    )
    taken: dict[int, tuple[Token, ...]] = {}
    for value in wanted:
        for first in _candidates(value[0], text):
            behind = first + len(value)
            if behind > len(text) or not _is_at(value, text, first):
                continue
            if all(one + len(other) <= first or behind <= one for one, other in taken.items()):
                taken[first] = value
    claims: list[FoundValue] = []
    for first, value in sorted(taken.items()):
        # What denies one value says nothing of the next.
        claims.append(_claim(text, first, value, claims[-1].behind if claims else 0))
    return claims


def _candidates(begin: Token, text: Sequence[Token]) -> list[int]:
    """The places at which a value may begin: texts are long, and few of their words are its first."""
    if begin.number is None:
        return [place for place, said in enumerate(text) if said.word == begin.word]
    return [place for place, said in enumerate(text) if said.number is not None or said.word == begin.word]


def _is_at(value: Sequence[Token], text: Sequence[Token], first: int) -> bool:
    pairs = zip(value, text[first : first + len(value)], strict=True)
    return all(_same(one, other, text, first + place) for place, (one, other) in enumerate(pairs))


def _same(value: Token, said: Token, text: Sequence[Token], place: int) -> bool:
    if value.number is None or said.number is None:
        return value.word == said.word
    if said.unit == f"per {value.unit}" and said.number:
        # "Every 90 days" has the 90 days.
        return round(BASE[value.unit] / said.number, 6) == value.amount
    if value.unit and said.unit:
        return (value.unit, value.amount) == (said.unit, said.amount)
    if value.unit:
        # "90" alone is 90 days, if nothing else is counted.
        return value.number == said.number and (place + 1 == len(text) or text[place + 1].pause)
    return value.number == said.number


def _claim(text: Sequence[Token], first: int, value: tuple[Token, ...], earliest: int) -> FoundValue:
    behind, number = first + len(value), any(one.number is not None for one in value)
    begin = first
    while begin > earliest and first - begin < _REACH and not text[begin].pause and text[begin].word != "but":
        begin -= 1
    before = [one.word for one in text[begin:first]]
    end = behind
    while end < len(text) and end - behind < 4 and not text[end].pause:  # noqa: PLR2004
        end += 1
    after = " ".join(one.word for one in text[behind:end])
    # "It is used to settle disputes" is no "used to".
    said = _PASSIVE.sub(" ", f" {' '.join(before)} ")
    denied = any(f" {cue} " in said for cue in _CLEAR) or any(f" {cue}" in f" {after}" for cue in _AFTERWARDS)
    if not denied:
        denied = _is_negated(before, number=number)
    return FoundValue(first, behind, value, denied, any(f" {cue} " in said for cue in _DOUBTFUL))


def _is_negated(before: Sequence[str], *, number: bool) -> bool:
    for place in range(len(before) - 1, -1, -1):
        if before[place] in (NOT, "never", "neither", "nor"):
            between = before[place + 1 :]
            if any(word in _LIMITS for word in between):
                return False
            return len(between) <= 3 and all(word in _BETWEEN for word in between) if number else len(between) <= 4  # noqa: PLR2004
    return False


_NOTHING = r"(?:information|mention|answer|such\s+information|indication|statement|idea)"
_SILENT = re.compile(
    r"(?:\bnot|n't|\bnever)\s+(?:\w+\s+){0,2}?(?:say|state|specify|mention|indicate|address|give|provide|disclose|tell|"
    r"contain|include|answer|define|set\s+out|stated|specified|mentioned|given|addressed|provided|defined|indicated|"
    r"disclosed|covered)\b|\bno\s+" + _NOTHING + r"\b|\bsilent\b"
    r"|\bsays?\s+nothing\b|\bnot\s+clear\b|\b(?:is|are)\s+unclear\b|\bunspecified\b|\b(?:can|could)\s?(?:not|n't)\s+(?:be\s+)?(?:determined?|find|found|tell)"
    r"|\bknows?\s+nothing\b|\bdon't\s+know\b|\bdo\s+not\s+know\b|\bunknown\b|^\W*n/?a\W*$",
    re.IGNORECASE,
)
_AT = re.compile(r"\s*[(\[]at[)\]]\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_PLAIN = re.compile(
    r"(?:^|[,:;]\s*)\W*(yes|no)\b(?=\s*(?:[,.;:!)—-]|$)|\s+(?:it|they|we|the|longer|one))", re.IGNORECASE
)
_NEGATIVE = frozenset((NOT, "never", "no", "neither", "nor", "none", "nothing", "nowhere", "nobody", "without"))
_EXCLUDED = re.compile(
    r" (?:omit(?:ted|ting)?|exclud(?:e|ed|ing)|exempt(?:ed)?|skip(?:ped|ping)?|spared?|avoid(?:ed)?|bypass(?:ed|e)?"
    r"|lack(?:ing)?|(?:leave|left|leaving) (?:\w+ ){0,3}?out|masked|(?:black|blank)(?:ed)? out|refrain(?:ed)?"
    r"|refus(?:e|ed)|forbid(?:den)?|prohibit(?:ed)?|ban(?:ned)?|bar(?:red)?|off limit|stop(?:ped)? short|fail(?:ed)? to"
    r"|withh(?:old|eld)|outside|unavailable|impossible|absent)(?= )"
)
"""Verbs that deny as "not" does, by the words of `tokens`."""
_BOTH_WAYS = re.compile(rf" (?:{'|'.join(_NEGATIVE)})(?: \w+){{0,3}}?(?={_EXCLUDED.pattern})")
"""A negation of such a verb: what is not left out is in."""


def lead(answer: str) -> str:
    """The yes or no that an answer begins with, or has as a word by itself in its first sentence; empty for none."""
    found = re.match(rf"\W*(yes|no)\b(?!\s+{_NOTHING}\b)", answer, re.IGNORECASE) or _PLAIN.search(_first(answer))
    return found[1].lower() if found else ""


def _first(answer: str) -> str:
    return _SENTENCE.split(answer.strip())[0]


def _spelt(answer: str) -> str:
    """An answer with plain apostrophes, and addresses as they are typed."""
    return _AT.sub("@", answer.replace("’", "'"))  # noqa: RUF001


def said(answer: str, before: Sequence[str], after: Sequence[str]) -> Said:
    """The outcome of an answer by the two values: silent if it says that nothing is said, neither for anything else.

    Of a question of yes or no it is the word that the answer begins with, else phrases of the values, else whether
    its first sentence has a negation.
    """
    answer = _spelt(answer)
    plain = {YES, NO} & {*before, *after}
    if plain and (found := lead(answer)):
        return "before" if found in before else "after"
    claimed = _claimed(answer, [one for one in before if one not in plain], [one for one in after if one not in plain])
    if claimed:
        return claimed
    if not answer.strip() or _SILENT.search(_first(answer) if plain else answer):
        return "silent"
    if not plain:
        return "neither"
    return "before" if (NO if denies(_first(answer)) else YES) in before else "after"


def _claimed(answer: str, before: Sequence[str], after: Sequence[str]) -> Literal["before", "after", "both", ""]:
    text, ours = tokens(answer), {*map(tokens, before)}
    claims = [(one, one.value in ours) for one in find(text, (*before, *after)) if not one.denied]
    if len({is_before for _, is_before in claims}) > 1:
        claims = [one for one in claims if not one[0].doubtful] or claims
    there = {is_before for _, is_before in claims}
    if not there and len(text) == 1 and text[0].number is not None:
        # "Two." is two reminders.
        numbers = {one.number for value in ours for one in value}, {one.number for a in after for one in tokens(a)}
        there = {side for side, known in zip((True, False), numbers, strict=True) if text[0].number in known}
    if not there:
        return ""
    return "both" if len(there) > 1 else "before" if there.pop() else "after"


class Found(NamedTuple):
    """The words in which an answer has a value; whether it is that of `before`, and whether the answer denies it."""

    words: str
    is_before: bool
    denied: bool


def evidence(answer: str, before: Sequence[str], after: Sequence[str]) -> list[Found]:
    """The words by which `said` reads an answer, in order; empty where it went by none."""
    answer, plain = _spelt(answer), {YES, NO} & {*before, *after}
    if plain and (first := lead(answer)):
        return [Found(first, first in before, denied=False)]
    text, ours = tokens(answer), {*map(tokens, before)}
    wanted = [one for one in (*before, *after) if one not in plain]
    return [
        Found(answer[text[one.first].start : text[one.behind - 1].end], one.value in ours, one.denied)
        for one in find(text, wanted)
    ]


def amounts(values: Iterable[str]) -> list[tuple[str, float]]:
    """(unit, number in its smallest unit) of each amount in some values; months of 30.44 days are minutes too."""
    days = 30.44 * MINUTES["day"]
    each = [one for value in values for one in tokens(value) if one.number is not None]
    return [("minute", one.amount * days) if one.unit == "month" else (one.unit, one.amount) for one in each]


def tokens_of(value: str) -> tuple[tuple[str, float, str], ...]:
    """A value as it is compared: equal for two spellings of one."""
    return tuple(("" if one.number is not None else one.word, one.amount, one.unit) for one in tokens(value))


def denies(text: str) -> bool:
    """Whether a text has a negation, or a verb that denies, such as "leaves out"; both together affirm."""
    words = " ".join(["", *(one.word for one in tokens(text)), ""])
    affirmed = _BOTH_WAYS.sub(" ", words)
    if affirmed != words:
        words = _EXCLUDED.sub(" ", affirmed, count=1)
    return bool(_EXCLUDED.search(words)) or any(word in _NEGATIVE for word in words.split())


def is_traceable(value: str) -> bool:
    """Whether a value stands out wherever a text has it: an amount with a unit, or an address.

    How often something is done ("every year") is said of much.
    """
    return any(
        (one.number is not None and one.unit and not one.unit.startswith("per ")) or "@" in one.word or "." in one.word
        for one in tokens(value)
    )
