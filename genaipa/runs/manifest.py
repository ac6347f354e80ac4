"""The manifest of a run folder, and the files beside it.

A packed run has `withheld.json`, too: facts about texts that may not be passed on, and that it therefore lacks.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, NoRoomError, OtherFormatError
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.stamps import now, read_file_stamp
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.kinds import DEFAULT, find_kind_or_placeholder
from genaipa.policies.statistics import TextStatistics
from genaipa.runs.records import FORMAT, Manifest, RunStatus, RunTotals, StudySlice

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.files.stamps import Stamp
    from genaipa.runs.folder import RunFolder


WITHHELD = "withheld.json"
LEFT_OUT = "(left out of the pack; see its source)"
"""Stands in a packed run in place of words that may not be passed on."""


class WithheldTextFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts in place of texts: a document's statistics, and the rows of facts about answers (`genaipa.answers`).

    `facts` has them by the fact's name and the answer's key: column → value. `points` has the digests of annotated
    answers' points, by document and question.
    """

    statistics: dict[str, TextStatistics] = {}
    facts: dict[str, dict[str, dict[str, str | float]]] = {}
    points: dict[str, dict[str, str]] = {}


def read_withheld_text_facts(folder: RunFolder) -> WithheldTextFacts:
    """Return the facts about texts that a run folder lacks; empty for one that lacks none."""
    path = folder.path / WITHHELD
    if not path.is_file():
        return WithheldTextFacts()
    try:
        return msgspec.json.decode(path.read_bytes(), type=WithheldTextFacts)
    except (OSError, *DAMAGE) as error:
        raise DataError(path, f"can't be read ({clip_error_message(error)}); unpack the study again.") from None


ANSWERS = "answers.jsonl"
CONVERSATIONS = "conversations.jsonl"
MANIFEST = "manifest.json"
MANIFEST_COPY = ".manifest.json"
_LASTING = (
    *("format", "name", "created", "spec", "digests", "documents", "orders", "versions", "commit", "dirty", "planned"),
    *("corpus", "slice"),
)
"""Fields of a manifest that stay as they are for as long as the run goes on."""
_SUM = b'"sum":'
_SHARDS = b'"shards":'


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the content of a manifest's file, with its sum."""
    fields = msgspec.to_builtins(manifest)
    return (
        msgspec.json.format(msgspec.json.encode(fields | {"sum": _compute_manifest_checksum(fields)}), indent=2) + b"\n"
    )


def _compute_manifest_checksum(fields: dict[str, Any]) -> str:
    summed_fields = {name: value for name, value in fields.items() if name != "sum"}
    return hashlib.sha256(msgspec.json.encode(summed_fields, order="deterministic")).hexdigest()


def has_wrong_manifest_checksum(manifest_content: bytes) -> bool:
    """Tell whether a manifest was changed since genaipa wrote it; one without a sum, or that is no JSON, was not."""
    try:
        fields = msgspec.json.decode(manifest_content, type=dict[str, Any])
    except DAMAGE:
        return False  # told by whoever reads it
    return "sum" in fields and fields["sum"] != _compute_manifest_checksum(fields)


class _ManifestFormat(msgspec.Struct):
    """The part of a manifest that every genaipa can read; `shards` are of a run as an earlier one kept it."""

    format: int
    versions: dict[str, str] = {}
    commit: str | None = None
    shards: Any = None

    @property
    def writer_description(self) -> str:
        """The version that wrote it, in words."""
        version = self.versions.get("genaipa", "of an unknown version")
        commit = f", commit {self.commit[:8]}" if self.commit else ""
        return f"genaipa {version} (format {self.format}{commit})"


class _SpecHead(msgspec.Struct, frozen=True):
    systems: tuple[str, ...]
    kind: str = DEFAULT
    repetitions: int = 1


class ManifestHead(msgspec.Struct, frozen=True):
    """As much of a manifest as tells one slice of a study from another: the rest is megabytes."""

    format: int
    name: str
    status: RunStatus
    created: str
    spec: _SpecHead
    slice: StudySlice | None = None
    totals: RunTotals = RunTotals()
    max_cost: float | None = None


@lru_cache(maxsize=4096)
def _read_manifest_head(path: Path, _stamp: Stamp) -> ManifestHead:
    return msgspec.json.decode(path.read_bytes(), type=ManifestHead)


