"""A study in slices: ordinary runs, each of the documents that a digest of company and text gives it.

The name of a study stands for all of its slices. Nothing but their manifests says that they belong together, so whoever
reads a study also hears which of its slices are lost or were never begun, and which are of another plan.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.errors import DataError, OptionError, clip, format_shell_command
from genaipa.files.names import clean_folder_name
from genaipa.policies.corpus import TEXT_DIGEST
from genaipa.runs.records import MOST_SLICES, RunStatus
from genaipa.runs.status import AnswerTally, worst_status
from genaipa.words import join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.manifest import ManifestHead
    from genaipa.runs.records import StudySlice

_NAMED = 10
"""Slices that a sentence names."""


def parse_slice(text: str) -> tuple[int, int]:
    """Return which slice `3/16` means, and of how many; an OptionError for any other text."""
    match = re.fullmatch(r"0*(\d{1,9})/0*(\d{1,9})", text.strip(), re.ASCII)
    index, number = (int(match[1]), int(match[2])) if match else (0, 0)
    check_slice_index_and_count(index, number, f" '{clip(text)}'")
    return index, number


def check_slice_index_and_count(index: int, slice_count: int, quoted_input: str = "") -> None:
    """Raise an OptionError unless there is such a slice."""
    if not 1 <= index <= slice_count <= MOST_SLICES:
        raise OptionError(
            "slice",
            f"{quoted_input or f' {index}/{slice_count}'}: must be I/N, such as 3/16 for the third of sixteen "
            "slices, with at "
            f"most {MOST_SLICES:,} slices.",
        )


def assign_documents_to_slices(joined_digests: bytes, slice_count: int) -> list[int]:
    """Return the slice, from 1, of each document by the digests of company and text, which follow one another.

    Nothing else moves it: duplicates are in one slice, and a longer corpus leaves every document where it was.
    """
    import numpy as np

    places: list[int] = (np.frombuffer(joined_digests, ">u8")[:: TEXT_DIGEST // 8] % slice_count + 1).tolist()
    return places


@dataclass(frozen=True)
class SlicedStudy:
    """The slices of a study that are here: by index, and the `foreign` ones that only bear its name."""

    name: str
    number: int
    slices: dict[int, RunFolder]
    foreign: tuple[tuple[RunFolder, str], ...] = ()
    """Each with why it is none of the others'."""

    @property
    def as_folders(self) -> list[RunFolder]:
        """The folders of its slices, by index."""
        return list(self.slices.values())

    @property
    def highest_cap_if_all_slices_have_one(self) -> float | None:
        """The spending cap of the study in US dollars: the highest that a slice was given, None if one has none."""
        caps = [
            head.slice.cap
            for head in (folder.read_manifest_head() for folder in self.as_folders)
            if head.slice is not None
        ]
        known_caps = [cap for cap in caps if cap is not None]
        return max(known_caps) if len(known_caps) == len(caps) else None

    def has_exact_given_name(self, cleaned_name: str) -> bool:
        """Tell whether these words of a folder's name are all of the study's name."""
        return clean_folder_name(self.name) == cleaned_name

    @property
    def missing_slices(self) -> list[int]:
        """The slices that are lost or were never begun."""
        return [index for index in range(1, self.number + 1) if index not in self.slices]

    @property
    def problems(self) -> list[str]:
        """Sentences on the slices that are missing, and on foreign ones; none for a study that has all of its own."""
        problems = [
            f"{folder.name} claims to be a slice of {self.name}, but {reason}, so it is left out; move it away, or "
            "name it by itself."
            for folder, reason in self.foreign
        ]
        if missing := self.missing_slices:
            indices = [str(index) for index in missing]
            named = join_names(indices) if len(indices) <= _NAMED else join_some(indices, _NAMED)
            them = "it" if len(missing) == 1 else "them"
            problems.insert(
                0,
                f"{self.name} lacks {len(missing):,} of its {self.number:,} slices ({named}), so a report covers "
                f"only the rest. Run {them} with: {format_shell_command('genaipa', 'run', '--resume', self.name)}",
            )
        return problems


def read_study_status_and_tally(study: SlicedStudy) -> tuple[RunStatus, AnswerTally]:
    """Return the status of a study, which is that of its worst slice, and the counts of all slices together."""
    statuses, tally = set[RunStatus](), AnswerTally()
    for folder in study.as_folders:
        manifest, counts = folder.read_manifest_and_tally()
        statuses.add(manifest.status)
        tally.add_tally(counts)
    return worst_status(statuses | ({"partial"} if study.missing_slices else set())), tally


def group_slices_by_study_name(folders: Iterable[RunFolder]) -> dict[str, SlicedStudy]:
    """Return the studies of which these folders are slices, by name.

    Slices of one plan make a study; where there are several of a name, that of most slices, and of these the oldest.
    Runs that are no slices, and those whose manifest is damaged, are passed over.
    """
    studies: dict[str, list[tuple[RunFolder, ManifestHead]]] = {}
    for folder in folders:
        try:
            head = folder.read_manifest_head()
        except DataError:
            continue
        if head.slice is not None:
            studies.setdefault(head.slice.study, []).append((folder, head))
    return {name: _make_study_of_most_common_plan(name, heads) for name, heads in studies.items()}


def map_slices_to_studies(folders: Iterable[RunFolder]) -> dict[str, SlicedStudy]:
    """Return the study of each folder that is a slice of one, by the folder's name."""
    return {folder.name: study for study in group_slices_by_study_name(folders).values() for folder in study.as_folders}


def shared_plan_key(study_slice: StudySlice, systems: Iterable[str], repetitions: int) -> Hashable:
    """Return what all slices of a study have in common."""
    return study_slice.plan, study_slice.number, frozenset(systems), repetitions


def shared_plan_key_of_head(head: ManifestHead) -> Hashable:
    """Return what a slice has in common with all others of its study."""
    assert head.slice is not None, "it is a slice"
    return shared_plan_key(head.slice, head.spec.systems, head.spec.repetitions)


def _make_study_of_most_common_plan(study_name: str, heads: list[tuple[RunFolder, ManifestHead]]) -> SlicedStudy:
    """Return the study of these slices, the oldest first."""
    plans = Counter(shared_plan_key_of_head(head) for _, head in heads)
    plan = max(plans, key=plans.__getitem__)
    slices: dict[int, tuple[RunFolder, ManifestHead]] = {}
    foreign: list[tuple[RunFolder, str]] = []
    number = 0
    for folder, head in heads:
        assert head.slice is not None, "they are slices"
        index = head.slice.index
        if shared_plan_key_of_head(head) != plan:
            foreign.append((folder, "has a different plan from the other slices"))
        elif index not in slices:
            slices[index], number = (folder, head), head.slice.number
        else:
            # A copy: the one that has more answers stays.
            first, second = slices[index], (folder, head)
            if head.totals.answer_count > first[1].totals.answer_count:
                slices[index], second = second, first
            foreign.append((second[0], f"{slices[index][0].name} is the same slice"))
    return SlicedStudy(study_name, number, {index: slices[index][0] for index in sorted(slices)}, tuple(foreign))
