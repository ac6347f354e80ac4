"""The sections of a document: recognised by headings and numbering, and found again by a citation.

Markdown headings are the sections, if there are any. Otherwise they are lines that look like headings and whose numbers
rise, so that lists, tables of contents and sentences are left out. A document of one long line has an outline only if
its numbering (I., II., … with A., B., … beneath) is unambiguous.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, reduce
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from genaipa.languages.catalog import LANGUAGES
from genaipa.languages.language import CAPITAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markdown_it import MarkdownIt


@cache
def _parser(*, inline: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt  # takes too long to import for `--help`

    # It would write a line for every rule that it tries into the log of whoever sets logging to DEBUG.
    logging.getLogger("markdown_it").setLevel(logging.INFO)
    parser = MarkdownIt("commonmark")
    if not inline:
        # "2. Data" above a line of dashes is a heading, and no item of a list.
        parser.disable("list").core.ruler.enableOnly(["normalize", "block"])
    return parser


def find_headings(text: str) -> list[tuple[int, int, str]]:
    """List the headings of a text: level (1 to 6), line (from 0), and title without markup.

    Headings inside code and quotations don't count; nor do underlined list items, or several lines above one underline,
    such as front matter.
    """
    # A lone carriage return would be a line of its own.
    tokens = _parser(inline=False).parse(text.replace("\r", " "))
    return [
        (int(token.tag[1]), token.map[0], without_markup(content.content))
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.map and not token.level
        if re.fullmatch(r"(?![-*+] ).+", content.content)
    ]


def without_markup(line: str) -> str:
    """Remove emphasis, links, code marks, escapes and an anchor (`{#name}`) from one line."""
    line = re.sub(r"\s*\{#[\w-]+\}$", "", line.strip())
    if not re.search(r"[*_`\[\\<&]", line):
        return line
    children = _parser(inline=True).parseInline(line)[0].children or []
    return "".join(child.content for child in children if child.type in {"text", "code_inline", "image"}).strip()


_NAMES: dict[str, str] = {}
for _language in LANGUAGES.values():
    for _name, _words in _language.sections.items():
        _NAMES[_name] = f"{_NAMES[_name]}|{_words}" if _name in _NAMES else _words
SECTION_WORD = rf"(?i:§{{1,2}}|(?:{'|'.join(_NAMES.values())})s?\b\.?)"
"""A word for a section before its number, in any language: in none of them does it mean anything else there."""
ROMAN = r"(?=[IVXLC])(?:X[LC]|L?X{0,3})(?:I[XV]|V?I{0,3})"
# Behind such a word: 12, 4.2, 12a, IV, IV.B, B, B.2.
_FIRST = rf"(?i:{'|'.join(language.first for language in LANGUAGES.values())})"
SECTION_NUMBER = rf"(?:{_FIRST}|(?:\d+[a-z]?|{ROMAN}|[A-Z])(?:\.(?:\d+|[A-Z]))*)(?!\w)"
GAP = 2
"""Largest step between neighbours of an outline: a heading in between may be lost."""


_SPELT = [language.spelt for language in LANGUAGES.values() if language.spelt]


def _spelt(text: str) -> str:
    """A text with its numbering in English, if it is in a language that writes it in another way."""
    return reduce(lambda said, spelt: spelt(said), _SPELT, text) if text[:1] > "\u3000" else text


def split_number(heading: str) -> tuple[str, str]:
    """Split "4.2 Title" into "4.2" and "Title", "Article 12: Title" into "Article 12" and "Title"; "" for no number."""
    heading = _spelt(heading)
    worded = re.match(rf"({SECTION_WORD})\s*({SECTION_NUMBER})(?:\.(?=\s|$)|\s*[:\u2013—-])?\s*", heading)
    counted = re.match(
        rf"(\d+(?:\.\d+)+|\d+(?=[.):\s])|(?:{ROMAN}|[A-Z])(?=[.)]))[.):]*(?:\s+[\u2013—-])?\s+(?=\S)", heading
    )
    if worded:
        return cite_section(worded.group(1), worded.group(2)), strip_act(heading[worded.end() :])
    # A year at the beginning counts nothing.
    if counted and not re.match(r"(?:19|20)\d\d\s", heading):
        return counted.group(1), heading[counted.end() :]
    return "", heading


def cite_section(word: str, number: str) -> str:
    """Cite `Art.` and `5`, or `Artikel` and `5`, as "Article 5"; a section by its number alone."""
    name = "Section" if word.startswith("§") else english_name(word, _NAMES)
    number = "1" if re.fullmatch(_FIRST, number) else number
    return number if name == "Section" else f"{name} {number}"


@cache
def _names_of(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})s?\.?", re.IGNORECASE)


def english_name(word: str, names: Mapping[str, str]) -> str:
    """The English name of a word for a section: the one of these names (name → words) that has it, else the word."""
    return next((name for name, words in names.items() if _names_of(words).fullmatch(word)), word)


def strip_act(title: str) -> str:
    """Remove the name of an act that is glued to a title ("GDPRSubject-matter")."""
    return re.sub(r"^(?:[A-Z]{3,}(?=[A-Z][a-z])|GDPR\s+(?:[\u2013—-]\s+)?)", "", title)


def as_numbers(number: str) -> tuple[int, ...]:
    """Make a number comparable: "4.2" is (4, 2), "IV.B" is (4, 2), "12a" is (12, 1)."""
    return tuple(
        int(part) if part.isdigit() else (not place and from_roman(part)) or ord(part.upper()[0]) - ord("A") + 1
        for place, part in enumerate(re.findall(r"\d+|[A-Z]+|[a-z]", number))
    )


def from_roman(number: str) -> int:
    """Value of a Roman number up to 89; 0 for anything else."""
    if not re.fullmatch(ROMAN, number):
        return 0
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def follows(earlier: tuple[int, ...], later: tuple[int, ...]) -> bool:
    """Whether an outline can go on from one number to the other: 4.2 to 4.3, 4.2.1, 5 or 5.1, but not to 13."""
    if later <= earlier:
        return False
    same = next((i for i, (a, b) in enumerate(zip(earlier, later, strict=False)) if a != b), len(earlier))
    step = later[same] - (earlier[same] if same < len(earlier) else 0)
    return step <= GAP and all(number <= GAP for number in later[same + 1 :])


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
    def heading(self) -> str:
        """Label and title: "Section 4.2 Retention"."""
        return f"{self.label} {self.title}" if self.number and self.title else self.label

    @cached_property
    def names(self) -> tuple[str, str]:
        """Title and label, folded: every citation is compared with those of every section."""
        return self.title.casefold(), self.label.casefold()

    @cached_property
    def counted(self) -> tuple[str, tuple[str, ...]]:
        """Word and steps of its number."""
        return _parsed(self.number)


@lru_cache(maxsize=16)
def find_sections(text: str) -> tuple[Section, ...]:
    """Find the sections of a text in order; empty if nothing looks like a heading."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    headings = _marked(text, starts)
    if len(headings) < 2:  # noqa: PLR2004 - one marked heading is the document's title, and the outline may be plain
        headings = _plain([without_markup(line) for line in text.split("\n")], starts, headings) or _inline(text)
    ends = [*(heading.start for heading in headings), len(text)][1:]
    return tuple(replace(heading, end=end) for heading, end in zip(headings, ends, strict=True))


