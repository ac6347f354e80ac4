"""A page of HTML as Markdown: of the web, or what a Word document was made into.

Extractors of main text may drop a page's tables and lists as decoration; in a privacy policy they matter most. The
conversion keeps everything but the elements that HTML marks as outside the text: scripts, navigation, headers, footers
and asides; and an extracted text is checked for the page's tables and lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator


_UNREAD = (
    "//comment() | //processing-instruction() | //script | //style | //noscript | //template | //iframe | //svg"
    " | //select | //textarea | //nav | //*[@role='navigation']"
)
_AROUND = (
    "//*[self::header or self::footer or self::aside or @role='banner' or @role='contentinfo' or @role='complementary']"
    "[not(ancestor::main or ancestor::article or ancestor::*[@role='main'])]"
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "div", "dl"),
    *("dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "ol", "p", "pre"),
    *("section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", *_HEADINGS),
}
_BREAK = "\ue000"  # <br> until blanks are tidied; for private use, so that no page means anything by it
_MOST_SPANNED = 100
_MOST_REPEATED = 1_000_000
"""Characters that cells over several rows or columns may add to a table; those that are left are one wide and high."""


@dataclass(frozen=True)
class StructureCounts:
    """Tables and lists of a page, and how many of them are not (wholly) in the text."""

    tables: int = 0
    lists: int = 0
    lost_tables: int = 0
    lost_lists: int = 0

    def __str__(self) -> str:
        """Return a sentence for the user; empty for a page without tables and lists."""
        if not self.tables and not self.lists:
            return ""
        lost = _tables_and_lists_in_words(self.lost_tables, self.lost_lists)
        completeness = f"; {lost} missing from the text, so check it" if lost else ", all in the text"
        return f"{_tables_and_lists_in_words(self.tables, self.lists)} in the page{completeness}"


def _tables_and_lists_in_words(tables: int, lists: int) -> str:
    return " and ".join(format_count(n, noun) for n, noun in ((tables, "table"), (lists, "list")) if n)


class HtmlPage:
    """A page, from its lxml tree, which is changed."""

    def __init__(self, tree: Any) -> None:
        _drop_elements(tree, _UNREAD)
        for element in tree.iter():
            if element.tag == "br":
                element.tail = _BREAK + (element.tail or "")
            elif element.tag in _BLOCKS:
                # So that words on both sides of a border stay two.
                element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
        self._whole = list(_iterate_tables_and_lists(tree))
        _drop_elements(tree, _AROUND)
        main = _main_element_or_body(tree)
        self._structures = list(_iterate_tables_and_lists(main))
        self._blocks = list(_iterate_markdown_blocks(main))

    def is_structure_kept_in_text(self, text: str) -> bool:
        """Whether a text has the tables, lists and headings of the page's main part as such."""
        return next(
            _kinds_of_lost_structures(self._structures, text), None
        ) is None and self._are_headings_kept_in_text(text)

    def _are_headings_kept_in_text(self, text: str) -> bool:
        """Whether the blocks in a text have their headings above them; the page's title isn't missed."""
        text_letters, headings = _fold_to_letters_and_digits(text), _MarkedTextLines(text, "#")
        titles = [block for block in self._blocks if block.startswith("# ")]
        above: list[str] = []
        for block in self._blocks:
            first = block.partition("\n")[0]
            if re.match(r"#{1,6} ", block):
                above += [] if titles == [block] else [first]
            elif _fold_to_letters_and_digits(first) in text_letters:
                if not all(headings.has_line_with_pieces_in_order([heading]) for heading in above):
                    return False
                above = []
        return True

    def count_structures_and_lost_in_text(self, text: str) -> StructureCounts:
        """Tables and lists of the whole page that are in a text; menus (lists of links alone) don't count."""
        kinds, lost = [kind for kind, _ in self._whole], list(_kinds_of_lost_structures(self._whole, text))
        return StructureCounts(kinds.count("table"), kinds.count("list"), lost.count("table"), lost.count("list"))

    def markdown(self) -> str:
        """Format the main part of the page as Markdown."""
        return "\n\n".join(self._blocks) + "\n"


