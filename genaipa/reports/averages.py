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

from genaipa.answers.tidy import metrics_of, plain_texts
from genaipa.reports import analysts
from genaipa.reports.crossed import SHARES, crossed, number_documents, number_labels, why
from genaipa.scoring.rubric import M_ALL_RANGE, M_ALL_WIDTH
from genaipa.stats.intervals import LEAST_DOCUMENTS, LEVEL, ROUGH_DOCUMENTS, estimate_document_mean, estimate_median

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


def averaged(rows: pd.DataFrame) -> list[str]:
    """The averaged columns: the metrics, M_all, M_all+ and M_all-."""
    return [*metrics_of(rows), "m_all", "m_all_positive", "m_all_negative"]


def kept(
    make: Callable[Concatenate[_Source, _P], _Made],
) -> Callable[Concatenate[_Source, _P], _Made]:
    """Keep what is made of a frame, or a study, for as long as it lives: a report's tables ask for the same again.

    The frame must not be changed in place, and be no part of what is made.
    """
    found: dict[tuple[object, ...], _Made] = {}

    @functools.wraps(make)
    def of(frame: _Source, /, *args: _P.args, **kwargs: _P.kwargs) -> _Made:
        key = (id(frame), *args, *kwargs.items())
        if key not in found:
            with plain_texts:
                found[key] = make(frame, *args, **kwargs)
            weakref.finalize(frame, found.pop, key, None)
        made = found[key]
        return made.copy(deep=False) if isinstance(made, pd.DataFrame) else made

    return of


