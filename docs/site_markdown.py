"""The Markdown of the documentation's site beyond the ordinary: mkdocs.yml names this file as an extension.

A term of the glossary is explained by hover text where a page has it first, pictures open at their full size, and
examples in docstrings are code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from markdown import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

if TYPE_CHECKING:
    from markdown import Markdown

GLOSSARY = Path(__file__).parent / "reference" / "glossary.md"
# Everyday words: a page mostly has another sense of them in mind, or nobody needs them explained.
EVERYDAY = {
    *("audit", "band", "correction", "document", "drift", "event", "exclusion", "experiment", "exposure", "fault"),
    *("item", "pack", "part", "policy", "prompts", "run", "sheet", "silent", "system", "verdict", "wording"),
}
SKIPPED = {"a", "abbr", "code", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "th"}


def glossary() -> dict[str, str]:
    """Return the terms of the glossary's page that have a hover text, each with its meaning in plain words."""
    meanings = {}
    for names, meaning in re.findall(
        r"^- \*\*(.*?)\*\*: (.*(?:\n  .*)*)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE
    ):
        plain = re.sub(r"\[(.*?)\]\(.*?\)|[`*]", r"\1", " ".join(meaning.split()))
        meanings.update(dict.fromkeys(re.split(r", | \[|\]", names), plain))
    if not meanings:
        raise ValueError(f"{GLOSSARY} has no list of terms")
    return {name: meaning for name, meaning in meanings.items() if name and name not in EVERYDAY}


class Examples(Preprocessor):
    """Examples of docstrings, `>>> ` and what follows up to an empty line, as blocks of code."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines with a fence around each example."""
        text = "\n".join(lines) + "\n\n"
        return re.sub(r"(?m)(^>>> (?:.*\n)+?)\s*$", r"```pycon\n\1```\n", text).split("\n")


class Terms(Treeprocessor):
    """The first time that a page has a term of the glossary, with its meaning as hover text."""

    def __init__(self, md: Markdown) -> None:
        super().__init__(md)
        self.meanings = glossary()

    def run(self, root: Element) -> None:
        """Mark the terms, unless this is the page that explains them."""
        left = {} if root.findtext("h1") == "Glossary" else dict(self.meanings)
        self._mark(root, left)

    def _mark(self, element: Element, left: dict[str, str]) -> None:
        if element.tag in SKIPPED:
            return
        children = list(element)
        element.text, new = self._split(element.text, left)
        for place, term in enumerate(new):
            element.insert(place, term)
        for child in children:
            self._mark(child, left)
            child.tail, new = self._split(child.tail, left)
            for place, term in enumerate(new, start=list(element).index(child) + 1):
                element.insert(place, term)

    @staticmethod
    def _split(text: str | None, left: dict[str, str]) -> tuple[str | None, list[Element]]:
        """Return the text up to the first term, and an element for each term with the text up to the next one."""
        found: list[Element] = []
        if text is None or isinstance(text, AtomicString):
            return text, found
        start, rest = None, text
        while left and (term := re.search(rf"(?i)(?<![\w-])({'|'.join(map(re.escape, left))})(?:e?s)?(?![\w-])", rest)):
            before, rest = rest[: term.start()], rest[term.end() :]
            if found:
                found[-1].tail = before
            else:
                start = before
            marked = Element(
                "abbr", {"title": left.pop(next(name for name in left if name.lower() == term[1].lower()))}
            )
            marked.text = AtomicString(term[0])
            found.append(marked)
        if not found:
            return text, found
        found[-1].tail = rest
        return start, found


class Pictures(Treeprocessor):
    """Pictures that lead to themselves: on a telephone they are small."""

    def run(self, root: Element) -> None:
        """Put a link around each, unless it is in one."""
        for parent in [element for element in root.iter() if element.tag != "a"]:
            for place, picture in enumerate(parent):
                if picture.tag == "img":
                    link = Element("a", {"href": picture.get("src", "").partition("#")[0]})
                    link.tail, picture.tail = picture.tail, None
                    parent[place] = link
                    link.append(picture)


class SiteMarkdown(Extension):
    """All three."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802, the library's name
        """Put each where it belongs: before fences are read, or after words have been."""
        md.preprocessors.register(Examples(md), "examples", 28)
        md.treeprocessors.register(Terms(md), "terms", 7)
        md.treeprocessors.register(Pictures(md), "pictures", 6)
