"""The document that a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.workspace import Workspace


def named_document(workspace: Workspace, name: str) -> Document:
    """The document of that name; a UsageError that says how to get it if it is a published one that isn't here."""
    from genaipa.datasets.base import offering
    from genaipa.policies.document import document_names, load_document

    if name not in document_names(workspace) and (dataset := offering(name)):
        raise UsageError(f"'{name}' is published, but not here yet; fetch it with: genaipa get {dataset.name}")
    return load_document(name, workspace)
