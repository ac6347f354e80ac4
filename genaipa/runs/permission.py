"""Permission to pass on a run, by the licenses of its texts and the authors of its systems' replies.

A pack, an export and the page of a report ask here, so that a text that one leaves out is not in the other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import DataError
from genaipa.files.strict_yaml import read_yaml
from genaipa.kinds import find_kind_or_placeholder
from genaipa.questions.annotations import Annotations
from genaipa.questions.sets import QuestionSet
from genaipa.runs.documents import KeptDocuments
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import LEFT_OUT, MANIFEST
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.runs.selection import list_all_slices_including_this_run
from genaipa.systems.base import Passage
from genaipa.systems.provider import find_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from genaipa.runs.records import Manifest, Record
    from genaipa.systems.base import Words


def license_allows_redistribution(license: str) -> bool:  # noqa: A002 - what it is called in every file
    """Tell whether a license, as it is stated beside a text, lets the text be passed on; silence does not."""
    terms = license.strip().casefold()
    return bool(terms) and not any(no in terms for no in ("not redistributable", "not stated", "all rights reserved"))


class SharingPermission:
    """The texts and replies of one run that may be passed on.

    `documents` are the names of those whose text may not be, `restricted_questions` those about which the questions
    that were asked may not be, `restricted_files` the files of the run folder (question sets, annotated answers) whose
    words may not be. `items` tells whether what its kind of task is made of may be. `licenses` are the licenses of the
    texts that may be, `license_by_file` those of all files of the run folder that state one, empty where they don't.

    A `whole` one holds nothing back: for somebody who has the texts anyway. A DataError for a manifest that was
    changed, since its licenses and authors decide.
    """

    def __init__(self, folder: RunFolder, manifest: Manifest, *, whole: bool = False) -> None:
        if not whole and (changed := folder.describe_manifest_changed_since_written()):
            raise DataError(folder.path / MANIFEST, changed)
        self._folder, self._manifest, self._whole = folder, manifest, whole
        self.items = whole or find_kind_or_placeholder(manifest.spec.kind).is_redistributable(manifest.spec.plan)
        licenses = dict(_read_file_paths_and_licenses(folder.path, "questions", QuestionSet))
        licenses |= _read_file_paths_and_licenses(folder.path, "annotations", Annotations)
        every = {*licenses.values(), *(facts.license for facts in manifest.documents.values())}
        self.licenses = sorted(filter(license_allows_redistribution, every))
        self.license_by_file = licenses
        closed = (
            name for name, facts in manifest.documents.items() if not license_allows_redistribution(facts.license)
        )
        self.restricted_documents = set() if whole else set(closed)
        self.restricted_files = (
            set() if whole else {path for path, terms in licenses.items() if not license_allows_redistribution(terms)}
        )
        plan = get_plan_if_procedure_run(manifest.spec)
        question_sets = plan.questions if plan else {}
        self.restricted_questions = {
            name for name in question_sets if f"questions/{question_sets[name]}.yaml" in self.restricted_files
        }
        self._words = {name: classify_origin_of_reply_words(manifest, name) for name in manifest.spec.systems}

    def may_share_reply(self, system: str, document_name: str) -> bool:
        """Tell whether a system's replies about a document may be passed on: what is its own, or freely licensed.

        Where nothing says whose words a system's replies are, they are taken for the document's.
        """
        words = self._words.get(system, "")
        return (
            self._whole or words == "own" or (words != "recording" and document_name not in self.restricted_documents)
        )

    def list_withheld_system_document_pairs(self) -> list[tuple[str, str]]:
        """Return (system, document) of all replies that may not be passed on, in the order of the plan."""
        return [
            (system, document)
            for system in self._manifest.spec.systems
            for document in self._manifest.documents
            if not self.may_share_reply(system, document)
        ]

    def redact_record(self, record: Record, is_withheld_text: Callable[[str], bool]) -> Record:
        """Return a record without a question or introduction in others' words, and without a reply that quotes them.

        `is_withheld_text` tells whether a passage is of a text that is left out.
        """
        introduces = record.kind != "answer" and record.document in self.restricted_documents
        if introduces or record.document in self.restricted_questions:
            record = replace(record, asked=LEFT_OUT)
        if record.passages and self.has_withheld_passages(record, is_withheld_text):
            record = replace(record, passages=(Passage(LEFT_OUT),) * len(record.passages))
        if not self.may_share_reply(record.system, record.document):
            record = replace(record, reply=None, thoughts="")
        return record

    def has_withheld_passages(self, record: Record, is_withheld_text: Callable[[str], bool]) -> bool:
        """Tell whether passages of an answer may be of a text that is left out; all of them are quotations."""
        return record.document in self.restricted_documents or any(
            is_withheld_text(passage.text) for passage in record.passages
        )

    def may_share_annotations(self, document_name: str) -> bool:
        """Tell whether the words of a document's annotated answers may be passed on; False where there are none."""
        file = f"annotations/{document_name}.yaml"
        return file not in self.restricted_files and (self._folder.path / file).is_file()


def find_withheld_documents_of_study(slice_folder: RunFolder) -> dict[str, KeptDocuments]:
    """Return the documents of a slice's whole study whose text may not be passed on, by name, with what keeps them.

    None of a run that is no slice.
    """
    return (
        _find_withheld_documents_of_slices(
            tuple(sibling.path for sibling in list_all_slices_including_this_run(slice_folder))
        )
        if slice_folder.read_manifest_head().slice
        else {}
    )


@lru_cache(maxsize=2)
def _find_withheld_documents_of_slices(slice_paths: tuple[Path, ...]) -> dict[str, KeptDocuments]:
    slices = [(folder, SharingPermission(folder, folder.manifest())) for folder in map(RunFolder, slice_paths)]
    return {
        name: KeptDocuments(folder.path) for folder, permission in slices for name in permission.restricted_documents
    }


def _read_file_paths_and_licenses(
    run_path: Path, subfolder: str, record_type: type[QuestionSet | Annotations]
) -> Iterator[tuple[str, str]]:
    """Yield (path in a run folder, its license) of all files of one kind."""
    for path in (run_path / subfolder).glob("*.yaml"):
        yield f"{subfolder}/{path.name}", read_yaml(path, record_type).license


def classify_origin_of_reply_words(manifest: Manifest, system: str) -> Words:
    """Return the author of the replies of a system of this run; empty where nothing says it.

    Under whatever name it was asked: what counts is what the run notes of the system, unless what it stood for quotes;
    in the manifest of an earlier genaipa, which notes nothing, also what the name stands for.
    """
    facts = manifest.systems.get(system)
    noted, model = (facts.words, facts.model) if facts else ("", "")
    identity = manifest.digests.systems.get(system, "").partition(" ")[0]
    names = (identity, model) if noted else (system, identity, model)
    authors = {noted, *(provider.words for name in names if (provider := find_provider(name)))}
    for words in ("recording", "document"):
        if words in authors:
            return words
    if noted:
        return noted
    model_name = model or identity
    provider = find_provider(model_name)
    return "own" if provider and ("/" in model_name or provider.builtin) else ""
