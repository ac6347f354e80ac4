"""Integrity of a run folder: every text against the digest that was kept with it.

Everything computed from a run reads its records through `RunFolder.read_records`, which checks each;
`find_damage_in_run_folder` reads everything else in the folder as well (`genaipa validate --data`).
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from genaipa.errors import GenaipaError
from genaipa.kinds import find_kind_or_placeholder
from genaipa.runs import journal
from genaipa.runs.documents import KeptDocuments, KeptIntroductions
from genaipa.runs.manifest import LEFT_OUT
from genaipa.runs.records import (
    DOCUMENTS,
    ConversationRecord,
    DocumentFacts,
    Record,
    answer_digest,
    record_key,
)
from genaipa.words import format_count as number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, RecordHead, RunTotals


class RunFolderDamage(NamedTuple):
    """Something in a run folder that is not as it was written: the file, the place in it (or none), what is wrong."""

    path: Path
    where: str
    problem: str


def describe_record_flaw_or_empty(
    record: RecordHead, document_digests: Mapping[str, str], *, texts_withheld: bool
) -> str:
    """Return the flaw of a record, in words; empty if it has none. `document_digests` are the run's, name → digest.

    In a packed run texts may be `texts_withheld`; what is not there can't be checked.
    """
    r = record
    if r.key != record_key(r.system, r.task, r.coordinates):
        return "its key does not match its content"
    if r.status == "failed":
        return "it failed but holds a reply" if r.reply is not None else ""
    if texts_withheld and (r.reply is None or r.asked == LEFT_OUT):
        return ""
    if r.reply is None:
        return f"it is {r.status} but holds no reply"
    digest = answer_digest(document_digests.get(r.document, ""), r.asked, r.reply, r.after)
    return "" if digest == r.digest else "its text does not match its digest"


def describe_lost_answers_or_empty(
    answers_path: Path, run_name: str, totals: RunTotals, answer_count: int | None
) -> str:
    """Return a sentence about answers that are gone from the file of a run.

    See `RunFolder.describe_lost_answers_or_empty`.
    """
    # The manifest of an imported run does not say how long the file was.
    size = answers_path.stat().st_size if answers_path.is_file() else 0
    if totals.bytes <= size and (totals.bytes or answer_count is None or totals.answer_count <= answer_count):
        return ""
    if answer_count is not None and answer_count >= totals.answer_count:
        return f"{answers_path} is shorter than when the run stopped, though it has as many answers; restore the file."
    fewer = (
        f"{totals.answer_count - answer_count:,} of {totals.answer_count:,} answers were"
        if answer_count is not None
        else "answers were"
    )
    return (
        f"{answers_path}: {fewer} lost after the run stopped; restore the file, or ask the questions again with: "
        f"genaipa run --resume {run_name}"
    )


def find_damage_in_run_folder(folder: RunFolder) -> Iterator[RunFolderDamage]:
    """Read all of a run folder, and yield everything that is not as it was written."""
    try:
        manifest = folder.manifest()
    except GenaipaError:
        return  # told by whoever checks the manifest
    if mismatch := folder.describe_manifest_changed_since_written() or folder.describe_manifest_copy_mismatch():
        yield RunFolderDamage(folder.path / "manifest.json", "", mismatch)
    yield from _find_record_damage(folder, manifest)
    yield from _find_document_and_introduction_damage(folder, manifest)
    yield from _find_file_damage(folder, manifest)


def _find_file_damage(folder: RunFolder, manifest: Manifest) -> Iterator[RunFolderDamage]:
    for name, digest in _expected_file_digests(folder, manifest).items():
        path = folder.path / name
        try:
            content = path.read_bytes()
        except OSError as error:
            yield RunFolderDamage(path, "", f"can't be read ({error.strerror}); restore the file.")
        else:
            if hashlib.sha256(content).hexdigest() != digest:
                yield RunFolderDamage(path, "", "has changed since the run was made; restore the file.")


def _find_record_damage(folder: RunFolder, manifest: Manifest) -> Iterator[RunFolderDamage]:
    documents = {name: facts.digest for name, facts in manifest.documents.items()}
    path, withheld = folder.answers_path, folder.has_withheld_texts
    line_numbers, conversations = dict[str, int](), set[str]()
    try:
        for number, (_, record) in enumerate(folder.read_checksummed_answers_with_offsets(Record), 1):
            if record.started:  # an import knows the beginning of some conversations at most
                conversations.add(record.conversation)
            if problem := describe_record_flaw_or_empty(record, documents, texts_withheld=withheld):
                yield RunFolderDamage(path, f"line {number}", f"was changed: {problem}; restore the file.")
            elif record.kind == "answer" and record.status != "failed":
                if record.key in line_numbers:
                    yield RunFolderDamage(
                        path,
                        f"line {number}",
                        f"repeats the answer of line {line_numbers[record.key]}; restore the file.",
                    )
                line_numbers[record.key] = number
    except GenaipaError:
        return  # a line that is no record is told by whoever checks the lines
    if len(line_numbers) < manifest.totals.answer_count:
        counts = f"{len(line_numbers):,} of the {manifest.totals.answer_count:,}"
        yield RunFolderDamage(path, "", f"has {counts} answers that the run had; restore the file.")
    if folder.conversations_path.is_file():
        with contextlib.suppress(GenaipaError):  # as above
            if gone := conversations - {conversation.id for conversation in folder.read_conversations()} - {""}:
                lacks = f"lacks {number_of(len(gone), 'conversation')}; restore the file."
                yield RunFolderDamage(folder.conversations_path, "", lacks)


def _matches_document_facts(document: Document, facts: DocumentFacts, *, texts_withheld: bool) -> bool:
    """Tell whether a line's document is the one that the run notes, in everything that is noted of it."""
    line, left_out = DocumentFacts.from_document(document), texts_withheld and not document.text
    if left_out:
        line = replace(line, digest=facts.digest)
    if not document.about.language and (left_out or not facts.language):
        line = replace(line, language=facts.language)  # detected in the text, perhaps by other rules than today's
    return line == facts


