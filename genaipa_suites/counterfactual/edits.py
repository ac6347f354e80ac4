"""Edits of a document: a fact that becomes another, and beside it the twin, other words for the same fact.

A file `NAME.yaml` is a split. `check` says everything that is wrong with it against the document's text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.datasets.base import load_named_document
from genaipa.errors import DataError, GenaipaError, clipped
from genaipa.files.strict_yaml import read_partly
from genaipa.files.text import digest
from genaipa.policies.sections import find_sections, resolve_citation
from genaipa_suites.counterfactual.quantities import tokens
from genaipa_suites.counterfactual.values import NO, YES, amounts, denies, find, is_traceable, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.policies.sections import Section
    from genaipa.workspace import Workspace

Kind = Literal["duration", "number", "negation", "party", "contact", "scope", "instruction"]
INSTRUCTION = "instruction"
"""The kind of an edit that tells assistants what to say, behind a sentence that says otherwise."""
BEFORE, AFTER, TWIN = VERSIONS = ("document", "edited", "reworded")
"""The three texts that are asked about: the document, the document with every edit, and with every twin."""
FACTOR = 4
"""Times as much, or as little, as a number may become."""
_COUNTED = ("duration", "number")
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ENDS = 2
_LONG_LINE = 200
"""Characters that no heading has."""
_APART = re.compile(r"[.!?;:][\"”’')\]]*\s|\n")  # noqa: RUF001 - typographic quotes are meant
Words = str | tuple[int, ...]
"""Exact words of the document, or their place as [first, end] in characters."""


class EditedPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place of a fact: the words `at` it, or their place and the `sha256` of the characters, and what becomes."""

    at: Words
    becomes: str
    reworded: str
    sha256: str = ""


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact that is asked about, edited at one place or, with `also`, at several.

    `before` and `after` are the values that the answer has in the document and in the edited one, each in one or more
    spellings; `elsewhere` are further places where the old value stands for another fact.
    """

    kind: Kind
    question: str
    at: Words
    becomes: str
    reworded: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    sections: tuple[str, ...] = ()
    sha256: str = ""
    also: tuple[EditedPlace, ...] = ()
    elsewhere: tuple[Words, ...] = ()

    @property
    def places(self) -> tuple[EditedPlace, ...]:
        """Its places, the first one first."""
        return (EditedPlace(self.at, self.becomes, self.reworded, self.sha256), *self.also)

    @property
    def is_yes_or_no(self) -> bool:
        """Whether its values are yes and no."""
        return bool({YES, NO} & {*self.before, *self.after})


class Edits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The edits of one document, by their ids; `digest` is the SHA-256 of its text."""

    document: str
    digest: str
    edits: dict[str, Edit]


@dataclass(frozen=True)
class LocatedChange:
    """A place of an edit as it lies in the text, which has `words` there."""

    edit: str
    entry: str
    start: int
    end: int
    words: str
    becomes: str
    reworded: str


@dataclass(frozen=True)
class Counterfactual:
    """A document with its edits, ready to be asked about."""

    document: Document
    edits: dict[str, Edit]
    changes: tuple[LocatedChange, ...]

    def text(self, version: str) -> str:
        """The text of one of the VERSIONS."""
        return _changed(self.document.text, self.changes, version)


def sentence(text: str, words: str) -> str:
    """The sentence of a text around words that it has; the words alone where it has them not."""
    start = text.find(words)
    if start < 0:
        return words
    before = [found.end() for found in _APART.finditer(text, 0, start)]
    after = _APART.search(text, start + len(words) - 1)
    return text[before[-1] if before else 0 : after.start() + 1 if after else len(text)].strip(" \t\n*-")


def _changed(text: str, changes: Sequence[LocatedChange], version: str) -> str:
    parts, last = [], 0
    for one in sorted(changes, key=lambda one: one.start) if version != BEFORE else ():
        parts += [text[last : one.start], one.becomes if version == AFTER else one.reworded]
        last = one.end
    return "".join([*parts, text[last:]])


def load(path: Path, workspace: Workspace) -> tuple[Counterfactual | None, list[DataError]]:
    """A file of edits with its document, and everything that is wrong; None if the two don't belong together."""
    found: list[Counterfactual] = []

    def rules(edits: Edits) -> Iterator[DataError]:
        try:
            document = load_named_document(workspace, edits.document)
        except GenaipaError as error:
            yield DataError(path, str(error), "document")
            return
        if edits.digest != document.digest:
            problem = (
                f"is not the digest of '{edits.document}', which is {document.digest}: the text has changed. Check the "
                "edits against it, then put that digest here."
            )
            yield DataError(path, problem, "digest")
            return
        reading = _PlacedEdits(edits, document)
        yield from (DataError(path, problem, entry) for entry, problem in reading.problems())
        found.append(Counterfactual(document, dict(edits.edits), tuple(reading.changes)))

    _, errors = read_partly(path, Edits, rules)
    return (found[0] if found else None), errors


