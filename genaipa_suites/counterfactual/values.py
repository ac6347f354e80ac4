"""Values in a text, found by rule: "ninety days" and "90-day" are one, "no longer 90 days" is no claim.

Compared are words without case, articles and plural endings, numbers in digits or in words with their units (two years
are 24 months, a week is seven days), money, addresses of mail and of the web. No model has a say.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

YES, NO = "yes", "no"
Said = Literal["before", "after", "both", "neither", "silent"]


def _listed(words: str) -> list[str]:
    return re.findall(r"\w+", words)


_ONES = {
    word: number
    for number, word in enumerate(
        _listed(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        ),
        1,
    )
}
_TENS = {
    word: 10 * number for number, word in enumerate(_listed("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_MANY = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_MINUTES = {"minute": 1, "min": 1, "hour": 60, "hr": 60, "day": 1440, "week": 10_080, "fortnight": 20_160}
_MONTHS = {"month": 1, "year": 12, "yr": 12}
_MONEY = {"$": "usd", "dollar": "usd", "usd": "usd", "€": "eur", "euro": "eur", "eur": "eur", "£": "gbp", "gbp": "gbp"}
_PERCENT = ("%", "percent")
_NAMES = _listed("january february march april may june july august september october november december")
_ARTICLES = frozenset(("a", "an", "the"))

_CITED = re.compile(
    r"(?:\b(?:sub)?sections?|\bsec\.|§+|\barticles?|\bart\.|\bparagraphs?)\s*\d+(?:\.\d+)*"
    r"(?:\s*(?:,|;|and|to|or|&|-|–)\s*\d+\.\d+)*|\(\s*\d+\.\d+(?:\s*[,;]\s*\d+\.\d+)*\s*\)",  # noqa: RUF001
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<web>(?:https?://|www\.)[^\s<>\"]*[\w/]|[^\W\d_][\w-]*(?:\.[\w-]+)*\.[a-z]{2,}(?:/[^\s<>\"]*[\w/])?)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\.\d+)*)(?:(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?|[%$€£])"
    r"|(?P<pause>[.,;:!?()\[\]—–\n])",  # noqa: RUF001
)


class Token(NamedTuple):
    """A word, or a number with its unit; `scale` makes amounts of one `unit` comparable."""

    word: str
    number: float | None = None
    unit: str = ""
    scale: float = 1.0
    pause: bool = False
    """Whether a punctuation mark precedes it."""
    start: int = 0
    end: int = 0

    @property
    def amount(self) -> float:
        """The number in the smallest unit of its kind."""
        return (self.number or 0.0) * self.scale


class Claim(NamedTuple):
    """A value where a text has it: the places of its first token and behind its last, whether it is denied.

    `doubtful` says that it may be what was, or what others do: no claim beside another value.
    """

    first: int
    behind: int
    value: tuple[Token, ...] = ()
    denied: bool = False
    doubtful: bool = False


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, without citations of sections."""
    blanked = _CITED.sub(lambda cited: " " * len(cited[0]), text.replace("’", "'"))  # noqa: RUF001
    return tuple(_with_units(_in_digits(list(_words(blanked)))))


def _words(text: str) -> Iterator[Token]:
    pause = False
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        if found["pause"]:
            pause = True
            continue
        if found["number"]:
            said = found["number"].replace(",", "")
            number = float(said) if said.count(".") <= 1 else None
            yield Token(said, number, pause=pause, start=start, end=end)
        elif found["mail"] or found["web"]:
            address = found[0].lower().removeprefix("https://").removeprefix("http://").removeprefix("www.")
            yield Token(address.rstrip("/"), pause=pause, start=start, end=end)
        else:
            for word in _parts(found[0].lower()):
                yield Token(word, pause=pause, start=start, end=end)
                pause = False
        pause = False


def _parts(word: str) -> tuple[str, ...]:
    """A word in its parts, each without its ending: "don't" is "do not"."""
    if word in ("cannot", "can't"):
        return ("can", NOT)
    if word == "won't":
        return ("will", NOT)
    if word.endswith("n't"):
        return (word[:-3], NOT)
    word = word.partition("'")[0]
    if word in ("per", "cent") or len(word) <= 3:  # noqa: PLR2004
        return (word,)
    if word.endswith("ies"):
        return (word[:-3] + "y",)
    return (word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word,)


