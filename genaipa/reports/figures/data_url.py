"""A picture as an address of itself, so that a page holds its figures."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import quote

from markupsafe import Markup

_PATH = re.compile(r'(?<= d=")[^"]*')
_FRACTION = re.compile(r"(\.\d\d)\d+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_QUOTED = re.compile(r'="[^"]*\'')
_UNSAFE = re.compile(r"[^A-Za-z0-9_.~ /:=;,()+*!?@\[\]{}|&'<>-]+")


def make_svg_data_url(svg: str) -> Markup:
    """Return a picture as an address of itself: outlines to a hundredth of a point, short names, and little escaped."""
    svg = _COMMENT.sub("", svg[svg.index("<svg") :]).replace("xlink:href", "href").replace("DejaVuSans-", "g")
    svg = " ".join(_PATH.sub(lambda path: _FRACTION.sub(r"\1", path[0]), svg).split()).replace("> <", "><")
    svg = svg if _QUOTED.search(svg) else svg.replace('"', "'")
    written = _UNSAFE.sub(lambda match: _quote_url_characters(match[0]), svg).replace("&", "&amp;")
    return Markup("data:image/svg+xml," + written)  # noqa: S704 - what ends an attribute, a double quote, is escaped


@cache
def _quote_url_characters(characters: str) -> str:
    return quote(characters, safe="")
