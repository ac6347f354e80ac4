"""The numbers of sections, in one grammar for headings, clauses and citations, in all languages.

A number is steps with points between them: "4.2", "12a", "IV.B", "3.b.ii", "Article 12". However a document writes
one ("1.Data", "1)", "(1)", "01", in wide digits, "第1条", "§ 1"), it is kept and compared in this form.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from genaipa.languages.catalog import LANGUAGES
from genaipa.languages.language import CAPITAL, UNCASED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Value = tuple[int, ...]

# --- Words ---------------------------------------------------------------------------------------------------------

# Of languages that genaipa reads no answers in.
_NAMES: dict[str, str] = {
    "Article": (
        "Artigo|Artykuł|Стать[яиею]|Статт[яі]|Madde|Άρθρο|Článek|Článok|المادة|مادة|סעיף|अनुच्छेद|ข้อ|มาตรา|Điều|Pasal"
    ),
    "Section": "Se[cç]ção|Seção|Раздел|Розділ|Sekcja|Sectie|Bölüm|Oddíl|القسم|धारा|खंड|Mục",
    "Chapter": "Глава|Rozdział|Hoofdstuk|Kapitola|Κεφάλαιο|الفصل|פרק|अध्याय|หมวด|Chương",
    "Part": "Часть|Частина|Część|Deel|Část|Μέρος|الجزء|חלק|भाग|Phần",
    "Clause": "Cláusula|Пункт|Klauzula|البند",
    "Annex": "Приложение|Додаток|Załącznik|Bijlage|Příloha|Παράρτημα|ملحق|נספח|परिशिष्ट|ภาคผนวก",
}
for _language in LANGUAGES.values():
    for _name, _words in _language.sections.items():
        _NAMES[_name] = f"{_words}|{_NAMES[_name]}" if _name in _NAMES else _words
SECTION_WORD = rf"(?i:§{{1,2}}|(?:{'|'.join(_NAMES.values())})s?(?!\w)\.?)"
"""A word for a section before its number, in any language: in none of them does it mean anything else there."""
DIVISION = "|".join(_NAMES[name] for name in ("Section", "Chapter", "Part", "Article"))
"""Words that may introduce a title, or follow it."""


@cache
def _compile_section_word_or_plural(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})s?\.?", re.IGNORECASE)


def english_section_word_or_same_word(word: str, patterns_by_name: Mapping[str, str]) -> str:
    """Return the English name of a word for a section: of these names (name → words) the one with it, else the word."""
    return next(
        (name for name, words in patterns_by_name.items() if _compile_section_word_or_plural(words).fullmatch(word)),
        word,
    )


def mentions_section(text: str, section_word: str, number: str) -> bool:
    """Tell whether a text has a number behind its word, by the word's English name: "Article 5" in "laut Artikel 5"."""
    words, number = _NAMES.get(section_word, re.escape(section_word)), re.escape(number)
    ordinal = rf"[第제]\s*{number}\s*[{''.join(_ORDINAL)}]"
    return bool(
        re.search(rf"(?<!\w)(?:{words})s?\.?\s+{number}{END}|{ordinal}", convert_digits_to_ascii(text), re.IGNORECASE)
    )


def make_canonical_section_number(section_word: str, number: str) -> str:
    """Cite `Art.` and `5`, or `Artikel` and `05`, as "Article 5"; a section by its number alone."""
    name = "Section" if section_word.startswith("§") else english_section_word_or_same_word(section_word, _NAMES)
    number = "1" if re.fullmatch(_FIRST, number) else normalize_digits_of_section_number(number)
    return number if name == "Section" else f"{name} {number}"


# --- Numbers -------------------------------------------------------------------------------------------------------

ROMAN = r"(?=[IVXLC])(?:X[LC]|L?X{0,3})(?:I[XV]|V?I{0,3})"
SMALL_ROMAN = ROMAN.lower()
END = rf"(?![^\W{UNCASED}]|-[A-Za-z]{{2}})"
"""The end of a step: no digit follows, nor a letter but of scripts that add their words without a blank."""
STEP = rf"(?:\d{{1,6}}[A-Za-z]?|{ROMAN}|{SMALL_ROMAN}|[A-Za-z]){END}"
"""A step behind a point."""
_FIRST = rf"(?i:{'|'.join(language.first for language in LANGUAGES.values())})"
NUMBER = rf"(?:{_FIRST}{END}|(?:\d+[A-Za-z]?|{ROMAN}|[A-Z]){END}(?:\.{STEP})*)"
"""A number behind a word for a section: 12, 4.2, 12a, IV, IV.B, B, B.2, 3.b.ii."""
SEVERAL = rf"\d{{1,3}}(?:\.{STEP}){{1,5}}"
"""A number of several steps, which needs no word."""
BELOW = r"(?:\s?\((?:\d{1,2}|[a-z]|[ivx]{1,4}|[A-Z])\))*"
"""Steps in brackets behind it, as in Article 12(3)(a)."""


