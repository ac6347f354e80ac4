"""Who wrote which answer, of systems whose replies people write: `authors.jsonl` in the run folder.

Nobody may score what they wrote, in whatever run its text is. The file is kept apart from the records, which go to the
desk's analysts as they are: no record, and no page but an author's own, says who wrote it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from genaipa.files.stamps import Stamp, read_file_stamp
from genaipa.runs import journal
from genaipa.systems.provider import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest

AUTHORS = "authors.jsonl"
_AFFILIATION = re.compile(r" \([^()]*\)$")


def find_systems_written_by_people(manifests: Iterable[Manifest]) -> frozenset[str]:
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


class Authors:
    """The authors of the answers of some runs, read again where a run's file has changed."""

    def __init__(self, folders: Iterable[RunFolder]) -> None:
        self._folders = list(folders)
        self._stamps: dict[str, Stamp | None] = {}
        self._names_by_answer: dict[str, set[str]] = {}
        self._answers_by_name: dict[str, set[str]] = {}
        self.read_new_authorships()

    def __bool__(self) -> bool:
        """Tell whether anybody wrote an answer."""
        return bool(self._names_by_answer)

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

    def is_author(self, name: str, answer_digest: str) -> bool:
        """Tell whether this person wrote the answer with a digest; `Bo (ard)`, Bo of a partner, may be Bo."""
        names = self._names_by_answer.get(answer_digest, ())
        person = normalize_person_name(name) if names else ""
        return person in names or _AFFILIATION.sub("", person) in names

    def answer_digests_of_author(self, name: str) -> set[str]:
        """Return the digests of the answers that this person wrote."""
        return self._answers_by_name.get(normalize_person_name(name), set())
