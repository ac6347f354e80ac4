"""`shards.jsonl` of a run of shards: a line for each, its documents and the orders of their questions."""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, why
from genaipa.runs.records import DocumentFacts

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.runs.records import Shards

PLANS = "shards.jsonl"


class ShardPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of `shards.jsonl`: the documents of a shard, the question set of each, and the orders of its questions."""

    documents: dict[str, DocumentFacts]
    questions: dict[str, str]
    orders: dict[str, tuple[str, ...]]
    annotations: dict[str, str] = {}
    """The digests of the documents' annotated answers."""


class ShardPlans:
    """The plans of all shards, read from the file when they are wanted; a DataError if it can't be read.

    `shards` is what the run's manifest says of them.
    """

    def __init__(self, folder: Path, shards: Shards | None) -> None:
        self.path, self._shards = folder / PLANS, shards

    @cached_property
    def _lines(self) -> list[int]:
        """The byte offset of each line, and of the end."""
        try:
            with self.path.open("rb") as file:
                found = list(accumulate(map(len, file), initial=0))
        except OSError as error:
            raise self._lost(error) from None
        if self._shards is not None and self._shards.number != len(found) - 1:
            raise self._other(f"it has {len(found) - 1:,} lines for {self._shards.number:,} shards")
        return found

    def _lost(self, error: Exception) -> DataError:
        return DataError(
            self.path, f"can't be read ({why(error)}); restore it: the folders beside it hold the answers."
        )

    def _other(self, how: str) -> DataError:
        return DataError(self.path, f"is not as the run began it ({how}); restore the file.")

    def __len__(self) -> int:
        """The number of shards."""
        return len(self._lines) - 1

    def __getitem__(self, index: int) -> ShardPlan:
        try:
            with self.path.open("rb") as file:
                file.seek(self._lines[index])
                return msgspec.json.decode(file.readline(), type=ShardPlan)
        except (OSError, *DAMAGE) as error:
            raise self._lost(error) from None

    @cached_property
    def whole(self) -> ShardPlan:
        """The maps by document of all shards; a DataError if they are not those with which the run began."""
        self.check()
        whole = ShardPlan({}, {}, {}, {})
        for index in range(len(self)):
            plan = self[index]
            whole.documents.update(plan.documents)
            whole.questions.update(plan.questions)
            whole.orders.update(plan.orders)
            whole.annotations.update(plan.annotations)
        return whole

    @cached_property
    def _of(self) -> dict[str, int]:
        return {name: index for index in range(len(self)) for name in self[index].documents}

    def index(self, document: str) -> int:
        """The number of the shard that asks about a document; a DataError if none does."""
        if document not in self._of:
            raise DataError(self.path, f"knows no document '{document}'.")
        return self._of[document]

    def check(self) -> None:
        """Raise a DataError if the file is not as the run began it."""
        try:
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._lost(error) from None
        if self._shards is not None and self._shards.plans != found:
            raise self._other("its digest is another")