class ManifestFolder:
    """A folder with a manifest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The folder's name, by which commands call the run."""
        return self.path.name

    @property
    def answers_path(self) -> Path:
        """The file of answers."""
        return self.path / ANSWERS

    @property
    def conversations_path(self) -> Path:
        """The file of how conversations began."""
        return self.path / CONVERSATIONS

    @property
    def outdated_writer_version(self) -> str:
        """Return the version that wrote it in an earlier form, which is not read; empty for one that is read."""
        try:
            head = msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=_ManifestFormat)
        except (OSError, *DAMAGE):
            return ""
        return head.writer_description if head.format < FORMAT or head.shards else ""

    @property
    def has_withheld_texts(self) -> bool:
        """Whether texts were left out of this folder because they may not be passed on."""
        return (self.path / WITHHELD).is_file()

    @property
    def is_judge_run(self) -> bool:
        """Whether a judge was asked in it; where its manifest is damaged, that is not known, and it is not."""
        try:
            return find_kind_or_placeholder(self.manifest().spec.kind).on_answers
        except DataError:
            return False

    def manifest(self) -> Manifest:
        """Read the manifest.

        It is read from its copy where the file is damaged; a DataError if that can't be read either, or if another
        genaipa wrote it in a form that this one does not read.
        """
        try:
            return self._read_manifest(MANIFEST)
        except OtherFormatError:
            raise
        except DataError as damaged:
            try:
                return self._read_manifest(MANIFEST_COPY)
            except DataError:
                raise damaged from None

    def _read_manifest(self, file_name: str) -> Manifest:
        path = self.path / file_name
        try:
            content = path.read_bytes()
            if _SHARDS in content and (head := msgspec.json.decode(content, type=_ManifestFormat)).shards:
                raise DataError(
                    path,
                    "was made in shards, which this version of genaipa no longer reads; "
                    f"read it with {head.writer_description}, or run it again in slices.",
                )
            try:
                manifest = msgspec.json.decode(content, type=Manifest)
                written = manifest.format
            except DAMAGE:
                written = msgspec.json.decode(content, type=_ManifestFormat).format
                if written == FORMAT:
                    raise
            if written != FORMAT:
                raise OtherFormatError(path, written, FORMAT, "start a new run")
        except OSError as error:
            raise DataError(path, f"can't be read ({error.strerror}).") from None
        except DAMAGE as error:
            raise DataError(
                path,
                f"is damaged ({clip_error_message(error)}); restore it. The answers are still in "
                "answers.jsonl beside it.",
            ) from None
        if problem := manifest.describe_inconsistency():
            raise DataError(path, f"is damaged ({problem}); restore it. The answers are in answers.jsonl beside it.")
        # A million repetitions ask the same few questions.
        manifest.orders = {key: tuple(map(intern, order)) for key, order in manifest.orders.items()}
        return manifest

    def read_manifest_head(self) -> ManifestHead:
        """Return the head of the manifest, or else of its copy; the errors of `manifest`."""
        for name in (MANIFEST, MANIFEST_COPY):
            path = self.path / name
            if file_stamp := read_file_stamp(path):
                with contextlib.suppress(OSError, *DAMAGE):
                    head = _read_manifest_head(path, file_stamp)
                    if head.format == FORMAT and (head.slice is None or head.slice.is_valid):
                        return head
        manifest = self.manifest()
        spec = _SpecHead(manifest.spec.systems, manifest.spec.kind, manifest.spec.repetitions)
        facts = {name: getattr(manifest, name) for name in ("status", "created", "slice", "totals", "max_cost")}
        return ManifestHead(manifest.format, manifest.name, spec=spec, **facts)

    def describe_manifest_damage(self) -> str:
        """Return a sentence about a damaged manifest whose copy is used in its place; empty if it is whole."""
        try:
            self._read_manifest(MANIFEST)
        except DataError as damaged:
            return f"{damaged.problem.partition(';')[0]}; its copy from {self.manifest().updated} is used instead."
        return ""

    def describe_manifest_changed_since_written(self) -> str:
        """Return a sentence about a manifest, or its copy, that was changed since it was written; empty if none was."""
        contents: dict[str, bytes] = {}
        for name in (MANIFEST, MANIFEST_COPY):
            with contextlib.suppress(OSError):  # told by whoever reads it; a packed or imported run has no copy
                contents[name] = (self.path / name).read_bytes()
        summed = [name for name, content in contents.items() if _SUM in content]
        if MANIFEST in contents and summed == [MANIFEST_COPY]:
            return f"has lost its checksum; restore it from {MANIFEST_COPY}."
        for name in summed:
            if has_wrong_manifest_checksum(contents[name]):
                subject = "" if name == MANIFEST else f"its copy {name} "
                return f"{subject}was changed after the run wrote it; restore the file."
        return ""

    def describe_manifest_copy_mismatch(self) -> str:
        """Return a sentence about a manifest that differs from its copy; empty if they agree, or one is gone."""
        try:
            manifests = [self._read_manifest(name) for name in (MANIFEST, MANIFEST_COPY)]
        except DataError:  # told by `describe_manifest_damage`, or of a run that was packed or imported
            return ""
        for name in _LASTING:
            if getattr(manifests[0], name) != getattr(manifests[1], name):
                return f"'{name}' differs in the copy {MANIFEST_COPY}; restore the file that was changed."
        return ""

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest in one step, and then its copy: one of them is whole whatever happens to the other."""
        manifest.updated = now()
        size = self.answers_path.stat().st_size if self.answers_path.is_file() else 0
        manifest.totals = msgspec.structs.replace(manifest.totals, bytes=size)
        content = encode_manifest(manifest)
        for name in (MANIFEST, MANIFEST_COPY):
            self.write_file(name, content)

    def has_file(self, file_name: str) -> bool:
        """Tell whether a file of that name is in the folder."""
        return (self.path / file_name).exists()

    def write_file(self, file_name: str, content: bytes) -> None:
        """Write a file of the folder, whole or not at all."""
        path = self.path / file_name
        try:
            with open_for_atomic_write(path, durable=True) as file:
                file.write(content)
        except OSError as error:
            raise NoRoomError.from_os_error(path, error) from None
