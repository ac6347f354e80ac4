"""Frames of answers and scores in their types: their columns, their files, and which rows averages take."""

from __future__ import annotations

import functools
import threading
from contextlib import ContextDecorator
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.answers.fact import answer_facts, fact_columns, list_fact_columns, score_facts, study_facts
from genaipa.errors import UsageError
from genaipa.files.spreadsheets import escape_formula
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.scoring.columns import ANSWER, CORE, OVERALL, SCORER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.answers.fact import Fact, ScoreFact, StudyFact
    from genaipa.scoring.columns import ColumnKind, Meanings
    from genaipa.scoring.rubric import Rubric


class _PlainTexts(ContextDecorator):
    """Let pandas keep texts, those in columns' names as well, as Python's own meanwhile, instead of as Arrow's.

    Arrow's are made for millions of rows: with them, a report of some hundred answers takes 1.7 times as long, and one
    of the published study 1.4 times. The values are the same. The setting is that of the whole process; it is put back
    when the last thread has left.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, ""

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = pd.get_option("mode.string_storage")
                pd.set_option("mode.string_storage", "python")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                pd.set_option("mode.string_storage", self._before)


plain_texts = _PlainTexts()
"""Around whatever makes tables of tables; a decorator as well."""


def column_types_and_meanings(metrics: Iterable[str]) -> Meanings:
    """Return the type and meaning of each column of answers joined with their scores, in their order."""
    meanings = _list_installed_answer_and_score_columns()
    values: Meanings = {metric: ("float64", f"{metric}, from -1 to 1 (paper, section 5)") for metric in metrics}
    return {**ANSWER, **meanings["answers"], **SCORER, **values, **OVERALL, **meanings["scores"]}


@functools.cache
def _column_meanings_for_answers_and_scores(
    about_answers: tuple[Fact | StudyFact, ...], about_scores: tuple[ScoreFact, ...]
) -> dict[str, Meanings]:
    return {
        of: {name: (column.kind, column.meaning) for fact in facts for name, column in fact.columns.items()}
        for of, facts in (("answers", about_answers), ("scores", about_scores))
    }


def _list_installed_answer_and_score_columns() -> dict[str, Meanings]:
    return _column_meanings_for_answers_and_scores((*answer_facts(), *study_facts()), score_facts())


def list_metrics(frame: pd.DataFrame) -> list[str]:
    """Return the metrics in a frame: its columns before `m_all` that have no other meaning."""
    meanings = _list_installed_answer_and_score_columns()["answers"]
    names = takewhile(lambda name: name != "m_all", frame.columns)
    return [str(name) for name in names if name not in CORE and name not in meanings]


def metric_display_names(frame: pd.DataFrame) -> dict[str, str]:
    """Metric → how people call it, of a tidy table."""
    return {metric: frame.attrs.get("names", {}).get(metric, metric) for metric in list_metrics(frame)}


ORDERED: dict[str, tuple[str, ...]] = {
    "experiment": tuple(name for name, experiment in EXPERIMENTS.items() if experiment.label),
    "source": ("faq", "user"),
    "status": ("answered", "truncated", "refused", "failed", "missing"),
}
"""Columns whose values have an order of their own wherever they come from."""


def append_published_scores(
    scored: pd.DataFrame, published: pd.DataFrame, sorted_columns: Collection[str] = ()
) -> pd.DataFrame:
    """Return published scores beneath answers and theirs, with the categories of both; sorted, of some columns."""
    if published.empty:
        return scored
    shared_types = {}
    for name, column in scored.items():
        if isinstance(column.dtype, pd.CategoricalDtype) and name in published:
            categories = column.cat.categories.union(published[name].cat.categories, sort=False)
            shared_types[name] = pd.CategoricalDtype(categories.sort_values() if name in sorted_columns else categories)
    return pd.concat([scored.astype(shared_types), published.astype(shared_types)], ignore_index=True)


def set_m_all_and_counted_columns(frame: pd.DataFrame, rubric: Rubric, *, count_excluded: bool) -> None:
    """Set the columns of the narrow table that follow from the others."""
    values = frame[list(rubric.metrics)].astype("float64")
    is_scored = values.notna().all(axis=1)
    frame.loc[is_scored, "m_all_positive"] = rubric.weighted_sum(values[is_scored].clip(lower=0))
    frame.loc[is_scored, "m_all_negative"] = rubric.weighted_sum(values[is_scored].clip(upper=0))
    implied = is_scored & frame["m_all"].isna()
    frame.loc[implied, "m_all"] = rubric.m_all(values[implied])
    once = (frame["unit"] == "answer") | frame["averaged"].isna()
    frame["averaged"] = frame["averaged"].mask(once, 1).where(frame["m_all"].notna(), 0)
    frame["counted"] = (
        flag_countable_rows_even_if_excluded(frame)
        if count_excluded
        else flag_countable_rows_even_if_excluded(frame) & (frame["excluded"] == "")
    )


def keep_first_row_per_planned_answer(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each question that was planned, however many analysts scored its answer.

    Its `counted` says whether any of its scores counts, and `left_out` whether it is excluded.
    """
    planned = table[table["row"] >= 0]
    counted = np.bincount(planned["row"], planned["counted"]) > 0
    once = planned[~planned["row"].duplicated()]
    # Where anything that is excluded is counted, all of it is meant to be.
    included = bool((table["counted"] & (table["excluded"] != "")).any())
    return once.assign(counted=counted[once["row"]], left_out=(once["excluded"] != "") & (not included))


