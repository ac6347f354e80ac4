"""Integrity of a run folder: every text against the digest that was kept with it.

Everything computed from a run reads its records through `RunFolder.read`, which checks each; `damage` reads
everything else in the folder as well (`genaipa validate --data`).
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from genaipa.errors import GenaipaError
from genaipa.kinds import kind_of
from genaipa.runs import journal
from genaipa.runs.documents import KeptDocuments, KeptIntroductions
from genaipa.runs.manifest import LEFT_OUT
from genaipa.runs.records import (
    DOCUMENTS,
    ConversationRecord,
    DocumentFacts,
    Record,
    answer_digest,
    key_of,
)
from genaipa.words import number as number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, RecordHead, Totals


class Damage(NamedTuple):
    """Something in a run folder that is not as it was written: the file, the place in it (or none), what is wrong."""

    path: Path
    where: str
    problem: str


def flaw(record: RecordHead, documents: Mapping[str, str], *, withheld: bool) -> str:
    """The flaw of a record, in words; empty if it has none. `documents` are the run's, name → digest.

    In a packed run texts may be `withheld`; what is not there can't be checked.
    """
    r = record
    if r.key != key_of(r.system, r.task, r.coordinates):
        return "its key does not fit its content"
    if r.status == "failed":
        return "it failed, and holds a reply" if r.reply is not None else ""
    if withheld and (r.reply is None or r.asked == LEFT_OUT):
        return ""
    if r.reply is None:
        return f"it is {r.status}, and holds no reply"
    digest = answer_digest(documents.get(r.document, ""), r.asked, r.reply)
    return "" if digest == r.digest else "its text does not fit its digest"


def lacking(answers: Path, name: str, totals: Totals, kept: int | None) -> str:
    """A sentence about answers that are gone from the file of the run of that name; see `RunFolder.lack`."""
    # The manifest of an imported run does not say how long the file was.
    size = answers.stat().st_size if answers.is_file() else 0
    if totals.bytes <= size and (totals.bytes or kept is None or totals.kept <= kept):
        return ""
    if kept is not None and kept >= totals.kept:
        return f"{answers}: is shorter than the run left it, though it has as many answers; restore the file."
    fewer = f"{totals.kept - kept:,} of {totals.kept:,} answers are" if kept is not None else "answers are"
    return (
        f"{answers}: {fewer} gone since the run was left; restore the file, or have them asked again with: "
        f"genaipa run --resume {name}"
    )


def damage(folder: RunFolder) -> Iterator[Damage]:
    """Everything in a run folder that is not as it was written; reads all of it."""
    try:
        manifest = folder.manifest()
    except GenaipaError:
        return  # told by whoever checks the manifest
    if other := folder.sum_differs() or folder.copy_differs():
        yield Damage(folder.path / "manifest.json", "", other)
    yield from _records(folder, manifest)
    yield from _documents(folder, manifest)
    yield from _files(folder, manifest)


def _files(folder: RunFolder, manifest: Manifest) -> Iterator[Damage]:
    for name, digest in _kept_files(folder, manifest).items():
        path = folder.path / name
        try:
            content = path.read_bytes()
        except OSError as error:
            yield Damage(path, "", f"can't be read ({error.strerror}); restore the file.")
        else:
            if hashlib.sha256(content).hexdigest() != digest:
                yield Damage(path, "", "has changed since the run was made; restore the file.")


def _records(folder: RunFolder, manifest: Manifest) -> Iterator[Damage]:
    documents = {name: facts.digest for name, facts in manifest.documents.items()}
    path, withheld = folder.answers, folder.is_withheld
    kept, of = dict[str, int](), set[str]()
    try:
        for number, (_, record) in enumerate(folder.entries(Record), 1):
            if record.started:  # an import knows the beginning of some conversations at most
                of.add(record.conversation)
            if problem := flaw(record, documents, withheld=withheld):
                yield Damage(path, f"line {number}", f"was changed: {problem}; restore the file.")
            elif record.kind == "answer" and record.status != "failed":
                if record.key in kept:
                    yield Damage(
                        path, f"line {number}", f"answers what line {kept[record.key]} does; restore the file."
                    )
                kept[record.key] = number
    except GenaipaError:
        return  # a line that is no record is told by whoever checks the lines
    if len(kept) < manifest.totals.kept:
        lost = f"has {len(kept):,} of the {manifest.totals.kept:,} answers that the run had; restore the file."
        yield Damage(path, "", lost)
    if folder.conversations_file.is_file():
        with contextlib.suppress(GenaipaError):  # as above
            if gone := of - {one.id for one in folder.conversations()} - {""}:
                lacks = f"lacks {number_of(len(gone), 'conversation')}; restore the file."
                yield Damage(folder.conversations_file, "", lacks)


def _is_as_noted(document: Document, facts: DocumentFacts, *, withheld: bool) -> bool:
    """Tell whether a line's document is the one that the run notes, in everything that is noted of it."""
    line, left_out = DocumentFacts.of(document), withheld and not document.text
    if left_out:
        line = replace(line, digest=facts.digest)
    if not document.about.language and (left_out or not facts.language):
        line = replace(line, language=facts.language)  # detected in the text, perhaps by other rules than today's
    return line == facts


def _documents(folder: RunFolder, manifest: Manifest) -> Iterator[Damage]:
    """Lines of a run of a corpus that are not as their digests say; a pack leaves texts out."""
    kept = KeptDocuments(folder.path)
    try:
        for name, facts in manifest.documents.items() if kept else ():
            if name not in kept or not _is_as_noted(kept[name], facts, withheld=folder.is_withheld):
                yield Damage(kept.path, name, "has changed since the run was made; restore the file.")
    except GenaipaError as error:
        yield Damage(kept.path, "", f"can't be read ({error})")
    lines = KeptIntroductions(folder.path)
    for digest in lines:
        if hashlib.sha256(lines.content(digest)).hexdigest() != digest:
            yield Damage(lines.path, digest[:12], "has changed since the run was made; restore the file.")


def _kept_files(folder: RunFolder, manifest: Manifest) -> dict[str, str]:
    """Path in the folder → SHA-256 of every file that the folder has to have and whose digest was kept.

    A pack leaves texts out, and words of questions and annotated answers; it has digests of its own.
    """
    # Of a task or a suite of a user's own there is also the digest of its code, which is not in the folder.
    tasks = manifest.digests.task.items() if kind_of(manifest.spec.kind).keeps else ()
    known = {name: digest for name, digest in tasks if name != manifest.spec.task}
    if not (folder.path / DOCUMENTS).is_file():
        known |= {f"documents/{facts.digest}.txt": facts.digest for facts in manifest.documents.values()}
    for kind, ending in (("prompts", ".jinja"), ("questions", ".yaml"), ("annotations", ".yaml")):
        known |= {f"{kind}/{name}{ending}": digest for name, digest in getattr(manifest.digests, kind).items()}
    try:
        begun = [conversation for _, conversation in journal.read(folder.conversations_file, ConversationRecord)]
    except GenaipaError:
        begun = []  # told by whoever checks the lines
    lines = KeptIntroductions(folder.path)
    known |= {
        f"introductions/{one.introduction}.json": one.introduction
        for one in begun
        if one.introduction and one.introduction not in lines
    }
    if not folder.is_withheld:
        return known
    whole = ("documents/", "introductions/", "prompts/")
    return {name: kept for name, kept in known.items() if name.startswith(whole) and (folder.path / name).exists()}
