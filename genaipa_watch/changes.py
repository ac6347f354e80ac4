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
from genaipa.policies.reading import read_markdown
from genaipa.policies.sections import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from genaipa.policies.document import Document

SectionState = Literal["unchanged", "moved", "reworded", "changed", "new", "gone"]
"""The fate of a section. Moved: its sentences are the same, its number, title or place is not.
Reworded: each sentence has one that shares most of its words; changed: sentences were added, dropped or rewritten."""
STATES: tuple[SectionState, ...] = ("unchanged", "moved", "reworded", "changed", "new", "gone")
UNCHANGED: frozenset[SectionState] = frozenset(("unchanged", "moved"))
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


def normalize_text_to_words(text: str) -> str:
    """Return the words of a text that is given as it reads, in small letters, without addresses and punctuation."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_ADDRESS.sub("", plain).casefold().translate(_BLANKS).split())


def split_sentences(text: str) -> list[str]:
    """Split a text that is given as it reads into sentences and lines that have a word."""
    return [piece.strip() for piece in _END.split(_ADDRESS.sub("", text)) if any(map(str.isalnum, piece))]


@dataclass(frozen=True)
class SectionChange:
    """A section in the version before, in the version after, or in both, and what became of it."""

    state: SectionState
    before: Section | None
    after: Section | None

    @property
    def heading_or_both_if_renamed(self) -> str:
        """The heading, of both versions where they differ: "9 Retention → 10 Retention"."""
        headings = [
            " ".join(filter(None, (section.number, section.title))) or section.label
            for section in (self.before, self.after)
            if section
        ]
        return " \u2192 ".join(dict.fromkeys(headings))


class DocumentChanges:
    """The changes from one version of a document to another."""

    def __init__(self, before: Document, after: Document) -> None:
        self.before, self.after = before, after
        self._old, self._new = _make_or_reuse_version_sections(before), _make_or_reuse_version_sections(after)

    @cached_property
    def changes_of_all_sections(self) -> tuple[SectionChange, ...]:
        """Every section of either version once, in the order of the later; one that is gone, in its old place."""
        old, new = self._old, self._new
        partner = _map_new_sections_to_old(old, new)
        moved = _find_moved_sections(partner)
        changes: list[SectionChange] = []
        gone = iter(sorted(set(range(len(old.sections))) - set(partner.values())))
        waiting = next(gone, None)
        for position, section in enumerate(new.sections):
            source = partner.get(position)
            if source is None:
                changes.append(SectionChange("new", None, section))
                continue
            while waiting is not None and waiting < source:
                changes.append(SectionChange("gone", old.sections[waiting], None))
                waiting = next(gone, None)
            state = _classify_section_change(old, source, new, position, is_moved=position in moved)
            changes.append(SectionChange(state, old.sections[source], section))
        last_gone = [] if waiting is None else [waiting, *gone]
        return (*changes, *(SectionChange("gone", old.sections[position], None) for position in last_gone))

    @cached_property
    def section_counts_by_state(self) -> dict[SectionState, int]:
        """State → the number of sections."""
        counted = Counter(change.state for change in self.changes_of_all_sections)
        return {state: counted[state] for state in STATES if counted[state]}

    @cached_property
    def has_same_words(self) -> bool:
        """Whether both have the same words in the same order."""
        return normalize_text_to_words(read_markdown(self.before.text).text) == normalize_text_to_words(
            read_markdown(self.after.text).text
        )

    @cached_property
    def new_sentences_as_words(self) -> frozenset[str]:
        """The sentences of the later version, as words only, that the earlier one nowhere has."""
        return frozenset(chain(*self._new.keys)).difference(*self._old.keys)

    def list_changes_in_section_tree(self, section: Section) -> list[SectionChange]:
        """Return the changes of a section of the earlier version and of all its subsections."""
        inside = self._subsection_starts[section.start]
        return [change for change in self.changes_of_all_sections if change.before and change.before.start in inside]

    @cached_property
    def _subsection_starts(self) -> dict[int, set[int]]:
        """Start of a section of the earlier version → its own start and its subsections'."""
        starts = {}
        every = self._old.sections
        for position, section in enumerate(every):
            inside = {section.start}
            for later in every[position + 1 :]:
                if later.level <= section.level:
                    break
                inside.add(later.start)
            starts[section.start] = inside
        return starts


