"""Numbers and units in a text: what `values` compares, word by word.

Words are without case, articles and plural endings. "Ninety days" and "90-day" are one; two years are 24 months, a week
is seven days, 5 h five hours, "a year and a half" 18 months; "twice annually" is "every six months"; money, per cent,
addresses of mail and of the web. No model has a say.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def listed(words: str) -> list[str]:
    """Split words into a list."""
    return re.findall(r"\w+", words)


_ONES = {
    word: number
    for number, word in enumerate(
        listed(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        ),
        1,
    )
}
_TENS = {
    word: 10 * number for number, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_MANY = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
MINUTES = {"minute": 1, "min": 1, "hour": 60, "day": 1440, "night": 1440, "week": 10_080, "fortnight": 20_160}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_SHORT = {
    "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "w": "week", "wk": "week", "wks": "week", "mo": "month",
    "mos": "month", "mth": "month", "y": "year", "yr": "year", "yrs": "year", "pct": "percent",
}  # fmt: skip
"""Units that are written short: behind a number alone."""
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_OFTEN = {
    **dict.fromkeys(("annual", "annually", "yearly"), (12, "month")),
    **dict.fromkeys(("biannual", "biannually", "semiannual", "semiannually"), (6, "month")),
    **dict.fromkeys(("biennial", "biennially"), (24, "month")),
    "quarterly": (3, "month"),
    "monthly": (1, "month"),
    "fortnightly": (20_160, "minute"),
    "weekly": (10_080, "minute"),
    **dict.fromkeys(("daily", "nightly"), (1440, "minute")),
    "hourly": (60, "minute"),
}
"""Word → its period, in its unit."""
_HALVED = ("semi", "half", "bi")
_EACH = ("per", "every", "each", "in", "within", "interval", "of")
_SECOND, _WHOLE = ("other", "second", "2"), ("calendar", "full", "single")
PERIODS = ("minute", "month")
"""Units of time: what is shorter than a month, and what is as long or longer."""
BASE = {"minute": 1440, "month": 12}
"""What a frequency is counted in, by the unit of its period: times a day, or a year."""
_MONEY = {"$": "usd", "dollar": "usd", "usd": "usd", "€": "eur", "euro": "eur", "eur": "eur", "£": "gbp", "gbp": "gbp",
          "pound": "gbp"}  # fmt: skip
_PERCENT = ("%", "percent")
_NAMES = listed("january february march april may june july august september october november december")
NOT = "not"
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
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?|[%$€£½])"
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


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, without citations of sections."""
    blanked = _CITED.sub(lambda cited: " " * len(cited[0]), text.replace("’", "'"))  # noqa: RUF001
    measured = _join_units(_join_halves(list(_join_number_words(list(_split_words(blanked))))))
    return tuple(_join_frequencies(list(_add_amounts(list(measured)))))


def _split_words(text: str) -> Iterator[Token]:
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
            for word in _split_parts(found[0].lower()):
                yield Token(word, pause=pause, start=start, end=end)
                pause = False
        pause = False


def _split_parts(word: str) -> tuple[str, ...]:
    """Split a word into its parts, each without its ending: "don't" is "do not"."""
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


def _join_number_words(words: list[Token]) -> Iterator[Token]:
    """Put the numbers in words together: one hundred and twenty is 120."""
    place = 0
    while place < len(words):
        behind, number = _read_number(words, place)
        if behind > place:
            first, last = words[place], words[behind - 1]
            yield Token(f"{number:g}", float(number), pause=first.pause, start=first.start, end=last.end)
            place = behind
        else:
            yield words[place]
            place += 1


def _read_number(words: list[Token], place: int) -> tuple[int, int]:
    """Read a number in words that begins here: (the place behind it, the number); the same place for none."""
    whole, part, behind = 0, 0, place
    while behind < len(words):
        word = words[behind].word
        if behind > place and words[behind].pause:
            break
        if word in _TENS and part % 100 == 0:
            part += _TENS[word]
        elif word in _ONES and (part % 10 == 0 if _ONES[word] < 10 and part % 100 != 10 else part % 100 == 0):  # noqa: PLR2004
            part += _ONES[word]
        elif word in _MANY and (part or _follows_article(words, behind, place)):
            times = max(part, 1) * _MANY[word]
            whole, part = (whole + times, 0) if _MANY[word] > 100 else (whole, times)  # noqa: PLR2004
        elif word == "and" and part >= 100 and _continues_number(words, behind + 1):  # noqa: PLR2004
            pass
        elif not (behind == place and word == "a" and _follows(words, place, _MANY)):
            break
        behind += 1
    return (behind, whole + part) if whole + part else (place, 0)


