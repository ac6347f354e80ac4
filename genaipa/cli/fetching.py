"""Published documents that a command names are pulled when they are not here yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.workspace import Workspace


def pull_missing(workspace: Workspace, documents: tuple[str, ...], *, offline: bool) -> None:
    """Pull the published documents among these that are not here, saying so; a UsageError if `offline` forbids it."""
    from genaipa.datasets.base import offering
    from genaipa.policies.document import document_names

    here = document_names(workspace)
    for name in documents:
        dataset = None if name in here else offering(name)
        if dataset is None:
            continue
        if offline:
            raise UsageError(
                f"'{name}' is not here, and --offline forbids fetching it; "
                f"run 'genaipa pull {dataset.name}' once, or 'genaipa pull {dataset.name} --from FOLDER'."
            )
        from genaipa.cli.console import say
        from genaipa.cli.pull import pull_shown

        missing = [other for other in documents if other in dataset.documents and other not in here]
        say(f"{', '.join(missing)}: not here yet, pulling the published {dataset.title} documents (once)")
        pull_shown(dataset)
