"""Whether a reply's citations of the document name something that is there, of systems asked on several days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.fact import Column, Fact
from genaipa.languages.catalog import LANGUAGES

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead


class ExistingCitationShare(Fact):
    """The share of citations that can be resolved (`scoring.evidence.resolution`)."""

    name = "citations"
    columns = {
        "cites_there": Column(
            "float64",
            "share of its citations of this document that refer to something in it (found by rules); empty if there "
            "are none, and for systems that were not asked the same questions on several days",
        )
    }
    texts = frozenset({"reply", "document"})

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:
        """Resolve the citations; nothing without any, or in a language without rules."""
        document = run.document_or_none_if_lost(record.document) if record.system in run.repeated else None
        rules = LANGUAGES.get(document.language) if document else None
        if document is None or record.reply is None or rules is None or rules.citations is None:
            return {}
        from genaipa.scoring.evidence.resolution import (
            find_and_resolve_citations,  # its expressions take long to compile
        )

        named = find_and_resolve_citations(
            record.reply,
            document,
            run.inputs.spans_of_document_parts_given(record),
            system_had_summary=_was_asked_about_summary(record),
        )
        missing = [reference.missing for reference in named if not reference.outside]
        return {"cites_there": 1 - sum(missing) / len(missing)} if missing else {}

    def cache_key_beside_answer_digest(self, run: RunInputs, record: MeasuredRecordHead) -> tuple[object, ...] | None:
        """Return the document's name and the parts in which the system had it."""
        if record.system not in run.repeated:
            return None
        return record.document, run.inputs.spans_of_document_parts_given(record), _was_asked_about_summary(record)


def _was_asked_about_summary(record: MeasuredRecordHead) -> bool:
    return record.coordinates["initialization"].startswith("summary")