# --- Markdown ------------------------------------------------------------------------------------------------------


def _marked(text: str, starts: list[int]) -> list[Section]:
    """Sections of Markdown headings; their numbers are read from their text."""
    headings = find_headings(text)
    outermost = min((level for level, _, _ in headings), default=1)
    return _with_letters(
        [Section(*split_number(title), level - outermost + 1, starts[line], 0) for level, line, title in headings]
    )


def _with_letters(headings: list[Section]) -> list[Section]:
    """Complete letters: `A.` beneath `IV.` is IV.A."""
    found: list[Section] = []
    above: dict[int, str] = {}
    for heading in headings:
        above = {level: number for level, number in above.items() if level < heading.level}
        parent = above[max(above)] if above else ""
        number = heading.number
        if re.fullmatch(r"[A-Z]", number) and re.fullmatch(rf"{ROMAN}|\d+", parent):
            number = f"{parent}.{number}"
        above[heading.level] = number
        found.append(replace(heading, number=number))
    return found


# --- Plain text ----------------------------------------------------------------------------------------------------

_MAX_TITLE = 200  # characters; titles in law are long
_MAX_WORDS = 20  # of a title that consists of several sentences
_MAX_SENTENCE = 6  # words of a title that may end like a sentence
_MAX_ALONE = 9  # words of a title without a number
_QUOTES = "\"'“\u2018(¿"
_COUNTED = {"number", "Roman", "letter"}  # kinds without a word; they have to begin at the beginning
_CODE = 100  # sections of a code of law are counted in leaps


