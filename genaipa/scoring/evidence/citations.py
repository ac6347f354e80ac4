"""Find citations in an answer: numbers with their word, title and part, and headings.

"(Part 2, Section 2.3: "Retention")" is one citation, "Articles 12-14" another; "Sections 3.1 and 3.2" are two.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from genaipa.languages.catalog import language_to_read_reply
from genaipa.languages.language import CAPITAL, NEVER, QUOTED, UNCASED, UNSPACED
from genaipa.policies.numbering import (
    BELOW,
    END,
    ROMAN,
    SEVERAL,
    STEP,
    convert_digits_to_ascii,
    english_section_word_or_same_word,
    split_heading_number_and_title,
)
from genaipa.scoring.evidence.quotations import casefold_and_compose_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.languages.language import CitationRules
    from genaipa.policies.document import Document


Span = tuple[int, int]

_MOST = 1000  # numbers of one answer that are looked at

# --- Numbers -------------------------------------------------------------------------------------------------------

# 12, 2.3, 12a, 5E, 3.b.ii, 1798.105; IV, IV.B, "IV. B"; B, B.2; and what is below it: (1)(a).
_NUMBER = (
    rf"(?:(?:\d{{1,6}}(?:\.\d{{1,6}}){{0,6}}[A-Za-z]?{END}(?:\.{STEP}){{0,6}}"
    rf"|{ROMAN}{END}(?:\.{STEP}|\. [A-Z](?=[,;)\]])){{0,6}}"
    rf"|[A-Z](?:\.\d{{1,3}}(?:\.{STEP}){{0,6}})?)(?![^\W{UNCASED}]|['\u2019](?!s\b)|-[A-Za-z]{{2}}|\.\d)){BELOW}"
)
# Behind "ChatGPT:" or in brackets: "(ChatGPT: P6)".
_SHORT = re.compile(r"(?<=[(\[:,;])\s{0,3}(?P<part>P(?P<number>\d{1,2}))(?=\s*[)\],;])")
# "(IV. Choice and transparency, A. Privacy settings)": numbers without a word, where a bracket begins or goes on.
_BARE = re.compile(
    rf"(?:(?<=[(\[])|(?<=, )|(?<=; ))(?P<number>{ROMAN}|[A-Z])\.[ \t]+(?P<title>[A-Z][^\n,;()\[\]]{{2,80}})(?=[,;)\]])"
)
_WORDLESS = re.compile(_NUMBER)
_HIGHER = re.compile(r"parts?$|chapters?$", re.IGNORECASE)
_PLAIN_WORDS = 12  # more are a sentence


_BRACKETED = re.compile(rf"(?<=[(\[])\^?(?P<number>{SEVERAL})(?=\^?[ \t]*[,;:)\]])")


_COUNTER = r"(?:(?i:no|nr|number|num|nummer|numéro|n[\u00b0\u00ba])\b\.?[ \t\u00a0]*|n[\u00b0\u00ba][ \t\u00a0]*|#)?"
# A heading of the document that begins a line, as "6.2 Deletion" or "## 11. Children".
_COPIED = re.compile(
    rf"^(?:[ \t>*\u2022_-]*(?P<several>{SEVERAL})|[ \t]*(?:#{{1,6}}[ \t]+|\*\*)(?P<single>\d{{1,3}}))[.)]?[ \t]+"
    rf"(?P<title>[{CAPITAL}][^\n.:*;]{{2,90}})(?=$|[.:*;\n])",
    re.MULTILINE,
)


class _CitationForms:
    """The forms of citations in a language."""

    def __init__(self, rules: CitationRules) -> None:
        laws, joining = rules.laws, f"{rules.also}|{rules.either}"
        self.rules = rules
        self.cited = re.compile(
            rf"(?<![^\W{UNSPACED}])(?<![/-])(?P<word>{rules.words})[ \t\u00a0*_]{{0,9}}{_COUNTER}"
            rf"(?P<number>{_NUMBER})(?!{rules.not_behind})"
        )
        # "(9.2)", "[^9.2^]", "(see 9.2, 9.3)", "laut 9.2": a number alone, of several steps, which counts only where
        # the document has it.
        self.bracketed = re.compile(
            rf"(?<=[(\[])\^?(?:(?:{rules.see})[ \t]+)?(?P<number>{SEVERAL})"
            rf"(?=\^?[ \t]*(?:[,;:)\]]|(?:{joining}|{rules.to})[ \t]+\d))"
        )
        self.alone = re.compile(
            rf"(?<![^\W{UNSPACED}])(?i:{rules.at})[ \t*_]+(?P<number>{SEVERAL})"
            rf"(?!\.?\d)(?!{rules.not_behind})"
        )
        self.pointed = re.compile(
            rf"(?<![^\W{UNSPACED}])(?i:{rules.pointer})[ \t*_]+(?P<number>{SEVERAL}|\d{{1,3}})(?![\w%]|\.\d)"
            rf"(?=[ \t*_]*(?:$|[.,;)\]\n]|(?:{joining}|&)[ \t]+\d))",
            re.MULTILINE,
        )
        spelled = rf"(?i:{'|'.join(rules.numerals) or NEVER})"
        self.spelled = re.compile(
            rf"(?<![^\W{UNSPACED}])(?!{rules.counting})(?:{rules.words})[ \t]+{spelled}\b"
            rf"(?:(?:[ \t]*,[ \t]*(?:(?:{joining})[ \t]+)?|[ \t]+(?:{joining}|{rules.to})[ \t]+){spelled}\b)*"
        )
        self.numeral = re.compile(rf"\b{spelled}\b")
        # How a list goes on: "Parts 3 & 4", "Articles 12-14", "[Part 1: 1.1, 1.2]".
        self.more = re.compile(
            rf"(?P<joint>[ \t]*(?:,[ \t]*(?:(?:{joining}|&)[ \t])?|;[ \t]*|&[ \t]*|/(?=\d+\.\d)"
            r"|:[ \t](?=\d+(?:\.\d+)*[,;)\]]|\d+\.\d)"
            rf"|\b(?:{joining}|{rules.to})[ \t]+|[-\u2013\u2014][ \t]*))(?P<number>{_NUMBER})"
        )
        self.range = re.compile(rf"[-\u2013\u2014]|\b(?:{rules.to})\b")
        self.joint = re.compile(rf"{joining}|&")
        # Behind a number that goes on from a comma: else "in Part 3, 30 days" would name a Part 30.
        self.listed = re.compile(
            rf"[ \t]*(?:$|[\n.,;:)\]}}&*_\"\u201d\u2020^-]|(?:{joining})\b|{laws.short})", re.MULTILINE
        )
        # Behind a number that goes on from "and".
        self.unit = re.compile(rf"{rules.unit}|[ \t]?%", re.IGNORECASE)
        self.list = re.compile(rf"[ \t]*(?:[,;&\u2013-]|(?:,[ \t]*)?\b(?:{joining})\b)[ \t]*")
        # Between "Part 2" and "Section 2.3", between two sections in one part, between "Section 2.3" and "Part 2".
        of_policy = rf"(?:[ \t]+{rules.of_this}[ \t]+[\w' \u2019-]{{1,50}}?)?"
        self.into = re.compile(rf"{of_policy}[ \t]*[,:(\u2013-]?[ \t]*(?:(?:{rules.into})[ \t]+)*")
        self.also = re.compile(rf"[ \t]*(?:,|{rules.also}|&|,[ \t]*(?:{rules.also}))[ \t]*")
        self.out_of = re.compile(rf"[\"\u201d]?[ \t]*{rules.out_of}")
        # A title behind a number: quoted, or plain up to the end of the line or bracket.
        self.titled = re.compile(
            rf"{of_policy}[ \t]*[,:(\u2013.-]*[ \t]*(?:{rules.called}[ \t]+)?"
            r"(?:[\"\u201c\u201e\u00ab](?P<quoted>[^\"\u201c\u201d\u201e\u00ab\u00bb\n]{2,150})[\"\u201c\u201d\u00bb]"
            rf"|'(?P<single>[{CAPITAL}][^'\n]{{2,100}})')"
        )
        self.plain = re.compile(
            rf"[ \t]*[:.,\u2013-][ \t]+(?!{rules.no_title})"
            rf"(?P<plain>[{CAPITAL}][^\n()\[\].;:\"\u201c\u201d\u201e\u00ab\u00bb]{{2,90}}?)[ \t,]*(?=$|[\n)\];]|\*\*)"
        )
        # Headings that are named without a number: "X" section, section titled "X", the Data Retention section.
        self.headed = re.compile(rules.headed)
        self.several = re.compile(rf"(?<!\S)(?!(?:{rules.also})\b)\S+(?:[ \t]+(?!(?:{rules.also})\b)\S+)*")
        # What an app has sections of, and what a document has.
        self.elsewhere = re.compile(rules.elsewhere, re.IGNORECASE)
        self.here_before = re.compile(rules.here_before, re.IGNORECASE)
        # Follows a section that is said to be the document's.
        self.here = re.compile(rules.here, re.IGNORECASE)
        self.law_here_before = re.compile(laws.here_before, re.IGNORECASE)
        self.summary_before = re.compile(rules.summary_before, re.IGNORECASE)
        self.summary_behind = re.compile(rules.summary_behind, re.IGNORECASE)
        law = rf"(?P<law>{laws.short}|{laws.named}|(?P<text>{laws.texts}))(?![^\W{UNSPACED}]|-)(?!{laws.not_law})"
        below = rf"(?:,?[ \t]+{laws.below}){{0,4}}" if laws.below else ""
        self.of_law = re.compile(rf"(?:\.[a-z]\b)?{below},?[ \t]+{laws.of}{law}")
        self.law_next = re.compile(rf"(?:\.[a-z]\b)?{below},?[ \t]+(?P<law>{laws.short})(?!\w)")
        self.law_before = re.compile(
            rf"(?<![^\W{UNSPACED}])(?<!-){law}(?:['\u2019]s)?(?:[ \t]*\([^()\n]{{1,40}}\))?"
            rf"(?P<apart>[,:]?[ \t]+\(|[,:])?[ \t]*(?:{laws.before})?$"
        )
        self.of_other = re.compile(rf"[ \t]+{rules.of_this}[ \t]")
        self.ordinal = re.compile(rules.ordinal)

    def write_spelled_numbers_as_digits(self, reply: str) -> str:
        """Replace numerals in a reply by digits of the same length: "Section    9" for "Section Nine"."""
        return self.spelled.sub(
            lambda passage: self.numeral.sub(self._convert_spelled_number_to_digits, passage.group()), reply
        )

    def _convert_spelled_number_to_digits(self, numeral: re.Match[str]) -> str:
        return self.rules.numerals[numeral.group().lower()].rjust(len(numeral.group()))

    def translate_section_word_to_english(self, word: str) -> str:
        """Translate a word for a section into English."""
        return english_section_word_or_same_word(word, self.rules.names)


@lru_cache(maxsize=16)
def _load_citation_forms(rules: CitationRules) -> _CitationForms:
    return _CitationForms(rules)


@dataclass(frozen=True)
class Citation:
    """A citation at `reply[start:end]`: a number with its word, or a title, or both.

    `last` is the end of a range, `within` the number of the part that is named with it. `outside` is the external text
    that it refers to, if any; `loose` marks a heading that may be the app's rather than the document's.
    """

    start: int
    end: int
    word: str = ""
    number: str = ""
    last: str = ""
    title: str = ""
    within: str = ""
    outside: Outside = ""
    loose: bool = field(default=False, compare=False)

    @property
    def singular_word_and_number(self) -> str:
        """Citation in the singular: "Section 3" for "Sections 3" and for a number alone."""
        word = re.sub(r"(?i)^((?:sub-?)?section|article|chapter|clause|recital)s$", r"\1", self.word) or "Section"
        return f"{word[0].upper()}{word[1:]} {self.number}"


def find_citations(reply: str, document: Document) -> list[Citation]:
    """Find all citations of a reply in order, each with its title and part, by the rules of the document's language.

    Where these are not known, only numbers alone in brackets are found.
    """
    reply = convert_digits_to_ascii(reply)
    language = language_to_read_reply(reply, document.language)
    rules = language.citations if language else None
    if rules is None:
        return [_make_loose_citation(match) for match in islice(_BRACKETED.finditer(reply), _MOST)]
    forms = _load_citation_forms(rules)
    reply = forms.write_spelled_numbers_as_digits(reply)
    citations = _mark_external_citations(
        reply, _join_parts_with_sections(reply, _find_numbered_citations(reply, forms), forms), document, forms
    )
    following = [*(citation.start for citation in citations[1:]), -1]
    numbered = [
        _add_following_title(reply, citation, after, forms)
        for citation, after in zip(citations, following, strict=False)
    ]
    spans = [(citation.start, citation.end) for citation in numbered]
    headed = [citation for citation in _find_heading_citations(reply, forms) if not _overlaps_any(spans, citation)]
    return sorted([*numbered, *headed], key=lambda citation: citation.start)


def _make_loose_citation(match: re.Match[str]) -> Citation:
    return Citation(*match.span("number"), number=match.group("number"), loose=True)


def _overlaps_any(spans: list[Span], citation: Citation) -> bool:
    """Whether one of these passages, which are in order, overlaps it."""
    index = bisect_left(spans, (citation.end, 0))
    return index > 0 and spans[index - 1][1] > citation.start


def _find_numbered_citations(reply: str, forms: _CitationForms) -> list[Citation]:
    """Find citations by number, each item of a list, a range as one; the longer of two at one place."""
    citations: list[Citation] = []
    for match in forms.cited.finditer(reply):
        word, number = match.group("word"), match.group("number").replace(" ", "")
        if _is_section_number_not_a_word(
            forms.translate_section_word_to_english(word), number, reply[match.end() : match.end() + 2]
        ):
            first = Citation(match.start(), match.end(), forms.translate_section_word_to_english(word), number)
            citations += _read_citation_list(reply, first, _MOST - len(citations), forms)
        if len(citations) >= _MOST:
            break
    for match in islice(
        chain.from_iterable(form.finditer(reply) for form in (forms.bracketed, forms.alone, forms.pointed)),
        _MOST,
    ):
        citations += _read_citation_list(reply, _make_loose_citation(match), max(1, _MOST - len(citations)), forms)
    citations += _find_ordinal_citations(reply, forms)
    citations += [
        Citation(*match.span("part"), word="Part", number=match.group("number")) for match in _SHORT.finditer(reply)
    ]
    citations += [
        Citation(*match.span(), number=match.group("number"), title=match.group("title").strip())
        for match in _BARE.finditer(reply)
    ]
    citations += [
        Citation(
            match.start("several") if match["several"] else match.start("single"),
            match.end("title"),
            number=match["several"] or match["single"],
            title=match["title"].strip(),
            loose=True,
        )
        for match in islice(_COPIED.finditer(reply), _MOST)
    ]
    return sorted(citations, key=lambda citation: (citation.start, -citation.end))


def _find_ordinal_citations(reply: str, forms: _CitationForms) -> Iterator[Citation]:
    """Find citations whose word follows their number, or the last of several."""
    for match in islice(forms.ordinal.finditer(reply), _MOST):
        number, word = match.group("number"), match.group("word")
        if forms.rules.numerals:
            # "The second section" may be one of something else.
            if forms.of_other.match(reply, match.end()) and not forms.here.match(reply, match.end()):
                continue
            number = forms.rules.numerals.get(number.lower(), number)
            yield Citation(*match.span(), word=forms.translate_section_word_to_english(word), number=number, loose=True)
            continue
        word, _, number = split_heading_number_and_title(f"第{number}{word}")[0].rpartition(" ")
        yield Citation(*match.span(), word=word or "Section", number=number)


def _read_citation_list(
    reply: str, first_citation: Citation, max_citations: int, forms: _CitationForms
) -> list[Citation]:
    """Continue a list from its first citation."""
    citations = [first_citation]
    while len(citations) < max_citations and (item := forms.more.match(reply, citations[-1].end)):
        joint, number = item.group("joint"), item.group("number").replace(" ", "")
        if not _is_next_number_in_list(reply, item, citations[-1], forms):
            break
        if forms.range.search(joint):
            citations[-1] = replace(citations[-1], end=item.end(), last=number)
            continue
        # "Part 1, 1.2.2", "Part 4, 4" and "Part 5, E" go on with what is in the part, "Part 5A & 5E" doesn't.
        another = re.fullmatch(r"\d+[A-Za-z]?", number) and number != citations[-1].number and ":" not in joint
        # So does "Part 5, 6. With partners": a number with a title of its own.
        titled = re.match(r"\.[ \t]+[A-Z]", reply[item.end() : item.end() + 4])
        word = first_citation.word if (another and not titled) or not _HIGHER.match(first_citation.word) else ""
        citations.append(Citation(*item.span("number"), word=word, number=number, loose=first_citation.loose))
    return citations


def _is_section_number_not_a_word(word: str, number: str, following_text: str) -> bool:
    """Whether letters behind a word are a number: not in "the part I read" or "as part A says"."""
    if number[0].isdigit():
        return True
    if number == "I" and re.match(r"\s[a-z]", following_text):
        return False
    return len(number) > 1 or word[0].isupper() or word[0] == "\u00a7"


def _is_next_number_in_list(reply: str, number_match: re.Match[str], previous: Citation, forms: _CitationForms) -> bool:
    number, joint = number_match.group("number"), number_match.group("joint")
    if number[0].isalpha() and (previous.number[-1].isdigit() and not previous.word.lower().startswith("part")):
        return False
    if forms.range.search(joint):
        return number[0].isdigit() == previous.number[0].isdigit() and not previous.last
    if (
        number[0].isdigit()
        and forms.joint.fullmatch(joint.strip(" \t,"))
        and not forms.unit.match(reply, number_match.end())
    ):
        return True
    return bool(forms.listed.match(reply, number_match.end()))


def _join_parts_with_sections(reply: str, citations: list[Citation], forms: _CitationForms) -> list[Citation]:
    """Join "Part 2, Section 2.3" and "Section 2.3 of Part 2" to one citation each."""
    joined = citations[:1]
    for citation in citations[1:]:
        before = joined[-1]
        gap = before.end, citation.start
        if citation.start < before.end:
            continue
        if (
            _is_part_or_chapter(citation)
            and not (_is_part_or_chapter(before) or before.within)
            and forms.out_of.fullmatch(reply, *gap)
        ):
            joined[-1] = replace(_add_part_or_chapter_to_citation(before, citation), end=citation.end)
        elif (
            not _is_part_or_chapter(citation)
            and _is_part_or_chapter(before)
            and not before.last
            and forms.into.fullmatch(reply, *gap)
        ):
            joined[-1] = replace(_add_part_or_chapter_to_citation(citation, before), start=before.start)
        elif not _is_part_or_chapter(citation) and before.within and forms.also.fullmatch(reply, *gap):
            joined.append(replace(citation, within=before.within))
        elif _is_capital_letter_under_roman_numeral(citation, before) and forms.also.fullmatch(reply, *gap):
            joined.append(replace(citation, number=f"{before.number.partition('.')[0]}.{citation.number}"))
        else:
            joined.append(citation)
    return joined


def _is_part_or_chapter(citation: Citation) -> bool:
    """Whether it is a part or chapter, in which sections can lie."""
    return bool(_HIGHER.match(citation.word)) and citation.number.isalnum()


def _add_part_or_chapter_to_citation(citation: Citation, part_or_chapter: Citation) -> Citation:
    """Place a citation in a part or chapter; a chapter becomes part of its label."""
    if part_or_chapter.word.lower().startswith("part"):
        return replace(citation, within=part_or_chapter.number)
    return replace(citation, word=f"{part_or_chapter.word} {part_or_chapter.number}, {citation.word or 'Section'}")


def _is_capital_letter_under_roman_numeral(citation: Citation, previous: Citation) -> bool:
    """Whether "A. …" follows "III. …", or another letter under it, neither with a word."""
    if citation.word or previous.word or not re.fullmatch("[A-Z]", citation.number):
        return False
    return bool(re.fullmatch(rf"{ROMAN}(?:\.[A-Z])?", previous.number))


def _add_following_title(reply: str, citation: Citation, next_start: int, forms: _CitationForms) -> Citation:
    if citation.title or citation.last:
        return citation
    quoted = forms.titled.match(reply, citation.end)
    if quoted and (next_start < 0 or quoted.end() <= next_start):
        return replace(citation, end=quoted.end(), title=quoted.group("quoted") or quoted.group("single"))
    plain = forms.plain.match(reply, citation.end, next_start if next_start >= 0 else len(reply))
    if plain and len(plain.group("plain").split()) <= _PLAIN_WORDS:
        return replace(citation, end=plain.end("plain"), title=plain.group("plain"))
    return citation


def _mark_external_citations(
    reply: str, citations: list[Citation], document: Document, forms: _CitationForms
) -> list[Citation]:
    """Mark the citations of another text; "Articles 13 and 14 of the GDPR" both are."""
    sources = [
        classify_external_source(reply, m.start, m.end, "Part" if m.within else m.word, document, forms)
        for m in citations
    ]
    pairs = [
        (n - 1, n)
        for n in range(1, len(citations))
        if _continues_previous_citation(reply, citations[n - 1], citations[n], forms)
    ]
    for to, by in [*reversed(pairs), *((later, earlier) for earlier, later in pairs)]:
        if sources[by] in {"another law", "a summary"}:
            sources[to] = sources[by]
    marked = zip(citations, sources, strict=True)
    return [replace(citation, outside=source) if source else citation for citation, source in marked]


def _continues_previous_citation(reply: str, previous: Citation, citation: Citation, forms: _CitationForms) -> bool:
    """Whether a citation continues the one before, as a number without a word."""
    return bool(forms.list.fullmatch(reply, previous.end, citation.start) and _WORDLESS.match(reply, citation.start))


def _find_heading_citations(reply: str, forms: _CitationForms) -> Iterator[Citation]:
    """Find citations by heading alone; loose, unless the reply says that the heading is the document's."""
    for match in forms.headed.finditer(reply):
        if forms.elsewhere.match(reply, match.end()):
            continue
        before = reply[max(0, match.start() - 40) : match.start()]
        loose = not (forms.here.match(reply, match.end()) or forms.here_before.search(before))
        kind = next(kind for kind in ("before", "after", "plain") if match.group(kind))
        several = (match.group("several") or "").endswith("s")
        pattern = QUOTED if kind != "plain" else forms.several if several else r".+"
        for heading in re.finditer(pattern, match.group(kind)):
            counted = re.match(
                rf"[\"\u201c\u201e\u00ab'\u2018*]*(?:(?<=\u00ab)[ \u00a0\u202f])?({_NUMBER})\.?[ \t]+(?=[{CAPITAL}])",
                heading.group(),
            )
            title = heading.group()[counted.end() if counted else 0 :].strip(
                " ,.*\"\u201c\u201d\u201e\u00ab\u00bb'\u2018\u2019"
            )
            start, end = match.start(kind) + heading.start(), match.start(kind) + heading.end()
            yield Citation(start, end, number=counted.group(1) if counted else "", title=title, loose=loose)


