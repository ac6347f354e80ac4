"""The tidy table: one row per answer and score, with everything that a figure, a table or a test needs.

Every figure and table is a function of it. A row's `unit` says what it is:

- `answer`: an answer as one analyst scored it, so that an answer that three analysts scored has three rows. One that
  nobody scored, a failure, and a question that was planned and never asked have one row without values.
- `table`: a score that a published study gives without saying which answer it belongs to: one for a question about a
  document, or (`document` empty) the mean over all documents of the study.

Averages take the rows that are `counted`: scores of people, of answers that no audit excluded; where an answer was
adjudicated, its adjudication alone.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from genaipa.errors import UsageError
from genaipa.files.spreadsheets import escape_formula, unescape_formula
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.runs.records import Retrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

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

ColumnKind = Literal["category", "str", "int16", "int32", "float64", "bool"]

_COLUMNS: dict[str, tuple[ColumnKind, str]] = {
    "unit": ("category", "what the row is: `answer` or `table` (see the head of this page)"),
    "run": ("category", "the run folder's name"),
    "key": ("str", "the answer's key in its run; empty for `table` rows"),
    "system": ("category", "the system, as the run names it"),
    "model": ("category", "the model as served, where the provider says"),
    "experiment": ("category", "the paper's experiment: quality, robustness, recall, summary, regulation, or another"),
    "document": ("category", "the document's name; empty in a mean over documents"),
    "kind": ("category", "policy or regulation"),
    "initialization": ("category", "how the system was introduced to the document (paper, Appendix A)"),
    "wording": ("category", "original, or paraphrase-1 to -3; empty in a mean over wordings"),
    "prompts": (
        "category",
        "the set of prompts, with a digest where it is not as shipped; `published` for a study's",
    ),
    "repetition": ("int16", "the repetition, from 1; 0 in `table` rows"),
    "conversation": (
        "category",
        "shared (one growing history) or independent (each question on its own); empty where that is unknown",
    ),
    "position": ("int16", "the question's place in the shuffled order of its conversation, from 1; 0 if unknown"),
    "question": ("category", "the question's id"),
    "category": ("category", "the question's category (paper, section 4.1)"),
    "source": ("category", "where the question comes from: faq or user"),
    "silent": (
        "category",
        "yes, partly or no: whether the document is silent on it by its annotated answer; empty if unknown",
    ),
    "corrected": ("category", "yes where corrections are applied and change its annotated answer; else empty"),
    "status": ("category", "answered, truncated, refused, failed, or missing (planned, and not asked yet)"),
    "claims_silence": (
        "category",
        (
            "yes or no: whether the reply begins by saying that the document is silent; abstains if it says instead "
            "that it does not know the document; none if it says nothing: empty, refused, or a refusal in words (found "
            "by rules)"
        ),
    ),
    "cites_there": (
        "float64",
        (
            "share of its citations of this document that name something that is there (found by rules); empty without "
            "any, and for systems that were not asked the same on several days"
        ),
    ),
    "prompt_cut": ("category", "yes where the server counted too few of the tokens that it was sent; else empty"),
    "answer": ("category", "the answer's digest: document, question and reply; empty where there is none"),
    "passages": (
        "float64",
        "passages that the system gave along; empty, as the next seven, where it gave none with any answer of the run",
    ),
    "passages_annotated": (
        "float64",
        "passages with a sentence of the sections that the annotated answer rests on",
    ),
    "passages_elsewhere": ("float64", "passages that are not in this document"),
    "passages_other": ("float64", "passages of these that are in another document of the run (of its first 320)"),
    "sections": ("float64", "sections that the annotated answer rests on"),
    "sections_shown": (
        "float64",
        "sections of these of which the passages have a sentence that the points or the annotated answer rest on",
    ),
    "shown_at": ("float64", "the number of passages by which the first of these sections is shown; 0 if none is"),
    "quotes": ("float64", "1 if at least half of the reply's words are its passages', else 0"),
    "in_wave": (
        "category",
        "yes or no: whether it is in the wave that people are asked to score; empty where no wave was drawn from it",
    ),
    "pi": ("float64", "the chance by which it came into the wave"),
    "planned": (
        "category",
        (
            "first, later or no: whether people are to score it by the first size of the wave, by a larger one, or not "
            "at all, finished or not; empty where no wave was drawn from it"
        ),
    ),
    "seconds": ("float64", "from the question to the whole reply"),
    "cost": ("float64", "money for this answer, in US dollars, where prices are known"),
    "tokens_in": ("float64", "tokens sent, cached ones included"),
    "tokens_cached": ("float64", "tokens of these that the provider read from its cache"),
    "tokens_out": ("float64", "tokens of the reply, reasoning included"),
    "analyst": ("category", "who scored; empty where nobody did"),
    "role": ("category", "score or adjudication; `published` in `table` rows; empty where nobody scored"),
    "scorer": ("category", "human or machine"),
    "independent": ("category", "yes or no: whether the analyst had not seen how others scored the answer"),
    "desk_order": (
        "category",
        "the order in which the desk brought it up: question, document or random; empty for scores from elsewhere",
    ),
    "m_all": ("float64", "M_all, the overall quality, from 1 to 10"),
    "m_all_positive": ("float64", "M_all+, the sum of the positive values, from 0 to 5"),
    "m_all_negative": ("float64", "M_all-, the sum of the negative values, from -5 to 0"),
    "points": (
        "float64",
        (
            "points of the annotated answer that the score ticked; empty, as the next six, for a score without ticks, "
            "or with ticks of points that were edited since"
        ),
    ),
    "points_vital": ("float64", "points of these that are vital"),
    "points_said": ("float64", "points that the answer says"),
    "points_vital_said": ("float64", "points of these that are vital"),
    "points_contradicted": ("float64", "points that the answer contradicts"),
    "points_harm": ("float64", "points whose contradiction would hurt a reader"),
    "harm": ("category", "yes or no: whether the answer contradicts one of these; empty where there is none"),
    "averaged": ("int32", "how many scores the row is a mean of: 1 for a score, 0 where there is none or unknown"),
    "rubric": ("category", "digest of the metrics and values by which it was scored"),
    "excluded": (
        "category",
        "why averages leave the row out (`other-company: …`); empty if they don't",
    ),
    "counted": ("bool", "whether averages take the row"),
}
"""The columns that every tidy table has; the metrics' are before `m_all`."""
RETRIEVAL = tuple(Retrieval.__struct_fields__)
"""The columns on an answer's passages, which a file has only where a system gave any."""
POINTS = ("points", "points_vital", "points_said", "points_vital_said", "points_contradicted", "points_harm", "harm")
"""The columns on ticked points, which a file has only where a score ticked any."""
AGAIN = ("cites_there",)
"""The columns that a file has only where a system was asked the same on several days."""


