"""Check the built documentation, site/: links lead somewhere, nothing is loaded from elsewhere, lists are lists."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

SITE = Path(__file__).parents[1] / "site"
VERBATIM = {"pre", "script", "style"}
LOADING = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}


class Page(HTMLParser):
    """The anchors of a page, and what it links to or loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors = {"", "__top"}
        self.links: list[tuple[str, str]] = []
        self.lists: list[str] = []
        self.inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the ids and addresses of a tag."""
        if tag in VERBATIM:
            self.inside.append(tag)
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src", "data"):
                self.links.append((tag, value or ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave a stretch that is set as it is written."""
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        """Keep the beginning of a list or table that is part of a paragraph, for want of an empty line before it."""
        if not self.inside:
            self.lists += re.findall(r"\n *((?:[-*|]|\d+\.) .*)", data)

    def target(self, link: str) -> Path:
        """Return the file that an internal link names."""
        path = unquote(urldefrag(link).url)
        named = SITE / path.lstrip("/") if path.startswith("/") else self.path.parent / path if path else self.path
        return (named / "index.html" if named.is_dir() else named).resolve()


def faults(pages: dict[Path, Page]) -> list[str]:
    """Every link that leads nowhere, and everything that would be loaded from elsewhere."""
    found = []
    for path, page in pages.items():
        found += [f"{path.relative_to(SITE)}: an empty line is missing before '{line}'" for line in page.lists]
        for tag, link in page.links:
            said = f"{path.relative_to(SITE)}: {link}"
            if urlsplit(link).scheme or link.startswith("//"):
                found += [f"{said} is loaded from elsewhere"] if tag in LOADING and not link.startswith("data:") else []
                continue
            target = page.target(link)
            if not (target.is_file() and target.is_relative_to(SITE)):
                found.append(f"{said} leads nowhere")
            elif target in pages and unquote(urldefrag(link).fragment) not in pages[target].anchors:
                found.append(f"{said} has no such anchor")
    for sheet in SITE.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", sheet.read_text(encoding="utf-8")):
            found.append(f"{sheet.relative_to(SITE)}: {address} is loaded from elsewhere")
    return found


def main() -> None:
    """Say what is wrong and end with 1, or how many links are right."""
    pages = {path.resolve(): Page(path.resolve()) for path in SITE.rglob("*.html")}
    found = sorted(set(faults(pages)))
    if found or not pages:
        sys.exit("\n".join(found) or "site/ has no page")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links: each leads somewhere")


if __name__ == "__main__":
    main()
