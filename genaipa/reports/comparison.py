"""Two systems, or two runs, side by side: how far their scores are apart, and how sure that is.

A pair is a cell that both have: a question about a document in an experiment, or, where one of them is known by means
over documents only, a question in an experiment. Pairs of one question are alike, so that differences are averaged for
each question first: over documents, then over experiments. The questions are what is tested and resampled. Where the
two have no pair, their questions are compared as two independent sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from genaipa.errors import UsageError
from genaipa.reports import aggregate, render
from genaipa.reports.bootstrap import LEVEL, RESAMPLES, interval, interval_of_difference
from genaipa.reports.figures import forest
from genaipa.reports.gather import gather_scored
from genaipa.reports.sides import Side, differing, merged, restricted, side, sources_of
from genaipa.reports.significance import OVERALL, SIGNIFICANT, holm, paired, unpaired
from genaipa.reports.table import Table
from genaipa.reports.tidy import metrics_of, names_of
from genaipa.runs.run import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.reports.figures.figure import Figure
    from genaipa.runs.run import Run
    from genaipa.workspace import WorkspaceLike

FORMS = (".csv", ".html", ".json", ".tex")
"""Suffixes of the files of a comparison."""
FEW = 10
"""Below so many questions, what is found is said to rest on few."""
_CELL = ["experiment", "document", "question"]
_QUESTION = ["experiment", "question"]
_HEADINGS = {
    "measure": "measure",
    "questions": "questions",
    "n": "n",
    "pairs": "pairs",
    "mean_a": "A",
    "mean_b": "B",
    "difference": "A \u2212 B",
    "low": "low",
    "high": "high",
    "test": "test",
    "p": "p",
    "p_holm": "p (Holm)",
    "effect": "effect",
    "meaning": "meaning",
}


@dataclass(frozen=True)
class Comparison:
    """The table, and in words: what differed beforehand, what was found, how, and what could not be read."""

    first: str
    second: str
    table: Table
    differing: list[str]
    finding: list[str]
    method: str
    problems: list[str] = field(default_factory=list)

    @property
    def figure(self) -> Figure | None:
        """The forest plot of the differences; None where there is nothing to compare."""
        return forest.forest(self.table, self.first, self.second)

    def as_json(self) -> dict[str, Any]:
        """The comparison for machines; a number that can't be had is null."""
        said = {name: getattr(self, name) for name in ("first", "second", "differing", "finding", "method")}
        return {**said, "rows": render.as_rows(self.table)}

    def as_text(self, form: str) -> str:
        """The text of a file of the comparison, by its suffix: one of `FORMS`."""
        if form == ".json":
            return msgspec.json.format(msgspec.json.encode(self.as_json()), indent=2).decode() + "\n"
        if form == ".html":
            head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>genaipa compare</title>\n'
            return f"{head}{render.as_html(self.table)}\n</html>\n"
        return render.as_csv(self.table) if form == ".csv" else render.as_latex(self.table)


def compare(
    first: str | Run,
    second: str | Run,
    *,
    experiments: Sequence[str] = (),
    excluded: bool = False,
    anyway: bool = False,
    workspace: WorkspaceLike = None,
) -> Comparison:
    """Compare two systems, or two runs, each named as a system, a run, or RUN:SYSTEM.

    Only in these experiments; if none is named, in all but that on regulations. `excluded` counts what audits left
    out as well, and `anyway` compares what is the same in both where documents, questions or rubric differ, which is
    a UsageError otherwise.

    >>> found = genaipa.compare("extractive", "scripted", experiments=["quality"])
    >>> found.finding[0]
    'Compared are 32 questions: 32 pairs in quality, each about the same document.'
    >>> figure = found.figure.drawn()
    """
    here, names = chosen((first, second), workspace)
    if len(names) == 1:
        names *= 2
    sides = [sources_of(here, name) for name in names]
    if len({frozenset((source.folder.name, source.systems) for source in sources) for sources in sides}) == 1:
        raise UsageError(f"'{names[0]}' and '{names[1]}' are the same; name two systems, two runs, or RUN:SYSTEM.")
    found = gather_scored(here, merged([*sides[0], *sides[1]]), excluded=excluded)
    ours, theirs = (
        side(here, name, sources, found.frame, experiments) for name, sources in zip(names, sides, strict=True)
    )
    return replace(compare_sides(ours, theirs, anyway=anyway), problems=found.problems)