def _list_sections_and_lead(document: Document) -> tuple[Section, ...]:
    """Return the sections, after one without a number for the text before the first heading, if it has words."""
    sections = document.sections
    begin = sections[0].start if sections else len(document.text)
    lead = normalize_text_to_words(read_markdown(document.text).plain_text_of_source_span(0, begin))
    return (*([Section("", "(before the first heading)", _LEAD, 0, begin)] if lead else []), *sections)


class VersionSections:
    """The sections of a version, their sentences, and these as words only; a heading is no sentence of its section."""

    def __init__(self, document: Document) -> None:
        self.sections = _list_sections_and_lead(document)
        self.keys = []
        reading = read_markdown(document.text)
        for section in self.sections:
            text = reading.plain_text_of_source_span(section.start, section.end)
            # The lead has no heading; an outline of one line has its headings in the line.
            body = text.partition("\n")[2] if section.level < _LEAD and "\n" in text else text
            self.keys.append(tuple(map(normalize_text_to_words, split_sentences(body))))
        self.titles = [normalize_text_to_words(section.title) for section in self.sections]

    def sentences_if_long_enough(self, section_position: int) -> tuple[str, ...]:
        """Return the sentences of a section that tell it by themselves; empty if they are short."""
        return self.keys[section_position] if sum(map(len, self.keys[section_position])) >= _TELLING else ()


_latest: dict[str, VersionSections] = {}


def _make_or_reuse_version_sections(document: Document) -> VersionSections:
    """Return the sections of a version, kept for the next comparison, in which the later version is the earlier one."""
    if document.digest not in _latest:
        for digest in [*_latest][:-1]:
            del _latest[digest]
        _latest[document.digest] = VersionSections(document)
    return _latest[document.digest]


def _map_new_sections_to_old(old: VersionSections, new: VersionSections) -> dict[int, int]:
    """Place of a section in the later version → its place in the earlier one, if it is in both."""
    partners: dict[int, int] = {}
    _add_pairs_of_sections_with_equal_keys(
        old, new, partners, lambda version, place: version.keys[place] and (version.keys[place], version.titles[place])
    )
    _add_pairs_of_sections_with_equal_keys(
        old, new, partners, lambda version, place: version.sentences_if_long_enough(place)
    )
    _add_pairs_of_sections_with_equal_keys(
        old, new, partners, lambda version, place: (version.sections[place].number, version.titles[place])
    )
    for share, after, before in sorted(_iterate_similarity_new_and_old_places(old, new, partners), reverse=True):
        if share >= _ALIKE and after not in partners and before not in partners.values():
            partners[after] = before
    _add_pairs_of_sections_with_equal_keys(old, new, partners, lambda version, place: version.titles[place])
    return partners


def _add_pairs_of_sections_with_equal_keys(
    old: VersionSections,
    new: VersionSections,
    old_place_by_new: dict[int, int],
    section_key: Callable[[VersionSections, int], object],
) -> None:
    """Pair the sections without a partner that have the same name, where as many have it in both versions."""
    places: defaultdict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, version, used in ((0, old, set(old_place_by_new.values())), (1, new, set(old_place_by_new))):
        for position in range(len(version.sections)):
            if position not in used and (key := section_key(version, position)):
                places[key][side].append(position)
    for before, after in places.values():
        if len(before) == len(after):
            old_place_by_new.update(zip(after, before, strict=True))


