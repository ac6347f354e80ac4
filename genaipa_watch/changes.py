"""The changes between two versions of a document: its sections aligned, and the sentences that are new or gone.

Sentences are the same up to punctuation, capitals, links and layout: no word of them differs. Nothing here knows a
language but the marks that end a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal

from genaipa.languages.language import ENDS, STOPS
from genaipa.policies.reading import read
from genaipa.policies.sections import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.policies.document import Document

SectionState = Literal["unchanged", "moved", "reworded", "changed", "new", "gone"]
"""The fate of a section. Moved: its sentences are the same, its number, title or place is not.
Reworded: each sentence has one that shares most of its words; changed: sentences were added, dropped or rewritten."""
STATES: tuple[SectionState, ...] = ("unchanged", "moved", "reworded", "changed", "new", "gone")
HELD: frozenset[SectionState] = frozenset(("unchanged", "moved"))
"""The states of a section whose sentences are the same."""

_ADDRESS = re.compile(r"https?://[^\s>)]+")
_END = re.compile(rf"(?<=[{ENDS};\u061b])[\"')\]\u201d\u2019\u00bb]*\s+|(?<=[{STOPS}\uff1b])|\n+")
_ALIKE = 0.3
"""Least share of sentences in common by which a section of another number and title is the same one."""
_LEAD = 99
"""The level of the text before the first heading: nothing is beneath it."""
_REWORDED = 0.7
"""Least share of words in common of two sentences, one the other reworded."""


class _Blanks(dict[int, str]):
    """Every character that is no letter or digit → a blank; found once each, and ten times as fast as a pattern."""

    def __missing__(self, code: int) -> str:
        self[code] = character if (character := chr(code)).isalnum() else " "
        return self[code]


_BLANKS = _Blanks()


def words_only(text: str) -> str:
    """Return the words of a text that is given as it reads, in small letters, without addresses and punctuation."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_ADDRESS.sub("", plain).casefold().translate(_BLANKS).split())


def sentences(text: str) -> list[str]:
    """Split a text that is given as it reads into sentences and lines that have a word."""
    return [piece.strip() for piece in _END.split(_ADDRESS.sub("", text)) if any(map(str.isalnum, piece))]


@dataclass(frozen=True)
class SectionChange:
    """A section in the version before, in the version after, or in both, and what became of it."""

    state: SectionState
    before: Section | None
    after: Section | None

    @property
    def heading(self) -> str:
        """The heading, of both versions where they differ: "9 Retention → 10 Retention"."""
        headings = [
            " ".join(filter(None, (section.number, section.title))) or section.label
            for section in (self.before, self.after)
            if section
        ]
        return " \u2192 ".join(dict.fromkeys(headings))


class Changes:
    """The changes from one version of a document to another."""

    def __init__(self, before: Document, after: Document) -> None:
        self.before, self.after = before, after
        self._old, self._new = _read(before), _read(after)

    @cached_property
    def sections(self) -> tuple[SectionChange, ...]:
        """Every section of either version once, in the order of the later; one that is gone, in its old place."""
        old, new = self._old, self._new
        partner = _aligned(old, new)
        moved = _out_of_order(partner)
        found: list[SectionChange] = []
        gone = iter(sorted(set(range(len(old.sections))) - set(partner.values())))
        waiting = next(gone, None)
        for place, section in enumerate(new.sections):
            source = partner.get(place)
            if source is None:
                found.append(SectionChange("new", None, section))
                continue
            while waiting is not None and waiting < source:
                found.append(SectionChange("gone", old.sections[waiting], None))
                waiting = next(gone, None)
            state = _state(old, source, new, place, moved=place in moved)
            found.append(SectionChange(state, old.sections[source], section))
        rest = [] if waiting is None else [waiting, *gone]
        return (*found, *(SectionChange("gone", old.sections[place], None) for place in rest))

    @cached_property
    def counts(self) -> dict[SectionState, int]:
        """State → the number of sections."""
        counted = Counter(change.state for change in self.sections)
        return {state: counted[state] for state in STATES if counted[state]}

    @cached_property
    def same(self) -> bool:
        """Whether both have the same words in the same order."""
        return words_only(read(self.before.text).text) == words_only(read(self.after.text).text)

    @cached_property
    def new_sentences(self) -> frozenset[str]:
        """The sentences of the later version, as words only, that the earlier one nowhere has."""
        return frozenset(chain(*self._new.keys)).difference(*self._old.keys)

    def changes_of(self, section: Section) -> list[SectionChange]:
        """Return the changes of a section of the earlier version and of all its subsections."""
        inside = self._subsections[section.start]
        return [change for change in self.sections if change.before and change.before.start in inside]

    @cached_property
    def _subsections(self) -> dict[int, set[int]]:
        """Start of a section of the earlier version → its own start and its subsections'."""
        found = {}
        every = self._old.sections
        for place, section in enumerate(every):
            inside = {section.start}
            for later in every[place + 1 :]:
                if later.level <= section.level:
                    break
                inside.add(later.start)
            found[section.start] = inside
        return found


def _whole(document: Document) -> tuple[Section, ...]:
    """Return the sections, after one without a number for the text before the first heading, if it has words."""
    known = document.sections
    begin = known[0].start if known else len(document.text)
    lead = words_only(read(document.text).read_span(0, begin))
    return (*([Section("", "(before the first heading)", _LEAD, 0, begin)] if lead else []), *known)


