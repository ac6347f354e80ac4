"""Two systems, or two runs, side by side: how far their scores are apart, and how sure that is.

A pair is a cell that both have: a question about a document in an experiment, or, where one of them is known by means
over documents only, a question in an experiment. Pairs of one question are alike, so that differences are averaged for
each question first: over documents, then over experiments. The questions are what is tested and resampled. Where the
two have no pair, their questions are compared as two independent sets.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genaipa.errors import UnknownNameError, UsageError
from genaipa.questions.sets import WORDINGS
from genaipa.reports import aggregate as cells
from genaipa.reports.bootstrap import LEVEL, RESAMPLES, interval, interval_of_difference
from genaipa.reports.significance import holm, paired, unpaired
from genaipa.reports.table import Table
from genaipa.reports.tidy import ORDERED
from genaipa.runs.inputs import Inputs
from genaipa.scoring.rubric import METRICS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from genaipa.questions.sets import Wording
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

OVERALL = "M_all*10"
MEASURES = (OVERALL, *METRICS)
"""What is compared: M_all from 10 to 100, and the metrics from -1 to 1."""
REGULATION = "regulation"
FEW = 10
"""Below so many questions, what is found is said to rest on few."""
SIGNIFICANT = 0.05
"""An adjusted p below this is taken for more than chance."""
_NAMED = 5
"""As many things that differ are named."""
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
class Side:
    """One system's scores, and what it was asked.

    `texts` are the digests of the texts that went by a document's name: one, unless runs disagree. `asked` are the
    texts of a wording of a question about a document.
    """

    name: str
    frame: pd.DataFrame
    texts: dict[str, set[str]]
    asked: dict[tuple[str, str, Wording], set[str]]

    @property
    def questions(self) -> set[tuple[str, str]]:
        """Documents and what was asked about them."""
        return {(document, question) for document, question, _ in self.asked}


@dataclass(frozen=True)
class Comparison:
    """The table, and in words: what differed beforehand, what was found, and how."""

    first: str
    second: str
    table: Table
    differing: list[str]
    finding: list[str]
    method: str


def side(
    workspace: Workspace, name: str, sources: Sequence[Source], frame: pd.DataFrame, experiments: Collection[str] = ()
) -> Side:
    """The side that these runs are, from a tidy table that holds them.

    It is limited to these experiments; if none is named, to all but that on regulations. A UsageError if it has
    several systems, or no score there.
    """
    systems = sorted({system for source in sources for system in source.systems})
    if len(systems) > 1:
        one = ", ".join(f"{name}:{system}" for system in systems)
        raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {one}")
    frame = frame[(frame["system"] == systems[0]) & frame["run"].isin([source.folder.name for source in sources])]
    found = Side(name, _chosen(name, frame, experiments), defaultdict(set), defaultdict(set))
    documents, runs = set(found.frame["document"]), set(found.frame["run"])
    loaded: dict[str, dict[str, tuple[str, ...]]] = {}
    for source in sources:
        if source.folder.name in runs:
            manifest = source.manifest
            for document in documents & manifest.documents.keys():
                found.texts[document].add(manifest.documents[document].digest)
                digest = manifest.digests.questions.get(manifest.spec.questions.get(document, ""), "")
                if digest not in loaded:
                    loaded[digest] = _wordings(Inputs(workspace, source.folder), document)
                for question, texts in loaded[digest].items():
                    for wording, text in zip(WORDINGS, texts, strict=False):
                        if wording in manifest.spec.wordings:
                            found.asked[document, question, wording].add(text)
    return found


def _chosen(name: str, frame: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """The rows that are compared; a UsageError if none has a score."""
    known = {*ORDERED["experiment"], *frame["experiment"]}
    for experiment in experiments:
        if experiment not in known:
            raise UnknownNameError("experiment", experiment, known)
    chosen = frame[frame["experiment"].isin(list(experiments)) if experiments else frame["kind"] != REGULATION]
    if chosen["counted"].any():
        return chosen
    where = f" in {', '.join(experiments)}" if experiments else ""
    if not experiments and frame["counted"].any():
        raise UsageError(f"'{name}' has scores on regulations only; compare them with --experiment {REGULATION}.")
    raise UsageError(f"'{name}' has no score{where} to compare yet; give some with: genaipa score")


def _wordings(inputs: Inputs, document: str) -> dict[str, tuple[str, ...]]:
    """Every question that could be asked about a document: id → its original and its paraphrases."""
    known = inputs.questions(document)
    return {question.id: (question.text, *question.paraphrases) for question in known.questions} if known else {}


def compare(first: Side, second: Side, *, anyway: bool = False) -> Comparison:
    """The differences, the first minus the second.

    A UsageError names what differs in documents, questions or rubric; `anyway` compares what is the same in both.
    """
    differing, common = _differing(first, second)
    if differing and not anyway:
        raise UsageError(
            f"{first.name} and {second.name} were not asked or scored alike: {'; '.join(differing)}. "
            "What they have in common is compared with --anyway."
        )
    if differing:
        first, second = _restricted(first, common), _restricted(second, common)
        if not first.frame["counted"].any() or not second.frame["counted"].any():
            raise UsageError(f"{first.name} and {second.name} have no scored question in common.")
    averages = _averages(first.frame), _averages(second.frame)
    matched = {measure: _match(*averages, measure) for measure in MEASURES}
    data = _rows(matched, _groups(first.frame, second.frame))
    finding = [*_scope(matched, differing), *_found(data, first.name, second.name), *_small(data)]
    method = _method(first.name, second.name)
    table = _table(data, first.name, second.name, " ".join([*finding, method]))
    return Comparison(first.name, second.name, table, differing, finding, method)


# -- what differs --


def _differing(first: Side, second: Side) -> tuple[list[str], set[tuple[str, str]]]:
    """What the two don't share, and the documents and questions that they do."""
    said = _only(first.name, second.name, "document", first.texts.keys(), second.texts.keys())
    documents = first.texts.keys() & second.texts.keys()
    changed = {document for document in documents if first.texts[document] != second.texts[document]}
    said += [f"the text of {_listed(changed, 'document')} is not the same"] if changed else []
    same = documents - changed
    ours, theirs = ({pair for pair in one.questions if pair[0] in same} for one in (first, second))
    said += _only(first.name, second.name, "question", {q for _, q in ours - theirs}, {q for _, q in theirs - ours})
    both = first.asked.keys() & second.asked.keys()
    reworded = {
        (document, question)
        for document, question, wording in both
        if document in same and first.asked[document, question, wording] != second.asked[document, question, wording]
    }
    said += [f"the text of {_listed({q for _, q in reworded}, 'question')} is not the same"] if reworded else []
    rubrics = [set(one.frame.loc[one.frame["counted"], "rubric"]) for one in (first, second)]
    if rubrics[0] != rubrics[1]:
        said.append(f"the rubric is not the same ({_listed(rubrics[0], 'digest')} and {_listed(rubrics[1], 'digest')})")
    return said, (ours & theirs) - reworded


