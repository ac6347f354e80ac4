"""The sections of a document: recognised by headings and numbering, and found again by a citation.

Markdown headings are the sections, if there are any. Otherwise they are lines that look like headings and whose numbers
rise, so that lists, tables of contents and sentences are left out. A document of one long line has an outline only if
its numbering (I., II., … with A., B., … beneath) is unambiguous.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any

from genaipa.languages.catalog import LANGUAGES
from genaipa.languages.language import CAPITAL, ENDS, STOPS, UNCASED
from genaipa.policies.numbering import (
    BELOW,
    COUNTED,
    DIVISION,
    GAP,
    NUMBER,
    SECTION_WORD,
    LeadingNumber,
    append_letter_to_dotted_number_or_empty,
    can_follow_in_outline,
    iterate_leading_number_readings,
    make_canonical_section_number,
    normalize_digits_of_section_number,
    normalize_leading_number,
    roman_value_or_zero,
    split_heading_number_and_title,
    split_number_word_and_steps,
    strip_act_name_before_title,
    strip_enclosing_brackets,
)
from genaipa.policies.reading import make_commonmark_parser, markdown_line_text
from genaipa.policies.search import count_words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@cache
def _block_parser() -> MarkdownIt:
    parser = make_commonmark_parser()
    # "2. Data" above a line of dashes is a heading, and no item of a list.
    parser.disable("list").core.ruler.enableOnly(["normalize", "block"])
    return parser


# Pages have a link to each heading beside it, which reads as a mark or as nothing.
_ANCHOR = re.compile(r"(?:\s+#|\s*\u00b6|[\u200b-\u200d])+$")


def list_heading_levels_lines_and_titles(text: str) -> list[tuple[int, int, str]]:
    """List the headings of a text: level (1 to 6), line (from 0), and title without markup.

    Headings inside code and quotations don't count; nor do underlined list items, or several lines above one underline,
    such as front matter.
    """
    links: dict[str, Any] = {}
    # A lone carriage return would be a line of its own.
    tokens = _block_parser().parse(text.replace("\r", " "), links)
    return [
        (int(token.tag[1]), token.map[0], _ANCHOR.sub("", markdown_line_text(content.content, links.get("references"))))
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.map and not token.level
        if re.fullmatch(r"(?![-*+] ).+", content.content)
    ]


@dataclass(frozen=True)
class Section:
    """A section, `text[start:end]`: from its heading to the next one of any level.

    `number` is the document's own ("4.2", "III.B", "Article 12", "1798.105") or empty; `level` is 1 for the outermost.
    """

    number: str
    title: str
    level: int
    start: int
    end: int

    @property
    def label(self) -> str:
        """Citation: "Section 4.2", "Article 12", or the title of an unnumbered section."""
        if not self.number:
            return self.title
        return self.number if self.number[0].isalpha() and " " in self.number else f"Section {self.number}"

    @property
    def label_and_title(self) -> str:
        """Label and title: "Section 4.2 Retention"."""
        return f"{self.label} {self.title}" if self.number and self.title else self.label

    @cached_property
    def case_insensitive_title_and_label(self) -> tuple[str, str]:
        """Title and label, folded: every citation is compared with those of every section."""
        return self.title.casefold(), self.label.casefold()


@lru_cache(maxsize=16)  # a command reads its documents several times
def find_sections(text: str) -> tuple[Section, ...]:
    """Find the sections of a text in order; empty if nothing looks like a heading."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    headings = _read_markdown_headings(text, starts)
    if len(headings) < 2:  # noqa: PLR2004 - one marked heading is the document's title, and the outline may be plain
        headings = _find_plain_headings(*_read_plain_lines_and_starts(text, starts), headings) or _find_inline_outline(
            text
        )
    elif not any(heading.number for heading in headings):
        headings = _add_bold_headings(*_read_plain_lines_and_starts(text, starts, mask_non_bold=True), headings)
    ends = [*(heading.start for heading in headings), len(text)][1:]
    return tuple(replace(heading, end=end) for heading, end in zip(headings, ends, strict=True))


