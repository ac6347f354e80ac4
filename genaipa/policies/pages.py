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

from genaipa.words import number

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
class Structures:
    """Tables and lists of a page, and how many of them are not (wholly) in the text."""

    tables: int = 0
    lists: int = 0
    lost_tables: int = 0
    lost_lists: int = 0

    def __str__(self) -> str:
        """A sentence for the user; empty for a page without any."""
        if not self.tables and not self.lists:
            return ""
        lost = _counted(self.lost_tables, self.lost_lists)
        rest = f"; {lost} not in the text: look at it" if lost else ", all in the text"
        return f"{_counted(self.tables, self.lists)} in the page{rest}"


def _counted(tables: int, lists: int) -> str:
    return " and ".join(number(n, what) for n, what in ((tables, "table"), (lists, "list")) if n)


class Page:
    """A page, from its lxml tree, which is changed."""

    def __init__(self, tree: Any) -> None:
        _drop(tree, _UNREAD)
        for element in tree.iter():
            if element.tag == "br":
                element.tail = _BREAK + (element.tail or "")
            elif element.tag in _BLOCKS:
                # So that words on both sides of a border stay two.
                element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
        self._whole = list(_structures(tree))
        _drop(tree, _AROUND)
        main = _main(tree)
        self._structures = list(_structures(main))
        self._blocks = list(_blocks(main))

    def is_whole_in(self, text: str) -> bool:
        """Whether a text has the tables, lists and headings of the page's main part as such."""
        return next(_lost(self._structures, text), None) is None and self._has_headings(text)

    def _has_headings(self, text: str) -> bool:
        """Whether the blocks in a text have their headings above them; the page's title isn't missed."""
        there, headings = _bare(text), _PageLines(text, "#")
        titles = [block for block in self._blocks if block.startswith("# ")]
        above: list[str] = []
        for block in self._blocks:
            first = block.partition("\n")[0]
            if re.match(r"#{1,6} ", block):
                above += [] if titles == [block] else [first]
            elif _bare(first) in there:
                if not all(headings.have([heading]) for heading in above):
                    return False
                above = []
        return True

    def held(self, text: str) -> Structures:
        """Tables and lists of the whole page that are in a text; menus (lists of links alone) don't count."""
        kinds, lost = [kind for kind, _ in self._whole], list(_lost(self._whole, text))
        return Structures(kinds.count("table"), kinds.count("list"), lost.count("table"), lost.count("list"))

    def markdown(self) -> str:
        """Format the main part of the page as Markdown."""
        return "\n\n".join(self._blocks) + "\n"


def _drop(tree: Any, path: str) -> None:
    for element in tree.xpath(path):
        if element.getparent() is not None:
            element.drop_tree()


def _main(tree: Any) -> Any:
    """The element that says it is the main part, if there is one with most of the text in it; else the page."""
    for path in ("//main | //*[@role='main']", "//article"):
        found = tree.xpath(path)
        if len(found) == 1 and 2 * len(_line(found[0])) >= len(_line(tree.find("body"))):
            return found[0]
    body = tree.find("body")
    return tree if body is None else body


def _line(element: Any) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).replace(_BREAK, " ").split())


# --- Tables and lists in a text ------------------------------------------------------------------------------------


