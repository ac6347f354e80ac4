"""The frame of answers, and the narrow table that joins it with scores, made of rows as they are read."""

from __future__ import annotations

from array import array
from itertools import repeat
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genaipa.answers.fact import fact_columns
from genaipa.answers.tidy import (
    ORDERED,
    append_published_scores,
    attach_metric_display_names,
    convert_column_types,
    convert_to_category,
    convert_to_plain_type_filling_missing,
    plain_texts,
    set_m_all_and_counted_columns,
)
from genaipa.scoring.columns import ANSWER, IN_TABLE, OVERALL, SCORER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from genaipa.scoring.columns import ColumnKind
    from genaipa.scoring.rubric import Rubric

    _Codes = NDArray[np.int32]


class _TextColumn:
    """One column of texts: each different one once, and a code for each row; -1 where there is none."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.codes = array("i")

    def put(self, row: int, value: str) -> None:
        code = self.places.setdefault(value, len(self.places))
        if row == len(self.codes):
            self.codes.append(code)
        else:
            _extend_array_to_row(self.codes, row, -1)
            self.codes[row] = code

    def clear(self, row: int) -> None:
        if row < len(self.codes):
            self.codes[row] = -1

    def codes_padded_to_row_count(self, row_count: int) -> _Codes:
        _extend_array_to_row(self.codes, row_count - 1, -1)
        return np.array(self.codes, dtype="int32")


class _NumberColumn:
    """One column of numbers; NaN where there is none."""

    def __init__(self) -> None:
        self.values = array("d")

    def put(self, row: int, value: float) -> None:
        if row == len(self.values):
            self.values.append(value)
        else:
            _extend_array_to_row(self.values, row, nan)
            self.values[row] = value

    def clear(self, row: int) -> None:
        if row < len(self.values):
            self.values[row] = nan

    def values_padded_to_row_count(self, row_count: int) -> NDArray[np.float64]:
        _extend_array_to_row(self.values, row_count - 1, nan)
        return np.array(self.values)


def _extend_array_to_row(values: array[Any], row: int, fill_value: float) -> None:
    """Make an array long enough to have a row."""
    if row >= len(values):
        values.extend(repeat(fill_value, row + 1 - len(values)))


class ColumnarRows:
    """Rows on their way into a frame, column by column: a million of them as dictionaries take four times the memory.

    A column of which nothing is known is not there.
    """

    def __init__(self) -> None:
        self._columns: dict[str, _TextColumn | _NumberColumn] = {}
        self.count = 0

    @property
    def filled_columns(self) -> frozenset[str]:
        """The columns of which anything is known."""
        return frozenset(self._columns)

    def add_row(self, value_by_column: Mapping[str, Any]) -> int:
        """Add a row and return its number."""
        row = self.count
        self.count += 1
        self.update_row(row, value_by_column)
        return row

    def update_row(self, row: int, value_by_column: Mapping[str, Any]) -> None:
        """Set values of a row; None and empty texts are no values."""
        columns: dict[str, Any] = self._columns
        for name, value in value_by_column.items():
            if value is None or value == "":
                continue
            column = columns.get(name)
            if column is None:
                column = columns[name] = _TextColumn() if isinstance(value, str) else _NumberColumn()
            column.put(row, value)

    def clear_row(self, row: int) -> None:
        """Take a row's values away, before it is set anew."""
        for column in self._columns.values():
            column.clear(row)

    def codes_and_texts_of_column(self, name: str) -> tuple[_Codes, list[str]]:
        """Return a column's codes, -1 where there is no text, and the texts that these are of."""
        column = self._columns.get(name)
        if not isinstance(column, _TextColumn):
            return np.full(self.count, -1, dtype="int32"), []
        return column.codes_padded_to_row_count(self.count), list(column.places)

    def numbers_of_column(self, name: str) -> NDArray[np.float64]:
        """Return a column's numbers, NaN where there is none."""
        column = self._columns.get(name)
        return (
            column.values_padded_to_row_count(self.count)
            if isinstance(column, _NumberColumn)
            else np.full(self.count, nan)
        )