class _Sections:
    """The sections of a version, their sentences, and these as words only; a heading is no sentence of its section."""

    def __init__(self, document: Document) -> None:
        self.sections = _whole(document)
        self.keys = []
        reading = read(document.text)
        for section in self.sections:
            text = reading.read_span(section.start, section.end)
            # The lead has no heading; an outline of one line has its headings in the line.
            body = text.partition("\n")[2] if section.level < _LEAD and "\n" in text else text
            self.keys.append(tuple(map(words_only, sentences(body))))
        self.titles = [words_only(section.title) for section in self.sections]

    def telling(self, place: int) -> tuple[str, ...]:
        """Return the sentences of a section that tell it by themselves; empty if they are short."""
        return self.keys[place] if sum(map(len, self.keys[place])) >= _TELLING else ()


_latest: dict[str, _Sections] = {}


def _read(document: Document) -> _Sections:
    """Return the sections of a version, kept for the next comparison, in which the later version is the earlier one."""
    if document.digest not in _latest:
        for digest in [*_latest][:-1]:
            del _latest[digest]
        _latest[document.digest] = _Sections(document)
    return _latest[document.digest]


def _aligned(old: _Sections, new: _Sections) -> dict[int, int]:
    """Place of a section in the later version → its place in the earlier one, if it is in both."""
    found: dict[int, int] = {}
    _pair(old, new, found, lambda version, place: version.keys[place] and (version.keys[place], version.titles[place]))
    _pair(old, new, found, lambda version, place: version.telling(place))
    _pair(old, new, found, lambda version, place: (version.sections[place].number, version.titles[place]))
    for share, after, before in sorted(_alike(old, new, found), reverse=True):
        if share >= _ALIKE and after not in found and before not in found.values():
            found[after] = before
    _pair(old, new, found, lambda version, place: version.titles[place])
    return found


def _pair(old: _Sections, new: _Sections, found: dict[int, int], name: Callable[[_Sections, int], object]) -> None:
    """Pair the sections without a partner that have the same name, where as many have it in both versions."""
    places: defaultdict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, version, used in ((0, old, set(found.values())), (1, new, set(found))):
        for place in range(len(version.sections)):
            if place not in used and (key := name(version, place)):
                places[key][side].append(place)
    for before, after in places.values():
        if len(before) == len(after):
            found.update(zip(after, before, strict=True))


_TELLING = 40
"""Letters of a body that tell a section by themselves: many end in the same short sentence."""


def _alike(old: _Sections, new: _Sections, found: dict[int, int]) -> Iterator[tuple[float, int, int]]:
    """Yield, for sections that have no partner yet, the share of sentences in common, and their places."""
    holding: defaultdict[str, list[int]] = defaultdict(list)
    taken = set(found.values())
    for place, key in enumerate(old.keys):
        if place not in taken:
            for sentence in set(key):
                holding[sentence].append(place)
    for place, key in enumerate(new.keys):
        if place in found or not key:
            continue
        common = Counter(before for sentence in set(key) for before in holding.get(sentence, ()))
        for before, count in common.items():
            yield count / max(len(set(key)), len(set(old.keys[before]))), place, before


def _out_of_order(partner: dict[int, int]) -> set[int]:
    """Return the places whose partners are out of order: all but a longest run of pairs in the same order."""
    places = sorted(partner)
    ends: list[int] = []
    """Length of a run - 1 → the least partner at which such a run can end."""
    lengths = []
    for place in places:
        length = bisect_left(ends, partner[place])
        ends[length : length + 1] = [partner[place]]
        lengths.append(length)
    wanted, before, inside = len(ends) - 1, len(partner) + max(ends, default=0) + 1, set()
    for place, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == wanted and partner[place] < before:
            inside.add(place)
            wanted, before = wanted - 1, partner[place]
    return set(places) - inside


def _state(old: _Sections, before: int, new: _Sections, after: int, *, moved: bool) -> SectionState:
    if old.keys[before] == new.keys[after]:
        same = (old.sections[before].number, old.titles[before]) == (new.sections[after].number, new.titles[after])
        return "unchanged" if same and not moved else "moved"
    lost, come = _without(old.keys[before], new.keys[after]), _without(new.keys[after], old.keys[before])
    if len(lost) == len(come) and all(
        SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio() >= _REWORDED
        for one, other in zip(lost, come, strict=True)
    ):
        return "reworded"
    return "changed"


def _without(keys: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """Return the sentences that the others don't have."""
    left = Counter(others)
    found = []
    for key in keys:
        if left[key]:
            left[key] -= 1
        else:
            found.append(key)
    return found


@dataclass(frozen=True)
class Piece:
    """A stretch of words in both versions (`same`), the later one alone (`new`) or the earlier one alone (`gone`)."""

    state: Literal["same", "new", "gone"]
    text: str


def mark_words(before: str, after: str) -> list[Piece]:
    """Return the later text word by word, with what is new in it and what is gone from the earlier one."""
    old, new = re.findall(r"\S+\s*", before), re.findall(r"\S+\s*", after)
    pieces = []
    matched = SequenceMatcher(None, [*map(words_only, old)], [*map(words_only, new)], autojunk=False)
    for operation, i1, i2, j1, j2 in matched.get_opcodes():
        if operation == "equal":
            pieces.append(Piece("same", "".join(new[j1:j2])))
            continue
        if i2 > i1:
            pieces.append(Piece("gone", "".join(old[i1:i2])))
        if j2 > j1:
            pieces.append(Piece("new", "".join(new[j1:j2])))
    return pieces