def _structures(scope: Any) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each table as rows of cells, and each list as items, nested ones included."""
    taken: set[Any] = set()
    for element in scope.iter("table", "ul", "ol"):
        if taken.intersection(element.iterancestors()) or _is_layout(element):
            continue
        taken.add(element)
        if element.tag == "table":
            yield "table", [[_line(cell) for cell in row] for row in _rows(element)]
        elif _line(element) != " ".join(filter(None, (_line(link) for link in element.iter("a")))):
            yield "list", [[next(_blocks(item), "").partition("\n")[0]] for item in element.iter("li")]


def _lost(structures: list[tuple[str, list[list[str]]]], text: str) -> Iterator[str]:
    """Yield the kind of each table and list that is not wholly in a text."""
    lines = {"table": _PageLines(text, r"\|"), "list": _PageLines(text, r"(?:[-*+]|\d+[.)])\s")}
    return (kind for kind, entries in structures if not all(lines[kind].have(entry) for entry in entries))


class _PageLines:
    """The lines of a text that begin with a mark, without marks and blanks."""

    def __init__(self, text: str, mark: str) -> None:
        self._lines = [_bare(line) for line in text.splitlines() if re.match(mark, line.strip())]
        self._next = 0

    def have(self, pieces: list[str]) -> bool:
        """Whether one line has these in this order; fast if asked in the order of the text."""
        wanted = [_bare(piece) for piece in pieces]
        for index in chain(range(self._next, len(self._lines)), range(self._next)):
            if _in_order(wanted, self._lines[index]):
                self._next = index + 1
                return True
        return not any(wanted)


def _in_order(pieces: list[str], line: str) -> bool:
    end = 0
    for piece in pieces:
        begin = line.find(piece, end)
        if begin < 0:
            return False
        end = begin + len(piece)
    return True


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


# --- Conversion ----------------------------------------------------------------------------------------------------


def _blocks(element: Any) -> Iterator[str]:
    return filter(None, _pieces(element))


def _pieces(element: Any) -> Iterator[str]:
    """Yield the blocks, and perhaps empty texts between them."""
    running = element.text or ""
    for child in element:
        # An element unknown to HTML may have lines of its own, too.
        if any(inner.tag in _BLOCKS for inner in child.iter()):
            yield _paragraph(running)
            yield from _block(child)
            running = child.tail or ""
        else:
            running += "".join(child.itertext()) + (child.tail or "")
    yield _paragraph(running)


def _paragraph(running: str) -> str:
    lines = (" ".join(line.split()) for line in running.split(_BREAK))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _block(element: Any) -> Iterator[str]:
    if element.tag == "pre":
        yield "".join(element.itertext()).replace(_BREAK, "\n").strip()
    elif element.tag in _HEADINGS:
        title = _line(element)
        yield title and f"{_HEADINGS[element.tag]} {title}"
    elif element.tag not in {"table", "ul", "ol"} or _is_layout(element):
        yield from _blocks(element)
    elif element.tag == "table":
        yield from (_line(caption) for caption in element.iterchildren("caption"))
        yield _table(element)
    else:
        yield _list(element)


def _list(element: Any) -> str:
    found: list[str] = []
    number = 0
    for child in element:
        number += child.tag == "li"
        mark = "- " if element.tag == "ul" else f"{number}. "
        lines = "\n".join(_blocks(child) if child.tag == "li" else _block(child)).split("\n")
        if any(lines):
            begin = mark if child.tag == "li" else " " * len(mark)
            found.append(begin + ("\n" + " " * len(mark)).join(lines))
    return "\n".join(found)


def _table(table: Any) -> str:
    """Format a table; a cell over several rows is repeated in each, so that every row can be read alone."""
    rows: list[list[str]] = []
    above: dict[int, tuple[int, str]] = {}  # column: remaining rows of the cell in it, and its text
    room = _MOST_REPEATED
    for cells in _rows(table):
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
            for beside in range(_span(cell, "colspan") if room > 0 else 1):
                spanning[len(row)] = _span(cell, "rowspan"), "" if beside else _line(cell).replace("|", r"\|")
                row.append(spanning[len(row)][1])
                room -= 3 * bool(beside)
        above = {column: (more - 1, text) for column, (more, text) in spanning.items() if more > 1 and room > 0}
        rows.append(row)
    width = max(map(len, rows))
    filled = width if width * len(rows) <= _MOST_REPEATED else 0
    lines = [f"| {' | '.join(row + [''] * (filled - len(row)))} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value), 1), _MOST_SPANNED) if re.fullmatch(r"[0-9]{1,9}", value) else 1


def _rows(table: Any) -> list[list[Any]]:
    groups = [table, *table.iterchildren("thead", "tbody", "tfoot")]
    rows = [[*row.iterchildren("td", "th")] for group in groups for row in group.iterchildren("tr")]
    return [cells for cells in rows if cells]


def _is_layout(element: Any) -> bool:
    """Whether a table or list serves layout alone.

    It does if it has a table inside, text with headings, text outside its cells or items, or one column only.
    """
    if element.tag == "table":
        rows = _rows(element)
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
        or sum(len(_line(piece).split()) for piece in held) != len(_line(element).split())
        or any(_has_headed_text(piece) for piece in pieces)
    )


def _has_headed_text(element: Any) -> bool:
    words = sum(len(_line(heading).split()) for heading in element.iterdescendants(*_HEADINGS))
    return 0 < words < len(_line(element).split())