Outside = Literal["", "another law", "a summary", "perhaps another text"]
"""External text of a reference; "" for the document itself."""

_NEAR = 120  # characters before a reference that are looked at
# Words for sections of any document.
_ANY = re.compile(r"(?:sub-?)?sect?(?:ion)?s?\.?$|parts?$|$", re.IGNORECASE)


def classify_external_source(
    reply: str, start: int, end: int, section_word: str, document: Document, forms: _CitationForms
) -> Outside:
    """Find the external text, if any, that the citation at `reply[start:end]` refers to.

    "perhaps another text" is external unless the document has the section.
    """
    before = reply[max(0, start - _NEAR) : start]
    summary = forms.summary_before.search(before) or forms.summary_behind.match(reply, end)
    if summary or section_word.lower().startswith("summary"):
        return "a summary"
    part = section_word.lower().startswith("part")
    behind = forms.of_law.match(reply, end) or (None if part else forms.law_next.match(reply, end))
    law = behind or (None if part else forms.law_before.search(before))
    usual = _document_has_section_kind(section_word, document)
    if law:
        # "It complies with the GDPR (Section 7)" may go on with the policy.
        apart = not behind and law.group("apart") and usual and not law.group("text")
        return (
            ""
            if _is_law_this_document(law.group("law"), document, forms)
            else "perhaps another text"
            if apart
            else "another law"
        )
    ours = usual or forms.here.match(reply, end) or forms.law_here_before.search(before)
    return "" if ours else "perhaps another text"


def _is_law_this_document(law_name: str, document: Document, forms: _CitationForms) -> bool:
    """Whether the document is the law of that name; "the Act" is, in an answer about one."""
    if document.kind != "regulation":
        return False
    cited_name, document_names = (
        casefold_and_compose_word(law_name),
        casefold_and_compose_word(f"{document.company} {document.about.title} {document.name}"),
    )
    if cited_name in forms.rules.laws.this:
        return True
    return any(
        re.search(rf"\b(?:{name})", cited_name) and re.search(name, document_names)
        for name in (*forms.rules.laws.same, re.escape(cited_name))
    )


def _document_has_section_kind(section_word: str, document: Document) -> bool:
    """Whether a section of the document may be called so; a "Schedule" only if it has one."""
    inner = section_word.rpartition(" ")[2]
    if _ANY.match(inner):
        return True
    if inner.startswith("\u00a7"):
        return "\u00a7" in document.text
    stem = inner.lower().rstrip(".").removesuffix("s")
    return any(section.number.lower().startswith(stem) for section in document.sections)