@kept
def answers(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per answer (or published score) with its averages over scores; `scores` is how many there are.

    It is 0 for a judge's estimate (`judged.estimate`) about a question whose answers people didn't score.

    Columns: the cell's, what identifies the answer, `averaged` and `scores`.
    """
    counted = frame[frame["counted"]]
    # A published score has no key: its place in the table is its own.
    return _averaged(counted, ["unit", "run", "key", *_CELL], _ANSWER, scores=counted["role"] != "")


@kept
def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per system, experiment, document and question with its averages over answers.

    Columns: `system`, `experiment`, `document`, `question`, `kind`, `category`, `source`, `silent`, `averaged`,
    `answers` and `scores` (how many it is a mean of). Sorted by the first four.
    """
    each = answers(frame)
    found = _averaged(each, _CELL, [], answers=1, scores=each["scores"])
    return found.sort_values(_CELL, kind="stable", ignore_index=True)


def _averaged(rows: pd.DataFrame, by: list[str], also: list[str], **counts: Any) -> pd.DataFrame:
    """`averaged` and the sums of `counts` for each group of rows, with what its first row says about it."""
    places = _group_numbers(rows, by)
    once = ~places.duplicated()
    first = rows.loc[once, [*_CELL, *_ABOUT, *also]].set_axis(places[once])
    columns = averaged(rows)
    groups = rows[columns].assign(**counts).groupby(places.to_numpy(), sort=False)
    return first.join(groups[columns].mean()).join(groups[list(counts)].sum())


def _group_numbers(rows: pd.DataFrame, by: list[str]) -> pd.Series[Any]:
    """Return the number of each row's group, in the order of their first rows; no row is lost for want of a key."""
    numbers = np.zeros(len(rows), dtype="int64")
    for name in by:
        column = rows[name]
        categories = isinstance(column.dtype, pd.CategoricalDtype)
        codes = column.cat.codes.to_numpy().astype("int64") if categories else pd.factorize(column)[0]
        size = int(codes.max(initial=-1)) + 2
        # Anew at each column: the products would be larger than any number.
        numbers = pd.factorize(numbers * size + codes + 1)[0]
    return pd.Series(numbers, index=rows.index, dtype="int64")


def by_document(found: pd.DataFrame) -> pd.DataFrame:
    """The cells that have a document and an M_all."""
    return found[(found["document"] != "") & found["m_all"].notna()]


def per_question(found: pd.DataFrame) -> pd.DataFrame:
    """One row per system, experiment and question: the means over documents.

    Columns: `system`, `experiment`, `question`, `kind`, `category`, `source`, `averaged`, `documents` (how many have
    an M_all of their own; 0 where only a published mean over documents is known) and `metric_documents` (the same of
    the metrics, the fewest where these differ). Each value comes from the cells of the documents; where any of these
    lacks it, from the published mean over documents, if there is one.
    """
    keys = ["system", "experiment", "question", "kind", "category", "source"]
    columns, metrics = averaged(found), metrics_of(found)
    alone = found["document"] != ""
    single = found[alone].groupby(keys, observed=True)
    means, known = single[columns].mean(), single[columns].count()
    if alone.all():  # as in every study of one's own
        merged, own = means.assign(documents=known["m_all"]), known[metrics]
    else:
        published = found[~alone].groupby(keys, observed=True)
        overall = published[columns].mean()
        of_all = means.where(known.eq(known["m_all"], axis=0))
        merged = of_all.combine_first(overall).combine_first(means)[columns]
        merged["documents"] = known["m_all"].reindex(merged.index, fill_value=0)
        # A value is a published mean where its documents don't have it, or not all of them.
        own = known.where(of_all.notna() | overall.reindex(known.index).isna()).reindex(merged.index)[metrics]
    own = own.fillna(0).where(merged[metrics].notna())
    merged["metric_documents"] = own.min(axis=1).fillna(0).astype("int64")
    return merged.reset_index()


_SURE = f"in {LEVEL * 100:.0f} of 100 such studies the interval holds the true average"
_BUT = ", unless the average is a share (0 to 100 %)."


def both_intervals(confidence: float) -> str:
    """Describe the two intervals of this confidence, for whoever reads one: sentences for the notes of tables."""
    return (
        f"Up to two intervals go with an average; in {confidence * 100:g} of 100 such studies the interval holds the "
        "true average, by the same analysts. \u201cFor these documents\u201d: other questions of this kind, asked "
        "about the very same documents. \u201cFor policies like these\u201d: other documents of this kind as well; as "
        f"wide or wider, rough below {ROUGH_DOCUMENTS} documents, blank below {LEAST_DOCUMENTS}. Both are blank for a "
        f"single question, and where all questions have the same value{_BUT}"
    )


INTERVALS = both_intervals(LEVEL)
"""The two intervals, for whoever reads one: sentences for the notes of tables."""
THESE = (
    f"An interval goes with an average; {_SURE}. \u201cFor these documents\u201d: other questions of this kind, asked "
    f"about the very same document. Blank for a single question, and where all questions have the same value{_BUT}"
)
"""The same, where the average is about one document."""
LIKE_THESE = (
    f"An interval goes with an average; {_SURE}. \u201cFor policies like these\u201d: the very same question, asked "
    f"about other documents of this kind; rough below {ROUGH_DOCUMENTS} documents, blank below {LEAST_DOCUMENTS}, and "
    f"where all documents have the same value{_BUT}"
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


def about_policies(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that are about policies; those about regulations have a table of their own."""
    known = (rows["kind"] != "regulation") & (rows["experiment"] != "regulation")
    # The same object, where that is all, so that what is `kept` of it is found again.
    found: pd.DataFrame = rows if known.all() else rows[known]
    return found


@kept
def policy_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells (`cells`) that are about policies."""
    return about_policies(cells(frame))


@kept
def policy_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """The means over documents (`per_question`) of what is about policies."""
    return per_question(about_policies(cells(frame)))


def groups_of_questions(rows: pd.DataFrame, *, categories: bool = False) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of all questions, of FAQs', of users', and of each category if asked: what there is.

    Where all questions come from one source, or one category, its rows are given as well as all.
    """
    yield "all", rows
    for column in ("source", "category") if categories else ("source",):
        for value, some in rows.groupby(column, observed=True, sort=True):
            if value:
                yield str(value), some


def summed_up(
    rows: pd.DataFrame, by: Sequence[str], summary: Callable[[pd.DataFrame], dict[str, object]]
) -> pd.DataFrame:
    """One row for each group of rows: what it is grouped by, in the same categories, and its summary."""
    found = [
        {**dict(zip(by, key, strict=True)), **summary(some)}
        for key, some in rows.groupby(list(by), observed=True, sort=True)
    ]
    types = {column: rows[column].dtype for column in by}
    return pd.DataFrame(found, columns=None if found else list(by)).astype(types)


@kept
def weighted(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The cells that make up the averages of a column, about policies, with their `weight` in their question.

    Columns: `system`, `experiment`, `question`, `category`, `source`, `document`, the column, `weight`, `scores` (as in
    `cells`). A question's
    weighted mean is the mean over experiments of the means over documents (`policy_questions`): a cell without a
    document is a published mean, and is here where not all of its documents have the value.
    """
    found, place = policy_cells(frame), _questions(frame)
    single, known = (found["document"] != "").to_numpy(), found[column].notna().to_numpy()

    def number(rows: NDArray[np.bool_]) -> NDArray[Any]:
        """Count, for each row, these rows that have its question."""
        many: NDArray[Any] = np.bincount(place[rows], minlength=len(found))[place]
        return many

    own = number(single & known)
    whole = (number(~single & known) > 0) & ((own == 0) | (own != number(single & found["m_all"].notna().to_numpy())))
    taken = known & (single != whole)
    columns = [*_QUESTION, "category", "source", "document", column, "scores"]
    cells: pd.DataFrame = found.loc[taken, columns].assign(weight=1 / number(taken)[taken]).reset_index(drop=True)
    return cells


@kept
def _questions(frame: pd.DataFrame) -> NDArray[Any]:
    """The number of the question, in its system and experiment, that each of `policy_cells` is about."""
    found: NDArray[Any] = policy_cells(frame).groupby(_QUESTION, observed=True, sort=False).ngroup().to_numpy()
    return found


def who_scored(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per system that people scored: its average, and how far it depends on who they are.

    Columns: `system`, `analysts` (how many), `mean`, `policies_low` and `policies_high`, `analysts_low` and
    `analysts_high` for analysts like these as well, `least` and `most` (the average with one of them left out), `why`.
    """
    scores = analysts.scores_of(about_policies(frame))
    found = []
    for system, own in scores.groupby("system", observed=True, sort=True):
        people = analysts.panel(own, "m_all")
        cells = weighted(frame, "m_all")
        rows = cells[cells["system"] == system]
        sure = crossed(
            rows["m_all"],
            rows["question"],
            rows["document"],
            weights=rows["weight"],
            limits=_ENDS["m_all"],
            panel=people,
        )
        ends = ("mean", "policies_low", "policies_high", "analysts_low", "analysts_high")
        without = people.without[~np.isnan(people.without)]
        found.append(
            {
                "system": system,
                "analysts": people.number,
                **{name: getattr(sure, name) for name in ends},
                "least": min(without, default=nan),
                "most": max(without, default=nan),
                "why": analysts.explain_panel(people) or why(sure),
            }
        )
    return pd.DataFrame(found)


def mean_of(
    rows: pd.DataFrame, column: str, limits: tuple[float, float] | None = None, confidence: float = LEVEL
) -> dict[str, object]:
    """`n` (questions), `mean`, and `BOTH` of a column of cells: rows with `question`, `document`, maybe `weight`.

    `limits` are the ends of its scale, where it is no column of the tables of scores.
    """
    ends = limits or _ENDS.get(column)
    known = rows["scores"] > 0 if "scores" in rows else None
    weights = rows.get("weight")
    return as_columns(
        crossed(
            rows[column],
            rows["question"],
            rows["document"],
            weights=weights,
            limits=ends,
            known=known,
            confidence=confidence,
        )
    )


def mean_over_documents(
    rows: pd.DataFrame, column: str, groups: Sequence[str], limits: tuple[float, float] | None = None
) -> dict[str, object]:
    """Return `n` (documents), `mean`, `policies_low` and `policies_high` of a column, as `estimate_document_mean`.

    `rows` are about one and the same question, and have at most one of each group and document. `limits` are the ends
    of its scale, as for `mean_of`.
    """
    limits, group = limits or _ENDS.get(column), rows.groupby(list(groups), observed=True, sort=False).ngroup()
    made = estimate_document_mean(
        rows[column], group, number_labels(rows["document"])[0], limits=limits, share=limits in SHARES
    )
    ends = {"policies_low": made.policies_low, "policies_high": made.policies_high}
    return {"n": made.documents, "mean": made.mean, **ends}


def median_of(rows: pd.DataFrame, column: str) -> dict[str, object]:
    """Return the median of a column, and the ends of its two intervals, as `estimate_median`."""
    places = (number_labels(rows["question"])[0], number_documents(rows["document"]))
    return dict(estimate_median(rows[column], *places)._asdict())


def as_columns(found: CrossedMean) -> dict[str, object]:
    """`n` (questions), `mean` and `BOTH`."""
    return {"n": found.questions, "mean": found.mean, **{name: getattr(found, name) for name in BOTH}}


def corrections(frame: pd.DataFrame) -> str:
    """A sentence on how many annotated answers are corrected; empty where none is."""
    right = frame.loc[frame["corrected"] == "yes", ["document", "question"]].drop_duplicates()
    return f" Corrected annotated answers: {len(right)}." if len(right) else ""


def places(means: pd.Series) -> pd.Series:
    """The place of each, from the highest; equals share theirs."""
    return means.round(9).rank(method="min", ascending=False).astype("int64")


def intervals(found: pd.DataFrame) -> str:
    """The sentences on both intervals, with those on the few questions (`n`) and documents that a table rests on."""
    return f"{INTERVALS}{how_few(found['n'])}{note_few_documents(found)}"


def how_few(numbers: pd.Series, what: str = "questions") -> str:
    """A sentence where some of these averages rest on few; empty where none does. A 0 stands for a number not known."""
    least = min((int(number) for number in numbers if number), default=ROUGH)
    if least >= ROUGH:
        return ""
    if least == 1:
        return f" Some rest on n = 1 of the {what}: too few for an interval, and no base for a conclusion."
    return f" Some rest on n = {least} {what} only: their intervals are rough."


def note_few_documents(found: pd.DataFrame) -> str:
    """Return a sentence where what a table says of other policies is refused, or rests on few `documents`."""
    known = sorted(set(found.reindex(columns=["documents"])["documents"].dropna().astype("int64")))
    refused, rough = (
        ", ".join(map(str, some))
        for some in (
            [n for n in known if n < LEAST_DOCUMENTS],
            [n for n in known if LEAST_DOCUMENTS <= n < ROUGH_DOCUMENTS],
        )
    )
    said = ""
    if rough:
        said += f" Some rest on {rough} documents only: what they say for policies like these is rough."
    if refused:
        means = " (0: only means over documents are known)" if 0 in known else ""
        documents = "document" if refused == "1" else "documents"
        said += f" Some rest on {refused} {documents}{means}: too few to say anything for policies like these."
    return said


def are_unlike(frame: pd.DataFrame, found: pd.DataFrame) -> bool:
    """Whether systems were scored on different questions or documents; `frame` and `found` as in `not_alike`."""
    single = by_document(policy_cells(frame))
    asked: set[object] = set()
    for system in found["system"].unique():
        own, whole = single[single["system"] == system], found[found["system"] == system]
        asked.add(frozenset(zip(own["experiment"], own["document"], own["question"], strict=True)))
        asked.add(frozenset(zip(whole["experiment"], whole["question"], strict=True)))
    # Of each system the scores by document, and those by question: two sets if all systems have the same.
    return len(asked) > 2  # noqa: PLR2004


def not_alike(frame: pd.DataFrame, found: pd.DataFrame) -> str:
    """A sentence on each system's scored questions, where these differ between systems or experiments; else empty.

    `found` are the means over documents (`policy_questions`) that have an M_all.
    """
    single = by_document(policy_cells(frame))
    shown, even = [], True
    for system in found["system"].unique():
        own, whole = single[single["system"] == system], found[found["system"] == system]
        numbers = whole.groupby("experiment", observed=True, sort=True)["documents"].agg(["size", "sum"])
        even &= len({frozenset(rows["question"]) for _, rows in whole.groupby("experiment", observed=True)}) == 1
        experiments = (f"{name} {row['size']} ({row['sum'] or 'means only'})" for name, row in numbers.iterrows())
        documents = ", ".join(own["document"].unique())
        where = f"about {documents}" if documents else "published as means over documents"
        shown.append(f"{system} {', '.join(experiments)}, {where}")
    if even and not are_unlike(frame, found):
        return ""
    return (
        " Not all systems and experiments were scored on the same questions about the same documents, so that the "
        "averages don't compare like with like. Questions, and scores of a question about a document: "
        f"{'; '.join(shown)}."
    )


_SAME = ["system", "question", "category", "source", "document"]


@kept
def pairs(frame: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """One row per system, question and document that has an M_all in both experiments.

    Columns: `system`, `question`, `category`, `source`, `document`, the two experiments by their names
    (M_all), and `difference`, the first minus the second. Where a question has no such document, but a published mean
    over documents, it has one row with an empty document: that mean, or the mean over its documents where only the
    other experiment is published so.
    """
    found = policy_cells(frame).dropna(subset="m_all")
    if not {first, second} <= set(found["experiment"]):
        return found.loc[[], _SAME].assign(**dict.fromkeys((first, second, "difference"), pd.Series(dtype="float64")))
    sides = {name: found.loc[found["experiment"] == name, [*_SAME, "m_all"]] for name in (first, second)}
    by_document = _joined({name: rows[rows["document"] != ""] for name, rows in sides.items()})
    published = {name: rows[rows["document"] == ""] for name, rows in sides.items()}
    whole = _joined({name: stack([published[name], _means(rows, published[name])]) for name, rows in sides.items()})
    given = pd.concat(published.values())
    only_whole = _among(whole, given) & ~_among(whole, by_document)
    both = stack([by_document, whole[only_whole]])
    # Rounded, because 86.5 and 86.5 may differ in their last binary digit.
    both["difference"] = (both[first] - both[second]).round(9)
    return both.sort_values(_SAME, kind="stable", ignore_index=True)


def by_question(both: pd.DataFrame) -> pd.DataFrame:
    """Pairs averaged over documents: one row per system and question; `n` is how many have a document."""
    groups = both.assign(n=both["document"] != "").groupby(_SAME[:-1], observed=True, sort=True)
    means = groups[[column for column in both.columns if column not in _SAME]].mean()
    return means.join(groups["n"].sum()).reset_index()


def stack(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts; to pandas 2 and 3 alike, a part without rows has no say in the columns' types."""
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _joined(sides: dict[str, pd.DataFrame]) -> pd.DataFrame:
    (first, ours), (second, theirs) = sides.items()
    ours, theirs = ours.rename(columns={"m_all": first}), theirs.rename(columns={"m_all": second})
    return ours.merge(theirs, on=_SAME)


def _means(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The means over documents of the questions that have no published one, with an empty document."""
    own = rows[~_among(rows, published)]
    means = own.groupby(_SAME[:-1], observed=True)["m_all"].mean().reset_index()
    return means.assign(document="")


def _among(rows: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """True for rows about a system and question that the others have as well."""
    names = pd.MultiIndex.from_frame(rows[["system", "question"]].astype("str"))
    there = names.isin(pd.MultiIndex.from_frame(others[["system", "question"]].astype("str")))
    return pd.Series(there, index=rows.index)