# --- Markdown ------------------------------------------------------------------------------------------------------


def _read_markdown_headings(text: str, line_starts: list[int]) -> list[Section]:
    """Sections of Markdown headings; their numbers are read from their text."""
    headings = list_heading_levels_lines_and_titles(text)
    outermost = min((level for level, _, _ in headings), default=1)
    return _complete_lettered_numbers(
        [
            Section(*split_heading_number_and_title(title), level - outermost + 1, line_starts[line], 0)
            for level, line, title in headings
        ]
    )


def _complete_lettered_numbers(headings: list[Section]) -> list[Section]:
    """Complete letters and Roman numbers: `A.` beneath `IV.` is IV.A, and `a)` beneath `1.` is 1.a."""
    complete: list[Section] = []
    above: dict[int, str] = {}
    for heading in headings:
        above = {level: number for level, number in above.items() if level <= heading.level}
        sibling = above.pop(heading.level, "")
        number, level = heading.number, heading.level
        if number.islower() and (nested := append_letter_to_dotted_number_or_empty(sibling, number, same_level=True)):
            # Small letters are beneath the number before them, though its heading is of the same level.
            number, level, above[heading.level] = nested, level + 1, sibling
        else:
            number = append_letter_to_dotted_number_or_empty(above[max(above)] if above else "", number) or number
            above[heading.level] = number
        complete.append(replace(heading, number=number, level=level))
    return complete


_BOLD = re.compile(r"\s*(\*\*|__)(?=\S)(?:(?!\1).)+\1:?\s*")


def _read_plain_lines_and_starts(
    text: str, line_starts: list[int], *, mask_non_bold: bool = False
) -> tuple[list[str], list[int]]:
    """Return the lines of a text as they read, and their places: one that is bold as a whole between blank lines.

    With `mask_non_bold` every other line that has text is an ellipsis.
    """
    lines, places = [], []
    for line, start in zip(text.split("\n"), line_starts, strict=False):
        whole = _BOLD.fullmatch(line)
        read = markdown_line_text(line) if whole or not mask_non_bold else "\u2026" * len(line.strip())
        lines += ["", read, ""] if whole else [read]
        places += [start] * (3 if whole else 1)
    return lines, places


def _add_bold_headings(lines: list[str], line_starts: list[int], markdown_headings: list[Section]) -> list[Section]:
    """Return the marked headings, which have no numbers, with the numbered bold lines beneath them."""
    outline = _build_outline(
        [bold for i, line in enumerate(lines) if line for bold in _list_headings_in_numbered_line(lines, i)]
    )
    starts_known = {section.start for section in markdown_headings}
    bold = [
        section
        for section in _make_sections_with_levels_but_no_ends(outline, line_starts)
        if section.start not in starts_known
    ]
    if len(bold) < 2:  # noqa: PLR2004 - one number is no outline
        return markdown_headings
    levels_above = {
        section.start: max((heading.level for heading in markdown_headings if heading.start < section.start), default=0)
        for section in bold
    }
    return sorted(
        [
            *markdown_headings,
            *(replace(section, level=section.level + levels_above[section.start]) for section in bold),
        ],
        key=lambda section: section.start,
    )


# --- Plain text ----------------------------------------------------------------------------------------------------

_MAX_TITLE = 200  # characters; titles in law are long
_MAX_WORDS = 20  # of a title that consists of several sentences
_MAX_SENTENCE = 6  # words of a title that may end like a sentence
_MAX_ALONE = 9  # words of a title without a number
_QUOTES = "\"'“\u2018(¿「『（"  # noqa: RUF001 - wide ones are meant
_PAUSES = (";", ",", "；", "，", "、", "؛", "،")  # noqa: RUF001 - so are these
_ENDS = (".", ":", "：", *STOPS)  # noqa: RUF001
_SENTENCE = re.compile(rf"[{ENDS};]\s+[\"“„«(]?[{CAPITAL}{UNCASED}]|[{STOPS}；]\s*\w")  # noqa: RUF001
_DOUBTFUL = COUNTED - {"number", "Roman", "letter"}  # kinds that lists have, too
_CODE = 100  # sections of a code of law are counted in leaps