def _find_document_and_introduction_damage(folder: RunFolder, manifest: Manifest) -> Iterator[RunFolderDamage]:
    """Yield the lines of a run of a corpus that are not as their digests say; a pack leaves texts out."""
    stored_documents = KeptDocuments(folder.path)
    try:
        for name, facts in manifest.documents.items() if stored_documents else ():
            if name not in stored_documents or not _matches_document_facts(
                stored_documents[name], facts, texts_withheld=folder.has_withheld_texts
            ):
                yield RunFolderDamage(
                    stored_documents.path, name, "has changed since the run was made; restore the file."
                )
    except GenaipaError as error:
        yield RunFolderDamage(stored_documents.path, "", f"can't be read ({error})")
    lines = KeptIntroductions(folder.path)
    for digest in lines:
        if hashlib.sha256(lines.read_unchecked_introduction_content(digest)).hexdigest() != digest:
            yield RunFolderDamage(lines.path, digest[:12], "has changed since the run was made; restore the file.")


def _expected_file_digests(folder: RunFolder, manifest: Manifest) -> dict[str, str]:
    """Return path in the folder → SHA-256 of every file that the folder has to have and whose digest was kept.

    A pack leaves texts out, and words of questions and annotated answers; it has digests of its own.
    """
    # Of a task or a suite of a user's own there is also the digest of its code, which is not in the folder.
    tasks = manifest.digests.task.items() if find_kind_or_placeholder(manifest.spec.kind).keeps else ()
    digests = {name: digest for name, digest in tasks if name != manifest.spec.task}
    if not (folder.path / DOCUMENTS).is_file():
        digests |= {f"documents/{facts.digest}.txt": facts.digest for facts in manifest.documents.values()}
    for kind, ending in (("prompts", ".jinja"), ("questions", ".yaml"), ("annotations", ".yaml")):
        digests |= {f"{kind}/{name}{ending}": digest for name, digest in getattr(manifest.digests, kind).items()}
    try:
        conversations = [
            conversation
            for _, conversation in journal.read_records_with_offsets(folder.conversations_path, ConversationRecord)
        ]
    except GenaipaError:
        conversations = []  # told by whoever checks the lines
    lines = KeptIntroductions(folder.path)
    digests |= {
        f"introductions/{conversation.introduction}.json": conversation.introduction
        for conversation in conversations
        if conversation.introduction and conversation.introduction not in lines
    }
    if not folder.has_withheld_texts:
        return digests
    whole = ("documents/", "introductions/", "prompts/")
    return {
        name: digest for name, digest in digests.items() if name.startswith(whole) and (folder.path / name).exists()
    }
