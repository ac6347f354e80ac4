"""The text of a PDF: lines of its pages as paragraphs, in plain letters, and its title."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from genaipa.languages.language import STOPS, UNSPACED
from genaipa.policies.numbering import begins_like_numbered_heading
from genaipa.policies.search import HALF, count_words

if TYPE_CHECKING:
    from collections.abc import Iterable


_ITEM = re.compile(
    r"[-*•▪◦●\u2013—・]\s|\(?(?:\d{1,2}|[a-z]|[ivx]+)[.)]\s|\uff08[\d一二三四五六七八九十]+\uff09|[\d①-⑳]+[、\uff0e]"
)
_SHORT = 40  # columns that no full line has less of
_ENDS = (".", "!", "?", ":", ";", *STOPS, "\uff1a", "\uff1b")
# The characters and the punctuation of scripts without blanks, around which none is put.
_CLOSE = rf"[{UNSPACED}\u3000-\u303f\uff00-\uff65]"
_LATIN = r"[A-Za-z0-9]"
_PAGE_NUMBER = re.compile(r"(?:page\s+)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_LONGEST_TITLE = 100  # characters
_FILE = re.compile(r"\.[A-Za-z]\w{1,4}$")


# --- Letters and lines ---------------------------------------------------------------------------------------------

_SCATTERED = 3
"""Words that the median line of a page has at least; else each word was drawn as a line of its own."""
_WIDE = 2.0
"""Weight of the width of blanks in pypdf's layout: by its own, 1.25, words that are drawn closely become one."""
_WHOLE = 0.95
"""Share of a page's letters that another way of reading it must bring, to be taken."""


def extract_pdf_page_text(page: Any) -> str:
    """Extract the text of a page of pypdf; by the places of its words where each is drawn as a line of its own."""
    text: str = page.extract_text()
    scattered = median_words_per_line(text.split("\n"))
    if scattered >= _SCATTERED:
        return text
    placed: str = page.extract_text(extraction_mode="layout", layout_mode_scale_weight=_WIDE)
    whole = len("".join(placed.split())) >= _WHOLE * len("".join(text.split()))
    return (
        _remove_layout_blank_lines(placed) if whole and median_words_per_line(placed.split("\n")) > scattered else text
    )


def median_words_per_line(lines: Iterable[str]) -> float:
    """Return the median of the words in a line, blank ones left out; 0 without any line."""
    counted = [count_words(line, HALF) for line in lines if line.strip()]
    return median(counted) if counted else 0