@dataclass(frozen=True)
class _Candidate:
    """A line that may be a heading: the `kind` of its number, and the number as comparable `value`."""

    kind: str
    value: tuple[int, ...]
    number: str
    title: str
    line: int


def _find_plain_headings(lines: list[str], line_starts: list[int], markdown_headings: list[Section]) -> list[Section]:
    """Find headings by looks and rising numbers; a marked title stays the outermost section."""
    # Line → its rank among the lines that aren't blank.
    ranks = {i: rank for rank, i in enumerate(i for i, line in enumerate(lines) if line)}
    candidates = _treat_bracketed_as_plain_numbers(
        [candidate for i in range(len(lines)) for candidate in _list_headings_in_numbered_line(lines, i)]
    )
    headings = _build_outline(_drop_list_items(_drop_table_of_contents(candidates, ranks), ranks))
    numbered = {candidate.line for candidate in headings}
    titles = [
        candidate
        for i in range(len(lines))
        if i not in numbered
        for candidate in _list_heading_in_unnumbered_line(lines, i, numbered)
    ]
    repeated = Counter(title.title.casefold() for title in titles)
    headings = sorted(
        # A line that comes again and again is the header or footer of a page.
        headings + [title for title in titles if repeated[title.title.casefold()] == 1],
        key=lambda candidate: candidate.line,
    )
    first = markdown_headings[0].start if markdown_headings else -1
    sections = [
        section for section in _make_sections_with_levels_but_no_ends(headings, line_starts) if section.start != first
    ]
    return sorted(
        markdown_headings + [replace(s, level=s.level + len(markdown_headings)) for s in sections],
        key=lambda s: s.start,
    )


def _treat_bracketed_as_plain_numbers(candidates: list[_Candidate]) -> list[_Candidate]:
    """Take 1) for the 1 of 1.1, where nothing is numbered 1."""
    if any(candidate.kind == "number" and len(candidate.value) == 1 for candidate in candidates):
        return candidates
    return [replace(c, kind="number") if c.kind == "number)" else c for c in candidates]


def _list_headings_in_numbered_line(lines: list[str], i: int) -> list[_Candidate]:
    """Read a line as a numbered heading: no way, one way, or as a Roman number and as a letter."""
    text = lines[i]
    if len(text) > _MAX_TITLE and not re.match(r"\d{3,}(?:\.\d+)+\.\s|§", text):
        return []
    candidates = []
    for beginning in iterate_leading_number_readings(text):
        title = (
            _title_after_worded_number(lines, i, beginning)
            if beginning.word
            else _title_after_plain_number(lines, i, beginning)
        )
        if title is not None:
            candidates.append(_Candidate(beginning.kind, beginning.value, beginning.number, title, i))
    return candidates


def _title_after_worded_number(lines: list[str], i: int, leading_number: LeadingNumber) -> str | None:
    """Return the title behind a number with its word; None if the line is no heading."""
    if leading_number.word[0].islower():
        return None
    run_in = bool(leading_number.mark) or leading_number.word[0] == "§"
    heading = strip_enclosing_brackets(strip_act_name_before_title(leading_number.rest))
    title = _read_title_after_number(
        heading,
        after_finished_line=_follows_finished_line(lines, i),
        lower_case_allowed=bool(leading_number.mark),
        text_may_follow_at_once=run_in,
    )
    return title if leading_number.rest else _title_on_next_line_or_empty(lines, i)


