"""Groups of documents, by a column of their corpus or of their metadata: where reports tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import UsageError, nearest
from genaipa.policies.corpus_rows import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.runs.records import DocumentFacts
    from genaipa.runs.selection import Source

NONE = "(none)"
"""The group of documents without a value in the column."""


class Groups(NamedTuple):
    """The groups in a column (`by`), as document → group."""

    by: str
    of: dict[str, str]


def groups_of(sources: Iterable[Source], by: str) -> Groups:
    """The groups of these runs' documents in a column; a UsageError for one that none of them has."""
    documents: dict[str, DocumentFacts] = {}
    for source in sources:
        for name, facts in source.manifest.documents.items():
            documents.setdefault(name, facts)
    known = {name for facts in documents.values() for name in facts.groups}
    known |= {name for name in FACTS if any(getattr(facts, name) for facts in documents.values())}
    if by not in known:
        raise UsageError(f"no document of these runs has a column '{by}'{nearest(by, known)}")
    return Groups(by, {name: _group(facts, by) or NONE for name, facts in documents.items()})


def _group(facts: DocumentFacts, by: str) -> str:
    return str(getattr(facts, by)) if by in FACTS else facts.groups.get(by, "")