_ZEROS = "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040\u17e0\u1810\uff10"
_OTHER_DIGIT = re.compile(f"[{''.join(f'{zero}-{chr(ord(zero) + 9)}' for zero in _ZEROS)}]")


def convert_digits_to_ascii(text: str) -> str:
    """Return a text, as long as it was, with 0 to 9 for other scripts' digits and full stops for wide ones by them."""
    if text.isascii() or not _OTHER_DIGIT.search(text):
        return text
    text = _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text)
    return re.sub("(?<=[0-9])\uff0e|\uff0e(?=[0-9])", ".", text)


def normalize_digits_of_section_number(number: str) -> str:
    """Return a number in plain digits, with 1 for 01."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", convert_digits_to_ascii(number))


def roman_value_or_zero(number: str) -> int:
    """Return the value of a Roman number up to 89; 0 for anything else."""
    if not re.fullmatch(ROMAN, number):
        return 0
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def comparable_number(number: str, *, prefer_roman: bool = True) -> Value:
    """Make a number comparable: "4.2" is (4, 2), "IV.B" (4, 2), "12a" (12, 1).

    A letter that may be Roman is, where it is the first step, or if `prefer_roman`.
    """
    values: list[int] = []
    for index, step in enumerate(number.split(".")):
        for part in re.findall(r"\d+|[A-Za-z]+", step):
            counted = roman_value_or_zero(part.upper()) if prefer_roman or len(part) > 1 else 0
            first = not index and part.isupper() and roman_value_or_zero(part)
            values.append(int(part) if part.isdigit() else first or counted or ord(part.upper()[0]) - ord("A") + 1)
    return tuple(values)


GAP = 2
"""Largest step between neighbours of an outline: a heading in between may be lost."""


def can_follow_in_outline(earlier: Value, later: Value) -> bool:
    """Tell whether an outline can go on from one number to the other: 4.2 to 4.3, 4.2.1, 5 or 5.1, but not to 13."""
    if later <= earlier:
        return False
    common = next((i for i, (a, b) in enumerate(zip(earlier, later, strict=False)) if a != b), len(earlier))
    step = later[common] - (earlier[common] if common < len(earlier) else 0)
    return step <= GAP and all(number <= GAP for number in later[common + 1 :])


@lru_cache(maxsize=4096)
def split_number_word_and_steps(number: str) -> tuple[str, tuple[str, ...]]:
    """Split a number into word and steps that can be compared: "Chapter II" is ("Chapter", ("2",)), "4b" as "4.B"."""
    word, _, figures = number.rpartition(" ")
    first, _, tail = normalize_digits_of_section_number(figures).partition(".")
    return word, tuple(re.findall(r"\d+|[a-z]+", f"{roman_value_or_zero(first) or first}.{tail}".casefold()))


def append_letter_to_dotted_number_or_empty(parent_number: str, letter: str, *, same_level: bool = False) -> str:
    """Return the whole number of a letter or Roman number that a heading beneath a number has alone; else "".

    `A.` beneath `IV.` is IV.A. `same_level`: its heading is of the same level, so that it has to be of another kind.
    """
    last = parent_number.rpartition(".")[2]
    if not parent_number or " " in parent_number or not re.fullmatch(rf"{ROMAN}|{SMALL_ROMAN}|[A-Za-z]", letter):
        return ""
    if _classify_step_as_digit_or_case(last) == _classify_step_as_digit_or_case(letter):
        over, under = (re.fullmatch(ROMAN, letters.upper()) for letters in (last, letter))
        if same_level or not ((over and len(letter) == 1) or (under and not over)):
            return ""
    return f"{parent_number}.{letter}"


def _classify_step_as_digit_or_case(step: str) -> str:
    return "digit" if step[0].isdigit() else "small" if step[-1].islower() else "capital"


# --- Beginnings ----------------------------------------------------------------------------------------------------


class LeadingNumber(NamedTuple):
    """A number at the beginning of a line or heading.

    `kind` is its word ("Article", "Section"), or "number", "Roman", "letter", "small Roman", "small letter", with the
    bracket that is behind or around it: "number)", "(letter)". `mark` parts it from the `rest`.
    """

    kind: str
    number: str
    value: Value
    mark: str
    rest: str
    word: str = ""


_KINDS = ("number", "Roman", "letter", "small Roman", "small letter")
COUNTED = frozenset(form.format(kind) for kind in _KINDS for form in ("{}", "{})", "({})"))
"""The kinds of numbers without a word."""
_OPENING = "\"“„«‘'([「『¿"  # noqa: RUF001 - typographic quotes are meant
_NEW_WORD = rf"[{_OPENING.replace('[', '')}\[]?(?:[{CAPITAL}][^\W\d_{CAPITAL}]|[{UNCASED}])"
_WORDED = re.compile(
    rf"({SECTION_WORD})\s{{0,3}}({NUMBER}){BELOW}"
    rf"(\.(?=\s|$|[^\W\d])|\s*[:\u2013\u2014](?!\d)|\s+-(?=\s)|-(?=\s|[{CAPITAL}]))?\s*(.*)",
    re.DOTALL,
)
_MARK = r"(\s?[.):\u3001\u00ba\u00aa\u00b0]+|\s?[/|\u00b7\u2022\u00bb>_~](?=\s))?(?:\s*[\u2013\u2014-](?=\s))?(\s*)(.*)"
_GLUED = re.compile(rf"(\d+(?:\.\d+)+)(?={_NEW_WORD})()()(.*)", re.DOTALL)
_DIGITS = re.compile(rf"(\d+[A-Za-z]?{END}(?:\.{STEP})*){_MARK}", re.DOTALL)
_LETTERS = re.compile(
    # Two letters ("U.S.") are an abbreviation, unless the first one is Roman.
    rf"((?:{ROMAN}|[A-Z]){END}\.\d{{1,3}}{END}(?:\.{STEP})*|(?=[IVX]+\.[A-H]\W){ROMAN}\.[A-H](?:\.{STEP})*"
    rf"|(?:{ROMAN}|[A-Z]|{SMALL_ROMAN}|[a-z]){END}(?=\s?[.)\u3001])){_MARK}",
    re.DOTALL,
)
_AROUND = re.compile(rf"\(\s?(\d{{1,3}}|{ROMAN}|{SMALL_ROMAN}|[A-Za-z])\s?\)[.:]?\s*(\S.*)", re.DOTALL)
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s|$)|\d{1,2}\.\s?\d{1,2}\.\s?(?:19|20)\d\d(?!\.?\d)")
_LEAD = re.compile(r"[\W\d_]*(?:[^\W\d_](?=[.\uff0e)\uff09\u3001]))?[\W\d_]*")
_WIDE = {0xFF0E: ".", 0xFF08: "(", 0xFF09: ")", 0xFF1A: ":", 0x3000: " "} | {
    letter: chr(letter - 0xFEE0) for letter in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}
_ORDINAL = "条條款조章장节節절編편部부"
_KOREAN = {"조": "Article", "장": "Chapter", "절": "Section", "편": "Part", "부": "Part"}


def _translate_korean_numbering(text: str) -> str:
    """Write 제2조 as Article 2, and 제2조의3 as Article 2.3."""
    match = re.match(rf"제\s*(\d+)\s*([{''.join(_KOREAN)}])(?:의\s*(\d+))?(?=\W|$)\s*[.:]?\s*", text)
    if not match:
        return text
    number = f"{_KOREAN[match[2]]} {match[1]}{f'.{match[3]}' if match[3] else ''}"
    return f"{number}: {text[match.end() :]}".rstrip(": ")


_SPELT = [*(language.spelt for language in LANGUAGES.values() if language.spelt), _translate_korean_numbering]


def normalize_leading_number(text: str) -> str:
    """Return a text with the number at its beginning in English and in plain digits, however it is written."""
    if text[:40].isascii():
        return text
    text = re.sub(r"(?<=\d)[\u00ba\u00aa]", "", convert_digits_to_ascii(text))
    text = re.sub(r"^[\u2460-\u2473]\W?\s*", lambda circled: f"{ord(circled[0][0]) - 0x245F}. ", text)
    text = re.sub(r"^[\u2160-\u217f]+", lambda roman: unicodedata.normalize("NFKC", roman[0]), text)
    lead = _LEAD.match(text)
    end = lead.end() if lead else 0
    # A number of a Japanese document may have hyphens for points.
    text = re.sub(r"(?<=\d)[\uff0d\u2011](?=\d)", ".", text[:end].translate(_WIDE)) + text[end:]
    return reduce(lambda words, spell: spell(words), _SPELT, text)


def iterate_leading_number_readings(line: str) -> Iterator[LeadingNumber]:
    """Yield the ways to read the number that a line begins with: none, one, or as a Roman number and as a letter."""
    text = normalize_leading_number(line)
    if worded := _WORDED.match(text):
        word, number, mark, title = worded.groups()
        name = make_canonical_section_number(word, number)
        kind, _, counted = name.rpartition(" ")
        yield LeadingNumber(
            kind or "Section", name, comparable_number(counted, prefer_roman=False), mark or "", title, word
        )
        return
    if _YEAR.match(text):
        return
    if around := _AROUND.match(text):
        if not re.match(r"(?:19|20)\d\d\b", around[2]):  # (c) 2024
            yield from _list_possible_leading_numbers(around[1], "()", around[2])
        return
    if match := _GLUED.match(text) or _DIGITS.match(text) or _LETTERS.match(text):
        number, mark, blank, title = (group or "" for group in match.groups())
        if not mark and title[:1].islower() and (article := re.fullmatch(r"(.+)\.([AI])", number)):
            number, title, mark, blank = article[1], f"{article[2]} {title}", ".", " "  # "1.A new way"
        if _is_followed_like_section_number(number, mark, blank, title):
            yield from _list_possible_leading_numbers(number, mark.strip(), title)


def _is_followed_like_section_number(number: str, punctuation: str, blank_after: str, title: str) -> bool:
    """Tell whether what is behind a number shows that it is one: a blank, or a point or bracket before a new word."""
    several = "." in number
    if not title:
        return number[0].isdigit()
    if blank_after:
        return bool(punctuation) or several or number.isdecimal()
    if not (punctuation or several):
        return False
    if punctuation and number[0].isdigit():
        return title[0].isalpha() or title[0] in _OPENING
    return bool(re.match(_NEW_WORD, title))


def _list_possible_leading_numbers(number: str, punctuation: str, title: str) -> Iterator[LeadingNumber]:
    number = normalize_digits_of_section_number(number)
    form = "({})" if punctuation == "()" else "{})" if punctuation.startswith(")") and "." not in number else "{}"
    first = number.partition(".")[0]
    if number[0].isdigit():
        for value in dict.fromkeys((comparable_number(number, prefer_roman=False), comparable_number(number))):
            yield LeadingNumber(form.format("number"), number, value, punctuation, title)
        return
    small = "small " if first.islower() else ""
    if roman := roman_value_or_zero(first.upper()):
        value = (roman, *comparable_number(number, prefer_roman=False)[1:])
        yield LeadingNumber(form.format(f"{small}Roman"), number, value, punctuation, title)
    if len(first) == 1:
        value = (ord(first.upper()) - ord("A") + 1, *comparable_number(number, prefer_roman=False)[1:])
        yield LeadingNumber(form.format(f"{small}letter"), number, value, punctuation, title)


def split_heading_number_and_title(heading: str) -> tuple[str, str]:
    """Split "4.2 Title" into "4.2" and "Title", "Article 12: Title" into "Article 12" and "Title"; "" for no number."""
    beginning = next(iterate_leading_number_readings(heading), None)
    if beginning is None:
        return "", heading
    return beginning.number, strip_enclosing_brackets(
        strip_act_name_before_title(beginning.rest) if beginning.word else beginning.rest
    )


def begins_like_numbered_heading(line: str) -> bool:
    """Tell whether a line begins as numbered headings do: with a word and its number, or with one before a new word."""
    first = next(iterate_leading_number_readings(line), None)
    if first is None or first.word:
        return first is not None and not first.word[0].islower()
    return first.kind in _OF_HEADINGS and first.rest.strip(_OPENING)[:1].isalpha() and not first.rest[0].islower()


_OF_HEADINGS = frozenset(("number", "number)", "Roman", "letter"))
_PERHAPS = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[A-Za-z]?(?:$|[{UNCASED}]|(?!%|[/-][a-z0-9])[\W_])|\d+\.[^\W\d]|第|제\s?\d|[零〇一二三四五六七八九十]+[\W_])"
)


def may_have_unread_number(title: str, recognized_number: str) -> bool:
    """Tell whether a heading without a number begins with something that may be one, which this grammar can't read."""
    return not recognized_number and not _YEAR.match(title) and bool(_PERHAPS.match(title))


def strip_enclosing_brackets(title: str) -> str:
    """Return a title without brackets around all of it: 제2조 (이용 목적)."""
    whole = re.fullmatch(r"[(\uff08【]\s*([^()\uff08\uff09【】]*?)\s*[)\uff09】]", title)
    return whole[1] if whole else title


def strip_act_name_before_title(title: str) -> str:
    """Remove the name of an act that is glued to a title ("GDPRSubject-matter")."""
    return re.sub(r"^(?:[A-Z]{3,}(?=[A-Z][a-z])|GDPR\s+(?:[\u2013—-]\s+)?)", "", title)