def columns(metrics: Iterable[str]) -> dict[str, tuple[ColumnKind, str]]:
    """Column → (type, meaning): the documentation of the tidy table, and the order of its columns."""
    known = list(_COLUMNS.items())
    place = list(_COLUMNS).index("m_all")
    own: list[tuple[str, tuple[ColumnKind, str]]] = [
        (metric, ("float64", f"{metric}, from -1 to 1 (paper, section 5)")) for metric in metrics
    ]
    return dict([*known[:place], *own, *known[place:]])


def metrics_of(data: pd.DataFrame) -> list[str]:
    """The metrics in a table: its columns before `m_all` that have no other meaning in the tidy table."""
    return [str(name) for name in takewhile(lambda name: name != "m_all", data.columns) if name not in _COLUMNS]


def names_of(frame: pd.DataFrame) -> dict[str, str]:
    """Metric → how people call it, of a tidy table."""
    return {metric: frame.attrs.get("names", {}).get(metric, metric) for metric in metrics_of(frame)}


ORDERED: dict[str, tuple[str, ...]] = {
    "experiment": tuple(name for name, known in EXPERIMENTS.items() if known.label),
    "source": ("faq", "user"),
    "status": ("answered", "truncated", "refused", "failed", "missing"),
}
"""Columns whose values have an order of their own wherever they come from."""


