"""Published documents that a command names are pulled when they are not here yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.workspace import Workspace


def pull_missing(workspace: Workspace, documents: tuple[str, ...], *, offline: bool) -> None:
    """Pull the published documents among these that are not here, saying so; a UsageError if `offline` forbids it."""
    from genaipa.datasets.genaipabench.pull import would_provide
    from genaipa.policies.document import document_names

    here = document_names(workspace)
    missing = [name for name in documents if name not in here and would_provide(name)]
    if not missing:
        return
    if offline:
        raise UsageError(
            f"'{missing[0]}' is not here, and --offline forbids fetching it; "
            "run 'genaipa pull genaipabench' once, or 'genaipa pull genaipabench --from FOLDER'."
        )
    from genaipa.cli.console import say
    from genaipa.cli.pull import pull_published

    say(f"{', '.join(missing)}: not here yet, pulling the published GenAIPABench documents (once)")
    pull_published(origin=None, offline=False)
