"""Counts of the passages that a system gave with an answer, and of the right sections that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec
import pandas as pd

from genaipa.answers.fact import UNASKED, Column, Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead
    from genaipa.systems.base import Passage
    from genaipa_retrieval.counts import PassageCounter

_MEANINGS = {
    "passages": "passages that the system gave with the answer; empty, like the next seven columns, if the "
    "system gave no passages with any answer of the run or its study",
    "passages_annotated": "passages that contain a sentence of the sections that the annotated answer is based on",
    "passages_elsewhere": "passages that are not in this document",
    "passages_other": "passages not in this document that are in another document of the run or its study (of the "
    "first 320 documents by name)",
    "sections": "sections that the annotated answer is based on",
    "sections_shown": "sections of which the passages include a sentence that supports the annotated "
    "answer or its points",
    "shown_at": "the number of passages after which the first of these sections has been shown; 0 if none was shown",
    "quotes": "1 if at least half of the reply's words come from its passages, else 0",
}


class Passages(Fact):
    """The retrieved passages of an answer (`counts`)."""

    name = "passages"
    columns: ClassVar = {name: Column("float64", meaning) for name, meaning in _MEANINGS.items()}
    texts = frozenset({"reply", "passages", "document", "annotation"})

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:
        """Count the passages of an answer that has any; what a model cites was not retrieved."""
        passages = [passage for passage in record.passages if not passage.cited]
        return (
            self._count_passages(run, record.document, record.question, passages, record.reply or "")
            if passages
            else {}
        )

    def compute_across_answers(self, run: RunInputs, answers: pd.DataFrame) -> pd.DataFrame | None:
        """Count the answers without passages of systems that gave some with others: they retrieved nothing."""
        retrieving_systems = answers.loc[answers["passages"] > 0, "system"].unique()
        in_this_run = answers["run"] == run.inputs.folder.name
        retrieved = in_this_run & answers["system"].isin(retrieving_systems) & ~answers["status"].isin(UNASKED)
        empty = answers[retrieved & answers["passages"].isna()]
        places = zip(empty.index, empty["document"], empty["question"], strict=True)
        rows = {row: self._count_passages(run, document, question) for row, document, question in places}
        return pd.DataFrame.from_dict(rows, orient="index")

    def _count_passages(
        self, run: RunInputs, document_name: str, question: str, passages: Sequence[Passage] = (), reply: str = ""
    ) -> Row:
        counts = run.compute_once(make_passage_counter).count_passages_if_document_readable(
            document_name, question, passages, reply
        )
        return msgspec.structs.asdict(counts) if counts else {}


def make_passage_counter(run: RunInputs) -> PassageCounter:
    """Make what counts the passages of a run's answers."""
    from genaipa_retrieval.counts import PassageCounter  # its expressions take long to compile

    return PassageCounter(run.inputs, corrected=run.corrected)
