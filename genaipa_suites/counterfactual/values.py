"""Values in a text, found by rule: "ninety days" and "90-day" are one, "no longer 90 days" is no claim.

What is compared are the words, numbers with their units and addresses of `quantities`. No model has a say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from genaipa_suites.counterfactual.quantities import (
    BASE,
    MINUTES,
    NOT,
    Token,
    split_into_words,
    tokenize_with_quantities,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

YES, NO = "yes", "no"
AnsweredValue = Literal["before", "after", "both", "neither", "silent"]


class FoundValue(NamedTuple):
    """A value where a text has it: the places of its first token and behind its last, whether it is denied.

    `doubtful` says that it may be what was, or what others do: no claim beside another value.
    """

    first: int
    end: int
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
    split_into_words(
        "for of by to with in at just exactly be been being kept keep stored store retained retain held hold saved "
        "share shared sold confirm necessarily merely within about on under them it they these this that your data "
        "information"
    )
)
_LIMITS = frozenset(
    split_into_words(
        "more longer later beyond exceed exceeding after over until before less fewer sooner earlier past than if "
        "unless when only"
    )
)
_AFTERWARDS = ("no longer", "is not", "do not", "does not", "is wrong", "is incorrect", "is outdated", "not apply")
_PASSIVE = re.compile(r" (?:is|are|be|been|being) used to ")
_REACH = 7
"""Words before a value among which one may deny it."""


def find_values(text: Sequence[Token], values: Iterable[str]) -> list[FoundValue]:
    """Find the places at which a text has one of these values, in order; of two that overlap the longer."""
    value_tokens = sorted(
        dict.fromkeys(filter(None, map(tokenize_with_quantities, values))),
        key=lambda value: (-len(value), [token.word for token in value]),
    )
    starts: dict[int, tuple[Token, ...]] = {}
    for value in value_tokens:
        for first in _possible_value_starts(value[0], text):
            end = first + len(value)
            if end > len(text) or not _matches_value(value, text, first):
                continue
            if all(start + len(other_value) <= first or end <= start for start, other_value in starts.items()):
                starts[first] = value
    claims: list[FoundValue] = []
    for first, value in sorted(starts.items()):
        # What denies one value says nothing of the next.
        claims.append(_make_found_value_with_denial(text, first, value, claims[-1].end if claims else 0))
    return claims


def _possible_value_starts(first_token: Token, text: Sequence[Token]) -> list[int]:
    """Return the places at which a value may begin: texts are long, and few of their words are its first."""
    if first_token.number is None:
        return [index for index, token in enumerate(text) if token.word == first_token.word]
    return [index for index, token in enumerate(text) if token.number is not None or token.word == first_token.word]


def _matches_value(value: Sequence[Token], text: Sequence[Token], start: int) -> bool:
    pairs = zip(value, text[start : start + len(value)], strict=True)
    return all(_matches_token(wanted, token, text, start + offset) for offset, (wanted, token) in enumerate(pairs))


def _matches_token(value_token: Token, text_token: Token, text: Sequence[Token], index: int) -> bool:
    if value_token.number is None or text_token.number is None:
        return value_token.word == text_token.word
    if text_token.unit == f"per {value_token.unit}" and text_token.number:
        # "Every 90 days" has the 90 days.
        return round(BASE[value_token.unit] / text_token.number, 6) == value_token.amount_in_smallest_unit
    if value_token.unit and text_token.unit:
        return (value_token.unit, value_token.amount_in_smallest_unit) == (
            text_token.unit,
            text_token.amount_in_smallest_unit,
        )
    if value_token.unit:
        # "90" alone is 90 days, if nothing else is counted.
        return value_token.number == text_token.number and (index + 1 == len(text) or text[index + 1].pause)
    return value_token.number == text_token.number


def _make_found_value_with_denial(
    text: Sequence[Token], start: int, value: tuple[Token, ...], context_start: int
) -> FoundValue:
    value_end, number = start + len(value), any(token.number is not None for token in value)
    begin = start
    while begin > context_start and start - begin < _REACH and not text[begin].pause and text[begin].word != "but":
        begin -= 1
    before = [token.word for token in text[begin:start]]
    end = value_end
    while end < len(text) and end - value_end < 4 and not text[end].pause:  # noqa: PLR2004
        end += 1
    after = " ".join(token.word for token in text[value_end:end])
    # "It is used to settle disputes" is no "used to".
    words_before = _PASSIVE.sub(" ", f" {' '.join(before)} ")
    denied = any(f" {cue} " in words_before for cue in _CLEAR) or any(f" {cue}" in f" {after}" for cue in _AFTERWARDS)
    if not denied:
        denied = _is_negated(before, value_has_number=number)
    return FoundValue(start, value_end, value, denied, any(f" {cue} " in words_before for cue in _DOUBTFUL))


def _is_negated(words_before: Sequence[str], *, value_has_number: bool) -> bool:
    for index in range(len(words_before) - 1, -1, -1):
        if words_before[index] in (NOT, "never", "neither", "nor"):
            between = words_before[index + 1 :]
            if any(word in _LIMITS for word in between):
                return False
            if value_has_number:
                return len(between) <= 3 and all(word in _BETWEEN for word in between)  # noqa: PLR2004
            return len(between) <= 4  # noqa: PLR2004
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
"""Verbs that deny as "not" does, by the words of `tokenize_with_quantities`."""
_BOTH_WAYS = re.compile(rf" (?:{'|'.join(_NEGATIVE)})(?: \w+){{0,3}}?(?={_EXCLUDED.pattern})")
"""A negation of such a verb: what is not left out is in."""


def read_yes_or_no_or_empty(answer: str) -> str:
    """Return the yes or no that an answer begins with, or has by itself in its first sentence; empty for none."""
    match = re.match(rf"\W*(yes|no)\b(?!\s+{_NOTHING}\b)", answer, re.IGNORECASE) or _PLAIN.search(
        _first_sentence(answer)
    )
    return match[1].lower() if match else ""


def _first_sentence(answer: str) -> str:
    return _SENTENCE.split(answer.strip())[0]


def _normalize_apostrophes_and_at_signs(answer: str) -> str:
    """Return an answer with plain apostrophes, and addresses as they are typed."""
    return _AT.sub("@", answer.replace("’", "'"))  # noqa: RUF001


def classify_answered_value(answer: str, values_before: Sequence[str], values_after: Sequence[str]) -> AnsweredValue:
    """Classify an answer by the two values: silent if it says that nothing is said, neither for anything else.

    Of a question of yes or no it is the word that the answer begins with, else phrases of the values, else whether
    its first sentence has a negation.
    """
    answer = _normalize_apostrophes_and_at_signs(answer)
    yes_or_no = {YES, NO} & {*values_before, *values_after}
    if yes_or_no and (leading := read_yes_or_no_or_empty(answer)):
        return "before" if leading in values_before else "after"
    claim = _find_version_of_claimed_value(
        answer,
        [value for value in values_before if value not in yes_or_no],
        [value for value in values_after if value not in yes_or_no],
    )
    if claim:
        return claim
    if not answer.strip() or _SILENT.search(_first_sentence(answer) if yes_or_no else answer):
        return "silent"
    if not yes_or_no:
        return "neither"
    return "before" if (NO if has_negation(_first_sentence(answer)) else YES) in values_before else "after"


def _find_version_of_claimed_value(
    answer: str, values_before: Sequence[str], values_after: Sequence[str]
) -> Literal["before", "after", "both", ""]:
    text, before_values = tokenize_with_quantities(answer), {*map(tokenize_with_quantities, values_before)}
    claims = [
        (match, match.value in before_values)
        for match in find_values(text, (*values_before, *values_after))
        if not match.denied
    ]
    if len({is_before for _, is_before in claims}) > 1:
        claims = [match for match in claims if not match[0].doubtful] or claims
    sides = {is_before for _, is_before in claims}
    if not sides and len(text) == 1 and text[0].number is not None:
        # "Two." is two reminders.
        numbers = (
            {match.number for value in before_values for match in value},
            {match.number for a in values_after for match in tokenize_with_quantities(a)},
        )
        sides = {
            side for side, side_numbers in zip((True, False), numbers, strict=True) if text[0].number in side_numbers
        }
    if not sides:
        return ""
    return "both" if len(sides) > 1 else "before" if sides.pop() else "after"


class ValueEvidence(NamedTuple):
    """The words in which an answer has a value; whether it is that of `before`, and whether the answer denies it."""

    words: str
    is_before: bool
    denied: bool


def find_value_evidence(answer: str, values_before: Sequence[str], values_after: Sequence[str]) -> list[ValueEvidence]:
    """Return the words by which `classify_answered_value` reads an answer, in order; empty where it went by none."""
    answer, yes_or_no = _normalize_apostrophes_and_at_signs(answer), {YES, NO} & {*values_before, *values_after}
    if yes_or_no and (first := read_yes_or_no_or_empty(answer)):
        return [ValueEvidence(first, first in values_before, denied=False)]
    text, before_values = tokenize_with_quantities(answer), {*map(tokenize_with_quantities, values_before)}
    wanted = [value for value in (*values_before, *values_after) if value not in yes_or_no]
    return [
        ValueEvidence(
            answer[text[value.first].start : text[value.end - 1].end], value.value in before_values, value.denied
        )
        for value in find_values(text, wanted)
    ]


def amounts_in_smallest_units(values: Iterable[str]) -> list[tuple[str, float]]:
    """Return (unit, number in its smallest unit) of each amount in some values; months are 30.44 days, in minutes."""
    days = 30.44 * MINUTES["day"]
    number_tokens = [token for value in values for token in tokenize_with_quantities(value) if token.number is not None]
    return [
        ("minute", token.amount_in_smallest_unit * days)
        if token.unit == "month"
        else (token.unit, token.amount_in_smallest_unit)
        for token in number_tokens
    ]


def comparable_value(value: str) -> tuple[tuple[str, float, str], ...]:
    """Return a value as it is compared: equal for two spellings of one."""
    return tuple(
        ("" if token.number is not None else token.word, token.amount_in_smallest_unit, token.unit)
        for token in tokenize_with_quantities(value)
    )


def has_negation(text: str) -> bool:
    """Tell whether a text has a negation, or a verb that denies, such as "leaves out"; both together affirm."""
    words = " ".join(["", *(token.word for token in tokenize_with_quantities(text)), ""])
    affirmed = _BOTH_WAYS.sub(" ", words)
    if affirmed != words:
        words = _EXCLUDED.sub(" ", affirmed, count=1)
    return bool(_EXCLUDED.search(words)) or any(word in _NEGATIVE for word in words.split())


def has_amount_with_unit_or_address(value: str) -> bool:
    """Tell whether a value stands out wherever a text has it: an amount with a unit, or an address.

    How often something is done ("every year") is said of much.
    """
    return any(
        (token.number is not None and token.unit and not token.unit.startswith("per "))
        or "@" in token.word
        or "." in token.word
        for token in tokenize_with_quantities(value)
    )