_TELLING = 40
"""Letters of a body that tell a section by themselves: many end in the same short sentence."""


def _iterate_similarity_new_and_old_places(
    old: VersionSections, new: VersionSections, old_place_by_new: dict[int, int]
) -> Iterator[tuple[float, int, int]]:
    """Yield, for sections that have no partner yet, the share of sentences in common, and their places."""
    holding: defaultdict[str, list[int]] = defaultdict(list)
    used = set(old_place_by_new.values())
    for position, key in enumerate(old.keys):
        if position not in used:
            for sentence in set(key):
                holding[sentence].append(position)
    for position, key in enumerate(new.keys):
        if position in old_place_by_new or not key:
            continue
        common = Counter(before for sentence in set(key) for before in holding.get(sentence, ()))
        for before, count in common.items():
            yield count / max(len(set(key)), len(set(old.keys[before]))), position, before


def _find_moved_sections(old_place_by_new: dict[int, int]) -> set[int]:
    """Return the places whose partners are out of order: all but a longest run of pairs in the same order."""
    places = sorted(old_place_by_new)
    ends: list[int] = []
    """Length of a run - 1 → the least partner at which such a run can end."""
    lengths = []
    for position in places:
        length = bisect_left(ends, old_place_by_new[position])
        ends[length : length + 1] = [old_place_by_new[position]]
        lengths.append(length)
    wanted, before, inside = len(ends) - 1, len(old_place_by_new) + max(ends, default=0) + 1, set()
    for position, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == wanted and old_place_by_new[position] < before:
            inside.add(position)
            wanted, before = wanted - 1, old_place_by_new[position]
    return set(places) - inside


def _classify_section_change(
    old: VersionSections, old_place: int, new: VersionSections, new_place: int, *, is_moved: bool
) -> SectionState:
    if old.keys[old_place] == new.keys[new_place]:
        is_same_heading = (old.sections[old_place].number, old.titles[old_place]) == (
            new.sections[new_place].number,
            new.titles[new_place],
        )
        return "unchanged" if is_same_heading and not is_moved else "moved"
    lost, come = (
        _subtract_sentences(old.keys[old_place], new.keys[new_place]),
        _subtract_sentences(new.keys[new_place], old.keys[old_place]),
    )
    if len(lost) == len(come) and all(
        SequenceMatcher(None, old_sentence.split(), new_sentence.split(), autojunk=False).ratio() >= _REWORDED
        for old_sentence, new_sentence in zip(lost, come, strict=True)
    ):
        return "reworded"
    return "changed"


def _subtract_sentences(sentences: tuple[str, ...], other_sentences: tuple[str, ...]) -> list[str]:
    """Return the sentences that the others don't have."""
    counts = Counter(other_sentences)
    remaining = []
    for key in sentences:
        if counts[key]:
            counts[key] -= 1
        else:
            remaining.append(key)
    return remaining


@dataclass(frozen=True)
class DiffPiece:
    """A stretch of words in both versions (`same`), the later one alone (`new`) or the earlier one alone (`gone`)."""

    state: Literal["same", "new", "gone"]
    text: str


def mark_changed_words(before: str, after: str) -> list[DiffPiece]:
    """Return the later text word by word, with what is new in it and what is gone from the earlier one."""
    old, new = re.findall(r"\S+\s*", before), re.findall(r"\S+\s*", after)
    pieces = []
    matched = SequenceMatcher(
        None, [*map(normalize_text_to_words, old)], [*map(normalize_text_to_words, new)], autojunk=False
    )
    for operation, i1, i2, j1, j2 in matched.get_opcodes():
        if operation == "equal":
            pieces.append(DiffPiece("same", "".join(new[j1:j2])))
            continue
        if i2 > i1:
            pieces.append(DiffPiece("gone", "".join(old[i1:i2])))
        if j2 > j1:
            pieces.append(DiffPiece("new", "".join(new[j1:j2])))
    return pieces
