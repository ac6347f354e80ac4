"""What moved between two columns of the view: the pairs of answers, those that moved most first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.answers import join_follow_up_with_earlier_question
from genaipa.reports.moved import (
    AnswerPairsByMovement,
    AnswerScores,
    ComparedAnswerPair,
    find_answer_side_and_citations,
    sort_answer_pairs_by_movement,
)
from genaipa.systems.provider import shorten_system_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.moved import AnswerSideAndCitations
    from genaipa.ui.view.index import AnswerIndex, IndexedAnswer

MOST = 2000
"""Pairs of answers that are looked at; more would take longer than anybody waits for a page."""


class ColumnComparer:
    """The movements between columns of an index; each answer is read once."""

    def __init__(self, index: AnswerIndex) -> None:
        self.index = index
        self._facts: dict[tuple[int, int], tuple[str, AnswerSideAndCitations] | None] = {}

    def compare_columns(self, row_numbers: Iterable[int], column_names: tuple[str, str]) -> AnswerPairsByMovement:
        """Return the movement from the first column to the second in these rows, as far as both answered."""
        short = shorten_system_names(column_names)
        labels = short[column_names[0]], short[column_names[1]]
        pairs = []
        for row_number in row_numbers:
            key, cells = self.index.rows[row_number]
            facts = [
                self._read_question_and_facts(cells[name])
                for name in column_names
                if name in cells and cells[name].status != "failed"
            ]
            first, second = facts if len(facts) == len(column_names) else (None, None)
            if first is not None and second is not None:
                pairs.append(ComparedAnswerPair(key[1], first[0], key[0], first[1], second[1], labels, row_number))
        return sort_answer_pairs_by_movement(pairs, labels)

    def _read_question_and_facts(self, cell: IndexedAnswer) -> tuple[str, AnswerSideAndCitations] | None:
        """Read what an answer was asked, and the facts about it; None if it can't be read."""
        scores = self.index.get_scores(cell)
        location = cell.run, cell.place
        if location not in self._facts:
            record, inputs = self.index.read_record(cell), self.index.inputs[cell.run]
            answer_scores = AnswerScores(scores.people, scores.judges)
            self._facts[location] = (
                (
                    join_follow_up_with_earlier_question(
                        inputs.question_in_wording_of_set(record), inputs.earlier_question_or_empty(record)
                    ),
                    find_answer_side_and_citations(record, inputs, answer_scores),
                )
                if record
                else None
            )
        return self._facts[location]
