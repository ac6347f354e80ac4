"""Words of a page as its readers meet them: those in sight, and with what is folded away."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

_VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}


def budgets(about: str) -> dict[str, int]:
    """The largest numbers of words, of what this is about."""
    found: Any = yaml.safe_load(Path(__file__).with_name("budgets.yaml").read_text(encoding="utf-8"))
    return dict(found[about])


class Words(HTMLParser):
    """The words of a page: `all` of them, and those `in_sight` while everything is folded as it is when it opens."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._open: list[tuple[str, bool]] = []
        self.all = self.in_sight = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins; one that is folded hides all but its own summary."""
        if tag not in _VOID:
            self._open.append((tag, tag == "details" and "open" not in dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        while tag not in _VOID and self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Text in it."""
        tags = [tag for tag, _ in self._open]
        if {"style", "head"} & {*tags}:
            return
        number = len(data.split())
        self.all += number
        below = [*tags, ""][1:]
        if not any(folded and inner != "summary" for (_, folded), inner in zip(self._open, below, strict=True)):
            self.in_sight += number
