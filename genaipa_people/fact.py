"""Who wrote an answer, as a fact about it: a sign that tells people apart, and no name."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from genaipa.answers.fact import Column, Fact
from genaipa.runs.authors import normalize_person_name, read_authorships

if TYPE_CHECKING:
    from genaipa.answers.fact import Row, RunInputs
    from genaipa.runs.records import MeasuredRecordHead


class AuthorFact(Fact):
    """The person who wrote the answer."""

    name = "authors"
    columns: ClassVar = {
        "author": Column("category", "a pseudonym of the person who wrote the answer, the same in all runs"),
    }

    def read_row_of_answer(self, run: RunInputs, record: MeasuredRecordHead) -> Row:
        """Read the sign; nothing of an answer that no person wrote."""
        sign = run.compute_once(_map_keys_and_digests_to_author_hashes).get((record.key, record.digest))
        return {"author": sign} if sign else {}


def _map_keys_and_digests_to_author_hashes(run: RunInputs) -> dict[tuple[str, str], str]:
    """Return (key, digest) → the sign of the author, of a run's answers."""
    return {
        (authorship.key, authorship.answer): hashlib.sha256(
            f"author\0{normalize_person_name(authorship.author)}".encode()
        ).hexdigest()[:8]
        for authorship in read_authorships(run.inputs.folder)
    }
