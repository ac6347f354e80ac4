"""Markdown, as CommonMark defines it: the headings of a text, and a line without its inline markup."""

from __future__ import annotations

import logging
import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        (int(token.tag[1]), token.map[0], plain(content.content))
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.map and not token.level
        if re.fullmatch(r"(?![-*+] ).+", content.content)
    ]


def plain(line: str) -> str:
    """Remove emphasis, links, code marks, escapes and an anchor (`{#name}`) from one line."""
    line = re.sub(r"\s*\{#[\w-]+\}$", "", line.strip())
    if not re.search(r"[*_`\[\\<&]", line):
        return line
    children = _parser(inline=True).parseInline(line)[0].children or []
    return "".join(child.content for child in children if child.type in {"text", "code_inline", "image"}).strip()