NOT = "not"


def _in_digits(words: list[Token]) -> Iterator[Token]:
    """The tokens with numbers in words put together: one hundred and twenty is 120."""
    place = 0
    while place < len(words):
        behind, number = _number(words, place)
        if behind > place:
            first, last = words[place], words[behind - 1]
            yield Token(f"{number:g}", float(number), pause=first.pause, start=first.start, end=last.end)
            place = behind
        else:
            yield words[place]
            place += 1


def _number(words: list[Token], place: int) -> tuple[int, int]:
    """(place behind a number in words that begins here, the number); the same place for none."""
    whole, part, behind = 0, 0, place
    while behind < len(words):
        word = words[behind].word
        if behind > place and words[behind].pause:
            break
        if word in _TENS and part % 100 == 0:
            part += _TENS[word]
        elif word in _ONES and (part % 10 == 0 if _ONES[word] < 10 and part % 100 != 10 else part % 100 == 0):  # noqa: PLR2004
            part += _ONES[word]
        elif word in _MANY and (part or _after_article(words, behind, place)):
            times = max(part, 1) * _MANY[word]
            whole, part = (whole + times, 0) if _MANY[word] > 100 else (whole, times)  # noqa: PLR2004
        elif word == "and" and part >= 100 and _goes_on(words, behind + 1):  # noqa: PLR2004
            pass
        elif not (behind == place and word == "a" and _follows(words, place, _MANY)):
            break
        behind += 1
    return (behind, whole + part) if whole + part else (place, 0)


def _after_article(words: list[Token], behind: int, place: int) -> bool:
    return behind == place + 1 and words[place].word == "a"


def _follows(words: list[Token], place: int, known: Iterable[str]) -> bool:
    return place + 1 < len(words) and words[place + 1].word in known


def _goes_on(words: list[Token], place: int) -> bool:
    return place < len(words) and (words[place].word in _ONES or words[place].word in _TENS)


def _with_units(words: Iterable[Token]) -> Iterator[Token]:
    """The tokens with units joined to their numbers, days behind their months, and without articles."""
    known = list(words)
    place = 0
    while place < len(known):
        one = known[place]
        after = known[place + 1] if place + 1 < len(known) and not known[place + 1].pause else None
        third = known[place + 2] if after and place + 2 < len(known) and not known[place + 2].pause else None
        if one.word in ("a", "an") and after and _unit(after.word):
            one = one._replace(word="1", number=1.0)
        if one.word == "half" and after and after.word in ("a", "an") and third and _unit(third.word):
            yield _measured(one._replace(word="0.5", number=0.5), third)
            place += 3
        elif one.word in _MONEY and after and after.number is not None:
            yield after._replace(unit=_MONEY[one.word], pause=one.pause, start=one.start)
            place += 2
        elif (
            one.number is not None
            and after
            and after.word in ("calendar", "full", "more", "whole")
            and third
            and _unit(third.word)
        ):
            yield _measured(one, third)
            place += 3
        elif one.number is not None and after and after.word == "per" and third and third.word == "cent":
            yield one._replace(unit="%", end=third.end)
            place += 3
        elif one.number is not None and after and _unit(after.word):
            yield _measured(one, after)
            place += 2
        elif one.word in _NAMES and after and after.number is not None and after.number <= 31 and not after.unit:  # noqa: PLR2004
            # A date is read as "1 March", however it is written.
            yield after._replace(pause=one.pause, start=one.start)
            yield one._replace(pause=False)
            place += 2
        else:
            if one.word not in _ARTICLES:
                yield one
            place += 1


def _unit(word: str) -> tuple[str, float] | None:
    if word in _MINUTES:
        return "minute", _MINUTES[word]
    if word in _MONTHS:
        return "month", _MONTHS[word]
    if word in _MONEY:
        return _MONEY[word], 1.0
    return ("%", 1.0) if word in _PERCENT else None


def _measured(number: Token, unit: Token) -> Token:
    known = _unit(unit.word)
    assert known, "it is a unit"
    return number._replace(unit=known[0], scale=known[1], end=unit.end)


# Where a text has a value, and whether it claims it.

_CLEAR = ("no longer", "instead of", "rather than", "as opposed to", "used to", "formerly", "previously", "unlike",
          "contrary to", "any indication", "confused with", "different from", "up from", "down from",
          "not any more", "in place of")  # fmt: skip
