"""The coordinator's record of a split, `study-split.json`: who has which answers, under which names.

It stays in the coordinator's workspace and is in no pack: by it, the code names in packs are systems again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, OtherFormatError, UsageError
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.text import DAMAGE, clip_error_message

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.workspace import Workspace

FILE = "study-split.json"
FORMAT = 1
LONGEST_NAME = 40
"""Characters of a partner's name."""


def name_analyst_of_partner(analyst: str, partner: str) -> str:
    """Return the name that a partner's analyst has in the study: "Ada (bbc)"."""
    return f"{analyst} ({partner})"


def is_valid_partner_name(name: str) -> bool:
    """Tell whether a text can be a partner's name, which files and events are named after."""
    return len(name) <= LONGEST_NAME and re.fullmatch(r"[\w-]+", name) is not None


class PartnerShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one partner has: their `language` (empty: any), and the SHA-256 of their `pack`.

    `systems` maps the code names in the pack to systems, `answers` the digest of each answer in the pack to those of
    the study's answers that it stands for: without the names of systems, several may read alike. `training` are the ids
    of the reference analyst's scores that the pack came with.
    """

    name: str
    pack: str
    systems: dict[str, str]
    answers: dict[str, tuple[str, ...]]
    training: tuple[str, ...] = ()
    language: str = ""


class StudySplit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A split of a study: its id, its partners, and the answers (by their digests in packs) that several of them have.

    `share` is the percentage of the answers that was asked to be shared.
    """

    format: int
    study: str
    seed: int
    share: float
    runs: tuple[str, ...]
    shared: tuple[str, ...]
    partners: tuple[PartnerShare, ...]

    def find_partner_share(self, partner_name: str) -> PartnerShare | None:
        """Return the share of a partner; None for a name that is none of theirs."""
        return next((partner for partner in self.partners if partner.name == partner_name), None)


class _FormatHead(msgspec.Struct):
    format: int


def load_split(workspace: Workspace) -> StudySplit:
    """Return the workspace's split; a UsageError where there is none, a DataError if it can't be read."""
    path = workspace.home / FILE
    try:
        content = path.read_bytes()
        written = msgspec.json.decode(content, type=_FormatHead).format
        if written != FORMAT:
            raise OtherFormatError(path, written, FORMAT, "split again with the same seed")
        return msgspec.json.decode(content, type=StudySplit)
    except FileNotFoundError:
        raise UsageError(
            f"{workspace.home} has no {FILE}: a study is split and joined in the coordinator's workspace (genaipa "
            "study split)."
        ) from None
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    except DAMAGE as error:
        raise DataError(path, f"is damaged ({clip_error_message(error)}); split again with the same seed.") from None


def read_pack_digests_and_shared_digests(workspace: Workspace | None) -> tuple[dict[str, str], frozenset[str]]:
    """Return answer → its text in packs, and the texts that several partners have; empty without a record."""
    if workspace is None or not (workspace.home / FILE).is_file():
        return {}, frozenset()
    split = load_split(workspace)
    texts = {answer: text for share in split.partners for text, answers in share.answers.items() for answer in answers}
    return texts, frozenset(split.shared)


def check_no_other_split(workspace: Workspace, study_id: str) -> None:
    """Raise a UsageError where the workspace was split in another way: without its record no score can be joined."""
    path = workspace.home / FILE
    if path.is_file() and load_split(workspace).study != study_id:
        raise UsageError(
            f"{path} belongs to another split, whose scores can't be joined without it; move it away, or add --force."
        )


def save_split(workspace: Workspace, split: StudySplit) -> Path:
    """Write the workspace's split, whole or not at all, and return its file."""
    path = workspace.home / FILE
    try:
        with open_for_atomic_write(path, durable=True) as file:
            file.write(msgspec.json.format(msgspec.json.encode(split), indent=1) + b"\n")
    except OSError as error:
        raise DataError(path, f"can't be written ({error.strerror}).") from None
    return path
