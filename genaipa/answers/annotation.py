"""Whether a document is silent on a question by its annotated answer, and whether a correction changed that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.fact import Column, Fact

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs


class AnnotatedSilence(Fact):
    """The annotated answer's silence, by which an answer that claims silence is right or wrong."""

    name = "annotation"
    columns = {
        "silent": Column(
            "category",
            "yes, partly or no: whether the annotated answer says that the document is silent; empty if unknown",
            values=("yes", "partly", "no"),
        ),
        "corrected": Column(
            "category",
            "yes if corrections are applied and change the annotated answer; otherwise empty",
            values=("yes",),
        ),
    }

    def read_row_of_question(self, run: RunInputs, document: str, question: str) -> Row:
        """Read the annotated answer, with its correction where corrections are applied."""
        annotated, _ = run.inputs.annotated_answer_and_part_set_name(document, question)
        corrected = ""
        if run.corrected:
            original = annotated
            annotated, _ = run.inputs.annotated_answer_and_part_set_name(document, question, corrected=True)
            corrected = "yes" if annotated != original else ""
        return {"silent": annotated.silent if annotated else "", "corrected": corrected}
