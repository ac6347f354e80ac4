"""What retrieval adds to the data sheet of a human evaluation (HEDS 3.0, by its questions' numbers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.systems.provider import find_provider
from genaipa.systems.rag import RagSystem
from genaipa.words import format_count, join_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from genaipa.answers.study import Study
    from genaipa.reports.table import Table
    from genaipa.workspace import Workspace

_LISTED = 20
"""Names that a sentence lists."""


def describe_passages_for_data_sheet(
    _workspace: Workspace, study: Study, _tables: Mapping[str, Table]
) -> Iterator[tuple[str, str, str]]:
    """Yield (number of a question, sentence, the records that it follows from) of `rag/SYSTEM`'s passages.

    Of other systems nobody knows whether passages were sent or quoted.
    """
    if "passages" not in study.answers:
        return
    retrieving = {
        (source.folder.name, name)
        for source in study.sources
        for name, facts in source.manifest.systems.items()
        if find_provider(facts.model or name) is RagSystem.provider
    }
    # Without the document in the conversation there is nothing to retrieve, and passages are the reader's own.
    replies = study.answers[(study.answers["passages"] > 0) & (study.answers["initialization"] == "document")]
    runs_and_systems = zip(replies["run"].astype(str), replies["system"].astype(str), strict=True)
    replaced = replies.loc[[run_and_system in retrieving for run_and_system in runs_and_systems]]
    if systems := sorted(map(str, replaced["system"].unique())):
        sentence = (
            f"For {format_count(len(replaced), 'reply', 'replies')} of {join_some(systems, _LISTED)}, passages stood "
            "in the place of the document's text."
        )
        yield "2.1", sentence, "study.zip: runs/*/answers.jsonl (passages)"
