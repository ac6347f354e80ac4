"""What retrieval adds to the data sheet of a human evaluation (HEDS 3.0, by its questions' numbers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Yield (number of a question, sentence, the records that it follows from) of systems that gave passages."""
    if "passages" not in study.answers:
        return
    with_passages = study.answers[study.answers["passages"] > 0]
    if systems := sorted(map(str, with_passages["system"].unique())):
        sentence = (
            f"With {format_count(len(with_passages), 'reply', 'replies')} of {join_some(systems, _LISTED)}, passages "
            "that came with it are recorded."
        )
        yield "2.1", sentence, "study.zip: runs/*/answers.jsonl (passages)"