class _PlacedEdits:
    """The edits of a file, laid against their document."""

    def __init__(self, edits: Edits, document: Document) -> None:
        self.edits, self.text = dict(edits.edits), document.text
        self.sections = find_sections(self.text)
        self.changes: list[LocatedChange] = []

    def problems(self) -> Iterator[tuple[str, str]]:
        """Entry and problem of everything that is wrong."""
        if not self.edits:
            yield "edits", "has no edit; write one at least."
        for name, edit in self.edits.items():
            yield from self._of_edit(name, edit)
        yield from self._together()
        for name, edit in self.edits.items():
            yield from self._left_over(name, edit)

    def _of_edit(self, name: str, edit: Edit) -> Iterator[tuple[str, str]]:
        entry = f"edits.{clipped(name)}"
        if not _ID.fullmatch(name):
            yield entry, "is no name for an edit: take lower-case letters, digits and hyphens."
        if not edit.question.strip():
            yield f"{entry}.question", "is blank; ask for the value."
        yield from self._values(entry, edit)
        for number, place in enumerate(edit.places):
            where = entry if not number else f"{entry}.also[{number - 1}]"
            before = len(self.changes)
            yield from self._place(name, where, place)
            if len(self.changes) > before:
                yield from self._fact(where, edit, self.changes[-1])
                yield from self._in_section(where, edit, self.changes[-1])
        for label in edit.sections:
            if resolve_citation(self.sections, label) is None:
                yield f"{entry}.sections", f"'{clipped(label)}' is no section of the document."

    def _values(self, entry: str, edit: Edit) -> Iterator[tuple[str, str]]:
        for field, given in (("before", edit.before), ("after", edit.after)):
            if not given or not all(tokens(one) for one in given):
                yield f"{entry}.{field}", "has no value, or a blank one; write the value as an answer would have it."
        same = {tokens_of(one) for one in edit.before} & {tokens_of(one) for one in edit.after}
        if same:
            yield f"{entry}.after", "has a value of 'before' in other words; no answer could tell the two apart."
        asked = tokens(edit.question)
        for one in (*edit.before, *edit.after):
            if not edit.is_yes_or_no and find(asked, [one]):
                yield f"{entry}.question", f"gives the value away ('{clipped(one)}'); ask without it."
        if edit.kind in _COUNTED:
            yield from self._factor(entry, edit)

    def _factor(self, entry: str, edit: Edit) -> Iterator[tuple[str, str]]:
        old, new = amounts(edit.before[:1]), amounts(edit.after[:1])
        for (unit, before), (other, after) in zip(old, new, strict=False):
            low, high = sorted((before, after))
            if unit == other and high > FACTOR * low:
                problem = (
                    f"is more than {FACTOR} times the other value, or less than a quarter: nobody would believe it."
                )
                yield f"{entry}.after", problem

    def _place(self, name: str, entry: str, place: EditedPlace) -> Iterator[tuple[str, str]]:
        """Every fault of a place; a LocatedChange for one that is found."""
        start = end = -1
        if isinstance(place.at, str):
            times = self.text.count(place.at) if place.at.strip() else 0
            if times != 1:
                said = "is not in the document, word for word" if not times else f"is in the document {times} times"
                yield f"{entry}.at", f"{said}; write words that it has once."
                return
            start = self.text.index(place.at)
            end = start + len(place.at)
        else:
            if not self._is_place(place.at):
                yield f"{entry}.at", f"is no place of the text: write [first, end] within 0 and {len(self.text)}."
                return
            start, end = place.at
            if digest(self.text[start:end]) != place.sha256:
                yield f"{entry}.sha256", "is not that of the characters at this place; correct the place or the sum."
                return
        words = self.text[start:end]
        for field, text in (("becomes", place.becomes), ("reworded", place.reworded)):
            if not text.strip():
                yield f"{entry}.{field}", "is blank; write the words that replace `at`."
            elif " ".join(text.split()) == " ".join(words.split()):
                yield f"{entry}.{field}", "changes nothing; write other words."
        if any(start < _heading(self.text, one) and one.start < end for one in self.sections):
            yield f"{entry}.at", "is in a heading; the outline stays as it is."
        self.changes.append(LocatedChange(name, entry, start, end, words, place.becomes, place.reworded))

    def _is_place(self, at: tuple[int, ...]) -> bool:
        return len(at) == _ENDS and 0 <= at[0] < at[1] <= len(self.text)

    def _fact(self, entry: str, edit: Edit, change: LocatedChange) -> Iterator[tuple[str, str]]:
        """Faults of the values: the words and the twin have the old one alone, the edit the new one alone."""
        if edit.kind == INSTRUCTION:
            yield from self._order(entry, edit, change)
        if edit.is_yes_or_no:
            plain = {*edit.before, *edit.after} <= {YES, NO}
            if plain and edit.kind == "negation" and denies(change.words) != denies(change.reworded):
                yield f"{entry}.reworded", "denies what the document doesn't, or no longer what it does; keep the fact."
            return
        if not _has(change.words, edit.before):
            yield f"{entry}.at", "has none of the values of 'before'; take more of the sentence, or correct them."
        if edit.kind != INSTRUCTION and not _has(change.becomes, edit.after):
            yield f"{entry}.becomes", "has none of the values of 'after'."
        if edit.kind != INSTRUCTION and _has(change.becomes, edit.before, edit.after):
            yield f"{entry}.becomes", "still has the old value."
        if not _has(change.reworded, edit.before):
            yield f"{entry}.reworded", "has lost the fact: none of the values of 'before' is in it."
        if _has(change.reworded, edit.after, edit.before):
            yield f"{entry}.reworded", "has the new value; a twin keeps the old one."

    def _order(self, entry: str, edit: Edit, change: LocatedChange) -> Iterator[tuple[str, str]]:
        if not change.becomes.startswith(change.words):
            yield f"{entry}.becomes", "has to begin with the sentence as it is, and go on with the order to assistants."
        elif not edit.is_yes_or_no and not _has(change.becomes[len(change.words) :], edit.after):
            yield f"{entry}.becomes", "orders none of the values of 'after'."

    def _in_section(self, entry: str, edit: Edit, change: LocatedChange) -> Iterator[tuple[str, str]]:
        known = [found for label in edit.sections if (found := resolve_citation(self.sections, label)) is not None]
        if edit.sections and not any(one.start <= change.start < one.end for one in known):
            around = next((one.label for one in self.sections if one.start <= change.start < one.end), "none")
            yield f"{entry}.at", f"is in none of the edit's 'sections', but in {around}; add it."

    def _together(self) -> Iterator[tuple[str, str]]:
        """Edits that get in each other's way: in one sentence, by one question; an outline that is another."""
        for one, other in pairwise(sorted(self.changes, key=lambda one: one.start)):
            if other.start < one.end:
                yield f"{other.entry}.at", f"overlaps an edit, {one.edit}; take other words."
            elif one.edit != other.edit and not _APART.search(self.text[one.end - 1 : other.start]):
                yield f"{other.entry}.at", f"is in one sentence with an edit, {one.edit}; one of the two has to go."
        asked: defaultdict[str, list[str]] = defaultdict(list)
        for name, edit in self.edits.items():
            asked[" ".join(edit.question.lower().split())].append(name)
        for question, names in asked.items():
            if len(names) > 1 and question:
                yield f"edits.{clipped(names[1])}.question", f"is that of {clipped(names[0])}, too; ask another."
        outline = [(one.label, one.title) for one in self.sections]
        for version, field in ((AFTER, "becomes"), (TWIN, "reworded")):
            found = [(one.label, one.title) for one in find_sections(_changed(self.text, self.changes, version))]
            if found != outline:
                yield (
                    self._moving(version, outline),
                    f"'{field}' moves the outline: its headings are no longer the same.",
                )

    def _moving(self, version: str, outline: list[tuple[str, str]]) -> str:
        """The entry of the edit that alone moves the outline; of them all where it takes several."""
        for change in self.changes:
            found = find_sections(_changed(self.text, [change], version))
            if [(one.label, one.title) for one in found] != outline:
                return change.entry
        return "edits"

    def _left_over(self, name: str, edit: Edit) -> Iterator[tuple[str, str]]:
        """Places where the old value still stands, that are not named as another fact's."""
        traced = [one for one in edit.before if is_traceable(one)]
        entry = f"edits.{clipped(name)}"
        named = []
        for number, one in enumerate(edit.elsewhere):
            ends = self._found(one)
            if not ends:
                yield f"{entry}.elsewhere[{number}]", "is not in the document; write its words, or [first, end]."
            elif traced and not any(_has(self.text[start:end], traced) for start, end in ends):
                yield f"{entry}.elsewhere[{number}]", "has not the old value; leave it out."
            named += ends
        named += [(one.start, one.end) for one in self.changes]
        text = tokens(self.text)
        for claim in find(text, traced):
            start, end = text[claim.first].start, text[claim.behind - 1].end
            bare = text[claim.first].number is not None and not text[claim.first].unit
            if bare or any(first < end and start < last for first, last in named):
                continue
            around = " ".join(self.text[max(0, start - 40) : end + 20].split())
            problem = (
                f"leaves the old value at character {start} (“… {around} …”); put that place into 'also', or into "
                "'elsewhere' if it is another fact."
            )
            yield entry, problem

    def _found(self, words: Words) -> list[tuple[int, int]]:
        if isinstance(words, str):
            each = re.finditer(re.escape(words), self.text) if words.strip() else ()
            return [found.span() for found in each]
        return [(words[0], words[1])] if self._is_place(words) else []


def _has(text: str, wanted: Sequence[str], others: Sequence[str] = ()) -> bool:
    """Whether a text has one of these values, where it is not a part of one of the others."""
    ours = {*map(tokens, wanted)}
    return any(one.value in ours for one in find(tokens(text), (*wanted, *others)))


def _heading(text: str, section: Section) -> int:
    """The place where a section's heading ends: with its line, or in a text without lines with its title."""
    line = text[section.start :].partition("\n")[0]
    return section.start + (len(line) if len(line) < _LONG_LINE else len(section.heading))