@plain_texts
def tidy(
    answers: Mapping[str, Sequence[Any]],
    scores: Mapping[str, Sequence[Any]],
    rubric: Rubric,
    *,
    excluded: bool = False,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """The tidy table from two sets of columns.

    `answers` has one entry per answer, failure, question not asked and published score, `scores` one per score or
    adjudication in effect, found by its `answer`, with values of the `rubric`. A published score brings its own
    values. `excluded` counts excluded answers as well. `orders` is the order of a column's values where
    it is not that of the alphabet (the questions of a set).
    """
    order = {**ORDERED, **(orders or {})}
    names = list(columns(rubric.metrics))
    rows = _typed(pd.DataFrame(dict(answers)).reindex(columns=names), order)
    given = pd.DataFrame(dict(scores))
    scored = rows[rows["unit"] != "table"]
    if not given.columns.empty:  # without a row they take those away that `answers` may have had
        scored = _joined(scored, given, order)
    frame = _stacked(scored, rows[rows["unit"] == "table"])[names]
    _derive(frame, rubric, excluded=excluded)
    return _named(_typed(frame, order), rubric)


def _joined(answers: pd.DataFrame, scores: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Each answer with each of its scores; one without any once."""
    digests = answers["answer"].cat.categories
    for name, (kind, _) in _COLUMNS.items():
        if kind == "category" and name in scores:
            scores[name] = _category(scores[name], order.get(name, ()))
    scores["answer"] = scores["answer"].cat.set_categories(digests)
    scores = scores[scores["answer"].notna() & (scores["answer"] != "")]
    return answers.drop(columns=[name for name in scores if name != "answer"]).merge(scores, on="answer", how="left")


def _stacked(scored: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Both kinds of rows, with the categories of both."""
    if published.empty:
        return scored
    both = {
        name: pd.CategoricalDtype(scored[name].cat.categories.union(published[name].cat.categories, sort=False))
        for name, (kind, _) in _COLUMNS.items()
        if kind == "category"
    }
    return pd.concat([scored.astype(both), published.astype(both)], ignore_index=True)


def _derive(frame: pd.DataFrame, rubric: Rubric, *, excluded: bool) -> None:
    values = frame[list(rubric.metrics)].astype("float64")
    known = values.notna().all(axis=1)
    frame.loc[known, "m_all_positive"] = rubric.points(values[known].clip(lower=0))
    frame.loc[known, "m_all_negative"] = rubric.points(values[known].clip(upper=0))
    implied = known & frame["m_all"].isna()
    frame.loc[implied, "m_all"] = rubric.m_all(values[implied])
    once = (frame["unit"] == "answer") | frame["averaged"].isna()
    frame["averaged"] = frame["averaged"].mask(once, 1).where(frame["m_all"].notna(), 0)
    frame["counted"] = countable(frame) if excluded else countable(frame) & (frame["excluded"] == "")


def countable(frame: pd.DataFrame) -> pd.Series:
    """Whether averages could take a row, excluded or not."""
    adjudications = frame["role"] == "adjudication"
    settled = frame["answer"].isin(frame.loc[adjudications, "answer"].unique()) & (frame["unit"] == "answer")
    return frame["m_all"].notna() & (frame["scorer"] != "machine") & (~settled | adjudications)


def _typed(frame: pd.DataFrame, orders: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The columns of a tidy table in their types, in its order."""
    known = columns(metrics_of(frame))
    # All at once: a column that is put into a table costs as much as its type.
    typed = {
        name: _category(column, orders.get(name, ())) if kind == "category" else _plain_column(column, kind)
        for (name, (kind, _)), (_, column) in zip(known.items(), frame[list(known)].items(), strict=True)
    }
    made = pd.DataFrame(typed, index=frame.index)
    made.attrs = frame.attrs
    return made


_FILLED: dict[str, object] = {"str": "", "int16": 0, "int32": 0, "bool": False}
"""Type → the value of an absent entry."""


def _plain_column(column: pd.Series, kind: ColumnKind) -> pd.Series:
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


def _category(column: pd.Series, first: Sequence[str]) -> pd.Series | pd.Categorical:
    """The column as categories: `first` in its order, then the others sorted; empty where there is none.

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
    order = {value: place for place, value in enumerate(first)}
    ordered = sorted([*texts, *empty], key=lambda value: (order.get(value, len(order)), value))
    place = {value: number for number, value in enumerate(ordered)}
    recoded = np.array([*(place[value] for value in texts), place.get("", -1)], dtype="int64")
    return pd.Categorical.from_codes(recoded[codes], categories=pd.Index(ordered))


def write(frame: pd.DataFrame, path: Path) -> None:
    """The tidy table as a file, its form taken from the suffix: `.csv` or `.parquet`; a UsageError for another."""
    frame = filled(frame)
    if path.suffix == ".csv":
        _through(frame, escape_formula).to_csv(path, index=False, lineterminator="\n", encoding="utf-8-sig")
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        raise UsageError(f"'{path.name}' ends in neither .csv nor .parquet, the two forms of the tidy table.")


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    """The tidy table with the columns that its file has: some it has only where there are any."""
    for some in (RETRIEVAL, POINTS, AGAIN):
        if frame[some[0]].isna().all():
            frame = frame.drop(columns=list(some))
    return frame


def _through(frame: pd.DataFrame, change: Callable[..., str]) -> pd.DataFrame:
    """The table with every text as `change` makes it, so that no spreadsheet takes one for a formula, or back."""
    changed = frame.copy(deep=False)
    for name, kind in ((name, kind) for name, (kind, _) in _COLUMNS.items() if name in frame):
        if kind == "category":
            values = [change(value, csv=True) for value in frame[name].cat.categories]
            changed[name] = frame[name].cat.rename_categories(values)
        elif kind == "str":
            changed[name] = frame[name].map(lambda text: change(text, csv=True))
    return changed


@plain_texts
def read(path: Path) -> pd.DataFrame:
    """A tidy table that was written as Parquet or CSV."""
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
        return _typed(frame.reindex(columns=list(columns(metrics_of(frame)))), ORDERED)
    known = columns(metrics_of(pd.read_csv(path, nrows=0)))
    numbers = {name: [""] for name, (kind, _) in known.items() if kind == "float64"}
    frame = pd.read_csv(path, keep_default_na=False, na_values=numbers)
    return _through(_typed(frame.reindex(columns=list(known)), ORDERED), unescape_formula)


@plain_texts
def empty(rubric: Rubric) -> pd.DataFrame:
    """A tidy table without rows."""
    none = {name: np.array([], dtype=object) for name in columns(rubric.metrics)}
    return _named(_typed(pd.DataFrame(none), ORDERED), rubric)


def _named(frame: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """The frame with the names of metrics that have another name than their column."""
    names = {metric: name for metric, name in rubric.names.items() if name != metric}
    frame.attrs = {"names": names} if names else {}
    return frame
