"""Parts of a page that a browser doesn't show at first: older versions left out, all others kept, and both counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from genaipa.languages.language import UNSPACED
from genaipa.policies.search import count_words
from genaipa.words import number

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
        self._kept: list[tuple[list[str], int]] = []
        hidden = _hidden(tree)
        if any(count_words(_text(part)) >= _LEAST for part in hidden):
            self._sort(tree, hidden)

    def _sort(self, tree: Any, hidden: list[Any]) -> None:
        """Take out each part that mostly repeats what is seen, or another part before it."""
        apart = set(hidden)
        known = set(_runs(_words(_text(tree, apart))))
        for part in hidden:
            if any(above.get(_GONE) for above in part.iterancestors()):
                continue
            text = _text(part)
            runs = list(_runs(_words(text)))
            if count_words(text) < _LEAST or not runs:
                continue
            if sum(run in known for run in runs) >= _MOSTLY * len(runs):
                self.left_out.append(count_words(text))
                part.set(_GONE, "yes")
                continue
            own = _words(_text(part, apart))
            known.update(_runs(own))
            if part.tag != "template" and len(own) >= _LEAST and len(self._kept) < _MOST:
                self._kept.append((own[:_RUN], len(own)))
        for part in tree.xpath(f"//*[@{_GONE}]"):
            part.drop_tree()
            self.changed = True

    def are_in(self, text: str, whole: Callable[[], str]) -> bool:
        """Whether a text has all hidden parts that the whole text of the page has."""
        there = " ".join(_words(text)) if self._kept else ""
        lacking = [" ".join(begun) for begun, _ in self._kept if " ".join(begun) not in there]
        every = " ".join(_words(whole())) if lacking else ""
        return not any(begun in every for begun in lacking)

    def notes(self, text: str) -> Iterator[str]:
        """Say what was left out, and what of the others is in a text."""
        if self.left_out:
            many, were = number(len(self.left_out), "hidden part"), "was" if len(self.left_out) == 1 else "were"
            words = number(sum(self.left_out), "word")
            yield f"{many} that {'repeats' if were == 'was' else 'repeat'} the visible text {were} left out: {words}"
        if self._kept:
            there = " ".join(_words(text))
            if shown := [words for begun, words in self._kept if " ".join(begun) in there]:
                many, are = number(len(shown), "part"), "is" if len(shown) == 1 else "are"
                hides = f"{many} that the page hides at first {are} in the text"
                yield f"{hides}: {number(sum(shown), 'word')}; see that no older version is among them"


_GONE = "data-genaipa-left-out"


def _hidden(tree: Any) -> list[Any]:
    """The elements that a browser does not show at first, in the order of the page."""
    rules = _hiding_classes(" ".join(style.text or "" for style in tree.iter("style")))
    found = set(tree.xpath(_HIDDEN))
    for element in tree.xpath("//*[@class]"):
        names = set(element.get("class").split())
        closed = names & _TABS and not _OPEN.search(element.get("class"))
        if names & (_CLASSES | rules) or closed:
            found.add(element)
    hidden = (element for element in tree.iter() if element in found and element.tag not in {"html", "body", "main"})
    return [element for element in hidden if sum(above in found for above in element.iterancestors()) < _DEEPEST]


def _hiding_classes(styles: str) -> set[str]:
    """The classes that style sheets hide on every screen: in a rule of its own, inside no other block."""
    names: set[str] = set()
    open_blocks: list[str] = []
    said = ""
    for piece in re.split(r"([{}])", styles):
        if piece == "{":
            open_blocks.append(said)
        elif piece == "}" and open_blocks:
            selectors = open_blocks.pop()
            if not open_blocks and _NOT_SHOWN.search(said):
                names.update(name[1] for one in selectors.split(",") if (name := _CLASS.fullmatch(one.strip())))
        said = piece
    return names


def _text(element: Any, without: frozenset[Any] | set[Any] = frozenset()) -> str:
    """The text of an element that is read, without some elements in it."""
    pieces: list[str] = []
    waiting = [(element, False)]
    while waiting:
        one, after = waiting.pop()
        if after:
            pieces.append(one.tail or "")
            continue
        if one is not element:
            waiting.append((one, True))
        if not isinstance(one.tag, str) or one.tag in _UNREAD or (one in without and one is not element):
            continue
        pieces.append(one.text or "")
        waiting.extend((child, False) for child in reversed(one))
    return " ".join(pieces)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)
