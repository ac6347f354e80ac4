"""A document as it reads: its text without the marks of Markdown and HTML, and each character's place in the source.

People and models quote what they read: "our Terms of Use", where the file has "our [Terms of Use](https://…)".
Whatever compares words with a document's takes this text; what is shown and kept are places in the source.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    Span = tuple[int, int]
    Piece = tuple[int, int, str]
    """A stretch of the source and what it reads as: itself, if that is as long."""


def make_commonmark_parser() -> MarkdownIt:
    """Make a parser of CommonMark."""
    from markdown_it import MarkdownIt  # takes too long to import for `--help`

    # It would write a line for every rule that it tries into the log of whoever sets logging to DEBUG.
    logging.getLogger("markdown_it").setLevel(logging.INFO)
    return MarkdownIt("commonmark")


_parser = cache(make_commonmark_parser)


class PlainReading:
    """A text as it reads, `text`, and the way back to the source."""

    def __init__(self, source: str, references: dict[str, Any] | None = None) -> None:
        """Read a source; `references` are definitions of links from elsewhere."""
        self._at: list[int] = []
        """The place of each piece in the text that is read; in the list beside it, its place in the source."""
        self._pieces: list[Span] = []
        texts: list[str] = []
        length = 0
        for start, end, text in _read_plain_pieces(source, references):
            if not text:
                continue
            last = self._pieces[-1] if self._pieces else None
            whole = end - start == len(text)
            if last and last[1] == start and whole and self._is_verbatim_piece(len(self._pieces) - 1, length):
                self._pieces[-1] = (last[0], end)
            else:
                self._at.append(length)
                self._pieces.append((start, end))
            texts.append(text)
            length += len(text)
        self.text = "".join(texts)
        self._starts = [start for start, _ in self._pieces]

    def _is_verbatim_piece(self, piece_index: int, plain_end: int) -> bool:
        """Tell whether a piece that ends at a place of the text is the source's own, character by character."""
        start, finish = self._pieces[piece_index]
        return finish - start == plain_end - self._at[piece_index]

    def source_span(self, plain_start: int, plain_end: int) -> Span:
        """Return the stretch of the source that holds these characters of the text, one at least."""
        return self._source_span_of_character(plain_start)[0], self._source_span_of_character(plain_end - 1)[1]

    def source_spans_in_order(self, plain_spans: Iterable[Span]) -> list[Span]:
        """Return the stretches of the source for stretches of the text, which are in order."""
        source_spans: list[Span] = []
        piece, shift, whole_piece, following = -1, 0, False, 0
        for start, end in plain_spans:
            while start >= following:
                piece += 1
                following = self._at[piece + 1] if piece + 1 < len(self._at) else len(self.text)
                whole_piece, shift = self._is_verbatim_piece(piece, following), self._pieces[piece][0] - self._at[piece]
            whole = whole_piece and end <= following
            source_spans.append((start + shift, end + shift) if whole else self.source_span(start, end))
        return source_spans

    def _source_span_of_character(self, plain_index: int) -> Span:
        """Return the place in the source of one character of the text."""
        piece = bisect_right(self._at, plain_index) - 1
        start, end = self._pieces[piece]
        following = self._at[piece + 1] if piece + 1 < len(self._at) else len(self.text)
        if not self._is_verbatim_piece(piece, following):
            return start, end
        position = start + plain_index - self._at[piece]
        return position, position + 1

    def plain_text_of_source_span(self, source_start: int, source_end: int) -> str:
        """Return the text that is read between two places in the source."""
        return self.text[self.plain_position(source_start) : self.plain_position(source_end)]

    def plain_position(self, source_position: int) -> int:
        """Return the place in the text of a place in the source: of what comes next, if it is in a mark."""
        piece = bisect_right(self._starts, source_position) - 1
        if piece < 0:
            return 0
        following = self._at[piece + 1] if piece + 1 < len(self._at) else len(self.text)
        return min(self._at[piece] + source_position - self._starts[piece], following)


@lru_cache(maxsize=16)
def read_markdown(markdown_text: str) -> PlainReading:
    """Read a document, kept as long as few others are read."""
    return PlainReading(markdown_text)


def markdown_line_text(line: str, link_definitions: dict[str, Any] | None = None) -> str:
    """Return a line as it reads, without blanks around it; `link_definitions` are the definitions of its links."""
    line = line.strip()
    return PlainReading(line, link_definitions).text.strip() if _MARKUP.search(line) else line