def _title_after_plain_number(lines: list[str], i: int, leading_number: LeadingNumber) -> str | None:
    """Return the title behind a number without a word; None if the line is no heading."""
    code = bool(re.match(r"\d{3,}\.\d", leading_number.number)) and leading_number.mark.startswith(".")
    title = _read_title_after_number(
        strip_enclosing_brackets(leading_number.rest),
        after_finished_line=_follows_finished_line(lines, i),
        text_may_follow_at_once=code,
    )
    if not title and not code:
        return None
    bare = not leading_number.mark and "." not in leading_number.number
    if bare or leading_number.kind in _DOUBTFUL:
        return (
            title
            if _stands_alone_as_title(lines, i, leading_number.rest) and _is_followed_by_text_or_heading(lines, i)
            else None
        )
    return title


def _is_followed_by_text_or_heading(lines: list[str], i: int) -> bool:
    """Tell whether a sentence, a longer line or a heading is below a line that may be an item, and not another item."""
    next_line = next((j for j in range(i + 1, len(lines)) if lines[j]), i)
    numbered = [*iterate_leading_number_readings(lines[next_line])]
    if numbered and numbered[0].kind in _DOUBTFUL:
        return _stands_alone_as_title(lines, next_line, numbered[0].rest)
    return bool(numbered) or len(lines[next_line]) > len(lines[i]) or lines[next_line].endswith((*ENDS, *STOPS))


def _follows_finished_line(lines: list[str], i: int) -> bool:
    return i == 0 or not lines[i - 1] or lines[i - 1].endswith((".", ")", ";", ":", "?", "!"))


def _read_title_after_number(
    text: str, *, after_finished_line: bool, lower_case_allowed: bool = False, text_may_follow_at_once: bool = False
) -> str | None:
    """Read a title behind a number.

    "" if the section's text follows at once (`text_may_follow_at_once`), None if it is no title.
    """
    text = text.strip()
    if re.search(r"(?:\t|\.{2,}|…|\s{3,}|\s\.)\s*\d{1,4}$", text):  # a table of contents
        return None
    words = count_words(text)
    starts = not text or text[0] in _QUOTES or text[0].isdigit() or (text[0].isalpha() and not text[0].islower())
    starts = starts or (lower_case_allowed and text[0].islower())
    ends = text.endswith(_PAUSES) or (text.endswith(_ENDS) and (text_may_follow_at_once or words > _MAX_SENTENCE))
    inside = _SENTENCE.search(text) and (text.endswith(_ENDS[:1] + _ENDS[2:]) or words > _MAX_WORDS)
    if starts and not (ends or inside):
        return text.rstrip(".:\uff1a")
    return "" if text_may_follow_at_once and after_finished_line and text[:1].isupper() else None


def _title_on_next_line_or_empty(lines: list[str], i: int) -> str:
    text = lines[i + 1] if i + 1 < len(lines) else ""
    title = (
        ""
        if split_heading_number_and_title(text)[0] or text.startswith("(")
        else _read_title_after_number(text, after_finished_line=True)
    )
    return title if title == text else ""


def _drop_table_of_contents(candidates: list[_Candidate], nonblank_line_ranks: dict[int, int]) -> list[_Candidate]:
    """Leave out a table of contents: lines in a row that come again as headings."""
    last_lines = {_comparable_heading_key(candidate): candidate.line for candidate in candidates}
    candidate_places = {nonblank_line_ranks[candidate.line] for candidate in candidates}
    return [
        candidate
        for candidate in candidates
        if not candidate.title
        or last_lines[_comparable_heading_key(candidate)] == candidate.line
        or nonblank_line_ranks[candidate.line] + 1 not in candidate_places
    ]


def _comparable_heading_key(candidate: _Candidate) -> tuple[str, str, str]:
    title = re.sub(r"\W*\d*$", "", candidate.title).casefold()
    return candidate.kind, candidate.number, " ".join(title.split())


