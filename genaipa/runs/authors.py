"""Who wrote which answer, of systems whose replies people write: `authors.jsonl` in the run folder.

Nobody may score what they wrote, in whatever run its text is. The file is kept apart from the records, which go to the
desk's analysts as they are: no record, and no page but an author's own, says who wrote it.

A partner's pack has `author-marks.json` in its place. It has as many marks for each answer, those that nobody wrote
included, and tells only of a name that is given whether that person wrote an answer.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.stamps import Stamp, read_file_stamp
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.runs import journal
from genaipa.systems.provider import find_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest

AUTHORS = "authors.jsonl"
MARKS = "author-marks.json"
_ROUNDS = 100_000
"""Rounds of the hash of a name: a tenth of a second, so that names are not tried by the thousand."""
_AFFILIATION = re.compile(r" \([^()]*\)$")


def find_systems_with_human_replies(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Return the systems of runs whose replies people write, by the names that the runs have for them."""
    return frozenset(
        name
        for manifest in manifests
        for name, facts in manifest.systems.items()
        if (provider := find_provider(facts.model)) is not None and provider.by_hand == "written"
    )


class Authorship(msgspec.Struct, frozen=True):
    """The author of the answer with a digest, under a record's key."""

    key: str
    answer: str
    author: str
    time: str


def normalize_person_name(name: str) -> str:
    """Return a key that is equal for names of the same person."""
    return " ".join(name.split()).casefold()


async def append_authorship(folder: RunFolder, authorship: Authorship) -> None:
    """Note who wrote an answer, on disk when this returns; hold the run for writing meanwhile."""
    file = journal.Journal(folder.path / AUTHORS)
    try:
        await file.append_and_get_offset(authorship)
    finally:
        await file.close()


def read_authorships(folder: RunFolder) -> Iterator[Authorship]:
    """Yield who wrote the run's answers; a RunError for a line that is not as it was written."""
    path = folder.path / AUTHORS
    if path.is_file():
        for _, authorship in journal.read_records_with_offsets(path, Authorship, has_checksums=True):
            yield authorship


class AuthorMarks(msgspec.Struct, frozen=True):
    """The authors of a pack's answers, without their names: marks of each answer, of which some stand for nobody."""

    salt: str
    marks: dict[str, tuple[str, ...]]

    def find_answer_digests_of_author(self, normalized_name: str) -> set[str]:
        """Return the digests of the answers that this person wrote."""
        mark = _make_marker_for_person(normalized_name, self.salt)
        return {digest for digest, marks in self.marks.items() if mark(digest) in marks}

    def select_answers(self, answer_digests: AbstractSet[str]) -> AuthorMarks:
        """Return the marks of these answers alone."""
        return AuthorMarks(self.salt, {digest: self.marks[digest] for digest in self.marks if digest in answer_digests})


def make_author_marks_padded_with_decoys(
    names_by_answer_digest: Mapping[str, AbstractSet[str]], salt: str, make_decoy_mark: Callable[[str, int], str]
) -> AuthorMarks:
    """Return the marks of answers by their authors' normalized names.

    `make_decoy_mark` makes those that stand for nobody.
    """
    names = {name for answer_names in names_by_answer_digest.values() for name in answer_names}
    markers = {name: _make_marker_for_person(name, salt) for name in names}
    length = max(map(len, names_by_answer_digest.values()), default=0)
    marks = {}
    for digest, answer_names in sorted(names_by_answer_digest.items()):
        decoys = (make_decoy_mark(digest, number)[:_MARK_DIGITS] for number in range(length - len(answer_names)))
        marks[digest] = tuple(sorted((*(markers[name](digest) for name in answer_names), *decoys)))
    return AuthorMarks(salt, marks)


_MARK_DIGITS = 32


def _make_marker_for_person(normalized_name: str, salt: str) -> Callable[[str], str]:
    key = hashlib.pbkdf2_hmac("sha256", normalized_name.encode(), salt.encode(), _ROUNDS)
    return lambda digest: hmac.digest(key, digest.encode(), "sha256").hex()[:_MARK_DIGITS]


def _read_author_marks(path: Path) -> AuthorMarks:
    """Read a pack's marks; a DataError for a file that is not as it was written."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=AuthorMarks)
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    except DAMAGE as error:
        raise DataError(path, f"is damaged ({clip_error_message(error)}); unpack the pack again.") from None


class AnswerAuthors:
    """The authors of the answers of some runs, read again where a run's file has changed."""

    def __init__(self, folders: Iterable[RunFolder]) -> None:
        self._folders = list(folders)
        self._stamps: dict[str, Stamp | None] = {}
        self._names_by_answer: dict[str, set[str]] = {}
        self._answers_by_name: dict[str, set[str]] = {}
        self._marks_by_run: dict[str, AuthorMarks] = {}
        self._marked_answers: set[str] = set()
        self._marked_answers_by_name: dict[str, set[str]] = {}
        self.read_new_authorships()

    def __bool__(self) -> bool:
        """Tell whether anybody wrote an answer."""
        return bool(self._names_by_answer or self._marks_by_run)

    def read_new_authorships(self) -> None:
        """Read the files that have changed since the last time."""
        for folder in self._folders:
            stamp = read_file_stamp(folder.path / AUTHORS)
            if stamp != self._stamps.get(folder.name):
                self._stamps[folder.name] = stamp
                for authorship in read_authorships(folder):
                    name = normalize_person_name(authorship.author)
                    self._names_by_answer.setdefault(authorship.answer, set()).add(name)
                    self._answers_by_name.setdefault(name, set()).add(authorship.answer)
            if folder.name not in self._marks_by_run and (path := folder.path / MARKS).is_file():
                self._marks_by_run[folder.name] = marks = _read_author_marks(path)
                self._marked_answers.update(marks.marks)
                self._marked_answers_by_name.clear()

    def is_author(self, person_name: str, answer_digest: str) -> bool:
        """Tell whether this person wrote the answer with a digest; `Bo (ard)`, Bo of a partner, may be Bo."""
        if answer_digest not in self._names_by_answer and answer_digest not in self._marked_answers:
            return False
        return any(
            answer_digest in self._find_answer_digests(person)
            for person in _list_names_with_and_without_affiliation(person_name)
        )

    def answer_digests_of_author(self, person_name: str) -> set[str]:
        """Return the digests of the answers that this person wrote; `Bo (ard)`, Bo of a partner, may be Bo."""
        return set[str]().union(
            *(self._find_answer_digests(person) for person in _list_names_with_and_without_affiliation(person_name))
        )

    def authors_of_answer(self, answer_digest: str) -> frozenset[str]:
        """Return the normalized names of the people who wrote an answer, where they are known."""
        return frozenset(self._names_by_answer.get(answer_digest, ()))

    def _find_answer_digests(self, normalized_name: str) -> set[str]:
        answers = self._answers_by_name.get(normalized_name, set())
        if not self._marks_by_run:
            return answers
        if normalized_name not in self._marked_answers_by_name:
            self._marked_answers_by_name[normalized_name] = set[str]().union(
                *(marks.find_answer_digests_of_author(normalized_name) for marks in self._marks_by_run.values())
            )
        return answers | self._marked_answers_by_name[normalized_name]


def _list_names_with_and_without_affiliation(person_name: str) -> tuple[str, ...]:
    """Return the normalized names that a person may have written answers under: `Bo (ard)`, and Bo alone."""
    person = normalize_person_name(person_name)
    return tuple(dict.fromkeys((person, _AFFILIATION.sub("", person))))