class StudyFrameBuilder:
    """The answers of all runs of a study, and the scores that studies published, on their way into frames."""

    def __init__(self) -> None:
        self._asked, self._talks, self._answers, self.published = (
            ColumnarRows(),
            ColumnarRows(),
            ColumnarRows(),
            ColumnarRows(),
        )
        self._asked_of, self._talk_of = array("i"), array("i")
        # No two are the same in a run: codes of them would save nothing.
        self._keys: list[str] = []

    @property
    def answer_count(self) -> int:
        """The number of answers."""
        return self._answers.count

    @property
    def filled_columns_of_answers_alone(self) -> frozenset[str]:
        """The columns of which anything is known of any answer."""
        return self._answers.filled_columns

    def add_question(self, value_by_column: Mapping[str, Any]) -> int:
        """Add what is known of a question about a document, whoever answers it, and return its number."""
        return self._asked.add_row(value_by_column)

    def add_conversation(self, value_by_column: Mapping[str, Any]) -> int:
        """Add what is known of a conversation, whatever it asks, and return its number."""
        return self._talks.add_row(value_by_column)

    def append_answer_row(
        self, key: str, question_row: int, conversation_row: int, value_by_column: Mapping[str, Any]
    ) -> int:
        """Add an answer, a failure, or a question that was not asked, and return its row."""
        self._keys.append(key)
        self._asked_of.append(question_row)
        self._talk_of.append(conversation_row)
        return self._answers.add_row(value_by_column)

    def replace_answer(self, row: int, value_by_column: Mapping[str, Any]) -> None:
        """Set another answer to the same question in place of one."""
        self._answers.clear_row(row)
        self._answers.update_row(row, value_by_column)

    def update_answer_columns(self, frame: pd.DataFrame) -> None:
        """Set values of answers, by the rows that are the frame's index."""
        for row, values in zip(frame.index, frame.to_dict("records"), strict=True):
            self._answers.update_row(int(row), {str(name): value for name, value in values.items() if value == value})  # noqa: PLR0124 - not NaN

    def build_answer_frame_from_row(self, first_row: int) -> pd.DataFrame:
        """Return the answers from a row on, with all that is known of them, for facts about several answers."""
        answers = self._build_answer_and_published_from_row(ORDERED, first_row)[0]
        return answers.set_axis(range(first_row, self.answer_count))

    @plain_texts
    def build_answer_and_published_score_frames(
        self, rubric: Rubric, value_orders: Mapping[str, Sequence[str]]
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the frame of answers, without facts of which nothing is known, and that of published scores.

        `value_orders` is the order of a column's values where it is not that of the alphabet (the questions of a set).
        """
        answers, published = self._build_answer_and_published_from_row({**ORDERED, **value_orders}, 0)
        for name, (kind, _) in {**SCORER, **OVERALL}.items():
            if kind == "category":
                texts = self.published.codes_and_texts_of_column(name)
                published[name] = _columns_with_shared_categories(
                    [texts], value_orders.get(name, ()), with_empty=self.answer_count > 0
                )[0]
            else:
                published[name] = convert_to_plain_type_filling_missing(
                    pd.Series(self.published.numbers_of_column(name)), kind
                )
        metrics = {metric: self.published.numbers_of_column(metric) for metric in rubric.metrics}
        return answers, published.assign(**metrics)

    def _build_answer_and_published_from_row(
        self, value_orders: Mapping[str, Sequence[str]], first_row: int
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        question_rows, talks = (np.array(codes[first_row:], dtype="int32") for codes in (self._asked_of, self._talk_of))
        facts = fact_columns()
        answers: dict[str, Any] = {}
        published: dict[str, Any] = {}
        for name in dict.fromkeys((*ANSWER, *facts)):
            rows = self._answers
            places: Any = slice(first_row, None)
            for of, row_numbers in ((self._asked, question_rows), (self._talks, talks)):
                if name in of.filled_columns:
                    rows, places = of, row_numbers
            in_table = name in ANSWER or name in IN_TABLE
            if not in_table and name not in rows.filled_columns:
                continue
            kind = ANSWER[name][0] if name in ANSWER else facts[name].kind
            below = self.published if in_table else ColumnarRows()
            if kind == "category":
                codes, texts = rows.codes_and_texts_of_column(name)
                categories = _columns_with_shared_categories(
                    [(codes[places], texts), below.codes_and_texts_of_column(name)], value_orders.get(name, ())
                )
                answers[name], published[name] = categories
            elif kind == "str":  # the key, which published scores have none of
                answers[name] = pd.Series(self._keys[first_row:], dtype="str").array
                published[name] = pd.Series([""] * below.count, dtype="str").array
            else:
                answers[name] = convert_to_plain_type_filling_missing(
                    pd.Series(rows.numbers_of_column(name)[places]), kind
                )
                published[name] = convert_to_plain_type_filling_missing(pd.Series(below.numbers_of_column(name)), kind)
        return pd.DataFrame(answers), pd.DataFrame({name: published[name] for name in (*ANSWER, *IN_TABLE)})


def _columns_with_shared_categories(
    columns: Sequence[tuple[_Codes, Sequence[str]]], first_values: Sequence[str], *, with_empty: bool = False
) -> list[pd.Categorical]:
    """Return columns of codes as categories that they share: `first_values` in its order, then the others sorted.

    An absent text is an empty one; `with_empty` has that among the categories in any case.
    """
    used = [{texts[code] if code >= 0 else "" for code in np.unique(codes)} for codes, texts in columns]
    order = {value: position for position, value in enumerate(first_values)}
    every = set().union(*used, [""] if with_empty else [])
    # Digests are as many as answers, and have no order of their own.
    categories = pd.Index(sorted(every, key=(lambda text: (order.get(text, len(order)), text)) if order else None))
    position = {text: number for number, text in enumerate(categories)}
    recoded = (
        np.array([*(position.get(text, -1) for text in texts), position.get("", -1)], dtype="int64")[codes]
        for codes, texts in columns
    )
    return [pd.Categorical.from_codes(codes, categories=categories) for codes in recoded]


@plain_texts
def build_score_table(
    answers: pd.DataFrame,
    published: pd.DataFrame,
    scores: Mapping[str, Sequence[Any]],
    rubric: Rubric,
    *,
    flag_excluded_as_counted: bool = False,
    value_orders: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Return the narrow table: answers joined with their scores, and published scores beneath them.

    `scores` has an entry for each score or adjudication in effect, found by its `answer`, with values of the `rubric`.
    `flag_excluded_as_counted` counts excluded answers as well.
    """
    order = {**ORDERED, **(value_orders or {})}
    rows, picks = _match_answer_rows_with_scores(answers["answer"], scores.get("answer", ()))
    answer_columns = answers[[*ANSWER, *IN_TABLE]]
    joined: dict[str, Any] = dict(
        answer_columns if len(rows) == len(answer_columns) else answer_columns.take(rows).reset_index(drop=True)
    )
    for name, kind in _score_column_kinds(rubric, scores).items():
        is_text, score_rows = (
            kind == "category",
            picks if name in scores and len(scores[name]) else np.full(len(picks), -1),
        )
        score_values = pd.Series(scores.get(name, ()), dtype=object if is_text else "float64")
        values = pd.Series(convert_to_category(score_values, order.get(name, ())) if is_text else score_values).array
        joined[name] = values.take(score_rows, allow_fill=True)
    frame = append_published_scores(
        pd.DataFrame(joined | {"row": rows}, copy=False), published.assign(row=-1), sorted_columns=IN_TABLE
    )
    set_m_all_and_counted_columns(frame, rubric, count_excluded=flag_excluded_as_counted)
    return attach_metric_display_names(convert_column_types(frame, order), rubric)


def _score_column_kinds(rubric: Rubric, scores: Mapping[str, Any]) -> dict[str, ColumnKind]:
    """Return the types of the columns that a score brings; of facts about scores only those of which any has one."""
    facts: dict[str, ColumnKind] = {
        name: column.kind for name, column in fact_columns().items() if name in scores and name not in IN_TABLE
    }
    values: dict[str, ColumnKind] = dict.fromkeys(rubric.metrics, "float64")
    overall = {name: kind for name, (kind, _) in OVERALL.items() if name not in ("counted", "row")}
    return {name: kind for name, (kind, _) in SCORER.items()} | values | overall | facts


def _match_answer_rows_with_scores(
    answer_digests: pd.Series, scored_digests: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row of an answer and the place of a score (-1: none) of each answer and score, in both orders.

    Several answers may have the same digest, and each has all scores of it.
    """
    codes = answer_digests.cat.codes.to_numpy().astype("int64")
    categories = answer_digests.cat.categories
    of = categories.get_indexer(pd.Index(scored_digests, dtype=object)) if len(scored_digests) else np.empty(0, "int64")
    if "" in categories:
        of = np.where(of == categories.get_loc(""), -1, of)
    places = np.argsort(of, kind="stable")
    places = places[of[places] >= 0]
    counts = np.bincount(of[places], minlength=len(categories))
    first = np.append(0, np.cumsum(counts))
    scores_by_answer = counts[codes]
    repeats = np.maximum(scores_by_answer, 1)
    rows = np.repeat(np.arange(len(codes)), repeats)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    picks = np.full(len(rows), -1)
    scored = np.repeat(scores_by_answer, repeats) > 0
    picks[scored] = places[first[codes[rows[scored]]] + number[scored]]
    return rows, picks