def _drop_list_items(candidates: list[_Candidate], nonblank_line_ranks: dict[int, int]) -> list[_Candidate]:
    """Leave out items of lists and remains of tables of contents: lines in a row.

    Two headings of one kind have text between them, unless a section is empty.
    """
    runs: list[list[_Candidate]] = []
    for candidate in candidates:
        last = runs[-1][-1] if runs else None
        if (
            last is not None
            and candidate.kind in COUNTED
            and (candidate.kind, len(candidate.value)) == (last.kind, len(last.value))
            and candidate.value > last.value
            and nonblank_line_ranks[candidate.line] == nonblank_line_ranks[last.line] + 1
        ):
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    # Two lines with a blank one between them may be two sections, the first of them empty.
    return [c for run in runs if len(run) == 1 or (len(run) == 2 and run[1].line > run[0].line + 1) for c in run]  # noqa: PLR2004


def _build_outline(candidates: list[_Candidate]) -> list[_Candidate]:
    """Keep candidates whose numbers rise within their section; kinds nest as they come up."""
    outline: list[_Candidate] = []
    for kind in _order_heading_kinds(candidates):
        borders = [candidate.line for candidate in outline]
        used_lines = set(borders)
        free_candidates = [c for c in candidates if c.kind == kind and c.line not in used_lines]
        for _, group in groupby(free_candidates, key=lambda c: sum(border < c.line for border in borders)):
            outline += _longest_rising_chain(list(group))
        outline.sort(key=lambda candidate: candidate.line)
    return outline


def _order_heading_kinds(candidates: list[_Candidate]) -> list[str]:
    """Order the kinds from outermost to innermost: as they come up, but articles of a law are inside its sections."""
    kinds = list(dict.fromkeys(c.kind for c in candidates if c.kind not in COUNTED or _can_begin_outline(c.value)))
    count = Counter(candidate.kind for candidate in candidates)
    if "Article" in kinds and 0 < count["Section"] < count["Article"]:
        kinds.remove("Section")
        kinds.insert(kinds.index("Article"), "Section")
    return kinds


def _can_begin_outline(heading_number: tuple[int, ...]) -> bool:
    return heading_number[0] <= GAP or heading_number[0] >= _CODE


def _longest_rising_chain(candidates: list[_Candidate]) -> list[_Candidate]:
    """Find the longest chain of numbers that follow one another; of several the latest."""
    worded = candidates[0].kind not in COUNTED
    chains: list[list[_Candidate]] = [[] for _ in candidates]
    for i in reversed(range(len(candidates))):
        continuations = [
            chains[j] for j in range(len(candidates) - 1, i, -1) if _can_heading_follow(candidates[i], candidates[j])
        ]
        chains[i] = [candidates[i], *max(continuations, key=len, default=[])]
    starts = [c for c in reversed(chains) if worded or _can_begin_outline(c[0].value)]
    best = max(starts, key=len, default=[])
    return best if worded or len(best) > 1 else []


def _can_heading_follow(earlier: _Candidate, later: _Candidate) -> bool:
    """Whether a heading can be the next one; words ("Article") and codes of law may leap."""
    leaps = earlier.kind not in COUNTED or earlier.value[0] >= _CODE
    return later.value > earlier.value if leaps else can_follow_in_outline(earlier.value, later.value)


def _list_heading_in_unnumbered_line(lines: list[str], i: int, numbered_lines: set[int]) -> list[_Candidate]:
    """Read an unnumbered title: a short line between blank lines, with text below."""
    if not _stands_alone_as_title(lines, i, lines[i]):
        return []
    next_line = next(j for j in range(i + 1, len(lines)) if lines[j])
    body = next_line in numbered_lines or len(lines[next_line]) > len(lines[i])
    return [_Candidate("", (), "", lines[i], i)] if body else []


def _stands_alone_as_title(lines: list[str], i: int, title: str) -> bool:
    """Whether a title is short and has nothing of a sentence, and its line is between blank ones, with text below."""
    title = strip_enclosing_brackets(title)
    if not title or (i and lines[i - 1]) or lines[i + 1 : i + 2] != [""] or not any(lines[i + 2 :]):
        return False
    ended = unicodedata.category(title[-1])[0] in "LNM" or title[-1] in '?)”"」』）؟'  # noqa: RUF001 - wide ones are meant
    begun = re.match(rf"[\"“„«¿「『]?[{CAPITAL}{UNCASED}]\D", title)
    signs = re.search(r"[.:;,!|\t：；，、。！؛،।]|\d{2,}", title)  # noqa: RUF001 - so they are
    return bool(ended and begun and not signs and count_words(title) <= _MAX_ALONE)


