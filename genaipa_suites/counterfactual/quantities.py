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


def split_into_words(text: str) -> list[str]:
    """Split words into a list."""
    return re.findall(r"\w+", text)


_ONES = {
    word: number
    for number, word in enumerate(
        split_into_words(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        ),
        1,
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(split_into_words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
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
_NAMES = split_into_words("january february march april may june july august september october november december")
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
    def amount_in_smallest_unit(self) -> float:
        """The number in the smallest unit of its kind."""
        return (self.number or 0.0) * self.scale


@lru_cache(maxsize=4096)
def tokenize_with_quantities(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, without citations of sections."""
    blanked = _CITED.sub(lambda cited: " " * len(cited[0]), text.replace("’", "'"))  # noqa: RUF001
    measured = _join_units_and_drop_articles(
        _join_halves_to_numbers(list(_join_number_words(list(_split_into_tokens(blanked)))))
    )
    return tuple(_join_frequencies(list(_add_up_durations(list(measured)))))


def _split_into_tokens(text: str) -> Iterator[Token]:
    pause = False
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match["pause"]:
            pause = True
            continue
        if match["number"]:
            digits = match["number"].replace(",", "")
            number = float(digits) if digits.count(".") <= 1 else None
            yield Token(digits, number, pause=pause, start=start, end=end)
        elif match["mail"] or match["web"]:
            address = match[0].lower().removeprefix("https://").removeprefix("http://").removeprefix("www.")
            yield Token(address.rstrip("/"), pause=pause, start=start, end=end)
        else:
            for word in _split_contraction_and_stem(match[0].lower()):
                yield Token(word, pause=pause, start=start, end=end)
                pause = False
        pause = False


def _split_contraction_and_stem(word: str) -> tuple[str, ...]:
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


def _join_number_words(tokens: list[Token]) -> Iterator[Token]:
    """Put the numbers in words together: one hundred and twenty is 120."""
    index = 0
    while index < len(tokens):
        end, number = _read_end_and_number_in_words(tokens, index)
        if end > index:
            first, last = tokens[index], tokens[end - 1]
            yield Token(f"{number:g}", float(number), pause=first.pause, start=first.start, end=last.end)
            index = end
        else:
            yield tokens[index]
            index += 1


def _read_end_and_number_in_words(words: list[Token], start: int) -> tuple[int, int]:
    """Read a number in words from `start` on: (the place behind it, the number); (start, 0) for none."""
    whole, part, end = 0, 0, start
    while end < len(words):
        word = words[end].word
        if end > start and words[end].pause:
            break
        if word in _TENS and part % 100 == 0:
            part += _TENS[word]
        elif word in _ONES and (part % 10 == 0 if _ONES[word] < 10 and part % 100 != 10 else part % 100 == 0):  # noqa: PLR2004
            part += _ONES[word]
        elif word in _MANY and (part or _follows_leading_article(words, end, start)):
            times = max(part, 1) * _MANY[word]
            whole, part = (whole + times, 0) if _MANY[word] > 100 else (whole, times)  # noqa: PLR2004
        elif word == "and" and part >= 100 and _is_ones_or_tens(words, end + 1):  # noqa: PLR2004
            pass
        elif not (end == start and word == "a" and _has_next_word(words, start, _MANY)):
            break
        end += 1
    return (end, whole + part) if whole + part else (start, 0)


def _follows_leading_article(words: list[Token], index: int, start: int) -> bool:
    return index == start + 1 and words[start].word == "a"


def _has_next_word(words: list[Token], index: int, next_words: Iterable[str]) -> bool:
    return index + 1 < len(words) and words[index + 1].word in next_words


def _is_ones_or_tens(words: list[Token], index: int) -> bool:
    return index < len(words) and (words[index].word in _ONES or words[index].word in _TENS)


def _join_halves_to_numbers(tokens: list[Token]) -> Iterator[Token]:
    """Join halves to their numbers ("two and a half", "2½"), and read "a couple of" as two."""
    index = 0
    while index < len(tokens):
        token, next_words = tokens[index], [word.word for word in tokens[index + 1 : index + 4]]
        if token.number is not None and next_words[:3] in (["and", "a", "half"], ["and", "1", "half"]):
            yield _make_number_token(token, token.number + 0.5, tokens[index + 3])
            index += 4
        elif token.number is not None and next_words[:1] == ["½"]:
            yield _make_number_token(token, token.number + 0.5, tokens[index + 1])
            index += 2
        elif token.word == "½":
            yield _make_number_token(token, 0.5, token)
            index += 1
        elif token.word == "couple":
            last = 1 if next_words[:1] == ["of"] else 0
            yield _make_number_token(token, 2.0, tokens[index + last])
            index += 1 + last
        else:
            yield token
            index += 1


def _make_number_token(first: Token, number: float, last: Token) -> Token:
    """Make a token of this number, from the first token's place to the last one's."""
    return first._replace(word=f"{number:g}", number=number, end=last.end)


def _add_up_durations(tokens: list[Token]) -> Iterator[Token]:
    """Add up amounts: "a year and a half" and "one year and six months" are 18 months."""
    index = 0
    while index < len(tokens):
        token, end = tokens[index], index + 1
        if token.number is not None and token.unit in PERIODS:
            linked = end < len(tokens) and tokens[end].word == "and" and not tokens[end].pause
            next_ = end + linked
            further = tokens[next_] if next_ < len(tokens) and not tokens[next_].pause else None
            of_more = next_ + 1 < len(tokens) and _unit_and_scale(tokens[next_ + 1].word)
            if further and linked and further.word == "half" and not of_more:
                token, end = (
                    _make_number_token(token, token.amount_in_smallest_unit / token.scale + 0.5, further),
                    next_ + 1,
                )
            elif (
                further
                and further.unit == token.unit
                and further.scale < token.scale
                and further.amount_in_smallest_unit < token.scale
            ):
                token, end = (
                    _make_number_token(
                        token, (token.amount_in_smallest_unit + further.amount_in_smallest_unit) / token.scale, further
                    ),
                    next_ + 1,
                )
        yield token
        index = end


def _join_frequencies(tokens: list[Token]) -> Iterator[Token]:
    """Join frequencies, as times a year or a day: "twice a year" is "every six months"."""
    index = 0
    while index < len(tokens):
        times, end = _read_number_of_times_and_end(tokens, index)
        period = _read_period(tokens, end, follows_times=end > index)
        if period:
            amount, unit, end = period
            number = round((times or 1) * BASE[unit] / amount, 9)
            yield _make_number_token(tokens[index], number, tokens[end - 1])._replace(unit=f"per {unit}", scale=1.0)
            index = end
        elif times and (end > index + 1 or tokens[index].word != "once" or len(tokens) == 1):
            # "Once" is often a conjunction.
            yield _make_number_token(tokens[index], times, tokens[index])
            index += 1
        else:
            yield tokens[index]
            index += 1


def _read_number_of_times_and_end(words: Sequence[Token], index: int) -> tuple[float, int]:
    """Count the times that are said at `index`: (their number, or 0; the place behind them)."""
    token = words[index]
    if token.word in _TIMES:
        return float(_TIMES[token.word]), index + 1
    if token.number and not token.unit and index + 1 < len(words) and words[index + 1].word in ("time", "x"):
        return token.number, index + 2
    return 0.0, index


class _Period(NamedTuple):
    """A period of time in its unit, and the place behind its words."""

    amount: float
    unit: str
    end: int


def _read_period(words: Sequence[Token], index: int, *, follows_times: bool) -> _Period | None:
    """Find the period that begins here: "annually", "every six months"; "a year", "per day" where it is counted."""
    if index >= len(words) or (follows_times and words[index].pause):
        return None
    end = index
    while end < min(len(words), index + 2) and words[end].word in _EACH:  # "in each year"
        end += 1
    if end == index and not follows_times:
        return _read_period_adverb(words, index)
    if not follows_times and not {"every", "each", "interval"} & {word.word for word in words[index:end]}:
        return None
    multiple = 1.0
    if end > index and end + 1 < len(words) and words[end].word in (*_SECOND, *_WHOLE):
        multiple, end = (2.0 if words[end].word in _SECOND else 1.0), end + 1
    if end < len(words) and not words[end].pause:
        last = words[end]
        if last.number and last.unit in PERIODS:
            return _Period(last.amount_in_smallest_unit, last.unit, end + 1)
        unit = _unit_and_scale(last.word) if end > index else None
        if unit and unit[0] in PERIODS:
            return _Period(multiple * unit[1], unit[0], end + 1)
    return _read_period_adverb(words, index)


def _read_period_adverb(words: Sequence[Token], index: int) -> _Period | None:
    """Find the period of words such as "annually", "half-yearly" or "12-month intervals" here."""
    token, word = words[index], words[index].word
    next_word = words[index + 1].word if index + 1 < len(words) else ""
    if token.number and token.unit in PERIODS and next_word == "interval":
        return _Period(token.amount_in_smallest_unit, token.unit, index + 2)
    if word in _HALVED and next_word in ("annual", "annually", "yearly"):
        return _Period(6.0, "month", index + 2)
    if word not in _OFTEN:
        return None
    return _Period(*_OFTEN[word], index + 1)


def _join_units_and_drop_articles(words: Iterable[Token]) -> Iterator[Token]:
    """Join units to their numbers, days behind their months, and without articles."""
    tokens_before = list(words)
    index = 0
    while index < len(tokens_before):
        token = tokens_before[index]
        second = (
            tokens_before[index + 1] if index + 1 < len(tokens_before) and not tokens_before[index + 1].pause else None
        )
        third = (
            tokens_before[index + 2]
            if second and index + 2 < len(tokens_before) and not tokens_before[index + 2].pause
            else None
        )
        if token.word in ("a", "an") and second and _unit_and_scale(second.word):
            token = token._replace(word="1", number=1.0)
        half = _find_unit_index_of_half_or_zero(tokens_before, index)
        if half:
            yield _make_amount_token(token._replace(word="0.5", number=0.5), tokens_before[half])
            index = half + 1
        elif token.word in _MONEY and second and second.number is not None:
            yield second._replace(unit=_MONEY[token.word], pause=token.pause, start=token.start)
            index += 2
        elif (
            token.number is not None
            and second
            and second.word in ("calendar", "full", "more", "whole")
            and third
            and _unit_and_scale(third.word)
        ):
            yield _make_amount_token(token, third)
            index += 3
        elif token.number is not None and second and second.word == "per" and third and third.word == "cent":
            yield token._replace(unit="%", end=third.end)
            index += 3
        elif token.number is not None and second and _unit_and_scale(_SHORT.get(second.word, second.word)):
            yield _make_amount_token(token, second)
            index += 2
        elif token.word in _NAMES and second and second.number is not None and second.number <= 31 and not second.unit:  # noqa: PLR2004
            # A date is read as "1 March", however it is written.
            yield second._replace(pause=token.pause, start=token.start)
            yield token._replace(pause=False)
            index += 2
        else:
            if token.word not in _ARTICLES:
                yield token
            index += 1


def _find_unit_index_of_half_or_zero(words: Sequence[Token], index: int) -> int:
    """Find the unit of which half is said at `index` ("half a year", "a half-year"); 0 for none."""
    if words[index].word != "half":
        return 0
    unit_index = index + 1 + (index + 1 < len(words) and words[index + 1].word in ("a", "an"))
    is_joined = unit_index < len(words) and not any(word.pause for word in words[index + 1 : unit_index + 1])
    return unit_index if is_joined and _unit_and_scale(words[unit_index].word) else 0


def _unit_and_scale(word: str) -> tuple[str, float] | None:
    if word in MINUTES:
        return "minute", MINUTES[word]
    if word in _MONTHS:
        return "month", _MONTHS[word]
    if word in _MONEY:
        return _MONEY[word], 1.0
    return ("%", 1.0) if word in _PERCENT else None


def _make_amount_token(number_token: Token, unit_token: Token) -> Token:
    known_unit = _unit_and_scale(_SHORT.get(unit_token.word, unit_token.word))
    assert known_unit, "it is a unit"
    return number_token._replace(unit=known_unit[0], scale=known_unit[1], end=unit_token.end)
