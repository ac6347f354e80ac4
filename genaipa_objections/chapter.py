"""How many objections to annotated answers there are: a chapter of a report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker
from genaipa.reports.table import Table, make_table
from genaipa.scoring.objections import collect_objections_even_withdrawn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.scoring.events import Event
    from genaipa.scoring.objections import Status

_STATES: tuple[Status, ...] = ("open", "accepted", "rejected")
"""States of objections to annotated answers, beside withdrawn ones."""


class ObjectionsChapter(ChapterMaker):
    """The objections that were made beside the answers of a report."""

    needs_scores = True
    after = "silent"

    def make(self, study: Study, _scope: FigureScope) -> Chapter | None:
        """Make the chapter; None where there is no objection."""
        counts = tabulate_objections_by_document(study.log.counted)
        if not counts:
            return None
        return Chapter(
            "objections",
            "Objections to annotated answers",
            "Objections of analysts who found an annotated answer wrong, each with the passage that proves it.",
            [counts],
        )


def tabulate_objections_by_document(events: Iterable[Event]) -> Table:
    """Count the objections to annotated answers by document and state; nothing where there is none."""
    objections = [
        objection for objection in collect_objections_even_withdrawn(events) if objection.status != "withdrawn"
    ]
    documents = sorted({objection.objection.document for objection in objections})
    counts = Counter((objection.objection.document, objection.status) for objection in objections)
    columns = ["document", *_STATES]
    data = pd.DataFrame([[name, *(counts[name, state] for state in _STATES)] for name in documents], columns=columns)
    return make_table(
        "objections",
        "Objections to annotated answers",
        "Objections of analysts who scored these answers: each says that an annotated answer is wrong and quotes "
        "the passage that proves it. An adjudicator accepts or rejects an objection; until then it is open. The "
        "annotated answers remain in effect until a correction is exported and applied.",
        data,
        columns,
    )