def _remove_layout_blank_lines(layout_text: str) -> str:
    """Return the lines of a page, of the blank lines that place them only what divides paragraphs."""
    lines = "\n".join(line.strip() for line in layout_text.strip().split("\n"))
    gaps = sorted(len(gap) for gap in re.findall(r"\n(\n*)(?=[^\n])", lines))
    usual = gaps[len(gaps) // 4] if gaps else 0
    return re.sub(r"\n(\n*)(?=[^\n])", lambda gap: "\n" * (1 + max(0, len(gap[1]) - usual)), lines)


def _squeeze_blanks_and_tab_page_number(line: str) -> str:
    """Return a line without the blanks that place its words; a page number in a table of contents stays apart."""
    return re.sub(r" {2,}", " ", re.sub(r" {3,}(?=\d{1,4}$)", "\t", line.strip()))


def join_pdf_pages_to_paragraphs(pages: list[str]) -> str:
    """Join the lines of pages to paragraphs, without page numbers and running titles.

    A line continues the one before if that one is full, or if it begins in lower case.
    """
    lines = _drop_page_numbers_and_running_titles(
        [[_squeeze_blanks_and_tab_page_number(line) for line in page.strip().split("\n")] for page in pages]
    )
    lengths = sorted(_column_width(line) for line in lines if line)
    # Most lines of running text are nearly as long as the longest ones.
    full = max(_SHORT, 0.75 * lengths[int(0.9 * (len(lengths) - 1))]) if lengths else _SHORT
    whole = " ".join(lines)
    words, spaced = set(re.findall(r"\w+", whole.lower())), _has_blanks_around_latin(whole)
    pieces: list[str] = []
    last = ""
    for line in lines:
        if line and last and _line_continues_paragraph(last, line, full):
            # Piece by piece: a paragraph may be as long as the document.
            pieces[-1], between = _line_and_separator_to_next(pieces[-1], line, words, blanks_around_latin=spaced)
            pieces += (between, line)
        elif line:
            pieces += ("\n\n", line)
        last = line
    return "".join(pieces[1:]) + "\n" if pieces else ""


def _line_continues_paragraph(previous_line: str, line: str, full_width: float) -> bool:
    if _ITEM.match(line) or (
        begins_like_numbered_heading(line)
        and not line.endswith((".", ",", ";", "。"))
        and _column_width(line) < full_width
    ):
        return False
    ended = previous_line.endswith(_ENDS)
    heading = begins_like_numbered_heading(previous_line) and _column_width(previous_line) < full_width and not ended
    if line[0].islower():
        return not heading or previous_line.endswith(("-", ","))
    return _column_width(previous_line) >= full_width and not (ended and _column_width(line) < full_width)


def _column_width(line: str) -> int:
    """Return the columns that a line takes: a Chinese character is as wide as two letters."""
    if line.isascii():
        return len(line)
    return len(line) + sum(unicodedata.east_asian_width(character) in "WF" for character in line)


def _has_blanks_around_latin(text: str) -> bool:
    """Tell whether a text without blanks between its words has them around Latin words."""
    apart = len(re.findall(rf"{_LATIN} {_CLOSE}|{_CLOSE} {_LATIN}", text))
    return apart >= len(re.findall(rf"{_LATIN}{_CLOSE}|{_CLOSE}{_LATIN}", text))


def _line_and_separator_to_next(
    previous_text: str, next_line: str, known_words: set[str], *, blanks_around_latin: bool
) -> tuple[str, str]:
    """Return a line that another one goes on, and what is between them: a word that was hyphenated becomes one again.

    It does so if the document has it in one elsewhere.
    """
    if close := (re.match(_CLOSE, previous_text[-1]) is not None) + (re.match(_CLOSE, next_line[0]) is not None):
        apart = close == 1 and blanks_around_latin and previous_text[-1].isalnum() and next_line[0].isalnum()
        return previous_text, " " if apart else ""
    broken = re.search(r"(\w+)[-\u00ad]$", previous_text)
    if not broken or not next_line[0].islower():
        return previous_text, " "
    beginning = re.match(r"\w+", next_line)
    whole = (broken.group(1) + beginning.group()).lower() if beginning else ""
    return (previous_text[:-1] if previous_text.endswith("\u00ad") or whole in known_words else previous_text), ""


_TITLES = 2
"""Lines of a running title at most."""


def _drop_page_numbers_and_running_titles(pages: list[list[str]]) -> list[str]:
    """Drop page numbers, and first and last lines that most pages share."""
    pages = [_trim_blank_lines(page) for page in pages]
    edges = Counter(_mask_title_digits_or_empty(line) for page in pages for line in {*page[:_TITLES], *page[-_TITLES:]})
    often = max(3, len(pages) / 2)
    lines: list[str] = []
    for page in pages:
        page_lines = page
        for i in (-1, 0) * _TITLES:
            if page_lines and (
                _PAGE_NUMBER.fullmatch(page_lines[i])
                or (
                    _mask_title_digits_or_empty(page_lines[i])
                    and edges[_mask_title_digits_or_empty(page_lines[i])] >= often
                )
            ):
                page_lines.pop(i)
                page_lines = _trim_blank_lines(page_lines)
        lines += page_lines
    return lines


def _trim_blank_lines(lines: list[str]) -> list[str]:
    """Return the lines of a page without blank ones above and below."""
    return "\n".join(lines).strip("\n").split("\n")


def _mask_title_digits_or_empty(line: str) -> str:
    """Return a running title without the number of its page; empty for a line without a letter, such as a bullet."""
    return re.sub(r"\d+", "0", line) if re.search(r"[^\W\d_]", line) else ""


_HANGING = re.compile(r"[|:/\u2013\u2014-]\s*\S{0,2}$|(?<!\w)[^\W\d_A-Z]{1,3}$")
"""The end of a first line that the next one goes on: a sign between two names, or a short word."""


def pdf_title_or_empty(metadata_title: str, pages: list[str]) -> str:
    """Return the title in the metadata unless it is a file's name; else the first line, if it looks like a title."""
    metadata_title = " ".join(metadata_title.split())
    if (
        metadata_title
        and not re.match(r"untitled\b|Microsoft \w+ - ", metadata_title, re.IGNORECASE)
        and not _is_file_name(metadata_title)
    ):
        return metadata_title
    lines = [_squeeze_blanks_and_tab_page_number(line) for page in pages for line in page.split("\n") if line.strip()][
        :3
    ]
    first, second, third = (*lines, "", "", "")[:3]
    if second and (_HANGING.search(first) or second[0].islower()) and not begins_like_numbered_heading(second):
        first, second = (
            first + _line_and_separator_to_next(first, second, set(), blanks_around_latin=True)[1] + second,
            third,
        )
    begun = first[:1].isupper() or re.match(_CLOSE, first) is not None
    looks_like_one = begun and re.fullmatch(rf"[^\d]*[^\d.,:;!?{STOPS}-]", first) and len(first) <= _LONGEST_TITLE
    return first if looks_like_one and not begins_like_numbered_heading(first) and not second[:1].islower() else ""


def _is_file_name(title: str) -> bool:
    """Tell whether a title is a file's name: it has an ending, or what people write in place of a blank."""
    return (
        _FILE.search(title) is not None
        or re.search(r"_|%20", title) is not None
        or (" " not in title and title.isascii() and re.search(r"\d|-.*-|^[a-z]+-[a-z]+$|\(\d+\)$", title) is not None)
    )