def _only(first: str, second: str, noun: str, ours: Collection[str], theirs: Collection[str]) -> list[str]:
    """Sentences on what only one of the two has."""
    return [
        f"only {name} has the {_listed(names, noun)}"
        for name, names in ((first, set(ours) - set(theirs)), (second, set(theirs) - set(ours)))
        if names
    ]


def _listed(names: Iterable[str], noun: str) -> str:
    """`document uber`; `questions T_f1, T_f2, … (32)`."""
    listed = sorted(names)
    if len(listed) == 1:
        return f"{noun} {listed[0]}"
    return f"{noun}s {', '.join(listed[:_NAMED])}" + (f", … ({len(listed)})" if len(listed) > _NAMED else "")


def _restricted(one: Side, common: set[tuple[str, str]]) -> Side:
    """The side without what the other lacks; a mean over documents stays where all of them are shared."""
    shared = {question for _, question in common}
    for document in one.texts:
        shared &= {question for about, question in common if about == document}
    whole = common | {("", question) for question in shared}
    about = zip(one.frame["document"], one.frame["question"], strict=True)
    return replace(one, frame=one.frame[[pair in whole for pair in about]])


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
    found = cells.cells(frame)
    return _Averages(_measures(found[found["document"] != ""], _CELL), _measures(cells.per_question(found), _QUESTION))


def _measures(found: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The measures as a frame, one row for each of the keys."""
    plain = found.assign(**{OVERALL: found["m_all"] * 10}).astype(dict.fromkeys(keys, "str"))
    return plain.groupby(keys)[list(MEASURES)].mean().reset_index()


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
    """What is compared of a group of questions: its pairs, or, if it has none, all that each side has."""
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
    """What a row says, to somebody who does not read p-values."""
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
    """What was compared."""
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