# --- Marks that CommonMark has not, and HTML -----------------------------------------------------------------------

_NOTHING, _BLANK = "\U0001bc9f", "\u2005"
"""Characters that marks are replaced by, so that all places stay: a rare punctuation mark, and a rare blank."""
_FILLED = re.compile(rf"{_BLANK}+|[^{_BLANK}{_NOTHING}]+")
_VALUE = r"(?:[#.][\w-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+))"
_BREAKING = (
    r"address|article|aside|blockquote|br|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|li|main"
    r"|nav|ol|option|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_INLINE = (
    r"a|abbr|b|bdi|bdo|big|button|cite|code|col|colgroup|del|dfn|em|font|i|iframe|img|input|ins|kbd|label|mark|q|s|samp"
    r"|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
# Attribute lists, footnotes' marks, comments, tags, and characters that nobody sees.
_MARKS = re.compile(
    rf"(?<!\{{)\{{(?::[^{{}}\n]*|\s*{_VALUE}(?:\s+{_VALUE})*\s*)\}}(?!\}})"
    r"|^[ ]{0,3}\[\^[^\[\]\s]{1,60}\]:[ \t]*|\[\^[^\[\]\s]{1,60}\]"
    r"|<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
    rf"|(?P<breaking></?(?:{_BREAKING})(?=[\s/>])[^<>]*>)|</?(?:{_INLINE})(?=[\s/>])[^<>]*>"
    r"|[\u00ad\u2060\ufeff]",
    re.IGNORECASE | re.MULTILINE,
)
_MARKUP = re.compile(r"[*`\[<&\\{\u00ad\u2060\ufeff]|_(?!\w)|(?<!\w)_")
"""A character that may be markup; a text without any reads as it is."""


def _drop_placeholder_characters(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces without filling, which reads as nothing or as a blank."""
    for start, end, text in pieces:
        if _NOTHING not in text and _BLANK not in text:
            yield start, end, text
            continue
        for part in _FILLED.finditer(text):
            blank = part[0][0] == _BLANK
            yield start + part.start(), start + part.end(), " " if blank else part[0]


# --- Blocks --------------------------------------------------------------------------------------------------------

# Where a line begins a block of its own: a heading, a list item, a row; and the marks before a block's words.
_BEGINS = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+\u2022]|\d{1,9}[.)])[ \t]|\|)")
_LEAD = re.compile(r"(?:[ \t>]*(?:#{1,6}|[-*+\u2022]|\d{1,9}[.)])[ \t]+)*")
# A definition of a link; in "[Name]: word" there is no address.
_DEFINITION = re.compile(r" {0,3}\[[^\[\]\n]+\]:[ \t]*\n?[ \t]*<?[^\s<]*[/#@.]")


def _read_plain_pieces(source: str, link_definitions: dict[str, Any] | None) -> Iterator[Piece]:
    if not _MARKUP.search(source):
        yield 0, len(source), source
        return
    # A lone carriage return would be a line of its own, and NUL is no character of Markdown's.
    # Marks get a filling as long as they are.
    text = _MARKS.sub(lambda mark: (_BLANK if mark["breaking"] else _NOTHING) * len(mark[0]), source)
    blocks = [*_split_into_block_spans(text)]
    env: dict[str, Any] = {"references": dict(link_definitions or {})}
    definitions = {
        block: _consume_link_definitions(text[slice(*block)], env)
        for block in blocks
        if _DEFINITION.match(text, block[0])
    }
    for start, end in blocks:
        begin = start + definitions.get((start, end), 0)
        lead = _LEAD.match(text, begin, end)
        body = lead.end() if lead else begin
        yield from _drop_placeholder_characters([(begin, body, text[begin:body])])
        yield from _drop_placeholder_characters(_inline_pieces(text[body:end], body, env))


def _split_into_block_spans(text: str) -> Iterator[Span]:
    """Yield the stretches of a text in which marks belong together: paragraphs, items, headings, rows; all of it."""
    start = position = 0
    blank = False
    for line in text.splitlines(keepends=True):
        if position > start and (blank != (not line.strip()) or _BEGINS.match(line)):
            yield start, position
            start = position
        position += len(line)
        blank = not line.strip()
    if position > start:
        yield start, position


def _consume_link_definitions(block: str, env: dict[str, Any]) -> int:
    """Read the definitions of links that a block begins with into `env`; return how many characters they take."""
    tokens: list[Token] = []
    markdown = _parser()
    markdown.block.parse(block, markdown, env, tokens)
    lines = block.splitlines(keepends=True)
    first_line = tokens[0].map[0] if tokens and tokens[0].map else len(lines)
    return sum(map(len, lines[:first_line]))


# --- Inline --------------------------------------------------------------------------------------------------------


_KEPT = 5_000
"""Characters of a block that is kept."""


def _inline_pieces(text: str, block_start: int, env: dict[str, Any]) -> Iterable[Piece]:
    """Return the pieces of a block, which begins at `block_start`, in the order of its text."""
    if not _MARKUP.search(text):
        return [(block_start, block_start + len(text), text)]
    # Versions of a document have most of their blocks in common.
    alone = len(text) < _KEPT and not (env["references"] and "[" in text)
    pieces = _parse_inline_cached(text) if alone else _parse_inline_uncached(text, env)
    return [(block_start + first, block_start + last, read) for first, last, read in pieces]


def _parse_inline_uncached(text: str, env: dict[str, Any]) -> tuple[Piece, ...]:
    tokens: list[Token] = []
    end = len(text.rstrip())
    markdown = _parser()
    markdown.inline.parse(text[:end], markdown, env, tokens)
    try:
        return (*_TokenAligner(text).align_tokens(tokens), (end, len(text), text[end:]))
    except ValueError:
        # The parser has changed a character, so that nothing tells what it came from: the block reads as it stands.
        return ((0, len(text), text),)


@lru_cache(maxsize=4096)
def _parse_inline_cached(text: str) -> tuple[Piece, ...]:
    return _parse_inline_uncached(text, {})


class _TokenAligner:
    """The place of a parser's tokens in the text that it was given: each is found behind the one before."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def align_tokens(self, tokens: Iterable[Token]) -> Iterator[Piece]:
        """Yield what is read of the tokens; a ValueError for one that the text has not."""
        remaining = iter(tokens)
        for token in remaining:
            if token.type in {"text", "html_inline"}:
                yield self._take_piece_at_next_occurrence(token.content, token.content)
            elif token.type == "text_special":
                yield self._take_piece_at_next_occurrence(token.markup, token.content)
            elif token.type in {"softbreak", "hardbreak"}:
                yield self._take_piece_at_next_occurrence("\n", "\n")
            elif token.type == "code_inline":
                yield self._take_code_piece(token)
            elif token.type == "image":
                self._take_piece_at_next_occurrence("![", "")
                yield from self.align_tokens(token.children or ())
                self._skip_link_end()
            elif token.markup == "autolink":
                start, end = (
                    self._take_piece_at_next_occurrence("<", "")[1],
                    self._take_piece_at_next_occurrence(">", "")[0],
                )
                yield start, end, self._text[start:end]
                next(remaining)  # its text, in which the parser may spell the address in another way
                next(remaining)  # and its end
            elif token.type == "link_open":
                self._take_piece_at_next_occurrence("[", "")
            elif token.type == "link_close":
                self._skip_link_end()

    def _take_code_piece(self, token: Token) -> Piece:
        self._take_piece_at_next_occurrence(token.markup, "")
        words = token.content.lstrip(" ")
        start = self._text.index(words[:1], self._place)
        self._place = start + len(words)
        self._take_piece_at_next_occurrence(token.markup, "")
        return start, start + len(words), words

    def _take_piece_at_next_occurrence(self, sought: str, plain_text: str) -> Piece:
        start = self._text.index(sought, self._place)
        self._place = start + len(sought)
        return start, self._place, plain_text

    def _skip_link_end(self) -> None:
        """Go on behind a link: its bracket, and its address and title or its label."""
        self._take_piece_at_next_occurrence("]", "")
        following = self._text[self._place : self._place + 1]
        if following == "(" and (end := self._find_link_address_end_or_zero()):
            self._place = end
        elif following == "[":
            self._take_piece_at_next_occurrence("]", "")

    def _find_link_address_end_or_zero(self) -> int:
        """Return the end of the address and title in brackets; 0 if what is in them is neither."""
        from markdown_it.helpers import parseLinkDestination, parseLinkTitle

        text, last = self._text, len(self._text)
        address = parseLinkDestination(text, _skip_blanks(text, self._place + 1), last)
        end = _skip_blanks(text, address.pos if address.ok else self._place + 1)
        title = parseLinkTitle(text, end, last)
        end = _skip_blanks(text, title.pos) if title.ok else end
        return end + 1 if text[end : end + 1] == ")" else 0


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position