def _follows_article(words: list[Token], behind: int, place: int) -> bool:
    return behind == place + 1 and words[place].word == "a"


def _follows(words: list[Token], place: int, known: Iterable[str]) -> bool:
    return place + 1 < len(words) and words[place + 1].word in known


def _continues_number(words: list[Token], place: int) -> bool:
    return place < len(words) and (words[place].word in _ONES or words[place].word in _TENS)


def _join_halves(words: list[Token]) -> Iterator[Token]:
    """Put halves to their numbers ("two and a half", "2½"), and "a couple of" as two."""
    place = 0
    while place < len(words):
        one, after = words[place], [word.word for word in words[place + 1 : place + 4]]
        if one.number is not None and after[:3] in (["and", "a", "half"], ["and", "1", "half"]):
            yield _make_token(one, one.number + 0.5, words[place + 3])
            place += 4
        elif one.number is not None and after[:1] == ["½"]:
            yield _make_token(one, one.number + 0.5, words[place + 1])
            place += 2
        elif one.word == "½":
            yield _make_token(one, 0.5, one)
            place += 1
        elif one.word == "couple":
            last = 1 if after[:1] == ["of"] else 0
            yield _make_token(one, 2.0, words[place + last])
            place += 1 + last
        else:
            yield one
            place += 1


def _make_token(first: Token, number: float, last: Token) -> Token:
    """Make a token of this number, from the first token's place to the last one's."""
    return first._replace(word=f"{number:g}", number=number, end=last.end)


def _add_amounts(words: list[Token]) -> Iterator[Token]:
    """Put amounts together: "a year and a half" and "one year and six months" are 18 months."""
    place = 0
    while place < len(words):
        one, behind = words[place], place + 1
        if one.number is not None and one.unit in PERIODS:
            linked = behind < len(words) and words[behind].word == "and" and not words[behind].pause
            next_ = behind + linked
            rest = words[next_] if next_ < len(words) and not words[next_].pause else None
            of_more = next_ + 1 < len(words) and _find_unit(words[next_ + 1].word)
            if rest and linked and rest.word == "half" and not of_more:
                one, behind = _make_token(one, one.amount / one.scale + 0.5, rest), next_ + 1
            elif rest and rest.unit == one.unit and rest.scale < one.scale and rest.amount < one.scale:
                one, behind = _make_token(one, (one.amount + rest.amount) / one.scale, rest), next_ + 1
        yield one
        place = behind


def _join_frequencies(words: list[Token]) -> Iterator[Token]:
    """Put frequencies together, as times a year or a day: "twice a year" is "every six months"."""
    place = 0
    while place < len(words):
        times, behind = _count_times(words, place)
        period = _find_period(words, behind, counted=behind > place)
        if period:
            amount, unit, behind = period
            number = round((times or 1) * BASE[unit] / amount, 9)
            yield _make_token(words[place], number, words[behind - 1])._replace(unit=f"per {unit}", scale=1.0)
            place = behind
        elif times and (behind > place + 1 or words[place].word != "once" or len(words) == 1):
            # "Once" is often a conjunction.
            yield _make_token(words[place], times, words[place])
            place += 1
        else:
            yield words[place]
            place += 1


def _count_times(words: Sequence[Token], place: int) -> tuple[float, int]:
    """Count the times that are said here: (their number, or 0; the place behind them)."""
    one = words[place]
    if one.word in _TIMES:
        return float(_TIMES[one.word]), place + 1
    if one.number and not one.unit and place + 1 < len(words) and words[place + 1].word in ("time", "x"):
        return one.number, place + 2
    return 0.0, place