def compare_sides(first: Side, second: Side, *, anyway: bool = False) -> Comparison:
    """The differences, the first minus the second.

    A UsageError names what differs in documents, questions or rubric; `anyway` compares what is the same in both.
    """
    apart, common = differing(first, second)
    if apart and not anyway:
        raise UsageError(
            f"{first.name} and {second.name} were not asked or scored alike: {'; '.join(apart)}. "
            "The option `anyway` compares the common part."
        )
    if apart:
        first, second = restricted(first, common), restricted(second, common)
        if not first.frame["counted"].any() or not second.frame["counted"].any():
            raise UsageError(f"{first.name} and {second.name} have no scored question in common.")
    averages = _averages(first.frame), _averages(second.frame)
    names = {OVERALL: OVERALL} | names_of(first.frame)
    # M_all from 10 to 100, and the metrics of both from -1 to 1.
    measures = [name for name in names if name == OVERALL or name in metrics_of(second.frame)]
    matched = {measure: _match(*averages, measure) for measure in measures}
    data = _rows(matched, _groups(first.frame, second.frame)).replace({"measure": names})
    finding = [*_scope(matched, apart), *_found(data, first.name, second.name), *_small(data)]
    method = _method(first.name, second.name)
    table = _table(data, first.name, second.name, " ".join([*finding, method]))
    return Comparison(first.name, second.name, table, apart, finding, method)


# -- pairs --


class _Averages(NamedTuple):
    """One side's cells with a document of their own, and its averages of questions over documents."""

    cells: pd.DataFrame
    questions: pd.DataFrame


class _Match(NamedTuple):
    """One measure of both sides, averaged by question (the index).

    `pairs` has the columns `ours`, `theirs` and `pairs` (how many cells they average), `ours` and `theirs` are all
    that each side has, paired or not. `by_question` are the experiments whose pairs are questions.
    """

    pairs: pd.DataFrame
    ours: pd.Series[float]
    theirs: pd.Series[float]
    experiments: list[str]
    by_question: list[str]


def _averages(frame: pd.DataFrame) -> _Averages:
    found = aggregate.cells(frame)
    return _Averages(
        _measures(found[found["document"] != ""], _CELL), _measures(aggregate.per_question(found), _QUESTION)
    )


