"""Averages: of an answer over its scores (Algorithm 2), of a question about a document over its answers, and of tables.

A cell is what one system scored on one question about one document in one experiment: the number behind a point of a
box plot. Where a published study gives the five metrics only as means over its documents, its cells have an empty
document. Tables average cells, with their intervals; two experiments are the same questions, asked in two ways.
"""

from __future__ import annotations

import functools
import weakref
from math import nan
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from genaipa.answers.tidy import list_metrics, plain_texts
from genaipa.reports import analysts
from genaipa.reports.crossed import (
    SHARES,
    document_numbers_or_minus_one,
    estimate_crossed_mean,
    explain_missing_interval_or_empty,
    number_labels_and_list_distinct,
)
from genaipa.scoring.rubric import M_ALL_RANGE, M_ALL_WIDTH
from genaipa.stats.intervals import (
    LEAST_DOCUMENTS,
    LEVEL,
    ROUGH_DOCUMENTS,
    estimate_mean_over_documents,
    estimate_median_of_cells,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from genaipa.stats.intervals import CrossedMean


_P = ParamSpec("_P")
_Source = TypeVar("_Source")
_Made = TypeVar("_Made")


_CELL = ["system", "experiment", "document", "question"]
_ABOUT = ["kind", "category", "source", "silent"]
_ANSWER = [
    *("unit", "run", "key", "answer", "initialization", "wording", "prompts", "repetition", "conversation", "position")
]


def averaged_columns(rows: pd.DataFrame) -> list[str]:
    """Return the averaged columns: the metrics, M_all, M_all+ and M_all-."""
    return [*list_metrics(rows), "m_all", "m_all_positive", "m_all_negative"]


def cache_per_frame(
    compute: Callable[Concatenate[_Source, _P], _Made],
) -> Callable[Concatenate[_Source, _P], _Made]:
    """Keep what is made of a frame, or a study, for as long as it lives: a report's tables ask for the same again.

    The frame must not be changed in place, and be no part of what is made.
    """
    cache: dict[tuple[object, ...], _Made] = {}

    @functools.wraps(compute)
    def call_cached(frame: _Source, /, *args: _P.args, **kwargs: _P.kwargs) -> _Made:
        key = (id(frame), *args, *kwargs.items())
        if key not in cache:
            with plain_texts:
                cache[key] = compute(frame, *args, **kwargs)
            weakref.finalize(frame, cache.pop, key, None)
        result = cache[key]
        return result.copy(deep=False) if isinstance(result, pd.DataFrame) else result

    return call_cached


@cache_per_frame
def average_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per answer (or published score) with its averages over scores; `scores` is how many there are.

    It is 0 for a judge's estimate (`judged.estimate`) about a question whose answers people didn't score.

    Columns: the cell's, what identifies the answer, `averaged_columns` and `scores`.
    """
    counted = frame[frame["counted"]]
    # A published score has no key: its place in the table is its own.
    return _average_columns_by_group(counted, ["unit", "run", "key", *_CELL], _ANSWER, scores=counted["role"] != "")


@cache_per_frame
def average_scores_by_question_and_document(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per system, experiment, document and question with its averages over answers.

    Columns: `system`, `experiment`, `document`, `question`, `kind`, `category`, `source`, `silent`, `averaged_columns`,
    `answers` and `scores` (how many it is a mean of). Sorted by the first four.
    """
    answer_averages = average_answers(frame)
    cell_averages = _average_columns_by_group(answer_averages, _CELL, [], answers=1, scores=answer_averages["scores"])
    return cell_averages.sort_values(_CELL, kind="stable", ignore_index=True)


def _average_columns_by_group(
    rows: pd.DataFrame, group_columns: list[str], columns_of_first_row: list[str], **counts: Any
) -> pd.DataFrame:
    """Average `averaged_columns` and sum `counts` for each group of rows, with what its first row says about it."""
    places = _group_number_of_each_row(rows, group_columns)
    once = ~places.duplicated()
    first = rows.loc[once, [*_CELL, *_ABOUT, *columns_of_first_row]].set_axis(places[once])
    columns = averaged_columns(rows)
    groups = rows[columns].assign(**counts).groupby(places.to_numpy(), sort=False)
    return first.join(groups[columns].mean()).join(groups[list(counts)].sum())


def _group_number_of_each_row(rows: pd.DataFrame, group_columns: list[str]) -> pd.Series[Any]:
    """Return the number of each row's group, in the order of their first rows; no row is lost for want of a key."""
    numbers = np.zeros(len(rows), dtype="int64")
    for name in group_columns:
        column = rows[name]
        categories = isinstance(column.dtype, pd.CategoricalDtype)
        codes = column.cat.codes.to_numpy().astype("int64") if categories else pd.factorize(column)[0]
        size = int(codes.max(initial=-1)) + 2
        # Anew at each column: the products would be larger than any number.
        numbers = pd.factorize(numbers * size + codes + 1)[0]
    return pd.Series(numbers, index=rows.index, dtype="int64")


def select_scored_rows_naming_a_document(cell_averages: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that have a document and an M_all."""
    return cell_averages[(cell_averages["document"] != "") & cell_averages["m_all"].notna()]


def average_questions_over_documents(cell_averages: pd.DataFrame) -> pd.DataFrame:
    """Return one row per system, experiment and question: the means over documents.

    Columns: `system`, `experiment`, `question`, `kind`, `category`, `source`, `averaged_columns`, `documents` (how many
    have an M_all of their own; 0 where only a published mean over documents is known) and `metric_documents` (the same
    of the metrics, the fewest where these differ). Each value comes from the cells of the documents; where any of these
    lacks it, from the published mean over documents, if there is one.
    """
    keys = ["system", "experiment", "question", "kind", "category", "source"]
    columns, metrics = averaged_columns(cell_averages), list_metrics(cell_averages)
    alone = cell_averages["document"] != ""
    single = cell_averages[alone].groupby(keys, observed=True)
    means, counts = single[columns].mean(), single[columns].count()
    if alone.all():  # as in every study of one's own
        merged, document_counts = means.assign(documents=counts["m_all"]), counts[metrics]
    else:
        published = cell_averages[~alone].groupby(keys, observed=True)
        overall = published[columns].mean()
        of_all = means.where(counts.eq(counts["m_all"], axis=0))
        merged = of_all.combine_first(overall).combine_first(means)[columns]
        merged["documents"] = counts["m_all"].reindex(merged.index, fill_value=0)
        # A value is a published mean where its documents don't have it, or not all of them.
        document_counts = counts.where(of_all.notna() | overall.reindex(counts.index).isna()).reindex(merged.index)[
            metrics
        ]
    document_counts = document_counts.fillna(0).where(merged[metrics].notna())
    merged["metric_documents"] = document_counts.min(axis=1).fillna(0).astype("int64")
    return merged.reset_index()


_SURE = f"in {LEVEL * 100:.0f} of 100 such studies the interval contains the true average"
_BUT = ", unless the average is a share (0 to 100 %)."


def explain_both_intervals(confidence: float) -> str:
    """Describe the two intervals of this confidence, for whoever reads one: sentences for the notes of tables."""
    return (
        f"An average has up to two intervals; in {confidence * 100:g} of 100 such studies each contains the true "
        "average for the same analysts. \u201cFor these documents\u201d covers other questions of this kind about the "
        "same documents. \u201cFor policies like these\u201d covers other documents of this kind as well: it is at "
        f"least as wide, rough below {ROUGH_DOCUMENTS} documents and blank below {LEAST_DOCUMENTS}. Both are blank for "
        f"a single question, and where all questions have the same value{_BUT}"
    )


INTERVALS = explain_both_intervals(LEVEL)
"""The two intervals, for whoever reads one: sentences for the notes of tables."""
THESE = (
    f"An average has an interval; {_SURE}. \u201cFor these documents\u201d covers other questions of this kind about "
    "the same document. The interval is blank for a single question, and where all questions have the same "
    f"value{_BUT}"
)
"""The same, where the average is about one document."""
LIKE_THESE = (
    f"An average has an interval; {_SURE}. \u201cFor policies like these\u201d covers the same question about other "
    f"documents of this kind. The interval is rough below {ROUGH_DOCUMENTS} documents, and blank below "
    f"{LEAST_DOCUMENTS} or where all documents have the same value{_BUT}"
)
"""The same, where the average is about one question."""
BOTH = ("low", "high", "policies_low", "policies_high", "documents")
"""Columns of the two intervals, and of the number of documents that they rest on."""
_ENDS = {
    "m_all": M_ALL_RANGE,
    **dict.fromkeys(("difference", "drop"), (-M_ALL_WIDTH, M_ALL_WIDTH)),
    "cost": (0.0, float("inf")),
    "spread": (0.0, M_ALL_WIDTH / 2**0.5),
}
"""Column → the ends of its scale."""
_QUESTION = ["system", "experiment", "question"]
ROUGH = 10
"""Below this many questions or documents, a note says how few they are."""


def select_policy_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are about policies; those about regulations have a table of their own."""
    is_policy = (rows["kind"] != "regulation") & (rows["experiment"] != "regulation")
    # The same object, where that is all, so that its results are found in the cache.
    selected: pd.DataFrame = rows if is_policy.all() else rows[is_policy]
    return selected


@cache_per_frame
def average_policy_questions_by_document(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the cells (`average_scores_by_question_and_document`) that are about policies."""
    return select_policy_rows(average_scores_by_question_and_document(frame))


@cache_per_frame
def average_policy_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over documents (`average_questions_over_documents`) of what is about policies."""
    return average_questions_over_documents(select_policy_rows(average_scores_by_question_and_document(frame)))


def iterate_overall_source_and_category_rows(
    rows: pd.DataFrame, *, with_categories: bool = False
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of all questions, of FAQs', of users', and of each category if asked: what there is.

    Where all questions come from one source, or one category, its rows are given as well as all.
    """
    yield "all", rows
    for column in ("source", "category") if with_categories else ("source",):
        for value, group in rows.groupby(column, observed=True, sort=True):
            if value:
                yield str(value), group


def summarize_each_group(
    rows: pd.DataFrame, group_columns: Sequence[str], summarize_group: Callable[[pd.DataFrame], dict[str, object]]
) -> pd.DataFrame:
    """Return one row for each group of rows: what it is grouped by, in the same categories, and its summary."""
    summaries = [
        {**dict(zip(group_columns, key, strict=True)), **summarize_group(group)}
        for key, group in rows.groupby(list(group_columns), observed=True, sort=True)
    ]
    types = {column: rows[column].dtype for column in group_columns}
    return pd.DataFrame(summaries, columns=None if summaries else list(group_columns)).astype(types)


@cache_per_frame
def select_and_weigh_averaged_cells(frame: pd.DataFrame, averaged_column: str) -> pd.DataFrame:
    """Return the cells that make up the averages of a column, about policies, with their `weight` in their question.

    Columns: `system`, `experiment`, `question`, `category`, `source`, `document`, the column, `weight`, `scores` (as in
    `average_scores_by_question_and_document`). A question's weighted mean is the mean over experiments of the means
    over documents (`average_policy_questions`): a cell without a document is a published mean, and is here where not
    all of its documents have the value.
    """
    policy_rows, question_numbers = (
        average_policy_questions_by_document(frame),
        _question_number_of_each_policy_cell(frame),
    )
    single, has_value = (policy_rows["document"] != "").to_numpy(), policy_rows[averaged_column].notna().to_numpy()

    def count_selected_cells_per_question(rows: NDArray[np.bool_]) -> NDArray[Any]:
        """Count, for each row, these rows that have its question."""
        counts: NDArray[Any] = np.bincount(question_numbers[rows], minlength=len(policy_rows))[question_numbers]
        return counts

    own_cells = count_selected_cells_per_question(single & has_value)
    whole = (count_selected_cells_per_question(~single & has_value) > 0) & (
        (own_cells == 0)
        | (own_cells != count_selected_cells_per_question(single & policy_rows["m_all"].notna().to_numpy()))
    )
    chosen = has_value & (single != whole)
    columns = [*_QUESTION, "category", "source", "document", averaged_column, "scores"]
    cells: pd.DataFrame = (
        policy_rows.loc[chosen, columns]
        .assign(weight=1 / count_selected_cells_per_question(chosen)[chosen])
        .reset_index(drop=True)
    )
    return cells


@cache_per_frame
def _question_number_of_each_policy_cell(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the number of the question, in its system and experiment, of each policy cell."""
    numbers: NDArray[Any] = (
        average_policy_questions_by_document(frame).groupby(_QUESTION, observed=True, sort=False).ngroup().to_numpy()
    )
    return numbers


def summarize_dependence_on_analysts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row per system that people scored: its average, and how far it depends on who they are.

    Columns: `system`, `analysts` (how many), `mean`, `policies_low` and `policies_high`, `analysts_low` and
    `analysts_high` for analysts like these as well, `least` and `most` (the average with one of them left out), `why`.
    """
    scores = analysts.select_human_scores(select_policy_rows(frame))
    summaries = []
    for system, group in scores.groupby("system", observed=True, sort=True):
        people = analysts.estimate_analyst_panel_of_column(group, "m_all")
        cells = select_and_weigh_averaged_cells(frame, "m_all")
        rows = cells[cells["system"] == system]
        estimate = estimate_crossed_mean(
            rows["m_all"],
            rows["question"],
            rows["document"],
            weights=rows["weight"],
            limits=_ENDS["m_all"],
            panel=people,
        )
        ends = ("mean", "policies_low", "policies_high", "analysts_low", "analysts_high")
        without = people.without[~np.isnan(people.without)]
        summaries.append(
            {
                "system": system,
                "analysts": people.number,
                **{name: getattr(estimate, name) for name in ends},
                "least": min(without, default=nan),
                "most": max(without, default=nan),
                "why": analysts.explain_no_analyst_interval_or_empty(people)
                or explain_missing_interval_or_empty(estimate),
            }
        )
    return pd.DataFrame(summaries)


def estimate_column_mean(
    rows: pd.DataFrame, column: str, scale_ends: tuple[float, float] | None = None, confidence: float = LEVEL
) -> dict[str, object]:
    """Return `n` (questions), `mean` and `BOTH` of a column of cells: rows with `question`, `document`, maybe `weight`.

    `scale_ends` are the ends of its scale, where it is no column of the tables of scores.
    """
    ends = scale_ends or _ENDS.get(column)
    has_scores = rows["scores"] > 0 if "scores" in rows else None
    weights = rows.get("weight")
    return mean_and_interval_columns(
        estimate_crossed_mean(
            rows[column],
            rows["question"],
            rows["document"],
            weights=weights,
            limits=ends,
            has_scores=has_scores,
            confidence=confidence,
        )
    )


def estimate_column_mean_over_documents(
    rows: pd.DataFrame, column: str, group_columns: Sequence[str], scale_ends: tuple[float, float] | None = None
) -> dict[str, object]:
    """Return `n` (documents), `mean`, `policies_low` and `policies_high` of a column.

    `rows` are about one and the same question, and have at most one of each group and document. `scale_ends` are the
    ends of its scale, as for `estimate_column_mean`.
    """
    scale_ends, group = (
        scale_ends or _ENDS.get(column),
        rows.groupby(list(group_columns), observed=True, sort=False).ngroup(),
    )
    estimate = estimate_mean_over_documents(
        rows[column],
        group,
        number_labels_and_list_distinct(rows["document"])[0],
        limits=scale_ends,
        is_share=scale_ends in SHARES,
    )
    ends = {"policies_low": estimate.policies_low, "policies_high": estimate.policies_high}
    return {"n": estimate.documents, "mean": estimate.mean, **ends}


def estimate_column_median(rows: pd.DataFrame, column: str) -> dict[str, object]:
    """Return the median of a column, and the ends of its two intervals, as `estimate_median_of_cells`."""
    places = (number_labels_and_list_distinct(rows["question"])[0], document_numbers_or_minus_one(rows["document"]))
    return dict(estimate_median_of_cells(rows[column], *places)._asdict())


def mean_and_interval_columns(estimate: CrossedMean) -> dict[str, object]:
    """Return `n` (questions), `mean` and `BOTH`."""
    return {"n": estimate.questions, "mean": estimate.mean, **{name: getattr(estimate, name) for name in BOTH}}


def note_corrected_annotations(frame: pd.DataFrame) -> str:
    """Return a sentence on how many annotated answers are corrected; empty where none is."""
    right = frame.loc[frame["corrected"] == "yes", ["document", "question"]].drop_duplicates()
    return f" Corrected annotated answers: {len(right)}." if len(right) else ""


def rank_means(means: pd.Series) -> pd.Series:
    """Return the place of each, from the highest; equals share theirs."""
    return means.round(9).rank(method="min", ascending=False).astype("int64")


def explain_intervals_and_small_n(estimates: pd.DataFrame) -> str:
    """Return the sentences on both intervals, and on the few questions (`n`) and documents that a table rests on."""
    return f"{INTERVALS}{note_few_questions(estimates['n'])}{note_few_documents(estimates)}"


def note_few_questions(question_counts: pd.Series, noun: str = "questions") -> str:
    """Say where some of these averages rest on few; empty where none does. A 0 stands for a number not known."""
    fewest = min((int(number) for number in question_counts if number), default=ROUGH)
    if fewest >= ROUGH:
        return ""
    if fewest == 1:
        return f" Some averages rest on n = 1 of the {noun}, too few for an interval or a conclusion."
    return f" Some averages rest on only n = {fewest} {noun}: their intervals are rough."


def note_few_documents(estimates: pd.DataFrame) -> str:
    """Return a sentence where what a table says of other policies is refused, or rests on few `documents`."""
    document_counts = sorted(set(estimates.reindex(columns=["documents"])["documents"].dropna().astype("int64")))
    refused, rough = (
        ", ".join(map(str, counts))
        for counts in (
            [n for n in document_counts if n < LEAST_DOCUMENTS],
            [n for n in document_counts if LEAST_DOCUMENTS <= n < ROUGH_DOCUMENTS],
        )
    )
    note = ""
    if rough:
        note += f" Averages over only {rough} documents have rough intervals for policies like these."
    if refused:
        means = " (0: only means over documents are known)" if 0 in document_counts else ""
        documents = "document" if refused == "1" else "documents"
        note += f" Averages over only {refused} {documents}{means} say nothing about policies like these."
    return note


def has_differing_scored_questions(frame: pd.DataFrame, question_means: pd.DataFrame) -> bool:
    """Tell whether systems were scored on different questions or documents (see `note_differing_scored_questions`)."""
    single = select_scored_rows_naming_a_document(average_policy_questions_by_document(frame))
    question_sets: set[object] = set()
    for system in question_means["system"].unique():
        system_cells, whole = single[single["system"] == system], question_means[question_means["system"] == system]
        question_sets.add(
            frozenset(zip(system_cells["experiment"], system_cells["document"], system_cells["question"], strict=True))
        )
        question_sets.add(frozenset(zip(whole["experiment"], whole["question"], strict=True)))
    # Of each system the scores by document, and those by question: two sets if all systems have the same.
    return len(question_sets) > 2  # noqa: PLR2004


def note_differing_scored_questions(frame: pd.DataFrame, question_means: pd.DataFrame) -> str:
    """Say which questions of each system are scored, where these differ between systems or experiments; else empty.

    `question_means` are the means over documents (`average_policy_questions`) that have an M_all.
    """
    single = select_scored_rows_naming_a_document(average_policy_questions_by_document(frame))
    descriptions, even = [], True
    for system in question_means["system"].unique():
        system_cells, whole = single[single["system"] == system], question_means[question_means["system"] == system]
        numbers = whole.groupby("experiment", observed=True, sort=True)["documents"].agg(["size", "sum"])
        even &= len({frozenset(rows["question"]) for _, rows in whole.groupby("experiment", observed=True)}) == 1
        experiments = (f"{name} {row['size']} ({row['sum'] or 'means only'})" for name, row in numbers.iterrows())
        documents = ", ".join(system_cells["document"].unique())
        where = f"about {documents}" if documents else "published as means over documents"
        descriptions.append(f"{system} {', '.join(experiments)}, {where}")
    if even and not has_differing_scored_questions(frame, question_means):
        return ""
    return (
        " Not all systems and experiments were scored on the same questions about the same documents, so the averages "
        "don't compare like with like. Number of questions (with the number of question-document pairs in brackets): "
        f"{'; '.join(descriptions)}."
    )


_SAME = ["system", "question", "category", "source", "document"]


@cache_per_frame
def pair_m_all_of_experiments(frame: pd.DataFrame, first_experiment: str, second_experiment: str) -> pd.DataFrame:
    """Return one row per system, question and document that has an M_all in both experiments.

    Columns: `system`, `question`, `category`, `source`, `document`, the two experiments by their names
    (M_all), and `difference`, the first minus the second. Where a question has no such document, but a published mean
    over documents, it has one row with an empty document: that mean, or the mean over its documents where only the
    other experiment is published so.
    """
    scored_cells = average_policy_questions_by_document(frame).dropna(subset="m_all")
    if not {first_experiment, second_experiment} <= set(scored_cells["experiment"]):
        return scored_cells.loc[[], _SAME].assign(
            **dict.fromkeys((first_experiment, second_experiment, "difference"), pd.Series(dtype="float64"))
        )
    sides = {
        name: scored_cells.loc[scored_cells["experiment"] == name, [*_SAME, "m_all"]]
        for name in (first_experiment, second_experiment)
    }
    by_document = _join_scores_of_two_experiments({name: rows[rows["document"] != ""] for name, rows in sides.items()})
    published = {name: rows[rows["document"] == ""] for name, rows in sides.items()}
    whole = _join_scores_of_two_experiments(
        {
            name: stack_frames([published[name], _average_questions_not_in_published(rows, published[name])])
            for name, rows in sides.items()
        }
    )
    published_means = pd.concat(published.values())
    only_whole = _is_question_in_other_rows(whole, published_means) & ~_is_question_in_other_rows(whole, by_document)
    paired = stack_frames([by_document, whole[only_whole]])
    # Rounded, because 86.5 and 86.5 may differ in their last binary digit.
    paired["difference"] = (paired[first_experiment] - paired[second_experiment]).round(9)
    return paired.sort_values(_SAME, kind="stable", ignore_index=True)


def average_pairs_by_question(paired: pd.DataFrame) -> pd.DataFrame:
    """Pairs averaged over documents: one row per system and question; `n` is how many have a document."""
    groups = paired.assign(n=paired["document"] != "").groupby(_SAME[:-1], observed=True, sort=True)
    means = groups[[column for column in paired.columns if column not in _SAME]].mean()
    return means.join(groups["n"].sum()).reset_index()


def stack_frames(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; to pandas 2 and 3 alike, a part without rows has no say in the columns' types."""
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _join_scores_of_two_experiments(scores_by_experiment: dict[str, pd.DataFrame]) -> pd.DataFrame:
    (first, ours), (second, theirs) = scores_by_experiment.items()
    ours, theirs = ours.rename(columns={"m_all": first}), theirs.rename(columns={"m_all": second})
    return ours.merge(theirs, on=_SAME)


def _average_questions_not_in_published(rows: pd.DataFrame, published_means: pd.DataFrame) -> pd.DataFrame:
    """Return the means over documents of the questions that have no published one, with an empty document."""
    unpublished = rows[~_is_question_in_other_rows(rows, published_means)]
    means = unpublished.groupby(_SAME[:-1], observed=True)["m_all"].mean().reset_index()
    return means.assign(document="")


def _is_question_in_other_rows(rows: pd.DataFrame, other_rows: pd.DataFrame) -> pd.Series:
    """Tell for each row whether the others have its system and question as well."""
    names = pd.MultiIndex.from_frame(rows[["system", "question"]].astype("str"))
    is_shared = names.isin(pd.MultiIndex.from_frame(other_rows[["system", "question"]].astype("str")))
    return pd.Series(is_shared, index=rows.index)