def _make_sections_with_levels_but_no_ends(headings: list[_Candidate], line_starts: list[int]) -> list[Section]:
    """Set levels: kinds nest as they come up, 4.2 in 4, titles in numbers."""
    depth = {kind: n for n, kind in enumerate(_order_heading_kinds([c for c in headings if c.kind]), start=1)}
    floors = {kind: min(len(c.value) for c in headings if c.kind == kind) for kind in depth}
    sections: list[Section] = []
    inside = 0
    for candidate in headings:
        level = inside + 1
        if candidate.kind:
            counted = candidate.kind in COUNTED and candidate.value[0] < _CODE
            deeper = len(candidate.value) - floors[candidate.kind] if counted else 0
            level = inside = depth[candidate.kind] + deeper
        sections.append(Section(candidate.number, candidate.title, level, line_starts[candidate.line], 0))
    return _complete_lettered_numbers(sections)


# --- One line ------------------------------------------------------------------------------------------------------

_MAX_INLINE = 12  # words in which a title that isn't marked has to end
_STARTS = "|".join(language.starts for language in LANGUAGES.values())


def _find_inline_outline(text: str) -> list[Section]:
    """Find an outline inside a line: I., II., … in a row, and A., B., … in a row beneath each, or nothing."""
    marks = [
        (match.start(), match.end(), match.group(1))
        for match in re.finditer(rf"(?<!\S)([IVX]+)\. (?=[{CAPITAL}{UNCASED}])", text)
    ]
    begin = max((i for i, mark in enumerate(marks) if mark[2] == "I"), default=0)
    chain = marks[begin:]
    if len(chain) < 3 or [roman_value_or_zero(mark[2]) for mark in chain] != list(range(1, len(chain) + 1)):  # noqa: PLR2004 - fewer prove nothing
        return []
    contents = [
        text[mark[1] : next_mark[0]].strip(" /|·•-\u2013—\t\n") for mark, next_mark in pairwise(marks[: begin + 1])
    ]
    sections: list[Section] = []
    ends = [mark[0] for mark in chain[1:]] + [len(text)]
    for n, ((start, body, number), end) in enumerate(zip(chain, ends, strict=True)):
        title = contents[n] if n < len(contents) and text.startswith(contents[n], body) else ""
        sections.append(Section(number, title or _cut_inline_title(text[body:end]), 1, start, 0))
        letters = list(re.finditer(rf"(?<!\S)([A-Z])\. (?=[{CAPITAL}{UNCASED}])", text[body:end]))
        if len(letters) > 1 and "".join(m.group(1) for m in letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(letters)]:
            sections += [
                Section(f"{number}.{m.group(1)}", _cut_inline_title(text[body + m.end() : end]), 2, body + m.start(), 0)
                for m in letters
            ]
    return sections


def _cut_inline_title(text: str) -> str:
    """Cut a title from the text behind it: up to the word that begins the first sentence."""
    words = text[:_MAX_TITLE].split()[:_MAX_INLINE]
    capital = 0
    for i, word in enumerate(words):
        if i and re.fullmatch(_STARTS, word):
            return " ".join(words[:i])
        if i and not capital and word[0].isupper():
            capital = i
        if word.endswith((".", "?", ":")):
            return " ".join(words[: capital or i + 1]).rstrip(".:")
    return " ".join(words[: capital or len(words)])


