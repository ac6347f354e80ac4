"""Parts of a page that a browser doesn't show at first: older versions left out, all others kept, and both counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from genaipa.languages.language import UNSPACED
from genaipa.policies.search import count_words
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STYLE = "translate(@style, 'DISPLAYVTNOHEB \t\n', 'displayvtnoheb')"
_HIDDEN = (
    f"//*[@hidden or @aria-hidden='true' or contains({_STYLE}, 'display:none')"
    f" or contains({_STYLE}, 'visibility:hidden')]"
    " | //template[not(@shadowrootmode)] | //details[not(@open)] | //dialog[not(@open)]"
)
_UNREAD = frozenset(("script", "style", "noscript", "iframe", "svg", "select", "textarea"))
_CLASSES = frozenset(
    ("hidden", "d-none", "hide", "is-hidden", "invisible", "display-none", "u-hidden", "visually-hidden", "sr-only")
)
"""Names of classes by which style sheets hide an element."""
_TABS = frozenset(("tab-pane", "tab-panel", "tabpanel", "w-tab-pane", "tabs__panel", "tab-content-item"))
_OPEN = re.compile(r"(?:^|[-_ ])(?:active|show|shown|selected|current|open|in|visible)(?:$|[-_ ])")
_CLASS = re.compile(r"\.([A-Za-z_][\w-]*)")
_NOT_SHOWN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_DEEPEST = 5
"""Hidden parts inside one another that are looked at."""
_MOST = 200
"""Hidden parts that stay and whose text is looked for; more are hardly anybody's."""
_LEAST = 5
"""Words of a part that is looked at; less is a label."""
_RUN = 5
"""Words in a row by which parts are compared."""
_MOSTLY = 0.5
"""Share of a part's runs of words that are elsewhere, too, so that it repeats them."""
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


class HiddenParts:
    """The hidden parts of a page, from its lxml tree; parts that repeat other text are taken out of it."""

    def __init__(self, tree: Any) -> None:
        self.left_out: list[int] = []
        shadows = tree.xpath("//template[@shadowrootmode]")
        for shadow in shadows:
            shadow.tag = "div"  # it is shown, whatever its name says
        self.changed = bool(shadows)
        self._remaining: list[tuple[list[str], int]] = []
        hidden = _find_hidden_elements(tree)
        if any(count_words(_readable_text(part)) >= _LEAST for part in hidden):
            self._remove_hidden_parts_repeating_text(tree, hidden)

    def _remove_hidden_parts_repeating_text(self, tree: Any, hidden_elements: list[Any]) -> None:
        """Take out each part that mostly repeats what is seen, or another part before it."""
        hidden_set = set(hidden_elements)
        known_runs = set(_word_ngrams(_split_into_casefolded_words(_readable_text(tree, hidden_set))))
        for part in hidden_elements:
            if any(above.get(_GONE) for above in part.iterancestors()):
                continue
            text = _readable_text(part)
            runs = list(_word_ngrams(_split_into_casefolded_words(text)))
            if count_words(text) < _LEAST or not runs:
                continue
            if sum(run in known_runs for run in runs) >= _MOSTLY * len(runs):
                self.left_out.append(count_words(text))
                part.set(_GONE, "yes")
                continue
            part_words = _split_into_casefolded_words(_readable_text(part, hidden_set))
            known_runs.update(_word_ngrams(part_words))
            if part.tag != "template" and len(part_words) >= _LEAST and len(self._remaining) < _MOST:
                self._remaining.append((part_words[:_RUN], len(part_words)))
        for part in tree.xpath(f"//*[@{_GONE}]"):
            part.drop_tree()
            self.changed = True

    def has_all_hidden_parts(self, text: str, make_page_text: Callable[[], str]) -> bool:
        """Tell whether a text has all hidden parts that the whole text of the page has."""
        text_words = " ".join(_split_into_casefolded_words(text)) if self._remaining else ""
        missing = [" ".join(beginning) for beginning, _ in self._remaining if " ".join(beginning) not in text_words]
        page_words = " ".join(_split_into_casefolded_words(make_page_text())) if missing else ""
        return not any(beginning in page_words for beginning in missing)

    def iterate_notes_on_hidden_parts(self, text: str) -> Iterator[str]:
        """Say what was left out, and what of the others is in a text."""
        if self.left_out:
            parts, were = format_count(len(self.left_out), "hidden part"), "was" if len(self.left_out) == 1 else "were"
            words = format_count(sum(self.left_out), "word")
            yield f"{parts} ({words}) that {'repeats' if were == 'was' else 'repeat'} the visible text {were} left out"
        if self._remaining:
            text_words = " ".join(_split_into_casefolded_words(text))
            if word_counts := [words for beginning, words in self._remaining if " ".join(beginning) in text_words]:
                parts, are = format_count(len(word_counts), "part"), "is" if len(word_counts) == 1 else "are"
                words = format_count(sum(word_counts), "word")
                yield f"{parts} ({words}) that the page initially hides {are} in the text; check for outdated versions"


_GONE = "data-genaipa-left-out"


def _find_hidden_elements(tree: Any) -> list[Any]:
    """Return the elements that a browser does not show at first, in the order of the page."""
    rules = _classes_hidden_by_styles(" ".join(style.text or "" for style in tree.iter("style")))
    elements = set(tree.xpath(_HIDDEN))
    for element in tree.xpath("//*[@class]"):
        names = set(element.get("class").split())
        closed = names & _TABS and not _OPEN.search(element.get("class"))
        if names & (_CLASSES | rules) or closed:
            elements.add(element)
    hidden = (element for element in tree.iter() if element in elements and element.tag not in {"html", "body", "main"})
    return [element for element in hidden if sum(above in elements for above in element.iterancestors()) < _DEEPEST]


def _classes_hidden_by_styles(style_sheet: str) -> set[str]:
    """Return the classes that style sheets hide on every screen: in a rule of its own, inside no other block."""
    names: set[str] = set()
    open_blocks: list[str] = []
    selector = ""
    for piece in re.split(r"([{}])", style_sheet):
        if piece == "{":
            open_blocks.append(selector)
        elif piece == "}" and open_blocks:
            selectors = open_blocks.pop()
            if not open_blocks and _NOT_SHOWN.search(selector):
                names.update(name[1] for part in selectors.split(",") if (name := _CLASS.fullmatch(part.strip())))
        selector = piece
    return names


def _readable_text(element: Any, excluded_elements: frozenset[Any] | set[Any] = frozenset()) -> str:
    """Return the text of an element that is read, without some elements in it."""
    pieces: list[str] = []
    stack = [(element, False)]
    while stack:
        node, after = stack.pop()
        if after:
            pieces.append(node.tail or "")
            continue
        if node is not element:
            stack.append((node, True))
        if not isinstance(node.tag, str) or node.tag in _UNREAD or (node in excluded_elements and node is not element):
            continue
        pieces.append(node.text or "")
        stack.extend((child, False) for child in reversed(node))
    return " ".join(pieces)


def _split_into_casefolded_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _word_ngrams(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)
