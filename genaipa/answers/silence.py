"""Whether a reply says that the document is silent, or that it is unknown, or says nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.answers.fact import Column, Fact
from genaipa.scoring.evidence.abstention import classify_whether_silence_is_claimed

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead


class ClaimedSilence(Fact):
    """The stance of a reply (`scoring.evidence.abstention`)."""

    name = "silence"
    columns = {
        "claims_silence": Column(
            "category",
            "yes or no: whether the reply begins by saying that the document is silent; abstains if it says instead "
            "that it does not know the document; none if it is empty, was refused, or refuses in words (found by "
            "rules)",
            values=("yes", "no", "abstains", "none"),
        )
    }
    texts = frozenset({"reply"})

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:
        """Find the stance; nothing about a document in a language without rules."""
        if record.reply is None and record.status != "refused":
            return {}
        return {
            "claims_silence": classify_whether_silence_is_claimed(
                record.reply or "", run.language_code_of_document(record.document), record.status
            )
        }

    def cache_key_beside_answer_digest(self, run: RunInputs, record: MeasuredRecordHead) -> tuple[str, str]:
        """Return the language, whose rules are used, and the status."""
        return run.language_code_of_document(record.document), record.status