@dataclass(frozen=True)
class _Candidate:
    """A line that may be a heading: the `kind` of its number, and the number as comparable `value`."""

    kind: str
    value: tuple[int, ...]
    number: str
    title: str
    line: int


def _plain(lines: list[str], starts: list[int], marked: list[Section]) -> list[Section]:
    """Find headings by looks and rising numbers; a marked title stays the outermost section."""
    # Line → its rank among the lines that aren't blank.
    places = {i: place for place, i in enumerate(i for i, line in enumerate(lines) if line)}
    candidates = [found for i in range(len(lines)) for found in _read(lines, i)]
    kept = _outline(_without_lists(_without_contents(candidates, places), places))
    numbered = {candidate.line for candidate in kept}
    alone = [found for i in range(len(lines)) if i not in numbered for found in _alone(lines, i, numbered)]
    repeated = Counter(title.title.casefold() for title in alone)
    kept = sorted(
        # A line that comes again and again is the header or footer of a page.
        kept + [title for title in alone if repeated[title.title.casefold()] == 1],
        key=lambda candidate: candidate.line,
    )
    first = marked[0].start if marked else -1
    sections = [section for section in _leveled(kept, starts) if section.start != first]
    return sorted(marked + [replace(s, level=s.level + len(marked)) for s in sections], key=lambda s: s.start)


def _read(lines: list[str], i: int) -> list[_Candidate]:
    """Read a line as a numbered heading: no way, one way, or as a Roman number and as a letter."""
    text = _spelt(lines[i])
    if len(text) > _MAX_TITLE and not re.match(r"\d{3,}(?:\.\d+)+\.\s|§", text):
        return []
    worded = re.match(
        rf"(?=[A-Z§])({SECTION_WORD}) ?({SECTION_NUMBER})(\.(?=\s|$)|\s*[:\u2013—](?=\s|$)|\s+-\s)?\s*(.*)", text
    )
    if worded:
        word, number, separator, rest = worded.groups()
        run_in = bool(separator) or word == "§"
        title = _title(strip_act(rest), begun=_begun(lines, i), lower=bool(separator), run_in=run_in)
        title = title if rest else _title_below(lines, i)
        name = cite_section(word, number)
        kind = name.rpartition(" ")[0] or "Section"
        return [] if title is None else [_Candidate(kind, as_numbers(name.rpartition(" ")[2]), name, title, i)]
    counted = re.match(rf"(\d+(?:\.\d+)+|\d+(?=\.\s)|(?:{ROMAN}|[A-Z])(?=\.\s))\.?(?:\s+(.*)|$)", text)
    if not counted:
        return []
    number = counted.group(1)
    code = bool(re.match(r"\d{3,}\.\d", number)) and text.startswith(f"{number}.")
    title = _title(counted.group(2) or "", begun=_begun(lines, i), run_in=code)
    if title is None or not (title or code):
        return []
    kinds = {
        "number": number[0].isdigit(),
        "Roman": re.fullmatch(ROMAN, number),
        "letter": re.fullmatch(r"[A-Z]", number),
    }
    values = {"Roman": from_roman(number), "letter": ord(number[0]) - ord("A") + 1}
    return [
        _Candidate(kind, (values[kind],) if kind in values else as_numbers(number), number, title, i)
        for kind, fits in kinds.items()
        if fits
    ]