def _drop_elements(tree: Any, xpath: str) -> None:
    for element in tree.xpath(xpath):
        if element.getparent() is not None:
            element.drop_tree()


def _main_element_or_body(tree: Any) -> Any:
    """Return the element marked as the main part if it has most of the text; else the page."""
    for path in ("//main | //*[@role='main']", "//article"):
        candidates = tree.xpath(path)
        if len(candidates) == 1 and 2 * len(_element_text_on_one_line(candidates[0])) >= len(
            _element_text_on_one_line(tree.find("body"))
        ):
            return candidates[0]
    body = tree.find("body")
    return tree if body is None else body


def _element_text_on_one_line(element: Any) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).replace(_BREAK, " ").split())


# --- Tables and lists in a text ------------------------------------------------------------------------------------


def _iterate_tables_and_lists(root: Any) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each table as rows of cells, and each list as items, nested ones included."""
    covered: set[Any] = set()
    for element in root.iter("table", "ul", "ol"):
        if covered.intersection(element.iterancestors()) or _is_layout_only(element):
            continue
        covered.add(element)
        if element.tag == "table":
            yield (
                "table",
                [
                    [_element_text_on_one_line(cell) for cell in row]
                    for row in _cell_elements_by_row_ignoring_spans(element)
                ],
            )
        elif _element_text_on_one_line(element) != " ".join(
            filter(None, (_element_text_on_one_line(link) for link in element.iter("a")))
        ):
            yield "list", [[next(_iterate_markdown_blocks(item), "").partition("\n")[0]] for item in element.iter("li")]


def _kinds_of_lost_structures(structures: list[tuple[str, list[list[str]]]], text: str) -> Iterator[str]:
    """Yield the kind of each table and list that is not wholly in a text."""
    lines = {"table": _MarkedTextLines(text, r"\|"), "list": _MarkedTextLines(text, r"(?:[-*+]|\d+[.)])\s")}
    return (
        kind
        for kind, entries in structures
        if not all(lines[kind].has_line_with_pieces_in_order(entry) for entry in entries)
    )


class _MarkedTextLines:
    """The lines of a text that begin with a mark, without marks and blanks."""

    def __init__(self, text: str, mark: str) -> None:
        self._lines = [_fold_to_letters_and_digits(line) for line in text.splitlines() if re.match(mark, line.strip())]
        self._next = 0

    def has_line_with_pieces_in_order(self, pieces: list[str]) -> bool:
        """Whether one line has these in this order; fast if asked in the order of the text."""
        wanted = [_fold_to_letters_and_digits(piece) for piece in pieces]
        for index in chain(range(self._next, len(self._lines)), range(self._next)):
            if _contains_in_order(wanted, self._lines[index]):
                self._next = index + 1
                return True
        return not any(wanted)


def _contains_in_order(texts: list[str], line: str) -> bool:
    end = 0
    for piece in texts:
        begin = line.find(piece, end)
        if begin < 0:
            return False
        end = begin + len(piece)
    return True


def _fold_to_letters_and_digits(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


# --- Conversion ----------------------------------------------------------------------------------------------------


def _iterate_markdown_blocks(element: Any) -> Iterator[str]:
    return filter(None, _iterate_markdown_blocks_and_gaps(element))


def _iterate_markdown_blocks_and_gaps(element: Any) -> Iterator[str]:
    """Yield the blocks, and perhaps empty texts between them."""
    running = element.text or ""
    for child in element:
        # An element unknown to HTML may have lines of its own, too.
        if any(inner.tag in _BLOCKS for inner in child.iter()):
            yield _tidy_paragraph_whitespace(running)
            yield from _iterate_markdown_of_block_element(child)
            running = child.tail or ""
        else:
            running += "".join(child.itertext()) + (child.tail or "")
    yield _tidy_paragraph_whitespace(running)


def _tidy_paragraph_whitespace(running_text: str) -> str:
    lines = (" ".join(line.split()) for line in running_text.split(_BREAK))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _iterate_markdown_of_block_element(element: Any) -> Iterator[str]:
    if element.tag == "pre":
        yield "".join(element.itertext()).replace(_BREAK, "\n").strip()
    elif element.tag in _HEADINGS:
        title = _element_text_on_one_line(element)
        yield title and f"{_HEADINGS[element.tag]} {title}"
    elif element.tag not in {"table", "ul", "ol"} or _is_layout_only(element):
        yield from _iterate_markdown_blocks(element)
    elif element.tag == "table":
        yield from (_element_text_on_one_line(caption) for caption in element.iterchildren("caption"))
        yield _format_markdown_table(element)
    else:
        yield _format_markdown_list(element)


def _format_markdown_list(element: Any) -> str:
    items: list[str] = []
    number = 0
    for child in element:
        number += child.tag == "li"
        mark = "- " if element.tag == "ul" else f"{number}. "
        lines = "\n".join(
            _iterate_markdown_blocks(child) if child.tag == "li" else _iterate_markdown_of_block_element(child)
        ).split("\n")
        if any(lines):
            begin = mark if child.tag == "li" else " " * len(mark)
            items.append(begin + ("\n" + " " * len(mark)).join(lines))
    return "\n".join(items)


def _format_markdown_table(table: Any) -> str:
    """Format a table; a cell over several rows is repeated in each, so that every row can be read alone."""
    rows: list[list[str]] = []
    above: dict[int, tuple[int, str]] = {}  # column: remaining rows of the cell in it, and its text
    room = _MOST_REPEATED
    for cells in _cell_elements_by_row_ignoring_spans(table):
        row: list[str] = []
        spanning: dict[int, tuple[int, str]] = {}
        waiting, last = cells[::-1], max(above, default=-1)
        while waiting or len(row) <= last:
            if len(row) in above or not waiting:
                spanning[len(row)] = above.get(len(row), (0, ""))
                row.append(spanning[len(row)][1])
                room -= 3 + len(row[-1])
                continue
            cell = waiting.pop()
            for offset in range(_cell_span(cell, "colspan") if room > 0 else 1):
                spanning[len(row)] = (
                    _cell_span(cell, "rowspan"),
                    "" if offset else _element_text_on_one_line(cell).replace("|", r"\|"),
                )
                row.append(spanning[len(row)][1])
                room -= 3 * bool(offset)
        above = {
            column: (rows_left - 1, text)
            for column, (rows_left, text) in spanning.items()
            if rows_left > 1 and room > 0
        }
        rows.append(row)
    width = max(map(len, rows))
    filled = width if width * len(rows) <= _MOST_REPEATED else 0
    lines = [f"| {' | '.join(row + [''] * (filled - len(row)))} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


def _cell_span(cell: Any, attribute_name: str) -> int:
    value = (cell.get(attribute_name) or "").strip()
    return min(max(int(value), 1), _MOST_SPANNED) if re.fullmatch(r"[0-9]{1,9}", value) else 1


def _cell_elements_by_row_ignoring_spans(table: Any) -> list[list[Any]]:
    groups = [table, *table.iterchildren("thead", "tbody", "tfoot")]
    rows = [[*row.iterchildren("td", "th")] for group in groups for row in group.iterchildren("tr")]
    return [cells for cells in rows if cells]


def _is_layout_only(element: Any) -> bool:
    """Whether a table or list serves layout alone.

    It does if it has a table inside, text with headings, text outside its cells or items, or one column only.
    """
    if element.tag == "table":
        rows = _cell_elements_by_row_ignoring_spans(element)
        pieces = [cell for row in rows for cell in row]
        held = [*pieces, *element.iterchildren("caption")]
        narrow = max(map(len, rows), default=0) < 2  # noqa: PLR2004
    else:
        pieces = [*element.iterchildren("li")]
        held = [*pieces, *element.iterchildren("ul", "ol")]
        narrow = False
    return (
        narrow
        or element.get("role") in {"presentation", "none"}
        or next(element.iterdescendants("table"), None) is not None
        or sum(len(_element_text_on_one_line(piece).split()) for piece in held)
        != len(_element_text_on_one_line(element).split())
        or any(_has_headings_and_other_text(piece) for piece in pieces)
    )


def _has_headings_and_other_text(element: Any) -> bool:
    words = sum(len(_element_text_on_one_line(heading).split()) for heading in element.iterdescendants(*_HEADINGS))
    return 0 < words < len(_element_text_on_one_line(element).split())