def _measures(found: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The measures as a frame, one row for each of the keys."""
    plain = found.assign(**{OVERALL: found["m_all"] * 10}).astype(dict.fromkeys(keys, "str"))
    return plain.groupby(keys)[[OVERALL, *metrics_of(found)]].mean().reset_index()


def _match(first: _Averages, second: _Averages, measure: str) -> _Match:
    """The pairs of one measure: cells where an experiment has any in common, else questions."""
    of_cells = _joined(first.cells, second.cells, measure, _CELL)
    means = _joined(first.questions, second.questions, measure, _QUESTION)
    means = means[~means["experiment"].isin(of_cells["experiment"])]
    both = pd.concat([of_cells, means])
    in_experiments = both.groupby(_QUESTION).agg(
        ours=("ours", "mean"), theirs=("theirs", "mean"), pairs=("ours", "size")
    )
    pairs = in_experiments.groupby("question").agg(
        ours=("ours", "mean"), theirs=("theirs", "mean"), pairs=("pairs", "sum")
    )
    alone = [side.questions.dropna(subset=measure).groupby("question")[measure].mean() for side in (first, second)]
    return _Match(pairs, alone[0], alone[1], sorted(set(both["experiment"])), sorted(set(means["experiment"])))


def _joined(first: pd.DataFrame, second: pd.DataFrame, measure: str, keys: list[str]) -> pd.DataFrame:
    """The rows in which both have the measure, as `ours` and `theirs`."""
    named = [
        one[[*keys, measure]].dropna().rename(columns={measure: name})
        for one, name in ((first, "ours"), (second, "theirs"))
    ]
    return named[0].merge(named[1], on=keys)


def _groups(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, set[str]]:
    """Group of questions → their ids: all, by source, by category."""
    about = pd.concat([frame[["question", "category", "source"]].astype("str") for frame in (first, second)])
    groups = {"all": set(about["question"])}
    for column in ("source", "category"):
        known = set(about[column])
        for name in (*first[column].cat.categories, *second[column].cat.categories):
            if name and name in known:
                groups[name] = set(about.loc[about[column] == name, "question"])
    return groups


# -- tests --


def _rows(matched: dict[str, _Match], groups: dict[str, set[str]]) -> pd.DataFrame:
    """A row for each measure and group of questions that both sides have.

    A group that comes down to the same questions as one before it says nothing new, and would only cost certainty.
    """
    rows = []
    for measure, match in matched.items():
        seen = set()
        for group, questions in groups.items():
            here = _within(match, questions)
            compared = tuple(tuple(values.index) for values in (here.ours, here.theirs))
            if all(compared) and compared not in seen:
                seen.add(compared)
                rows.append({"measure": measure, "questions": group, **_row(here)})
    data = pd.DataFrame(rows, columns=list(_HEADINGS))
    data["p_holm"] = holm(data["p"].tolist())
    data["meaning"] = [_meaning(row) for row in data.to_dict("records")]
    return data


def _within(match: _Match, questions: set[str]) -> _Match:
    """The compared values of a group of questions: its pairs, or, if it has none, all that each side has."""
    pairs = match.pairs[match.pairs.index.isin(questions)]
    ours, theirs = (pairs["ours"], pairs["theirs"]) if len(pairs) else (match.ours, match.theirs)
    return match._replace(
        pairs=pairs, ours=ours[ours.index.isin(questions)], theirs=theirs[theirs.index.isin(questions)]
    )


def _row(here: _Match) -> dict[str, Any]:
    """The comparison of one measure on one group of questions."""
    if len(here.pairs):
        apart = here.ours - here.theirs
        sure, tested = interval(apart, apart.index), paired(np.asarray(apart))
    else:
        sure = interval_of_difference((here.ours, here.ours.index), (here.theirs, here.theirs.index))
        tested = unpaired(np.asarray(here.ours), np.asarray(here.theirs))
    return {
        "n": sure.n,
        "pairs": int(here.pairs["pairs"].sum()),
        "mean_a": float(here.ours.mean()),
        "mean_b": float(here.theirs.mean()),
        "difference": sure.mean,
        "low": sure.low,
        "high": sure.high,
        **tested._asdict(),
    }


# -- in words --


def _meaning(row: Mapping[Any, Any]) -> str:
    """The meaning of a row, for somebody who does not read p-values."""
    if row["test"] == "none":
        return "too few questions to test"
    if row["p_holm"] < SIGNIFICANT:
        said = "ranks and means disagree" if _torn(row) else "A higher" if row["effect"] > 0 else "B higher"
    elif row["p"] < SIGNIFICANT:
        said = "may be chance, among so many tests"
    else:
        said = "may be chance" if row["effect"] else "no difference"
    return f"{said}; few questions" if row["n"] < FEW else said


def _torn(row: Mapping[Any, Any]) -> bool:
    """Whether the side that is higher by ranks, which are tested, is the lower one by its mean."""
    return bool(row["effect"] * row["difference"] < 0)


def _scope(matched: dict[str, _Match], differing: Sequence[str]) -> Iterator[str]:
    """Sentences on the systems, documents and questions compared."""
    if differing:
        yield f"Only what both have in common is compared: {'; '.join(differing)}."
    match = matched[OVERALL]
    if not len(match.pairs):
        yield (
            f"The two have no scored cell in common: {len(match.ours)} questions of A are compared with "
            f"{len(match.theirs)} of B, as independent sets."
        )
        return
    questions, pairs = len(match.pairs), int(match.pairs["pairs"].sum())
    yield (
        f"Compared {'is 1 question' if questions == 1 else f'are {questions} questions'}: "
        f"{pairs} pair{'' if pairs == 1 else 's'} in "
        f"{', '.join(match.experiments)}{'' if match.by_question else ', each about the same document'}."
    )
    known = {measure: ", ".join(match.by_question) for measure, match in matched.items() if match.by_question}
    if known:
        where = "; ".join(
            f"{', '.join(measure for measure in known if known[measure] == experiments)} in {experiments}"
            for experiments in dict.fromkeys(known.values())
        )
        yield (
            "Where one side is known by means over documents only, a pair is a question, and the documents may differ: "
            f"{where}."
        )


def _found(data: pd.DataFrame, first: str, second: str) -> Iterator[str]:
    """The overall difference, and which differences hold."""
    for row in data[(data["measure"] == OVERALL) & (data["questions"] == "all")].to_dict("records"):
        sure = f" ({LEVEL:.0%} interval {row['low']:+.1f} to {row['high']:+.1f})" if row["n"] > 1 else ""
        yield (
            f"{OVERALL}: {first} {row['mean_a']:.1f}, {second} {row['mean_b']:.1f}, "
            f"difference {row['difference']:+.1f}{sure}."
        )
    tests = int(data["p"].notna().sum())
    holding = data[data["p_holm"] < SIGNIFICANT]
    if holding.empty:
        yield f"No difference holds after Holm's correction ({tests} tests)."
    torn = holding["effect"] * holding["difference"] < 0
    for said, rows in (
        (f"{first} is higher in", holding[~torn & (holding["effect"] > 0)]),
        (f"{second} is higher in", holding[~torn & (holding["effect"] < 0)]),
        ("one is higher by ranks and the other by its mean in", holding[torn]),
    ):
        places = [f"{m} ({', '.join(some['questions'])})" for m, some in rows.groupby("measure", sort=False)]
        if places:
            yield f"After Holm's correction ({tests} tests), {said} {'; '.join(places)}."


def _small(data: pd.DataFrame) -> Iterator[str]:
    """A warning where little is known."""
    few, untested = int((data["n"] < FEW).sum()), int((data["test"] == "none").sum())
    if few:
        yield (
            f"Small n: {few} of {len(data)} comparisons rest on fewer than {FEW} questions"
            + (", too few for any test" if untested == few else f", {untested} of them on too few for any test")
            + "; there, only large differences can show, and intervals are rather too narrow."
        )


def _method(first: str, second: str) -> str:
    """How the numbers of the table came about."""
    return (
        f"A is {first}, B {second}. {OVERALL} is from 10 to 100, a metric from -1 to 1. n is how many questions there "
        "are, each averaged over its documents and experiments; pairs are the scored cells behind them. Intervals: "
        f"{LEVEL:.0%} by paired bootstrap over the questions ({RESAMPLES:,} resamples; without pairs, of each side for "
        "itself). Tests, two-sided, on the questions: Wilcoxon's signed ranks, with the matched-pairs rank-biserial "
        "correlation as effect size; Mann-Whitney where there are no pairs, with Cliff's delta (both from -1 to 1). "
        "p (Holm) is adjusted for all tests of the table."
    )


def _table(data: pd.DataFrame, first: str, second: str, note: str) -> Table:
    signed = ("difference", "low", "high", "effect")
    formats = {**dict.fromkeys(signed, "+.2f"), **dict.fromkeys(("mean_a", "mean_b"), ".2f")}
    return Table(
        "comparison", f"{first} against {second}", note, data, _HEADINGS, {**formats, "p": ".2g", "p_holm": ".2g"}
    )