def flag_countable_rows_even_if_excluded(frame: pd.DataFrame) -> pd.Series:
    """Tell whether averages could take a row, excluded or not."""
    adjudications = frame["role"] == "adjudication"
    settled = frame["answer"].isin(frame.loc[adjudications, "answer"].unique()) & (frame["unit"] == "answer")
    return frame["m_all"].notna() & (frame["scorer"] != "machine") & (~settled | adjudications)


def convert_column_types(frame: pd.DataFrame, value_orders: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the columns of a frame of answers or scores in their types, in their order."""
    meanings = column_types_and_meanings(list_metrics(frame))
    # All at once: a column that is put into a table costs as much as its type.
    converted = pd.DataFrame(
        {
            name: convert_to_category(frame[name], value_orders.get(name, ()))
            if kind == "category"
            else convert_to_plain_type_filling_missing(frame[name], kind)
            for name, (kind, _) in meanings.items()
            if name in frame
        },
        index=frame.index,
    )
    converted.attrs = frame.attrs
    return converted


_FILLED: dict[str, object] = {"str": "", "int16": 0, "int32": 0, "bool": False}
"""Type → the value of an absent entry."""


def convert_to_plain_type_filling_missing(column: pd.Series, kind: ColumnKind) -> pd.Series:
    """Return the column as texts, numbers or truths; pandas has absent texts in its own type, too."""
    if kind != "str" and isinstance(column.dtype, np.dtype) and column.dtype == kind:
        return column
    if kind in _FILLED:
        absent = column.isna()
        if absent.any():
            column = column.astype(object).where(~absent, _FILLED[kind])
        elif kind == "str" and column.dtype == kind:
            return column
    return column.astype(kind)


def convert_to_category(column: pd.Series, first_values: Sequence[str]) -> pd.Series | pd.Categorical:
    """Return the column as categories: `first_values` in its order, then the others sorted; empty where there is none.

    One that holds categories already keeps their order. Codes are counted rather than texts compared: a table has 33
    such columns, and most are the same from the first row to the last.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, categories = column.cat.codes.to_numpy(), column.cat.categories
        used = np.bincount(codes + 1, minlength=len(categories) + 1) > 0
        if used[1:].all() and not used[0]:
            return column
        if used[0]:
            column = (column if "" in categories else column.cat.add_categories([""])).fillna("")
        return column.cat.remove_unused_categories()
    values = column.to_numpy(dtype=object)
    codes, texts = pd.factorize(values)
    absent = codes < 0
    empty = [""] if absent.any() and "" not in texts else []
    order = {value: position for position, value in enumerate(first_values)}
    ordered = sorted([*texts, *empty], key=lambda value: (order.get(value, len(order)), value))
    position = {value: number for number, value in enumerate(ordered)}
    recoded = np.array([*(position[value] for value in texts), position.get("", -1)], dtype="int64")
    return pd.Categorical.from_codes(recoded[codes], categories=pd.Index(ordered))


def write_filled_columns_as_csv_or_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write what is known of a frame as a file of the suffix's form: `.csv` or `.parquet`; a UsageError for another."""
    frame = drop_empty_fact_columns(frame)
    if path.suffix == ".csv":
        _escape_spreadsheet_formulas(frame).to_csv(path, index=False, lineterminator="\n", encoding="utf-8-sig")
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        raise UsageError(f"'{path.name}' must end in .csv or .parquet, the two formats of the tidy table.")


def add_missing_fact_columns(frame: pd.DataFrame, fact_names: Iterable[str]) -> pd.DataFrame:
    """Return a frame with the columns of these facts, empty where nothing is known of any."""
    kinds = {name: column.kind for name, column in fact_columns().items()}
    missing = {
        name: pd.Categorical.from_codes(np.zeros(len(frame), "int8"), pd.Index([""][: len(frame)]))
        if kinds[name] == "category"
        else np.nan
        for name in list_fact_columns(*fact_names)
        if name not in frame
    }
    return frame.assign(**missing)


def drop_empty_fact_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame without the columns of facts of which nothing is known."""
    every: tuple[Fact | StudyFact | ScoreFact, ...] = (*answer_facts(), *study_facts(), *score_facts())
    unknown = [
        name for fact in every if not has_any_value(frame, fact.columns) for name in fact.columns if name in frame
    ]
    return frame.drop(columns=unknown)


def has_any_value(frame: pd.DataFrame, names: Iterable[str]) -> bool:
    """Tell whether any of these columns is there and has a value."""
    return any((frame[name].notna() & (frame[name] != "")).any() for name in names if name in frame)


def _escape_spreadsheet_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with texts that no spreadsheet takes for a formula."""
    changed = frame.copy(deep=False)
    for name, kind in ((name, kind) for name, (kind, _) in column_types_and_meanings(()).items() if name in frame):
        if kind == "category":
            values = [escape_formula(value, in_csv=True) for value in frame[name].cat.categories]
            changed[name] = frame[name].cat.rename_categories(values)
        elif kind == "str":
            changed[name] = frame[name].map(lambda text: escape_formula(text, in_csv=True))
    return changed


def attach_metric_display_names(frame: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Return the frame with the names of metrics that have another name than their column."""
    names = {metric: name for metric, name in rubric.display_names.items() if name != metric}
    frame.attrs = {"names": names} if names else {}
    return frame
