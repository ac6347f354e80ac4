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
from genaipa.errors import DataError, GenaipaError, clip
from genaipa.files.strict_yaml import read_valid_yaml_part_and_errors
from genaipa.files.text import sha256_of
from genaipa.policies.heading_end import find_heading_end
from genaipa.policies.sections import find_innermost_cited_section, find_sections
from genaipa_suites.counterfactual.quantities import tokenize_with_quantities
from genaipa_suites.counterfactual.values import (
    NO,
    YES,
    amounts_in_smallest_units,
    comparable_value,
    find_values,
    has_amount_with_unit_or_address,
    has_negation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
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


class EditsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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

    def original_edited_or_reworded_text(self, version: str) -> str:
        """Return the text of one of the VERSIONS."""
        return _make_version_of_text(self.document.text, self.changes, version)


def surrounding_sentence_or_words(text: str, words: str) -> str:
    """Return the sentence of a text around words that it has; the words alone if it lacks them."""
    start = text.find(words)
    if start < 0:
        return words
    before = [match.end() for match in _APART.finditer(text, 0, start)]
    after = _APART.search(text, start + len(words) - 1)
    return text[before[-1] if before else 0 : after.start() + 1 if after else len(text)].strip(" \t\n*-")


def _make_version_of_text(text: str, changes: Sequence[LocatedChange], version: str) -> str:
    parts, last = [], 0
    for change in sorted(changes, key=lambda change: change.start) if version != BEFORE else ():
        parts += [text[last : change.start], change.becomes if version == AFTER else change.reworded]
        last = change.end
    return "".join([*parts, text[last:]])


def load_counterfactual_and_problems(path: Path, workspace: Workspace) -> tuple[Counterfactual | None, list[DataError]]:
    """Load a file of edits with its document, and list everything wrong; None if the two don't belong together."""
    counterfactuals: list[Counterfactual] = []

    def check_edits_and_keep_counterfactual(edits: EditsFile) -> Iterator[DataError]:
        try:
            document = load_named_document(workspace, edits.document)
        except GenaipaError as error:
            yield DataError(path, str(error), "document")
            return
        if edits.digest != document.digest:
            problem = (
                f"is not the digest of '{edits.document}', which is {document.digest}: the text has changed. Check "
                "the edits against the new text, then enter its digest here."
            )
            yield DataError(path, problem, "digest")
            return
        reading = _EditChecker(edits, document)
        yield from (DataError(path, problem, entry) for entry, problem in reading.check_edits_and_locate_changes())
        counterfactuals.append(Counterfactual(document, dict(edits.edits), tuple(reading.changes)))

    _, errors = read_valid_yaml_part_and_errors(path, EditsFile, check_edits_and_keep_counterfactual)
    return (counterfactuals[0] if counterfactuals else None), errors


class _EditChecker:
    """The edits of a file, laid against their document."""

    def __init__(self, edits: EditsFile, document: Document) -> None:
        self.edits, self.text = dict(edits.edits), document.text
        self.sections = find_sections(self.text)
        self.changes: list[LocatedChange] = []

    def check_edits_and_locate_changes(self) -> Iterator[tuple[str, str]]:
        """Yield entry and problem of everything that is wrong."""
        if not self.edits:
            yield "edits", "has no edit; write at least one."
        for name, edit in self.edits.items():
            yield from self._check_edit(name, edit)
        yield from self._check_conflicts_between_edits()
        for name, edit in self.edits.items():
            yield from self._check_old_value_elsewhere(name, edit)

    def _check_edit(self, edit_name: str, edit: Edit) -> Iterator[tuple[str, str]]:
        entry = f"edits.{clip(edit_name)}"
        if not _ID.fullmatch(edit_name):
            yield entry, "is not a valid name for an edit: use lower-case letters, digits and hyphens."
        if not edit.question.strip():
            yield f"{entry}.question", "is blank; ask for the value."
        yield from self._check_values(entry, edit)
        for number, edited_place in enumerate(edit.places):
            place_entry = entry if not number else f"{entry}.also[{number - 1}]"
            before = len(self.changes)
            yield from self._check_place_and_keep_change(edit_name, place_entry, edited_place)
            if len(self.changes) > before:
                yield from self._check_values_in_change(place_entry, edit, self.changes[-1])
                yield from self._check_sections_hold_change(place_entry, edit, self.changes[-1])
        for label in edit.sections:
            if find_innermost_cited_section(self.sections, label) is None:
                yield f"{entry}.sections", f"'{clip(label)}' is not a section of the document."

    def _check_values(self, yaml_entry: str, edit: Edit) -> Iterator[tuple[str, str]]:
        for field, values in (("before", edit.before), ("after", edit.after)):
            if not values or not all(tokenize_with_quantities(value) for value in values):
                yield (
                    f"{yaml_entry}.{field}",
                    "has no value, or a blank one; write the value as an answer would state it.",
                )
        shared = {comparable_value(value) for value in edit.before} & {comparable_value(value) for value in edit.after}
        if shared:
            yield (
                f"{yaml_entry}.after",
                "repeats a value of 'before' in other words; answers with the two values could not be told apart.",
            )
        question_tokens = tokenize_with_quantities(edit.question)
        for value in (*edit.before, *edit.after):
            if not edit.is_yes_or_no and find_values(question_tokens, [value]):
                yield f"{yaml_entry}.question", f"gives the value away ('{clip(value)}'); ask without it."
        if edit.kind in _COUNTED:
            yield from self._check_new_amount_is_credible(yaml_entry, edit)

    def _check_new_amount_is_credible(self, yaml_entry: str, edit: Edit) -> Iterator[tuple[str, str]]:
        old, new = amounts_in_smallest_units(edit.before[:1]), amounts_in_smallest_units(edit.after[:1])
        for (unit, before), (other_unit, after) in zip(old, new, strict=False):
            low, high = sorted((before, after))
            if unit == other_unit and high > FACTOR * low:
                problem = (
                    f"is more than {FACTOR} times or less than a quarter of the other value, which is not credible."
                )
                yield f"{yaml_entry}.after", problem

    def _check_place_and_keep_change(
        self, edit_name: str, yaml_entry: str, edited_place: EditedPlace
    ) -> Iterator[tuple[str, str]]:
        """Yield every fault of a place, and keep a LocatedChange if it is found."""
        start = end = -1
        if isinstance(edited_place.at, str):
            times = self.text.count(edited_place.at) if edited_place.at.strip() else 0
            if times != 1:
                fault = "is not in the document word for word" if not times else f"is in the document {times} times"
                yield f"{yaml_entry}.at", f"{fault}; quote words that occur once."
                return
            start = self.text.index(edited_place.at)
            end = start + len(edited_place.at)
        else:
            if not self._is_text_range(edited_place.at):
                yield (
                    f"{yaml_entry}.at",
                    f"is not a place in the text: write [first, end] between 0 and {len(self.text)}.",
                )
                return
            start, end = edited_place.at
            if sha256_of(self.text[start:end]) != edited_place.sha256:
                yield (
                    f"{yaml_entry}.sha256",
                    "does not match the characters at this place; correct the place or the checksum.",
                )
                return
        words = self.text[start:end]
        for field, text in (("becomes", edited_place.becomes), ("reworded", edited_place.reworded)):
            if not text.strip():
                yield f"{yaml_entry}.{field}", "is blank; write the words that replace `at`."
            elif " ".join(text.split()) == " ".join(words.split()):
                yield f"{yaml_entry}.{field}", "changes nothing; write other words."
        if any(start < find_heading_end(self.text, section) and section.start < end for section in self.sections):
            yield f"{yaml_entry}.at", "is in a heading; headings must not change."
        self.changes.append(
            LocatedChange(edit_name, yaml_entry, start, end, words, edited_place.becomes, edited_place.reworded)
        )

    def _is_text_range(self, start_and_end: tuple[int, ...]) -> bool:
        return len(start_and_end) == _ENDS and 0 <= start_and_end[0] < start_and_end[1] <= len(self.text)

    def _check_values_in_change(self, yaml_entry: str, edit: Edit, change: LocatedChange) -> Iterator[tuple[str, str]]:
        """Yield faults of the values: the words and the twin have the old one alone, the edit the new one alone."""
        if edit.kind == INSTRUCTION:
            yield from self._check_instruction(yaml_entry, edit, change)
        if edit.is_yes_or_no:
            plain = {*edit.before, *edit.after} <= {YES, NO}
            if plain and edit.kind == "negation" and has_negation(change.words) != has_negation(change.reworded):
                yield f"{yaml_entry}.reworded", "adds or removes a negation; keep the fact."
            return
        if not _mentions_any_value(change.words, edit.before):
            yield (
                f"{yaml_entry}.at",
                "has none of the values of 'before'; quote more of the sentence, or correct the values.",
            )
        if edit.kind != INSTRUCTION and not _mentions_any_value(change.becomes, edit.after):
            yield f"{yaml_entry}.becomes", "has none of the values of 'after'."
        if edit.kind != INSTRUCTION and _mentions_any_value(change.becomes, edit.before, edit.after):
            yield f"{yaml_entry}.becomes", "still has the old value."
        if not _mentions_any_value(change.reworded, edit.before):
            yield f"{yaml_entry}.reworded", "has lost the fact: none of the values of 'before' is in it."
        if _mentions_any_value(change.reworded, edit.after, edit.before):
            yield f"{yaml_entry}.reworded", "has the new value; the reworded text must keep the old value."

    def _check_instruction(self, yaml_entry: str, edit: Edit, change: LocatedChange) -> Iterator[tuple[str, str]]:
        if not change.becomes.startswith(change.words):
            yield (
                f"{yaml_entry}.becomes",
                "must begin with the unchanged sentence and continue with the order to assistants.",
            )
        elif not edit.is_yes_or_no and not _mentions_any_value(change.becomes[len(change.words) :], edit.after):
            yield f"{yaml_entry}.becomes", "orders none of the values of 'after'."

    def _check_sections_hold_change(
        self, yaml_entry: str, edit: Edit, change: LocatedChange
    ) -> Iterator[tuple[str, str]]:
        edit_sections = [
            section
            for label in edit.sections
            if (section := find_innermost_cited_section(self.sections, label)) is not None
        ]
        if edit.sections and not any(candidate.start <= change.start < candidate.end for candidate in edit_sections):
            around = next(
                (candidate.label for candidate in self.sections if candidate.start <= change.start < candidate.end),
                "none",
            )
            yield (
                f"{yaml_entry}.at",
                f"is not in any of the edit's 'sections' (its section: {around}); add its section.",
            )

    def _check_conflicts_between_edits(self) -> Iterator[tuple[str, str]]:
        """Yield edits that get in each other's way: in one sentence, by one question; an outline that is another."""
        for change, next_change in pairwise(sorted(self.changes, key=lambda change: change.start)):
            if next_change.start < change.end:
                yield f"{next_change.entry}.at", f"overlaps the edit {change.edit}; choose other words."
            elif change.edit != next_change.edit and not _APART.search(self.text[change.end - 1 : next_change.start]):
                yield (
                    f"{next_change.entry}.at",
                    f"is in the same sentence as the edit {change.edit}; remove one of the two.",
                )
        names_by_question: defaultdict[str, list[str]] = defaultdict(list)
        for name, edit in self.edits.items():
            names_by_question[" ".join(edit.question.lower().split())].append(name)
        for question, names in names_by_question.items():
            if len(names) > 1 and question:
                yield (
                    f"edits.{clip(names[1])}.question",
                    f"is also the question of {clip(names[0])}; ask another question.",
                )
        outline = [(section.label, section.title) for section in self.sections]
        for version, field in ((AFTER, "becomes"), (TWIN, "reworded")):
            new_outline = [
                (section.label, section.title)
                for section in find_sections(_make_version_of_text(self.text, self.changes, version))
            ]
            if new_outline != outline:
                yield (
                    self._find_entry_that_changes_outline(version, outline),
                    f"'{field}' changes the outline: the headings are no longer the same.",
                )

    def _find_entry_that_changes_outline(self, version: str, original_outline: list[tuple[str, str]]) -> str:
        """Return the entry of the edit that alone moves the outline; of them all where it takes several."""
        for change in self.changes:
            sections = find_sections(_make_version_of_text(self.text, [change], version))
            if [(section.label, section.title) for section in sections] != original_outline:
                return change.entry
        return "edits"

    def _check_old_value_elsewhere(self, edit_name: str, edit: Edit) -> Iterator[tuple[str, str]]:
        """Yield places where the old value still stands, that are not named as another fact's."""
        traced = [words for words in edit.before if has_amount_with_unit_or_address(words)]
        entry = f"edits.{clip(edit_name)}"
        named_spans = []
        for number, words in enumerate(edit.elsewhere):
            ends = self._find_spans_of_words(words)
            if not ends:
                yield f"{entry}.elsewhere[{number}]", "is not in the document; write its words, or [first, end]."
            elif traced and not any(_mentions_any_value(self.text[start:end], traced) for start, end in ends):
                yield f"{entry}.elsewhere[{number}]", "does not contain the old value; leave it out."
            named_spans += ends
        named_spans += [(words.start, words.end) for words in self.changes]
        text = tokenize_with_quantities(self.text)
        for claim in find_values(text, traced):
            start, end = text[claim.first].start, text[claim.end - 1].end
            bare = text[claim.first].number is not None and not text[claim.first].unit
            if bare or any(first < end and start < last for first, last in named_spans):
                continue
            around = " ".join(self.text[max(0, start - 40) : end + 20].split())
            problem = (
                f"leaves the old value at character {start} (“… {around} …”); add that place to 'also', or to "
                "'elsewhere' if it states another fact."
            )
            yield entry, problem

    def _find_spans_of_words(self, words: Words) -> list[tuple[int, int]]:
        if isinstance(words, str):
            matches = re.finditer(re.escape(words), self.text) if words.strip() else ()
            return [match.span() for match in matches]
        return [(words[0], words[1])] if self._is_text_range(words) else []


def _mentions_any_value(text: str, values: Sequence[str], competing_values: Sequence[str] = ()) -> bool:
    """Tell whether a text has one of these values, where it is not a part of one of the others."""
    value_tokens = {*map(tokenize_with_quantities, values)}
    return any(
        match.value in value_tokens
        for match in find_values(tokenize_with_quantities(text), (*values, *competing_values))
    )