def find_innermost_cited_section(sections: tuple[Section, ...], citation: str) -> Section | None:
    """Find the section that a citation names; None without any.

    A citation is a number with or without its word ("4.2", "§ 4.2", "Sec. IV.B", "Art. 12(3)"), or a title. A
    subdivision that is no section of its own means the section it is in; of several ("Chapter III, Section 2") the
    innermost is meant.
    """
    wanted = normalize_leading_number(" ".join(citation.split())).strip(" .,;:\"'\u201c\u201d\u2018\u2019[]*")
    name = re.sub(rf"^(?:the )?(?:(?:{DIVISION}) (?:on |titled |called )?)?", "", wanted, flags=re.IGNORECASE)
    name = re.sub(rf" (?:{DIVISION})$", "", name, flags=re.IGNORECASE)
    section = _find_by_title_or_label(sections, wanted) or _find_by_title_or_label(sections, name)
    if section:
        return section
    # The numbers with their words, and what is below each; one without a word at the beginning.
    bare = _BARE.match(wanted)
    cited = [(make_canonical_section_number(word, number), steps) for word, number, steps in _WORDED.findall(wanted)]
    cited = cited or ([(normalize_digits_of_section_number(bare[1]), bare[2])] if bare else [])
    sections_cited = [
        hits for number, subdivision in cited if (hits := _find_by_number_or_parent(sections, number, subdivision))
    ]
    if sections_cited:
        # Where numbering begins anew in each chapter, the chapter that is named beside it decides.
        begin = max((hits[0].start for hits in sections_cited if len(hits) == 1), default=0)
        innermost = [next((hit for hit in hits if hit.start >= begin), hits[0]) for hits in sections_cited]
        return max(innermost, key=lambda candidate: candidate.level)
    # "C. Cookies" is cited by its title; "5. Cookies" names a section that isn't there.
    lettered = all(re.fullmatch(r"[A-Z]", number) for number, _ in cited)
    return _find_by_title_or_label(sections, split_heading_number_and_title(wanted)[1]) if cited and lettered else None


def _find_by_title_or_label(sections: tuple[Section, ...], title_or_label: str) -> Section | None:
    wanted = title_or_label.strip(" \"'\u201c\u201d\u2018\u2019").casefold()
    matches = (section for section in sections if wanted in section.case_insensitive_title_and_label)
    return next(matches, None) if wanted else None


_WORDED = re.compile(rf"(?<!\w)({SECTION_WORD})\s*({NUMBER})({BELOW})")
_BARE = re.compile(rf"({NUMBER})({BELOW})(?=$|[.,:()]|\s[A-Z(\u2013—-])(?![A-Z]\s)")


def _find_by_number_or_parent(sections: tuple[Section, ...], cited_number: str, subdivision: str = "") -> list[Section]:
    """Find sections by number; else the one above, if that has no subsections.

    What is `subdivision` a number, as in 12(3)(a), may be a section of its own.
    """
    numbers = _sections_and_steps_for_cited_word(sections, cited_number)
    inner = tuple(step.casefold() for step in re.findall(r"\w+", subdivision))
    wanted = split_number_word_and_steps(cited_number)[1]
    for deep in range(len(inner), -1, -1):
        if hits := [section for section, steps in numbers if steps == wanted + inner[:deep]]:
            return hits
    parent = wanted[:-1]
    if "." not in cited_number or any(steps[:-1] == parent for _, steps in numbers):
        return []
    return _find_by_number_or_parent(sections, cited_number.rpartition(".")[0])


def _sections_and_steps_for_cited_word(
    sections: tuple[Section, ...], cited_number: str
) -> list[tuple[Section, tuple[str, ...]]]:
    """Return the sections that the word of a citation may mean, with the steps of their numbers."""
    word = split_number_word_and_steps(cited_number)[0]
    numbers = [(section, *split_number_word_and_steps(section.number)) for section in sections if section.number]
    words = {word}
    if word in _SAME and not any(name == word for _, name, _ in numbers):
        words = _SAME
    return [(section, steps) for section, name, steps in numbers if name in words]


# What one document calls a section, an answer may call an article; a chapter is never meant by it.
_SAME = {"", "Article", "Clause"}