def _begun(lines: list[str], i: int) -> bool:
    return i == 0 or not lines[i - 1] or lines[i - 1].endswith((".", ")", ";", ":", "?", "!"))


def _title(rest: str, *, begun: bool, lower: bool = False, run_in: bool = False) -> str | None:
    """Read a title behind a number; "" if the section's text follows at once (`run_in`), None if it is no title."""
    rest = rest.strip()
    if re.search(r"(?:\t|\.{2,}|…|\s{3,}|\s\.)\s*\d{1,4}$", rest):  # a table of contents
        return None
    words = len(rest.split())
    starts = (
        not rest
        or rest[0].isupper()
        or rest[0].isdigit()
        or rest[0] in _QUOTES
        or rest[0] > "\u3000"
        or (lower and rest[0].islower())
    )
    ends = rest.endswith((";", ",")) or (rest.endswith((".", ":")) and (run_in or words > _MAX_SENTENCE))
    inside = re.search(rf"[.!?;]\s+[\"“„«(]?[{CAPITAL}]", rest) and (rest.endswith(".") or words > _MAX_WORDS)
    if starts and not (ends or inside):
        return rest.rstrip(".:")
    return "" if run_in and begun and rest[:1].isupper() else None


def _title_below(lines: list[str], i: int) -> str:
    text = lines[i + 1] if i + 1 < len(lines) else ""
    title = "" if split_number(text)[0] or text.startswith("(") else _title(text, begun=True)
    return title if title == text else ""


def _without_contents(candidates: list[_Candidate], places: dict[int, int]) -> list[_Candidate]:
    """Leave out a table of contents: lines in a row that come again as headings."""
    last = {_seen(candidate): candidate.line for candidate in candidates}
    taken = {places[candidate.line] for candidate in candidates}
    return [
        candidate
        for candidate in candidates
        if not candidate.title or last[_seen(candidate)] == candidate.line or places[candidate.line] + 1 not in taken
    ]


def _seen(candidate: _Candidate) -> tuple[str, str, str]:
    title = re.sub(r"\W*\d*$", "", candidate.title).casefold()
    return candidate.kind, candidate.number, " ".join(title.split())


def _without_lists(candidates: list[_Candidate], places: dict[int, int]) -> list[_Candidate]:
    """Leave out items of lists and remains of tables of contents: lines in a row.

    Two headings of one kind have text between them, unless a section is empty.
    """
    runs: list[list[_Candidate]] = []
    for candidate in candidates:
        last = runs[-1][-1] if runs else None
        if (
            last is not None
            and candidate.kind in _COUNTED
            and (candidate.kind, len(candidate.value)) == (last.kind, len(last.value))
            and candidate.value > last.value
            and places[candidate.line] == places[last.line] + 1
        ):
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    # Two lines with a blank one between them may be two sections, the first of them empty.
    return [c for run in runs if len(run) == 1 or (len(run) == 2 and run[1].line > run[0].line + 1) for c in run]  # noqa: PLR2004


def _outline(candidates: list[_Candidate]) -> list[_Candidate]:
    """Keep candidates whose numbers rise within their section; kinds nest as they come up."""
    kept: list[_Candidate] = []
    for kind in _kinds(candidates):
        borders = [candidate.line for candidate in kept]
        taken = set(borders)
        here = [c for c in candidates if c.kind == kind and c.line not in taken]
        for _, group in groupby(here, key=lambda c: sum(border < c.line for border in borders)):
            kept += _rising(list(group))
        kept.sort(key=lambda candidate: candidate.line)
    return kept


def _kinds(candidates: list[_Candidate]) -> list[str]:
    """Order the kinds from outermost to innermost: as they come up, but articles of a law are inside its sections."""
    kinds = list(dict.fromkeys(c.kind for c in candidates if c.kind not in _COUNTED or _begins(c.value)))
    count = Counter(candidate.kind for candidate in candidates)
    if "Article" in kinds and 0 < count["Section"] < count["Article"]:
        kinds.remove("Section")
        kinds.insert(kinds.index("Article"), "Section")
    return kinds