class _Period(NamedTuple):
    """A period of time in its unit, and the place behind its words."""

    amount: float
    unit: str
    behind: int


def _find_period(words: Sequence[Token], place: int, *, counted: bool) -> _Period | None:
    """Find the period that begins here: "annually", "every six months"; "a year", "per day" where it is counted."""
    if place >= len(words) or (counted and words[place].pause):
        return None
    behind = place
    while behind < min(len(words), place + 2) and words[behind].word in _EACH:  # "in each year"
        behind += 1
    if behind == place and not counted:
        return _find_adverb(words, place)
    if not counted and not {"every", "each", "interval"} & {word.word for word in words[place:behind]}:
        return None
    several = 1.0
    if behind > place and behind + 1 < len(words) and words[behind].word in (*_SECOND, *_WHOLE):
        several, behind = (2.0 if words[behind].word in _SECOND else 1.0), behind + 1
    if behind < len(words) and not words[behind].pause:
        last = words[behind]
        if last.number and last.unit in PERIODS:
            return _Period(last.amount, last.unit, behind + 1)
        unit = _find_unit(last.word) if behind > place else None
        if unit and unit[0] in PERIODS:
            return _Period(several * unit[1], unit[0], behind + 1)
    return _find_adverb(words, place)


def _find_adverb(words: Sequence[Token], place: int) -> _Period | None:
    """Find the period of words such as "annually", "half-yearly" or "12-month intervals" here."""
    one, first = words[place], words[place].word
    after = words[place + 1].word if place + 1 < len(words) else ""
    if one.number and one.unit in PERIODS and after == "interval":
        return _Period(one.amount, one.unit, place + 2)
    if first in _HALVED and after in ("annual", "annually", "yearly"):
        return _Period(6.0, "month", place + 2)
    if first not in _OFTEN:
        return None
    return _Period(*_OFTEN[first], place + 1)


def _join_units(words: Iterable[Token]) -> Iterator[Token]:
    """Join units to their numbers, days behind their months, and without articles."""
    known = list(words)
    place = 0
    while place < len(known):
        one = known[place]
        after = known[place + 1] if place + 1 < len(known) and not known[place + 1].pause else None
        third = known[place + 2] if after and place + 2 < len(known) and not known[place + 2].pause else None
        if one.word in ("a", "an") and after and _find_unit(after.word):
            one = one._replace(word="1", number=1.0)
        half = _find_half(known, place)
        if half:
            yield _make_amount(one._replace(word="0.5", number=0.5), known[half])
            place = half + 1
        elif one.word in _MONEY and after and after.number is not None:
            yield after._replace(unit=_MONEY[one.word], pause=one.pause, start=one.start)
            place += 2
        elif (
            one.number is not None
            and after
            and after.word in ("calendar", "full", "more", "whole")
            and third
            and _find_unit(third.word)
        ):
            yield _make_amount(one, third)
            place += 3
        elif one.number is not None and after and after.word == "per" and third and third.word == "cent":
            yield one._replace(unit="%", end=third.end)
            place += 3
        elif one.number is not None and after and _find_unit(_SHORT.get(after.word, after.word)):
            yield _make_amount(one, after)
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


def _find_half(words: Sequence[Token], place: int) -> int:
    """Find the place of the unit of which half is said here ("half a year", "a half-year"); 0 for none."""
    if words[place].word != "half":
        return 0
    behind = place + 1 + (place + 1 < len(words) and words[place + 1].word in ("a", "an"))
    known = behind < len(words) and not any(word.pause for word in words[place + 1 : behind + 1])
    return behind if known and _find_unit(words[behind].word) else 0


def _find_unit(word: str) -> tuple[str, float] | None:
    if word in MINUTES:
        return "minute", MINUTES[word]
    if word in _MONTHS:
        return "month", _MONTHS[word]
    if word in _MONEY:
        return _MONEY[word], 1.0
    return ("%", 1.0) if word in _PERCENT else None


def _make_amount(number: Token, unit: Token) -> Token:
    known = _find_unit(_SHORT.get(unit.word, unit.word))
    assert known, "it is a unit"
    return number._replace(unit=known[0], scale=known[1], end=unit.end)