_DOUBTFUL = ("was", "were", "from", "usually", "normally", "typically", "often", "commonly", "originally", "old",
             "earlier", "many company", "other company", "most company", "common", "had been",
             "even though", "longer than", "shorter than", "expected", "you mention", "you read", "have read",
             "you saw", "ask to", "ask assistant", "tell assistant", "instruction")  # fmt: skip
_BETWEEN = frozenset(
    _listed(
        "for of by to with in at just exactly be been being kept keep stored store retained retain held hold saved "
        "share shared sold confirm necessarily merely within about on under them it they these this that your data "
        "information"
    )
)
_LIMITS = frozenset(
    _listed(
        "more longer later beyond exceed exceeding after over until before less fewer sooner earlier past than if "
        "unless when only"
    )
)
_AFTERWARDS = ("no longer", "is not", "do not", "does not", "is wrong", "is incorrect", "is outdated", "not apply")
_PASSIVE = re.compile(r" (?:is|are|be|been|being) used to ")
_REACH = 7
"""Words before a value among which one may deny it."""


def find(text: Sequence[Token], values: Iterable[str]) -> list[Claim]:
    """The places at which a text has one of these values, in order; of two that overlap the longer."""
    wanted = sorted({tokens(value): value for value in values if tokens(value)}, key=_longest)
    taken: dict[int, tuple[Token, ...]] = {}
    for value in wanted:
        for first in _candidates(value[0], text):
            behind = first + len(value)
            if behind > len(text) or not _is_at(value, text, first):
                continue
            if all(one + len(other) <= first or behind <= one for one, other in taken.items()):
                taken[first] = value
    claims: list[Claim] = []
    for first, value in sorted(taken.items()):
        # What denies one value says nothing of the next.
        claims.append(_claim(text, first, value, claims[-1].behind if claims else 0))
    return claims


def _candidates(begin: Token, text: Sequence[Token]) -> list[int]:
    """The places at which a value may begin: texts are long, and few of their words are its first."""
    if begin.number is None:
        return [place for place, said in enumerate(text) if said.word == begin.word]
    return [place for place, said in enumerate(text) if said.number is not None or said.word == begin.word]


def _longest(value: Sequence[Token]) -> tuple[int, list[str]]:
    return -len(value), [one.word for one in value]


def _is_at(value: Sequence[Token], text: Sequence[Token], first: int) -> bool:
    pairs = zip(value, text[first : first + len(value)], strict=True)
    return all(_same(one, other, text, first + place) for place, (one, other) in enumerate(pairs))


def _same(value: Token, said: Token, text: Sequence[Token], place: int) -> bool:
    if value.number is None or said.number is None:
        return value.word == said.word
    if value.unit and said.unit:
        return (value.unit, value.amount) == (said.unit, said.amount)
    if value.unit:
        # "90" alone is 90 days, if nothing else is counted.
        return value.number == said.number and (place + 1 == len(text) or text[place + 1].pause)
    return value.number == said.number


def _claim(text: Sequence[Token], first: int, value: tuple[Token, ...], earliest: int) -> Claim:
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
    return Claim(first, behind, value, denied, any(f" {cue} " in said for cue in _DOUBTFUL))


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
_NEGATIVE = frozenset((NOT, "never", "no", "neither", "nor", "none", "without", "excluded", "omitted"))


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
    days = 30.44 * _MINUTES["day"]
    each = [one for value in values for one in tokens(value) if one.number is not None]
    return [("minute", one.amount * days) if one.unit == "month" else (one.unit, one.amount) for one in each]


def tokens_of(value: str) -> tuple[tuple[str, float, str], ...]:
    """A value as it is compared: equal for two spellings of one."""
    return tuple(("" if one.number is not None else one.word, one.amount, one.unit) for one in tokens(value))


def denies(text: str) -> bool:
    """Whether a text has a negation."""
    words = [one.word for one in tokens(text)]
    return any(word in _NEGATIVE for word in words) or "left out" in " ".join(words)


def is_traceable(value: str) -> bool:
    """Whether a value stands out wherever a text has it: an amount with a unit, or an address."""
    return any((one.number is not None and one.unit) or "@" in one.word or "." in one.word for one in tokens(value))