def _begins(value: tuple[int, ...]) -> bool:
    """Whether an outline can begin with this number."""
    return value[0] <= GAP or value[0] >= _CODE


def _rising(group: list[_Candidate]) -> list[_Candidate]:
    """Find the longest chain of numbers that follow one another; of several the latest."""
    worded = group[0].kind not in _COUNTED
    chains: list[list[_Candidate]] = [[] for _ in group]
    for i in reversed(range(len(group))):
        after = [chains[j] for j in range(len(group) - 1, i, -1) if _goes_on(group[i], group[j])]
        chains[i] = [group[i], *max(after, key=len, default=[])]
    starts = [c for c in reversed(chains) if worded or _begins(c[0].value)]
    best = max(starts, key=len, default=[])
    return best if worded or len(best) > 1 else []


def _goes_on(earlier: _Candidate, later: _Candidate) -> bool:
    """Whether a heading can be the next one; words ("Article") and codes of law may leap."""
    leaps = earlier.kind not in _COUNTED or earlier.value[0] >= _CODE
    return later.value > earlier.value if leaps else follows(earlier.value, later.value)


def _alone(lines: list[str], i: int, numbered: set[int]) -> list[_Candidate]:
    """Read an unnumbered title: a short line between blank lines, with text below."""
    before = not i or not lines[i - 1]
    below = next((j for j in range(i + 1, len(lines)) if lines[j]), None)
    if not lines[i] or not before or below is None or below == i + 1:
        return []
    text = lines[i]
    short = (
        len(text.split()) <= _MAX_ALONE
        and re.match(rf"[\"“„«¿]?[{CAPITAL}]\D", text)
        and not re.search(r"[.:;,!|\t]|\d{2,}", text)
    )
    body = below in numbered or len(lines[below]) > len(text)
    return [_Candidate("", (), "", text, i)] if short and body and re.search(r"[\w?)”\"]$", text) else []


def _leveled(kept: list[_Candidate], starts: list[int]) -> list[Section]:
    """Set levels: kinds nest as they come up, 4.2 in 4, titles in numbers."""
    depth = {kind: n for n, kind in enumerate(_kinds([c for c in kept if c.kind]), start=1)}
    floor = min((len(c.value) for c in kept if c.kind == "number"), default=1)
    found: list[Section] = []
    inside = 0
    for candidate in kept:
        level = inside + 1
        if candidate.kind:
            deeper = len(candidate.value) - floor if candidate.kind == "number" and candidate.value[0] < _CODE else 0
            level = inside = depth[candidate.kind] + deeper
        found.append(Section(candidate.number, candidate.title, level, starts[candidate.line], 0))
    return _with_letters(found)


# --- One line ------------------------------------------------------------------------------------------------------

_MAX_INLINE = 12  # words in which a title that isn't marked has to end
_STARTS = "|".join(language.starts for language in LANGUAGES.values())


def _inline(text: str) -> list[Section]:
    """Find an outline inside a line: I., II., … in a row, and A., B., … in a row beneath each, or nothing."""
    marks = [
        (match.start(), match.end(), match.group(1))
        for match in re.finditer(rf"(?<!\S)([IVX]+)\. (?=[{CAPITAL}])", text)
    ]
    begin = max((i for i, mark in enumerate(marks) if mark[2] == "I"), default=0)
    chain = marks[begin:]
    if len(chain) < 3 or [from_roman(mark[2]) for mark in chain] != list(range(1, len(chain) + 1)):  # noqa: PLR2004 - fewer prove nothing
        return []
    contents = [text[here[1] : after[0]].strip(" /|·•-\u2013—\t\n") for here, after in pairwise(marks[: begin + 1])]
    found: list[Section] = []
    ends = [mark[0] for mark in chain[1:]] + [len(text)]
    for n, ((start, body, number), end) in enumerate(zip(chain, ends, strict=True)):
        listed = contents[n] if n < len(contents) and text.startswith(contents[n], body) else ""
        found.append(Section(number, listed or _inline_title(text[body:end]), 1, start, 0))
        letters = list(re.finditer(rf"(?<!\S)([A-Z])\. (?=[{CAPITAL}])", text[body:end]))
        if len(letters) > 1 and "".join(m.group(1) for m in letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(letters)]:
            found += [
                Section(f"{number}.{m.group(1)}", _inline_title(text[body + m.end() : end]), 2, body + m.start(), 0)
                for m in letters
            ]
    return found


