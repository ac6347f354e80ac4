"""Permission to pass on a run, by the licenses of its texts and the authors of its systems' replies.

A pack and the page of a report ask here, so that a text that one leaves out is not in the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.files.strict_yaml import read_yaml
from genaipa.kinds import kind_of
from genaipa.questions.annotations import Annotations
from genaipa.questions.sets import QuestionSet
from genaipa.systems.provider import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest
    from genaipa.systems.base import Words


def may_be_passed_on(license: str) -> bool:  # noqa: A002 - what it is called in every file
    """Whether a license, as it is stated beside a text, lets the text be passed on; silence does not."""
    said = license.strip().casefold()
    return bool(said) and not any(no in said for no in ("not redistributable", "not stated", "all rights reserved"))


class Permission:
    """The texts and replies of one run that may be passed on.

    `documents` are the names of those whose text may not be, `unasked` those about which the questions that were
    asked may not be, `worded` the files of the run folder (question sets, annotated answers) whose words may not be.
    `items` tells whether what its kind of task is made of may be.
    """

    def __init__(self, folder: RunFolder, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self.items = kind_of(manifest.spec.kind).may_pass_on(manifest.spec.plan)
        self.documents = {name for name, facts in manifest.documents.items() if not may_be_passed_on(facts.license)}
        self.worded = set(_closed(folder.path, "questions", QuestionSet))
        for _, part in folder.parts():
            self.worded |= set(_closed(part.path, "annotations", Annotations))
        asked = manifest.spec.plan.questions
        self.unasked = {name for name in asked if f"questions/{asked[name]}.yaml" in self.worded}
        self._words = {name: whose_words(manifest, name) for name in manifest.spec.systems}

    def reply(self, system: str, document: str) -> bool:
        """Whether a system's replies about a document may be passed on: what is its own, or freely licensed.

        Where nothing says whose words a system's replies are, they are taken for the document's.
        """
        words = self._words.get(system, "")
        return words == "own" or (words != "recording" and document not in self.documents)

    def held_back(self) -> list[tuple[str, str]]:
        """(system, document) of all replies that may not be passed on, in the order of the plan."""
        spec = self._manifest.spec
        return [
            (system, document)
            for system in spec.systems
            for document in spec.plan.documents
            if not self.reply(system, document)
        ]

    def annotated(self, document: str) -> bool:
        """Whether the words of a document's annotated answers may be passed on; False where there are none."""
        file = f"annotations/{document}.yaml"
        return file not in self.worded and (self._folder.near(document).path / file).is_file()


def _closed(folder: Path, kind: str, form: type[QuestionSet | Annotations]) -> Iterator[str]:
    """Paths in a run folder of all files of one kind whose words may not be passed on."""
    for path in (folder / kind).glob("*.yaml"):
        if not may_be_passed_on(read_yaml(path, form).license):
            yield f"{kind}/{path.name}"


def whose_words(manifest: Manifest, system: str) -> Words:
    """The author of the replies of a system of this run; empty where nothing says it.

    Under whatever name it was asked: what counts is what the run notes of the system, and in the manifest of an
    earlier genaipa, which doesn't note it, what the name stood for.
    """
    facts = manifest.systems.get(system)
    if facts is not None and facts.words:
        return facts.words
    model = facts.model if facts else ""
    identity = manifest.digests.systems.get(system, "").partition(" ")[0]
    stood_for = {provider.words for name in (system, identity, model) if (provider := find_provider(name))}
    for words in ("recording", "document"):
        if words in stood_for:
            return words
    meant = model or identity
    provider = find_provider(meant)
    return "own" if provider and ("/" in meant or provider.builtin) else ""
