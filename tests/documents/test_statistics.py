"""What makes a document hard to read, measured as the paper's table 1 does."""

from __future__ import annotations

from pathlib import Path

import pytest

from genaipa.execution.limits import max_call_usage
from genaipa.languages.en import count_english_syllables
from genaipa.policies.document import About, Document
from genaipa.policies.search import HALF, count_words
from genaipa.policies.statistics import TextStatistics, measure_text
from genaipa.systems.base import Message, Settings
from genaipa.systems.costs import estimate_token_count

# Table 1: unique words, reading time in minutes, Flesch-Kincaid grade, connective words.
TABLE_1 = {
    "Twitter": (0.21, 21, 10.3, 0.04),
    "Spotify": (0.16, 32, 12.4, 0.03),
    "Uber": (0.16, 37, 11.9, 0.04),
    "Airbnb": (0.19, 27, 14.1, 0.04),
    "Facebook": (0.18, 20, 11.8, 0.05),
}


@pytest.mark.parametrize("company", TABLE_1)
def test_table_1(shared: Path, company: str) -> None:
    """The published policies measure as printed, save Facebook's unique words (0.19) and the grades (1.8 to 2.8 up)."""
    folder = shared / "data" / "genaipabench" / "Privacy Documents" / "Privacy Policy"
    found = measure_text((folder / f"{company}_document.txt").read_text(encoding="utf-8"))
    unique, minutes, grade, connective = TABLE_1[company]
    assert round(found.unique_words, 2) == (0.19 if company == "Facebook" else unique)
    assert found.reading_time == minutes
    assert round(found.connective_words, 2) == connective
    assert 1.8 <= found.grade - grade <= 2.8


def test_counts() -> None:
    """Words are what stands between blanks, without punctuation and case; the grade is the published formula."""
    found = measure_text("The cat sat, and THE dog -- (the dog!) -- ran. It's over-cooked and fine? Yes.")
    assert (found.words, found.sentences, found.characters) == (14, 4, 78)
    assert found.unique_words == 10 / 14
    assert found.connective_words == 2 / 14
    assert found.reading_time == 1
    assert found.grade == pytest.approx(0.39 * 14 / 4 + 11.8 * 16 / 14 - 15.59)


def test_markdown_is_not_text() -> None:
    """Markers of headings, lists, tables, emphasis and links, and the addresses of links, count nowhere."""
    marked = (
        "# Data\n\nWe keep **your** [name](https://example.org/a 'x').\n\n- the _date_ of it\n- a copy\n\n"
        '> Ask `us`.\n\n| What | Why |\n|---|:-:|\n| name | post |\n\n---\n\n![logo](a.png "b")\n'
    )
    plain = "Data\n\nWe keep your name.\n\nthe date of it\n\na copy\n\nAsk us.\n\nWhat Why\n\nname post\n\nlogo\n"
    assert measure_text(marked).words == measure_text(plain).words == 18
    assert measure_text(marked).unique_words == measure_text(plain).unique_words
    assert measure_text(marked).sentences == measure_text(plain).sentences == 8


def test_sentences() -> None:
    """A heading, an item and a blank line end a sentence; a line end, an abbreviation and a decimal point don't."""
    assert (
        measure_text("# One\nTwo\nthree. Four, e.g. this, and U.S. law, is 2.5 long.\n\nFive\n* six\n* seven").sentences
        == 6
    )
    assert measure_text("One.\r\n\r\nTwo (three.) Four").sentences == 3


@pytest.mark.parametrize("text", ["", " \n", "# \n\n---\n", "… — !"])
def test_nothing_to_measure(text: str) -> None:
    """A text without a word measures zero."""
    assert measure_text(text) == TextStatistics(0, 0, 0, 0.0, 0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "a the use used rules stores asked while through don't you're 42"),
        (2, "being table handled wanted pages create people safety business client statement unique social"),
        (3, "services policy privacy media company complying third-party video opinion deletion requested"),
        (4, "information experience identify associate effectiveness"),
        (5, "individual associated organization"),
    ],
)
def test_syllables(count: int, words: str) -> None:
    """Silent letters don't count and vowels that are spoken apart do."""
    assert {word: count_english_syllables(word) for word in words.split()} == dict.fromkeys(words.split(), count)


CHINESE = "我们在您注册账户时收集您的姓名、地址和电子邮件，并在两年后删除。" * 20  # noqa: RUF001


def test_words_of_scripts_without_blanks() -> None:
    """A character is a word wherever words are counted and shown, half of one where a limit is set in English words."""
    for text, words in {
        CHINESE: 20 * 29,
        "個人情報の保護について Acme 2026": 13,
        "นโยบาย": 6,
        "ເຮົາ": 3,
        "We keep *your* -- name | 2 —": 5,
        "": 0,
    }.items():
        assert count_words(text) == measure_text(text, "zh").words == words, text
        document = Document("shop", text, About(company="Shop"))
        assert f"{words:,} words in" in repr(document)
    assert count_words(CHINESE, HALF) == 20 * 29 / 2


def test_a_token_is_some_bytes() -> None:
    """An estimate by length counts a character of Chinese nearly as a token, a letter of English as a quarter."""
    assert [estimate_token_count(text) for text in ("abcd" * 3, "данные", "我们收集")] == [3, 3, 3]
    assert max_call_usage([Message("user", "我们收集")], Settings()).input == 4