def _inline_title(text: str) -> str:
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


_DIVISION = "|".join(_NAMES[name] for name in ("Section", "Chapter", "Part", "Article"))


def resolve(sections: tuple[Section, ...], label: str) -> Section | None:
    """Find the section that a citation names; None without any.

    A citation is a number with or without its word ("4.2", "§ 4.2", "Sec. IV.B", "Art. 12(3)"), or a title. A
    subdivision that is no section of its own means the section it is in; of several ("Chapter III, Section 2") the
    innermost is meant.
    """
    wanted = _spelt(" ".join(label.split())).strip(" .,;:\"'\u201c\u201d\u2018\u2019[]*")
    called = re.sub(rf"^(?:the )?(?:(?:{_DIVISION}) (?:on |titled |called )?)?", "", wanted, flags=re.IGNORECASE)
    called = re.sub(rf" (?:{_DIVISION})$", "", called, flags=re.IGNORECASE)
    titled = _titled(sections, wanted) or (_titled(sections, called) if called != wanted else None)
    if titled:
        return titled
    cited = _cited(wanted)
    found = [hits for number in cited if (hits := _numbered(sections, number))]
    if found:
        # Where numbering begins anew in each chapter, the chapter that is named beside it decides.
        begin = max((hits[0].start for hits in found if len(hits) == 1), default=0)
        named = [next((hit for hit in hits if hit.start >= begin), hits[0]) for hits in found]
        return max(named, key=lambda section: section.level)
    # "C. Cookies" is cited by its title; "5. Cookies" names a section that isn't there.
    lettered = all(re.fullmatch(r"[A-Z]", number) for number in cited)
    return _titled(sections, split_number(wanted)[1]) if cited and lettered else None


def _titled(sections: tuple[Section, ...], title: str) -> Section | None:
    wanted = title.strip(" \"'\u201c\u201d\u2018\u2019").casefold()
    same = (section for section in sections if wanted in section.names)
    return next(same, None) if wanted else None


def _cited(wanted: str) -> list[str]:
    """Read the numbers of a citation, with their words; one without a word only at the beginning."""
    worded = [
        cite_section(*match.groups()) for match in re.finditer(rf"(?<!\w)({SECTION_WORD})\s*({SECTION_NUMBER})", wanted)
    ]
    bare = re.match(rf"({SECTION_NUMBER})(?=$|[.,:()]|\s[A-Z(\u2013—-])(?![A-Z]\s)", wanted)
    return worded or ([bare.group(1)] if bare else [])


def _numbered(sections: tuple[Section, ...], cited: str) -> list[Section]:
    """Find sections by number; else the one above, if that has no subsections."""
    wanted = _parsed(cited)
    numbers = [section.counted for section in sections]
    words = {wanted[0]}
    if wanted[0] in _ALIKE and not any(word == wanted[0] for word, number in numbers if number):
        words = _ALIKE
    there = [(section, number) for section, (word, number) in zip(sections, numbers, strict=True) if word in words]
    hits = [section for section, number in there if number == wanted[1]]
    above = wanted[1][:-1]
    if hits or not above or any(number[:-1] == above for _, number in there):
        return hits
    return _numbered(sections, cited.rpartition(".")[0])


# What one document calls a section, an answer may call an article; a chapter is never meant by it.
_ALIKE = {"", "Article", "Clause"}


@lru_cache(maxsize=4096)
def _parsed(number: str) -> tuple[str, tuple[str, ...]]:
    """Split a number into word and steps, Roman ones made Arabic: "Chapter II" is ("Chapter", ("2",))."""
    word, _, counted = number.rpartition(" ")
    first, *rest = counted.split(".")
    return word, (str(from_roman(first) or first), *rest) if first else ()
